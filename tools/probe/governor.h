/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How much watching may cost each VM, and what follows: decided from what was measured; whoever asks does it.
 * A part of a VM's processor time is earned for watching it, what was watched is paid from that. Once one of the VMs is
 * in debt the probes of all are taken away, until each has paid. So the budget of each holds, however much others earn,
 * and however long it takes the kernel to take probes away: that time is expected, and learned.
 */
#ifndef TOOLS_GOVERNOR_H
#define TOOLS_GOVERNOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What nobody notices, whatever the budget: a hundredth of a processor. */
#define GOVERNOR_FREE_SHARE 0.01
/* Of the budget: watching that costs more, while it goes on, is given up. */
#define GOVERNOR_TOO_MUCH 10

/* All three only grow. */
struct governor_sample {
    uint64_t now_ns, cpu_ns, cost_ns; /* when; processor time of the VM, and of it what watching took, since any time */
};

/* One VM. `now` is set before each look, the rest is the governor's. */
struct governor_vm {
    int pid;
    unsigned long long started; /* the caller's: with the pid it says which process it is (target.h) */
    uint64_t hits;              /* the caller's: of probes, by which costs are shared */
    struct governor_sample now, last;
    double debt_ns;
    double earned, cost; /* a nanosecond, of late: earned for watching; what watching took while there were probes */
    double window_cpu_ns, window_cost_ns; /* since watching began or was resumed */
    int dear;                             /* windows, one after the other, that cost too much */
    double share;                         /* of its processor time that watching took in the last whole window */
};

enum governor_says { GOVERNOR_GOES_ON, GOVERNOR_PAUSES, GOVERNOR_RESUMES, GOVERNOR_GIVES_UP };

struct governor {
    double budget; /* of a VM's processor time; 0: any */
    bool paused;
    bool leaving, returning; /* probes are being taken away, or put back: that time belongs to no window */
    uint64_t looked_ns;      /* when it looked last */
    double window_ns;
    double slow_ns; /* how long it takes to take probes away */
};

/* budget: of a VM's processor time, 0.1 is a tenth; 0: any. */
void governor_begin(struct governor *g, double budget, uint64_t now_ns);
/* A VM is watched from now on: what was taken before does not count. */
void governor_add(struct governor_vm *vm, int pid, const struct governor_sample *now);
/*
 * To be called governor_next_ns after the last look, and as soon as what it said is done. GIVES_UP: of the VMs for
 * which governor_is_too_dear holds.
 */
enum governor_says governor_look(struct governor *g, uint64_t now_ns, struct governor_vm *vms, size_t n);
bool governor_is_too_dear(const struct governor_vm *vm);
uint64_t governor_next_ns(const struct governor *g, const struct governor_vm *vms, size_t n);

#endif
