/* SPDX-License-Identifier: Apache-2.0 */
/* Modules that are hot, which are seen to run: about once a millisecond a scheduler looks which module its process is
 * in, and one that was seen so a few times gets machine code then and there. That finds where time goes, at no price to
 * any call; functions that are short and called from one place are seen as often as they take. */
#include "code/code_area.h"
#include "code/module.h"
#include "jit/native.h"

enum {
	HOT = 4, /* a power of two; where it could not be then, it may be when it was seen twice as often */
	/* Beside the count in code_instance.heat. */
	LEFT_ALONE = 1 << 20, /* it has machine code, or could not have it so often: it is looked at no more */
	MAKING = 1 << 30,     /* a scheduler makes its machine code, which takes it milliseconds */
};

/* Others are in the module meanwhile, and would begin it, too. */
static void make(struct code_instance *c)
{
	if (atomic_fetch_or(&c->heat, MAKING) & MAKING)
		return;
	if (c->native == NULL)
		native_make(c);
	if (c->native != NULL)
		atomic_store(&c->heat, LEFT_ALONE);
	else
		atomic_fetch_and(&c->heat, ~(uint32_t)MAKING);
}

void native_heat_sampled(Process *p)
{
	struct code_instance *c = code_area_owner(p->i);
	uint32_t seen;

	if (c == NULL || atomic_load_explicit(&c->heat, memory_order_relaxed) >= LEFT_ALONE)
		return;
	seen = atomic_fetch_add_explicit(&c->heat, 1, memory_order_relaxed) + 1;
	if (seen >= HOT && (seen & (seen - 1)) == 0)
		make(c);
}
