/* SPDX-License-Identifier: Apache-2.0 */
#include "support_batch.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <check.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "batch.h"
#include "batch.skel.h"
#include "batch_page.h"

enum { TEXT = 64, MAX_LINKS = 32, MAX_THREADS = 64 };

struct event {
    enum batch_event event;
    char texts[BATCH_MAX_ARGS][TEXT];
};

struct support_batch {
    struct batch *skel;
    const struct target *target;
    int pid;
    struct bpf_link *links[MAX_LINKS];
    int nlinks;
    struct ring_buffer *ring;
    char **atoms; /* by index */
    size_t natoms;
    struct event *events;
    size_t nevents;
    uint64_t sequences[MAX_THREADS];
};

static const char *const units[BATCH_EVENTS][BATCH_MAX_ARGS] = {
#define ARG(probe, index, arg, type, unit) [BATCH_##probe][index] = #unit,
#include "../../vm/probes.def"
};

static void attach(struct support_batch *b, struct bpf_program *program, const char *note)
{
    const struct elf_note *n = elf_file_find_batch(b->target->elf, note);
    LIBBPF_OPTS(bpf_uprobe_opts, opts);

    ck_assert_msg(n != NULL, "no note %s of provider erlang_batch", note);
    ck_assert_int_lt(b->nlinks, MAX_LINKS);
    opts.ref_ctr_offset = n->semaphore;
    b->links[b->nlinks] = bpf_program__attach_uprobe_opts(program, b->pid, b->target->path, n->offset, &opts);
    ck_assert_msg(b->links[b->nlinks++] != NULL, "cannot attach to %s", note);
}

static void name_atom(struct support_batch *b, const struct batch_record *r)
{
    size_t index = r->words[0];

    ck_assert_uint_lt(index, 1u << BATCH_INDEX_BITS);
    if (index >= b->natoms) {
        b->atoms = realloc(b->atoms, (index + 1) * sizeof *b->atoms);
        memset(b->atoms + b->natoms, 0, (index + 1 - b->natoms) * sizeof *b->atoms);
        b->natoms = index + 1;
    }
    free(b->atoms[index]);
    b->atoms[index] = strndup(r->texts[1], r->words[1]);
}

static const char *atom(const struct support_batch *b, uint64_t index)
{
    ck_assert_msg(index < b->natoms && b->atoms[index], "no name of atom %" PRIu64 " was told", index);
    return b->atoms[index];
}

static void print_identity(const struct support_batch *b, uint64_t word, char out[TEXT])
{
    uint64_t bits = word & ((UINT64_C(1) << 60) - 1);

    switch (word >> 60) {
    case BATCH_PID:
        snprintf(out, TEXT, "<0.%u.%u>", (unsigned)(bits & 0xfffffff), (unsigned)(bits >> 28));
        break;
    case BATCH_PORT:
        snprintf(out, TEXT, "#Port<0.%" PRIu64 ">", bits);
        break;
    case BATCH_NAME:
        snprintf(out, TEXT, "%s", atom(b, bits));
        break;
    default:
        snprintf(out, TEXT, "undefined");
    }
}

static void print_mfa(const struct support_batch *b, uint64_t word, char out[TEXT])
{
    uint64_t mask = (1u << BATCH_INDEX_BITS) - 1;

    snprintf(out, TEXT, "%s:%s/%u", atom(b, word >> (BATCH_INDEX_BITS + 8) & mask), atom(b, word >> 8 & mask), (unsigned)word & 0xff);
}

static void print_word(const struct support_batch *b, const struct batch_record *r, unsigned i, char out[TEXT])
{
    const char *unit = units[r->event][i];
    uint64_t word = r->words[i];

    if (!strcmp(unit, "pid") || !strcmp(unit, "port") || !strcmp(unit, "name"))
        print_identity(b, word, out);
    else if (!strcmp(unit, "mfa"))
        print_mfa(b, word, out);
    else if (!strcmp(unit, "text"))
        snprintf(out, TEXT, "%.*s", (int)word, r->texts[i]);
    else if (!strcmp(unit, "term"))
        snprintf(out, TEXT, "%s", word >> 56 == BATCH_SHAPE_ATOM ? atom(b, (uint32_t)word) : "a term");
    else
        snprintf(out, TEXT, "%" PRId64, (int64_t)word);
}

