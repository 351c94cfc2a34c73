/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What handlers and those who make events have in common: the settings of the session, when an event was, what it says
 * (view.bpf.h tells what each is for).
 */
#ifndef BPF_VIEW_EVENT_BPF_H
#define BPF_VIEW_EVENT_BPF_H

#include "view_name.bpf.h"

#define VIEW_ON(view) (view_settings.on[VIEW_##view])
#define VIEW_FILTER(view, filter) (view_settings.filters[VIEW_FILTER_##view##_##filter])
#define VIEW_DETAILS(view, event)                                                                  \
    (view_settings.events[VIEW_##view] || view_settings.slowest[VIEW_SLOWEST_##view##_##event])
#define VIEW_COPY(to, from) bpf_probe_read_kernel(to, sizeof *(to), from)

SHARED volatile __u32 view_side SEC(".data.views"); /* where programs that begin now count: 0 or 1 */

VIEW_INLINE void view_begin(struct ev_head *h, __u32 vm)
{
    *h = (struct ev_head){.vm = vm, .side = view_side & 1};
}

/* ---- of events */

VIEW_INLINE __u64 view_ns(const struct ev_head *h)
{
    return h->time_ns ? h->time_ns : bpf_ktime_get_ns();
}

static __noinline __attribute__((unused)) int view_thread_now(struct view_thread *out)
{
    const struct task_struct *task = bpf_get_current_task_btf();

    out->thread = FIXES_FIELD_EXISTS(task->sched_info.run_delay) ? bpf_get_current_pid_tgid() : 0;
    if (!out->thread)
        return 0;
    out->cpu_ns = task->se.sum_exec_runtime;
    out->queued_ns = task->sched_info.run_delay;
    out->sleeps = task->nvcsw;
    return 0;
}

/* By the name of the thread: 1_dirty_cpu_scheduler, erts_dcpus_1 and their like. */
static __noinline __attribute__((unused)) __u64 view_scheduler_now(void)
{
    char name[16] = "";

    bpf_get_current_comm(name, sizeof name);
    for (__u32 i = 0; i + 6 < sizeof name; i++) {
        if (name[i] != 'd')
            continue;
        if (name[i + 1] == 'c' || (name[i + 1] == 'i' && name[i + 2] == 'r' && name[i + 6] == 'c'))
            return VIEW_SCHEDULER_DIRTY_CPU;
        if (name[i + 1] == 'i')
            return VIEW_SCHEDULER_DIRTY_IO;
    }
    return VIEW_SCHEDULER_NORMAL;
}

VIEW_INLINE void view_text(const struct ev_head *h, const struct ev_text *text, char *out, __u32 size)
{
    view_read_text(text, out, size);
}

#endif
