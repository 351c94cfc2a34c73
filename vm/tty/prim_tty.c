/* SPDX-License-Identifier: Apache-2.0 */
/* The native functions of prim_tty: standard input and output, as a terminal where they are one. Source of what they
 * are given and answer: kernel's prim_tty.erl of OTP 27, and of OTP 29, where signals come by another way.
 * Invariant: `wire` is the writing end of the pipe that signals go to, or -1: then no handler of ours is installed. */
#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <langinfo.h>
#include <locale.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>
#include <wchar.h>

#include "data/map.h"
#include "io/posix.h"
#include "nif/nif_api.h"
#include "nif/nif_env.h"
#include "proc/sched.h"
#include "term/atom.h"
#include "tty/term_info.h"
#include "tty/tty.h"

#define COUNT_OF(array) (sizeof(array) / sizeof((array)[0]))
enum { READ_BYTES = 1024, NAME_BYTES = 256, PARTS_AT_ONCE = 64 };
enum signal_end { SIGNAL_READ, SIGNAL_WRITE, SIGNAL_ENDS };

/* What tty_create makes. */
struct tty {
	struct nif_pid self, reader; /* who set the terminal's mode, and who reads; pid 0: nobody */
	int out;             /* descriptor: standard output or error */
	int signals[SIGNAL_ENDS]; /* a pipe: a byte a signal; -1 */
	struct termios saved, wanted;
	bool is_init;        /* `saved` and `wanted` are set */
};

static struct {
	struct nif_type *type;
	_Atomic int wire, writers; /* writers: handlers that may be writing to what `wire` is or was */
	struct termios first; /* as the VM found it, by descriptor fd */
	int fd;
	atomic_bool is_changed, is_hooked;
} ttys = { .wire = -1 };

/* ---- arguments and answers */

static struct tty *get_tty(struct nif_env *env, Term t)
{
	void *object;

	return enif_get_resource(env, t, ttys.type, &object) ? object : NULL;
}

/* -1: it is none of the three. */
static int get_fd(Term t)
{
	return t == am_stdin ? STDIN_FILENO : t == am_stdout ? STDOUT_FILENO : t == am_stderr ? STDERR_FILENO : -1;
}

static Term put_ok(struct nif_env *env, Term t)
{
	return heap_tuple(env->heap, am_ok, t);
}

static Term put_error(struct nif_env *env, Term reason)
{
	return heap_tuple(env->heap, am_error, reason);
}

/* {error, {Call, Errno}} */
static Term put_failure(struct nif_env *env, const char *call, int error)
{
	return put_error(env, heap_tuple(env->heap, atom_from_text(call), posix_error_atom(error)));
}

static Term put_bytes(struct nif_env *env, const void *bytes, size_t n)
{
	struct nif_binary b;

	if (!enif_alloc_binary(n, &b))
		return enif_make_badarg(env);
	memcpy(b.data, bytes, n);
	return enif_make_binary(env, &b);
}

/* The name of a capability, or its text, as a string or a binary that ends with 0. Fails: false. */
static bool get_text(struct nif_env *env, Term t, char *to, size_t room)
{
	struct nif_binary b;

	if (!enif_inspect_iolist_as_binary(env, t, &b) || b.size >= room)
		return false;
	memcpy(to, b.data, b.size);
	to[b.size] = '\0';
	return true;
}

/* ---- the terminal */

static Term is_terminal(struct nif_env *env, int argc, const Term *argv)
{
	int fd = get_fd(argv[0]);

	(void)argc;
	if (fd < 0)
		return enif_make_badarg(env);
	if (isatty(fd))
		return am_true;
	return errno == EINVAL || errno == ENOTTY ? am_false : am_ebadf;
}

static Term create(struct nif_env *env, int argc, const Term *argv)
{
	int out = argc == 1 ? get_fd(argv[0]) : STDOUT_FILENO;
	struct tty *t = out > 0 ? enif_alloc_resource(ttys.type, sizeof(*t)) : NULL;
	Term term;

	if (t == NULL)
		return enif_make_badarg(env);
	*t = (struct tty){ .out = out, .signals = { -1, -1 } };
	t->is_init = argc == 1 && tcgetattr(out, &t->saved) == 0;
	t->wanted = t->saved;
	term = enif_make_resource(env, t);
	enif_release_resource(t);
	return put_ok(env, term);
}

