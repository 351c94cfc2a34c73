/* SPDX-License-Identifier: Apache-2.0 */
/* The native functions of prim_socket between Erlang terms of any form and a kernel that answers any bytes. The first
 * byte chooses the function; the rest become its arguments, and what the kernel's calls, which are the target's own,
 * put where they are told to. Invariants: nothing is written or read out of bounds; an answer is a whole term; control
 * messages and addresses that were made of bytes, and are taken, make the same term again. For libFuzzer. */
#include <errno.h>
#include <net/if.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

#include "base/alloc.h"
#include "base/log.h"
#include "data/binary.h"
#include "data/compare.h"
#include "data/map.h"
#include "heap/copy.h"
#include "socket/sock.h"
#include "socket/sock_address.h"
#include "socket/sock_control.h"
#include "start.h"

enum { DEPTH_MAX = 5, ELEMENTS_MAX = 7, ARGUMENTS_MAX = 5, CONTROL_ROOM = 256 };

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n);

static struct {
	const uint8_t *at, *end;
	struct sock socket;
} fuzz;

static uint8_t take_byte(void)
{
	return fuzz.at < fuzz.end ? *fuzz.at++ : 0;
}

static uint64_t take_number(size_t bytes)
{
	uint64_t n = 0;

	while (bytes-- > 0)
		n = n << 8 | take_byte();
	return n;
}

/* Up to `room` of the bytes that are left: how many. */
static size_t take_bytes(void *to, size_t room)
{
	size_t left = (size_t)(fuzz.end - fuzz.at), n = left < room ? left : room;

	memcpy(to, fuzz.at, n);
	fuzz.at += n;
	return n;
}

/* ---- the kernel. It keeps to the sizes that it is told, and says what it wrote. */

int __wrap_ioctl(int fd, unsigned long request, void *to);
ssize_t __wrap_recvfrom(int fd, void *to, size_t room, int flags, struct sockaddr *from, socklen_t *from_size);
ssize_t __wrap_recvmsg(int fd, struct msghdr *m, int flags);
ssize_t __wrap_sendto(int fd, const void *bytes, size_t n, int flags, const struct sockaddr *to, socklen_t to_size);
ssize_t __wrap_sendmsg(int fd, const struct msghdr *m, int flags);
int __wrap_getsockopt(int fd, int level, int number, void *to, socklen_t *n);
int __wrap_setsockopt(int fd, int level, int number, const void *value, socklen_t n);
int __wrap_enif_get_resource(struct nif_env *env, Term t, struct nif_type *type, void **to);

static bool fails(void)
{
	bool is = take_byte() == UINT8_MAX;

	errno = EINVAL;
	return is;
}

/* That every byte can be read. */
static void look_at(const void *bytes, size_t n)
{
	uint8_t *copy = mem_alloc(n + 1);

	if (n > 0)
		memcpy(copy, bytes, n);
	mem_free(copy);
}

int __wrap_ioctl(int fd, unsigned long request, void *to)
{
	struct ifconf *c = to;

	(void)fd;
	if (fails())
		return -1;
	if (request != SIOCGIFCONF)
		take_bytes(to, sizeof(struct ifreq));
	else if (c->ifc_buf == NULL)
		c->ifc_len = (int)(take_byte() * sizeof(struct ifreq));
	else
		c->ifc_len =
			(int)(take_bytes(c->ifc_buf, (size_t)c->ifc_len) / sizeof(struct ifreq) * sizeof(struct ifreq));
	return 0;
}

static socklen_t take_name(struct sockaddr *from)
{
	return (socklen_t)take_bytes(from, take_byte() % (sizeof(struct sockaddr_storage) + 1));
}

ssize_t __wrap_recvfrom(int fd, void *to, size_t room, int flags, struct sockaddr *from, socklen_t *from_size)
{
	(void)fd;
	(void)flags;
	if (fails())
		return -1;
	*from_size = take_name(from);
	return (ssize_t)take_bytes(to, room) + take_byte() % 2 * (ssize_t)room; /* MSG_TRUNC tells of more */
}

ssize_t __wrap_recvmsg(int fd, struct msghdr *m, int flags)
{
	(void)fd;
	(void)flags;
	if (fails())
		return -1;
	m->msg_namelen = take_name(m->msg_name);
	m->msg_flags = (int)take_number(4);
	m->msg_controllen = take_bytes(m->msg_control, m->msg_controllen);
	return (ssize_t)take_bytes(m->msg_iov[0].iov_base, m->msg_iov[0].iov_len);
}

