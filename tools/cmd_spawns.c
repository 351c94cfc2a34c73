/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Births and deaths of processes. Invariant: the totals are exact, and the rows of a result add up to them: names beyond the
 * top, and those that the kernel's side had no room for, are summed.
 */
#include <errno.h>
#include <linux/membarrier.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <bpf/bpf.h>

#include "cmd.h"
#include "session.h"
#include "tally.h"

#include "../bpf/spawns.h"
#include "spawns.skel.h"

enum { TOP = 20, COUNT_WORDS = sizeof(struct spawns_count) / 8 };

struct state {
    struct spawns *skel;
    struct tally *counts;
    uint64_t totals[SPAWNS_SIDES][SPAWNS_NTOTALS];
};

static const struct sink_column event_columns[] = {
    {"time", "TIME", SINK_TIME, 0},    {"vm", "VM", SINK_COUNT, 7},
    {"event", "EVENT", SINK_TEXT, 5}, {"pid", "PID", SINK_TEXT, 14},
    {"lived", "LIVED", SINK_NS, 0},  {"name", "MFA OR REASON", SINK_TEXT, 0}};
static const struct sink_table event_table = {"spawns_event", NULL, event_columns, 6};

static const struct sink_column total_columns[] = {
    {"births", "BIRTHS", SINK_COUNT, 0},      {"births", "PER S", SINK_RATE, 12},
    {"deaths", "DEATHS", SINK_COUNT, 0},      {"deaths", "PER S", SINK_RATE, 12},
    {"unseen", "BORN BEFORE", SINK_COUNT, 12}};
static const struct sink_table total_table = {"spawns", NULL, total_columns, 5};

static const struct sink_column birth_columns[] = {{"count", "BIRTHS", SINK_COUNT, 0},
                                                   {"share", "%", SINK_COUNT, 6},
                                                   {"vm", "VM", SINK_COUNT, 7},
                                                   {"mfa", "INITIAL CALL", SINK_TEXT, 0}};
static const struct sink_table birth_table = {"spawns_by_mfa", NULL, birth_columns, 4};

static const struct sink_column death_columns[] = {{"count", "DEATHS", SINK_COUNT, 0},
                                                   {"share", "%", SINK_COUNT, 6},
                                                   {"vm", "VM", SINK_COUNT, 7},
                                                   {"reason", "REASON", SINK_TEXT, 0}};
static const struct sink_table death_table = {"spawns_by_reason", NULL, death_columns, 4};

static void on_record(void *ctx, struct session *s, const struct wire_header *header, size_t size)
{
    const struct spawns_record *rec = (const struct spawns_record *)header;
    bool birth = header->kind == SPAWNS_BIRTH;
    char pid[WIRE_PID_TEXT + 8];

    (void)ctx;
    if (size < sizeof *rec)
        return;
    snprintf(pid, sizeof pid, "<%u.%u.%u>", rec->pid.node, rec->pid.id, rec->pid.serial);
    sink_row(session_sink(s), &event_table,
             (struct sink_value[]){SINK_N(header->time_ns), SINK_N(header->vm),
                                   SINK_S(birth ? "birth" : "death"), SINK_S(pid),
                                   rec->lived ? SINK_N(rec->lifetime_ns) : SINK_NONE,
                                   SINK_S(session_name(s, header->vm, &rec->name))});
}

/*
 * What happens from now on is counted in the other side. Returns the one that was counted in, which nobody changes any more: a
 * program that began before runs under RCU, and the call waits for all of these. Where it cannot, a program needs microseconds.
 */
static uint32_t change_sides(struct state *st)
{
    uint32_t side = st->skel->bss->spawns_side;

    st->skel->bss->spawns_side = !side;
    if (syscall(SYS_membarrier, MEMBARRIER_CMD_GLOBAL, 0, 0))
        usleep(10000);
    return side;
}

