/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Exit reasons as they are counted: by their shape (WIRE_REASON), so that reasons that are all different, such as {bye,
 * 17} and {bye, 18}, are one row. From a term in a stock emulator's memory, or from the text of a term that a note has.
 * Invariant: a reason has the same shape from both; of a text it is not always seen that a tuple or list has one
 * element only.
 */
#ifndef BPF_REASON_BPF_H
#define BPF_REASON_BPF_H

#include "otp.bpf.h"

enum { REASON_DEPTH = 2 }; /* tuples and lists that are looked into */

/* Small integers are told (statuses, codes); others are many. */
static __always_inline __u64 reason_integer(__s64 value, __u64 *out)
{
    if (value < -BATCH_SMALL_MAX || value > BATCH_SMALL_MAX)
        return WIRE_INTEGER;
    *out = value;
    return WIRE_SMALL;
}

/* ---- terms */

/* The kind of thing that a boxed term leads to, by its header. Source: the sub-tags of erl_term.h, OTP 25 and 27. */
static __always_inline __u64 reason_boxed(__u64 header)
{
    switch (header >> 2 & 0xf) {
    case 0x0: return header >> 6 ? WIRE_TUPLE : WIRE_EMPTY_TUPLE;
    case 0x2:
    case 0x3: return WIRE_INTEGER;
    case 0x4:
    case 0xe: return WIRE_REF;
    case 0x5: return WIRE_FUN;
    case 0x6: return WIRE_FLOAT;
    case 0x8:
    case 0x9:
    case 0xa: return WIRE_BINARY;
    case 0xb:         /* from OTP 27 on; none before */
    case 0xf: return WIRE_MAP; /* before */
    case 0xc: return WIRE_PID;
    case 0xd: return WIRE_PORT;
    default: return WIRE_OTHER;
    }
}

static __always_inline __u64 reason_immediate(__u64 term, __u64 *out)
{
    if ((term & 0x3f) == OTP_TAG_ATOM) {
        *out = term >> 6;
        return WIRE_ATOM;
    }
    if (term == OTP_NIL)
        return WIRE_NIL;
    switch (term & 0xf) {
    case OTP_TAG_PID: return WIRE_PID;
    case OTP_TAG_PORT: return WIRE_PORT;
    case OTP_TAG_SMALL: return reason_integer((__s64)term >> 4, out);
    default: return WIRE_OTHER;
    }
}

/*
 * `words`: the first two at the term. How it holds its first element, 0 when that is not looked at: strings are lists
 * of integers.
 */
static __always_inline __u64 reason_holder(__u64 shape, const __u64 *words)
{
    if (shape == WIRE_TUPLE)
        return words[0] >> 6 == 1 ? WIRE_TUPLE_OF_ONE : WIRE_TUPLE_OF_MORE;
    if (shape == WIRE_LIST && (words[0] & 0xf) != OTP_TAG_SMALL)
        return words[1] == OTP_NIL ? WIRE_LIST_OF_ONE : WIRE_LIST_OF_MORE;
    return 0;
}

static __always_inline void reason_of_term(__u64 term, struct name_text *name)
{
    __u64 words[2], shape, value = 0, holders = 0, holder;

    for (__u32 depth = 0; depth <= REASON_DEPTH; depth++) {
        words[0] = 0;
        words[1] = 0;
        if ((term & 3) == OTP_TAG_LIST || (term & 3) == OTP_TAG_BOXED)
            bpf_probe_read_user(words, sizeof words, (void *)(term & ~7ull));
        shape = (term & 3) == OTP_TAG_LIST    ? WIRE_LIST
                : (term & 3) == OTP_TAG_BOXED ? reason_boxed(words[0])
                                              : reason_immediate(term, &value);
        holder = reason_holder(shape, words);
        if (!holder || depth == REASON_DEPTH)
            break;
        holders |= holder << depth * 8;
        term = shape == WIRE_LIST ? words[0] : words[1];
    }
    name->form = WIRE_REASON;
    name->used = 24;
    name->words[0] = shape;
    name->words[1] = value;
    name->words[2] = holders;
}

