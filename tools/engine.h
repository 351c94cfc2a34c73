/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Views, asked of targets, printed to a sink: what a subcommand of bpf/views.def is. All views are one BPF object, of which only
 * what the views need is loaded, and only where they need it attached.
 */
#ifndef TOOLS_ENGINE_H
#define TOOLS_ENGINE_H

#include <bpf/libbpf.h>

#include "views.h"

/* Before the load: leaves of the opened object what these views need. */
void engine_select(struct bpf_object *object, const bool on[VIEW_COUNT]);

#endif
