/* SPDX-License-Identifier: Apache-2.0 */
/* Reads recordings: what happened, how often and when, or each event. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cmd.h"
#include "common/fail.h"
#include "common/options.h"
#include "report_diagnose.h"
#include "report_diff.h"
#include "report_files.h"
#include "report_results.h"

/* `what` needs these events: zeros would be taken for an answer. */
static int require(const struct report_state *st, const struct wanted *needed, const char *what)
{
    const char *file = st->files[st->nfiles - 1];
    bool found;
    size_t missing = report_results_missing(st, needed, &found);

    if (missing == BATCH_EVENTS)
        return 0;
    if (!found)
        return fail(-ENOENT, "'%s' was recorded without the events of %s; erlsnoop report '%s' shows what it holds",
                    file, what, file);
    if (st->viewed)
        note("'%s' was recorded without %s, which %s needs, too: what follows from those is missing", file,
             event_row((enum batch_event)missing)->name, what);
    return 0;
}

static int require_asked(const struct report_state *st)
{
    int err = 0;

    if (st->asked_unknown || st->diagnoses) /* that says itself what it lacks */
        return 0;
    if (st->chosen)
        return require(st, &st->wanted, "these probes");
    for (size_t v = 0; v < VIEW_COUNT && !err; v++) {
        struct wanted needed = {{false}};

        if (st->on[v] && wanted_add(&needed, views[v].name))
            err = require(st, &needed, views[v].name);
    }
    return err;
}

static int run(struct report_state *st)
{
    int err = report_files_check(st);

    if (!err)
        err = report_files_order(st);
    if (err)
        return err;
    st->seen = recording_seen_new();
    err = st->seen ? report_counts_init(&st->counts) : fail(-ENOMEM, "out of memory");
    if (!err)
        err = report_results_begin(st);
    if (err)
        return err;
    sink_init(&st->sink, st->out, st->options->form, st->options->timestamps);
    if (st->viewed || st->chosen || st->options->events)
        err = report_files_learn(st);
    if (!err)
        err = require_asked(st);
    st->sink.one_vm = st->nvms == 1;
    if (!err)
        err = report_files_read(st);
    if (!err)
        err = report_results_until(st, st->now_ns);
    feed_until(st->feed, UINT64_MAX);
    return err == -EPIPE ? 0 : err ? err : report_results_print(st);
}

static int report(struct report_state *st)
{
    int err;

    if (!st->chosen)
        wanted_add(&st->wanted, "all");
    view_slowest_default(st->on, st->slowest);
    if (st->top && view_slowest_parse(st->on, st->top, st->slowest))
        return FAIL_USAGE;
    err = run(st);
    feed_free(st->feed);
    shares_free(&st->shares);
    recording_seen_free(st->seen);
    report_counts_free(&st->counts);
    return err ? err : st->damaged ? -EIO : 0;
}

/* For report_diff: what report FILE diagnose --json prints. */
static int diagnose_recording(const char *name, FILE *out)
{
    const struct options options = {.form = OPTIONS_FORM_jsonl};
    struct report_state *st = calloc(1, sizeof *st);
    int err;

    if (!st)
        return fail(-ENOMEM, "out of memory");
    st->files[st->nfiles++] = name;
    report_diagnose_views(st->on);
    st->viewed = st->diagnoses = true;
    st->options = &options;
    st->out = out;
    err = report(st);
    free(st);
    return err;
}

/* ---- the command line */

/* Views, with commas between. */
static bool add_views(struct report_state *st, const char *word)
{
    struct view_order order = st->order;
    bool on[VIEW_COUNT];

    memcpy(on, st->on, sizeof on);
    for (struct wanted_word w = {.next = word}; wanted_next(&w);) {
        enum view_id view = view_find(w.text, w.length);

        if (view == VIEW_COUNT || !views[view].text)
            return false;
        if (!on[view])
            order.views[order.n++] = view;
        on[view] = true;
    }
    memcpy(st->on, on, sizeof on);
    st->order = order;
    return st->viewed = true;
}

static int add_interval(struct report_state *st, const char *word)
{
    if (st->interval_ns)
        return fail(FAIL_USAGE, "unexpected argument '%s': a recording has an end, and report no count", word);
    if (!options_is_interval(word, &st->interval_ns))
        return fail(FAIL_USAGE, "interval must be seconds from 0.01 to 86400, not '%s'", word);
    return 0;
}

