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

static uint64_t *owner_at(const struct view_kept *p, uint32_t i)
{
    return (uint64_t *)(p->bytes + p->each * (i & (p->n - 1)));
}

/* Of a place's words the last is its VM. */
static size_t vm_word(const struct view_kept *p)
{
    return p->each / sizeof(uint64_t) - 1;
}

int view_places_open(struct view_kept *p, struct bpf_map *at, struct bpf_map *more)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    void *bytes;

    *p = (struct view_kept){.hash = bpf_map__fd(more)};
    if (!at)
        return 0;
    p->each = bpf_map__value_size(at);
    p->n = bpf_map__max_entries(at);
    p->size = (p->each * p->n + page - 1) / page * page;
    bytes = mmap(NULL, p->size, PROT_READ | PROT_WRITE, MAP_SHARED, bpf_map__fd(at), 0);
    if (bytes == MAP_FAILED)
        return -errno;
    p->bytes = bytes;
    return 0;
}

void view_places_close(struct view_kept *p)
{
    if (p->bytes)
        munmap(p->bytes, p->size);
    p->bytes = NULL;
}

static void free_places(const struct view_kept *p, const struct vm_set *vms)
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
    const struct view_kept *places;
    const struct vm_set *vms;
};

static void drop_key(void *ctx, const void *at)
{
    const struct emptying *e = ctx;
    const struct view_kept *p = e->places;
    const struct whose *key = at;

    if ((!e->vms || vm_set_has(e->vms, (uint32_t)key->vm)) && !bpf_map_delete_elem(p->hash, key) && p->bytes)
        __atomic_sub_fetch(owner_at(p, view_place_number(key->id, key->vm)), 1, __ATOMIC_ACQ_REL);
}

void view_places_drop(const struct view_kept *p, const struct vm_set *vms)
{
    if (p->bytes)
        free_places(p, vms);
    vm_maps_each_key(p->hash, drop_key, &(struct emptying){p, vms});
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
static void tell_places(const struct view_kept *p, void *copy, struct telling *t)
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

int view_places_each(const struct view_kept *p, const struct open_taker *taker)
{
    struct telling telling = {taker, clock_ns(CLOCK_MONOTONIC), 0};
    void *copy = p->bytes ? malloc(p->each) : NULL;

    if (p->bytes && !copy)
        return -ENOMEM;
    if (p->bytes)
        tell_places(p, copy, &telling);
    free(copy);
    vm_maps_each(p->hash, tell_key, &telling);
    return telling.err;
}