static void set_bits(tcflag_t *flags, tcflag_t bits, bool on)
{
	*flags = on ? *flags | bits : *flags & ~bits;
}

/* The options canon, echo and sig: true, false, or as it is. */
static void apply_options(struct termios *t, Term options)
{
	Term canon = map_get(options, am_canon), echo = map_get(options, am_echo), sig = map_get(options, am_sig);

	set_bits(&t->c_iflag, ISTRIP, false);
	if (canon == am_true || canon == am_false) {
		set_bits(&t->c_iflag, ICRNL, canon == am_true);
		set_bits(&t->c_lflag, ICANON, canon == am_true);
		set_bits(&t->c_oflag, OPOST, canon == am_true);
	}
	if (canon == am_false) {
		t->c_cc[VMIN] = 1;
		t->c_cc[VTIME] = 0;
	}
	if (echo == am_true || echo == am_false)
		set_bits(&t->c_lflag, ECHO, echo == am_true);
	if (sig == am_true || sig == am_false) {
		set_bits(&t->c_iflag, BRKINT | IGNPAR | ICRNL | IXON | IXANY, sig == am_true);
		set_bits(&t->c_lflag, ISIG | IEXTEN, sig == am_true);
	}
}

/* A character at a time, none of them shown, no line's end made another. */
static void make_raw(struct termios *t)
{
	set_bits(&t->c_iflag, ISTRIP | ICRNL, false);
	set_bits(&t->c_lflag, ICANON | ECHO, false);
	set_bits(&t->c_oflag, OPOST, false);
	t->c_cc[VMIN] = 1;
	t->c_cc[VTIME] = 0;
}

static Term init(struct nif_env *env, int argc, const Term *argv)
{
	struct tty *t = get_tty(env, argv[0]);
	int fd = get_fd(argv[1]);

	(void)argc;
	if (t == NULL || fd < 0 || !term_is_map(argv[2]))
		return enif_make_badarg(env);
	if (tcgetattr(fd, &t->saved) != 0)
		return put_failure(env, "tcgetattr", errno);
	t->wanted = t->saved;
	apply_options(&t->wanted, argv[2]);
	t->is_init = true;
	return am_ok;
}

static void restore_at_halt(bool flush)
{
	(void)flush;
	if (atomic_exchange(&ttys.is_changed, false))
		tcsetattr(ttys.fd, TCSANOW, &ttys.first);
}

/* 0, or errno */
static int set_mode(const struct tty *t, int fd)
{
	if (!atomic_exchange(&ttys.is_hooked, true)) {
		ttys.first = t->saved;
		ttys.fd = fd;
		sched_at_halt(restore_at_halt);
	}
	if (tcsetattr(fd, TCSANOW, &t->wanted) != 0)
		return errno;
	atomic_store(&ttys.is_changed, true);
	return 0;
}

static void follow_caller(struct nif_env *env, struct tty *t)
{
	enif_self(env, &t->self);
	enif_monitor_process(env, t, &t->self, NULL);
}

static Term set(struct nif_env *env, int argc, const Term *argv)
{
	struct tty *t = get_tty(env, argv[0]);
	int error;

	(void)argc;
	if (t == NULL)
		return enif_make_badarg(env);
	error = t->is_init ? set_mode(t, STDIN_FILENO) : 0;
	if (error != 0)
		return put_failure(env, "tcsetattr", error);
	follow_caller(env, t);
	return am_ok;
}

/* Since OTP 28: #{input := raw, or another}. Of what is no terminal, raw cannot be had. */
static Term init_input(struct nif_env *env, int argc, const Term *argv)
{
	struct tty *t = get_tty(env, argv[0]);
	Term input = term_is_map(argv[1]) ? map_get(argv[1], am_input) : TERM_NONE;
	int error;

	(void)argc;
	if (t == NULL || input == TERM_NONE)
		return enif_make_badarg(env);
	if (!t->is_init)
		return input == am_raw ? put_error(env, am_enotsup) : am_ok;
	if (input == am_raw || memcmp(&t->wanted, &t->saved, sizeof(t->saved)) != 0) {
		t->wanted = t->saved;
		if (input == am_raw)
			make_raw(&t->wanted);
		error = set_mode(t, t->out);
		if (error != 0)
			return put_failure(env, "tcsetattr", error);
	}
	follow_caller(env, t);
	return am_ok;
}

