/* SPDX-License-Identifier: Apache-2.0 */
/* Ports: the natives behind erlang:open_port/2 and its family, which erlang.erl turns into results and errors.
 * Each answers with the atom that erlang.erl expects on failure. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/release.h"
#include "bif/bif.h"
#include "data/iolist.h"
#include "data/etf.h"
#include "data/number.h"
#include "driver/driver.h"
#include "heap/copy.h"
#include "io/filename.h"
#include "io/io.h"
#include "io/io_probe.h"
#include "io/os_env.h"
#include "io/port_ask.h"
#include "io/posix.h"
#include "proc/peer.h"
#include "proc/registry.h"

/* ---- open_port's settings */

/* What port_options points to. */
struct settings {
	struct port_options o;
	char *name;
	char *directory;
	char **argv;      /* [0] NULL: the program's name */
	char **envp;      /* every string ours */
	bool arguments;   /* args or arg0 given */
};

static void free_strings(char **strings, size_t first)
{
	if (strings == NULL)
		return;
	for (size_t k = first; strings[k] != NULL; k++)
		mem_free(strings[k]);
	mem_free(strings);
}

static void free_settings(struct settings *s)
{
	mem_free(s->name);
	mem_free(s->directory);
	if (s->argv != NULL)
		mem_free(s->argv[0]);
	free_strings(s->argv, 1);
	os_env_free(s->envp);
}

static bool get_args(struct settings *s, Term list)
{
	char *arg0 = s->argv != NULL ? s->argv[0] : NULL;
	size_t count = 0, n;

	for (Term t = list; t != NIL; t = cons_tail(t), count++) {
		if (!term_is_cons(t))
			return false;
	}
	free_strings(s->argv, 1);
	s->argv = mem_zalloc((count + 2) * sizeof(char *));
	s->argv[0] = arg0;
	for (size_t k = 1; k <= count; k++, list = cons_tail(list)) {
		s->argv[k] = filename_from_term(cons_head(list), true, &n);
		if (s->argv[k] == NULL)
			return false;
	}
	return true;
}

static bool get_arg0(struct settings *s, Term t)
{
	size_t n;

	if (s->argv == NULL)
		s->argv = mem_zalloc(2 * sizeof(char *));
	mem_free(s->argv[0]);
	s->argv[0] = filename_from_term(t, true, &n);
	return s->argv[0] != NULL;
}

/* A name or value: a deep list of characters. */
static char *get_text(Term t)
{
	size_t n;

	return term_is_list(t) ? filename_from_term(t, false, &n) : NULL;
}

/* Owns: the caller, a string for os_env_settle. Fails: NULL. */
static char *get_variable(Term pair)
{
	char *name, *value = NULL, *string = NULL;
	bool drop;

	if (!term_is_tuple_of(pair, 2))
		return NULL;
	drop = tuple_get(pair, 2) == am_false || tuple_get(pair, 2) == NIL;
	name = get_text(tuple_get(pair, 1));
	if (name != NULL && !drop)
		value = get_text(tuple_get(pair, 2));
	if (name != NULL && strchr(name, '=') == NULL && (value != NULL || drop))
		string = os_env_string(name, value);
	mem_free(name);
	mem_free(value);
	return string;
}

static bool get_env(struct settings *s, Term list)
{
	size_t count = 0;
	char **end;

	for (Term t = list; t != NIL; t = cons_tail(t), count++) {
		if (!term_is_cons(t))
			return false;
	}
	os_env_free(s->envp);
	s->envp = os_env_copy(count);
	for (end = s->envp; *end != NULL; end++)
		;
	for (; list != NIL; list = cons_tail(list)) {
		*end = get_variable(cons_head(list));
		if (*end++ == NULL)
			return false;
	}
	os_env_settle(s->envp);
	return true;
}

/* {Low, High}, or disabled. */
static bool get_limits(Term t, size_t *low, size_t *high)
{
	if (t == am_disabled) {
		*low = *high = PORT_NO_LIMIT;
		return true;
	}
	if (!term_is_tuple_of(t, 2) || !num_get_uint64(tuple_get(t, 1), low) ||
	    !num_get_uint64(tuple_get(t, 2), high) || *low == 0 || *high == 0 || *low == PORT_NO_LIMIT ||
	    *high == PORT_NO_LIMIT)
		return false;
	if (*low > *high)
		*low = *high;
	return true;
}

