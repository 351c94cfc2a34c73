/* SPDX-License-Identifier: Apache-2.0 */
/* Invariant: once child_finish returned, the process is gone and reaped. */
#include "child.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/clock.h"
#include "common/fail.h"

/* As execvp searches. */
static int find_command(const char *name, char *out)
{
    const char *path = strchr(name, '/') ? NULL : getenv("PATH");

    if (!path) {
        snprintf(out, PATH_MAX, "%s", name);
        return access(out, X_OK) ? -errno : 0;
    }
    while (*path) {
        size_t len = strcspn(path, ":");

        snprintf(out, PATH_MAX, "%.*s/%s", (int)(len ? len : 1), len ? path : ".", name);
        if (!access(out, X_OK))
            return 0;
        path += len + (path[len] == ':');
    }
    return -ENOENT;
}

static void run_child(char **argv, int go, int failed)
{
    char byte;

    prctl(PR_SET_PDEATHSIG, SIGTERM); /* a watcher that is killed ends what it began, as one that ends does */
    signal(SIGPIPE, SIG_DFL);
    signal(SIGXFSZ, SIG_DFL);
    if (read(go, &byte, 1) != 1)
        _exit(126);
    execvp(argv[0], argv);

    int err = errno;

    if (write(failed, &err, sizeof err) != sizeof err)
        _exit(126);
    _exit(127);
}

int child_start(char **argv, struct child *out)
{
    int go[2], failed[2];
    int err = find_command(argv[0], out->path);

    if (err)
        return fail(err, "cannot run '%s': %s", argv[0], strerror(-err));
    if (pipe2(go, O_CLOEXEC) || pipe2(failed, O_CLOEXEC))
        return fail(-errno, "no pipe: %s", strerror(errno));
    fflush(NULL);
    out->pid = fork();
    if (out->pid < 0)
        return fail(-errno, "cannot fork: %s", strerror(errno));
    if (!out->pid) {
        close(go[1]);
        close(failed[0]);
        run_child(argv, go[0], failed[1]);
    }
    close(go[0]);
    close(failed[1]);
    out->go = go[1];
    out->failed = failed[0];
    return 0;
}

int child_release(struct child *child)
{
    int err = 0;
    ssize_t got;

    child->went_ns = clock_ns(CLOCK_MONOTONIC);
    if (write(child->go, "g", 1) != 1)
        return fail(-ECHILD, "'%s' was ended before it began", child->path);
    got = read(child->failed, &err, sizeof err);
    if (got == sizeof err)
        return fail(-err, "cannot run '%s': %s", child->path, strerror(err));
    child->runs = true;
    return 0;
}

bool child_left(const struct child *child)
{
    siginfo_t info = {.si_pid = 0};

    return child->pid && !waitid(P_PID, (id_t)child->pid, &info, WEXITED | WNOHANG | WNOWAIT) &&
           info.si_pid == child->pid && info.si_code == CLD_EXITED;
}

static bool reap(struct child *child, int *status)
{
    return waitpid(child->pid, status, WNOHANG) == child->pid;
}

void child_finish(struct child *child)
{
    int status = 0;
    bool gone = reap(child, &status), ended_itself = gone && child->runs;

    close(child->go); /* one that was never released ends now */
    close(child->failed);
    if (!gone)
        kill(child->pid, SIGTERM);
    for (int i = 0; i < 200 && !gone; i++) {
        usleep(10000);
        gone = reap(child, &status);
    }
    if (!gone) {
        kill(child->pid, SIGKILL);
        waitpid(child->pid, &status, 0);
    }
    if (ended_itself && WIFEXITED(status) && WEXITSTATUS(status))
        note("'%s' ended with status %d", child->path, WEXITSTATUS(status));
    else if (ended_itself && WIFSIGNALED(status))
        note("'%s' was ended by signal %d", child->path, WTERMSIG(status));
}
