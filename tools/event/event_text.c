/* SPDX-License-Identifier: Apache-2.0 */
/* Invariant: every word has a text, whatever it holds. */
#include "event_text.h"

#include <stdio.h>
#include <string.h>

static void add_atom(struct term_text *out, const struct batch_names *names, uint32_t vm, uint64_t index)
{
    if (index == WIRE_NO_ATOM)
        term_text_add(out, "?");
    else
        term_text_atom(out, batch_names_find(names, vm, index), index);
}

void event_text_id(struct term_text *out, const struct batch_names *names, uint32_t vm, ev_id id)
{
    switch (ev_id_kind(id)) {
    case BATCH_PID: term_text_add(out, "<0.%u.%u>", ev_id_number(id), ev_id_serial(id)); break;
    case BATCH_PORT: term_text_add(out, "#Port<0.%llu>", (unsigned long long)ev_id_rest(id)); break;
    case BATCH_NAME: add_atom(out, names, vm, ev_id_rest(id)); break;
    case BATCH_REMOTE:
        term_text_add(out, "<");
        add_atom(out, names, vm, ev_id_serial(id));
        term_text_add(out, ".%u>", ev_id_number(id));
        break;
    case BATCH_OTHER: term_text_add(out, "alias"); break;
    default: term_text_add(out, "undefined");
    }
}

void event_text_node(struct term_text *out, const struct batch_names *names, uint32_t vm, ev_node node)
{
    if (node)
        add_atom(out, names, vm, node - 1);
    else
        term_text_add(out, "undefined");
}

static void add_mfa(struct term_text *out, const struct batch_names *names, uint32_t vm, uint64_t module,
                    uint64_t function, uint64_t arity)
{
    const char *of = batch_names_find(names, vm, module), *name = batch_names_find(names, vm, function);
    const char *place = module == WIRE_NO_ATOM || module == EV_NO_ATOM ? name : NULL;

    if (place && (!strcmp(place, EVENT_TEXT_SHARED) || !strcmp(place, EVENT_TEXT_UNKNOWN))) {
        term_text_add(out, "%s", place);
        return;
    }
    add_atom(out, names, vm, module);
    term_text_separator(out, of);
    if (name)
        term_text_function(out, of, name, function);
    else
        add_atom(out, names, vm, function);
    term_text_arity(out, arity);
}

static void add_term(struct term_text *out, const struct batch_names *names, uint32_t vm, uint64_t shape,
                     uint64_t value, uint64_t holders)
{
    term_text_open(out, holders);
    switch (shape) {
    case BATCH_SHAPE_ATOM: add_atom(out, names, vm, value); break;
    case BATCH_SHAPE_SMALL: term_text_add(out, "%d", (int)value); break;
    default: term_text_shape(out, shape);
    }
    term_text_close(out, holders);
}

void event_text_mfa(struct term_text *out, const struct batch_names *names, uint32_t vm, ev_mfa mfa)
{
    if (!mfa || mfa & EV_LATER_MFA)
        term_text_add(out, "?");
    else
        add_mfa(out, names, vm, ev_mfa_module(mfa), ev_mfa_function(mfa), ev_mfa_arity(mfa));
}

void event_text_term(struct term_text *out, const struct batch_names *names, uint32_t vm, ev_term term)
{
    add_term(out, names, vm, ev_term_shape(term), ev_term_atom(term), term >> 32 & 0xffff);
}

void event_text_callback(struct term_text *out, const struct wire_name *name)
{
    term_text_add(out, "%.*s %.*s", WIRE_NAME_BYTES - WIRE_CALLBACK_BYTES, name->text + WIRE_CALLBACK_BYTES,
                  WIRE_CALLBACK_BYTES, name->text);
}

const char *event_text_operation(uint64_t number)
{
    switch (number) {
#define ETS_OPERATION(number, name, word, text)                                                    \
    case number: return word;
#include "../../vm/probes.def"
    default: return "?";
    }
}

void event_text_table(struct term_text *out, const struct wire_name *name)
{
    char printed[WIRE_NAME_BYTES];

    snprintf(printed, sizeof printed, "%.*s", WIRE_NAME_BYTES - 8, name->text + 8);
    term_text_respell(out, printed);
    term_text_add(out, " %s", event_text_operation(name->words[0]));
}

void event_text_name(struct term_text *out, const struct batch_names *names, uint32_t vm, const struct wire_name *name)
{
    char printed[WIRE_NAME_BYTES + 1];
    const char *text;

    switch (name->form) {
    case WIRE_MFA: add_mfa(out, names, vm, name->words[0], name->words[1], name->words[2]); break;
    case WIRE_REASON: add_term(out, names, vm, name->words[0], name->words[1], name->words[2]); break;
    case WIRE_TEXT:
        snprintf(printed, sizeof printed, "%.*s", (int)sizeof name->text, name->text);
        term_text_respell(out, printed);
        break;
    case WIRE_PROCESS: event_text_id(out, names, vm, name->words[0]); break;
    case WIRE_PORT_NAME:
        event_text_id(out, names, vm, name->words[0]);
        term_text_add(out, "%s%.*s", name->text[8] ? " " : "", WIRE_NAME_BYTES - 8, name->text + 8);
        break;
    case WIRE_NODE:
        text = name->words[0] == WIRE_NO_ATOM ? NULL : batch_names_find(names, vm, name->words[0]);
        term_text_add(out, "%s", text ? text : "?");
        break;
    case WIRE_CALLBACK: event_text_callback(out, name); break;
    case WIRE_TABLE:
        add_atom(out, names, vm, name->words[1]);
        term_text_add(out, " %s", event_text_operation(name->words[0]));
        break;
    case WIRE_TABLE_TEXT: event_text_table(out, name); break;
    default: term_text_add(out, "?");
    }
}

/* Of the text what fits; a NUL in it ends it. */
static void add_text(struct term_text *out, const struct ev_text *text)
{
    term_text_add(out, "%.*s", (int)text->bytes, (const char *)(uintptr_t)text->at);
}

void event_text_arg(struct term_text *out, const struct batch_names *names, const union ev_any *ev,
                    const struct event_arg *arg)
{
    const char *at = (const char *)ev + arg->offset;
    uint32_t vm = ev->head.vm;
    uint64_t word;

    memcpy(&word, at, sizeof word);
    switch (arg->unit) {
    case EVENT_UNIT_pid:
    case EVENT_UNIT_caller:
    case EVENT_UNIT_port:
    case EVENT_UNIT_name: event_text_id(out, names, vm, word); break;
    case EVENT_UNIT_module:
    case EVENT_UNIT_node: event_text_node(out, names, vm, word); break;
    case EVENT_UNIT_mfa: event_text_mfa(out, names, vm, word); break;
    case EVENT_UNIT_term: event_text_term(out, names, vm, word); break;
    case EVENT_UNIT_text: add_text(out, (const struct ev_text *)at); break;
    default: term_text_add(out, "%lld", (long long)word);
    }
}
