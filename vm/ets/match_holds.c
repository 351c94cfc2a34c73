/* SPDX-License-Identifier: Apache-2.0 */
/* What the terms of a head hold: who reads a constant from it must know whether it is compared as a whole. Depth costs
 * no C stack. */
#include <string.h>

#include "base/alloc.h"
#include "ets/match_compile.h"
#include "term/atom.h"
#include "term/object.h"

enum { FIXED_FRAMES = 16 };

void *match_double_room(void *array, const void *fixed, size_t *room, size_t size)
{
	size_t bytes = *room * size;

	*room *= 2;
	return array == fixed ? memcpy(mem_alloc(2 * bytes), fixed, bytes) : mem_realloc(array, 2 * bytes);
}

static size_t constant_index(const struct match_program *m, Term t)
{
	size_t i = (size_t)(term_ptr(t) - m->constants);

	ENSURE(i < m->constant_words);
	return i;
}

static bool is_variable(Term t) { return t == am_underscore || match_variable_number(t) >= 0; }

unsigned match_holds(const struct match_program *m, Term t)
{
	if (term_is_immed(t))
		return is_variable(t) ? MATCH_HOLDS_VARIABLE : 0;
	return m->holds[constant_index(m, t)];
}

struct frame {
	Term term;
	uint32_t next;           /* word still to be looked at */
	uint8_t holds;
};

/* Can it hold variables? What a fun or a native record holds is data. */
static bool is_container(Term t)
{
	return !term_is_immed(t) && !term_is_fun(t) && !term_is_record(t);
}

static uint8_t own_kind(Term t)
{
	if (term_is_map(t))
		return MATCH_HOLDS_MAP;
	return term_is_float(t) && float_value(t) == 0 ? MATCH_HOLDS_ZERO : 0;
}

void match_mark_head(struct match_program *m, Term t)
{
	struct frame fixed[FIXED_FRAMES], *frames = fixed;
	size_t count = 0, room = FIXED_FRAMES;
	uint8_t holds = 0;       /* of the object just left */

	if (!is_container(t))
		return;
	frames[count++] = (struct frame){ t, 0, 0 };
	while (count > 0) {
		struct frame *f = &frames[count - 1];
		bool is_cons = term_is_cons(f->term);
		const Term *p = term_ptr(f->term);
		struct object_shape shape = is_cons ? (struct object_shape){ 2, 0, 2 } : object_shape(p);
		uint32_t i = shape.first_term + f->next;

		f->holds |= holds;
		holds = 0;
		if (i < shape.last_term) {
			Term inner = p[i];

			f->next++;
			if (term_is_atom(inner)) {
				f->holds |= is_variable(inner) ? MATCH_HOLDS_VARIABLE : 0;
			} else if (is_container(inner)) {
				MATCH_GROW(frames, fixed, count, room);
				frames[count++] = (struct frame){ inner, 0, 0 };
			}
			continue;
		}
		holds = f->holds | own_kind(f->term);
		if (holds != 0)
			m->holds[constant_index(m, f->term)] = holds;
		count--;
	}
	match_free_array(frames, fixed);
}
