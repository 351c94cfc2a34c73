/* SPDX-License-Identifier: Apache-2.0 */
/* Invariant: nothing is printed but through the sink's operations; lines leave whole, though the target prints to the
 * same file. */
#include "sink.h"

#include <errno.h>
#include <stdio_ext.h>
#include <string.h>
#include <time.h>

#include "common/clock.h"
#include "common/fail.h"

enum { BUFFER_BYTES = 1 << 16 };

#define SINK(stem, option, text) extern const struct sink_ops sink_##stem##_ops;
#include "common/sinks.def"

void sink_init(struct sink *sink, FILE *out, enum options_form form, bool timestamps)
{
    static const struct sink_ops *const sinks[OPTIONS_FORMS] = {
#define SINK(stem, option, text) &sink_##stem##_ops,
#include "common/sinks.def"
    };

    setvbuf(out, NULL, _IOFBF, BUFFER_BYTES);
    *sink = (struct sink){.ops = sinks[form], .out = out, .timestamps = timestamps};
    sink->now_ns = clock_ns(CLOCK_MONOTONIC);
    sink->wall_offset_ns = clock_ns(CLOCK_REALTIME) - sink->now_ns;
}

void sink_moment(struct sink *sink, uint64_t now_ns)
{
    sink->now_ns = now_ns;
    if (sink->ops->moment)
        sink->ops->moment(sink);
}

void sink_sample(struct sink *sink, unsigned sampled)
{
    if (sampled == sink->sampled)
        return;
    if (sink->ops->flush)
        sink->ops->flush(sink);
    sink->headed = NULL;
    sink->sampled = sampled;
}

void sink_heading(struct sink *sink, const char *name, const char *text)
{
    if (sink->ops->heading)
        sink->ops->heading(sink, name, text);
}

void sink_row(struct sink *sink, const struct sink_table *table, const struct sink_value *values)
{
    sink->ops->row(sink, table, values);
    if (__fpending(sink->out) > BUFFER_BYTES / 2)
        fflush(sink->out);
}

void sink_hist(struct sink *sink, const char *name, const char *title, enum sink_type type,
               const struct wire_hist *hist)
{
    if (hist->count)
        sink->ops->hist(sink, name, title, type, hist);
}

void sink_lost(struct sink *sink, uint64_t count, const char *why)
{
    static const struct sink_column columns[] = {{"count", "LOST", SINK_COUNT, 0}, {"why", "WHY", SINK_TEXT, -1}};
    static const struct sink_table table = {"lost", NULL, columns, 2};

    if (count)
        sink_row(sink, &table, (struct sink_value[]){SINK_N(count), SINK_S(why)});
}

int sink_flush(struct sink *sink)
{
    if (sink->ops->flush)
        sink->ops->flush(sink);
    errno = 0;
    if (fflush(sink->out) || ferror(sink->out))
        return errno ? -errno : -EIO;
    return 0;
}

int sink_end(struct sink *sink)
{
    int err = sink_flush(sink);

    return !err || err == -EPIPE ? 0 : fail(err, "cannot write results: %s", strerror(-err));
}

const char *sink_unit(enum sink_type type)
{
    static const char *const units[] = {[SINK_TEXT] = "", [SINK_COUNT] = "", [SINK_PERCENT] = "_percent",
                                        [SINK_RATE] = "_per_s", [SINK_NS] = "_ns", [SINK_WORDS] = "_words",
                                        [SINK_BYTES] = "_bytes", [SINK_SIZE] = "_bytes", [SINK_TIME] = ""};

    return units[type];
}

uint64_t sink_row_time(const struct sink *sink, const struct sink_table *table, const struct sink_value *values)
{
    for (int i = 0; i < table->ncolumns; i++)
        if (values[i].kind == SINK_NUMBER && !strcmp(table->columns[i].name, "time"))
            return values[i].number;
    return sink->now_ns;
}

/* Three digits of a number of that many of the smallest unit; of the largest as many as it has. */
static void format_scaled(char *out, size_t size, uint64_t number, const char *const units[], size_t nunits)
{
    double value = (double)number;
    size_t i = 0;

    for (; value >= 1000 && i + 1 < nunits; i++)
        value /= 1000;
    if (!i)
        snprintf(out, size, "%u %s", (unsigned)number, units[0]);
    else
        snprintf(out, size, value < 10 ? "%.2f %s" : value < 100 ? "%.1f %s" : "%.0f %s", value, units[i]);
}

void sink_format_ns(char *out, size_t size, uint64_t ns)
{
    static const char *const units[] = {"ns", "us", "ms", "s"};

    format_scaled(out, size, ns, units, sizeof units / sizeof *units);
}

void sink_format_size(char *out, size_t size, uint64_t bytes)
{
    static const char *const units[] = {"B", "kB", "MB", "GB", "TB", "PB", "EB"};

    format_scaled(out, size, bytes, units, sizeof units / sizeof *units);
}

void sink_format_time(const struct sink *sink, char *out, size_t size, uint64_t ns, bool iso)
{
    uint64_t wall = ns + sink->wall_offset_ns;
    time_t seconds = (time_t)(wall / 1000000000u);
    struct tm tm;
    size_t used;

    if (iso)
        gmtime_r(&seconds, &tm);
    else
        localtime_r(&seconds, &tm);
    used = strftime(out, size, iso ? "%Y-%m-%dT%H:%M:%S" : "%H:%M:%S", &tm);
    snprintf(out + used, size - used, ".%06u%s", (unsigned)(wall % 1000000000u / 1000),
             iso ? "Z" : "");
}
