/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The files of a recording that is written.
 * Invariant: a file begins with all that its pages need (clock, VMs, names), so that each can be read alone; after a
 * failure it ends with its last whole chunk.
 */
#include "recording_writer.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "common/clock.h"
#include "common/fail.h"
#include "common/own_file.h"
#include "event/batch_names.h"

enum { LEVEL = -2 }; /* of zstd: about a gigabyte a second, a fourth to a ninth of the bytes */

int recording_file_say(const struct recording_writer *w, int err, const char *more)
{
    return fail(err, "cannot write '%s': %s%s", w->plan.path, own_file_error(err), more);
}

/* What memory holds is written again when it fails: who does that says so once. */
static int complain(const struct recording_writer *w, int err)
{
    static const char more[] = "; what was written until then can be read, and may be more than is said here";

    return w->plan.ring_ns ? err : recording_file_say(w, err, w->chunks ? more : "");
}

static int write_all(struct recording_writer *w, const void *bytes, size_t size)
{
    for (size_t done = 0; done < size;) {
        ssize_t got = write(w->fd, (const char *)bytes + done, size - done);

        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            return -errno;
        done += (size_t)got;
        w->written += (size_t)got;
    }
    return 0;
}

void recording_file_leave(struct recording_writer *w)
{
    if (w->fd >= 0)
        close(w->fd);
    w->fd = -1;
}

int recording_file_write_chunk(struct recording_writer *w, struct recording_chunk *chunk, const void *stored)
{
    int err;

    chunk->number = w->chunks;
    chunk->sum = recording_sum(chunk, stored);
    err = write_all(w, chunk, sizeof *chunk);
    if (!err)
        err = write_all(w, stored, chunk->stored);
    if (err) { /* what was written of it can be read */
        recording_file_leave(w);
        return complain(w, err);
    }
    w->chunks++;
    w->totals.stored += sizeof *chunk + chunk->stored;
    return 0;
}

int recording_file_pack(struct recording_writer *w, enum recording_kind kind, const void *raw, size_t size,
                        struct recording_chunk *out)
{
    size_t stored = ZSTD_compressCCtx(w->packer, w->stored, w->room, raw, size, LEVEL);

    if (ZSTD_isError(stored))
        return fail(-ENOMEM, "cannot pack what is recorded: %s", ZSTD_getErrorName(stored));
    *out = (struct recording_chunk){
        .magic = RECORDING_CHUNK_MAGIC, .kind = kind, .stored = (uint32_t)stored, .raw = (uint32_t)size};
    return 0;
}

int recording_file_put(struct recording_writer *w, enum recording_kind kind, const void *raw, size_t size)
{
    struct recording_chunk chunk;
    int err = recording_file_pack(w, kind, raw, size, &chunk);

    return err ? err : recording_file_write_chunk(w, &chunk, w->stored);
}

/* ---- the beginning of a file */

struct name_table {
    struct recording_writer *w;
    uint32_t vm; /* only its names; 0: all */
    char *bytes;
    size_t used;
};

static int put_table(struct name_table *t)
{
    int err = t->used ? recording_file_put(t->w, RECORDING_NAMES, t->bytes, t->used) : 0;

    t->used = 0;
    return err;
}

static int add_name(void *ctx, uint32_t vm, uint64_t index, const char *text)
{
    struct name_table *t = ctx;
    struct recording_name name = {.vm = vm, .index = (uint32_t)index, .bytes = (uint32_t)strlen(text)};
    size_t size = sizeof name + recording_padded(name.bytes);

    if (t->vm && t->vm != vm)
        return 0;

    int err = t->used + size > RECORDING_CHUNK_BYTES ? put_table(t) : 0;

    memset(t->bytes + t->used, 0, size);
    memcpy(t->bytes + t->used, &name, sizeof name);
    memcpy(t->bytes + t->used + sizeof name, text, name.bytes);
    t->used += size;
    return err;
}

int recording_file_put_names(struct recording_writer *w, uint32_t vm)
{
    struct name_table table = {w, vm, malloc(RECORDING_CHUNK_BYTES), 0};
    int err = table.bytes ? batch_names_each(w->names, add_name, &table) : fail(-ENOMEM, "out of memory");

    if (!err)
        err = put_table(&table);
    free(table.bytes);
    return err;
}

struct owner_table {
    struct recording_writer *w;
    struct recording_owner *rows; /* of a chunk */
    size_t n;
};

static int put_owner_rows(struct owner_table *t)
{
    int err = t->n ? recording_file_put(t->w, RECORDING_OWNERS, t->rows, t->n * sizeof *t->rows) : 0;

    t->n = 0;
    return err;
}

static int add_owner(void *ctx, const struct recording_owner *owner)
{
    struct owner_table *t = ctx;

    t->rows[t->n++] = *owner;
    return t->n == RECORDING_CHUNK_BYTES / sizeof *t->rows ? put_owner_rows(t) : 0;
}

int recording_file_put_owners(struct recording_writer *w, uint32_t vm)
{
    struct owner_table table = {w, malloc(RECORDING_CHUNK_BYTES), 0};
    int err = table.rows ? recording_owners_each(w->owners, vm, add_owner, &table) : fail(-ENOMEM, "out of memory");

    if (!err)
        err = put_owner_rows(&table);
    free(table.rows);
    return err;
}

static int put_asked(struct recording_writer *w)
{
    struct recording_probes asked;

    if (!w->plan.asked)
        return 0;
    asked = recording_probes(w->plan.asked);
    return recording_file_put(w, RECORDING_ASKED, &asked, sizeof asked);
}

