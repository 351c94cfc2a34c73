/* SPDX-License-Identifier: Apache-2.0 */
/* How ports open, are spoken to by who holds them, and end.
 * Invariant: a port is in the table (port_table.c) from its opening until PORT_CLOSED; the table, each running watch or
 * job, and each finder hold one reference. */
#include "io/port.h"

#include <errno.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "data/iolist.h"
#include "heap/copy.h"
#include "io/io_probe.h"
#include "io/port_signal.h"
#include "io/port_table.h"
#include "io/posix.h"
#include "proc/exc.h"
#include "proc/probe.h"
#include "proc/registry.h"
#include "proc/sched.h"
#include "proc/sched_poll.h"
#include "proc/tracee.h"

/* Binaries from this size on are queued by reference. Units: bytes. */
#define SHARE_BYTES 1024

struct port_carrier port_carrier;

void port_ref(struct port *port)
{
	atomic_fetch_add_explicit(&port->refs, 1, memory_order_relaxed);
}

static void free_port(struct progress_item *later)
{
	mem_free((char *)later - offsetof(struct port, later));
}

void port_unref(struct port *port)
{
	if (atomic_fetch_sub_explicit(&port->refs, 1, memory_order_acq_rel) != 1)
		return;
	port_traces_free(port);
	port_forget_traced(port);
	if (port->driver->freed != NULL)
		port->driver->freed(port);
	byte_queue_clear(&port->in);
	byte_queue_clear(&port->out);
	byte_queue_clear(&port->write_job_bytes);
	if (port->data_fragment != NULL)
		fragment_free(port->data_fragment);
	port_hold_free(port);
	mem_free(port->fd_input);
	mem_free(port->links);
	mem_free(port->name);
	progress_later(&port->later, free_port);
}

/* ---- opening */

static void set_queue_limits(struct port *port, const struct port_options *o)
{
	size_t low = o->queue_low, high = o->queue_high;

	if (port->driver->no_queue_limit)
		port_busy_init(port, PORT_NO_LIMIT, PORT_NO_LIMIT);
	else
		port_busy_init(port, PORT_LOW_BYTES, PORT_HIGH_BYTES);
	if (high != 0)
		port_busy_limits(port, &low, &high);
}

static struct port *make_port(const struct port_driver *driver, const struct port_options *o, Term owner)
{
	struct port *port = mem_zalloc(sizeof(*port));

	port_hold_init(port);
	port->hold.word = PORT_HELD;
	port->driver = driver;
	port->out_low = o->port_high != 0 ? o->port_low : PORT_LOW_BYTES;
	port->out_high = o->port_high != 0 ? o->port_high : PORT_HIGH_BYTES;
	set_queue_limits(port, o);
	atomic_init(&port->refs, 1);
	port->id = port_new_id();
	port->name = mem_strdup(o->name);
	atomic_init(&port->owner, owner);
	port->data = am_undefined;
	port->binary = o->binary;
	port->eof = o->eof;
	port->exit_status = o->exit_status;
	port->parallelism = o->parallelism;
	port->packet_bytes = o->packet_bytes;
	port->line_bytes = o->line_bytes;
	port->registered = TERM_NONE;
	port->caller = TERM_NONE;
	port_traces_init(port);
	return port;
}

static void tell_opened(struct port *port, Term owner)
{
	bool full;

	if (likely(!trace_active))
		return;
	trace_hooks.port_opened(port);
	if (port->trace_flags == 0)
		return;
	if (port->trace_flags & TRACE_PORTS) {
		size_t n = strnlen(port->name, ATOM_MAX_CHARS);

		trace_hooks.port_event(port, TRACE_PORTS, 3,
				       (Term[]){ am_open, owner, atom_from_latin1(port->name, n, &full) });
	}
	trace_hooks.port_began(port, am_open);
	trace_hooks.port_ended(port, am_open);
}

