/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Invariant: a stream whose next event is known stands in the heap, the earliest at its top; one that waits for pages
 * does not. Events of one time are told in the order of VM and thread, so that a recording is told as it was live.
 */
#include "batch_merge.h"

#include <stdlib.h>
#include <string.h>

enum { MAX_STREAMS = 4096, TOLD_BETWEEN_QUESTIONS = 256 };
#define FAR_NS 1000000000ull      /* a page that is so old when it arrives has another clock */
#define MANY_PAGES (1ull << 32)   /* no gap: a thread of another life */

struct page {
    struct page *next;
    uint64_t received_ns;
    size_t size;
    char bytes[];
};

/* What one thread tells. */
struct stream {
    uint32_t vm, thread;
    uint64_t sequence; /* of the last page that was opened */
    uint64_t told;     /* events of the thread up to the last page that was read, as its pages count them */
    uint64_t received_ns; /* when the last page came */
    struct page *first, **end; /* pages that wait; the first is being read when `open` */
    bool open, counted; /* counted: `told` is known */
    bool gap;          /* events are missing before the next */
    struct batch_page page;
    struct batch_record record; /* the next event */
};

struct batch_merge {
    struct batch_names *names;
    struct batch_merge_ops ops;
    struct stream *streams[MAX_STREAMS], *heap[MAX_STREAMS];
    size_t nstreams, nheap;
    size_t bytes;      /* of pages that wait */
    uint64_t last_ns;  /* of the last event told */
    uint32_t unasked;  /* events until the next question whether more are wanted */
    bool is_over;
    struct batch_counts counts;
};

struct batch_merge *batch_merge_new(struct batch_names *names, const struct batch_merge_ops *ops)
{
    struct batch_merge *m = calloc(1, sizeof *m);

    if (m) {
        m->names = names;
        m->ops = *ops;
    }
    return m;
}

const struct batch_counts *batch_merge_counts(const struct batch_merge *m)
{
    return &m->counts;
}

/* ---- the heap */

/* When the stream's next event was. */
static uint64_t ns_of(const struct stream *s)
{
    return s->record.head.time_ns;
}

static bool is_before(const struct stream *a, const struct stream *b)
{
    if (ns_of(a) != ns_of(b))
        return ns_of(a) < ns_of(b);
    return a->vm != b->vm ? a->vm < b->vm : a->thread < b->thread;
}

/* The stream at `at` may be later than those below it. */
static void sift_down(struct batch_merge *m, size_t at)
{
    struct stream *s = m->heap[at];

    for (;;) {
        size_t child = 2 * at + 1;

        if (child + 1 < m->nheap && is_before(m->heap[child + 1], m->heap[child]))
            child++;
        if (child >= m->nheap || !is_before(m->heap[child], s))
            break;
        m->heap[at] = m->heap[child];
        at = child;
    }
    m->heap[at] = s;
}

static void push(struct batch_merge *m, struct stream *s)
{
    size_t at = m->nheap++;

    for (; at && is_before(s, m->heap[(at - 1) / 2]); at = (at - 1) / 2)
        m->heap[at] = m->heap[(at - 1) / 2];
    m->heap[at] = s;
}

static void pop(struct batch_merge *m)
{
    m->heap[0] = m->heap[--m->nheap];
    if (m->nheap)
        sift_down(m, 0);
}

/* ---- streams */

static void count_gap(struct batch_merge *m, struct stream *s)
{
    const struct batch_header *h = &s->page.header;
    uint64_t pages = h->sequence - s->sequence - 1;

    if (s->sequence && h->sequence > s->sequence && pages && pages < MANY_PAGES) {
        m->counts.lost_pages += pages;
        if (s->counted && h->events - s->told < pages * BATCH_PAGE_BYTES)
            m->counts.lost_events += h->events - s->told;
        s->gap = true;
    }
    s->sequence = h->sequence;
}

/* The page's times become those of our clock: it was handed over at its end, or, where that cannot be, when it came. */
static void set_clock(struct stream *s, uint64_t received_ns)
{
    struct batch_header *h = &s->page.header;

    if (h->end_ns > received_ns || received_ns - h->end_ns > FAR_NS)
        h->end_ns = received_ns;
    if (s->page.lasted_ns > h->end_ns)
        s->page.lasted_ns = h->end_ns;
    h->begin_ns = h->end_ns - s->page.lasted_ns;
}

static void open_page(struct batch_merge *m, struct stream *s)
{
    s->open = batch_page_open(&s->page, s->first->bytes, s->first->size);
    if (!s->open)
        return;
    count_gap(m, s);
    set_clock(s, s->first->received_ns);
}

static void close_page(struct batch_merge *m, struct stream *s)
{
    struct page *page = s->first;

    if (s->open) {
        s->told = s->page.header.events + s->page.events;
        s->counted = true;
    }
    if (s->page.damaged) {
        m->counts.damaged++;
        s->counted = false;
        s->gap = true;
    }
    s->page.damaged = s->open = false;
    s->first = page->next;
    if (!s->first)
        s->end = &s->first;
    m->bytes -= page->size;
    free(page);
}

/* Finds the next event of the page that is open. Returns false when it holds no more. */
static __always_inline bool find_in_page(struct batch_merge *m, struct stream *s)
{
    while (batch_page_next(&s->page, &s->record)) {
        if (s->record.head.event != BATCH_ATOM)
            return true;
        m->counts.refused += !!batch_names_tell(m->names, s->vm, s->record.words[0], s->record.texts[1],
                                                s->record.words[1]);
    }
    return false;
}

