/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Names that events tell, for handlers of views; h is the head of the event in hand.
 *   VIEW_NAME(name);                                     declares room for one, which one of these functions fills
 *   view_mfa(h, mfa, &name), view_term(h, term, &name)   to be counted by, or told; of a term, as an event tells it
 *   view_shape(&name, &shape)                            of a term's name: what terms are counted by
 *   view_orderly(h, &shape)                              whether a reason is normal, a shutdown, or a result of erpc
 *   view_pid(id, &name)                                  a process by its number
 *   view_process_at(where)                               its number, by ev_head.where
 *   view_label(h, &text, &name)                          what a text says, cut
 *   view_port(h, id, &text, &name)                       a port by its number and its name
 *   view_node(h, node, &name)                            a node, or a module
 *   view_callback(h, &callback, &driver, &name)          a callback of a driver, by both names
 *   view_operation(h, table, operation, &name)           an operation on a table, by its name as an event tells it
 *   view_keep_name(h, &name), view_kept_name(h, kept, &name)   by a number, until the VM ends
 * What an event has not read yet (EV_LATER_MFA, EV_LATER_TERM, EV_LATER_NODE, ev_head.where) is read here: from the
 * VM's memory.
 */
#ifndef BPF_VIEW_NAME_BPF_H
#define BPF_VIEW_NAME_BPF_H

#include "otp_call.bpf.h"
#include "reason.bpf.h"
#include "views.h"

SHARED const volatile struct view_settings view_settings SEC(".rodata.views");
#define VIEW_BY (view_settings.by)

#define VIEW_INLINE static __always_inline
#define VIEW_APART static __noinline __attribute__((unused)) /* with a frame of its own: all together have 512 bytes */
#define VIEW_NAME(name) struct name_text name = {0} /* the verifier lets nobody read what was not written */

/* What is to be read when asked for: in the two highest bits of a function, the highest of a term. */
enum {
    VIEW_LATER_SHIFT = 62,
    VIEW_LATER_TEXT = 1,
    VIEW_LATER_RESUME = 2,
    VIEW_SLOT_SHIFT = 48,
    VIEW_SLOT_MASK = 0x3fff
};
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

VIEW_INLINE ev_node view_later_node(__u64 at)
{
    return EV_LATER_NODE | (at & VIEW_ADDRESS_MASK);
}

/* Where the process goes on that stands at this address of the stock emulator with this slot. */
VIEW_INLINE ev_mfa view_later_resume(__u64 process, __u32 slot)
{
    return (__u64)VIEW_LATER_RESUME << VIEW_LATER_SHIFT | (__u64)slot << VIEW_SLOT_SHIFT |
           (process & VIEW_ADDRESS_MASK);
}

/*
 * A text, cut and terminated. Returns its bytes, with the NUL; 0: there is none, or it cannot be read, which is
 * counted.
 */
