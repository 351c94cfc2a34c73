/* SPDX-License-Identifier: Apache-2.0 */
/* What is asked of a diagnosis beside the rules of findings.def: a team's own, and whether it is as expected. */
#ifndef TOOLS_DIAGNOSE_ASKED_H
#define TOOLS_DIAGNOSE_ASKED_H

#include "diagnose/findings.h"
#include "diagnose/own_rules.h"

struct diagnose_asked {
    const char *expects;    /* "none", or a rule; NULL: nothing is expected */
    const char *rules_path; /* NULL: no rules but those of findings.def */
    struct own_rules *own;
};

/* Once all options are known, as rules of the file may be expected. Owns: own_rules_free frees ->own. Fails: said. */
int diagnose_asked_load(struct diagnose_asked *asked);
/*
 * What the exit status says: as of the manual. answered: where nothing was found, that is so; false: nobody could look.
 */
int diagnose_asked_status(const struct diagnose_asked *asked, const struct findings *found, bool answered);

#endif
