/* SPDX-License-Identifier: Apache-2.0 */
/* The Code chunk. First all operations are decoded, then, with all labels known, each operand is checked.
 * Invariant: memory taken grows only with the bytes read. */
#include "code/beam_parse.h"

#include <string.h>

#include "base/alloc.h"
#include "data/number.h"
#include "proc/sched.h"

enum { NO_FUNCTION = UINT32_MAX, CODE_VERSION = 0, CODE_HEADER_MIN = 16 };
enum { NEED_WORDS, NEED_FLOATS, NEED_FUNS };
enum {
	LIVE_MAX = X_REGS - 1 /* operations keep a result in the next one */,
	FRAME_MAX = 1024,
	NEED_MAX = 1 << 26,
	ARITY_MAX = 255,
	FLOAT_REGS_MAX = F_REGS
};
/* Extended operands, as the number of a COMPACT_Z. */
enum { EXT_LIST = 1, EXT_FLOAT_REG, EXT_NEEDS, EXT_LITERAL, EXT_TYPED_REG };

static const struct {
	const char *name, *signature;
} genops[GENOP_LIMIT] = {
#define GENOP(number, name, signature) [number] = { #name, signature },
#include "code/genops.def"
};

const char *genop_name(unsigned op)
{
	return op < GENOP_LIMIT ? genops[op].name : NULL;
}

/* Operand letters in order; NULL for a number that is no operation. */
static const char *genop_signature(unsigned op)
{
	return op < GENOP_LIMIT ? genops[op].signature : NULL;
}

/* ---- compact terms */

static struct compact read_long_compact(struct reader *r, struct compact c, size_t n)
{
	const uint8_t *p = reader_bytes(r, n);
	uint64_t value;

	if (p == NULL)
		return c;
	value = p[0] & 0x80 ? ~(uint64_t)0 : 0;
	for (size_t i = 0; i < n && i < 8; i++)
		value = value << 8 | p[i];
	if (n <= 8) {
		c.value = (int64_t)value;
		return c;
	}
	c.big = p;
	c.big_bytes = n;
	return c;
}

struct compact reader_compact(struct reader *r)
{
	uint8_t b = reader_u8(r);
	struct compact c = { .tag = b & 7 };
	struct compact length;

	if ((b & 0x08) == 0) {
		c.value = b >> 4;
		return c;
	}
	if ((b & 0x10) == 0) {
		c.value = (int64_t)(b >> 5) << 8 | reader_u8(r);
		return c;
	}
	if (b >> 5 != 7)
		return read_long_compact(r, c, (size_t)(b >> 5) + 2);
	/* a length of a length of a length: no such integer fits a file */
	if (r->at < r->end && (*r->at & 0xf8) == 0xf8) {
		r->bad = true;
		return c;
	}
	length = reader_compact(r);
	if (length.tag != COMPACT_U || length.big != NULL || length.value < 0 ||
	    (uint64_t)length.value > reader_left(r)) {
		r->bad = true;
		return c;
	}
	return read_long_compact(r, c, (size_t)length.value + 9);
}

/* A number that is not negative and not huge. */
static bool read_unsigned(struct beam_parse *p, struct reader *r, uint64_t *value)
{
	struct compact c = reader_compact(r);

	if (r->bad || c.tag != COMPACT_U || c.big != NULL || c.value < 0)
		return beam_parse_fail(p, "Code: a number is damaged");
	*value = (uint64_t)c.value;
	return true;
}

/* ---- operands */

/* The integer of n bytes, big-endian two's complement, on h. TERM_NONE: too big. */
static Term make_integer(struct heap *h, const uint8_t *bytes, size_t n)
{
	bool negative = bytes[0] & 0x80;
	uint8_t *magnitude = mem_alloc(n);
	unsigned carry = negative;
	Term t;

	for (size_t i = n; i-- > 0;) {
		unsigned byte = (negative ? (uint8_t)~bytes[i] : bytes[i]) + carry;

		magnitude[i] = (uint8_t)byte;
		carry = byte >> 8;
	}
	/* the magnitude of the lowest number of n bytes fits them as an unsigned number */
	t = num_from_bytes(h, magnitude, n, false, negative);
	mem_free(magnitude);
	return t;
}

