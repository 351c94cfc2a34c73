/* SPDX-License-Identifier: Apache-2.0 */
/* The native functions of prim_net: names, addresses, interfaces. Those that may ask a name server or wait for the
 * kernel run on dirty schedulers. */
#include <errno.h>
#include <fcntl.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netdb.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/release.h"
#include "data/map.h"
#include "socket/sock.h"
#include "socket/sock_address.h"
#include "socket/sock_interface.h"
#include "socket/socket.h"

#define COUNT_OF(array) (sizeof(array) / sizeof((array)[0]))
enum { NAME_MAX_BYTES = 1024 };

static Term put_text(struct heap *h, const char *text)
{
	return heap_list_bytes(h, text, strlen(text), NIL);
}

static struct { _Atomic bool debug; } net;

static Term info(struct nif_env *env, int argc, const Term *argv)
{
	(void)argc;
	(void)argv;
	return map_from_pairs(env->heap, (Term[]){ am_debug, sock_bool(net.debug), am_netns, am_false },
			      release_tells_netns() ? 2 : 1);
}

/* {debug, true or false} */
static Term command(struct nif_env *env, int argc, const Term *argv)
{
	bool b, before = net.debug;

	(void)argc;
	if (!term_is_tuple(argv[0]) || tuple_arity(argv[0]) != 2 || sock_elements(argv[0])[0] != am_debug ||
	    !sock_get_bool(sock_elements(argv[0])[1], &b))
		return sock_errno(env, EINVAL);
	net.debug = b;
	return sock_ok(env, sock_bool(before));
}

static Term host_name(struct nif_env *env, int argc, const Term *argv)
{
	char name[NAME_MAX_BYTES] = "";

	(void)argc;
	(void)argv;
	if (gethostname(name, sizeof(name) - 1) != 0)
		return sock_errno(env, errno);
	return sock_ok(env, put_text(env->heap, name));
}

/* ---- names and addresses */

static const struct { int error; Term name; bool only_of_names, only_of_addresses;
} resolver_errors[] = {
	{ EAI_AGAIN, am_eagain, false, false },      { EAI_BADFLAGS, am_ebadflags, false, false },
	{ EAI_FAIL, am_efail, false, false },        { EAI_FAMILY, am_efamily, false, false },
	{ EAI_MEMORY, am_emem, false, false },       { EAI_NONAME, am_enoname, false, false },
	{ EAI_OVERFLOW, am_eoverflow, true, false }, { EAI_ADDRFAMILY, am_eaddrfamily, false, true },
	{ EAI_NODATA, am_enodata, false, true },     { EAI_SERVICE, am_eservice, false, true },
	{ EAI_SOCKTYPE, am_esocktype, false, true }, { EAI_SYSTEM, am_esystem, false, true },
};

static Term fail_resolve(struct nif_env *env, int error, bool of_names)
{
	if (error == EAI_SYSTEM && of_names)
		return sock_errno(env, errno);
	for (size_t i = 0; i < COUNT_OF(resolver_errors); i++)
		if (resolver_errors[i].error == error &&
		    !(of_names ? resolver_errors[i].only_of_addresses : resolver_errors[i].only_of_names))
			return sock_error(env, resolver_errors[i].name);
	return sock_errno(env, EINVAL);
}

/* undefined, or a list of the names of bits. Fails: false. */
static bool read_flags(Term list, int *flags)
{
	static const struct { Term name; int bit; } bits[] = {
		{ am_namereqd, NI_NAMEREQD }, { am_dgram, NI_DGRAM }, { am_nofqdn, NI_NOFQDN },
		{ am_numerichost, NI_NUMERICHOST }, { am_numericserv, NI_NUMERICSERV }, { am_idn, NI_IDN },
	};
	size_t i;

	*flags = 0;
	if (list == am_undefined)
		return true;
	for (; term_is_cons(list); list = cons_tail(list)) {
		for (i = 0; i < COUNT_OF(bits) && bits[i].name != cons_head(list); i++)
			;
		if (i == COUNT_OF(bits))
			return false;
		*flags |= bits[i].bit;
	}
	return term_is_nil(list);
}

/* nif_getnameinfo(Address, Flags) */
static Term name_info(struct nif_env *env, int argc, const Term *argv)
{
	char host[NAME_MAX_BYTES], service[NAME_MAX_BYTES];
	union sock_address a;
	socklen_t n;
	int flags, error;

	(void)argc;
	if (!sock_address_read(argv[0], &a, &n))
		return sock_errno(env, EINVAL);
	if (!read_flags(argv[1], &flags))
		return enif_make_badarg(env);
	error = getnameinfo(&a.any, n, host, sizeof(host), service, sizeof(service), flags);
	if (error != 0)
		return fail_resolve(env, error, true);
	return sock_ok(env, map_from_pairs(env->heap, (Term[]){ am_host, put_text(env->heap, host), am_service,
								put_text(env->heap, service) }, 2));
}

