/* SPDX-License-Identifier: Apache-2.0 */
/* The probes of ports, drivers, the async pool and file operations: one cold function each, called behind PROBE_ON. */
#ifndef VM_IO_IO_PROBE_H
#define VM_IO_IO_PROBE_H

#include "base/ticks.h"
#include "io/efile.h"
#include "io/port.h"
#include "usdt.h"

void probe_aio_pool__add(Term port, int length);
void probe_aio_pool__get(Term port, int length);

void probe_efile_drv__entry(const struct efile_job *job, Term port, Term pid);
void probe_efile_drv__int_entry(const struct efile_job *job);
void probe_efile_drv__int_return(const struct efile_job *job);
void probe_efile_drv__return(const struct efile_job *job);

void probe_port__open(const struct port *port, Term pid);
void probe_port__command(const struct port *port, Term pid, const char *type);
void probe_port__control(const struct port *port, Term pid, int command);
void probe_port__exit(const struct port *port, Term pid, Term reason);
void probe_port__connect(const struct port *port, Term pid, Term new_pid);
void probe_port__busy(const struct port *port);
void probe_port__not_busy(const struct port *port);

/* Of an entry that a library has, or (0, 0, 0) of a driver of the VM's own. */
void probe_driver__init(const char *name, int major, int minor, int flags);
void probe_driver__finish(const char *name);
void probe_driver__stop_select(const char *name);
void probe_driver__start(const struct port *port, Term pid, const char *driver);
void probe_driver__stop(const struct port *port, Term pid, const char *driver);
void probe_driver__flush(const struct port *port, Term pid);
void probe_driver__output(const struct port *port, Term pid, int64_t bytes);
void probe_driver__outputv(const struct port *port, Term pid, int64_t bytes);
void probe_driver__timeout(const struct port *port, Term pid);
void probe_driver__control(const struct port *port, Term pid, int command, int64_t bytes);
void probe_driver__call(const struct port *port, Term pid, int command, int64_t bytes);
void probe_driver__ready_input(const struct port *port, Term pid);
void probe_driver__ready_output(const struct port *port, Term pid);
void probe_driver__ready_async(const struct port *port, Term pid);
void probe_driver__process_exit(const struct port *port, Term pid);
/* port: its id, TERM_NONE: the callback is about none. Units: ticks. */
void probe_driver__return(const char *driver, Term port, const char *callback, uint64_t began);

/* A callback of a driver that runs, of the VM's own drivers too. */
struct io_callback {
	struct port *port;  /* NULL: it is about none */
	const char *driver, *name;
	uint64_t began;     /* Units: ticks; 0: nobody watches */
	bool is_outermost;  /* no other callback of its port called it: it is the one that the port shows */
};

/* Stand around every call of a callback: who calls one says which. The port is held. */
static inline struct io_callback io_callback_begin(struct port *port, const char *driver, const char *name)
{
	struct io_callback c = { port, driver, name, PROBE_ON(driver__return) ? ticks_now() : 0,
				 port != NULL && atomic_load_explicit(&port->callback, memory_order_relaxed) == NULL };

	if (c.is_outermost) {
		port->callback_ns = unlikely(c.began != 0) ? clock_monotonic_ns() : 0;
		atomic_store_explicit(&port->callback, name, memory_order_release);
	}
	return c;
}

static inline void io_callback_end(const struct io_callback *c)
{
	if (c->is_outermost)
		atomic_store_explicit(&c->port->callback, NULL, memory_order_relaxed);
	if (unlikely(c->began != 0))
		probe_driver__return(c->driver, c->port != NULL ? c->port->id : TERM_NONE, c->name, c->began);
}

#endif
