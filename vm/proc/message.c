/* SPDX-License-Identifier: Apache-2.0 */
/* Sending, the private message queue, receive.
 * Invariant: *msg_last is NULL, and msg_save lies on the private queue's chain of links, as do the places of all
 * markers; receive_start lies there too, no further than msg_save, or is NULL. */
#include "proc/message.h"

#include <string.h>

#include "base/alloc.h"
#include "base/ticks.h"
#include "data/print.h"
#include "heap/copy.h"
#include "heap/literal.h"
#include "heap/refbin.h"
#include "layout.h"
#include "proc/exc.h"
#include "proc/probe.h"
#include "proc/registry.h"
#include "proc/remote.h"
#include "proc/report.h"
#include "proc/request.h"
#include "proc/saved_calls.h"
#include "proc/sched.h"
#include "proc/seq_token.h"
#include "proc/tracee.h"
#include "term/node.h"
#include "usdt.h"

enum { LOST_TEXT_BYTES = 1 << 16 }; /* of a message that is reported */

bool (*message_send_port)(Process *from, Term port, Term to, Term message);

static inline void set_length(Process *p, uint32_t n)
{
	__atomic_store_n(&p->msg_length, n, __ATOMIC_RELAXED);
}

/* Whoever waits in a receive looks at it first. */
static __attribute__((noinline)) void queue_high(Process *p, struct signal *s)
{
	s->next = *p->msg_high;
	*p->msg_high = s;
	if (s->next == NULL)
		p->msg_last = &s->next;
	p->msg_high = &s->next;
	p->msg_save = &p->msg_first;
	p->receive_start = NULL;
	set_length(p, p->msg_length + 1);
}

void signal_queue_own(Process *p, struct signal *s)
{
	if (unlikely(s->high)) {
		queue_high(p, s);
		return;
	}
	s->next = NULL;
	*p->msg_last = s;
	p->msg_last = &s->next;
	set_length(p, p->msg_length + 1);
}

/* The message, of so many words, with its token and, to an alias, the reference, in one block. Inline also for those
 * who watch sends: a call is 3 % of what a message costs. */
static inline __attribute__((always_inline)) struct signal *copy_message(Process *from, Term alias, Term message,
									  size_t words, bool stamps)
{
	Term token = from != NULL ? seq_token_carried(from) : NIL;
	size_t extra = 0;
	struct signal *s;
	struct fragment *f;
	Term *top;

	if (unlikely(alias != TERM_NONE))
		extra += REF_WORDS;
	if (unlikely(token != NIL))
		extra += copy_size_words(token);
	if (words + extra == 0) {
		s = stamps ? signal_new_stamped(0) : signal_new(SIG_MESSAGE);
		s->term = message;
		s->from = from != NULL ? from->id : TERM_NONE;
		return s;
	}
	s = stamps ? signal_new_stamped(words + extra) : signal_new_words(SIG_MESSAGE, words + extra, 0);
	f = s->fragment;
	top = f->words;
	s->words = words;
	s->from = from != NULL ? from->id : TERM_NONE;
	s->term = words != 0 ? copy_term(message, &top, &f->off_heap) : message;
	if (unlikely(alias != TERM_NONE)) {
		s->ref = peer_put_ref(top, ref_number(alias), ref_tag(alias));
		top += REF_WORDS;
	}
	if (unlikely(token != NIL))
		s->token = copy_term(token, &top, &f->off_heap);
	return s;
}

static struct signal *make_message(Process *from, Term alias, Term message, bool watched)
{
	size_t words = copy_size_telling(message, EXC_WORDS_AT_ONCE, sched_lend);
	struct signal *s = copy_message(from, alias, message, words, watched && PROBE_ON(message__waited));

	if (unlikely(words > EXC_WORDS_AT_ONCE))
		sched_reclaim();
	if (from != NULL)
		process_bump_words(from, s->words);
	return s;
}

