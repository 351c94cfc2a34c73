/* SPDX-License-Identifier: Apache-2.0 */
/* Views in user space: the handlers of bpf/view_<view>.h over events that are told by number, and their results. */
#include <stdlib.h>
#include <string.h>

#include "support.h"
#include "view/views_user.h"

static char *printed;
static size_t nprinted;
static struct sink sink;
static struct result_source source;
static struct open_shares shares;
static struct views_user *counting;
static struct result_reader reader, *const all[] = {&reader};

static const char *name_of(void *ctx, uint32_t vm, const struct wire_name *name)
{
    static char text[96];

    (void)ctx, (void)vm;
    snprintf(text, sizeof text, "%u:%u:%u", (unsigned)name->words[0], (unsigned)name->words[1], (unsigned)name->words[2]);
    return text;
}

static int take(void *ctx, const struct view_table *table, struct result_taken *out)
{
    (void)ctx;
    return views_user_take(counting, table, out);
}

static int slowest(void *ctx, enum view_slowest_id id, struct result_kept *out)
{
    (void)ctx;
    return views_user_slowest(counting, id, out);
}

static int open_states(void *ctx, enum view_state_id state, const struct open_taker *taker)
{
    (void)ctx;
    return views_user_open(counting, state, taker);
}

static bool whose(void *ctx, uint32_t vm, const struct view_whom *whom, struct wire_name *out)
{
    (void)ctx;
    return views_user_whose(counting, vm, whom, out);
}

static bool find_kept(void *ctx, uint32_t vm, uint64_t kept_by, struct wire_name *out)
{
    (void)ctx;
    return views_user_kept(counting, vm, kept_by, out);
}

static void told(void *ctx, const struct wire_header *record, size_t size)
{
    result_record(ctx, record, size);
}

static const __u64 kept[VIEW_NSLOWEST] = {[VIEW_SLOWEST_efile_op] = 3};

static void begin(bool events)
{
    struct view_settings settings = {.on = {[VIEW_spawns] = 1, [VIEW_msglat] = 1, [VIEW_gc] = 1, [VIEW_efile] = 1}};

    memcpy(settings.slowest, kept, sizeof kept);
    for (int i = 0; i < VIEW_COUNT; i++)
        settings.events[i] = events;
    sink_init(&sink, open_memstream(&printed, &nprinted), OPTIONS_FORM_jsonl, false);
    source = (struct result_source){.take = take,
                                    .name = name_of,
                                    .sink = &sink,
                                    .seconds = 1,
                                    .whole_seconds = 1,
                                    .slowest = slowest,
                                    .shown = kept,
                                    .open = open_states,
                                    .shares = &shares,
                                    .owner = whose,
                                    .kept = find_kept};
    ck_assert_int_eq(views_user_new(&settings, told, &source, &counting), 0);
}

/* What was printed until now. */
static const char *result(void)
{
    static const bool on[VIEW_COUNT] = {[VIEW_spawns] = true, [VIEW_msglat] = true, [VIEW_gc] = true,
                                        [VIEW_efile] = true};

    ck_assert_int_eq(result_gather(&source, on, all, 1), 0);
    ck_assert_int_eq(result_print(&source, on, &reader), 0);
    ck_assert_int_eq(sink_flush(&sink), 0);
    return printed;
}

static void end(void)
{
    views_user_free(counting);
    shares_free(&shares);
    fclose(sink.out);
    free(printed);
}

static struct ev_head head(enum batch_event event, uint64_t ns)
{
    return (struct ev_head){.time_ns = ns, .vm = 17, .event = (uint16_t)event};
}

static void spawn(uint32_t number, uint64_t ns)
{
    views_user_tell(counting, &(union ev_any){.process__spawn = {head(BATCH_process__spawn, ns), ev_id_of_pid(number, 0), ev_mfa_of_atoms(5, 6, 1)}});
}

static void exit_of(uint32_t number, uint64_t ns)
{
    views_user_tell(counting, &(union ev_any){.process__exit = {head(BATCH_process__exit, ns), ev_id_of_pid(number, 0), ev_term_of(BATCH_SHAPE_ATOM, 0, 9)}});
}

