/* SPDX-License-Identifier: Apache-2.0 */
/* Arguments of events that came in batches, as text: <0.7.0>, lists:map/2, {badmatch,...}. */
#ifndef TOOLS_EVENT_TEXT_H
#define TOOLS_EVENT_TEXT_H

#include "batch_names.h"
#include "common/term_text.h"
#include "event.h"

/*
 * What code is called that is no function's: an emulator's own, and what stands in no module. In a recording it is a
 * function without a module (EV_NO_ATOM), whose name is this.
 */
#define EVENT_TEXT_SHARED "(shared code)"
#define EVENT_TEXT_UNKNOWN "(unknown code)"

/* Adds the argument to `out`: of pids of other nodes the node stands first, nobody is "undefined", what was never told
 * of is a number. Untrusted: names and texts may hold any bytes. */
void event_text_arg(struct term_text *out, const struct batch_names *names, const union ev_any *ev,
                    const struct event_arg *arg);

/* A name that a view counts by or tells (bpf/wire.h). */
void event_text_name(struct term_text *out, const struct batch_names *names, uint32_t vm, const struct wire_name *name);

/* Of a WIRE_CALLBACK: the driver and the callback. */
void event_text_callback(struct term_text *out, const struct wire_name *name);

/* What is done to a table: the word of ETS_OPERATION (vm/probes.def); "?": there is none of that number. */
const char *event_text_operation(uint64_t number);
/* Of a WIRE_TABLE_TEXT: the table and what is done to it. */
void event_text_table(struct term_text *out, const struct wire_name *name);

/* Of an argument's word. */
void event_text_id(struct term_text *out, const struct batch_names *names, uint32_t vm, ev_id id);
void event_text_node(struct term_text *out, const struct batch_names *names, uint32_t vm, ev_node node);
void event_text_mfa(struct term_text *out, const struct batch_names *names, uint32_t vm, ev_mfa mfa);
void event_text_term(struct term_text *out, const struct batch_names *names, uint32_t vm, ev_term term);

#endif
