/* SPDX-License-Identifier: Apache-2.0 */
/* The threads' pages of events. */
#include "proc/batch.h"

#include <signal.h>
#include <stdatomic.h>
#include <stddef.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/lock.h"
#include "base/log.h"
#include "base/ticks.h"
#include "term/atom.h"
#include "term/node.h"
#include "usdt.h"

#define NAMES_NS INT64_C(1000000000)
#define SILENCE_NS INT64_C(100000000)
#define LEAVING_TRIES 1000
#define LEAVING_NS INT64_C(100000000)

_Static_assert(offsetof(struct batch, records) == offsetof(struct batch, header) + sizeof(struct batch_header),
	       "a page is one piece");

static struct {
	struct batch *_Atomic all;
	atomic_uint threads;
	atomic_bool closed;
} batches;

/* Of threads that have told nothing: it is always to be begun first. */
static struct batch nobody;
_Thread_local struct batch *batch_self = &nobody;

/* ---- who watches */

#if ERLVM_PROBES

/* The sum of all semaphores of provider erlang_batch: it grows when somebody begins to watch. */
static uint32_t batch_watchers(void)
{
	uint32_t sum = 0;

#define PROBE(probe, family, nargs, watch, text) sum += PROBE_BATCHES(probe);
#include "probes.def"
	return sum;
}

unsigned short erlang_batch_flush_semaphore __attribute__((section(".probes"), visibility("hidden")));

static PROBE_COLD void fire_flush(const struct batch_header *page)
{
	register const void *at = page;
	/* batch_close's page may still be written to */
	register uint64_t bytes = __atomic_load_n(&page->bytes, __ATOMIC_ACQUIRE);

	STAP_PROBE2(erlang_batch, flush, at, bytes);
}

#else

static uint32_t batch_watchers(void) { return 0; }
static void fire_flush(const struct batch_header *page) { (void)page; }

#endif

/* ---- pages */

static struct batch *make_batch(void)
{
	struct batch *b = mem_zalloc(sizeof(*b));

	b->header.magic = BATCH_MAGIC;
	b->header.bytes = sizeof(b->header);
	b->header.thread = atomic_fetch_add(&batches.threads, 1) + 1;
	b->header.tid = (uint32_t)gettid();
	b->told_words = (atom_limit() + 63) / 64;
	b->told = mem_zalloc(b->told_words * 8);
	b->next = atomic_load(&batches.all);
	while (!atomic_compare_exchange_weak(&batches.all, &b->next, b)) {
	}
	batch_self = b;
	return b;
}

/* Also for batch_close, which sees all that end_record made whole. */
static bool is_empty(const struct batch *b)
{
	return __atomic_load_n(&b->header.bytes, __ATOMIC_ACQUIRE) == sizeof(b->header);
}

/* The names are told again to somebody who has begun to watch since, and once a second: the pages that told them may
 * have been lost, and a second watcher of the same probes does not raise their semaphores (the kernel counts a note
 * once, however many are attached to it). Also after a silence: that a watcher went and another one came meanwhile is
 * not seen. */
static void renew_names(struct batch *b, int64_t silent_ns, int64_t now_ns)
{
	uint32_t watchers = batch_watchers();

	if (watchers > b->watchers || now_ns >= b->names_ns || silent_ns >= SILENCE_NS) {
		memset(b->told, 0, b->told_words * 8);
		b->renewals++;
		b->names_ns = now_ns + NAMES_NS;
	}
	b->watchers = watchers;
}

static void begin_page(struct batch *b)
{
	b->header.bytes = sizeof(b->header);
	b->header.events = b->events;
	memset(b->scheduled, 0, sizeof(b->scheduled));
	b->header.begin_ticks = ticks_now();
	b->header.begin_ns = (uint64_t)clock_monotonic_ns();
	b->old_ns = (int64_t)b->header.begin_ns + BATCH_PATIENCE_MS * INT64_C(1000000);
	__atomic_store_n(&b->patience_ticks, BATCH_PATIENCE_MS * ticks_per_ms(), __ATOMIC_SEQ_CST);
	if (unlikely(atomic_load(&batches.closed)))
		__atomic_store_n(&b->patience_ticks, 0, __ATOMIC_RELAXED);
}

/* Of a page that nobody else hands over: `leaving` is the caller's. */
static void tell_page(struct batch *b)
{
	b->header.sequence++;
	b->header.end_ticks = ticks_now();
	b->header.end_ns = (uint64_t)clock_monotonic_ns();
	fire_flush(&b->header);
}

/* The page is to be begun then. Returns false when batch_close has taken it: its thread writes nothing any more. */
static bool hand_over(struct batch *b)
{
	if (unlikely(atomic_exchange(&b->leaving, true)))
		return false;
	tell_page(b);
	b->header.bytes = sizeof(b->header);
	__atomic_store_n(&b->patience_ticks, 0, __ATOMIC_RELAXED);
	atomic_store(&b->leaving, false);
	return true;
}