/* Whether the term is {Reference, return, _}, as of erpc.
 * Neither inlined nor static: so the kernel verifies it once. */
FIXES_GLOBAL int reason_is_returned(const struct otp_layout *layout, __u64 term)
{
    __u64 tuple[3], header;

    return layout && (term & 3) == OTP_TAG_BOXED &&
           !bpf_probe_read_user(tuple, sizeof tuple, (void *)(term & ~7ull)) && tuple[0] == 3ull << 6 &&
           (tuple[1] & 3) == OTP_TAG_BOXED &&
           !bpf_probe_read_user(&header, sizeof header, (void *)(tuple[1] & ~7ull)) &&
           reason_boxed(header) == WIRE_REF && otp_is(layout, tuple[2], OTP_KNOWN_RETURN);
}

/* ---- texts */

/* The first element of a reason, or the reason itself, as it is printed. */
struct reason_token {
    __u8 bytes[WIRE_REASON_TEXT_BYTES];
};

/* What reason_token_length says beside the length. */
enum {
    REASON_CLOSED = 1 << 8, /* the token is the last element of its tuple or list */
    REASON_DOT = 1 << 9,    /* a number goes on behind a dot */
    REASON_SPACE = 1 << 10, /* the word is no term alone: fun lists:map/2 */
};

static __always_inline bool reason_is_digit(__u8 c)
{
    return c >= '0' && c <= '9';
}

/* Of an atom without quotes, or of a number. */
static __always_inline bool reason_is_word(__u8 c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || reason_is_digit(c) || c == '_' || c == '@' || c == '-' ||
           c >= 0x80;
}

static __always_inline int reason_follows(__u8 c)
{
    return c == '}' || c == ']' ? REASON_CLOSED : c == '.' ? REASON_DOT : c == ' ' ? REASON_SPACE : 0;
}

/*
 * Bytes of the atom or number that the token begins with, its quotes included, and what follows it. Neither inlined nor
 * static: so the kernel verifies the loop once, and not again for each way that leads to it.
 */
FIXES_GLOBAL int reason_token_length(const struct reason_token *token)
{
    bool quoted, escaped = false;

    if (!token)
        return 0;
    quoted = token->bytes[0] == '\'';
    for (int i = quoted; i < WIRE_REASON_TEXT_BYTES - 1; i++) {
        __u8 c = token->bytes[i];

        if (!c)
            return i;
        if (quoted && c == '\'' && !escaped)
            return (i + 1) | reason_follows(token->bytes[i + 1]);
        if (!quoted && !reason_is_word(c))
            return i | reason_follows(c);
        escaped = c == '\\' && !escaped;
    }
    return WIRE_REASON_TEXT_BYTES - 1;
}

/* The kind of term that begins with these two bytes. Numbers: WIRE_INTEGER; () and what else is no term: WIRE_OTHER. */
static __always_inline __u64 reason_printed(__u8 c, __u8 next)
{
    if ((c >= 'a' && c <= 'z') || c >= 0x80 || c == '\'')
        return WIRE_ATOM;
    if (reason_is_digit(c) || c == '-')
        return WIRE_INTEGER;
    switch (c) {
    case '"': return WIRE_LIST;
    case '[': return next == ']' ? WIRE_NIL : WIRE_LIST;
    case '{': return next == '}' ? WIRE_EMPTY_TUPLE : WIRE_TUPLE;
    case '<': return next == '<' ? WIRE_BINARY : WIRE_PID;
    case '#':
        return next == '{'   ? WIRE_MAP
               : next == 'R' ? WIRE_REF
               : next == 'F' ? WIRE_FUN
               : next == 'P' ? WIRE_PORT
                             : WIRE_OTHER;
    default: return WIRE_OTHER;
    }
}