START_TEST(test_views_user_counts_births_deaths_and_lifetimes)
{
    begin(true);
    for (uint32_t i = 0; i < 23; i++)
        spawn(i, 1000);
    for (uint32_t i = 0; i < 19; i++)
        exit_of(i, 1000 + 4096);
    exit_of(7, 6000); /* which ended before */
    const char *out = result();

    ck_assert_int_eq(support_number(out, "\"type\":\"spawns\"", "births"), 23);
    ck_assert_int_eq(support_number(out, "\"type\":\"spawns\"", "deaths"), 20);
    ck_assert_int_eq(support_number(out, "\"type\":\"spawns\"", "unseen"), 1);
    ck_assert_int_eq(support_number(out, "\"spawns_lifetimes\"", "count"), 19);
    ck_assert_int_eq(support_number(out, "\"spawns_lifetimes\"", "sum_ns"), 19 * 4096);
    ck_assert_int_eq(support_number(out, "\"mfa\":\"5:6:1\"", "count"), 23);
    ck_assert_int_eq(support_lines(out, "\"event\":\"birth\""), 23);
    ck_assert_int_eq(support_lines(out, "\"event\":\"death\""), 20);
    ck_assert_int_eq(support_lines(out, "\"lived_ns\":4096"), 19);
    end();
}
END_TEST

START_TEST(test_views_user_measures_waits_and_pauses)
{
    ev_id pid = ev_id_of_pid(3, 1);

    begin(false);
    spawn(4, 10);
    for (int i = 0; i < 7; i++)
        views_user_tell(counting, &(union ev_any){.message__send = {.head = head(BATCH_message__send, 100 + (uint64_t)i), .receiver = pid}});
    views_user_tell(counting, &(union ev_any){.process__scheduled = {head(BATCH_process__scheduled, 100 + 2048), pid, ev_mfa_of_atoms(1, 2, 3)}});
    views_user_tell(counting, &(union ev_any){.message__send = {.head = head(BATCH_message__send, 3000), .receiver = pid}});
    views_user_tell(counting, &(union ev_any){.gc_major__start = {head(BATCH_gc_major__start, 4000), ev_id_of_pid(4, 0), 0}});
    views_user_tell(counting, &(union ev_any){.gc_major__end = {head(BATCH_gc_major__end, 4000 + 8192), ev_id_of_pid(4, 0), 610}});
    const char *out = result();

    ck_assert_int_eq(support_number(out, "\"type\":\"msglat\"", "messages"), 8);
    ck_assert_int_eq(support_number(out, "\"type\":\"msglat\"", "to_running"), 1);
    ck_assert_int_eq(support_number(out, "\"mfa\":\"1:2:3\"", "wakeups"), 1);
    ck_assert_int_eq(support_number(out, "\"mfa\":\"1:2:3\"", "max_ns"), 2048);
    ck_assert_int_eq(support_number(out, "\"type\":\"gc\"", "major"), 1);
    ck_assert_int_eq(support_number(out, "\"owner\":\"5:6:1\"", "reclaimed_words"), 610);
    ck_assert_int_eq(support_number(out, "\"owner\":\"5:6:1\"", "max_ns"), 8192);
    end();
}
END_TEST

/* An operation by thread 2 with this tag, on a file of that name, that takes `ns`. */
static void operate(uint64_t tag, const char *path, uint64_t begun, uint64_t ns)
{
    struct ev_text s1 = {strlen(path), (uintptr_t)path};

    views_user_tell(counting, &(union ev_any){.efile_drv__entry = {.head = head(BATCH_efile_drv__entry, begun), .thread = 2, .tag = (__s64)tag, .command = 11,
                                                         .s1 = s1, .pid = ev_id_of_pid(4, 0)}});
    views_user_tell(counting, &(union ev_any){.efile_drv__int_entry = {head(BATCH_efile_drv__int_entry, begun + 10), 2, (__s64)tag, 11}});
    views_user_tell(counting, &(union ev_any){.efile_drv__int_return = {head(BATCH_efile_drv__int_return, begun + ns - 10), 2, (__s64)tag, 11}});
    views_user_tell(counting, &(union ev_any){.efile_drv__return = {.head = head(BATCH_efile_drv__return, begun + ns), .thread = 2, .tag = (__s64)tag,
                                                          .success = tag % 2, .error = 2}});
}

