/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Source: OpenMetrics 1.0; Prometheus, exposition formats, text-based format 0.0.4.
 * Invariant: whatever labels hold, a line stays a line and a label one label.
 */
#include "sink_openmetrics.h"

#include <string.h>

#include "common/escape.h"
#include "event/hist.h"

static const struct {
    const char *name;
    int buckets, first; /* bounds: 2^first, 2^(first + 1) ...; and one bucket without */
} units[] = {[OPENMETRICS_ONE] = {"", 26, 0},
             [OPENMETRICS_NS] = {"seconds", OPENMETRICS_BUCKETS, 10},
             [OPENMETRICS_WORDS] = {"bytes", 26, 0},
             [OPENMETRICS_BYTES] = {"bytes", 26, 0},
             [OPENMETRICS_BILLIONTHS] = {"ratio", 0, 0}};

static const struct {
    const char *name, *old_name; /* old_name: in the format 0.0.4 */
    const char *suffix;          /* of a series */
} types[] = {[OPENMETRICS_COUNTER] = {"counter", "counter", "_total"},
             [OPENMETRICS_GAUGE] = {"gauge", "gauge", ""},
             [OPENMETRICS_HISTOGRAM] = {"histogram", "histogram", ""},
             [OPENMETRICS_INFO] = {"info", "gauge", "_info"}};

/* ---- numbers */

/* Exactly, with a point. */
static void print_billionths(FILE *out, uint64_t value)
{
    char text[32];
    size_t used = (size_t)snprintf(text, sizeof text, "%llu.%09u", (unsigned long long)(value / 1000000000u),
                                   (unsigned)(value % 1000000000u));

    while (text[used - 1] == '0' && text[used - 2] != '.')
        text[--used] = '\0';
    fputs(text, out);
}

static bool is_decimal(enum openmetrics_unit unit)
{
    return unit == OPENMETRICS_NS || unit == OPENMETRICS_BILLIONTHS;
}

static void print_number(FILE *out, enum openmetrics_unit unit, uint64_t value)
{
    if (is_decimal(unit))
        print_billionths(out, value);
    else
        fprintf(out, "%llu", (unsigned long long)(unit == OPENMETRICS_WORDS ? 8 * value : value));
}

/*
 * The bound of a bucket of all values below 2^k. Times are whole nanoseconds of what has no steps: all below is all up
 * to it. Other numbers have steps, and the greatest one below is 2^k - 1. A bound has a point, as OpenMetrics writes
 * it.
 */
static void print_bound(FILE *out, enum openmetrics_unit unit, int power)
{
    uint64_t end = 1ull << power;

    print_number(out, unit, unit == OPENMETRICS_NS ? end : end - 1);
    if (!is_decimal(unit))
        fputs(".0", out);
}

/* ---- families and labels */

static void print_name(struct openmetrics *om)
{
    const char *unit = units[om->family->unit].name;

    fprintf(om->out, "%s%s%s", om->family->name, *unit ? "_" : "", unit);
}

static void print_about(struct openmetrics *om, const char *what, const char *text)
{
    fprintf(om->out, "# %s ", what);
    print_name(om);
    fprintf(om->out, "%s %s\n", om->prometheus ? types[om->family->type].suffix : "", text);
}

void openmetrics_family(struct openmetrics *om, const struct openmetrics_family *family)
{
    om->family = family;
    print_about(om, "TYPE", om->prometheus ? types[family->type].old_name : types[family->type].name);
    if (!om->prometheus && *units[family->unit].name)
        print_about(om, "UNIT", units[family->unit].name);
    print_about(om, "HELP", family->help);
}

void openmetrics_text(char out[OPENMETRICS_LABEL_BYTES], const char *untrusted)
{
    escape_text(out, OPENMETRICS_LABEL_BYTES, untrusted, strlen(untrusted));
}

