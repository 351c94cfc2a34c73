/* SPDX-License-Identifier: Apache-2.0 */
#include "trap_names.h"

#include <stdlib.h>
#include <string.h>

#include "common/table.h"
#include "event/event_text.h"

enum {
    MOST_ATOMS = 1 << 18, /* of all VMs; emptied when they are more would be to give a number twice */
    MOST_NAMES = 1 << 15, /* functions that are not parsed again; then all are */
    ATOM_BYTES = 255 * 4 + 1,
    ARITY_UNKNOWN = 255,
};

struct atom {
    UT_hash_handle hh;
    uint32_t index;
    uint32_t vm; /* with the text: the key */
    char text[];
};

struct name {
    struct {
        uint64_t vm;
        struct wire_name name;
    } key;
    ev_mfa mfa;
    UT_hash_handle hh;
};

struct trap_names {
    struct trap_names_ops ops;
    struct atom *atoms;
    struct name *names;
    uint32_t last; /* number that was given; 0 is none's, so that no function is 0 */
    uint64_t lost; /* names that got none */
};

struct trap_names *trap_names_new(const struct trap_names_ops *ops)
{
    struct trap_names *names = calloc(1, sizeof *names);

    if (names)
        names->ops = *ops;
    return names;
}

static void drop_names(struct trap_names *names)
{
    struct name *n, *next;

    HASH_ITER(hh, names->names, n, next)
    {
        HASH_DEL(names->names, n);
        free(n);
    }
}

/* Of a VM; 0: of all. */
static void drop_atoms(struct trap_names *names, uint32_t vm)
{
    struct atom *a, *next;

    HASH_ITER(hh, names->atoms, a, next)
    {
        if (vm && a->vm != vm)
            continue;
        HASH_DEL(names->atoms, a);
        free(a);
    }
}

void trap_names_free(struct trap_names *names)
{
    if (!names)
        return;
    drop_names(names);
    drop_atoms(names, 0);
    free(names);
}

void trap_names_forget(struct trap_names *names, uint32_t vm)
{
    drop_names(names);
    drop_atoms(names, vm);
}

/* ---- atoms */

/* NULL: no room. */
static struct atom *add_atom(struct trap_names *names, uint32_t vm, const char *text, size_t bytes)
{
    bool room = bytes < ATOM_BYTES && HASH_COUNT(names->atoms) < MOST_ATOMS && names->last + 1 < EV_NO_ATOM;
    struct atom *a = room ? calloc(1, sizeof *a + bytes) : NULL;

    if (!a)
        return NULL;
    a->index = ++names->last;
    a->vm = vm;
    memcpy(a->text, text, bytes);
    HASH_ADD(hh, names->atoms, vm, (unsigned)(sizeof a->vm + bytes), a);
    if (table_has(a))
        return a;
    free(a);
    return NULL;
}

uint32_t trap_names_atom(struct trap_names *names, uint32_t vm, const char *text, size_t bytes)
{
    struct {
        uint32_t vm;
        char text[ATOM_BYTES];
    } key;
    struct atom *a = NULL;

    key.vm = vm;
    if (bytes < sizeof key.text) {
        memcpy(key.text, text, bytes);
        HASH_FIND(hh, names->atoms, &key, sizeof key.vm + bytes, a);
    }
    if (a)
        return a->index;
    a = add_atom(names, vm, text, bytes);
    if (!a) {
        names->lost++;
        return EV_NO_ATOM;
    }
    names->ops.told(names->ops.ctx, vm, a->index, text, bytes);
    return a->index;
}

uint64_t trap_names_lost(const struct trap_names *names)
{
    return names->lost;
}

/* That of the VM which has this number there. */
static uint32_t known_atom(struct trap_names *names, uint32_t vm, uint64_t number)
{
    const char *known = number == WIRE_NO_ATOM ? NULL : names->ops.atom(names->ops.ctx, vm, number);

    return known ? trap_names_atom(names, vm, known, strlen(known)) : EV_NO_ATOM;
}

/* What a backslash and this character stand for in a quoted atom. */
static char unescape(char c)
{
    static const char pairs[] = "n\nt\tr\rb\bf\fv\ve\033s d\177";

    for (const char *p = pairs; *p; p += 2)
        if (*p == c)
            return p[1];
    return c;
}

/*
 * An atom as it is printed, up to `end` or, quoted, to its quote: its number. Returns where it ends.
 */
static const char *read_atom(struct trap_names *names, uint32_t vm, const char *at, char end, uint32_t *out)
{
    char text[ATOM_BYTES];
    bool quoted = *at == '\'';
    size_t used = 0;

    for (at += quoted; *at && *at != (quoted ? '\'' : end) && used < sizeof text - 1; at++) {
        bool escaped = quoted && *at == '\\' && at[1];

        at += escaped;
        text[used++] = escaped ? unescape(*at) : *at;
    }
    *out = EV_NO_ATOM;
    if (quoted || used != 1 || *text != '?')
        *out = trap_names_atom(names, vm, text, used);
    return at + (quoted && *at == '\'');
}

