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
__noinline int erlpid_parse(const struct erlpid_text *text, struct wire_pid *out)
{
    __u64 part = 0, done[2] = {0, 0};
    __u32 dots = 0, digits = 0;

    if (!text || !out || text->bytes[0] != '<')
        return -1;
    for (int i = 1; i < WIRE_PID_TEXT; i++) {
        __u32 c = (__u8)text->bytes[i];

        if (c - '0' <= 9) {
            part = part * 10 + (c - '0');
            digits++;
            if (part >> 32)
                return -1;
            continue;
        }
        if (!digits)
            return -1;
        if (c == '>' && dots == 2) {
            out->node = done[0];
            out->id = done[1];
            out->serial = part;
            return 0;
        }
        if (c != '.' || dots == 2)
            return -1;
        if (dots == 0)
            done[0] = part;
        else
            done[1] = part;
        dots++;
        part = digits = 0;
    }
    return -1;
}

/* Pid argument `index`. Fails: counts the loss and returns nonzero. */
static __always_inline int erlpid_arg(struct pt_regs *ctx, const struct wire_spec *spec,
                                      __u32 index, struct wire_pid *pid)
{
    struct erlpid_text text;

    if (probe_string(ctx, spec, index, text.bytes, sizeof text.bytes))
        return -1;
    if (erlpid_parse(&text, pid)) {
        probe_lose(LOSS_BAD_PID);
        return -1;
    }
    return 0;
}

#endif
