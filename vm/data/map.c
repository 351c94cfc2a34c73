/* SPDX-License-Identifier: Apache-2.0 */
/* Maps: look-up, walks, and flat maps; what turns large goes on to data/map_trie.h. */
#include "data/map.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "data/compare.h"
#include "data/map_trie.h"
#include "data/phash.h"

static inline struct flatmap *flat_ptr(Term map) { return (struct flatmap *)boxed_ptr(map); }
static inline const Term *flat_keys(Term map) { return boxed_ptr(flat_ptr(map)->keys) + 1; }

uint64_t map_hash(Term key) { return hash_internal(key); }

/* Index of a tuple among n keys, or n. Most keys that it is not are told from it by their last element. */
static size_t find_tuple(const Term *keys, size_t n, Term key)
{
	const Term *words = boxed_ptr(key);
	size_t arity = header_arity(*words), i;
	Term last = words[arity]; /* of the empty tuple: its header, which every other has, too */

	for (i = 0; i < n; i++) {
		const Term *other = boxed_ptr(keys[i]);

		if (keys[i] == key)
			break;
		if (!term_is_boxed(keys[i]) || *other != *words)
			continue;
		if (other[arity] != last && (term_is_immed(last) || term_is_immed(other[arity])))
			continue;
		if (compare_same(keys[i], key, COMPARE_EXACT))
			break;
	}
	return i;
}

/* Index of the key in a flat map, or its size. */
static size_t find_flat(Term map, Term key)
{
	const Term *keys = flat_keys(map);
	size_t n = map_size(map), i;

	if (term_is_immed(key))
		return map_find_word(keys, n, key);
	if (term_is_tuple(key))
		return find_tuple(keys, n, key);
	for (i = 0; i < n && !term_same(keys[i], key); i++)
		;
	return i;
}

Term map_get_hashed(Term map, Term key, uint64_t hash)
{
	return map_trie_get(map, key, hash);
}

Term map_get_slow(Term map, Term key)
{
	size_t i;

	if (!map_is_flat(map))
		return map_trie_get(map, key, map_hash(key));
	i = find_flat(map, key);
	return i < map_size(map) ? flat_ptr(map)->values[i] : TERM_NONE;
}

/* ---- making flat maps */

static struct flatmap *put_flat(struct heap *h, Term keys, size_t n)
{
	struct flatmap *f = (struct flatmap *)heap_alloc(h, n + 2);

	f->header = MAP_HEADER(MAP_FLAT, n);
	f->keys = keys;
	return f;
}

static Term flat_from_arrays(struct heap *h, const Term *keys, const Term *values, size_t n)
{
	Term tuple = heap_tuple_array(h, n, keys);
	struct flatmap *f = put_flat(h, tuple, n);

	memcpy(f->values, values, n * sizeof(Term));
	return term_from_boxed(&f->header);
}

Term map_new(struct heap *h)
{
	const Term none = NIL;

	return flat_from_arrays(h, &none, &none, 0);
}

/* Pairs in the order of a flat map, gathered before it is known how many there are. */
struct sorted {
	size_t n;
	Term keys[2 * MAP_FLAT_MAX];
	Term values[2 * MAP_FLAT_MAX];
};

/* Where the key is among n keys in order, or where it belongs. */
static size_t find_place(const Term *keys, size_t n, Term key, bool *found)
{
	size_t low = 0, high = n;

	*found = false;
	while (low < high) {
		size_t middle = (low + high) / 2;
		int d = term_compare_exact(key, keys[middle]);

		if (d == 0) {
			*found = true;
			return middle;
		}
		if (d < 0)
			high = middle;
		else
			low = middle + 1;
	}
	return low;
}

/* An equal key that is there (0.0 and -0.0 are) stays, or gives way to the new one. */
enum equal_key { KEY_STAYS, KEY_GIVES_WAY };

