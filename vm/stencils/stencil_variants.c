/* SPDX-License-Identifier: Apache-2.0 */
/* Prints the variants of each operation that a stencil is to be made of: STENCIL(op, y, w, j, there) as stencil_ops.c
 * takes them, all combinations of what its operands may be. */
#include <stdio.h>
#include <string.h>

#include "code/opcodes.h"
#include "jit/stencil.h"

/* Construction of binaries step by step, and native records. */
static bool is_left_out(unsigned op)
{
	return (op >= OP_bs_init && op <= OP_bs_put_utf32) || strstr(opcode_info(op)->name, "record") != NULL;
}

/* What a field may be: `count` alternatives, each with what it puts into y, w or j. */
struct choice {
	unsigned count;
	uint16_t y[4], w[4], j[4];
};

static void add_choice(struct choice *c, uint16_t y, uint16_t w, uint16_t j)
{
	c->y[c->count] = y;
	c->w[c->count] = w;
	c->j[c->count++] = j;
}

static unsigned word_fields(const struct opcode_info *o)
{
	unsigned n = 0;

	for (unsigned i = 0; i < o->count; i++)
		n += o->fields[i].bytes == 8;
	return n;
}

/* A constant of few bits is an operand of an instruction; where there are several words that would be too many
 * combinations, and they are rare. */
static struct choice choices_of(const struct opcode_info *o, const struct opcode_field *f)
{
	struct choice c = { 0 };
	unsigned word = 2 * (f->offset / 8);
	bool narrow = word_fields(o) == 1;

	switch (f->kind) {
	case 'r':
	case 'd':
		add_choice(&c, 0, 0, 0);
		add_choice(&c, (uint16_t)(1 << f->offset / 2), 0, 0);
		break;
	case 's':
		add_choice(&c, 0, (uint16_t)(STENCIL_X << word), 0);
		add_choice(&c, 0, (uint16_t)(STENCIL_Y << word), 0);
		/* fall through */
	case 'c':
	case 'k':
	case 'i':
		add_choice(&c, 0, (uint16_t)(STENCIL_WIDE << word), 0);
		if (narrow)
			add_choice(&c, 0, (uint16_t)(STENCIL_NARROW << word), 0);
		break;
	case 'e':
	case 'l':
	case 'Q':
		add_choice(&c, 0, (uint16_t)(STENCIL_WIDE << word), 0);
		break;
	case 'j':
		add_choice(&c, 0, 0, 0);
		add_choice(&c, 0, 0, (uint16_t)(1 << f->offset / 4));
		break;
	case 'f':
	case 'I':
	case 'n':
		add_choice(&c, 0, 0, (uint16_t)(1 << f->offset / 4));
		break;
	default:
		add_choice(&c, 0, 0, 0);
	}
	return c;
}

/* The fields that may hold no label. */
static unsigned labels_of(const struct opcode_info *o)
{
	unsigned labels = 0;

	for (unsigned i = 0; i < o->count; i++)
		if (o->fields[i].kind == 'j')
			labels |= 1u << o->fields[i].offset / 4;
	return labels;
}

static void print_variants(const struct opcode_info *o, unsigned field, unsigned y, unsigned w, unsigned j)
{
	struct choice c;

	if (field == o->count) {
		printf("STENCIL(%s, %x, %x, %x, %x)\n", o->name, y, w, j, labels_of(o) & j);
		return;
	}
	c = choices_of(o, &o->fields[field]);
	for (unsigned i = 0; i < c.count; i++)
		print_variants(o, field + 1, y | c.y[i], w | c.w[i], j | c.j[i]);
}

int main(void)
{
	opcodes_init();
	for (unsigned op = 0; op < OP_COUNT; op++) {
		const struct opcode_info *o = opcode_info(op);
		unsigned wide = stencil_list_constants(op);

		if (is_left_out(op) || stencil_op(op) != op)
			continue;
		print_variants(o, 0, 0, wide, 0);
		if (wide != 0) /* all of them narrow */
			print_variants(o, 0, 0, wide | wide >> 1, 0);
	}
	return 0;
}
