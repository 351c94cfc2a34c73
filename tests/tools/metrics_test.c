/* SPDX-License-Identifier: Apache-2.0 */
/* What views counted as metrics: the text, held against tests/tools/golden/metrics.om and .prom; how counts live. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "event/hist.h"
#include "serve/metrics.h"
#include "serve/sink_openmetrics.h"
#include "support.h"

enum { SECOND = 1000000000 };
#define START_NS (1000ull * SECOND)

static struct metrics *metrics;
static uint64_t now_ns;
static char *page;
static size_t page_size;

static void name_vm(int pid, char *out, size_t size)
{
    snprintf(out, size, "%s", pid == 17 ? "shop@host" : pid == 18 ? "e\"v\\i\nl\033[2J" : "");
}

/* The texts of names of records. */
static const char *name_of(void *ctx, uint32_t vm, const struct wire_name *name)
{
    (void)ctx, (void)vm;
    return name->text;
}

static const struct result_source source = {.name = name_of};

static void begin(const bool on[VIEW_COUNT], uint64_t linger_ns)
{
    const struct metrics_settings settings = {on, "1.2.3", START_NS, 1700000000ull * SECOND, linger_ns, name_vm};

    now_ns = START_NS;
    ck_assert_int_eq(metrics_new(&settings, &metrics), 0);
}

/* A result that took a second, in which these VMs run; it is to be ended. */
static void tick(const struct metrics_vm *vms, size_t n)
{
    now_ns += SECOND;
    metrics_begin(metrics, now_ns);
    for (size_t i = 0; i < n; i++)
        metrics_see(metrics, &vms[i]);
}

static void finish(void)
{
    const struct metrics_own own = {{{"ring buffer full", 1}, {"map full", 2}}, 2, 1500000000, 4096,
                                    {60000000000, 0.125, true, 500000000, 600}, 250000000, 1000, true};

    metrics_finish(metrics, &own);
}

static const char *print(bool prometheus)
{
    FILE *out;

    free(page);
    out = open_memstream(&page, &page_size);
    metrics_print(metrics, out, prometheus);
    fclose(out);
    return page;
}

static void end(void)
{
    metrics_free(metrics);
    free(page);
    page = NULL;
}

static void births(uint32_t vm, const char *mfa, uint64_t count)
{
    struct row_spawns_by_mfa row = {.count = count};

    metrics_row(metrics, view_table(VIEW_TABLE_spawns_by_mfa), vm, mfa, (uint64_t *)&row);
}

static void pauses(uint32_t vm, const char *owner, uint64_t ns, int times, uint64_t words)
{
    struct row_gc_by_owner row = {.reclaimed = words};

    while (times--)
        hist_add(&row.pause, ns);
    metrics_row(metrics, view_table(VIEW_TABLE_gc_by_owner), vm, owner, (uint64_t *)&row);
}

static void pause_record(uint32_t vm, const char *owner, uint64_t ns)
{
    struct told_gc_pause record = {
        .header = {now_ns, vm, VIEW_RECORD_gc_pause}, .took = ns, .pid = ev_id_of_pid(23, 1)};

    strcpy(record.owner.text, owner);
    metrics_record(metrics, &source, &record.header, sizeof record);
    metrics_record(metrics, &source, &record.header, sizeof record - 1); /* cut: none */
}

/* The number of the sample that begins like this; -1: there is none. */
static double sample(const char *text, const char *series)
{
    for (const char *at = text; (at = strstr(at, series)); at++)
        if ((at == text || at[-1] == '\n') && at[strlen(series)] == ' ')
            return strtod(at + strlen(series), NULL);
    return -1;
}

/* ---- the text */

static void fill(void)
{
    static const struct metrics_vm vms[] = {{.pid = 17, .started = 100, .watched = true},
                                           {.pid = 18, .started = 200, .watched = true},
                                           {.pid = 19, .started = 300}};
    struct row_gc_totals totals = {.minor = 23, .major = 2, .paused = 1234567, .reclaimed = 1000};

    tick(vms, 3);
    metrics_row(metrics, view_table(VIEW_TABLE_gc_totals), 17, "", (uint64_t *)&totals);
    totals.minor = 7;
    metrics_row(metrics, view_table(VIEW_TABLE_gc_totals), 18, "", (uint64_t *)&totals);
    metrics_row(metrics, view_table(VIEW_TABLE_gc_totals), 0, NULL, (uint64_t *)&(struct row_gc_totals){0});
    pauses(17, "shop_cart", 1023, 2, 40);
    pauses(17, "shop_cart", 1024, 3, 2);
    pauses(17, "shop_cart", 20000000, 1, 0);
    pauses(18, "'a\"b\\c\nd'\x80:f/1", 1ull << 41, 1, 7);
    pauses(0, NULL, 0, 0, 0);
    pause_record(17, "shop_cart", 20000000);
    finish();
}

