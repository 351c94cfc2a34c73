/* SPDX-License-Identifier: Apache-2.0 */
/* The spawn driver: programs of the system, spoken to through pipes, and the driver of plain files. Pipes and files are
 * ours and never block. A program has a session and a process group of its own, and no descriptors but the standard
 * ones and its pipes.
 * Invariant: who was started is waited for, even after its port is closed; an exit status is told once, after the
 * program has ended and its output has come to its end. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/refused.h"
#include "io/io_probe.h"
#include "io/posix.h"
#include "proc/os_signal.h"

#define READ_BYTES (64 << 10)
/* Descriptors of the program's end of the pipes when it keeps its standard ones (nouse_stdio). */
#define PLAIN_IN 3
#define PLAIN_OUT 4

struct pipes {
	int to[2];   /* we write, it reads */
	int from[2];
};

/* ---- starting a program */

static int open_pipes(struct pipes *p)
{
	if (pipe2(p->to, O_CLOEXEC) < 0)
		return -errno;
	if (pipe2(p->from, O_CLOEXEC) < 0) {
		int error = -errno;

		close(p->to[0]);
		close(p->to[1]);
		return error;
	}
	fcntl(p->to[1], F_SETFL, O_NONBLOCK);
	fcntl(p->from[0], F_SETFL, O_NONBLOCK);
	return 0;
}

static void close_pipes(const struct pipes *p)
{
	close(p->to[0]);
	close(p->to[1]);
	close(p->from[0]);
	close(p->from[1]);
}

/* The program's end of a pipe; there is none: it does not find what the VM has at that number, but for standard
 * ones. */
static void set_end(posix_spawn_file_actions_t *a, bool wanted, int from, int to)
{
	if (wanted)
		posix_spawn_file_actions_adddup2(a, from, to);
	else if (to > STDERR_FILENO)
		posix_spawn_file_actions_addclose(a, to);
}

/* The pipes go where the program looks for them. High numbers first, so that no dup2 hits a pipe not yet moved. What
 * else is open, such as what the VM itself was started with, is closed. */
static int set_actions(posix_spawn_file_actions_t *a, const struct pipes *p, const struct port_options *o, int high[2])
{
	int in = o->use_stdio ? STDIN_FILENO : PLAIN_IN, out = o->use_stdio ? STDOUT_FILENO : PLAIN_OUT;

	high[0] = fcntl(p->to[0], F_DUPFD_CLOEXEC, 10);
	high[1] = fcntl(p->from[1], F_DUPFD_CLOEXEC, 10);
	if (high[0] < 0 || high[1] < 0)
		return -errno;
	set_end(a, o->out, high[0], in);
	set_end(a, o->in, high[1], out);
	if (o->stderr_to_stdout)
		posix_spawn_file_actions_adddup2(a, high[1], STDERR_FILENO);
	posix_spawn_file_actions_addclosefrom_np(a, o->use_stdio ? STDERR_FILENO + 1 : PLAIN_OUT + 1);
	if (o->directory != NULL)
		posix_spawn_file_actions_addchdir_np(a, o->directory);
	return 0;
}

/* A session of its own: what the program sends to its process group, and what a terminal sends to the VM's, stays
 * there. No signal is blocked. */
static void set_attributes(posix_spawnattr_t *attr)
{
	sigset_t none;

	sigemptyset(&none);
	posix_spawnattr_setsigmask(attr, &none);
	posix_spawnattr_setsigdefault(attr, os_signal_defaults());
	posix_spawnattr_setflags(attr, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSID);
}

static int spawn_with(const struct port_options *o, const posix_spawn_file_actions_t *actions,
		      const posix_spawnattr_t *attr, pid_t *pid)
{
	char *command, *shell[] = { "sh", "-c", NULL, NULL }, *alone[] = { (char *)o->name, NULL };
	size_t n = strlen(o->name) + sizeof("exec ");
	int error;

	if (o->executable)
		return -posix_spawn(pid, o->name, actions, attr, o->argv != NULL ? o->argv : alone, o->envp);
	command = mem_alloc(n);
	memcpy(command, "exec ", 5);
	memcpy(command + 5, o->name, n - 5);
	shell[2] = command;
	error = -posix_spawn(pid, "/bin/sh", actions, attr, shell, o->envp);
	mem_free(command);
	return error;
}

