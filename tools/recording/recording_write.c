/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Invariant: a file begins with all that its pages need (clock, VMs, names), so that each can be read alone; after a
 * failure it ends with its last whole chunk. Memory is written to a file beside PATH, which becomes PATH when it is
 * whole: what stood there before stays until then.
 */
#include "recording_write.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>
#include <zstd.h>

#include "common/clock.h"
#include "common/fail.h"
#include "common/own_file.h"
#include "event/batch_names.h"
#include "event/batch_page.h"
#include "recording_owners.h"

enum {
    LEVEL = -2,      /* of zstd: about a gigabyte a second, a fourth to a ninth of the bytes */
    MOST_OWNERS = 1 << 18, /* of all VMs, 35 MB when there are so many */
    OWNER_SHARE = 512, /* where the size of a file is limited, an owner for so many bytes of it */
    END_BYTES = 192, /* more than the chunks that end a file */
};
#define RING_BYTES ((uint64_t)64 << 20)
#define ATOMS_BYTES ((uint64_t)8 << 20) /* of a file to begin with all atoms */
#define WAIT_NS 1000000000ull
#define OWNER_NS (5 * WAIT_NS) /* how long pages that tell more of an ended process may wait */

/* That a process registered a name, or gave it up: of pages that no file begins behind yet. */
struct naming {
    struct naming *next;
    uint32_t vm;
    uint64_t id, atom;
};

struct namings {
    struct naming *first, **end;
    uint64_t bytes;
};

/* A chunk in memory. */
struct kept {
    struct kept *next;
    struct namings namings;
    uint64_t bytes;   /* of memory that it takes */
    uint64_t time_ns; /* of its last page */
    struct recording_chunk chunk;
    char stored[];
};

struct recording_writer {
    struct recording_plan plan;
    int fd;
    uint64_t written, begun_ns; /* of the file; when it was begun, 0: by its next page */
    uint32_t chunks;
    ZSTD_CCtx *packer;
    struct batch_names *names;
    struct recording_vm *vms;
    size_t nvms;
    struct recording_owners *owners;
    struct namings namings; /* of the pages that wait */
    struct recording_lost lost, lost_told;
    uint64_t first_ns, last_ns; /* of the pages that wait */
    uint64_t looked_ns; /* first */
    struct kept *kept, **kept_end;
    uint64_t kept_bytes;
    struct recording_told told, waiting; /* waiting: of the pages that wait */
    bool full;
    bool dumped; /* the file holds what memory held before */
    bool special; /* with ring_ns: PATH is no regular file, and written as it is */
    mode_t mode;  /* with ring_ns: of the file that PATH was; 0: there was none */
    uint64_t prelude; /* bytes of `written` before the first page */
    char beside[PATH_MAX + 32]; /* with ring_ns: what is written, then renamed to PATH */
    char *stored; /* room for one chunk */
    size_t room, used, limit; /* limit: of `used`, so that a chunk fits a file */
    _Alignas(8) char raw[RECORDING_CHUNK_BYTES]; /* what waits: pages, while the file is begun names */
};

/* ---- files */

static int recording_file_say(const struct recording_writer *w, int err, const char *more)
{
    return fail(err, "cannot write '%s': %s%s", w->plan.path, own_file_error(err), more);
}

/* What memory holds is written again when it fails: who does that says so once. */
static int complain(const struct recording_writer *w, int err)
{
    static const char more[] = "; what was written until then can be read, and may be more than is told here";

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

static void recording_file_leave(struct recording_writer *w)
{
    if (w->fd >= 0)
        close(w->fd);
    w->fd = -1;
}

static int recording_file_write_chunk(struct recording_writer *w, struct recording_chunk *chunk, const void *stored)
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
    w->told.stored += sizeof *chunk + chunk->stored;
    return 0;
}

/* These bytes become a chunk, which is in w->stored. Fails: -ENOMEM, said; zstd has no other failure there. */
static int recording_file_pack(struct recording_writer *w, enum recording_kind kind, const void *raw, size_t size,
                               struct recording_chunk *out)
{
    size_t stored = ZSTD_compressCCtx(w->packer, w->stored, w->room, raw, size, LEVEL);

    if (ZSTD_isError(stored))
        return fail(-ENOMEM, "cannot pack what is recorded: %s", ZSTD_getErrorName(stored));
    *out = (struct recording_chunk){
        .magic = RECORDING_CHUNK_MAGIC, .kind = kind, .stored = (uint32_t)stored, .raw = (uint32_t)size};
    return 0;
}