static bool get_pair(struct settings *s, Term name, Term value)
{
	size_t n;

	switch (name) {
	case am_packet:
		if (value != SMALL(1) && value != SMALL(2) && value != SMALL(4))
			return false;
		s->o.packet_bytes = (unsigned)small_value(value);
		return true;
	case am_line:
		if (!term_is_small(value) || small_value(value) <= 0)
			return false;
		s->o.line_bytes = (size_t)small_value(value);
		return true;
	case am_env:
		return get_env(s, value);
	case am_args:
		s->arguments = true;
		return get_args(s, value);
	case am_arg0:
		s->arguments = true;
		return get_arg0(s, value);
	case am_cd:
		mem_free(s->directory);
		s->directory = filename_from_term(value, true, &n);
		return s->directory != NULL;
	case am_parallelism:
		s->o.parallelism = value == am_true;
		return value == am_true || value == am_false;
	case am_busy_limits_port:
		return get_limits(value, &s->o.port_low, &s->o.port_high);
	case am_busy_limits_msgq:
		return get_limits(value, &s->o.queue_low, &s->o.queue_high);
	default:
		return false;
	}
}

static bool get_flag(struct port_options *o, Term flag)
{
	switch (flag) {
	case am_stream: o->packet_bytes = 0; return true;
	case am_use_stdio: o->use_stdio = true; return true;
	case am_nouse_stdio: o->use_stdio = false; return true;
	case am_stderr_to_stdout: o->stderr_to_stdout = true; return true;
	case am_line: o->line_bytes = 512; return true;
	case am_binary: o->binary = true; return true;
	case am_in: o->in = true; return true;
	case am_out: o->out = true; return true;
	case am_eof: o->eof = true; return true;
	case am_exit_status: o->exit_status = true; return true;
	case am_hide:
	case am_overlapped_io: return true;
	default: return false;
	}
}

static bool get_settings(struct settings *s, Term list)
{
	for (; term_is_cons(list); list = cons_tail(list)) {
		Term option = cons_head(list);
		bool ok = term_is_tuple_of(option, 2) ? get_pair(s, tuple_get(option, 1), tuple_get(option, 2))
						      : get_flag(&s->o, option);

		if (!ok)
			return false;
	}
	if (!s->o.in && !s->o.out)
		s->o.in = s->o.out = true;
	return list == NIL && !(s->o.line_bytes != 0 && s->o.packet_bytes != 0) &&
	       !(s->o.stderr_to_stdout && !s->o.use_stdio);
}

/* -1: none can be called so. */
static int get_descriptor(Term t)
{
	int64_t n = small_value(t);

	return n >= 0 && n <= INT32_MAX ? (int)n : -1;
}

/* The path of a plain file: an atom, or a list of bytes. */
static char *get_path(Term name)
{
	size_t n = 0;
	char *path;

	if (term_is_atom(name))
		return filename_from_term(name, true, &n);
	for (Term t = name; t != NIL; t = cons_tail(t), n++)
		if (!term_is_cons(t) || !term_is_small(cons_head(t)) || cons_head(t) == SMALL(0) ||
		    small_value(cons_head(t)) >> 8 != 0)
			return NULL;
	if (n == 0)
		return NULL;
	path = mem_zalloc(n + 1);
	for (size_t i = 0; i < n; i++, name = cons_tail(name))
		path[i] = (char)small_value(cons_head(name));
	return path;
}

/* One of the VM's, else one of a library. */
static const struct port_driver *find_driver(const char *name, size_t n)
{
	const struct port_driver *driver = io_find_driver(name, n);

	return driver != NULL ? driver : driver_take(name, n);
}

/* The driver that the port's name asks for, for driver_release; NULL: badarg. */
static const struct port_driver *get_name(struct settings *s, Term name)
{
	const struct port_driver *driver;
	char text[48];
	Term kind;
	size_t n;

	if ((term_is_atom(name) || term_is_list(name)) && !release_refuses_file_ports()) {
		s->name = get_path(name);
		return s->name != NULL ? &port_file_driver : NULL;
	}
	if (!term_is_tuple(name) || tuple_arity(name) < 2)
		return NULL;
	kind = tuple_get(name, 1);
	if (tuple_arity(name) == 2 && (kind == am_spawn || kind == am_spawn_driver)) {
		s->name = filename_from_term(tuple_get(name, 2), true, &n);
		driver = s->name != NULL ? find_driver(s->name, strcspn(s->name, " ")) : NULL; /* its first word */
		if (driver != NULL)
			return driver;
		mem_free(s->name);
		s->name = NULL;
	}
	if (tuple_arity(name) == 2 && (kind == am_spawn || kind == am_spawn_executable)) {
		s->o.executable = kind == am_spawn_executable;
		s->name = filename_from_term(tuple_get(name, 2), true, &n);
		return s->name != NULL && n > 0 ? &port_spawn_driver : NULL;
	}
	if (tuple_arity(name) == 3 && kind == am_fd && term_is_small(tuple_get(name, 2)) &&
	    term_is_small(tuple_get(name, 3))) {
		s->o.fd_in = get_descriptor(tuple_get(name, 2));
		s->o.fd_out = get_descriptor(tuple_get(name, 3));
		snprintf(text, sizeof(text), "%d/%d", s->o.fd_in, s->o.fd_out);
		s->name = mem_strdup(text);
		return &port_fd_driver;
	}
	return NULL;
}

