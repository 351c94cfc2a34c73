/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Events one by one become pages of vm/batch_format.h, a stream a thread, as if the VM had written them: so recordings
 * have one form. Times are nanoseconds. What a thread told and nobody received is a gap between its pages, of so many
 * events.
 */
#ifndef TOOLS_TRAP_PAGES_H
#define TOOLS_TRAP_PAGES_H

#include <stddef.h>
#include <stdint.h>

#include "common/wire_user.h"

#include "../../bpf/batch.h"
#include "../../bpf/event.h"

struct trap_pages;

struct trap_pages_ops {
    /* A page, behind `received`; good during the call. */
    void (*page)(void *ctx, const struct batch_received *received);
    void *ctx;
};

/* Owns: trap_pages_free frees. NULL: out of memory. */
struct trap_pages *trap_pages_new(const struct trap_pages_ops *ops);
void trap_pages_free(struct trap_pages *pages);

/* An event, its words as vm/batch_format.h has them: the texts behind the arguments. */
struct trap_event {
    uint32_t vm, thread;
    enum batch_event event;
    uint64_t ns;
    uint64_t before; /* events that the thread told before, those that were lost among them */
    const uint64_t *words;
    unsigned nwords; /* as many as BATCH_HEAD can say, at most */
};
/* Events that there is no memory for are in the gap. BATCH_NAMED is none, and counts as none. */
void trap_pages_add(struct trap_pages *pages, const struct trap_event *event);
/* An atom's name, which every page that is handed over from now on may use. */
void trap_pages_atom(struct trap_pages *pages, uint32_t vm, uint32_t index, const char *text, size_t bytes,
                     uint64_t now_ns);
/* The thread told so many events, the last of which may be lost. */
void trap_pages_told(struct trap_pages *pages, uint32_t vm, uint32_t thread, uint64_t told, uint64_t now_ns);
/* Hands over pages that were begun by `begun_ns`; UINT64_MAX: all. */
void trap_pages_flush(struct trap_pages *pages, uint64_t begun_ns, uint64_t now_ns);
/* The VM has ended: its pages are handed over, its threads forgotten. */
void trap_pages_end(struct trap_pages *pages, uint32_t vm, uint64_t now_ns);

#endif
