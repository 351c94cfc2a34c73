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

#include "options.h"
#include "sink.h"
#include "names.h"
#include "plan.h"
#include "target.h"

struct session;
struct bpf_object_skeleton;

struct session_ops {
    /* A record of the ring buffer; may be NULL. */
    void (*record)(void *ctx, struct session *s, const struct wire_header *rec, size_t size);
    /* A result is due: print to session_sink. Called after the detach for the last. Fails: -errno. */
    int (*result)(void *ctx, struct session *s);
    /* A stock emulator was hooked: its slot of the map "otp_layouts". Fails: -errno, said. May be NULL. */
    int (*hooked)(void *ctx, struct session *s, const struct target *target, const struct plan *plan, uint32_t slot);
    /* Before the load; processes: as many as the target may have, 0: not known. May be NULL. */
    void (*opened)(void *ctx, uint64_t processes);
    /* A VM that was watched has ended. May be NULL. */
    void (*ended)(void *ctx, struct session *s, int pid);
    bool hooks_only;   /* no notes of a stock emulator: programs read its memory */
    uint64_t clock_hz; /* how often programs clock_<name> run, on each CPU; 0: there are none */
};

/* Loads the opened skeleton, which stays the caller's. Returns 0 or a failure that was said. */
int session_run(const struct options *options, struct bpf_object_skeleton *skeleton,
                const struct session_ops *ops, void *ctx);

struct sink *session_sink(struct session *s);
/* File descriptor of a map of the object; aborts when the name is wrong. */
int session_map(struct session *s, const char *name);
/* The value of a per-CPU array's slot, summed over CPUs word by word. Fails: -errno. */
int session_read_percpu(struct session *s, const char *map, uint32_t slot, uint64_t *out, size_t words);
/* A name that a program sent, as untrusted text; good until the next. */
const char *session_name(struct session *s, uint32_t vm, const struct wire_name *name);
struct names *session_names(struct session *s);
/* Seconds that the result being printed covers. */
double session_seconds(const struct session *s);

#endif
