/* SPDX-License-Identifier: Apache-2.0 */
/* What a library with a driver and the VM have in common: the layouts of erl_driver.h of OTP 25 (version 3.3), as
 * compiled libraries have them, in our own names. The functions that drivers call (driver_*, erl_drv_*) have no header
 * here: nobody in the VM calls them, and what they look like is what erl_driver.h of the distribution's erlang-dev
 * says; tests/erl/driver holds them against it. */
#ifndef VM_DRIVER_DRIVER_ABI_H
#define VM_DRIVER_DRIVER_ABI_H

#include <stddef.h>
#include <stdint.h>
#include <sys/uio.h>

#include "base/release.h"
#include "heap/refbin.h"
#include "term/term.h"

enum { DRIVER_MARKER = 0xfeeeeeed }; /* an enumeration of its own: it makes all constants beside it unsigned */
enum { DRIVER_OLDEST_MAJOR = 2 };

/* What start returns instead of its data. */
#define DRIVER_ERROR_GENERAL ((void *)-1)
#define DRIVER_ERROR_ERRNO ((void *)-2)
#define DRIVER_ERROR_BADARG ((void *)-3)

enum { DRIVER_PORT_LOCKING = 1, DRIVER_SOFT_BUSY = 2, DRIVER_NO_BUSY_MSGQ = 4, DRIVER_INIT_ACK = 8 };
enum { DRIVER_CONTROL_BINARY = 1 };
enum { DRIVER_PORT_BINARY = 1, DRIVER_PORT_LINE = 2 };
enum { DRIVER_CALL_KEEP_BUFFER = 1 };
enum { DRIVER_READ = 1, DRIVER_WRITE = 2, DRIVER_USE = 4, DRIVER_USE_NO_CALLBACK = 12 };

struct driver_port;      /* driver/driver_port.h; what a driver knows its port by */

/* A binary as drivers see it: the part of struct binary from its size on. */
struct driver_binary {
	int64_t size_bytes;
	uint8_t bytes[];
};
_Static_assert(offsetof(struct binary, data) - offsetof(struct binary, size_bytes) ==
	       offsetof(struct driver_binary, bytes), "a driver's binary is the end of ours");
static inline struct binary *driver_binary_counted(struct driver_binary *b)
{
	return (struct binary *)((uint8_t *)b - offsetof(struct binary, size_bytes));
}
static inline struct driver_binary *driver_binary_of(struct binary *b)
{
	return (struct driver_binary *)&b->size_bytes;
}

struct driver_iovec {
	int count;
	size_t size_bytes;
	struct iovec *parts;
	struct driver_binary **binaries; /* of each part; NULL: none */
};

struct driver_monitor { /* 32 bytes; drivers have it as bytes, at any address */
	uint64_t number, pid, spare[2];
} __attribute__((packed));

struct driver_entry {
	int (*init)(void);
	void *(*start)(struct driver_port *port, char *command);
	void (*stop)(void *data);
	void (*output)(void *data, char *bytes, size_t n);
	void (*ready_input)(void *data, void *event);
	void (*ready_output)(void *data, void *event);
	char *name;
	void (*finish)(void);
	void *handle;        /* for the VM, as handle2 */
	ssize_t (*control)(void *data, unsigned command, char *bytes, size_t n, char **answer, size_t room);
	void (*timeout)(void *data);
	void (*outputv)(void *data, struct driver_iovec *v);
	void (*ready_async)(void *data, void *job);
	void (*flush)(void *data);
	ssize_t (*call)(void *data, unsigned command, char *bytes, size_t n, char **answer, size_t room,
			unsigned *flags);
	void (*unused_event)(void);
	uint32_t marker;
	int major, minor;
	int flags;
	void *handle2;
	void (*process_exit)(void *data, struct driver_monitor *monitor);
	void (*stop_select)(void *event, void *reserved);
	void (*emergency_close)(void *data);
};

/* What driver_output_term and its like read: words, each of these with its arguments. */
enum driver_term {
	DRIVER_TERM_NIL = 1, DRIVER_TERM_ATOM, DRIVER_TERM_INT, DRIVER_TERM_PORT, DRIVER_TERM_BINARY,
	DRIVER_TERM_STRING, DRIVER_TERM_TUPLE, DRIVER_TERM_LIST, DRIVER_TERM_STRING_CONS, DRIVER_TERM_PID,
	DRIVER_TERM_FLOAT, DRIVER_TERM_EXTERNAL, DRIVER_TERM_UINT, DRIVER_TERM_BUFFER, DRIVER_TERM_INT64,
	DRIVER_TERM_UINT64, DRIVER_TERM_MAP,
};

struct driver_thread_options { int stack_kilowords; };
struct driver_now { unsigned long megaseconds, seconds, microseconds; };

#endif
