/* SPDX-License-Identifier: Apache-2.0 */
/* Tracing: erlang:trace/3 and its kin, each for a session (trace/session.h). The flags of processes are proc's
 * (proc/tracee.h), what stands in code is code's (code/breakpoint.h); this room says who is told what. */
#ifndef VM_TRACE_TRACE_H
#define VM_TRACE_TRACE_H

#include "ets/match.h"
#include "trace/session.h"

/* Wires the hooks of proc and code. After match specifications. */
void trace_init(void);

/* ---- flags */

/* The bits of a flag's name, 0 for no flag; `all` is every one. */
uint32_t trace_flag_bits(Term name);
/* [Flag | {tracer, Pid | Port} | {tracer, erl_tracer, Pid | Port} | {tracer, Module, State}]. *tracer stays TERM_NONE
 * without one; a session that has its own takes no other. cpu_time: is cpu_timestamp there, too? Fails: false. */
bool trace_flags_read(const struct trace_session *s, Term list, uint32_t *flags, Term *tracer, bool *cpu_time);
/* A tracer as options give it: {tag, Pid | Port}, {tag, erl_tracer, Pid | Port} or {tag, Module, State}, which is then
 * a number (trace/tracer_module.h). Fails: TERM_NONE. May stop the world. */
Term trace_read_tracer(Term t, Term tag);
/* The same of a session: Pid | Port | {erl_tracer, Pid | Port} | {Module, State}. */
Term trace_read_session_tracer(Term t);
/* The flags as trace_info/2 shows them. */
Term trace_flags_list(struct heap *h, uint32_t flags);

/* Changes the flags of whom `spec` names: a pid, a port, or all, existing, new, processes, ... tracer: TERM_NONE to
 * leave whom there is. What a native of p returns (proc/await.h): how many were changed; a badarg when there is no such
 * process, port or spec, or somebody else traces it. Stops the world for existing processes. */
Term trace_change(Process *p, struct trace_session *session, Term spec, bool on, uint32_t flags, Term tracer);
/* The flags and tracer (NIL: nobody) of p, which runs here or is held; a tracer that is gone is forgotten. */
void trace_look_process(Process *p, const struct trace_session *session, uint32_t *flags, Term *tracer);
/* Those of a port, or of new, new_processes, new_ports. Fails: false for nobody. */
bool trace_look(Term spec, struct trace_session *session, uint32_t *flags, Term *tracer);
/* [{Name, Id}] on h: the sessions that trace p, which runs here or is held, and a port (TERM_NONE: there is none). */
Term trace_sessions_of_process(const Process *p, struct heap *h);
Term trace_sessions_of_port(Term id, struct heap *h);
/* The process drops what is left of sessions that are over, and sends the message Pid to the cleaner. Fails: false, it
 * is gone. */
bool trace_clean_process(Term pid, Term cleaner);
void trace_clean_port(Term id);
/* What is traced changes between the two. on: somebody traces from now on. At the end no port is held. */
void trace_begin_change(bool on);
void trace_end_change(void);
/* Something that events depend on has changed: does anybody trace at all? No port is held. */
void trace_review(void);
/* Does anybody trace, or is about to, or is there a tracer of sequential tracing? */
bool trace_is_used(void);

/* ---- functions */

enum trace_kind {
	TRACE_KIND_GLOBAL = 1 << 0,
	TRACE_KIND_LOCAL = 1 << 1,
	TRACE_KIND_META = 1 << 2,
	TRACE_KIND_COUNT = 1 << 3,
	TRACE_KIND_TIME = 1 << 4,
	TRACE_KIND_MEMORY = 1 << 5,
	TRACE_KIND_MEASURES = TRACE_KIND_TIME | TRACE_KIND_MEMORY,
	TRACE_KIND_BREAKPOINTS = TRACE_KIND_LOCAL | TRACE_KIND_META | TRACE_KIND_COUNT | TRACE_KIND_MEASURES,
};
enum trace_how { TRACE_OFF, TRACE_ON, TRACE_RESTART, TRACE_PAUSE };
/* {M, F, A} with wildcards from the right: TERM_NONE; arity -1. */
struct trace_mfa {
	Term module, function;
	int64_t arity;
};
bool trace_mfa_matches(const struct trace_mfa *mfa, Term module, Term function, unsigned arity);
/* Breakpoints of a debugger (code/breakpoint.h) in functions of current code, on or off. Returns how many functions
 * match, but for those in whose first operation a process waits for a message. Stops the world. */
size_t trace_debug(const struct trace_mfa *mfa, bool on);
/* kinds: GLOBAL, or of the others. program may be NULL; is counted, not taken. Returns how many functions match. Stops
 * the world. */
size_t trace_pattern(struct trace_session *s, const struct trace_mfa *mfa, enum trace_how how, unsigned kinds,
		     struct match_program *program, Term meta_tracer);
/* All points of a session that is over. Stops the world when there are any. */
void trace_pattern_clear(struct trace_session *s);
/* The pattern for code to come. Threads go by it when each has been between two time slices: see proc/await.h. */
void trace_pattern_on_load(struct trace_session *s, enum trace_how how, unsigned kinds, struct match_program *program,
			   Term meta_tracer);
/* event: am_send or am_receive. Threads go by it when each has been between two time slices: see proc/await.h. */
void trace_pattern_event(struct trace_session *s, Term event, enum trace_how how, struct match_program *program);

/* What is traced of one function, or of code to come. */
struct trace_point_info {
	bool exists;
	unsigned kinds;
	struct match_program *program, *meta_program; /* not counted: there until the time slice ends */
	Term meta_tracer;
	uint64_t count;
	Term measured[MEASURES]; /* [{Pid, Count, Seconds, MicroSeconds}], [{Pid, Count, Words}] on the heap given */
};
void trace_look_function(struct trace_session *s, const struct trace_mfa *mfa, struct heap *h,
			 struct trace_point_info *info);
/* [{Name, Id}] on h: the sessions with a point there; am_undefined: there is no such function. */
Term trace_sessions_of_function(const struct trace_mfa *mfa, struct heap *h);
void trace_look_on_load(struct trace_session *s, struct trace_point_info *info);
/* am_false, am_true, or a copy of the specification on h. */
Term trace_look_event(struct trace_session *s, Term event, struct heap *h);
/* The specification that m was made from, on h. */
Term trace_spec(const struct match_program *m, struct heap *h);

/* 32 bits, for match specifications of all sessions. Setting them returns the value before. Fails: TERM_NONE. */
Term trace_control_word(void);
Term trace_set_control_word(Term value);

/* ---- sequential tracing */
/* The token {Flags, Label, Serial, From, Previous} of p, one item of it set: as seq_trace/2, without its result. Fails:
 * false. */
bool trace_seq_set(Process *p, Term item, Term value);
/* {Item, Value} of that token on p's heap, [] when there is no token to have it. Fails: TERM_NONE for no item. */
Term trace_seq_get(Process *p, Term item);
/* print: {seq_trace, Label, {print, ...}}. Returns whether p's token wants it. */
bool trace_seq_print(Process *p, Term message);
uint64_t trace_seq_bit(Term name);
/* system_flag(sequential_tracer, _): a pid, port or number of {Module, State}, or am_false. Setting it returns the one
 * before. Fails: TERM_NONE. */
Term trace_seq_tracer(void);
Term trace_seq_set_tracer(Term tracer);
/* No process and no message has a token any more. Stops the world. */
void trace_seq_reset(void);

#endif
