/* SPDX-License-Identifier: Apache-2.0 */
/* Bytes in. */
#include <errno.h>
#include <limits.h>
#include <sys/socket.h>

#include "base/alloc.h"
#include "base/release.h"
#include "data/binary.h"
#include "data/map.h"
#include "socket/sock.h"
#include "socket/sock_address.h"
#include "socket/sock_control.h"

/* Up to this many bytes are read where the stack is, and copied to a binary of what there was. */
enum { SMALL_BYTES = 16 << 10, LENGTHS_MAX = 3 /* messages, of bytes, and of control messages */ };

struct incoming {
	uint8_t *bytes;
	size_t room;
	struct nif_binary large; /* owned, where room is more than SMALL_BYTES */
	uint8_t small[SMALL_BYTES];
};

/* Fails: false: no memory. */
static bool begin_buffer(struct incoming *in, size_t room)
{
	in->room = room;
	in->bytes = in->small;
	in->large.counted = NULL;
	if (room <= SMALL_BYTES)
		return true;
	if (!enif_alloc_binary(room, &in->large))
		return false;
	in->bytes = in->large.data;
	return true;
}

static void drop_buffer(struct incoming *in)
{
	enif_release_binary(&in->large);
}

/* The first n bytes as a binary. The buffer is used up. */
static Term take_buffer(struct nif_env *env, struct incoming *in, size_t n)
{
	Term t;

	if (in->large.counted != NULL && n > in->room / 2 &&
	    (n == in->large.size || enif_realloc_binary(&in->large, n)))
		return enif_make_binary(env, &in->large);
	t = binary_put(env->heap, in->bytes, n);
	drop_buffer(in);
	return t;
}

/* ---- how it went */

static void count_package(struct sock *s, uint64_t bytes)
{
	sock_count(s, SOCK_COUNT_read_pkg, 1);
	sock_count(s, SOCK_COUNT_read_byte, bytes);
	s->read_now += bytes;
	sock_count_max(s, SOCK_COUNT_read_pkg_max, s->read_now);
	s->read_now = 0;
}

static bool may_not_read(struct nif_env *env, struct sock *s, Term ref, Term *answer)
{
	if (!sock_is_open(s, SOCK_READ))
		*answer = sock_error(env, am_closed);
	else if (sock_first(s, SOCK_ACCEPTORS) != NULL)
		*answer = sock_error_invalid(env, am_state);
	else
		return sock_must_wait(env, s, SOCK_READERS, ref, answer);
	return true;
}

static void next_reader(struct nif_env *env, struct sock *s)
{
	if (sock_first(s, SOCK_READERS) != NULL)
		sock_next(env, s, SOCK_READERS);
}

/* Fails: false with *answer. */
static bool wait_read(struct nif_env *env, struct sock *s, Term ref, Term *answer)
{
	sock_become_first(env, s, SOCK_READERS, ref);
	return sock_select_first(env, s, SOCK_READERS, answer);
}

static Term fail_read(struct nif_env *env, struct sock *s, int error, Term ref)
{
	Term answer;

	if (error == EAGAIN || error == EINTR) {
		if (ref == am_zero)
			return release_polls_time_out() ? am_timeout : am_ok;
		s->buffers_read = 0;
		return wait_read(env, s, ref, &answer) ? am_select : answer;
	}
	answer = sock_errno(env, error);
	sock_count(s, SOCK_COUNT_read_fails, 1);
	sock_abort_lane(env, s, SOCK_READERS, sock_elements(answer)[1], false);
	return answer;
}

static Term end_stream(struct nif_env *env, struct sock *s, bool tells)
{
	sock_count(s, SOCK_COUNT_read_fails, 1);
	if (tells)
		sock_abort_lane(env, s, SOCK_READERS, am_closed, false);
	return sock_error(env, am_closed);
}

/* ---- recv */

static Term read_polled(struct nif_env *env, struct sock *s, struct incoming *in, size_t n)
{
	count_package(s, n);
	s->buffers_read = 0;
	next_reader(env, s);
	return take_buffer(env, in, n);
}

