/* SPDX-License-Identifier: Apache-2.0 */
#include "kept.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

int kept_take(struct result_kept *kept, const struct view_slowest *slowest, const void *all)
{
    const char *at = (const char *)all + sizeof(uint64_t);
    void **records = realloc(kept->records, (kept->nrecords + slowest->most) * sizeof *records);

    if (!records)
        return -ENOMEM;
    kept->records = records;
    for (size_t i = 0; i < slowest->most; i++, at += slowest->record_bytes) {
        struct view_slowest_place place;

        memcpy(&place, at, sizeof place);
        at += sizeof place;
        if (!place.value)
            continue;
        records[kept->nrecords] = malloc(slowest->record_bytes);
        if (!records[kept->nrecords])
            return -ENOMEM;
        memcpy(records[kept->nrecords++], at, slowest->record_bytes);
    }
    return 0;
}

static uint64_t number_at(const void *record, size_t at)
{
    uint64_t number;

    memcpy(&number, (const char *)record + at, sizeof number);
    return number;
}

static int compare_slow(const void *a, const void *b, void *by_at)
{
    uint64_t x = number_at(*(void *const *)a, *(size_t *)by_at), y = number_at(*(void *const *)b, *(size_t *)by_at);

    return (x < y) - (x > y);
}

void kept_free(struct result_kept *kept)
{
    for (size_t i = 0; i < kept->nrecords; i++)
        free(kept->records[i]);
    free(kept->records);
}

int kept_add(struct result_kept *to, const struct result_kept *from, size_t bytes)
{
    void **records = realloc(to->records, (to->nrecords + from->nrecords + 1) * sizeof *records);

    if (!records)
        return -ENOMEM;
    to->records = records;
    for (size_t i = 0; i < from->nrecords; i++) {
        records[to->nrecords] = malloc(bytes);
        if (!records[to->nrecords])
            return -ENOMEM;
        memcpy(records[to->nrecords++], from->records[i], bytes);
    }
    return 0;
}

void kept_cut(struct result_kept *kept, const struct view_slowest *slowest, size_t most)
{
    size_t by_at = slowest->by_at;

    if (kept->nrecords)
        qsort_r(kept->records, kept->nrecords, sizeof *kept->records, compare_slow, &by_at);
    while (kept->nrecords > most)
        free(kept->records[--kept->nrecords]);
}
