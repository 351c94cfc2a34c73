/* SPDX-License-Identifier: Apache-2.0 */
/* Any bytes as a message from another node. Invariants: nothing is read behind the bytes; what goes to processes here
 * is whole; what is answered goes to the node that it came from, and can be read. No process is born. For libFuzzer. */
#include <string.h>

#include "base/alloc.h"
#include "base/log.h"
#include "data/etf.h"
#include "data/phash.h"
#include "dist/control.h"
#include "dist/dist.h"
#include "proc/node_monitor.h"
#include "proc/registry.h"
#include "start.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n);
bool __real_signal_send(Term to, struct signal *s);
bool __wrap_signal_send(Term to, struct signal *s);
Term __wrap_process_spawn(Process *parent, Term module, Term function, Term args, const struct spawn_options *o,
			  Term *monitor_ref);
bool __wrap_process_is_alive(Term pid);

static struct {
	struct channel *channel;
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

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
	bool made;

	(void)argc;
	(void)argv;
	fuzz_start();
	process_table_init(1024);
	node_monitor_init();
	registry_init();
	channel_init();
	dist_wire_send();
	node_set_self((struct node_name){ atom_from_text("c@d"), 1 });
	fuzz.channel = channel_open(atom_from_text("a@b"), &made);
	ENSURE(channel_connect(fuzz.channel, term_from_pid(1, 0), NULL, ~(uint64_t)0));
	return 0;
}

static void check_answers(void)
{
	struct dist_message *m;

	while ((m = channel_take(fuzz.channel)) != NULL) {
		struct fragment *f;
		Term t;

		ENSURE(etf_decode(m->control->data, m->control->size_bytes, &f, &t, 0) == 0);
		ENSURE(term_is_tuple(t) && term_is_small(tuple_get(t, 1)));
		fragment_free(f);
		dist_message_free(m);
	}
}

/* The first byte tells whether processes here are gone; the message follows. */
int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
	uint8_t *copy;

	if (n < 1)
		return 0;
	fuzz.nobody = bytes[0] & 1;
	copy = mem_alloc(n); /* of its own, so that a read behind it is seen */
	copy[0] = PASS_THROUGH;
	memcpy(copy + 1, bytes + 1, n - 1);
	dist_receive(fuzz.channel, copy, bytes[0] & 2 ? 0 : n);
	mem_free(copy);
	check_answers();
	return 0;
}
