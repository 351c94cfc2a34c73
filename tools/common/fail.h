/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Message and status in one: `return fail(-ENOENT, "no VM with pid %d", pid)`.
 */
#ifndef TOOLS_FAIL_H
#define TOOLS_FAIL_H

#include <stdbool.h>

/* Status that main turns into exit status 2; every other negative one into 1. */
enum { FAIL_USAGE = -10000 };

/* A message on standard error, escaped: one line, but on a terminal as many as it needs. Returns `status`. */
int fail(int status, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* Whether fail said anything yet. */
bool fail_said(void);
/* One line on standard error that is no failure. */
void note(const char *format, ...) __attribute__((format(printf, 1, 2)));

#endif
