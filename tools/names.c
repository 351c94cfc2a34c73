/* SPDX-License-Identifier: Apache-2.0 */
/* Invariant: what is told of a VM comes from its memory; the VM is never stopped. */
#include "names.h"

#include <bpf/bpf.h>
#include <ctype.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "memory.h"
#include "otp_atoms.h"
#include "otp_code.h"

enum {
    MAX_PLACES = 1 << 16,
    BUCKETS = 4096,
};

/* A function by an address in it, and how often code had been purged by then. */
struct place {
    struct place *next;
    uint32_t vm;
    uint64_t address, purges;
    char text[];
};

struct vm {
    struct vm *next;
    struct otp_layout layout;
    struct memory *memory;
    struct otp_code *code;
    struct otp_atoms *atoms;
    int layouts; /* the map "otp_layouts", -1: not known */
    uint32_t slot;
};

struct names {
    struct vm *vms;
    struct place *places[BUCKETS];
    size_t nplaces;
};

struct names *names_new(void)
{
    return calloc(1, sizeof(struct names));
}

static void free_vm(struct vm *vm)
{
    otp_atoms_free(vm->atoms);
    otp_code_free(vm->code);
    memory_close(vm->memory);
    free(vm);
}

static void forget_places(struct names *names, uint32_t vm)
{
    for (size_t i = 0; i < BUCKETS; i++) {
        for (struct place **at = &names->places[i]; *at;) {
            struct place *place = *at;

            if (vm && place->vm != vm) {
                at = &place->next;
                continue;
            }
            *at = place->next;
            free(place);
            names->nplaces--;
        }
    }
}

void names_free(struct names *names)
{
    if (!names)
        return;
    for (struct vm *vm = names->vms, *next; vm; vm = next) {
        next = vm->next;
        free_vm(vm);
    }
    forget_places(names, 0);
    free(names);
}

static struct vm *find_vm(struct names *names, uint32_t pid)
{
    for (struct vm *vm = names->vms; vm; vm = vm->next)
        if (vm->layout.vm == pid)
            return vm;
    return NULL;
}

/* NULL: not known. */
static const char *find_atom(const struct vm *vm, uint64_t index)
{
    return vm ? otp_atoms_text(vm->atoms, index) : NULL;
}

int names_add(struct names *names, const struct otp_layout *layout)
{
    const uint16_t *off = layout->off;
    struct otp_code_layout code = {
        .info_mfa = off[OTP_CODE_INFO_MFA], .info_size = off[OTP_CODE_INFO_SIZE],
        .nfunctions = off[OTP_CODE_NFUNCTIONS], .functions = off[OTP_CODE_FUNCTIONS], .lines = off[OTP_CODE_LINES],
        .fnames = off[OTP_LINES_FNAMES], .loc_size = off[OTP_LINES_LOC_SIZE], .loc = off[OTP_LINES_LOC],
        .lines_functions = off[OTP_LINES_FUNCTIONS]};
    struct vm *vm = calloc(1, sizeof *vm), **at;
    int err;

    if (!vm)
        return -ENOMEM;
    for (at = &names->vms; *at && (*at)->layout.vm != layout->vm;)
        at = &(*at)->next;
    if (*at) {
        struct vm *old = *at;

        *at = old->next;
        free_vm(old);
        forget_places(names, layout->vm);
    }
    vm->layout = *layout;
    vm->layouts = -1;
    err = memory_open((int)layout->vm, &vm->memory);
    if (!err)
        err = otp_code_new(vm->memory, &code, &vm->code);
    if (!err)
        err = otp_atoms_new(&vm->layout, memory_file(vm->memory), &vm->atoms);
    if (err) {
        free_vm(vm);
        return err;
    }
    vm->next = names->vms;
    names->vms = vm;
    return 0;
}

void names_follow(struct names *names, uint32_t pid, int layouts, uint32_t slot)
{
    struct vm *vm = find_vm(names, pid);

    if (vm) {
        vm->layouts = layouts;
        vm->slot = slot;
    }
}

uint64_t names_find_atom(struct names *names, uint32_t pid, const char *text)
{
    struct vm *vm = find_vm(names, pid);

    return vm ? otp_atoms_find(vm->atoms, text) : WIRE_NO_ATOM;
}

/* ---- texts */

struct text {
    char *bytes;
    size_t size, used;
};

static __attribute__((format(printf, 2, 3))) void append(struct text *t, const char *format, ...)
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

/* As Erlang prints it. */
static void append_atom(struct text *t, struct vm *vm, uint64_t index)
{
    const char *atom = find_atom(vm, index);

    if (index == WIRE_NO_ATOM) {
        append(t, "?");
    } else if (!atom) {
        append(t, "atom#%llu", (unsigned long long)index);
    } else if (is_plain(atom)) {
        append(t, "%s", atom);
    } else {
        append(t, "'");
        for (; *atom; atom++)
            append(t, *atom == '\'' || *atom == '\\' ? "\\%c" : "%c", *atom);
        append(t, "'");
    }
}

static void append_mfa(struct text *t, struct vm *vm, uint64_t module, uint64_t function, uint64_t arity)
{
    append_atom(t, vm, module);
    append(t, ":");
    append_atom(t, vm, function);
    append(t, arity < 255 ? "/%llu" : "/?", (unsigned long long)arity);
}

