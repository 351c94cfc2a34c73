/* SPDX-License-Identifier: Apache-2.0 */
/* The process. Invariant: only the scheduler that runs it (PS_RUNNING) touches its heap, stack, private queues and
 * tables; everybody may read `id` and `state`. The memory of a struct process is only ever used again for another
 * process, so that a stale pointer may be locked (signals_lock) and its id compared. */
#ifndef VM_PROC_PROCESS_H
#define VM_PROC_PROCESS_H

#include <stdatomic.h>

#include "base/lock.h"
#include "heap/gc.h"
#include "heap/heap.h"
#include "proc/peer.h"
#include "term/atom.h"

typedef uint64_t Inst;   /* a word of loaded code, see code/opcodes.def */

struct sched;
struct signal;
struct markers;
struct export;
struct timer;
struct dict;
struct tracee;
struct saved_calls;
struct literal_call;
struct nif_detour;
struct tasks;
struct dirty_work;

enum proc_priority { PRIO_LOW, PRIO_NORMAL, PRIO_HIGH, PRIO_MAX, PRIO_COUNT };

/* state bits (atomic) */
enum {
	PS_RUNNABLE = 1 << 0,  /* in a run queue, or about to be */
	PS_RUNNING = 1 << 1,
	PS_WAITING = 1 << 2,   /* in receive: a message wakes it */
	/* in exc_wait: process_unblock ends it; signals that are no messages are handled meanwhile */
	PS_BLOCKED = 1 << 3,
	PS_SIGNALS = 1 << 4,   /* signals wait in the incoming queue */
	PS_EXITING = 1 << 5,
	PS_DEAD = 1 << 6,      /* out of the process table */
	PS_SUSPENDED = 1 << 7, /* suspend_process */
	PS_TIMEOUT = 1 << 8,   /* its receive timer fired */
	PS_UNBLOCKED = 1 << 9, /* process_unblock was called: resume is to run */
	PS_HIBERNATED = 1 << 10, /* and waiting */
	PS_DIRTY_RUNNING = 1 << 11, /* a dirty scheduler works for it (proc/dirty.h); otherwise it is PS_BLOCKED */
};

/* flags (owner only) */
enum {
	PF_TRAP_EXIT = 1 << 0,
	PF_OFF_HEAP_MSGQ = 1 << 1,
	PF_SENSITIVE = 1 << 2,
	PF_NEED_GC = 1 << 3,   /* collect at the next safe point */
	PF_COPY_LITERALS = 1 << 10, /* see process_copy_literals */
	PF_SAFE_POINT = PF_NEED_GC | PF_COPY_LITERALS,
	PF_IN_RECEIVE = 1 << 9, /* goes on at a loop_rec that is a traced function's entry: that is no call */
	PF_MONITORS_NODES = 1 << 8, /* see proc/node_monitor.h */
	PF_TAG_PERMANENT = 1 << 6, /* dt_utag was put here, not brought by a message */
	PF_TAG_SPREADING = 1 << 7, /* messages take dt_utag along */
	PF_ASYNC_DIST = 1 << 11, /* no signal to another node suspends it */
	PF_MAX_HEAP_SPARE = 1 << 4,  /* max_heap_size does not kill */
	PF_MAX_HEAP_SILENT = 1 << 5, /* nor is reported */
	PF_MAX_HEAP_BINARIES = 1 << 12, /* what stands outside the heap counts */
	PF_MAX_HEAP = PF_MAX_HEAP_SPARE | PF_MAX_HEAP_SILENT | PF_MAX_HEAP_BINARIES,
};

/* What a BIF that returned TERM_NONE wants. */
enum exc_kind {
	EXC_NONE,
	EXC_ERROR, EXC_EXIT, EXC_THROW, /* an exception: reason in exc_reason */
	EXC_TRAP,      /* call trap_export with the arguments in x[0..] */
	EXC_WAIT,      /* block until proc_unblock, then call resume(p, resume_arg) for the result */
	/* sleep until a message: hibernate/3 without the stack, then apply of x[0..2]; hibernate/0 with it, then return
	 * ok */
	EXC_HIBERNATE,
	EXC_EXITED,    /* the process has got a fatal signal: run the exit */
};

struct process {
	struct heap heap;    /* first: a struct process * is a struct heap * to the heap rooms */
	/* TERM_NONE while unused; written under signals_lock, before the state says that it lives */
	Term id;
	_Atomic uint32_t state;
	uint32_t flags;
	uint32_t woken_from; /* state bits before it was scheduled in; PS_RUNNING once code runs */
	int32_t reds_left;   /* of this time slice */
	int32_t reds_kept;   /* taken from reds_left to come back to the scheduler sooner, see sched.c */
	uint64_t reds_done;  /* over its life, without this time slice */
	const Inst *i;       /* where it resumes */
	Term *x;             /* saved X registers: saved_x, or an array of its own */
	Term saved_x[6];
	uint16_t live;       /* saved X registers in use */
	uint16_t x_room;
	uint8_t priority;
	uint8_t exc_kind;
	uint8_t bound;       /* stays on its scheduler */
	/* priority of its next time slice, when it is above its own: somebody urgent awaits an answer */
	_Atomic uint8_t raised;
	_Atomic bool has_timers; /* somebody started one that is to send it a message */
	bool postponed;      /* its turn came while it was raised, and its own priority's turn was put off */
	bool has_tasks;      /* to run before its next time slice */
	bool system;         /* the VM's own: init:stop spares it */
	bool exc_has_trace;  /* exc_trace is a stack trace already */
	bool is_stored;      /* i and heap.stop hold, whatever registers do: see `native` in exec/ops_call.inc */
	bool slept;          /* it went to sleep when somebody was last told that it is scheduled out */
	uint32_t trace_flags; /* enum trace_flag, see proc/tracee.h */
	const struct export *trap_export;
	Term (*resume)(struct process *p, void *arg); /* see exc_wait; NULL: no native function waits */
	void (*drop)(struct process *p, void *arg);
	void *resume_arg;
	struct dirty_work *dirty; /* see proc/dirty.h; NULL: none */

