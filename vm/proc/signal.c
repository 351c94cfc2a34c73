/* SPDX-License-Identifier: Apache-2.0 */
/* Signals that are no messages: made, handled by their receiver in the order of arrival, answered for the dead.
 * Unlinking as since OTP 23: whoever unlinks keeps the link, inactive, until the other end acknowledges; exits that
 * arrive meanwhile are dropped, a new link() makes it active again. */
#include <string.h>

#include "base/alloc.h"
#include "heap/copy.h"
#include "proc/dirty.h"
#include "proc/exc.h"
#include "proc/message.h"
#include "proc/monitor.h"
#include "proc/probe.h"
#include "proc/remote.h"
#include "proc/sched.h"
#include "proc/seq_token.h"
#include "proc/task.h"
#include "proc/tracee.h"
#include "term/node.h"
#include "usdt.h"

enum { EXIT_SPARE_WORDS = 4, DOWN_SPARE_WORDS = 6 + REF_WORDS + 3 };

bool (*signal_send_port)(Term to, struct signal *s);

struct signal *signal_new(enum signal_kind kind)
{
	struct signal *s = mem_alloc_as(MEM_PROCESS, sizeof(*s));

	*s = (struct signal){ .kind = (uint8_t)kind, .token = NIL, .term = NIL };
	return s;
}

/* With so many bytes behind the signal. */
static inline struct signal *make_with_words(enum signal_kind kind, size_t used, size_t spare, size_t behind)
{
	size_t words = used + spare;
	struct fragment *f =
		mem_alloc_as(MEM_PROCESS, sizeof(*f) + words * sizeof(Term) + sizeof(struct signal) + behind);
	struct signal *s = (struct signal *)(f->words + words);

	*f = (struct fragment){ .used_words = used, .size_words = words };
	*s = (struct signal){ .kind = (uint8_t)kind, .joined = true, .token = NIL, .term = NIL, .fragment = f };
	return s;
}

struct signal *signal_new_words(enum signal_kind kind, size_t used, size_t spare)
{
	return make_with_words(kind, used, spare, 0);
}

struct signal *signal_new_stamped(size_t words)
{
	struct signal *s;

	if (words != 0) {
		s = make_with_words(SIG_MESSAGE, words, 0, sizeof(struct signal_stamp));
	} else {
		s = mem_alloc_as(MEM_PROCESS, sizeof(*s) + sizeof(struct signal_stamp));
		*s = (struct signal){ .kind = SIG_MESSAGE, .token = NIL, .term = NIL };
	}
	s->stamp = SIGNAL_STAMP_ROOM;
	return s;
}

struct signal *signal_new_message(size_t words)
{
	bool stamps = PROBE_ON(message__waited);
	struct signal *s = make_with_words(SIG_MESSAGE, words, 0, stamps ? sizeof(struct signal_stamp) : 0);

	s->stamp = stamps ? SIGNAL_STAMP_ROOM : SIGNAL_NO_STAMP;
	return s;
}

void signal_free(struct signal *s)
{
	struct fragment *f = s->fragment;

	if (!s->joined)
		mem_free_as(MEM_PROCESS, s);
	fragment_free(f);
}

struct signal *signal_new_plain(enum signal_kind kind, Term from, Term ref)
{
	size_t words = peer_id_words(from) + peer_id_words(ref);
	struct signal *s;

	if (words == 0) {
		s = signal_new(kind);
		s->from = from;
		s->ref = ref;
	} else {
		Term *top;

		s = signal_new_words(kind, words, 0);
		top = s->fragment->words;
		s->from = peer_put_id(from, &top, &s->fragment->off_heap);
		s->ref = peer_put_id(ref, &top, &s->fragment->off_heap);
	}
	return s;
}

bool signal_send_plain(enum signal_kind kind, Term from, Term to, Term ref)
{
	return signal_send(to, signal_new_plain(kind, from, ref));
}

static bool send_pair(struct signal *s, Term to, uint32_t *connection)
{
	s->connection = *connection;
	if (term_has_sub(to, SUB_XPID))
		return remote_signal(node_of(to).name, to, s, connection);
	return signal_send(to, s);
}

