/* SPDX-License-Identifier: Apache-2.0 */
/* Any bytes as commands of sockets: addresses, lists of options, interfaces, and their encoding back. Invariants:
 * nothing is read behind the bytes; an address that is read and written is the same; an answer begins with what it is,
 * and is no longer than it may be. The first byte chooses the command, the second the kind of socket. For
 * libFuzzer. */
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/log.h"
#include "io/inet_sctp.h"
#include "term/atom.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n);

static void check_address(const uint8_t *bytes, size_t n, int family)
{
	struct inet_address a, again;
	struct port_answer out;
	const uint8_t *at = bytes;
	size_t left = n;

	if (inet_address_read(&a, family, &at, &left) != NULL)
		return;
	ENSURE(at + left == bytes + n);
	answer_init(&out);
	if (inet_address_put(&out, &a) && a.any.sa_family != AF_UNIX) {
		uint8_t whole[32] = { 0 };
		size_t size = sizeof(whole);

		memcpy(whole, out.bytes, out.n);
		at = whole;
		ENSURE(inet_address_read(&again, family, &at, &size) == NULL);
		ENSURE(again.any.sa_family == a.any.sa_family && inet_address_port(&again) == inet_address_port(&a));
	}
	answer_free(&out);
}

/* What SCTP's kernel side tells, and records of what processes set. */
static void check_sctp(const uint8_t *bytes, size_t n, int family)
{
	uint8_t value[SCTP_RECORD_BYTES];
	const uint8_t *at = bytes;
	size_t left = n;
	struct heap h;
	bool error;
	Term told;

	heap_init(&h, HEAP_MIN_WORDS);
	told = sctp_put_event(&h, bytes, n, &error);
	ENSURE(told == TERM_NONE || tuple_arity(told) >= 2);
	if (sctp_read_record(&sctp_record_paddrparams, SCTP_READ_ALL, family, value, &at, &left) == NULL) {
		ENSURE(at + left == bytes + n);
		ENSURE(tuple_arity(sctp_put_record(&h, &sctp_record_paddrparams, value, TERM_NONE)) == 8);
	}
	heap_free(&h);
}

/* A socket without a descriptor, so that nothing reaches the kernel. */
static void check_command(struct inet_socket *s, unsigned command, const uint8_t *bytes, size_t n)
{
	struct inet_change change;
	struct port_answer a;

	answer_init(&a);
	if (command == INET_REQ_SETOPTS)
		inet_options_set(s, bytes, n, &change);
	else if (command == INET_REQ_GETOPTS && s->protocol == IPPROTO_SCTP)
		inet_sctp_getopts(s, bytes, n, &a);
	else
		inet_control(s, command, bytes, n, &a);
	ENSURE(a.n == 0 || a.bytes[0] <= 2);
	ENSURE(a.n < 4 * INET_ANSWER_MAX);
	answer_free(&a);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
	static const int families[] = { AF_INET, AF_INET6, AF_UNIX };
	static const unsigned commands[] = { 0,
					     INET_REQ_SETOPTS,
					     INET_REQ_GETOPTS,
					     INET_REQ_GETSTAT,
					     INET_REQ_SETPEER,
					     INET_REQ_SETNAME,
					     INET_REQ_PEER,
					     INET_REQ_NAME,
					     INET_REQ_GETSTATUS,
					     INET_REQ_GETTYPE,
					     INET_REQ_IFGET,
					     INET_REQ_GETPADDRS };
	static struct port *port;
	struct inet_socket *s;
	unsigned command;
	uint8_t *copy;
	int family;

	if (n < 2)
		return 0;
	if (port == NULL) {
		atom_init();
		port = mem_zalloc(sizeof(*port));
	}
	command = commands[bytes[0] % (sizeof(commands) / sizeof(commands[0]))];
	family = families[bytes[1] % 3];
	copy = mem_alloc(n - 1); /* of their own, so that a read behind them is seen */
	memcpy(copy, bytes + 2, n - 2);
	port->owner = port->caller = TERM_NONE;
	s = inet_new(port, bytes[1] & 0x80 ? IPPROTO_TCP : bytes[1] & 0x40 ? IPPROTO_SCTP : IPPROTO_UDP);
	s->family = family;
	s->type = bytes[1] & 0x80 ? SOCK_STREAM : SOCK_DGRAM;
	if (command == 0) {
		check_address(copy, n - 2, family);
		check_sctp(copy, n - 2, family);
	} else {
		check_command(s, command, copy, n - 2);
	}
	inet_free(s);
	mem_free(copy);
	return 0;
}
