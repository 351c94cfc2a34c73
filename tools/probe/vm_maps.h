/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Entries of the maps of BPF programs that belong to one VM: they go when it ends, so that nothing is there for one
 * that gets its process id, or whose threads get the ids of its threads.
 */
#ifndef TOOLS_VM_MAPS_H
#define TOOLS_VM_MAPS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct bpf_object;

/* Some VMs, by their process ids. */
struct vm_set {
    const uint32_t *vms;
    size_t n;
};

bool vm_set_has(const struct vm_set *set, uint32_t vm);

/*
 * Calls `take` with each key of a hash, which may remove it: once with one that stays there meanwhile, however many
 * others come and go. No map (-1): nothing. Fails: -errno, which is said once.
 */
int vm_maps_each_key(int map, void (*take)(void *ctx, const void *key), void *ctx);
/* The same with its value, of a map that is not by processor; good during the call. */
int vm_maps_each(int map, void (*take)(void *ctx, const void *key, const void *value), void *ctx);
/* Removes the entries whose keys have one of the VMs where `at` says. No map (-1): nothing. */
void vm_maps_drop_keys(int map, size_t at, const struct vm_set *vms);
/* Removes what programs of hooks (bpf/hook*.bpf.h) keep of the VMs and of what their threads are in the middle of. */
void vm_maps_drop(struct bpf_object *object, const struct vm_set *vms);
/* Events were missed: what any VM's threads are in the middle of, and who waits, is not known. */
void vm_maps_miss(struct bpf_object *object);
/* Empties a map. */
void vm_maps_clear(struct bpf_object *object, const char *map);

#endif
