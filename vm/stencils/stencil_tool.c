/* SPDX-License-Identifier: Apache-2.0 */
/* stencil_tool OBJECT TABLE REPORT: makes stencils of the functions of an object file that were made of stencil_ops.c:
 * the table as C text (stencil.h), and a report that says of each operation what became of it, and why not. An object
 * file of another kind is refused by one line. */
#include <elf.h>
#include <fcntl.h>
#include <gelf.h>
#include <libelf.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "code/opcodes.h"
#include "stencils/stencil_code.h"

#define PREFIX "stencil_"
#define HOLE_PREFIX "hole_"
enum { FUNCTIONS_MAX = 256, NAME_BYTES = 64, RELOCS_MAX = 512, ROWS_MAX = 16384 };

/* A function, and the stencil that it gives. */
struct row {
	unsigned op, y, w, j;
	int symbol;
	size_t size, patches;
};

static struct {
	Elf *elf;
	Elf_Data *symbols;
	size_t symbol_count;
	Elf64_Word names;    /* section of the symbols' names */
	char functions[FUNCTIONS_MAX][NAME_BYTES];
	unsigned function_count;
	FILE *table, *report;
	struct row rows[ROWS_MAX]; /* by operation, then as in the file; those of stencils are moved to the front */
	size_t row_count;
	size_t stencils, bytes, patches;
} tool;

static const struct {
	const char *letter;
	bool numbered;
} holes[] = {
#define STENCIL_HOLE(name, letter, numbered) [STENCIL_##name] = { letter, numbered },
	STENCIL_HOLES
#undef STENCIL_HOLE
};

/* Functions of C that change nothing: an operation may be done again when it has called one. */
static const char *const pure_functions[] = {
	"call_apply_usual", "compare_same", "compare_terms", "map_get_slow",
};

static int fail(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	fputs("stencil_tool: ", stderr);
	vfprintf(stderr, format, args);
	fputc('\n', stderr);
	va_end(args);
	return EXIT_FAILURE;
}

/* ---- the object file */

static int open_object(const char *path)
{
	GElf_Ehdr header;
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	if (fd < 0)
		return fail("%s cannot be read", path);
	elf_version(EV_CURRENT);
	tool.elf = elf_begin(fd, ELF_C_READ, NULL);
	if (tool.elf == NULL || gelf_getehdr(tool.elf, &header) == NULL || header.e_type != ET_REL ||
	    header.e_machine != EM_X86_64 || header.e_ident[EI_CLASS] != ELFCLASS64)
		return fail("%s is no object file for x86-64", path);
	for (Elf_Scn *s = NULL; (s = elf_nextscn(tool.elf, s)) != NULL;) {
		GElf_Shdr h;

		if (gelf_getshdr(s, &h) == NULL || h.sh_type != SHT_SYMTAB || h.sh_entsize == 0)
			continue;
		tool.symbols = elf_getdata(s, NULL);
		tool.symbol_count = h.sh_size / h.sh_entsize;
		tool.names = h.sh_link;
	}
	return tool.symbols != NULL ? EXIT_SUCCESS : fail("%s has no symbols", path);
}

static const char *symbol_name(const GElf_Sym *symbol)
{
	const char *name = elf_strptr(tool.elf, tool.names, symbol->st_name);

	return name != NULL ? name : "";
}

/* The bytes of a function that was put into a section of its own. Fails: NULL. */
static const uint8_t *function_bytes(const GElf_Sym *symbol, size_t *size)
{
	Elf_Scn *section = elf_getscn(tool.elf, symbol->st_shndx);
	GElf_Shdr h;
	Elf_Data *data;

	if (section == NULL || gelf_getshdr(section, &h) == NULL || h.sh_type != SHT_PROGBITS ||
	    (h.sh_flags & SHF_EXECINSTR) == 0)
		return NULL;
	data = elf_getdata(section, NULL);
	if (data == NULL || data->d_buf == NULL || symbol->st_value != 0 || symbol->st_size == 0 ||
	    symbol->st_size > data->d_size)
		return NULL;
	*size = symbol->st_size;
	return data->d_buf;
}

/* ---- relocations */

static unsigned function_number(const char *name)
{
	unsigned n = 0;

	while (n < tool.function_count && strcmp(tool.functions[n], name) != 0)
		n++;
	if (n == tool.function_count && n < FUNCTIONS_MAX && strlen(name) < NAME_BYTES)
		strcpy(tool.functions[tool.function_count++], name);
	return n;
}

static bool is_function_pure(const char *name)
{
	for (size_t i = 0; i < sizeof pure_functions / sizeof pure_functions[0]; i++)
		if (strcmp(pure_functions[i], name) == 0)
			return true;
	return false;
}

