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

VIEW_INLINE void view_text(const struct ev_head *h, const struct ev_text *text, char *out, __u32 size)
{
    view_read_text(text, out, size);
}

#endif
