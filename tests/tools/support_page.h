/* SPDX-License-Identifier: Apache-2.0 */
/* Pages of events made by hand, as a thread of erlvm writes them: one tick is one nanosecond. */
#ifndef TESTS_TOOLS_SUPPORT_PAGE_H
#define TESTS_TOOLS_SUPPORT_PAGE_H

#include <string.h>

#include "common/wire_user.h"

#include "../../bpf/batch.h"

enum { SUPPORT_PAGE_WORDS = 256 };

struct support_page {
    struct batch_received received;
    struct batch_header header;
    uint64_t words[SUPPORT_PAGE_WORDS];
    unsigned n;
};

/* An empty page number `sequence` of a thread, begun at this time; `events` were told before it. */
static inline void support_page_begin(struct support_page *p, uint32_t vm, uint32_t thread, uint64_t sequence, uint64_t events, uint64_t ns)
{
    *p = (struct support_page){.received = {.vm = vm},
                               .header = {.magic = BATCH_MAGIC, .sequence = sequence, .thread = thread, .tid = 100 + thread,
                                          .events = events, .begin_ticks = ns, .begin_ns = ns}};
}

static inline void support_page_word(struct support_page *p, uint64_t word)
{
    p->words[p->n++] = word;
}

static inline void support_page_head(struct support_page *p, enum batch_event event, unsigned words, uint64_t ns)
{
    support_page_word(p, BATCH_HEAD(ns - p->header.begin_ns, 0, words, event));
}

/* A record of one number, and one that tells the name of an atom. */
static inline void support_page_number(struct support_page *p, enum batch_event event, uint64_t ns, uint64_t number)
{
    support_page_head(p, event, 1, ns);
    support_page_word(p, number);
}

static inline void support_page_atom(struct support_page *p, uint64_t index, const char *name)
{
    unsigned words = (unsigned)(strlen(name) + 7) / 8;

    support_page_head(p, BATCH_ATOM, 2 + words, p->header.begin_ns);
    support_page_word(p, index);
    support_page_word(p, strlen(name));
    memcpy(&p->words[p->n], name, strlen(name));
    p->n += words;
}

/* The page is handed over at this time, and arrives at once. */
static inline const struct batch_received *support_page_end(struct support_page *p, uint64_t ns)
{
    p->header.end_ns = p->header.end_ticks = p->received.time_ns = ns;
    p->header.bytes = p->received.bytes = (uint32_t)(sizeof p->header + p->n * 8);
    return &p->received;
}

#endif
