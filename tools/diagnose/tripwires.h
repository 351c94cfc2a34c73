/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Invariants that hold in a VM that is well, whatever it has to do, as looks (evidence.h) see them broken. None of them
 * is about how much there is of something: what is said here is wrong on an idle VM and on one that has all hands full.
 */
#ifndef TOOLS_TRIPWIRES_H
#define TOOLS_TRIPWIRES_H

#include <stdbool.h>
#include <stdint.h>

#include "otp/snapshot.h"

struct evidence;

enum { TRIPWIRE_TEXT = 200, TRIPWIRE_LEAST_S = 1 /* what is broken for so long is told */ };

/* A scheduler whose thread sleeps in the kernel while processes wait in its run queue. Texts are untrusted. */
struct tripwire_sleep {
    double seconds; /* that it slept, and one of these had no turn; 0: none was seen */
    uint32_t scheduler;
    uint64_t queued;
    char victim[TRIPWIRE_TEXT]; /* the one that could run for longest */
    ev_id holder;               /* the process that sleeps in it; 0: none */
    char holder_name[TRIPWIRE_TEXT], place[TRIPWIRE_TEXT]; /* of that */
};

/* A purge of code that does not end. */
struct tripwire_purge {
    double seconds; /* 0: none was seen */
    ev_id process;  /* that cannot answer; 0: none, the purger asks again and again */
    double mute;    /* seconds for which it could not */
    char name[TRIPWIRE_TEXT], place[TRIPWIRE_TEXT]; /* of that */
    uint64_t reductions, processes; /* what the purger executed, for so many processes */
};

struct tripwires {
    struct tripwire_scheduler {
        int thread;              /* 0: not found */
        int inner;               /* of an erlvm: that thread, as struct snapshot_scheduler has it */
        uint64_t ran_ns, sleeps; /* of it, in the last look */
        uint64_t since_ns;       /* the first of the looks in a row that found it asleep over work; 0: it is not */
        uint64_t queued;
        ev_id running;
        unsigned seen; /* the number of the last look in which it had work */
    } *schedulers;     /* by number, from 1 */
    size_t nschedulers;
    unsigned named;          /* how many looks there were when threads were sought by their names */
    bool was_read;           /* what some thread does was read */
    const char *no_sleepers; /* why it is not known which sleep; NULL: it is */

    ev_id purger; /* 0: it was not found */
    struct snapshot_process purger_is;
    bool purger_seen;            /* in this look */
    uint64_t request;            /* the reference of the purge that it is at; 0: it is at none */
    uint64_t request_ns;         /* when that was seen first */
    uint64_t request_reductions; /* what the purger had executed by then */

    struct tripwire_sleep asleep; /* the longest */
    struct tripwire_purge purge;  /* likewise */
};

/* In each look: each process; each scheduler; and when all else was looked at. Fails: -ENOMEM. */
void tripwires_see_process(struct evidence *evidence, const struct snapshot_process *process);
int tripwires_see_scheduler(struct evidence *evidence, const struct snapshot_scheduler *scheduler, uint64_t now_ns);
void tripwires_end_look(struct evidence *evidence, uint64_t now_ns);
void tripwires_free(struct tripwires *tripwires);

#endif
