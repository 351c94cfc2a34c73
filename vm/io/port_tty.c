/* SPDX-License-Identifier: Apache-2.0 */
/* The driver tty_sl, which user_drv.erl opens: the terminal at descriptors 0 and 1, one character at a time, with a
 * line that can be edited. The bytes go through the fd driver.
 * Invariant: one port at most has it; while it has, the terminal is in raw mode; when it ends, and when the VM does,
 * the terminal is as it was. */
#include <errno.h>
#include <locale.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/log.h"
#include "io/line_edit.h"
#include "io/port.h"
#include "proc/sched.h"

/* What port_control of this number and up asks for, as user_drv.erl of OTP 25 does. */
#define CONTROL_BASE 0x018b0900
enum { GET_WINDOW_SIZE = 100, GET_UNICODE = 101, SET_UNICODE = 102, COLUMNS = 80, ROWS = 24 };

static struct {
	atomic_bool taken, is_raw;
	bool hooked;
	struct termios saved, raw;
	struct line line;
	uint64_t seen_bytes; /* of the port's output, translated so far */
} tty;

/* ---- modes */

/* Also from handlers of signals. */
static void restore(void)
{
	if (atomic_exchange(&tty.is_raw, false))
		tcsetattr(0, TCSADRAIN, &tty.saved);
}

static void restore_at_halt(bool flush)
{
	(void)flush;
	restore();
}

static void set_again(int number)
{
	(void)number;
	if (atomic_load(&tty.is_raw))
		tcsetattr(0, TCSANOW, &tty.raw);
}

static void restore_and_die(int number)
{
	restore();
	signal(number, SIG_DFL);
	raise(number);
}

/* Where Ctrl-C is to end the VM, it leaves the terminal as it was. */
static void set_interrupt(bool on)
{
	struct sigaction action;

	sigaction(SIGINT, NULL, &action);
	if (action.sa_handler != (on ? SIG_DFL : restore_and_die))
		return;
	action.sa_handler = on ? restore_and_die : SIG_DFL;
	sigaction(SIGINT, &action, NULL);
}

static void set_signals(bool on)
{
	struct sigaction again = { .sa_handler = on ? set_again : SIG_DFL, .sa_flags = SA_RESTART };

	set_interrupt(on);
	sigaction(SIGCONT, &again, NULL);
}

/* "-c" no lines, "-e" no echo, "-s" no signals; "+..." the contrary. */
static void apply_option(struct termios *t, const char *option)
{
	bool on = option[0] == '+';

	switch (option[1]) {
	case 'c':
		t->c_iflag = on ? t->c_iflag | ICRNL : t->c_iflag & ~(tcflag_t)ICRNL;
		t->c_lflag = on ? t->c_lflag | ICANON : t->c_lflag & ~(tcflag_t)ICANON;
		t->c_oflag = on ? t->c_oflag | OPOST : t->c_oflag & ~(tcflag_t)OPOST;
		if (!on) {
			t->c_cc[VMIN] = 1;
			t->c_cc[VTIME] = 0;
		}
		break;
	case 'e':
		t->c_lflag = on ? t->c_lflag | ECHO : t->c_lflag & ~(tcflag_t)ECHO;
		break;
	case 's':
		t->c_lflag = on ? t->c_lflag | ISIG | IEXTEN : t->c_lflag & ~(tcflag_t)(ISIG | IEXTEN);
		break;
	}
}

static int set_mode(const char *name)
{
	if (tcgetattr(0, &tty.saved) != 0)
		return -errno;
	tty.raw = tty.saved;
	tty.raw.c_iflag &= ~(tcflag_t)ISTRIP;
	for (const char *at = strchr(name, ' '); at != NULL; at = strchr(at + 1, ' '))
		if (at[1] == '-' || at[1] == '+')
			apply_option(&tty.raw, at + 1);
	if (tcsetattr(0, TCSADRAIN, &tty.raw) != 0)
		return -errno;
	atomic_store(&tty.is_raw, true);
	return 0;
}

