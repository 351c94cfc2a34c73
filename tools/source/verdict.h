/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which subcommands work on a VM.
 */
#ifndef TOOLS_VERDICT_H
#define TOOLS_VERDICT_H

#include <stdbool.h>

#include "view/views.h"

struct plan;
struct target;

enum {
    VERDICT_COMMANDS = 1 /* stacks, behind the views */
#define VIEW(view, family, text, what) +1
#include "../../bpf/views.def"
};

enum { VERDICT_BYTES = 256 };

/* Whether a subcommand works on a VM, how and without what, or why not: one line. */
struct verdict {
    bool works;
    char text[VERDICT_BYTES];
};

/* What is said of views that it does not serve: of '%s' (process %d), names of views. */
#define VERDICT_UNSERVED                                                                                               \
    "'%s' (process %d) does not have %s: no function of it stands for these events; erlvm has, the manual says who else"
/*
 * Whether a stock emulator, with notes or without, can tell what the view asks: it has a note or a hook for one of the
 * view's probes, and none that hooks tell in other releases is missing, but for what views do without.
 */
bool verdict_serves(const struct plan *plan, enum view_id view);
/* What the view works without on that VM: heads of columns that show '-', or a few words ("sizes, QUEUED"); "" when it
 * has all. Cut at VERDICT_BYTES. */
void verdict_missing(const struct target *target, const struct plan *plan, enum view_id view, char out[VERDICT_BYTES]);
/* The same of an erlvm that is watched by its pages of events. */
void verdict_missing_of_pages(enum view_id view, char out[VERDICT_BYTES]);
/* Names of subcommands, in the order of verdicts. */
extern const char *const verdict_commands[VERDICT_COMMANDS];
/* Fills VERDICT_COMMANDS rows. */
void verdict_all(const struct target *target, const struct plan *plan, struct verdict *out);

#endif
