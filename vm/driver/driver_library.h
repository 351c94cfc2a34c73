/* SPDX-License-Identifier: Apache-2.0 */
/* The libraries with drivers that are loaded: their files, who uses them, and how they go.
 * A library stays while a process that loaded it lives and has not unloaded it, or a port of it is there; its finish
 * is called, and it is closed, by a scheduler, when the last of these is gone. */
#ifndef VM_DRIVER_DRIVER_LIBRARY_H
#define VM_DRIVER_DRIVER_LIBRARY_H

#include "driver/driver_abi.h"
#include "base/library_lock.h"
#include "io/port.h"

enum driver_status {
	DRIVER_LOADED,
	DRIVER_UNLOADING,    /* goes with its last port */
	DRIVER_RELOADING,    /* the same, and then comes anew */
	DRIVER_PERMANENT,
};

enum driver_use {
	DRIVER_USED,         /* the process loaded it */
	DRIVER_AWAITS_LOAD, DRIVER_AWAITS_UNLOAD, DRIVER_AWAITS_UNLOAD_ONLY,
};

struct driver_user {
	struct driver_user *next;
	Term pid;
	enum driver_use use;
	bool counted;        /* of DRIVER_USED: it keeps the library */
	uint64_t number;     /* of a monitor: its reference's */
};

struct driver_library {
	struct port_driver calls; /* what ports call; its name is `name` */
	struct driver_entry entry;
	void *handle;        /* of dlopen; NULL: add_driver_entry */
	struct library_mutex *lock; /* held by each callback; NULL: ports have a lock each */
	char *name, *path;
	struct driver_library *next;
	enum driver_status status;
	bool refuses;        /* its ports are being killed: none is opened */
	bool kills_ports, reload_kills_ports;
	char *reload_path;
	struct driver_user *users;
	atomic_uint ports;
	unsigned refs;       /* the lock of references: counted users, ports */
	bool ending;         /* the same: the job waits */
	struct sched_job end;
};

/* Errors of loading: 0, a negative of these, or the number of a text (driver_error_text). */
enum driver_error {
	DRIVER_NO_ERROR = 0, DRIVER_NO_INIT = -1, DRIVER_INIT_FAILED = -2, DRIVER_BAD_NAME = -3,
	DRIVER_NAME_TOO_LONG = -4, DRIVER_INCORRECT_VERSION = -5, DRIVER_NO_DDLL = -6, DRIVER_UNSPECIFIED = -7,
	DRIVER_SYMBOL_NOT_FOUND = -8,
};

void driver_libraries_init(void);
/* Everything of libraries but references is under this lock; who has it may take it again. Callbacks init and finish
 * run with it. */
void driver_libraries_lock(void);
void driver_libraries_unlock(void);
/* Locked: the library of that name, or NULL; the first of all. */
struct driver_library *driver_library_find(const char *name, size_t n);
struct driver_library *driver_library_first(void);
/* Locked. Fails: NULL and *error. path is without .so. */
struct driver_library *driver_library_load(const char *path, const char *name, int *error);
/* Any thread. */
void driver_library_ref(struct driver_library *l);
void driver_library_unref(struct driver_library *l);
/* The number of a text that dlerror gave: the same text has the same number. */
int driver_keep_error(const char *text);

/* ---- ddll.c: who waits for what. Locked. */
/* It is closed, or, of one that is reloaded, it is there again (error 0) or not. `name` is its atom. */
void driver_tell_unloaded(struct driver_library *l, Term name);
void driver_tell_reloaded(struct driver_library *l, Term name, int error);
/* It stays for ever. */
void driver_tell_permanent(struct driver_library *l);
void driver_drop_users(struct driver_library *l);
/* For process_at_exit; not locked. */
void driver_process_ends(Process *p);

#endif
