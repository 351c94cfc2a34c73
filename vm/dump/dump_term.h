/* SPDX-License-Identifier: Apache-2.0 */
/* Terms in a crash dump: immediates in place, others as the address of a line of the process's heap section.
 * Source of the format: OTP's reader, crashdump_viewer (application observer), version 0.5 of the dump. */
#ifndef VM_DUMP_DUMP_TERM_H
#define VM_DUMP_DUMP_TERM_H

#include "term/term.h"

/* Writes the term; what it points to waits for dump_term_objects. Terms past a bound (half a million objects a process)
 * are left out: the reader shows them as an incomplete heap. */
void dump_term(Term t);
/* A tuple {a, b} that stands nowhere: `at` serves as its address. Writes the address. */
void dump_term_pair(const Term *at);
/* The lines of all objects that wait, and of what they point to; forgets them. */
void dump_term_objects(void);
/* The sections of the off-heap binaries that those objects show. */
void dump_term_binaries(void);
/* Forgets what waits. */
void dump_term_reset(void);

#endif
