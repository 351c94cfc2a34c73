/* SPDX-License-Identifier: Apache-2.0 */
/* Invariant: the kernel counts runs of programs, ours and others', while the descriptor is open. */
#include "cost.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "common/clock.h"
#include "uprobe.h"

/*
 * Until the trial is over, and where there can be none. A return traps twice, the second time for less; an exit once,
 * but where it had to be hooked as a return.
 */
enum { USUAL_TRAP_NS = 650, RETURN_PERCENT = 150, TICK_NS = 1000 };

static void *try_trap(void *ctx)
{
    struct cost *cost = ctx;
    uint64_t ns = uprobe_trap_ns();

    if (ns)
        __atomic_store_n(&cost->trap_ns, ns, __ATOMIC_RELAXED);
    return NULL;
}

int cost_open(struct cost *cost)
{
    *cost = (struct cost){.trap_ns = USUAL_TRAP_NS, .counting = bpf_enable_stats(BPF_STATS_RUN_TIME)};
    if (cost->counting < 0)
        return -errno;
    cost->trying = !pthread_create(&cost->trial, NULL, try_trap, cost);
    return 0;
}

/* What comes to each run of the program's own time. */
static uint64_t price_run(const struct bpf_program *program, uint64_t trap_ns)
{
    if (bpf_program__type(program) == BPF_PROG_TYPE_PERF_EVENT)
        return TICK_NS;
    return strncmp(bpf_program__name(program), "ret_", 4) ? trap_ns : trap_ns * RETURN_PERCENT / 100;
}

struct cost_sum cost_read(struct cost *cost, const struct bpf_object *object)
{
    uint64_t trap_ns = __atomic_load_n(&cost->trap_ns, __ATOMIC_RELAXED);
    struct cost_sum sum = {0, 0};
    struct bpf_program *program;

    bpf_object__for_each_program(program, object) {
        struct bpf_prog_info info = {0};
        uint32_t size = sizeof info;
        int fd = bpf_program__fd(program);

        if (fd < 0 || bpf_obj_get_info_by_fd(fd, &info, &size))
            continue;
        sum.ns += info.run_time_ns + info.run_cnt * price_run(program, trap_ns);
        sum.hits += info.run_cnt;
    }
    return sum;
}

void cost_close(struct cost *cost)
{
    if (cost->trying)
        pthread_join(cost->trial, NULL);
    if (cost->counting > 0)
        close(cost->counting);
    *cost = (struct cost){0};
}

uint64_t cost_cpu_ns(int pid)
{
    clockid_t clock;

    return clock_getcpuclockid(pid, &clock) ? 0 : clock_ns(clock);
}
