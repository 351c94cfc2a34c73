/* SPDX-License-Identifier: Apache-2.0 */
/* What processes here have for processes there becomes control messages. */
#include "base/alloc.h"
#include "data/etf.h"
#include "dist/control.h"
#include "dist/dist.h"
#include "dist/dist_probe.h"
#include "dist/dist_packet.h"
#include "heap/copy.h"
#include "proc/exc.h"
#include "proc/sched.h"
#include "proc/seq_token.h"
#include "term/node.h"

enum { CONTROL_WORDS = 8, OLD_LABEL_MAX = INT32_MAX >> 4 };

/* A large term is written while others run. atoms, pieces: see etf_encode_atoms; no atoms: with its version, all of it.
 * Fails: NULL, it is larger than the format can tell. */
static struct binary *encode(Term t, struct etf_atoms *atoms, struct etf_pieces *pieces)
{
	size_t words = copy_size_telling(t, EXC_WORDS_AT_ONCE, sched_lend);
	struct binary *b = atoms != NULL ? etf_encode_atoms(t, atoms, pieces) : etf_encode(t, 0);

	if (unlikely(words > EXC_WORDS_AT_ONCE))
		sched_reclaim();
	return b;
}

static size_t all_bytes(const struct binary *written, const struct etf_pieces *pieces)
{
	size_t bytes = written->size_bytes;

	for (size_t i = 0; i < pieces->count; i++)
		bytes += pieces->all[i].size_bytes;
	return bytes;
}

static struct dist_message *new_message(Term sender, Term control, Term payload, struct etf_atoms *atoms,
					size_t piece_bytes)
{
	struct etf_pieces pieces = { .least_bytes = piece_bytes };
	struct binary *first = encode(control, atoms, NULL);
	struct binary *second = first != NULL && payload != TERM_NONE ? encode(payload, atoms, &pieces) : NULL;
	unsigned count = atoms != NULL ? atoms->count : 0;
	struct dist_message *m;

	if (first == NULL)
		return NULL;
	if (second == NULL && payload != TERM_NONE) {
		binary_unref(first);
		return NULL;
	}
	m = mem_zalloc(sizeof(*m) + count * sizeof(Term));
	m->control = first;
	m->payload = second;
	m->pieces = pieces;
	m->payload_bytes = second != NULL ? all_bytes(second, &pieces) : 0;
	m->sender = term_is_local_pid(sender) || term_is_local_port(sender) ? sender : TERM_NONE;
	m->refers = atoms != NULL;
	m->atom_count = (uint8_t)count;
	if (count > 0)
		term_copy(m->atoms, atoms->atoms, count);
	return m;
}

/* Is it known that the node at the other end can do that? It is not while the connection is pending. */
static bool can(struct channel *c, uint64_t flag)
{
	bool can;

	lock_acquire(&c->lock);
	can = c->state != CHANNEL_PENDING && (c->flags & flag) != 0;
	lock_release(&c->lock);
	return can;
}

struct dist_message *dist_message_make(struct channel *c, Term sender, size_t n, const Term *control, Term payload)
{
	Term words[1 + CONTROL_WORDS] = { HEADER(n, SUB_TUPLE) };
	struct etf_atoms atoms;
	bool refers = can(c, DIST_HEADER_ATOM_CACHE), fragments = can(c, DIST_FRAGMENTS);
	const struct control_row *row = control_row((uint64_t)small_value(control[0]));
	struct dist_message *m;

	ENSURE(n <= CONTROL_WORDS && control_has_arity(row, n) && (payload != TERM_NONE) == row->has_payload);
	term_copy(words + 1, control, n);
	if (refers)
		etf_atoms_init(&atoms);
	m = new_message(sender, term_from_boxed(words), payload, refers ? &atoms : NULL,
			fragments ? DIST_PIECE_BYTES : SIZE_MAX);
	if (m != NULL) {
		m->needs = row->needs;
		m->unless = row->unless;
	}
	return m;
}

bool dist_put(struct channel *c, Term sender, size_t n, const Term *control, Term payload, Term concerned, bool *busy)
{
	struct dist_message *m = dist_message_make(c, sender, n, control, payload);

	if (m != NULL)
		return channel_put(c, m, concerned, busy);
	dist_end_channel(c, am_killed);
	return false;
}

#define PUT(c, sender, payload, concerned, busy, ...)                                                             \
	dist_put(c, sender, sizeof((Term[]){ __VA_ARGS__ }) / sizeof(Term), (Term[]){ __VA_ARGS__ }, payload,     \
		 concerned, busy)

/* ---- signals */