/* It has started, and is in the table. */
static void enter(struct port *port, Term owner)
{
	if (PROBE_ON(driver__start))
		probe_driver__start(port, owner, port->driver->name);
	if (PROBE_ON(port__open))
		probe_port__open(port, owner);
	tell_opened(port, owner);
	port_link_add(port, owner);
}

int port_open(Process *p, const struct port_driver *driver, const struct port_options *o, Term *id)
{
	struct port *port;
	struct io_callback running;
	int error;

	if (!port_table_take_place())
		return -EXFULL;
	port = make_port(driver, o, p->id);
	port_ref(port);
	port_table_enter(port); /* a driver may say something in the name of its port while it starts */
	port->caller = p->id;
	running = io_callback_begin(port, driver->name, "start");
	error = driver->start(port, o);
	io_callback_end(&running);
	port->caller = TERM_NONE;
	if (error != 0) {
		atomic_store(&port->state, PORT_CLOSED);
		port_cancel_timer(port);
		port_table_leave(port);
		port_let_go(port);
		port_unref(port);
		port_unref(port);
		return error;
	}
	*id = port->id;
	enter(port, p->id);
	if (peer_find(&p->links, port->id) == NULL)
		peer_insert(&p->links, PEER_LINK, port->id, port->id, TERM_NONE);
	if (port->reads)
		port_watch_want(&port->read_watch, WATCH_IN, true);
	if (driver->opened != NULL)
		driver->opened(port);
	port_let_go(port);
	port_unref(port);
	return 0;
}

struct port *port_open_like(struct port *from, const char *name, Term owner, void *driver_data)
{
	const struct port_options o = { .name = name, .in = true, .out = true, .binary = from->binary };
	struct port *port;

	if (!port_table_take_place())
		return NULL;
	port = make_port(from->driver, &o, owner);
	port->driver_data = driver_data;
	port_ref(port);
	port_table_enter(port);
	enter(port, owner);
	if (!signal_send_plain(SIG_LINK, port->id, owner, TERM_NONE))
		port_exit(port, am_noproc);
	return port;
}

/* ---- the end */

size_t port_queued(struct port *port)
{
	return port->driver->queued != NULL ? port->driver->queued(port) : port->out.size_bytes;
}

/* What a killed port has not written goes with it; a write that is under way is waited for. */
static bool has_output(struct port *port)
{
	return (!port->killed && port_queued(port) > 0) || port->write_job_runs;
}

static void finish_close(struct port *port)
{
	struct io_callback running;

	atomic_store(&port->state, PORT_CLOSED);
	port_cancel_timer(port);
	if (PROBE_ON(driver__stop))
		probe_driver__stop(port, port->owner, port->driver->name);
	running = io_callback_begin(port, port->driver->name, "stop");
	port->driver->stop(port);
	io_callback_end(&running);
	byte_queue_clear(&port->out);
	if (port->closed_wanted)
		port_deliver_atom(port, port->closed_to, am_closed);
	port_table_leave(port);
	port_unref(port);
}

void port_exit(struct port *port, Term reason)
{
	struct io_callback running;

	if (port->state != PORT_OPEN)
		return;
	atomic_store(&port->state, PORT_FLUSHING);
	if (PROBE_ON(port__exit))
		probe_port__exit(port, port->owner, reason);
	port_tell(port, am_closed, reason);
	port->killed = reason == am_kill;
	if (port->killed)
		reason = am_killed;
	if (port->registered != TERM_NONE)
		port_tell(port, am_unregister, port->registered);
	for (size_t k = 0; k < port->link_count; k++)
		signal_send_reason(SIG_LINK_EXIT, port->id, port->links[k], TERM_NONE, reason);
	port->link_count = 0;
	port_monitors_drop(port, reason);
	if (port->carrier != NULL)
		port_carrier.closed(port, reason);
	if (port->registered != TERM_NONE)
		registry_unregister_port(port->id, port->registered);
	port->registered = TERM_NONE;
	port_busy_end(port);
	if (port->killed || !port->driver->flushes || !has_output(port))
		return;
	port->flushed = true;
	if (PROBE_ON(driver__flush))
		probe_driver__flush(port, port->owner);
	if (port->driver->flush == NULL)
		return;
	running = io_callback_begin(port, port->driver->name, "flush");
	port->driver->flush(port);
	io_callback_end(&running);
}

