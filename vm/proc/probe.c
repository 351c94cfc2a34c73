/* SPDX-License-Identifier: Apache-2.0 */
/* Events of processes, messages, memory and function calls. Invariant: one PROBE_TELL a function. */
#include "proc/probe.h"

#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "base/hash.h"
#include "data/print.h"
#include "proc/initial_call.h"
#include "proc/probe_tell.h"
#include "proc/sched.h"
#include "term/node.h"
#include "proc/seq_token.h"

bool (*probe_find_function)(const Inst *at, struct mfa *mfa, bool *stays);
static const atomic_uint_fast64_t nothing_given;
const atomic_uint_fast64_t *probe_code_given = &nothing_given;

/* ---- texts */

static char *put_number(char *at, uint64_t n)
{
	char digits[20];
	int k = 0;

	do
		digits[k++] = (char)('0' + n % 10);
	while ((n /= 10) != 0);
	while (k > 0)
		*at++ = digits[--k];
	return at;
}

static const char *put_pid(char *text, Term pid)
{
	char *at = text;

	memcpy(at, "<0.", 3);
	at = put_number(at + 3, pid_number(pid));
	*at++ = '.';
	at = put_number(at, pid_serial(pid));
	memcpy(at, ">", 2);
	return text;
}

const char *probe_term_text(char *text, Term t)
{
	size_t n;

	if (t == TERM_NONE) {
		memcpy(text, "undefined", 10);
		return text;
	}
	if (term_is_local_pid(t))
		return put_pid(text, t);
	if (t == am_normal)
		return atom_text(t, &n);
	print_term_fixed(text, PROBE_TEXT_BYTES, t);
	return text;
}

const char *probe_shown_text(char *cut, const char *text)
{
	size_t n;

	if (text == NULL)
		return "";
	if (strnlen(text, PROBE_TEXT_BYTES) < PROBE_TEXT_BYTES)
		return text;
	n = PROBE_TEXT_BYTES - sizeof("...");
	while (n > 0 && ((uint8_t)text[n] & 0xc0) == 0x80)
		n--;
	memcpy(cut, text, n);
	strcpy(cut + n, "...");
	return cut;
}

const char *probe_node_text(char *cut, Term name)
{
	size_t n;

	return term_is_atom(name) ? probe_shown_text(cut, atom_text(name, &n)) : "undefined";
}

/* Direct mapped; a thread's own. */
enum { MFA_PLACES = 256 };
struct mfa_place {
	struct mfa mfa;
	char text[PROBE_TEXT_BYTES];
};
static _Thread_local struct mfa_place *mfa_places;

const char *probe_mfa_text(struct mfa mfa)
{
	struct print_buffer b;
	struct mfa_place *place;

	if (mfa_places == NULL)
		mfa_places = mem_zalloc(MFA_PLACES * sizeof(*mfa_places));
	place = &mfa_places[hash_word(mfa.module ^ mfa.function << 20 ^ mfa.arity) % MFA_PLACES];
	if (place->mfa.module == mfa.module && place->mfa.function == mfa.function && place->mfa.arity == mfa.arity)
		return place->text;
	place->mfa = mfa;
	print_buffer_fixed(&b, place->text, PROBE_TEXT_BYTES);
	print_mfa(&b, mfa.module, mfa.function, mfa.arity);
	return place->text;
}

bool probe_find_caller(const Process *p, struct mfa *mfa)
{
	const Term *slot = p->heap.stop;
	bool stays;

	while (slot < p->heap.end && !(term_is_header(*slot) && *slot != TERM_NONE)) /* the innermost return address */
		slot++;
	return slot < p->heap.end && probe_find_function != NULL &&
	       probe_find_function((const Inst *)*slot, mfa, &stays);
}

/* stays: it is what every process is in that resumes there, until code is given back. */
static struct mfa find_current(const Process *p, bool *stays)
{
	struct mfa mfa;

	*stays = false;
	if (p->i == process_start_code) /* it begins, or wakes from hibernation */
		return initial_call_tell(p->x[0], p->x[1], p->x[2]);
	if (probe_find_function != NULL && probe_find_function(p->i, &mfa, stays))
		return mfa;
	return (struct mfa){ p->initial_module, p->initial_function, p->initial_arity };
}

/* Where processes resumed that this thread told of last: the word of the function, whose names its batch has told. */
enum { RESUMES = 128 };
static _Thread_local struct resume {
	const Inst *at;
	uint64_t word;
	uint64_t since; /* resume_since() when it was found */
} resumes[RESUMES];

