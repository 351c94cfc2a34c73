/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Aligned text: numbers to the right, with units; text escaped. The rows of a table wait until it ends or the sink is
 * flushed, so that a column is as wide as what stands in it. On a terminal text is cut to its line; elsewhere nothing
 * is.
 * Invariant: a number is never cut.
 */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "common/escape.h"
#include "sink.h"

enum {
    HIDDEN = -1, /* the width of a column that is not printed, nor the space behind it */
    DEFAULT_LINE = 80,
    MAX_LINE = 10000,
    CELL_BYTES = SINK_PAGE_BYTES / 2 / SINK_MAX_COLUMNS,
    PATH_TAIL = 6,     /* of a path that is cut in front, at least */
    LEAST_MODULE = 4,  /* of the module before a function, at least */
    LEAST_TAIL = 4,    /* of the last column, where that makes the line fit; numbers alone may be longer */
    SAMPLED_COLUMNS = 8, /* of what each line begins with when it is of samples */
    TAIL_COLUMNS = 12, /* of the last column stay while others have more than they keep */
    KEPT_COLUMNS = 12, /* of a text whose table does not say how wide it is at least */
};

/* Columns of the terminal's line; 0: no terminal, nothing is cut. COLUMNS is what the user says it is. */
static int line_columns(void)
{
    const char *said = getenv("COLUMNS");
    int columns = said ? atoi(said) : 0;
    struct winsize size;

    if (!isatty(STDOUT_FILENO))
        return 0;
    if (columns > 0 && columns <= MAX_LINE)
        return columns;
    return !ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) && size.ws_col > 0 ? size.ws_col : DEFAULT_LINE;
}

static int least_width(const struct sink_column *column)
{
    if (column->width > 0)
        return column->width;
    switch (column->type) {
    case SINK_COUNT:
    case SINK_WORDS:
    case SINK_BYTES:
    case SINK_PERCENT: return 10;
    case SINK_SIZE: return 7;
    case SINK_RATE: return 10;
    case SINK_NS: return 9;
    case SINK_TIME: return 15;
    default: return 0;
    }
}

/* The character at `text`, which is UTF-8, and where the next one stands. */
static uint32_t read_character(const char *text, const char **next)
{
    unsigned char lead = (unsigned char)*text++;
    uint32_t c = lead < 0x80 ? lead : lead < 0xe0 ? lead & 0x1f : lead < 0xf0 ? lead & 0xf : lead & 7;

    for (; (*text & 0xc0) == 0x80; text++)
        c = c << 6 | (*text & 0x3f);
    *next = text;
    return c;
}

/* On a terminal: two for a character of East Asian scripts and for a picture, one for any other. */
static int columns_of(uint32_t c)
{
    static const struct {
        uint32_t first, last;
    } wide[] = {{0x1100, 0x115f}, {0x2e80, 0x303e}, {0x3041, 0xa4cf}, {0xa960, 0xa97c}, {0xac00, 0xd7a3},
                {0xf900, 0xfaff}, {0xfe30, 0xfe6f}, {0xff00, 0xff60}, {0xffe0, 0xffe6}, {0x16fe0, 0x18cff},
                {0x1b000, 0x1b2ff}, {0x1f300, 0x1f64f}, {0x1f680, 0x1f6ff}, {0x1f900, 0x1faff}, {0x20000, 0x3fffd}};

    for (size_t i = 0; i < sizeof wide / sizeof *wide; i++)
        if (c >= wide[i].first && c <= wide[i].last)
            return 2;
    return 1;
}

static int count_columns(const char *text)
{
    int columns = 0;

    while (*text)
        columns += columns_of(read_character(text, &text));
    return columns;
}

/* The text behind so many columns of it, or one more where that is within a character. */
static char *skip_columns(char *text, int columns)
{
    const char *at = text;

    while (*at && columns > 0)
        columns -= columns_of(read_character(at, &at));
    return text + (at - text);
}

