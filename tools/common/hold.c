/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Invariant: whoever is in `all` is traced by us; the end of the command itself is left for others to see (child.h).
 * Source: ptrace(2), PTRACE_SEIZE. A thread that was told to stop runs nothing of its own before it does: one that
 * waits in the kernel and cannot be interrupted (vfork) stops when it comes back, however late.
 */
#include "hold.h"

#include <dirent.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ptrace.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

/* New threads are not followed: they are sought when all of a process are to stop. */
enum {
    FOLLOWED = PTRACE_O_TRACEEXEC | PTRACE_O_TRACEFORK | PTRACE_O_TRACEVFORK,
    STEP_US = 200,
    STOP_TRIES = 5000, /* a second */
    LET_GO_TRIES = 500,
    CLOSE_TRIES = 5000,
    MORE_A_LOOK = 64,
};

static struct hold_thread *find(const struct hold *h, pid_t tid)
{
    for (size_t i = 0; i < h->n; i++)
        if (h->all[i].tid == tid)
            return &h->all[i];
    return NULL;
}

static void add(struct hold *h, pid_t tid)
{
    struct hold_thread *all = find(h, tid) ? NULL : realloc(h->all, (h->n + 1) * sizeof *all);

    if (!all)
        return;
    h->all = all;
    all[h->n++] = (struct hold_thread){.tid = tid};
}

static void forget(struct hold *h, pid_t tid)
{
    struct hold_thread *t = find(h, tid);

    if (t)
        *t = h->all[--h->n];
}

/* One that has stopped. */
static void go_on(struct hold *h, pid_t tid)
{
    struct hold_thread *t = find(h, tid);

    if (!t || !t->stopped)
        return;
    t->stopped = false;
    if (ptrace(h->ends ? PTRACE_DETACH : PTRACE_CONT, tid, NULL, (void *)(long)t->signal) || h->ends)
        forget(h, tid);
}

/* A thread has stopped; `info`: why. Returns the event, 0: a signal. */
static int see_stop(struct hold *h, pid_t tid, const siginfo_t *info)
{
    int event = info->si_status >> 8, signal = info->si_status & 0xff;
    struct hold_thread *t = find(h, tid);
    unsigned long born;

    t->stopped = true;
    t->asked = t->listens = false;
    t->signal = event ? 0 : signal;
    if ((event == PTRACE_EVENT_FORK || event == PTRACE_EVENT_VFORK) && !ptrace(PTRACE_GETEVENTMSG, tid, NULL, &born))
        add(h, (pid_t)born);
    /*
     * As others stopped it, which it stays. One that listens cannot be let go of; when it is, the kernel keeps it
     * stopped.
     */
    if (event == PTRACE_EVENT_STOP && signal != SIGTRAP && !h->ends) {
        t = find(h, tid);
        t->stopped = false;
        t->listens = !ptrace(PTRACE_LISTEN, tid, NULL, NULL);
    }
    return event;
}

/*
 * 1: it has stopped, *info; 0: it runs; -1: it is gone. Who traces a process is told of its end before its parent is,
 * and has to ask for it, else the parent waits for ever; that of the command itself is left for others to see.
 */
static int ask(const struct hold *h, pid_t tid, siginfo_t *info)
{
    int ends = tid == h->child ? 0 : WEXITED;

    *info = (siginfo_t){0};
    if (waitid(P_PID, (id_t)tid, info, WSTOPPED | ends | WNOHANG | __WALL))
        return -1;
    if (!info->si_pid)
        return 0;
    return info->si_code == CLD_TRAPPED || info->si_code == CLD_STOPPED ? 1 : -1;
}

/* One that was born to a process that was ended before it could tell so. Returns whether there is one more. */
static bool add_orphan(struct hold *h)
{
    siginfo_t info = {0};
    size_t n = h->n;

    if (!waitid(P_ALL, 0, &info, WSTOPPED | WNOHANG | WNOWAIT | __WALL) && info.si_pid)
        add(h, info.si_pid);
    return h->n > n;
}

int hold_open(struct hold *h, pid_t child)
{
    sigset_t set;

    *h = (struct hold){.fd = -1};
    if (ptrace(PTRACE_SEIZE, child, NULL, (void *)(long)FOLLOWED))
        return -errno;
    sigemptyset(&set);
    sigaddset(&set, SIGCHLD);
    sigprocmask(SIG_BLOCK, &set, NULL);
    h->fd = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
    h->child = child;
    add(h, child);
    return 0;
}