/* UPDATE_GOLDEN=1 writes the files anew. */
START_TEST(test_metrics_print_what_the_golden_files_have)
{
    static const bool on[VIEW_COUNT] = {[VIEW_gc] = true};
    static const char *const names[] = {"metrics.om", "metrics.prom"};
    char path[128], before[1 << 16] = "";
    FILE *file;

    begin(on, SECOND);
    fill();
    snprintf(path, sizeof path, "tests/tools/golden/%s", names[_i]);
    print(_i);
    file = fopen(path, getenv("UPDATE_GOLDEN") ? "w+" : "r");
    ck_assert(file != NULL);
    if (getenv("UPDATE_GOLDEN"))
        fputs(page, file);
    rewind(file);
    before[fread(before, 1, sizeof before - 1, file)] = '\0';
    fclose(file);
    ck_assert_str_eq(page, before);
    end();
}
END_TEST

START_TEST(test_metrics_families_have_names_of_their_own)
{
    bool on[VIEW_COUNT];

    for (int i = 0; i < VIEW_COUNT; i++)
        on[i] = true;
    begin(on, SECOND);
    print(false);
    for (char *at = page; (at = strstr(at, "# TYPE ")); at++) {
        char line[256];

        snprintf(line, sizeof line, "%.*s ", (int)(strcspn(at + 7, " ") + 7), at);
        ck_assert_msg(!strstr(at + 7, line), "twice: %s", line);
    }
    for (char *at = page; (at = strstr(at, "# HELP ")); at++)
        ck_assert_msg(!memchr(at, '\\', strcspn(at, "\n")) && !memchr(at, '"', strcspn(at, "\n")), "%.80s", at);
    ck_assert_str_eq(page + page_size - 6, "# EOF\n");
    end();
}
END_TEST

/* The reference of views has each metric by its name. */
START_TEST(test_metrics_stand_in_the_reference)
{
    const struct support_run *r = support_run("gcc -o print $SOURCE/docs/views.c && ./print");
    bool on[VIEW_COUNT];
    int found = 0;

    for (int i = 0; i < VIEW_COUNT; i++)
        on[i] = true;
    begin(on, SECOND);
    print(true);
    for (char *at = page; (at = strstr(at, "# TYPE ")) && strncmp(at, "# TYPE erlsnoop_up", 18); at++, found++) {
        char name[256];

        snprintf(name, sizeof name, " %.*s |", (int)strcspn(at + 7, " "), at + 7);
        ck_assert_msg(strstr(r->out, name), "no%s", name);
    }
    ck_assert_int_gt(found, 30);
    end();
}
END_TEST

/* A label's value as a reader of the format has it; NULL: the text is no label "x" alone. */
static const char *unescape(const char *labels, char *out)
{
    size_t used = 0, i = 3;

    if (strncmp(labels, "x=\"", 3))
        return NULL;
    for (; labels[i] && labels[i] != '"'; i++) {
        if ((unsigned char)labels[i] < 0x20)
            return NULL;
        if (labels[i] == '\\' && !strchr("\\\"n", labels[++i]))
            return NULL;
        out[used++] = labels[i];
    }
    out[used] = '\0';
    return labels[i] == '"' && !labels[i + 1] ? out : NULL;
}

START_TEST(test_openmetrics_labels_of_any_bytes_are_one_label)
{
    unsigned seed = 23;

    for (int round = 0; round < 20000; round++) {
        char labels[OPENMETRICS_LABELS_BYTES] = "", text[OPENMETRICS_LABEL_BYTES], back[OPENMETRICS_LABELS_BYTES],
             raw[400];
        size_t length = (size_t)rand_r(&seed) % sizeof raw;

        for (size_t i = 0; i < length; i++)
            raw[i] = (char)(rand_r(&seed) % 3 ? 1 + rand_r(&seed) % 255 : "\"\\\n\r\xc2\x80\xe2"[rand_r(&seed) % 7]);
        raw[length ? length - 1 : 0] = '\0';
        openmetrics_text(text, raw);
        openmetrics_label(labels, "x", raw);
        ck_assert_msg(unescape(labels, back) && !strcmp(back, text), "%s", labels);
        openmetrics_text(back, text);
        ck_assert_str_eq(back, text); /* what was made harmless stays as it is */
    }
}
END_TEST

