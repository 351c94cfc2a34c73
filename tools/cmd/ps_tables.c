/* SPDX-License-Identifier: Apache-2.0 */
/* Invariant: what cannot be had is absent, and one line says why; it is never told as 0. */
#include "ps_tables.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/array.h"
#include "common/term_text.h"
#include "otp/names.h"
#include "otp/snapshot_memory.h"
#include "otp/snapshot_tables.h"
#include "otp/snapshot_terms.h"
#include "target/target.h"

enum { ATOM_BYTES = 2200 };

static const char *atom_text(const struct inspected *vm, uint64_t atom, char buf[ATOM_BYTES])
{
    struct term_text text = {buf, ATOM_BYTES, 0};

    buf[0] = '\0';
    term_text_atom(&text, names_atom(vm->names, vm->pid, atom), atom);
    return buf;
}

/* ---- ETS */

struct tables {
    struct snapshot_table_info *all;
    size_t n, room;
    struct ps_known owners;
};

static int take_table(void *ctx, const struct snapshot_table_info *table)
{
    struct tables *t = ctx;
    int err = array_room((void **)&t->all, t->n, &t->room, sizeof *t->all);

    if (err)
        return err;
    t->all[t->n++] = *table;
    return 0;
}

/* The largest first, then by name; those whose size is not known, last. */
static int compare_tables(const void *a, const void *b)
{
    const struct snapshot_table_info *x = a, *y = b;
    uint64_t keys[][2] = {{y->words, x->words}, {x->name, y->name}, {x->address, y->address}};

    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
        if (keys[i][0] != keys[i][1])
            return keys[i][0] < keys[i][1] ? -1 : 1;
    return 0;
}

static const char *const type_texts[] = {[SNAPSHOT_SET] = "set",
                                         [SNAPSHOT_ORDERED_SET] = "ordered_set",
                                         [SNAPSHOT_BAG] = "bag",
                                         [SNAPSHOT_DUPLICATE_BAG] = "duplicate_bag"};
static const char *const protection_texts[] = {
    [SNAPSHOT_PUBLIC] = "public", [SNAPSHOT_PROTECTED] = "protected", [SNAPSHOT_PRIVATE] = "private"};

/* What is not as ets:new/2 makes it when nothing else is asked for; and who holds it fixed. */
static void options_text(const struct snapshot_table_info *table, char *buf, size_t size)
{
    struct term_text text = {buf, size, 0};
    char pid[SNAPSHOT_PID_BYTES];
    const struct {
        bool is;
        const char *what;
    } rows[] = {
        {table->read_concurrency, "read_concurrency"},
        {table->write_concurrency && !table->auto_concurrency, "write_concurrency"},
        {table->auto_concurrency, "write_concurrency auto"},
        {table->compressed, "compressed"},
    };

    buf[0] = '\0';
    if (table->key != 1)
        term_text_add(&text, "keypos %u", table->key);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (rows[i].is)
            term_text_add(&text, "%s%s", *buf ? ", " : "", rows[i].what);
    if (table->heir)
        term_text_add(&text, "%sheir %s", *buf ? ", " : "", snapshot_pid_text(table->heir, pid));
    if (table->fixed)
        term_text_add(&text, "%sfixed %" PRIu64 " times%s%s", *buf ? ", " : "", table->fixed,
                      table->fixer ? " by " : "", snapshot_pid_text(table->fixer, pid));
}

static const struct sink_column people_columns[] = {
    {"name", "NAME", SINK_TEXT, 14},  {"owner", "OWNER", SINK_TEXT, 12}, {"type", "TYPE", SINK_TEXT, 0},
    {"rows", "ROWS", SINK_COUNT, 8},  {"words", "MEMORY", SINK_SIZE, 7}, {"protection", "ACCESS", SINK_TEXT, 9},
    {"options", "OPTIONS", SINK_TEXT, SINK_FOLDED}};
static const struct sink_table people = {"ets_table", NULL, people_columns, 7};

/* Those that are not shown, for people: the sums of what is known. */
static void print_others(const struct tables *t, size_t shown, struct sink *sink)
{
    uint64_t rows = 0, words = 0;
    char many[32];

    for (size_t i = shown; i < t->n; i++) {
        rows += t->all[i].counted ? t->all[i].rows : 0;
        words += t->all[i].counted ? t->all[i].words : 0;
    }
    snprintf(many, sizeof many, "%zu tables", t->n - shown);
    sink_row(sink, &people,
             (struct sink_value[]){SINK_S("(other)"), SINK_S(many), SINK_NONE, SINK_N(rows),
                                   SINK_N(words * SNAPSHOT_WORD), SINK_NONE, SINK_S("")});
}

