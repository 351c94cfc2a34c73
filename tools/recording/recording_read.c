/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Invariant: nothing of a chunk is looked at before its sum was right, but of one that is cut off; every length is
 * checked against what is there all the same.
 */
#include "recording_read.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <zstd.h>

#include "common/fail.h"

enum { WINDOW_LOG = 20 }; /* a chunk's bytes: what a file asks for beyond them is refused */
_Static_assert(RECORDING_CHUNK_BYTES == 1 << WINDOW_LOG, "a window is a chunk");

struct recording {
    FILE *file;
    struct batch_names *names;
    ZSTD_DCtx *unpacker;
    struct recording_chunk chunk;
    size_t at;        /* of the chunk's next piece */
    uint64_t offset;  /* in the file, behind the chunks that were read */
    uint32_t chunks;
    bool ended;       /* the chunk END was read */
    bool cut;         /* the chunk is what could be unpacked of one that is cut off: the last */
    char damage[160]; /* "": none was met */
    char *raw;        /* room for a chunk, unpacked */
    char *stored;     /* and as it is in the file */
    size_t room;
};

static bool damaged(struct recording *r, const char *what)
{
    what = r->cut ? "it is cut off" : what;
    snprintf(r->damage, sizeof r->damage, "%s at byte %llu: what follows was not read", what,
             (unsigned long long)r->offset);
    return false;
}

static int read_head(FILE *file, const char *name)
{
    struct recording_head head;
    char why[80];

    if (fread(&head, sizeof head, 1, file) != 1 || memcmp(head.magic, (const char[])RECORDING_MAGIC, sizeof head.magic))
        return fail(-EINVAL, "'%s' is no recording of erlsnoop trace", name);
    if (head.form != RECORDING_FORM)
        snprintf(why, sizeof why, "form %u; this one reads form %u", head.form, RECORDING_FORM);
    else if (head.catalogue != recording_catalogue())
        snprintf(why, sizeof why, "form %u as this one, but other probes", head.form);
    else
        return 0;
    return fail(-EINVAL, "'%s' was recorded by another erlsnoop (version '%.*s', %s): read it with that one", name,
                (int)strnlen(head.writer, sizeof head.writer), head.writer, why);
}

int recording_open(FILE *file, const char *name, struct batch_names *names, struct recording **out)
{
    struct recording *r;
    int err = read_head(file, name);

    if (err) {
        fclose(file);
        return err;
    }
    r = calloc(1, sizeof *r);
    if (!r) {
        fclose(file);
        return fail(-ENOMEM, "out of memory");
    }
    *r = (struct recording){.file = file,
                            .names = names,
                            .unpacker = ZSTD_createDCtx(),
                            .offset = sizeof(struct recording_head),
                            .room = ZSTD_compressBound(RECORDING_CHUNK_BYTES)};
    r->stored = malloc(r->room);
    r->raw = malloc(RECORDING_CHUNK_BYTES);
    if (!r->unpacker || !r->stored || !r->raw ||
        ZSTD_isError(ZSTD_DCtx_setParameter(r->unpacker, ZSTD_d_windowLogMax, WINDOW_LOG))) {
        recording_close(r);
        return fail(-ENOMEM, "out of memory");
    }
    *out = r;
    return 0;
}

void recording_close(struct recording *r)
{
    if (!r)
        return;
    ZSTD_freeDCtx(r->unpacker);
    free(r->stored);
    free(r->raw);
    fclose(r->file);
    free(r);
}

const char *recording_damage(const struct recording *r)
{
    return r->damage[0] ? r->damage : NULL;
}

/* ---- chunks */

/* A chunk of which so many bytes are there: its writer had no room for more, or was killed. No sum is of these. */
static bool unpack_begun(struct recording *r, size_t bytes)
{
    ZSTD_inBuffer in = {r->stored, bytes, 0};
    ZSTD_outBuffer out = {r->raw, r->chunk.raw, 0};
    size_t left = 1;

    ZSTD_DCtx_reset(r->unpacker, ZSTD_reset_session_only);
    while (in.pos < in.size && out.pos < out.size && left && !ZSTD_isError(left))
        left = ZSTD_decompressStream(r->unpacker, &out, &in);
    r->cut = true;
    r->offset += sizeof r->chunk + bytes;
    r->chunk.raw = (uint32_t)out.pos;
    r->at = 0;
    return true;
}

