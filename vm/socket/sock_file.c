/* SPDX-License-Identifier: Apache-2.0 */
/* Files sent by the kernel. On dirty schedulers: the file is read meanwhile. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sys/sendfile.h>
#include <unistd.h>

#include "io/efile.h"
#include "socket/sock.h"

void sock_drop_file(struct sock *s)
{
	if (s->file >= 0)
		close(s->file);
	s->file = -1;
}

static Term fail_file(struct nif_env *env, struct sock *s, Term reason)
{
	sock_drop_file(s);
	s->has_sent_files = true;
	sock_count(s, SOCK_COUNT_sendfile_fails, 1);
	sock_abort_lane(env, s, SOCK_WRITERS, reason, false);
	return sock_error(env, reason);
}

static Term wait_file(struct nif_env *env, struct sock *s, uint64_t sent, Term ref)
{
	Term answer;

	sock_become_first(env, s, SOCK_WRITERS, ref);
	if (!sock_select_first(env, s, SOCK_WRITERS, &answer)) {
		sock_drop_file(s);
		return answer;
	}
	sock_count(s, SOCK_COUNT_sendfile_waits, 1);
	return heap_tuple(env->heap, am_select, heap_uint(env->heap, sent));
}

static void count_sent(struct sock *s, uint64_t bytes, uint64_t now)
{
	sock_count(s, SOCK_COUNT_sendfile_pkg, 1);
	sock_count(s, SOCK_COUNT_sendfile_byte, bytes);
	sock_count_max(s, SOCK_COUNT_sendfile_pkg_max, now);
	s->file_now += bytes;
	sock_count_max(s, SOCK_COUNT_sendfile_max, s->file_now);
}

/* left: 0: up to the end of the file. */
static Term send_file(struct nif_env *env, struct sock *s, off_t at, uint64_t left, Term ref)
{
	enum { CHUNK_BYTES = 1 << 29 };
	uint64_t sent = 0;
	bool has_end = left != 0;

	while (!has_end || left > 0) {
		ssize_t n = sendfile(s->fd, s->file, &at, has_end && left < CHUNK_BYTES ? left : CHUNK_BYTES);

		sock_count(s, SOCK_COUNT_sendfile, 1);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0 && errno == EAGAIN)
			return wait_file(env, s, sent, ref);
		if (n < 0)
			return fail_file(env, s, sock_elements(sock_errno(env, errno))[1]);
		if (n == 0)
			break;
		sent += (uint64_t)n;
		left -= has_end ? (uint64_t)n : 0;
		count_sent(s, (uint64_t)n, sent);
	}
	sock_next(env, s, SOCK_WRITERS);
	sock_drop_file(s);
	return sock_ok(env, heap_uint(env->heap, sent));
}

/* A descriptor of our own for an open file of prim_file. Fails: -errno; EBADF: it is no file. */
static int dup_file(Term t)
{
	struct efile *f = (struct efile *)resource_get(t, &efile_type);
	int fd;

	if (f == NULL || !efile_acquire(f))
		return f == NULL ? -EBADF : -EINVAL;
	fd = fcntl(f->fd, F_DUPFD_CLOEXEC, 0);
	if (fd < 0)
		fd = -errno;
	efile_release(f);
	return fd;
}

static Term begin_file(struct nif_env *env, struct sock *s, const Term *argv, off_t at, uint64_t bytes)
{
	Term answer;
	int fd;

	if (sock_may_not_send(env, s, argv[1], &answer))
		return answer;
	if (s->file >= 0)
		return sock_error_invalid(env, am_state);
	fd = dup_file(argv[4]);
	if (fd == -EBADF)
		return fail_file(env, s, sock_invalid(env, am_efile));
	if (fd < 0)
		return fail_file(env, s, sock_elements(sock_errno(env, -fd))[1]);
	s->file = fd;
	s->file_now = 0;
	s->has_sent_files = true;
	sock_count(s, SOCK_COUNT_sendfile_tries, 1);
	return send_file(env, s, at, bytes, argv[1]);
}

static Term continue_file(struct nif_env *env, struct sock *s, const Term *argv, off_t at, uint64_t bytes)
{
	if (!sock_is_open(s, SOCK_WRITE))
		return sock_error(env, am_closed);
	if (sock_first(s, SOCK_CONNECTOR) != NULL)
		return sock_error_invalid(env, am_state);
	if (!sock_waits_first(s, SOCK_WRITERS, env) || s->file < 0)
		return sock_raise_invalid(env, am_state);
	return send_file(env, s, at, bytes, argv[1]);
}

/* nif_sendfile(Socket, Ref, Offset, Count[, File]) */
Term sock_sendfile(struct nif_env *env, int argc, const Term *argv)
{
	struct sock *s = sock_from_term(env, argv[0]);
	long at;
	unsigned long bytes;
	Term answer;

	if (s == NULL || !sock_is_ref(env, argv[1]) || !term_is_integer(argv[2]) || !term_is_integer(argv[3]) ||
	    (argc == 5 && !sock_is_ref(env, argv[4])))
		return enif_make_badarg(env);
	if (!enif_get_long(env, argv[2], &at))
		return sock_bad_integer(env, argv[2]);
	if (!enif_get_ulong(env, argv[3], &bytes))
		return sock_bad_integer(env, argv[3]);
	lock_acquire(&s->locks[SOCK_WRITE]);
	answer = argc == 5 ? begin_file(env, s, argv, at, bytes) : continue_file(env, s, argv, at, bytes);
	lock_release(&s->locks[SOCK_WRITE]);
	return answer;
}

/* What a process that died was sending: it is closed already. */
Term sock_end_sendfile(struct nif_env *env, int argc, const Term *argv)
{
	struct sock *s = sock_from_term(env, argv[0]);
	Term answer;

	(void)argc;
	if (s == NULL)
		return enif_make_badarg(env);
	lock_acquire(&s->locks[SOCK_WRITE]);
	answer = s->file >= 0 ? am_ok : sock_error_invalid(env, am_state);
	sock_drop_file(s);
	lock_release(&s->locks[SOCK_WRITE]);
	return answer;
}
