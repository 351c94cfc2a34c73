/* SPDX-License-Identifier: Apache-2.0 */
/* Who waits for a socket: see sock.h. */
#include "socket/sock.h"

#include "base/alloc.h"

static const struct { enum sock_side side; unsigned mode; int cancelled; } kinds[SOCK_LANES] = {
	[SOCK_READERS] = { SOCK_READ, NIF_SELECT_READ, NIF_SELECTED_READ_CANCELLED },
	[SOCK_WRITERS] = { SOCK_WRITE, NIF_SELECT_WRITE, NIF_SELECTED_WRITE_CANCELLED },
	[SOCK_ACCEPTORS] = { SOCK_READ, NIF_SELECT_READ, NIF_SELECTED_READ_CANCELLED },
	[SOCK_CONNECTOR] = { SOCK_WRITE, NIF_SELECT_WRITE, NIF_SELECTED_WRITE_CANCELLED },
};

static struct sock_waiter *make_waiter(struct nif_env *env, struct sock *s, Term ref)
{
	struct sock_waiter *w = mem_zalloc(sizeof(*w));

	enif_self(env, &w->pid);
	w->is_monitored = enif_monitor_process(env, s, &w->pid, &w->monitor) == 0;
	w->env = enif_alloc_env();
	w->ref = enif_make_copy(w->env, ref);
	return w;
}

static void free_waiter(struct nif_env *env, struct sock *s, struct sock_waiter *w)
{
	if (w->is_monitored)
		enif_demonitor_process(env, s, &w->monitor);
	enif_free_env(w->env);
	mem_free(w);
}

static void push(struct sock_lane *l, struct sock_waiter *w)
{
	if (l->first == NULL)
		l->first = w;
	else
		l->last->next = w;
	l->last = w;
}

static struct sock_waiter *pop(struct sock_lane *l)
{
	struct sock_waiter *w = l->first;

	if (w != NULL)
		l->first = w->next;
	return w;
}

/* {'$socket', {'$socket', Ref}, What, Info} in the heap of env */
static Term make_message(struct nif_env *env, struct sock *s, Term what, Term info)
{
	Term socket = heap_tuple(env->heap, am_socket_tag, enif_make_resource(env, s));

	return heap_tuple(env->heap, am_socket_tag, socket, what, info);
}

static void tell_abort(struct nif_env *env, struct sock *s, struct sock_waiter *w, Term reason)
{
	Term why = heap_tuple(w->env->heap, w->ref, enif_make_copy(w->env, reason));

	enif_send(env, &w->pid, NULL, make_message(w->env, s, am_abort, why));
}

/* Returns what enif_select does. */
static int select_for(struct nif_env *env, struct sock *s, enum sock_lane_kind k, struct sock_waiter *w)
{
	Term message = make_message(env, s, am_select, enif_make_copy(env, w->ref));
	int status = enif_select_x(env, s->fd, kinds[k].mode, s, &w->pid, message, NULL);

	if (status >= 0)
		s->state[kinds[k].side] |= SOCK_SELECTED;
	return status;
}

static bool is_caller(struct nif_env *env, const struct sock_waiter *w)
{
	struct nif_pid self;

	return enif_self(env, &self) != NULL && self.pid == w->pid.pid;
}

bool sock_waits_first(const struct sock *s, enum sock_lane_kind k, struct nif_env *env)
{
	return sock_first(s, k) != NULL && is_caller(env, sock_first(s, k));
}

bool sock_must_wait(struct nif_env *env, struct sock *s, enum sock_lane_kind k, Term ref, Term *answer)
{
	struct sock_waiter *first = sock_first(s, k);

	if (first == NULL || is_caller(env, first))
		return false;
	for (struct sock_waiter *w = first->next; w != NULL; w = w->next)
		if (is_caller(env, w)) {
			*answer = sock_raise_invalid(env, am_state);
			return true;
		}
	if (ref == am_zero)
		return false;
	push(&s->lanes[k], make_waiter(env, s, ref));
	*answer = am_select;
	return true;
}

void sock_replace_first(struct nif_env *env, struct sock *s, enum sock_lane_kind k)
{
	int status = enif_select(env, s->fd, NIF_SELECT_CANCEL | kinds[k].mode, s, NULL, am_undefined);

	if (status >= 0 && (status & kinds[k].cancelled))
		tell_abort(env, s, sock_first(s, k), am_cancelled);
}

void sock_become_first(struct nif_env *env, struct sock *s, enum sock_lane_kind k, Term ref)
{
	struct sock_waiter *first = sock_first(s, k);

	if (first == NULL) {
		push(&s->lanes[k], make_waiter(env, s, ref));
		return;
	}
	enif_clear_env(first->env);
	first->ref = enif_make_copy(first->env, ref);
}

bool sock_select_first(struct nif_env *env, struct sock *s, enum sock_lane_kind k, Term *answer)
{
	int status = select_for(env, s, k, sock_first(s, k));
	Term what = kinds[k].mode == NIF_SELECT_READ ? am_select_read : am_select_write;

	if (status >= 0)
		return true;
	sock_next(env, s, k);
	*answer = enif_raise_exception(env, heap_tuple(env->heap, what, term_from_small(status)));
	return false;
}

