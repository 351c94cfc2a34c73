/* SPDX-License-Identifier: Apache-2.0 */
/* The functions of match specifications that act. Source: "Match Specifications in Erlang" of OTP 25's reference
 * manual. */
#include "trace/action.h"

#include <stdio.h>

#include "code/breakpoint.h"
#include "code/module.h"
#include "data/binary.h"
#include "data/print.h"
#include "heap/copy.h"
#include "proc/exc.h"
#include "proc/registry.h"
#include "trace/process_text.h"
#include "trace/trace.h"
#include "trace/tracer.h"

static _Atomic uint32_t control_word;

Term trace_control_word(void)
{
	return SMALL(atomic_load(&control_word));
}

Term trace_set_control_word(Term value)
{
	if (!term_is_small(value) || small_value(value) < 0 || small_value(value) > UINT32_MAX)
		return TERM_NONE;
	return SMALL(atomic_exchange(&control_word, (uint32_t)small_value(value)));
}

struct run {
	struct match_context match; /* first */
	struct trace_session *session;
	struct trace_outcome outcome;
	bool is_test;
};

typedef Term (*action_fn)(struct run *r, Process *p, Term *args, unsigned n);

static Term act_is_seq_trace(struct run *r, Process *p, Term *args, unsigned n)
{
	(void)r; (void)args; (void)n;
	return term_from_bool(p->seq_token != NIL);
}

static Term act_get_seq_token(struct run *r, Process *p, Term *args, unsigned n)
{
	(void)r; (void)args; (void)n;
	return p->seq_token;
}

static Term act_set_seq_token(struct run *r, Process *p, Term *args, unsigned n)
{
	(void)n;
	if (r->is_test)
		return trace_seq_get(p, args[0]);
	/* the value may stand among the arguments, or in the specification */
	return trace_seq_set(p, args[0], copy_to_heap(args[1], &p->heap)) ? am_true : TERM_NONE;
}

static Term act_message(struct run *r, Process *p, Term *args, unsigned n)
{
	(void)p; (void)n;
	r->outcome.message = args[0];
	return am_true;
}

static Term act_return_trace(struct run *r, Process *p, Term *args, unsigned n)
{
	(void)p; (void)args; (void)n;
	r->outcome.is_return_traced = true;
	return am_true;
}

static Term act_exception_trace(struct run *r, Process *p, Term *args, unsigned n)
{
	(void)p; (void)args; (void)n;
	r->outcome.is_exception_traced = true;
	return am_true;
}

static Term act_display(struct run *r, Process *p, Term *args, unsigned n)
{
	struct print_buffer b;

	(void)r; (void)p; (void)n;
	print_buffer_init(&b, 0);
	print_term(&b, args[0]);
	print_text(&b, "\n");
	fputs(b.text, stdout);
	fflush(stdout);
	print_buffer_free(&b);
	return am_true;
}

/* ---- where the call comes from */

/* Does the slot of a stack hold one of the program's own? */
static bool is_return_address(Term slot)
{
	return term_is_header(slot) && slot != TERM_NONE && slot != (Term)breakpoint_return;
}

/* The innermost return address, or NULL. */
static const Inst *find_caller(const Process *p)
{
	for (const Term *slot = p->heap.stop; slot < p->heap.end; slot++)
		if (is_return_address(*slot))
			return (const Inst *)*slot;
	return NULL;
}

static Term act_caller(struct run *r, Process *p, Term *args, unsigned n)
{
	const Inst *at = find_caller(p), *info = at != NULL ? code_find_function(at) : NULL;

	(void)args; (void)n;
	if (info == NULL || r->is_test)
		return am_undefined;
	return heap_tuple(&p->heap, func_info_module(info), func_info_function(info), SMALL(func_info_arity(info)));
}

static Term act_caller_line(struct run *r, Process *p, Term *args, unsigned n)
{
	const Inst *at = find_caller(p);
	struct heap *h = &p->heap;
	struct code_place place;
	Term line = am_undefined;
	size_t bytes;
	const char *text;

	(void)args; (void)n;
	if (at == NULL || r->is_test || !code_find_place(at, &place))
		return am_undefined;
	if (place.line != 0) {
		text = atom_text(place.file, &bytes);
		line = heap_tuple(h, heap_list_bytes(h, text, bytes, NIL), SMALL(place.line));
	}
	return heap_tuple(h, place.module, place.function, SMALL(place.arity), line);
}

/* From the caller on, as erlang:process_info(_, current_stacktrace) tells frames. */
static Term act_current_stacktrace(struct run *r, Process *p, Term *args, unsigned n)
{
	const Inst *found[EXC_DEPTH_MAX];
	unsigned most = exc_depth_now(), count = 0;
	struct code_file_term file = { 0 };
	struct heap *h = &p->heap;
	struct code_place place;
	Term list = NIL;

	(void)r;
	if (n == 1 && small_value(args[0]) < most)
		most = (unsigned)small_value(args[0]);
	for (const Term *slot = h->stop; slot < h->end && count < most; slot++)
		if (is_return_address(*slot))
			found[count++] = (const Inst *)*slot;
	while (count-- > 0)
		if (code_find_place(found[count], &place))
			list = heap_cons(h, code_place_frame(h, &place, &file), list);
	return list;
}