/* A tuple or list whose first element is looked at, as with terms; its others are not known yet. */
static __always_inline __u64 reason_opens(__u8 c, __u8 next)
{
    __u64 shape = reason_printed(c, next);

    if (shape == WIRE_TUPLE)
        return WIRE_TUPLE_OF_MORE;
    return shape == WIRE_LIST && c == '[' && !reason_is_digit(next) && next != '-' ? WIRE_LIST_OF_MORE : 0;
}

/* Of at most four bytes. */
static __always_inline __s64 reason_number(const __u8 *bytes, __u32 length)
{
    bool negative = bytes[0] == '-';
    __s64 value = 0;

#pragma unroll
    for (__u32 i = 0; i < 4; i++)
        if (i >= negative && i < length)
            value = value * 10 + (bytes[i] - '0');
    return negative ? -value : value;
}

/*
 * The word that the token begins with: sets what the name says of it. Returns whether its tuple or list ends behind it.
 */
static __always_inline bool reason_of_word(struct reason_token *token, struct name_text *name)
{
    int found = reason_token_length(token);
    __u32 length = found & (REASON_CLOSED - 1);

    if (name->words[0] == WIRE_ATOM) {
        name->form = WIRE_REASON_TEXT;
        name->used = 24 + (length < WIRE_REASON_TEXT_BYTES ? length : 0);
        if (found & REASON_SPACE && length == 3 && token->bytes[0] == 'f' && token->bytes[1] == 'u') {
            name->form = WIRE_REASON;
            name->used = 24;
            name->words[0] = WIRE_FUN;
        }
    } else if (found & REASON_DOT) {
        name->words[0] = WIRE_FLOAT;
    } else if (length <= 4) {
        name->words[0] = reason_integer(reason_number(token->bytes, length), &name->words[1]);
    }
    return found & REASON_CLOSED;
}

/* Whether the token, of a reference, goes on as in {Reference, return, _}. Neither inlined nor static, as above. */
FIXES_GLOBAL int reason_token_returned(const struct reason_token *token)
{
    __u64 behind = 0;

    if (!token)
        return false;
    for (int i = 0; i < WIRE_REASON_TEXT_BYTES - (int)sizeof behind - 1; i++)
        if (token->bytes[i] == '>') {
            bpf_probe_read_kernel(&behind, sizeof behind, token->bytes + i + 1);
            return behind == 0x2c6e72757465722cull; /* ",return," */
        }
    return false;
}

/* Neither inlined nor static, as above. Returns 0. */
FIXES_GLOBAL int reason_of_text(const struct name_text *text, struct name_text *name)
{
    struct reason_token *token;
    const __u8 *bytes;
    __u64 outer, inner;
    bool closed = false;
    __u32 start;

    if (!text || !name)
        return 0;
    bytes = (const __u8 *)text->words;
    token = (struct reason_token *)(name->words + 3);
    outer = reason_opens(bytes[0], bytes[1]);
    inner = outer ? reason_opens(bytes[1], bytes[2]) : 0;
    start = !!outer + !!inner;
    name->form = WIRE_REASON;
    name->used = 24;
    name->words[0] = WIRE_OTHER;
    name->words[1] = 0;
    name->words[2] = 0;
    FIXES_OPAQUE(start);
    if (start > REASON_DEPTH)
        return 0;
    bpf_probe_read_kernel(token, sizeof *token, bytes + start);
    name->words[0] = reason_printed(token->bytes[0], token->bytes[1]);
    if (name->words[0] == WIRE_ATOM || name->words[0] == WIRE_INTEGER)
        closed = reason_of_word(token, name);
    if (name->words[0] == WIRE_REF && outer == WIRE_TUPLE_OF_MORE && !inner && reason_token_returned(token))
        outer = WIRE_RETURNED;
    if (closed && inner)
        inner += WIRE_TUPLE_OF_ONE - WIRE_TUPLE_OF_MORE;
    else if (closed && outer)
        outer += WIRE_TUPLE_OF_ONE - WIRE_TUPLE_OF_MORE;
    name->words[2] = outer | inner << 8;
    return 0;
}

#endif
