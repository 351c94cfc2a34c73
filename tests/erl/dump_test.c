/* SPDX-License-Identifier: Apache-2.0 */
/* Crash dumps: of the stock erl and of erlvm, read by OTP's own reader, which must find the same in both. */
#include <check.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "../erlvm_needed.h"
#include "patience.h"

enum { OUTPUT_MAX = 1 << 16, SECONDS = 60 };

static struct {
	char directory[64], erlvm[512];
} work;

static int run(char *out, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Runs a shell's line in the test's own directory. Returns its status; standard output is at out. */
static int run(char *out, const char *format, ...)
{
	char line[2048], command[2560];
	va_list args;
	FILE *pipe;
	size_t n;

	va_start(args, format);
	vsnprintf(line, sizeof(line), format, args);
	va_end(args);
	snprintf(command, sizeof(command), "cd %s && (%s) 2>errors </dev/null", work.directory, line);
	pipe = popen(command, "r");
	ck_assert_ptr_nonnull(pipe);
	n = fread(out, 1, OUTPUT_MAX - 1, pipe);
	out[n] = 0;
	return WEXITSTATUS(pclose(pipe));
}

static void set_up(void)
{
	static char out[OUTPUT_MAX];
	const char *build = getenv("BUILD");
	char *root = realpath(".", NULL), *path;

	strcpy(work.directory, "/tmp/erlvm-dump.XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(work.directory));
	path = realpath(build != NULL ? build : "build", NULL);
	snprintf(work.erlvm, sizeof(work.erlvm), "%s/erlvm", path);
	ck_assert(run(out, "erlc %s/tests/erl/dump_make.erl %s/tests/erl/dump_read.erl", root, root) == 0);
	free(root);
	free(path);
}

static void tear_down(void)
{
	char command[128];

	snprintf(command, sizeof(command), "rm -rf '%s'", work.directory);
	ck_assert(system(command) == 0);
}

static void make_dump(const char *vm, const char *settings)
{
	static char out[OUTPUT_MAX];
	int status = run(out, "rm -f dump; ERL_CRASH_DUMP=dump %s timeout %d %s -noshell -s dump_make main", settings, patience(SECONDS), vm);

	ck_assert_msg(status == 1, "%s ended with status %d", vm, status);
}

START_TEST(test_dump_read_by_its_viewer)
{
	static char expected[OUTPUT_MAX], found[OUTPUT_MAX], errors[OUTPUT_MAX];
	int status;

	make_dump("erl", "");
	ck_assert(run(expected, "timeout %d erl -noshell -run dump_read main dump", patience(SECONDS)) == 0);
	make_dump(work.erlvm, "");
	status = run(found, "timeout %d erl -noshell -run dump_read main dump > read 2> why && "
			    "grep -v '^WARNING: Found unexpected tag:threads$' read", patience(SECONDS));
	if (status != 0)
		run(errors, "cat read why");
	ck_assert_msg(status == 0, "status %d: %.8000s", status, errors);
	ck_assert_msg(strcmp(expected, found) == 0, "erl:\n%.8000s\nerlvm:\n%.8000s", expected, found);
}
END_TEST

START_TEST(test_dump_is_whole)
{
	static char out[OUTPUT_MAX];

	make_dump(work.erlvm, "ERL_CRASH_DUMP_SECONDS=-1");
	run(out, "head -1 dump; sed -n 3p dump; tail -1 dump");
	ck_assert_str_eq(out, "=erl_crash_dump:0.5\nSlogan: told to stop\n=end\n");
}
END_TEST

/* What each thread did before the world was stopped for the dump: who writes it runs. */
START_TEST(test_dump_tells_what_threads_wait_for)
{
	static char out[OUTPUT_MAX];

	make_dump(work.erlvm, "");
	run(out, "sed -n '/^=threads$/,/^=memory$/p' dump | sed 's/[0-9]*\\.[0-9]* s$/T s/; s/_[0-9]*,/_N,/' | sort -u");
	ck_assert_msg(strstr(out, "_N, inside: runs\n") != NULL && strstr(out, "=threads\n") != NULL &&
		      strstr(out, "outside: waits for work, T s\n") != NULL && strstr(out, "main, outside: ") != NULL, "%s", out);
}
END_TEST

START_TEST(test_dump_of_so_many_bytes)
{
	static char out[OUTPUT_MAX];

	make_dump(work.erlvm, "ERL_CRASH_DUMP_BYTES=5000");
	run(out, "test $(stat -c %%s dump) -le 5040 && tail -1 dump");
	ck_assert_str_eq(out, "=abort:CRASH DUMP SIZE LIMIT REACHED\n");
}
END_TEST

START_TEST(test_dump_not_wanted)
{
	static char out[OUTPUT_MAX];

	make_dump(work.erlvm, "ERL_CRASH_DUMP_SECONDS=0");
	ck_assert(run(out, "test -e dump") != 0);
	make_dump(work.erlvm, "ERL_CRASH_DUMP_BYTES=0");
	ck_assert(run(out, "test -e dump") != 0);
}
END_TEST

START_TEST(test_dump_that_cannot_be_written)
{
	static char out[OUTPUT_MAX];

	ck_assert(run(out, "ERL_CRASH_DUMP=no/such/place %s -noshell -s dump_make main; echo $?; grep -c 'cannot write the crash dump' errors",
		      work.erlvm) == 0);
	ck_assert_str_eq(out, "1\n1\n");
	ck_assert(run(out, "ERL_CRASH_DUMP=/dev/full %s -noshell -s dump_make main; echo $?; grep -c 'not whole' errors", work.erlvm) == 0);
	ck_assert_str_eq(out, "1\n1\n");
}
END_TEST

/* The driver says on standard output that it heard of the dump. */
START_TEST(test_dump_is_told_to_drivers)
{
	static char out[OUTPUT_MAX];
	const char *vms[] = { "erl", work.erlvm };
	char *source = realpath("tests/erl/dump_driver.c", NULL);

	ck_assert(run(out, "cc -shared -fPIC -I $(erl -noshell -eval 'io:put_chars(code:root_dir()), halt().')/usr/include "
			   "-o dump_driver.so %s", source) == 0);
	for (size_t i = 0; i < 2; i++) {
		run(out, "ERL_CRASH_DUMP=dump timeout %d %s -noshell -eval 'ok = erl_ddll:load_driver(\".\", \"dump_driver\"), "
			 "open_port({spawn_driver, \"dump_driver\"}, []), halt(\"slogan\").'", patience(SECONDS), vms[i]);
		ck_assert_str_eq(out, "closed\n");
	}
	free(source);
}
END_TEST

#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
START_TEST(test_dump_out_of_memory)
{
	static char out[OUTPUT_MAX];

	/* the range of addresses reserved for code is part of the limit */
	run(out, "ulimit -v 4000000; ERL_CRASH_DUMP=dump timeout %d %s -noshell -eval "
		 "'F = fun F(L) -> F([lists:seq(1, 100000) | L]) end, F([]).'; sed -n 3p dump | cut -d: -f1-2; tail -1 dump", patience(SECONDS), work.erlvm);
	ck_assert_str_eq(out, "Slogan: out of memory\n=end\n");
}
END_TEST
#endif

Suite *dump_suite(void)
{
	Suite *s = suite_create("dump");
	TCase *t = tcase_create("dump");

	tcase_add_unchecked_fixture(t, set_up, tear_down);
	tcase_add_checked_fixture(t, erlvm_needed, NULL);
	tcase_set_timeout(t, 4 * SECONDS);
	tcase_add_test(t, test_dump_read_by_its_viewer);
	tcase_add_test(t, test_dump_is_whole);
	tcase_add_test(t, test_dump_tells_what_threads_wait_for);
	tcase_add_test(t, test_dump_of_so_many_bytes);
	tcase_add_test(t, test_dump_not_wanted);
	tcase_add_test(t, test_dump_that_cannot_be_written);
	tcase_add_test(t, test_dump_is_told_to_drivers);
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
	tcase_add_test(t, test_dump_out_of_memory);
#endif
	suite_add_tcase(s, t);
	return s;
}
