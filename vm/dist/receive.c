/* SPDX-License-Identifier: Apache-2.0 */
/* What comes from other nodes: control messages become signals. The bytes are another node's, which knows the cookie
 * and may be wrong all the same: what is no message ends the connection, and nothing else. */
#include "base/alloc.h"
#include "data/etf.h"
#include "dist/control.h"
#include "dist/dist.h"
#include "dist/dist_probe.h"
#include "dist/dist_packet.h"
#include "heap/copy.h"
#include "proc/probe.h"
#include "proc/registry.h"
#include "proc/request.h"
#include "proc/seq_token.h"
#include "term/node.h"

enum { CONTROL_ELEMENTS_MAX = 8 };

/* One message that is being read. Its terms are on the heap. */
struct incoming {
	struct channel *channel;
	struct heap *heap;
	const uint8_t *payload;  /* not read yet */
	size_t payload_bytes;
	const struct dist_terms *terms; /* NULL: the terms have versions, and no references to atoms */
	size_t arity;            /* of control, with the operation */
	const Term *control;     /* control[1] is the operation */
};

/* ---- reading */

/* The next term; the rest is payload. Fails: false. */
static bool read_term(struct incoming *m, Term *t)
{
	size_t used;
	int status;

	if (m->terms != NULL)
		status = etf_decode_atoms(m->payload, m->payload_bytes, m->terms->owned, m->terms->atoms,
					  m->terms->atom_count, m->heap, t, &used);
	else
		status = etf_decode_to_heap(m->payload, m->payload_bytes, 0, m->heap, t, &used);
	if (status != 0)
		return false;
	m->payload += used;
	m->payload_bytes -= used;
	return true;
}

/* What follows the control tuple, all of it. Fails: false. */
static bool read_payload(struct incoming *m, Term *payload)
{
	return read_term(m, payload) && m->payload_bytes == 0;
}

/* Does it name a process of the node at the other end? */
static bool is_theirs(const struct incoming *m, Term t)
{
	return (term_has_sub(t, SUB_XPID) || term_has_sub(t, SUB_XREF)) && node_of(t).name == m->channel->node;
}

/* Of an earlier life of this node: nobody has it any more. */
static bool is_outlived(Term t)
{
	return (term_has_sub(t, SUB_XPID) || term_has_sub(t, SUB_XREF)) && node_of(t).name == node_self().name;
}

/* A reason stands at that place of the tuple, or follows it when the tuple ends before. */
static bool read_reason(struct incoming *m, size_t at, Term *reason)
{
	if (m->arity == at) {
		*reason = m->control[at];
		return m->payload_bytes == 0;
	}
	return m->arity == at - 1 && read_payload(m, reason);
}

/* ---- messages */

/* The sequential trace token at that place of the control tuple; NIL: there is none, or it is no such token. Who sent
 * it is a process, or, in the refusal of a request to spawn, the node. */
static Term token_at(const struct incoming *m, size_t at)
{
	Term t = m->arity >= at ? m->control[at] : NIL;

	if (!term_is_tuple_of(t, 5))
		return NIL;
	if (!term_is_pid(tuple_get(t, SEQ_TOKEN_FROM)) && !term_is_atom(tuple_get(t, SEQ_TOKEN_FROM)))
		return NIL;
	if (!term_is_small(tuple_get(t, SEQ_TOKEN_FLAGS)) || !term_is_small(tuple_get(t, SEQ_TOKEN_SERIAL)) ||
	    !term_is_small(tuple_get(t, SEQ_TOKEN_PREVIOUS)))
		return NIL;
	return t;
}

/* The token is the last element of a tuple that has more than so many. */
static Term read_token(const struct incoming *m, size_t arity)
{
	return token_at(m, arity + 1);
}

/* A copy of message, of its token (or NIL), and of the alias it is for (or TERM_NONE), which may give it priority. */
static void deliver_with(struct incoming *m, Term to, Term alias, Term message, Term token, bool high)
{
	size_t words = copy_size_words(message);
	struct signal *s = signal_new_message(words + copy_size_words(token) + peer_id_words(alias));
	Term *top = s->fragment->words;

	s->from = m->channel->node;
	s->term = copy_term(message, &top, &s->fragment->off_heap);
	s->words = words;
	s->token = copy_term(token, &top, &s->fragment->off_heap);
	s->ref = peer_put_id(alias, &top, &s->fragment->off_heap);
	s->connection = m->channel->id;
	s->high = high;
	if (PROBE_ON(request__step))
		request_sent(NULL, to, message);
	signal_send(to, s);
}

