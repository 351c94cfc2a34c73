/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Histograms as text: a line a power of two, from the first to the last in which something was counted, one for several
 * that are empty, then percentiles, which are finer (struct wire_hist).
 */
#include <string.h>

#include "event/hist.h"
#include "sink.h"

enum { BAR_COLUMNS = 40, FOLDED_ROWS = 2 /* empty ones, one after the other: more are one */ };

static void format_bound(char *out, size_t size, enum sink_type type, uint64_t value)
{
    if (type == SINK_NS)
        sink_format_ns(out, size, value);
    else
        snprintf(out, size, "%llu", (unsigned long long)value);
}

/* Counts by power of two: [i] of 2^i <= v < 2^(i+1), [0] of 0 too. */
static void count_powers(const struct wire_hist *hist, uint64_t powers[64])
{
    memset(powers, 0, 64 * sizeof *powers);
    for (int i = 0; i < WIRE_HIST_SLOTS; i++) {
        uint64_t low = hist_slot_low(i);

        powers[low ? 63 - __builtin_clzll(low) : 0] += hist->slots[i];
    }
}

static void print_power(struct sink *sink, enum sink_type type, int slot, uint64_t count, uint64_t most)
{
    char low[32], high[32];
    int bar = (int)((double)count * BAR_COLUMNS / (double)most);

    format_bound(low, sizeof low, type, slot ? 1ull << slot : 0);
    format_bound(high, sizeof high, type, slot < 63 ? 2ull << slot : UINT64_MAX);
    fprintf(sink->out, "%9s .. %-9s %10llu |%.*s\n", low, high, (unsigned long long)count, bar,
            "****************************************");
}

static int count_empty(const uint64_t powers[64], int from, int last)
{
    int n = 0;

    while (from + n <= last && !powers[from + n])
        n++;
    return n;
}

static void print_percentile(struct sink *sink, enum sink_type type, const struct wire_hist *hist, double share,
                             const char *name)
{
    char text[32] = "-";

    if (hist_has_percentile(hist, share))
        format_bound(text, sizeof text, type, hist_percentile(hist, share));
    fprintf(sink->out, "%s %s, ", name, text);
}

struct sink_value sink_percentile(const struct wire_hist *hist, double share)
{
    return hist_has_percentile(hist, share) ? SINK_N(hist_percentile(hist, share)) : SINK_NONE;
}

void sink_hist_print(struct sink *sink, const char *name, const char *title, enum sink_type type,
                     const struct wire_hist *hist)
{
    int first = -1, last = 0;
    uint64_t most = 1, powers[64];
    char text[32];

    (void)name;
    count_powers(hist, powers);
    for (int i = 0; i < 64; i++) {
        if (!powers[i])
            continue;
        first = first < 0 ? i : first;
        last = i;
        most = powers[i] > most ? powers[i] : most;
    }
    fprintf(sink->out, "%s%s", sink->printed ? "\n" : "", title);
    if (sink->sampled)
        fprintf(sink->out, " (sampled 1/%u)", sink->sampled);
    fputc('\n', sink->out);
    for (int i = first; i >= 0 && i <= last; i++) {
        int empty = count_empty(powers, i, last);

        if (empty > FOLDED_ROWS) {
            fprintf(sink->out, "%13s\n", "...");
            i += empty - 1;
        } else {
            print_power(sink, type, i, powers[i], most);
        }
    }
#define PERCENTILE(share, text, name) print_percentile(sink, type, hist, share, text);
    HIST_PERCENTILES(PERCENTILE)
#undef PERCENTILE
    format_bound(text, sizeof text, type, hist->max);
    fprintf(sink->out, "max %s, ", text);
    format_bound(text, sizeof text, type, hist->count ? hist->sum / hist->count : 0);
    fprintf(sink->out, "mean %s, count %llu\n", text, (unsigned long long)hist->count);
    sink->headed = NULL;
    sink->printed = true;
}
