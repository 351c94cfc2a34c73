/* SPDX-License-Identifier: Apache-2.0 */
/* Invariant: a verdict is what the subcommand's own program and the VM's own plan say; nothing is attached. */
#include "verdict.h"

#include <stdio.h>
#include <string.h>

#include "batch_source.h"
#include "event/event.h"
#include "probe/attach.h"
#include "probe/kernel.h"
#include "probe/plan.h"
#include "view/view_select.h"

#include "views.skel.h"

enum {
#define VIEW(view, family, text, what) AT_##view,
#include "../../bpf/views.def"
    AT_STACKS
};
const char *const verdict_commands[VERDICT_COMMANDS] = {
#define VIEW(view, family, text, what) #view,
#include "../../bpf/views.def"
    [AT_STACKS] = "stacks"};

bool verdict_serves(const struct plan *plan, enum view_id view)
{
    bool serves = false;

    for (size_t i = 0; i < view_nons; i++) {
        enum plan_probe probe = plan_find_probe(view_ons[i].probe);
        enum plan_source source = plan->events[probe].source;

        if (view_ons[i].view != view || !view_ons[i].args)
            continue;
        if (source == PLAN_NONE && view_ons[i].source & VIEW_BY_HOOK && !plan_is_extra(probe))
            return false;
        if (!(view_ons[i].source & VIEW_BY_HOOK) && plan_lacks_vital(plan, probe))
            return false;
        serves |= source != PLAN_NONE && view_ons[i].source & (source == PLAN_HOOK ? VIEW_BY_HOOK : VIEW_BY_NOTE);
    }
    return serves;
}

/* How a VM has a probe, as rows of missing.def say it; no row is of the notes of an erlvm. */
enum missing_source { MISSING_NONE, MISSING_HOOK, MISSING_OTP, MISSING_PAGES, MISSING_NOTHING };

static const struct missing {
    enum view_id view;
    enum plan_probe probe;
    enum missing_source source;
    const char *text;
} missings[] = {
#define MISSING(view, probe, source, text) {VIEW_##view, PLAN_##probe, MISSING_##source, text},
#include "view/missing.def"
};

static enum missing_source find_missing_source(const struct target *t, const struct plan *plan, enum plan_probe probe)
{
    switch (plan->events[probe].source) {
    case PLAN_NONE: return MISSING_NONE;
    case PLAN_HOOK: return MISSING_HOOK;
    default: return t->provider->hooks ? MISSING_OTP : MISSING_NOTHING;
    }
}

static void add_missing(char out[VERDICT_BYTES], const char *text)
{
    size_t used = strlen(out);

    snprintf(out + used, VERDICT_BYTES - used, "%s%s", used ? ", " : "", text);
}

/* Whether a column before it, in another table of the view, is about the same and has its name. */
static bool is_named_before(size_t column)
{
    const struct view_column *c = &view_columns[column];

    for (size_t i = 0; i < column; i++)
        if (view_columns[i].head && !strcmp(view_columns[i].head, c->head) &&
            view_column_event(&view_columns[i]) == view_column_event(c) &&
            view_table(view_columns[i].table)->view == view_table(c->table)->view)
            return true;
    return false;
}

/* Rows of missing.def, then columns that one event alone tells which this VM has not. */
void verdict_missing(const struct target *t, const struct plan *plan, enum view_id view, char out[VERDICT_BYTES])
{
    out[0] = '\0';
    for (size_t i = 0; i < sizeof missings / sizeof *missings; i++)
        if (missings[i].view == view && missings[i].source == find_missing_source(t, plan, missings[i].probe))
            add_missing(out, missings[i].text);
    for (size_t i = 0; i < view_ncolumns; i++) {
        enum batch_event event = view_column_event(&view_columns[i]);

        if (event < BATCH_EVENTS && view_columns[i].head && view_table(view_columns[i].table)->view == view &&
            plan->events[plan_find_probe(event_row(event)->name)].source == PLAN_NONE && !is_named_before(i))
            add_missing(out, view_columns[i].head);
    }
}

void verdict_missing_of_pages(enum view_id view, char out[VERDICT_BYTES])
{
    out[0] = '\0';
    for (size_t i = 0; i < sizeof missings / sizeof *missings; i++)
        if (missings[i].view == view && missings[i].source == MISSING_PAGES)
            add_missing(out, missings[i].text);
}

static void tell_missing(const struct target *t, const struct plan *plan, enum view_id view, struct verdict *v)
{
    char missing[VERDICT_BYTES];
    size_t used = strlen(v->text);

    if (batch_source_serves(t))
        verdict_missing_of_pages(view, missing);
    else
        verdict_missing(t, plan, view, missing);
    if (*missing)
        snprintf(v->text + used, sizeof v->text - used, "; no %s", missing);
}

static struct verdict judge_notes_and_hooks(const struct bpf_object_skeleton *skeleton, const struct target *t,
                                            const struct plan *plan)
{
    enum plan_probe lacks = PLAN_NEVENTS;
    enum plan_source source = skeleton ? attach_serves(*skeleton->obj, t, plan, &lacks) : PLAN_NONE;
    const char *why = plan->refused[0]                                     ? plan->refused
                      : lacks < PLAN_NEVENTS && plan->events[lacks].why[0] ? plan->events[lacks].why
                                                                           : NULL;
    struct verdict v = {.works = source != PLAN_NONE};

    if (v.works)
        snprintf(v.text, sizeof v.text, source == PLAN_HOOK ? "by hooks" : "the VM's own notes");
    else if (why)
        snprintf(v.text, sizeof v.text, "%s", why);
    else
        snprintf(v.text, sizeof v.text, "no %s here%s", lacks < PLAN_NEVENTS ? plan_probe_name(lacks) : "event for it",
                 lacks == PLAN_NEVENTS && t->provider->hooks ? "; erlvm has one, see the manual" : "");
    return v;
}

/* stacks needs no event by name: it reads the memory of an emulator whose layout is known. */
static struct verdict judge_memory(const struct target *t, const struct plan *plan)
{
    struct verdict v = {.works = plan->vm != NULL};

    snprintf(v.text, sizeof v.text, "%s",
             v.works && !kernel_has(KERNEL_LOOP)
                 ? "the VM's memory is read; not with --off-cpu and --event on this kernel"
             : v.works             ? "the VM's memory is read"
             : !t->provider->hooks ? plan->unread
             : plan->refused[0]    ? plan->refused
                                   : "the VM is not up yet");
    return v;
}

void verdict_all(const struct target *t, const struct plan *plan, struct verdict *out)
{
    struct views *all = views__open();

    for (size_t i = 0; i < AT_STACKS; i++) {
        enum view_id view = view_find(verdict_commands[i], strlen(verdict_commands[i]));
        bool on[VIEW_COUNT] = {false};

        on[view] = true;
        if (all)
            view_select(all->obj, on, false);
        out[i] = judge_notes_and_hooks(all ? all->skeleton : NULL, t, plan);
        if (out[i].works && batch_source_serves(t))
            snprintf(out[i].text, sizeof out[i].text, "its pages of events; with --source notes its notes");
        if (out[i].works)
            tell_missing(t, plan, view, &out[i]);
    }
    out[AT_STACKS] = judge_memory(t, plan);
    views__destroy(all);
}
