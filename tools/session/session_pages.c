/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Pages of events: those that VMs hand over, and while something is recorded those that are made of other VMs' events;
 * to the views in user space, and to the recording. So a recording and what is printed come from the same probes.
 */
#include <errno.h>

#include "common/clock.h"
#include "common/fail.h"
#include "common/signals.h"
#include "recording/recorder.h"
#include "session_state.h"
#include "source/batch_source.h"
#include "source/trap_source.h"

#include "../../bpf/trap.h"

/*
 * How long what pages hold is still told once somebody waits for the end. It is processor time that counts, not what
 * goes by: where others keep the processors busy, little waits in the pages, and all of it is told.
 */
enum { END_CPU_NS = 75000000 };

static void take_handed(void *ctx, const struct batch_received *received)
{
    struct session *s = ctx;

    if (s->ops->recorder)
        recorder_page(s->ops->recorder, received, true);
    if (s->ops->feed)
        feed_take(s->ops->feed, received);
}

static void take_made(void *ctx, const struct batch_received *received)
{
    struct session *s = ctx;

    recorder_page(s->ops->recorder, received, false);
    if (s->ops->feed)
        feed_take(s->ops->feed, received);
}

static void take_told(void *ctx, const struct wire_header *record, size_t size)
{
    struct session *s = ctx;

    if (session_is_late(s)) {
        s->left++;
        return;
    }
    s->sink.now_ns = record->time_ns;
    s->ops->record(s->ctx, s, record, size);
}

static bool is_over(void *ctx)
{
    struct session *s = ctx;
    uint64_t cpu_ns = signals_first_ns() ? clock_ns(CLOCK_THREAD_CPUTIME_ID) : 0;

    if (cpu_ns && !s->end_cpu_ns)
        s->end_cpu_ns = cpu_ns + END_CPU_NS;
    return cpu_ns && cpu_ns >= s->end_cpu_ns;
}

int session_read_pages(struct session *s)
{
    struct recorder *r = s->ops->recorder;
    uint64_t until;

    s->turn_ns = clock_ns(CLOCK_MONOTONIC);
    until = s->turn_ns - BATCH_MERGE_PATIENCE_NS;
    batch_source_read(s->pages);
    if (s->traps)
        trap_source_read(s->traps);
    if (r) {
        recorder_look(r, batch_source_lost(s->pages));
        s->ending |= r->err != 0;
    }
    if (s->ops->feed)
        feed_until(s->ops->feed, s->cut_ns && s->cut_ns < until ? s->cut_ns : until);
    return sink_flush(&s->sink);
}

/* A VM that ends as it should hands over what its threads hold. */
static void end_pages(struct session *s, int pid)
{
    bool whole = true, left;

    batch_source_read(s->pages);
    left = pid == s->watch.child.pid && child_left(&s->watch.child); /* of its own, maybe before it ran anything */
    if (s->ops->feed)
        whole = feed_end_vm(s->ops->feed, (uint32_t)pid, clock_ns(CLOCK_MONOTONIC));
    if (s->ops->recorder) /* which knows of VMs whose pages are made, too */
        whole = recorder_is_whole(s->ops->recorder, (uint32_t)pid);
    if (!whole && !left && !batch_source_lost(s->pages))
        note("the VM with pid %d was killed: what its threads did in their last tenth of a second may be missing", pid);
}

void session_drain_pages(struct session *s)
{
    if (!s->ended && !(s->ops->recorder && s->ops->recorder->err))
        batch_source_drain(s->pages);
    batch_source_stop(s->pages);
    while (batch_source_read(s->pages) > 0)
        ;
    if (s->traps)
        trap_source_drain(s->traps);
    if (s->ops->recorder)
        recorder_look(s->ops->recorder, batch_source_lost(s->pages));
    if (s->ops->feed)
        feed_bound(s->ops->feed, s->from_ns, s->now_ns);
    if (s->ended && !watch_replaced(&s->watch))
        end_pages(s, s->watch.pid);
}

void session_end_vm(struct session *s, int pid)
{
    if (s->traps)
        trap_source_end(s->traps, (uint32_t)pid);
    end_pages(s, pid);
    if (s->ops->recorder)
        recorder_end_vm(s->ops->recorder, (uint32_t)pid);
}

