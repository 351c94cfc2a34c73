/* SPDX-License-Identifier: Apache-2.0 */
#include "apart.h"

#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

enum { STACK_BYTES = 32 << 10 };

struct job {
    int (*call)(void *ctx);
    void *ctx;
    int result;
};

/* A session of its own: who kills this one's group does not mean it. */
static int run(void *ctx)
{
    struct job *job = ctx;

    setsid();
    job->result = job->call(job->ctx);
    return 0;
}

/* Returns -1 when there is no room for a process; sanitizers do not know what such a one does. */
static pid_t begin(struct job *job, char *stack_end)
{
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
    (void)job;
    (void)stack_end;
    (void)run;
    return -1;
#else
    return clone(run, stack_end, CLONE_VM | CLONE_VFORK | CLONE_FILES, job);
#endif
}

int apart_call(int (*call)(void *ctx), void *ctx)
{
    _Alignas(16) char stack[STACK_BYTES];
    struct job job = {call, ctx, 0};
    sigset_t all, before;
    pid_t pid;

    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, &before); /* it inherits that */
    pid = begin(&job, stack + sizeof stack);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (pid < 0)
        return call(ctx);
    while (waitpid(pid, NULL, __WCLONE) < 0 && errno == EINTR)
        ;
    return job.result;
}
