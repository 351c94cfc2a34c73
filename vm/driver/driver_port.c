/* SPDX-License-Identifier: Apache-2.0 */
/* Callbacks of drivers, and what drivers ask of their ports.
 * Invariant: between driver_enter and driver_leave the port is held by this thread, and so is the lock of an old
 * driver. */
#include "driver/driver_port.h"

#include <errno.h>
#include <string.h>

#include "base/alloc.h"
#include "driver/driver.h"
#include "io/io_probe.h"
#include "io/posix.h"
#include "proc/peer.h"
#include "proc/process.h"
#include "proc/vm_time.h"

enum { CONTROL_ROOM = 64, CALL_ROOM = 256 };

static _Thread_local struct driver_port *current;

struct driver_port *driver_current(void)
{
	return current;
}

void driver_enter(struct driver_port *dp)
{
	dp->outer = current;
	current = dp;
	dp->slice_used = 0;
	if (dp->library->lock != NULL && (dp->outer == NULL || dp->outer->library != dp->library))
		library_mutex_lock(dp->library->lock);
}

static void let_made_go(struct driver_port *dp)
{
	struct driver_port **made = dp->made;
	size_t n = dp->made_count;

	dp->made = NULL;
	dp->made_count = 0;
	for (size_t i = 0; i < n; i++) {
		struct port *port = made[i]->port;

		port_let_go(port);
		port_unref(port);
	}
	mem_free(made);
}

void driver_leave(struct driver_port *dp)
{
	if (dp->library->lock != NULL && (dp->outer == NULL || dp->outer->library != dp->library))
		library_mutex_unlock(dp->library->lock);
	current = dp->outer;
	dp->outer = NULL;
	if (dp->made_count > 0)
		let_made_go(dp);
}

static struct driver_library *library_of(const struct port_driver *driver)
{
	return (struct driver_library *)((char *)driver - offsetof(struct driver_library, calls));
}

/* ---- start and stop */

static struct driver_port *make(struct port *port, void *data)
{
	struct driver_port *dp = mem_zalloc(sizeof(*dp));

	dp->port = port;
	dp->library = library_of(port->driver);
	dp->data = data;
	dp->failure = dp->opener = TERM_NONE;
	driver_library_ref(dp->library);
	atomic_fetch_add(&dp->library->ports, 1);
	port->driver_data = dp;
	return dp;
}

enum { NO_ERRNO = 1 << 19 }; /* a driver that fails without one: no system has it, and it is told as unknown */

/* The errno of what start returned. */
static int error_of(const void *data, int error)
{
	if (data == DRIVER_ERROR_GENERAL)
		return EINVAL;
	if (data == DRIVER_ERROR_ERRNO)
		return error > 0 ? error : NO_ERRNO;
	return data == DRIVER_ERROR_BADARG ? PORT_BADARG : 0;
}

static int start(struct port *port, const struct port_options *o)
{
	struct driver_port *dp = make(port, NULL);
	void *data = NULL;
	int error = 0;

	port->packet_bytes = 0; /* options that are the VM's own drivers' */
	if (port->driver->acks_start) {
		dp->opener = port->owner;
		dp->ack_ref = o->ack_ref;
	}
	dp->starting = true;
	driver_enter(dp);
	if (dp->library->entry.start != NULL) {
		data = dp->library->entry.start(dp, port->name);
		error = errno;
	}
	driver_leave(dp);
	dp->starting = false;
	error = error_of(data, error);
	if (error != 0) {
		atomic_store(&dp->stopped, true);
		driver_drop_selections(dp);
		driver_drop_monitors(dp);
		atomic_fetch_sub(&dp->library->ports, 1);
	} else if (dp->data == NULL) {
		dp->data = data;
	}
	return -error;
}

static void fail_now(struct driver_port *dp)
{
	Term reason = dp->failure;

	dp->failure = TERM_NONE;
	byte_queue_clear(&dp->port->out);
	if (dp->fails_quietly)
		port_end_with(dp->port, reason);
	else
		port_exit(dp->port, reason);
}

static void opened(struct port *port)
{
	struct driver_port *dp = port->driver_data;

	if (dp->failure != TERM_NONE)
		fail_now(dp);
}

static void stop(struct port *port)
{
	struct driver_port *dp = port->driver_data;

	driver_enter(dp);
	dp->says_last = !port->flushed;
	if (dp->library->entry.stop != NULL)
		dp->library->entry.stop(dp->data);
	dp->says_last = false;
	driver_leave(dp);
	atomic_store(&dp->stopped, true);
	driver_drop_selections(dp);
	driver_drop_monitors(dp);
	atomic_fetch_sub(&dp->library->ports, 1);
}

static void free_port(struct port *port)
{
	struct driver_port *dp = port->driver_data;

	if (dp == NULL)
		return;
	driver_free_selections(dp);
	driver_free_queue(dp);
	driver_library_unref(dp->library);
	mem_free(dp);
}

