/* SPDX-License-Identifier: Apache-2.0 */
/* What the writer and the reader of recordings share. */
#include "recording.h"

#include <string.h>
#include <zlib.h>

#include "event/event.h"

static uint32_t add_text(uint32_t sum, const char *text)
{
    return (uint32_t)crc32(sum, (const unsigned char *)text, (unsigned)strlen(text) + 1);
}

struct recording_probes recording_probes(const struct wanted *events)
{
    struct recording_probes probes = {{0}};

    for (size_t e = 0; e < BATCH_EVENTS; e++)
        probes.words[e / 64] |= (uint64_t)events->events[e] << e % 64;
    return probes;
}

void recording_probes_add(const struct recording_probes *probes, struct wanted *events)
{
    for (size_t e = 0; e < BATCH_EVENTS; e++)
        events->events[e] |= probes->words[e / 64] >> e % 64 & 1;
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
