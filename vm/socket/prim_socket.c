/* SPDX-License-Identifier: Apache-2.0 */
/* The native functions of prim_socket: the small ones, and the table of all. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <netdb.h>
#include <netinet/in.h>
#include <sched.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/alloc.h"
#include "data/binary.h"
#include "data/iolist.h"
#include "data/map.h"
#include "socket/sock.h"
#include "socket/sock_address.h"
#include "socket/sock_control.h"
#include "socket/socket.h"

#define COUNT_OF(array) (sizeof(array) / sizeof((array)[0]))

/* ---- info */

static Term put_global_info(struct heap *h)
{
	const struct sock_setting *s = sock_settings();

	return map_from_pairs(h,
			      (Term[]){ am_debug, sock_bool(s->debug), am_socket_debug, sock_bool(s->socket_debug),
					am_use_registry, sock_bool(s->use_registry), am_iow, sock_bool(s->iow),
					am_counters, sock_put_totals(h), am_iov_max, term_from_small(IOV_MAX) },
			      6);
}

static Term put_states(struct heap *h, unsigned state)
{
	static const struct { unsigned bit; Term name; } names[] = {
		{ SOCK_BOUND, am_bound }, { SOCK_LISTENING, am_listening }, { SOCK_ACCEPTING, am_accepting },
		{ SOCK_CONNECTING, am_connecting }, { SOCK_CONNECTED, am_connected }, { SOCK_SELECTED, am_selected },
		{ SOCK_CLOSING, am_closing }, { SOCK_CLOSED, am_closed },
	};
	Term list[COUNT_OF(names)];
	size_t n = 0;

	for (size_t i = 0; i < COUNT_OF(names); i++)
		if (state & names[i].bit)
			list[n++] = names[i].name;
	return heap_list_array(h, n, list, NIL);
}

static Term put_counters(struct heap *h, const struct sock *s)
{
#define NAME(name) am_##name,
	static const Term names[] = { SOCK_COUNTERS(NAME) SOCK_FILE_COUNTERS(NAME) };
#undef NAME
	size_t n = s->has_sent_files ? SOCK_COUNTER_KINDS : SOCK_COUNT_sendfile;
	Term pairs[2 * SOCK_COUNTER_KINDS];

	for (size_t i = 0; i < n; i++) {
		pairs[2 * i] = names[i];
		pairs[2 * i + 1] = heap_uint(h, s->counters[i]);
	}
	return map_from_pairs(h, pairs, n);
}

static Term put_kind(struct heap *h, const struct sock *s)
{
	if (s->original_fd <= 0)
		return am_normal;
	return s->close_fd ? heap_tuple(h, am_fromfd, term_from_small(s->original_fd)) : am_fromfd;
}

static Term put_info(struct heap *h, const struct sock *s)
{
	Term pairs[] = {
		am_domain,        sock_domain_put(s->domain),
		am_type,          sock_type_put(s->type),
		am_protocol,      term_from_small(s->protocol),
		am_owner,         s->owner.pid != TERM_NONE ? s->owner.pid : am_undefined,
		am_rstates,       put_states(h, s->state[SOCK_READ]),
		am_wstates,       put_states(h, s->state[SOCK_WRITE]),
		am_ctype,         put_kind(h, s),
		am_counters,      put_counters(h, s),
		am_num_readers,   sock_count_waiters(s, SOCK_READERS),
		am_num_writers,   sock_count_waiters(s, SOCK_WRITERS),
		am_num_acceptors, sock_count_waiters(s, SOCK_ACCEPTORS),
	};

	return map_from_pairs(h, pairs, COUNT_OF(pairs) / 2);
}

static Term info(struct nif_env *env, int argc, const Term *argv)
{
	struct sock *s;
	Term answer;

	if (argc == 0)
		return put_global_info(env->heap);
	s = sock_from_term(env, argv[0]);
	if (s == NULL)
		return enif_make_badarg(env);
	sock_lock(s);
	answer = put_info(env->heap, s);
	sock_unlock(s);
	return answer;
}

