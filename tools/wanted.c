/* SPDX-License-Identifier: Apache-2.0 */
#include "wanted.h"

#include <stdio.h>
#include <string.h>

static const struct {
    const char *name, *family;
    enum batch_event event;
} probes[] = {
#define PROBE(probe, family, nargs, watch, text) {#probe, #family, BATCH_##probe},
#include "../vm/probes.def"
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

bool wanted_add(struct wanted *w, const char *word)
{
    bool found = false;
    char name[64];

    spell(word, name, sizeof name);
    for (size_t i = 0; i < NPROBES; i++) {
        if (strcmp(probes[i].name, name) && strcmp(probes[i].family, word) && strcmp(word, "all"))
            continue;
        w->events[probes[i].event] = true;
        found = true;
    }
    return found;
}

void wanted_default(struct wanted *w)
{
    for (size_t i = 0; i < NPROBES; i++)
        w->events[probes[i].event] = strcmp(probes[i].family, "functions") != 0;
}
