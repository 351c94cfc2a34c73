/* SPDX-License-Identifier: Apache-2.0 */
/* Searching bytes for one word, or for any of several.
 * A. Aho, M. Corasick, "Efficient string matching: an aid to bibliographic search", CACM 18(6), 1975. */
#ifndef VM_DATA_SEARCH_H
#define VM_DATA_SEARCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct search_word {
	const uint8_t *bytes;
	size_t n;            /* > 0 */
};
struct search;

/* Copies the words (one at least). Owns: the caller. */
struct search *search_new(const struct search_word *words, size_t count);
void search_free(struct search *s);
bool search_is_single(const struct search *s);
/* The first place in [from, end) where a word stands, and the longest word that starts there. Any thread. */
bool search_find(const struct search *s, const uint8_t *bytes, size_t from, size_t end, size_t *at, size_t *n);

#endif
