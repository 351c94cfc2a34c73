/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Calls of a stock emulator: what the messages that processes send and receive say of them, as vm/proc/request.h has
 * it, and monitors that end.
 * Source: erts/emulator/beam of OTP: erl_message.c, erl_proc_sig_queue.c, dist.c, bif.c, jit/beam_jit_common.cpp;
 * ErtsORefThing, ErtsPRefThing and ExternalThing of erl_term.h.
 */
#ifndef BPF_HOOK_REQUEST_BPF_H
#define BPF_HOOK_REQUEST_BPF_H

#include "hook.bpf.h"

/* Which function tells of a step, by the number of its hook. */
enum hook_request {
    REQUEST_AT_SEND,        /* erts_send_message(sender, receiver, locks, message) */
    REQUEST_AT_SEND_ALIAS,  /* erts_proc_sig_send_to_alias(sender, from, alias, message, token) */
    REQUEST_AT_SEND_NODE,   /* erts_dsig_send_msg(context, to, message) */
    REQUEST_AT_SEND_NAME,   /* erts_dsig_send_reg_msg(context, name, to, message) */
    REQUEST_AT_RECEIVE,     /* beam_jit_remove_message(process, ...) */
    REQUEST_AT_DEMONITOR,   /* demonitor_1(process, arguments), demonitor_2 */
};

enum request_kind { REQUEST_NONE, REQUEST_CALL, REQUEST_REPLY, REQUEST_OF_DOWN };

struct request_message {
    __u64 kind, caller, number; /* caller: a term */
};

enum { TUPLE_OF_2 = 2 << 6, TUPLE_OF_3 = 3 << 6, TUPLE_OF_5 = 5 << 6 };

/*
 * A number of the reference; 0: the term is none. Of one of this node the thread that made it counts, and the low half
 * of its number there, of another node's all there is. The kernel verifies it once, by itself, and its words stand on a
 * stack of its own.
 */
FIXES_GLOBAL __u64 request_number(__u64 term)
{
    __u64 words[6] = {0}, hash;

    if ((term & 3) != OTP_TAG_BOXED || bpf_probe_read_user(words, 3 * sizeof *words, (void *)(term & ~7ull)))
        return 0;
    if ((words[0] & 0x3f) == OTP_HEADER_REF)
        return ev_request_number(words[1]);
    if ((words[0] & 0x3f) != OTP_HEADER_REMOTE_REF ||
        bpf_probe_read_user(words + 3, (words[0] >> 6 > 4 ? 3 : 2) * sizeof *words, (void *)((term & ~7ull) + 24)))
        return 0;
    hash = ev_request_mix(ev_request_mix(0, words[2]), words[3]);
    return ev_request_mix(ev_request_mix(hash, words[4]), words[5]) | 1;
}

/* Of the reference that a tag is, or holds: Ref, [alias | Ref], [[alias | Ref] | _]. */
static __always_inline __u64 request_tag(__u64 tag)
{
    __u64 cell[2];

    for (__u32 depth = 0; depth < 2 && (tag & 3) == OTP_TAG_LIST; depth++) {
        if (bpf_probe_read_user(cell, sizeof cell, (void *)(tag & ~7ull)))
            return 0;
        tag = (cell[0] & 3) == OTP_TAG_LIST ? cell[0] : cell[1];
    }
    return request_number(tag);
}

static __always_inline bool request_is_pid(__u64 term)
{
    __u64 header = 0;

    if ((term & 0xf) == OTP_TAG_PID)
        return true;
    return (term & 3) == OTP_TAG_BOXED && !bpf_probe_read_user(&header, sizeof header, (void *)(term & ~7ull)) &&
           (header & 0x3f) == OTP_HEADER_REMOTE_PID;
}

/* Neither inlined nor static: so the kernel verifies it once. Returns 0. */
FIXES_GLOBAL int request_read(__u64 message, struct request_message *out)
{
    __u64 words[4] = {0}, from[3] = {0}, at = message & ~7ull;

    if (!out)
        return 0;
    out->kind = REQUEST_NONE;
    if ((message & 3) != OTP_TAG_BOXED || bpf_probe_read_user(words, 3 * sizeof *words, (void *)at))
        return 0;
    if (words[0] == TUPLE_OF_2) {
        out->number = request_tag(words[1]);
        out->kind = out->number ? REQUEST_REPLY : REQUEST_NONE;
    } else if (words[0] == TUPLE_OF_3) {
        if ((words[2] & 3) != OTP_TAG_BOXED || bpf_probe_read_user(from, sizeof from, (void *)(words[2] & ~7ull)) ||
            from[0] != TUPLE_OF_2 || !request_is_pid(from[1]))
            return 0;
        out->caller = from[1];
        out->number = request_tag(from[2]);
        out->kind = out->number ? REQUEST_CALL : REQUEST_NONE;
    } else if (words[0] == TUPLE_OF_5) {
        out->number = request_number(words[2]);
        if (!out->number)
            return 0;
        out->caller = words[1];
        if ((words[1] & 0x3f) == OTP_TAG_ATOM)
            out->kind = REQUEST_OF_DOWN;
        else if (request_is_pid(words[1]) && !bpf_probe_read_user(&words[3], sizeof words[3], (void *)(at + 24)) &&
                 request_number(words[3]))
            out->kind = REQUEST_CALL;
    }
    return 0;
}

