/* SPDX-License-Identifier: Apache-2.0 */
/* Hierarchical timing wheels, one a scheduler (G. Varghese, T. Lauck, "Hashed and hierarchical timing wheels", SOSP
 * 1987). A tick is a millisecond; a level has 64 slots, each as wide as the whole level below.
 * Invariant (wheel lock): a timer of time t stands on the lowest level where t and `now` agree in all higher digits, so
 * that the first slot taken on the lowest level in use holds the earliest timers. A timer that is on a wheel may be
 * cancelled; one taken off to fire may not. */
#include "proc/timer.h"

#include "base/alloc.h"
#include "base/clock.h"
#include "base/hash.h"
#include "proc/sched.h"

enum { LEVELS = 10, DIGIT_BITS = 6, SLOTS = 1 << DIGIT_BITS, REMAINDERS = 256 };
/* Buckets: so many at least; so many stay; few are taken: fewer than one of so many. */
enum { NUMBERS_LEAST = 64, NUMBERS_SPARED = 1 << 14, NUMBERS_FEW_OF = 64 };
enum { CANCELLED_AT_ONCE = 1000 /* timers of a process that ends, while others wait for the wheel */ };

enum timer_kind { TIMER_RECEIVE, TIMER_CALL, TIMER_MESSAGE };

struct timer {
	struct timer *next, **at_link; /* slot's list; at_link NULL: not on the wheel */
	uint64_t at_ms;
	struct timer_wheel *wheel;
	uint8_t kind, level, slot;
	struct timer *hash_next; /* TIMER_CALL, TIMER_MESSAGE */
	uint64_t number;         /* of its reference */
	union {
		Process *process;
		struct {
			void (*fire)(void *arg);
			void *arg;
		};
		struct {
			Term to;         /* pid or registered name */
			struct signal *message;
			/* others to processes of the same bucket; to_link NULL: to a name */
			struct timer *to_next, **to_link;
		};
	};
};

struct timer_wheel {
	struct lock lock;
	uint64_t now;        /* ms; everything before has fired */
	uint64_t used[LEVELS]; /* bit a slot */
	struct timer *slots[LEVELS][SLOTS];
	_Atomic uint32_t count;
	struct timer **buckets; /* by number */
	struct timer **receivers; /* as many: by the pid that is sent to */
	uint32_t mask, named;
	bool few;            /* at the last tidying: far fewer named timers than buckets */
	/* timers by their numbers' remainders: changed under the lock, read without */
	_Atomic uint32_t remainders[REMAINDERS];
	unsigned sched;
};

struct timer_signals timer_signals;

static struct {
	struct timer_wheel *all[1024];
	unsigned count;
} wheels;

uint64_t timer_now_ms(void)
{
	return (uint64_t)clock_monotonic_ns() / NS_PER_MS;
}

uint64_t timer_deadline_ms(uint64_t ms)
{
	return ((uint64_t)clock_monotonic_ns() + NS_PER_MS - 1) / NS_PER_MS + ms;
}

struct timer_wheel *timer_wheel_new(void)
{
	struct timer_wheel *w = mem_zalloc(sizeof(*w));

	lock_init(&w->lock, LOCK_timer_wheel);
	w->now = timer_now_ms();
	ENSURE(wheels.count < sizeof(wheels.all) / sizeof(wheels.all[0]));
	wheels.all[wheels.count++] = w;
	w->sched = wheels.count;
	return w;
}

static struct timer_wheel *own_wheel(void)
{
	struct sched *s = sched_self();

	return s != NULL ? s->wheel : wheels.all[0];
}

/* ---- on and off the wheel; lock held */

static void place(struct timer_wheel *w, struct timer *t)
{
	uint64_t at = t->at_ms > w->now ? t->at_ms : w->now;
	uint64_t differ = at ^ w->now;
	unsigned level = differ == 0 ? 0 : (unsigned)(63 - __builtin_clzll(differ)) / DIGIT_BITS;
	unsigned slot = (unsigned)(at >> (level * DIGIT_BITS)) % SLOTS;
	struct timer **head = &w->slots[level][slot];

	t->level = (uint8_t)level;
	t->slot = (uint8_t)slot;
	t->next = *head;
	if (t->next != NULL)
		t->next->at_link = &t->next;
	t->at_link = head;
	*head = t;
	w->used[level] |= (uint64_t)1 << slot;
}

