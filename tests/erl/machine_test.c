/* SPDX-License-Identifier: Apache-2.0 */
/* What the machine does to a VM: signals, limits, processors, filters of system calls. Each script runs with $VM being
 * the stock erl, then erlvm: both must print the same. */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "patience.h"

enum { OUTPUT_MAX = 1 << 14, SECONDS = 60 };

#define KILL_SELF "os:cmd(\"kill -USR2 \" ++ os:getpid()), timer:sleep(500), io:format(\"up~n\"), halt(3)."

static const char *const scripts[] = {
	"$VM -noshell -eval 'os:set_signal(sigusr2, ignore), " KILL_SELF "'; echo $?",
	"$VM -noshell -eval 'os:set_signal(sigusr2, handle), " KILL_SELF "'; echo $?",
	"$VM -noshell -eval 'os:set_signal(sigusr2, default), " KILL_SELF "'; echo $?",
};

static void run(const char *vm, const char *script, char *out)
{
	char command[4096];
	FILE *pipe;
	size_t n;

	snprintf(command, sizeof(command),
		 "export VM='timeout -s KILL %d %s' ERL_CRASH_DUMP_SECONDS=0; { %s; } 2>&1 </dev/null", patience(SECONDS),
		 vm, script);
	pipe = popen(command, "r");
	ck_assert_ptr_nonnull(pipe);
	n = fread(out, 1, OUTPUT_MAX - 1, pipe);
	out[n] = 0;
	pclose(pipe);
}

static const char *erlvm(void)
{
	static char path[512];
	const char *build = getenv("BUILD");

	snprintf(path, sizeof(path), "%s/erlvm", build != NULL ? build : "build");
	return path;
}

START_TEST(test_as_erl)
{
	static char expected[OUTPUT_MAX], printed[OUTPUT_MAX];

	run("erl", scripts[_i], expected);
	run(erlvm(), scripts[_i], printed);
	ck_assert_msg(expected[0] != 0 && strcmp(expected, printed) == 0, "%s\n  erl   %.1000s\n  erlvm %.1000s",
		      scripts[_i], expected, printed);
}
END_TEST

/* A VM whose every scheduler is busy or waits says what its threads do. */
START_TEST(test_sigusr2_tells_what_threads_wait_for)
{
	static char printed[OUTPUT_MAX];

	run(erlvm(), "$VM +S 2 -noshell -eval '" KILL_SELF "'; echo $?", printed);
	ck_assert_msg(strstr(printed, "erlvm: SIGUSR2: its threads") != NULL &&
		      strstr(printed, "erlvm: sched_1, ") != NULL && strstr(printed, "erlvm: main, outside: runs") != NULL &&
		      strstr(printed, "waits for work") != NULL && strstr(printed, "up\n3\n") != NULL, "%s", printed);
}
END_TEST

#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__) /* they keep what is freed */
#define RESIDENT "Resident = fun() -> {ok, B} = file:read_file(\"/proc/self/statm\"), " \
	"[_, R | _] = string:lexemes(B, \" \"), binary_to_integer(R) div 256 end, "
#define COMES_DOWN "Down = fun F(_, 0) -> Resident(); F(Most, N) -> case Resident() =< Most of true -> ok; " \
	"false -> timer:sleep(100), F(Most, N - 1) end end, "

/* What 200,000 processes took is the system's again soon after: a fourth of the peak at most is left. */
START_TEST(test_a_peak_is_given_back)
{
	static char printed[OUTPUT_MAX];

	run(erlvm(), "$VM +P 300000 -noshell -eval '" RESIDENT COMES_DOWN
	    "{_, Ref} = spawn_monitor(fun() -> All = [spawn_monitor(fun() -> receive go -> ok end end) || "
	    "_ <- lists:seq(1, 200000)], [P ! go || {P, _} <- All], [receive {_, R, _, _, _} -> ok end || {_, R} <- All], "
	    "exit(Resident()) end), Peak = receive {_, Ref, _, _, Most} -> Most end, "
	    "io:format(\"~p ~p~n\", [Peak > 250, Down(Peak div 4, 300)]), halt().'", printed);
	ck_assert_str_eq(printed, "true ok\n");
}
END_TEST
#endif

Suite *machine_suite(void)
{
	Suite *s = suite_create("machine");
	TCase *t = tcase_create("machine");

	tcase_set_timeout(t, 2 * SECONDS);
	tcase_add_loop_test(t, test_as_erl, 0, sizeof(scripts) / sizeof(scripts[0]));
	tcase_add_test(t, test_sigusr2_tells_what_threads_wait_for);
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
	tcase_add_test(t, test_a_peak_is_given_back);
#endif
	suite_add_tcase(s, t);
	return s;
}
