/* SPDX-License-Identifier: Apache-2.0 */
/* The menu runs on the main thread, and reads the terminal itself meanwhile. */
#include "dump/break_menu.h"

#include <signal.h>
#include <string.h>
#include <termios.h>
#include <unistd.h>

#include "base/log.h"
#include "base/release.h"
#include "dump/crash_dump.h"
#include "dump/dump_out.h"
#include "io/port.h"
#include "io/posix.h"
#include "proc/batch.h"
#include "proc/os_signal.h"
#include "proc/sched.h"

enum { LINE_BYTES = 256 };

static void say(const char *text)
{
	posix_write_all(STDOUT_FILENO, text, strlen(text));
}

static void leave(void)
{
	batch_close();
	_exit(0);
}

static void dump_and_leave(void)
{
	log_crash_dump("Crash dump requested by user");
	batch_close();
	_exit(1);
}

static void go_on(void)
{
}

static void tell_version(void)
{
	say("Erlang (erlvm) emulator of Erlang/OTP ");
	say(release_current->text);
	say("\n");
}

/* After the answer the world goes on, as in OTP. */
static const struct command {
	char key;
	void (*run)(void);
} commands[] = {
	{ 'a', leave },
	{ 'q', leave },
	{ 'A', dump_and_leave },
	{ 'c', go_on },
	{ 'p', crash_dump_processes },
	{ 'o', crash_dump_ports },
	{ 'i', crash_dump_memory },
	{ 'l', crash_dump_modules },
	{ 'v', tell_version },
	{ 'D', crash_dump_tables },
	{ 'd', crash_dump_nodes },
};

static const char question[] = "\nBREAK: (a)bort (A)bort with dump (c)ontinue (p)roc info (i)nfo\n"
			       "       (l)oaded (v)ersion (D)b-tables (d)istribution\n";

/* The first character of the next line. 0: no more lines. */
static char read_key(void)
{
	char line[LINE_BYTES], key = '\n';

	for (;;) {
		ssize_t n = read(STDIN_FILENO, line, sizeof(line));

		if (n <= 0)
			return 0;
		if (key == '\n')
			key = line[0];
		if (line[n - 1] == '\n' || line[n - 1] == '\r')
			return key;
	}
}

static const struct command *find_command(char key)
{
	for (size_t i = 0; i < sizeof(commands) / sizeof(commands[0]); i++)
		if (commands[i].key == key)
			return &commands[i];
	return NULL;
}

static const struct command *ask(void)
{
	const struct command *command = NULL;

	while (command == NULL) {
		char key;

		say(question);
		do
			key = read_key();
		while (key == '\n' || key == '\r');
		if (key == 0)
			leave();
		command = find_command(key);
		if (command == NULL) {
			char wrong[] = "Invalid option '?'. Please enter one of the following:";

			*strchr(wrong, '?') = key;
			say(wrong);
		}
	}
	return command;
}

static struct termios at_start; /* what the terminal was set to */

/* The terminal shows what is typed and hands it over by lines while the menu asks, whatever the shell's editor has set,
 * and is the editor's again before any process runs. */
static void run_stopped(void *arg)
{
	const struct command *command;
	struct termios shell;
	bool is_terminal = tcgetattr(STDIN_FILENO, &shell) == 0;

	(void)arg;
	if (is_terminal)
		tcsetattr(STDIN_FILENO, TCSADRAIN, &at_start);
	command = ask();
	dump_open_fd(STDOUT_FILENO);
	command->run();
	dump_close();
	if (is_terminal)
		tcsetattr(STDIN_FILENO, TCSANOW, &shell);
}

/* Ctrl-C once more. */
static void leave_at_once(int number)
{
	(void)number;
	_exit(0);
}

static void run_menu(void)
{
	struct sigaction again = { .sa_handler = leave_at_once }, before;

	sigaction(SIGINT, &again, &before);
	port_hold_stdin(true);
	sched_stop_world(run_stopped, NULL);
	sigaction(SIGINT, &before, NULL); /* before the shell answers, after which a Ctrl-C asks for a new menu */
	port_hold_stdin(false);
}

/* The terminal makes no signal of Ctrl-C any more. */
static void pass_on(void)
{
	struct termios t;

	if (tcgetattr(STDIN_FILENO, &t) != 0)
		return;
	t.c_cc[VINTR] = _POSIX_VDISABLE;
	tcsetattr(STDIN_FILENO, TCSANOW, &t);
}

void break_menu_init(char how)
{
	switch (how) {
	case 'm':
		if (tcgetattr(STDIN_FILENO, &at_start) == 0)
			os_signal_on_break(run_menu);
		break;
	case 'i':
		signal(SIGINT, SIG_IGN);
		break;
	case 'c':
		pass_on();
		break;
	default:
		break;
	}
}
