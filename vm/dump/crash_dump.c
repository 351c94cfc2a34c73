/* SPDX-License-Identifier: Apache-2.0 */
/* The sections of a crash dump, in the order of OTP's. Source: OTP's documentation, "How to Interpret the Erlang Crash
 * Dumps", and what its crashdump_viewer reads. */
#include "dump/crash_dump.h"

#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/log.h"
#include "base/release.h"
#include "base/wait.h"
#include "code/module.h"
#include "data/print.h"
#include "dist/channel.h"
#include "dump/dump_out.h"
#include "dump/dump_process.h"
#include "dump/dump_term.h"
#include "ets/table.h"
#include "heap/refbin.h"
#include "io/os_env.h"
#include "io/port.h"
#include "proc/process_walk.h"
#include "proc/sched.h"
#include "proc/timer.h"
#include "term/node.h"

enum { TEXT_BYTES = 1000, PROCESSES_AT_ONCE = 1 << 10 };
#define STOP_WAIT_NS 2000000000

static void write_id(const char *before, Term t, const char *after)
{
	char text[TEXT_BYTES];

	print_term_fixed(text, sizeof(text), t);
	dump_text(before);
	dump_text(text);
	dump_text(after);
}

static void write_head(const char *slogan)
{
	time_t now = time(NULL);
	char date[32];

	dump_format("=erl_crash_dump:0.5\n%s", ctime_r(&now, date));
	dump_text("Slogan: ");
	dump_text(slogan);
	dump_format("\nSystem version: Erlang/OTP %s [erlvm] [64-bit] [smp:%u:%u]\nTaints: (none)\nAtoms: %u\n",
		    release_current->text, sched_count(), sched_online(), atom_count());
	if (sched_self() != NULL)
		dump_format("Calling Thread: scheduler:%u\n", sched_self()->id);
	else
		dump_text("Calling Thread: other\n");
}

static void write_schedulers(void)
{
	for (unsigned i = 1; i <= sched_count(); i++) {
		const Process *p = sched_get(i)->current;

		dump_format("=scheduler:%u\nRun Queue Normal Length: %zu\n", i, sched_run_queue_of(i));
		if (p != NULL)
			write_id("Current Process: ", p->id, "\n");
		else
			dump_text("Current Process: \n");
	}
}

/* ---- nodes */

struct bond {
	Term pid;            /* local */
	uint32_t connection; /* its other end's */
};

/* As OTP does: of a link the other end first. */
static void write_bond(const struct peer *n, void *arg)
{
	static const char *const names[] = { [PEER_LINK] = "Remote link: ", [PEER_MONITOR] = "Remote monitoring: ",
					     [PEER_WATCHER] = "Remotely monitored by: " };
	const struct bond *bond = arg;

	if (n->connection != bond->connection || n->kind >= sizeof(names) / sizeof(*names) || names[n->kind] == NULL)
		return;
	write_id(names[n->kind], n->kind == PEER_LINK ? n->peer : bond->pid, " ");
	if (n->at_node) {
		write_id("{", n->name, ", ");
		write_id("", n->peer, "}\n");
	} else {
		write_id("", n->kind == PEER_LINK ? bond->pid : n->peer, "\n");
	}
}

static void write_bonds(Process *p, void *arg)
{
	struct bond *bond = arg;

	bond->pid = p->id;
	peer_each(&p->links, write_bond, bond);
	peer_each(&p->monitors, write_bond, bond);
	peer_each(&p->monitored_by, write_bond, bond);
}

/* What is told of a channel. */
struct connection {
	Term node, controller;
	uint32_t id;
	enum channel_state state;
	uint64_t flags;
	unsigned creation;
};

/* The channel is locked, or the world is stopped. */
static struct connection look_at(const struct channel *c)
{
	return (struct connection){ c->node, c->controller, c->id, c->state, c->flags, atomic_load(&c->creation) };
}

/* The number is what printed pids of the node begin with. each: process_each, or the like. */
static void write_connection(const struct connection *c,
			     void (*each)(void (*see)(Process *p, void *arg), void *arg))
{
	const char *connected = c->flags & DIST_PUBLISHED ? "visible_node" : "hidden_node";
	const char *kind = c->state == CHANNEL_UP ? connected : "not_connected";
	struct bond bond = { .connection = c->id };

	dump_format("=%s:%u\n", kind, (unsigned)atom_index(c->node));
	write_id("Name: ", c->node, "\n");
	if (c->state != CHANNEL_UP)
		return;
	write_id("Controller: ", c->controller, "\n");
	dump_format("Creation: %u\n", c->creation);
	each(write_bonds, &bond);
}

static bool write_own_node(void)
{
	bool is_alive = node_self().name != am_nonode_nohost;

	write_id("=node:", node_self().name, "\n");
	if (!is_alive)
		dump_text("=no_distribution\n");
	return is_alive;
}

