/* SPDX-License-Identifier: Apache-2.0 */
#include "unavailable.h"

#include <errno.h>
#include <stdlib.h>

#include "event/event.h"

struct unavailable_vm {
    uint32_t vm;
    struct wanted events;
};

static struct unavailable_vm *find(const struct unavailable *u, uint32_t vm)
{
    for (size_t i = 0; i < u->nvms; i++)
        if (u->vms[i].vm == vm)
            return &u->vms[i];
    return NULL;
}

static struct unavailable_vm *add(struct unavailable *u, uint32_t vm)
{
    struct unavailable_vm *vms = realloc(u->vms, (u->nvms + 1) * sizeof *vms);

    if (!vms)
        return NULL;
    u->vms = vms;
    vms[u->nvms] = (struct unavailable_vm){.vm = vm};
    return &vms[u->nvms++];
}

int unavailable_learn(struct unavailable *u, uint32_t vm, const struct wanted *events)
{
    struct unavailable_vm *known = find(u, vm);

    if (!known)
        known = add(u, vm);
    if (!known)
        return -ENOMEM;
    known->events = *events;
    for (size_t e = 0; e < BATCH_EVENTS; e++)
        u->some.events[e] |= events->events[e];
    return 0;
}

int unavailable_learn_plan(struct unavailable *u, uint32_t vm, const struct plan *plan)
{
    struct wanted events = {{0}};

    for (size_t e = 0; e < BATCH_EVENTS; e++) {
        enum plan_probe probe = plan_find_probe(event_row((enum batch_event)e)->name);

        events.events[e] = probe < PLAN_NEVENTS && plan->events[probe].source == PLAN_NONE;
    }
    return unavailable_learn(u, vm, &events);
}

const struct wanted *unavailable_of(const struct unavailable *u, uint32_t vm)
{
    static const struct wanted nothing;
    const struct unavailable_vm *known = vm ? find(u, vm) : NULL;

    return !vm ? &u->some : known ? &known->events : &nothing;
}

void unavailable_end_vm(struct unavailable *u, uint32_t vm)
{
    struct unavailable_vm *known = find(u, vm);

    if (known)
        *known = u->vms[--u->nvms];
}

void unavailable_free(struct unavailable *u)
{
    free(u->vms);
}
