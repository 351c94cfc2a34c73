/* SPDX-License-Identifier: Apache-2.0 */
/* A run of erlsnoop report: what it was asked, and what was read by now of the recordings. */
#ifndef TOOLS_REPORT_STATE_H
#define TOOLS_REPORT_STATE_H

#include <stdio.h>

#include "common/options.h"
#include "diagnose_asked.h"
#include "recording/recording_read.h"
#include "recording/recording_seen.h"
#include "report_counts.h"
#include "sink/sink.h"
#include "source/feed.h"
#include "view/result.h"
#include "view/wanted.h"

enum { REPORT_FILES = 1024, REPORT_VMS = 1024 /* so many at most */ };
#define REPORT_UNKNOWN_NS UINT64_MAX
/* So long without a page is a gap: threads hand over all that they hold far sooner. */
#define REPORT_GAP_NS 2000000000ull

struct report_state {
    const char *files[REPORT_FILES];
    uint64_t begins[REPORT_FILES]; /* when the first page of each came; REPORT_UNKNOWN_NS: of none is it known */
    size_t nfiles;
    struct recording_seen *seen; /* pages that may stand in a later file, too */
    bool follows; /* no page of the file has come, and it goes on where the one before it ends */
    uint64_t next_ns, repeated; /* when the file begins that is read next; pages that were left out */
    struct wanted wanted;
    bool chosen; /* words chose what is wanted */
    struct view_order order;      /* of the views that were asked for */
    bool on[VIEW_COUNT], viewed; /* views were asked for: the events are theirs */
    bool diagnoses; /* what those tell is asked for, and nothing else */
    struct diagnose_asked asked_of; /* the diagnosis */
    bool differs;   /* what became of findings between two files */
    FILE *out;      /* that results go to */
    __u64 slowest[VIEW_NSLOWEST]; /* as of struct view_settings */
    const struct options *options;
    struct sink sink;
    struct feed *feed;
    struct open_shares shares;
    struct recording_vm vms[REPORT_VMS];
    size_t nvms;
    struct wanted asked; /* what the recordings are of */
    struct wanted held; /* what those are of that were read by now */
    bool held_known;
    struct wanted unavailable; /* what some VM in them does not tell */
    bool asked_unknown;  /* of one that does not tell, or is no file that can be read twice */
    struct report_counts counts;
    uint64_t interval_ns; /* that a result of views covers; 0: all of it */
    uint64_t begin_ns;    /* of the first result, 0: not known yet; then of the next one */
    uint64_t now_ns;      /* the latest page that was taken */
    const char *slower, *top; /* as given; NULL: not */
    unsigned by;              /* enum view_by */
    struct recording_lost lost; /* in the kernel, and by the writer, of all files */
    bool damaged;
};

#endif
