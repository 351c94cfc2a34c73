/* SPDX-License-Identifier: Apache-2.0 */
/* What the parts of a recording's writer share: files (recording_file.c), memory (recording_memory.c), pages
 * (recording_write.c). */
#ifndef TOOLS_RECORDING_WRITER_H
#define TOOLS_RECORDING_WRITER_H

#include <limits.h>
#include <sys/types.h>
#include <zstd.h>

#include "recording_owners.h"
#include "recording_write.h"

enum { END_BYTES = 192 }; /* more than the chunks that end a file */

/* What a process is called from then on: of pages that no file begins behind yet. */
struct naming {
    struct naming *next;
    struct recording_owner owner;
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
    struct recording_lost lost, lost_written;
    uint64_t first_ns, last_ns; /* of the pages that wait */
    uint64_t looked_ns; /* first */
    struct kept *kept, **kept_end;
    uint64_t kept_bytes;
    struct recording_totals totals, waiting; /* waiting: of the pages that wait */
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

/* Returns err, and says so. */
int recording_file_say(const struct recording_writer *w, int err, const char *more);
int recording_file_open(struct recording_writer *w);
int recording_file_close(struct recording_writer *w);
/* Without an end. */
void recording_file_leave(struct recording_writer *w);
/* The file becomes PATH.1, and another one is begun. */
int recording_file_next(struct recording_writer *w);
/* PATH becomes PATH.1, that PATH.2 and so on; with the next PATH there are `files` of them, the last is replaced. */
int recording_file_shift(const struct recording_writer *w, unsigned files);
/* Fails: what stands at PATH, or beside it, is not to be replaced. */
int recording_file_refuse(const struct recording_plan *plan);
/* Files of an earlier recording would be taken for the beginning of this one. */
int recording_file_remove_earlier(const struct recording_plan *plan);
/* These bytes become a chunk, which is in w->stored. Fails: -ENOMEM, said; zstd has no other failure there. */
int recording_file_pack(struct recording_writer *w, enum recording_kind kind, const void *raw, size_t size,
                        struct recording_chunk *out);
int recording_file_write_chunk(struct recording_writer *w, struct recording_chunk *chunk, const void *stored);
/* Both. */
int recording_file_put(struct recording_writer *w, enum recording_kind kind, const void *raw, size_t size);
/* Of a VM; 0: of all. */
int recording_file_put_names(struct recording_writer *w, uint32_t vm);
int recording_file_put_owners(struct recording_writer *w, uint32_t vm);
int recording_file_put_lost(struct recording_writer *w);

int recording_naming_add(struct namings *namings, const struct naming *naming);
/* The pages are behind what files begin with from now on. */
void recording_naming_pass(struct recording_writer *w, struct namings *namings);

/* The file can be written, which is known at once. It is empty until it is asked for. */
int recording_memory_begin(struct recording_writer *w);
/* The chunk in w->stored; what is too old or too much is dropped. */
int recording_memory_keep(struct recording_writer *w, const struct recording_chunk *chunk);
void recording_memory_drop_oldest(struct recording_writer *w);

/* The pages that wait become a chunk. Returns 1 when the recording is full. */
int recording_flush(struct recording_writer *w);

#endif
