/* SPDX-License-Identifier: Apache-2.0 */
/* Invariant: what is read of a process is believed only when its pid is that of the slot it was found in. */
#include "owners.h"

#include <errno.h>
#include <string.h>

#include "memory.h"
#include "otp_atoms.h"
#include "otp_vm.h"

enum { MAX_PROCESSES = 1 << 20, MAX_PAIRS = 4096, ALL_PAIRS = 1 << 22, NUMBER_MASK = 0xfffffff, ATOM_SHIFT = 6,
       SMALL_SHIFT = 4 };

struct reader {
    const struct owners_ops *ops;
    const struct otp_layout *layout;
    const struct erlvm_layout *ours;
    struct memory *memory;
    struct otp_atoms *atoms;
    uint64_t proc_lib, init_p, initial_call; /* atoms, as terms */
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
static bool read_proc_lib(struct reader *r, uint64_t process, uint64_t call[3])
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

/* Its name in *out. Fails: false, it tells none. */
static bool read_name(struct reader *r, uint64_t process, struct wire_name *out)
{
    uint64_t registered, call[3], told[3];

    if (!read_member(r, process, OTP_PROC_REG, &registered, sizeof registered) ||
        !read_member(r, process, OTP_PROC_INITIAL, call, sizeof call))
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

static int tell_process(struct reader *r, uint64_t process, uint64_t slot)
{
    uint32_t state, exiting = r->ours->numbers[ERLVM_PROC_EXITING];
    struct wire_name name;
    uint64_t id;
    int err;

    if (!read_member(r, process, OTP_PROC_ID, &id, sizeof id) || (id & 0xf) != OTP_TAG_PID ||
        (id >> 4 & NUMBER_MASK) != slot || !read_member(r, process, OTP_PROC_STATE, &state, sizeof state) ||
        state & exiting || !read_name(r, process, &name))
        return 0;
    err = tell_atom(r, name.form == WIRE_MFA ? name.words[0] : name.words[1]);
    if (!err && name.form == WIRE_MFA)
        err = tell_atom(r, name.words[1]);
    if (!err)
        err = r->ops->owner(r->ops->ctx, r->layout->vm, ev_id_of_pid((uint32_t)slot, (uint32_t)(id >> 32)), &name);
    return err;
}

static int tell_all(struct reader *r)
{
    uint64_t table, used, process, root = r->ours->roots[LAYOUT_ROOM_PROCESSES];
    int err = 0;

    r->proc_lib = otp_atoms_find(r->atoms, "proc_lib") << ATOM_SHIFT | OTP_TAG_ATOM;
    r->init_p = otp_atoms_find(r->atoms, "init_p") << ATOM_SHIFT | OTP_TAG_ATOM;
    r->initial_call = otp_atoms_find(r->atoms, "$initial_call") << ATOM_SHIFT | OTP_TAG_ATOM;
    if (!read_member(r, r->layout->procs, OTP_PTAB_TAB, &table, sizeof table) ||
        memory_read(r->memory, root + r->ours->numbers[ERLVM_PROCS_USED], &used, sizeof used))
        return 0;
    for (uint64_t slot = 0; slot < used && slot < MAX_PROCESSES && !err; slot++)
        if (!memory_read(r->memory, table + slot * sizeof process, &process, sizeof process) && process)
            err = tell_process(r, process, slot);
    return err;
}

int owners_read(const struct target *t, const struct owners_ops *ops)
{
    struct reader r = {.ops = ops};
    struct otp_vm *vm = NULL;
    char why[160];

    if (!t->pid || t->provider->hooks || otp_vm_new(t, &vm, why, sizeof why))
        return 0;
    r.layout = &vm->layout;
    r.ours = vm->ours;

    int err = memory_open(t->pid, &r.memory), told = 0;

    if (!err)
        err = otp_atoms_new(r.layout, memory_file(r.memory), &r.atoms);
    if (!err)
        told = tell_all(&r);
    otp_atoms_free(r.atoms);
    if (r.memory)
        memory_close(r.memory);
    otp_vm_free(vm);
    return err == -ENOMEM ? err : told;
}
