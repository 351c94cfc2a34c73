/* SPDX-License-Identifier: Apache-2.0 */
/* What the parts of a session have in common: session.c, its life; session_pages.c, the pages of
 * VMs; session_about.c, what is told about its results. */
#ifndef TOOLS_SESSION_STATE_H
#define TOOLS_SESSION_STATE_H

#include "common/output.h"
#include "probe/budget.h"
#include "probe/watch.h"
#include "session.h"

struct batch_source;
struct batch_ring;

/*
 * LOOK, PAGES, TRAPS: pages of VMs, or events that become pages, may wait; LATE: all threads have told what belongs to
 * the result that was cut; COST: it is time to look at what watching costs; EARLY: to read what a long result has by
 * now; BEAT: for the beat of session_ops; HELD: a process of the command waits for us.
 */
enum source {
    SOURCE_SIGNAL,
    SOURCE_TARGET,
    SOURCE_TICK,
    SOURCE_SCAN,
    SOURCE_RING,
    SOURCE_LOOK,
    SOURCE_PAGES,
    SOURCE_TRAPS,
    SOURCE_LATE,
    SOURCE_COST,
    SOURCE_EARLY,
    SOURCE_BEAT,
    SOURCE_HELD,
    NSOURCES
};

struct session {
    const struct options *options;
    struct bpf_object_skeleton *skeleton;
    const struct session_ops *ops;
    void *ctx;
    struct output output;
    struct sink sink;
    struct watch watch;
    int epoll, fds[NSOURCES];
    struct batch_ring *ring; /* NULL: the object was not loaded */
    struct batch_source *pages; /* NULL: no VM that hands pages over was seen, and nothing is recorded */
    struct trap_source *traps;  /* NULL: no pages are made */
    uint64_t begin_ns, now_ns; /* of the result being counted: its begin; its end, once it is due */
    uint64_t results;          /* printed so far */
    uint64_t from_ns;          /* what pages tell of before does not count */
    uint64_t early_ns;         /* between two early reads */
    uint64_t cut_ns;           /* the end of a result whose last pages are still to come; 0: there is none */
    uint64_t turn, turn_ns; /* records read in this turn, and when it began */
    uint64_t end_cpu_ns;    /* of processor time, when no event of a page is told any more; 0: nobody waits yet */
    uint64_t left;          /* records that were not read before the end */
    uint64_t losses[SESSION_LOSSES]; /* as they were printed last */
    size_t nlosses;                              /* of these, in the result being printed */
    bool announced;
    bool ending; /* the loop is left: a result that was cut is still told, then the last */
    bool last;   /* the result being printed is the last */
    bool ended;  /* the VM has: why */
    struct budget budget;
    uint64_t watched_ns; /* in the results before this one */
    bool given_up; /* the budget was exceeded by far */
    char name[4096]; /* of the row being printed */
};

/* Whether the time of the result differs from what was asked for by more than a twentieth. */
bool session_is_off_pace(const struct session *s);
/* The budget took the probes away before the result being printed began, and they have not come back. */
bool session_was_left_alone(const struct session *s);
/* The loop is woken when `fd` can be read. Fails: said. */
int session_wait_for(const struct session *s, enum source source, int fd);
int session_set_timer(struct session *s, enum source source, uint64_t every_ns);
/* Whether what is still to be read is only counted: somebody waits for the end. */
bool session_is_late(const struct session *s);

/* As of struct watch_ops. */
bool session_serves_pages(void *ctx, const struct target *t);
int session_attach_pages(void *ctx, const struct target *t, int pid, bool noted);
int session_hook_traps(struct session *s, const struct target *t, const struct plan *plan, uint32_t slot);
/* Tells what no thread can add to any more; what comes behind a cut waits until its result is printed. */
int session_read_pages(struct session *s);
/* A VM has ended; its last pages are still read. */
void session_end_vm(struct session *s, int pid);
/* Nobody wants events any more. What threads still hold comes within a moment, unless they are gone. */
void session_drain_pages(struct session *s);
/* Before VMs are attached to; traps: there may be some that hand no pages over. Fails: said. */
int session_open_recorder(struct session *s, bool traps);

/* What is told about a result: what it cost, and what is not in it. */
int session_print_about(struct session *s, const struct budget_cost *cost);

#endif
