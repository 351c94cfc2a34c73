/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What was under way in a VM before it was watched (BEFORE of bpf/views.def), by its memory: looked for when it is
 * attached to, and again at each result, until it is over. And how many messages waited in mailboxes.
 */
#ifndef TOOLS_BEFORE_H
#define TOOLS_BEFORE_H

#include "otp/otp_vm.h"
#include "otp/pending.h"
#include "views.h"

struct names;
struct before;

struct before_item {
    struct pending is;
    uint64_t since_ns; /* CLOCK_MONOTONIC */
    uint64_t seen_ns;  /* when it was looked at first */
    bool exact;        /* else it may have begun any time before that */
    bool over;         /* or seen to begin anew */
    bool joined;       /* it was not there when its VM was added */
};

/* Of views that are on. Owns: before_free frees. NULL: out of memory. */
struct before *before_new(const bool on[VIEW_COUNT]);
void before_free(struct before *before);
/*
 * A VM is watched from now on, whose memory the names read as long as they know it. Fails: -ENOMEM. One that cannot be
 * read is none that something is known of.
 */
int before_add(struct before *before, const struct otp_vm *vm, struct names *names);
/* VMs have ended, or one is to be forgotten that is added again. */
void before_drop(struct before *before, uint32_t vm);
/* A result that began then ends now: what is over by now goes. Fails: -ENOMEM. */
int before_look(struct before *before, uint64_t begun_ns, uint64_t now_ns);
/* Whether such things would be told of the VM, or of all (0). */
bool before_knows(const struct before *before, uint32_t vm, enum pending_kind kind);
/* Calls `see` for each item of the kind, which it may declare over. Nonzero ends it and is returned. */
int before_each(struct before *before, enum pending_kind kind,
                int (*see)(void *ctx, uint32_t vm, struct before_item *item), void *ctx);
/* As pending_file_runs, of a VM. */
int before_file_runs(struct before *before, uint32_t vm, ev_id id, uint64_t *began_ns);
/* How much of the time for which the item was watched lies between the look before and the last one. */
uint64_t before_share(const struct before *before, const struct before_item *item);

struct before_mailbox {
    uint32_t vm; /* 0: all others */
    const char *owner;
    uint64_t messages;
};
/* Once: who had how many messages when it began to be watched, the most first, BEFORE_MAILBOXES of a VM and the sum of
 * the others. */
enum { BEFORE_MAILBOXES = 15 };
void before_tell_mailboxes(struct before *before, void (*see)(void *ctx, const struct before_mailbox *mailbox),
                           void *ctx);

#endif