/* An integer that is no small: kept apart until its literal area is made. */
static bool take_integer(struct beam_parse *p, struct operand *o, const struct compact *c)
{
	uint8_t bytes[8];

	for (unsigned k = 0; k < 8; k++)
		bytes[k] = (uint8_t)((uint64_t)c->value >> (56 - 8 * k));
	o->term = c->big != NULL ? make_integer(&p->scratch, c->big, c->big_bytes)
				 : make_integer(&p->scratch, bytes, 8);
	if (o->term == TERM_NONE)
		return beam_parse_fail(p, "Code: an integer is too big");
	if (term_is_small(o->term))
		return true;
	beam_parse_constant(p, o);
	return true;
}

static bool decode_needs(struct beam_parse *p, struct reader *r, struct operand *o)
{
	uint64_t count, kind, n, words = 0;

	if (!read_unsigned(p, r, &count))
		return false;
	for (uint64_t i = 0; i < count; i++) {
		if (!read_unsigned(p, r, &kind) || !read_unsigned(p, r, &n))
			return false;
		if (kind > NEED_FUNS || n > NEED_MAX)
			return beam_parse_fail(p, "Code: a need of heap is wrong");
		words += n * (kind == NEED_WORDS ? 1 : kind == NEED_FLOATS ? FLOAT_WORDS : FUN_WORDS);
		if (words > NEED_MAX)
			return beam_parse_fail(p, "Code: a need of heap is too big");
	}
	o->kind = OPND_NEED;
	o->u = words;
	return true;
}

static bool decode_operand(struct beam_parse *p, struct reader *r, struct operand *o, bool in_list);

static bool decode_list(struct beam_parse *p, struct reader *r, struct operand *o)
{
	struct operand *items;
	uint64_t count;

	if (!read_unsigned(p, r, &count))
		return false;
	if (count > reader_left(r))
		return beam_parse_fail(p, "Code: a list is longer than the code");
	items = beam_parse_room(p, count, sizeof(*items));
	for (uint64_t i = 0; i < count; i++)
		if (!decode_operand(p, r, &items[i], true))
			return false;
	o->kind = OPND_LIST;
	o->count = (uint32_t)count;
	o->items = items;
	return true;
}

static bool decode_register(struct beam_parse *p, struct operand *o, const struct compact *c)
{
	if (c->value < 0 || c->value >= (c->tag == COMPACT_X ? X_REGS : FRAME_MAX))
		return beam_parse_fail(p, "Code: register %lld is out of range", (long long)c->value);
	o->kind = c->tag == COMPACT_X ? OPND_X : OPND_Y;
	o->u = (uint64_t)c->value;
	return true;
}

static bool decode_extended(struct beam_parse *p, struct reader *r, struct operand *o, int64_t kind, bool in_list)
{
	struct compact c;
	uint64_t n;

	switch (kind) {
	case EXT_LIST:
		if (in_list)
			break;
		return decode_list(p, r, o);
	case EXT_FLOAT_REG:
		if (!read_unsigned(p, r, &n))
			return false;
		if (n >= FLOAT_REGS_MAX)
			return beam_parse_fail(p, "Code: float register %llu is out of range", (unsigned long long)n);
		o->kind = OPND_FR;
		o->u = n;
		return true;
	case EXT_NEEDS:
		return decode_needs(p, r, o);
	case EXT_LITERAL:
		if (!read_unsigned(p, r, &n))
			return false;
		if (n >= p->f->literal_count)
			return beam_parse_fail(p, "Code: literal %llu is not there", (unsigned long long)n);
		o->kind = OPND_CONST;
		o->term = p->f->literals[n];
		return true;
	case EXT_TYPED_REG:
		c = reader_compact(r);
		if (r->bad || c.big != NULL || (c.tag != COMPACT_X && c.tag != COMPACT_Y) || !read_unsigned(p, r, &n) ||
		    (p->type_count != 0 && n >= p->type_count))
			break;
		return decode_register(p, o, &c);
	}
	return beam_parse_fail(p, "Code: an extended operand is damaged");
}

