/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Erlang VMs on this machine: how one is found and recognised.
 */
#ifndef TOOLS_TARGET_H
#define TOOLS_TARGET_H

#include <limits.h>
#include <sys/stat.h>

#include "provider.h"

struct target {
    int pid;       /* 0: not running yet */
    /* of the executable, through our open file: right in any container, and the file that was looked at */
    char path[PATH_MAX];
    char name[256]; /* of the node, or of the module it was started with, or of the program. Untrusted */
    struct elf_file *elf;
    const struct provider *provider;
};

/* Owns: target_close frees. Fails: -ESRCH no such process, -EACCES, -ENOEXEC no Erlang VM. No message. */
int target_open_pid(int pid, struct target *out);
/* The same, with the message. */
int target_require(int pid, struct target *out);
/* The same for an executable that does not run yet, without a message. */
int target_open_file(const char *path, struct target *out);
void target_close(struct target *target);

struct target_visitor {
    /* An executable is about to be opened: true leaves it out. May be NULL. */
    bool (*skip)(void *ctx, int pid, const struct stat *st);
    /* With `skip`: it was opened, and is no Erlang VM. May be NULL. */
    void (*other)(void *ctx, const struct stat *st);
    /* An Erlang VM; it is closed after the call. Nonzero ends the visit. */
    int (*found)(void *ctx, struct target *target);
    void *ctx;
};

/* Visits the processes that run. Returns what `found` returned last. Fails (said): /proc cannot be read. */
int target_each(const struct target_visitor *visitor);
/*
 * The same without a failure, for who looks again later. *unread: 0, or -errno: not all of /proc could be read, as
 * where no file more may be open for a moment.
 */
int target_try_each(const struct target_visitor *visitor, int *unread);
/* Whether this (-errno) says nothing of a process, but that there was no descriptor or memory to look at it. */
bool target_is_passing(int err);
/* Whether /proc numbers processes as system calls here do: not so in a new pid namespace under the old /proc. */
bool target_proc_is_ours(void);
/* Whether `pid` descends from `ancestor`, or is it. */
bool target_descends(int pid, int ancestor);

/* What tells a program that a process runs from another of the same pid. Source: proc(5), stat. */
struct target_life {
    int pid;
    unsigned long long started; /* clock ticks since boot */
    unsigned long long code;    /* where its code begins: another after an exec */
};

/* Fails: -ESRCH, for one too that has ended and is still to be waited for; another -errno: nothing is known of it. */
int target_read_life(int pid, struct target_life *out);
/* Whether it has not ended, as far as is known. */
bool target_lives(int pid);
/* Whether it has neither ended nor become another program, as far as is known. */
bool target_goes_on(const struct target_life *life);
bool target_same_life(const struct target_life *a, const struct target_life *b);
/*
 * Why no thread of the process runs until somebody lets it, in words that follow its name: "is stopped; ..."; NULL: it
 * may run.
 */
const char *target_halt(int pid);
/* Seconds since the process started; 0 when it is gone. */
double target_age_s(int pid);
/* What the process has in memory, as the kernel says; 0 when it is gone. */
uint64_t target_resident_bytes(int pid);

#endif
