/* SPDX-License-Identifier: Apache-2.0 */
/* Invariant: names are handed over before the pages that use them, in a stream of their own. */
#include "trap_pages.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "common/table.h"

enum {
    PAGE_WORDS = (BATCH_PAGE_BYTES - sizeof(struct batch_header)) / 8,
    GAP_EVENTS = BATCH_PAGE_BYTES / 2, /* of a page that nobody received, at most */
};
/* An event of a probe, or an atom, has room in a page and in what a record's head can say. */
#define RECORD_WORDS (1 + BATCH_MAX_ARGS + EV_MAX_TEXTS * BATCH_TEXT_BYTES / 8)
_Static_assert(RECORD_WORDS <= PAGE_WORDS && RECORD_WORDS <= BATCH_HEAD_WORDS(~0ull), "a record is too long");
#define NAMES UINT32_MAX /* the stream of names: a thread that no VM has */

/* As it is handed over. */
struct page {
    struct batch_received received;
    struct batch_header header;
    uint64_t words[PAGE_WORDS];
};

struct stream_key {
    uint32_t vm, thread;
};

struct stream {
    struct stream_key key;
    uint64_t sequence; /* of the last page */
    uint64_t told;     /* events up to now */
    uint64_t last_ns;  /* of the last event in the page */
    unsigned n;        /* words of the page in use; 0: none was begun */
    struct page page;
    UT_hash_handle hh;
};

struct trap_pages {
    struct trap_pages_ops ops;
    struct stream *streams;
};

struct trap_pages *trap_pages_new(const struct trap_pages_ops *ops)
{
    struct trap_pages *pages = calloc(1, sizeof *pages);

    if (pages)
        pages->ops = *ops;
    return pages;
}

void trap_pages_free(struct trap_pages *pages)
{
    struct stream *s, *next;

    if (!pages)
        return;
    HASH_ITER(hh, pages->streams, s, next)
    {
        HASH_DEL(pages->streams, s);
        free(s);
    }
    free(pages);
}

/* ---- streams */

/* NULL: out of memory. */
static struct stream *find_stream(struct trap_pages *pages, uint32_t vm, uint32_t thread)
{
    const struct stream_key key = {vm, thread};
    struct stream *s;

    HASH_FIND(hh, pages->streams, &key, sizeof key, s);
    if (s)
        return s;
    s = calloc(1, sizeof *s);
    if (!s)
        return NULL;
    s->key = key;
    HASH_ADD(hh, pages->streams, key, sizeof s->key, s);
    if (table_has(s))
        return s;
    free(s);
    return NULL;
}

/*
 * As a thread of erlvm would have done: BATCH_PATIENCE_MS after its first event at the latest. Where nothing came for
 * long all threads' pages are handed over at once, and who merges them must not take it that all before has come.
 */
static uint64_t end_of(const struct stream *s, uint64_t now_ns)
{
    uint64_t begin = s->page.header.begin_ns, due = begin + BATCH_PATIENCE_MS * 1000000ull;
    uint64_t end = now_ns < due ? now_ns : due;

    if (end < s->last_ns)
        end = s->last_ns;
    return end > begin ? end : begin + 1;
}

static void hand_over(struct trap_pages *pages, struct stream *s, uint64_t now_ns)
{
    struct batch_header *h = &s->page.header;

    h->end_ns = h->end_ticks = end_of(s, now_ns);
    h->bytes = (uint32_t)(sizeof *h + s->n * sizeof *s->page.words);
    s->page.received = (struct batch_received){h->end_ns, s->key.vm, h->bytes};
    s->sequence = h->sequence;
    pages->ops.page(pages->ops.ctx, &s->page.received);
    h->sequence = 0;
    s->n = 0;
}

static void begin_page(struct stream *s, uint64_t ns)
{
    s->page.header = (struct batch_header){.magic = BATCH_MAGIC,
                                           .sequence = s->sequence + 1,
                                           .thread = s->key.thread,
                                           .tid = s->key.thread,
                                           .begin_ticks = ns,
                                           .begin_ns = ns,
                                           .events = s->told};
}

static bool is_begun(const struct stream *s)
{
    return s->page.header.sequence != 0;
}

