/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Events of VMs that write no pages, each a record of the ring buffer: for recordings. A program a site, of the probes
 * that views are told of; what nobody asked for is not loaded.
 */
#include "view_event.bpf.h"
#include "note.bpf.h"
#include "trap.h"

struct {
    __uint(type, BPF_MAP_TYPE_LRU_HASH);
    __uint(max_entries, TRAP_THREADS);
    __type(key, __u64);
    __type(value, struct trap_thread);
} threads SEC(".maps");

/* How many events this thread told before this one. Only the thread itself counts them. */
static __noinline __u64 trap_before(__u32 vm)
{
    struct trap_thread zero = {.vm = vm}, *at;
    __u64 thread = bpf_get_current_pid_tgid();

    at = probe_upsert(&threads, &thread, &zero);
    return at ? at->told++ : 0;
}

/* The name that the process of a hook's event is registered by now, or else its label if that is an atom. */
static __noinline __u64 trap_registered(__u64 where)
{
    __u32 slot = where >> VIEW_SLOT_SHIFT & VIEW_SLOT_MASK;
    const struct otp_layout *layout = where & VIEW_ADDRESS_MASK ? bpf_map_lookup_elem(&otp_layouts, &slot) : 0;

    return layout ? otp_name_or_label(layout, where & VIEW_ADDRESS_MASK) : TRAP_NAME_UNKNOWN;
}

static __always_inline void trap_begin(struct trap_head *head, const struct ev_head *h, __u64 before, __u64 where)
{
    head->header.time_ns = view_ns(h);
    head->thread = bpf_get_current_pid_tgid();
    head->tells = h->tells;
    head->before = before;
    head->registered = where ? trap_registered(where) : TRAP_NAME_UNKNOWN;
}

_Static_assert(sizeof(struct trap_name) == sizeof(struct name_text), "a name is made where it stands in the record");

static __noinline int trap_mfa(const struct ev_head *h, ev_mfa mfa, struct trap_name *out)
{
    view_mfa(h, mfa, (struct name_text *)out);
    return 0;
}

/* As it is counted: by its shape. */
static __noinline int trap_term(const struct ev_head *h, ev_term term, struct trap_name *out)
{
    struct name_text name = {0};

    if (!(term & EV_LATER_TERM)) {
        view_term(h, term, (struct name_text *)out);
        return 0;
    }
    view_text_at(term & VIEW_ADDRESS_MASK, &name);
    return reason_of_text(&name, (struct name_text *)out);
}

static __noinline int trap_node(const struct ev_head *h, ev_node node, struct trap_name *out)
{
    view_node(h, node, (struct name_text *)out);
    return 0;
}

static __noinline int trap_text(const struct ev_text *text, struct trap_text *out)
{
    long used = view_read_text(text, out->text, sizeof out->text);

    out->bytes = used ? used - 1 : 0;
    return 0;
}

#define TRAP_NUMBER(ev, r, arg) (r)->arg = (ev)->arg
#define TRAP_pid TRAP_NUMBER
#define TRAP_caller TRAP_NUMBER
#define TRAP_port TRAP_NUMBER
#define TRAP_name TRAP_NUMBER
#define TRAP_words TRAP_NUMBER
#define TRAP_bytes TRAP_NUMBER
#define TRAP_frames TRAP_NUMBER
#define TRAP_count TRAP_NUMBER
#define TRAP_ns TRAP_NUMBER
#define TRAP_flag TRAP_NUMBER
#define TRAP_errno TRAP_NUMBER
#define TRAP_efile_op TRAP_NUMBER
#define TRAP_none TRAP_NUMBER
#define TRAP_mfa(ev, r, arg) trap_mfa(&(ev)->head, (ev)->arg, &(r)->arg)
#define TRAP_term(ev, r, arg) trap_term(&(ev)->head, (ev)->arg, &(r)->arg)
#define TRAP_node(ev, r, arg) trap_node(&(ev)->head, (ev)->arg, &(r)->arg)
#define TRAP_module TRAP_node
#define TRAP_text(ev, r, arg) trap_text(&(ev)->arg, &(r)->arg)

