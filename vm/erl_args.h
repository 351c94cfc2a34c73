/* SPDX-License-Identifier: Apache-2.0 */
/* The command line of `erl`: flags for the emulator (+X), flags that stand for others (-noinput, -args_file ...), the
 * ERL_*FLAGS variables; and what is left, which the Erlang process `init` reads.
 * Source: erl's manual page (erts, "erl"). */
#ifndef VM_ERL_ARGS_H
#define VM_ERL_ARGS_H

#include <stdbool.h>
#include <stddef.h>

#include "erl_words.h"
#include "io/poll.h"
#include "jit/native.h"

struct options {
	unsigned schedulers, online; /* those that run processes at first: more than schedulers means all */
	unsigned dirty_cpu, dirty_cpu_online, dirty_io; /* see proc/dirty.h */
	unsigned dirty_cpu_percent, dirty_online_percent; /* of the first two */
	unsigned async_threads;
	struct poll_settings poll; /* sets, threads: 0 when only the percentages say it, until erl_args_settle */
	unsigned poll_sets_percent, poll_threads_percent; /* of the poll threads; of the schedulers */
	size_t processes, ports, atoms, tables;
	size_t min_heap_words, min_bin_vheap_words, max_heap_words; /* of new processes; 0: as built in */
	unsigned fullsweep_after;
	/* it does not kill; is not reported; counts binaries */
	bool max_heap_spares, max_heap_silent, max_heap_binaries;
	bool messages_off_heap;
	size_t dist_busy_bytes; /* of a connection, at which senders wait; 0: as built in */
	bool printable_unicode;
	enum native_mode native; /* which modules get machine code */
	bool perf_map, perf_dump; /* and its names are written, see jit/native_perf.h */
	char warnings;       /* w, i or e: what they are logged as */
	char on_break;       /* what Ctrl-C does: m the menu, d ends, i nothing, c is for the shell */
	char file_names;     /* u or l: UTF-8 or Latin-1 whatever the locale says; 0 */
};
/* cores: those online; usable: of them, see io/cpu_usable.h. */
#define OPTIONS_DEFAULT(cores, usable)                                                                                 \
	{ .schedulers = (cores), .online = (usable), .dirty_cpu = (cores), .dirty_cpu_online = (usable),               \
	  .dirty_io = 10, .dirty_cpu_percent = 100, .dirty_online_percent = 100, .async_threads = 10,                  \
	  .processes = 1048576, .tables = 8192, .fullsweep_after = 65535, .warnings = 'w', .on_break = 'm',            \
	  .poll.by_schedulers = true }

/* argv: without the program's name. Flags for the emulator change *o; init's words are added to *boot; what erlexec
 * sets in the environment (ROOTDIR, BINDIR, PROGNAME, EMU, PATH) is set. Fails: ends the program with status 1 and a
 * line that says why. */
void erl_args_parse(char **argv, struct options *o, struct words *boot);
/* One +X flag at argv[0], its value in it or behind it. Returns the arguments used. Fails: as above. */
int erl_args_emulator_flag(char **argv, struct options *o);
/* After all flags: no more online than there are, no more dirty CPU schedulers than schedulers. Fails: as above. */
void erl_args_settle(struct options *o);
/* Is the installation's library, where there is one, of the release that erlvm runs? Fails: as above. */
void erl_args_use_library(void);
void erl_args_fail(const char *format, ...) __attribute__((noreturn, format(printf, 1, 2)));

#endif
