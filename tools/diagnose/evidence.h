/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What was seen of a VM in some seconds, by looking at its memory and at what the kernel says of its threads again and
 * again (a look); and beside it what views told of its events (counted.h). Looks probe nothing, and nothing stops.
 */
#ifndef TOOLS_EVIDENCE_H
#define TOOLS_EVIDENCE_H

#include <stdbool.h>
#include <stdint.h>

#include "blame.h"
#include "common/quota.h"
#include "common/table.h"
#include "contention.h"
#include "counted.h"
#include "otp/letters.h"
#include "otp/pending.h"
#include "otp/snapshot.h"
#include "otp/snapshot_tables.h"
#include "target/held_sends.h"
#include "tripwires.h"

struct names;
struct own_rules;

enum { EVIDENCE_BOXES = 8, EVIDENCE_BOX_MESSAGES = 100, EVIDENCE_CALLS = 10 };
enum { EVIDENCE_BINARIES = 128 << 10 /* bytes of binaries: a process that holds so many is worth remembering */ };
enum { EVIDENCE_TEXT = 200, EVIDENCE_HANGS_S = 2 /* a call that lasts so long hangs */ };

/*
 * A process that is worth remembering: it had messages, much memory, or did something. It is followed from then on, and
 * forgotten when it has ended, or has not been worth it for a while and was never suspended. What is counted is looks
 * since it was remembered.
 */
struct evidence_process {
    ev_id id;
    struct snapshot_process first, last;
    uint64_t first_ns; /* when it was remembered; it is there in the last look */
    uint64_t most_messages, least_messages;
    unsigned looks;
    unsigned running, runnable, waiting, suspended, collecting, exiting;
    unsigned grew;                 /* its mailbox was fuller than in the one before */
    unsigned kept;                 /* its first message was that of the one before */
    unsigned skipping;             /* it had passed over messages to find one */
    unsigned ignoring;             /* it waited although it had messages */
    unsigned stuck, longest_stuck; /* in a row, it ran and had ended no time slice since the one before */
    unsigned unrun, longest_unrun; /* in a row, it could run, and had ended no time slice since the one before */
    uint64_t same_ns; /* the first look since which its status is the same and it ended no time slice */
    struct letters calls;          /* in its mailbox, when some were read last */
    unsigned calls_read;           /* how often; once a second, of the EVIDENCE_BOXES fullest of as many messages */
    unsigned abandoned;            /* of these: nobody waited for half of EVIDENCE_CALLS calls or more at its front */
    unsigned seen, worth;          /* the numbers of the last looks in which it was there, and was worth it */
    UT_hash_handle hh;
};

/* Who has children that were born while we looked. */
struct evidence_parent {
    ev_id id;
    struct snapshot_process is;    /* itself, when it was seen last */
    bool lives;                    /* in the last look */
    uint64_t births, deaths;       /* of its children, between looks */
    struct snapshot_process child; /* the one of them that began with the least memory */
    UT_hash_handle hh;
};

/* A port that was busy, or full, in some look. */
struct evidence_port {
    ev_id id;
    struct snapshot_port last;
    uint64_t most_waiting; /* bytes */
    unsigned busy;         /* looks */
    UT_hash_handle hh;
};

/* An ETS table that is there in the last look. What is counted is looks since it was seen first. */
struct evidence_table {
    struct evidence_table_key {
        uint64_t address, numbers[3];
    } key;
    struct snapshot_table_info first, last;
    uint64_t first_ns; /* CLOCK_MONOTONIC: of the look in which it was seen first */
    bool is_new;       /* that was not the first of all */
    uint64_t waits;              /* samples of schedulers that waited for its lock: contention.h */
    unsigned looks, grew, fixed; /* grew: it had more rows than in the one before */
    unsigned seen;               /* the number of the last look in which it was there */
    UT_hash_handle hh;
};

/* A connection of the VM that was seen held in a look (target/held_sends.h), or another program's. */
struct evidence_held {
    uint32_t socket;
    bool is_ours;
    struct held_send last;
    unsigned looks;
    uint32_t most_ms;
    UT_hash_handle hh;
};

/* Who watches many others, as of the last reading of monitors. */
struct evidence_watcher {
    ev_id id;
    struct snapshot_process is;
    uint64_t first, last; /* how many */
    uint64_t first_ns;    /* CLOCK_MONOTONIC: of the reading in which there were that many first */
    unsigned readings, grew; /* grew: there were more than in the one before */
    unsigned seen;           /* the number of the look */
    UT_hash_handle hh;
};

/* Something that is under way in the last look, and was in all since the first in which it was seen. */
struct evidence_open {
    struct evidence_open_key {
        uint64_t kind, key, mark, what; /* what: a hash of the text: nodes have no key */
    } key;
    struct pending last;
    uint64_t first_ns, last_ns; /* CLOCK_MONOTONIC: of the first and the last look that it was in */
    UT_hash_handle hh;
};

/* The process that asks all others whether they still have literals that are to go. */
struct evidence_sweeper {
    ev_id id;             /* 0: it was not found */
    uint64_t first, last; /* reductions, in the first and the last look that saw it */
    uint64_t first_ns;    /* CLOCK_MONOTONIC: of that first */
    unsigned looks, worked; /* worked: it had more than in the one before */
};

