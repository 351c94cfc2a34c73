/* SPDX-License-Identifier: Apache-2.0 */
/* The port table; how ports open, are spoken to, and end.
 * Invariant: a port is in the table from its opening until PORT_CLOSED; the table, each running watch or job, and each
 * finder hold one reference. */
#include "io/port.h"

#include <errno.h>
#include <string.h>
#include <time.h>

#include "base/alloc.h"
#include "base/hash.h"
#include "data/iolist.h"
#include "heap/copy.h"
#include "io/io_probe.h"
#include "io/posix.h"
#include "proc/exc.h"
#include "proc/probe.h"
#include "proc/registry.h"
#include "proc/sched.h"
#include "proc/trace.h"

#define TABLE_BUCKETS 1024
/* Binaries from this size on are queued by reference. Units: bytes. */
#define SHARE_BYTES 1024

static struct {
	struct lock lock;
	struct port *buckets[TABLE_BUCKETS]; /* lock */
	_Atomic size_t count;                /* changed under the lock; those being opened are counted */
	size_t limit;                        /* lock */
	atomic_uint_fast64_t next_number;
	atomic_uint_fast64_t input_bytes, output_bytes; /* of all ports that ever were */
} table;

struct port_carrier port_carrier;

void port_init(void)
{
	lock_init(&table.lock, LOCK_port_table);
	table.limit = PORT_LIMIT_DEFAULT;
	poll_init();
}

void port_io_bytes(uint64_t *in, uint64_t *out)
{
	*in = atomic_load_explicit(&table.input_bytes, memory_order_relaxed);
	*out = atomic_load_explicit(&table.output_bytes, memory_order_relaxed);
}

void port_count_input(struct port *port, size_t n)
{
	port->input_bytes += n;
	atomic_fetch_add_explicit(&table.input_bytes, n, memory_order_relaxed);
}

Term port_new_id(void)
{
	return term_from_port(atomic_fetch_add(&table.next_number, 1));
}

static struct port **bucket_of(Term id)
{
	return &table.buckets[hash_word(id) % TABLE_BUCKETS];
}

struct port *port_find(Term id)
{
	struct port *port;

	lock_acquire(&table.lock);
	for (port = *bucket_of(id); port != NULL && port->id != id; port = port->next) {
	}
	if (port != NULL)
		port_ref(port);
	lock_release(&table.lock);
	return port;
}

void port_set_limit(size_t limit)
{
	table.limit = limit;
}

size_t port_limit(void)
{
	return table.limit;
}

/* A place in the table, for enter_table; leave_table gives it back. */
static bool take_place(void)
{
	bool ok;

	lock_acquire(&table.lock);
	ok = table.count < table.limit;
	table.count += ok;
	lock_release(&table.lock);
	return ok;
}

static void enter_table(struct port *port)
{
	struct port **head = bucket_of(port->id);

	lock_acquire(&table.lock);
	port->next = *head;
	*head = port;
	lock_release(&table.lock);
}

static void leave_table(struct port *port)
{
	struct port **at = bucket_of(port->id);

	lock_acquire(&table.lock);
	while (*at != port)
		at = &(*at)->next;
	*at = port->next;
	table.count--;
	lock_release(&table.lock);
}

void port_each(void (*see)(const struct port *port, void *arg), void *arg)
{
	for (size_t i = 0; i < TABLE_BUCKETS; i++)
		for (const struct port *port = table.buckets[i]; port != NULL; port = port->next)
			see(port, arg);
}

size_t port_count(void)
{
	return atomic_load_explicit(&table.count, memory_order_relaxed);
}

Term port_list(struct heap *h)
{
	Term list = NIL;

	lock_acquire(&table.lock);
	for (int b = 0; b < TABLE_BUCKETS; b++) {
		for (struct port *port = table.buckets[b]; port != NULL; port = port->next)
			list = heap_cons(h, port->id, list);
	}
	lock_release(&table.lock);
	return list;
}

void port_ref(struct port *port)
{
	atomic_fetch_add_explicit(&port->refs, 1, memory_order_relaxed);
}