static bool decode_operand(struct beam_parse *p, struct reader *r, struct operand *o, bool in_list)
{
	struct compact c = reader_compact(r);

	*o = (struct operand){ 0 };
	if (r->bad)
		return beam_parse_fail(p, "Code: ends within an operand");
	if (c.big != NULL && c.tag == COMPACT_U && c.big[0] < 0x80)
		c.value = INT64_MAX; /* a size that nothing has */
	else if (c.big != NULL && c.tag != COMPACT_I)
		return beam_parse_fail(p, "Code: an operand is too big");
	switch (c.tag) {
	case COMPACT_U:
		if (c.value < 0)
			break;
		o->kind = OPND_U;
		o->u = (uint64_t)c.value;
		return true;
	case COMPACT_I:
		o->kind = OPND_CONST;
		if (c.big != NULL || !small_fits(c.value))
			return take_integer(p, o, &c);
		o->term = term_from_small(c.value);
		return true;
	case COMPACT_A:
		o->kind = OPND_CONST;
		o->term = c.value == 0 ? NIL : beam_parse_atom(p, (uint64_t)c.value);
		return o->term != TERM_NONE;
	case COMPACT_X:
	case COMPACT_Y:
		return decode_register(p, o, &c);
	case COMPACT_F:
		if (c.value < 0 || c.value >= p->f->label_count)
			return beam_parse_fail(p, "Code: label %lld is out of range", (long long)c.value);
		o->kind = OPND_LABEL;
		o->u = (uint64_t)c.value;
		return true;
	case COMPACT_Z:
		return decode_extended(p, r, o, c.value, in_list);
	default:
		break;
	}
	return beam_parse_fail(p, "Code: an operand has an unknown form");
}

bool beam_code_operand(struct beam_parse *p, struct reader *r, struct operand *o)
{
	return decode_operand(p, r, o, false);
}

/* ---- operations: labels and functions on the way */

static bool note_label(struct beam_parse *p, const struct genop *op, bool after_func_info)
{
	struct beam_file *f = p->f;
	uint64_t n = op->args[0].u;

	if (op->args[0].kind != OPND_U || n == 0 || n >= f->label_count || f->labels[n].defined)
		return beam_parse_fail(p, "Code: label %llu is wrong or there twice", (unsigned long long)n);
	f->labels[n] =
		(struct beam_label){ .function = f->function_count - 1, .defined = true, .entry = after_func_info };
	if (after_func_info)
		f->functions[f->function_count - 1].entry_label = (uint32_t)n;
	return true;
}

static bool note_function(struct beam_parse *p, const struct genop *op, uint32_t functions)
{
	struct beam_file *f = p->f;
	const struct operand *a = op->args;
	bool has_label = false;

	if (f->function_count == functions)
		return beam_parse_fail(p, "Code: more functions than its header says");
	if (a[0].kind != OPND_CONST || a[0].term != f->module || a[1].kind != OPND_CONST || !term_is_atom(a[1].term) ||
	    a[2].kind != OPND_U || a[2].u > ARITY_MAX)
		return beam_parse_fail(p, "Code: a function's head is wrong");
	f->functions[f->function_count++] =
		(struct beam_function){ .name = a[1].term, .arity = (uint32_t)a[2].u, .first_op = f->op_count };
	/* the labels right before it are its own */
	for (uint32_t i = f->op_count; i-- > 0 && (f->ops[i].op == GENOP_label || f->ops[i].op == GENOP_line);) {
		if (f->ops[i].op != GENOP_label)
			continue;
		f->labels[f->ops[i].args[0].u].function = f->function_count - 1;
		has_label = true;
	}
	return has_label || beam_parse_fail(p, "Code: a function's head has no label");
}

static bool note_frame(struct beam_parse *p, const struct genop *op)
{
	struct beam_function *fn = &p->f->functions[p->f->function_count - 1];

	if (op->args[0].kind != OPND_U || op->args[0].u > FRAME_MAX)
		return beam_parse_fail(p, "Code: a frame is too big");
	if (op->args[0].u > fn->max_frame)
		fn->max_frame = (uint32_t)op->args[0].u;
	return true;
}

