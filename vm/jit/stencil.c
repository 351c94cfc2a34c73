/* SPDX-License-Identifier: Apache-2.0 */
/* Finding the stencil of an operation with its operands, and filling it. */
#include "jit/stencil.h"

#include <string.h>

#include "code/opcodes.h"

/* Where narrow words end: what an instruction extends with zeros and with its sign is the same. */
#define NARROW_END ((Inst)1 << 31)

/* What the operands of an operation are. narrow: words that may be narrow, as w. */
struct shape {
	uint16_t y, w, j, narrow;
};

static void add_source(struct shape *s, Inst word, unsigned bit)
{
	unsigned kind = STENCIL_WIDE;

	if (source_is_reg(word))
		kind = word >> 2 & REG_Y_BIT ? STENCIL_Y : STENCIL_X;
	else if (word < NARROW_END)
		s->narrow |= (uint16_t)(STENCIL_NARROW << bit);
	s->w |= (uint16_t)(kind << bit);
}

/* Those of a list are all taken for narrow, or none. */
static void add_list_constants(struct shape *s, unsigned op, const Inst *i)
{
	uint16_t wide = stencil_list_constants(op);
	bool all_narrow = true;

	for (unsigned n = 0; wide >> 2 * n != 0; n++)
		if (wide >> 2 * n & STENCIL_WIDE)
			all_narrow &= i[n] < NARROW_END;
	s->w |= wide;
	s->narrow |= all_narrow ? wide | wide >> 1 : 0;
}

static struct shape shape_of(unsigned op, const Inst *i)
{
	const struct opcode_info *o = opcode_info(op);
	struct shape s = { 0 };

	add_list_constants(&s, op, i);
	for (unsigned f = 0; f < o->count; f++) {
		unsigned at = o->fields[f].offset;

		switch (o->fields[f].kind) {
		case 'r':
		case 'd':
			s.y |= (uint16_t)((((const uint16_t *)i)[at / 2] & REG_Y_BIT) << at / 2);
			break;
		case 's':
			add_source(&s, i[at / 8], 2 * (at / 8));
			break;
		case 'c':
		case 'k':
		case 'i':
			s.narrow |= (uint16_t)(i[at / 8] < NARROW_END ? STENCIL_NARROW << 2 * (at / 8) : 0);
			/* fall through */
		case 'e':
		case 'l':
		case 'Q':
			s.w |= (uint16_t)(STENCIL_WIDE << 2 * (at / 8));
			break;
		case 'j':
			s.j |= (uint16_t)((((const int32_t *)i)[at / 4] != 0) << at / 4);
			break;
		case 'f':
		case 'I':
		case 'n':
			s.j |= (uint16_t)(1 << at / 4);
			break;
		}
	}
	return s;
}

