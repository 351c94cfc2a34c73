/* SPDX-License-Identifier: Apache-2.0 */
/* Breakpoints at lines: the table of lines of a module names the place of each debug_line. */
#include "code/line_break.h"

#include <stdatomic.h>

#include "code/opcodes.h"

const Inst *line_return;

static _Atomic bool is_supported, is_asked = true;

bool line_break_is_supported(void)
{
	return atomic_load(&is_supported);
}

void line_break_support(bool on)
{
	atomic_store(&is_supported, on);
}

bool line_break_is_asked(void)
{
	return atomic_load(&is_asked);
}

void line_break_ask(bool on)
{
	atomic_store(&is_asked, on);
}

bool line_break_is_wanted(void)
{
	return line_break_is_supported() && line_break_is_asked();
}

/* The operation of a place to stop at, or NULL. */
static Inst *find_break(const struct code_instance *c, const struct code_line *line)
{
	Inst *at = c->words + line->at;

	if (!c->breaks_lines || line->at >= c->word_count)
		return NULL;
	return (uint16_t)*at == OP_debug_line || (uint16_t)*at == OP_debug_line_stop ? at : NULL;
}

enum line_break line_break_find(const struct code_instance *c, uint32_t line)
{
	enum line_break found = LINE_NONE;

	for (uint32_t i = 0; i < c->line_count && found != LINE_BREAK; i++)
		if (c->lines[i].line == line)
			found = find_break(c, &c->lines[i]) != NULL ? LINE_BREAK : LINE_NO_BREAK;
	return found;
}

void line_break_set(struct code_instance *c, uint32_t line, bool on)
{
	module_drop_native(c->words);
	for (uint32_t i = 0; i < c->line_count; i++) {
		Inst *at = c->lines[i].line == line ? find_break(c, &c->lines[i]) : NULL;

		if (at != NULL)
			*at = (*at & ~(Inst)0xffff) | (on ? OP_debug_line_stop : OP_debug_line);
	}
}

void line_break_each(const struct code_instance *c, uint32_t function, void (*see)(void *arg, uint32_t line, bool on),
		     void *arg)
{
	const Inst *from = c->functions[function];
	const Inst *to = function + 1 < c->function_count ? c->functions[function + 1] : c->words + c->word_count;

	for (uint32_t i = 0; i < c->line_count; i++) {
		const Inst *at = find_break(c, &c->lines[i]);

		if (at >= from && at < to)
			see(arg, c->lines[i].line, (uint16_t)*at == OP_debug_line_stop);
	}
}
