/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How much of the machine's processors the control group of a process may have, and how often and for how long the
 * kernel held it back for that. Of the process's group, or of the nearest one above that has a quota; version 1 of
 * control groups, or 2. Source: Documentation/admin-guide/cgroup-v2.rst and scheduler/sched-bwc.rst of Linux.
 */
#ifndef TOOLS_QUOTA_H
#define TOOLS_QUOTA_H

#include <stdbool.h>
#include <stdint.h>

struct quota {
    double processors; /* that it may have */
    uint64_t group;    /* which it is of; another one counts from its own beginning */
    /* so far: periods with work in them, those of them in which it was held back, and for how long in all */
    uint64_t periods, throttled, held_ns;
};

enum { QUOTA_WHY_BYTES = 256 };

/*
 * Times of several processors that are held at a time count once for each. Fails: -ENOENT it has none; -ESRCH the
 * process has ended; others: it is not known, and `why` says so. No message.
 */
int quota_read(int pid, struct quota *out, char why[QUOTA_WHY_BYTES]);

#endif
