/* SPDX-License-Identifier: Apache-2.0 */
/* Built-in functions: what erl_debugger (OTP 28) shows of a process that is suspended: its stack, frame by frame, and
 * its registers. Looked at while the world is stopped. */
#include "bif/bif.h"
#include "bif/proc/process_items.h"
#include "code/breakpoint.h"
#include "code/line_break.h"
#include "data/bits.h"
#include "data/map.h"
#include "data/number.h"
#include "heap/copy.h"
#include "proc/sched.h"

/* Who asks, of whom, and what for. */
struct look {
	Process *p;
	Term pid;
	uint64_t max_words;  /* of a term that is shown */
	uint64_t frame, slot; /* the one that is wanted */
	Term (*show)(struct look *l, Process *other);
	Term result;
};

static void look_stopped(void *arg)
{
	struct look *l = arg;
	Process *other = process_peek(l->pid);
	uint32_t state = other != NULL ? atomic_load(&other->state) : 0;

	l->result = am_running;
	if (other != NULL && other->id == l->pid && (state & (PS_SUSPENDED | PS_RUNNING | PS_EXITING)) == PS_SUSPENDED)
		l->result = l->show(l, other);
}

static bool get_count(Term t, uint64_t *n)
{
	if (!term_is_small(t) || small_value(t) < 0)
		return false;
	*n = (uint64_t)small_value(t);
	return true;
}

static Term look(Process *p, Term pid, struct look *l)
{
	l->p = p;
	l->pid = pid;
	sched_stop_world(look_stopped, l);
	return l->result;
}

static bool may_look(Process *p, Term pid)
{
	return term_is_local_pid(pid) && pid != p->id;
}

/* ---- values */

/* {value, Term} or {too_large, Words}. What matches a binary is the binary that is left. */
static Term put_value(const struct look *l, Term t)
{
	struct heap *h = &l->p->heap;
	size_t words;

	if (term_has_sub(t, SUB_MATCH))
		t = bits_get_tail(h, (const struct match_ctx *)boxed_ptr(t));
	words = copy_flat_size_words(t);
	if (words > l->max_words)
		return heap_tuple(h, am_too_large, heap_uint(h, words));
	return heap_tuple(h, am_value, copy_to_heap(t, h));
}

/* ---- frames: from the top of the stack, a return address and the words behind it, which are its frame's */

static bool is_address(Term t) { return term_is_header(t) && t != TERM_NONE; }

static Term text_atom(const char *text) { return atom_from_utf8(text, strlen(text), NULL); }

static Term put_code(struct heap *h, Term module, Term function, uint32_t arity, uint32_t line)
{
	Term mfa = heap_tuple(h, module, function, term_from_small(arity));
	Term at = line != 0 ? term_from_small(line) : (Term)am_undefined;

	return map_from_pairs(h, (Term[]){ am_function, mfa, am_line, at }, 2);
}

/* Of a return address, or the address right behind an instruction. */
static Term put_address(struct heap *h, const Inst *at)
{
	struct code_place place;

	if (at == line_return)
		return text_atom("<breakpoint>");
	if (code_find_place(at, &place))
		return put_code(h, place.module, place.function, place.arity, place.line);
	return text_atom((uint16_t)*at == OP_normal_exit ? "<terminate process normally>" : "unknown function");
}

static Term put_current(struct heap *h, Process *other)
{
	struct code_place place;

	if (process_item_find_current(other, &place))
		return put_code(h, place.module, place.function, place.arity, place.line);
	return put_address(h, other->i + 1);
}

static Term put_slot(const struct look *l, Term t)
{
	struct heap *h = &l->p->heap;

	return term_is_catch(t) ? heap_tuple(h, am_catch, put_address(h, catch_handler(t))) : put_value(l, t);
}

/* The next return address from `at` on; the end of the stack when there is none. */
static const Term *next_address(const Process *other, const Term *at)
{
	while (at < other->heap.end) {
		at = breakpoint_skip_frames(at);
		if (is_address(*at))
			break;
		at++;
	}
	return at;
}

