/* SPDX-License-Identifier: Apache-2.0 */
/* What the system logger, or standard error, is told of processes. */
#ifndef VM_PROC_REPORT_H
#define VM_PROC_REPORT_H

#include "proc/process.h"

/* Writes "Error in process <0.9.0> with exit value: ..." on standard error, or tells the system logger.
 * p ends with an error or an uncaught throw. */
void process_report_crash(Process *p, Term reason);
/* Tells the system logger, or standard error, of an error that p, which runs here, has come upon. text: UTF-8. Heap:
 * fragments only. */
void process_report_error(Process *p, const char *text);
/* Tells the system logger, or standard error, that p has come to its max_heap_size. Heap: fragments only, p's registers
 * are not roots here. */
void process_report_max_heap(Process *p, size_t total_words);
/* garbage_collection_info of process_info/2 about own, as terms on h. */
Term process_report_gc_info(const struct heap *own, struct heap *h);
/* Who is told: am_logger (whoever has that name), a local pid, or am_undefined (standard error). */
Term process_report_logger(void);
/* Returns who was told before. */
Term process_report_set_logger(Term logger);

#endif
