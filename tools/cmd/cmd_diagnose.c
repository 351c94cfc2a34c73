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
#include "common/whole_file.h"
#include "diagnose_asked.h"
#include "diagnose_page.h"
#include "diagnose_print.h"
#include "diagnose_watch.h"
#include "inspect.h"
#include "otp/names.h"
#include "target/memory.h"

enum {
    SHOWN = 5,
    LOOKS_PER_S = 5,
    PAUSES = 9,      /* a look is followed by a pause of so many times what it took, at least */
};

static const uint64_t DEFAULT_NS = 10000000000u;

struct diagnose {
    struct options options;
    uint64_t for_ns;
    bool all;
    bool looks; /* nothing is attached */
    struct diagnose_asked asked;
    const char *page_path;
    struct whole_file page;
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
    ((struct diagnose *)ctx)->asked.expects = value;
    return 0;
}

static int set_page(void *ctx, const char *value)
{
    ((struct diagnose *)ctx)->page_path = value;
    return 0;
}

static int set_rules(void *ctx, const char *value)
{
    ((struct diagnose *)ctx)->asked.rules_path = value;
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

/* Whether its memory can be read, past what was read of it before. */
static bool is_there(const struct diagnose *d)
{
    struct memory *memory = names_memory(d->vm.names, d->vm.pid);
    char byte;

    return memory && memory_file_read(memory_file(memory), d->vm.from->layout.procs, &byte, sizeof byte);
}

/*
 * The rules are asked at each look: who has ended has no names any more. Where it ended while they were asked, what
 * they said before holds.
 */
static int judge_looks(struct diagnose *d)
{
    struct findings now;
    int err = findings_look(d->evidence, &now);
    bool holds = !err && (!d->found.n || is_there(d));

    findings_free(holds ? &d->found : &now);
    if (holds)
        d->found = now;
    return err;
}

/*
 * Until the time is over and it was looked at DIAGNOSIS_LEAST_LOOKS times, or the VM ends: what was seen until then
 * counts, if it is anything. As of beat of session_ops.
 */
static uint64_t look(void *ctx)
{
    struct diagnose *d = ctx;
    struct evidence *e = d->evidence;
    uint64_t now_ns = clock_ns(CLOCK_MONOTONIC), began_ns = clock_ns(CLOCK_THREAD_CPUTIME_ID), pause_ns;
    int err;

    d->begin_ns = d->begin_ns ? d->begin_ns : now_ns;
    if (d->ended || d->err || (now_ns >= d->begin_ns + d->for_ns && e->looks >= DIAGNOSIS_LEAST_LOOKS))
        return 0;
    err = evidence_look(e);
    err = err || e->looks < 2 ? err : judge_looks(d);
    if (err && e->looks >= 2)
        d->ended = err;
    else if (err)
        d->err = explain(d, err);
    if (err)
        return 0;
    /* Where a processor is waited for, which is where one asks, what the look cost is less than how long it lasted. */
    pause_ns = PAUSES * (clock_ns(CLOCK_THREAD_CPUTIME_ID) - began_ns);
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

static size_t shown(const struct diagnose *d)
{
    return d->all || d->sink.ops->for_programs || d->found.n < SHOWN ? d->found.n : SHOWN;
}

static void say_what_was_done(const struct diagnose *d)
{
    const struct evidence *e = d->evidence;
    size_t n = d->found.n;

    note("looked %u times in %.1f s at %" PRIu64 " processes of '%s' (process %u): %zu finding%s%s", e->looks,
         evidence_seconds(e), e->last.processes, d->vm.name, d->vm.pid, n, n == 1 ? "" : "s",
         n > shown(d) ? "; --all prints the others too" : "");
}

/* That nothing was found is no answer where the VM ended, or was hardly looked at. */
static int judge(const struct diagnose *d)
{
    return diagnose_asked_status(&d->asked, &d->found, !d->ended && d->evidence->looks >= 4);
}

static int write_page(struct diagnose *d, const struct diagnosis *diagnosis)
{
    FILE *out = d->page_path ? whole_file_begin(&d->page) : NULL;

    if (!d->page_path)
        return 0;
    return whole_file_end(&d->page, out ? diagnosis_write_page(diagnosis, out) : -ENOMEM);
}

static int answer(struct diagnose *d)
{
    const struct diagnosis diagnosis = {.pid = d->vm.pid,
                                   .name = d->vm.name,
                                   .no_ports = d->vm.from->no_ports,
                                   .evidence = d->evidence,
                                   .counted = d->looks ? NULL : &d->counted,
                                   .found = &d->found,
                                   .ended = d->ended};
    int err, other;

    diagnosis_print(&diagnosis, &d->sink, shown(d));
    err = sink_end(&d->sink);
    other = write_page(d, &diagnosis);
    say_what_was_done(d);
    return err ? err : other;
}

static int run(struct diagnose *d)
{
    int err = whole_file_open(&d->page, d->page_path), status = 0;

    err = err ? err : inspect_open(&d->options, &d->vm);
    if (err)
        return err;
    sink_init(&d->sink, stdout, d->options.form, d->options.timestamps);
    d->evidence = evidence_new(d->vm.pid, d->vm.names, d->vm.snapshot);
    if (d->evidence) {
        d->evidence->own = d->asked.own;
        d->evidence->samples = !d->looks;
    }
    err = d->evidence ? gather(d) : explain(d, -ENOMEM);
    if (!err) {
        err = answer(d);
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
        {"html", "FILE", "one page for a ticket, with every finding", set_page, false},
        {"rules", "FILE", "your own rules, too (see the manual)", set_rules, false},
        {"expect", "WHAT", "none, or the first finding: status 0 if it is so, else 1", set_expects, false},
        {0}};
    const struct options_spec spec = {
        "diagnose",
        "Finds what is wrong with a VM, the worst first: with whom, why, and what to do. Its memory is looked at five "
        "times a second, and its events are watched as far as rights and budget go; nothing is stopped. Status 3: "
        "something was found.",
        OPTIONS_PID | OPTIONS_BUDGET,
        extras,
        &d,
        NULL};
    int err = options_parse(&spec, argc, argv, &d.options);

    if (err || d.options.done)
        return err;
    err = diagnose_asked_load(&d.asked);
    if (!err) {
        err = run(&d);
        inspect_close(&d.vm);
    }
    own_rules_free(d.asked.own);
    return err;
}
