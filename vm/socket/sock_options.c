/* SPDX-License-Identifier: Apache-2.0 */
/* Options of sockets: those of the kernel by the table sock_options.def, those of OTP's own level by another. A third
 * way takes and gives what the kernel does, by numbers (setopt_native, getopt_native). */
#include <errno.h>
#include <limits.h>
#include <net/if.h>
#include <netinet/ip.h>
#include <netinet/tcp.h>
#include <netinet/udp.h>
#include <stdint.h>
#include <sys/socket.h>

#include <linux/sctp.h> /* which needs stdint.h and sys/socket.h */

#include "base/alloc.h"
#include "base/release.h"
#include "data/binary.h"
#include "data/map.h"
#include "socket/sock.h"
#include "socket/sock_address.h"
#include "socket/sock_control.h"

enum { CONGESTION_BYTES = 17 };

/* ---- set */

/* On Linux the type of service and the priority change each other: the one that was not meant is put back. */
static int set_kept(int fd, int level, int number, const void *value, socklen_t n)
{
	int priority = 0, tos = 0;
	socklen_t p = sizeof(priority), t = sizeof(tos);
	bool has_priority = getsockopt(fd, SOL_SOCKET, SO_PRIORITY, &priority, &p) == 0;
	bool has_tos = getsockopt(fd, IPPROTO_IP, IP_TOS, &tos, &t) == 0;

	if (setsockopt(fd, level, number, value, n) != 0)
		return errno;
	if (level == SOL_SOCKET && number == SO_PRIORITY) {
		if (has_tos)
			setsockopt(fd, IPPROTO_IP, IP_TOS, &tos, t);
		setsockopt(fd, level, number, value, n);
	} else if (has_priority) {
		setsockopt(fd, SOL_SOCKET, SO_PRIORITY, &priority, p);
	}
	return 0;
}

static Term set_bytes(struct nif_env *env, struct sock *s, int level, int number, const void *value, socklen_t n)
{
	bool mixes = (level == SOL_SOCKET && number == SO_PRIORITY) || (level == IPPROTO_IP && number == IP_TOS);
	int error = mixes ? set_kept(s->fd, level, number, value, n) :
		    setsockopt(s->fd, level, number, value, n) != 0 ? errno : 0;

	return error == 0 ? am_ok : sock_errno(env, error);
}

#define SETTER(name) static Term set_##name(struct nif_env *env, struct sock *s, int level, int number, Term value)
#define SET(v) set_bytes(env, s, level, number, &(v), sizeof(v))
#define BAD_VALUE sock_invalid(env, am_value)

SETTER(int)
{
	int i;

	return enif_get_int(env, value, &i) ? SET(i) : BAD_VALUE;
}

SETTER(bool)
{
	bool b;
	int i;

	if (!sock_get_bool(value, &b))
		return BAD_VALUE;
	i = b;
	return SET(i);
}

SETTER(linger)
{
	Term on = sock_map_get(value, am_onoff), seconds = sock_map_get(value, am_linger);
	struct linger l = { 1, 0 };
	bool b;

	if (value == am_abort)
		return SET(l);
	if (on == TERM_NONE || seconds == TERM_NONE || !sock_get_bool(on, &b) ||
	    !enif_get_int(env, seconds, &l.l_linger) || l.l_linger < 0)
		return BAD_VALUE;
	l.l_onoff = b;
	return SET(l);
}

static Term set_text(struct nif_env *env, struct sock *s, int level, int number, Term value, unsigned room)
{
	char text[IFNAMSIZ + CONGESTION_BYTES];
	int n = enif_get_string(env, value, text, room, NIF_LATIN1);

	return n > 0 ? set_bytes(env, s, level, number, text, (socklen_t)n - 1) : BAD_VALUE;
}

SETTER(device)
{
	return set_text(env, s, level, number, value, IFNAMSIZ);
}

SETTER(congestion)
{
	return set_text(env, s, level, number, value, CONGESTION_BYTES);
}

SETTER(membership)
{
	Term group = sock_map_get(value, am_multiaddr), interface = sock_map_get(value, am_interface);
	struct ip_mreq m;

	if (group == TERM_NONE || interface == TERM_NONE || !sock_in_read(group, &m.imr_multiaddr) ||
	    !sock_in_read(interface, &m.imr_interface))
		return BAD_VALUE;
	return SET(m);
}

