/* SPDX-License-Identifier: Apache-2.0 */
/* The translation of the bit syntax. */
#include "code/emit.h"

#include "data/bits_build.h"

unsigned emit_bits_flags(const struct operand *o)
{
	unsigned flags = 0;

	if (o->kind == OPND_U)
		return (unsigned)o->u;
	for (Term t = o->term; term_is_cons(t); t = cons_tail(t)) {
		if (cons_head(t) == am_little)
			flags |= BITS_LITTLE;
		else if (cons_head(t) == am_signed)
			flags |= BITS_SIGNED;
		else if (cons_head(t) == am_native)
			flags |= BITS_NATIVE;
	}
	return flags;
}

/* A constant size times unit. Units: bits. */
static bool read_fixed_size(const struct operand *size, uint64_t unit, uint64_t *bits)
{
	if (!operand_is_small(size) || small_value(size->term) < 0)
		return false;
	return !__builtin_mul_overflow((uint64_t)small_value(size->term), unit, bits) && *bits < (1u << 30);
}

static enum opcode choose_get(uint64_t bits, bool is_little, bool is_signed)
{
	static const struct { uint8_t bits; bool is_little, is_signed; uint16_t op; } whole[] = {
#define WHOLE(name, bits, is_little, is_signed) { bits, is_little, is_signed, OP_bs_get_integer_##name },
#include "data/bits_whole.def"
	};

	for (size_t i = 0; i < sizeof(whole) / sizeof(whole[0]); i++)
		if (whole[i].bits == bits && whole[i].is_little == is_little && whole[i].is_signed == is_signed)
			return whole[i].op;
	return OP_bs_get_integer_fixed;
}

static void emit_get_fixed(struct emitter *em, const struct operand *fail, const struct operand *context,
			   const struct operand *live, uint64_t bits, unsigned flags, const struct operand *to)
{
	struct operand args[] = { *fail, *context, *to, *live, operand_u(flags), operand_u(bits) };

	emit_instr(em, choose_get(bits, bits > 8 && bits_is_little(flags), (flags & BITS_SIGNED) != 0), args);
}

/* {Fail, Context, Live, Size, Unit, Flags, Destination} */
size_t emit_bs_get_integer(struct emitter *em, const struct genop *g, size_t count)
{
	uint64_t bits;

	(void)count;
	if (!read_fixed_size(&g->args[3], g->args[4].u, &bits))
		return 0;
	emit_get_fixed(em, &g->args[0], &g->args[1], &g->args[2], bits, emit_bits_flags(&g->args[5]), &g->args[6]);
	return 1;
}

static void emit_get_binary_all(struct emitter *em, const struct operand *fail, const struct operand *context,
				const struct operand *live, uint64_t unit, const struct operand *to)
{
	emit_instr(em, OP_bs_get_binary_all, (struct operand[]){ *fail, *context, *to, operand_u(unit), *live });
}

size_t emit_bs_get_binary(struct emitter *em, const struct genop *g, size_t count)
{
	(void)count;
	if (!operand_is_atom(&g->args[3], am_all))
		return 0;
	emit_get_binary_all(em, &g->args[0], &g->args[1], &g->args[2], g->args[4].u, &g->args[6]);
	return 1;
}

/* {Fail, Context, Size, Unit, Flags} */
size_t emit_bs_skip_bits(struct emitter *em, const struct genop *g, size_t count)
{
	uint64_t bits;

	(void)count;
	if (operand_is_atom(&g->args[2], am_all))
		emit_instr(em, OP_bs_skip_all, (struct operand[]){ g->args[0], g->args[1], g->args[3] });
	else if (read_fixed_size(&g->args[2], g->args[3].u, &bits))
		emit_instr(em, OP_bs_skip_fixed, (struct operand[]){ g->args[0], g->args[1], operand_u(bits) });
	else
		return 0;
	return 1;
}

/* args: Fail, Source, Live, Destination; with bs_get_position of it behind. */
static size_t start_match(struct emitter *em, const struct genop *g, size_t count, const struct operand *args)
{
	const struct genop *next = &g[1];
	struct operand joined[] = { args[0], args[1], args[2], args[3], { 0 } };

	if (count < 2 || next->op != GENOP_bs_get_position || !operand_same(&next->args[0], &args[3])) {
		emit_instr(em, OP_bs_start_match3, args);
		return 1;
	}
	joined[4] = next->args[1];
	emit_instr(em, OP_bs_start_match3_position, joined);
	return 2;
}

/* {Fail, Source, Live, Destination} */
size_t emit_bs_start_match3(struct emitter *em, const struct genop *g, size_t count)
{
	return start_match(em, g, count, g->args);
}

