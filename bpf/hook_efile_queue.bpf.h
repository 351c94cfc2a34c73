/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * How long a file operation of a stock emulator waits for a thread. Its native function is flagged for the threads of
 * dirty I/O schedulers: called on an ordinary scheduler, it asks with erts_nfunc_schedule() to be run by one of those,
 * and the process stands in their queue until one is free. One such call may do several operations, such as those of
 * read_file: the first has waited, those after it have not.
 * Source: erts/emulator/beam/erl_nif.c and erl_nfunc_sched.c of OTP.
 */
#ifndef BPF_HOOK_EFILE_QUEUE_BPF_H
#define BPF_HOOK_EFILE_QUEUE_BPF_H

#include "hook.bpf.h"

struct efile_asker {
    hook_vm vm;
    __u64 process; /* its address */
};

/*
 * When a process asked for such a thread last; 0: an operation has begun there since. Of one that asked for another
 * library's function it stays until it asks again, or is forgotten when there is no room.
 */
struct {
    __uint(type, BPF_MAP_TYPE_LRU_HASH);
    __uint(max_entries, 65536);
    __type(key, struct efile_asker);
    __type(value, __u64);
} efile_asked SEC(".maps");

/*
 * erts_nfunc_schedule(process, shadow, ...). A thread that runs a native function of a dirty scheduler passes the
 * process's shadow: it hands the result to an ordinary scheduler, or has another function run in its place; none that
 * does file operations has the latter.
 */
SEC("uprobe")
int at_efile_drv__int_entry(struct pt_regs *ctx)
{
    const struct otp_layout *layout = hook_layout(ctx);
    struct efile_asker asker = {.process = FIXES_CTX_LOAD(ctx, di)};
    __u64 now = bpf_ktime_get_ns();

    if (!layout || FIXES_CTX_LOAD(ctx, si))
        return 0;
    asker.vm = layout->vm;
    bpf_map_update_elem(&efile_asked, &asker, &now, BPF_ANY);
    return 0;
}

/* When the process asked for the thread that begins an operation for it at `now`; 0: that was not seen. */
static __always_inline __u64 efile_asked_ns(const struct otp_layout *layout, __u64 process, __u64 now)
{
    struct efile_asker asker = {layout->vm, process};
    __u64 *asked = bpf_map_lookup_elem(&efile_asked, &asker), at;

    if (!asked)
        return 0;
    at = *asked ? *asked : now;
    *asked = 0;
    return at;
}

/* Both steps at once: the hand-over, which was when the process asked, and the begin of the work. */
static __always_inline void hook_begin_file(const struct otp_layout *layout, struct ev_efile_drv__entry *ev,
                                            __u64 process)
{
    struct ev_efile_drv__int_entry begins = {.tag = ev->tag, .thread = ev->thread};
    __u64 now = bpf_ktime_get_ns();

    ev->head.time_ns = process ? efile_asked_ns(layout, process, now) : 0;
    tell_efile_drv__entry(ev);
    if (!ev->head.time_ns)
        return;
    view_begin(&begins.head, layout->vm);
    begins.head.time_ns = now;
    tell_efile_drv__int_entry(&begins);
}

#endif
