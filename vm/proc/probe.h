/* SPDX-License-Identifier: Apache-2.0 */
/* The probes of processes, messages, memory and function calls. Each function is the one place that tells of its probe
 * (PROBE_TELL) and is only called behind PROBE_ON. Printed pids, function names and atoms cost no printf: names are
 * cached by thread. */
#ifndef VM_PROC_PROBE_H
#define VM_PROC_PROBE_H

#include "proc/batch.h"
#include "proc/process.h"
#include "usdt.h"

/* Wired by exec: the function that code belongs to. False when `at` is in none. stays: `at` is that function's until
 * *probe_code_given changes. NULL: nobody knows. */
extern bool (*probe_find_function)(const Inst *at, struct mfa *mfa, bool *stays);
/* The function that called the native that p runs. False: it is in none, or nobody knows. */
bool probe_find_caller(const Process *p, struct mfa *mfa);
/* Wired by exec: how often code was given back. */
extern const atomic_uint_fast64_t *probe_code_given;

/* Before the process may run: x holds what it is to apply. */
PROBE_COLD void probe_process__spawn(Process *p);
PROBE_COLD void probe_process__exit(Process *p, Term reason);
/* The process registered that name, TERM_NONE: has none any more. No event of the catalogue; pages tell it while
 * somebody watches births there, which PROBE_NAMES_ON says. pid: local; name: an atom. */
#define PROBE_NAMES_ON() PROBE_BATCHES(process__spawn)
PROBE_COLD void probe_process_named(Term pid, Term name);
/* The same: it says what it is to do; it has that label, TERM_NONE: none any more. */
PROBE_COLD void probe_process_called(Term pid, struct mfa call);
PROBE_COLD void probe_process_labelled(Term pid, Term label);
PROBE_COLD void probe_process__exit_signal(Term from, Term to, Term reason);
/* One that is scheduled out (`ends`) and the next (`at_once`) share a reading of the clock: see proc/batch.h. */
PROBE_COLD void probe_process__scheduled(Process *p, bool at_once);
PROBE_COLD void probe_process__unscheduled(Process *p, bool ends);
/* It was taken from a run queue. */
PROBE_COLD void probe_process__taken(Process *p);
/* x: module, function, arguments. */
PROBE_COLD void probe_process__hibernate(Process *p, const Term *x);
PROBE_COLD void probe_process__port_unblocked(Term pid, Term port);
PROBE_COLD void probe_process__heap_grow(Process *p, size_t old_words, size_t new_words);
PROBE_COLD void probe_process__heap_shrink(Process *p, size_t old_words, size_t new_words);

/* from NULL: fired for nobody (timers, drivers); not called then. runs: the receiver does, just then. Returns when,
 * in ticks; 0: no batch holds it. */
PROBE_COLD uint64_t probe_message__send(Process *from, Term to, size_t words, Term token, bool runs);
/* signals_lock of `to` held; s is about to be queued. sent: what probe_message__send returned, the moment of both; 0:
 * it was not told. */
PROBE_COLD void probe_message__queued(Process *to, Term token, size_t words, uint64_t sent);
enum message_origin {
#define MESSAGE_ORIGIN(number, name, text) MESSAGE_FROM_##name = number,
#include "probes.def"
};
/* runs: as of a send. */
PROBE_COLD void probe_message__arrive(Term to, enum message_origin origin, bool runs);
PROBE_COLD void probe_message__receive(Process *p, Term token, size_t words);
/* Where p stands (p->i) is in the receive. */
PROBE_COLD void probe_receive__scan(Process *p, uint64_t walked);
/* sent_ticks 0: it is not known when. */
PROBE_COLD void probe_message__drop(Term receiver);
PROBE_COLD void probe_message__waited(Process *p, uint64_t sent_ticks, uint32_t queue_len);
enum request_step {
#define REQUEST_STEP(number, name, text) REQUEST_##name = number,
#include "probes.def"
};
/* pid, peer: as the step has them; TERM_NONE: nobody. */
PROBE_COLD void probe_request__step(Term pid, Term peer, enum request_step step, uint64_t reference);

/* after_ms: until it is due; left_ms -1: there is none; at_ms: when it is due, by the clock of proc/timer.h. */
PROBE_COLD void probe_timer__set(Process *p, Term to, int64_t after_ms);
PROBE_COLD void probe_timer__cancel(Process *p, int64_t left_ms);
/* receiver TERM_NONE: nobody has the name `to`. */
PROBE_COLD void probe_timer__fire(Term receiver, Term to, uint64_t at_ms);
PROBE_COLD void probe_timer__drop(Term receiver, uint64_t at_ms);

/* type: visible, hidden; reason: TERM_NONE, nothing to tell. */
PROBE_COLD void probe_dist__monitor(Term what, Term node, Term type, Term reason);

PROBE_COLD void probe_copy__struct(size_t words);
PROBE_COLD void probe_copy__object(Term to, size_t words);
PROBE_COLD void probe_gc_minor__start(Process *p, size_t need);
PROBE_COLD void probe_gc_minor__end(Process *p, size_t reclaimed);
PROBE_COLD void probe_gc_major__start(Process *p, size_t need);
PROBE_COLD void probe_gc_major__end(Process *p, size_t reclaimed);

PROBE_COLD void probe_local__function__entry(Process *p, struct mfa mfa, int depth);
PROBE_COLD void probe_global__function__entry(Process *p, struct mfa mfa, int depth);
PROBE_COLD void probe_function__return(Process *p, struct mfa mfa, int depth);
PROBE_COLD void probe_bif__entry(Process *p, struct mfa mfa);
PROBE_COLD void probe_bif__return(Process *p, struct mfa mfa);
PROBE_COLD void probe_nif__entry(Process *p, struct mfa mfa);
PROBE_COLD void probe_nif__return(Process *p, struct mfa mfa);

#endif