/* What the symbol stands for; false: nothing that a stencil can name. */
static bool name_hole(const GElf_Sym *symbol, struct stencil_patch *p, bool *is_pure)
{
	const char *name = symbol_name(symbol);

	if (symbol->st_shndx != SHN_UNDEF)
		return false;
	if (strncmp(name, HOLE_PREFIX, strlen(HOLE_PREFIX)) != 0) {
		p->hole = STENCIL_FUNCTION;
		p->number = (uint16_t)function_number(name);
		*is_pure = is_function_pure(name);
		return p->number < tool.function_count;
	}
	name += strlen(HOLE_PREFIX);
	for (unsigned i = 0; i < STENCIL_FUNCTION; i++) {
		size_t n = strlen(holes[i].letter);
		char *end;

		if (strncmp(name, holes[i].letter, n) != 0)
			continue;
		p->hole = (uint8_t)i;
		p->number = holes[i].numbered ? (uint16_t)strtoul(name + n, &end, 10) : 0;
		if (holes[i].numbered ? end > name + n && *end == 0 : name[n] == 0)
			return true;
	}
	return false;
}

static bool name_form(const GElf_Rela *r, struct stencil_patch *p)
{
	switch (GELF_R_TYPE(r->r_info)) {
	case R_X86_64_32:
	case R_X86_64_32S:
		p->form = STENCIL_ABS32;
		return true;
	case R_X86_64_64:
		p->form = STENCIL_ABS64;
		return true;
	case R_X86_64_PC32:
	case R_X86_64_PLT32:
		p->form = STENCIL_REL32;
		return true;
	default:
		return false;
	}
}

static int by_place(const void *a, const void *b)
{
	const struct code_reloc *left = a, *right = b;

	return (left->at > right->at) - (left->at < right->at);
}

/* The relocations of a section below `size`. Returns how many; -1 with why: one that no stencil can have. */
static int read_relocs(size_t section, size_t size, struct code_reloc *relocs, struct code *c)
{
	int n = 0;

	for (Elf_Scn *s = NULL; (s = elf_nextscn(tool.elf, s)) != NULL;) {
		GElf_Shdr h;
		Elf_Data *data;

		if (gelf_getshdr(s, &h) == NULL || h.sh_type != SHT_RELA || h.sh_info != section || h.sh_entsize == 0)
			continue;
		data = elf_getdata(s, NULL);
		for (size_t i = 0; data != NULL && i < h.sh_size / h.sh_entsize; i++) {
			GElf_Rela r;
			GElf_Sym symbol = { 0 };
			struct code_reloc *to = &relocs[n];

			if (gelf_getrela(data, (int)i, &r) == NULL || r.r_offset >= size)
				continue;
			*to = (struct code_reloc){ .at = r.r_offset, .patch.addend = (int32_t)r.r_addend };
			if (n == RELOCS_MAX - 1 ||
			    gelf_getsym(tool.symbols, (int)GELF_R_SYM(r.r_info), &symbol) == NULL ||
			    r.r_addend != (int32_t)r.r_addend || !name_hole(&symbol, &to->patch, &to->is_pure) ||
			    !name_form(&r, &to->patch)) {
				snprintf(c->why, sizeof c->why, "refers to %s (relocation %u)",
					 symbol.st_name != 0 ? symbol_name(&symbol) : "data of the compiler's",
					 (unsigned)GELF_R_TYPE(r.r_info));
				return -1;
			}
			n++;
		}
	}
	qsort(relocs, (size_t)n, sizeof *relocs, by_place);
	return n;
}

/* ---- results */

static void print_bytes(const struct code *c, size_t n)
{
	fprintf(tool.table, "static const uint8_t code_%zu[] = {", n);
	for (size_t i = 0; i < c->size; i++)
		fprintf(tool.table, "%s0x%02x,", i % 16 == 0 ? "\n\t" : " ", c->bytes[i]);
	fprintf(tool.table, "\n};\nstatic const struct stencil_patch patches_%zu[] = {\n", n);
	for (size_t i = 0; i < c->patch_count; i++) {
		const struct stencil_patch *p = &c->patches[i];

		fprintf(tool.table, "\t{ %u, %u, %u, %u, %d },\n", p->at, p->hole, p->form, p->number, p->addend);
	}
	fputs("\t{ 0 }\n};\n", tool.table);
}

/* The operation and the variant that a function's name says: stencil_NAME__Y_W_J. */
static bool read_name(const char *name, struct row *row)
{
	const char *end = NULL;

	if (strncmp(name, PREFIX, strlen(PREFIX)) != 0)
		return false;
	name += strlen(PREFIX);
	for (const char *at = name; (at = strstr(at, "__")) != NULL; at++)
		end = at;
	if (end == NULL || sscanf(end, "__%x_%x_%x", &row->y, &row->w, &row->j) != 3)
		return false;
	for (row->op = 0; row->op < OP_COUNT; row->op++)
		if (strlen(opcode_info(row->op)->name) == (size_t)(end - name) &&
		    strncmp(opcode_info(row->op)->name, name, (size_t)(end - name)) == 0)
			return true;
	return false;
}