static void insert_sorted(struct sorted *s, Term key, Term value, enum equal_key equal)
{
	bool found = false;
	size_t i = s->n;

	/* What comes in order is put behind the last. */
	if (s->n > 0 && term_compare_exact(s->keys[s->n - 1], key) >= 0)
		i = find_place(s->keys, s->n, key, &found);
	if (found) {
		if (equal == KEY_GIVES_WAY)
			s->keys[i] = key;
		s->values[i] = value;
		return;
	}
	for (size_t k = s->n; k > i; k--) {
		s->keys[k] = s->keys[k - 1];
		s->values[k] = s->values[k - 1];
	}
	s->keys[i] = key;
	s->values[i] = value;
	s->n++;
}

static Term map_from_sorted(struct heap *h, const struct sorted *s)
{
	Term pairs[4 * MAP_FLAT_MAX];

	if (s->n <= MAP_FLAT_MAX)
		return flat_from_arrays(h, s->keys, s->values, s->n);
	for (size_t i = 0; i < s->n; i++) {
		pairs[2 * i] = s->keys[i];
		pairs[2 * i + 1] = s->values[i];
	}
	return map_trie_from_pairs(h, pairs, s->n);
}

Term map_from_pairs(struct heap *h, const Term *pairs, size_t n)
{
	struct sorted s;

	if (n > 2 * MAP_FLAT_MAX)
		return map_trie_from_pairs(h, pairs, n);
	s.n = 0;
	for (size_t i = 0; i < n; i++)
		insert_sorted(&s, pairs[2 * i], pairs[2 * i + 1], KEY_GIVES_WAY);
	return map_from_sorted(h, &s);
}

Term map_from_atoms(struct heap *h, unsigned n, const Term *keys, const Term *values)
{
	Term *at = heap_alloc(h, n + 1 + 2 + n);
	struct flatmap *m = (struct flatmap *)(at + n + 1);

	at[0] = HEADER(n, SUB_TUPLE);
	m->header = MAP_HEADER(MAP_FLAT, n);
	m->keys = term_from_boxed(at);
	for (unsigned i = 0; i < n; i++) {
		at[1 + i] = keys[i];
		m->values[i] = values[i];
	}
	return term_from_boxed((Term *)m);
}

Term map_from_unique_pairs(struct heap *h, const Term *pairs, size_t n)
{
	Term map = map_from_pairs(h, pairs, n);

	return map_size(map) == n ? map : TERM_NONE;
}

/* ---- change */

static void sorted_from_flat(struct sorted *s, Term map)
{
	s->n = map_size(map);
	memcpy(s->keys, flat_keys(map), s->n * sizeof(Term));
	memcpy(s->values, flat_ptr(map)->values, s->n * sizeof(Term));
}

static Term flat_set_value(struct heap *h, Term map, size_t i, Term value)
{
	struct flatmap *f;
	size_t n = map_size(map);

	if (flat_ptr(map)->values[i] == value)
		return map;
	f = put_flat(h, flat_ptr(map)->keys, n);
	memcpy(f->values, flat_ptr(map)->values, n * sizeof(Term));
	f->values[i] = value;
	return term_from_boxed(&f->header);
}

/* Words of which there are mostly some more than a loop copies in the time of a call. */
static inline void copy_words(Term *to, const Term *from, size_t n)
{
	if (n > 4)
		memcpy(to, from, n * sizeof(Term));
	else
		term_copy(to, from, n);
}

/* A copy of the map with a key at its place i. */
static Term flat_insert(struct heap *h, Term map, size_t i, Term key, Term value)
{
	size_t n = map_size(map);
	const Term *keys = flat_keys(map), *values = flat_ptr(map)->values;
	Term *tuple = heap_alloc(h, n + 2);
	struct flatmap *f;

	tuple[0] = HEADER(n + 1, SUB_TUPLE);
	f = put_flat(h, term_from_boxed(tuple), n + 1);
	copy_words(tuple + 1, keys, i);
	copy_words(f->values, values, i);
	tuple[1 + i] = key;
	f->values[i] = value;
	copy_words(tuple + 2 + i, keys + i, n - i);
	copy_words(f->values + i + 1, values + i, n - i);
	return term_from_boxed(&f->header);
}

