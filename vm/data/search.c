/* SPDX-License-Identifier: Apache-2.0 */
/* Searching bytes for words. Several words make an automaton with a transition for every byte.
 * Invariant: state 0 is the root; `depth` of a state is the length of the longest start of a word that ends here. */
#include "data/search.h"

#include <string.h>

#include "base/alloc.h"
#include "base/log.h"

struct state {
	uint32_t next[256];
	uint32_t fail;       /* the state of the longest proper suffix */
	size_t depth;
	size_t found;        /* length of the longest word that ends here; 0: none */
};

struct search {
	uint8_t *word;       /* of a single one */
	size_t n;
	struct state *states;
	uint32_t count;
};

static uint32_t add_state(struct search *s, size_t depth)
{
	if ((s->count & (s->count - 1)) == 0)
		s->states = mem_realloc(s->states, (s->count ? s->count * 2 : 1) * sizeof(*s->states));
	memset(&s->states[s->count], 0, sizeof(*s->states));
	s->states[s->count].depth = depth;
	return s->count++;
}

static void add_word(struct search *s, const struct search_word *w)
{
	uint32_t at = 0;

	for (size_t i = 0; i < w->n; i++) {
		uint32_t next = s->states[at].next[w->bytes[i]];

		if (next == 0) {
			next = add_state(s, i + 1);
			s->states[at].next[w->bytes[i]] = next;
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
		struct state *from = &s->states[queue[first++]];
		bool root = from == s->states;

		for (unsigned c = 0; c < 256; c++) {
			uint32_t to = from->next[c];
			uint32_t other = root ? 0 : s->states[from->fail].next[c];

			if (to == 0) {
				from->next[c] = other;
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

struct search *search_new(const struct search_word *words, size_t count)
{
	struct search *s = mem_zalloc(sizeof(*s));

	if (count == 1) {
		s->n = words->n;
		s->word = mem_alloc(s->n);
		memcpy(s->word, words->bytes, s->n);
		return s;
	}
	add_state(s, 0);
	for (size_t i = 0; i < count; i++)
		add_word(s, &words[i]);
	complete(s);
	return s;
}

void search_free(struct search *s)
{
	mem_free(s->word);
	mem_free(s->states);
	mem_free(s);
}

bool search_is_single(const struct search *s) { return s->word != NULL; }

/* ---- one word: its last byte with memchr while that is rare, then its first and last byte together, 32 places at a time, and where
 * even these are found in vain too often, memmem, whose time is linear */

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
static enum search_result find_single(const struct search *s, const uint8_t *bytes, size_t end, struct search_run *r, int64_t *left, size_t *at)
{
	size_t starts = (size_t)*left > s->n ? (size_t)*left : s->n;
	size_t room = end - r->from, n = room > starts && room - starts >= s->n ? starts + s->n - 1 : room;
	const uint8_t *from = bytes + r->from, *p = find_word(from, n, s->word, s->n);

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
static size_t skip_root(const struct state *root, const uint8_t *bytes, size_t i, size_t stop)
{
	while (i < stop && root->next[bytes[i]] == 0)
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

enum search_result search_some(const struct search *s, const uint8_t *bytes, size_t end, struct search_run *r, int64_t *left, size_t *at, size_t *n)
{
	const struct state *state;
	size_t i = r->from, stop;

	if (*left <= 0)
		return SEARCH_MORE;
	*n = s->n;
	if (s->word != NULL)
		return find_single(s, bytes, end, r, left, at);
	stop = end - i > (size_t)*left ? i + (size_t)*left : end;
	for (state = &s->states[r->state]; i < stop; i++) {
		if (state == s->states && r->n == 0) {
			i = skip_root(state, bytes, i, stop);
			if (i == stop)
				break;
		}
		state = &s->states[state->next[bytes[i]]];
		/* Words that could still end later start behind the best one. */
		if (r->n != 0 && i + 1 - state->depth > r->at)
			break;
		if (state->found != 0)
			take_best(r, i + 1 - state->found, state->found);
	}
	*left -= (int64_t)(i - r->from);
	if (i == stop && stop < end) {
		r->from = i;
		r->state = (uint32_t)(state - s->states);
		return SEARCH_MORE;
	}
	if (r->n == 0)
		return SEARCH_NONE;
	*at = r->at;
	*n = r->n;
	*r = (struct search_run){ .from = *at + *n };
	return SEARCH_FOUND;
}
