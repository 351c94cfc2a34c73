/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Names that programs send as numbers (struct wire_name) become text: atoms from the atom table
 * of the emulator they come from, functions from its loaded code. What cannot be found is shown
 * as the number it is.
 */
#ifndef TOOLS_NAMES_H
#define TOOLS_NAMES_H

#include <stdbool.h>
#include <stddef.h>

#include "otp_user.h"

struct names;
struct names_vm;
struct memory;
struct otp_code;
struct otp_code_place;
struct erlvm_layout;

/* Owns: names_free frees. NULL: out of memory. */
struct names *names_new(void);
void names_free(struct names *names);
/* The index of an atom, WIRE_NO_ATOM when there is none; of a VM that was added. */
uint64_t names_find_atom(struct names *names, uint32_t vm, const char *text);
/*
 * A VM that names will come from, in place of what was known of its pid; `ours`: when it is an erlvm, else NULL. Reads
 * its atoms.
 * Fails: -errno. No message.
 */
int names_add(struct names *names, const struct otp_layout *layout, const struct erlvm_layout *ours);
/*
 * The same in two steps, the first of which takes its time, and may be on another thread than that of `names`; it looks
 * over the VM's code, too, for names_follow. Owns: names_take or names_leave takes *out over. Fails: -errno. No
 * message.
 */
int names_read(const struct otp_layout *layout, const struct erlvm_layout *ours, struct names_vm **out);
void names_take(struct names *names, struct names_vm *vm);
void names_leave(struct names_vm *vm);
/* The same of one whose memory is read by this, which it takes over, also when it fails. */
int names_add_memory(struct names *names, const struct otp_layout *layout, const struct erlvm_layout *ours,
                     struct memory *memory);
/*
 * From now on purges of the VM's code are looked up in the maps "otp_layouts" and "otp_purged", which stay the
 * caller's; -1: there is none. Reads where all its code is.
 */
void names_follow(struct names *names, uint32_t vm, int layouts, int purged, uint32_t slot);
/* The VM has ended: it is forgotten with the second result from now on, with the file and the memory it takes. */
void names_end(struct names *names, uint32_t vm);
/* A result was told. */
void names_end_result(struct names *names);
/* Looks the name up while its code is there, for names_text to tell later. */
void names_see(struct names *names, uint32_t vm, const struct wire_name *name);
/* The name as text: `name`'s own, or in `buf`, which it returns. */
const char *names_text(struct names *names, uint32_t vm, const struct wire_name *name, char *buf, size_t size);
/*
 * The atom with this index: untrusted, text as of otp_atoms.h, good until the VM is added again or forgotten; NULL
 * when it is not known.
 */
const char *names_atom(struct names *names, uint32_t vm, uint64_t index);

/*
 * Who the process at this address is now, as views call it: of one without a name its number (WIRE_PROCESS); by_call:
 * what it is to do alone. id: whose address it was, 0: not known. False: it has ended, or cannot be read.
 */
bool names_owner(struct names *names, uint32_t vm, uint64_t address, uint64_t id, bool by_call, struct wire_name *out);

/* How many atoms there were when they were last read; 0: of no VM that was added. */
size_t names_atoms(struct names *names, uint32_t vm);

/*
 * What held the address when the VM's code had been purged so often, as of otp_code_find, and as text: a function's
 * name, "(shared code)", "(unknown code)"; the address when it fails. `buf` has room for a name (WIRE_NAME_BYTES is
 * enough for most).
 */
int names_place(struct names *names, uint32_t vm, uint64_t address, uint64_t purges, struct otp_code_place *place,
                char *buf, size_t size);

/* To be called now and then: what VMs name from now on can be told when they have ended. */
void names_keep_up(struct names *names);
/* From now on names come from what was in memory at this time (CLOCK_MONOTONIC) or later. */
void names_since(struct names *names, uint64_t time_ns);
/* The VM's code and memory, borrowed until the VM is added again or forgotten; NULL: not known. */
struct otp_code *names_code(struct names *names, uint32_t vm);
struct memory *names_memory(struct names *names, uint32_t vm);

#endif
