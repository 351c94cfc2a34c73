/* SPDX-License-Identifier: Apache-2.0 */
/* Invariant: what is told of a VM comes from its memory; the VM is never stopped. */
#include "names.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/clock.h"
#include "erlvm_layout.h"
#include "event/event_text.h"
#include "otp_atoms.h"
#include "otp_code.h"
#include "otp_owner.h"
#include "snapshot_state.h"
#include "target/memory.h"
#include "target/target.h"

#include "../../bpf/event.h"
#include "common/term_text.h"

struct names_vm {
    struct names_vm *next;
    struct otp_layout layout;
    struct erlvm_layout ours; /* of an erlvm */
    struct memory *memory;
    struct otp_code *code;
    struct otp_atoms *atoms;
    int layouts, purged; /* the maps "otp_layouts" and "otp_purged", -1: not known */
    uint32_t slot;
    unsigned results; /* that may still name it; 0: it runs */
};

/* One that was counted before the end was noticed, and one with what was still to be read by then. */
enum { LAST_RESULTS = 2, OWN_NUMBER_MASK = 0xfffffff /* of a pid of an erlvm */ };

struct names {
    struct names_vm *vms;
};

struct names *names_new(void)
{
    return calloc(1, sizeof(struct names));
}

static void free_vm(struct names_vm *vm)
{
    otp_atoms_free(vm->atoms);
    otp_code_free(vm->code);
    memory_close(vm->memory);
    free(vm);
}

void names_free(struct names *names)
{
    if (!names)
        return;
    for (struct names_vm *vm = names->vms, *next; vm; vm = next) {
        next = vm->next;
        free_vm(vm);
    }
    free(names);
}

static struct names_vm *find_vm(struct names *names, uint32_t pid)
{
    for (struct names_vm *vm = names->vms; vm; vm = vm->next)
        if (vm->layout.vm == pid)
            return vm;
    return NULL;
}

/* NULL: not known. */
static const char *find_atom(const struct names_vm *vm, uint64_t index)
{
    return vm ? otp_atoms_text(vm->atoms, index) : NULL;
}

/* Takes the memory over, also when it fails. */
static int read_vm(const struct otp_layout *layout, const struct erlvm_layout *ours, struct memory *memory,
                   struct names_vm **out)
{
    const uint16_t *off = layout->off;
    struct otp_code_layout code = {
        .info_mfa = off[OTP_CODE_INFO_MFA], .info_size = off[OTP_CODE_INFO_SIZE],
        .nfunctions = off[OTP_CODE_NFUNCTIONS], .functions = off[OTP_CODE_FUNCTIONS], .lines = off[OTP_CODE_LINES],
        .fnames = off[OTP_LINES_FNAMES], .loc_size = off[OTP_LINES_LOC_SIZE], .loc = off[OTP_LINES_LOC],
        .lines_functions = off[OTP_LINES_FUNCTIONS], .native = layout->jit, .ours = NULL};
    struct names_vm *vm = calloc(1, sizeof *vm);
    int err;

    if (!vm) {
        memory_close(memory);
        return -ENOMEM;
    }
    vm->layout = *layout;
    if (ours) {
        vm->ours = *ours;
        code.ours = &vm->ours;
    }
    vm->layouts = vm->purged = -1;
    vm->memory = memory;
    err = otp_atoms_new(&vm->layout, memory_file(vm->memory), &vm->atoms);
    if (!err) {
        uint64_t own = otp_atoms_find(vm->atoms, "erts_beamasm");

        code.own = own == WIRE_NO_ATOM ? 0 : own << 6 | OTP_TAG_ATOM;
        err = otp_code_new(vm->memory, &code, &vm->code);
    }
    if (err)
        free_vm(vm);
    else
        *out = vm;
    return err;
}

int names_read(const struct otp_layout *layout, const struct erlvm_layout *ours, struct names_vm **out)
{
    struct memory *memory;
    int err = memory_open((int)layout->vm, &memory);

    if (!err)
        err = read_vm(layout, ours, memory, out);
    if (!err)
        otp_code_follow((*out)->code, &(struct otp_code_purges){NULL, NULL, NULL});
    return err;
}

static void forget_vm(struct names *names, uint32_t pid)
{
    struct names_vm **at = &names->vms, *old;

    while (*at && (*at)->layout.vm != pid)
        at = &(*at)->next;
    old = *at;
    if (!old)
        return;
    *at = old->next;
    free_vm(old);
}

void names_take(struct names *names, struct names_vm *vm)
{
    forget_vm(names, vm->layout.vm);
    memory_since(vm->memory, clock_ns(CLOCK_MONOTONIC)); /* it may have been read a while ago */
    vm->next = names->vms;
    names->vms = vm;
}

void names_leave(struct names_vm *vm)
{
    if (vm)
        free_vm(vm);
}

int names_add(struct names *names, const struct otp_layout *layout, const struct erlvm_layout *ours)
{
    struct memory *memory;
    int err = memory_open((int)layout->vm, &memory);

    return err ? err : names_add_memory(names, layout, ours, memory);
}

