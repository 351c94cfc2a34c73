/* SPDX-License-Identifier: Apache-2.0 */
/* A .beam file in memory: its chunks decoded, its code as a list of generic operations. Formats: IFF 85 (FOR1/BEAM);
 * OTP, erts/emulator/internal_doc/beam_makeops.md and lib/compiler/src/beam_asm.erl for the chunks.
 * Any bytes may come in: every length, index, register and label is checked here, so that the translation trusts what
 * it gets:
 *  - operands have the kinds that genops.def says; x below X_REGS, float registers below 16 (F_REGS_MAX), y below the
 *    largest frame that the function allocates; live counts at most 1,024; frames and needs of heap are sane; arity at
 *    most 255
 *  - labels exist; a label operand stands in the same function, a call's is the entry of a function of that arity
 *  - imports, lambdas, literals, lines and strings are in range; BIF operations name an import of their arity
 *  - frames nest along every path, and y registers stand in them
 * Trusted, as the compiler's own verifier ensures it: which registers hold what, and how needs of heap nest. */
#ifndef VM_CODE_BEAM_FILE_H
#define VM_CODE_BEAM_FILE_H

#include "code/export.h"
#include "code/fun.h"
#include "code/genops.h"
#include "heap/literal.h"

enum operand_kind {
	OPND_U,       /* number: u */
	OPND_X,       /* register number: u */
	OPND_Y,
	OPND_FR,
	OPND_CONST,   /* term: an immediate, or in the literal area */
	OPND_LABEL,   /* label: u; 0: none */
	OPND_EXPORT,  /* export */
	OPND_FUN,     /* lambda: index into beam_file.lambdas: u */
	/* bytes: into beam_file.strings. Also the value of a `string` segment in the list of bs_create_bin */
	OPND_STRING,
	OPND_LIST,    /* count items */
	OPND_NEED,    /* needs of heap: u words in all (floats and funs counted) */
};

struct operand {
	uint32_t kind;
	uint32_t count;      /* of a list */
	union {
		uint64_t u;
		Term term;
		struct export *export;
		const uint8_t *bytes;
		const struct operand *items;
	};
};

struct genop {
	uint8_t op;          /* enum genop_number */
	uint8_t count;
	uint16_t y_end : 14; /* the y registers that it uses are below this */
	bool leads : 1;      /* its first operand is a label that the code may go on at */
	bool leads_on : 1;   /* another one is, or is within another */
	uint32_t offset;     /* in the Code chunk, for messages. Units: bytes */
	struct operand *args;
};

struct beam_label {
	uint32_t function;   /* index into functions */
	bool defined;
	bool entry;          /* the label right behind func_info */
};

struct beam_function {
	Term name;
	uint32_t arity;
	uint32_t first_op;   /* of its func_info */
	uint32_t entry_label;
	uint32_t max_frame;  /* the largest frame it allocates. Units: words */
};

struct beam_export {
	Term function;
	uint32_t arity, label;
};

struct beam_lambda {
	struct fun_entry *entry; /* made once the whole file is found sound */
	Term function;
	uint32_t arity;      /* with the free variables */
	uint32_t label, num_free;
	int32_t old_index, old_uniq;
};

struct beam_line {
	uint32_t file;       /* index into files */
	uint32_t line;       /* 0: no place */
};

enum {
	BEAM_MARKS_LINES = 1,  /* there are executable_line operations */
	BEAM_COUNTS_LINES = 2, /* which are to be counted whatever the mode is */
};

struct beam_file {
	Term module;
	uint8_t md5[16];
	Term *atoms;         /* from 1 */
	uint32_t atom_count;
	struct genop *ops;
	uint32_t op_count;
	struct beam_label *labels; /* from 1 */
	uint32_t label_count; /* labels are 1 .. label_count - 1 */
	struct beam_function *functions;
	uint32_t function_count;
	struct export **imports;
	uint32_t import_count;
	struct beam_export *exports;
	uint32_t export_count;
	struct beam_lambda *lambdas;
	uint32_t lambda_count;
	Term *literals;
	uint32_t literal_count;
	struct literal_area *literal_area; /* NULL without literals. Owns: the file until module.c takes it */
	/* OPND_STRING points here: the code room moves it to the instance, which outlives the code */
	const uint8_t *strings;
	size_t string_bytes;
	struct beam_line *lines; /* index 0: no place */
	uint32_t line_count;
	uint32_t line_flags; /* of the Line chunk: BEAM_*_LINES */
	Term *files;         /* atoms: file 0 is the module's own name with .erl */
	uint32_t file_count;
	const uint8_t *attributes, *compile; /* external terms, or NULL */
	size_t attributes_bytes, compile_bytes;
	struct operand *records; /* declared native records: constants, as data/record.h says */
	uint32_t record_count;
	struct operand debug_info; /* of the chunk DbgB: a constant, as beam_debug.c says; kind 0: none */
	uint32_t on_load_label; /* 0: none */
	uint64_t catch_steps; /* catches that the check of frames looked at: a few for each operation */
	struct beam_memory *memory; /* everything above but the literal area and the strings */
};

/* What is wrong with a file: one line, for people. */
struct beam_error {
	char text[160];
};

/* Copies what it needs of bytes. Makes atoms, exports and fun entries; nothing can be called through them yet.
 * Owns: the caller; beam_file_free. Fails: NULL with *error set. */
struct beam_file *beam_file_parse(const uint8_t *bytes, size_t n, struct beam_error *error);
void beam_file_free(struct beam_file *f);
/* The data of one chunk of a file that is not compressed; NULL when it is not there or the file is damaged. */
const uint8_t *beam_file_chunk(const uint8_t *bytes, size_t n, const char id[4], size_t *size);
/* The MD5 of a module's essential chunks. Fails: false for a damaged file. */
bool beam_file_md5(const uint8_t *bytes, size_t n, uint8_t md5[16]);

#endif
