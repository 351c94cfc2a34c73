/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The kernel's side of views: their tables as maps, and the accessors that handlers use.
 * h is the head of the event in hand.
 *   view_ns(h)                                               when it happened
 *   struct state_v_s *v_s_get(h, id), *v_s_upsert(h, id)     of a process; NULL: there is none; no room (counted)
 *   bool v_s_take(h, id, &out)                               the process's state, which it then has no more
 *   view_mfa(h, mfa, &name), view_term(h, term, &name)       a name to be counted by or told; of a term, what is told of one event
 *   view_shape(&name, &shape)                                of a term's name: what terms are counted by
 *   struct row_v_t *v_t_row(h)                               of a TOTAL table; with a name or number, the row of that key
 *   VIEW_ADD(row, member, n)  VIEW_OBSERVE(row, member, value)  nothing when row is NULL
 *   struct told_v_e *v_e_record(h, ns)                       NULL: nobody asked, or no room (counted); else end it with VIEW_TELL(record)
 *
 * Tables have two sides. Events are counted in one, while user space reads the other and empties it, which nobody changes meanwhile.
 * Invariant: what a table has no room for is in its row "rest", so that rows add up to what was counted.
 */
#ifndef BPF_VIEW_BPF_H
#define BPF_VIEW_BPF_H

#include "hist.bpf.h"
#include "otp_call.bpf.h"
#include "reason.bpf.h"
#include "views.h"

#define VIEW_INLINE static __always_inline
#define VIEW_ON(view) (view_settings.on[VIEW_##view])
#define VIEW_FILTER(view, filter) (view_settings.filters[VIEW_FILTER_##view##_##filter])

const volatile struct view_settings view_settings SEC(".rodata.views");
volatile __u32 view_side SEC(".data.views"); /* where programs that begin now count: 0 or 1 */

enum { VIEW_MAX_ROW = 16384 };

/* Stays zero: what rows begin with. */
struct {
    __uint(type, BPF_MAP_TYPE_ARRAY);
    __uint(max_entries, 1);
    __type(key, __u32);
    __type(value, __u8[VIEW_MAX_ROW]);
} view_zeros SEC(".maps");

VIEW_INLINE void view_begin(struct ev_head *h, __u32 vm)
{
    *h = (struct ev_head){.vm = vm, .side = view_side & 1};
}

/* ---- of events */

VIEW_INLINE __u64 view_ns(const struct ev_head *h)
{
    return h->time_ns ? h->time_ns : bpf_ktime_get_ns();
}

/* What is to be read when asked for: in the two highest bits of a function, the highest of a term. */
enum { VIEW_LATER_SHIFT = 62, VIEW_LATER_TEXT = 1, VIEW_LATER_RESUME = 2, VIEW_SLOT_SHIFT = 48, VIEW_SLOT_MASK = 0x3fff };
#define VIEW_ADDRESS_MASK ((1ull << VIEW_SLOT_SHIFT) - 1)

/* The function or term that a note prints at this address. */
VIEW_INLINE ev_mfa view_later_mfa(__u64 at)
{
    return (__u64)VIEW_LATER_TEXT << VIEW_LATER_SHIFT | (at & VIEW_ADDRESS_MASK);
}

VIEW_INLINE ev_term view_later_term(__u64 at)
{
    return EV_LATER_TERM | (at & VIEW_ADDRESS_MASK);
}

/* Where the process goes on that stands at this address of the stock emulator with this slot. */
VIEW_INLINE ev_mfa view_later_resume(__u64 process, __u32 slot)
{
    return (__u64)VIEW_LATER_RESUME << VIEW_LATER_SHIFT | (__u64)slot << VIEW_SLOT_SHIFT | (process & VIEW_ADDRESS_MASK);
}

/* The text at this address of the VM. What cannot be read is an empty text, and counted; at 0 there is none. */
VIEW_INLINE void view_text_at(__u64 at, struct name_text *out)
{
    long used = at ? bpf_probe_read_user_str(out->words, sizeof out->words, (void *)at) : 0;

    if (used < 0)
        probe_lose(LOSS_BAD_ARG);
    if (used <= 0)
        out->words[0] = 0;
    out->form = WIRE_TEXT;
    out->used = used > 0 ? used : 1;
}