/* ---- functions */

/*
 * "module:function/arity" as it is printed; what is not so is no function. Code that is no function's is one without a
 * module, as event_text.h has it.
 */
static ev_mfa read_mfa(struct trap_names *names, uint32_t vm, const char *text)
{
    uint32_t module, function;
    unsigned long arity = ARITY_UNKNOWN;
    const char *at = text;

    if (!strcmp(text, EVENT_TEXT_SHARED) || !strcmp(text, EVENT_TEXT_UNKNOWN))
        return ev_mfa_of_atoms(EV_NO_ATOM, trap_names_atom(names, vm, text, strlen(text)), ARITY_UNKNOWN);
    if (*at != '\'' && !strchr(at, ':')) /* an address, or what is in brackets */
        return 0;
    at = read_atom(names, vm, at, ':', &module);
    if (*at != ':')
        return 0;
    at = read_atom(names, vm, at + 1, '/', &function);
    if (*at == '/' && at[1] >= '0' && at[1] <= '9')
        arity = strtoul(at + 1, NULL, 10);
    return ev_mfa_of_atoms(module, function, arity < ARITY_UNKNOWN ? (uint32_t)arity : ARITY_UNKNOWN);
}

/* NULL: out of memory. */
static struct name *add_name(struct trap_names *names, const struct name *fresh)
{
    struct name *n = malloc(sizeof *n);

    if (!n)
        return NULL;
    if (HASH_COUNT(names->names) >= MOST_NAMES)
        drop_names(names);
    *n = *fresh;
    HASH_ADD(hh, names->names, key, sizeof n->key, n);
    if (table_has(n))
        return n;
    free(n);
    return NULL;
}

static ev_mfa number_mfa(struct trap_names *names, uint32_t vm, const struct wire_name *name)
{
    struct wire_name code;
    uint64_t arity = name->words[2];

    switch (name->form) {
    case WIRE_TEXT: return read_mfa(names, vm, name->text);
    case WIRE_MFA:
        return ev_mfa_of_atoms(known_atom(names, vm, name->words[0]), known_atom(names, vm, name->words[1]),
                               arity < ARITY_UNKNOWN ? (uint32_t)arity : ARITY_UNKNOWN);
    case WIRE_CODE:
        if (names->ops.code(names->ops.ctx, vm, name, &code) && code.form != WIRE_CODE)
            return number_mfa(names, vm, &code);
        return 0;
    default: return 0;
    }
}

ev_mfa trap_names_mfa(struct trap_names *names, uint32_t vm, const struct wire_name *name)
{
    struct name fresh = {.key = {vm, *name}}, *n;

    HASH_FIND(hh, names->names, &fresh.key, sizeof fresh.key, n);
    if (n)
        return n->mfa;
    fresh.mfa = number_mfa(names, vm, name);
    if (fresh.mfa) /* what is not known now may be known later */
        add_name(names, &fresh);
    return fresh.mfa;
}

/* ---- nodes */

ev_node trap_names_node(struct trap_names *names, uint32_t vm, const struct wire_name *name)
{
    char text[WIRE_NAME_BYTES + 1] = "";
    uint32_t index;

    if (name->form == WIRE_NODE) {
        index = known_atom(names, vm, name->words[0]);
        return index != EV_NO_ATOM ? index + 1 : 0;
    }
    if (name->form != WIRE_TEXT)
        return 0;
    memcpy(text, name->text, WIRE_NAME_BYTES);
    if (!*text)
        return 0;
    read_atom(names, vm, text, '\0', &index);
    return index != EV_NO_ATOM ? index + 1 : 0;
}

/* ---- terms */

static uint32_t read_reason_atom(struct trap_names *names, uint32_t vm, const struct wire_name *name)
{
    char text[WIRE_REASON_TEXT_BYTES + 1] = "";
    uint32_t index;

    if (name->form == WIRE_REASON_TEXT) {
        memcpy(text, name->text + 3 * sizeof *name->words, WIRE_REASON_TEXT_BYTES);
        read_atom(names, vm, text, '\0', &index);
        return index;
    }
    return known_atom(names, vm, name->words[1]);
}

ev_term trap_names_term(struct trap_names *names, uint32_t vm, const struct wire_name *name)
{
    uint64_t shape = name->words[0];
    uint32_t value = 0;

    if ((name->form != WIRE_REASON && name->form != WIRE_REASON_TEXT) || shape >= BATCH_NSHAPES)
        return 0;
    if (shape == BATCH_SHAPE_ATOM)
        value = read_reason_atom(names, vm, name);
    else if (shape == BATCH_SHAPE_SMALL)
        value = (uint32_t)name->words[1];
    return ev_term_of((enum batch_shape)shape, (uint32_t)name->words[2], value);
}
