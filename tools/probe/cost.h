/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What watching costs the threads that are watched: how often each program ran and for how long, as the kernel counts
 * it, and for each run a trap, of which the price is tried at the beginning.
 */
#ifndef TOOLS_COST_H
#define TOOLS_COST_H

#include <bpf/libbpf.h>
#include <pthread.h>
#include <stdbool.h>

struct cost {
    int counting;        /* the descriptor that makes the kernel count */
    uint64_t trap_ns;    /* of processor time */
    pthread_t trial;     /* that finds it out */
    bool trying;
};

/* Processor time of the probed threads, and how often they were probed, since the programs were loaded. */
struct cost_sum {
    uint64_t ns, hits;
};

/* The trial goes on in a thread. Fails: -errno, without a message: the right to have the kernel count is missing. */
int cost_open(struct cost *cost);
struct cost_sum cost_read(struct cost *cost, const struct bpf_object *object);
void cost_close(struct cost *cost);
/* The processor time of a process; 0 when it has ended. */
uint64_t cost_cpu_ns(int pid);

#endif