static int spawn_program(const struct port_options *o, const struct pipes *p, pid_t *pid)
{
	posix_spawn_file_actions_t actions;
	posix_spawnattr_t attr;
	int high[2] = { -1, -1 }, error;

	posix_spawn_file_actions_init(&actions);
	posix_spawnattr_init(&attr);
	set_attributes(&attr);
	error = set_actions(&actions, p, o, high);
	if (error == 0)
		error = spawn_with(o, &actions, &attr, pid);
	posix_spawn_file_actions_destroy(&actions);
	posix_spawnattr_destroy(&attr);
	for (int k = 0; k < 2; k++) {
		if (high[k] >= 0)
			close(high[k]);
	}
	return error;
}

/* ---- its end */

static void tell_end(struct port *port)
{
	int status = port->wait_status;

	if (port->exit_status) {
		if (!port->exited)
			return; /* exit_ready will come back here */
		port_send_exit_status(port, WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status));
	}
	port_input_end(port);
}

static void input_exit(struct port *port, struct port_watch *w)
{
	int status = 0;

	while (waitpid(port->os_pid, &status, 0) < 0 && errno == EINTR) {
	}
	port->exited = true;
	port->wait_status = status;
	if (port->at_end && port->exit_status && port->state == PORT_OPEN)
		tell_end(port);
	port_watch_drop(w);
}

/* ---- input */

static void input_spawn(struct port *port, struct port_watch *w)
{
	static _Thread_local uint8_t buffer[READ_BYTES];
	ssize_t n;

	if (w == &port->exit_watch) {
		input_exit(port, w);
		return;
	}
	n = read(w->poll.fd, buffer, sizeof(buffer));
	if (n < 0 && (errno == EINTR || errno == EAGAIN))
		return;
	if (n > 0) {
		port_input(port, buffer, (size_t)n);
		return;
	}
	port_watch_want(w, WATCH_IN, false);
	if (n < 0) {
		port_exit(port, posix_error_atom(errno));
	} else if (port->state == PORT_OPEN) {
		port->at_end = true;
		tell_end(port);
	}
}

/* ---- output */

/* Writes what goes without waiting. */
static void write_now(struct port *port)
{
	while (port->out.size_bytes > 0) {
		struct iovec iov[16];
		ssize_t n = writev(port->write_watch.poll.fd, iov, byte_queue_peek(&port->out, iov, 16));

		if (n >= 0) {
			byte_queue_drop(&port->out, (size_t)n);
		} else if (errno == EAGAIN) {
			break;
		} else if (errno != EINTR) {
			byte_queue_clear(&port->out);
			port_exit(port, posix_error_atom(errno));
			return;
		}
	}
	port_watch_want(&port->write_watch, WATCH_OUT, port->out.size_bytes > 0);
	port_output_done(port);
}

/* A port that was closed goes on until what was sent to it is written, or nobody is left to read it. */
static void ready_spawn(struct port *port, struct port_watch *w)
{
	(void)w;
	if (port->state != PORT_CLOSED)
		write_now(port);
}

/* ---- the driver */

struct waiter {
	pid_t pid;
	int done;    /* the end of a pipe */
};

static void *wait_for_end(void *arg)
{
	struct waiter *w = arg;
	siginfo_t info;

	while (waitid(P_PID, (id_t)w->pid, &info, WEXITED | WNOWAIT) < 0 && errno == EINTR) {
	}
	while (write(w->done, "", 1) < 0 && errno == EINTR) {
	}
	close(w->done);
	mem_free(w);
	return NULL;
}

/* Where there are no descriptors of processes (under valgrind, behind filters): a pipe that a thread writes to when the
 * program has ended. Fails: -errno. */
static int open_end_by_thread(pid_t pid)
{
	struct waiter *w;
	int ends[2], error;

	if (pipe2(ends, O_CLOEXEC) < 0)
		return -errno;
	w = mem_alloc(sizeof(*w));
	*w = (struct waiter){ pid, ends[1] };
	error = thread_start("port_wait", wait_for_end, w);
	if (error == 0)
		return ends[0];
	close(ends[0]);
	close(ends[1]);
	mem_free(w);
	return error;
}

/* A descriptor that can be read when the program has ended. Fails: -errno. */
static int open_end(pid_t pid)
{
	int fd = (int)syscall(SYS_pidfd_open, pid, 0);

	if (fd >= 0)
		return fd;
	return call_is_refused(errno) ? open_end_by_thread(pid) : -errno;
}

static int watch_end(struct port *port)
{
	int fd = open_end(port->os_pid), error;

	if (fd < 0)
		return fd;
	error = port_watch_add(port, &port->exit_watch, fd, true);
	if (error == 0)
		port_watch_want(&port->exit_watch, WATCH_IN, true);
	return error;
}

