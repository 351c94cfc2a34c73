/* SPDX-License-Identifier: Apache-2.0 */
/* Ports with real programs and descriptors: what their owner gets, as open_port/2 of OTP 25 sends it. */
#include "io/port.h"

#include <check.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "data/print.h"
#include "io/io.h"
#include "io/port_ask.h"
#include "io/port_send.h"
#include "proc/process_life.h"
#include "proc/registry.h"
#include "proc/sched.h"
#include "proc/sched_job.h"
#include "proc/sched_poll.h"
#include "unit.h"

extern char **environ;
static Process *owner;
static struct signal *seen; /* the last message read */

static void setup(void)
{
	struct spawn_options o = SPAWN_OPTIONS_DEFAULT;
	Term pid;

	unit_init();
	signal(SIGPIPE, SIG_IGN); /* as the schedulers block it */
	process_table_init(1024);
	registry_init();
	sched_init(1, 1);
	async_init(2);
	poll_init(&(struct poll_settings){ .sets = 1, .threads = 1, .by_schedulers = true });
	io_init();
	/* Never run: no scheduler was started. Its incoming queue is what we look at. */
	pid = process_spawn(NULL, am_erlang, am_ok, NIL, &o, NULL);
	owner = process_find(pid);
	ck_assert_ptr_nonnull(owner);
	seen = NULL;
}

static struct signal *next_signal(void)
{
	struct signal *s;

	lock_acquire(&owner->signals_lock);
	s = seen == NULL ? owner->in_first : seen->next;
	lock_release(&owner->signals_lock);
	return s;
}

/* What schedulers would do: what has become ready, and what ports have to do with it. */
static void run_jobs(void)
{
	do
		sched_poll_now();
	while (sched_job_run());
}

/* The next signal to the owner: a message, or 'EXIT' and the reason. The port's id is shown as P. */
static void check_next(Term port, const char *want)
{
	struct timespec ms = { .tv_nsec = 1000000 };
	char text[256], id[32], shown[320], *at;
	struct signal *s = NULL;

	for (int k = 0; k < 5000 && (run_jobs(), s = next_signal()) == NULL; k++)
		nanosleep(&ms, NULL);
	ck_assert_msg(s != NULL, "nothing came, want %s", want);
	seen = s;
	print_term_fixed(text, sizeof(text), s->term);
	print_term_fixed(id, sizeof(id), port);
	at = strstr(text, id);
	if (s->kind == SIG_LINK_EXIT || s->kind == SIG_EXIT)
		snprintf(shown, sizeof(shown), "EXIT %s", text);
	else if (at != NULL)
		snprintf(shown, sizeof(shown), "%.*sP%s", (int)(at - text), text, at + strlen(id));
	else
		snprintf(shown, sizeof(shown), "%s", text);
	ck_assert_str_eq(shown, want);
}

static void check_quiet(void)
{
	struct timespec ms = { .tv_nsec = 50000000 };

	nanosleep(&ms, NULL);
	run_jobs();
	ck_assert_ptr_null(next_signal());
}

static Term open_command(const char *command, struct port_options o)
{
	Term id;

	o.name = command;
	o.use_stdio = true;
	o.envp = environ;
	ck_assert_int_eq(port_open(owner, &port_spawn_driver, &o, &id), 0);
	return id;
}

static void command(Term id, const char *text, size_t n)
{
	struct port *port = port_find(id);
	struct byte_queue q;

	byte_queue_init(&q);
	ck_assert(byte_queue_put(&q, text, n));
	port_hold(port);
	ck_assert(port_command(port, owner->id, &q));
	port_let_go(port);
	port_unref(port);
}

static bool is_there(Term id)
{
	struct port *port = port_find(id);

	if (port != NULL)
		port_unref(port);
	return port != NULL;
}

/* Closes the port, and sees what was sent to it written, its program end and every watch let go of it. */
static void close_port(Term id)
{
	struct port *port = port_find(id);

	port_hold(port);
	ck_assert(port_close(port, owner->id, am_normal));
	port_let_go(port);
	while (run_jobs(), is_there(id))
		usleep(1000);
	while (run_jobs(), atomic_load(&port->refs) > 1)
		usleep(1000);
	port_unref(port);
}

START_TEST(test_port_command_stream)
{
	Term id = open_command("cat", (struct port_options){ .in = true, .out = true, .binary = true });

	command(id, "hello", 5);
	check_next(id, "{P,{data,<<\"hello\">>}}");
	close_port(id);
	check_next(id, "EXIT normal");
	check_quiet();
}
END_TEST

