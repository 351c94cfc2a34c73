/* SPDX-License-Identifier: Apache-2.0 */
/* The command line: each is given to the stock erl and to erlvm; both must print the same and end with the same status. */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

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
	"+A 0 -noshell -eval 'io:format(\"~p~n\", [erlang:system_info(thread_pool_size)]), halt().'",
	"+Q 5000 +t 200000 +e 9000 +P 100000 +SP 100 -noshell -eval "
	"'io:format(\"~p~n\", [[erlang:system_info(I) || I <- [port_limit, atom_limit, ets_limit, process_limit, schedulers]]]), halt().'",
	"+hms 4000 +hmax 1000000 +hmaxk false +hmaxel false +hmqd off_heap -noshell -eval "
	"'io:format(\"~p~n\", [[erlang:system_info(I) || I <- [min_heap_size, max_heap_size, message_queue_data]]]), halt().'",
	"+pc unicode +W i +fnl -noshell -eval "
	"'io:format(\"~p~n\", [{io:printable_range(), error_logger:warning_map(), file:native_name_encoding()}]), halt().'",
	"-noshell -run init stop 3 -s init stop",
	"-noshell -boot start_clean -hidden -nostick -eval 'io:format(\"~p~n\", [code:is_sticky(lists)]), halt().'",
	"-noshell -enable-feature maybe_expr -eval 'io:format(\"~p~n\", [erl_features:enabled()]), halt().'",
	"-noshell -config %s/none -s init stop",
	"-eval '1 + 1.' < %s/shell",
	"-noshell -eval 'io:format(\"~p~n\", [io:get_line(\"\")]), halt().' < %s/shell",
	"-noshell -eval 'F = \"%s/once\", io:format(\"up~n\"), case file:read_file(F) of {ok, _} -> file:delete(F), halt(2); "
	"_ -> file:write_file(F, \"\"), init:restart() end.'",
	"-noshell -eval 'io:format(\"~p~n\", [string:trim(os:cmd(\"echo $PROGNAME $EMU\"))]), halt().' > %s/out; cut -d' ' -f2 %s/out",
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
	strcpy(work.directory, "/tmp/erlvm-start.XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(work.directory));
	write_file("sys.config", "[{app, [{a, 1}, {b, \"two\"}]}].\n");
	write_file("args", "# flags\n-noshell -x \"y z\"\n-eval 'io:format(\"~p~n\", [init:get_argument(x)]), halt().'\n");
	write_file("shell", "X = lists:seq(1, 3).\nlists:sum(X).\n1 / 0.\nf(X).\nq().\n");
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
	snprintf(command, sizeof(command), "ERL_CRASH_DUMP=/dev/null ERL_CRASH_DUMP_BYTES=0 timeout %d %s %s 2>/dev/null%s", SECONDS, vm,
		 line, strchr(line, '<') != NULL ? "" : " </dev/null");
	pipe = popen(command, "r");
	ck_assert_ptr_nonnull(pipe);
	n = fread(out, 1, OUTPUT_MAX - 1, pipe);
	out[n] = 0;
	return WEXITSTATUS(pclose(pipe));
}

START_TEST(test_command_line_as_erl)
{
	static char expected[OUTPUT_MAX], printed[OUTPUT_MAX];
	const char *build = getenv("BUILD");
	char vm[512];
	int status, wanted = run_line("erl", lines[_i], expected);

	snprintf(vm, sizeof(vm), "%s/erlvm", build != NULL ? build : "build");
	status = run_line(vm, lines[_i], printed);
	ck_assert_msg(strcmp(expected, printed) == 0, "%s\n  erl   %.1000s\n  erlvm %.1000s", lines[_i], expected, printed);
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

Suite *start_suite(void)
{
	Suite *s = suite_create("start");
	TCase *t = tcase_create("start");

	tcase_add_unchecked_fixture(t, make_files, remove_files);
	tcase_set_timeout(t, 2 * SECONDS);
	tcase_add_loop_test(t, test_command_line_as_erl, 0, sizeof(lines) / sizeof(lines[0]));
	tcase_add_test(t, test_quick_start_tells_an_exit);
	suite_add_tcase(s, t);
	return s;
}
