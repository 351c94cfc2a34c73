/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The functions of bpf/view_name.bpf.h that make names, in user space; view_user.h has those that need what VMs have
 * told.
 */
#ifndef TOOLS_VIEW_USER_NAME_H
#define TOOLS_VIEW_USER_NAME_H

#include <string.h>

#include "event/event.h"

#define VIEW_INLINE static inline __attribute__((unused))
#define VIEW_APART static __attribute__((unused))
#define VIEW_NAME(name) struct name_text name

struct name_text {
    __u64 words[WIRE_NAME_BYTES / 8];
    __u32 form;
    __u32 used; /* bytes: NAME_SHORT or all; what follows is not set */
};

/* Three words say what all names are but texts, which fill all words, with zeros at their end. */
enum { NAME_SHORT = 3 * sizeof(__u64) };

VIEW_INLINE __u32 name_bytes(__u32 form)
{
    bool is_text = form == WIRE_TEXT || form == WIRE_PORT_NAME || form == WIRE_CALLBACK;

    return is_text ? WIRE_NAME_BYTES : NAME_SHORT;
}

VIEW_INLINE void view_words(struct name_text *out, __u32 form, __u64 first, __u64 second, __u64 third)
{
    out->words[0] = first;
    out->words[1] = second;
    out->words[2] = third;
    out->form = form;
    out->used = NAME_SHORT;
}

VIEW_INLINE void view_mfa(const struct ev_head *h, ev_mfa mfa, struct name_text *out)
{
    (void)h;
    if (mfa)
        view_words(out, WIRE_MFA, ev_mfa_module(mfa), ev_mfa_function(mfa), ev_mfa_arity(mfa));
    else
        view_words(out, WIRE_MFA, WIRE_NO_ATOM, WIRE_NO_ATOM, 255);
}

VIEW_INLINE void view_term(const struct ev_head *h, ev_term term, struct name_text *out)
{
    (void)h;
    view_words(out, WIRE_REASON, ev_term_shape(term),
               ev_term_shape(term) == BATCH_SHAPE_SMALL ? (__u64)(__s64)ev_term_small(term) : ev_term_atom(term),
               ev_term_holder(term, 0) | ev_term_holder(term, 1) << 8);
}

VIEW_INLINE void view_shape(const struct name_text *name, struct name_text *out)
{
    memcpy(out->words, name->words, name->used);
    out->form = name->form;
    out->used = name->used;
}

VIEW_INLINE void view_pid(ev_id id, struct name_text *out)
{
    view_words(out, WIRE_PROCESS, id, 0, 0);
}

/* The text's bytes into `out`, behind `skip` words of the name; the rest is zeros. A NUL in the text ends it. */
VIEW_INLINE void view_bytes(const struct ev_text *text, struct name_text *out, size_t skip)
{
    size_t room = sizeof out->words - 8 * skip - 1, bytes = text->bytes < room ? text->bytes : room;

    memset(out->words + skip, 0, sizeof out->words - 8 * skip);
    memcpy(out->words + skip, (const char *)(uintptr_t)text->at, bytes
           ? strnlen((const char *)(uintptr_t)text->at, bytes) : 0);
    out->used = sizeof out->words;
}

VIEW_INLINE void view_label(const struct ev_head *h, const struct ev_text *text, struct name_text *out)
{
    (void)h;
    out->form = WIRE_TEXT;
    view_bytes(text, out, 0);
}

VIEW_INLINE void view_port(const struct ev_head *h, ev_id id, const struct ev_text *text, struct name_text *out)
{
    (void)h;
    out->form = WIRE_PORT_NAME;
    out->words[0] = id;
    view_bytes(text, out, 1);
}

VIEW_INLINE void view_node(const struct ev_head *h, ev_node node, struct name_text *out)
{
    (void)h;
    view_words(out, WIRE_NODE, node ? node - 1 : WIRE_NO_ATOM, 0, 0);
}

VIEW_INLINE void view_callback(const struct ev_head *h, const struct ev_text *callback, const struct ev_text *driver,
                               struct name_text *out)
{
    size_t bytes = callback->bytes < WIRE_CALLBACK_BYTES - 1 ? callback->bytes : WIRE_CALLBACK_BYTES - 1;

    (void)h;
    out->form = WIRE_CALLBACK;
    memset(out->words, 0, WIRE_CALLBACK_BYTES);
    memcpy(out->words, (const char *)(uintptr_t)callback->at,
           bytes ? strnlen((const char *)(uintptr_t)callback->at, bytes) : 0);
    view_bytes(driver, out, WIRE_CALLBACK_BYTES / 8);
}

VIEW_INLINE void view_operation(const struct ev_head *h, ev_term table, __u64 operation, struct name_text *out)
{
    (void)h;
    view_words(out, WIRE_TABLE, operation,
               ev_term_shape(table) == BATCH_SHAPE_ATOM ? ev_term_atom(table) : WIRE_NO_ATOM, 0);
}

VIEW_INLINE __u64 name_hash(const struct name_text *name)
{
    __u64 hash = name->form;

    for (size_t i = 0; i < name->used / sizeof *name->words; i++) {
        hash = (hash ^ name->words[i]) * 0x9e3779b97f4a7c15u;
        hash ^= hash >> 29;
    }
    return hash;
}

VIEW_INLINE void name_copy(struct wire_name *to, const struct name_text *name)
{
    to->form = name->form;
    if (name->used == NAME_SHORT) {
        memcpy(to->words, name->words, NAME_SHORT);
        memset((char *)to->words + NAME_SHORT, 0, sizeof to->words - NAME_SHORT);
    } else {
        memcpy(to->words, name->words, sizeof to->words);
    }
}

#endif