/* Of 23 operations the three that take longest are told, the longest first, with who asked; of each result anew. */
START_TEST(test_views_user_follows_operations_and_keeps_the_slowest)
{
    char path[] = "a??"; /* not ended by its NUL where it is told */

    begin(false);
    spawn(4, 10);
    for (uint32_t i = 0; i < 23; i++) {
        path[1] = (char)('a' + i * 7 % 23);
        operate(i, path, 1000 * i + 1000, 100 + i * 7 % 23);
    }
    const char *out = result(), *slow = strstr(out, "\"efile_slowest\"");

    ck_assert_int_eq(support_number(out, "\"efile_totals\"", "started"), 23);
    ck_assert_int_eq(support_number(out, "\"efile_totals\"", "ended"), 23);
    ck_assert_int_eq(support_number(out, "\"DELETE\"", "count"), 23);
    ck_assert_int_eq(support_number(out, "\"DELETE\"", "errors"), 12);
    ck_assert_int_eq(support_number(out, "\"DELETE\"", "queued_ns"), 230);
    ck_assert_int_eq(support_number(out, "\"DELETE\"", "max_ns"), 122);
    ck_assert_int_eq(support_lines(out, "\"efile_slowest\""), 3);
    ck_assert_int_eq(support_number(slow - 40, "\"efile_slowest\"", "total_ns"), 122);
    ck_assert_int_eq(support_number(slow - 40, "\"efile_slowest\"", "work_ns"), 102);
    ck_assert_int_eq(support_lines(out, "\"owner\":\"5:6:1\",\"what\":\"DELETE (11) aw?\""), 1);
    ck_assert_int_eq(support_lines(out, "DELETE (11) av?"), 1);
    ck_assert_int_eq(support_lines(out, "DELETE (11) au?: ENOENT (errno 2)"), 1);
    result();
    ck_assert_int_eq(support_lines(printed, "\"efile_slowest\""), 3);
    end();
}
END_TEST

/*
 * What a long result has by now is read in between: its rows of the same text are one at the end, its slowest are those
 * of all.
 */
START_TEST(test_views_user_results_hold_what_was_read_early)
{
    static const bool on[VIEW_COUNT] = {[VIEW_spawns] = true, [VIEW_efile] = true};

    begin(false);
    for (uint32_t i = 0; i < 23; i++) {
        spawn(i, 1000);
        if (i % 9 == 8)
            ck_assert_int_eq(result_gather(&source, on, all, 1), 0);
    }
    for (uint32_t i = 0; i < 13; i++) {
        operate(i, "f", 1000 * i + 1000, 100 + i * 7 % 13);
        if (i % 4 == 3)
            ck_assert_int_eq(result_gather(&source, on, all, 1), 0);
    }
    ck_assert_int_eq(result_gather(&source, on, all, 1), 0);
    ck_assert_int_eq(result_print(&source, on, &reader), 0);
    ck_assert_int_eq(sink_flush(&sink), 0);
    ck_assert_int_eq(support_number(printed, "\"type\":\"spawns\"", "births"), 23);
    ck_assert_int_eq(support_lines(printed, "\"mfa\":\"5:6:1\""), 1);
    ck_assert_int_eq(support_number(printed, "\"mfa\":\"5:6:1\"", "count"), 23);
    ck_assert_int_eq(support_number(printed, "\"DELETE\"", "count"), 13);
    ck_assert_int_eq(support_number(printed, "\"DELETE\"", "max_ns"), 112);
    ck_assert_int_eq(support_lines(printed, "\"efile_slowest\""), 3);
    for (int ns = 110; ns <= 112; ns++) {
        char total[32];

        snprintf(total, sizeof total, "\"total_ns\":%d", ns);
        ck_assert_int_eq(support_lines(printed, total), 1);
    }
    end();
}
END_TEST

