/* SPDX-License-Identifier: Apache-2.0 */
/* The kernel gives orphans to the first thread of pid 1, the main thread, and what a thread starts is that thread's own
 * child for as long as it lives. So the main thread, which starts nothing, waits for its own children alone
 * (__WNOTHREAD, for waitid since Linux 4.7): programs of ports, and what natives and drivers start on threads of the
 * VM, which live as long as it does, are left to those who started them. */
#include "io/orphans.h"

#include <sys/wait.h>
#include <unistd.h>

#include "proc/os_signal.h"

enum { EVERY_MS = 500 };

static void reap(void)
{
	siginfo_t info = { 0 };

	while (waitid(P_ALL, 0, &info, WEXITED | WNOHANG | __WNOTHREAD) == 0 && info.si_pid != 0)
		info.si_pid = 0;
}

void orphans_init(void)
{
	if (getpid() == 1)
		os_signal_every(EVERY_MS, reap);
}
