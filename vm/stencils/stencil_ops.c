/* SPDX-License-Identifier: Apache-2.0 */
/* The operations of exec/ops_*, each as a function of machine code with holes: compiled while building, into an object
 * file that is never linked, from which stencil_tool.c takes what it can prove to be right.
 * The text of an operation is the loop's own. Here CASE ends the function before and begins one; fields are addresses
 * of symbols that nobody defines (stencil.h tells them), which are the holes; ways out are calls in tail position.
 *   CONT      the next operation          L<n>, M<n>  a label, in a field of 32 bits or in a word
 *   EXIT      the loop does this operation again, from its beginning: nothing may have changed yet
 *   LEAVE     the loop goes on at rbx     P<n>, PR  the same, by way of its preempt and preempt_return
 * Which registers an operand may be, and what is constant, is known by the parameters of a function (`y`: halfwords
 * that name a register of the stack; `w`: two bits a word, enum stencil_word; `j`: fields of 32 bits that are not 0,
 * as a label may be, and above them, once more, those that are labels, which are never 0 then); a line of the generated
 * variants.inc makes it a stencil.
 * Invariant: no memory is read or written across the address of a register (each is preceded by a barrier), as two
 * symbols may be the same register, which the compiler may take to be impossible. */
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
#include "exec/arith.h"
#include "exec/build.h"
#include "exec/call.h"
#include "exec/record_ops.h"
#include "exec/traced.h"
#include "exec/unwind.h"
#include "jit/native.h"
#include "jit/stencil.h"
#include "proc/message.h"
#include "proc/process_gc.h"
#include "proc/process_life.h"
#include "proc/sched.h"
#include "proc/timer.h"
#include "proc/tracee.h"

register Process *p __asm__("r14");
register Term *x __asm__("r15");
register const Inst *rbx __asm__("rbx");
register Term *E __asm__("r12");
register Term *HTOP __asm__("r13");