/* Finds the stream's next event. Returns false when its pages hold none. */
static bool find_event(struct batch_merge *m, struct stream *s)
{
    while (s->first) {
        if (!s->open)
            open_page(m, s);
        if (s->open && find_in_page(m, s))
            return true;
        close_page(m, s);
    }
    return false;
}

/* The stream without pages that had none for the longest time: that of a thread that has ended, as likely as not. */
static struct stream *find_idle(const struct batch_merge *m)
{
    struct stream *idle = NULL;

    for (size_t i = 0; i < m->nstreams; i++)
        if (!m->streams[i]->first && (!idle || m->streams[i]->received_ns < idle->received_ns))
            idle = m->streams[i];
    return idle;
}

static struct stream *find_stream(struct batch_merge *m, uint32_t vm, uint32_t thread)
{
    struct stream *s;

    for (size_t i = 0; i < m->nstreams; i++)
        if (m->streams[i]->thread == thread && m->streams[i]->vm == vm)
            return m->streams[i];
    s = m->nstreams < MAX_STREAMS ? calloc(1, sizeof *s) : NULL;
    if (s)
        m->streams[m->nstreams++] = s;
    else
        s = find_idle(m);
    if (s)
        *s = (struct stream){.vm = vm, .thread = thread, .end = &s->first};
    return s;
}

/* ---- what comes and what goes */

/* Asks whether more are wanted before so many events are told. */
static void ask(struct batch_merge *m)
{
    if (m->ops.is_over && !m->is_over && m->unasked == 0) {
        m->is_over = m->ops.is_over(m->ops.ctx);
        m->unasked = TOLD_BETWEEN_QUESTIONS;
    }
}

static void tell_record(struct batch_merge *m, struct stream *s)
{
    struct wire_name name;
    union ev_any room;

    if (ns_of(s) < m->last_ns)
        m->counts.late++;
    else
        m->last_ns = ns_of(s);
    if (s->record.head.event <= BATCH_LAST_NAME) {
        if (m->ops.named && event_name_of_record(&s->record, &name))
            m->ops.named(m->ops.ctx, s->vm, s->record.words[0], &name);
        return;
    }
    if (m->is_over) {
        m->counts.unwanted++;
        return;
    }
    m->counts.events++;
    m->ops.event(m->ops.ctx, event_of_record(&s->record, s->vm, &room));
}

/* The stream whose turn it is after that at the top; NULL: there is none. */
static const struct stream *second(const struct batch_merge *m)
{
    const struct stream *left = m->nheap > 1 ? m->heap[1] : NULL;

    return m->nheap > 2 && is_before(m->heap[2], left) ? m->heap[2] : left;
}

/*
 * Tells the earliest event, and those behind it in its page before another stream's turn comes, up to that time: most
 * often a thread tells many before another one tells any.
 */
static void tell_first(struct batch_merge *m, uint64_t until_ns)
{
    struct stream *s = m->heap[0];
    const struct stream *next = second(m);
    bool found;

    if (s->gap && m->ops.gap)
        m->ops.gap(m->ops.ctx, s->vm);
    s->gap = false;
    ask(m);
    do {
        tell_record(m, s);
        m->unasked--;
        found = find_in_page(m, s);
    } while (found && m->unasked && ns_of(s) <= until_ns && (!next || !is_before(next, s)));
    if (found || find_event(m, s))
        sift_down(m, 0);
    else
        pop(m);
}

void batch_merge_until(struct batch_merge *m, uint64_t time_ns)
{
    while (m->nheap && ns_of(m->heap[0]) <= time_ns)
        tell_first(m, time_ns);
}

void batch_merge_take(struct batch_merge *m, const struct batch_received *received)
{
    const void *bytes = received + 1;
    struct batch_header header;
    struct stream *s = NULL;
    struct page *page = NULL;
    bool waited;

    m->counts.pages++;
    if (received->bytes < sizeof header || received->bytes > BATCH_PAGE_BYTES) {
        m->counts.damaged++;
        return;
    }
    memcpy(&header, bytes, sizeof header);
    if (header.thread == BATCH_NO_THREAD) {
        if (m->ops.closed)
            m->ops.closed(m->ops.ctx, received->vm);
        return;
    }
    s = find_stream(m, received->vm, header.thread);
    page = s ? malloc(sizeof *page + received->bytes) : NULL;
    if (!page) {
        m->counts.refused++;
        if (s)
            s->gap = true;
        return;
    }
    page->next = NULL;
    page->received_ns = received->time_ns;
    page->size = received->bytes;
    memcpy(page->bytes, bytes, received->bytes);
    m->bytes += page->size;
    waited = s->first != NULL;
    s->received_ns = received->time_ns;
    *s->end = page;
    s->end = &page->next;
    if (!waited && find_event(m, s))
        push(m, s);
    while (m->bytes > BATCH_MERGE_BYTES && m->nheap)
        tell_first(m, UINT64_MAX);
}

/* ---- the end */

static void free_stream(struct batch_merge *m, struct stream *s)
{
    while (s->first)
        close_page(m, s);
    free(s);
}

void batch_merge_forget(struct batch_merge *m, uint32_t vm)
{
    size_t kept = 0;

    m->nheap = 0;
    for (size_t i = 0; i < m->nstreams; i++) {
        struct stream *s = m->streams[i];

        if (s->vm == vm) {
            free_stream(m, s);
            continue;
        }
        m->streams[kept++] = s;
        if (s->first)
            push(m, s);
    }
    m->nstreams = kept;
    batch_names_forget(m->names, vm);
}

void batch_merge_free(struct batch_merge *m)
{
    for (size_t i = 0; m && i < m->nstreams; i++)
        free_stream(m, m->streams[i]);
    free(m);
}
