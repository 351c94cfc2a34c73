/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What the recording program keeps, for both sides. */
#ifndef TESTS_PROBES_RECORD_H
#define TESTS_PROBES_RECORD_H

#include "wire.h"

enum { RECORD_TEXT = 64 };

/* A site, as its slot in "sites" tells. */
struct record_site {
    __u32 strings; /* bit i: argument i is a string */
    __u32 key_arg; /* firings are counted by this argument */
};

/* Firings are counted by site and the text of the key argument (of a number: its decimal digits are not made, but its 8 bytes). */
struct record_key {
    __u32 site;
    char text[RECORD_TEXT];
};

struct record_count {
    __u64 count;
    __u64 values[BATCH_MAX_ARGS]; /* of the last firing */
    char texts[BATCH_MAX_ARGS][RECORD_TEXT];
};

#endif
