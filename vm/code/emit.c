/* SPDX-License-Identifier: Apache-2.0 */
/* The translation: the driver, instructions by signature, labels. Operations with code of their own: emit_ops.c and its
 * kin. */
#include "code/emit.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "code/coverage.h"
#include "code/line_break.h"

enum { ROWS_PER_GENOP = 10 };

static struct {
	uint16_t ops[GENOP_LIMIT][ROWS_PER_GENOP];
	uint8_t counts[GENOP_LIMIT];
} rows;

void emit_init(void)
{
	for (unsigned op = 0; op < OP_COUNT; op++) {
		unsigned g = opcode_info(op)->genop;

		if (g == 0)
			continue;
		ENSURE(rows.counts[g] < ROWS_PER_GENOP);
		rows.ops[g][rows.counts[g]++] = (uint16_t)op;
	}
	emit_runs_init();
}

/* Makes room for one more element of an array. */
static void *grow(void *array, size_t count, size_t *room, size_t bytes)
{
	if (count < *room)
		return array;
	*room = *room == 0 ? 256 : *room * 2;
	return mem_realloc(array, *room * bytes);
}

void emit_word(struct emitter *em, Inst word)
{
	em->words = grow(em->words, em->count, &em->room, sizeof(Inst));
	em->words[em->count++] = word;
}

static void add_fix(struct emitter *em, size_t at, unsigned bytes, uint32_t label)
{
	em->fixes = grow(em->fixes, em->fix_count, &em->fix_room, sizeof(*em->fixes));
	em->fixes[em->fix_count++] = (struct emit_fix){ at, em->base, label, (uint8_t)bytes };
}

void emit_list_label(struct emitter *em, uint32_t label)
{
	add_fix(em, em->count * sizeof(Inst), 8, label);
	emit_word(em, 0);
}

unsigned emit_encode_reg(const struct operand *o)
{
	return o->kind == OPND_Y ? reg_y((unsigned)o->u) : reg_x((unsigned)o->u);
}

Inst emit_encode_source(const struct operand *o)
{
	return o->kind == OPND_CONST ? o->term : source_from_reg(emit_encode_reg(o));
}

void emit_source(struct emitter *em, const struct operand *o)
{
	emit_word(em, emit_encode_source(o));
}

void emit_fail(struct emitter *em, const struct genop *g, const char *why)
{
	if (!em->failed)
		snprintf(em->error->text, sizeof(em->error->text), "%s at byte %u of the code: %s", genop_name(g->op),
			 g->offset, why);
	em->failed = true;
}

/* ---- operands */

static bool accepts(char kind, const struct operand *o)
{
	switch (kind) {
	case '-': return true;
	case 'p': return o->kind == OPND_LABEL && o->u == 0;
	case 'f': return o->kind == OPND_LABEL && o->u != 0;
	case 'j': return o->kind == OPND_LABEL;
	case 'x': return o->kind == OPND_X;
	case 'y': return o->kind == OPND_Y;
	case 'r': case 'd': return operand_is_reg(o);
	case 's': return operand_is_reg(o) || o->kind == OPND_CONST;
	case 'c': return o->kind == OPND_CONST;
	case 'k': return operand_is_immed(o);
	case 'i': return operand_is_small(o);
	case 'u': case 'z': case 't': return (o->kind == OPND_U || o->kind == OPND_NEED) && o->u < 65536;
	case 'I': return (o->kind == OPND_U || o->kind == OPND_NEED) && o->u <= INT32_MAX;
	case 'Q': return o->kind == OPND_U;
	case 'e': return o->kind == OPND_EXPORT;
	case 'l': return o->kind == OPND_FUN;
	default: return false;
	}
}

static Inst encode(struct emitter *em, char kind, const struct operand *o)
{
	switch (kind) {
	case 'x': case 'y': case 'r': case 'd': return emit_encode_reg(o);
	case 's': return emit_encode_source(o);
	case 'c': case 'k': case 'i': return o->term;
	case 'z': return (o->u + 1) * sizeof(Term);
	case 't': return o->u * sizeof(Term);
	case 'e': return (Inst)o->export;
	case 'l': return (Inst)em->f->lambdas[o->u].entry;
	default: return o->u;
	}
}

static void put_field(struct emitter *em, const struct opcode_field *field, const struct operand *o)
{
	uint8_t *at = (uint8_t *)(em->words + em->base) + field->offset;
	Inst value;
	uint16_t half;
	uint32_t word;

	if (field->kind == 'f' || field->kind == 'j') {
		if (o->u != 0)
			add_fix(em, em->base * sizeof(Inst) + field->offset, 4, (uint32_t)o->u);
		return;
	}
	value = encode(em, field->kind, o);
	half = (uint16_t)value;
	word = (uint32_t)value;
	if (field->bytes == 2)
		memcpy(at, &half, 2);
	else if (field->bytes == 4)
		memcpy(at, &word, 4);
	else if (field->bytes == 8)
		memcpy(at, &value, 8);
}

