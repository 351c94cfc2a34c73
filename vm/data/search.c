/* SPDX-License-Identifier: Apache-2.0 */
/* Searching bytes for words. Several words make an automaton with a transition for every class of bytes: each byte that
 * stands in a word is a class, all others are one.
 * Invariant: state 0 is the root; `depth` of a state is the length of the longest start of a word that ends here. */
#include "data/search.h"

#include <string.h>

#include "base/alloc.h"
#include "base/log.h"

struct state {
	uint32_t fail;       /* the state of the longest proper suffix */
	size_t depth;
	size_t found;        /* length of the longest word that ends here; 0: none */
};

struct search {
	struct resource resource; /* of one that has a name */
	size_t n;            /* of a single word; 0: there are several */
	struct state *states;
	uint32_t *next;      /* of state s by class c: next[s * classes + c] */
	uint32_t count, room; /* states */
	uint32_t classes;
	uint8_t bytes[];     /* the word, or the class of each byte, then whether a word begins with it */
};

enum { BYTE_VALUES = 256, ROOM_MOST = 64 /* states to begin with: more only if words do not share their starts */ };

static const uint8_t *get_starts(const struct search *s) { return s->bytes + BYTE_VALUES; }

/* The classes in the order of the words' bytes; behind them, that of all others. */
static void number_classes(struct search *s, const struct search_word *words, size_t count)
{
	uint8_t seen[BYTE_VALUES] = { 0 };

	for (size_t i = 0; i < count; i++)
		for (size_t k = 0; k < words[i].n; k++) {
			uint8_t byte = words[i].bytes[k];

			if (!seen[byte])
				s->bytes[byte] = (uint8_t)s->classes++;
			seen[byte] = 1;
		}
	if (s->classes == BYTE_VALUES)
		return;
	for (unsigned byte = 0; byte < BYTE_VALUES; byte++)
		if (!seen[byte])
			s->bytes[byte] = (uint8_t)s->classes;
	s->classes++;
}

static uint32_t *next_of(const struct search *s, uint32_t state) { return s->next + (size_t)state * s->classes; }

static uint32_t add_state(struct search *s, size_t depth)
{
	if (s->count == s->room) {
		s->room *= 2;
		s->states = mem_realloc(s->states, s->room * sizeof(*s->states));
		s->next = mem_realloc(s->next, (size_t)s->room * s->classes * sizeof(*s->next));
	}
	memset(next_of(s, s->count), 0, s->classes * sizeof(*s->next));
	s->states[s->count] = (struct state){ .depth = depth };
	return s->count++;
}

static void add_word(struct search *s, const struct search_word *w)
{
	uint32_t at = 0;

	s->bytes[BYTE_VALUES + w->bytes[0]] = 1;
	for (size_t i = 0; i < w->n; i++) {
		uint8_t class = s->bytes[w->bytes[i]];
		uint32_t next = next_of(s, at)[class];

		if (next == 0) {
			next = add_state(s, i + 1);
			next_of(s, at)[class] = next;
		}
		at = next;
	}
	s->states[at].found = w->n;
}

/* Breadth first: the fail state, nearer to the root, is complete before its followers need it. */
static void complete(struct search *s)
{
	uint32_t *queue = mem_alloc(s->count * sizeof(*queue));
	uint32_t first = 0, last = 0;

	queue[last++] = 0;
	while (first < last) {
		uint32_t from = queue[first++];
		const uint32_t *others = next_of(s, s->states[from].fail);
		uint32_t *next = next_of(s, from);

		for (uint32_t c = 0; c < s->classes; c++) {
			uint32_t to = next[c], other = from == 0 ? 0 : others[c];

			if (to == 0) {
				next[c] = other;
				continue;
			}
			s->states[to].fail = other;
			if (s->states[to].found == 0)
				s->states[to].found = s->states[other].found;
			queue[last++] = to;
		}
	}
	mem_free(queue);
}

static struct search *new_single(const struct search_word *word)
{
	struct search *s = mem_alloc(sizeof(*s) + word->n);

	*s = (struct search){ .n = word->n };
	memcpy(s->bytes, word->bytes, word->n);
	return s;
}

struct search *search_new(const struct search_word *words, size_t count)
{
	struct search *s;
	size_t bytes = 0;

	if (count == 1)
		return new_single(words);
	for (size_t i = 0; i < count; i++)
		bytes += words[i].n;
	s = mem_zalloc(sizeof(*s) + 2 * BYTE_VALUES);
	number_classes(s, words, count);
	s->room = bytes < ROOM_MOST ? (uint32_t)bytes + 1 : ROOM_MOST;
	s->states = mem_alloc(s->room * sizeof(*s->states));
	s->next = mem_alloc((size_t)s->room * s->classes * sizeof(*s->next));
	add_state(s, 0);
	for (size_t i = 0; i < count; i++)
		add_word(s, &words[i]);
	complete(s);
	return s;
}

void search_free(struct search *s)
{
	mem_free(s->states);
	mem_free(s->next);
	mem_free(s);
}

static void release_search(struct resource *r) { search_free((struct search *)r); }

static const struct resource_type search_type = { "binary pattern", release_search };

Term search_put(struct heap *h, struct search *s)
{
	Term ref;

	resource_init(&s->resource, &search_type);
	ref = resource_put(h, &s->resource);
	resource_unref(&s->resource);
	return ref;
}

struct search *search_get(Term t) { return (struct search *)resource_get(t, &search_type); }

bool search_is_single(const struct search *s) { return s->n > 0; }

/* ---- one word: its last byte with memchr while that is rare, then its first and last byte together, 32 places at a
 * time, and where even these are found in vain too often, memmem, whose time is linear */

