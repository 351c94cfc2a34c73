/* SPDX-License-Identifier: Apache-2.0 */
/* What rules of erlsnoop diagnose say of rows that views counted; of a VM that nothing was looked at. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "diagnose/findings.h"
#include "event/hist.h"
#include "support.h"

enum { SECONDS = 10 };

#define MS 1000000ull

static struct counted counted;
static struct evidence evidence;
static struct findings found;

static void begin(void)
{
    counted = (struct counted){.seconds = SECONDS, .share = 1};
    for (int v = 0; v < VIEW_COUNT; v++)
        counted.asked[v] = counted.told[v] = true;
    evidence = (struct evidence){.counted = &counted, .looks = 10};
    evidence.last.ns = SECONDS * 1000000000ull;
}

static void end(void)
{
    findings_free(&found);
    counted_free(&counted);
}

/* Returns the new row of zeros. */
static void *add_row(enum view_table_id table, const char *name)
{
    struct counted_table *t = &counted.tables[table];

    t->rows = realloc(t->rows, (t->n + 1) * sizeof *t->rows);
    t->rows[t->n] = (struct counted_row){strdup(name), calloc(1, view_table(table)->row_bytes)};
    t->room = t->n + 1;
    return t->rows[t->n++].row;
}

static void add_slow_op(const char *owner, uint64_t command, uint64_t ns)
{
    struct counted_slowest *s = &counted.slowest[VIEW_SLOWEST_efile_op];
    struct told_efile_op *told = calloc(1, view_slowest(VIEW_SLOWEST_efile_op)->record_bytes);

    told->story.command = command;
    told->total = ns;
    s->records = realloc(s->records, (s->n + 1) * sizeof *s->records);
    s->records[s->n] = (struct counted_slow){told, strdup(owner), strdup("OPEN /mnt/far")};
    s->room = ++s->n;
}

static void observe(struct wire_hist *hist, uint64_t value, int times)
{
    for (int i = 0; i < times; i++)
        hist_add(hist, value);
}

/* The finding of the rule; NULL: there is none. */
static const struct finding *find(enum finding_rule rule)
{
    for (size_t i = 0; i < found.n; i++)
        if (found.all[i].rule == rule)
            return &found.all[i];
    return NULL;
}

static void time_out(const char *server, int times)
{
    struct row_requests_by_server *row = add_row(VIEW_TABLE_requests_by_server, server);

    row->calls = row->gave_up = (uint64_t)times;
    observe(&row->service, 300 * MS, times);
}

static void sync_slowly(void)
{
    struct row_efile_by_op *row = add_row(VIEW_TABLE_efile_by_op, view_table(VIEW_TABLE_efile_by_op)->number(9));

    observe(&row->total, 50 * MS, 150);
    add_slow_op("", 9, 60 * MS);
    add_slow_op("journal", 9, 55 * MS);
}

START_TEST(test_findings_of_nothing_are_none)
{
    begin();
    ck_assert_int_eq(findings_look(&evidence, &found), 0);
    ck_assert_uint_eq(found.n, 0);
    end();
}
END_TEST

/* A rule is asked where the view that it needs was told; a view with '?' it does without. */
START_TEST(test_findings_need_views)
{
    enum view_id lacks = VIEW_COUNT;

    begin();
    time_out("server", 23);
    ck_assert_int_eq(findings_look(&evidence, &found), 0);
    ck_assert_uint_eq(found.n, 1);
    ck_assert_str_eq(found.all[0].who, "server");
    findings_free(&found);
    counted.told[VIEW_requests] = false;
    ck_assert_int_eq(findings_look(&evidence, &found), 0);
    ck_assert_uint_eq(found.n, 0);
    ck_assert(!counted_serves(&counted, "exits requests gc?", &lacks));
    ck_assert_int_eq(lacks, VIEW_requests);
    ck_assert(counted_serves(&counted, "exits requests?", NULL));
    ck_assert(counted_serves(NULL, "exits?", NULL));
    ck_assert(counted_serves(NULL, "", NULL));
    ck_assert(!counted_serves(NULL, "exits", NULL));
    end();
}
END_TEST