/* ---- VMs that hand pages over */

bool session_serves_pages(void *ctx, const struct target *t)
{
    const struct session *s = ctx;

    return (s->ops->feed || s->ops->recorder) && !s->ops->notes_only && (s->ops->pages_only || batch_source_serves(t));
}

static int listen_to_pages(struct session *s)
{
    int err = batch_source_new(&(struct batch_source_ops){take_handed, s}, &s->pages);

    if (err)
        return err;
    if (s->ops->feed)
        feed_listen(s->ops->feed, &(struct feed_ops){.record = take_told, .is_over = is_over, .ctx = s});
    err = session_wait_for(s, SOURCE_PAGES, batch_source_fd(s->pages));
    return err ? err : session_set_timer(s, SOURCE_LOOK, BATCH_RING_LOOK_MS * 1000000ull);
}

int session_attach_pages(void *ctx, const struct target *t, int pid, bool noted)
{
    struct session *s = ctx;
    struct recorder *r = s->ops->recorder;
    int err, sites;

    if (!batch_source_serves(t) && s->options->all)
        return 0;
    if (!batch_source_serves(t))
        return fail(-ENOTSUP, "'%s' (%s) hands no pages of events over; leave --source out", t->name,
                    t->provider->text);
    err = s->pages ? 0 : listen_to_pages(s);
    if (err)
        return err;
    if (s->ops->feed)
        feed_add_vm(s->ops->feed, (uint32_t)t->pid);
    sites = noted ? 1 : batch_source_attach(s->pages, t, pid, r ? &r->wanted : feed_wanted(s->ops->feed));
    if (sites > 0 && s->ops->feed && feed_read_owners(s->ops->feed, t))
        return fail(-ENOMEM, "out of memory");
    if (sites > 0 && r && !r->err)
        r->err = recorder_owners(r, t);
    return r && r->err < 0 ? r->err : sites;
}

/* ---- VMs of whose events pages are made */

static int record_atom(void *ctx, uint32_t vm, uint64_t index, const char *text, size_t bytes)
{
    struct session *s = ctx;
    int err = s->ops->feed ? feed_atom(s->ops->feed, vm, index, text, bytes) : 0;

    return err ? err : recorder_atom(s->ops->recorder, vm, index, text, bytes);
}

static int record_owner(void *ctx, uint32_t vm, ev_id id, const struct wire_name *name)
{
    struct session *s = ctx;

    if (s->ops->feed)
        feed_owner(s->ops->feed, vm, id, name);
    return recorder_owner(s->ops->recorder, vm, id, name);
}

int session_hook_traps(struct session *s, const struct target *t, const struct plan *plan, uint32_t slot)
{
    struct recorder *r = s->ops->recorder;
    int err = recorder_learn(r, (uint32_t)t->pid, plan);

    if (err)
        return err;
    trap_source_hooked(s->traps, t, plan, slot);
    err = trap_source_owners(s->traps, t, &(struct owners_ops){record_atom, record_owner, s, false});
    return err ? err : recording_owners_known(r->writer, (uint32_t)t->pid);
}

static int open_traps(struct session *s)
{
    int err = trap_source_new(&(struct trap_source_ops){take_made, s}, &s->ops->recorder->wanted, &s->watch,
                              &s->traps);

    if (!err)
        err = session_wait_for(s, SOURCE_TRAPS, trap_source_fd(s->traps));
    return err ? err : session_set_timer(s, SOURCE_LOOK, TRAP_RING_LOOK_MS * 1000000ull);
}

/* ---- a recording */

int session_open_recorder(struct session *s, bool traps)
{
    struct recorder *r = s->ops->recorder;
    int err = listen_to_pages(s);

    if (!err && s->watch.plan && !session_serves_pages(s, &s->watch.only))
        err = trap_source_require(&r->wanted, &s->watch.only, s->watch.plan);
    if (!err && traps)
        err = open_traps(s);
    return err ? err : recorder_begin(r, s->watch.only.name); /* last: a recording of that name is written over */
}
