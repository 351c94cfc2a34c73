/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Names as keys of maps: by their hash, the name itself with the value.
 * Invariant: equal names have equal keys; different ones do but for one pair in 2^64.
 */
#ifndef BPF_NAME_BPF_H
#define BPF_NAME_BPF_H

#include "probe.bpf.h"

struct name_text {
    __u64 words[WIRE_NAME_BYTES / 8];
    __u32 form; /* WIRE_TEXT, ... */
    __u32 used; /* bytes, of a text with its NUL; what follows is not set */
};

/* String argument `index` of probe `id`, cut. Fails: counts the loss and leaves an empty text. */
static __always_inline void name_arg(struct pt_regs *ctx, enum probe_id id, __u32 index,
                                     struct name_text *text)
{
    long used = 0;
    __u64 at;

    text->form = WIRE_TEXT;
    if (!probe_arg(ctx, id, index, &at)) {
        used = bpf_probe_read_user_str(text->words, sizeof text->words, (void *)at);
        if (used < 0)
            probe_lose(LOSS_BAD_ARG);
    }
    if (used <= 0) {
        text->words[0] = 0;
        used = 1;
    }
    text->used = used;
}

/* Word `i` without what stands after the text; 0 beyond it. */
static __always_inline __u64 name_word(const struct name_text *text, __u32 i)
{
    __u32 left = text->used - i * 8;

    if (i * 8 >= text->used)
        return 0;
    return left >= 8 ? text->words[i] : text->words[i] & ((1ull << left * 8) - 1);
}

/* This and name_copy are neither inlined nor static: so the kernel verifies them once, and not for each name. */
FIXES_GLOBAL __u64 name_hash(const struct name_text *text)
{
    __u64 hash;

    if (!text)
        return 0;
    hash = text->used | (__u64)text->form << 32;
#pragma unroll
    for (__u32 i = 0; i < WIRE_NAME_BYTES / 8; i++) {
        if (i * 8 >= text->used)
            break;
        hash = (hash ^ name_word(text, i)) * 0x9e3779b97f4a7c15ull; /* 2^64 by the golden ratio */
        hash ^= hash >> 29;
    }
    return hash;
}

/* Returns 0: a function of its own must return something. */
FIXES_GLOBAL int name_copy(struct wire_name *to, const struct name_text *text)
{
    if (!to || !text)
        return 0;
    to->form = text->form;
#pragma unroll
    for (__u32 i = 0; i < WIRE_NAME_BYTES / 8; i++)
        to->words[i] = name_word(text, i);
    return 0;
}

/* When there is no room for it, the name is tried again when it is printed. */
static __always_inline void name_announce(__u32 vm, const struct name_text *text)
{
    struct wire_resolve *rec;

    if (text->form == WIRE_TEXT || text->form == WIRE_REASON_TEXT || text->form == WIRE_PROCESS ||
        text->form == WIRE_PORT_NAME || text->form == WIRE_CALLBACK || text->form == WIRE_TABLE_TEXT)
        return;
    rec = bpf_ringbuf_reserve(&records, sizeof *rec, 0);
    if (!rec)
        return;
    rec->header.time_ns = bpf_ktime_get_ns();
    rec->header.vm = vm;
    rec->header.kind = WIRE_RESOLVE;
    name_copy(&rec->name, text);
    bpf_ringbuf_submit(rec, 0);
}

#endif
