/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a VM may tell, all the way: pages into the feed, its views, results, and each form that results are printed in,
 * metrics among them, and a recording that is read again. A byte of the input chooses each step: an event of a process,
 * an atom, a page that ends, a result. Numbers are small most of the time, so that events are about the same processes.
 * Invariants: lines of JSON and terms are whole; no control character is printed; a recording gives the pages back that
 * it was given. For libFuzzer.
 */
#include "source/feed.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/fail.h"
#include "otp/owners.h"
#include "recording/recording_read.h"
#include "recording/recording_write.h"
#include "serve/metrics.h"
#include "view/before.h"
#include "view/beside.h"
#include "view/sched_parts.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n);

enum { VMS = 3, THREADS = 3, AT_A_TIME = 3, MOST_STEPS = 4000, PAGE_WORDS = (BATCH_PAGE_BYTES - (int)sizeof(struct batch_header)) / 8 };

struct thread {
    union {
        struct batch_received received;
        struct {
            struct batch_received received;
            struct batch_header header;
            uint64_t words[PAGE_WORDS];
        } page;
    };
    unsigned n;
    uint64_t sequence, events;
};

struct run {
    const uint8_t *at, *end;
    struct feed *feed;
    struct metrics *metrics;
    struct recording_writer *writer;
    struct sink sinks[OPTIONS_FORMS];
    char *printed[OPTIONS_FORMS];
    size_t nprinted[OPTIONS_FORMS];
    struct thread threads[VMS][THREADS];
    struct open_shares shares;
    __u64 slowest[VIEW_NSLOWEST]; /* how many are kept, and printed */
    uint64_t now_ns, pages, sum; /* sum: of what the pages hold, in any order */
};

static void ensure(bool holds)
{
    if (!holds)
        abort();
}

/* ---- what is read of processes, in /proc and in their memory: none is here, and nobody asks */

int owners_read(const struct target *t, const struct owners_ops *ops)
{
    ensure(!t && !ops);
    return 0;
}

int before_look(struct before *before, uint64_t begun_ns, uint64_t now_ns)
{
    ensure(!before && !begun_ns && !now_ns);
    return 0;
}

bool before_knows(const struct before *before, uint32_t vm, enum pending_kind kind)
{
    ensure(!before && !vm && !kind);
    return false;
}

int before_each(struct before *before, enum pending_kind kind,
                int (*see)(void *ctx, uint32_t vm, struct before_item *item), void *ctx)
{
    ensure(!before && !kind && !see && !ctx);
    return 0;
}

int before_file_runs(struct before *before, uint32_t vm, ev_id id, uint64_t *began_ns)
{
    ensure(!before && !vm && !id && !began_ns);
    return 0;
}

uint64_t before_share(const struct before *before, const struct before_item *item)
{
    ensure(!before && !item);
    return 0;
}

bool sched_parts_read(const struct view_thread *before, uint64_t all_ns, struct sched_parts *out)
{
    ensure(!before && !all_ns && !out);
    return false;
}

void beside_print(const struct result_source *source, enum view_id view)
{
    ensure(!source->quotas && !source->connections && view < VIEW_COUNT);
}

static uint8_t take(struct run *r)
{
    return r->at < r->end ? *r->at++ : 0;
}

/* ---- pages */

static struct thread *begin_page(struct run *r, uint8_t choice)
{
    uint32_t vm = choice % VMS, thread = choice / VMS % THREADS;
    struct thread *t = &r->threads[vm][thread];

    if (t->n)
        return t;
    t->page.received = (struct batch_received){.vm = vm + 1};
    t->page.header = (struct batch_header){.magic = BATCH_MAGIC, .sequence = ++t->sequence, .thread = thread + 1,
                                           .tid = 100 + thread, .events = t->events, .begin_ticks = r->now_ns,
                                           .begin_ns = r->now_ns};
    return t;
}

static uint64_t sum_of(const void *bytes, size_t n)
{
    const uint8_t *at = bytes;
    uint64_t sum = n;

    while (n--)
        sum = (sum ^ *at++) * 0x100000001b3u;
    return sum;
}

static void hand_over(struct run *r, struct thread *t)
{
    size_t used = sizeof t->page.header + t->n * 8;

    if (!t->n)
        return;
    t->page.header.end_ns = t->page.header.end_ticks = t->page.received.time_ns = r->now_ns;
    t->page.header.bytes = t->page.received.bytes = (uint32_t)used;
    feed_take(r->feed, &t->received);
    if (!recording_page(r->writer, &t->received)) {
        r->sum += sum_of(&t->page.header, used);
        r->pages++;
    }
    t->n = 0;
}

