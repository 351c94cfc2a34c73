/* SPDX-License-Identifier: Apache-2.0 */
/* Bytes out. */
#include <errno.h>
#include <limits.h>
#include <sys/socket.h>

#include "base/alloc.h"
#include "data/map.h"
#include "socket/sock.h"
#include "socket/sock_address.h"
#include "socket/sock_control.h"

/* ---- how it went */

static void count_package(struct sock *s, uint64_t bytes)
{
	sock_count(s, SOCK_COUNT_write_pkg, 1);
	sock_count(s, SOCK_COUNT_write_byte, bytes);
	s->written_now += bytes;
	sock_count_max(s, SOCK_COUNT_write_pkg_max, s->written_now);
	s->written_now = 0;
}

static Term sent_all(struct nif_env *env, struct sock *s, size_t bytes)
{
	count_package(s, bytes);
	sock_next(env, s, SOCK_WRITERS);
	return am_ok;
}

static Term fail_send(struct nif_env *env, struct sock *s, int error)
{
	Term answer = sock_errno(env, error);

	sock_count(s, SOCK_COUNT_write_fails, 1);
	if (error != EINVAL)
		sock_abort_lane(env, s, SOCK_WRITERS, sock_elements(answer)[1], false);
	return answer;
}

/* sent: -1: nothing. */
static Term wait_send(struct nif_env *env, struct sock *s, ssize_t sent, Term ref)
{
	Term answer;

	sock_become_first(env, s, SOCK_WRITERS, ref);
	if (!sock_select_first(env, s, SOCK_WRITERS, &answer))
		return answer;
	sock_count(s, SOCK_COUNT_write_waits, 1);
	return sent < 0 ? am_select : heap_tuple(env->heap, am_select, heap_int(env->heap, sent));
}

static Term sent_some(struct nif_env *env, struct sock *s, ssize_t sent, bool has_more, Term ref)
{
	if (s->type != SOCK_STREAM) { /* what was left out is gone */
		count_package(s, (uint64_t)sent);
		sock_next(env, s, SOCK_WRITERS);
		return sock_ok(env, heap_int(env->heap, sent));
	}
	s->written_now += (uint64_t)sent;
	if (!has_more)
		return wait_send(env, s, sent, ref);
	sock_become_first(env, s, SOCK_WRITERS, am_iov);
	return heap_tuple(env->heap, am_iov, heap_int(env->heap, sent));
}

Term sock_sent(struct nif_env *env, struct sock *s, ssize_t sent, size_t bytes, bool has_more, Term ref)
{
	if (sent < 0)
		return errno == EAGAIN || errno == EINTR ? wait_send(env, s, -1, ref) : fail_send(env, s, errno);
	if ((size_t)sent < bytes)
		return sent_some(env, s, sent, false, ref);
	return has_more ? sent_some(env, s, sent, true, ref) : sent_all(env, s, bytes);
}

bool sock_may_not_send(struct nif_env *env, struct sock *s, Term ref, Term *answer)
{
	if (!sock_is_open(s, SOCK_WRITE))
		*answer = sock_error(env, am_closed);
	else if (sock_first(s, SOCK_CONNECTOR) != NULL)
		*answer = sock_error_invalid(env, am_state);
	else
		return sock_must_wait(env, s, SOCK_WRITERS, ref, answer);
	return true;
}

/* ---- send, sendto */

static Term send_bytes(struct nif_env *env, struct sock *s, const struct nif_binary *b, int flags,
		       const union sock_address *to, socklen_t to_size, Term ref)
{
	ssize_t sent;
	Term answer;

	if (sock_may_not_send(env, s, ref, &answer))
		return answer;
	sock_count(s, SOCK_COUNT_write_tries, 1);
	sent = sendto(s->fd, b->data, b->size, flags | MSG_NOSIGNAL, to != NULL ? &to->any : NULL, to_size);
	return sock_sent(env, s, sent, b->size, false, ref);
}

Term sock_send(struct nif_env *env, int argc, const Term *argv)
{
	struct sock *s = sock_from_term(env, argv[0]);
	struct nif_binary b;
	int flags;
	Term answer;

	(void)argc;
	if (s == NULL || !sock_is_ref(env, argv[3]) || !enif_inspect_binary(env, argv[1], &b))
		return enif_make_badarg(env);
	if (!enif_get_int(env, argv[2], &flags))
		return sock_bad_integer(env, argv[2]);
	lock_acquire(&s->locks[SOCK_WRITE]);
	answer = send_bytes(env, s, &b, flags, NULL, 0, argv[3]);
	lock_release(&s->locks[SOCK_WRITE]);
	return answer;
}