static Term flat_put(struct heap *h, Term map, Term key, Term value)
{
	size_t n = map_size(map), i = find_flat(map, key);
	const Term *keys = flat_keys(map);
	struct sorted s;
	bool found;

	if (i < n)
		return flat_set_value(h, map, i, value);
	if (n == MAP_FLAT_MAX) {
		sorted_from_flat(&s, map);
		insert_sorted(&s, key, value, KEY_STAYS);
		return map_from_sorted(h, &s);
	}
	/* What comes in order is put behind the last. */
	if (n > 0 && term_compare_exact(keys[n - 1], key) > 0)
		i = find_place(keys, n - 1, key, &found);
	return flat_insert(h, map, i, key, value);
}

Term map_put(struct heap *h, Term map, Term key, Term value)
{
	return map_is_flat(map) ? flat_put(h, map, key, value) : map_trie_put(h, map, key, value);
}

Term map_update(struct heap *h, Term map, Term key, Term value)
{
	size_t i;

	if (!map_is_flat(map))
		return map_trie_update(h, map, key, value);
	i = find_flat(map, key);
	return i < map_size(map) ? flat_set_value(h, map, i, value) : TERM_NONE;
}

static Term flat_remove(struct heap *h, Term map, size_t i)
{
	size_t n = map_size(map) - 1;
	const Term *keys = flat_keys(map), *values = flat_ptr(map)->values;
	Term *tuple = heap_alloc(h, 2 * n + 3);
	struct flatmap *f = (struct flatmap *)(tuple + n + 1);

	tuple[0] = HEADER(n, SUB_TUPLE);
	term_copy(tuple + 1, keys, i);
	term_copy(tuple + 1 + i, keys + i + 1, n - i);
	*f = (struct flatmap){ MAP_HEADER(MAP_FLAT, n), term_from_boxed(tuple) };
	term_copy(f->values, values, i);
	term_copy(f->values + i, values + i + 1, n - i);
	return term_from_boxed(&f->header);
}

/* A trie that is one pair too small to stay one. */
static Term trie_to_flat(struct heap *h, Term map, Term without)
{
	struct map_iter it;
	struct sorted s = { .n = 0 };
	Term key, value;

	map_iter_init(&it, map);
	while (map_iter_next(&it, &key, &value))
		if (!term_same(key, without))
			insert_sorted(&s, key, value, KEY_STAYS);
	return flat_from_arrays(h, s.keys, s.values, s.n);
}

static Term flat_take(struct heap *h, Term map, Term key, Term *removed)
{
	size_t i = find_flat(map, key);

	if (i == map_size(map)) {
		*removed = TERM_NONE;
		return map;
	}
	*removed = flat_ptr(map)->values[i];
	return flat_remove(h, map, i);
}

Term map_remove(struct heap *h, Term map, Term key, Term *removed)
{
	Term value;

	if (removed == NULL)
		removed = &value;
	if (map_is_flat(map))
		return flat_take(h, map, key, removed);
	if (map_size(map) > MAP_FLAT_MAX + 1)
		return map_trie_remove(h, map, key, removed);
	*removed = map_get_slow(map, key);
	return *removed != TERM_NONE ? trie_to_flat(h, map, key) : map;
}

/* ---- several keys at once */

/* Writes the values of keys that are all there; false at the first that is not. Shares the keys. */
static bool flat_update_all(struct heap *h, Term map, const Term *pairs, size_t n, Term *result, Term *missing)
{
	Term values[MAP_FLAT_MAX];
	size_t size = map_size(map);
	struct flatmap *f;

	memcpy(values, flat_ptr(map)->values, size * sizeof(Term));
	for (size_t i = 0; i < n; i++) {
		size_t at = find_flat(map, pairs[2 * i]);

		if (at == size) {
			*missing = pairs[2 * i];
			return false;
		}
		values[at] = pairs[2 * i + 1];
	}
	if (memcmp(values, flat_ptr(map)->values, size * sizeof(Term)) == 0) {
		*result = map;
		return true;
	}
	f = put_flat(h, flat_ptr(map)->keys, size);
	memcpy(f->values, values, size * sizeof(Term));
	*result = term_from_boxed(&f->header);
	return true;
}

