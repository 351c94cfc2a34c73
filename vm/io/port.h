/* SPDX-License-Identifier: Apache-2.0 */
/* Ports: what stands between a process and a descriptor, or a program of the system.
 * A port is a state machine: PORT_OPEN, then PORT_FLUSHING while a driver still writes what was handed to it, then
 * PORT_CLOSED. Links and names go when it leaves PORT_OPEN. Nobody locks a port: somebody holds it, for a moment, and
 * what others want of it meanwhile are tasks, which schedulers run in the order they came. What a process wants of a
 * port that nobody holds, and nothing waits for, is done at once on that process's scheduler.
 * Invariant: signals and messages from one port reach a process in the order the port made them. */
#ifndef VM_IO_PORT_H
#define VM_IO_PORT_H

#include <stdatomic.h>
#include <sys/types.h>

#include "base/lock.h"
#include "io/async.h"
#include "io/byte_queue.h"
#include "io/poll.h"
#include "io/port_busy.h"
#include "io/port_task.h"
#include "proc/message.h"
#include "proc/progress.h"
#include "proc/sched_job.h"

/* Bytes queued at which senders have to wait, and at which they go on. As OTP's default watermarks. */
#define PORT_HIGH_BYTES 8192
#define PORT_LOW_BYTES 4096

enum port_state { PORT_OPEN, PORT_FLUSHING, PORT_CLOSED };

/* open_port/2's wishes. Owns: nothing; texts are the caller's. */
struct port_options {
	const char *name;       /* port_info's name: the command, the program, the file, "In/Out" */
	bool in, out, binary, eof, exit_status;
	bool parallelism;       /* as port_info tells it */
	bool use_stdio, stderr_to_stdout;
	unsigned packet_bytes;  /* 0, 1, 2 or 4 */
	size_t line_bytes;      /* 0: no lines */
	int fd_in, fd_out;      /* fd driver */
	bool executable;        /* spawn driver: name is a program, argv its arguments */
	char **argv;            /* NULL: the name alone */
	char **envp;            /* the whole environment */
	const char *directory;  /* NULL: as the VM's */
	/* bytes of output that wait when it is busy no more, and busy; 0: PORT_LOW_BYTES... */
	size_t port_low, port_high;
	size_t queue_low, queue_high; /* of commands that wait (port_busy.h); 0: as the driver has it */
	uint64_t ack_ref;       /* a driver that acks_start answers with this reference's number */
};
#define PORT_OPTIONS_DEFAULT { .use_stdio = true }

struct port;
struct port_watch;

/* What a control answers. Owns: grown bytes, until answer_free. */
struct port_answer {
	uint8_t *bytes;         /* small, or memory */
	size_t n, room;
	bool binary;            /* it is to be a binary, not a list */
	uint8_t small[128];
};
void answer_init(struct port_answer *a);
void answer_free(struct port_answer *a);
void answer_put(struct port_answer *a, const void *bytes, size_t n);
static inline void answer_put_byte(struct port_answer *a, unsigned byte)
{
	answer_put(a, &(uint8_t){ (uint8_t)byte }, 1);
}

/* Callbacks run on a scheduler, as tasks of their port, one at a time; no lock is held. Those that are NULL have
 * nothing to do. */