/* What open_port/2 returns, or waits for. */
static Term open_driver(Process *p, const struct port_driver *driver, struct settings *s)
{
	Term id;
	int error;

	if (driver == NULL || (s->arguments && !s->o.executable) ||
	    (s->o.exit_status && driver != &port_spawn_driver))
		return am_badarg;
	if (s->envp == NULL && driver == &port_spawn_driver)
		s->envp = os_env_copy(0);
	if (s->argv != NULL && s->argv[0] == NULL)
		s->argv[0] = mem_strdup(s->name);
	s->o.name = s->name;
	s->o.argv = s->argv;
	s->o.envp = s->envp;
	s->o.directory = s->directory;
	if (driver->acks_start)
		s->o.ack_ref = ref_next_number();
	error = port_open(p, driver, &s->o, &id);
	if (error == -EXFULL)
		return am_system_limit;
	if (error != 0)
		return error == -PORT_BADARG ? am_badarg : posix_error_atom(-error);
	return driver->acks_start ? peer_put_ref(heap_alloc(&p->heap, REF_WORDS), s->o.ack_ref, 0) : id;
}

static Term open_with(Process *p, struct settings *s, Term name)
{
	const struct port_driver *driver = get_name(s, name);
	Term result = open_driver(p, driver, s);

	driver_release(driver);
	return result;
}

Term bif_erts_internal_open_port_2(Process *p, Term *args)
{
	struct settings s = { .o = PORT_OPTIONS_DEFAULT };
	Term result = get_settings(&s, args[1]) ? open_with(p, &s, args[0]) : am_badopt;

	free_settings(&s);
	process_bump(p, 100);
	return result;
}

/* ---- speaking to ports */

/* By id or registered name. NULL: none. The caller must port_unref. */
static struct port *get_port(Term t)
{
	if (term_is_atom(t))
		t = registry_whereis(t);
	return t != TERM_NONE && term_is_local_port(t) ? port_find(t) : NULL;
}

static bool get_command_flags(Term list, bool *force, bool *nosuspend)
{
	for (; term_is_cons(list); list = cons_tail(list)) {
		if (cons_head(list) == am_force)
			*force = true;
		else if (cons_head(list) == am_nosuspend)
			*nosuspend = true;
		else
			return false;
	}
	return list == NIL;
}

/* Takes: the port's reference. */
static Term command_port(Process *p, struct port *port, Term data, bool force, bool nosuspend)
{
	struct byte_queue bytes;
	Term refused = TERM_NONE;

	byte_queue_init(&bytes);
	if (force && !port->driver->soft_busy)
		refused = am_notsup;
	else if (nosuspend && !force && port_is_busy(port) && port->state == PORT_OPEN)
		refused = am_false;
	else if (!port_put_iodata(&bytes, data))
		refused = am_badarg;
	process_bump(p, 1 + (int)(bytes.size_bytes >> 10));
	if (refused == TERM_NONE)
		return port_ask_command(p, port, &bytes, force, nosuspend);
	byte_queue_clear(&bytes);
	port_unref(port);
	return refused;
}

Term bif_erts_internal_port_command_3(Process *p, Term *args)
{
	bool force = false, nosuspend = false;
	struct port *port;

	if (!get_command_flags(args[2], &force, &nosuspend))
		return am_badopt;
	port = get_port(args[0]);
	return port != NULL ? command_port(p, port, args[1], force, nosuspend) : am_badarg;
}

Term bif_erts_internal_port_close_1(Process *p, Term *args)
{
	struct port *port = get_port(args[0]);

	return port != NULL ? port_ask_close(p, port) : am_badarg;
}

Term bif_erts_internal_port_connect_2(Process *p, Term *args)
{
	struct port *port = term_is_local_pid(args[1]) ? get_port(args[0]) : NULL;

	return port != NULL ? port_ask_connect(p, port, args[1]) : am_badarg;
}

Term bif_erts_internal_port_control_3(Process *p, Term *args)
{
	uint64_t command;
	struct port *port;
	uint8_t *data;
	size_t n;

	if (!num_get_uint64(args[1], &command) || command > UINT32_MAX)
		return am_badarg;
	data = iolist_to_bytes(args[2], &n);
	if (data == NULL)
		return am_badarg;
	port = get_port(args[0]);
	if (port != NULL)
		return port_ask_control(p, port, (unsigned)command, data, n);
	mem_free(data);
	return am_badarg;
}

