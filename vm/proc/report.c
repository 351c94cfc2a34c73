/* SPDX-License-Identifier: Apache-2.0 */
/* Reports of processes that crash or outgrow their heap: to the system logger, else on standard error.
 * Invariant: a system logger that has ended is forgotten; then it is the process registered as `logger` again. */
#include <string.h>

#include "base/clock.h"
#include "base/log.h"
#include "data/binary.h"
#include "data/map.h"
#include "data/print.h"
#include "proc/message.h"
#include "proc/registry.h"
#include "proc/report.h"
#include "term/node.h"

/* Formats: of a VM that is a node, and of one that is none. */
static const char *const crash_format[] = {
	"Error in process ~p with exit value:~n~p~n", "Error in process ~p on node ~p with exit value:~n~p~n",
};
#define MAX_HEAP_FORMAT(where) \
	"     Process:            ~p " where "~n     Context:            maximum heap size reached~n" \
	"     Max Heap Size:      ~p~n     Total Heap Size:    ~p~n     Kill:               ~p~n" \
	"     Error Logger:       ~p~n     Message Queue Len:  ~p~n     GC Info:            ~p~n"
static const char *const max_heap_format[] = { MAX_HEAP_FORMAT(""), MAX_HEAP_FORMAT("on node ~p") };

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
	Term pairs[8] = { am_pid,          p->id,
			  am_gl,           p->group_leader,
			  am_time,         heap_int(h, clock_system_ns() / 1000),
			  am_error_logger, map_from_pairs(h, tags, 2) };

	return map_from_pairs(h, pairs, 4);
}

static void tell_logger(Process *p, Term logger, const char *format, Term args)
{
	struct heap *h = &p->heap;
	Term text = heap_list_bytes(h, format, strlen(format), NIL);

	message_send(p, logger, heap_tuple(h, am_log, am_error, text, args, make_metadata(p)));
}

static bool is_node(void)
{
	return node_self().name != am_nonode_nohost;
}

/* The process, the node that it is at, when there is one, and the rest. */
static Term put_place(Process *p, struct heap *h, Term rest)
{
	return heap_cons(h, p->id, is_node() ? heap_cons(h, node_self().name, rest) : rest);
}

void process_report_crash(Process *p, Term reason)
{
	Term logger = find_logger();
	struct print_buffer b;

	if (logger != TERM_NONE && logger != p->id) {
		tell_logger(p, logger, crash_format[is_node()],
			    put_place(p, &p->heap, heap_cons(&p->heap, reason, NIL)));
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

void process_report_error(Process *p, const char *text)
{
	Term logger = find_logger();

	if (logger != TERM_NONE && logger != p->id)
		tell_logger(p, logger, "~ts~n", heap_cons(&p->heap, binary_put(&p->heap, text, strlen(text)), NIL));
	else
		log_line("%s", text);
}

/* ---- max_heap_size */

static Term words_term(size_t n) { return term_from_small((int64_t)n); }

Term process_report_gc_info(const struct heap *own, struct heap *h)
{
	const Term pairs[][2] = {
		{ am_old_heap_block_size, words_term((size_t)(own->old_end - own->old_start)) },
		{ am_heap_block_size, words_term((size_t)(own->end - own->start)) },
		{ am_mbuf_size, words_term(own->fragment_words) },
		{ am_recent_size, words_term((size_t)(own->high - own->start)) },
		{ am_stack_size, words_term((size_t)(own->end - own->stop)) },
		{ am_old_heap_size, words_term((size_t)(own->old_top - own->old_start)) },
		{ am_heap_size, words_term((size_t)(own->top - own->start)) },
		{ am_bin_vheap_size, words_term(own->binary_words) },
		{ am_bin_vheap_block_size, words_term(own->binary_limit_words) },
		{ am_bin_old_vheap_size, words_term(own->old_binary_words) },
		{ am_bin_old_vheap_block_size, words_term(own->binary_min_words) },
	};
	Term list = NIL;

	for (size_t i = sizeof(pairs) / sizeof(pairs[0]); i-- > 0;)
		list = heap_cons(h, heap_tuple(h, pairs[i][0], pairs[i][1]), list);
	return list;
}

static Term max_heap_args(Process *p, struct heap *h, size_t total_words, Term info)
{
	const Term args[] = { words_term(p->heap.max_words),
			      words_term(total_words),
			      term_from_bool(!(p->flags & PF_MAX_HEAP_SPARE)),
			      am_true,
			      words_term(p->msg_length),
			      info };

	return put_place(p, h, heap_list_array(h, sizeof(args) / sizeof(args[0]), args, NIL));
}

void process_report_max_heap(Process *p, size_t total_words)
{
	const struct heap before = p->heap;
	Term logger = find_logger(), info;
	struct print_buffer b;

	p->heap.top = p->heap.stop; /* the room of the collection is the caller's */
	info = process_report_gc_info(&before, &p->heap);
	if (logger != TERM_NONE && logger != p->id) {
		tell_logger(p, logger, max_heap_format[is_node()], max_heap_args(p, &p->heap, total_words, info));
	} else {
		print_buffer_init(&b, 1 << 12);
		print_text(&b, "Maximum heap size reached by process ");
		print_term(&b, p->id);
		print_text(&b, ": ");
		print_term(&b, info);
		print_text(&b, "\n");
		log_text(b.text, b.used);
		print_buffer_free(&b);
	}
	p->heap.top = before.top;
}
