/* SPDX-License-Identifier: Apache-2.0 */
/* The handler writes the signal's number into a pipe; the main thread reads it and sends the message.
 * Invariant: the handler does nothing but write. */
#include "proc/os_signal.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdatomic.h>
#include <unistd.h>

#include "base/release.h"
#include "proc/batch.h"
#include "proc/message.h"
#include "proc/registry.h"

static const struct {
	Term name;
	int number; /* of a signal that can be handled; SIGSTOP cannot, and setting it is no error */
} names[] = {
	{ am_sighup, SIGHUP },   { am_sigquit, SIGQUIT }, { am_sigabrt, SIGABRT }, { am_sigalrm, SIGALRM },
	{ am_sigterm, SIGTERM }, { am_sigusr1, SIGUSR1 }, { am_sigusr2, SIGUSR2 }, { am_sigchld, SIGCHLD },
	{ am_sigtstp, SIGTSTP }, { am_sigstop, SIGSTOP }, { am_sigcont, SIGCONT }, { am_sigwinch, SIGWINCH },
};

static int pipe_ends[2];
static sigset_t defaults;
static atomic_bool tells_waits; /* at SIGUSR2, until a program says what that does */
static void (*run_break)(void);

/* Ends of programs that ports run are the ports': SIGCHLD is told when somebody sent it. */
static void note_signal(int number, siginfo_t *info, void *context)
{
	unsigned char byte = (unsigned char)number;
	int error = errno; /* of what was interrupted */

	(void)context;
	if (number != SIGCHLD || info->si_code <= 0)
		(void)!write(pipe_ends[1], &byte, 1); /* a full pipe has enough of them */
	errno = error;
}

/* SIGCHLD is ignored when nobody handles it; said aloud, programs' exit codes would be lost with it. */
static struct sigaction action_of(int number, enum os_signal_how how)
{
	if (how == OS_SIGNAL_HANDLE)
		return (struct sigaction){ .sa_sigaction = note_signal, .sa_flags = SA_RESTART | SA_SIGINFO };
	return (struct sigaction){ .sa_handler = how == OS_SIGNAL_IGNORE && number != SIGCHLD ? SIG_IGN : SIG_DFL };
}

bool os_signal_set(Term name, enum os_signal_how how)
{
	if ((name == am_sigcont || name == am_sigwinch) && !release_handles_more_signals())
		return false;
	if (name == am_sigusr2)
		atomic_store(&tells_waits, false);
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		struct sigaction action = action_of(names[i].number, how);

		if (names[i].name == name)
			return sigaction(names[i].number, &action, NULL) == 0 || names[i].number == SIGSTOP;
	}
	return false;
}

static void note_ignored(void)
{
	struct sigaction action;

	sigfillset(&defaults);
	for (int number = 1; number < NSIG; number++)
		if (number != SIGTERM && sigaction(number, NULL, &action) == 0 && action.sa_handler == SIG_IGN)
			sigdelset(&defaults, number);
}

const sigset_t *os_signal_defaults(void)
{
	return &defaults;
}

void os_signal_init(void)
{
	note_ignored();
	if (pipe2(pipe_ends, O_CLOEXEC) < 0)
		log_refused("make a pipe for signals", errno);
	fcntl(pipe_ends[1], F_SETFL, O_NONBLOCK);
	os_signal_set(am_sigterm, OS_SIGNAL_DEFAULT); /* whoever started us may have ignored it */
	if (sigismember(&defaults, SIGUSR2) == 1) { /* else the VM was started with it ignored */
		os_signal_set(am_sigusr2, OS_SIGNAL_HANDLE);
		atomic_store(&tells_waits, true);
	}
}

/* ---- what a VM that stands still waits for: no process has to run for that */

static void tell_line(const char *text, void *arg)
{
	(void)arg;
	log_line("erlvm: %s", text);
}

static void tell_waits(void)
{
	static struct wait_look look;

	wait_look(&look);
	log_line("erlvm: SIGUSR2: its threads, where they are, and what they wait for");
	wait_each(&look, tell_line, NULL);
}

void os_signal_on_break(void (*run)(void))
{
	struct sigaction action = action_of(SIGINT, OS_SIGNAL_HANDLE);

	run_break = run;
	sigaction(SIGINT, &action, NULL);
}

static atomic_bool served;

void os_signal_serve(void)
{
	atomic_store(&served, true);
	os_signal_set(am_sigterm, OS_SIGNAL_HANDLE); /* OTP's server has an answer to these from the start */
	os_signal_set(am_sigquit, OS_SIGNAL_HANDLE);
	os_signal_set(am_sigusr1, OS_SIGNAL_HANDLE);
}

/* Nobody takes it. OTP's server is on its way, or has ended because everything does; else it is as if it were not
 * handled. */
static void raise_default(int number)
{
	if (atomic_load(&served))
		return;
	signal(number, SIG_DFL);
	raise(number);
}

static void forward(int number)
{
	Term server = registry_whereis(am_erl_signal_server);
	Process *p = server != TERM_NONE && term_is_local_pid(server) ? process_find(server) : NULL;

	if (p == NULL)
		raise_default(number);
	for (size_t i = 0; p != NULL && i < sizeof(names) / sizeof(names[0]); i++) {
		struct fragment *f;

		if (names[i].number != number)
			continue;
		f = fragment_new(3);
		f->words[0] = HEADER(2, SUB_TUPLE);
		f->words[1] = am_notify;
		f->words[2] = names[i].name;
		message_deliver(p, TERM_NONE, term_from_boxed(f->words), f);
	}
	if (p != NULL)
		process_unref(p);
}

static struct {
	int ms;
	void (*run)(void);
} besides = { -1, NULL };

void os_signal_every(int ms, void (*run)(void))
{
	besides.ms = ms;
	besides.run = run;
}

void os_signal_run(void)
{
	struct pollfd ready = { .fd = pipe_ends[0], .events = POLLIN };

	wait_thread_begins("main");
	for (;;) {
		unsigned char byte;
		bool ok;

		batch_hand_over(); /* what the start of the VM told, and signals that were sent on */
		wait_begin(WAIT_signals);
		/* ThreadSanitizer runs no handler while a thread waits in read. */
		ok = poll(&ready, 1, besides.ms) == 1 && read(pipe_ends[0], &byte, 1) == 1;
		wait_end();
		if (besides.run != NULL)
			besides.run();
		if (!ok)
			continue;
		if (byte == SIGINT)
			run_break();
		else if (byte == SIGUSR2 && atomic_load(&tells_waits))
			tell_waits();
		else
			forward(byte);
	}
}
