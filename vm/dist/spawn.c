/* SPDX-License-Identifier: Apache-2.0 */
/* Processes at other nodes: asked for, and born for those who asked there. */
#include "dist/control.h"
#include "dist/dist.h"
#include "heap/copy.h"
#include "proc/message.h"
#include "proc/process_life.h"
#include "proc/seq_token.h"
#include "proc/spawn_opts.h"
#include "proc/tracee.h"
#include "term/node.h"

/* ---- asking */

/* What the other node is to do: the answer is ours, and the options of the monitor are. */
static Term clean_options(struct heap *h, Term options)
{
	Term clean = NIL;

	for (; term_is_cons(options); options = cons_tail(options)) {
		Term option = cons_head(options), key = term_is_tuple_of(option, 2) ? tuple_get(option, 1) : NIL;

		if (key == am_monitor)
			option = am_monitor;
		if (key != am_reply && key != am_reply_tag)
			clean = heap_cons(h, option, clean);
	}
	return clean;
}

static struct peer *insert_request(Process *p, const struct channel *c, const struct spawn_request *r, Term ref)
{
	struct heap *h = &p->heap;
	Term monitor_tag = r->options.monitor_tag;
	Term tags = heap_tuple(h, r->reply_tag, monitor_tag == TERM_NONE ? NIL : heap_cons(h, monitor_tag, NIL));
	struct peer *n = peer_insert(&p->monitors, PEER_SPAWN, ref, TERM_NONE, tags);

	n->wishes = (r->reply & REPLY_SUCCESS ? REMOTE_WANTS_OK : 0) |
		    (r->reply & REPLY_ERROR ? REMOTE_WANTS_ERROR : 0) |
		    (r->options.monitor ? REMOTE_WANTS_MONITOR : 0);
	n->alias = r->options.alias;
	n->connection = c->id;
	return n;
}

struct signal *dist_spawn_reply(const struct channel *c, Term ref, Term result, Term flags, Term token)
{
	Term pair[3] = { HEADER(2, SUB_TUPLE), result, flags }, t = term_from_boxed(pair);
	struct signal *s =
		signal_new_words(SIG_SPAWNED, copy_flat_size_words(t) + copy_size_words(token) + peer_id_words(ref), 0);
	Term *top = s->fragment->words;

	s->term = copy_term_whole(t, &top, &s->fragment->off_heap);
	s->token = copy_term(token, &top, &s->fragment->off_heap);
	s->from = TERM_NONE;
	s->ref = peer_put_id(ref, &top, &s->fragment->off_heap);
	s->connection = c->id;
	return s;
}

static bool is_pending(struct channel *c)
{
	bool pending;

	lock_acquire(&c->lock);
	pending = c->state == CHANNEL_PENDING;
	lock_release(&c->lock);
	return pending;
}

/* While nobody knows what the node can do, the request goes with what is to be heard when it cannot. Fails: why not. */
static Term put_request(Process *p, struct channel *c, const Term *control, size_t n, Term arguments, bool *busy)
{
	struct dist_message *m = dist_message_make(c, p->id, n, control, arguments);

	if (m == NULL)
		return am_system_limit;
	if (is_pending(c)) {
		m->asker = p->id;
		m->refusal = dist_spawn_reply(c, control[1], am_notsup, SMALL(0), am_undefined);
	}
	return channel_put(c, m, p->id, busy) ? TERM_NONE : am_noconnection;
}

static bool cannot_spawn(struct channel *c)
{
	bool cannot;

	lock_acquire(&c->lock);
	cannot = c->state == CHANNEL_UP && !(c->flags & DIST_SPAWN);
	lock_release(&c->lock);
	return cannot;
}

/* {spawn_request, Ref, Parent, Leader, {M, F, Arity}, Options}: what a tracer hears of a request, of which control is
 * the tuple. */
static Term request_message(struct heap *h, const Term *control)
{
	const Term fields[6] = { am_spawn_request, control[1], control[2], control[3], control[4], control[5] };

	return heap_tuple_array(h, 6, fields);
}

/* The sequential trace token goes with the request, which counts as two messages: the second has the arguments. */
static size_t add_token(Process *p, Term node, Term *control, Term arguments)
{
	if (likely(p->seq_token == NIL))
		return 6;
	message_count_send(p, node, request_message(&p->heap, control));
	message_count_send(p, node, arguments);
	control[0] = SMALL(CONTROL_SPAWN_REQUEST_TT);
	control[6] = p->seq_token;
	return 7;
}

Term dist_spawn(Process *p, Term node, Term mfa, Term options, const struct spawn_request *r, Term ref)
{
	struct channel *c = dist_connect(node);
	struct heap *h = &p->heap;
	Term arguments = tuple_get(mfa, 3), call, control[7];
	bool busy = false;
	struct peer *n;
	size_t elements;
	Term failure;

	if (c == NULL)
		return am_noconnection;
	if (cannot_spawn(c)) {
		channel_unref(c);
		return am_notsup;
	}
	call = heap_tuple(h, tuple_get(mfa, 1), tuple_get(mfa, 2), SMALL((uint64_t)list_length(arguments)));
	term_copy(control, (Term[]){ SMALL(CONTROL_SPAWN_REQUEST), ref, p->id, p->group_leader, call,
				     clean_options(h, options) }, 6);
	n = insert_request(p, c, r, ref);
	elements = add_token(p, node, control, arguments);
	failure = put_request(p, c, control, elements, arguments, &busy);
	if (failure != TERM_NONE) {
		peer_remove(&p->monitors, n);
		channel_unref(c);
		return failure;
	}
	if (busy)
		channel_wait(c, p);
	channel_unref(c);
	return TERM_NONE;
}

/* ---- asked */