/* The same for who watches sends: whether the message holds literals is known then. */
static PROBE_COLD struct signal *make_measured(Process *from, Term alias, Term message)
{
	bool literals;
	size_t words = copy_size_literals(message, EXC_WORDS_AT_ONCE, sched_lend, &literals);
	struct signal *s = copy_message(from, alias, message, words, PROBE_ON(message__waited));

	s->whole = !literals;
	if (unlikely(words > EXC_WORDS_AT_ONCE))
		sched_reclaim();
	if (from != NULL)
		process_bump_words(from, s->words);
	return s;
}

/* The words of all of the message, its literals too. */
static inline size_t told_words(const struct signal *s)
{
	return s->whole || term_is_immed(s->term) ? s->words : copy_flat_size_words(s->term);
}

/* A constant is not copied. */
static PROBE_COLD void probe_copied(Term to, const struct signal *s)
{
	if (PROBE_ON(copy__struct) && s->words != 0)
		probe_copy__struct(s->words);
	if (PROBE_ON(copy__object))
		probe_copy__object(to, s->words);
}

static inline bool runs(const Process *p)
{
	return atomic_load_explicit(&p->state, memory_order_relaxed) & PS_RUNNING;
}

/* `id` is the receiver's, who may have ended. Returns when message__send was told, in ticks; 0: it was not. */
static inline uint64_t probe_sent(Process *from, const Process *to, Term id, const struct signal *s)
{
	if (PROBE_ON(copy__object) || PROBE_ON(copy__struct))
		probe_copied(id, s);
	return PROBE_ON(message__send) ? probe_message__send(from, id, told_words(s), s->token, runs(to)) : 0;
}

/* What is still to be fetched, too. Of another process it may be too low while that one fetches. */
static uint32_t queue_length(const Process *p)
{
	return __atomic_load_n(&p->in_length, __ATOMIC_RELAXED) + __atomic_load_n(&p->msg_length, __ATOMIC_RELAXED);
}

void message_queue_grew(Process *p)
{
	trace_hooks.queue_changed(p, p->id, queue_length(p), true);
}

/* Of one that is in the queue already. signals_lock of `to` held, or `to` is who runs. */
static PROBE_COLD void stamp(const Process *to, struct signal *s, uint64_t sent)
{
	*signal_stamp(s) = (struct signal_stamp){ .ticks = sent != 0 ? sent : ticks_now(),
						  .queue_len = queue_length(to) };
	s->stamp = SIGNAL_STAMPED;
}

/* signals_lock of `to` held. */
static PROBE_COLD void probe_arrived(const Process *to, uint32_t state, const struct signal *s)
{
	Term from = s->from;

	if (term_is_local_pid(from))
		return;
	probe_message__arrive(to->id, s->timed ? MESSAGE_FROM_TIMER :
			      term_is_local_port(from) ? MESSAGE_FROM_PORT :
			      s->connection != 0 || term_is_pid(from) ? MESSAGE_FROM_NODE : MESSAGE_FROM_SYSTEM,
			      state & PS_RUNNING);
}

/* Links s in. sent: as probe_sent returned it. Fails: false when `id` is not to's any more (s stays the caller's). */
static inline __attribute__((always_inline)) bool push_watched(Process *to, Term id, struct signal *s, bool watched,
							       uint64_t sent)
{
	bool is_message = s->kind == SIG_MESSAGE, tells = watched && is_message && PROBE_ON(message__queued);
	size_t words = tells ? told_words(s) : 0;
	uint32_t state, length = 0;

	lock_acquire(&to->signals_lock);
	state = atomic_load_explicit(&to->state, memory_order_relaxed);
	if (unlikely(to->id != id || (state & (PS_EXITING | PS_DEAD)))) {
		lock_release(&to->signals_lock);
		return false;
	}
	s->next = NULL;
	if (is_message) {
		__atomic_store_n(&to->in_length, to->in_length + 1, __ATOMIC_RELAXED);
		if (tells)
			probe_message__queued(to, s->token, words, sent);
		if (watched && PROBE_ON(message__arrive))
			probe_arrived(to, state, s);
		if (watched && s->stamp != SIGNAL_NO_STAMP)
			stamp(to, s, sent);
		if (watched && unlikely(trace_active))
			length = queue_length(to);
	}
	*to->in_last = s;
	to->in_last = &s->next;
	if (to->in_first == s)
		state = atomic_fetch_or(&to->state, PS_SIGNALS);
	lock_release(&to->signals_lock);
	/* A stale `to` is woken in vain at worst. */
	if (!(state & (PS_RUNNABLE | PS_RUNNING)))
		sched_wake(to, is_message);
	if (unlikely(length != 0))
		trace_hooks.queue_changed(to, id, length, true);
	return true;
}

