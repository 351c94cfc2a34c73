/* SPDX-License-Identifier: Apache-2.0 */
/* Built-in functions: sending, names, links, monitors, aliases. */
#include "proc/spawn_opts.h"
#include "base/release.h"
#include "bif/bif.h"
#include "code/lookup.h"
#include "dist/dist.h"
#include "io/port.h"
#include "io/port_send.h"
#include "proc/message.h"
#include "proc/monitor.h"
#include "proc/registry.h"
#include "proc/remote.h"
#include "proc/sched.h"
#include "proc/tracee.h"
#include "term/node.h"

/* ---- sending */

Term bif_erlang_send_2(Process *p, Term *args)
{
	if (message_send_any(p, args[0], args[1]))
		return args[1];
	return p->exc_kind != EXC_NONE ? TERM_NONE : exc_badarg(p);
}

Term bif_erlang_op_send_2(Process *p, Term *args)
{
	return bif_erlang_send_2(p, args);
}

/* A process, an alias or a name at another node. */
static bool is_at_another_node(Term to)
{
	if (term_is_tuple_of(to, 2))
		return term_is_atom(tuple_get(to, 1)) && term_is_atom(tuple_get(to, 2)) &&
		       tuple_get(to, 2) != node_self().name;
	return (term_has_sub(to, SUB_XPID) || term_has_sub(to, SUB_XREF)) && node_of(to).name != node_self().name;
}

static Term send_away(Process *p, Term *args, unsigned flags)
{
	if (unlikely(trace_wants(p, TRACE_SEND)))
		trace_hooks.sent(p, args[0], args[1]);
	switch (remote_send(p, args[0], args[1], flags)) {
	case REMOTE_BUSY:
		return am_nosuspend;
	case REMOTE_TOO_LARGE:
		return exc_system_limit(p);
	case REMOTE_NOT_CONNECTED:
		return flags & REMOTE_NO_CONNECT ? am_noconnect : am_ok;
	default:
		return exc_return_suspended(p, am_ok);
	}
}

/* By id or registered name; TERM_NONE: it is none. */
static Term find_port(Term to)
{
	if (term_is_atom(to))
		to = registry_whereis(to);
	return to != TERM_NONE && term_is_local_port(to) ? to : TERM_NONE;
}

/* To a port, without waiting for it. */
static Term try_send(Process *p, Term port, Term *args)
{
	if (unlikely(trace_wants(p, TRACE_SEND)))
		trace_hooks.sent(p, args[0], args[1]);
	return port_try_send(p, port, args[1]) ? am_ok : am_nosuspend;
}

Term bif_erlang_send_3(Process *p, Term *args)
{
	Term list = args[2], port;
	unsigned flags = 0;

	for (; term_is_cons(list); list = cons_tail(list)) {
		if (cons_head(list) == am_priority && release_has_priority_messages()) {
			flags |= REMOTE_HIGH;
			continue;
		}
		if (cons_head(list) != am_nosuspend && cons_head(list) != am_noconnect)
			return exc_badarg_cause(p, am_badopt);
		flags |= cons_head(list) == am_noconnect ? REMOTE_NO_CONNECT : REMOTE_NO_SUSPEND;
	}
	if (list != NIL)
		return exc_badarg_cause(p, am_badopt);
	if (is_at_another_node(args[0]))
		return send_away(p, args, flags);
	if ((flags & REMOTE_HIGH) && term_is_local_ref(args[0]) && ref_tag(args[0]) != 0) {
		message_send_high(p, args[0], args[1]);
		return am_ok;
	}
	port = flags & REMOTE_NO_SUSPEND ? find_port(args[0]) : TERM_NONE;
	if (port != TERM_NONE)
		return try_send(p, port, args);
	if (message_send_any(p, args[0], args[1]))
		return am_ok;
	if (p->exc_kind == EXC_NONE)
		return exc_badarg(p);
	if (p->exc_kind == EXC_WAIT)
		port_send_returns(p, am_ok);
	return TERM_NONE;
}

/* ---- names */

/* Gives the process a name. Fails: the cause. */
static Term register_process(Term name, Term pid)
{
	Process *named = process_find(pid);
	Term result = am_true;

	if (named == NULL)
		return am_notalive;
	if (!registry_register(name, named))
		result = atomic_load(&named->reg_name) != TERM_NONE ? am_registered_name : am_none;
	process_unref(named);
	return result;
}

