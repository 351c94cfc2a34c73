/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The states of views (STATE of views.def) as maps, and their accessors: <view>_<state>_get, _upsert and _take of those
 * by process, _get, _make and _drop of those by a key. tools/view/view_user.h has the same in user space. Included by
 * view.bpf.h alone, whose macros it uses.
 */
#ifndef BPF_VIEW_STATE_BPF_H
#define BPF_VIEW_STATE_BPF_H

/* ---- states, by process */

/* User space sets how many places there are, a power of two; so many more are kept in a hash. */
enum { VIEW_PLACES = 262144 };

SHARED const volatile struct view_places view_places SEC(".rodata.places");

/* Key of what has no place. */
struct view_whose {
    ev_id id;
    __u64 vm;
};

VIEW_INLINE __u64 view_who(const struct ev_head *h, ev_id id)
{
    return view_who_of(id, h->vm, view_places.secret);
}
_Static_assert(2 * VIEW_PLACES <= VIEW_PLACE_MORE, "the hash has more entries than a place can count");

/* Whether the place is that process's. */
VIEW_INLINE bool view_owns(__u64 owner, __u64 who)
{
    return (owner & ~(__u64)VIEW_PLACE_MORE) == who;
}

/*
 * Processes stand by their id, so that those born one after the other are side by side: half the cost of a hash, whose
 * every access misses the cache. One whose place is taken goes to the hash. A place counts who of its processes went
 * there, and nobody takes it before they have all left: a process then stands in its place or in the hash, never in
 * both, whichever processors meet. To take a place is one comparison with 0, free and nobody in the hash; who goes to
 * the hash is counted before, and sees in the same step whether the place was given to just this process.
 */