struct port_driver {
	const char *name;
	/* By the scheduler of the process that opens it. Fails: -errno. */
	int (*start)(struct port *port, const struct port_options *o);
	/* After start, when its owner is linked to it. */
	void (*opened)(struct port *port);
	/* There are bytes in port->out, framed as the options say. */
	void (*output)(struct port *port);
	/* Instead of output: what was sent, as it was. port->caller is who sent it. Takes: the bytes of data, or
	 * leaves them to be dropped. */
	void (*outputv)(struct port *port, struct byte_queue *data);
	/* Fails: false, or no control: badarg. */
	bool (*control)(struct port *port, unsigned command, const uint8_t *data, size_t n, struct port_answer *a);
	/* port_call/3: data and answer are terms in the external format. Fails: as control. */
	bool (*call)(struct port *port, unsigned command, const uint8_t *data, size_t n, struct port_answer *a);
	void (*ready_input)(struct port *port, struct port_watch *w);
	void (*ready_output)(struct port *port, struct port_watch *w);
	/* The port's async job has run on the pool. */
	void (*ready_async)(struct port *port);
	/* The time of port_set_timer is over. */
	void (*timeout)(struct port *port);
	/* The port closes while output is left: drops what is not worth waiting for. */
	void (*flush)(struct port *port);
	/* A process that port_monitor watched has ended. */
	void (*process_exit)(struct port *port, Term pid, uint64_t monitor);
	/* Must what is queued be written before the stop? */
	bool flushes;
	/* But not when the VM halts, unless the port carries a connection to another node: a peer that reads nothing
	 * would hold it up. */
	bool drops_at_halt;
	/* Are commands told to tracers as lists of binaries? */
	bool tells_list;
	/* Who sends to a busy port may force it. */
	bool soft_busy;
	/* Commands that wait for their turn have no limit. */
	bool no_queue_limit;
	/* Probes tell what outputv takes as output: the driver's own callback takes one buffer. */
	bool tells_output;
	/* open_port/2 waits for a message with a reference (port_options) and its result. */
	bool acks_start;
	/* It is stopped when the VM halts. */
	bool stops_at_halt;
	/* Instead of port->out: how much is left to be written. Any thread. */
	size_t (*queued)(struct port *port);
	/* The VM dies: no callback follows. */
	void (*emergency_close)(const struct port *port);
	/* While port->framed, are several messages taken at once, each behind its length in four bytes? */
	bool takes_framed;
	void (*stop)(struct port *port);
	/* The last reference is gone. Any thread. */
	void (*freed)(struct port *port);
};
#define DRIVER(stem, by_name, last) extern const struct port_driver port_##stem##_driver;
#include "io/drivers.def"

/* Messages for a port that traces; the task brings them to its output. */
struct port_traces {
	struct lock lock;
	struct port_trace *first, **last;
	atomic_bool wait;           /* is there any? */
	bool task_waits;            /* submitted */
	struct port_task task;
};

struct port {
	struct port_hold hold;
	atomic_uint refs;
	Term id;
	_Atomic(struct port *) next; /* table; beside id, as both are read for each port of a chain */
	Term caller;                /* who sent the command or control that runs; TERM_NONE: nobody */
	/* For who reads our memory: the driver's callback that runs (io/io_probe.h), or NULL, and CLOCK_MONOTONIC when
	 * it began, or 0: nobody watched then. */
	_Atomic(const char *) callback;
	int64_t callback_ns;
	_Atomic uint32_t state;     /* as all that follows: written by who holds the port */
	const struct port_driver *driver;
	void *driver_data;          /* the driver's own, until its stop */
	char *name;
	_Atomic Term owner;         /* connected pid */
	Term registered;            /* atom or TERM_NONE */
	Term *links;
	size_t link_count, link_room;
	struct port_monitor *monitors;
	struct fragment *data_fragment; /* port_set_data */
	Term data;
	bool binary, eof, exit_status;
	bool parallelism;       /* as it was asked for; nothing else depends on it */
	bool flushed;               /* it ended while there was output left to be written */
	bool killed;                /* it ended with the reason kill: what is left is dropped */
	bool closed_wanted;         /* {Port, closed} is to be sent to closed_to */
	Term closed_to;
	/* input */
	unsigned packet_bytes;
	size_t line_bytes;
	struct byte_queue in;       /* a line or packet that is not whole yet */
	uint64_t input_bytes;
	bool at_end;
	struct port_watch read_watch;
	struct fd_input *fd_input;  /* what a poll thread has read, of the fd driver */
	bool reads;
	/* output */
	struct byte_queue out;
	uint64_t output_bytes;
	struct port_watch write_watch;
	bool writes;
	size_t out_low, out_high;   /* port_options' */
	struct port_busy waits;
	struct async_job write_job; /* the driver's work on the pool */
	struct port_task write_job_done;
	bool write_job_runs;
	int write_job_error;        /* errno, of the job */
	struct byte_queue write_job_bytes;
	/* the timer */
	uint64_t timer;             /* 0: none runs */
	uint64_t timer_ms;          /* when it fires, of timer_now_ms */
	atomic_bool timer_fired;    /* the task is submitted */
	struct port_task timer_task;
	/* a program */
	pid_t os_pid;               /* 0: none */
	bool exited;
	int wait_status;
	struct port_watch exit_watch;
	/* tracing */
	uint32_t trace_flags;       /* enum trace_flag; not 0 only with a tracer */
	struct traced *traced;      /* as those of a process (proc/tracee.h) */
	struct port_traces traces;  /* for this port as a tracer */
	void *carrier;              /* of a connection to another node: see struct port_carrier; NULL: none */
	bool framed;                /* what is output now has its lengths already */
	struct progress_item later; /* its memory is to be freed */
};