static void close_in_emergency(const struct port *port)
{
	const struct driver_port *dp = port->driver_data;

	if (dp != NULL && dp->library->entry.emergency_close != NULL)
		dp->library->entry.emergency_close(dp->data);
}

/* ---- what is sent */

static void output(struct port *port, struct byte_queue *data)
{
	struct driver_port *dp = port->driver_data;
	size_t n = data->size_bytes;
	char small[512], *bytes = small;

	if (dp->library->entry.output == NULL)
		return;
	if (n > sizeof(small))
		bytes = mem_alloc(n);
	byte_queue_copy(data, bytes, n);
	driver_enter(dp);
	dp->library->entry.output(dp->data, bytes, n);
	driver_leave(dp);
	if (bytes != small)
		mem_free(bytes);
}

static void outputv(struct port *port, struct byte_queue *data)
{
	struct driver_port *dp = port->driver_data;
	struct driver_iovec v;

	driver_iovec_init(&v, data, 1);
	driver_enter(dp);
	dp->library->entry.outputv(dp->data, &v);
	driver_leave(dp);
	driver_iovec_free(&v);
}

static void put_control_answer(struct driver_port *dp, struct port_answer *a, char *answer, char *room, size_t n)
{
	bool binary = dp->control_flags & DRIVER_CONTROL_BINARY;

	if (answer == NULL)
		return;
	a->binary = binary;
	if (binary && answer != room) {
		struct driver_binary *b = (struct driver_binary *)answer;

		answer_put(a, b->bytes, (size_t)b->size_bytes);
		binary_unref(driver_binary_counted(b));
		return;
	}
	answer_put(a, answer, n);
	if (answer != room)
		mem_free(answer);
}

static bool control(struct port *port, unsigned command, const uint8_t *data, size_t n, struct port_answer *a)
{
	struct driver_port *dp = port->driver_data;
	char room[CONTROL_ROOM], *answer = room;
	ssize_t size;

	if (dp->library->entry.control == NULL)
		return false;
	driver_enter(dp);
	size = dp->library->entry.control(dp->data, command, (char *)data, n, &answer, sizeof(room));
	driver_leave(dp);
	if (size < 0)
		return false;
	put_control_answer(dp, a, answer, room, (size_t)size);
	return true;
}

static bool call(struct port *port, unsigned command, const uint8_t *data, size_t n, struct port_answer *a)
{
	struct driver_port *dp = port->driver_data;
	char room[CALL_ROOM], *answer = room;
	unsigned flags = 0;
	ssize_t size;

	if (dp->library->entry.call == NULL)
		return false;
	driver_enter(dp);
	size = dp->library->entry.call(dp->data, command, (char *)data, n, &answer, sizeof(room), &flags);
	driver_leave(dp);
	if (size > 0)
		answer_put(a, answer, (size_t)size);
	if (size > 0 && answer != room && !(flags & DRIVER_CALL_KEEP_BUFFER))
		mem_free(answer);
	return size > 0;
}

/* ---- other events */

static void ready_input(struct port *port, struct port_watch *w)
{
	driver_ready(port, w, true);
}

static void ready_output(struct port *port, struct port_watch *w)
{
	driver_ready(port, w, false);
}

static void timeout(struct port *port)
{
	struct driver_port *dp = port->driver_data;

	if (dp->library->entry.timeout == NULL)
		return;
	driver_enter(dp);
	dp->library->entry.timeout(dp->data);
	driver_leave(dp);
}

static void flush(struct port *port)
{
	struct driver_port *dp = port->driver_data;

	if (dp->library->entry.flush == NULL)
		return;
	driver_enter(dp);
	dp->library->entry.flush(dp->data);
	driver_leave(dp);
}

void driver_set_calls(struct driver_library *l)
{
	const struct driver_entry *e = &l->entry;
	struct port_driver calls = {
		.name = l->name,
		.start = start,
		.opened = opened,
		.outputv = e->outputv != NULL ? outputv : output,
		.tells_output = e->outputv == NULL,
		.tells_list = e->outputv != NULL,
		.control = control,
		.call = call,
		.ready_input = ready_input,
		.ready_output = ready_output,
		.timeout = timeout,
		.flush = flush,
		.process_exit = driver_process_exit,
		.flushes = true,
		.soft_busy = e->flags & DRIVER_SOFT_BUSY,
		.no_queue_limit = e->flags & DRIVER_NO_BUSY_MSGQ,
		.acks_start = e->flags & DRIVER_INIT_ACK,
		.stops_at_halt = true,
		.queued = driver_queued,
		.emergency_close = close_in_emergency,
		.stop = stop,
		.freed = free_port,
	};

	memcpy(&l->calls, &calls, sizeof(calls));
}

/* ---- for drivers: their port */

/* {Ref, Result} to who opens the port. */
static void answer_opener(struct driver_port *dp, Term result)
{
	struct heap h = { 0 };
	Term to = dp->opener, ref = peer_put_ref(heap_alloc(&h, REF_WORDS), dp->ack_ref, 0);

	dp->opener = TERM_NONE;
	driver_send(TERM_NONE, NULL, to, heap_tuple(&h, ref, result), &h);
}