static int recording_file_put(struct recording_writer *w, enum recording_kind kind, const void *raw, size_t size)
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

static int recording_file_put_names(struct recording_writer *w, uint32_t vm)
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

/* Of a VM; 0: of all. */
static int recording_file_put_owners(struct recording_writer *w, uint32_t vm)
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
    w->lost_told = (struct recording_lost){0};
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

static int recording_file_open(struct recording_writer *w)
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

static int recording_file_put_lost(struct recording_writer *w)
{
    bool is_told = !memcmp(&w->lost, &w->lost_told, sizeof w->lost);
    int err = is_told ? 0 : recording_file_put(w, RECORDING_LOST, &w->lost, sizeof w->lost);

    w->lost_told = w->lost;
    return err;
}

static int recording_file_close(struct recording_writer *w)
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
static int recording_file_refuse(const struct recording_plan *plan)
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

/* Files of an earlier recording would be taken for the beginning of this one. */
static int recording_file_remove_earlier(const struct recording_plan *plan)
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

/* PATH becomes PATH.1, that PATH.2 and so on; with the next PATH there are `files` of them, the last is replaced. */
static int recording_file_shift(const struct recording_writer *w, unsigned files)
{
    for (unsigned i = files - 1; i > 0; i--) {
        struct numbered from = numbered(w->plan.path, i - 1), to = numbered(w->plan.path, i);

        if (rename(from.path, to.path) && errno != ENOENT)
            return fail(-errno, "cannot rename '%s' to '%s': %s", from.path, to.path, strerror(errno));
    }
    return 0;
}

static int recording_file_next(struct recording_writer *w)
{
    int err = recording_file_close(w);

    if (!err)
        err = recording_file_shift(w, w->plan.files);
    return err ? err : recording_file_open(w);
}

/* ---- registered names: a file begins with those of its first page's time, which later pages change */

static int recording_naming_add(struct namings *namings, const struct naming *naming)
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

/* The pages are behind what files begin with from now on. */
static void recording_naming_pass(struct recording_writer *w, struct namings *namings)
{
    for (struct naming *n = namings->first, *next; n; n = next) {
        next = n->next;
        recording_owners_name(w->owners, n->vm, n->id, n->atom);
        free(n);
    }
    *namings = (struct namings){0};
}

/* ---- memory */

static void recording_memory_drop_oldest(struct recording_writer *w)
{
    struct kept *k = w->kept;

    recording_naming_pass(w, &k->namings);
    w->kept = k->next;
    if (!w->kept)
        w->kept_end = &w->kept;
    w->kept_bytes -= k->bytes;
    free(k);
}

static int recording_memory_keep(struct recording_writer *w, const struct recording_chunk *chunk)
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

/* ---- pages */

static bool is_past(const struct recording_writer *w, uint64_t begun_ns, uint64_t time_ns)
{
    return w->plan.max_ns && time_ns > begun_ns + w->plan.max_ns;
}

/* Whether a chunk of that size does not belong into this file any more. */
static bool is_long(const struct recording_writer *w, size_t size)
{
    if (w->plan.max_bytes && w->written + size + END_BYTES > w->plan.max_bytes)
        return true;
    return w->begun_ns && is_past(w, w->begun_ns, w->last_ns);
}

/* Whether a page belongs into another chunk than those that wait: these have no room for it, or are the last of their
 * file. */
static bool ends_chunk(const struct recording_writer *w, uint64_t time_ns, size_t size)
{
    return w->used + size > w->limit || (w->used && is_past(w, w->begun_ns ? w->begun_ns : w->first_ns, time_ns));
}

static void count_waiting(struct recording_writer *w)
{
    w->told.pages += w->waiting.pages;
    w->told.events += w->waiting.events;
    w->told.raw += w->waiting.raw;
    w->waiting = (struct recording_told){0};
}

static int recording_flush(struct recording_writer *w)
{
    struct recording_chunk chunk;
    int err;

    if (!w->used)
        return 0;
    err = recording_file_pack(w, RECORDING_PAGES, w->raw, w->used, &chunk);
    w->used = 0;
    if (err)
        return err;
    if (w->plan.ring_ns) {
        count_waiting(w);
        return recording_memory_keep(w, &chunk);
    }
    if (is_long(w, sizeof chunk + chunk.stored)) {
        w->full = w->plan.files == 1;
        if (w->full)
            return 1;
        err = recording_file_next(w); /* which packs as well */
        if (!err)
            err = recording_file_pack(w, RECORDING_PAGES, w->raw, chunk.raw, &chunk);
    }
    if (!err)
        err = recording_file_write_chunk(w, &chunk, w->stored);
    if (!err)
        count_waiting(w);
    recording_naming_pass(w, &w->namings);
    w->begun_ns = w->begun_ns ? w->begun_ns : w->first_ns;
    return err ? err : recording_file_put_lost(w);
}