ssize_t __wrap_sendto(int fd, const void *bytes, size_t n, int flags, const struct sockaddr *to, socklen_t to_size)
{
	(void)fd;
	(void)flags;
	look_at(bytes, n);
	look_at(to, to_size);
	return fails() ? -1 : (ssize_t)n;
}

ssize_t __wrap_sendmsg(int fd, const struct msghdr *m, int flags)
{
	size_t n = 0;

	(void)fd;
	(void)flags;
	look_at(m->msg_name, m->msg_namelen);
	look_at(m->msg_control, m->msg_controllen);
	for (size_t i = 0; i < m->msg_iovlen; i++) {
		look_at(m->msg_iov[i].iov_base, m->msg_iov[i].iov_len);
		n += m->msg_iov[i].iov_len;
	}
	return fails() ? -1 : (ssize_t)n;
}

int __wrap_getsockopt(int fd, int level, int number, void *to, socklen_t *n)
{
	(void)fd;
	(void)level;
	(void)number;
	if (fails())
		return -1;
	if (n != NULL)
		*n = (socklen_t)take_bytes(to, *n);
	return 0;
}

int __wrap_setsockopt(int fd, int level, int number, const void *value, socklen_t n)
{
	(void)fd;
	(void)level;
	(void)number;
	look_at(value, n);
	return fails() ? -1 : 0;
}

/* Every term is the socket. */
int __wrap_enif_get_resource(struct nif_env *env, Term t, struct nif_type *type, void **to)
{
	(void)env;
	(void)t;
	(void)type;
	*to = &fuzz.socket;
	return 1;
}

/* ---- terms */

static const Term names[] = {
	am_level,    am_type,      am_data,      am_value,     am_socket,      am_family,  am_port,   am_addr,
	am_path,     am_flowinfo,  am_scope_id,  am_inet,      am_inet6,       am_local,   am_unspec, am_any,
	am_loopback, am_broadcast, am_timestamp, am_rights,    am_credentials, am_tos,     am_ttl,    am_hoplimit,
	am_tclass,   am_pktinfo,   am_sec,       am_usec,      am_lowdelay,    am_mincost, am_true,   am_false,
	am_onoff,    am_linger,    am_multiaddr, am_interface, am_sourceaddr,  am_mode,    am_slist,  am_include,
	am_exclude,  am_null,      am_default,   am_want,      am_dont,        am_abort,   am_ctrl,   am_integer,
	am_boolean,  am_otp,
};

static Term make_term(struct heap *h, int depth);

static Term make_name(void)
{
	return names[take_byte() % (sizeof(names) / sizeof(names[0]))];
}

static Term make_bytes(struct heap *h, bool as_list)
{
	uint8_t bytes[UINT8_MAX];
	size_t n = take_bytes(bytes, take_byte());

	return as_list ? heap_list_bytes(h, bytes, n, NIL) : binary_put(h, bytes, n);
}

/* A map of names to terms. */
static Term make_map(struct heap *h, int depth)
{
	Term pairs[2 * ELEMENTS_MAX];
	size_t n = take_byte() % (ELEMENTS_MAX + 1);

	for (size_t i = 0; i < n; i++) {
		pairs[2 * i] = take_byte() % 8 == 0 ? term_from_small(take_byte()) : make_name();
		pairs[2 * i + 1] = make_term(h, depth);
	}
	return map_from_pairs(h, pairs, n);
}

static Term make_tuple(struct heap *h, int depth, size_t n)
{
	Term e[ELEMENTS_MAX + 1];

	for (size_t i = 0; i < n; i++)
		e[i] = depth > 0 ? make_term(h, depth) : term_from_small((int64_t)take_byte());
	return n == 0 ? NIL : heap_tuple_array(h, n, e);
}

static Term make_list(struct heap *h, int depth)
{
	Term list = take_byte() % 16 == 0 ? make_term(h, depth) : NIL;

	for (size_t n = take_byte() % ELEMENTS_MAX; n > 0; n--)
		list = heap_cons(h, make_term(h, depth), list);
	return list;
}

/* What is most often of the right form. */
static Term make_message(struct heap *h, int depth)
{
	int protocol = take_byte() % 2 == 0 ? IPPROTO_IP : IPPROTO_IPV6;
	Term level = take_byte() % 2 == 0 ? (Term)am_socket : term_from_small(protocol);
	Term type = take_byte() % 2 == 0 ? make_name() : term_from_small(take_byte());

	return map_from_pairs(h, (Term[]){ am_level, level, am_type, type, take_byte() % 2 == 0 ? am_data : am_value,
					   make_term(h, depth) }, 3);
}

