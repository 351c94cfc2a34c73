/* SPDX-License-Identifier: Apache-2.0 */
#include "view_select.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "common/fail.h"
#include "common/nearest.h"
#include "views_user.h"
#include "wanted.h"

static const struct {
    const char *prefix;
    enum view_source source;
} entries[] = {{"on_", VIEW_BY_NOTE}, {"at_", VIEW_BY_HOOK}, {"ret_", VIEW_BY_HOOK}, {"out_", VIEW_BY_HOOK}};

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

/* Of a program that goes on where others end: whether a view of its family is on. */
static bool wants_part(const char *name, const bool on[VIEW_COUNT])
{
#define ASKED(view) || on[VIEW_##view]
#define PART(probe, family, calls, asked, behind, helpers)                                         \
    if (!strcmp(name, "then_" #probe "_" #family))                                                 \
        return false asked;
#include "tells.def"
    return false;
}

/* The view whose map this is, by its name; VIEW_COUNT: it is everybody's. */
static enum view_id find_owner(const char *map)
{
    const char *end = strchr(map, '_');

    return end ? view_find(map, (size_t)(end - map)) : VIEW_COUNT;
}

/* The maps of a TOTAL table's rows by VM are not made. */
static void leave_vms(struct bpf_object *object, const struct view_table *t)
{
    char name[64];

    for (unsigned side = 0; t->key == VIEW_TOTAL && side < 2; side++) {
        snprintf(name, sizeof name, "%s_%u", t->map, side);
        bpf_map__set_autocreate(bpf_object__find_map_by_name(object, name), false);
    }
}

void view_select(struct bpf_object *object, const bool on[VIEW_COUNT], bool by_vm)
{
    struct bpf_program *program;
    struct bpf_map *map;

    bpf_object__for_each_program(program, object)
        bpf_program__set_autoload(program, wants_program(bpf_program__name(program), on) ||
                                               wants_part(bpf_program__name(program), on));
    bpf_object__for_each_map(map, object) {
        enum view_id view = find_owner(bpf_map__name(map));

        bpf_map__set_autocreate(map, view == VIEW_COUNT || on[view]);
    }
    for (size_t i = 0; i < VIEW_NTABLES && !by_vm; i++)
        leave_vms(object, view_table((enum view_table_id)i));
}

/* ---- by name */

const char view_choices[] = ""
#define VIEW(view, family, text, what) " " #view
#include "../../bpf/views.def"
    ;

/* What of people's views a word was meant to be, or NULL. */
static const char *guess_view(const char *text, size_t length)
{
    char word[NEAREST_BYTES + 1];
    unsigned best = UINT_MAX;
    const char *meant = NULL;

    snprintf(word, sizeof word, "%.*s", (int)length, text);
    for (size_t v = 0; v < VIEW_COUNT && length < sizeof word; v++)
        if (views[v].text && nearest_is(word, views[v].name, &best))
            meant = views[v].name;
    return meant;
}

static int complain(const char *command, const char *text, size_t length)
{
    const char *meant = guess_view(text, length);

    if (meant)
        return fail(FAIL_USAGE, "%s cannot ask '%.*s'; did you mean '%s'?", command, (int)length, text, meant);
    return fail(FAIL_USAGE, "%s cannot ask '%.*s'; it can ask%s", command, (int)length, text, view_choices);
}

int view_choose(const char *command, const char *list, bool on[VIEW_COUNT], struct view_order *order)
{
    for (struct wanted_word w = {.next = list}; wanted_next(&w);) {
        enum view_id view = view_find(w.text, w.length);

        if (view == VIEW_COUNT || !views[view].text)
            return complain(command, w.text, w.length);
        if (on[view])
            return fail(FAIL_USAGE, "view %s is named twice", views[view].name);
        on[view] = true;
        order->views[order->n++] = view;
    }
    return 0;
}
