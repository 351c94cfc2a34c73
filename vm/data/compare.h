/* SPDX-License-Identifier: Apache-2.0 */
/* The order of terms: number < atom < reference < fun < port < pid < tuple < map < nil < list < bitstring.
 * Depth of terms costs no C stack. Results: <0, 0, >0. */
#ifndef VM_DATA_COMPARE_H
#define VM_DATA_COMPARE_H

#include "term/term.h"

/* How terms are compared: any of these. EXACT: no integer equals a float. LENDS: when it lasts, the scheduler is lent
 * meanwhile, by compare_hooks; for code of processes, which holds no ETS table. */
enum compare_how { COMPARE_PLAIN, COMPARE_EXACT = 1, COMPARE_LENDS = 2 };
/* Wired by exec. Each lend is followed by a reclaim. */
struct compare_hooks {
	void (*lend)(void);
	void (*reclaim)(void);
};
extern struct compare_hooks compare_hooks;

int compare_terms(Term a, Term b, unsigned how);
bool compare_same(Term a, Term b, unsigned how);

static inline int term_compare_how(Term a, Term b, unsigned how)
{
	if (a == b)
		return 0;
	if (terms_both_small(a, b))
		return (int64_t)a < (int64_t)b ? -1 : 1;
	return compare_terms(a, b, how);
}

/* Order of == and <: 1 and 1.0 are equal. */
static inline int term_compare(Term a, Term b) { return term_compare_how(a, b, COMPARE_PLAIN); }
static inline int term_compare_lending(Term a, Term b) { return term_compare_how(a, b, COMPARE_LENDS); }
/* Order of map keys: as term_compare, but any integer is less than any float, and -0.0 than 0.0 where they differ
 * (releases.def). 0 exactly where =:= holds. */
static inline int term_compare_exact(Term a, Term b) { return term_compare_how(a, b, COMPARE_EXACT); }

static inline bool term_equal_how(Term a, Term b, unsigned how)
{
	if (a == b)
		return true;
	/* Two immediates are equal only when they are the same word. */
	if (term_is_immed(a) && term_is_immed(b))
		return false;
	return compare_same(a, b, how);
}

/* a == b */
static inline bool term_equal(Term a, Term b) { return term_equal_how(a, b, COMPARE_PLAIN); }
static inline bool term_equal_lending(Term a, Term b) { return term_equal_how(a, b, COMPARE_LENDS); }

static inline bool term_same_how(Term a, Term b, unsigned how)
{
	if (a == b)
		return true;
	if (term_is_immed(a) || term_is_immed(b))
		return false;
	return compare_same(a, b, how);
}

/* a =:= b */
static inline bool term_same(Term a, Term b) { return term_same_how(a, b, COMPARE_EXACT); }
static inline bool term_same_lending(Term a, Term b) { return term_same_how(a, b, COMPARE_EXACT | COMPARE_LENDS); }

#endif
