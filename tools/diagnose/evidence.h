/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What was seen of a VM in some seconds, by looking at its memory and at what the kernel says of its threads again and
 * again (a look). Nothing is probed and nothing stops.
 */
#ifndef TOOLS_EVIDENCE_H
#define TOOLS_EVIDENCE_H

#include <stdbool.h>
#include <stdint.h>

#include "common/quota.h"
#include "common/table.h"
#include "otp/pending.h"
#include "otp/snapshot.h"

struct names;

/* A process that was worth remembering in some look: it had messages, much memory, or did something. */
struct evidence_process {
    ev_id id;
    struct snapshot_process first, last;
    uint64_t most_messages, least_messages, most_memory; /* memory in bytes */
    unsigned looks;                                      /* in which it was remembered; from the first such on in all */
    unsigned running, runnable, waiting, suspended, collecting, exiting; /* looks */
    unsigned grew;                 /* looks in which its mailbox was fuller than in the one before */
    unsigned skipping;             /* looks in which it had passed over messages to find one */
    unsigned stuck, longest_stuck; /* looks in a row in which it ran and had ended no slice since the one before */
    unsigned kept; /* looks in which its first message was that of the look before */
    unsigned ignoring;             /* looks in which it waited although it had messages */
    unsigned seen;                 /* the number of the last look that it was in */
    UT_hash_handle hh;
};

/* Who has children that were born while we looked. */
struct evidence_parent {
    ev_id id;
    uint64_t births;
    struct snapshot_process child; /* the last of them */
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

/* Something that was under way in some look, and how long it lasted at most. */
struct evidence_open {
    struct evidence_open_key {
        uint64_t kind, key, mark;
    } key;
    struct pending last;
    uint64_t first_ns, last_ns; /* CLOCK_MONOTONIC: of the first and the last look that it was in */
    unsigned looks;
    UT_hash_handle hh;
};

/* Of all schedulers of a kind. */
struct evidence_schedulers {
    uint64_t n;
    uint64_t queued, most_queued; /* queued: the sum over all looks of what waited for them */
    uint64_t running;             /* of how many of them had a process */
    unsigned full;                /* looks in which each had one */
    unsigned uneven;              /* looks in which one had a queue while another had nothing to do */
};

/* Of a look, or of the first and the last one. */
struct evidence_moment {
    uint64_t ns; /* CLOCK_MONOTONIC */
    uint64_t processes, atoms, ports;
    uint64_t messages, memory, binaries; /* of all processes: messages, bytes of heaps, bytes of binaries */
    uint64_t resident;                   /* bytes, of the whole program */
    uint64_t ran_ns, waited_ns;          /* of all its threads: on a processor, and for one */
    struct quota quota;
    bool has_ports, has_atoms, has_quota, has_threads;
};

struct evidence {
    uint32_t vm;
    struct names *names;
    struct snapshot *snapshot; /* both the caller's */
    unsigned looks;
    struct evidence_moment first, last;
    uint64_t running; /* the sum over all looks of processes that ran or were being collected */
    uint64_t births, deaths;                         /* between looks */
    unsigned atoms_grew, processes_grew, ports_grew; /* looks in which there were more than in the one before */
    uint64_t process_limit, atom_limit;              /* 0: not known */
    uint64_t unclear;                                /* processes whose memory made no sense, in all looks */
    const char *halted;                              /* why no thread of it runs, as target_halt says; NULL: they may */
    struct evidence_process *processes;
    struct evidence_parent *parents;
    struct evidence_port *ports;
    struct evidence_open *open;
    struct evidence_schedulers schedulers[3]; /* by enum snapshot_scheduler_type */
    bool has_schedulers, has_open[PENDING_NKINDS];
    struct evidence_known *known; /* who lived at the last look */
    size_t nknown;
};

/* Both stay the caller's. Owns: evidence_free frees. NULL: out of memory. */
struct evidence *evidence_new(uint32_t vm, struct names *names, struct snapshot *snapshot);
void evidence_free(struct evidence *evidence);
/* Looks once more. Fails: as snapshot_processes. */
int evidence_look(struct evidence *evidence);
/* Seconds from the first look to the last; never 0 once there were two. */
double evidence_seconds(const struct evidence *evidence);

#endif
