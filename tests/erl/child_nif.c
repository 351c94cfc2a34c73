/* SPDX-License-Identifier: Apache-2.0 */
/* A native function that starts programs and waits for them itself, as popen and system do. */
#include <erl_nif.h>
#include <sys/wait.h>
#include <unistd.h>

enum { TIMES = 23, STATUS = 3 };

/* How many ends were told. */
static ERL_NIF_TERM run(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[])
{
	int told = 0;

	(void)argc;
	(void)argv;
	for (int i = 0; i < TIMES; i++) {
		int status = 0;
		pid_t pid = fork();

		if (pid == 0)
			_exit(STATUS);
		usleep(50000); /* it has ended when it is asked for */
		if (pid > 0 && waitpid(pid, &status, 0) == pid && WIFEXITED(status) && WEXITSTATUS(status) == STATUS)
			told++;
	}
	return enif_make_int(env, told);
}

static ErlNifFunc functions[] = { { "scheduler", 0, run, 0 }, { "dirty", 0, run, ERL_NIF_DIRTY_JOB_IO_BOUND } };

ERL_NIF_INIT(child_nif, functions, NULL, NULL, NULL, NULL)
