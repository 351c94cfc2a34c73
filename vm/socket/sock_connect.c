/* SPDX-License-Identifier: Apache-2.0 */
/* Connections: made and taken. */
#include <errno.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include "socket/sock.h"
#include "socket/sock_address.h"

/* ---- connect */

/* The process that began it asks how it went. */
static Term end_connect(struct nif_env *env, struct sock *s)
{
	int error = 0;
	socklen_t n = sizeof(error);

	sock_forget_lane(env, s, SOCK_CONNECTOR);
	s->state[SOCK_WRITE] &= ~(unsigned)SOCK_CONNECTING;
	if (getsockopt(s->fd, SOL_SOCKET, SO_ERROR, &error, &n) != 0)
		error = errno;
	if (error != 0)
		return sock_errno(env, error);
	s->state[SOCK_WRITE] |= SOCK_CONNECTED;
	return am_ok;
}

static Term wait_connected(struct nif_env *env, struct sock *s, Term ref)
{
	Term answer;

	sock_become_first(env, s, SOCK_CONNECTOR, ref);
	if (!sock_select_first(env, s, SOCK_CONNECTOR, &answer))
		return answer;
	s->state[SOCK_WRITE] |= SOCK_CONNECTING;
	return am_select;
}

/* a NULL: no address was given. */
static Term connect_to(struct nif_env *env, struct sock *s, const union sock_address *a, socklen_t n, Term ref)
{
	if (!sock_is_open(s, SOCK_WRITE))
		return sock_error(env, am_closed);
	if (sock_first(s, SOCK_WRITERS) != NULL)
		return sock_error_invalid(env, am_state);
	if (sock_waits_first(s, SOCK_CONNECTOR, env))
		return end_connect(env, s);
	if (sock_first(s, SOCK_CONNECTOR) != NULL && a != NULL)
		return sock_error(env, am_already);
	if (a == NULL)
		return sock_raise_invalid(env, am_state);
	if (connect(s->fd, &a->any, n) == 0) {
		s->state[SOCK_WRITE] |= SOCK_CONNECTED;
		return am_ok;
	}
	return errno == EAGAIN || errno == EINPROGRESS ? wait_connected(env, s, ref) : sock_errno(env, errno);
}

Term sock_connect(struct nif_env *env, int argc, const Term *argv)
{
	struct sock *s = sock_from_term(env, argv[0]);
	union sock_address a;
	socklen_t n = 0;
	Term answer;

	if (s == NULL || (argc == 3 && !sock_is_ref(env, argv[1])))
		return enif_make_badarg(env);
	if (argc == 3 && !sock_address_read(argv[2], &a, &n))
		return sock_invalid(env, am_sockaddr);
	lock_acquire(&s->locks[SOCK_WRITE]);
	answer = connect_to(env, s, argc == 3 ? &a : NULL, n, argc == 3 ? argv[1] : am_undefined);
	lock_release(&s->locks[SOCK_WRITE]);
	return answer;
}

/* ---- accept */

Term sock_enter_from(struct nif_env *env, struct sock *from, int fd)
{
	struct sock *s = sock_new(fd, from->domain, from->type, from->protocol);

	if (s == NULL) {
		close(fd);
		return sock_errno(env, ENOMEM);
	}
	s->buffer_bytes = from->buffer_bytes;
	s->buffer_count = from->buffer_count;
	s->control_in_bytes = from->control_in_bytes;
	s->iow = from->iow;
	s->debug = from->debug;
	s->use_registry = from->use_registry;
	lock_acquire(&from->locks[SOCK_WRITE]);
	s->control_out_bytes = from->control_out_bytes;
	from->state[SOCK_WRITE] |= SOCK_CONNECTED; /* as OTP has it: of the socket that listens */
	lock_release(&from->locks[SOCK_WRITE]);
	return sock_ok(env, sock_enter(env, s));
}

static Term wait_accept(struct nif_env *env, struct sock *s, Term ref)
{
	Term answer;

	if (sock_first(s, SOCK_ACCEPTORS) != NULL) {
		sock_count(s, SOCK_COUNT_acc_waits, 1);
		if (release_tells_replaced_accept())
			sock_replace_first(env, s, SOCK_ACCEPTORS);
	}
	sock_become_first(env, s, SOCK_ACCEPTORS, ref);
	if (!sock_select_first(env, s, SOCK_ACCEPTORS, &answer))
		return answer;
	s->state[SOCK_READ] |= SOCK_ACCEPTING;
	return am_select;
}

static Term fail_accept(struct nif_env *env, struct sock *s, int error)
{
	Term answer = sock_errno(env, error);

	sock_count(s, SOCK_COUNT_acc_fails, 1);
	if (sock_first(s, SOCK_ACCEPTORS) != NULL)
		sock_abort_lane(env, s, SOCK_ACCEPTORS, sock_elements(answer)[1], false);
	return answer;
}

static Term accept_one(struct nif_env *env, struct sock *s, Term ref)
{
	Term answer;
	int fd;

	if (!sock_is_open(s, SOCK_READ))
		return sock_error(env, am_closed);
	if (sock_first(s, SOCK_READERS) != NULL)
		return sock_error_invalid(env, am_state);
	if (sock_must_wait(env, s, SOCK_ACCEPTORS, ref, &answer))
		return answer;
	sock_count(s, SOCK_COUNT_acc_tries, 1);
	fd = accept4(s->fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
	if (fd < 0)
		return errno == EAGAIN || errno == EINTR ? wait_accept(env, s, ref) : fail_accept(env, s, errno);
	sock_count(s, SOCK_COUNT_acc_success, 1);
	answer = sock_enter_from(env, s, fd);
	sock_next(env, s, SOCK_ACCEPTORS);
	return answer;
}

Term sock_accept(struct nif_env *env, int argc, const Term *argv)
{
	struct sock *s = sock_from_term(env, argv[0]);
	Term answer;

	(void)argc;
	if (s == NULL)
		return enif_make_badarg(env);
	lock_acquire(&s->locks[SOCK_READ]);
	answer = accept_one(env, s, argv[1]);
	lock_release(&s->locks[SOCK_READ]);
	return answer;
}