static void displace(struct timer_wheel *w, struct timer *t)
{
	*t->at_link = t->next;
	if (t->next != NULL)
		t->next->at_link = t->at_link;
	if (w->slots[t->level][t->slot] == NULL)
		w->used[t->level] &= ~((uint64_t)1 << t->slot);
	t->at_link = NULL;
}

static void set_count(struct timer_wheel *w, uint32_t n)
{
	atomic_store_explicit(&w->count, n, memory_order_relaxed);
}

static uint32_t get_count(const struct timer_wheel *w)
{
	return atomic_load_explicit(&w->count, memory_order_relaxed);
}

/* ---- numbers; lock held */

static struct timer **find_number(struct timer_wheel *w, uint64_t number)
{
	struct timer **at;

	if (w->buckets == NULL)
		return NULL;
	for (at = &w->buckets[hash_word(number) & w->mask]; *at != NULL; at = &(*at)->hash_next)
		if ((*at)->number == number)
			return at;
	return NULL;
}

static _Atomic uint32_t *remainder_of(struct timer_wheel *w, uint64_t number)
{
	return &w->remainders[number % REMAINDERS];
}

static void count_named(struct timer_wheel *w, const struct timer *t, int by)
{
	_Atomic uint32_t *of = remainder_of(w, t->number);

	w->named += (uint32_t)by;
	atomic_store_explicit(of, atomic_load_explicit(of, memory_order_relaxed) + (uint32_t)by, memory_order_relaxed);
}

static struct timer **bucket_of_receiver(struct timer_wheel *w, Term to)
{
	return &w->receivers[hash_word(to) & w->mask];
}

static void put_receiver(struct timer_wheel *w, struct timer *t)
{
	struct timer **bucket = bucket_of_receiver(w, t->to);

	t->to_next = *bucket;
	if (t->to_next != NULL)
		t->to_next->to_link = &t->to_next;
	t->to_link = bucket;
	*bucket = t;
}

static void remove_receiver(struct timer *t)
{
	if (t->kind != TIMER_MESSAGE || t->to_link == NULL)
		return;
	*t->to_link = t->to_next;
	if (t->to_next != NULL)
		t->to_next->to_link = t->to_link;
}

static void put_number(struct timer_wheel *w, struct timer *t)
{
	struct timer **bucket = &w->buckets[hash_word(t->number) & w->mask];

	t->hash_next = *bucket;
	*bucket = t;
	if (t->kind == TIMER_MESSAGE && term_is_local_pid(t->to))
		put_receiver(w, t);
}

/* The owner frees what the wheel had. */
struct numbers {
	struct timer **buckets, **receivers;
};

static struct numbers new_numbers(uint32_t room)
{
	return (struct numbers){ mem_zalloc(room * sizeof(struct timer *)), mem_zalloc(room * sizeof(struct timer *)) };
}

static void free_numbers(struct numbers n)
{
	mem_free(n.buckets);
	mem_free(n.receivers);
}

static void put_numbers_of_slot(struct timer_wheel *w, unsigned level, unsigned slot)
{
	for (struct timer *t = w->slots[level][slot]; t != NULL; t = t->next)
		if (t->kind != TIMER_RECEIVE)
			put_number(w, t);
}

static void put_numbers_of_bucket(struct timer_wheel *w, struct timer *first)
{
	for (struct timer *t = first, *next; t != NULL; t = next) {
		next = t->hash_next;
		put_number(w, t);
	}
}

/*
 * All named timers go to the empty buckets of n. Returns those that the wheel had. They are found in the old buckets;
 * or, where these are more than all timers, among which may be a million of processes that wait in `receive`, in the
 * slots.
 */
