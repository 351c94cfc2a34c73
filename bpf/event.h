/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Events: struct ev_<probe> for each row of probes.def, the form in which every source (notes, hooks on a stock
 * emulator, batches of erlvm, recordings) hands an event on, and in which every view takes it. One word an argument, in
 * the form of its unit in erlvm's batches (vm/batch_format.h), so that a record of a batch is its event. Nobody else
 * knows where arguments stand.
 *
 * What costs something to read (texts, and the names of sources that have no numbers for them) is not read before a
 * view asks: the word then says where the source finds it, and is good while the event is handled. For BPF programs and
 * for user space. Invariant: an argument that no view of the session reads may be unset.
 */
#ifndef BPF_EVENT_H
#define BPF_EVENT_H

#include "wire.h"

enum {
    EV_ID_BITS = 28, /* of the number of a process */
    EV_NO_ATOM = BATCH_NO_ATOM, /* in a function: a module or name that is not known */
};

/*
 * An atom, a function or a term by number. The numbers belong to the VM of the event: together with it they are the key
 * of a table.
 */
typedef __u64 ev_id;   /* nobody, process, port, name: enum batch_identity in bits 63..60 */
typedef __u64 ev_node; /* or a module: an atom's index + 1; 0: none; or EV_LATER_NODE */
/* bits 63..62 zero: module's index in bits 57..33, function's in bits 32..8, arity in bits 7..0. 0: unknown */
typedef __u64 ev_mfa;
typedef __u64 ev_term; /* enum batch_shape in bits 63..56, and what goes with it */

/*
 * A function, node or term that is to be read when asked for: these bits are not all zero, and the others are the
 * source's own. No key.
 */
#define EV_LATER_MFA (3ull << 62)
#define EV_LATER_TERM (0x80ull << 56)
#define EV_LATER_NODE (1ull << 63)

/*
 * Where a text stands, for whoever knows the source: in erlsnoop's memory, or in the VM's, which BPF programs read.
 * Untrusted: any bytes.
 */
struct ev_text {
    __u64 bytes; /* EV_TEXT_UNKNOWN: up to its NUL, which is there; EV_TEXT_OURS: likewise; else without one */
    __u64 at;    /* an address */
};
#define EV_TEXT_UNKNOWN (~0ull)
#define EV_TEXT_OURS (~0ull - 1) /* it stands in the memory of the program that made the event */

/* Of message__arrive. */
enum message_origin {
#define MESSAGE_ORIGIN(number, name, text) MESSAGE_FROM_##name = number,
#include "../vm/probes.def"
};

/* Of request__step. */
enum request_step {
#define REQUEST_STEP(number, name, text) REQUEST_##name = number,
#include "../vm/probes.def"
};

static inline __u64 ev_request_mix(__u64 hash, __u64 word)
{
    hash = (hash ^ word) * 0x9e3779b97f4a7c15ull; /* 2^64 by the golden ratio */
    return hash ^ hash >> 29;
}

/* What request__step of a stock emulator calls a call by, whose reference begins with this word behind its header. */
static inline __u64 ev_request_number(__u64 word)
{
    return ev_request_mix(0, word) | 1;
}

/* Of ets__start and ets__end. */
enum ets_operation {
#define ETS_OPERATION(number, name, word, text) ETS_OPERATION_##name = number,
#include "../vm/probes.def"
};

/* An integer argument of a file operation that the source does not tell. */
#define EV_NO_NUMBER (-0x7fffffffffffffffll - 1)

/* A size in words that the source does not tell: as notes say it (vm/probes.def: message__queued). */
#define EV_NO_WORDS 0xffffffffu

/* Opens every event. */
struct ev_head {
    __u64 time_ns; /* CLOCK_MONOTONIC; 0: now, as view_ns() tells */
    __u32 vm;      /* operating system's pid of the VM, in erlsnoop's pid namespace */
    __u16 event;   /* enum batch_event: which of the structs below */
    __u8 side;     /* of tables that are written while their other side is read; the engine's own */
    __u8 tells;    /* enum ev_tells */
    __u64 where;   /* the source's own: where it finds more of the process that the event is about; 0: nowhere */
};

/* What a source tells beside the arguments. */
enum ev_tells {
    EV_TELLS_RUNNING = 1, /* whether the process that a message goes to runs just then: nobody need follow who runs */
    EV_RUNS = 2,          /* with it: that process runs */
};

/* What the memory of a VM says of who a process is. */
enum ev_owner {
    EV_OWNER_KNOWN,
    EV_OWNER_BEGINS,  /* that proc_lib runs it, but not yet what it is to do, or not any more */
    EV_OWNER_UNKNOWN,
};

