/* SPDX-License-Identifier: Apache-2.0 */
/* Source: perf_event_open(2), PERF_COUNT_SW_CPU_CLOCK: a timer of the kernel, also where there is no hardware
 * counter. */
#include "clock.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <linux/perf_event.h>
#include <sys/syscall.h>
#include <unistd.h>

uint64_t clock_ns(clockid_t id)
{
    struct timespec ts = {0};

    clock_gettime(id, &ts);
    return (uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec;
}

int clock_link(int program, uint64_t hz, int cpu)
{
    struct perf_event_attr attr = {.size = sizeof attr,
                                   .type = PERF_TYPE_SOFTWARE,
                                   .config = PERF_COUNT_SW_CPU_CLOCK,
                                   .freq = 1,
                                   .sample_freq = hz};
    int event = (int)syscall(SYS_perf_event_open, &attr, -1, cpu, -1, PERF_FLAG_FD_CLOEXEC), link;

    if (event < 0)
        return -errno;
    link = bpf_link_create(program, event, BPF_PERF_EVENT, NULL);
    close(event); /* the link keeps it */
    return link;
}
