/* SPDX-License-Identifier: Apache-2.0 */
/* Options of spawn_opt and monitor. */
#include "proc/spawn_opts.h"

#include "base/release.h"
#include "data/map.h"
#include "proc/process_life.h"
#include "proc/sched.h"

enum { FULLSWEEP_MAX = 65535 };

struct spawn_defaults spawn_defaults = { .fullsweep_after = FULLSWEEP_MAX, .min_heap_words = HEAP_MIN_WORDS,
					 .min_bin_vheap_words = HEAP_BINARY_MIN_WORDS };

static const Term priority_names[PRIO_COUNT] = { am_low, am_normal, am_high, am_max };

Term priority_atom(unsigned priority)
{
	return priority_names[priority];
}

bool priority_read(Term atom, uint8_t *priority)
{
	for (unsigned i = 0; i < PRIO_COUNT; i++) {
		if (priority_names[i] == atom) {
			*priority = (uint8_t)i;
			return true;
		}
	}
	return false;
}

static bool read_alias(Term t, uint8_t *alias)
{
	if (t == am_explicit_unalias)
		*alias = ALIAS_EXPLICIT;
	else if (t == am_demonitor)
		*alias = ALIAS_DEMONITOR;
	else if (t == am_reply_demonitor)
		*alias = ALIAS_REPLY;
	else
		return false;
	return true;
}

bool monitor_opts_read(Term list, struct monitor_options *o)
{
	for (; term_is_cons(list); list = cons_tail(list)) {
		Term t = cons_head(list);

		if (t == am_priority && release_has_priority_messages()) {
			o->priority = true;
			continue;
		}
		if (!term_is_tuple_of(t, 2))
			return false;
		if (tuple_get(t, 1) == am_tag)
			o->tag = tuple_get(t, 2);
		else if (tuple_get(t, 1) != am_alias || !read_alias(tuple_get(t, 2), &o->alias))
			return false;
	}
	return list == NIL;
}

/* Of true is made on_bit, of false off_bit; without the key they stay. */
static bool read_flag(Term map, Term key, uint32_t off_bit, uint32_t on_bit, uint32_t *flags)
{
	Term t = map_get(map, key);

	if (t == TERM_NONE)
		return true;
	if (t != am_true && t != am_false)
		return false;
	*flags = t == am_true ? (*flags & ~off_bit) | on_bit : (*flags & ~on_bit) | off_bit;
	return true;
}

bool max_heap_read(Term t, size_t *words, uint32_t *flags)
{
	Term size = t;

	*flags = (*flags & ~(uint32_t)PF_MAX_HEAP) | atomic_load(&spawn_defaults.max_heap_flags);
	if (term_is_map(t)) {
		size = map_get(t, am_size);
		if (!read_flag(t, am_kill, PF_MAX_HEAP_SPARE, 0, flags) ||
		    !read_flag(t, am_error_logger, PF_MAX_HEAP_SILENT, 0, flags) ||
		    (release_limits_binaries() &&
		     !read_flag(t, am_include_shared_binaries, 0, PF_MAX_HEAP_BINARIES, flags)))
			return false;
	}
	if (size == TERM_NONE || !term_is_small(size) || small_value(size) < 0)
		return false;
	if (small_value(size) != 0 && small_value(size) < HEAP_MIN_WORDS)
		return false;
	*words = (size_t)small_value(size);
	return true;
}

Term max_heap_map(struct heap *h, size_t words, uint32_t flags)
{
	static const Term keys[] = { am_error_logger, am_kill, am_size };
	Term map = map_from_atoms(h, 3, keys,
				  (Term[]){ term_from_bool(!(flags & PF_MAX_HEAP_SILENT)),
					    term_from_bool(!(flags & PF_MAX_HEAP_SPARE)),
					    term_from_small((int64_t)words) });

	if (!release_limits_binaries())
		return map;
	return map_put(h, map, am_include_shared_binaries, term_from_bool(flags & PF_MAX_HEAP_BINARIES));
}

static bool read_count(Term t, int64_t max, int64_t *n)
{
	if (!term_is_small(t) || small_value(t) < 0 || small_value(t) > max)
		return false;
	*n = small_value(t);
	return true;
}

static bool read_reply(Term t, uint8_t *reply)
{
	if (t == am_yes)
		*reply = REPLY_BOTH;
	else if (t == am_no)
		*reply = 0;
	else if (t == am_error_only)
		*reply = REPLY_ERROR;
	else if (t == am_success_only)
		*reply = REPLY_SUCCESS;
	else
		return false;
	return true;
}

