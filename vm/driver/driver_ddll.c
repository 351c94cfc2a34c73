/* SPDX-License-Identifier: Apache-2.0 */
/* erl_ddll: processes load drivers, give them up, and wait for what becomes of them.
 * Invariant: a counted user has one reference of its library; what else users wait for has none. */
#include <string.h>

#include "base/alloc.h"
#include "data/iolist.h"
#include "driver/driver.h"
#include "driver/driver_library.h"
#include "heap/copy.h"
#include "io/filename.h"
#include "io/io.h"
#include "proc/exc.h"
#include "proc/message.h"
#include "proc/peer.h"

/* Has any process ever used one? */
static atomic_bool used;

static const struct {
	int code;
	Term name;
	const char *text;
} errors[] = {
	{ DRIVER_NO_ERROR, am_no_error, "No error" },
	{ DRIVER_NO_INIT, am_no_driver_init, "No driver init in dynamic library" },
	{ DRIVER_INIT_FAILED, am_driver_init_failed, "Driver init failed" },
	{ DRIVER_BAD_NAME, am_bad_driver_name, "Bad driver name" },
	{ DRIVER_NAME_TOO_LONG, am_driver_name_to_long, "Driver name to long" },
	{ DRIVER_INCORRECT_VERSION, am_driver_incorrect_version,
	  "Driver compiled with incorrect version of erl_driver.h" },
	{ DRIVER_NO_DDLL, am_no_ddll_available, "DDLL functionality not available on this platform" },
	{ DRIVER_UNSPECIFIED, am_unspecified_error, "Unspecified dynamic library error" },
	{ DRIVER_SYMBOL_NOT_FOUND, am_symbol_not_found, "Symbol not found in dynamic library" },
	{ 1, am_inconsistent, "Driver name and/or driver options are inconsistent with currently loaded driver" },
	{ 1, am_linked_in_driver, "Driver is statically linked and cannot be loaded/unloaded" },
	{ 1, am_permanent, "DDLL driver is permanent an cannot be unloaded/loaded" },
	{ 1, am_not_loaded, "DDLL driver is not loaded" },
	{ 1, am_not_loaded_by_this_process, "DDLL driver was not loaded by this process" },
	{ 1, am_not_pending, "DDLL load not pending for this driver name" },
	{ 1, am_already_loaded, "DDLL driver is already loaded successfully" },
	{ 1, am_pending_reload, "Driver reloading is already pending" },
	{ 1, am_pending_process, "Driver is loaded by others when attempting option {reload, pending_driver}" },
};
enum { ERRORS = sizeof(errors) / sizeof(errors[0]), FIRST_TEXT = 10, TEXTS_MAX = 256 };

/* What dlopen said, as numbers that stay: {open_error, -10}, -11... */
static struct {
	char *texts[TEXTS_MAX]; /* under the libraries' lock */
	int count;
} kept;

int driver_keep_error(const char *text)
{
	int i = 0;

	if (text == NULL)
		return DRIVER_UNSPECIFIED;
	while (i < kept.count && strcmp(kept.texts[i], text) != 0)
		i++;
	if (i == TEXTS_MAX)
		return DRIVER_UNSPECIFIED;
	if (i == kept.count)
		kept.texts[kept.count++] = mem_strdup(text);
	return -(FIRST_TEXT + i);
}

static Term error_term(struct heap *h, int code)
{
	for (int i = 0; i < ERRORS; i++)
		if (errors[i].code == code)
			return errors[i].name;
	return heap_tuple(h, am_open_error, term_from_small(code));
}

Term driver_format_error(Process *p, Term error)
{
	const char *text = NULL;
	int64_t i;

	for (int k = 0; k < ERRORS && text == NULL; k++)
		if (errors[k].name == error)
			text = errors[k].text;
	if (term_is_tuple_of(error, 2) && tuple_get(error, 1) == am_open_error && term_is_small(tuple_get(error, 2))) {
		i = -small_value(tuple_get(error, 2)) - FIRST_TEXT;
		driver_libraries_lock();
		text = i < 0 ? "Unspecified error" : i < kept.count ? kept.texts[i] : "Unknown dlload error";
		driver_libraries_unlock();
	}
	return text != NULL ? heap_list_bytes(&p->heap, text, strlen(text), NIL) : exc_badarg(p);
}

/* ---- users */