/* ---- what is under way */

static void begin_ports(void)
{
    static const struct view_settings settings = {.on = {[VIEW_ports] = 1}};

    begin(false);
    views_user_free(counting);
    ck_assert_int_eq(views_user_new(&settings, told, &source, &counting), 0);
}

/* The result that ends then; what was printed before is gone. */
static const char *ports_result(uint64_t now_ns)
{
    static const bool on[VIEW_COUNT] = {[VIEW_ports] = true};

    rewind(sink.out);
    source.now_ns = now_ns;
    ck_assert_int_eq(result_gather(&source, on, all, 1), 0);
    ck_assert_int_eq(result_print(&source, on, &reader), 0);
    fputc('\0', sink.out);
    ck_assert_int_eq(sink_flush(&sink), 0);
    return printed;
}

/* Of each question: what begins there, whose it is and what it is about, and the time that results share. */
START_TEST(test_views_user_results_tell_what_is_under_way)
{
    static const bool on[VIEW_COUNT] = {[VIEW_gc] = true, [VIEW_sched] = true, [VIEW_nifs] = true, [VIEW_dist] = true,
                                        [VIEW_msglat] = true};
    static const struct {
        const char *table, *about;
    } rows[] = {{"\"gc_open\"", "}"},
               {"\"sched_open\"", "}"},
               {"\"msglat_open\"", "}"},
               {"\"nifs_open\"", ",\"what\":\"5:7:3\"}"},
               {"\"dist_open\"", ",\"what\":\"21:0:0\"}"}};
    struct view_settings settings = {.by = VIEW_BY_OWNER};
    const ev_id pid = ev_id_of_pid(4, 0);
    char line[256];

    for (int i = 0; i < VIEW_COUNT; i++)
        settings.on[i] = on[i];
    begin(false);
    views_user_free(counting);
    ck_assert_int_eq(views_user_new(&settings, told, &source, &counting), 0);
    spawn(4, 10);
    views_user_tell(counting, &(union ev_any){.gc_minor__start = {.head = head(BATCH_gc_minor__start, 1000), .pid = pid}});
    views_user_tell(counting, &(union ev_any){.message__send = {.head = head(BATCH_message__send, 1000), .receiver = pid}});
    views_user_tell(counting, &(union ev_any){.nif__entry = {head(BATCH_nif__entry, 1000), pid, ev_mfa_of_atoms(5, 7, 3)}});
    views_user_tell(counting, &(union ev_any){.dist__port_busy = {.head = head(BATCH_dist__port_busy, 1000), .remote_node = 22, .pid = pid}});
    source.now_ns = 11000;
    ck_assert_int_eq(result_gather(&source, on, all, 1), 0);
    result_forget(&reader);
    views_user_tell(counting, &(union ev_any){.process__scheduled = {head(BATCH_process__scheduled, 12000), pid, 0}});
    views_user_tell(counting, &(union ev_any){.message__send = {.head = head(BATCH_message__send, 12000), .receiver = ev_id_of_pid(4, 0)}});
    source.now_ns = 21000;
    ck_assert_int_eq(result_gather(&source, on, all, 1), 0);
    ck_assert_int_eq(result_print(&source, on, &reader), 0);
    ck_assert_int_eq(sink_flush(&sink), 0);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        bool ran = i == 1, waits = i != 2; /* who was sent to was scheduled, and runs */

        ck_assert_int_eq(support_number(printed, rows[i].table, "open"), waits);
        if (!waits)
            continue;
        snprintf(line, sizeof line, "%s,\"open\":1,\"oldest_ns\":%d,\"age\":\"exact\",\"vm\":17,\"owner\":\"5:6:1\"%s", rows[i].table,
                 ran ? 9000 : 20000, rows[i].about);
        ck_assert_msg(support_lines(printed, line) == 1, "no %s: %s", line, printed);
    }
    ck_assert_int_eq(support_number(printed, "\"type\":\"gc\"", "paused_ns"), 10000);
    ck_assert_int_eq(support_number(printed, "\"type\":\"nifs\"", "took_ns"), 10000);
    ck_assert_int_eq(support_number(printed, "\"type\":\"sched\"", "ran_ns"), 9000);
    ck_assert_int_eq(support_lines(printed, "\"dist_busy_open\",\"open\":1,\"oldest_ns\":20000,\"age\":\"exact\",\"vm\":17,\"owner\":\"5:6:1\",\"what\":\"21:0:0\"}"), 1);
    end();
}
END_TEST