static bool push(Process *to, Term id, struct signal *s)
{
	return push_watched(to, id, s, true, 0);
}

static inline __attribute__((always_inline)) void queue_own(Process *p, struct signal *s, bool watched, uint64_t sent)
{
	signal_queue_own(p, s);
	if (watched && unlikely(trace_active))
		message_queue_grew(p);
	if (watched && unlikely(s->stamp != SIGNAL_NO_STAMP))
		stamp(p, s, sent);
}

static inline __attribute__((always_inline)) void send_found(Process *from, Process *to, Term id, struct signal *s,
							     bool watched)
{
	uint64_t sent = watched && likely(from != NULL) ? probe_sent(from, to, id, s) : 0;

	/* The tracer hears of what somebody sends himself when he fetches it. */
	if (to == from && to->id == id && s->ref == TERM_NONE && !(watched && trace_wants(from, TRACE_RECEIVE)))
		queue_own(from, s, watched, sent);
	else if (!push_watched(to, id, s, watched, sent))
		signal_free(s);
}

void message_count_send(Process *from, Term to, Term message)
{
	seq_token_count_send(from);
	if (trace_hooks.seq_sent != NULL)
		trace_hooks.seq_sent(from, to, message);
}

/* May a message that from sends to itself stay where it is? */
static bool stays_on_heap(const Process *from, Term message, bool watched)
{
	return !term_is_immed(message) && !term_is_literal(message) && !(from->flags & PF_OFF_HEAP_MSGQ) &&
	       seq_token_carried(from) == NIL && !(watched && trace_wants(from, TRACE_RECEIVE));
}

static void send_own(Process *p, Term message, bool watched)
{
	struct signal *s = watched && PROBE_ON(message__waited) ? signal_new_stamped(0) : signal_new(SIG_MESSAGE);

	s->term = message;
	s->from = p->id;
	s->own = true;
	queue_own(p, s, watched, watched ? probe_sent(p, p, p->id, s) : 0);
	p->own_messages++;
}

static inline __attribute__((always_inline)) void send_local_watched(Process *from, Term to, Term alias, Term message,
								     bool watched)
{
	Process *p = process_peek(to);

	if (unlikely(from != NULL && from->seq_token != NIL))
		message_count_send(from, alias != TERM_NONE ? alias : to, message);
	if (watched && unlikely(PROBE_ON(request__step)))
		request_sent(from, to, message);
	if (p != NULL && p == from && p->id == to && alias == TERM_NONE && stays_on_heap(from, message, watched))
		send_own(from, message, watched);
	else if (p != NULL)
		send_found(from, p, to, watched && PROBE_ON(message__send) ? make_measured(from, alias, message) :
			   make_message(from, alias, message, watched), watched);
}

static void send_local(Process *from, Term to, Term alias, Term message)
{
	send_local_watched(from, to, alias, message, true);
}

void message_send_high(Process *from, Term alias, Term message)
{
	Term to = ref_tag(alias);
	Process *p = process_peek(to);
	struct signal *s;

	saved_calls_note(from, am_send);
	if (trace_wants(from, TRACE_SEND))
		trace_hooks.sent(from, alias, message);
	if (from->seq_token != NIL)
		message_count_send(from, alias, message);
	if (PROBE_ON(request__step))
		request_sent(from, to, message);
	if (p == NULL)
		return;
	s = PROBE_ON(message__send) ? make_measured(from, alias, message) : make_message(from, alias, message, true);
	s->high = true;
	send_found(from, p, to, s, true);
}

