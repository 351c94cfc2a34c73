/* SPDX-License-Identifier: Apache-2.0 */
/* Invariant: the rows of a table add up to what was counted: those beyond the top, and what the kernel's side had no room for, are (other). */
#include "result.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "hist.h"
#include "tally.h"

/* A row, or several with the same text: a stock emulator's processes go on at several places of a function. */
struct line {
    uint32_t vm;
    char *name;
    uint64_t *row; /* the columns' members at their places */
    uint64_t weight;
};

/* A table that was read. */
struct counted {
    const struct view_table *table;
    struct line *lines; /* merged, the heaviest first */
    size_t nlines;
    uint64_t *all; /* the sum of all rows */
};

static uint64_t *member(uint64_t *row, size_t at)
{
    return row + at / sizeof *row;
}

static struct wire_hist *hist_of(uint64_t *row, size_t at)
{
    return (struct wire_hist *)member(row, at);
}

static void merge_row(const struct view_table *t, uint64_t *to, uint64_t *from)
{
    for (const struct view_column *c = t->columns; c < t->columns + t->ncolumns; c++) {
        if (c->kind == VIEW_COUNTER)
            *member(to, c->at) += *member(from, c->at);
        else if (c->kind == VIEW_HIST)
            hist_merge(hist_of(to, c->at), hist_of(from, c->at));
    }
}

/* What rows are ordered by: the first counter, else the first histogram's count. */
static uint64_t weigh(const struct view_table *t, uint64_t *row)
{
    for (const struct view_column *c = t->columns; c < t->columns + t->ncolumns; c++) {
        if (c->kind == VIEW_COUNTER)
            return *member(row, c->at);
        if (c->kind == VIEW_HIST)
            return hist_of(row, c->at)->count;
    }
    return 0;
}

/* ---- reading */

/* The row of a TOTAL table, summed over CPUs; zero from then on. */
static int take_total(struct session *s, const struct view_table *t, uint32_t side, uint64_t *all)
{
    int cpus = libbpf_num_possible_cpus(), map = session_map(s, t->map), err = 0;
    size_t words = t->row_bytes / sizeof *all;
    uint64_t *each = cpus > 0 ? calloc((size_t)cpus, t->row_bytes) : NULL;

    if (!each)
        return -ENOMEM;
    if (bpf_map_lookup_elem(map, &side, each))
        err = -errno;
    for (int i = 0; !err && i < cpus; i++)
        merge_row(t, all, each + (size_t)i * words);
    memset(each, 0, (size_t)cpus * t->row_bytes);
    if (!err && bpf_map_update_elem(map, &side, each, BPF_EXIST))
        err = -errno;
    free(each);
    return err;
}

/* What the keyed table had no room for; zero from then on. */
static int take_rest(struct session *s, const struct view_table *t, uint32_t side, uint64_t *all)
{
    uint64_t *rest = calloc(1, t->row_bytes);
    char name[64];
    int map, err = rest ? 0 : -ENOMEM;

    snprintf(name, sizeof name, "%s_rest", t->map);
    map = session_map(s, name);
    if (!err && bpf_map_lookup_elem(map, &side, rest))
        err = -errno;
    if (!err) {
        merge_row(t, all, rest);
        memset(rest, 0, t->row_bytes);
        err = bpf_map_update_elem(map, &side, rest, BPF_EXIST) ? -errno : 0;
    }
    free(rest);
    return err;
}

static int compare_names(const void *a, const void *b)
{
    const struct line *x = a, *y = b;

    return x->vm != y->vm ? (x->vm < y->vm ? -1 : 1) : strcmp(x->name, y->name);
}

static int compare_weights(const void *a, const void *b)
{
    const struct line *x = a, *y = b;

    return x->weight != y->weight ? (x->weight < y->weight ? 1 : -1) : compare_names(a, b);
}

/* Lines of the same VM and text become one. */
static void merge_lines(struct counted *c)
{
    size_t kept = 0;

    if (c->nlines)
        qsort(c->lines, c->nlines, sizeof *c->lines, compare_names);
    for (size_t i = 0; i < c->nlines; i++) {
        if (kept && !compare_names(&c->lines[kept - 1], &c->lines[i])) {
            merge_row(c->table, c->lines[kept - 1].row, c->lines[i].row);
            free(c->lines[i].name);
            free(c->lines[i].row);
        } else {
            c->lines[kept++] = c->lines[i];
        }
    }
    c->nlines = kept;
    for (size_t i = 0; i < kept; i++)
        c->lines[i].weight = weigh(c->table, c->lines[i].row);
    if (kept)
        qsort(c->lines, kept, sizeof *c->lines, compare_weights);
}

