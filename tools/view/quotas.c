/* SPDX-License-Identifier: Apache-2.0 */
#include "quotas.h"

#include <errno.h>
#include <stdlib.h>

#include "common/fail.h"

struct quotas {
    bool on;
    struct watched {
        uint32_t vm;
        struct quota told;
        bool said; /* why it is not known */
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

/* Fails: -errno, which was said where the VM lives and may have a quota; then *out is 0. */
static int read_now(struct watched *w, struct quota *out)
{
    char why[QUOTA_WHY_BYTES];
    int err;

    *out = (struct quota){0};
    err = quota_read((int)w->vm, out, why);
    if (!err || err == -ENOENT || err == -ESRCH || w->said)
        return err;
    note("what a quota withholds from process %u is not known ('-' stands for it): %s", w->vm, why);
    w->said = true;
    return err;
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
    read_now(&all[q->nvms], &all[q->nvms].told);
    q->nvms++;
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
        struct quota now, since;
        int err = read_now(w, &now);

        since = now;
        since.periods -= w->told.periods;
        since.throttled -= w->told.throttled;
        since.held_ns -= w->told.held_ns;
        if (err && err != -ENOENT && err != -ESRCH)
            see(ctx, w->vm, NULL);
        if (now.group && now.group == w->told.group) /* else what came since is not known */
            see(ctx, w->vm, &since);
        w->told = now;
    }
}
