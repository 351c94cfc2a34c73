/* SPDX-License-Identifier: Apache-2.0 */
/* Editing what a terminal shows. Invariant: between commands the terminal's cursor stands where `cursor` is; a cursor
 * at the right margin stands at the begin of the next row. */
#include "io/line_edit.h"

#include <stdio.h>
#include <string.h>
#include <wchar.h>

#include "base/alloc.h"
#include "data/utf8.h"

enum { TAB = 8, CELLS_MAX = 1 << 16, CONTROL_COLUMNS = 2 };

void line_init(struct line *l, struct byte_queue *out)
{
	*l = (struct line){ .columns = 80, .out = out };
}

void line_free(struct line *l)
{
	mem_free(l->cells);
	l->cells = NULL;
	l->length = l->cursor = l->room = 0;
}

/* ---- bytes for the terminal */

static void emit(struct line *l, const void *bytes, size_t n)
{
	byte_queue_put(l->out, bytes, n);
}

static void emit_spaces(struct line *l, size_t n)
{
	while (n-- > 0)
		emit(l, " ", 1);
}

/* CSI n letter. */
static void emit_move(struct line *l, size_t n, char letter)
{
	char text[32];

	if (n > 0)
		emit(l, text, (size_t)snprintf(text, sizeof(text), "\033[%zu%c", n, letter));
}

static void emit_cell(struct line *l, const struct line_cell *cell)
{
	uint8_t bytes[32];

	if (cell->c == '\t') {
		emit_spaces(l, cell->width);
	} else if (cell->c < ' ' || cell->c == 0x7f) {
		bytes[0] = '^';
		bytes[1] = (uint8_t)(cell->c ^ 0x40);
		emit(l, bytes, 2);
	} else if (l->utf8) {
		emit(l, bytes, utf8_encode(cell->c, bytes));
	} else if (cell->c < 0x100) {
		bytes[0] = (uint8_t)cell->c;
		emit(l, bytes, 1);
	} else {
		emit(l, bytes, (size_t)snprintf((char *)bytes, sizeof(bytes), "\\x{%X}", cell->c));
	}
}

/* ---- columns */

static uint8_t measure(const struct line *l, uint32_t c, size_t column)
{
	int width;

	if (c == '\t')
		return (uint8_t)(TAB - column % TAB);
	if (c < ' ' || c == 0x7f)
		return CONTROL_COLUMNS;
	if (!l->utf8)
		return c < 0x100 ? 1 : (uint8_t)snprintf(NULL, 0, "\\x{%X}", c);
	width = wcwidth((wchar_t)c);
	return width >= 0 ? (uint8_t)width : 1;
}

static size_t column_of(const struct line *l, size_t cell)
{
	size_t column = 0;

	for (size_t i = 0; i < cell; i++)
		column += l->cells[i].width;
	return column;
}

static void move_between(struct line *l, size_t from, size_t to)
{
	size_t row_from = from / l->columns, row_to = to / l->columns;
	size_t at = from % l->columns, want = to % l->columns;

	if (row_to < row_from)
		emit_move(l, row_from - row_to, 'A');
	else
		emit_move(l, row_to - row_from, 'B');
	if (want < at)
		emit_move(l, at - want, 'D');
	else
		emit_move(l, want - at, 'C');
}

/* What was just written ended at column `end`: at the right margin, terminals wait for the next character before they
 * wrap. */
static void wrap(struct line *l, size_t end)
{
	if (end > 0 && end % l->columns == 0)
		emit(l, " \b", 2);
}

/* Shows the cells from `from` to the end of the line; the terminal's cursor is at `from` before, and there at the
 * end. */
static size_t show_from(struct line *l, size_t from)
{
	size_t end;

	for (size_t i = from; i < l->length; i++)
		emit_cell(l, &l->cells[i]);
	end = column_of(l, l->length);
	if (from < l->length)
		wrap(l, end);
	return end;
}

/* ---- changes */

static void make_room(struct line *l, size_t more)
{
	if (l->length + more <= l->room)
		return;
	l->room = (l->length + more) * 2;
	l->cells = mem_realloc(l->cells, l->room * sizeof(*l->cells));
}

/* The next character; bytes that are none stand for themselves. */
static size_t next_char(const uint8_t *text, size_t n, uint32_t *c)
{
	unsigned used = utf8_decode(text, n, c);

	if (used > 0)
		return used;
	*c = text[0];
	return 1;
}

/* Characters that overwrite what is at the cursor, with no bytes for the terminal. Returns how many cells. */
static size_t overwrite(struct line *l, const uint8_t *text, size_t n)
{
	size_t begin = l->cursor, column = column_of(l, begin);

	for (size_t i = 0; i < n;) {
		uint32_t c;

		i += next_char(text + i, n - i, &c);
		make_room(l, 1);
		l->cells[l->cursor] = (struct line_cell){ c, measure(l, c, column) };
		column += l->cells[l->cursor++].width;
		if (l->cursor > l->length)
			l->length = l->cursor;
	}
	return l->cursor - begin;
}