static const char *name_row(struct session *s, const struct view_table *t, const struct wire_name_key *key, const uint64_t *row, char *buf,
                            size_t size)
{
    if (t->key != VIEW_NUMBER)
        return session_name(s, key->vm, (const struct wire_name *)row);
    snprintf(buf, size, "%llu", (unsigned long long)key->hash);
    return buf;
}

static int add_lines(struct session *s, struct counted *c, const struct tally_row *rows, size_t n)
{
    char buf[32];

    c->lines = calloc(n + 1, sizeof *c->lines);
    for (size_t i = 0; c->lines && i < n; i++) {
        const struct wire_name_key *key = rows[i].key;
        struct line line = {key->vm, strdup(name_row(s, c->table, key, rows[i].values, buf, sizeof buf)), malloc(c->table->row_bytes), 0};

        if (!line.name || !line.row) {
            free(line.name);
            free(line.row);
            return -ENOMEM;
        }
        memcpy(line.row, rows[i].values, c->table->row_bytes);
        merge_row(c->table, c->all, line.row);
        c->lines[c->nlines++] = line;
    }
    return c->lines ? 0 : -ENOMEM;
}

static int take_rows(struct session *s, struct counted *c, uint32_t side)
{
    struct tally *tally = tally_new(sizeof(struct wire_name_key), c->table->row_bytes / 8, 0);
    const struct tally_row *rows;
    char name[64];
    size_t n;
    int err;

    snprintf(name, sizeof name, "%s_%u", c->table->map, side);
    err = tally_take(tally, session_map(s, name));
    if (!err) {
        n = tally_all(tally, &rows);
        err = add_lines(s, c, rows, n);
    }
    tally_free(tally);
    if (!err)
        err = take_rest(s, c->table, side, c->all);
    if (!err)
        merge_lines(c);
    return err;
}

static void free_counted(struct counted *c)
{
    for (size_t i = 0; i < c->nlines; i++) {
        free(c->lines[i].name);
        free(c->lines[i].row);
    }
    free(c->lines);
    free(c->all);
}

static int take_table(struct session *s, struct counted *c, const struct view_table *table, uint32_t side)
{
    c->table = table;
    c->all = calloc(1, table->row_bytes);
    if (!c->all)
        return -ENOMEM;
    return table->key == VIEW_TOTAL ? take_total(s, table, side, c->all) : take_rows(s, c, side);
}

/* ---- printing */

/* A row: of one VM and name, or of all (vm 0). `all`: what shares are of. */
struct shown {
    uint32_t vm;
    const char *name;
    uint64_t *row, *all;
    double seconds;
};

static struct sink_value make_cell(const struct view_column *c, const struct shown *r)
{
    uint64_t *at = member(r->row, c->at), *all = member(r->all, c->at);

    switch (c->kind) {
    case VIEW_RATE: return SINK_R((double)*at / r->seconds);
    case VIEW_SHARE: return *all ? SINK_N(*at * 100 / *all) : SINK_NONE;
    case VIEW_P50: return sink_percentile(hist_of(r->row, c->at), 0.5);
    case VIEW_P99: return sink_percentile(hist_of(r->row, c->at), 0.99);
    case VIEW_P999: return sink_percentile(hist_of(r->row, c->at), 0.999);
    case VIEW_MAX: return SINK_N(hist_of(r->row, c->at)->max);
    case VIEW_COUNTED: return SINK_N(hist_of(r->row, c->at)->count);
    case VIEW_VM: return r->vm ? SINK_N(r->vm) : SINK_NONE;
    case VIEW_KEYTEXT: return SINK_S(r->name);
    default: return SINK_N(*at);
    }
}

static void print_row(struct session *s, const struct view_table *t, const struct shown *row)
{
    struct sink_value cells[SINK_MAX_COLUMNS];
    int n = 0;

    for (const struct view_column *c = t->columns; c < t->columns + t->ncolumns; c++)
        if (c->head)
            cells[n++] = make_cell(c, row);
    sink_row(session_sink(s), &t->sink, cells);
}

/* Takes the members of `part` from those of `whole`: what is left is the rest. */
static void subtract_row(const struct view_table *t, uint64_t *whole, uint64_t *part)
{
    for (const struct view_column *c = t->columns; c < t->columns + t->ncolumns; c++) {
        if (c->kind == VIEW_COUNTER)
            *member(whole, c->at) -= *member(part, c->at);
        else if (c->kind == VIEW_HIST)
            hist_subtract(hist_of(whole, c->at), hist_of(part, c->at));
    }
}

