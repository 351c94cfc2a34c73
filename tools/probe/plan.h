/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How each event of a target is had: from a note of its own, from hooks on functions of a stock
 * emulator (rows HOOK of providers.def), or not at all, and why. A note that does not tell all
 * gives way to hooks where there are some.
 */
#ifndef TOOLS_PLAN_H
#define TOOLS_PLAN_H

#include "otp/otp_slide.h"
#include "otp/otp_vm.h"

enum plan_probe {
#define PROBE(probe, family, nargs, watch, text) PLAN_##probe,
#include "../../vm/probes.def"
    PLAN_NPROBES,
    PLAN_LAST_PROBE = PLAN_NPROBES - 1,
#define EVENT(event) PLAN_##event,
#include "target/providers.def"
    PLAN_NEVENTS
};

enum plan_source { PLAN_NONE, PLAN_NOTE, PLAN_HOOK };

struct plan_event {
    enum plan_source source;
    enum otp_cost cost; /* of hooks: that of the dearest */
    char why[160]; /* NONE: why not, "" when its provider does not know the event; NOTE: what it does not tell, or "" */
};

struct plan_hook {
    enum plan_probe probe;
    enum otp_side side;
    uint32_t which; /* as in providers.def */
    struct otp_site site;
};

struct plan {
    struct plan_event events[PLAN_NEVENTS];
    struct plan_hook *hooks; /* of the events whose source is HOOK */
    size_t nhooks;
    struct otp_vm *vm;  /* NULL: no hooks, and its memory is not read */
    const char *no_returns; /* why probes at returns would harm it; NULL: they would not */
    bool early;         /* the VM is not far enough to have hooks; ask again */
    bool passing;       /* there was no descriptor or memory to look at it; ask again */
    char refused[160];  /* why it may have no hooks, "" when it may or never could */
    char unread[160];   /* why the memory of one without hooks is not read, or "" */
};

/*
 * `hooks_only`: what is wanted stands in memory: of a stock emulator notes are left alone, an erlvm whose memory
 * cannot be read is refused.
 * Owns: the caller frees *out with plan_free. Fails (said): out of memory.
 */
int plan_new(const struct target *target, bool hooks_only, struct plan **out);
void plan_free(struct plan *plan);
/* How many events of the catalogue it has. */
size_t plan_count(const struct plan *plan);
const char *plan_probe_name(enum plan_probe probe);
/* Views that are told of it do without it where nothing tells it. */
bool plan_is_extra(enum plan_probe probe);
/* Whether views that are told of its note are not asked, as the VM has none, or one that does not tell all. */
bool plan_lacks_vital(const struct plan *plan, enum plan_probe probe);
/* PLAN_NEVENTS when there is no such event. */
enum plan_probe plan_find_probe(const char *name);

#endif
