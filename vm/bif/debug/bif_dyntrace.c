/* SPDX-License-Identifier: Apache-2.0 */
/* The natives of dyntrace, by which Erlang code fires probes. Each returns whether somebody watches. Source: OTP 25's
 * dyntrace(3). */
#include "base/alloc.h"
#include "bif/bif.h"
#include "data/iolist.h"
#include "data/map.h"
#include "data/number.h"
#include "proc/batch.h"
#include "trace/user_probe.h"

Term bif_dyntrace_available_0(Process *p, Term *args)
{
	(void)p, (void)args;
	return term_from_bool(ERLVM_PROBES);
}

/* NULL for what is no text, or too long. Owns: the caller (mem_free). */
static char *read_text(Term t)
{
	size_t n;
	uint8_t *bytes = iolist_to_bytes(t, &n);

	if (bytes == NULL || n <= BATCH_TEXT_BYTES)
		return (char *)bytes;
	mem_free(bytes);
	return NULL;
}

Term bif_dyntrace_user_trace_s1_1(Process *p, Term *args)
{
	char *message;

	(void)p;
	if (!PROBE_ON(user_trace__s1))
		return am_false;
	message = read_text(args[0]);
	if (message == NULL)
		return am_badarg;
	probe_user_trace__s1(message);
	mem_free(message);
	return am_true;
}

/* args: tag, four numbers, four texts; an atom stands for what is not told. */
static void read_event(const Term *args, struct user_event *e)
{
	e->tag = read_text(args[0]);
	for (unsigned i = 0; i < USER_EVENT_NUMBERS; i++)
		if (!term_is_integer(args[1 + i]) || !num_get_int64(args[1 + i], &e->numbers[i]))
			e->numbers[i] = 0;
	for (unsigned i = 0; i < USER_EVENT_TEXTS; i++)
		e->texts[i] = read_text(args[1 + USER_EVENT_NUMBERS + i]);
}

static void free_event(struct user_event *e)
{
	mem_free(e->tag);
	for (unsigned i = 0; i < USER_EVENT_TEXTS; i++)
		mem_free(e->texts[i]);
}

Term bif_dyntrace_user_trace_i4s4_9(Process *p, Term *args)
{
	struct user_event e;

	if (!PROBE_ON(user_trace__i4s4))
		return am_false;
	read_event(args, &e);
	probe_user_trace__i4s4(p, &e);
	free_event(&e);
	return am_true;
}

Term bif_dyntrace_user_trace_n_10(Process *p, Term *args)
{
	struct user_event e;
	int64_t number;

	if (!term_is_small(args[0]) || !user_probe_exists(number = small_value(args[0])))
		return am_badarg;
	if (!user_probe_is_on((unsigned)number))
		return am_false;
	read_event(args + 1, &e);
	user_probe_fire((unsigned)number, p, &e);
	free_event(&e);
	return am_true;
}

/* ---- as a tracer module: erl_tracer(3) */

/* enabled(Tag, State, Tracee) */
Term bif_dyntrace_enabled_3(Process *p, Term *args)
{
	(void)p, (void)args;
	return PROBE_ON(trace) || PROBE_ON(trace_seq) ? am_trace : am_discard;
}

/* trace(Tag, State, Tracee, Term, Options) */
Term bif_dyntrace_trace_5(Process *p, Term *args)
{
	Term extra;

	(void)p;
	if (!PROBE_ON(trace) || !term_is_atom(args[0]))
		return am_ok;
	extra = term_is_map(args[4]) ? map_get(args[4], am_extra) : TERM_NONE;
	probe_trace(args[2], args[0], args[1], args[3], extra != TERM_NONE ? extra : am_undefined);
	return am_ok;
}
