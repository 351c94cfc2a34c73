/* SPDX-License-Identifier: Apache-2.0 */
/* Names of machine code, for perf(1) and for bpftrace, in files that they know: /tmp/perf-PID.map, a line a function;
 * and /tmp/jit-PID.dump, which holds the code too (perf inject --jit).
 * Sources: Linux, tools/perf/Documentation/jit-interface.txt and jitdump-specification.txt; the form of the names is
 * that of OTP's +JPperf. */
#ifndef VM_JIT_NATIVE_PERF_H
#define VM_JIT_NATIVE_PERF_H

#include <stdbool.h>

#include "jit/native_pages.h"

/* Which of the two are written from now on. One that cannot be written is named in a line on standard error, once. */
void native_perf_init(bool map, bool dump);
/* The machine code of c, which is filled in. */
void native_perf_add(const struct code_instance *c, const struct native_code *code);

#endif