bool signal_send_pair(enum signal_kind kind, Term from, Term to, Term ref, uint32_t *connection)
{
	return send_pair(signal_new_plain(kind, from, ref), to, connection);
}

bool signal_send_monitor(Term from, Term to, Term name, Term ref, uint32_t *connection)
{
	struct signal *s = signal_new_plain(SIG_MONITOR, from, ref);

	if (name != TERM_NONE)
		s->term = name;
	return send_pair(s, to, connection);
}

static struct signal *make_reason_signal(enum signal_kind kind, Term from, Term ref, Term reason, Term token)
{
	size_t spare = kind == SIG_DOWN ? DOWN_SPARE_WORDS : EXIT_SPARE_WORDS;
	size_t words = copy_size_words(reason) + copy_size_words(token) + peer_id_words(from) + peer_id_words(ref);
	struct signal *s = signal_new_words(kind, words, spare);
	Term *top = s->fragment->words;

	s->term = copy_term(reason, &top, &s->fragment->off_heap);
	s->token = copy_term(token, &top, &s->fragment->off_heap);
	s->from = peer_put_id(from, &top, &s->fragment->off_heap);
	s->ref = peer_put_id(ref, &top, &s->fragment->off_heap);
	return s;
}

void signal_send_reason(enum signal_kind kind, Term from, Term to, Term ref, Term reason)
{
	if (kind != SIG_DOWN && PROBE_ON(process__exit_signal) && term_is_local_pid(to))
		probe_process__exit_signal(from, to, reason);
	signal_send(to, make_reason_signal(kind, from, ref, reason, NIL));
}

void signal_send_reason_from(uint32_t connection, enum signal_kind kind, Term from, Term to, Term ref, Term reason,
			     Term token, bool high)
{
	struct signal *s = make_reason_signal(kind, from, ref, reason, token);

	s->connection = connection;
	s->high = high;
	signal_send(to, s);
}

void signal_exit(Process *from, Term to, Term reason, bool high)
{
	Term alias = term_is_ref(to) ? to : TERM_NONE;
	struct signal *s;

	if (term_is_local_ref(to))
		to = ref_tag(alias);
	if (PROBE_ON(process__exit_signal) && term_is_local_pid(to))
		probe_process__exit_signal(from->id, to, reason);
	s = make_reason_signal(SIG_EXIT, from->id, alias, reason, NIL);
	s->high = high && alias != TERM_NONE;
	signal_send(to, s);
}

void signal_link_exit(Process *from, Term to, Term reason)
{
	if (likely(from->seq_token == NIL) || atomic_load(&seq_token_resets) > 0 || term_is_local_port(to)) {
		signal_send_reason(SIG_LINK_EXIT, from->id, to, TERM_NONE, reason);
		return;
	}
	if (!term_is_local_pid(to)) {
		message_count_send(from, to, heap_tuple(&from->heap, am_EXIT, from->id, reason));
	} else {
		if (PROBE_ON(process__exit_signal))
			probe_process__exit_signal(from->id, to, reason);
		seq_token_count_send(from); /* the receiver tells of it */
	}
	signal_send(to, make_reason_signal(SIG_LINK_EXIT, from->id, TERM_NONE, reason, from->seq_token));
}

/* ---- handling */

/* Words at the end of the signal's fragment; NULL when it has not enough. */
static Term *take_spare(struct signal *s, size_t words)
{
	struct fragment *f = s->fragment;
	Term *at;

	if (f == NULL || f->size_words - f->used_words < words)
		return NULL;
	at = f->words + f->used_words;
	f->used_words += words;
	return at;
}

/* s again, with room for `spare` more words. Takes: s. */
static struct signal *widen(struct signal *s, size_t spare)
{
	struct signal *wide;
	size_t words;
	Term *top;

