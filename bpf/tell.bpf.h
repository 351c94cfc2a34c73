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
    NOTE_PROGRAM(probe)
#define TELL(probe, family, calls) HERE_##family(TOLD(probe, calls), )
#include "tells.def"

#endif
