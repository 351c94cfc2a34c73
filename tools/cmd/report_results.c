/* SPDX-License-Identifier: Apache-2.0 */
#include "report_results.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "common/fail.h"
#include "report_diagnose.h"
#include "report_listing.h"

enum { GAP_RESULTS = 60 }; /* empty ones in a row that are told, not more */

/* The pages of a VM that others watch as well hold what they asked for, too. */
static bool is_wanted(const struct report_state *st, size_t event)
{
    return st->wanted.events[event] && (!st->held_known || st->held.events[event]);
}

static void on_event(void *ctx, const union ev_any *ev)
{
    struct report_state *st = ctx;

    if (!st->viewed && !is_wanted(st, ev->head.event))
        return;
    report_counts_add(&st->counts, &ev->head);
    if (st->options->events && !st->viewed)
        report_list(&st->sink, feed_names(st->feed), ev);
}

/* ---- results */

/* Of the result being printed: an interval is as long as was asked for, its last one as there are events. */
static double result_seconds(const struct report_state *st)
{
    if (!st->interval_ns)
        return report_counts_seconds(&st->counts);
    return (double)(st->sink.now_ns > st->begin_ns ? st->sink.now_ns - st->begin_ns : 1) / 1e9;
}

static void print_vms(struct report_state *st)
{
    static const struct sink_column columns[] = {{"vm", "VM", SINK_COUNT, 7}, {"name", "NAME", SINK_TEXT, -1}};
    static const struct sink_table table = {"report_vm", NULL, columns, 2};

    st->sink.one_vm = false; /* here it is told which one */
    for (size_t i = 0; i < st->nvms; i++)
        sink_row(&st->sink, &table, (struct sink_value[]){SINK_N(st->vms[i].vm), SINK_S(st->vms[i].name)});
}

static void print_lost(struct report_state *st)
{
    struct feed_loss losses[FEED_LOSSES];

    feed_losses(st->feed, &(struct batch_unreceived){st->lost.pages, 0}, losses);
    for (size_t i = 0; i < FEED_LOSSES; i++)
        sink_lost(&st->sink, losses[i].count, losses[i].why);
    sink_lost(&st->sink, st->lost.unnamed, RECORDING_UNNAMED);
}

/* ---- views */

static int counted(void *ctx, const struct view_table *table, struct result_taken *out)
{
    return feed_counted(((struct report_state *)ctx)->feed, table, out);
}

static int slowest(void *ctx, enum view_slowest_id id, struct result_kept *out)
{
    return feed_slowest(((struct report_state *)ctx)->feed, id, out);
}

static const char *name_of(void *ctx, uint32_t vm, const struct wire_name *name)
{
    return feed_name(((struct report_state *)ctx)->feed, vm, name);
}

/* Results are of all VMs together. */
static const struct wanted *unavailable(void *ctx, uint32_t vm)
{
    (void)vm;
    return &((struct report_state *)ctx)->unavailable;
}

static int open_of(void *ctx, enum view_state_id state, const struct open_taker *taker)
{
    return feed_open(((struct report_state *)ctx)->feed, state, taker);
}

static bool vm_ended(void *ctx, uint32_t vm)
{
    return feed_ended(((struct report_state *)ctx)->feed, vm);
}

static bool owner_of(void *ctx, uint32_t vm, const struct view_whom *whom, struct wire_name *out)
{
    return feed_whose(((struct report_state *)ctx)->feed, vm, whom, out);
}

static bool kept_of(void *ctx, uint32_t vm, uint64_t kept, struct wire_name *out)
{
    return feed_kept(((struct report_state *)ctx)->feed, vm, kept, out);
}

static struct result_source source_of(struct report_state *st)
{
    return (struct result_source){.ctx = st,
                                  .take = counted,
                                  .name = name_of,
                                  .sink = &st->sink,
                                  .seconds = result_seconds(st),
                                  .whole_seconds = result_seconds(st),
                                  .slowest = slowest,
                                  .order = &st->order,
                                  .shown = st->slowest,
                                  .unavailable = unavailable,
                                  .open = open_of,
                                  .ended = vm_ended,
                                  .now_ns = st->sink.now_ns,
                                  .shares = &st->shares,
                                  .owner = owner_of,
                                  .kept = kept_of};
}

static void on_record(void *ctx, const struct wire_header *record, size_t size)
{
    struct result_source source = source_of(ctx);

    result_record(&source, record, size);
}

/* Without views the feed only puts events in order. */
int report_results_begin(struct report_state *st)
{
    struct view_settings settings = {.by = st->by};

    for (size_t v = 0; v < VIEW_COUNT; v++) {
        settings.on[v] = st->on[v];
        settings.events[v] = st->on[v] && st->options->events;
    }
    memcpy(settings.slowest, st->slowest, sizeof st->slowest);
    if (st->slower && view_filter_parse("slower", st->slower, settings.filters))
        return FAIL_USAGE;
    if (feed_new(&settings, &st->feed))
        return fail(-ENOMEM, "out of memory");
    feed_listen(st->feed, &(struct feed_ops){.record = on_record, .event = on_event, .ctx = st});
    return 0;
}