/* In any order: what says what is asked is no file, but for the first word that is the name of one. */
static int add_word(void *ctx, const char *word)
{
    struct report_state *st = ctx;
    bool is_file = !st->nfiles && !access(word, F_OK), numeric = !word[strspn(word, "0123456789.")];

    if (!is_file && !strcmp(word, "diagnose")) {
        report_diagnose_views(st->on);
        st->viewed = st->diagnoses = true;
        return 0;
    }
    if (st->diagnoses && st->nfiles)
        return fail(FAIL_USAGE, "unexpected argument '%s' behind diagnose", word);
    if (!is_file && add_views(st, word))
        return 0;
    if (!is_file && numeric && *word && (st->viewed || access(word, F_OK)))
        return add_interval(st, word);
    if (!is_file && wanted_add(&st->wanted, word)) {
        st->chosen = true;
        return 0;
    }
    if (st->nfiles == REPORT_FILES)
        return fail(FAIL_USAGE, "more than %d files", REPORT_FILES);
    st->files[st->nfiles++] = word;
    return 0;
}

static int set_slower(void *ctx, const char *value)
{
    ((struct report_state *)ctx)->slower = value;
    return 0;
}

static int set_top(void *ctx, const char *value)
{
    ((struct report_state *)ctx)->top = value;
    return 0;
}

static int set_by(void *ctx, const char *value)
{
    return options_choice("--by", view_bys + 1, value, &((struct report_state *)ctx)->by);
}

static int set_diff(void *ctx, const char *value)
{
    (void)value;
    ((struct report_state *)ctx)->differs = true;
    return 0;
}

static int set_rules(void *ctx, const char *value)
{
    ((struct report_state *)ctx)->asked_of.rules_path = value;
    return 0;
}

static int set_expects(void *ctx, const char *value)
{
    ((struct report_state *)ctx)->asked_of.expects = value;
    return 0;
}

static int check(const struct report_state *st, const struct options *o)
{
    if (!st->nfiles)
        return fail(FAIL_USAGE, "a file is missing; see erlsnoop report -h");
    if (st->differs && (st->nfiles != 2 || st->order.n || st->chosen || st->interval_ns || o->events || st->slower ||
                        st->top || st->by))
        return fail(FAIL_USAGE, "--diff compares two files: recordings, or what diagnose --json printed");
    if (st->interval_ns && !st->viewed)
        return fail(FAIL_USAGE, "a result each interval is one of views; see erlsnoop report -h");
    if (!st->diagnoses && (st->asked_of.rules_path || st->asked_of.expects))
        return fail(FAIL_USAGE, "--rules and --expect say what diagnose is asked: report FILE diagnose --rules FILE");
    if (st->chosen && st->viewed)
        return fail(FAIL_USAGE, "choose views, or probes");
    if (st->diagnoses && (st->order.n || st->interval_ns || o->events || st->slower || st->top || st->by))
        return fail(FAIL_USAGE, "diagnose is asked alone: without views, an interval, --events, --slower, --top, --by");
    if (st->slower && !view_has_filter(st->on, "slower"))
        return view_refuse_slower(NULL, NULL);
    if (st->top && !view_keeps_slowest(st->on))
        return view_refuse_top(NULL, NULL);
    if (st->by && !view_tells_owners(st->on))
        return view_refuse_by(NULL, NULL);
    if (o->events && st->viewed && !view_has_events(st->on))
        return view_refuse_events(NULL, NULL);
    return 0;
}

int cmd_report(int argc, char **argv)
{
    static struct report_state st;
    static const struct options_extra extras[] = {
        {"", "FILE ... [VIEWS [interval]|diagnose|PROBE ...]",
         "recordings, in any order; what is asked of them: views\n                 with commas between, a result each "
         "interval seconds;\n                 what is wrong, by their events; or probes",
         add_word, false},
        {"T", NULL, "print the time with each result", NULL, false}, /* options_parse itself sets `timestamps` */
        {"slower", "TIME", "with --events: only what took at least TIME (5ms)", set_slower, true},
        {"top", "N", VIEW_SLOWEST_TEXT, set_top, false},
        {"diff", NULL, "of two files (recordings, or what diagnose --json printed): what is new, gone, heavier",
         set_diff, false},
        {"rules", "FILE", "with diagnose: your own rules, too (see the manual)", set_rules, false},
        {"expect", "WHAT", "with diagnose: none, or the first finding: status 0 if it is so, else 1", set_expects,
         false},
        {"by", view_bys + 1, VIEW_BY_TEXT, set_by, false},
        {0}};
    static const struct options_spec spec = {
        "report", "Shows what a recording of erlsnoop trace holds.", OPTIONS_EVENTS, extras, &st, NULL};
    struct options o;
    int err = options_parse(&spec, argc, argv, &o);

    if (err || o.done)
        return err;
    err = check(&st, &o);
    err = err ? err : diagnose_asked_load(&st.asked_of);
    if (err)
        return err;
    st.options = &o;
    st.out = stdout;
    err = st.differs ? report_diff(st.files, diagnose_recording, &o) : report(&st);
    own_rules_free(st.asked_of.own);
    return err;
}