static Term put_addresses(struct heap *h, const struct addrinfo *from)
{
	Term list = NIL, reversed = NIL;

	for (; from != NULL; from = from->ai_next) {
		union sock_address a = { 0 };
		socklen_t n = from->ai_addrlen < sizeof(a) ? from->ai_addrlen : sizeof(a);
		Term type = release_says_socktype() ? am_socktype : am_type;
		Term pairs[8] = { am_family,   sock_domain_put(from->ai_family),
				  type,        sock_type_put(from->ai_socktype),
				  am_protocol, term_from_small(from->ai_protocol),
				  am_addr };

		memcpy(&a, from->ai_addr, n);
		pairs[7] = sock_address_put(h, &a, n);
		reversed = heap_cons(h, map_from_pairs(h, pairs, 4), reversed);
	}
	for (; term_is_cons(reversed); reversed = cons_tail(reversed))
		list = heap_cons(h, cons_head(reversed), list);
	return list;
}

/* A string, or undefined (*is: false). Fails: false. */
static bool read_name(struct nif_env *env, Term t, char *to, bool *is)
{
	*is = t != am_undefined;
	return !*is || enif_get_string(env, t, to, NAME_MAX_BYTES, NIF_LATIN1) > 0;
}

/* nif_getaddrinfo(Host, Service, Hints): there are no hints */
static Term address_info(struct nif_env *env, int argc, const Term *argv)
{
	char host[NAME_MAX_BYTES], service[NAME_MAX_BYTES];
	struct addrinfo *found;
	bool has_host, has_service;
	int error;
	Term list;

	(void)argc;
	if (!read_name(env, argv[0], host, &has_host) || !read_name(env, argv[1], service, &has_service) ||
	    (!has_host && !has_service))
		return enif_make_badarg(env);
	error = getaddrinfo(has_host ? host : NULL, has_service ? service : NULL, NULL, &found);
	if (error != 0)
		return fail_resolve(env, error, false);
	list = put_addresses(env->heap, found);
	freeaddrinfo(found);
	return sock_ok(env, list);
}

/* ---- interfaces */

/* NULL: undefined. */
static Term put_address(struct heap *h, const struct sockaddr *from)
{
	union sock_address a = { 0 };
	size_t n = sizeof(struct sockaddr);

	if (from == NULL)
		return am_undefined;
	if (from->sa_family == AF_INET6)
		n = sizeof(a.in6);
	if (from->sa_family == AF_PACKET)
		n = sizeof(a.ll);
	memcpy(&a, from, n);
	return sock_address_put(h, &a, 0);
}

static Term put_flags(struct heap *h, unsigned flags)
{
	Term list = NIL;

	for (size_t i = sock_interface_flag_count; i-- > 0;)
		if (sock_interface_flags[i].of_addresses && (flags & (unsigned)sock_interface_flags[i].bit))
			list = heap_cons(h, sock_interface_flags[i].name, list);
	return list;
}

static Term put_interface(struct heap *h, const struct ifaddrs *i)
{
	Term pairs[10] = { am_name, put_text(h, i->ifa_name), am_flags, put_flags(h, i->ifa_flags) };
	size_t n = 2;
	bool is_point = i->ifa_flags & IFF_POINTOPOINT;
	const struct { Term key; const struct sockaddr *address;
	} addresses[] = {
		{ am_addr, i->ifa_addr },
		{ am_netmask, i->ifa_netmask },
		{ am_dstaddr, is_point ? i->ifa_dstaddr : NULL },
		{ am_broadaddr,
		  !(is_point && i->ifa_dstaddr != NULL) && (i->ifa_flags & IFF_BROADCAST) ? i->ifa_broadaddr : NULL },
	};

	for (size_t k = 0; k < COUNT_OF(addresses); k++) {
		if (addresses[k].address == NULL)
			continue;
		pairs[2 * n] = addresses[k].key;
		pairs[2 * n + 1] = put_address(h, addresses[k].address);
		n++;
	}
	return map_from_pairs(h, pairs, n);
}

/* nif_getifaddrs(Extra) */
static Term interface_addresses(struct nif_env *env, int argc, const Term *argv)
{
	struct ifaddrs *found;
	Term list = NIL, reversed = NIL;

	(void)argc;
	if (!term_is_map(argv[0]))
		return enif_make_badarg(env);
	if (getifaddrs(&found) != 0)
		return sock_errno(env, errno);
	for (const struct ifaddrs *i = found; i != NULL; i = i->ifa_next)
		reversed = heap_cons(env->heap, put_interface(env->heap, i), reversed);
	freeifaddrs(found);
	for (; term_is_cons(reversed); reversed = cons_tail(reversed))
		list = heap_cons(env->heap, cons_head(reversed), list);
	return sock_ok(env, list);
}

