/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Invariant: a place counts exactly those of its processes that stand in the hash, whoever takes one from there. A
 * place whose `vm` is one of those that are dropped is theirs for as long as we look, as none of them runs.
 */
#include "view_places.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "common/clock.h"
#include "common/wire_user.h"

#include "../../bpf/views.h"

/* Key of the hash: struct view_whose of bpf/view_state.bpf.h. */
struct whose {
    uint64_t id, vm; /* vm: above its 32 bits there may be more of the key */
};

/* The array's memory, which programs write to. */
struct places {
    char *bytes;
    size_t size, each;
    uint32_t n; /* a power of two */
};

static uint64_t *owner_at(const struct places *p, uint32_t i)
{
    return (uint64_t *)(p->bytes + p->each * (i & (p->n - 1)));
}

/* Of a place's words the last is its VM. */
static size_t vm_word(const struct places *p)
{
    return p->each / sizeof(uint64_t) - 1;
}

static bool map_places(struct bpf_map *at, int protection, struct places *p)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE);

    *p = (struct places){.each = bpf_map__value_size(at), .n = bpf_map__max_entries(at)};
    p->size = (p->each * p->n + page - 1) / page * page;
    p->bytes = mmap(NULL, p->size, protection, MAP_SHARED, bpf_map__fd(at), 0);
    return p->bytes != MAP_FAILED;
}

static void free_places(const struct places *p, const struct vm_set *vms)
{
    for (uint32_t i = 0; i < p->n; i++) {
        uint64_t *place = owner_at(p, i), *of = place + vm_word(p);

        if (!(__atomic_load_n(place, __ATOMIC_ACQUIRE) & ~(uint64_t)VIEW_PLACE_MORE) ||
            (vms && !vm_set_has(vms, (uint32_t)*of)))
            continue;
        memset(place + 1, 0, p->each - sizeof *place);
        __atomic_and_fetch(place, VIEW_PLACE_MORE, __ATOMIC_RELEASE);
    }
}

struct emptying {
    int hash;
    const struct places *places; /* NULL: the state has none */
    const struct vm_set *vms;
};

static void drop_key(void *ctx, const void *at)
{
    const struct emptying *e = ctx;
    const struct whose *key = at;

    if ((!e->vms || vm_set_has(e->vms, (uint32_t)key->vm)) && !bpf_map_delete_elem(e->hash, key) && e->places)
        __atomic_sub_fetch(owner_at(e->places, view_place_number(key->id, key->vm)), 1, __ATOMIC_ACQ_REL);
}

void view_places_drop(struct bpf_map *at, struct bpf_map *more, const struct vm_set *vms)
{
    struct places places;

    if (at && !map_places(at, PROT_READ | PROT_WRITE, &places))
        return;
    if (at)
        free_places(&places, vms);
    vm_maps_each_key(bpf_map__fd(more), drop_key, &(struct emptying){bpf_map__fd(more), at ? &places : NULL, vms});
    if (at)
        munmap(places.bytes, places.size);
}

/* ---- reading */

struct telling {
    const struct open_taker *taker;
    uint64_t now_ns;
    int err;
};

static void tell(struct telling *t, const struct open_state *state)
{
    if (!t->err)
        t->err = t->taker->take(t->taker->ctx, state);
}

static void tell_key(void *ctx, const void *at, const void *value)
{
    const struct whose *key = at;
    struct telling *t = ctx;

    tell(t, &(struct open_state){(uint32_t)key->vm, key->id, value, t->now_ns});
}

/* Each is copied, but for the owner, and told if it was the same process's before and after that. */
static void tell_places(const struct places *p, void *copy, struct telling *t)
{
    for (uint32_t i = 0; i < p->n; i++) {
        const uint64_t *place = owner_at(p, i);
        uint64_t owner = __atomic_load_n(place, __ATOMIC_ACQUIRE) & ~(uint64_t)VIEW_PLACE_MORE;
        uint32_t vm;

        if (!owner)
            continue;
        memcpy(copy, place + 1, p->each - sizeof *place);
        __atomic_thread_fence(__ATOMIC_ACQUIRE);
        vm = (uint32_t)((uint64_t *)copy)[vm_word(p) - 1];
        if ((__atomic_load_n(place, __ATOMIC_RELAXED) & ~(uint64_t)VIEW_PLACE_MORE) == owner)
            tell(t, &(struct open_state){vm, 0, copy, t->now_ns});
    }
}

int view_places_each(struct bpf_map *at, struct bpf_map *more, const struct open_taker *taker)
{
    struct telling telling = {taker, clock_ns(CLOCK_MONOTONIC), 0};
    struct places places;
    void *copy = NULL;

    if (at && !map_places(at, PROT_READ, &places))
        return -errno;
    if (at)
        copy = malloc(places.each);
    if (at && copy)
        tell_places(&places, copy, &telling);
    if (at && !copy)
        telling.err = -ENOMEM;
    if (at)
        munmap(places.bytes, places.size);
    free(copy);
    vm_maps_each(bpf_map__fd(more), tell_key, &telling);
    return telling.err;
}