static void busy(uint32_t port, uint64_t ns)
{
    views_user_tell(counting, &(union ev_any){.port__busy = {head(BATCH_port__busy, ns), ev_id_of_port(port)}});
}

static void not_busy(uint32_t port, uint64_t ns)
{
    views_user_tell(counting, &(union ev_any){.port__not_busy = {head(BATCH_port__not_busy, ns), ev_id_of_port(port)}});
}

static void command(uint32_t port, uint32_t pid, uint64_t ns)
{
    static const char name[] = "cat", type[] = "command";

    views_user_tell(counting, &(union ev_any){.port__command = {head(BATCH_port__command, ns), ev_id_of_pid(pid, 0), ev_id_of_port(port),
                                                          {strlen(name), (uintptr_t)name}, {strlen(type), (uintptr_t)type}}});
}

/* Each result has its share of the time of a busy port; its histogram the whole of it, once. Of two the oldest is told. */
START_TEST(test_views_user_results_share_the_time_of_what_is_under_way)
{
    const char *out;

    begin_ports();
    spawn(4, 10);
    command(7, 4, 900);
    busy(7, 1000);
    busy(8, 6000);
    out = ports_result(11000);
    ck_assert_int_eq(support_number(out, "\"type\":\"ports\"", "busy_ns"), 15000);
    ck_assert_int_eq(support_number(out, "\"ports_open\"", "open"), 2);
    ck_assert_int_eq(support_number(out, "\"ports_open\"", "oldest_ns"), 10000);
    ck_assert_int_eq(support_number(out, "\"ports_open\"", "vm"), 17);
    ck_assert_int_eq(support_lines(out, "\"owner\":\"5:6:1\",\"what\""), 1); /* who sent to it last */
    not_busy(8, 12000);
    out = ports_result(21000);
    ck_assert_int_eq(support_number(out, "\"type\":\"ports\"", "busy_ns"), 11000);
    ck_assert_int_eq(support_number(out, "\"ports_open\"", "open"), 1);
    ck_assert_int_eq(support_number(out, "\"ports_open\"", "oldest_ns"), 20000);
    ck_assert_int_eq(support_number(out, "\"ports_busy\"", "sum_ns"), 6000);
    not_busy(7, 25000);
    out = ports_result(31000);
    ck_assert_int_eq(support_number(out, "\"type\":\"ports\"", "busy_ns"), 4000);
    ck_assert_int_eq(support_number(out, "\"ports_busy\"", "count"), 1);
    ck_assert_int_eq(support_number(out, "\"ports_busy\"", "sum_ns"), 24000);
    ck_assert_int_eq(support_number(out, "\"ports_open\"", "open"), 0);
    ck_assert_int_eq(support_lines(out, "\"oldest_ns\""), 0);
    end();
}
END_TEST

static bool has_ended(void *ctx, uint32_t vm)
{
    (void)ctx;
    return vm == 17;
}

