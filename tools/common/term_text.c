/* SPDX-License-Identifier: Apache-2.0 */
/* Source: the syntax of atoms in the reference manual of Erlang, that of aliases and of remote calls in Elixir's. */
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

#define LETTERS "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_"

static bool is_plain(const char *atom)
{
    static const char *const reserved[] = {"after",   "and",  "andalso", "band",  "begin", "bnot", "bor",  "bsl",
                                           "bsr",     "bxor", "case",    "catch", "cond",  "div",  "else", "end",
                                           "fun",     "if",   "let",     "maybe", "not",   "of",   "or",   "orelse",
                                           "receive", "rem",  "try",     "when",  "xor"};

    if (!islower((unsigned char)*atom) || atom[strspn(atom, LETTERS "@")])
        return false;
    for (size_t i = 0; i < sizeof reserved / sizeof *reserved; i++)
        if (!strcmp(atom, reserved[i]))
            return false;
    return true;
}

static void add_quoted(struct term_text *t, const char *text, char quote)
{
    term_text_add(t, "%c", quote);
    for (; *text; text++)
        term_text_add(t, *text == quote || *text == '\\' ? "\\%c" : "%c", *text);
    term_text_add(t, "%c", quote);
}

/* ---- Elixir */

static const char elixir[] = "Elixir.";

/* The name in Elixir of a module of `bytes` bytes; NULL: it is none of Elixir's, or not to be written without
 * quotes. */
static const char *find_alias(const char *module, size_t bytes)
{
    const char *end = module + bytes, *alias = module + sizeof elixir - 1, *at = alias;

    if (bytes < sizeof elixir || strncmp(module, elixir, sizeof elixir - 1) ||
        !strncmp(alias, elixir, sizeof elixir - 1))
        return NULL;
    while (at < end && isupper((unsigned char)*at)) {
        at += strspn(at, LETTERS);
        if (at >= end)
            return at == end ? alias : NULL;
        at += *at == '.';
    }
    return NULL;
}

static const char *alias_of(const char *module)
{
    return module ? find_alias(module, strlen(module)) : NULL;
}

/* Whether Elixir writes it behind a module's name as it is: update, empty?, +. */
static bool is_plain_in_elixir(const char *function)
{
    size_t letters = strspn(function, LETTERS);

    if (letters && !isdigit((unsigned char)*function) && !isupper((unsigned char)*function))
        return !function[letters + (function[letters] == '?' || function[letters] == '!')];
    return *function && !function[strspn(function, "+-*/<>=!&|^~.")];
}

void term_text_separator(struct term_text *t, const char *module)
{
    term_text_add(t, "%s", alias_of(module) ? "." : ":");
}

void term_text_function(struct term_text *t, const char *module, const char *function, uint64_t index)
{
    if (!function || !alias_of(module))
        term_text_atom(t, function, index);
    else if (is_plain_in_elixir(function))
        term_text_add(t, "%s", function);
    else
        add_quoted(t, function, '"');
}

/* ---- */

void term_text_atom(struct term_text *t, const char *atom, uint64_t index)
{
    if (!atom)
        term_text_add(t, "atom#%llu", (unsigned long long)index);
    else if (alias_of(atom))
        term_text_add(t, "%s", alias_of(atom));
    else if (is_plain(atom))
        term_text_add(t, "%s", atom);
    else
        add_quoted(t, atom, '\'');
}

/* The function of a module of Elixir, with its arity, as Erlang printed it; what was cut is left as it is. */
static void respell_function(struct term_text *t, const char *printed)
{
    char name[1024];
    size_t used = 0;
    const char *at = printed + (*printed == '\'');

    for (; *at && *at != '\'' && used < sizeof name - 1; at++) {
        at += *at == '\\' && at[1];
        name[used++] = *at;
    }
    name[used] = '\0';
    if (*printed == '\'' && *at == '\'' && !is_plain_in_elixir(name))
        add_quoted(t, name, '"');
    else if (*printed == '\'' && *at == '\'')
        term_text_add(t, "%s", name);
    else
        at = printed - 1;
    term_text_add(t, "%s", at + 1);
}

void term_text_respell(struct term_text *t, const char *printed)
{
    const char *module = printed + (*printed == '\''), *alias;
    size_t bytes = strcspn(module, "':");
    const char *behind = module + bytes + (*printed == '\'' && module[bytes] == '\'');

    alias = *printed == '\'' && module[bytes] != '\'' ? NULL : find_alias(module, bytes);
    if (!alias || (*behind && *behind != ':')) {
        term_text_add(t, "%s", printed);
        return;
    }
    term_text_add(t, "%.*s", (int)(module + bytes - alias), alias);
    if (!*behind)
        return;
    term_text_add(t, ".");
    respell_function(t, behind + 1);
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