void port_end_with(struct port *port, Term reason)
{
	if (port->state != PORT_OPEN)
		return;
	if (port_link_remove(port, port->owner))
		signal_send_plain(SIG_UNLINK, port->id, port->owner, SMALL(0));
	port_exit(port, reason);
}

void port_end(struct port *port)
{
	port_end_with(port, am_normal);
}

void port_settle(struct port *port)
{
	if (port->state == PORT_FLUSHING && !(port->driver->flushes && has_output(port)))
		finish_close(port);
}

void port_output_done(struct port *port)
{
	if (port->waits.busy && port->out.size_bytes <= port->out_low)
		port_set_busy(port, false);
}

/* ---- commands */

/* Small data is copied; one big binary is shared. */
bool port_put_iodata(struct byte_queue *q, Term iodata)
{
	const uint8_t *bytes;
	struct binary *b = NULL;
	bool ok = true;
	size_t n;

	if (iolist_size(iodata, &n) != IOLIST_OK)
		return false;
	if (n > SHARE_BYTES && term_is_binary(iodata))
		b = binary_share(iodata, &bytes, &n);
	if (b == NULL) {
		b = binary_new(n);
		if (b == NULL)
			return false;
		bytes = b->data;
		ok = iolist_copy(iodata, b->data, n) == IOLIST_OK;
	}
	if (ok && n <= SHARE_BYTES)
		ok = byte_queue_put(q, bytes, n);
	else if (ok)
		byte_queue_put_binary(q, b, bytes, n);
	binary_unref(b);
	return ok;
}

static size_t header_bytes(const struct port *port, size_t n, uint8_t header[4])
{
	for (unsigned k = 0; k < port->packet_bytes; k++)
		header[k] = (uint8_t)(n >> (8 * (port->packet_bytes - 1 - k)));
	return port->packet_bytes;
}

static bool packet_fits(const struct port *port, size_t n)
{
	return port->packet_bytes == 0 || port->packet_bytes == 4 || n >> (8 * port->packet_bytes) == 0;
}

static void output_framed(struct port *port, struct byte_queue *data)
{
	size_t n = data->size_bytes;
	uint8_t header[4];

	if (!port->writes || !packet_fits(port, n)) {
		byte_queue_clear(data);
		port_exit(port, packet_fits(port, n) ? posix_error_atom(EBADF) : am_einval);
		return;
	}
	byte_queue_put(&port->out, header, header_bytes(port, n, header));
	byte_queue_move(&port->out, data);
	if (port->out.size_bytes > 0) {
		struct io_callback running = io_callback_begin(port, port->driver->name, "output");

		port->driver->output(port);
		io_callback_end(&running);
	}
	if (port->state == PORT_OPEN && port->out.size_bytes >= port->out_high)
		port_set_busy(port, true);
}

void port_output(struct port *port, Term caller, struct byte_queue *data)
{
	size_t n = data->size_bytes;
	struct io_callback running;

	port->output_bytes += n;
	port_table_count_output(n);
	if (port_takes_vectors(port)) {
		if (PROBE_ON(driver__outputv))
			probe_driver__outputv(port, caller, (int64_t)n);
	} else if (PROBE_ON(driver__output)) {
		probe_driver__output(port, caller, (int64_t)n);
	}
	if (port->driver->outputv == NULL) {
		output_framed(port, data);
		return;
	}
	port->caller = caller;
	running = io_callback_begin(port, port->driver->name, port_takes_vectors(port) ? "outputv" : "output");
	port->driver->outputv(port, data);
	io_callback_end(&running);
	port->caller = TERM_NONE;
	byte_queue_clear(data);
}