/* A word as a VM tells it in that unit, small; or as no VM does. */
static uint64_t make_word(struct run *r, enum event_unit unit)
{
    uint64_t choice = take(r), word = 0;

    if (choice == 0xff) {
        for (int i = 0; i < 8; i++)
            word = word << 8 | take(r);
        return word;
    }
    switch (unit) {
    case EVENT_UNIT_pid:
    case EVENT_UNIT_caller:
    case EVENT_UNIT_port:
    case EVENT_UNIT_name: return (choice >> 5) << 60 | (choice & 7) << 28 * (choice >> 5 == BATCH_REMOTE) | (choice & 31);
    case EVENT_UNIT_mfa: return (choice & 15) << 33 | (choice >> 4) << 8 | (choice & 3);
    case EVENT_UNIT_term: return (choice & 15) << 56 | (choice >> 4) << 32 | (choice & 7);
    case EVENT_UNIT_ns: return choice << (choice & 31);
    default: return choice;
    }
}

static void add_record(struct run *r, uint8_t choice)
{
    enum batch_event event = take(r) % BATCH_EVENTS;
    unsigned args = batch_event_args(event), bytes[BATCH_MAX_ARGS] = {0}, head;
    struct thread *t = begin_page(r, choice);

    if (t->n + 1 + BATCH_MAX_ARGS * 5 > PAGE_WORDS)
        hand_over(r, t);
    begin_page(r, choice);
    head = t->n++;
    for (unsigned i = 0; i < args; i++) {
        enum event_unit unit = event <= BATCH_LAST_NAME ? EVENT_UNIT_none : event_row(event)->args[i].unit;
        bool is_text = unit == EVENT_UNIT_text || (event == BATCH_ATOM && i == 1);

        bytes[i] = is_text ? take(r) % 25 : 0;
        t->page.words[t->n++] = is_text ? bytes[i] : make_word(r, unit);
    }
    for (unsigned i = 0; i < args; i++) {
        memset(&t->page.words[t->n], 0, (bytes[i] + 7) / 8 * 8);
        for (unsigned b = 0; b < bytes[i]; b++)
            ((char *)&t->page.words[t->n])[b] = (char)take(r);
        t->n += (bytes[i] + 7) / 8;
    }
    t->page.words[head] = BATCH_HEAD(r->now_ns - t->page.header.begin_ns, 0, t->n - head - 1, event);
    t->events += event > BATCH_LAST_NAME;
}

/* ---- results */

static void on_record(void *ctx, const struct wire_header *record, size_t size);

static double seconds_of(const struct run *r)
{
    return (double)(r->now_ns + 1) / 1e9;
}

static struct result_source source_of(struct run *r, struct sink *sink)
{
    return (struct result_source){.ctx = r->feed,
                                  .take = feed_counted,
                                  .name = feed_name,
                                  .sink = sink,
                                  .seconds = seconds_of(r),
                                  .whole_seconds = seconds_of(r),
                                  .slowest = feed_slowest,
                                  .shown = r->slowest,
                                  .open = feed_open,
                                  .ended = feed_ended,
                                  .now_ns = r->now_ns,
                                  .shares = &r->shares,
                                  .owner = feed_whose,
                                  .kept = feed_kept};
}

/* Events are printed as they are told. */
static void on_record(void *ctx, const struct wire_header *record, size_t size)
{
    struct run *r = ctx;

    for (size_t form = 0; form < OPTIONS_FORMS; form++) {
        struct result_source source = source_of(r, &r->sinks[form]);

        result_record(&source, record, size);
        if (!form)
            metrics_record(r->metrics, &source, record, size);
    }
}

static void name_vm(int pid, char *out, size_t size)
{
    snprintf(out, size, "vm\"\\\n\x1b\xff %d", pid);
}

/* The views of a run: some that follow each other, and the helpers. */
static bool on[VIEW_COUNT];

static void choose_views(uint8_t first)
{
    for (size_t v = 0; v < VIEW_COUNT; v++)
        on[v] = !views[v].text || (v + VIEW_COUNT - first % VIEW_COUNT) % VIEW_COUNT < AT_A_TIME;
}

static void print_result(struct run *r)
{
    struct result_reader readers[OPTIONS_FORMS + 1] = {0}, *all[OPTIONS_FORMS + 1];
    struct result_source source = source_of(r, NULL);

    for (size_t i = 0; i <= OPTIONS_FORMS; i++)
        all[i] = &readers[i];
    if (result_gather(&source, on, all, OPTIONS_FORMS + 1))
        return;
    for (size_t form = 0; form < OPTIONS_FORMS; form++) {
        source = source_of(r, &r->sinks[form]);
        sink_moment(&r->sinks[form], r->now_ns);
        ensure(!result_print(&source, on, &readers[form]));
        result_forget(&readers[form]);
    }
    metrics_begin(r->metrics, r->now_ns);
    for (int vm = 1; vm <= VMS; vm++)
        metrics_see(r->metrics, &(struct metrics_vm){.pid = vm, .started = 1, .watched = true});
    result_visit(&readers[OPTIONS_FORMS],
                 &(struct result_visitor){.row = metrics_row, .open = metrics_open, .ctx = r->metrics});
    metrics_finish(r->metrics, &(struct metrics_own){0});
}

