/* SPDX-License-Identifier: Apache-2.0 */
/* Reads recordings: what happened, how often and when, or each event. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "cmd.h"
#include "common/fail.h"
#include "common/options.h"
#include "recording/recording_read.h"
#include "recording/recording_seen.h"
#include "report_counts.h"
#include "report_diagnose.h"
#include "report_diff.h"
#include "report_listing.h"
#include "sink/sink.h"
#include "source/feed.h"
#include "view/result.h"
#include "view/wanted.h"

enum { MAX_FILES = 1024, MAX_VMS = 1024 };
#define UNKNOWN_NS UINT64_MAX
enum { GAP_RESULTS = 60 }; /* empty ones in a row that are told, not more */
#define OVERLAP_NS 1000000000ull /* two that record receive a page so long apart, not more */
#define GAP_NS 2000000000ull /* so long without a page is a gap: threads hand over all that they hold far sooner */

struct state {
    const char *files[MAX_FILES];
    uint64_t begins[MAX_FILES]; /* when the first page of each came; UNKNOWN_NS: of none is it known */
    size_t nfiles;
    struct recording_seen *seen; /* pages that may stand in a later file, too */
    bool follows; /* no page of the file has come, and it goes on where the one before it ends */
    uint64_t next_ns, repeated; /* when the file begins that is read next; pages that were left out */
    struct wanted wanted;
    bool chosen; /* words chose what is wanted */
    struct view_order order;      /* of the views that were asked for */
    bool on[VIEW_COUNT], viewed; /* views were asked for: the events are theirs */
    bool diagnoses; /* what those tell is asked for, and nothing else */
    bool differs;   /* what became of findings between two files */
    FILE *out;      /* that results go to */
    __u64 slowest[VIEW_NSLOWEST]; /* as of struct view_settings */
    const struct options *options;
    struct sink sink;
    struct feed *feed;
    struct open_shares shares;
    struct recording_vm vms[MAX_VMS];
    size_t nvms;
    struct wanted asked; /* what the recordings are of */
    struct wanted held; /* what those are of that were read by now */
    bool held_known;
    struct wanted untold; /* what some VM in them does not tell */
    bool asked_unknown;  /* of one that does not tell, or is no file that can be read twice */
    struct report_counts counts;
    uint64_t interval_ns; /* that a result of views covers; 0: all of it */
    uint64_t begin_ns;    /* of the first result, 0: not known yet; then of the next one */
    uint64_t now_ns;      /* the latest page that was taken */
    const char *slower, *top; /* as given; NULL: not */
    unsigned by;              /* enum view_by */
    struct recording_lost lost; /* in the kernel, and by the writer, of all files */
    bool damaged;
};

/* The pages of a VM that others watch as well hold what they asked for, too. */
static bool is_wanted(const struct state *st, size_t event)
{
    return st->wanted.events[event] && (!st->held_known || st->held.events[event]);
}

static void on_event(void *ctx, const union ev_any *ev)
{
    struct state *st = ctx;

    if (!st->viewed && !is_wanted(st, ev->head.event))
        return;
    report_counts_add(&st->counts, &ev->head);
    if (st->options->events && !st->viewed)
        report_list(&st->sink, feed_names(st->feed), ev);
}

/* ---- results */

/* Of the result being printed: an interval is as long as was asked for, its last one as there are events. */
static double result_seconds(const struct state *st)
{
    if (!st->interval_ns)
        return report_counts_seconds(&st->counts);
    return (double)(st->sink.now_ns > st->begin_ns ? st->sink.now_ns - st->begin_ns : 1) / 1e9;
}

static void print_vms(struct state *st)
{
    static const struct sink_column columns[] = {{"vm", "VM", SINK_COUNT, 7}, {"name", "NAME", SINK_TEXT, -1}};
    static const struct sink_table table = {"report_vm", NULL, columns, 2};

    st->sink.one_vm = false; /* here it is told which one */
    for (size_t i = 0; i < st->nvms; i++)
        sink_row(&st->sink, &table, (struct sink_value[]){SINK_N(st->vms[i].vm), SINK_S(st->vms[i].name)});
}

