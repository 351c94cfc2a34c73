/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Pids from the strings that probes carry. Invariant: only "<node.id.serial>" in decimal,
 * each part below 2^32, is a pid; all else is counted as a loss.
 */
#ifndef BPF_ERLPID_BPF_H
#define BPF_ERLPID_BPF_H

#include "probe.bpf.h"

struct erlpid_text {
    char bytes[WIRE_PID_TEXT];
};

/* Global, so that the verifier checks it once and not at each use. 0 when text is a pid. */
FIXES_GLOBAL int erlpid_parse(const struct erlpid_text *text, struct wire_pid *out)
{
    __u64 part = 0, node = 0, id = 0;
    __u32 dots = 0, start = 1;

    if (!text || !out || text->bytes[0] != '<')
        return -1;
    for (__u32 i = 1; i < WIRE_PID_TEXT; i++) {
        __u32 c = (__u8)text->bytes[i], digit = c - '0';

        if (digit <= 9) {
            part = part * 10 + digit;
            continue;
        }
        if (i - start - 1 > 9 || part >> 32) /* 1 to 10 digits, so that part did not wrap */
            return -1;
        if (c == '.' && dots < 2) {
            node = id;
            id = part;
            part = 0;
            dots++;
            start = i + 1;
            continue;
        }
        if (c != '>' || dots != 2 || i + 1 == WIRE_PID_TEXT || text->bytes[i + 1])
            return -1;
        out->node = node;
        out->id = id;
        out->serial = part;
        return 0;
    }
    return -1;
}

/* Pid argument `index` of probe `id`. Fails: counts the loss and returns nonzero. */
static __always_inline int erlpid_arg(struct pt_regs *ctx, enum probe_id id, __u32 index,
                                      struct wire_pid *pid)
{
    struct erlpid_text text;
    __u64 at;

    if (probe_arg(ctx, id, index, &at))
        return -1;
    /* one copy; a string just before the end of a mapping needs the slower read */
    if (bpf_probe_read_user(text.bytes, sizeof text.bytes, (void *)at) &&
        bpf_probe_read_user_str(text.bytes, sizeof text.bytes, (void *)at) < 0) {
        probe_lose(LOSS_BAD_ARG);
        return -1;
    }
    if (erlpid_parse(&text, pid)) {
        probe_lose(LOSS_BAD_PID);
        return -1;
    }
    return 0;
}

#endif
