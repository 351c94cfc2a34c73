/* SPDX-License-Identifier: Apache-2.0 */
/* Searching bytes for one word, or for any of several.
 * A. Aho, M. Corasick, "Efficient string matching: an aid to bibliographic search", CACM 18(6), 1975. */
#ifndef VM_DATA_SEARCH_H
#define VM_DATA_SEARCH_H

#include "heap/refbin.h"

struct search_word {
	const uint8_t *bytes;
	size_t n;            /* > 0 */
};
struct search;

/* Copies the words (one at least). Owns: the caller. */
struct search *search_new(const struct search_word *words, size_t count);
void search_free(struct search *s);
bool search_is_single(const struct search *s);
/* A magic ref to the search, which is then freed with the last of them. Takes: s. GC: none. */
Term search_put(struct heap *h, struct search *s);
/* The search that t names, or NULL. Owns: the term. */
struct search *search_get(Term t);

/* A search that may stop on its way; begins as { .from = F }. */
struct search_run {
	size_t from;         /* the next byte to look at */
	uint32_t state;
	size_t at, n;        /* the best place so far; n 0: none */
};
enum search_result { SEARCH_NONE, SEARCH_FOUND, SEARCH_MORE };
/* The first place in [r->from, end) where a word stands, and the longest word that starts there; r then goes on behind
 * it. Takes about the bytes looked at from *left; SEARCH_MORE when that is used up. Any thread. */
enum search_result search_some(const struct search *s, const uint8_t *bytes, size_t end, struct search_run *r,
			       int64_t *left, size_t *at, size_t *n);

#endif
