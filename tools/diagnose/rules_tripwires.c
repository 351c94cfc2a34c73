/* SPDX-License-Identifier: Apache-2.0 */
/* Rules about what never is so in a VM that is well (tripwires.h). Scores go by how long it lasts. */
#include <inttypes.h>
#include <stdio.h>

#include "findings.h"

/*
 * Whether a thread that was not seen to sleep for so many seconds had a processor for long enough, by what all of the
 * VM's got of what they wanted: a time slice of Erlang takes a millisecond or two.
 */
static bool has_run(const struct evidence *e, double seconds)
{
    static const double least_s = 0.1;
    bool held = e->last.has_quota && e->last.quota.held_ns != e->first.quota.held_ns;
    double ran, waited;

    return !held && evidence_threads(e, &ran, &waited) && seconds * ran >= least_s * (ran + waited);
}

void find_scheduler_asleep(const struct evidence *e, struct findings *out)
{
    const struct tripwire_sleep *s = &e->tripwires.asleep;
    double score = findings_least(80 + 3 * s->seconds, 95);
    char scheduler[32];

    snprintf(scheduler, sizeof scheduler, "scheduler %u", s->scheduler);
    if (s->seconds >= TRIPWIRE_LEAST_S && s->holder)
        findings_add(out, FINDING_scheduler_asleep, score, s->holder, s->holder_name,
                     "the thread of %s has slept in the kernel for %.1f s, in %s, while %" PRIu64
                     " waited in its run queue: %s had no turn",
                     scheduler, s->seconds, s->place, s->queued, s->victim);
    else if (s->seconds >= TRIPWIRE_LEAST_S)
        findings_add(out, FINDING_scheduler_asleep, score, 0, scheduler,
                     "its thread has slept in the kernel for %.1f s and ran nothing, while %" PRIu64
                     " waited in its run queue: %s had no turn",
                     s->seconds, s->queued, s->victim);
}

void find_purge_hangs(const struct evidence *e, struct findings *out)
{
    const struct tripwire_purge *p = &e->tripwires.purge;
    double score = findings_least(70 + 5 * p->seconds, 92);

    if (p->seconds < TRIPWIRE_LEAST_S || (p->process && !has_run(e, p->mute)))
        return;
    if (p->process)
        findings_add(out, FINDING_purge_hangs, score, p->process, p->name,
                     "a purge has lasted for %.1f s: it cannot end before this process answers, which has run for "
                     "%.1f s without a pause; in %s",
                     p->seconds, p->mute, p->place);
    else
        findings_add(out, FINDING_purge_hangs, score, 0, p->name,
                     "it has been at one purge for %.1f s, and asks again and again: %" PRIu64
                     " reductions for %" PRIu64 " processes; in %s",
                     p->seconds, p->reductions, p->processes, p->place);
    findings_also(out, FINDING_purge_hangs, "code_server");
}
