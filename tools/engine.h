/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Views, asked of targets, printed to a sink or given to a taker: what a subcommand of bpf/views.def is. All views are
 * one BPF object, of which only what the views need is loaded, and only where they need it attached.
 */
#ifndef TOOLS_ENGINE_H
#define TOOLS_ENGINE_H

#include <bpf/libbpf.h>

#include "options.h"
#include "result.h"
#include "views.h"

struct session;

/* Who gets what is counted, in place of a sink. */
struct engine_taker {
    /* A result is due: at each interval, when a VM has ended, and at the end. Fails: -errno. */
    int (*result)(void *ctx, struct session *s, const struct result_source *source, const bool on[VIEW_COUNT]);
    /* A record of a view that exemplars are made of. */
    void (*record)(void *ctx, const struct result_source *source, const struct wire_header *header, size_t size);
    void *ctx;
    uint64_t slower_ns; /* only records of what took so long */
};

/* Turns on the views of a list, with commas between. command: for the message. Fails: FAIL_USAGE, said. */
int engine_choose(const char *command, const char *list, bool on[VIEW_COUNT]);
/* Asks the views that are on until the session ends. Returns 0 or a failure that was said. */
int engine_take(const bool on[VIEW_COUNT], const struct options *options, const struct engine_taker *taker);

/* Before the load: leaves of the opened object what these views need. by_vm: as of struct view_settings. */
void engine_select(struct bpf_object *object, const bool on[VIEW_COUNT], bool by_vm);

#endif