static Term is_open(struct nif_env *env, int argc, const Term *argv)
{
	struct pollfd p = { .fd = get_fd(argv[1]), .events = POLLHUP };
	int n;

	(void)argc;
	if (get_tty(env, argv[0]) == NULL || p.fd < 0)
		return enif_make_badarg(env);
	n = poll(&p, 1, 0);
	if (n < 0)
		return put_failure(env, "tty_is_open", errno);
	if (n > 0 && !(p.revents & POLLHUP))
		return enif_make_badarg(env);
	return term_from_bool(n == 0);
}

static Term window_size(struct nif_env *env, int argc, const Term *argv)
{
	struct winsize size = { 0 };

	(void)argc;
	if (get_tty(env, argv[0]) == NULL)
		return enif_make_badarg(env);
	if (ioctl(STDIN_FILENO, TIOCGWINSZ, &size) != 0)
		ioctl(STDOUT_FILENO, TIOCGWINSZ, &size);
	if (size.ws_col == 0 && size.ws_row == 0)
		return put_error(env, am_enotsup);
	return put_ok(env, heap_tuple(env->heap, term_from_small(size.ws_col > 0 ? size.ws_col : -1),
				      term_from_small(size.ws_row > 0 ? size.ws_row : -1)));
}

/* ---- signals */

static void write_signal(int number)
{
	int fd, error = errno;
	ssize_t written;

	atomic_fetch_add(&ttys.writers, 1);
	fd = atomic_load(&ttys.wire);
	do
		written = fd >= 0 ? write(fd, number == SIGWINCH ? "w" : "c", 1) : 0;
	while (written < 0 && errno == EINTR);
	atomic_fetch_sub(&ttys.writers, 1);
	errno = error;
}

static void handle_signals(void (*handler)(int number))
{
	struct sigaction action = { .sa_handler = handler, .sa_flags = SA_RESTART };

	sigaction(SIGCONT, &action, NULL);
	sigaction(SIGWINCH, &action, NULL);
}

/* The reader begins: {select, TTY, SignalRef, ready_input} for signals, the same with InputRef for input. */
static Term begin_select(struct nif_env *env, int argc, const Term *argv)
{
	struct tty *t = get_tty(env, argv[0]);

	(void)argc;
	if (t == NULL || t->signals[SIGNAL_READ] >= 0)
		return enif_make_badarg(env);
	if (pipe2(t->signals, O_CLOEXEC | O_NONBLOCK) != 0)
		return put_failure(env, "pipe", errno);
	enif_select(env, t->signals[SIGNAL_READ], NIF_SELECT_READ, t, NULL, argv[1]);
	atomic_store(&ttys.wire, t->signals[SIGNAL_WRITE]);
	handle_signals(write_signal);
	enif_select(env, STDIN_FILENO, NIF_SELECT_READ, t, NULL, argv[2]);
	enif_self(env, &t->reader);
	enif_monitor_process(env, t, &t->reader, NULL);
	return am_ok;
}

/* Since OTP 28 without signals, which are those of os:set_signal/2. */
static Term begin_input(struct nif_env *env, int argc, const Term *argv)
{
	struct tty *t = get_tty(env, argv[0]);

	(void)argc;
	if (t == NULL)
		return enif_make_badarg(env);
	enif_select(env, STDIN_FILENO, NIF_SELECT_READ, t, NULL, argv[1]);
	enif_self(env, &t->reader);
	enif_monitor_process(env, t, &t->reader, NULL);
	return am_ok;
}

static Term read_signal(struct nif_env *env, int argc, const Term *argv)
{
	struct tty *t = get_tty(env, argv[0]);
	char kind = 0;
	ssize_t n;

	(void)argc;
	if (t == NULL || t->signals[SIGNAL_READ] < 0)
		return enif_make_badarg(env);
	n = read(t->signals[SIGNAL_READ], &kind, 1);
	if (n < 0)
		return put_failure(env, "read", errno);
	if (n == 0)
		return put_error(env, am_empty_word);
	enif_select(env, t->signals[SIGNAL_READ], NIF_SELECT_READ, t, NULL, argv[1]);
	return put_ok(env, kind == 'w' ? am_winch : am_cont);
}

