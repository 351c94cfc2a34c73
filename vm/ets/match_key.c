/* SPDX-License-Identifier: Apache-2.0 */
/* What a match specification tells about the keys it can meet. */
#include "base/release.h"
#include "data/compare.h"
#include "ets/match_compile.h"
#include "term/atom.h"

enum { COMPARED_DEPTH = 64 };

/* The tuple's element, or TERM_NONE. */
static Term get_element(Term t, unsigned position)
{
	return term_is_tuple(t) && tuple_arity(t) >= position ? tuple_get(t, position) : TERM_NONE;
}

enum match_key_kind match_clause_key(const struct match_program *m, uint32_t clause, unsigned position, Term *key)
{
	Term head = m->clauses[clause].head;
	unsigned holds;

	*key = TERM_NONE;
	if (head == am_underscore || match_variable_number(head) >= 0)
		return MATCH_KEY_ANY;
	*key = get_element(head, position);
	if (*key == TERM_NONE)
		return MATCH_KEY_NEVER;
	holds = match_holds(m, *key);
	if ((holds & MATCH_HOLDS_MAP) && release_opens_map_keys())
		return MATCH_KEY_ANY;
	if (!(holds & MATCH_HOLDS_VARIABLE))
		return MATCH_KEY_BOUND;
	return term_is_cons(*key) || term_is_tuple(*key) ? MATCH_KEY_PARTIAL : MATCH_KEY_ANY;
}

/* *stop is set at the first open place, a variable or a map: all that follows counts as equal. */
static int compare_partial(const struct match_program *m, Term a, Term b, unsigned depth, bool *stop)
{
	for (;;) {
		int order = 0;

		if (!(match_holds(m, a) & (MATCH_HOLDS_VARIABLE | MATCH_HOLDS_MAP)))
			return term_compare(a, b);
		if (depth == 0 || (!term_is_cons(a) && !term_is_tuple(a))) {
			*stop = true;
			return 0;
		}
		if (term_is_cons(a)) {
			if (!term_is_cons(b))
				return term_compare(a, b);
			order = compare_partial(m, cons_head(a), cons_head(b), depth - 1, stop);
			if (order != 0 || *stop)
				return order;
			a = cons_tail(a);
			b = cons_tail(b);
			continue;
		}
		if (!term_is_tuple_of(b, tuple_arity(a)))
			return term_compare(a, b);
		for (size_t i = 1; i <= tuple_arity(a) && order == 0 && !*stop; i++)
			order = compare_partial(m, tuple_get(a, i), tuple_get(b, i), depth - 1, stop);
		return order;
	}
}

int match_compare_partial(const struct match_program *m, Term pattern, Term key)
{
	bool stop = false;

	if (!(match_holds(m, pattern) & MATCH_HOLDS_VARIABLE))
		return term_compare(pattern, key);
	return compare_partial(m, pattern, key, COMPARED_DEPTH, &stop);
}

/* Does this expression of a body give just what the key's pattern stands for? is_const: it stands for itself. */
static bool is_same_key(Term pattern, Term expression, bool is_const, unsigned depth)
{
	Term inner;
	size_t n;

	if (depth == 0 || pattern == am_underscore || term_is_map(pattern))
		return false;
	if (match_variable_number(pattern) >= 0)
		return !is_const && pattern == expression;
	if (!is_const && term_is_tuple_of(expression, 2) && tuple_get(expression, 1) == am_const)
		return is_same_key(pattern, tuple_get(expression, 2), true, depth - 1);
	if (term_is_cons(pattern)) {
		for (; term_is_cons(pattern); pattern = cons_tail(pattern), expression = cons_tail(expression))
			if (!term_is_cons(expression) ||
			    !is_same_key(cons_head(pattern), cons_head(expression), is_const, depth - 1))
				return false;
		return is_same_key(pattern, expression, is_const, depth - 1);
	}
	if (!term_is_tuple(pattern))
		return (is_const || (expression != am_dollar_dots && expression != am_dollar_dollar)) &&
		       term_same(pattern, expression);
	inner = is_const ? expression : term_is_tuple_of(expression, 1) ? tuple_get(expression, 1) : NIL;
	n = tuple_arity(pattern);
	if (!term_is_tuple_of(inner, n))
		return false;
	for (size_t i = 1; i <= n; i++)
		if (!is_same_key(tuple_get(pattern, i), tuple_get(inner, i), is_const, depth - 1))
			return false;
	return true;
}

static bool clause_keeps_key(const struct match_clause *clause, unsigned position)
{
	Term value, inner, pattern, key;
	bool is_const;

	if (!term_is_cons(clause->body) || cons_tail(clause->body) != NIL)
		return false;
	value = cons_head(clause->body);
	if (value == am_dollar_dots)
		return true;
	inner = get_element(value, 1);
	is_const = term_is_tuple_of(value, 2) && inner == am_const;
	if (!is_const && !term_is_tuple_of(value, 1))
		return false;
	pattern = get_element(clause->head, position);
	key = get_element(is_const ? tuple_get(value, 2) : inner, position);
	if (pattern == TERM_NONE || key == TERM_NONE)
		return false;
	if (is_same_key(pattern, key, is_const, COMPARED_DEPTH))
		return true;
	return !is_const && term_is_tuple_of(key, 3) && tuple_get(key, 1) == am_element &&
	       tuple_get(key, 2) == SMALL(position) && tuple_get(key, 3) == am_dollar_dots;
}

bool match_keeps_key(const struct match_program *m, unsigned position)
{
	for (uint32_t i = 0; i < m->clause_count; i++)
		if (!clause_keeps_key(&m->clauses[i], position))
			return false;
	return true;
}