/* The text behind so many columns of it, or one less. */
static char *keep_columns(char *text, int columns)
{
    const char *at = text, *next;

    while (*at && (columns -= columns_of(read_character(at, &next))) >= 0)
        at = next;
    return text + (at - text);
}

/* Where a path begins. NULL: there is none. */
static char *find_path(char *text)
{
    char *path = *text == '/' ? text : strstr(text, " /");

    return path && *path == ' ' ? path + 1 : path;
}

/*
 * Cuts a path in the text in front: what tells files apart is its end. What stands behind it goes first, where no
 * PATH_TAIL of the path would be left. Fails: false, the path stays whole: there is none, or it is what is behind it
 * that does not fit (and may be cut already).
 */
static bool cut_path(char *text, int width)
{
    char *path = find_path(text), *end, *kept;
    int before, length, behind, tail; /* columns; of the path, its tail is what is kept */

    if (!path)
        return false;
    end = path + strcspn(path, " :");
    behind = count_columns(end);
    length = count_columns(path) - behind;
    before = count_columns(text) - length - behind;
    tail = width - before - 2 - behind;
    if (tail < PATH_TAIL && behind > 2) {
        strcpy(end, "..");
        tail = width - before - 4;
    }
    if (tail < PATH_TAIL || tail >= length)
        return false;
    kept = skip_columns(path, length - tail);
    memcpy(path, "..", 2);
    memmove(path + 2, kept, strlen(kept) + 1);
    return true;
}

/*
 * Where the function of a Module:Function/Arity begins, at its colon; of Elixir's Module.function/arity, at the point.
 * NULL: the text is none.
 */
static char *find_function(char *text)
{
    char *arity = strrchr(text, '/'), *at, separator = isupper((unsigned char)*text) ? '.' : ':';

    if (!arity || !arity[1] || arity[1 + strspn(arity + 1, "0123456789")] || strpbrk(text, " {<"))
        return NULL;
    at = separator == '.' ? strstr(text, ".\"") : NULL;
    for (at = at ? at : arity; at > text && *at != separator; at--)
        ;
    return at > text ? at : NULL;
}

/* Cuts the module in `Module:Function/Arity`, whose function tells more. Fails: false, nothing of it would be left. */
static bool cut_module(char *text, int width)
{
    char *function = find_function(text), *end;
    int left = function ? width - 2 - count_columns(function) : 0;

    if (left < 1)
        return false;
    end = keep_columns(text, left);
    memcpy(end, "..", 2);
    memmove(end + 2, function, strlen(function) + 1);
    return true;
}

/* Cuts UTF-8 text to `width` columns, with ".." to show it. */
static void cut(char *text, int width)
{
    if (count_columns(text) <= width || cut_module(text, width) || cut_path(text, width) ||
        count_columns(text) <= width)
        return;
    strcpy(keep_columns(text, width > 2 ? width - 2 : width), width > 2 ? ".." : "");
}

/* Whether a text has a line of its own: it may, or the column leaves a function less than its own name and LEAST_MODULE
 * of its module. */
static bool is_too_long(const struct sink_column *column, char *text, int width)
{
    bool is_longer = count_columns(text) > width;
    char *function = is_longer ? find_function(text) : NULL;

    if (column->width == SINK_FOLDED)
        return is_longer;
    return function && width - 2 - count_columns(function) < LEAST_MODULE;
}

/* ---- pages */

/* What a text keeps, however short the line: what its table says, or what pids and states have. */
static int kept_width(const struct sink_column *column, int width)
{
    int head = count_columns(column->head), least = least_width(column) ? least_width(column) : KEPT_COLUMNS;

    least = least > head ? least : head;
    return least < width ? least : width;
}

/* Takes `excess` columns from the texts, a column at a time from the one that is widest then, to what each keeps;
 * returns what is left to take. */
