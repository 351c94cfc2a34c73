/* SPDX-License-Identifier: Apache-2.0 */
#include "when.h"

#include <stdio.h>
#include <string.h>

#include "common/fail.h"
#include "common/options.h"
#include "event/hist.h"

bool when_is_value(enum view_kind kind)
{
    return kind == VIEW_COUNTER || kind == VIEW_P50 || kind == VIEW_P99 || kind == VIEW_P999 || kind == VIEW_MAX ||
           kind == VIEW_COUNTED;
}

static const struct view_column *find_column(enum view_id view, const char *key)
{
    for (size_t i = 0; i < view_ncolumns; i++)
        if (view_table(view_columns[i].table)->view == view && when_is_value(view_columns[i].kind) &&
            !strcmp(view_columns[i].key, key))
            return &view_columns[i];
    return NULL;
}

static bool is_time(const struct view_column *c)
{
    return c->unit == VIEW_UNIT_NS && c->kind != VIEW_COUNTED;
}

int when_parse(const char *text, struct when *out)
{
    char view[32], key[32], sign[2], limit[32];
    int end = 0;

    *out = (struct when){.text = text};
    if (sscanf(text, " %31[a-z_].%31[a-z0-9_] %1[<>] %31s %n", view, key, sign, limit, &end) != 4 || text[end])
        return fail(FAIL_USAGE, "--when must be VIEW.COLUMN > VALUE, such as 'msglat.p99 > 50ms', not '%s'", text);
    out->view = view_find(view, strlen(view));
    out->column = out->view == VIEW_COUNT ? NULL : find_column(out->view, key);
    if (!out->column)
        return fail(FAIL_USAGE, "--when: no view has a column '%s.%s'", view, key);
    out->above = *sign == '>';
    return is_time(out->column) ? options_ns("--when: the value", limit, &out->limit)
                                : options_number("--when: the value", limit, 0, UINT64_MAX / 2, &out->limit);
}

bool when_value(const struct view_column *c, const uint64_t *row, uint64_t *out)
{
    static const struct {
        enum view_kind kind;
        double share;
    } shares[] = {{VIEW_P50, 0.5}, {VIEW_P99, 0.99}, {VIEW_P999, 0.999}};
    const struct wire_hist *hist = (const struct wire_hist *)(row + c->at / sizeof *row);

    for (size_t i = 0; i < sizeof shares / sizeof *shares; i++) {
        if (c->kind != shares[i].kind)
            continue;
        *out = hist_percentile(hist, shares[i].share);
        return hist_has_percentile(hist, shares[i].share);
    }
    *out = c->kind == VIEW_MAX ? hist->max : c->kind == VIEW_COUNTED ? hist->count : row[c->at / sizeof *row];
    return c->kind != VIEW_MAX || hist->count;
}

bool when_look(struct when *w, struct result_reader *reader)
{
    const uint64_t *sum = result_sum(reader, view_table(w->column->table));
    bool before = w->met;

    w->met = sum && when_value(w->column, sum, &w->value) &&
             (w->above ? w->value > w->limit : w->value < w->limit);
    result_forget(reader);
    return w->met && !before;
}

void when_tell(const struct when *w)
{
    char value[32];

    if (is_time(w->column))
        sink_format_ns(value, sizeof value, w->value);
    else
        snprintf(value, sizeof value, "%llu", (unsigned long long)w->value);
    note("%s: %s", w->text, value);
}
