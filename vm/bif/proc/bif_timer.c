/* SPDX-License-Identifier: Apache-2.0 */
/* Built-in functions: timers that send messages. */
#include "bif/system/bif_info.h"
#include "data/number.h"
#include "proc/message.h"
#include "proc/peer.h"
#include "proc/probe.h"
#include "proc/timer_message.h"

/* Reads [{Key, boolean()}] into two flags. Fails: false. */
static bool read_flags(Term list, Term key1, bool *flag1, Term key2, bool *flag2)
{
	for (; term_is_cons(list); list = cons_tail(list)) {
		Term t = cons_head(list);
		bool *flag;

		if (!term_is_tuple_of(t, 2) || (tuple_get(t, 2) != am_true && tuple_get(t, 2) != am_false))
			return false;
		if (tuple_get(t, 1) == key1)
			flag = flag1;
		else if (tuple_get(t, 1) == key2 && flag2 != NULL)
			flag = flag2;
		else
			return false;
		*flag = tuple_get(t, 2) == am_true;
	}
	return list == NIL;
}

/* Reads when a timer ends, by the clock of monotonic time. Fails: false when that is before system_info(start_time) or
 * after end_time. */
static bool read_deadline(Term t, bool absolute, int64_t *ms)
{
	int64_t end_ms = INT64_MAX / 1000000, first_ms = absolute ? info_start_ns() / 1000000 : 0;

	if (!absolute)
		end_ms -= (int64_t)timer_deadline_ms(0);
	if (!num_get_int64(t, ms) || *ms < first_ms || *ms > end_ms)
		return false;
	if (!absolute)
		*ms = (int64_t)timer_deadline_ms((uint64_t)*ms);
	return true;
}

/* Before the timer runs, which may fire at once. */
static PROBE_COLD void tell_set(Process *p, const Term *args, bool absolute, int64_t deadline_ms)
{
	int64_t ms = deadline_ms - (int64_t)timer_deadline_ms(0);

	if (!absolute)
		num_get_int64(args[0], &ms);
	probe_timer__set(p, args[1], ms > 0 ? ms : 0);
}

static Term start_timer(Process *p, const Term *args, Term options, bool wrap)
{
	bool absolute = false;
	int64_t deadline_ms;

	if (!read_flags(options, am_abs, &absolute, TERM_NONE, NULL))
		return exc_badarg_cause(p, am_badopt);
	if (!read_deadline(args[0], absolute, &deadline_ms))
		return exc_badarg_cause(p, am_time);
	if (!term_is_local_pid(args[1]) && !term_is_atom(args[1]))
		return exc_badarg(p);
	if (PROBE_ON(timer__set))
		tell_set(p, args, absolute, deadline_ms);
	return timer_start_message(p, (uint64_t)deadline_ms, args[1], args[2], wrap);
}

Term bif_erlang_start_timer_3(Process *p, Term *args)
{
	return start_timer(p, args, NIL, true);
}

Term bif_erlang_start_timer_4(Process *p, Term *args)
{
	return start_timer(p, args, args[3], true);
}

Term bif_erlang_send_after_3(Process *p, Term *args)
{
	return start_timer(p, args, NIL, false);
}

Term bif_erlang_send_after_4(Process *p, Term *args)
{
	return start_timer(p, args, args[3], false);
}

/* Answers at once, or by a message {Tag, Ref, Left | false} to ourselves. */
static Term answer(Process *p, Term tag, Term ref, bool found, int64_t left_ms, bool async, bool info)
{
	Term result = found ? heap_int(&p->heap, left_ms) : am_false;

	if (!async)
		return info ? result : am_ok;
	if (info)
		message_send_to(p, p, heap_tuple(&p->heap, tag, ref, result));
	return am_ok;
}

static Term cancel_timer(Process *p, Term ref, Term options)
{
	bool async = false, info = true, found = false;
	int64_t left_ms = 0;

	if (!term_is_ref(ref) || !read_flags(options, am_async, &async, am_info, &info))
		return exc_badarg(p);
	found = term_is_local_ref(ref) && timer_cancel_message(ref_number(ref), &left_ms);
	if (PROBE_ON(timer__cancel))
		probe_timer__cancel(p, found ? left_ms : -1);
	return answer(p, am_cancel_timer, ref, found, left_ms, async, info);
}

Term bif_erlang_cancel_timer_1(Process *p, Term *args)
{
	return cancel_timer(p, args[0], NIL);
}

Term bif_erlang_cancel_timer_2(Process *p, Term *args)
{
	return cancel_timer(p, args[0], args[1]);
}

static Term read_timer(Process *p, Term ref, Term options)
{
	bool async = false, found;
	int64_t left_ms = 0;

	if (!term_is_ref(ref) || !read_flags(options, am_async, &async, TERM_NONE, NULL))
		return exc_badarg(p);
	found = term_is_local_ref(ref) && timer_read_message(ref_number(ref), &left_ms);
	return answer(p, am_read_timer, ref, found, left_ms, async, true);
}

Term bif_erlang_read_timer_1(Process *p, Term *args)
{
	return read_timer(p, args[0], NIL);
}

Term bif_erlang_read_timer_2(Process *p, Term *args)
{
	return read_timer(p, args[0], args[1]);
}