SETTER(membership6)
{
	Term group = sock_map_get(value, am_multiaddr), interface = sock_map_get(value, am_interface);
	struct ipv6_mreq m;

	if (group == TERM_NONE || interface == TERM_NONE || !sock_in6_read(group, &m.ipv6mr_multiaddr) ||
	    !enif_get_uint(env, interface, &m.ipv6mr_interface))
		return BAD_VALUE;
	return SET(m);
}

SETTER(source)
{
	Term group = sock_map_get(value, am_multiaddr), interface = sock_map_get(value, am_interface);
	Term source = sock_map_get(value, am_sourceaddr);
	struct ip_mreq_source m;

	if (group == TERM_NONE || interface == TERM_NONE || source == TERM_NONE ||
	    !sock_in_read(group, &m.imr_multiaddr) || !sock_in_read(interface, &m.imr_interface) ||
	    !sock_in_read(source, &m.imr_sourceaddr))
		return BAD_VALUE;
	return SET(m);
}

/* Fails: false. */
static bool read_filter(Term value, struct ip_msfilter *f, size_t sources, Term list)
{
	Term group = sock_map_get(value, am_multiaddr), interface = sock_map_get(value, am_interface);
	Term mode = sock_map_get(value, am_mode);

	if (group == TERM_NONE || interface == TERM_NONE || (mode != am_include && mode != am_exclude) ||
	    !sock_in_read(group, &f->imsf_multiaddr) || !sock_in_read(interface, &f->imsf_interface))
		return false;
	f->imsf_fmode = mode == am_include ? MCAST_INCLUDE : MCAST_EXCLUDE;
	f->imsf_numsrc = (uint32_t)sources;
	for (size_t i = 0; i < sources; i++, list = cons_tail(list))
		if (!sock_in_read(cons_head(list), &f->imsf_slist[i]))
			return false;
	return true;
}

SETTER(source_filter)
{
	enum { SOURCES_MAX = 1 << 16 };
	Term list = sock_map_get(value, am_slist), answer = BAD_VALUE;
	struct ip_msfilter *f;
	size_t sources = 0;

	if (value == am_null)
		return set_bytes(env, s, level, number, NULL, 0);
	if (list == TERM_NONE)
		return answer;
	for (Term t = list; term_is_cons(t) && sources < SOURCES_MAX; t = cons_tail(t))
		sources++;
	f = mem_zalloc(IP_MSFILTER_SIZE(sources) + sizeof(*f));
	if (read_filter(value, f, sources, list))
		answer = set_bytes(env, s, level, number, f, (socklen_t)IP_MSFILTER_SIZE(sources));
	mem_free(f);
	return answer;
}

static const struct { Term name; int number; } discoveries[] = {
	{ am_want, IP_PMTUDISC_WANT }, { am_dont, IP_PMTUDISC_DONT }, { am_do, IP_PMTUDISC_DO },
	{ am_probe, IP_PMTUDISC_PROBE },
};
enum { DISCOVERIES = sizeof(discoveries) / sizeof(discoveries[0]) };

SETTER(mtu_discover)
{
	for (size_t i = 0; i < DISCOVERIES; i++)
		if (discoveries[i].name == value)
			return SET(discoveries[i].number);
	return set_int(env, s, level, number, value);
}

SETTER(address)
{
	struct in_addr a;

	return sock_in_read(value, &a) ? SET(a) : BAD_VALUE;
}

SETTER(tos)
{
	int tos;

	return sock_tos_read(value, &tos) ? SET(tos) : BAD_VALUE;
}

SETTER(domain)
{
	int domain;

	return sock_domain_read(value, &domain) != SOCK_NO_NAME ? SET(domain) : BAD_VALUE;
}

SETTER(hops)
{
	int hops = -1;

	if (value != am_default && (!enif_get_int(env, value, &hops) || hops < 0 || hops > UINT8_MAX))
		return BAD_VALUE;
	return SET(hops);
}

SETTER(sctp)
{
	uint8_t bytes[SOCK_SCTP_BYTES];
	size_t n = sock_sctp_read(env, number, value, bytes);

	return n > 0 ? set_bytes(env, s, level, number, bytes, (socklen_t)n) : BAD_VALUE;
}

/* ---- get */