/* #{command := C, data := true or false}: that setting. */
static Term command(struct nif_env *env, int argc, const Term *argv)
{
	struct sock_setting *settings = sock_settings();
	const struct { Term name; bool *setting; } commands[] = {
		{ am_debug, &settings->debug }, { am_socket_debug, &settings->socket_debug },
		{ am_use_registry, &settings->use_registry },
	};
	Term name = sock_map_get(argv[0], am_command), data = sock_map_get(argv[0], am_data);
	bool b;

	(void)argc;
	if (name == TERM_NONE || data == TERM_NONE)
		return enif_make_badarg(env);
	for (size_t i = 0; i < COUNT_OF(commands); i++) {
		if (commands[i].name != name)
			continue;
		if (!sock_get_bool(data, &b))
			return sock_raise_invalid(env, heap_tuple(env->heap, am_data, data));
		*commands[i].setting = b;
		return am_ok;
	}
	return sock_raise_invalid(env, heap_tuple(env->heap, am_command, name));
}

/* ---- supports */

static Term put_features(struct heap *h)
{
	static const struct { Term name; bool is; } features[] = {
		{ am_sctp, true }, { am_ipv6, true }, { am_local, true }, { am_netns, true }, { am_sendfile, true },
	};
	Term list[COUNT_OF(features)];

	for (size_t i = 0; i < COUNT_OF(features); i++)
		list[i] = heap_tuple(h, features[i].name, sock_bool(features[i].is));
	return heap_list_array(h, COUNT_OF(features), list, NIL);
}

static Term put_atom(struct nif_env *env, const char *name)
{
	Term t = atom_from_latin1(name, strlen(name), NULL);

	(void)env;
	return t != TERM_NONE ? t : am_undefined;
}

/* [{[Name, Alias, ...], Number}]: the machine's, and those that there are anyway */
static Term put_protocols(struct nif_env *env)
{
	struct heap *h = env->heap;
	struct protoent one, *found;
	char buffer[4096];
	Term list = NIL;

	setprotoent(1);
	while (getprotoent_r(&one, buffer, sizeof(buffer), &found) == 0 && found != NULL) {
		Term names = NIL;

		for (char **alias = one.p_aliases; *alias != NULL; alias++)
			names = heap_cons(h, put_atom(env, *alias), names);
		names = heap_cons(h, put_atom(env, one.p_name), names);
		list = heap_cons(h, heap_tuple(h, names, term_from_small(one.p_proto)), list);
	}
	endprotoent();
	for (const struct sock_level *l = sock_levels; l < sock_levels + SOCK_LEVELS; l++)
		list = heap_cons(h, heap_tuple(h, heap_cons(h, l->name, NIL), term_from_small(l->number)), list);
	return list;
}

static Term supports(struct nif_env *env, int argc, const Term *argv)
{
	if (argc == 0)
		return put_features(env->heap);
	if (argv[0] == am_msg_flags)
		return sock_message_flags_list(env->heap);
	if (argv[0] == am_protocols)
		return put_protocols(env);
	if (argv[0] == am_ioctl_requests)
		return sock_put_ioctls(env);
	if (argv[0] == am_ioctl_flags)
		return sock_put_ioctl_flags(env);
	return argv[0] == am_options ? sock_put_options(env) : NIL;
}

/* ---- open */

static bool get_number(int fd, int option, int *to)
{
	socklen_t n = sizeof(*to);

	return getsockopt(fd, SOL_SOCKET, option, to, &n) == 0;
}

static bool get_option(Term options, Term key, bool otherwise)
{
	bool b;

	return sock_get_bool(sock_map_get(options, key), &b) ? b : otherwise;
}

static Term enter(struct nif_env *env, struct sock *s, Term options)
{
	s->debug = get_option(options, am_debug, s->debug);
	s->use_registry = get_option(options, am_use_registry, s->use_registry);
	return sock_ok(env, sock_enter(env, s));
}