static void print_lost(struct state *st)
{
    struct feed_loss losses[FEED_LOSSES];

    feed_losses(st->feed, &(struct batch_unreceived){st->lost.pages, 0}, losses);
    for (size_t i = 0; i < FEED_LOSSES; i++)
        sink_lost(&st->sink, losses[i].count, losses[i].why);
    sink_lost(&st->sink, st->lost.unnamed, RECORDING_UNNAMED);
}

/* ---- views */

static int counted(void *ctx, const struct view_table *table, struct result_taken *out)
{
    return feed_counted(((struct state *)ctx)->feed, table, out);
}

static int slowest(void *ctx, enum view_slowest_id id, struct result_kept *out)
{
    return feed_slowest(((struct state *)ctx)->feed, id, out);
}

static const char *name_of(void *ctx, uint32_t vm, const struct wire_name *name)
{
    return feed_name(((struct state *)ctx)->feed, vm, name);
}

/* Results are of all VMs together. */
static const struct wanted *untold(void *ctx, uint32_t vm)
{
    (void)vm;
    return &((struct state *)ctx)->untold;
}

static int open_of(void *ctx, enum view_state_id state, const struct open_taker *taker)
{
    return feed_open(((struct state *)ctx)->feed, state, taker);
}

static bool vm_ended(void *ctx, uint32_t vm)
{
    return feed_ended(((struct state *)ctx)->feed, vm);
}

static bool owner_of(void *ctx, uint32_t vm, const struct view_whom *whom, struct wire_name *out)
{
    return feed_whose(((struct state *)ctx)->feed, vm, whom, out);
}

static bool kept_of(void *ctx, uint32_t vm, uint64_t kept, struct wire_name *out)
{
    return feed_kept(((struct state *)ctx)->feed, vm, kept, out);
}

static struct result_source source_of(struct state *st)
{
    return (struct result_source){.ctx = st,
                                  .take = counted,
                                  .name = name_of,
                                  .sink = &st->sink,
                                  .seconds = result_seconds(st),
                                  .whole_seconds = result_seconds(st),
                                  .slowest = slowest,
                                  .order = &st->order,
                                  .shown = st->slowest,
                                  .untold = untold,
                                  .open = open_of,
                                  .ended = vm_ended,
                                  .now_ns = st->sink.now_ns,
                                  .shares = &st->shares,
                                  .owner = owner_of,
                                  .kept = kept_of};
}

static void on_record(void *ctx, const struct wire_header *record, size_t size)
{
    struct result_source source = source_of(ctx);

    result_record(&source, record, size);
}

/* Without views the feed only puts events in order. */
static int begin_feed(struct state *st)
{
    struct view_settings settings = {.by = st->by};

    for (size_t v = 0; v < VIEW_COUNT; v++) {
        settings.on[v] = st->on[v];
        settings.events[v] = st->on[v] && st->options->events;
    }
    memcpy(settings.slowest, st->slowest, sizeof st->slowest);
    if (st->slower && view_filter_parse("slower", st->slower, settings.filters))
        return FAIL_USAGE;
    if (feed_new(&settings, &st->feed))
        return fail(-ENOMEM, "out of memory");
    feed_listen(st->feed, &(struct feed_ops){.record = on_record, .event = on_event, .ctx = st});
    return 0;
}

static int print_views(struct state *st)
{
    struct result_source source = source_of(st);
    struct result_reader reader = {0};
    int err = result_gather(&source, st->on, (struct result_reader *const[]){&reader}, 1);

    if (!err)
        err = result_print(&source, st->on, &reader);
    result_forget(&reader);
    return err ? fail(err, "cannot print results: %s", strerror(-err)) : 0;
}

static bool is_life(size_t event)
{
    return event == BATCH_process__spawn || event == BATCH_process__exit || event == BATCH_process__exit_signal;
}

/*
 * The first of what is needed that was not recorded; BATCH_EVENTS: none. *found: something was. The births and ends of
 * processes are not enough for a view that needs something else as well.
 */
