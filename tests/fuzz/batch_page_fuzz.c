/* SPDX-License-Identifier: Apache-2.0 */
/* Any bytes as a page of events. Invariants: all that is told of a record lies within the page; times do not leave the
 * page's own. For libFuzzer. */
#include "event/batch_page.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n);

static void ensure(bool holds)
{
    if (!holds)
        abort();
}

static void check_record(const struct batch_record *r, const uint8_t *bytes, size_t n)
{
    ensure(r->head.event < BATCH_EVENTS && batch_event_args(r->head.event) <= BATCH_MAX_ARGS);
    for (unsigned i = 0; i < batch_event_args(r->head.event); i++)
        if (r->has_texts && r->texts[i])
            ensure(r->texts[i] >= (const char *)bytes && r->texts[i] + r->words[i] <= (const char *)bytes + n);
}

/* Names alone, the other records passed over by their lengths. */
static void check_names(const uint8_t *bytes, size_t n)
{
    struct batch_page page;
    struct batch_record r = {0};

    batch_page_open(&page, bytes, n);
    while (batch_page_next_atom(&page, &r)) {
        ensure(r.head.event == BATCH_ATOM && r.texts[1] && r.words[1] <= BATCH_TEXT_BYTES);
        check_record(&r, bytes, n);
    }
    ensure(page.events <= page.header.bytes / 8);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
    struct batch_page page;
    struct batch_record r = {0};

    if (!batch_page_open(&page, bytes, n)) {
        ensure(page.damaged);
        return 0;
    }
    while (batch_page_next(&page, &r)) {
        check_record(&r, bytes, n);
        ensure(r.head.time_ns >= page.header.begin_ns && r.head.time_ns <= page.header.end_ns);
    }
    ensure(page.damaged || page.at == page.header.bytes);
    check_names(bytes, n);
    return 0;
}