static Term name_to_index(struct nif_env *env, int argc, const Term *argv)
{
	char name[IF_NAMESIZE + 1];
	unsigned index;

	(void)argc;
	if (enif_get_string(env, argv[0], name, sizeof(name), NIF_LATIN1) <= 0)
		return sock_errno(env, EINVAL);
	index = if_nametoindex(name);
	return index != 0 ? sock_ok(env, term_from_small(index)) : sock_errno(env, errno);
}

static Term index_to_name(struct nif_env *env, int argc, const Term *argv)
{
	char name[IF_NAMESIZE + 1];
	unsigned index;

	(void)argc;
	if (!enif_get_uint(env, argv[0], &index))
		return enif_make_badarg(env);
	return if_indextoname(index, name) != NULL ? sock_ok(env, put_text(env->heap, name)) : sock_errno(env, ENXIO);
}

static Term interface_names(struct nif_env *env, int argc, const Term *argv)
{
	struct if_nameindex *found = if_nameindex();
	struct heap *h = env->heap;
	Term list = NIL;
	size_t n = 0;

	(void)argc;
	(void)argv;
	if (found == NULL)
		return sock_errno(env, errno);
	while (found[n].if_index != 0 && found[n].if_name != NULL)
		n++;
	while (n-- > 0)
		list = heap_cons(h, heap_tuple(h, term_from_small(found[n].if_index), put_text(h, found[n].if_name)),
				 list);
	if_freenameindex(found);
	return sock_ok(env, list);
}

/* ---- services */

/* The protocol of that name; "any" is each. Fails: false. */
static bool get_protocol(struct nif_env *env, Term t, char *name, unsigned room, const char **protocol)
{
	if (enif_get_string(env, t, name, room, NIF_LATIN1) <= 0)
		return false;
	*protocol = strcmp(name, "any") == 0 ? NULL : name;
	return true;
}

static Term service_by_name(struct nif_env *env, int argc, const Term *argv)
{
	char name[NAME_MAX_BYTES], of[NAME_MAX_BYTES], spare[NAME_MAX_BYTES];
	struct servent entry, *found = NULL;
	const char *protocol;

	(void)argc;
	if (enif_get_string(env, argv[0], name, sizeof(name), NIF_LATIN1) <= 0 ||
	    !get_protocol(env, argv[1], of, sizeof(of), &protocol) ||
	    getservbyname_r(name, protocol, &entry, spare, sizeof(spare), &found) != 0 || found == NULL)
		return sock_errno(env, EINVAL);
	return sock_ok(env, term_from_small(ntohs((uint16_t)entry.s_port)));
}

static Term service_by_port(struct nif_env *env, int argc, const Term *argv)
{
	char of[NAME_MAX_BYTES], spare[NAME_MAX_BYTES];
	struct servent entry, *found = NULL;
	const char *protocol;
	unsigned port;

	(void)argc;
	if (!enif_get_uint(env, argv[0], &port) || !get_protocol(env, argv[1], of, sizeof(of), &protocol) ||
	    getservbyport_r(htons((uint16_t)port), protocol, &entry, spare, sizeof(spare), &found) != 0 ||
	    found == NULL)
		return sock_errno(env, EINVAL);
	return sock_ok(env, put_text(env->heap, entry.s_name));
}

/* Questions to Windows. */
static Term not_here(struct nif_env *env, int argc, const Term *argv)
{
	(void)argc;
	(void)argv;
	return enif_raise_exception(env, am_notsup);
}

static struct nif_entry_function functions[] = {
	{ "nif_info", 0, info, 0 },
	{ "nif_command", 1, command, 0 },
	{ "nif_gethostname", 0, host_name, 0 },
	{ "nif_getnameinfo", 2, name_info, NIF_DIRTY_IO },
	{ "nif_getaddrinfo", 3, address_info, NIF_DIRTY_IO },
	{ "nif_getifaddrs", 1, interface_addresses, NIF_DIRTY_IO },
	{ "nif_get_adapters_addresses", 1, not_here, 0 },
	{ "nif_get_if_entry", 1, not_here, 0 },
	{ "nif_get_interface_info", 1, not_here, 0 },
	{ "nif_get_ip_address_table", 1, not_here, 0 },
	{ "nif_if_name2index", 1, name_to_index, 0 },
	{ "nif_if_index2name", 1, index_to_name, 0 },
	{ "nif_if_names", 0, interface_names, 0 },
	{ "nif_getservbyname", 2, service_by_name, NIF_DIRTY_IO },
	{ "nif_getservbyport", 2, service_by_port, NIF_DIRTY_IO },
};

const struct nif_entry socket_prim_net = {
	.major = NIF_MAJOR, .minor = NIF_LINKED_MINOR, .name = "prim_net", .function_count = COUNT_OF(functions),
	.functions = functions, .vm_variant = NIF_VM_VARIANT, .options = 1,
	.type_init_bytes = sizeof(struct nif_type_init), .oldest_erts = "erts-13.0",
};
