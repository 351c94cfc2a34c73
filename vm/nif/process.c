/* SPDX-License-Identifier: Apache-2.0 */
/* Processes as libraries see them: who calls, who lives, messages. */
#include "heap/copy.h"
#include "io/port.h"
#include "nif/env.h"
#include "proc/dirty.h"
#include "proc/message.h"
#include "proc/registry.h"
#include "proc/sched.h"
#include "proc/trace.h"

struct nif_pid *enif_self(struct nif_env *env, struct nif_pid *pid)
{
	if (env->process == NULL)
		return NULL;
	pid->pid = env->process->id;
	return pid;
}

int enif_is_current_process_alive(struct nif_env *env)
{
	if (env->dirty != NULL)
		return dirty_is_wanted();
	return env->process != NULL && process_is_alive(env->process->id);
}

int enif_is_process_alive(struct nif_env *env, struct nif_pid *pid)
{
	(void)env;
	return term_is_local_pid(pid->pid) && process_is_alive(pid->pid);
}

static Term whereis(Term name)
{
	return term_is_atom(name) ? registry_whereis(name) : TERM_NONE;
}

int enif_whereis_pid(struct nif_env *env, Term name, struct nif_pid *pid)
{
	Term found = whereis(name);

	(void)env;
	if (!term_is_local_pid(found))
		return 0;
	pid->pid = found;
	return 1;
}

int enif_whereis_port(struct nif_env *env, Term name, struct nif_port *port)
{
	Term found = whereis(name);

	(void)env;
	if (!term_is_local_port(found))
		return 0;
	port->port = found;
	return 1;
}

static bool is_port_alive(Term id)
{
	struct port *p = port_find(id);

	if (p != NULL)
		port_unref(p);
	return p != NULL;
}

int enif_is_port_alive(struct nif_env *env, struct nif_port *port)
{
	(void)env;
	return term_is_local_port(port->port) && is_port_alive(port->port);
}

/* A process that calls is the sender; its tracer and the probes hear of it. */
static void send_from(Process *from, Process *to, Term message)
{
	if (trace_wants(from, TRACE_SEND))
		trace_hooks.sent(from, to->id, message);
	message_send_to(from, to, message);
}

int enif_send(struct nif_env *env, const struct nif_pid *to_pid, struct nif_env *message_env, Term message)
{
	Process *to = term_is_local_pid(to_pid->pid) ? process_find(to_pid->pid) : NULL;
	Term copy;

	if (to == NULL)
		return 0;
	if (env != NULL && env->process != NULL && env->dirty == NULL) {
		send_from(env->process, to, message);
	} else {
		struct fragment *f = copy_to_fragment(message, &copy);

		message_deliver(to, env != NULL && env->process != NULL ? env->process->id : TERM_NONE, copy, f);
	}
	process_unref(to);
	if (message_env != NULL)
		nif_env_clear(message_env);
	return 1;
}

/* Commands go to ports by messages and by built-in functions only; a library is told that there is no such port. */
int enif_port_command(struct nif_env *env, const struct nif_port *port, struct nif_env *message_env, Term message)
{
	(void)env;
	(void)port;
	(void)message_env;
	(void)message;
	return 0;
}

int enif_thread_type(void)
{
	enum dirty_kind kind;

	if (dirty_is_here(&kind))
		return kind == DIRTY_CPU ? NIF_THREAD_DIRTY_CPU : NIF_THREAD_DIRTY_IO;
	return sched_self() != NULL ? NIF_THREAD_SCHEDULER : NIF_THREAD_OTHER;
}
