/* SPDX-License-Identifier: Apache-2.0 */
/* Files: every operation goes entry (scheduler) → worker (async pool) → return (scheduler), named {thread, tag}. One
 * that is sure not to wait, as for a file that is known to be missing, is worked on the scheduler.
 * Invariant: each operation that entered returns once; without a caller (the owner of a file died) it returns on the
 * pool. A file in use by one operation is used by no other. */
#ifndef VM_IO_EFILE_H
#define VM_IO_EFILE_H

#include <sys/stat.h>

#include "heap/refbin.h"
#include "io/async.h"
#include "io/byte_queue.h"
#include "proc/process.h"

/* Command numbers and the meaning of s1, s2, i1..i4: the EFILE_OP rows of probes.def. */
enum efile_command {
#define EFILE_OP(number, op, s1, s2, i1, i2, i3, i4) EFILE_##op = number,
#include "probes.def"
};

/* Modes of an open file: the numbers of OTP 25's prim_file. */
enum {
	EFILE_MODE_READ = 1,
	EFILE_MODE_WRITE = 2,      /* alone it truncates */
	EFILE_MODE_APPEND = 4,
	EFILE_MODE_EXCLUSIVE = 8,
	EFILE_MODE_SYNC = 16,
	EFILE_MODE_SKIP_TYPE_CHECK = 32,
	EFILE_MODE_DIRECTORY = 128,
	EFILE_MODE_FROM_FD = 256,
};

enum efile_state { EFILE_IDLE, EFILE_BUSY, EFILE_CLOSE_PENDING, EFILE_CLOSED };

/* An open file. Owns: its descriptor; a reference to itself until it is closed. Closed when its owner dies. */
struct efile {
	struct resource resource; /* first */
	_Atomic uint32_t state;   /* enum efile_state */
	int fd;
	uint32_t modes;
	Term owner;
	_Atomic(struct efile *) next; /* files of owners with the same hash; efile lock */
	_Atomic(struct efile *) *prev; /* NULL: in no list */
};
extern const struct resource_type efile_type;

struct efile_name {
	struct efile_name *next;
	size_t n;
	char text[];
};

/* One operation. Its operands are what the entry probe shows: s[] and i[]. Owns: everything it points to. */
struct efile_job {
	struct async_job async;   /* first */
	atomic_int refs;          /* the pool and the caller */
	atomic_bool done;
	bool returned;            /* the return probe's moment is over */
	Process *process;         /* counted; NULL: nobody waits */
	enum efile_command command;
	enum efile_command told;  /* what probes call it; READ_LINE is a READ */
	unsigned thread;
	uint64_t tag;
	char *user_tag;           /* NULL when no probe asked */
	struct efile *file;       /* counted, or NULL */
	char *s[2];               /* NULL when unused */
	int64_t i[4];
	struct byte_queue bytes;  /* to write */
	Term (*reply)(Process *p, struct efile_job *job);
	/* results */
	int error;                /* errno, 0 for success */
	int64_t result;           /* new position; bytes; descriptor */
	struct binary *data;
	size_t data_bytes;
	bool end_of_file;
	struct efile_name *names;
	struct stat info;
	int access;               /* bit 0 readable, bit 1 writable */
};

/* port: the pseudo port that stands for the file driver in the probes. */
void efile_init(Term port);

/* A new operation, without operands. file: NULL for operations on names; its state must have been taken by
 * efile_acquire. Takes: nothing (it counts the file). */
struct efile_job *efile_job_new(enum efile_command command, struct efile *file);
/* Drops an operation that was never submitted. */
void efile_job_drop(struct efile_job *job);
/* Runs it, on the pool unless it is quick; `reply(p, job)` then makes the BIF's result on p's heap when job->error is
 * 0; errors become {error, Posix}. Takes: the job. Returns what the BIF has to return. */
Term efile_submit(Process *p, struct efile_job *job, Term (*reply)(Process *p, struct efile_job *job));

/* IDLE → BUSY. Fails: false when the file is closed (or used by another process). */
bool efile_acquire(struct efile *file);
/* BUSY → IDLE, or the close that was put off. For callers of efile_acquire that submit no operation. */
void efile_release(struct efile *file);
/* IDLE → CLOSED, and off its owner's list: the caller then submits CLOSE. */
bool efile_acquire_close(struct efile *file);
/* The open file for a descriptor, owned by p's process. Takes: fd. Owns: the open file owns itself until it is
 * closed. */
struct efile *efile_new(Process *p, int fd, uint32_t modes);
/* For process_at_exit: closes p's files. */
void efile_process_exit(Process *p);

/* efile_ops.c: the system calls of an operation. Any thread; may block. */
void efile_run(struct efile_job *job);
/* Whether efile_run would not block. What is not known is not quick. */
bool efile_is_quick(const struct efile_job *job);
/* Closes file->fd, drops the file's reference to itself. Returns an errno or 0. */
int efile_close_fd(struct efile *file);
size_t efile_open_count(void);

#endif
