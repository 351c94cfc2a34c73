/* SPDX-License-Identifier: Apache-2.0 */
/* What became of findings between two files: rows of erlsnoop diagnose --json, or recordings. */
#ifndef TOOLS_REPORT_DIFF_H
#define TOOLS_REPORT_DIFF_H

#include <stdio.h>

#include "common/options.h"

/*
 * Prints what is new in the second file, gone, heavier and lighter. diagnose: prints the rows of a recording to `out`;
 * negative: it failed, and said so. Returns 0, or DIAGNOSIS_FOUND when something is new or heavier. Fails: said.
 */
int report_diff(const char *const files[2], int (*diagnose)(const char *name, FILE *out),
                const struct options *options);

#endif
