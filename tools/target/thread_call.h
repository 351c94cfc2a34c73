/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Threads of a process as the kernel knows them: their names, and what a thread that sleeps in a system call waits for.
 * What is read is the kernel's, but for names and paths, which are the process's: untrusted.
 */
#ifndef TOOLS_THREAD_CALL_H
#define TOOLS_THREAD_CALL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "memory_file.h"

struct thread_name {
    int id;
    char name[16];
};

/* Owns: the caller frees *out. Fails: -ESRCH the process has ended; -ENOMEM. No message. */
int thread_names(int pid, struct thread_name **out, size_t *n);
/* Of a normal scheduler: 1_scheduler and so on up to OTP 25, erts_sched_1 later, sched_1 on erlvm. */
bool thread_name_is_scheduler(const struct thread_name *name);

/* The thread of this number in the process's own PID namespace, by that in ours; 0: there is none, or no memory. */
int thread_find(int pid, int number);

struct thread_call {
    const char *call;   /* its name */
    char about[256];    /* the path, or what the descriptor is: of a socket that is connected its peer; or "" */
    uint64_t asleep_ns; /* since it ran last; 0: the kernel does not tell */
    uint64_t switches;  /* how often it has fallen asleep so far */
};

/* Whether the kernel says at all in which calls this process's threads sleep: 0 or -errno. */
int thread_calls_known(int pid);
/* False: it sleeps in no system call of system_calls.def, or has ended, or we may not look. */
bool thread_call_read(int pid, int thread, const struct memory_file *memory, struct thread_call *out);

struct thread_time {
    char name[16];
    uint64_t cpu_ns, queued_ns; /* it ran; it waited for a processor */
    uint64_t sleeps;            /* how often it gave one up */
    char state;                 /* 'R', 'S', 'D', ..., as of proc(5) */
};
/* False: it has ended, or cannot be read. */
bool thread_time_read(int pid, int thread, struct thread_time *out);

#endif
