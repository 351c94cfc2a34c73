/* SPDX-License-Identifier: Apache-2.0 */
/* What views count, since the start, as metrics over HTTP. */
#include <bpf/bpf.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "cmd.h"
#include "common/clock.h"
#include "common/fail.h"
#include "common/signals.h"
#include "serve/http.h"
#include "serve/metrics.h"
#include "session/engine.h"
#include "session/session.h"
#include "view/view_select.h"

/* How often what the kernel counted is taken. */
enum { RESULT_NS = 1000000000 };

struct serve {
    bool on[VIEW_COUNT], chosen;
    const char *listen, *hosts;
    char where[HTTP_WHERE_BYTES];
    bool told; /* where that is */
    uint64_t linger_ns;
    struct metrics_own own; /* as of the last result */
    uint64_t slower_ns; /* exemplars: only of what took so long */
    struct metrics *metrics;
    struct http *http;
};

/* ---- what it costs */

static uint64_t timeval_ns(struct timeval t)
{
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_usec * 1000u;
}

static uint64_t read_number(const char *path, int which)
{
    unsigned long long numbers[2] = {0, 0};
    FILE *file = fopen(path, "re");

    if (!file)
        return 0;
    if (fscanf(file, "%llu %llu", &numbers[0], &numbers[1]) <= which)
        numbers[which] = 0;
    fclose(file);
    return numbers[which];
}

static void add_program(void *ctx, int fd)
{
    struct metrics_own *own = ctx;
    struct bpf_prog_info info = {0};
    uint32_t size = sizeof info;

    if (bpf_obj_get_info_by_fd(fd, &info, &size))
        return;
    own->bpf_ns += info.run_time_ns;
    own->bpf_runs += info.run_cnt;
}

/* The kernel measures programs while it is told to: by the budget, or by kernel.bpf_stats_enabled. */
static void read_bpf(struct session *s, struct metrics_own *own)
{
    session_cost(s, &own->cost);
    own->bpf_known = own->cost.known || read_number("/proc/sys/kernel/bpf_stats_enabled", 0) == 1;
    if (own->bpf_known)
        session_each_program(s, add_program, own);
}

static void add_loss(void *ctx, const char *why, uint64_t total)
{
    struct metrics_own *own = ctx;

    own->losses[own->nlosses].why = why;
    own->losses[own->nlosses++].count = total;
}

static void read_own(struct session *s, struct metrics_own *own)
{
    struct rusage usage;

    *own = (struct metrics_own){0};
    session_each_loss(s, add_loss, own);
    if (!getrusage(RUSAGE_SELF, &usage))
        own->cpu_ns = timeval_ns(usage.ru_utime) + timeval_ns(usage.ru_stime);
    own->resident_bytes = read_number("/proc/self/statm", 1) * (uint64_t)sysconf(_SC_PAGESIZE);
    read_bpf(s, own);
}

/* ---- results */

struct looker {
    struct metrics *metrics;
    const struct result_source *source;
};

static void see_vm(void *ctx, const struct target_life *life, bool watched)
{
    const struct looker *l = ctx;

    metrics_see(l->metrics, &(struct metrics_vm){life->pid, life->started, watched,
                                                 *l->source->untold(l->source->ctx, (uint32_t)life->pid)});
}

static void tell_address(struct serve *serve)
{
    if (!serve->told)
        note("metrics at http://%s/metrics", serve->where);
    serve->told = true;
}

static int take_result(void *ctx, struct session *s, const struct result_source *source, const bool on[VIEW_COUNT])
{
    struct serve *serve = ctx;
    int err;

    if (!session_ends(s)) /* now that it watches */
        tell_address(serve);
    read_own(s, &serve->own);
    http_hold(serve->http);
    metrics_begin(serve->metrics, clock_ns(CLOCK_MONOTONIC));
    session_each_vm(s, see_vm, &(struct looker){serve->metrics, source});
    err = result_visit(source, on, &(struct result_visitor){metrics_row, serve->metrics});
    metrics_finish(serve->metrics, &serve->own);
    http_refresh(serve->http);
    http_release(serve->http);
    return err;
}

static void take_record(void *ctx, const struct result_source *source, const struct wire_header *header, size_t size)
{
    struct serve *serve = ctx;

    http_hold(serve->http);
    metrics_record(serve->metrics, source, header, size);
    http_release(serve->http);
}

/*
 * The VM, or the command, has ended by itself: what was counted is there to be scraped for a while. The server is asked
 * to look at its connections as often as with results.
 */
