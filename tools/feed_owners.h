/* SPDX-License-Identifier: Apache-2.0 */
/* Who the processes are that an erlvm had before its pages of events were asked for: its memory tells. */
#ifndef TOOLS_FEED_OWNERS_H
#define TOOLS_FEED_OWNERS_H

#include "feed.h"
#include "target.h"

/*
 * Tells the views of the feed what each process that lives is called: its registered name, or else what it is to do, as
 * its birth would have. Call it when the VM tells its events already: whoever ends later is told as gone. Does nothing
 * when no view asks for owners, or the VM's memory is not read. Fails: -ENOMEM. No message.
 */
int feed_read_owners(struct feed *feed, const struct target *target);

#endif