void message_send_to(Process *from, Process *to, Term message)
{
	if (unlikely(from != NULL && from->seq_token != NIL))
		message_count_send(from, to->id, message);
	if (PROBE_ON(request__step))
		request_sent(from, to->id, message);
	send_found(from, to, to->id, make_message(from, TERM_NONE, message, true), true);
}

void message_send(Process *from, Term to, Term message)
{
	if (likely(term_is_local_pid(to)))
		send_local(from, to, TERM_NONE, message);
	else if (term_is_local_port(to) && message_send_port != NULL)
		message_send_port(NULL, to, to, message);
	else if (term_is_local_ref(to) && ref_tag(to) != 0)
		send_local(from, ref_tag(to), to, message);
	else if (term_has_sub(to, SUB_XPID) || term_has_sub(to, SUB_XREF))
		remote_send(from, to, message, 0);
}

void message_deliver(Process *to, Term from, Term message, struct fragment *takes)
{
	struct signal *s = PROBE_ON(message__waited) ? signal_new_stamped(0) : signal_new(SIG_MESSAGE);

	s->from = from;
	s->term = message;
	s->token = am_undefined; /* nobody's: what the receiver had goes on */
	s->fragment = takes;
	s->words = takes != NULL ? takes->used_words : 0;
	if (!push(to, __atomic_load_n(&to->id, __ATOMIC_RELAXED), s)) /* it may be leaving */
		signal_free(s);
}

static bool send_name(Process *from, Term name, Term message)
{
	Term to = registry_whereis(name);

	if (to == TERM_NONE)
		return false;
	if (term_is_local_port(to))
		return message_send_port != NULL && message_send_port(from, to, name, message);
	send_local(from, to, TERM_NONE, message);
	return true;
}

/* One of an earlier life of this node is reported. */
static void send_to_earlier_life(Process *from, Term to, Term message)
{
	struct node_name node = node_of(to);
	struct print_buffer b;

	print_buffer_init(&b, LOST_TEXT_BYTES);
	print_text(&b, "Discarding message ");
	print_term(&b, message);
	print_text(&b, " from ");
	print_term(&b, from->id);
	print_text(&b, " to ");
	print_term(&b, to);
	print_format(&b, " in an old incarnation (%u) of this node (%u)\n", node.creation, node_self().creation);
	process_report_error(from, b.text);
	print_buffer_free(&b);
}

/* A node that cannot be reached is nothing to the sender. */
static bool send_away(Process *from, Term to, Term message)
{
	if (unlikely(remote_send(from, to, message, 0) == REMOTE_TOO_LARGE)) {
		exc_system_limit(from);
		return false;
	}
	return exc_return_suspended(from, message) != TERM_NONE;
}

bool message_send_any(Process *from, Term to, Term message)
{
	saved_calls_note(from, am_send);
	if (trace_wants(from, TRACE_SEND))
		trace_hooks.sent(from, to, message);
	if (likely(term_is_local_pid(to))) {
		send_local(from, to, TERM_NONE, message);
		return true;
	}
	if (term_is_atom(to))
		return send_name(from, to, message);
	if (term_is_local_port(to))
		return message_send_port != NULL && message_send_port(from, to, to, message);
	if (term_is_local_ref(to)) {
		if (ref_tag(to) != 0)
			send_local(from, ref_tag(to), to, message);
		return true;
	}
	if (term_is_tuple_of(to, 2)) {
		if (!term_is_atom(tuple_get(to, 1)) || !term_is_atom(tuple_get(to, 2)))
			return false;
		if (tuple_get(to, 2) != node_self().name)
			return send_away(from, to, message);
		if (!send_name(from, tuple_get(to, 1), message))
			return from == NULL || from->exc_kind != EXC_WAIT;
		return true;
	}
	if (!term_is_pid(to) && !term_is_port(to) && !term_is_ref(to))
		return false;
	if (node_of(to).name == node_self().name)
		send_to_earlier_life(from, to, message);
	else
		return send_away(from, to, message);
	return true;
}

