/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Source: profile.proto of github.com/google/pprof, and the encoding of Protocol Buffers
 * (protobuf.dev/programming-guides/encoding), written by hand: it takes numbers and byte strings only.
 * Invariant: string 0 is empty; numbers of functions and locations begin with 1.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "common/escape.h"
#include "profile.h"

enum {
    PROFILE_SAMPLE_TYPE = 1,
    PROFILE_SAMPLE = 2,
    PROFILE_LOCATION = 4,
    PROFILE_FUNCTION = 5,
    PROFILE_STRING = 6,
    PROFILE_TIME = 9,
    PROFILE_DURATION = 10,
    PROFILE_PERIOD_TYPE = 11,
    PROFILE_PERIOD = 12,
    PROFILE_DEFAULT_TYPE = 14
};
enum { VALUE_TYPE = 1, VALUE_UNIT = 2 };
enum { SAMPLE_LOCATIONS = 1, SAMPLE_VALUES = 2 };
enum { LOCATION_ID = 1, LOCATION_ADDRESS = 3, LOCATION_LINE = 4, LINE_FUNCTION = 1, LINE_LINE = 2 };
enum { FUNCTION_ID = 1, FUNCTION_NAME = 2, FUNCTION_SYSTEM_NAME = 3, FUNCTION_FILE = 4 };
enum { WIRE_VARINT = 0, WIRE_BYTES = 2 };

struct message {
    unsigned char *bytes;
    size_t used, room;
    bool failed; /* out of memory: what follows is dropped */
};

static void put_bytes(struct message *m, const void *bytes, size_t size)
{
    if (!size)
        return;
    if (m->used + size > m->room) {
        size_t room = 2 * (m->used + size) + 64;
        void *more = m->failed ? NULL : realloc(m->bytes, room);

        if (!more) {
            m->failed = true;
            return;
        }
        m->bytes = more;
        m->room = room;
    }
    memcpy(m->bytes + m->used, bytes, size);
    m->used += size;
}

static void put_varint(struct message *m, uint64_t value)
{
    unsigned char bytes[10];
    size_t n = 0;

    do
        bytes[n++] = (unsigned char)((value & 0x7f) | (value > 0x7f ? 0x80 : 0));
    while (value >>= 7);
    put_bytes(m, bytes, n);
}

static void put_number(struct message *m, uint32_t field, uint64_t value)
{
    put_varint(m, field << 3 | WIRE_VARINT);
    put_varint(m, value);
}

static void put_text(struct message *m, uint32_t field, const char *text)
{
    put_varint(m, field << 3 | WIRE_BYTES);
    put_varint(m, strlen(text));
    put_bytes(m, text, strlen(text));
}

/* Appends `part` as one field, and empties it. */
static void put_message(struct message *m, uint32_t field, struct message *part)
{
    put_varint(m, field << 3 | WIRE_BYTES);
    put_varint(m, part->used);
    put_bytes(m, part->bytes, part->used);
    m->failed |= part->failed;
    part->used = 0;
}

/* Strings 1 to 4 are the units; each location has two more, its name and its file. */
enum { STRING_SAMPLES = 1, STRING_COUNT, STRING_TYPE, STRING_UNIT, STRING_FIRST };

static uint64_t string_of(size_t location, bool file)
{
    return STRING_FIRST + 2 * location + file;
}

static void put_strings(struct message *m, const struct profile *profile)
{
    const struct profile_units *units = profile_units(profile);
    const char *fixed[STRING_FIRST] = {"", "samples", "count", units->type, units->unit};
    char clean[4096];

    for (size_t i = 0; i < STRING_FIRST; i++)
        put_text(m, PROFILE_STRING, fixed[i]);
    for (size_t i = 0; i < profile_locations(profile); i++) {
        struct profile_frame frame = profile_location(profile, i);

        escape_text(clean, sizeof clean, frame.name, sizeof clean);
        put_text(m, PROFILE_STRING, clean);
        escape_text(clean, sizeof clean, frame.file, sizeof clean);
        put_text(m, PROFILE_STRING, clean);
    }
}

