/* SPDX-License-Identifier: Apache-2.0 */
/* Invariant: what is read of a process is believed only when its pid is that of the slot it was found in. */
#include "owners.h"

#include <errno.h>
#include <string.h>

#include "target/memory.h"
#include "otp_atoms.h"
#include "otp_registered.h"
#include "otp_vm.h"

enum { MAX_PROCESSES = 1 << 20, MAX_ATOMS = 1 << 16, MAX_PAIRS = 4096, MAX_CHAIN = 64, ALL_PAIRS = 1 << 22,
       NUMBER_MASK = 0xfffffff,
       ATOM_SHIFT = 6,
       SMALL_SHIFT = 4 };

struct reader {
    const struct owners_ops *ops;
    const struct otp_layout *layout;
    const struct erlvm_layout *ours; /* NULL: a stock emulator */
    struct memory *memory;
    struct otp_atoms *atoms;
    uint64_t proc_lib, init_p, initial_call; /* atoms, as terms */
    uint64_t invalid; /* what stands for a process of a stock emulator that is being made */
    uint32_t pairs; /* of dictionaries that were looked at: a VM that lies has large ones */
};

static bool read_member(const struct reader *r, uint64_t base, enum otp_field field, void *out, size_t size)
{
    return !memory_read(r->memory, base + r->layout->off[field], out, size);
}

static bool is_atom(uint64_t term)
{
    return (term & 0x3f) == OTP_TAG_ATOM;
}

/* The elements of a tuple of three. */
static bool read_triple(const struct reader *r, uint64_t term, uint64_t elements[3])
{
    uint64_t tuple[4];

    if ((term & 3) != OTP_TAG_BOXED || memory_read(r->memory, term & ~7ull, tuple, sizeof tuple) || tuple[0] != 3 << 6)
        return false;
    memcpy(elements, tuple + 1, 3 * sizeof *elements);
    return true;
}

/* What proc_lib is to do in the process, as it says in its dictionary: module, function and arity. */
static bool read_proc_lib_of_ours(struct reader *r, uint64_t process, uint64_t call[3])
{
    uint64_t dict, pair[2];
    uint32_t room;

    if (!read_member(r, process, OTP_PROC_DICTIONARY, &dict, sizeof dict) || !dict ||
        memory_read(r->memory, dict + r->ours->numbers[ERLVM_DICT_ROOM], &room, sizeof room))
        return false;
    for (uint32_t i = 0; i < room && i < MAX_PAIRS && r->pairs < ALL_PAIRS; i++, r->pairs++) {
        if (memory_read(r->memory, dict + r->ours->numbers[ERLVM_DICT_PAIRS] + i * sizeof pair, pair, sizeof pair))
            return false;
        if (pair[0] == r->initial_call)
            return read_triple(r, pair[1], call) && is_atom(call[0]) && is_atom(call[1]);
    }
    return false;
}

/* As of a ProcDict: linear hashing; a slot is a pair {key, value}, a list of pairs, or nil. Source:
 * bpf/otp_call.bpf.h. */
struct dict {
    uint32_t mask, used, size, split;
    uint64_t n;
};

static bool read_pair(const struct reader *r, uint64_t term, uint64_t *value)
{
    uint64_t tuple[3];

    if ((term & 3) != OTP_TAG_BOXED || memory_read(r->memory, term & ~7ull, tuple, sizeof tuple) ||
        tuple[0] != 2 << 6 ||
        tuple[1] != r->initial_call)
        return false;
    *value = tuple[2];
    return true;
}

static bool read_proc_lib_of_stock(struct reader *r, uint64_t process, uint64_t call[3])
{
    uint64_t at, slot, cell[2], value, index = r->initial_call >> ATOM_SHIFT;
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
        if (read_pair(r, cell[0], &value))
            return read_triple(r, value, call) && is_atom(call[0]) && is_atom(call[1]);
    }
    return read_pair(r, slot, &value) && read_triple(r, value, call) && is_atom(call[0]) && is_atom(call[1]);
}

static bool read_proc_lib(struct reader *r, uint64_t process, uint64_t call[3])
{
    return r->ours ? read_proc_lib_of_ours(r, process, call) : read_proc_lib_of_stock(r, process, call);
}

/* Its name in *out. Fails: false, it tells none. */
static bool read_name(struct reader *r, uint64_t process, struct wire_name *out)
{
    uint64_t registered, call[3], told[3];

    if (!otp_registered_name(r->memory, r->layout, process, &registered))
        registered = 0;
    if (!read_member(r, process, OTP_PROC_INITIAL, call, sizeof call))
        return false;
    *out = (struct wire_name){.form = WIRE_REASON, .words = {WIRE_ATOM, registered >> ATOM_SHIFT, 0}};
    if (is_atom(registered))
        return true;
    if (call[0] == r->proc_lib && call[1] == r->init_p && read_proc_lib(r, process, told)) {
        memcpy(call, told, sizeof call);
        call[2] >>= SMALL_SHIFT;
    }
    *out = (struct wire_name){.form = WIRE_MFA, .words = {call[0] >> ATOM_SHIFT, call[1] >> ATOM_SHIFT, call[2]}};
    return is_atom(call[0]) && is_atom(call[1]) && call[2] <= 255;
}

