/* SPDX-License-Identifier: Apache-2.0 */
/* Invariant: what is told was so in each look of a second or longer; a look that cannot tell ends it. */
#include "tripwires.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "evidence.h"
#include "otp/names.h"
#include "otp/snapshot_terms.h"
#include "target/thread_call.h"

enum {
    MOST_SCHEDULERS = 4096,
    FIRST_PROCESSES = 64, /* those of the emulator's own are among so many */
    STACK_WORDS = 64,
    MOST_REDUCTIONS = 500, /* more than a purge takes for a process: asks, takes the answer, ends it, waits for that */
    MORE_PROCESSES = 2000, /* for so many more: all else of it */
};

_Static_assert((int)TRIPWIRE_TEXT == (int)EVIDENCE_TEXT, "names of evidence");

void tripwires_free(struct tripwires *t)
{
    free(t->schedulers);
    t->schedulers = NULL;
}

static double seconds_since(uint64_t since_ns, uint64_t now_ns)
{
    return now_ns > since_ns ? (double)(now_ns - since_ns) / 1e9 : 0;
}

/* ---- a scheduler asleep over work */

/* Names of the threads of normal schedulers: up to OTP 25, and later. */
static bool is_named_so(const char *name, uint32_t number)
{
    char older[32], newer[32];

    snprintf(older, sizeof older, "%u_scheduler", number);
    snprintf(newer, sizeof newer, "erts_sched_%u", number);
    return !strncmp(name, older, sizeof((struct thread_name *)0)->name - 1) || !strcmp(name, newer);
}

static void find_threads(struct tripwires *t, uint32_t vm)
{
    struct thread_name *names;
    size_t n;

    if (thread_names((int)vm, &names, &n))
        return;
    for (size_t i = 0; i < t->nschedulers; i++)
        for (size_t k = 0; k < n; k++)
            if (is_named_so(names[k].name, (uint32_t)i + 1))
                t->schedulers[i].thread = names[k].id;
    free(names);
}

/* NULL: there are too many, or (-ENOMEM) no memory. */
static struct tripwire_scheduler *scheduler_at(struct tripwires *t, uint32_t number, int *err)
{
    struct tripwire_scheduler *more;

    *err = 0;
    if (!number || number > MOST_SCHEDULERS)
        return NULL;
    if (number > t->nschedulers) {
        more = realloc(t->schedulers, number * sizeof *more);
        *err = more ? 0 : -ENOMEM;
        if (*err)
            return NULL;
        memset(more + t->nschedulers, 0, (number - t->nschedulers) * sizeof *more);
        t->schedulers = more;
        t->nschedulers = number;
    }
    return &t->schedulers[number - 1];
}

/* Of an erlvm it may be another one in each look: a scheduler is lent where something lasts. */
static void find_thread(struct tripwires *t, struct tripwire_scheduler *s, const struct evidence *e, int inner)
{
    if (inner != s->inner) {
        s->inner = inner;
        s->thread = 0;
        s->since_ns = 0;
    }
    if (!s->thread && inner) {
        s->thread = thread_find((int)e->vm, inner);
    } else if (!s->thread && t->named <= e->looks) {
        find_threads(t, e->vm);
        t->named = e->looks + 1;
    }
}

/* It has work: whether its thread has slept since the look before, without having run at all. */
static void see_thread(struct tripwires *t, struct tripwire_scheduler *s, const struct evidence *e, uint64_t now_ns)
{
    struct thread_time time;
    bool sleeps, same;

    if (!s->thread || !thread_time_read((int)e->vm, s->thread, &time) || !time.state) {
        s->since_ns = 0;
        if (!t->was_read)
            t->no_sleepers = s->thread ? "what its threads do cannot be read in /proc/PID/task"
                                       : "which threads its schedulers have cannot be read";
        return;
    }
    t->was_read = true;
    sleeps = time.state == 'S' || time.state == 'D';
    same = s->since_ns && s->seen + 1 == e->looks && s->ran_ns == time.cpu_ns && s->sleeps == time.sleeps;
    s->since_ns = !sleeps ? 0 : same ? s->since_ns : now_ns;
    s->ran_ns = time.cpu_ns;
    s->sleeps = time.sleeps;
}

int tripwires_see_scheduler(struct evidence *e, const struct snapshot_scheduler *is, uint64_t now_ns)
{
    struct tripwires *t = &e->tripwires;
    struct tripwire_scheduler *s;
    int err;

    if (is->type != SNAPSHOT_NORMAL || t->no_sleepers)
        return 0;
    s = scheduler_at(t, is->number, &err);
    if (!s || !is->queued) {
        if (s)
            s->since_ns = 0;
        return err;
    }
    find_thread(t, s, e, is->thread);
    see_thread(t, s, e, now_ns);
    s->seen = e->looks;
    s->queued = is->queued;
    s->running = is->running;
    return 0;
}

/* The process that could run and had no turn for longest; NULL: there is none. One that waits for a dirty scheduler is
 * in no queue of a normal one. */
static const struct evidence_process *longest_unrun(const struct evidence *e)
{
    const struct evidence_process *longest = NULL;

    for (const struct evidence_process *p = e->processes; p; p = p->hh.next)
        if (p->last.status == SNAPSHOT_RUNNABLE && !p->last.dirty && !p->last.waits_io &&
            (!longest || p->same_ns < longest->same_ns))
            longest = p;
    return longest;
}

