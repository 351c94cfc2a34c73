/* SPDX-License-Identifier: Apache-2.0 */
/* The life of a socket: made, owned, closed. Closing goes in three steps: sock_close marks it and has who polls
 * let go of the descriptor; sock_stop, called then, tells the closer that it has; and the closer's
 * sock_finish_close closes the descriptor. A socket whose closer or owner dies is closed by who hears of it last. */
#include "socket/sock.h"

#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/release.h"
#include "data/map.h"
#include "io/posix.h"
#include "proc/process.h"

/* Of all sockets, by what they are. */
#define TOTALS(X) \
	X(num_sockets, true) X(num_tdgrams, type == SOCK_DGRAM) X(num_tstreams, type == SOCK_STREAM) \
	X(num_tseqpkgs, type == SOCK_SEQPACKET) X(num_dlocal, domain == AF_LOCAL) X(num_dinet, domain == AF_INET) \
	X(num_dinet6, domain == AF_INET6) X(num_pip, protocol == IPPROTO_IP) X(num_ptcp, protocol == IPPROTO_TCP) \
	X(num_pudp, protocol == IPPROTO_UDP) X(num_psctp, protocol == IPPROTO_SCTP)
#define TOTAL(name, is) TOTAL_##name,
enum { TOTALS(TOTAL) TOTAL_KINDS };

static struct {
	struct nif_type *type;
	struct nif_pid registry;
	struct sock_setting settings;
	atomic_llong totals[TOTAL_KINDS];
} sockets;

struct sock_setting *sock_settings(void)
{
	return &sockets.settings;
}

static void count_total(int domain, int type, int protocol, long long by)
{
#define COUNT(name, is) \
	if (is) \
		atomic_fetch_add_explicit(&sockets.totals[TOTAL_##name], by, memory_order_relaxed);
	TOTALS(COUNT)
#undef COUNT
}

Term sock_put_totals(struct heap *h)
{
	Term pairs[2 * (TOTAL_KINDS + 1)], *at = pairs;

	*at++ = am_num_cnt_bits;
	*at++ = term_from_small(64);
#define PUT(name, is) *at++ = am_##name, *at++ = heap_int(h, atomic_load(&sockets.totals[TOTAL_##name]));
	TOTALS(PUT)
#undef PUT
	return map_from_pairs(h, pairs, TOTAL_KINDS + 1);
}

/* ---- answers */

Term sock_errno(struct nif_env *env, int error)
{
	return sock_error(env, posix_error_atom(error));
}

Term sock_bad_integer(struct nif_env *env, Term t)
{
	Term why;

	if (!term_is_integer(t))
		return enif_make_badarg(env);
	why = heap_tuple(env->heap, am_integer_range, t);
	return release_says_error() && !release_says_invalid() ? sock_error_invalid(env, why) : sock_invalid(env, why);
}

Term sock_map_get(Term map, Term key)
{
	return term_is_map(map) ? map_get(map, key) : TERM_NONE;
}

/* ---- made */

static void read_setting(Term map, Term key, bool *to)
{
	bool b;

	if (sock_get_bool(sock_map_get(map, key), &b))
		*to = b;
}

bool sock_load(struct nif_env *env, Term load_info)
{
	struct nif_type_init calls = { .dtor = sock_dtor, .stop = sock_stop, .down = sock_down, .members = 3 };
	Term registry = sock_map_get(load_info, am_registry);

	if (registry == TERM_NONE || !enif_get_local_pid(env, registry, &sockets.registry))
		return false;
	sockets.settings = (struct sock_setting){ .use_registry = true };
	read_setting(load_info, am_use_registry, &sockets.settings.use_registry);
	read_setting(load_info, am_iow, &sockets.settings.iow);
	sockets.type = enif_open_resource_type_x(env, "sockets", &calls, NIF_TYPE_CREATE, NULL);
	return sockets.type != NULL;
}

struct sock *sock_from_term(struct nif_env *env, Term t)
{
	void *s;

	return enif_get_resource(env, t, sockets.type, &s) ? s : NULL;
}

struct sock *sock_new(int fd, int domain, int type, int protocol)
{
	struct sock *s = enif_alloc_resource(sockets.type, sizeof(*s));

	if (s == NULL)
		return NULL;
	memset(s, 0, sizeof(*s));
	lock_init(&s->locks[SOCK_READ], LOCK_socket_read);
	lock_init(&s->locks[SOCK_WRITE], LOCK_socket_write);
	fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) | O_NONBLOCK);
	s->fd = fd;
	s->domain = domain;
	s->type = type;
	s->protocol = protocol;
	s->original_fd = s->file = -1;
	s->close_fd = true;
	s->use_registry = sockets.settings.use_registry;
	s->debug = sockets.settings.socket_debug;
	s->owner.pid = s->closer.pid = TERM_NONE;
	s->meta_env = enif_alloc_env();
	s->meta = am_undefined;
	s->buffer_bytes = SOCK_BUFFER_BYTES;
	s->control_in_bytes = s->control_out_bytes = SOCK_CONTROL_BYTES;
	count_total(domain, type, protocol, 1);
	return s;
}

