/* SPDX-License-Identifier: Apache-2.0 */
/* Built-in functions: system_info, system_flag. What nobody here knows is badarg. */
#include "bif/system/bif_info.h"

#include <sched.h>
#include <stdio.h>
#include <sys/utsname.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "base/release.h"
#include "dist/dist.h"
#include "proc/spawn_opts.h"
#include "code/export.h"
#include "code/module.h"
#include "data/big.h"
#include "data/number.h"
#include "ets/table.h"
#include "io/async.h"
#include "io/cpu_topology.h"
#include "io/library_info.h"
#include "io/poll.h"
#include "io/port.h"
#include "proc/dirty.h"
#include "proc/report.h"
#include "proc/sched.h"
#include "proc/vm_time.h"
#include "term/atom_rows.h"
#include "term/node.h"
#include "trace/trace.h"
#include "trace/tracer.h"
#include "usdt.h"

enum { REQUESTS_LIMIT = 50, REQUESTS_LIMIT_MAX = (1 << 27) - 1 };

struct info_settings info_settings = { am_latin1, am_warning, 8192, &(char *){ NULL } };

static struct {
	int64_t start_ns;    /* Erlang monotonic time at start */
	/* When last looked at (update_cpu_info): processors that the main thread may run on, that are configured, that
	 * are online. */
	atomic_int processors, cores, cores_online;
	_Atomic Term requests_limit; /* a number that purging processes keep to */
	struct atom_rows rows;
} info;

static int count_processors(void)
{
	cpu_set_t set;

	return sched_getaffinity(getpid(), sizeof(set), &set) == 0 ? CPU_COUNT(&set) : 1;
}

/* Did any of the counts change? */
static bool update_cpu_counts(void)
{
	int processors = count_processors(), cores = (int)sysconf(_SC_NPROCESSORS_CONF),
	    online = (int)sysconf(_SC_NPROCESSORS_ONLN);
	bool changed = atomic_exchange(&info.processors, processors) != processors;

	changed |= atomic_exchange(&info.cores, cores) != cores;
	changed |= atomic_exchange(&info.cores_online, online) != online;
	return changed;
}

static void find_rows(void);

void bif_info_init(void)
{
	find_rows();
	info.start_ns = clock_monotonic_ns();
	vm_time_offset_ns();
	tracer_unique = vm_time_next_monotonic;
	tracer_now_us = vm_time_now_us;
	update_cpu_counts();
	info_statistics_init();
	info_wall_init();
	info_schedulers_init();
	atomic_init(&info.requests_limit, SMALL(REQUESTS_LIMIT));
}

int64_t info_start_ns(void)
{
	return info.start_ns;
}

static Term int_term(int64_t n)
{
	return term_from_small(n);
}

static void put_controller(struct channel *c, void *arg)
{
	struct { struct heap *h; Term list; } *out = arg;

	if (c->controller != TERM_NONE)
		out->list = heap_cons(out->h, heap_tuple(out->h, c->node, c->controller), out->list);
}

/* [{Node, PortOrPid}] */
static Term info_dist_ctrl(Process *p)
{
	struct { struct heap *h; Term list; } out = { &p->heap, NIL };

	channel_each(put_controller, &out);
	return out.list;
}

static Term string(struct heap *h, const char *text)
{
	return heap_list_bytes(h, text, strlen(text), NIL);
}

static Term interface_version(Process *p, int major, int minor)
{
	char text[16];

	snprintf(text, sizeof(text), "%d.%d", major, minor);
	return string(&p->heap, text);
}

/* ---- system_info */

#define INFO(name, value)                                                                          \
	static Term info_##name(Process *p)                                                        \
	{                                                                                          \
		(void)p;                                                                           \
		return (value);                                                                    \
	}

