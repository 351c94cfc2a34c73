/* SPDX-License-Identifier: Apache-2.0 */
/* The command line: each is given to the stock erl and to erlvm; both must print the same and end with the same status. */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "../erlvm_needed.h"
#include "patience.h"

enum { OUTPUT_MAX = 1 << 16, SECONDS = 60 };

/* What stands behind the VM's name in a shell. %s is a directory of the test's own. */
static const char *const lines[] = {
	"-noshell -eval 'io:format(\"hello~n\"), halt(3).'",
	"-noshell -s init stop",
	"-noshell -eval 'init:stop(9).'",
	"-noshell -run erlang display x -run erlang halt",
	"-noshell -s erlang halt -extra a -s b",
	"-noshell -eval 'io:format(\"~p~n\", [init:get_plain_arguments()]), halt().' -- a b -c d -extra -e f",
	"-noshell -eval 'io:format(\"~p~n\", [proplists:delete(progname, init:get_arguments())]), halt().' -flag -other 1 2 -flag 3",
	"-noinput -eval 'io:format(\"~p~n\", [[init:get_argument(F) || F <- [noshell, noinput]]]), halt().'",
	"-noshell -eval 'erlang:error(oops).'",
	"-noshell -eval 'not erlang'",
	"-noshell -s no_such_module",
	"-noshell -boot no_such_script -s erlang halt",
	"-noshell -boot start_sasl -eval 'io:format(\"~p~n\", [[A || {A, _, _} <- application:which_applications()]]), halt().'",
	"-noshell -mode embedded -eval 'io:format(\"~p~n\", [code:get_mode()]), halt().'",
	"-noshell -config %s/sys -eval 'io:format(\"~p~n\", [application:get_all_env(app)]), halt().'",
	"-noshell -app key '{a, [1]}' -eval 'application:load({application, app, []}), io:format(\"~p~n\", [application:get_env(app, key)]), halt().'",
	"-args_file %s/args",
	"-noshell -env START_TEST \"a b\" -eval 'io:format(\"~s~n\", [os:getenv(\"START_TEST\")]), halt().'",
	"-noshell -pa %s -pz /tmp -eval 'io:format(\"~p~n\", [[hd(code:get_path()), lists:last(code:get_path())]]), halt().'",
	"+S 2 +A 3 +P 2000 +K true +W w +sbt db +Bd +c true +zdbbl 1024 -noshell -eval "
	"'io:format(\"~p~n\", [[erlang:system_info(I) || I <- [schedulers, thread_pool_size]]]), halt().'",
	"+B i +B d +B x -noshell -eval 'io:format(\"~p~n\", [init:get_plain_arguments()]), halt().'",
	"+A 0 -noshell -eval 'io:format(\"~p~n\", [erlang:system_info(thread_pool_size)]), halt().'",
	"+Q 5000 +t 200000 +e 9000 +P 100000 +SP 100 -noshell -eval "
	"'io:format(\"~p~n\", [[erlang:system_info(I) || I <- [port_limit, atom_limit, ets_limit, process_limit, schedulers]]]), halt().'",
	"+hms 4000 +hmax 1000000 +hmaxk false +hmaxel false +hmqd off_heap -noshell -eval "
	"'io:format(\"~p~n\", [[erlang:system_info(I) || I <- [min_heap_size, max_heap_size, message_queue_data]]]), halt().'",
	"+pc unicode +W i +fnl -noshell -eval "
	"'io:format(\"~p~n\", [{io:printable_range(), error_logger:warning_map(), file:native_name_encoding()}]), halt().'",
	"-noshell -run init stop 3 -s init stop",
	"-make",
	"-noshell -eval 'unregister(erl_signal_server), os:cmd(\"kill \" ++ os:getpid()), timer:sleep(100), io:format(\"up~n\"), halt(3).'",
	"-noshell -pa %s -s reported main",
	"-args_file %s/words y -noshell -eval 'io:format(\"~p~n\", [{[init:get_argument(F) || F <- [a, c, d, e, f]], init:get_plain_arguments()}]), halt().' -extra z",
	"-args_file %s/none",
	"-env ONE",
	"-eval a b",
	"+S x -noshell -s init stop",
	"+sbwt nonee -noshell -s init stop",
	"+sss 1 -noshell -s init stop",
	"+bogus -noshell -s init stop",
	"+hmbs 60000 +h 2000 +sbtdb +rg 4 +IOPt 50 -noshell -eval "
	"'io:format(\"~p~n\", [[erlang:system_info(I) || I <- [min_heap_size, min_bin_vheap_size]]]), halt().'",
	"-noshell -eval "
	"'io:format(\"~p~n\", [[T || S <- erlang:system_info(check_io), {poll_threads, T} <- S]]), halt().'",
	"+IOp 2 +IOt 3 -noshell -eval "
	"'io:format(\"~p~n\", [[T || S <- erlang:system_info(check_io), {poll_threads, T} <- S]]), halt().'",
	"+IOs false +IOt 2 -noshell -eval "
	"'io:format(\"~p~n\", [[T || S <- erlang:system_info(check_io), {poll_threads, T} <- S]]), halt().'",
	"+S 4 +IOPt 100 +IOPp 70 -noshell -eval "
	"'io:format(\"~p~n\", [[T || S <- erlang:system_info(check_io), {poll_threads, T} <- S]]), halt().'",
	"+IOPt 50 +S 3 -noshell -eval "
	"'io:format(\"~p~n\", [[T || S <- erlang:system_info(check_io), {poll_threads, T} <- S]]), halt().'",
	"+IOPt 0 +IOPp 0 -noshell -eval "
	"'io:format(\"~p~n\", [[T || S <- erlang:system_info(check_io), {poll_threads, T} <- S]]), halt().'",
	"+IOPt 100 +S 4 +IOt 2 +IOs true -noshell -eval "
	"'io:format(\"~p~n\", [[T || S <- erlang:system_info(check_io), {poll_threads, T} <- S]]), halt().'",
	"+S 4 +IOPp 100 +IOPt 100 +IOp 3 +IOs false -noshell -eval "
	"'io:format(\"~p~n\", [[T || S <- erlang:system_info(check_io), {poll_threads, T} <- S]]), halt().'",
	"+IOp 2 -noshell -s init stop",
	"+S 1 +IOPt 100 +IOp 2 -noshell -s init stop",
	"+IOt 0 -noshell -s init stop",
	"+IOPp 101 -noshell -s init stop",
	"+IOs yes -noshell -s init stop",
	"-noshell -boot start_clean -hidden -nostick -eval 'io:format(\"~p~n\", [code:is_sticky(lists)]), halt().'",
	"-noshell -enable-feature maybe_expr -eval 'io:format(\"~p~n\", [erl_features:enabled()]), halt().'",
	"-noshell -config %s/none -s init stop",
	"+Q 1024 -noshell -pa %s -s limits main ports",
	"-noshell -pa %s -s limits main tables",
	"+S 1 -noshell -pa %s -s one_scheduler main",
	"-noshell -pa %s -s limits main sizes",
	"-noshell -pa %s -s limits main heap",
	"-noshell -pa %s -s limits main disk",
	"-eval '1 + 1.' < %s/shell",
	"-noshell -eval 'io:format(\"~p~n\", [io:get_line(\"\")]), halt().' < %s/shell",
	"-noshell -eval 'F = \"%s/once\", io:format(\"up~n\"), case file:read_file(F) of {ok, _} -> file:delete(F), halt(2); "
	"_ -> file:write_file(F, \"\"), init:restart() end.'",
	"-noshell -eval 'io:format(\"~p~n\", [string:trim(os:cmd(\"echo $PROGNAME $EMU\"))]), halt().' > %s/out; cut -d' ' -f2 %s/out",
};