/* Changes whenever code is given back or names are to be told anew: each of the two numbers only grows. */
static inline uint64_t resume_since(void)
{
	return batch_self->renewals + atomic_load_explicit(probe_code_given, memory_order_acquire);
}

static inline struct resume *resume_of(const Inst *at)
{
	return &resumes[((uintptr_t)at >> 3) * UINT64_C(0x9e3779b97f4a7c15) >> 57];
}
_Static_assert(RESUMES == 1 << (64 - 57), "resume_of takes so many bits");

/* ---- processes */

PROBE_COLD void probe_process__spawn(Process *p)
{
	struct mfa told = { p->told_module, p->told_function, (uint32_t)p->told_arity };

	PROBE_TELL(process__spawn, p->id, told);
}

PROBE_COLD void probe_process__exit(Process *p, Term reason)
{
	PROBE_TELL(process__exit, p->id, reason);
}

PROBE_COLD void probe_process_named(Term pid, Term name)
{
	uint64_t ticks = batch_begin();

	if (ticks != 0) {
		const uint64_t words[] = { batch_identity(pid), name == TERM_NONE ? BATCH_NO_ATOM : batch_atom(name) };

		batch_write(BATCH_NAMED, ticks, words, 2);
	}
}

PROBE_COLD void probe_process_called(Term pid, struct mfa call)
{
	uint64_t ticks = batch_begin();

	if (ticks != 0) {
		const uint64_t words[] = { batch_identity(pid), batch_mfa(call) };

		batch_write(BATCH_CALLED, ticks, words, 2);
	}
}

PROBE_COLD void probe_process_labelled(Term pid, Term label)
{
	uint64_t ticks = batch_begin();

	if (ticks != 0) {
		const uint64_t words[] = { batch_identity(pid), label == TERM_NONE ? 0 : batch_term(label) };

		batch_write(BATCH_LABELLED, ticks, words, 2);
	}
}

PROBE_COLD void probe_process__exit_signal(Term from, Term to, Term reason)
{
	PROBE_TELL(process__exit_signal, from, to, reason);
}

/*
 * Those that each message fires have a short way where only batches are watched and the page has room: without calls
 * it has no registers to save and no texts on its stack, which is half of what such an event costs beside the clock.
 */
static PROBE_COLD void tell_scheduled(Process *p, bool at_once)
{
	bool stays;
	struct mfa mfa = find_current(p, &stays);
	struct resume found = { .at = NULL };

	PROBE_TELL_WITH(process__scheduled, at_once ? batch_begin_next() : batch_begin(),
			(found = (struct resume){ p->i, tell_words[1], resume_since() }), p->id, mfa);
	if (stays && found.at != NULL)
		*resume_of(p->i) = found;
}

PROBE_COLD void probe_process__scheduled(Process *p, bool at_once)
{
	const struct resume *r = resume_of(p->i);
	uint64_t then = at_once ? batch_self->turn_ticks : 0, now = likely(then != 0) ? then : ticks_counter();

	if (unlikely(r->at != p->i || r->since != resume_since() || !PROBE_BATCHES_ONLY(process__scheduled) ||
		     !batch_tell(BATCH_process__scheduled, now, batch_identity_local(p->id), r->word, 0)))
		tell_scheduled(p, at_once);
	else
		batch_end_turn();
}

PROBE_COLD void probe_process__taken(Process *p)
{
	uint64_t now = ticks_now(), since = p->runnable_ticks;
	int64_t waited = since != 0 ? (int64_t)ticks_between_ns(since, now) : -1;

	if (unlikely(!PROBE_BATCHES_ONLY(process__taken) ||
		     !batch_tell(BATCH_process__taken, ticks_counter(), batch_identity_local(p->id), (uint64_t)waited,
				 0)))
		PROBE_TELL_WITH(process__taken, batch_begin_at(now), (void)0, p->id, waited);
}

static PROBE_COLD void tell_unscheduled(Process *p, bool ends)
{
	PROBE_TELL_WITH(process__unscheduled, ends ? batch_begin_last() : batch_begin(), (void)0, p->id);
}

PROBE_COLD void probe_process__unscheduled(Process *p, bool ends)
{
	uint64_t now = ticks_counter();

	if (unlikely(!PROBE_BATCHES_ONLY(process__unscheduled) ||
		     !batch_tell(BATCH_process__unscheduled, now, batch_identity_local(p->id), 0, 0)))
		tell_unscheduled(p, ends);
	else if (ends)
		batch_self->turn_ticks = now;
}