Term bif_erlang_register_2(Process *p, Term *args)
{
	Term result = am_none;

	if (!term_is_atom(args[0]) || args[0] == am_undefined)
		return exc_badarg_cause(p, am_none);
	if (term_is_local_pid(args[1]))
		result = register_process(args[0], args[1]);
	else if (term_is_local_port(args[1]))
		result = port_register(args[1], args[0]);
	return result == am_true ? am_true : exc_badarg_cause(p, result);
}

Term bif_erlang_unregister_1(Process *p, Term *args)
{
	Term owner;

	if (!term_is_atom(args[0]))
		return exc_badarg(p);
	owner = registry_whereis(args[0]);
	if (owner != TERM_NONE && term_is_local_port(owner) ? port_unregister(owner) : registry_unregister(args[0]))
		return am_true;
	return exc_badarg(p);
}

Term bif_erlang_whereis_1(Process *p, Term *args)
{
	Term found;

	if (!term_is_atom(args[0]))
		return exc_badarg(p);
	found = registry_whereis(args[0]);
	return found != TERM_NONE ? found : am_undefined;
}

Term bif_erlang_registered_0(Process *p, Term *args)
{
	(void)args;
	return registry_list(&p->heap);
}

/* ---- links */

static Term link_to(Process *p, Term to, bool priority)
{
	if (!term_is_pid(to) && !term_is_local_port(to))
		return exc_badarg(p);
	return link_add(p, to, priority) ? exc_return_suspended(p, am_true) : exc_error(p, am_noproc);
}

Term bif_erlang_link_1(Process *p, Term *args)
{
	return link_to(p, args[0], false);
}

Term bif_erlang_link_2(Process *p, Term *args)
{
	bool priority;

	if (!signal_opts_read(args[1], &priority))
		return exc_badarg_cause(p, am_badopt);
	return link_to(p, args[0], priority);
}

Term bif_erlang_unlink_1(Process *p, Term *args)
{
	if (!term_is_pid(args[0]) && !term_is_port(args[0]))
		return exc_badarg(p);
	link_drop(p, args[0]);
	return exc_return_suspended(p, am_true);
}

/* ---- monitors */

/* type: process or port. Registered or {Name, Node}: *name; else TERM_NONE. *to: a pid or port, or the name of nobody.
 * Fails: false. */
static bool find_watched(Term type, Term what, Term *to, Term *name)
{
	*name = TERM_NONE;
	*to = what;
	if (type == am_process && term_is_pid(what))
		return true;
	if (type == am_port && term_is_port(what)) /* those of other nodes cannot be watched */
		return node_of(what).name == node_self().name;
	if (term_is_tuple_of(what, 2)) {
		if (!term_is_atom(tuple_get(what, 1)) || !term_is_atom(tuple_get(what, 2)))
			return false;
		if (tuple_get(what, 2) != node_self().name)
			return false;
		what = tuple_get(what, 1);
	}
	if (!term_is_atom(what))
		return false;
	*name = what;
	*to = registry_whereis(what);
	if (*to == TERM_NONE || (type == am_process) != term_is_local_pid(*to))
		*to = what;
	return true;
}

static bool is_name_elsewhere(Term what)
{
	return term_is_tuple_of(what, 2) && is_at_another_node(what) && dist_is_alive();
}

static Term add_monitor(Process *p, Term type, Term what, struct monitor_options *o)
{
	Term to, name;

	if (type == am_time_offset)
		return what == am_clock_service ? monitor_add_time_offset(p) : exc_badarg(p);
	if (type != am_process && type != am_port)
		return exc_badarg_cause(p, am_badtype);
	if (type == am_process && is_name_elsewhere(what))
		return monitor_add_name(p, tuple_get(what, 2), tuple_get(what, 1), o);
	if (!find_watched(type, what, &to, &name))
		return exc_badarg(p);
	o->port = type == am_port;
	return monitor_add(p, to, name, o);
}

Term bif_erlang_monitor_2(Process *p, Term *args)
{
	struct monitor_options o = MONITOR_OPTIONS_DEFAULT;

	if (unlikely(args[1] == am_code_server))
		lookup_begin(p);
	return exc_return_suspended(p, add_monitor(p, args[0], args[1], &o));
}