/* Nothing is under way in a VM that has ended; what was has its share of the last result, and takes none of others'. */
START_TEST(test_views_user_results_end_with_their_vm)
{
    const char *out;

    begin_ports();
    busy(7, 1000);
    busy(8, 6000);
    ck_assert_int_eq(support_number(ports_result(11000), "\"type\":\"ports\"", "busy_ns"), 15000);
    not_busy(8, 12000);
    source.ended = has_ended;
    out = ports_result(21000);
    ck_assert_int_eq(support_number(out, "\"type\":\"ports\"", "busy_ns"), 11000);
    ck_assert_int_eq(support_number(out, "\"ports_open\"", "open"), 0);
    ck_assert_int_eq(support_lines(out, "\"oldest_ns\""), 0);
    end();
    begin_ports();
    source.ended = has_ended;
    busy(7, 1000); /* no result had a share of it */
    ck_assert_int_eq(support_number(ports_result(11000), "\"type\":\"ports\"", "busy_ns"), 0);
    source.ended = NULL;
    end();
}
END_TEST

/* A span ends while it is read: the result that has its end without its being under way takes what was told of it
 * away. */
START_TEST(test_views_user_results_settle_what_ends_while_they_are_read)
{
    begin_ports();
    busy(7, 1000);
    ck_assert_int_eq(support_number(ports_result(11000), "\"type\":\"ports\"", "busy_ns"), 10000);
    views_user_gap(counting, 17); /* not there, and its end not counted */
    ck_assert_int_eq(support_number(ports_result(21000), "\"type\":\"ports\"", "busy_ns"), 0);
    busy(7, 1000);
    not_busy(7, 21500);
    ck_assert_int_eq(support_number(ports_result(31000), "\"type\":\"ports\"", "busy_ns"), 10500);
    end();
}
END_TEST

/* Of what was lost no more is taken away than from one result behind that. */
START_TEST(test_views_user_results_forget_what_never_ends)
{
    begin_ports();
    busy(7, 1000);
    ck_assert_int_eq(support_number(ports_result(11000), "\"type\":\"ports\"", "busy_ns"), 10000);
    views_user_gap(counting, 17);
    ck_assert_int_eq(support_number(ports_result(21000), "\"type\":\"ports\"", "busy_ns"), 0);
    ck_assert_int_eq(support_number(ports_result(31000), "\"type\":\"ports\"", "busy_ns"), 0);
    busy(7, 32000);
    not_busy(7, 32500);
    ck_assert_int_eq(support_number(ports_result(41000), "\"type\":\"ports\"", "busy_ns"), 500);
    end();
}
END_TEST

/* Atoms are told by number: which of them is normal is said before. */
START_TEST(test_views_user_tells_abnormal_exits_apart)
{
    static const bool on[VIEW_COUNT] = {[VIEW_exits] = true};
    struct view_settings settings = {.on = {[VIEW_exits] = 1}};

    begin(false);
    views_user_free(counting);
    ck_assert_int_eq(views_user_new(&settings, told, &source, &counting), 0);
    views_user_atom(counting, 17, 9, "normal", 6);
    views_user_atom(counting, 17, 10, "shutdown", 8);
    views_user_atom(counting, 17, 11, "normally", 8);
    spawn(1, 100);
    exit_of(1, 200); /* atom 9 */
    for (uint32_t atom = 9; atom < 12; atom++)
        views_user_tell(counting, &(union ev_any){
            .process__exit = {head(BATCH_process__exit, 300), ev_id_of_pid(atom, 0), ev_term_of(BATCH_SHAPE_ATOM, BATCH_TUPLE_OF_MORE, atom)}});
    ck_assert_int_eq(result_gather(&source, on, all, 1), 0);
    ck_assert_int_eq(result_print(&source, on, &reader), 0);
    ck_assert_int_eq(sink_flush(&sink), 0);
    ck_assert_int_eq(support_number(printed, "\"type\":\"exits\"", "exits"), 4);
    ck_assert_int_eq(support_number(printed, "\"type\":\"exits\"", "abnormal"), 2); /* {normal,...} and {normally,...} */
    end();
}
END_TEST

static int take_of_both(void *ctx, const struct view_table *table, struct result_taken *out)
{
    (void)ctx;
    if (!strcmp(table->map, "spawns_totals")) {
        ((struct row_spawns_totals *)out->rest)->births = 100;
        ((struct row_spawns_totals *)out->whole)->births = 60;
    }
    return 0;
}

