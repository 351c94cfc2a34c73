/* SPDX-License-Identifier: Apache-2.0 */
/* Invariant: what a page says of its thread only shortens the wait for that VM. */
#include "batch_drain.h"

#include <ctype.h>
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../../vm/batch_format.h"

static bool has_told(const struct batch_drain *d, uint32_t vm, uint32_t tid)
{
    for (size_t i = 0; i < d->n; i++)
        if (d->threads[i].vm == vm && d->threads[i].tid == tid)
            return true;
    return false;
}

void batch_drain_take(struct batch_drain *d, const struct batch_received *received)
{
    struct batch_drained *all;
    struct batch_header header;

    if (!d->since_ns || received->bytes < sizeof header)
        return;
    memcpy(&header, received + 1, sizeof header);
    if (header.begin_ns <= d->since_ns || has_told(d, received->vm, header.tid))
        return;
    all = realloc(d->threads, (d->n + 1) * sizeof *all);
    if (!all)
        return;
    d->threads = all;
    all[d->n++] = (struct batch_drained){received->vm, header.tid};
}

/* Of /proc/VM/task/TID/stat: "TID (name) STATE ...". */
static bool is_awake(int vm, const char *tid)
{
    char path[64], line[256];
    const char *end = NULL;
    FILE *file;

    snprintf(path, sizeof path, "/proc/%d/task/%.16s/stat", vm, tid);
    file = fopen(path, "re");
    if (file && fgets(line, sizeof line, file))
        end = strrchr(line, ')');
    if (file)
        fclose(file);
    return end && end[1] == ' ' && (end[2] == 'R' || end[2] == 'D');
}

bool batch_drain_waits(const struct batch_drain *d, int vm)
{
    const struct dirent *entry;
    bool waits = false;
    char path[32];
    DIR *dir;

    snprintf(path, sizeof path, "/proc/%d/task", vm);
    dir = opendir(path);
    while (dir && !waits && (entry = readdir(dir)))
        waits = isdigit((unsigned char)entry->d_name[0]) && is_awake(vm, entry->d_name) &&
                !has_told(d, (uint32_t)vm, (uint32_t)strtoul(entry->d_name, NULL, 10));
    if (dir)
        closedir(dir);
    return waits;
}

void batch_drain_free(struct batch_drain *d)
{
    free(d->threads);
    *d = (struct batch_drain){0};
}
