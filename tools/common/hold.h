/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Holds a command that we started, and what it starts in turn, each time it becomes another program, and holds all
 * threads of one of these while probes are put there: so none of its events is missed, however busy the machine is.
 * By ptrace(2): if we end, whatever we hold goes on.
 * What a thread starts that is not the first of its process is not followed. A set-user-ID program has the rights of
 * its file while it is followed only where we have CAP_SYS_PTRACE.
 */
#ifndef TOOLS_HOLD_H
#define TOOLS_HOLD_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

struct hold_thread {
    pid_t tid;
    bool stopped;
    bool asked;   /* to stop, which it has not yet */
    bool listens; /* others stopped it: it does not run, and tells us when it is to go on */
    int signal;   /* that it gets when it goes on; 0: none */
};

struct hold {
    pid_t child; /* 0: nothing is held */
    int fd;      /* can be read when there may be something to see */
    bool ends;   /* all are let go of */
    struct hold_thread *all;
    size_t n;
};

/* The command, which waits for us. Fails: -errno, without a message; hold_fd is -1 then, and nothing is ever held. */
int hold_open(struct hold *h, pid_t child);
int hold_fd(const struct hold *h);
/* Calls `begun` with each process that has become another program, which waits until that returns. */
void hold_look(struct hold *h, void (*begun)(void *ctx, pid_t pid), void *ctx);
/*
 * Stops all threads of a process that is followed, if anything is, until hold_let_go: none runs any of its code from
 * then on, those neither that wait in the kernel and cannot be stopped there.
 */
void hold_stop(struct hold *h, pid_t pid);
/*
 * All go on, and nothing more is followed. Those that wait in the kernel are let go of by hold_look when they come
 * back; hold_fd is -1 once there are none.
 */
void hold_let_go(struct hold *h);
/* Lets go of all and frees; who still waits in the kernel a second later is let go of when we end. */
void hold_close(struct hold *h);

#endif