/* The reason stands in the tuple, or follows it. A head may end with a sequential trace token. */
static bool put_reason(struct channel *c, unsigned plain, unsigned with_payload, const Term *head, size_t n,
		       Term reason, bool *busy)
{
	bool follows = can(c, DIST_EXIT_PAYLOAD);
	Term control[CONTROL_WORDS];

	control[0] = SMALL((uint64_t)(follows ? with_payload : plain));
	term_copy(control + 1, head, n);
	control[n + 1] = reason;
	return dist_put(c, head[0], follows ? n + 1 : n + 2, control, follows ? reason : TERM_NONE, TERM_NONE, busy);
}

/* A node that may not know unlinks with a number gets the old kind in their place, which it does not acknowledge: the
 * link is then gone at once. Which of the two messages goes is decided when it is known what that node can do. */
static bool put_unlink(struct channel *c, Term to, const struct signal *s, bool *busy)
{
	const Term control[] = { SMALL(CONTROL_UNLINK_ID), s->ref, s->from, to };
	bool certain = can(c, DIST_UNLINK_ID);
	struct dist_message *m = dist_message_make(c, s->from, 4, control, TERM_NONE);

	if (!certain) {
		m->asker = s->from;
		m->refusal = signal_new_plain(SIG_UNLINK_ACK, to, s->ref);
	}
	if (!channel_put(c, m, TERM_NONE, busy))
		return false;
	return certain || PUT(c, s->from, TERM_NONE, TERM_NONE, busy, SMALL(CONTROL_UNLINK), s->from, to);
}

/* A peer that has not said so reads labels of sequential traces only when they are small integers of a 32-bit node.
 * While it is not known what it can do, it is taken for such a one. */
static bool reads_token(struct channel *c, Term token)
{
	Term label = tuple_get(token, SEQ_TOKEN_LABEL);
	bool small = term_is_small(label) && small_value(label) >= -OLD_LABEL_MAX - 1 &&
		     small_value(label) <= OLD_LABEL_MAX;

	return small || can(c, DIST_BIG_SEQTRACE_LABELS);
}

/* The end of a linked process, with its sequential trace token if it has one. */
static bool put_link_exit(struct channel *c, Term to, const struct signal *s, bool *busy)
{
	Term head[] = { s->from, to, s->token };

	if (s->token == NIL || !reads_token(c, s->token))
		return put_reason(c, CONTROL_EXIT, CONTROL_PAYLOAD_EXIT, head, 2, s->term, busy);
	return put_reason(c, CONTROL_EXIT_TT, CONTROL_PAYLOAD_EXIT_TT, head, 3, s->term, busy);
}

/* A peer that does not know of these is not told. */
static bool put_alias_exit(struct channel *c, Term to, const struct signal *s, bool *busy)
{
	unsigned flags = ALTACT_ALIAS | ALTACT_EXIT | (s->high ? ALTACT_PRIORITY : 0);

	return PUT(c, s->from, s->term, TERM_NONE, busy, SMALL(CONTROL_ALTACT_SEND), SMALL((uint64_t)flags), s->from,
		   to);
}

static bool put_signal(struct channel *c, Term to, const struct signal *s, bool *busy)
{
	switch ((enum signal_kind)s->kind) {
	case SIG_LINK:
		return PUT(c, s->from, TERM_NONE, s->from, busy, SMALL(CONTROL_LINK), s->from, to);
	case SIG_UNLINK:
		return put_unlink(c, to, s, busy);
	case SIG_UNLINK_ACK:
		return PUT(c, s->from, TERM_NONE, TERM_NONE, busy, SMALL(CONTROL_UNLINK_ID_ACK), s->ref, s->from, to);
	case SIG_MONITOR:
		return PUT(c, s->from, TERM_NONE, s->from, busy, SMALL(CONTROL_MONITOR), s->from, to, s->ref);
	case SIG_DEMONITOR:
		return PUT(c, s->from, TERM_NONE, TERM_NONE, busy, SMALL(CONTROL_DEMONITOR), s->from, to, s->ref);
	case SIG_EXIT:
		if (term_is_ref(to))
			return put_alias_exit(c, to, s, busy);
		return put_reason(c, CONTROL_EXIT2, CONTROL_PAYLOAD_EXIT2, (Term[]){ s->from, to }, 2, s->term, busy);
	case SIG_LINK_EXIT:
		return put_link_exit(c, to, s, busy);
	case SIG_DOWN:
		return put_reason(c, CONTROL_MONITOR_EXIT, CONTROL_PAYLOAD_MONITOR_EXIT,
				  (Term[]){ s->from, to, s->ref }, 3, s->term, busy);
	default:
		return false;
	}
}

/* Does the process that sends such a signal want the connection, or only to use one that is there? */
static bool wants_connection(enum signal_kind kind)
{
	return kind == SIG_LINK || kind == SIG_MONITOR || kind == SIG_EXIT;
}

/* The process that runs here sends it, by its own will. */
static Process *find_sender(const struct signal *s)
{
	Process *p = process_current();
	enum signal_kind kind = s->kind;

	if (p == NULL || p->id != s->from || (!wants_connection(kind) && kind != SIG_UNLINK && kind != SIG_DEMONITOR))
		return NULL;
	return p;
}

