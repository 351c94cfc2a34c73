/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Events from notes: note_<probe>(ctx, &event) reads the arguments that views of the session want. Nonzero when one
 * that is a number cannot be read, which is counted: there is no such event then.
 */
#ifndef BPF_NOTE_BPF_H
#define BPF_NOTE_BPF_H

#include "erlpid.bpf.h"
#include "hits.bpf.h"
#include "view_event.bpf.h"

/* Bit i: argument i of the probe is read by a view. */
SHARED const volatile __u32 event_wanted[PROBE_NIDS] SEC(".rodata.events");

static __always_inline ev_id note_id(const struct wire_pid *pid)
{
    ev_id id = ev_id_of_pid(pid->id, pid->serial);

    return pid->node ? (__u64)BATCH_REMOTE << 60 | (__u64)pid->node << EV_ID_BITS | ev_id_number(id) : id;
}

static __always_inline int note_pid(struct pt_regs *ctx, enum probe_id id, __u32 index, ev_id *out)
{
    struct wire_pid pid = {0};

    if (erlpid_arg(ctx, id, index, &pid))
        return -1;
    *out = note_id(&pid);
    return 0;
}

/* What is no pid is nobody. Not inlined: an event with a caller has many arguments on the stack. */
static __noinline __attribute__((unused)) ev_id note_caller_at(__u64 at)
{
    struct erlpid_text text = {{0}};
    struct wire_pid pid = {0};

    if (bpf_probe_read_user_str(text.bytes, sizeof text.bytes, (void *)at) < 0 || erlpid_parse(&text, &pid))
        return 0;
    return note_id(&pid);
}

static __always_inline int note_caller(struct pt_regs *ctx, enum probe_id id, __u32 index, ev_id *out)
{
    __u64 at = 0;

    *out = probe_arg(ctx, id, index, &at) ? 0 : note_caller_at(at);
    return 0;
}

static __always_inline int note_mfa(struct pt_regs *ctx, enum probe_id id, __u32 index, ev_mfa *out)
{
    __u64 at = 0;

    probe_arg(ctx, id, index, &at);
    *out = view_later_mfa(at);
    return 0;
}

static __always_inline int note_term(struct pt_regs *ctx, enum probe_id id, __u32 index, ev_term *out)
{
    __u64 at = 0;

    probe_arg(ctx, id, index, &at);
    *out = view_later_term(at);
    return 0;
}

static __always_inline int note_node(struct pt_regs *ctx, enum probe_id id, __u32 index, ev_node *out)
{
    __u64 at = 0;

    probe_arg(ctx, id, index, &at);
    *out = view_later_node(at);
    return 0;
}

static __always_inline int note_text(struct pt_regs *ctx, enum probe_id id, __u32 index, struct ev_text *out)
{
    out->bytes = EV_TEXT_UNKNOWN;
    out->at = 0;
    probe_arg(ctx, id, index, &out->at);
    return 0;
}

static __always_inline int note_number(struct pt_regs *ctx, enum probe_id id, __u32 index, __u64 *out)
{
    return probe_arg(ctx, id, index, out);
}

/*
 * "#Port<node.number>", both in decimal; what is no port of this node is nobody. Global, so that the verifier checks it
 * once and not at each use.
 */
FIXES_GLOBAL __u64 note_port_at(__u64 at)
{
    struct erlpid_text text = {{0}};
    __u64 part = 0;
    __u32 dots = 0;

    if (bpf_probe_read_user_str(text.bytes, sizeof text.bytes, (void *)at) < 0) {
        probe_lose(LOSS_BAD_ARG);
        return 0;
    }
    if (text.bytes[0] != '#' || text.bytes[1] != 'P' || text.bytes[5] != '<')
        return 0;
    for (__u32 i = 6; i < WIRE_PID_TEXT; i++) {
        __u32 c = (__u8)text.bytes[i], digit = c - '0';

        if (digit <= 9) {
            part = (part * 10 + digit) & ((1ull << 60) - 1);
            continue;
        }
        if (c == '.' && !dots && !part) {
            dots = 1;
            continue;
        }
        return c == '>' && dots ? ev_id_of_port(part) : 0;
    }
    return 0;
}

static __always_inline int note_port(struct pt_regs *ctx, enum probe_id id, __u32 index, ev_id *out)
{
    __u64 at = 0;

    *out = probe_arg(ctx, id, index, &at) ? 0 : note_port_at(at);
    return 0;
}

/* Names: no view reads them from a note yet. */
static __always_inline int note_other(struct pt_regs *ctx, enum probe_id id, __u32 index, __u64 *out)
{
    *out = 0;
    return 0;
}

#define NOTE_pid note_pid
#define NOTE_caller note_caller
#define NOTE_mfa note_mfa
#define NOTE_term note_term
#define NOTE_text note_text
#define NOTE_port note_port
#define NOTE_node note_node
#define NOTE_module note_node
#define NOTE_name note_other
#define NOTE_words note_number
#define NOTE_bytes note_number
#define NOTE_frames note_number
#define NOTE_count note_number
#define NOTE_ns note_number
#define NOTE_flag note_number
#define NOTE_errno note_number
#define NOTE_efile_op note_number
#define NOTE_none note_number

/* A range of probes has no row in enum probe_id, and no views. */
enum { PROBE_ID_user_trace__n = 0 };

static __always_inline int note_none(void)
{
#define PROBE(probe, family, nargs, watch, text)                                                   \
    return 0;                                                                                      \
    }                                                                                              \
    static __always_inline int note_##probe(struct pt_regs *ctx, struct ev_##probe *ev)            \
    {
#define PROBE_RANGE(prefix, family, nargs, first, last, text) PROBE(prefix, family, nargs, NOTHING, text)
#define ARG(probe, index, arg, type, unit)                                                         \
    if (event_wanted[PROBE_ID_##probe] & 1 << index && NOTE_##unit(ctx, PROBE_ID_##probe, index, (void *)&ev->arg)) \
        return -1;
#include "../vm/probes.def"
    return 0;
}

/* The program of a probe's note: hands the event, `ev`, to the includer's `tell`. What nobody asked for is zeros. */
#define NOTE_PROGRAM(probe, tell)                                                                  \
    SEC("uprobe")                                                                                  \
    int on_##probe(struct pt_regs *ctx)                                                            \
    {                                                                                              \
        __u32 vm = probe_runs ? probe_vm() : 0;                                                 \
        struct ev_##probe ev = {};                                                                 \
                                                                                                   \
        if (!vm)                                                                                   \
            return 0;                                                                              \
        hits_count(vm);                                                                            \
        if (note_##probe(ctx, &ev))                                                                \
            return 0;                                                                              \
        view_begin(&ev.head, vm);                                                                  \
        tell;                                                                                      \
        return 0;                                                                                  \
    }

#endif