static void append_reason(struct text *t, struct vm *vm, const struct wire_name *name)
{
    static const char *const shapes[] = {
#define SHAPE(name, text) text,
        WIRE_SHAPES(SHAPE)
#undef SHAPE
    };
    static const struct {
        const char *before, *behind;
    } holders[] = {{"", ""},
#define HOLDER(name, before, behind) {before, behind},
                   WIRE_HOLDERS(HOLDER)
#undef HOLDER
    };
    enum { SHAPES = sizeof shapes / sizeof *shapes, HOLDERS = sizeof holders / sizeof *holders };
    uint64_t shape = name->words[0], outer = name->words[2] & 0xff, inner = name->words[2] >> 8 & 0xff;

    outer = outer < HOLDERS ? outer : 0;
    inner = inner < HOLDERS ? inner : 0;
    append(t, "%s%s", holders[outer].before, holders[inner].before);
    if (shape == WIRE_ATOM && name->form == WIRE_REASON_TEXT)
        append(t, "%.*s", WIRE_REASON_TEXT_BYTES, name->text + 3 * sizeof *name->words);
    else if (shape == WIRE_ATOM)
        append_atom(t, vm, name->words[1]);
    else if (shape == WIRE_SMALL)
        append(t, "%lld", (long long)name->words[1]);
    else
        append(t, "%s", shape < SHAPES ? shapes[shape] : "?");
    append(t, "%s%s", holders[inner].behind, holders[outer].behind);
}

static struct place **find_place(struct names *names, uint32_t vm, uint64_t address, uint64_t purges)
{
    uint64_t hash = (address ^ vm ^ purges << 48) * 0x9e3779b97f4a7c15u; /* 2^64 by the golden ratio */
    struct place **at = &names->places[hash >> 52];

    while (*at && ((*at)->address != address || (*at)->purges != purges || (*at)->vm != vm))
        at = &(*at)->next;
    return at;
}

static const char *keep_place(struct names *names, const struct place *key, const struct text *text)
{
    struct place *place = names->nplaces < MAX_PLACES ? malloc(sizeof *place + text->used + 1) : NULL;

    if (!place)
        return NULL;
    *place = *key;
    memcpy(place->text, text->bytes, text->used + 1);
    *find_place(names, key->vm, key->address, key->purges) = place;
    names->nplaces++;
    return place->text;
}

/* Whether code that was there after so many purges still is. */
static bool is_there(const struct vm *vm, uint64_t purges)
{
    struct otp_layout now;

    return vm->layouts < 0 || (!bpf_map_lookup_elem(vm->layouts, &vm->slot, &now) && now.purges == (uint32_t)purges);
}

/* The function that held the address after so many purges. NULL: none, or nobody asked in time. */
static const char *name_place(struct names *names, uint32_t pid, uint64_t address, uint64_t purges)
{
    const struct place *place = *find_place(names, pid, address, purges);
    struct vm *vm = find_vm(names, pid);
    struct otp_code_place found;
    char bytes[4 * OTP_ATOM_BYTES];
    struct text text = {bytes, sizeof bytes, 0};

    if (place)
        return place->text;
    if (!vm || otp_code_find(vm->code, address, &found))
        return NULL;
    append_mfa(&text, vm, found.module >> 6, found.function >> 6, found.arity);
    return is_there(vm, purges) ? keep_place(names, &(struct place){.vm = pid, .address = address, .purges = purges}, &text) : NULL;
}

struct otp_code *names_code(struct names *names, uint32_t vm)
{
    struct vm *found = find_vm(names, vm);

    return found ? found->code : NULL;
}

struct memory *names_memory(struct names *names, uint32_t vm)
{
    struct vm *found = find_vm(names, vm);

    return found ? found->memory : NULL;
}

void names_since(struct names *names, uint64_t time_ns)
{
    for (struct vm *vm = names->vms; vm; vm = vm->next)
        memory_since(vm->memory, time_ns);
}

const char *names_atom(struct names *names, uint32_t vm, uint64_t index)
{
    return find_atom(find_vm(names, vm), index);
}

void names_see(struct names *names, uint32_t vm, const struct wire_name *name)
{
    char text[WIRE_NAME_BYTES];

    names_text(names, vm, name, text, sizeof text);
}

const char *names_text(struct names *names, uint32_t pid, const struct wire_name *name, char *buf, size_t size)
{
    struct text text = {buf, size, 0};
    struct vm *vm = find_vm(names, pid);
    const char *place;

    buf[0] = '\0';
    switch (name->form) {
    case WIRE_TEXT: return name->text;
    case WIRE_MFA: append_mfa(&text, vm, name->words[0], name->words[1], name->words[2]); return buf;
    case WIRE_REASON:
    case WIRE_REASON_TEXT: append_reason(&text, vm, name); return buf;
    case WIRE_CODE:
        place = name_place(names, pid, name->words[0], name->words[1]);
        if (place)
            return place;
        append(&text, "0x%llx", (unsigned long long)name->words[0]);
        return buf;
    default: return "?";
    }
}
