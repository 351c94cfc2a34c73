/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Invariant: whoever is in `all` is traced by us; the end of the command itself is left for others to see (child.h).
 * Source: ptrace(2), PTRACE_SEIZE.
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
    STOP_TRIES = 5000,
    STOP_STEP_US = 200,
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

static void go_on(struct hold *h, pid_t tid)
{
    struct hold_thread *t = find(h, tid);

    if (!t || !t->stopped)
        return;
    t->stopped = false;
    if (ptrace(PTRACE_CONT, tid, NULL, (void *)(long)t->signal))
        forget(h, tid);
}

/* A thread has stopped; `info`: why. Returns the event, 0: a signal. */
static int see_stop(struct hold *h, pid_t tid, const siginfo_t *info)
{
    int event = info->si_status >> 8, signal = info->si_status & 0xff;
    struct hold_thread *t = find(h, tid);
    unsigned long born;

    t->stopped = true;
    t->signal = event ? 0 : signal;
    if ((event == PTRACE_EVENT_FORK || event == PTRACE_EVENT_VFORK) && !ptrace(PTRACE_GETEVENTMSG, tid, NULL, &born))
        add(h, (pid_t)born);
    /* As others stopped it, which it stays. One that listens cannot be let go of; when it is, the kernel keeps it stopped. */
    if (event == PTRACE_EVENT_STOP && signal != SIGTRAP && !h->ends) {
        t = find(h, tid);
        t->stopped = false;
        ptrace(PTRACE_LISTEN, tid, NULL, NULL);
    }
    return event;
}

/*
 * 1: it has stopped, *info; 0: it runs; -1: it is gone. Who traces a process is told of its end before its parent is;
 * that of the command itself is not asked for.
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

void hold_look(struct hold *h, void (*begun)(void *ctx, pid_t pid), void *ctx)
{
    struct signalfd_siginfo bytes;
    siginfo_t info;

    while (h->child && read(h->fd, &bytes, sizeof bytes) > 0)
        ;
    for (size_t i = 0; i < h->n;) {
        pid_t tid = h->all[i].tid;
        int found = h->all[i].stopped ? 0 : ask(h, tid, &info);

        if (found > 0 && see_stop(h, tid, &info) == PTRACE_EVENT_EXEC)
            begun(ctx, tid);
        if (found < 0)
            forget(h, tid);
        if (found > 0)
            go_on(h, tid);
        i = found ? 0 : i + 1; /* there may be others now */
    }
}

/* Returns when it has stopped, or is gone. */
static void stop_thread(struct hold *h, pid_t tid)
{
    struct hold_thread *t = find(h, tid);
    siginfo_t info;
    int found = 0;

    if (!t || t->stopped)
        return;
    ptrace(PTRACE_INTERRUPT, tid, NULL, NULL);
    for (int i = 0; i < STOP_TRIES && !(found = ask(h, tid, &info)); i++)
        usleep(STOP_STEP_US);
    if (found > 0)
        see_stop(h, tid, &info);
    else if (found < 0)
        forget(h, tid);
}

/* Returns whether there were threads that did not stand yet. */
static bool stop_others(struct hold *h, pid_t pid)
{
    char path[64];
    bool others = false;
    DIR *dir;

    snprintf(path, sizeof path, "/proc/%d/task", pid);
    dir = opendir(path);
    for (struct dirent *entry; dir && (entry = readdir(dir));) {
        pid_t tid = (pid_t)atoi(entry->d_name);
        struct hold_thread *t = find(h, tid);

        if (tid <= 0 || (t && t->stopped))
            continue;
        if (!t && !ptrace(PTRACE_SEIZE, tid, NULL, NULL))
            add(h, tid);
        stop_thread(h, tid);
        t = find(h, tid);
        others |= t && t->stopped;
    }
    if (dir)
        closedir(dir);
    return others;
}

void hold_stop(struct hold *h, pid_t pid)
{
    while (h->child && stop_others(h, pid))
        ;
}

void hold_close(struct hold *h)
{
    if (!h->child)
        return;
    h->ends = true;
    for (size_t i = 0; i < h->n;) { /* one that is gone leaves its place to the last; one that is born comes behind */
        pid_t tid = h->all[i].tid;

        stop_thread(h, tid);
        i += i < h->n && h->all[i].tid == tid;
    }
    for (size_t i = 0; i < h->n; i++)
        ptrace(PTRACE_DETACH, h->all[i].tid, NULL, (void *)(long)h->all[i].signal);
    free(h->all);
    close(h->fd);
    *h = (struct hold){.fd = -1};
}
