/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Any bytes as a recording, read as report reads it. They are tried as they are, and as chunks: each a byte of kind,
 * two of length, and what it holds unpacked, so that the fuzzer need not find sums. Invariant: what is read lies within
 * its chunk. For libFuzzer.
 */
#include "recording/recording_read.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zstd.h>

#include "event/batch_merge.h"
#include "common/fail.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n);

static uint64_t told;

/* Refusals are not said here. */
int fail(int status, const char *format, ...)
{
    (void)format;
    return status;
}

static void on_event(void *ctx, const union ev_any *ev)
{
    (void)ctx;
    told += ev->head.time_ns;
}

static void put_chunk(FILE *file, uint32_t number, uint8_t kind, const uint8_t *raw, size_t size)
{
    static char stored[1 << 18];
    static ZSTD_CCtx *packer;
    struct recording_chunk chunk = {
        .magic = RECORDING_CHUNK_MAGIC, .kind = kind, .number = number, .raw = (uint32_t)size};

    packer = packer ? packer : ZSTD_createCCtx();
    chunk.stored = (uint32_t)ZSTD_compressCCtx(packer, stored, sizeof stored, raw, size, 1);
    chunk.sum = recording_sum(&chunk, stored);
    fwrite(&chunk, sizeof chunk, 1, file);
    fwrite(stored, 1, chunk.stored, file);
}

static void read_item(struct batch_merge *merge, const struct recording_item *item)
{
    switch (item->kind) {
    case RECORDING_PAGES: batch_merge_take(merge, item->page); break;
    case RECORDING_VM: told += strlen(item->vm->name); break;
    case RECORDING_ASKED: told += item->asked->words[0]; break;
    case RECORDING_OWNERS: told += item->owner->id + item->owner->words[2]; break;
    case RECORDING_LOST: told += item->lost->pages + item->lost->unnamed; break;
    default: told += item->clock->wall_ns;
    }
}

/* What merges is a megabyte: it is made for what is a recording, and once there are pages. */
static void read_all(char *bytes, size_t n)
{
    struct batch_names *names = batch_names_new();
    struct batch_merge *merge = NULL;
    struct recording_item item;
    struct recording *r;
    FILE *file = fmemopen(bytes, n ? n : 1, "r");

    if (file && !recording_open(file, "fuzz", names, &r)) {
        while (recording_next(r, &item)) {
            if (item.kind == RECORDING_PAGES && !merge)
                merge = batch_merge_new(names, &(struct batch_merge_ops){.event = on_event});
            read_item(merge, &item);
        }
        told += recording_damage(r) ? strlen(recording_damage(r)) : 0;
        recording_close(r);
    }
    if (merge)
        batch_merge_until(merge, UINT64_MAX);
    batch_merge_free(merge);
    batch_names_free(names);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
    struct recording_head head = {.magic = RECORDING_MAGIC, .form = RECORDING_FORM, .catalogue = recording_catalogue()};
    char *image = NULL, *copy = malloc(n + 1);
    size_t size = 0;
    FILE *file = open_memstream(&image, &size);
    uint32_t number = 0;

    fwrite(&head, sizeof head, 1, file);
    for (size_t at = 0; at + 3 <= n;) {
        size_t room = n - at - 3, length = bytes[at + 1] | (size_t)bytes[at + 2] << 8;

        length = length < room ? length : room;
        put_chunk(file, number++, bytes[at] % (RECORDING_KINDS + 1), bytes + at + 3, length);
        at += 3 + length;
    }
    fclose(file);
    read_all(image, size);
    memcpy(copy, bytes, n);
    read_all(copy, n);
    free(copy);
    free(image);
    return 0;
}
