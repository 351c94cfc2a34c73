/* SPDX-License-Identifier: Apache-2.0 */
/* Invariant: a job is its thread's until it is done, and nobody else's before. */
#include "planner.h"

static void *plan(void *ctx)
{
    struct planner_job *job = ctx;
    const struct otp_vm *vm;

    job->err = plan_new(&job->target, job->hooks_only, &job->plan);
    vm = job->err ? NULL : job->plan->vm;
    if (vm && job->wants_names && names_read(&vm->layout, vm->ours, &job->names))
        job->names = NULL;
    job->done = true;
    return NULL;
}

static struct planner_job *find_free(struct planner *p)
{
    for (size_t i = 0; i < PLANNER_JOBS; i++)
        if (!p->jobs[i].life.pid)
            return &p->jobs[i];
    return NULL;
}

bool planner_start(struct planner *p, struct target *target, const struct target_life *life, bool hooks_only,
                   bool wants_names)
{
    struct planner_job *job = find_free(p);

    if (!job)
        return false;
    *job = (struct planner_job){
        .target = *target, .life = *life, .hooks_only = hooks_only, .wants_names = wants_names};
    if (pthread_create(&job->thread, NULL, plan, job)) {
        job->life.pid = 0;
        return false;
    }
    target->elf = NULL;
    return true;
}

bool planner_has(const struct planner *p, int pid)
{
    for (size_t i = 0; i < PLANNER_JOBS; i++)
        if (p->jobs[i].life.pid == pid)
            return true;
    return false;
}

bool planner_is_idle(const struct planner *p)
{
    for (size_t i = 0; i < PLANNER_JOBS; i++)
        if (p->jobs[i].life.pid)
            return false;
    return true;
}

struct planner_job *planner_next(struct planner *p)
{
    for (size_t i = 0; i < PLANNER_JOBS; i++)
        if (p->jobs[i].life.pid && p->jobs[i].done && (!p->jobs[i].opening || links_is_open(p->jobs[i].opening)))
            return &p->jobs[i];
    return NULL;
}

void planner_free(struct planner_job *job)
{
    pthread_join(job->thread, NULL);
    names_leave(job->names);
    plan_free(job->plan);
    target_close(&job->target);
    job->life.pid = 0;
}

void planner_close(struct planner *p)
{
    for (size_t i = 0; i < PLANNER_JOBS; i++)
        if (p->jobs[i].life.pid)
            planner_free(&p->jobs[i]);
}