/* matters: a file is to begin with it. Fails: said. */
static int add_owner_of(struct recording_writer *w, const struct recording_owner *owner, bool matters)
{
    int left_out = recording_owners_add(w->owners, owner);

    w->lost.unnamed += left_out > 0 && matters;
    return left_out < 0 ? fail(left_out, "out of memory") : 0;
}

/* Who is born, registers a name and ends is known when the next file begins. */
static int learn_life(struct recording_writer *w, uint32_t vm, const struct batch_record *record, uint64_t now_ns)
{
    ev_mfa mfa = record->words[1];
    struct recording_owner born = {.vm = vm, .form = WIRE_MFA, .id = record->words[0],
                                   .words = {ev_mfa_module(mfa), ev_mfa_function(mfa), ev_mfa_arity(mfa)}};
    bool more_files = w->plan.files > 1 || w->plan.ring_ns;

    if (record->head.event == BATCH_process__exit)
        return recording_owners_exit(w->owners, vm, record->words[0], now_ns) ? fail(-ENOMEM, "out of memory") : 0;
    if (record->head.event == BATCH_NAMED)
        return recording_naming_add(&w->namings,
                                    &(struct naming){.vm = vm, .id = record->words[0], .atom = record->words[1]});
    return mfa ? add_owner_of(w, &born, more_files) : 0;
}

/* What later pages, also of other files, do not tell again. */
static int learn(struct recording_writer *w, const struct batch_received *received)
{
    static const bool learned[1 << 8] = {[BATCH_ATOM] = true, [BATCH_NAMED] = true, [BATCH_process__spawn] = true,
                                         [BATCH_process__exit] = true};
    struct batch_page page;
    struct batch_record r = {0};
    int err = 0;

    recording_owners_pass(w->owners, received->time_ns);
    if (!batch_page_open(&page, received + 1, received->bytes))
        return 0;
    while (!err && batch_page_next_of(&page, learned, &r))
        if (r.head.event == BATCH_ATOM)
            batch_names_tell(w->names, received->vm, r.words[0], r.texts[1], r.words[1]);
        else
            err = learn_life(w, received->vm, &r, received->time_ns);
    w->waiting.events += page.events;
    return err;
}

int recording_page(struct recording_writer *w, const struct batch_received *received)
{
    size_t bytes = sizeof *received + received->bytes, size = recording_padded(bytes);
    int err = ends_chunk(w, received->time_ns, size) ? recording_flush(w) : 0;

    if (err || w->full || size > w->limit)
        return err ? err : w->full;
    if (!w->used)
        w->first_ns = received->time_ns;
    w->last_ns = received->time_ns;
    memset(w->raw + w->used + size - 8, 0, 8);
    memcpy(w->raw + w->used, received, bytes);
    w->used += size;
    w->waiting.pages++;
    w->waiting.raw += bytes;
    return learn(w, received);
}

/* Whether the one file covers its time, though nothing happens any more; pages of that time were written. */
static bool ends_by_time(const struct recording_writer *w, uint64_t now_ns)
{
    uint64_t begun_ns = w->begun_ns ? w->begun_ns : w->looked_ns;

    return w->plan.files == 1 && w->plan.max_ns && !w->used && now_ns > begun_ns + w->plan.max_ns + WAIT_NS;
}

int recording_look(struct recording_writer *w, uint64_t now_ns)
{
    int err = w->used && now_ns > w->first_ns + WAIT_NS ? recording_flush(w) : w->full;

    w->looked_ns = w->looked_ns ? w->looked_ns : now_ns;
    w->full |= !err && ends_by_time(w, now_ns);
    return err ? err : w->full;
}

void recording_lost(struct recording_writer *w, uint64_t pages)
{
    w->lost.pages = pages;
}

int recording_vm(struct recording_writer *w, uint32_t vm, const char *name, const struct wanted *untold)
{
    struct recording_vm *vms = realloc(w->vms, (w->nvms + 1) * sizeof *vms), *added;

    if (!vms)
        return fail(-ENOMEM, "out of memory");
    w->vms = vms;
    added = &vms[w->nvms];
    *added = (struct recording_vm){.vm = vm, .untold = recording_probes(untold)};
    snprintf(added->name, sizeof added->name, "%s", name);
    if ((w->nvms + 1) * sizeof *vms <= RECORDING_CHUNK_BYTES)
        w->nvms++;
    return w->fd >= 0 ? recording_file_put(w, RECORDING_VM, added, sizeof *added) : 0;
}