static Term make_address(struct heap *h, int depth)
{
	static const Term families[] = { am_inet, am_inet6, am_local };
	uint8_t family = take_byte() % 3;
	Term address = take_byte() % 2 == 0 ? make_tuple(h, 0, family == 0 ? 4 : ELEMENTS_MAX) : make_term(h, depth);

	return map_from_pairs(h,
			      (Term[]){ am_family, families[family], family == 2 ? am_path : am_addr, address, am_port,
					term_from_small((int64_t)take_number(2)), am_flowinfo,
					term_from_small(take_byte()), am_scope_id, term_from_small(take_byte()) },
			      family == 2 ? 2 : 5);
}

static Term make_term(struct heap *h, int depth)
{
	if (depth == 0)
		return make_name();
	switch (take_byte() % 13) {
	case 0: return term_from_small(take_byte());
	case 1: return heap_int(h, (int64_t)take_number(4));
	case 2: return heap_uint(h, take_number(8));
	case 3: return make_bytes(h, false);
	case 4: return make_bytes(h, true);
	case 5: return make_list(h, depth - 1);
	case 6: return make_tuple(h, depth - 1, take_byte() % ELEMENTS_MAX);
	case 7: return make_tuple(h, 0, 4);
	case 8: return make_map(h, depth - 1);
	case 9: return make_message(h, depth - 1);
	case 10: return make_address(h, depth - 1);
	case 11: return heap_cons(h, make_message(h, depth - 1), NIL);
	default: return make_name();
	}
}

static void check_term(Term t)
{
	Term copy;
	struct fragment *f;

	if (t == TERM_NONE)
		return;
	f = copy_to_fragment(t, &copy);
	ENSURE(term_compare_exact(t, copy) == 0);
	if (f != NULL)
		fragment_free(f);
}

/* ---- both ways */

/* The same messages by their data: what has a value has its data too. */
static Term keep_data(struct heap *h, Term list)
{
	Term kept = NIL, back = NIL;

	for (; term_is_cons(list); list = cons_tail(list)) {
		Term m = cons_head(list);

		if (!term_is_map(m)) /* bad_data, the last */
			break;
		kept = heap_cons(h,
				 map_from_pairs(h,
						(Term[]){ am_level, map_get(m, am_level), am_type, map_get(m, am_type),
							  am_data, map_get(m, am_data) },
						3),
				 kept);
	}
	for (; term_is_cons(kept); kept = cons_tail(kept))
		back = heap_cons(h, cons_head(kept), back);
	return back;
}

static Term put_control(struct heap *h, uint8_t *bytes, size_t n)
{
	struct msghdr m = { .msg_control = bytes, .msg_controllen = n };
	Term list = sock_control_put(h, &m);

	check_term(list);
	return list;
}

static void check_control_bytes(struct heap *h)
{
	size_t n = (size_t)(fuzz.end - fuzz.at), room = 4 * n + CONTROL_ROOM, used;
	uint8_t *bytes = mem_alloc(n + 1), *again = mem_alloc(room);
	Term list;

	take_bytes(bytes, n);
	list = keep_data(h, put_control(h, bytes, n));
	ENSURE(sock_control_read(list, again, room, &used) && used <= room);
	ENSURE(term_compare_exact(keep_data(h, put_control(h, again, used)), list) == 0);
	mem_free(bytes);
	mem_free(again);
}

static void check_control_terms(struct heap *h)
{
	size_t room = take_byte(), used;
	uint8_t *bytes = mem_alloc(room + 1);

	if (sock_control_read(make_term(h, DEPTH_MAX), bytes, room, &used)) {
		ENSURE(used <= room);
		for (Term t = put_control(h, bytes, used); term_is_cons(t); t = cons_tail(t))
			ENSURE(term_is_map(cons_head(t)));
	}
	mem_free(bytes);
}

static void check_again(struct heap *h, Term address)
{
	union sock_address a;
	socklen_t n;

	check_term(address);
	if (!sock_address_read(address, &a, &n))
		return;
	ENSURE(n <= sizeof(a));
	ENSURE(term_compare_exact(sock_address_put(h, &a, n), address) == 0);
}

static void check_address_bytes(struct heap *h)
{
	union sock_address a = { 0 };
	socklen_t n = (socklen_t)take_bytes(&a, sizeof(a));

	check_again(h, sock_address_put(h, &a, n));
	sock_address_put(h, &a, 0);
}

static void check_address_terms(struct heap *h)
{
	union sock_address a;
	socklen_t n;

	if (!sock_address_read(make_term(h, DEPTH_MAX), &a, &n))
		return;
	ENSURE(n <= sizeof(a));
	check_again(h, sock_address_put(h, &a, n));
}

/* ---- the native functions */

/* argv: the socket, numbers and terms as the letters of `form` say: n a number, r the reference, b a binary, t a term,
 * m a map, f flags, i 0 or 1, o the number of an option, q a request, L a level, l a list, v a list of binaries. */
