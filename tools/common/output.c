/* SPDX-License-Identifier: Apache-2.0 */
/* Invariant: while nobody reads, signals still end us; after a failure nothing more is written. */
#include "output.h"

#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <stdbool.h>
#include <string.h>
#include <unistd.h>

#include "signals.h"

enum { PATIENCE_MS = 1000 };

/* Whole lines of what a pipe that can be written to takes without waiting. */
static size_t piece(const char *bytes, size_t n)
{
    const char *end = n > PIPE_BUF ? memrchr(bytes, '\n', PIPE_BUF) : NULL;

    return n <= PIPE_BUF ? n : end ? (size_t)(end + 1 - bytes) : PIPE_BUF;
}

/* Returns when the reader is ready, 0; an errno when it need not be waited for. */
static int wait_reader(const struct output *o)
{
    for (;;) {
        struct pollfd fds[] = {{.fd = o->out, .events = POLLOUT}, {.fd = o->signals, .events = POLLIN}};
        bool hurried = signals_first_ns() != 0;

        if (poll(fds, hurried ? 1 : 2, hurried ? PATIENCE_MS : -1) < 0) {
            if (errno != EINTR)
                return errno;
            continue;
        }
        if (fds[0].revents)
            return 0;
        if (hurried)
            return ETIMEDOUT;
    }
}

/* As fopencookie asks: 0 on failure. */
static ssize_t write_out(void *cookie, const char *bytes, size_t n)
{
    struct output *o = cookie;
    size_t done = 0;

    while (done < n && !o->failed) {
        ssize_t got;

        o->failed = wait_reader(o);
        got = o->failed ? 0 : write(o->out, bytes + done, piece(bytes + done, n - done));
        if (got < 0)
            o->failed = errno;
        else
            done += (size_t)got;
    }
    errno = o->failed;
    return o->failed ? 0 : (ssize_t)done;
}

int output_open(struct output *o, int out, int signals)
{
    *o = (struct output){.out = out, .signals = signals};
    o->file = fopencookie(o, "w", (cookie_io_functions_t){.write = write_out});
    return o->file ? 0 : -ENOMEM;
}

void output_close(struct output *o)
{
    if (o->file)
        fclose(o->file);
    o->file = NULL;
}
