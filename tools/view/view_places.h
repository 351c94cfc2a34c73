/* SPDX-License-Identifier: Apache-2.0 */
/* The states that views keep in the kernel (bpf/view_state.bpf.h), as user space takes them away. */
#ifndef TOOLS_VIEW_PLACES_H
#define TOOLS_VIEW_PLACES_H

#include "open.h"
#include "probe/vm_maps.h"

struct bpf_map;

/*
 * Drops what is kept of VMs, or of all (NULL). at: places, NULL when the state has none; more: the hash. Programs may
 * run meanwhile, but none of those VMs.
 */
void view_places_drop(struct bpf_map *at, struct bpf_map *more, const struct vm_set *vms);

/*
 * Tells the taker each state that is kept; of one in a place the key is not known. Programs may run meanwhile. Returns
 * what the taker does.
 */
int view_places_each(struct bpf_map *at, struct bpf_map *more, const struct open_taker *taker);

#endif
