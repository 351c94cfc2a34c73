/* SPDX-License-Identifier: Apache-2.0 */
/* Invariant: what was paid exceeds what was earned by MOST_DEBT_NS and one look's cost at most when the probes go. */
#include "governor.h"

/* In debt by so much the probes go; so much is kept of what was earned and not used. */
#define MOST_DEBT_NS 50e6
#define MOST_CREDIT_NS 20e6

enum { DEAR_WINDOWS = 2 };

void governor_begin(struct governor *g, double budget, const struct governor_sample *now)
{
    *g = (struct governor){.budget = budget, .last = *now};
}

static double larger(double a, double b)
{
    return a > b ? a : b;
}

static uint64_t growth(uint64_t from, uint64_t to)
{
    return to > from ? to - from : 0;
}

/* A window in which watching was attached is over. */
static enum governor_says end_window(struct governor *g)
{
    double most = GOVERNOR_TOO_MUCH * larger(g->budget * g->window_cpu_ns, GOVERNOR_FREE_SHARE * g->window_ns);
    double cost = g->window_cost_ns < g->window_cpu_ns ? g->window_cost_ns : g->window_cpu_ns;

    g->share = g->window_cpu_ns > 0 ? cost / g->window_cpu_ns : 0;
    g->dear = cost > most ? g->dear + 1 : 0;
    g->window_ns = g->window_cpu_ns = g->window_cost_ns = 0;
    g->paused = true;
    return g->dear < DEAR_WINDOWS ? GOVERNOR_PAUSES : GOVERNOR_GIVES_UP;
}

enum governor_says governor_look(struct governor *g, const struct governor_sample *now)
{
    double ns = (double)growth(g->last.now_ns, now->now_ns), cpu = (double)growth(g->last.cpu_ns, now->cpu_ns);
    double cost = (double)growth(g->last.cost_ns, now->cost_ns);

    g->last = *now;
    g->debt_ns = larger(g->debt_ns + cost - larger(g->budget * cpu, GOVERNOR_FREE_SHARE * ns), -MOST_CREDIT_NS);
    if (g->budget <= 0)
        return GOVERNOR_GOES_ON;
    if (g->paused && g->debt_ns <= 0) {
        g->paused = false;
        g->returning = true;
        return GOVERNOR_RESUMES;
    }
    if (g->paused || g->returning) {
        g->returning = false;
        return GOVERNOR_GOES_ON;
    }
    g->window_ns += ns;
    g->window_cpu_ns += cpu;
    g->window_cost_ns += cost;
    return g->debt_ns > MOST_DEBT_NS ? end_window(g) : GOVERNOR_GOES_ON;
}
