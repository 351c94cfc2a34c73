/* SPDX-License-Identifier: Apache-2.0 */
/* Match specifications to programs. Terms still to be compiled wait on a stack of their own, together with the
 * operations that must follow them. */
#include "ets/match_compile.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/release.h"
#include "data/map.h"
#include "heap/copy.h"
#include "term/atom.h"
#include "term/object.h"

/* ---- what may be called */
struct guard_row {
	int since; /* release of OTP */
	const char *text;
	uint8_t arity;
	bool copies;
};
static const struct guard_row guard_rows[] = {
#define GUARD_SINCE(since, text, arity, copies) { since, text, arity, copies },
#include "ets/match_guards.def"
};
enum { GUARDS = sizeof(guard_rows) / sizeof(guard_rows[0]) };

struct action_row {
	int since;
	Term name;
	uint8_t fewest, most;
	bool in_guard;
	uint8_t events;
};
static const struct action_row action_rows[] = {
#define ACTION_SINCE(since, name, fewest, most, in_guard, events) { since, am_##name, fewest, most, in_guard, events },
#include "ets/match_actions.def"
};
enum { ACTIONS = sizeof(action_rows) / sizeof(action_rows[0]) };

struct compare_row {
	const char *text;
	uint8_t code;
};
static const struct compare_row compare_rows[] = {
	{ "<", MATCH_LESS }, { "=<", MATCH_LESS_EQUAL }, { ">", MATCH_MORE }, { ">=", MATCH_MORE_EQUAL },
	{ "==", MATCH_EQUAL }, { "/=", MATCH_NOT_EQUAL }, { "=:=", MATCH_EXACT }, { "=/=", MATCH_NOT_EXACT },
};
enum { COMPARES = sizeof(compare_rows) / sizeof(compare_rows[0]) };

static struct {
	Term guards[GUARDS];
	Term compares[COMPARES];
} names;

void match_init(void)
{
	for (int i = 0; i < GUARDS; i++)
		names.guards[i] = atom_from_text(guard_rows[i].text);
	for (int i = 0; i < COMPARES; i++)
		names.compares[i] = atom_from_text(compare_rows[i].text);
}

/* ---- the compiler's state */
struct work {
	enum { WORK_PATTERN, WORK_EXPRESSION, WORK_EMIT, WORK_LABEL } kind;
	bool is_last;            /* pattern: nothing follows in its container */
	Term term;
	struct match_op op;
};

struct variable {
	long number;
	uint32_t slot;
};

/* Most specifications are small: their arrays stand in the compiler, which stands on the C stack. */
enum { FIXED_WORKS = 32, FIXED_VARIABLES = 16, FIXED_LABELS = 8 };

struct compiler {
	struct match_program *m;
	match_find_fn find;
	struct match_errors *errors;
	bool failed;
	bool in_guard;
	size_t op_count, op_room;   /* of the program */
	struct work *works;
	size_t work_count, work_room;
	struct variable *variables; /* of the clause, by number */
	size_t variable_count, variable_room;
	uint32_t slots;             /* of the clause, temporaries too */
	uint32_t stack, cursors;    /* now */
	uint32_t *labels;           /* operation of each */
	size_t label_count, label_room;
	struct work fixed_works[FIXED_WORKS];
	struct variable fixed_variables[FIXED_VARIABLES];
	uint32_t fixed_labels[FIXED_LABELS];
};

static void begin_compiling(struct compiler *c, match_find_fn find, struct match_errors *errors)
{
	c->m = NULL;
	c->find = find;
	c->errors = errors;
	c->failed = false;
	c->works = c->fixed_works;
	c->variables = c->fixed_variables;
	c->labels = c->fixed_labels;
	c->op_count = c->work_count = 0;
	c->work_room = FIXED_WORKS;
	c->variable_room = FIXED_VARIABLES;
	c->label_room = FIXED_LABELS;
}

static void end_compiling(struct compiler *c)
{
	match_free_array(c->works, c->fixed_works);
	match_free_array(c->variables, c->fixed_variables);
	match_free_array(c->labels, c->fixed_labels);
}