static size_t find_missing(const struct state *st, const struct wanted *needed, bool *found)
{
    size_t missing = BATCH_EVENTS;
    bool of_lives = true;

    *found = false;
    for (size_t e = 0; e < BATCH_EVENTS; e++)
        of_lives &= !needed->events[e] || is_life(e);
    for (size_t e = BATCH_EVENTS; e-- > 0;) {
        *found |= needed->events[e] && st->asked.events[e] && (of_lives || !is_life(e));
        if (needed->events[e] && !st->asked.events[e])
            missing = e;
    }
    return missing;
}

/* Whether events of the view were recorded, of a VM that tells them: what watches it live is as content. */
static bool is_told(const struct state *st, enum view_id view)
{
    struct wanted needed = {{false}};
    bool found;

    if (!wanted_add(&needed, views[view].name))
        return false;
    for (size_t e = 0; e < BATCH_EVENTS; e++)
        needed.events[e] &= !st->untold.events[e];
    find_missing(st, &needed, &found);
    return found || st->asked_unknown;
}

static int print_diagnosis(struct state *st)
{
    struct result_source source = source_of(st);
    struct report_diagnosed what = {
        .file = st->files[0], .vm = st->nvms ? st->vms[0].vm : 0, .name = st->nvms ? st->vms[0].name : ""};

    for (int v = 0; v < VIEW_COUNT; v++)
        what.told[v] = st->on[v] && is_told(st, (enum view_id)v);
    return report_diagnose(&what, &source);
}

/* Tells what happened until then, and on the way each result that ends. */
static int tell_until(struct state *st, uint64_t until_ns)
{
    int err = 0;

    while (st->interval_ns && st->begin_ns && st->begin_ns <= until_ns && until_ns - st->begin_ns >= st->interval_ns &&
           !err) {
        uint64_t end_ns = st->begin_ns + st->interval_ns;

        feed_until(st->feed, end_ns);
        sink_moment(&st->sink, end_ns);
        err = print_views(st);
        st->begin_ns = end_ns;
    }
    feed_until(st->feed, until_ns);
    return err;
}

/*
 * The empty results of a long time in which nothing was recorded (between two files, or of a VM that stood still) are
 * not told: a line says how many. `newest_ns`: of the page that comes behind it.
 */
static int leave_out_gap(struct state *st, uint64_t newest_ns)
{
    uint64_t known_ns = st->now_ns ? st->now_ns : st->begin_ns, left_out;
    int err;

    if (!st->interval_ns || newest_ns <= known_ns || newest_ns - known_ns <= GAP_NS ||
        (newest_ns - known_ns) / st->interval_ns <= GAP_RESULTS)
        return 0;
    err = tell_until(st, known_ns + st->interval_ns);
    if (err || newest_ns - BATCH_MERGE_PATIENCE_NS <= st->begin_ns)
        return err;
    left_out = (newest_ns - BATCH_MERGE_PATIENCE_NS - st->begin_ns) / st->interval_ns;
    st->begin_ns += left_out * st->interval_ns;
    note("nothing was recorded for %.3g s: %" PRIu64 " empty results are left out",
         (double)(newest_ns - known_ns) / 1e9, left_out);
    return 0;
}

/* ---- the result */

static int print_result(struct state *st)
{
    int err = 0, ended;

    bool told = st->interval_ns && st->counts.last_ns <= st->begin_ns; /* all, in the results before */

    if (!told)
        sink_moment(&st->sink, st->counts.last_ns);
    if (st->diagnoses) {
        err = print_diagnosis(st);
    } else if (st->viewed && !told) {
        err = print_views(st);
    } else if (!st->viewed) {
        report_counts_print_totals(&st->counts, &st->sink);
        print_vms(st);
        report_counts_print_probes(&st->counts, &st->sink);
        report_counts_print_times(&st->counts, &st->sink);
    }
    print_lost(st);
    ended = err < 0 ? 0 : sink_end(&st->sink);
    return ended ? ended : err;
}

/* ---- reading */