	if (s->fragment != NULL && s->fragment->size_words - s->fragment->used_words >= spare)
		return s;
	words = copy_size_words(s->term) + copy_size_words(s->token) + peer_id_words(s->from) + peer_id_words(s->ref);
	wide = signal_new_words(s->kind, words, spare);
	wide->high = s->high;
	top = wide->fragment->words;
	wide->term = copy_term(s->term, &top, &wide->fragment->off_heap);
	wide->token = copy_term(s->token, &top, &wide->fragment->off_heap);
	wide->from = peer_put_id(s->from, &top, &wide->fragment->off_heap);
	wide->ref = peer_put_id(s->ref, &top, &wide->fragment->off_heap);
	signal_free(s);
	return wide;
}

static Term put_tuple(Term *at, size_t arity, const Term *elements)
{
	at[0] = HEADER(arity, SUB_TUPLE);
	memcpy(at + 1, elements, arity * sizeof(Term));
	return term_from_boxed(at);
}

static void queue_as_message(Process *p, struct signal *s, Term message)
{
	if (PROBE_ON(message__arrive))
		probe_message__arrive(p->id, MESSAGE_FROM_EXIT, true);
	s->kind = SIG_MESSAGE;
	s->term = message;
	s->words = s->fragment != NULL ? s->fragment->used_words : 0;
	signal_queue_own(p, s);
}

/* {'EXIT', From, Reason} */
static void queue_exit_message(Process *p, struct signal *s)
{
	s = widen(s, 4);
	queue_as_message(p, s, put_tuple(take_spare(s, 4), 3, (Term[]){ am_EXIT, s->from, s->term }));
}

/* p ends with that reason. Takes: s. */
static bool exit_with(Process *p, struct signal *s, Term reason)
{
	struct fragment *f = s->fragment;

	p->exc_kind = EXC_EXITED;
	p->exc_reason = reason;
	if (!s->joined)
		mem_free_as(MEM_PROCESS, s);
	if (f != NULL)
		heap_adopt_fragment(&p->heap, f);
	return false;
}

/* Is what came to that alias of p still wanted? */
static inline __attribute__((always_inline)) bool accept_alias(Process *p, struct signal *s)
{
	struct peer *n = peer_find(&p->monitors, s->ref);

	if (n == NULL || n->alias == ALIAS_NONE)
		return false;
	if (unlikely(s->high))
		s->high = n->priority;
	if (n->alias == ALIAS_REPLY)
		monitor_drop_node(p, n);
	return true;
}

static bool handle_exit(Process *p, struct signal *s)
{
	bool linked = s->kind == SIG_LINK_EXIT;

	if (linked) {
		struct peer *n = peer_find(&p->links, s->from);
		bool active = n != NULL && n->unlink_id == 0;

		s->high = n != NULL && n->priority;
		if (n != NULL)
			peer_remove(&p->links, n);
		if (!active) {
			signal_free(s);
			return true;
		}
		if (unlikely(s->token != NIL) && term_is_local_pid(s->from) && trace_hooks.seq_ended != NULL)
			trace_hooks.seq_ended(p, s->token, heap_tuple(&p->heap, am_EXIT, s->from, s->term));
	} else if (unlikely(s->ref != TERM_NONE) && !accept_alias(p, s)) {
		signal_free(s);
		return true;
	} else if (s->term == am_kill) {
		return exit_with(p, s, am_killed);
	}
	if (p->flags & PF_TRAP_EXIT) {
		queue_exit_message(p, s);
		return true;
	}
	if (s->term == am_normal && (linked || s->from != p->id)) {
		signal_free(s);
		return true;
	}
	return exit_with(p, s, s->term);
}

/* While an unlink of ours is not acknowledged, the other end has sent this before it saw that: it will take its end
 * away. */
static void handle_link(Process *p, const struct signal *s)
{
	struct peer *n = peer_find(&p->links, s->from);

	if (n != NULL && n->unlink_id != 0 && n->connection == s->connection)
		return;
	if (n == NULL)
		n = peer_insert(&p->links, PEER_LINK, s->from, s->from, TERM_NONE);
	n->unlink_id = 0;
	n->connection = s->connection;
}

static void handle_unlink(Process *p, const struct signal *s)
{
	struct peer *n = peer_find(&p->links, s->from);

	if (n != NULL && n->unlink_id == 0)
		peer_remove(&p->links, n);
	signal_send_plain(SIG_UNLINK_ACK, p->id, s->from, s->ref);
}

