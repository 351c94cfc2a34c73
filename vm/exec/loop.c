/* SPDX-License-Identifier: Apache-2.0 */
/* The interpreter loop. Operations stand in ops_<family>.inc, parts of one function; opcodes.def gives their fields.
 * Invariant: top of heap and stack live in HTOP and E while an operation runs; SWAPOUT stores them before anything that
 * allocates, SWAPIN reads them back after anything that may have moved them. Dispatch goes through one of two tables,
 * chosen when a process is scheduled in: the traced one has other handlers for calls, returns and natives. */
#include <math.h>
#include <string.h>

#include "base/release.h"
#include "code/breakpoint.h"
#include "code/export.h"
#include "code/fun.h"
#include "code/opcodes.h"
#include "data/binary.h"
#include "data/bits_build.h"
#include "data/compare.h"
#include "data/map.h"
#include "data/number.h"
#include "data/phash.h"
#include "data/utf8.h"
#include "exec/arith.h"
#include "exec/build.h"
#include "exec/call.h"
#include "exec/unwind.h"
#include "exec/exec.h"
#include "exec/record_ops.h"
#include "exec/traced.h"
#include "jit/native.h"
#include "proc/message.h"
#include "proc/process_gc.h"
#include "proc/process_life.h"
#include "proc/sched.h"
#include "proc/timer.h"
#include "proc/tracee.h"

/* ---- fields: halfword, 32 bits, word */
#define H(n) (((const uint16_t *)I)[n])
#define J(n) (((const int32_t *)I)[n])
#define W(n) (I[n])

/* ---- registers */
#define X(off) (*(Term *)((char *)x + (off)))
#define Y(off) (*(Term *)((char *)E - REG_Y_BIT + (off)))
#define REG(off) (*(Term *)(((off) & REG_Y_BIT ? (char *)E - REG_Y_BIT : (char *)x) + (off)))
#define SOURCE(word) ({ Term source_ = (word); source_is_reg(source_) ? REG(source_ >> 2) : source_; })
/* Of a list behind the operation. */
#define REG_IN(word) REG(word)
#define SOURCE_IN(word) SOURCE(word)

#define ELEMENT(t, n) (boxed_ptr(t)[1 + (n)])

#define SWAPOUT() (p->heap.top = HTOP, p->heap.stop = E)
#define SWAPIN() (HTOP = p->heap.top, E = p->heap.stop)
#define STORE_HEAP() SWAPOUT() /* for a function that machine code calls, too */

#define DISPATCH_TO(op) goto *table[op]
#define DISPATCH() DISPATCH_TO((uint16_t)*I)
#define CASE(op) L_##op
#define TRACED(op) T_##op
#define NEXT(op) do { I += OPWORDS_##op; DISPATCH(); } while (0)
#define NEXT_BEHIND(list) do { I = (list); DISPATCH(); } while (0) /* the end of this operation's list */
#define JUMP(words) do { I += (words); DISPATCH(); } while (0)
#define DISPATCH_NEAR() DISPATCH()               /* I is in the range of code */
#define GO_ON(tail) goto tail
#define CALL_SHARED(op) do { } while (0)         /* machine code has one text for all of them */
#define LEAVE_WHEN(rare) do { } while (0)        /* where machine code leaves to the loop */
#define JUMP_BY(words) JUMP(words)               /* a number of words that is no field of this operation */
#define JUMP_WORD(n) JUMP((int64_t)W(n))         /* a label in that word */

#define HEAP_LACKS_BYTES(bytes)                                                                    \
	unlikely((VARIANT_GC_STRESS && heap_is_stressed(&p->heap)) || (char *)E < (char *)HTOP + (bytes))
#define HEAP_LACKS(words) HEAP_LACKS_BYTES((size_t)(words) * sizeof(Term))
/* A field, which machine code has as it is used. */
#define FIELD_BYTES(words) ((size_t)(uint32_t)(words) * sizeof(Term))
#define TUPLE_HEADER(arity) HEADER(arity, SUB_TUPLE)
#define BEHIND(op) (I + OPWORDS_##op)
#define COLLECT(words, live)                                                                       \
	do {                                                                                       \
		SWAPOUT();                                                                         \
		p->i = I;                                                                          \
		if (!process_collect_gc(p, words, x, live))                                        \
			goto exited;                                                               \
		SWAPIN();                                                                          \
	} while (0)
/* Room for words; x[0..live) are roots. */
#define NEED(words, live)                                                                          \
	do {                                                                                       \
		if (HEAP_LACKS(words))                                                             \
			COLLECT(words, live);                                                      \
	} while (0)

