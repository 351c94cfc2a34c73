/* SPDX-License-Identifier: Apache-2.0 */
/* OTP's start; for the quick start the native init process and the chain of boot processes. Invariant: at most one boot
 * process lives; its end starts the next. */
#include "boot.h"

#include <sched.h>
#include <stdio.h>
#include <string.h>

#include "base/log.h"
#include "base/release.h"
#include "bif/code/bif_literal.h"
#include "code/code_path.h"
#include "code/export.h"
#include "data/binary.h"
#include "data/map.h"
#include "data/print.h"
#include "ets/table.h"
#include "heap/heap.h"
#include "proc/message.h"
#include "proc/os_signal.h"
#include "proc/process.h"
#include "proc/process_life.h"
#include "proc/registry.h"
#include "proc/sched.h"
#include "trace/session.h"

enum { WORDS_MAX = 64, SYSTEM_MAX = 8 };
#define STARTING NIL

struct boot_words {
	int count;
	char **words;
	bool strings;
};

static struct {
	struct boot_words calls[WORDS_MAX], flags[WORDS_MAX], plain;
	int call_count, flag_count, next, servers; /* servers: of input and output, started */
	_Atomic Term running; /* pid of the boot process; STARTING while it is made */
	Term system[SYSTEM_MAX]; /* pids of those that nothing goes on without */
	int system_count;
} boot;

void boot_add_call(int count, char **words, bool strings)
{
	if (boot.call_count < WORDS_MAX)
		boot.calls[boot.call_count++] = (struct boot_words){ count, words, strings };
}

void boot_add_flag(int count, char **words)
{
	if (boot.flag_count < WORDS_MAX)
		boot.flags[boot.flag_count++] = (struct boot_words){ count, words, true };
}

void boot_set_plain(int count, char **words)
{
	boot.plain = (struct boot_words){ count, words, true };
}

bool boot_has_calls(void)
{
	return boot.call_count > 0;
}

static Term make_word(struct heap *h, const char *word, bool strings)
{
	if (strings)
		return heap_list_bytes(h, word, strlen(word), NIL);
	return atom_from_text(word);
}

/* The words from number `from` on. */
static Term make_words(struct heap *h, const struct boot_words *w, int from)
{
	Term list = NIL;

	for (int i = w->count - 1; i >= from; i--)
		list = heap_cons(h, make_word(h, w->words[i], w->strings), list);
	return list;
}

/* ---- init */

/* init:get_argument/1: a list of what stood behind each occurrence of the flag. */
static Term find_argument(struct heap *h, Term flag)
{
	Term list = NIL;

	for (int i = boot.flag_count - 1; i >= 0; i--)
		if (atom_existing_utf8(boot.flags[i].words[0] + 1, strlen(boot.flags[i].words[0] + 1)) == flag)
			list = heap_cons(h, make_words(h, &boot.flags[i], 1), list);
	if (list == NIL && flag == am_noshell)
		list = heap_cons(h, NIL, NIL); /* there is no shell */
	return list == NIL ? (Term)am_error : heap_tuple(h, am_ok, list);
}

static Term list_arguments(struct heap *h)
{
	Term list = NIL;

	for (int i = boot.flag_count - 1; i >= 0; i--)
		list = heap_cons(
			h, heap_tuple(h, atom_from_text(boot.flags[i].words[0] + 1), make_words(h, &boot.flags[i], 1)),
			list);
	return list;
}

static Term answer_request(struct heap *h, Term request)
{
	if (term_is_tuple_of(request, 2) && tuple_get(request, 1) == am_get_argument)
		return find_argument(h, tuple_get(request, 2));
	switch (request) {
	case am_get_arguments:
		return list_arguments(h);
	case am_get_plain_arguments:
		return make_words(h, &boot.plain, 0);
	case am_get_status:
		return heap_tuple(h, am_started, am_started);
	default:
		return am_error;
	}
}