static int put_prelude(struct recording_writer *w)
{
    struct recording_clock clock = {.wall_ns = clock_ns(CLOCK_REALTIME) - clock_ns(CLOCK_MONOTONIC)};
    int err = recording_file_put(w, RECORDING_CLOCK, &clock, sizeof clock);

    if (!err)
        err = put_asked(w);
    if (!err && w->nvms)
        err = recording_file_put(w, RECORDING_VM, w->vms, w->nvms * sizeof *w->vms);
    w->lost_written = (struct recording_lost){0};
    if (!err)
        err = recording_file_put_names(w, 0);
    return err ? err : recording_file_put_owners(w, 0);
}

/* What stands at PATH is written over; memory gets a new file beside it. */
static int open_path(const struct recording_writer *w)
{
    int fd;

    if (!w->plan.ring_ns || w->special)
        return own_file_open(w->plan.path);
    unlink(w->beside);
    fd = open(w->beside, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, OWN_FILE_MODE);
    if (fd >= 0 && w->mode)
        fchmod(fd, w->mode);
    return fd < 0 ? -errno : fd;
}

int recording_file_open(struct recording_writer *w)
{
    struct recording_head head = {.magic = RECORDING_MAGIC, .form = RECORDING_FORM, .catalogue = recording_catalogue()};
    int err;

    snprintf(head.writer, sizeof head.writer, "%s", w->plan.writer);
    w->chunks = 0;
    w->begun_ns = 0;
    w->written = w->prelude = 0;
    w->fd = open_path(w);
    if (w->fd < 0) {
        err = w->fd;
        w->fd = -1;
        return complain(w, err);
    }
    err = write_all(w, &head, sizeof head);
    if (err) {
        recording_file_leave(w);
        complain(w, err);
    } else {
        err = put_prelude(w);
    }
    w->prelude = w->written;
    return err;
}

/* ---- the end of a file */

int recording_file_put_lost(struct recording_writer *w)
{
    bool is_written = !memcmp(&w->lost, &w->lost_written, sizeof w->lost);
    int err = is_written ? 0 : recording_file_put(w, RECORDING_LOST, &w->lost, sizeof w->lost);

    w->lost_written = w->lost;
    return err;
}

int recording_file_close(struct recording_writer *w)
{
    int err = recording_file_put_lost(w);

    if (!err)
        err = recording_file_put(w, RECORDING_END, "", 0);
    if (w->fd >= 0 && close(w->fd) && !err)
        err = complain(w, -errno);
    w->fd = -1;
    return err;
}

/* ---- files before it */

struct numbered {
    char path[PATH_MAX + 16];
};

/* PATH.number; PATH itself is number 0. */
static struct numbered numbered(const char *path, unsigned number)
{
    struct numbered n;

    snprintf(n.path, sizeof n.path, number ? "%s.%u" : "%s", path, number);
    return n;
}

/* Whether a recording stands there, or nothing: an empty file. */
static bool is_recording(const char *path)
{
    char magic[sizeof (char[])RECORDING_MAGIC];
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOFOLLOW);
    struct stat st;
    ssize_t got = fd >= 0 && !fstat(fd, &st) && S_ISREG(st.st_mode) ? read(fd, magic, sizeof magic) : -1;

    if (fd >= 0)
        close(fd);
    return !got || (got == sizeof magic && !memcmp(magic, (const char[])RECORDING_MAGIC, sizeof magic));
}

/*
 * Another file is to take the place of the first: of a device, as of a link to one, it would take it from everybody.
 * Nor is a file replaced that trace has not written. Memory may need one file more (recording_dump_last).
 */
int recording_file_refuse(const struct recording_plan *plan)
{
    bool followed = plan->files > 1 && (plan->max_bytes || plan->max_ns || plan->ring_ns);
    struct stat st;

    if (followed && !lstat(plan->path, &st) && !S_ISREG(st.st_mode))
        return fail(-EINVAL, "cannot write '%s': it is no regular file, and cannot become '%s.1'; choose --files 1",
                    plan->path, plan->path);
    for (unsigned i = 1; i < (followed ? plan->files : 1) + (plan->ring_ns != 0); i++) {
        struct numbered before = numbered(plan->path, i);

        if (!lstat(before.path, &st) && !is_recording(before.path))
            return fail(-EEXIST, "cannot write '%s': '%s' is no recording, and would be replaced; choose another name",
                        plan->path, before.path);
    }
    return 0;
}

int recording_file_remove_earlier(const struct recording_plan *plan)
{
    unsigned removed = 0;

    for (unsigned i = 1; i <= RECORDING_MOST_FILES; i++) {
        struct numbered before = numbered(plan->path, i);

        if (access(before.path, F_OK) || !is_recording(before.path))
            continue;
        if (unlink(before.path))
            return fail(-errno, "cannot remove '%s' of an earlier recording: %s", before.path, strerror(errno));
        removed++;
    }
    if (removed)
        note("removed what an earlier recording left beside '%s': %u file%s (%s.1 ...)", plan->path, removed,
             removed > 1 ? "s" : "", plan->path);
    return 0;
}

int recording_file_shift(const struct recording_writer *w, unsigned files)
{
    for (unsigned i = files - 1; i > 0; i--) {
        struct numbered from = numbered(w->plan.path, i - 1), to = numbered(w->plan.path, i);

        if (rename(from.path, to.path) && errno != ENOENT)
            return fail(-errno, "cannot rename '%s' to '%s': %s", from.path, to.path, strerror(errno));
    }
    return 0;
}

int recording_file_next(struct recording_writer *w)
{
    int err = recording_file_close(w);

    if (!err)
        err = recording_file_shift(w, w->plan.files);
    return err ? err : recording_file_open(w);
}
