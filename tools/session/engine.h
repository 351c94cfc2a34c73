/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Views, asked of targets, printed to a sink and given to readers. All views are one BPF object, of which only what the
 * views need is loaded, and only where they need it attached.
 */
#ifndef TOOLS_ENGINE_H
#define TOOLS_ENGINE_H

#include "common/options.h"
#include "view/result.h"
#include "view/views.h"

struct session;

/* Who gets what is counted beside who reads what is printed, or alone. */
struct engine_reader {
    /* To read what was gathered: each second or so; unless `whole`, when a VM has ended and at the end, too. Fails:
     * -errno. */
    int (*result)(void *ctx, struct session *s, const struct result_source *source, struct result_reader *gathered);
    /* A record of a view that exemplars are made of; NULL: they are not wanted. */
    void (*record)(void *ctx, const struct result_source *source, const struct wire_header *header, size_t size);
    void *ctx;
    bool whole;
    struct result_reader gathered;
    uint64_t read_ns; /* the engine's: when it read last */
};
enum { ENGINE_READERS = 2 };

/* What is asked. */
struct engine_question {
    bool on[VIEW_COUNT];            /* afterwards those that were told: the one VM may not tell all */
    struct view_settings settings;  /* filters, slowest and by_vm; the rest follows from the views and the options */
    struct view_order order;        /* in which results are printed; of none: that of views.def */
    bool notes_only, pages_only;    /* no pages; no VM that hands none over */
    struct recorder *recorder;      /* the caller's: events of the views are recorded; NULL: they are not */
    bool silent;                    /* no results are printed: there are readers alone, and what was recorded is told */
    struct engine_reader readers[ENGINE_READERS];
    size_t nreaders;
    uint64_t (*beat)(void *ctx);    /* as of session_ops; NULL: nobody */
    void *beat_ctx;
};

/* Asks until the session ends. Returns 0 or a failure that was said. */
int engine_run(struct engine_question *question, const struct options *options);

#endif