static int narrow_widest(const struct sink_table *table, int *widths, const int *kept, int excess)
{
    for (; excess > 0; excess--) {
        int widest = HIDDEN;

        for (int i = 0; i < table->ncolumns; i++)
            if (table->columns[i].type == SINK_TEXT && widths[i] > kept[i] &&
                (widest == HIDDEN || widths[i] >= widths[widest]))
                widest = i;
        if (widest == HIDDEN)
            return excess;
        widths[widest]--;
    }
    return excess;
}

/* What a line of `line` columns leaves to each column: long texts give way before short ones, to what each keeps; then
 * the last one once more, where the line fits by that. */
static void fit_widths(const struct sink_page *page, int line, int *widths)
{
    const struct sink_table *table = page->table;
    int last = table->ncolumns - 1, excess = last - line, kept[SINK_MAX_COLUMNS];

    for (int i = 0; i <= last; i++) {
        widths[i] = page->widths[i];
        kept[i] = kept_width(&table->columns[i], widths[i]);
        excess += widths[i];
    }
    if (!line || table->columns[last].width == SINK_WHOLE)
        return;
    kept[last] = widths[last] < TAIL_COLUMNS ? widths[last] : TAIL_COLUMNS;
    excess = narrow_widest(table, widths, kept, excess);
    if (table->columns[last].type == SINK_TEXT && excess > 0 && widths[last] - excess >= LEAST_TAIL)
        widths[last] -= excess;
}

/*
 * Prints `text` and returns what follows it. Spaces that stand before the next text of the line are printed with it:
 * none end a line.
 */
static char *print_cell(FILE *out, int *spaces, char *text, int width, bool right)
{
    char *next = text + strlen(text) + 1;
    int pad;

    if (width == HIDDEN)
        return next;
    cut(text, width);
    pad = width - count_columns(text);
    *spaces += right ? pad : 0;
    if (*text) {
        fprintf(out, "%*s%s", *spaces, "", text);
        *spaces = 0;
    }
    *spaces += (right ? 0 : pad) + 1;
    return next;
}

/* The last cell of a row in a line of its own, which it ends. */
static char *print_folded(FILE *out, char *text, int line)
{
    char *next = text + strlen(text) + 1;

    cut(text, line);
    fprintf(out, "\n%*s%s", line - count_columns(text), "", text);
    return next;
}

static void print_head(struct sink *sink, const struct sink_table *table, const int *widths)
{
    char cell[128];
    int spaces = 0;

    if (sink->printed)
        fputc('\n', sink->out);
    if (table->title)
        fprintf(sink->out, "%s\n", table->title);
    if (sink->sampled)
        fprintf(sink->out, "%*s ", SAMPLED_COLUMNS - 1, "SAMPLED");
    for (int i = 0; i < table->ncolumns; i++) {
        snprintf(cell, sizeof cell, "%s", table->columns[i].head);
        print_cell(sink->out, &spaces, cell, widths[i], table->columns[i].type != SINK_TEXT);
    }
    fputc('\n', sink->out);
    sink->headed = table;
    sink->printed = true;
}

/* Whether rows of one table may stand under the head of the other. */
static bool heads_same(const struct sink_table *a, const struct sink_table *b)
{
    bool same = a && !a->title && !b->title && a->ncolumns == b->ncolumns;

    for (int i = 0; same && i < a->ncolumns; i++)
        same = a->columns[i].type == b->columns[i].type && a->columns[i].width == b->columns[i].width &&
               !strcmp(a->columns[i].head, b->columns[i].head);
    return a == b || same;
}