static int print_views(struct report_state *st)
{
    struct result_source source = source_of(st);
    struct result_reader reader = {0};
    int err = result_gather(&source, st->on, (struct result_reader *const[]){&reader}, 1);

    if (!err)
        err = result_print(&source, st->on, &reader);
    result_forget(&reader);
    return err ? fail(err, "cannot print results: %s", strerror(-err)) : 0;
}

static bool is_life(size_t event)
{
    return event == BATCH_process__spawn || event == BATCH_process__exit || event == BATCH_process__exit_signal;
}

static bool is_of_lives(const struct wanted *needed)
{
    for (size_t e = 0; e < BATCH_EVENTS; e++)
        if (needed->events[e] && !is_life(e))
            return false;
    return true;
}

size_t report_results_missing(const struct report_state *st, const struct wanted *needed, bool *found)
{
    bool of_lives = is_of_lives(needed);
    size_t missing = BATCH_EVENTS;

    *found = false;
    for (size_t e = BATCH_EVENTS; e-- > 0;) {
        *found |= needed->events[e] && st->asked.events[e] && (of_lives || !is_life(e));
        if (needed->events[e] && !st->asked.events[e])
            missing = e;
    }
    return missing;
}

/*
 * Whether events of the view were recorded, of a VM that tells them: what watches it live is as content. Births and
 * deaths alone, which other views record too, are no events of a view that is about more.
 */
static bool is_recorded(const struct report_state *st, enum view_id view)
{
    struct wanted needed = {{false}};
    bool found, of_lives;

    if (!wanted_add(&needed, views[view].name))
        return false;
    of_lives = is_of_lives(&needed);
    for (size_t e = 0; e < BATCH_EVENTS; e++)
        needed.events[e] &= !st->unavailable.events[e];
    if (!of_lives && is_of_lives(&needed))
        return false;
    report_results_missing(st, &needed, &found);
    return found || st->asked_unknown;
}

static int print_diagnosis(struct report_state *st)
{
    struct result_source source = source_of(st);
    struct report_diagnosed what = {.file = st->files[0],
                                    .vm = st->nvms ? st->vms[0].vm : 0,
                                    .name = st->nvms ? st->vms[0].name : "",
                                    .asked = &st->asked_of};

    for (int v = 0; v < VIEW_COUNT; v++)
        what.told[v] = st->on[v] && is_recorded(st, (enum view_id)v);
    return report_diagnose(&what, &source);
}

int report_results_until(struct report_state *st, uint64_t until_ns)
{
    int err = 0;

    while (st->interval_ns && st->begin_ns && st->begin_ns <= until_ns && until_ns - st->begin_ns >= st->interval_ns &&
           !err) {
        uint64_t end_ns = st->begin_ns + st->interval_ns;

        feed_until(st->feed, end_ns);
        sink_moment(&st->sink, end_ns);
        err = print_views(st);
        st->begin_ns = end_ns;
    }
    feed_until(st->feed, until_ns);
    return err;
}

int report_results_skip_gap(struct report_state *st, uint64_t newest_ns)
{
    uint64_t known_ns = st->now_ns ? st->now_ns : st->begin_ns, left_out;
    int err;

    if (!st->interval_ns || newest_ns <= known_ns || newest_ns - known_ns <= REPORT_GAP_NS ||
        (newest_ns - known_ns) / st->interval_ns <= GAP_RESULTS)
        return 0;
    err = report_results_until(st, known_ns + st->interval_ns);
    if (err || newest_ns - BATCH_MERGE_PATIENCE_NS <= st->begin_ns)
        return err;
    left_out = (newest_ns - BATCH_MERGE_PATIENCE_NS - st->begin_ns) / st->interval_ns;
    st->begin_ns += left_out * st->interval_ns;
    note("nothing was recorded for %.3g s: %" PRIu64 " empty results are left out",
         (double)(newest_ns - known_ns) / 1e9, left_out);
    return 0;
}

/* ---- the result */

int report_results_print(struct report_state *st)
{
    int err = 0, ended;

    bool printed = st->interval_ns && st->counts.last_ns <= st->begin_ns; /* all, in the results before */

    if (!printed)
        sink_moment(&st->sink, st->counts.last_ns);
    if (st->diagnoses) {
        err = print_diagnosis(st);
    } else if (st->viewed && !printed) {
        err = print_views(st);
    } else if (!st->viewed) {
        report_counts_print_totals(&st->counts, &st->sink);
        print_vms(st);
        report_counts_print_probes(&st->counts, &st->sink);
        report_counts_print_times(&st->counts, &st->sink);
    }
    print_lost(st);
    ended = err < 0 ? 0 : sink_end(&st->sink);
    return ended ? ended : err;
}
