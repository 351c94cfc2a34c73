/* SPDX-License-Identifier: Apache-2.0 */
/* Pages of events to records. Source of the form: vm/batch_format.h. */
#include "batch_page.h"

#include <string.h>

static const char *const event_names[BATCH_EVENTS] = {
    [BATCH_ATOM] = "atom",
    [BATCH_NAMED] = "named",
    [BATCH_CALLED] = "called",
    [BATCH_LABELLED] = "labelled",
#define PROBE(probe, family, nargs, watch, text) [BATCH_##probe] = #probe,
#define PROBE_RANGE(prefix, family, nargs, first, last, text) [BATCH_##prefix] = #prefix,
#include "../../vm/probes.def"
};

static const uint8_t event_args[BATCH_EVENTS] = {
    [BATCH_ATOM] = 2,
    [BATCH_NAMED] = 2,
    [BATCH_CALLED] = 2,
    [BATCH_LABELLED] = 2,
#define PROBE(probe, family, nargs, watch, text) [BATCH_##probe] = nargs,
#define PROBE_RANGE(prefix, family, nargs, first, last, text) [BATCH_##prefix] = nargs,
#include "../../vm/probes.def"
};

static const struct {
    enum batch_event event;
    unsigned index;
    const char *unit;
} rows[] = {
    {BATCH_ATOM, 0, "none"},
    {BATCH_ATOM, 1, "text"},
#define ARG(probe, index, arg, type, unit) {BATCH_##probe, index, #unit},
#include "../../vm/probes.def"
};

static uint16_t texts_of[BATCH_EVENTS]; /* which of the arguments are texts, a bit each */
int8_t batch_page_most_words[1 << 8];
_Static_assert(BATCH_MAX_ARGS <= 8 * sizeof *texts_of && BATCH_MAX_ARGS <= INT8_MAX,
               "more arguments than there is room for");

__attribute__((constructor)) static void find_texts(void)
{
    memset(batch_page_most_words, BATCH_PAGE_OTHER, sizeof batch_page_most_words);
    for (unsigned event = 0; event < BATCH_EVENTS; event++)
        batch_page_most_words[event] = (int8_t)event_args[event];
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (!strcmp(rows[i].unit, "text")) {
            texts_of[rows[i].event] |= (uint16_t)(1u << rows[i].index);
            batch_page_most_words[rows[i].event] = BATCH_PAGE_OTHER;
        }
}

const char *batch_event_name(enum batch_event event)
{
    return (unsigned)event < BATCH_EVENTS ? event_names[event] : "";
}

unsigned batch_event_args(enum batch_event event)
{
    return (unsigned)event < BATCH_EVENTS ? event_args[event] : 0;
}

/* What makes no sense has no more than UINT64_MAX: to_ns ends with the page. */
static uint64_t tick_length(uint64_t ns, uint64_t ticks)
{
    unsigned __int128 length = ticks ? ((unsigned __int128)ns << 32) / ticks : 0;

    return length > UINT64_MAX ? UINT64_MAX : (uint64_t)length;
}

bool batch_page_open(struct batch_page *page, const void *bytes, size_t size)
{
    struct batch_header *h = &page->header;

    *page = (struct batch_page){.bytes = bytes, .at = sizeof *h, .damaged = true};
    if (size < sizeof *h)
        return false;
    memcpy(h, bytes, sizeof *h);
    if (h->magic != BATCH_MAGIC || h->bytes > size || h->bytes > BATCH_PAGE_BYTES || h->bytes < sizeof *h ||
        h->bytes % 8 || h->end_ticks < h->begin_ticks || h->end_ns < h->begin_ns)
        return false;
    page->damaged = false;
    page->ticks = h->end_ticks - h->begin_ticks;
    page->lasted_ns = h->end_ns - h->begin_ns;
    page->tick_ns = tick_length(page->lasted_ns, page->ticks);
    return true;
}

/* The texts behind the `n` arguments. Returns false when they do not fill the record's `words` words. */
static bool find_text_bytes(struct batch_record *out, unsigned texts, unsigned n, const char *at, unsigned words)
{
    unsigned used = n;

    for (unsigned i = 0; i < n; i++) {
        out->texts[i] = NULL;
        if (!(texts >> i & 1))
            continue;
        if (out->words[i] > BATCH_TEXT_BYTES)
            return false;
        out->texts[i] = at + (size_t)used * 8;
        used += (unsigned)(out->words[i] + 7) / 8;
        if (used > words)
            return false;
    }
    return used == words;
}

void batch_page_clear_words(struct batch_record *out, unsigned n)
{
    memset(&out->words[n], 0, (out->used - n) * sizeof *out->words);
}

bool batch_page_next_other(struct batch_page *page, uint64_t head, struct batch_record *out)
{
    unsigned words = BATCH_HEAD_WORDS(head), event = BATCH_HEAD_EVENT(head);
    unsigned texts = event < BATCH_EVENTS ? texts_of[event] : 0, n = batch_event_args((enum batch_event)event);
    const char *at = page->bytes + page->at + 8;

    page->damaged = !texts || BATCH_HEAD_LEFT_OUT(head) || words < n || page->at + 8 + words * 8 > page->header.bytes;
    if (page->damaged)
        return false;
    out->has_texts = true;
    batch_page_words(page, BATCH_HEAD(0, 0, n, event), at, out);
    page->damaged = !find_text_bytes(out, texts, n, at, words);
    if (page->damaged)
        return false;
    batch_page_pass(page, head, out);
    return true;
}

/* Goes on behind the record with this head. */
static void pass_over(struct batch_page *page, uint64_t head)
{
    page->at += 8 + BATCH_HEAD_WORDS(head) * 8;
    page->events += BATCH_HEAD_EVENT(head) > BATCH_LAST_NAME;
    page->damaged = page->at > page->header.bytes;
}

bool batch_page_next_of(struct batch_page *page, const bool events[1 << 8], struct batch_record *out)
{
    uint64_t head;

    while (!page->damaged && page->at < page->header.bytes) {
        memcpy(&head, page->bytes + page->at, sizeof head);
        if (!events[BATCH_HEAD_EVENT(head)] && BATCH_HEAD_EVENT(head) != BATCH_process__scheduled)
            pass_over(page, head);
        else if (batch_page_next(page, out) && events[out->head.event])
            return true;
    }
    return false;
}

bool batch_page_next_atom(struct batch_page *page, struct batch_record *out)
{
    uint64_t head;

    while (!page->damaged && page->at < page->header.bytes) {
        memcpy(&head, page->bytes + page->at, sizeof head);
        if (BATCH_HEAD_EVENT(head) == BATCH_ATOM)
            return batch_page_next_other(page, head, out);
        pass_over(page, head);
    }
    return false;
}
