/* SPDX-License-Identifier: Apache-2.0 */
/* Open addressing with linear probing. Invariant: at most three quarters of the places are taken, so that a search
 * ends. */
#include "proc/dict.h"

#include "base/alloc.h"
#include "data/compare.h"
#include "data/phash.h"

enum { ROOM_MIN = 4, PAIR_WORDS = 5 };

static inline uint32_t find_place(const struct dict *d, Term key)
{
	uint32_t mask = d->room - 1;
	uint32_t i = (uint32_t)hash_internal(key) & mask;

	if (term_is_immed(key))
		while (d->pairs[2 * i] != key && d->pairs[2 * i] != TERM_NONE)
			i = (i + 1) & mask;
	else
		while (d->pairs[2 * i] != TERM_NONE && !term_same(d->pairs[2 * i], key))
			i = (i + 1) & mask;
	return i;
}

static struct dict *new_dict(uint32_t room)
{
	struct dict *d = mem_zalloc_as(MEM_PROCESS, sizeof(*d) + 2 * (size_t)room * sizeof(Term));

	d->room = room;
	return d;
}

static void put_fresh(struct dict *d, Term key, Term value)
{
	uint32_t i = find_place(d, key);

	d->pairs[2 * i] = key;
	d->pairs[2 * i + 1] = value;
	d->count++;
}

static void resize(Process *p, uint32_t room)
{
	struct dict *old = p->dict, *d = new_dict(room);

	for (uint32_t i = 0; i < old->room; i++)
		if (old->pairs[2 * i] != TERM_NONE)
			put_fresh(d, old->pairs[2 * i], old->pairs[2 * i + 1]);
	mem_free_as(MEM_PROCESS, old);
	p->dict = d;
}

Term dict_get(const Process *p, Term key)
{
	const struct dict *d = p->dict;
	uint32_t i;

	if (d == NULL)
		return TERM_NONE;
	i = find_place(d, key);
	return d->pairs[2 * i] != TERM_NONE ? d->pairs[2 * i + 1] : TERM_NONE;
}

Term dict_put(Process *p, Term key, Term value)
{
	struct dict *d = p->dict;
	Term before;
	uint32_t i;

	if (d == NULL)
		d = p->dict = new_dict(ROOM_MIN);
	i = find_place(d, key);
	if (d->pairs[2 * i] != TERM_NONE) {
		before = d->pairs[2 * i + 1];
		d->pairs[2 * i + 1] = value;
		return before;
	}
	if ((d->count + 1) * 4 > d->room * 3) {
		resize(p, d->room * 2);
		d = p->dict;
	}
	put_fresh(d, key, value);
	return TERM_NONE;
}

/* Those behind the gap at i that would not be found any more move into it. */
static void close_gap(struct dict *d, uint32_t i)
{
	uint32_t mask = d->room - 1;

	for (uint32_t k = (i + 1) & mask; d->pairs[2 * k] != TERM_NONE; k = (k + 1) & mask) {
		uint32_t home = (uint32_t)hash_internal(d->pairs[2 * k]) & mask;

		if (((k - home) & mask) < ((k - i) & mask))
			continue;
		d->pairs[2 * i] = d->pairs[2 * k];
		d->pairs[2 * i + 1] = d->pairs[2 * k + 1];
		i = k;
	}
	d->pairs[2 * i] = d->pairs[2 * i + 1] = TERM_NONE;
}

Term dict_erase(Process *p, Term key)
{
	struct dict *d = p->dict;
	Term before;
	uint32_t i;

	if (d == NULL)
		return TERM_NONE;
	i = find_place(d, key);
	if (d->pairs[2 * i] == TERM_NONE)
		return TERM_NONE;
	before = d->pairs[2 * i + 1];
	close_gap(d, i);
	if (--d->count == 0)
		dict_free(p);
	else if (d->room > ROOM_MIN && d->count * 8 < d->room)
		resize(p, d->room / 2);
	return before;
}

/* The lists of a dictionary are written without branches that would often be foretold wrong: each place to where the
 * next element goes, which stays there only when the place is taken; two places in a turn, so that more of them are on
 * their way at once. Elements stand side by side, each before the last one. */
static inline Term *put_pair(Term *at, const Term *pair)
{
	at[0] = HEADER(2, SUB_TUPLE);
	at[1] = pair[0];
	at[2] = pair[1];
	at[3] = term_from_boxed(at);
	at[4] = term_from_cons(at + 3 - PAIR_WORDS);
	return pair[0] != TERM_NONE ? at + PAIR_WORDS : at;
}

Term dict_list(const Process *p, struct heap *h)
{
	const struct dict *d = p->dict;
	size_t room;
	Term *first, *at;

	if (d == NULL)
		return NIL;
	room = PAIR_WORDS * ((size_t)d->count + 1);
	first = at = heap_alloc(h, room);
	for (const Term *pair = d->pairs, *end = pair + 2 * (size_t)d->room; pair < end; pair += 4)
		at = put_pair(put_pair(at, pair), pair + 2);
	first[4] = NIL;
	heap_trim(h, first, room, at);
	return term_from_cons(at + 3 - PAIR_WORDS);
}

static Term keys_of(const struct dict *d, struct heap *h, Term value)
{
	Term list = NIL;

	for (uint32_t i = 0; i < d->room; i++)
		if (d->pairs[2 * i] != TERM_NONE && term_same(d->pairs[2 * i + 1], value))
			list = heap_cons(h, d->pairs[2 * i], list);
	return list;
}

static inline Term *put_key(Term *at, Term key)
{
	at[0] = key;
	at[1] = term_from_cons(at - 2);
	return key != TERM_NONE ? at + 2 : at;
}

Term dict_keys(const Process *p, struct heap *h, const Term *value)
{
	const struct dict *d = p->dict;
	size_t room;
	Term *first, *at;

	if (d == NULL)
		return NIL;
	if (value != NULL)
		return keys_of(d, h, *value);
	room = 2 * ((size_t)d->count + 1);
	first = at = heap_alloc(h, room);
	for (const Term *pair = d->pairs, *end = pair + 2 * (size_t)d->room; pair < end; pair += 4)
		at = put_key(put_key(at, pair[0]), pair[2]);
	first[1] = NIL;
	heap_trim(h, first, room, at);
	return term_from_cons(at - 2);
}

void dict_free(Process *p)
{
	mem_free_as(MEM_PROCESS, p->dict);
	p->dict = NULL;
}
