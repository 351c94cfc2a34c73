/* SPDX-License-Identifier: Apache-2.0 */
/* Invariant: the handler calls nothing but what signal-safety(7) lists. */
#include "signals.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stddef.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "clock.h"

enum { SAME_NS = 100000000 };

static int wake_fd = -1; /* the descriptor; it stays open, for the handler writes to it */
static volatile uint64_t first_ns;
static volatile bool at_once;

static void on_signal(int number)
{
    static const char twice[] = "erlsnoop: a second signal: it ends at once, without the last result\n";
    uint64_t now_ns = clock_ns(CLOCK_MONOTONIC), one = 1;
    int before = errno;
    ssize_t ignored;

    if (at_once) {
        signal(number, SIG_DFL);
        raise(number); /* comes when the handler returns */
        return;
    }
    if (first_ns && now_ns - first_ns >= SAME_NS) {
        ignored = write(STDERR_FILENO, twice, sizeof twice - 1);
        _exit(1);
    }
    if (!first_ns) {
        first_ns = now_ns;
        ignored = write(wake_fd, &one, sizeof one);
    }
    (void)ignored;
    errno = before;
}

int signals_open(void)
{
    struct sigaction catch = {.sa_handler = on_signal, .sa_flags = SA_RESTART}, before;

    if (wake_fd >= 0)
        return wake_fd;
    wake_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (wake_fd < 0)
        return -errno;
    sigfillset(&catch.sa_mask);
    sigaction(SIGINT, &catch, NULL); /* also where a shell's background ignores it */
    sigaction(SIGTERM, &catch, NULL);
    if (!sigaction(SIGHUP, NULL, &before) && before.sa_handler != SIG_IGN) /* nohup(1) */
        sigaction(SIGHUP, &catch, NULL);
    return wake_fd;
}

void signals_end_at_once(bool on)
{
    at_once = on;
}

bool signals_wait(uint64_t ns)
{
    struct pollfd wake = {.fd = wake_fd, .events = POLLIN};
    uint64_t now_ns = clock_ns(CLOCK_MONOTONIC), end_ns = now_ns + ns;

    for (; !first_ns && now_ns < end_ns; now_ns = clock_ns(CLOCK_MONOTONIC))
        poll(&wake, 1, (int)((end_ns - now_ns) / 1000000) + 1);
    return first_ns != 0;
}

uint64_t signals_first_ns(void)
{
    return first_ns;
}