static void deliver(struct incoming *m, Term to, Term alias, Term message, Term token)
{
	deliver_with(m, to, alias, message, token, false);
}

static bool take_send(struct incoming *m, Term to)
{
	Term message;

	if (!term_is_pid(to) || !read_payload(m, &message))
		return false;
	if (term_is_local_pid(to))
		deliver(m, to, TERM_NONE, message, read_token(m, 3));
	return true;
}

static bool take_named_send(struct incoming *m, Term name)
{
	Term message, to;

	if (!term_is_atom(name) || !read_payload(m, &message))
		return false;
	to = registry_whereis(name);
	if (to != TERM_NONE && term_is_local_pid(to))
		deliver(m, to, TERM_NONE, message, read_token(m, 4));
	else if (to != TERM_NONE)
		message_send(NULL, to, message);
	return true;
}

static bool take_alias_send(struct incoming *m, Term alias)
{
	Term message;

	if (!term_is_ref(alias) || !read_payload(m, &message))
		return false;
	if (term_is_local_ref(alias) && ref_tag(alias) != 0)
		deliver(m, ref_tag(alias), alias, message, read_token(m, 3));
	return true;
}

/* ---- links */

static bool take_link(struct incoming *m, Term from, Term to)
{
	uint32_t connection = m->channel->id;

	if (!is_theirs(m, from) || !term_is_pid(to))
		return false;
	if (term_is_local_pid(to))
		channel_concern(m->channel, to);
	if (!term_is_local_pid(to) || !signal_send_pair(SIG_LINK, from, to, TERM_NONE, &connection))
		signal_send_reason(SIG_LINK_EXIT, to, from, TERM_NONE, am_noproc);
	return true;
}

/* The number is theirs; ours are smaller than any that an immediate cannot hold. */
static bool take_unlink(struct incoming *m, enum signal_kind kind, Term id, Term from, Term to)
{
	uint32_t connection = m->channel->id;

	if (!is_theirs(m, from) || !term_is_pid(to) || !term_is_small(id) || small_value(id) < 0)
		return false;
	if ((!term_is_local_pid(to) || !signal_send_pair(kind, from, to, id, &connection)) && kind == SIG_UNLINK &&
	    !is_outlived(to))
		signal_send_plain(SIG_UNLINK_ACK, to, from, id);
	return true;
}

static bool take_old_unlink(struct incoming *m, Term from, Term to)
{
	uint32_t connection = m->channel->id;

	if (!is_theirs(m, from) || !term_is_pid(to))
		return false;
	if (term_is_local_pid(to))
		signal_send_pair(SIG_UNLINK, from, to, SMALL(0), &connection);
	return true;
}

/* With a token, the reason is the fifth. */
static bool take_exit(struct incoming *m, enum signal_kind kind, Term from, Term to, size_t reason_at)
{
	Term reason, token = reason_at == 5 ? token_at(m, 4) : NIL;

	if (!is_theirs(m, from) || !read_reason(m, reason_at, &reason))
		return false;
	if (term_is_local_pid(to))
		signal_send_reason_from(m->channel->id, kind, from, to, TERM_NONE, reason, token, false);
	return term_is_pid(to) || term_is_local_port(to);
}

/* ---- monitors */

/* watched: `to`, or the name it was found by. */
static bool send_monitor(struct incoming *m, Term from, Term to, Term watched, Term ref)
{
	struct signal *s = signal_new_words(SIG_MONITOR, peer_id_words(from) + peer_id_words(ref), 0);
	Term *top = s->fragment->words;

	s->from = peer_put_id(from, &top, &s->fragment->off_heap);
	s->ref = peer_put_id(ref, &top, &s->fragment->off_heap);
	s->term = term_is_atom(watched) ? watched : NIL;
	s->connection = m->channel->id;
	return signal_send(to, s);
}

static bool take_monitor(struct incoming *m, Term from, Term watched, Term ref)
{
	Term to = term_is_atom(watched) ? registry_whereis(watched) : watched;

	if (!is_theirs(m, from) || !is_theirs(m, ref) || !term_has_sub(ref, SUB_XREF))
		return false;
	if (!term_is_atom(watched) && !term_is_pid(watched))
		return false;
	if (to != TERM_NONE && term_is_local_pid(to)) {
		channel_concern(m->channel, to);
		if (send_monitor(m, from, to, watched, ref))
			return true;
	}
	signal_send_reason(SIG_DOWN, watched, from, ref, am_noproc);
	return true;
}