Term sock_sendto(struct nif_env *env, int argc, const Term *argv)
{
	struct sock *s = sock_from_term(env, argv[0]);
	struct nif_binary b;
	union sock_address to;
	socklen_t to_size;
	int flags;
	Term answer;

	(void)argc;
	if (s == NULL || !sock_is_ref(env, argv[4]) || !enif_inspect_binary(env, argv[1], &b))
		return enif_make_badarg(env);
	if (!enif_get_int(env, argv[3], &flags))
		return sock_bad_integer(env, argv[3]);
	if (!sock_address_read(argv[2], &to, &to_size))
		return sock_invalid(env, am_sockaddr);
	lock_acquire(&s->locks[SOCK_WRITE]);
	answer = send_bytes(env, s, &b, flags, &to, to_size, argv[4]);
	lock_release(&s->locks[SOCK_WRITE]);
	return answer;
}

/* ---- sendmsg, sendv */

struct outgoing {
	struct msghdr header;
	union sock_address to;
	struct nif_iovec *parts; /* the environment's */
	uint8_t *control;        /* owned */
	size_t bytes;
	bool has_more;           /* parts that the kernel does not take at once */
};

/* Empty binaries at the end are nothing more to send. */
static Term skip_empty(struct nif_env *env, Term list)
{
	struct nif_binary b;

	while (term_is_cons(list) && enif_inspect_binary(env, cons_head(list), &b) && b.size == 0)
		list = cons_tail(list);
	return list;
}

/* What is wrong: its name. TERM_NONE: nothing. */
static Term read_parts(struct nif_env *env, struct sock *s, Term list, struct outgoing *o)
{
	Term rest;

	if (!enif_inspect_iovec(env, IOV_MAX, list, &rest, &o->parts))
		return am_iov;
	rest = skip_empty(env, rest);
	o->has_more = !term_is_nil(rest);
	if (o->has_more && s->type != SOCK_STREAM)
		return am_iov;
	for (int i = 0; i < o->parts->count; i++)
		if (__builtin_add_overflow(o->bytes, o->parts->parts[i].iov_len, &o->bytes) || o->bytes > SSIZE_MAX)
			return am_iov;
	o->header.msg_iov = o->parts->parts;
	o->header.msg_iovlen = (size_t)o->parts->count;
	return TERM_NONE;
}

static Term send_parts(struct nif_env *env, struct sock *s, Term list, Term ref)
{
	struct outgoing o = { 0 };
	Term answer, wrong;

	if (sock_may_not_send(env, s, ref, &answer))
		return answer;
	wrong = read_parts(env, s, list, &o);
	if (wrong != TERM_NONE)
		return sock_invalid(env, wrong);
	sock_count(s, SOCK_COUNT_write_tries, 1);
	return sock_sent(env, s, sendmsg(s->fd, &o.header, MSG_NOSIGNAL), o.bytes, o.has_more, ref);
}

Term sock_sendv(struct nif_env *env, int argc, const Term *argv)
{
	struct sock *s = sock_from_term(env, argv[0]);
	Term answer;

	(void)argc;
	if (s == NULL || !sock_is_ref(env, argv[2]))
		return enif_make_badarg(env);
	lock_acquire(&s->locks[SOCK_WRITE]);
	answer = send_parts(env, s, argv[1], argv[2]);
	lock_release(&s->locks[SOCK_WRITE]);
	return answer;
}

static Term read_message(struct nif_env *env, struct sock *s, Term message, Term list, struct outgoing *o)
{
	Term to = map_get(message, am_addr), control = map_get(message, am_ctrl), wrong;

	if (to != TERM_NONE) {
		if (!sock_address_read(to, &o->to, &o->header.msg_namelen))
			return am_addr;
		o->header.msg_name = &o->to;
	}
	wrong = read_parts(env, s, list, o);
	if (wrong != TERM_NONE || control == TERM_NONE)
		return wrong;
	o->control = mem_try_alloc(s->control_out_bytes);
	if (o->control == NULL ||
	    !sock_control_read(control, o->control, s->control_out_bytes, &o->header.msg_controllen))
		return am_ctrl;
	o->header.msg_control = o->control;
	return TERM_NONE;
}

static Term send_message(struct nif_env *env, struct sock *s, const Term *argv, int flags)
{
	struct outgoing o = { 0 };
	Term answer, wrong;

	if (sock_may_not_send(env, s, argv[3], &answer))
		return answer;
	wrong = read_message(env, s, argv[1], argv[4], &o);
	if (wrong != TERM_NONE) {
		answer = sock_invalid(env, wrong);
	} else {
		sock_count(s, SOCK_COUNT_write_tries, 1);
		answer = sock_sent(env, s, sendmsg(s->fd, &o.header, flags | MSG_NOSIGNAL), o.bytes, o.has_more,
				   argv[3]);
	}
	mem_free(o.control);
	return answer;
}

Term sock_sendmsg(struct nif_env *env, int argc, const Term *argv)
{
	struct sock *s = sock_from_term(env, argv[0]);
	int flags;
	Term answer;

	(void)argc;
	if (s == NULL || !sock_is_ref(env, argv[3]) || !term_is_map(argv[1]))
		return enif_make_badarg(env);
	if (!enif_get_int(env, argv[2], &flags))
		return sock_bad_integer(env, argv[2]);
	lock_acquire(&s->locks[SOCK_WRITE]);
	answer = send_message(env, s, argv, flags);
	lock_release(&s->locks[SOCK_WRITE]);
	return answer;
}

