/* SPDX-License-Identifier: Apache-2.0 */
/* A thread that gives back to the system what a peak of memory has left, when it has not been needed for some seconds.
 * Nothing of that is done where memory is taken or freed. */
#ifndef VM_PROC_TIDY_H
#define VM_PROC_TIDY_H

void tidy_init(void);
void tidy_start(void);
/* The VM has something to do again. Any thread. */
void tidy_wake(void);

#endif