static void end_signals(struct nif_env *env, struct tty *t)
{
	int mine = t->signals[SIGNAL_WRITE];

	if (atomic_compare_exchange_strong(&ttys.wire, &mine, -1))
		handle_signals(SIG_DFL);
	/* The number may be another file's once it is closed. A handler does not wait: the pipe is not blocking. */
	while (atomic_load(&ttys.writers) > 0)
		sched_yield();
	close(t->signals[SIGNAL_WRITE]);
	enif_select(env, t->signals[SIGNAL_READ], NIF_SELECT_STOP, t, NULL, am_undefined);
	t->signals[SIGNAL_READ] = t->signals[SIGNAL_WRITE] = -1;
}

static void end_reader(struct nif_env *env, struct tty *t)
{
	enif_select(env, STDIN_FILENO, NIF_SELECT_STOP, t, NULL, am_undefined);
	if (t->signals[SIGNAL_READ] >= 0)
		end_signals(env, t);
	t->reader.pid = 0;
}

static void handle_down(struct nif_env *env, void *object, struct nif_pid *pid, struct nif_monitor *monitor)
{
	struct tty *t = object;

	(void)monitor;
	if (t->is_init && pid->pid == t->self.pid)
		tcsetattr(ttys.fd, TCSANOW, &t->saved);
	if (pid->pid == t->reader.pid)
		end_reader(env, t);
}

/* Who polls has let go of the descriptor: the signals' is ours to close. */
static void handle_stop(struct nif_env *env, void *object, int event, int is_direct)
{
	(void)env;
	(void)object;
	(void)is_direct;
	if (event != STDIN_FILENO)
		close(event);
}

/* ---- text. Both may block. They lend their scheduler, and are not for dirty ones: these may all be at work, or be
 * blocked (system_flag(multi_scheduling, block)), while somebody prints. */

static Term read_input(struct nif_env *env, int argc, const Term *argv)
{
	struct tty *t = get_tty(env, argv[0]);
	char bytes[READ_BYTES];
	unsigned long most = READ_BYTES;
	ssize_t n;
	int error;

	if (t == NULL || (argc == 3 && !enif_get_ulong(env, argv[2], &most)))
		return enif_make_badarg(env);
	sched_lend();
	n = read(STDIN_FILENO, bytes, most < READ_BYTES ? most : READ_BYTES);
	error = errno;
	sched_reclaim();
	if (n == 0)
		return put_error(env, am_closed);
	if (n < 0 && error != EAGAIN && error != EINTR)
		return put_failure(env, "read", error);
	enif_select(env, STDIN_FILENO, NIF_SELECT_READ, t, NULL, argv[1]);
	return put_ok(env, put_bytes(env, bytes, n > 0 ? (size_t)n : 0));
}

static Term write_output(struct nif_env *env, int argc, const Term *argv)
{
	struct tty *t = get_tty(env, argv[0]);
	Term rest = argv[1];

	(void)argc;
	if (t == NULL)
		return enif_make_badarg(env);
	while (rest != NIL) {
		struct nif_iovec vector, *v = &vector;

		if (!enif_inspect_iovec(env, PARTS_AT_ONCE, rest, &rest, &v))
			return enif_make_badarg(env);
		for (int i = 0; i < v->count; i++) {
			int error;

			sched_lend();
			error = posix_write_all(t->out, v->parts[i].iov_base, v->parts[i].iov_len);
			sched_reclaim();
			if (error != 0)
				return put_error(env, put_error(env, posix_error_atom(-error)));
		}
	}
	return am_ok;
}

static Term encoding(struct nif_env *env, int argc, const Term *argv)
{
	(void)env;
	(void)argc;
	(void)argv;
	return am_utf8;
}

static Term set_locale(struct nif_env *env, int argc, const Term *argv)
{
	(void)env;
	(void)argc;
	(void)argv;
	return term_from_bool(setlocale(LC_CTYPE, "") != NULL && strcmp(nl_langinfo(CODESET), "UTF-8") == 0);
}

static Term is_printable(struct nif_env *env, int argc, const Term *argv)
{
	int c;

	(void)argc;
	if (!enif_get_int(env, argv[0], &c) || c < 0 || c > 255)
		return enif_make_badarg(env);
	return term_from_bool(isprint(c));
}