static void handle_unlink_ack(Process *p, const struct signal *s)
{
	struct peer *n = peer_find(&p->links, s->from);

	if (n != NULL && n->unlink_id != 0 && (s->ref == TERM_NONE || s->ref == SMALL((uint64_t)n->unlink_id)))
		peer_remove(&p->links, n);
}

static void handle_monitor(Process *p, const struct signal *s)
{
	struct peer *n = peer_find(&p->monitored_by, s->ref);

	if (n != NULL)
		return;
	n = peer_insert(&p->monitored_by, PEER_WATCHER, s->ref, s->from, TERM_NONE);
	n->connection = s->connection;
	n->name = term_is_atom(s->term) ? s->term : TERM_NONE;
}

static void handle_demonitor(Process *p, const struct signal *s)
{
	struct peer *n = peer_find(&p->monitored_by, s->ref);

	if (n != NULL)
		peer_remove(&p->monitored_by, n);
}

/* {Tag, Ref, process | port, Object, Reason} */
static void handle_down(Process *p, struct signal *s)
{
	struct peer *n = peer_find(&p->monitors, s->ref);
	Term parts[5], name, *at;
	size_t words;

	if (n == NULL || n->kind != PEER_MONITOR || (s->connection != 0 && s->connection != n->connection)) {
		signal_free(s);
		return;
	}
	words = n->words != NULL ? n->words->used_words : 0;
	s->high = n->priority;
	s = widen(s, DOWN_SPARE_WORDS + words);
	parts[0] = n->tag != TERM_NONE ? n->tag : am_DOWN;
	parts[1] = s->ref;
	parts[2] = n->port ? am_port : am_process;
	parts[3] = n->peer;
	if (words != 0) {
		Term *top = take_spare(s, words);

		parts[0] = copy_term(parts[0], &top, &s->fragment->off_heap);
		parts[3] = peer_put_id(n->peer, &top, &s->fragment->off_heap);
	}
	if (n->name != TERM_NONE) {
		name = n->at_node ? n->peer : node_self().name;
		at = take_spare(s, 3);
		parts[3] = put_tuple(at, 2, (Term[]){ n->name, name });
	}
	parts[4] = s->term;
	s->token = am_undefined;
	queue_as_message(p, s, put_tuple(take_spare(s, 6), 5, parts));
	monitor_fired(p, n);
}

/* ---- a connection is lost. As if each of the other ends had said so. */

struct lost {
	uint32_t connection;
	const struct peer **all;
	size_t count;
};

static void note_lost(const struct peer *n, void *arg)
{
	struct lost *lost = arg;

	if (n->connection == lost->connection)
		lost->all[lost->count++] = n;
}

/* Those of the table that went over the connection. Owns: the caller, the array. */
static struct lost find_lost(const struct peers *t, uint32_t connection)
{
	struct lost lost = { .connection = connection };

	if (peer_count(t) == 0)
		return lost;
	lost.all = mem_alloc(peer_count(t) * sizeof(*lost.all));
	peer_each(t, note_lost, &lost);
	return lost;
}

static bool lose_links(Process *p, uint32_t connection)
{
	struct lost lost = find_lost(&p->links, connection);
	bool goes_on = true;

	for (size_t i = 0; i < lost.count && goes_on; i++)
		goes_on = handle_exit(p, make_reason_signal(SIG_LINK_EXIT, lost.all[i]->peer, TERM_NONE,
							    am_noconnection, NIL));
	mem_free(lost.all);
	return goes_on;
}

static void lose_monitors(Process *p, uint32_t connection)
{
	struct lost lost = find_lost(&p->monitors, connection);

	for (size_t i = 0; i < lost.count; i++) {
		struct peer *n = (struct peer *)lost.all[i];
		Term words[REF_WORDS];

		if (n->kind == PEER_MONITOR)
			handle_down(p, make_reason_signal(SIG_DOWN, TERM_NONE, peer_ref(n, words), am_noconnection,
							  NIL));
		else if (n->kind == PEER_NODE)
			remote_tell_node_down(p, n);
		else if (n->kind == PEER_SPAWN)
			remote_fail_spawn(p, n, am_noconnection);
	}
	mem_free(lost.all);
}

