/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The accessors of bpf/view.bpf.h and bpf/view_name.bpf.h in user space, for the same handlers: tables are hash tables,
 * and there is one side, because nobody counts while it is read. For views_user.c alone. An event here knows all by
 * number: there is nothing to read later. Handlers of the kernel know no instance, so theirs is `view_user`.
 */
#ifndef TOOLS_VIEW_USER_H
#define TOOLS_VIEW_USER_H

#include <string.h>

#include "event/hist.h"
#include "view_store.h"
#include "view_user_name.h"
#include "views.h"

#define VIEW_ON(view) (view_user->settings.on[VIEW_##view])
#define VIEW_DETAILS(view, event)                                                                  \
    (view_user->settings.events[VIEW_##view] || view_user->settings.slowest[VIEW_SLOWEST_##view##_##event])
#define VIEW_BY (view_user->settings.by)
#define VIEW_COPY(to, from) (*(to) = *(from))
#define VIEW_FILTER(view, filter) (view_user->settings.filters[VIEW_FILTER_##view##_##filter])

struct views_user {
    struct view_settings settings;
    struct view_store tables[VIEW_NTABLES], states[VIEW_NSTATES + 1], names, atoms;
    /* The row of what there is no room for; of a TOTAL table its row, or what is in no row of a VM. */
    uint64_t *rest[VIEW_NTABLES];
    void (*told)(void *ctx, const struct wire_header *record, size_t size);
    void *ctx;
    uint64_t lost; /* rows and states that there was no room for */
    union {
        struct wire_header header;
#define EVENT(view, record, json) struct told_##view##_##record view##_##record;
#include "../../bpf/views.def"
    } record;
#define SLOWEST(view, event, json, title, by, most, shown) struct slowest_##view##_##event view##_##event##_slowest;
#include "../../bpf/views.def"
};
static struct views_user *view_user; /* that was called: an event is told to one at a time, by one thread */

enum { VIEW_USER_STATES = 1 << 20, VIEW_USER_KEYED = 1 << 16, VIEW_USER_NAMES = 1 << 16 };
/* Keys of `atoms`: words of views_user_atom. */
enum { VIEW_USER_NORMAL, VIEW_USER_SHUTDOWN, VIEW_USER_KNOWN };

/* ---- of events */

VIEW_INLINE __u64 view_ns(const struct ev_head *h)
{
    return h->time_ns;
}

/* Who told the event is another thread, of another process. */
VIEW_INLINE int view_thread_now(struct view_thread *out)
{
    *out = (struct view_thread){0};
    return 0;
}

/* Processes of an erlvm have slices on these alone. */
VIEW_INLINE __u64 view_scheduler_now(void)
{
    return VIEW_SCHEDULER_NORMAL;
}

/* A NUL in the text ends it. */
VIEW_INLINE void view_text(const struct ev_head *h, const struct ev_text *text, char *out, __u32 size)
{
    size_t bytes = text->bytes < size ? text->bytes : size - 1;

    (void)h;
    if (bytes)
        memcpy(out, (const char *)(uintptr_t)text->at, bytes);
    out[bytes] = '\0';
}

VIEW_INLINE bool view_orderly(const struct ev_head *h, const struct name_text *name)
{
    const uint64_t *normal = view_store_find(&view_user->atoms, h->vm, VIEW_USER_NORMAL, false);
    const uint64_t *shutdown = view_store_find(&view_user->atoms, h->vm, VIEW_USER_SHUTDOWN, false);

    if (name->words[0] != WIRE_ATOM)
        return name->words[2] == WIRE_RETURNED;
    return (normal && !name->words[2] && name->words[1] == *normal) ||
           (shutdown && (!name->words[2] || name->words[2] == WIRE_TUPLE_OF_MORE) && name->words[1] == *shutdown);
}

VIEW_INLINE __u64 view_keep_name(const struct ev_head *h, const struct name_text *name)
{
    __u64 key = name_hash(name);
    struct wire_name *kept = view_store_find(&view_user->names, h->vm, key, true);

    if (kept)
        name_copy(kept, name);
    else
        view_user->lost++;
    return kept ? key : 0;
}

VIEW_INLINE int view_kept_name(const struct ev_head *h, __u64 key, struct name_text *out)
{
    const struct wire_name *kept = view_store_find(&view_user->names, h->vm, key, false);

    if (!kept)
        return -1;
    out->form = (__u32)kept->form;
    out->used = name_bytes(out->form);
    memcpy(out->words, kept->words, sizeof out->words);
    return 0;
}

/* ---- tables, states, records */

#define VIEW_ADD(row, member, n)                                                                   \
    do {                                                                                           \
        __typeof__(row) view_row = (row);                                                          \
        if (view_row)                                                                              \
            view_row->member += (n);                                                               \
    } while (0)
#define VIEW_OBSERVE(row, member, value)                                                           \
    do {                                                                                           \
        __typeof__(row) view_row = (row);                                                          \
        if (view_row)                                                                              \
            hist_add(&view_row->member, value);                                                    \
    } while (0)

/* One thread runs all handlers. */
VIEW_INLINE __u64 view_user_swap(__u64 *at, __u64 value)
{
    __u64 before = *at;

    *at = value;
    return before;
}

#define VIEW_SWAP(at, value) view_user_swap(at, value)
#define VIEW_REPLACE(at, expected, value) (*(at) == (expected) ? view_user_swap(at, value) : *(at))

VIEW_INLINE void *view_user_row(enum view_table_id table, uint64_t vm, uint64_t key)
{
    void *row = view_store_find(&view_user->tables[table], vm, key, true);

    view_user->lost += !row;
    return row ? row : view_user->rest[table];
}

#define VIEW_ROW_TOTAL(view, table)                                                                \
    VIEW_INLINE struct row_##view##_##table *view##_##table##_row(const struct ev_head *h)         \
    {                                                                                              \
        if (view_user->settings.by_vm)                                                              \
            return view_user_row(VIEW_TABLE_##view##_##table, h->vm, 0);                           \
        return (void *)view_user->rest[VIEW_TABLE_##view##_##table];                                \
    }
#define VIEW_ROW_NAME(view, table)                                                                 \
    VIEW_INLINE struct row_##view##_##table *view##_##table##_row(const struct ev_head *h,         \
                                                                  const struct name_text *name)    \
    {                                                                                              \
        struct row_##view##_##table *row = view_user_row(VIEW_TABLE_##view##_##table, h->vm, name_hash(name)); \
                                                                                                   \
        if (row && !row->name.form && !row->name.words[0])                                         \
            name_copy(&row->name, name);                                                           \
        return row;                                                                                \
    }
#define VIEW_ROW_OWNER VIEW_ROW_NAME
#define VIEW_ROW_REASON VIEW_ROW_NAME
#define VIEW_ROW_PORT VIEW_ROW_NAME
#define VIEW_ROW_NUMBER(view, table)                                                               \
    VIEW_INLINE struct row_##view##_##table *view##_##table##_row(const struct ev_head *h, __u64 number) \
    {                                                                                              \
        return view_user_row(VIEW_TABLE_##view##_##table, h->vm, number);                          \
    }
#define TABLE(view, table, json, title, key, size, top) VIEW_ROW_##key(view, table)
#include "../../bpf/views.def"

#define VIEW_STATE_KEY(view, kept)                                                                 \
    VIEW_INLINE struct state_##view##_##kept *view##_##kept##_get(const struct ev_head *h, __u32 part, __u64 key) \
    {                                                                                              \
        return view_store_find(&view_user->states[VIEW_STATE_##view##_##kept], (__u64)part << 32 | h->vm, key, false); \
    }                                                                                              \
    VIEW_INLINE void view##_##kept##_drop(const struct ev_head *h, __u32 part, __u64 key)          \
    {                                                                                              \
        view_store_drop(&view_user->states[VIEW_STATE_##view##_##kept], (__u64)part << 32 | h->vm, key); \
    }                                                                                              \
    VIEW_INLINE struct state_##view##_##kept *view##_##kept##_make(const struct ev_head *h, __u32 part, __u64 key) \
    {                                                                                              \
        struct state_##view##_##kept *state =                                                      \
            view_store_find(&view_user->states[VIEW_STATE_##view##_##kept], (__u64)part << 32 | h->vm, key, true); \
                                                                                                   \
        view_user->lost += !state;                                                                  \
        if (state)                                                                                 \
            *state = (struct state_##view##_##kept){0};                                            \
        return state;                                                                              \
    }
#define VIEW_STATE_SPAN VIEW_STATE_LIFE
#define VIEW_STATE_LIFE(view, kept)                                                                \
    VIEW_INLINE struct state_##view##_##kept *view##_##kept##_get(const struct ev_head *h, ev_id id) \
    {                                                                                              \
        return view_store_find(&view_user->states[VIEW_STATE_##view##_##kept], h->vm, id, false);   \
    }                                                                                              \
    VIEW_INLINE struct state_##view##_##kept *view##_##kept##_upsert(const struct ev_head *h, ev_id id) \
    {                                                                                              \
        void *state = view_store_find(&view_user->states[VIEW_STATE_##view##_##kept], h->vm, id, true); \
                                                                                                   \
        view_user->lost += !state;                                                                  \
        return state;                                                                              \
    }                                                                                              \
    VIEW_INLINE bool view##_##kept##_take(const struct ev_head *h, ev_id id, struct state_##view##_##kept *out) \
    {                                                                                              \
        struct state_##view##_##kept *state = view##_##kept##_get(h, id);                          \
                                                                                                   \
        if (!state)                                                                                \
            return false;                                                                          \
        *out = *state;                                                                             \
        view_store_drop(&view_user->states[VIEW_STATE_##view##_##kept], h->vm, id);                 \
        return true;                                                                               \
    }
#define STATE(view, kept, of) VIEW_STATE_##of(view, kept)
#include "../../bpf/views.def"

/* No event here says where its process is. */
VIEW_INLINE __u64 view_process_at(__u64 where)
{
    (void)where;
    return 0;
}

/* By what was told of registered names and labels up to now. */
VIEW_INLINE int view_owner_now(const struct ev_head *h, ev_id id, struct name_text *out)
{
    const struct state_owners_calls *call = VIEW_BY == VIEW_BY_MFA ? NULL : owners_calls_get(h, id);
    __u64 kept = call ? (call->registered ? call->registered : call->label) : 0;

    return kept && !view_kept_name(h, kept, out) ? EV_OWNER_KNOWN : EV_OWNER_UNKNOWN;
}

#define EVENT(view, told, json)                                                                    \
    VIEW_INLINE struct told_##view##_##told *view##_##told##_record(const struct ev_head *h, __u64 ns) \
    {                                                                                              \
        if (!view_user->settings.events[VIEW_##view])                                               \
            return NULL;                                                                           \
        view_user->record.header = (struct wire_header){ns, h->vm, VIEW_RECORD_##view##_##told};    \
        return &view_user->record.view##_##told;                                                    \
    }
#include "../../bpf/views.def"
/* In the place of the one with the least value. */
#define SLOWEST(view, event, json, title, by, most, shown)                                         \
    VIEW_INLINE void view##_##event##_keep(const struct ev_head *h,                                \
                                           const struct told_##view##_##event *told, __u64 value)  \
    {                                                                                              \
        struct slowest_##view##_##event *all = &view_user->view##_##event##_slowest;                \
        __u64 n = view_user->settings.slowest[VIEW_SLOWEST_##view##_##event], least = 0;            \
                                                                                                   \
        (void)h;                                                                                   \
        if (!n || value <= all->floor)                                                             \
            return;                                                                                \
        for (__u64 i = 1; i < n; i++)                                                              \
            least = all->at[i].value < all->at[least].value ? i : least;                           \
        all->at[least].value = value;                                                              \
        all->at[least].told = *told;                                                               \
        all->floor = value;                                                                        \
        for (__u64 i = 0; i < n; i++)                                                              \
            all->floor = all->at[i].value < all->floor ? all->at[i].value : all->floor;            \
    }
#include "../../bpf/views.def"
#define VIEW_TELL(record) view_user->told(view_user->ctx, &(record)->header, sizeof *(record))

#endif
