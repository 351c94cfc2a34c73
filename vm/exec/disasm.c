/* SPDX-License-Identifier: Apache-2.0 */
/* Prints translated code: `erlvm --disasm FILE`. Everything comes from opcodes.def. */
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "code/module.h"
#include "code/opcodes.h"
#include "exec/exec.h"

static void print_atom(Term t)
{
	size_t n;
	const char *text = atom_text(t, &n);

	fwrite(text, 1, n, stdout);
}

static void print_term_word(Term t)
{
	if (term_is_atom(t))
		print_atom(t);
	else if (term_is_small(t))
		printf("%lld", (long long)small_value(t));
	else if (t == NIL)
		printf("[]");
	else
		printf("literal %#llx", (unsigned long long)t);
}

static void print_reg(unsigned reg)
{
	if (reg & REG_Y_BIT)
		printf("y%u", reg / 8 - 1);
	else
		printf("x%u", reg / 8);
}

static uint64_t read_field(const Inst *at, const struct opcode_field *field)
{
	const uint8_t *p = (const uint8_t *)at + field->offset;
	uint16_t half;
	int32_t word;
	uint64_t value;

	switch (field->bytes) {
	case 2:
		memcpy(&half, p, 2);
		return half;
	case 4:
		memcpy(&word, p, 4);
		return (uint64_t)(int64_t)word;
	default:
		memcpy(&value, p, 8);
		return value;
	}
}

static void print_field(const Inst *at, const Inst *start, const struct opcode_field *field)
{
	uint64_t value = read_field(at, field);
	const struct export *e;

	switch (field->kind) {
	case 'x': case 'y': case 'r': case 'd':
		print_reg((unsigned)value);
		break;
	case 's':
		if (source_is_reg(value))
			print_reg((unsigned)(value >> 2));
		else
			print_term_word(value);
		break;
	case 'c': case 'k': case 'i':
		print_term_word(value);
		break;
	case 'f': case 'j':
		if (value == 0)
			printf("-");
		else
			printf("L%lld", (long long)(at - start + (int64_t)value));
		break;
	case 'e':
		e = (const struct export *)value;
		print_atom(e->module);
		printf(":");
		print_atom(e->function);
		printf("/%u", e->arity);
		break;
	default:
		printf("%lld", (long long)value);
		break;
	}
}

static const Inst *print_instr(const Inst *at, const Inst *start)
{
	const struct opcode_info *info = opcode_info((uint16_t)*at);
	const Inst *next = at + info->words;
	uint64_t list = 0;

	printf("%8td  %s", at - start, info->name);
	for (unsigned i = 0; i < info->count; i++) {
		if (info->fields[i].bytes == 0)
			continue;
		printf(" ");
		if (info->fields[i].kind == 'n')
			list = read_field(at, &info->fields[i]);
		print_field(at, start, &info->fields[i]);
	}
	for (; list > 0; list--, next++) {
		printf(" ");
		if ((*next & 3) != 0)
			print_term_word(*next);
		else
			printf("%#llx", (unsigned long long)*next);
	}
	printf("\n");
	return next;
}

static const Inst *print_func_info(const Inst *at, const Inst *start)
{
	printf("\n%8td  func_info ", at - start);
	print_atom(func_info_module(at));
	printf(":");
	print_atom(func_info_function(at));
	printf("/%u\n", func_info_arity(at));
	return at + FUNC_INFO_WORDS;
}

static uint8_t *read_file(const char *file, size_t *n)
{
	FILE *f = fopen(file, "rb");
	uint8_t *bytes = NULL;
	size_t room = 0;

	*n = 0;
	if (f == NULL)
		return NULL;
	do {
		room += 1 << 16;
		bytes = mem_realloc(bytes, room);
		*n += fread(bytes + *n, 1, room - *n, f);
	} while (*n == room);
	fclose(f);
	return bytes;
}

int exec_disasm_file(const char *file)
{
	struct beam_error error = { "cannot be read" };
	size_t n;
	uint8_t *bytes = read_file(file, &n);
	struct code_instance *c = bytes != NULL ? module_prepare(bytes, n, &error) : NULL;

	mem_free(bytes);
	if (c == NULL) {
		fprintf(stderr, "erlvm: %s: %s\n", file, error.text);
		return 1;
	}
	for (const Inst *at = c->words, *end = at + c->word_count; at < end;)
		at = (uint16_t)*at == OP_func_info ? print_func_info(at, c->words) : print_instr(at, c->words);
	module_free_instance(c);
	return 0;
}
