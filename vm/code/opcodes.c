/* SPDX-License-Identifier: Apache-2.0 */
/* Layouts of the internal operations, from opcodes.def. */
#include "code/opcodes.h"

#include <string.h>

#include "base/log.h"
#include "code/genops.h"

enum { GENOP_none = 0 };

static struct opcode_info infos[OP_COUNT] = {
#define OP(op, generic, letters, size)                                                                                 \
	[OP_##op] = { .name = #op, .signature = letters, .genop = GENOP_##generic, .words = size },
#include "code/opcodes.def"
};

static unsigned letter_bytes(char kind)
{
	if (strchr("xyrduzt", kind) != NULL)
		return 2;
	if (strchr("fjIn", kind) != NULL)
		return 4;
	if (strchr("-p", kind) != NULL)
		return 0;
	ENSURE(strchr("sckielQ", kind) != NULL);
	return 8;
}

static unsigned lay_class(struct opcode_info *o, unsigned bytes, unsigned at)
{
	for (unsigned i = 0; i < o->count; i++) {
		if (o->fields[i].bytes != bytes)
			continue;
		at = (at + bytes - 1) / bytes * bytes;
		o->fields[i].offset = (uint16_t)at;
		at += bytes;
	}
	return at;
}

static void lay_out(struct opcode_info *o)
{
	unsigned at = 2;

	o->count = (uint8_t)strlen(o->signature);
	ENSURE(o->count <= OPCODE_FIELDS_MAX);
	for (unsigned i = 0; i < o->count; i++) {
		o->fields[i].kind = o->signature[i];
		o->fields[i].bytes = (uint8_t)letter_bytes(o->signature[i]);
		o->has_list |= o->signature[i] == 'n';
	}
	at = lay_class(o, 2, at);
	at = lay_class(o, 4, at);
	at = lay_class(o, 8, at);
	if (o->words != (at + 7) / 8 && strcmp(o->name, "func_info") != 0) {
		log_line("opcodes.def: %s takes %u words, not %u", o->name, (at + 7) / 8, o->words);
		ENSURE(o->words == (at + 7) / 8);
	}
}

void opcodes_init(void)
{
	for (unsigned i = 0; i < OP_COUNT; i++)
		lay_out(&infos[i]);
}

const struct opcode_info *opcode_info(unsigned op)
{
	return &infos[op];
}
