/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Events of notes and hooks one by one, with their names and texts in them: what programs of bpf/trap.bpf.c hand to
 * tools/source/trap_source.c.
 *   struct trap_<probe>   a record: struct trap_head, then each argument in the form of its unit
 * Invariant: an argument that was not asked for is zeros.
 */
#ifndef BPF_TRAP_H
#define BPF_TRAP_H

#include "wire.h"

enum {
    TRAP_RING_BYTES = 16 << 20,
    TRAP_RING_WAKE_BYTES = 1 << 20, /* so much waiting wakes the reader, who otherwise looks every TRAP_RING_LOOK_MS */
    TRAP_RING_LOOK_MS = 20,
    TRAP_THREADS = 16384, /* of which it is known how many events they told */
};

#define TRAP_NAME_UNKNOWN (~0ull)

struct trap_head {
    struct wire_header header; /* kind: enum batch_event */
    __u32 thread;              /* as the kernel knows it */
    __u32 tells;               /* enum ev_tells */
    __u64 before;              /* events that the thread told before, those lost among them */
    __u64 registered; /* of the process of the event: the index of its name, or label; WIRE_NO_ATOM: it has none;
                                * TRAP_NAME_UNKNOWN: that is not told */
};

/* struct name_text of name.bpf.h: what follows the bytes in use is not set. */
struct trap_name {
    __u64 words[WIRE_NAME_BYTES / 8];
    __u32 form, used;
};

struct trap_text {
    __u64 bytes; /* without the NUL behind them */
    char text[PROBE_TEXT_BYTES];
};

/* Value of the map "threads", by the kernel's pid_tgid. */
struct trap_thread {
    __u64 told; /* events, those lost among them */
    __u32 vm, pad;
};

typedef struct trap_name trap_form_mfa;
typedef struct trap_name trap_form_term;
typedef struct trap_name trap_form_node;
typedef struct trap_name trap_form_module;
typedef struct trap_text trap_form_text;
typedef __u64 trap_form_pid;
typedef __u64 trap_form_caller;
typedef __u64 trap_form_port;
typedef __u64 trap_form_name;
typedef __u64 trap_form_words;
typedef __u64 trap_form_bytes;
typedef __u64 trap_form_frames;
typedef __u64 trap_form_count;
typedef __u64 trap_form_ns;
typedef __u64 trap_form_flag;
typedef __u64 trap_form_errno;
typedef __u64 trap_form_efile_op;
typedef __u64 trap_form_none;

struct trap_nothing {
    struct trap_head head;
#define PROBE(probe, family, nargs, watch, text)                                                   \
    }                                                                                              \
    ;                                                                                              \
    struct trap_##probe {                                                                          \
        struct trap_head head;
#define PROBE_RANGE(prefix, family, nargs, first, last, text) PROBE(prefix, family, nargs, NOTHING, text)
#define ARG(probe, index, arg, type, unit) trap_form_##unit arg;
#include "../vm/probes.def"
};

#endif
