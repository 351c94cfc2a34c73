/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Plans for VMs that are found while others are watched, and their names. To read an emulator's symbols and code takes
 * a quarter of a second, and its atoms about 10 ms; threads do that, so that whoever reads events goes on.
 */
#ifndef TOOLS_PLANNER_H
#define TOOLS_PLANNER_H

#include <pthread.h>
#include <stdatomic.h>

#include "attach.h"
#include "otp/names.h"
#include "target/target.h"

enum { PLANNER_JOBS = 4 };

/* Owns: its target, its plan and names, which planner_free frees. */
struct planner_job {
    struct target target;
    struct target_life life; /* pid 0: the job is free */
    bool hooks_only, wants_names;
    struct plan *plan;      /* NULL: it failed */
    struct names_vm *names; /* NULL: they are not wanted, or were not read; who takes them leaves NULL */
    int err; /* of plan_new, said */
    atomic_bool done; /* the thread has set what is above, and touches it no more */
    pthread_t thread;
    /* whoever attaches: links that are being made, NULL: none are; and for what */
    struct links_opening *opening;
    struct attach_sites sites;
};

/* Begins as zeros. */
struct planner {
    struct planner_job jobs[PLANNER_JOBS];
};

/* Takes the target over, and leaves none behind. False: there is no room, or no thread; the target stays. */
bool planner_start(struct planner *p, struct target *target, const struct target_life *life, bool hooks_only,
                   bool wants_names);
/* Whether the process is being planned, or its plan was not fetched yet. */
bool planner_has(const struct planner *p, int pid);
bool planner_is_idle(const struct planner *p);
/* One that is planned, and whose links are made if they were begun; planner_free gives its room back. NULL: none is. */
struct planner_job *planner_next(struct planner *p);
void planner_free(struct planner_job *job);
/* Waits for those that are being planned. */
void planner_close(struct planner *p);

#endif
