/* SPDX-License-Identifier: Apache-2.0 */
/* Notes of processes, messages, memory and function calls. Invariant: one PROBE_FIRE a function. */
#include "proc/probe.h"

#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/hash.h"
#include "data/print.h"
#include "proc/sched.h"
#include "proc/seq_token.h"

bool (*probe_find_function)(const Inst *at, struct mfa *mfa);

/* ---- texts */

static char *put_number(char *at, uint64_t n)
{
	char digits[20];
	int k = 0;

	do
		digits[k++] = (char)('0' + n % 10);
	while ((n /= 10) != 0);
	while (k > 0)
		*at++ = digits[--k];
	return at;
}

static const char *put_pid(char *text, Term pid)
{
	char *at = text;

	memcpy(at, "<0.", 3);
	at = put_number(at + 3, pid_number(pid));
	*at++ = '.';
	at = put_number(at, pid_serial(pid));
	memcpy(at, ">", 2);
	return text;
}

const char *probe_term_text(char *text, Term t)
{
	size_t n;

	if (t == TERM_NONE) {
		memcpy(text, "undefined", 10);
		return text;
	}
	if (term_is_local_pid(t))
		return put_pid(text, t);
	if (t == am_normal)
		return atom_text(t, &n);
	print_term_fixed(text, PROBE_TEXT_BYTES, t);
	return text;
}

/* Direct mapped; a thread's own. */
enum { MFA_PLACES = 256 };
struct mfa_place {
	struct mfa mfa;
	char text[PROBE_TEXT_BYTES];
};
static _Thread_local struct mfa_place *mfa_places;

static const char *mfa_text(struct mfa mfa)
{
	struct print_buffer b;
	struct mfa_place *place;

	if (mfa_places == NULL)
		mfa_places = mem_zalloc(MFA_PLACES * sizeof(*mfa_places));
	place = &mfa_places[hash_word(mfa.module ^ mfa.function << 20 ^ mfa.arity) % MFA_PLACES];
	if (place->mfa.module == mfa.module && place->mfa.function == mfa.function && place->mfa.arity == mfa.arity)
		return place->text;
	place->mfa = mfa;
	print_buffer_fixed(&b, place->text, PROBE_TEXT_BYTES);
	print_mfa(&b, mfa.module, mfa.function, mfa.arity);
	return place->text;
}

static struct mfa find_current(const Process *p)
{
	struct mfa mfa;

	if (p->i != process_start_code && probe_find_function != NULL && probe_find_function(p->i, &mfa))
		return mfa;
	return (struct mfa){ p->initial_module, p->initial_function, p->initial_arity };
}

/* ---- processes */

PROBE_COLD void probe_process__spawn(Process *p)
{
	char pid[PROBE_PID_BYTES];

	put_pid(pid, p->id);
	PROBE_FIRE(process__spawn, pid, mfa_text((struct mfa){ p->initial_module, p->initial_function, p->initial_arity }));
}

PROBE_COLD void probe_process__exit(Process *p, Term reason)
{
	char pid[PROBE_PID_BYTES], text[PROBE_TEXT_BYTES];

	put_pid(pid, p->id);
	PROBE_FIRE(process__exit, pid, probe_term_text(text, reason));
}

PROBE_COLD void probe_process__exit_signal(Term from, Term to, Term reason)
{
	char sender[PROBE_TEXT_BYTES], receiver[PROBE_TEXT_BYTES], text[PROBE_TEXT_BYTES];

	PROBE_FIRE(process__exit_signal, probe_term_text(sender, from), probe_term_text(receiver, to),
		   probe_term_text(text, reason));
}

PROBE_COLD void probe_process__scheduled(Process *p)
{
	char pid[PROBE_PID_BYTES];

	put_pid(pid, p->id);
	PROBE_FIRE(process__scheduled, pid, mfa_text(find_current(p)));
}

PROBE_COLD void probe_process__unscheduled(Process *p)
{
	char pid[PROBE_PID_BYTES];

	put_pid(pid, p->id);
	PROBE_FIRE(process__unscheduled, pid);
}

static uint32_t count_list(Term list)
{
	uint32_t n = 0;

	for (; term_is_cons(list); list = cons_tail(list))
		n++;
	return n;
}

PROBE_COLD void probe_process__hibernate(Process *p, const Term *x)
{
	char pid[PROBE_PID_BYTES];

	put_pid(pid, p->id);
	PROBE_FIRE(process__hibernate, pid, mfa_text((struct mfa){ x[0], x[1], count_list(x[2]) }));
}

PROBE_COLD void probe_process__port_unblocked(Process *p, Term port)
{
	char pid[PROBE_PID_BYTES], text[PROBE_TEXT_BYTES];

	put_pid(pid, p->id);
	PROBE_FIRE(process__port_unblocked, pid, probe_term_text(text, port));
}

PROBE_COLD void probe_process__heap_grow(Process *p, size_t old_words, size_t new_words)
{
	char pid[PROBE_PID_BYTES];

	put_pid(pid, p->id);
	PROBE_FIRE(process__heap_grow, pid, (int64_t)old_words, (int64_t)new_words);
}