int hold_fd(const struct hold *h)
{
    return h->child ? h->fd : -1;
}

/* Sees to the thread at `i`, whose place is another's when it is gone. Returns whether it still has it. */
static bool look_at(struct hold *h, size_t i, void (*begun)(void *ctx, pid_t pid), void *ctx)
{
    pid_t tid = h->all[i].tid;
    siginfo_t info;
    int found = h->all[i].stopped ? 0 : ask(h, tid, &info);

    if (found > 0 && see_stop(h, tid, &info) == PTRACE_EVENT_EXEC && !h->ends)
        begun(ctx, tid);
    if (found < 0)
        forget(h, tid);
    else if (found > 0 || h->ends)
        go_on(h, tid);
    return i < h->n && h->all[i].tid == tid;
}

static void free_all(struct hold *h)
{
    free(h->all);
    close(h->fd);
    *h = (struct hold){.fd = -1};
}

/* Each is looked at once: what comes later wakes us again. */
void hold_look(struct hold *h, void (*begun)(void *ctx, pid_t pid), void *ctx)
{
    struct signalfd_siginfo bytes;
    size_t left = 2 * h->n + MORE_A_LOOK; /* they may be born faster than we look */

    while (h->child && read(h->fd, &bytes, sizeof bytes) > 0)
        ;
    for (size_t i = 0; h->child && left && (i < h->n || add_orphan(h)); left--)
        i += look_at(h, i, begun, ctx);
    if (!left)
        raise(SIGCHLD);
    if (h->child && h->ends && !h->n)
        free_all(h);
}

/*
 * Returns whether the thread is told to stop now. One that listens does not run: it is told when it is to be let go of.
 */
static bool interrupt(const struct hold *h, struct hold_thread *t)
{
    if (t->stopped || t->asked || (t->listens && !h->ends))
        return false;
    t->asked = !ptrace(PTRACE_INTERRUPT, t->tid, NULL, NULL);
    return t->asked;
}

/* Tells all threads of the process to stop that were not told yet. Returns whether there are any. */
static bool interrupt_threads(struct hold *h, pid_t pid)
{
    bool any = false;
    char path[64];
    DIR *dir;

    snprintf(path, sizeof path, "/proc/%d/task", pid);
    dir = opendir(path);
    for (struct dirent *entry; dir && (entry = readdir(dir));) {
        pid_t tid = (pid_t)atoi(entry->d_name);
        struct hold_thread *t = find(h, tid);

        if (tid > 0 && !t && !ptrace(PTRACE_SEIZE, tid, NULL, NULL))
            add(h, tid);
        t = find(h, tid);
        any |= t && interrupt(h, t);
    }
    if (dir)
        closedir(dir);
    return any;
}

/* Returns whether all that were told to stop have, or are gone. */
static bool all_stand(struct hold *h)
{
    bool all = true;
    siginfo_t info;

    for (size_t i = 0; i < h->n;) {
        pid_t tid = h->all[i].tid;
        bool runs = h->all[i].asked && !h->all[i].stopped;
        int found = runs ? ask(h, tid, &info) : 0;

        if (found > 0)
            see_stop(h, tid, &info);
        else if (found < 0)
            forget(h, tid);
        all &= !runs || found;
        i += found >= 0;
    }
    return all;
}

void hold_stop(struct hold *h, pid_t pid)
{
    for (int tries = STOP_TRIES; h->child && tries > 0 && interrupt_threads(h, pid); tries--)
        while (!all_stand(h) && tries-- > 0)
            usleep(STEP_US);
}

static void let_go(struct hold *h, int tries)
{
    if (!h->child)
        return;
    h->ends = true;
    for (; h->child && tries > 0; tries--) {
        for (size_t i = 0; i < h->n; i++)
            interrupt(h, &h->all[i]);
        hold_look(h, NULL, NULL);
        if (h->child)
            usleep(STEP_US);
    }
}

void hold_let_go(struct hold *h)
{
    let_go(h, LET_GO_TRIES);
}

void hold_close(struct hold *h)
{
    let_go(h, CLOSE_TRIES);
    if (h->child)
        free_all(h);
}