static bool read_monitor(Term value, struct spawn_options *o)
{
	struct monitor_options m = { .tag = o->monitor_tag, .alias = o->alias };

	if (!monitor_opts_read(value, &m))
		return false;
	o->monitor = true;
	o->monitor_tag = m.tag;
	o->alias = m.alias;
	o->monitor_priority = m.priority;
	return true;
}

bool signal_opts_read(Term list, bool *priority)
{
	*priority = false;
	for (; term_is_cons(list); list = cons_tail(list)) {
		if (cons_head(list) != am_priority)
			return false;
		*priority = true;
	}
	return list == NIL;
}

bool heap_size_read(Term value, size_t *words)
{
	int64_t n;

	if (!read_count(value, HEAP_SIZE_MAX_WORDS, &n))
		return false;
	*words = gc_next_size_words((size_t)n);
	return true;
}

static bool read_pair(Term key, Term value, bool request, struct spawn_request *r)
{
	struct spawn_options *o = &r->options;
	int64_t n;

	switch (key) {
	case am_monitor:
		return read_monitor(value, o);
	case am_link:
		o->link = true;
		return release_has_priority_messages() && signal_opts_read(value, &o->link_priority);
	case am_priority:
		return priority_read(value, &o->priority);
	case am_fullsweep_after:
		if (!read_count(value, SMALL_MAX, &n))
			return false;
		o->fullsweep_after = (uint16_t)(n > FULLSWEEP_MAX ? FULLSWEEP_MAX : n);
		return true;
	case am_min_heap_size:
		return heap_size_read(value, &o->min_heap_words);
	case am_min_bin_vheap_size:
		return heap_size_read(value, &o->min_bin_vheap_words);
	case am_max_heap_size:
		return max_heap_read(value, &o->max_heap_words, &o->flags);
	case am_message_queue_data:
		o->off_heap_messages = value == am_off_heap;
		return value == am_off_heap || value == am_on_heap;
	case am_scheduler:
		if (!read_count(value, (int64_t)sched_count(), &n))
			return false;
		o->scheduler = (uint16_t)n;
		return true;
	case am_async_dist:
		o->flags = value == am_true ? o->flags | PF_ASYNC_DIST : o->flags & ~(uint32_t)PF_ASYNC_DIST;
		return value == am_true || value == am_false;
	case am_reply:
		return request && read_reply(value, &r->reply);
	case am_reply_tag:
		r->reply_tag = value;
		return request;
	default:
		return false;
	}
}

static bool read_option(Term t, bool request, struct spawn_request *r)
{
	if (t == am_link)
		r->options.link = true;
	else if (t == am_monitor)
		r->options.monitor = true;
	else
		return term_is_tuple_of(t, 2) && read_pair(tuple_get(t, 1), tuple_get(t, 2), request, r);
	return true;
}

/* Without any option. */
static void set_defaults(struct spawn_request *r)
{
	*r = (struct spawn_request){ .options = SPAWN_OPTIONS_DEFAULT,
				     .reply = REPLY_BOTH,
				     .reply_tag = am_spawn_reply };
	r->options.fullsweep_after = (uint16_t)atomic_load(&spawn_defaults.fullsweep_after);
	r->options.min_heap_words = atomic_load(&spawn_defaults.min_heap_words);
	r->options.min_bin_vheap_words = atomic_load(&spawn_defaults.min_bin_vheap_words);
	r->options.max_heap_words = atomic_load(&spawn_defaults.max_heap_words);
	r->options.flags = atomic_load(&spawn_defaults.max_heap_flags);
	r->options.off_heap_messages = atomic_load(&spawn_defaults.off_heap_messages);
}

bool spawn_opts_read(Term list, bool request, struct spawn_request *r)
{
	bool known = true;

	set_defaults(r);
	for (; term_is_cons(list); list = cons_tail(list))
		known &= read_option(cons_head(list), request, r);
	return known && list == NIL;
}

static bool is_own(Term option)
{
	Term key = term_is_tuple_of(option, 2) ? tuple_get(option, 1) : NIL;

	return option == am_link || option == am_monitor || key == am_link || key == am_monitor || key == am_reply ||
	       key == am_reply_tag;
}

bool spawn_opts_read_own(Term list, struct spawn_request *r)
{
	bool known = true;

	set_defaults(r);
	for (; term_is_cons(list); list = cons_tail(list))
		if (is_own(cons_head(list)))
			known &= read_option(cons_head(list), true, r);
	return known;
}
