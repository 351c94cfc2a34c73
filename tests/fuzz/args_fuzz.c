/* SPDX-License-Identifier: Apache-2.0 */
/* Any bytes as a file of arguments. Invariants: reading ends with words and options in their bounds, or with a line
 * that says why not; the file may name itself. For libFuzzer, with --wrap of what must not happen to the fuzzer: exit,
 * daemon, setenv, execvp. */
#include "erl_args.h"

#include <setjmp.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/log.h"

int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n);
int __lsan_is_turned_off(void);
void __wrap_exit(int status) __attribute__((noreturn));
void __real_exit(int status) __attribute__((noreturn));
int __wrap_daemon(int nochdir, int noclose);
int __wrap_setenv(const char *name, const char *value, int overwrite);
int __wrap_execvp(const char *file, char *const *argv);
int __real_setenv(const char *name, const char *value, int overwrite);

enum { ARGUMENTS_FD = 100 };

static bool is_reading;
static jmp_buf refused;

/* Words that are refused are left behind, as the program would end. */
int __lsan_is_turned_off(void) { return 1; }

void __wrap_exit(int status)
{
	if (is_reading)
		longjmp(refused, 1 + (status != 0 && status != 1));
	__real_exit(status);
}

int __wrap_daemon(int nochdir, int noclose)
{
	(void)nochdir;
	(void)noclose;
	return 0;
}

int __wrap_execvp(const char *file, char *const *argv)
{
	ENSURE(strlen(file) > 0 && argv[0] != NULL);
	return -1;
}

int __wrap_setenv(const char *name, const char *value, int overwrite)
{
	ENSURE(strlen(name) + strlen(value) < SIZE_MAX && overwrite >= 0);
	return 0;
}

/* What is said of refused words goes nowhere. */
int LLVMFuzzerInitialize(int *argc, char ***argv)
{
	(void)argc;
	(void)argv;
	__real_setenv("PROGNAME", "erl", 1);
	stderr = fopen("/dev/null", "we");
	ENSURE(stderr != NULL && dup2(memfd_create("arguments", 0), ARGUMENTS_FD) == ARGUMENTS_FD);
	return 0;
}

static void check_options(const struct options *o)
{
	ENSURE(o->schedulers >= 1 && o->schedulers <= 1024 && o->online >= 1 && o->online <= 1024);
	ENSURE(o->async_threads >= 1 && o->async_threads <= 1024);
	ENSURE(o->processes >= 1024 && (o->processes & (o->processes - 1)) == 0 && (o->ports & (o->ports - 1)) == 0);
	ENSURE(strchr("wie", o->warnings) != NULL && strchr("mdic", o->on_break) != NULL);
	ENSURE(o->file_names == 0 || o->file_names == 'u' || o->file_names == 'l');
}

static void check_words(struct words *w)
{
	ENSURE(w->count > 0 && w->count < w->room && w->words[w->count] == NULL);
	for (int i = 0; i < w->count; i++) {
		ENSURE(strlen(w->words[i]) < SIZE_MAX);
		mem_free(w->words[i]);
	}
	mem_free(w->words);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
	struct options o = OPTIONS_DEFAULT(4, 4);
	struct words boot = { 0 };
	char file[] = "/proc/self/fd/100", *argv[] = { "-args_file", file, "-extra", "-args_file", NULL };
	int how;

	ENSURE(ftruncate(ARGUMENTS_FD, 0) == 0 && pwrite(ARGUMENTS_FD, bytes, n, 0) == (ssize_t)n);
	is_reading = true;
	how = setjmp(refused);
	if (how == 0) {
		erl_args_parse(argv, &o, &boot);
		check_options(&o);
		check_words(&boot);
	}
	is_reading = false;
	ENSURE(how <= 1);
	return 0;
}