/* The form of each unit of probes.def. */
typedef ev_id ev_form_pid;
typedef ev_id ev_form_caller;
typedef ev_id ev_form_port;
typedef ev_id ev_form_name; /* a process or a registered name */
typedef ev_node ev_form_node;
typedef ev_node ev_form_module;
typedef ev_mfa ev_form_mfa;
typedef ev_term ev_form_term;
typedef struct ev_text ev_form_text;
typedef __u64 ev_form_words;
typedef __u64 ev_form_bytes;
typedef __u64 ev_form_frames;
typedef __s64 ev_form_count;
typedef __u64 ev_form_ns;
typedef __s64 ev_form_flag;
typedef __s64 ev_form_errno;
typedef __s64 ev_form_efile_op;
typedef __s64 ev_form_none;

/* A row of a probe ends the struct before it and opens its own, which the rows of its arguments fill. */
struct ev_none {
    struct ev_head head;
#define PROBE(probe, family, nargs, watch, text)                                                   \
    }                                                                                              \
    ;                                                                                              \
    struct ev_##probe {                                                                            \
        struct ev_head head;
#define PROBE_RANGE(prefix, family, nargs, first, last, text) PROBE(prefix, family, nargs, NOTHING, text)
#define ARG(probe, index, arg, type, unit) ev_form_##unit arg;
#include "../vm/probes.def"
};

/* The most texts that a probe has: an argument takes a word of its struct, a text two. */
union ev_texts {
#define PROBE(probe, family, nargs, watch, text)                                                   \
    char probe[(sizeof(struct ev_##probe) - sizeof(struct ev_head)) / sizeof(__u64) - (nargs)];
#define PROBE_RANGE(prefix, family, nargs, first, last, text) PROBE(prefix, family, nargs, NOTHING, text)
#include "../vm/probes.def"
};
enum { EV_MAX_TEXTS = sizeof(union ev_texts) };

/* Room for any of them. */
union ev_any {
    struct ev_head head;
#define PROBE(probe, family, nargs, watch, text) struct ev_##probe probe;
#define PROBE_RANGE(prefix, family, nargs, first, last, text) struct ev_##prefix prefix;
#include "../vm/probes.def"
};

/* ---- processes, ports and names */

static inline enum batch_identity ev_id_kind(ev_id id)
{
    return (enum batch_identity)(id >> 60);
}

static inline ev_id ev_id_of_pid(__u32 number, __u32 serial)
{
    return (__u64)BATCH_PID << 60 | (__u64)serial << EV_ID_BITS | (number & ((1u << EV_ID_BITS) - 1));
}

static inline ev_id ev_id_of_port(__u64 number)
{
    return (__u64)BATCH_PORT << 60 | number;
}

static inline __u32 ev_id_number(ev_id id)
{
    return id & ((1u << EV_ID_BITS) - 1);
}

/* Of a process; of one of another node (BATCH_REMOTE) what stands there is the index of the node's name. */
static inline __u32 ev_id_serial(ev_id id)
{
    return (__u32)(id >> EV_ID_BITS);
}

/* Of a process: as programs of views keep it. */
static inline struct wire_pid ev_id_wire(ev_id id)
{
    return (struct wire_pid){0, ev_id_number(id), ev_id_serial(id)};
}

/* Of a port or a name: its number, the atom's index. */
static inline __u64 ev_id_rest(ev_id id)
{
    return id & ((1ull << 60) - 1);
}

/* ---- functions */

static inline ev_mfa ev_mfa_of_atoms(__u64 module, __u64 function, __u32 arity)
{
    return module << (BATCH_INDEX_BITS + 8) | function << 8 | arity;
}

static inline __u32 ev_mfa_module(ev_mfa mfa)
{
    return mfa >> (BATCH_INDEX_BITS + 8) & ((1u << BATCH_INDEX_BITS) - 1);
}

static inline __u32 ev_mfa_function(ev_mfa mfa)
{
    return mfa >> 8 & ((1u << BATCH_INDEX_BITS) - 1);
}

static inline __u32 ev_mfa_arity(ev_mfa mfa)
{
    return mfa & 0xff;
}

/* ---- terms */

/* holders: enum batch_holder, 8 bits each, the outermost lowest. value: an atom's index, or a small integer. */
static inline ev_term ev_term_of(enum batch_shape shape, __u32 holders, __u32 value)
{
    return (__u64)shape << 56 | (__u64)holders << 32 | value;
}

static inline enum batch_shape ev_term_shape(ev_term term)
{
    return (enum batch_shape)(term >> 56);
}

static inline enum batch_holder ev_term_holder(ev_term term, int depth)
{
    return (enum batch_holder)(term >> (32 + 8 * depth) & 0xff);
}

static inline __u32 ev_term_atom(ev_term term)
{
    return (__u32)term;
}

static inline __s32 ev_term_small(ev_term term)
{
    return (__s32)term;
}

#endif
