/* SPDX-License-Identifier: Apache-2.0 */
/* Processes as libraries see them: who calls, who lives, messages. */
#include "base/alloc.h"
#include "heap/copy.h"
#include "io/port.h"
#include "nif/nif_env.h"
#include "proc/dirty.h"
#include "proc/message.h"
#include "proc/registry.h"
#include "proc/sched.h"
#include "proc/tracee.h"

struct nif_pid *enif_self(struct nif_env *env, struct nif_pid *pid)
{
	const Process *p = env->heap == &env->own ? env->traced : env->process;

	if (p == NULL)
		return NULL;
	pid->pid = p->id;
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

/* Of a process on a dirty scheduler, which is held only for what is its own: its tracer, its token. False: it has
 * ended. */
static bool send_from_dirty(struct nif_env *env, Process *to, Term message)
{
	bool told = atomic_load_explicit(&trace_active, memory_order_relaxed) || env->process->seq_token != NIL;
	Process *p = told ? dirty_hold() : NULL;
	struct fragment *f;
	Term copy;

	if (p != NULL) {
		send_from(p, to, message);
		dirty_let_go(p);
		return true;
	}
	if (told || !dirty_is_wanted())
		return false;
	f = copy_to_fragment(message, &copy);
	message_deliver(to, env->process->id, copy, f);
	return true;
}

static bool send(struct nif_env *env, Process *to, Term message)
{
	struct fragment *f;
	Term copy;

	if (env != NULL && env->process != NULL && env->dirty != NULL)
		return send_from_dirty(env, to, message);
	if (env != NULL && env->process != NULL) {
		send_from(env->process, to, message);
		return true;
	}
	f = copy_to_fragment(message, &copy);
	message_deliver(to, TERM_NONE, copy, f);
	return true;
}

int enif_send(struct nif_env *env, const struct nif_pid *to_pid, struct nif_env *message_env, Term message)
{
	Process *to = term_is_local_pid(to_pid->pid) ? process_find(to_pid->pid) : NULL;
	bool sent;

	if (to == NULL)
		return 0;
	sent = send(env, to, message);
	process_unref(to);
	if (sent && message_env != NULL)
		nif_env_clear(message_env);
	return sent;
}

/* ---- commands to ports */

struct command {
	struct port_task task;
	Term caller;
	struct byte_queue data;
};

static void run_command(struct port *port, struct port_task *task)
{
	struct command *c = (struct command *)task;

	port_command(port, c->caller, &c->data);
	byte_queue_clear(&c->data);
	mem_free(c);
}

/* Nobody waits for what it does. */
static bool submit_command(struct port *port, Term caller, Term iodata)
{
	struct command *c = mem_zalloc(sizeof(*c));

	c->task.run = run_command;
	c->task.sender = c->caller = caller;
	byte_queue_init(&c->data);
	if (port_put_iodata(&c->data, iodata)) {
		c->task.command_bytes = c->data.size_bytes;
		port_submit(port, &c->task);
		return true;
	}
	byte_queue_clear(&c->data);
	mem_free(c);
	return false;
}

/* A callback of a resource has no process. The environment of the message is the library's still. */
int enif_port_command(struct nif_env *env, const struct nif_port *to, struct nif_env *message_env, Term message)
{
	struct port *port = NULL;
	bool sent;

	(void)message_env;
	if (env != NULL && term_is_local_port(to->port) && (env->dirty == NULL || dirty_is_wanted()))
		port = port_find(to->port);
	if (port == NULL)
		return 0;
	sent = port->state == PORT_OPEN && submit_command(port, env->process != NULL ? env->process->id : NIL, message);
	port_unref(port);
	return sent;
}

int enif_thread_type(void)
{
	enum dirty_kind kind;

	if (dirty_is_here(&kind))
		return kind == DIRTY_CPU ? NIF_THREAD_DIRTY_CPU : NIF_THREAD_DIRTY_IO;
	return sched_self() != NULL ? NIF_THREAD_SCHEDULER : NIF_THREAD_OTHER;
}
