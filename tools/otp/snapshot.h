/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What is in a VM now, read from its memory: its processes, schedulers, ports, atoms. The VM is not stopped, runs none
 * of our code and is not probed, so one that hangs or is stopped can be read too. What changes meanwhile is read twice:
 * a row is of one process that was there at both times, or is not told. Names cost more than all else: they are
 * looked up for rows that somebody asks about.
 */
#ifndef TOOLS_SNAPSHOT_H
#define TOOLS_SNAPSHOT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "otp_owner.h"
#include "otp_vm.h"

#include "../../bpf/event.h"

struct names;
struct snapshot;

/*
 * Of a VM that was added to the names. Both stay the caller's, and must live as long. Owns: snapshot_free frees. Fails:
 * -ENOMEM. No message.
 */
int snapshot_new(const struct otp_vm *vm, struct names *names, struct snapshot **out);
void snapshot_free(struct snapshot *snapshot);

/* As process_info(status) says; of an erlvm, one that is in a collection runs. */
enum snapshot_status {
    SNAPSHOT_WAITING,
    SNAPSHOT_RUNNABLE,
    SNAPSHOT_RUNNING,
    SNAPSHOT_SUSPENDED,
    SNAPSHOT_COLLECTING,
    SNAPSHOT_EXITING,
};

/* "waiting", ... */
const char *snapshot_status_text(enum snapshot_status status);

struct snapshot_process {
    ev_id id;
    uint64_t address; /* in the VM */
    enum snapshot_status status;
    bool hibernated;
    bool dirty;     /* it runs on a dirty scheduler; of an erlvm, on a thread for what takes long */
    bool waits_io;  /* of a stock emulator: it waits for a dirty I/O scheduler */
    bool moved;     /* it did something while it was read: its numbers may be of two moments */
    bool more;      /* it has more messages than were counted */
    bool skips;     /* it has passed over its first message, looking for another */
    bool watches;   /* it has monitors or aliases, or that is not known */
    uint64_t first_message;  /* where the first of its own queue stands in the VM; 0: it has none there */
    uint64_t messages;       /* in all its queues; those too that it has not taken over yet */
    uint64_t heap_words;     /* heap and stack, with what is free in it */
    uint64_t old_heap_words;
    uint64_t fragment_words; /* outside of both; without those of messages that wait */
    uint64_t binary_words;   /* of binaries off its heaps that both hold: one that is held twice counts twice */
    uint64_t reductions;     /* without those of its time slice */
    ev_id parent; /* 0: none here */
};

enum { SNAPSHOT_WORD = 8 /* bytes */, SNAPSHOT_PID_BYTES = 32 };

/* Bytes of its heaps and of what stands outside of them. */
static inline uint64_t snapshot_memory_bytes(const struct snapshot_process *process)
{
    return (process->heap_words + process->old_heap_words + process->fragment_words) * SNAPSHOT_WORD;
}

/* Bytes of the binaries that it holds. */
static inline uint64_t snapshot_binary_bytes(const struct snapshot_process *process)
{
    return process->binary_words * SNAPSHOT_WORD;
}

/* "<0.93.0>"; "" for 0. Returns `buf`. */
const char *snapshot_pid_text(ev_id id, char buf[SNAPSHOT_PID_BYTES]);

/* What became of all that stood in the table. */
struct snapshot_count {
    uint64_t read;
    uint64_t gone;    /* born or ended while they were read */
    uint64_t unclear; /* what their memory says makes no sense */
    uint64_t listed;  /* how many the VM itself said that there are, before */
};

/*
 * Tells `take` each process, until it answers nonzero, which is returned. *count, which may be NULL, is filled in any
 * case. Fails: -ESRCH: the VM has ended, or its table is not to be read any more; what was told until then holds.
 * -EBADMSG: most of its table makes no sense; -ENOMEM. No message.
 */
int snapshot_processes(struct snapshot *snapshot, int (*take)(void *ctx, const struct snapshot_process *process),
                       void *ctx, struct snapshot_count *count);

/*
 * Who it is, as views call it. Of one that has ended since, false; of one that was told before a later
 * snapshot_processes too, as long as it lives.
 */
bool snapshot_owner(struct snapshot *snapshot, const struct snapshot_process *process, struct wire_name *out);
/* All its names, and which it is called by, as otp_owner_read tells them. NULL: it has none, or has ended since. */
const struct wire_name *snapshot_names(struct snapshot *snapshot, const struct snapshot_process *process,
                                       struct wire_name out[OTP_OWNER_NAMES]);
