/* SPDX-License-Identifier: Apache-2.0 */
#include "vm_maps.h"
#include "common/fail.h"

#include <bpf/bpf.h>
#include <bpf/btf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "../../bpf/wire.h"
#include "../../bpf/stacks.h"

enum { KEYS_AT_ONCE = 256 };

/*
 * Types that keys of maps of hooks are, or begin with (bpf/hook.bpf.h), and where the VM stands in them: the upper half
 * of bpf_get_current_pid_tgid() is the process.
 */
static const struct {
    const char *type;
    size_t vm_at;
} hook_keys[] = {{"hook_thread", sizeof(uint32_t)}, {"hook_vm", 0}};
enum { NHOOK_KEYS = sizeof hook_keys / sizeof *hook_keys };

bool vm_set_has(const struct vm_set *set, uint32_t vm)
{
    for (size_t i = 0; i < set->n; i++)
        if (set->vms[i] == vm)
            return true;
    return false;
}

/* Room for some keys and values of a map. */
struct room {
    size_t key_bytes, value_bytes; /* 0: there is no map */
    uint32_t n;
    unsigned char *keys, *values;
};

/* Values of maps for each processor are those of all. */
static int measure(int map, struct room *room)
{
    struct bpf_map_info info = {0};
    uint32_t size = sizeof info;

    if (bpf_obj_get_info_by_fd(map, &info, &size))
        return -errno;
    room->key_bytes = info.key_size;
    room->value_bytes = (info.value_size + 7) / 8 * 8;
    if (info.type == BPF_MAP_TYPE_PERCPU_HASH)
        room->value_bytes *= (size_t)libbpf_num_possible_cpus();
    return 0;
}

static int widen(struct room *room)
{
    uint32_t n = room->n ? 2 * room->n : KEYS_AT_ONCE;
    unsigned char *keys = realloc(room->keys, n * room->key_bytes);
    unsigned char *values = keys ? realloc(room->values, n * room->value_bytes) : NULL;

    room->keys = keys ? keys : room->keys;
    room->values = values ? values : room->values;
    room->n = values ? n : room->n;
    return values ? 0 : -ENOMEM;
}

/* Once: what is looked through next most likely fails likewise. */
static void say_unread(int err)
{
    static bool said;

    if (!said)
        note(
            "a table in the kernel cannot be looked through (%s): what VMs that have ended left there may be taken for "
            "that of others, and not all that was lost is counted",
            strerror(-err));
    said = true;
}

/*
 * By the buckets of the hash: a walk from one key to the next begins anew whenever the key has gone, and does not come
 * to its end where keys come and go fast.
 */
int vm_maps_each(int map, void (*take)(void *ctx, const void *key, const void *value), void *ctx)
{
    struct room room = {0};
    int err = map < 0 ? -ENOENT : measure(map, &room);
    uint32_t bucket, n, *from = NULL;

    err = err ? err : widen(&room);
    while (!err) {
        n = room.n;
        err = bpf_map_lookup_batch(map, from, &bucket, room.keys, room.values, &n, NULL) ? -errno : 0;
        for (uint32_t i = 0; (!err || err == -ENOENT) && i < n; i++)
            take(ctx, room.keys + i * room.key_bytes, room.values + i * room.value_bytes);
        if (err == -ENOSPC) /* for all of a bucket */
            err = widen(&room);
        else
            from = &bucket;
    }
    free(room.keys);
    free(room.values);
    if (err && err != -ENOENT)
        say_unread(err);
    return err == -ENOENT ? 0 : err;
}

struct keys {
    void (*take)(void *ctx, const void *key);
    void *ctx;
};

static void take_key(void *ctx, const void *key, const void *value)
{
    const struct keys *keys = ctx;

    (void)value;
    keys->take(keys->ctx, key);
}

int vm_maps_each_key(int map, void (*take)(void *ctx, const void *key), void *ctx)
{
    return vm_maps_each(map, take_key, &(struct keys){take, ctx});
}

struct dropping {
    int map;
    size_t at;
    const struct vm_set *vms; /* NULL: all */
};

static void drop_key(void *ctx, const void *key)
{
    const struct dropping *d = ctx;
    uint32_t vm;

    memcpy(&vm, (const unsigned char *)key + d->at, sizeof vm);
    if (!d->vms || vm_set_has(d->vms, vm))
        bpf_map_delete_elem(d->map, key);
}

void vm_maps_drop_keys(int map, size_t at, const struct vm_set *vms)
{
    vm_maps_each_key(map, drop_key, &(struct dropping){map, at, vms});
}

/* One that was not created has a descriptor all the same: libbpf reserves it, from 1.5 on. */
static int find_map(struct bpf_object *object, const char *name)
{
    const struct bpf_map *map = bpf_object__find_map_by_name(object, name);

    return map && bpf_map__autocreate(map) ? bpf_map__fd(map) : -ENOENT;
}

/* The name of the type that the map's keys are, or begin with; "" when it has none. */
static const char *key_type(const struct bpf_object *object, const struct bpf_map *map)
{
    const struct btf *btf = bpf_object__btf(object);
    const struct btf_type *type = btf ? btf__type_by_id(btf, bpf_map__btf_key_type_id(map)) : NULL;

    if (type && btf_is_struct(type) && btf_vlen(type))
        type = btf__type_by_id(btf, btf_members(type)->type);
    return type ? btf__name_by_offset(btf, type->name_off) : "";
}

/* From all maps of hooks, what is of these VMs; NULL: all. */
static void drop_of_hooks(struct bpf_object *object, const struct vm_set *vms)
{
    struct bpf_map *map;

    bpf_object__for_each_map(map, object)
        for (size_t i = 0; bpf_map__autocreate(map) && i < NHOOK_KEYS; i++)
            if (!strcmp(key_type(object, map), hook_keys[i].type))
                vm_maps_drop_keys(bpf_map__fd(map), hook_keys[i].vm_at, vms);
}

void vm_maps_drop(struct bpf_object *object, const struct vm_set *vms)
{
    drop_of_hooks(object, vms);
    vm_maps_drop_keys(find_map(object, "efile_threads"), offsetof(struct stacks_thread_key, vm), vms);
}

void vm_maps_miss(struct bpf_object *object)
{
    drop_of_hooks(object, NULL);
}

void vm_maps_clear(struct bpf_object *object, const char *map)
{
    vm_maps_drop_keys(find_map(object, map), 0, NULL);
}
