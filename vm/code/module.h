/* SPDX-License-Identifier: Apache-2.0 */
/* Modules: their current and old code; loading, deleting, purging; and which function and line an address belongs to.
 * Code stands in one reserved range of addresses; looking an address up takes no lock.
 * Invariant: an instance's code stays until it is purged; an export's address points to current code only. Locks: what
 * replaces current code does it while the world is stopped (sched_stop_world), so that nobody waits for a lock that a
 * stopped thread holds; modules that are new are entered under `module_table`. Old code that nobody runs any more is
 * taken away under it, and freed when all threads have been between two time slices: whoever found it had found it in
 * one. */
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
	uint64_t taken;      /* E: by code_alloc: code_area_given() then */
	const Inst **functions; /* E: func_info blocks by rising address; mem_alloc */
	uint32_t function_count; /* E */
	struct code_line *lines; /* E: by rising `at`; mem_alloc; may be NULL */
	uint32_t line_count; /* E */
	/* E: by label, NULL where the label is no entry of a function; mem_alloc; freed once published */
	const Inst **label_address;
	struct coverage *coverage; /* E: NULL: none */
	const uint8_t *strings; /* the string table, where OPND_STRINGs point; lives as long as the code */
	size_t string_bytes;
	struct literal_area *literal_area;
	Term *records;       /* that it declares, in its literals: see data/record.h */
	uint32_t record_count;
	Term *files;
	uint32_t file_count;
	struct beam_export *exports;
	uint32_t export_count;
	struct beam_lambda *lambdas;
	uint32_t lambda_count;
	uint8_t *attributes, *compile; /* external terms */
	size_t attributes_bytes, compile_bytes;
	Term debug_info;     /* what a debugger asks of its lines, in its literals: see beam_debug.c; TERM_NONE: none */
	bool breaks_lines;   /* E: its debug_line operations are there (code/line_break.h) */
	uint32_t on_load_label;
	bool *declared_nifs; /* E: by function, whether it may be native; mem_alloc; NULL: all may */
	struct nif_library *nif; /* NULL: none */
	_Atomic bool loads_nif; /* somebody is loading one */
	struct native_code *native; /* its machine code (jit/native.h), or NULL */
	_Atomic uint32_t heat; /* how often it was seen to run without it (jit/native_heat.c) */
	const Inst *on_load; /* entry of the on_load function while it has not run; else NULL */
};

struct module {
	Term name;
	_Atomic(struct code_instance *) current, old;
	struct code_instance *pending; /* waits for its on_load function, or for its purge when that has failed */
	struct code_instance *saved_old; /* old code, while failed pending code is purged in its place */
	struct module *next; /* of those with the same hash */
	struct module *older; /* of all */
};

void module_init(void);
/* NULL when no module of that name was ever loaded. Any thread. */
struct module *module_find(Term name);
/* Calls see(m, arg) for every module with current or old code. */
void module_each(void (*see)(const struct module *m, void *arg), void *arg);

/* ---- wired by exec: the translation. Fills c (fields E) from f. Fails: -EINVAL with *error. */
extern int (*module_translate)(const struct beam_file *f, struct code_instance *c, struct beam_error *error);
/* ---- wired by jit, or NULL: machine code of c, which nobody can call yet (NULL too where only hot modules get it);
 * and none from now on: nobody runs it. */
extern struct module_native_hooks {
	void (*made)(struct code_instance *c);
	void (*drop)(struct code_instance *c);
} module_native_hooks;
/* The code that `at` is in will be changed where it stands: it has no machine code from now on. The world is stopped,
 * or nobody can call it. */
void module_drop_native(const Inst *at);

/* Room for the code of c, zeroed: sets words and word_count. Fails: -ENOMEM when the range is full. */
int code_alloc(struct code_instance *c, size_t words);

/* ---- loading in two steps: prepare changes nothing that can be called; publish makes the code callable.
 * Owns: the caller of prepare, until published or freed. Fails: NULL with *error. */
struct code_instance *module_prepare(const uint8_t *bytes, size_t n, struct beam_error *error);
/* Code that was never published. */
void module_free_instance(struct code_instance *c);
/* All at once: the current code of each becomes old; one with an on_load function only waits for it (module.pending).
 * Takes: the instances. Fails: -EBUSY (nothing changed, nothing taken): one still has old code, or waits for its
 * on_load function. */
