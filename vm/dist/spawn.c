/* SPDX-License-Identifier: Apache-2.0 */
/* Processes at other nodes: asked for, and born for those who asked there. */
#include "dist/control.h"
#include "dist/dist.h"
#include "heap/copy.h"
#include "proc/spawn_opts.h"
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

struct signal *dist_spawn_reply(const struct channel *c, Term ref, Term result, Term flags)
{
	Term pair[3] = { HEADER(2, SUB_TUPLE), result, flags }, t = term_from_boxed(pair);
	struct signal *s = signal_new_words(SIG_SPAWNED, copy_flat_size_words(t) + peer_id_words(ref), 0);
	Term *top = s->fragment->words;

	s->term = copy_term_whole(t, &top, &s->fragment->off_heap);
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
static Term put_request(Process *p, struct channel *c, const Term *control, Term arguments, bool *busy)
{
	struct dist_message *m = dist_message_make(c, p->id, 6, control, arguments);

	if (m == NULL)
		return am_system_limit;
	if (is_pending(c)) {
		m->asker = p->id;
		m->refusal = dist_spawn_reply(c, control[1], am_notsup, SMALL(0));
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

Term dist_spawn(Process *p, Term node, Term mfa, Term options, const struct spawn_request *r, Term ref)
{
	struct channel *c = dist_connect(node);
	struct heap *h = &p->heap;
	Term arguments = tuple_get(mfa, 3), call, control[6];
	bool busy = false;
	struct peer *n;
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
	failure = put_request(p, c, control, arguments, &busy);
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
	bool link, monitor;
};

static void answer(const struct birth *b, unsigned flags, Term result)
{
	bool busy;
	Term control[] = { SMALL(CONTROL_SPAWN_REPLY), b->ref, b->parent, SMALL((uint64_t)flags), result };

	dist_put(b->channel, term_is_pid(result) ? result : TERM_NONE, 5, control, TERM_NONE, TERM_NONE, &busy);
}

/* The answer goes before anything that the child may send. */
static void born(Process *p, void *arg)
{
	const struct birth *b = arg;
	uint32_t connection = b->channel->id;

	p->group_leader = copy_to_heap(b->leader, &p->heap);
	if (b->link)
		peer_insert(&p->links, PEER_LINK, b->parent, b->parent, TERM_NONE)->connection = connection;
	if (b->monitor)
		peer_insert(&p->monitored_by, PEER_WATCHER, b->ref, b->parent, TERM_NONE)->connection = connection;
	if (b->link || b->monitor)
		channel_concern(b->channel, p->id);
	answer(b, (b->link ? REMOTE_SPAWN_LINKED : 0) | (b->monitor ? REMOTE_SPAWN_MONITORED : 0), p->id);
}

static bool is_call(Term call, Term arguments)
{
	return term_is_tuple_of(call, 3) && term_is_atom(tuple_get(call, 1)) && term_is_atom(tuple_get(call, 2)) &&
	       term_is_small(tuple_get(call, 3)) && small_value(tuple_get(call, 3)) == list_length(arguments);
}

bool dist_spawn_asked(struct channel *c, Term control, Term arguments)
{
	struct birth b = { .channel = c, .ref = tuple_get(control, 2), .parent = tuple_get(control, 3),
			   .leader = tuple_get(control, 4) };
	Term call = tuple_get(control, 5), options = tuple_get(control, 6);
	struct spawn_request r;

	if (!term_has_sub(b.ref, SUB_XREF) || !term_has_sub(b.parent, SUB_XPID) || node_of(b.parent).name != c->node ||
	    !term_is_pid(b.leader) || !is_call(call, arguments) || list_length(options) < 0)
		return false;
	if (!spawn_opts_read(options, false, &r)) {
		answer(&b, 0, am_badopt);
		return true;
	}
	b.link = r.options.link;
	b.monitor = r.options.monitor;
	r.options.born = born;
	r.options.born_arg = &b;
	if (process_spawn(NULL, tuple_get(call, 1), tuple_get(call, 2), arguments, &r.options, NULL) == TERM_NONE)
		answer(&b, 0, am_system_limit);
	return true;
}