static __always_inline __attribute__((unused)) void trap_fill_none(void)
{
#define PROBE(probe, family, nargs, watch, text)                                                   \
    }                                                                                              \
    static __always_inline void trap_fill_##probe(const struct ev_##probe *ev, struct trap_##probe *r) \
    {
#define PROBE_RANGE(prefix, family, nargs, first, last, text) PROBE(prefix, family, nargs, NOTHING, text)
#define ARG(probe, index, arg, type, unit)                                                         \
    if (event_wanted[PROBE_ID_##probe] & 1 << index)                                               \
        TRAP_##unit(ev, r, arg);                                                                   \
    else                                                                                           \
        __builtin_memset(&r->arg, 0, sizeof r->arg);
#include "../vm/probes.def"
}

#define TRAP_SUBJECT(ev, arg, name)                                                                \
    if (!__builtin_strcmp(name, "receiver") || (!__builtin_strcmp(name, "pid") && !subject))       \
        subject = (ev)->arg;
#define TRAP_NO_SUBJECT(ev, arg, name)
#define TRAP_SUBJECT_pid TRAP_SUBJECT
#define TRAP_SUBJECT_caller TRAP_SUBJECT
#define TRAP_SUBJECT_name TRAP_SUBJECT
#define TRAP_SUBJECT_port TRAP_NO_SUBJECT
#define TRAP_SUBJECT_words TRAP_NO_SUBJECT
#define TRAP_SUBJECT_bytes TRAP_NO_SUBJECT
#define TRAP_SUBJECT_frames TRAP_NO_SUBJECT
#define TRAP_SUBJECT_count TRAP_NO_SUBJECT
#define TRAP_SUBJECT_ns TRAP_NO_SUBJECT
#define TRAP_SUBJECT_flag TRAP_NO_SUBJECT
#define TRAP_SUBJECT_errno TRAP_NO_SUBJECT
#define TRAP_SUBJECT_efile_op TRAP_NO_SUBJECT
#define TRAP_SUBJECT_none TRAP_NO_SUBJECT
#define TRAP_SUBJECT_mfa TRAP_NO_SUBJECT
#define TRAP_SUBJECT_term TRAP_NO_SUBJECT
#define TRAP_SUBJECT_node TRAP_NO_SUBJECT
#define TRAP_SUBJECT_module TRAP_NO_SUBJECT
#define TRAP_SUBJECT_text TRAP_NO_SUBJECT

/* The process that the event is about, as subjects() of tools/source/trap_source.c; 0: it is not asked for. */
static __always_inline __attribute__((unused)) ev_id trap_subject_of_nothing(void)
{
    ev_id subject = 0;

#define PROBE(probe, family, nargs, watch, text)                                                   \
    return subject;                                                                                \
    }                                                                                              \
    static __always_inline ev_id trap_subject_of_##probe(const struct ev_##probe *ev)              \
    {                                                                                              \
        ev_id subject = 0;
#define PROBE_RANGE(prefix, family, nargs, first, last, text) PROBE(prefix, family, nargs, NOTHING, text)
#define ARG(probe, index, arg, type, unit)                                                         \
    if (event_wanted[PROBE_ID_##probe] & 1 << index) {                                             \
        TRAP_SUBJECT_##unit(ev, arg, #arg)                                                         \
    }
#include "../vm/probes.def"
    return subject;
}

/* Where it is: a hook says so, a note of an erlvm leaves it to be found. */
static __always_inline __u64 trap_where(const struct ev_head *h, ev_id subject)
{
    return h->where || !subject ? h->where : view_where(h->vm, subject);
}

static __always_inline __u64 trap_wakes(void)
{
    __u64 waits = bpf_ringbuf_query(&records, BPF_RB_AVAIL_DATA);

    return waits >= TRAP_RING_WAKE_BYTES ? BPF_RB_FORCE_WAKEUP : BPF_RB_NO_WAKEUP;
}

#define TRAPPED(probe, tell, ...)                                                                  \
    static __always_inline void tell_##probe(__VA_ARGS__)                                          \
    {                                                                                              \
        __u64 before = trap_before(ev->head.vm);                                                   \
        struct trap_##probe *r = probe_record(BATCH_##probe, ev->head.vm, 0, sizeof *r);           \
                                                                                                   \
        if (!r)                                                                                    \
            return;                                                                                \
        trap_begin(&r->head, &ev->head, before,                                                    \
                   trap_where(&ev->head, trap_subject_of_##probe(ev)));                            \
        trap_fill_##probe(ev, r);                                                                  \
        bpf_ringbuf_submit(r, trap_wakes());                                                       \
    }                                                                                              \
    NOTE_PROGRAM(probe, tell)
#define TELL(probe, family, calls) TRAPPED(probe, tell_##probe(&ev), const struct ev_##probe *ev)
#define TELL_APART(probe, family, calls) \
    TRAPPED(probe, tell_##probe(ctx, &ev), struct pt_regs *ctx, const struct ev_##probe *ev)
#include "tells.def"

/* A recording has each event with the time when it is told: an operation that waited is told when it begins. */
static __always_inline void hook_begin_file(const struct otp_layout *layout, struct ev_efile_drv__entry *ev,
                                            __u64 process)
{
    (void)layout;
    (void)process;
    tell_efile_drv__entry(ev);
}

#include "hook_arrival.bpf.h"
#include "hook_process.bpf.h"
#include "hook_mailbox.bpf.h"
#include "hook_request.bpf.h"
#include "hook_efile.bpf.h"
#include "hook_driver.bpf.h"
#include "hook_dist.bpf.h"
#include "hook_dist_busy.bpf.h"
#include "hook_ets.bpf.h"
#include "hook_nif.bpf.h"
#include "hook_timer.bpf.h"
#include "hook_code.bpf.h"
#include "otp_purge.bpf.h"

char LICENSE[] SEC("license") = "Dual BSD/GPL";