void port_unref(struct port *port)
{
	if (atomic_fetch_sub_explicit(&port->refs, 1, memory_order_acq_rel) != 1)
		return;
	port_traces_free(port);
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
	mem_free(port->waiters);
	mem_free(port->name);
	mem_free(port);
}

/* ---- links and monitors; the port is held */

static void add_link(struct port *port, Term pid)
{
	for (size_t k = 0; k < port->link_count; k++) {
		if (port->links[k] == pid)
			return;
	}
	port_tell(port, am_getting_linked, pid);
	if (port->link_count == port->link_room) {
		port->link_room = port->link_room * 2 + 2;
		port->links = mem_realloc(port->links, port->link_room * sizeof(Term));
	}
	port->links[port->link_count++] = pid;
}

static bool remove_link(struct port *port, Term pid)
{
	for (size_t k = 0; k < port->link_count; k++) {
		if (port->links[k] == pid) {
			port->links[k] = port->links[--port->link_count];
			return true;
		}
	}
	return false;
}

static void drop_monitors(struct port *port, Term reason)
{
	while (port->monitors != NULL) {
		struct port_monitor *m = port->monitors;
		Term ref[REF_WORDS];

		port->monitors = m->next;
		signal_send_reason(SIG_DOWN, port->id, m->pid, peer_put_ref(ref, m->number, m->tag), reason);
		mem_free(m);
	}
}

static void add_monitor(struct port *port, const struct signal *s)
{
	struct port_monitor *m = mem_alloc(sizeof(*m));

	*m = (struct port_monitor){ port->monitors, s->from, ref_number(s->ref), ref_tag(s->ref) };
	port->monitors = m;
}

static void remove_monitor(struct port *port, Term ref)
{
	struct port_monitor **at = &port->monitors, *m;

	while (*at != NULL && (*at)->number != ref_number(ref))
		at = &(*at)->next;
	m = *at;
	if (m == NULL)
		return;
	*at = m->next;
	mem_free(m);
}

/* ---- opening */

static struct port *make_port(const struct port_driver *driver, const struct port_options *o, Term owner)
{
	struct port *port = mem_zalloc(sizeof(*port));

	port_hold_init(port);
	port->hold.word = PORT_HELD;
	atomic_init(&port->refs, 1);
	port->id = port_new_id();
	port->driver = driver;
	port->name = mem_strdup(o->name);
	atomic_init(&port->owner, owner);
	port->data = am_undefined;
	port->binary = o->binary;
	port->eof = o->eof;
	port->exit_status = o->exit_status;
	port->packet_bytes = o->packet_bytes;
	port->line_bytes = o->line_bytes;
	port->registered = TERM_NONE;
	port->caller = TERM_NONE;
	port->tracer = NIL;
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

		trace_hooks.port_event(port, 3, (Term[]){ am_open, owner, atom_from_latin1(port->name, n, &full) });
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
	add_link(port, owner);
}

