/* SPDX-License-Identifier: Apache-2.0 */
/* Built-in functions: erl_debugger (OTP 28). Without +D all but supported/0 are undefined, as in OTP. */
#include "base/lock.h"
#include "bif/bif.h"
#include "code/export.h"
#include "code/line_break.h"
#include "code/opcodes.h"
#include "data/map.h"
#include "data/number.h"
#include "proc/message.h"
#include "proc/sched.h"

static struct lock debugger_lock = LOCK_STATIC(debugger);
static struct {
	Term pid;            /* NIL: none */
	uint32_t session;    /* of that pid: names its messages */
} debugger = { .pid = NIL };

/* ---- what is supported */

Term bif_erl_debugger_supported_0(Process *p, Term *args)
{
	(void)p;
	(void)args;
	return term_from_bool(line_break_is_supported());
}

Term bif_erl_debugger_instrumentations_0(Process *p, Term *args)
{
	(void)args;
	if (!line_break_is_supported())
		return exc_error(p, am_undef);
	return map_from_pairs(&p->heap, (Term[]){ am_line_breakpoint, term_from_bool(line_break_is_asked()) }, 1);
}

Term bif_erl_debugger_toggle_instrumentations_1(Process *p, Term *args)
{
	Term on;

	if (!line_break_is_supported())
		return exc_error(p, am_undef);
	if (!term_is_map(args[0]))
		return exc_badarg(p);
	on = map_get(args[0], am_line_breakpoint);
	if (map_size(args[0]) != (on != TERM_NONE) || (on != TERM_NONE && on != am_true && on != am_false))
		return exc_badarg(p);
	if (on != TERM_NONE)
		line_break_ask(on == am_true);
	return am_ok;
}

/* ---- the debugger */

Term bif_erl_debugger_register_1(Process *p, Term *args)
{
	Term before, result;

	if (!line_break_is_supported())
		return exc_error(p, am_undef);
	if (!term_is_local_pid(args[0]))
		return exc_badarg(p);
	lock_acquire(&debugger_lock);
	before = debugger.pid;
	if (before != NIL && process_is_alive(before)) {
		result = am_already_exists;
	} else {
		debugger.pid = args[0];
		debugger.session++;
		result = term_from_small(debugger.session);
	}
	lock_release(&debugger_lock);
	return heap_tuple(&p->heap, result == am_already_exists ? (Term)am_error : (Term)am_ok, result);
}

Term bif_erl_debugger_unregister_2(Process *p, Term *args)
{
	bool ok;

	if (!line_break_is_supported())
		return exc_error(p, am_undef);
	if (!term_is_local_pid(args[0]) || !term_is_small(args[1]))
		return exc_badarg(p);
	lock_acquire(&debugger_lock);
	ok = debugger.pid != args[0] || term_from_small(debugger.session) == args[1];
	if (ok && debugger.pid == args[0])
		debugger.pid = NIL;
	lock_release(&debugger_lock);
	return ok ? am_ok : exc_badarg(p);
}

static Term debugger_pid(uint32_t *session)
{
	Term pid;

	lock_acquire(&debugger_lock);
	pid = debugger.pid;
	*session = debugger.session;
	lock_release(&debugger_lock);
	return pid;
}

Term bif_erl_debugger_whereis_0(Process *p, Term *args)
{
	uint32_t session;
	Term pid = debugger_pid(&session);

	(void)args;
	if (!line_break_is_supported())
		return exc_error(p, am_undef);
	return pid != NIL && process_is_alive(pid) ? pid : (Term)am_undefined;
}

static bool takes_nothing(Term fun)
{
	return (term_has_sub(fun, SUB_FUN) && fun_arity(fun_ptr(fun)) == 0) ||
	       (term_has_sub(fun, SUB_EXPORT) && export_fun_ptr(fun)->arity == 0);
}

static bool is_mfa(Term t)
{
	return term_is_tuple_of(t, 3) && term_is_atom(tuple_get(t, 1)) && term_is_atom(tuple_get(t, 2)) &&
	       term_is_small(tuple_get(t, 3));
}

