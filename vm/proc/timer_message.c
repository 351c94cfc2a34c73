/* SPDX-License-Identifier: Apache-2.0 */
#include "proc/timer_message.h"

#include "heap/copy.h"
#include "proc/message.h"
#include "proc/probe.h"
#include "proc/registry.h"

static void send(Term to, struct signal *s, uint64_t at_ms)
{
	Term pid = term_is_atom(to) ? registry_whereis(to) : to;
	bool is_there = term_is_local_pid(pid);

	if (PROBE_ON(timer__fire))
		probe_timer__fire(is_there ? pid : TERM_NONE, to, at_ms);
	if (is_there)
		signal_send(pid, s);
	else
		signal_free(s);
}

static void drop(Term to, struct signal *s, uint64_t at_ms)
{
	if (PROBE_ON(timer__drop))
		probe_timer__drop(to, at_ms);
	signal_free(s);
}

void timer_message_init(void)
{
	timer_signals = (struct timer_signals){ .send = send, .cancel = signal_free, .drop = drop };
}

/* {timeout, Ref, Message} or Message. It may outlive literals. */
static struct signal *make_message(Term ref, Term message, bool wrap)
{
	size_t words = copy_flat_size_words(message);
	struct signal *s = signal_new_message(words + (wrap ? 4 + REF_WORDS : 0));
	Term *top = s->fragment->words;

	s->timed = true;
	s->words = s->fragment->used_words;
	s->term = copy_term_whole(message, &top, &s->fragment->off_heap);
	if (wrap) {
		top[0] = HEADER(3, SUB_TUPLE);
		top[1] = am_timeout;
		top[2] = copy_term(ref, &(Term *){ top + 4 }, &s->fragment->off_heap);
		top[3] = s->term;
		s->term = term_from_boxed(top);
	}
	return s;
}

/* Either it learns of the timer before it ends, or the timer that it is dead. */
static void note_receiver(Term to)
{
	Process *p = process_find(to);

	if (p == NULL)
		return;
	atomic_store(&p->has_timers, true);
	process_unref(p);
}

Term timer_start_message(Process *p, uint64_t at_ms, Term to, Term message, bool wrap)
{
	Term ref = heap_ref(&p->heap, 0);
	int64_t left_ms;

	if (to == p->id)
		atomic_store_explicit(&p->has_timers, true, memory_order_relaxed);
	else if (term_is_local_pid(to))
		note_receiver(to);
	timer_start_signal(ref_number(ref), at_ms, to, make_message(ref, message, wrap));
	if (to != p->id && term_is_local_pid(to) && !process_is_alive(to) &&
	    timer_cancel_message(ref_number(ref), &left_ms) && PROBE_ON(timer__drop))
		probe_timer__drop(to, at_ms);
	return ref;
}
