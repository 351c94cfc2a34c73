/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Invariant: times without probes are part of the result in which they fall. What programs took since the last look is
 * shared among VMs by how often their probes were hit.
 */
#include "budget.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "common/clock.h"
#include "common/fail.h"

enum { MOST_SAMPLED = 999 };
#define LEAST_COST_PERCENT 0.1 /* of a processor, that is printed */

void budget_open(struct budget *b, double share)
{
    int err = share > 0 ? cost_open(&b->cost) : 0;

    if (err)
        note("what watching costs is not known, so no budget is kept: %s",
             err == -EPERM ? "CAP_SYS_ADMIN is missing" : strerror(-err));
    b->share = share;
    b->kept = share > 0 && !err;
}

/* ---- the VMs */

static int find_hits(const struct budget *b)
{
    return bpf_object__find_map_fd_by_name(b->watch->attach.object, "vm_hits");
}

static struct governor_vm *find_vm(struct budget *b, int pid)
{
    for (size_t i = 0; i < b->nvms; i++)
        if (b->vms[i].pid == pid)
            return &b->vms[i];
    return NULL;
}

/* Programs count what they find an entry for. */
static int begin_hits(const struct budget *b, int pid)
{
    uint64_t *zeros = calloc((size_t)libbpf_num_possible_cpus(), sizeof *zeros);
    int err = zeros ? 0 : -ENOMEM;

    if (zeros && bpf_map_update_elem(find_hits(b), &(uint32_t){(uint32_t)pid}, zeros, BPF_ANY))
        err = -errno;

    free(zeros);
    return err;
}

/* vm: its entry, that of a process that had the pid before; NULL: it has none. */
static void add_vm(struct budget *b, struct governor_vm *vm, const struct target_life *life, uint64_t cpu_ns)
{
    struct governor_vm *all = vm ? b->vms : realloc(b->vms, (b->nvms + 1) * sizeof *all);
    int err = all ? begin_hits(b, life->pid) : -ENOMEM;

    if (all)
        b->vms = all;
    if (err && !b->full)
        note("the VM with pid %d, and others that there is no room for, are watched without a budget (%s); "
             "watch fewer at a time, with -p",
             life->pid, err == -E2BIG ? "too many are watched" : strerror(-err));
    b->full |= err != 0;
    if (err)
        return;
    vm = vm ? vm : &b->vms[b->nvms++];
    governor_add(vm, life->pid, &(struct governor_sample){clock_ns(CLOCK_MONOTONIC), cpu_ns, 0});
    vm->started = life->started;
}

/* Looks at a VM that is watched. One that ends just now has used what it had at the last look. */
static void see_vm(void *ctx, const struct target_life *life)
{
    struct budget *b = ctx;
    struct governor_vm *vm = find_vm(b, life->pid);
    uint64_t cpu_ns = cost_cpu_ns(life->pid);

    if (!vm || vm->started != life->started)
        return add_vm(b, vm, life, cpu_ns);
    vm->now.now_ns = clock_ns(CLOCK_MONOTONIC);
    if (cpu_ns > vm->now.cpu_ns)
        b->cpu_ns += cpu_ns - vm->now.cpu_ns;
    vm->now.cpu_ns = cpu_ns > vm->now.cpu_ns ? cpu_ns : vm->now.cpu_ns;
}

/* Those that were not seen since are watched no more. */
static void drop_unseen(struct budget *b, uint64_t since_ns)
{
    size_t kept = 0;

    for (size_t i = 0; i < b->nvms; i++) {
        if (b->vms[i].now.now_ns >= since_ns)
            b->vms[kept++] = b->vms[i];
        else
            bpf_map_delete_elem(find_hits(b), &(uint32_t){(uint32_t)b->vms[i].pid});
    }
    b->nvms = kept;
}

/* How often probes of the VM were hit since the last look. */
static uint64_t take_hits(const struct budget *b, struct governor_vm *vm)
{
    int cpus = libbpf_num_possible_cpus();
    uint64_t *each = calloc((size_t)cpus, sizeof *each), sum = 0, before = vm->hits;

    if (!each || bpf_map_lookup_elem(find_hits(b), &(uint32_t){(uint32_t)vm->pid}, each)) {
        free(each);
        return 0;
    }
    for (int i = 0; i < cpus; i++)
        sum += each[i];
    free(each);
    vm->hits = sum;
    return sum > before ? sum - before : 0;
}

/* What the VMs pay of what programs took: the only one all of it. */
static void share_cost(struct budget *b, struct cost_sum took)
{
    for (size_t i = 0; i < b->nvms; i++) {
        uint64_t hits = b->watch->options->all ? take_hits(b, &b->vms[i]) : took.hits;

        hits = hits < took.hits ? hits : took.hits;
        if (hits)
            b->vms[i].now.cost_ns += (uint64_t)((double)took.ns * (double)hits / (double)took.hits);
    }
}

