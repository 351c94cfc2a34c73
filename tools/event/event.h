/* SPDX-License-Identifier: Apache-2.0 */
/* Events (bpf/event.h) in user space: out of records of batches, and what each of their arguments is. */
#ifndef TOOLS_EVENT_H
#define TOOLS_EVENT_H

#include "batch_page.h"

/* The units of probes.def: UNIT(unit). */
#define EVENT_UNITS(UNIT)                                                                          \
    UNIT(pid) UNIT(caller) UNIT(port) UNIT(name) UNIT(node) UNIT(mfa) UNIT(term) UNIT(text)       \
    UNIT(words) UNIT(bytes) UNIT(frames) UNIT(count) UNIT(ns) UNIT(flag) UNIT(errno)               \
    UNIT(efile_op) UNIT(module) UNIT(none)

enum event_unit {
#define EVENT_UNIT_ENUM(unit) EVENT_UNIT_##unit,
    EVENT_UNITS(EVENT_UNIT_ENUM)
#undef EVENT_UNIT_ENUM
};

/* What unit efile_op is: operations on files. */
enum ev_efile_op {
#define EFILE_OP(number, op, s1, s2, i1, i2, i3, i4) EV_EFILE_##op = number,
#include "../../vm/probes.def"
    EV_EFILE_OPS
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

/* Whether the receiver runs stands in its place. */
static inline void event_take_running(struct ev_head *head, ev_id *receiver)
{
    if (ev_id_kind(*receiver) != BATCH_RUNNING)
        return;
    *receiver = (*receiver & (~0ull >> 4)) | (ev_id)BATCH_PID << 60;
    head->tells |= EV_RUNS;
}

/*
 * What a record of a name says a process is called from then on: what it is to do (WIRE_MFA), its label (WIRE_LABEL, of
 * the shape WIRE_OTHER: none that says anything), or its registered name (WIRE_REASON, of EV_NO_ATOM: none). Returns
 * false of any other record, and of a call that is not known.
 */
bool event_name_of_record(const struct batch_record *record, struct wire_name *out);

/* The event of a record with its head, made in `room`. */
const union ev_any *event_with_texts(const struct batch_record *record, union ev_any *room);

/*
 * The record, which is none of a name, as the event of that VM. Texts stay in the page. Returns where it is: in the
 * record itself, or in `room`.
 */
static inline const union ev_any *event_of_record(struct batch_record *record, uint32_t vm, union ev_any *room)
{
    record->head.vm = vm;
    record->head.tells = EV_TELLS_RUNNING;
    if (record->head.event == BATCH_message__send)
        event_take_running(&record->head, &record->as_event.message__send.receiver);
    else if (record->head.event == BATCH_message__arrive)
        event_take_running(&record->head, &record->as_event.message__arrive.receiver);
    return record->has_texts ? event_with_texts(record, room) : &record->as_event;
}

#endif
