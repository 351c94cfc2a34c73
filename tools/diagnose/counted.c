/* SPDX-License-Identifier: Apache-2.0 */
/* Invariant: what is there was copied, so nothing points into the reader it came from. */
#include "counted.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/array.h"

enum { TEXT_BYTES = 1024 };

struct taking {
    struct counted *counted;
    const struct result_source *source;
};

static void take_row(void *ctx, const struct view_table *table, uint32_t vm, const char *name, uint64_t *row)
{
    struct counted *c = ((struct taking *)ctx)->counted;
    struct counted_table *to = NULL;
    struct counted_row copy;

    (void)vm;
    for (size_t i = 0; i < VIEW_NTABLES && !to; i++)
        to = view_table((enum view_table_id)i) == table ? &c->tables[i] : NULL;
    if (!name || !to) /* what is in no row has no owner that a finding could name */
        return;
    copy = (struct counted_row){strdup(name), malloc(table->row_bytes)};
    if (!copy.name || !copy.row || array_room((void **)&to->rows, to->n, &to->room, sizeof *to->rows)) {
        free(copy.name);
        free(copy.row);
        c->err = -ENOMEM;
        return;
    }
    memcpy(copy.row, row, table->row_bytes);
    to->rows[to->n++] = copy;
}

/* The text of a column of the slowest; "": there is no such column, or nothing is known. NULL: out of memory. */
static char *slow_text(const struct taking *t, const struct view_slowest *slowest, const void *record, const char *key)
{
    const struct view_namer namer = {t->source->name, t->source->ctx};
    const struct wire_header *header = record;
    char text[TEXT_BYTES] = "";

    for (const struct view_attr *a = slowest->attrs; a < slowest->attrs + slowest->sink.ncolumns; a++) {
        const struct wire_name *name = (const void *)((const char *)record + a->at);

        if (strcmp(a->key, key))
            continue;
        if (a->kind == VIEW_ATTR_MADE)
            a->make(text, sizeof text, record, &namer);
        else if (a->kind == VIEW_ATTR_OWNER && (name->form != WIRE_TEXT || *name->text))
            snprintf(text, sizeof text, "%s", t->source->name(t->source->ctx, header->vm, name));
    }
    return strdup(text);
}

static void free_slow(struct counted_slow *slow)
{
    free(slow->record);
    free(slow->owner);
    free(slow->what);
}

static void take_slow(void *ctx, enum view_slowest_id id, const void *record)
{
    const struct taking *t = ctx;
    const struct view_slowest *slowest = view_slowest(id);
    struct counted_slowest *to = &t->counted->slowest[id];
    struct counted_slow copy = {malloc(slowest->record_bytes), slow_text(t, slowest, record, "owner"),
                                slow_text(t, slowest, record, "server")};

    if (copy.what && !*copy.what) {
        free(copy.what);
        copy.what = slow_text(t, slowest, record, "what");
    }
    if (!copy.record || !copy.owner || !copy.what ||
        array_room((void **)&to->records, to->n, &to->room, sizeof *to->records)) {
        free_slow(&copy);
        t->counted->err = -ENOMEM;
        return;
    }
    memcpy(copy.record, record, slowest->record_bytes);
    to->records[to->n++] = copy;
}

int counted_take(struct counted *c, const struct result_source *source, struct result_reader *gathered)
{
    struct taking taking = {c, source};

    result_visit(gathered, &(struct result_visitor){.row = take_row, .slow = take_slow, .ctx = &taking});
    return c->err;
}

void counted_free(struct counted *c)
{
    for (size_t i = 0; i < VIEW_NTABLES; i++) {
        for (size_t k = 0; k < c->tables[i].n; k++) {
            free(c->tables[i].rows[k].name);
            free(c->tables[i].rows[k].row);
        }
        free(c->tables[i].rows);
    }
    for (size_t i = 0; i < VIEW_NSLOWEST; i++) {
        for (size_t k = 0; k < c->slowest[i].n; k++)
            free_slow(&c->slowest[i].records[k]);
        free(c->slowest[i].records);
    }
    *c = (struct counted){0};
}

/* ---- reading */

const void *counted_row(const struct counted *c, enum view_table_id table, size_t i, const char **name)
{
    if (!c || i >= c->tables[table].n)
        return NULL;
    if (name)
        *name = c->tables[table].rows[i].name;
    return c->tables[table].rows[i].row;
}

const void *counted_find(const struct counted *c, enum view_table_id table, const char *name)
{
    const char *is;
    const void *row;

    for (size_t i = 0; (row = counted_row(c, table, i, &is)); i++)
        if (!strcmp(is, name))
            return row;
    return NULL;
}

const void *counted_number(const struct counted *c, enum view_table_id table, uint64_t number)
{
    return counted_find(c, table, view_table(table)->number(number));
}

const struct counted_slow *counted_slow(const struct counted *c, enum view_slowest_id id, size_t i)
{
    return c && i < c->slowest[id].n ? &c->slowest[id].records[i] : NULL;
}

/* ---- needs */

bool counted_next_need(struct counted_need *need)
{
    const char *word = need->next + strspn(need->next, " ");
    size_t length = strcspn(word, " "), optional = length && word[length - 1] == '?';

    need->next = word + length;
    need->must = !optional;
    need->view = length ? view_find(word, length - optional) : VIEW_COUNT;
    return length > 0;
}

bool counted_serves(const struct counted *c, const char *needs, enum view_id *lacks)
{
    for (struct counted_need need = {.next = needs}; counted_next_need(&need);)
        if (need.must && !(c && c->told[need.view])) {
            if (lacks)
                *lacks = need.view;
            return false;
        }
    return true;
}
