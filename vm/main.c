/* SPDX-License-Identifier: Apache-2.0 */
/* erlvm: reads the command line, makes the rooms ready, wires every upward pointer, and starts the first processes.
 * Invariant: nothing runs Erlang code before all rooms are ready. */
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/release.h"
#include "bif/system/bif_info.h"
#include "proc/spawn_opts.h"
#include "boot.h"
#include "code/code_path.h"
#include "code/export.h"
#include "code/fun.h"
#include "code/code_area.h"
#include "code/module.h"
#include "erl_args.h"
#include "dist/channel.h"
#include "dist/dist.h"
#include "dump/break_menu.h"
#include "dump/crash_dump.h"
#include "driver/driver.h"
#include "ets/ets.h"
#include "exec/exec.h"
#include "heap/literal.h"
#include "heap/resource_name.h"
#include "io/async.h"
#include "io/cpu_usable.h"
#include "io/orphans.h"
#include "io/filename.h"
#include "io/io.h"
#include "io/port.h"
#include "nif/nif_library.h"
#include "nif/nif.h"
#include "socket/socket.h"
#include "proc/batch.h"
#include "jit/native.h"
#include "proc/dirty.h"
#include "proc/node_monitor.h"
#include "proc/registry.h"
#include "proc/sched.h"
#include "term/node.h"
#include "trace/trace.h"
#include "tty/tty.h"
#include "zstd/zstd_library.h"

/* Read by tools from the executable. */
const char erlvm_release[] = VERSION;

static const char usage[] =
	"usage: erlvm [FLAG...]              OTP's own start, with erl's flags\n"
	"       erlvm -quick -pa DIR... -s|-run MODULE [FUNCTION [ARG...]]... [-- ...]\n"
	"\n"
	"Both:\n"
	"  -pa DIR...        look for .beam files here first\n"
	"  -s M [F [A...]]   call M:F, or M:start; arguments become a list of atoms\n"
	"  -run M [F [A...]] the same; arguments become a list of strings\n"
	"  +S N              scheduler threads (default: one a core)\n"
	"  +A N              threads for file operations (default: 10; 0 is 1)\n"
	"  +P N              how many processes there may be (default: 1048576)\n"
	"  +JIT all|hot|off  machine code for modules (default: hot)\n"
	"OTP's start (init, kernel, stdlib; see erl(1)):\n"
	"  -eval EXPR, -noshell, -noinput, -boot FILE, -mode MODE, -config FILE,\n"
	"  -args_file FILE, -env NAME VALUE, -pz DIR..., -extra ..., -root DIR\n"
	"The quick start runs the functions one after the other, without kernel.\n"
	"Tools:\n"
	"  --check-beam FILE say whether FILE is a sound .beam file, and why not\n"
	"  --disasm FILE     print FILE's code as this machine runs it\n"
	"  --version, --help\n"
	"ERLVM_ROOT names the Erlang/OTP installation that is used, as -root does\n"
	"(default: /usr/lib/erlang). ERL_AFLAGS, ERL_FLAGS, ERL_ZFLAGS add flags.\n";

static bool is_flag(const char *text)
{
	return text == NULL || ((text[0] == '-' || text[0] == '+') && text[1] != 0);
}

static int parse_paths(char **argv)
{
	int n = 1;

	if (is_flag(argv[1]))
		erl_args_fail("%s needs a directory", argv[0]);
	for (; !is_flag(argv[n]); n++)
		code_path_add(argv[n]);
	return n;
}

static int parse_call(char **argv, bool strings)
{
	int n = 1;

	if (is_flag(argv[1]))
		erl_args_fail("%s needs a module", argv[0]);
	while (!is_flag(argv[n]))
		n++;
	boot_add_call(n - 1, argv + 1, strings);
	return n;
}

/* A flag that init:get_argument/1 finds, with its values. */
static int parse_own_flag(char **argv)
{
	int n = 1;

	while (!is_flag(argv[n]))
		n++;
	boot_add_flag(n, argv);
	return n;
}

static void parse_quick(char **argv, struct options *o)
{
	while (*argv != NULL && strcmp(*argv, "--") != 0 && strcmp(*argv, "-extra") != 0) {
		const char *a = *argv;

		if (a[0] == '+')
			argv += erl_args_emulator_flag(argv, o);
		else if (strcmp(a, "-quick") == 0)
			argv++;
		else if (strcmp(a, "-pa") == 0 || strcmp(a, "-pz") == 0)
			argv += parse_paths(argv);
		else if (strcmp(a, "-s") == 0 || strcmp(a, "-run") == 0)
			argv += parse_call(argv, a[1] == 'r');
		else if (a[0] == '-')
			argv += parse_own_flag(argv);
		else
			erl_args_fail("unexpected argument %s", a);
	}
	if (*argv != NULL)
		boot_set_plain(words_count(argv + 1), argv + 1);
	if (!boot_has_calls())
		erl_args_fail("nothing to run");
	erl_args_use_library();
}

static bool is_quick(char **argv)
{
	for (; *argv != NULL && strcmp(*argv, "--") != 0 && strcmp(*argv, "-extra") != 0; argv++)
		if (strcmp(*argv, "-quick") == 0)
			return true;
	return false;
}

