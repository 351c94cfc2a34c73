/* SPDX-License-Identifier: Apache-2.0 */
#include "support_batch.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "event/batch_merge.h"
#include "source/batch_source.h"
#include "event/event_text.h"

enum { TEXT = 64 };

struct event {
    enum batch_event event;
    char texts[BATCH_MAX_ARGS][TEXT];
};

struct support_batch {
    const struct target *target;
    int pid;
    struct wanted wanted;
    struct batch_source *source;
    struct batch_merge *merge;
    struct batch_names *names;
    struct event *events;
    size_t nevents;
    uint64_t last_ns;
};

static void keep_event(void *ctx, const union ev_any *ev)
{
    struct support_batch *b = ctx;
    const struct event_row *row = event_row((enum batch_event)ev->head.event);
    struct event *e;

    ck_assert_int_eq(ev->head.vm, b->pid);
    ck_assert_uint_ge(ev->head.time_ns, b->last_ns);
    b->last_ns = ev->head.time_ns;
    if (b->nevents % 1024 == 0)
        b->events = realloc(b->events, (b->nevents + 1024) * sizeof *b->events);
    e = &b->events[b->nevents++];
    *e = (struct event){.event = (enum batch_event)ev->head.event};
    for (unsigned i = 0; i < row->nargs; i++)
        event_text_arg(&(struct term_text){e->texts[i], TEXT, 0}, b->names, ev, &row->args[i]);
}

static void take_page(void *ctx, const struct batch_received *received)
{
    struct support_batch *b = ctx;

    batch_merge_take(b->merge, received);
}

struct support_batch *support_batch_new(const struct target *target, int pid)
{
    struct support_batch *b = calloc(1, sizeof *b);

    ck_assert(b != NULL);
    *b = (struct support_batch){.target = target, .pid = pid, .names = batch_names_new()};
    b->merge = batch_merge_new(b->names, &(struct batch_merge_ops){.event = keep_event, .ctx = b});
    ck_assert_int_eq(batch_source_new(&(struct batch_source_ops){take_page, b}, &b->source), 0);
    return b;
}

void support_batch_watch(struct support_batch *b, const char *probe)
{
    ck_assert_msg(event_find(probe) != BATCH_ATOM, "no probe %s", probe);
    b->wanted.events[event_find(probe)] = true;
}

void support_batch_begin(struct support_batch *b)
{
    int wanted = 0;

    for (unsigned e = 0; e < BATCH_EVENTS; e++)
        wanted += b->wanted.events[e];
    ck_assert_int_eq(batch_source_attach(b->source, b->target, b->pid, &b->wanted), wanted);
}

void support_batch_drain(struct support_batch *b)
{
    const struct batch_counts *counts = batch_merge_counts(b->merge);

    while (batch_source_read(b->source) > 0)
        ;
    batch_merge_until(b->merge, UINT64_MAX);
    ck_assert_uint_eq(batch_source_lost(b->source), 0);
    ck_assert_uint_eq(counts->damaged + counts->lost_pages + counts->lost_events + counts->refused + counts->late, 0);
    ck_assert_uint_eq(counts->events, b->nevents);
}

static const struct event *find_last(const struct support_batch *b, const char *probe, unsigned index, const char *text, unsigned *count)
{
    const struct event *last = NULL;

    *count = 0;
    for (size_t i = 0; i < b->nevents; i++)
        if (b->events[i].event == event_find(probe) && !strcmp(b->events[i].texts[index], text)) {
            last = &b->events[i];
            ++*count;
        }
    return last;
}

unsigned support_batch_count(const struct support_batch *b, const char *probe, unsigned index, const char *text)
{
    unsigned count;

    find_last(b, probe, index, text, &count);
    return count;
}

const char *support_batch_last(const struct support_batch *b, const char *probe, unsigned index, const char *text, unsigned wanted)
{
    unsigned count;
    const struct event *last = find_last(b, probe, index, text, &count);

    return last ? last->texts[wanted] : NULL;
}

void support_batch_free(struct support_batch *b)
{
    batch_source_free(b->source);
    batch_merge_free(b->merge);
    batch_names_free(b->names);
    free(b->events);
    free(b);
}
