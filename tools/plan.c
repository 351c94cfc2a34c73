/* SPDX-License-Identifier: Apache-2.0 */
/* Invariant: an event has all the hooks that stand for it in this release, or none. */
#include "plan.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fail.h"
#include "uprobe.h"

#include "../bpf/efile.h"

static const char *const probe_names[] = {
#define PROBE(probe, family, nargs, watch, text) #probe,
#include "../vm/probes.def"
#define EVENT(event) #event,
#include "providers.def"
};

static const struct row {
    enum plan_probe probe;
    enum otp_side side;
    uint32_t first, last;
    const char *symbol;
    uint32_t which;
    const char *regs;
} rows[] = {
#define HOOK(probe, side, first, last, symbol, which, regs) {PLAN_##probe, OTP_##side, first, last, symbol, which, regs},
#include "providers.def"
};
enum { NROWS = sizeof rows / sizeof *rows };

const char *plan_probe_name(enum plan_probe probe)
{
    return probe_names[probe];
}

enum plan_probe plan_find_probe(const char *name)
{
    size_t i = 0;

    while (i < PLAN_NEVENTS && strcmp(probe_names[i], name))
        i++;
    return (enum plan_probe)i;
}

static bool has_note(const struct target *t, const char *probe)
{
    struct provider_site site;
    size_t cursor = 0;

    return t->provider->ops->next_site(t->elf, probe, &cursor, &site) == 1;
}

static void plan_notes(struct plan *p, const struct target *t)
{
    for (size_t i = 0; i < PLAN_NPROBES; i++) {
        const char *silent = provider_silent(t->provider, t->elf, probe_names[i]);

        if (!has_note(t, probe_names[i]))
            continue;
        p->events[i].source = PLAN_NOTE;
        snprintf(p->events[i].why, sizeof p->events[i].why, "%s", silent ? silent : "");
    }
}

/* Whether hooks are better than what the event has. */
static bool wants_hooks(const struct plan *p, enum plan_probe probe)
{
    return p->events[probe].source == PLAN_NONE || p->events[probe].why[0];
}

/*
 * A function that is hooked at entry and return has one place for both where there is one, so that it traps once:
 * the registers of the entry stand there, and the stack pointer is that of the entry.
 */
static int slide_both(struct plan *p, const struct row *row, const struct otp_place *place, struct otp_site *site)
{
    const struct row *entry = NULL, *back = NULL;
    char why[128];

    for (const struct row *other = rows; other < rows + NROWS; other++) {
        if (strcmp(other->symbol, row->symbol))
            continue;
        if (other->side == OTP_ENTRY)
            entry = other;
        else
            back = other;
    }
    if (!entry || !back)
        return -ENOENT;
    return otp_slide(otp_symbols_image(p->vm->symbols), place, entry->regs, OTP_RETURN, site, why, sizeof why);
}

/*
 * A probe in the middle of an instruction would change what the emulator does: a symbol is believed when the tables
 * that unwinding goes by tell the same of its function, and its code does not tell another.
 */
static bool is_believed(struct plan *p, const char *symbol, struct otp_place *place)
{
    uint64_t size = otp_image_function_size(otp_symbols_image(p->vm->symbols), place->address);

    if (!size || (place->size && place->size != size) || otp_symbols_contradict(p->vm->symbols, symbol, place))
        return false;
    place->size = size;
    return true;
}

static int find_hook(struct plan *p, const struct row *row, struct otp_site *site, char *why, size_t size)
{
    struct otp_place place;
    char reason[128];

    if (row->side == OTP_RETURN && p->no_returns) {
        snprintf(why, size, "%s", p->no_returns);
        return -EPERM;
    }
    if (otp_symbols_find(p->vm->symbols, row->symbol, &place)) {
        snprintf(why, size, "no function %s is found", row->symbol);
        return -ENOENT;
    }
    if (!is_believed(p, row->symbol, &place)) {
        snprintf(why, size, "%s is not where its %s has it", row->symbol, otp_found_text(place.found));
        return -ENOEXEC;
    }
    if (!slide_both(p, row, &place, site))
        return 0;
    if (otp_slide(otp_symbols_image(p->vm->symbols), &place, row->regs, row->side, site, reason, sizeof reason)) {
        snprintf(why, size, "%s: %s", row->symbol, reason);
        return -ENOEXEC;
    }
    return 0;
}

