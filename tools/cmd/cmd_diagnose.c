/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What is wrong with a VM, with whom, and what to do. Its memory is looked at again and again, and views are watched
 * meanwhile, as far as they can be had and their budget allows.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "cmd.h"
#include "common/clock.h"
#include "common/fail.h"
#include "common/options.h"
#include "common/signals.h"
#include "diagnose/findings.h"
#include "diagnose_watch.h"
#include "inspect.h"
#include "sink/sink.h"

enum {
    SHOWN = 5,
    LINE = 72,         /* columns of a line of text, behind those of the score */
    LINE_UNKNOWN = 65, /* and behind what is not known */
    LOOKS_PER_S = 5,
    LEAST_LOOKS = 8, /* fewer do not tell what grows */
    PAUSES = 9,      /* a look is followed by a pause of so many times what it took, at least */
    FOUND = 3,       /* the exit status when something was found */
    UNEXPECTED = 1,
};

static const uint64_t DEFAULT_NS = 10000000000u;

struct diagnose {
    struct options options;
    uint64_t for_ns;
    bool all;
    bool looks; /* nothing is attached */
    const char *expects; /* "none", or a rule; NULL: nothing is expected */
    struct inspected vm;
    struct sink sink;
    struct evidence *evidence;
    struct counted counted;
    struct findings found; /* by the last look, while it was one of a VM that was there */
    uint64_t begin_ns;     /* of the first look; 0: it is to come */
    int err;               /* -ENOMEM, or of the first looks; said */
    int ended;             /* why there is no more to be seen of the VM; 0: there is */
};

/* ---- options */

static int set_for(void *ctx, const char *value)
{
    struct diagnose *d = ctx;

    if (options_is_interval(value, &d->for_ns) && d->for_ns >= 1000000000u)
        return 0;
    return fail(FAIL_USAGE, "-d must be seconds from 1 to 86400, not '%s'", value);
}

static int set_all(void *ctx, const char *value)
{
    (void)value;
    ((struct diagnose *)ctx)->all = true;
    return 0;
}

static int set_looks(void *ctx, const char *value)
{
    (void)value;
    ((struct diagnose *)ctx)->looks = true;
    return 0;
}

static int set_expects(void *ctx, const char *value)
{
    if (strcmp(value, "none") && finding_find(value) == FINDING_RULES)
        return fail(FAIL_USAGE, "--expect must be none or one of the findings of the manual, not '%s'", value);
    ((struct diagnose *)ctx)->expects = value;
    return 0;
}

/* ---- looking */

static int explain(const struct diagnose *d, int err)
{
    switch (err) {
    case -ENOMEM: return fail(err, "out of memory");
    case -EBADMSG: return fail(err, "most of what stands in the memory of process %u makes no sense", d->vm.pid);
    default: return fail(err, "process %u has ended", d->vm.pid);
    }
}

/* The rules are asked at each look: who has ended has no names any more. */
static int judge_looks(struct diagnose *d)
{
    struct findings now;
    int err = findings_look(d->evidence, &now);

    findings_free(err ? &now : &d->found);
    if (!err)
        d->found = now;
    return err;
}

/*
 * Until the time is over and it was looked at LEAST_LOOKS times, or the VM ends: what was seen until then counts, if it
 * is anything. As of beat of session_ops.
 */
static uint64_t look(void *ctx)
{
    struct diagnose *d = ctx;
    struct evidence *e = d->evidence;
    uint64_t now_ns = clock_ns(CLOCK_MONOTONIC), took_ns, pause_ns;
    int err;

    d->begin_ns = d->begin_ns ? d->begin_ns : now_ns;
    if (d->ended || d->err || (now_ns >= d->begin_ns + d->for_ns && e->looks >= LEAST_LOOKS))
        return 0;
    err = evidence_look(e);
    err = err || e->looks < 2 ? err : judge_looks(d);
    if (err && e->looks >= 2)
        d->ended = err;
    else if (err)
        d->err = explain(d, err);
    if (err)
        return 0;
    took_ns = clock_ns(CLOCK_MONOTONIC) - now_ns;
    pause_ns = PAUSES * took_ns;
    return pause_ns > 1000000000u / LOOKS_PER_S ? pause_ns : 1000000000u / LOOKS_PER_S;
}

