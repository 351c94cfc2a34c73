/* SPDX-License-Identifier: Apache-2.0 */
/* Lists. Each costs time in proportion to its arguments; long ones are charged for it. */
#include "base/alloc.h"
#include "bif/bif.h"
#include "code/export.h"
#include "data/compare.h"
#include "data/phash.h"
#include "proc/sched.h"

/* Units: list cells a reduction; cells copied that cost as much as one looked up in a table; cells of short lists. */
enum { CELLS_A_REDUCTION = 16, SUBTRACT_CELLS = 4, SUBTRACT_SHORT = 16 };

static void charge_cells(Process *p, size_t cells)
{
	process_bump(p, (int)(cells / CELLS_A_REDUCTION));
}

/* Cells of a proper list. Fails: false. */
static bool count_cells(Term t, size_t *n)
{
	size_t count = 0;

	for (; term_is_cons(t); t = cons_tail(t))
		count++;
	*n = count;
	return t == NIL;
}

Term bif_erlang_hd_1(Process *p, Term *args)
{
	return term_is_cons(args[0]) ? cons_head(args[0]) : exc_badarg(p);
}

Term bif_erlang_tl_1(Process *p, Term *args)
{
	return term_is_cons(args[0]) ? cons_tail(args[0]) : exc_badarg(p);
}

Term bif_erlang_length_1(Process *p, Term *args)
{
	size_t n;

	if (!count_cells(args[0], &n))
		return exc_badarg(p);
	charge_cells(p, n);
	return term_from_small((int64_t)n);
}

/* Cells that may be worked on in this time slice. */
static size_t cells_left(const Process *p) { return (size_t)(p->reds_left > 0 ? p->reds_left : 1) * CELLS_A_REDUCTION; }

/* The first `left` cells of a list are copied before the tail: in their order into one block (append), or each before
 * the last. */
struct copy_steps {
	struct exc_steps steps;
	Term from, tail;
	Term result;         /* append: the block's first cell */
	Term *at;            /* append: the cells to be filled */
	size_t left;
};

/* How many cells to copy now: into memory that is new, each costs what two do that are only looked at. */
static size_t take_cells(Process *p, struct copy_steps *s)
{
	size_t most = cells_left(p) / 2, n = s->left < most ? s->left : most;

	charge_cells(p, 2 * n);
	s->left -= n;
	return n;
}

/* n cells of a list, side by side from `at` on, each before the next. Returns what is behind the last one in the
 * list. */
static Term copy_cells(Term *at, Term from, size_t n)
{
	for (Term *end = at + 2 * n; at < end; at += 2, from = cons_tail(from)) {
		at[0] = cons_head(from);
		at[1] = term_from_cons(at + 2);
	}
	return from;
}

static Term append_step(Process *p, struct exc_steps *steps)
{
	struct copy_steps *s = (struct copy_steps *)steps;
	size_t n = take_cells(p, s);

	s->from = copy_cells(s->at, s->from, n);
	s->at += 2 * n;
	if (s->left > 0)
		return EXC_MORE;
	s->at[-1] = s->tail;
	return s->result;
}

/* n cells of a list, side by side from `at` on, each behind the next one, the first before tail. Returns what is behind
 * the last one in the list. */
static Term reverse_cells(Term *at, Term from, size_t n, Term tail)
{
	for (Term *end = at + 2 * n; at < end; at += 2, from = cons_tail(from)) {
		at[0] = cons_head(from);
		at[1] = tail;
		tail = term_from_cons(at);
	}
	return from;
}

static Term reverse_step(Process *p, struct exc_steps *steps)
{
	struct copy_steps *s = (struct copy_steps *)steps;
	size_t n = take_cells(p, s);
	Term *at = heap_alloc(&p->heap, 2 * n);

	s->from = reverse_cells(at, s->from, n, s->tail);
	s->tail = term_from_cons(at + 2 * n - 2);
	return s->left > 0 ? EXC_MORE : s->tail;
}

