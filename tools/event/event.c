/* SPDX-License-Identifier: Apache-2.0 */
/* Invariant: probes.def is the only list of arguments; where one stands is what the compiler says of its struct. */
#include "event.h"

#include <stddef.h>
#include <string.h>

#include "../../bpf/efile.h"

static const struct event_row probes[BATCH_EVENTS] = {
    [BATCH_ATOM] = {"", 0, 0, {{0}}},
    [BATCH_NAMED] = {"", 0, 0, {{0}}},
    [BATCH_CALLED] = {"", 0, 0, {{0}}},
    [BATCH_LABELLED] = {"", 0, 0, {{0}}},
#define PROBE(probe, family, nargs_, watch, text)                                                  \
    [BATCH_##probe].name = #probe, [BATCH_##probe].size = sizeof(struct ev_##probe), [BATCH_##probe].nargs = nargs_,
#define PROBE_RANGE(prefix, family, nargs, first, last, text) PROBE(prefix, family, nargs, NOTHING, text)
#define ARG(probe, index, arg, type, unit)                                                         \
    [BATCH_##probe].args[index] = {#arg, EVENT_UNIT_##unit, offsetof(struct ev_##probe, arg)},
#include "../../vm/probes.def"
};

const struct event_row *event_row(enum batch_event event)
{
    return &probes[(unsigned)event < BATCH_EVENTS ? event : BATCH_ATOM];
}

bool event_arg_known(const union ev_any *ev, const struct event_arg *arg)
{
    static const struct {
        enum event_unit unit;
        const char *name; /* NULL: all of that unit */
        uint64_t value;
    } unknown[] = {{EVENT_UNIT_words, NULL, EV_NO_WORDS},
                   {EVENT_UNIT_none, NULL, (uint64_t)EV_NO_NUMBER},
                   {EVENT_UNIT_none, "tag", EFILE_NO_TAG}};
    uint64_t value;

    memcpy(&value, (const char *)ev + arg->offset, sizeof value);
    for (size_t i = 0; i < sizeof unknown / sizeof *unknown; i++)
        if (arg->unit == unknown[i].unit && value == unknown[i].value &&
            (!unknown[i].name || !strcmp(arg->name, unknown[i].name)))
            return false;
    return true;
}

enum batch_event event_find(const char *name)
{
    for (unsigned event = BATCH_LAST_NAME + 1; event < BATCH_EVENTS; event++)
        if (!strcmp(probes[event].name, name))
            return (enum batch_event)event;
    return BATCH_ATOM;
}

/* Texts take two words in an event, all else one. */
static void put_texts(const struct batch_record *record, const struct event_row *row, union ev_any *out)
{
    for (unsigned i = 0; i < row->nargs; i++) {
        char *at = (char *)out + row->args[i].offset;

        memcpy(at, &record->words[i], sizeof record->words[i]);
        if (record->texts[i])
            ((struct ev_text *)at)->at = (uintptr_t)record->texts[i];
    }
}

#define PROBE(probe, family, nargs, watch, text)                                                                       \
    _Static_assert(sizeof(struct ev_##probe) >= sizeof(struct ev_head) + (nargs) * sizeof(uint64_t),                   \
                   "a word an argument, or two");
#include "../../vm/probes.def"
_Static_assert(offsetof(struct batch_record, words) == offsetof(struct batch_record, as_event) + sizeof(struct ev_head),
               "arguments stand behind the head");

const union ev_any *event_with_texts(const struct batch_record *record, union ev_any *room)
{
    room->head = record->head;
    put_texts(record, event_row((enum batch_event)record->head.event), room);
    return room;
}

bool event_name_of_record(const struct batch_record *record, struct wire_name *out)
{
    uint64_t word = record->words[1];
    bool small = ev_term_shape(word) == BATCH_SHAPE_SMALL;

    switch (record->head.event) {
    case BATCH_NAMED: *out = (struct wire_name){.form = WIRE_REASON, .words = {WIRE_ATOM, word, 0}}; return true;
    case BATCH_CALLED:
        *out = (struct wire_name){.form = WIRE_MFA,
                                  .words = {ev_mfa_module(word), ev_mfa_function(word), ev_mfa_arity(word)}};
        return word != 0;
    case BATCH_LABELLED:
        *out = (struct wire_name){
            .form = WIRE_LABEL,
            .words = {small || ev_term_shape(word) == BATCH_SHAPE_ATOM ? ev_term_shape(word) : WIRE_OTHER,
                      small ? (uint64_t)(int64_t)ev_term_small(word) : ev_term_atom(word),
                      (uint64_t)ev_term_holder(word, 0) | (uint64_t)ev_term_holder(word, 1) << 8}};
        return true;
    default: return false;
    }
}
