/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The semaphores of all probes, and the proof that probes.def is consistent.
 * Invariant: a semaphore is written by the kernel alone.
 */
#include "usdt.h"

#if ERLVM_PROBES
#define PROBE(probe, family, nargs, text)                                                          \
    unsigned short erlang_##probe##_semaphore __attribute__((section(".probes")));
#include "probes.def"
#endif

/* Distinct indices below nargs, and as many rows as all nargs together: none is missing. */
enum probe_arg_index {
#define ARG(probe, index, arg, type, unit) PROBE_INDEX_##probe##_##index = index,
#include "probes.def"
};

#define ARG(probe, index, arg, type, unit)                                                         \
    _Static_assert(index < PROBE_NARGS_##probe, #probe ": argument index too large");
#include "probes.def"

enum probe_totals {
    PROBE_TOTAL_NARGS = 0
#define PROBE(probe, family, nargs, text) +nargs
#define PROBE_RANGE(prefix, family, nargs, first, last, text) +nargs
#include "probes.def"
    ,
    PROBE_TOTAL_ROWS = 0
#define ARG(probe, index, arg, type, unit) +1
#include "probes.def"
};
_Static_assert((int)PROBE_TOTAL_NARGS == (int)PROBE_TOTAL_ROWS, "a probe lacks ARG rows");
