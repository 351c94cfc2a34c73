/* SPDX-License-Identifier: Apache-2.0 */
/* Sequential tracing: what messages with a token tell. The token is proc's (proc/seq_token.h).
 * Source: seq_trace(3) of OTP 25. */
#include "heap/copy.h"
#include "proc/message.h"
#include "proc/process_walk.h"
#include "proc/sched.h"
#include "proc/seq_token.h"
#include "trace/events.h"
#include "trace/trace.h"
#include "trace/tracer.h"
#include "trace/tracer_module.h"

enum seq_flag {
	SEQ_SEND = 1, SEQ_RECEIVE = 2, SEQ_PRINT = 4, SEQ_TIMESTAMP = 8, SEQ_STRICT_MONOTONIC = 16, SEQ_MONOTONIC = 32,
};

static const struct seq_row {
	Term name;
	uint64_t bit;
	uint32_t time;       /* flag of tracer_tell */
} rows[] = {
	{ am_send, SEQ_SEND, 0 },
	{ am_receive, SEQ_RECEIVE, 0 },
	{ am_print, SEQ_PRINT, 0 },
	{ am_timestamp, SEQ_TIMESTAMP, TRACE_TIMESTAMP },
	{ am_strict_monotonic_timestamp, SEQ_STRICT_MONOTONIC, TRACE_STRICT_MONOTONIC },
	{ am_monotonic_timestamp, SEQ_MONOTONIC, TRACE_MONOTONIC },
};
enum { RESET_AT_ONCE = 1 << 13 };
enum { ROWS = sizeof(rows) / sizeof(rows[0]) };

static _Atomic Term seq_tracer = am_false;

uint64_t trace_seq_bit(Term name)
{
	for (size_t i = 0; i < ROWS; i++)
		if (rows[i].name == name)
			return rows[i].bit;
	return 0;
}

Term trace_seq_tracer(void)
{
	Term tracer = atomic_load(&seq_tracer);

	if (tracer == am_false || tracer_is_alive(tracer, am_undefined))
		return tracer;
	atomic_compare_exchange_strong(&seq_tracer, &tracer, am_false);
	return am_false;
}

Term trace_seq_set_tracer(Term tracer)
{
	Term before = trace_seq_tracer();

	if (tracer_is_module(tracer)) /* a number of Erlang code's own */
		return TERM_NONE;
	if (term_is_tuple_of(tracer, 2) && tuple_get(tracer, 1) == am_erl_tracer)
		tracer = tuple_get(tracer, 2);
	else if (term_is_tuple_of(tracer, 2))
		tracer = tracer_module_get(tuple_get(tracer, 1), tuple_get(tracer, 2));
	if (tracer == TERM_NONE || (tracer != am_false && !tracer_is_alive(tracer, am_undefined)))
		return TERM_NONE;
	atomic_store(&seq_tracer, tracer);
	return before;
}

/* ---- what is told */

static uint32_t times_of(uint64_t flags)
{
	uint32_t times = 0;

	for (size_t i = 0; i < ROWS; i++)
		if (flags & rows[i].bit)
			times |= rows[i].time;
	return times;
}

/* {seq_trace, Label, {Type, {Previous, Serial}, From, To, Message}} */
static void tell_of(Term from, bool sensitive, Term token, Term type, Term to, Term message)
{
	Term tracer = trace_seq_tracer(), serial[3], info[6], part;
	uint64_t flags = (uint64_t)small_value(tuple_get(token, 1));

	if (tracer == am_false || tracer == from || !(flags & trace_seq_bit(type)) || sensitive)
		return;
	serial[0] = HEADER(2, SUB_TUPLE);
	serial[1] = tuple_get(token, 5);
	serial[2] = tuple_get(token, 3);
	info[0] = HEADER(5, SUB_TUPLE);
	info[1] = type;
	info[2] = term_from_boxed(serial);
	info[3] = tuple_get(token, 4);
	info[4] = to;
	info[5] = message;
	part = term_from_boxed(info);
	tracer_tell(tracer, from, times_of(flags), am_seq_trace, tuple_get(token, 2), 1, &part);
}

static void tell(const Process *p, Term token, Term type, Term to, Term message)
{
	tell_of(p->id, p->flags & PF_SENSITIVE, token, type, to, message);
}