/* Files that are slow explain the calls of the one who waits for them, and of nobody else. */
START_TEST(test_findings_that_explain_others_stand_above)
{
    const struct finding *disk;

    begin();
    time_out("journal", 97);
    time_out("other", 997);
    sync_slowly();
    ck_assert_int_eq(findings_look(&evidence, &found), 0);
    ck_assert_uint_eq(found.n, 3);
    disk = find(FINDING_disk_slow);
    ck_assert_ptr_nonnull(disk);
    ck_assert_str_eq(disk->who, "journal");
    ck_assert_ptr_null(disk->from);
    ck_assert(strstr(disk->what, "150 operations FSYNC") && strstr(disk->what, "/mnt/far"));
    for (size_t i = 0; i < found.n; i++) {
        const struct finding *f = &found.all[i];

        if (f->rule != FINDING_calls_time_out)
            continue;
        ck_assert_ptr_eq(f->from, strcmp(f->who, "journal") ? NULL : &finding_texts[FINDING_disk_slow]);
        ck_assert(strcmp(f->who, "journal") || f > disk);
    }
    end();
}
END_TEST

/* What waits for a thread that others hold is not what is slow, however long that takes. */
START_TEST(test_findings_of_files_go_by_system_calls)
{
    struct row_efile_by_op *waits;
    const struct finding *disk;

    begin();
    waits = add_row(VIEW_TABLE_efile_by_op, view_table(VIEW_TABLE_efile_by_op)->number(5));
    observe(&waits->total, 900 * MS, 100);
    observe(&waits->work, MS / 1000, 100);
    ck_assert_int_eq(findings_look(&evidence, &found), 0);
    ck_assert_ptr_null(find(FINDING_disk_slow));
    findings_free(&found);
    sync_slowly();
    ck_assert_int_eq(findings_look(&evidence, &found), 0);
    disk = find(FINDING_disk_slow);
    ck_assert_ptr_nonnull(disk);
    ck_assert(strstr(disk->what, "150 operations FSYNC") != NULL);
    end();
}
END_TEST

/* Who ends after a crash, and what that costs: together they are one illness. */
START_TEST(test_findings_of_crashes)
{
    struct row_exits_by_owner *exits;
    struct row_sched_by_owner *sched;

    begin();
    add_row(VIEW_TABLE_exits_by_reason, "{badmatch,...}");
    exits = add_row(VIEW_TABLE_exits_by_owner, "m:worker/1");
    exits->count = 53;
    observe(&exits->lifetime, 7 * MS, 53);
    sched = add_row(VIEW_TABLE_sched_by_owner, "m:worker/1");
    sched->ran = 53 * 80 * MS;
    exits = add_row(VIEW_TABLE_exits_by_owner, "m:rare/0");
    exits->count = 3;
    ck_assert_int_eq(findings_look(&evidence, &found), 0);
    ck_assert_uint_eq(found.n, 2);
    ck_assert_int_eq(found.all[0].rule, FINDING_crash_costs);
    ck_assert_int_eq(found.all[1].rule, FINDING_crashes);
    ck_assert_ptr_eq(found.all[1].from, &finding_texts[FINDING_crash_costs]);
    ck_assert(strstr(found.all[1].what, "53 of them") && strstr(found.all[1].what, "{badmatch,...}"));
    end();
}
END_TEST