int port_open(Process *p, const struct port_driver *driver, const struct port_options *o, Term *id)
{
	struct port *port;
	uint64_t began;
	int error;

	if (!take_place())
		return -EXFULL;
	port = make_port(driver, o, p->id);
	port_ref(port);
	enter_table(port); /* a driver may say something in the name of its port while it starts */
	port->caller = p->id;
	began = io_callback_began();
	error = driver->start(port, o);
	io_callback_returned(driver->name, port->id, "start", began);
	port->caller = TERM_NONE;
	if (error != 0) {
		atomic_store(&port->state, PORT_CLOSED);
		port_cancel_timer(port);
		leave_table(port);
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

	if (!take_place())
		return NULL;
	port = make_port(from->driver, &o, owner);
	port->driver_data = driver_data;
	port_ref(port);
	enter_table(port);
	enter(port, owner);
	if (!signal_send_plain(SIG_LINK, port->id, owner, TERM_NONE))
		port_exit(port, am_noproc);
	return port;
}

/* ---- messages whose turn has not come */

struct waiting_message {
	struct port_task task;
	struct fragment *fragment; /* NULL: no words */
	Term message;
	Term sender;               /* of one that is kept: suspended */
};

static void obey(struct port *port, Term message);

static void free_message(struct waiting_message *m)
{
	if (m->fragment != NULL)
		fragment_free(m->fragment);
	mem_free(m);
}

static void run_message(struct port *port, struct port_task *task)
{
	struct waiting_message *m = (struct waiting_message *)task;

	obey(port, m->message);
	free_message(m);
}

static struct waiting_message *make_message(Term message, Term sender)
{
	struct waiting_message *m = mem_alloc(sizeof(*m));

	m->task = (struct port_task){ .run = run_message };
	m->fragment = copy_to_fragment(message, &m->message);
	m->sender = sender;
	return m;
}

static bool is_command(Term message)
{
	Term what = term_is_tuple_of(message, 2) ? tuple_get(message, 2) : NIL;

	return term_is_tuple_of(what, 2) && tuple_get(what, 1) == am_command;
}

/* A command to a busy port is kept until it is not, and its sender, who runs here, sleeps for as long. False: the port
 * takes it. */
static bool keep_message(struct port *port, Process *from, Term message)
{
	struct waiting_message *m;
	bool keeps;

	if (!port->busy || !port->driver->hard_busy || !is_command(message))
		return false;
	m = make_message(message, from->id);
	lock_acquire(&port->hold.lock);
	keeps = port->busy && port->state == PORT_OPEN;
	if (keeps) {
		if (port->kept == NULL)
			port->kept_last = &port->kept;
		*port->kept_last = &m->task;
		port->kept_last = &m->task.next;
	}
	lock_release(&port->hold.lock);
	if (!keeps) {
		free_message(m);
		return false;
	}
	if (unlikely(trace_active))
		trace_hooks.port_busy(from, port->id);
	process_suspend_self(from);
	return true;
}

static void wake_sender(const struct port *port, Term sender)
{
	Process *p = process_find(sender);

	if (p == NULL)
		return;
	if (PROBE_ON(process__port_unblocked))
		probe_process__port_unblocked(p->id, port->id);
	signal_send_plain(SIG_RESUME, port->id, sender, TERM_NONE);
	process_unref(p);
}

/* In the order they came. */
static void let_kept_go(struct port *port, struct port_task *kept)
{
	while (kept != NULL) {
		struct port_task *task = kept;

		kept = task->next;
		wake_sender(port, ((struct waiting_message *)task)->sender);
		port_submit(port, task);
	}
}

/* ---- the end */

/* The hold's lock is held. */
static void wake_waiters(struct port *port)
{
	for (size_t k = 0; k < port->waiter_count; k++) {
		process_unblock(port->waiters[k]);
		process_unref(port->waiters[k]);
	}
	port->waiter_count = 0;
}

void port_set_busy(struct port *port, bool busy)
{
	struct port_task *kept = NULL;

	if (port->busy == busy)
		return;
	if (busy) {
		if (PROBE_ON(port__busy))
			probe_port__busy(port);
	} else {
		if (PROBE_ON(port__not_busy))
			probe_port__not_busy(port);
	}
	lock_acquire(&port->hold.lock);
	port->busy = busy;
	if (!busy) {
		wake_waiters(port);
		kept = port->kept;
		port->kept = NULL;
	}
	lock_release(&port->hold.lock);
	if (!busy && port->carrier != NULL)
		port_carrier.writable(port);
	let_kept_go(port, kept);
}

size_t port_queued(struct port *port)
{
	return port->driver->queued != NULL ? port->driver->queued(port) : port->out.size_bytes;
}

static bool has_output(struct port *port)
{
	return port_queued(port) > 0 || port->write_job_runs;
}

static void finish_close(struct port *port)
{
	uint64_t began;

	atomic_store(&port->state, PORT_CLOSED);
	port_cancel_timer(port);
	if (PROBE_ON(driver__stop))
		probe_driver__stop(port, port->owner, port->driver->name);
	began = io_callback_began();
	port->driver->stop(port);
	io_callback_returned(port->driver->name, port->id, "stop", began);
	byte_queue_clear(&port->out);
	port_set_busy(port, false);
	if (port->closed_wanted)
		port_deliver_atom(port, port->closed_to, am_closed);
	leave_table(port);
	port_unref(port);
}

void port_exit(struct port *port, Term reason)
{
	uint64_t began;

	if (port->state != PORT_OPEN)
		return;
	atomic_store(&port->state, PORT_FLUSHING);
	if (PROBE_ON(port__exit))
		probe_port__exit(port, port->owner, reason);
	port_tell(port, am_closed, reason);
	if (reason == am_kill)
		reason = am_killed;
	if (port->registered != TERM_NONE)
		port_tell(port, am_unregister, port->registered);
	for (size_t k = 0; k < port->link_count; k++)
		signal_send_reason(SIG_LINK_EXIT, port->id, port->links[k], TERM_NONE, reason);
	port->link_count = 0;
	drop_monitors(port, reason);
	if (port->carrier != NULL)
		port_carrier.closed(port, reason);
	if (port->registered != TERM_NONE)
		registry_unregister_port(port->id, port->registered);
	if (!port->driver->flushes || !has_output(port))
		return;
	if (PROBE_ON(driver__flush))
		probe_driver__flush(port, port->owner);
	if (port->driver->flush == NULL)
		return;
	began = io_callback_began();
	port->driver->flush(port);
	io_callback_returned(port->driver->name, port->id, "flush", began);
}

void port_end_with(struct port *port, Term reason)
{
	if (port->state != PORT_OPEN)
		return;
	if (remove_link(port, port->owner))
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
	if (port->busy && port->out.size_bytes <= PORT_LOW_BYTES)
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
		uint64_t began = io_callback_began();

		port->driver->output(port);
		io_callback_returned(port->driver->name, port->id, "output", began);
	}
	if (port->state == PORT_OPEN && port->out.size_bytes >= PORT_HIGH_BYTES)
		port_set_busy(port, true);
}

