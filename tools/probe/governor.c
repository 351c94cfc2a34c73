/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Invariant: when the probes have gone, a VM owes what it earns in HORIZON_NS at most, or what a window of
 * LEAST_WINDOW_NS costs with the time that it took the probes to go. It keeps what it earns in CREDIT_NS at most.
 */
#include "governor.h"

#define HORIZON_NS 300e6
#define CREDIT_NS 100e6
/* Less would show nothing. It is the first window too: what watching costs is not known before. */
#define LEAST_WINDOW_NS 20000000ull
/* Between two looks. */
#define LEAST_LOOK_NS 10000000ull
#define MOST_LOOK_NS 50000000ull
/* How long probes need to go, until that was seen. */
#define USUAL_SLOW_NS 50e6
/* Rates are of about that time. */
#define LATE_NS 100e6

enum { DEAR_WINDOWS = 2 };

static double larger(double a, double b)
{
    return a > b ? a : b;
}

static uint64_t growth(uint64_t from, uint64_t to)
{
    return to > from ? to - from : 0;
}

void governor_begin(struct governor *g, double budget, uint64_t now_ns)
{
    *g = (struct governor){.budget = budget, .slow_ns = USUAL_SLOW_NS, .looked_ns = now_ns};
}

void governor_add(struct governor_vm *vm, int pid, const struct governor_sample *now)
{
    *vm = (struct governor_vm){.pid = pid, .now = *now, .last = *now};
}

/* A rate of which `ns` are new. */
static double renew(double rate, double amount, double ns)
{
    double weight = rate > 0 && ns < LATE_NS ? ns / LATE_NS : 1;

    return rate + weight * (amount / ns - rate);
}

/* What came since the last look is earned and paid. */
static void settle(const struct governor *g, struct governor_vm *vm)
{
    double ns = (double)growth(vm->last.now_ns, vm->now.now_ns), cpu = (double)growth(vm->last.cpu_ns, vm->now.cpu_ns);
    double cost = (double)growth(vm->last.cost_ns, vm->now.cost_ns);
    double earned = larger(g->budget * cpu, GOVERNOR_FREE_SHARE * ns);
    bool watched = !g->paused && !g->returning;

    vm->last = vm->now;
    if (ns <= 0)
        return;
    vm->earned = renew(vm->earned, earned, ns);
    vm->debt_ns = larger(vm->debt_ns + cost - earned, -vm->earned * CREDIT_NS);
    if (!watched)
        return;
    vm->cost = renew(vm->cost, cost, ns);
    vm->window_cpu_ns += cpu;
    vm->window_cost_ns += cost;
}

/* How much of a VM's debt goes beyond what it may be, once the probes have gone that would be taken away now. */
static double excess(const struct governor *g, const struct governor_vm *vm)
{
    return vm->debt_ns + larger(vm->cost - vm->earned, 0) * g->slow_ns - vm->earned * HORIZON_NS;
}

static bool is_over(const struct governor *g, const struct governor_vm *vms, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (vms[i].debt_ns > 0 && excess(g, &vms[i]) > 0)
            return true;
    return false;
}

static bool is_paid(const struct governor_vm *vms, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (vms[i].debt_ns > 0)
            return false;
    return true;
}

static void end_window_of(const struct governor *g, struct governor_vm *vm)
{
    double most = GOVERNOR_TOO_MUCH * larger(g->budget * vm->window_cpu_ns, GOVERNOR_FREE_SHARE * g->window_ns);
    double cost = vm->window_cost_ns < vm->window_cpu_ns ? vm->window_cost_ns : vm->window_cpu_ns;

    vm->share = vm->window_cpu_ns > 0 ? cost / vm->window_cpu_ns : 0;
    vm->dear = cost > most ? vm->dear + 1 : 0;
    vm->window_cpu_ns = vm->window_cost_ns = 0;
}

bool governor_is_too_dear(const struct governor_vm *vm)
{
    return vm->dear >= DEAR_WINDOWS;
}

/* A window in which watching was attached is over. */
static enum governor_says end_window(struct governor *g, struct governor_vm *vms, size_t n)
{
    enum governor_says says = GOVERNOR_PAUSES;

    for (size_t i = 0; i < n; i++) {
        end_window_of(g, &vms[i]);
        if (governor_is_too_dear(&vms[i]))
            says = GOVERNOR_GIVES_UP;
    }
    g->window_ns = 0;
    g->paused = g->leaving = true;
    return says;
}

enum governor_says governor_look(struct governor *g, uint64_t now_ns, struct governor_vm *vms, size_t n)
{
    double ns = (double)growth(g->looked_ns, now_ns);

    g->looked_ns = now_ns;
    for (size_t i = 0; i < n; i++)
        settle(g, &vms[i]);
    if (g->leaving)
        g->slow_ns = ns;
    g->leaving = false;
    if (g->budget <= 0)
        return GOVERNOR_GOES_ON;
    if (g->paused && is_paid(vms, n)) {
        g->paused = false;
        g->returning = true;
        return GOVERNOR_RESUMES;
    }
    if (g->paused || g->returning) {
        g->returning = false;
        return GOVERNOR_GOES_ON;
    }
    g->window_ns += ns;
    return g->window_ns >= LEAST_WINDOW_NS && is_over(g, vms, n) ? end_window(g, vms, n) : GOVERNOR_GOES_ON;
}

/* When a VM has paid, or owes as much as it may. */
static double until_due(const struct governor *g, const struct governor_vm *vm)
{
    double rate = vm->cost - vm->earned;

    if (g->paused)
        return vm->earned > 0 ? vm->debt_ns / vm->earned : 0;
    return rate > 0 ? -excess(g, vm) / rate : MOST_LOOK_NS;
}

uint64_t governor_next_ns(const struct governor *g, const struct governor_vm *vms, size_t n)
{
    double next = g->paused ? 0 : MOST_LOOK_NS;

    if (!g->paused && g->window_ns < LEAST_WINDOW_NS)
        return (uint64_t)(LEAST_WINDOW_NS - g->window_ns);
    for (size_t i = 0; i < n; i++) {
        double due = until_due(g, &vms[i]);

        next = g->paused ? larger(next, due) : due < next ? due : next;
    }
    return next < LEAST_LOOK_NS ? LEAST_LOOK_NS : next > MOST_LOOK_NS ? MOST_LOOK_NS : (uint64_t)next;
}
