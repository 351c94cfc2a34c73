/* SPDX-License-Identifier: Apache-2.0 */
/* erlvm: reads the command line, makes the rooms ready, wires every upward pointer, and starts the first processes.
 * Invariant: nothing runs Erlang code before all rooms are ready. */
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "bif/bif.h"
#include "boot.h"
#include "code/code_path.h"
#include "code/export.h"
#include "code/fun.h"
#include "code/module.h"
#include "ets/ets.h"
#include "exec/exec.h"
#include "heap/literal.h"
#include "io/async.h"
#include "io/io.h"
#include "proc/sched.h"
#include "term/node.h"

/* Read by tools from the executable. */
const char erlvm_release[] = "0.1.0";

static const char usage[] =
	"usage: erlvm [-pa DIR...] [-s|-run MODULE [FUNCTION [ARG...]]]... [-- ...]\n"
	"Runs Erlang functions from .beam files, one after the other, as erl does.\n"
	"\n"
	"  -pa DIR...        look for .beam files here first\n"
	"  -s M [F [A...]]   call M:F, or M:start; arguments become a list of atoms\n"
	"  -run M [F [A...]] the same; arguments become a list of strings\n"
	"  +S N              scheduler threads (default: one a core)\n"
	"  +A N              threads for file operations (default: 10)\n"
	"  +P N              how many processes there may be (default: 1048576)\n"
	"  --check-beam FILE say whether FILE is a sound .beam file, and why not\n"
	"  --disasm FILE     print FILE's code as this machine runs it\n"
	"  --version, --help\n"
	"ERLVM_ROOT names the Erlang/OTP installation whose library is used\n"
	"(default: /usr/lib/erlang).\n";

struct options {
	unsigned schedulers;
	unsigned async_threads;
	size_t processes;
};

static __attribute__((noreturn, format(printf, 1, 2))) void fail_usage(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	fprintf(stderr, "erlvm: ");
	vfprintf(stderr, format, args);
	fprintf(stderr, "; try erlvm --help\n");
	va_end(args);
	exit(2);
}

static unsigned long parse_count(const char *flag, const char *text, unsigned long max)
{
	char *end;
	unsigned long n;

	if (text == NULL)
		fail_usage("%s needs a number", flag);
	n = strtoul(text, &end, 10);
	if (end == text || (*end != 0 && *end != ':') || n == 0 || n > max)
		fail_usage("%s takes a number from 1 to %lu, not %s", flag, max, text);
	return n;
}

/* +S 2 and +S2 are the same. Returns the arguments used. */
static int parse_emulator_flag(char **argv, struct options *o)
{
	const char *flag = argv[0];
	const char *value = flag[2] != 0 ? flag + 2 : argv[1];
	int used = flag[2] != 0 ? 1 : 2;

	switch (flag[1]) {
	case 'S':
		o->schedulers = (unsigned)parse_count("+S", value, 1024);
		return used;
	case 'A':
		o->async_threads = (unsigned)parse_count("+A", value, 1024);
		return used;
	case 'P':
		o->processes = parse_count("+P", value, 1 << 27);
		return used;
	case 'K': case 'W': case 't': case 'Q': case 'e': case 'a':
		return value != NULL ? used : 1; /* accepted; nothing here to tune */
	case 's': case 'h': case 'M': case 'z': /* +sbt X, +hms N ...: a letter or more, then a value */
		return argv[1] != NULL && argv[1][0] != '+' && argv[1][0] != '-' ? 2 : 1;
	default:
		fail_usage("unknown flag %s", flag);
	}
}

static bool is_flag(const char *text)
{
	return text == NULL || ((text[0] == '-' || text[0] == '+') && text[1] != 0);
}

static int parse_paths(char **argv)
{
	int n = 1;

	if (is_flag(argv[1]))
		fail_usage("%s needs a directory", argv[0]);
	for (; !is_flag(argv[n]); n++)
		code_path_add(argv[n]);
	return n;
}

static int parse_call(char **argv, bool strings)
{
	int n = 1;

	if (is_flag(argv[1]))
		fail_usage("%s needs a module", argv[0]);
	while (!is_flag(argv[n]))
		n++;
	boot_add_call(n - 1, argv + 1, strings);
	return n;
}

static int count_words(char **argv)
{
	int n = 0;

	while (argv[n] != NULL)
		n++;
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

static void parse_options(char **argv, struct options *o)
{
	while (*argv != NULL && strcmp(*argv, "--") != 0 && strcmp(*argv, "-extra") != 0) {
		const char *a = *argv;

		if (a[0] == '+')
			argv += parse_emulator_flag(argv, o);
		else if (strcmp(a, "-pa") == 0 || strcmp(a, "-pz") == 0)
			argv += parse_paths(argv);
		else if (strcmp(a, "-s") == 0 || strcmp(a, "-run") == 0)
			argv += parse_call(argv, a[1] == 'r');
		else if (a[0] == '-')
			argv += parse_own_flag(argv);
		else
			fail_usage("unexpected argument %s", a);
	}
	if (*argv != NULL)
		boot_set_plain(count_words(argv + 1), argv + 1);
}

static void init_rooms(const struct options *o)
{
	process_table_init(o->processes);
	sched_init(o->schedulers);
	export_init();
	fun_init();
	module_init();
	exec_init(); /* wires the loop, the loader's back end and stack traces */
	bif_init();
	ets_init();
	async_init(o->async_threads);
	io_init();
}

static int run_tool(const char *option, const char *file)
{
	if (file == NULL)
		fail_usage("%s needs a file", option);
	if (strcmp(option, "--check-beam") == 0)
		return beam_check_file(file);
	return exec_disasm_file(file);
}

int main(int argc, char **argv)
{
	long cores = sysconf(_SC_NPROCESSORS_ONLN);
	struct options o = { cores > 0 ? (unsigned)cores : 1, 10, 1048576 };

	(void)argc;
	signal(SIGPIPE, SIG_IGN);
	if (argv[1] != NULL && strcmp(argv[1], "--help") == 0)
		return fputs(usage, stdout) < 0;
	if (argv[1] != NULL && strcmp(argv[1], "--version") == 0)
		return printf("erlvm %s (Erlang/OTP 25)\n", erlvm_release) < 0;
	atom_init();
	literal_init();
	node_init();
	if (argv[1] != NULL && (strcmp(argv[1], "--check-beam") == 0 || strcmp(argv[1], "--disasm") == 0)) {
		init_rooms(&o);
		return run_tool(argv[1], argv[2]);
	}
	parse_options(argv + 1, &o);
	if (!boot_has_calls())
		fail_usage("nothing to run");
	init_rooms(&o);
	boot_start();
	return sched_start();
}
