/* SPDX-License-Identifier: Apache-2.0 */
/* Invariant: an event is handed to all views that are on by the one program of its site. */
#include "engine.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <linux/membarrier.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "cmd.h"
#include "fail.h"
#include "result.h"
#include "session.h"
#include "tally.h"

#include "views.skel.h"

struct engine {
    struct views *skeleton;
    bool on[VIEW_COUNT];
    struct view_settings settings;
    struct session *session;
    uint32_t side; /* that is being read */
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

/* ---- states: tables by process */

enum { LEAST_PLACES = 1024, MOST_PLACES = 1 << 22, DEFAULT_PLACES = 262144, PLACES_AT_ONCE = 1024 };

static struct bpf_map *find_map(const struct engine *e, const char *state, const char *part)
{
    char name[64];

    snprintf(name, sizeof name, "%s_%s", state, part);
    return bpf_object__find_map_by_name(*e->skeleton->skeleton->obj, name);
}

/* A place for each process that the target may have. */
static void size_states(void *ctx, uint64_t processes)
{
    struct engine *e = ctx;
    uint32_t places = processes ? LEAST_PLACES : DEFAULT_PLACES, mask;

    while (places < processes && places < MOST_PLACES)
        places *= 2;
    mask = places - 1;
    set_rodata(*e->skeleton->skeleton->obj, ".rodata.places", &mask, sizeof mask);
    for (size_t i = 0; i < VIEW_NSTATES; i++)
        bpf_map__set_max_entries(find_map(e, view_states[i].map, "at"), places);
}

/* Frees the places of a VM. Their form: struct place_<view>_<state> of bpf/view.bpf.h. */
static void drop_places(int map, uint32_t places, size_t place_words, uint32_t vm)
{
    uint64_t *all = calloc(PLACES_AT_ONCE + 1, place_words * sizeof *all), *zeros = all ? all + PLACES_AT_ONCE * place_words : NULL;
    uint32_t keys[PLACES_AT_ONCE], batch = 0, count = PLACES_AT_ONCE;

    for (uint32_t read = 0; all && read < places && count; read += count) {
        count = PLACES_AT_ONCE;
        if (bpf_map_lookup_batch(map, read ? &batch : NULL, &batch, keys, all, &count, NULL) && errno != ENOENT)
            break;
        for (uint32_t i = 0; i < count; i++)
            if (all[i * place_words] && all[(i + 1) * place_words - 1] == vm)
                bpf_map_update_elem(map, &keys[i], zeros, BPF_EXIST);
    }
    free(all);
}

/* Removes the entries of a VM from a map whose keys have it where `at` says. */
static void drop_keys(int map, size_t key_bytes, size_t at, uint32_t vm)
{
    unsigned char key[32], next[32];
    bool any = !bpf_map_get_next_key(map, NULL, next);

    while (any) {
        memcpy(key, next, key_bytes);
        any = !bpf_map_get_next_key(map, key, next);
        if (!memcmp(key + at, &vm, sizeof vm))
            bpf_map_delete_elem(map, key);
    }
}

/* A VM has ended: nothing that was kept of it is there for one that gets its process id. */
static void on_ended(void *ctx, struct session *s, int pid)
{
    struct engine *e = ctx;

    for (size_t i = 0; i < VIEW_NSTATES; i++) {
        const struct view_state *state = &view_states[i];
        struct bpf_map *at = find_map(e, state->map, "at");

        if (!e->on[state->view])
            continue;
        drop_places(bpf_map__fd(at), bpf_map__max_entries(at), bpf_map__value_size(at) / 8, (uint32_t)pid);
        drop_keys(bpf_map__fd(find_map(e, state->map, "more")), 2 * sizeof(uint64_t), sizeof(uint64_t), (uint32_t)pid);
    }
    drop_keys(session_map(s, "view_names"), sizeof(struct wire_name_key), 0, (uint32_t)pid);
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

/* The row of a TOTAL table, CPU by CPU; zero from then on. */
static int take_total(struct engine *e, const struct view_table *t, struct result_taken *out)
{
    int cpus = libbpf_num_possible_cpus(), map = session_map(e->session, t->map), err = 0;
    uint64_t *each = cpus > 0 ? calloc((size_t)cpus, t->row_bytes) : NULL;

    if (!each)
        return -ENOMEM;
    if (bpf_map_lookup_elem(map, &e->side, each))
        err = -errno;
    for (int i = 0; !err && i < cpus; i++)
        result_merge(t, out->rest, each + (size_t)i * (t->row_bytes / sizeof *each));
    memset(each, 0, (size_t)cpus * t->row_bytes);
    if (!err && bpf_map_update_elem(map, &e->side, each, BPF_EXIST))
        err = -errno;
    free(each);
    return err;
}

/* What a keyed table had no room for; zero from then on. */
static int take_rest(struct engine *e, const struct view_table *t, struct result_taken *out)
{
    uint64_t *zeros = calloc(1, t->row_bytes);
    char name[64];
    int map, err = zeros ? 0 : -ENOMEM;

    snprintf(name, sizeof name, "%s_rest", t->map);
    map = session_map(e->session, name);
    if (!err && (bpf_map_lookup_elem(map, &e->side, out->rest) || bpf_map_update_elem(map, &e->side, zeros, BPF_EXIST)))
        err = -errno;
    free(zeros);
    return err;
}

static int take_rows(struct engine *e, const struct view_table *t, struct result_taken *out)
{
    struct tally *tally = tally_new(sizeof(struct wire_name_key), t->row_bytes / 8, 0);
    const struct tally_row *rows;
    char name[64];
    size_t n;
    int err;

    snprintf(name, sizeof name, "%s_%u", t->map, e->side);
    err = tally_take(tally, session_map(e->session, name));
    n = err ? 0 : tally_all(tally, &rows);
    for (size_t i = 0; i < n && !err; i++) {
        const struct wire_name_key *key = rows[i].key;

        err = result_add(out, key->vm, key->hash, rows[i].values);
    }
    tally_free(tally);
    return err;
}

static int take(void *ctx, const struct view_table *t, struct result_taken *out)
{
    int err;

    if (t->key == VIEW_TOTAL)
        return take_total(ctx, t, out);
    err = take_rows(ctx, t, out);
    return err ? err : take_rest(ctx, t, out);
}

static const char *name(void *ctx, uint32_t vm, const struct wire_name *told)
{
    return session_name(((struct engine *)ctx)->session, vm, told);
}

static struct result_source source_of(struct engine *e, struct session *s)
{
    e->session = s;
    return (struct result_source){e, take, name, session_sink(s), session_seconds(s)};
}

static int on_result(void *ctx, struct session *s)
{
    struct engine *e = ctx;
    struct result_source source = source_of(e, s);

    e->side = change_sides(e);
    return result_print(&source, e->on);
}

static void on_record(void *ctx, struct session *s, const struct wire_header *header, size_t size)
{
    struct result_source source = source_of(ctx, s);

    result_record(&source, header, size);
}

/* ---- subcommands */

/* For all views that are on and have a filter of that name. */
static int set_filter(struct engine *e, const char *name, const char *value)
{
    char what[64];
    uint64_t ns;
    int err;

    snprintf(what, sizeof what, "--%s", name);
    err = options_ns(what, value, &ns);
    for (size_t i = 0; !err && i < view_nfilters; i++)
        if (e->on[view_filters[i].view] && !strcmp(view_filters[i].name, name))
            e->settings.filters[i] = ns;
    return err;
}

#define FILTER(view, filter, unit, text)                                                           \
    static int set_##view##_##filter(void *ctx, const char *value)                                 \
    {                                                                                              \
        return set_filter(ctx, #filter, value);                                                    \
    }
#include "../bpf/views.def"

static const struct options_extra filters[] = {
#define FILTER(view, filter, unit, text) {#filter, "TIME", text, set_##view##_##filter, true},
#include "../bpf/views.def"
    {0}};

static int run(struct engine *e, const struct options *o)
{
    static const struct session_ops ops = {.record = on_record, .result = on_result, .opened = size_states, .ended = on_ended};
    int err;

    for (size_t v = 0; v < VIEW_COUNT; v++)
        e->settings.events[v] = o->events;
    for (size_t i = 0; i < view_nuses; i++)
        e->on[view_uses[i].helper] |= e->on[view_uses[i].view];
    e->skeleton = views__open();
    if (e->skeleton)
        configure(e);
    err = session_run(o, e->skeleton ? e->skeleton->skeleton : NULL, &ops, e);
    views__destroy(e->skeleton);
    return err;
}

static bool has_extra(const struct options_extra *extras, const char *name)
{
    while (extras->name && strcmp(extras->name, name))
        extras++;
    return extras->name != NULL;
}

/* Parses the line of a subcommand of the views that are on, and runs it. */
static int run_views(struct engine *e, const char *command, const char *operands, const char *what, int argc, char **argv)
{
    struct options_extra extras[VIEW_NFILTERS + 1] = {0};
    const struct options_spec spec = {command, what, OPTIONS_LIVE, extras, e, operands};
    struct options o;
    size_t n = 0;
    int err;

    for (size_t i = 0; i < view_nfilters; i++)
        if (e->on[view_filters[i].view] && !has_extra(extras, filters[i].name))
            extras[n++] = filters[i];
    err = options_parse(&spec, argc, argv, &o);
    return err || o.done ? err : run(e, &o);
}

#define VIEW(view, text, what)                                                                     \
    int cmd_##view(int argc, char **argv)                                                          \
    {                                                                                              \
        struct engine e = {.on = {[VIEW_##view] = true}};                                          \
                                                                                                   \
        return run_views(&e, #view, NULL, what, argc, argv);                                             \
    }
#include "../bpf/views.def"

/* ---- several views at once */

static const char view_names[] = ""
#define VIEW(view, text, what) " " #view
#include "../bpf/views.def"
    ;

/* Turns on the views of a list, with commas between. */
static int choose_views(struct engine *e, const char *list)
{
    for (const char *name = list;; name++) {
        size_t length = strcspn(name, ",");
        enum view_id view = view_find(name, length);

        if (view == VIEW_COUNT || !views[view].text)
            return fail(FAIL_USAGE, "watch cannot ask '%.*s'; it can ask%s", (int)length, name, view_names);
        if (e->on[view])
            return fail(FAIL_USAGE, "view %s is named twice", views[view].name);
        e->on[view] = true;
        name += length;
        if (!*name)
            return 0;
    }
}

int cmd_watch(int argc, char **argv)
{
    static const char what[] = "Asks several questions at once. VIEWS are some of these, with commas between:\n"
#define VIEW(view, text, what) " " #view
#include "../bpf/views.def"
        ;
    struct engine e = {0};
    bool named = argc > 1 && *argv[1] != '-';
    int err = named ? choose_views(&e, argv[1]) : 0;

    if (err)
        return err;
    if (!named && (argc < 2 || (strcmp(argv[1], "-h") && strcmp(argv[1], "--help"))))
        return fail(FAIL_USAGE, "watch wants the views to ask first, such as spawns,msglat; it can ask%s", view_names);
    return run_views(&e, "watch", "VIEWS", what, argc - named, argv + named);
}
