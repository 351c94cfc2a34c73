/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A process that asks the code server for a module, which may cost a search through all directories. No native is
 * called for that alone: code_server:call/1 watches the server, sends it a request, {What, Module}, and when it has the
 * answer, {code_server, error} or {code_server, {error, Why}} of what was not found, watches it no longer. Each stands
 * in its frame then, the second answer maybe without what is around it.
 * Invariant: process.looks_for is a module between the two, while somebody watched at the first.
 * Source: code_server:call/1 and code:ensure_loaded/1 of kernel, from OTP 25 on.
 */
#ifndef VM_CODE_LOOKUP_H
#define VM_CODE_LOOKUP_H

#include "proc/process.h"

/* p, which runs here, begins to watch the code server. */
void lookup_begin(Process *p);
/* It ends a monitor, while looks_for is a module. */
void lookup_end(Process *p);

#endif
