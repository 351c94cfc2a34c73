/* SPDX-License-Identifier: Apache-2.0 */
/* Control messages: what their tuples hold, and to which peers they may be sent. */
#ifndef VM_DIST_CONTROL_H
#define VM_DIST_CONTROL_H

#include <stdbool.h>
#include <stdint.h>

/* What nodes can do. */
#define DIST_FLAG(name, bit) static const uint64_t DIST_##name = (uint64_t)1 << (bit);
#include "dist/flags.def"

enum dist_control {
#define CONTROL(name, number, arity, payload, needs, unless) CONTROL_##name = (number),
#include "dist/control.def"
};

/* See control.def. */
struct control_row {
	uint8_t arity;
	bool has_payload, or_token;
	uint64_t needs, unless;
};
/* Of a message's number; arity 0: there is no such message. */
const struct control_row *control_row(uint64_t number);

static inline bool control_has_arity(const struct control_row *r, uint64_t n)
{
	return n == r->arity || (r->or_token && n == r->arity + 1u);
}

/* The second element of ALTACT_SEND: bits. `to` is an alias, a name, or else a pid; it is a message, or else an exit
 * signal, whose reason is the payload. */
enum { ALTACT_PRIORITY = 1, ALTACT_TOKEN = 2, ALTACT_ALIAS = 4, ALTACT_NAME = 8, ALTACT_EXIT = 16 };

/* May it be sent to a peer with these flags? */
static inline bool control_goes(uint64_t needs, uint64_t unless, uint64_t flags)
{
	return (flags & needs) == needs && (unless == 0 || (flags & unless) != unless);
}

#endif
