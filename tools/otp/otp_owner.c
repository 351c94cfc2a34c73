/* SPDX-License-Identifier: Apache-2.0 */
/* Invariant: what is read of a VM is bounded before it is followed: a dictionary that lies costs a bounded time. */
#include "otp_owner.h"

#include <string.h>

#include "names.h"
#include "otp_registered.h"

enum { MAX_PAIRS = 4096, MAX_CHAIN = 64, ALL_PAIRS = 1 << 22, ATOM_SHIFT = 6, SMALL_SHIFT = 4 };

static bool read_member(const struct otp_owner *r, uint64_t base, enum otp_field field, void *out, size_t size)
{
    return !memory_read(r->memory, base + r->layout->off[field], out, size);
}

static bool is_atom(uint64_t term)
{
    return (term & 0x3f) == OTP_TAG_ATOM;
}

/* The elements of a tuple of three. */
static bool read_triple(const struct otp_owner *r, uint64_t term, uint64_t elements[3])
{
    uint64_t tuple[4];

    if ((term & 3) != OTP_TAG_BOXED || memory_read(r->memory, term & ~7ull, tuple, sizeof tuple) || tuple[0] != 3 << 6)
        return false;
    memcpy(elements, tuple + 1, 3 * sizeof *elements);
    return true;
}

/* The value of an atom in the dictionary of an erlvm's process. */
static bool read_dict_of_ours(struct otp_owner *r, uint64_t process, uint64_t key, uint64_t *value)
{
    uint64_t dict, pair[2];
    uint32_t room;

    if (!read_member(r, process, OTP_PROC_DICTIONARY, &dict, sizeof dict) || !dict ||
        memory_read(r->memory, dict + r->ours->numbers[ERLVM_DICT_ROOM], &room, sizeof room))
        return false;
    for (uint32_t i = 0; i < room && i < MAX_PAIRS && r->pairs < ALL_PAIRS; i++, r->pairs++) {
        if (memory_read(r->memory, dict + r->ours->numbers[ERLVM_DICT_PAIRS] + i * sizeof pair, pair, sizeof pair))
            return false;
        *value = pair[1];
        if (pair[0] == key)
            return true;
    }
    return false;
}

/* As of a ProcDict: linear hashing; a slot is a pair {key, value}, a list of pairs, or nil. Source:
 * bpf/otp_call.bpf.h. */
struct dict {
    uint32_t mask, used, size, split;
    uint64_t n;
};

static bool read_pair(const struct otp_owner *r, uint64_t term, uint64_t key, uint64_t *value)
{
    uint64_t tuple[3];

    if ((term & 3) != OTP_TAG_BOXED || memory_read(r->memory, term & ~7ull, tuple, sizeof tuple) ||
        tuple[0] != 2 << 6 ||
        tuple[1] != key)
        return false;
    *value = tuple[2];
    return true;
}

/* The same of a stock emulator's. */
static bool read_dict_of_stock(struct otp_owner *r, uint64_t process, uint64_t key, uint64_t *value)
{
    uint64_t at, slot, cell[2], index = key >> ATOM_SHIFT;
    struct dict dict;

    if (!read_member(r, process, OTP_PROC_DICTIONARY, &at, sizeof at) || !at ||
        memory_read(r->memory, at, &dict, sizeof dict))
        return false;
    index &= dict.mask;
    if (index >= dict.used)
        index &= dict.mask >> 1;
    if (memory_read(r->memory, at + sizeof dict + index * sizeof slot, &slot, sizeof slot))
        return false;
    for (uint32_t i = 0; i < MAX_CHAIN && (slot & 3) == OTP_TAG_LIST; i++) {
        if (memory_read(r->memory, slot & ~7ull, cell, sizeof cell))
            return false;
        slot = cell[1];
        if (read_pair(r, cell[0], key, value))
            return true;
    }
    return read_pair(r, slot, key, value);
}

static bool read_dict(struct otp_owner *r, uint64_t process, uint64_t key, uint64_t *value)
{
    return r->ours ? read_dict_of_ours(r, process, key, value) : read_dict_of_stock(r, process, key, value);
}