/* What stands in /proc/PID/status behind `key`, its colon included; "" without. Source: proc(5). */
static void read_status(int pid, const char *key, char *out, size_t size)
{
    char path[64], line[256];
    FILE *file;

    out[0] = '\0';
    snprintf(path, sizeof path, "/proc/%d/status", pid);
    file = fopen(path, "re");
    while (file && !out[0] && fgets(line, sizeof line, file))
        if (!strncmp(line, key, strlen(key)))
            snprintf(out, size, "%s", line + strlen(key));
    if (file)
        fclose(file);
}

/* A probe at a return puts another address where the process would return to. */
static const char *find_harm_of_returns(int pid)
{
    char filter[32], features[64];

    read_status(pid, "Seccomp:", filter, sizeof filter);
    read_status(pid, "x86_Thread_features:", features, sizeof features);
    if (strstr(features, "shstk"))
        return "it has a shadow stack, a second copy of where it returns to, and would die of a probe at a return, "
               "which that copy does not know";
    if (atoi(filter) && !uprobe_returns_pass_filters())
        return "its system calls are filtered (seccomp), and with this kernel it would die of a probe at a return; "
               "6.14 and later spare it";
    return NULL;
}

/* All rows of one probe. */
static void plan_probe_hooks(struct plan *p, enum plan_probe probe)
{
    struct plan_event event = {.source = PLAN_HOOK, .cost = OTP_COST_EMULATED};
    size_t first = p->nhooks;

    for (const struct row *row = rows; row < rows + NROWS; row++) {
        struct plan_hook *hook = &p->hooks[p->nhooks];

        if (row->probe != probe || p->vm->layout.release < row->first || p->vm->layout.release > row->last)
            continue;
        *hook = (struct plan_hook){.probe = probe, .side = row->side, .which = row->which};
        if (find_hook(p, row, &hook->site, event.why, sizeof event.why)) {
            p->nhooks = first;
            if (p->events[probe].source == PLAN_NONE)
                memcpy(p->events[probe].why, event.why, sizeof event.why);
            return;
        }
        event.cost = hook->site.cost > event.cost ? hook->site.cost : event.cost;
        p->nhooks++;
    }
    if (p->nhooks > first)
        p->events[probe] = event;
}

static void plan_hooks(struct plan *p, const struct target *t)
{
    bool wanted[PLAN_NEVENTS] = {false};
    size_t any = 0;

    for (size_t i = 0; i < NROWS; i++) {
        any += wants_hooks(p, rows[i].probe) && !wanted[rows[i].probe];
        wanted[rows[i].probe] |= wants_hooks(p, rows[i].probe);
    }
    if (!any)
        return;
    p->early = true;
    if (!t->pid)
        return;
    p->early = otp_vm_new(t, &p->vm, p->refused, sizeof p->refused) == -EAGAIN;
    p->no_returns = p->vm ? find_harm_of_returns(t->pid) : NULL;
    for (size_t i = 0; i < PLAN_NEVENTS; i++) {
        if (wanted[i] && p->vm)
            plan_probe_hooks(p, (enum plan_probe)i);
        else if (wanted[i] && p->events[i].source == PLAN_NONE)
            snprintf(p->events[i].why, sizeof p->events[i].why, "%s", p->refused);
    }
    if (p->vm)
        p->refused[0] = '\0';
}

/* How the memory of an erlvm is read; without, its notes tell all but what was before them. */
static void plan_memory(struct plan *p, const struct target *t, bool needed)
{
    int err = t->pid ? otp_vm_new(t, &p->vm, p->unread, sizeof p->unread) : -EAGAIN;

    if (!err)
        p->unread[0] = '\0';
    p->early = needed && err == -EAGAIN;
    if (needed && err)
        memcpy(p->refused, p->unread, sizeof p->refused);
}

int plan_new(const struct target *t, bool hooks_only, struct plan **out)
{
    struct plan *p = calloc(1, sizeof *p);

    if (!p || !(p->hooks = calloc(NROWS, sizeof *p->hooks))) {
        free(p);
        return fail(-ENOMEM, "out of memory");
    }
    if (!hooks_only || !t->provider->hooks)
        plan_notes(p, t);
    if (t->provider->hooks)
        plan_hooks(p, t);
    else
        plan_memory(p, t, hooks_only);
    *out = p;
    return 0;
}

void plan_free(struct plan *p)
{
    if (!p)
        return;
    otp_vm_free(p->vm);
    free(p->hooks);
    free(p);
}

size_t plan_count(const struct plan *p)
{
    size_t n = 0;

    for (size_t i = 0; i < PLAN_NPROBES; i++)
        n += p->events[i].source != PLAN_NONE;
    return n;
}
