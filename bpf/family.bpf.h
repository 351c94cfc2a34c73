/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Programs of views stand in families, each compiled by itself (bpf/<family>.bpf.c, which defines FAMILY_<family>), and
 * linked with core.bpf.c into one object, views.bpf.o. What all of them share, maps and settings, core.bpf.c has; the
 * others declare it with the same lines. So do objects that are linked with nothing (stacks, trap, batch), which have
 * all of it themselves.
 *   SHARED                       before what all families share: nothing in core.bpf.c, `extern` in a family
 *   HERE(view)(this, other)      `this` in the view's own family, `other` elsewhere; of a helper `this` everywhere
 *   OF(view)                     before a map of the view: nothing, or SHARED when it is a helper's
 */
#ifndef BPF_FAMILY_BPF_H
#define BPF_FAMILY_BPF_H

#include "families.h"

#ifndef SHARED
#define SHARED
#endif
#define HERE_core(here, elsewhere) here
#define OF_core SHARED

#define FAMILY_JOIN(a, b) a##b
#define FAMILY_JOINED(a, b) FAMILY_JOIN(a, b)
#define HERE(view) FAMILY_JOINED(HERE_, FAMILY_OF_##view)
#define OF(view) FAMILY_JOINED(OF_, FAMILY_OF_##view)

#endif
