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

Suite *machine_suite(void)
{
	Suite *s = suite_create("machine");
	TCase *t = tcase_create("machine");

	tcase_set_timeout(t, 2 * SECONDS);
	tcase_add_loop_test(t, test_as_erl, 0, sizeof(scripts) / sizeof(scripts[0]));
	tcase_add_test(t, test_sigusr2_tells_what_threads_wait_for);
	suite_add_tcase(s, t);
	return s;
}