/* The calling thread's network namespace is that of the path. Returns a descriptor of the one before; -errno. */
static int enter_namespace(Term path)
{
	char text[PATH_MAX];
	size_t n = binary_size_bytes(path);
	int before, fd, error = 0;

	if (n >= sizeof(text) || iolist_copy(path, (uint8_t *)text, n) != IOLIST_OK)
		return -ENAMETOOLONG;
	text[n] = 0;
	before = open("/proc/self/ns/net", O_RDONLY | O_CLOEXEC);
	if (before < 0)
		return -errno;
	fd = open(text, O_RDONLY | O_CLOEXEC);
	if (fd < 0 || setns(fd, CLONE_NEWNET) != 0)
		error = errno;
	if (fd >= 0)
		close(fd);
	if (error == 0)
		return before;
	close(before);
	return -error;
}

/* Returns a descriptor, or -errno. */
static int open_in(Term path, int domain, int type, int protocol)
{
	bool elsewhere = path != TERM_NONE && term_is_binary(path);
	int before = elsewhere ? enter_namespace(path) : -1, fd, error = 0;

	if (elsewhere && before < 0)
		return before;
	fd = socket(domain, type | SOCK_CLOEXEC, protocol);
	if (fd < 0)
		error = errno;
	if (elsewhere && setns(before, CLONE_NEWNET) != 0 && error == 0)
		error = errno;
	if (elsewhere)
		close(before);
	if (error != 0 && fd >= 0)
		close(fd);
	return error == 0 ? fd : -error;
}

static Term open_new(struct nif_env *env, int argc, const Term *argv)
{
	int domain, type, protocol, fd;
	struct sock *s;

	(void)argc;
	if (!enif_get_int(env, argv[2], &protocol))
		return sock_bad_integer(env, argv[2]);
	if (!term_is_map(argv[3]))
		return enif_make_badarg(env);
	if (sock_domain_read(argv[0], &domain) == SOCK_NO_NAME)
		return sock_invalid(env, am_domain);
	if (!sock_type_read(argv[1], &type))
		return sock_invalid(env, am_type);
	fd = open_in(sock_map_get(argv[3], am_netns), domain, type, protocol);
	if (fd < 0)
		return sock_errno(env, -fd);
	if (protocol == 0)
		get_number(fd, SO_PROTOCOL, &protocol);
	s = sock_new(fd, domain, type, protocol);
	if (s == NULL) {
		close(fd);
		return sock_errno(env, ENOMEM);
	}
	return enter(env, s, argv[3]);
}

/* What a descriptor is that is given; what the kernel does not say, the options do. Fails: its name. */
static Term ask_fd(struct nif_env *env, int fd, Term options, int *domain, int *type, int *protocol)
{
	Term d = sock_map_get(options, am_domain), t = sock_map_get(options, am_type),
	     p = sock_map_get(options, am_protocol);

	if (!get_number(fd, SO_DOMAIN, domain) && (d == TERM_NONE || sock_domain_read(d, domain) == SOCK_NO_NAME))
		return am_domain;
	if (!get_number(fd, SO_TYPE, type) && (t == TERM_NONE || !sock_type_read(t, type)))
		return am_type;
	if (!get_number(fd, SO_PROTOCOL, protocol) && (p == TERM_NONE || !enif_get_int(env, p, protocol)))
		*protocol = 0;
	return TERM_NONE;
}

static Term open_fd(struct nif_env *env, int argc, const Term *argv)
{
	int given, fd, domain, type, protocol;
	bool dups = get_option(argv[1], am_dup, true);
	union sock_address a;
	socklen_t n = sizeof(a);
	struct sock *s;
	Term wrong;

	(void)argc;
	if (!enif_get_int(env, argv[0], &given))
		return sock_bad_integer(env, argv[0]);
	if (!term_is_map(argv[1]))
		return enif_make_badarg(env);
	wrong = ask_fd(env, given, argv[1], &domain, &type, &protocol);
	if (wrong != TERM_NONE)
		return sock_invalid(env, wrong);
	fd = dups ? fcntl(given, F_DUPFD_CLOEXEC, 0) : given;
	if (fd < 0)
		return sock_errno(env, errno);
	s = sock_new(fd, domain, type, protocol);
	if (s == NULL) {
		if (dups)
			close(fd);
		return sock_errno(env, ENOMEM);
	}
	s->close_fd = dups;
	s->original_fd = given;
	if (getpeername(fd, &a.any, &n) == 0)
		s->state[SOCK_WRITE] |= SOCK_CONNECTED;
	return enter(env, s, argv[1]);
}

