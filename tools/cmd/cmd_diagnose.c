/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What is wrong with a VM, with whom, and what to do. Its memory is looked at again and again; nothing is probed and
 * nothing stops.
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
#include "inspect.h"
#include "sink/sink.h"

enum {
    SHOWN = 5,
    LINE = 72, /* columns of a line of text, behind those of the score */
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
    const char *expects; /* "none", or a rule; NULL: nothing is expected */
    struct inspected vm;
    struct sink sink;
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
static int judge_looks(const struct evidence *e, struct findings *found)
{
    struct findings now;
    int err = findings_look(e, &now);

    findings_free(err ? &now : found);
    if (!err)
        *found = now;
    return err;
}

/*
 * Until the time is over and it was looked at LEAST_LOOKS times, or somebody ends it, or the VM does: what was seen
 * until then counts, if it is anything, and *ended says why there is no more.
 */
static int look(const struct diagnose *d, struct evidence *e, struct findings *found, int *ended)
{
    uint64_t begin_ns = clock_ns(CLOCK_MONOTONIC), now_ns = begin_ns, pause_ns;

    *ended = 0;
    while (now_ns < begin_ns + d->for_ns || e->looks < LEAST_LOOKS) {
        int err = evidence_look(e);

        err = err || e->looks < 2 ? err : judge_looks(e, found);
        if (err && e->looks >= 2)
            *ended = err;
        if (err)
            return *ended ? 0 : explain(d, err);
        pause_ns = PAUSES * (clock_ns(CLOCK_MONOTONIC) - now_ns);
        if (pause_ns < 1000000000u / LOOKS_PER_S)
            pause_ns = 1000000000u / LOOKS_PER_S;
        if (signals_wait(pause_ns))
            break;
        now_ns = clock_ns(CLOCK_MONOTONIC);
    }
    return 0;
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

/* Broken between words into lines, below each other behind the label that the first has. */
static void print_text(struct sink *sink, const char *score, const char *label, const char *text)
{
    int indent = (int)strlen(label);
    size_t room = LINE - strlen(label);
    char line[1024];

    while (*text) {
        size_t n = strlen(text);

        if (n > room) {
            for (n = room; n && text[n] != ' '; n--)
                ;
            n = n ? n : strcspn(text, " ");
        }
        snprintf(line, sizeof line, "%-*s%.*s", indent, label, (int)n, text);
        sink_row(sink, &table, (struct sink_value[]){SINK_S(score), SINK_S(line)});
        text += n + (text[n] == ' ');
        label = score = "";
    }
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
    fill_words(d, f, t->see, see, sizeof see);
    print_text(&d->sink, "", "  more: ", see);
}

static void print_programs(struct diagnose *d, const struct finding *f, uint64_t rank)
{
    static const struct sink_column whole_columns[] = {
        {"vm", NULL, SINK_COUNT, 0},     {"rank", NULL, SINK_COUNT, 0}, {"score", NULL, SINK_COUNT, 0},
        {"rule", NULL, SINK_TEXT, 0},    {"kind", NULL, SINK_TEXT, 0},  {"who", NULL, SINK_TEXT, 0},
        {"process", NULL, SINK_TEXT, 0}, {"what", NULL, SINK_TEXT, 0},  {"why", NULL, SINK_TEXT, 0},
        {"todo", NULL, SINK_TEXT, 0},    {"more", NULL, SINK_TEXT, 0}};
    static const struct sink_table whole_table = {"diagnosis", NULL, whole_columns, 11};
    const struct finding_text *t = &finding_texts[f->rule];
    char pid[SNAPSHOT_PID_BYTES], see[256];

    fill_words(d, f, t->see, see, sizeof see);
    sink_row(&d->sink, &whole_table,
             (struct sink_value[]){SINK_N(d->vm.pid), SINK_N(rank), SINK_N((uint64_t)f->score), SINK_S(t->rule),
                                   SINK_S(t->kind), sink_text(f->who), sink_text(snapshot_pid_text(f->process, pid)),
                                   SINK_S(f->what), SINK_S(t->why), SINK_S(t->what_to_do), SINK_S(see)});
}

static void print_unknown(struct diagnose *d, const char *what, const char *why)
{
    static const struct sink_column unknown_columns[] = {{"what", "NOT KNOWN", SINK_TEXT, 14},
                                                         {"why", "WHY", SINK_TEXT, -1}};
    static const struct sink_table unknown_table = {"diagnosis_not_known", NULL, unknown_columns, 2};

    sink_row(&d->sink, &unknown_table, (struct sink_value[]){SINK_S(what), SINK_S(why)});
}

/* A finding that cannot be made is no all-clear. */
static void print_unknowns(struct diagnose *d, const struct evidence *e, int ended)
{
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
        {e->left != 0, "some processes", "there are more than can be remembered"},
    };

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (rows[i].is)
            print_unknown(d, rows[i].what, rows[i].why);
}

static void print_findings(struct diagnose *d, const struct evidence *e, const struct findings *found, int ended)
{
    size_t shown = d->all || d->sink.ops->for_programs || found->n < SHOWN ? found->n : SHOWN;

    sink_moment(&d->sink, clock_ns(CLOCK_MONOTONIC));
    for (size_t i = 0; i < shown; i++)
        if (d->sink.ops->for_programs)
            print_programs(d, &found->all[i], i + 1);
        else
            print_people(d, &found->all[i]);
    print_unknowns(d, e, ended);
}

static void say_what_was_done(const struct diagnose *d, const struct evidence *e, const struct findings *found)
{
    size_t more = found->n > SHOWN && !d->all && !d->sink.ops->for_programs ? found->n - SHOWN : 0;

    note("looked %u times in %.1f s at %" PRIu64 " processes of '%s' (process %u): %zu finding%s%s", e->looks,
         evidence_seconds(e), e->last.processes, d->vm.name, d->vm.pid, found->n, found->n == 1 ? "" : "s",
         more ? "; --all prints the others too" : "");
}

/* What the exit status says. That nothing was found is no answer where the VM ended, or was hardly looked at. */
static int judge(const struct diagnose *d, const struct evidence *e, const struct findings *found, int ended)
{
    bool answered = found->n || (!ended && e->looks >= 4);

    if (!d->expects)
        return found->n ? FOUND : answered ? 0 : UNEXPECTED;
    if (!strcmp(d->expects, "none"))
        return found->n || !answered ? UNEXPECTED : 0;
    return found->n && found->all[0].rule == finding_find(d->expects) ? 0 : UNEXPECTED;
}

static int run(struct diagnose *d)
{
    struct findings found = {0};
    struct evidence *e;
    int err = inspect_open(&d->options, &d->vm), ended = 0, status = 0;

    if (!err && (err = signals_open()) > 0)
        err = 0;
    if (err)
        return err;
    sink_init(&d->sink, stdout, d->options.form, d->options.timestamps);
    e = evidence_new(d->vm.pid, d->vm.names, d->vm.snapshot);
    err = e ? look(d, e, &found, &ended) : explain(d, -ENOMEM);
    if (!err) {
        print_findings(d, e, &found, ended);
        err = sink_end(&d->sink);
        say_what_was_done(d, e, &found);
        status = judge(d, e, &found, ended);
    }
    findings_free(&found);
    evidence_free(e);
    return err ? err : status;
}

int cmd_diagnose(int argc, char **argv)
{
    struct diagnose d = {.for_ns = DEFAULT_NS};
    const struct options_extra extras[] = {
        {"d", "SECONDS", "how long it is looked at (10)", set_for, false},
        {"all", NULL, "every finding, not the first five", set_all, false},
        {"expect", "WHAT", "none, or the first finding: status 0 if it is so, else 1", set_expects, false},
        {0}};
    const struct options_spec spec = {
        "diagnose",
        "Tells what is wrong with a VM, the worst first: with whom, why, and what to do. Its memory is looked at five "
        "times a second; nothing is probed or stopped. Status 3: something was found.",
        OPTIONS_PID,
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
