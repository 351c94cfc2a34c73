/* SPDX-License-Identifier: Apache-2.0 */
/* Invariant: times without probes are part of the result in which they fall. */
#include "budget.h"

#include <errno.h>
#include <string.h>

#include "clock.h"
#include "fail.h"

enum { MOST_SAMPLED = 999 };
#define LEAST_COST_PERCENT 0.1 /* of a processor, that is printed */

void budget_open(struct budget *b, double share)
{
    int err = share > 0 ? cost_open(&b->cost) : 0;

    if (err)
        note("what watching costs is not known, so no budget is kept: %s", strerror(-err));
    b->share = share;
    b->kept = share > 0 && !err;
}

static struct governor_sample sample(struct budget *b, struct cost_sum *sum)
{
    *sum = cost_read(&b->cost, b->watch->attach.object);
    return (struct governor_sample){clock_ns(CLOCK_MONOTONIC), watch_cpu_ns(b->watch), sum->ns};
}

void budget_begin(struct budget *b, const struct watch *watch)
{
    struct governor_sample now;

    b->watch = watch;
    b->kept &= watch->attach.object != NULL; /* else nothing is loaded that could cost */
    if (!b->kept)
        return;
    now = sample(b, &b->paid);
    b->paid_cpu_ns = now.cpu_ns;
    governor_begin(&b->governor, b->share, &now);
}

enum governor_says budget_look(struct budget *b)
{
    struct governor_sample now;
    struct cost_sum sum;

    if (!b->kept)
        return GOVERNOR_GOES_ON;
    now = sample(b, &sum);
    return governor_look(&b->governor, &now);
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
    struct governor_sample now;
    struct cost_sum sum;

    if (!b->kept)
        return cost;
    now = sample(b, &sum);
    ns = (double)(sum.ns - b->paid.ns);
    cost.core = ns * 100 / took;
    cost.hits = (double)(sum.hits - b->paid.hits) * 1e9 / took;
    if (now.cpu_ns > b->paid_cpu_ns)
        cost.of_vm = ns * 100 / (double)(now.cpu_ns - b->paid_cpu_ns);
    b->paid = sum;
    b->paid_cpu_ns = now.cpu_ns;
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

int budget_give_up(const struct budget *b)
{
    return fail(-EDQUOT, "watching took %.0f %% of the VM's processor time, more than %d times the budget of %g %%: "
                         "it is left alone; see --budget", b->governor.share * 100, GOVERNOR_TOO_MUCH, b->share * 100);
}

void budget_close(struct budget *b)
{
    if (b->kept || b->cost.trying)
        cost_close(&b->cost);
}
