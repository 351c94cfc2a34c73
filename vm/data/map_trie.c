/* SPDX-License-Identifier: Apache-2.0 */
/* Tries of large maps. Recursion goes down one level of the trie a call, 17 at most.
 * Invariant: children stand in rising order of their four bits; the head's size is the number of its leaves. */
#include "data/map_trie.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "data/compare.h"

enum { WAYS = 16, WAY_BITS = 4, LEVELS = 64 / WAY_BITS };

static inline unsigned way_of(uint64_t hash, unsigned level)
{
	return (unsigned)(hash >> (64 - WAY_BITS * (level + 1))) & (WAYS - 1);
}

/* A head or a node. */
struct node {
	uint32_t bitmap;
	const Term *children;
};

static inline struct node view_node(Term t)
{
	const Term *p = boxed_ptr(t);

	return (struct node){ (uint32_t)map_val(*p), p + (map_kind(*p) == MAP_NODE_BITMAP ? 1 : 2) };
}

/* Most nodes that are passed on a way down have all children. */
static inline bool node_is_full(const struct node *n) { return n->bitmap == (1u << WAYS) - 1; }
static inline unsigned node_count(const struct node *n) { return node_is_full(n) ? WAYS : map_ways(n->bitmap); }
static inline bool node_has(const struct node *n, unsigned way) { return n->bitmap >> way & 1; }
static inline unsigned node_index(const struct node *n, unsigned way)
{
	return node_is_full(n) ? way : map_ways(n->bitmap & ((1u << way) - 1));
}
/* TERM_NONE: none at that way. */
static inline Term node_child(const struct node *n, unsigned way)
{
	return node_has(n, way) ? n->children[node_index(n, way)] : TERM_NONE;
}

/* Returns where the children go. size: of a head; 0 for a node below it. */
static inline Term *open_node(struct heap *h, uint32_t bitmap, size_t size, Term *node)
{
	unsigned n = map_ways(bitmap);
	Term *at = heap_alloc(h, n + (size != 0 ? 2 : 1));

	*node = term_from_boxed(at);
	if (size == 0) {
		at[0] = MAP_HEADER(MAP_NODE_BITMAP, bitmap);
		return at + 1;
	}
	at[0] = MAP_HEADER(bitmap == 0xffff ? MAP_HEAD_ARRAY : MAP_HEAD_BITMAP, bitmap);
	at[1] = size;
	return at + 2;
}

static Term make_node(struct heap *h, uint32_t bitmap, const Term *children, size_t size)
{
	Term node, *to = open_node(h, bitmap, size, &node);

	term_copy(to, children, map_ways(bitmap));
	return node;
}

/* The node with another child at a way that has one, or without that. */
static Term node_replace(struct heap *h, const struct node *n, unsigned way, Term child, size_t size)
{
	unsigned at = node_index(n, way), count = node_count(n);
	Term node, *to;

	if (child != TERM_NONE) {
		to = open_node(h, n->bitmap, size, &node);
		term_copy(to, n->children, count);
		to[at] = child;
		return node;
	}
	to = open_node(h, n->bitmap & ~(1u << way), size, &node);
	term_copy(to, n->children, at);
	term_copy(to + at, n->children + at + 1, count - at - 1);
	return node;
}

/* The node with a child at a way that had none. */
static Term node_add(struct heap *h, const struct node *n, unsigned way, Term child, size_t size)
{
	unsigned at = node_index(n, way);
	Term node, *to = open_node(h, n->bitmap | 1u << way, size, &node);

	term_copy(to, n->children, at);
	to[at] = child;
	term_copy(to + at + 1, n->children + at, node_count(n) - at);
	return node;
}

void map_trie_children(Term node, const Term **at, const Term **end)
{
	struct node n;

	if (term_is_tuple(node)) {
		*at = boxed_ptr(node) + 1;
		*end = *at + tuple_arity(node);
		return;
	}
	n = view_node(node);
	*at = n.children;
	*end = n.children + node_count(&n);
}

