/* SPDX-License-Identifier: Apache-2.0 */
#include "diagnose_unknown.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "diagnose/own_rules.h"

struct unknowns {
    const struct diagnosis *d;
    void (*take)(void *ctx, const char *what, const char *why);
    void *ctx;
};

static void add(const struct unknowns *t, const char *what, const char *why)
{
    t->take(t->ctx, what, why);
}

/* ---- events */

/* Why the rule's events were not told. False: they were. */
static bool lacks_events(const struct diagnosis *d, enum finding_rule rule, char *why, size_t size)
{
    enum view_id lacks;

    if (counted_serves(d->counted, finding_texts[rule].needs, &lacks))
        return false;
    if (!d->counted)
        snprintf(why, size, "--looks: nothing was attached");
    else if (d->file)
        snprintf(why, size, "it was recorded without events of %s", views[lacks].name);
    else if (d->counted->why[0])
        snprintf(why, size, "%s", d->counted->why);
    else if (d->counted->seconds > 0)
        snprintf(why, size,
                 "no function of this VM stands for the events of %s (erlsnoop doctor -p %u says why; an erlvm has "
                 "them)",
                 views[lacks].name, d->pid);
    else
        snprintf(why, size, "it was watched for too short a time");
    return true;
}

static void add_each_rule(const struct unknowns *t)
{
    char why[512];

    for (int rule = 0; rule < FINDING_RULES; rule++)
        if (lacks_events(t->d, (enum finding_rule)rule, why, sizeof why))
            add(t, finding_texts[rule].rule, why);
}

static void add_rules_together(const struct unknowns *t)
{
    bool said[FINDING_RULES] = {false};
    char why[512], other[512], text[1024];

    for (int rule = 0; rule < FINDING_RULES; rule++) {
        if (said[rule] || !lacks_events(t->d, (enum finding_rule)rule, why, sizeof why))
            continue;
        snprintf(text, sizeof text, "%s; not looked for: %s", why, finding_texts[rule].rule);
        for (int k = rule + 1; k < FINDING_RULES; k++)
            if (lacks_events(t->d, (enum finding_rule)k, other, sizeof other) && !strcmp(why, other)) {
                snprintf(text + strlen(text), sizeof text - strlen(text), ", %s", finding_texts[k].rule);
                said[k] = true;
            }
        add(t, "events", text);
    }
}

/* What was told, but not all the time. */
static void add_partly_known(const struct unknowns *t)
{
    const struct counted *c = t->d->counted;
    char text[512];

    if (!c || c->seconds <= 0)
        return;
    if (c->why[0])
        snprintf(text, sizeof text, "they were watched for %.1f s only: %s", c->seconds, c->why);
    else
        snprintf(text, sizeof text,
                 "they were watched for %.0f%% of the time, as more would have cost the VM more than --budget; what is "
                 "rare may have been missed",
                 100 * c->share);
    if (c->why[0] || c->share < 0.9)
        add(t, "some events", text);
}

/* Of slices the time alone was told, not what their threads did. */
static bool lacks_threads(const struct counted *c)
{
    const struct row_sched_by_kind *row = counted_number(c, VIEW_TABLE_sched_by_kind, VIEW_SCHEDULER_NORMAL);

    return row && row->slices && !row->cpu.count;
}

/* ---- looks */

static bool lacks_sizes(const struct evidence *e)
{
    for (const struct evidence_table *t = e->tables; t; t = t->hh.next)
        if (!t->last.counted)
            return true;
    return false;
}