INFO(context_reductions, SMALL(SCHED_REDS))
INFO(dist_buf_busy_limit, int_term((int64_t)atomic_load(&channel_busy_bytes)))
INFO(process_count, int_term((int64_t)process_count()))
INFO(process_limit, int_term((int64_t)process_limit()))
INFO(port_count, int_term((int64_t)port_count()))
INFO(port_limit, int_term((int64_t)port_limit()))
INFO(ets_limit, int_term((int64_t)info_settings.ets_limit))
INFO(ets_count, int_term((int64_t)table_count()))
INFO(atom_count, int_term(atom_count()))
INFO(atom_limit, int_term(atom_limit()))
INFO(schedulers, int_term(sched_count()))
INFO(schedulers_online, int_term(sched_online()))
INFO(scheduler_id, int_term(sched_self()->id))
INFO(dirty_cpu_schedulers, int_term(dirty_count(DIRTY_CPU)))
INFO(dirty_cpu_schedulers_online, int_term(dirty_online(DIRTY_CPU)))
INFO(dirty_io_schedulers, int_term(dirty_count(DIRTY_IO)))
INFO(true, am_true)
INFO(false, am_false)
INFO(zero, SMALL(0))
INFO(undefined, am_undefined)
INFO(unknown, am_unknown)
INFO(thread_pool_size, int_term(async_thread_count()))
INFO(otp_release, string(&p->heap, release_current->text))
INFO(version, string(&p->heap, release_current->erts))
INFO(nif_version, interface_version(p, NIF_MAJOR, release_current->nif_minor))
INFO(driver_version, interface_version(p, DRIVER_MAJOR, release_current->driver_minor))
INFO(machine, string(&p->heap, "BEAM"))
INFO(system_architecture, string(&p->heap, "x86_64-pc-linux-gnu"))
INFO(wordsize, SMALL(8))
INFO(endian, am_little)
INFO(heap_type, am_private)
#if defined(__SANITIZE_ADDRESS__)
INFO(build_type, am_asan)
#elif defined(ERLVM_DEBUG) || defined(__SANITIZE_THREAD__)
INFO(build_type, am_debug)
#else
INFO(build_type, am_opt)
#endif
INFO(emu_flavor, module_native_hooks.drop != NULL ? am_jit : am_emu)
INFO(compat_rel, SMALL(release_current->number))
INFO(creation, int_term(node_self().creation))
INFO(c_compiler_used,
     heap_tuple(&p->heap, am_gnuc,
		heap_tuple(&p->heap, SMALL(__GNUC__), SMALL(__GNUC_MINOR__), SMALL(__GNUC_PATCHLEVEL__))))
/* {Name, Text}, a list of. */
static Term info_compile_info(Process *p)
{
	Term linking = heap_tuple(&p->heap, am_ldflags, string(&p->heap, BUILD_LDFLAGS));
	Term compiling = heap_tuple(&p->heap, am_cflags, string(&p->heap, BUILD_CFLAGS));

	return heap_cons(&p->heap, linking, heap_cons(&p->heap, compiling, NIL));
}
#if ERLVM_PROBES
INFO(dynamic_trace, am_systemtap)
#else
INFO(dynamic_trace, am_none)
#endif
INFO(start_time, heap_int(&p->heap, info.start_ns))
INFO(end_time, heap_int(&p->heap, INT64_MAX))
INFO(time_offset, am_final)
INFO(outstanding_system_requests_limit, atomic_load(&info.requests_limit))
INFO(system_logger, process_report_logger())
INFO(time_warp_mode, am_no_time_warp)
INFO(tolerant_timeofday, am_disabled)
INFO(cores, int_term(atomic_load(&info.cores)))
INFO(cores_online, int_term(atomic_load(&info.cores_online)))
INFO(logical_processors_available, int_term(atomic_load(&info.processors)))
INFO(scheduler_bind_type, am_unbound)
INFO(message_queue_data, atomic_load(&spawn_defaults.off_heap_messages) ? am_off_heap : am_on_heap)
INFO(fullsweep_after, heap_tuple(&p->heap, am_fullsweep_after, int_term(atomic_load(&spawn_defaults.fullsweep_after))))
INFO(min_heap_size,
     heap_tuple(&p->heap, am_min_heap_size, int_term((int64_t)atomic_load(&spawn_defaults.min_heap_words))))