static Term get_in_child(Term child, Term key, uint64_t hash, unsigned level)
{
	struct node n;

	while (!term_is_cons(child)) {
		if (term_is_tuple(child)) {
			for (size_t i = 1; i <= tuple_arity(child); i++)
				if (term_same(cons_head(tuple_get(child, i)), key))
					return cons_tail(tuple_get(child, i));
			return TERM_NONE;
		}
		n = view_node(child);
		child = node_child(&n, way_of(hash, level++));
		if (child == TERM_NONE)
			return TERM_NONE;
	}
	return term_same(cons_head(child), key) ? cons_tail(child) : TERM_NONE;
}

Term map_trie_get(Term map, Term key, uint64_t hash)
{
	return get_in_child(map, key, hash, 0);
}

/* ---- put */

struct put {
	struct heap *h;
	Term key, value;
	Term leaf;           /* a pair of them, which takes the place of the one that is there; TERM_NONE: none yet */
	uint64_t hash;
	bool updates;        /* a key that is missing is not added */
	bool added, missing;
};

/* The key is not there. Is it to be added? */
static bool may_add(struct put *p)
{
	p->missing = true;
	p->added = !p->updates;
	return p->added;
}

static Term pair_of(const struct put *p)
{
	return p->leaf != TERM_NONE ? p->leaf : heap_cons(p->h, p->key, p->value);
}

/* The leaf that stands where one with an equal key did. */
static Term replace_leaf(const struct put *p, Term leaf)
{
	if (cons_tail(leaf) == p->value && (p->leaf == TERM_NONE || cons_head(leaf) == p->key))
		return leaf;
	return pair_of(p);
}

/* Two leaves whose hashes agree above `level`. */
static Term join_leaves(struct heap *h, Term a, uint64_t a_hash, Term b, uint64_t b_hash, unsigned level)
{
	unsigned a_way, b_way;
	Term children[2];

	if (level == LEVELS)
		return heap_tuple(h, a, b);
	a_way = way_of(a_hash, level);
	b_way = way_of(b_hash, level);
	if (a_way == b_way) {
		children[0] = join_leaves(h, a, a_hash, b, b_hash, level + 1);
		return make_node(h, 1u << a_way, children, 0);
	}
	children[a_way > b_way] = a;
	children[a_way < b_way] = b;
	return make_node(h, 1u << a_way | 1u << b_way, children, 0);
}

static Term put_in_leaf(struct put *p, Term leaf, unsigned level)
{
	Term key = cons_head(leaf);

	if (term_same(key, p->key))
		return replace_leaf(p, leaf);
	if (!may_add(p))
		return leaf;
	return join_leaves(p->h, leaf, map_hash(key), pair_of(p), p->hash, level);
}

static Term put_in_tuple(struct put *p, Term tuple)
{
	size_t n = tuple_arity(tuple);
	Term *at;

	for (size_t i = 1; i <= n; i++) {
		Term old = tuple_get(tuple, i), leaf;

		if (!term_same(cons_head(old), p->key))
			continue;
		leaf = replace_leaf(p, old);
		if (leaf == old)
			return tuple;
		tuple = heap_tuple_array(p->h, n, boxed_ptr(tuple) + 1);
		boxed_ptr(tuple)[i] = leaf;
		return tuple;
	}
	if (!may_add(p))
		return tuple;
	at = heap_alloc(p->h, n + 2);
	at[0] = HEADER(n + 1, SUB_TUPLE);
	memcpy(at + 1, boxed_ptr(tuple) + 1, n * sizeof(Term));
	at[n + 1] = pair_of(p);
	return term_from_boxed(at);
}

static Term put_in_child(struct put *p, Term child, unsigned level);

/* size: of a head, before; else 0. */
static Term put_in_node(struct put *p, Term node, unsigned level, size_t size)
{
	struct node n = view_node(node);
	unsigned way = way_of(p->hash, level);
	Term old, new;

	if (!node_has(&n, way)) {
		if (!may_add(p))
			return node;
		return node_add(p->h, &n, way, pair_of(p), size + (size != 0));
	}
	old = n.children[node_index(&n, way)];
	new = put_in_child(p, old, level + 1);
	return new == old ? node : node_replace(p->h, &n, way, new, size + (size != 0 && p->added));
}