static bool take_demonitor(struct incoming *m, Term from, Term watched, Term ref)
{
	uint32_t connection = m->channel->id;
	Term to = term_is_atom(watched) ? registry_whereis(watched) : watched;

	if (!is_theirs(m, from) || !term_is_ref(ref) || (!term_is_atom(watched) && !term_is_pid(watched)))
		return false;
	if (to != TERM_NONE && term_is_local_pid(to) && term_has_sub(ref, SUB_XREF))
		signal_send_pair(SIG_DEMONITOR, from, to, ref, &connection);
	return true;
}

static bool take_down(struct incoming *m, Term watched, Term to, Term ref)
{
	Term reason;

	if (!term_is_pid(to) || !term_is_ref(ref) || !read_reason(m, 5, &reason))
		return false;
	if (!term_is_atom(watched) && !is_theirs(m, watched))
		return false;
	if (term_is_local_pid(to) && term_is_local_ref(ref))
		signal_send_reason_from(m->channel->id, SIG_DOWN, watched, to, ref, reason, NIL, false);
	return true;
}

/* ---- messages and exit signals by flags */

/* The process here that `to` names, by the flags; TERM_NONE: none. Fails: false: it is nothing of the kind. */
static bool find_receiver(unsigned flags, Term to, Term *pid)
{
	*pid = TERM_NONE;
	if (flags & ALTACT_ALIAS) {
		if (term_is_local_ref(to) && ref_tag(to) != 0)
			*pid = ref_tag(to);
		return term_is_ref(to);
	}
	*pid = flags & ALTACT_NAME && term_is_atom(to) ? registry_whereis(to) : to;
	if (*pid != TERM_NONE && !term_is_local_pid(*pid))
		*pid = TERM_NONE;
	return flags & ALTACT_NAME ? term_is_atom(to) : term_is_pid(to);
}

static bool take_altact(struct incoming *m, Term bits, Term from, Term to)
{
	unsigned flags = term_is_small(bits) ? (unsigned)small_value(bits) : 0;
	bool high = flags & ALTACT_PRIORITY;
	Term pid, payload, token = flags & ALTACT_TOKEN ? token_at(m, 5) : NIL,
	     alias = flags & ALTACT_ALIAS ? to : TERM_NONE;

	if (!term_is_small(bits) || !find_receiver(flags, to, &pid) || !read_payload(m, &payload) ||
	    (flags & ALTACT_EXIT && !is_theirs(m, from)))
		return false;
	if (pid == TERM_NONE)
		return true;
	if (flags & ALTACT_EXIT)
		signal_send_reason_from(m->channel->id, SIG_EXIT, from, pid, alias, payload, token, high);
	else
		deliver_with(m, pid, alias, payload, token, high);
	return true;
}

/* ---- the rest */

struct new_leader {
	struct fragment *fragment; /* NULL: leader is a local pid */
	Term leader;
};

static void set_group_leader(Process *p, void *arg)
{
	struct new_leader *l = arg;

	if (p != NULL)
		p->group_leader = copy_to_heap(l->leader, &p->heap);
	if (l->fragment != NULL)
		fragment_free(l->fragment);
	mem_free(l);
}

static bool take_group_leader(Term leader, Term to)
{
	struct new_leader *l;
	struct signal *s;

	if (!term_is_pid(leader) || !term_is_pid(to))
		return false;
	if (!term_is_local_pid(to))
		return true;
	l = mem_zalloc(sizeof(*l));
	l->fragment = copy_to_fragment(leader, &l->leader);
	s = signal_new(SIG_CALL);
	s->call = set_group_leader;
	s->arg = l;
	if (!process_is_alive(to)) {
		signal_free(s);
		set_group_leader(NULL, l);
		return true;
	}
	signal_send(to, s);
	return true;
}

static bool take_spawn_reply(struct incoming *m, Term ref, Term to, Term flags, Term result)
{
	struct signal *s;

	if (!term_is_ref(ref) || !term_is_pid(to) || !term_is_small(flags) ||
	    !(term_is_atom(result) || is_theirs(m, result)))
		return false;
	if (!term_is_local_ref(ref) || !term_is_local_pid(to))
		return true;
	s = dist_spawn_reply(m->channel, ref, result, flags, read_token(m, 5));
	if (process_is_alive(to)) {
		channel_concern(m->channel, to);
		signal_send(to, s);
	} else {
		signal_reject(to, s);
	}
	return true;
}

static bool take_spawn_request(struct incoming *m)
{
	Term arguments, tuple = term_from_boxed(m->control);

	return read_payload(m, &arguments) && dist_spawn_asked(m->channel, m->heap, tuple, arguments, read_token(m, 6));
}

