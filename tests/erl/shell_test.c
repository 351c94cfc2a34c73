/* SPDX-License-Identifier: Apache-2.0 */
/* The shell on a terminal: the same keys typed at the stock erl and at erlvm, the same answers. */
#include <arpa/inet.h>
#include <check.h>
#include <fcntl.h>
#include <poll.h>
#include <pty.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../erlvm_needed.h"
#include "patience.h"

enum { SECONDS = 60, OUTPUT_MAX = 1 << 20 };

struct step {
	const char *keys, *answer; /* what is typed, and what must be seen after that */
};

static const struct step talk[] = {
	{ "", "1> " },
	{ "1+1.\r", "\n2\r\n2> " },
	{ "lists:se\t", "lists:se" },
	{ "q(1, 3).\r", "\n[1,2,3]\r\n3> " },
	{ "99.\x01" "100 + \r", "\n199\r\n4> " },
	{ "\x03", "(d)istribution" },
	{ "c\r", "c\r\n" },
	{ "2+3.\r", "\n5\r\n5> " },
	{ "\x03", "(d)istribution" },
	{ "zz\r", "Invalid option 'z'." },
	{ "i\r", "processes: " },
	{ "4*5.\r", "\n20\r\n6> " },
	{ "\x03", "(d)istribution" },
	{ "p\r", "Name: init" },
	{ "6*7.\r", "\n42\r\n7> " },
	{ "receive never -> ok end.\r", "end.\r\n" },
	{ "\x07", " --> " },
	{ "i\r", " --> " },
	{ "c\r", "8> " },
	{ "q().\r", "ok\r\n" },
};
static const struct step abort_talk[] = { { "", "1> " }, { "\x03", "(d)istribution" }, { "a\r", "a\r\n" } };
static const struct step again_talk[] = { { "", "1> " }, { "\x03", "(d)istribution" }, { "\x03", "" } };

static struct {
	pid_t pid;
	int fd;
	size_t used;
	char seen[OUTPUT_MAX];
} session;

static void start_shell(char **argv)
{
	session.used = 0;
	session.pid = forkpty(&session.fd, NULL, NULL, NULL);
	ck_assert(session.pid >= 0);
	if (session.pid == 0) {
		setenv("TERM", "xterm", 1);
		setenv("ERL_CRASH_DUMP_SECONDS", "0", 1);
		execvp(argv[0], argv);
		_exit(127);
	}
}

/* More output; false at its end, or when there is none for long. */
static bool read_more(void)
{
	struct pollfd ready = { .fd = session.fd, .events = POLLIN };
	ssize_t n;

	if (poll(&ready, 1, patience(SECONDS) * 1000) <= 0 || session.used + 1 >= OUTPUT_MAX)
		return false;
	n = read(session.fd, session.seen + session.used, OUTPUT_MAX - session.used - 1);
	if (n <= 0)
		return false;
	session.used += (size_t)n;
	session.seen[session.used] = 0;
	return true;
}

static void play(const char *vm, const struct step *steps, size_t count)
{
	size_t from = 0;

	for (size_t i = 0; i < count; i++) {
		const char *at;

		ck_assert(write(session.fd, steps[i].keys, strlen(steps[i].keys)) == (ssize_t)strlen(steps[i].keys));
		session.seen[session.used] = 0;
		while ((at = strstr(session.seen + from, steps[i].answer)) == NULL)
			ck_assert_msg(read_more(), "%s: no \"%s\" after the keys \"%s\" but: %s", vm, steps[i].answer, steps[i].keys,
				      session.seen + from);
		from = (size_t)(at - session.seen) + strlen(steps[i].answer);
	}
}

/* Returns the exit status, as of waitpid. */
static int end_shell(void)
{
	int status;

	while (read_more()) {
	}
	ck_assert(waitpid(session.pid, &status, 0) == session.pid);
	close(session.fd);
	return status;
}

static char *get_vm(int which)
{
	static char vm[512];
	const char *build = getenv("BUILD");

	snprintf(vm, sizeof(vm), "%s/erlvm", build != NULL ? build : "build");
	return which == 0 ? "erl" : vm;
}

START_TEST(test_shell_answers)
{
	static const struct {
		const struct step *steps;
		size_t count;
	} talks[] = { { talk, sizeof(talk) / sizeof(talk[0]) },
		      { abort_talk, sizeof(abort_talk) / sizeof(abort_talk[0]) },
		      { again_talk, sizeof(again_talk) / sizeof(again_talk[0]) } };
	char *vm = get_vm(_i % 2);

	start_shell((char *[]){ vm, NULL });
	play(vm, talks[_i / 2].steps, talks[_i / 2].count);
	ck_assert_int_eq(end_shell(), 0);
}
END_TEST

START_TEST(test_shell_without_the_menu)
{
	char *vm = get_vm(_i);

	start_shell((char *[]){ vm, "+Bi", NULL });
	play(vm, (struct step[]){ { "", "1> " }, { "\x03" "1+1.\r", "\n2\r\n2> " }, { "q().\r", "ok\r\n" } }, 3);
	ck_assert_int_eq(end_shell(), 0);
	start_shell((char *[]){ vm, "+Bc", NULL });
	play(vm, (struct step[]){ { "", "1> " }, { "\x03", "killed" }, { "q().\r", "ok" } }, 3);
	ck_assert_int_eq(end_shell(), 0);
}
END_TEST