static Term run_copy(Process *p, const struct copy_steps *s, const Term *args)
{
	struct copy_steps *kept = mem_alloc(sizeof(*kept));

	*kept = *s;
	charge_cells(p, s->left / 4); /* they were counted */
	return exc_run_steps(p, &kept->steps, args, 2);
}

static __attribute__((noinline)) Term append_long(Process *p, Term *at, size_t n, const Term *args)
{
	struct copy_steps s = { { .step = append_step }, .from = args[0], .result = term_from_cons(at),
				.tail = args[1],         .at = at,        .left = n };

	return run_copy(p, &s, args);
}

Term bif_erlang_append_2(Process *p, Term *args)
{
	size_t n;
	Term *at;

	if (!count_cells(args[0], &n))
		return exc_badarg(p);
	if (n == 0)
		return args[1];
	if (args[1] == NIL)
		return args[0];
	at = heap_alloc(&p->heap, 2 * n);
	if (n > cells_left(p))
		return append_long(p, at, n, args);
	copy_cells(at, args[0], n);
	at[2 * n - 1] = args[1];
	charge_cells(p, n);
	return term_from_cons(at);
}

static __attribute__((noinline)) Term reverse_long(Process *p, size_t n, const Term *args)
{
	struct copy_steps s = { { .step = reverse_step }, .from = args[0], .tail = args[1], .left = n };

	return run_copy(p, &s, args);
}

static Term reverse_counted(Process *p, const Term *args)
{
	size_t n;
	Term *at;

	if (!count_cells(args[0], &n))
		return exc_badarg(p);
	if (n == 0)
		return args[1];
	if (n > cells_left(p))
		return reverse_long(p, n, args);
	at = heap_alloc(&p->heap, 2 * n);
	reverse_cells(at, args[0], n, args[1]);
	charge_cells(p, n);
	return term_from_cons(at + 2 * n - 2);
}

/* Short lists are not counted first. */
Term bif_lists_reverse_2(Process *p, Term *args)
{
	enum { WORDS = 2 * CELLS_A_REDUCTION };
	Term *first = heap_alloc(&p->heap, WORDS), *at = first, from = args[0], result = args[1];

	for (; term_is_cons(from) && at < first + WORDS; at += 2, from = cons_tail(from)) {
		at[0] = cons_head(from);
		at[1] = result;
		result = term_from_cons(at);
	}
	heap_trim(&p->heap, first, WORDS, from == NIL ? at : first);
	return from == NIL ? result : reverse_counted(p, args);
}

/* ---- subtraction: a table of the terms to take out, each with how many times */

struct multiset {
	struct { Term term; uint64_t hash; size_t count; } *slots;
	size_t mask;
	size_t left;         /* terms still to take out */
};

/* The slot of t, or the free one where it belongs. */
static size_t find_slot(const struct multiset *m, Term t, uint64_t hash)
{
	size_t i = hash & m->mask;

	while (m->slots[i].term != TERM_NONE && !(m->slots[i].hash == hash && term_same(m->slots[i].term, t)))
		i = (i + 1) & m->mask;
	return i;
}

static void make_multiset(struct multiset *m, size_t n)
{
	size_t room = 8;

	while (room < 2 * n)
		room *= 2;
	m->slots = mem_zalloc(room * sizeof(*m->slots));
	m->mask = room - 1;
	m->left = n;
}

static void put_in(struct multiset *m, Term t)
{
	uint64_t hash = hash_internal(t);
	size_t i = find_slot(m, t, hash);

	m->slots[i].term = t;
	m->slots[i].hash = hash;
	m->slots[i].count++;
}

static bool take_out(struct multiset *m, Term t)
{
	size_t i = find_slot(m, t, hash_internal(t));

	if (m->slots[i].term == TERM_NONE || m->slots[i].count == 0)
		return false;
	m->slots[i].count--;
	m->left--;
	return true;
}