/* Of a VM that was watched for half a second of two 40 births, of one that was watched all the time 60. */
START_TEST(test_views_user_rates_are_of_the_time_that_each_vm_was_watched)
{
    static const bool on[VIEW_COUNT] = {[VIEW_spawns] = true};

    begin(false);
    source = (struct result_source){
        .take = take_of_both, .name = name_of, .sink = &sink, .seconds = 0.5, .whole_seconds = 2};
    ck_assert_int_eq(result_gather(&source, on, all, 1), 0);
    ck_assert_int_eq(result_print(&source, on, &reader), 0);
    ck_assert_int_eq(sink_flush(&sink), 0);
    ck_assert_int_eq(support_number(printed, "\"type\":\"spawns\"", "births"), 100);
    ck_assert_int_eq(support_number(printed, "\"type\":\"spawns\"", "births_per_s"), 40 * 2 + 60 / 2);
    end();
}
END_TEST

/* A result begins empty, but what is kept by process stays until the VM ends. */
START_TEST(test_views_user_results_begin_empty_and_a_vm_that_ended_is_forgotten)
{
    begin(false);
    spawn(1, 10);
    spawn(2, 10);
    result();
    exit_of(1, 20);
    views_user_drop_vm(counting, 17, name_of, NULL);
    exit_of(2, 30);
    result();
    const char *last = strstr(printed + 1, "{\"time\""); /* behind the first line */

    while (last && strstr(last + 1, "\"type\":\"spawns\","))
        last = strstr(last + 1, "\"type\":\"spawns\",");
    ck_assert_ptr_nonnull(last);
    ck_assert_int_eq(support_number(last, "\"type\":\"spawns\"", "births"), 0);
    ck_assert_int_eq(support_number(last, "\"type\":\"spawns\"", "deaths"), 2);
    ck_assert_int_eq(support_number(last, "\"type\":\"spawns\"", "unseen"), 1);
    end();
}
END_TEST

/* Twice as many names as there is room for: rows and the rest add up. */
START_TEST(test_views_user_full_table_is_counted_and_rows_add_up)
{
    long shown = 0;

    begin(false);
    for (uint32_t i = 0; i < 2 * 8192; i++)
        views_user_tell(counting, &(union ev_any){.process__spawn = {head(BATCH_process__spawn, 5), ev_id_of_pid(i, 0), ev_mfa_of_atoms(i + 1, 6, 1)}});
    const char *out = result();

    for (const char *at = out; (at = strstr(at, "\"spawns_by_mfa\",")); at++)
        shown += support_number(at - 40, "\"spawns_by_mfa\"", "count");
    ck_assert_int_eq(shown, 2 * 8192);
    ck_assert_int_eq(support_number(out, "(other)", "count"), 2 * 8192 - 20);
    ck_assert_uint_eq(views_user_lost(counting), 8192);
    end();
}
END_TEST

static void sum_births(void *ctx, const struct view_table *table, uint32_t vm, const char *name, uint64_t *row)
{
    uint64_t *births = ctx;

    (void)vm;
    if (!strcmp(table->map, "spawns_totals"))
        births[0] += ((struct row_spawns_totals *)row)->births;
    if (!strcmp(table->map, "spawns_by_mfa") && name)
        births[1] += ((struct row_spawns_by_mfa *)row)->count;
}

/*
 * Of 23 births and two results one reader reads 13 and 10; one that reads only at the end, and one that asks for sums
 * alone, read all of them, though what was counted was taken as it came. A greatest value is that of what was not read.
 */
