/* SPDX-License-Identifier: Apache-2.0 */
/* Lines on standard error, and the end of the VM. Invariant: one call writes one whole line. */
#ifndef VM_BASE_LOG_H
#define VM_BASE_LOG_H

#include <stddef.h>

void log_line(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* Writes text of any length as it is, unbroken by other threads' lines. */
void log_text(const char *text, size_t bytes);
/* The system refuses what the VM cannot be without ("cannot WHAT: why"; error: an errno): one line, ends with status
 * 1. */
void log_refused(const char *what, int error) __attribute__((noreturn, cold));
/* Wired in main.c: writes what the VM knows to a file before it ends (see dump/crash_dump.h). Any thread. NULL: nothing
 * does. */
extern void (*log_crash_dump)(const char *slogan);
/* What ends the VM: a line, and the crash dump. */
void log_slogan(const char *slogan);
/* A broken invariant: says where, dumps, aborts. */
void log_abort(const char *file, int line, const char *what) __attribute__((noreturn, cold));

#define ENSURE(cond) ((cond) ? (void)0 : log_abort(__FILE__, __LINE__, #cond))
#ifdef ERLVM_DEBUG
#define ASSERT(cond) ENSURE(cond)
#else
#define ASSERT(cond) ((void)sizeof(cond))
#endif

#define likely(x) __builtin_expect(!!(x), 1)
#define unlikely(x) __builtin_expect(!!(x), 0)

#endif
