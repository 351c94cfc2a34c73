/* SPDX-License-Identifier: Apache-2.0 */
#include "sched_text.h"

#include "views.h"

const char *sched_text_kind(uint64_t kind)
{
    switch (kind) {
#define SCHEDULER_TEXT(name, text)                                                                 \
    case VIEW_SCHEDULER_##name: return text;
        VIEW_SCHEDULERS(SCHEDULER_TEXT)
#undef SCHEDULER_TEXT
    default: return "?";
    }
}
