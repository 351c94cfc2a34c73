/* SPDX-License-Identifier: Apache-2.0 */
/* Finds the row of a constant table that a built-in atom names, without a search. */
#ifndef VM_TERM_ATOM_ROWS_H
#define VM_TERM_ATOM_ROWS_H

#include "term/atom.h"

struct atom_rows {
	uint8_t at[ATOM_STATIC_COUNT]; /* the row's number plus 1; 0: names none */
};

enum { ATOM_ROWS_MAX = UINT8_MAX - 1 };

/* Row i of the table is named `name`, an atom of atoms.def. */
static inline void atom_rows_add(struct atom_rows *rows, Term name, unsigned i)
{
	rows->at[atom_index(name)] = (uint8_t)(i + 1);
}

/* -1: no row has that name. */
static inline int atom_rows_find(const struct atom_rows *rows, Term name)
{
	return term_is_atom(name) && atom_index(name) < ATOM_STATIC_COUNT ? rows->at[atom_index(name)] - 1 : -1;
}

#endif
