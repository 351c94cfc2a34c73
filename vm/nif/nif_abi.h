/* SPDX-License-Identifier: Apache-2.0 */
/* What a library of native functions and the VM have in common: the layouts of erl_nif.h of OTP 25 (version 2.16), as
 * compiled libraries have them, in our own names. The functions that libraries call (enif_*) have no header here:
 * nobody in the VM calls them, and what they look like is what erl_nif_api_funcs.h of the distribution's erlang-dev
 * says; tests/erl/nif holds them against it. What ends in `private` or begins with it is ours to use. */
#ifndef VM_NIF_NIF_ABI_H
#define VM_NIF_NIF_ABI_H

#include <stddef.h>
#include <stdint.h>
#include <sys/uio.h>

#include "base/release.h"
#include "term/term.h"

enum { NIF_OLDEST_MAJOR = 2, NIF_LINKED_MINOR = 16 }; /* linked: of libraries that are linked in */
#define NIF_VM_VARIANT "beam.vanilla"

struct nif_env;          /* nif/nif_env.h */
struct nif_type;         /* nif/nif_resource.h */

typedef Term (*nif_native)(struct nif_env *env, int argc, const Term *argv);

/* Of libraries before 2.7 without flags. */
struct nif_entry_function {
	const char *name;
	unsigned arity;
	nif_native native;
	unsigned flags;      /* enum nif_dirty, or 0 */
};
enum nif_dirty { NIF_DIRTY_CPU = 1, NIF_DIRTY_IO = 2 };

/* What nif_init returns; the lower lines are there from the version on that they name. */
struct nif_entry {
	int major, minor;
	const char *name;
	int function_count;
	struct nif_entry_function *functions;
	int (*load)(struct nif_env *env, void **data, Term info);
	int (*reload)(struct nif_env *env, void **data, Term info);
	int (*upgrade)(struct nif_env *env, void **data, void **old_data, Term info);
	void (*unload)(struct nif_env *env, void *data);
	const char *vm_variant; /* 2.1 */
	unsigned options;    /* 2.7 */
	size_t type_init_bytes; /* 2.12 */
	const char *oldest_erts; /* 2.14 */
};

struct nif_binary {
	size_t size;
	unsigned char *data;
	void *counted;       /* private: struct binary, owned by who holds this; NULL: a term's bytes */
	void *spare[2];
};

enum { NIF_LATIN1 = 1, NIF_UTF8 = 2 };

struct nif_pid { Term pid; };
struct nif_port { Term port; };
/* libraries have it as bytes, at any address */
struct nif_monitor { uint64_t number, spare[3]; } __attribute__((packed));

typedef int64_t nif_time;
#define NIF_TIME_ERROR INT64_MIN
enum nif_time_unit { NIF_SEC, NIF_MSEC, NIF_USEC, NIF_NSEC };

enum { NIF_TYPE_CREATE = 1, NIF_TYPE_TAKEOVER = 2 };
struct nif_type_init {
	void (*dtor)(struct nif_env *env, void *obj);
	void (*stop)(struct nif_env *env, void *obj, int event, int is_direct);
	void (*down)(struct nif_env *env, void *obj, struct nif_pid *pid, struct nif_monitor *monitor);
	int members;
	void (*dyncall)(struct nif_env *env, void *obj, void *call_data);
};

enum { NIF_MAP_FIRST = 1, NIF_MAP_LAST = 2 };
struct nif_map_iterator {
	Term map;
	uint64_t size, index; /* index: from 1; 0 before the first, size + 1 after the last */
	Term *keys, *values; /* private: of a flat map they are its own; else in `pairs` */
	void *pairs;         /* private: owned */
	void *spare;
};

enum { NIF_UNIQUE_POSITIVE = 1, NIF_UNIQUE_MONOTONIC = 2 };
enum { NIF_DECODE_SAFE = 0x20000000 };
enum { NIF_HASH_INTERNAL = 1, NIF_HASH_PHASH2 = 2 };

enum nif_term_type {
	NIF_IS_ATOM = 1, NIF_IS_BITSTRING, NIF_IS_FLOAT, NIF_IS_FUN, NIF_IS_INTEGER, NIF_IS_LIST, NIF_IS_MAP,
	NIF_IS_PID, NIF_IS_PORT,
	NIF_IS_REFERENCE, NIF_IS_TUPLE,
	NIF_IS_OTHER = -1,       /* a native record: erl_nif.h tells libraries to expect what they do not know */
};

enum { NIF_THREAD_OTHER, NIF_THREAD_SCHEDULER, NIF_THREAD_DIRTY_CPU, NIF_THREAD_DIRTY_IO };

enum {
	NIF_SELECT_READ = 1, NIF_SELECT_WRITE = 2, NIF_SELECT_STOP = 4, NIF_SELECT_CANCEL = 8, NIF_SELECT_CUSTOM = 16,
	NIF_SELECT_ERROR = 32,
};
/* What enif_select returns: bits; negative with one of the last three that says why. */
enum {
	NIF_SELECTED_STOP_CALLED = 1, NIF_SELECTED_STOP_SCHEDULED = 2, NIF_SELECTED_INVALID = 4,
	NIF_SELECTED_FAILED = 8,
	NIF_SELECTED_READ_CANCELLED = 16, NIF_SELECTED_WRITE_CANCELLED = 32, NIF_SELECTED_ERROR_CANCELLED = 64,
	NIF_SELECTED_NOTSUP = 128,
};

enum { NIF_IOVEC_SMALL = 16 };
struct nif_iovec {
	int count;
	size_t size;
	struct iovec *parts;
	void **counted;      /* private: struct binary each, owned; NULL: a copy that is the environment's */
	int flags;           /* private */
	struct iovec small_parts[NIF_IOVEC_SMALL];
	void *small_counted[NIF_IOVEC_SMALL];
};

/* What enif_set_option takes: on_halt is a void (*)(void *data). NIF_ON_UNLOAD_THREAD is refused (docs/vm.md). */
enum nif_option { NIF_DELAY_HALT = 1, NIF_ON_HALT = 2, NIF_ON_UNLOAD_THREAD = 3 };

struct nif_thread_options { int suggested_stack_size; };

#endif
