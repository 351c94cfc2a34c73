/* SPDX-License-Identifier: Apache-2.0 */
/* The line that a terminal shows, as a row of characters with a cursor: commands change it, and give the bytes that
 * make the terminal show the change. Lines longer than the terminal is wide wrap; the cursor moves with the control
 * sequences of ECMA-48.
 * Source of the commands: OTP 25's user_drv.erl. */
#ifndef VM_IO_LINE_EDIT_H
#define VM_IO_LINE_EDIT_H

#include <stdbool.h>

#include "io/byte_queue.h"

struct line_cell {
	uint32_t c;
	uint8_t width;       /* columns; 0: shown with the one before */
};

struct line {
	struct line_cell *cells;
	size_t length, cursor, room; /* Units: cells */
	unsigned columns;    /* of the terminal; at least 1 */
	bool utf8;           /* what the terminal takes; else Latin-1 */
	struct byte_queue *out;
	enum { LINE_TEXT, LINE_ESCAPE, LINE_SEQUENCE } state; /* of control sequences in what is put */
};

void line_init(struct line *l, struct byte_queue *out);
void line_free(struct line *l);
/* One command: its number, then UTF-8 text or a big-endian count. Numbers that are not known do nothing. */
enum line_command { LINE_PUT = 0, LINE_MOVE = 1, LINE_INSERT = 2, LINE_DELETE = 3, LINE_BEEP = 4, LINE_PUT_SYNC = 5 };
void line_run(struct line *l, const uint8_t *command, size_t n);

#endif
