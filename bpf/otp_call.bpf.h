/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What a process of a stock emulator is to do: its initial call, told as proc_lib:translate_initial_call/1 tells it.
 * Source: proc_lib.erl, gen.erl and supervisor.erl of OTP's stdlib; erl_process_dict.c of its emulator.
 */
#ifndef BPF_OTP_CALL_BPF_H
#define BPF_OTP_CALL_BPF_H

#include "otp.bpf.h"

/* A function by the terms of its names, and its arity. */
struct otp_call {
    __u64 module, function, arity;
};

/* The elements of a tuple of three; false for another term. */
static __always_inline bool otp_read_triple(__u64 term, __u64 *elements)
{
    __u64 tuple[4];

    if ((term & 3) != OTP_TAG_BOXED || bpf_probe_read_user(tuple, sizeof tuple, (void *)(term & ~7ull)) ||
        tuple[0] != 3 << 6)
        return false;
    __builtin_memcpy(elements, tuple + 1, 3 * sizeof *elements);
    return true;
}

/* What erts_internal:spawn_init/1 is to apply: its argument is {module, function, arguments}. Returns the arguments. */
static __always_inline __u64 otp_call_applied(struct otp_call *call, __u64 args)
{
    __u64 argument, applied[3];

    if (!otp_read_list(args, &argument, 1) || !otp_read_triple(argument, applied))
        return args;
    call->module = applied[0];
    call->function = applied[1];
    return applied[2];
}

/*
 * A behaviour's process is that of its callback module: Module:init/1, or supervisor:Module/1; without one, as
 * gen_event, gen:init_it's.
 */
FIXES_GLOBAL int otp_call_behaviour(const struct otp_layout *layout, struct otp_call *call, __u64 args)
{
    __u64 words[6] = {0}, child[3]; /* behaviour, starter, parent, (name,) module, argument */
    __u32 named = call && call->arity == 7;

    if (!layout || !call || !otp_read_list(args, words, 6))
        return 0;
    call->module = named ? words[4] : words[3];
    call->function = otp_known_atom(layout, OTP_KNOWN_INIT);
    call->arity = 1;
    if (otp_is(layout, call->module, OTP_KNOWN_SUPERVISOR) && otp_read_triple(named ? words[5] : words[4], child))
        call->function = child[1];
    if (otp_is(layout, call->module, OTP_KNOWN_NO_CALLBACK)) {
        call->module = words[0];
        call->function = otp_known_atom(layout, OTP_KNOWN_INIT_IT);
        call->arity = 6;
    }
    return 0;
}

/* What proc_lib:init_p(parent, ancestors, module, function, arguments) is to apply. */
FIXES_GLOBAL int otp_call_proc_lib(const struct otp_layout *layout, struct otp_call *call, __u64 args)
{
    __u64 words[5];

    if (!layout || !call || !otp_read_list(args, words, 5))
        return 0;
    call->module = words[2];
    call->function = words[3];
    call->arity = otp_list_length(words[4]);
    if (otp_is(layout, call->module, OTP_KNOWN_GEN) && otp_is(layout, call->function, OTP_KNOWN_INIT_IT) &&
        (call->arity == 6 || call->arity == 7))
        otp_call_behaviour(layout, call, words[4]);
    return 0;
}

/*
 * What a process begins with that is spawned to apply call->function of call->module to the list `args`. Sets all of
 * *call.
 */
static __always_inline void otp_call_translate(const struct otp_layout *layout, struct otp_call *call, __u64 args)
{
    if (otp_is(layout, call->function, OTP_KNOWN_SPAWN_INIT))
        args = otp_call_applied(call, args);
    call->arity = otp_list_length(args);
    if (call->arity == 5 && otp_is(layout, call->function, OTP_KNOWN_INIT_P) &&
        otp_is(layout, call->module, OTP_KNOWN_PROC_LIB))
        otp_call_proc_lib(layout, call, args);
}

/* ---- of a process that runs: proc_lib keeps it in the process dictionary */

/* ProcDict: linear hashing; a slot is a pair {key, value}, a list of pairs, or nil. */
struct otp_dict {
    __u32 mask, used, size, split;
    __u64 n;
};

/* Whether the term is the pair of this key, which gives *value. */
static __always_inline bool otp_dict_pair(__u64 term, __u64 key, __u64 *value)
{
    __u64 tuple[3];

    if ((term & 3) != OTP_TAG_BOXED || bpf_probe_read_user(tuple, sizeof tuple, (void *)(term & ~7ull)) ||
        tuple[0] != 2 << 6 || tuple[1] != key)
        return false;
    *value = tuple[2];
    return true;
}

/* The value of an atom in the dictionary of an erlvm's process; 0: none. Open addressing. Source: vm/proc/dict.c,
 * hash_word of vm/base/hash.h. */
FIXES_GLOBAL __u64 otp_dict_get_ours(const struct otp_layout *layout, __u64 process, __u64 key)
{
    enum { MOST_TRIES = 16 };
    __u64 at = 0, pair[2], hash = key ^ key >> 32;
    __u32 room = 0;

    hash *= 0x9e3779b97f4a7c15ull;
    hash = (hash ^ hash >> 29) * 0xbf58476d1ce4e5b9ull;
    hash ^= hash >> 32;
    if (!layout || otp_read(layout, process, OTP_PROC_DICTIONARY, &at, sizeof at) || !at ||
        bpf_probe_read_user(&room, sizeof room, (void *)(at + layout->ours.room)))
        return 0;
    for (__u32 i = 0; i < MOST_TRIES; i++, hash++) {
        if (bpf_probe_read_user(pair, sizeof pair,
                                (void *)(at + layout->ours.pairs + ((__u32)hash & (room - 1)) * sizeof pair)) ||
            !pair[0])
            return 0;
        if (pair[0] == key)
            return pair[1];
    }
    return 0;
}

