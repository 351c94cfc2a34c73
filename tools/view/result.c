/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Invariant: the rows of a table add up to what was counted: those beyond the top, and what the kernel's side had no
 * room for, are (other).
 */
#include "result.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "before.h"
#include "beside.h"
#include "event/hist.h"

enum {
    RECORD_TEXT_BYTES = 4096, /* of an attribute; as long as a name of names.h may get */
    LINES_MAX = 16384         /* of a table: those that weigh least are (other) from then on */
};

/* A row, or several with the same text: a stock emulator's processes go on at several places of a function. */
struct line {
    uint32_t vm;
    char *name;
    uint64_t *row; /* the columns' members at their places */
    uint64_t weight;
    bool orderly; /* a reason of VIEW_REASON that is no failure: it stands behind those that are */
};

/* A table that was read. */
struct counted {
    const struct view_table *table; /* NULL: it was not */
    struct line *lines; /* a reader's are merged, the heaviest first */
    size_t nlines;
    uint64_t *all;   /* the sum of all rows */
    uint64_t *whole; /* what of it was watched all the time; only of a TOTAL table */
};

struct result_unread {
    struct counted tables[VIEW_NTABLES];
    struct result_kept slowest[VIEW_NSLOWEST];
    struct open_list open[VIEW_NOPENS]; /* as it was when it was gathered last */
};

static uint64_t *member(uint64_t *row, size_t at)
{
    return row + at / sizeof *row;
}

static struct wire_hist *hist_of(uint64_t *row, size_t at)
{
    return (struct wire_hist *)member(row, at);
}

void result_merge(const struct view_table *t, uint64_t *to, uint64_t *from)
{
    for (const struct view_column *c = t->columns; c < t->columns + t->ncolumns; c++) {
        if (c->kind == VIEW_COUNTER)
            *member(to, c->at) += *member(from, c->at);
        else if (c->kind == VIEW_HIST)
            hist_merge(hist_of(to, c->at), hist_of(from, c->at));
    }
}

uint64_t result_weigh(const struct view_table *t, uint64_t *row)
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

int result_add(struct result_taken *taken, uint32_t vm, uint64_t key, const uint64_t *words)
{
    struct result_row *rows =
        taken->nrows & (taken->nrows + 1) ? taken->rows : realloc(taken->rows, 2 * (taken->nrows + 1) * sizeof *rows);
    uint64_t *copy = rows ? malloc(taken->row_bytes) : NULL;

    taken->rows = rows ? rows : taken->rows;
    if (!copy)
        return -ENOMEM;
    memcpy(copy, words, taken->row_bytes);
    taken->rows[taken->nrows++] = (struct result_row){vm, key, copy};
    return 0;
}

static int compare_names(const void *a, const void *b)
{
    const struct line *x = a, *y = b;

    return x->vm != y->vm ? (x->vm < y->vm ? -1 : 1) : strcmp(x->name, y->name);
}

static int compare_weights(const void *a, const void *b)
{
    const struct line *x = a, *y = b;

    if (x->orderly != y->orderly)
        return x->orderly ? 1 : -1;
    return x->weight != y->weight ? (x->weight < y->weight ? 1 : -1) : compare_names(a, b);
}

static bool is_orderly(const char *reason)
{
    return !strcmp(reason, "normal") || !strcmp(reason, "shutdown") || !strcmp(reason, "{shutdown,...}") ||
           !strcmp(reason, "{#Ref<...>,return,...}");
}

static void free_line(struct line *line)
{
    free(line->name);
    free(line->row);
}

/* Lines of the same VM and text become one; they are in the order of compare_names. */
static void merge_names(struct counted *c)
{
    size_t kept = 0;

    if (c->nlines)
        qsort(c->lines, c->nlines, sizeof *c->lines, compare_names);
    for (size_t i = 0; i < c->nlines; i++) {
        if (kept && !compare_names(&c->lines[kept - 1], &c->lines[i])) {
            result_merge(c->table, c->lines[kept - 1].row, c->lines[i].row);
            free_line(&c->lines[i]);
        } else {
            c->lines[kept++] = c->lines[i];
        }
    }
    c->nlines = kept;
}

