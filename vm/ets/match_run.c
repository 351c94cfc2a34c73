/* SPDX-License-Identifier: Apache-2.0 */
/* Runs programs. Invariant: with `copies`, nothing that a body leaves on the heap leads out of it; guards may hold
 * terms of the subject, but build nothing from them without a copy. */
#include "base/alloc.h"
#include "data/compare.h"
#include "data/map.h"
#include "ets/match.h"
#include "heap/copy.h"
#include "term/atom.h"

void match_begin(struct match_context *c, Process *p, const struct match_program *m, bool copies)
{
	size_t words = m->variables + m->stack + m->cursors + 1;

	c->p = p;
	c->program = m;
	c->copies = copies;
	c->run_action = NULL;
	c->memory = NULL;
	c->variables = c->fixed;
	if (words > sizeof(c->fixed) / sizeof(c->fixed[0]))
		c->variables = c->memory = mem_alloc(words * sizeof(Term));
	c->stack = c->variables + m->variables;
	c->cursors = (const Term **)(c->stack + m->stack);
}

void match_end(struct match_context *c)
{
	mem_free(c->memory);
}

/* ---- heads. Returns the first operation of the guards, or NULL. */
static const struct match_op *match_head(struct match_context *c, const struct match_op *op)
{
	const Term *at = &c->subject;
	const Term **cursor = c->cursors;
	Term t;

	for (;; op++) {
		switch ((enum match_code)op->code) {
		case MATCH_SKIP:
			at++;
			break;
		case MATCH_BIND:
			c->variables[op->n] = *at++;
			break;
		case MATCH_SAME:
			if (!term_same(c->variables[op->n], *at++))
				return NULL;
			break;
		case MATCH_IMMED:
			if (*at++ != op->term)
				return NULL;
			break;
		case MATCH_CONST:
			if (!term_same(*at++, op->term))
				return NULL;
			break;
		case MATCH_ZERO:
			t = *at++;
			if (!term_is_float(t) || boxed_ptr(t)[1] != boxed_ptr(op->term)[1])
				return NULL;
			break;
		case MATCH_TUPLE:
			t = *at;
			if (!term_is_tuple_of(t, op->n))
				return NULL;
			if (op->copies)
				*cursor++ = at + 1;
			at = boxed_ptr(t) + 1;
			break;
		case MATCH_CONS:
			t = *at;
			if (!term_is_cons(t))
				return NULL;
			if (op->copies)
				*cursor++ = at + 1;
			at = cons_ptr(t);
			break;
		case MATCH_MAP:
			t = *at;
			if (!term_is_map(t) || map_size(t) < (size_t)small_value(op->term))
				return NULL;
			if (op->copies)
				*cursor++ = at + 1;
			c->variables[op->n] = t;
			break;
		case MATCH_MAP_KEY:
			t = map_get(c->variables[op->n], op->term);
			if (t == TERM_NONE)
				return NULL;
			c->variables[op->n + 1] = t;
			at = &c->variables[op->n + 1];
			break;
		case MATCH_BACK:
			at = *--cursor;
			break;
		default:
			return op;
		}
	}
}

/* ---- guards and bodies */
/* What a value of the subject becomes when something is built from it. */
static Term take_value(struct match_context *c, Term t, bool in_body)
{
	return c->copies && in_body && !term_is_immed(t) ? copy_to_heap(t, &c->p->heap) : t;
}

static Term push_all(struct match_context *c, const struct match_op *op)
{
	Term list = NIL;

	for (uint32_t i = op->n; i > 0; i--) {
		Term t = take_value(c, c->variables[op[i].n], true);

		list = heap_cons(&c->p->heap, t, list);
	}
	return list;
}

/* Guards' values may stand in the table: whoever builds from them copies. */
static void own_values(struct match_context *c, Term *at, uint32_t n, bool in_body)
{
	if (!c->copies || in_body)
		return;
	for (uint32_t i = 0; i < n; i++)
		at[i] = take_value(c, at[i], true);
}

static Term make_cons(struct match_context *c, Term *at, bool in_body)
{
	own_values(c, at, 2, in_body);
	return heap_cons(&c->p->heap, at[0], at[1]);
}

static Term call_function(struct match_context *c, const struct match_op *op, Term *args, bool in_body)
{
	Process *p = c->p;
	Term result;

	if (op->copies)
		own_values(c, args, op->n, in_body);
	result = op->fn(p, args);
	if (result == TERM_NONE) {
		p->exc_kind = EXC_NONE;
		p->exc_reason = p->exc_trace = NIL;
	}
	return result;
}

static bool is_boolean(Term t) { return t == am_true || t == am_false; }

