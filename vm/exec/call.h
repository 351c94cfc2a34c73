/* SPDX-License-Identifier: Apache-2.0 */
/* The rarer halves of the loop's operations: applying terms, undefined functions, natives that wait, errors with
 * arguments. Functions that return an address: the entry to go on at, or NULL with the exception set and *site filled.
 * The heap is stored back while any of these runs. GC: none, but where the name says _gc. */
#ifndef VM_EXEC_CALL_H
#define VM_EXEC_CALL_H

#include <stdatomic.h>
#include <stddef.h>

#include "code/export.h"
#include "code/fun.h"
#include "code/nif_function.h"
#include "code/opcodes.h"
#include "data/map.h"
#include "exec/arith.h"
#include "exec/unwind.h"

/* Code outside every module: where a native that waits comes back, where a process begins and ends. */
const Inst *call_return_code(void);
const Inst *call_exit_code(void);
/* Does i stand in no module, but in code of the VM's own: the beginning, end or return of a process, a breakpoint's? */
bool call_is_stub(const Inst *i);
void call_init(void);

static inline struct export *call_stub_export(const Inst *stub)
{
	return (struct export *)((char *)stub - offsetof(struct export, stub));
}
/* The native whose stub `entry` is, when it raises for its caller (export_is_raiser); or NULL. */
static inline const struct export *call_raiser_at(const Inst *entry)
{
	const struct export *e = NULL;

	if ((uint16_t)*entry == OP_export_bif)
		e = call_stub_export(entry);
	else if ((uint16_t)*entry == OP_export_traced)
		e = call_stub_export(entry - EXPORT_STUB_TRACED);
	return e != NULL && export_is_raiser(e) ? e : NULL;
}
static inline const Inst *call_export_address(const struct export *e)
{
	return atomic_load_explicit(&e->address, memory_order_acquire);
}
/* Worth a collection at the next safe point? */
static inline bool call_wants_gc(const Process *p)
{
	return (VARIANT_GC_STRESS && heap_is_stressed(&p->heap)) || p->heap.wants_gc || (p->flags & PF_SAFE_POINT) != 0;
}
static inline bool call_receive_timed_out(Process *p)
{
	return (atomic_load_explicit(&p->state, memory_order_acquire) & PS_TIMEOUT) != 0;
}

/* A guard function of code that was loaded before somebody defined it may be missing. */
static inline Term call_native(Process *p, const struct export *e, Term *args)
{
	return likely(e->bif != NULL) ? e->bif(p, args) : exc_error(p, am_undef);
}

/* Keeps n registers in p. */
void call_save_x(Process *p, const Term *x, unsigned n);
/* Where EXC_TRAP leads. */
static inline const Inst *call_trap_address(const Process *p)
{
	return p->trap_export != NULL ? call_export_address(p->trap_export) : (const Inst *)p->resume_arg;
}
static inline bool call_trap_raises(const Process *p)
{
	return p->trap_export != NULL && export_is_raiser(p->trap_export);
}
/* The result of a native that waited. After an error p->resume_arg is its arguments, or NULL. */
Term call_resume(Process *p);
/* Ends erlang:hibernate/3: empties the stack; p->i is where it will wake. _gc. Fails: false when p is killed. */
bool call_hibernate_gc(Process *p, Term *x, const struct export *e);

/* e has no code: error_handler:undefined_function/3 is called in its place, with e's arguments, which are in x. */
const Inst *call_undefined(Process *p, Term *x, struct export *e, struct exc_site *site);
/* The name by which the native function of a library that stands at `entry` waits, and may fail later. */
const struct export *call_nif_export(const Process *p, const Inst *entry);
/* It has failed. x: its arguments. */
struct exc_site call_nif_site(Process *p, const Inst *entry, const Term *x);
/* The function that begins at `entry` is called: error_handler:breakpoint/3 in its place. */
const Inst *call_debugger(Process *p, Term *x, const Inst *entry, struct exc_site *site);
/* A line begins at *at where a debugger stops: erts_internal:breakpoint/4 is called, and returns to line_return, above
 * which the registers are kept. *at: where to go on; as it was when there is no such function. _gc. Fails: false when p
 * is killed. */
bool call_line_stop_gc(Process *p, Term *x, const Inst **at);
/* apply: x[0..arity) arguments, then module and function. */
const Inst *call_apply_fixed(Process *p, Term *x, unsigned arity, struct exc_site *site);
/* The same, for machine code: where a function begins that code has named. Changes nothing. Fails: NULL, it is no such
 * one, or a native that raises for its caller. */
const Inst *call_apply_usual(const Term *x, unsigned arity);
/* The code of a local fun that takes so many arguments, with what it closes over behind them in x; NULL where
 * call_fun_slow must see. */