static void add_looks(const struct unknowns *t)
{
    const struct evidence *e = t->d->evidence;
    int ended = t->d->ended;
    const char *no_ports = t->d->no_ports;
    const struct {
        bool is;
        const char *what, *why;
    } rows[] = {
        {ended != 0, "the rest", ended == -ESRCH ? "it has ended" : "its memory cannot be read any more"},
        {e->looks < DIAGNOSIS_LEAST_LOOKS, "what grows", "it was looked at too few times"},
        {e->looks < 4, "mailboxes", "it was looked at too few times"},
        {!e->last.has_ports, "ports", no_ports[0] ? no_ports : "they cannot be read"},
        {!e->last.has_tables, "ETS tables", "they cannot be read"},
        {lacks_sizes(e), "some ETS tables", "how large they are cannot be read"},
        {!e->waits_ns, "who waits", "whom processes watch cannot be read"},
        {e->waits_ns && e->waits_ns < e->first.ns + EVIDENCE_HANGS_S * 1000000000ull, "calls_hang",
         "it was looked at for too short a time: -d 4 is enough"},
        {!e->has_schedulers, "schedulers", "they cannot be read"},
        {e->has_schedulers && e->tripwires.no_sleepers, "scheduler_asleep", e->tripwires.no_sleepers},
        {!e->tripwires.purger, "purge_hangs", "no process is registered as erts_code_purger"},
        {!e->has_open[PENDING_FILE], "files", "what its threads do with them cannot be read"},
        {!e->has_open[PENDING_NODE], "other nodes", "their connections cannot be read"},
        {!e->last.has_atoms, "atoms", "their number cannot be read"},
        {!e->process_limit, "limits", "how many processes there may be cannot be read"},
        {!e->last.has_threads, "processors", "/proc/PID/task/TID/schedstat cannot be read"},
        {e->no_quota[0] != '\0', "throttled", e->no_quota},
        {!e->sweeper.id, "literals_swept", "no process began as erts_literal_area_collector:start/0"},
        {!e->samples, "table_contended", "--looks: its threads were not sampled"},
        {e->contention.why[0] != '\0', "table_contended", e->contention.why},
        {e->no_sends[0] != '\0', "sends_held", e->no_sends},
        {e->unclear != 0, "some processes", "what their memory says made no sense"},
        {lacks_threads(t->d->counted), "scheduler_held",
         "pages of events do not say what threads did; erlsnoop sched --source notes asks"},
        {e->left != 0, "some processes", "there are more processes or tables than can be remembered"},
    };

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (rows[i].is)
            add(t, rows[i].what, rows[i].why);
}

static const char no_memory[] = "a recording holds events; what a VM's memory holds is not in it";

/* Of a recording: what only memory tells. */
static void add_unseen(const struct unknowns *t, bool by_rule)
{
    char text[2048];
    size_t used = (size_t)snprintf(text, sizeof text, "%s; not looked for:", no_memory);

    for (int rule = 0; rule < FINDING_RULES; rule++) {
        if (finding_needs_events((enum finding_rule)rule))
            continue;
        if (by_rule)
            add(t, finding_texts[rule].rule, no_memory);
        else if (used < sizeof text)
            used += (size_t)snprintf(text + used, sizeof text - used, " %s", finding_texts[rule].rule);
    }
    if (!by_rule)
        add(t, "memory", text);
}

/* ---- a team's own rules */

enum { MORE_BYTES = 32 };

struct unasked {
    const struct unknowns *t;
    const char *why;
    bool by_rule;
    char text[2048];
    size_t used, n, left; /* left: whose names have no room in the text */
};

static void take_unasked(void *ctx, const char *rule)
{
    struct unasked *u = ctx;

    if (u->by_rule)
        add(u->t, rule, u->why);
    else if (u->used + strlen(rule) + MORE_BYTES < sizeof u->text)
        u->used += (size_t)snprintf(u->text + u->used, sizeof u->text - u->used, "%s %s", u->n ? "," : "", rule);
    else
        u->left++;
    u->n++;
}

static void add_own(const struct unknowns *t, bool by_rule)
{
    const struct evidence *e = t->d->evidence;
    struct unasked u = {.t = t, .by_rule = by_rule};

    u.why = t->d->file ? no_memory : e->halted ? "nothing of it runs" : "it was looked at too few times";
    u.used = (size_t)snprintf(u.text, sizeof u.text, "%s; not looked for:", u.why);
    own_rules_unasked(e->own, take_unasked, &u);
    if (u.left)
        snprintf(u.text + u.used, sizeof u.text - u.used, " and %zu more", u.left);
    if (u.n && !by_rule)
        add(t, "your own rules", u.text);
    own_rules_lacks(e->own, t->take, t->ctx);
}

void diagnosis_unknown(const struct diagnosis *d, bool by_rule,
                       void (*take)(void *ctx, const char *what, const char *why), void *ctx)
{
    const struct unknowns t = {d, take, ctx};

    if (d->file)
        add_unseen(&t, by_rule);
    else
        add_looks(&t);
    if (by_rule)
        add_each_rule(&t);
    else
        add_rules_together(&t);
    add_partly_known(&t);
    add_own(&t, by_rule);
}