static void keep_event(struct support_batch *b, const struct batch_record *r)
{
    struct event *e;

    if (b->nevents % 1024 == 0)
        b->events = realloc(b->events, (b->nevents + 1024) * sizeof *b->events);
    e = &b->events[b->nevents++];
    e->event = r->event;
    for (unsigned i = 0; i < batch_event_args(r->event); i++)
        print_word(b, r, i, e->texts[i]);
}

static int take_page(void *ctx, void *data, size_t size)
{
    struct support_batch *b = ctx;
    const struct batch_received *received = data;
    struct batch_page page;
    struct batch_record r;
    uint64_t before = 0;

    ck_assert_uint_ge(size, sizeof *received + received->bytes);
    ck_assert_int_eq(received->vm, b->pid);
    ck_assert(batch_page_open(&page, received + 1, received->bytes));
    ck_assert_uint_lt(page.header.thread, MAX_THREADS);
    ck_assert_uint_eq(page.header.sequence, ++b->sequences[page.header.thread]);
    ck_assert_uint_le(page.header.end_ns, received->time_ns);
    while (batch_page_next(&page, &r)) {
        ck_assert_uint_ge(r.ns, before);
        before = r.ns;
        if (r.event == BATCH_ATOM)
            name_atom(b, &r);
        else
            keep_event(b, &r);
    }
    ck_assert_msg(!page.damaged, "a page is damaged at byte %zu", page.at);
    return 0;
}

struct support_batch *support_batch_new(const struct target *target, int pid)
{
    struct support_batch *b = calloc(1, sizeof *b);
    const struct elf_note *note = elf_file_find_batch(target->elf, "flush");
    struct wire_spec spec = {0};
    const char *args;
    size_t read;
    __u32 cookie = 0;

    ck_assert(b && note);
    *b = (struct support_batch){.target = target, .pid = pid, .skel = batch__open_and_load()};
    ck_assert_msg(b->skel != NULL, "the program for batches does not load");
    args = note->args;
    read = provider_usdt_parse_arg(args, &spec.args[0]);
    ck_assert(read && provider_usdt_parse_arg(args + read + 1, &spec.args[1]));
    ck_assert_int_eq(bpf_map_update_elem(bpf_map__fd(b->skel->maps.specs), &cookie, &spec, BPF_ANY), 0);
    attach(b, b->skel->progs.on_flush, "flush");
    b->ring = ring_buffer__new(bpf_map__fd(b->skel->maps.records), take_page, b, NULL);
    ck_assert(b->ring != NULL);
    return b;
}

void support_batch_watch(struct support_batch *b, const char *probe)
{
    attach(b, b->skel->progs.on_watch, probe);
}

void support_batch_drain(struct support_batch *b)
{
    ck_assert_int_ge(ring_buffer__consume(b->ring), 0);
}

static const struct event *find_last(const struct support_batch *b, const char *probe, unsigned index, const char *text, unsigned *count)
{
    const struct event *last = NULL;

    *count = 0;
    for (size_t i = 0; i < b->nevents; i++)
        if (!strcmp(batch_event_name(b->events[i].event), probe) && !strcmp(b->events[i].texts[index], text)) {
            last = &b->events[i];
            ++*count;
        }
    return last;
}

unsigned support_batch_count(const struct support_batch *b, const char *probe, unsigned index, const char *text)
{
    unsigned count;

    find_last(b, probe, index, text, &count);
    return count;
}

const char *support_batch_last(const struct support_batch *b, const char *probe, unsigned index, const char *text, unsigned wanted)
{
    unsigned count;
    const struct event *last = find_last(b, probe, index, text, &count);

    return last ? last->texts[wanted] : NULL;
}

void support_batch_free(struct support_batch *b)
{
    ring_buffer__free(b->ring);
    for (int i = 0; i < b->nlinks; i++)
        bpf_link__destroy(b->links[i]);
    batch__destroy(b->skel);
    for (size_t i = 0; i < b->natoms; i++)
        free(b->atoms[i]);
    free(b->atoms);
    free(b->events);
    free(b);
}
