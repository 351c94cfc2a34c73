/* SPDX-License-Identifier: Apache-2.0 */
/* Events (bpf/event.h) in user space: out of records of batches, and what each of their arguments is. */
#ifndef TOOLS_EVENT_H
#define TOOLS_EVENT_H

#include "batch_page.h"

/* The units of probes.def: UNIT(unit). */
#define EVENT_UNITS(UNIT)                                                                          \
    UNIT(pid) UNIT(caller) UNIT(port) UNIT(name) UNIT(node) UNIT(mfa) UNIT(term) UNIT(text)       \
    UNIT(words) UNIT(bytes) UNIT(frames) UNIT(count) UNIT(ns) UNIT(flag) UNIT(errno)               \
    UNIT(efile_op) UNIT(none)

enum event_unit {
#define EVENT_UNIT_ENUM(unit) EVENT_UNIT_##unit,
    EVENT_UNITS(EVENT_UNIT_ENUM)
#undef EVENT_UNIT_ENUM
};

/* One argument of an event: a __u64, or a struct ev_text, at `offset` in its struct. */
struct event_arg {
    const char *name;
    enum event_unit unit;
    size_t offset;
};

struct event_row {
    const char *name; /* of the probe */
    size_t size;      /* of its struct */
    unsigned nargs;
    struct event_arg args[BATCH_MAX_ARGS];
};

/* Of every probe, by enum batch_event; the rows of records of names are empty. */
const struct event_row *event_row(enum batch_event event);
/* Whether the source told the argument of this event. */
bool event_arg_known(const union ev_any *ev, const struct event_arg *arg);
/* The event of that name; BATCH_ATOM: there is none. */
enum batch_event event_find(const char *name);

/*
 * The record, which is none of a name, as the event of that VM. Texts stay in the page. Returns where it is: in the
 * record itself, or in `room`.
 */
const union ev_any *event_of_record(struct batch_record *record, uint32_t vm, union ev_any *room);

#endif