void emit_instr(struct emitter *em, enum opcode op, const struct operand *args)
{
	const struct opcode_info *info = opcode_info(op);

	memmove(em->bases + 1, em->bases, sizeof(em->bases) - sizeof(em->bases[0]));
	em->bases[0] = em->base;
	em->base = (uint32_t)em->count;
	emit_word(em, op);
	for (unsigned i = 1; i < info->words; i++)
		emit_word(em, 0);
	for (unsigned i = 0; i < info->count; i++)
		put_field(em, &info->fields[i], &args[i]);
	emit_join_run(em);
}

static bool fields_accept(const struct opcode_info *info, const struct operand *args)
{
	for (unsigned i = 0; i < info->count; i++)
		if (info->fields[i].kind != 'n' && !accepts(info->fields[i].kind, &args[i]))
			return false;
	return true;
}

void emit_first(struct emitter *em, const uint16_t *ops, size_t n, const struct operand *args)
{
	size_t i = 0;

	while (i + 1 < n && !fields_accept(opcode_info(ops[i]), args))
		i++;
	emit_instr(em, ops[i], args);
}

/* The first row of g's generic operation whose signature takes g's operands. */
static void emit_by_rows(struct emitter *em, const struct genop *g)
{
	for (unsigned i = 0; i < rows.counts[g->op]; i++) {
		unsigned op = rows.ops[g->op][i];

		if (opcode_info(op)->count == g->count && fields_accept(opcode_info(op), g->args)) {
			emit_instr(em, op, g->args);
			return;
		}
	}
	emit_fail(em, g, "no internal operation takes these operands");
}

/* ---- labels, lines, functions */

static void settle_labels(struct emitter *em)
{
	for (size_t i = 0; i < em->fix_count; i++) {
		const struct emit_fix *fix = &em->fixes[i];
		int64_t words = (int64_t)em->label_at[fix->label] - 1 - fix->base;
		int32_t half = (int32_t)words;
		uint8_t *at = (uint8_t *)em->words + fix->at;

		ENSURE(em->label_at[fix->label] != 0);
		if (fix->bytes == 4)
			memcpy(at, &half, 4);
		else
			memcpy(at, &words, 8);
	}
}

void emit_line(struct emitter *em, uint64_t index)
{
	const struct beam_line *line = &em->f->lines[index];
	struct code_line entry = { (uint32_t)em->count, 0, 0 };

	if (index < em->f->line_count) {
		entry.line = line->line;
		entry.file = line->file;
	}
	if (em->line_count > 0 && em->lines[em->line_count - 1].at == em->count)
		em->line_count--;
	em->lines = grow(em->lines, em->line_count, &em->line_room, sizeof(*em->lines));
	em->lines[em->line_count++] = entry;
}

static void add_func_info(struct emitter *em, const struct genop *g)
{
	em->functions = grow(em->functions, em->function_count, &em->function_room, sizeof(*em->functions));
	em->functions[em->function_count++] = em->count;
	emit_word(em, OP_func_info);
	emit_word(em, g->args[0].term);
	emit_word(em, g->args[1].term);
	emit_word(em, g->args[2].u);
}

/* At a function's entry: one that the VM has itself is called instead; its own code behind is never reached. */
static bool add_native(struct emitter *em)
{
	const Inst *info = em->words + em->functions[em->function_count - 1];
	struct export *e = export_find(info[1], info[2], (uint32_t)info[3]);
	struct operand args[2] = { { .kind = OPND_U }, { .kind = OPND_EXPORT, .export = e } };

	if (e == NULL || e->bif == NULL)
		return false;
	emit_instr(em, OP_call_bif_only, args);
	return true;
}

/* The function in hand stands in an attribute -nifs. */
static void note_nif(struct emitter *em)
{
	struct code_instance *c = em->c;

	if (c->declared_nifs == NULL)
		c->declared_nifs = mem_zalloc(em->f->function_count + 1);
	if (em->function_count > 0 && em->function_count <= em->f->function_count)
		c->declared_nifs[em->function_count - 1] = true;
}

/* ---- coverage */

/* The code passes the point here. */
static void emit_point(struct emitter *em, struct coverage_point *point)
{
	struct operand at = operand_u((uintptr_t)&point->count);

	emit_instr(em, coverage_counts(em->c->coverage) ? OP_cover_count : OP_cover_mark, &at);
}

static void cover_function(struct emitter *em)
{
	struct coverage *c = em->c->coverage;

	if (!coverage_of_lines(c) && c->count < c->room)
		emit_point(em, coverage_add(c, (uint32_t)em->function_count - 1));
}