struct birth {
	struct channel *channel;
	Term ref, parent, leader;
	Term request, arguments; /* request: as a tuple, see request_message; TERM_NONE without a token */
	Term token;              /* the sequential trace token that came with the request, or NIL */
	struct heap *heap;       /* of what is made for the token */
	bool link, monitor;
};

/* With that token, or NIL. */
static void answer(const struct birth *b, unsigned flags, Term result, Term token)
{
	bool busy;
	Term control[] = { SMALL((uint64_t)(token == NIL ? CONTROL_SPAWN_REPLY : CONTROL_SPAWN_REPLY_TT)), b->ref,
			   b->parent, SMALL((uint64_t)flags), result, token };

	dist_put(b->channel, term_is_pid(result) ? result : TERM_NONE, token == NIL ? 5 : 6, control, TERM_NONE,
		 TERM_NONE, &busy);
}

/* The token with another count, as it came with the request; the token that came was counted for the arguments. */
static Term token_with(struct heap *h, Term token, int64_t serial, Term from, int64_t previous)
{
	const Term fields[5] = { tuple_get(token, SEQ_TOKEN_FLAGS), tuple_get(token, SEQ_TOKEN_LABEL),
				 term_from_small(serial), from, term_from_small(previous) };

	return heap_tuple_array(h, 5, fields);
}

static int64_t token_serial(Term token)
{
	return small_value(tuple_get(token, SEQ_TOKEN_SERIAL));
}

static Term request_token(struct heap *h, Term token)
{
	return token_with(h, token, token_serial(token) - 1, tuple_get(token, SEQ_TOKEN_FROM),
			  small_value(tuple_get(token, SEQ_TOKEN_PREVIOUS)));
}

/* The request failed: this node took it, and answers. */
static void refuse(const struct birth *b, Term reason)
{
	int64_t serial;
	Term token;

	if (b->token == NIL || trace_hooks.seq_node == NULL) {
		answer(b, 0, reason, b->token);
		return;
	}
	serial = token_serial(b->token);
	token = token_with(b->heap, b->token, serial, node_self().name, serial - 1);
	trace_hooks.seq_node(request_token(b->heap, b->token), am_receive, node_self().name, b->request);
	trace_hooks.seq_node(token, am_send, b->parent, heap_tuple(b->heap, am_spawn_reply, b->ref, am_error, reason));
	answer(b, 0, reason, token);
}

/* The child took a message with that token. */
static void take_counted(Process *p, Term token, Term message)
{
	seq_token_receive(p, token);
	if (p->seq_token != NIL && trace_hooks.seq_received != NULL)
		trace_hooks.seq_received(p, token, message);
}

/* The child takes the request, answers it, and takes the arguments. */
static void answer_counted(Process *p, const struct birth *b, unsigned flags)
{
	take_counted(p, request_token(&p->heap, b->token), b->request);
	if (p->seq_token == NIL) { /* every token is being forgotten */
		answer(b, flags, p->id, NIL);
		return;
	}
	message_count_send(p, b->parent, heap_tuple(&p->heap, am_spawn_reply, b->ref, am_ok, p->id));
	answer(b, flags, p->id, p->seq_token);
	take_counted(p, copy_to_heap(b->token, &p->heap), b->arguments);
}

/* The answer goes before anything that the child may send. */
static void born(Process *p, void *arg)
{
	const struct birth *b = arg;
	uint32_t connection = b->channel->id;
	unsigned flags = (b->link ? REMOTE_SPAWN_LINKED : 0) | (b->monitor ? REMOTE_SPAWN_MONITORED : 0);

	p->group_leader = copy_to_heap(b->leader, &p->heap);
	if (b->link)
		peer_insert(&p->links, PEER_LINK, b->parent, b->parent, TERM_NONE)->connection = connection;
	if (b->monitor)
		peer_insert(&p->monitored_by, PEER_WATCHER, b->ref, b->parent, TERM_NONE)->connection = connection;
	if (b->link || b->monitor)
		channel_concern(b->channel, p->id);
	if (unlikely(b->token != NIL))
		answer_counted(p, b, flags);
	else
		answer(b, flags, p->id, NIL);
}

static bool is_call(Term call, Term arguments)
{
	return term_is_tuple_of(call, 3) && term_is_atom(tuple_get(call, 1)) && term_is_atom(tuple_get(call, 2)) &&
	       term_is_small(tuple_get(call, 3)) && small_value(tuple_get(call, 3)) == list_length(arguments);
}

bool dist_spawn_asked(struct channel *c, struct heap *h, Term control, Term arguments, Term token)
{
	struct birth b = { .channel = c, .ref = tuple_get(control, 2), .parent = tuple_get(control, 3),
			   .leader = tuple_get(control, 4), .arguments = arguments, .token = token };
	Term call = tuple_get(control, 5), options = tuple_get(control, 6);
	struct spawn_request r;

	if (!term_has_sub(b.ref, SUB_XREF) || !term_has_sub(b.parent, SUB_XPID) || node_of(b.parent).name != c->node ||
	    !term_is_pid(b.leader) || !is_call(call, arguments) || list_length(options) < 0)
		return false;
	b.heap = h;
	if (token != NIL)
		b.request = request_message(h, boxed_ptr(control) + 1);
	if (!spawn_opts_read(options, false, &r)) {
		refuse(&b, am_badopt);
		return true;
	}
	b.link = r.options.link;
	b.monitor = r.options.monitor;
	r.options.born = born;
	r.options.born_arg = &b;
	if (process_spawn(NULL, tuple_get(call, 1), tuple_get(call, 2), arguments, &r.options, NULL) == TERM_NONE)
		refuse(&b, am_system_limit);
	return true;
}