static size_t first_of(unsigned op)
{
	size_t low = 0, high = stencil_count;

	while (low < high) {
		size_t middle = (low + high) / 2;

		if (stencils[middle].op < op)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

const struct stencil *stencil_find(unsigned op, const Inst *i)
{
	struct shape s = shape_of(op, i);
	const struct stencil *found = NULL;

	for (size_t n = first_of(op); n < stencil_count && stencils[n].op == op; n++) {
		const struct stencil *one = &stencils[n];

		if (one->y != s.y || one->j != s.j)
			continue;
		if (one->w == (s.w | s.narrow))
			return one;
		if (one->w == s.w)
			found = one;
	}
	return found;
}

#define HEXADECIMAL(digits) 0x##digits
#define SHARED_J(digits) HEXADECIMAL(digits)
const struct stencil *stencil_shared(unsigned number)
{
	enum { shared_j = SHARED_J(STENCIL_SHARED_J) };
	static const uint16_t ops[] = {
#define STENCIL_SHARED(op, n) [n] = OP_##op,
		STENCILS_SHARED
#undef STENCIL_SHARED
	};

	for (size_t n = first_of(ops[number]); n < stencil_count && stencils[n].op == ops[number]; n++)
		if (stencils[n].j == shared_j)
			return &stencils[n];
	return NULL;
}

/* What goes into a hole; where the code itself goes, by address. */
static uint64_t value_of(const struct stencil_patch *p, const Inst *i, const struct stencil_ways *ways)
{
	unsigned n = p->number;

	switch ((enum stencil_hole)p->hole) {
	case STENCIL_FIELD:
		return ((const uint16_t *)i)[n];
	case STENCIL_SCALED:
		return ((const uint16_t *)i)[n] * sizeof(Inst);
	case STENCIL_TUPLE:
		return HEADER(((const uint16_t *)i)[n], SUB_TUPLE);
	case STENCIL_BYTES:
		return ((const uint32_t *)i)[n] * sizeof(Inst);
	case STENCIL_NUMBER:
		return (uint64_t)((const int32_t *)i)[n];
	case STENCIL_REGISTER:
		return i[n] >> 2;
	case STENCIL_WORD:
		return i[n];
	case STENCIL_LABEL:
		return ways->label(ways->arg, i + ((const int32_t *)i)[n]);
	case STENCIL_WORD_LABEL:
		return ways->label(ways->arg, i + (int64_t)i[n]);
	case STENCIL_PREEMPT:
		return n == 0 ? ways->preempt : ways->preempt_at(ways->arg, i + ((const int32_t *)i)[n]);
	case STENCIL_PREEMPT_RETURN:
		return ways->preempt_return;
	case STENCIL_NEXT:
		return ways->next;
	case STENCIL_EXIT:
		return ways->exit_at(ways->arg, i);
	case STENCIL_LEAVE:
		return ways->leave;
	case STENCIL_NATIVE:
		return ways->shared[n];
	case STENCIL_FAILED:
		return ways->failed;
	case STENCIL_TAIL_FAILED:
		return ways->tail_failed;
	case STENCIL_COLLECT:
		return ways->collect;
	case STENCIL_EXITED:
		return ways->exited;
	case STENCIL_HERE:
		return (uintptr_t)i;
	case STENCIL_RANGE:
		return (uintptr_t)i >> CODE_RANGE_SHIFT;
	case STENCIL_FUNCTION:
		return ways->function(ways->arg, n);
	case STENCIL_HOLE_COUNT:
		break;
	}
	return 0;
}

/* Fails: false, the value does not fit. */
static bool fill_hole(uint8_t *to, uintptr_t at, const struct stencil_patch *p, uint64_t value)
{
	int64_t relative;

	value += (uint64_t)(int64_t)p->addend;
	switch ((enum stencil_form)p->form) {
	case STENCIL_ABS64:
		memcpy(to, &value, sizeof value);
		return true;
	case STENCIL_ABS32:
		memcpy(to, &value, sizeof(uint32_t));
		return value < NARROW_END;
	case STENCIL_REL32:
		relative = (int64_t)(value - at);
		memcpy(to, &relative, sizeof(int32_t));
		return relative == (int32_t)relative;
	}
	return false;
}

bool stencil_fits(const struct stencil *s, const Inst *i)
{
	for (unsigned n = 0; n < s->patch_count; n++) {
		const struct stencil_patch *p = &s->patches[n];

		if (p->form == STENCIL_ABS32 && value_of(p, i, NULL) + (uint64_t)(int64_t)p->addend >= NARROW_END)
			return false;
	}
	return true;
}

bool stencil_fill(const struct stencil *s, const Inst *i, const struct stencil_ways *ways, uint8_t *to, uintptr_t at)
{
	bool fits = true;

	memcpy(to, s->code, s->size);
	for (unsigned n = 0; n < s->patch_count; n++) {
		const struct stencil_patch *p = &s->patches[n];

		fits &= fill_hole(to + p->at, at + p->at, p, value_of(p, i, ways));
	}
	return fits;
}
