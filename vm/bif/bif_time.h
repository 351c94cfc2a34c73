/* SPDX-License-Identifier: Apache-2.0 */
/* The VM's clock. */
#ifndef VM_BIF_BIF_TIME_H
#define VM_BIF_BIF_TIME_H

#include <stdint.h>

/* Erlang system time minus Erlang monotonic time; fixed when first asked. Units: ns. */
int64_t bif_time_offset_ns(void);
/* The next number of erlang:unique_integer([monotonic]). */
int64_t bif_time_next_monotonic(void);

/* Erlang system time as erlang:now/0 gives it: each result is greater than any before. */
int64_t bif_time_now_us(void);

#endif