static Term put_in_child(struct put *p, Term child, unsigned level)
{
	if (term_is_cons(child))
		return put_in_leaf(p, child, level);
	return term_is_tuple(child) ? put_in_tuple(p, child) : put_in_node(p, child, level, 0);
}

Term map_trie_put(struct heap *h, Term map, Term key, Term value)
{
	struct put p = { .h = h, .key = key, .value = value, .hash = map_hash(key) };

	return put_in_node(&p, map, 0, map_size(map));
}

Term map_trie_put_pair(struct heap *h, Term map, Term key, Term value)
{
	struct put p = { .h = h, .key = key, .value = value, .leaf = heap_cons(h, key, value), .hash = map_hash(key) };

	return put_in_node(&p, map, 0, map_size(map));
}

Term map_trie_update(struct heap *h, Term map, Term key, Term value)
{
	struct put p = { .h = h, .key = key, .value = value, .hash = map_hash(key), .updates = true };
	Term result = put_in_node(&p, map, 0, map_size(map));

	return p.missing ? TERM_NONE : result;
}

/* ---- remove */

struct removal {
	struct heap *h;
	Term key, value;     /* value: TERM_NONE until the key is found */
	uint64_t hash;
};

static Term remove_from_tuple(struct removal *r, Term tuple)
{
	size_t n = tuple_arity(tuple), found = 0;
	Term *at;

	for (size_t i = 1; i <= n && found == 0; i++)
		if (term_same(cons_head(tuple_get(tuple, i)), r->key))
			found = i;
	if (found == 0)
		return tuple;
	r->value = cons_tail(tuple_get(tuple, found));
	if (n == 2)
		return tuple_get(tuple, 3 - found);
	at = heap_alloc(r->h, n);
	at[0] = HEADER(n - 1, SUB_TUPLE);
	term_copy(at + 1, boxed_ptr(tuple) + 1, found - 1);
	term_copy(at + found, boxed_ptr(tuple) + found + 1, n - found);
	return term_from_boxed(at);
}

/* The child without the key; itself when the key is not there; TERM_NONE when nothing is left of it. */
static Term remove_from_child(struct removal *r, Term child, unsigned level);

/* The same of a node; one that would have a leaf alone below it becomes that leaf, but for a head. size: of a head,
 * before; else 0. */
static Term remove_from_node(struct removal *r, Term node, unsigned level, size_t size)
{
	struct node n = view_node(node);
	unsigned way = way_of(r->hash, level), i;
	Term rest;

	if (!node_has(&n, way))
		return node;
	i = node_index(&n, way);
	rest = remove_from_child(r, n.children[i], level + 1);
	if (rest == n.children[i])
		return node;
	if (size != 0)
		return node_replace(r->h, &n, way, rest, size - 1);
	if (rest == TERM_NONE && node_count(&n) == 2 && term_is_cons(n.children[1 - i]))
		return n.children[1 - i];
	if (rest != TERM_NONE && node_count(&n) == 1 && term_is_cons(rest))
		return rest;
	return node_replace(r->h, &n, way, rest, 0);
}

static Term remove_from_child(struct removal *r, Term child, unsigned level)
{
	if (term_is_tuple(child))
		return remove_from_tuple(r, child);
	if (!term_is_cons(child))
		return remove_from_node(r, child, level, 0);
	if (!term_same(cons_head(child), r->key))
		return child;
	r->value = cons_tail(child);
	return TERM_NONE;
}

Term map_trie_remove(struct heap *h, Term map, Term key, Term *removed)
{
	struct removal r = { h, key, TERM_NONE, map_hash(key) };

	map = remove_from_node(&r, map, 0, map_size(map));
	*removed = r.value;
	return map;
}

/* ---- merge */

static size_t count_leaves(Term child)
{
	const Term *at, *end;
	size_t n = 0;

	if (term_is_cons(child))
		return 1;
	if (term_is_tuple(child))
		return tuple_arity(child);
	for (map_trie_children(child, &at, &end); at < end; at++)
		n += count_leaves(*at);
	return n;
}

