/* SPDX-License-Identifier: Apache-2.0 */
/* What views count, since the start, as metrics over HTTP. */
#include <string.h>

#include "cmd.h"
#include "common/fail.h"
#include "serve/http.h"
#include "serve/server.h"
#include "view/view_select.h"

struct serve {
    struct server_settings settings;
    bool on[VIEW_COUNT], chosen;
    __u64 filters[VIEW_NFILTERS]; /* exemplars: only of what took so long */
};

static int set_views(void *ctx, const char *value)
{
    struct serve *s = ctx;

    s->chosen = true;
    return view_choose("serve", value, s->on, &(struct view_order){.n = 0});
}

static int set_listen(void *ctx, const char *value)
{
    ((struct serve *)ctx)->settings.listen = value;
    return 0;
}

static int set_host(void *ctx, const char *value)
{
    ((struct serve *)ctx)->settings.hosts = value;
    if (http_is_hosts(value))
        return 0;
    return fail(FAIL_USAGE, "--host must be names with commas between, such as node1,node1.example.org, not "
                            "'%s'", value);
}

static int set_linger(void *ctx, const char *value)
{
    return options_ns("--linger", value, &((struct serve *)ctx)->settings.linger_ns);
}

static int set_slower(void *ctx, const char *value)
{
    return view_filter_parse("slower", value, ((struct serve *)ctx)->filters);
}

static const struct options_extra extras[] = {
    {"views", "VIEWS",
     "with commas (all but"
#define COSTLY(view) " " #view
#include "../../bpf/views.def"
     "):"
#define VIEW(view, family, text, what) " " #view
#include "../../bpf/views.def"
     , set_views, false},
    {"listen", "WHERE", "address and port (127.0.0.1:9464), or a port; 0: a free one", set_listen, false},
    {"host", "NAMES", "names, with commas, that it may be asked by beside addresses and localhost", set_host, false},
    {"linger", "TIME", "a VM that ended is served for so long (60s); with -p and -- it ends then", set_linger,
     false},
    {"slower", "TIME", "exemplars: only of what took so long (10ms)", set_slower, false},
    {0}};

static int run(struct serve *s, const struct options *o)
{
    struct engine_question question = {.settings.by_vm = true, .silent = true, .nreaders = 1};
    struct server *server;
    int err = server_begin(&s->settings, &server);

    if (err)
        return err;
    question.readers[0] = server_reader(server);
    memcpy(question.on, s->on, sizeof question.on);
    memcpy(question.settings.filters, s->filters, sizeof s->filters);
    err = engine_run(&question, o);
    if (!err)
        server_linger(server);
    server_end(server);
    return err;
}

int cmd_serve(int argc, char **argv)
{
    struct serve s = {.settings = {"127.0.0.1:9464", NULL, s.on, 60000000000u}};
    const struct options_spec spec = {"serve",
                                      "Serves what views count as metrics over HTTP, at /metrics, for Prometheus.",
                                      OPTIONS_TARGET | OPTIONS_BUDGET | OPTIONS_NO_RESULTS,
                                      extras,
                                      &s,
                                      NULL};
    struct options o;
    int err;

    view_filter_parse("slower", SERVER_SLOWER, s.filters);
    err = options_parse(&spec, argc, argv, &o);
    if (err || o.done)
        return err;
    for (size_t i = 0; i < VIEW_COUNT && !s.chosen; i++)
        s.on[i] = views[i].text != NULL && !view_is_costly((enum view_id)i);
    o.interval_ns = 1000000000;
    return run(&s, &o);
}
