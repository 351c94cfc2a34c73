/* SPDX-License-Identifier: Apache-2.0 */
/* Invariant (`taken`): `own` has the programs of ports from their start on, until they were waited for; only others are
 * waited for here. */
#include "io/orphans.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "base/lock.h"
#include "base/log.h"

/* Until a port has waited for its program; until there may be a child. */
enum { OWN_PAUSE_MS = 10, NONE_PAUSE_MS = 500 };

static struct {
	bool is_on;
	atomic_flag taken; /* for as long as a program takes to start, at most */
	pid_t *own;
	size_t count, room;
} orphans = { .taken = ATOMIC_FLAG_INIT };

static void take(void)
{
	while (atomic_flag_test_and_set(&orphans.taken))
		thread_yield();
}

static void let_go(void)
{
	atomic_flag_clear(&orphans.taken);
}

static bool is_own(pid_t pid)
{
	for (size_t i = 0; i < orphans.count; i++)
		if (orphans.own[i] == pid)
			return true;
	return false;
}

/* One that has ended, and is a zombie still. */
static void reap(pid_t pid)
{
	bool own;

	take();
	own = is_own(pid);
	if (!own)
		waitpid(pid, NULL, WNOHANG);
	let_go();
	if (own)
		clock_sleep_ms(OWN_PAUSE_MS);
}

static void *run(void *arg)
{
	(void)arg;
	for (;;) {
		siginfo_t info = { 0 };

		if (waitid(P_ALL, 0, &info, WEXITED | WNOWAIT) == 0)
			reap(info.si_pid);
		else if (errno != EINTR)
			clock_sleep_ms(NONE_PAUSE_MS);
	}
	return NULL;
}

void orphans_init(void)
{
	int error;

	if (getpid() != 1)
		return;
	orphans.is_on = true;
	error = thread_start("orphans", run, NULL);
	if (error != 0)
		log_refused("start the thread that waits for orphans", -error);
}

void orphans_begin_child(void)
{
	if (orphans.is_on)
		take();
}

void orphans_end_child(pid_t pid)
{
	if (!orphans.is_on)
		return;
	if (pid > 0) {
		if (orphans.count == orphans.room) {
			orphans.room = orphans.room * 2 + 16;
			orphans.own = mem_realloc(orphans.own, orphans.room * sizeof(*orphans.own));
		}
		orphans.own[orphans.count++] = pid;
	}
	let_go();
}

void orphans_forget_child(pid_t pid)
{
	if (!orphans.is_on)
		return;
	take();
	for (size_t i = 0; i < orphans.count; i++)
		if (orphans.own[i] == pid) {
			orphans.own[i] = orphans.own[--orphans.count];
			break;
		}
	let_go();
}
