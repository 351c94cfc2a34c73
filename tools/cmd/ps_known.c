/* SPDX-License-Identifier: Apache-2.0 */
#include "ps_known.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "common/array.h"
#include "otp/names.h"

struct ps_known_one {
    ev_id id;
    struct snapshot_process is;
    bool found;
};

static int compare(const void *a, const void *b)
{
    const struct ps_known_one *x = a, *y = b;

    return x->id < y->id ? -1 : x->id > y->id;
}

static struct ps_known_one *find(const struct ps_known *k, ev_id id)
{
    return k->n ? bsearch(&(struct ps_known_one){.id = id}, k->all, k->n, sizeof *k->all, compare) : NULL;
}

int ps_known_add(struct ps_known *k, ev_id id)
{
    int err = id ? array_room((void **)&k->all, k->n, &k->room, sizeof *k->all) : 0;

    if (id && !err)
        k->all[k->n++] = (struct ps_known_one){.id = id};
    return err;
}

static int see(void *ctx, const struct snapshot_process *is)
{
    struct ps_known_one *one = find(ctx, is->id);

    if (one) {
        one->is = *is;
        one->found = true;
    }
    return 0;
}

/* One that was added several times is looked for once. */
static void drop_twins(struct ps_known *k)
{
    size_t n = 0;

    qsort(k->all, k->n, sizeof *k->all, compare);
    for (size_t i = 0; i < k->n; i++)
        if (!n || k->all[n - 1].id != k->all[i].id)
            k->all[n++] = k->all[i];
    k->n = n;
}

void ps_known_find(struct ps_known *k, const struct inspected *vm)
{
    if (!k->n)
        return;
    drop_twins(k);
    snapshot_processes(vm->snapshot, see, k, NULL);
}

const struct snapshot_process *ps_known_process(const struct ps_known *k, ev_id id)
{
    const struct ps_known_one *one = find(k, id);

    return one && one->found ? &one->is : NULL;
}

void ps_known_name(const struct inspected *vm, const struct ps_known *k, ev_id id, char out[PS_NAME_BYTES])
{
    const struct snapshot_process *is = ps_known_process(k, id);
    struct wire_name name;
    char buf[PS_NAME_BYTES];

    out[0] = '\0';
    if (is && snapshot_owner(vm->snapshot, is, &name))
        snprintf(out, PS_NAME_BYTES, "%s", names_text(vm->names, vm->pid, &name, buf, sizeof buf));
}

void ps_known_end(struct ps_known *k)
{
    free(k->all);
    *k = (struct ps_known){0};
}
