/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Erlang terms: a map and a full stop a line, which file:consult/1 and, line by line, erl_parse read. Members are those
 * of the JSON lines under the same names (see sink_jsonl.c), but that "time" and other moments are integers, as
 * erlang:system_time(nanosecond) says them; texts are UTF-8 binaries, "type" and "unit" atoms, and "slots" has tuples.
 */
#include <string.h>

#include "common/escape.h"
#include "event/hist.h"
#include "sink.h"

/* As an atom. Names are ours: lower case, digits and underscores. */
static void print_name(FILE *out, const char *name, const char *unit)
{
    static const char reserved[] =
        " after and andalso band begin bnot bor bsl bsr bxor case catch cond div else end fun "
        "if let maybe not of or orelse receive rem try when xor ";
    char word[64];
    const char *quote;

    snprintf(word, sizeof word, " %s%s ", name, unit);
    quote = strstr(reserved, word) ? "'" : "";
    fprintf(out, "%s%s%s%s", quote, name, unit, quote);
}

static void print_time(const struct sink *sink, uint64_t time_ns)
{
    fprintf(sink->out, "%llu", (unsigned long long)(time_ns + sink->wall_offset_ns));
}

static void open_map(struct sink *sink, const char *type, uint64_t time_ns)
{
    fputs("#{time => ", sink->out);
    print_time(sink, time_ns);
    fputs(", type => ", sink->out);
    print_name(sink->out, type, "");
    if (sink->sampled)
        fprintf(sink->out, ", sampled => <<\"1/%u\">>", sink->sampled);
}

static void print_member(struct sink *sink, const struct sink_column *column, const struct sink_value *v)
{
    char text[4096];

    if (v->kind == SINK_ABSENT || !strcmp(column->name, "time"))
        return; /* every map has its time */
    fputs(", ", sink->out);
    print_name(sink->out, column->name, sink_unit(column->type));
    fputs(" => ", sink->out);
    if (v->kind == SINK_STRING) {
        escape_erlang(text, sizeof text, v->text, sizeof text);
        fprintf(sink->out, "<<\"%s\"/utf8>>", text);
    } else if (v->kind == SINK_REAL) {
        fprintf(sink->out, "%.3f", v->real);
    } else if (column->type == SINK_TIME) {
        print_time(sink, v->number);
    } else {
        fprintf(sink->out, "%llu", (unsigned long long)v->number);
    }
}

static void print_row(struct sink *sink, const struct sink_table *table, const struct sink_value *values)
{
    open_map(sink, table->name, sink_row_time(sink, table, values));
    for (int i = 0; i < table->ncolumns; i++)
        print_member(sink, &table->columns[i], &values[i]);
    fputs("}.\n", sink->out);
}

static void print_hist(struct sink *sink, const char *name, const char *title, enum sink_type type,
                       const struct wire_hist *hist)
{
    const char *comma = "", *unit = sink_unit(type);

    (void)title;
    open_map(sink, name, sink->now_ns);
    fprintf(sink->out, ", unit => %s, count => %llu, sum%s => %llu, max%s => %llu", type == SINK_NS ? "ns" : "count",
            (unsigned long long)hist->count, unit, (unsigned long long)hist->sum, unit, (unsigned long long)hist->max);
#define PERCENTILE(share, text, name)                                                                                  \
    if (hist_has_percentile(hist, share))                                                                              \
        fprintf(sink->out, ", " name "%s => %llu", unit, (unsigned long long)hist_percentile(hist, share));
    HIST_PERCENTILES(PERCENTILE)
#undef PERCENTILE
    fputs(", slots => [", sink->out);
    for (int i = 0; i < WIRE_HIST_SLOTS; i++) {
        if (!hist->slots[i])
            continue;
        fprintf(sink->out, "%s{%llu, %llu, %llu}", comma, (unsigned long long)hist_slot_low(i),
                (unsigned long long)hist_slot_low(i + 1), (unsigned long long)hist->slots[i]);
        comma = ", ";
    }
    fputs("]}.\n", sink->out);
}

extern const struct sink_ops sink_terms_ops;
const struct sink_ops sink_terms_ops = {.for_programs = true, .row = print_row, .hist = print_hist};
