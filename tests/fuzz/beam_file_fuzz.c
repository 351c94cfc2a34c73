/* SPDX-License-Identifier: Apache-2.0 */
/* Any bytes as a .beam file: parsed, translated when they are sound, and freed again. For libFuzzer; with -DFUZZ_FILES
 * a program that takes files: each is tried as it is, then with bytes changed, `FUZZ_ROUNDS` times (environment;
 * default 0). */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "code/code_path.h"
#include "code/emit.h"
#include "code/line_break.h"
#include "code/module.h"
#include "heap/literal.h"
#include "term/node.h"
#include "start.h"

static Term native(Process *p, Term *args)
{
	(void)p;
	return args[0];
}

/* The natives themselves are not wanted here; whatever a guard calls is one. */
static int translate(const struct beam_file *f, struct code_instance *c, struct beam_error *error)
{
	for (uint32_t i = 0; i < f->op_count; i++) {
		const struct genop *g = &f->ops[i];

		if (g->op == GENOP_call_ext || g->op == GENOP_call_ext_only || g->op == GENOP_call_ext_last)
			continue;
		for (unsigned k = 0; k < g->count; k++)
			if (g->args[k].kind == OPND_EXPORT && g->args[k].export->bif == NULL)
				export_set_bif(g->args[k].export, native, "native");
	}
	return emit_module(f, c, error);
}

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
	(void)argc;
	(void)argv;
	fuzz_start();
	module_init();
	opcodes_init();
	emit_init();
	module_translate = translate;
	line_break_support(true);
	return 0;
}

/* Turns on every place where a debugger may stop. */
static void stop_at(void *c, uint32_t line, bool on)
{
	if (!on)
		line_break_set(c, line, true);
}

static bool try_bytes(const uint8_t *bytes, size_t n, struct beam_error *error)
{
	struct code_instance *c;

	c = module_prepare(bytes, n, error);
	if (c == NULL)
		return false;
	for (uint32_t i = 0; i < c->function_count; i++)
		line_break_each(c, i, stop_at, c);
	module_free_instance(c);
	return true;
}

#ifndef FUZZ_FILES

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
	struct beam_error error;

	try_bytes(bytes, n, &error);
	return 0;
}

#else

static uint64_t random_next(uint64_t *state)
{
	*state ^= *state << 13;
	*state ^= *state >> 7;
	*state ^= *state << 17;
	return *state;
}

/* A few bytes changed, or the end cut off. */
static void try_changed(const uint8_t *bytes, size_t n, uint64_t *state)
{
	uint8_t *copy = mem_alloc(n + 1);
	size_t length = random_next(state) % 8 == 0 ? random_next(state) % n : n;
	unsigned changes = 1 + random_next(state) % 6;
	struct beam_error error;

	for (size_t i = 0; i < n; i++)
		copy[i] = bytes[i];
	for (unsigned i = 0; i < changes; i++)
		copy[random_next(state) % n] = (uint8_t)(random_next(state) % 4 == 0 ? 0xff : random_next(state));
	copy = mem_realloc(copy, length + 1);
	try_bytes(copy, length, &error);
	mem_free(copy);
}

int main(int argc, char **argv)
{
	const char *rounds = getenv("FUZZ_ROUNDS");
	uint64_t state = 0x9e3779b97f4a7c15u;
	int bad = 0;

	for (int i = 1; i < argc; i++) {
		struct beam_error error;
		size_t n;
		uint8_t *bytes = code_path_read(argv[i], &n);

		if (bytes == NULL || !try_bytes(bytes, n, &error)) {
			printf("%s: %s\n", argv[i], bytes != NULL ? error.text : "cannot be read");
			bad++;
		}
		for (long k = rounds != NULL ? atol(rounds) : 0; bytes != NULL && n > 0 && k > 0; k--)
			try_changed(bytes, n, &state);
		mem_free(bytes);
	}
	printf("%d files, %d refused\n", argc - 1, bad);
	return bad > 0;
}

#endif
