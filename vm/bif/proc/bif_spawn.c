/* SPDX-License-Identifier: Apache-2.0 */
/* Built-in functions: processes are born, here and at other nodes. */
#include "bif/proc/bif_spawn.h"

#include "dist/dist.h"
#include "heap/copy.h"
#include "proc/message.h"
#include "proc/process_life.h"
#include "proc/remote.h"
#include "proc/seq_token.h"
#include "proc/spawn_opts.h"
#include "proc/tracee.h"

static bool is_proper_list(Term t)
{
	while (term_is_cons(t))
		t = cons_tail(t);
	return t == NIL;
}

bool bif_is_call(const Term *args)
{
	return term_is_atom(args[0]) && term_is_atom(args[1]) && is_proper_list(args[2]);
}

struct spawn_call {
	Process *parent;
	const Term *args;    /* module, function, arguments */
	Term options;        /* as they were given */
	bool is_request;     /* of spawn_request: the answer is a message, if it is wanted */
	struct spawn_request request;
	Term ref;            /* of the monitor, or of the request; TERM_NONE: there is none */
	bool has_answered;
};

static void init_call(struct spawn_call *c, Process *p, const Term *args, Term options, bool is_request)
{
	c->parent = p;
	c->args = args;
	c->options = options;
	c->is_request = is_request;
	c->ref = TERM_NONE;
	c->has_answered = false;
}

/* ---- what a sequential trace hears of a birth */

/* {spawn_request, Ref, Parent, Leader, {M, F, Arity}, Options, ReplyTag, Arguments}, as if the parent had sent it and
 * the child received it. */
static void tell_request(const struct spawn_call *c, Process *child)
{
	Process *p = c->parent;
	struct heap *h = &p->heap;
	Term call = heap_tuple(h, c->args[0], c->args[1], SMALL((uint64_t)child->initial_arity));
	Term message = heap_tuple(h, am_spawn_request, c->ref, p->id, p->group_leader, call, c->options,
				  c->request.reply_tag, c->args[2]);

	trace_hooks.seq_sent(p, child->id, message);
	trace_hooks.seq_received(child, p->seq_token, message);
}

/* The child's answer, likewise, to a parent that waits for it in its native function. */
static void tell_answer(Process *p, Process *child, Term answer)
{
	int64_t serial;

	message_count_send(child, p->id, answer);
	serial = small_value(tuple_get(child->seq_token, SEQ_TOKEN_SERIAL));
	seq_token_set_counts(p, serial, serial);
	trace_hooks.seq_received(p, child->seq_token, answer);
}

/* The child has its parent's token, and does not run yet. */
static void tell_birth(Process *child, void *arg)
{
	struct spawn_call *c = arg;
	Process *p = c->parent;
	Term answer;

	if (child->seq_token == NIL || trace_hooks.seq_sent == NULL)
		return;
	if (c->ref == TERM_NONE)
		c->ref = heap_ref(&p->heap, 0);
	tell_request(c, child);
	answer = heap_tuple(&p->heap, c->request.reply_tag, c->ref, am_ok, child->id);
	c->has_answered = c->is_request;
	if (!c->is_request)
		tell_answer(p, child, answer);
	else if (c->request.reply & REPLY_SUCCESS)
		message_send_to(child, p, answer);
	else
		seq_token_count_send(child);
}

/* ---- at this node */

/* Fails: TERM_NONE, there are too many processes. */
static Term spawn_here(struct spawn_call *c)
{
	if (unlikely(c->parent->seq_token != NIL)) {
		c->request.options.born = tell_birth;
		c->request.options.born_arg = c;
	}
	return process_spawn(c->parent, c->args[0], c->args[1], c->args[2], &c->request.options, &c->ref);
}

static Term spawn_plain(Process *p, Term *args, bool link)
{
	struct spawn_call c;
	Term pid;

	if (!bif_is_call(args))
		return exc_badarg(p);
	init_call(&c, p, args, NIL, false);
	spawn_opts_read(NIL, false, &c.request);
	c.request.options.link = link;
	if (unlikely(link && p->seq_token != NIL))
		c.options = heap_cons(&p->heap, am_link, NIL);
	pid = spawn_here(&c);
	return pid != TERM_NONE ? pid : exc_system_limit(p);
}