INFO(min_bin_vheap_size,
     heap_tuple(&p->heap, am_min_bin_vheap_size, int_term((int64_t)atomic_load(&spawn_defaults.min_bin_vheap_words))))
INFO(max_heap_size,
     max_heap_map(&p->heap, atomic_load(&spawn_defaults.max_heap_words), atomic_load(&spawn_defaults.max_heap_flags)))

static Term info_system_version(Process *p)
{
	char text[160];

	snprintf(text, sizeof(text),
		 "Erlang/OTP %s [erts-%s] [erlvm] [64-bit] [smp:%u:%u] [ds:%u:%u:%u] [async-threads:%u]\n",
		 release_current->text, release_current->erts, sched_count(), sched_online(), dirty_count(DIRTY_CPU),
		 dirty_online(DIRTY_CPU), dirty_count(DIRTY_IO), (unsigned)async_thread_count());
	return string(&p->heap, text);
}

/* A string each. */
static Term info_emu_args(Process *p)
{
	size_t n = 0;
	Term list = NIL;

	while (info_settings.words[n] != NULL)
		n++;
	while (n-- > 0)
		list = heap_cons(&p->heap, string(&p->heap, info_settings.words[n]), list);
	return list;
}

static Term put_state(struct heap *h, Term kind, unsigned count, unsigned online, unsigned active, Term tail)
{
	return heap_cons(h, heap_tuple(h, kind, int_term(count), int_term(online), int_term(active)), tail);
}

static Term info_all_schedulers_state(Process *p)
{
	struct heap *h = &p->heap;
	Term list = put_state(h, am_dirty_io, dirty_count(DIRTY_IO), dirty_online(DIRTY_IO), dirty_active(DIRTY_IO),
			      NIL);

	list = put_state(h, am_dirty_cpu, dirty_count(DIRTY_CPU), dirty_online(DIRTY_CPU), dirty_active(DIRTY_CPU),
			 list);
	return put_state(h, am_normal, sched_count(), sched_online(), sched_active(), list);
}

static Term info_update_cpu_info(Process *p)
{
	(void)p;
	return update_cpu_counts() ? am_changed : am_unchanged;
}

static Term info_scheduler_bindings(Process *p)
{
	unsigned n = sched_count();
	Term *at = heap_alloc(&p->heap, n + 1);

	at[0] = HEADER(n, SUB_TUPLE);
	for (unsigned i = 1; i <= n; i++)
		at[i] = am_unbound;
	return term_from_boxed(at);
}

static Term put_pair(struct heap *h, Term key, Term value, Term tail)
{
	return heap_cons(h, heap_tuple(h, key, value), tail);
}

static Term put_clock(Process *p, Term name, clockid_t id, Term list)
{
	struct timespec r;
	struct heap *h = &p->heap;

	clock_getres(id, &r);
	list = put_pair(h, am_time, heap_int(h, clock_read_ns(id)), list);
	list = put_pair(h, am_parallel, am_yes, list);
	if (id == CLOCK_MONOTONIC)
		list = put_pair(h, am_extended, am_no, list);
	list = put_pair(h, am_resolution, r.tv_sec == 0 && r.tv_nsec > 0 ? int_term(1000000000 / r.tv_nsec) : SMALL(1),
			list);
	list = put_pair(h, am_clock_id, name, list);
	return put_pair(h, am_function, am_clock_gettime, list);
}

static Term info_os_monotonic_time_source(Process *p) { return put_clock(p, am_CLOCK_MONOTONIC, CLOCK_MONOTONIC, NIL); }
static Term info_os_system_time_source(Process *p) { return put_clock(p, am_CLOCK_REALTIME, CLOCK_REALTIME, NIL); }