/* The same, of words that a field holds. */
#define NEED_FIELD(words, live)                                                                    \
	do {                                                                                       \
		if (HEAP_LACKS_BYTES(FIELD_BYTES(words)))                                          \
			COLLECT((uint32_t)(words), live);                                          \
	} while (0)

/* The same, with what stands in `place` as a root, which may be no live register. */
#define COLLECT_KEEPING(words, live, place)                                                        \
	do {                                                                                       \
		x[live] = (place);                                                                 \
		COLLECT(words, (live) + 1);                                                        \
		(place) = x[live];                                                                 \
	} while (0)
/* Nothing stands in its place, such as a breakpoint. */
#define STANDS(op) ((uint16_t)*I == OP_##op)

#define ENTER()                                                                                    \
	do {                                                                                       \
		if (unlikely(--p->reds_left < 0)) /* of the sign alone: one instruction */         \
			goto preempt;                                                              \
		DISPATCH();                                                                        \
	} while (0)

#define ENTER_AT(words)                                                                            \
	do {                                                                                       \
		I += (words);                                                                      \
		ENTER();                                                                           \
	} while (0)

/* A last call, which most often goes where the last call before went: then the next operation is found by that
 * address, which is known, rather than by one that is made of a field of this operation. In short loops each operation
 * would wait for the address of the one before. */
#define LOOP_TO(at)                                                                                \
	do {                                                                                       \
		const Inst *at_ = (at);                                                            \
                                                                                                   \
		if (likely(at_ == loop_start))                                                     \
			at_ = loop_start; /* read again: the processor does not wait for `at` */   \
		else                                                                               \
			loop_start = at_;                                                          \
		I = at_;                                                                           \
		ENTER();                                                                           \
	} while (0)

#define LOOP_BY(words) LOOP_TO(I + (words))

/* It is a reduction, as a call is: a deep recursion returns as often as it called, and calls nobody meanwhile. */
#define TAKE_RETURN()                                                                              \
	do {                                                                                       \
		I = (const Inst *)E[0];                                                            \
		E[0] = TERM_NONE;                                                                  \
	} while (0)
#define RETURN()                                                                                   \
	do {                                                                                       \
		TAKE_RETURN();                                                                     \
		if (unlikely(--p->reds_left < 0))                                                  \
			goto preempt_return;                                                       \
		DISPATCH_NEAR();                                                                   \
	} while (0)

/* Arithmetic of what is not small, in a tail that all such operations share. I is hidden from the compiler, or it would
 * keep the next instruction's address for this on the way that is taken. */
#define ARITH_SLOW(op, form, a, b, dst_, live_, fail_)                                             \
	do {                                                                                       \
		VARIANT_OPAQUE(I);                                                                 \
		args[0] = (a);                                                                     \
		args[1] = (b);                                                                     \
		arith = ARITH_##op;                                                                \
		dst = (dst_);                                                                      \
		live = (live_);                                                                    \
		fail = (fail_);                                                                    \
		next = I + OPWORDS_##op##form;                                                     \
		goto arith_slow;                                                                   \
	} while (0)

/* bif0 to bif3: `form` calls the function, and leaves its result in r, and live and fail. */
#define GUARD_CALL(n, form)                                                                        \
	dst = H(1);                                                                                \
	next = I + OPWORDS_bif##n;                                                                 \
	SWAPOUT();                                                                                 \
	form;                                                                                      \
	goto guard_called

/* `next` is what x[0..n) and the two terms behind are for. */
#define APPLY(n)                                                                                   \
	do {                                                                                       \
		live = (n);                                                                        \
		p->i = I;                                                                          \
		SWAPOUT();                                                                         \
		next = call_apply_fixed(p, x, live, &site);                                        \
		HTOP = p->heap.top;                                                                \
		if (next == NULL)                                                                  \
			goto raise;                                                                \
	} while (0)

/* An error with no native function at its head. */
#define RAISE_ERROR(why)                                                                           \
	do {                                                                                       \
		SWAPOUT();                                                                         \
		exc_error(p, (why));                                                               \
		site.kind = EXC_SITE_NONE;                                                             \
		goto raise;                                                                        \
	} while (0)

/* put_map_assoc and put_map_exact share their text. */
#define PUT_MAP(exact) goto put_map
/* bs_create_bin_small and _append: `make` is the call. */
#define BUILD(make)                                                                                \
	do {                                                                                       \
		SWAPOUT();                                                                         \
		r = (make);                                                                        \
		if (unlikely(r == TERM_NONE))                                                      \
			goto create_any;                                                           \
		HTOP = p->heap.top;                                                                \
		REG(H(1)) = r;                                                                     \
		NEXT_BEHIND(CREATE_LIST(0) + J(5));                                                \
	} while (0)
