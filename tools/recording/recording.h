/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A recording: the pages of events that erlvms handed over, with all that is needed to read them on another machine,
 * later. The form:
 *
 *   struct recording_head, then chunks: struct recording_chunk, then `stored` bytes, compressed with zstd, `raw` bytes
 * when unpacked
 *
 * What a chunk of each kind holds (all of it little-endian, each piece begins at a multiple of 8):
 *   CLOCK   struct recording_clock
 *   ASKED   struct recording_probes: those that it is a recording of
 *   VM      struct recording_vm: a VM that is recorded
 *   NAMES   struct recording_name and its bytes, one behind the other: atoms that pages after it may use without
 * telling them
 *   OWNERS  struct recording_owner: of a process that was there before the pages behind it what it was to do
 * (WIRE_MFA), its label (WIRE_LABEL), its registered name (WIRE_REASON)
 *   PAGES   struct batch_received and its bytes, one behind the other, as they came
 *   LOST    struct recording_lost
 *   END     nothing: the recording was ended, and is whole
 */
#ifndef TOOLS_RECORDING_H
#define TOOLS_RECORDING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/wire_user.h"
#include "event/batch_page.h"
#include "view/wanted.h"

#include "../../bpf/batch.h"

/* Not a string: it has no end. */
#define RECORDING_MAGIC {'E', 'R', 'L', 'S', 'N', 'R', 'E', 'C'}

enum {
    RECORDING_FORM = 4, /* its pages as batch_format.h has them */
    RECORDING_CHUNK_MAGIC = 0x4b4e4843, /* "CHNK" */
    RECORDING_CHUNK_BYTES = 1 << 20,    /* of a chunk, unpacked, at most */
    RECORDING_NAME_BYTES = 64,
};

enum recording_kind {
    RECORDING_CLOCK = 1, RECORDING_VM, RECORDING_NAMES, RECORDING_PAGES, RECORDING_LOST, RECORDING_END,
    RECORDING_OWNERS, RECORDING_ASKED, RECORDING_KINDS
};

struct recording_head {
    char magic[8];
    uint32_t form;
    uint32_t catalogue; /* recording_catalogue() of who wrote it */
    char writer[16];    /* the version of that erlsnoop */
};

struct recording_chunk {
    uint32_t magic;
    uint32_t kind;
    uint32_t number;      /* from 0, of the file's chunks */
    uint32_t stored, raw; /* bytes behind this, and unpacked */
    uint32_t sum;         /* CRC-32 of the five before, then of the bytes behind this */
};

struct recording_clock {
    uint64_t wall_ns; /* CLOCK_REALTIME - CLOCK_MONOTONIC */
};

struct recording_probes {
    uint64_t words[(BATCH_EVENTS + 63) / 64]; /* a bit for each enum batch_event */
};

struct recording_vm {
    uint32_t vm;
    char name[RECORDING_NAME_BYTES]; /* untrusted, terminated */
    uint32_t pad;
    struct recording_probes unavailable; /* that it does not tell, so that none of them says nothing */
};

struct recording_name {
    uint32_t vm, index, bytes, pad;
};

struct recording_owner {
    uint32_t vm, form; /* form, words: a struct wire_name that is no text */
    uint64_t id;       /* ev_id of bpf/event.h */
    uint64_t words[3];
};

/* Up to now. */
#define RECORDING_UNNAMED "names of processes for which the recording had no room"
struct recording_lost {
    uint64_t pages;   /* that could not be received */
    uint64_t unnamed; /* names of processes that files should begin with, and for which there was no room */
};

/* What the probes and their arguments are, in one number: pages of another catalogue cannot be read. */
uint32_t recording_catalogue(void);
/* The bits of those events. */
struct recording_probes recording_probes(const struct wanted *events);
/* Adds them. */
void recording_probes_add(const struct recording_probes *probes, struct wanted *events);
/* The sum that belongs to the chunk. */
uint32_t recording_sum(const struct recording_chunk *chunk, const void *stored);
static inline size_t recording_padded(size_t bytes)
{
    return (bytes + 7) & ~(size_t)7;
}

#endif
