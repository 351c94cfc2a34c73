/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writes recordings (recording.h): to a file and those that follow it, or into memory, of which what is recent is
 * written on request.
 */
#ifndef TOOLS_RECORDING_WRITE_H
#define TOOLS_RECORDING_WRITE_H

#include "recording.h"
#include "view/wanted.h"

enum { RECORDING_MOST_FILES = 1000 }; /* of a recording */

struct recording_plan {
    const char *path;
    const char *writer; /* the version of this erlsnoop */
    const struct wanted *asked; /* what it is a recording of, read until the end; NULL: that is not told */
    uint64_t max_bytes; /* of a file; of what is kept in memory; 64 KB at least. 0: no limit (in memory 64 MB) */
    uint64_t max_ns;    /* that a file covers; 0: no limit */
    unsigned files;     /* the newest that are kept: PATH, PATH.1 ... before it; 1: the recording ends with its first */
    uint64_t ring_ns;   /* not 0: what is older is dropped, and nothing is written before recording_dump */
};

struct recording_writer;

/*
 * Begins the file, so that what is wrong with it is known at once. Recordings PATH.1 ... of before are removed, which
 * is said. Owns: recording_end frees, what the plan points to stays the caller's. Fails: said.
 */
int recording_begin(const struct recording_plan *plan, struct recording_writer **out);
/* A VM whose pages may come; unavailable: what it does not tell. Fails: as recording_page. */
int recording_vm(struct recording_writer *w, uint32_t vm, const char *name, const struct wanted *unavailable);
/*
 * Whether a file has room for the names of all the VM's atoms, a tenth of a megabyte: its threads tell each name once a
 * second, so that without them a name may be missing for so long where another erlsnoop watches already.
 */
bool recording_has_room(const struct recording_writer *w);
/*
 * What a process of that VM is called, and before it the atoms that its name holds; then recording_owners_known, once
 * the VM is through. Who is born later is learned from the pages. Owners that there is no room for are left out, and
 * counted.
 * Fails: said.
 */
int recording_atom(struct recording_writer *w, uint32_t vm, uint64_t index, const char *text, size_t bytes);
int recording_owner(struct recording_writer *w, uint32_t vm, uint64_t id, const struct wire_name *name);
int recording_owners_known(struct recording_writer *w, uint32_t vm);
/* The VM has ended: later files do not begin with its processes, and nothing is under way in it. told: its last
 * page says so; who was killed handed over none, and a stock Erlang hands over no pages. Fails: as recording_page. */
int recording_vm_ended(struct recording_writer *w, uint32_t vm, uint64_t now_ns, bool closed);
/* Copies a page. Fails: said; what was written until then can be read. 1: the recording is as long as it may be. */
int recording_page(struct recording_writer *w, const struct batch_received *received);
/* Pages that could not be received, since the beginning. */
void recording_lost(struct recording_writer *w, uint64_t pages);
/*
 * To be called now and then: what waits for more than a second is written, and a recording that is to last for a time
 * ends though nothing happens. As recording_page.
 */
int recording_look(struct recording_writer *w, uint64_t now_ns);
/* Writes what memory holds, and keeps it. Fails: said; the files are as they were, and it can be tried again. */
int recording_dump(struct recording_writer *w);
/*
 * The same for the last time. Where there is no room for all of it the newest that there is room for is written, and
 * every file stays that is there: PATH becomes PATH.1. That is a failure too, and said.
 */
int recording_dump_last(struct recording_writer *w);
/* What came, and what was written, since the beginning. */
struct recording_totals {
    uint64_t pages, events;
    struct recording_lost lost;
    uint64_t raw, stored; /* bytes: of pages, and of files, compressed */
};

/* Writes what waits, and the end; `totals`: what it came to, may be NULL. Frees. Fails: said. */
int recording_end(struct recording_writer *w, struct recording_totals *totals);

#endif
