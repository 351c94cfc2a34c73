/* SPDX-License-Identifier: Apache-2.0 */
/* Libraries with drivers: opened, counted, closed.
 * Invariant: a library with status DRIVER_LOADED has a reference: a user's, or that of add_driver_entry. So one whose
 * references are gone is to be unloaded or reloaded. */
#include "driver/driver_library.h"

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "driver/driver.h"
#include "driver/driver_port.h"
#include "io/io.h"
#include "io/io_probe.h"
#include "io/library_info.h"
#include "proc/sched_job.h"

static struct {
	struct library_mutex *mutex;
	struct driver_library *first; /* mutex */
	struct lock refs;
} libraries;

/* How often this thread has the mutex: init and finish of a library may come back. */
static _Thread_local unsigned locked;

void driver_libraries_init(void)
{
	libraries.mutex = library_mutex_new("drivers");
	ENSURE(libraries.mutex != NULL);
	lock_init(&libraries.refs, LOCK_driver_refs);
}

void driver_libraries_lock(void)
{
	if (locked++ == 0)
		library_mutex_lock(libraries.mutex);
}

void driver_libraries_unlock(void)
{
	if (--locked == 0)
		library_mutex_unlock(libraries.mutex);
}

struct driver_library *driver_library_first(void)
{
	return libraries.first;
}

struct driver_library *driver_library_find(const char *name, size_t n)
{
	struct driver_library *l = libraries.first;

	while (l != NULL && (strlen(l->name) != n || memcmp(l->name, name, n) != 0))
		l = l->next;
	return l;
}

/* ---- opening */

/* What is said of a file, without its name: few texts, whoever asks for many files. */
static const char *skip_name(const char *text, const char *name)
{
	size_t n = strlen(name);

	if (text == NULL || strncmp(text, name, n) != 0)
		return text;
	n += strspn(text + n, ": ");
	return text[n] != '\0' ? text + n : text;
}

static int open_file(struct driver_library *l, const char *path)
{
	size_t n = strlen(path);
	char *full = mem_alloc(n + sizeof(".so"));
	int error;

	memcpy(full, path, n);
	memcpy(full + n, ".so", sizeof(".so"));
	l->handle = dlopen(full, RTLD_NOW);
	error = l->handle != NULL ? DRIVER_NO_ERROR : driver_keep_error(skip_name(dlerror(), full));
	mem_free(full);
	return error;
}

static int check_entry(const struct driver_entry *e, const char *name)
{
	if (e->marker != (uint32_t)DRIVER_MARKER || e->major < DRIVER_OLDEST_MAJOR || e->major > DRIVER_MAJOR ||
	    (e->major == DRIVER_MAJOR && e->minor > release_current->driver_minor))
		return DRIVER_INCORRECT_VERSION;
	return e->name != NULL && strcmp(e->name, name) == 0 ? DRIVER_NO_ERROR : DRIVER_BAD_NAME;
}

/* The driver's init; l is what the entry says. Fails: false. */
static bool begin(struct driver_library *l, const struct driver_entry *e)
{
	struct io_callback running;
	int error;

	/* What stands behind it came with 3.2. */
	memcpy(&l->entry, e, e->major == DRIVER_MAJOR && e->minor >= 2 ? sizeof(*e)
								     : offsetof(struct driver_entry, emergency_close));
	l->lock = e->flags & DRIVER_PORT_LOCKING ? NULL : library_mutex_new(l->name);
	driver_set_calls(l);
	if (e->init == NULL)
		return true;
	if (PROBE_ON(driver__init))
		probe_driver__init(l->name, e->major, e->minor, e->flags);
	running = io_callback_begin(NULL, l->name, "init");
	error = e->init();
	io_callback_end(&running);
	if (error == 0)
		return true;
	if (l->lock != NULL)
		library_mutex_free(l->lock);
	l->lock = NULL;
	return false;
}

static int open_library(struct driver_library *l, const char *path)
{
	struct driver_entry *(*get_entry)(void), *e;
	int error = open_file(l, path);

	if (error != DRIVER_NO_ERROR)
		return error;
	get_entry = (struct driver_entry *(*)(void))dlsym(l->handle, "driver_init");
	e = get_entry != NULL ? get_entry() : NULL;
	if (get_entry == NULL)
		error = DRIVER_NO_INIT;
	else if (e == NULL)
		error = DRIVER_INIT_FAILED;
	else
		error = check_entry(e, l->name);
	if (error == DRIVER_NO_ERROR) {
		library_taint_add(atom_from_latin1(l->name, strlen(l->name), NULL));
		error = begin(l, e) ? DRIVER_NO_ERROR : DRIVER_INIT_FAILED;
	}
	if (error != DRIVER_NO_ERROR) {
		dlclose(l->handle);
		l->handle = NULL;
	}
	return error;
}

static void end_library(struct sched_job *job);

static struct driver_library *make(const char *name)
{
	struct driver_library *l = mem_zalloc(sizeof(*l));

