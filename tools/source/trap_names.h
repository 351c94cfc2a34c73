/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Names as notes and hooks tell them (texts, addresses, numbers of the VM's own) become those of pages of events: atoms
 * by a number that is given here, VM by VM. Texts are untrusted. Invariant: a number is one atom's for as long as the
 * VM is not forgotten.
 */
#ifndef TOOLS_TRAP_NAMES_H
#define TOOLS_TRAP_NAMES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/wire_user.h"

#include "../../bpf/event.h"

struct trap_names;

struct trap_names_ops {
    /*
     * What a WIRE_CODE is, by the VM's numbers: WIRE_MFA; of code that is no function's WIRE_TEXT, what it is called.
     * False: nothing is known of it.
     */
    bool (*code)(void *ctx, uint32_t vm, const struct wire_name *code, struct wire_name *out);
    /* The text of an atom of the VM by the VM's number; NULL: not known. */
    const char *(*atom)(void *ctx, uint32_t vm, uint64_t index);
    /* An atom that has a number from now on. */
    void (*told)(void *ctx, uint32_t vm, uint32_t index, const char *text, size_t bytes);
    void *ctx;
};

/* Owns: trap_names_free frees. NULL: out of memory. */
struct trap_names *trap_names_new(const struct trap_names_ops *ops);
void trap_names_free(struct trap_names *names);
/* The number of the atom, EV_NO_ATOM when there is no room. */
uint32_t trap_names_atom(struct trap_names *names, uint32_t vm, const char *text, size_t bytes);
/* A function's name; 0: it is none, such as an address of no function. */
ev_mfa trap_names_mfa(struct trap_names *names, uint32_t vm, const struct wire_name *name);
/* A term as it is counted, WIRE_REASON or WIRE_REASON_TEXT. */
ev_term trap_names_term(struct trap_names *names, uint32_t vm, const struct wire_name *name);
/* A node's name; 0: none. */
ev_node trap_names_node(struct trap_names *names, uint32_t vm, const struct wire_name *name);
/* Names that got no number, or were cut, for lack of room, since the beginning. */
uint64_t trap_names_lost(const struct trap_names *names);
void trap_names_forget(struct trap_names *names, uint32_t vm);

#endif