/* First the terms to take out go into the table, then the list is walked; what follows the last one taken out is
 * shared. */
struct subtract_steps {
	struct exc_steps steps;
	struct multiset out;
	Term list, wanted;   /* still to be walked, to be put into the table */
	Term *kept;
	size_t count;
};

static void subtract_end(struct exc_steps *steps)
{
	struct subtract_steps *s = (struct subtract_steps *)steps;

	sched_lend();
	mem_free(s->out.slots);
	mem_free(s->kept);
	sched_reclaim();
}

static Term put_rest(Process *p, const struct subtract_steps *s)
{
	Term list;

	sched_lend();
	list = heap_list_array(&p->heap, s->count, s->kept, s->list);
	sched_reclaim();
	return list;
}

static Term subtract_step(Process *p, struct exc_steps *steps)
{
	struct subtract_steps *s = (struct subtract_steps *)steps;
	size_t most = cells_left(p) / SUBTRACT_CELLS + 1, n = most;

	for (; n > 0 && term_is_cons(s->wanted); n--, s->wanted = cons_tail(s->wanted))
		put_in(&s->out, cons_head(s->wanted));
	for (; n > 0 && term_is_cons(s->list) && s->out.left > 0; n--, s->list = cons_tail(s->list))
		if (!take_out(&s->out, cons_head(s->list)))
			s->kept[s->count++] = cons_head(s->list);
	charge_cells(p, (most - n) * SUBTRACT_CELLS);
	if (n == 0)
		return EXC_MORE;
	return put_rest(p, s);
}

/* Short lists: each element is looked for among those still to be taken out. */
static Term subtract_short(Process *p, Term list, Term wanted, size_t n)
{
	Term out[SUBTRACT_SHORT], kept[SUBTRACT_SHORT];
	size_t left = 0, count = 0;

	for (; term_is_cons(wanted); wanted = cons_tail(wanted))
		out[left++] = cons_head(wanted);
	for (; n > 0 && left > 0; n--, list = cons_tail(list)) {
		size_t i = 0;

		while (i < left && !term_same(out[i], cons_head(list)))
			i++;
		if (i < left)
			out[i] = out[--left];
		else
			kept[count++] = cons_head(list);
	}
	return heap_list_array(&p->heap, count, kept, list);
}

Term bif_erlang_subtract_2(Process *p, Term *args)
{
	struct subtract_steps *s;
	size_t n, k;

	if (!count_cells(args[0], &n) || !count_cells(args[1], &k))
		return exc_badarg(p);
	if (n == 0 || k == 0)
		return args[0];
	if (n <= SUBTRACT_SHORT && k <= SUBTRACT_SHORT)
		return subtract_short(p, args[0], args[1], n);
	s = mem_alloc(sizeof(*s));
	*s = (struct subtract_steps){ { .step = subtract_step, .end = subtract_end },
				      .list = args[0],
				      .wanted = args[1] };
	sched_lend();
	make_multiset(&s->out, k);
	sched_reclaim();
	s->kept = mem_alloc((n + 1) * sizeof(Term));
	return exc_run_steps(p, &s->steps, args, 2);
}

/* ---- search */

/* Up to n cells of *list are looked at. Returns how many come before the first with that head; *list begins there. */
static size_t skip_others(Term *list, size_t n, Term wanted)
{
	size_t left = n;
	Term t = *list;

	if (term_is_immed(wanted))
		for (; left > 0 && term_is_cons(t) && cons_head(t) != wanted; left--)
			t = cons_tail(t);
	else
		for (; left > 0 && term_is_cons(t) && !term_same(cons_head(t), wanted); left--)
			t = cons_tail(t);
	*list = t;
	return n - left;
}