static int tell_atom(const struct reader *r, uint64_t index)
{
    const char *text = otp_atoms_text(r->atoms, index);

    return text ? r->ops->atom(r->ops->ctx, r->layout->vm, index, text, strlen(text)) : 0;
}

/* Number and serial of a pid: struct otp_packing. */
static ev_id read_id(const struct reader *r, uint64_t term)
{
    const struct otp_packing *p = &r->layout->packing;
    uint64_t x = term >> 4, d;

    d = (x & ~p->pix_mask) | (x >> (p->cl_shift & 63) & p->cl_mask) | (x & p->cli_mask) << (p->cli_shift & 63);
    d &= p->data_mask;
    return ev_id_of_pid((uint32_t)(d & ((1ull << (p->number_bits & 63)) - 1)), (uint32_t)(d >> (p->number_bits & 63)));
}

static uint32_t exiting_bits(const struct reader *r)
{
    if (r->ours)
        return r->ours->numbers[ERLVM_PROC_EXITING];
    return 1u << (r->layout->off[OTP_STATE_EXITING] & 31) | 1u << (r->layout->off[OTP_STATE_FREE] & 31);
}

/* Where the process is in the table tells its number in an erlvm. */
static bool read_process(const struct reader *r, uint64_t process, uint64_t slot, ev_id *out)
{
    uint32_t state;
    uint64_t id;

    if (!read_member(r, process, OTP_PROC_ID, &id, sizeof id) || (id & 0xf) != OTP_TAG_PID ||
        !read_member(r, process, OTP_PROC_STATE, &state, sizeof state) || state & exiting_bits(r))
        return false;
    *out = r->ours ? ev_id_of_pid((uint32_t)slot, (uint32_t)(id >> 32)) : read_id(r, id);
    return !r->ours || (id >> 4 & NUMBER_MASK) == slot;
}

static int tell_process(struct reader *r, uint64_t process, uint64_t slot)
{
    struct wire_name name;
    ev_id id;
    int err;

    if (!read_process(r, process, slot, &id) || !read_name(r, process, &name))
        return 0;
    err = tell_atom(r, name.form == WIRE_MFA ? name.words[0] : name.words[1]);
    if (!err && name.form == WIRE_MFA)
        err = tell_atom(r, name.words[1]);
    return err ? err : r->ops->owner(r->ops->ctx, r->layout->vm, id, &name);
}

/* How many slots of the table may hold one. */
static bool read_used(const struct reader *r, uint64_t *used)
{
    uint32_t most;

    if (r->ours)
        return !memory_read(r->memory, r->ours->roots[LAYOUT_ROOM_PROCESSES] + r->ours->numbers[ERLVM_PROCS_USED],
                            used, sizeof *used);
    if (!read_member(r, r->layout->procs, OTP_PTAB_MAX, &most, sizeof most))
        return false;
    *used = most;
    return true;
}

/* All of them, or those by which views tell orderly ends from others: they are to know these before the first end. */
static int tell_atoms(const struct reader *r)
{
    static const char *const orderly[] = {"normal", "shutdown"};
    size_t count = otp_atoms_count(r->atoms);
    int err = 0;

    for (size_t i = 0; i < sizeof orderly / sizeof *orderly && !err; i++)
        err = tell_atom(r, otp_atoms_find(r->atoms, orderly[i]));
    for (size_t i = 0; r->ops->all_atoms && i < count && i < MAX_ATOMS && !err; i++)
        err = tell_atom(r, i);
    return err;
}

static int tell_processes(struct reader *r)
{
    uint64_t table, used, process;
    int err = 0;

    r->proc_lib = otp_atoms_find(r->atoms, "proc_lib") << ATOM_SHIFT | OTP_TAG_ATOM;
    r->init_p = otp_atoms_find(r->atoms, "init_p") << ATOM_SHIFT | OTP_TAG_ATOM;
    r->initial_call = otp_atoms_find(r->atoms, "$initial_call") << ATOM_SHIFT | OTP_TAG_ATOM;
    if (!read_member(r, r->layout->procs, OTP_PTAB_TAB, &table, sizeof table) ||
        !read_used(r, &used) ||
        (!r->ours && !read_member(r, r->layout->procs, OTP_PTAB_INVALID, &r->invalid, sizeof r->invalid)))
        return 0;
    for (uint64_t slot = 0; slot < used && slot < MAX_PROCESSES && !err; slot++)
        if (!memory_read(r->memory, table + slot * sizeof process, &process, sizeof process) && process &&
            process != r->invalid)
            err = tell_process(r, process, slot);
    return err;
}

int owners_read(const struct target *t, const struct owners_ops *ops)
{
    struct reader r = {.ops = ops};
    struct otp_vm *vm = NULL;
    char why[160];

    if (!t->pid || otp_vm_new(t, &vm, why, sizeof why))
        return 0;
    r.layout = &vm->layout;
    r.ours = vm->ours;

    int err = memory_open(t->pid, &r.memory), told = 0;

    if (!err)
        err = otp_atoms_new(r.layout, memory_file(r.memory), &r.atoms);
    if (!err)
        told = tell_atoms(&r);
    if (!err && !told && ops->owner)
        told = tell_processes(&r);
    otp_atoms_free(r.atoms);
    if (r.memory)
        memory_close(r.memory);
    otp_vm_free(vm);
    return err == -ENOMEM ? err : told;
}
