/* SPDX-License-Identifier: Apache-2.0 */
#include "target_find.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "common/fail.h"
#include "target.h"

enum { MOST_SHOWN = 5 };

/* The VMs that may be meant: the first few as a person tells them apart. */
struct found {
    const char *name; /* NULL: any */
    int n, first;
    char text[MOST_SHOWN * 64];
};

static bool is_meant(const struct found *found, const struct target *t)
{
    size_t length = found->name ? strlen(found->name) : 0;

    return !found->name || !strcmp(t->name, found->name) ||
           (!strncmp(t->name, found->name, length) && t->name[length] == '@');
}

static int count_vm(void *ctx, struct target *t)
{
    struct found *found = ctx;
    size_t used = strlen(found->text);

    if (!is_meant(found, t))
        return 0;
    if (!found->n)
        found->first = t->pid;
    if (found->n < MOST_SHOWN)
        snprintf(found->text + used, sizeof found->text - used, "%s%d '%.40s'", used ? ", " : "", t->pid, t->name);
    return ++found->n > MOST_SHOWN;
}

static int complain_none(const char *name)
{
    bool root = geteuid() == 0;

    if (name)
        return fail(-ESRCH, "no Erlang VM '%s' runs here%s; erlsnoop list shows those that do", name,
                    root ? "" : " that you may look at");
    return fail(-ESRCH, root ? "no Erlang VM runs here; start one, or use -a to wait for it"
                             : "no Erlang VM runs here that you may look at; run as root to see those of others");
}

int target_find(const char *name, int *pid)
{
    struct found found = {.name = name};
    int err = target_each(&(struct target_visitor){.found = count_vm, .ctx = &found});
    const char *others = found.n > MOST_SHOWN ? ", and others" : "";

    if (err < 0)
        return err;
    if (!found.n)
        return complain_none(name);
    if (found.n > 1 && name)
        return fail(FAIL_USAGE, "several Erlang VMs are named so: %s%s; choose one by its process id", found.text,
                    others);
    if (found.n > 1)
        return fail(FAIL_USAGE, "several Erlang VMs run here: %s%s; choose one with -p, by process id or name, or -a",
                    found.text, others);
    *pid = found.first;
    return 0;
}
