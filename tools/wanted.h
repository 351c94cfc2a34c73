/* SPDX-License-Identifier: Apache-2.0 */
/* Which probes are meant, by the words of a command line: probes, families of them, views. */
#ifndef TOOLS_WANTED_H
#define TOOLS_WANTED_H

#include <stdbool.h>

#include "batch_page.h"

/* By enum batch_event. */
struct wanted {
    bool events[BATCH_EVENTS];
};

/* Adds what the word means: a probe (message-send, message__send), a family of probes (messages), what a view is told of (msglat), all. False:
 * it means nothing. */
bool wanted_add(struct wanted *w, const char *word);
/* All but function calls, which fire at every call. */
void wanted_default(struct wanted *w);

#endif
