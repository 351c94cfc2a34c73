/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The atom table of a stock emulator that runs.
 * Texts are UTF-8 with a NUL behind; a NUL inside is the two bytes C0 80, as escape.h reads them.
 * Source: IndexTable and Atom of erts/emulator/beam (index.h, atom.h); erl_bits.h for names in binaries, from OTP 28
 * on.
 */
#ifndef TOOLS_OTP_ATOMS_H
#define TOOLS_OTP_ATOMS_H

#include <stddef.h>

#include "otp_user.h"
#include "target/memory_file.h"

/* 255 characters, and what their text may take */
enum { OTP_ATOM_BYTES = 1020, OTP_ATOM_TEXT = 2 * OTP_ATOM_BYTES + 1 };

struct otp_atoms;

/*
 * The memory and the layout stay the caller's. Reads all there are. Owns: otp_atoms_free frees. Fails:
 * -errno. No message.
 */
int otp_atoms_new(const struct otp_layout *layout, const struct memory_file *memory, struct otp_atoms **out);
void otp_atoms_free(struct otp_atoms *atoms);
/* The text of an atom, those too that came since; NULL when it cannot be read. Good until the table is freed. */
const char *otp_atoms_text(struct otp_atoms *atoms, uint64_t index);
/* Reads those that have come: they can be told when the VM has ended. Cheap where there are none. */
void otp_atoms_keep_up(struct otp_atoms *a);
/* How many there were when they were last read. */
size_t otp_atoms_count(const struct otp_atoms *atoms);
/* The index of an atom that was there when it was last read, WIRE_NO_ATOM when there is none. */
uint64_t otp_atoms_find(const struct otp_atoms *atoms, const char *text);
/* One atom, alone: its text in `out`, of OTP_ATOM_TEXT bytes. Fails: -errno. */
int otp_atoms_read(const struct otp_layout *layout, const struct memory_file *memory, uint32_t index, char *out);

#endif
