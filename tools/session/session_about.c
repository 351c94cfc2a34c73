/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A result is printed by the subcommand (session_ops.result); print_about adds what is true of any, in four tables of
 * the sink. They stand here as only the session knows them: when probes were there (print_left_alone), what they cost
 * (budget_print), how long the result took (print_interval), what was lost (print_losses).
 */
#include <errno.h>
#include <stdio.h>

#include "session_state.h"
#include "source/batch_source.h"

bool session_was_left_alone(const struct session *s)
{
    return s->now_ns > s->begin_ns && !budget_watched_ns(&s->budget, s->begin_ns, s->now_ns);
}

bool session_is_off_pace(const struct session *s)
{
    uint64_t asked = s->options->interval_ns, took = s->now_ns - s->begin_ns;
    uint64_t off = took > asked ? took - asked : asked - took;

    return asked && off > asked / 20;
}

/* What `total` has grown by since it was printed. */
static void print_loss(void *ctx, const char *why, uint64_t total)
{
    struct session *s = ctx;
    uint64_t *printed = &s->losses[s->nlosses++];

    sink_lost(&s->sink, total - *printed, why);
    *printed = total;
}

void session_each_loss(struct session *s, void (*loss)(void *ctx, const char *why, uint64_t total), void *ctx)
{
    static const char *const texts[] = {
#define TEXT(name, text) text,
        WIRE_LOSSES(TEXT)
#undef TEXT
    };
    struct batch_unreceived unreceived = {0};
    struct feed_loss losses[FEED_LOSSES];

    if (s->traps)
        trap_source_each_loss(s->traps, loss, ctx);
    for (uint32_t i = 0; i < WIRE_NLOSSES && !s->traps; i++) {
        uint64_t total = 0;

        if (session_loaded(s))
            session_read_percpu(s, "losses", i, &total, 1);
        loss(ctx, texts[i], total + (i == LOSS_LATE ? s->left : 0));
    }
    if (!s->ops->feed)
        return;
    if (s->pages)
        unreceived = batch_source_unreceived(s->pages);
    feed_losses(s->ops->feed, &unreceived, losses);
    for (size_t i = 0; i < FEED_LOSSES; i++)
        loss(ctx, losses[i].why, losses[i].count);
}

static void print_losses(struct session *s)
{
    s->nlosses = 0;
    session_each_loss(s, print_loss, s);
}

/*
 * How long the result took, where that is not what was asked for: a signal or the VM ended it, or the machine was busy.
 */
static void print_interval(struct session *s)
{
    static const struct sink_column columns[] = {{"took", "TOOK", SINK_NS, 0}, {"asked", "ASKED", SINK_NS, 0}};
    static const struct sink_table table = {"interval", NULL, columns, 2};

    if (session_is_off_pace(s))
        sink_row(&s->sink, &table,
                 (struct sink_value[]){SINK_N(s->now_ns - s->begin_ns), SINK_N(s->options->interval_ns)});
}

static void print_left_alone(struct session *s)
{
    static const struct sink_column columns[] = {{"took", "NOT WATCHED", SINK_NS, 0}, {"why", "WHY", SINK_TEXT, -1}};
    static const struct sink_table table = {"unwatched", NULL, columns, 2};

    if (session_was_left_alone(s))
        sink_row(&s->sink, &table,
                 (struct sink_value[]){SINK_N(s->now_ns - s->begin_ns),
                                       SINK_S("no probes: their budget was used up before")});
}

int session_print_about(struct session *s, const struct budget_cost *cost)
{
    FILE *out = s->sink.out;
    int err = 0;

    if (s->ops->silent && s->ops->recorder && s->ending) /* of what was recorded */
        print_losses(s);
    if (s->ops->silent)
        return 0;
    s->sink.out = s->ops->aside ? stderr : out;
    print_left_alone(s);
    budget_print(&s->budget, &s->sink, cost, budget_watched_ns(&s->budget, s->begin_ns, s->now_ns));
    print_interval(s);
    print_losses(s);
    if (s->ops->aside) {
        err = sink_flush(&s->sink);
        s->sink.printed = false; /* the next result begins without a line between */
    }
    s->sink.out = out;
    return err;
}