int names_add_memory(struct names *names, const struct otp_layout *layout, const struct erlvm_layout *ours,
                     struct memory *memory)
{
    struct names_vm *vm;
    int err;

    forget_vm(names, layout->vm);
    err = read_vm(layout, ours, memory, &vm);
    if (!err)
        names_take(names, vm);
    return err;
}

void names_end(struct names *names, uint32_t pid)
{
    struct names_vm *vm = find_vm(names, pid);

    if (vm)
        vm->results = LAST_RESULTS;
}

void names_end_result(struct names *names)
{
    for (struct names_vm **at = &names->vms, *vm; (vm = *at);) {
        if (!vm->results || --vm->results) {
            at = &vm->next;
            continue;
        }
        *at = vm->next;
        free_vm(vm);
    }
}

/* ---- purges */

static uint64_t count_purges(void *ctx)
{
    const struct names_vm *vm = ctx;
    struct otp_layout now;

    return vm->layouts < 0 || bpf_map_lookup_elem(vm->layouts, &vm->slot, &now) ? 0 : now.purges;
}

/*
 * What is left in the map of a VM that had the slot before has a number that is too high, or only makes us look again.
 */
static uint64_t last_purge(void *ctx, uint64_t module)
{
    const struct names_vm *vm = ctx;
    struct otp_purge_key key = {vm->slot, (uint32_t)(module >> 6)};
    struct otp_layout now;
    uint64_t last = 0;

    if (vm->layouts < 0 || bpf_map_lookup_elem(vm->purged, &key, &last))
        last = 0;
    if (vm->layouts < 0 ||
        bpf_map_lookup_elem(vm->layouts, &vm->slot, &now)) /* in this order: a purge is numbered first */
        return 0;
    return last > now.purged_others && last <= now.purges ? last : now.purged_others;
}

void names_follow(struct names *names, uint32_t pid, int layouts, int purged, uint32_t slot)
{
    struct names_vm *vm = find_vm(names, pid);

    if (!vm)
        return;
    vm->layouts = purged < 0 ? -1 : layouts;
    vm->purged = purged;
    vm->slot = slot;
    otp_code_follow(vm->code, &(struct otp_code_purges){count_purges, last_purge, vm});
}

uint64_t names_find_atom(struct names *names, uint32_t pid, const char *text)
{
    struct names_vm *vm = find_vm(names, pid);

    return vm ? otp_atoms_find(vm->atoms, text) : WIRE_NO_ATOM;
}

/* ---- texts */

/* An atom that a VM made just before it ended has no text any more. */
static void append_atom(struct term_text *t, struct names_vm *vm, uint64_t index)
{
    const char *text = index == WIRE_NO_ATOM ? NULL : find_atom(vm, index);

    if (index == WIRE_NO_ATOM)
        term_text_add(t, "?");
    else if (!text && (!vm || !target_lives((int)vm->layout.vm)))
        term_text_add(t, "(atom of an ended VM)");
    else
        term_text_atom(t, text, index);
}

static void append_mfa(struct term_text *t, struct names_vm *vm, uint64_t module, uint64_t function, uint64_t arity)
{
    const char *of = module == WIRE_NO_ATOM ? NULL : find_atom(vm, module);
    const char *name = function == WIRE_NO_ATOM ? NULL : find_atom(vm, function);

    append_atom(t, vm, module);
    term_text_separator(t, of);
    if (name)
        term_text_function(t, of, name, function);
    else
        append_atom(t, vm, function);
    term_text_arity(t, arity);
}

static void append_reason(struct term_text *t, struct names_vm *vm, const struct wire_name *name)
{
    uint64_t shape = name->words[0];
    char printed[WIRE_REASON_TEXT_BYTES + 1];

    term_text_open(t, name->words[2]);
    if (shape == WIRE_ATOM && name->form == WIRE_REASON_TEXT) {
        snprintf(printed, sizeof printed, "%.*s", WIRE_REASON_TEXT_BYTES, name->text + 3 * sizeof *name->words);
        term_text_respell(t, printed);
    } else if (shape == WIRE_ATOM)
        append_atom(t, vm, name->words[1]);
    else if (shape == WIRE_SMALL)
        term_text_add(t, "%lld", (long long)name->words[1]);
    else
        term_text_shape(t, shape);
    term_text_close(t, name->words[2]);
}

int names_place(struct names *names, uint32_t pid, uint64_t address, uint64_t purges, struct otp_code_place *place,
                char *buf, size_t size)
{
    struct term_text text = {buf, size, 0};
    struct names_vm *vm = find_vm(names, pid);
    int err = vm ? otp_code_find(vm->code, address, purges, place) : -ESRCH;

    if (err)
        term_text_add(&text, "0x%llx", (unsigned long long)address);
    else if (place->kind == OTP_CODE_FUNCTION)
        append_mfa(&text, vm, place->module >> 6, place->function >> 6, place->arity);
    else
        term_text_add(&text, place->kind == OTP_CODE_SHARED ? EVENT_TEXT_SHARED : EVENT_TEXT_UNKNOWN);
    return err;
}

struct otp_code *names_code(struct names *names, uint32_t vm)
{
    struct names_vm *found = find_vm(names, vm);

