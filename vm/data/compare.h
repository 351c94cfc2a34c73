/* SPDX-License-Identifier: Apache-2.0 */
/* The order of terms: number < atom < reference < fun < port < pid < tuple < map < nil < list < bitstring.
 * Depth of terms costs no C stack. Results: <0, 0, >0. */
#ifndef VM_DATA_COMPARE_H
#define VM_DATA_COMPARE_H

#include "term/term.h"

/* For the functions below. exact: no integer equals a float. */
int compare_terms(Term a, Term b, bool exact);
bool compare_same(Term a, Term b, bool exact);

/* Order of == and <: 1 and 1.0 are equal. */
static inline int term_compare(Term a, Term b)
{
	if (a == b)
		return 0;
	if (terms_both_small(a, b))
		return (int64_t)a < (int64_t)b ? -1 : 1;
	return compare_terms(a, b, false);
}

/* Order of map keys: as term_compare, but any integer is less than any float. 0 exactly where =:= holds. */
static inline int term_compare_exact(Term a, Term b)
{
	if (a == b)
		return 0;
	if (terms_both_small(a, b))
		return (int64_t)a < (int64_t)b ? -1 : 1;
	return compare_terms(a, b, true);
}

/* a == b */
static inline bool term_equal(Term a, Term b)
{
	if (a == b)
		return true;
	/* Two immediates are equal only when they are the same word. */
	if (term_is_immed(a) && term_is_immed(b))
		return false;
	return compare_same(a, b, false);
}

/* a =:= b */
static inline bool term_same(Term a, Term b)
{
	if (a == b)
		return true;
	if (term_is_immed(a) || term_is_immed(b))
		return false;
	return compare_same(a, b, true);
}

#endif