static void look_at_vms(struct budget *b)
{
    uint64_t begin_ns = clock_ns(CLOCK_MONOTONIC);
    struct cost_sum before = b->sum;

    b->sum = cost_read(&b->cost, b->watch->attach.object);
    watch_each_life(b->watch, see_vm, b);
    share_cost(b, (struct cost_sum){b->sum.ns - before.ns, b->sum.hits - before.hits});
    drop_unseen(b, begin_ns);
}

void budget_begin(struct budget *b, const struct watch *watch)
{
    b->watch = watch;
    b->kept &= watch->attach.object != NULL; /* else nothing is loaded that could cost */
    if (!b->kept)
        return;
    governor_begin(&b->governor, b->share, clock_ns(CLOCK_MONOTONIC));
    look_at_vms(b);
}

enum governor_says budget_look(struct budget *b)
{
    if (!b->kept)
        return GOVERNOR_GOES_ON;
    look_at_vms(b);
    return governor_look(&b->governor, clock_ns(CLOCK_MONOTONIC), b->vms, b->nvms);
}

uint64_t budget_next_ns(const struct budget *b)
{
    return governor_next_ns(&b->governor, b->vms, b->nvms);
}

/* ---- results */

void budget_leave(struct budget *b, uint64_t now_ns)
{
    b->away_since_ns = now_ns;
}

void budget_return(struct budget *b, uint64_t now_ns)
{
    b->away_ns += now_ns - b->away_since_ns;
    b->away_since_ns = 0;
}

uint64_t budget_watched_ns(const struct budget *b, uint64_t begin_ns, uint64_t now_ns)
{
    uint64_t took = now_ns - begin_ns, away = b->away_ns;

    if (b->away_since_ns && now_ns > b->away_since_ns)
        away += now_ns - b->away_since_ns;
    return took > away ? took - away : 0;
}

unsigned budget_sampled(const struct budget *b, uint64_t begin_ns, uint64_t now_ns)
{
    uint64_t took = now_ns - begin_ns, watched = budget_watched_ns(b, begin_ns, now_ns);
    uint64_t of = watched ? (took + watched / 2) / watched : 0;

    return !watched || watched == took ? 0 : of < 2 ? 2 : of < MOST_SAMPLED ? (unsigned)of : MOST_SAMPLED;
}

struct budget_cost budget_take(struct budget *b, uint64_t begin_ns, uint64_t now_ns)
{
    double took = (double)(now_ns - begin_ns + 1), ns;
    struct budget_cost cost = {0, -1, 0};

    if (!b->kept)
        return cost;
    look_at_vms(b);
    ns = (double)(b->sum.ns - b->paid.ns);
    cost.core = ns * 100 / took;
    cost.hits = (double)(b->sum.hits - b->paid.hits) * 1e9 / took;
    if (b->cpu_ns > b->paid_cpu_ns)
        cost.of_vm = ns * 100 / (double)(b->cpu_ns - b->paid_cpu_ns);
    b->paid = b->sum;
    b->paid_cpu_ns = b->cpu_ns;
    return cost;
}

void budget_print(const struct budget *b, struct sink *sink, const struct budget_cost *cost, uint64_t watched_ns)
{
    static const struct sink_column columns[] = {{"core", "COST % OF A CORE", SINK_PERCENT, 0},
                                                 {"of_vm", "% OF THE VM", SINK_PERCENT, 0},
                                                 {"hits", "HITS PER S", SINK_RATE, 12},
                                                 {"watched", "WATCHED", SINK_NS, 0}};
    static const struct sink_table table = {"cost", NULL, columns, 4};

    if (b->kept && (cost->core >= LEAST_COST_PERCENT || sink->sampled))
        sink_row(sink, &table,
                 (struct sink_value[]){SINK_R(cost->core), cost->of_vm < 0 ? SINK_NONE : SINK_R(cost->of_vm),
                                       SINK_R(cost->hits), SINK_N(watched_ns)});
}

void budget_end_result(struct budget *b, uint64_t now_ns)
{
    b->away_ns = 0;
    b->away_since_ns = b->away_since_ns ? now_ns : 0;
}

#define DEAR_TEXT \
    "watching took %.0f %% of the processor time of the VM with pid %d, more than %d times the budget of %g %%: it " \
    "is left alone; see --budget"

bool budget_leave_dear(struct budget *b, struct watch *watch)
{
    bool left = watch->options->all;

    for (size_t i = 0; left && i < b->nvms; i++) {
        const struct governor_vm *vm = &b->vms[i];

        if (!governor_is_too_dear(vm))
            continue;
        left = watch_leave(watch, vm->pid);
        if (left)
            note(DEAR_TEXT, vm->share * 100, vm->pid, GOVERNOR_TOO_MUCH, b->share * 100);
    }
    return left;
}

int budget_give_up(const struct budget *b)
{
    for (size_t i = 0; i < b->nvms; i++)
        if (governor_is_too_dear(&b->vms[i]))
            return fail(-EDQUOT, DEAR_TEXT, b->vms[i].share * 100, b->vms[i].pid, GOVERNOR_TOO_MUCH, b->share * 100);
    return 0;
}

void budget_close(struct budget *b)
{
    if (b->kept || b->cost.trying)
        cost_close(&b->cost);
    free(b->vms);
}