static void add_user(struct driver_library *l, Term pid, enum driver_use use, bool counted, uint64_t number)
{
	struct driver_user *u = mem_alloc(sizeof(*u));

	*u = (struct driver_user){ l->users, pid, use, counted, number };
	l->users = u;
	atomic_store(&used, true);
	if (counted)
		driver_library_ref(l);
}

/* Takes the user at *at out. */
static void remove_user(struct driver_library *l, struct driver_user **at)
{
	struct driver_user *u = *at;

	*at = u->next;
	if (u->counted)
		driver_library_unref(l);
	mem_free(u);
}

static struct driver_user **find_user(struct driver_library *l, Term pid)
{
	struct driver_user **at = &l->users;

	while (*at != NULL && ((*at)->pid != pid || (*at)->use != DRIVER_USED))
		at = &(*at)->next;
	return *at != NULL ? at : NULL;
}

static size_t count_uses(const struct driver_library *l, enum driver_use use)
{
	size_t n = 0;

	for (const struct driver_user *u = l->users; u != NULL; u = u->next)
		n += u->use == use;
	return n;
}

void driver_drop_users(struct driver_library *l)
{
	while (l->users != NULL) {
		struct driver_user *u = l->users;

		l->users = u->next;
		mem_free(u);
	}
}

/* ---- messages */

/* {Type, Ref, driver, Name, Tag}, the words of tag on h. Takes: what h has. */
static void notify(Term pid, uint64_t number, Term name, Term type, Term tag, struct heap *h)
{
	Term ref = peer_put_ref(heap_alloc(h, REF_WORDS), number, 0), message;
	struct fragment *f = copy_to_fragment(heap_tuple(h, type, ref, am_driver, name, tag), &message);
	Process *p = process_find(pid);

	heap_free(h);
	if (p != NULL) {
		message_deliver(p, TERM_NONE, message, f);
		process_unref(p);
	} else {
		fragment_free(f);
	}
}

static void notify_plain(Term pid, uint64_t number, Term name, Term type, Term tag)
{
	struct heap h = { 0 };

	notify(pid, number, name, type, tag, &h);
}

/* All who wait for that are told, and wait no more. */
static void notify_all(struct driver_library *l, enum driver_use use, Term type, Term tag)
{
	Term name = atom_from_latin1(l->name, strlen(l->name), NULL);
	struct driver_user **at = &l->users;

	while (*at != NULL) {
		if ((*at)->use != use) {
			at = &(*at)->next;
			continue;
		}
		notify_plain((*at)->pid, (*at)->number, name, type, tag);
		remove_user(l, at);
	}
}

void driver_tell_unloaded(struct driver_library *l, Term name)
{
	(void)name;
	notify_all(l, DRIVER_AWAITS_UNLOAD, am_DOWN, am_unloaded);
	notify_all(l, DRIVER_AWAITS_UNLOAD_ONLY, am_DOWN, am_unloaded);
}

void driver_tell_reloaded(struct driver_library *l, Term name, int error)
{
	struct driver_user **at = &l->users;

	while (*at != NULL) {
		struct driver_user *u = *at;
		struct heap h = { 0 };
		Term tag = am_loaded;

		if (u->use == DRIVER_USED) {
			u->counted = true;
			driver_library_ref(l);
			at = &u->next;
			continue;
		}
		if (error != DRIVER_NO_ERROR)
			tag = heap_tuple(&h, am_load_failure, error_term(&h, error));
		notify(u->pid, u->number, name, error == DRIVER_NO_ERROR ? am_UP : am_DOWN, tag, &h);
		remove_user(l, at);
	}
}

void driver_tell_permanent(struct driver_library *l)
{
	if (l->status == DRIVER_PERMANENT)
		return;
	notify_all(l, DRIVER_AWAITS_LOAD, am_UP, am_permanent);
	notify_all(l, DRIVER_AWAITS_UNLOAD, am_UP, am_permanent);
	notify_all(l, DRIVER_AWAITS_UNLOAD_ONLY, am_UP, am_permanent);
	driver_library_ref(l);
	while (l->users != NULL)
		remove_user(l, &l->users);
	l->status = DRIVER_PERMANENT;
}

/* ---- arguments */

/* Owns: the caller. Fails: NULL. */
static char *get_name(Term t, size_t *n)
{
	char *name;

	if (term_is_atom(t)) {
		name = t != am_empty ? filename_from_term(t, true, n) : NULL;
		return name;
	}
	return (char *)iolist_to_bytes(t, n);
}

/* One of the VM's own. */
static bool is_linked_in(const char *name, size_t n)
{
	return io_find_driver(name, n) != NULL;
}