static void add_vm(struct state *st, const struct recording_vm *vm)
{
    for (size_t i = 0; i < st->nvms; i++)
        if (st->vms[i].vm == vm->vm)
            return;
    recording_probes_add(&vm->untold, &st->untold);
    if (st->nvms < MAX_VMS)
        st->vms[st->nvms++] = *vm;
}

/* Whether it stood in a file before, as of memory that was written twice. What may stand in the next is kept. */
static bool is_repeated(struct state *st, const struct batch_received *page, int *err)
{
    if (recording_seen_has(st->seen, page)) {
        st->repeated++;
        return true;
    }
    if (page->time_ns + OVERLAP_NS >= st->next_ns && recording_seen_add(st->seen, page))
        *err = fail(-ENOMEM, "out of memory");
    return false;
}

/* What came long before this page has come from every thread. */
static int take_page(struct state *st, const struct batch_received *page)
{
    uint64_t now = page->time_ns;
    int err = 0;

    if (is_repeated(st, page, &err) || err)
        return err;
    st->begin_ns = st->begin_ns ? st->begin_ns : now;
    st->follows = false;
    err = leave_out_gap(st, now);
    st->now_ns = now > st->now_ns ? now : st->now_ns;
    feed_take(st->feed, page);
    if (!err && now > BATCH_MERGE_PATIENCE_NS)
        err = tell_until(st, now - BATCH_MERGE_PATIENCE_NS);
    return err || !st->options->events ? err : sink_flush(&st->sink);
}

/* What a file begins with that follows another was told by pages of that, some of which may wait for their turn. */
static void take_owner(struct state *st, const struct recording_owner *owner)
{
    struct wire_name name = {.form = owner->form, .words = {owner->words[0], owner->words[1], owner->words[2]}};

    if (!st->follows && (name.form == WIRE_MFA || name.form == WIRE_REASON))
        feed_owner(st->feed, owner->vm, owner->id, &name);
}

/* Each file tells what was lost since the beginning. */
static void take_lost(struct state *st, const struct recording_lost *lost)
{
    if (lost->pages > st->lost.pages)
        st->lost.pages = lost->pages;
    if (lost->unnamed > st->lost.unnamed)
        st->lost.unnamed = lost->unnamed;
}

static int read_items(struct state *st, struct recording *r)
{
    struct recording_item item;
    int err = 0;

    while (!err && recording_next(r, &item)) {
        switch (item.kind) {
        case RECORDING_CLOCK: st->sink.wall_offset_ns = item.clock->wall_ns; break;
        case RECORDING_VM: add_vm(st, item.vm); break;
        case RECORDING_OWNERS: take_owner(st, item.owner); break;
        case RECORDING_ASKED:
            recording_probes_add(item.asked, &st->held);
            st->held_known = true;
            break;
        case RECORDING_LOST: take_lost(st, item.lost); break;
        default: err = take_page(st, item.page);
        }
    }
    return err;
}

static int complain_unreadable(const struct state *st, const char *name)
{
    return fail(-errno, "cannot read '%s': %s%s", name, strerror(errno),
                name != st->files[0] && errno == ENOENT ? "; nor is a view or probe called so" : "");
}

static int read_file(struct state *st, const char *name)
{
    FILE *file = fopen(name, "re");
    struct recording *r;
    int err = file ? recording_open(file, name, feed_names(st->feed), &r) : complain_unreadable(st, name);

    if (err)
        return err;
    st->held_known = false; /* until the file says what it is of, before its pages */
    err = read_items(st, r);
    if (recording_damage(r)) {
        fail(-EIO, "'%s': %s", name, recording_damage(r));
        st->damaged = true;
    }
    recording_close(r);
    return err;
}

/* When the page's first event was, as far as it can be believed; results begin with the earliest. */
static void learn_begin(struct state *st, const struct batch_received *page)
{
    struct batch_record first = {0};
    struct batch_page events;

    if (!batch_page_open(&events, page + 1, page->bytes))
        return;
    while (batch_page_next(&events, &first))
        if (first.head.event > BATCH_LAST_NAME) {
            if (first.head.time_ns <= page->time_ns && (!st->begin_ns || first.head.time_ns < st->begin_ns))
                st->begin_ns = first.head.time_ns;
            return;
        }
}

