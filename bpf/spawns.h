/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Records and maps of `erlsnoop spawns`, for both sides.
 */
#ifndef BPF_SPAWNS_H
#define BPF_SPAWNS_H

#include "wire.h"

enum { SPAWNS_BIRTH = 1, SPAWNS_DEATH = 2 };

enum { SPAWNS_SIDES = 2 };

/* Slots of the map "totals", of each side. */
enum {
    SPAWNS_TOTAL_BIRTHS,
    SPAWNS_TOTAL_DEATHS,
    SPAWNS_TOTAL_STRANGERS, /* deaths of processes whose birth was not seen */
    SPAWNS_NTOTALS
};

/* Value of "counts_0" and "counts_1", by side: how many births with this MFA, deaths with this reason. */
struct spawns_count {
    __u64 count;
    struct wire_name name;
};

/* One for each birth and death, when asked for. */
struct spawns_record {
    struct wire_header header;
    struct wire_pid pid;
    __u32 lived; /* 1: lifetime_ns is known */
    __u64 lifetime_ns;
    struct wire_name name; /* the MFA of a birth, the reason of a death */
};

#endif