/* {Fail or no_fail or resume, Live, Source, Destination} */
size_t emit_bs_start_match4(struct emitter *em, const struct genop *g, size_t count)
{
	struct operand args[] = { g->args[0], g->args[2], g->args[1], g->args[3] };

	if (args[0].kind != OPND_LABEL)
		args[0] = (struct operand){ .kind = OPND_LABEL };
	return start_match(em, g, count, args);
}

/* {Fail, Context, Bits, String} */
size_t emit_bs_match_string(struct emitter *em, const struct genop *g, size_t count)
{
	struct operand args[] = { g->args[0], g->args[1], g->args[2], operand_u((uintptr_t)g->args[3].bytes) };

	(void)count;
	emit_instr(em, OP_bs_match_string, args);
	return 1;
}

size_t emit_bs_put_string(struct emitter *em, const struct genop *g, size_t count)
{
	(void)count;
	emit_instr(em, OP_bs_put_string, (struct operand[]){ g->args[0], operand_u((uintptr_t)g->args[1].bytes) });
	return 1;
}

/* {Fail, Size, Words, Live, Flags, Destination} */
size_t emit_bs_init(struct emitter *em, const struct genop *g, size_t count)
{
	struct operand size = g->args[1];
	struct operand unit = operand_u(g->op == GENOP_bs_init2 ? 8 : 1);

	(void)count;
	if (size.kind == OPND_U)
		size = operand_const(term_from_small((int64_t)size.u));
	emit_instr(em, OP_bs_init, (struct operand[]){ g->args[0], g->args[5], g->args[3], g->args[2], size, unit });
	return 1;
}

/* ---- bs_create_bin: {Fail, Needs, Live, Unit, Destination, [Type, Segment, Unit, Flags, Value, Size...]} */

static const struct {
	Term type;
	uint8_t kind;
} segment_types[] = {
	{ am_append, BITS_SEG_APPEND },
	{ am_private_append, BITS_SEG_PRIVATE_APPEND },
	{ am_binary, BITS_SEG_BINARY },
	{ am_float, BITS_SEG_FLOAT },
	{ am_integer, BITS_SEG_INTEGER },
	{ am_string, BITS_SEG_STRING },
	{ am_utf8, BITS_SEG_UTF8 },
	{ am_utf16, BITS_SEG_UTF16 },
	{ am_utf32, BITS_SEG_UTF32 },
};

enum { SEGMENT_OPERANDS = 6 };

/* One segment: its operands in the file, and what is known of it before it runs. */
struct segment {
	const struct operand *o; /* type, number, unit, flags, value, size */
	unsigned kind, flags;
	enum bs_put put;
	uint32_t bytes;      /* at most; 0 for binaries */
	uint64_t bits;       /* of an integer of a constant size; else 0 */
};

static void choose_integer(struct segment *s, uint64_t bits)
{
	s->bits = bits;
	if (bits == 0 || bits > 64 || (bits & 7) != 0)
		return;
	s->bytes = (uint32_t)bits / 8;
	if (s->bytes == 1)
		s->put = BS_PUT_8;
	else if (bits_is_little(s->flags))
		s->put = BS_PUT_LITTLE;
	else
		s->put = s->bytes == 2 ? BS_PUT_16 : s->bytes == 4 ? BS_PUT_32 : BS_PUT_BIG;
}

static void choose_put(struct segment *s)
{
	uint64_t bits;

	switch (s->kind) {
	case BITS_SEG_INTEGER:
		if (read_fixed_size(&s->o[5], s->o[2].u, &bits))
			choose_integer(s, bits);
		else if (!bits_is_little(s->flags))
			s->put = BS_PUT_SIZED;
		break;
	case BITS_SEG_FLOAT:
		if (!read_fixed_size(&s->o[5], s->o[2].u, &bits) || (bits != 64 && bits != 32) ||
		    bits_is_little(s->flags))
			break;
		s->put = bits == 64 ? BS_PUT_FLOAT_64 : BS_PUT_FLOAT_32;
		s->bytes = (uint32_t)bits / 8;
		break;
	case BITS_SEG_STRING:
		s->put = BS_PUT_STRING;
		s->bytes = (uint32_t)(s->o[5].kind == OPND_U ? s->o[5].u : (uint64_t)small_value(s->o[5].term));
		break;
	case BITS_SEG_UTF8:
	case BITS_SEG_UTF16:
		s->put = s->kind == BITS_SEG_UTF8 ? BS_PUT_UTF8 : BS_PUT_UTF16;
		s->bytes = 4;
		break;
	case BITS_SEG_BINARY:
	case BITS_SEG_APPEND:
	case BITS_SEG_PRIVATE_APPEND:
		if (operand_is_atom(&s->o[5], am_all) && bits_are_units(8, s->o[2].u))
			s->put = BS_PUT_BINARY;
		break;
	default:
		break;
	}
}