static Term put_leaf(struct heap *h, Term child, Term leaf, unsigned level, size_t *common)
{
	struct put p = { .h = h, .key = cons_head(leaf), .value = cons_tail(leaf), .leaf = leaf,
			 .hash = map_hash(cons_head(leaf)) };
	Term result = put_in_child(&p, child, level);

	*common += !p.added;
	return result;
}

static Term merge_tuples(struct heap *h, Term a, Term b, size_t *common)
{
	for (size_t i = 1; i <= tuple_arity(b); i++)
		a = put_leaf(h, a, tuple_get(b, i), LEVELS, common);
	return a;
}

/* Two children of which one at least is no node, or which are the same. The result; *common grows by the keys that both
 * have. */
static Term merge_ends(struct heap *h, Term a, Term b, unsigned level, size_t *common)
{
	if (a == b) {
		*common += count_leaves(b);
		return b;
	}
	if (term_is_cons(b))
		return put_leaf(h, a, b, level, common);
	if (term_is_tuple(a))
		return merge_tuples(h, a, b, common);
	if (get_in_child(b, cons_head(a), map_hash(cons_head(a)), level) == TERM_NONE)
		return put_leaf(h, b, a, level, common);
	(*common)++;
	return b;
}

static bool is_node(Term child) { return !term_is_cons(child) && !term_is_tuple(child); }

static void open_level(struct map_merger *m, unsigned depth, Term a, Term b)
{
	struct map_merge_level *l = &m->levels[depth];
	struct node x = view_node(a), y = view_node(b);

	m->depth = depth;
	l->a = a;
	l->b = b;
	l->at_a = x.children;
	l->at_b = y.children;
	l->ways_a = x.bitmap;
	l->ways_b = y.bitmap;
	l->count = 0;
}

void map_merge_begin(struct map_merger *m, struct heap *h, Term a, Term b)
{
	m->h = h;
	m->common = 0;
	open_level(m, 0, a, b);
}

/* The children at the next way that either has; two nodes open a level below. */
static void merge_way(struct map_merger *m, struct map_merge_level *l, int64_t *pairs)
{
	uint32_t ways = l->ways_a | l->ways_b, way = ways & -ways;
	bool has_a = l->ways_a & way, has_b = l->ways_b & way;
	Term a = has_a ? *l->at_a++ : TERM_NONE, b = has_b ? *l->at_b++ : TERM_NONE;
	size_t before = m->common;

	l->ways_a &= ~way;
	l->ways_b &= ~way;
	if (!has_a || !has_b) {
		l->children[l->count++] = has_a ? a : b;
	} else if (a != b && is_node(a) && is_node(b)) {
		open_level(m, m->depth + 1, a, b);
		return;
	} else {
		l->children[l->count++] = merge_ends(m->h, a, b, m->depth + 1, &m->common);
	}
	*pairs -= 1 + (int64_t)(m->common - before);
}

Term map_merge_some(struct map_merger *m, int64_t *pairs)
{
	while (*pairs > 0) {
		struct map_merge_level *l = &m->levels[m->depth];
		uint32_t bitmap;

		if ((l->ways_a | l->ways_b) != 0) {
			merge_way(m, l, pairs);
			continue;
		}
		bitmap = view_node(l->a).bitmap | view_node(l->b).bitmap;
		if (m->depth == 0)
			return make_node(m->h, bitmap, l->children, map_size(l->a) + map_size(l->b) - m->common);
		m->depth--;
		l[-1].children[l[-1].count++] = make_node(m->h, bitmap, l->children, 0);
	}
	return TERM_NONE;
}

/* ---- from pairs: sorted by hash, each level's children stand side by side */

struct entry {
	uint64_t hash;
	size_t order;
	Term key, value;
};

static int compare_entries(const void *a, const void *b)
{
	const struct entry *x = a, *y = b;

	if (x->hash != y->hash)
		return x->hash < y->hash ? -1 : 1;
	return x->order < y->order ? -1 : x->order > y->order;
}

