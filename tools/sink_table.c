/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Aligned text, 80 columns at most: numbers to the right, with units; text escaped and cut.
 */
#include <string.h>

#include "escape.h"
#include "sink.h"

enum { LINE_COLUMNS = 80, CELL_BYTES = 512 };

static int default_width(enum sink_type type)
{
    switch (type) {
    case SINK_COUNT: return 10;
    case SINK_RATE: return 10;
    case SINK_NS: return 9;
    case SINK_TIME: return 15;
    default: return 0;
    }
}

static int width_of(const struct sink_table *table, int i)
{
    int width = table->columns[i].width ? table->columns[i].width : default_width(table->columns[i].type);
    int left = LINE_COLUMNS;

    if (width)
        return width < 0 ? CELL_BYTES : width;
    for (int k = 0; k < i; k++)
        left -= width_of(table, k) + 1;
    return left > 0 ? left : 1;
}

/* Cuts UTF-8 text to `width` columns, with ".." to show it; returns its columns. */
static int cut(char *text, int width)
{
    int columns = 0;
    char *at = text, *dots = text;

    while (*at) {
        if (columns == width - 2)
            dots = at;
        if (columns == width) {
            strcpy(width > 2 ? dots : at, width > 2 ? ".." : "");
            return width;
        }
        columns++;
        for (at++; (*at & 0xc0) == 0x80; at++)
            ;
    }
    return columns;
}

/* Spaces that stand before the next text of the line are printed with it: none end a line. */
static void print_cell(struct sink *sink, int *spaces, char *text, int width, bool right)
{
    int pad = width - cut(text, width);

    *spaces += right ? pad : 0;
    if (*text) {
        fprintf(sink->out, "%*s%s", *spaces, "", text);
        *spaces = 0;
    }
    *spaces += (right ? 0 : pad) + 1;
}

static void format_value(struct sink *sink, enum sink_type type, const struct sink_value *v, char *out)
{
    if (v->kind == SINK_ABSENT)
        strcpy(out, "-");
    else if (v->kind == SINK_STRING)
        escape_text(out, CELL_BYTES, v->text, CELL_BYTES);
    else if (v->kind == SINK_REAL)
        snprintf(out, CELL_BYTES, type == SINK_RATE ? "%.1f/s" : "%.2f", v->real);
    else if (type == SINK_NS)
        sink_format_ns(out, CELL_BYTES, v->number);
    else if (type == SINK_TIME)
        sink_format_time(sink, out, CELL_BYTES, v->number, false);
    else
        snprintf(out, CELL_BYTES, "%llu", (unsigned long long)v->number);
}

static void print_head(struct sink *sink, const struct sink_table *table)
{
    char cell[CELL_BYTES];
    int spaces = 0;

    if (sink->printed)
        fputc('\n', sink->out);
    if (table->title)
        fprintf(sink->out, "%s\n", table->title);
    for (int i = 0; i < table->ncolumns; i++) {
        snprintf(cell, sizeof cell, "%s", table->columns[i].head);
        print_cell(sink, &spaces, cell, width_of(table, i), table->columns[i].type != SINK_TEXT);
    }
    fputc('\n', sink->out);
    sink->headed = table;
    sink->printed = true;
}

static void print_row(struct sink *sink, const struct sink_table *table,
                      const struct sink_value *values)
{
    char cell[CELL_BYTES];
    int spaces = 0;

    if (sink->headed != table)
        print_head(sink, table);
    for (int i = 0; i < table->ncolumns; i++) {
        format_value(sink, table->columns[i].type, &values[i], cell);
        print_cell(sink, &spaces, cell, width_of(table, i), table->columns[i].type != SINK_TEXT);
    }
    fputc('\n', sink->out);
}

static void print_moment(struct sink *sink)
{
    char time[64];

    if (sink->printed)
        fputc('\n', sink->out);
    sink->printed = false;
    sink->headed = NULL;
    if (!sink->timestamps)
        return;
    sink_format_time(sink, time, sizeof time, sink->now_ns, false);
    fprintf(sink->out, "%s\n", time);
}

const struct sink_ops sink_table_ops = {print_moment, print_row, sink_hist_print};