static void apply_defaults(const struct options *o, char **words)
{
	uint32_t flags = (o->max_heap_spares ? PF_MAX_HEAP_SPARE : 0) | (o->max_heap_silent ? PF_MAX_HEAP_SILENT : 0) |
			 (o->max_heap_binaries ? PF_MAX_HEAP_BINARIES : 0);

	if (o->atoms > 0)
		atom_set_limit((uint32_t)o->atoms);
	if (o->ports > 0)
		port_set_limit(o->ports);
	if (o->file_names != 0)
		filename_set_utf8(o->file_names == 'u');
	if (o->min_heap_words > 0)
		atomic_store(&spawn_defaults.min_heap_words, gc_next_size_words(o->min_heap_words));
	if (o->min_bin_vheap_words > 0)
		atomic_store(&spawn_defaults.min_bin_vheap_words, gc_next_size_words(o->min_bin_vheap_words));
	atomic_store(&spawn_defaults.fullsweep_after, o->fullsweep_after);
	atomic_store(&spawn_defaults.max_heap_words, o->max_heap_words);
	atomic_store(&spawn_defaults.max_heap_flags, flags);
	atomic_store(&spawn_defaults.off_heap_messages, o->messages_off_heap);
	if (o->dist_busy_bytes > 0)
		atomic_store(&channel_busy_bytes, o->dist_busy_bytes);
	info_settings = (struct info_settings){
		.printable_range = o->printable_unicode ? am_unicode : am_latin1,
		.warning_map = o->warnings == 'i' ? am_info : o->warnings == 'e' ? am_error : am_warning,
		.ets_limit = o->tables,
		.words = words,
	};
}

static const struct nif_entry *const linked_libraries[] = { &socket_prim_socket, &socket_prim_net, &tty_prim_tty,
							    &zstd_zstd, NULL };

static void init_rooms(struct options *o, char **words)
{
	erl_args_settle(o);
	process_table_init(o->processes);
	registry_init();
	node_monitor_init();
	batch_init();
	sched_init(o->schedulers, o->online);
	dirty_init(o->dirty_cpu, o->dirty_cpu_online, o->dirty_io);
	export_init();
	fun_init();
	if (o->native != NATIVE_OFF && native_is_built())
		code_area_want_native();
	module_init();
	exec_init(); /* wires the loop, the loader's back end and stack traces */
	if (o->native != NATIVE_OFF)
		native_init(o->native, o->perf_map, o->perf_dump);
	bif_init();
	ets_init();
	trace_init();
	async_init(o->async_threads);
	poll_init(&o->poll);
	io_init();
	dist_init();
	nif_init();
	nif_library_set_linked(linked_libraries);
	driver_room_init();
	apply_defaults(o, words);
}

static int run_tool(const char *option, const char *file)
{
	if (file == NULL)
		erl_args_fail("%s needs a file", option);
	if (strcmp(option, "--check-beam") == 0)
		return beam_check_file(file);
	return exec_disasm_file(file);
}

/* What was printed is the result: one that cannot be written is a failure. */
static int finish_output(void)
{
	if (fflush(stdout) == 0 && !ferror(stdout))
		return 0;
	perror("erlvm: cannot write");
	return 1;
}

/* A file must not become standard output or error because those were closed. */
static void open_standard_fds(void)
{
	int fd;

	do
		fd = open("/dev/null", O_RDWR);
	while (fd >= 0 && fd <= STDERR_FILENO);
	close(fd);
}

int main(int argc, char **argv)
{
	long cores = sysconf(_SC_NPROCESSORS_ONLN);
	unsigned online = cores > 0 ? (unsigned)cores : 1;
	struct options o = OPTIONS_DEFAULT(online, cpu_usable(online));
	struct words words = { 0 };
	bool quick;
	char known[64];

	(void)argc;
	open_standard_fds();
	signal(SIGPIPE, SIG_IGN);
	signal(SIGFPE, SIG_IGN); /* of somebody who sends it; a fault ends the VM all the same */
	if (argv[1] != NULL && strcmp(argv[1], "--help") == 0) {
		fputs(usage, stdout);
		return finish_output();
	}
	if (argv[1] != NULL && strcmp(argv[1], "--version") == 0) {
		release_name_known(known, sizeof(known));
		printf("erlvm %s (Erlang/OTP %s)\n", erlvm_release, known);
		return finish_output();
	}
	mem_init();
	atom_init();
	node_init();
	literal_init();
	resource_name_init();
	if (argv[1] != NULL && (strcmp(argv[1], "--check-beam") == 0 || strcmp(argv[1], "--disasm") == 0)) {
		init_rooms(&o, argv);
		return run_tool(argv[1], argv[2]) | finish_output();
	}
	quick = is_quick(argv + 1);
	if (quick)
		parse_quick(argv + 1, &o);
	else
		erl_args_parse(argv + 1, &o, &words);
	init_rooms(&o, argv);
	log_crash_dump = crash_dump_write;
	break_menu_init(o.on_break);
	if (quick)
		boot_start();
	else if (!boot_start_otp(words.count, words.words))
		return 1;
	orphans_init();
	return sched_start();
}
