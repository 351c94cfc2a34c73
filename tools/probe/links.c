/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Invariant: closing a link's descriptor removes it; a group that is away has no descriptors but its file's. Groups
 * that a thread links are nobody else's before it has ended, and away whenever those of their set are.
 */
#include "links.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "apart.h"

enum { THREADS = 8 };

/* ---- several at once: the kernel waits tens of milliseconds for each */

struct work {
    struct links_set *links;
    int (*each)(struct links_set *l, struct links_group *group);
    size_t next;
    int err; /* the first */
};

static void *run_work(void *ctx)
{
    struct work *w = ctx;
    size_t i;

    while ((i = __atomic_fetch_add(&w->next, 1, __ATOMIC_RELAXED)) < w->links->n) {
        int err = w->each(w->links, &w->links->groups[i]), none = 0;

        if (err)
            __atomic_compare_exchange_n(&w->err, &none, err, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED);
    }
    return NULL;
}

static int for_each(struct links_set *l, int (*each)(struct links_set *l, struct links_group *group))
{
    struct work work = {l, each, 0, 0};
    pthread_t threads[THREADS];
    size_t n = 0;

    while (n < THREADS && n + 1 < l->n && !pthread_create(&threads[n], NULL, run_work, &work))
        n++;
    run_work(&work);
    while (n)
        pthread_join(threads[--n], NULL);
    return work.err;
}

/* ---- one group */

static int close_links(void *group)
{
    struct links_group *g = group;

    while (g->nfds)
        close(g->fds[--g->nfds]);
    return 0;
}

static void unlink_group(struct links_group *g)
{
    if (g->nfds)
        apart_call(close_links, g);
}

static int link_group(struct links_set *l, struct links_group *g)
{
    const struct links_wish *w = &g->wish;
    size_t wanted = l->many ? 1 : g->nplaces;
    char path[32];

    snprintf(path, sizeof path, "/proc/self/fd/%d", w->file);
    while (g->nfds < wanted) {
        int link = l->many ? uprobe_link_many(w->program, path, w->pid, w->returns, g->places, g->nplaces)
                           : uprobe_link_one(w->program, path, w->pid, w->returns, &g->places[g->nfds]);

        if (link < 0) {
            unlink_group(g);
            return link;
        }
        g->fds[g->nfds++] = link;
    }
    return 0;
}

static void free_group(struct links_group *g)
{
    if (g->wish.file >= 0)
        close(g->wish.file);
    free(g->places);
    free(g->fds);
}

static struct links_group *new_group(struct links_set *l, const struct links_wish *wish, size_t nplaces)
{
    struct links_group *all = realloc(l->groups, (l->n + 1) * sizeof *all), *g;

    if (!all)
        return NULL;
    l->groups = all;
    g = &all[l->n];
    *g = (struct links_group){.wish = *wish, .nplaces = nplaces};
    g->fds = calloc(nplaces + 1, sizeof *g->fds);
    g->places = calloc(nplaces + 1, sizeof *g->places);
    if (wish->file >= 0)
        g->wish.file = fcntl(wish->file, F_DUPFD_CLOEXEC, 0);
    if (!g->fds || !g->places || (wish->file >= 0 && g->wish.file < 0)) {
        free_group(g);
        return NULL;
    }
    l->n++;
    return g;
}

/* ---- all of them */

int links_add(struct links_set *l, const struct links_wish *wish, const struct uprobe_place *places, size_t n)
{
    struct links_group *g = new_group(l, wish, n);
    int err;

    if (!g)
        return errno == EMFILE ? -EMFILE : -ENOMEM;
    memcpy(g->places, places, n * sizeof *places);
    err = l->later || (l->away && !wish->stays) ? 0 : link_group(l, g);
    if (err)
        free_group(&l->groups[--l->n]);
    return err;
}

int links_take(struct links_set *l, int link)
{
    struct links_group *g = new_group(l, &(struct links_wish){.file = -1, .stays = true}, 0);

    if (!g) {
        close(link);
        return -ENOMEM;
    }
    g->fds[g->nfds++] = link;
    return 0;
}

static int remove_group(struct links_set *l, struct links_group *g)
{
    (void)l;
    unlink_group(g);
    free_group(g);
    return 0;
}

/* ---- in the background */

/*
 * A thread that removes what waits, for as long as something does. So many groups may wait at most: where VMs come and
 * go faster than the kernel detaches from them, their descriptors would run out.
 */
enum { MOST_WAITING = 4096 };

struct links_closer {
    pthread_mutex_t lock;
    pthread_t thread;
    bool started, runs; /* runs: it takes what waits */
    struct links_set waits;
};

static struct links_set take_waiting(struct links_closer *c)
{
    struct links_set gone = {0};

    pthread_mutex_lock(&c->lock);
    c->runs = c->waits.n > 0;
    if (c->runs) {
        gone = c->waits;
        c->waits = (struct links_set){0};
    }
    pthread_mutex_unlock(&c->lock);
    return gone;
}

static void *remove_waiting(void *closer)
{
    for (struct links_set gone = take_waiting(closer); gone.n; gone = take_waiting(closer)) {
        for_each(&gone, remove_group);
        free(gone.groups);
    }
    return NULL;
}

static void wait_for_closer(struct links_closer *c)
{
    if (c && c->started)
        pthread_join(c->thread, NULL);
    if (c)
        c->started = false;
}

