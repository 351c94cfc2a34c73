/* SPDX-License-Identifier: Apache-2.0 */
/* The VM's clock. Native time is in nanoseconds. Erlang monotonic time is CLOCK_MONOTONIC; Erlang system time is that
 * plus an offset fixed at start (no time warp). Any thread. */
#ifndef VM_PROC_VM_TIME_H
#define VM_PROC_VM_TIME_H

#include <stdint.h>

#include "term/term.h"

/* Erlang system time minus Erlang monotonic time; fixed when first asked. Units: ns. */
int64_t vm_time_offset_ns(void);
/* Erlang system time as erlang:now/0 gives it: each result is greater than any before. */
int64_t vm_time_now_us(void);
/* Unique integers, from VM_TIME_UNIQUE_FIRST on: another each time; and a greater one each time. */
#define VM_TIME_UNIQUE_FIRST SMALL_MIN
int64_t vm_time_next_unique(void);
int64_t vm_time_next_monotonic(void);

#endif
