/* SPDX-License-Identifier: Apache-2.0 */
/* Modules: their current and old code; loading, deleting, purging; and which function and line an address belongs to.
 * Code stands in one reserved range of addresses; looking an address up takes no lock.
 * Invariant: an instance's code stays until it is purged; an export's address points to current code only.
 * Locks: loading, deleting and purging hold `code_load`. */
#ifndef VM_CODE_MODULE_H
#define VM_CODE_MODULE_H

#include "code/beam_file.h"

/* A place in the source: valid from the instruction at `at` up to the next entry's. */
struct code_line {
	uint32_t at;         /* Units: words from the instance's first instruction */
	uint32_t line;       /* 0: no place */
	uint32_t file;       /* index into files */
};

/* One loaded version of a module. The translation fills what is marked E; module.c the rest. */
struct code_instance {
	Term module;
	uint8_t md5[16];
	Inst *words;         /* E: by code_alloc */
	size_t word_count;   /* E: by code_alloc */
	const Inst **functions; /* E: func_info blocks by rising address; mem_alloc */
	uint32_t function_count; /* E */
	struct code_line *lines; /* E: by rising `at`; mem_alloc; may be NULL */
	uint32_t line_count; /* E */
	const Inst **label_address; /* E: by label, NULL where the label is no entry of a function; mem_alloc; freed once published */
	const uint8_t *strings; /* the string table, where OPND_STRINGs point; lives as long as the code */
	size_t string_bytes;
	struct literal_area *literal_area;
	Term *files;
	uint32_t file_count;
	struct beam_export *exports;
	uint32_t export_count;
	struct beam_lambda *lambdas;
	uint32_t lambda_count;
	uint8_t *attributes, *compile; /* external terms */
	size_t attributes_bytes, compile_bytes;
	uint32_t on_load_label;
	const Inst *on_load; /* entry of the on_load function while it has not run; else NULL */
	bool has_native;     /* loaded by the VM itself: may not be purged */
};

struct module {
	Term name;
	_Atomic(struct code_instance *) current, old;
	struct code_instance *pending; /* waits for its on_load function */
	struct module *next;
};

void module_init(void);
/* NULL when no module of that name was ever loaded. Any thread. */
struct module *module_find(Term name);
/* Calls see(m, arg) for every module with current or old code. */
void module_each(void (*see)(const struct module *m, void *arg), void *arg);

/* ---- wired by exec: the translation. Fills c (fields E) from f. Fails: -EINVAL with *error. */
extern int (*module_translate)(const struct beam_file *f, struct code_instance *c, struct beam_error *error);
/* Room for the code of c, zeroed: sets words and word_count. Fails: -ENOMEM when the range is full. */
int code_alloc(struct code_instance *c, size_t words);

/* ---- loading in two steps. prepare needs no lock; publish makes the code callable.
 * Owns: the caller of prepare, until published or freed. Fails: NULL with *error; */
struct code_instance *module_prepare(const uint8_t *bytes, size_t n, struct beam_error *error);
void module_free_instance(struct code_instance *c);
/* All at once: the current code of each becomes old. Takes: the instances. Fails: -EBUSY (nothing changed, nothing taken) when one still has old code. */
int module_publish(struct code_instance **c, size_t n);
/* Both steps, with the old code dropped when nothing runs it. */
int module_load(const uint8_t *bytes, size_t n, struct beam_error *error);
/* Current code becomes old; exports become undefined. Fails: -ENOENT without current code; -EBUSY with old code. */
int module_delete(Term name);

/* ---- addresses */
/* The func_info block of the function that pc lies in (a return address lies in its caller); NULL when it is no code. Lock-free. */
const Inst *code_find_function(const Inst *pc);
struct code_place {
	Term module, function;
	uint32_t arity;
	Term file;           /* atom */
	uint32_t line;       /* 0: unknown */
};
/* pc: a return address, or the address right behind an instruction that failed. Fails: false when it is no code. */
bool code_find_place(const Inst *pc, struct code_place *place);
/* The instance that pc lies in, or NULL. */
struct code_instance *code_find_instance(const Inst *pc);

/* Prints what is wrong with a .beam file, or that it is sound. Returns an exit status. */
int beam_check_file(const char *path);

#endif