static void report(const struct row *row, const char *format, ...)
{
	va_list args;

	fprintf(tool.report, "%-40s %x %x %x  ", opcode_info(row->op)->name, row->y, row->w, row->j);
	va_start(args, format);
	vfprintf(tool.report, format, args);
	va_end(args);
	fputc('\n', tool.report);
}

static void make_stencil(const struct row *at)
{
	const struct row copy = *at, *row = &copy;
	static struct code c;
	static struct code_reloc relocs[RELOCS_MAX];
	size_t size = 0;
	const uint8_t *bytes = NULL;
	unsigned known = tool.function_count;
	GElf_Sym symbol;
	int n = -1;

	c.why[0] = 0;
	if (gelf_getsym(tool.symbols, row->symbol, &symbol) != NULL)
		bytes = function_bytes(&symbol, &size);
	if (bytes == NULL)
		snprintf(c.why, sizeof c.why, "is no function of a section of its own");
	else
		n = read_relocs(symbol.st_shndx, size, relocs, &c);
	if (n < 0 || !code_make(&c, bytes, size, relocs, (size_t)n)) {
		tool.function_count = known; /* nobody calls what it would */
		report(row, "-    %s", c.why);
		return;
	}
	report(row, "%zu bytes, %zu holes", c.size, c.patch_count);
	print_bytes(&c, tool.stencils);
	tool.rows[tool.stencils] = *row; /* never behind row */
	tool.rows[tool.stencils].size = c.size;
	tool.rows[tool.stencils++].patches = c.patch_count;
	tool.bytes += c.size;
	tool.patches += c.patch_count;
}

static void print_tables(void)
{
	/* By names of our own: headers may declare them as they are. */
	for (unsigned i = 0; i < tool.function_count; i++)
		fprintf(tool.table, "extern void function_%u(void) __asm__(\"%s\");\n", i, tool.functions[i]);
	fputs("const struct stencil_function stencil_functions[] = {\n", tool.table);
	for (unsigned i = 0; i < tool.function_count; i++)
		fprintf(tool.table, "\t{ \"%s\", function_%u },\n", tool.functions[i], i);
	fprintf(tool.table, "\t{ 0 }\n};\nconst size_t stencil_function_count = %u;\n", tool.function_count);
	fputs("const struct stencil stencils[] = {\n", tool.table);
	for (size_t i = 0; i < tool.stencils; i++) {
		const struct row *r = &tool.rows[i];

		fprintf(tool.table, "\t{ %u, %zu, 0x%x, 0x%x, 0x%x, %zu, code_%zu, patches_%zu },\n", r->op, r->size,
			r->y, r->j, r->w, r->patches, i, i);
	}
	fprintf(tool.table, "\t{ 0 }\n};\nconst size_t stencil_count = %zu;\n", tool.stencils);
}

static int by_op(const void *a, const void *b)
{
	const struct row *left = a, *right = b;

	return left->op != right->op ? (left->op > right->op) - (left->op < right->op) : left->symbol - right->symbol;
}

static int make_all(const char *path)
{
	for (size_t i = 0; i < tool.symbol_count && tool.row_count < ROWS_MAX; i++) {
		struct row *row = &tool.rows[tool.row_count];
		GElf_Sym symbol;

		row->symbol = (int)i;
		if (gelf_getsym(tool.symbols, (int)i, &symbol) != NULL && GELF_ST_TYPE(symbol.st_info) == STT_FUNC &&
		    read_name(symbol_name(&symbol), row))
			tool.row_count++;
	}
	if (tool.row_count == 0)
		return fail("%s has no function that a stencil could be made of", path);
	qsort(tool.rows, tool.row_count, sizeof *tool.rows, by_op);
	for (size_t i = 0; i < tool.row_count; i++)
		make_stencil(&tool.rows[i]);
	return EXIT_SUCCESS;
}

int main(int argc, char **argv)
{
	if (argc != 4)
		return fail("usage: stencil_tool OBJECT TABLE REPORT");
	if (open_object(argv[1]) != EXIT_SUCCESS)
		return EXIT_FAILURE;
	tool.table = fopen(argv[2], "w");
	tool.report = fopen(argv[3], "w");
	if (tool.table == NULL || tool.report == NULL)
		return fail("%s or %s cannot be written", argv[2], argv[3]);
	opcodes_init();
	fputs("/* Made by stencil_tool. */\n#include \"jit/stencil.h\"\n\n", tool.table);
	if (make_all(argv[1]) != EXIT_SUCCESS)
		return EXIT_FAILURE;
	print_tables();
	fprintf(tool.report, "%zu stencils, %zu bytes, %zu holes, %u functions called\n", tool.stencils, tool.bytes,
		tool.patches, tool.function_count);
	if (fclose(tool.table) != 0 || fclose(tool.report) != 0)
		return fail("%s cannot be written", argv[2]);
	return EXIT_SUCCESS;
}