static struct numbers exchange_numbers(struct timer_wheel *w, struct numbers n, uint32_t room)
{
	struct numbers old = { w->buckets, w->receivers };
	uint32_t old_room = w->buckets != NULL ? w->mask + 1 : 0;

	w->buckets = n.buckets;
	w->receivers = n.receivers;
	w->mask = room - 1;
	for (uint32_t i = 0; old_room <= get_count(w) && i < old_room; i++)
		put_numbers_of_bucket(w, old.buckets[i]);
	for (unsigned level = 0; old_room > get_count(w) && level < LEVELS; level++)
		for (uint64_t used = w->used[level]; used != 0; used &= used - 1)
			put_numbers_of_slot(w, level, (unsigned)__builtin_ctzll(used));
	return old;
}

static void grow_numbers(struct timer_wheel *w)
{
	uint32_t room = w->buckets != NULL ? (w->mask + 1) * 4 : NUMBERS_LEAST;

	free_numbers(exchange_numbers(w, new_numbers(room), room));
}

static void remove_number(struct timer_wheel *w, struct timer *t)
{
	struct timer **at = find_number(w, t->number);

	*at = t->hash_next;
	remove_receiver(t);
	count_named(w, t, -1);
}

static void start(struct timer_wheel *w, struct timer *t)
{
	bool sooner;

	t->wheel = w;
	lock_acquire(&w->lock);
	if (t->kind != TIMER_RECEIVE) {
		if (w->buckets == NULL || w->named > w->mask)
			grow_numbers(w);
		put_number(w, t);
		count_named(w, t, 1);
	}
	if (get_count(w) == 0)
		w->now = timer_now_ms(); /* nothing was waiting: nothing to step through */
	place(w, t);
	set_count(w, get_count(w) + 1);
	sooner = !sched_on_duty();
	lock_release(&w->lock);
	if (sooner && sched_get(w->sched) != NULL)
		sched_kick(w->sched);
}

/* ---- what many timers leave */

static bool has_few_named(const struct timer_wheel *w)
{
	return w->buckets != NULL && w->mask >= NUMBERS_SPARED && w->named < w->mask / NUMBERS_FEW_OF;
}

/* So many buckets as growing would have given them. */
static uint32_t room_of(uint32_t named)
{
	uint32_t room = NUMBERS_LEAST;

	while (room < named)
		room *= 4;
	return room;
}

static bool shrink_numbers(struct timer_wheel *w)
{
	struct numbers left = { NULL, NULL };
	bool few;

	lock_acquire(&w->lock);
	if (w->few && has_few_named(w))
		left = exchange_numbers(w, new_numbers(room_of(w->named)), room_of(w->named));
	few = w->few = has_few_named(w);
	lock_release(&w->lock);
	free_numbers(left);
	return few || left.buckets != NULL;
}

bool timer_tidy(void)
{
	bool more = false;

	for (unsigned i = 0; i < wheels.count; i++)
		more |= shrink_numbers(wheels.all[i]);
	return more;
}

/* ---- firing */

/* When the earliest slot begins. Lock held, count not 0. */
static uint64_t next_slot(const struct timer_wheel *w, unsigned *level, unsigned *slot)
{
	unsigned l = 0;
	uint64_t width, upper;

	while (w->used[l] == 0)
		l++;
	*level = l;
	*slot = (unsigned)__builtin_ctzll(w->used[l]);
	width = (uint64_t)1 << (l * DIGIT_BITS);
	upper = w->now & ~(width * SLOTS - 1);
	return upper | *slot * width;
}

/* Takes one that is due off the wheel; the receiving process is woken at once, others go to *due. Lock held. */
static void expire(struct timer_wheel *w, struct timer *t, struct timer **due)
{
	displace(w, t);
	set_count(w, get_count(w) - 1);
	if (t->kind == TIMER_RECEIVE) {
		atomic_fetch_or(&t->process->state, PS_TIMEOUT);
		sched_wake(t->process, true);
		return;
	}
	remove_number(w, t);
	t->next = *due;
	*due = t;
}