/* Called by erts_internal:breakpoint/4, which waits for the fun to be called when the answer is ok. */
Term bif_erts_internal_notify_breakpoint_hit_3(Process *p, Term *args)
{
	uint32_t session;
	Term pid = debugger_pid(&session), event;

	if (!line_break_is_supported())
		return exc_error(p, am_undef);
	if (!is_mfa(args[0]) || !term_is_small(args[1]) || !takes_nothing(args[2]))
		return exc_badarg(p);
	if (pid == p->id)
		return am_abort;
	if (pid == NIL || !process_is_alive(pid))
		return am_noproc;
	event = heap_tuple(&p->heap, am_breakpoint, p->id, args[0], args[1], args[2]);
	message_send(p, pid, heap_tuple(&p->heap, am_debugger_event, term_from_small(session), event));
	return am_ok;
}

/* ---- breakpoints */

static Term error_pair(Process *p, Term why, Term what)
{
	return heap_tuple(&p->heap, am_error, heap_tuple(&p->heap, why, what));
}

static struct code_instance *find_code(Term module)
{
	const struct module *m = module_find(module);

	return m != NULL ? atomic_load(&m->current) : NULL;
}

struct change {
	Term module;
	uint32_t line;
	bool on;
};

static void change_stopped(void *arg)
{
	const struct change *change = arg;
	struct code_instance *c = find_code(change->module);

	if (c != NULL)
		line_break_set(c, change->line, change->on);
}

/* Lines that no file has are no lines of this one. */
static enum line_break find_line(const struct code_instance *c, int64_t line)
{
	return line > UINT32_MAX ? LINE_NONE : line_break_find(c, (uint32_t)line);
}

Term bif_erl_debugger_breakpoint_3(Process *p, Term *args)
{
	const struct code_instance *c;
	enum line_break found;

	if (!line_break_is_supported())
		return exc_error(p, am_undef);
	if (!term_is_atom(args[0]) || !term_is_small(args[1]) || small_value(args[1]) <= 0 ||
	    (args[2] != am_true && args[2] != am_false))
		return exc_badarg(p);
	c = find_code(args[0]);
	if (c == NULL)
		return error_pair(p, am_badkey, args[0]);
	if (!c->breaks_lines)
		return error_pair(p, am_unsupported, args[0]);
	found = find_line(c, small_value(args[1]));
	if (found != LINE_BREAK)
		return error_pair(p, found == LINE_NONE ? am_badkey : am_unsupported, args[1]);
	sched_stop_world(change_stopped,
			 &(struct change){ args[0], (uint32_t)small_value(args[1]), args[2] == am_true });
	return am_ok;
}

struct listing {
	struct heap *h;
	Term map;
};

/* One line may stand in several places of a function: any that is on tells. */
static void list_line(void *arg, uint32_t line, bool on)
{
	struct listing *l = arg;
	Term key = term_from_small(line);

	if (map_get(l->map, key) != am_true)
		l->map = map_put(l->h, l->map, key, term_from_bool(on));
}

static Term list_function(struct heap *h, const struct code_instance *c, uint32_t function)
{
	struct listing l = { h, map_new(h) };

	line_break_each(c, function, list_line, &l);
	return l.map;
}

Term bif_erl_debugger_breakpoints_1(Process *p, Term *args)
{
	const struct code_instance *c;
	Term map = map_new(&p->heap);

	if (!line_break_is_supported())
		return exc_error(p, am_undef);
	if (!term_is_atom(args[0]))
		return exc_badarg(p);
	c = find_code(args[0]);
	if (c == NULL)
		return heap_tuple(&p->heap, am_error, am_badkey);
	for (uint32_t i = 0; i < c->function_count; i++) {
		const Inst *info = c->functions[i];
		Term key = heap_tuple(&p->heap, func_info_function(info), term_from_small(func_info_arity(info)));

		map = map_put(&p->heap, map, key, list_function(&p->heap, c, i));
	}
	return heap_tuple(&p->heap, am_ok, map);
}

Term bif_erl_debugger_breakpoints_3(Process *p, Term *args)
{
	const struct code_instance *c;

	if (!line_break_is_supported())
		return exc_error(p, am_undef);
	if (!term_is_atom(args[0]) || !term_is_atom(args[1]) || !term_is_small(args[2]))
		return exc_badarg(p);
	c = find_code(args[0]);
	if (c == NULL)
		return error_pair(p, am_badkey, args[0]);
	for (uint32_t i = 0; i < c->function_count; i++)
		if (func_info_function(c->functions[i]) == args[1] &&
		    (int64_t)func_info_arity(c->functions[i]) == small_value(args[2]))
			return heap_tuple(&p->heap, am_ok, list_function(&p->heap, c, i));
	return error_pair(p, am_badkey, heap_tuple(&p->heap, args[1], args[2]));
}
