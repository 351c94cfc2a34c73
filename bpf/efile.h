/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What is known of one file operation, for both sides; and the functions of a stock emulator that do them.
 */
#ifndef BPF_EFILE_H
#define BPF_EFILE_H

#include "event.h"

enum { EFILE_PATH_BYTES = 160, EFILE_TAG_BYTES = 48, EFILE_INTS = 4 };

/*
 * {thread, tag} names an operation of a VM. A stock emulator has no tags: its operations go by the thread of the
 * operating system, which does one at a time, from when that begins with it.
 */
#define EFILE_NO_TAG (~0ull)

/* Times: CLOCK_MONOTONIC ns, 0 when that step was not seen. Texts and owner are there only when somebody prints
 * them. */
struct efile_story {
    __u64 tag;
    __u32 thread, success, err;
    __u32 known; /* bit i: ints[i] was told */
    __u64 entry_ns, work_ns, worked_ns, return_ns;
    __u64 command;
    ev_id pid; /* who asked for it; 0: not known */
    __s64 ints[EFILE_INTS];
    char s1[EFILE_PATH_BYTES], s2[EFILE_PATH_BYTES];
    char user_tag[EFILE_TAG_BYTES];
    struct wire_name owner; /* what that is called; an empty text: not known */
};

/* The functions of a stock emulator: the number of each is `which` of its hooks. */
enum efile_hook {
#define EFILE_HOOK(symbol, command, other, regs, s1, s2, i1, i2, i3, i4, result) EFILE_HOOK_##symbol,
#include "efile_hooks.def"
    EFILE_NHOOKS
};

#endif