int module_publish(struct code_instance **c, size_t n);
/* Both steps for a module that is not loaded yet; when it is meanwhile, nothing happens. Its on_load function runs in a
 * process of its own. *on_load, or TERM_NONE. Fails: -EINVAL with *error. */
int module_load_new(const uint8_t *bytes, size_t n, struct beam_error *error, Term *on_load);
/* What current code of the module declares as a native record of that name, as data/record.h says; TERM_NONE: nothing.
 * It is a literal. */
Term module_find_record(Term module, Term name);
/* Is there an export of the module that can be called, or current code? */
bool module_is_loaded(Term name);
/* Would module_publish take code of that name now? */
bool module_can_publish(Term name);
/* A way to call the on_load function of the pending code; NULL when none waits. */
struct export *module_on_load_export(Term name);
/* The on_load function of the pending code has run: keep publishes, else the code waits for its purge. Fails: -ENOENT
 * without such code. */
int module_finish_on_load(Term name, bool keep);
/* Current code becomes old; its exports become undefined. Fails: -ENOENT without current code; -EBUSY with old code. */
int module_delete(Term name);

/* ---- purging, of one module at a time: the code is prepared, then the caller sees to it that no process uses it, then
 * it is freed, or left. From prepare on its funs cannot be called, but by who was about to when it was called: by the
 * end of a round of slices (proc/progress.h) these do. failed: what is purged is the pending code whose on_load
 * function has failed.
 * Fails: -ENOENT without such code; -EBUSY while another is being purged. */
int module_purge_prepare(Term name, bool failed);
/* Its funs can be called again. Fails: -EINVAL when that module is not being purged. */
int module_purge_abort(Term name);
/* Takes the code away. *unused: for module_purge_end; NULL: it is still in use, and only forgotten.
 * Fails: -EINVAL when that module is not being purged. */
int module_purge_complete(Term name, struct code_instance **unused);
/* After a round of slices: who found the code before has it no more. Any thread. Takes: unused, or NULL. Returns its
 * literals, which anybody may still point to, for the caller. */
struct literal_area *module_purge_end(struct code_instance *unused);
/* When that module is being purged: suspends p, which runs here, until that is over. */
void module_await_purge(Process *p, Term name);
/* Does the process have a return address, or its next instruction, in the module's old code? p runs here, or the world
 * is stopped. */
bool module_is_old_used_by(const struct module *m, const Process *p);
/* The same of the module of that name, of p whom somebody asks, as a purge does: that it does is told (code__linger). p
 * runs here. */
bool module_lingers(Term name, const Process *p);

/* The module that is being purged; TERM_NONE: none is. */
Term module_being_purged(void);

/* ---- addresses */
/* Below, pc is a return address, a function's entry, or the address right behind an instruction; it may be in an
 * export's stub. The func_info block of the function that pc lies in (a return address lies in its caller); NULL when
 * it is no code. Lock-free. */
const Inst *code_find_function(const Inst *pc);
struct code_place {
	Term module, function;
	uint32_t arity;
	Term file;           /* atom */
	uint32_t line;       /* 0: unknown */
};
/* Fails: false when it is no code. */
bool code_find_place(const Inst *pc, struct code_place *place);
struct mfa;
/* probe_find_function: of the instruction at this address. */
bool code_find_mfa(const Inst *at, struct mfa *mfa, bool *stays);
/* [{file, Name}, {line, Line} | tail] of a stack trace; tail where the line is unknown. Frames in turn that stand in
 * one file share the tuple of its name: *last begins as {0} and is the same for all of one stack trace. */
struct code_file_term {
	Term file, tuple;
};
Term code_place_list(struct heap *h, const struct code_place *place, struct code_file_term *last, Term tail);
/* {Module, Function, Arity, [{file, Name}, {line, Line}]}: a frame of one. */
Term code_place_frame(struct heap *h, const struct code_place *place, struct code_file_term *last);
/* The instance that pc lies in, or NULL. */
struct code_instance *code_find_instance(const Inst *pc);

/* Prints what is wrong with a .beam file, or that it is sound. Returns an exit status. */
int beam_check_file(const char *path);

#endif