/* ---- bind, listen, names, shutdown */

static Term bind_to(struct nif_env *env, struct sock *s, const union sock_address *a, socklen_t n)
{
	if (!sock_is_open(s, SOCK_READ))
		return sock_error(env, am_closed);
	if (bind(s->fd, &a->any, n) != 0)
		return sock_errno(env, errno);
	s->state[SOCK_READ] |= SOCK_BOUND;
	return am_ok;
}

static Term bind_socket(struct nif_env *env, int argc, const Term *argv)
{
	struct sock *s = sock_from_term(env, argv[0]);
	union sock_address a;
	socklen_t n;
	Term answer;

	(void)argc;
	if (s == NULL)
		return enif_make_badarg(env);
	if (!sock_address_read(argv[1], &a, &n))
		return sock_invalid(env, am_sockaddr);
	lock_acquire(&s->locks[SOCK_READ]);
	answer = bind_to(env, s, &a, n);
	lock_release(&s->locks[SOCK_READ]);
	return answer;
}

static Term listen_at(struct nif_env *env, struct sock *s, int backlog)
{
	if (!sock_is_open(s, SOCK_READ))
		return sock_error(env, am_closed);
	if (listen(s->fd, backlog) != 0)
		return sock_errno(env, errno);
	s->state[SOCK_READ] |= SOCK_LISTENING;
	return am_ok;
}

static Term listen_socket(struct nif_env *env, int argc, const Term *argv)
{
	struct sock *s = sock_from_term(env, argv[0]);
	int backlog;
	Term answer;

	(void)argc;
	if (s == NULL)
		return enif_make_badarg(env);
	if (!enif_get_int(env, argv[1], &backlog))
		return sock_bad_integer(env, argv[1]);
	lock_acquire(&s->locks[SOCK_READ]);
	answer = listen_at(env, s, backlog);
	lock_release(&s->locks[SOCK_READ]);
	return answer;
}

static Term put_name(struct nif_env *env, const Term *argv, int (*ask)(int fd, struct sockaddr *a, socklen_t *n))
{
	struct sock *s = sock_from_term(env, argv[0]);
	union sock_address a = { 0 };
	socklen_t n = sizeof(a);
	Term answer;

	if (s == NULL)
		return enif_make_badarg(env);
	lock_acquire(&s->locks[SOCK_READ]);
	if (!sock_is_open(s, SOCK_READ))
		answer = sock_error(env, am_closed);
	else if (ask(s->fd, &a.any, &n) != 0)
		answer = sock_errno(env, errno);
	else
		answer = sock_ok(env, sock_address_put(env->heap, &a, n < sizeof(a) ? n : sizeof(a)));
	lock_release(&s->locks[SOCK_READ]);
	return answer;
}

static int ask_own(int fd, struct sockaddr *a, socklen_t *n)
{
	return getsockname(fd, a, n);
}

static int ask_peer(int fd, struct sockaddr *a, socklen_t *n)
{
	return getpeername(fd, a, n);
}

static Term sockname(struct nif_env *env, int argc, const Term *argv)
{
	(void)argc;
	return put_name(env, argv, ask_own);
}

static Term peername(struct nif_env *env, int argc, const Term *argv)
{
	(void)argc;
	return put_name(env, argv, ask_peer);
}