#define HOLE(name) extern const char name[] __attribute__((weak)) /* weak: its address may be 0 */
#define HOLES(n)                                                                                   \
	HOLE(hole_O##n); HOLE(hole_S##n); HOLE(hole_T##n); HOLE(hole_J##n); HOLE(hole_B##n);       \
	HOLE(hole_R##n); HOLE(hole_W##n)
HOLES(1); HOLES(2); HOLES(3); HOLES(4); HOLES(5); HOLES(6); HOLES(7); HOLES(8); HOLES(9); HOLES(10);
HOLE(hole_range);

#define WAY(name) extern int name(void)
#define WAYS(n) WAY(hole_L##n); WAY(hole_M##n); __attribute__((cold)) WAY(hole_P##n)
WAYS(1); WAYS(2); WAYS(3); WAYS(4); WAYS(5);
WAY(hole_CONT);
__attribute__((cold)) WAY(hole_EXIT);
__attribute__((cold)) WAY(hole_LEAVE);
__attribute__((cold)) WAY(hole_PR);

/* The operation itself. Rare ways say it anew: the compiler would find it out before it knows which way it goes. */
#define HERE()                                                                                     \
	({                                                                                         \
		const Inst *here_;                                                                 \
                                                                                                   \
		__asm__("leaq hole_HERE(%%rip),%0" : "=r"(here_));                                 \
		here_;                                                                             \
	})
/* A word of its own for each use, which the compiler knows nothing of. */
#define WIDE(name) ({ Term wide_; __asm__("movabsq $" #name ",%0" : "=r"(wide_)); wide_; })
#define FIELD(n) const uintptr_t O##n = (uintptr_t)hole_O##n, S##n = (uintptr_t)hole_S##n
#define NUMBER(n)                                                                                  \
	const int32_t J##n = (j >> n & 1) ? (int32_t)(uintptr_t)hole_J##n : 0;                     \
	if ((j >> (n + LABELS_SHIFT) & 1) && J##n == 0)                                            \
		__builtin_unreachable()
enum { LABELS_SHIFT = 8 };
#define WORD(n)                                                                                    \
	const Term W##n = (w >> 2 * n & 3) == STENCIL_NARROW ? (Term)hole_W##n : WIDE(hole_W##n)

/* What the loop's function has as variables, and the fields of this operation. */
#define BEGIN(op)                                                                                  \
	enum { THIS = OP_##op };                                                                   \
	FIELD(1); FIELD(2); FIELD(3); FIELD(4); FIELD(5); FIELD(6); FIELD(7); FIELD(8); FIELD(9); FIELD(10); \
	NUMBER(1); NUMBER(2); NUMBER(3); NUMBER(4); NUMBER(5);                                     \
	WORD(1); WORD(2); WORD(3); WORD(4); WORD(5); WORD(6);                                      \
	const Inst *I;                                                                             \
	Term r, args[3];                                                                           \
	const struct export *e;                                                                    \
	const Inst *next;                                                                          \
	uint32_t live, dst, frame;                                                                 \
	int32_t fail;                                                                              \
	enum arith_op arith;                                                                       \
	struct exc_site site;                                                                      \
	I = HERE()

#define CASE(op)                                                                                   \
	EXIT();                                                                                    \
	}                                                                                          \
	static inline __attribute__((always_inline)) int text_##op(const unsigned y, const unsigned w,      \
								   const unsigned j)                \
	{                                                                                          \
		BEGIN(op);                                                                         \
		L_##op
/* Traced slices are the loop's. */
#define TRACED(op)                                                                                 \
	EXIT();                                                                                    \
	}                                                                                          \
	static inline int text_traced_##op(const unsigned y, const unsigned w, const unsigned j)        \
	{                                                                                          \
		BEGIN(op);                                                                         \
		T_##op
enum { table, traced_table = table }; /* a native that a fun is of is called by way of its stub */
#define W0 (*I)

/* Fields. H, J and W give one name each, which REG, SOURCE and JUMP make another one of. */
#define H(n) O##n
#define J(n) J##n
#define W(n) W##n
#define ALWAYS_FRESH(at) (*({ __asm__ volatile("" ::: "memory"); (Term *)(at); }))
#define X(off) ALWAYS_FRESH((char *)x + (off))
#define Y(off) ALWAYS_FRESH((char *)E - REG_Y_BIT + (off))
#define OF_FIELD(n) ALWAYS_FRESH((y >> n & 1 ? (char *)E - REG_Y_BIT : (char *)x) + O##n)
#define REG(off) REG_##off
#define REG_H(n) OF_FIELD(n)
#define REG_O1 OF_FIELD(1)
#define REG_O2 OF_FIELD(2)
#define REG_O3 OF_FIELD(3)
#define REG_O4 OF_FIELD(4)
#define REG_O5 OF_FIELD(5)
#define SOURCE(word) SOURCE_##word
#define KIND(n) (w >> 2 * n & 3)
#define SOURCE_W(n)                                                                                \
	(KIND(n) == STENCIL_X ? X((uintptr_t)hole_R##n) : KIND(n) == STENCIL_Y ? Y((uintptr_t)hole_R##n) : W##n)
#define ELEMENT(t, n) (*(Term *)((t) + (ELEMENT_##n + sizeof(Term) - TAG_BOXED)))
#define TUPLE_HEADER(arity) TUPLE_HEADER_##arity
#define TUPLE_HEADER_H(n) (Term)hole_T##n
#define TUPLE_HEADER_O1 (Term)hole_T1
#define TUPLE_HEADER_O2 (Term)hole_T2
#define FIELD_BYTES(words) BYTES_##words
#define BYTES_O2 S2
#define BYTES_O3 S3
#define BYTES_H(n) S##n
#define BYTES_J(n) (uintptr_t)hole_B##n
#define BYTES_J1 (uintptr_t)hole_B1
/* The address of the operation behind this one: not as a sum, which the compiler would make at run time. */
#define BEHIND(op)                                                                                 \
	({                                                                                         \
		const Inst *behind_;                                                               \
                                                                                                   \
		__asm__("leaq hole_HERE+%c1(%%rip),%0" : "=r"(behind_) : "i"(OPWORDS_##op * sizeof(Inst))); \
		behind_;                                                                           \
	})
#define ELEMENT_H(n) S##n
#define ELEMENT_O2 S2
#define ELEMENT_O4 S4
#define ELEMENT_W2 (W2 * sizeof(Term))
#define ELEMENT_W(n) (W##n * sizeof(Term))
/* Of its bits: the library's compares with a number that stands elsewhere. */
#undef isfinite
#define isfinite(d)                                                                                \
	({                                                                                         \
		uint64_t bits_, exponent_ = (uint64_t)0x7ff << 52;                                 \
		double d_ = (d);                                                                   \
                                                                                                   \
		memcpy(&bits_, &d_, sizeof bits_);                                                 \
		(bits_ & exponent_) != exponent_;                                                  \
	})
/* Operands in a list have no holes: they are read where they stand, as the loop does. */
#define REG_IN(word)                                                                               \
	({                                                                                         \
		Term at_ = (word);                                                                 \
                                                                                                   \
		&ALWAYS_FRESH((at_ & REG_Y_BIT ? (char *)E - REG_Y_BIT : (char *)x) + at_);        \
	})[0]
#define SOURCE_IN(word) ({ Term word_ = (word); source_is_reg(word_) ? REG_IN(word_ >> 2) : word_; })
/* Variables of the loop that hold operands: there is no such thing to link with, which the tool says. */
extern Term operand_of_the_loop[];
#define REG_dst operand_of_the_loop[0]
extern struct bits_builder builder;

/* ---- ways out */
#define EXIT() return hole_EXIT()
#define goto EXIT(); struct /* a tail of the loop */
#define SWAPOUT() EXIT()
#define SWAPIN() EXIT()
#define STORE_HEAP() (p->heap.top = HTOP, p->heap.stop = E)
#define LEAVE_WHEN(rare)                                                                           \
	do {                                                                                       \
		if (unlikely(rare))                                                                \
			EXIT();                                                                    \
	} while (0)
#define COLLECT(words, live) EXIT()
#define COLLECT_KEEPING(words, live, place) EXIT()
#define STANDS(op) true
#define HEAP_LACKS_BYTES(bytes)                                                                    \
	unlikely((VARIANT_GC_STRESS && heap_is_stressed(&p->heap)) ||                              \
		 (uintptr_t)E < (uintptr_t)HTOP + (bytes))
#define HEAP_LACKS(words) HEAP_LACKS_BYTES((size_t)(words) * sizeof(Term))
#define NEED_FIELD(words, live)                                                                    \
	do {                                                                                       \
		if (HEAP_LACKS_BYTES(FIELD_BYTES(words)))                                          \
			EXIT();                                                                    \
	} while (0)
#define NEED(words, live)                                                                          \
	do {                                                                                       \
		if (HEAP_LACKS(words))                                                             \
			EXIT();                                                                    \
	} while (0)
#define RAISE_ERROR(why) EXIT()
#define DISPATCH_TO(op) EXIT()
#define NEXT(op)                                                                                   \
	do {                                                                                       \
		_Static_assert((int)OP_##op == (int)THIS, "another operation's end");              \
		return hole_CONT();                                                                \
	} while (0)
#define NEXT_BEHIND(list) return hole_CONT()
#define JUMP(words)                                                                                \
	do {                                                                                       \
		JUMP_##words;                                                                      \
	} while (0)
#define JUMP_J(n) return hole_L##n()
#define JUMP_J1 JUMP_J(1)
#define JUMP_J2 JUMP_J(2)
#define JUMP_J3 JUMP_J(3)
#define JUMP_fail EXIT()
#define JUMP_WORD(n) return hole_M##n()
#define JUMP_BY(words) do { I += (words); DISPATCH(); } while (0)
/* To the operation at I: by its machine code, or by the loop. What stands outside the range of code has none. */
#define DISPATCH()                                                                                 \
	do {                                                                                       \
		uintptr_t native_;                                                                 \
                                                                                                   \
		rbx = I;                                                                           \
		if ((uintptr_t)rbx >> CODE_RANGE_SHIFT != (uintptr_t)hole_range)                \
			return hole_LEAVE();                                                       \
		native_ = *code_native_at(rbx);                                                    \
		if (native_ == 0)                                                                  \
			return hole_LEAVE();                                                       \
		return ((int (*)(void))native_)();                                                 \
	} while (0)
#define DISPATCH_NEAR()                                                                            \
	do {                                                                                       \
		uintptr_t native_;                                                                 \
                                                                                                   \
		rbx = I;                                                                           \
		native_ = *code_native_at(rbx);                                                    \
		if (native_ == 0)                                                                  \
			return hole_LEAVE();                                                       \
		return ((int (*)(void))native_)();                                                 \
	} while (0)
#define ENTER()                                                                                    \
	do {                                                                                       \
		if (unlikely(--p->reds_left < 0)) {                                                \
			rbx = I;                                                                   \
			return hole_P0();                                                          \
		}                                                                                  \
		DISPATCH();                                                                        \
	} while (0)
__attribute__((cold)) WAY(hole_P0);
#define LOOP_TO(at) do { I = (at); ENTER(); } while (0)
#define ENTER_AT(words) ENTER_##words
#define LOOP_BY(words) ENTER_##words
#define ENTER_J(n)                                                                                 \
	do {                                                                                       \
		if (unlikely(--p->reds_left < 0))                                                  \
			return hole_P##n();                                                        \
		return hole_L##n();                                                                \
	} while (0)
#define ENTER_J1 ENTER_J(1)
#define ENTER_J2 ENTER_J(2)
#define ENTER_J3 ENTER_J(3)
#define ENTER_J4 ENTER_J(4)
/* The address is in rbx before it goes from the stack: who looks from outside (tools/otp/otp_stack.c) finds it in one
 * of both. */
#define TAKE_RETURN()                                                                              \
	do {                                                                                       \
		__asm__ volatile("" : "+r"(E)); /* or the compiler keeps the old one in a register */ \
		rbx = (const Inst *)E[0];                                                          \
		__asm__ volatile("" : "+r"(rbx) : : "memory");                                     \
		E[0] = TERM_NONE;                                                                  \
		I = rbx;                                                                           \
	} while (0)
#define RETURN()                                                                                   \
	do {                                                                                       \
		TAKE_RETURN();                                                                     \
		if (unlikely(--p->reds_left < 0))                                                  \
			return hole_PR();                                                          \
		DISPATCH_NEAR();                                                                   \
	} while (0)
/* To a tail of the loop that has a way. */
#define GO_ON(tail)                                                                                \
	do {                                                                                       \
		rbx = I;                                                                           \
		return hole_TO_##tail();                                                           \
	} while (0)
__attribute__((cold)) WAY(hole_TO_native_failed);
__attribute__((cold)) WAY(hole_TO_bif_tail_failed);
__attribute__((cold)) WAY(hole_TO_bif_collect);
__attribute__((cold)) WAY(hole_TO_exited);
#define STENCIL_SHARED(op, n)                                                                      \
	WAY(hole_N##n);                                                                            \
	static inline __attribute__((always_inline)) int way_##op(void) { return hole_N##n(); }
STENCILS_SHARED
#undef STENCIL_SHARED
#define CALL_SHARED(op)                                                                            \
	do {                                                                                       \
		rbx = HERE();                                                                      \
		return way_##op();                                                                 \
	} while (0)
/* The loop does this operation from its beginning, though something was written or called: what that was does not
 * count, which the tool could not know. */
#define AGAIN()                                                                                    \
	do {                                                                                       \
		rbx = HERE();                                                                      \
		return hole_LEAVE();                                                               \
	} while (0)
/* What is not as it mostly is, natives that raise for their callers among it, is the loop's. */
#define APPLY(n)                                                                                   \
	do {                                                                                       \
		next = call_apply_usual(x, n);                                                     \
		if (unlikely(next == NULL))                                                        \
			EXIT();                                                                    \
	} while (0)
#define call_raiser_at(entry) NULL
/* Nor does arithmetic of what is not small. What adds a small constant to a register, or takes one away, mostly counts:
 * that leaves, as it would be three times as long. */
#define ARITH_SLOW(op, form, a, b, dst, live, fail) SLOW##form(op, form, a, b, dst)
#define SLOW_xix(op, form, a, b, dst)                                                              \
	do {                                                                                       \
		if (ARITH_##op != ARITH_mul)                                                       \
			EXIT();                                                                    \
		SLOW(op, form, a, b, dst);                                                         \
	} while (0)
#define SLOW_yix(op, form, a, b, dst) EXIT()
#define SLOW_ri SLOW
#define SLOW_rr SLOW
#define SLOW_xxx SLOW
#define SLOW_ss SLOW
#define SLOW(op, form, a, b, dst)                                                                  \
	do {                                                                                       \
		if (ARITH_##op == ARITH_mul || ARITH_##op == ARITH_bsl) {                          \
			struct arith_masked masked_ =                                              \
				arith_masked(ARITH_##op, a, b, HERE() + OPWORDS_##op##form, dst, x);       \
                                                                                                   \
			if (masked_.next != NULL) {                                                \
				REG(dst) = masked_.value;                                          \
				I = masked_.next;                                                  \
				DISPATCH_NEAR();                                                   \
			}                                                                          \
		}                                                                                  \
		p->heap.top = HTOP;                                                                \
		p->heap.stop = E;                                                                  \
		r = arith_usual(p, a, b, ARITH_##op);                                              \
		if (unlikely(r == TERM_NONE))                                                      \
			AGAIN();                                                                   \
		HTOP = p->heap.top;                                                                \
		REG(dst) = r;                                                                      \
		return hole_CONT();                                                                \
	} while (0)
/* A guard function changes nothing but the top of the heap. So where it failed, or a collection is due, the loop may
 * call it again. */
#define GUARD_CALL(n, form)                                                                        \
	do {                                                                                       \
		p->heap.top = HTOP;                                                                \
		p->heap.stop = E;                                                                  \
		form;                                                                              \
		HTOP = p->heap.top;                                                                \
		if (likely(r != TERM_NONE) && (fail != 0 || live == 0 || likely(!call_wants_gc(p)))) { \
			REG(H(1)) = r;                                                             \
			return hole_CONT();                                                        \
		}                                                                                  \
		p->exc_kind = EXC_NONE;                                                            \
		if (r == TERM_NONE && fail != 0)                                                   \
			return hole_L2();                                                          \
		AGAIN();                                                                           \
	} while (0)

/* What was written does not show when it fails. */
#define BUILD(make)                                                                                \
	do {                                                                                       \
		p->heap.top = HTOP;                                                                \
		p->heap.stop = E;                                                                  \
		r = (make);                                                                        \
		if (likely(r != TERM_NONE)) {                                                      \
			HTOP = p->heap.top;                                                        \
			REG(H(1)) = r;                                                             \
			return hole_CONT();                                                        \
		}                                                                                  \
		AGAIN();                                                                           \
	} while (0)
#define PUT_MAP(exact)                                                                             \
	BUILD(call_put_map_usual(p, SOURCE(W(2)), x, I + OPWORDS_put_map_assoc, (uint32_t)J(3), exact))
/* What was done is undone. */
#define FLOAT_FAILED(undo)                                                                         \
	do {                                                                                       \
		undo;                                                                              \
		AGAIN();                                                                           \
	} while (0)
#define FLOAT_OF_OTHER(t, f) EXIT()
/* By its bits, as no constant of the compiler's can be had; what releases do with a zero is the loop's. */
#define FLOAT_NEGATED(f)                                                                           \
	({                                                                                         \
		uint64_t bits_;                                                                    \
		double d_ = (f);                                                                   \
                                                                                                   \
		memcpy(&bits_, &d_, sizeof bits_);                                                 \
		if (unlikely(bits_ << 1 == 0))                                                     \
			EXIT();                                                                    \
		bits_ ^= (uint64_t)1 << 63;                                                        \
		memcpy(&d_, &bits_, sizeof d_);                                                    \
		d_;                                                                                \
	})

static inline int before_the_first(void)
{
#include "exec/ops_call.inc"
#include "exec/ops_move.inc"
#include "exec/ops_test.inc"
#include "exec/ops_arith.inc"
#include "exec/ops_data.inc"
#include "exec/ops_exc.inc"
#include "exec/ops_message.inc"
#include "exec/ops_bits.inc"
#include "exec/ops_build.inc"
#include "exec/ops_float.inc"
	EXIT();
}

#undef goto

/* ---- what all such operations of all modules share: the operation is read where it stands */
#define SHARED_NAME(op, j) SHARED_NAMED(op, j)
#define SHARED_NAMED(op, j) int stencil_##op##__0_0_##j(void)
#define SHARED(op) SHARED_NAME(op, STENCIL_SHARED_J)

static inline Term call_at(const Inst *I)
{
	STORE_HEAP();
	p->i = I;
	return ((const struct export *)I[1])->call(p, x);
}

SHARED(call_bif)
{
	const Inst *I = rbx;
	Term result = call_at(I);

	NATIVE_RETURNED(result);
}

static inline int call_ended(const Inst *I, uintptr_t frame)
{
	Term result = call_at(I);

	NATIVE_ENDED(result);
}

SHARED(call_bif_only)
{
	return call_ended(rbx, 0);
}

SHARED(call_bif_last)
{
	return call_ended(rbx, ((const uint16_t *)rbx)[1]);
}

SHARED(send)
{
	const Inst *I = rbx;

	STORE_HEAP();
	p->i = I;
	if (unlikely(!message_send_usual(p, x[0], x[1])))
		return hole_LEAVE();
	p->reds_left--;
	HTOP = p->heap.top;
	x[0] = x[1];
	I += OPWORDS_send;
	DISPATCH_NEAR();
}

/* No message is there to be looked at. */
SHARED(loop_rec)
{
	const Inst *I = rbx;
	Term r;

	STORE_HEAP();
	p->i = I;
	r = message_fetch(p);
	HTOP = p->heap.top;
	if (likely(r != TERM_NONE)) {
		REG_IN(((const uint16_t *)I)[1]) = r;
		I += OPWORDS_loop_rec;
		DISPATCH_NEAR();
	}
	if (unlikely(p->exc_kind == EXC_EXITED))
		GO_ON(exited);
	I += ((const int32_t *)I)[1];
	DISPATCH_NEAR();
}

#define STENCIL(op, y, w, j, there)                                                                \
	int stencil_##op##__##y##_##w##_##j(void)                                                  \
	{                                                                                          \
		return text_##op(0x##y, 0x##w, 0x##j | 0x##there << LABELS_SHIFT);                     \
	}
#include "variants.inc"