void port_output(struct port *port, Term caller, struct byte_queue *data)
{
	bool tells_output = port->driver->outputv == NULL || port->driver->tells_output;
	size_t n = data->size_bytes;
	uint64_t began;

	port->output_bytes += n;
	atomic_fetch_add_explicit(&table.output_bytes, n, memory_order_relaxed);
	if (tells_output) {
		if (PROBE_ON(driver__output))
			probe_driver__output(port, caller, (int64_t)n);
	} else if (PROBE_ON(driver__outputv)) {
		probe_driver__outputv(port, caller, (int64_t)n);
	}
	if (port->driver->outputv == NULL) {
		output_framed(port, data);
		return;
	}
	port->caller = caller;
	began = io_callback_began();
	port->driver->outputv(port, data);
	io_callback_returned(port->driver->name, port->id, tells_output ? "output" : "outputv", began);
	port->caller = TERM_NONE;
	byte_queue_clear(data);
}

static void command_held(struct port *port, Term caller, struct byte_queue *data)
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
		command_held(port, caller, data);
	port_leave(port, am_command);
	byte_queue_clear(data);
	return open;
}

static bool run_control(struct port *port, unsigned command, const uint8_t *data, size_t n, struct port_answer *a)
{
	uint64_t began = io_callback_began();
	bool ok = port->driver->control(port, command, data, n, a);

	io_callback_returned(port->driver->name, port->id, "control", began);
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
		port_tell_control(port, caller, command, data, n);
		port->caller = caller;
		ok = port->driver->control != NULL && run_control(port, command, data, n, a);
		port->caller = TERM_NONE;
	}
	if (ok)
		port_tell_answer(port, caller, a->bytes, a->n);
	port_leave(port, am_control);
	return ok;
}

bool port_call(struct port *port, Term caller, unsigned command, const uint8_t *data, size_t n, struct port_answer *a)
{
	bool ok = false;
	uint64_t began;

	port_enter(port, am_call);
	if (port->state == PORT_OPEN && port->driver->call != NULL) {
		if (PROBE_ON(driver__call))
			probe_driver__call(port, caller, (int)command, (int64_t)n);
		port->caller = caller;
		began = io_callback_began();
		ok = port->driver->call(port, command, data, n, a);
		io_callback_returned(port->driver->name, port->id, "call", began);
		port->caller = TERM_NONE;
	}
	port_leave(port, am_call);
	return ok;
}

