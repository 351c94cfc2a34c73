/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * All views in one object: a program a site, which makes the event and hands it to the views that were asked for. What nobody asked
 * for is not loaded: programs of other probes, maps of other views, and their calls, which the kernel finds dead.
 */
#include "view.bpf.h"
#include "note.bpf.h"

#include "view_owners.h"
#include "view_dist.h"
#include "view_drivers.h"
#include "view_efile.h"
#include "view_exits.h"
#include "view_gc.h"
#include "view_messages.h"
#include "view_msglat.h"
#include "view_nifs.h"
#include "view_ports.h"
#include "view_inet.h"
#include "view_sched.h"
#include "view_spawns.h"
#include "view_user.h"

#define CALL(view, probe)                                                                          \
    if (VIEW_ON(view))                                                                             \
        view_##view##_on_##probe(ev);
#define TELL(probe, calls)                                                                         \
    static __always_inline void tell_##probe(const struct ev_##probe *ev)                          \
    {                                                                                              \
        calls                                                                                      \
    }                                                                                              \
    NOTE_PROGRAM(probe)
#include "tells.def"

#include "hook.bpf.h"
#include "hook_efile.bpf.h"
#include "hook_driver.bpf.h"
#include "hook_dist.bpf.h"
#include "hook_nif.bpf.h"
#include "otp_purge.bpf.h"

char LICENSE[] SEC("license") = "Dual BSD/GPL";