Term bif_erlang_monitor_3(Process *p, Term *args)
{
	struct monitor_options o = MONITOR_OPTIONS_DEFAULT;

	if (!monitor_opts_read(args[2], &o))
		return exc_badarg_cause(p, am_badopt);
	return exc_return_suspended(p, add_monitor(p, args[0], args[1], &o));
}

static bool is_down_of(Term message, uint64_t number)
{
	return term_is_tuple_of(message, 5) && term_is_local_ref(tuple_get(message, 2)) &&
	       ref_number(tuple_get(message, 2)) == number;
}

/* A reference made by somebody else is none of ours to drop; one of an earlier life of this node is nobody's. */
static bool is_foreign(const Process *p, Term ref)
{
	if (!term_is_local_ref(ref))
		return node_of(ref).name != node_self().name;
	return ref_tag(ref) != 0 && ref_tag(ref) != p->id;
}

Term bif_erlang_demonitor_1(Process *p, Term *args)
{
	if (!term_is_ref(args[0]) || is_foreign(p, args[0]))
		return exc_badarg(p);
	if (term_is_local_ref(args[0]))
		monitor_drop(p, args[0]);
	return exc_return_suspended(p, am_true);
}

Term bif_erlang_demonitor_2(Process *p, Term *args)
{
	bool flush = false, info = false, found;
	Term list = args[1];

	if (unlikely(p->looks_for != TERM_NONE))
		lookup_end(p);
	for (; term_is_cons(list); list = cons_tail(list)) {
		if (cons_head(list) == am_flush)
			flush = true;
		else if (cons_head(list) == am_info)
			info = true;
		else
			return exc_badarg(p);
	}
	if (list != NIL || !term_is_ref(args[0]) || is_foreign(p, args[0]))
		return exc_badarg(p);
	if (!term_is_local_ref(args[0]))
		return info ? am_false : am_true;
	found = monitor_drop(p, args[0]);
	if (!found && flush)
		message_flush_matching(p, is_down_of, ref_number(args[0]));
	return exc_return_suspended(p, term_from_bool(!info || found));
}

/* ---- aliases */

Term bif_erlang_alias_1(Process *p, Term *args)
{
	enum peer_alias how = ALIAS_EXPLICIT;
	Term list = args[0];
	bool priority = false;

	for (; term_is_cons(list); list = cons_tail(list)) {
		if (cons_head(list) == am_explicit_unalias)
			how = ALIAS_EXPLICIT;
		else if (cons_head(list) == am_reply)
			how = ALIAS_REPLY;
		else if (cons_head(list) == am_priority && release_has_priority_messages())
			priority = true;
		else
			return exc_badarg(p);
	}
	return list == NIL ? monitor_alias_add(p, how, priority) : exc_badarg(p);
}

Term bif_erlang_unalias_1(Process *p, Term *args)
{
	Term tag;

	if (!term_is_local_ref(args[0]))
		return term_is_ref(args[0]) ? am_false : exc_badarg(p);
	tag = ref_tag(args[0]);
	if (tag != p->id) /* an alias has the process's pid, what nobody made for himself 0 */
		return tag != 0 ? exc_badarg(p) : am_false;
	return term_from_bool(monitor_alias_drop(p, args[0]));
}

/* ---- references */

Term bif_erlang_make_ref_0(Process *p, Term *args)
{
	(void)args;
	return heap_ref(&p->heap, 0);
}

/* ---- dirty schedulers; the VM's own processes */

Term bif_erts_internal_is_process_executing_dirty_1(Process *p, Term *args)
{
	uint32_t state;

	if (!term_is_local_pid(args[0]))
		return exc_badarg(p);
	return term_from_bool(process_look(args[0], &state) && (state & PS_DIRTY_RUNNING));
}

Term bif_erts_internal_is_system_process_1(Process *p, Term *args)
{
	const Process *other;
	uint32_t state;

	if (!term_is_local_pid(args[0]))
		return term_is_pid(args[0]) ? am_false : exc_badarg(p);
	other = process_peek(args[0]);
	return term_from_bool(other != NULL && other->system && process_look(args[0], &state));
}