static void put_run(struct line *l, const uint8_t *text, size_t n)
{
	size_t cells = overwrite(l, text, n);

	for (size_t i = l->cursor - cells; i < l->cursor; i++)
		emit_cell(l, &l->cells[i]);
}

/* The line begins anew: what is left of the cursor is no longer part of it. */
static void begin_line(struct line *l, const char *bytes)
{
	emit(l, bytes, strlen(bytes));
	memmove(l->cells, l->cells + l->cursor, (l->length - l->cursor) * sizeof(*l->cells));
	l->length -= l->cursor;
	l->cursor = 0;
}

/* Is the byte part of a control sequence? Those go through as they are. */
static bool passes(struct line *l, uint8_t byte)
{
	switch (l->state) {
	case LINE_TEXT:
		if (byte == 0x1b)
			l->state = LINE_ESCAPE;
		return byte == 0x1b || byte == '\a';
	case LINE_ESCAPE:
		l->state = byte == '[' ? LINE_SEQUENCE : LINE_TEXT;
		return true;
	case LINE_SEQUENCE:
		if (byte >= 0x40 && byte <= 0x7e)
			l->state = LINE_TEXT;
		return true;
	}
	return false;
}

static void put(struct line *l, const uint8_t *text, size_t n)
{
	size_t begin = 0;

	if (l->cursor > CELLS_MAX)
		begin_line(l, "\r\n");
	for (size_t i = 0; i < n; i++) {
		bool pass = passes(l, text[i]);

		if (!pass && text[i] != '\n' && text[i] != '\r')
			continue;
		put_run(l, text + begin, i - begin);
		begin = i + 1;
		if (pass)
			emit(l, text + i, 1);
		else
			begin_line(l, text[i] == '\n' ? "\r\n" : "\r");
	}
	put_run(l, text + begin, n - begin);
	if (begin < n)
		wrap(l, column_of(l, l->cursor));
}

static void insert(struct line *l, const uint8_t *text, size_t n)
{
	size_t tail = l->length - l->cursor, at = l->cursor, end;
	struct line_cell *saved = mem_alloc(tail * sizeof(*saved) + 1);

	if (tail > 0)
		memcpy(saved, l->cells + l->cursor, tail * sizeof(*saved));
	l->length = l->cursor;
	overwrite(l, text, n);
	make_room(l, tail);
	if (tail > 0)
		memcpy(l->cells + l->cursor, saved, tail * sizeof(*saved));
	l->length += tail;
	mem_free(saved);
	end = show_from(l, at);
	move_between(l, end, column_of(l, l->cursor));
}

/* The cell n characters from the cursor on; those of no width belong to the one before. */
static size_t step(const struct line *l, int n)
{
	size_t at = l->cursor;

	for (; n > 0 && at < l->length; n--)
		do
			at++;
		while (at < l->length && l->cells[at].width == 0);
	for (; n < 0 && at > 0; n++)
		do
			at--;
		while (at > 0 && l->cells[at].width == 0);
	return at;
}

static void move(struct line *l, int n)
{
	size_t to = step(l, n);

	move_between(l, column_of(l, l->cursor), column_of(l, to));
	l->cursor = to;
}

static void delete(struct line *l, int n)
{
	size_t other = step(l, n), before = column_of(l, l->length), end;
	size_t from = other < l->cursor ? other : l->cursor, to = other < l->cursor ? l->cursor : other;

	move_between(l, column_of(l, l->cursor), column_of(l, from));
	memmove(l->cells + from, l->cells + to, (l->length - to) * sizeof(*l->cells));
	l->length -= to - from;
	l->cursor = from;
	end = show_from(l, from);
	if (before > end) {
		emit_spaces(l, before - end);
		wrap(l, before);
		end = before;
	}
	move_between(l, end, column_of(l, from));
}

void line_run(struct line *l, const uint8_t *command, size_t n)
{
	int count = n >= 3 ? (int16_t)(command[1] << 8 | command[2]) : 0;

	if (n == 0)
		return;
	switch (command[0]) {
	case LINE_PUT:
	case LINE_PUT_SYNC:
		put(l, command + 1, n - 1);
		break;
	case LINE_MOVE:
		move(l, count);
		break;
	case LINE_INSERT:
		insert(l, command + 1, n - 1);
		break;
	case LINE_DELETE:
		delete(l, count);
		break;
	case LINE_BEEP:
		emit(l, "\a", 1);
		break;
	}
}