static Term width(struct nif_env *env, int argc, const Term *argv)
{
	int c, columns;

	(void)argc;
	if (!enif_get_int(env, argv[0], &c))
		return enif_make_badarg(env);
	columns = wcwidth((wchar_t)c);
	return columns < 0 ? put_error(env, am_not_printable) : term_from_small(columns);
}

static Term text_width(struct nif_env *env, int argc, const Term *argv)
{
	struct nif_binary b;
	int64_t columns = 0;

	(void)argc;
	if (!enif_inspect_iolist_as_binary(env, argv[0], &b))
		return enif_make_badarg(env);
	for (size_t i = 0; i < b.size / sizeof(wchar_t); i++) {
		wchar_t c;
		int n;

		memcpy(&c, b.data + i * sizeof(c), sizeof(c));
		n = wcwidth(c);
		if (n < 0)
			return put_error(env, am_not_printable);
		columns += n;
	}
	return put_ok(env, term_from_small(columns));
}

static Term wide_bytes(struct nif_env *env, int argc, const Term *argv)
{
	(void)env;
	(void)argc;
	(void)argv;
	return SMALL(sizeof(wchar_t));
}

/* ---- what the terminal can do */

static Term choose(struct nif_env *env, int argc, const Term *argv)
{
	char name[NAME_BYTES];

	(void)argc;
	if (!get_text(env, argv[0], name, sizeof(name)))
		return enif_make_badarg(env);
	return term_info_choose(name) ? am_ok : put_failure(env, "tgetent", ENOENT);
}

static Term choose_by_environment(struct nif_env *env, int argc, const Term *argv)
{
	const char *name = getenv("TERM");

	(void)argc;
	(void)argv;
	return name != NULL && term_info_choose(name) ? am_ok : put_failure(env, "setupterm", ENOENT);
}

static Term capability_number(struct nif_env *env, int argc, const Term *argv)
{
	char name[NAME_BYTES];

	(void)argc;
	return get_text(env, argv[0], name, sizeof(name)) ? term_from_small(term_info_number(name))
							  : enif_make_badarg(env);
}

static Term capability_flag(struct nif_env *env, int argc, const Term *argv)
{
	char name[NAME_BYTES];

	(void)argc;
	return get_text(env, argv[0], name, sizeof(name)) ? term_from_bool(term_info_flag(name))
							  : enif_make_badarg(env);
}

static Term capability_text(struct nif_env *env, int argc, const Term *argv)
{
	char name[NAME_BYTES], text[TERM_INFO_BYTES];
	size_t n;

	(void)argc;
	if (!get_text(env, argv[0], name, sizeof(name)))
		return enif_make_badarg(env);
	return term_info_text(name, text, &n) ? put_ok(env, put_bytes(env, text, n)) : am_false;
}

/* By its name of terminfo. */
static Term capability(struct nif_env *env, int argc, const Term *argv)
{
	char name[NAME_BYTES], text[TERM_INFO_BYTES];
	bool is_name;
	size_t n;

	(void)argc;
	if (!get_text(env, argv[0], name, sizeof(name)))
		return enif_make_badarg(env);
	if (term_info_string(name, text, &n, &is_name))
		return put_ok(env, put_bytes(env, text, n));
	return is_name ? am_false : enif_make_badarg(env);
}

static Term put_capability(struct nif_env *env, int argc, const Term *argv)
{
	char text[TERM_INFO_BYTES], put[TERM_INFO_BYTES];
	long parameters[TERM_INFO_PARAMETERS] = { 0 };
	unsigned count = 0;
	Term list = argv[1];
	size_t n;

	(void)argc;
	if (!get_text(env, argv[0], text, sizeof(text)))
		return enif_make_badarg(env);
	for (; term_is_cons(list); list = cons_tail(list), count++)
		if (count == TERM_INFO_PARAMETERS || !enif_get_long(env, cons_head(list), &parameters[count]))
			return enif_make_badarg(env);
	if (!term_info_put(text, parameters, count, put, &n))
		return put_failure(env, "tparm", EINVAL);
	return put_ok(env, put_bytes(env, put, n));
}

static Term put_string(struct heap *h, const char *text)
{
	return heap_list_bytes(h, text, strlen(text), NIL);
}

