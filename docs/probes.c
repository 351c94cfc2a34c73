/* SPDX-License-Identifier: Apache-2.0 */
/* Prints the probe reference, in Markdown, from vm/probes.def and the notes of the erlvm that is its argument: what `make docs` writes. */
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "../tools/target/elf_file.h"

/* Rows in the order of the file; each ARG belongs to the probe before it, of the same name. */
enum kind { ROW_FAMILY, ROW_PROBE, ROW_ARG, ROW_OP, ROW_ORIGIN, ROW_STEP, ROW_OPERATION };

struct row {
	enum kind kind;
	const char *name, *text, *type, *unit, *more[4];
	int number, last;
};

static const struct row rows[] = {
#define FAMILY(family, title) { .kind = ROW_FAMILY, .text = title },
#define PROBE(probe, family, nargs, watch, when) { .kind = ROW_PROBE, .name = #probe, .text = when, .last = -1 },
#define PROBE_RANGE(prefix, family, nargs, first, end, when) \
	{ .kind = ROW_PROBE, .name = #prefix, .text = when, .number = first, .last = end },
#define ARG(probe, index, arg, ctype, meaning) { .kind = ROW_ARG, .name = #arg, .type = #ctype, .unit = #meaning, .number = index },
#define EFILE_OP(code, op, s1, s2, i1, i2, i3, i4) \
	{ .kind = ROW_OP, .name = #op, .number = code, .text = s1, .type = s2, .more = { i1, i2, i3, i4 } },
#define MESSAGE_ORIGIN(code, origin, from) { .kind = ROW_ORIGIN, .number = code, .text = from },
#define REQUEST_STEP(code, step, what) { .kind = ROW_STEP, .number = code, .name = #step, .text = what },
#define ETS_OPERATION(code, operation, word, functions) { .kind = ROW_OPERATION, .number = code, .name = word, .text = functions },
#include "../vm/probes.def"
};
enum { NROWS = sizeof rows / sizeof *rows };

static const char *explain(const char *unit)
{
	static const struct {
		const char *unit, *text;
	} texts[] = { { "pid", "`<node.id.serial>`" },
		      { "caller", "pid of who asked, or `undefined`" },
		      { "port", "`#Port<node.id>`" },
		      { "mfa", "`module:function/arity`" },
		      { "term", "printed term" },
		      { "words", "words of 8 bytes" },
		      { "ns", "nanoseconds" },
		      { "flag", "0 or 1" },
		      { "efile_op", "file command, below" },
		      { "name", "pid or registered name" },
		      { "module", "name of a module" },
		      { "none", "" } };

	for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
		if (strcmp(texts[i].unit, unit) == 0)
			return texts[i].text;
	return unit;
}

static const char *c_type(const char *type)
{
	return strcmp(type, "STR") == 0 ? "string" : strcmp(type, "INT") == 0 ? "int" : "int64";
}

static bool has_site(const struct elf_file *vm, const char *probe)
{
	for (size_t i = 0; i < vm->nnotes; i++)
		if (strcmp(vm->notes[i].name, probe) == 0)
			return true;
	return false;
}

static bool has_numbered_site(const struct elf_file *vm, const struct row *r)
{
	char probe[64];

	snprintf(probe, sizeof probe, "%s%d", r->name, r->last);
	return has_site(vm, probe);
}

static void print_probe(const struct elf_file *vm, const struct row *r)
{
	if (r->last >= 0)
		printf("\n### %s%d .. %s%d\n%s.\n", r->name, r->number, r->name, r->last, r->text);
	else
		printf("\n### %s\n%s.\n", r->name, r->text);
	printf(!(r->last >= 0 ? has_numbered_site(vm, r) : has_site(vm, r->name)) ? "erlvm does not fire it yet.\n\n" : "\n");
	printf("| argument | name | type | meaning |\n|---|---|---|---|\n");
}

static void print_op(const struct row *r, int first)
{
	if (first)
		printf("\n## File commands\nWhat the arguments of `efile_drv__entry` hold for each `command`.\n\n"
		       "| command | name | s1 | s2 | i1 | i2 | i3 | i4 |\n|---|---|---|---|---|---|---|---|\n");
	printf("| %d | %s | %s | %s | %s | %s | %s | %s |\n", r->number, r->name, r->text, r->type, r->more[0], r->more[1],
	       r->more[2], r->more[3]);
}

static void print_origin(const struct row *r, int first)
{
	if (first)
		printf("\n## Origins of messages\nWhat `origin` of `message__arrive` says.\n\n| origin | from |\n|---|---|\n");
	printf("| %d | %s |\n", r->number, r->text);
}

static void print_step(const struct row *r, int first)
{
	if (first)
		printf("\n## Steps of calls\nWhat `step` of `request__step` says.\n\n| step | name | what |\n|---|---|---|\n");
	printf("| %d | %s | %s |\n", r->number, r->name, r->text);
}

static void print_operation(const struct row *r, int first)
{
	if (first)
		printf("\n## Operations on tables\nWhat `operation` of `ets__start` and `ets__end` says.\n\n"
		       "| operation | name | functions of `ets` |\n|---|---|---|\n");
	printf("| %d | %s | %s |\n", r->number, r->name, r->text);
}

int main(int argc, char **argv)
{
	struct elf_file *vm;

	if (argc != 2 || elf_file_new(argv[1], &vm)) {
		fprintf(stderr, "usage: print_probes ERLVM\n");
		return 1;
	}
	printf("# The probes of provider `erlang`\n"
	       "Made from vm/probes.def by `make docs`. Arguments are numbered as bpftrace does: `arg0`, `arg1`, ...\n"
	       "Strings are NUL-terminated UTF-8, 255 bytes at most, cut with `...`. A note costs a test of a 16-bit\n"
	       "semaphore while nobody is attached.\n");
	for (int i = 0; i < NROWS; i++) {
		const struct row *r = &rows[i];

		switch (r->kind) {
		case ROW_FAMILY: printf("\n## %s\n", r->text); break;
		case ROW_PROBE: print_probe(vm, r); break;
		case ROW_ARG:
			printf("| arg%d | %s | %s | %s |\n", r->number, r->name, c_type(r->type), explain(r->unit));
			break;
		case ROW_OP: print_op(r, rows[i - 1].kind != ROW_OP); break;
		case ROW_ORIGIN: print_origin(r, rows[i - 1].kind != ROW_ORIGIN); break;
		case ROW_STEP: print_step(r, rows[i - 1].kind != ROW_STEP); break;
		case ROW_OPERATION: print_operation(r, rows[i - 1].kind != ROW_OPERATION); break;
		}
	}
	elf_file_free(vm);
	return 0;
}