static Term info_garbage_collection(Process *p)
{
	const Term pairs[][2] = {
		{ am_max_heap_size, int_term((int64_t)atomic_load(&spawn_defaults.max_heap_words)) },
		{ am_min_bin_vheap_size, int_term((int64_t)atomic_load(&spawn_defaults.min_bin_vheap_words)) },
		{ am_min_heap_size, int_term((int64_t)atomic_load(&spawn_defaults.min_heap_words)) },
		{ am_fullsweep_after, int_term(atomic_load(&spawn_defaults.fullsweep_after)) },
	};

	return bif_put_pairs(&p->heap, sizeof(pairs) / sizeof(pairs[0]), pairs);
}

static Term info_poll_set(Process *p, struct poll_counts counts)
{
	const Term pairs[][2] = {
		{ am_name, am_erts_poll },
		{ am_primary, counts.files ? am_poll : am_epoll },
		{ am_kernel_poll, counts.files ? am_false : am_epoll },
		{ am_memory_size, int_term((int64_t)(counts.watched * sizeof(struct poll_watch))) },
		{ am_total_poll_set_size, int_term((int64_t)counts.watched) },
		{ am_lazy_updates, am_false },
		{ am_pending_updates, SMALL(0) },
		{ am_batch_updates, am_false },
		{ am_concurrent_updates, term_from_bool(!counts.files) },
		{ am_fallback, term_from_bool(counts.files) },
		{ am_max_fds, int_term(sysconf(_SC_OPEN_MAX)) },
		{ am_active_fds, int_term(counts.ready) },
		{ am_poll_threads, int_term(counts.threads) },
	};

	return bif_put_pairs(&p->heap, sizeof(pairs) / sizeof(pairs[0]), pairs);
}

static Term info_check_io(Process *p)
{
	Term list = NIL;

	for (unsigned row = poll_counts_rows(); row-- > 0;)
		list = heap_cons(&p->heap, info_poll_set(p, poll_counts(row)), list);
	return list;
}

static Term info_heap_sizes(Process *p)
{
	Term sizes[256];
	size_t words = 1, n = 0;

	while (n < 256 && words < (size_t)1 << 50) {
		words = gc_next_size_words(words);
		sizes[n++] = int_term((int64_t)words);
		words++;
	}
	return heap_list_array(&p->heap, n, sizes, NIL);
}

static Term info_os_type(Process *p)
{
	return heap_tuple(&p->heap, am_unix, am_linux);
}

/* The kernel's release as far as it is three numbers. */
static Term info_os_version(Process *p)
{
	unsigned major = 0, minor = 0, patch = 0;
	struct utsname name;

	if (uname(&name) == 0)
		sscanf(name.release, "%u.%u.%u", &major, &minor, &patch);
	return heap_tuple(&p->heap, SMALL(major), SMALL(minor), SMALL(patch));
}

/* What the compiler makes of atomic operations, in the form of OTP's list. */
static Term info_ethread_info(Process *p)
{
	struct heap *h = &p->heap;

	static const struct { const char *what, *how;
	} facts[] = {
		{ "32-bit native atomics", "C11" },
		{ "64-bit native atomics", "C11" },
		{ "Double word native atomics", "no" },
	};
	Term list = NIL;

	for (size_t i = sizeof(facts) / sizeof(facts[0]); i-- > 0;)
		list = heap_cons(h, heap_tuple(h, string(h, facts[i].what), string(h, facts[i].how), NIL), list);
	return list;
}

static Term info_snifs(Process *p)
{
	return bif_list(&p->heap);
}

static Term info_trace_control_word(Process *p)
{
	(void)p;
	return trace_control_word();
}

static Term info_sequential_tracer(Process *p)
{
	return heap_tuple(&p->heap, am_sequential_tracer, tracer_put(&p->heap, trace_seq_tracer()));
}

