/* SPDX-License-Identifier: Apache-2.0 */
#include "connections.h"

#include <errno.h>
#include <stdlib.h>

#include "common/clock.h"
#include "common/fail.h"

enum { SHOWN = 15, PAUSE = 19 /* times what it took to read them: a twentieth of the time */ };

struct connections {
    bool on;
    struct watched {
        uint32_t vm;
        bool said; /* why they cannot be read */
    } *vms;
    size_t nvms;
    uint64_t due_ns; /* they are not read before */
    bool said_pause; /* that they are not told in each result */
};

struct connections *connections_new(const bool on[VIEW_COUNT])
{
    struct connections *c = calloc(1, sizeof *c);

    if (c)
        c->on = on[VIEW_inet];
    return c;
}

void connections_free(struct connections *c)
{
    if (!c)
        return;
    free(c->vms);
    free(c);
}

static struct watched *find(struct connections *c, uint32_t vm)
{
    for (size_t i = 0; i < c->nvms; i++)
        if (c->vms[i].vm == vm)
            return &c->vms[i];
    return NULL;
}

int connections_add(struct connections *c, uint32_t vm)
{
    struct watched *all;

    if (!c->on || find(c, vm))
        return 0;
    all = realloc(c->vms, (c->nvms + 1) * sizeof *all);
    if (!all)
        return -ENOMEM;
    c->vms = all;
    all[c->nvms++] = (struct watched){.vm = vm};
    return 0;
}

void connections_drop(struct connections *c, uint32_t vm)
{
    struct watched *gone = find(c, vm);

    if (gone)
        *gone = c->vms[--c->nvms];
}

static void pause_after(struct connections *c, uint64_t began_ns, double seconds)
{
    uint64_t now_ns = clock_ns(CLOCK_MONOTONIC), took_ns = now_ns - began_ns;
    double pause = (double)took_ns * PAUSE / 1e9;

    c->due_ns = now_ns + took_ns * PAUSE;
    if (c->said_pause || pause < seconds)
        return;
    note("TCP peers are not in each result: to read the connections took %.2f s, they are read again after %.0f s",
         (double)took_ns / 1e9, pause);
    c->said_pause = true;
}

static void say_unknown(struct watched *w, const char *why)
{
    if (!w->said)
        note("which TCP connections process %u has is not known ('-' stands for them): %s", w->vm, why);
    w->said = true;
}

static void tell_vm(struct watched *w, void (*see)(void *ctx, uint32_t vm, const struct peer *peer), void *ctx)
{
    struct peer others = {.text = "(other)"}, *peers;
    char why[PEERS_WHY_BYTES];
    size_t n;
    int err = peers_read((int)w->vm, &peers, &n, why);

    if (err && err != -ESRCH) {
        say_unknown(w, why);
        see(ctx, w->vm, NULL);
    }
    for (size_t i = 0; i < n && i < SHOWN; i++)
        see(ctx, w->vm, &peers[i]);
    for (size_t i = SHOWN; i < n; i++) {
        others.connections += peers[i].connections;
        others.retrying += peers[i].retrying;
        others.unsent += peers[i].unsent;
        others.unread += peers[i].unread;
    }
    if (others.connections)
        see(ctx, w->vm, &others);
    free(peers);
}

void connections_tell(struct connections *c, double seconds,
                      void (*see)(void *ctx, uint32_t vm, const struct peer *peer), void *ctx)
{
    uint64_t began_ns = clock_ns(CLOCK_MONOTONIC);

    if (began_ns < c->due_ns)
        return;
    for (size_t i = 0; i < c->nvms; i++)
        tell_vm(&c->vms[i], see, ctx);
    pause_after(c, began_ns, seconds);
}