/* pending_driver: 1, pending: 2; 0: neither. */
static int get_when(Term t)
{
	return t == am_pending_driver ? 1 : t == am_pending ? 2 : 0;
}

struct load {
	char *path, *name;
	size_t name_bytes;
	int monitor, reload;
	bool kills_ports;
	bool kill_now, held; /* held: the caller has a reference */
	Term result;         /* ok's; TERM_NONE: error */
	Term error;
	int load_error;
	uint64_t number;     /* of the monitor; 0: none */
};

static bool get_driver_options(struct load *o, Term list)
{
	for (; term_is_cons(list); list = cons_tail(list)) {
		if (cons_head(list) != am_kill_ports)
			return false;
		o->kills_ports = true;
	}
	return list == NIL;
}

static bool get_load_options(struct load *o, Term list)
{
	for (; term_is_cons(list); list = cons_tail(list)) {
		Term option = cons_head(list), kind = term_is_tuple_of(option, 2) ? tuple_get(option, 1) : NIL;

		if (kind == am_driver_options ? !get_driver_options(o, tuple_get(option, 2)) :
		    kind == am_monitor ? (o->monitor = get_when(tuple_get(option, 2))) == 0 :
		    kind == am_reload ? (o->reload = get_when(tuple_get(option, 2))) == 0 : true)
			return false;
	}
	return list == NIL;
}

/* Directory/Name. Owns: the caller. Fails: NULL. */
static char *get_path(Term directory, const char *name)
{
	size_t n, name_bytes = strlen(name);
	char *path = filename_from_term(directory, true, &n);

	if (path == NULL)
		return NULL;
	while (n > 0 && path[n - 1] == '/')
		n--;
	path = mem_realloc(path, n + name_bytes + 2);
	path[n] = '/';
	memcpy(path + n + 1, name, name_bytes + 1);
	return path;
}

/* ---- try_load */

static void refuse(struct load *o, Term why)
{
	o->error = why;
	o->result = TERM_NONE;
}

static bool is_consistent(const struct load *o, const char *path, bool kills_ports)
{
	return strcmp(path, o->path) == 0 && kills_ports == o->kills_ports;
}

/* No longer kept by who loaded it: it goes with its ports, and comes again. The caller has a reference. */
static void start_reload(struct driver_library *l, struct load *o, Term pid)
{
	l->status = DRIVER_RELOADING;
	l->reload_path = mem_strdup(o->path);
	l->reload_kills_ports = o->kills_ports;
	add_user(l, pid, DRIVER_USED, false, 0);
	for (struct driver_user *u = l->users; u != NULL; u = u->next)
		if (u->counted) {
			u->counted = false;
			driver_library_unref(l);
		}
	o->kill_now = l->kills_ports;
}

static void reload_loaded(struct driver_library *l, struct load *o, Term pid)
{
	struct driver_user **mine = find_user(l, pid);

	if (o->reload == 1 && (mine == NULL || count_uses(l, DRIVER_USED) != 1)) {
		refuse(o, am_pending_process);
	} else if (l->kills_ports != o->kills_ports) {
		refuse(o, am_inconsistent);
	} else if (mine == NULL) {
		refuse(o, am_not_loaded_by_this_process);
	} else {
		driver_library_ref(l);
		o->held = true;
		remove_user(l, mine);
		start_reload(l, o, pid);
		o->result = o->reload == 1 ? am_pending_driver : am_pending_process;
		o->number = o->monitor != 0 ? ref_next_number() : 0;
		if (o->number != 0)
			add_user(l, pid, DRIVER_AWAITS_LOAD, false, o->number);
	}
}

static void use_again(struct driver_library *l, struct load *o, Term pid)
{
	if (!is_consistent(o, l->path, l->kills_ports)) {
		refuse(o, am_inconsistent);
		return;
	}
	if (l->status == DRIVER_UNLOADING) {
		l->status = DRIVER_LOADED;
		notify_all(l, DRIVER_AWAITS_UNLOAD, am_UP, am_unload_cancelled);
	}
	add_user(l, pid, DRIVER_USED, true, 0);
	o->result = am_already_loaded;
}

