/* SPDX-License-Identifier: Apache-2.0 */
/* The translation of generic operations to internal ones.
 * Invariant: while it runs, code is a growing array of words without absolute addresses of its own; labels are settled
 * at the end, as words from the instruction that names them. */
#ifndef VM_CODE_EMIT_H
#define VM_CODE_EMIT_H

#include "code/module.h"
#include "code/opcodes.h"

/* module_translate. */
int emit_module(const struct beam_file *f, struct code_instance *c, struct beam_error *error);
/* Indexes opcodes.def by generic operation. After opcodes_init. */
void emit_init(void);

/* ---- between the files of the translation */

/* A label's place in code still to be written: `bytes` (4 or 8) at byte `at`, relative to word `base`. */
struct emit_fix {
	size_t at;
	uint32_t base;
	uint32_t label;
	uint8_t bytes;
};

struct emitter {
	const struct beam_file *f;
	struct code_instance *c;
	struct beam_error *error;
	Inst *words;
	size_t count, room;
	uint32_t base;       /* the instruction being written */
	uint32_t bases[4];   /* those written before it, the last one first */
	uint32_t *label_at;  /* by label: word + 1; 0: not yet */
	uint32_t *label_op;  /* by label: which of the operations of the file it is */
	struct emit_fix *fixes;
	size_t fix_count, fix_room;
	struct code_line *lines;
	size_t line_count, line_room;
	uint64_t line;       /* the last one that was not the same as before, as coverage has it */
	struct coverage_point *line_point; /* its own; NULL: none is counted there */
	size_t *functions;   /* words of func_info blocks */
	size_t function_count, function_room;
	bool failed;
};

/* Writes one instruction; args stand in the order of its signature. A list's words follow by emit_word and its kin. */
void emit_instr(struct emitter *em, enum opcode op, const struct operand *args);
/* The first of n operations that takes these operands; the last one must. */
void emit_first(struct emitter *em, const uint16_t *ops, size_t n, const struct operand *args);
#define EMIT_FIRST(em, args, ...)                                                                                      \
	emit_first(em, (const uint16_t[]){ __VA_ARGS__ },                                                              \
		   sizeof((const uint16_t[]){ __VA_ARGS__ }) / sizeof(uint16_t), args)
void emit_word(struct emitter *em, Inst word);
void emit_source(struct emitter *em, const struct operand *o);
void emit_list_label(struct emitter *em, uint32_t label);
/* From here on code is of that line of the file. */
void emit_line(struct emitter *em, uint64_t line);
void emit_fail(struct emitter *em, const struct genop *g, const char *why);

/* A register, or a constant too, as one word of code that an instruction of its kind has it in. */
Inst emit_encode_source(const struct operand *o);
unsigned emit_encode_reg(const struct operand *o);

static inline bool operand_is_reg(const struct operand *o) { return o->kind == OPND_X || o->kind == OPND_Y; }
static inline bool operand_is_immed(const struct operand *o) { return o->kind == OPND_CONST && term_is_immed(o->term); }
static inline bool operand_is_small(const struct operand *o) { return o->kind == OPND_CONST && term_is_small(o->term); }
static inline bool operand_is_atom(const struct operand *o, Term atom)
{
	return o->kind == OPND_CONST && o->term == atom;
}
static inline bool operand_is_x(const struct operand *o, unsigned n) { return o->kind == OPND_X && o->u == n; }
static inline bool operand_same(const struct operand *a, const struct operand *b)
{
	return a->kind == b->kind && (a->kind == OPND_CONST ? a->term == b->term : a->u == b->u);
}
static inline struct operand operand_u(uint64_t u) { return (struct operand){ .kind = OPND_U, .u = u }; }
static inline struct operand operand_x(unsigned n) { return (struct operand){ .kind = OPND_X, .u = n }; }
static inline struct operand operand_const(Term t) { return (struct operand){ .kind = OPND_CONST, .term = t }; }

/* A generic operation that needs code of its own: writes it and returns how many generic operations it used up (rest:
 * what is left of the file's list, count of them, itself first); 0: the rows shall do it. */
typedef size_t (*emit_special)(struct emitter *em, const struct genop *g, size_t count);
/* NULL: none. */
emit_special emit_special_of(unsigned genop);

/* The instruction that was just written may end a run that can be done as one. */
void emit_join_run(struct emitter *em);
void emit_runs_init(void);
size_t emit_select_val(struct emitter *em, const struct genop *g, size_t count);
size_t emit_select_arity(struct emitter *em, const struct genop *g, size_t count);
size_t emit_guard(struct emitter *em, const struct genop *g, size_t count);
size_t emit_put_map(struct emitter *em, const struct genop *g, size_t count);
size_t emit_has_map_fields(struct emitter *em, const struct genop *g, size_t count);
size_t emit_get_map_elements(struct emitter *em, const struct genop *g, size_t count);
size_t emit_fmove(struct emitter *em, const struct genop *g, size_t count);
size_t emit_fconv(struct emitter *em, const struct genop *g, size_t count);
size_t emit_float_op(struct emitter *em, const struct genop *g, size_t count);
size_t emit_fnegate(struct emitter *em, const struct genop *g, size_t count);
/* get_tuple_element whose element goes into a float register as well; 0: it does not. */
size_t emit_float_element(struct emitter *em, const struct genop *g, size_t count);
/* A flags operand of the bit syntax (BITS_*): a number, or a list of atoms as bs_create_bin has it. */
unsigned emit_bits_flags(const struct operand *o);
/* The function whose func_info was written last begins at label `entry`, with g: bs_scan comes first when it is a loop
 * over bytes. */
void emit_scan(struct emitter *em, const struct genop *g, uint32_t entry);
size_t emit_bs_create_bin(struct emitter *em, const struct genop *g, size_t count);
size_t emit_bs_match(struct emitter *em, const struct genop *g, size_t count);
size_t emit_bs_init(struct emitter *em, const struct genop *g, size_t count);
size_t emit_bs_put_string(struct emitter *em, const struct genop *g, size_t count);
size_t emit_bs_match_string(struct emitter *em, const struct genop *g, size_t count);
size_t emit_bs_get_integer(struct emitter *em, const struct genop *g, size_t count);
size_t emit_bs_get_binary(struct emitter *em, const struct genop *g, size_t count);
size_t emit_bs_skip_bits(struct emitter *em, const struct genop *g, size_t count);
size_t emit_bs_start_match3(struct emitter *em, const struct genop *g, size_t count);
size_t emit_bs_start_match4(struct emitter *em, const struct genop *g, size_t count);

#endif