static bool note_op(struct beam_parse *p, struct genop *op, uint32_t functions)
{
	struct beam_file *f = p->f;
	const struct genop *last = f->op_count > 0 ? op - 1 : NULL;

	if (op->op == GENOP_func_info)
		return note_function(p, op, functions);
	if (last != NULL && last->op == GENOP_func_info && op->op != GENOP_label)
		return beam_parse_fail(p, "Code: a function has no entry");
	switch (op->op) {
	case GENOP_label:
		return note_label(p, op, last != NULL && last->op == GENOP_func_info);
	case GENOP_line:
	case GENOP_int_code_end:
		return true;
	}
	if (f->function_count == 0)
		return beam_parse_fail(p, "Code: an operation stands before the first function");
	switch (op->op) {
	case GENOP_allocate:
	case GENOP_allocate_heap:
	case GENOP_allocate_zero:
	case GENOP_allocate_heap_zero:
		return note_frame(p, op);
	case GENOP_on_load:
		if (last->op != GENOP_label || !f->labels[last->args[0].u].entry)
			return beam_parse_fail(p, "Code: on_load stands within a function");
		f->on_load_label = (uint32_t)last->args[0].u;
		return true;
	default:
		return true;
	}
}

static struct genop *grow_ops(struct beam_parse *p, size_t *room)
{
	struct genop *more;
	size_t twice = *room * 2;

	more = beam_parse_room(p, twice, sizeof(*more));
	memcpy(more, p->f->ops, *room * sizeof(*more));
	*room = twice;
	return more;
}

static bool decode_op(struct beam_parse *p, struct reader *r, struct genop *op)
{
	op->op = reader_u8(r);
	if (r->bad)
		return beam_parse_fail(p, "Code: has no end");
	if (genop_signature(op->op) == NULL)
		return beam_parse_fail(p, "Code: operation %u is unknown", op->op);
	op->count = (uint8_t)strlen(genop_signature(op->op));
	op->args = beam_parse_room(p, op->count, sizeof(*op->args));
	for (unsigned i = 0; i < op->count; i++)
		if (!decode_operand(p, r, &op->args[i], false))
			return false;
	return true;
}

static bool decode_ops(struct beam_parse *p, struct reader *r, uint32_t functions)
{
	struct beam_file *f = p->f;
	const uint8_t *start = r->at;
	size_t room = reader_left(r) / 4 + 16;

	f->ops = beam_parse_room(p, room, sizeof(*f->ops));
	for (;;) {
		struct genop *op;

		if (f->op_count == room)
			f->ops = grow_ops(p, &room);
		op = &f->ops[f->op_count];
		*op = (struct genop){ .offset = (uint32_t)(r->at - start) };
		if (!decode_op(p, r, op) || !note_op(p, op, functions))
			return false;
		f->op_count++;
		if (op->op == GENOP_int_code_end)
			break;
	}
	if (f->function_count != functions)
		return beam_parse_fail(p, "Code: fewer functions than its header says");
	return true;
}

bool beam_code_decode(struct beam_parse *p, struct reader *r)
{
	uint32_t header = reader_u32(r);
	uint32_t version = reader_u32(r);
	uint32_t max_op = reader_u32(r);
	uint32_t labels = reader_u32(r);
	uint32_t functions = reader_u32(r);

	if (r->bad || header < CODE_HEADER_MIN || reader_bytes(r, header - CODE_HEADER_MIN) == NULL)
		return beam_parse_fail(p, "Code: ends within its header");
	if (version != CODE_VERSION)
		return beam_parse_fail(p, "Code: version %u is unknown", version);
	if (max_op >= GENOP_LIMIT)
		return beam_parse_fail(p, "Code: made by a newer compiler (operation %u)", max_op);
	if (labels > reader_left(r) || functions > reader_left(r))
		return beam_parse_fail(p, "Code: its header counts more than it holds");
	p->f->label_count = labels;
	p->f->labels = beam_parse_take(p, labels, sizeof(*p->f->labels));
	p->f->functions = beam_parse_take(p, functions, sizeof(*p->f->functions));
	for (uint32_t i = 0; i < labels; i++)
		p->f->labels[i].function = NO_FUNCTION;
	return decode_ops(p, r, functions);
}

/* ---- checks */

