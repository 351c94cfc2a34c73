/* SPDX-License-Identifier: Apache-2.0 */
/* What a slice under way was spent on by now, and on which kind of scheduler: as bpf/view_sched.h counts those that
 * ended, by what the kernel says of the scheduler's thread. */
#ifndef TOOLS_SCHED_PARTS_H
#define TOOLS_SCHED_PARTS_H

#include "views.h"

struct sched_parts {
    uint64_t all_ns, cpu_ns, waited_ns, asleep_ns; /* the first is the sum of the others */
    enum view_scheduler kind;
};

/* before: what the thread had done when the slice began, `all_ns` ago. False: it has ended, or cannot be read. */
bool sched_parts_read(const struct view_thread *before, uint64_t all_ns, struct sched_parts *out);

#endif
