/* SPDX-License-Identifier: Apache-2.0 */
/* A command that we start, held back until the probes are in place. */
#ifndef TOOLS_CHILD_H
#define TOOLS_CHILD_H

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>

struct child {
    int pid;
    int go;             /* writing end: a byte lets the command run */
    int failed;         /* reading end: errno of an exec that failed, or end of file */
    bool runs;          /* exec succeeded */
    uint64_t went_ns;   /* when it was let run (CLOCK_MONOTONIC) */
    char path[PATH_MAX]; /* the file that exec will run */
};

/* Forks, and waits before exec. Fails: said. */
int child_start(char **argv, struct child *out);
/* Lets it run. Fails (said): when exec failed. */
int child_release(struct child *child);
/* Whether it has ended by itself, with a status, and not by a signal. */
bool child_left(const struct child *child);
/* Ends it when it still runs (SIGTERM, SIGKILL after 2 s); says a status that is not 0. */
void child_finish(struct child *child);

#endif