static void merge_lines(struct counted *c, size_t most)
{
    merge_names(c);
    for (size_t i = 0; i < c->nlines; i++) {
        c->lines[i].weight = result_weigh(c->table, c->lines[i].row);
        c->lines[i].orderly = c->table->key == VIEW_REASON && is_orderly(c->lines[i].name);
    }
    if (c->nlines)
        qsort(c->lines, c->nlines, sizeof *c->lines, compare_weights);
    while (c->nlines > most)
        free_line(&c->lines[--c->nlines]);
}

static const char *name_row(const struct result_source *s, const struct view_table *t, const struct result_row *row,
                            char *buf, size_t size)
{
    if (t->key == VIEW_TOTAL)
        return "";
    if (t->key != VIEW_NUMBER)
        return s->name(s->ctx, row->vm, (const struct wire_name *)row->words);
    if (t->number)
        return t->number(row->key);
    snprintf(buf, size, "%llu", (unsigned long long)row->key);
    return buf;
}

static int make_room(struct counted *c, size_t n)
{
    struct line *lines = realloc(c->lines, (c->nlines + n + 1) * sizeof *lines);

    c->lines = lines ? lines : c->lines;
    return lines ? 0 : -ENOMEM;
}

/* The rows' words become the lines'. */
static int add_lines(const struct result_source *s, struct counted *c, struct result_taken *taken)
{
    int err = make_room(c, taken->nrows);
    char buf[32];

    for (size_t i = 0; i < taken->nrows && !err; i++) {
        struct result_row *row = &taken->rows[i];
        char *name = strdup(name_row(s, c->table, row, buf, sizeof buf));

        if (!name)
            return -ENOMEM;
        c->lines[c->nlines++] = (struct line){row->vm, name, row->words, 0, false};
        row->words = NULL;
    }
    return err;
}

static void free_counted(struct counted *c)
{
    for (size_t i = 0; i < c->nlines; i++)
        free_line(&c->lines[i]);
    free(c->lines);
    free(c->all);
    free(c->whole);
}

static int make_counted(struct counted *c, const struct view_table *table)
{
    if (c->table)
        return 0;
    *c = (struct counted){.table = table, .all = calloc(1, table->row_bytes), .whole = calloc(1, table->row_bytes)};
    return c->all && c->whole ? 0 : -ENOMEM;
}

static void free_taken(struct result_taken *taken)
{
    for (size_t i = 0; i < taken->nrows; i++)
        free(taken->rows[i].words);
    free(taken->rows);
    free(taken->rest);
    free(taken->whole);
}

/* ---- what is under way */

static int give_open(const struct open_list open[VIEW_NOPENS], struct result_reader *const readers[], size_t n)
{
    int err = 0;

    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; k < VIEW_NOPENS && !err; k++)
            err = readers[i]->wants == RESULT_SUMS ? 0 : open_copy(&open[k], &readers[i]->unread->open[k]);
    return err;
}

/* Where lines with names are wanted, and are one for each VM; a new one stands where it belongs. */
static int find_line(void *ctx, uint32_t vm, const char *name, bool make, uint64_t **row)
{
    struct counted *c = ctx;
    struct line line = {.vm = vm, .name = (char *)name};
    size_t at = 0, end = c->nlines;
    int err;

    while (at < end) {
        size_t middle = (at + end) / 2;

        if (compare_names(&c->lines[middle], &line) < 0)
            at = middle + 1;
        else
            end = middle;
    }
    *row = at < c->nlines && !compare_names(&c->lines[at], &line) ? c->lines[at].row : NULL;
    if (*row || !make)
        return !*row;
    err = make_room(c, 1);
    line.name = strdup(name);
    line.row = calloc(1, c->table->row_bytes);
    if (err || !line.name || !line.row) {
        free_line(&line);
        return -ENOMEM;
    }
    memmove(&c->lines[at + 1], &c->lines[at], (c->nlines++ - at) * sizeof line);
    c->lines[at] = line;
    *row = line.row;
    return 0;
}

