/* SPDX-License-Identifier: Apache-2.0 */
/* Kinds of schedulers, as text. */
#ifndef TOOLS_SCHED_TEXT_H
#define TOOLS_SCHED_TEXT_H

#include <stdint.h>

/* Of an enum view_scheduler (bpf/views.h); "?": there is none of that number. */
const char *sched_text_kind(uint64_t kind);

#endif