/* A port that carries a connection to another node. Wired by the room dist; the port is held. */
struct port_carrier {
	void (*input)(struct port *port, const uint8_t *bytes, size_t n); /* one message */
	void (*writable)(struct port *port);                              /* it is not busy any more */
	void (*closed)(struct port *port, Term reason);                   /* it leaves PORT_OPEN */
};
extern struct port_carrier port_carrier;

struct port_monitor {
	struct port_monitor *next;
	Term pid;
	uint64_t number, tag;       /* of the reference */
};

void port_init(void);
enum { PORT_LIMIT_DEFAULT = 65536 };
/* How many there may be. Before the first is opened. */
void port_set_limit(size_t limit);
size_t port_limit(void);
/* The id of the file driver's pseudo port, and of ports to come: a fresh number. */
Term port_new_id(void);
/* Numbers of ports are below it: a port's term holds no more. */
#define PORT_NUMBER_LIMIT ((uint64_t)1 << 60)
uint64_t port_next_number(void);
/* Ports to come have larger numbers; never one that has been. Fails: false where PORT_NUMBER_LIMIT leaves none. */
bool port_pass_over(uint64_t number);
/* The port, open or not yet closed, or NULL. The caller must call port_unref. Any thread. */
struct port *port_find(Term id);
void port_ref(struct port *port);
void port_unref(struct port *port);
size_t port_count(void);
/* Calls see(port, arg) for every port, without a lock: while the world is stopped, or ends. */
void port_each(void (*see)(const struct port *port, void *arg), void *arg);
/* Bytes that went in and out through ports since the start. */
void port_io_bytes(uint64_t *in, uint64_t *out);
Term port_list(struct heap *h);

/* Opens; p is its owner, linked. Returns 0 and the id, or -errno: -EXFULL when there are as many as there may be. */
int port_open(Process *p, const struct port_driver *driver, const struct port_options *o, Term *id);
enum { PORT_BADARG = 1 << 20 }; /* what start returns, negative, for badarg */
/* The bytes of iodata at the end of q. Fails: false when it is no iodata. */
bool port_put_iodata(struct byte_queue *q, Term iodata);

/* ---- the port is held by the caller in what follows, up to register */
/* Hands bytes over. Takes: the bytes of `data` (left empty). Fails: false when the port is not open. */
bool port_command(struct port *port, Term caller, struct byte_queue *data);
/* The same, of a port that is open; data may be left. */
void port_command_open(struct port *port, Term caller, struct byte_queue *data);
/* Its owner changes, and is told by the caller. */
void port_change_owner(struct port *port, Term caller, Term new_owner);
/* Fails: false when the port is not open. */
bool port_connect(struct port *port, Term caller, Term new_owner);
bool port_close(struct port *port, Term caller, Term reason);
bool port_set_data(struct port *port, Term data);
/* port_control/3. Fails: false is badarg. */
bool port_control(struct port *port, Term caller, unsigned command, const uint8_t *data, size_t n,
		  struct port_answer *a);
/* port_call/3. Fails: as port_control. */
bool port_call(struct port *port, Term caller, unsigned command, const uint8_t *data, size_t n, struct port_answer *a);
/* Is what is sent to it told as taken in pieces (outputv), not as one buffer (output)? */
static inline bool port_takes_vectors(const struct port *port)
{
	return port->driver->outputv != NULL && !port->driver->tells_output;
}
/* n bytes for the port's program or descriptor, framed as the options say. Takes: the bytes of data. */
void port_output(struct port *port, Term caller, struct byte_queue *data);

/* ---- for drivers */
/* n bytes came in, which port_input does not count. */
void port_count_input(struct port *port, size_t n);
/* Bytes for the owner: framed as the options say, sent. */
void port_input(struct port *port, const uint8_t *bytes, size_t n);
/* {Port, {data, [H1, H2, ... | Bytes]}} to the owner, Bytes as the port's option binary says; bytes NULL: a proper list
 * of the header. */