static int print_table(struct session *s, struct counted *c)
{
    struct shown row = {0, "(other)", c->all, c->all, session_seconds(s)};
    uint64_t *rest;

    if (c->table->key == VIEW_TOTAL) {
        print_row(s, c->table, &row);
        return 0;
    }
    rest = malloc(c->table->row_bytes);
    if (!rest)
        return -ENOMEM;
    memcpy(rest, c->all, c->table->row_bytes);
    for (size_t i = 0; i < c->nlines && i < c->table->top; i++) {
        subtract_row(c->table, rest, c->lines[i].row);
        print_row(s, c->table, &(struct shown){c->lines[i].vm, c->lines[i].name, c->lines[i].row, c->all, row.seconds});
    }
    row.row = rest;
    if (weigh(c->table, rest))
        print_row(s, c->table, &row);
    free(rest);
    return 0;
}

static enum sink_type hist_type(const struct view_block *b)
{
    const struct view_table *t = view_table(b->table);

    for (const struct view_column *c = t->columns; c < t->columns + t->ncolumns; c++)
        if (c->kind == VIEW_HIST && c->at == b->at)
            return c->unit == VIEW_UNIT_NS ? SINK_NS : SINK_COUNT;
    return SINK_COUNT;
}

static int print_blocks(struct session *s, struct counted *tables, const bool on[VIEW_COUNT])
{
    int err = 0;

    for (size_t i = 0; i < view_nblocks && !err; i++) {
        const struct view_block *b = &view_blocks[i];

        if (!on[b->view])
            continue;
        if (b->hist)
            sink_hist(session_sink(s), b->json, b->title, hist_type(b), hist_of(tables[b->table].all, b->at));
        else
            err = print_table(s, &tables[b->table]);
    }
    return err;
}

int result_print(struct session *s, uint32_t side, const bool on[VIEW_COUNT])
{
    struct counted tables[VIEW_NTABLES] = {0};
    int err = 0;

    for (size_t i = 0; i < VIEW_NTABLES && !err; i++)
        if (on[view_table((enum view_table_id)i)->view])
            err = take_table(s, &tables[i], view_table((enum view_table_id)i), side);
    if (!err)
        err = print_blocks(s, tables, on);
    for (size_t i = 0; i < VIEW_NTABLES; i++)
        free_counted(&tables[i]);
    return err;
}

/* ---- records */

/* Word number `which` of `words`. */
static const char *pick_word(const char *words, uint32_t which, char *buf, size_t size)
{
    while (which-- && *words)
        words += strcspn(words, " ") + (strchr(words, ' ') != NULL);
    snprintf(buf, size, "%.*s", (int)strcspn(words, " "), *words ? words : "?");
    return buf;
}

static struct sink_value make_attr(struct session *s, const struct view_attr *a, const struct wire_header *header, char *buf, size_t size)
{
    const void *at = (const char *)header + a->at;
    struct wire_pid pid;
    uint64_t number;

    switch (a->kind) {
    case VIEW_ATTR_TIME: return SINK_N(header->time_ns);
    case VIEW_ATTR_VM: return SINK_N(header->vm);
    case VIEW_ATTR_PID:
        pid = ev_id_wire(*(const ev_id *)at);
        snprintf(buf, size, "<%u.%u.%u>", pid.node, pid.id, pid.serial);
        return SINK_S(buf);
    case VIEW_ATTR_NAME: return SINK_S(session_name(s, header->vm, at));
    case VIEW_ATTR_LABEL: return SINK_S(pick_word(a->texts, *(const uint32_t *)at, buf, size));
    default:
        memcpy(&number, at, sizeof number);
        return number == VIEW_UNKNOWN ? SINK_NONE : SINK_N(number);
    }
}

void result_record(struct session *s, const struct wire_header *header, size_t size)
{
    const struct view_record_kind *kind = view_record_kind(header->kind);
    struct sink_value cells[SINK_MAX_COLUMNS];
    char texts[SINK_MAX_COLUMNS][64];

    if (!kind || size < kind->bytes)
        return;
    for (int i = 0; i < kind->sink.ncolumns; i++)
        cells[i] = make_attr(s, &kind->attrs[i], header, texts[i], sizeof texts[i]);
    sink_row(session_sink(s), &kind->sink, cells);
}
