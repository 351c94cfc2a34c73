/* SPDX-License-Identifier: Apache-2.0 */
#include "diagnose_watch.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "common/clock.h"
#include "common/fail.h"
#include "diagnose/findings.h"
#include "session/engine.h"
#include "session/session.h"

enum {
    MOST_ROWS = 256, /* of a table: what is not among so many owners is no culprit, and takes memory */
    SLOWEST = 16,
};

struct running {
    const struct diagnose_watch *watch;
    struct counted *counted;
    uint64_t begin_ns; /* every probe is on; 0: not yet */
};

static uint64_t look(void *ctx)
{
    struct running *r = ctx;

    r->begin_ns = r->begin_ns ? r->begin_ns : clock_ns(CLOCK_MONOTONIC);
    return r->watch->look(r->watch->ctx);
}

/* Each second what was counted is gathered; it is taken at the end. */
static int read_result(void *ctx, struct session *s, const struct result_source *source, struct result_reader *gathered)
{
    struct running *r = ctx;
    struct session_cost cost;

    if (!session_ends(s) || !r->begin_ns || session_now_ns(s) <= r->begin_ns)
        return 0;
    session_cost(s, &cost);
    r->counted->seconds = (double)cost.watched_ns / 1e9;
    r->counted->share = r->counted->seconds / ((double)(session_now_ns(s) - r->begin_ns) / 1e9);
    return counted_take(r->counted, source, gathered);
}

/* The views that rules need. */
static void ask_views(const struct diagnose_watch *w, struct counted *counted, struct engine_question *q)
{
    for (int rule = 0; rule < FINDING_RULES; rule++)
        for (struct counted_need need = {.next = finding_texts[rule].needs}; counted_next_need(&need);)
            q->on[need.view] = !w->ours || need.view != VIEW_nifs;
    memcpy(counted->asked, q->on, sizeof counted->asked);
    q->settings.slowest[VIEW_SLOWEST_efile_op] = SLOWEST;
}

int diagnose_watch_run(const struct diagnose_watch *w, struct counted *counted)
{
    const struct options options = {.pid = (int)w->vm, .interval_ns = 1000000000, .budget = w->budget,
                                    .budget_said = w->budget_said, .ready_fd = -1};
    struct running running = {w, counted, 0};
    struct engine_question question = {.silent = true, .beat = look, .beat_ctx = &running};
    int err;

    question.readers[question.nreaders++] = (struct engine_reader){
        .result = read_result, .ctx = &running, .gathered = {.wants = RESULT_ALL, .most = MOST_ROWS}};
    ask_views(w, counted, &question);
    fail_keep(counted->why, sizeof counted->why);
    err = engine_run(&question, &options);
    fail_keep(NULL, 0);
    for (size_t v = 0; v < VIEW_COUNT; v++)
        counted->told[v] = counted->seconds > 0 && counted->asked[v] && question.on[v];
    return err == -ENOMEM || counted->err ? -ENOMEM : 0;
}
