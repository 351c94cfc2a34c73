/* SPDX-License-Identifier: Apache-2.0 */
/* The listing of erlsnoop report --events: a row for each event. */
#ifndef TOOLS_REPORT_LISTING_H
#define TOOLS_REPORT_LISTING_H

#include "event/batch_names.h"
#include "event/event.h"
#include "sink/sink.h"

void report_list(struct sink *sink, struct batch_names *names, const union ev_any *ev);

#endif