static Term shut(struct nif_env *env, int argc, const Term *argv)
{
	struct sock *s = sock_from_term(env, argv[0]);
	int how = argv[1] == am_read         ? SHUT_RD
		  : argv[1] == am_write      ? SHUT_WR
		  : argv[1] == am_read_write ? SHUT_RDWR
					     : -1;
	Term answer;

	(void)argc;
	if (s == NULL)
		return enif_make_badarg(env);
	if (how < 0)
		return sock_raise_invalid(env, heap_tuple(env->heap, am_how, argv[1]));
	lock_acquire(&s->locks[SOCK_READ]);
	if (!sock_is_open(s, SOCK_READ))
		answer = sock_error(env, am_closed);
	else
		answer = shutdown(s->fd, how) == 0 ? am_ok : sock_errno(env, errno);
	lock_release(&s->locks[SOCK_READ]);
	return answer;
}

/* ---- the table */

static int load(struct nif_env *env, void **data, Term load_info)
{
	(void)data;
	return !sock_load(env, load_info);
}

static struct nif_entry_function functions[] = {
	{ "nif_info", 0, info, 0 }, { "nif_info", 1, info, 0 },
	{ "nif_supports", 0, supports, 0 }, { "nif_supports", 1, supports, 0 },
	{ "nif_command", 1, command, 0 },
	{ "nif_open", 2, open_fd, 0 }, { "nif_open", 4, open_new, 0 },
	{ "nif_bind", 2, bind_socket, 0 },
	{ "nif_connect", 1, sock_connect, 0 }, { "nif_connect", 3, sock_connect, 0 },
	{ "nif_listen", 2, listen_socket, 0 }, { "nif_accept", 2, sock_accept, 0 },
	{ "nif_send", 4, sock_send, 0 }, { "nif_sendto", 5, sock_sendto, 0 }, { "nif_sendmsg", 5, sock_sendmsg, 0 },
	{ "nif_sendv", 3, sock_sendv, 0 },
	{ "nif_sendfile", 1, sock_end_sendfile, NIF_DIRTY_IO }, { "nif_sendfile", 4, sock_sendfile, NIF_DIRTY_IO },
	{ "nif_sendfile", 5, sock_sendfile, NIF_DIRTY_IO },
	{ "nif_recv", 4, sock_recv, 0 }, { "nif_recvfrom", 4, sock_recvfrom, 0 }, { "nif_recvmsg", 5, sock_recvmsg, 0 },
	{ "nif_close", 1, sock_close, 0 }, { "nif_finalize_close", 1, sock_finish_close, NIF_DIRTY_IO },
	{ "nif_shutdown", 2, shut, 0 },
	{ "nif_setopt", 5, sock_setopt, 0 }, { "nif_getopt", 3, sock_getopt, 0 }, { "nif_getopt", 4, sock_getopt, 0 },
	{ "nif_getopt", 5, sock_getopt, 0 },
	{ "nif_sockname", 1, sockname, 0 }, { "nif_peername", 1, peername, 0 },
	{ "nif_ioctl", 2, sock_ioctl, NIF_DIRTY_IO }, { "nif_ioctl", 3, sock_ioctl, NIF_DIRTY_IO },
	{ "nif_ioctl", 4, sock_ioctl, NIF_DIRTY_IO },
	{ "nif_cancel", 3, sock_cancel, 0 },
	{ "nif_bind", 3, sock_bind_several, 0 }, { "nif_peeloff", 2, sock_peeloff, 0 },
	{ "nif_socknames", 2, sock_names, 0 }, { "nif_peernames", 2, sock_peer_names, 0 },
	{ "nif_sendmmsg", 4, sock_sendmmsg, 0 }, { "nif_recvmmsg", 6, sock_recvmmsg, 0 },
};

const struct nif_entry socket_prim_socket = {
	.major = NIF_MAJOR, .minor = NIF_LINKED_MINOR, .name = "prim_socket", .function_count = COUNT_OF(functions),
	.functions = functions, .load = load, .vm_variant = NIF_VM_VARIANT, .options = 1,
	.type_init_bytes = sizeof(struct nif_type_init), .oldest_erts = "erts-13.0",
};