#define GETTER(name) static Term get_##name(struct nif_env *env, struct sock *s, int level, int number)
#define GET(type, v) \
	type v; \
	socklen_t v##_size = sizeof(v); \
	memset(&v, 0, sizeof(v)); \
	if (getsockopt(s->fd, level, number, &v, &v##_size) != 0) \
		return sock_errno(env, errno)

GETTER(int)
{
	GET(int, i);
	return sock_ok(env, term_from_small(i));
}

GETTER(bool)
{
	GET(int, i);
	return sock_ok(env, sock_bool(i != 0));
}

GETTER(domain)
{
	GET(int, domain);
	return sock_ok(env, sock_domain_put(domain));
}

GETTER(type)
{
	GET(int, type);
	return sock_ok(env, sock_type_put(type));
}

GETTER(protocol)
{
	GET(int, protocol);
	return sock_ok(env, protocol == 0 && s->domain == AF_LOCAL ? am_default : term_from_small(protocol));
}

GETTER(linger)
{
	GET(struct linger, l);
	return sock_ok(env, map_from_pairs(env->heap, (Term[]){ am_onoff, sock_bool(l.l_onoff != 0), am_linger,
								term_from_small(l.l_linger) }, 2));
}

static Term get_text(struct nif_env *env, struct sock *s, int level, int number, socklen_t room, bool strips)
{
	char text[IFNAMSIZ + CONGESTION_BYTES] = { 0 };

	if (getsockopt(s->fd, level, number, text, &room) != 0)
		return sock_errno(env, errno);
	if (strips && room > 0 && text[room - 1] == 0)
		room--;
	return sock_ok(env, heap_list_bytes(env->heap, text, room, NIL));
}

GETTER(device)
{
	return get_text(env, s, level, number, IFNAMSIZ + 1, false);
}

GETTER(congestion)
{
	return get_text(env, s, level, number, CONGESTION_BYTES, true);
}

GETTER(mtu_discover)
{
	GET(int, how);
	for (size_t i = 0; i < DISCOVERIES; i++)
		if (discoveries[i].number == how)
			return sock_ok(env, discoveries[i].name);
	return sock_ok(env, term_from_small(how));
}

GETTER(address)
{
	GET(struct in_addr, a);
	return sock_ok(env, sock_in_put(env->heap, &a));
}

GETTER(tos)
{
	GET(int, tos);
	return sock_ok(env, sock_tos_put(env->heap, tos));
}

GETTER(control)
{
	struct msghdr m = { .msg_controllen = s->control_in_bytes };
	socklen_t n = (socklen_t)s->control_in_bytes;
	Term answer;

	m.msg_control = mem_try_alloc(m.msg_controllen);
	if (m.msg_control == NULL)
		return sock_errno(env, ENOMEM);
	if (getsockopt(s->fd, level, number, m.msg_control, &n) != 0) {
		answer = sock_errno(env, errno);
	} else {
		m.msg_controllen = n;
		answer = sock_ok(env, sock_control_put(env->heap, &m));
	}
	mem_free(m.msg_control);
	return answer;
}

GETTER(sctp)
{
	uint8_t bytes[SOCK_SCTP_BYTES] = { 0 };
	socklen_t n = (socklen_t)sock_sctp_bytes(number);

	if (getsockopt(s->fd, level, number, bytes, &n) != 0)
		return sock_errno(env, errno);
	return sock_ok(env, sock_sctp_put(env->heap, number, bytes));
}

/* ---- the table */

static const struct option {
	int listed, since, level, number; /* listed, since: releases; known since the later one */
	Term name;
	Term (*set)(struct nif_env *env, struct sock *s, int level, int number, Term value);
	Term (*get)(struct nif_env *env, struct sock *s, int level, int number);
} options[] = {
#define set_none NULL
#define get_none NULL
#define SINCE(release, level, name, number, set, get) { 0, release, level, number, am_##name, set_##set, get_##get },
#define ADDED(release, level, name, number, set, get) \
	{ release, release, level, number, am_##name, set_##set, get_##get },
#define OPTION(level, name, number, set, get) { 0, 0, level, number, am_##name, set_##set, get_##get },
#define UNKNOWN_SINCE(release, level, name) { release, 0, level, -1, am_##name, NULL, NULL },
#define UNKNOWN(level, name) UNKNOWN_SINCE(0, level, name)
#include "socket/sock_options.def"
};
enum { OPTIONS = sizeof(options) / sizeof(options[0]) };

const struct sock_level sock_levels[SOCK_LEVELS] = {
	{ am_ip, IPPROTO_IP }, { am_ipv6, IPPROTO_IPV6 }, { am_tcp, IPPROTO_TCP }, { am_udp, IPPROTO_UDP },
	{ am_sctp, IPPROTO_SCTP },
};

/* -1: it is not known. */
static int number_of(const struct option *o)
{
	return release_is_from(o->since) ? o->number : -1;
}

static const struct option *find_option(int level, int number)
{
	for (size_t i = 0; i < OPTIONS; i++)
		if (options[i].level == level && number_of(&options[i]) == number && number >= 0)
			return &options[i];
	return NULL;
}

static Term level_name(int level)
{
	for (size_t i = 0; i < SOCK_LEVELS; i++)
		if (sock_levels[i].number == level)
			return sock_levels[i].name;
	return am_socket;
}

/* {Level, its number, Options} since OTP 29, {Level or its number, Options} before. */
static Term put_level(struct heap *h, int level, Term options)
{
	Term number = term_from_small(level);

	if (release_tells_levels())
		return heap_tuple(h, level_name(level), number, options);
	return heap_tuple(h, level == SOL_SOCKET ? am_socket : number, options);
}

/* [a level, with [{Name, Number} or Name]] */
Term sock_put_options(struct nif_env *env)
{
	struct heap *h = env->heap;
	Term levels = NIL, list = NIL;

	for (size_t i = 0; i < OPTIONS; i++) {
		const struct option *o = &options[i];

		if (release_is_from(o->listed))
			list = heap_cons(h, number_of(o) < 0 ? o->name
							     : heap_tuple(h, o->name, term_from_small(number_of(o))),
					 list);
		if (i + 1 < OPTIONS && options[i + 1].level == o->level)
			continue;
		levels = heap_cons(h, put_level(h, o->level, list), levels);
		list = NIL;
	}
	return levels;
}

/* ---- OTP's own level */

static bool read_size(Term t, size_t normal, size_t *to)
{
	unsigned long n = normal;

	if (t != am_default && (!enif_get_ulong(NULL, t, &n) || n == 0 || n > SSIZE_MAX))
		return false;
	*to = n;
	return true;
}

#define OTP_SETTER(name) static Term set_otp_##name(struct nif_env *env, struct sock *s, Term value)
#define OTP_GETTER(name) static Term get_otp_##name(struct nif_env *env, struct sock *s)

OTP_SETTER(debug)
{
	return sock_get_bool(value, &s->debug) ? am_ok : BAD_VALUE;
}

OTP_GETTER(debug)
{
	(void)env;
	return sock_bool(s->debug);
}

OTP_SETTER(iow)
{
	return sock_get_bool(value, &s->iow) ? am_ok : BAD_VALUE;
}

OTP_GETTER(iow)
{
	(void)env;
	return sock_bool(s->iow);
}

static bool is_owner(struct nif_env *env, const struct sock *s)
{
	struct nif_pid self;

	return enif_self(env, &self) != NULL && self.pid == s->owner.pid;
}

OTP_SETTER(owner)
{
	struct nif_pid to;

	if (!is_owner(env, s))
		return sock_error_invalid(env, am_not_owner);
	if (!enif_get_local_pid(env, value, &to))
		return BAD_VALUE;
	enif_demonitor_process(env, s, &s->owner_monitor);
	s->owner = to;
	if (enif_monitor_process(env, s, &s->owner, &s->owner_monitor) != 0)
		sock_lose_owner(env, s);
	return am_ok;
}

OTP_GETTER(owner)
{
	(void)env;
	return s->owner.pid != TERM_NONE ? s->owner.pid : am_undefined;
}

/* Bytes, or {Count, Bytes}. */
OTP_SETTER(buffer)
{
	size_t bytes;
	unsigned count = 0;

	if (!read_size(value, SOCK_BUFFER_BYTES, &bytes) &&
	    (!term_is_tuple(value) || tuple_arity(value) != 2 ||
	     !enif_get_uint(env, sock_elements(value)[0], &count) || count == 0 ||
	     !read_size(sock_elements(value)[1], SOCK_BUFFER_BYTES, &bytes)))
		return BAD_VALUE;
	s->buffer_bytes = bytes;
	s->buffer_count = count;
	return am_ok;
}

OTP_GETTER(buffer)
{
	Term bytes = heap_uint(env->heap, s->buffer_bytes);

	return s->buffer_count == 0 ? bytes : heap_tuple(env->heap, term_from_small(s->buffer_count), bytes);
}

OTP_SETTER(control_in)
{
	return read_size(value, SOCK_CONTROL_BYTES, &s->control_in_bytes) ? am_ok : BAD_VALUE;
}

OTP_GETTER(control_in)
{
	return heap_uint(env->heap, s->control_in_bytes);
}

OTP_SETTER(control_out)
{
	return read_size(value, SOCK_CONTROL_BYTES, &s->control_out_bytes) ? am_ok : BAD_VALUE;
}

OTP_GETTER(control_out)
{
	return heap_uint(env->heap, s->control_out_bytes);
}

OTP_GETTER(fd)
{
	(void)env;
	return term_from_small(s->fd);
}

OTP_SETTER(meta)
{
	if (!is_owner(env, s))
		return sock_error_invalid(env, am_not_owner);
	enif_clear_env(s->meta_env);
	s->meta = enif_make_copy(s->meta_env, value);
	return am_ok;
}

OTP_GETTER(meta)
{
	return enif_make_copy(env, s->meta);
}

OTP_SETTER(registry)
{
	if (value != am_true)
		return BAD_VALUE;
	if (!s->use_registry) {
		s->use_registry = true;
		sock_tell_registry(env, s, am_add);
	}
	return am_ok;
}

OTP_GETTER(registry)
{
	(void)env;
	return sock_bool(s->use_registry);
}

OTP_GETTER(domain)
{
	(void)env;
	return sock_domain_put(s->domain);
}

/* The numbers are prim_socket.erl's. */
static const struct otp_option {
	int number;
	Term (*set)(struct nif_env *env, struct sock *s, Term value);
	Term (*get)(struct nif_env *env, struct sock *s);
} otp_options[] = {
	{ 1001, set_otp_debug, get_otp_debug },
	{ 1002, set_otp_iow, get_otp_iow },
	{ 1003, set_otp_owner, get_otp_owner },
	{ 1004, set_otp_buffer, get_otp_buffer },
	{ 1006, set_otp_control_in, get_otp_control_in },
	{ 1007, set_otp_control_out, get_otp_control_out },
	{ 1008, NULL, get_otp_fd },
	{ 1009, set_otp_meta, get_otp_meta },
	{ 1010, set_otp_registry, get_otp_registry },
	{ 1999, NULL, get_otp_domain },
};

static const struct otp_option *find_otp_option(int number)
{
	for (size_t i = 0; i < sizeof(otp_options) / sizeof(otp_options[0]); i++)
		if (otp_options[i].number == number)
			return &otp_options[i];
	return NULL;
}

static Term raise_otp_option(struct nif_env *env, int number)
{
	return sock_raise_invalid(env, heap_tuple(env->heap, am_otp_socket_option, term_from_small(number)));
}

/* ---- as the kernel has them */

static Term set_native(struct nif_env *env, struct sock *s, int level, int number, Term value)
{
	struct nif_binary b;
	bool is;
	int i;

	if (enif_inspect_binary(env, value, &b))
		return set_bytes(env, s, level, number, b.data, (socklen_t)b.size);
	if (sock_get_bool(value, &is))
		i = is;
	else if (!enif_get_int(env, value, &i))
		return sock_error_invalid(env, am_value);
	return SET(i);
}

/* value: what the kernel finds in the buffer of n bytes; NULL: zeros. */
static Term get_native_bytes(struct nif_env *env, struct sock *s, int level, int number, const void *value, size_t n)
{
	enum { BYTES_MAX = 1 << 20 };
	uint8_t *bytes = n <= BYTES_MAX ? mem_zalloc(n + 1) : NULL;
	socklen_t got = (socklen_t)n;
	Term answer;

	if (bytes == NULL)
		return sock_errno(env, ENOMEM);
	if (value != NULL)
		memcpy(bytes, value, n);
	if (getsockopt(s->fd, level, number, bytes, &got) != 0)
		answer = sock_errno(env, errno);
	else
		answer = sock_ok(env, binary_put(env->heap, bytes, got < n ? got : n));
	mem_free(bytes);
	return answer;
}

static Term get_native(struct nif_env *env, struct sock *s, int level, int number, Term spec)
{
	struct nif_binary b;
	int size;

	if (spec == am_integer)
		return get_int(env, s, level, number);
	if (spec == am_boolean)
		return get_bool(env, s, level, number);
	if (enif_inspect_binary(env, spec, &b))
		return get_native_bytes(env, s, level, number, b.data, b.size);
	if (!enif_get_int(env, spec, &size) || size < 0)
		return BAD_VALUE;
	if (size > 0)
		return get_native_bytes(env, s, level, number, NULL, (size_t)size);
	return getsockopt(s->fd, level, number, NULL, NULL) != 0 ? sock_errno(env, errno) : am_ok;
}

/* ---- nif_setopt(Socket, Level, Number, Value, IsNative), nif_getopt(Socket, Level, Number[, Spec]) Since OTP 29
 * nif_getopt(Socket, Level, Number, native, Spec); what an association is asked for with a value is not had here. */

static Term set_option(struct nif_env *env, struct sock *s, int level, int number, Term value)
{
	const struct option *o = find_option(level, number);

	return o != NULL && o->set != NULL ? o->set(env, s, level, number, value) : sock_invalid(env, am_socket_option);
}

static Term get_option(struct nif_env *env, struct sock *s, int level, int number)
{
	const struct option *o = find_option(level, number);

	return o != NULL && o->get != NULL ? o->get(env, s, level, number) : sock_invalid(env, am_socket_option);
}

static Term set_otp(struct nif_env *env, struct sock *s, int number, Term value)
{
	const struct otp_option *o = find_otp_option(number);

	if (o == NULL || o->set == NULL)
		return raise_otp_option(env, number);
	return sock_is_open(s, SOCK_WRITE) ? o->set(env, s, value) : sock_error(env, am_closed);
}

static Term get_otp(struct nif_env *env, struct sock *s, int number)
{
	const struct otp_option *o = find_otp_option(number);

	if (o == NULL)
		return raise_otp_option(env, number);
	if (!sock_is_open(s, SOCK_READ) && o->get != get_otp_registry)
		return sock_error(env, am_closed);
	return sock_ok(env, o->get(env, s));
}

enum { LEVEL_OTP = -1 };

/* Fails: false with *answer. */
static bool read_place(struct nif_env *env, const Term *argv, int *level, int *number, Term *answer)
{
	*level = argv[1] == am_otp ? LEVEL_OTP : SOL_SOCKET;
	if (argv[1] != am_otp && argv[1] != am_socket && !enif_get_int(env, argv[1], level))
		*answer = sock_bad_integer(env, argv[1]);
	else if (!enif_get_int(env, argv[2], number))
		*answer = sock_bad_integer(env, argv[2]);
	else
		return true;
	return false;
}

/* OTP's options belong to both sides. */
static Term set_otp_locked(struct nif_env *env, struct sock *s, int number, Term value)
{
	Term answer;

	sock_lock(s);
	answer = set_otp(env, s, number, value);
	sock_unlock(s);
	return answer;
}

static Term get_otp_locked(struct nif_env *env, struct sock *s, int number)
{
	Term answer;

	sock_lock(s);
	answer = get_otp(env, s, number);
	sock_unlock(s);
	return answer;
}

Term sock_setopt(struct nif_env *env, int argc, const Term *argv)
{
	struct sock *s = sock_from_term(env, argv[0]);
	int level, number, is_native;
	Term answer;

	(void)argc;
	if (s == NULL || !enif_get_int(env, argv[4], &is_native))
		return enif_make_badarg(env);
	if (!read_place(env, argv, &level, &number, &answer))
		return answer;
	if (argv[1] == am_otp)
		return set_otp_locked(env, s, number, argv[3]);
	lock_acquire(&s->locks[SOCK_WRITE]);
	if (!sock_is_open(s, SOCK_WRITE))
		answer = sock_error(env, am_closed);
	else
		answer = is_native ? set_native(env, s, level, number, argv[3])
				   : set_option(env, s, level, number, argv[3]);
	lock_release(&s->locks[SOCK_WRITE]);
	return answer;
}

Term sock_getopt(struct nif_env *env, int argc, const Term *argv)
{
	struct sock *s = sock_from_term(env, argv[0]);
	int level, number;
	Term answer;

	if (s == NULL)
		return enif_make_badarg(env);
	if (!read_place(env, argv, &level, &number, &answer))
		return answer;
	if (argc == 5 && argv[3] != am_native)
		return sock_invalid(env, am_socket_option);
	if (argv[1] == am_otp)
		return argc == 3 ? get_otp_locked(env, s, number) : enif_make_badarg(env);
	lock_acquire(&s->locks[SOCK_READ]);
	if (!sock_is_open(s, SOCK_READ))
		answer = sock_error(env, am_closed);
	else
		answer = argc > 3 ? get_native(env, s, level, number, argv[argc - 1])
				  : get_option(env, s, level, number);
	lock_release(&s->locks[SOCK_READ]);
	return answer;
}