void port_command_open(struct port *port, Term caller, struct byte_queue *data)
{
	if (PROBE_ON(port__command))
		probe_port__command(port, caller, "command");
	port_tell_command(port, caller, data);
	port_output(port, caller, data);
}

bool port_command(struct port *port, Term caller, struct byte_queue *data)
{
	bool open = port->state == PORT_OPEN;

	port_enter(port, am_command);
	if (open)
		port_command_open(port, caller, data);
	port_leave(port, am_command);
	byte_queue_clear(data);
	return open;
}

static bool run_control(struct port *port, unsigned command, const uint8_t *data, size_t n, struct port_answer *a)
{
	struct io_callback running = io_callback_begin(port, port->driver->name, "control");
	bool ok = port->driver->control(port, command, data, n, a);

	io_callback_end(&running);
	return ok;
}

bool port_control(struct port *port, Term caller, unsigned command, const uint8_t *data, size_t n,
		  struct port_answer *a)
{
	bool ok = false;

	port_enter(port, am_control);
	if (PROBE_ON(port__control))
		probe_port__control(port, caller, (int)command);
	if (PROBE_ON(driver__control))
		probe_driver__control(port, caller, (int)command, (int64_t)n);
	if (port->state == PORT_OPEN) {
		port_tell_asked(port, caller, am_control, command, data, n);
		port->caller = caller;
		ok = port->driver->control != NULL && run_control(port, command, data, n, a);
		port->caller = TERM_NONE;
	}
	if (ok)
		port_tell_answer(port, caller, am_control, a->bytes, a->n);
	port_leave(port, am_control);
	return ok;
}

/* The first byte of an answer of `call`, of the external format. */
#define TERM_VERSION 131

bool port_call(struct port *port, Term caller, unsigned command, const uint8_t *data, size_t n, struct port_answer *a)
{
	bool ok = false;
	struct io_callback running;

	port_enter(port, am_call);
	if (port->state == PORT_OPEN && port->driver->call != NULL) {
		if (PROBE_ON(driver__call))
			probe_driver__call(port, caller, (int)command, (int64_t)n);
		port_tell_asked(port, caller, am_call, command, data, n);
		port->caller = caller;
		running = io_callback_begin(port, port->driver->name, "call");
		ok = port->driver->call(port, command, data, n, a);
		io_callback_end(&running);
		port->caller = TERM_NONE;
	}
	if (ok && a->n > 0 && a->bytes[0] == TERM_VERSION)
		port_tell_answer(port, caller, am_call, a->bytes, a->n);
	port_leave(port, am_call);
	return ok;
}

void port_change_owner(struct port *port, Term caller, Term new_owner)
{
	if (PROBE_ON(port__connect))
		probe_port__connect(port, caller, new_owner);
	atomic_store(&port->owner, new_owner);
	port_tell_received(port, caller, am_connect, new_owner);
}

bool port_connect(struct port *port, Term caller, Term new_owner)
{
	Term words[3] = { HEADER(2, SUB_TUPLE), port->id, am_connected };
	bool open = port->state == PORT_OPEN && process_is_alive(new_owner);

	port_enter(port, am_connect);
	if (open) {
		if (PROBE_ON(port__command))
			probe_port__command(port, caller, "connect");
		port_link_add(port, new_owner);
		signal_send_plain(SIG_LINK, port->id, new_owner, TERM_NONE);
		port_change_owner(port, caller, new_owner);
		port_tell_sent(port, caller, term_from_boxed(words)); /* the result of the call */
	}
	port_leave(port, am_connect);
	return open;
}

bool port_close(struct port *port, Term caller, Term reason)
{
	bool open = port->state == PORT_OPEN;

	port_enter(port, am_close);
	if (open) {
		if (PROBE_ON(port__command))
			probe_port__command(port, caller, "close");
		port_tell_received(port, caller, am_close, TERM_NONE);
		port_exit(port, reason);
	}
	port_leave(port, am_close);
	return open;
}

