/* SPDX-License-Identifier: Apache-2.0 */
/* Which probes are meant, by the words of a command line: probes, families of them, views. */
#ifndef TOOLS_WANTED_H
#define TOOLS_WANTED_H

#include <stdbool.h>
#include <stddef.h>

#include "event/batch_page.h"

/* By enum batch_event. */
struct wanted {
    bool events[BATCH_EVENTS];
};

/*
 * The words of a list with commas between, one after the other:
 *
 *   for (struct wanted_word word = {.next = list}; wanted_next(&word);)
 */
struct wanted_word {
    const char *next; /* NULL: there is none */
    const char *text;
    size_t length;
};
bool wanted_next(struct wanted_word *word);
/*
 * Adds what the word means: a probe (message-send, message__send), a family of probes (messages), what a view is told
 * of (msglat), all. False: it means nothing.
 */
bool wanted_add_word(struct wanted *w, const struct wanted_word *word);
/* What may have been meant by a word that means nothing; NULL: who knows. */
const char *wanted_guess(const struct wanted_word *word);
/* Likewise each word of a list, or none of them: false. */
bool wanted_add(struct wanted *w, const char *list);
/* All but function calls, which fire at every call. */
void wanted_default(struct wanted *w);

#endif