static void hand_over_names(struct trap_pages *pages, uint32_t vm, uint64_t now_ns)
{
    struct stream *names = find_stream(pages, vm, NAMES);

    if (names && is_begun(names))
        hand_over(pages, names, now_ns);
}

static void hand_over_events(struct trap_pages *pages, struct stream *s, uint64_t now_ns)
{
    hand_over_names(pages, s->key.vm, now_ns);
    hand_over(pages, s, now_ns);
}

/* ---- events */

/* What the thread told since its last event is missing: as pages that nobody received. */
static void leave_gap(struct trap_pages *pages, struct stream *s, uint64_t told, uint64_t ns)
{
    uint64_t lost = told - s->told;

    if (is_begun(s))
        hand_over_events(pages, s, ns);
    if (!s->sequence) { /* so that the gap has a beginning */
        begin_page(s, ns);
        hand_over(pages, s, ns);
    }
    s->sequence += 1 + lost / GAP_EVENTS;
    s->told = told;
}

static void put_record(struct stream *s, const struct trap_event *e)
{
    uint64_t begin = s->page.header.begin_ns, ticks = e->ns > begin ? e->ns - begin : 0;

    s->page.words[s->n++] = BATCH_HEAD(ticks, 0, e->nwords, e->event);
    memcpy(s->page.words + s->n, e->words, e->nwords * sizeof *e->words);
    s->n += e->nwords;
    s->last_ns = e->ns;
}

void trap_pages_add(struct trap_pages *pages, const struct trap_event *e)
{
    struct stream *s = find_stream(pages, e->vm, e->thread);

    if (!s)
        return;
    if (e->before > s->told)
        leave_gap(pages, s, e->before, e->ns);
    s->told = e->before;
    if (is_begun(s) && s->n + 1 + e->nwords > PAGE_WORDS)
        hand_over_events(pages, s, e->ns);
    if (!is_begun(s))
        begin_page(s, e->ns);
    put_record(s, e);
    s->told += e->event > BATCH_LAST_NAME;
}

void trap_pages_told(struct trap_pages *pages, uint32_t vm, uint32_t thread, uint64_t told, uint64_t now_ns)
{
    struct stream *s = find_stream(pages, vm, thread);

    if (!s || told <= s->told)
        return;
    leave_gap(pages, s, told, now_ns);
    begin_page(s, now_ns);
    hand_over(pages, s, now_ns);
}

void trap_pages_atom(struct trap_pages *pages, uint32_t vm, uint32_t index, const char *text, size_t bytes,
                     uint64_t now_ns)
{
    struct stream *s = find_stream(pages, vm, NAMES);
    uint64_t words[2 + BATCH_TEXT_BYTES / 8] = {index, bytes};
    struct trap_event e = {.vm = vm, .event = BATCH_ATOM, .words = words, .nwords = 2 + (unsigned)(bytes + 7) / 8};

    if (!s || bytes > BATCH_TEXT_BYTES)
        return;
    memcpy(words + 2, text, bytes);
    if (is_begun(s) && s->n + 1 + e.nwords > PAGE_WORDS)
        hand_over(pages, s, now_ns);
    if (!is_begun(s))
        begin_page(s, now_ns);
    put_record(s, &e);
}

/* ---- what is handed over by time */

static void flush(struct trap_pages *pages, uint32_t vm, uint64_t begun_ns, uint64_t now_ns)
{
    for (struct stream *s = pages->streams; s; s = s->hh.next)
        if ((!vm || s->key.vm == vm) && s->key.thread != NAMES && is_begun(s) && s->page.header.begin_ns <= begun_ns)
            hand_over_events(pages, s, now_ns);
}

void trap_pages_flush(struct trap_pages *pages, uint64_t begun_ns, uint64_t now_ns)
{
    flush(pages, 0, begun_ns, now_ns);
}

void trap_pages_end(struct trap_pages *pages, uint32_t vm, uint64_t now_ns)
{
    struct stream *s, *next;

    flush(pages, vm, UINT64_MAX, now_ns);
    HASH_ITER(hh, pages->streams, s, next)
    {
        if (s->key.vm != vm)
            continue;
        HASH_DEL(pages->streams, s);
        free(s);
    }
}
