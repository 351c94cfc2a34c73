/* SPDX-License-Identifier: Apache-2.0 */
/* Records that were kept because they are the slowest (SLOWEST of bpf/views.def). */
#ifndef TOOLS_KEPT_H
#define TOOLS_KEPT_H

#include "views.h"

/* Begins as zeros. In no order until kept_cut. */
struct result_kept {
    void **records;
    size_t nrecords;
};

/* Adds copies of the records in a slowest_<view>_<event> of bpf/views.h. Fails: -ENOMEM. */
int kept_take(struct result_kept *kept, const struct view_slowest *slowest, const void *all);
/* Adds copies of those of another. Fails: -ENOMEM. */
int kept_add(struct result_kept *to, const struct result_kept *from, size_t record_bytes);
/* The slowest stand first, and so many stay. */
void kept_cut(struct result_kept *kept, const struct view_slowest *slowest, size_t most);
void kept_free(struct result_kept *kept);

#endif
