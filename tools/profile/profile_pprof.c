/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Source: proto/profile.proto of github.com/google/pprof; ours, profile.proto, has the fields that are written.
 * Invariant: string 0 is empty; numbers of functions and locations begin with 1.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "common/escape.h"
#include "profile.h"
#include "profile.pb-c.h"

/* Strings 1 to 4 are the units; each location has two more, its name and its file. */
enum { STRING_SAMPLES = 1, STRING_COUNT, STRING_TYPE, STRING_UNIT, STRING_FIRST };

/* A location has a function of its own: readers join those of one name. */
struct place {
    Pprof__Location location;
    Pprof__Line line, *lines[1];
    Pprof__Function function;
};

struct sample {
    Pprof__Sample sample;
    int64_t values[2]; /* as the sample types: how often, and how much */
};

/* The message, and what it points to. */
struct message {
    Pprof__Profile profile;
    Pprof__ValueType count, value, *types[2];
    struct sample *samples;
    uint64_t *numbers; /* of locations, of all samples */
    struct place *places;
};

static void put_units(struct message *m, const struct profile *profile)
{
    Pprof__Profile *p = &m->profile;

    pprof__value_type__init(&m->count);
    pprof__value_type__init(&m->value);
    m->count.type = STRING_SAMPLES;
    m->count.unit = STRING_COUNT;
    m->value.type = STRING_TYPE;
    m->value.unit = STRING_UNIT;
    m->types[0] = &m->count;
    m->types[1] = &m->value;
    p->sample_type = m->types;
    p->n_sample_type = 2;
    p->period_type = &m->value;
    p->period = (int64_t)profile_units(profile)->period;
    p->default_sample_type = STRING_TYPE;
}

/* An array of at least one. NULL: out of memory. */
static void *array(size_t n, size_t size)
{
    return calloc(n + !n, size);
}

static int put_samples(struct message *m, const struct profile *profile)
{
    size_t n = profile_stacks(profile), all = 0;
    uint64_t *number;

    for (size_t i = 0; i < n; i++)
        all += profile_stack(profile, i).n;
    m->samples = array(n, sizeof *m->samples);
    m->numbers = number = array(all, sizeof *m->numbers);
    m->profile.sample = array(n, sizeof *m->profile.sample);
    if (!m->samples || !m->numbers || !m->profile.sample)
        return -ENOMEM;
    m->profile.n_sample = n;
    for (size_t i = 0; i < n; i++) {
        struct profile_stack stack = profile_stack(profile, i);
        struct sample *s = &m->samples[i];

        pprof__sample__init(&s->sample);
        s->sample.location_id = number;
        s->sample.n_location_id = stack.n;
        for (size_t k = stack.n; k; k--)
            *number++ = stack.locations[k - 1] + 1;
        s->values[0] = (int64_t)stack.count;
        s->values[1] = (int64_t)stack.value;
        s->sample.value = s->values;
        s->sample.n_value = 2;
        m->profile.sample[i] = &s->sample;
    }
    return 0;
}

static void put_place(struct place *p, size_t i, const struct profile_frame *frame)
{
    pprof__location__init(&p->location);
    pprof__line__init(&p->line);
    pprof__function__init(&p->function);
    p->location.id = p->function.id = p->line.function_id = i + 1;
    p->location.address = frame->address;
    p->line.line = frame->line;
    p->lines[0] = &p->line;
    p->location.line = p->lines;
    p->location.n_line = 1;
    p->function.name = p->function.system_name = (int64_t)(STRING_FIRST + 2 * i);
    p->function.filename = p->function.name + 1;
}

static int put_places(struct message *m, const struct profile *profile)
{
    size_t n = profile_locations(profile);

    m->places = array(n, sizeof *m->places);
    m->profile.location = array(n, sizeof *m->profile.location);
    m->profile.function = array(n, sizeof *m->profile.function);
    if (!m->places || !m->profile.location || !m->profile.function)
        return -ENOMEM;
    m->profile.n_location = m->profile.n_function = n;
    for (size_t i = 0; i < n; i++) {
        struct profile_frame frame = profile_location(profile, i);

        put_place(&m->places[i], i, &frame);
        m->profile.location[i] = &m->places[i].location;
        m->profile.function[i] = &m->places[i].function;
    }
    return 0;
}

static int put_string(struct message *m, const char *untrusted)
{
    char clean[4096];

    escape_text(clean, sizeof clean, untrusted, sizeof clean);
    m->profile.string_table[m->profile.n_string_table] = strdup(clean);
    return m->profile.string_table[m->profile.n_string_table] ? m->profile.n_string_table++, 0 : -ENOMEM;
}

static int put_strings(struct message *m, const struct profile *profile)
{
    const struct profile_units *units = profile_units(profile);
    const char *fixed[STRING_FIRST] = {"", "samples", "count", units->type, units->unit};
    size_t n = profile_locations(profile);
    int err = 0;

    m->profile.string_table = array(STRING_FIRST + 2 * n, sizeof *m->profile.string_table);
    if (!m->profile.string_table)
        return -ENOMEM;
    for (size_t i = 0; i < STRING_FIRST && !err; i++)
        err = put_string(m, fixed[i]);
    for (size_t i = 0; i < n && !err; i++) {
        struct profile_frame frame = profile_location(profile, i);

        err = put_string(m, frame.name);
        if (!err)
            err = put_string(m, frame.file);
    }
    return err;
}

static void free_message(struct message *m)
{
    for (size_t i = 0; i < m->profile.n_string_table; i++)
        free(m->profile.string_table[i]);
    free(m->profile.string_table);
    free(m->profile.location);
    free(m->profile.function);
    free(m->profile.sample);
    free(m->places);
    free(m->numbers);
    free(m->samples);
}

/* As one member of gzip (RFC 1952). */
static int write_compressed(unsigned char *packed, size_t size, FILE *out)
{
    uLong bound = compressBound(size) + 64;
    unsigned char *bytes = malloc(bound);
    z_stream z = {.next_in = packed, .avail_in = (uInt)size, .next_out = bytes, .avail_out = (uInt)bound};
    int err = 0;

    if (!bytes || deflateInit2(&z, Z_DEFAULT_COMPRESSION, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY) != Z_OK)
        err = -ENOMEM;
    if (!err) {
        if (deflate(&z, Z_FINISH) != Z_STREAM_END || fwrite(bytes, 1, z.total_out, out) != z.total_out)
            err = -EIO;
        deflateEnd(&z);
    }
    free(bytes);
    return err;
}

static int write_message(const struct message *m, FILE *out)
{
    size_t size = pprof__profile__get_packed_size(&m->profile);
    unsigned char *packed = size > UINT32_MAX / 2 ? NULL : malloc(size);
    int err = packed ? 0 : size > UINT32_MAX / 2 ? -EFBIG : -ENOMEM;

    if (!err) {
        pprof__profile__pack(&m->profile, packed);
        err = write_compressed(packed, size, out);
    }
    free(packed);
    return err;
}

int profile_write_pprof(const struct profile *profile, const struct profile_about *about, FILE *out)
{
    struct message m = {.profile = PPROF__PROFILE__INIT};
    int err;

    put_units(&m, profile);
    m.profile.time_nanos = (int64_t)about->time_ns;
    m.profile.duration_nanos = (int64_t)about->duration_ns;
    err = put_samples(&m, profile);
    if (!err)
        err = put_places(&m, profile);
    if (!err)
        err = put_strings(&m, profile);
    if (!err)
        err = write_message(&m, out);
    free_message(&m);
    return err;
}
