/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Records and maps of `erlsnoop stacks`, for both sides.
 */
#ifndef BPF_STACKS_H
#define BPF_STACKS_H

#include "wire.h"

enum { STACKS_SAMPLE = 1, STACKS_NEW = 2 };

/*
 * What stacks can be counted at: EVENT(name, probe). The function hooked for gc_minor__start does major collections
 * too.
 */
#define STACKS_EVENTS(EVENT)                                                                       \
    EVENT(spawn, process__spawn)                                                                   \
    EVENT(send, message__send)                                                                     \
    EVENT(file, efile_drv__entry)                                                                  \
    EVENT(gc, gc_minor__start)

/* Notes of an erlvm that tell the same events as one of these. */
#define STACKS_NOTES(EVENT)                                                                        \
    EVENT(gc, gc_major__start)

enum {
    STACKS_FRAMES = 64,  /* of a stack that is counted in the kernel */
    STACKS_WORDS = 512,  /* of each stack that is looked at */
    STACKS_BELOW = 8,    /* of a native stack, words below its pointer */
    STACKS_SLACK = 128,  /* of them, those looked at before where the top of an erlvm's stack was last stored */
    STACKS_KERNEL = 32,
    STACKS_COMM = 16,
    STACKS_NO_PROCESS = 256,
    STACKS_NREGS = 16,
};

/* Who a stack belongs to: what it can be grouped and filtered by. */
struct stacks_owner {
    __u32 vm;
    struct wire_pid pid; /* all 0 unless asked for, or when no process runs */
    __u32 registered;    /* atom's index, or WIRE_NO_ATOM */
    /* initial call, atoms' indices; module WIRE_NO_ATOM: the process exits, or with arity STACKS_NO_PROCESS there is
     * none */
    __u32 module, function, arity;
    __u32 runnable, pad; /* 1: it was off the CPU and could run */
};

/* Key of "threads": a thread by the base of its thread-local storage, which OTP keeps as the scheduler's tid. */
struct stacks_thread_key {
    __u64 fs_base;
    __u32 vm, pad;
};

struct stacks_thread {
    __u64 scheduler; /* address of its ErtsSchedulerData; 0: it is none */
    __u64 top;       /* where the C stack begins when Erlang code calls C; 0: not known */
    __u32 slot, pad; /* of "otp_layouts" */
};

/* Key and value of "stacks". */
struct stacks_key {
    struct stacks_owner owner;
    __u64 hash; /* of the frames */
    __u64 purges; /* of code, when the stack was seen: from the next on another function may have a frame's address */
};

struct stacks_value {
    __u64 count, sum_ns;
    __u64 nframes;
    __u64 frames[STACKS_FRAMES]; /* code addresses, the leaf first; some may be dead words */
};

/* A stack that came into the map, so that it is named while its code is there. */
struct stacks_new {
    struct wire_header header;
    struct stacks_key key;
    __u64 nframes;
    __u64 frames[STACKS_FRAMES];
};

/* What a CPU did when the clock ticked. Words are copies of memory from the address named on. */
struct stacks_sample {
    struct wire_header header;
    struct stacks_owner owner;
    char comm[STACKS_COMM]; /* of the thread */
    __u64 regs[STACKS_NREGS], ip; /* of user mode, in the order of WIRE_REGS */
    __u64 stop, hend; /* of the process; hend 0: no process */
    __u64 process, resume; /* of an erlvm: its address, and where it resumes, as last stored */
    __u64 purges; /* of code, by then */
    __u64 native_at, erlang_at;
    __u32 nnative, nerlang, nkernel;
    __u32 is_stored; /* of an erlvm: in its loop `resume` and `stop` hold, and not what registers do */
    __u32 on_erlang; /* the stack pointer stood on the process's stack */
    __u64 kernel[STACKS_KERNEL];
    __u64 native[STACKS_WORDS];
    __u64 erlang[STACKS_WORDS];
};

#endif
