/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The kernel's side of views: their tables as maps, and the accessors that handlers use.
 * h is the head of the event in hand.
 *   view_ns(h)                                               when it happened
 *   struct state_v_s *v_s_get(h, id), *v_s_upsert(h, id)     of a process; NULL: there is none; no room (counted)
 *   bool v_s_take(h, id, &out)                               the process's state, which it then has no more
 *   view_mfa, view_term, view_shape, view_owner              names (view_name.bpf.h, view_owners.h)
 *   struct row_v_t *v_t_row(h)                               of a TOTAL table; with a name or number, the row of that
 * key
 *   VIEW_ADD(row, member, n)  VIEW_OBSERVE(row, member, value)  nothing when row is NULL
 *   VIEW_SWAP(at, value)                                     what a __u64 of a state was, whose place `value` takes
 *   VIEW_REPLACE(at, expected, value)                        the same, where it still is what was expected
 *   struct told_v_e *v_e_record(h, ns)                       NULL: nobody asked, or no room (counted); else end it with
 * VIEW_TELL(record)
 *   v_e_keep(h, &told, value)                                the record, its header set, if it is one of the slowest
 *   struct state_v_s *v_s_make(h, part, key), *v_s_get(h, part, key), void v_s_drop(h, part, key)
 *                                                            of a KEY; make: zeros, in place of what there was
 *   view_text(h, &text, out, size)                           a text, cut and terminated
 *   VIEW_DETAILS(v, e)                                       whether anybody prints more of an event than counts
 *   view_thread_now(&thread), view_scheduler_now()           what the thread that tells the event has done (views.h),
 *                                                            and which kind of scheduler it is
 *   VIEW_COPY(to, from)                                      a whole struct
 *
 * Tables have two sides. Events are counted in one, while user space reads the other and empties it, which nobody
 * changes meanwhile. Invariant: what a table has no room for is in its row "rest", so that rows add up to what was
 * counted.
 */
#ifndef BPF_VIEW_BPF_H
#define BPF_VIEW_BPF_H

#include "hist.bpf.h"
#include "view_event.bpf.h"

enum { VIEW_MAX_ROW = 16384 };

/* Stays zero: what rows begin with. */
SHARED struct {
    __uint(type, BPF_MAP_TYPE_ARRAY);
    __uint(max_entries, 1);
    __type(key, __u32);
    __type(value, __u8[VIEW_MAX_ROW]);
} view_zeros SEC(".maps");

/* ---- tables */

#define VIEW_ADD(row, member, n)                                                                   \
    do {                                                                                           \
        __typeof__(row) view_row = (row);                                                          \
        if (view_row)                                                                              \
            __sync_fetch_and_add(&view_row->member, n);                                            \
    } while (0)
#define VIEW_OBSERVE(row, member, value)                                                           \
    do {                                                                                           \
        __typeof__(row) view_row = (row);                                                          \
        if (view_row)                                                                              \
            view_observe(&view_row->member, value);                                                \
    } while (0)

#define VIEW_SWAP(at, value) __sync_lock_test_and_set(at, value)
#define VIEW_REPLACE(at, expected, value) __sync_val_compare_and_swap(at, expected, value)

/* Neither inlined nor static: so the kernel verifies it once. */
FIXES_GLOBAL int view_observe(struct wire_hist *hist, __u64 value)
{
    if (hist)
        hist_add(hist, value);
    return 0;
}

/* The row of a key that is not in the map yet, zero but for what comes behind; NULL (counted) when there is no room. */
static __always_inline void *view_make_row(void *map, const struct wire_name_key *key)
{
    __u32 zero = 0;
    void *zeros = bpf_map_lookup_elem(&view_zeros, &zero);

    return zeros ? probe_upsert(map, key, zeros) : 0;
}

static __always_inline void *view_rest(void *map, const struct ev_head *h)
{
    __u32 side = h->side;

    return bpf_map_lookup_elem(map, &side);
}