static int print_totals(struct state *st, struct session *s, uint32_t side, uint64_t *delta)
{
    double seconds = session_seconds(s);

    for (uint32_t i = 0; i < SPAWNS_NTOTALS; i++) {
        uint64_t now;
        int err = session_read_percpu(s, "totals", side * SPAWNS_NTOTALS + i, &now, 1);

        if (err)
            return err;
        delta[i] = now - st->totals[side][i];
        st->totals[side][i] = now;
    }

    uint64_t births = delta[SPAWNS_TOTAL_BIRTHS], deaths = delta[SPAWNS_TOTAL_DEATHS];

    sink_row(session_sink(s), &total_table,
             (struct sink_value[]){SINK_N(births), SINK_R((double)births / seconds), SINK_N(deaths),
                                   SINK_R((double)deaths / seconds),
                                   SINK_N(delta[SPAWNS_TOTAL_STRANGERS])});
    return 0;
}

static void print_name(struct session *s, const struct sink_table *table, uint64_t count, uint64_t total, struct sink_value vm, const char *name)
{
    sink_row(session_sink(s), table, (struct sink_value[]){SINK_N(count), SINK_N(count * 100 / total), vm, SINK_S(name)});
}

/* Of `total` events: the most frequent names, and the rest. */
static void print_names(struct session *s, const struct sink_table *table, uint32_t kind, const struct tally_row *rows, size_t n, uint64_t total)
{
    uint64_t rest = total;
    int shown = 0;

    for (size_t i = 0; i < n && shown < TOP; i++) {
        const struct wire_name_key *key = rows[i].key;
        const struct spawns_count *value = (const struct spawns_count *)rows[i].values;
        uint64_t count = value->count < rest ? value->count : rest;

        if (key->kind != kind || !count)
            continue;
        rest -= count;
        shown++;
        print_name(s, table, count, total, SINK_N(key->vm), session_name(s, key->vm, &value->name));
    }
    if (rest)
        print_name(s, table, rest, total, SINK_NONE, "(other)");
}

static int print_lifetimes(struct session *s, uint32_t side)
{
    static const struct wire_hist none;
    struct wire_hist lifetimes;
    int map = session_map(s, "lifetimes");

    if (bpf_map_lookup_elem(map, &side, &lifetimes) || bpf_map_update_elem(map, &side, &none, BPF_EXIST))
        return -errno;
    sink_hist(session_sink(s), "spawns_lifetimes", "Lifetimes", SINK_NS, &lifetimes);
    return 0;
}

static int on_result(void *ctx, struct session *s)
{
    static const char *const maps[] = {"counts_0", "counts_1"};
    struct state *st = ctx;
    uint32_t side = change_sides(st);
    uint64_t delta[SPAWNS_NTOTALS];
    const struct tally_row *rows;
    int err = print_totals(st, s, side, delta);
    size_t n;

    if (!err)
        err = tally_take(st->counts, session_map(s, maps[side]));
    if (err)
        return err;
    n = tally_rows(st->counts, 0, &rows);
    print_names(s, &birth_table, SPAWNS_BIRTH, rows, n, delta[SPAWNS_TOTAL_BIRTHS]);
    print_names(s, &death_table, SPAWNS_DEATH, rows, n, delta[SPAWNS_TOTAL_DEATHS]);
    return print_lifetimes(s, side);
}

int cmd_spawns(int argc, char **argv)
{
    static const struct options_spec spec = {
        "spawns", "Counts births and deaths of processes, by initial call and by exit reason.",
        OPTIONS_LIVE, NULL, NULL};
    static const struct session_ops ops = {.record = on_record, .result = on_result};
    struct state st = {0};
    struct options o;
    int err = options_parse(&spec, argc, argv, &o);

    if (err || o.done)
        return err;

    struct spawns *skel = st.skel = spawns__open();

    st.counts = tally_new(sizeof(struct wire_name_key), COUNT_WORDS, 1);
    if (skel)
        skel->rodata->spawns_events = o.events;
    err = session_run(&o, skel ? skel->skeleton : NULL, &ops, &st);
    spawns__destroy(skel);
    tally_free(st.counts);
    return err;
}