/* Frames below and with the one whose words begin at `at`; the first of all has number 0. */
static uint64_t count_frames(const Process *other, const Term *at)
{
	uint64_t n = 1;

	for (at = next_address(other, at); at < other->heap.end; at = next_address(other, at + 1))
		n++;
	return n;
}

static bool is_slot(const Term *at) { return !term_is_header(*at); }

/* The words of a frame, but what tells of calls that are traced. */
static Term put_slots(const struct look *l, const Process *other, const Term *from)
{
	const Term *to = next_address(other, from);
	Term list = NIL;

	while (to-- > from)
		if (is_slot(to))
			list = heap_cons(&l->p->heap, put_slot(l, *to), list);
	return list;
}

static Term put_frame(const struct look *l, const Process *other, uint64_t number, Term code, const Inst *at,
		      const Term *slots)
{
	struct heap *h = &l->p->heap;
	Term info = map_from_pairs(h, (Term[]){ am_slots, put_slots(l, other, slots), am_code,
						heap_uint(h, (uintptr_t)at) }, 2);

	return heap_tuple(h, term_from_small((int64_t)number), code, info);
}

/* From the top of the stack, and so with the number that is greatest first. */
static Term show_frames(struct look *l, Process *other)
{
	struct heap *h = &l->p->heap;
	const Term *at = other->heap.stop;
	uint64_t n = count_frames(other, at);
	Term list = heap_cons(h, put_frame(l, other, --n, put_current(h, other), other->i, at), NIL), result = NIL;

	while ((at = next_address(other, at)) < other->heap.end) {
		const Inst *code = (const Inst *)*at++;

		list = heap_cons(h, put_frame(l, other, --n, put_address(h, code), code, at), list);
	}
	for (; list != NIL; list = cons_tail(list))
		result = heap_cons(h, cons_head(list), result);
	return result;
}

static Term show_slot(struct look *l, Process *other)
{
	const Term *at = other->heap.stop;
	uint64_t n = count_frames(other, at), slot = l->slot;

	if (l->frame >= n)
		return am_undefined;
	while (--n > l->frame)
		at = next_address(other, at) + 1;
	for (; at < next_address(other, at); at++)
		if (is_slot(at) && slot-- == 0)
			return put_slot(l, *at);
	return am_undefined;
}

Term bif_erl_debugger_stack_frames_2(Process *p, Term *args)
{
	struct look l = { .show = show_frames };

	if (!line_break_is_supported())
		return exc_error(p, am_undef);
	if (!may_look(p, args[0]) || !get_count(args[1], &l.max_words))
		return exc_badarg(p);
	return look(p, args[0], &l);
}

Term bif_erl_debugger_peek_stack_frame_slot_4(Process *p, Term *args)
{
	struct look l = { .show = show_slot };

	if (!line_break_is_supported())
		return exc_error(p, am_undef);
	if (!may_look(p, args[0]) || !get_count(args[1], &l.frame) || !get_count(args[2], &l.slot) ||
	    !get_count(args[3], &l.max_words))
		return exc_badarg(p);
	return look(p, args[0], &l);
}

/* ---- registers */

static Term show_count(struct look *l, Process *other)
{
	(void)l;
	return term_from_small(other->live);
}

static Term show_register(struct look *l, Process *other)
{
	return l->slot < other->live ? put_value(l, other->x[l->slot]) : (Term)am_undefined;
}

Term bif_erl_debugger_xregs_count_1(Process *p, Term *args)
{
	struct look l = { .show = show_count };

	if (!line_break_is_supported())
		return exc_error(p, am_undef);
	if (!may_look(p, args[0]))
		return exc_badarg(p);
	return look(p, args[0], &l);
}

Term bif_erl_debugger_peek_xreg_3(Process *p, Term *args)
{
	struct look l = { .show = show_register };

	if (!line_break_is_supported())
		return exc_error(p, am_undef);
	if (!may_look(p, args[0]) || !get_count(args[1], &l.slot) || !get_count(args[2], &l.max_words))
		return exc_badarg(p);
	return look(p, args[0], &l);
}
