/* SPDX-License-Identifier: Apache-2.0 */
/* State that the built-in functions of processes and the system share. */
#ifndef VM_BIF_SYSTEM_BIF_INFO_H
#define VM_BIF_SYSTEM_BIF_INFO_H

#include "bif/bif.h"
#include "term/atom_rows.h"

/* Makes it ready. Called by bif_init; calls the others. */
void bif_proc_init(void);
void bif_persistent_init(void);
size_t persistent_table_size(void);
/* Calls see for each persistent term's area, without a lock: while the world is stopped. */
struct literal_area;
void persistent_each_area(void (*see)(const struct literal_area *a, void *arg), void *arg);
void bif_process_info_init(void);
/* The items that process_info/2 knows. */
Term process_info_items(struct heap *h);
void bif_info_init(void);
void info_wall_init(void);
/* What the command line may set and programs may ask for. */
struct info_settings {
	Term printable_range; /* latin1, unicode: characters that lists of io_lib are strings of */
	Term warning_map;     /* warning, info, error: what warning_msg of error_logger is logged as */
	size_t ets_limit;     /* tables: told, never a bound */
	char **words;         /* the command line; borrowed, NULL at the end */
};
extern struct info_settings info_settings;
/* What is told by name, by system_info or statistics. rows: where the names are. */
struct info_item {
	Term name;
	Term (*make)(Process *p);
};
/* TERM_NONE: no item has that name. */
Term info_make_named(Process *p, const struct info_item *items, const struct atom_rows *rows, Term name);
void info_statistics_init(void);
/* Monotonic time when the VM started. */
int64_t info_start_ns(void);
/* system_info(allocator), system_info(alloc_util_allocators). */
Term info_allocator(Process *p);
Term info_alloc_util_allocators(Process *p);
/* system_info({allocator, Name | [Name]}), with options; else allocator_sizes. Fails: TERM_NONE when there is no such
 * allocator. */
Term info_allocator_of(Process *p, Term of, bool options);
/* bif_schedulers.c: system_info and system_flag of how many schedulers run processes. */
void info_schedulers_init(void);
Term info_multi_scheduling(Process *p);
Term info_multi_scheduling_blockers(Process *p);
Term info_normal_multi_scheduling_blockers(Process *p);
Term info_schedulers_state(Process *p);
Term info_set_multi_scheduling(Process *p, Term how);
Term info_set_schedulers_online(Process *p, Term n);
Term info_set_dirty_online(Process *p, Term n);
/* bif_info_text.c: binaries. */
Term info_info(Process *p);
Term info_procs(Process *p);
Term info_loaded(Process *p);
Term info_dist(Process *p);
/* system_info({memory_internal, ref, [Name]}): p is sent {ref, Scheduler, [{Name, ...}]}, one a scheduler. Fails:
 * TERM_NONE. */
Term info_request_memory(Process *p, Term ref, Term names);
/* [{Kind, Bytes}], as erlang:memory/0. */
Term info_memory(Process *p);
/* bif_debug_peers.c: lists of records of a process, a port or the connection to a node; undefined: there is none. As a
 * BIF returns: TERM_NONE when p waits for the answer, or has to end; or without either, when `of` is none of these. */
Term debug_link_list(Process *p, Term of);
Term debug_monitor_list(Process *p, Term of);
/* bif_debug_nodes.c: {{node_references, [{{Name, Creation}, Count, [{Holder, [{Type, Count}]}]}]},
 * {dist_references, [{Name, Count, [{Holder, [{Type, Count}]}]}]}}. Stops the world. */
Term debug_node_references(Process *p, Term of);
/* bif_msacc.c */
Term info_microstate_accounting(Process *p);
Term info_set_microstate_accounting(Process *p, Term how);
/* statistics(scheduler_wall_time): undefined while it is off. */
Term info_scheduler_wall_time(Process *p);
/* The same with the dirty I/O schedulers. */
Term info_scheduler_wall_time_all(Process *p);
/* system_flag(scheduler_wall_time, on): kernel_refc, where it runs, counts who wants it. */
Term info_set_scheduler_wall_time(Process *p, Term on);

#endif