static Term read_all(struct nif_env *env, struct sock *s, struct incoming *in, size_t n)
{
	return sock_ok(env, read_polled(env, s, in, n));
}

/* The buffer is full, and the caller takes what there is: there may be more. */
static Term read_full(struct nif_env *env, struct sock *s, struct incoming *in, size_t n, Term ref)
{
	if (++s->buffers_read >= s->buffer_count)
		return read_all(env, s, in, n);
	sock_count(s, SOCK_COUNT_read_byte, n);
	s->read_now += n;
	sock_become_first(env, s, SOCK_READERS, ref);
	return heap_tuple(env->heap, am_more, take_buffer(env, in, n));
}

/* ---- what came for who wants more. Since OTP 27 it stays with the socket until there is enough, or somebody takes
 * what there is. */

/* The buffer, with its first n bytes, stays where it is: who wants much would have them copied at each arrival. Fails:
 * false: no memory. */
static bool keep_buffer(struct sock *s, struct incoming *in, size_t n)
{
	if (in->large.counted == NULL) {
		if (!enif_alloc_binary(in->room, &in->large))
			return false;
		memcpy(in->large.data, in->small, n);
	}
	s->kept = in->large;
	s->kept_bytes = n;
	in->large.counted = NULL;
	return true;
}

/* Begins with what was kept, if anything was, which is less than room. Fails: false: no memory; it is kept on. */
static bool resume_buffer(struct incoming *in, struct sock *s, size_t room)
{
	if (s->kept_bytes == 0)
		return begin_buffer(in, room);
	if (s->kept.size < room && !enif_realloc_binary(&s->kept, room))
		return false;
	in->room = room;
	in->large = s->kept;
	in->bytes = in->large.data;
	s->kept.counted = NULL;
	s->kept_bytes = 0;
	return true;
}

/* Enough for `length` bytes, or for any number? */
static bool is_kept(const struct sock *s, size_t length)
{
	return s->kept_bytes > 0 && length <= s->kept_bytes;
}

static Term read_kept(struct nif_env *env, struct sock *s, size_t length)
{
	size_t n = length != 0 ? length : s->kept_bytes;
	Term t = binary_put(env->heap, s->kept.data, n);

	s->kept_bytes -= n;
	memmove(s->kept.data, s->kept.data + n, s->kept_bytes);
	if (s->kept_bytes == 0)
		enif_release_binary(&s->kept);
	count_package(s, n);
	s->buffers_read = 0;
	next_reader(env, s);
	return sock_ok(env, t);
}

/* {error, {closed, Bytes}} */
static Term end_kept(struct nif_env *env, struct sock *s, const struct incoming *in, size_t kept)
{
	Term t = binary_put(env->heap, in->bytes, kept);

	end_stream(env, s, true);
	return heap_tuple(env->heap, am_error, heap_tuple(env->heap, am_closed, t));
}

/* The caller wants more than there is. */
static Term read_part(struct nif_env *env, struct sock *s, struct incoming *in, size_t n, Term ref)
{
	Term answer;

	if (release_keeps_part() && !release_gives_part()) {
		if (!keep_buffer(s, in, n))
			return sock_errno(env, ENOMEM);
		return wait_read(env, s, ref, &answer) ? (Term)am_select : answer;
	}
	sock_count(s, SOCK_COUNT_read_byte, n);
	if (!wait_read(env, s, ref, &answer)) {
		drop_buffer(in);
		return answer;
	}
	return heap_tuple(env->heap, am_select, take_buffer(env, in, n));
}