/* The name is the culprit; who asks is told where most of it is one's doing. */
START_TEST(test_findings_of_missing_modules)
{
    struct row_code_missing *missing;
    struct row_code_by_owner *owner;
    const struct finding *f;

    begin();
    missing = add_row(VIEW_TABLE_code_missing, "my_hooks");
    missing->times = 201;
    observe(&missing->took, 3 * MS, 201);
    ((struct row_code_missing *)add_row(VIEW_TABLE_code_missing, "asked_once"))->times = 4;
    owner = add_row(VIEW_TABLE_code_by_owner, "pool:worker/1");
    owner->missing = 103;
    ((struct row_code_by_owner *)add_row(VIEW_TABLE_code_by_owner, "other"))->missing = 102;
    ck_assert_int_eq(findings_look(&evidence, &found), 0);
    ck_assert_uint_eq(found.n, 1);
    f = find(FINDING_module_missing);
    ck_assert_ptr_nonnull(f);
    ck_assert_str_eq(f->who, "my_hooks");
    ck_assert_msg(strstr(f->what, "looked for 201 times, 20.1 a second, 3.00 ms each; ") != NULL, "%s", f->what);
    ck_assert_msg(strstr(f->what, "in vain are by pool:worker/1") != NULL, "%s", f->what);
    findings_free(&found);
    owner->missing = 102;
    ck_assert_int_eq(findings_look(&evidence, &found), 0);
    ck_assert_ptr_null(strstr(find(FINDING_module_missing)->what, " by "));
    findings_free(&found);
    missing->times = 4;
    ck_assert_int_eq(findings_look(&evidence, &found), 0);
    ck_assert_uint_eq(found.n, 0);
    end();
}
END_TEST

/* A dirty scheduler may be held as long as one likes. */
START_TEST(test_findings_of_held_schedulers)
{
    const struct view_table *kinds = view_table(VIEW_TABLE_sched_by_kind);
    struct row_sched_by_owner *owner;
    struct row_sched_by_kind *kind;
    struct row_msglat_by_owner *waits;

    begin();
    kind = add_row(VIEW_TABLE_sched_by_kind, kinds->number(VIEW_SCHEDULER_DIRTY_CPU));
    observe(&kind->cpu, 700 * MS, 3);
    owner = add_row(VIEW_TABLE_sched_by_owner, "dirty");
    observe(&owner->cpu, 700 * MS, 3);
    ck_assert_int_eq(findings_look(&evidence, &found), 0);
    ck_assert_uint_eq(found.n, 0);
    kind = add_row(VIEW_TABLE_sched_by_kind, kinds->number(VIEW_SCHEDULER_NORMAL));
    observe(&kind->cpu, 97 * MS, 5);
    owner = add_row(VIEW_TABLE_sched_by_owner, "normal");
    observe(&owner->cpu, 97 * MS, 5);
    waits = add_row(VIEW_TABLE_msglat_by_owner, "victim");
    observe(&waits->latency, 80 * MS, 1);
    ck_assert_int_eq(findings_look(&evidence, &found), 0);
    ck_assert_uint_eq(found.n, 1);
    ck_assert_int_eq(found.all[0].rule, FINDING_scheduler_held);
    ck_assert_str_eq(found.all[0].who, "normal");
    ck_assert(strstr(found.all[0].what, "5 slices") && strstr(found.all[0].what, "victim waited 80"));
    end();
}
END_TEST

/* What is always a little so is none. */
START_TEST(test_findings_of_what_is_well)
{
    struct row_requests_by_server *server;
    struct row_efile_by_op *op;
    struct row_gc_by_owner *gc;
    struct row_ports_by_port *port;
    struct row_dist_by_owner *dist;

    begin();
    server = add_row(VIEW_TABLE_requests_by_server, "server");
    server->calls = 100000;
    server->gave_up = 1;
    observe(&server->waited, MS, 100000);
    observe(&server->service, 5000 * MS, 10); /* it replies when there is something to tell */
    op = add_row(VIEW_TABLE_efile_by_op, view_table(VIEW_TABLE_efile_by_op)->number(9));
    observe(&op->total, MS / 2, 19000);
    gc = add_row(VIEW_TABLE_gc_by_owner, "server");
    observe(&gc->pause, MS, 5000);
    port = add_row(VIEW_TABLE_ports_by_port, "tcp_inet");
    observe(&port->busy, 9 * MS, 100);
    dist = add_row(VIEW_TABLE_dist_by_owner, "sender");
    observe(&dist->suspended, 4 * MS, 100);
    ck_assert_int_eq(findings_look(&evidence, &found), 0);
    ck_assert_msg(found.n == 0, "%s", found.n ? found.all[0].what : "");
    end();
}
END_TEST

