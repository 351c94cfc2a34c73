/* SPDX-License-Identifier: Apache-2.0 */
/* What the writer and the reader of recordings share. */
#include "recording.h"

#include <string.h>
#include <zlib.h>

#include "event.h"

static uint32_t add_text(uint32_t sum, const char *text)
{
    return (uint32_t)crc32(sum, (const unsigned char *)text, (unsigned)strlen(text) + 1);
}

uint32_t recording_catalogue(void)
{
    static const char *const units[] = {
#define UNIT(unit) #unit,
        EVENT_UNITS(UNIT)
#undef UNIT
    };
    uint32_t magic = BATCH_MAGIC, sum = (uint32_t)crc32(0, (const unsigned char *)&magic, sizeof magic);

    for (unsigned e = BATCH_LAST_NAME + 1; e < BATCH_EVENTS; e++) {
        const struct event_row *row = event_row((enum batch_event)e);

        sum = add_text(sum, row->name);
        for (unsigned i = 0; i < row->nargs; i++)
            sum = add_text(add_text(sum, row->args[i].name), units[row->args[i].unit]);
    }
    return sum;
}

uint32_t recording_sum(const struct recording_chunk *chunk, const void *stored)
{
    uint32_t sum = (uint32_t)crc32(0, (const unsigned char *)chunk, offsetof(struct recording_chunk, sum));

    return (uint32_t)crc32(sum, stored, chunk->stored);
}
