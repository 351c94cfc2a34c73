/* SPDX-License-Identifier: Apache-2.0 */
/* Invariant: an event has all the hooks that stand for it in this release, or none. */
#include "plan.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/fail.h"
#include "otp/otp_drivers.h"
#include "otp/otp_exit.h"
#include "uprobe.h"

#include "../../bpf/efile.h"

static const char *const probe_names[] = {
#define PROBE(probe, family, nargs, watch, text) #probe,
#include "../../vm/probes.def"
#define EVENT(event) #event,
#include "target/providers.def"
};

static const struct row {
    enum plan_probe probe;
    enum otp_side side;
    uint32_t first, last;
    const char *symbol; /* NULL: a callback of drivers */
    enum otp_callback callback;
    uint32_t which;
    const char *regs;
} rows[] = {
#define HOOK(probe, side, first, last, symbol, which, regs)                                        \
    {PLAN_##probe, OTP_##side, first, last, symbol, OTP_NCALLBACKS, which, regs},
#define CALLBACK(probe, side, name, which, regs)                                                   \
    {PLAN_##probe, OTP_##side, 0, UINT32_MAX, NULL, OTP_CALLBACK_##name, which, regs},
#include "target/providers.def"
};
enum { NROWS = sizeof rows / sizeof *rows, MAX_HOOKS = NROWS * OTP_MAX_DRIVERS };

static const unsigned callback_offsets[] = {
#define DRIVER_CALLBACK(name, offset) offset,
#include "../../bpf/driver_callbacks.def"
};

static const char *const families[] = {
#define PROBE(probe, family, nargs, watch, text) #family,
#include "../../vm/probes.def"
};

const char *plan_probe_name(enum plan_probe probe)
{
    return probe_names[probe];
}

bool plan_is_extra(enum plan_probe probe)
{
    static const bool extra[PLAN_NEVENTS] = {
#define EXTRA(probe) [PLAN_##probe] = true,
#include "target/providers.def"
    };

    return extra[probe];
}

bool plan_lacks_vital(const struct plan *p, enum plan_probe probe)
{
    static const bool vital[PLAN_NEVENTS] = {
#define VITAL(probe) [PLAN_##probe] = true,
#include "target/providers.def"
    };

    return vital[probe] && (p->events[probe].source == PLAN_NONE ||
                            (p->events[probe].source == PLAN_NOTE && p->events[probe].why[0]));
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

/* Whether both rows hook the same functions. */
static bool is_of_same(const struct row *a, const struct row *b)
{
    if (a->symbol && b->symbol)
        return !strcmp(a->symbol, b->symbol);
    return !a->symbol && !b->symbol && a->callback == b->callback;
}

/*
 * A function that is hooked at entry and return has one place for both where there is one, so that it traps once:
 * the registers of all entries stand there, and the stack pointer is that of the entry.
 */
static int slide_both(struct plan *p, const struct row *row, const struct otp_place *place, struct otp_site *site)
{
    bool entry = false, back = false;
    char why[128], regs[128] = "";

    for (const struct row *other = rows; other < rows + NROWS; other++) {
        size_t used = strlen(regs);

        if (!is_of_same(other, row))
            continue;
        entry |= other->side == OTP_ENTRY;
        back |= other->side != OTP_ENTRY;
        snprintf(regs + used, sizeof regs - used, " %s", other->regs);
    }
    if (!entry || !back)
        return -ENOENT;
    return otp_slide(otp_symbols_image(p->vm->symbols), place, regs, OTP_RETURN, site, why, sizeof why);
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

/* The callbacks that the row is about. Returns how many; 0: no driver has one. Fails: there are no drivers. */
static int find_callbacks(struct plan *p, const struct row *row, struct otp_place *places, char *why, size_t size)
{
    struct otp_image *image = otp_symbols_image(p->vm->symbols);
    uint64_t functions[OTP_MAX_DRIVERS];
    size_t n = otp_drivers_find(image, callback_offsets[OTP_CALLBACK_start], functions);

    if (!n) {
        snprintf(why, size, "no drivers are found in it");
        return -ENOENT;
    }
    n = otp_drivers_find(image, callback_offsets[row->callback], functions);
    for (size_t i = 0; i < n; i++)
        places[i] = (struct otp_place){.address = functions[i],
                                       .size = otp_image_function_size(image, functions[i]),
                                       .found = OTP_FOUND_RECOVERED};
    return (int)n;
}

/* The name of a function as the source has it: of C++ without the types that follow. Returns its length. */
static int plain_name(const char *symbol, const char **name)
{
    char *end;
    size_t length;

    *name = symbol;
    if (strncmp(symbol, "_Z", 2))
        return (int)strlen(symbol);
    length = strtoul(symbol + 2, &end, 10);
    *name = end;
    return (int)strnlen(end, length);
}

/* The functions that the row hooks. Returns how many. */
static int find_functions(struct plan *p, const struct row *row, struct otp_place places[OTP_MAX_DRIVERS], char *why,
                          size_t size)
{
    const char *name;
    int length = row->symbol ? plain_name(row->symbol, &name) : 0;

    if (!row->symbol)
        return find_callbacks(p, row, places, why, size);
    if (otp_symbols_find(p->vm->symbols, row->symbol, places)) {
        snprintf(why, size, "no function %.*s is found", length, name);
        return -ENOENT;
    }
    if (!is_believed(p, row->symbol, places)) {
        snprintf(why, size, "%.*s is not where its %s has it", length, name, otp_found_text(places->found));
        return -ENOEXEC;
    }
    if (otp_symbols_is_bypassed(p->vm->symbols, row->symbol, places)) {
        snprintf(why, size, "calls of %.*s go to other functions that the compiler made of it", length, name);
        return -ENOEXEC;
    }
    return 1;
}

static int find_site(struct plan *p, const struct row *row, const struct otp_place *place, struct otp_site *site,
                     char *why, size_t size)
{
    const char *name = "a callback of drivers";
    int length = row->symbol ? plain_name(row->symbol, &name) : (int)strlen(name);
    char reason[128];

    if (row->side == OTP_EXIT && !otp_exit(otp_symbols_image(p->vm->symbols), place, site, reason, sizeof reason))
        return 0;
    if (row->side != OTP_ENTRY && p->no_returns) {
        snprintf(why, size, "%s", p->no_returns);
        return -EPERM;
    }
    if (!slide_both(p, row, place, site))
        return 0;
    if (!otp_slide(otp_symbols_image(p->vm->symbols), place, row->regs, row->side, site, reason, sizeof reason))
        return 0;
    snprintf(why, size, "%.*s: %s", length, name, reason);
    return -ENOEXEC;
}

/* Two callbacks that do the same may be one function: it is hooked once. */
static bool is_hooked(const struct plan *p, size_t first, const struct plan_hook *hook)
{
    for (size_t i = first; i < p->nhooks; i++)
        if (p->hooks[i].side == hook->side && p->hooks[i].site.offset == hook->site.offset)
            return true;
    return false;
}

/* Adds the hooks of a row to those of its probe, which begin at `first`. */
static int add_hooks(struct plan *p, const struct row *row, size_t first, struct plan_event *event)
{
    struct otp_place places[OTP_MAX_DRIVERS];
    int n = find_functions(p, row, places, event->why, sizeof event->why);

    for (int i = 0; i < n; i++) {
        struct plan_hook hook = {.probe = row->probe, .side = row->side, .which = row->which};
        int err = find_site(p, row, &places[i], &hook.site, event->why, sizeof event->why);

        if (err)
            return err;
        if (is_hooked(p, first, &hook))
            continue;
        event->cost = hook.site.cost > event->cost ? hook.site.cost : event->cost;
        p->hooks[p->nhooks++] = hook;
    }
    return n < 0 ? n : 0;
}

/* What stands in /proc/PID/status behind `key`, its colon included; "" without. False: it cannot be read. Source:
 * proc(5). */
static bool read_status(int pid, const char *key, char *out, size_t size)
{
    bool read;
    char path[64], line[256];
    FILE *file;

    out[0] = '\0';
    snprintf(path, sizeof path, "/proc/%d/status", pid);
    file = fopen(path, "re");
    while (file && !out[0] && fgets(line, sizeof line, file))
        if (!strncmp(line, key, strlen(key)))
            snprintf(out, size, "%s", line + strlen(key));
    read = file && !ferror(file);
    if (file)
        fclose(file);
    return read;
}

/* A probe at a return puts another address where the process would return to. */
static const char *find_harm_of_returns(int pid)
{
    char filter[32], features[64];

    if (!read_status(pid, "Seccomp:", filter, sizeof filter) ||
        !read_status(pid, "x86_Thread_features:", features, sizeof features))
        return "its /proc/PID/status cannot be read, which says whether it would die of a probe at a return";
    if (strstr(features, "shstk"))
        return "it has a shadow stack, a second copy of where it returns to, and would die of a probe at a return, "
               "which that copy does not know";
    if (atoi(filter) && !uprobe_returns_pass_filters())
        return "its system calls are filtered (seccomp), and with this kernel it would die of a probe at a return; "
               "6.14 and later spare it";
    return NULL;
}

/* Whether hooks of the probe read ports. */
static bool reads_ports(enum plan_probe probe)
{
    return probe < PLAN_NPROBES && (!strcmp(families[probe], "ports") || !strcmp(families[probe], "drivers") ||
                                    !strcmp(families[probe], "distribution"));
}

static void refuse_hooks(struct plan *p, enum plan_probe probe, const char *why)
{
    if (p->events[probe].source == PLAN_NONE)
        snprintf(p->events[probe].why, sizeof p->events[probe].why, "%s", why);
}

/* All rows of one probe. */
static void plan_probe_hooks(struct plan *p, enum plan_probe probe)
{
    struct plan_event event = {.source = PLAN_HOOK, .cost = OTP_COST_EMULATED};
    size_t first = p->nhooks;

    if (p->vm->no_ports[0] && reads_ports(probe)) {
        refuse_hooks(p, probe, p->vm->no_ports);
        return;
    }
    for (const struct row *row = rows; row < rows + NROWS; row++) {
        if (row->probe != probe || p->vm->layout.release < row->first || p->vm->layout.release > row->last)
            continue;
        if (add_hooks(p, row, first, &event)) {
            p->nhooks = first;
            refuse_hooks(p, probe, event.why);
            return;
        }
    }
    if (p->nhooks > first)
        p->events[probe] = event;
}

/* What hooks of another event tell too would be told twice. */
static void drop_told_with(struct plan *p)
{
    static const enum plan_probe with[][2] = {
#define TOLD_WITH(probe, other) {PLAN_##probe, PLAN_##other},
#include "target/providers.def"
    };

    for (size_t i = 0; i < sizeof with / sizeof *with; i++) {
        struct plan_event *event = &p->events[with[i][0]];

        if (event->source != PLAN_NOTE || p->events[with[i][1]].source != PLAN_HOOK)
            continue;
        event->source = PLAN_NONE;
        snprintf(event->why, sizeof event->why, "hooks of %s report it", plan_probe_name(with[i][1]));
    }
}

static void plan_hooks(struct plan *p, const struct target *t)
{
    bool wanted[PLAN_NEVENTS] = {false};
    size_t any = 0;
    int err;

    for (size_t i = 0; i < NROWS; i++) {
        any += wants_hooks(p, rows[i].probe) && !wanted[rows[i].probe];
        wanted[rows[i].probe] |= wants_hooks(p, rows[i].probe);
    }
    if (!any)
        return;
    p->early = true;
    if (!t->pid)
        return;
    err = otp_vm_new(t, &p->vm, p->refused, sizeof p->refused);
    p->early = err == -EAGAIN;
    p->passing = target_is_passing(err);
    p->no_returns = p->vm ? find_harm_of_returns(t->pid) : NULL;
    for (size_t i = 0; i < PLAN_NEVENTS; i++) {
        if (wanted[i] && p->vm)
            plan_probe_hooks(p, (enum plan_probe)i);
        else if (wanted[i] && p->events[i].source == PLAN_NONE)
            snprintf(p->events[i].why, sizeof p->events[i].why, "%s", p->refused);
    }
    drop_told_with(p);
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
    p->passing = needed && target_is_passing(err);
    if (needed && err)
        memcpy(p->refused, p->unread, sizeof p->refused);
}

int plan_new(const struct target *t, bool hooks_only, struct plan **out)
{
    struct plan *p = calloc(1, sizeof *p);

    if (!p || !(p->hooks = calloc(MAX_HOOKS, sizeof *p->hooks))) {
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
