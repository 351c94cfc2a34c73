/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Message and status in one: `return fail(-ENOENT, "no VM with pid %d", pid)`.
 */
#ifndef TOOLS_FAIL_H
#define TOOLS_FAIL_H

#include <stdbool.h>
#include <stddef.h>

/* Status that main turns into exit status 2; every other negative one into 1. */
enum { FAIL_USAGE = -10000 };

/* A message on standard error, escaped: one line, but on a terminal as many as it needs. Returns `status`. */
int fail(int status, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* Whether fail said anything yet. */
bool fail_said(void);
/* One line on standard error that is no failure. */
void note(const char *format, ...) __attribute__((format(printf, 1, 2)));
/*
 * From here on nothing is printed: the caller can do without what is tried now. The last failure's message is put into
 * `text`, which begins as "" and stays the caller's, until fail_keep(NULL, 0).
 */
void fail_keep(char *text, size_t size);

#endif