static Term info_taints(Process *p)
{
	return library_taints(&p->heap);
}

static Term info_max_integer(Process *p)
{
	return release_limits_integers() ? big_largest(&p->heap) : TERM_NONE;
}

static Term info_halt_flush_timeout(Process *p)
{
	int64_t ms = atomic_load(&sched_flush_max_ms);

	(void)p;
	return ms < 0 ? (Term)am_infinity : SMALL(ms);
}

static const struct info_item info_items[] = {
#define ITEM(name) { am_##name, info_##name }
#define ITEM_AS(name, other) { am_##name, info_##other }
	ITEM(os_type),
	ITEM(os_version),
	ITEM(process_count),
	ITEM(process_limit),
	ITEM(port_count),
	ITEM(port_limit),
	ITEM(snifs),
	ITEM(ets_count),
	ITEM(ets_limit),
	ITEM(atom_count),
	ITEM(atom_limit),
	ITEM(schedulers),
	ITEM(schedulers_online),
	ITEM(scheduler_id),
	ITEM(schedulers_state),
	ITEM(otp_release),
	ITEM(version),
	ITEM(nif_version),
	ITEM(driver_version),
	ITEM(machine),
	ITEM(system_architecture),
	ITEM(wordsize),
	ITEM(endian),
	ITEM(heap_type),
	ITEM(multi_scheduling),
	ITEM(build_type),
	ITEM_AS(emu_type, build_type),
	ITEM(emu_flavor),
	ITEM(compat_rel),
	ITEM(creation),
	ITEM(c_compiler_used),
	ITEM(compile_info),
	ITEM(dynamic_trace),
	ITEM(start_time),
	ITEM(end_time),
	ITEM(time_offset),
	ITEM(time_warp_mode),
	ITEM(system_logger),
	ITEM(outstanding_system_requests_limit),
	ITEM_AS(delayed_node_table_gc, zero),
	ITEM(update_cpu_info),
	ITEM_AS(break_ignored, false),
	ITEM(system_version),
	ITEM(tolerant_timeofday),
	ITEM(scheduler_bind_type),
	ITEM(message_queue_data),
	ITEM(fullsweep_after),
	ITEM(min_heap_size),
	ITEM(min_bin_vheap_size),
	ITEM(max_heap_size),
	ITEM(scheduler_bindings),
	ITEM(os_monotonic_time_source),
	ITEM(os_system_time_source),
	ITEM(garbage_collection),
	ITEM(heap_sizes),
	ITEM(check_io),
	ITEM(thread_pool_size),
	ITEM_AS(logical_processors, cores),
	ITEM(logical_processors_available),
	ITEM_AS(logical_processors_online, cores_online),
	ITEM_AS(threads, true),
	ITEM_AS(smp_support, true),
	ITEM_AS(kernel_poll, true),
	ITEM_AS(eager_check_io, true),
	ITEM_AS(time_correction, true),
	ITEM_AS(debug_compiled, false),
	ITEM_AS(port_parallelism, false),
	ITEM(dirty_cpu_schedulers),
	ITEM(dirty_cpu_schedulers_online),
	ITEM(dirty_io_schedulers),
	ITEM(trace_control_word),
	ITEM(sequential_tracer),
	ITEM(dist_ctrl),
	ITEM(multi_scheduling_blockers),
	ITEM(normal_multi_scheduling_blockers),
	ITEM(context_reductions),
	ITEM(dist_buf_busy_limit),
	ITEM(ethread_info),
	ITEM_AS(schedulers_total, schedulers),
	ITEM_AS(run_queues, schedulers),
	ITEM_AS(constant_pool_support, true),
	ITEM_AS(port_tasks, true),
	ITEM_AS(io_thread, false),
	ITEM_AS(lock_checking, false),
	ITEM_AS(lock_counting, false),
	ITEM_AS(ets_always_compress, false),
	ITEM_AS(ets_realloc_moves, false),
	ITEM_AS(cpu_quota, unknown),
	ITEM(info),
	ITEM(procs),
	ITEM(loaded),
	ITEM(dist),
	ITEM(all_schedulers_state),
	ITEM(emu_args),
	ITEM_AS(beam_jump_table, true),
	ITEM_AS(hipe_architecture, undefined),
	{ am_allocator, info_allocator },
	{ am_alloc_util_allocators, info_alloc_util_allocators },
	ITEM(taints),
	ITEM_AS(modified_timing_level, undefined),
	ITEM_AS(async_dist, false),
	ITEM(halt_flush_timeout),
	ITEM(max_integer),
#if ERLVM_PROBES
	ITEM_AS(dynamic_trace_probes, true),
#else
	ITEM_AS(dynamic_trace_probes, false),
#endif
};

