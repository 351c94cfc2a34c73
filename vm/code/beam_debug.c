/* SPDX-License-Identifier: Apache-2.0 */
/* The chunk DbgB: what a debugger asks about the lines of a module (format: OTP 28 and 29,
 * lib/compiler/src/beam_asm.erl). A version, a count of entries and one of terms; then the entries, numbered from 1 as
 * the debug_line operations name them. An entry is two to three pairs, each in the form of an operation `call`, a key
 * and a value: 0 and the words of the frame, or [] or `entry`; 1 and a list of variables, a name and where it is for
 * each; 2 and a list of the functions that are called there: arity, module, function, or arity + 256, function.
 * What code:get_debug_info/1 tells is made of it here, once, as a literal of the module. */
#include "code/beam_parse.h"
#include "data/map.h"

enum { DEBUG_VERSION = 1, PAIR = GENOP_call, LOCAL_CALL = 256 };
enum debug_key { KEY_FRAME, KEY_VARS, KEY_CALLS, KEYS };

struct debug_entry {
	struct operand values[KEYS]; /* those that are absent are of kind 0 */
	uint32_t line;       /* where the code begins that it is of; 0: nowhere */
};

struct debug_table {
	struct debug_entry *entries;
	uint32_t count;
};

static bool fail(struct beam_parse *p, uint32_t index)
{
	return beam_parse_fail(p, "DbgB: entry %u is damaged", index + 1);
}

static bool read_pair(struct beam_parse *p, struct reader *r, uint64_t *key, struct operand *value)
{
	struct operand name;

	if (reader_u8(r) != PAIR || !beam_code_operand(p, r, &name) || !beam_code_operand(p, r, value))
		return false;
	*key = name.u;
	return name.kind == OPND_U && name.u < KEYS;
}

static bool read_entries(struct beam_parse *p, struct reader *r, struct debug_table *t)
{
	uint32_t n = 0;

	while (reader_left(r) > 0) {
		struct operand value;
		uint64_t key;

		if (!read_pair(p, r, &key, &value))
			return fail(p, n);
		n += key == KEY_FRAME;
		if (n == 0 || n > t->count)
			return beam_parse_fail(p, "DbgB: its header counts other than it holds");
		t->entries[n - 1].values[key] = value;
	}
	return n == t->count || beam_parse_fail(p, "DbgB: its header counts other than it holds");
}

/* The lines of the code; the entry of a function's head is for nobody. */
static bool note_lines(struct beam_parse *p, struct debug_table *t)
{
	for (uint32_t i = 0; i < p->f->op_count; i++) {
		const struct genop *op = &p->f->ops[i];

		if (op->op != GENOP_debug_line || op->args[0].term == am_entry)
			continue;
		if (op->args[1].kind != OPND_U || op->args[1].u > p->f->line_count || op->args[2].kind != OPND_U ||
		    op->args[2].u == 0 || op->args[2].u > t->count)
			return beam_parse_fail(p, "DbgB: the code names an entry or a line that is not there");
		if (op->args[1].u < p->f->line_count)
			t->entries[op->args[2].u - 1].line = p->f->lines[op->args[1].u].line;
	}
	return true;
}

static Term put_place(struct heap *h, const struct operand *o)
{
	switch (o->kind) {
	case OPND_X: return heap_tuple(h, am_x, term_from_small((int64_t)o->u));
	case OPND_Y: return heap_tuple(h, am_y, term_from_small((int64_t)o->u));
	case OPND_CONST: return heap_tuple(h, am_value, o->term);
	default: return TERM_NONE;
	}
}

static Term put_vars(struct heap *h, const struct operand *list)
{
	Term vars = NIL;

	if (list->kind == 0)
		return vars;
	if (list->kind != OPND_LIST || list->count % 2 != 0)
		return TERM_NONE;
	for (uint32_t i = list->count; i > 0; i -= 2) {
		const struct operand *name = &list->items[i - 2];
		Term place = put_place(h, &list->items[i - 1]);

		if (name->kind != OPND_CONST || place == TERM_NONE)
			return TERM_NONE;
		vars = heap_cons(h, heap_tuple(h, name->term, place), vars);
	}
	return vars;
}