/* Collections that are long because others have the processors are none. */
START_TEST(test_findings_of_collections)
{
    static const struct {
        int ms, times;
        uint64_t waited_ns; /* of 5 s and this */
        bool expected;
    } cases[] = {
        {30, 50, 0, true},  {30, 50, 500 * MS, true}, {30, 50, 5000 * MS, false}, {50, 50, 5000 * MS, true},
        {210, 1, 0, true},  {210, 1, 5000 * MS, false}, {500, 1, 5000 * MS, true}, {30, 5, 0, false},
        {19, 500, 0, false}, {30, 50, 50000 * MS, false},
    };

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct row_gc_by_owner *gc;

        begin();
        gc = add_row(VIEW_TABLE_gc_by_owner, "heap");
        observe(&gc->pause, (uint64_t)cases[i].ms * MS, cases[i].times);
        evidence.first.has_threads = evidence.last.has_threads = true;
        evidence.last.ran_ns = 5000 * MS;
        evidence.last.waited_ns = cases[i].waited_ns;
        ck_assert_int_eq(findings_look(&evidence, &found), 0);
        ck_assert_msg((find(FINDING_gc_costs) != NULL) == cases[i].expected, "%zu", i);
        end();
    }
}
END_TEST

/* A scheduler that sleeps over work is named, or the process that sleeps on it; that one's native is the same illness. */
START_TEST(test_findings_of_a_scheduler_asleep)
{
    struct tripwire_sleep *s;
    const struct finding *f;

    begin();
    s = &evidence.tripwires.asleep;
    *s = (struct tripwire_sleep){.seconds = 0.97, .scheduler = 2, .queued = 3, .victim = "victim"};
    ck_assert_int_eq(findings_look(&evidence, &found), 0);
    ck_assert_uint_eq(found.n, 0);
    s->seconds = 3;
    ck_assert_int_eq(findings_look(&evidence, &found), 0);
    f = find(FINDING_scheduler_asleep);
    ck_assert_ptr_nonnull(f);
    ck_assert_str_eq(f->who, "scheduler 2");
    ck_assert(strstr(f->what, "slept in the kernel for 3.0 s") && strstr(f->what, "3 waited in its run queue: victim had no turn"));
    findings_free(&found);
    s->holder = 97;
    strcpy(s->holder_name, "holder");
    strcpy(s->place, "m:native/1");
    ck_assert_int_eq(findings_look(&evidence, &found), 0);
    f = find(FINDING_scheduler_asleep);
    ck_assert_ptr_nonnull(f);
    ck_assert_str_eq(f->who, "holder");
    ck_assert(f->process == 97 && strstr(f->what, "the thread of scheduler 2 has slept") && strstr(f->what, "in m:native/1"));
    end();
}
END_TEST

/* A purge waits for a process, or spins; a machine that keeps all threads from running is no fault of the process. */
START_TEST(test_findings_of_a_purge_that_hangs)
{
    struct tripwire_purge *p;
    const struct finding *f;

    begin();
    evidence.first.has_threads = evidence.last.has_threads = true;
    evidence.last.ran_ns = 3000 * MS;
    p = &evidence.tripwires.purge;
    *p = (struct tripwire_purge){.seconds = 5, .process = 97, .mute = 7, .name = "deaf", .place = "m:native/1"};
    ck_assert_int_eq(findings_look(&evidence, &found), 0);
    f = find(FINDING_purge_hangs);
    ck_assert_ptr_nonnull(f);
    ck_assert_str_eq(f->who, "deaf");
    ck_assert_str_eq(f->also, "code_server");
    ck_assert(strstr(f->what, "lasted for 5.0 s") && strstr(f->what, "has run for 7.0 s without a pause"));
    findings_free(&found);
    evidence.last.waited_ns = 40000 * MS; /* of which seven seconds are half a second of a processor */
    ck_assert_int_eq(findings_look(&evidence, &found), 0);
    ck_assert_ptr_nonnull(find(FINDING_purge_hangs));
    findings_free(&found);
    evidence.last.waited_ns = 400000 * MS;
    ck_assert_int_eq(findings_look(&evidence, &found), 0);
    ck_assert_ptr_null(find(FINDING_purge_hangs));
    findings_free(&found);
    *p = (struct tripwire_purge){.seconds = 5, .name = "erts_code_purger", .reductions = 997000000, .processes = 23};
    ck_assert_int_eq(findings_look(&evidence, &found), 0);
    f = find(FINDING_purge_hangs);
    ck_assert_ptr_nonnull(f);
    ck_assert(!f->process && strstr(f->what, "asks again and again: 997000000 reductions for 23 processes"));
    end();
}
END_TEST

