/* SPDX-License-Identifier: Apache-2.0 */
/* The subcommands that are a view of bpf/views.def, and watch, which asks several. */
#include "cmd.h"

#include <stdbool.h>
#include <string.h>

#include "common/fail.h"
#include "common/options.h"
#include "recording/recorder.h"
#include "serve/server.h"
#include "session/engine.h"
#include "view/view_select.h"
#include "view/when.h"

/* What is asked, and who reads beside the one who looks at the table. */
struct ask {
    struct recorder recorder; /* first, for its options */
    struct engine_question q;
    const char *listen; /* metrics are told there; NULL: nowhere */
    struct when when;   /* text NULL: none */
};

/* ---- options */

#define FILTER(view, filter, unit, text)                                                           \
    static int set_##view##_##filter(void *ctx, const char *value)                                 \
    {                                                                                              \
        struct ask *a = ctx;                                                                       \
                                                                                                   \
        return view_filter_parse(#filter, value, a->q.settings.filters);                           \
    }
#include "../../bpf/views.def"

static const struct options_extra filters[] = {
#define FILTER(view, filter, unit, text) {#filter, "TIME", text, set_##view##_##filter, true},
#include "../../bpf/views.def"
    {0}};

/* For all views that are on and keep some. */
static int set_top(void *ctx, const char *value)
{
    struct engine_question *q = &((struct ask *)ctx)->q;

    return view_slowest_parse(q->on, value, q->settings.slowest);
}

static int set_source(void *ctx, const char *value)
{
    struct engine_question *q = &((struct ask *)ctx)->q;
    unsigned chosen;
    int err = options_choice("--source", OPTIONS_SOURCES, value, &chosen);

    q->notes_only = chosen == 1;
    q->pages_only = chosen == 0;
    return err;
}

static int set_by(void *ctx, const char *value)
{
    unsigned chosen = 0;
    int err = options_choice("--by", view_bys + 1, value, &chosen);

    ((struct ask *)ctx)->q.settings.by = chosen;
    return err;
}

static int set_listen(void *ctx, const char *value)
{
    ((struct ask *)ctx)->listen = value;
    return 0;
}

static int set_when(void *ctx, const char *value)
{
    struct ask *a = ctx;
    int err = when_parse(value, &a->when);

    if (!err && !a->q.on[a->when.view])
        err = fail(FAIL_USAGE, "--when: '%s' is not among the views that are asked", views[a->when.view].name);
    return err;
}

static const struct options_extra readers[] = {
    {"listen", "WHERE", "metrics too: address and port, or a port; 0: a free one", set_listen, false},
    {"when", "WHAT", "say when 'msglat.p99 > 50ms' or so begins to hold; with --ring write FILE", set_when, false}};

static struct options_extra *find_extra(struct options_extra *extras, const char *name)
{
    while (extras->name && strcmp(extras->name, name))
        extras++;
    return extras;
}

/* The options of the views that are on. What several views have is one, for each of them. */
static void list_filters(const struct engine_question *q, struct options_extra *extras)
{
    for (size_t i = 0; i < view_nfilters; i++) {
        struct options_extra *extra = find_extra(extras, filters[i].name);
        bool shared = extra->name != NULL;

        if (q->on[view_filters[i].view])
            *extra = filters[i];
        if (q->on[view_filters[i].view] && shared)
            extra->text = "with --events: only what took at least TIME (5ms)";
    }
}

/* Options that others of the views have are known, and refused. */
static void list_refused(const struct engine_question *q, struct options_extra *extras)
{
    static const struct options_extra refused[] = {{"slower", "TIME", NULL, view_refuse_slower, false},
                                                   {"top", "N", NULL, view_refuse_top, false},
                                                   {"by", "WHAT", NULL, view_refuse_by, false},
                                                   {"events", NULL, NULL, view_refuse_events, false}};

    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++) {
        struct options_extra *extra = find_extra(extras, refused[i].name);
        bool known = refused[i].set == view_refuse_events && view_has_events(q->on);

        if (!extra->name && !known)
            *extra = refused[i];
    }
}

/* ---- readers */

static int judge(void *ctx, struct session *s, const struct result_source *source, struct result_reader *gathered)
{
    struct ask *a = ctx;

    (void)s, (void)source;
    if (!when_look(&a->when, gathered))
        return 0;
    when_tell(&a->when);
    if (a->q.recorder)
        recorder_dump(a->q.recorder, a->when.text);
    return 0;
}

/* Exemplars are made of what took long, as serve does, unless the table's events are asked for. */
static int ask_with_metrics(struct ask *a, const struct options *o)
{
    const struct server_settings settings = {.listen = a->listen, .on = a->q.on};
    struct server *server;
    int err = server_begin(&settings, &server);

    if (err)
        return err;
    a->q.readers[a->q.nreaders++] = server_reader(server);
    a->q.settings.by_vm = true;
    if (!o->events)
        view_filter_parse("slower", SERVER_SLOWER, a->q.settings.filters);
    err = engine_run(&a->q, o);
    server_end(server);
    return err;
}

