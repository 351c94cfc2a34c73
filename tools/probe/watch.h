/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which VMs a session watches: one (-p), a command's (--), or all (-a), those too that start
 * later; and when a stock emulator is far enough to be hooked.
 */
#ifndef TOOLS_WATCH_H
#define TOOLS_WATCH_H

#include <time.h>

#include "attach.h"
#include "common/hold.h"
#include "common/options.h"
#include "executables.h"
#include "otp/names.h"
#include "planner.h"
#include "target/child.h"

struct watch_ops {
    /* A stock emulator was hooked, or an erlvm is to be read: its slot of the map "otp_layouts". Nonzero is a failure,
     * said, that ends the session. May be NULL. */
    int (*hooked)(void *ctx, const struct target *target, const struct plan *plan, uint32_t slot);
    /* A VM is attached to whose memory the names read, too. Nonzero is a failure, said. May be NULL. */
    int (*found)(void *ctx, const struct plan *plan);
    /* VMs that were watched have ended, or run another program. May be NULL. */
    void (*ended)(void *ctx, const struct vm_set *vms);
    void *ctx;
    bool hooks_only; /* as of plan_new */
    /* Whether the session attaches to this target itself. NULL: to each, with `attach`. */
    bool (*serves)(void *ctx, const struct target *target);
    /* Attaches in place of the plan: returns how many sites, 0 or a failure, said, but for -ESRCH: the process has
     * ended. `pid` -1: all that run the file, if `noted` they are attached to already. NULL: to none. */
    int (*attach)(void *ctx, const struct target *target, int pid, bool noted);
};

/* A VM that was looked at. */
struct watch_process {
    struct target_life life;
    bool watched;
};

struct watch {
    const struct options *options;
    struct watch_ops ops;
    struct attach attach;
    struct names *names;
    struct child child; /* pid 0: none */
    struct hold hold;   /* what it starts, until a VM of it is attached to */
    int held_err;       /* a failure, said, to attach to what was held */
    struct target only; /* the one target, when it was known before the load; elf NULL: it was not */
    struct plan *plan;  /* of it */
    struct target_life life; /* of it, when it ran before us; pid 0: it did not */
    int pid;            /* of the VM that was attached to last */
    bool halted;        /* it was said that a VM is stopped */
    struct timespec since;
    int vms;            /* how many files or processes are watched */
    bool waits;         /* for the VM: it is not found, or not far enough */
    uint64_t turn_end_ns; /* of a look at all: what it does not come to then is left to the next; 0: nothing is */
    bool cut_short;       /* the last look was */
    bool blind;           /* it could not read /proc */
    struct planner planner; /* of VMs that a look found */
    uint32_t named;         /* the VM that is attached to, whose names came with its plan; 0: they did not */
    int found, passed; /* found: the last of them; passed: where a look ended for want of room; 0: at the end */
    uint64_t dropped_ns;  /* when those that have ended were looked for last */
    struct executables files; /* with -a, as what follows */
    struct watch_process *processes;
    size_t nprocesses;
};

/* Whether there are as many descriptors as looking at processes takes; with -a as many as may be. Fails: said. */
int watch_require_files(const struct options *options);
/* That, and that /proc gives processes the ids that the kernel gives us. Fails: said. */
int watch_require(const struct options *options);
/* Finds the only target, and starts the command, which waits. Owns: watch_close frees, after a failure too. Fails:
 * said. */
int watch_open(struct watch *w, const struct options *options, const struct watch_ops *ops);
/* Before the programs are loaded. */
void watch_prepare(struct watch *w, struct bpf_object *object);
/* Four times as many processes as the only target has now, or as many as it may have; 0: that is not known. */
uint64_t watch_processes(const struct watch *w);
/* Attaches to what there is. Fails: said. */
int watch_begin(struct watch *w);
/*
 * Lets the command go: it, and what it starts, is held each time it becomes a VM until that is attached to. Fails:
 * said.
 */
int watch_release(struct watch *w);
/* The descriptor that can be read when watch_see_held is to be called; -1: none. */
int watch_held_fd(const struct watch *w);
int watch_see_held(struct watch *w);
/* To be called every watch_interval_ns while that is not 0. Fails: said. */
int watch_again(struct watch *w);
uint64_t watch_interval_ns(const struct watch *w);
/* Whether the only target runs another program than the one that was looked at: it called exec. */
bool watch_replaced(const struct watch *w);
/* To be called now and then: that a VM which is watched is stopped, and tells nothing, is said when that begins. */
void watch_notify_halt(struct watch *w);
/*
 * Calls `vm` for each VM that is, or is about to be, watched; with -a those that ended since the last look among them.
 */
void watch_each_life(const struct watch *w, void (*vm)(void *ctx, const struct target_life *life), void *ctx);
/* The process whose end is the end of watching; 0: none. */
int watch_end(const struct watch *w);
/* Calls `vm` for each VM that was found and runs; watched: else it is one that cannot be. */
void watch_each(const struct watch *w, void (*vm)(void *ctx, const struct target_life *life, bool watched), void *ctx);
/* Detaches from one of all VMs, for good. False: its probes are those of others too. */
bool watch_leave(struct watch *w, int pid);
/* Detaches from everything. */
void watch_stop(struct watch *w);
void watch_close(struct watch *w);

#endif