static bool send_signal(Term node, Term to, struct signal *s, uint32_t *connection)
{
	struct channel *c = wants_connection(s->kind) ? dist_connect(node) : channel_find(node);
	Process *sender = find_sender(s);
	bool ok = false, busy = false;

	if (c != NULL) {
		if ((s->kind == SIG_EXIT || s->kind == SIG_LINK_EXIT) && PROBE_ON(process__exit_signal__remote))
			probe_process__exit_signal__remote(c, to, s);
		ok = put_signal(c, to, s, &busy);
		if (connection != NULL)
			*connection = c->id;
		if (busy && sender != NULL)
			channel_wait(c, sender);
		channel_unref(c);
	}
	signal_free(s);
	return ok;
}

void dist_send_group_leader(Process *p, Term leader, Term pid)
{
	struct channel *c = dist_connect(node_of(pid).name);
	bool busy = false;

	if (c == NULL)
		return;
	PUT(c, p->id, TERM_NONE, TERM_NONE, &busy, SMALL(CONTROL_GROUP_LEADER), leader, pid);
	if (busy)
		channel_wait(c, p);
	channel_unref(c);
}

/* ---- messages */

struct message_form {
	unsigned plain, traced; /* the operation; with a sequential trace token as one more element */
	size_t n;
	Term parts[3];
};

static struct message_form message_form(struct channel *c, const Process *from, Term to, bool high)
{
	Term sender = from != NULL ? from->id : NIL;

	if (term_is_tuple(to))
		return (struct message_form){
			CONTROL_REG_SEND, CONTROL_REG_SEND_TT, 3, { sender, am_empty, tuple_get(to, 1) }
		};
	if (term_is_ref(to) && high && can(c, DIST_ALTACT_SIG))
		return (struct message_form){ CONTROL_ALTACT_SEND, CONTROL_ALTACT_SEND, 3,
					      { SMALL(ALTACT_ALIAS | ALTACT_PRIORITY), sender, to } };
	if (term_is_ref(to))
		return (struct message_form){ CONTROL_ALIAS_SEND, CONTROL_ALIAS_SEND_TT, 2, { sender, to } };
	if (from != NULL && can(c, DIST_SEND_SENDER))
		return (struct message_form){ CONTROL_SEND_SENDER, CONTROL_SEND_SENDER_TT, 2, { sender, to } };
	return (struct message_form){ CONTROL_SEND, CONTROL_SEND_TT, 2, { am_empty, to } };
}

static enum remote_result put_message(struct channel *c, Process *from, Term to, Term message, bool high, bool *busy)
{
	struct message_form form = message_form(c, from, to, high);
	struct dist_message *m;
	Term sender = from != NULL ? from->id : TERM_NONE, control[CONTROL_WORDS] = { SMALL((uint64_t)form.plain) };
	size_t n = 1 + form.n;

	term_copy(control + 1, form.parts, form.n);
	if (unlikely(from != NULL && from->seq_token != NIL)) {
		message_count_send(from, to, message);
		if (reads_token(c, from->seq_token)) {
			control[0] = SMALL((uint64_t)form.traced);
			if (form.traced == CONTROL_ALTACT_SEND)
				control[1] |= SMALL(ALTACT_TOKEN);
			control[n++] = from->seq_token;
		}
	}
	m = dist_message_make(c, sender, n, control, message);
	if (m == NULL)
		return REMOTE_TOO_LARGE;
	return channel_put(c, m, TERM_NONE, busy) ? REMOTE_SENT : REMOTE_NOT_CONNECTED;
}

static enum remote_result send_message(Process *from, Term to, Term message, unsigned flags)
{
	Term node = term_is_tuple(to) ? tuple_get(to, 2) : node_of(to).name;
	struct channel *c = flags & REMOTE_NO_CONNECT ? channel_find(node) : dist_connect(node);
	enum remote_result result;
	bool busy = false;

	if (c == NULL)
		return REMOTE_NOT_CONNECTED;
	if (from != NULL && PROBE_ON(message__send__remote))
		probe_message__send__remote(c, from, to, message);
	if ((flags & REMOTE_NO_SUSPEND) && !(from != NULL && from->flags & PF_ASYNC_DIST) && channel_is_busy(c))
		result = REMOTE_BUSY;
	else
		result = put_message(c, from, to, message, flags & REMOTE_HIGH, &busy);
	if (result == REMOTE_SENT && busy && from != NULL && !(flags & REMOTE_NO_SUSPEND))
		channel_wait(c, from);
	channel_unref(c);
	return result;
}

void dist_wire_send(void)
{
	remote_hooks = (struct remote_hooks){ .signal = send_signal, .send = send_message };
}
