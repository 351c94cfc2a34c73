/* SPDX-License-Identifier: Apache-2.0 */
/* Invariant: an event is handed to all views that are on by the one program of its site. */
#include "engine.h"

#include <errno.h>
#include <linux/membarrier.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "cmd.h"
#include "fail.h"
#include "result.h"

#include "views.skel.h"

struct engine {
    struct views *skeleton;
    bool on[VIEW_COUNT];
    struct view_settings settings;
};

/* ---- what is loaded */

static const struct {
    const char *prefix;
    enum view_source source;
} entries[] = {{"on_", VIEW_NOTES}, {"at_", VIEW_HOOKS}, {"ret_", VIEW_HOOKS}};

static bool wants_program(const char *name, const bool on[VIEW_COUNT])
{
    for (size_t i = 0; i < sizeof entries / sizeof *entries; i++) {
        size_t len = strlen(entries[i].prefix);

        for (size_t v = 0; v < VIEW_COUNT && !strncmp(name, entries[i].prefix, len); v++)
            if (on[v] && view_wants((enum view_id)v, name + len, entries[i].source))
                return true;
    }
    return false;
}

/* The view whose map this is, by its name; VIEW_COUNT: it is everybody's. */
static enum view_id find_owner(const char *map)
{
    const char *end = strchr(map, '_');

    return end ? view_find(map, (size_t)(end - map)) : VIEW_COUNT;
}

void engine_select(struct bpf_object *object, const bool on[VIEW_COUNT])
{
    struct bpf_program *program;
    struct bpf_map *map;

    bpf_object__for_each_program(program, object)
        bpf_program__set_autoload(program, wants_program(bpf_program__name(program), on));
    bpf_object__for_each_map(map, object) {
        enum view_id view = find_owner(bpf_map__name(map));

        bpf_map__set_autocreate(map, view == VIEW_COUNT || on[view]);
    }
}

static void set_rodata(struct bpf_object *object, const char *section, const void *value, size_t size)
{
    struct bpf_map *map = bpf_object__find_map_by_name(object, section);

    if (!map || bpf_map__set_initial_value(map, value, size)) {
        fail(-EINVAL, "the program has other settings in %s", section);
        abort();
    }
}

/* Tells the programs which views are on, and which arguments to read. */
static void configure(struct engine *e)
{
    struct bpf_object *object = *e->skeleton->skeleton->obj;
    uint32_t wanted[PLAN_NPROBES] = {0};

    for (size_t v = 0; v < VIEW_COUNT; v++) {
        e->settings.on[v] = e->on[v];
        for (size_t i = 0; e->on[v] && i < PLAN_NPROBES; i++)
            wanted[i] |= view_reads((enum view_id)v, plan_probe_name((enum plan_probe)i));
    }
    set_rodata(object, ".rodata.views", &e->settings, sizeof e->settings);
    set_rodata(object, ".rodata.events", wanted, sizeof wanted);
    engine_select(object, e->on);
}

/* ---- results */

/*
 * What happens from now on is counted in the other side. Returns the one that was counted in, which nobody changes any more: a
 * program that began before runs under RCU, and the call waits for all of these. Where it cannot, a program needs microseconds.
 */
static uint32_t change_sides(struct engine *e)
{
    volatile uint32_t *side = &e->skeleton->data_views->view_side;
    uint32_t counted = *side;

    *side = !counted;
    if (syscall(SYS_membarrier, MEMBARRIER_CMD_GLOBAL, 0, 0))
        usleep(10000);
    return counted;
}

static int on_result(void *ctx, struct session *s)
{
    struct engine *e = ctx;

    return result_print(s, change_sides(e), e->on);
}

static void on_record(void *ctx, struct session *s, const struct wire_header *header, size_t size)
{
    (void)ctx;
    result_record(s, header, size);
}

/* ---- subcommands */

static int set_filter(struct engine *e, enum view_filter_id filter, const char *what, const char *value)
{
    uint64_t ns;
    int err = options_ns(what, value, &ns);

    if (!err)
        e->settings.filters[filter] = ns;
    return err;
}

#define FILTER(view, filter, unit, text)                                                           \
    static int set_##view##_##filter(void *ctx, const char *value)                                 \
    {                                                                                              \
        return set_filter(ctx, VIEW_FILTER_##view##_##filter, "--" #filter, value);                \
    }
#include "../bpf/views.def"

static const struct options_extra filters[] = {
#define FILTER(view, filter, unit, text) {#filter, "TIME", text, set_##view##_##filter, true},
#include "../bpf/views.def"
    {0}};

static int run(struct engine *e, const struct options *o)
{
    static const struct session_ops ops = {.record = on_record, .result = on_result};
    int err;

    for (size_t v = 0; v < VIEW_COUNT; v++)
        e->settings.events[v] = o->events;
    e->skeleton = views__open();
    if (e->skeleton)
        configure(e);
    err = session_run(o, e->skeleton ? e->skeleton->skeleton : NULL, &ops, e);
    views__destroy(e->skeleton);
    return err;
}

/* The subcommand of one view. */
static int run_view(enum view_id view, int argc, char **argv)
{
    struct options_extra extras[VIEW_NFILTERS + 1] = {0};
    struct engine e = {0};
    struct options_spec spec = {views[view].name, views[view].what, OPTIONS_LIVE, extras, &e};
    struct options o;
    size_t n = 0;
    int err;

    e.on[view] = true;
    for (size_t i = 0; i < view_nfilters; i++)
        if (view_filters[i].view == view)
            extras[n++] = filters[i];
    err = options_parse(&spec, argc, argv, &o);
    return err || o.done ? err : run(&e, &o);
}

#define VIEW(view, text, what)                                                                     \
    int cmd_##view(int argc, char **argv)                                                          \
    {                                                                                              \
        return run_view(VIEW_##view, argc, argv);                                                  \
    }
#include "../bpf/views.def"