/* A small map and as many pairs as there be, by way of an array of all. Of equal keys the map's stay. */
static Term put_many(struct heap *h, Term map, const Term *pairs, size_t n)
{
	size_t size = map_size(map);
	Term *all = mem_alloc((size + n) * 2 * sizeof(Term));
	Term result;

	for (size_t i = 0; i < size; i++) {
		all[2 * i] = flat_keys(map)[i];
		all[2 * i + 1] = flat_ptr(map)->values[i];
	}
	for (size_t i = 0; i < n; i++) {
		size_t at = find_flat(map, pairs[2 * i]);

		all[2 * (size + i)] = at < size ? flat_keys(map)[at] : pairs[2 * i];
		all[2 * (size + i) + 1] = pairs[2 * i + 1];
	}
	result = map_from_pairs(h, all, size + n);
	mem_free(all);
	return result;
}

Term map_put_pairs(struct heap *h, Term map, const Term *pairs, size_t n)
{
	struct sorted s;
	Term result, missing;

	if (!map_is_flat(map)) {
		for (size_t i = 0; i < n; i++)
			map = map_trie_put(h, map, pairs[2 * i], pairs[2 * i + 1]);
		return map;
	}
	if (map_size(map) == 0)
		return map_from_pairs(h, pairs, n);
	if (n == 1)
		return flat_put(h, map, pairs[0], pairs[1]);
	if (flat_update_all(h, map, pairs, n, &result, &missing))
		return result;
	if (n > MAP_FLAT_MAX)
		return put_many(h, map, pairs, n);
	sorted_from_flat(&s, map);
	for (size_t i = 0; i < n; i++)
		insert_sorted(&s, pairs[2 * i], pairs[2 * i + 1], KEY_STAYS);
	return map_from_sorted(h, &s);
}

Term map_update_pairs(struct heap *h, Term map, const Term *pairs, size_t n, Term *missing)
{
	Term result;

	if (map_is_flat(map))
		return flat_update_all(h, map, pairs, n, &result, missing) ? result : TERM_NONE;
	for (size_t i = 0; i < n; i++) {
		result = map_update(h, map, pairs[2 * i], pairs[2 * i + 1]);
		if (result == TERM_NONE) {
			*missing = pairs[2 * i];
			return TERM_NONE;
		}
		map = result;
	}
	return map;
}

/* ---- merging */

static Term merge_flat(struct heap *h, Term a, Term b)
{
	const Term *ka = flat_keys(a), *kb = flat_keys(b);
	const Term *va = flat_ptr(a)->values, *vb = flat_ptr(b)->values;
	size_t na = map_size(a), nb = map_size(b), i = 0, j = 0;
	bool keeps_keys = true; /* those of a */
	struct sorted s;

	s.n = 0;
	while (i < na || j < nb) {
		int d = i == na ? 1 : j == nb ? -1 : term_compare_exact(ka[i], kb[j]);

		s.keys[s.n] = d < 0 ? ka[i] : kb[j];
		s.values[s.n++] = d < 0 ? va[i] : vb[j];
		keeps_keys = keeps_keys && (d < 0 || (d == 0 && ka[i] == kb[j]));
		i += d <= 0;
		j += d >= 0;
	}
	if (s.n == nb)
		return b;
	if (keeps_keys) {
		struct flatmap *f = put_flat(h, flat_ptr(a)->keys, na);

		memcpy(f->values, s.values, na * sizeof(Term));
		return term_from_boxed(&f->header);
	}
	return map_from_sorted(h, &s);
}

static Term merge_tries(struct heap *h, Term a, Term b)
{
	struct map_merger m;
	int64_t pairs = INT64_MAX;

	map_merge_begin(&m, h, a, b);
	return map_merge_some(&m, &pairs);
}

Term map_merge(struct heap *h, Term a, Term b)
{
	size_t n;

	if (map_size(b) == 0 || a == b)
		return a;
	if (map_size(a) == 0)
		return b;
	if (map_is_flat(a) && map_is_flat(b))
		return merge_flat(h, a, b);
	if (!map_is_flat(a) && !map_is_flat(b))
		return merge_tries(h, a, b);
	if (map_is_flat(b)) {
		n = map_size(b);
		for (size_t i = 0; i < n; i++)
			a = map_trie_put_pair(h, a, flat_keys(b)[i], flat_ptr(b)->values[i]);
		return a;
	}
	n = map_size(a);
	for (size_t i = 0; i < n; i++)
		if (map_get_slow(b, flat_keys(a)[i]) == TERM_NONE)
			b = map_trie_put(h, b, flat_keys(a)[i], flat_ptr(a)->values[i]);
	return b;
}