	l->name = mem_strdup(name);
	l->status = DRIVER_LOADED;
	l->end.run = end_library;
	return l;
}

static void free_library(struct driver_library *l)
{
	mem_free(l->name);
	mem_free(l->path);
	mem_free(l->reload_path);
	mem_free(l);
}

static void link_library(struct driver_library *l)
{
	l->next = libraries.first;
	libraries.first = l;
}

static void unlink_library(struct driver_library *l)
{
	struct driver_library **at = &libraries.first;

	while (*at != l)
		at = &(*at)->next;
	*at = l->next;
}

struct driver_library *driver_library_load(const char *path, const char *name, int *error)
{
	struct driver_library *l = make(name);

	*error = open_library(l, path);
	if (*error != DRIVER_NO_ERROR) {
		free_library(l);
		return NULL;
	}
	l->path = mem_strdup(path);
	link_library(l);
	return l;
}

/* ---- counting, and the end */

void driver_library_ref(struct driver_library *l)
{
	lock_acquire(&libraries.refs);
	l->refs++;
	lock_release(&libraries.refs);
}

void driver_library_unref(struct driver_library *l)
{
	bool ends;

	lock_acquire(&libraries.refs);
	ends = --l->refs == 0 && !l->ending;
	l->ending |= ends;
	lock_release(&libraries.refs);
	if (ends)
		sched_job_submit(&l->end);
}

static void close_library(struct driver_library *l)
{
	struct io_callback running;

	if (l->entry.finish != NULL) {
		if (PROBE_ON(driver__finish))
			probe_driver__finish(l->name);
		running = io_callback_begin(NULL, l->name, "finish");
		l->entry.finish();
		io_callback_end(&running);
	}
	dlclose(l->handle);
	l->handle = NULL;
	if (l->lock != NULL)
		library_mutex_free(l->lock);
	l->lock = NULL;
}

static void reload(struct driver_library *l, Term name)
{
	int error = open_library(l, l->reload_path);

	mem_free(l->path);
	l->path = l->reload_path;
	l->reload_path = NULL;
	l->refuses = false;
	l->kills_ports = l->reload_kills_ports;
	l->status = DRIVER_LOADED;
	driver_tell_reloaded(l, name, error);
	if (error == DRIVER_NO_ERROR)
		return;
	unlink_library(l);
	driver_drop_users(l);
	free_library(l);
}

/* On a scheduler: its references were gone; some may have come since. */
static void end_library(struct sched_job *job)
{
	struct driver_library *l = (struct driver_library *)((char *)job - offsetof(struct driver_library, end));
	bool ends;
	Term name;

	driver_libraries_lock();
	lock_acquire(&libraries.refs);
	l->ending = false;
	ends = l->refs == 0;
	lock_release(&libraries.refs);
	if (ends) {
		name = atom_from_latin1(l->name, strlen(l->name), NULL);
		close_library(l);
		driver_tell_unloaded(l, name);
		if (l->status == DRIVER_RELOADING) {
			reload(l, name);
		} else {
			unlink_library(l);
			driver_drop_users(l);
			free_library(l);
		}
	}
	driver_libraries_unlock();
}

/* ---- for open_port/2 */

const struct port_driver *driver_take(const char *name, size_t n)
{
	struct driver_library *l;

	driver_libraries_lock();
	l = driver_library_find(name, n);
	if (l != NULL && l->refuses)
		l = NULL;
	if (l != NULL) {
		driver_library_ref(l);
		atomic_fetch_add(&l->ports, 1);
	}
	driver_libraries_unlock();
	return l != NULL ? &l->calls : NULL;
}

void driver_release(const struct port_driver *driver)
{
	struct driver_library *l;

	if (driver == NULL || driver->queued != driver_queued)
		return;
	l = (struct driver_library *)((char *)driver - offsetof(struct driver_library, calls));
	atomic_fetch_sub(&l->ports, 1);
	driver_library_unref(l);
}

/* ---- entries of a library's own: drivers without a file */

void add_driver_entry(const struct driver_entry *e)
{
	struct driver_library *l;

	driver_libraries_lock();
	l = make(e->name);
	l->refs = 1; /* being an entry */
	if (begin(l, e))
		link_library(l);
	else
		free_library(l);
	driver_libraries_unlock();
}

/* 1: taken out; 0: there is none; -1: it has ports, or came by erl_ddll. */
int remove_driver_entry(const struct driver_entry *e)
{
	struct driver_library *l;
	int result = 0;

	driver_libraries_lock();
	l = driver_library_find(e->name, strlen(e->name));
	if (l != NULL) {
		lock_acquire(&libraries.refs);
		result = l->handle == NULL && l->refs == 1 ? 1 : -1;
		lock_release(&libraries.refs);
	}
	if (result == 1) {
		unlink_library(l);
		if (l->lock != NULL)
			library_mutex_free(l->lock);
		free_library(l);
	}
	driver_libraries_unlock();
	return result;
}