/* Looks, and watches meanwhile; where nothing can be watched, or not to the end, it goes on looking. */
static int gather(struct diagnose *d)
{
    const struct diagnose_watch watch = {d->vm.pid, d->vm.from->ours != NULL, d->options.budget, d->options.budget_said,
                                         look, d};
    uint64_t pause_ns;
    int err = 0;

    if (!d->looks)
        err = diagnose_watch_run(&watch, &d->counted);
    if (!err && (err = signals_open()) > 0)
        err = 0;
    while (!err && !signals_first_ns() && (pause_ns = look(d)))
        signals_wait(pause_ns);
    if (err || d->err)
        return err ? err : d->err;
    d->evidence->counted = d->looks ? NULL : &d->counted;
    return d->ended ? findings_count(d->evidence, &d->found) : d->evidence->looks >= 2 ? judge_looks(d) : 0;
}

/* ---- telling */

/* `text` with the words PID and WHO as they are here. */
static void fill_words(const struct diagnose *d, const struct finding *f, const char *text, char *out, size_t size)
{
    size_t used = 0;

    for (; *text && used + 1 < size; text++) {
        bool pid = !strncmp(text, "PID", 3), who = !strncmp(text, "WHO", 3);

        if (pid)
            used += (size_t)snprintf(out + used, size - used, "%u", d->vm.pid);
        else if (who)
            used += (size_t)snprintf(out + used, size - used, "0.%u.%u", ev_id_number(f->process),
                                     ev_id_serial(f->process));
        else
            out[used++] = *text;
        text += pid || who ? 2 : 0;
    }
    out[used < size ? used : size - 1] = '\0';
}

static const struct sink_column columns[] = {{"score", "SCORE", SINK_TEXT, 5}, {"finding", "FINDING", SINK_TEXT, -1}};
static const struct sink_table table = {"diagnosis", NULL, columns, 2};

/* Broken between words into lines of so many columns, below each other behind the label that the first has. */
static void print_lines(struct sink *sink, const struct sink_table *to, size_t columns, const char *first,
                        const char *label, const char *text)
{
    int indent = (int)strlen(label);
    size_t room = columns - strlen(label);
    char line[1024];

    while (*text) {
        size_t n = strlen(text);

        if (n > room) {
            for (n = room; n && text[n] != ' '; n--)
                ;
            n = n ? n : strcspn(text, " ");
        }
        snprintf(line, sizeof line, "%-*s%.*s", indent, label, (int)n, text);
        sink_row(sink, to, (struct sink_value[]){SINK_S(first), SINK_S(line)});
        text += n + (text[n] == ' ');
        label = first = "";
    }
}

static void print_text(struct sink *sink, const char *score, const char *label, const char *text)
{
    print_lines(sink, &table, LINE, score, label, text);
}

static void print_people(struct diagnose *d, const struct finding *f)
{
    const struct finding_text *t = &finding_texts[f->rule];
    char score[8], text[1024], see[256];

    snprintf(score, sizeof score, "%5d", f->score);
    snprintf(text, sizeof text, "%s%s%s", t->kind, *f->who ? ": " : "", f->who);
    print_text(&d->sink, score, "", text);
    print_text(&d->sink, "", "  ", f->what);
    print_text(&d->sink, "", "  why:  ", t->why);
    print_text(&d->sink, "", "  do:   ", t->what_to_do);
    if (f->from < FINDING_RULES)
        print_text(&d->sink, "", "  from: ", finding_texts[f->from].kind);
    fill_words(d, f, t->see, see, sizeof see);
    print_text(&d->sink, "", "  more: ", see);
}

static void print_programs(struct diagnose *d, const struct finding *f, uint64_t rank)
{
    static const struct sink_column whole_columns[] = {
        {"vm", NULL, SINK_COUNT, 0},     {"rank", NULL, SINK_COUNT, 0}, {"score", NULL, SINK_COUNT, 0},
        {"rule", NULL, SINK_TEXT, 0},    {"kind", NULL, SINK_TEXT, 0},  {"who", NULL, SINK_TEXT, 0},
        {"process", NULL, SINK_TEXT, 0}, {"what", NULL, SINK_TEXT, 0},  {"why", NULL, SINK_TEXT, 0},
        {"todo", NULL, SINK_TEXT, 0},    {"more", NULL, SINK_TEXT, 0},  {"from", NULL, SINK_TEXT, 0}};
    static const struct sink_table whole_table = {"diagnosis", NULL, whole_columns, 12};
    const struct finding_text *t = &finding_texts[f->rule];
    char pid[SNAPSHOT_PID_BYTES], see[256];

    fill_words(d, f, t->see, see, sizeof see);
    sink_row(&d->sink, &whole_table,
             (struct sink_value[]){SINK_N(d->vm.pid), SINK_N(rank), SINK_N((uint64_t)f->score), SINK_S(t->rule),
                                   SINK_S(t->kind), sink_text(f->who), sink_text(snapshot_pid_text(f->process, pid)),
                                   SINK_S(f->what), SINK_S(t->why), SINK_S(t->what_to_do), SINK_S(see),
                                   f->from < FINDING_RULES ? SINK_S(finding_texts[f->from].rule) : SINK_NONE});
}

