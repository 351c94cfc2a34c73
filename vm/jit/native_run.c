/* SPDX-License-Identifier: Apache-2.0 */
/* The way from the loop into machine code and back. It is a function of its own, as the compiler would keep less of the
 * loop in registers if any of its operations needed them all. */
#include "base/variant.h"
#include "code/code_area.h"
#include "jit/native.h"
#include "proc/sched.h"

void native_pay_toll(Process *p)
{
	enum { OPERATIONS_MOST = 31, REDUCTIONS_MOST = 7 };
	struct sched *s = sched_self();
	int32_t after;

	s->native_random = s->native_random * 1664525 + 1013904223; /* Numerical Recipes' */
	s->native_toll = (int32_t)(s->native_random >> 20 & OPERATIONS_MOST);
	after = (int32_t)(s->native_random >> 12 & REDUCTIONS_MOST) + 1;
	if ((s->native_random >> 28) == 0 && after < p->reds_left) {
		p->reds_kept += p->reds_left - after;
		p->reds_left = after;
	}
}

enum native_exit native_run(Process *process, Term *registers)
{
	register Process *p VARIANT_PIN("r14") = process;
	register Term *x VARIANT_PIN("r15") = registers;
	register const Inst *I VARIANT_PIN("rbx") = p->i;
	register Term *E VARIANT_PIN("r12") = p->heap.stop;
	register Term *HTOP VARIANT_PIN("r13") = p->heap.top;
	uintptr_t how = *code_native_at(I);

	VARIANT_CALL_NATIVE(how, I, E, HTOP, p, x);
	return (enum native_exit)how;
}