static void handle_message(Process *p, Term message)
{
	Term first;

	if (!term_is_tuple_of(message, 2))
		return;
	first = tuple_get(message, 1);
	if (first == am_stop) {
		Term status = tuple_get(message, 2);

		if (term_is_tuple_of(status, 2) && tuple_get(status, 1) == am_stop)
			status = tuple_get(status, 2);
		sched_halt(term_is_small(status) ? (int)small_value(status) : 0, true);
	}
	if (term_is_local_pid(first))
		message_send(p, first, heap_tuple(&p->heap, am_init, answer_request(&p->heap, tuple_get(message, 2))));
}

/* Empties the mailbox, then sleeps until there is more, then is called again. */
static Term run_init(Process *p, Term *x)
{
	Term message;

	while ((message = message_peek(p)) != TERM_NONE) {
		handle_message(p, message);
		message_remove(p);
	}
	if (p->exc_kind == EXC_EXITED)
		return TERM_NONE;
	x[0] = am_erlvm;
	x[1] = am_init;
	x[2] = NIL;
	p->exc_kind = EXC_HIBERNATE;
	return TERM_NONE;
}

static Term spawn_call(Term module, Term function, Term args)
{
	struct spawn_options o = SPAWN_OPTIONS_DEFAULT;
	Term pid = process_spawn(NULL, module, function, args, &o, NULL);

	ENSURE(pid != TERM_NONE);
	return pid;
}

/* What applications are set to: nothing. Who serves input and output asks, and does not ask whether there are
 * applications. */
static const struct ets_options no_settings = {
	.type = ETS_SET, .protection = ETS_PUBLIC, .key_position = 1, .heir = am_none, .is_named = true
};

static void start_init(void)
{
	Term pid;
	Process *p;

	export_set_bif(export_get(am_erlvm, am_init, 0), run_init, "erlvm:init/0");
	pid = spawn_call(am_erlvm, am_init, NIL);
	p = process_find(pid);
	registry_register(am_init, p);
	if (release_drives_terminal())
		table_id(table_new(p, am_ac_tab, &no_settings), &p->heap);
	process_unref(p);
}

/* ---- the calls of the command line */

static bool is_without_driver(void)
{
	return !release_drives_terminal();
}

static Term no_arguments(struct heap *h)
{
	(void)h;
	return NIL;
}

static Term name_of_signals(struct heap *h)
{
	return heap_cons(h, heap_tuple(h, am_local, am_erl_signal_server), NIL);
}

static Term empty_list(struct heap *h)
{
	return heap_cons(h, NIL, NIL);
}

static Term driver_options(struct heap *h)
{
	Term pairs[] = { am_initial_shell, am_noshell, am_input, am_cooked };

	return heap_cons(h, map_from_pairs(h, pairs, release_names_input() ? 2 : 1), NIL);
}

/* Who serves standard input and output is started one by one, too: user, or since OTP 26 standard_error and then the
 * terminal's driver, which makes user. Since OTP 28 the driver asks OTP's process of signals for those of the terminal.
 */
static const struct server {
	bool (*is_needed)(void);
	Term module, function;
	Term (*arguments)(struct heap *h); /* a list of them */
} servers[] = {
	{ is_without_driver, am_user, am_start, no_arguments },
	{ release_handles_more_signals, am_gen_event, am_start, name_of_signals },
	{ release_drives_terminal, am_standard_error, am_init, empty_list },
	{ release_drives_terminal, am_user_drv, am_start, driver_options },
};

/* Returns false when all have been started. */
static bool start_server(void)
{
	const struct server *server;
	struct heap h;

	do {
		if (boot.servers == sizeof(servers) / sizeof(servers[0]))
			return false;
		server = &servers[boot.servers++];
	} while (!server->is_needed());
	boot.running = STARTING;
	heap_init(&h, HEAP_MIN_WORDS);
	boot.running = spawn_call(server->module, server->function, server->arguments(&h));
	heap_free(&h);
	return true;
}