static void take_slot(struct timer_wheel *w, unsigned level, unsigned slot, struct timer **due)
{
	struct timer *t = w->slots[level][slot];

	while (t != NULL) {
		struct timer *next = t->next;

		if (t->at_ms <= w->now) {
			expire(w, t, due);
		} else {
			displace(w, t);
			place(w, t);
		}
		t = next;
	}
}

static void fire(struct timer *t)
{
	if (t->kind == TIMER_CALL)
		t->fire(t->arg);
	else
		timer_signals.send(t->to, t->message, t->at_ms);
	mem_free_as(MEM_PROCESS, t);
}

/* They were gathered latest first. */
static struct timer *reverse(struct timer *t)
{
	struct timer *reversed = NULL;

	while (t != NULL) {
		struct timer *next = t->next;

		t->next = reversed;
		reversed = t;
		t = next;
	}
	return reversed;
}

void timer_wheel_run(struct timer_wheel *w, int64_t now_ns)
{
	uint64_t now = (uint64_t)now_ns / NS_PER_MS;
	struct timer *due = NULL;

	lock_acquire(&w->lock);
	while (get_count(w) != 0) {
		unsigned level, slot;
		uint64_t at = next_slot(w, &level, &slot);

		if (at > now)
			break;
		if (at > w->now)
			w->now = at;
		take_slot(w, level, slot, &due);
	}
	if (w->now < now && get_count(w) == 0)
		w->now = now;
	lock_release(&w->lock);
	for (due = reverse(due); due != NULL;) {
		struct timer *t = due;

		due = t->next;
		fire(t);
	}
}

int64_t timer_wheel_deadline_ns(struct timer_wheel *w)
{
	unsigned level, slot;
	uint64_t at = 0;

	if (get_count(w) == 0)
		return 0;
	lock_acquire(&w->lock);
	if (get_count(w) != 0)
		at = next_slot(w, &level, &slot);
	lock_release(&w->lock);
	return (int64_t)at * NS_PER_MS;
}

/* ---- receive */

/* The timer of all who wait for ever: on no wheel. */
static struct timer never = { .kind = TIMER_RECEIVE };

void timer_start_receive(Process *p, uint64_t ms)
{
	struct timer *t;

	if (p->receive_timer != NULL)
		return;
	if (ms == TIMER_NEVER) {
		p->receive_timer = &never;
		return;
	}
	t = mem_alloc_as(MEM_PROCESS, sizeof(*t));
	*t = (struct timer){ .kind = TIMER_RECEIVE, .at_ms = timer_deadline_ms(ms), .process = p };
	p->receive_timer = t;
	start(own_wheel(), t);
}

void timer_cancel_receive(Process *p)
{
	struct timer *t = p->receive_timer;
	struct timer_wheel *w;

	if (t == NULL)
		return;
	p->receive_timer = NULL;
	if (t == &never)
		return;
	w = t->wheel;
	lock_acquire(&w->lock);
	if (t->at_link != NULL) {
		displace(w, t);
		set_count(w, get_count(w) - 1);
	}
	lock_release(&w->lock);
	mem_free_as(MEM_PROCESS, t);
	atomic_fetch_and(&p->state, ~(uint32_t)PS_TIMEOUT);
}

/* ---- by number */

uint64_t timer_start_call(uint64_t ms, void (*fire_call)(void *arg), void *arg)
{
	struct timer *t = mem_alloc_as(MEM_PROCESS, sizeof(*t));
	uint64_t number = ref_next_number();

	*t = (struct timer){
		.kind = TIMER_CALL, .at_ms = timer_deadline_ms(ms), .number = number, .fire = fire_call, .arg = arg
	};
	start(own_wheel(), t);
	return number;
}

/* The timer, taken off when `take` says so. *left_ms is what it had to go. */
static struct timer *find_on(struct timer_wheel *w, uint64_t number, enum timer_kind kind, bool take, int64_t *left_ms)
{
	struct timer **at, *t = NULL;
	int64_t left_ns;