/* Of all schedulers of a kind. */
struct evidence_schedulers {
    uint64_t n;
    uint64_t queued, most_queued; /* queued: the sum over all looks of what waited for them */
    ev_id one;                    /* that one of them ran in the last look; 0: none did */
    unsigned full;                /* looks in which each had a process */
    unsigned uneven;              /* looks in which one had a queue while another had nothing to do */
};

/* Of a look. */
struct evidence_moment {
    uint64_t ns; /* CLOCK_MONOTONIC */
    uint64_t processes, atoms, ports, tables;
    uint64_t memory;            /* bytes of all heaps */
    uint64_t resident;          /* bytes, of the whole program; 0: not known */
    uint64_t ran_ns, waited_ns; /* of the threads it has: on a processor, and for one */
    struct quota quota;
    bool has_ports, has_atoms, has_tables, has_quota, has_threads;
};

/* Of a process that was seen while it ended. */
struct evidence_end {
    struct snapshot_process is;
    unsigned looks;           /* in which it was ending */
    double seconds;           /* that those took */
    char name[EVIDENCE_TEXT]; /* of a stock one its pid: how it began is overwritten by then. Untrusted */
};

struct evidence {
    uint32_t vm;
    struct names *names;
    struct snapshot *snapshot; /* both the caller's */
    unsigned looks;
    struct evidence_moment first, last;
    uint64_t running; /* the sum over all looks of processes that ran or were being collected */
    /* looks in which there were more than in the one before */
    unsigned atoms_grew, processes_grew, ports_grew, tables_grew;
    uint64_t process_limit, atom_limit;              /* 0: not known */
    uint64_t unclear;                                /* processes whose memory made no sense, in all looks */
    uint64_t left;                                   /* what there was no room to remember */
    char no_quota[QUOTA_WHY_BYTES];                  /* why what a quota withholds is not known; "": it is */
    const char *halted;                              /* why no thread of it runs, as target_halt says; NULL: they may */
    const struct counted *counted; /* the caller's: what views told meanwhile; NULL: nothing, or not yet */
    struct own_rules *own; /* the caller's: a team's own rules; NULL: there are none */
    struct evidence_process *processes;
    struct evidence_parent *parents;
    struct evidence_end slowest_end; /* of those that have ended, too; looks 0: none was seen */
    struct evidence_port *ports;
    struct evidence_table *tables;
    struct evidence_open *open;
    struct evidence_watcher *watchers;
    struct evidence_held *held;
    unsigned held_looks;  /* in which connections were looked at */
    int sends;            /* what tells of connections; -1: not opened yet, or not to be had */
    char no_sends[HELD_SENDS_WHY_BYTES]; /* why connections are not known; "": they are */
    uint64_t next_sends_ns; /* CLOCK_MONOTONIC: when they may be looked at again */
    struct blame waits;   /* who waits for whom, once a second, with what was before */
    uint64_t waits_ns;    /* CLOCK_MONOTONIC: when that was read, and monitors; 0: it is not known */
    struct evidence_schedulers schedulers[3]; /* by enum snapshot_scheduler_type */
    bool has_schedulers, has_open[PENDING_NKINDS];
    struct evidence_sweeper sweeper;
    struct tripwires tripwires;
    bool samples; /* the caller's: schedulers may be sampled */
    struct contention contention;
    struct evidence_known *known; /* who lived at the last look */
    size_t nknown;
};

/* Both stay the caller's. Owns: evidence_free frees. NULL: out of memory. */
struct evidence *evidence_new(uint32_t vm, struct names *names, struct snapshot *snapshot);
void evidence_free(struct evidence *evidence);
/* Looks once more. Fails: as snapshot_processes; what was seen before stays. */
int evidence_look(struct evidence *evidence);
/* Seconds from the first look to the last; never 0. */
double evidence_seconds(const struct evidence *evidence);
/* What the VM's threads had between the first and the last look: seconds on processors, and waiting for one. False: not
 * known, as threads have ended meanwhile, too. */
bool evidence_threads(const struct evidence *evidence, double *ran, double *waited);

/* Who a process is, by name or else by its pid; where it stands. Returns `buf`. */
const char *evidence_name(const struct evidence *evidence, const struct snapshot_process *process,
                          char buf[EVIDENCE_TEXT]);
const char *evidence_place(const struct evidence *evidence, const struct snapshot_process *process,
                           char buf[EVIDENCE_TEXT]);
/* Where one of that pid stands: likewise. */
const char *evidence_place_of(const struct evidence *evidence, ev_id id, char buf[EVIDENCE_TEXT]);
/* The name by the pid: the table of processes is walked for one that is neither remembered nor a parent. */
const char *evidence_name_of(const struct evidence *evidence, ev_id id, char buf[EVIDENCE_TEXT]);
/* Whether it began by calling this: "m:f/1". */
bool evidence_began_as(const struct evidence *evidence, const struct snapshot_process *process, const char *function);
/* Whether it began as a supervisor. */
bool evidence_is_supervisor(const struct evidence *evidence, const struct evidence_parent *parent);
/* NULL: it is not remembered. */
const struct evidence_process *evidence_find(const struct evidence *evidence, ev_id id);

#endif