#define VIEW_MAP_KEYED(view, table, size)                                                          \
    struct view##_##table {                                                                        \
        __uint(type, BPF_MAP_TYPE_HASH);                                                           \
        __uint(max_entries, size);                                                                 \
        __uint(map_flags, BPF_F_NO_PREALLOC);                                                      \
        __type(key, struct wire_name_key);                                                         \
        __type(value, struct row_##view##_##table);                                                \
    } view##_##table##_0 SEC(".maps"), view##_##table##_1 SEC(".maps");                            \
    struct {                                                                                       \
        __uint(type, BPF_MAP_TYPE_ARRAY);                                                          \
        __uint(max_entries, 2);                                                                    \
        __type(key, __u32);                                                                        \
        __type(value, struct row_##view##_##table);                                                \
    } view##_##table##_rest SEC(".maps");                                                          \
    static __always_inline struct row_##view##_##table *view##_##table##_find(                     \
        __u32 side, const struct wire_name_key *key)                                               \
    {                                                                                              \
        return side ? bpf_map_lookup_elem(&view##_##table##_1, key)                                \
                    : bpf_map_lookup_elem(&view##_##table##_0, key);                               \
    }                                                                                              \
    static __always_inline struct row_##view##_##table *view##_##table##_make(                     \
        __u32 side, const struct wire_name_key *key)                                               \
    {                                                                                              \
        return side ? view_make_row(&view##_##table##_1, key) : view_make_row(&view##_##table##_0, key); \
    }

/* The row of a VM, on this CPU; NULL (counted): no room. */
static __noinline __attribute__((unused)) void *view_vm_row(void *map, const __u32 *vm)
{
    __u32 zero = 0;
    void *zeros, *row = bpf_map_lookup_elem(map, vm);

    if (row)
        return row;
    zeros = bpf_map_lookup_elem(&view_zeros, &zero);
    return zeros ? probe_upsert(map, vm, zeros) : 0;
}

#define VIEW_MAP_TOTAL(view, table, size)                                                          \
    struct view##_##table##_of_vms {                                                               \
        __uint(type, BPF_MAP_TYPE_PERCPU_HASH);                                                    \
        __uint(max_entries, VIEW_VMS);                                                             \
        __uint(map_flags, BPF_F_NO_PREALLOC);                                                      \
        __type(key, __u32);                                                                        \
        __type(value, struct row_##view##_##table);                                                \
    } view##_##table##_0 SEC(".maps"), view##_##table##_1 SEC(".maps");                            \
    struct {                                                                                       \
        __uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);                                                   \
        __uint(max_entries, 2);                                                                    \
        __type(key, __u32);                                                                        \
        __type(value, struct row_##view##_##table);                                                \
    } view##_##table SEC(".maps");                                                                 \
    VIEW_INLINE struct row_##view##_##table *view##_##table##_row(const struct ev_head *h)           \
    {                                                                                              \
        struct row_##view##_##table *row = 0;                                                      \
        __u32 side = h->side;                                                                      \
                                                                                                   \
        if (view_settings.by_vm)                                                                   \
            row = side ? view_vm_row(&view##_##table##_1, &h->vm) : view_vm_row(&view##_##table##_0, &h->vm); \
        return row ? row : bpf_map_lookup_elem(&view##_##table, &side);                            \
    }

#define VIEW_MAP_NAME(view, table, size)                                                           \
    VIEW_MAP_KEYED(view, table, size)                                                              \
    static __noinline struct row_##view##_##table *view##_##table##_row(                           \
        const struct ev_head *h, const struct name_text *name)                                     \
    {                                                                                              \
        struct wire_name_key key = {.vm = h->vm, .hash = name_hash(name)};                         \
        struct row_##view##_##table *row = view##_##table##_find(h->side, &key);                   \
                                                                                                   \
        if (row)                                                                                   \
            return row;                                                                            \
        name_announce(h->vm, name);                                                                \
        row = view##_##table##_make(h->side, &key);                                                \
        if (!row)                                                                                  \
            return view_rest(&view##_##table##_rest, h);                                           \
        name_copy(&row->name, name);                                                               \
        return row;                                                                                \
    }

/* By the name of an owner, as view_owner() gives it. */
#define VIEW_MAP_OWNER(view, table, size) VIEW_MAP_NAME(view, table, size)
#define VIEW_MAP_REASON(view, table, size) VIEW_MAP_NAME(view, table, size)
#define VIEW_MAP_PORT(view, table, size) VIEW_MAP_NAME(view, table, size)

#define VIEW_MAP_NUMBER(view, table, size)                                                         \
    VIEW_MAP_KEYED(view, table, size)                                                              \
    static __noinline struct row_##view##_##table *view##_##table##_row(const struct ev_head *h, __u64 number) \
    {                                                                                              \
        struct wire_name_key key = {.vm = h->vm, .hash = number};                                  \
        struct row_##view##_##table *row = view##_##table##_find(h->side, &key);                   \
                                                                                                   \
        row = row ? row : view##_##table##_make(h->side, &key);                                    \
        return row ? row : view_rest(&view##_##table##_rest, h);                                   \
    }

#define TABLE(view, table, json, title, key, size, top)                                            \
    _Static_assert(sizeof(struct row_##view##_##table) <= VIEW_MAX_ROW, "view_zeros is too small"); \
    HERE(view)(VIEW_MAP_##key(view, table, size), )
#include "views.def"

#include "view_state.bpf.h"

/* ---- records */

#define EVENT(view, record, json)                                                                  \
    VIEW_INLINE struct told_##view##_##record *view##_##record##_record(const struct ev_head *h, __u64 ns) \
    {                                                                                              \
        if (!view_settings.events[VIEW_##view])                                                    \
            return 0;                                                                              \
        return probe_record(VIEW_RECORD_##view##_##record, h->vm, ns, sizeof(struct told_##view##_##record)); \
    }
#include "views.def"
#define VIEW_TELL(record) bpf_ringbuf_submit(record, 0)

/* ---- the slowest: of one side, as tables */

/*
 * least: the place of the one with the least value, its value in *value; `most` when all are being written. Without
 * branches, of which the kernel would follow each combination. put: neither inlined nor static, so that the kernel
 * verifies it once; whoever finds a place being written goes without.
 */
#define VIEW_SLOWEST_MAP(view, event, most)                                                        \
    struct {                                                                                       \
        __uint(type, BPF_MAP_TYPE_ARRAY);                                                          \
        __uint(max_entries, 2);                                                                    \
        __type(key, __u32);                                                                        \
        __type(value, struct slowest_##view##_##event);                                            \
    } view##_##event##_slowest SEC(".maps");                                                       \
    static __always_inline __u32 view##_##event##_least(const struct slowest_##view##_##event *all, __u64 *value) \
    {                                                                                              \
        __u64 found = most, n = view_settings.slowest[VIEW_SLOWEST_##view##_##event];              \
                                                                                                   \
        *value = ~0ull >> 1;                                                                       \
        for (__u32 i = 0; i < most && i < n; i++) {                                                \
            __u64 here = all->at[i].value, less = (here - *value) >> 63 & (all->at[i].taken ^ 1);  \
                                                                                                   \
            FIXES_OPAQUE(less);                                                                    \
            *value += (here - *value) * less;                                                      \
            found += (i - found) * less;                                                           \
        }                                                                                          \
        return found;                                                                              \
    }                                                                                              \
    FIXES_GLOBAL int view##_##event##_put(struct slowest_##view##_##event *all,                    \
                                          const struct told_##view##_##event *told, __u64 value)   \
    {                                                                                              \
        __u64 least = 0;                                                                           \
        __u32 at;                                                                                  \
                                                                                                   \
        if (!all || !told)                                                                         \
            return 0;                                                                              \
        at = view##_##event##_least(all, &least);                                                  \
        if (at >= most || value <= least || __sync_val_compare_and_swap(&all->at[at].taken, 0, 1)) \
            return 0;                                                                              \
        if (all->at[at].value < value) { /* nobody was here in between */                          \
            all->at[at].value = value;                                                             \
            VIEW_COPY(&all->at[at].told, told);                                                    \
        }                                                                                          \
        all->at[at].taken = 0;                                                                     \
        view##_##event##_least(all, &least);                                                       \
        all->floor = least;                                                                        \
        return 0;                                                                                  \
    }                                                                                              \
    VIEW_INLINE void view##_##event##_keep(const struct ev_head *h,                                \
                                           const struct told_##view##_##event *told, __u64 value)  \
    {                                                                                              \
        __u32 side = h->side;                                                                      \
        struct slowest_##view##_##event *all =                                                     \
            view_settings.slowest[VIEW_SLOWEST_##view##_##event]                                   \
                ? bpf_map_lookup_elem(&view##_##event##_slowest, &side)                            \
                : 0;                                                                               \
                                                                                                   \
        if (all && value > all->floor)                                                             \
            view##_##event##_put(all, told, value);                                                \
    }
#define SLOWEST(view, event, json, title, by, most, shown) HERE(view)(VIEW_SLOWEST_MAP(view, event, most), )
#include "views.def"

#endif
