/* SPDX-License-Identifier: Apache-2.0 */
/* What every part of the beam file parser needs: its error, memory that lives as long as the file, atoms. */
#include "code/beam_parse.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"

enum { BLOCK_BYTES = 1 << 15 };

struct beam_memory {
	struct beam_memory *next;
	size_t used, size;
	_Alignas(16) uint8_t bytes[];
};

bool beam_parse_fail(struct beam_parse *p, const char *format, ...)
{
	va_list args;

	if (p->error->text[0] != 0)
		return false;
	va_start(args, format);
	vsnprintf(p->error->text, sizeof(p->error->text), format, args);
	va_end(args);
	return false;
}

void *beam_parse_room(struct beam_parse *p, size_t count, size_t size)
{
	struct beam_memory *m = p->f->memory;
	size_t bytes = (count * size + 15) & ~(size_t)15;

	if (m == NULL || m->size - m->used < bytes) {
		size_t room = bytes > BLOCK_BYTES ? bytes : BLOCK_BYTES;

		m = mem_alloc(sizeof(*m) + room);
		m->used = 0;
		m->size = room;
		/* a block of its own, behind the one being filled */
		if (p->f->memory != NULL && bytes > BLOCK_BYTES / 4) {
			m->next = p->f->memory->next;
			p->f->memory->next = m;
		} else {
			m->next = p->f->memory;
			p->f->memory = m;
		}
	}
	m->used += bytes;
	return m->bytes + m->used - bytes;
}

void *beam_parse_take(struct beam_parse *p, size_t count, size_t size)
{
	return memset(beam_parse_room(p, count, size), 0, count * size);
}

Term beam_parse_atom(struct beam_parse *p, uint64_t index)
{
	if (index > 0 && index <= p->f->atom_count)
		return p->f->atoms[index];
	beam_parse_fail(p, "atom %llu is not there", (unsigned long long)index);
	return TERM_NONE;
}

void beam_parse_free(struct beam_file *f)
{
	struct beam_memory *m, *next;

	for (m = f->memory; m != NULL; m = next) {
		next = m->next;
		mem_free(m);
	}
	f->memory = NULL;
}