void port_reply(struct port *port, const uint8_t *header, size_t header_bytes, const uint8_t *bytes, size_t n);
/* No more input: {Port, eof}, or the end of the port. */
void port_input_end(struct port *port);
void port_send_exit_status(struct port *port, int status);
/* Is there memory for a message of so many words, and for its receiver? */
bool port_message_fits(size_t words);
/* message, whose words are f's, to a process. Takes: f. */
void port_deliver(struct port *port, Term to, Term message, struct fragment *f);
/* port_io.c: {Port, What} to the owner. */
void port_deliver_atom(struct port *port, Term to, Term what);
/* The port ends with that reason; kill is killed to others. Its driver stops when what runs now has returned and its
 * output is gone. */
void port_exit(struct port *port, Term reason);
/* The queue is shorter: wakes who waited for that. */
void port_output_done(struct port *port);
/* The same, normally; its owner, who was told otherwise, gets no exit signal. */
void port_end(struct port *port);
/* For that reason; those who are linked, but for the owner, hear it. */
void port_end_with(struct port *port, Term reason);
/* What is left to be written. Units: bytes. */
size_t port_queued(struct port *port);
/* It stops, when it was to, and nothing is left to be written. */
void port_settle(struct port *port);
/* Senders wait until it is not busy any more. */
void port_set_busy(struct port *port, bool busy);
/* A port of the same driver and options as `from`, open, owned by and linked to a process that may have ended;
 * driver_data is its own. The caller holds it, too, and lets it go. Fails: NULL, there are as many ports as there may
 * be. */
struct port *port_open_like(struct port *from, const char *name, Term owner, void *driver_data);

/* register/2: true, or why not: registered_name (it has one), none (the name is taken, or the port is not open). */
Term port_register(Term id, Term name);
/* unregister/1. Fails: false when the port is not open or has no name. */
bool port_unregister(Term id);

/* ---- port_trace.c; the port is held */
/* Begins, and ends, to do `what` (an atom; SMALL(0): what came from outside): told to who traces with running_ports.
 * The traces that wait for this port as a tracer go out first. */
void port_enter(struct port *port, Term what);
void port_leave(struct port *port, Term what);
/* What happens. {trace, Port, Event, Data} of `ports` */
void port_tell(struct port *port, Term event, Term data);
/* 'receive': {From, What} or, with an argument (else TERM_NONE), {From, {What, Argument}} */
void port_tell_received(struct port *port, Term from, Term what, Term argument);
void port_tell_command(struct port *port, Term from, const struct byte_queue *data);
/* What port_control and port_call (`what`, an atom) ask. */
void port_tell_asked(struct port *port, Term from, Term what, unsigned command, const uint8_t *data, size_t n);
/* 'receive' timeout: the port's timer has fired. */
void port_tell_timeout(struct port *port);
/* Is what port_tell_sent says told to somebody? */
bool port_tells_sent(const struct port *port);
void port_tell_sent(struct port *port, Term to, Term message);
/* The answer of port_control or port_call (`what`), sent as a message would be. */
void port_tell_answer(struct port *port, Term to, Term what, const uint8_t *reply, size_t n);

/* A port as a tracer; the port is not held. */
bool port_is_open(Term id);
/* The port takes a command in time: at once it does nothing, so that any lock may be held, but a mailbox's. Takes: the
 * bytes of data. */
void port_trace_command(Term id, Term from, struct byte_queue *data);
void port_traces_init(struct port *port);
void port_traces_free(struct port *port);
/* What sessions trace of it. */
void port_forget_traced(struct port *port);

/* While on, no port reads descriptor 0: somebody else does. Ports neither come nor go meanwhile. */
void port_hold_stdin(bool on);

/* Every port of that driver ends with the reason, what it has to write is dropped. */
void port_exit_all(const struct port_driver *driver, Term reason);
/* Drops what is left to be written; then port_exit. The port is held. */
void port_abort(struct port *port, Term reason);
/* A crash dump is about to be written: drivers that want to hear of it do. No lock: as port_each. */
void port_emergency_close(void);
/* Waits until what was handed to ports has been written, or failed. */
void port_flush_all(void);

#endif