static int find_no_line(void *ctx, uint32_t vm, const char *name, bool make, uint64_t **row)
{
    (void)ctx, (void)vm, (void)name, (void)make;
    *row = NULL;
    return 0;
}

static int settle_shares(const struct result_source *s, struct counted *c, bool named)
{
    bool lines = named && (c->table->key != VIEW_TOTAL || s->by_vm);
    const struct shares_table table = {c->table, c->all, lines ? find_line : find_no_line, c};

    if (!s->shares)
        return 0;
    if (lines)
        merge_names(c);
    return shares_settle(s->shares, &table);
}

/* What there is of the table by now; its lines, if they are wanted, as they come. */
static int take_table(const struct result_source *s, struct counted *c, const struct view_table *table, bool named)
{
    struct result_taken taken = {.row_bytes = table->row_bytes, .rest = calloc(1, table->row_bytes),
                                 .whole = calloc(1, table->row_bytes)};
    int err = taken.rest && taken.whole ? make_counted(c, table) : -ENOMEM;

    if (!err)
        err = s->take(s->ctx, table, &taken);
    if (!err) {
        result_merge(table, c->all, taken.rest);
        result_merge(table, c->whole, taken.whole);
        for (size_t i = 0; i < taken.nrows; i++)
            result_merge(table, c->all, taken.rows[i].words);
        err = named ? add_lines(s, c, &taken) : 0;
    }
    if (!err)
        err = settle_shares(s, c, named);
    free_taken(&taken);
    return err;
}

/* ---- readers */

static struct line copy_line(const struct line *line, size_t row_bytes)
{
    struct line copy = *line;

    copy.name = strdup(line->name);
    copy.row = malloc(row_bytes);
    if (copy.row)
        memcpy(copy.row, line->row, row_bytes);
    return copy;
}

/* The lines become the reader's, or copies of them. */
static int give_lines(struct counted *to, struct counted *from, bool copies, size_t most)
{
    int err = make_room(to, from->nlines);

    for (size_t i = 0; i < from->nlines && !err; i++) {
        struct line line = copies ? copy_line(&from->lines[i], from->table->row_bytes) : from->lines[i];

        if (line.name && line.row) {
            to->lines[to->nlines++] = line;
        } else {
            free_line(&line);
            err = -ENOMEM;
        }
    }
    if (!copies && !err)
        from->nlines = 0;
    merge_lines(to, most && most < LINES_MAX ? most : LINES_MAX);
    return err;
}

/* The last of the readers that want lines gets those that were taken; NULL: none wants them. */
static const struct result_reader *last_by_row(struct result_reader *const readers[], size_t n)
{
    while (n && readers[n - 1]->wants == RESULT_SUMS)
        n--;
    return n ? readers[n - 1] : NULL;
}

static int gather_table(const struct result_source *s, const struct view_table *table, size_t id,
                        struct result_reader *const readers[], size_t n)
{
    const struct result_reader *last = last_by_row(readers, n);
    struct counted fresh = {0};
    int err = take_table(s, &fresh, table, last != NULL);

    for (size_t i = 0; i < n && !err; i++) {
        struct counted *to = &readers[i]->unread->tables[id];

        err = make_counted(to, table);
        if (err)
            break;
        result_merge(table, to->all, fresh.all);
        result_merge(table, to->whole, fresh.whole);
        if (readers[i]->wants != RESULT_SUMS)
            err = give_lines(to, &fresh, readers[i] != last, readers[i]->most);
    }
    free_counted(&fresh);
    return err;
}

/* ---- printing */