START_TEST(test_port_input_lines)
{
	Term id = open_command("printf 'abcdefgh\\ni\\n\\nst'",
			       (struct port_options){ .in = true, .eof = true, .line_bytes = 5 });

	check_next(id, "{P,{data,{noeol,\"abcde\"}}}");
	check_next(id, "{P,{data,{eol,\"fgh\"}}}");
	check_next(id, "{P,{data,{eol,\"i\"}}}");
	check_next(id, "{P,{data,{eol,[]}}}");
	check_next(id, "{P,{data,{noeol,\"st\"}}}");
	check_next(id, "{P,eof}");
	check_quiet();
	close_port(id);
}
END_TEST

START_TEST(test_port_input_line_of_just_the_length)
{
	Term id = open_command("printf 'abcde\\nabcdef\\n'", (struct port_options){ .in = true, .line_bytes = 5 });

	check_next(id, "{P,{data,{eol,\"abcde\"}}}");
	check_next(id, "{P,{data,{noeol,\"abcde\"}}}");
	check_next(id, "{P,{data,{eol,\"f\"}}}");
	check_next(id, "EXIT normal");
}
END_TEST

START_TEST(test_port_input_packets)
{
	Term id = open_command("cat",
			       (struct port_options){ .in = true, .out = true, .binary = true, .packet_bytes = 2 });

	command(id, "hello", 5);
	command(id, "", 0);
	command(id, "zzz", 3);
	check_next(id, "{P,{data,<<\"hello\">>}}");
	check_next(id, "{P,{data,<<>>}}");
	check_next(id, "{P,{data,<<\"zzz\">>}}");
	close_port(id);
}
END_TEST

START_TEST(test_port_exit_status)
{
	Term id = open_command("sh -c 'echo out; exit 7'",
			       (struct port_options){ .in = true, .out = true, .exit_status = true });

	check_next(id, "{P,{data,\"out\\n\"}}");
	check_next(id, "{P,{exit_status,7}}");
	check_next(id, "EXIT normal");
	id = open_command("sh -c 'kill -9 $$'", (struct port_options){ .in = true, .exit_status = true });
	check_next(id, "{P,{exit_status,137}}");
	check_next(id, "EXIT normal");
}
END_TEST

START_TEST(test_port_send_from_owner_and_others)
{
	struct heap *h = unit_heap();
	Term id = open_command("cat", (struct port_options){ .in = true, .out = true });
	Term text = heap_list_bytes(h, "xyz", 3, NIL);

	ck_assert(port_send(owner, id, id, heap_tuple(h, owner->id, heap_tuple(h, am_command, text))));
	check_next(id, "{P,{data,\"xyz\"}}");
	ck_assert(port_send(owner, id, id, am_ok));
	check_next(id, "EXIT badsig");
	ck_assert(port_send(owner, id, id, heap_tuple(h, owner->id, heap_tuple(h, am_command, am_ok))));
	check_next(id, "EXIT badsig");
	ck_assert(port_send(owner, id, id, heap_tuple(h, owner->id, am_close)));
	check_next(id, "EXIT normal");
	check_next(id, "{P,closed}");
	ck_assert(port_send(owner, id, id, am_ok));
	check_quiet();
}
END_TEST

START_TEST(test_port_open_what_is_not_there)
{
	struct port_options o = {
		.name = "/nonexistent", .in = true, .executable = true, .use_stdio = true, .envp = environ
	};
	Term id;

	ck_assert_int_eq(port_open(owner, &port_spawn_driver, &o, &id), -ENOENT);
	o.name = "/etc/passwd";
	ck_assert_int_eq(port_open(owner, &port_spawn_driver, &o, &id), -EACCES);
	ck_assert_uint_eq(port_count(), 0);
}
END_TEST

START_TEST(test_port_fd_reads_and_flushes)
{
	char name[] = "0/1", got[64];
	int to[2], from[2];
	struct port_options o = { .name = name, .in = true, .out = true, .eof = true, .binary = true };
	Term id;

	ck_assert_int_eq(pipe(to), 0);
	ck_assert_int_eq(pipe(from), 0);
	o.fd_in = to[0];
	o.fd_out = from[1];
	ck_assert_int_eq(port_open(owner, &port_fd_driver, &o, &id), 0);
	ck_assert_int_eq(write(to[1], "in", 2), 2);
	check_next(id, "{P,{data,<<\"in\">>}}");
	command(id, "out put", 7);
	port_flush_all();
	ck_assert_int_eq(read(from[0], got, sizeof(got)), 7);
	ck_assert_mem_eq(got, "out put", 7);
	close(to[1]);
	check_next(id, "{P,eof}");
	close_port(id);
}
END_TEST