VIEW_INLINE long view_read_text(const struct ev_text *text, void *out, __u32 size)
{
    long used = 0;

    if (text->bytes == EV_TEXT_OURS)
        used = bpf_probe_read_kernel_str(out, size, (void *)text->at);
    else if (text->at)
        used = bpf_probe_read_user_str(out, size, (void *)text->at);
    if (used < 0)
        probe_lose(LOSS_BAD_ARG);
    return used > 0 ? used : 0;
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

/* ---- names that are kept: by their hash, until the VM ends */

SHARED struct {
    __uint(type, BPF_MAP_TYPE_HASH);
    __uint(max_entries, 16384);
    __uint(map_flags, BPF_F_NO_PREALLOC);
    __type(key, struct wire_name_key);
    __type(value, struct wire_name);
} view_names SEC(".maps");

/* Returns what view_kept_name finds it by; 0 (counted): there is no room. */
FIXES_GLOBAL __u64 view_keep_name(const struct ev_head *h, const struct name_text *name)
{
    struct wire_name_key key = {0};
    struct wire_name text = {0};

    if (!h || !name)
        return 0;
    key.vm = h->vm;
    key.hash = name_hash(name);
    if (bpf_map_lookup_elem(&view_names, &key))
        return key.hash;
    name_copy(&text, name);
    name_announce(h->vm, name);
    return probe_upsert(&view_names, &key, &text) ? key.hash : 0;
}

FIXES_GLOBAL int view_kept_name(const struct ev_head *h, __u64 kept, struct name_text *out)
{
    struct wire_name_key key = {.hash = kept};
    const struct wire_name *name;

    if (!h || !out)
        return -1;
    key.vm = h->vm;
    name = bpf_map_lookup_elem(&view_names, &key);
    if (!name)
        return -1;
    __builtin_memcpy(out->words, name->words, sizeof out->words);
    out->form = name->form;
    out->used = sizeof out->words;
    return 0;
}

VIEW_INLINE void view_pid(ev_id id, struct name_text *out)
{
    out->form = WIRE_PROCESS;
    out->used = 8;
    out->words[0] = id;
}

VIEW_INLINE void view_label(const struct ev_head *h, const struct ev_text *text, struct name_text *out)
{
    view_text_at(text->at, out);
}

VIEW_INLINE void view_port(const struct ev_head *h, ev_id id, const struct ev_text *text, struct name_text *out)
{
    long used = text->at ? bpf_probe_read_user_str(out->words + 1, sizeof out->words - 8, (void *)text->at) : 0;

    if (used < 0)
        probe_lose(LOSS_BAD_ARG);
    if (used <= 0)
        out->words[1] = 0;
    out->form = WIRE_PORT_NAME;
    out->words[0] = id;
    out->used = 8 + (used > 0 ? used : 1);
}

VIEW_INLINE void view_node(const struct ev_head *h, ev_node node, struct name_text *out)
{
    if (node & EV_LATER_NODE) {
        view_text_at(node & VIEW_ADDRESS_MASK, out);
        return;
    }
    out->form = WIRE_NODE;
    out->used = 8;
    out->words[0] = node ? node - 1 : WIRE_NO_ATOM;
}

/* The text into so many bytes of a name, which are zeros. Returns its bytes, with the NUL. */
VIEW_INLINE __u32 view_part(const struct ev_text *text, __u64 *words, __u32 room)
{
    long used = view_read_text(text, words, room);

    return used ? used : 1;
}

VIEW_INLINE void view_callback(const struct ev_head *h, const struct ev_text *callback, const struct ev_text *driver,
                               struct name_text *out)
{
    __builtin_memset(out->words, 0, sizeof out->words);
    view_part(callback, out->words, WIRE_CALLBACK_BYTES);
    out->form = WIRE_CALLBACK;
    out->used = WIRE_CALLBACK_BYTES + view_part(driver, out->words + 2, sizeof out->words - WIRE_CALLBACK_BYTES);
}

VIEW_INLINE void view_operation(const struct ev_head *h, ev_term table, __u64 operation, struct name_text *out)
{
    long used;

    out->words[0] = operation;
    if (!(table & EV_LATER_TERM)) {
        out->form = WIRE_TABLE;
        out->used = 16;
        out->words[1] = ev_term_shape(table) == BATCH_SHAPE_ATOM ? ev_term_atom(table) : WIRE_NO_ATOM;
        return;
    }
    used = bpf_probe_read_user_str(out->words + 1, sizeof out->words - 8, (void *)(table & VIEW_ADDRESS_MASK));
    if (used < 0)
        probe_lose(LOSS_BAD_ARG);
    if (used <= 0)
        out->words[1] = 0;
    out->form = WIRE_TABLE_TEXT;
    out->used = 8 + (used > 0 ? used : 1);
}

/*
 * The registered name of a process (unless it is not asked for), or else its initial call: `where` of an event. Neither
 * inlined nor static: so the kernel verifies it once.
 */
FIXES_GLOBAL int view_owner_at(__u64 where, struct name_text *out)
{
    __u64 process = where & VIEW_ADDRESS_MASK, name;
    __u32 slot = where >> VIEW_SLOT_SHIFT & VIEW_SLOT_MASK;
    const struct otp_layout *layout = bpf_map_lookup_elem(&otp_layouts, &slot);
    struct otp_call call = {0};
    bool whole;

    if (!layout || !out)
        return EV_OWNER_UNKNOWN;
    name = VIEW_BY == VIEW_BY_MFA ? 0 : otp_registered(layout, process);
    if (otp_atom(name) != WIRE_NO_ATOM) {
        out->form = WIRE_REASON;
        out->used = 24;
        out->words[0] = WIRE_ATOM;
        out->words[1] = otp_atom(name);
        out->words[2] = 0;
        return EV_OWNER_KNOWN;
    }
    whole = otp_call_of_process(layout, process, &call);
    if (otp_atom(call.module) == WIRE_NO_ATOM) /* it exits */
        return EV_OWNER_UNKNOWN;
    otp_name_mfa(out, call.module, call.function, call.arity);
    return whole ? EV_OWNER_KNOWN : EV_OWNER_BEGINS;
}

/* The process itself, of an event that does not tell it but by `where`; 0: it is not known. */
FIXES_GLOBAL __u64 view_process_at(__u64 where)
{
    __u32 slot = where >> VIEW_SLOT_SHIFT & VIEW_SLOT_MASK;
    const struct otp_layout *layout = bpf_map_lookup_elem(&otp_layouts, &slot);
    struct wire_pid pid = {0};

    if (!layout || otp_read_pid(layout, where & VIEW_ADDRESS_MASK, &pid))
        return 0;
    return ev_id_of_pid(pid.id, pid.serial);
}

/*
 * `where` of a process by its number, for events that only tell that, as those of an erlvm and of notes do; 0: it is
 * not known. It returns before view_owner_at is called, so that the stack of only one of them is in use.
 */
FIXES_GLOBAL __u64 view_where(__u32 vm, __u64 id)
{
    __u32 *slot = bpf_map_lookup_elem(&otp_slots, &vm);
    const struct otp_layout *layout = slot ? bpf_map_lookup_elem(&otp_layouts, slot) : 0;
    __u64 process;

    if (!layout || id >> 60 != BATCH_PID)
        return 0;
    process = layout->is_ours ? otp_find_process(layout, (__u64)ev_id_serial(id) << 32 |
                                                             (__u64)ev_id_number(id) << 4 | OTP_TAG_PID)
                              : otp_find_numbered(layout, ev_id_number(id), ev_id_serial(id));
    return process ? (__u64)*slot << VIEW_SLOT_SHIFT | (process & VIEW_ADDRESS_MASK) : 0;
}

/* of a short binary of OTP 27 and later, and where its bytes are */
enum { VIEW_BITS_HEADER = 0x20, VIEW_BITS_DATA = 16 };

/*
 * The label of the process that `where` of an event says: a short binary as its text; an atom or a small integer, or
 * what begins with one, by its shape, as reasons are told. Fails: -1, it has none that says anything; *out stays. After
 * view_owner_at, so that the stack of only one is in use.
 */
FIXES_GLOBAL int view_label_at(__u64 where, struct name_text *out)
{
    __u32 slot = where >> VIEW_SLOT_SHIFT & VIEW_SLOT_MASK;
    const struct otp_layout *layout = bpf_map_lookup_elem(&otp_layouts, &slot);
    __u64 label = layout && out ? otp_label(layout, where & VIEW_ADDRESS_MASK) : 0, bits[2] = {0};

    if (!label || !out)
        return -1;
    if ((label & 3) == OTP_TAG_BOXED)
        bpf_probe_read_user(bits, sizeof bits, (void *)(label & ~7ull));
    if ((bits[0] & 0x3f) != VIEW_BITS_HEADER || layout->is_ours || layout->release < 27) {
        __u64 before[3] = {out->words[0], out->words[1], out->words[2]};
        __u32 form = out->form;

        reason_of_term(label, out);
        if (out->words[0] == WIRE_ATOM || out->words[0] == WIRE_SMALL)
            return 0;
        __builtin_memcpy(out->words, before, sizeof before);
        out->form = form;
        return -1;
    }
    bits[1] /= 8;
    if (bits[1] > sizeof out->words - 1)
        bits[1] = sizeof out->words - 1;
    __builtin_memset(out->words, 0, sizeof out->words);
    bpf_probe_read_user(out->words, bits[1], (void *)((label & ~7ull) + VIEW_BITS_DATA));
    out->form = WIRE_TEXT;
    out->used = bits[1] + 1;
    return 0;
}

/* Who the process is by now, by the memory of its VM: enum ev_owner. */
VIEW_INLINE int view_owner_now(const struct ev_head *h, ev_id id, struct name_text *out)
{
    __u64 where = h->where ? h->where : view_where(h->vm, id);
    int known = where ? view_owner_at(where, out) : EV_OWNER_UNKNOWN;
    bool registered = known == EV_OWNER_KNOWN && out->form == WIRE_REASON;

    return where && !registered && VIEW_BY == VIEW_BY_OWNER && !view_label_at(where, out) ? EV_OWNER_KNOWN : known;
}

/*
 * Whether the reason is normal, shutdown, {shutdown,...} or {Reference,return,...}. `name` is what view_shape made of
 * it: a text has its atom from the fourth word on, which is not terminated.
 */
VIEW_INLINE bool view_orderly(const struct ev_head *h, const struct name_text *name)
{
    __u64 atom = name->words[3], normal = 0x6c616d726f6eull /* "normal" */,
          shutdown = 0x6e776f6474756873ull /* "shutdown" */;
    __u32 slot = h->where >> VIEW_SLOT_SHIFT & VIEW_SLOT_MASK, bytes = name->used - 24;
    const struct otp_layout *layout;

    if (name->words[0] != WIRE_ATOM)
        return name->words[2] == WIRE_RETURNED;
    if (name->form == WIRE_REASON_TEXT)
        return (bytes == 6 && !name->words[2] && (atom & 0xffffffffffffull) == normal) ||
               (bytes == 8 && atom == shutdown && (!name->words[2] || name->words[2] == WIRE_TUPLE_OF_MORE));
    layout = bpf_map_lookup_elem(&otp_layouts, &slot);
    if (!layout)
        return false;
    return (!name->words[2] && name->words[1] == layout->known[OTP_KNOWN_NORMAL]) ||
           ((!name->words[2] || name->words[2] == WIRE_TUPLE_OF_MORE) &&
            name->words[1] == layout->known[OTP_KNOWN_SHUTDOWN]);
}

/* Of a text, what the term is; of a term, itself. */
VIEW_INLINE void view_shape(const struct name_text *name, struct name_text *out)
{
    if (name->form == WIRE_TEXT)
        reason_of_text(name, out);
    else
        *out = *name;
}

#endif