static Term act_process_dump(struct run *r, Process *p, Term *args, unsigned n)
{
	struct print_buffer b;
	Term binary;

	(void)r; (void)args; (void)n;
	print_buffer_init(&b, 0);
	process_text_print(&b, p);
	binary = binary_put(&p->heap, b.text, b.used);
	print_buffer_free(&b);
	return binary;
}

/* ---- flags */

/* Another process changes its flags itself. */
static Term change_flags(struct run *r, Process *p, Term who, uint32_t on, uint32_t off, Term tracer)
{
	struct traced *t = trace_find(p, r->session);
	uint32_t before = t != NULL ? t->flags : 0;
	Term last = t != NULL ? t->tracer : NIL;

	if (who != p->id) {
		if (!term_is_local_pid(who) || !process_is_alive(who))
			return TERM_NONE;
		trace_flags_send(who, r->session, on, off, tracer);
		return am_true;
	}
	if (t == NULL && (on == 0 || tracer == NIL))
		return am_false;
	t = traced_get(p, r->session);
	traced_set(p, t, (before & ~off) | on, tracer);
	return term_from_bool(t->flags != before || t->tracer != last);
}

/* Who hears of what it switches on, when it does not say. */
static Term tracer_here(const struct run *r, const Process *p)
{
	const struct traced *t = trace_find(p, r->session);

	return r->session->tracer != NIL ? r->session->tracer : t != NULL ? t->tracer : NIL;
}

/* A registered name stands for its process. */
static Term change_flag(struct run *r, Process *p, Term *args, unsigned n, bool on)
{
	Term who = n == 2 ? args[0] : p->id;
	uint32_t bits = trace_flag_bits(args[n - 1]);

	if (term_is_atom(who))
		who = registry_whereis(who);
	if (bits == 0 || who == TERM_NONE)
		return TERM_NONE;
	return change_flags(r, p, who, on ? bits : 0, on ? 0 : bits, tracer_here(r, p)) != TERM_NONE ? am_true
												     : TERM_NONE;
}

static Term act_enable_trace(struct run *r, Process *p, Term *args, unsigned n)
{
	return change_flag(r, p, args, n, true);
}

static Term act_disable_trace(struct run *r, Process *p, Term *args, unsigned n)
{
	return change_flag(r, p, args, n, false);
}

static Term act_trace(struct run *r, Process *p, Term *args, unsigned n)
{
	Term who = n == 3 ? args[0] : p->id, tracer = tracer_here(r, p), off_tracer, on_tracer;
	uint32_t on, off;
	bool cpu_time;

	if (!trace_flags_read(r->session, args[n - 2], &off, &off_tracer, &cpu_time) ||
	    !trace_flags_read(r->session, args[n - 1], &on, &on_tracer, &cpu_time))
		return TERM_NONE;
	if (on_tracer != TERM_NONE)
		tracer = on_tracer;
	if (tracer != NIL && !tracer_is_alive(tracer, p->id))
		return TERM_NONE;
	if (term_is_atom(who))
		who = registry_whereis(who);
	return who == TERM_NONE ? TERM_NONE : change_flags(r, p, who, on, off, tracer);
}

static Term act_silent(struct run *r, Process *p, Term *args, unsigned n)
{
	struct traced *t = trace_find(p, r->session);

	(void)n;
	if (t != NULL && args[0] == am_true && t->flags != 0)
		traced_set(p, t, t->flags | TRACE_SILENT, t->tracer);
	else if (t != NULL && args[0] == am_false)
		traced_set(p, t, t->flags & ~(uint32_t)TRACE_SILENT, t->tracer);
	return am_true;
}

static Term act_get_tcw(struct run *r, Process *p, Term *args, unsigned n)
{
	(void)r; (void)p; (void)args; (void)n;
	return trace_control_word();
}

static Term act_set_tcw(struct run *r, Process *p, Term *args, unsigned n)
{
	(void)n;
	return r->is_test ? act_get_tcw(r, p, args, 0) : trace_set_control_word(args[0]);
}

static Term run_action(struct match_context *c, unsigned action, Term *args, unsigned n)
{
	static const action_fn actions[] = {
#define ACTION_SINCE(since, name, fewest, most, in_guard, events) act_##name,
#include "ets/match_actions.def"
	};

	return actions[action]((struct run *)c, c->p, args, n);
}

static struct trace_outcome run(Process *p, struct trace_session *session, struct match_program *program,
				Term arguments, bool is_test)
{
	struct run r = { .session = session, .outcome = { .message = am_true }, .is_test = is_test };
	Term fits;

	match_begin(&r.match, p, program, false);
	r.match.run_action = run_action;
	fits = match_run(&r.match, arguments);
	match_end(&r.match);
	if (fits == TERM_NONE)
		r.outcome = (struct trace_outcome){ .message = am_false };
	return r.outcome;
}

struct trace_outcome trace_run(Process *p, struct trace_session *session, struct match_program *program, Term arguments)
{
	return run(p, session, program, arguments, false);
}

struct trace_outcome trace_run_test(Process *p, struct match_program *program, Term arguments)
{
	return run(p, &trace_default, program, arguments, true);
}
