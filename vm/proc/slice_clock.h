/* SPDX-License-Identifier: Apache-2.0 */
/* A thread that ends time slices which have lasted long in spite of the reductions that are left of them: those count
 * calls, and a call of a native function may take as long as its arguments are large. */
#ifndef VM_PROC_SLICE_CLOCK_H
#define VM_PROC_SLICE_CLOCK_H

#include <stdbool.h>

void slice_clock_init(void);
void slice_clock_start(void);
/* A scheduler has something to do again. Any thread. */
void slice_clock_wake(void);
/* None had for some time. Any thread. */
bool slice_clock_rests(void);

#endif