    return found ? found->code : NULL;
}

struct memory *names_memory(struct names *names, uint32_t vm)
{
    struct names_vm *found = find_vm(names, vm);

    return found ? found->memory : NULL;
}

void names_since(struct names *names, uint64_t time_ns)
{
    for (struct names_vm *vm = names->vms; vm; vm = vm->next)
        memory_since(vm->memory, time_ns);
}

void names_keep_up(struct names *names)
{
    for (struct names_vm *vm = names->vms; vm; vm = vm->next)
        if (!vm->results)
            otp_atoms_keep_up(vm->atoms);
}

const char *names_atom(struct names *names, uint32_t vm, uint64_t index)
{
    return find_atom(find_vm(names, vm), index);
}

/* The number of the process that is there by now; 0: none. Source: erl_ptab.h of OTP; of an erlvm vm/layout.def. */
static ev_id read_pid(const struct names_vm *vm, uint64_t address)
{
    const struct otp_packing *p = &vm->layout.packing;
    uint64_t term;

    if (!memory_file_read(memory_file(vm->memory), address + vm->layout.off[OTP_PROC_ID], &term, sizeof term) ||
        (term & 0xf) != OTP_TAG_PID)
        return 0;
    if (vm->layout.is_ours)
        return ev_id_of_pid((uint32_t)(term >> 4) & OWN_NUMBER_MASK, (uint32_t)(term >> 32));
    term = snapshot_unpack(p, term);
    return ev_id_of_pid((uint32_t)(term & ((1ull << (p->number_bits & 63)) - 1)),
                        (uint32_t)(term >> (p->number_bits & 63)));
}

bool names_owner(struct names *names, uint32_t pid, uint64_t address, uint64_t id, bool by_call, struct wire_name *out)
{
    struct names_vm *vm = find_vm(names, pid);
    struct wire_name all[OTP_OWNER_NAMES];
    const struct wire_name *called;
    struct otp_owner owner;
    ev_id found = vm && address ? read_pid(vm, address) : 0;

    if (!found || (id && found != id))
        return false;
    otp_owner_init(&owner, &vm->layout, vm->layout.is_ours ? &vm->ours : NULL, names);
    called = otp_owner_read(&owner, address, all);
    if (by_call)
        called = all[OTP_OWNER_CALL].form != WIRE_TEXT ? &all[OTP_OWNER_CALL] : NULL;
    *out = called ? *called : (struct wire_name){.form = WIRE_PROCESS, .words = {found}};
    return read_pid(vm, address) == found;
}

size_t names_atoms(struct names *names, uint32_t vm)
{
    struct names_vm *found = find_vm(names, vm);

    return found ? otp_atoms_count(found->atoms) : 0;
}

/* Of another node notes tell the node's number, and nothing else does. */
static void append_process(struct term_text *out, ev_id id)
{
    if (ev_id_kind(id) != BATCH_REMOTE)
        term_text_add(out, "<0.%u.%u>", ev_id_number(id), ev_id_serial(id));
    else if (ev_id_serial(id) != WIRE_NO_ATOM)
        term_text_add(out, "<%u.%u.0>", ev_id_serial(id), ev_id_number(id));
    else
        term_text_add(out, "<another node>");
}

void names_see(struct names *names, uint32_t vm, const struct wire_name *name)
{
    char text[WIRE_NAME_BYTES];

    names_text(names, vm, name, text, sizeof text);
}

const char *names_text(struct names *names, uint32_t pid, const struct wire_name *name, char *buf, size_t size)
{
    struct term_text text = {buf, size, 0};
    struct names_vm *vm = find_vm(names, pid);
    struct otp_code_place place;
    const char *atom;

    buf[0] = '\0';
    switch (name->form) {
    case WIRE_TEXT: term_text_respell(&text, name->text); return buf;
    case WIRE_MFA: append_mfa(&text, vm, name->words[0], name->words[1], name->words[2]); return buf;
    case WIRE_REASON:
    case WIRE_REASON_TEXT: append_reason(&text, vm, name); return buf;
    case WIRE_PROCESS: append_process(&text, name->words[0]); return buf;
    case WIRE_PORT_NAME:
        snprintf(buf, size, "#Port<0.%llu>%s%.*s", (unsigned long long)ev_id_rest(name->words[0]),
                 name->text[8] ? " " : "", WIRE_NAME_BYTES - 8,
                 name->text + 8);
        return buf;
    case WIRE_NODE:
        atom = name->words[0] == WIRE_NO_ATOM ? NULL : find_atom(vm, name->words[0]);
        return atom ? atom : "?";
    case WIRE_CALLBACK: event_text_callback(&text, name); return buf;
    case WIRE_TABLE:
        append_atom(&text, vm, name->words[1]);
        term_text_add(&text, " %s", event_text_operation(name->words[0]));
        return buf;
    case WIRE_TABLE_TEXT: event_text_table(&text, name); return buf;
    case WIRE_CODE:
        names_place(names, pid, name->words[0], name->words[1], &place, buf, size);
        return buf;
    default: return "?";
    }
}
