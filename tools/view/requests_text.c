/* SPDX-License-Identifier: Apache-2.0 */
#include "requests_text.h"

#include <stdio.h>

void requests_text_end(char *out, size_t size, const void *record, const struct view_namer *namer)
{
    static const char *const texts[] = {
#define REQUESTS_END_TEXT(name, text) [REQUESTS_##name] = text,
        REQUESTS_ENDS(REQUESTS_END_TEXT)
#undef REQUESTS_END_TEXT
    };
    uint64_t end = ((const struct told_requests_call *)record)->end;

    (void)namer;
    snprintf(out, size, "%s", end < sizeof texts / sizeof *texts ? texts[end] : "?");
}

void requests_text_server(char *out, size_t size, const void *record, const struct view_namer *namer)
{
    const struct told_requests_call *told = record;

    snprintf(out, size, "%s", namer->name(namer->ctx, told->header.vm, &told->server));
}