Term bif_erts_internal_port_call_3(Process *p, Term *args)
{
	uint64_t command;
	struct binary *b;
	struct port *port;
	uint8_t *data;
	size_t n;

	if (!num_get_uint64(args[1], &command) || command > UINT32_MAX)
		return am_badarg;
	port = get_port(args[0]);
	if (port == NULL)
		return am_badarg;
	b = etf_encode(args[2], etf_default_flags());
	if (b == NULL) {
		port_unref(port);
		return am_badarg;
	}
	n = b->size_bytes;
	data = mem_alloc(n);
	memcpy(data, b->data, n);
	binary_unref(b);
	process_bump(p, 1 + (int)(n >> 10));
	return port_ask_call(p, port, (unsigned)command, data, n);
}

/* ---- about ports */

Term bif_erlang_ports_0(Process *p, Term *args)
{
	(void)args;
	return port_list(&p->heap);
}

/* Monitors by ports are not made here; those who monitor it are. */
static Term watchers(struct heap *h, const struct port *port)
{
	Term list = NIL;

	for (const struct port_monitor *m = port->monitors; m != NULL; m = m->next)
		list = heap_cons(h, m->pid, list);
	return list;
}

/* The value of an item; TERM_NONE: there is no such item. */
static Term item_value(struct heap *h, struct port *port, Term item)
{
	switch (item) {
	case am_registered_name: return port->registered;
	case am_name: return heap_list_bytes(h, port->name, strlen(port->name), NIL);
	case am_links: return heap_list_array(h, port->link_count, port->links, NIL);
	case am_id: return heap_uint(h, port_number(port->id) << 3);
	case am_connected: return port->owner;
	case am_input: return heap_uint(h, port->input_bytes);
	case am_output: return heap_uint(h, port->output_bytes);
	case am_os_pid: return port->os_pid != 0 ? SMALL((int64_t)port->os_pid) : am_undefined;
	case am_monitors: return NIL;
	case am_monitored_by: return watchers(h, port);
	case am_parallelism: return port->parallelism ? am_true : am_false;
	case am_locking: return am_port_level;
	case am_queue_size: return heap_uint(h, port_queued(port));
	case am_memory: return heap_uint(h, port->out.size_bytes + port->in.size_bytes);
	default: return TERM_NONE;
	}
}

static Term item_tuple(struct heap *h, struct port *port, Term item)
{
	Term value = item_value(h, port, item);

	return heap_tuple(h, item, value);
}

static Term all_items(struct heap *h, struct port *port)
{
	static const Term items[] = { am_os_pid, am_output, am_input, am_connected, am_id, am_links, am_name };
	Term list = NIL;

	for (size_t k = 0; k < sizeof(items) / sizeof(items[0]); k++)
		list = heap_cons(h, item_tuple(h, port, items[k]), list);
	if (port->registered != TERM_NONE)
		list = heap_cons(h, item_tuple(h, port, am_registered_name), list);
	return list;
}

static Term look_all(struct port *port, struct heap *h, Term arg)
{
	(void)arg;
	return all_items(h, port);
}

Term bif_erts_internal_port_info_1(Process *p, Term *args)
{
	struct port *port;

	if (!term_is_atom(args[0]) && !term_is_local_port(args[0]))
		return am_badarg;
	port = get_port(args[0]);
	return port != NULL ? port_ask(p, port, look_all, NIL, am_undefined) : am_undefined;
}

static Term look_item(struct port *port, struct heap *h, Term item)
{
	Term value = item_value(h, port, item);

	if (value != TERM_NONE)
		return heap_tuple(h, item, value);
	return item == am_registered_name ? NIL : am_badarg;
}

Term bif_erts_internal_port_info_2(Process *p, Term *args)
{
	struct port *port;

	if (!term_is_atom(args[0]) && !term_is_local_port(args[0]))
		return am_badtype;
	port = get_port(args[0]);
	if (port == NULL)
		return am_undefined;
	if (term_is_atom(args[1]))
		return port_ask(p, port, look_item, args[1], am_undefined);
	port_unref(port);
	return am_badarg;
}

/* Its data is the process's term until its turn comes: rarely is somebody else at it. */
Term bif_erlang_port_set_data_2(Process *p, Term *args)
{
	struct port *port = get_port(args[0]);
	bool open;

	if (port == NULL)
		return exc_badarg(p);
	port_hold(port);
	open = port_set_data(port, args[1]);
	port_let_go(port);
	port_unref(port);
	return open ? am_true : exc_badarg(p);
}

Term bif_erlang_port_get_data_1(Process *p, Term *args)
{
	struct port *port = get_port(args[0]);
	Term data = TERM_NONE;

	if (port == NULL)
		return exc_badarg(p);
	port_hold(port);
	if (port->state == PORT_OPEN)
		data = copy_to_heap(port->data, &p->heap);
	port_let_go(port);
	port_unref(port);
	return data != TERM_NONE ? data : exc_badarg(p);
}
