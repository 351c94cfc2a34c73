/* SPDX-License-Identifier: Apache-2.0 */
/* Reads recordings (recording.h). The file may hold any bytes; what stands before the damage is read. */
#ifndef TOOLS_RECORDING_READ_H
#define TOOLS_RECORDING_READ_H

#include <stdio.h>

#include "event/batch_names.h"
#include "recording.h"

/* What was read next: the member that belongs to its kind is good until the next. */
struct recording_item {
    enum recording_kind kind; /* NAMES come as no item: they are in the table */
    const struct batch_received *page;
    const struct recording_vm *vm;
    const struct recording_owner *owner;
    const struct recording_probes *asked;
    const struct recording_clock *clock;
    const struct recording_lost *lost;
};

struct recording;

/* `name` is for messages. Names of atoms go into `names`, which stays the caller's. Owns: the file, also after a
 * failure; recording_close frees. Fails: said: it is no recording, or one of another version. */
int recording_open(FILE *file, const char *name, struct batch_names *names, struct recording **out);
/* False at the end, or where it is damaged. */
bool recording_next(struct recording *r, struct recording_item *out);
/* What is wrong with it, and from where on, once recording_next was false; NULL: nothing, it is whole. */
const char *recording_damage(const struct recording *r);
void recording_close(struct recording *r);

#endif
