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
#include <string.h>

#include "common/wire_user.h"

#include "../../bpf/event.h"

/* To be zero before the first one is read into it. */
struct batch_record {
    union {
        struct {
            /* The event, and its time: CLOCK_MONOTONIC of the VM; all else is for event_of_record. */
            struct ev_head head;
            uint64_t words[BATCH_MAX_ARGS]; /* its arguments, in the forms of their units; a text's is its bytes */
        };
        union ev_any as_event; /* without texts: words stand where its struct has its arguments */
    };
    unsigned used;                    /* of the words; behind them are zeros */
    bool has_texts;                   /* some argument is a text */
    /* with it: in the page, not ended by a NUL, any bytes; NULL: the argument is none */
    const char *texts[BATCH_MAX_ARGS];
};

struct batch_page {
    struct batch_header header;
    const char *bytes; /* the caller's, must outlive this */
    size_t at;         /* of the next record */
    uint64_t tick_ns;  /* length of a tick. Units: 2^-32 ns */
    uint64_t ticks, lasted_ns; /* from its begin to its end */
    uint64_t scheduled[2]; /* what the last process__scheduled before it told; zeros: none */
    uint32_t events;   /* that were read or passed over */
    bool damaged;      /* something made no sense: what stands from there on was not read */
};

/* Opens a page of `size` bytes. Returns false (and damaged) when it is none of this form. */
bool batch_page_open(struct batch_page *page, const void *bytes, size_t size);

/* ---- the next record */

/* How many words a record of each event has behind its head, at most; by the byte of the head, which may be any. */
extern int8_t batch_page_most_words[1 << 8];
enum { BATCH_PAGE_OTHER = -1 }; /* of it batch_page_next_other knows more: it has texts, or there is no such event */

/* The same of a record with this head that batch_page_next does not know how to read. */
bool batch_page_next_other(struct batch_page *page, uint64_t head, struct batch_record *out);

/* Between the two moments of which the header tells both times. */
static inline uint64_t batch_page_ns(const struct batch_page *page, uint64_t since)
{
    uint64_t ns = (uint64_t)((unsigned __int128)since * page->tick_ns >> 32);

    return since < page->ticks && ns < page->lasted_ns ? page->header.begin_ns + ns : page->header.end_ns;
}

/* The record with this head makes sense: tells of it all but the arguments, and goes on behind it. */
static inline void batch_page_pass(struct batch_page *page, uint64_t head, struct batch_record *out)
{
    out->head.event = BATCH_HEAD_EVENT(head);
    out->head.time_ns = batch_page_ns(page, BATCH_HEAD_SINCE(head));
    page->at += 8 + BATCH_HEAD_WORDS(head) * 8;
    page->events += BATCH_HEAD_EVENT(head) > BATCH_LAST_NAME;
}

/* Words that the record before had behind the `n` of this one are zero again. */
void batch_page_clear_words(struct batch_record *out, unsigned n);

/* Whether a record may have this head: it has no texts, and no more words than arguments. */
static inline bool batch_page_is_plain(uint64_t head)
{
    int words = (int)BATCH_HEAD_WORDS(head), most = batch_page_most_words[BATCH_HEAD_EVENT(head)];

    if (BATCH_HEAD_LEFT_OUT(head))
        return words < most && words >= BATCH_MAY_LEAVE_OUT(BATCH_HEAD_EVENT(head));
    return words <= most;
}

/* The words of a record with this head, from the page and the one that is left out; behind them are zeros. */
static inline void batch_page_words(const struct batch_page *page, uint64_t head, const char *at,
                                    struct batch_record *out)
{
    unsigned words = BATCH_HEAD_WORDS(head), left_out = BATCH_HEAD_LEFT_OUT(head), n = words + left_out;
    unsigned which = BATCH_MAY_LEAVE_OUT(BATCH_HEAD_EVENT(head));

    /* the last argument of a process__scheduled, or the first one of another event */
    for (unsigned i = 0; i < words; i++)
        memcpy(&out->words[i + (left_out & (which ^ 1))], at + i * 8, 8);
    if (left_out)
        out->words[which] = page->scheduled[which];
    if (n < out->used)
        batch_page_clear_words(out, n);
    out->used = n;
}

/* The next record. Returns false at the end, or where the page is damaged. Inline, as millions a second are read. */
static inline __attribute__((always_inline)) bool batch_page_next(struct batch_page *page, struct batch_record *out)
{
    const char *at = page->bytes + page->at;
    uint64_t head;
    size_t bytes;

    if (page->damaged || page->at >= page->header.bytes)
        return false;
    memcpy(&head, at, sizeof head);
    bytes = 8 + (size_t)BATCH_HEAD_WORDS(head) * 8;
    if (!batch_page_is_plain(head) || page->at + bytes > page->header.bytes)
        return batch_page_next_other(page, head, out);
    out->has_texts = false;
    batch_page_words(page, head, at + 8, out);
    if (BATCH_HEAD_EVENT(head) == BATCH_process__scheduled)
        memcpy(page->scheduled, out->words, sizeof page->scheduled);
    batch_page_pass(page, head, out);
    return true;
}

/* The next record of these events (a place for each number that a record may have); the others are passed over. */
bool batch_page_next_of(struct batch_page *page, const bool events[1 << 8], struct batch_record *out);
/* The next record that tells an atom. A page that is read so is not read otherwise: no notice is taken of the words
 * that other records leave out. */
bool batch_page_next_atom(struct batch_page *page, struct batch_record *out);

/* The name that probes.def gives an event, "atom" and the like for records of names; how many arguments it has. */
const char *batch_event_name(enum batch_event event);
unsigned batch_event_args(enum batch_event event);

#endif