bool batch_turn(void)
{
	struct batch *b = batch_self != &nobody ? batch_self : make_batch();

	int64_t old_ns = b->old_ns; /* of its last page */

	if (unlikely(atomic_load(&batches.closed)) || (!is_empty(b) && !hand_over(b)))
		return false;
	begin_page(b);
	renew_names(b, (int64_t)b->header.begin_ns - old_ns, (int64_t)b->header.begin_ns);
	return true;
}

/* Whether this thread has something to hand over. At the end what it holds is not its own any more. */
static bool holds_page(void)
{
	return batch_self != &nobody && !is_empty(batch_self) &&
		!atomic_load_explicit(&batches.closed, memory_order_relaxed);
}

void batch_hand_over(void)
{
	if (holds_page())
		hand_over(batch_self);
}

int64_t batch_deadline_ns(void)
{
	return holds_page() ? batch_self->old_ns : 0;
}

void batch_hand_over_old(void)
{
	if (holds_page() && batch_is_old(batch_self, ticks_now()))
		hand_over(batch_self);
}

void batch_wait(enum wait_kind kind, struct cond *c, struct lock *l)
{
	int64_t deadline = batch_deadline_ns();

	if (deadline == 0)
		cond_wait(kind, c, l);
	else if (!cond_wait_until(kind, c, l, deadline))
		batch_hand_over();
}

/* ---- texts */

static size_t text_words(size_t bytes) { return (bytes + 7) / 8; }

static uint64_t *put_text(uint64_t *at, const char *text, size_t bytes)
{
	size_t words = text_words(bytes);

	if (bytes == 0)
		return at;
	at[words - 1] = 0;
	memcpy(at, text, bytes);
	return at + words;
}

/*
 * Room for a record of so many words behind its head, and for one without texts behind it. NULL: the VM ends. A page
 * that is begun here tells no names again: those of the event may have been told in the page before.
 */
static uint64_t *take_room(struct batch *b, size_t words)
{
	if (b->header.bytes + 8 * (1 + words) > BATCH_FULL_BYTES) {
		if (!hand_over(b))
			return NULL;
		begin_page(b);
	}
	return (uint64_t *)((char *)&b->header + b->header.bytes);
}

static void end_record(struct batch *b, size_t words)
{
	__atomic_store_n(&b->header.bytes, b->header.bytes + (uint32_t)(8 * (1 + words)), __ATOMIC_RELEASE);
}

void batch_write_texts(enum batch_event event, uint64_t ticks, const uint64_t *words, unsigned n,
		       const char *const *texts)
{
	struct batch *b = batch_self;
	size_t all = n;
	uint64_t *at;

	for (unsigned i = 0; i < n; i++)
		all += texts[i] != NULL ? text_words(words[i]) : 0;
	at = take_room(b, all);
	if (unlikely(at == NULL))
		return;
	*at++ = BATCH_HEAD(batch_since(b, ticks), 0, all, event);
	memcpy(at, words, n * 8);
	at += n;
	for (unsigned i = 0; i < n; i++)
		if (texts[i] != NULL)
			at = put_text(at, texts[i], words[i]);
	b->events += event > BATCH_LAST_NAME;
	end_record(b, all);
}

void batch_tell_atom(uint32_t index)
{
	struct batch *b = batch_self;
	size_t bytes;
	const char *text = atom_text(ATOM_TERM((Term)index), &bytes);

	batch_write_texts(BATCH_ATOM, ticks_now(), (const uint64_t[]){ index, bytes }, 2,
			  (const char *const[]){ NULL, text });
	b->told[index / 64] |= UINT64_C(1) << index % 64;
}

/* ---- words of the units */

static uint64_t identity(enum batch_identity kind, uint64_t high, uint64_t number)
{
	return (uint64_t)kind << 60 | (high & UINT32_MAX) << ID_NUMBER_BITS |
	       (number & ((UINT64_C(1) << ID_NUMBER_BITS) - 1));
}

/* A pid or port of another node, or of an earlier life of this one. */
static uint64_t remote_identity(const struct extern_id *id)
{
	return identity(BATCH_REMOTE, batch_atom(id->node->name.name), id->ids[0]);
}

uint64_t batch_identity_any(Term t)
{
	if (term_is_local_port(t))
		return (uint64_t)BATCH_PORT << 60 | port_number(t);
	if (term_is_atom(t))
		return identity(BATCH_NAME, 0, batch_atom(t));
	if (term_is_pid(t) || term_is_port(t))
		return remote_identity((const struct extern_id *)boxed_ptr(t));
	return t == TERM_NONE ? 0 : identity(BATCH_OTHER, 0, 0);
}

static enum batch_shape integer_shape(Term t)
{
	bool small = term_is_small(t) && small_value(t) >= -BATCH_SMALL_MAX && small_value(t) <= BATCH_SMALL_MAX;

	return small ? BATCH_SHAPE_SMALL : BATCH_SHAPE_INTEGER;
}