bool message_send_usual(Process *from, Term to, Term message)
{
	Term pid = to, alias = TERM_NONE;

	if (unlikely(!term_is_local_pid(to))) {
		if (term_is_atom(to))
			pid = registry_whereis(to);
		else if (term_is_local_ref(to))
			pid = ref_tag(alias = to);
		if (!term_is_local_pid(pid))
			return false;
	}
	send_local_watched(from, pid, alias, message, false);
	return true;
}

bool message_send_unwatched(Process *from, Term to, Term message)
{
	return message_send_usual(from, to, message) || message_send_any(from, to, message);
}

bool signal_send(Term to, struct signal *s)
{
	Process *p;

	if (unlikely(!term_is_local_pid(to))) {
		if (term_is_local_port(to) && signal_send_port != NULL)
			return signal_send_port(to, s);
		if (term_has_sub(to, SUB_XPID) || term_has_sub(to, SUB_XREF))
			return remote_signal(node_of(to).name, to, s, NULL);
		signal_free(s);
		return false;
	}
	p = process_peek(to);
	if (p != NULL && push(p, to, s))
		return true;
	signal_free(s);
	return false;
}

bool signal_send_raised(Term to, struct signal *s, enum proc_priority priority)
{
	bool raised = sched_raise(to, priority), sent = signal_send(to, s);

	/* It may have run, and be back in the queue, between the two. */
	if (raised && sent)
		sched_raise(to, priority);
	return sent;
}

/* ---- receive markers, the newest last. A reserved number has its highest bit set; references have not. When there are
 * too many the oldest goes: that receive looks at the whole queue. */

#define MARKER_RESERVED ((uint64_t)1 << 63)
enum { MARKERS_MAX = 8 };

struct markers {
	uint16_t count, number;
	struct marker {
		uint64_t key;        /* of the reference, or a reserved number */
		struct signal **at;
	} all[MARKERS_MAX];
};

/* The link at `from` goes with its message. */
static void move_markers(struct markers *m, struct signal **from, struct signal **to)
{
	for (unsigned i = 0; i < m->count; i++)
		if (unlikely(m->all[i].at == from))
			m->all[i].at = to;
}

/* The same for all places in p's queue but its ends and the peeking position. */
static inline __attribute__((always_inline)) void move_places(Process *p, struct signal **from, struct signal **to)
{
	if (unlikely(p->msg_high == from))
		p->msg_high = to;
	if (p->markers != NULL)
		move_markers(p->markers, from, to);
}

static void drop_marker(struct markers *m, struct marker *which)
{
	struct marker *last = &m->all[--m->count];

	memmove(which, which + 1, (size_t)((char *)last - (char *)which));
}

static struct marker *find_marker(const Process *p, Term marker_or_ref)
{
	struct markers *m = p->markers;
	uint64_t key;

	if (m == NULL)
		return NULL;
	if (term_is_small(marker_or_ref))
		key = MARKER_RESERVED | (uint64_t)small_value(marker_or_ref);
	else if (term_is_local_ref(marker_or_ref))
		key = ref_number(marker_or_ref);
	else
		return NULL;
	for (unsigned i = m->count; i-- > 0;)
		if (m->all[i].key == key)
			return &m->all[i];
	return NULL;
}

Term message_marker_reserve(Process *p)
{
	struct markers *m = p->markers;

	if (m == NULL)
		m = p->markers = mem_zalloc_as(MEM_PROCESS, sizeof(*m));
	if (m->count == MARKERS_MAX)
		drop_marker(m, &m->all[0]);
	m->number++;
	m->all[m->count++] = (struct marker){ MARKER_RESERVED | m->number, p->msg_last };
	return term_from_small(m->number);
}