	/* roots, in one run: PROCESS_ROOTS terms from exc_reason */
	Term exc_reason;
	Term exc_trace;      /* see proc/exc.h */
	Term group_leader;   /* pid */
	Term seq_token;      /* sequential trace token, NIL without */
	Term dt_utag;        /* dyntrace user tag (binary) or NIL */
	Term nif_args;       /* of a detour under way, see code/nif_function.h: a list; NIL: none */

	struct lock signals_lock;
	struct signal *in_first, **in_last; /* signals_lock */
	uint32_t in_length;  /* signals_lock: messages in it */
	bool handles;        /* written by the owner, read by all: not all signals that left the queue are handled */
	/* owner only: */
	uint32_t msg_length;
	_Atomic uint64_t told_long; /* which watchers were told that the queue is long: trace/watch.c */
	uint32_t own_messages; /* of the private queue: those that stand on the heap */
	struct signal *msg_first, **msg_last, **msg_save; /* private message queue; msg_save: the peeking position */
	struct signal **msg_high; /* in front of the first message without priority */
	struct markers *markers; /* receive markers; NULL: never had one */
	struct signal **receive_start; /* where the receive under way began to look; NULL: at the first message */

	struct literal_call *literal_calls; /* see process_copy_literals */
	struct tasks *tasks; /* NULL: never had one */
	struct tracee *tracee; /* NULL: never traced */
	struct saved_calls *saved_calls; /* NULL: none wanted */
	struct nif_detour *nif_detour; /* NULL: never had one; see code/nif_function.h */
	uint32_t suspend_count;
	Term initial_module, initial_function; /* these three in a run, see layout.def */
	uint64_t initial_arity;
	Term told_module, told_function; /* what it is to do as views call it: initial_call.h; three in a run, too */
	uint64_t told_arity;
	Term parent;         /* pid, or NIL: the VM */
	_Atomic Term reg_name; /* atom or TERM_NONE; written under the registry lock */
	struct dict *dict;   /* process dictionary; NULL when empty */
	struct peers links;
	struct peers monitors; /* those we set, and our aliases */
	struct peers monitored_by;
	struct timer *receive_timer;
	Term error_handler;  /* module atom */
	Term looks_for;      /* a module that it has asked the code server for, or TERM_NONE: see code/lookup.h */
	_Atomic uint32_t scheduler; /* whose run queue it belongs to; 0: nobody's yet */
	struct process *run_next; /* run queue; the list of unused processes */
	uint64_t runnable_ticks; /* when it came into a run queue; 0: nobody watched then */
	struct process_chunk *chunk; /* private to process_memory.c */
	atomic_uint refs;    /* process table and finders; the last one gives it back */
};

enum { PROCESS_ROOTS = 6 };

typedef struct process Process;

/* Where a new process begins: x[0..2] hold module, function, arguments. Wired by exec before the first spawn. */
extern const Inst *process_start_code;

void process_table_init(size_t limit);

/* p runs here; others may ask at any time. */
static inline void process_set_priority(Process *p, uint8_t priority)
{
	__atomic_store_n(&p->priority, priority, __ATOMIC_RELAXED);
}

/* The living process with that pid, or NULL. The caller must call process_unref. Any thread. */
Process *process_find(Term pid);
void process_ref(Process *p);
void process_unref(Process *p);
/* Whatever memory the pid's slot points to, or NULL, without a reference: only good for signals_lock and a look at
 * id. */
Process *process_peek(Term pid);
/* Does it live? *state: its state bits then, PS_SIGNALS also while it handles some: one may end it. Takes no lock. */
bool process_look(Term pid, uint32_t *state);
bool process_is_alive(Term pid);
size_t process_count(void);
/* Calls see(p, arg) for every process, without a lock: while the world is stopped, or ends. */
void process_each(void (*see)(Process *p, void *arg), void *arg);
/* The same for `count` slots of the table from *slot on, which is moved on. False: those were the last. */
bool process_each_some(size_t *slot, size_t count, void (*see)(Process *p, void *arg), void *arg);
/* Memory kept for processes to come: it was that of dead ones. */
size_t process_spare_bytes(void);
/* Gives back to the system what no process has needed of that since the last call. A thread of its own; returns whether
 * there was something. */
bool process_tidy(void);
/* Slots of the table below that number may be taken. */
size_t process_places_used(void);
/* The living of them onto h, from slot first on, up to before end. */
Term process_list_living(struct heap *h, size_t first, size_t end);
size_t process_limit(void);
/* For tests of what a pid that is used again does: where the next process will be. Places are counted through all
 * rounds of the table: serial * process_limit() + number. Fails: false, the table is full; the serial is too large. */
bool process_next_place(uint64_t *place);
bool process_set_next_place(uint64_t place);
/* Memory in a place of the table, with nobody knowing its pid, *id, yet. Fails: NULL when the table is full. */
Process *process_take_slot(Term *id);
/* At its end it is not counted as living; then nobody finds it any more and the table gives up its reference: its
 * memory is gone unless somebody else has one. */
void process_leave_living(void);
void process_leave_table(Process *p);

#endif