static void print_table(const struct inspected *vm, const struct tables *t, const struct snapshot_table_info *table,
                        struct sink *sink)
{
    static const struct sink_column whole_columns[] = {
        {"vm", NULL, SINK_COUNT, 0},        {"name", NULL, SINK_TEXT, 0},      {"reference", NULL, SINK_TEXT, 0},
        {"named", NULL, SINK_TEXT, 0},      {"process", NULL, SINK_TEXT, 0},   {"owner", NULL, SINK_TEXT, 0},
        {"type", NULL, SINK_TEXT, 0},       {"rows", NULL, SINK_COUNT, 0},     {"memory", NULL, SINK_WORDS, 0},
        {"protection", NULL, SINK_TEXT, 0}, {"keypos", NULL, SINK_COUNT, 0},   {"options", NULL, SINK_TEXT, 0},
        {"fixed", NULL, SINK_COUNT, 0},     {"fixed_by", NULL, SINK_TEXT, 0}};
    static const struct sink_table programs = {"ets_table", NULL, whole_columns, 14};
    char name[ATOM_BYTES], reference[64], owner[PS_NAME_BYTES], pid[SNAPSHOT_PID_BYTES], options[256];
    char fixer[SNAPSHOT_PID_BYTES], shown[ATOM_BYTES + 80];

    atom_text(vm, table->name, name);
    snapshot_reference_text(table->numbers, reference, sizeof reference);
    ps_known_name(vm, &t->owners, table->owner, owner);
    snapshot_pid_text(table->owner, pid);
    options_text(table, options, sizeof options);
    if (sink->ops->for_programs) {
        sink_row(sink, &programs,
                 (struct sink_value[]){SINK_N(vm->pid), SINK_S(name), SINK_S(reference),
                                       SINK_S(table->named ? "true" : "false"), sink_text(pid), sink_text(owner),
                                       SINK_S(type_texts[table->type]),
                                       table->counted ? SINK_N(table->rows) : SINK_NONE,
                                       table->counted ? SINK_N(table->words) : SINK_NONE,
                                       SINK_S(protection_texts[table->protection]), SINK_N(table->key),
                                       sink_text(options), SINK_N(table->fixed),
                                       sink_text(snapshot_pid_text(table->fixer, fixer))});
        return;
    }
    snprintf(shown, sizeof shown, table->named ? "%s" : "%s %s", name, reference);
    sink_row(sink, &people,
             (struct sink_value[]){SINK_S(shown), owner[0] ? SINK_S(owner) : sink_text(pid),
                                   SINK_S(type_texts[table->type]), table->counted ? SINK_N(table->rows) : SINK_NONE,
                                   table->counted ? SINK_N(table->words * SNAPSHOT_WORD) : SINK_NONE,
                                   SINK_S(protection_texts[table->protection]), SINK_S(options)});
}

static void print_tables(const struct inspected *vm, struct tables *t, size_t top, struct sink *sink)
{
    size_t n = top && top < t->n ? top : t->n;
    uint64_t uncounted = 0;

    for (size_t i = 0; i < n; i++)
        print_table(vm, t, &t->all[i], sink);
    for (size_t i = 0; i < t->n; i++)
        uncounted += !t->all[i].counted;
    if (n < t->n && !sink->ops->for_programs)
        print_others(t, n, sink);
    sink_lost(sink, uncounted, "of these count rows and words for each scheduler in a way that is not known");
}

int ps_ets_print(const struct inspected *vm, size_t top, struct sink *sink)
{
    struct tables t = {0};
    struct snapshot_count count;
    int err = snapshot_tables(vm->snapshot, take_table, &t, &count);

    if (!err && t.n) {
        qsort(t.all, t.n, sizeof *t.all, compare_tables);
        for (size_t i = 0; !err && i < t.n && (!top || i < top); i++)
            err = ps_known_add(&t.owners, t.all[i].owner);
    }
    if (!err) {
        ps_known_find(&t.owners, vm);
        print_tables(vm, &t, top, sink);
        sink_lost(sink, count.gone, "tables came or went while they were read");
        sink_lost(sink, count.unclear, "tables whose memory makes no sense");
    }
    free(t.all);
    ps_known_end(&t.owners);
    return err;
}

/* ---- memory */

/* Rows that are told of memory beside what erlang:memory/0 says. */
struct held {
    uint64_t heaps, binaries;
};

static int add_held(void *ctx, const struct snapshot_process *is)
{
    struct held *held = ctx;

    held->heaps += snapshot_memory_bytes(is);
    held->binaries += snapshot_binary_bytes(is);
    return 0;
}

static int add_words(void *ctx, const struct snapshot_table_info *table)
{
    *(uint64_t *)ctx += table->words * SNAPSHOT_WORD;
    return 0;
}

static void print_memory(const struct inspected *vm, const char *kind, bool has, uint64_t bytes, const char *note,
                         struct sink *sink)
{
    static const struct sink_column columns[] = {
        {"kind", "MEMORY", SINK_TEXT, 14}, {"bytes", "BYTES", SINK_SIZE, 8}, {"note", "WHAT IT IS", SINK_TEXT, -1}};
    static const struct sink_column whole_columns[] = {{"vm", NULL, SINK_COUNT, 0},
                                                       {"kind", NULL, SINK_TEXT, 0},
                                                       {"size", NULL, SINK_BYTES, 0},
                                                       {"note", NULL, SINK_TEXT, 0}};
    static const struct sink_table people = {"vm_memory", NULL, columns, 3},
                                   programs = {"vm_memory", NULL, whole_columns, 4};
    struct sink_value values[] = {SINK_N(vm->pid), SINK_S(kind), has ? SINK_N(bytes) : SINK_NONE, sink_text(note)};
    bool whole = sink->ops->for_programs;