START_TEST(test_openmetrics_label_without_room_is_left_out)
{
    char labels[OPENMETRICS_LABELS_BYTES] = "", quotes[300];
    size_t before = 0;

    memset(quotes, '"', sizeof quotes - 1);
    quotes[sizeof quotes - 1] = '\0';
    for (int i = 0; i < 10; i++)
        openmetrics_label(labels, "x", quotes);
    before = strlen(labels);
    ck_assert_uint_lt(before, sizeof labels);
    ck_assert_int_eq(labels[before - 1], '"');
}
END_TEST

/* Counts of random values against what was really below each bound. */
START_TEST(test_openmetrics_buckets_hold_what_is_up_to_their_bounds)
{
    static const struct {
        enum openmetrics_unit unit;
        double scale;
    } kinds[] = {{OPENMETRICS_NS, 1e-9}, {OPENMETRICS_ONE, 1}, {OPENMETRICS_WORDS, 8}};
    struct openmetrics_family family = {"x", OPENMETRICS_HISTOGRAM, kinds[_i].unit, "help"};
    struct wire_hist hist = {0};
    uint64_t values[500];
    unsigned seed = 7;
    int buckets = 0;
    FILE *out = open_memstream(&page, &page_size);
    struct openmetrics om = {out, false, NULL};

    for (size_t i = 0; i < 500; i++) {
        values[i] = i < 3 ? i : (uint64_t)rand_r(&seed) << 20 >> rand_r(&seed) % 50;
        hist_add(&hist, values[i]);
    }
    openmetrics_family(&om, &family);
    openmetrics_hist(&om, "", &hist, NULL, 0);
    fclose(out);
    for (char *at = page; (at = strstr(at, "le=\"")); at++, buckets++) {
        double bound = strtod(at + 4, NULL), got = strtod(strchr(at, '}') + 1, NULL);
        int below = 0;

        /* A time is of what goes on after its nanosecond began: it is below the bound, not at it. */
        for (size_t i = 0; i < 500; i++)
            below += kinds[_i].unit == OPENMETRICS_NS ? (double)values[i] + .5 <= bound / 1e-9
                                                      : (double)values[i] * kinds[_i].scale <= bound;
        ck_assert_msg((int)got == below, "le %g: %g, not %d", bound, got, below);
    }
    ck_assert_int_gt(buckets, 20);
    free(page);
    page = NULL;
}
END_TEST

/* ---- lives of counts */

static const bool spawns[VIEW_COUNT] = {[VIEW_spawns] = true};

START_TEST(test_metrics_add_up_and_several_who_ask_see_the_same)
{
    static const struct metrics_vm vm = {.pid = 17, .started = 100, .watched = true};
    static const char series[] = "erlsnoop_spawns_by_mfa_total{vm=\"17\",name=\"shop@host\",mfa=\"a:f/1\"}";

    begin(spawns, SECOND);
    for (int i = 1; i <= 5; i++) {
        tick(&vm, 1);
        births(17, "a:f/1", 23);
        finish();
        ck_assert_double_eq(sample(print(false), series), 23 * i);
        ck_assert_double_eq(sample(print(true), series), 23 * i);
        ck_assert_double_eq(sample(print(false), series), 23 * i);
    }
    ck_assert_double_eq(sample(page, "erlsnoop_spawns_by_mfa_created{vm=\"17\",name=\"shop@host\",mfa=\"a:f/1\"}"),
                        1700001000.0);
    end();
}
END_TEST

