/* SPDX-License-Identifier: Apache-2.0 */
/* Invariant: pages of processes that were not attached to are left out, whatever the kernel's filter let through. */
#include "batch_source.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "batch.skel.h"
#include "batch_drain.h"
#include "common/clock.h"
#include "common/fail.h"
#include "event/batch_ring.h"
#include "probe/attach.h"
#include "probe/links.h"
#include "probe/uprobe.h"

enum { TURN_PAGES = 4096, READ_MS = 2 };
#define SLACK_NS 10000000ull /* from when a thread is to wake until it has handed its page over */

struct batch_source {
    struct batch_source_ops ops;
    struct batch *skel;
    struct batch_ring *ring, *spill;
    struct links_set links;
    struct batch_drain drain;
    pthread_t stopping; /* removes the links */
    bool stops;
    int *pids; /* that were attached to; with `all`, that handed a page over */
    size_t npids;
    bool all;
    bool many;     /* one link for many places */
    uint32_t specs; /* slots of the map "specs" in use */
    int pages;     /* handed over in this turn */
};

/* ---- pages */

static bool is_known(const struct batch_source *s, int pid)
{
    for (size_t i = 0; i < s->npids; i++)
        if (s->pids[i] == pid)
            return true;
    return false;
}

static int remember_pid(struct batch_source *s, int pid)
{
    int *pids = is_known(s, pid) ? s->pids : realloc(s->pids, (s->npids + 1) * sizeof *pids);

    if (!pids)
        return fail(-ENOMEM, "out of memory");
    s->pids = pids;
    if (!is_known(s, pid))
        pids[s->npids++] = pid;
    return 0;
}

static bool is_ours(struct batch_source *s, uint32_t vm)
{
    return s->all ? !remember_pid(s, (int)vm) : is_known(s, (int)vm);
}

/* -EAGAIN ends the turn. */
static int take_page(void *ctx, void *data, size_t size)
{
    struct batch_source *s = ctx;
    const struct batch_received *received = data;

    if (size >= sizeof *received && received->bytes <= size - sizeof *received && is_ours(s, received->vm)) {
        batch_drain_take(&s->drain, received);
        s->ops.page(s->ops.ctx, received);
    }
    return ++s->pages < TURN_PAGES ? 0 : -EAGAIN;
}

int batch_source_read(struct batch_source *s)
{
    s->pages = 0;
    batch_ring_read(s->ring, s->spill, take_page, s);
    return s->pages;
}

int batch_source_fd(const struct batch_source *s)
{
    return bpf_map__fd(s->skel->maps.records);
}

const struct bpf_object *batch_source_object(const struct batch_source *s)
{
    return s->skel->obj;
}

static uint64_t count_losses(const struct batch_source *s, uint32_t why)
{
    int cpus = libbpf_num_possible_cpus();
    uint64_t *counts = cpus > 0 ? calloc((size_t)cpus, sizeof *counts) : NULL, sum = 0;

    if (counts && !bpf_map_lookup_elem(bpf_map__fd(s->skel->maps.losses), &why, counts))
        for (int i = 0; i < cpus; i++)
            sum += counts[i];
    free(counts);
    return sum;
}

struct batch_unreceived batch_source_unreceived(const struct batch_source *s)
{
    return (struct batch_unreceived){count_losses(s, LOSS_RING_FULL), count_losses(s, LOSS_BAD_ARG)};
}

uint64_t batch_source_lost(const struct batch_source *s)
{
    struct batch_unreceived lost = batch_source_unreceived(s);

    return lost.no_room + lost.unreadable;
}

/* ---- set-up */

static int load(struct batch_source *s)
{
    /* a page is of who fires the note, whatever the kernel's filter lets through */
    struct wire_config config = attach_config(0);
    size_t most = sizeof(struct batch_received) + BATCH_PAGE_BYTES;
    int err;

    attach_hush();
    s->skel = batch__open();
    if (!s->skel)
        return fail(-ENOMEM, "cannot open the BPF program: %s", strerror(errno));
    memcpy((void *)&s->skel->rodata_session->probe_config, &config, sizeof config);
    bpf_map__set_max_entries(s->skel->maps.records, BATCH_RING_BYTES);
    s->many = !getenv("ERLSNOOP_PERF_EVENTS") && uprobe_has_many();
    if (s->many)
        bpf_program__set_expected_attach_type(s->skel->progs.on_flush, (enum bpf_attach_type)UPROBE_ATTACH_MANY);
    err = batch__load(s->skel);
    if (err)
        return attach_explain(err, "cannot load the BPF program");
    attach_forget_file(s->skel->skeleton);
    s->skel->data_session->probe_runs = 1;
    s->ring = batch_ring_new(bpf_map__fd(s->skel->maps.records), BATCH_RING_BYTES, most);
    s->spill = batch_ring_new(bpf_map__fd(s->skel->maps.spill), BATCH_SPILL_BYTES, most);
    return s->ring && s->spill ? 0 : fail(-errno, "no ring buffer: %s", strerror(errno));
}

int batch_source_new(const struct batch_source_ops *ops, struct batch_source **out)
{
    struct batch_source *s = calloc(1, sizeof *s);
    int err;

    if (!s)
        return fail(-ENOMEM, "out of memory");
    s->ops = *ops;
    err = load(s);
    if (err)
        batch_source_free(s);
    else
        *out = s;
    return err;
}