struct check {
	struct beam_parse *p;
	struct genop *op;
	uint32_t function;   /* index of the operation's own */
};

static bool fail_operand(const struct check *c, const char *what)
{
	return beam_parse_fail(c->p, "Code: %s at byte %u: %s", genop_name(c->op->op), c->op->offset, what);
}

static bool check_place(const struct check *c, const struct operand *o)
{
	if (o->kind != OPND_LABEL || o->u == 0)
		return fail_operand(c, "no label");
	if (!c->p->f->labels[o->u].defined || c->p->f->labels[o->u].function != c->function)
		return fail_operand(c, "a label of no place in this function");
	return true;
}

static bool check_label(const struct check *c, const struct operand *o, bool may_be_none)
{
	if (may_be_none && o->kind == OPND_LABEL && o->u == 0)
		return true;
	if (o == c->op->args)
		c->op->leads = true;
	else
		c->op->leads_on = true;
	return check_place(c, o);
}

static bool check_register(const struct check *c, const struct operand *o)
{
	if (o->kind != OPND_Y)
		return o->kind == OPND_X || fail_operand(c, "no register");
	if (o->u >= c->p->f->functions[c->function].max_frame)
		return fail_operand(c, "a register outside every frame");
	if (o->u >= c->op->y_end)
		c->op->y_end = (uint16_t)(o->u + 1);
	return true;
}

static bool check_source(const struct check *c, const struct operand *o)
{
	return o->kind == OPND_CONST || check_register(c, o);
}

static bool check_call(const struct check *c, const struct operand *o, uint64_t arity)
{
	const struct beam_file *f = c->p->f;

	if (o->kind != OPND_LABEL || !f->labels[o->u].entry)
		return fail_operand(c, "no function");
	if (f->functions[f->labels[o->u].function].arity != arity)
		return fail_operand(c, "a function of another arity");
	return true;
}

static bool is_native_call(unsigned op)
{
	return op == GENOP_bif0 || op == GENOP_bif1 || op == GENOP_bif2 || op == GENOP_bif3 || op == GENOP_gc_bif1 ||
	       op == GENOP_gc_bif2 || op == GENOP_gc_bif3;
}

static unsigned native_arity(unsigned op)
{
	switch (op) {
	case GENOP_bif0: return 0;
	case GENOP_bif1: case GENOP_gc_bif1: return 1;
	case GENOP_bif2: case GENOP_gc_bif2: return 2;
	default: return 3;
	}
}

static bool resolve_import(const struct check *c, struct operand *o)
{
	const struct beam_file *f = c->p->f;
	uint64_t arity;

	if (o->kind != OPND_U || o->u >= f->import_count)
		return fail_operand(c, "no import");
	o->kind = OPND_EXPORT;
	o->export = f->imports[o->u];
	arity = is_native_call(c->op->op) ? native_arity(c->op->op) : c->op->args[0].u;
	return o->export->arity == arity || fail_operand(c, "an import of another arity");
}

static bool resolve_lambda(const struct check *c, struct operand *o)
{
	if (o->kind != OPND_U || o->u >= c->p->f->lambda_count)
		return fail_operand(c, "no lambda");
	o->kind = OPND_FUN;
	return true;
}

static bool resolve_line(const struct check *c, struct operand *o)
{
	if (o->kind != OPND_U)
		return fail_operand(c, "no line");
	if (!c->p->has_lines)
		o->u = 0;
	return o->u < c->p->f->line_count || fail_operand(c, "a line out of range");
}

/* bits: size of what stands at the offset. */
static bool resolve_string(const struct check *c, struct operand *o, uint64_t bits)
{
	const struct beam_file *f = c->p->f;
	uint64_t bytes = bits / 8 + (bits % 8 != 0);

	if (o->kind != OPND_U || o->u > f->string_bytes || bytes > f->string_bytes - o->u)
		return fail_operand(c, "a string out of range");
	o->bytes = f->strings + o->u;
	o->kind = OPND_STRING;
	return true;
}

static bool check_number(const struct check *c, const struct operand *o, uint64_t max)
{
	return (o->kind == OPND_U && o->u <= max) || fail_operand(c, "a number out of range");
}

