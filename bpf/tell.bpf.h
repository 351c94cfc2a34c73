/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Who is told of the probes of a family: a program a site, which makes the event and hands it to the views that were
 * asked for. Included behind their handlers. What nobody asked for is not loaded: programs of other probes, maps of
 * other views, and their calls, which the kernel finds dead.
 */
#ifndef BPF_TELL_BPF_H
#define BPF_TELL_BPF_H

#include "note.bpf.h"

/*
 * Of a probe that is told by a program a family (APART) the first makes the event. Where more families are asked, it
 * keeps the event for its thread and goes on to then_<probe>_<family>, which goes on to the next. Nothing comes back
 * from there, so helpers are told by the last. What is kept stays with the thread, for its next event.
 */
enum told_part {
#define PART(probe, family, calls, asked, behind, helpers) TOLD_PART_##probe##_##family,
#define TELL_APART(probe, family, calls)
#include "tells.def"
    TOLD_NPARTS
};

/* User space puts those that are loaded there (attach_join of tools/probe/attach.h). */
SHARED struct {
    __uint(type, BPF_MAP_TYPE_PROG_ARRAY);
    __uint(max_entries, TOLD_NPARTS);
    __type(key, __u32);
    __type(value, __u32);
} told_parts SEC(".maps");

#define ASKED(view) || VIEW_ON(view)
#define GO_ON(probe, family, asked)                                                                \
    if (0 asked) {                                                                                 \
        bpf_tail_call(ctx, &told_parts, TOLD_PART_##probe##_##family);                             \
        probe_lose(LOSS_MAP_FULL);                                                                 \
    }
#define TELL_APART(probe, family, calls)                                                           \
    SHARED struct {                                                                                \
        __uint(type, BPF_MAP_TYPE_TASK_STORAGE);                                                   \
        __uint(map_flags, BPF_F_NO_PREALLOC);                                                      \
        __type(key, int);                                                                          \
        __type(value, struct ev_##probe);                                                          \
    } told_##probe SEC(".maps");                                                                   \
    static __always_inline __attribute__((unused)) struct ev_##probe *kept_##probe(__u64 flags)    \
    {                                                                                              \
        struct ev_##probe *kept = bpf_task_storage_get(&told_##probe, bpf_get_current_task_btf(), 0, flags); \
                                                                                                   \
        if (!kept)                                                                                 \
            probe_lose(LOSS_MAP_FULL);                                                             \
        return kept;                                                                               \
    }
#include "tells.def"

/*
 * A view of another family than the program's is called as a function. Whether it is asked for is looked at inside,
 * too: Linux 5.15 verifies the function of a call that it finds dead.
 */
#define FORWARD(view, family, probe)                                                               \
    int view##_told_##probe(const struct ev_##probe *ev);                                          \
    HERE_##family(FORWARDED(view, probe), )
#define FORWARDED(view, probe)                                                                     \
    __noinline int view##_told_##probe(const struct ev_##probe *ev)                                \
    {                                                                                              \
        if (ev && VIEW_ON(view))                                                                   \
            view_##view##_on_##probe(ev);                                                          \
        return 0;                                                                                  \
    }
#define CALL(view, family, probe)                                                                  \
    if (VIEW_ON(view))                                                                             \
        HERE_##family(view_##view##_on_##probe(ev), view##_told_##probe(ev));
#define TOLD(probe, calls)                                                                         \
    static __always_inline void tell_##probe(const struct ev_##probe *ev)                          \
    {                                                                                              \
        calls                                                                                      \
    }                                                                                              \
    NOTE_PROGRAM(probe, tell_##probe(&ev))
#define PART_FIRST(probe, family, calls, asked, behind, helpers)                                   \
    HERE_##family(TOLD_FIRST(probe, calls, asked, behind, helpers), )
#define TOLD_FIRST(probe, calls, asked, behind, helpers)                                           \
    static __always_inline void tell_##probe(struct pt_regs *ctx, const struct ev_##probe *ev)     \
    {                                                                                              \
        struct ev_##probe *kept;                                                                   \
                                                                                                   \
        calls                                                                                      \
        kept = 0 asked ? kept_##probe(BPF_LOCAL_STORAGE_GET_F_CREATE) : 0;                         \
        if (kept) {                                                                                \
            *kept = *ev;                                                                           \
            behind                                                                                 \
        }                                                                                          \
        helpers                                                                                    \
    }                                                                                              \
    NOTE_PROGRAM(probe, tell_##probe(ctx, &ev))
#define PART(probe, family, calls, asked, behind, helpers)                                         \
    HERE_##family(TOLD_THEN(probe, family, calls, behind, helpers), )
#define TOLD_THEN(probe, family, calls, behind, helpers)                                           \
    SEC("uprobe")                                                                                  \
    int then_##probe##_##family(struct pt_regs *ctx)                                               \
    {                                                                                              \
        const struct ev_##probe *ev = kept_##probe(0);                                             \
                                                                                                   \
        if (!ev)                                                                                   \
            return 0;                                                                              \
        calls                                                                                      \
        behind                                                                                     \
        helpers                                                                                    \
        return 0;                                                                                  \
    }
#define TELL(probe, family, calls) HERE_##family(TOLD(probe, calls), )
#define TELL_APART(probe, family, calls)
#include "tells.def"

#endif