VIEW_INLINE __u64 view_atom(__u32 index)
{
    return index == EV_NO_ATOM ? WIRE_NO_ATOM : index;
}

VIEW_INLINE void view_mfa(const struct ev_head *h, ev_mfa mfa, struct name_text *out)
{
    __u32 slot = mfa >> VIEW_SLOT_SHIFT & VIEW_SLOT_MASK;
    const struct otp_layout *layout;

    switch (mfa >> VIEW_LATER_SHIFT) {
    case VIEW_LATER_TEXT: view_text_at(mfa & VIEW_ADDRESS_MASK, out); return;
    case VIEW_LATER_RESUME:
        layout = bpf_map_lookup_elem(&otp_layouts, &slot);
        if (layout)
            otp_name_resume(layout, mfa & VIEW_ADDRESS_MASK, out);
        else
            view_text_at(0, out);
        return;
    default:
        out->form = WIRE_MFA;
        out->used = 24;
        out->words[0] = view_atom(mfa ? ev_mfa_module(mfa) : EV_NO_ATOM);
        out->words[1] = view_atom(mfa ? ev_mfa_function(mfa) : EV_NO_ATOM);
        out->words[2] = ev_mfa_arity(mfa);
    }
}

VIEW_INLINE void view_term(const struct ev_head *h, ev_term term, struct name_text *out)
{
    if (term & EV_LATER_TERM) {
        view_text_at(term & VIEW_ADDRESS_MASK, out);
        return;
    }
    out->form = WIRE_REASON;
    out->used = 24;
    out->words[0] = ev_term_shape(term);
    out->words[1] = ev_term_shape(term) == BATCH_SHAPE_SMALL ? (__u64)(__s64)ev_term_small(term) : ev_term_atom(term);
    out->words[2] = ev_term_holder(term, 0) | ev_term_holder(term, 1) << 8;
}