/* Lines for a shell that finds the VM's directory first in PATH. %s as above; the working directory is the sources'. */
static const char *const scripts[] = {
	"erlc -o %s tests/erl/compile_check.erl && erl -noshell -pa %s -run compile_check main lists dict gb_trees maps string ordsets "
	"queue proplists orddict gb_sets array -s erlang halt",
	"cd %s && printf -- '-module(hello).\\n-export([f/0]).\\nf() -> world.\\n' > hello.erl && erlc hello.erl && "
	"erl -noshell -eval 'erlang:display(hello:f()), halt().' 2>&1",
	"cd %s && printf -- '-module(bad).\\nf() -> X.\\n' > bad.erl; erlc bad.erl; echo $?",
	"cd %s && printf '#!/usr/bin/env escript\\n%%%%%%%%! -hidden +S 2\\nmain(A) -> io:format(\"~p ~p~n\", [A, erlang:system_info(schedulers)]), "
	"halt(7).\\n' > e.escript && escript e.escript a \"b c\"; echo $?",
	"cd %s && printf '#!/usr/bin/env escript\\nmain(_) -> io:format(standard_error, \"x\", []), error(oops).\\n' > f.escript && "
	"escript f.escript 2>/dev/null; echo $?",
	"cd %s && printf '#!/usr/bin/env escript\\nmain(_) -> {ok, L} = io:read(\"\"), io:format(\"~p~n\", [L]).\\n' > g.escript && "
	"chmod +x g.escript && echo '{a, 1}.' | ./g.escript",
	"ERL_OTP25_FLAGS='-a o -extra 1' ERL_AFLAGS='-b \"p q\" -extra 2' ERL_FLAGS='-c r\\ s \"t\\u\" -extra 3' ERL_ZFLAGS='v' erl w -noshell -eval "
	"'io:format(\"~p~n\", [{[init:get_argument(F) || F <- [a, b, c]], init:get_plain_arguments()}]), halt().' -x -extra 4",
	"cd %s && (ulimit -n 30; ERL_CRASH_DUMP_SECONDS=30 ERL_CRASH_DUMP=files.dump erl -noshell -eval "
	"'F = fun F(L) -> case prim_file:open(\"/dev/null\", [read]) of {ok, H} -> F([H | L]); _ -> halt(\"no more\") end end, F([]).' 2>/dev/null); "
	"grep ^Slogan files.dump",
	"ERL_MAX_PORTS=2000 ERL_MAX_ETS_TABLES=9000 ERL_THREAD_POOL_SIZE=3 ERL_FULLSWEEP_AFTER=7 erl -noshell -eval 'io:format(\"~p~n\", "
	"[[erlang:system_info(I) || I <- [port_limit, ets_limit, thread_pool_size, fullsweep_after]]]), halt().'",
	"env -u HOME erl -noshell -eval 'io:format(\"~p~n\", [init:get_argument(home)]), halt().'",
	"printf '[{app, [{a, 1}]}].' | erl -noshell -configfd 0 -eval 'application:load({application, app, []}), "
	"io:format(\"~p~n\", [application:get_all_env(app)]), halt().'",
	"cd %s && ERL_CRASH_DUMP_SECONDS=30 ERL_CRASH_DUMP=slogan.dump erl -noshell -eval 'halt(\"slogan\").' 2>&1 | tr -d '\\r'; grep ^Slogan slogan.dump",
	"ulimit -n 60; erl -noshell -pa %s -s limits main files",
	"cd %s && mkdir -p full && unshare -rm sh -c 'mount -t tmpfs -o size=256k none full && erl -noshell -pa . -s limits main room full'",
	"LC_ALL=C.UTF-8 elixir tests/erl/elixir_check.exs",
	"elixir -e 'IO.puts(1 + 1); System.halt(3)'; echo $?",
	"printf 'x = 1 + 2\\nIO.inspect(x * 2)\\nraise \"oops\"\\nProcess.sleep(500); System.halt(0)\\n' | iex | grep -v Erlang/OTP",
};