static Term receive(struct nif_env *env, struct sock *s, const size_t *lengths, int flags, Term ref)
{
	size_t length = lengths[0], kept = s->kept_bytes;
	struct incoming in;
	Term answer;
	ssize_t n;

	if (may_not_read(env, s, ref, &answer))
		return answer;
	if (is_kept(s, length))
		return read_kept(env, s, length);
	if (!resume_buffer(&in, s, length != 0 ? length : s->buffer_bytes))
		return sock_errno(env, ENOMEM);
	sock_count(s, SOCK_COUNT_read_tries, 1);
	n = recv(s->fd, in.bytes + kept, in.room - kept, flags);
	if (n >= 0 && (size_t)n > in.room - kept) /* the flag trunc has it tell the whole length */
		n = (ssize_t)(in.room - kept);
	if (n > 0)
		n += (ssize_t)kept;
	if (n > 0 || (n == 0 && s->type != SOCK_STREAM)) {
		if (s->type != SOCK_STREAM || ((size_t)n == in.room && length != 0))
			return read_all(env, s, &in, (size_t)n);
		if ((size_t)n == in.room)
			return read_full(env, s, &in, (size_t)n, ref);
		if (length == 0 || (ref == am_zero && !release_polls_time_out()))
			return read_all(env, s, &in, (size_t)n);
		if (ref == am_zero)
			return heap_tuple(env->heap, am_timeout, read_polled(env, s, &in, (size_t)n));
		return read_part(env, s, &in, (size_t)n, ref);
	}
	if (n == 0 && kept > 0)
		answer = end_kept(env, s, &in, kept);
	else
		answer = n == 0 ? end_stream(env, s, true) : fail_read(env, s, errno, ref);
	if (n < 0 && kept > 0)
		keep_buffer(s, &in, kept);
	drop_buffer(&in);
	return answer;
}

/* Lengths and flags: argv[1..count] but the last are unsigned, that an int. Fails: false with *answer. */
static bool read_numbers(struct nif_env *env, const Term *argv, int count, size_t *lengths, int *flags, Term *answer)
{
	for (int i = 0; i < count; i++)
		if (!term_is_integer(argv[1 + i])) {
			*answer = enif_make_badarg(env);
			return false;
		}
	for (int i = 0; i < count; i++) {
		unsigned long n = 0;
		bool fits = i + 1 < count ? enif_get_ulong(env, argv[1 + i], &n) && n <= SSIZE_MAX :
					    enif_get_int(env, argv[1 + i], flags);

		if (!fits) {
			*answer = sock_bad_integer(env, argv[1 + i]);
			return false;
		}
		if (i + 1 < count)
			lengths[i] = n;
	}
	return true;
}

typedef Term (*receive_fn)(struct nif_env *env, struct sock *s, const size_t *lengths, int flags, Term ref);

/* argv: the socket, `count` lengths and flags, the reference. */
static Term receive_with(struct nif_env *env, const Term *argv, int count, receive_fn receive_one)
{
	struct sock *s = sock_from_term(env, argv[0]);
	Term ref = argv[1 + count], answer;
	size_t lengths[LENGTHS_MAX];
	int flags;

	if (s == NULL || (!sock_is_ref(env, ref) && ref != am_zero))
		return enif_make_badarg(env);
	if (!read_numbers(env, argv, count, lengths, &flags, &answer))
		return answer;
	lock_acquire(&s->locks[SOCK_READ]);
	answer = receive_one(env, s, lengths, flags, ref);
	lock_release(&s->locks[SOCK_READ]);
	return answer;
}

/* nif_recv(Socket, Length, Flags, Ref) */
Term sock_recv(struct nif_env *env, int argc, const Term *argv)
{
	(void)argc;
	return receive_with(env, argv, 2, receive);
}

/* ---- recvfrom, recvmsg */

/* n: what recvfrom or recvmsg said. True: *answer says how it failed. */
static bool is_no_message(struct nif_env *env, struct sock *s, ssize_t n, Term ref, Term *answer)
{
	if (n > 0 || (n == 0 && s->type != SOCK_STREAM))
		return false;
	*answer = n == 0 ? end_stream(env, s, false) : fail_read(env, s, errno, ref);
	return true;
}

