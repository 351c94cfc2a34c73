/* SPDX-License-Identifier: Apache-2.0 */
/* A tracer for nif_tracer.erl. Its state is {Answers, Pid, _}: what to answer when it is asked about an event, and who
 * gets {Function, Event, Tracee, Term, Options, Self} of each; Self is true when enif_self names the tracee.
 * build: nif_tracer_plain -DNAME=nif_tracer_plain
 * build: nif_tracer_each -DNAME=nif_tracer_each -DEACH
 * build: nif_tracer_half -DNAME=nif_tracer_half -DHALF */
#include <erl_nif.h>

static ERL_NIF_TERM enabled(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[])
{
	const ERL_NIF_TERM *state;
	ERL_NIF_TERM answer;
	int n;

	(void)argc;
	if (!enif_get_tuple(env, argv[1], &n, &state) || !enif_get_map_value(env, state[0], argv[0], &answer))
		return enif_make_atom(env, "discard");
	return answer;
}

static ERL_NIF_TERM tell(ErlNifEnv *env, const char *function, const ERL_NIF_TERM argv[])
{
	const ERL_NIF_TERM *state;
	ErlNifPid self, to;
	int n, is_self = enif_self(env, &self) != NULL && enif_is_identical(enif_make_pid(env, &self), argv[2]);

	if (!enif_get_tuple(env, argv[1], &n, &state) || !enif_get_local_pid(env, state[1], &to))
		return enif_make_badarg(env);
	enif_send(env, &to, NULL, enif_make_tuple6(env, enif_make_atom(env, function), argv[0], argv[2], argv[3], argv[4],
						   enif_make_atom(env, is_self ? "true" : "false")));
	return enif_make_atom(env, "ok");
}

#define TRACE(name) \
	static __attribute__((unused)) ERL_NIF_TERM name(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[]) \
	{ \
		(void)argc; \
		return tell(env, #name, argv); \
	}

TRACE(trace)
#ifdef EACH
TRACE(trace_send)
TRACE(trace_receive)
TRACE(trace_call)
TRACE(trace_running_procs)
TRACE(trace_running_ports)
TRACE(trace_garbage_collection)
TRACE(trace_procs)
TRACE(trace_ports)
#endif

static ErlNifFunc functions[] = {
	{ "enabled", 3, enabled, 0 },
#ifndef HALF
	{ "trace", 5, trace, 0 },
#endif
#ifdef EACH
	{ "enabled_send", 3, enabled, 0 },
	{ "trace_send", 5, trace_send, 0 },
	{ "enabled_receive", 3, enabled, 0 },
	{ "trace_receive", 5, trace_receive, 0 },
	{ "enabled_call", 3, enabled, 0 },
	{ "trace_call", 5, trace_call, 0 },
	{ "enabled_running_procs", 3, enabled, 0 },
	{ "trace_running_procs", 5, trace_running_procs, 0 },
	{ "enabled_running_ports", 3, enabled, 0 },
	{ "trace_running_ports", 5, trace_running_ports, 0 },
	{ "enabled_garbage_collection", 3, enabled, 0 },
	{ "trace_garbage_collection", 5, trace_garbage_collection, 0 },
	{ "enabled_procs", 3, enabled, 0 },
	{ "trace_procs", 5, trace_procs, 0 },
	{ "enabled_ports", 3, enabled, 0 },
	{ "trace_ports", 5, trace_ports, 0 },
#endif
};

#define INIT(name, functions) ERL_NIF_INIT(name, functions, NULL, NULL, NULL, NULL)
INIT(NAME, functions)
