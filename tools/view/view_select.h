/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which views are on, and what of the one BPF object of all views is loaded for them.
 */
#ifndef TOOLS_VIEW_SELECT_H
#define TOOLS_VIEW_SELECT_H

#include <bpf/libbpf.h>
#include <stdbool.h>

#include "views.h"

/* Before the load: leaves of the opened object what these views need. by_vm: as of struct view_settings. */
void view_select(struct bpf_object *object, const bool on[VIEW_COUNT], bool by_vm);

/* The names of all views, each with a space before it. */
extern const char view_choices[];
/* Turns on the views of a list, with commas between. command: for the message. Adds to `order`. Fails: FAIL_USAGE,
 * said. */
int view_choose(const char *command, const char *list, bool on[VIEW_COUNT], struct view_order *order);

#endif