START_TEST(test_views_user_readers_read_at_their_own_pace)
{
    static const bool on[VIEW_COUNT] = {[VIEW_spawns] = true, [VIEW_efile] = true};
    const struct view_table *totals = view_table(VIEW_TABLE_spawns_totals);
    struct result_reader slow = {.wants = RESULT_ROWS}, sums = {.wants = RESULT_SUMS};
    struct result_reader *const readers[] = {&slow, &reader, &sums};
    uint64_t births[2] = {0};

    begin(false);
    ck_assert_ptr_null(result_sum(&sums, totals));
    for (uint32_t i = 0; i < 13; i++)
        spawn(i, 1000);
    operate(1, "f", 1000, 5000);
    ck_assert_int_eq(result_gather(&source, on, readers, 3), 0);
    ck_assert_int_eq(result_print(&source, on, &reader), 0);
    ck_assert_int_eq(sink_flush(&sink), 0);
    ck_assert_int_eq(support_number(printed, "\"type\":\"spawns\"", "births"), 13);
    ck_assert_int_eq(support_number(printed, "\"DELETE\"", "max_ns"), 5000);
    for (uint32_t i = 13; i < 23; i++)
        spawn(i, 2000);
    operate(2, "f", 8000, 100);
    ck_assert_int_eq(result_gather(&source, on, readers, 3), 0);
    size_t first = strlen(printed);

    ck_assert_int_eq(result_print(&source, on, &reader), 0);
    ck_assert_int_eq(sink_flush(&sink), 0);
    ck_assert_int_eq(support_number(printed + first, "\"type\":\"spawns\"", "births"), 10);
    ck_assert_int_eq(support_number(printed + first, "\"DELETE\"", "max_ns"), 100);
    ck_assert_ptr_eq(reader.unread, NULL);
    ck_assert_uint_eq(((const struct row_spawns_totals *)result_sum(&sums, totals))->births, 23);
    result_visit(&slow, &(struct result_visitor){.row = sum_births, .ctx = births});
    ck_assert_uint_eq(births[0], 23);
    ck_assert_uint_eq(births[1], 23);
    ck_assert_ptr_null(slow.unread);
    result_forget(&sums);
    ck_assert_ptr_null(result_sum(&sums, totals));
    end();
}
END_TEST

/* Each instance has its own tables and states. */
START_TEST(test_views_user_instances_count_apart)
{
    struct view_settings settings = {.on = {[VIEW_spawns] = 1}};
    struct views_user *other, *first;

    begin(false);
    first = counting;
    spawn(1, 10);
    ck_assert_int_eq(views_user_new(&settings, NULL, NULL, &other), 0);
    counting = other;
    spawn(2, 20);
    exit_of(1, 30);
    views_user_free(other);
    counting = first;
    exit_of(1, 40);
    const char *out = result();

    ck_assert_int_eq(support_number(out, "\"type\":\"spawns\"", "births"), 1);
    ck_assert_int_eq(support_number(out, "\"type\":\"spawns\"", "deaths"), 1);
    ck_assert_int_eq(support_number(out, "\"type\":\"spawns\"", "unseen"), 0);
    end();
}
END_TEST

Suite *views_user_suite(void)
{
    Suite *suite = suite_create("views_user");
    TCase *all = tcase_create("all");

    tcase_add_test(all, test_views_user_counts_births_deaths_and_lifetimes);
    tcase_add_test(all, test_views_user_measures_waits_and_pauses);
    tcase_add_test(all, test_views_user_follows_operations_and_keeps_the_slowest);
    tcase_add_test(all, test_views_user_results_hold_what_was_read_early);
    tcase_add_test(all, test_views_user_results_share_the_time_of_what_is_under_way);
    tcase_add_test(all, test_views_user_results_tell_what_is_under_way);
    tcase_add_test(all, test_views_user_results_end_with_their_vm);
    tcase_add_test(all, test_views_user_results_settle_what_ends_while_they_are_read);
    tcase_add_test(all, test_views_user_results_forget_what_never_ends);
    tcase_add_test(all, test_views_user_tells_abnormal_exits_apart);
    tcase_add_test(all, test_views_user_rates_are_of_the_time_that_each_vm_was_watched);
    tcase_add_test(all, test_views_user_results_begin_empty_and_a_vm_that_ended_is_forgotten);
    tcase_add_test(all, test_views_user_readers_read_at_their_own_pace);
    tcase_add_test(all, test_views_user_instances_count_apart);
    tcase_add_test(all, test_views_user_full_table_is_counted_and_rows_add_up);
    suite_add_tcase(suite, all);
    return suite;
}
