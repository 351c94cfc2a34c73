/* SPDX-License-Identifier: Apache-2.0 */
/* Birth and end of processes. */
#ifndef VM_PROC_PROCESS_LIFE_H
#define VM_PROC_PROCESS_LIFE_H

#include "proc/process.h"

/* spawn_opt/5's wishes. */
struct spawn_options {
	bool link, monitor;
	Term monitor_tag;    /* TERM_NONE: 'DOWN' */
	uint8_t alias;       /* {monitor, [{alias, X}]}: enum peer_alias */
	bool link_priority, monitor_priority; /* {link, [priority]}, {monitor, [priority]} */
	uint8_t priority;
	uint16_t scheduler;  /* bound to it; 0: to none */
	size_t min_heap_words;
	size_t max_heap_words;
	size_t min_bin_vheap_words;
	uint16_t fullsweep_after;
	bool off_heap_messages;
	bool system;
	uint32_t flags;      /* PF_MAX_HEAP_*, PF_ASYNC_DIST */
	/* NULL, or what is to be done before it runs, and before anybody here knows of it. */
	void (*born)(struct process *p, void *arg);
	void *born_arg;
};
#define SPAWN_OPTIONS_DEFAULT                                                                                          \
	{ .priority = PRIO_NORMAL, .min_heap_words = HEAP_MIN_WORDS, .min_bin_vheap_words = HEAP_BINARY_MIN_WORDS,     \
	  .fullsweep_after = 65535, .monitor_tag = TERM_NONE }

/* Creates a process that will apply M:F(Args) (args: a proper list) and makes it runnable. parent NULL: the VM.
 * Returns its pid; with monitor, *monitor_ref is the ref on the parent's heap.
 * Fails: TERM_NONE when the table is full (system_limit). */
Term process_spawn(Process *parent, Term module, Term function, Term args, const struct spawn_options *o,
		   Term *monitor_ref);

/* Ends p, which runs here: reason in exc_reason. Sends exit signals and 'DOWN's, drops its names, timers and tables,
 * fires process__exit. Afterwards p is not to be touched. */
void process_exit(Process *p, Term reason);
/* The last of it, for a dirty scheduler whose work outlived p: frees its memory and its place in the table. In the
 * world. */
void process_end_memory(Process *p);

/* Rooms above hang what must happen when a process ends (ets tables, ports, open files). Called by main.c at start; at
 * most 8. */
void process_at_exit(void (*hook)(Process *p));

#endif
