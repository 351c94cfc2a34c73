/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Records and maps of `erlsnoop msglat`, for both sides.
 */
#ifndef BPF_MSG_SCHED_H
#define BPF_MSG_SCHED_H

#include "wire.h"

enum { MSG_SCHED_WAKE = 1 };

/* Slots of the map "totals". */
enum {
    MSG_SCHED_SENT,    /* messages */
    MSG_SCHED_WOKEN,   /* receivers scheduled with messages waiting: one latency each */
    MSG_SCHED_RUNNING, /* messages to a process that ran just then: no wait to measure */
    MSG_SCHED_NTOTALS
};

/* Value of "by_mfa", by where the receiver resumed. */
struct msg_sched_mfa {
    struct wire_hist latencies;
    struct wire_name mfa;
};

/* One for each latency, when asked for. */
struct msg_sched_record {
    struct wire_header header;
    struct wire_pid pid;
    __u32 messages; /* that waited */
    __u64 latency_ns; /* of the first of them */
    struct wire_name mfa;
};

#endif