bool port_set_data(struct port *port, Term data)
{
	struct fragment *f;
	Term copy;

	if (port->state != PORT_OPEN)
		return false;
	f = copy_to_fragment(data, &copy);
	if (port->data_fragment != NULL)
		fragment_free(port->data_fragment);
	port->data_fragment = f;
	port->data = copy;
	return true;
}

Term port_register(Term id, Term name)
{
	struct port *port = port_find(id);
	Term result = am_none;

	if (port == NULL)
		return am_none;
	port_hold(port);
	if (port->registered != TERM_NONE)
		result = am_registered_name;
	else if (port->state == PORT_OPEN && registry_register_port(name, id))
		result = am_true;
	if (result == am_true) {
		port->registered = name;
		port_tell(port, am_register, name);
	}
	port_let_go(port);
	port_unref(port);
	return result;
}

bool port_unregister(Term id)
{
	struct port *port = port_find(id);
	bool ok;

	if (port == NULL)
		return false;
	port_hold(port);
	ok = port->registered != TERM_NONE;
	if (ok) {
		registry_unregister_port(id, port->registered);
		port_tell(port, am_unregister, port->registered);
	}
	port->registered = TERM_NONE;
	port_let_go(port);
	port_unref(port);
	return ok;
}

/* ---- halt */

static bool owes_output(struct port *port)
{
	bool owes;

	port_hold(port);
	owes = port->driver->flushes && (!port->driver->drops_at_halt || port->carrier != NULL) &&
	       port->state != PORT_CLOSED && has_output(port);
	port_let_go(port);
	return owes;
}

/* ---- ends of many */

void port_abort(struct port *port, Term reason)
{
	byte_queue_clear(&port->out);
	port_exit(port, reason);
}

struct waiting_end {
	struct port_task task;
	Term reason;
};

static void run_end(struct port *port, struct port_task *task)
{
	struct waiting_end *w = (struct waiting_end *)task;

	port_abort(port, w->reason);
	mem_free(w);
}

void port_exit_all(const struct port_driver *driver, Term reason)
{
	size_t n;
	struct port **ports = port_table_all(&n);

	for (size_t k = 0; k < n; k++) {
		if (ports[k]->driver == driver && port_try_hold(ports[k])) {
			port_abort(ports[k], reason);
			port_let_go(ports[k]);
		} else if (ports[k]->driver == driver) {
			struct waiting_end *w = mem_alloc(sizeof(*w));

			*w = (struct waiting_end){ .task.run = run_end, .reason = reason };
			port_submit(ports[k], &w->task);
		}
		port_unref(ports[k]);
	}
	mem_free(ports);
}

static void close_in_emergency(const struct port *port, void *arg)
{
	(void)arg;
	if (port->driver->emergency_close != NULL && port->state != PORT_CLOSED)
		port->driver->emergency_close(port);
}

void port_emergency_close(void)
{
	port_each(close_in_emergency, NULL);
}

static void stop_at_halt(struct port *port)
{
	if (!port->driver->stops_at_halt)
		return;
	port_hold(port);
	port_exit(port, am_killed);
	port_let_go(port);
}

/* This may be the only scheduler, and the others may wait for it to let the world stop. */
static void flush_on(void)
{
	if (sched_job_run())
		return;
	sched_yield_world();
	sched_poll_now();
	nanosleep(&(struct timespec){ .tv_nsec = 200000 }, NULL);
}

void port_flush_all(void)
{
	size_t n;
	struct port **ports = port_table_all(&n);
	int64_t max_ms = atomic_load(&sched_flush_max_ms), end_ns = clock_monotonic_ns() + max_ms * 1000000;

	for (size_t k = 0; k < n; k++) {
		stop_at_halt(ports[k]);
		while (owes_output(ports[k])) {
			if (max_ms >= 0 && clock_monotonic_ns() >= end_ns)
				_exit(SCHED_FLUSH_LATE);
			flush_on();
		}
		port_unref(ports[k]);
	}
	mem_free(ports);
}