static void put_type(struct message *m, struct message *part, uint32_t field, uint64_t type, uint64_t unit)
{
    put_number(part, VALUE_TYPE, type);
    put_number(part, VALUE_UNIT, unit);
    put_message(m, field, part);
}

static void put_stacks(struct message *m, struct message *part, const struct profile *profile)
{
    for (size_t i = 0; i < profile_stacks(profile); i++) {
        struct profile_stack stack = profile_stack(profile, i);

        for (size_t k = stack.n; k; k--)
            put_number(part, SAMPLE_LOCATIONS, stack.locations[k - 1] + 1);
        put_number(part, SAMPLE_VALUES, stack.count);
        put_number(part, SAMPLE_VALUES, stack.value);
        put_message(m, PROFILE_SAMPLE, part);
    }
}

/* A location has a function of its own: readers join those of one name. */
static void put_locations(struct message *m, struct message *part, const struct profile *profile)
{
    struct message line = {0};

    for (size_t i = 0; i < profile_locations(profile); i++) {
        put_number(&line, LINE_FUNCTION, i + 1);
        put_number(&line, LINE_LINE, profile_location(profile, i).line);
        put_number(part, LOCATION_ID, i + 1);
        put_number(part, LOCATION_ADDRESS, profile_location(profile, i).address);
        put_message(part, LOCATION_LINE, &line);
        put_message(m, PROFILE_LOCATION, part);
        put_number(part, FUNCTION_ID, i + 1);
        put_number(part, FUNCTION_NAME, string_of(i, false));
        put_number(part, FUNCTION_SYSTEM_NAME, string_of(i, false));
        put_number(part, FUNCTION_FILE, string_of(i, true));
        put_message(m, PROFILE_FUNCTION, part);
    }
    free(line.bytes);
}

/* As one member of gzip (RFC 1952). */
static int write_compressed(const struct message *m, FILE *out)
{
    uLong bound = compressBound(m->used) + 64;
    unsigned char *bytes = malloc(bound);
    z_stream z = {.next_in = m->bytes, .avail_in = (uInt)m->used, .next_out = bytes, .avail_out = (uInt)bound};
    int err = 0;

    if (m->used > UINT32_MAX / 2)
        err = -EFBIG;
    else if (!bytes || deflateInit2(&z, Z_DEFAULT_COMPRESSION, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY) != Z_OK)
        err = -ENOMEM;
    if (!err) {
        if (deflate(&z, Z_FINISH) != Z_STREAM_END || fwrite(bytes, 1, z.total_out, out) != z.total_out)
            err = -EIO;
        deflateEnd(&z);
    }
    free(bytes);
    return err;
}

int profile_write_pprof(const struct profile *profile, uint64_t time_ns, uint64_t duration_ns, FILE *out)
{
    struct message m = {0}, part = {0};
    int err;

    put_type(&m, &part, PROFILE_SAMPLE_TYPE, STRING_SAMPLES, STRING_COUNT);
    put_type(&m, &part, PROFILE_SAMPLE_TYPE, STRING_TYPE, STRING_UNIT);
    put_stacks(&m, &part, profile);
    put_locations(&m, &part, profile);
    put_strings(&m, profile);
    put_number(&m, PROFILE_TIME, time_ns);
    put_number(&m, PROFILE_DURATION, duration_ns);
    put_type(&m, &part, PROFILE_PERIOD_TYPE, STRING_TYPE, STRING_UNIT);
    put_number(&m, PROFILE_PERIOD, profile_units(profile)->period);
    put_number(&m, PROFILE_DEFAULT_TYPE, STRING_TYPE);
    err = m.failed ? -ENOMEM : write_compressed(&m, out);
    free(m.bytes);
    free(part.bytes);
    return err;
}
