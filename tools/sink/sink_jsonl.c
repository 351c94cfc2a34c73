/* SPDX-License-Identifier: Apache-2.0 */
/*
 * JSON lines: one object a line. Every object has "time" (UTC, ISO 8601) and "type" (the table's or histogram's name).
 * A row has one member a column, its unit in the name: counts are integers, rates end in _per_s, durations in _ns,
 * shares in _percent, words of memory in _words; what is not known is left out. A histogram has "unit" ("ns" or
 * "count"), "count", "sum", "max" and the percentiles "p50", "p99", "p99_9" with the unit in their names as a row's
 * have, and "slots": triples [lower bound, bound that is not reached, count]. Losses are rows of type "lost".
 */
#include <string.h>

#include "common/escape.h"
#include "event/hist.h"
#include "sink.h"

static void open_object(struct sink *sink, const char *type, uint64_t time_ns)
{
    char time[64];

    sink_format_time(sink, time, sizeof time, time_ns, true);
    fprintf(sink->out, "{\"time\":\"%s\",\"type\":\"%s\"", time, type);
    if (sink->sampled)
        fprintf(sink->out, ",\"sampled\":\"1/%u\"", sink->sampled);
}

static void print_value(struct sink *sink, const struct sink_column *column, const struct sink_value *v)
{
    char text[4096];

    if (v->kind == SINK_ABSENT || !strcmp(column->name, "time"))
        return; /* every object has its time */
    fprintf(sink->out, ",\"%s%s\":", column->name, sink_unit(column->type));
    if (v->kind == SINK_STRING) {
        escape_json(text, sizeof text, v->text, sizeof text);
        fprintf(sink->out, "\"%s\"", text);
    } else if (v->kind == SINK_REAL) {
        fprintf(sink->out, "%.3f", v->real);
    } else if (column->type == SINK_TIME) {
        sink_format_time(sink, text, sizeof text, v->number, true);
        fprintf(sink->out, "\"%s\"", text);
    } else {
        fprintf(sink->out, "%llu", (unsigned long long)v->number);
    }
}

static void print_row(struct sink *sink, const struct sink_table *table,
                      const struct sink_value *values)
{
    open_object(sink, table->name, sink_row_time(sink, table, values));
    for (int i = 0; i < table->ncolumns; i++)
        print_value(sink, &table->columns[i], &values[i]);
    fputs("}\n", sink->out);
}

static void print_hist(struct sink *sink, const char *name, const char *title, enum sink_type type,
                       const struct wire_hist *hist)
{
    const char *comma = "", *unit = type == SINK_NS ? "_ns" : "";

    (void)title;
    open_object(sink, name, sink->now_ns);
    fprintf(sink->out, ",\"unit\":\"%s\",\"count\":%llu,\"sum%s\":%llu,\"max%s\":%llu",
            type == SINK_NS ? "ns" : "count", (unsigned long long)hist->count,
            unit, (unsigned long long)hist->sum, unit, (unsigned long long)hist->max);
#define PERCENTILE(share, text, name)                                                              \
    if (hist_has_percentile(hist, share))                                                          \
        fprintf(sink->out, ",\"" name "%s\":%llu", unit, (unsigned long long)hist_percentile(hist, share));
    HIST_PERCENTILES(PERCENTILE)
#undef PERCENTILE
    fputs(",\"slots\":[", sink->out);
    for (int i = 0; i < WIRE_HIST_SLOTS; i++) {
        if (!hist->slots[i])
            continue;
        fprintf(sink->out, "%s[%llu,%llu,%llu]", comma, (unsigned long long)hist_slot_low(i),
                (unsigned long long)hist_slot_low(i + 1), (unsigned long long)hist->slots[i]);
        comma = ",";
    }
    fputs("]}\n", sink->out);
}

extern const struct sink_ops sink_jsonl_ops;
const struct sink_ops sink_jsonl_ops = {.for_programs = true, .row = print_row, .hist = print_hist};
