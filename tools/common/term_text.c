/* SPDX-License-Identifier: Apache-2.0 */
/* Source: the syntax of atoms in the reference manual of Erlang. */
#include "term_text.h"

#include <ctype.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

void term_text_add(struct term_text *t, const char *format, ...)
{
    va_list args;
    int n;

    va_start(args, format);
    n = vsnprintf(t->bytes + t->used, t->size - t->used, format, args);
    va_end(args);
    if (n > 0)
        t->used += (size_t)n < t->size - t->used ? (size_t)n : t->size - t->used - 1;
}

static bool is_plain(const char *atom)
{
    static const char *const reserved[] = {
        "after", "and",  "andalso", "band", "begin", "bnot", "bor",  "bsl",     "bsr",  "bxor", "case", "catch", "cond", "div", "else",
        "end",   "fun",  "if",      "let",  "maybe", "not",  "of",   "or",      "orelse", "receive", "rem", "try", "when", "xor"};

    if (!islower((unsigned char)*atom) || atom[strspn(atom, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_@")])
        return false;
    for (size_t i = 0; i < sizeof reserved / sizeof *reserved; i++)
        if (!strcmp(atom, reserved[i]))
            return false;
    return true;
}

void term_text_atom(struct term_text *t, const char *atom, uint64_t index)
{
    if (!atom) {
        term_text_add(t, "atom#%llu", (unsigned long long)index);
    } else if (is_plain(atom)) {
        term_text_add(t, "%s", atom);
    } else {
        term_text_add(t, "'");
        for (; *atom; atom++)
            term_text_add(t, *atom == '\'' || *atom == '\\' ? "\\%c" : "%c", *atom);
        term_text_add(t, "'");
    }
}

void term_text_arity(struct term_text *t, uint64_t arity)
{
    term_text_add(t, arity < 255 ? "/%llu" : "/?", (unsigned long long)arity);
}

static const struct {
    const char *before, *behind;
} holder_texts[BATCH_NHOLDERS] = {
    {"", ""},
#define HOLDER(name, before, behind) {before, behind},
    BATCH_HOLDERS(HOLDER)
#undef HOLDER
};

static uint64_t holder_at(uint64_t holders, int depth)
{
    uint64_t holder = holders >> 8 * depth & 0xff;

    return holder < BATCH_NHOLDERS ? holder : BATCH_NO_HOLDER;
}

void term_text_open(struct term_text *t, uint64_t holders)
{
    for (int i = 0; i < BATCH_HOLDERS_MAX; i++)
        term_text_add(t, "%s", holder_texts[holder_at(holders, i)].before);
}

void term_text_close(struct term_text *t, uint64_t holders)
{
    for (int i = BATCH_HOLDERS_MAX; i-- > 0;)
        term_text_add(t, "%s", holder_texts[holder_at(holders, i)].behind);
}

void term_text_shape(struct term_text *t, uint64_t shape)
{
    static const char *const shapes[BATCH_NSHAPES] = {
#define SHAPE(name, text) text,
        BATCH_SHAPES(SHAPE)
#undef SHAPE
    };

    term_text_add(t, "%s", shape < BATCH_NSHAPES && shapes[shape] ? shapes[shape] : "?");
}