	/* Who knows a number learned it after its timer was counted. */
	if (atomic_load_explicit(remainder_of(w, number), memory_order_relaxed) == 0)
		return NULL;
	lock_acquire(&w->lock);
	at = find_number(w, number);
	if (at != NULL && (*at)->kind == kind) {
		t = *at;
		left_ns = (int64_t)t->at_ms * NS_PER_MS - clock_monotonic_ns();
		*left_ms = left_ns > 0 ? left_ns / NS_PER_MS : 0;
		if (take) {
			remove_number(w, t);
			displace(w, t);
			set_count(w, get_count(w) - 1);
		}
	}
	lock_release(&w->lock);
	return t;
}

static struct timer *find_anywhere(uint64_t number, enum timer_kind kind, bool take, int64_t *left_ms)
{
	struct timer_wheel *own = own_wheel();
	struct timer *t = find_on(own, number, kind, take, left_ms);

	for (unsigned i = 0; t == NULL && i < wheels.count; i++)
		if (wheels.all[i] != own)
			t = find_on(wheels.all[i], number, kind, take, left_ms);
	return t;
}

bool timer_cancel_call(uint64_t number)
{
	int64_t left_ms;
	struct timer *t = find_anywhere(number, TIMER_CALL, true, &left_ms);

	mem_free_as(MEM_PROCESS, t);
	return t != NULL;
}

/* Those to that process, off the wheel: *most at most, which becomes less by as many. */
static struct timer *take_some_to(struct timer_wheel *w, Term to, size_t *most)
{
	struct timer *taken = NULL, *next, *t;

	lock_acquire(&w->lock);
	for (t = w->receivers != NULL ? *bucket_of_receiver(w, to) : NULL; t != NULL && *most > 0; t = next) {
		next = t->to_next;
		if (t->to != to)
			continue;
		remove_number(w, t);
		displace(w, t);
		set_count(w, get_count(w) - 1);
		t->next = taken;
		taken = t;
		--*most;
	}
	lock_release(&w->lock);
	return taken;
}

bool timer_cancel_messages(Process *p)
{
	size_t most = CANCELLED_AT_ONCE;

	if (!atomic_load(&p->has_timers))
		return true;
	for (unsigned i = 0; i < wheels.count; i++) {
		for (struct timer *t = take_some_to(wheels.all[i], p->id, &most), *next; t != NULL; t = next) {
			next = t->next;
			timer_signals.drop(p->id, t->message, t->at_ms);
			mem_free_as(MEM_PROCESS, t);
		}
	}
	return most > 0;
}

void timer_start_signal(uint64_t number, uint64_t at_ms, Term to, struct signal *message)
{
	struct timer *t = mem_alloc_as(MEM_PROCESS, sizeof(*t));

	*t = (struct timer){ .kind = TIMER_MESSAGE, .at_ms = at_ms, .number = number };
	t->to = to;
	t->message = message;
	start(own_wheel(), t);
}

bool timer_cancel_message(uint64_t ref, int64_t *left_ms)
{
	struct timer *t = find_anywhere(ref, TIMER_MESSAGE, true, left_ms);

	if (t == NULL)
		return false;
	timer_signals.cancel(t->message);
	mem_free_as(MEM_PROCESS, t);
	return true;
}

bool timer_read_message(uint64_t ref, int64_t *left_ms)
{
	return find_anywhere(ref, TIMER_MESSAGE, false, left_ms) != NULL;
}

static void see_messages(const struct timer *t,
			 void (*see)(Term to, const struct signal *message, int64_t left_ms, void *arg), void *arg)
{
	for (; t != NULL; t = t->next)
		if (t->kind == TIMER_MESSAGE)
			see(t->to, t->message, (int64_t)(t->at_ms - timer_now_ms()), arg);
}

void timer_each_message(void (*see)(Term to, const struct signal *message, int64_t left_ms, void *arg), void *arg)
{
	for (unsigned i = 0; i < wheels.count; i++)
		for (unsigned level = 0; level < LEVELS; level++)
			for (unsigned slot = 0; slot < SLOTS; slot++)
				see_messages(wheels.all[i]->slots[level][slot], see, arg);
}
