/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The budget of a session, for each VM: what watching costs is measured, told with each result, and given to the
 * governor to judge.
 */
#ifndef TOOLS_BUDGET_H
#define TOOLS_BUDGET_H

#include "cost.h"
#include "governor.h"
#include "sink/sink.h"
#include "watch.h"

struct budget {
    double share; /* of a VM's processor time */
    bool kept;    /* there is a budget, and what watching costs is known */
    const struct watch *watch;
    struct cost cost;
    struct governor governor;
    struct governor_vm *vms; /* those that are watched */
    size_t nvms;
    bool full; /* there were more than there is room for, which was said */
    struct cost_sum sum;    /* as of the last look */
    uint64_t cpu_ns;        /* what the VMs, those too that ended, have used since they are watched */
    struct cost_sum paid;   /* by the last result */
    uint64_t paid_cpu_ns;   /* what the VMs had used by then */
    uint64_t away_ns;       /* since the last result, without probes */
    uint64_t away_since_ns; /* 0: they are there */
};

/* What watching took in a result: percent of a processor, of the VMs' processor time (negative: not known); a
 * second. */
struct budget_cost {
    double core, of_vm, hits;
};

/*
 * Before the load, so that a trap is priced meanwhile; share 0: none. Without the right to know the cost there is no
 * budget, which is said. Owns: budget_close frees.
 */
void budget_open(struct budget *b, double share);
/* After the load, before probes are attached. Borrows the watch. */
void budget_begin(struct budget *b, const struct watch *watch);
/* To be called budget_next_ns after the last, and once what it said is done, while it is kept. */
enum governor_says budget_look(struct budget *b);
uint64_t budget_next_ns(const struct budget *b);
/* The probes have gone, and have returned. */
void budget_leave(struct budget *b, uint64_t now_ns);
void budget_return(struct budget *b, uint64_t now_ns);
/* Of the result from `begin_ns` to `now_ns`: how long there were probes; of how many seconds one had them, 0: all, or
 * none. */
uint64_t budget_watched_ns(const struct budget *b, uint64_t begin_ns, uint64_t now_ns);
unsigned budget_sampled(const struct budget *b, uint64_t begin_ns, uint64_t now_ns);
/* What that result cost; what follows is of the next. */
struct budget_cost budget_take(struct budget *b, uint64_t begin_ns, uint64_t now_ns);
/* A row, where it can be noticed. */
void budget_print(const struct budget *b, struct sink *sink, const struct budget_cost *cost, uint64_t watched_ns);
void budget_end_result(struct budget *b, uint64_t now_ns);
/* With -a: lets go of VMs that are too dear, which is said. False: one cannot be let go of alone. */
bool budget_leave_dear(struct budget *b, struct watch *watch);
/* Says which VM is left alone, and why. Returns a failure. */
int budget_give_up(const struct budget *b);
void budget_close(struct budget *b);

#endif