/*
 * What a recording is of, and all its names and VMs, before its events: a thread may tell a name late, when somebody
 * watched before us. Damage is said when it is read.
 */
static int learn_file(struct state *st, const char *name)
{
    FILE *file = fopen(name, "re");
    struct recording_item item;
    struct batch_page page;
    struct batch_record atom = {0};
    struct recording *r;
    struct stat is;
    bool asked = false;
    int err;

    if (!file || fstat(fileno(file), &is) || !S_ISREG(is.st_mode)) {
        if (file)
            fclose(file);
        st->asked_unknown = true;
        return 0;
    }
    err = recording_open(file, name, feed_names(st->feed), &r);
    if (err)
        return err;
    while (recording_next(r, &item)) {
        if (item.kind == RECORDING_VM)
            add_vm(st, item.vm);
        if (item.kind == RECORDING_ASKED)
            recording_probes_add(item.asked, &st->asked), asked = true;
        if (item.kind != RECORDING_PAGES || !batch_page_open(&page, item.page + 1, item.page->bytes))
            continue;
        learn_begin(st, item.page);
        while (batch_page_next_atom(&page, &atom))
            batch_names_tell(feed_names(st->feed), item.page->vm, atom.words[0], atom.texts[1], atom.words[1]);
    }
    recording_close(r);
    st->asked_unknown |= !asked;
    return 0;
}

/* `what` needs these events: zeros would be taken for an answer. */
static int require(const struct state *st, const struct wanted *needed, const char *what)
{
    const char *file = st->files[st->nfiles - 1];
    bool found;
    size_t missing = find_missing(st, needed, &found);

    if (missing == BATCH_EVENTS)
        return 0;
    if (!found)
        return fail(-ENOENT, "'%s' was recorded without the events of %s; erlsnoop report '%s' tells what it holds",
                    file, what, file);
    if (st->viewed)
        note("'%s' was recorded without %s, which %s is told of: what that would tell is missing", file,
             event_row((enum batch_event)missing)->name, what);
    return 0;
}

static int require_asked(const struct state *st)
{
    int err = 0;

    if (st->asked_unknown || st->diagnoses) /* that says itself what it lacks */
        return 0;
    if (st->chosen)
        return require(st, &st->wanted, "these probes");
    for (size_t v = 0; v < VIEW_COUNT && !err; v++) {
        struct wanted needed = {{false}};

        if (st->on[v] && wanted_add(&needed, views[v].name))
            err = require(st, &needed, views[v].name);
    }
    return err;
}

/* Before anything is printed: each file is there, and given once. */
static int check_files(const struct state *st)
{
    struct stat files[MAX_FILES];

    for (size_t i = 0; i < st->nfiles; i++) {
        if (stat(st->files[i], &files[i]))
            return complain_unreadable(st, st->files[i]);
        for (size_t j = 0; j < i; j++)
            if (files[j].st_dev == files[i].st_dev && files[j].st_ino == files[i].st_ino)
                return fail(FAIL_USAGE, "'%s' is given twice, and would be counted twice", st->files[i]);
    }
    return 0;
}

/*
 * When the first page of the file came; 0: it has none. Damage is said when it is read. Fails: said; 1: it is no file
 * that can be read twice.
 */
static int find_begin(const char *name, struct batch_names *names, uint64_t *out)
{
    FILE *file = fopen(name, "re");
    struct recording_item item;
    struct recording *r;
    struct stat is;
    int err;

    *out = 0;
    if (!file || fstat(fileno(file), &is) || !S_ISREG(is.st_mode)) {
        if (file)
            fclose(file);
        return 1;
    }
    err = recording_open(file, name, names, &r);
    if (err)
        return err;
    while (!*out && recording_next(r, &item))
        if (item.kind == RECORDING_PAGES)
            *out = item.page->time_ns;
    recording_close(r);
    return 0;
}