/* A row: of one VM and name, or of all (vm 0). `all`: what shares are of. `whole`: what of it was watched all the
 * time. */
struct shown {
    uint32_t vm;
    const char *name;
    uint64_t *row, *all, *whole;
};

static struct sink_value make_rate(const struct result_source *s, uint64_t count, uint64_t whole)
{
    double rate = whole ? (double)whole / s->whole_seconds : 0;

    return s->seconds > 0 ? SINK_R(rate + (double)(count - whole) / s->seconds) : SINK_NONE;
}

/* Nothing was counted, and the VM, or one of them, would not have told it. */
static bool is_unknown(const struct result_source *s, const struct view_column *c, const struct shown *r)
{
    enum batch_event event = view_column_event(c);

    return event != BATCH_EVENTS && s->unavailable && !*member(r->row, c->at) &&
           s->unavailable(s->ctx, r->vm)->events[event];
}

static struct sink_value make_time(const struct wire_hist *hist)
{
    return hist->count || hist->shares ? SINK_N(hist_time(hist)) : SINK_NONE;
}

static struct sink_value make_share(uint64_t part, uint64_t all)
{
    return all ? SINK_N((part * 100 + all / 2) / all) : SINK_NONE;
}

static struct sink_value make_part(const struct wire_hist *hist, const struct wire_hist *all)
{
    return hist->count || hist->shares ? make_share(hist_time(hist), hist_time(all)) : SINK_NONE;
}

static struct sink_value make_cell(const struct result_source *s, const struct view_column *c, const struct shown *r)
{
    uint64_t *at = member(r->row, c->at), *all = member(r->all, c->at);

    if (is_unknown(s, c, r))
        return SINK_NONE;
    switch (c->kind) {
    case VIEW_RATE: return make_rate(s, *at, *member(r->whole, c->at));
    case VIEW_SHARE: return make_share(*at, *all);
    case VIEW_P50: return sink_percentile(hist_of(r->row, c->at), 0.5);
    case VIEW_P99: return sink_percentile(hist_of(r->row, c->at), 0.99);
    case VIEW_P999: return sink_percentile(hist_of(r->row, c->at), 0.999);
    case VIEW_MAX: return hist_of(r->row, c->at)->count ? SINK_N(hist_of(r->row, c->at)->max) : SINK_NONE;
    case VIEW_SUM: return make_time(hist_of(r->row, c->at));
    case VIEW_PART: return make_part(hist_of(r->row, c->at), hist_of(r->all, c->at));
    case VIEW_COUNTED: return SINK_N(hist_of(r->row, c->at)->count);
    case VIEW_VM: return r->vm ? SINK_N(r->vm) : SINK_NONE;
    case VIEW_KEYTEXT: return SINK_S(r->name);
    default: return SINK_N(*at);
    }
}