static struct winsize get_size(void)
{
	struct winsize size;

	if (ioctl(0, TIOCGWINSZ, &size) != 0)
		size = (struct winsize){ 0 };
	if (size.ws_col == 0)
		size.ws_col = COLUMNS;
	if (size.ws_row == 0)
		size.ws_row = ROWS;
	return size;
}

static bool is_utf8_locale(void)
{
	static const char *const names[] = { "LC_ALL", "LC_CTYPE", "LANG" };

	for (unsigned i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		const char *value = getenv(names[i]);

		if (value != NULL && value[0] != 0)
			return strcasestr(value, "UTF-8") != NULL || strcasestr(value, "utf8") != NULL;
	}
	return false;
}

/* ---- the driver */

static bool has_terminal(void)
{
	const char *term = getenv("TERM");

	return isatty(0) && isatty(1) && term != NULL && term[0] != 0 && strcmp(term, "dumb") != 0;
}

static int start_tty(struct port *port, const struct port_options *o)
{
	struct port_options fd = *o;
	int status;

	if (!has_terminal() || atomic_exchange(&tty.taken, true))
		return -EINVAL;
	fd.fd_in = 0;
	fd.fd_out = 1;
	status = port_fd_driver.start(port, &fd);
	if (status == 0)
		status = set_mode(o->name);
	if (status != 0) {
		port_fd_driver.stop(port);
		atomic_store(&tty.taken, false);
		return status;
	}
	setlocale(LC_CTYPE, "");
	line_init(&tty.line, &port->out);
	tty.line.utf8 = is_utf8_locale();
	tty.seen_bytes = port->output_bytes;
	set_signals(true);
	if (!tty.hooked)
		sched_at_halt(restore_at_halt);
	tty.hooked = true;
	return 0;
}

/* At the end of port->out stands one new command; before it, what is translated and not yet on its way. */
static void output_tty(struct port *port)
{
	size_t all = port->out.size_bytes, n = port->output_bytes - tty.seen_bytes;
	uint8_t *bytes = mem_alloc(all + 1);

	tty.seen_bytes = port->output_bytes;
	byte_queue_copy(&port->out, bytes, all);
	byte_queue_clear(&port->out);
	byte_queue_put(&port->out, bytes, all - n);
	tty.line.columns = get_size().ws_col;
	line_run(&tty.line, bytes + all - n, n);
	if (n > 0 && bytes[all - n] == LINE_PUT_SYNC)
		port_deliver_atom(port, port->owner, am_ok);
	mem_free(bytes);
	if (port->out.size_bytes > 0)
		port_fd_driver.output(port);
}

static bool control_tty(struct port *port, unsigned command, const uint8_t *data, size_t n, struct port_answer *a)
{
	struct winsize size = get_size();
	uint32_t sides[2] = { size.ws_col, size.ws_row };

	(void)port;
	switch (command - CONTROL_BASE) {
	case GET_WINDOW_SIZE:
		answer_put(a, sides, sizeof(sides));
		return true;
	case SET_UNICODE:
	case GET_UNICODE:
		answer_put_byte(a, tty.line.utf8);
		if (command - CONTROL_BASE == SET_UNICODE && n > 0)
			tty.line.utf8 = data[0] != 0;
		return true;
	default:
		return false;
	}
}

static void stop_tty(struct port *port)
{
	port_fd_driver.stop(port);
	set_signals(false);
	restore();
	line_free(&tty.line);
	atomic_store(&tty.taken, false);
}

static void input_tty(struct port *port, struct port_watch *w)
{
	port_fd_driver.ready_input(port, w);
}

static void async_tty(struct port *port)
{
	port_fd_driver.ready_async(port);
}

const struct port_driver port_tty_driver = {
	.name = "tty_sl",
	.start = start_tty,
	.output = output_tty,
	.control = control_tty,
	.ready_input = input_tty,
	.ready_async = async_tty,
	.flushes = true,
	.stop = stop_tty,
};
