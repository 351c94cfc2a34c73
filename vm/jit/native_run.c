/* SPDX-License-Identifier: Apache-2.0 */
/* The way from the loop into machine code and back. It is a function of its own, as the compiler would keep less of the
 * loop in registers if any of its operations needed them all. */
#include "base/variant.h"
#include "code/code_area.h"
#include "jit/native.h"

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
