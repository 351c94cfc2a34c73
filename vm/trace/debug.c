/* SPDX-License-Identifier: Apache-2.0 */
/* Breakpoints of debuggers. */
#include "code/breakpoint.h"
#include "code/module.h"
#include "proc/sched.h"
#include "trace/events.h"
#include "trace/trace.h"

struct change {
	const struct trace_mfa *mfa;
	bool on;
	size_t matched;
};

static void visit_code(const struct module *m, void *arg)
{
	struct code_instance *c = atomic_load(&m->current);
	struct change *change = arg;

	for (uint32_t i = 0; c != NULL && i < c->function_count; i++) {
		Inst *info = (Inst *)c->functions[i];

		if (!trace_mfa_matches(change->mfa, func_info_module(info), func_info_function(info),
				       func_info_arity(info)))
			continue;
		change->matched++;
		if (change->on)
			breakpoint_debug_place(info);
		else
			breakpoint_debug_remove(info);
	}
}

/* Who waits at the entry of its function has no arguments any more, and would go on there as if it were a call. */
static void spare_process(Process *p, void *arg)
{
	struct change *change = arg;
	Inst *info = (Inst *)p->i - FUNC_INFO_WORDS;
	enum opcode op;

	if (p->i == process_start_code || breakpoint_opcode(p->i) != OP_breakpoint_debug ||
	    (!(atomic_load(&p->state) & PS_WAITING) && p->msg_save == &p->msg_first))
		return;
	op = breakpoint_debugged(info);
	if (op != OP_loop_rec && op != OP_wait && op != OP_wait_timeout)
		return;
	breakpoint_debug_remove(info);
	change->matched--;
}

static void change_stopped(void *arg)
{
	struct change *change = arg;

	if (change->mfa->module == TERM_NONE)
		module_each(visit_code, change);
	else if (module_find(change->mfa->module) != NULL)
		visit_code(module_find(change->mfa->module), change);
	if (change->on)
		trace_each_process(spare_process, change);
}

size_t trace_debug(const struct trace_mfa *mfa, bool on)
{
	struct change change = { mfa, on, 0 };

	sched_stop_world(change_stopped, &change);
	return change.matched;
}