static void connect_held(struct port *port, Term caller, Term new_owner)
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
		add_link(port, new_owner);
		signal_send_plain(SIG_LINK, port->id, new_owner, TERM_NONE);
		connect_held(port, caller, new_owner);
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

/* ---- Port ! {Owner, Command} */

static void send_close(struct port *port, Term owner)
{
	if (PROBE_ON(port__command))
		probe_port__command(port, owner, "close");
	port->closed_wanted = true;
	port->closed_to = owner;
	port_tell_received(port, owner, am_close, TERM_NONE);
	port_exit(port, am_normal);
}

/* False: not a command, or not from the owner. */
static bool obey_held(struct port *port, Term message)
{
	Term owner = port->owner, what;
	struct byte_queue data;

	if (!term_is_tuple_of(message, 2) || tuple_get(message, 1) != owner)
		return false;
	what = tuple_get(message, 2);
	if (what == am_close) {
		send_close(port, owner);
		return true;
	}
	if (!term_is_tuple_of(what, 2))
		return false;
	if (tuple_get(what, 1) == am_connect && process_is_alive(tuple_get(what, 2))) {
		if (PROBE_ON(port__command))
			probe_port__command(port, owner, "connect");
		connect_held(port, owner, tuple_get(what, 2));
		port_deliver_atom(port, owner, am_connected);
		return true;
	}
	byte_queue_init(&data);
	if (tuple_get(what, 1) != am_command || !port_put_iodata(&data, tuple_get(what, 2))) {
		byte_queue_clear(&data);
		return false;
	}
	command_held(port, owner, &data);
	byte_queue_clear(&data);
	return true;
}

/* The command that a message is, as far as its form says. */
static Term name_command(Term message)
{
	Term what = term_is_tuple_of(message, 2) ? tuple_get(message, 2) : NIL;

	if (term_is_tuple_of(what, 2))
		what = tuple_get(what, 1);
	return term_is_atom(what) ? what : SMALL(0);
}

static void obey(struct port *port, Term message)
{
	Term what = name_command(message);

	port_enter(port, what);
	if (port->state == PORT_OPEN && !obey_held(port, message))
		signal_send_reason(SIG_EXIT, port->id, port->owner, TERM_NONE, am_badsig); /* whoever sent it */
	port_leave(port, what);
}

bool port_suspends(Term id, Term message)
{
	struct port *port = is_command(message) ? port_find(id) : NULL;
	bool suspends = port != NULL && port->busy && port->driver->hard_busy;

	if (port != NULL)
		port_unref(port);
	return suspends;
}

bool port_send(Process *from, Term id, Term message)
{
	struct port *port = port_find(id);

	if (port == NULL)
		return true;
	if (keep_message(port, from, message)) {
		port_unref(port);
		return true;
	}
	if (port_try_hold(port)) {
		obey(port, message);
		port_let_go(port);
	} else {
		port_submit(port, &make_message(message, TERM_NONE)->task);
	}
	/* A send cannot wait for a port that is busy; it can make room for others. */
	if (port->busy && from != NULL)
		process_yield_soon(from);
	port_unref(port);
	return true;
}

/* ---- signals */

static void run_process_exit(struct port *port, const struct signal *s)
{
	uint64_t began = io_callback_began();

	port->driver->process_exit(port, s->from, ref_number(s->ref));
	io_callback_returned(port->driver->name, port->id, "process_exit", began);
}

