/* SPDX-License-Identifier: Apache-2.0 */
/* Who holds a port runs its driver's callbacks, one at a time; what others want meanwhile are tasks, which schedulers
 * run in the order they came. Descriptors and a timer that a driver waits for become tasks too. */
#ifndef VM_IO_PORT_TASK_H
#define VM_IO_PORT_TASK_H

#include "io/poll.h"
#include "proc/sched_job.h"

struct port;

/* Something to do for whoever holds the port. */
struct port_task {
	struct port_task *next;
	void (*run)(struct port *port, struct port_task *task); /* may free the task, or submit it again */
	Term sender;             /* the process that wants it: TERM_NONE: none, and it may pass others by */
	size_t command_bytes;    /* of a command: counted against the port's limit */
	bool waits;              /* it does not run while the port is busy */
};

/* A descriptor that a port waits for. Belongs to the port's driver, but for what port_task.c does. */
struct port_watch {
	struct poll_watch poll;
	struct port *port;
	struct port_task task;
	atomic_uint ready;       /* events that the task is to tell */
	unsigned wants;          /* WATCH_*, of the driver */
	unsigned armed;          /* asked for, and not come yet */
	bool used, closes;       /* closes: the descriptor is ours */
};

/* Who holds a port runs its callbacks. */
struct port_hold {
	_Atomic uint32_t word;       /* PORT_HELD | PORT_WANTED: tasks wait | PORT_KEEPS: see port_busy.h */
	struct lock lock;
	struct port_task *first, **last; /* lock */
	bool scheduled;              /* lock: the job was submitted, and has a reference to the port */
	struct sched_job job;
};
enum { PORT_HELD = 1, PORT_WANTED = 2, PORT_KEEPS = 4 };

void port_hold_init(struct port *port);
void port_hold_free(struct port *port);
/* On a scheduler, when nobody holds the port and no task waits. */
bool port_try_hold(struct port *port);
/* Waits for who holds it. For what is rare, and where no other port is held. */
void port_hold(struct port *port);
void port_let_go(struct port *port);
/* The task runs when its turn comes. Any thread. The caller has a reference, or holds the port. */
void port_submit(struct port *port, struct port_task *task);
/* Tasks that were kept may run; the hold's lock is held. True: the caller submits the hold's job, without the lock. */
bool port_want_run(struct port *port);

/* The driver's ready_input and ready_output are called for fd, as port_watch_want says. closes: fd is closed in the
 * end, and if it cannot be watched. Fails: -errno. */
int port_watch_add(struct port *port, struct port_watch *w, int fd, bool closes);
/* The same for a descriptor that is shared with others, which stays open: `ready`, which may block and runs on a poll
 * thread, calls port_watch_ready in the end. */
int port_watch_add_shared(struct port *port, struct port_watch *w, int fd,
			  void (*ready)(struct poll_watch *poll, unsigned events));
/* The bits (WATCH_IN, WATCH_OUT) are wanted from now on, or not. */
void port_watch_want(struct port_watch *w, unsigned bits, bool on);
/* As WATCH_IN wanted, after some time; it must not be wanted now. Called from ready_input, for a shared descriptor. */
void port_watch_pause(struct port_watch *w, int64_t ns);
/* What is done with its events. */
void port_watch_ready(struct poll_watch *poll, unsigned events);
/* No callback follows. */
void port_watch_drop(struct port_watch *w);
/* The driver's timeout is called after ms, once; instead of an earlier one. */
void port_set_timer(struct port *port, uint64_t ms);
void port_cancel_timer(struct port *port);
/* How long it will still run; 0: none runs. Units: ms. */
uint64_t port_read_timer(const struct port *port);
/* port->write_job.run is called on the pool, and calls port_async_done in the end; then the driver's ready_async is. */
void port_async_start(struct port *port);
void port_async_done(struct port *port);

#endif
