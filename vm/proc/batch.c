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
#include "usdt.h"

#define PATIENCE_MS 100
#define NAMES_NS INT64_C(1000000000)
#define LEAVING_TRIES 1000
#define PAGE_WORDS ((BATCH_PAGE_BYTES - sizeof(struct batch_header)) / 8)

/* A thread's page. Owns: itself, for the VM's life. */
struct batch {
	struct batch *next;      /* of all */
	uint64_t old_ticks;      /* from then on the page is to be handed over */
	int64_t old_ns;          /* the same moment */
	uint32_t watchers;       /* batch_watchers when the names were told */
	int64_t names_ns;        /* from then on they are told again */
	uint64_t *told;          /* a bit an atom: its name was told */
	size_t told_words;
	uint64_t events;         /* told so far */
	atomic_bool leaving;     /* it is being handed over; at the end, by batch_close, from then on */
	struct batch_header header;
	uint64_t records[PAGE_WORDS];
};
_Static_assert(offsetof(struct batch, records) == offsetof(struct batch, header) + sizeof(struct batch_header), "a page is one piece");

static struct {
	struct batch *_Atomic all;
	atomic_uint threads;
	atomic_bool closed;
} batches;
static _Thread_local struct batch *self;

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
	register uint64_t bytes = __atomic_load_n(&page->bytes, __ATOMIC_ACQUIRE); /* batch_close's page may still be written to */

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
	self = b;
	return b;
}

/* Also for batch_close, which sees all that end_record made whole. */
static bool is_empty(const struct batch *b) { return __atomic_load_n(&b->header.bytes, __ATOMIC_ACQUIRE) == sizeof(b->header); }

/* The names are told again to somebody who has begun to watch since, and once a second: the pages that told them may have been lost, and a second
 * watcher of the same probes does not raise their semaphores (the kernel counts a note once, however many are attached to it). */
static void renew_names(struct batch *b, int64_t now_ns)
{
	uint32_t watchers = batch_watchers();

	if (watchers > b->watchers || now_ns >= b->names_ns) {
		memset(b->told, 0, b->told_words * 8);
		b->names_ns = now_ns + NAMES_NS;
	}
	b->watchers = watchers;
}

/* The page's first record is about to be written. */
static void begin_page(struct batch *b)
{
	b->header.events = b->events;
	b->header.begin_ticks = ticks_now();
	b->header.begin_ns = (uint64_t)clock_monotonic_ns();
	renew_names(b, (int64_t)b->header.begin_ns);
	b->old_ticks = b->header.begin_ticks + PATIENCE_MS * ticks_per_ms();
	b->old_ns = (int64_t)b->header.begin_ns + PATIENCE_MS * INT64_C(1000000);
}

/* Of a page that nobody else hands over: `leaving` is the caller's. */
static void tell_page(struct batch *b)
{
	b->header.sequence++;
	b->header.end_ticks = ticks_now();
	b->header.end_ns = (uint64_t)clock_monotonic_ns();
	fire_flush(&b->header);
}

/* Returns false when batch_close has taken the page: its thread writes nothing any more. */
static bool hand_over(struct batch *b)
{
	if (unlikely(atomic_exchange(&b->leaving, true)))
		return false;
	tell_page(b);
	b->header.bytes = sizeof(b->header);
	atomic_store(&b->leaving, false);
	return true;
}

/* Whether this thread has something to hand over. At the end what it holds is not its own any more. */
static bool holds_page(void)
{
	return self != NULL && !is_empty(self) && !atomic_load_explicit(&batches.closed, memory_order_relaxed);
}

void batch_hand_over(void)
{
	if (holds_page())
		hand_over(self);
}

int64_t batch_deadline_ns(void)
{
	return holds_page() ? self->old_ns : 0;
}

void batch_hand_over_old(void)
{
	if (holds_page() && ticks_now() >= self->old_ticks)
		hand_over(self);
}

void batch_wait(struct cond *c, struct lock *l)
{
	int64_t deadline = batch_deadline_ns();

	if (deadline == 0)
		cond_wait(c, l);
	else if (!cond_wait_until(c, l, deadline))
		batch_hand_over();
}

/* Room for `words`, the header word among them. NULL: the VM ends. */
static uint64_t *take_room(struct batch *b, unsigned words, uint64_t now)
{
	size_t used = (b->header.bytes - sizeof(b->header)) / 8;

	if (used > 0 && (used + words > PAGE_WORDS || now >= b->old_ticks)) {
		if (!hand_over(b))
			return NULL;
		used = 0;
	}
	if (used == 0)
		begin_page(b);
	return b->records + used;
}

/* The record that take_room gave room for is whole. */
static void end_record(struct batch *b, unsigned words)
{
	__atomic_store_n(&b->header.bytes, b->header.bytes + words * 8, __ATOMIC_RELEASE);
}

static uint64_t header_word(const struct batch *b, uint64_t now, unsigned words, enum batch_event event)
{
	uint64_t since = now > b->header.begin_ticks ? now - b->header.begin_ticks : 0;

	return since << 16 | (uint64_t)(words - 1) << 8 | event;
}

/* ---- records */

static size_t text_words(size_t bytes) { return (bytes + 7) / 8; }

