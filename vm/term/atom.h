/* SPDX-License-Identifier: Apache-2.0 */
/* The atom table. Invariant: an atom, once made, keeps its index and its text for the VM's life;
 * reading needs no lock. */
#ifndef VM_TERM_ATOM_H
#define VM_TERM_ATOM_H

#include "term/term.h"

#define ATOM_MAX_CHARS 255
#define ATOM_MAX_BYTES (255 * 4)
#define ATOM_TABLE_LIMIT 1048576   /* unless told otherwise */
#define ATOM_TABLE_MAX (1 << 25)   /* that can be told */

enum atom_static {
#define ATOM(name) ATOM_INDEX_##name,
#define ATOM_TEXT(name, text) ATOM_INDEX_##name,
#include "term/atoms.def"
	ATOM_STATIC_COUNT
};

/* am_<name>: the term of each atom of atoms.def. */
enum {
#define ATOM(name) am_##name = ATOM_TERM(ATOM_INDEX_##name),
#define ATOM_TEXT(name, text) am_##name = ATOM_TERM(ATOM_INDEX_##name),
#include "term/atoms.def"
};

void atom_init(void);

/* The atom of n bytes of valid UTF-8. Fails: TERM_NONE when longer than ATOM_MAX_CHARS, or not UTF-8, or
 * the table is full (then *full is set when full is not NULL). */
Term atom_from_utf8(const char *text, size_t n, bool *full);
/* Are all n bytes below 128? Then Latin-1 and UTF-8 of it are the same. */
bool atom_is_ascii(const char *text, size_t n);
Term atom_from_latin1(const char *text, size_t n, bool *full);
/* For C's own texts; the table full is fatal. */
Term atom_from_text(const char *text);
/* TERM_NONE when no such atom exists. */
Term atom_existing_utf8(const char *text, size_t n);

/* Owns: the table. UTF-8, NUL-terminated. Units: *n bytes. */
const char *atom_text(Term atom, size_t *n);
/* Units: *n bytes of the name in Latin-1. Fails: false when a character is none of it. */
bool atom_latin1_size(Term atom, size_t *n);
/* Order of two atoms by their characters: <0, 0, >0. */
int atom_compare(Term a, Term b);
/* The hash that phash2 and erlang's own hash tables give the atom's name (OTP's hashpjw over its Latin-1 or UTF-8
 * form). */
uint32_t atom_hash(Term atom);
uint32_t atom_count(void);
/* How many there may be, ATOM_TABLE_MAX at most. */
void atom_set_limit(uint32_t limit);
uint32_t atom_limit(void);
/* Units: bytes that the atoms and their names take. */
size_t atom_memory_bytes(void);

static inline Term term_from_bool(bool b) { return b ? am_true : am_false; }

#endif
