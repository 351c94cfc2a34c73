/* SPDX-License-Identifier: Apache-2.0 */
/* Associations of SCTP sockets that have many: the addresses they are bound to, an association that becomes a socket of
 * its own, and the addresses of its two ends. Source: RFC 6458, 9.1 to 9.5; the kernel's own options behind these. */
#include <errno.h>
#include <netinet/in.h>
#include <stdint.h>
#include <string.h>
#include <sys/socket.h>

#include <linux/sctp.h> /* which needs stdint.h and sys/socket.h */

#include "base/alloc.h"
#include "socket/sock.h"
#include "socket/sock_address.h"

enum { NAMES_BYTES = 16 << 10 };

static bool has_associations(const struct sock *s)
{
	return s->type == SOCK_SEQPACKET && s->protocol == IPPROTO_SCTP;
}

/* ---- bind */

static size_t packed_bytes(int family)
{
	return family == AF_INET ? sizeof(struct sockaddr_in) : family == AF_INET6 ? sizeof(struct sockaddr_in6) : 0;
}

/* The addresses one behind the other, as the kernel has them: how many bytes. Fails: 0 with *wrong, the position of
 * what is no address, from 1. Owns: the caller, *packed. */
static size_t pack_addresses(Term list, uint8_t **packed, unsigned *wrong)
{
	size_t bytes = 0;
	unsigned n = 0;

	for (Term t = list; term_is_cons(t); t = cons_tail(t))
		n++;
	*packed = mem_alloc((n + 1) * sizeof(struct sockaddr_in6));
	for (*wrong = 1; term_is_cons(list); list = cons_tail(list), ++*wrong) {
		union sock_address a;
		socklen_t size;
		bool is = sock_address_read(cons_head(list), &a, &size);
		size_t used = is ? packed_bytes(a.any.sa_family) : 0;

		if (used == 0)
			return 0;
		memcpy(*packed + bytes, &a, used);
		bytes += used;
	}
	return bytes;
}

static Term bind_packed(struct nif_env *env, struct sock *s, int option, const uint8_t *packed, size_t bytes)
{
	if (!sock_is_open(s, SOCK_READ))
		return sock_error(env, am_closed);
	if (setsockopt(s->fd, IPPROTO_SCTP, option, packed, (socklen_t)bytes) != 0)
		return sock_errno(env, errno);
	s->state[SOCK_READ] |= SOCK_BOUND;
	return am_ok;
}

/* nif_bind(Socket, Addresses, add | remove) */
Term sock_bind_several(struct nif_env *env, int argc, const Term *argv)
{
	struct sock *s = sock_from_term(env, argv[0]);
	int option = argv[2] == am_add      ? SCTP_SOCKOPT_BINDX_ADD
		     : argv[2] == am_remove ? SCTP_SOCKOPT_BINDX_REM
					    : 0;
	unsigned wrong;
	uint8_t *packed;
	size_t bytes;
	Term answer;

	(void)argc;
	if (s == NULL)
		return enif_make_badarg(env);
	if (option == 0 || argv[1] == NIL)
		return sock_error_invalid(env, option == 0 ? am_action : am_sockaddr);
	bytes = pack_addresses(argv[1], &packed, &wrong);
	if (bytes == 0) {
		mem_free(packed);
		return sock_invalid(env, heap_tuple(env->heap, am_sockaddr, term_from_small(wrong)));
	}
	lock_acquire(&s->locks[SOCK_READ]);
	answer = bind_packed(env, s, option, packed, bytes);
	lock_release(&s->locks[SOCK_READ]);
	mem_free(packed);
	return answer;
}

/* ---- peeloff */

static Term peel_off(struct nif_env *env, struct sock *s, int association)
{
	sctp_peeloff_flags_arg_t wanted = { .p_arg = { .associd = association, .sd = -1 }, .flags = SOCK_CLOEXEC };
	socklen_t n = sizeof(wanted);

	if (!sock_is_open(s, SOCK_READ))
		return sock_error(env, am_closed);
	if (getsockopt(s->fd, IPPROTO_SCTP, SCTP_SOCKOPT_PEELOFF_FLAGS, &wanted, &n) != 0)
		return sock_errno(env, errno);
	return sock_enter_from(env, s, wanted.p_arg.sd);
}

/* nif_peeloff(Socket, Association) */
Term sock_peeloff(struct nif_env *env, int argc, const Term *argv)
{
	struct sock *s = sock_from_term(env, argv[0]);
	int association;
	Term answer;

	(void)argc;
	if (s == NULL || !has_associations(s) || !enif_get_int(env, argv[1], &association))
		return enif_make_badarg(env);
	lock_acquire(&s->locks[SOCK_READ]);
	answer = peel_off(env, s, association);
	lock_release(&s->locks[SOCK_READ]);
	return answer;
}

/* ---- names */

static Term put_names(struct nif_env *env, const struct sctp_getaddrs *got, const uint8_t *end)
{
	const uint8_t *at = got->addrs;
	Term list = NIL;

	for (unsigned i = 0; i < got->addr_num && (size_t)(end - at) >= sizeof(sa_family_t); i++) {
		union sock_address a = { 0 };
		size_t n;

		memcpy(&a, at, sizeof(sa_family_t));
		n = packed_bytes(a.any.sa_family);
		if (n == 0 || n > (size_t)(end - at))
			break;
		memcpy(&a, at, n);
		list = heap_cons(env->heap, sock_address_put(env->heap, &a, (socklen_t)n), list);
		at += n;
	}
	return sock_ok(env, list);
}

static Term ask_names(struct nif_env *env, struct sock *s, int option, int association)
{
	struct sctp_getaddrs *got = mem_zalloc(NAMES_BYTES);
	socklen_t n = NAMES_BYTES;
	Term answer;

	got->assoc_id = association;
	if (getsockopt(s->fd, IPPROTO_SCTP, option, got, &n) != 0)
		answer = sock_errno(env, errno);
	else
		answer = put_names(env, got, (const uint8_t *)got + NAMES_BYTES);
	mem_free(got);
	return answer;
}

static Term tell_names(struct nif_env *env, const Term *argv, int option)
{
	struct sock *s = sock_from_term(env, argv[0]);
	int association;
	Term answer;

	if (s == NULL || !enif_get_int(env, argv[1], &association))
		return enif_make_badarg(env);
	lock_acquire(&s->locks[SOCK_READ]);
	if (!sock_is_open(s, SOCK_READ))
		answer = sock_error(env, am_closed);
	else
		answer = s->protocol == IPPROTO_SCTP ? ask_names(env, s, option, association)
						     : sock_error(env, am_enotsup);
	lock_release(&s->locks[SOCK_READ]);
	return answer;
}

/* nif_socknames(Socket, Association) */
Term sock_names(struct nif_env *env, int argc, const Term *argv)
{
	(void)argc;
	return tell_names(env, argv, SCTP_GET_LOCAL_ADDRS);
}

/* nif_peernames(Socket, Association) */
Term sock_peer_names(struct nif_env *env, int argc, const Term *argv)
{
	(void)argc;
	return tell_names(env, argv, SCTP_GET_PEER_ADDRS);
}
