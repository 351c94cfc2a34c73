/* SPDX-License-Identifier: Apache-2.0 */
#include "wanted.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "common/nearest.h"
#include "views.h"

static const struct {
    const char *name, *family;
    enum batch_event event;
} probes[] = {
#define PROBE(probe, family, nargs, watch, text) {#probe, #family, BATCH_##probe},
#include "../../vm/probes.def"
};
enum { NPROBES = sizeof probes / sizeof *probes };

/* `message-send` of D is `message__send` of USDT. */
static void spell(const char *word, char *out, size_t size)
{
    size_t used = 0;

    for (; *word && used + 3 < size; word++) {
        out[used++] = *word == '-' ? '_' : *word;
        if (*word == '-')
            out[used++] = '_';
    }
    out[used] = '\0';
}

static void add_view(struct wanted *w, enum view_id view)
{
    for (size_t i = 0; i < NPROBES; i++)
        w->events[probes[i].event] |= view_wants(view, probes[i].name, VIEW_BY_PAGE);
    for (size_t i = 0; i < view_nuses; i++)
        if (view_uses[i].view == view)
            add_view(w, view_uses[i].helper);
}

bool wanted_next(struct wanted_word *word)
{
    word->text = word->next;
    if (!word->text)
        return false;
    word->length = strcspn(word->text, ",");
    word->next = word->text[word->length] ? word->text + word->length + 1 : NULL;
    return true;
}

bool wanted_add_word(struct wanted *w, const struct wanted_word *given)
{
    enum view_id view = view_find(given->text, given->length);
    bool found = view != VIEW_COUNT;
    char word[64], name[64];

    if (found)
        add_view(w, view);
    if (given->length >= sizeof word)
        return false;
    snprintf(word, sizeof word, "%.*s", (int)given->length, given->text);
    spell(word, name, sizeof name);
    for (size_t i = 0; i < NPROBES; i++) {
        if (strcmp(probes[i].name, name) && strcmp(probes[i].family, word) && strcmp(word, "all"))
            continue;
        w->events[probes[i].event] = true;
        found = true;
    }
    return found;
}

const char *wanted_guess(const struct wanted_word *given)
{
    unsigned best = UINT_MAX;
    const char *meant = NULL;
    char word[64], name[64];

    if (given->length >= sizeof word)
        return NULL;
    snprintf(word, sizeof word, "%.*s", (int)given->length, given->text);
    spell(word, name, sizeof name);
    for (size_t v = 0; v < VIEW_COUNT; v++)
        if (views[v].text && nearest_is(word, views[v].name, &best))
            meant = views[v].name;
    for (size_t i = 0; i < NPROBES; i++) {
        if (nearest_is(name, probes[i].name, &best))
            meant = probes[i].name;
        if (nearest_is(word, probes[i].family, &best))
            meant = probes[i].family;
    }
    return meant;
}

bool wanted_add(struct wanted *w, const char *list)
{
    struct wanted added = *w;

    for (struct wanted_word word = {.next = list}; wanted_next(&word);)
        if (!wanted_add_word(&added, &word))
            return false;
    *w = added;
    return true;
}

void wanted_default(struct wanted *w)
{
    for (size_t i = 0; i < NPROBES; i++)
        w->events[probes[i].event] = strcmp(probes[i].family, "functions") != 0;
}