static void load_found(struct driver_library *l, struct load *o, Term pid)
{
	if (l->handle == NULL) {
		refuse(o, am_linked_in_driver);
	} else if (l->status == DRIVER_PERMANENT) {
		refuse(o, am_permanent);
	} else if (l->status == DRIVER_RELOADING) {
		if (o->reload != 0) {
			refuse(o, am_pending_reload);
		} else if (!is_consistent(o, l->reload_path, l->reload_kills_ports)) {
			refuse(o, am_inconsistent);
		} else {
			add_user(l, pid, DRIVER_USED, false, 0);
			o->result = am_pending_driver;
			o->number = ref_next_number();
			add_user(l, pid, DRIVER_AWAITS_LOAD, false, o->number);
		}
	} else if (o->reload != 0 && l->status == DRIVER_UNLOADING) {
		refuse(o, am_not_loaded_by_this_process);
	} else if (o->reload != 0) {
		reload_loaded(l, o, pid);
	} else {
		use_again(l, o, pid);
	}
}

static void load_new(struct load *o, Term pid)
{
	struct driver_library *l;

	if (o->reload != 0) {
		refuse(o, am_not_loaded);
		return;
	}
	l = driver_library_load(o->path, o->name, &o->load_error);
	if (l == NULL) {
		o->result = o->error = TERM_NONE;
		return;
	}
	l->kills_ports = o->kills_ports;
	add_user(l, pid, DRIVER_USED, true, 0);
	o->result = am_loaded;
}

/* The library is to go: its ports now, with a reference that the caller has for that. Unlocked. */
static void kill_ports(struct driver_library *l)
{
	port_exit_all(&l->calls, am_driver_unloaded);
	driver_library_unref(l);
}

static Term put_result(Process *p, const struct load *o)
{
	if (o->result == TERM_NONE && o->error == TERM_NONE)
		return heap_tuple(&p->heap, am_error, error_term(&p->heap, o->load_error));
	if (o->result == TERM_NONE)
		return heap_tuple(&p->heap, am_error, o->error);
	if (o->number == 0)
		return heap_tuple(&p->heap, am_ok, o->result);
	return heap_tuple(&p->heap, am_ok, o->result,
			  peer_put_ref(heap_alloc(&p->heap, REF_WORDS), o->number, 0));
}

static void load(struct load *o, Term pid)
{
	struct driver_library *l, *killed = NULL;

	driver_libraries_lock();
	l = driver_library_find(o->name, o->name_bytes);
	if (l != NULL)
		load_found(l, o, pid);
	else if (is_linked_in(o->name, o->name_bytes))
		refuse(o, am_linked_in_driver);
	else
		load_new(o, pid);
	if (o->held && o->kill_now) {
		l->refuses = true;
		killed = l;
	} else if (o->held) {
		driver_library_unref(l);
	}
	driver_libraries_unlock();
	if (killed != NULL)
		kill_ports(killed);
}

Term driver_try_load(Process *p, Term path, Term name, Term options)
{
	struct load o = { .result = TERM_NONE, .error = TERM_NONE };
	Term result;

	o.name = get_load_options(&o, options) ? get_name(name, &o.name_bytes) : NULL;
	o.path = o.name != NULL ? get_path(path, o.name) : NULL;
	if (o.path != NULL)
		load(&o, p->id);
	result = o.path != NULL ? put_result(p, &o) : exc_badarg(p);
	mem_free(o.name);
	mem_free(o.path);
	return result;
}

/* ---- try_unload */

static bool get_unload_options(struct load *o, Term list)
{
	for (; term_is_cons(list); list = cons_tail(list)) {
		Term option = cons_head(list);

		if (option == am_kill_ports)
			o->kills_ports = true;
		else if (!term_is_tuple_of(option, 2) || tuple_get(option, 1) != am_monitor ||
			 (o->monitor = get_when(tuple_get(option, 2))) == 0)
			return false;
	}
	return list == NIL;
}

/* Nobody uses it any more. */
static void start_unload(struct driver_library *l)
{
	if (l->status == DRIVER_RELOADING) {
		notify_all(l, DRIVER_AWAITS_LOAD, am_DOWN, am_load_cancelled);
		mem_free(l->reload_path);
		l->reload_path = NULL;
	}
	l->status = DRIVER_UNLOADING;
}

static void unload_used(struct driver_library *l, struct load *o, Term pid)
{
	struct driver_user **mine = find_user(l, pid);
	bool waits = o->monitor != 0;

	if (mine == NULL && count_uses(l, DRIVER_USED) > 0) {
		refuse(o, am_not_loaded_by_this_process);
		return;
	}
	o->kill_now = (o->kills_ports || l->kills_ports) && atomic_load(&l->ports) > 0;
	if (mine != NULL)
		remove_user(l, mine);
	if (count_uses(l, DRIVER_USED) > 0) {
		o->result = am_pending_process;
		o->kill_now = false;
		waits = o->monitor == 2;
	} else {
		start_unload(l);
		o->result = am_pending_driver;
	}
	if (waits) {
		o->number = ref_next_number();
		add_user(l, pid, DRIVER_AWAITS_UNLOAD, false, o->number);
	}
}