static int fail(struct driver_port *dp, Term reason, bool quietly)
{
	if (!driver_port_lives(dp))
		return -1;
	if (dp->opener != TERM_NONE && !dp->starting)
		answer_opener(dp, dp->port->id);
	dp->fails_quietly = quietly;
	dp->failure = reason;
	if (!dp->starting)
		fail_now(dp);
	return 0;
}

int driver_failure(struct driver_port *dp, int code)
{
	return fail(dp, code == 0 ? am_normal : SMALL((int64_t)code), false);
}

int driver_failure_atom(struct driver_port *dp, const char *text)
{
	return fail(dp, atom_from_latin1(text, strlen(text), NULL), false);
}

int driver_failure_posix(struct driver_port *dp, int error)
{
	return fail(dp, posix_error_atom(error), false);
}

int driver_failure_eof(struct driver_port *dp)
{
	if (!driver_port_lives(dp))
		return -1;
	if (!dp->port->eof || atomic_load(&dp->port->state) != PORT_OPEN)
		byte_queue_clear(&dp->port->out);
	if (dp->starting && !dp->port->eof)
		return fail(dp, am_normal, false);
	port_input_end(dp->port);
	return 0;
}

/* The owner gets no exit signal. */
int driver_exit(struct driver_port *dp, int error)
{
	return fail(dp, error == 0 ? am_normal : posix_error_atom(error), true);
}

void set_busy_port(struct driver_port *dp, int on)
{
	if (driver_port_lives(dp))
		port_set_busy(dp->port, on != 0);
}

void set_port_control_flags(struct driver_port *dp, int flags)
{
	if (driver_port_lives(dp))
		dp->control_flags = flags;
}

int get_port_flags(struct driver_port *dp)
{
	if (!driver_port_lives(dp))
		return 0;
	return (dp->port->binary ? DRIVER_PORT_BINARY : 0) | (dp->port->line_bytes != 0 ? DRIVER_PORT_LINE : 0);
}

Term driver_mk_port(struct driver_port *dp)
{
	return driver_port_lives(dp) ? dp->port->id : NIL;
}

Term driver_connected(struct driver_port *dp)
{
	return driver_port_lives(dp) ? dp->port->owner : NIL;
}

Term driver_caller(struct driver_port *dp)
{
	return driver_port_lives(dp) && dp->port->caller != TERM_NONE ? dp->port->caller : NIL;
}

int driver_set_timer(struct driver_port *dp, unsigned long ms)
{
	if (!driver_port_lives(dp) || dp->library->entry.timeout == NULL)
		return -1;
	port_set_timer(dp->port, ms);
	return 0;
}

int driver_cancel_timer(struct driver_port *dp)
{
	if (!driver_port_lives(dp))
		return -1;
	port_cancel_timer(dp->port);
	return 0;
}

int driver_read_timer(struct driver_port *dp, unsigned long *left_ms)
{
	if (!driver_port_lives(dp))
		return -1;
	*left_ms = port_read_timer(dp->port);
	return 0;
}

/* 1: the time that a callback should take is over. */
int erl_drv_consume_timeslice(struct driver_port *dp, int percent)
{
	if (!driver_port_lives(dp))
		return 1;
	dp->slice_used += percent < 1 ? 1 : percent > 100 ? 100 : (unsigned)percent;
	return dp->slice_used >= 100;
}

void erl_drv_set_os_pid(struct driver_port *dp, long pid)
{
	if (driver_port_lives(dp))
		dp->port->os_pid = (pid_t)pid;
}

int driver_lock_driver(struct driver_port *dp)
{
	if (!driver_port_lives(dp) || dp->library->handle == NULL)
		return -1;
	driver_libraries_lock();
	driver_tell_permanent(dp->library);
	driver_libraries_unlock();
	return 0;
}

void erl_drv_init_ack(struct driver_port *dp, void *data)
{
	int error = error_of(data, errno);

	if (!driver_port_lives(dp) || dp->opener == TERM_NONE)
		return;
	answer_opener(dp, error == 0 ? dp->port->id : error == PORT_BADARG ? am_badarg : posix_error_atom(error));
	if (error != 0)
		fail(dp, am_normal, true);
	else
		dp->data = data;
}

/* Of the same driver, linked to pid. It is held until the callback that asks for it returns. */
struct driver_port *driver_create_port(struct driver_port *dp, Term pid, const char *name, void *data)
{
	struct driver_port *made;
	struct port *port;

	if (!driver_port_lives(dp) || driver_current() == NULL || !term_is_local_pid(pid))
		return (struct driver_port *)-1;
	if (!process_is_alive(pid))
		return (struct driver_port *)-1;
	port = port_open_like(dp->port, name, pid, NULL);
	if (port == NULL)
		return (struct driver_port *)-1;
	made = make(port, data);
	dp->made = mem_realloc(dp->made, (dp->made_count + 1) * sizeof(*dp->made));
	dp->made[dp->made_count++] = made;
	return made;
}