static __attribute__((format(printf, 3, 4))) void add_text(struct compiler *c, Term t, const char *format, ...)
{
	struct match_errors *e = c->errors;
	char line[128];
	char *mark;
	va_list args;

	c->failed = true;
	if (e == NULL)
		return;
	va_start(args, format);
	vsnprintf(line, sizeof(line), format, args);
	va_end(args);
	if (e->count == e->room) {
		e->room = e->room ? e->room * 2 : 4;
		e->texts = mem_realloc(e->texts, e->room * sizeof(*e->texts));
		e->warnings = mem_realloc(e->warnings, e->room * sizeof(*e->warnings));
	}
	print_buffer_init(&e->texts[e->count], 1 << 16);
	e->warnings[e->count] = false;
	/* '@' stands for the term. */
	mark = strchr(line, '@');
	if (mark != NULL) {
		print_bytes(&e->texts[e->count], line, (size_t)(mark - line));
		print_term(&e->texts[e->count], t);
		print_text(&e->texts[e->count], mark + 1);
	} else {
		print_text(&e->texts[e->count], line);
	}
	e->count++;
}

void match_errors_free(struct match_errors *e)
{
	for (uint32_t i = 0; i < e->count; i++)
		print_buffer_free(&e->texts[i]);
	mem_free(e->texts);
	mem_free(e->warnings);
	memset(e, 0, sizeof(*e));
}

/* What an operation leaves on the stack, less what it takes. */
static inline int stack_effect(const struct match_op *op)
{
	switch ((enum match_code)op->code) {
	case MATCH_PUSH: case MATCH_PUSH_VAR: case MATCH_PUSH_ALL: case MATCH_PUSH_SUBJECT: case MATCH_PUSH_SELF:
		return 1;
	case MATCH_MAKE_TUPLE: case MATCH_CALL: case MATCH_AND: case MATCH_OR: case MATCH_ACTION:
		return 1 - (int)op->n;
	case MATCH_MAKE_MAP:
		return 1 - 2 * (int)op->n;
	case MATCH_BODY:
		return 0;
	default:
		return -1;
	}
}

/* How many places the head keeps from the operation on, less before. */
static int cursor_effect(const struct match_op *op)
{
	return op->code == MATCH_BACK ? -1 : op->copies;
}

static inline void emit(struct compiler *c, struct match_op op)
{
	struct match_program *m = c->m;

	MATCH_GROW(m->ops, m->fixed_ops, c->op_count, c->op_room);
	m->ops[c->op_count++] = op;
	if (op.code <= MATCH_BACK) {
		c->cursors += (uint32_t)cursor_effect(&op);
		m->cursors = c->cursors > m->cursors ? c->cursors : m->cursors;
	} else {
		c->stack += (uint32_t)stack_effect(&op);
		m->stack = c->stack > m->stack ? c->stack : m->stack;
	}
}

#define OP(...) ((struct match_op){ __VA_ARGS__ })

static struct work *push_work(struct compiler *c)
{
	MATCH_GROW(c->works, c->fixed_works, c->work_count, c->work_room);
	return &c->works[c->work_count++];
}

static void push_op(struct compiler *c, struct match_op op)
{
	struct work *w = push_work(c);

	w->kind = WORK_EMIT;
	w->op = op;
}

static void push_expression(struct compiler *c, Term t)
{
	struct work *w = push_work(c);

	w->kind = WORK_EXPRESSION;
	w->term = t;
}

static void push_pattern(struct compiler *c, Term t, bool is_last)
{
	struct work *w = push_work(c);

	w->kind = WORK_PATTERN;
	w->term = t;
	w->is_last = is_last;
}

/* ---- variables */
long match_variable_number(Term t)
{
	const char *text;
	size_t n;
	long number = 0;

	if (!term_is_atom(t))
		return -1;
	text = atom_text(t, &n);
	if (n < 2 || n > 10 || text[0] != '$' || (text[1] == '0' && n > 2))
		return -1;
	for (size_t i = 1; i < n; i++) {
		if (text[i] < '0' || text[i] > '9')
			return -1;
		number = number * 10 + (text[i] - '0');
	}
	return number;
}

