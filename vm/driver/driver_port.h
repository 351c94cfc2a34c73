/* SPDX-License-Identifier: Apache-2.0 */
/* A port of a library's driver. Callbacks run one at a time, on schedulers, while the port is held; drivers of the old
 * kind have a lock of all their ports besides. A driver keeps a struct driver_port as its ErlDrvPort; it is there until
 * the port's last reference goes. */
#ifndef VM_DRIVER_DRIVER_PORT_H
#define VM_DRIVER_DRIVER_PORT_H

#include "driver/driver_library.h"

struct driver_selection; /* select.c */
struct driver_lock;      /* port data locks: queue.c */

struct driver_watched {
	struct driver_watched *next;
	Term pid;
	uint64_t number;
};

struct driver_port {
	struct port *port;
	struct driver_library *library; /* counted */
	void *data;              /* the driver's own */
	struct driver_port *outer; /* callbacks of this thread that this one interrupts */
	atomic_bool stopped;     /* its stop has returned */
	bool starting;           /* failures wait until it has started */
	Term failure;            /* TERM_NONE: none */
	bool says_last;          /* in stop: what it sends is delivered still */
	bool fails_quietly;      /* the owner gets no exit signal */
	int control_flags;
	unsigned slice_used;     /* percent, of one callback */
	Term opener;             /* who waits for erl_drv_init_ack; TERM_NONE: nobody */
	uint64_t ack_ref;
	struct driver_selection *selections;
	struct driver_watched *watched;
	struct driver_lock *_Atomic data_lock;
	struct iovec *peeked;    /* driver_peekq's */
	size_t peeked_room;
	struct driver_port **made; /* driver_create_port: held, to be let go when the callback returns */
	size_t made_count;
};

/* The port whose callback this thread runs, or NULL. */
struct driver_port *driver_current(void);
void driver_enter(struct driver_port *dp);
void driver_leave(struct driver_port *dp);
/* Drivers may ask for a port that is closed already: false. */
static inline bool driver_port_lives(const struct driver_port *dp)
{
	return dp != NULL && (intptr_t)dp != -1 && !atomic_load(&dp->stopped);
}
/* The calls that ports of l get. */
void driver_set_calls(struct driver_library *l);

/* ---- output.c: a message that stands on a heap of its own; told to tracers of dp, whose callback runs, unless that is
 * NULL. Takes: the heap. Returns whether there was who gets it. */
bool driver_send(Term from, struct driver_port *dp, Term to, Term message, struct heap *h);

/* ---- select.c */
void driver_ready(struct port *port, struct port_watch *w, bool input);
void driver_drop_selections(struct driver_port *dp);
void driver_free_selections(struct driver_port *dp);

/* ---- queue.c */
size_t driver_queued(struct port *port);
void driver_free_queue(struct driver_port *dp);
/* The parts of q behind `spare` empty ones. Owns: the caller, driver_iovec_free. Makes binaries of their own of parts
 * that a resource keeps. */
void driver_iovec_init(struct driver_iovec *v, const struct byte_queue *q, size_t spare);
void driver_iovec_free(struct driver_iovec *v);

/* ---- monitor.c */
void driver_process_exit(struct port *port, Term pid, uint64_t number);
void driver_drop_monitors(struct driver_port *dp);

/* ---- async.c */
void driver_async_init(void);

/* ---- term.c: the term that the words say, onto h. Fails: false. */
bool driver_term_build(const uint64_t *words, size_t n, struct heap *h, Term *term);
/* Are they well formed? What only building shows (floats, keys, external terms) is not looked at. */
bool driver_term_check(const uint64_t *words, size_t n);

#endif