static void print_unknown(struct diagnose *d, const char *what, const char *why)
{
    static const struct sink_column unknown_columns[] = {{"what", "NOT KNOWN", SINK_TEXT, 14},
                                                         {"why", "WHY", SINK_TEXT, -1}};
    static const struct sink_table unknown_table = {"diagnosis_not_known", NULL, unknown_columns, 2};

    if (d->sink.ops->for_programs)
        sink_row(&d->sink, &unknown_table, (struct sink_value[]){SINK_S(what), SINK_S(why)});
    else
        print_lines(&d->sink, &unknown_table, LINE_UNKNOWN, what, "", why);
}

/* Why the rule's events were not told. False: they were. */
static bool lacks_events(const struct diagnose *d, enum finding_rule rule, char *why, size_t size)
{
    enum view_id lacks;

    if (counted_serves(d->looks ? NULL : &d->counted, finding_texts[rule].needs, &lacks))
        return false;
    if (d->looks)
        snprintf(why, size, "--looks: nothing was attached");
    else if (d->counted.why[0])
        snprintf(why, size, "%s", d->counted.why);
    else if (d->counted.seconds > 0)
        snprintf(why, size,
                 "no function of this VM stands for the events of %s (erlsnoop doctor -p %u says why; an erlvm tells "
                 "them)",
                 views[lacks].name, d->vm.pid);
    else
        snprintf(why, size, "it was watched for too short a time");
    return true;
}

/* For people findings that lack the same stand in one row. */
static void print_unknown_events(struct diagnose *d)
{
    bool said[FINDING_RULES] = {false};
    char why[512], other[512], text[1024];

    for (int rule = 0; rule < FINDING_RULES; rule++) {
        if (said[rule] || !lacks_events(d, (enum finding_rule)rule, why, sizeof why))
            continue;
        if (d->sink.ops->for_programs) {
            print_unknown(d, finding_texts[rule].rule, why);
            continue;
        }
        snprintf(text, sizeof text, "%s; not looked for: %s", why, finding_texts[rule].rule);
        for (int k = rule + 1; k < FINDING_RULES; k++)
            if (lacks_events(d, (enum finding_rule)k, other, sizeof other) && !strcmp(why, other)) {
                snprintf(text + strlen(text), sizeof text - strlen(text), ", %s", finding_texts[k].rule);
                said[k] = true;
            }
        print_unknown(d, "events", text);
    }
}

/* What was told, but not all the time. */
static void print_partly_known(struct diagnose *d)
{
    const struct counted *c = &d->counted;
    char text[512];

    if (d->looks || c->seconds <= 0)
        return;
    if (c->why[0])
        snprintf(text, sizeof text, "they were watched for %.1f s only: %s", c->seconds, c->why);
    else
        snprintf(text, sizeof text,
                 "they were watched for %.0f%% of the time, as more would have cost the VM more than --budget; what is "
                 "rare may have been missed",
                 100 * c->share);
    if (c->why[0] || c->share < 0.9)
        print_unknown(d, "some events", text);
}

/* A finding that cannot be made is no all-clear. */
/* Of slices the time alone was told, not what their threads did. */
static bool lacks_threads(const struct counted *c)
{
    const struct row_sched_by_kind *row = counted_number(c, VIEW_TABLE_sched_by_kind, VIEW_SCHEDULER_NORMAL);

    return row && row->slices && !row->cpu.count;
}

