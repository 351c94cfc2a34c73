/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How much watching may cost a VM, and what follows: decided from what was measured; whoever asks does it.
 * A part of the VM's processor time is earned for watching, what was watched is paid from that. In debt the probes are
 * taken away until the debt is paid, so that on average the budget holds, however long it takes the kernel to take them
 * away.
 */
#ifndef TOOLS_GOVERNOR_H
#define TOOLS_GOVERNOR_H

#include <stdbool.h>
#include <stdint.h>

/* What nobody notices, whatever the budget: a hundredth of a processor. */
#define GOVERNOR_FREE_SHARE 0.01
/* Of the budget: watching that costs more, while it goes on, is given up. */
#define GOVERNOR_TOO_MUCH 10
#define GOVERNOR_LOOK_NS 50000000ull

/* All three only grow, but for the processor time of VMs, which ends with a VM. */
struct governor_sample {
    uint64_t now_ns, cpu_ns, cost_ns; /* when; processor time of the VMs, and of it what watching took, since any time */
};

enum governor_says { GOVERNOR_GOES_ON, GOVERNOR_PAUSES, GOVERNOR_RESUMES, GOVERNOR_GIVES_UP };

struct governor {
    double budget; /* of the VMs' processor time; 0: any */
    bool paused;
    double debt_ns;
    struct governor_sample last;
    double window_ns, window_cpu_ns, window_cost_ns; /* since watching began or was resumed */
    bool returning; /* probes are being put back, which takes time that belongs to no window */
    int dear;     /* windows, one after the other, that cost too much */
    double share; /* of the VMs' processor time that watching took in the last whole window */
};

/* budget: of the VMs' processor time, 0.1 is a tenth; 0: any. now: what was taken before does not count. */
void governor_begin(struct governor *g, double budget, const struct governor_sample *now);
/* To be called every GOVERNOR_LOOK_NS, and as soon as what it said is done. */
enum governor_says governor_look(struct governor *g, const struct governor_sample *now);

#endif