/* The rows that wait. Rows of the same table that follow stand under the same head. */
static void print_page(struct sink *sink)
{
    struct sink_page *page = &sink->page;
    const struct sink_table *table = page->table;
    int widths[SINK_MAX_COLUMNS], line = line_columns();
    char sampled[16];

    if (!page->used)
        return;
    fit_widths(page, sink->sampled && line > SAMPLED_COLUMNS ? line - SAMPLED_COLUMNS : line, widths);
    snprintf(sampled, sizeof sampled, "1/%u", sink->sampled);
    if (!heads_same(sink->headed, table))
        print_head(sink, table, widths);
    for (char *at = page->cells; at < page->cells + page->used;) {
        int spaces = 0, last = table->ncolumns - 1;

        if (sink->sampled)
            fprintf(sink->out, "%*s ", SAMPLED_COLUMNS - 1, sampled);
        for (int i = 0; i < last; i++)
            at = print_cell(sink->out, &spaces, at, widths[i], table->columns[i].type != SINK_TEXT);
        if (line && widths[last] != HIDDEN && table->columns[last].type == SINK_TEXT &&
            is_too_long(&table->columns[last], at, widths[last]))
            at = print_folded(sink->out, at, line);
        else
            at = print_cell(sink->out, &spaces, at, widths[last], table->columns[last].type != SINK_TEXT);
        fputc('\n', sink->out);
    }
    page->used = 0;
}

static void begin_page(struct sink *sink, const struct sink_table *table)
{
    struct sink_page *page = &sink->page;

    print_page(sink);
    page->table = table;
    for (int i = 0; i < table->ncolumns; i++) {
        int head = count_columns(table->columns[i].head), least = least_width(&table->columns[i]);

        page->widths[i] = sink->one_vm && !strcmp(table->columns[i].name, "vm") ? HIDDEN : head > least ? head : least;
    }
}

static void format_value(struct sink *sink, enum sink_type type, const struct sink_value *v, char *out)
{
    if (v->kind == SINK_ABSENT)
        strcpy(out, "-");
    else if (v->kind == SINK_STRING)
        escape_text(out, CELL_BYTES, v->text, CELL_BYTES);
    else if (v->kind == SINK_REAL)
        snprintf(out, CELL_BYTES, type == SINK_RATE ? "%.1f" : "%.2f", v->real);
    else if (type == SINK_NS)
        sink_format_ns(out, CELL_BYTES, v->number);
    else if (type == SINK_SIZE)
        sink_format_size(out, CELL_BYTES, v->number);
    else if (type == SINK_TIME)
        sink_format_time(sink, out, CELL_BYTES, v->number, false);
    else
        snprintf(out, CELL_BYTES, "%llu", (unsigned long long)v->number);
}

static void add_row(struct sink *sink, const struct sink_table *table, const struct sink_value *values)
{
    struct sink_page *page = &sink->page;

    if (page->table != table)
        begin_page(sink, table);
    else if (page->used > SINK_PAGE_BYTES / 2)
        print_page(sink);
    for (int i = 0; i < table->ncolumns; i++) {
        char *cell = page->cells + page->used;
        int columns;

        format_value(sink, table->columns[i].type, &values[i], cell);
        columns = count_columns(cell);
        if (page->widths[i] != HIDDEN && columns > page->widths[i])
            page->widths[i] = columns;
        page->used += strlen(cell) + 1;
    }
}

static void print_moment(struct sink *sink)
{
    char time[64];

    print_page(sink);
    sink->page.table = NULL;
    if (sink->printed)
        fputc('\n', sink->out);
    sink->printed = false;
    sink->headed = NULL;
    if (!sink->timestamps)
        return;
    sink_format_time(sink, time, sizeof time, sink->now_ns, false);
    fprintf(sink->out, "%s\n", time);
}

static void print_heading(struct sink *sink, const char *name, const char *text)
{
    print_page(sink);
    sink->page.table = NULL;
    sink->headed = NULL;
    fprintf(sink->out, "%s[%s] %s\n", sink->printed ? "\n" : "", name, text);
    sink->printed = false; /* no line is left empty below it */
}

static void print_hist(struct sink *sink, const char *name, const char *title, enum sink_type type,
                       const struct wire_hist *hist)
{
    print_page(sink);
    sink->page.table = NULL;
    sink_hist_print(sink, name, title, type, hist);
}

extern const struct sink_ops sink_table_ops;
const struct sink_ops sink_table_ops = {false, print_moment, print_heading, add_row, print_hist, print_page};