Term bif_lists_member_2(Process *p, Term *args)
{
	Term t = args[1];
	size_t most = cells_left(p), n = skip_others(&t, most, args[0]);

	charge_cells(p, n);
	if (term_is_cons(t))
		return n < most ? am_true : exc_trap(p, export_get(am_lists, am_member, 2), 2, (Term[]){ args[0], t });
	return t == NIL ? am_false : exc_badarg(p);
}

/* Has t an element of that index (from 1)? A header turned so that its subtag stands highest: a tuple's is its arity,
 * all others are far above. */
static inline bool has_element(Term t, size_t index)
{
	return likely(term_is_boxed(t)) && likely((*boxed_ptr(t) >> 6 | *boxed_ptr(t) << 58) - index <= UINT32_MAX);
}

/* Of up to *left cells, those are passed over that have no tuple whose element of that index may be == key: an
 * immediate, which only the same word is. */
static inline Term skip_unlike_keys(Term t, size_t index, Term key, size_t *left)
{
	size_t n = *left;
	Term next;

	for (; n > 0 && term_is_cons(t); t = next, n--) {
		Term head = cons_head(t);

		next = cons_tail(t); /* asked for before all else: the next cell waits for it */
		if (has_element(head, index) &&
		    (boxed_ptr(head)[index] == key || !term_is_immed(boxed_ptr(head)[index])))
			break;
	}
	*left = n;
	return t;
}

/* Of up to *left cells, those are passed over that have no tuple whose element of that index is == key. */
static Term skip_other_keys(Term t, size_t index, Term key, size_t *left)
{
	size_t n = *left;

	for (; n > 0 && term_is_cons(t); t = cons_tail(t), n--)
		if (has_element(cons_head(t), index) && term_equal(key, boxed_ptr(cons_head(t))[index]))
			break;
	*left = n;
	return t;
}

/* For find_key, of what is left of the list and of the cells that may be looked at. Apart, as what is found soon needs
 * no calls. */
static __attribute__((noinline)) Term find_key_in_rest(Process *p, const Term *args, Term name, Term rest, size_t left,
						       Term *found)
{
	size_t had = left;

	rest = skip_other_keys(rest, (size_t)small_value(args[1]), args[0], &left);
	charge_cells(p, had - left);
	if (term_is_cons(rest) && left == 0)
		return exc_trap(p, export_get(am_lists, name, 3), 3, (Term[]){ args[0], args[1], rest });
	if (!term_is_cons(rest))
		return rest == NIL ? am_false : exc_badarg(p);
	*found = cons_head(rest);
	return am_true;
}

/* For lists:name/3. am_true: *found is the tuple of a list whose element is == key; am_false: there is none; TERM_NONE:
 * bad arguments, or a time slice does not do, and name/3 is called with the rest. */
static inline Term find_key(Process *p, const Term *args, Term name, Term *found)
{
	size_t most = cells_left(p), left = most, index = (size_t)small_value(args[1]);
	Term t = args[2];

	if (unlikely(!term_is_small(args[1]) || small_value(args[1]) < 1))
		return exc_badarg(p);
	if (term_is_immed(args[0])) {
		t = skip_unlike_keys(t, index, args[0], &left);
		charge_cells(p, most - left);
		if (likely(left > 0 && term_is_cons(t) && boxed_ptr(cons_head(t))[index] == args[0])) {
			*found = cons_head(t);
			return am_true;
		}
	}
	return find_key_in_rest(p, args, name, t, left, found);
}

Term bif_lists_keyfind_3(Process *p, Term *args)
{
	Term found, is_there = find_key(p, args, am_keyfind, &found);

	return is_there == am_true ? found : is_there;
}

Term bif_lists_keymember_3(Process *p, Term *args)
{
	Term found;

	return find_key(p, args, am_keymember, &found);
}

Term bif_lists_keysearch_3(Process *p, Term *args)
{
	Term found, is_there = find_key(p, args, am_keysearch, &found);

	return is_there == am_true ? heap_tuple(&p->heap, am_value, found) : is_there;
}
