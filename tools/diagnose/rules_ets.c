/* SPDX-License-Identifier: Apache-2.0 */
/* Rules about ETS tables. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

#include "common/term_text.h"
#include "findings.h"
#include "otp/names.h"
#include "sink/sink.h"

enum { LEAST_LOOKS = 8, SIZE_TEXT = 16, WORD = SNAPSHOT_WORD };

static const double LEAST_PER_S = 1e5, LEAST_BYTES = 1e6;

/* What became of a table while it was looked at. */
struct course {
    double seconds, bytes_more, bytes_per_s, bytes;
    char name[EVIDENCE_TEXT], owner[EVIDENCE_TEXT]; /* untrusted */
};

/* False: that is not known, or it hardly grew. */
static bool grew_much(const struct evidence *e, const struct evidence_table *t, struct course *c)
{
    c->seconds = (double)(e->last.ns - t->first_ns) / 1e9;
    if (t->looks < LEAST_LOOKS || !t->first.counted || !t->last.counted || c->seconds <= 0)
        return false;
    c->bytes = (double)t->last.words * WORD;
    c->bytes_more = c->bytes - (double)t->first.words * WORD;
    c->bytes_per_s = c->bytes_more / c->seconds;
    return c->bytes_more >= LEAST_BYTES && c->bytes_per_s >= LEAST_PER_S;
}

static void name_it(const struct evidence *e, const struct evidence_table *t, struct course *c)
{
    struct term_text text = {c->name, sizeof c->name, 0};

    term_text_atom(&text, names_atom(e->names, e->vm, t->last.name), t->last.name);
    evidence_name_of(e, t->last.owner, c->owner);
}

/* Of a table that is fixed what is deleted stays, and is counted as memory, but as no row. */
void find_table_fixed(const struct evidence *e, struct findings *out)
{
    for (const struct evidence_table *t = e->tables; t && findings_room(out, FINDING_table_fixed); t = t->hh.next) {
        char fixer[EVIDENCE_TEXT], per_s[SIZE_TEXT], size[SIZE_TEXT];
        struct course c;

        if (!grew_much(e, t, &c) || t->fixed * 10 < t->looks * 9 ||
            (double)t->last.rows > 1.1 * (double)t->first.rows + 1000)
            continue;
        name_it(e, t, &c);
        evidence_name_of(e, t->last.fixer, fixer);
        sink_format_size(per_s, sizeof per_s, (uint64_t)c.bytes_per_s);
        sink_format_size(size, sizeof size, (uint64_t)c.bytes);
        findings_add(out, FINDING_table_fixed,
                     findings_least(55 + 10 * findings_tens(c.bytes_per_s / LEAST_PER_S), 85), t->last.fixer, c.name,
                     "%s holds it fixed: with %" PRIu64 " rows it takes %s, %s more each second; its owner is %s",
                     t->last.fixer ? fixer : "somebody", t->last.rows, size, per_s, c.owner);
        findings_also(out, FINDING_table_fixed, t->last.fixer ? fixer : "");
    }
}

/* A cache that fills looks like one that nobody empties: it weighs when it has become much of the VM's memory. */
static double weight_of(const struct evidence *e, const struct course *c)
{
    double much = e->last.resident ? c->bytes / (double)e->last.resident : 0;

    if (c->bytes >= 256e6 && much >= 0.5)
        return 50 + findings_least(30 * much, 30);
    return findings_least(20 + 10 * findings_tens(c->bytes_per_s / LEAST_PER_S), 49);
}

void find_table_grows(const struct evidence *e, struct findings *out)
{
    for (const struct evidence_table *t = e->tables; t && findings_room(out, FINDING_table_grows); t = t->hh.next) {
        char per_s[SIZE_TEXT], size[SIZE_TEXT];
        struct course c;

        if (!grew_much(e, t, &c) || t->grew * 10 < t->looks * 8 || t->last.rows <= t->first.rows)
            continue;
        name_it(e, t, &c);
        sink_format_size(per_s, sizeof per_s, (uint64_t)c.bytes_per_s);
        sink_format_size(size, sizeof size, (uint64_t)c.bytes);
        findings_add(out, FINDING_table_grows, weight_of(e, &c), t->last.owner, c.name,
                     "%.0f rows and %s more each second; %" PRIu64 " rows, %s now; its owner is %s",
                     (double)(t->last.rows - t->first.rows) / c.seconds, per_s, t->last.rows, size, c.owner);
        findings_also(out, FINDING_table_grows, c.owner);
    }
}

/* ---- how many there are */

static int compare_ids(const void *a, const void *b)
{
    const ev_id *x = a, *y = b;

    return *x < *y ? -1 : *x > *y;
}

/* Who owns most of the tables that were made since the first look; `new`: how many those are. Fails: -ENOMEM. */
static int find_maker(const struct evidence *e, ev_id *maker, size_t *new)
{
    ev_id *owners = calloc(HASH_COUNT(e->tables) + 1, sizeof *owners);
    size_t n = 0, of_one = 0, most = 0;

    if (!owners)
        return -ENOMEM;
    for (const struct evidence_table *t = e->tables; t; t = t->hh.next)
        if (t->is_new)
            owners[n++] = t->last.owner;
    qsort(owners, n, sizeof *owners, compare_ids);
    for (size_t i = 0; i < n; i++) {
        of_one = i && owners[i] == owners[i - 1] ? of_one + 1 : 1;
        if (of_one > most) {
            most = of_one;
            *maker = owners[i];
        }
    }
    free(owners);
    *new = n;
    return 0;
}

void find_tables_leak(const struct evidence *e, struct findings *out)
{
    double net = (double)e->last.tables - (double)e->first.tables, per_s = net / evidence_seconds(e);
    char name[EVIDENCE_TEXT];
    ev_id maker = 0;
    size_t new;

    if (!e->first.has_tables || !e->last.has_tables || e->looks < LEAST_LOOKS || e->tables_grew * 2 < e->looks ||
        per_s < 1 || net < 20)
        return;
    out->err = find_maker(e, &maker, &new);
    if (!out->err)
        findings_add(out, FINDING_tables_leak, findings_least(50 + 10 * findings_tens(per_s), 80), maker,
                     maker ? evidence_name_of(e, maker, name) : "",
                     "%.0f tables more each second, %" PRIu64 " now; it owns most of the new ones", per_s,
                     e->last.tables);
}

void find_table_contended(const struct evidence *e, struct findings *out)
{
    enum { LEAST = 10 };

    for (const struct evidence_table *t = e->tables; t && findings_room(out, FINDING_table_contended);
         t = t->hh.next) {
        double part = e->contention.all ? (double)t->waits / (double)e->contention.all : 0;
        struct course c;

        if (t->waits < LEAST || part < 0.15)
            continue;
        name_it(e, t, &c);
        findings_add(out, FINDING_table_contended, findings_least(50 + 45 * part, 90), t->last.owner, c.name,
                     "in %.0f%% of %" PRIu64 " samples a scheduler waited for its lock; it was made with%s "
                     "write_concurrency; its owner is %s",
                     100 * part, e->contention.all, t->last.write_concurrency ? "" : "out", c.owner);
        findings_also(out, FINDING_table_contended, c.owner);
    }
}
