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

static bool find_single(const struct search *s, const uint8_t *bytes, size_t from, size_t end, size_t *at)
{
	const uint8_t *p = memmem(bytes + from, end - from, s->word, s->n);

	if (p == NULL)
		return false;
	*at = (size_t)(p - bytes);
	return true;
}

bool search_find(const struct search *s, const uint8_t *bytes, size_t from, size_t end, size_t *at, size_t *n)
{
	const struct state *state = s->states;

	*n = s->n;
	if (s->word != NULL)
		return find_single(s, bytes, from, end, at);
	for (size_t i = from; i < end; i++) {
		size_t start;

		state = &s->states[state->next[bytes[i]]];
		/* Words that could still end later start behind the best one. */
		if (*n != 0 && i + 1 - state->depth > *at)
			break;
		start = i + 1 - state->found;
		if (state->found != 0 && (*n == 0 || start < *at || (start == *at && state->found > *n))) {
			*at = start;
			*n = state->found;
		}
	}
	return *n != 0;
}