/* TERM_NONE when one is no boolean. */
static Term combine(const Term *at, uint32_t n, Term decisive)
{
	Term result = decisive == am_false ? am_true : am_false;

	for (uint32_t i = 0; i < n; i++) {
		if (!is_boolean(at[i]))
			return TERM_NONE;
		if (at[i] == decisive)
			result = decisive;
	}
	return result;
}

static bool compare(enum match_code code, Term a, Term b)
{
	switch (code) {
	case MATCH_LESS: return term_compare(a, b) < 0;
	case MATCH_LESS_EQUAL: return term_compare(a, b) <= 0;
	case MATCH_MORE: return term_compare(a, b) > 0;
	case MATCH_MORE_EQUAL: return term_compare(a, b) >= 0;
	case MATCH_EQUAL: return term_equal(a, b);
	case MATCH_NOT_EQUAL: return !term_equal(a, b);
	case MATCH_EXACT: return term_same(a, b);
	default: return !term_same(a, b);
	}
}

/* The operations that take n values and leave one. */
static Term compute(struct match_context *c, const struct match_op *op, Term *at, bool in_body)
{
	switch ((enum match_code)op->code) {
	case MATCH_MAKE_TUPLE:
		own_values(c, at, op->n, in_body);
		return heap_tuple_array(&c->p->heap, op->n, at);
	case MATCH_MAKE_MAP:
		own_values(c, at, 2 * op->n, in_body);
		return map_from_pairs(&c->p->heap, at, op->n);
	case MATCH_AND:
		return combine(at, op->n, am_false);
	case MATCH_OR:
		return combine(at, op->n, am_true);
	case MATCH_ACTION:
		return c->run_action != NULL ? c->run_action(c, op->action, at, op->n) : am_true;
	default:
		return call_function(c, op, at, in_body);
	}
}

/* The body's value; TERM_NONE when a guard does not hold. */
static Term run_clause(struct match_context *c, const struct match_op *op)
{
	Term *top = c->stack; /* next free */
	bool in_body = false;
	Term t;

	for (;; op++) {
		switch ((enum match_code)op->code) {
		case MATCH_PUSH:
			*top++ = in_body && !term_is_immed(op->term) ? copy_to_heap(op->term, &c->p->heap) : op->term;
			break;
		case MATCH_PUSH_VAR:
			*top++ = take_value(c, c->variables[op->n], in_body);
			break;
		case MATCH_PUSH_SUBJECT:
			*top++ = c->object != NULL && in_body ? object_copy_to_heap(c->object, &c->p->heap) :
				 take_value(c, c->subject, in_body);
			break;
		case MATCH_PUSH_ALL:
			*top++ = push_all(c, op);
			op += op->n;
			break;
		case MATCH_PUSH_SELF:
			*top++ = c->p->id;
			break;
		case MATCH_MAKE_CONS:
			top--;
			top[-1] = make_cons(c, top - 1, in_body);
			break;
		case MATCH_LESS: case MATCH_LESS_EQUAL: case MATCH_MORE: case MATCH_MORE_EQUAL:
		case MATCH_EQUAL: case MATCH_NOT_EQUAL: case MATCH_EXACT: case MATCH_NOT_EXACT:
			top--;
			top[-1] = term_from_bool(compare(op->code, top[-1], top[0]));
			break;
		case MATCH_AND_ALSO:
		case MATCH_OR_ELSE:
			t = top[-1];
			if (!is_boolean(t)) {
				if (!in_body)
					return TERM_NONE;
				top[-1] = am_EXIT;
			}
			if (t == (op->code == MATCH_AND_ALSO ? am_true : am_false))
				top--;
			else
				op = c->program->ops + op->n - 1;
			break;
		case MATCH_GUARD:
			if (*--top != am_true)
				return TERM_NONE;
			break;
		case MATCH_BODY:
			in_body = true;
			break;
		case MATCH_DROP:
			top--;
			break;
		case MATCH_RETURN:
			return *--top;
		default:
			top -= op->code == MATCH_MAKE_MAP ? 2 * op->n : op->n;
			t = compute(c, op, top, in_body);
			if (t == TERM_NONE && !in_body)
				return TERM_NONE;
			*top++ = t != TERM_NONE ? t : am_EXIT;
			break;
		}
	}
}

static Term run_clauses(struct match_context *c)
{
	const struct match_program *m = c->program;

	for (uint32_t i = 0; i < m->clause_count; i++) {
		const struct match_op *op = match_head(c, m->ops + m->clauses[i].start);
		Term result;

		if (op == NULL)
			continue;
		result = run_clause(c, op);
		if (result != TERM_NONE)
			return result;
	}
	return TERM_NONE;
}

Term match_run(struct match_context *c, Term subject)
{
	c->object = NULL;
	c->subject = subject;
	return run_clauses(c);
}

Term match_run_object(struct match_context *c, const struct ets_object *o)
{
	c->object = o;
	c->subject = object_tuple(o);
	return run_clauses(c);
}