void message_marker_bind(Process *p, Term marker, Term ref)
{
	struct marker *m = find_marker(p, marker);

	if (m != NULL && term_is_local_ref(ref))
		m->key = ref_number(ref);
}

void message_marker_clear(Process *p, Term marker_or_ref)
{
	struct marker *m = find_marker(p, marker_or_ref);

	if (m != NULL)
		drop_marker(p->markers, m);
}

void message_marker_use(Process *p, Term ref)
{
	const struct marker *m = find_marker(p, ref);

	if (m != NULL)
		p->msg_save = p->receive_start = m->at;
}

/* ---- receive */

static inline __attribute__((always_inline)) Term fetch(Process *p, bool (*handle)(Process *p))
{
	struct signal *s;

	if (!(atomic_load_explicit(&p->state, memory_order_relaxed) & PS_SIGNALS))
		return TERM_NONE;
	if (!handle(p))
		return TERM_NONE;
	s = *p->msg_save;
	return s != NULL ? s->term : TERM_NONE;
}

Term message_fetch(Process *p)
{
	return fetch(p, signal_handle);
}

Term message_fetch_traced(Process *p)
{
	const struct signal *s = *p->msg_save;

	return s != NULL ? s->term : fetch(p, signal_handle_traced);
}

/* The words of s, and s itself when it stands among them, become part of the heap. */
static void adopt_words(Process *p, struct signal *s)
{
	struct fragment *f = s->fragment;
	struct heap *h = &p->heap;

	p->own_messages -= s->own;
	if (f == NULL) {
		mem_free_as(MEM_PROCESS, s);
		return;
	}
	if (!s->joined)
		mem_free_as(MEM_PROCESS, s);
	heap_adopt_fragment(h, f);
	if (h->fragment_words * 2 > (size_t)(h->end - h->start))
		h->wants_gc = true;
}

static PROBE_COLD void tell_waited(Process *p, const struct signal *s)
{
	struct signal_stamp stamp = s->stamp == SIGNAL_STAMPED ? *signal_stamp(s) : (struct signal_stamp){ 0 };

	probe_message__waited(p, stamp.ticks, stamp.queue_len);
}

/* Messages from where the receive began to look up to the peeking position, the one there among them. */
static uint64_t count_walked(const Process *p)
{
	struct signal *const *at = p->receive_start != NULL ? p->receive_start : &p->msg_first;
	uint64_t walked = 1;

	for (; at != p->msg_save; at = &(*at)->next)
		walked++;
	return walked;
}

static inline __attribute__((always_inline)) void remove_watched(Process *p, bool watched)
{
	struct signal **at = p->msg_save;
	struct signal *s = *at;

	if (watched && unlikely(PROBE_ON(receive__scan)))
		probe_receive__scan(p, count_walked(p));
	*at = s->next;
	if (s->next == NULL)
		p->msg_last = at;
	move_places(p, &s->next, at);
	set_length(p, p->msg_length - 1);
	if (watched && PROBE_ON(message__receive))
		probe_message__receive(p, s->token, told_words(s));
	if (watched && PROBE_ON(message__waited))
		tell_waited(p, s);
	if (watched && unlikely(PROBE_ON(request__step)))
		request_received(p, s->term);
	if (unlikely(message_tells_tracer(p, s))) {
		seq_token_receive(p, s->token);
		if (s->token != NIL && trace_hooks.seq_received != NULL)
			trace_hooks.seq_received(p, s->token, s->term);
	}
	p->msg_save = &p->msg_first;
	p->receive_start = NULL;
	adopt_words(p, s);
	if (watched && unlikely(trace_active))
		trace_hooks.queue_changed(p, p->id, queue_length(p), false);
}

void message_remove(Process *p)
{
	saved_calls_note(p, am_receive);
	remove_watched(p, true);
}

