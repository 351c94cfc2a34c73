/* SPDX-License-Identifier: Apache-2.0 */
/* Records events of VMs; what they tell is looked at by erlsnoop report, but for a threshold that asks for the file. */
#include "cmd.h"

#include <string.h>

#include "common/fail.h"
#include "recording/recorder.h"
#include "session/engine.h"
#include "view/when.h"

struct trace {
    struct recorder recorder; /* first, for its options */
    bool chosen;              /* words chose what is wanted */
    bool notes_only;          /* erlvms too are asked by their notes */
    struct when when;         /* that asks for memory to be written; text NULL: none */
};

/* Each second is judged for itself. What is asked for once is not asked for again before it was not so for a second. */
static int judge(void *ctx, struct session *s, const struct result_source *source, struct result_reader *gathered)
{
    struct trace *t = ctx;

    (void)s, (void)source;
    if (when_look(&t->when, gathered))
        recorder_dump(&t->recorder, t->when.text);
    return 0;
}

static int run(struct trace *t, struct options *o)
{
    struct engine_question question = {.silent = true, .recorder = &t->recorder, .notes_only = t->notes_only};
    int err;

    if (t->when.text) {
        question.on[t->when.view] = true;
        question.readers[question.nreaders++] =
            (struct engine_reader){.result = judge, .ctx = t, .whole = true, .gathered.wants = RESULT_SUMS};
        o->interval_ns = 1000000000;
    }
    err = engine_run(&question, o);
    recorder_end(&t->recorder, false, NULL);
    return err ? err : t->recorder.err < 0 ? t->recorder.err : 0;
}

/* ---- the command line */

static int set_when(void *ctx, const char *value)
{
    return when_parse(value, &((struct trace *)ctx)->when);
}

static int set_source(void *ctx, const char *value)
{
    unsigned chosen;
    int err = options_choice("--source", OPTIONS_SOURCES, value, &chosen);

    ((struct trace *)ctx)->notes_only = chosen == 1;
    return err;
}

/* What was asked of a live view is not quietly left out of a recording. */
static int refuse_budget(void *ctx, const char *value)
{
    (void)ctx, (void)value;
    return fail(FAIL_USAGE,
                "trace keeps no budget, as a recording with holes is none; name the probes or views that are "
                "needed, or watch live");
}

static int add_wanted(void *ctx, const char *word)
{
    struct trace *t = ctx;
    uint64_t ns;

    t->chosen = true;
    if (options_is_interval(word, &ns))
        return fail(FAIL_USAGE, "trace has no interval: --max-time %ss --files 1 ends a recording after that time",
                    word);
    for (struct wanted_word w = {.next = word}; wanted_next(&w);) {
        const char *meant = wanted_guess(&w);

        if (wanted_add_word(&t->recorder.wanted, &w))
            continue;
        return fail(FAIL_USAGE, "no probe, family of probes or view is called '%.*s'%s%s%s see erlsnoop trace -h",
                    (int)w.length, w.text, meant ? "; did you mean '" : "", meant ? meant : "", meant ? "'? Or" : ";");
    }
    return 0;
}

int cmd_trace(int argc, char **argv)
{
    static struct trace t = {.recorder.plan.files = 2};
    static const struct options_extra own[] = {
        {"source", OPTIONS_SOURCES, "an erlvm's events by batches of them (unless said) or by notes", set_source,
         false},
        {"budget", "SHARE", NULL, refuse_budget, false},
        {"when", "WHAT", "with --ring: also write it when 'msglat.p99 > 50ms' or so", set_when, false}};
    struct options_extra extras[1 + RECORDER_NOPTIONS + sizeof own / sizeof *own + 1] = {
        {"", "[PROBE ...]", "probes, their families, views, all; or all but functions", add_wanted, false}};
    const struct options_spec spec = {"trace", "Records events, for erlsnoop report.", OPTIONS_TARGET, extras, &t,
                                      NULL};
    struct options o;
    int err;

    memcpy(extras + 1, recorder_options, sizeof recorder_options);
    memcpy(extras + 1 + RECORDER_NOPTIONS, own, sizeof own);
    err = options_parse(&spec, argc, argv, &o);
    if (err || o.done)
        return err;
    err = recorder_check(&t.recorder, "trace");
    if (err)
        return err;
    if (t.when.text && !t.recorder.plan.ring_ns)
        return fail(FAIL_USAGE, "--when needs --ring; see erlsnoop trace -h");
    if (!t.chosen)
        wanted_default(&t.recorder.wanted);
    if (t.when.text)
        wanted_add(&t.recorder.wanted, views[t.when.view].name);
    return run(&t, &o);
}
