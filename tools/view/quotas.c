/* SPDX-License-Identifier: Apache-2.0 */
#include "quotas.h"

#include <errno.h>
#include <stdlib.h>

struct quotas {
    bool on;
    struct watched {
        uint32_t vm;
        struct quota told;
    } *vms;
    size_t nvms;
};

struct quotas *quotas_new(const bool on[VIEW_COUNT])
{
    struct quotas *q = calloc(1, sizeof *q);

    if (q)
        q->on = on[VIEW_sched];
    return q;
}

void quotas_free(struct quotas *q)
{
    if (!q)
        return;
    free(q->vms);
    free(q);
}

static struct watched *find(struct quotas *q, uint32_t vm)
{
    for (size_t i = 0; i < q->nvms; i++)
        if (q->vms[i].vm == vm)
            return &q->vms[i];
    return NULL;
}

int quotas_add(struct quotas *q, uint32_t vm)
{
    struct watched *all;

    if (!q->on || find(q, vm))
        return 0;
    all = realloc(q->vms, (q->nvms + 1) * sizeof *all);
    if (!all)
        return -ENOMEM;
    q->vms = all;
    all[q->nvms] = (struct watched){.vm = vm};
    quota_read((int)vm, &all[q->nvms++].told);
    return 0;
}

void quotas_drop(struct quotas *q, uint32_t vm)
{
    struct watched *gone = find(q, vm);

    if (gone)
        *gone = q->vms[--q->nvms];
}

void quotas_tell(struct quotas *q, void (*see)(void *ctx, uint32_t vm, const struct quota *since), void *ctx)
{
    for (size_t i = 0; i < q->nvms; i++) {
        struct watched *w = &q->vms[i];
        struct quota now = {0}, since;

        quota_read((int)w->vm, &now);
        since = now;
        since.periods -= w->told.periods;
        since.throttled -= w->told.throttled;
        since.held_ns -= w->told.held_ns;
        if (now.group && now.group == w->told.group) /* else what came since is not known */
            see(ctx, w->vm, &since);
        w->told = now;
    }
}