/* A child of the test, with that standard output (1) or error (2). It ends with the test. */
static pid_t start(char **argv, int which, int fd)
{
	pid_t pid = fork();

	ck_assert(pid >= 0);
	if (pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		dup2(fd, which);
		execvp(argv[0], argv);
		_exit(127);
	}
	return pid;
}

static void end(pid_t pid)
{
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
}

/* Until an epmd answers there, which is asked for names. */
static void await_epmd(int port)
{
	char answer[4];
	struct sockaddr_in at = { .sin_family = AF_INET, .sin_port = htons((uint16_t)port),
				  .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	int error = -1;

	for (int tries = patience(SECONDS) * 100; error != 0 && tries > 0; tries--) {
		int fd = socket(AF_INET, SOCK_STREAM, 0);

		error = connect(fd, (struct sockaddr *)&at, sizeof(at));
		if (error == 0)
			error = write(fd, "\0\1n", 3) == 3 && read(fd, answer, sizeof(answer)) == sizeof(answer) ? 0 : -1;
		close(fd);
		if (error != 0)
			usleep(10000);
	}
	ck_assert_int_eq(error, 0);
}

/* A node that is up, under an epmd of its own below the ephemeral ports. */
static void start_node(char *vm, pid_t *epmd, pid_t *node)
{
	int number = 20000 + (int)getpid() % 10000, nobody = open("/dev/null", O_WRONLY | O_CLOEXEC), ends[2];
	char port[16], up[3] = "";

	snprintf(port, sizeof(port), "%d", number);
	setenv("ERL_EPMD_PORT", port, 1);
	*epmd = start((char *[]){ "epmd", "-port", port, NULL }, STDERR_FILENO, nobody);
	close(nobody);
	await_epmd(number);
	ck_assert(pipe(ends) == 0);
	*node = start((char *[]){ vm, "-noinput", "-name", "far@127.0.0.1", "-setcookie", "told", "-eval",
				  "io:put_chars(\"up\").", NULL },
		      STDOUT_FILENO, ends[1]);
	close(ends[1]);
	for (size_t n = 0; n < 2; n++)
		ck_assert(read(ends[0], up + n, 1) == 1);
	ck_assert_str_eq(up, "up");
	close(ends[0]);
}

/* The shell of another node (-remsh), under a name that this one is given by it. */
START_TEST(test_shell_of_another_node)
{
	static const struct step talk[] = {
		{ "", "1> " }, { "node().\r", "\n'far@127.0.0.1'\r\n" }, { "length(nodes(hidden)).\r", "\n1\r\n" }
	};
	pid_t epmd, node;
	char *vm = get_vm(_i / 2);

	start_node(get_vm(_i % 2), &epmd, &node);
	start_shell((char *[]){ vm, "-name", "undefined@127.0.0.1", "-setcookie", "told", "-remsh", "far@127.0.0.1", NULL });
	play(vm, talk, sizeof(talk) / sizeof(talk[0]));
	end(session.pid);
	close(session.fd);
	end(node);
	end(epmd);
}
END_TEST

/* That of OTP 27: its terminal is prim_tty, its answers redraw the line. Where OTP27_ROOT names no installation, it is skipped. */
START_TEST(test_shell_of_otp_27)
{
	static const struct step talk[] = {
		{ "", "Eshell V15" }, { "", "1> " }, { "1+41.\r", "\n42\r\n2> " }, { "lists:seq(1,3).\x02\x02\x02\x02\x7f" "2\r", "\n[2,3]\r\n3> " },
		{ "list_to_at\t", "om(" }, { "\"ab\").\r", "\nab\r\n4> " }, { "{99,\x15" "element(2,io:columns()).\r", "\n80\r\n5> " },
		{ "q().\r", "ok\r\n" },
	};
	const char *root = getenv("OTP27_ROOT");
	struct winsize size = { .ws_row = 24, .ws_col = 80 };
	int status;

	if (root == NULL || root[0] == '\0') {
		printf("SKIP shell of OTP 27: OTP27_ROOT names no installation\n");
		return;
	}
	setenv("ERLVM_ROOT", root, 1);
	start_shell((char *[]){ get_vm(1), NULL });
	ioctl(session.fd, TIOCSWINSZ, &size);
	play("erlvm with OTP 27", talk, sizeof(talk) / sizeof(talk[0]));
	status = end_shell();
	ck_assert_msg(WIFEXITED(status) && WEXITSTATUS(status) == 0, "status %d", status);
}
END_TEST

Suite *shell_suite(void)
{
	Suite *s = suite_create("shell");
	TCase *t = tcase_create("shell");

	tcase_add_checked_fixture(t, erlvm_needed, NULL);
	tcase_set_timeout(t, 4 * SECONDS);
	tcase_add_loop_test(t, test_shell_answers, 0, 6);
	tcase_add_loop_test(t, test_shell_without_the_menu, 0, 2);
	tcase_add_loop_test(t, test_shell_of_another_node, 0, 4);
	tcase_add_test(t, test_shell_of_otp_27);
	suite_add_tcase(s, t);
	return s;
}