static void start_next(void)
{
	const struct boot_words *c;
	struct heap h;
	Term args;

	if (start_server())
		return;
	if (boot.next == boot.call_count) {
		boot.running = TERM_NONE;
		return;
	}
	c = &boot.calls[boot.next++];
	boot.running = STARTING;
	heap_init(&h, HEAP_MIN_WORDS);
	args = c->count > 2 ? heap_cons(&h, make_words(&h, c, 2), NIL) : NIL;
	boot.running = spawn_call(atom_from_text(c->words[0]),
				  c->count > 1 ? atom_from_text(c->words[1]) : (Term)am_start, args);
	heap_free(&h);
}

/* An error has been reported when it ended the process; an exit has not. */
static void tell_exit(const Process *p)
{
	char function[256], reason[1024];
	struct print_buffer b;

	if (term_is_tuple_of(p->exc_reason, 2) && term_is_cons(tuple_get(p->exc_reason, 2)) &&
	    term_is_tuple_of(cons_head(tuple_get(p->exc_reason, 2)), 4))
		return;
	print_buffer_fixed(&b, function, sizeof(function));
	print_mfa(&b, p->initial_module, p->initial_function, p->initial_arity);
	print_term_fixed(reason, sizeof(reason), p->exc_reason);
	log_line("erlvm: %s exited: %s", function, reason);
}

static void follow_exit(Process *p)
{
	while (boot.running == STARTING)
		sched_yield(); /* p may be the one: it runs before its pid is known here */
	if (p->id != boot.running)
		return;
	if (p->exc_reason != am_normal) {
		tell_exit(p);
		sched_halt(1, true);
	}
	start_next();
}

void boot_start(void)
{
	start_init();
	process_at_exit(follow_exit);
	start_next();
}

/* ---- OTP's start */

static Term spawn_system(Term module, Term args, uint8_t priority)
{
	struct spawn_options o = SPAWN_OPTIONS_DEFAULT;

	o.off_heap_messages = o.system = module != am_erl_init;
	o.priority = priority;
	boot.system[boot.system_count] = process_spawn(NULL, module, am_start, args, &o, NULL);
	ENSURE(boot.system[boot.system_count] != TERM_NONE);
	return boot.system[boot.system_count++];
}

/* Nothing works without it: said as erl says it, with a crash dump. */
static void tell_system_exit(const Process *p)
{
	char pid[64], reason[1024], slogan[1152];

	print_term_fixed(pid, sizeof(pid), p->id);
	print_term_fixed(reason, sizeof(reason), p->exc_reason);
	snprintf(slogan, sizeof(slogan), "System process %s terminated: %s", pid, reason);
	log_slogan(slogan);
}

static void follow_system(Process *p)
{
	bool needed = p->system; /* as the registry of sockets, which prim_socket starts */

	for (int i = 0; i < boot.system_count; i++)
		needed |= boot.system[i] == p->id;
	if (!needed)
		return;
	tell_system_exit(p);
	sched_halt(1, false);
}

bool boot_start_otp(int count, char **words)
{
	const char *missing;
	struct heap h;
	Term list = NIL;

	if (code_preload(&missing) != 0) {
		log_line("erlvm: cannot load %s from the Erlang/OTP installation %s", missing, code_path_root());
		return false;
	}
	os_signal_serve();
	heap_init(&h, HEAP_MIN_WORDS);
	for (int i = count; i-- > 0;)
		list = heap_cons(&h, binary_put(&h, words[i], strlen(words[i])), list);
	process_at_exit(follow_system);
	spawn_system(am_erl_init, heap_cons(&h, am_init, heap_cons(&h, list, NIL)), PRIO_NORMAL);
	heap_free(&h);
	spawn_system(am_erts_code_purger, NIL, PRIO_HIGH);
	bif_literal_set_collector(spawn_system(am_erts_literal_area_collector, NIL, PRIO_HIGH));
	spawn_system(am_erts_dirty_process_signal_handler, NIL, PRIO_NORMAL);
	spawn_system(am_erts_dirty_process_signal_handler, NIL, PRIO_HIGH);
	spawn_system(am_erts_dirty_process_signal_handler, NIL, PRIO_MAX);
	if (release_is_from(27))
		trace_session_set_cleaner(spawn_system(am_erts_trace_cleaner, NIL, PRIO_NORMAL));
	return true;
}