static void print_unknowns(struct diagnose *d)
{
    const struct evidence *e = d->evidence;
    int ended = d->ended;
    const struct {
        bool is;
        const char *what, *why;
    } rows[] = {
        {ended != 0, "the rest", ended == -ESRCH ? "it has ended" : "its memory cannot be read any more"},
        {e->looks < LEAST_LOOKS, "what grows", "it was looked at too few times"},
        {e->looks < 4, "mailboxes", "it was looked at too few times"},
        {!e->last.has_ports, "ports", d->vm.from->no_ports[0] ? d->vm.from->no_ports : "they cannot be read"},
        {!e->has_schedulers, "schedulers", "they cannot be read"},
        {!e->has_open[PENDING_FILE], "files", "what its threads do with them cannot be read"},
        {!e->has_open[PENDING_NODE], "other nodes", "their connections cannot be read"},
        {!e->last.has_atoms, "atoms", "their number cannot be read"},
        {!e->process_limit, "limits", "how many processes there may be cannot be read"},
        {!e->last.has_threads, "processors", "/proc/PID/task/TID/schedstat cannot be read"},
        {e->unclear != 0, "some processes", "what their memory says made no sense"},
        {lacks_threads(&d->counted), "scheduler_held",
         "pages of events do not say what threads did; erlsnoop sched --source notes asks"},
        {e->left != 0, "some processes", "there are more than can be remembered"},
    };

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (rows[i].is)
            print_unknown(d, rows[i].what, rows[i].why);
    print_unknown_events(d);
    print_partly_known(d);
}

static void print_findings(struct diagnose *d)
{
    const struct findings *found = &d->found;
    size_t shown = d->all || d->sink.ops->for_programs || found->n < SHOWN ? found->n : SHOWN;

    sink_moment(&d->sink, clock_ns(CLOCK_MONOTONIC));
    for (size_t i = 0; i < shown; i++)
        if (d->sink.ops->for_programs)
            print_programs(d, &found->all[i], i + 1);
        else
            print_people(d, &found->all[i]);
    print_unknowns(d);
}

static void say_what_was_done(const struct diagnose *d)
{
    const struct evidence *e = d->evidence;
    size_t n = d->found.n, more = n > SHOWN && !d->all && !d->sink.ops->for_programs ? n - SHOWN : 0;

    note("looked %u times in %.1f s at %" PRIu64 " processes of '%s' (process %u): %zu finding%s%s", e->looks,
         evidence_seconds(e), e->last.processes, d->vm.name, d->vm.pid, n, n == 1 ? "" : "s",
         more ? "; --all prints the others too" : "");
}

/* What the exit status says. That nothing was found is no answer where the VM ended, or was hardly looked at. */
static int judge(const struct diagnose *d)
{
    const struct findings *found = &d->found;
    bool answered = found->n || (!d->ended && d->evidence->looks >= 4);

    if (!d->expects)
        return found->n ? FOUND : answered ? 0 : UNEXPECTED;
    if (!strcmp(d->expects, "none"))
        return found->n || !answered ? UNEXPECTED : 0;
    return found->n && found->all[0].rule == finding_find(d->expects) ? 0 : UNEXPECTED;
}

static int run(struct diagnose *d)
{
    int err = inspect_open(&d->options, &d->vm), status = 0;

    if (err)
        return err;
    sink_init(&d->sink, stdout, d->options.form, d->options.timestamps);
    d->evidence = evidence_new(d->vm.pid, d->vm.names, d->vm.snapshot);
    err = d->evidence ? gather(d) : explain(d, -ENOMEM);
    if (!err) {
        print_findings(d);
        err = sink_end(&d->sink);
        say_what_was_done(d);
        status = judge(d);
    }
    findings_free(&d->found);
    counted_free(&d->counted);
    evidence_free(d->evidence);
    return err ? err : status;
}

int cmd_diagnose(int argc, char **argv)
{
    struct diagnose d = {.for_ns = DEFAULT_NS};
    const struct options_extra extras[] = {
        {"d", "SECONDS", "how long it is looked at (10)", set_for, false},
        {"all", NULL, "every finding, not the first five", set_all, false},
        {"looks", NULL, "its memory alone is looked at, and nothing attached", set_looks, false},
        {"expect", "WHAT", "none, or the first finding: status 0 if it is so, else 1", set_expects, false},
        {0}};
    const struct options_spec spec = {
        "diagnose",
        "Tells what is wrong with a VM, the worst first: with whom, why, and what to do. Its memory is looked at five "
        "times a second, and its events are watched as far as rights and budget go; nothing is stopped. Status 3: "
        "something was found.",
        OPTIONS_PID | OPTIONS_BUDGET,
        extras,
        &d,
        NULL};
    int err = options_parse(&spec, argc, argv, &d.options);

    if (err || d.options.done)
        return err;
    err = run(&d);
    inspect_close(&d.vm);
    return err;
}
