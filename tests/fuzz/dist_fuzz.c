/* SPDX-License-Identifier: Apache-2.0 */
/* Any bytes as messages from another node, plain or with headers (atoms, fragments). Invariants: nothing is read behind
 * the bytes; what goes to processes here is whole; what is answered goes to the node that it came from, and can be
 * read. No process is born. For libFuzzer. */
#include <string.h>

#include "base/alloc.h"
#include "base/log.h"
#include "data/etf.h"
#include "data/phash.h"
#include "dist/control.h"
#include "dist/dist.h"
#include "dist/dist_packet.h"
#include "proc/node_monitor.h"
#include "proc/process_life.h"
#include "proc/registry.h"
#include "start.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n);
bool __real_signal_send(Term to, struct signal *s);
bool __wrap_signal_send(Term to, struct signal *s);
Term __wrap_process_spawn(Process *parent, Term module, Term function, Term args, const struct spawn_options *o,
			  Term *monitor_ref);
bool __wrap_process_is_alive(Term pid);

enum { HELD_MAX_BYTES = 1000 };

static struct {
	struct channel *plain, *with_headers;
	struct dist_reader *peer; /* of the node at the other end of with_headers */
	bool nobody;         /* processes here are gone */
} fuzz;

static void look_at(Term t)
{
	if (t != TERM_NONE)
		phash2(t);
}

/* To a process here. One to another node is sent. */
bool __wrap_signal_send(Term to, struct signal *s)
{
	if (!term_is_local_pid(to))
		return __real_signal_send(to, s);
	look_at(s->term);
	if (s->kind != SIG_CALL) {
		look_at(s->from);
		look_at(s->ref);
	} else {
		s->call(NULL, s->arg);
	}
	signal_free(s);
	return !fuzz.nobody;
}

bool __wrap_process_is_alive(Term pid)
{
	(void)pid;
	return !fuzz.nobody;
}

Term __wrap_process_spawn(Process *parent, Term module, Term function, Term args, const struct spawn_options *o,
			  Term *monitor_ref)
{
	(void)parent;
	(void)monitor_ref;
	ENSURE(term_is_atom(module) && term_is_atom(function) && o->born != NULL);
	look_at(args);
	return TERM_NONE;
}

static struct channel *connect(const char *node, uint64_t flags)
{
	bool made;
	struct channel *c = channel_open(atom_from_text(node), &made);

	ENSURE(made && channel_connect(c, term_from_pid(1, 0), NULL, flags));
	return c;
}

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
	(void)argc;
	(void)argv;
	fuzz_start();
	process_table_init(1024);
	node_monitor_init();
	registry_init();
	channel_init();
	dist_wire_send();
	node_set_self((struct node_name){ atom_from_text("c@d"), 1 });
	fuzz.plain = connect("a@b", ~(DIST_HEADER_ATOM_CACHE | DIST_FRAGMENTS));
	fuzz.with_headers = connect("e@f", ~(uint64_t)0);
	fuzz.peer = dist_reader_new(SIZE_MAX);
	return 0;
}

static void check_control(struct heap *h, int status, Term t)
{
	ENSURE(status == 0 && term_is_tuple(t) && term_is_small(tuple_get(t, 1)));
	heap_free(h);
}

static void check_plain(const uint8_t *bytes, size_t n)
{
	struct heap h;
	Term t = NIL;
	int status;

	ENSURE(bytes[0] == PASS_THROUGH);
	heap_init(&h, HEAP_MIN_WORDS);
	status = etf_decode_to_heap(bytes + 1, n - 1, 0, &h, &t, NULL);
	check_control(&h, status, t);
}

static void check_with_header(const uint8_t *bytes, size_t n)
{
	struct dist_terms terms;
	enum dist_read result = dist_reader_read(fuzz.peer, bytes, n, &terms);
	struct heap h;
	Term t = NIL;
	size_t used;
	int status;

	ENSURE(result != DIST_READ_BAD);
	if (result == DIST_READ_PART)
		return;
	heap_init(&h, HEAP_MIN_WORDS);
	status = etf_decode_atoms(terms.bytes, terms.size_bytes, terms.owned, terms.atoms, terms.atom_count, &h, &t,
				  &used);
	check_control(&h, status, t);
	if (terms.owned != NULL)
		binary_unref(terms.owned);
}

static void check_answers(struct channel *c)
{
	struct dist_packet p;

	while (dist_packet_take(c, &p)) {
		uint8_t *bytes = mem_alloc(p.size_bytes), *at = bytes;

		memcpy(at, p.head, p.head_bytes);
		at += p.head_bytes;
		for (unsigned i = 0; i < p.part_count; i++) {
			memcpy(at, p.parts[i].bytes, p.parts[i].size_bytes);
			at += p.parts[i].size_bytes;
		}
		ENSURE((size_t)(at - bytes) == p.size_bytes);
		dist_packet_done(c, &p);
		if (c == fuzz.plain)
			check_plain(bytes, (size_t)(at - bytes));
		else
			check_with_header(bytes, (size_t)(at - bytes));
		mem_free(bytes);
	}
}

/* first: put before the bytes, which are copied to a place of their own, so that a read behind them is seen. */
static bool receive(struct channel *c, int first, const uint8_t *bytes, size_t n)
{
	size_t before = first >= 0 ? 1 : 0;
	uint8_t *copy = mem_alloc(before + n > 0 ? before + n : 1);
	bool ok;

	if (first >= 0)
		copy[0] = (uint8_t)first;
	if (n > 0)
		memcpy(copy + before, bytes, n);
	ok = dist_receive(c, copy, before + n);
	mem_free(copy);
	check_answers(c);
	return ok;
}

/* Packets, each behind a byte that tells its length, until one ends the connection. */
static void receive_packets(const uint8_t *bytes, size_t n)
{
	size_t length;
	bool ok = true;

	dist_reader_free(fuzz.with_headers->reader);
	fuzz.with_headers->reader = dist_reader_new(HELD_MAX_BYTES);
	for (; ok && n > 0; bytes += length, n -= length) {
		length = *bytes++;
		n--;
		if (length > n)
			length = n;
		ok = receive(fuzz.with_headers, -1, bytes, length);
	}
}

/* The first byte tells whether processes here are gone, and which connection it is; the message follows, or packets. */
int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
	if (n < 1)
		return 0;
	fuzz.nobody = bytes[0] & 1;
	if (bytes[0] & 4)
		receive_packets(bytes + 1, n - 1);
	else if (bytes[0] & 2)
		receive(fuzz.plain, -1, bytes, 0);
	else
		receive(fuzz.plain, PASS_THROUGH, bytes + 1, n - 1);
	return 0;
}