static void handle_signal(struct port *port, struct signal *s)
{
	switch (s->kind) {
	case SIG_LINK:
		add_link(port, s->from);
		break;
	case SIG_UNLINK:
		if (remove_link(port, s->from))
			port_tell(port, am_getting_unlinked, s->from);
		signal_send_plain(SIG_UNLINK_ACK, port->id, s->from, s->ref);
		break;
	case SIG_LINK_EXIT:
		if (!remove_link(port, s->from))
			break;
		if (PROBE_ON(driver__process_exit))
			probe_driver__process_exit(port, s->from);
		port_tell_received(port, s->from, am_close, TERM_NONE);
		if (s->from == port->owner || s->term != am_normal)
			port_exit(port, s->term);
		break;
	case SIG_EXIT:
		port_tell_received(port, s->from, am_close, TERM_NONE);
		if (s->term != am_normal || s->from == port->owner)
			port_exit(port, s->term);
		break;
	case SIG_DOWN:
		if (PROBE_ON(driver__process_exit))
			probe_driver__process_exit(port, s->from);
		if (port->driver->process_exit != NULL)
			run_process_exit(port, s);
		break;
	case SIG_MONITOR:
		add_monitor(port, s);
		break;
	case SIG_DEMONITOR:
		remove_monitor(port, s->ref);
		break;
	default:
		break;
	}
}

static Term name_signal(const struct signal *s)
{
	switch (s->kind) {
	case SIG_LINK: return am_link;
	case SIG_UNLINK: return am_unlink;
	case SIG_EXIT: return am_close;
	case SIG_MONITOR: return am_monitor;
	case SIG_DEMONITOR: return am_demonitor;
	default: return SMALL(0);
	}
}

/* Takes: s. */
static void take_signal(struct port *port, struct signal *s)
{
	Term what = name_signal(s);

	port_enter(port, what);
	if (port->state == PORT_OPEN) {
		handle_signal(port, s);
		signal_free(s);
	} else {
		signal_reject(port->id, s);
	}
	port_leave(port, what);
}

/* A signal whose turn has not come. */
struct waiting_signal {
	struct port_task task;
	struct signal *signal;
};

static void run_signal(struct port *port, struct port_task *task)
{
	struct waiting_signal *w = (struct waiting_signal *)task;

	take_signal(port, w->signal);
	mem_free(w);
}

bool port_signal(Term to, struct signal *s)
{
	struct port *port = port_find(to);

	if (port == NULL) {
		signal_reject(to, s);
		return false;
	}
	if (port_try_hold(port)) {
		take_signal(port, s);
		port_let_go(port);
	} else {
		struct waiting_signal *w = mem_alloc(sizeof(*w));

		w->task.run = run_signal;
		w->signal = s;
		port_submit(port, &w->task);
	}
	port_unref(port);
	return true;
}

uint64_t port_monitor(struct port *port, Term pid)
{
	Term words[REF_WORDS];
	uint64_t number = ref_next_number();

	return signal_send_plain(SIG_MONITOR, port->id, pid, peer_put_ref(words, number, 0)) ? number : 0;
}

void port_demonitor(struct port *port, Term pid, uint64_t monitor)
{
	Term words[REF_WORDS];

	signal_send_plain(SIG_DEMONITOR, port->id, pid, peer_put_ref(words, monitor, 0));
}

/* ---- halt */

static bool owes_output(struct port *port)
{
	bool owes;

	port_hold(port);
	owes = port->driver->flushes && port->state != PORT_CLOSED && has_output(port);
	port_let_go(port);
	return owes;
}

/* Every port now in the table, counted. Owns: the caller. */
static struct port **all_ports(size_t *n)
{
	struct port **ports;

	lock_acquire(&table.lock);
	ports = mem_alloc((table.count + 1) * sizeof(*ports));
	*n = 0;
	for (int b = 0; b < TABLE_BUCKETS; b++) {
		for (struct port *port = table.buckets[b]; port != NULL; port = port->next) {
			port_ref(port);
			ports[(*n)++] = port;
		}
	}
	lock_release(&table.lock);
	return ports;
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
	struct port **ports = all_ports(&n);

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

void port_flush_all(void)
{
	struct timespec nap = { .tv_nsec = 200000 };
	size_t n;
	struct port **ports = all_ports(&n);

	for (size_t k = 0; k < n; k++) {
		stop_at_halt(ports[k]);
		while (owes_output(ports[k]))
			if (!sched_job_run()) /* this may be the only scheduler */
				nanosleep(&nap, NULL);
		port_unref(ports[k]);
	}
	mem_free(ports);
}