/* Whose processes they were is told, and that their ends come of it; one that was killed is no matter. */
START_TEST(test_findings_tell_whom_purges_kill)
{
    struct row_code_by_module *module;
    struct row_code_old *old;
    struct row_exits_by_owner *exits;
    const struct finding *f;

    begin();
    module = add_row(VIEW_TABLE_code_by_module, "shop_cart");
    module->killed = 1;
    ck_assert_int_eq(findings_look(&evidence, &found), 0);
    ck_assert_ptr_null(find(FINDING_purge_kills));
    findings_free(&found);
    module->killed = 23;
    old = add_row(VIEW_TABLE_code_old, "shop_cart:loop/1");
    old->killed = 19;
    exits = add_row(VIEW_TABLE_exits_by_owner, "shop_cart:loop/1");
    exits->count = 23;
    ck_assert_int_eq(findings_look(&evidence, &found), 0);
    f = find(FINDING_purge_kills);
    ck_assert_msg(f && !strcmp(f->who, "shop_cart") && !strcmp(f->also, "shop_cart:loop/1"), "%s", f ? f->what : "none");
    ck_assert_msg(strstr(f->what, "killed 23 processes") && strstr(f->what, "19, were shop_cart:loop/1"), "%s", f->what);
    ck_assert_int_gt(f->score, 50);
    end();
}
END_TEST

static struct evidence_held held_connection(uint32_t socket, unsigned looks, bool is_ours)
{
    struct evidence_held held = {.socket = socket, .is_ours = is_ours, .looks = looks, .most_ms = 39};

    snprintf(held.last.text, sizeof held.last.text, "to 10.0.0.%u:5432", socket);
    held.last.bytes = 97;
    held.last.round_us = 300;
    return held;
}

/* The connection that is held most is named; one of another program, or that was seen twice, is none. */
START_TEST(test_findings_of_sends_that_are_held)
{
    struct evidence_held all[] = {held_connection(1, 5, true), held_connection(2, 19, true), held_connection(3, 30, false),
                                  held_connection(4, 2, true)};
    const struct finding *f;

    begin();
    evidence.held_looks = 50;
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        HASH_ADD(hh, evidence.held, socket, sizeof all[i].socket, &all[i]);
    ck_assert_int_eq(findings_look(&evidence, &found), 0);
    f = find(FINDING_sends_held);
    ck_assert_ptr_nonnull(f);
    ck_assert_str_eq(f->who, "to 10.0.0.2:5432");
    ck_assert_msg(strstr(f->what, "in 38% of the looks 97 bytes") && strstr(f->what, "up to 39 ms") &&
                      strstr(f->what, "takes 0.3 ms, and of 1 other connection") && !strstr(f->what, "connections"), "%s", f->what);
    ck_assert_int_gt(f->score, 50);
    findings_free(&found);
    evidence.held_looks = 500; /* of which 19 are no tenth */
    ck_assert_int_eq(findings_look(&evidence, &found), 0);
    ck_assert_ptr_null(find(FINDING_sends_held));
    HASH_CLEAR(hh, evidence.held);
    end();
}
END_TEST