/* What proc_lib is to do in the process, as it says in its dictionary: module, function and arity. */
static bool read_proc_lib(struct otp_owner *r, uint64_t process, uint64_t call[3])
{
    uint64_t value;

    return read_dict(r, process, r->initial_call, &value) && read_triple(r, value, call) && is_atom(call[0]) &&
           is_atom(call[1]);
}

static uint64_t find_atom(struct names *names, uint32_t vm, const char *text)
{
    return names_find_atom(names, vm, text) << ATOM_SHIFT | OTP_TAG_ATOM;
}

void otp_owner_init(struct otp_owner *r, const struct otp_layout *layout, const struct erlvm_layout *ours,
                    struct names *names)
{
    *r = (struct otp_owner){.layout = layout,
                            .ours = ours,
                            .memory = names_memory(names, layout->vm),
                            .proc_lib = find_atom(names, layout->vm, "proc_lib"),
                            .init_p = find_atom(names, layout->vm, "init_p"),
                            .initial_call = find_atom(names, layout->vm, "$initial_call"),
                            .label = find_atom(names, layout->vm, "$process_label")};
}

static void read_call(struct otp_owner *r, uint64_t process, struct wire_name *out)
{
    uint64_t call[3], said[3];

    if (!read_member(r, process, OTP_PROC_INITIAL, call, sizeof call))
        return;
    if (call[0] == r->proc_lib && call[1] == r->init_p && read_proc_lib(r, process, said)) {
        memcpy(call, said, sizeof call);
        call[2] >>= SMALL_SHIFT;
    }
    if (is_atom(call[0]) && is_atom(call[1]) && call[2] <= 255)
        *out = (struct wire_name){.form = WIRE_MFA, .words = {call[0] >> ATOM_SHIFT, call[1] >> ATOM_SHIFT, call[2]}};
}

enum { BITS_HEADER = 0x20, BITS_DATA = 16 }; /* as of view_label_at of bpf/view_name.bpf.h */

/* A short binary's text, an atom, or what a tuple begins with if that is one: as views tell a label. */
static void read_label(struct otp_owner *r, uint64_t process, struct wire_name *out)
{
    uint64_t label, words[2] = {0}, holder = WIRE_NO_HOLDER;

    if (r->label >> ATOM_SHIFT == WIRE_NO_ATOM || !read_dict(r, process, r->label, &label))
        return;
    if ((label & 3) == OTP_TAG_BOXED && memory_read(r->memory, label & ~7ull, words, sizeof words))
        return;
    if (!r->ours && r->layout->release >= 27 && (words[0] & 0x3f) == BITS_HEADER) {
        size_t bytes = words[1] / 8 < sizeof out->text - 1 ? words[1] / 8 : sizeof out->text - 1;

        if (memory_read(r->memory, (label & ~7ull) + BITS_DATA, out->text, bytes))
            out->text[0] = '\0';
        return;
    }
    if ((label & 3) == OTP_TAG_BOXED && !(words[0] & 0x3f) && words[0] >> 6) {
        holder = words[0] >> 6 == 1 ? WIRE_TUPLE_OF_ONE : WIRE_TUPLE_OF_MORE;
        label = words[1];
    }
    if (is_atom(label))
        *out = (struct wire_name){.form = WIRE_REASON, .words = {WIRE_ATOM, label >> ATOM_SHIFT, holder}};
}

static void read_registered(struct otp_owner *r, uint64_t process, struct wire_name *out)
{
    uint64_t name;

    if (otp_registered_name(r->memory, r->layout, process, &name) && is_atom(name))
        *out = (struct wire_name){.form = WIRE_REASON, .words = {WIRE_ATOM, name >> ATOM_SHIFT, 0}};
}

const struct wire_name *otp_owner_read(struct otp_owner *r, uint64_t process, struct wire_name out[OTP_OWNER_NAMES])
{
    for (int i = 0; i < OTP_OWNER_NAMES; i++)
        out[i] = (struct wire_name){.form = WIRE_TEXT};
    read_call(r, process, &out[OTP_OWNER_CALL]);
    read_label(r, process, &out[OTP_OWNER_LABEL]);
    read_registered(r, process, &out[OTP_OWNER_REGISTERED]);
    for (int i = OTP_OWNER_NAMES; i-- > 0;)
        if (out[i].form != WIRE_TEXT || out[i].text[0])
            return &out[i];
    return NULL;
}