PROBE_COLD void probe_process__heap_shrink(Process *p, size_t old_words, size_t new_words)
{
	char pid[PROBE_PID_BYTES];

	put_pid(pid, p->id);
	PROBE_FIRE(process__heap_shrink, pid, (int64_t)old_words, (int64_t)new_words);
}

/* ---- messages */

PROBE_COLD void probe_message__send(Process *from, Term to, size_t words, Term token)
{
	char sender[PROBE_PID_BYTES], receiver[PROBE_PID_BYTES];
	struct seq_token_numbers n = seq_token_numbers(token);

	put_pid(sender, from->id);
	put_pid(receiver, to);
	PROBE_FIRE(message__send, sender, receiver, (int64_t)words, n.label, n.previous, n.current);
}

PROBE_COLD void probe_message__queued(Process *to, const struct signal *s)
{
	char pid[PROBE_PID_BYTES];
	struct seq_token_numbers n = seq_token_numbers(s->token);
	uint32_t length = to->in_length + __atomic_load_n(&to->msg_length, __ATOMIC_RELAXED);

	put_pid(pid, to->id);
	PROBE_FIRE(message__queued, pid, (int64_t)s->words, (int)length, n.label, n.previous, n.current);
}

PROBE_COLD void probe_message__receive(Process *p, const struct signal *s)
{
	char pid[PROBE_PID_BYTES];
	struct seq_token_numbers n = seq_token_numbers(s->token);
	uint32_t length = __atomic_load_n(&p->in_length, __ATOMIC_RELAXED) + p->msg_length;

	put_pid(pid, p->id);
	PROBE_FIRE(message__receive, pid, (int64_t)s->words, (int)length, n.label, n.previous, n.current);
}

/* ---- memory */

PROBE_COLD void probe_copy__struct(size_t words)
{
	PROBE_FIRE(copy__struct, (int64_t)words);
}

PROBE_COLD void probe_copy__object(Term to, size_t words)
{
	char pid[PROBE_PID_BYTES];

	put_pid(pid, to);
	PROBE_FIRE(copy__object, pid, (int64_t)words);
}

PROBE_COLD void probe_gc_minor__start(Process *p, size_t need)
{
	char pid[PROBE_PID_BYTES];

	put_pid(pid, p->id);
	PROBE_FIRE(gc_minor__start, pid, (int64_t)need);
}

PROBE_COLD void probe_gc_minor__end(Process *p, size_t reclaimed)
{
	char pid[PROBE_PID_BYTES];

	put_pid(pid, p->id);
	PROBE_FIRE(gc_minor__end, pid, (int64_t)reclaimed);
}

PROBE_COLD void probe_gc_major__start(Process *p, size_t need)
{
	char pid[PROBE_PID_BYTES];

	put_pid(pid, p->id);
	PROBE_FIRE(gc_major__start, pid, (int64_t)need);
}

PROBE_COLD void probe_gc_major__end(Process *p, size_t reclaimed)
{
	char pid[PROBE_PID_BYTES];

	put_pid(pid, p->id);
	PROBE_FIRE(gc_major__end, pid, (int64_t)reclaimed);
}

/* ---- function calls */

PROBE_COLD void probe_local__function__entry(Process *p, struct mfa mfa, int depth)
{
	char pid[PROBE_PID_BYTES];

	put_pid(pid, p->id);
	PROBE_FIRE(local__function__entry, pid, mfa_text(mfa), depth);
}

PROBE_COLD void probe_global__function__entry(Process *p, struct mfa mfa, int depth)
{
	char pid[PROBE_PID_BYTES];

	put_pid(pid, p->id);
	PROBE_FIRE(global__function__entry, pid, mfa_text(mfa), depth);
}

PROBE_COLD void probe_function__return(Process *p, struct mfa mfa, int depth)
{
	char pid[PROBE_PID_BYTES];

	put_pid(pid, p->id);
	PROBE_FIRE(function__return, pid, mfa_text(mfa), depth);
}

PROBE_COLD void probe_bif__entry(Process *p, struct mfa mfa)
{
	char pid[PROBE_PID_BYTES];

	put_pid(pid, p->id);
	PROBE_FIRE(bif__entry, pid, mfa_text(mfa));
}

PROBE_COLD void probe_bif__return(Process *p, struct mfa mfa)
{
	char pid[PROBE_PID_BYTES];

	put_pid(pid, p->id);
	PROBE_FIRE(bif__return, pid, mfa_text(mfa));
}

PROBE_COLD void probe_nif__entry(Process *p, struct mfa mfa)
{
	char pid[PROBE_PID_BYTES];

	put_pid(pid, p->id);
	PROBE_FIRE(nif__entry, pid, mfa_text(mfa));
}

PROBE_COLD void probe_nif__return(Process *p, struct mfa mfa)
{
	char pid[PROBE_PID_BYTES];

	put_pid(pid, p->id);
	PROBE_FIRE(nif__return, pid, mfa_text(mfa));
}
