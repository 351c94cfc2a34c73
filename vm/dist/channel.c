/* SPDX-License-Identifier: Apache-2.0 */
/* The table of connections, and the queue of each. */
#include "dist/channel.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/hash.h"
#include "dist/dist_probe.h"
#include "dist/dist_packet.h"
#include "layout.h"
#include "proc/message.h"
#include "proc/node_monitor.h"
#include "proc/probe.h"
#include "proc/tracee.h"

enum { TABLE_BUCKETS = 64, CONCERNED_LEAST = 64, BUSY_BYTES_DEFAULT = 1 << 20, WHOLE_BETWEEN_FRAGMENTS = 64,
       LARGE_AT_ONCE = 16 /* at least, before the channel is busy */ };

/* What a message costs beyond its bytes: a flood of empty ones fills the channel too. */
enum { MESSAGE_BYTES = sizeof(struct dist_message) + 2 * sizeof(struct binary) };

atomic_size_t channel_busy_bytes = BUSY_BYTES_DEFAULT;

static struct {
	struct rwlock lock;
	struct channel *buckets[TABLE_BUCKETS]; /* by node */
	atomic_size_t size;  /* written under the lock */
	uint32_t last_id;
} table;

void channel_init(void)
{
	rwlock_init(&table.lock, LOCK_dist_channels);
}

static struct channel **bucket_of(Term node)
{
	return &table.buckets[hash_word(node) % TABLE_BUCKETS];
}

void channel_ref(struct channel *c)
{
	atomic_fetch_add_explicit(&c->refs, 1, memory_order_relaxed);
}

void dist_message_free(struct dist_message *m)
{
	binary_unref(m->control);
	if (m->payload != NULL)
		binary_unref(m->payload);
	etf_pieces_free(&m->pieces);
	if (m->refusal != NULL)
		signal_free(m->refusal);
	mem_free(m);
}

/* The other node cannot take them: who asked hears of it; all messages go. */
static void refuse_messages(struct dist_message *m)
{
	while (m != NULL) {
		struct dist_message *next = m->next;

		if (m->refusal != NULL)
			signal_send(m->asker, m->refusal);
		m->refusal = NULL;
		dist_message_free(m);
		m = next;
	}
}

static void free_messages(struct dist_message *m)
{
	while (m != NULL) {
		struct dist_message *next = m->next;

		free_messages(m->followers); /* which have none */
		dist_message_free(m);
		m = next;
	}
}

void channel_unref(struct channel *c)
{
	if (atomic_fetch_sub_explicit(&c->refs, 1, memory_order_acq_rel) != 1)
		return;
	free_messages(c->first);
	free_messages(c->parts);
	dist_reader_free(c->reader);
	dist_writer_free(c->writer);
	if (c->port != NULL)
		port_unref(c->port);
	mem_free(c->waiters);
	mem_free(c->large);
	mem_free(c->concerned);
	lock_destroy(&c->lock);
	mem_free(c);
}

/* ---- the table */

static struct channel *find(Term node)
{
	struct channel *c = *bucket_of(node);

	while (c != NULL && c->node != node)
		c = c->next;
	if (c != NULL)
		channel_ref(c);
	return c;
}

struct channel *channel_find(Term node)
{
	struct channel *c;

	rwlock_read(&table.lock);
	c = find(node);
	rwlock_unread(&table.lock);
	return c;
}

struct channel *channel_find_id(uint32_t id)
{
	struct channel *found = NULL;

	rwlock_read(&table.lock);
	for (size_t i = 0; i < TABLE_BUCKETS && found == NULL; i++)
		for (found = table.buckets[i]; found != NULL && found->id != id; found = found->next)
			;
	if (found != NULL)
		channel_ref(found);
	rwlock_unread(&table.lock);
	return found;
}

static struct channel *make_channel(Term node, uint32_t id)
{
	struct channel *c = mem_zalloc(sizeof(*c));

	lock_init(&c->lock, LOCK_dist_channel);
	atomic_init(&c->refs, 1); /* the table's */
	c->node = node;
	c->id = id;
	c->last = &c->first;
	c->last_part = &c->parts;
	c->controller = TERM_NONE;
	return c;
}

struct channel *channel_open(Term node, bool *made)
{
	struct channel *c;

