/* SPDX-License-Identifier: Apache-2.0 */
#include "server.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>

#include "common/clock.h"
#include "common/fail.h"
#include "common/signals.h"
#include "http.h"
#include "metrics.h"
#include "session/session.h"

/* How often connections are looked at while nothing is counted. */
enum { LOOK_NS = 1000000000 };

struct server {
    struct server_settings settings;
    char where[HTTP_WHERE_BYTES];
    bool printed; /* where that is */
    struct metrics_own own; /* as of the last result */
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

/* ---- what is counted */

struct looker {
    struct metrics *metrics;
    const struct result_source *source;
};

static void see_vm(void *ctx, const struct target_life *life, bool watched)
{
    const struct looker *l = ctx;

    metrics_see(l->metrics, &(struct metrics_vm){life->pid, life->started, watched,
                                                 *l->source->unavailable(l->source->ctx, (uint32_t)life->pid)});
}

static void print_address(struct server *serve)
{
    if (!serve->printed)
        note("metrics at http://%s/metrics", serve->where);
    serve->printed = true;
}

static int take_result(void *ctx, struct session *s, const struct result_source *source, struct result_reader *gathered)
{
    struct server *serve = ctx;

    if (!session_ends(s)) /* now that it watches */
        print_address(serve);
    read_own(s, &serve->own);
    http_hold(serve->http);
    metrics_begin(serve->metrics, clock_ns(CLOCK_MONOTONIC));
    session_each_vm(s, see_vm, &(struct looker){serve->metrics, source});
    result_visit(gathered, &(struct result_visitor){.row = metrics_row, .open = metrics_open, .ctx = serve->metrics});
    metrics_finish(serve->metrics, &serve->own);
    http_refresh(serve->http);
    http_release(serve->http);
    return 0;
}

static void take_record(void *ctx, const struct result_source *source, const struct wire_header *header, size_t size)
{
    struct server *serve = ctx;

    http_hold(serve->http);
    metrics_record(serve->metrics, source, header, size);
    http_release(serve->http);
}

void server_linger(struct server *serve)
{
    uint64_t end_ns = clock_ns(CLOCK_MONOTONIC) + serve->settings.linger_ns, now_ns;

    if (!serve->settings.linger_ns || signals_first_ns())
        return;
    print_address(serve);
    note("its last counts are served for %g s more; Ctrl-C ends", (double)serve->settings.linger_ns / 1e9);
    http_hold(serve->http);
    metrics_begin(serve->metrics, clock_ns(CLOCK_MONOTONIC)); /* a result without a VM: none is watched any more */
    metrics_finish(serve->metrics, &serve->own);
    http_refresh(serve->http);
    http_release(serve->http);
    while ((now_ns = clock_ns(CLOCK_MONOTONIC)) < end_ns &&
           !signals_wait(end_ns - now_ns < LOOK_NS ? end_ns - now_ns : LOOK_NS)) {
        http_hold(serve->http);
        http_refresh(serve->http);
        http_release(serve->http);
    }
}

static void render(void *ctx, FILE *out, bool prometheus)
{
    metrics_print(((struct server *)ctx)->metrics, out, prometheus);
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

/* ---- its life */

struct engine_reader server_reader(struct server *serve)
{
    return (struct engine_reader){
        .result = take_result, .record = take_record, .ctx = serve, .gathered.wants = RESULT_ROWS};
}

int server_begin(const struct server_settings *settings, struct server **out)
{
    uint64_t now_ns = clock_ns(CLOCK_MONOTONIC);
    const struct metrics_settings counting = {settings->on,        VERSION, now_ns, clock_ns(CLOCK_REALTIME) - now_ns,
                                              settings->linger_ns, name_vm};
    struct server *serve = calloc(1, sizeof *serve);
    int err = serve ? 0 : fail(-ENOMEM, "out of memory"), socket = -1;

    *out = NULL;
    if (serve) {
        serve->settings = *settings;
        socket = http_listen(settings->listen, serve->where);
        err = socket < 0 ? socket : 0;
    }
    if (!err && metrics_new(&counting, &serve->metrics)) {
        close(socket);
        err = fail(-ENOMEM, "out of memory");
    }
    if (!err)
        err = http_start(socket, &(struct http_settings){serve->where, settings->hosts, render, serve}, &serve->http);
    if (err)
        server_end(serve);
    else
        *out = serve;
    return err;
}

void server_end(struct server *serve)
{
    if (!serve)
        return;
    http_stop(serve->http);
    metrics_free(serve->metrics);
    free(serve);
}