static bool is_append(const struct segment *s)
{
	return s->kind == BITS_SEG_APPEND || s->kind == BITS_SEG_PRIVATE_APPEND;
}

static struct segment read_segment(struct emitter *em, const struct genop *g, const struct operand *o)
{
	struct segment s = { .o = o, .flags = emit_bits_flags(&o[3]) };
	unsigned kind = 0, n = sizeof(segment_types) / sizeof(segment_types[0]);

	while (kind < n && segment_types[kind].type != o[0].term)
		kind++;
	if (kind == n) {
		emit_fail(em, g, "a segment of an unknown type");
		return s;
	}
	s.kind = segment_types[kind].kind;
	choose_put(&s);
	return s;
}

static void emit_segment(struct emitter *em, const struct segment *s)
{
	const struct operand *o = s->o;
	bool is_string = s->kind == BITS_SEG_STRING;

	emit_word(em, s->kind | (Inst)s->flags << 8 | (Inst)o[2].u << 16 | (Inst)o[1].u << 32);
	emit_word(em, is_string ? NIL : emit_encode_source(&o[4]));
	emit_word(em, o[5].kind == OPND_U ? term_from_small((int64_t)o[5].u) : emit_encode_source(&o[5]));
	emit_word(em, is_string ? (Inst)(uintptr_t)o[4].bytes : 0);
	emit_word(em, s->put | (Inst)(s->put == BS_PUT_BITS ? s->bits : s->bytes) << 8);
}

/* The segments of one construction, as far as they are known before it runs. */
struct creation {
	struct emitter *em;
	const struct genop *g;
	const struct operand *items;
	uint32_t n;
	bool append;         /* the first is appended to */
	bool bitwise;        /* to any bit: all others are put as bits */
	unsigned bit;        /* else: in its byte, where the next segment starts */
};

static struct segment read_nth(const struct creation *c, uint32_t i)
{
	return read_segment(c->em, c->g, c->items + (size_t)i * SEGMENT_OPERANDS);
}

static bool is_put_as_bits(const struct segment *s)
{
	return s->kind == BITS_SEG_INTEGER && s->bits >= 1 && s->bits <= BS_PUT_BITS_MAX;
}

/* An append of integers that are no whole bytes together: its result, or a like one's, is the next one's first
 * segment. */
static bool is_bitwise(const struct creation *c)
{
	uint64_t bits = 0;

	for (uint32_t i = 1; i < c->n; i++) {
		struct segment s = read_nth(c, i);

		if (!is_put_as_bits(&s))
			return false;
		bits += s.bits;
	}
	return c->append && (bits & 7) != 0 && read_nth(c, 0).put == BS_PUT_BINARY && c->items[2].u == 1;
}

static struct creation read_creation(struct emitter *em, const struct genop *g, const struct operand *list)
{
	struct creation c = { em, g, list->items, list->count / SEGMENT_OPERANDS, false, false, 0 };
	struct segment first;

	if (c.n == 0)
		return c;
	first = read_nth(&c, 0);
	c.append = is_append(&first);
	c.bitwise = is_bitwise(&c);
	return c;
}

/* Segment i, which follows the one asked for before, with how it is put at its place. */
static struct segment place_segment(struct creation *c, uint32_t i)
{
	struct segment s = read_nth(c, i);

	if (c->bitwise && i == 0)
		s.put = BS_PUT_BITS;
	else if (is_put_as_bits(&s) && (c->bitwise || ((c->bit | s.bits) & 7) != 0))
		s.put = BS_PUT_BITS;
	else if (s.put == BS_PUT_SIZED ? c->append || i + 1 < c->n : c->bit != 0)
		s.put = BS_PUT_NONE;
	c->bit = (c->bit + s.bits) & 7;
	return s;
}

/* The operation for them: which of the three, and how many bytes they are at most (binaries not counted). */
static enum opcode choose_create(struct creation c, uint64_t *bytes)
{
	uint64_t bits = 0;

	*bytes = 0;
	for (uint32_t i = 0; i < c.n; i++) {
		struct segment s = place_segment(&c, i);

		if (s.put == BS_PUT_NONE)
			return OP_bs_create_bin;
		if (s.put == BS_PUT_BITS)
			bits += s.bits;
		else
			*bytes += s.bytes;
	}
	*bytes += (bits + 7) / 8 + c.bitwise;
	if (c.append)
		return *bytes < 1 << 20 ? OP_bs_create_bin_append : OP_bs_create_bin;
	return *bytes <= HEAPBIN_LIMIT ? OP_bs_create_bin_small : OP_bs_create_bin;
}

