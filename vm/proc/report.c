/* SPDX-License-Identifier: Apache-2.0 */
/* Crash reports of processes: to the system logger, else on standard error.
 * Invariant: a system logger that has ended is forgotten; then it is the process registered as `logger` again. */
#include "base/clock.h"
#include "base/log.h"
#include "data/map.h"
#include "data/print.h"
#include "proc/message.h"
#include "proc/registry.h"

static const char log_format[] = "Error in process ~p with exit value:~n~p~n";

static _Atomic Term system_logger = am_logger;

Term process_report_logger(void)
{
	return atomic_load(&system_logger);
}

Term process_report_set_logger(Term logger)
{
	return atomic_exchange(&system_logger, logger);
}

/* Its pid, or TERM_NONE. */
static Term find_logger(void)
{
	Term logger = atomic_load(&system_logger);

	if (logger == am_undefined)
		return TERM_NONE;
	if (term_is_local_pid(logger) && process_is_alive(logger))
		return logger;
	if (logger != am_logger)
		atomic_compare_exchange_strong(&system_logger, &logger, am_logger);
	return registry_whereis(am_logger);
}

static Term make_metadata(Process *p)
{
	struct heap *h = &p->heap;
	Term tags[4] = { am_emulator, am_true, am_tag, am_error };
	Term pairs[8] = { am_pid, p->id, am_gl, p->group_leader, am_time, heap_int(h, clock_system_ns() / 1000), am_error_logger,
			  map_from_pairs(h, tags, 2) };

	return map_from_pairs(h, pairs, 4);
}

static void tell_logger(Process *p, Term logger, Term reason)
{
	struct heap *h = &p->heap;
	Term format = heap_list_bytes(h, log_format, sizeof(log_format) - 1, NIL);
	Term args = heap_cons(h, p->id, heap_cons(h, reason, NIL));

	message_send(p, logger, heap_tuple(h, am_log, am_error, format, args, make_metadata(p)));
}

void process_report_crash(Process *p, Term reason)
{
	Term logger = find_logger();
	struct print_buffer b;

	if (logger != TERM_NONE && logger != p->id) {
		tell_logger(p, logger, reason);
		return;
	}
	print_buffer_init(&b, 1 << 16);
	print_text(&b, "Error in process ");
	print_term(&b, p->id);
	print_text(&b, " with exit value:\n");
	print_term(&b, reason);
	print_text(&b, "\n\n");
	log_text(b.text, b.used);
	print_buffer_free(&b);
}