/* Many reductions a second, in half of the looks, of a VM with many processes. */
START_TEST(test_findings_of_literals_that_are_swept)
{
    static const struct {
        uint64_t per_s, processes;
        unsigned worked;
        bool expected;
    } cases[] = {
        {3000000, 10007, 9, true}, {300000, 300, 5, true},   {299000, 10007, 9, false},
        {3000000, 299, 9, false},  {3000000, 10007, 4, false},
    };

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const struct finding *f;

        begin();
        evidence.last.processes = cases[i].processes;
        evidence.sweeper = (struct evidence_sweeper){.id = 97, .first = 1000, .last = 1000 + cases[i].per_s * SECONDS,
                                                     .looks = 10, .worked = cases[i].worked};
        ck_assert_int_eq(findings_look(&evidence, &found), 0);
        f = find(FINDING_literals_swept);
        ck_assert_msg((f != NULL) == cases[i].expected, "%zu", i);
        ck_assert(!f || (f->score > 50 && !*f->who && strstr(f->what, "reductions a second")));
        end();
    }
}
END_TEST

/* Who watches each that is born, whose monitors went once, or that was read twice, leaks none. */
START_TEST(test_findings_of_monitors_that_are_well)
{
    static const struct {
        uint64_t first, last, born;
        unsigned readings, grew;
    } cases[] = {
        {0, 1000, 501, 9, 8}, {0, 1000, 0, 9, 7}, {0, 1000, 0, 2, 1}, {1000, 1019, 0, 9, 8}, {1000, 1009, 0, 9, 8}, {1000, 0, 0, 9, 8},
    };

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct evidence_watcher watcher = {.id = 97, .first = cases[i].first, .last = cases[i].last,
                                           .readings = cases[i].readings, .grew = cases[i].grew};

        begin();
        evidence.waits_ns = SECONDS * 1000000000ull;
        evidence.last.processes = cases[i].born;
        HASH_ADD(hh, evidence.watchers, id, sizeof watcher.id, &watcher);
        ck_assert_int_eq(findings_look(&evidence, &found), 0);
        ck_assert_msg(!find(FINDING_monitors_leak), "%zu", i);
        HASH_CLEAR(hh, evidence.watchers);
        end();
    }
}
END_TEST

/* A lock that was waited for in few samples, or in a small part of many, is none to mend. */
START_TEST(test_findings_of_locks_that_are_well)
{
    static const uint64_t cases[][2] = {{9, 10}, {10, 67}, {1490, 10000}, {0, 0}};

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct evidence_table table = {.waits = cases[i][0]};

        begin();
        evidence.contention.all = cases[i][1];
        HASH_ADD(hh, evidence.tables, key, sizeof table.key, &table);
        ck_assert_int_eq(findings_look(&evidence, &found), 0);
        ck_assert_msg(!find(FINDING_table_contended), "%zu", i);
        HASH_CLEAR(hh, evidence.tables);
        end();
    }
}
END_TEST

Suite *findings_suite(void)
{
    Suite *suite = suite_create("findings");
    TCase *all = tcase_create("all");

    tcase_add_test(all, test_findings_of_nothing_are_none);
    tcase_add_test(all, test_findings_need_views);
    tcase_add_test(all, test_findings_that_explain_others_stand_above);
    tcase_add_test(all, test_findings_of_files_go_by_system_calls);
    tcase_add_test(all, test_findings_of_crashes);
    tcase_add_test(all, test_findings_of_missing_modules);
    tcase_add_test(all, test_findings_tell_whom_purges_kill);
    tcase_add_test(all, test_findings_of_held_schedulers);
    tcase_add_test(all, test_findings_of_what_is_well);
    tcase_add_test(all, test_findings_of_collections);
    tcase_add_test(all, test_findings_of_a_scheduler_asleep);
    tcase_add_test(all, test_findings_of_a_purge_that_hangs);
    tcase_add_test(all, test_findings_of_sends_that_are_held);
    tcase_add_test(all, test_findings_of_literals_that_are_swept);
    tcase_add_test(all, test_findings_of_monitors_that_are_well);
    tcase_add_test(all, test_findings_of_locks_that_are_well);
    suite_add_tcase(suite, all);
    return suite;
}