	rwlock_write(&table.lock);
	c = find(node);
	*made = c == NULL;
	if (c == NULL) {
		if (++table.last_id == 0)
			table.last_id = 1;
		c = make_channel(node, table.last_id);
		c->next = *bucket_of(node);
		*bucket_of(node) = c;
		atomic_fetch_add_explicit(&table.size, 1, memory_order_relaxed);
		channel_ref(c);
	}
	rwlock_unwrite(&table.lock);
	return c;
}

static void leave_table(struct channel *c)
{
	struct channel **at = bucket_of(c->node);

	rwlock_write(&table.lock);
	while (*at != c)
		at = &(*at)->next;
	*at = c->next;
	atomic_fetch_sub_explicit(&table.size, 1, memory_order_relaxed);
	rwlock_unwrite(&table.lock);
	channel_unref(c);
}

void channel_each(void (*see)(struct channel *c, void *arg), void *arg)
{
	if (atomic_load_explicit(&table.size, memory_order_relaxed) == 0)
		return;
	rwlock_read(&table.lock);
	for (size_t i = 0; i < TABLE_BUCKETS; i++)
		for (struct channel *c = table.buckets[i]; c != NULL; c = c->next)
			see(c, arg);
	rwlock_unread(&table.lock);
}

void channel_peek_each(void (*see)(const struct channel *c, void *arg), void *arg)
{
	for (size_t i = 0; i < TABLE_BUCKETS; i++)
		for (const struct channel *c = table.buckets[i]; c != NULL; c = c->next)
			see(c, arg);
}

/* ---- who is concerned */

static int compare_words(const void *a, const void *b)
{
	Term x = *(const Term *)a, y = *(const Term *)b;

	return (x > y) - (x < y);
}

/* Each once, and only who lives: so there are never many more than that. */
static void tidy_concerned(struct channel *c)
{
	size_t kept = 0;

	if (c->concerned_count > 0)
		qsort(c->concerned, c->concerned_count, sizeof(Term), compare_words);
	for (size_t i = 0; i < c->concerned_count; i++) {
		Term pid = c->concerned[i];

		if ((kept == 0 || c->concerned[kept - 1] != pid) && process_is_alive(pid))
			c->concerned[kept++] = pid;
	}
	c->concerned_count = kept;
	c->concerned_limit = 2 * kept + CONCERNED_LEAST;
}

/* The lock is held. */
static void concern(struct channel *c, Term pid)
{
	if (pid == TERM_NONE || (c->concerned_count > 0 && c->concerned[c->concerned_count - 1] == pid))
		return;
	if (c->concerned_count >= c->concerned_limit)
		tidy_concerned(c);
	if (c->concerned_count == c->concerned_room) {
		c->concerned_room = c->concerned_limit;
		c->concerned = mem_realloc(c->concerned, c->concerned_room * sizeof(Term));
	}
	c->concerned[c->concerned_count++] = pid;
}

bool channel_concern(struct channel *c, Term pid)
{
	bool ok;

	lock_acquire(&c->lock);
	ok = c->state != CHANNEL_DOWN;
	if (ok)
		concern(c, pid);
	lock_release(&c->lock);
	return ok;
}

/* ---- large messages; the lock is held */

/* Goes in fragments, between which others go. A request that may be refused may leave the queue otherwise. */
static bool is_large(const struct channel *c, const struct dist_message *m)
{
	return (c->flags & DIST_FRAGMENTS) && m->payload_bytes > 2 * DIST_FRAGMENT_BYTES &&
	       m->refusal == NULL && term_is_local_pid(m->sender);
}

static void add_large(struct channel *c, Term sender, bool fills)
{
	if (c->large_count == c->large_room) {
		c->large_room = c->large_room * 2 + 8;
		c->large = mem_realloc(c->large, c->large_room * sizeof(*c->large));
	}
	c->large[c->large_count++] = (struct large_sender){ sender, fills, false };
}

/* A large message counts as a fragment at most, so that others need not wait until all of it is gone, as its own sender
 * does. Source of that: OTP, whose senders hand over a fragment at a time. */
static void count(struct channel *c, struct dist_message *m)
{
	size_t limit = atomic_load_explicit(&channel_busy_bytes, memory_order_relaxed), most = limit / LARGE_AT_ONCE;

	m->is_large = is_large(c, m);
	if (m->is_large)
		add_large(c, m->sender, m->payload_bytes >= limit);
	if (m->is_large)
		m->counted_bytes = most < DIST_FRAGMENT_BYTES ? most : DIST_FRAGMENT_BYTES;
	else
		m->counted_bytes = MESSAGE_BYTES + m->control->size_bytes + m->payload_bytes;
	c->queued_bytes += m->counted_bytes;
}