void sock_next(struct nif_env *env, struct sock *s, enum sock_lane_kind k)
{
	struct sock_waiter *w = pop(&s->lanes[k]);

	if (w != NULL)
		free_waiter(env, s, w);
	while ((w = sock_first(s, k)) != NULL) {
		int status = select_for(env, s, k, w);

		if (status >= 0)
			return;
		tell_abort(env, s, w, heap_tuple(w->env->heap, am_select_failed, term_from_small(status)));
		free_waiter(env, s, pop(&s->lanes[k]));
	}
	if (k == SOCK_ACCEPTORS)
		s->state[SOCK_READ] &= ~(unsigned)SOCK_ACCEPTING;
}

void sock_abort_lane(struct nif_env *env, struct sock *s, enum sock_lane_kind k, Term reason, bool tells_first)
{
	struct sock_waiter *w;

	for (; (w = pop(&s->lanes[k])) != NULL; tells_first = true) {
		if (tells_first)
			tell_abort(env, s, w, reason);
		free_waiter(env, s, w);
	}
}

void sock_forget_lane(struct nif_env *env, struct sock *s, enum sock_lane_kind k)
{
	struct sock_waiter *w;

	while ((w = pop(&s->lanes[k])) != NULL)
		free_waiter(env, s, w);
}

/* Takes out, behind the first, the one of pid and, unless TERM_NONE, ref. */
static bool take_waiter(struct nif_env *env, struct sock *s, struct sock_lane *l, Term pid, Term ref)
{
	struct sock_waiter *before = l->first, *w = before != NULL ? before->next : NULL;

	for (; w != NULL; before = w, w = w->next) {
		if (w->pid.pid != pid)
			continue;
		if (ref != TERM_NONE && !enif_is_identical(w->ref, ref))
			return false;
		before->next = w->next;
		if (l->last == w)
			l->last = before;
		free_waiter(env, s, w);
		return true;
	}
	return false;
}

/* What a dead one has asked for must not wake who is next. */
void sock_lose_waiter(struct nif_env *env, struct sock *s, const struct nif_pid *pid)
{
	for (int k = 0; k < SOCK_LANES; k++) {
		struct sock_waiter *first = sock_first(s, k);

		if (first == NULL || !sock_is_open(s, kinds[k].side))
			continue;
		if (first->pid.pid != pid->pid) {
			take_waiter(env, s, &s->lanes[k], pid->pid, TERM_NONE);
			continue;
		}
		first->is_monitored = false;
		if (k == SOCK_WRITERS)
			sock_drop_file(s);
		if (k == SOCK_CONNECTOR)
			s->state[SOCK_WRITE] &= ~(unsigned)SOCK_CONNECTING;
		sock_next(env, s, k);
	}
}

Term sock_count_waiters(const struct sock *s, enum sock_lane_kind k)
{
	int64_t n = 0;

	for (const struct sock_waiter *w = sock_first(s, k); w != NULL; w = w->next)
		n++;
	return term_from_small(n);
}

/* ---- cancel */

static const struct operation { Term name; enum sock_lane_kind kind;
} operations[] = {
	{ am_connect, SOCK_CONNECTOR }, { am_accept, SOCK_ACCEPTORS }, { am_recv, SOCK_READERS },
	{ am_recvfrom, SOCK_READERS },  { am_recvmsg, SOCK_READERS },  { am_send, SOCK_WRITERS },
	{ am_sendto, SOCK_WRITERS },    { am_sendmsg, SOCK_WRITERS },  { am_sendfile, SOCK_WRITERS },
	{ am_recvmmsg, SOCK_READERS },  { am_sendmmsg, SOCK_WRITERS },
};

static Term cancel_first(struct nif_env *env, struct sock *s, enum sock_lane_kind k)
{
	int status = enif_select(env, s->fd, NIF_SELECT_CANCEL | kinds[k].mode, s, NULL, am_undefined);

	if (k == SOCK_CONNECTOR)
		s->state[SOCK_WRITE] &= ~(unsigned)SOCK_CONNECTING;
	sock_next(env, s, k);
	return status < 0 ? am_not_found : status & kinds[k].cancelled ? am_ok : am_select_sent;
}

static Term cancel(struct nif_env *env, struct sock *s, enum sock_lane_kind k, Term ref)
{
	struct sock_waiter *first = sock_first(s, k);
	struct nif_pid self;

	if (!sock_is_open(s, kinds[k].side))
		return sock_error(env, am_closed);
	if (first == NULL)
		return am_not_found;
	if (is_caller(env, first))
		return enif_is_identical(first->ref, ref) ? cancel_first(env, s, k) : am_not_found;
	enif_self(env, &self);
	return take_waiter(env, s, &s->lanes[k], self.pid, ref) ? am_ok : am_not_found;
}

/* NULL: there is none. */
static const struct operation *find_operation(Term name)
{
	for (size_t i = 0; i < sizeof(operations) / sizeof(operations[0]); i++)
		if (operations[i].name == name)
			return &operations[i];
	return NULL;
}

Term sock_cancel(struct nif_env *env, int argc, const Term *argv)
{
	struct sock *s = sock_from_term(env, argv[0]);
	const struct operation *o = find_operation(argv[1]);
	enum sock_side side = o != NULL ? kinds[o->kind].side : SOCK_READ;
	Term answer;

	(void)argc;
	if (s == NULL)
		return enif_make_badarg(env);
	lock_acquire(&s->locks[side]);
	if (o != NULL)
		answer = cancel(env, s, o->kind, argv[2]);
	else
		answer = sock_is_open(s, side) ? enif_make_badarg(env) : sock_error(env, am_closed);
	lock_release(&s->locks[side]);
	return answer;
}