static void lose_watchers(Process *p, uint32_t connection)
{
	struct lost lost = find_lost(&p->monitored_by, connection);

	for (size_t i = 0; i < lost.count; i++)
		peer_remove(&p->monitored_by, (struct peer *)lost.all[i]);
	mem_free(lost.all);
}

static bool handle_node_down(Process *p, struct signal *s)
{
	uint32_t connection = s->connection;

	signal_free(s);
	lose_watchers(p, connection);
	lose_monitors(p, connection);
	return lose_links(p, connection);
}

static __attribute__((noinline)) void drop_message(const Process *p, struct signal *s)
{
	if (PROBE_ON(message__drop))
		probe_message__drop(p->id);
	signal_free(s);
}

static inline __attribute__((always_inline)) void handle_message(Process *p, struct signal *s)
{
	if (unlikely(s->ref != TERM_NONE) && !accept_alias(p, s))
		drop_message(p, s);
	else
		signal_queue_own(p, s);
}

static void handle_suspend(Process *p)
{
	if (p->suspend_count++ == 0)
		atomic_fetch_or(&p->state, PS_SUSPENDED);
}

void process_suspend_self(Process *p)
{
	handle_suspend(p);
	process_yield_soon(p);
}

static void handle_resume(Process *p)
{
	if (p->suspend_count > 0 && --p->suspend_count == 0)
		atomic_fetch_and(&p->state, ~(uint32_t)PS_SUSPENDED);
	if (unlikely(p->dirty != NULL))
		dirty_look_again(p);
}

/* Those that leave s to be freed. */
static void handle_plain(Process *p, struct signal *s)
{
	switch ((enum signal_kind)s->kind) {
	case SIG_LINK:
		handle_link(p, s);
		break;
	case SIG_UNLINK:
		handle_unlink(p, s);
		break;
	case SIG_UNLINK_ACK:
		handle_unlink_ack(p, s);
		break;
	case SIG_MONITOR:
		handle_monitor(p, s);
		break;
	case SIG_DEMONITOR:
		handle_demonitor(p, s);
		break;
	case SIG_SUSPEND:
		handle_suspend(p);
		break;
	case SIG_RESUME:
		handle_resume(p);
		break;
	case SIG_CALL:
		s->call(p, s->arg);
		break;
	default:
		ENSURE(!"a kind of signal nobody handles");
	}
	signal_free(s);
}

static inline __attribute__((always_inline)) bool handle_one(Process *p, struct signal *s)
{
	switch ((enum signal_kind)s->kind) {
	case SIG_MESSAGE:
		handle_message(p, s);
		return true;
	case SIG_EXIT:
	case SIG_LINK_EXIT:
		return handle_exit(p, s);
	case SIG_DOWN:
		handle_down(p, s);
		return true;
	case SIG_NODE_DOWN:
		return handle_node_down(p, s);
	case SIG_SPAWNED:
		remote_spawned(p, s);
		return true;
	case SIG_TASK:
		task_queue(p, s);
		return true;
	default:
		handle_plain(p, s);
		return true;
	}
}

static struct signal *take_incoming(Process *p)
{
	struct signal *first;

	lock_acquire(&p->signals_lock);
	first = p->in_first;
	p->in_first = NULL;
	p->in_last = &p->in_first;
	__atomic_store_n(&p->in_length, 0, __ATOMIC_RELAXED);
	/* process_look acquires what was written before. */
	atomic_fetch_and_explicit(&p->state, ~(uint32_t)PS_SIGNALS, memory_order_release);
	lock_release(&p->signals_lock);
	return first;
}

/* What follows a fatal signal stays for signal_close, in front of what came later. */
static void put_back(Process *p, struct signal *first)
{
	struct signal *last = first;

	if (first == NULL)
		return;
	while (last->next != NULL)
		last = last->next;
	lock_acquire(&p->signals_lock);
	last->next = p->in_first;
	if (p->in_first == NULL)
		p->in_last = &last->next;
	p->in_first = first;
	lock_release(&p->signals_lock);
}