void sock_tell_registry(struct nif_env *env, struct sock *s, Term what)
{
	Term socket;

	if (!s->use_registry)
		return;
	socket = heap_tuple(env->heap, am_socket_tag, enif_make_resource(env, s));
	enif_send(env, &sockets.registry, NULL, heap_tuple(env->heap, am_socket_tag, what, socket));
}

Term sock_enter(struct nif_env *env, struct sock *s)
{
	Term ref = enif_make_resource(env, s);

	enif_release_resource(s);
	enif_self(env, &s->owner);
	enif_monitor_process(env, s, &s->owner, &s->owner_monitor);
	sock_tell_registry(env, s, am_add);
	return ref;
}

/* ---- closed */

/* Who polls lets go of the descriptor, all who wait are told. True: sock_stop follows. */
static bool let_go(struct nif_env *env, struct sock *s)
{
	bool selected = (s->state[SOCK_READ] | s->state[SOCK_WRITE]) & SOCK_SELECTED;
	int status = selected ? enif_select(env, s->fd, NIF_SELECT_STOP, s, NULL, am_undefined) : 0;
	bool reads = status & NIF_SELECTED_READ_CANCELLED, writes = status & NIF_SELECTED_WRITE_CANCELLED;

	sock_abort_lane(env, s, SOCK_WRITERS, am_closed, writes);
	sock_abort_lane(env, s, SOCK_CONNECTOR, am_closed, writes);
	sock_abort_lane(env, s, SOCK_READERS, am_closed, reads);
	sock_abort_lane(env, s, SOCK_ACCEPTORS, am_closed, reads);
	return status >= 0 && (status & NIF_SELECTED_STOP_SCHEDULED);
}

/* Returns the descriptor, to be closed by the caller; -1: none is to be. */
static int end(struct nif_env *env, struct sock *s)
{
	int fd = s->fd;

	s->fd = -1;
	s->state[SOCK_READ] |= SOCK_CLOSED;
	s->state[SOCK_WRITE] |= SOCK_CLOSED;
	count_total(s->domain, s->type, s->protocol, -1);
	enif_clear_env(s->meta_env);
	s->meta = am_undefined;
	sock_drop_file(s);
	sock_tell_registry(env, s, am_del);
	return s->close_fd ? fd : -1;
}

/* Nobody waits for the outcome. What lingers does so in the kernel: a poll or scheduler thread must not. */
static void close_for_nobody(int fd)
{
	struct linger none = { 0 }, l;
	socklen_t n = sizeof(l);

	if (fd < 0)
		return;
	if (getsockopt(fd, SOL_SOCKET, SO_LINGER, &l, &n) == 0 && l.l_onoff && l.l_linger > 0)
		setsockopt(fd, SOL_SOCKET, SO_LINGER, &none, sizeof(none));
	close(fd);
}

static Term begin_close(struct nif_env *env, struct sock *s)
{
	if (!sock_is_open(s, SOCK_READ))
		return sock_error(env, am_closed);
	enif_self(env, &s->closer);
	s->closer_monitored = s->closer.pid != s->owner.pid &&
			      enif_monitor_process(env, s, &s->closer, &s->closer_monitor) == 0;
	s->state[SOCK_READ] |= SOCK_CLOSING;
	s->state[SOCK_WRITE] |= SOCK_CLOSING;
	if (!let_go(env, s))
		return am_ok;
	s->close_env = enif_alloc_env();
	s->close_ref = heap_ref(s->close_env->heap, 0);
	return sock_ok(env, enif_make_copy(env, s->close_ref));
}

Term sock_close(struct nif_env *env, int argc, const Term *argv)
{
	struct sock *s = sock_from_term(env, argv[0]);
	Term answer;

	(void)argc;
	if (s == NULL)
		return enif_make_badarg(env);
	sock_lock(s);
	answer = begin_close(env, s);
	sock_unlock(s);
	return answer;
}

