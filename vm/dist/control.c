/* SPDX-License-Identifier: Apache-2.0 */
/* The table of control messages. */
#include "dist/control.h"

#include <stddef.h>

static const struct control_row rows[] = {
#define ROW(number, arity, payload, or_token, needs, unless) [number] = { arity, payload, or_token, needs, unless },
#define CONTROL(name, number, arity, payload, needs, unless) ROW(number, arity, payload, false, needs, unless)
#define CONTROL_OR_TOKEN(name, number, arity, payload, needs, unless) ROW(number, arity, payload, true, needs, unless)
#include "dist/control.def"
};

const struct control_row *control_row(uint64_t number)
{
	static const struct control_row none;

	return number < sizeof(rows) / sizeof(rows[0]) ? &rows[number] : &none;
}
