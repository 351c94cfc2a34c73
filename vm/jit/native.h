/* SPDX-License-Identifier: Apache-2.0 */
/* Machine code of loaded modules, put together of stencils.
 * The loop enters it by the operation `native`, which is put over the first operation of a function and over those
 * behind an operation that is the loop's; what was there stands right before the machine code. Machine code leaves by
 * returning to the loop, with rbx at an operation that the loop does or goes on at. A process, its stack and its heap
 * never hold an address of machine code: frames return to operations, which are looked up.
 * Invariant: pages of machine code are written before anything leads to them, and never again. Locks: code gets machine
 * code before anybody can call it, and loses it while the world is stopped, or when nobody can run it any more. */
#ifndef VM_JIT_NATIVE_H
#define VM_JIT_NATIVE_H

#include <stdbool.h>

#include "code/module.h"

/* Why machine code has returned to the loop. */
enum native_exit {
	NATIVE_LEFT,             /* rbx: what the loop does */
	NATIVE_TOLLED,           /* NATIVE_LEAVING: the same, at any operation */
	NATIVE_PREEMPTED,        /* at a function's entry */
	NATIVE_PREEMPTED_RETURN, /* where a function returned to */
	NATIVE_FAILED,           /* the native function that rbx calls, which may want something else */
	NATIVE_TAIL_FAILED,      /* the same, as a function's last call */
	NATIVE_COLLECT,          /* as NATIVE_LEFT, with x[0] alone; a collection is due first */
	NATIVE_EXITED,           /* the process ends, by a signal */
	NATIVE_EXITS
};

/* Runs p's machine code from p->i on, which has the operation `native`. The heap's top and the stack's and p->i are
 * stored, before, and by the way out of machine code: p->i is then where the loop goes on. */
enum native_exit native_run(Process *p, Term *x);

enum native_mode {
	NATIVE_UNSAID, /* as hot, and not a word where that cannot be */
	NATIVE_OFF,
	NATIVE_HOT,
	NATIVE_ALL,
	NATIVE_LEAVING, /* for tests: as all, and left and entered at any operation, at random */
};

/* Can this build make machine code? Not one by clang, or with a sanitizer. */
bool native_is_built(void);
/* Modules that are loaded from now on get machine code, at once or when they are hot; where that cannot be, a line on
 * standard error says why, if machine code was asked for. Which files of its names are written: native_perf_init. After
 * code_area_want_native and opcodes_init. */
void native_init(enum native_mode mode, bool perf_map, bool perf_dump);
/* Machine code of c, which has none. Its functions may run meanwhile, and the world is not stopped. Code that was
 * changed where it stands, for a breakpoint or a library's functions, stays the loop's. */
void native_make(struct code_instance *c);
/* NATIVE_TOLLED: p goes on in the loop, and later in machine code, for a random number of operations each; now and then
 * its slice is cut, to go on at once, behind a few reductions. */
void native_pay_toll(Process *p);
/* The module that p runs has been seen once more. */
void native_heat_sampled(Process *p);

#endif