/* An error, here: nobody does the operation again, so that there is nothing to undo. */
#define FLOAT_FAILED(undo)                                                                         \
	do {                                                                                       \
		if (false) {                                                                       \
			undo;                                                                      \
		}                                                                                  \
		goto float_failed;                                                                 \
	} while (0)
/* An integer that is large, or an error. */
#define FLOAT_OF_OTHER(t, f)                                                                       \
	do {                                                                                       \
		if (!num_get_double(t, &(f)))                                                      \
			goto float_failed;                                                         \
	} while (0)
#define FLOAT_NEGATED(f) (release_zeros_differ() ? -(f) : 0.0 - (f)) /* of 0.0: 0.0, as OTP 25's */

enum run_result exec_run(struct sched *s, Process *process)
{
	static const void *const plain_table[OP_COUNT] = {
#define OP(name, genop, signature, words) [OP_##name] = &&L_##name,
#include "code/opcodes.def"
	};
	static const void *const watched_table[OP_COUNT] = {
#define OP(name, genop, signature, words) [OP_##name] = &&L_##name,
#define MOP(name, genop, signature, words) [OP_##name] = &&T_##name,
#include "code/opcodes.def"
	};
	static const void *const traced_table[OP_COUNT] = {
#define OP(name, genop, signature, words) [OP_##name] = &&L_##name,
#define MOP(name, genop, signature, words) [OP_##name] = &&T_##name,
#define TOP(name, genop, signature, words) [OP_##name] = &&T_##name,
#include "code/opcodes.def"
	};
	static const void *const *const tables[] = {
		[WATCH_NOTHING] = plain_table, [WATCH_MESSAGES] = watched_table, [WATCH_CALLS] = traced_table,
	};
	register Process *p VARIANT_PIN("r14") = process;
	const void *const *table = tables[unlikely(p->saved_calls != NULL) ? WATCH_CALLS : s->watch];
	register Term *x VARIANT_PIN("r15") = s->x;
	register const Inst *I VARIANT_PIN("rbx"); /* gcc spills it when the function grows */
	register Term *E VARIANT_PIN("r12"), *HTOP VARIANT_PIN("r13");
	/* shared by the tails of operations */
	Term r, args[3];
	const struct export *e;
	const Inst *next, *volatile loop_start = NULL;
	uint32_t live, dst, frame;
	int32_t fail;
	enum arith_op arith;
	struct exc_site site;
	struct bits_builder builder = { 0 };

	VARIANT_OPAQUE(p); /* registers of their own, not derived from others */
	VARIANT_OPAQUE(x);
	for (unsigned i = 0; i < p->live; i++)
		x[i] = p->x[i];
	I = p->i;
	if (unlikely(p->resume != NULL))
		goto resume;
	if (unlikely(p->heap.wants_gc || (p->flags & PF_SAFE_POINT)) && !process_collect_gc(p, 0, x, p->live))
		goto exited_swapped;
	SWAPIN();
	DISPATCH();

#include "exec/ops_call.inc"
#include "exec/ops_move.inc"
#include "exec/ops_test.inc"
#include "exec/ops_arith.inc"
#include "exec/ops_data.inc"
#include "exec/ops_exc.inc"
#include "exec/ops_record.inc"
#include "exec/ops_message.inc"
#include "exec/ops_float.inc"
#include "exec/ops_bits.inc"
#include "exec/ops_build.inc"

	/* ---- tails */
preempt: /* I is the entry of a function; its arity stands before it */
	live = (uint32_t)I[-1];
	SWAPOUT();
	p->i = I;
	call_save_x(p, x, live);
	return RUN_YIELD;

preempt_return: /* I is where the function returned to, x[0] what it returned */
	if (call_is_stub(I))
		DISPATCH();
	SWAPOUT();
	p->i = I;
	call_save_x(p, x, 1);
	return RUN_YIELD;

raise: /* the exception is set, the site as well; heap stored back */
	I = exc_unwind(p, x, I, &site);
	if (I == NULL)
		goto exited_swapped;
	if (unlikely(call_wants_gc(p))) {
		p->i = I;
		if (!process_collect_gc(p, 0, x, 4))
			goto exited_swapped;
	}
	SWAPIN();
	DISPATCH();

exited:
	SWAPOUT();
exited_swapped:
	p->live = 0;
	process_exit(p, p->exc_reason);
	return RUN_EXITED;
}