/* Of a process that may be of another node, whose name is not told, or of a registered name; 0: it is none. */
static __always_inline ev_id request_id(const struct otp_layout *layout, __u64 term)
{
    struct wire_pid pid = {0};

    if ((term & 0x3f) == OTP_TAG_ATOM)
        return (__u64)BATCH_NAME << 60 | term >> 6;
    if ((term & 0xf) != OTP_TAG_PID)
        return (term & 3) == OTP_TAG_BOXED ? (__u64)BATCH_REMOTE << 60 | (__u64)(__u32)WIRE_NO_ATOM << EV_ID_BITS : 0;
    return otp_decode_pid(layout, term, &pid) ? 0 : ev_id_of_pid(pid.id, pid.serial);
}

/* A step of a call, of the process at this address, or else of `pid`; number 0: none. */
struct request_told {
    __u64 process, number;
    ev_id pid, peer;
    enum request_step step;
};

static __always_inline void request_tell(struct pt_regs *ctx, const struct otp_layout *layout,
                                         struct request_told *told)
{
    struct ev_request__step ev;

    if (!told->pid && hook_pid(layout, told->process, &told->pid))
        return;
    view_begin(&ev.head, layout->vm);
    ev.head.where = told->process ? hook_where(ctx, told->process) : 0;
    ev.pid = told->pid;
    ev.peer = told->peer;
    ev.step = told->step;
    ev.reference = told->number;
    tell_request__step(&ev);
}

/* The name of the node that is sent to, which stands for the process there; 0: it cannot be read. */
static __always_inline __u64 request_node(const struct otp_layout *layout, __u64 context)
{
    __u64 node = 0, name = 0;

    return otp_read(layout, context, OTP_SENDING_NODE, &node, sizeof node) ||
                   otp_read(layout, node, OTP_NODE_NAME, &name, sizeof name)
               ? 0
               : name;
}

/* Of a send: the message, who sends, who gets it (an address, or a term). */
struct request_send {
    __u64 message, sender, receiver, to;
};

static __always_inline struct request_send request_of_send(struct pt_regs *ctx, const struct otp_layout *layout,
                                                           __u32 which)
{
    __u64 first = FIXES_CTX_LOAD(ctx, di), second = FIXES_CTX_LOAD(ctx, si), third = FIXES_CTX_LOAD(ctx, dx);
    struct request_send s = {.sender = first};

    switch (which) {
    case REQUEST_AT_SEND: s.receiver = second; break;
    case REQUEST_AT_SEND_ALIAS: s.to = third; break;
    case REQUEST_AT_SEND_NODE: s.to = request_node(layout, first); break;
    default: s.to = second;
    }
    s.message = which == REQUEST_AT_SEND_NODE ? third : FIXES_CTX_LOAD(ctx, cx);
    if (which >= REQUEST_AT_SEND_NODE && otp_read(layout, first, OTP_SENDING_PROCESS, &s.sender, sizeof s.sender))
        s.sender = 0;
    return s;
}

static __always_inline struct request_told request_sent(struct pt_regs *ctx, const struct otp_layout *layout,
                                                        __u32 which)
{
    struct request_send s = request_of_send(ctx, layout, which);
    struct request_told told = {0};
    struct request_message m = {0};

    request_read(s.message, &m);
    if (m.kind == REQUEST_CALL && which != REQUEST_AT_SEND_ALIAS)
        told = (struct request_told){s.receiver, m.number, s.receiver ? 0 : request_id(layout, s.to),
                                     request_id(layout, m.caller), REQUEST_SENT};
    else if (m.kind == REQUEST_REPLY && s.sender)
        told = (struct request_told){.process = s.sender, .number = m.number, .step = REQUEST_REPLIED};
    return told;
}

static __always_inline struct request_told request_received(const struct otp_layout *layout, __u64 process)
{
    __u64 save = 0, message = 0, term = 0;
    struct request_told told = {.process = process};
    struct request_message m = {0};

    if (otp_read(layout, process, OTP_PROC_SAVE, &save, sizeof save))
        return told;
    if (bpf_probe_read_user(&message, sizeof message, (void *)save) ||
        bpf_probe_read_user(&term, sizeof term, (void *)(message + OTP_MESSAGE_TERM))) {
        probe_lose(LOSS_BAD_ARG);
        return told;
    }
    request_read(term, &m);
    if (m.kind == REQUEST_NONE)
        return told;
    told.number = m.number;
    told.peer = m.kind == REQUEST_CALL ? request_id(layout, m.caller) : 0;
    told.step = m.kind == REQUEST_CALL ? REQUEST_TAKEN : m.kind == REQUEST_REPLY ? REQUEST_ANSWERED : REQUEST_DOWN;
    return told;
}

static __always_inline struct request_told request_left(struct pt_regs *ctx, __u64 process)
{
    __u64 ref = 0;

    bpf_probe_read_user(&ref, sizeof ref, (void *)FIXES_CTX_LOAD(ctx, si));
    return (struct request_told){.process = process, .number = request_number(ref), .step = REQUEST_ENDED};
}

SEC("uprobe")
int at_request__step(struct pt_regs *ctx)
{
    const struct otp_layout *layout = hook_layout(ctx);
    __u64 process = FIXES_CTX_LOAD(ctx, di);
    __u32 which = otp_which(ctx);
    struct request_told told;

    if (!layout)
        return 0;
    told = which < REQUEST_AT_RECEIVE    ? request_sent(ctx, layout, which)
           : which == REQUEST_AT_RECEIVE ? request_received(layout, process)
                                         : request_left(ctx, process);
    if (told.number)
        request_tell(ctx, layout, &told);
    return 0;
}

#endif
