/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Invariant: a slot's bytes are of its page, read in the moment that it names; a page that could not be read has none.
 * Source: proc(5) for /proc/PID/maps.
 */
#include "memory.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/clock.h"

enum {
    PAGE_BITS = 12,
    PAGE = 1 << PAGE_BITS,
    SLOT_BITS = 10,
    SLOTS = 1 << SLOT_BITS,
    DIRECT = 4 * PAGE,
    MAPS_NS = 100000000
};

struct slot {
    uint64_t page, moment;
    size_t size; /* bytes that could be read */
};

struct memory {
    int pid; /* 0: none runs */
    struct memory_file *file;
    uint64_t moment, moment_ns; /* the moment's number, and when it began */
    struct slot slots[SLOTS];
    unsigned char (*bytes)[PAGE]; /* of the slots */
    struct memory_mapping *mappings; /* ascending */
    size_t nmappings;
    uint64_t mappings_ns; /* when they were read; 0: never */
};

int memory_open(int pid, struct memory **out)
{
    struct memory_file *file;
    int err = memory_file_open(pid, &file);

    if (!err)
        err = memory_new(file, out);
    if (!err)
        (*out)->pid = pid;
    return err;
}

int memory_new(struct memory_file *file, struct memory **out)
{
    struct memory *m = calloc(1, sizeof *m);

    if (m) {
        *m = (struct memory){.file = file, .moment = 1, .moment_ns = clock_ns(CLOCK_MONOTONIC)};
        m->bytes = calloc(SLOTS, PAGE);
    }
    if (!m || !m->bytes) {
        memory_file_close(file);
        free(m);
        return -ENOMEM;
    }
    *out = m;
    return 0;
}

void memory_close(struct memory *m)
{
    if (!m)
        return;
    memory_file_close(m->file);
    free(m->bytes);
    free(m->mappings);
    free(m);
}

void memory_since(struct memory *m, uint64_t time_ns)
{
    if (time_ns <= m->moment_ns)
        return;
    m->moment++;
    m->moment_ns = clock_ns(CLOCK_MONOTONIC);
}

uint64_t memory_moment(const struct memory *m)
{
    return m->moment;
}

const struct memory_file *memory_file(const struct memory *m)
{
    return m->file;
}

/* ---- bytes */

/* The slot of a page, filled. */
static const struct slot *fill_slot(struct memory *m, uint64_t page)
{
    size_t i = (page * 0x9e3779b97f4a7c15u) >> (64 - SLOT_BITS); /* 2^64 by the golden ratio */
    struct slot *slot = &m->slots[i];

    if (slot->page != page || slot->moment != m->moment) {
        *slot = (struct slot){.page = page, .moment = m->moment};
        slot->size = memory_file_read_some(m->file, page << PAGE_BITS, m->bytes[i], PAGE);
    }
    return slot;
}

int memory_read(struct memory *m, uint64_t address, void *out, size_t size)
{
    size_t got;

    if (size > DIRECT)
        return memory_file_read(m->file, address, out, size) ? 0 : -EFAULT;
    for (size_t done = 0; done < size; done += got) {
        const struct slot *slot = fill_slot(m, (address + done) >> PAGE_BITS);
        size_t at = (address + done) % PAGE;

        if (at >= slot->size)
            return -EFAULT;
        got = slot->size - at < size - done ? slot->size - at : size - done;
        memcpy((unsigned char *)out + done, m->bytes[slot - m->slots] + at, got);
    }
    return 0;
}

/* ---- mappings */

/* A line of /proc/PID/maps, or what could be read of it. */
static bool parse_mapping(const char *line, struct memory_mapping *out)
{
    char access[5];
    int path = 0;

    if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %4s %" SCNx64 " %*s %" SCNu64 " %n", &out->start, &out->end, access,
               &out->offset, &out->inode,
               &path) != 5 || !path)
        return false;
    out->executable = strchr(access, 'x') != NULL;
    out->shared = access[3] == 's';
    out->file = line[path] && line[path] != '\n' && !strstr(line + path, " (deleted)");
    return true;
}

int memory_each_mapping(int pid, bool (*take)(void *context, const struct memory_mapping *mapping), void *context)
{
    bool whole = true, done = false;
    char path[64], line[512];
    FILE *file;

    snprintf(path, sizeof path, "/proc/%d/maps", pid);
    file = fopen(path, "re");
    if (!file)
        return -errno;
    while (!done && fgets(line, sizeof line, file)) {
        struct memory_mapping one;

        done = whole && parse_mapping(line, &one) && take(context, &one);
        whole = strchr(line, '\n') != NULL; /* what follows a cut line is its rest */
    }
    fclose(file);
    return 0;
}

struct mappings {
    struct memory_mapping *all;
    size_t n, room;
    bool full; /* no memory for more */
};

static bool keep_mapping(void *context, const struct memory_mapping *one)
{
    struct mappings *to = context;

    if (to->n == to->room) {
        void *more = realloc(to->all, (2 * to->room + 64) * sizeof *one);

        to->full = !more;
        if (!more)
            return true;
        to->all = more;
        to->room = 2 * to->room + 64;
    }
    to->all[to->n++] = *one;
    return false;
}

static int read_mappings(struct memory *m)
{
    struct mappings found = {.all = m->mappings, .room = m->nmappings};
    uint64_t now = clock_ns(CLOCK_MONOTONIC);
    int err = 0;

    if (m->pid)
        err = memory_each_mapping(m->pid, keep_mapping, &found);
    else
        memory_file_each_mapping(m->file, keep_mapping, &found);
    m->mappings = found.all;
    if (err)
        return err;
    m->mappings_ns = now;
    if (found.n) /* a process that has ended has none: what was known of it stays */
        m->nmappings = found.n;
    return found.full ? -ENOMEM : 0;
}

static const struct memory_mapping *search_mapping(const struct memory *m, uint64_t address)
{
    size_t low = 0, high = m->nmappings;

    while (low < high) {
        size_t mid = (low + high) / 2;

        if (m->mappings[mid].end <= address)
            low = mid + 1;
        else
            high = mid;
    }
    return low < m->nmappings && m->mappings[low].start <= address ? &m->mappings[low] : NULL;
}

int memory_find_mapping(struct memory *m, uint64_t address, struct memory_mapping *out)
{
    const struct memory_mapping *found = search_mapping(m, address);

    if (!found && m->mappings_ns < m->moment_ns && clock_ns(CLOCK_MONOTONIC) - m->mappings_ns >= MAPS_NS) {
        int err = read_mappings(m);

        if (err)
            return err;
        found = search_mapping(m, address);
    }
    if (!found)
        return -ENOENT;
    *out = *found;
    return 0;
}

const struct memory_mapping *memory_mappings(struct memory *m, size_t *n)
{
    if (read_mappings(m))
        return NULL;
    *n = m->nmappings;
    return m->mappings;
}