static void write_channel(const struct channel *channel, void *arg)
{
	struct connection c = look_at(channel);

	(void)arg;
	write_connection(&c, process_each);
}

void crash_dump_nodes(void)
{
	if (write_own_node())
		channel_peek_each(write_channel, NULL);
}

struct connections {
	struct connection *all;
	size_t count;
};

static void note_channel(struct channel *c, void *arg)
{
	struct connections *s = arg;

	s->all = mem_realloc(s->all, (s->count + 1) * sizeof(*s->all));
	lock_acquire(&c->lock);
	s->all[s->count++] = look_at(c);
	lock_release(&c->lock);
}

static void each_in_parts(void (*see)(Process *p, void *arg), void *arg)
{
	process_each_in_parts(PROCESSES_AT_ONCE, see, arg);
}

void crash_dump_nodes_in_parts(void)
{
	struct connections s = { 0 };

	if (write_own_node())
		channel_each(note_channel, &s);
	for (size_t i = 0; i < s.count; i++)
		write_connection(&s.all[i], each_in_parts);
	mem_free(s.all);
}

/* ---- memory */

struct sums {
	size_t code, old_code;
};

static size_t code_bytes(const struct code_instance *c)
{
	return c != NULL ? c->word_count * sizeof(Inst) : 0;
}

static void sum_module(const struct module *m, void *arg)
{
	((struct sums *)arg)->code += code_bytes(atomic_load(&m->current));
	((struct sums *)arg)->old_code += code_bytes(atomic_load(&m->old));
}

static struct sums measure(void)
{
	struct sums sums = { 0 };

	module_each(sum_module, &sums);
	return sums;
}

/* As erlang:memory/0: none of it walks through the processes, who may be many. */
void crash_dump_memory(void)
{
	struct sums sums = measure();
	size_t code = sums.code + sums.old_code, processes = mem_kind_bytes(MEM_PROCESS), spare = process_spare_bytes();
	size_t binaries = mem_kind_bytes(MEM_BINARY), atoms = atom_memory_bytes();
	size_t others = mem_kind_bytes(MEM_SYSTEM) + binaries + code;

	dump_format("=memory\ntotal: %zu\nprocesses: %zu\nprocesses_used: %zu\nsystem: %zu\n", processes + others,
		    processes, processes > spare ? processes - spare : 0, others);
	dump_format("atom: %zu\natom_used: %zu\nbinary: %zu\ncode: %zu\nets: %zu\n", atoms, atoms, binaries,
		    code, table_words_total() * sizeof(Term));
	dump_format("=index_table:atom_tab\nlimit: %u\nentries: %u\n", atom_limit(), atom_count());
}

/* ---- ports, tables, timers, modules, atoms */

static void write_port(const struct port *port, void *arg)
{
	(void)arg;
	write_id("=port:", port->id, "\n");
	dump_format("State: %s\n", atomic_load(&port->state) == PORT_OPEN ? "CONNECTED" : "CLOSING");
	write_id("Connected: ", atomic_load(&port->owner), "\n");
	if (port->registered != TERM_NONE)
		write_id("Registered as: ", port->registered, "\n");
	for (size_t i = 0; i < port->link_count; i++)
		write_id(i == 0 ? "Links: " : ", ", port->links[i], i + 1 == port->link_count ? "\n" : "");
	dump_format("Port controls external process: %.500s\nInput: %llu\nOutput: %llu\nQueue: %zu\n", port->name,
		    (unsigned long long)port->input_bytes, (unsigned long long)port->output_bytes,
		    port->out.size_bytes);
}

static void write_table(const struct ets_table *t, void *arg)
{
	static const char *const types[] = { "set", "ordered_set", "bag", "duplicate_bag" };
	static const char *const protections[] = { "public", "protected", "private" };

	(void)arg;
	write_id("=ets:", atomic_load(&t->owner), "\n");
	dump_format("Slot: %lu\n", (unsigned long)t);
	write_id("Table: ", t->name, "\n");
	write_id("Name: ", t->name, "\n");
	if (table_is_tree(t))
		dump_text("Ordered set (AVL tree), Elements: ");
	else
		dump_text("Objects: ");
	dump_format("%zu\nWords: %zu\nType: %s\nProtection: %s\nCompressed: %s\n", table_objects(t),
		    table_memory_words(t), types[t->options.type], protections[t->options.protection],
		    t->options.is_compressed ? "true" : "false");
	dump_format("Write Concurrency: %s\nRead Concurrency: %s\n", t->options.write_concurrency ? "true" : "false",
		    t->options.read_concurrency ? "true" : "false");
}

static void write_timer(Term to, const struct signal *message, int64_t left_ms, void *arg)
{
	(void)arg;
	write_id("=timer:", to, "\n");
	write_id("Message: ", message->term, "\n");
	dump_format("Time left: %lld\n", (long long)(left_ms > 0 ? left_ms : 0));
}