/* Keeps one entry a key, the last. */
static size_t drop_doubles(struct entry *e, size_t n)
{
	size_t kept = 0, run = 0;

	for (size_t i = 0; i < n; i++) {
		size_t j;

		if (kept == 0 || e[kept - 1].hash != e[i].hash)
			run = kept;
		for (j = run; j < kept && !term_same(e[j].key, e[i].key); j++)
			;
		e[j] = e[i];
		kept += j == kept;
	}
	return kept;
}

static Term build_tuple(struct heap *h, const struct entry *e, size_t n)
{
	Term *at = heap_alloc(h, n + 1 + 2 * n);
	Term *leaf = at + n + 1;

	at[0] = HEADER(n, SUB_TUPLE);
	for (size_t i = 0; i < n; i++, leaf += 2) {
		leaf[0] = e[i].key;
		leaf[1] = e[i].value;
		at[i + 1] = term_from_cons(leaf);
	}
	return term_from_boxed(at);
}

static Term build_child(struct heap *h, const struct entry *e, size_t n, unsigned level, size_t size)
{
	Term children[WAYS];
	uint32_t bitmap = 0;
	unsigned count = 0;

	if (n == 1)
		return heap_cons(h, e->key, e->value);
	if (level == LEVELS)
		return build_tuple(h, e, n);
	for (size_t from = 0, to; from < n; from = to) {
		unsigned way = way_of(e[from].hash, level);

		for (to = from + 1; to < n && way_of(e[to].hash, level) == way; to++)
			;
		bitmap |= 1u << way;
		children[count++] = build_child(h, e + from, to - from, level + 1, 0);
	}
	return make_node(h, bitmap, children, size);
}

static Term build_flat(struct heap *h, const struct entry *e, size_t n)
{
	Term pairs[2 * MAP_FLAT_MAX];

	for (size_t i = 0; i < n; i++) {
		pairs[2 * i] = e[i].key;
		pairs[2 * i + 1] = e[i].value;
	}
	return map_from_pairs(h, pairs, n);
}

Term map_trie_from_pairs(struct heap *h, const Term *pairs, size_t n)
{
	struct entry *e = mem_alloc(n * sizeof(*e));
	Term map;

	for (size_t i = 0; i < n; i++)
		e[i] = (struct entry){ map_hash(pairs[2 * i]), i, pairs[2 * i], pairs[2 * i + 1] };
	qsort(e, n, sizeof(*e), compare_entries);
	n = drop_doubles(e, n);
	map = n <= MAP_FLAT_MAX ? build_flat(h, e, n) : build_child(h, e, n, 0, n);
	mem_free(e);
	return map;
}

/* ---- built in steps: entries go into 256 parts by the highest bits of their hashes, each part becomes what hangs
 * below the second level */

enum { PART_BITS = 2 * WAY_BITS, PARTS = 1 << PART_BITS };

enum { CHUNK_ENTRIES = MAP_BUILDER_MIN };

struct chunk {
	struct chunk *next;
	struct entry entries[CHUNK_ENTRIES];
};

struct map_builder {
	size_t count, moved;         /* entries added; of those, moved to their parts */
	unsigned part;               /* the next one to be built */
	size_t kept;                 /* entries that are no doubles, at the start of `parted` */
	/* sizes of the parts; while entries are moved, where the next one goes; then ends */
	size_t ends[PARTS];
	Term children[PARTS];        /* TERM_NONE: the part is empty */
	struct chunk *first, *last;  /* of entries that are not all moved */
	struct entry *parted;
};

struct map_builder *map_builder_new(void)
{
	return mem_zalloc(sizeof(struct map_builder));
}

static void drop_first_chunk(struct map_builder *b)
{
	struct chunk *first = b->first;

	b->first = first->next;
	mem_free(first);
}

void map_builder_free(struct map_builder *b)
{
	while (b->first != NULL)
		drop_first_chunk(b);
	mem_free(b->parted);
	mem_free(b);
}

static unsigned part_of(uint64_t hash) { return (unsigned)(hash >> (64 - PART_BITS)); }

