/* SPDX-License-Identifier: Apache-2.0 */
/* Pages that stand in several files: what memory holds is written again and again, each time with what is older. */
#ifndef TOOLS_RECORDING_SEEN_H
#define TOOLS_RECORDING_SEEN_H

#include "recording.h"

struct recording_seen;

/* Owns: recording_seen_free frees. NULL: out of memory. */
struct recording_seen *recording_seen_new(void);
void recording_seen_free(struct recording_seen *seen);
/* Keeps what page it is. Fails: -ENOMEM. */
int recording_seen_add(struct recording_seen *seen, const struct batch_received *page);
/* Whether it was kept before; the file may hold any bytes. */
bool recording_seen_has(const struct recording_seen *seen, const struct batch_received *page);

#endif