static const struct native {
	Term (*call)(struct nif_env *env, int argc, const Term *argv);
	const char *form;
} natives[] = {
	{ sock_recvmsg, "nnfr" }, { sock_recvfrom, "nfr" }, { sock_recv, "nfr" },   { sock_sendmsg, "mfrv" },
	{ sock_sendto, "btfr" },  { sock_ioctl, "q" },      { sock_ioctl, "qt" },   { sock_ioctl, "qlt" },
	{ sock_setopt, "Loti" },  { sock_getopt, "Lo" },    { sock_getopt, "Lot" },
};

static Term make_level(void)
{
	static const int levels[] = { SOL_SOCKET, IPPROTO_IP, IPPROTO_TCP, IPPROTO_UDP, IPPROTO_IPV6 };
	uint8_t level = take_byte() % 6;

	return level < 5 ? term_from_small(levels[level]) : (Term)am_otp;
}

static Term make_binaries(struct heap *h)
{
	Term list = NIL;

	for (size_t n = take_byte() % ELEMENTS_MAX; n > 0; n--)
		list = heap_cons(h, make_bytes(h, false), list);
	return list;
}

static Term make_argument(struct nif_env *env, char kind)
{
	static const unsigned requests[] = {
		SIOCGIFNAME,   SIOCGIFINDEX, SIOCGIFFLAGS, SIOCGIFADDR, SIOCGIFHWADDR, SIOCGIFMAP,
		SIOCGIFTXQLEN, SIOCGIFCONF,  SIOCSIFFLAGS, SIOCSIFADDR, SIOCSIFMTU,
	};

	switch (kind) {
	case 'n': return term_from_small((int64_t)take_number(2));
	case 'f': return term_from_small((int64_t)take_number(4));
	case 'i': return term_from_small(take_byte() % 2);
	case 'o': return term_from_small(take_byte() % 2 == 0 ? take_byte() : 1000 + take_byte() % 12);
	case 'q': return term_from_small(requests[take_byte() % (sizeof(requests) / sizeof(requests[0]))]);
	case 'r': return heap_ref(env->heap, 0);
	case 'b': return make_bytes(env->heap, false);
	case 'l': return take_byte() % 4 == 0 ? make_list(env->heap, 2) : make_bytes(env->heap, true);
	case 'v': return make_binaries(env->heap);
	case 'm': return make_map(env->heap, DEPTH_MAX);
	case 'L': return make_level();
	default: return make_term(env->heap, DEPTH_MAX);
	}
}

static void call_native(const struct native *native)
{
	struct nif_env env;
	Term argv[ARGUMENTS_MAX] = { am_socket };
	int argc = 1;

	nif_env_init_own(&env, NULL);
	for (const char *kind = native->form; *kind != 0; kind++)
		argv[argc++] = make_argument(&env, *kind);
	check_term(native->call(&env, argc, argv));
	nif_env_clear(&env);
}

/* ---- */

static void (*const checks[])(struct heap *h) = {
	check_control_bytes, check_control_terms, check_address_bytes, check_address_terms,
};
enum { CHECKS = sizeof(checks) / sizeof(checks[0]), NATIVES = sizeof(natives) / sizeof(natives[0]) };

static void open_socket(uint8_t kind)
{
	static const int types[] = { SOCK_STREAM, SOCK_DGRAM };

	fuzz.socket = (struct sock){
		.fd = 0,
		.domain = AF_INET,
		.type = types[kind & 1],
		.original_fd = -1,
		.file = -1,
		.use_registry = true,
		.owner = { .pid = TERM_NONE },
		.closer = { .pid = TERM_NONE },
		.meta = am_undefined,
		.buffer_bytes = 64,
		.buffer_count = 1,
		.control_in_bytes = 128,
		.control_out_bytes = 128,
	};
	lock_init(&fuzz.socket.locks[SOCK_READ], LOCK_socket_read);
	lock_init(&fuzz.socket.locks[SOCK_WRITE], LOCK_socket_write);
}

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
	(void)argc;
	(void)argv;
	fuzz_start();
	return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
	struct heap h = { 0 };
	uint8_t which;

	fuzz.at = bytes;
	fuzz.end = bytes + n;
	which = take_byte();
	open_socket(which >> 7);
	which %= CHECKS + NATIVES;
	if (which < CHECKS)
		checks[which](&h);
	else
		call_native(&natives[which - CHECKS]);
	heap_free(&h);
	for (int side = 0; side < SOCK_SIDES; side++)
		lock_destroy(&fuzz.socket.locks[side]);
	return 0;
}