/* Lines, each whole, without what could do something to a terminal. */
static void check_text(const char *text, size_t n, const char *ends)
{
    for (size_t i = 0; i < n; i++)
        ensure((unsigned char)text[i] >= ' ' || text[i] == '\n');
    for (const char *line = text, *end; ends && line < text + n; line = end + 1) {
        end = memchr(line, '\n', n - (size_t)(line - text));
        ensure(end && end - line >= (ptrdiff_t)strlen(ends) && !memcmp(end - strlen(ends), ends, strlen(ends)));
    }
}

static void check_metrics(struct run *r, bool prometheus)
{
    char *text = NULL;
    size_t n = 0;
    FILE *out = open_memstream(&text, &n);

    metrics_print(r->metrics, out, prometheus);
    fclose(out);
    check_text(text, n, NULL);
    ensure(prometheus || (n > 6 && !strcmp(text + n - 6, "# EOF\n")));
    free(text);
}

/* ---- the recording, again */

static void check_recording(const struct run *r, const char *path)
{
    struct batch_names *names = batch_names_new();
    struct recording_item item;
    struct recording *recording;
    uint64_t sum = 0, pages = 0;
    FILE *file = fopen(path, "re");

    if (file && !recording_open(file, path, names, &recording)) {
        while (recording_next(recording, &item)) {
            if (item.kind != RECORDING_PAGES)
                continue;
            sum += sum_of(item.page + 1, item.page->bytes);
            pages++;
        }
        ensure(!recording_damage(recording) && pages == r->pages && sum == r->sum);
        recording_close(recording);
    }
    batch_names_free(names);
}

/* ---- all of it */

static void step(struct run *r)
{
    uint8_t what = take(r), choice = take(r);

    r->now_ns += (uint64_t)(choice & 0xf0) << (what & 15);
    switch (what >> 4) {
    case 0: print_result(r); break;
    case 1: feed_until(r->feed, r->now_ns); break;
    case 2: hand_over(r, begin_page(r, choice)); break;
    case 3: feed_end_vm(r->feed, choice % VMS + 1, r->now_ns); break;
    case 4: r->threads[choice % VMS][choice / VMS % THREADS].sequence += 2; break; /* pages that nobody received */
    default: add_record(r, choice);
    }
}

static void open_run(struct run *r, const char *path)
{
    struct view_settings settings = {.by = take(r) % 3};

    choose_views(take(r));
    for (size_t v = 0; v < VIEW_COUNT; v++)
        settings.on[v] = settings.events[v] = on[v];
    for (size_t s = 0; s < VIEW_NSLOWEST; s++)
        settings.slowest[s] = r->slowest[s] = 5;
    ensure(!feed_new(&settings, &r->feed));
    feed_listen(r->feed, &(struct feed_ops){.record = on_record, .ctx = r});
    ensure(!metrics_new(&(struct metrics_settings){.on = on, .version = "0", .linger_ns = 1000000, .name = name_vm}, &r->metrics));
    ensure(!recording_begin(&(struct recording_plan){.path = path, .writer = "fuzz", .files = 1}, &r->writer));
    for (size_t form = 0; form < OPTIONS_FORMS; form++)
        sink_init(&r->sinks[form], open_memstream(&r->printed[form], &r->nprinted[form]), form, form == 0);
    for (uint32_t vm = 1; vm <= VMS; vm++) {
        feed_add_vm(r->feed, vm);
        ensure(!recording_vm(r->writer, vm, "vm", &(struct wanted){{false}}));
    }
}

static void close_run(struct run *r, const char *path)
{
    static const char *const ends[OPTIONS_FORMS] = {[OPTIONS_FORM_jsonl] = "}", [OPTIONS_FORM_terms] = "}."};

    for (size_t i = 0; i < VMS * THREADS; i++)
        hand_over(r, &r->threads[0][i]);
    feed_until(r->feed, UINT64_MAX);
    print_result(r);
    for (size_t form = 0; form < OPTIONS_FORMS; form++) {
        sink_flush(&r->sinks[form]);
        fclose(r->sinks[form].out);
        check_text(r->printed[form], r->nprinted[form], ends[form]);
        free(r->printed[form]);
    }
    check_metrics(r, false);
    check_metrics(r, true);
    ensure(!recording_end(r->writer, NULL));
    check_recording(r, path);
    metrics_free(r->metrics);
    shares_free(&r->shares);
    feed_free(r->feed);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
    static struct run r;
    static char path[64];

    snprintf(path, sizeof path, "/dev/shm/feed_fuzz.%d", getpid());
    memset(&r, 0, sizeof r);
    r.at = bytes;
    r.end = bytes + n;
    r.now_ns = 1000000;
    open_run(&r, path);
    for (int steps = 0; steps < MOST_STEPS && r.at < r.end; steps++)
        step(&r);
    close_run(&r, path);
    unlink(path);
    return 0;
}