/* A VM has its totals from the beginning; what belongs to none is told without a label, and only when there is some. */
START_TEST(test_metrics_of_all_of_a_vm_have_its_label)
{
    static const struct metrics_vm vms[] = {{.pid = 17, .started = 100, .watched = true},
                                           {.pid = 19, .started = 300, .watched = true}};
    const struct view_table *t = view_table(VIEW_TABLE_spawns_totals);
    struct row_spawns_totals row = {.births = 23}, lost = {.deaths = 3};

    begin(spawns, SECOND);
    tick(vms, 2);
    metrics_row(metrics, t, 17, "", (uint64_t *)&row);
    metrics_row(metrics, t, 0, NULL, (uint64_t *)&(struct row_spawns_totals){0});
    finish();
    print(false);
    ck_assert_double_eq(sample(page, "erlsnoop_spawns_births_total{vm=\"17\",name=\"shop@host\"}"), 23);
    ck_assert_double_eq(sample(page, "erlsnoop_spawns_births_total{vm=\"19\",name=\"\"}"), 0);
    ck_assert_double_eq(sample(page, "erlsnoop_spawns_births_total"), -1);
    tick(vms, 2);
    metrics_row(metrics, t, 17, "", (uint64_t *)&row);
    metrics_row(metrics, t, 0, NULL, (uint64_t *)&lost);
    finish();
    print(false);
    ck_assert_double_eq(sample(page, "erlsnoop_spawns_births_total{vm=\"17\",name=\"shop@host\"}"), 46);
    ck_assert_double_eq(sample(page, "erlsnoop_spawns_deaths_total"), 3);
    end();
}
END_TEST

/* A VM that does not tell what joins queues has no zero there; one that does has. */
START_TEST(test_metrics_leave_out_what_a_vm_does_not_tell)
{
    static const bool messages[VIEW_COUNT] = {[VIEW_messages] = true};
    static const struct metrics_vm vms[] = {
        {.pid = 17, .started = 100, .watched = true, .unavailable.events[BATCH_message__queued] = true},
        {.pid = 19, .started = 300, .watched = true}};
    const struct view_table *t = view_table(VIEW_TABLE_messages_totals);
    struct row_messages_totals row = {.sent = 23};

    begin(messages, SECOND);
    tick(vms, 2);
    metrics_row(metrics, t, 17, "", (uint64_t *)&row);
    metrics_row(metrics, t, 0, NULL, (uint64_t *)&(struct row_messages_totals){0});
    finish();
    print(false);
    ck_assert_double_eq(sample(page, "erlsnoop_messages_sent_total{vm=\"17\",name=\"shop@host\"}"), 23);
    ck_assert_double_eq(sample(page, "erlsnoop_messages_queued_total{vm=\"17\",name=\"shop@host\"}"), -1);
    ck_assert_double_eq(sample(page, "erlsnoop_messages_received_total{vm=\"17\",name=\"shop@host\"}"), 0);
    ck_assert_double_eq(sample(page, "erlsnoop_messages_queued_total{vm=\"19\",name=\"\"}"), 0);
    end();
}
END_TEST

START_TEST(test_metrics_of_a_vm_that_ended_leave_after_a_moment)
{
    static const struct metrics_vm vm = {.pid = 17, .started = 100, .watched = true};
    static const char up[] = "erlsnoop_up{vm=\"17\",name=\"shop@host\"}",
                      series[] = "erlsnoop_spawns_by_mfa_total{vm=\"17\",name=\"shop@host\",mfa=\"a:f/1\"}";

    begin(spawns, 2ull * SECOND);
    tick(&vm, 1);
    finish();
    ck_assert_double_eq(sample(print(false), up), 1);
    tick(NULL, 0);
    births(17, "a:f/1", 5); /* its last */
    finish();
    ck_assert_double_eq(sample(print(false), up), 0);
    ck_assert_double_eq(sample(page, series), 5);
    tick(NULL, 0);
    finish();
    ck_assert_double_eq(sample(print(false), series), 5);
    tick(NULL, 0);
    finish();
    ck_assert(!strstr(print(false), "vm=\"17\""));
    end();
}
END_TEST

START_TEST(test_metrics_of_a_vm_with_a_used_pid_begin_at_zero)
{
    static const struct metrics_vm first = {.pid = 17, .started = 100, .watched = true},
                                   second = {.pid = 17, .started = 101, .watched = true};
    static const char series[] = "erlsnoop_spawns_by_mfa_total{vm=\"17\",name=\"shop@host\",mfa=\"a:f/1\"}",
                      created[] = "erlsnoop_spawns_by_mfa_created{vm=\"17\",name=\"shop@host\",mfa=\"a:f/1\"}";

    begin(spawns, 60ull * SECOND);
    tick(&first, 1);
    births(17, "a:f/1", 5);
    finish();
    tick(&second, 1);
    births(17, "a:f/1", 3);
    finish();
    ck_assert_double_eq(sample(print(false), series), 3);
    ck_assert_double_eq(sample(page, created), 1700001001.0);
    end();
}
END_TEST

