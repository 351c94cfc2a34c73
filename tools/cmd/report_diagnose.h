/* SPDX-License-Identifier: Apache-2.0 */
/* What is wrong with a VM, by what was recorded of it. */
#ifndef TOOLS_REPORT_DIAGNOSE_H
#define TOOLS_REPORT_DIAGNOSE_H

#include "diagnose_asked.h"
#include "view/result.h"

struct report_diagnosed {
    const char *file; /* the first that was given */
    uint32_t vm;
    const char *name; /* its own: untrusted */
    bool told[VIEW_COUNT]; /* events of the view were recorded */
    const struct diagnose_asked *asked;
};

/* The views that rules need. */
void report_diagnose_views(bool on[VIEW_COUNT]);
/* Takes what was counted, and prints. Returns the exit status, as diagnose_asked_status. Fails: said. */
int report_diagnose(const struct report_diagnosed *what, const struct result_source *source);

#endif