static void unload(struct load *o, Term pid)
{
	struct driver_library *l, *killed = NULL;

	driver_libraries_lock();
	l = driver_library_find(o->name, o->name_bytes);
	if (l == NULL) {
		refuse(o, is_linked_in(o->name, o->name_bytes) ? am_linked_in_driver : am_not_loaded);
	} else if (l->handle == NULL) {
		refuse(o, am_linked_in_driver);
	} else if (l->status == DRIVER_PERMANENT) {
		refuse(o, am_permanent);
	} else {
		driver_library_ref(l);
		unload_used(l, o, pid);
		if (o->kill_now) {
			l->refuses = true;
			killed = l;
		} else {
			driver_library_unref(l);
		}
	}
	driver_libraries_unlock();
	if (killed != NULL)
		kill_ports(killed);
}

Term driver_try_unload(Process *p, Term name, Term options)
{
	struct load o = { .result = TERM_NONE, .error = TERM_NONE };
	Term result;

	o.name = get_unload_options(&o, options) ? get_name(name, &o.name_bytes) : NULL;
	if (o.name == NULL)
		return exc_badarg(p);
	unload(&o, p->id);
	result = put_result(p, &o);
	mem_free(o.name);
	return result;
}

/* ---- a process ends */

/* Returns the library whose ports are to be killed, counted, or NULL. */
static struct driver_library *forget(struct driver_library *l, Term pid)
{
	struct driver_user **at = &l->users;
	bool had = false;

	driver_library_ref(l);
	while (*at != NULL) {
		if ((*at)->pid != pid) {
			at = &(*at)->next;
			continue;
		}
		had |= (*at)->use == DRIVER_USED;
		remove_user(l, at);
	}
	if (had && count_uses(l, DRIVER_USED) == 0) {
		start_unload(l);
		if (l->kills_ports && atomic_load(&l->ports) > 0) {
			l->refuses = true;
			return l;
		}
	}
	driver_library_unref(l);
	return NULL;
}

void driver_process_ends(Process *p)
{
	struct driver_library *l, *killed;

	if (!atomic_load_explicit(&used, memory_order_relaxed))
		return;
	do {
		killed = NULL;
		driver_libraries_lock();
		for (l = driver_library_first(); l != NULL && killed == NULL; l = l->next)
			if (l->handle != NULL && l->status != DRIVER_PERMANENT)
				killed = forget(l, p->id);
		driver_libraries_unlock();
		if (killed != NULL)
			kill_ports(killed);
	} while (killed != NULL);
}

/* ---- monitors */

static Term await(Process *p, struct driver_library *l, enum driver_use use)
{
	uint64_t number = ref_next_number();

	add_user(l, p->id, use, false, number);
	return peer_put_ref(heap_alloc(&p->heap, REF_WORDS), number, 0);
}

static Term answer_at_once(Process *p, Term name, Term type, Term tag)
{
	uint64_t number = ref_next_number();
	struct heap h = { 0 };

	notify(p->id, number, name, type, tag, &h);
	return peer_put_ref(heap_alloc(&p->heap, REF_WORDS), number, 0);
}

static Term monitor_library(Process *p, struct driver_library *l, Term name, Term when)
{
	if (l->handle == NULL || l->status == DRIVER_PERMANENT)
		return answer_at_once(p, name, am_UP, am_permanent);
	if (when != am_loaded)
		return await(p, l, when == am_unloaded ? DRIVER_AWAITS_UNLOAD : DRIVER_AWAITS_UNLOAD_ONLY);
	switch (l->status) {
	case DRIVER_LOADED: return answer_at_once(p, name, am_UP, am_loaded);
	case DRIVER_UNLOADING: return answer_at_once(p, name, am_DOWN, am_load_cancelled);
	default: return await(p, l, DRIVER_AWAITS_LOAD);
	}
}