static void write_module(const struct module *m, void *arg)
{
	(void)arg;
	write_id("=mod:", m->name, "\n");
	dump_format("Current size: %zu\n", code_bytes(atomic_load(&m->current)));
	if (atomic_load(&m->old) != NULL)
		dump_format("Old size: %zu\n", code_bytes(atomic_load(&m->old)));
}

static void write_atoms(void)
{
	dump_text("=atoms\n");
	for (uint32_t i = atom_count(); i > 0; i--)
		write_id("", term_from_atom(i - 1), "\n");
}

/* ---- the whole */

static void see_summary(Process *p, void *arg)
{
	(void)arg;
	dump_process_summary(p);
}

void crash_dump_processes(void)
{
	process_each(see_summary, NULL);
}

void crash_dump_ports(void)
{
	port_each(write_port, NULL);
}

void crash_dump_tables(void)
{
	table_each(write_table, NULL);
}

void crash_dump_modules(void)
{
	struct sums sums = measure();

	dump_format("=loaded_modules\nCurrent code: %zu\nOld code: %zu\n", sums.code, sums.old_code);
	module_each(write_module, NULL);
}

struct progress {
	const char *slogan;
	const struct wait_look *waits; /* before the world was stopped */
	bool all_stopped;
};

static void write_wait(const char *text, void *arg)
{
	(void)arg;
	dump_text(text);
	dump_text("\n");
}

/* A section of ours, which OTP's reader says it does not know. */
static void write_threads(const struct wait_look *waits)
{
	dump_text("=threads\n");
	wait_each(waits, write_wait, NULL);
}

/* What runs on another thread now may change under the reader. */
static void see_terms(Process *p, void *arg)
{
	const struct progress *dump = arg;

	if (dump->all_stopped || !(atomic_load(&p->state) & PS_RUNNING) || p == process_current())
		dump_process_terms(p);
}

static void write_sections(void *arg, bool all_stopped)
{
	struct progress *dump = arg;

	dump->all_stopped = all_stopped;
	port_emergency_close();
	write_head(dump->slogan);
	write_schedulers();
	write_threads(dump->waits);
	crash_dump_memory();
	crash_dump_processes();
	crash_dump_ports();
	crash_dump_tables();
	timer_each_message(write_timer, NULL);
	crash_dump_nodes();
	crash_dump_modules();
	process_each(see_terms, dump);
	write_atoms();
	dump_text("=end\n");
}

/* A whole number from the environment; `missing` without. */
static long read_number(const char *name, long missing)
{
	const char *text = os_env_peek(name);
	char *end;
	long n;

	if (text == NULL || *text == 0)
		return missing;
	n = strtol(text, &end, 10);
	return *end == 0 ? n : missing;
}

/* The dump must not take longer: the alarm ends the VM. */
static void limit_time(long seconds)
{
	sigset_t alarm_set;

	if (seconds <= 0)
		return;
	signal(SIGALRM, SIG_DFL);
	sigemptyset(&alarm_set);
	sigaddset(&alarm_set, SIGALRM);
	sigprocmask(SIG_UNBLOCK, &alarm_set, NULL);
	alarm((unsigned)(seconds < 1 << 30 ? seconds : 1 << 30));
}

static void write_file(const char *path, long bytes, const char *slogan)
{
	static struct wait_look waits;
	struct progress dump = { .slogan = slogan, .waits = &waits };
	char begin[PATH_MAX + 64];
	bool ok;

	if (!dump_open(path, bytes > 0 ? (uint64_t)bytes : 0)) {
		log_line("erlvm: cannot write the crash dump %s: %s", path, strerror(errno));
		return;
	}
	snprintf(begin, sizeof(begin), "\nCrash dump is being written to: %s...", path);
	log_text(begin, strlen(begin));
	wait_look(&waits);
	sched_stop_world_within(STOP_WAIT_NS, write_sections, &dump);
	ok = dump_close();
	log_line(ok ? "done" : "\nerlvm: the crash dump is not whole");
}

void crash_dump_write(const char *slogan)
{
	static atomic_flag begun = ATOMIC_FLAG_INIT;
	static _Thread_local bool is_writer;
	const char *path = os_env_peek("ERL_CRASH_DUMP");
	long seconds = read_number("ERL_CRASH_DUMP_SECONDS", -1), bytes = read_number("ERL_CRASH_DUMP_BYTES", -1);

	if (atomic_flag_test_and_set(&begun)) {
		while (!is_writer) /* the writer itself goes on to its end */
			pause();
		return;
	}
	is_writer = true;
	if (seconds == 0 || bytes == 0)
		return;
	limit_time(seconds);
	write_file(path != NULL && *path != 0 ? path : "erl_crash.dump", bytes, slogan);
	alarm(0);
}
