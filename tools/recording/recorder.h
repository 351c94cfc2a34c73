/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A recording while VMs are watched: pages go to the file as they come, with the names of who was there before.
 *
 *   struct recorder r = {.plan.files = 2};  recorder_options;  recorder_check(&r);
 *   recorder_begin(&r, name);  recorder_learn, recorder_owners of each VM;
 *   recorder_page, recorder_look again and again;  recorder_end(&r, ...);
 */
#ifndef TOOLS_RECORDER_H
#define TOOLS_RECORDER_H

#include "common/options.h"
#include "otp/owners.h"
#include "recording_write.h"
#include "sink/sink.h"
#include "view/unavailable.h"

enum { RECORDER_VMS = 1024, RECORDER_NOPTIONS = 5 };

/* A VM of which pages came. */
struct recorder_vm {
    uint32_t vm;
    bool hands, closed; /* the pages over itself; and told that no thread holds anything any more */
};

struct recorder {
    struct recording_plan plan; /* path NULL: nothing is recorded */
    struct wanted wanted;       /* what it is a recording of */
    const char *name;           /* of a VM that cannot be looked at any more */
    struct recording_writer *writer; /* NULL: it has not begun */
    struct unavailable unavailable;
    struct recorder_vm vms[RECORDER_VMS]; /* that the recording knows by name, the last so many */
    size_t nvms;
    const char *kept; /* why the file holds what it does, which the end is not to replace; NULL: it does not */
    int err;          /* of writing; 1: the recording is as long as it may be */
    uint64_t begun_ns;
};

/* -o, --max-size, --max-time, --files, --ring, for options whose ctx begins with a struct recorder. */
extern const struct options_extra recorder_options[RECORDER_NOPTIONS];
/* What the options ask for together. Fails: FAIL_USAGE, said. */
int recorder_check(const struct recorder *r, const char *command);
/* name: as of struct recorder; stays the caller's. Fails: said. recorder_end frees, after a failure too. */
int recorder_begin(struct recorder *r, const char *name);
/* The time that is covered begins now. */
void recorder_start(struct recorder *r);
/* What a VM that was hooked does not tell. Fails: -ENOMEM, said. */
int recorder_learn(struct recorder *r, uint32_t vm, const struct plan *plan);
/* Who its processes are, by its memory. Fails: as of owners_read. */
int recorder_owners(struct recorder *r, const struct target *t);
/* The same of somebody else's reading, then recording_owners_known. As of struct owners_ops. */
int recorder_atom(void *recorder, uint32_t vm, uint64_t index, const char *text, size_t bytes);
int recorder_owner(void *recorder, uint32_t vm, ev_id id, const struct wire_name *name);
/* handed: by the VM itself, else it was made of its events. What fails stands in r->err. */
void recorder_page(struct recorder *r, const struct batch_received *received, bool handed);
/* Of a VM that has ended: whether all that its threads held came, as it does unless it was killed. */
bool recorder_is_whole(struct recorder *r, uint32_t vm);
/* A VM has ended: what is known of it goes. */
void recorder_end_vm(struct recorder *r, uint32_t vm);
/*
 * To be called now and then; lost: pages that could not be received, since the beginning. Writes memory where a signal
 * (SIGUSR1) asked for it. What fails stands in r->err.
 */
void recorder_look(struct recorder *r, uint64_t lost);
/* Writes what memory holds, if it is kept there. What cannot be written now may be written later: no failure. */
void recorder_dump(struct recorder *r, const char *why);
/* Writes what waits, and the end; vm_ended: that is why. Prints what it came to, unless sink is NULL. What fails stands
 * in r->err. */
void recorder_end(struct recorder *r, bool vm_ended, struct sink *sink);

#endif
