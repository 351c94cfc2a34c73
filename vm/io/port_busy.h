/* SPDX-License-Identifier: Apache-2.0 */
/* Ports that are busy: who sends them a command waits, in the send, until they are not. A port is busy while its
 * driver says so (port_set_busy), or while the commands among its tasks have more bytes than a limit. A command that
 * was a task before the driver said busy is kept, and with it what the same process wanted of the port afterwards,
 * so that a process's signals reach a port in the order in which they were sent. */
#ifndef VM_IO_PORT_BUSY_H
#define VM_IO_PORT_BUSY_H

#include <stdatomic.h>
#include <stddef.h>

#include "proc/process.h"

struct port;
struct port_task;

/* Who waits. Belongs to the process that does. */
struct port_waiter {
	struct port_waiter *next, **before; /* before NULL: in no list */
	Process *process;
};

/* All but busy and full: the hold's lock. */
struct port_busy {
	atomic_bool busy;               /* the driver says so */
	atomic_bool full;               /* of commands */
	size_t bytes, low, high;        /* of commands that wait; when it is not full any more, and when it is */
	struct port_waiter *first, **last;
	struct port_task *kept, **kept_last;
	struct port_keeper *keepers;    /* whose tasks are kept */
};
/* A limit that is never reached. */
#define PORT_NO_LIMIT SIZE_MAX

void port_busy_init(struct port *port, size_t low, size_t high);
/* Is who sends a command to wait? Any thread. */
bool port_is_busy(const struct port *port);
/* p waits, and is unblocked when the port is not busy any more, or ends. False: there is nothing to wait for. w: not
 * waiting, or woken too early. */
bool port_busy_wait(struct port *port, struct port_waiter *w, Process *p);
/* It waits no more: p ends. */
void port_busy_leave(struct port *port, struct port_waiter *w);
/* The port leaves PORT_OPEN: nobody waits for it any more. The port is held. */
void port_busy_end(struct port *port);
/* erl_drv_busy_msgq_limits: sets what is not 0, and tells both. A limit that was PORT_NO_LIMIT remains so. */
void port_busy_limits(struct port *port, size_t *low, size_t *high);

/* ---- for port_task.c; the hold's lock is held by the caller, but for port_busy_ran */
void port_busy_submitted(struct port *port, const struct port_task *task);
/* A task whose command has so many bytes has run. */
void port_busy_ran(struct port *port, size_t bytes);
/* Keeps a task that must not run yet. False: it may. */
bool port_busy_keep(struct port *port, struct port_task *task);
/* A kept task may run, and that task (NULL: none). */
bool port_busy_has_task(const struct port *port);
struct port_task *port_busy_take(struct port *port);

#endif