/* ---- sendmmsg. What was not sent is told by number, so that nothing is sent twice: {ok, [{Index, Sent}]}. */

struct outbox {
	struct outgoing *each; /* owned */
	struct mmsghdr *headers; /* owned */
	unsigned count, sent;  /* sent: messages that the kernel took, the last one not all of it where it says so */
};

static void free_outbox(struct outbox *o)
{
	for (unsigned i = 0; o->each != NULL && i < o->count; i++)
		mem_free(o->each[i].control);
	mem_free(o->each);
	mem_free(o->headers);
}

/* Fails: false with *answer. */
static bool read_outbox(struct nif_env *env, struct sock *s, Term list, struct outbox *o, Term *answer)
{
	unsigned n = 0;

	for (Term t = list; term_is_cons(t); t = cons_tail(t))
		n++;
	o->each = mem_try_alloc((n + 1) * sizeof(*o->each));
	o->headers = mem_try_alloc((n + 1) * sizeof(*o->headers));
	*answer = sock_errno(env, ENOMEM);
	if (o->each == NULL || o->headers == NULL)
		return false;
	for (; o->count < n; list = cons_tail(list)) {
		struct outgoing *one = &o->each[o->count];
		Term parts = sock_map_get(cons_head(list), am_iov), wrong;

		*one = (struct outgoing){ 0 };
		o->headers[o->count++] = (struct mmsghdr){ 0 };
		wrong = parts != TERM_NONE ? read_message(env, s, cons_head(list), parts, one) : TERM_NONE;
		if (parts == TERM_NONE || wrong != TERM_NONE || one->has_more) {
			*answer = parts == TERM_NONE ? enif_make_badarg(env)
						     : sock_error_invalid(env, wrong != TERM_NONE ? wrong : am_iov);
			return false;
		}
	}
	for (unsigned i = 0; i < n; i++)
		o->headers[i].msg_hdr = o->each[i].header;
	return true;
}

static bool is_part(const struct outbox *o, unsigned i)
{
	return o->headers[i].msg_len < o->each[i].bytes;
}

/* Until all are sent, or the kernel takes no more. Returns 0, or errno. */
static int send_outbox(struct sock *s, struct outbox *o, int flags)
{
	while (o->sent < o->count && (o->sent == 0 || !is_part(o, o->sent - 1))) {
		int n = sendmmsg(s->fd, o->headers + o->sent, o->count - o->sent, flags | MSG_NOSIGNAL);

		sock_count(s, SOCK_COUNT_write_tries, 1);
		if (n <= 0)
			return errno;
		for (int i = 0; i < n; i++)
			count_package(s, o->headers[o->sent++].msg_len);
	}
	return 0;
}

static Term put_unsent(struct nif_env *env, const struct outbox *o)
{
	struct heap *h = env->heap;
	Term list = NIL;

	for (unsigned i = o->count; i-- > o->sent;)
		list = heap_cons(h, heap_tuple(h, term_from_small(i), SMALL(0)), list);
	if (o->sent > 0 && is_part(o, o->sent - 1))
		list = heap_cons(h,
				 heap_tuple(h, term_from_small(o->sent - 1),
					    heap_uint(h, o->headers[o->sent - 1].msg_len)),
				 list);
	return list;
}

/* Who waits is told how many messages were sent: none. */
static Term select_write(struct nif_env *env, Term answer)
{
	return answer == am_select ? heap_tuple(env->heap, am_select_write, SMALL(0)) : answer;
}

static Term send_messages(struct nif_env *env, struct sock *s, const Term *argv, int flags)
{
	struct outbox o = { 0 };
	Term answer;
	int error;

	if (sock_may_not_send(env, s, argv[3], &answer))
		return select_write(env, answer);
	if (!read_outbox(env, s, argv[1], &o, &answer)) {
		free_outbox(&o);
		return answer;
	}
	error = send_outbox(s, &o, flags);
	if (error != 0 && o.sent == 0) {
		answer = error == EAGAIN || error == EINTR ? select_write(env, wait_send(env, s, -1, argv[3]))
							   : fail_send(env, s, error);
	} else {
		sock_next(env, s, SOCK_WRITERS);
		answer = put_unsent(env, &o);
		answer = answer == NIL ? (Term)am_ok : sock_ok(env, answer);
	}
	free_outbox(&o);
	return answer;
}

/* nif_sendmmsg(Socket, Messages, Flags, Ref) */
Term sock_sendmmsg(struct nif_env *env, int argc, const Term *argv)
{
	struct sock *s = sock_from_term(env, argv[0]);
	int flags;
	Term answer;

	(void)argc;
	if (s == NULL || !sock_is_ref(env, argv[3]) || !term_is_list(argv[1]))
		return enif_make_badarg(env);
	if (!enif_get_int(env, argv[2], &flags))
		return sock_bad_integer(env, argv[2]);
	lock_acquire(&s->locks[SOCK_WRITE]);
	answer = send_messages(env, s, argv, flags);
	lock_release(&s->locks[SOCK_WRITE]);
	return answer;
}
