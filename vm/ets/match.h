/* SPDX-License-Identifier: Apache-2.0 */
/* Match specifications, compiled to small programs that run over one term at a time. A program is clauses, tried in
 * turn: the head's operations walk the term with a cursor and bind variables, the guards' and the body's work on a
 * stack. Both dialects are of the reference manual, "Match Specifications in Erlang".
 * Invariant: a program's constants stand in its own memory, so that it depends on nothing but itself.
 * Depth and length of a specification cost no C stack. */
#ifndef VM_ETS_MATCH_H
#define VM_ETS_MATCH_H

#include "data/print.h"
#include "ets/ets_object.h"
#include "heap/refbin.h"
#include "proc/process.h"

typedef Term (*match_fn)(Process *p, Term *args);

enum match_dialect { MATCH_TABLE, MATCH_TRACE };

enum match_code {
	/* head: `at` is the cursor */
	MATCH_SKIP,      /* at++ */
	MATCH_BIND,      /* variable n = *at++ */
	MATCH_SAME,      /* variable n =:= *at++ */
	MATCH_IMMED,     /* term is *at++ */
	MATCH_CONST,     /* term =:= *at++ */
	MATCH_ZERO,      /* the float *at++ has the bits of `term`: 0.0 and -0.0 differ here */
	MATCH_TUPLE,     /* *at is a tuple of n: into it; word: keep the place behind it */
	MATCH_CONS,      /* the same for a list cell */
	MATCH_MAP,       /* the same for a map of at least `term` pairs, kept in variable n */
	MATCH_MAP_KEY,   /* the map in variable n has key `term`; at = its value, kept in variable n + 1 */
	MATCH_BACK,      /* at = the place kept last */
	/* guards and bodies */
	MATCH_PUSH,      /* term */
	MATCH_PUSH_VAR,  /* variable n */
	MATCH_PUSH_ALL,  /* '$$': a list of n variables, named by the n operations that follow */
	MATCH_PUSH_SUBJECT, /* '$_' */
	MATCH_PUSH_SELF,
	MATCH_MAKE_TUPLE, /* of the n topmost */
	MATCH_MAKE_CONS,
	MATCH_MAKE_MAP,  /* of n pairs */
	MATCH_CALL,      /* fn with n arguments; `copies`: arguments must not lead into a table */
	MATCH_LESS, MATCH_LESS_EQUAL, MATCH_MORE, MATCH_MORE_EQUAL,
	MATCH_EQUAL, MATCH_NOT_EQUAL, MATCH_EXACT, MATCH_NOT_EXACT,
	MATCH_AND, MATCH_OR, /* of n booleans */
	MATCH_AND_ALSO, MATCH_OR_ELSE, /* goes to operation n */
	MATCH_ACTION,    /* of the trace dialect: `action` with n arguments */
	MATCH_GUARD,     /* the topmost must be true */
	MATCH_BODY,      /* failures are results from here on */
	MATCH_DROP,
	MATCH_RETURN,
};

enum match_action {
#define ACTION_SINCE(since, name, fewest, most, in_guard, events) MATCH_ACTION_##name,
#include "ets/match_actions.def"
};

/* What a specification of the trace dialect is for; each has all functions of those before it. A message that is
 * received has no process that acts, where there is no call there is nobody who calls. */
enum match_events { MATCH_FOR_ANY, MATCH_FOR_SENDERS, MATCH_FOR_CALLS };

/* What an object of a head holds or is, and why it cannot be compared as a whole. */
enum { MATCH_HOLDS_VARIABLE = 1, MATCH_HOLDS_MAP = 2, MATCH_HOLDS_ZERO = 4 };

struct match_op {
	uint8_t code;
	bool copies;         /* also MATCH_TUPLE, _CONS, _MAP: keep the place */
	uint16_t action;
	uint32_t n;
	union {
		Term term;
		match_fn fn;
	};
};

struct match_clause {
	Term head;
	Term guards, body;   /* as written */
	uint32_t start;      /* operation */
};

struct match_program {
	struct resource resource; /* first */
	enum match_dialect dialect;
	struct match_op *ops; /* fixed_ops, or in a block of their own */
	uint32_t op_count;
	uint32_t clause_count;
	struct match_clause *clauses; /* in the program's block, as `constants` and `holds` are */
	uint32_t variables;  /* with temporaries */
	uint32_t stack;      /* words */
	uint32_t cursors;
	Term *constants;
	size_t constant_words;
	Term *off_heap;      /* of the constants */
	uint8_t *holds;      /* of each of the constants' words: MATCH_HOLDS_*, of the object there */
	struct match_op fixed_ops[];
};

/* What was wrong with a specification. */
struct match_errors {
	struct print_buffer *texts;
	bool *warnings;
	uint32_t count, room;
};
void match_errors_free(struct match_errors *e);

/* The function that a guard may call, or NULL. */
typedef match_fn (*match_find_fn)(Term function, unsigned arity);

/* Owns: the caller, one reference. errors may be NULL. Fails: NULL. */
struct match_program *match_compile(Term spec, enum match_dialect dialect, match_find_fn find,
				    struct match_errors *errors);
/* The program of [{Head, [], [Body]}]. */
struct match_program *match_compile_pattern(Term head, Term body, match_find_fn find);
/* The program that a magic ref names, or NULL. */
struct match_program *match_get(Term t);
/* '$N'. Fails: -1. */
long match_variable_number(Term t);

/* ---- what a clause says about the key at a position, when subjects are tuples */
enum match_key_kind {
	MATCH_KEY_NEVER,     /* no tuple can match */
	MATCH_KEY_ANY,
	MATCH_KEY_PARTIAL,   /* a pattern of which something is known */
	MATCH_KEY_BOUND,     /* one value: what has no variable is looked up, a map as well, and then matched */
};
enum match_key_kind match_clause_key(const struct match_program *m, uint32_t clause, unsigned position, Term *key);
/* Order of a key's pattern, partial or bound, and a key: 0 when the key agrees with all that stands before the first
 * open place. The keys for which it is 0 are neighbours in the order of terms. */
int match_compare_partial(const struct match_program *m, Term pattern, Term key);
/* Does every function of the trace dialect in it suit these events? */
bool match_is_for(const struct match_program *m, enum match_events events);
/* Does the body of every clause surely give a tuple with the subject's own key? (select_replace) */
bool match_keeps_key(const struct match_program *m, unsigned position);

/* ---- run */
struct match_context {
	Process *p;
	const struct match_program *program;
	Term subject;
	const struct ets_object *object; /* whose tuple the subject is, or NULL */
	bool copies;         /* subjects stand outside p's heap: results are copied to it */
	Term *variables, *stack;
	const Term **cursors;
	Term fixed[96];
	void *memory;
	/* The trace dialect's functions, by index of match_actions; NULL: all give true. */
	Term (*run_action)(struct match_context *c, unsigned action, Term *args, unsigned n);
};
/* Owns: the context, until match_end. */
void match_begin(struct match_context *c, Process *p, const struct match_program *m, bool copies);
void match_end(struct match_context *c);
/* The body's value for the first clause that fits; TERM_NONE when none does. GC: none. */
Term match_run(struct match_context *c, Term subject);
/* The same for a stored object. */
Term match_run_object(struct match_context *c, const struct ets_object *o);

#endif
