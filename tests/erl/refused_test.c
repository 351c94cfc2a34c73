/* SPDX-License-Identifier: Apache-2.0 */
/* What the system refuses, by a limit or by a filter of system calls: one line that says what, or the error of the operation that
 * asked, and a VM that goes on. */
#include <check.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../erlvm_needed.h"

enum { OUTPUT_MAX = 1 << 14, SECONDS = 60, CALLS_MAX = 2 };

#define HELLO "io:format(\"hello~n\"), halt()."

static const struct refusal {
	int calls[CALLS_MAX]; /* refused with `error`; 0: none */
	int error;
	int limit;            /* RLIMIT_*, to `value`; 0: none, as that is RLIMIT_CPU */
	rlim_t value;
	const char *eval;
	const char *printed;  /* standard output and error */
	int status;
} refusals[] = {
	{ .calls = { SYS_clone, SYS_clone3 }, .error = EAGAIN, .eval = HELLO, .status = 1,
	  .printed = "erlvm: cannot start a scheduler thread: Resource temporarily unavailable\n" },
	{ .calls = { SYS_epoll_create1 }, .error = EMFILE, .eval = HELLO, .status = 1,
	  .printed = "erlvm: cannot wait for files: Too many open files\n" },
	{ .calls = { SYS_eventfd2 }, .error = EMFILE, .eval = HELLO, .status = 1,
	  .printed = "erlvm: cannot wait for files: Too many open files\n" },
	{ .limit = RLIMIT_NOFILE, .value = 5, .eval = HELLO, .status = 1,
	  .printed = "erlvm: cannot wait for files: Too many open files\n" },
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
	{ .limit = RLIMIT_AS, .value = 200 << 20, .eval = HELLO, .status = 1,
	  .printed = "erlvm: cannot reserve 1024 MB of addresses: Cannot allocate memory\n" },
#endif
	{ .calls = { SYS_pidfd_open }, .error = EMFILE, .status = 0,
	  .eval = "F = fun() -> (catch element(1, element(2, catch open_port({spawn, \"sleep 1000\"}, [])))) end, "
		  "io:format(\"~p ~p~n\", [[F(), F()], [P || P <- erlang:ports(), {name, \"sleep 1000\"} =:= erlang:port_info(P, name)]]), halt().",
	  .printed = "[emfile,emfile] []\n" },
};

static void refuse_calls(const struct refusal *r)
{
	struct sock_filter filter[2 + 2 * CALLS_MAX + 1];
	unsigned short n = 0;
	struct sock_fprog program = { .filter = filter };

	filter[n++] = (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr));
	for (int i = 0; i < CALLS_MAX && r->calls[i] != 0; i++) {
		filter[n++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (unsigned)r->calls[i], 0, 1);
		filter[n++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | (unsigned)r->error);
	}
	filter[n++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
	program.len = n;
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0 || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) < 0) {
		perror("seccomp");
		_exit(127);
	}
}

static void run_refused(const struct refusal *r, const char *vm, int out)
{
	struct rlimit limit = { r->value, r->value };

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	/* A host that has a domain: OTP's start runs a program to find one where it does not, and ends the VM when it
	 * cannot. */
	if (unshare(CLONE_NEWUTS) < 0 || sethostname("host.test", strlen("host.test")) < 0)
		_exit(127);
	dup2(open("/dev/null", O_RDONLY), 0);
	dup2(out, 1);
	dup2(out, 2);
	for (int fd = 3; fd < 64; fd++)
		close(fd);
	if (r->calls[0] != 0)
		refuse_calls(r);
	if (r->limit != 0 && setrlimit((__rlimit_resource_t)r->limit, &limit) < 0)
		_exit(127);
	execl(vm, vm, "-noshell", "-eval", r->eval, NULL);
	_exit(127);
}

START_TEST(test_refusal_is_told)
{
	const struct refusal *r = &refusals[_i];
	const char *build = getenv("BUILD");
	char vm[512], printed[OUTPUT_MAX];
	size_t used = 0;
	int ends[2], status;
	ssize_t n;
	pid_t pid;

	snprintf(vm, sizeof(vm), "%s/erlvm", build != NULL ? build : "build");
	ck_assert(pipe(ends) == 0);
	pid = fork();
	ck_assert(pid >= 0);
	if (pid == 0)
		run_refused(r, vm, ends[1]);
	close(ends[1]);
	while ((n = read(ends[0], printed + used, sizeof(printed) - 1 - used)) > 0)
		used += (size_t)n;
	close(ends[0]);
	printed[used] = 0;
	ck_assert(waitpid(pid, &status, 0) == pid);
	ck_assert_str_eq(printed, r->printed);
	ck_assert_msg(WIFEXITED(status) && WEXITSTATUS(status) == r->status, "status %#x", status);
}
END_TEST

Suite *refused_suite(void)
{
	Suite *s = suite_create("refused");
	TCase *t = tcase_create("refused");

	tcase_add_checked_fixture(t, erlvm_needed, NULL);
	tcase_set_timeout(t, SECONDS);
	tcase_add_loop_test(t, test_refusal_is_told, 0, sizeof(refusals) / sizeof(refusals[0]));
	suite_add_tcase(s, t);
	return s;
}