/* The value of an atom in the dictionary of a stock emulator's process; 0: none. */
FIXES_GLOBAL __u64 otp_dict_get(const struct otp_layout *layout, __u64 process, __u64 key)
{
    __u64 at = 0, slot = 0, cell[2], value = 0, index = key >> 6;
    struct otp_dict dict;

    if (!layout || otp_read(layout, process, OTP_PROC_DICTIONARY, &at, sizeof at) || !at ||
        bpf_probe_read_user(&dict, sizeof dict, (void *)at))
        return 0;
    index &= dict.mask;
    if (index >= dict.used)
        index &= dict.mask >> 1;
    if (bpf_probe_read_user(&slot, sizeof slot, (void *)(at + sizeof dict + index * sizeof slot)) ||
        otp_dict_pair(slot, key, &value))
        return value;
    for (int i = 0; i < 8 && (slot & 3) == OTP_TAG_LIST; i++) {
        if (bpf_probe_read_user(cell, sizeof cell, (void *)(slot & ~7ull)) || otp_dict_pair(cell[0], key, &value))
            return value;
        slot = cell[1];
    }
    return 0;
}

/*
 * The label of the process at `process`, a term (proc_lib:set_label/1 of OTP 27 and later); 0: it has none.
 */
static __always_inline __u64 otp_label(const struct otp_layout *layout, __u64 process)
{
    __u64 key = otp_known_atom(layout, OTP_KNOWN_PROCESS_LABEL);

    if (layout->known[OTP_KNOWN_PROCESS_LABEL] == (__u32)WIRE_NO_ATOM)
        return 0;
    return layout->is_ours ? otp_dict_get_ours(layout, process, key) : otp_dict_get(layout, process, key);
}

/* The registered name of a process, or else its label if that is an atom: the atom's index; WIRE_NO_ATOM: neither. */
static __always_inline __u64 otp_name_or_label(const struct otp_layout *layout, __u64 process)
{
    __u64 name = otp_atom(otp_registered(layout, process));

    return name == WIRE_NO_ATOM ? otp_atom(otp_label(layout, process)) : name;
}

/*
 * The initial call of a process: what it was spawned with, or what proc_lib is to do in it once it says so. A process
 * that ends has lost the module of what it was spawned with, but not yet what proc_lib said. Returns false of one that
 * proc_lib runs without saying what.
 */
static __always_inline bool otp_call_of_process(const struct otp_layout *layout, __u64 process, struct otp_call *call)
{
    __u64 triple[3], key = otp_known_atom(layout, OTP_KNOWN_INITIAL_CALL);

    otp_read(layout, process, OTP_PROC_INITIAL, call, sizeof *call);
    if ((call->module && !otp_is(layout, call->module, OTP_KNOWN_PROC_LIB)) ||
        !otp_is(layout, call->function, OTP_KNOWN_INIT_P))
        return true;
    if (!otp_read_triple(layout->is_ours ? otp_dict_get_ours(layout, process, key) : otp_dict_get(layout, process, key),
                         triple))
        return false;
    call->module = triple[0];
    call->function = triple[1];
    call->arity = triple[2] >> 4;
    return true;
}

/*
 * A native that is called once more, on a dirty scheduler say, has a place for the process to resume at, and its name
 * before that, as every function has before its code. Machine code has no two atoms and a number so small one behind
 * the other. Source: ErtsNativeFunc.
 */
static __always_inline void otp_name_native(const struct otp_layout *layout, __u64 resume, struct name_text *name)
{
    struct otp_call call = {0};

    if (!layout->jit || bpf_probe_read_user(&call, sizeof call, (void *)(resume - sizeof call)) ||
        call.arity > OTP_MAX_ARITY || otp_atom(call.module) == WIRE_NO_ATOM || otp_atom(call.function) == WIRE_NO_ATOM)
        return;
    otp_name_mfa(name, call.module, call.function, call.arity);
}

/*
 * Where the process at `process` goes on when it is scheduled: one that begins at what it is to do, one that wakes from
 * hibernation at what it applies, one that called a native which is not done in that native.
 */
static __always_inline void otp_name_resume(const struct otp_layout *layout, __u64 process, struct name_text *name)
{
    struct otp_call call = {0};
    __u64 args[3] = {0};

    name->form = WIRE_CODE;
    name->words[0] = 0;
    name->words[1] = layout->purges;
    name->used = 16;
    if (otp_read(layout, process, OTP_PROC_I, name->words, 8))
        return;
    if (!layout->apply || name->words[0] != layout->apply) {
        otp_name_native(layout, name->words[0], name);
        return;
    }
    if (otp_read(layout, process, OTP_PROC_ARGS, args, 8) || bpf_probe_read_user(args, sizeof args, (void *)args[0]))
        return;
    call = (struct otp_call){args[0], args[1], 0};
    otp_call_translate(layout, &call, args[2]);
    otp_name_mfa(name, call.module, call.function, call.arity);
}

#endif
