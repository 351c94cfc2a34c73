/* SPDX-License-Identifier: Apache-2.0 */
#include "vm_maps.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <stdbool.h>
#include <string.h>

#include "../bpf/wire.h"
#include "../bpf/stacks.h"

/*
 * Maps of what threads of stock emulators are in the middle of. A key begins with bpf_get_current_pid_tgid(), whose
 * upper half is the process.
 */
static const struct {
    const char *map;
    size_t key_bytes;
} in_midst[] = {
    {"spawning", sizeof(uint64_t)},
    {"collecting", sizeof(uint64_t)},
    {"efile_errnos", sizeof(uint64_t)},
    {"calling_back", 2 * sizeof(uint64_t)},
    {"sending", sizeof(uint64_t)},
    {"fetching", sizeof(uint64_t)},
    {"in_native", sizeof(uint64_t)},
};
enum { NIN_MIDST = sizeof in_midst / sizeof *in_midst, MOST_KEY_BYTES = 32 };

_Static_assert(sizeof(struct stacks_thread_key) <= MOST_KEY_BYTES && sizeof(struct wire_name_key) <= MOST_KEY_BYTES,
               "a key is longer");

/* Maps of what processes of theirs wait for: a key is the VM and a number, a word each. */
static const char *const of_waiters[] = {"waiting", "in_dirty"};
enum { NOF_WAITERS = sizeof of_waiters / sizeof *of_waiters };

bool vm_set_has(const struct vm_set *set, uint32_t vm)
{
    for (size_t i = 0; i < set->n; i++)
        if (set->vms[i] == vm)
            return true;
    return false;
}

void vm_maps_drop_keys(int map, size_t key_bytes, size_t at, const struct vm_set *vms)
{
    unsigned char key[MOST_KEY_BYTES], next[MOST_KEY_BYTES];
    bool any = !bpf_map_get_next_key(map, NULL, next);
    uint32_t vm;

    while (any) {
        memcpy(key, next, key_bytes);
        any = !bpf_map_get_next_key(map, key, next);
        memcpy(&vm, key + at, sizeof vm);
        if (vm_set_has(vms, vm))
            bpf_map_delete_elem(map, key);
    }
}

void vm_maps_drop(struct bpf_object *object, const struct vm_set *vms)
{
    for (size_t i = 0; i < NIN_MIDST; i++)
        vm_maps_drop_keys(bpf_object__find_map_fd_by_name(object, in_midst[i].map), in_midst[i].key_bytes,
                          sizeof(uint32_t), vms);
    for (size_t i = 0; i < NOF_WAITERS; i++)
        vm_maps_drop_keys(bpf_object__find_map_fd_by_name(object, of_waiters[i]), 2 * sizeof(uint64_t), 0, vms);
    vm_maps_drop_keys(bpf_object__find_map_fd_by_name(object, "efile_threads"), sizeof(struct stacks_thread_key),
                      offsetof(struct stacks_thread_key, vm), vms);
}

void vm_maps_miss(struct bpf_object *object)
{
    for (size_t i = 0; i < NIN_MIDST; i++)
        vm_maps_clear(object, in_midst[i].map);
    for (size_t i = 0; i < NOF_WAITERS; i++)
        vm_maps_clear(object, of_waiters[i]);
}

void vm_maps_clear(struct bpf_object *object, const char *map)
{
    int fd = bpf_object__find_map_fd_by_name(object, map);
    unsigned char key[MOST_KEY_BYTES];

    while (fd >= 0 && !bpf_map_get_next_key(fd, NULL, key) && !bpf_map_delete_elem(fd, key))
        ;
}