/* One that was counted before a look found it is the one that is found. */
START_TEST(test_metrics_count_a_vm_before_it_is_seen)
{
    static const struct metrics_vm vm = {.pid = 17, .started = 100, .watched = true};

    begin(spawns, SECOND);
    tick(NULL, 0);
    births(17, "a:f/1", 5);
    finish();
    ck_assert_double_eq(sample(print(false), "erlsnoop_up{vm=\"17\",name=\"shop@host\"}"), 1);
    tick(&vm, 1);
    births(17, "a:f/1", 5);
    finish();
    ck_assert_double_eq(
        sample(print(false), "erlsnoop_spawns_by_mfa_total{vm=\"17\",name=\"shop@host\",mfa=\"a:f/1\"}"), 10);
    end();
}
END_TEST

static double total_births(void)
{
    double total = 0;

    for (const char *at = print(true); (at = strstr(at, "\nerlsnoop_spawns_by_mfa_total")); at++)
        total += strtod(strchr(at, '}') + 1, NULL);
    return total;
}

/* As many names as the table shows rows have series, and one that comes to be counted often gets one. */
START_TEST(test_metrics_bound_the_names_of_a_vm)
{
    static const struct metrics_vm vm = {.pid = 17, .started = 100, .watched = true};
    char name[32];
    double before;

    begin(spawns, SECOND);
    tick(&vm, 1);
    births(0, NULL, 7); /* that the kernel's table had no room for */
    for (int i = 0; i < 1000; i++) {
        snprintf(name, sizeof name, "m%d:f/0", i);
        births(17, name, 2);
    }
    finish();
    ck_assert_double_eq(total_births(), 2007);
    ck_assert_int_eq(support_lines(page, "erlsnoop_spawns_by_mfa_total{vm="), 21);
    ck_assert_double_eq(sample(page, "erlsnoop_spawns_by_mfa_total{vm=\"17\",name=\"shop@host\",mfa=\"(other)\"}"),
                        1960);
    ck_assert_double_eq(sample(page, "erlsnoop_spawns_by_mfa_total{mfa=\"(other)\"}"), 7);
    for (int i = 0; i < 3; i++) { /* too young to make way */
        tick(&vm, 1);
        births(17, "late:f/0", 100);
        finish();
    }
    ck_assert(!strstr(print(true), "late:f/0"));
    before = total_births();
    now_ns += 60ull * SECOND;
    tick(&vm, 1);
    births(17, "late:f/0", 1000);
    finish();
    ck_assert_double_eq(
        sample(print(true), "erlsnoop_spawns_by_mfa_total{vm=\"17\",name=\"shop@host\",mfa=\"late:f/0\"}"), 1000);
    ck_assert_int_eq(support_lines(page, "erlsnoop_spawns_by_mfa_total{vm="), 21);
    ck_assert_double_eq(total_births(), before + 1000 - 2);
    end();
}
END_TEST

#define PAUSES "erlsnoop_gc_by_owner_pause_seconds_count{vm=\"17\",name=\"shop@host\","

/* Processes without a name come and go: they are one series, which takes none from those that have one. */
START_TEST(test_metrics_count_processes_without_a_name_together)
{
    static const bool on[VIEW_COUNT] = {[VIEW_gc] = true};
    static const struct metrics_vm vm = {.pid = 17, .started = 100, .watched = true};
    char name[32];

    begin(on, SECOND);
    for (int i = 0; i < 20; i++) {
        snprintf(name, sizeof name, "<0.%d.0>", i);
        tick(&vm, 1);
        pauses(17, name, 5000, 1 + i, 0);
        pause_record(17, name, 5000);
        pauses(17, "shop_cart", 5000, 1, 0);
        finish();
    }
    print(false);
    ck_assert(!strstr(page, "owner=\"<"));
    ck_assert_double_eq(sample(page, PAUSES "owner=\"(unnamed)\"}"), 210);
    ck_assert_double_eq(sample(page, PAUSES "owner=\"shop_cart\"}"), 20);
    ck_assert_int_eq(support_lines(page, "owner=\"(unnamed)\",le=\"0.000008192\"} 210 # {pid=\"<0.23.1>\"}"), 1);
    end();
}
END_TEST

static const char *node = "shop";

static void name_node(int pid, char *out, size_t size)
{
    (void)pid;
    snprintf(out, size, "%s", node);
}

