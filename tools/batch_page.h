/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads the pages of events that erlvm's threads hand over (vm/batch_format.h). The bytes come from the memory of
 * another process: they may hold anything. Invariant: what is told of a record lies inside the page.
 */
#ifndef TOOLS_BATCH_PAGE_H
#define TOOLS_BATCH_PAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "wire_user.h"

#include "../bpf/event.h"

enum { BATCH_MAX_ARGS = 12 };

struct batch_record {
    enum batch_event event;
    uint64_t ns;                      /* CLOCK_MONOTONIC of the VM */
    union {
        struct {
            struct ev_head head; /* for event_of_record */
            uint64_t words[BATCH_MAX_ARGS]; /* as many as it has arguments, in the forms of their units; a text's is its bytes */
        };
        union ev_any as_event; /* without texts: words stand where its struct has its arguments */
    };
    bool has_texts;                   /* some argument is a text */
    const char *texts[BATCH_MAX_ARGS]; /* with it: in the page, not ended by a NUL, any bytes; NULL: the argument is none */
};

struct batch_page {
    struct batch_header header;
    const char *bytes; /* the caller's, must outlive this */
    size_t at;         /* of the next record */
    uint64_t tick_ns;  /* length of a tick. Units: 2^-32 ns */
    uint32_t events;   /* that were read or passed over */
    bool damaged;      /* something made no sense: what stands from there on was not read */
};

/* Opens a page of `size` bytes. Returns false (and damaged) when it is none of this form. */
bool batch_page_open(struct batch_page *page, const void *bytes, size_t size);
/* The next record. Returns false at the end, or where the page is damaged. */
bool batch_page_next(struct batch_page *page, struct batch_record *out);

/* The next record of these events (a place for each number that a record may have); the others are passed over. */
bool batch_page_next_of(struct batch_page *page, const bool events[1 << 8], struct batch_record *out);
/* The next record that tells an atom. */
bool batch_page_next_atom(struct batch_page *page, struct batch_record *out);

/* The name that probes.def gives an event, "atom" and "named" for records of names; how many arguments it has. */
const char *batch_event_name(enum batch_event event);
unsigned batch_event_args(enum batch_event event);

#endif
