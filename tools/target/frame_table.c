/* SPDX-License-Identifier: Apache-2.0 */
#include "frame_table.h"

#include <string.h>

size_t frame_table_size(const unsigned char *head)
{
    static const unsigned char form[] = {1, 0x1b, 0x03, 0x3b}; /* version; encodings: all of four bytes, relative */
    uint32_t n;

    if (memcmp(head, form, sizeof form))
        return 0;
    memcpy(&n, head + sizeof form + 4, sizeof n);
    return n ? FRAME_TABLE_HEAD + FRAME_TABLE_ROW * (size_t)n : 0;
}

struct frame_table frame_table_of(const unsigned char *bytes, size_t size, uint64_t address)
{
    size_t wanted = size >= FRAME_TABLE_HEAD ? frame_table_size(bytes) : 0;

    if (!wanted || wanted > size)
        return (struct frame_table){.address = address};
    return (struct frame_table){bytes + FRAME_TABLE_HEAD, (wanted - FRAME_TABLE_HEAD) / FRAME_TABLE_ROW, address};
}

static uint64_t read_distance(const struct frame_table *t, size_t i, size_t word)
{
    int32_t distance;

    memcpy(&distance, t->rows + FRAME_TABLE_ROW * i + 4 * word, sizeof distance);
    return t->address + (uint64_t)(int64_t)distance;
}

uint64_t frame_table_function(const struct frame_table *t, size_t i)
{
    return read_distance(t, i, 0);
}

uint64_t frame_table_record(const struct frame_table *t, size_t i)
{
    return read_distance(t, i, 1);
}

size_t frame_table_upto(const struct frame_table *t, uint64_t address)
{
    size_t low = 0, high = t->n;

    while (low < high) {
        size_t mid = low + (high - low) / 2;

        if (frame_table_function(t, mid) <= address)
            low = mid + 1;
        else
            high = mid;
    }
    return low;
}
