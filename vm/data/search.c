/* SPDX-License-Identifier: Apache-2.0 */
/* Searching bytes for words. Several words make an automaton with a transition for every byte.
 * Invariant: state 0 is the root; `depth` of a state is the length of the longest start of a word that ends here. */
#include "data/search.h"

#include <string.h>

#include "base/alloc.h"

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

/* The word's length at least is looked at in one go: to look at less costs as much. */
static enum search_result find_single(const struct search *s, const uint8_t *bytes, size_t end, struct search_run *r, int64_t *left, size_t *at)
{
	size_t starts = (size_t)*left > s->n ? (size_t)*left : s->n;
	size_t room = end - r->from, n = room > starts && room - starts >= s->n ? starts + s->n - 1 : room;
	const uint8_t *from = bytes + r->from, *p = memmem(from, n, s->word, s->n);

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

/* The place that starts first; of those, the longest. */
static void take_best(struct search_run *r, size_t start, size_t n)
{
	if (n != 0 && (r->n == 0 || start < r->at || (start == r->at && n > r->n))) {
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
		state = &s->states[state->next[bytes[i]]];
		/* Words that could still end later start behind the best one. */
		if (r->n != 0 && i + 1 - state->depth > r->at)
			break;
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