static void linger(struct serve *serve)
{
    uint64_t end_ns = clock_ns(CLOCK_MONOTONIC) + serve->linger_ns, now_ns;

    if (!serve->linger_ns || signals_first_ns())
        return;
    tell_address(serve);
    note("its last counts are told for %g s more; Ctrl-C ends", (double)serve->linger_ns / 1e9);
    http_hold(serve->http);
    metrics_begin(serve->metrics, clock_ns(CLOCK_MONOTONIC)); /* a result without a VM: none is watched any more */
    metrics_finish(serve->metrics, &serve->own);
    http_refresh(serve->http);
    http_release(serve->http);
    while ((now_ns = clock_ns(CLOCK_MONOTONIC)) < end_ns &&
           !signals_wait(end_ns - now_ns < RESULT_NS ? end_ns - now_ns : RESULT_NS)) {
        http_hold(serve->http);
        http_refresh(serve->http);
        http_release(serve->http);
    }
}

static void render(void *ctx, FILE *out, bool prometheus)
{
    metrics_print(((struct serve *)ctx)->metrics, out, prometheus);
}

static void name_vm(int pid, char *out, size_t size)
{
    struct target target;

    out[0] = '\0';
    if (target_open_pid(pid, &target))
        return;
    snprintf(out, size, "%s", target.name);
    target_close(&target);
}

/* ---- the subcommand */

static int set_views(void *ctx, const char *value)
{
    struct serve *s = ctx;

    s->chosen = true;
    return view_choose("serve", value, s->on, &(struct view_order){.n = 0});
}

static int set_listen(void *ctx, const char *value)
{
    ((struct serve *)ctx)->listen = value;
    return 0;
}

static int set_host(void *ctx, const char *value)
{
    ((struct serve *)ctx)->hosts = value;
    if (http_is_hosts(value))
        return 0;
    return fail(FAIL_USAGE, "--host must be names with commas between, such as node1,node1.example.org, not "
                            "'%s'", value);
}

static int set_linger(void *ctx, const char *value)
{
    return options_ns("--linger", value, &((struct serve *)ctx)->linger_ns);
}

static int set_slower(void *ctx, const char *value)
{
    return options_ns("--slower", value, &((struct serve *)ctx)->slower_ns);
}

static const struct options_extra extras[] = {
    {"views", "VIEWS",
     "with commas (all but nifs):"
#define VIEW(view, family, text, what) " " #view
#include "../../bpf/views.def"
     , set_views, false},
    {"listen", "WHERE", "address and port (127.0.0.1:9464), or a port; 0: a free one", set_listen, false},
    {"host", "NAMES", "names, with commas, that it may be asked by beside addresses and localhost", set_host, false},
    {"linger", "TIME", "a VM that ended is told for so long (60s); with -p and -- it ends then", set_linger,
     false},
    {"slower", "TIME", "exemplars: only of what took so long (10ms)", set_slower, false},
    {0}};

static int ask(struct serve *s, const struct options *o)
{
    const struct engine_taker taker = {take_result, take_record, s};
    struct engine_question question = {.settings.by_vm = true, .taker = &taker};

    memcpy(question.on, s->on, sizeof question.on);
    for (size_t i = 0; i < view_nfilters; i++)
        if (!strcmp(view_filters[i].name, "slower"))
            question.settings.filters[i] = s->slower_ns;
    return engine_run(&question, o);
}

static int run(struct serve *s, const struct options *o, int socket)
{
    uint64_t now_ns = clock_ns(CLOCK_MONOTONIC);
    const struct metrics_settings settings = {s->on,        VERSION, now_ns, clock_ns(CLOCK_REALTIME) - now_ns,
                                              s->linger_ns, name_vm};
    int err = metrics_new(&settings, &s->metrics);

    if (err)
        close(socket);
    else
        err = http_start(socket, &(struct http_settings){s->where, s->hosts, render, s}, &s->http);
    if (!err)
        err = ask(s, o);
    if (!err)
        linger(s);
    http_stop(s->http);
    metrics_free(s->metrics);
    return err;
}

int cmd_serve(int argc, char **argv)
{
    struct serve s = {.listen = "127.0.0.1:9464", .linger_ns = 60000000000u, .slower_ns = 10000000};
    const struct options_spec spec = {"serve",
                                      "Serves what views count as metrics over HTTP, at /metrics, for Prometheus.",
                                      OPTIONS_TARGET | OPTIONS_BUDGET | OPTIONS_NO_JSON,
                                      extras,
                                      &s,
                                      NULL};
    struct options o;
    int err, socket;

    err = options_parse(&spec, argc, argv, &o);
    if (err || o.done)
        return err;
    for (size_t i = 0; i < VIEW_COUNT && !s.chosen; i++)
        s.on[i] = views[i].text != NULL && !view_is_costly((enum view_id)i);
    o.interval_ns = RESULT_NS;
    socket = http_listen(s.listen, s.where);
    return socket < 0 ? socket : run(&s, &o, socket);
}
