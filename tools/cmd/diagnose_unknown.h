/* SPDX-License-Identifier: Apache-2.0 */
/* What diagnose could not find out, and why: a finding that cannot be made is no all-clear. */
#ifndef TOOLS_DIAGNOSE_UNKNOWN_H
#define TOOLS_DIAGNOSE_UNKNOWN_H

#include "diagnose_print.h"

/* by_rule: each finding that needs events which were not told has a row; else those that lack the same share one. */
void diagnosis_unknown(const struct diagnosis *d, bool by_rule,
                       void (*take)(void *ctx, const char *what, const char *why), void *ctx);

#endif