static Term receive_from(struct nif_env *env, struct sock *s, const size_t *lengths, int flags, Term ref)
{
	struct incoming in;
	union sock_address from = { 0 };
	socklen_t from_size = sizeof(from);
	Term answer;
	ssize_t n;

	if (may_not_read(env, s, ref, &answer))
		return answer;
	if (!begin_buffer(&in, lengths[0] != 0 ? lengths[0] : s->buffer_bytes))
		return sock_errno(env, ENOMEM);
	sock_count(s, SOCK_COUNT_read_tries, 1);
	n = recvfrom(s->fd, in.bytes, in.room, flags, &from.any, &from_size);
	if (is_no_message(env, s, n, ref, &answer)) {
		drop_buffer(&in);
		return answer;
	}
	sock_count(s, SOCK_COUNT_read_pkg, 1);
	sock_count(s, SOCK_COUNT_read_byte, (uint64_t)n);
	next_reader(env, s);
	answer = take_buffer(env, &in, (size_t)n < in.room ? (size_t)n : in.room);
	return sock_ok(env, heap_tuple(env->heap, sock_address_put(env->heap, &from, from_size), answer));
}

/* nif_recvfrom(Socket, Length, Flags, Ref) */
Term sock_recvfrom(struct nif_env *env, int argc, const Term *argv)
{
	(void)argc;
	return receive_with(env, argv, 2, receive_from);
}

static Term put_message(struct nif_env *env, struct msghdr *m, Term bytes)
{
	struct heap *h = env->heap;
	Term pairs[8] = { am_iov,   heap_cons(h, bytes, NIL),                  am_ctrl, sock_control_put(h, m),
			  am_flags, sock_message_flags_put(h, m->msg_flags), am_addr, NIL };

	if (m->msg_namelen == 0)
		return map_from_pairs(h, pairs, 3);
	pairs[7] = sock_address_put(h, m->msg_name, m->msg_namelen);
	return map_from_pairs(h, pairs, 4);
}

static Term receive_message(struct nif_env *env, struct sock *s, const size_t *lengths, int flags, Term ref)
{
	struct incoming in;
	union sock_address from = { 0 };
	struct iovec part;
	struct msghdr m = { .msg_name = &from, .msg_namelen = sizeof(from), .msg_iov = &part, .msg_iovlen = 1 };
	Term answer;
	ssize_t n;

	if (may_not_read(env, s, ref, &answer))
		return answer;
	m.msg_controllen = lengths[1] != 0 ? lengths[1] : s->control_in_bytes;
	m.msg_control = mem_try_alloc(m.msg_controllen);
	if (m.msg_control == NULL || !begin_buffer(&in, lengths[0] != 0 ? lengths[0] : s->buffer_bytes)) {
		mem_free(m.msg_control);
		return sock_errno(env, ENOMEM);
	}
	part = (struct iovec){ in.bytes, in.room };
	sock_count(s, SOCK_COUNT_read_tries, 1);
	n = recvmsg(s->fd, &m, flags | MSG_CMSG_CLOEXEC);
	if (is_no_message(env, s, n, ref, &answer)) {
		drop_buffer(&in);
	} else {
		m.msg_flags &= ~(flags & MSG_CMSG_CLOEXEC ? 0 : MSG_CMSG_CLOEXEC);
		sock_count(s, SOCK_COUNT_read_pkg, 1);
		sock_count(s, SOCK_COUNT_read_byte, (uint64_t)n);
		next_reader(env, s);
		answer = take_buffer(env, &in, (size_t)n < in.room ? (size_t)n : in.room);
		answer = sock_ok(env, put_message(env, &m, answer));
	}
	mem_free(m.msg_control);
	return answer;
}

/* nif_recvmsg(Socket, Length, ControlLength, Flags, Ref) */
Term sock_recvmsg(struct nif_env *env, int argc, const Term *argv)
{
	(void)argc;
	return receive_with(env, argv, 3, receive_message);
}

/* ---- recvmmsg */

