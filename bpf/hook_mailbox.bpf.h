/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * How long messages of a stock emulator stand in mailboxes. A message is known by its address, from when it joins its
 * receiver's queue until a receive takes it out. What the receiver itself makes a message of, as 'DOWN', joins no
 * queue: since when it has been there is not known, nor of what came before we watched.
 * Source: erts/emulator/beam of OTP: erl_message.[ch], erl_proc_sig_queue.[ch], jit/beam_jit_common.cpp.
 */
#ifndef BPF_HOOK_MAILBOX_BPF_H
#define BPF_HOOK_MAILBOX_BPF_H

#include "hook.bpf.h"

/* Which function tells of one, by the number of its hook. */
enum hook_mailbox {
    /* erts_proc_sig_queue_try_enqueue_to_buffer(from, receiver, locks, first, last, ...): asked for all that joins a
     * queue, but for messages of nodes that do not tell who sends. `last` points to the link of the last element. */
    MAILBOX_JOINED,
    MAILBOX_TAKEN, /* beam_jit_remove_message(process, ...) */
};

enum {
    MAILBOX_AT_ONCE = 32, /* elements that join together; more are not known */
    MAILBOX_SIGNALS = 64, /* that are looked at in each queue; of more it is not counted which become messages */
};

/* Elements that stay what they are when their receiver makes messages of them: ERTS_SIG_Q_OP_* of their tags. */
enum { MAILBOX_OP_EXIT = 0, MAILBOX_OP_EXIT_LINKED = 1, MAILBOX_OP_ALIAS = 15 };

struct mailbox_place {
    hook_vm vm;
    __u64 element; /* its address */
};

struct mailbox_entry {
    ev_id receiver;
    __u64 since_ns;
    __u64 queue_len; /* with it */
};

/* What is never taken, as its receiver ends or drops it, is forgotten when there is no room, or its address used. Some
 * 25 MB, all at once: it is made for who asks the view that it is named after. */
struct {
    __uint(type, BPF_MAP_TYPE_LRU_HASH);
    __uint(max_entries, 262144);
    __type(key, struct mailbox_place);
    __type(value, struct mailbox_entry);
} mailboxes_in SEC(".maps");

static __always_inline __u64 mailbox_word(const struct otp_layout *layout, __u64 process, enum otp_field field)
{
    __u64 word = 0;

    if (layout->off[field] != OTP_NOWHERE)
        bpf_probe_read_user(&word, sizeof word, (void *)(process + layout->off[field]));
    return word;
}

/* Whether the tag of an element says that it is no message: a header that is not 0. */
static __always_inline bool mailbox_is_signal(__u64 tag)
{
    return tag && !(tag & 3);
}

static __always_inline bool mailbox_keeps(__u64 tag)
{
    __u64 op = tag >> 6 & 0xff;

    return !mailbox_is_signal(tag) || op == MAILBOX_OP_EXIT || op == MAILBOX_OP_EXIT_LINKED || op == MAILBOX_OP_ALIAS;
}

/*
 * What the lengths of a process's queues leave out, of the signals that begin at this pointer to a pointer (0: none):
 * those that stay what they are, and from OTP 27 on the messages before each. Neither inlined nor static: so the kernel
 * verifies it once.
 */
FIXES_GLOBAL __u64 mailbox_left_out(const struct otp_layout *layout, __u64 at)
{
    __u64 signal, words[3], count = 0;

    for (__u32 i = 0; i < MAILBOX_SIGNALS && at && layout; i++) {
        if (bpf_probe_read_user(&signal, sizeof signal, (void *)at) ||
            bpf_probe_read_user(words, sizeof words, (void *)signal) ||
            !mailbox_is_signal(words[OTP_MESSAGE_TERM / 8]))
            return count; /* the receiver has just looked at it */
        count += mailbox_word(layout, signal, OTP_SIGNAL_MESSAGES) + mailbox_keeps(words[OTP_MESSAGE_TERM / 8]);
        at = words[1]; /* where the pointer to the next signal stands */
    }
    return count;
}

/* Messages in the process's queues, but for those in buffers of senders. */
static __always_inline __u64 mailbox_length(const struct otp_layout *layout, __u64 process)
{
    static const enum otp_field lengths[] = {OTP_PROC_SIG_LEN, OTP_PROC_MQ_LEN, OTP_PROC_MIDDLE_LEN, OTP_PROC_OUTER_LEN,
                                             OTP_PROC_OUTER_MLEN};
    __u64 length = mailbox_left_out(layout, mailbox_word(layout, process, OTP_PROC_MIDDLE_SIGNALS)) +
                   mailbox_left_out(layout, mailbox_word(layout, process, OTP_PROC_OUTER_SIGNALS));

    for (__u32 i = 0; i < sizeof lengths / sizeof *lengths; i++)
        length += mailbox_word(layout, process, lengths[i]);
    return length;
}

