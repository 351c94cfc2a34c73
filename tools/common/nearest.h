/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The word of a list that a mistyped one was meant to be.
 */
#ifndef TOOLS_NEAREST_H
#define TOOLS_NEAREST_H

#include <stdbool.h>

enum { NEAREST_BYTES = 32 }; /* longer words are like none */

/*
 * How many characters must be put in, taken away, replaced or exchanged with the next one until one word is the other;
 * longer than NEAREST_BYTES: NEAREST_BYTES. Source: the optimal string alignment distance.
 */
unsigned nearest_distance(const char *a, const char *b);
/* Whether `word` may have been meant as `known`: a third of its characters may be wrong, less than *best, which is
 * set. */
bool nearest_is(const char *word, const char *known, unsigned *best);

#endif