/* As records of module erlang's, which makes a tree of them. Nobody defines another topology. */
static Term info_cpu_topology(Process *p)
{
	struct cpu_place *cpus;
	Term list = NIL;

	for (size_t i = cpu_topology_read(&cpus); i-- > 0;)
		list = heap_cons(&p->heap,
				 heap_tuple(&p->heap, am_cpu, heap_int(&p->heap, cpus[i].node),
					    heap_int(&p->heap, cpus[i].processor),
					    heap_int(&p->heap, cpus[i].processor_node),
					    heap_int(&p->heap, cpus[i].core), heap_int(&p->heap, cpus[i].thread),
					    heap_int(&p->heap, cpus[i].logical)),
				 list);
	mem_free(cpus);
	if (list == NIL)
		return am_undefined;
	return exc_trap(p, export_get(am_erlang, am_format_cpu_topology, 1), 1, &list);
}

static bool is_cpu_topology(Term item)
{
	if (term_is_tuple_of(item, 2) && tuple_get(item, 1) == am_cpu_topology)
		return tuple_get(item, 2) == am_detected || tuple_get(item, 2) == am_used;
	return item == am_cpu_topology;
}

static Term info_pair(Process *p, Term name, Term of)
{
	switch (name) {
	case am_wordsize:
		return of == am_internal || of == am_external ? SMALL(8) : TERM_NONE;
	case am_allocator:
		return info_allocator_of(p, of, true);
	case am_allocator_sizes:
		return info_allocator_of(p, of, false);
	case am_cpu_topology:
		return of == am_defined ? am_undefined : TERM_NONE;
	default:
		return TERM_NONE;
	}
}

_Static_assert(sizeof(info_items) / sizeof(info_items[0]) <= ATOM_ROWS_MAX, "rows");

static bool is_there(Term item)
{
	return item == am_async_dist ? release_is_from(26) : item != am_halt_flush_timeout || release_bounds_flushing();
}

static void find_rows(void)
{
	for (unsigned i = 0; i < sizeof(info_items) / sizeof(info_items[0]); i++)
		if (is_there(info_items[i].name))
			atom_rows_add(&info.rows, info_items[i].name, i);
}

Term info_make_named(Process *p, const struct info_item *items, const struct atom_rows *rows, Term name)
{
	int i = atom_rows_find(rows, name);

	return i >= 0 ? items[i].make(p) : TERM_NONE;
}

Term bif_erlang_system_info_1(Process *p, Term *args)
{
	Term value = info_make_named(p, info_items, &info.rows, args[0]);

	if (likely(value != TERM_NONE))
		return value;
	if (is_cpu_topology(args[0]))
		return info_cpu_topology(p);
	if (term_is_tuple_of(args[0], 2))
		value = info_pair(p, tuple_get(args[0], 1), tuple_get(args[0], 2));
	if (term_is_tuple_of(args[0], 3) && tuple_get(args[0], 1) == am_memory_internal)
		value = info_request_memory(p, tuple_get(args[0], 2), tuple_get(args[0], 3));
	return value != TERM_NONE ? value : exc_badarg(p);
}