static uint32_t count_list(Term list)
{
	uint32_t n = 0;

	for (; term_is_cons(list); list = cons_tail(list))
		n++;
	return n;
}

PROBE_COLD void probe_process__hibernate(Process *p, const Term *x)
{
	PROBE_TELL(process__hibernate, p->id, ((struct mfa){ x[0], x[1], count_list(x[2]) }));
}

PROBE_COLD void probe_process__port_unblocked(Term pid, Term port)
{
	PROBE_TELL(process__port_unblocked, pid, port);
}

PROBE_COLD void probe_process__heap_grow(Process *p, size_t old_words, size_t new_words)
{
	PROBE_TELL(process__heap_grow, p->id, old_words, new_words);
}

PROBE_COLD void probe_process__heap_shrink(Process *p, size_t old_words, size_t new_words)
{
	PROBE_TELL(process__heap_shrink, p->id, old_words, new_words);
}

/* ---- messages */

static inline uint64_t how_it_is(bool runs) { return runs ? (uint64_t)(BATCH_RUNNING - BATCH_PID) << 60 : 0; }

static PROBE_COLD uint64_t tell_send(Process *from, Term to, size_t words, Term token, bool runs)
{
	struct seq_token_numbers n = seq_token_numbers(token);
	uint64_t how = how_it_is(runs), ticks = 0;

	PROBE_TELL_WITH(message__send, ticks = batch_begin(), tell_words[1] += how, from->id, to, words, n.label,
			n.previous, n.current);
	return ticks;
}

PROBE_COLD uint64_t probe_message__send(Process *from, Term to, size_t words, Term token, bool runs)
{
	if (likely(token == NIL && term_is_local_pid(to) && PROBE_BATCHES_ONLY(message__send))) {
		uint64_t now = ticks_counter();

		if (likely(batch_tell(BATCH_message__send, now, batch_identity_local(from->id),
				      batch_identity_local(to) + how_it_is(runs), words)))
			return now;
	}
	return tell_send(from, to, words, token, runs);
}

PROBE_COLD void probe_dist__monitor(Term what, Term node, Term type, Term reason)
{
	size_t n;

	PROBE_TELL(dist__monitor, node_self().name, atom_text(what, &n), node, atom_text(type, &n),
		   reason != TERM_NONE ? reason : NIL);
}

static PROBE_COLD void tell_queued(Process *to, Term token, size_t words, uint64_t sent, uint32_t length)
{
	struct seq_token_numbers n = seq_token_numbers(token);

	PROBE_TELL_WITH(message__queued, sent != 0 ? batch_begin_at(sent) : batch_begin(), (void)0, to->id, words,
			length, n.label, n.previous, n.current);
}

PROBE_COLD void probe_message__queued(Process *to, Term token, size_t words, uint64_t sent)
{
	uint32_t length = to->in_length + __atomic_load_n(&to->msg_length, __ATOMIC_RELAXED);

	if (unlikely(token != NIL || !PROBE_BATCHES_ONLY(message__queued) ||
		     !batch_tell(BATCH_message__queued, sent, batch_identity_local(to->id), words, length)))
		tell_queued(to, token, words, sent, length);
}

PROBE_COLD void probe_message__arrive(Term to, enum message_origin origin, bool runs)
{
	uint64_t how = how_it_is(runs);

	PROBE_TELL_WITH(message__arrive, batch_begin(), tell_words[0] += how, to, (int64_t)origin);
}

static PROBE_COLD void tell_receive(Process *p, Term token, size_t words, uint32_t length)
{
	struct seq_token_numbers n = seq_token_numbers(token);

	PROBE_TELL(message__receive, p->id, words, length, n.label, n.previous, n.current);
}

PROBE_COLD void probe_message__receive(Process *p, Term token, size_t words)
{
	uint32_t length = __atomic_load_n(&p->in_length, __ATOMIC_RELAXED) + p->msg_length;

	if (unlikely(token != NIL || !PROBE_BATCHES_ONLY(message__receive) ||
		     !batch_tell(BATCH_message__receive, ticks_counter(), batch_identity_local(p->id), words, length)))
		tell_receive(p, token, words, length);
}

PROBE_COLD void probe_message__drop(Term receiver)
{
	PROBE_TELL(message__drop, receiver);
}

/* Less than nothing of what is due. */
static int64_t ns_until(uint64_t at_ms)
{
	return (int64_t)at_ms * NS_PER_MS - clock_monotonic_ns();
}