static int watch_pipes(struct port *port, const struct port_options *o, const struct pipes *p)
{
	int error = 0;

	if (o->in) {
		error = port_watch_add(port, &port->read_watch, p->from[0], true);
		port->reads = error == 0;
	} else {
		close(p->from[0]);
		port->at_end = true;
	}
	if (error == 0 && o->out) {
		error = port_watch_add(port, &port->write_watch, p->to[1], true);
		port->writes = error == 0;
	} else {
		close(p->to[1]);
	}
	return error;
}

/* The program is waited for longer: its end may come after the port's. */
static void stop_spawn(struct port *port)
{
	port_watch_drop(&port->read_watch);
	port_watch_drop(&port->write_watch);
	port->reads = false;
	port->writes = false;
}

/* A program that cannot be watched is not left running. */
static int watch_program(struct port *port, const struct port_options *o, const struct pipes *p)
{
	int error = watch_end(port);

	if (error != 0) {
		kill(port->os_pid, SIGKILL);
		while (waitpid(port->os_pid, NULL, 0) < 0 && errno == EINTR) {
		}
		close(p->from[0]);
		close(p->to[1]);
		return error;
	}
	error = watch_pipes(port, o, p);
	if (error != 0) {
		kill(port->os_pid, SIGKILL);
		stop_spawn(port);
	}
	return error;
}

/* Is it the system that has not enough, rather than the program that cannot be started? */
static bool is_shortage(int error)
{
	return error == -EAGAIN || error == -ENOMEM || error == -EMFILE || error == -ENFILE;
}

/* As in OTP, a program that cannot be started (its arguments are too long, there is no such directory) ends at once,
 * with errno as its status. */
static int spawn_failure(const struct port_options *o, int error, const struct pipes *p, pid_t *pid)
{
	struct port_options failing = *o;
	char command[24], *argv[] = { "sh", "-c", command, NULL }, *envp[] = { NULL };

	snprintf(command, sizeof(command), "exit %d", -error);
	failing.executable = true;
	failing.name = "/bin/sh";
	failing.argv = argv;
	failing.envp = envp;
	failing.directory = NULL;
	return spawn_program(&failing, p, pid);
}

static int start_spawn(struct port *port, const struct port_options *o)
{
	struct pipes p;
	int error;

	if (o->executable && access(o->name, X_OK) < 0)
		return -errno;
	error = open_pipes(&p);
	if (error != 0)
		return error;
	error = spawn_program(o, &p, &port->os_pid);
	if (error != 0 && !is_shortage(error))
		error = spawn_failure(o, error, &p, &port->os_pid);
	if (error != 0) {
		port->os_pid = 0;
		close_pipes(&p);
		return error;
	}
	close(p.to[0]);
	close(p.from[1]);
	return watch_program(port, o, &p);
}

static void output_spawn(struct port *port)
{
	/* While EPOLLOUT is awaited, order and the queue stand; a write may still go, and does no harm. */
	write_now(port);
}

const struct port_driver port_spawn_driver = {
	.name = "spawn",
	.start = start_spawn,
	.output = output_spawn,
	.ready_input = input_spawn,
	.ready_output = ready_spawn,
	.flushes = true,
	.stop = stop_spawn,
};

/* ---- plain files: the name is the path; read from its start, or emptied and written */

static int start_file(struct port *port, const struct port_options *o)
{
	int flags = o->in && o->out ? O_RDWR | O_CREAT : o->in ? O_RDONLY : O_WRONLY | O_CREAT | O_TRUNC;
	int fd = open(o->name, flags | O_NONBLOCK | O_CLOEXEC, 0666);
	struct port_options wanted = *o;
	struct pipes p;
	int error;

	if (fd < 0)
		return -EINVAL; /* whatever it is, as OTP */
	p.from[0] = fd;
	p.to[1] = fcntl(fd, F_DUPFD_CLOEXEC, 0);
	if (p.to[1] < 0) {
		close(fd);
		return -EINVAL;
	}
	wanted.out = true; /* writing to a file that is only read is the file's error */
	error = watch_pipes(port, &wanted, &p);
	if (error != 0)
		stop_spawn(port);
	return error;
}

const struct port_driver port_file_driver = {
	.name = "vanilla",
	.start = start_file,
	.output = output_spawn,
	.ready_input = input_spawn,
	.ready_output = ready_spawn,
	.flushes = true,
	.stop = stop_spawn,
};