#define VIEW_STATE_MAPS(view, kept)                                                                \
    struct place_##view##_##kept {                                                                 \
        VIEW_PLACE_OF(struct state_##view##_##kept)                                                \
    };                                                                                             \
    OF(view) struct {                                                                              \
        __uint(type, BPF_MAP_TYPE_ARRAY);                                                          \
        __uint(max_entries, VIEW_PLACES);                                                          \
        __uint(map_flags, BPF_F_MMAPABLE);                                                         \
        __type(key, __u32);                                                                        \
        __type(value, struct place_##view##_##kept);                                               \
    } view##_##kept##_at SEC(".maps");                                                             \
    OF(view) struct {                                                                              \
        __uint(type, BPF_MAP_TYPE_HASH);                                                           \
        __uint(max_entries, VIEW_PLACES);                                                          \
        __uint(map_flags, BPF_F_NO_PREALLOC);                                                      \
        __type(key, struct view_whose);                                                            \
        __type(value, struct state_##view##_##kept);                                               \
    } view##_##kept##_more SEC(".maps");                                                           \
    VIEW_INLINE struct place_##view##_##kept *view##_##kept##_place(const struct ev_head *h, ev_id id) \
    {                                                                                              \
        __u32 place = view_place_number(id, h->vm) & view_places.mask;                             \
                                                                                                   \
        return bpf_map_lookup_elem(&view##_##kept##_at, &place);                                   \
    }                                                                                              \
    VIEW_INLINE struct state_##view##_##kept *view##_##kept##_get(const struct ev_head *h, ev_id id) \
    {                                                                                              \
        struct place_##view##_##kept *place = view##_##kept##_place(h, id);                        \
        struct view_whose whose = {id, h->vm};                                                     \
        __u64 owner = place ? place->owner : 0;                                                    \
                                                                                                   \
        if (place && view_owns(owner, view_who(h, id)))                                            \
            return &place->state;                                                                  \
        return owner & VIEW_PLACE_MORE ? bpf_map_lookup_elem(&view##_##kept##_more, &whose) : 0;   \
    }                                                                                              \
    VIEW_INLINE struct state_##view##_##kept *view##_##kept##_upsert(const struct ev_head *h, ev_id id) \
    {                                                                                              \
        struct place_##view##_##kept *place = view##_##kept##_place(h, id);                        \
        struct state_##view##_##kept none = {0}, *more;                                            \
        struct view_whose whose = {id, h->vm};                                                     \
        __u64 who = view_who(h, id), owner;                                                        \
                                                                                                   \
        if (!place)                                                                                \
            return 0;                                                                              \
        owner = place->owner;                                                                      \
        if (!owner) {                                                                              \
            owner = __sync_val_compare_and_swap(&place->owner, 0, who);                            \
            if (!owner)                                                                            \
                place->vm = h->vm;                                                                 \
        }                                                                                          \
        if (!owner || view_owns(owner, who))                                                       \
            return &place->state;                                                                  \
        more = owner & VIEW_PLACE_MORE ? bpf_map_lookup_elem(&view##_##kept##_more, &whose) : 0;   \
        if (more)                                                                                  \
            return more;                                                                           \
        if (view_owns(__sync_fetch_and_add(&place->owner, 1), who)) {                              \
            __sync_fetch_and_add(&place->owner, -1);                                               \
            return &place->state;                                                                  \
        }                                                                                          \
        if (bpf_map_update_elem(&view##_##kept##_more, &whose, &none, BPF_NOEXIST))                \
            __sync_fetch_and_add(&place->owner, -1); /* it is there already, or the hash is full */ \
        more = bpf_map_lookup_elem(&view##_##kept##_more, &whose);                                 \
        if (!more)                                                                                 \
            probe_lose(LOSS_MAP_FULL);                                                             \
        return more;                                                                               \
    }                                                                                              \
    VIEW_INLINE bool view##_##kept##_take(const struct ev_head *h, ev_id id, struct state_##view##_##kept *out) \
    {                                                                                              \
        struct place_##view##_##kept *place = view##_##kept##_place(h, id);                        \
        struct state_##view##_##kept *more;                                                        \
        struct view_whose whose = {id, h->vm};                                                     \
        __u64 owner = place ? place->owner : 0;                                                    \
                                                                                                   \
        if (place && view_owns(owner, view_who(h, id))) {                                          \
            *out = place->state;                                                                   \
            __builtin_memset(&place->state, 0, sizeof place->state); /* who takes the place finds it empty */ \
            place->vm = 0;                                                                         \
            __sync_fetch_and_and(&place->owner, VIEW_PLACE_MORE);                                  \
            return true;                                                                           \
        }                                                                                          \
        more = owner & VIEW_PLACE_MORE ? bpf_map_lookup_elem(&view##_##kept##_more, &whose) : 0;   \
        if (!more)                                                                                 \
            return false;                                                                          \
        *out = *more;                                                                              \
        if (place && !bpf_map_delete_elem(&view##_##kept##_more, &whose))                          \
            __sync_fetch_and_add(&place->owner, -1);                                               \
        return true;                                                                               \
    }

/* ---- states by a key: {part, key} */

enum { VIEW_KEYED = 65536 };

/* The VM stands where it does in the keys of states by process. */
VIEW_INLINE struct view_whose view_key(const struct ev_head *h, __u32 part, __u64 key)
{
    return (struct view_whose){key, (__u64)part << 32 | h->vm};
}

#define VIEW_KEYED_MAP(view, kept)                                                                 \
    _Static_assert(sizeof(struct state_##view##_##kept) <= VIEW_MAX_ROW, "view_zeros is too small"); \
    struct {                                                                                       \
        __uint(type, BPF_MAP_TYPE_HASH);                                                           \
        __uint(max_entries, VIEW_KEYED);                                                           \
        __uint(map_flags, BPF_F_NO_PREALLOC);                                                      \
        __type(key, struct view_whose);                                                            \
        __type(value, struct state_##view##_##kept);                                               \
    } view##_##kept##_more SEC(".maps");                                                           \
    VIEW_INLINE struct state_##view##_##kept *view##_##kept##_get(const struct ev_head *h, __u32 part, __u64 key) \
    {                                                                                              \
        struct view_whose whose = view_key(h, part, key);                                          \
                                                                                                   \
        return bpf_map_lookup_elem(&view##_##kept##_more, &whose);                                 \
    }                                                                                              \
    VIEW_INLINE struct state_##view##_##kept *view##_##kept##_make(const struct ev_head *h, __u32 part, __u64 key) \
    {                                                                                              \
        struct view_whose whose = view_key(h, part, key);                                          \
        struct state_##view##_##kept *state = 0;                                                   \
        __u32 zero = 0;                                                                            \
        void *zeros = bpf_map_lookup_elem(&view_zeros, &zero);                                     \
                                                                                                   \
        if (zeros && !bpf_map_update_elem(&view##_##kept##_more, &whose, zeros, BPF_ANY))          \
            state = bpf_map_lookup_elem(&view##_##kept##_more, &whose);                            \
        if (!state)                                                                                \
            probe_lose(LOSS_MAP_FULL);                                                             \
        return state;                                                                              \
    }                                                                                              \
    VIEW_INLINE void view##_##kept##_drop(const struct ev_head *h, __u32 part, __u64 key)          \
    {                                                                                              \
        struct view_whose whose = view_key(h, part, key);                                          \
                                                                                                   \
        bpf_map_delete_elem(&view##_##kept##_more, &whose);                                        \
    }
#define VIEW_STATE_LIFE(view, state) VIEW_STATE_MAPS(view, state)
#define VIEW_STATE_SPAN(view, state) VIEW_STATE_MAPS(view, state)
#define VIEW_STATE_KEY(view, state) VIEW_KEYED_MAP(view, state)
#define STATE(view, state, of) HERE(view)(VIEW_STATE_##of(view, state), )
#include "views.def"

#endif