/* A function begins with a line of its own, be it the same as the last one. */
static void pass_line(struct emitter *em, uint64_t line, bool begins_function)
{
	if (line == 0 || (line == em->line && !begins_function))
		return;
	em->line = line;
	em->line_point = NULL;
}

/* A line that is marked again, with none between, is the same point, by its last name. */
static void cover_line(struct emitter *em, const struct genop *g)
{
	struct coverage *c = em->c->coverage;

	if (c == NULL || !coverage_of_lines(c))
		return;
	pass_line(em, g->args[0].u, false);
	if (em->line_point == NULL) {
		em->line_point = coverage_add(c, em->function_count > 0 ? (uint32_t)em->function_count - 1 : 0);
		em->line_point->line = g->args[0].u < em->f->line_count ? em->f->lines[g->args[0].u].line : 0;
	}
	em->line_point->id = (uint32_t)g->args[1].u;
	emit_point(em, em->line_point);
}

/* ---- debuggers */

/* A line begins here where a debugger may want to stop; its function's head is no such place. */
static void break_line(struct emitter *em, const struct genop *g)
{
	if (!em->c->breaks_lines || operand_is_atom(&g->args[0], am_entry))
		return;
	emit_line(em, g->args[1].u);
	emit_instr(em, OP_debug_line, &g->args[3]);
}

static void begin_function(struct emitter *em, const struct genop *g, size_t count)
{
	if (add_native(em))
		return;
	if (em->c->coverage != NULL)
		cover_function(em);
	else if (count > 1 && !em->c->breaks_lines)
		emit_scan(em, g + 1, (uint32_t)g->args[0].u);
}

static size_t emit_one(struct emitter *em, const struct genop *g, size_t count)
{
	emit_special special;
	size_t used;

	switch (g->op) {
	case GENOP_label:
		em->label_at[g->args[0].u] = (uint32_t)em->count + 1;
		if (em->f->labels[g->args[0].u].entry)
			begin_function(em, g, count);
		return 1;
	case GENOP_line:
		emit_line(em, g->args[0].u);
		pass_line(em, g->args[0].u, count > 1 && g[1].op == GENOP_func_info);
		return 1;
	case GENOP_executable_line:
		cover_line(em, g);
		return 1;
	case GENOP_func_info:
		add_func_info(em, g);
		return 1;
	case GENOP_nif_start:
		note_nif(em);
		return 1;
	case GENOP_debug_line:
		break_line(em, g);
		return 1;
	case GENOP_on_load:
	case GENOP_recv_mark: case GENOP_recv_set: case GENOP_fclearerror: case GENOP_fcheckerror:
		return 1;
	case GENOP_int_code_end:
		emit_instr(em, OP_int_code_end, NULL);
		return 1;
	default:
		break;
	}
	special = emit_special_of(g->op);
	used = special != NULL ? special(em, g, count) : 0;
	if (used > 0)
		return used;
	emit_by_rows(em, g);
	return 1;
}

static void finish_instance(struct emitter *em)
{
	struct code_instance *c = em->c;

	memcpy(c->words, em->words, em->count * sizeof(Inst));
	c->functions = mem_alloc((em->function_count + 1) * sizeof(*c->functions));
	for (size_t i = 0; i < em->function_count; i++)
		c->functions[i] = c->words + em->functions[i];
	c->function_count = (uint32_t)em->function_count;
	c->lines = em->lines;
	c->line_count = (uint32_t)em->line_count;
	em->lines = NULL;
	c->label_address = mem_zalloc(em->f->label_count * sizeof(*c->label_address));
	for (uint32_t i = 1; i < em->f->label_count; i++)
		if (em->f->labels[i].entry && em->label_at[i] != 0)
			c->label_address[i] = c->words + em->label_at[i] - 1;
}

int emit_module(const struct beam_file *f, struct code_instance *c, struct beam_error *error)
{
	struct emitter em = { .f = f, .c = c, .error = error };
	int status = -EINVAL;

	c->coverage = coverage_new(f);
	c->breaks_lines = line_break_is_wanted();
	em.label_at = mem_zalloc(f->label_count * sizeof(*em.label_at));
	em.label_op = mem_zalloc(f->label_count * sizeof(*em.label_op));
	for (uint32_t i = 0; i < f->op_count; i++)
		if (f->ops[i].op == GENOP_label)
			em.label_op[f->ops[i].args[0].u] = i;
	for (size_t i = 0; i < f->op_count && !em.failed;)
		i += emit_one(&em, &f->ops[i], f->op_count - i);
	if (!em.failed) {
		settle_labels(&em);
		status = code_alloc(c, em.count);
		if (status == 0)
			finish_instance(&em);
		else
			snprintf(error->text, sizeof(error->text), "no room for %zu words of code", em.count);
	}
	mem_free(em.words);
	mem_free(em.label_at);
	mem_free(em.label_op);
	mem_free(em.fixes);
	mem_free(em.lines);
	mem_free(em.functions);
	return status;
}
