/* SPDX-License-Identifier: Apache-2.0 */
/* Putting native functions of libraries in place, and detours. These stand in one reserved range, so that an address
 * in one tells whose it is. */
#include "code/nif_function.h"

#include <sys/mman.h>

#include "base/alloc.h"
#include "base/lock.h"
#include "base/range.h"
#include "code/breakpoint.h"
#include "code/module.h"

enum { DETOURS_MAX = 1 << 20 };

void (*nif_release_library)(struct nif_library *l);
bool (*nif_has_tracer)(Term module);
Term (*nif_call_tracer)(Term module, enum nif_tracer_kind kind, unsigned arity, Process *self, const Term *args);

static struct {
	struct lock lock;
	struct mem_range range;
	struct nif_detour *all; /* at its base: room for DETOURS_MAX */
	struct nif_detour *unused;
	size_t count;
} detours;

void nif_code_init(void)
{
	lock_init(&detours.lock, LOCK_nif_detours);
	range_reserve(&detours.range, DETOURS_MAX * sizeof(struct nif_detour), RANGE_LIMITED);
	detours.all = (struct nif_detour *)detours.range.base;
}

void nif_place(Inst *info, const struct nif_function *f)
{
	Inst *entry = info + FUNC_INFO_WORDS;
	uint16_t op;

	module_drop_native(entry);
	op = (uint16_t)*entry;

	if (breakpoint_opcode(entry) == OP_breakpoint_debug)
		info[3] = (uint32_t)info[3] | (Inst)OP_call_nif << 32;
	else if (op == OP_breakpoint)
		breakpoint_at(info)->opcode = OP_call_nif;
	else
		op = OP_call_nif;
	__atomic_store_n(entry, (nif_inst(f) & ~(Inst)0xffff) | op, __ATOMIC_RELEASE);
}

struct nif_detour *nif_detour_new(void)
{
	struct nif_detour *d;

	lock_acquire(&detours.lock);
	d = detours.unused;
	if (d != NULL)
		detours.unused = d->next_unused;
	else if (detours.count < DETOURS_MAX &&
		 range_commit(&detours.range, (detours.count + 1) * sizeof(struct nif_detour)))
		d = &detours.all[detours.count++];
	lock_release(&detours.lock);
	if (d != NULL)
		d->is_underway = false;
	return d;
}

void nif_detour_free(struct nif_detour *d)
{
	lock_acquire(&detours.lock);
	d->next_unused = detours.unused;
	detours.unused = d;
	lock_release(&detours.lock);
}

void nif_detour_set(struct nif_detour *d, const struct nif_function *f)
{
	d->function = *f;
	d->info[0] = OP_func_info;
	d->info[1] = f->module;
	d->info[2] = f->function;
	d->info[3] = f->arity;
	d->entry = nif_inst(&d->function);
}

const Inst *nif_detour_info(const Inst *pc)
{
	uintptr_t offset = (uintptr_t)pc - (uintptr_t)detours.all;

	return offset < detours.range.bytes ? detours.all[offset / sizeof(struct nif_detour)].info : NULL;
}