static struct links_closer *find_closer(struct links_set *l)
{
    struct links_closer *fresh = l->closer ? NULL : calloc(1, sizeof *fresh);

    if (fresh) {
        *fresh = (struct links_closer){.lock = PTHREAD_MUTEX_INITIALIZER};
        l->closer = fresh;
    }
    return l->closer;
}

/* Moves the owners' groups; without memory for them they stay. */
static void move_groups(struct links_set *l, const struct vm_set *owners, struct links_set *to)
{
    struct links_group *groups = realloc(to->groups, (to->n + l->n + 1) * sizeof *groups);
    size_t kept = 0;

    if (!groups)
        return;
    to->groups = groups;
    for (size_t i = 0; i < l->n; i++) {
        if (l->groups[i].wish.owner && vm_set_has(owners, (uint32_t)l->groups[i].wish.owner))
            groups[to->n++] = l->groups[i];
        else
            l->groups[kept++] = l->groups[i];
    }
    l->n = kept;
}

void links_drop(struct links_set *l, const struct vm_set *owners)
{
    struct links_closer *c = find_closer(l);
    bool starts, full;

    if (!c)
        return;
    pthread_mutex_lock(&c->lock);
    move_groups(l, owners, &c->waits);
    starts = c->waits.n && !c->runs;
    full = c->waits.n > MOST_WAITING;
    c->runs |= starts;
    pthread_mutex_unlock(&c->lock);
    if (starts || full)
        wait_for_closer(c);
    if (starts)
        c->started = !pthread_create(&c->thread, NULL, remove_waiting, c);
    if (starts && !c->started)
        remove_waiting(c);
}

/* ---- links that a thread makes */

struct links_opening *links_begin(struct links_set *l)
{
    struct links_opening *o = calloc(1, sizeof *o);

    if (!o)
        return NULL;
    o->links = (struct links_set){.many = l->many, .away = l->away, .later = true};
    o->next = l->openings;
    l->openings = o;
    return o;
}

/* One after the other: nobody waits, and who reads events needs the processor and what the kernel locks for this. */
static void *open_groups(void *opening)
{
    struct links_opening *o = opening;

    for (size_t i = 0; !o->err && i < o->links.n; i++)
        if (!o->links.away || o->links.groups[i].wish.stays)
            o->err = link_group(&o->links, &o->links.groups[i]);
    for (size_t i = 0; o->err && i < o->links.n; i++)
        unlink_group(&o->links.groups[i]);
    o->done = true;
    return NULL;
}

void links_open(struct links_opening *o)
{
    o->runs = !pthread_create(&o->thread, NULL, open_groups, o);
    if (!o->runs)
        open_groups(o);
}

bool links_is_open(const struct links_opening *o)
{
    return o->done;
}

static void wait_for_opening(struct links_opening *o)
{
    if (o->runs)
        pthread_join(o->thread, NULL);
    o->runs = false;
}

/* Takes it out of the list. */
static void end_opening(struct links_set *l, struct links_opening *o)
{
    struct links_opening **at = &l->openings;

    wait_for_opening(o);
    while (*at != o)
        at = &(*at)->next;
    *at = o->next;
}

static int append_groups(struct links_set *l, const struct links_set *more)
{
    struct links_group *all = realloc(l->groups, (l->n + more->n + 1) * sizeof *all);

    if (!all)
        return -ENOMEM;
    l->groups = all;
    if (more->n)
        memcpy(all + l->n, more->groups, more->n * sizeof *all);
    l->n += more->n;
    return 0;
}

int links_join(struct links_set *l, struct links_opening *o)
{
    int err;

    end_opening(l, o);
    err = o->err ? o->err : append_groups(l, &o->links);
    if (err)
        links_cut(&o->links, 0);
    else
        free(o->links.groups);
    free(o);
    return err;
}

void links_give_up(struct links_set *l, struct links_opening *o)
{
    end_opening(l, o);
    links_cut(&o->links, 0);
    free(o);
}

/* What is done to the groups of the set is done to those, too, that will join it. */
static int for_all(struct links_set *l, int (*each)(struct links_set *l, struct links_group *group))
{
    int err = for_each(l, each);

    for (struct links_opening *o = l->openings; o; o = o->next) {
        int failed;

        wait_for_opening(o);
        o->links.away = l->away;
        failed = o->err ? 0 : for_each(&o->links, each);
        err = err ? err : failed;
    }
    return err;
}

/* ---- all of them, again */

void links_cut(struct links_set *l, size_t n)
{
    wait_for_closer(l->closer);
    if (l->n > n) {
        struct links_set behind = {.groups = l->groups + n, .n = l->n - n};

        for_each(&behind, remove_group);
        l->n = n;
    }
    if (!l->n) {
        if (l->closer)
            free(l->closer->waits.groups);
        free(l->closer);
        free(l->groups);
        l->groups = NULL;
        l->closer = NULL;
    }
}

static int leave_group(struct links_set *l, struct links_group *g)
{
    (void)l;
    if (!g->wish.stays)
        unlink_group(g);
    return 0;
}

void links_leave(struct links_set *l)
{
    l->away = true;
    uprobe_settle();
    for_all(l, leave_group);
}

static int return_group(struct links_set *l, struct links_group *g)
{
    int err = g->wish.stays ? 0 : link_group(l, g);

    return err == -ESRCH ? 0 : err;
}

int links_return(struct links_set *l)
{
    l->away = false;
    return for_all(l, return_group);
}