static struct {
	char directory[64];
} work;

static void write_file(const char *name, const char *text)
{
	char path[256];
	FILE *f;

	snprintf(path, sizeof(path), "%s/%s", work.directory, name);
	f = fopen(path, "w");
	ck_assert_ptr_nonnull(f);
	fputs(text, f);
	fclose(f);
}

static void make_files(void)
{
	char command[128];

	strcpy(work.directory, "/tmp/erlvm-start.XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(work.directory));
	write_file("sys.config", "[{app, [{a, 1}, {b, \"two\"}]}].\n");
	write_file("args", "# flags\n-noshell -x \"y z\"\n-eval 'io:format(\"~p~n\", [init:get_argument(x)]), halt().'\n");
	write_file("words", "-a b#c -x\n# \"d\n-c \"e \\ f\"'g\"h' i\\\tj\\#\n-d '' k\\\nl -e -extra \"m -args_file n\" o\n-f\n");
	snprintf(command, sizeof(command), "erlc -o %s tests/erl/limits.erl tests/erl/one_scheduler.erl tests/erl/reported.erl", work.directory);
	ck_assert(system(command) == 0);
	write_file("shell", "X = lists:seq(1, 3).\nlists:sum(X).\n1 / 0.\nf(X).\nhalt().\n");
}

static void remove_files(void)
{
	char command[128];

	snprintf(command, sizeof(command), "rm -rf '%s'", work.directory);
	ck_assert(system(command) == 0);
}

/* Returns the status; the output is at *out. */
static int run_line(const char *vm, const char *arguments, char *out)
{
	char line[2048], command[2560];
	FILE *pipe;
	size_t n;

	snprintf(line, sizeof(line), arguments, work.directory, work.directory);
	snprintf(command, sizeof(command), "ERL_CRASH_DUMP=/dev/null ERL_CRASH_DUMP_BYTES=0 timeout %d %s %s 2>/dev/null%s", patience(SECONDS), vm,
		 line, strchr(line, '<') != NULL ? "" : " </dev/null");
	pipe = popen(command, "r");
	ck_assert_ptr_nonnull(pipe);
	n = fread(out, 1, OUTPUT_MAX - 1, pipe);
	out[n] = 0;
	return WEXITSTATUS(pclose(pipe));
}

/* path: what is put first in PATH, with its colon. */
static int run_script(const char *path, const char *script, char *out)
{
	char line[2048], command[2560];
	FILE *pipe;
	size_t n;

	snprintf(line, sizeof(line), script, work.directory, work.directory);
	snprintf(command, sizeof(command), "export PATH=\"%s$PATH\" ERL_CRASH_DUMP_SECONDS=0; %s", path, line);
	pipe = popen(command, "r");
	ck_assert_ptr_nonnull(pipe);
	n = fread(out, 1, OUTPUT_MAX - 1, pipe);
	out[n] = 0;
	return WEXITSTATUS(pclose(pipe));
}

START_TEST(test_script_as_with_erl)
{
	static char expected[OUTPUT_MAX], printed[OUTPUT_MAX];
	const char *build = getenv("BUILD");
	char *directory, path[512];
	int status, wanted;

	if (strstr(scripts[_i], "unshare") != NULL && system("unshare -rm true 2> /dev/null") != 0) {
		printf("SKIP script_as_with_erl: no file system may be mounted here\n");
		return;
	}
	directory = realpath(build != NULL ? build : "build", NULL);
	wanted = run_script("", scripts[_i], expected);

	snprintf(path, sizeof(path), "%s:", directory);
	free(directory);
	status = run_script(path, scripts[_i], printed);
	ck_assert_msg(strlen(expected) > 0 && strcmp(expected, printed) == 0, "%s\n  erl   %.1000s\n  erlvm %.1000s", scripts[_i], expected,
		      printed);
	ck_assert_msg(status == wanted, "%s\n  status %d, not %d", scripts[_i], status, wanted);
}
END_TEST

/* The line that names the emulator, which OTP 27 prints where there is no terminal, too. */
static const char *skip_banner(const char *text)
{
	const char *end = strncmp(text, "Erlang/OTP ", strlen("Erlang/OTP ")) == 0 ? strchr(text, '\n') : NULL;

	return end != NULL ? end + 1 : text;
}

/* The prompt that comes, or not, when the shell has been told to end the VM: that is a race on both. */
static void drop_last_prompt(char *text)
{
	size_t end = strlen(text), start;

	while (end > 0 && (text[end - 1] == '\n' || text[end - 1] == ' '))
		end--;
	start = end;
	if (start > 0 && text[start - 1] == '>')
		start--;
	while (start > 0 && start < end && text[start - 1] >= '0' && text[start - 1] <= '9')
		start--;
	if (start + 1 < end && (start == 0 || text[start - 1] == '\n'))
		end = start;
	while (end > 0 && text[end - 1] == '\n')
		end--;
	text[end] = 0;
}

START_TEST(test_command_line_as_erl)
{
	static char expected[OUTPUT_MAX], printed[OUTPUT_MAX];
	const char *build = getenv("BUILD");
	char vm[512];
	int status, wanted = run_line("erl", lines[_i], expected);

	snprintf(vm, sizeof(vm), "%s/erlvm", build != NULL ? build : "build");
	status = run_line(vm, lines[_i], printed);
	if (strstr(lines[_i], "/shell") != NULL) {
		drop_last_prompt(expected);
		drop_last_prompt(printed);
	}
	ck_assert_msg(strcmp(skip_banner(expected), skip_banner(printed)) == 0, "%s\n  erl   %.1000s\n  erlvm %.1000s", lines[_i], expected, printed);
	ck_assert_msg(status == wanted, "%s\n  status %d, not %d", lines[_i], status, wanted);
}
END_TEST

/* An exit is reported by nobody else. */
START_TEST(test_quick_start_tells_an_exit)
{
	const char *build = getenv("BUILD");
	char command[512], out[512];
	FILE *pipe;
	size_t n;

	snprintf(command, sizeof(command), "%s/erlvm -quick -s erlang exit why 2>&1 </dev/null", build != NULL ? build : "build");
	pipe = popen(command, "r");
	ck_assert_ptr_nonnull(pipe);
	n = fread(out, 1, sizeof(out) - 1, pipe);
	out[n] = 0;
	ck_assert_int_eq(WEXITSTATUS(pclose(pipe)), 1);
	ck_assert_str_eq(out, "erlvm: erlang:exit/1 exited: [why]\n");
}
END_TEST

/* By the quick start, too, a later library has a user; where the variable names no installation, it is skipped. */
START_TEST(test_quick_start_of_a_later_library)
{
	static const char *const variables[] = { "OTP27_ROOT" };
	const char *build = getenv("BUILD"), *root = getenv(variables[_i]);
	char command[600], out[200];
	FILE *pipe;
	size_t n;

	if (root == NULL || root[0] == 0) {
		printf("SKIP quick start: %s names no installation\n", variables[_i]);
		return;
	}
	setenv("ERLVM_ROOT", root, 1);
	snprintf(command, sizeof(command), "%s/erlvm -quick -s io write said -s erlang halt 2>&1 </dev/null", build != NULL ? build : "build");
	pipe = popen(command, "r");
	ck_assert_ptr_nonnull(pipe);
	n = fread(out, 1, sizeof(out) - 1, pipe);
	out[n] = 0;
	ck_assert_int_eq(pclose(pipe), 0);
	ck_assert_str_eq(out, "[said]");
}
END_TEST

/* By both starts, before anything else is done; one between two that are known, too. */
static const struct {
	const char *erts, *line, *release;
} other_libraries[] = {
	{ "erts-18.0", "-noshell -eval 'halt().'", "30" },
	{ "erts-18.0", "-quick -s erlang halt", "30" },
	{ "erts-14.2", "-noshell -eval 'halt().'", "26" },
	{ "erts-99.1", "-noshell -eval 'halt().'", "111" },
};

/* What erlvm says of an installation with these folders when it is started so, and its status. */
static void run_library(const char *folders, const char *line, char *out, size_t size)
{
	const char *build = getenv("BUILD");
	char command[1024];
	FILE *pipe;
	size_t n;

	snprintf(command, sizeof(command), "d=$(mktemp -d) && cd $d && mkdir -p %s && cd - >/dev/null && ERLVM_ROOT=$d %s/erlvm %s 2>&1 "
		 "</dev/null | sed \"s,$d,ROOT,\"; echo ${PIPESTATUS[0]}; rm -r $d", folders, build != NULL ? build : "build", line);
	setenv("COMMAND", command, 1);
	pipe = popen("exec bash -c \"$COMMAND\"", "r");
	ck_assert_ptr_nonnull(pipe);
	n = fread(out, 1, size - 1, pipe);
	out[n] = 0;
	ck_assert_int_eq(WEXITSTATUS(pclose(pipe)), 0);
}

/* What ERTS is of tells the release; an application that went on beside its next version is none of its own. */
static const struct {
	const char *folders, *line, *stray, *release;
} mixed_libraries[] = {
	{ "erts-15.2.7 lib/kernel-8.5.3 lib/stdlib-6.2", "-noshell -eval 'halt().'", "kernel-8.5.3", "27" },
	{ "erts-17.1 lib/kernel-11.0 lib/stdlib-6.2.2", "-quick -s erlang halt", "stdlib-6.2.2", "29" },
	{ "erts-13.2 lib/kernel-8.5.3 lib/kernel-10.2 lib/stdlib-8.1.1", "-noshell -eval 'halt().'", "stdlib-8.1.1", "25" },
};

START_TEST(test_library_of_several_releases_is_refused)
{
	char out[512], expected[512];

	run_library(mixed_libraries[_i].folders, mixed_libraries[_i].line, out, sizeof(out));
	snprintf(expected, sizeof(expected), "erlvm: the library in ROOT is of several releases: lib/%s is not of Erlang/OTP %s, of which its "
		 "ERTS is; try erlvm --help\n1\n", mixed_libraries[_i].stray, mixed_libraries[_i].release);
	ck_assert_str_eq(out, expected);
}
END_TEST

START_TEST(test_library_of_another_release_is_refused)
{
	char out[512], expected[512], folders[64];

	snprintf(folders, sizeof(folders), "erts-13.2 %s", other_libraries[_i].erts);
	run_library(folders, other_libraries[_i].line, out, sizeof(out));
	snprintf(expected, sizeof(expected), "erlvm: the library in ROOT is of Erlang/OTP %s, and erlvm runs that of 25, 27 and 29: name its root with -root or "
		 "ERLVM_ROOT; try erlvm --help\n1\n", other_libraries[_i].release);
	ck_assert_str_eq(out, expected);
}
END_TEST

/* Where erl ends, or processes of its own fail by chance. */
static const struct {
	const char *line, *expected;
} bounds[] = {
	{ "+t 20000 -noshell -pa %s -s limits main atoms", "first\n{{error,system_limit},{error,badarg},3}\n" },
	{ "+P 1024 -noshell -pa %s -s limits main processes", "{true,{error,system_limit},true}\n" },
	{ "-noshell -pa %s -s limits main leasts",
	  "{[{error,system_limit},\n  {error,badarg},\n  {error,badarg},\n  true,true,\n  {error,badarg},\n  {error,badarg}],\n system_limit,ok}\n" },
	{ "-noshell -pa %s -s limits main packet", "[1000,{error,enomem},2000]\n" },
	{ "-sname leasts_$$ -noshell -pa %s -s limits main remote_leasts",
	  "{{error,system_limit},{error,system_limit},[normal,normal],true}\n" },
	{ "-sname connection_$$ -noshell -pa %s -s limits main connection", "{true,true,true,false}\n" },
	{ "-noshell -pa %s -s limits main port_packet", "[1000,enomem,2000]\n" },
	{ "-noshell -pa %s -s limits main port_lines", "[1000,enomem,2000]\n" },
	{ "-noshell -pa %s -s limits main literals", "{[whole],true}\n" },
	{ "-noshell -pa %s -s limits main exports",
	  "first\n{2,{error,badarg},20,{error,system_limit},{error,undef},[2,1]}\n" },
};

START_TEST(test_bound_is_an_error)
{
	static char printed[OUTPUT_MAX];
	const char *build = getenv("BUILD");
	char vm[512];

	snprintf(vm, sizeof(vm), "%s/erlvm", build != NULL ? build : "build");
	ck_assert_int_eq(run_line(vm, bounds[_i].line, printed), 0);
	ck_assert_str_eq(printed, bounds[_i].expected);
}
END_TEST

#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__) /* they have a memory checker of their own */
/*
 * Heaps grow and shrink where no block shrinks in its place, and nothing is read that was not written. The VM is a copy:
 * a probe that another test puts into all processes of the executable is an instruction that valgrind takes for the VM's.
 */
START_TEST(test_runs_under_valgrind)
{
	static char printed[OUTPUT_MAX];
	const char *build = getenv("BUILD");
	char vm[512], copy[512];

	build = build != NULL ? build : "build";
	snprintf(copy, sizeof(copy), "cp %s/erlvm %s/tests/erlvm_copy", build, build);
	ck_assert_int_eq(system(copy), 0);
	snprintf(vm, sizeof(vm), "valgrind -q --error-exitcode=9 --suppressions=tests/erl/valgrind.supp %s/tests/erlvm_copy", build);
	ck_assert_int_eq(run_line(vm, "-noshell -eval 'L = lists:seq(1, 20000), io:format(\"~p~n\", [lists:sum([length(L), "
				      "map_size(maps:from_list([{I, L} || I <- L]))])]), garbage_collect(), halt().'", printed), 0);
	ck_assert_str_eq(printed, "40000\n");
}
END_TEST
#endif

Suite *start_suite(void)
{
	Suite *s = suite_create("start");
	TCase *t = tcase_create("start"), *refusals = tcase_create("refusals");

	tcase_add_unchecked_fixture(t, make_files, remove_files);
	tcase_add_checked_fixture(t, erlvm_needed, NULL);
	tcase_set_timeout(t, 2 * SECONDS);
	tcase_add_loop_test(t, test_command_line_as_erl, 0, sizeof(lines) / sizeof(lines[0]));
	tcase_add_test(t, test_quick_start_tells_an_exit);
	tcase_add_loop_test(t, test_quick_start_of_a_later_library, 0, 1);
	tcase_add_loop_test(t, test_bound_is_an_error, 0, sizeof(bounds) / sizeof(bounds[0]));
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
	tcase_add_test(t, test_runs_under_valgrind);
#endif
	tcase_add_loop_test(t, test_script_as_with_erl, 0, sizeof(scripts) / sizeof(scripts[0]));
	suite_add_tcase(s, t);
	tcase_add_loop_test(refusals, test_library_of_another_release_is_refused, 0, sizeof(other_libraries) / sizeof(other_libraries[0]));
	tcase_add_loop_test(refusals, test_library_of_several_releases_is_refused, 0, sizeof(mixed_libraries) / sizeof(mixed_libraries[0]));
	suite_add_tcase(s, refusals);
	return s;
}