/* Where the variable stands, or should. */
static size_t find_variable(const struct compiler *c, long number)
{
	size_t low = 0, high = c->variable_count;

	while (low < high) {
		size_t middle = (low + high) / 2;

		if (c->variables[middle].number < number)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static bool is_bound(const struct compiler *c, size_t at, long number)
{
	return at < c->variable_count && c->variables[at].number == number;
}

static void count_slots(struct compiler *c)
{
	if (c->slots > c->m->variables)
		c->m->variables = c->slots;
}

/* ---- heads */
static void compile_map_pattern(struct compiler *c, Term t, bool is_last)
{
	size_t n = map_size(t);
	Term *keys = mem_alloc((2 * n + 1) * sizeof(Term));
	uint32_t slot = c->slots;

	c->slots += 2;
	count_slots(c);
	map_sorted_pairs(t, keys, keys + n);
	emit(c, OP(.code = MATCH_MAP, .copies = !is_last, .n = slot, .term = SMALL(n)));
	if (!is_last)
		push_op(c, OP(.code = MATCH_BACK));
	for (size_t i = n; i-- > 0;) {
		if (keys[i] == am_underscore || match_variable_number(keys[i]) >= 0)
			add_text(c, keys[i], "@ is not allowed as a map key in a head.");
		push_pattern(c, keys[n + i], true);
		push_op(c, OP(.code = MATCH_MAP_KEY, .n = slot, .term = keys[i]));
	}
	mem_free(keys);
}

static void compile_variable(struct compiler *c, long number)
{
	size_t at = find_variable(c, number);

	if (is_bound(c, at, number)) {
		emit(c, OP(.code = MATCH_SAME, .n = c->variables[at].slot));
		return;
	}
	MATCH_GROW(c->variables, c->fixed_variables, c->variable_count, c->variable_room);
	memmove(&c->variables[at + 1], &c->variables[at], (c->variable_count - at) * sizeof(*c->variables));
	c->variables[at] = (struct variable){ number, c->slots++ };
	c->variable_count++;
	count_slots(c);
	emit(c, OP(.code = MATCH_BIND, .n = c->variables[at].slot));
}

static void compile_pattern(struct compiler *c, Term t, bool is_last)
{
	long number = match_variable_number(t);

	if (t == am_underscore) {
		if (!is_last)
			emit(c, OP(.code = MATCH_SKIP));
	} else if (number >= 0) {
		compile_variable(c, number);
	} else if (term_is_immed(t)) {
		emit(c, OP(.code = MATCH_IMMED, .term = t));
	} else if (match_holds(c->m, t) == 0) {
		emit(c, OP(.code = MATCH_CONST, .term = t));
	} else if (term_is_float(t)) {
		emit(c, OP(.code = MATCH_ZERO, .term = t));
	} else if (term_is_cons(t)) {
		emit(c, OP(.code = MATCH_CONS, .copies = !is_last));
		if (!is_last)
			push_op(c, OP(.code = MATCH_BACK));
		push_pattern(c, cons_tail(t), true);
		push_pattern(c, cons_head(t), false);
	} else if (term_is_map(t)) {
		compile_map_pattern(c, t, is_last);
	} else {
		size_t n = tuple_arity(t);

		emit(c, OP(.code = MATCH_TUPLE, .copies = !is_last, .n = (uint32_t)n));
		if (!is_last)
			push_op(c, OP(.code = MATCH_BACK));
		for (size_t i = n; i > 0; i--)
			push_pattern(c, tuple_get(t, i), i == n);
	}
}

/* ---- guards and bodies */
static void compile_all_variables(struct compiler *c)
{
	emit(c, OP(.code = MATCH_PUSH_ALL, .n = (uint32_t)c->variable_count));
	for (size_t i = 0; i < c->variable_count; i++)
		emit(c, OP(.code = MATCH_SKIP, .n = c->variables[i].slot));
}

static void compile_atom(struct compiler *c, Term t)
{
	long number = match_variable_number(t);
	size_t at;

	if (t == am_dollar_dots) {
		emit(c, OP(.code = MATCH_PUSH_SUBJECT));
	} else if (t == am_dollar_dollar) {
		compile_all_variables(c);
	} else if (number < 0) {
		emit(c, OP(.code = MATCH_PUSH, .term = t));
	} else {
		at = find_variable(c, number);
		if (!is_bound(c, at, number)) {
			add_text(c, NIL, "Variable $%ld is unbound.", number);
			emit(c, OP(.code = MATCH_PUSH, .term = NIL));
			return;
		}
		emit(c, OP(.code = MATCH_PUSH_VAR, .n = c->variables[at].slot));
	}
}

static void push_arguments(struct compiler *c, Term t)
{
	for (size_t i = tuple_arity(t); i >= 2; i--)
		push_expression(c, tuple_get(t, i));
}

/* Something stands on the stack in place of what could not be compiled. */
static void fail_expression(struct compiler *c, Term t, const char *text)
{
	add_text(c, t, "%s", text);
	emit(c, OP(.code = MATCH_PUSH, .term = NIL));
}

/* andalso, orelse: each argument but the last may end it. */
static void compile_shortcut(struct compiler *c, Term t, uint8_t code)
{
	size_t n = tuple_arity(t);
	uint32_t label = (uint32_t)c->label_count;
	struct work *w;

	if (n == 1) {
		fail_expression(c, t, code == MATCH_AND_ALSO ?
				"Special form 'andalso' called without arguments in @." :
				"Special form 'orelse' called without arguments in @.");
		return;
	}
	MATCH_GROW(c->labels, c->fixed_labels, c->label_count, c->label_room);
	c->labels[c->label_count++] = 0;
	w = push_work(c);
	w->kind = WORK_LABEL;
	w->op.n = label;
	for (size_t i = n; i >= 2; i--) {
		if (i < n)
			push_op(c, OP(.code = code, .n = label));
		push_expression(c, tuple_get(t, i));
	}
}

static void compile_logic(struct compiler *c, Term t, uint8_t code)
{
	size_t n = tuple_arity(t);

	if (n == 1) {
		fail_expression(c, t, code == MATCH_AND ? "Special form 'and' called without arguments in @." :
				"Special form 'or' called without arguments in @.");
		return;
	}
	push_op(c, OP(.code = code, .n = (uint32_t)n - 1));
	push_arguments(c, t);
}

/* {current_stacktrace} or {current_stacktrace, Depth}. */
static void check_depth(struct compiler *c, Term t, const char *text)
{
	size_t arity = tuple_arity(t) - 1;
	Term depth = arity == 1 ? tuple_get(t, 2) : SMALL(0);

	if (arity > 1)
		add_text(c, t, "Special form '%s' called with wrong number of arguments in @", text);
	else if (!term_is_small(depth))
		add_text(c, t, "Special form '%s' called with non small argument.", text);
	else if (small_value(depth) < 0)
		add_text(c, t, "Special form '%s' called with negative integer argument.", text);
}

static bool compile_action(struct compiler *c, Term t)
{
	Term name = tuple_get(t, 1);
	size_t arity = tuple_arity(t) - 1;

	for (int i = 0; i < ACTIONS; i++) {
		const struct action_row *row = &action_rows[i];
		size_t n;
		const char *text;

		if (row->name != name || !release_is_from(row->since))
			continue;
		text = atom_text(name, &n);
		if (c->m->dialect != MATCH_TRACE)
			add_text(c, t, "Special form '%s' used in wrong dialect.", text);
		else if (c->in_guard && !row->in_guard)
			add_text(c, t, "Special form '%s' called in guard context.", text);
		else if (name == am_current_stacktrace)
			check_depth(c, t, text);
		else if (arity < row->fewest || arity > row->most)
			add_text(c, t, row->most == 0 ? "Special form '%s' called with arguments in @." :
				 "Special form '%s' called with wrong number of arguments in @.", text);
		push_op(c, OP(.code = MATCH_ACTION, .action = (uint16_t)i, .n = (uint32_t)arity));
		push_arguments(c, t);
		return true;
	}
	return false;
}

bool match_is_for(const struct match_program *m, enum match_events events)
{
	for (uint32_t i = 0; i < m->op_count; i++)
		if (m->ops[i].code == MATCH_ACTION && action_rows[m->ops[i].action].events > events)
			return false;
	return true;
}

static void compile_call(struct compiler *c, Term t)
{
	Term name = tuple_get(t, 1);
	size_t arity = tuple_arity(t) - 1;

	for (int i = 0; i < COMPARES; i++) {
		if (names.compares[i] == name && arity == 2) {
			push_op(c, OP(.code = compare_rows[i].code));
			push_arguments(c, t);
			return;
		}
	}
	for (int i = 0; i < GUARDS; i++) {
		match_fn fn;

		if (names.guards[i] != name || guard_rows[i].arity != arity || !release_is_from(guard_rows[i].since))
			continue;
		fn = c->find(name, (unsigned)arity);
		if (fn == NULL)
			break;
		push_op(c, OP(.code = MATCH_CALL, .n = (uint32_t)arity, .copies = guard_rows[i].copies, .fn = fn));
		push_arguments(c, t);
		return;
	}
	if (compile_action(c, t))
		return;
	add_text(c, name, "Function @/%zu does_not_exist.", arity);
	emit(c, OP(.code = MATCH_PUSH, .term = NIL));
}

static void compile_tuple(struct compiler *c, Term t)
{
	size_t n = tuple_arity(t);
	Term name = n > 0 ? tuple_get(t, 1) : NIL;

	if (n == 1 && term_is_tuple(name)) {
		size_t arity = tuple_arity(name);

		push_op(c, OP(.code = MATCH_MAKE_TUPLE, .n = (uint32_t)arity));
		for (size_t i = arity; i > 0; i--)
			push_expression(c, tuple_get(name, i));
	} else if (!term_is_atom(name)) {
		fail_expression(c, t, "@ is neither a function call, nor a tuple (tuples are written {{ ... }}).");
	} else if (name == am_const) {
		if (n == 2)
			emit(c, OP(.code = MATCH_PUSH, .term = tuple_get(t, 2)));
		else
			fail_expression(c, t, "Special form 'const' called with more than one argument in @.");
	} else if (name == am_self) {
		if (n == 1)
			emit(c, OP(.code = MATCH_PUSH_SELF));
		else
			fail_expression(c, t, "Special form 'self' called with arguments in @.");
	} else if (name == am_and_ || name == am_or_) {
		compile_logic(c, t, name == am_and_ ? MATCH_AND : MATCH_OR);
	} else if (name == am_andalso || name == am_andthen || name == am_orelse) {
		compile_shortcut(c, t, name == am_orelse ? MATCH_OR_ELSE : MATCH_AND_ALSO);
	} else {
		compile_call(c, t);
	}
}

static void compile_expression(struct compiler *c, Term t)
{
	if (term_is_atom(t)) {
		compile_atom(c, t);
	} else if (term_is_cons(t)) {
		push_op(c, OP(.code = MATCH_MAKE_CONS));
		push_expression(c, cons_tail(t));
		push_expression(c, cons_head(t));
	} else if (term_is_tuple(t)) {
		compile_tuple(c, t);
	} else if (term_is_map(t)) {
		size_t n = map_size(t);
		Term *pairs = mem_alloc((2 * n + 1) * sizeof(Term));

		map_sorted_pairs(t, pairs, pairs + n);
		push_op(c, OP(.code = MATCH_MAKE_MAP, .n = (uint32_t)n));
		for (size_t i = n; i-- > 0;) {
			push_expression(c, pairs[n + i]);
			push_expression(c, pairs[i]);
		}
		mem_free(pairs);
	} else {
		emit(c, OP(.code = MATCH_PUSH, .term = t));
	}
}

static void run_works(struct compiler *c)
{
	while (c->work_count > 0) {
		const struct work *w = &c->works[--c->work_count]; /* until the next is pushed */

		switch (w->kind) {
		case WORK_PATTERN:
			compile_pattern(c, w->term, w->is_last);
			break;
		case WORK_EXPRESSION:
			compile_expression(c, w->term);
			break;
		case WORK_EMIT:
			emit(c, w->op);
			break;
		case WORK_LABEL:
			c->labels[w->op.n] = (uint32_t)c->op_count;
			break;
		}
	}
}

static bool check_list(struct compiler *c, Term list)
{
	if (!term_is_list(list)) {
		add_text(c, NIL, "Match expression is not a list.");
		return false;
	}
	while (term_is_cons(list))
		list = cons_tail(list);
	if (list != NIL)
		add_text(c, NIL, "Match expression is not a proper list.");
	return list == NIL;
}

static void compile_guards(struct compiler *c, Term guards)
{
	c->in_guard = true;
	if (!check_list(c, guards))
		return;
	for (; guards != NIL; guards = cons_tail(guards)) {
		push_expression(c, cons_head(guards));
		run_works(c);
		emit(c, OP(.code = MATCH_GUARD));
	}
}

static void compile_body(struct compiler *c, Term body)
{
	c->in_guard = false;
	emit(c, OP(.code = MATCH_BODY));
	if (body == NIL && c->m->dialect == MATCH_TRACE) {
		emit(c, OP(.code = MATCH_PUSH, .term = am_true));
		emit(c, OP(.code = MATCH_RETURN));
		return;
	}
	if (!term_is_cons(body) && c->m->dialect == MATCH_TABLE) {
		add_text(c, NIL, "Body clause does not return anything.");
		return;
	}
	if (!check_list(c, body))
		return;
	for (; body != NIL; body = cons_tail(body)) {
		push_expression(c, cons_head(body));
		run_works(c);
		emit(c, OP(.code = cons_tail(body) == NIL ? MATCH_RETURN : MATCH_DROP));
	}
}

static void resolve_labels(struct compiler *c, size_t start)
{
	for (size_t i = start; i < c->op_count; i++) {
		struct match_op *op = &c->m->ops[i];

		if (op->code == MATCH_AND_ALSO || op->code == MATCH_OR_ELSE)
			op->n = c->labels[op->n];
	}
}

/* Of arguments a list is matched, or all of them. */
static bool is_head(Term head, enum match_dialect dialect)
{
	return dialect == MATCH_TABLE || term_is_list(head) || term_is_tuple(head) || head == am_underscore ||
	       match_variable_number(head) >= 0;
}

static void compile_clause(struct compiler *c, struct match_clause *clause)
{
	if (!is_head(clause->head, c->m->dialect)) {
		add_text(c, NIL, "Match head is invalid in this context.");
		return;
	}
	c->variable_count = c->label_count = 0;
	c->slots = c->stack = c->cursors = 0;
	clause->start = (uint32_t)c->op_count;
	match_mark_head(c->m, clause->head);
	push_pattern(c, clause->head, true);
	run_works(c);
	compile_guards(c, clause->guards);
	c->stack = 0;
	compile_body(c, clause->body);
	if (c->label_count > 0)
		resolve_labels(c, clause->start);
}

/* ---- programs */
static void release_program(struct resource *r)
{
	struct match_program *m = (struct match_program *)r;

	match_free_array(m->ops, m->fixed_ops);
	off_heap_free(m->off_heap);
	mem_free(m);
}

static const struct resource_type program_type = { "match program", release_program };

struct match_program *match_get(Term t)
{
	return (struct match_program *)resource_get(t, &program_type);
}

/* What is wrong with the clauses of what should be a specification, or NULL: their count. Nothing is matched by no
 * clause. */
static const char *count_clauses(Term spec, bool may_be_empty, uint32_t *count)
{
	Term list = spec;

	for (*count = 0; term_is_cons(list); list = cons_tail(list))
		++*count;
	if (*count == 0 && (list != NIL || !may_be_empty))
		return "Match programs are not in a list.";
	if (list != NIL)
		return "Match programs are not in a proper list.";
	for (; spec != NIL; spec = cons_tail(spec))
		if (!term_is_tuple_of(cons_head(spec), 3))
			return "Match program part is not a tuple of arity 3.";
	return NULL;
}

/* Makes c->m, with room for as many operations as most specifications of this size need. */
static void new_program(struct compiler *c, Term spec, enum match_dialect dialect, uint32_t clauses)
{
	size_t words = copy_flat_size_words(spec), ops = words / 2 + 4;
	struct match_program *m = mem_alloc(sizeof(*m) + ops * sizeof(*m->ops) + clauses * sizeof(*m->clauses) +
					    words * (sizeof(Term) + 1));
	Term *top;

	*m = (struct match_program){ .dialect = dialect, .clause_count = clauses, .constant_words = words };
	resource_init(&m->resource, &program_type);
	m->ops = m->fixed_ops;
	m->clauses = (struct match_clause *)(m->ops + ops);
	m->constants = top = (Term *)(m->clauses + clauses);
	spec = copy_term_whole(spec, &top, &m->off_heap);
	m->holds = memset(top, 0, words);
	for (uint32_t i = 0; i < clauses; i++, spec = cons_tail(spec)) {
		Term clause = cons_head(spec);

		m->clauses[i] = (struct match_clause){
			tuple_get(clause, 1), tuple_get(clause, 2), tuple_get(clause, 3), 0
		};
	}
	c->m = m;
	c->op_room = ops;
}

struct match_program *match_compile(Term spec, enum match_dialect dialect, match_find_fn find,
				    struct match_errors *errors)
{
	struct compiler c;
	uint32_t clauses;
	const char *wrong = count_clauses(spec, errors == NULL, &clauses);

	begin_compiling(&c, find, errors);
	if (wrong != NULL) {
		add_text(&c, NIL, "%s", wrong);
		return NULL;
	}
	new_program(&c, spec, dialect, clauses);
	for (uint32_t i = 0; i < clauses && (!c.failed || errors != NULL); i++)
		compile_clause(&c, &c.m->clauses[i]);
	c.m->op_count = (uint32_t)c.op_count;
	end_compiling(&c);
	if (!c.failed)
		return c.m;
	resource_unref(&c.m->resource);
	return NULL;
}

struct match_program *match_compile_pattern(Term head, Term body, match_find_fn find)
{
	Term words[8];
	Term clause[4] = { HEADER(3, SUB_TUPLE), head, NIL, TERM_NONE };

	words[0] = body;
	words[1] = NIL;
	clause[3] = term_from_cons(words);
	words[2] = term_from_boxed(clause);
	words[3] = NIL;
	return match_compile(term_from_cons(words + 2), MATCH_TABLE, find, NULL);
}