static struct large_sender *find_large(struct channel *c, Term pid)
{
	for (size_t i = 0; i < c->large_count; i++)
		if (c->large[i].pid == pid)
			return &c->large[i];
	return NULL;
}

/* m is gone. Returns its sender, if that waits for it; else TERM_NONE. *told: it was told as waiting for a connection
 * that is busy. */
static Term end_large(struct channel *c, const struct dist_message *m, bool *told)
{
	struct large_sender *at = m->is_large ? find_large(c, m->sender) : NULL, ended;

	if (at == NULL)
		return TERM_NONE;
	ended = *at;
	memmove(at, at + 1, (size_t)(c->large + c->large_count - (at + 1)) * sizeof(*at));
	c->large_count--;
	*told = ended.waits && ended.fills;
	return ended.waits ? ended.pid : TERM_NONE;
}

static bool is_told_busy(const struct channel *c)
{
	bool told = c->busy;

	for (size_t i = 0; i < c->large_count && !told; i++)
		told = c->large[i].waits && c->large[i].fills;
	return told;
}

static void add_waiter(struct channel *c, Term pid)
{
	if (c->waiter_count == c->waiter_room) {
		c->waiter_room = c->waiter_room * 2 + 8;
		c->waiters = mem_realloc(c->waiters, c->waiter_room * sizeof(Term));
	}
	c->waiters[c->waiter_count++] = pid;
}

/* Who waits for a large message waits for the channel as others do, and is resumed with them. */
static void end_all_large(struct channel *c)
{
	for (size_t i = 0; i < c->large_count; i++)
		if (c->large[i].waits)
			add_waiter(c, c->large[i].pid);
	c->large_count = 0;
}

/* ---- the queue */

bool channel_put(struct channel *c, struct dist_message *m, Term concerned, bool *busy)
{
	bool wake = false, tell = false;
	Term controller;

	lock_acquire(&c->lock);
	if (c->state == CHANNEL_DOWN) {
		lock_release(&c->lock);
		dist_message_free(m);
		return false;
	}
	m->next = NULL;
	concern(c, concerned);
	if (unlikely(c->state == CHANNEL_UP && !control_goes(m->needs, m->unless, c->flags))) {
		*busy = false;
		lock_release(&c->lock);
		refuse_messages(m);
		return true;
	}
	*c->last = m;
	c->last = &m->next;
	count(c, m);
	if (c->queued_bytes >= atomic_load_explicit(&channel_busy_bytes, memory_order_relaxed))
		c->busy = true;
	*busy = c->busy || m->is_large;
	controller = c->controller;
	if (c->state == CHANNEL_UP) {
		wake = c->port != NULL;
		tell = c->port == NULL && c->tell_data;
		c->tell_data = false;
	}
	lock_release(&c->lock);
	if (wake)
		channel_wake_port(c);
	if (tell)
		message_send(NULL, controller, am_dist_data);
	return true;
}

/* Those who waited, if nobody has to any more. Owns: the caller, the array. */
static Term *take_waiters(struct channel *c, size_t *n)
{
	Term *waiters = c->waiters;

	*n = c->waiter_count;
	c->waiters = NULL;
	c->waiter_count = c->waiter_room = 0;
	c->busy = false;
	return waiters;
}

/* told: it was told as waiting for a connection that is busy. */
static void resume_one(Term controller, Term pid, bool told)
{
	if (told && PROBE_ON(process__port_unblocked))
		probe_process__port_unblocked(pid, controller);
	signal_send_plain(SIG_RESUME, TERM_NONE, pid, TERM_NONE);
}

static void resume(Term controller, Term *waiters, size_t n)
{
	for (size_t i = 0; i < n; i++)
		resume_one(controller, waiters[i], true);
	mem_free(waiters);
}

/* A message that is sent in part, whose sender m has too. The lock is held. */
static struct dist_message *find_part(struct channel *c, const struct dist_message *m)
{
	struct dist_message *part = c->parts;

	while (part != NULL && part->sender != m->sender)
		part = part->next;
	return part;
}

/* Of nobody knows whom: it may have the sender of any other. The lock is held. */
static bool has_unknown_sender(const struct channel *c)
{
	const struct dist_message *part = c->parts;

	while (part != NULL && part->sender != TERM_NONE)
		part = part->next;
	return part != NULL;
}