static __always_inline void mailbox_join(struct pt_regs *ctx, const struct otp_layout *layout)
{
    __u64 process = FIXES_CTX_LOAD(ctx, si), last = FIXES_CTX_LOAD(ctx, r8), words[3];
    struct mailbox_place place = {layout->vm, FIXES_CTX_LOAD(ctx, cx)};
    struct mailbox_entry entry = {.since_ns = bpf_ktime_get_ns()};

    if (hook_pid(layout, process, &entry.receiver))
        return;
    entry.queue_len = mailbox_length(layout, process);
    for (__u32 i = 0; i < MAILBOX_AT_ONCE; i++) {
        bpf_map_delete_elem(&mailboxes_in, &place); /* what stood at this address before */
        if (bpf_probe_read_user(words, sizeof words, (void *)place.element)) {
            probe_lose(LOSS_BAD_ARG);
            return;
        }
        entry.queue_len += mailbox_keeps(words[OTP_MESSAGE_TERM / 8]);
        if (mailbox_keeps(words[OTP_MESSAGE_TERM / 8]) &&
            bpf_map_update_elem(&mailboxes_in, &place, &entry, BPF_ANY))
            probe_lose(LOSS_MAP_FULL);
        if (place.element == last) /* its link is its first word */
            return;
        place.element = words[0];
    }
}

/* Whether it looks as what a monitor's end is told by, {Tag, Reference, process | port, _, _}, or cannot be read. */
static __always_inline bool mailbox_is_down(__u64 term)
{
    __u64 words[4] = {0}, header = 0;

    if ((term & 3) != OTP_TAG_BOXED)
        return false;
    if (bpf_probe_read_user(words, sizeof words, (void *)(term & ~7ull)))
        return true;
    return words[0] == 5 << 6 && (words[3] & 0x3f) == OTP_TAG_ATOM && (words[2] & 3) == OTP_TAG_BOXED &&
           !bpf_probe_read_user(&header, sizeof header, (void *)(words[2] & ~7ull)) &&
           (header & 0x3f) == OTP_HEADER_REF;
}

/* What was kept of the message that the process takes, in `out`; false: nothing, or of another. */
static __always_inline bool mailbox_take(const struct otp_layout *layout, __u64 process, ev_id pid,
                                         struct mailbox_entry *out)
{
    struct mailbox_place place = {layout->vm};
    struct mailbox_entry *kept;
    __u64 save = 0, term = 0;

    if (otp_read(layout, process, OTP_PROC_SAVE, &save, sizeof save))
        return false;
    if (bpf_probe_read_user(&place.element, sizeof place.element, (void *)save)) {
        probe_lose(LOSS_BAD_ARG);
        return false;
    }
    kept = bpf_map_lookup_elem(&mailboxes_in, &place);
    if (!kept)
        return false;
    *out = *kept;
    bpf_map_delete_elem(&mailboxes_in, &place);
    /* What was dropped leaves its entry: the block may be a 'DOWN' of the same process's own making since. */
    return out->receiver == pid &&
           !bpf_probe_read_user(&term, sizeof term, (void *)(place.element + OTP_MESSAGE_TERM)) &&
           !mailbox_is_down(term);
}

SEC("uprobe")
int at_message__waited(struct pt_regs *ctx)
{
    const struct otp_layout *layout = hook_layout(ctx);
    __u64 process = FIXES_CTX_LOAD(ctx, di), now;
    struct mailbox_entry entry = {0};
    struct ev_message__waited ev;

    if (!layout)
        return 0;
    if (otp_which(ctx) == MAILBOX_JOINED) {
        mailbox_join(ctx, layout);
        return 0;
    }
    if (hook_pid(layout, process, &ev.receiver))
        return 0;
    view_begin(&ev.head, layout->vm);
    ev.head.where = hook_where(ctx, process);
    ev.waited = VIEW_UNKNOWN;
    ev.queue_len = 0;
    if (mailbox_take(layout, process, ev.receiver, &entry)) {
        now = bpf_ktime_get_ns();
        ev.waited = now > entry.since_ns ? now - entry.since_ns : 0;
        /* OTP 25 has a difference there for a moment, while process_info looks */
        ev.queue_len = entry.queue_len >> 31 ? VIEW_UNKNOWN : entry.queue_len;
    }
    tell_message__waited(&ev);
    return 0;
}

#endif
