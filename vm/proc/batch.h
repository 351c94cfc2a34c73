/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Batches: events as numbers in a page of the thread that tells them. A full page is handed over by one note,
 * erlang_batch:flush, so that an event costs some stores instead of a trap into the kernel. vm/batch_format.h describes
 * the page; proc/probe.h writes the events.
 *
 * Invariant: only its own thread writes into a page; a record is whole before batch_header.bytes grows over it, so that
 * whoever ends the VM may hand the page over at any moment.
 */
#ifndef VM_PROC_BATCH_H
#define VM_PROC_BATCH_H

#include <stdatomic.h>
#include <stdint.h>

#include "base/lock.h"
#include "base/log.h"
#include "base/ticks.h"
#include "batch_format.h"
#include "term/term.h"

struct mfa {
	Term module, function;
	uint32_t arity;
};

enum {
	BATCH_PLAIN_WORDS = 1 + BATCH_MAX_ARGS, /* of a record without texts, at most */
	BATCH_FULL_BYTES = BATCH_PAGE_BYTES - 8 * BATCH_PLAIN_WORDS, /* of a page that may have no room for one */
};

/* A thread's page. Owns: itself, for the VM's life. */
struct batch {
	/* So many ticks after header.begin_ticks the page is to be handed over; 0: it is to be begun first. Unsigned,
	 * so that a time before its begin is further away. */
	uint64_t patience_ticks;
	uint64_t events;         /* told so far */
	uint64_t scheduled[2];   /* what the page's last process__scheduled told; zeros: it has none */
	/* when the last process was scheduled out; 0: the thread has done other things since */
	uint64_t turn_ticks;
	uint64_t *told;          /* a bit an atom: its name was told */
	size_t told_words;
	int64_t old_ns;          /* when that will be */
	int64_t names_ns;        /* from then on the names are told again */
	uint64_t renewals;       /* how often the names were to be told again */
	uint32_t watchers;       /* batch_watchers when they were told */
	atomic_bool leaving;     /* it is being handed over; at the end, by batch_close, from then on */
	struct batch *next;      /* of all */
	struct batch_header header;
	uint64_t records[(BATCH_PAGE_BYTES - sizeof(struct batch_header)) / 8];
};

/* This thread's; before its first event, one that is never written to. */
extern _Thread_local struct batch *batch_self __attribute__((visibility("hidden")));

/* Once, before the first event: prepares handing over what the threads hold when the VM ends or crashes. */
void batch_init(void);

/* Hands the page over if it is full or old, and begins one. Returns false when the VM ends: nothing is told any
 * more. */
bool batch_turn(void);
/* Tells the name of an atom that this thread has not told. */
void batch_tell_atom(uint32_t index);

/*
 * An event is told between batch_begin and the one batch_write or batch_write_texts. In between the words of its
 * arguments are made, which may tell names; after batch_begin the page has room for a record without texts, whatever
 * names come before it.
 */

/* Whether the page is to be handed over, or begun, before an event of that time. */
static inline bool batch_is_old(const struct batch *b, uint64_t ticks)
{
	uint64_t patience = __atomic_load_n(&b->patience_ticks, __ATOMIC_RELAXED);

	return patience == 0 || (ticks > b->header.begin_ticks && ticks - b->header.begin_ticks >= patience);
}

/* Returns the time of an event that happened then, in ticks; 0: it is not to be told. */
static inline uint64_t batch_begin_at(uint64_t then)
{
	const struct batch *b = batch_self;

	if (unlikely(batch_is_old(b, then) || b->header.bytes > BATCH_FULL_BYTES))
		return batch_turn() ? then : 0;
	return then;
}

/* Of one that happens now. */
static inline uint64_t batch_begin(void)
{
	return batch_begin_at(ticks_now());
}

/*
 * A process is scheduled out, and the next one in by the same thread: one moment, told with one reading of the clock,
 * which takes longer than all else of an event. The time from one to the other, some tens of nanoseconds, is the
 * second's. batch_end_turn: the thread does what may take longer, so that the next event reads the clock.
 */
static inline uint64_t batch_begin_last(void)
{
	uint64_t now = batch_begin();

	if (likely(now != 0))
		batch_self->turn_ticks = now;
	return now;
}

static inline void batch_end_turn(void)
{
	if (unlikely(batch_self->turn_ticks != 0))
		batch_self->turn_ticks = 0;
}

static inline uint64_t batch_begin_next(void)
{
	uint64_t then = batch_self->turn_ticks;

	batch_end_turn();
	return then != 0 ? batch_begin_at(then) : batch_begin();
}

static inline uint64_t batch_since(const struct batch *b, uint64_t ticks)
{
	return ticks > b->header.begin_ticks ? ticks - b->header.begin_ticks : 0;
}