/* Oldest first, however they were given; as they were given where there is one that can be read once, like a pipe. */
static int order_files(struct state *st)
{
    uint64_t *begins = st->begins;
    struct batch_names *names = batch_names_new();
    int err = names ? 0 : fail(-ENOMEM, "out of memory");

    for (size_t i = 0; i < st->nfiles && !err; i++)
        err = find_begin(st->files[i], names, &begins[i]);
    if (names)
        batch_names_free(names);
    if (err > 0)
        memset(begins, 0xff, sizeof st->begins);
    if (err)
        return err < 0 ? err : 0;
    for (size_t i = 1; i < st->nfiles; i++) {
        const char *name = st->files[i];
        uint64_t begin = begins[i];
        size_t to = i;

        for (; to && begins[to - 1] > begin; to--) {
            begins[to] = begins[to - 1];
            st->files[to] = st->files[to - 1];
        }
        begins[to] = begin;
        st->files[to] = name;
    }
    return 0;
}

static int run(struct state *st)
{
    int err = check_files(st);

    if (!err)
        err = order_files(st);
    if (err)
        return err;
    st->seen = recording_seen_new();
    err = st->seen ? report_counts_init(&st->counts) : fail(-ENOMEM, "out of memory");
    if (!err)
        err = begin_feed(st);
    if (err)
        return err;
    sink_init(&st->sink, st->out, st->options->form, st->options->timestamps);
    for (size_t i = 0; i < st->nfiles && !err && (st->viewed || st->chosen || st->options->events); i++)
        err = learn_file(st, st->files[i]);
    if (!err)
        err = require_asked(st);
    st->sink.one_vm = st->nvms == 1;
    for (size_t i = 0; i < st->nfiles && !err; i++) {
        st->next_ns = i + 1 < st->nfiles ? st->begins[i + 1] : UNKNOWN_NS;
        st->follows = i && (st->begins[i] == UNKNOWN_NS || st->begins[i] <= st->now_ns + GAP_NS);
        if (!st->follows) /* its names are of a later time than all that came */
            err = tell_until(st, st->now_ns);
        err = err ? err : read_file(st, st->files[i]);
    }
    if (st->repeated && !err)
        note("%" PRIu64 " pages of events that stand in several of the files are told once", st->repeated);
    if (!err)
        err = tell_until(st, st->now_ns);
    feed_until(st->feed, UINT64_MAX);
    return err == -EPIPE ? 0 : err ? err : print_result(st);
}

static int report(struct state *st)
{
    int err;

    if (!st->chosen)
        wanted_add(&st->wanted, "all");
    view_slowest_default(st->on, st->slowest);
    if (st->top && view_slowest_parse(st->on, st->top, st->slowest))
        return FAIL_USAGE;
    err = run(st);
    feed_free(st->feed);
    shares_free(&st->shares);
    recording_seen_free(st->seen);
    report_counts_free(&st->counts);
    return err ? err : st->damaged ? -EIO : 0;
}

/* For report_diff: what report FILE diagnose --json prints. */
static int diagnose_recording(const char *name, FILE *out)
{
    const struct options options = {.form = OPTIONS_FORM_jsonl};
    struct state *st = calloc(1, sizeof *st);
    int err;

    if (!st)
        return fail(-ENOMEM, "out of memory");
    st->files[st->nfiles++] = name;
    report_diagnose_views(st->on);
    st->viewed = st->diagnoses = true;
    st->options = &options;
    st->out = out;
    err = report(st);
    free(st);
    return err;
}

/* ---- the command line */

/* Views, with commas between. */
static bool add_views(struct state *st, const char *word)
{
    struct view_order order = st->order;
    bool on[VIEW_COUNT];

    memcpy(on, st->on, sizeof on);
    for (struct wanted_word w = {.next = word}; wanted_next(&w);) {
        enum view_id view = view_find(w.text, w.length);

        if (view == VIEW_COUNT || !views[view].text)
            return false;
        if (!on[view])
            order.views[order.n++] = view;
        on[view] = true;
    }
    memcpy(st->on, on, sizeof on);
    st->order = order;
    return st->viewed = true;
}