/* ---- processes that were there before */

bool recording_has_room(const struct recording_writer *w)
{
    return !w->plan.max_bytes || w->plan.max_bytes >= ATOMS_BYTES;
}

int recording_atom(struct recording_writer *w, uint32_t vm, uint64_t index, const char *text, size_t bytes)
{
    int err = batch_names_find(w->names, vm, index) ? 0 : batch_names_tell(w->names, vm, index, text, bytes);

    return err == -ENOMEM ? fail(err, "out of memory") : 0;
}

int recording_owner(struct recording_writer *w, uint32_t vm, uint64_t id, const struct wire_name *name)
{
    const struct recording_owner owner = {vm, (uint32_t)name->form, id,
                                          {name->words[0], name->words[1], name->words[2]}};

    return add_owner_of(w, &owner, true);
}

int recording_owners_told(struct recording_writer *w, uint32_t vm)
{
    int err = w->fd >= 0 ? recording_file_put_names(w, vm) : 0;

    return err || w->fd < 0 ? err : recording_file_put_owners(w, vm);
}

void recording_vm_ended(struct recording_writer *w, uint32_t vm, uint64_t now_ns)
{
    recording_owners_exit_vm(w->owners, vm, now_ns);
}

/* ---- memory that is written */

/* A file of what memory holds. After a failure `written` is what there was room for. */
static int write_kept(struct recording_writer *w)
{
    uint64_t stored = w->told.stored;
    int err = recording_file_open(w);

    for (struct kept *k = w->kept; k && !err; k = k->next)
        err = recording_file_write_chunk(w, &k->chunk, k->stored);
    if (!err)
        err = recording_file_close(w);
    if (err)
        w->told.stored = stored;
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

/* The file can be written, which is known at once. It is empty until it is asked for. */
static int recording_memory_begin(struct recording_writer *w)
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

/* ---- the life of a recording */

/* As many as are known by name at once: a file that may be small is not to be filled by them. */
static size_t most_owners(const struct recording_plan *plan)
{
    uint64_t room = plan->max_bytes / OWNER_SHARE;

    return plan->max_bytes && room < MOST_OWNERS ? (size_t)room : MOST_OWNERS;
}

int recording_begin(const struct recording_plan *plan, struct recording_writer **out)
{
    struct recording_writer *w = calloc(1, sizeof *w);
    int err;

    if (!w)
        return fail(-ENOMEM, "out of memory");
    w->plan = *plan;
    w->fd = -1;
    w->limit = plan->max_bytes && plan->max_bytes < 2 * sizeof w->raw ? plan->max_bytes / 2 : sizeof w->raw;
    w->kept_end = &w->kept;
    w->packer = ZSTD_createCCtx();
    w->names = batch_names_new();
    w->owners = recording_owners_new(most_owners(plan), plan->ring_ns + OWNER_NS);
    w->room = ZSTD_compressBound(RECORDING_CHUNK_BYTES);
    w->stored = malloc(w->room);
    err = w->packer && w->names && w->owners && w->stored ? 0 : fail(-ENOMEM, "out of memory");
    if (!err && strlen(plan->path) >= PATH_MAX)
        err = recording_file_say(w, -ENAMETOOLONG, "");
    if (!err)
        err = recording_file_refuse(plan);
    if (!err)
        err = plan->ring_ns ? recording_memory_begin(w) : recording_file_open(w);
    if (!err)
        err = recording_file_remove_earlier(plan);
    *out = w;
    if (err) {
        recording_end(w, NULL);
        *out = NULL;
    }
    return err;
}

int recording_end(struct recording_writer *w, struct recording_told *told)
{
    int err = w->fd >= 0 && !w->full ? recording_flush(w) : 0;

    if (w->fd >= 0)
        err = recording_file_close(w) || err < 0 ? -EIO : 0;
    w->told.lost = w->lost;
    if (told)
        *told = w->told;
    while (w->kept)
        recording_memory_drop_oldest(w);
    recording_naming_pass(w, &w->namings);
    ZSTD_freeCCtx(w->packer);
    batch_names_free(w->names);
    free(w->stored);
    free(w->vms);
    recording_owners_free(w->owners);
    free(w);
    return err;
}
