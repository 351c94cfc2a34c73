/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The semaphores of all probes, and the proof that probes.def is consistent.
 * Invariant: a semaphore is written by the kernel alone.
 */
#include "usdt.h"

#if ERLVM_PROBES
#define PROBE(probe, family, nargs, watch, text)                                                          \
    union probe_semaphores erlang_##probe##_semaphore __attribute__((section(".probes")));         \
    __asm__(".hidden erlang_batch_" #probe "_semaphore\n"                                          \
            ".set erlang_batch_" #probe "_semaphore, erlang_" #probe "_semaphore + 2");            \
    extern unsigned short erlang_batch_##probe##_semaphore __attribute__((visibility("hidden")));
#include "probes.def"

/* Never run: a note of provider erlang_batch is there to be attached to. The kernel then counts its semaphore up, and
 * takes that back when the watcher ends, however it ends. */
__attribute__((used)) static PROBE_COLD void batch_sites(void)
{
#define PROBE(probe, family, nargs, watch, text) STAP_PROBE(erlang_batch, probe);
#include "probes.def"
}
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
#define PROBE(probe, family, nargs, watch, text) +nargs
#define PROBE_RANGE(prefix, family, nargs, first, last, text) +nargs
#include "probes.def"
    ,
    PROBE_TOTAL_ROWS = 0
#define ARG(probe, index, arg, type, unit) +1
#include "probes.def"
};
_Static_assert((int)PROBE_TOTAL_NARGS == (int)PROBE_TOTAL_ROWS, "a probe lacks ARG rows");