static void print_row(const struct result_source *s, const struct view_table *t, const struct shown *row)
{
    struct sink_value cells[SINK_MAX_COLUMNS];
    int n = 0;

    for (const struct view_column *c = t->columns; c < t->columns + t->ncolumns; c++)
        if (c->head)
            cells[n++] = make_cell(s, c, row);
    sink_row(s->sink, &t->sink, cells);
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

/* Whether anything was counted in it, be its weight zero. */
static bool is_counted(const struct view_table *t, uint64_t *row)
{
    for (const struct view_column *c = t->columns; c < t->columns + t->ncolumns; c++)
        if ((c->kind == VIEW_COUNTER && *member(row, c->at)) || (c->kind == VIEW_HIST && hist_of(row, c->at)->count))
            return true;
    return false;
}

static int print_table(const struct result_source *s, struct counted *c)
{
    struct shown row = {0, "(other)", c->all, c->all, c->whole};
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
        print_row(s, c->table, &(struct shown){c->lines[i].vm, c->lines[i].name, c->lines[i].row, c->all, c->whole});
    }
    row.row = rest;
    if (is_counted(c->table, rest))
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

static struct sink_value text_or_none(const char *text)
{
    return *text ? SINK_S(text) : SINK_NONE;
}

static void print_open(const struct result_source *s, const struct view_open *open, const struct open_list *list)
{
    const struct open_vm *oldest = open_oldest(list);
    bool unknown = open_unknown(s, open, 0) || (open->queued && !open_knows_queued(s, 0));
    struct sink_value count = oldest || !unknown ? SINK_N(open_count(list)) : SINK_NONE;
    struct sink_value cells[] = {count, SINK_NONE, SINK_NONE, SINK_NONE, SINK_NONE, SINK_NONE, SINK_NONE};

    if (open_knows_before(s, open, 0))
        cells[1] = SINK_N(open_count_before(list));
    if (oldest) {
        cells[2] = SINK_N(oldest->oldest_ns);
        cells[3] = SINK_S(oldest->at_least ? "at least" : "exact");
        cells[4] = SINK_N(oldest->vm);
        cells[5] = text_or_none(oldest->owner);
        cells[6] = text_or_none(oldest->what);
    }
    sink_row(s->sink, &open->sink, cells);
}

/* What is under way stands below what was counted in all. */
static void print_opens(const struct result_source *s, const struct open_list open[VIEW_NOPENS],
                        const struct view_block *b)
{
    for (size_t i = 0; s->open && i < VIEW_NOPENS; i++)
        if (view_open((enum view_open_id)i)->view == b->view && view_table(b->table)->key == VIEW_TOTAL)
            print_open(s, view_open((enum view_open_id)i), &open[i]);
}

static int print_blocks(const struct result_source *s, struct result_unread *unread, enum view_id view)
{
    struct counted *tables = unread->tables;
    int err = 0;

    for (size_t i = 0; i < view_nblocks && !err; i++) {
        const struct view_block *b = &view_blocks[i];

        if (b->view != view)
            continue;
        if (b->hist) {
            sink_hist(s->sink, b->json, b->title, hist_type(b), hist_of(tables[b->table].all, b->at));
        } else {
            err = print_table(s, &tables[b->table]);
            print_opens(s, unread->open, b);
            if (view_table(b->table)->key == VIEW_TOTAL)
                beside_print(s, view);
        }
    }
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

/* A record, and if it has steps one of them. */
struct told {
    const struct result_source *source;
    const struct wire_header *header;
    const struct view_step *step;
    uint64_t first_ns; /* when the first step was that was seen */
};

static uint64_t number_at(const struct wire_header *header, size_t at)
{
    uint64_t number;

    memcpy(&number, (const char *)header + at, sizeof number);
    return number;
}

static struct sink_value make_text(const struct told *t, view_maker *make, char *buf, size_t size)
{
    *buf = '\0';
    if (make)
        make(buf, size, t->header, &(struct view_namer){t->source->name, t->source->ctx});
    return SINK_S(buf);
}

static struct sink_value make_name(const struct told *t, const struct wire_name *name, char *buf, size_t size)
{
    /* the next may be made in the same place */
    snprintf(buf, size, "%s", t->source->name(t->source->ctx, t->header->vm, name));
    return SINK_S(buf);
}

static struct sink_value make_pid(ev_id id, char *buf, size_t size)
{
    struct wire_pid pid = ev_id_wire(id);

    snprintf(buf, size, "<%u.%u.%u>", pid.node, pid.id, pid.serial);
    return SINK_S(buf);
}

static struct sink_value make_attr(const struct told *t, const struct view_attr *a, char *buf, size_t size)
{
    const void *at = (const char *)t->header + a->at;
    uint64_t step_ns = t->step ? number_at(t->header, t->step->at) : 0;

    switch (a->kind) {
    case VIEW_ATTR_TIME: return SINK_N(t->header->time_ns);
    case VIEW_ATTR_VM: return SINK_N(t->header->vm);
    case VIEW_ATTR_PID: return *(const ev_id *)at ? make_pid(*(const ev_id *)at, buf, size) : SINK_NONE;
    case VIEW_ATTR_NAME:
    case VIEW_ATTR_OWNER:
        if (((const struct wire_name *)at)->form == WIRE_TEXT && !*((const struct wire_name *)at)->text)
            return SINK_NONE;
        return make_name(t, at, buf, size);
    case VIEW_ATTR_LABEL: return SINK_S(pick_word(a->texts, *(const uint32_t *)at, buf, size));
    case VIEW_ATTR_MADE: return make_text(t, a->make, buf, size);
    case VIEW_ATTR_STEP_TIME: return step_ns ? SINK_N(step_ns) : SINK_NONE;
    case VIEW_ATTR_STEP: return SINK_S(t->step->name);
    case VIEW_ATTR_AFTER: return step_ns ? SINK_N(step_ns - t->first_ns) : SINK_NONE;
    case VIEW_ATTR_STEP_TEXT: return make_text(t, t->step->make, buf, size);
    default: return number_at(t->header, a->at) == VIEW_UNKNOWN ? SINK_NONE : SINK_N(number_at(t->header, a->at));
    }
}

static void print_told(const struct told *t, const struct sink_table *table, const struct view_attr *attrs)
{
    struct sink_value cells[SINK_MAX_COLUMNS];
    char texts[SINK_MAX_COLUMNS][RECORD_TEXT_BYTES];

    for (int i = 0; i < table->ncolumns; i++)
        cells[i] = make_attr(t, &attrs[i], texts[i], sizeof texts[i]);
    sink_row(t->source->sink, table, cells);
}

void result_record(const struct result_source *s, const struct wire_header *header, size_t size)
{
    const struct view_record_kind *kind = view_record_kind(header->kind);
    struct told told = {s, header, NULL, 0};

    if (!kind || size < kind->bytes)
        return;
    if (!kind->nsteps)
        print_told(&told, &kind->sink, kind->attrs);
    for (size_t i = 0; i < kind->nsteps; i++) {
        told.step = &kind->steps[i];
        told.first_ns = told.first_ns ? told.first_ns : number_at(header, told.step->at);
        print_told(&told, &kind->sink, kind->attrs);
    }
}

/* ---- the slowest */

/* Adds those that are there by now; as many as are shown stay, the slowest first. */
static int gather_slowest(const struct result_source *s, enum view_slowest_id id,
                          struct result_reader *const readers[], size_t n)
{
    const struct view_slowest *slowest = view_slowest(id);
    struct result_kept fresh = {0};
    int err = s->slowest(s->ctx, id, &fresh);

    for (size_t i = 0; i < n && !err; i++) {
        struct result_kept *kept = &readers[i]->unread->slowest[id];

        if (readers[i]->wants != RESULT_ALL)
            continue;
        err = kept_add(kept, &fresh, slowest->record_bytes);
        kept_cut(kept, slowest, s->shown[id]);
    }
    kept_free(&fresh);
    return err;
}

static void print_slowest(const struct result_source *s, enum view_slowest_id id, const struct result_kept *kept)
{
    const struct view_slowest *slowest = view_slowest(id);

    for (size_t i = 0; i < kept->nrecords; i++)
        print_told(&(struct told){s, kept->records[i], NULL, 0}, &slowest->sink, slowest->attrs);
}

/* ---- results */

void result_forget(struct result_reader *r)
{
    for (size_t i = 0; r->unread && i < VIEW_NTABLES; i++)
        free_counted(&r->unread->tables[i]);
    for (size_t i = 0; r->unread && i < VIEW_NSLOWEST; i++)
        kept_free(&r->unread->slowest[i]);
    for (size_t i = 0; r->unread && i < VIEW_NOPENS; i++)
        open_free(&r->unread->open[i]);
    free(r->unread);
    r->unread = NULL;
}

int result_gather(const struct result_source *s, const bool on[VIEW_COUNT], struct result_reader *const readers[],
                  size_t n)
{
    struct open_list open[VIEW_NOPENS] = {{0}};
    int err = 0;

    for (size_t i = 0; i < n; i++) {
        if (!readers[i]->unread)
            readers[i]->unread = calloc(1, sizeof *readers[i]->unread);
        err = readers[i]->unread ? err : -ENOMEM;
    }
    err = err ? err : open_read(s, on, open);
    for (size_t i = 0; i < VIEW_NTABLES && !err; i++)
        if (on[view_table((enum view_table_id)i)->view])
            err = gather_table(s, view_table((enum view_table_id)i), i, readers, n);
    for (size_t i = 0; i < VIEW_NSLOWEST && !err; i++)
        if (s->slowest && on[view_slowest((enum view_slowest_id)i)->view])
            err = gather_slowest(s, (enum view_slowest_id)i, readers, n);
    err = err ? err : give_open(open, readers, n);
    for (size_t i = 0; i < VIEW_NOPENS; i++)
        open_free(&open[i]);
    return err;
}

static int print_view(const struct result_source *s, enum view_id view, struct result_unread *unread, bool headed)
{
    int err;

    if (headed)
        sink_heading(s->sink, views[view].name, views[view].text);
    err = print_blocks(s, unread, view);
    for (size_t i = 0; i < VIEW_NSLOWEST && !err; i++)
        if (view_slowest((enum view_slowest_id)i)->view == view)
            print_slowest(s, (enum view_slowest_id)i, &unread->slowest[i]);
    return err;
}

/* Those that are on, of people's views. */
static struct view_order order_of(const bool on[VIEW_COUNT])
{
    struct view_order order = {.n = 0};

    for (size_t v = 0; v < VIEW_COUNT; v++)
        if (on[v] && views[v].text)
            order.views[order.n++] = (enum view_id)v;
    return order;
}

int result_print(const struct result_source *s, const bool on[VIEW_COUNT], struct result_reader *r)
{
    struct view_order all = order_of(on);
    const struct view_order *order = s->order && s->order->n ? s->order : &all;
    int err = 0;

    for (size_t i = 0; i < order->n && !err; i++)
        if (on[order->views[i]])
            err = print_view(s, order->views[i], r->unread, order->n > 1);
    result_forget(r);
    return err;
}

/* The lines of a table, and what is left of the sum of all rows without them. */
static void visit_table(struct counted *c, const struct result_visitor *v)
{
    for (size_t i = 0; i < c->nlines; i++) {
        subtract_row(c->table, c->all, c->lines[i].row);
        v->row(v->ctx, c->table, c->lines[i].vm, c->lines[i].name, c->lines[i].row);
    }
    v->row(v->ctx, c->table, 0, NULL, c->all);
}

void result_visit(struct result_reader *r, const struct result_visitor *v)
{
    for (size_t i = 0; r->unread && i < VIEW_NTABLES; i++)
        if (r->unread->tables[i].table)
            visit_table(&r->unread->tables[i], v);
    for (size_t i = 0; r->unread && v->slow && i < VIEW_NSLOWEST; i++)
        for (size_t k = 0; k < r->unread->slowest[i].nrecords; k++)
            v->slow(v->ctx, (enum view_slowest_id)i, r->unread->slowest[i].records[k]);
    for (size_t i = 0; r->unread && v->open && i < VIEW_NOPENS; i++)
        for (size_t k = 0; k < r->unread->open[i].nvms; k++)
            v->open(v->ctx, (enum view_open_id)i, &r->unread->open[i].vms[k]);
    result_forget(r);
}

const uint64_t *result_sum(const struct result_reader *r, const struct view_table *table)
{
    for (size_t i = 0; r->unread && i < VIEW_NTABLES; i++)
        if (r->unread->tables[i].table == table)
            return r->unread->tables[i].all;
    return NULL;
}
