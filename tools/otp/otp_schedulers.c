/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Invariant: a scheduler in the list has a thread whose block says so, and the number that its place in the array
 * demands.
 */
#include "otp_schedulers.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "target/memory.h"

enum { MAX_SCHEDULERS = 4096, MAX_DATA = 64 << 20, ALIGNMENT = 64, NTYPES = 3 };

struct search {
    const struct memory_file *memory;
    const struct otp_layout *layout;
    struct otp_scheduler *found;
    size_t n;
    uint64_t arrays[NTYPES]; /* by type; 0: not found yet */
};

static int read_at(const struct search *s, uint64_t address, void *out, size_t size)
{
    return memory_file_read(s->memory, address, out, size) ? 0 : -EFAULT;
}

static bool is_thread(const struct search *s, uint64_t thread)
{
    uint64_t block[3];

    return thread && thread % 8 == 0 && !read_at(s, thread, block, sizeof block) && block[0] == thread &&
           block[2] == thread;
}

/* The scheduler at the address, when it is number `number` of its type. */
static int read_scheduler(const struct search *s, uint64_t data, uint32_t type, uint64_t number,
                          struct otp_scheduler *out)
{
    const uint16_t *off = s->layout->off;
    uint32_t its_type;
    uint64_t its_number;

    if (read_at(s, data + off[OTP_SCHED_TYPE], &its_type, sizeof its_type) || its_type != type ||
        read_at(s, data + off[type ? OTP_SCHED_DIRTY_NO : OTP_SCHED_NO], &its_number, 8) || its_number != number ||
        read_at(s, data + off[OTP_SCHED_TID], &out->thread, 8) || !is_thread(s, out->thread) ||
        read_at(s, data + off[OTP_SCHED_REGISTERS], &out->registers, 8))
        return -ENOENT;
    out->data = data;
    if (type)
        out->registers = 0;
    return 0;
}

/* Adds the schedulers of an array that begins at the address. */
static int take_array(struct search *s, uint64_t array)
{
    for (uint32_t type = 0; type < NTYPES; type++) {
        struct otp_scheduler one;

        for (uint64_t i = 0; !s->arrays[type] && i < MAX_SCHEDULERS; i++) {
            void *found;

            if (read_scheduler(s, array + i * s->layout->off[OTP_SCHED_SIZE], type, i + 1, &one)) {
                s->arrays[type] = i ? array : 0;
                break;
            }
            found = realloc(s->found, (s->n + 1) * sizeof *s->found);
            if (!found)
                return -ENOMEM;
            s->found = found;
            s->found[s->n++] = one;
        }
    }
    return 0;
}

/* Every aligned pointer in the emulator's variables may be one to an array. */
static int search_segment(struct search *s, const struct otp_segment *segment)
{
    uint64_t *words = segment->size <= MAX_DATA ? malloc(segment->size) : NULL;
    int err = 0;

    if (!words)
        return -ENOMEM;
    if (!read_at(s, segment->address + s->layout->bias, words, segment->size)) {
        for (uint64_t i = 0; !err && i < segment->size / 8; i++)
            if (words[i] > UINT16_MAX && words[i] >> 47 == 0 && words[i] % ALIGNMENT == 0)
                err = take_array(s, words[i]);
    }
    free(words);
    return err;
}

int otp_schedulers_find(const struct memory_file *memory, const struct otp_image *image,
                        const struct otp_layout *layout, struct otp_scheduler **out, size_t *n)
{
    struct search s = {.memory = memory, .layout = layout};
    int err = 0;

    for (unsigned i = 0; !err && i < image->nsegments; i++)
        /* variables: those without a value are not in the file */
        if (image->segments[i].size > image->segments[i].filled)
            err = search_segment(&s, &image->segments[i]);
    if (!err && !s.arrays[0])
        err = -ENOENT;
    if (err) {
        free(s.found);
        return err;
    }
    *out = s.found;
    *n = s.n;
    return 0;
}