static void add_chunk(struct map_builder *b)
{
	struct chunk *chunk = mem_alloc(sizeof(*chunk));

	chunk->next = NULL;
	*(b->first == NULL ? &b->first : &b->last->next) = chunk;
	b->last = chunk;
}

void map_builder_add(struct map_builder *b, Term key, Term value)
{
	uint64_t hash = map_hash(key);

	if (b->count % CHUNK_ENTRIES == 0)
		add_chunk(b);
	b->last->entries[b->count % CHUNK_ENTRIES] = (struct entry){ hash, b->count, key, value };
	b->count++;
	b->ends[part_of(hash)]++;
}

static void begin_parts(struct map_builder *b)
{
	size_t at = 0;

	b->parted = mem_alloc(b->count * sizeof(struct entry));
	for (unsigned i = 0; i < PARTS; i++) {
		size_t n = b->ends[i];

		b->ends[i] = at;
		at += n;
	}
}

static void move_entries(struct map_builder *b, int64_t *pairs)
{
	for (; b->moved < b->count && *pairs > 0; --*pairs) {
		const struct entry *e = &b->first->entries[b->moved % CHUNK_ENTRIES];

		b->parted[b->ends[part_of(e->hash)]++] = *e;
		if (++b->moved % CHUNK_ENTRIES == 0)
			drop_first_chunk(b);
	}
}

static void build_part(struct map_builder *b, struct heap *h, int64_t *pairs)
{
	size_t from = b->part > 0 ? b->ends[b->part - 1] : 0, n = b->ends[b->part] - from;
	struct entry *e = b->parted + from;

	*pairs -= 6 * (int64_t)n; /* sorted and built */
	if (n > 1)
		qsort(e, n, sizeof(*e), compare_entries);
	n = drop_doubles(e, n);
	b->children[b->part++] = n > 0 ? build_child(h, e, n, 2, 0) : TERM_NONE;
	memmove(b->parted + b->kept, e, n * sizeof(*e)); /* may overlap */
	b->kept += n;
}

/* A node of the children that are there; one that is a leaf alone needs no node above it. size: of a head, else 0. */
static Term join_children(struct heap *h, const Term *from, size_t size)
{
	Term children[WAYS];
	uint32_t bitmap = 0;
	unsigned n = 0;

	for (unsigned i = 0; i < WAYS; i++) {
		if (from[i] == TERM_NONE)
			continue;
		bitmap |= 1u << i;
		children[n++] = from[i];
	}
	if (n == 0)
		return TERM_NONE;
	return size == 0 && n == 1 && term_is_cons(children[0]) ? children[0] : make_node(h, bitmap, children, size);
}

Term map_builder_step(struct map_builder *b, struct heap *h, int64_t *pairs)
{
	Term ways[WAYS];

	if (b->parted == NULL)
		begin_parts(b);
	move_entries(b, pairs);
	while (b->moved == b->count && b->part < PARTS && *pairs > 0)
		build_part(b, h, pairs);
	if (b->part < PARTS)
		return TERM_NONE;
	if (b->kept <= MAP_FLAT_MAX)
		return build_flat(h, b->parted, b->kept);
	for (unsigned i = 0; i < WAYS; i++)
		ways[i] = join_children(h, b->children + i * WAYS, 0);
	return join_children(h, ways, b->kept);
}

/* ---- walks that go on from a hash */

void map_trie_seek(struct map_iter *it, Term map, uint64_t from)
{
	Term child = map;

	it->depth = 0;
	it->keys = NULL;
	for (unsigned level = 0;; level++) {
		struct node n = view_node(child);
		unsigned way = way_of(from, level);

		it->at = n.children + node_index(&n, way);
		it->end = n.children + node_count(&n);
		if (!node_has(&n, way))
			return;
		child = *it->at;
		if (term_is_cons(child)) {
			it->at += map_hash(cons_head(child)) < from;
			return;
		}
		if (term_is_tuple(child))
			return;
		it->stack[it->depth].at = it->at + 1;
		it->stack[it->depth++].end = it->end;
	}
}