static Term put_names(struct nif_env *env, enum term_info_kind kind)
{
	struct heap *h = env->heap;
	Term keys[] = { am_name, am_code, am_full_name }, list = NIL;
	struct term_info_names names;

	for (size_t i = 0; term_info_names(kind, i, &names); i++) {
		Term values[] = { put_string(h, names.name), put_string(h, names.code),
				  put_string(h, names.full_name) };

		list = heap_cons(h, map_from_atoms(h, 3, keys, values), list);
	}
	return list;
}

static Term capabilities(struct nif_env *env, int argc, const Term *argv)
{
	Term keys[] = { am_bool, am_num, am_str }, values[3];

	(void)argc;
	(void)argv;
	values[0] = put_names(env, TERM_INFO_FLAGS);
	values[1] = put_names(env, TERM_INFO_NUMBERS);
	values[2] = put_names(env, TERM_INFO_STRINGS);
	return map_from_atoms(env->heap, 3, keys, values);
}

static Term move(struct nif_env *env, int argc, const Term *argv)
{
	char text[TERM_INFO_BYTES], moved[TERM_INFO_BYTES];
	int column = 0, row = 0;
	size_t n;

	if (!get_text(env, argv[0], text, sizeof(text)) || (argc > 1 && !enif_get_int(env, argv[1], &column)) ||
	    (argc > 2 && !enif_get_int(env, argv[2], &row)))
		return enif_make_badarg(env);
	if (!term_info_goto(text, column, row, moved, &n))
		return put_failure(env, "tgoto", EINVAL);
	return put_ok(env, put_bytes(env, moved, n));
}

/* ---- the table */

static int load(struct nif_env *env, void **data, Term load_info)
{
	struct nif_type_init calls = { .stop = handle_stop, .down = handle_down, .members = 3 };

	(void)data;
	(void)load_info;
	ttys.type = enif_open_resource_type_x(env, "tty", &calls, NIF_TYPE_CREATE | NIF_TYPE_TAKEOVER, NULL);
	return ttys.type == NULL;
}

static int upgrade(struct nif_env *env, void **data, void **old_data, Term load_info)
{
	(void)old_data;
	return load(env, data, load_info);
}

static struct nif_entry_function functions[] = {
	{ "isatty", 1, is_terminal, 0 },
	{ "tty_create", 0, create, 0 },
	{ "tty_init", 3, init, 0 },
	{ "tty_set", 1, set, 0 },
	{ "tty_window_size", 1, window_size, 0 },
	{ "tty_select", 3, begin_select, 0 },
	{ "tty_read_signal", 2, read_signal, 0 },
	{ "read_nif", 2, read_input, 0 },
	{ "write_nif", 2, write_output, 0 },
	{ "tty_encoding", 1, encoding, 0 },
	{ "setlocale", 1, set_locale, 0 },
	{ "isprint", 1, is_printable, 0 },
	{ "wcwidth", 1, width, 0 },
	{ "wcswidth", 1, text_width, 0 },
	{ "sizeof_wchar", 0, wide_bytes, 0 },
	{ "tgetent_nif", 1, choose, 0 },
	{ "tgetnum_nif", 1, capability_number, 0 },
	{ "tgetflag_nif", 1, capability_flag, 0 },
	{ "tgetstr_nif", 1, capability_text, 0 },
	{ "tty_create", 1, create, 0 },
	{ "tty_init", 2, init_input, 0 },
	{ "tty_select", 2, begin_input, 0 },
	{ "tty_is_open", 2, is_open, 0 },
	{ "read_nif", 3, read_input, 0 },
	{ "setupterm_nif", 0, choose_by_environment, 0 },
	{ "tinfo_nif", 0, capabilities, 0 },
	{ "tigetnum_nif", 1, capability_number, 0 },
	{ "tigetflag_nif", 1, capability_flag, 0 },
	{ "tigetstr_nif", 1, capability, 0 },
	{ "tputs_nif", 2, put_capability, 0 },
	{ "tgoto_nif", 1, move, 0 },
	{ "tgoto_nif", 2, move, 0 },
	{ "tgoto_nif", 3, move, 0 },
};

const struct nif_entry tty_prim_tty = {
	.major = NIF_MAJOR, .minor = NIF_LINKED_MINOR, .name = "prim_tty", .function_count = COUNT_OF(functions),
	.functions = functions, .load = load, .upgrade = upgrade, .vm_variant = NIF_VM_VARIANT, .options = 1,
	.type_init_bytes = sizeof(struct nif_type_init), .oldest_erts = "erts-14.0",
};