/* ---- walks */

void map_iter_init(struct map_iter *it, Term map)
{
	it->depth = 0;
	it->keys = NULL;
	if (map_is_flat(map)) {
		it->keys = flat_keys(map);
		it->at = flat_ptr(map)->values;
		it->end = it->at + map_size(map);
	} else {
		map_trie_children(map, &it->at, &it->end);
	}
}

bool map_iter_next(struct map_iter *it, Term *key, Term *value)
{
	Term child;

	if (it->keys != NULL) {
		if (it->at == it->end)
			return false;
		*key = *it->keys++;
		*value = *it->at++;
		return true;
	}
	for (;;) {
		if (it->at == it->end) {
			if (it->depth == 0)
				return false;
			it->depth--;
			it->at = it->stack[it->depth].at;
			it->end = it->stack[it->depth].end;
			continue;
		}
		child = *it->at++;
		if (term_is_cons(child)) {
			*key = cons_head(child);
			*value = cons_tail(child);
			return true;
		}
		it->stack[it->depth].at = it->at;
		it->stack[it->depth].end = it->end;
		it->depth++;
		map_trie_children(child, &it->at, &it->end);
	}
}

struct pair {
	Term key, value;
};

static int compare_pairs(const void *a, const void *b)
{
	return term_compare_exact(((const struct pair *)a)->key, ((const struct pair *)b)->key);
}

void map_sorted_pairs(Term map, Term *keys, Term *values)
{
	size_t n = map_size(map), i = 0;
	struct pair *pairs;
	struct map_iter it;

	if (map_is_flat(map)) {
		memcpy(keys, flat_keys(map), n * sizeof(Term));
		if (values != NULL)
			memcpy(values, flat_ptr(map)->values, n * sizeof(Term));
		return;
	}
	pairs = mem_alloc(n * sizeof(*pairs));
	map_iter_init(&it, map);
	while (map_iter_next(&it, &pairs[i].key, &pairs[i].value))
		i++;
	qsort(pairs, n, sizeof(*pairs), compare_pairs);
	for (i = 0; i < n; i++) {
		keys[i] = pairs[i].key;
		if (values != NULL)
			values[i] = pairs[i].value;
	}
	mem_free(pairs);
}

void map_list_begin(struct map_lister *l, struct heap *h, Term map, enum map_part part, Term tail)
{
	size_t n = map_size(map), words = part == MAP_PAIRS ? 5 : 2;

	l->part = part;
	l->left = n;
	l->tail = tail;
	l->at = n > 0 ? heap_alloc(h, n * words) : NULL;
	l->list = n > 0 ? term_from_cons(l->at + words - 2) : tail;
	map_iter_init(&l->from, map);
}

/* The cells stand one behind the other, each pair's tuple before its own. */
bool map_list_some(struct map_lister *l, size_t n)
{
	Term key, value;

	for (; n > 0 && l->left > 0; n--) {
		map_iter_next(&l->from, &key, &value);
		l->left--;
		if (l->part == MAP_PAIRS) {
			l->at[0] = HEADER(2, SUB_TUPLE);
			l->at[1] = key;
			l->at[2] = value;
			key = term_from_boxed(l->at);
			l->at += 3;
		}
		l->at[0] = l->part == MAP_VALUES ? value : key;
		l->at[1] = l->left == 0 ? l->tail : term_from_cons(l->at + (l->part == MAP_PAIRS ? 5 : 2));
		l->at += 2;
	}
	return l->left == 0;
}

Term map_list(struct heap *h, Term map, enum map_part part)
{
	struct map_lister l;

	if (map_is_flat(map) && part != MAP_PAIRS)
		return heap_list_array(h, map_size(map), part == MAP_KEYS ? flat_keys(map) : flat_ptr(map)->values,
				       NIL);
	map_list_begin(&l, h, map, part, NIL);
	map_list_some(&l, SIZE_MAX);
	return l.list;
}