static inline const Inst *call_enter_fun(Term *x, Term fun, unsigned arity)
{
	const struct fun *f = fun_ptr(fun);
	const Inst *entry = atomic_load_explicit(&f->entry->address, memory_order_acquire);
	unsigned n = fun_num_free(f);

	if (unlikely(fun_arity(f) != arity || entry == NULL || f->entry->arity != arity + n))
		return NULL;
	for (unsigned i = 0; i < n; i++)
		x[arity + i] = f->env[i];
	return entry;
}
/* A fun that is no loaded local one of that arity: exports, errors. x[0..arity) arguments. */
const Inst *call_fun_slow(Process *p, Term *x, Term fun, unsigned arity, struct exc_site *site);
/* A process begins: x[0..2] module, function, arguments. */
const Inst *call_start(Process *p, Term *x, struct exc_site *site);

/* The function at entry, an export's stub included, is called and has a breakpoint: tells, pushes the frames that tell
 * of its return. x[0..arity) are roots. Fails: false when p is to exit. */
bool call_breakpoint_gc(Process *p, Term *x, const Inst *entry);
/* The native that the instruction at `at` calls has a breakpoint and is its function's last call: the function's frame,
 * of so many bytes, stays until the native returns, so that it is the caller. x[0..arity) are roots. Fails: false when
 * p is to exit. */
bool call_keep_frame_gc(Process *p, Term *x, unsigned arity, const Inst *at, uint32_t frame_bytes);
/* Is that frame there in OTP, too? Not of NIFs, which are functions there, nor when their own module calls them. */
bool call_keeps_frame(const struct export *e, const Inst *at);
/* A receive goes back to `to`, which may be the entry of its function. */
void call_note_loop(Process *p, const Inst *to);
/* wait_timeout goes back to its loop_rec? */
bool call_will_wait(Process *p, Term timeout);

/* The guard is_function(t, arity): false, too, when arity is none. */
bool call_is_function(Term t, Term arity);
/* No clause of the function of that func_info fits its arguments, x. */
struct exc_site call_clause_site(Process *p, const Inst *func_info, const Term *x);
/* erlang:Name(Args...) failed. */
struct exc_site call_arith_site(Process *p, Term name, unsigned arity, const Term *args);
/* An arithmetic operation failed. As in OTP, an increment of a register leaves no entry of its own, and +X is X + 0. */
struct exc_site call_operator_site(Process *p, const Inst *at, enum arith_op op, const Term *args);
Term call_map_reason(Process *p, Term key, Term map);
Term call_badkey(Process *p, Term key);
Term call_badmap(Process *p, Term t);

static inline Term source_get(Inst source, const Term *x, const Term *stack)
{
	unsigned reg = (unsigned)(source >> 2);

	if (!source_is_reg(source))
		return source;
	return *(const Term *)((reg & REG_Y_BIT ? (const char *)stack - REG_Y_BIT : (const char *)x) + reg);
}

/* ---- maps. list: n words, key and value sources by turns. */
/* Words that changing `pairs` pairs of map may take, mostly. */
static inline size_t call_map_room(Term map, size_t pairs)
{
	enum { TRIE_CHANGE_WORDS = 100 };

	return map_is_flat(map) ? 2 * (map_size(map) + pairs) + 4 : TRIE_CHANGE_WORDS;
}
/* Puts a flat map with new values at `at`, when all keys are immediate, ascending and there; TERM_NONE otherwise. */
Term call_update_flat(Term *at, Term map, const Term *x, const Term *stack, const Inst *list, unsigned n);
/* put_map_assoc and put_map_exact of one key. Fails: TERM_NONE. */
static inline Term call_put_pair(Process *p, Term map, Term key, Term value, bool exact)
{
	return exact ? map_update(&p->heap, map, key, value) : map_put(&p->heap, map, key, value);
}
/* put_map_assoc and put_map_exact. Fails: TERM_NONE when map is none, or with *missing. */
Term call_put_map(Process *p, Term map, const Term *x, const Inst *list, unsigned n, bool exact, Term *missing);
/* The same as it mostly is: one key, or several of a flat map, which has them already when exact. Fails: TERM_NONE, it
 * is not so, there is no room, or a collection is due; then it is done again, with all that belongs to it. */
Term call_put_map_usual(Process *p, Term map, const Term *x, const Inst *list, uint32_t n, bool exact);

/* bs_create_bin. list: n segments as opcodes.h tells. Fails: TERM_NONE, with the exception set when raise. */
Term call_create_bin(Process *p, Term *x, Term *stack, const Inst *list, unsigned n, bool raise, struct exc_site *site);

#endif