static void append(struct dist_message ***last, struct dist_message *m)
{
	m->next = NULL;
	**last = m;
	*last = &m->next;
}

/* From one of the queues, which is not empty. */
static struct dist_message *pop(struct dist_message **first, struct dist_message ***last)
{
	struct dist_message *m = *first;

	*first = m->next;
	if (*first == NULL)
		*last = first;
	m->next = NULL;
	return m;
}

/* One that may go before the parts; those that may not join what they follow. NULL: none. The lock is held. */
static struct dist_message *pop_whole(struct channel *c)
{
	while (c->first != NULL) {
		struct dist_message *part;

		if (likely(c->parts == NULL))
			return pop(&c->first, &c->last);
		if (c->whole_left == 0 || c->first->sender == TERM_NONE || has_unknown_sender(c))
			return NULL;
		part = find_part(c, c->first);
		if (part == NULL) {
			c->whole_left--;
			return pop(&c->first, &c->last);
		}
		append(&part->last_follower, pop(&c->first, &c->last));
	}
	return NULL;
}

bool channel_has_output(const struct channel *c)
{
	return c->first != NULL || c->parts != NULL;
}

struct dist_message *channel_take(struct channel *c)
{
	struct dist_message *m;

	lock_acquire(&c->lock);
	m = pop_whole(c);
	if (m == NULL && c->parts != NULL) {
		m = pop(&c->parts, &c->last_part);
		c->whole_left = WHOLE_BETWEEN_FRAGMENTS;
	}
	lock_release(&c->lock);
	return m;
}

/* m comes again. The lock is held. */
static void put_part(struct channel *c, struct dist_message *m)
{
	if (m->last_follower == NULL)
		m->last_follower = &m->followers;
	append(&c->last_part, m);
}

/* All of m is sent: what follows it goes before the others. The lock is held. */
static void put_followers(struct channel *c, struct dist_message *m)
{
	if (m->followers == NULL)
		return;
	*m->last_follower = c->first;
	if (c->first == NULL)
		c->last = m->last_follower;
	c->first = m->followers;
	m->followers = NULL;
}

/* Who waits, when there is room; NULL: nobody, or there is none. Owns: the caller. The lock is held. */
static Term *take_waiters_if_room(struct channel *c, size_t *n)
{
	if (!c->busy || c->queued_bytes >= atomic_load_explicit(&channel_busy_bytes, memory_order_relaxed))
		return NULL;
	if (PROBE_ON(dist__port_not_busy)) /* before it may be busy again */
		probe_dist__port_not_busy(c);
	return take_waiters(c, n);
}

void channel_done(struct channel *c, struct dist_message *m)
{
	Term *waiters = NULL, controller, sender = TERM_NONE;
	size_t n = 0;
	bool keep, told = false;

	lock_acquire(&c->lock);
	keep = m->fragments_left > 0 && c->state == CHANNEL_UP;
	if (keep)
		put_part(c, m);
	else if (c->state == CHANNEL_UP)
		put_followers(c, m);
	if (!keep && c->state == CHANNEL_UP) {
		c->queued_bytes -= m->counted_bytes;
		waiters = take_waiters_if_room(c, &n);
		sender = end_large(c, m, &told);
		if (told && !is_told_busy(c) && PROBE_ON(dist__port_not_busy))
			probe_dist__port_not_busy(c);
	}
	controller = c->controller;
	lock_release(&c->lock);
	resume(controller, waiters, n);
	if (sender != TERM_NONE)
		resume_one(controller, sender, told);
	if (!keep) {
		free_messages(m->followers);
		dist_message_free(m);
	}
}

void channel_wait(struct channel *c, Process *p)
{
	struct large_sender *large;
	Term controller;
	bool waits, told;

	if ((p->flags & PF_ASYNC_DIST) || (atomic_load(&p->state) & PS_EXITING))
		return;
	lock_acquire(&c->lock);
	controller = c->controller;
	large = find_large(c, p->id);
	waits = (c->busy || large != NULL) && c->state != CHANNEL_DOWN;
	if (waits && large != NULL)
		large->waits = true;
	else if (waits)
		add_waiter(c, p->id);
	told = waits && (c->busy || large->fills);
	if (told && PROBE_ON(dist__port_busy)) /* before it may be resumed */
		probe_dist__port_busy(c, p->id);
	lock_release(&c->lock);
	if (!waits)
		return;
	if (told && unlikely(trace_active) && controller != TERM_NONE)
		trace_hooks.dist_busy(p, controller);
	process_suspend_self(p); /* whoever resumes it does so by a signal, which it handles later */
}

