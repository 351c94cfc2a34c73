/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Views in user space: the handlers of bpf/view_<view>.h over events that come from batches and recordings. On one
 * thread.
 *
 *   views_user_new(&settings, told, ctx, &views);             which views, with which filters
 *   views_user_atom(views, ...), views_user_tell(views, event);      in the order of time
 *   views_user_take(views, table, &taken);                    now and then, as of struct result_source
 *   views_user_free(views);
 */
#ifndef TOOLS_VIEWS_USER_H
#define TOOLS_VIEWS_USER_H

#include "event/event.h"
#include "result.h"

struct views_user;

/*
 * `told` gets each record (settings.events), for result_record; may be NULL when there are none. Helpers of the views
 * are on too. Owns: views_user_free frees, after a failure too. Fails: -ENOMEM.
 */
int views_user_new(const struct view_settings *settings,
                   void (*told)(void *ctx, const struct wire_header *record, size_t size), void *ctx,
                   struct views_user **out);
void views_user_tell(struct views_user *views, const union ev_any *event);
/* The number of an atom of a VM, before an event that has it: some reasons are told apart by it. */
void views_user_atom(void *views, uint32_t vm, uint32_t index, const char *text, size_t bytes);
/*
 * What a process is called from now on: what it is to do (WIRE_MFA), its label (WIRE_LABEL; of the shape WIRE_OTHER:
 * none that says anything), or its registered name (WIRE_REASON; EV_NO_ATOM: none any more); whether any view asks.
 */
void views_user_owner(struct views_user *views, uint32_t vm, ev_id id, const struct wire_name *name);
bool views_user_wants_owners(const struct views_user *views);
/* As of struct result_source; adds to what is there. */
int views_user_take(struct views_user *views, const struct view_table *table, struct result_taken *out);
int views_user_slowest(struct views_user *views, enum view_slowest_id id, struct result_kept *out);
/* As of struct result_source. */
int views_user_open(struct views_user *views, enum view_state_id state, const struct open_taker *taker);
bool views_user_kept(struct views_user *views, uint32_t vm, uint64_t kept, struct wire_name *out);
bool views_user_whose(struct views_user *views, uint32_t vm, const struct view_whom *whom, struct wire_name *out);
/* Events of a VM are missing before the next: what lasts between two events goes. */
void views_user_gap(struct views_user *views, uint32_t vm);
/*
 * A VM has ended: what was kept of its processes goes. What was counted of it stays for the next result, apart from
 * what is counted of another VM that gets its number, and with its names as text: name_text tells them, good until the
 * next.
 */
void views_user_drop_vm(struct views_user *views, uint32_t vm,
                        const char *(*name_text)(void *ctx, uint32_t vm, const struct wire_name *name), void *ctx);
/* Rows and states that there was no room for. */
uint64_t views_user_lost(const struct views_user *views);
void views_user_free(struct views_user *views);

#endif