static int add_word(void *ctx, const char *word)
{
    struct state *st = ctx;
    uint64_t interval_ns;

    if (st->nfiles && !strcmp(word, "diagnose")) {
        report_diagnose_views(st->on);
        st->viewed = st->diagnoses = true;
        return 0;
    }
    if (st->diagnoses)
        return fail(FAIL_USAGE, "unexpected argument '%s' behind diagnose", word);
    if (st->nfiles && add_views(st, word))
        return 0;
    if (st->viewed && options_is_interval(word, &interval_ns)) {
        if (st->interval_ns)
            return fail(FAIL_USAGE, "unexpected argument '%s': a recording has an end, and report no count", word);
        st->interval_ns = interval_ns;
        return 0;
    }
    if (st->viewed && !word[strspn(word, "0123456789.")])
        return fail(FAIL_USAGE, "interval must be seconds from 0.01 to 86400, not '%s'", word);
    if (st->nfiles && wanted_add(&st->wanted, word)) {
        st->chosen = true;
        return 0;
    }
    if (st->nfiles == MAX_FILES)
        return fail(FAIL_USAGE, "more than %d files", MAX_FILES);
    st->files[st->nfiles++] = word;
    return 0;
}

static int set_slower(void *ctx, const char *value)
{
    ((struct state *)ctx)->slower = value;
    return 0;
}

static int set_top(void *ctx, const char *value)
{
    ((struct state *)ctx)->top = value;
    return 0;
}

static int set_by(void *ctx, const char *value)
{
    return options_choice("--by", view_bys + 1, value, &((struct state *)ctx)->by);
}

static int set_diff(void *ctx, const char *value)
{
    (void)value;
    ((struct state *)ctx)->differs = true;
    return 0;
}

static int check(const struct state *st, const struct options *o)
{
    if (!st->nfiles)
        return fail(FAIL_USAGE, "a file is missing; see erlsnoop report -h");
    if (st->differs && (st->nfiles != 2 || st->order.n || st->chosen || o->events || st->slower || st->top || st->by))
        return fail(FAIL_USAGE, "--diff compares two files: recordings, or what diagnose --json told");
    if (st->chosen && st->viewed)
        return fail(FAIL_USAGE, "choose views, or probes");
    if (st->diagnoses && (st->order.n || st->interval_ns || o->events || st->slower || st->top || st->by))
        return fail(FAIL_USAGE, "diagnose is asked alone: without views, an interval, --events, --slower, --top, --by");
    if (st->slower && !view_has_filter(st->on, "slower"))
        return view_refuse_slower(NULL, NULL);
    if (st->top && !view_keeps_slowest(st->on))
        return view_refuse_top(NULL, NULL);
    if (st->by && !view_tells_owners(st->on))
        return view_refuse_by(NULL, NULL);
    if (o->events && st->viewed && !view_has_events(st->on))
        return view_refuse_events(NULL, NULL);
    return 0;
}

int cmd_report(int argc, char **argv)
{
    static struct state st;
    static const struct options_extra extras[] = {
        {"", "FILE ... [VIEWS [interval]|diagnose|PROBE ...]",
         "recordings, in any order; what is asked of them: views\n                 with commas between, a result each "
         "interval seconds;\n                 what is wrong, by their events; or probes",
         add_word, false},
        {"T", NULL, "print the time with each result", NULL, false}, /* options_parse itself sets `timestamps` */
        {"slower", "TIME", "with --events: only what took at least TIME (5ms)", set_slower, true},
        {"top", "N", VIEW_SLOWEST_TEXT, set_top, false},
        {"diff", NULL, "of two files (recordings, or what diagnose --json told): what is new, gone, heavier", set_diff,
         false},
        {"by", view_bys + 1, VIEW_BY_TEXT, set_by, false},
        {0}};
    static const struct options_spec spec = {
        "report", "Tells what a recording of erlsnoop trace holds.", OPTIONS_EVENTS, extras, &st, NULL};
    struct options o;
    int err = options_parse(&spec, argc, argv, &o);

    if (err || o.done)
        return err;
    err = check(&st, &o);
    if (err)
        return err;
    st.options = &o;
    st.out = stdout;
    return st.differs ? report_diff(st.files, diagnose_recording, &o) : report(&st);
}