/* Those of n words, n being a constant, that are to be written: zeros at the end are left out. */
_Static_assert(BATCH_MAX_ARGS <= 12, "BATCH_USED lacks the last arguments");
#define BATCH_ENDS(i) (n >= (i) && words[n >= (i) ? (i) - 1 : 0] != 0) ? (i) :
#define BATCH_USED                                                                                 \
	(BATCH_ENDS(12) BATCH_ENDS(11) BATCH_ENDS(10) BATCH_ENDS(9) BATCH_ENDS(8) BATCH_ENDS(7)    \
	 BATCH_ENDS(6) BATCH_ENDS(5) BATCH_ENDS(4) BATCH_ENDS(3) BATCH_ENDS(2) BATCH_ENDS(1) 0)

/* Writes one event of n argument words behind what the page holds. */
static inline __attribute__((always_inline)) void batch_put(struct batch *b, enum batch_event event, uint64_t since,
							    const uint64_t *words, unsigned n)
{
	uint32_t bytes = b->header.bytes;
	uint64_t *head = (uint64_t *)((char *)&b->header + bytes), *at = head + 1;
	const unsigned may = BATCH_MAY_LEAVE_OUT(event);
	unsigned used = BATCH_USED, left_out = used > may && words[n > may ? may : 0] == b->scheduled[may];

	/* Word by word, from registers: in pairs they would be read back from the stack sooner than they arrive
	 * there. The next word is written over one that is left out. */
	for (unsigned i = 0; i < n; i++) {
		__atomic_store_n(at, words[i], __ATOMIC_RELAXED);
		at += i == may ? 1 - left_out : 1;
	}
	if (event == BATCH_process__scheduled)
		for (unsigned i = 0; i < 2 && i < n; i++)
			b->scheduled[i] = words[i];
	used -= left_out;
	*head = BATCH_HEAD(since, left_out, used, event);
	b->events += event > BATCH_LAST_NAME;
	__atomic_store_n(&b->header.bytes, bytes + 8 + used * 8, __ATOMIC_RELEASE);
}

/* Writes one event of n argument words, which happened then. */
static inline __attribute__((always_inline)) void batch_write(enum batch_event event, uint64_t ticks,
							      const uint64_t *words, unsigned n)
{
	batch_put(batch_self, event, batch_since(batch_self, ticks), words, n);
}

/*
 * All of it at once, for the events told most often: `first` is a process of this node (batch_identity_local), the two
 * others numbers. ticks: the moment, as of ticks_counter. Returns false when nothing is told: the page is to be handed
 * over first, was begun after that moment, or there is no such moment.
 */
static inline __attribute__((always_inline)) bool batch_tell(enum batch_event event, uint64_t ticks, uint64_t first,
							     uint64_t second, uint64_t third)
{
	struct batch *b = batch_self;
	uint64_t since = ticks - b->header.begin_ticks;

	if (unlikely(since >= __atomic_load_n(&b->patience_ticks, __ATOMIC_RELAXED) ||
		     b->header.bytes > BATCH_FULL_BYTES))
		return false;
	batch_put(b, event, since, (const uint64_t[]){ first, second, third }, 3);
	return true;
}

/* The same of a probe that has texts: texts[i] belongs to words[i], which is its length; NULL: no text. */
void batch_write_texts(enum batch_event event, uint64_t ticks, const uint64_t *words, unsigned n,
		       const char *const *texts);

/* Hands this thread's page over when its first event is BATCH_PATIENCE_MS old. Cheap when there is nothing. */
void batch_hand_over_old(void);
/* When that will be. Units: CLOCK_MONOTONIC; 0: the page is empty. A thread that sleeps wakes then and calls
 * batch_hand_over_old. */
int64_t batch_deadline_ns(void);
/* This thread sleeps on c, for what `kind` says, until it is woken, or the deadline, and then hands its page over: to
 * be called in a loop. l is held, and is released meanwhile. */
void batch_wait(enum wait_kind kind, struct cond *c, struct lock *l);
/* Hands this thread's page over. */
void batch_hand_over(void);
/* The VM ends: hands the pages of all threads over; later events are dropped. Safe in a signal handler. */
void batch_close(void);

/* ---- words of the units; see vm/batch_format.h. Between batch_begin and batch_write: those that hold atoms tell
 * their names first. */

static inline uint64_t batch_atom(Term atom)
{
	uint32_t index = atom_index(atom);

	if (unlikely(!(batch_self->told[index / 64] >> index % 64 & 1)))
		batch_tell_atom(index);
	return index;
}

/* Of what is no local pid. */
uint64_t batch_identity_any(Term t);
uint64_t batch_term(Term t);

/* Of a local pid: its number and serial stand in both as far apart. */
static inline uint64_t batch_identity_local(Term pid) { return pid >> 4 | (uint64_t)BATCH_PID << 60; }

static inline uint64_t batch_identity(Term t)
{
	return likely(term_is_local_pid(t)) ? batch_identity_local(t) : batch_identity_any(t);
}

static inline uint64_t batch_node(Term node) { return term_is_atom(node) ? batch_atom(node) + 1 : 0; }

static inline uint64_t batch_mfa(struct mfa mfa)
{
	if (unlikely(!term_is_atom(mfa.module) || !term_is_atom(mfa.function)))
		return 0;
	return batch_atom(mfa.module) << (BATCH_INDEX_BITS + 8) | batch_atom(mfa.function) << 8 | (mfa.arity & 0xff);
}

#endif