static bool read_chunk(struct recording *r)
{
    struct recording_chunk *c = &r->chunk;
    size_t got = fread(c, 1, sizeof *c, r->file);

    if (!got && !ferror(r->file)) {
        c->raw = 0;
        return r->ended ? false : damaged(r, "its writer was ended before its time: it ends");
    }
    if (got < sizeof *c)
        return damaged(r, "it is cut off");
    if (r->ended)
        return damaged(r, "there is something behind its end");
    if (c->magic != RECORDING_CHUNK_MAGIC || c->number != r->chunks || c->stored > r->room ||
        c->raw > RECORDING_CHUNK_BYTES)
        return damaged(r, "it is damaged");
    got = fread(r->stored, 1, c->stored, r->file);
    if (got < c->stored)
        return unpack_begun(r, got);
    if (c->sum != recording_sum(c, r->stored) ||
        ZSTD_decompressDCtx(r->unpacker, r->raw, c->raw, r->stored, c->stored) != c->raw)
        return damaged(r, "it is damaged");
    r->offset += sizeof *c + c->stored;
    r->chunks++;
    r->at = 0;
    return true;
}

/* A piece of the chunk: a struct of `size` bytes and what it says stands behind it. */
static bool take_piece(struct recording *r, size_t size, const void **out)
{
    if (r->chunk.raw - r->at < size)
        return false;
    *out = r->raw + r->at;
    r->at += size;
    return true;
}

static bool take_bytes(struct recording *r, size_t bytes)
{
    if (bytes > r->chunk.raw - r->at)
        return false;
    r->at += bytes == r->chunk.raw - r->at ? bytes : recording_padded(bytes);
    return r->at <= r->chunk.raw;
}

static bool read_names(struct recording *r)
{
    const struct recording_name *name;

    while (r->at < r->chunk.raw) {
        if (!take_piece(r, sizeof *name, (const void **)&name) || !take_bytes(r, name->bytes))
            return damaged(r, "it is damaged");
        batch_names_tell(r->names, name->vm, name->index, (const char *)(name + 1), name->bytes);
    }
    return true;
}

static bool read_page(struct recording *r, struct recording_item *out)
{
    if (!take_piece(r, sizeof *out->page, (const void **)&out->page) || !take_bytes(r, out->page->bytes))
        return damaged(r, "it is damaged");
    return true;
}

static bool read_clock(struct recording *r, struct recording_item *out)
{
    if (!take_piece(r, sizeof *out->clock, (const void **)&out->clock))
        return damaged(r, "it is damaged");
    return true;
}

static bool read_lost(struct recording *r, struct recording_item *out)
{
    if (!take_piece(r, sizeof *out->lost, (const void **)&out->lost))
        return damaged(r, "it is damaged");
    return true;
}

static bool read_vm(struct recording *r, struct recording_item *out)
{
    if (!take_piece(r, sizeof *out->vm, (const void **)&out->vm) || out->vm->name[RECORDING_NAME_BYTES - 1])
        return damaged(r, "it is damaged");
    return true;
}

static bool read_owner(struct recording *r, struct recording_item *out)
{
    if (!take_piece(r, sizeof *out->owner, (const void **)&out->owner))
        return damaged(r, "it is damaged");
    return true;
}

static bool read_asked(struct recording *r, struct recording_item *out)
{
    if (!take_piece(r, sizeof *out->asked, (const void **)&out->asked))
        return damaged(r, "it is damaged");
    return true;
}

bool recording_next(struct recording *r, struct recording_item *out)
{
    while (!r->damage[0]) {
        *out = (struct recording_item){.kind = (enum recording_kind)r->chunk.kind};
        if (r->at >= r->chunk.raw) {
            if (r->cut)
                return damaged(r, "it is cut off");
            if (!read_chunk(r))
                return false;
            r->ended = r->chunk.kind == RECORDING_END && !r->cut;
            continue;
        }
        switch (out->kind) {
        case RECORDING_NAMES: read_names(r); break;
        case RECORDING_CLOCK: return read_clock(r, out);
        case RECORDING_LOST: return read_lost(r, out);
        case RECORDING_VM: return read_vm(r, out);
        case RECORDING_OWNERS: return read_owner(r, out);
        case RECORDING_ASKED: return read_asked(r, out);
        case RECORDING_PAGES: return read_page(r, out);
        default: return damaged(r, "it is damaged");
        }
    }
    return false;
}