Term driver_monitor(Process *p, Term kind, Term item)
{
	Term when = term_is_tuple_of(item, 2) ? tuple_get(item, 2) : NIL, name, result;
	struct driver_library *l;
	char *text;
	size_t n;

	if (kind != am_driver || (when != am_loaded && when != am_unloaded && when != am_unloaded_only))
		return exc_badarg(p);
	name = tuple_get(item, 1);
	text = get_name(name, &n);
	if (text == NULL)
		return exc_badarg(p);
	driver_libraries_lock();
	l = driver_library_find(text, n);
	if (l != NULL)
		result = monitor_library(p, l, name, when);
	else if (is_linked_in(text, n))
		result = answer_at_once(p, name, am_UP, am_permanent);
	else
		result = answer_at_once(p, name, am_DOWN, am_unloaded);
	driver_libraries_unlock();
	mem_free(text);
	return result;
}

static bool drop_monitor(struct driver_library *l, Term pid, uint64_t number)
{
	for (struct driver_user **at = &l->users; *at != NULL; at = &(*at)->next)
		if ((*at)->pid == pid && (*at)->use != DRIVER_USED && (*at)->number == number) {
			remove_user(l, at);
			return true;
		}
	return false;
}

Term driver_demonitor(Process *p, Term ref)
{
	if (!term_is_local_ref(ref))
		return exc_badarg(p);
	driver_libraries_lock();
	for (struct driver_library *l = driver_library_first(); l != NULL; l = l->next)
		if (drop_monitor(l, p->id, ref_number(ref)))
			break;
	driver_libraries_unlock();
	return am_true;
}

/* ---- what there is */

Term driver_loaded(Process *p)
{
	Term list = io_list_drivers(&p->heap);

	driver_libraries_lock();
	for (struct driver_library *l = driver_library_first(); l != NULL; l = l->next)
		list = heap_cons(&p->heap, heap_list_bytes(&p->heap, l->name, strlen(l->name), NIL), list);
	driver_libraries_unlock();
	return heap_tuple(&p->heap, am_ok, list);
}

static bool has_use(const struct driver_user *u, enum driver_use use)
{
	return u->use == use || (use == DRIVER_AWAITS_UNLOAD && u->use == DRIVER_AWAITS_UNLOAD_ONLY);
}

/* [{Pid, Count}], the last of whom came first comes first. */
static Term put_users(struct heap *h, const struct driver_library *l, enum driver_use use)
{
	Term list = NIL;

	for (const struct driver_user *u = l->users; u != NULL; u = u->next) {
		int64_t count = 0;
		bool first = true;

		if (!has_use(u, use))
			continue;
		for (const struct driver_user *o = l->users; o != NULL; o = o->next)
			count += o->pid == u->pid && has_use(o, use);
		for (const struct driver_user *o = l->users; o != u; o = o->next)
			first &= o->pid != u->pid || !has_use(o, use);
		if (first)
			list = heap_cons(h, heap_tuple(h, u->pid, SMALL(count)), list);
	}
	return list;
}

/* l NULL, or without a file: linked in. */
static Term item_value(struct heap *h, const struct driver_library *l, Term item)
{
	bool linked_in = l == NULL || l->handle == NULL, permanent = !linked_in && l->status == DRIVER_PERMANENT;

	switch (item) {
	case am_linked_in_driver: return linked_in ? am_true : am_false;
	case am_permanent: return permanent ? am_true : am_false;
	case am_processes: case am_driver_options: case am_port_count: case am_awaiting_load: case am_awaiting_unload:
		break;
	default: return TERM_NONE;
	}
	if (linked_in)
		return am_linked_in_driver;
	if (item == am_driver_options)
		return l->kills_ports ? heap_cons(h, am_kill_ports, NIL) : NIL;
	if (permanent)
		return am_permanent;
	switch (item) {
	case am_port_count: return SMALL((int64_t)atomic_load(&l->ports));
	case am_processes: return put_users(h, l, DRIVER_USED);
	case am_awaiting_load: return put_users(h, l, DRIVER_AWAITS_LOAD);
	default: return put_users(h, l, DRIVER_AWAITS_UNLOAD);
	}
}

Term driver_info(Process *p, Term name, Term item)
{
	struct driver_library *l;
	Term value = TERM_NONE;
	size_t n;
	char *text = get_name(name, &n);

	if (text == NULL)
		return exc_badarg(p);
	driver_libraries_lock();
	l = driver_library_find(text, n);
	if (l != NULL || is_linked_in(text, n))
		value = item_value(&p->heap, l, item);
	driver_libraries_unlock();
	mem_free(text);
	return value != TERM_NONE ? value : exc_badarg(p);
}
