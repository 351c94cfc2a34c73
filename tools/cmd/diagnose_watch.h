/* SPDX-License-Identifier: Apache-2.0 */
/* The events that rules of diagnose need, watched beside its looks: all views in one session. */
#ifndef TOOLS_DIAGNOSE_WATCH_H
#define TOOLS_DIAGNOSE_WATCH_H

#include "common/options.h"
#include "diagnose/counted.h"

struct diagnose_watch {
    uint32_t vm;
    bool ours;          /* an erlvm: native functions are not watched, as it would run in its traced loop */
    double budget;      /* as of struct options */
    bool budget_said;
    uint64_t (*look)(void *ctx); /* as of beat of session_ops */
    void *ctx;
};

/*
 * Watches, and calls `look` from when every probe is on, until that returns 0, somebody ends it, the VM does, or no
 * more can be watched. Nothing is printed: counted->why says why something was not told. Owns: counted_free frees.
 * Fails: -ENOMEM.
 */
int diagnose_watch_run(const struct diagnose_watch *watch, struct counted *counted);

#endif