static void keep_sleep(struct evidence *e, uint32_t number, const struct evidence_process *victim, double seconds)
{
    const struct tripwire_scheduler *s = &e->tripwires.schedulers[number - 1];
    struct tripwire_sleep *kept = &e->tripwires.asleep;
    const struct evidence_process *holder = s->running ? evidence_find(e, s->running) : NULL;

    *kept = (struct tripwire_sleep){
        .seconds = seconds, .scheduler = number, .queued = s->queued, .holder = holder ? holder->id : 0};
    evidence_name(e, &victim->last, kept->victim);
    if (holder) {
        evidence_name(e, &holder->last, kept->holder_name);
        evidence_place(e, &holder->last, kept->place);
    }
}

/* Nobody takes what stands in its queue: some process has had no turn for as long. */
static void look_at_sleepers(struct evidence *e, uint64_t now_ns)
{
    const struct evidence_process *victim = NULL;

    for (size_t i = 0; i < e->tripwires.nschedulers; i++) {
        const struct tripwire_scheduler *s = &e->tripwires.schedulers[i];
        double seconds = s->since_ns && s->seen == e->looks ? seconds_since(s->since_ns, now_ns) : 0;

        if (seconds < TRIPWIRE_LEAST_S || !(victim = victim ? victim : longest_unrun(e)))
            continue;
        if (victim->same_ns > s->since_ns)
            seconds = seconds_since(victim->same_ns, now_ns);
        if (seconds >= TRIPWIRE_LEAST_S && seconds > e->tripwires.asleep.seconds)
            keep_sleep(e, (uint32_t)i + 1, victim, seconds);
    }
}

/* ---- a purge that does not end */

static bool is_purger(const struct evidence *e, const struct snapshot_process *is)
{
    const char *name;
    uint64_t atom;

    if (ev_id_number(is->id) >= FIRST_PROCESSES || !snapshot_registered(e->snapshot, is, &atom))
        return false;
    name = names_atom(e->names, e->vm, atom);
    return name && !strcmp(name, "erts_code_purger");
}

void tripwires_see_process(struct evidence *e, const struct snapshot_process *is)
{
    struct tripwires *t = &e->tripwires;

    if (!t->purger && is_purger(e, is))
        t->purger = is->id;
    if (t->purger != is->id)
        return;
    t->purger_is = *is;
    t->purger_seen = true;
}

/*
 * Which purge it is at: the reference of who asked for it, which it keeps on its stack until it answers. At rest there
 * is none. 0: none, or it cannot be read.
 */
static uint64_t read_request(const struct evidence *e)
{
    uint64_t words[STACK_WORDS], one, request = 0;
    size_t n = snapshot_stack_words(e->snapshot, &e->tripwires.purger_is, words, STACK_WORDS);

    for (size_t i = 0; i < n; i++)
        if (snapshot_reference(e->snapshot, words[i], &one))
            request = one;
    return request;
}

/* Dirty schedulers of a stock emulator: a process on one of them is answered for by another. */
static bool has_dirty(const struct evidence *e)
{
    return !snapshot_is_ours(e->snapshot);
}

/* The process that has run for longest without ending a time slice, which it must before it answers; NULL: none. */
static const struct evidence_process *longest_mute(const struct evidence *e)
{
    const struct evidence_process *longest = NULL;

    for (const struct evidence_process *p = e->processes; p; p = p->hh.next)
        if (p->last.status == SNAPSHOT_RUNNING && (!p->last.dirty || !has_dirty(e)) && p->id != e->tripwires.purger &&
            (!longest || p->same_ns < longest->same_ns))
            longest = p;
    return longest;
}

static void keep_purge(struct evidence *e, uint64_t now_ns, const struct evidence_process *mute)
{
    struct tripwires *t = &e->tripwires;
    struct tripwire_purge *kept = &t->purge;

    *kept = (struct tripwire_purge){.seconds = seconds_since(t->request_ns, now_ns),
                                    .process = mute ? mute->id : 0,
                                    .mute = mute ? seconds_since(mute->same_ns, now_ns) : 0,
                                    .reductions = t->purger_is.reductions - t->request_reductions,
                                    .processes = e->last.processes};
    evidence_name(e, mute ? &mute->last : &t->purger_is, kept->name);
    evidence_place(e, mute ? &mute->last : &t->purger_is, kept->place);
}

/* At the same purge as in the look before. */
static void judge_purge(struct evidence *e, uint64_t now_ns)
{
    struct tripwires *t = &e->tripwires;
    const struct evidence_process *mute = longest_mute(e);
    double seconds = seconds_since(t->request_ns, now_ns);
    uint64_t most = MOST_REDUCTIONS * (e->last.processes + MORE_PROCESSES);

    if (seconds < TRIPWIRE_LEAST_S || seconds <= t->purge.seconds)
        return;
    if (mute && seconds_since(mute->same_ns, now_ns) >= TRIPWIRE_LEAST_S)
        keep_purge(e, now_ns, mute);
    else if (t->purger_is.reductions > t->request_reductions + most)
        keep_purge(e, now_ns, NULL);
}

static void look_at_purge(struct evidence *e, uint64_t now_ns)
{
    struct tripwires *t = &e->tripwires;
    uint64_t request = t->purger_seen ? read_request(e) : 0;

    if (request && request == t->request) {
        judge_purge(e, now_ns);
        return;
    }
    t->request = request;
    t->request_ns = now_ns;
    t->request_reductions = t->purger_is.reductions;
}

/* ---- looks */

void tripwires_end_look(struct evidence *e, uint64_t now_ns)
{
    struct tripwires *t = &e->tripwires;

    for (size_t i = 0; i < t->nschedulers && (e->halted || t->no_sleepers || !e->has_schedulers); i++)
        t->schedulers[i].since_ns = 0;
    if (e->halted)
        t->request = 0;
    else
        look_at_purge(e, now_ns);
    look_at_sleepers(e, now_ns);
    t->purger_seen = false;
}