static bool is_atom(const struct operand *o) { return o->kind == OPND_CONST && term_is_atom(o->term); }

/* One call at *at, which moves behind it. TERM_NONE: damaged. */
static Term put_call(struct heap *h, const struct operand **at, const struct operand *end)
{
	const struct operand *o = *at;
	bool is_local = o->u >= LOCAL_CALL;

	*at += is_local ? 2 : 3;
	if (o->kind != OPND_U || o->u >= 2 * LOCAL_CALL || *at > end || !is_atom(&o[1]) ||
	    (!is_local && !is_atom(&o[2])))
		return TERM_NONE;
	return is_local ? heap_tuple(h, o[1].term, term_from_small((int64_t)o->u - LOCAL_CALL))
			: heap_tuple(h, o[1].term, o[2].term, term_from_small((int64_t)o->u));
}

static Term put_calls(struct heap *h, const struct operand *list)
{
	const struct operand *at = list->items;
	Term calls = NIL, reversed = NIL;

	if (list->kind == 0)
		return NIL;
	if (list->kind != OPND_LIST)
		return TERM_NONE;
	while (at < list->items + list->count) {
		Term call = put_call(h, &at, list->items + list->count);

		if (call == TERM_NONE)
			return TERM_NONE;
		reversed = heap_cons(h, call, reversed);
	}
	for (; reversed != NIL; reversed = cons_tail(reversed))
		calls = heap_cons(h, cons_head(reversed), calls);
	return calls;
}

static Term put_frame(const struct operand *o)
{
	if (o->kind == OPND_U)
		return term_from_small((int64_t)o->u);
	return o->kind != OPND_CONST ? TERM_NONE : o->term == NIL ? (Term)am_none : o->term;
}

/* {Line, #{frame_size, vars, calls}} */
static Term put_entry(struct heap *h, const struct debug_entry *e)
{
	Term frame = put_frame(&e->values[KEY_FRAME]), vars = put_vars(h, &e->values[KEY_VARS]);
	Term calls = put_calls(h, &e->values[KEY_CALLS]);

	if (frame == TERM_NONE || vars == TERM_NONE || calls == TERM_NONE)
		return TERM_NONE;
	return heap_tuple(h, term_from_small(e->line),
			  map_from_pairs(h, (Term[]){ am_frame_size, frame, am_vars, vars, am_calls, calls }, KEYS));
}

static bool put_table(struct beam_parse *p, const struct debug_table *t)
{
	struct operand *o = &p->f->debug_info;

	*o = (struct operand){ .kind = OPND_CONST, .term = NIL };
	for (uint32_t i = t->count; i-- > 0;) {
		Term entry;

		if (t->entries[i].line == 0)
			continue;
		entry = put_entry(&p->scratch, &t->entries[i]);
		if (entry == TERM_NONE)
			return fail(p, i);
		o->term = heap_cons(&p->scratch, entry, o->term);
	}
	if (o->term != NIL)
		beam_parse_constant(p, o);
	return true;
}

bool beam_debug_parse(struct beam_parse *p, struct reader *r)
{
	struct debug_table t;
	uint32_t version;

	if (r->at == NULL)
		return true;
	version = reader_u32(r);
	t.count = reader_u32(r);
	reader_u32(r);
	if (r->bad || version != DEBUG_VERSION)
		return beam_parse_fail(p, "DbgB: version %u is unknown", version);
	if (t.count > reader_left(r))
		return beam_parse_fail(p, "DbgB: its header counts more than it holds");
	t.entries = beam_parse_take(p, t.count, sizeof(*t.entries));
	return read_entries(p, r, &t) && note_lines(p, &t) && put_table(p, &t);
}