/* TERM_NONE: the descriptor *fd is to be closed. */
static Term finish(struct nif_env *env, struct sock *s, int *fd)
{
	struct nif_pid self;

	if (s->state[SOCK_READ] & SOCK_CLOSED)
		return sock_error(env, am_closed);
	enif_self(env, &self);
	if (!(s->state[SOCK_READ] & SOCK_CLOSING) || s->close_env != NULL || s->closer.pid != self.pid) {
		sock_raise_invalid(env, am_state);
		*fd = -1;
		return TERM_NONE;
	}
	s->closer.pid = TERM_NONE;
	if (s->closer_monitored)
		enif_demonitor_process(env, s, &s->closer_monitor);
	s->closer_monitored = false;
	if (s->owner.pid != TERM_NONE)
		enif_demonitor_process(env, s, &s->owner_monitor);
	s->owner.pid = TERM_NONE;
	*fd = end(env, s);
	return TERM_NONE;
}

/* On a dirty scheduler: a socket that lingers blocks here. */
Term sock_finish_close(struct nif_env *env, int argc, const Term *argv)
{
	struct sock *s = sock_from_term(env, argv[0]);
	Term answer;
	int fd = -1;

	(void)argc;
	if (s == NULL)
		return enif_make_badarg(env);
	sock_lock(s);
	answer = finish(env, s, &fd);
	sock_unlock(s);
	if (answer != TERM_NONE || env->raised)
		return answer;
	if (fd < 0)
		return am_ok;
	fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) & ~O_NONBLOCK);
	if (close(fd) == 0)
		return am_ok;
	return errno == EAGAIN ? sock_error(env, am_timeout) : sock_errno(env, errno);
}

/* ---- calls of the resource type */

static void tell_closer(struct nif_env *env, struct sock *s)
{
	struct nif_env *in = s->close_env;
	Term socket = heap_tuple(in->heap, am_socket_tag, enif_make_resource(in, s));

	enif_send(env, &s->closer, NULL, heap_tuple(in->heap, am_socket_tag, socket, am_close, s->close_ref));
	s->close_env = NULL;
	enif_free_env(in);
}

void sock_stop(struct nif_env *env, void *object, int fd, int is_direct)
{
	struct sock *s = object;
	int to_close = -1;

	(void)fd;
	if (is_direct) /* who asked holds the locks, and goes on */
		return;
	sock_lock(s);
	if (s->closer.pid != TERM_NONE)
		tell_closer(env, s);
	else if (!(s->state[SOCK_READ] & SOCK_CLOSED))
		to_close = end(env, s);
	sock_unlock(s);
	close_for_nobody(to_close);
}

void sock_lose_owner(struct nif_env *env, struct sock *s)
{
	s->owner.pid = TERM_NONE;
	if (!sock_is_open(s, SOCK_READ))
		return;
	s->state[SOCK_READ] |= SOCK_CLOSING;
	s->state[SOCK_WRITE] |= SOCK_CLOSING;
	if (!let_go(env, s))
		close_for_nobody(end(env, s));
}

/* Before who polls has let go, that closes it; else it is closed here. */
static void lose_closer(struct nif_env *env, struct sock *s)
{
	s->closer.pid = TERM_NONE;
	s->closer_monitored = false;
	if (s->close_env == NULL) {
		close_for_nobody(end(env, s));
		return;
	}
	enif_free_env(s->close_env);
	s->close_env = NULL;
}

void sock_down(struct nif_env *env, void *object, struct nif_pid *pid, struct nif_monitor *monitor)
{
	struct sock *s = object;

	(void)monitor;
	sock_lock(s);
	if (s->closer.pid == pid->pid)
		lose_closer(env, s);
	if (s->owner.pid == pid->pid)
		sock_lose_owner(env, s);
	sock_lose_waiter(env, s, pid);
	sock_unlock(s);
}

/* Nobody else knows of it. */
void sock_dtor(struct nif_env *env, void *object)
{
	struct sock *s = object;

	for (int k = 0; k < SOCK_LANES; k++)
		sock_forget_lane(env, s, k);
	sock_drop_file(s);
	if (s->fd >= 0) {
		count_total(s->domain, s->type, s->protocol, -1);
		close_for_nobody(s->close_fd ? s->fd : -1);
	}
	if (s->close_env != NULL)
		enif_free_env(s->close_env);
	enif_free_env(s->meta_env);
	enif_release_binary(&s->kept);
	for (int side = 0; side < SOCK_SIDES; side++)
		lock_destroy(&s->locks[side]);
}