    sink_row(sink, whole ? &programs : &people, whole ? values : values + 1);
}

/* Why one is missing stands beside the first that is. */
static void print_counted(const struct inspected *vm, const struct snapshot_memory *memory, struct sink *sink)
{
    const char *why = memory->why ? memory->why : "it cannot be read";

    for (int kind = 0; kind < SNAPSHOT_MEMORY_KINDS; kind++) {
        const char *lacks = memory->lacks[kind];
        char note[96];

        if (memory->has[kind])
            snprintf(note, sizeof note, "as erlang:memory/0%s%s", lacks ? ", " : "", lacks ? lacks : "");
        else
            snprintf(note, sizeof note, "%s", why);
        print_memory(vm, snapshot_memory_text((enum snapshot_memory_kind)kind), memory->has[kind], memory->bytes[kind],
                     note, sink);
        if (!memory->has[kind])
            why = "";
    }
}

int ps_memory_print(const struct inspected *vm, struct sink *sink)
{
    struct snapshot_memory memory;
    struct held held = {0};
    uint64_t tables = 0, resident = vm->core ? 0 : target_resident_bytes((int)vm->pid);
    int err = snapshot_processes(vm->snapshot, add_held, &held, NULL), tables_err;

    if (err)
        return err;
    tables_err = snapshot_tables(vm->snapshot, add_words, &tables, NULL);
    snapshot_memory(vm->snapshot, &memory);
    print_counted(vm, &memory, sink);
    print_memory(vm, "heaps", true, held.heaps, "of all processes, stacks too, as ps has them", sink);
    print_memory(vm, "held binaries", true, held.binaries, "held by processes, each as often as it is held", sink);
    print_memory(vm, "ETS tables", !tables_err, tables,
                 tables_err ? "they cannot be read" : "all of them, as ps --ets has them", sink);
    print_memory(vm, "resident", resident != 0, resident,
                 resident   ? "in memory, as the kernel has it"
                 : vm->core ? "a core file does not say"
                            : "the kernel does not say",
                 sink);
    return 0;
}

/* ---- atoms */

/* Atoms are never taken back: fewer than before are of a memory that lies. Returns how many are new. */
static uint64_t print_atom_sum(const struct inspected *vm, uint64_t count, uint64_t limit, struct ps_atoms *before,
                               struct sink *sink)
{
    static const struct sink_column columns[] = {
        {"vm", "VM", SINK_COUNT, 7}, {"atoms", "ATOMS", SINK_COUNT, 8},  {"atom_limit", "LIMIT", SINK_COUNT, 8},
        {"new", "NEW", SINK_COUNT, 8}, {"new", "PER S", SINK_RATE, 10}, {"days_left", "DAYS LEFT", SINK_COUNT, 10}};
    static const struct sink_table now = {"vm_atoms", NULL, columns, 3}, again = {"vm_atoms", NULL, columns, 6};
    uint64_t more = before->ns && count > before->count ? count - before->count : 0;
    double seconds = before->ns ? (double)(sink->now_ns - before->ns) / 1e9 : 0;
    double per_s = seconds > 0 ? (double)more / seconds : 0;
    struct sink_value values[] = {SINK_N(vm->pid), SINK_N(count), SINK_N(limit), SINK_NONE, SINK_NONE, SINK_NONE};

    if (seconds > 0) {
        values[3] = SINK_N(more);
        values[4] = SINK_R(per_s);
    }
    if (more && limit >= count)
        values[5] = SINK_R((double)(limit - count) / per_s / 86400);
    sink_row(sink, before->again ? &again : &now, values);
    return more;
}

int ps_atoms_print(const struct inspected *vm, size_t top, struct ps_atoms *before, struct sink *sink)
{
    static const struct sink_column columns[] = {{"number", "NUMBER", SINK_COUNT, 8}, {"atom", "ATOM", SINK_TEXT, -1}};
    static const struct sink_table table = {"atom", NULL, columns, 2};
    uint64_t count, limit, known, first, more;
    int err = snapshot_atoms(vm->snapshot, &count, &limit);
    char text[ATOM_BYTES];

    if (err)
        return err;
    more = print_atom_sum(vm, count, limit, before, sink);
    known = names_atom(vm->names, vm->pid, count ? count - 1 : 0) ? count : names_atoms(vm->names, vm->pid);
    first = top && top < known ? known - top : 0;
    if (before->ns && (known < more || first < known - more))
        first = known < more ? known : known - more; /* the others were told */
    *before = (struct ps_atoms){before->again, count, sink->now_ns};
    for (uint64_t i = known; i-- > first;)
        sink_row(sink, &table, (struct sink_value[]){SINK_N(i), SINK_S(atom_text(vm, i, text))});
    return 0;
}
