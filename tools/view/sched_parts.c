/* SPDX-License-Identifier: Apache-2.0 */
#include "sched_parts.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "target/thread_call.h"

static enum view_scheduler kind_of(const char *thread)
{
    if (strstr(thread, "dcpu") || strstr(thread, "dirty_c"))
        return VIEW_SCHEDULER_DIRTY_CPU;
    return strstr(thread, "dio") || strstr(thread, "dirty_i") ? VIEW_SCHEDULER_DIRTY_IO : VIEW_SCHEDULER_NORMAL;
}

static uint64_t least(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

bool sched_parts_read(const struct view_thread *before, uint64_t all_ns, struct sched_parts *out)
{
    struct thread_time now;

    if (!thread_time_read((int)(before->thread >> 32), (int)(uint32_t)before->thread, &now) ||
        now.queued_ns < before->queued_ns || now.cpu_ns < before->cpu_ns)
        return false;
    out->kind = kind_of(now.name);
    out->all_ns = all_ns;
    out->waited_ns = least(now.queued_ns - before->queued_ns, all_ns);
    all_ns -= out->waited_ns;
    out->cpu_ns = now.sleeps == before->sleeps ? all_ns : least(now.cpu_ns - before->cpu_ns, all_ns);
    out->asleep_ns = all_ns - out->cpu_ns;
    return true;
}