/* ---- links */

static int keep_link(struct batch_source *s, int link)
{
    if (link == -ESRCH)
        return link;
    if (link < 0)
        return attach_explain(link, "cannot attach a probe");
    return links_take(&s->links, link) ? fail(-ENOMEM, "out of memory") : 0;
}

bool batch_source_serves(const struct target *t)
{
    return elf_file_find_batch(t->elf, "flush") != NULL;
}

bool batch_source_tells(const struct target *t, const char *probe)
{
    return batch_source_serves(t) && elf_file_find_batch(t->elf, probe) != NULL;
}

/* Where the note of flush has the page and its bytes: in the next slot of "specs". */
static int describe_flush(struct batch_source *s, const struct elf_note *note)
{
    struct wire_spec spec = {0};
    size_t used = provider_usdt_parse_arg(note->args, &spec.args[0]);

    if (!used || note->args[used] != ' ' || !provider_usdt_parse_arg(note->args + used + 1, &spec.args[1]))
        return fail(-EINVAL, "the note erlang_batch:flush has arguments that are not understood: '%s'", note->args);
    if (s->specs >= WIRE_MAX_SPECS)
        return fail(-E2BIG, "more than %d files at once", WIRE_MAX_SPECS);
    if (bpf_map_update_elem(bpf_map__fd(s->skel->maps.specs), &s->specs, &spec, BPF_ANY))
        return attach_explain(-errno, "cannot describe a probe site");
    s->specs++;
    return 0;
}

/* The note of flush, and those of the wanted probes, all with that slot of "specs". Returns how many; 0: none is
 * wanted. */
static size_t find_places(const struct target *t, const struct wanted *wanted, uint32_t spec,
                          const struct elf_note *flush, struct uprobe_place places[1 + BATCH_EVENTS])
{
    static const char *const names[BATCH_EVENTS] = {
#define PROBE(probe, family, nargs, watch, text) [BATCH_##probe] = #probe,
#include "../../vm/probes.def"
    };
    size_t n = 0;

    places[n++] = (struct uprobe_place){flush->offset, flush->semaphore, spec};
    for (unsigned e = 0; e < BATCH_EVENTS; e++) {
        const struct elf_note *note = wanted->events[e] && names[e] ? elf_file_find_batch(t->elf, names[e]) : NULL;

        if (note)
            places[n++] = (struct uprobe_place){note->offset, note->semaphore, spec};
    }
    return n > 1 ? n : 0;
}

/* The kernel takes tens of milliseconds to remove a link, one after the other: where it can, all are one. */
static int attach_places(struct batch_source *s, const struct target *t, int pid, const struct uprobe_place *places,
                         size_t n)
{
    int program = bpf_program__fd(s->skel->progs.on_flush), err = 0;

    if (s->many)
        return keep_link(s, uprobe_link_many(program, t->path, pid, false, places, n));
    for (size_t i = 0; i < n && !err; i++)
        err = keep_link(s, uprobe_link_one(program, t->path, pid, false, &places[i]));
    return err;
}

int batch_source_attach(struct batch_source *s, const struct target *t, int pid, const struct wanted *wanted)
{
    const struct elf_note *flush = elf_file_find_batch(t->elf, "flush");
    struct uprobe_place places[1 + BATCH_EVENTS];
    size_t links = s->links.n, n;
    int err;

    if (!flush)
        return fail(-ENOTSUP, "'%s' (%s) hands no pages of events over", t->name, t->provider->text);
    n = find_places(t, wanted, s->specs, flush, places);
    if (!n)
        return 0;
    s->all |= pid < 0;
    err = remember_pid(s, pid);
    if (!err)
        err = describe_flush(s, flush);
    if (!err)
        err = attach_places(s, t, pid, places, n);
    if (!err)
        return (int)n - 1;
    links_cut(&s->links, links);
    return err;
}

/* ---- the end */

static bool waits(const struct batch_source *s)
{
    for (size_t i = 0; i < s->npids; i++)
        if (batch_drain_waits(&s->drain, s->pids[i]))
            return true;
    return false;
}

void batch_source_drain(struct batch_source *s)
{
    uint64_t begun = clock_ns(CLOCK_MONOTONIC), now = begun;

    s->drain.since_ns = begun;
    while (now < begun + BATCH_PATIENCE_MS * 1000000ull + SLACK_NS ||
           (now < begun + BATCH_SOURCE_DRAIN_NS && waits(s))) {
        if (!batch_source_read(s))
            usleep(READ_MS * 1000);
        now = clock_ns(CLOCK_MONOTONIC);
    }
}

static void *remove_links(void *ctx)
{
    links_cut(ctx, 0);
    return NULL;
}

void batch_source_stop(struct batch_source *s)
{
    if (s->stops)
        return;
    s->skel->data_session->probe_runs = 0;
    s->stops = !pthread_create(&s->stopping, NULL, remove_links, &s->links);
}

void batch_source_free(struct batch_source *s)
{
    if (!s)
        return;
    if (s->stops)
        pthread_join(s->stopping, NULL);
    links_cut(&s->links, 0);
    batch_drain_free(&s->drain);
    batch_ring_free(s->ring);
    batch_ring_free(s->spill);
    batch__destroy(s->skel);
    free(s->pids);
    free(s);
}