/* Several messages, each with its part of two blocks. */
struct inbox {
	struct inbox_message {
		struct iovec part;
		union sock_address from;
	} *each;
	struct mmsghdr *headers; /* owned, with `each` behind them */
	uint8_t *bytes, *control; /* owned */
	unsigned count;
};

static void free_inbox(struct inbox *in)
{
	mem_free(in->headers);
	mem_free(in->bytes);
	mem_free(in->control);
}

static uint8_t *alloc_parts(unsigned count, size_t each)
{
	size_t bytes;

	return __builtin_mul_overflow(count, each, &bytes) ? NULL : mem_try_alloc(bytes > 0 ? bytes : 1);
}

/* Fails: false: no memory. */
static bool make_inbox(struct inbox *in, size_t count, size_t room, size_t control_room)
{
	in->count = count < UIO_MAXIOV ? (unsigned)count : UIO_MAXIOV; /* the kernel takes no more */
	in->headers = (struct mmsghdr *)alloc_parts(in->count, sizeof(*in->headers) + sizeof(*in->each));
	in->bytes = alloc_parts(in->count, room);
	in->control = alloc_parts(in->count, control_room);
	if (in->headers == NULL || in->bytes == NULL || in->control == NULL) {
		free_inbox(in);
		return false;
	}
	in->each = (struct inbox_message *)(in->headers + in->count);
	for (unsigned i = 0; i < in->count; i++) {
		in->each[i].part = (struct iovec){ in->bytes + i * room, room };
		in->headers[i].msg_hdr = (struct msghdr){ .msg_name = &in->each[i].from,
							  .msg_namelen = sizeof(in->each[i].from),
							  .msg_iov = &in->each[i].part, .msg_iovlen = 1,
							  .msg_control = in->control + i * control_room,
							  .msg_controllen = control_room };
	}
	return true;
}

/* The first n messages, in their order. Of a stream, none behind its end. */
static Term put_inbox(struct nif_env *env, struct sock *s, const struct inbox *in, unsigned n, int flags)
{
	Term list = NIL;

	while (n-- > 0) {
		struct mmsghdr *m = &in->headers[n];
		const struct iovec *part = m->msg_hdr.msg_iov;
		size_t bytes = m->msg_len < part->iov_len ? m->msg_len : part->iov_len;

		if (s->type == SOCK_STREAM && bytes == 0)
			continue;
		m->msg_hdr.msg_flags &= ~(flags & MSG_CMSG_CLOEXEC ? 0 : MSG_CMSG_CLOEXEC);
		sock_count(s, SOCK_COUNT_read_pkg, 1);
		sock_count(s, SOCK_COUNT_read_byte, m->msg_len);
		list = heap_cons(env->heap,
				 put_message(env, &m->msg_hdr, binary_put(env->heap, part->iov_base, bytes)), list);
	}
	return sock_ok(env, list);
}

static Term receive_messages(struct nif_env *env, struct sock *s, const size_t *lengths, int flags, Term ref)
{
	struct inbox in;
	Term answer;
	int n;

	if (may_not_read(env, s, ref, &answer))
		return answer;
	if (!make_inbox(&in, lengths[0], lengths[1] != 0 ? lengths[1] : s->buffer_bytes,
			lengths[2] != 0 ? lengths[2] : s->control_in_bytes))
		return sock_errno(env, ENOMEM);
	sock_count(s, SOCK_COUNT_read_tries, 1);
	n = recvmmsg(s->fd, in.headers, in.count, flags | MSG_CMSG_CLOEXEC, NULL);
	if (!is_no_message(env, s, n > 0 ? (ssize_t)in.headers[0].msg_len : n, ref, &answer)) {
		next_reader(env, s);
		answer = put_inbox(env, s, &in, n > 0 ? (unsigned)n : 0, flags);
	}
	free_inbox(&in);
	return answer;
}

/* nif_recvmmsg(Socket, Messages, Length, ControlLength, Flags, Ref) */
Term sock_recvmmsg(struct nif_env *env, int argc, const Term *argv)
{
	(void)argc;
	return receive_with(env, argv, 4, receive_messages);
}
