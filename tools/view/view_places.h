/* SPDX-License-Identifier: Apache-2.0 */
/* The states that views keep in the kernel (bpf/view_state.bpf.h), as user space takes them away. */
#ifndef TOOLS_VIEW_PLACES_H
#define TOOLS_VIEW_PLACES_H

#include "open.h"
#include "probe/vm_maps.h"

struct bpf_map;

/* A state of a view. Its places stay mapped, as mapping them takes longer than reading them. */
struct view_kept {
    int hash;    /* of what has no place */
    char *bytes; /* of the places, which programs write to; NULL: the state has none, or it was not opened */
    size_t size, each;
    uint32_t n; /* a power of two */
};

/* at: NULL when the state has no places. Owns: view_places_close frees. Fails: -errno. */
int view_places_open(struct view_kept *places, struct bpf_map *at, struct bpf_map *more);
void view_places_close(struct view_kept *places);

/* Drops what is kept of VMs, or of all (NULL). Programs may run meanwhile, but none of those VMs. */
void view_places_drop(const struct view_kept *places, const struct vm_set *vms);

/*
 * Tells the taker each state that is kept; of one in a place the key is not known. Programs may run meanwhile. Returns
 * what the taker does.
 */
int view_places_each(const struct view_kept *places, const struct open_taker *taker);

#endif