void openmetrics_label(char labels[OPENMETRICS_LABELS_BYTES], const char *name, const char *untrusted)
{
    char text[OPENMETRICS_LABEL_BYTES];
    size_t used = strlen(labels);

    openmetrics_text(text, untrusted);
    if (used + strlen(name) + 2 * strlen(text) + sizeof ",=\"\"" > OPENMETRICS_LABELS_BYTES)
        return;
    used += (size_t)sprintf(labels + used, "%s%s=\"", used ? "," : "", name);
    for (const char *at = text; *at; at++) {
        if (*at == '"' || *at == '\\')
            labels[used++] = '\\';
        labels[used++] = *at;
    }
    strcpy(labels + used, "\"");
}

/* ---- series */

static void print_series(struct openmetrics *om, const char *suffix, const char *labels)
{
    print_name(om);
    fputs(suffix, om->out);
    if (*labels)
        fprintf(om->out, "{%s}", labels);
    fputc(' ', om->out);
}

static void print_created(struct openmetrics *om, const char *labels, uint64_t created_ns)
{
    if (om->prometheus || !created_ns)
        return;
    print_series(om, "_created", labels);
    print_billionths(om->out, created_ns);
    fputc('\n', om->out);
}

void openmetrics_value(struct openmetrics *om, const char *labels, uint64_t value, uint64_t created_ns)
{
    print_series(om, types[om->family->type].suffix, labels);
    print_number(om->out, om->family->unit, value);
    fputc('\n', om->out);
    if (om->family->type == OPENMETRICS_COUNTER)
        print_created(om, labels, created_ns);
}

size_t openmetrics_bucket(enum openmetrics_unit unit, uint64_t value)
{
    int power = value ? 64 - __builtin_clzll(value) : 0, bucket = power - units[unit].first;

    return (size_t)(bucket < 0 ? 0 : bucket < units[unit].buckets ? bucket : units[unit].buckets - 1);
}

static void print_exemplar(struct openmetrics *om, const struct openmetrics_exemplar *exemplar)
{
    if (om->prometheus || !exemplar || !exemplar->value)
        return;
    fprintf(om->out, " # {pid=\"%s\"} ", exemplar->pid);
    print_number(om->out, om->family->unit, exemplar->value);
    fputc(' ', om->out);
    print_billionths(om->out, exemplar->time_ns);
}

static void print_bucket(struct openmetrics *om, const char *labels, int bucket, uint64_t count,
                         const struct openmetrics_exemplar *exemplar)
{
    enum openmetrics_unit unit = om->family->unit;

    print_name(om);
    fprintf(om->out, "_bucket{%s%sle=\"", labels, *labels ? "," : "");
    if (bucket == units[unit].buckets - 1)
        fputs("+Inf", om->out);
    else
        print_bound(om->out, unit, units[unit].first + bucket);
    fprintf(om->out, "\"} %llu", (unsigned long long)count);
    print_exemplar(om, exemplar);
    fputc('\n', om->out);
}

void openmetrics_hist(struct openmetrics *om, const char *labels, const struct wire_hist *hist,
                      const struct openmetrics_exemplar *exemplars, uint64_t created_ns)
{
    int buckets = units[om->family->unit].buckets, slot = 0;
    uint64_t count = 0;

    for (int i = 0; i < buckets; i++) {
        uint64_t end = i == buckets - 1 ? UINT64_MAX : 1ull << (units[om->family->unit].first + i);

        for (; slot < WIRE_HIST_SLOTS && hist_slot_low(slot) < end; slot++)
            count += hist->slots[slot];
        print_bucket(om, labels, i, count, exemplars ? &exemplars[i] : NULL);
    }
    print_series(om, "_count", labels);
    fprintf(om->out, "%llu\n", (unsigned long long)count);
    print_series(om, "_sum", labels);
    print_number(om->out, om->family->unit, hist->sum);
    fputc('\n', om->out);
    print_created(om, labels, created_ns);
}

void openmetrics_end(struct openmetrics *om)
{
    if (!om->prometheus)
        fputs("# EOF\n", om->out);
}
