/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a recording keeps in memory, and writes on request.
 * Invariant: memory is written to a file beside PATH, which becomes PATH when it is whole: what stood there before
 * stays until then.
 */
#include "recording_writer.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/fail.h"
#include "common/own_file.h"
#include "event/batch_page.h"

#define RING_BYTES ((uint64_t)64 << 20)

/* ---- names that change: a file begins with those of its first page's time, which later pages change */

int recording_naming_add(struct namings *namings, const struct naming *naming)
{
    struct naming *n = malloc(sizeof *n);

    if (!n)
        return fail(-ENOMEM, "out of memory");
    *n = *naming;
    n->next = NULL;
    *(namings->first ? namings->end : &namings->first) = n;
    namings->end = &n->next;
    namings->bytes += sizeof *n;
    return 0;
}

void recording_naming_pass(struct recording_writer *w, struct namings *namings)
{
    for (struct naming *n = namings->first, *next; n; n = next) {
        next = n->next;
        recording_owners_name(w->owners, &n->owner);
        free(n);
    }
    *namings = (struct namings){0};
}

/* ---- memory */

void recording_memory_drop_oldest(struct recording_writer *w)
{
    struct kept *k = w->kept;

    recording_naming_pass(w, &k->namings);
    w->kept = k->next;
    if (!w->kept)
        w->kept_end = &w->kept;
    w->kept_bytes -= k->bytes;
    free(k);
}

int recording_memory_keep(struct recording_writer *w, const struct recording_chunk *chunk)
{
    uint64_t limit = w->plan.max_bytes ? w->plan.max_bytes : RING_BYTES;
    struct kept *k = malloc(sizeof *k + chunk->stored);

    if (!k)
        return fail(-ENOMEM, "out of memory");
    k->next = NULL;
    k->time_ns = w->last_ns;
    k->chunk = *chunk;
    k->namings = w->namings;
    k->bytes = sizeof *k + chunk->stored + k->namings.bytes;
    w->namings = (struct namings){0};
    memcpy(k->stored, w->stored, chunk->stored);
    *w->kept_end = k;
    w->kept_end = &k->next;
    w->kept_bytes += k->bytes;
    while (w->kept != k && (w->kept->time_ns + w->plan.ring_ns < k->time_ns || w->kept_bytes > limit))
        recording_memory_drop_oldest(w);
    return 0;
}

/* ---- memory that is written */

/* A file of what memory holds. After a failure `written` is what there was room for. */
static int write_kept(struct recording_writer *w)
{
    uint64_t stored = w->totals.stored;
    int err = recording_file_open(w);

    for (struct kept *k = w->kept; k && !err; k = k->next)
        err = recording_file_write_chunk(w, &k->chunk, k->stored);
    if (!err)
        err = recording_file_close(w);
    if (err)
        w->totals.stored = stored;
    recording_file_leave(w);
    return err;
}

static void remove_beside(const struct recording_writer *w)
{
    if (!w->special)
        unlink(w->beside);
}

/* What was written takes its place. The first one replaces the empty file of recording_begin. Fails: said. */
static int put_in_place(struct recording_writer *w, unsigned files)
{
    int err = w->dumped ? recording_file_shift(w, files) : 0;

    if (!err && !w->special && rename(w->beside, w->plan.path))
        err = recording_file_say(w, -errno, "");
    if (err)
        remove_beside(w);
    else
        w->dumped = true;
    return err;
}

int recording_memory_begin(struct recording_writer *w)
{
    struct stat st;
    int err = own_file_check(w->plan.path, &st);

    if (err)
        return recording_file_say(w, err, "");
    w->special = st.st_mode && !S_ISREG(st.st_mode);
    w->mode = st.st_mode & 0777;
    snprintf(w->beside, sizeof w->beside, "%s.%d.part", w->plan.path, getpid());
    err = write_kept(w);
    if (!err)
        err = put_in_place(w, 1);
    else if (err != -ENOMEM)
        recording_file_say(w, err, "");
    if (err)
        remove_beside(w);
    w->dumped = false;
    return err;
}

int recording_dump(struct recording_writer *w)
{
    int err = recording_flush(w);

    if (!err)
        err = write_kept(w);
    if (!err)
        return put_in_place(w, w->plan.files);
    remove_beside(w);
    if (err == -ENOMEM)
        return err;
    return recording_file_say(w, err, "; it is kept in memory, and the next request or the end tries again");
}

/* There is more than one. */
static void drop_chunks(struct recording_writer *w, uint64_t room)
{
    uint64_t less = w->kept_bytes / 8 * 7; /* others may take the room meanwhile */

    room = room < less ? room : less;
    do
        recording_memory_drop_oldest(w);
    while (w->kept->next && w->kept_bytes + END_BYTES > room);
}

/* The one chunk that is kept becomes one of its newest pages. Fails: -ENOSPC: none has room; -ENOMEM, said. */
static int drop_pages(struct recording_writer *w, uint64_t room)
{
    struct kept *k = w->kept;
    uint64_t size = k->chunk.raw, fits = size * room / (sizeof k->chunk + k->chunk.stored + END_BYTES) / 8 * 7;
    struct recording_chunk chunk;
    size_t at = 0, unpacked = ZSTD_decompress(w->raw, sizeof w->raw, k->stored, k->chunk.stored);
    int err;

    if (unpacked != size)
        return fail(-ENOMEM, "cannot unpack what is kept: %s", ZSTD_getErrorName(unpacked));
    while (at < size && size - at > fits)
        at += recording_padded(sizeof(struct batch_received) + ((struct batch_received *)(w->raw + at))->bytes);
    if (at >= size)
        return -ENOSPC;
    err = recording_file_pack(w, RECORDING_PAGES, w->raw + at, size - at, &chunk);
    recording_memory_drop_oldest(w);
    return err ? err : recording_memory_keep(w, &chunk);
}

/* As much of what is newest as there is room for; -ENOSPC: for nothing. */
static int write_newest(struct recording_writer *w)
{
    int err = -ENOSPC, dropped = w->kept ? 0 : err;

    while (err && err != -ENOMEM && !dropped) {
        uint64_t room = w->written - w->prelude;

        if (w->kept->next)
            drop_chunks(w, room);
        else
            dropped = drop_pages(w, room);
        err = dropped ? dropped : write_kept(w);
    }
    return err;
}

int recording_dump_last(struct recording_writer *w)
{
    int err = recording_flush(w);

    if (!err)
        err = write_kept(w);
    if (!err)
        return put_in_place(w, w->plan.files);
    if (err == -ENOMEM)
        return err;
    if (w->special || write_newest(w)) {
        remove_beside(w);
        return recording_file_say(w, err, "");
    }
    if (!put_in_place(w, w->plan.files + 1)) /* a part takes the place of nothing */
        recording_file_say(w, err, "; the newest of it, as much as could be written, can be read");
    return err;
}