bool channel_is_busy(struct channel *c)
{
	bool busy;

	lock_acquire(&c->lock);
	busy = c->busy;
	lock_release(&c->lock);
	return busy;
}

void channel_wake_port(struct channel *c)
{
	bool submit;

	lock_acquire(&c->lock);
	submit = c->port != NULL && !c->output_waits && c->state == CHANNEL_UP;
	if (submit) {
		c->output_waits = true;
		channel_ref(c); /* the task's */
	}
	lock_release(&c->lock);
	if (submit)
		port_submit(c->port, &c->output);
}

/* ---- up and down */

/* Takes out of the queue what the other node, whose flags are known now, cannot take. The lock is held. */
static struct dist_message *take_refused(struct channel *c)
{
	struct dist_message *taken = NULL, **end = &taken, **at = &c->first;

	while (*at != NULL) {
		struct dist_message *m = *at;

		if (control_goes(m->needs, m->unless, c->flags)) {
			at = &m->next;
			continue;
		}
		*at = m->next;
		c->queued_bytes -= m->counted_bytes;
		m->next = NULL;
		*end = m;
		end = &m->next;
	}
	c->last = at;
	return taken;
}

/* Of fragments of messages that are not whole, in one connection: half of the machine's memory. */
static size_t held_max_bytes(void)
{
	return (size_t)sysconf(_SC_PHYS_PAGES) / 2 * (size_t)sysconf(_SC_PAGESIZE);
}

bool channel_connect(struct channel *c, Term controller, struct port *port, uint64_t flags)
{
	bool ok, has_headers = (flags & (DIST_HEADER_ATOM_CACHE | DIST_FRAGMENTS)) != 0;

	lock_acquire(&c->lock);
	ok = c->state == CHANNEL_PENDING;
	if (ok) {
		c->state = CHANNEL_UP;
		c->controller = controller;
		c->flags = flags;
		c->reader = has_headers ? dist_reader_new(held_max_bytes()) : NULL;
		c->writer = has_headers ? dist_writer_new() : NULL;
		c->port = port;
	}
	lock_release(&c->lock);
	return ok;
}

void channel_tell_up(struct channel *c)
{
	struct dist_message *refused = NULL;
	Term *waiters = NULL;
	size_t n = 0;
	bool sends;

	lock_acquire(&c->lock);
	if (c->state == CHANNEL_UP) {
		refused = take_refused(c);
		waiters = take_waiters_if_room(c, &n);
	}
	sends = c->first != NULL;
	lock_release(&c->lock);
	refuse_messages(refused);
	resume(c->controller, waiters, n);
	node_monitor_tell(&(struct node_change){ am_nodeup, c->node, c->id, c->flags & DIST_PUBLISHED ? am_visible :
						 am_hidden, TERM_NONE });
	if (sends)
		channel_wake_port(c);
}

static void tell_down(const struct channel *c, const Term *pids, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		struct signal *s = signal_new(SIG_NODE_DOWN);

		s->connection = c->id;
		signal_send(pids[i], s);
	}
}

enum channel_state channel_down(struct channel *c, Term reason)
{
	enum channel_state before;
	struct dist_message *messages, *parts;
	Term *waiters;
	size_t n;

	lock_acquire(&c->lock);
	before = c->state;
	if (before == CHANNEL_DOWN) {
		lock_release(&c->lock);
		return before;
	}
	c->state = CHANNEL_DOWN;
	messages = c->first;
	parts = c->parts;
	c->first = c->parts = NULL;
	c->last = &c->first;
	c->last_part = &c->parts;
	c->queued_bytes = 0;
	end_all_large(c);
	waiters = take_waiters(c, &n);
	tidy_concerned(c); /* nobody joins them any more */
	lock_release(&c->lock);
	leave_table(c);
	free_messages(messages);
	free_messages(parts);
	resume(c->controller, waiters, n);
	tell_down(c, c->concerned, c->concerned_count);
	if (before == CHANNEL_UP)
		node_monitor_tell(&(struct node_change){ am_nodedown, c->node, c->id, c->flags & DIST_PUBLISHED ?
							 am_visible : am_hidden, reason });
	return before;
}

/* For who reads our memory from outside. */
static const uint32_t layout_numbers[] = {
#define LAYOUT_CHANNELS LAYOUT_NUMBER
#include "layout.def"
};
LAYOUT_PART(layout_channels, table);