/* What is asked is recorded, too. */
static int add_recorder(struct ask *a, const struct options *o)
{
    const struct recording_plan *p = &a->recorder.plan;

    if (!p->path && !p->max_bytes && !p->max_ns && !p->ring_ns)
        return 0;
    if (o->budget_said)
        return fail(FAIL_USAGE, "with -o no budget is kept, as a recording with holes is none");
    a->q.recorder = &a->recorder;
    for (size_t v = 0; v < VIEW_COUNT; v++)
        if (a->q.on[v])
            wanted_add(&a->recorder.wanted, views[v].name);
    return recorder_check(&a->recorder, "watch");
}

static int ask(struct ask *a, const struct options *o)
{
    int err = add_recorder(a, o);

    if (err)
        return err;
    if (a->when.text)
        a->q.readers[a->q.nreaders++] = (struct engine_reader){
            .result = judge, .ctx = a, .whole = true, .gathered.wants = RESULT_SUMS};
    err = a->listen ? ask_with_metrics(a, o) : engine_run(&a->q, o);
    recorder_end(&a->recorder, false, NULL);
    return err || a->recorder.err >= 0 ? err : a->recorder.err;
}

/* Parses the line of a subcommand of the views that are on, and runs it. */
static int run_views(struct ask *a, const char *command, const char *operands, const char *what, int argc, char **argv)
{
    struct options_extra extras[VIEW_NFILTERS + 7 + sizeof readers / sizeof *readers + RECORDER_NOPTIONS] = {
        {"source", OPTIONS_SOURCES, "ask an erlvm by batches of events (unless said) or by notes", set_source, false}};
    struct engine_question *q = &a->q;
    const struct options_spec spec = {command, what, OPTIONS_LIVE & ~(view_has_events(q->on) ? 0 : OPTIONS_EVENTS),
                                      extras,  a,    operands};
    struct options o;
    int err;

    if (operands) {
        memcpy(extras + 1, readers, sizeof readers);
        memcpy(find_extra(extras, ""), recorder_options, sizeof recorder_options);
    }
    list_filters(q, extras);
    if (view_keeps_slowest(q->on)) {
        *find_extra(extras, "top") = (struct options_extra){"top", "N", VIEW_SLOWEST_TEXT, set_top, false};
        view_slowest_default(q->on, q->settings.slowest);
    }
    if (view_tells_owners(q->on))
        *find_extra(extras, "by") = (struct options_extra){"by", view_bys + 1, VIEW_BY_TEXT, set_by, false};
    list_refused(q, extras);
    err = options_parse(&spec, argc, argv, &o);
    return err || o.done ? err : ask(a, &o);
}

#define VIEW(view, family, text, what)                                                          \
    int cmd_##view(int argc, char **argv)                                                       \
    {                                                                                           \
        struct ask a = {.q.on = {[VIEW_##view] = true}};                                        \
                                                                                                \
        return run_views(&a, #view, NULL, what, argc, argv);                                    \
    }
#include "../../bpf/views.def"

static bool is_views(const char *word)
{
    enum view_id view = view_find(word, strcspn(word, ","));

    return view < VIEW_COUNT && views[view].text;
}

/*
 * Which word is the list of views: the first that begins with the name of one, else the first if it is no option. 0:
 * none.
 */
static int find_views(int argc, char **argv)
{
    for (int i = 1; i < argc && strcmp(argv[i], "--"); i++)
        if (is_views(argv[i]) && strcmp(argv[i - 1], "-p")) /* behind -p it is a VM's name */
            return i;
    return argc > 1 && *argv[1] != '-';
}

/* Takes the words of views out of the line: one, and those that follow it without an option between. Returns the new
 * number of words, or fails. */
static int take_views(int at, int argc, char **argv, struct engine_question *q)
{
    int end = at, err;

    do {
        err = view_choose("watch", argv[end++], q->on, &q->order);
        if (err)
            return err;
    } while (end < argc && is_views(argv[end]));
    memmove(argv + at, argv + end, (size_t)(argc - end + 1) * sizeof *argv);
    return argc - (end - at);
}

int cmd_watch(int argc, char **argv)
{
    static const char what[] = "Asks several questions at once. VIEWS are some of these, with commas or blanks:\n"
#define VIEW(view, family, text, what) " " #view
#include "../../bpf/views.def"
        ;
    struct ask a = {.recorder.plan.files = 2};
    int at = find_views(argc, argv);
    int left = at ? take_views(at, argc, argv, &a.q) : argc;

    if (left < 0)
        return left;
    if (!at && (argc < 2 || (strcmp(argv[1], "-h") && strcmp(argv[1], "--help"))))
        return fail(FAIL_USAGE, "watch wants the views to ask, such as spawns,msglat; it can ask%s", view_choices);
    for (size_t v = 0; v < VIEW_COUNT && !at; v++)
        a.q.on[v] = views[v].text != NULL; /* their options are told */
    return run_views(&a, "watch", "VIEWS", what, left, argv);
}
