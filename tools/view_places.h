/* SPDX-License-Identifier: Apache-2.0 */
/* The states that views keep in the kernel (bpf/view_state.bpf.h), as user space takes them away. */
#ifndef TOOLS_VIEW_PLACES_H
#define TOOLS_VIEW_PLACES_H

#include <stdint.h>

struct bpf_map;

/*
 * Drops what is kept of a VM, or of all (0). at: places, NULL when the state has none; more: the hash. Programs may run
 * meanwhile, but none of the VM's own.
 */
void view_places_drop(struct bpf_map *at, struct bpf_map *more, uint32_t vm);

#endif