/* It is told with the name that it has soon after its begin, from then on. */
START_TEST(test_metrics_name_a_vm_once_it_has_its_name)
{
    static const struct metrics_vm vm = {.pid = 17, .started = 100, .watched = true};
    const struct metrics_settings settings = {spawns, "1.2.3", START_NS, 1, SECOND, name_node};

    now_ns = START_NS;
    ck_assert_int_eq(metrics_new(&settings, &metrics), 0);
    tick(&vm, 1);
    finish();
    ck_assert_double_eq(sample(print(true), "erlsnoop_up{vm=\"17\",name=\"shop\"}"), 1);
    node = "shop@host";
    tick(&vm, 1);
    finish();
    ck_assert_double_eq(sample(print(true), "erlsnoop_up{vm=\"17\",name=\"shop@host\"}"), 1);
    node = ""; /* it is about to end */
    tick(&vm, 1);
    finish();
    ck_assert_double_eq(sample(print(true), "erlsnoop_up{vm=\"17\",name=\"shop@host\"}"), 1);
    now_ns += 10ull * SECOND;
    node = "other";
    tick(&vm, 1);
    finish();
    ck_assert_double_eq(sample(print(true), "erlsnoop_up{vm=\"17\",name=\"shop@host\"}"), 1);
    end();
}
END_TEST

/* Many VMs with many names: neither the memory nor the page grows without end, and every birth is counted. */
START_TEST(test_metrics_bound_the_series_of_all_vms)
{
    begin(spawns, SECOND);
    tick(NULL, 0);
    for (uint32_t vm = 1; vm <= 2000; vm++)
        for (int i = 0; i < 30; i++) {
            char name[32];

            snprintf(name, sizeof name, "m%d:f/0", i);
            births(100 + vm, name, 1);
        }
    finish();
    ck_assert_double_eq(total_births(), 60000);
    ck_assert_int_le(support_lines(page, "\nerlsnoop_spawns_by_mfa_total"), 4097);
    end();
}
END_TEST

/* Each value is named in the bucket that counted it, and no more after the VM is gone. */
START_TEST(test_metrics_exemplars_stand_in_their_buckets)
{
    static const bool on[VIEW_COUNT] = {[VIEW_gc] = true};
    static const struct metrics_vm vm = {.pid = 17, .started = 100, .watched = true};

    begin(on, SECOND);
    tick(&vm, 1);
    pauses(17, "a", 20000000, 1, 0);
    pause_record(17, "a", 20000000);
    pause_record(17, "b", 30000000); /* of which nothing was counted */
    pause_record(99, "a", 30000000);
    finish();
    print(false);
    ck_assert_int_eq(support_lines(page, " # {pid="), 1);
    ck_assert(strstr(page, "le=\"0.033554432\"} 1 # {pid=\"<0.23.1>\"} 0.02 1700001001.0\n") != NULL);
    ck_assert(!strstr(print(true), " # {"));
    end();
}
END_TEST

Suite *metrics_suite(void)
{
    Suite *suite = suite_create("metrics");
    TCase *text = tcase_create("text"), *lives = tcase_create("lives");

    tcase_add_loop_test(text, test_metrics_print_what_the_golden_files_have, 0, 2);
    tcase_add_test(text, test_metrics_families_have_names_of_their_own);
    tcase_add_test(text, test_metrics_stand_in_the_reference);
    tcase_add_test(text, test_openmetrics_labels_of_any_bytes_are_one_label);
    tcase_add_test(text, test_openmetrics_label_without_room_is_left_out);
    tcase_add_loop_test(text, test_openmetrics_buckets_hold_what_is_up_to_their_bounds, 0, 3);
    suite_add_tcase(suite, text);
    tcase_add_test(lives, test_metrics_add_up_and_several_who_ask_see_the_same);
    tcase_add_test(lives, test_metrics_of_all_of_a_vm_have_its_label);
    tcase_add_test(lives, test_metrics_of_a_vm_that_ended_leave_after_a_moment);
    tcase_add_test(lives, test_metrics_leave_out_what_a_vm_does_not_tell);
    tcase_add_test(lives, test_metrics_of_a_vm_with_a_used_pid_begin_at_zero);
    tcase_add_test(lives, test_metrics_count_a_vm_before_it_is_seen);
    tcase_add_test(lives, test_metrics_bound_the_names_of_a_vm);
    tcase_add_test(lives, test_metrics_count_processes_without_a_name_together);
    tcase_add_test(lives, test_metrics_name_a_vm_once_it_has_its_name);
    tcase_add_test(lives, test_metrics_bound_the_series_of_all_vms);
    tcase_add_test(lives, test_metrics_exemplars_stand_in_their_buckets);
    suite_add_tcase(suite, lives);
    return suite;
}