static void tell_node(Term token, Term type, Term to, Term message)
{
	tell_of(am_undefined, false, token, type, to, message);
}

static void tell_sent(Process *p, Term to, Term message)
{
	tell(p, p->seq_token, am_send, to, message);
}

static void tell_received(Process *p, Term token, Term message)
{
	if (term_is_tuple_of(token, 5))
		tell(p, token, am_receive, p->id, message);
}

static void tell_ended(Process *p, Term token, Term message)
{
	tell(p, token, am_send, p->id, message);
}

bool trace_seq_print(Process *p, Term message)
{
	if (p->seq_token == NIL)
		return false;
	seq_token_count_send(p);
	tell(p, p->seq_token, am_print, NIL, message);
	return true;
}

/* ---- the token */

static uint64_t token_flags(const Process *p)
{
	return p->seq_token == NIL ? 0 : (uint64_t)small_value(tuple_get(p->seq_token, SEQ_TOKEN_FLAGS));
}

Term trace_seq_get(Process *p, Term item)
{
	uint64_t bit = trace_seq_bit(item);
	Term value;

	if (bit != 0)
		value = term_from_bool(token_flags(p) & bit);
	else if (item != am_label && item != am_serial)
		return TERM_NONE;
	else if (p->seq_token == NIL)
		return NIL;
	else if (item == am_label)
		value = tuple_get(p->seq_token, SEQ_TOKEN_LABEL);
	else
		value = heap_tuple(&p->heap, tuple_get(p->seq_token, SEQ_TOKEN_PREVIOUS),
				   tuple_get(p->seq_token, SEQ_TOKEN_SERIAL));
	return heap_tuple(&p->heap, item, value);
}

static bool set_serial(Process *p, Term value)
{
	if (!term_is_tuple_of(value, 2) || !term_is_small(tuple_get(value, 1)) || !term_is_small(tuple_get(value, 2)))
		return false;
	seq_token_set(p, SEQ_TOKEN_PREVIOUS, tuple_get(value, 1));
	seq_token_set(p, SEQ_TOKEN_SERIAL, tuple_get(value, 2));
	seq_token_set_counts(p, small_value(tuple_get(value, 1)), small_value(tuple_get(value, 2)));
	return true;
}

bool trace_seq_set(Process *p, Term item, Term value)
{
	uint64_t bit = trace_seq_bit(item), flags;

	if (item == am_label) {
		seq_token_set(p, SEQ_TOKEN_LABEL, value);
	} else if (item == am_serial) {
		return set_serial(p, value);
	} else if (item == am_sequential_trace_token) {
		if (value != NIL)
			return false;
		p->seq_token = NIL;
	} else {
		if (bit == 0 || (value != am_true && value != am_false))
			return false;
		flags = token_flags(p);
		seq_token_set(p, SEQ_TOKEN_FLAGS, SMALL(value == am_true ? flags | bit : flags & ~bit));
	}
	return true;
}

/* ---- the end of every trace */

/* Of what has come and is not received: messages, and ends of linked processes, which become messages. */
static void drop_tokens(struct signal *s)
{
	for (; s != NULL; s = s->next)
		if ((s->kind == SIG_MESSAGE || s->kind == SIG_LINK_EXIT) && term_is_tuple(s->token))
			s->token = NIL;
}

static void reset_living(Process *p, void *arg)
{
	(void)arg;
	if (atomic_load(&p->state) & PS_EXITING)
		return;
	p->seq_token = NIL;
	if (p->tracee != NULL)
		seq_token_set_counts(p, 0, 0);
	drop_tokens(p->msg_first);
	lock_acquire(&p->signals_lock); /* pollers do not stand still */
	drop_tokens(p->in_first);
	lock_release(&p->signals_lock);
}

/* The first stop waits for messages that were begun with a token. */
void trace_seq_reset(void)
{
	atomic_fetch_add(&seq_token_resets, 1);
	process_each_in_parts(RESET_AT_ONCE, reset_living, NULL);
	atomic_fetch_sub(&seq_token_resets, 1);
}

void trace_seq_init(void)
{
	trace_hooks.seq_sent = tell_sent;
	trace_hooks.seq_received = tell_received;
	trace_hooks.seq_node = tell_node;
	trace_hooks.seq_ended = tell_ended;
}