/* The string of bs_put_string follows its length in bytes, that of bs_match_string its length in bits. */
static bool check_string(const struct check *c, struct operand *o)
{
	uint64_t n = o[-1].u;

	if (c->op->op == GENOP_bs_match_string)
		return resolve_string(c, o, n);
	return n <= UINT32_MAX ? resolve_string(c, o, n * 8) : fail_operand(c, "a string out of range");
}

static bool check_letter(const struct check *c, char letter, struct operand *o)
{
	switch (letter) {
	case 'u': return check_number(c, o, INT64_MAX);
	case 'v': return check_number(c, o, LIVE_MAX);
	case 'w': return check_number(c, o, FRAME_MAX);
	case 'U': return o->kind == OPND_NEED || check_number(c, o, NEED_MAX);
	case 'L': return o->kind == OPND_LIST || fail_operand(c, "no list");
	case 'f': return check_label(c, o, false);
	case 'j': return check_label(c, o, true);
	case 'm':
		return (o->kind == OPND_CONST && (o->term == am_no_fail || o->term == am_resume)) ||
		       check_label(c, o, false);
	case 'C': return check_call(c, o, o[-1].u);
	case 's': return check_source(c, o);
	case 'z': return o->kind == OPND_U ? check_number(c, o, UINT32_MAX) : check_source(c, o);
	case 'S': return o->kind == OPND_FR || check_source(c, o);
	case 'r': case 'd': return check_register(c, o);
	case 'D': return o->kind == OPND_FR || check_register(c, o);
	case 'x': return o->kind == OPND_X || fail_operand(c, "no x register");
	case 'y': return o->kind == OPND_Y ? check_register(c, o) : fail_operand(c, "no y register");
	case 'Y': return o->kind == OPND_Y || fail_operand(c, "no y register"); /* beam_frames.c looks at it */
	case 'h': return check_place(c, o);
	case 'q': return o->kind == OPND_FR || fail_operand(c, "no float register");
	case 'a': return (o->kind == OPND_CONST && term_is_atom(o->term)) || fail_operand(c, "no atom");
	case 'k': return o->kind == OPND_CONST || fail_operand(c, "no constant");
	case 'i':
		return o->kind == OPND_U || (o->kind == OPND_CONST && term_is_integer(o->term)) ||
		       fail_operand(c, "no integer");
	case 'e': return resolve_import(c, o);
	case 'l': return resolve_lambda(c, o);
	case 'T': return (o->kind == OPND_CONST && term_is_atom(o->term)) || resolve_lambda(c, o);
	case 'n': return resolve_line(c, o);
	case 'o': return check_string(c, o);
	}
	return fail_operand(c, "an operand of no kind");
}

/* Every item by the letters, over and over; the count must be a multiple of their number. */
static bool check_items(const struct check *c, const struct operand *list, const char *letters)
{
	struct operand *items = (struct operand *)list->items;
	size_t n = strlen(letters);

	if (list->count % n != 0)
		return fail_operand(c, "a list of a wrong length");
	for (uint32_t i = 0; i < list->count; i++)
		if (!check_letter(c, letters[i % n], &items[i]))
			return false;
	return true;
}

/* Segments: type, number, unit, flags, value, size. */
static bool check_segments(const struct check *c, const struct operand *list)
{
	struct operand *s = (struct operand *)list->items;
	enum { SEGMENT = 6 };

	if (list->count % SEGMENT != 0)
		return fail_operand(c, "a list of a wrong length");
	for (uint32_t i = 0; i < list->count; i += SEGMENT, s += SEGMENT) {
		if (!check_letter(c, 'a', &s[0]) || !check_letter(c, 'u', &s[1]) || !check_letter(c, 'u', &s[2]) ||
		    !check_letter(c, 'k', &s[3]) || !check_letter(c, 's', &s[5]))
			return false;
		if (s[2].u > 256)
			return fail_operand(c, "a unit above 256");
		if (s[0].term != am_string) {
			if (!check_source(c, &s[4]))
				return false;
		} else if (s[5].kind != OPND_CONST || !term_is_small(s[5].term) || small_value(s[5].term) < 0 ||
			   small_value(s[5].term) > UINT32_MAX) {
			return fail_operand(c, "a string without a size");
		} else if (!resolve_string(c, &s[4], (uint64_t)small_value(s[5].term) * 8)) {
			return false;
		}
	}
	return true;
}

