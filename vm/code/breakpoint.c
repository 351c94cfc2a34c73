/* SPDX-License-Identifier: Apache-2.0 */
/* Putting breakpoints in place. */
#include "code/breakpoint.h"

#include "code/module.h"
#include "proc/exc.h"

struct breakpoint_hooks breakpoint_hooks;
const Inst *breakpoint_return;

/* In place of a native: goes on in its export's stub, as if it were a function. */
static Term enter_stub(Process *p, Term *args)
{
	struct export *e = export_of_stub(p->i);

	if (e == NULL)
		e = (struct export *)p->i[1]; /* call_bif and its like */
	if (breakpoint_at(e->func_info)->is_global && breakpoint_native_of_entry(p->i) != NULL)
		return e->bif(p, args);
	p->trap_export = NULL;
	p->resume_arg = &e->stub[EXPORT_STUB_TRACED];
	p->exc_kind = EXC_TRAP;
	return TERM_NONE;
}

static void set_info(struct breakpoint *b, struct breakpoint *value)
{
	b->info[0] = (b->info[0] & 0xffff) | (Inst)(uintptr_t)value << 16;
}

void breakpoint_place(struct breakpoint *b)
{
	struct export *e = b->export;

	set_info(b, b);
	if (e == NULL) {
		Inst *entry = b->info + FUNC_INFO_WORDS;

		module_drop_native(entry);
		b->opcode = (uint16_t)*entry;
		*entry = (*entry & ~(Inst)0xffff) | OP_breakpoint;
		return;
	}
	b->address = atomic_load(&e->address);
	atomic_store(&e->address, &e->stub[EXPORT_STUB_TRACED]);
	if (e->bif != NULL)
		e->call = enter_stub;
}

void breakpoint_remove(struct breakpoint *b)
{
	struct export *e = b->export;

	set_info(b, NULL);
	if (e == NULL) {
		Inst *entry = b->info + FUNC_INFO_WORDS;

		*entry = (*entry & ~(Inst)0xffff) | b->opcode;
		return;
	}
	atomic_store(&e->address, b->address);
	e->call = e->bif;
}

/* ---- debuggers */

static void put_opcode(Inst *info, uint16_t op)
{
	Inst *entry = info + FUNC_INFO_WORDS;

	module_drop_native(entry);
	if ((uint16_t)*entry == OP_breakpoint)
		breakpoint_at(info)->opcode = op;
	else
		*entry = (*entry & ~(Inst)0xffff) | op;
}

void breakpoint_debug_place(Inst *info)
{
	enum opcode op = breakpoint_opcode(info + FUNC_INFO_WORDS);

	if (op == OP_breakpoint_debug)
		return;
	info[3] = (uint32_t)info[3] | (Inst)op << 32;
	put_opcode(info, OP_breakpoint_debug);
}

void breakpoint_debug_remove(Inst *info)
{
	if (breakpoint_opcode(info + FUNC_INFO_WORDS) != OP_breakpoint_debug)
		return;
	put_opcode(info, (uint16_t)breakpoint_debugged(info));
	info[3] = (uint32_t)info[3];
}
