/* SPDX-License-Identifier: Apache-2.0 */
/* Built-in functions: sending, names, links, monitors, aliases. */
#include "bif/spawn_opts.h"
#include "data/map.h"
#include "io/port.h"
#include "proc/message.h"
#include "proc/monitor.h"
#include "proc/registry.h"
#include "proc/sched.h"
#include "term/node.h"

/* ---- sending */

Term bif_erlang_send_2(Process *p, Term *args)
{
	if (!message_send_any(p, args[0], args[1]))
		return exc_badarg(p);
	return args[1];
}

Term bif_erlang_op_send_2(Process *p, Term *args)
{
	return bif_erlang_send_2(p, args);
}

/* A process or a name at another node: none is connected. */
static bool is_at_another_node(Term to)
{
	if (term_is_tuple_of(to, 2))
		return tuple_get(to, 2) != node_self().name;
	return term_has_sub(to, SUB_XPID) && ((const struct extern_id *)boxed_ptr(to))->node != node_self().name;
}

Term bif_erlang_send_3(Process *p, Term *args)
{
	Term list = args[2];
	bool connects = true;

	for (; term_is_cons(list); list = cons_tail(list)) {
		if (cons_head(list) != am_nosuspend && cons_head(list) != am_noconnect)
			return exc_badarg_cause(p, am_badopt);
		connects = connects && cons_head(list) != am_noconnect;
	}
	if (list != NIL)
		return exc_badarg_cause(p, am_badopt);
	if (!message_send_any(p, args[0], args[1]))
		return exc_badarg(p);
	return !connects && is_at_another_node(args[0]) ? am_noconnect : am_ok;
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

Term bif_erlang_link_1(Process *p, Term *args)
{
	if (term_is_local_pid(args[0]) || term_is_local_port(args[0]))
		return link_add(p, args[0]) ? am_true : exc_error(p, am_noproc);
	if (!term_is_pid(args[0]))
		return exc_badarg(p);
	signal_send_reason(SIG_EXIT, args[0], p->id, TERM_NONE, am_noconnection);
	return am_true;
}

Term bif_erlang_unlink_1(Process *p, Term *args)
{
	if (!term_is_pid(args[0]) && !term_is_port(args[0]))
		return exc_badarg(p);
	link_drop(p, args[0]);
	return am_true;
}

/* ---- monitors */

/* type: process or port. Registered or {Name, Node}: *name; else TERM_NONE. *to: a pid or port, or the name of nobody. Fails: false. */
static bool find_watched(Term type, Term what, Term *to, Term *name)
{
	*name = TERM_NONE;
	*to = what;
	if (type == am_process && term_is_pid(what))
		return true;
	if (type == am_port && term_is_port(what)) /* those of other nodes cannot be watched */
		return term_is_local_port(what) || ((const struct extern_id *)boxed_ptr(what))->node == node_self().name;
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

static Term add_monitor(Process *p, Term type, Term what, struct monitor_options *o)
{
	Term to, name;

	if (type == am_time_offset)
		return what == am_clock_service ? monitor_add_time_offset(p) : exc_badarg(p);
	if (type != am_process && type != am_port)
		return exc_badarg_cause(p, am_badtype);
	if (!find_watched(type, what, &to, &name))
		return exc_badarg(p);
	o->port = type == am_port;
	return monitor_add(p, to, name, o);
}

Term bif_erlang_monitor_2(Process *p, Term *args)
{
	struct monitor_options o = MONITOR_OPTIONS_DEFAULT;

	return add_monitor(p, args[0], args[1], &o);
}

Term bif_erlang_monitor_3(Process *p, Term *args)
{
	struct monitor_options o = MONITOR_OPTIONS_DEFAULT;

	if (!monitor_opts_read(args[2], &o))
		return exc_badarg_cause(p, am_badopt);
	return add_monitor(p, args[0], args[1], &o);
}

static bool is_down_of(Term message, uint64_t number)
{
	return term_is_tuple_of(message, 5) && term_is_local_ref(tuple_get(message, 2)) &&
	       ref_number(tuple_get(message, 2)) == number;
}

/* A reference made by somebody else is none of ours to drop. */
static bool is_foreign(const Process *p, Term ref)
{
	return ref_tag(ref) != 0 && ref_tag(ref) != p->id;
}

Term bif_erlang_demonitor_1(Process *p, Term *args)
{
	if (!term_is_local_ref(args[0]))
		return term_is_ref(args[0]) ? am_true : exc_badarg(p);
	if (is_foreign(p, args[0]))
		return exc_badarg(p);
	monitor_drop(p, args[0]);
	return am_true;
}

Term bif_erlang_demonitor_2(Process *p, Term *args)
{
	bool flush = false, info = false, found;
	Term list = args[1];

	for (; term_is_cons(list); list = cons_tail(list)) {
		if (cons_head(list) == am_flush)
			flush = true;
		else if (cons_head(list) == am_info)
			info = true;
		else
			return exc_badarg(p);
	}
	if (list != NIL || !term_is_ref(args[0]))
		return exc_badarg(p);
	if (!term_is_local_ref(args[0]))
		return info ? am_false : am_true;
	if (is_foreign(p, args[0]))
		return exc_badarg(p);
	found = monitor_drop(p, args[0]);
	if (!found && flush)
		message_flush_matching(p, is_down_of, ref_number(args[0]));
	return term_from_bool(!info || found);
}

/* ---- aliases */

Term bif_erlang_alias_1(Process *p, Term *args)
{
	enum peer_alias how = ALIAS_EXPLICIT;
	Term list = args[0];

	for (; term_is_cons(list); list = cons_tail(list)) {
		if (cons_head(list) == am_explicit_unalias)
			how = ALIAS_EXPLICIT;
		else if (cons_head(list) == am_reply)
			how = ALIAS_REPLY;
		else
			return exc_badarg(p);
	}
	return list == NIL ? monitor_alias_add(p, how) : exc_badarg(p);
}

Term bif_erlang_unalias_1(Process *p, Term *args)
{
	if (!term_is_local_ref(args[0]))
		return term_is_ref(args[0]) ? am_false : exc_badarg(p);
	if (ref_tag(args[0]) != p->id) /* an alias has the process's pid */
		return is_foreign(p, args[0]) ? exc_badarg(p) : am_false;
	return term_from_bool(monitor_alias_drop(p, args[0]));
}

/* ---- references and nodes */

Term bif_erlang_make_ref_0(Process *p, Term *args)
{
	(void)args;
	return heap_ref(&p->heap, 0);
}

Term bif_erlang_node_0(Process *p, Term *args)
{
	(void)p;
	(void)args;
	return node_self().name;
}

Term bif_erlang_node_1(Process *p, Term *args)
{
	if (term_is_local_pid(args[0]) || term_is_local_port(args[0]) || term_is_local_ref(args[0]))
		return node_self().name;
	if (term_is_pid(args[0]) || term_is_port(args[0]) || term_is_ref(args[0]))
		return ((const struct extern_id *)boxed_ptr(args[0]))->node;
	return exc_badarg(p);
}

Term bif_erlang_nodes_0(Process *p, Term *args)
{
	(void)p;
	(void)args;
	return NIL;
}

/* Of the kinds of nodes, only this one is there. */
Term bif_erlang_nodes_1(Process *p, Term *args)
{
	Term list = term_is_list(args[0]) ? args[0] : heap_cons(&p->heap, args[0], NIL);
	bool own = false;

	for (; term_is_cons(list); list = cons_tail(list)) {
		Term kind = cons_head(list);

		if (kind == am_this || kind == am_known)
			own = true;
		else if (kind != am_visible && kind != am_hidden && kind != am_connected)
			return exc_badarg(p);
	}
	if (list != NIL)
		return exc_badarg(p);
	return own ? heap_cons(&p->heap, node_self().name, NIL) : NIL;
}

/* nodes/2: what it tells of the nodes: those of nodes/1, with their infos. */
static Term put_node_info(Process *p, Term options)
{
	struct heap *h = &p->heap;
	Term pairs[4];
	size_t n = 0, known = 0;

	if (!term_is_map(options))
		return TERM_NONE;
	for (size_t i = 0; i < 2; i++) {
		Term key = i == 0 ? am_connection_id : am_node_type;
		Term wanted = map_get(options, key);

		if (wanted != TERM_NONE && wanted != am_true && wanted != am_false)
			return TERM_NONE;
		known += wanted != TERM_NONE;
		if (wanted != am_true)
			continue;
		pairs[2 * n] = key;
		pairs[2 * n + 1] = i == 0 ? am_undefined : am_this;
		n++;
	}
	return known == map_size(options) ? map_from_pairs(h, pairs, n) : TERM_NONE;
}

Term bif_erlang_nodes_2(Process *p, Term *args)
{
	Term names = bif_erlang_nodes_1(p, args), info;

	if (names == TERM_NONE)
		return TERM_NONE;
	info = put_node_info(p, args[1]);
	if (info == TERM_NONE)
		return exc_badarg(p);
	return names == NIL ? NIL : heap_cons(&p->heap, heap_tuple(&p->heap, cons_head(names), info), NIL);
}

Term bif_erts_internal_get_creation_0(Process *p, Term *args)
{
	(void)args;
	return heap_uint(&p->heap, node_self().creation);
}

/* ---- what has no other node to tell of; dirty schedulers; the VM's own processes */

Term bif_erlang_monitor_node_2(Process *p, Term *args)
{
	if (!term_is_atom(args[0]))
		return exc_badarg(p);
	if (args[0] != node_self().name)
		return exc_error(p, am_notalive);
	return args[1] == am_true || args[1] == am_false ? am_true : exc_badarg(p);
}

Term bif_erlang_monitor_node_3(Process *p, Term *args)
{
	Term list = args[2];

	for (; term_is_cons(list); list = cons_tail(list))
		if (cons_head(list) != am_allow_passive_connect)
			return exc_badarg_cause(p, am_badopt);
	return list == NIL ? bif_erlang_monitor_node_2(p, args) : exc_badarg_cause(p, am_badopt);
}

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