PROBE_COLD void probe_timer__set(Process *p, Term to, int64_t after_ms)
{
	PROBE_TELL(timer__set, p->id, to, after_ms * NS_PER_MS);
}

PROBE_COLD void probe_timer__cancel(Process *p, int64_t left_ms)
{
	PROBE_TELL(timer__cancel, p->id, left_ms < 0 ? -1 : left_ms * NS_PER_MS);
}

PROBE_COLD void probe_timer__fire(Term receiver, Term to, uint64_t at_ms)
{
	int64_t left = ns_until(at_ms);

	PROBE_TELL(timer__fire, receiver, left < 0 ? -left : 0, to);
}

PROBE_COLD void probe_timer__drop(Term receiver, uint64_t at_ms)
{
	int64_t left = ns_until(at_ms);

	PROBE_TELL(timer__drop, receiver, left > 0 ? left : 0);
}

static PROBE_COLD void tell_scan(Process *p, uint64_t walked)
{
	bool stays;
	struct mfa mfa = find_current(p, &stays);
	struct resume found = { .at = NULL };

	PROBE_TELL_WITH(receive__scan, batch_begin(), (found = (struct resume){ p->i, tell_words[1], resume_since() }),
			p->id, mfa, (int64_t)walked);
	if (stays && found.at != NULL)
		*resume_of(p->i) = found;
}

PROBE_COLD void probe_receive__scan(Process *p, uint64_t walked)
{
	const struct resume *r = resume_of(p->i);

	if (unlikely(r->at != p->i || r->since != resume_since() || !PROBE_BATCHES_ONLY(receive__scan) ||
		     !batch_tell(BATCH_receive__scan, ticks_counter(), batch_identity_local(p->id), r->word, walked)))
		tell_scan(p, walked);
}

PROBE_COLD void probe_message__waited(Process *p, uint64_t sent_ticks, uint32_t queue_len)
{
	uint64_t now = ticks_now(), waited = ticks_between_ns(sent_ticks, now);

	PROBE_TELL_WITH(message__waited, batch_begin_at(now), (void)0, p->id, sent_ticks != 0 ? (int64_t)waited : -1,
			queue_len);
}

PROBE_COLD void probe_request__step(Term pid, Term peer, enum request_step step, uint64_t reference)
{
	PROBE_TELL(request__step, pid, peer, (int64_t)step, (int64_t)reference);
}

/* ---- memory */

PROBE_COLD void probe_copy__struct(size_t words)
{
	PROBE_TELL(copy__struct, words);
}

PROBE_COLD void probe_copy__object(Term to, size_t words)
{
	PROBE_TELL(copy__object, to, words);
}

PROBE_COLD void probe_gc_minor__start(Process *p, size_t need)
{
	PROBE_TELL(gc_minor__start, p->id, need);
}

PROBE_COLD void probe_gc_minor__end(Process *p, size_t reclaimed)
{
	PROBE_TELL(gc_minor__end, p->id, reclaimed);
}

PROBE_COLD void probe_gc_major__start(Process *p, size_t need)
{
	PROBE_TELL(gc_major__start, p->id, need);
}

PROBE_COLD void probe_gc_major__end(Process *p, size_t reclaimed)
{
	PROBE_TELL(gc_major__end, p->id, reclaimed);
}

/* ---- function calls */

PROBE_COLD void probe_local__function__entry(Process *p, struct mfa mfa, int depth)
{
	PROBE_TELL(local__function__entry, p->id, mfa, depth);
}

PROBE_COLD void probe_global__function__entry(Process *p, struct mfa mfa, int depth)
{
	PROBE_TELL(global__function__entry, p->id, mfa, depth);
}

PROBE_COLD void probe_function__return(Process *p, struct mfa mfa, int depth)
{
	PROBE_TELL(function__return, p->id, mfa, depth);
}

PROBE_COLD void probe_bif__entry(Process *p, struct mfa mfa)
{
	PROBE_TELL(bif__entry, p->id, mfa);
}

PROBE_COLD void probe_bif__return(Process *p, struct mfa mfa)
{
	PROBE_TELL(bif__return, p->id, mfa);
}

PROBE_COLD void probe_nif__entry(Process *p, struct mfa mfa)
{
	PROBE_TELL(nif__entry, p->id, mfa);
}

PROBE_COLD void probe_nif__return(Process *p, struct mfa mfa)
{
	PROBE_TELL(nif__return, p->id, mfa);
}
