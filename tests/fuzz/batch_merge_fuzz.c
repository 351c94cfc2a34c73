/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Any bytes as pages of threads: each begins with its length, VM, thread and time of arrival, and its header is made
 * valid most of the time.
 * Invariants: no event is later than its page arrived; all that is told is counted; every argument, and every name
 * that a process registered, has a text. For libFuzzer.
 */
#include "event/batch_merge.h"

#include <stdlib.h>
#include <string.h>

#include "event/event_text.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n);

struct state {
    struct batch_names *names;
    uint64_t told, newest_ns;
};

static void ensure(bool holds)
{
    if (!holds)
        abort();
}

static void on_event(void *ctx, const union ev_any *ev)
{
    struct state *st = ctx;
    const struct event_row *row = event_row((enum batch_event)ev->head.event);
    char text[300];

    ensure(ev->head.event < BATCH_EVENTS && row->nargs > 0);
    ensure(ev->head.time_ns <= st->newest_ns);
    for (unsigned i = 0; i < row->nargs; i++)
        event_text_arg(&(struct term_text){text, sizeof text, 0}, st->names, ev, &row->args[i]);
    st->told++;
}

/* What feed.c makes of it: the name of an owner, that results print. */
static void on_named(void *ctx, uint32_t vm, ev_id id, const struct wire_name *name)
{
    struct state *st = ctx;
    struct wire_name shown = *name;
    char text[300];

    ensure(vm < 4);
    shown.form = shown.form == WIRE_LABEL ? WIRE_REASON : shown.form;
    event_text_name(&(struct term_text){text, sizeof text, 0}, st->names, vm, &shown);
    event_text_id(&(struct term_text){text, sizeof text, 0}, st->names, vm, id);
}

/* A page out of the bytes; returns how many it took. */
static size_t feed(struct batch_merge *m, struct state *st, const uint8_t *bytes, size_t n)
{
    static union {
        struct batch_received received;
        char bytes[sizeof(struct batch_received) + BATCH_PAGE_BYTES];
    } page;
    struct batch_header header;
    uint32_t size = bytes[0] * 8u;

    size = size < n - 4 ? size : (uint32_t)(n - 4);
    page.received = (struct batch_received){.time_ns = 1000000 + bytes[1] * 100u, .vm = bytes[2] & 3, .bytes = size};
    if (page.received.time_ns > st->newest_ns)
        st->newest_ns = page.received.time_ns;
    memcpy(&page.received + 1, bytes + 4, size);
    if (size >= sizeof header && !(bytes[3] & 0x80)) {
        memcpy(&header, &page.received + 1, sizeof header);
        header.magic = BATCH_MAGIC;
        header.bytes = size & ~7u;
        header.thread = bytes[3] & 7;
        header.begin_ns &= 0xfffff;
        header.end_ns = header.begin_ns + (header.end_ns & 0xfffff);
        header.begin_ticks &= 0xfffff;
        header.end_ticks = header.begin_ticks + (header.end_ticks & 0xfffff);
        memcpy(&page.received + 1, &header, sizeof header);
    }
    batch_merge_take(m, &page.received);
    return 4 + size;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
    struct state st = {.names = batch_names_new()};
    struct batch_merge *m =
        batch_merge_new(st.names, &(struct batch_merge_ops){.event = on_event, .named = on_named, .ctx = &st});

    for (size_t at = 0; at + 4 < n;) {
        at += feed(m, &st, bytes + at, n - at);
        if (bytes[at - 1] & 1)
            batch_merge_until(m, st.newest_ns - 5000);
        if (bytes[at - 1] == 0xfe)
            batch_merge_forget(m, 1);
    }
    batch_merge_until(m, UINT64_MAX);
    ensure(batch_merge_counts(m)->events == st.told);
    batch_merge_free(m);
    batch_names_free(st.names);
    return 0;
}