/* After one that ends it p still handles signals, for who asks whether it lives: until it is marked as exiting. */
static inline __attribute__((always_inline)) bool handle_all(Process *p, bool (*handle)(Process *p, struct signal *s))
{
	struct signal *s;

	__atomic_store_n(&p->handles, true, __ATOMIC_RELAXED);
	s = take_incoming(p);
	while (s != NULL) {
		struct signal *next = s->next;

		if (!handle(p, s)) {
			put_back(p, next);
			return false;
		}
		s = next;
	}
	__atomic_store_n(&p->handles, false, __ATOMIC_RELEASE);
	if (unlikely(trace_active))
		message_queue_grew(p);
	return true;
}

bool signal_handle(Process *p)
{
	return handle_all(p, handle_one);
}

/* ---- the same, and told to the tracer */

static void tell_link(Process *p, Term event, Term from)
{
	if (trace_wants(p, TRACE_PROCS))
		trace_hooks.event(p, event, from);
}

static bool has_link(const Process *p, Term to)
{
	const struct peer *n = peer_find(&p->links, to);

	return n != NULL && n->unlink_id == 0;
}

static void tell_message(Process *p, const struct signal *s)
{
	if (trace_wants(p, TRACE_RECEIVE))
		trace_hooks.received(p, s->from, s->term);
}

/* Messages of the last one handled on stand behind the queue's old end: they are told in their order. */
static void tell_messages(Process *p, struct signal *const *from)
{
	for (const struct signal *s = *from; s != NULL; s = s->next)
		tell_message(p, s);
}

static bool handle_one_traced(Process *p, struct signal *s)
{
	struct signal **end = p->msg_last, **high = p->msg_high;
	enum signal_kind kind = s->kind;
	bool about_link = kind == SIG_LINK || kind == SIG_UNLINK || kind == SIG_LINK_EXIT;
	Term from = about_link ? copy_to_heap(s->from, &p->heap) : TERM_NONE; /* s goes */
	bool goes_on, linked = about_link && has_link(p, from);

	goes_on = handle_one(p, s);
	if (kind == SIG_LINK_EXIT && linked && goes_on)
		tell_link(p, am_getting_unlinked, from);
	if (kind == SIG_LINK && !linked)
		tell_link(p, am_getting_linked, from);
	if (kind == SIG_UNLINK && linked)
		tell_link(p, am_getting_unlinked, from);
	if (kind != SIG_CALL && p->msg_high != high)
		tell_message(p, *high);
	else if (kind != SIG_CALL) /* which queues nothing, but may put copies into the queue (message_copy_literals) */
		tell_messages(p, end);
	return goes_on;
}

bool signal_handle_traced(Process *p)
{
	return handle_all(p, handle_one_traced);
}

bool signal_handle_now(Process *p)
{
	return trace_active ? signal_handle_traced(p) : signal_handle(p);
}

/* ---- the dead */

void signal_reject(Term to, struct signal *s)
{
	switch ((enum signal_kind)s->kind) {
	case SIG_LINK:
		signal_send_reason(SIG_LINK_EXIT, to, s->from, TERM_NONE, am_noproc);
		break;
	case SIG_UNLINK:
		signal_send_plain(SIG_UNLINK_ACK, to, s->from, s->ref);
		break;
	case SIG_MONITOR:
		signal_send_reason(SIG_DOWN, to, s->from, s->ref, am_noproc);
		break;
	case SIG_SPAWNED:
		remote_spawned_for_nobody(to, s);
		break;
	case SIG_CALL:
	case SIG_TASK:
		s->call(NULL, s->arg);
		break;
	default:
		break;
	}
	signal_free(s);
}

void signal_close(Process *p)
{
	struct signal *s;

	lock_acquire(&p->signals_lock);
	atomic_fetch_or(&p->state, PS_EXITING);
	lock_release(&p->signals_lock);
	s = take_incoming(p);
	while (s != NULL) {
		struct signal *next = s->next;

		signal_reject(p->id, s);
		s = next;
	}
}
