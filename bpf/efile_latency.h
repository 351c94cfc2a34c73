/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Records and maps of `erlsnoop efile`, for both sides.
 */
#ifndef BPF_EFILE_LATENCY_H
#define BPF_EFILE_LATENCY_H

#include "wire.h"

enum { EFILE_LATENCY_OP = 1 };
enum { EFILE_PATH_BYTES = 160, EFILE_TAG_BYTES = 48, EFILE_INTS = 4 };

/* Slots of the map "totals". */
enum {
    EFILE_STARTED,
    EFILE_ENDED,
    EFILE_STRANGERS, /* ends whose start was not seen */
    EFILE_NTOTALS
};

/*
 * One operation of one VM. A stock emulator has no tags: its operations go by the thread of the operating system that
 * does one at a time.
 */
struct efile_key {
    __u64 tag; /* EFILE_NO_TAG: there is none */
    __u32 vm, thread;
};
#define EFILE_NO_TAG (~0ull)

/* Key and value of "by_op". */
struct efile_op_key {
    __u32 vm, command;
};

struct efile_op {
    __u64 errors;
    __u64 queued_count;       /* those whose time queued is known */
    __u64 queued_ns, work_ns; /* sums */
    struct wire_hist total;   /* last, because all but its last word only grows */
};
enum { EFILE_OP_ADDITIVE = sizeof(struct efile_op) / 8 - 1 };

/* Its story. Times: CLOCK_MONOTONIC ns, 0 when that step was not seen. */
struct efile_story {
    __u64 entry_ns, work_ns, worked_ns, return_ns;
    __u32 command, success, err;
    __u32 known; /* bit i: ints[i] was read */
    __s64 ints[EFILE_INTS];
    char s1[EFILE_PATH_BYTES], s2[EFILE_PATH_BYTES];
    char user_tag[EFILE_TAG_BYTES], port[32];
    struct wire_pid pid; /* of the process that asked for it; all 0: not known */
    __u32 pad;
    struct wire_name owner; /* what that is called */
};

/* Value of "slowest", which has two sides: the operations that took the longest, in no order. */
enum { EFILE_SLOWEST = 32 };

struct efile_slow {
    __u64 total_ns; /* 0: there is none */
    __u32 taken, pad; /* it is being written */
    struct efile_key key;
    struct efile_story story;
};

struct efile_slowest {
    __u64 floor_ns; /* the least of them: what took no longer is none of them */
    struct efile_slow at[EFILE_SLOWEST];
};

struct efile_record {
    struct wire_header header;
    struct efile_key key;
    struct efile_story story;
};

/* The functions of a stock emulator: the number of each is `which` of its hooks. */
enum efile_hook {
#define EFILE_HOOK(symbol, command, other, regs, s1, s2, i1, i2, i3, i4, result) EFILE_HOOK_##symbol,
#include "efile_hooks.def"
    EFILE_NHOOKS
};

#endif