START_TEST(test_port_fd_reads_a_regular_file)
{
	struct port_options o = { .name = "0/1", .in = true, .binary = true };
	FILE *f = tmpfile();
	Term id;

	fputs("from a file", f);
	fflush(f);
	ck_assert_int_eq(lseek(fileno(f), 0, SEEK_SET), 0);
	o.fd_in = fileno(f);
	ck_assert_int_eq(port_open(owner, &port_fd_driver, &o, &id), 0);
	check_next(id, "{P,{data,<<\"from a file\">>}}");
	check_next(id, "EXIT normal");
}
END_TEST

/* Who sends waits in the send. */
static void send_to_busy(Term id)
{
	struct heap *h = unit_heap();
	Term text = heap_list_bytes(h, "xyz", 3, NIL),
	     message = heap_tuple(h, owner->id, heap_tuple(h, am_command, text));

	ck_assert(!port_send(owner, id, id, message));
	ck_assert_int_eq(owner->exc_kind, EXC_WAIT);
	ck_assert(port_ask_waits(owner));
}

START_TEST(test_port_busy_then_not)
{
	static char big[200000];
	Term id = open_command("sh -c 'sleep 0.2; cat >/dev/null'", (struct port_options){ .out = true });
	struct port *port = port_find(id);
	Term t;

	command(id, big, sizeof(big));
	send_to_busy(id);
	for (int k = 0; k < 5000 && (run_jobs(), port_is_busy(port)); k++)
		usleep(1000);
	ck_assert(!port_is_busy(port));
	owner->exc_kind = EXC_NONE;
	t = owner->resume(owner, owner->resume_arg);
	owner->resume = NULL;
	ck_assert(term_is_tuple_of(t, 2) && tuple_get(t, 1) == owner->id);
	port_unref(port);
	close_port(id);
}
END_TEST

static bool has_waiters(struct port *port)
{
	bool has;

	lock_acquire(&port->hold.lock);
	has = port->waits.first != NULL;
	lock_release(&port->hold.lock);
	return has;
}

START_TEST(test_port_busy_waiter_leaves)
{
	static char big[200000];
	Term id = open_command("sleep 100", (struct port_options){ .out = true });
	struct port *port = port_find(id);

	command(id, big, sizeof(big));
	send_to_busy(id);
	ck_assert(has_waiters(port));
	owner->drop(owner, owner->resume_arg);
	owner->resume = NULL;
	ck_assert(!has_waiters(port));
	kill(port->os_pid, SIGKILL);
	port_unref(port);
	check_next(id, "EXIT epipe");
}
END_TEST

START_TEST(test_port_register_frees_the_name)
{
	Term id = open_command("cat", (struct port_options){ .in = true, .out = true });

	ck_assert_uint_eq(port_register(id, am_ok), am_true);
	ck_assert_uint_eq(port_register(id, am_error), am_registered_name);
	close_port(id);
	ck_assert(!port_unregister(id));
	id = open_command("cat", (struct port_options){ .in = true, .out = true });
	ck_assert_uint_eq(port_register(id, am_ok), am_true);
	ck_assert(port_unregister(id));
	ck_assert(!port_unregister(id));
	ck_assert_uint_eq(port_register(id, am_error), am_true);
	close_port(id);
}
END_TEST

Suite *port_suite(void)
{
	Suite *s = suite_create("io/port");
	TCase *c = tcase_create("port");

	tcase_add_checked_fixture(c, setup, NULL);
	tcase_set_timeout(c, 20);
	tcase_add_test(c, test_port_command_stream);
	tcase_add_test(c, test_port_input_lines);
	tcase_add_test(c, test_port_input_line_of_just_the_length);
	tcase_add_test(c, test_port_input_packets);
	tcase_add_test(c, test_port_exit_status);
	tcase_add_test(c, test_port_send_from_owner_and_others);
	tcase_add_test(c, test_port_open_what_is_not_there);
	tcase_add_test(c, test_port_fd_reads_and_flushes);
	tcase_add_test(c, test_port_fd_reads_a_regular_file);
	tcase_add_test(c, test_port_busy_then_not);
	tcase_add_test(c, test_port_busy_waiter_leaves);
	tcase_add_test(c, test_port_register_frees_the_name);
	suite_add_tcase(s, c);
	return s;
}