static void put_text(uint64_t *at, const char *text, size_t bytes)
{
	if (bytes == 0)
		return;
	at[text_words(bytes) - 1] = 0;
	memcpy(at, text, bytes);
}

/* Words of the record: all that is written. Zeros at the end are not, where no text stands behind them. */
static unsigned measure(const uint64_t *words, unsigned n, const char *const *texts)
{
	unsigned all = n;

	if (texts == NULL) {
		while (all > 0 && words[all - 1] == 0)
			all--;
		return all;
	}
	for (unsigned i = 0; i < n; i++)
		if (texts[i] != NULL)
			all += (unsigned)text_words(words[i]);
	return all;
}

void batch_write(enum batch_event event, const uint64_t *words, unsigned n, const char *const *texts)
{
	struct batch *b = self != NULL ? self : make_batch();
	unsigned all = 1 + measure(words, n, texts);
	uint64_t now = ticks_now(), *at;

	if (unlikely(atomic_load_explicit(&batches.closed, memory_order_relaxed)))
		return;
	at = take_room(b, all, now);
	if (unlikely(at == NULL))
		return;
	at[0] = header_word(b, now, all, event);
	if (texts == NULL) {
		for (unsigned i = 0; i < all - 1; i++)
			at[1 + i] = words[i];
	} else {
		memcpy(at + 1, words, n * 8);
		at += 1 + n;
		for (unsigned i = 0; i < n; i++)
			if (texts[i] != NULL) {
				put_text(at, texts[i], words[i]);
				at += text_words(words[i]);
			}
	}
	b->events += event != BATCH_ATOM;
	end_record(b, all);
}

/* ---- atoms */

static void tell_atom(struct batch *b, uint32_t index)
{
	size_t bytes;
	const char *text = atom_text(ATOM_TERM((Term)index), &bytes);

	batch_write(BATCH_ATOM, (const uint64_t[]){ index, bytes }, 2, (const char *const[]){ NULL, text });
	b->told[index / 64] |= UINT64_C(1) << index % 64; /* after the write, which may begin a page and forget what was told */
}

/* Its index; whoever reads the next event of this thread knows the name. */
static uint64_t told_index(Term atom)
{
	struct batch *b = self != NULL ? self : make_batch();
	uint32_t index = atom_index(atom);

	if (unlikely(is_empty(b)))
		begin_page(b);
	if (unlikely(!(b->told[index / 64] >> index % 64 & 1)))
		tell_atom(b, index);
	return index;
}

/* ---- words of the units */

static uint64_t identity(enum batch_identity kind, uint64_t high, uint64_t number)
{
	return (uint64_t)kind << 60 | (high & UINT32_MAX) << ID_NUMBER_BITS | (number & ((UINT64_C(1) << ID_NUMBER_BITS) - 1));
}

/* A pid or port of another node, or of an earlier life of this one. */
static uint64_t remote_identity(const struct extern_id *id)
{
	return identity(BATCH_REMOTE, told_index(id->node), term_is_pid(term_from_boxed(&id->header)) ? id->data[0] >> 32 : id->data[0]);
}

uint64_t batch_identity(Term t)
{
	if (term_is_local_pid(t))
		return identity(BATCH_PID, pid_serial(t), pid_number(t));
	if (term_is_local_port(t))
		return (uint64_t)BATCH_PORT << 60 | port_number(t);
	if (term_is_atom(t))
		return identity(BATCH_NAME, 0, told_index(t));
	if (term_is_pid(t) || term_is_port(t))
		return remote_identity((const struct extern_id *)boxed_ptr(t));
	return t == TERM_NONE ? 0 : identity(BATCH_OTHER, 0, 0);
}

uint64_t batch_node(Term node) { return term_is_atom(node) ? told_index(node) + 1 : 0; }

uint64_t batch_mfa(struct mfa mfa)
{
	if (!term_is_atom(mfa.module) || !term_is_atom(mfa.function))
		return 0;
	return told_index(mfa.module) << (BATCH_INDEX_BITS + 8) | told_index(mfa.function) << 8 | (mfa.arity & 0xff);
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

/* How a tuple or list of that shape holds what is first in it; BATCH_NO_HOLDER when that is not looked at. */
static enum batch_holder holder_of(enum batch_shape shape, Term t)
{
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
		value = told_index(t);
	else if (shape == BATCH_SHAPE_SMALL)
		value = (uint32_t)small_value(t);
	return (uint64_t)shape << 56 | holders << 32 | value;
}

/* ---- the end */

/*
 * The page is this thread's from then on: its own may be handing it over just now, and two notes of one page would tell its events twice.
 * Returns false when that takes too long, or was stopped in the middle.
 */
static bool take_page(struct batch *b)
{
	for (int tries = 0; tries < LEAVING_TRIES; tries++) {
		if (!atomic_exchange(&b->leaving, true))
			return true;
		thread_yield();
	}
	return false;
}

void batch_close(void)
{
	static struct batch_header last = { .magic = BATCH_MAGIC, .bytes = sizeof(last), .thread = BATCH_NO_THREAD };
	bool all = true;

	if (atomic_exchange(&batches.closed, true))
		return;
	for (struct batch *b = atomic_load(&batches.all); b != NULL; b = b->next) {
		bool taken = take_page(b);

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