/* Its tuple and its payload are as the table says. */
static bool dispatch(struct incoming *m)
{
	const Term *e = m->control;

	switch (small_value(e[1])) {
	case CONTROL_SEND:
	case CONTROL_SEND_TT:
	case CONTROL_SEND_SENDER:
	case CONTROL_SEND_SENDER_TT:
		return take_send(m, e[3]);
	case CONTROL_REG_SEND:
	case CONTROL_REG_SEND_TT:
		return take_named_send(m, e[4]);
	case CONTROL_ALIAS_SEND:
	case CONTROL_ALIAS_SEND_TT:
		return take_alias_send(m, e[3]);
	case CONTROL_ALTACT_SEND:
		return take_altact(m, e[2], e[3], e[4]);
	case CONTROL_LINK:
		return take_link(m, e[2], e[3]);
	case CONTROL_UNLINK:
		return take_old_unlink(m, e[2], e[3]);
	case CONTROL_UNLINK_ID:
		return take_unlink(m, SIG_UNLINK, e[2], e[3], e[4]);
	case CONTROL_UNLINK_ID_ACK:
		return take_unlink(m, SIG_UNLINK_ACK, e[2], e[3], e[4]);
	case CONTROL_EXIT:
	case CONTROL_PAYLOAD_EXIT:
		return take_exit(m, SIG_LINK_EXIT, e[2], e[3], 4);
	case CONTROL_EXIT_TT:
	case CONTROL_PAYLOAD_EXIT_TT:
		return take_exit(m, SIG_LINK_EXIT, e[2], e[3], 5);
	case CONTROL_EXIT2:
	case CONTROL_PAYLOAD_EXIT2:
		return take_exit(m, SIG_EXIT, e[2], e[3], 4);
	case CONTROL_EXIT2_TT:
	case CONTROL_PAYLOAD_EXIT2_TT:
		return take_exit(m, SIG_EXIT, e[2], e[3], 5);
	case CONTROL_MONITOR:
		return take_monitor(m, e[2], e[3], e[4]);
	case CONTROL_DEMONITOR:
		return take_demonitor(m, e[2], e[3], e[4]);
	case CONTROL_MONITOR_EXIT:
	case CONTROL_PAYLOAD_MONITOR_EXIT:
		return take_down(m, e[2], e[3], e[4]);
	case CONTROL_GROUP_LEADER:
		return take_group_leader(e[2], e[3]);
	case CONTROL_SPAWN_REQUEST:
	case CONTROL_SPAWN_REQUEST_TT:
		return take_spawn_request(m);
	case CONTROL_SPAWN_REPLY:
	case CONTROL_SPAWN_REPLY_TT:
		return take_spawn_reply(m, e[2], e[3], e[4], e[5]);
	default:
		return false;
	}
}

static bool read_message(struct incoming *m)
{
	const struct control_row *row;
	Term control;

	if (!read_term(m, &control))
		return false;
	if (!term_is_tuple(control) || tuple_arity(control) < 3 || !term_is_small(tuple_get(control, 1)))
		return false;
	m->arity = tuple_arity(control);
	m->control = boxed_ptr(control);
	row = control_row((uint64_t)small_value(m->control[1]));
	return control_has_arity(row, m->arity) && (m->payload_bytes > 0) == row->has_payload && dispatch(m);
}

/* terms: NULL, or those that stand at `bytes`. */
static bool take_message(struct channel *c, const uint8_t *bytes, size_t n, const struct dist_terms *terms)
{
	struct heap h;
	struct incoming m = { .channel = c, .heap = &h, .payload = bytes, .payload_bytes = n, .terms = terms };
	bool ok;

	heap_init(&h, HEAP_MIN_WORDS);
	ok = read_message(&m);
	heap_free(&h);
	return ok;
}

static bool take_packet(struct channel *c, const uint8_t *bytes, size_t n)
{
	struct dist_terms terms;
	bool ok = false;

	switch (dist_reader_read(c->reader, bytes, n, &terms)) {
	case DIST_READ_WHOLE:
		ok = take_message(c, terms.bytes, terms.size_bytes, &terms);
		if (terms.owned != NULL)
			binary_unref(terms.owned);
		return ok;
	case DIST_READ_PART:
		return true;
	default:
		return false;
	}
}

bool dist_receive(struct channel *c, const uint8_t *bytes, size_t n)
{
	atomic_fetch_add_explicit(&c->received, 1, memory_order_relaxed);
	if (n == 0) /* a tick */
		return true;
	if (c->reader == NULL && bytes[0] != PASS_THROUGH)
		return false;
	if (PROBE_ON(dist__input))
		probe_dist__input(c, n);
	return c->reader != NULL ? take_packet(c, bytes, n) : take_message(c, bytes + 1, n - 1, NULL);
}