static enum batch_shape shape_of(Term t)
{
	if (t == TERM_NONE)
		return BATCH_SHAPE_OTHER;
	if (term_is_atom(t))
		return BATCH_SHAPE_ATOM;
	if (term_is_tuple(t))
		return tuple_arity(t) > 0 ? BATCH_SHAPE_TUPLE : BATCH_SHAPE_EMPTY_TUPLE;
	if (term_is_integer(t))
		return integer_shape(t);
	if (term_is_list(t))
		return term_is_nil(t) ? BATCH_SHAPE_NIL : BATCH_SHAPE_LIST;
	if (term_is_float(t))
		return BATCH_SHAPE_FLOAT;
	if (term_is_map(t))
		return BATCH_SHAPE_MAP;
	if (term_is_bitstring(t))
		return BATCH_SHAPE_BINARY;
	if (term_is_pid(t))
		return BATCH_SHAPE_PID;
	if (term_is_port(t))
		return BATCH_SHAPE_PORT;
	return term_is_ref(t) ? BATCH_SHAPE_REF : BATCH_SHAPE_FUN;
}

static bool is_returned(Term tuple)
{
	return tuple_arity(tuple) == 3 && term_is_ref(tuple_get(tuple, 1)) && tuple_get(tuple, 2) == am_return;
}

/* How a tuple or list of that shape holds what is first in it; BATCH_NO_HOLDER when that is not looked at. */
static enum batch_holder holder_of(enum batch_shape shape, Term t)
{
	if (shape == BATCH_SHAPE_TUPLE && is_returned(t))
		return BATCH_RETURNED;
	if (shape == BATCH_SHAPE_TUPLE)
		return tuple_arity(t) == 1 ? BATCH_TUPLE_OF_ONE : BATCH_TUPLE_OF_MORE;
	if (shape == BATCH_SHAPE_LIST && !term_is_small(cons_head(t)))
		return term_is_nil(cons_tail(t)) ? BATCH_LIST_OF_ONE : BATCH_LIST_OF_MORE;
	return BATCH_NO_HOLDER;
}

uint64_t batch_term(Term t)
{
	uint64_t holders = 0, holder, value = 0;
	enum batch_shape shape = shape_of(t);

	for (int depth = 0; depth < BATCH_HOLDERS_MAX && (holder = holder_of(shape, t)) != BATCH_NO_HOLDER; depth++) {
		holders |= holder << 8 * depth;
		t = term_is_list(t) ? cons_head(t) : tuple_get(t, 1);
		shape = shape_of(t);
	}
	if (shape == BATCH_SHAPE_ATOM)
		value = batch_atom(t);
	else if (shape == BATCH_SHAPE_SMALL)
		value = (uint32_t)small_value(t);
	return (uint64_t)shape << 56 | holders << 32 | value;
}

/* ---- the end */

/*
 * The page is this thread's from then on: its own may be handing it over just now, and two notes of one page would
 * tell its events twice. On a busy machine that thread may wait for a processor for a while; one that this signal has
 * stopped in the middle never goes on. Returns false then, and when it takes too long.
 */
static bool take_page(struct batch *b)
{
	int64_t until = 0;

	for (int tries = 0; atomic_exchange(&b->leaving, true); tries++) {
		if (b == batch_self)
			return false;
		if (tries < LEAVING_TRIES) {
			thread_yield();
			continue;
		}
		if (until == 0)
			until = clock_monotonic_ns() + LEAVING_NS;
		if (clock_monotonic_ns() > until)
			return false;
		clock_sleep_ms(1);
	}
	return true;
}

void batch_close(void)
{
	static struct batch_header last = { .magic = BATCH_MAGIC, .bytes = sizeof(last), .thread = BATCH_NO_THREAD };
	bool all = true;

	if (atomic_exchange(&batches.closed, true))
		return;
	for (struct batch *b = atomic_load(&batches.all); b != NULL; b = b->next) {
		bool taken;

		/* its thread looks, at its next event, whether it may tell it */
		__atomic_store_n(&b->patience_ticks, 0, __ATOMIC_SEQ_CST);
		taken = take_page(b);
		if (taken && !is_empty(b))
			tell_page(b);
		all &= taken;
	}
	if (all)
		fire_flush(&last);
}

/* A crash: what was told last is what somebody will want to read. The signal then does what it does without us. */
static void close_at_fault(int signal_number)
{
	batch_close();
	raise(signal_number);
}

void batch_init(void)
{
	static const int faults[] = { SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT };

	ticks_init();
	for (size_t i = 0; i < sizeof(faults) / sizeof(*faults); i++) {
		struct sigaction now, ours = { .sa_handler = close_at_fault, .sa_flags = SA_RESETHAND | SA_NODEFER };

		if (sigaction(faults[i], NULL, &now) == 0 && now.sa_handler == SIG_DFL)
			sigaction(faults[i], &ours, NULL);
	}
}
