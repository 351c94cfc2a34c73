/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Power-of-two histograms as text: a line a slot from the first to the last that counted,
 * then percentiles.
 */
#include <string.h>

#include "hist.h"
#include "sink.h"

enum { BAR_COLUMNS = 40 };

static void format_bound(char *out, size_t size, enum sink_type type, uint64_t value)
{
    if (type == SINK_NS)
        sink_format_ns(out, size, value);
    else
        snprintf(out, size, "%llu", (unsigned long long)value);
}

static void print_slot(struct sink *sink, enum sink_type type, int slot, uint64_t count, uint64_t most)
{
    char low[32], high[32];
    int bar = (int)((double)count * BAR_COLUMNS / (double)most);

    format_bound(low, sizeof low, type, slot ? 1ull << slot : 0);
    format_bound(high, sizeof high, type, slot < 63 ? 2ull << slot : UINT64_MAX);
    fprintf(sink->out, "%9s .. %-9s %10llu |%.*s\n", low, high, (unsigned long long)count, bar,
            "****************************************");
}

void sink_hist_print(struct sink *sink, const char *name, const char *title, enum sink_type type,
                     const struct wire_hist *hist)
{
    static const double shares[] = {0.5, 0.99, 0.999};
    int first = -1, last = 0;
    uint64_t most = 1;
    char text[32];

    (void)name;
    for (int i = 0; i < WIRE_HIST_SLOTS; i++) {
        if (!hist->slots[i])
            continue;
        first = first < 0 ? i : first;
        last = i;
        most = hist->slots[i] > most ? hist->slots[i] : most;
    }
    fprintf(sink->out, "%s%s\n", sink->printed ? "\n" : "", title);
    for (int i = first; i >= 0 && i <= last; i++)
        print_slot(sink, type, i, hist->slots[i], most);
    for (size_t i = 0; i < sizeof shares / sizeof *shares; i++) {
        format_bound(text, sizeof text, type, hist_percentile(hist, shares[i]));
        fprintf(sink->out, "p%g %s, ", shares[i] * 100, text);
    }
    format_bound(text, sizeof text, type, hist->max);
    fprintf(sink->out, "max %s, ", text);
    format_bound(text, sizeof text, type, hist->count ? hist->sum / hist->count : 0);
    fprintf(sink->out, "mean %s, count %llu\n", text, (unsigned long long)hist->count);
    sink->headed = NULL;
    sink->printed = true;
}