/* Of a text, what the term is; of a term, itself. */
VIEW_INLINE void view_shape(const struct name_text *name, struct name_text *out)
{
    if (name->form == WIRE_TEXT)
        reason_of_text(name, out);
    else
        *out = *name;
}

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
            hist_add(&view_row->member, value);                                                    \
    } while (0)

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
    static __always_inline struct row_##view##_##table *view##_##table##_find(__u32 side, const struct wire_name_key *key) \
    {                                                                                              \
        return side ? bpf_map_lookup_elem(&view##_##table##_1, key) : bpf_map_lookup_elem(&view##_##table##_0, key); \
    }                                                                                              \
    static __always_inline struct row_##view##_##table *view##_##table##_make(__u32 side, const struct wire_name_key *key) \
    {                                                                                              \
        return side ? view_make_row(&view##_##table##_1, key) : view_make_row(&view##_##table##_0, key); \
    }

#define VIEW_MAP_TOTAL(view, table, size)                                                          \
    struct {                                                                                       \
        __uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);                                                   \
        __uint(max_entries, 2);                                                                    \
        __type(key, __u32);                                                                        \
        __type(value, struct row_##view##_##table);                                                \
    } view##_##table SEC(".maps");                                                                 \
    VIEW_INLINE struct row_##view##_##table *view##_##table##_row(const struct ev_head *h)           \
    {                                                                                              \
        __u32 side = h->side;                                                                      \
                                                                                                   \
        return bpf_map_lookup_elem(&view##_##table, &side);                                        \
    }

#define VIEW_MAP_NAME(view, table, size)                                                           \
    VIEW_MAP_KEYED(view, table, size)                                                              \
    static __noinline struct row_##view##_##table *view##_##table##_row(const struct ev_head *h, const struct name_text *name) \
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

#define TABLE(view, table, json, title, key, size, top) VIEW_MAP_##key(view, table, size)
#include "views.def"

/* ---- states, by process */

enum { VIEW_PLACES = 262144 }; /* a power of two; OTP's default limit of processes. User space may ask for another */

const volatile __u32 view_place_mask SEC(".rodata.places") = VIEW_PLACES - 1;

/* Key of what has no place. */
struct view_owner {
    ev_id id;
    __u64 vm;
};

/* Tells a process from all others, but for one pair in 2^64; never 0. */
VIEW_INLINE __u64 view_who(const struct ev_head *h, ev_id id)
{
    return (id * 0x9e3779b97f4a7c15ull ^ h->vm * 0xbf58476d1ce4e5b9ull) | 1;
}

/*
 * Processes stand by their id, so that those born one after the other are side by side: half the cost of a hash, whose every access
 * misses the cache. One whose place is taken goes to the hash.
 */
#define VIEW_STATE_MAPS(view, kept)                                                               \
    struct place_##view##_##kept {                                                                \
        __u64 who; /* 0: free */                                                                   \
        struct state_##view##_##kept state;                                                       \
        __u64 vm;                                                                                  \
    };                                                                                             \
    struct {                                                                                       \
        __uint(type, BPF_MAP_TYPE_ARRAY);                                                          \
        __uint(max_entries, VIEW_PLACES);                                                          \
        __type(key, __u32);                                                                        \
        __type(value, struct place_##view##_##kept);                                              \
    } view##_##kept##_at SEC(".maps");                                                            \
    struct {                                                                                       \
        __uint(type, BPF_MAP_TYPE_HASH);                                                           \
        __uint(max_entries, VIEW_PLACES);                                                          \
        __uint(map_flags, BPF_F_NO_PREALLOC);                                                      \
        __type(key, struct view_owner);                                                            \
        __type(value, struct state_##view##_##kept);                                              \
    } view##_##kept##_more SEC(".maps");                                                          \
    VIEW_INLINE struct place_##view##_##kept *view##_##kept##_place(const struct ev_head *h, ev_id id) \
    {                                                                                              \
        __u32 place = (ev_id_number(id) + h->vm * 0x9e3779b1u) & view_place_mask; /* VMs apart */  \
                                                                                                   \
        return bpf_map_lookup_elem(&view##_##kept##_at, &place);                                  \
    }                                                                                              \
    VIEW_INLINE struct state_##view##_##kept *view##_##kept##_get(const struct ev_head *h, ev_id id) \
    {                                                                                              \
        struct place_##view##_##kept *place = view##_##kept##_place(h, id);                     \
        struct view_owner owner = {id, h->vm};                                                     \
                                                                                                   \
        if (place && (!place->who || place->who == view_who(h, id)))                              \
            return place->who ? &place->state : 0;                                                 \
        return bpf_map_lookup_elem(&view##_##kept##_more, &owner);                                 \
    }                                                                                              \
    VIEW_INLINE struct state_##view##_##kept *view##_##kept##_upsert(const struct ev_head *h, ev_id id) \
    {                                                                                              \
        struct place_##view##_##kept *place = view##_##kept##_place(h, id);                     \
        struct state_##view##_##kept none = {0};                                                  \
        struct view_owner owner = {id, h->vm};                                                     \
        __u64 who = view_who(h, id), taken;                                                       \
                                                                                                   \
        taken = !place ? ~0ull : place->who ? place->who : __sync_val_compare_and_swap(&place->who, 0, who); \
        if (place && !taken)                                                                       \
            place->vm = h->vm;                                                                     \
        if (place && (!taken || taken == who))                                                     \
            return &place->state;                                                                  \
        return probe_upsert(&view##_##kept##_more, &owner, &none);                                 \
    }                                                                                              \
    VIEW_INLINE bool view##_##kept##_take(const struct ev_head *h, ev_id id, struct state_##view##_##kept *out) \
    {                                                                                              \
        struct place_##view##_##kept *place = view##_##kept##_place(h, id);                     \
        struct state_##view##_##kept *more;                                                       \
        struct view_owner owner = {id, h->vm};                                                     \
                                                                                                   \
        if (place && place->who == view_who(h, id)) {                                             \
            *out = place->state;                                                                   \
            __builtin_memset(&place->state, 0, sizeof place->state);                               \
            asm volatile("" ::: "memory"); /* whoever takes the place finds it empty */            \
            place->who = 0;                                                                        \
            return true;                                                                           \
        }                                                                                          \
        more = bpf_map_lookup_elem(&view##_##kept##_more, &owner);                                 \
        if (!more)                                                                                 \
            return false;                                                                          \
        *out = *more;                                                                              \
        bpf_map_delete_elem(&view##_##kept##_more, &owner);                                        \
        return true;                                                                               \
    }
#define STATE(view, state) VIEW_STATE_MAPS(view, state)
#include "views.def"

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

#endif