size_t emit_bs_create_bin(struct emitter *em, const struct genop *g, size_t count)
{
	struct creation c = read_creation(em, g, &g->args[5]);
	uint64_t bytes;
	enum opcode op = choose_create(c, &bytes);

	(void)count;
	emit_instr(em, op,
		   (struct operand[]){ g->args[0], g->args[4], g->args[2], operand_u(g->args[1].u),
				       operand_u(op == OP_bs_create_bin ? 0 : bytes),
				       operand_u(c.n * BS_SEGMENT_WORDS) });
	for (uint32_t i = 0; i < c.n; i++) {
		struct segment s = place_segment(&c, i);

		emit_segment(em, &s);
	}
	return 1;
}

/* ---- bs_match (OTP 26): {Fail, Context, [Command, Operands...]} */

struct match_command {
	Term name;
	unsigned operands;
	void (*emit)(struct emitter *em, const struct operand *fail, const struct operand *context,
		     const struct operand *o);
};

static uint64_t read_number(const struct operand *o)
{
	return o->kind == OPND_CONST ? (uint64_t)small_value(o->term) : o->u;
}

/* Size, Unit */
static void match_at_least(struct emitter *em, const struct operand *fail, const struct operand *context,
			   const struct operand *o)
{
	struct operand args[] = { *fail, *context, operand_u(read_number(&o[0])), operand_u(read_number(&o[1])) };

	emit_instr(em, OP_bs_match_ensure_at_least, args);
}

static void match_exactly(struct emitter *em, const struct operand *fail, const struct operand *context,
			  const struct operand *o)
{
	emit_instr(em, OP_bs_match_ensure_exactly,
		   (struct operand[]){ *fail, *context, operand_u(read_number(&o[0])) });
}

/* Live, Flags, Size, Unit, Destination */
static void match_integer(struct emitter *em, const struct operand *fail, const struct operand *context,
			  const struct operand *o)
{
	struct operand live = operand_u(read_number(&o[0]));

	emit_get_fixed(em, fail, context, &live, read_number(&o[2]) * read_number(&o[3]), emit_bits_flags(&o[1]),
		       &o[4]);
}

static void match_binary(struct emitter *em, const struct operand *fail, const struct operand *context,
			 const struct operand *o)
{
	struct operand args[] = { *fail,
				  *context,
				  operand_u(read_number(&o[0])),
				  operand_const(term_from_small((int64_t)read_number(&o[2]))),
				  operand_u(read_number(&o[3])),
				  operand_u(0),
				  o[4] };

	emit_instr(em, OP_bs_get_binary, args);
}

static void match_skip(struct emitter *em, const struct operand *fail, const struct operand *context,
		       const struct operand *o)
{
	emit_instr(em, OP_bs_skip_fixed, (struct operand[]){ *fail, *context, operand_u(read_number(&o[0])) });
}

/* Live, Unit, Destination */
static void match_tail(struct emitter *em, const struct operand *fail, const struct operand *context,
		       const struct operand *o)
{
	(void)fail;
	emit_instr(em, OP_bs_get_tail, (struct operand[]){ *context, o[2], operand_u(read_number(&o[0])) });
}

/* Live, Size, Value */
static void match_equals(struct emitter *em, const struct operand *fail, const struct operand *context,
			 const struct operand *o)
{
	struct operand args[] = { *fail, *context, operand_u(read_number(&o[1])), operand_u(read_number(&o[2])) };

	emit_instr(em, OP_bs_match_equals, args);
}

static const struct match_command match_commands[] = {
	{ am_ensure_at_least, 2, match_at_least },
	{ am_ensure_exactly, 1, match_exactly },
	{ am_integer, 5, match_integer },
	{ am_binary, 5, match_binary },
	{ am_skip, 1, match_skip },
	{ am_get_tail, 3, match_tail },
	{ am_eq_exact, 3, match_equals },
};

static const struct match_command *find_command(const struct operand *o)
{
	for (size_t i = 0; i < sizeof(match_commands) / sizeof(match_commands[0]); i++)
		if (operand_is_atom(o, match_commands[i].name))
			return &match_commands[i];
	return NULL;
}

size_t emit_bs_match(struct emitter *em, const struct genop *g, size_t count)
{
	const struct operand *list = &g->args[2];

	(void)count;
	for (uint32_t i = 0; i < list->count;) {
		const struct match_command *c = find_command(&list->items[i]);

		if (c == NULL || list->count - i <= c->operands) {
			emit_fail(em, g, "an unknown command");
			return 1;
		}
		c->emit(em, &g->args[0], &g->args[1], &list->items[i + 1]);
		i += 1 + c->operands;
	}
	return 1;
}
