/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The contract between BPF programs and user space: records, histograms, losses, and where
 * the arguments of a probe stand. Needs __u8 .. __s64, uint32_t and uint64_t defined by the includer.
 * Invariant: fixed sizes, no implicit padding, the same for both sides.
 */
#ifndef BPF_WIRE_H
#define BPF_WIRE_H

#include "../vm/batch_format.h"

enum {
    WIRE_PID_TEXT = 32,   /* bytes of "<node.id.serial>" with its NUL, at most */
    WIRE_NAME_BYTES = 96, /* an MFA or a reason: NUL-terminated, zero-filled, cut */
    WIRE_HIST_STEPS = 8,    /* slots to a power of two */
    WIRE_HIST_STEP_BITS = 3,
    WIRE_HIST_SLOTS = (48 - WIRE_HIST_STEP_BITS + 1) * WIRE_HIST_STEPS, /* values up to 2^48: 78 hours in nanoseconds */
    WIRE_MAX_SPECS = 4096,
};

/* <node.id.serial>; node is 0 for a local process. */
struct wire_pid {
    __u32 node, id, serial;
};

/* A process of one VM: the key of everything that is kept by process. */
struct wire_proc {
    __u32 vm; /* operating system's pid of the VM, in erlsnoop's pid namespace */
    struct wire_pid pid;
};

/* How a name is known; what is not text becomes text in user space. */
enum wire_form {
    WIRE_TEXT,   /* as the VM printed it: untrusted bytes */
    WIRE_MFA,    /* words: indices of the atoms of module and function, arity */
    /* words: an address in loaded code, 0 when it could not be read; how often code had been purged by then, which lets
     * others take its place */
    WIRE_CODE,
    /* words: its shape, the atom's index or the integer, the tuples and lists that it is first in (8 bits each, the
     * outermost lowest) */
    WIRE_REASON,
    WIRE_PROCESS, /* words: a process, ev_id of event.h */
    /* words: a port, ev_id of event.h, and from the second word on its name as the VM printed it, terminated: untrusted
     * bytes */
    WIRE_PORT_NAME,
    /* words: the name of a callback, terminated, in 16 bytes, and from the third word on that of its driver,
     * terminated: untrusted bytes */
    WIRE_CALLBACK,
    WIRE_NODE, /* words: the index of the atom that is the name of a node, which is told without quotes */
    /* words: as of WIRE_REASON, the shape WIRE_ATOM, and from the fourth word on the atom as the VM printed it, not
     * terminated: untrusted bytes */
    WIRE_REASON_TEXT,
    /* words: what is done to a table, a number of ETS_OPERATION of vm/probes.def, and the index of the atom that is the
     * table's name */
    WIRE_TABLE,
    /* words: the same number, and from the second word on the name as the VM printed it, terminated: untrusted bytes */
    WIRE_TABLE_TEXT,
    WIRE_LABEL, /* words: as of WIRE_REASON, the label of a process, where names of processes come one by one */
};

/* What a reason is, or the first element of its tuple or list. */
enum wire_shape {
#define WIRE_SHAPE_ENUM(name, text) WIRE_##name,
    BATCH_SHAPES(WIRE_SHAPE_ENUM)
#undef WIRE_SHAPE_ENUM
};

enum wire_holder {
    WIRE_NO_HOLDER,
#define WIRE_HOLDER_ENUM(name, before, behind) WIRE_##name,
    BATCH_HOLDERS(WIRE_HOLDER_ENUM)
#undef WIRE_HOLDER_ENUM
};

enum {
    WIRE_REASON_TEXT_BYTES = 72, /* of an atom: cut */
    WIRE_CALLBACK_BYTES = 16,
};

#define WIRE_NO_ATOM 0xffffffffull /* the index of what is no atom */

struct wire_name {
    __u64 form;
    union {
        char text[WIRE_NAME_BYTES];
        __u64 words[WIRE_NAME_BYTES / 8];
    };
};

/* What is counted by text: the key of a map whose value holds the text. */
struct wire_name_key {
    __u32 vm, kind;
    __u64 hash;
};

/* Opens every record of the ring buffer; kind is the subcommand's own, from 1. */
struct wire_header {
    __u64 time_ns; /* CLOCK_MONOTONIC */
    __u32 vm;
    __u32 kind;
};

/* A name that is no text is announced when it is first seen, so that it becomes text before its code is gone. */
enum { WIRE_RESOLVE = 0 };

struct wire_resolve {
    struct wire_header header;
    struct wire_name name;
};

/*
 * Log-linear: values below 2 * WIRE_HIST_STEPS have a slot each, above that each power of two is cut into
 * WIRE_HIST_STEPS slots of one width. The middle of a slot is then never further than 1/16 from a value in it. The last
 * slot takes what is larger too.
 */
struct wire_hist {
    __u64 slots[WIRE_HIST_SLOTS];
    __u64 count, sum, max;
    /* user space's: by how much the time told in a result differs from the sum; of so many shares of open spans */
    __u64 shared, shares;
};

/* What was not counted, and why: LOSS(name, text). */
#define WIRE_LOSSES(LOSS)                                                                          \
    LOSS(RING_FULL, "ring buffer full")                                                            \
    LOSS(MAP_FULL, "map full")                                                                     \
    LOSS(BAD_ARG, "unreadable argument")                                                           \
    LOSS(BAD_PID, "argument is no pid")                                                            \
    LOSS(LATE, "not read before the end") /* counted by the reader of the ring buffer */

enum wire_loss {
#define WIRE_LOSS_ENUM(name, text) LOSS_##name,
    WIRE_LOSSES(WIRE_LOSS_ENUM)
#undef WIRE_LOSS_ENUM
    WIRE_NLOSSES
};

/* Registers as the notes name them, in the order of the encoding of x86-64. */
#define WIRE_REGS(REG)                                                                             \
    REG(0, ax) REG(1, cx) REG(2, dx) REG(3, bx) REG(4, sp) REG(5, bp) REG(6, si) REG(7, di)        \
    REG(8, r8) REG(9, r9) REG(10, r10) REG(11, r11) REG(12, r12) REG(13, r13) REG(14, r14)         \
    REG(15, r15) REG(16, ip)

enum { WIRE_NO_REG = 255 };

enum wire_arg_kind { WIRE_ARG_NONE, WIRE_ARG_CONST, WIRE_ARG_REG, WIRE_ARG_MEM };

/* CONST: offset. REG: reg. MEM: what stands at reg + index * scale + offset. */
struct wire_arg {
    __u8 kind, reg, index, scale;
    __u8 shift;     /* 64 - bits of the value */
    __u8 is_signed;
    __u8 pad[2];
    __s64 offset;
};

/* One probe site; its position in the map "specs" is the cookie of the attachment. */
struct wire_spec {
    struct wire_arg args[BATCH_MAX_ARGS];
};

/* Read-only settings of the session, in section .rodata.session of every object. */
struct wire_config {
    __u64 pidns_dev, pidns_ino; /* erlsnoop's pid namespace; 0: it is the initial one */
    __u32 vm;                   /* the only VM watched; 0: any */
    __u32 pad;
};

#endif