void message_remove_unwatched(Process *p)
{
	remove_watched(p, false);
}

void message_rewind(Process *p)
{
	p->msg_save = &p->msg_first;
	p->receive_start = NULL;
}

void message_timed_out(Process *p)
{
	message_rewind(p);
	saved_calls_note(p, am_timeout);
	if (trace_wants(p, TRACE_RECEIVE))
		trace_hooks.received(p, am_clock_service, am_timeout);
}

bool message_wait(Process *p)
{
	uint32_t state = atomic_load_explicit(&p->state, memory_order_relaxed);

	if (unlikely(state & PS_HIBERNATED)) {
		if (p->msg_first != NULL) {
			atomic_fetch_and_explicit(&p->state, ~(uint32_t)PS_HIBERNATED, memory_order_relaxed);
			return false;
		}
		state = 0; /* only a message wakes it: the scheduler looks at what came */
	}
	if (state & (PS_SIGNALS | PS_TIMEOUT))
		return false;
	atomic_fetch_or_explicit(&p->state, PS_WAITING, memory_order_relaxed);
	return true;
}

bool message_flush_matching(Process *p, bool (*match)(Term message, uint64_t key), uint64_t key)
{
	struct signal **at = &p->msg_first;

	for (; *at != NULL; at = &(*at)->next) {
		struct signal *s = *at;

		if (!match(s->term, key))
			continue;
		*at = s->next;
		if (s->next == NULL)
			p->msg_last = at;
		move_places(p, &s->next, at);
		p->msg_save = &p->msg_first;
		p->receive_start = NULL;
		set_length(p, p->msg_length - 1);
		p->own_messages -= s->own;
		signal_free(s);
		return true;
	}
	return false;
}

/* ---- literals that leave */

static bool mentions_leaving(const struct signal *s)
{
	const struct fragment *f = s->fragment;

	if (literal_is_leaving((const void *)s->term) || literal_is_leaving((const void *)s->token))
		return true;
	for (size_t i = 0; f != NULL && i < f->used_words; i++)
		if (literal_is_leaving((const void *)f->words[i]))
			return true;
	return false;
}

/* The message again, without literals that leave. */
static struct signal *make_copy(const struct signal *s)
{
	size_t words = copy_size_words(s->term) + copy_size_words(s->token) + peer_id_words(s->from);
	struct signal *copy = signal_new_message(words);
	Term *top = copy->fragment->words;

	copy->from = peer_put_id(s->from, &top, &copy->fragment->off_heap);
	copy->words = s->words;
	copy->high = s->high;
	copy->term = copy_term(s->term, &top, &copy->fragment->off_heap);
	copy->token = copy_term(s->token, &top, &copy->fragment->off_heap);
	if (s->stamp == SIGNAL_STAMPED && copy->stamp == SIGNAL_STAMP_ROOM) {
		*signal_stamp(copy) = *signal_stamp(s);
		copy->stamp = SIGNAL_STAMPED;
	}
	return copy;
}

/* What pointed to the link of s points to its copy's. */
static void replace(Process *p, struct signal **at, struct signal *copy)
{
	struct signal *s = *at;

	copy->next = s->next;
	*at = copy;
	if (p->msg_last == &s->next)
		p->msg_last = &copy->next;
	if (p->msg_save == &s->next)
		p->msg_save = &copy->next;
	if (p->receive_start == &s->next)
		p->receive_start = &copy->next;
	move_places(p, &s->next, &copy->next);
	p->own_messages -= s->own;
	signal_free(s);
}

void message_copy_literals(Process *p)
{
	for (struct signal **at = &p->msg_first; *at != NULL; at = &(*at)->next)
		if (mentions_leaving(*at))
			replace(p, at, make_copy(*at));
}

/* For who reads our memory from outside. */
static const uint32_t layout_numbers[] = {
#define LAYOUT_MAILBOXES LAYOUT_NUMBER
#include "layout.def"
};
LAYOUT_PART(layout_mailboxes, layout_numbers);