enum { LANE = 16, STRIDE = 2 * LANE, RARE_BYTES = 64, VAIN_FREE = 256, VAIN_A_BYTE = 4 };

typedef uint8_t Lane __attribute__((vector_size(LANE)));

/* A word of m bytes in [at, end). */
struct pair_search {
	const uint8_t *word, *at, *end;
	size_t m;
	uint64_t vain;       /* what comparisons that failed may have cost */
};

/* Bytes that are 0xff where word's first and last byte stand, m - 1 apart. */
static Lane find_ends(const struct pair_search *s, const uint8_t *at)
{
	Lane a, b;

	memcpy(&a, at, LANE);
	memcpy(&b, at + s->m - 1, LANE);
	return (Lane)((a == s->word[0]) & (b == s->word[s->m - 1]));
}

static bool is_any(Lane v)
{
	uint64_t w[2];

	memcpy(w, &v, sizeof(w));
	return (w[0] | w[1]) != 0;
}

static const uint8_t *check_ends(struct pair_search *s, const uint8_t *at, Lane ends)
{
	for (unsigned i = 0; i < LANE; i++) {
		if (ends[i] == 0)
			continue;
		if (memcmp(at + i, s->word, s->m) == 0)
			return at + i;
		s->vain += 1 + s->m / LANE;
	}
	return NULL;
}

static const uint8_t *find_pairs(struct pair_search *s)
{
	const uint8_t *start = s->at, *found;

	for (; (size_t)(s->end - s->at) >= STRIDE + s->m - 1; s->at += STRIDE) {
		Lane low = find_ends(s, s->at), high = find_ends(s, s->at + LANE);

		if (likely(!is_any(low | high)))
			continue;
		found = check_ends(s, s->at, low);
		if (found == NULL)
			found = check_ends(s, s->at + LANE, high);
		if (found != NULL)
			return found;
		if (s->vain > VAIN_FREE + VAIN_A_BYTE * (uint64_t)(s->at - start))
			return memmem(s->at, (size_t)(s->end - s->at), s->word, s->m);
	}
	for (; (size_t)(s->end - s->at) >= s->m; s->at++)
		if (s->at[0] == s->word[0] && memcmp(s->at, s->word, s->m) == 0)
			return s->at;
	return NULL;
}

static const uint8_t *find_word(const uint8_t *from, size_t n, const uint8_t *word, size_t m)
{
	const uint8_t *last = from + m - 1, *end = from + n;

	if (n < m)
		return NULL;
	if (m == 1)
		return memchr(from, word[0], n);
	for (size_t hits = 1; last < end; hits++) {
		last = memchr(last, word[m - 1], (size_t)(end - last));
		if (last == NULL)
			return NULL;
		if (last[1 - (ptrdiff_t)m] == word[0] && memcmp(last + 1 - m, word, m) == 0)
			return last + 1 - m;
		last++;
		if (hits * RARE_BYTES > (size_t)(last - from))
			break;
	}
	return find_pairs(&(struct pair_search){ .word = word, .at = last + 1 - m, .end = end, .m = m });
}

/* The word's length at least is looked at in one go: to look at less costs as much. */
static enum search_result find_single(const struct search *s, const uint8_t *bytes, size_t end, struct search_run *r,
				      int64_t *left, size_t *at)
{
	size_t starts = (size_t)*left > s->n ? (size_t)*left : s->n;
	size_t room = end - r->from, n = room > starts && room - starts >= s->n ? starts + s->n - 1 : room;
	const uint8_t *from = bytes + r->from, *p = find_word(from, n, s->bytes, s->n);

	if (p != NULL) {
		*left -= p - from + (int64_t)s->n;
		*at = (size_t)(p - bytes);
		r->from = *at + s->n;
		return SEARCH_FOUND;
	}
	*left -= (int64_t)n;
	if (n == room)
		return SEARCH_NONE;
	r->from += starts;
	return SEARCH_MORE;
}

/* The first byte from i that some word begins with. */
static size_t skip_root(const uint8_t *starts, const uint8_t *bytes, size_t i, size_t stop)
{
	while (i < stop && !starts[bytes[i]])
		i++;
	return i;
}

/* The place that starts first; of those, the longest. */
static void take_best(struct search_run *r, size_t start, size_t n)
{
	if (r->n == 0 || start < r->at || (start == r->at && n > r->n)) {
		r->at = start;
		r->n = n;
	}
}

enum search_result search_some(const struct search *s, const uint8_t *bytes, size_t end, struct search_run *r,
			       int64_t *left, size_t *at, size_t *n)
{
	uint32_t state = r->state;
	size_t i = r->from, stop;

	if (*left <= 0)
		return SEARCH_MORE;
	*n = s->n;
	if (s->n > 0)
		return find_single(s, bytes, end, r, left, at);
	stop = end - i > (size_t)*left ? i + (size_t)*left : end;
	for (; i < stop; i++) {
		const struct state *to;

		if (state == 0 && r->n == 0) {
			i = skip_root(get_starts(s), bytes, i, stop);
			if (i == stop)
				break;
		}
		state = next_of(s, state)[s->bytes[bytes[i]]];
		to = &s->states[state];
		/* Words that could still end later start behind the best one. */
		if (r->n != 0 && i + 1 - to->depth > r->at)
			break;
		if (to->found != 0)
			take_best(r, i + 1 - to->found, to->found);
	}
	*left -= (int64_t)(i - r->from);
	if (i == stop && stop < end) {
		r->from = i;
		r->state = state;
		return SEARCH_MORE;
	}
	if (r->n == 0)
		return SEARCH_NONE;
	*at = r->at;
	*n = r->n;
	*r = (struct search_run){ .from = *at + *n };
	return SEARCH_FOUND;
}