/* Commands of bs_match: a name, then what it takes. */
static bool check_commands(const struct check *c, const struct operand *list)
{
	static const struct {
		Term name;
		const char *letters;
	} commands[] = {
		{ am_ensure_at_least, "uu" }, { am_ensure_exactly, "u" }, { am_integer, "vkuud" },
		{ am_binary, "vkuud" },       { am_skip, "u" },           { am_get_tail, "vud" },
		{ am_eq_exact, "kui" },
	};
	struct operand *at = (struct operand *)list->items, *end = at + list->count;

	while (at < end) {
		const char *letters = NULL;

		for (unsigned i = 0; i < sizeof(commands) / sizeof(commands[0]); i++)
			if (at->kind == OPND_CONST && at->term == commands[i].name)
				letters = commands[i].letters;
		if (letters == NULL)
			return fail_operand(c, "an unknown command");
		for (at++; *letters != 0; letters++, at++)
			if (at >= end || !check_letter(c, *letters, at))
				return fail_operand(c, "a damaged command");
	}
	return true;
}

static bool check_update_record(const struct check *c)
{
	const struct operand *a = c->op->args;

	for (uint32_t i = 0; i < a[4].count; i += 2)
		if (a[4].items[i].u == 0 || a[4].items[i].u > a[1].u)
			return fail_operand(c, "an element out of range");
	return true;
}

/* What a record's operation names it by: an atom, its name in this module, or {Module, Name}. */
static bool check_record_id(const struct check *c, const struct operand *o)
{
	if (term_is_atom(o->term))
		return true;
	return (term_is_tuple_of(o->term, 2) && term_is_atom(tuple_get(o->term, 1)) &&
		term_is_atom(tuple_get(o->term, 2))) ||
	       fail_operand(c, "no name of a record");
}

static bool check_list(const struct check *c)
{
	const struct operand *a = c->op->args;

	switch (c->op->op) {
	case GENOP_select_val: return check_items(c, &a[2], "kf");
	case GENOP_select_tuple_arity: return check_items(c, &a[2], "uf");
	case GENOP_put_map_assoc:
	case GENOP_put_map_exact: return check_items(c, &a[4], "ss");
	case GENOP_has_map_fields: return check_items(c, &a[2], "s");
	case GENOP_get_map_elements: return check_items(c, &a[2], "sd");
	case GENOP_put_tuple2: return check_items(c, &a[1], "s");
	case GENOP_init_yregs: return check_items(c, &a[0], "y");
	case GENOP_make_fun3:
		return a[2].count == c->p->f->lambdas[a[0].u].num_free
			       ? check_items(c, &a[2], "s")
			       : fail_operand(c, "free variables of another number");
	case GENOP_update_record: return check_items(c, &a[4], "us") && check_update_record(c);
	case GENOP_get_record_elements: return check_items(c, &a[2], "ad");
	case GENOP_put_record: return check_record_id(c, &a[1]) && check_items(c, &a[5], "as");
	case GENOP_get_record_field: return check_record_id(c, &a[2]);
	case GENOP_bs_create_bin: return check_segments(c, &a[5]);
	case GENOP_bs_match: return check_commands(c, &a[2]);
	}
	return true;
}

static bool check_op(struct check *c)
{
	const char *signature = genop_signature(c->op->op);

	if (c->op->op == GENOP_label || c->op->op == GENOP_func_info)
		return true; /* seen when decoded */
	for (unsigned i = 0; i < c->op->count; i++)
		if (!check_letter(c, signature[i], &c->op->args[i]))
			return false;
	return check_list(c);
}

bool beam_code_check(struct beam_parse *p)
{
	struct check c = { .p = p };
	uint32_t next = 0;

	for (uint32_t i = 0; i < p->f->op_count; i++) {
		c.op = &p->f->ops[i];
		if (next < p->f->function_count && p->f->functions[next].first_op == i)
			c.function = next++;
		if (!check_op(&c))
			return false;
	}
	return true;
}
