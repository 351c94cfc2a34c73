/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Pages of erlvms into views: merged, and told to the views in user space. Where pages come from is the caller's: the
 * kernel, or a recording.
 *
 *   feed_new(&settings, &feed);
 *   feed_take(feed, page);  feed_until(feed, ns);     again and again
 *   result_print(&(struct result_source){feed, feed_counted, feed_name, ...}, on);
 *   feed_free(feed);
 */
#ifndef TOOLS_FEED_H
#define TOOLS_FEED_H

#include "batch_source.h"
#include "event/batch_merge.h"
#include "target/target.h"
#include "view/result.h"
#include "view/wanted.h"

struct feed;

/* For the views that are on in `settings`. Owns: feed_free frees. Fails: -ENOMEM, not said. */
int feed_new(const struct view_settings *settings, struct feed **out);
void feed_free(struct feed *feed);
/* Who is told too; each may be NULL. */
struct feed_ops {
    void (*record)(void *ctx, const struct wire_header *record, size_t size); /* as of views_user_new */
    void (*event)(void *ctx, const union ev_any *ev);                         /* each event, once the views were told */
    bool (*is_over)(void *ctx);                                               /* as of batch_merge_ops */
    void *ctx;
};
void feed_listen(struct feed *feed, const struct feed_ops *ops);
/* What the views are told of. */
const struct wanted *feed_wanted(const struct feed *feed);
/* Only events of this time are told to views. Units: CLOCK_MONOTONIC. */
void feed_bound(struct feed *feed, uint64_t from_ns, uint64_t to_ns);
/* A VM that will hand pages over: it is known to have been there though none came. */
void feed_add_vm(struct feed *feed, uint32_t vm);
/* Has views know who a VM's processes are that are there already, and how its atoms are called. Fails: -ENOMEM. */
int feed_read_owners(struct feed *feed, const struct target *t);
/* The same of an atom (Fails: -ENOMEM), and of one process; nothing where no view asks. */
int feed_atom(struct feed *feed, uint32_t vm, uint64_t index, const char *text, size_t bytes);
void feed_owner(struct feed *feed, uint32_t vm, ev_id id, const struct wire_name *name);
/* Takes a copy of a page. */
void feed_take(struct feed *feed, const struct batch_received *page);
/* Tells what happened until then; UINT64_MAX: all, and what is known of VMs that have ended stays. */
void feed_until(struct feed *feed, uint64_t time_ns);
/*
 * A VM has ended, of which all pages were taken. What is known of it goes as soon as its last event was told. Returns
 * whether it ended as it should, and handed over all that its threads held; a VM that was killed did not. (One that
 * does says so itself: vm/batch_format.h.)
 */
bool feed_end_vm(struct feed *feed, uint32_t vm, uint64_t now_ns);
/*
 * Looks for VMs that have ended without anybody knowing that they were there. One that is dead in two looks has ended;
 * between the two the caller takes all pages that there are.
 */
void feed_look(struct feed *feed, bool (*lives)(int pid), uint64_t now_ns);
/* Whether the VM's pages come here, as it does from the first one until the VM has ended. */
bool feed_has(const struct feed *feed, uint32_t vm);
/* As of struct result_source, whose ctx is the feed. */
int feed_counted(void *feed, const struct view_table *table, struct result_taken *out);
int feed_slowest(void *feed, enum view_slowest_id id, struct result_kept *out);
int feed_open(void *feed, enum view_state_id state, const struct open_taker *taker);
bool feed_ended(void *feed, uint32_t vm);
bool feed_kept(void *feed, uint32_t vm, uint64_t kept, struct wire_name *out);
bool feed_whose(void *feed, uint32_t vm, const struct view_whom *whom, struct wire_name *out);
const char *feed_name(void *feed, uint32_t vm, const struct wire_name *name);
struct batch_names *feed_names(struct feed *feed);

/* What was not told, since the beginning, and why: each at its place, the same every time. */
struct feed_loss {
    uint64_t count;
    const char *why;
};
enum { FEED_LOSSES = 9 };
/* unreceived: pages that the caller knows of. */
void feed_losses(const struct feed *feed, const struct batch_unreceived *unreceived, struct feed_loss out[FEED_LOSSES]);

#endif
