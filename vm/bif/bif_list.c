/* SPDX-License-Identifier: Apache-2.0 */
/* Lists. Each costs time in proportion to its arguments; long ones are charged for it. */
#include "base/alloc.h"
#include "bif/bif.h"
#include "data/compare.h"
#include "data/phash.h"

/* Units: list cells a reduction. */
enum { CELLS_A_REDUCTION = 32 };

static void charge_cells(Process *p, size_t cells)
{
	process_bump(p, (int)(cells / CELLS_A_REDUCTION));
}

/* Cells of a proper list. Fails: false. */
static bool count_cells(Term t, size_t *n)
{
	size_t count = 0;

	for (; term_is_cons(t); t = cons_tail(t))
		count++;
	*n = count;
	return t == NIL;
}

Term bif_erlang_hd_1(Process *p, Term *args)
{
	return term_is_cons(args[0]) ? cons_head(args[0]) : exc_badarg(p);
}

Term bif_erlang_tl_1(Process *p, Term *args)
{
	return term_is_cons(args[0]) ? cons_tail(args[0]) : exc_badarg(p);
}

Term bif_erlang_length_1(Process *p, Term *args)
{
	size_t n;

	if (!count_cells(args[0], &n))
		return exc_badarg(p);
	charge_cells(p, n);
	return term_from_small((int64_t)n);
}

Term bif_erlang_append_2(Process *p, Term *args)
{
	Term *at, t = args[0];
	size_t n;

	if (!count_cells(t, &n))
		return exc_badarg(p);
	if (n == 0)
		return args[1];
	if (args[1] == NIL)
		return t;
	charge_cells(p, n);
	at = heap_alloc(&p->heap, 2 * n);
	for (size_t i = 0; i < n; i++, t = cons_tail(t)) {
		at[2 * i] = cons_head(t);
		at[2 * i + 1] = term_from_cons(at + 2 * i + 2);
	}
	at[2 * n - 1] = args[1];
	return term_from_cons(at);
}

Term bif_lists_reverse_2(Process *p, Term *args)
{
	Term *at, t = args[0], tail = args[1];
	size_t n;

	if (!count_cells(t, &n))
		return exc_badarg(p);
	charge_cells(p, n);
	at = heap_alloc(&p->heap, 2 * n);
	for (; term_is_cons(t); t = cons_tail(t), at += 2) {
		at[0] = cons_head(t);
		at[1] = tail;
		tail = term_from_cons(at);
	}
	return tail;
}

/* ---- subtraction: a table of the terms to take out, each with how many times */

struct multiset {
	struct { Term term; uint64_t hash; size_t count; } *slots;
	size_t mask;
	size_t left;         /* terms still to take out */
};

/* The slot of t, or the free one where it belongs. */
static size_t find_slot(const struct multiset *m, Term t, uint64_t hash)
{
	size_t i = hash & m->mask;

	while (m->slots[i].term != TERM_NONE && !(m->slots[i].hash == hash && term_same(m->slots[i].term, t)))
		i = (i + 1) & m->mask;
	return i;
}

static void fill_multiset(struct multiset *m, Term list, size_t n)
{
	size_t room = 8;

	while (room < 2 * n)
		room *= 2;
	m->slots = mem_zalloc(room * sizeof(*m->slots));
	m->mask = room - 1;
	m->left = n;
	for (; term_is_cons(list); list = cons_tail(list)) {
		uint64_t hash = hash_internal(cons_head(list));
		size_t i = find_slot(m, cons_head(list), hash);

		m->slots[i].term = cons_head(list);
		m->slots[i].hash = hash;
		m->slots[i].count++;
	}
}

static bool take_out(struct multiset *m, Term t)
{
	size_t i = find_slot(m, t, hash_internal(t));

	if (m->slots[i].term == TERM_NONE || m->slots[i].count == 0)
		return false;
	m->slots[i].count--;
	m->left--;
	return true;
}

/* list with the terms of m taken out; what follows the last of them is shared. */
static Term remove_terms(Process *p, Term list, size_t n, struct multiset *m)
{
	Term *kept = mem_alloc((n + 1) * sizeof(Term));
	size_t count = 0;
	Term result;

	for (; term_is_cons(list) && m->left > 0; list = cons_tail(list))
		if (!take_out(m, cons_head(list)))
			kept[count++] = cons_head(list);
	result = heap_list_array(&p->heap, count, kept, list);
	mem_free(kept);
	return result;
}

Term bif_erlang_subtract_2(Process *p, Term *args)
{
	struct multiset m;
	size_t n, k;
	Term result;

	if (!count_cells(args[0], &n) || !count_cells(args[1], &k))
		return exc_badarg(p);
	if (n == 0 || k == 0)
		return args[0];
	charge_cells(p, 4 * (n + k));
	fill_multiset(&m, args[1], k);
	result = remove_terms(p, args[0], n, &m);
	mem_free(m.slots);
	return result;
}

/* ---- search */

Term bif_lists_member_2(Process *p, Term *args)
{
	size_t n = 0;
	Term t = args[1];

	for (; term_is_cons(t); t = cons_tail(t), n++)
		if (term_same(cons_head(t), args[0])) {
			charge_cells(p, n);
			return am_true;
		}
	charge_cells(p, n);
	return t == NIL ? am_false : exc_badarg(p);
}

/* The tuple of a list whose element is == key; TERM_NONE without one. Fails: false on bad arguments. */
static bool find_key(Process *p, const Term *args, Term *found)
{
	size_t n = 0;
	Term t = args[2];

	*found = TERM_NONE;
	if (!term_is_small(args[1]) || small_value(args[1]) < 1)
		return false;
	for (; term_is_cons(t); t = cons_tail(t), n++) {
		Term e = cons_head(t);

		if (term_is_tuple(e) && tuple_arity(e) >= (size_t)small_value(args[1]) &&
		    term_equal(args[0], tuple_get(e, (size_t)small_value(args[1])))) {
			*found = e;
			break;
		}
	}
	charge_cells(p, n);
	return *found != TERM_NONE || t == NIL;
}

Term bif_lists_keyfind_3(Process *p, Term *args)
{
	Term found;

	if (!find_key(p, args, &found))
		return exc_badarg(p);
	return found != TERM_NONE ? found : am_false;
}

Term bif_lists_keymember_3(Process *p, Term *args)
{
	Term found;

	if (!find_key(p, args, &found))
		return exc_badarg(p);
	return term_from_bool(found != TERM_NONE);
}

Term bif_lists_keysearch_3(Process *p, Term *args)
{
	Term found;

	if (!find_key(p, args, &found))
		return exc_badarg(p);
	return found != TERM_NONE ? heap_tuple(&p->heap, am_value, found) : am_false;
}
