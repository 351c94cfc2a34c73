/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Views in user space: the handlers of bpf/view_<view>.h over events that come from batches and recordings. One set at
 * a time in a process.
 *
 *   views_user_begin(&settings, told, ctx);            which views, with which filters
 *   views_user_atom(...), views_user_tell(event);      in the order of time
 *   result_print(&(struct result_source){..., .take = views_user_take}, on);   now and then
 *   views_user_end();
 */
#ifndef TOOLS_VIEWS_USER_H
#define TOOLS_VIEWS_USER_H

#include "event/event.h"
#include "result.h"

/*
 * `told` gets each record (settings.events), for result_record; may be NULL when there are none. Helpers of the views
 * are on too. Fails: -ENOMEM.
 */
int views_user_begin(const struct view_settings *settings, void (*told)(void *ctx, const struct wire_header *record, size_t size), void *ctx);
void views_user_tell(const union ev_any *event);
/* The number of an atom of a VM, before an event that has it: some reasons are told apart by it. */
void views_user_atom(uint32_t vm, uint32_t index, const char *text, size_t bytes);
/* What a process is called that was there before events told of its birth; whether any view asks. */
void views_user_owner(uint32_t vm, ev_id id, const struct wire_name *name);
bool views_user_wants_owners(void);
/* As of struct result_source; adds to what is there. */
int views_user_take(void *ctx, const struct view_table *table, struct result_taken *out);
int views_user_slowest(void *ctx, enum view_slowest_id id, struct result_kept *out);
/* Events of a VM are missing before the next: what lasts between two events goes. */
void views_user_gap(uint32_t vm);
/*
 * A VM has ended: what was kept of its processes goes. What was counted of it stays for the next result, apart from
 * what is counted of another VM that gets its number, and with its names as text: name_text tells them, good until the
 * next.
 */
void views_user_drop_vm(uint32_t vm, const char *(*name_text)(void *ctx, uint32_t vm, const struct wire_name *name),
                        void *ctx);
/* Rows and states that there was no room for. */
uint64_t views_user_lost(void);
void views_user_end(void);

#endif