/* Its registered name: the atom's index. False: it has none, or has ended since. */
bool snapshot_registered(struct snapshot *snapshot, const struct snapshot_process *process, uint64_t *atom);
/*
 * The function that it goes on in when it is scheduled, as text in `buf`: where it waits. Of one that runs, where it
 * was when it began its time slice. False: it has ended since.
 */
bool snapshot_place(struct snapshot *snapshot, const struct snapshot_process *process, char *buf, size_t size);

/* A function of a stack: of a stack's innermost that which it goes on in, else one that is returned to. */
struct snapshot_frame {
    const char *function, *file; /* untrusted; file: "" when the line is not known */
    uint32_t line;
};

/*
 * Tells `take` its stack, the innermost function first, until it answers nonzero, which is returned; of one that runs,
 * that of the beginning of its time slice. Fails: -ESRCH: it has ended. No message.
 */
int snapshot_stack(struct snapshot *snapshot, const struct snapshot_process *process,
                   int (*take)(void *ctx, const struct snapshot_frame *frame), void *ctx);

/* Reads the first words of its stack, at most `room`. Returns how many; 0: there are none, or they cannot be read. */
size_t snapshot_stack_words(struct snapshot *snapshot, const struct snapshot_process *process, uint64_t *words,
                            size_t room);

struct snapshot_port {
    ev_id id;
    uint64_t address; /* in the VM */
    ev_id owner;      /* 0: none here */
    uint64_t queued_bytes;  /* that its driver has still to write */
    uint64_t command_bytes; /* of commands that wait for the driver */
    uint64_t read_bytes, written_bytes;
    bool busy; /* its driver said so: who sends to it is suspended */
    bool full; /* its queue of commands is: likewise */
    bool closing;
    uint64_t callback;    /* of an erlvm: where the name of its driver's callback that runs stands; 0: none runs */
    uint64_t callback_ns; /* when that began; 0: not known */
};

/* As snapshot_processes. Fails: -ENOTSUP, too: of a stock emulator, where vm->no_ports says why; of an
 * erlvm that is older than this. */
int snapshot_ports(struct snapshot *snapshot, int (*take)(void *ctx, const struct snapshot_port *port), void *ctx,
                   struct snapshot_count *count);
/* A text of the VM, untrusted, cut. False: it cannot be read to its end. */
bool snapshot_text(const struct snapshot *snapshot, uint64_t address, char *buf, size_t size);
/* What it was opened with, untrusted, cut. False: it was closed since. */
bool snapshot_port_name(struct snapshot *snapshot, const struct snapshot_port *port, char *buf, size_t size);

enum snapshot_scheduler_type { SNAPSHOT_NORMAL, SNAPSHOT_DIRTY_CPU, SNAPSHOT_DIRTY_IO };

struct snapshot_scheduler {
    enum snapshot_scheduler_type type;
    uint32_t number; /* from 1, of its type */
    uint64_t queued; /* processes and ports in its run queue, which all dirty ones of a type share */
    ev_id running;   /* 0: nobody */
    uint64_t address; /* in the VM; of a dirty one of an erlvm 0 */
    uint64_t reductions;
    int thread; /* of a normal one of an erlvm: that has it, by its number in the VM's PID namespace; 0: not known */
};

/* Tells `take` each; of an older erlvm no dirty ones. Fails: -ESRCH: they cannot be read; -ENOMEM. */
int snapshot_schedulers(struct snapshot *snapshot,
                        int (*take)(void *ctx, const struct snapshot_scheduler *scheduler), void *ctx);

/* Whether it is an erlvm. */
bool snapshot_is_ours(const struct snapshot *snapshot);
/* From where to where, in the VM, a function of a stock emulator goes. False: not known. */
bool snapshot_function(const struct snapshot *snapshot, const char *name, uint64_t *begin, uint64_t *end);

/* How many processes there may be. Fails: -ESRCH. */
int snapshot_process_limit(struct snapshot *snapshot, uint64_t *limit);
/*
 * A number that is higher the later a process was born, by its pid; no VM keeps when that was. limit: how many there
 * may be. False: not known: a stock emulator that has given each of its numbers once gives them anew in the order in
 * which they come back.
 */
bool snapshot_birth(const struct snapshot *snapshot, ev_id id, uint64_t limit, uint64_t *order);
/* How many atoms there are, and may be. Fails: -ESRCH. */
int snapshot_atoms(struct snapshot *snapshot, uint64_t *count, uint64_t *limit);

#endif