/* ---- system_flag: the value before */

static Term flag_fullsweep(Term value)
{
	if (!term_is_small(value) || small_value(value) < 0)
		return TERM_NONE;
	return int_term(atomic_exchange(&spawn_defaults.fullsweep_after,
					(uint32_t)(small_value(value) > 65535 ? 65535 : small_value(value))));
}

static Term flag_min_heap(Term value)
{
	size_t words;

	if (!heap_size_read(value, &words) || !heap_can_be_had(words))
		return TERM_NONE;
	return int_term((int64_t)atomic_exchange(&spawn_defaults.min_heap_words, words));
}

static Term flag_min_binaries(Term value)
{
	size_t words;

	if (!heap_size_read(value, &words))
		return TERM_NONE;
	return int_term((int64_t)atomic_exchange(&spawn_defaults.min_bin_vheap_words, words));
}

static Term flag_max_heap(Process *p, Term value)
{
	Term before = info_max_heap_size(p);
	uint32_t flags = atomic_load(&spawn_defaults.max_heap_flags);
	size_t words;

	if (!max_heap_read(value, &words, &flags))
		return TERM_NONE;
	atomic_store(&spawn_defaults.max_heap_words, words);
	atomic_store(&spawn_defaults.max_heap_flags, flags);
	return before;
}

static Term flag_backtrace_depth(Term value)
{
	if (!term_is_small(value) || small_value(value) < 0)
		return TERM_NONE;
	return SMALL(atomic_exchange(&exc_depth, small_value(value) < EXC_DEPTH_MAX ? (unsigned)small_value(value)
										    : EXC_DEPTH_MAX));
}

Term bif_erlang_system_flag_2(Process *p, Term *args)
{
	Term before = TERM_NONE;

	switch (args[0]) {
	case am_fullsweep_after:
		before = flag_fullsweep(args[1]);
		break;
	case am_min_heap_size:
		before = flag_min_heap(args[1]);
		break;
	case am_min_bin_vheap_size:
		before = flag_min_binaries(args[1]);
		break;
	case am_max_heap_size:
		before = flag_max_heap(p, args[1]);
		break;
	case am_backtrace_depth:
		before = flag_backtrace_depth(args[1]);
		break;
	case am_schedulers_online:
		return info_set_schedulers_online(p, args[1]);
	case am_dirty_cpu_schedulers_online:
		return info_set_dirty_online(p, args[1]);
	case am_multi_scheduling:
		return info_set_multi_scheduling(p, args[1]);
	case am_microstate_accounting:
		return info_set_microstate_accounting(p, args[1]);
	case am_scheduler_wall_time:
		return info_set_scheduler_wall_time(p, args[1]);
	case am_system_logger:
		if (args[1] == am_logger || args[1] == am_undefined || term_is_local_pid(args[1]))
			before = process_report_set_logger(args[1]);
		break;
	case am_outstanding_system_requests_limit:
		if (term_is_small(args[1]) && small_value(args[1]) > 0 && small_value(args[1]) <= REQUESTS_LIMIT_MAX)
			before = atomic_exchange(&info.requests_limit, args[1]);
		break;
	case am_trace_control_word:
		before = trace_set_control_word(args[1]);
		break;
	case am_reset_seq_trace:
		if (args[1] != am_true)
			break;
		trace_seq_reset();
		return am_true;
	case am_sequential_tracer:
		before = tracer_put(&p->heap, trace_seq_set_tracer(args[1]));
		break;
	case am_time_offset:
		if (args[1] != am_finalize)
			return exc_badarg_cause(p, am_badopt);
		before = am_final;
		break;
	default:
		return exc_badarg_cause(p, am_badopt);
	}
	return before != TERM_NONE ? before : exc_badarg(p);
}
