/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The life of a subcommand that watches: targets, load, attach, results at intervals, signals,
 * the end. Written once.
 *
 *   skel = x__open();  set its own rodata;
 *   err = session_run(&o, skel ? skel->skeleton : NULL, &ops, ctx);
 *   x__destroy(skel);
 *
 * Every program named for a probe (attach.h) is attached to each target as its plan says.
 */
#ifndef TOOLS_SESSION_H
#define TOOLS_SESSION_H

#include "common/options.h"
#include "otp/names.h"
#include "probe/plan.h"
#include "probe/vm_maps.h"
#include "sink/sink.h"
#include "source/feed.h"
#include "source/trap_source.h"
#include "target/target.h"

struct session;
struct recorder;
struct bpf_object_skeleton;

struct session_ops {
    /* A record of the ring buffer; may be NULL. */
    void (*record)(void *ctx, struct session *s, const struct wire_header *rec, size_t size);
    /* A result is due: print to session_sink. Called after the detach for the last. Fails: -errno. */
    int (*result)(void *ctx, struct session *s);
    /* A stock emulator was hooked: its slot of the map "otp_layouts". Fails: -errno, said. May be NULL. */
    int (*hooked)(void *ctx, struct session *s, const struct target *target, const struct plan *plan, uint32_t slot);
    /* A VM is attached to, and session_names read its memory. Fails: -errno, said. May be NULL. */
    int (*found)(void *ctx, struct session *s, const struct plan *plan);
    /* Before the load; processes: as many as the target may have, 0: not known. May be NULL. */
    void (*opened)(void *ctx, uint64_t processes);
    /* Events were missed: what is open, such as a wait whose end may be among them, is to be forgotten. May be NULL. */
    void (*missed)(void *ctx, struct session *s);
    /* VMs that were watched have ended. May be NULL. */
    void (*ended)(void *ctx, struct session *s, const struct vm_set *vms);
    /*
     * A result ends now, and is asked for BATCH_MERGE_PATIENCE_NS later: what happens from here on belongs to the next.
     * NULL without a feed.
     */
    void (*cut)(void *ctx, struct session *s);
    /*
     * From time to time while a long result is counted, ten times a second to once, the more often the fuller its
     * tables are: what was counted so far may be read. Returns how full they were, in percent. Fails: -errno. May be
     * NULL.
     */
    int (*early)(void *ctx, struct session *s);
    /*
     * Called once every probe is on, and again as many nanoseconds after it has returned as it returned; 0 ends the
     * session. May be NULL.
     */
    uint64_t (*beat)(void *ctx, struct session *s);
    struct feed *feed; /* the caller's: takes the pages of VMs that hand some over; NULL: programs watch these too */
    /* The caller's: pages go there too, and other VMs' events are made pages; the object is not loaded. NULL: nothing
     * is recorded. */
    struct recorder *recorder;
    bool notes_only;   /* VMs that hand pages over are not asked for them */
    bool pages_only;   /* other VMs are refused, or with -a left alone, and nothing is loaded for them */
    bool silent;       /* nothing is printed: `result` takes what there is, losses too */
    bool aside;        /* what is told about a result goes to standard error: the result is read by a program */
    bool hooks_only;   /* no notes of a stock emulator: programs read its memory */
    unsigned needs;    /* of the kernel by the object, beyond what every command needs: a bit for each of kernel.h */
    uint64_t clock_hz; /* how often programs clock_<name> run, on each CPU; 0: there are none */
};

/*
 * Loads the opened skeleton, which stays the caller's, unless the feed serves all that is watched. Returns 0 or a
 * failure that was said.
 */
int session_run(const struct options *options, struct bpf_object_skeleton *skeleton,
                const struct session_ops *ops, void *ctx);

struct sink *session_sink(struct session *s);
/* Whether the skeleton was loaded: whether there may be records and maps. */
bool session_loaded(const struct session *s);
/* File descriptor of a map of the object; aborts when the name is wrong. */
int session_map(struct session *s, const char *name);
/* Calls `program` with the descriptor of each program that is loaded. */
void session_each_program(struct session *s, void (*program)(void *ctx, int fd), void *ctx);
/* Calls `loss` with what was not counted since the beginning, for each reason in the same order every time. */
void session_each_loss(struct session *s, void (*loss)(void *ctx, const char *why, uint64_t total), void *ctx);
enum { SESSION_LOSSES = WIRE_NLOSSES + TRAP_LOSSES + FEED_LOSSES }; /* of these at most */
/* The value of a per-CPU array's slot, summed over CPUs word by word. Fails: -errno. */
int session_read_percpu(struct session *s, const char *map, uint32_t slot, uint64_t *out, size_t words);
/* As of watch_each. */
void session_each_vm(struct session *s, void (*vm)(void *ctx, const struct target_life *life, bool watched), void *ctx);
/*
 * What happens from now on is counted in the other side, 0 or 1. Returns the one that was counted in, which nobody
 * changes any more.
 */
uint32_t session_change_sides(volatile uint32_t *side);
/* A name that a program sent, as untrusted text; good until the next. */
const char *session_name(struct session *s, uint32_t vm, const struct wire_name *name);
struct names *session_names(struct session *s);
/* Empties a hash; nothing where the object did not make it. */
void session_forget(struct session *s, const char *map);
/* What watching was and took since the beginning, up to the result being printed. */
struct session_cost {
    uint64_t watched_ns; /* with probes; less than what went by where the budget took them away */
    double share;        /* of the result's time, that was watched */
    bool known;          /* a budget is kept: else the rest is zero */
    uint64_t ns, hits;   /* processor time of the VMs, an estimate: programs and traps; how often probes were hit */
};
void session_cost(const struct session *s, struct session_cost *out);
/* Seconds of the result being printed: that there were probes, and all, as pages of events have no gaps. */
double session_seconds(const struct session *s);
/* When the result ends, or now while it is read early. */
uint64_t session_now_ns(const struct session *s);
double session_whole_seconds(const struct session *s);
/* The VM that is watched, where that is one which ran before. */
uint32_t session_vm(const struct session *s);
/* Whether the result being printed is the last: the VM has ended (which session_vm_ended tells), or we are told to. */
bool session_ends(const struct session *s);
bool session_vm_ended(const struct session *s);
/* There were no probes for all of the result being printed, and no VM tells by pages: there is nothing to print. */
bool session_saw_nothing(const struct session *s);

#endif