Term bif_erlang_spawn_3(Process *p, Term *args)
{
	return spawn_plain(p, args, false);
}

Term bif_erlang_spawn_link_3(Process *p, Term *args)
{
	return spawn_plain(p, args, true);
}

Term bif_erlang_spawn_opt_4(Process *p, Term *args)
{
	struct spawn_call c;
	Term pid;

	init_call(&c, p, args, args[3], false);
	if (!spawn_opts_read(args[3], false, &c.request))
		return exc_badarg_cause(p, am_badopt);
	if (!bif_is_call(args))
		return exc_badarg(p);
	pid = spawn_here(&c);
	if (pid == TERM_NONE)
		return exc_system_limit(p);
	return c.request.options.monitor ? heap_tuple(&p->heap, pid, c.ref) : pid;
}

/* A failure is the machine's word: it comes from nobody, and leaves the sequential trace token as it is. */
static void deliver_failure(Process *p, Term answer)
{
	Term message;
	struct fragment *f = copy_to_fragment(answer, &message);

	message_deliver(p, TERM_NONE, message, f);
}

/* {Tag, Ref, ok | error, PidOrReason} to ourselves, when it is wanted; gives the reference. */
static Term answer_request(Process *p, const struct spawn_request *r, Term ref, Term pid, Term failure)
{
	struct heap *h = &p->heap;
	bool ok = failure == TERM_NONE;

	if (ref == TERM_NONE)
		ref = heap_ref(h, 0);
	if (ok && r->reply & REPLY_SUCCESS)
		message_send_to(p, p, heap_tuple(h, r->reply_tag, ref, am_ok, pid));
	else if (!ok && r->reply & REPLY_ERROR)
		deliver_failure(p, heap_tuple(h, r->reply_tag, ref, am_error, failure));
	return ref;
}

/* Options that nobody knows are an answer, too. */
Term bif_erts_internal_spawn_request_4(Process *p, Term *args)
{
	struct spawn_call c;
	Term pid;

	init_call(&c, p, args, args[3], true);
	if (!bif_is_call(args))
		return am_badarg;
	if (!is_proper_list(args[3]))
		return am_badopt;
	if (!spawn_opts_read(args[3], true, &c.request))
		return answer_request(p, &c.request, TERM_NONE, TERM_NONE, am_badopt);
	pid = spawn_here(&c);
	if (c.has_answered)
		return c.ref;
	return answer_request(p, &c.request, c.ref, pid, pid == TERM_NONE ? am_system_limit : TERM_NONE);
}

/* ---- at another node */

/* args: node, {M, F, A}, options, spawn_opt | spawn_request. */
Term bif_erts_internal_dist_spawn_request_4(Process *p, Term *args)
{
	struct spawn_request r;
	Term ref, result, reason = am_badopt;

	if (!term_is_atom(args[0]) || !term_is_tuple_of(args[1], 3) || !bif_is_call(boxed_ptr(args[1]) + 1))
		return am_badarg;
	if (!is_proper_list(args[2]))
		return args[3] == am_spawn_opt ? am_badarg : am_badopt;
	if (!spawn_opts_read_own(args[2], &r))
		ref = heap_ref(&p->heap, 0);
	else {
		ref = heap_ref(&p->heap, r.options.alias != ALIAS_NONE ? p->id : 0);
		reason = dist_spawn(p, args[0], args[1], args[2], &r, ref);
	}
	if (reason != TERM_NONE)
		answer_request(p, &r, ref, TERM_NONE, reason);
	result = args[3] == am_spawn_opt ? heap_tuple(&p->heap, ref, term_from_bool(r.options.monitor)) : ref;
	return exc_return_suspended(p, result);
}

/* Requests to this node are answered before they return: there is nothing to abandon. */
Term bif_erlang_spawn_request_abandon_1(Process *p, Term *args)
{
	if (!term_is_ref(args[0]))
		return exc_badarg(p);
	return term_from_bool(term_is_local_ref(args[0]) && remote_abandon_spawn(p, args[0]));
}
