/* SPDX-License-Identifier: Apache-2.0 */
/* Erlang programs, each with the lines it must print, in order, in rows of its source:
 *   %% expect: LINE          on every VM
 *   %% expect 27: LINE       behind one of those: in its place with the library of OTP 27 and later ones
 *   %% expect erl 27: LINE   what the stock erl alone prints in its place there
 *   %% until: 26             the program is about libraries up to that of OTP 26
 *   %% erl crashes: 27       the stock erl of OTP 27 and later ones dies of it, or stands still; above it stands how
 *   %% erl differs: 29       most lines of the stock erl of OTP 29 and later ones are others; above it stands why
 *   %% own lines             numbers that only erlvm prints: the stock erl is left out
 * Since OTP 26 a map's keys have no order that is documented: with such a library `#{...}` is compared as if they were
 * printed in theirs. Every program is compiled by the stock erlc and run on the stock erl and on erlvm; each run is one
 * test, and a failure shows the first line that differs.
 * A program in a folder otpNN has its .beam beside it, made by the compiler of OTP NN (tests/erl/compile.sh makes it
 * anew): that is what runs, and an older stock erl, which cannot load it, is skipped.
 * Those of a folder libraryNN need what the library of OTP NN has and that of 25 has not: they run on erlvm with the
 * library that OTPNN_ROOT names (the root of an installation), or with the machine's when that is of OTP NN or later,
 * and are skipped where there is neither.
 * The programs of the folders nif and driver have libraries: each .c file there is compiled with the header of the
 * machine's Erlang/OTP to one library, or to one a line `build: NAME OPTIONS` of its first comment; a .c file of the
 * folder cnode becomes a program with the library ei. Without that header they are skipped; so are programs of SCTP
 * (sctp_*) where the kernel has none. What has to do with descriptors runs on erlvm with several poll threads as well,
 * most of the others with machine code, and with machine code that is left at random.
 * ERL_TEST=name runs the programs whose name contains it. */
#include <check.h>
#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <limits.h>
#include <netinet/in.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../erlvm_needed.h"
#include "support_lines.h"

/* For each run: until it is taken for stuck, and of both runs together. */
enum { STUCK_SECONDS = 50, RUN_SECONDS = 120, PROGRAMS_MAX = 1000 };

static struct {
	glob_t files;
	int count;
	char *paths[PROGRAMS_MAX];
	char directory[512];     /* of the compiled programs */
	char erlvm[512];
	char nif_headers[512];   /* where erl_nif.h is; empty: nowhere */
	int stock_release, erlvm_release; /* of their libraries */
} programs;

static const char *build_directory(void)
{
	const char *build = getenv("BUILD");

	return build != NULL ? build : "build";
}

static void find_programs(void)
{
	const char *wish = getenv("ERL_TEST");

	glob("tests/erl/*/*.erl", 0, NULL, &programs.files);
	for (size_t i = 0; i < programs.files.gl_pathc && programs.count < PROGRAMS_MAX; i++)
		if (wish == NULL || strstr(programs.files.gl_pathv[i], wish) != NULL)
			programs.paths[programs.count++] = programs.files.gl_pathv[i];
	snprintf(programs.directory, sizeof(programs.directory), "%s/tests/erl-programs", build_directory());
	snprintf(programs.erlvm, sizeof(programs.erlvm), "%s/erlvm", build_directory());
}

/* The module's name: the file's, without folder and suffix. */
static void get_module(const char *path, char *module, size_t room)
{
	const char *slash = strrchr(path, '/');

	snprintf(module, room, "%s", slash != NULL ? slash + 1 : path);
	module[strlen(module) - strlen(".erl")] = 0;
}

/* ---- children */
/* Starts argv with its standard output on *out (not wanted: NULL) and standard error in the file `errors`. */
static pid_t start_child(char *const *argv, int *out, const char *errors)
{
	static const char *const unwanted[] = { "ERL_FLAGS", "ERL_AFLAGS", "ERL_ZFLAGS", "ERL_COMPILER_OPTIONS" };
	int ends[2] = { -1, -1 };
	pid_t pid;

	if (out != NULL)
		ck_assert(pipe(ends) == 0);
	pid = fork();
	ck_assert(pid >= 0);
	if (pid == 0) {
		int log = open(errors, O_WRONLY | O_CREAT | O_TRUNC, 0644);

		prctl(PR_SET_PDEATHSIG, SIGKILL);
		setenv("ERL_CRASH_DUMP", "/dev/null", 1);
		setenv("LC_ALL", "C.UTF-8", 1); /* names of files and the environment are the programs' own */
		for (size_t i = 0; i < sizeof(unwanted) / sizeof(unwanted[0]); i++)
			unsetenv(unwanted[i]);
		dup2(open("/dev/null", O_RDONLY), 0);
		if (out != NULL)
			dup2(ends[1], 1);
		dup2(log, 2);
		execvp(argv[0], argv);
		dprintf(2, "%s: %s\n", argv[0], strerror(errno));
		_exit(127);
	}
	if (out != NULL) {
		close(ends[1]);
		*out = ends[0];
	}
	return pid;
}

static int wait_child(pid_t pid)
{
	int status;

	while (waitpid(pid, &status, 0) < 0)
		ck_assert(errno == EINTR);
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

/* The whole text, up to the end of the file; `seconds` without a byte end it too, and *ended tells which. */
static char *read_within(int fd, int seconds, bool *ended)
{
	struct pollfd input = { .fd = fd, .events = POLLIN };
	size_t used = 0, room = 1 << 16;
	char *text = malloc(room);
	ssize_t n = 1;

	while (poll(&input, 1, seconds * 1000) > 0 && (n = read(fd, text + used, room - used - 1)) > 0) {
		used += (size_t)n;
		if (used + 1 >= room)
			text = realloc(text, room *= 2);
	}
	*ended = n <= 0;
	text[used] = 0;
	close(fd);
	return text;
}

static char *read_all(int fd)
{
	bool ended;

	return read_within(fd, -1, &ended);
}

static char *read_file(const char *path)
{
	int fd = open(path, O_RDONLY);

	ck_assert_msg(fd >= 0, "%s: %s", path, strerror(errno));
	return read_all(fd);
}

/* ---- compiled elsewhere */
/* The release whose compiler made the program's committed .beam; 0: it is compiled here. */
static int committed_release(const char *path)
{
	const char *folder = strstr(path, "/otp");

	return folder != NULL ? atoi(folder + strlen("/otp")) : 0;
}

/* The release whose library the program needs; 0: the one of the machine. */
static int library_release(const char *path)
{
	const char *folder = strstr(path, "/library");

	return folder != NULL ? atoi(folder + strlen("/library")) : 0;
}

/* The number in a line of the program that begins with the mark; INT_MAX: there is none. */
static int read_release_mark(const char *path, const char *mark)
{
	char *text = read_file(path), *at = strstr(text, mark);
	int release = at != NULL ? atoi(at + strlen(mark)) : INT_MAX;

	free(text);
	return release;
}

/* The last release whose library the program is about. */
static int last_release(const char *path)
{
	return read_release_mark(path, "%% until: ");
}

/* The first release whose stock erl dies of the program. */
static int crashing_release(const char *path)
{
	return read_release_mark(path, "%% erl crashes: ");
}

static int differing_release(const char *path)
{
	return read_release_mark(path, "%% erl differs: ");
}

/* Are some of its lines numbers that erl has others of, by a line `%% own lines`? */
static bool has_own_lines(const char *path)
{
	char *text = read_file(path);
	bool has = strstr(text, "\n%% own lines") != NULL;

	free(text);
	return has;
}

/* Not within a test: nothing is asserted here. 0: there is no such VM, or it has no library. */
static int read_release(const char *vm)
{
	char command[700];
	FILE *erl;
	int release = 0;

	snprintf(command, sizeof(command), "%s -noshell -eval 'io:put_chars(erlang:system_info(otp_release)), halt().' 2>/dev/null </dev/null", vm);
	erl = popen(command, "r");
	if (erl == NULL)
		return 0;
	if (fscanf(erl, "%d", &release) != 1)
		release = 0;
	pclose(erl);
	return release;
}

/* Not within a test. */
static void find_nif_headers(void)
{
	FILE *erl = popen("erl -noshell -eval 'io:put_chars(code:root_dir()), halt().' </dev/null", "r");
	char root[400] = "", header[600];

	if (erl == NULL)
		return;
	if (fgets(root, sizeof(root), erl) != NULL) {
		snprintf(header, sizeof(header), "%s/usr/include/erl_nif.h", root);
		if (access(header, R_OK) == 0)
			snprintf(programs.nif_headers, sizeof(programs.nif_headers), "%s/usr/include", root);
	}
	pclose(erl);
}

static bool lacks_crypto(const char *path)
{
	char pattern[600];
	glob_t found;
	bool there;

	if (strstr(path, "crypto") == NULL)
		return false;
	snprintf(pattern, sizeof(pattern), "%s/../../lib/crypto-*/priv", programs.nif_headers);
	there = glob(pattern, 0, NULL, &found) == 0;
	globfree(&found);
	if (!there)
		printf("SKIP %s: there is no crypto (package erlang-crypto)\n", path);
	return !there;
}

/* Is it of the folder whose C files are nodes of their own? */
static bool is_of_c_nodes(const char *path)
{
	return strstr(path, "/cnode/") != NULL;
}

/* Is it of a folder whose C files are made for its programs, or named for one of those? */
static bool has_libraries(const char *path)
{
	return strstr(path, "/nif/") != NULL || strstr(path, "/driver/") != NULL || strstr(path, "_nif.erl") != NULL || is_of_c_nodes(path);
}

/* Is it of SCTP sockets, which this machine's kernel does not have? no_sctp is for that. */
static bool lacks_sctp(const char *path)
{
	int fd;

	if (strstr(path, "/sctp_") == NULL)
		return false;
	fd = socket(AF_INET, SOCK_SEQPACKET, IPPROTO_SCTP);
	if (fd >= 0)
		close(fd);
	else
		printf("SKIP %s: this kernel has no SCTP (make check-kernels has some that do)\n", path);
	return fd < 0;
}

/* Prints why, when the program cannot be run here. */
static bool is_skipped(const char *path)
{
	if (lacks_sctp(path))
		return true;
	if (!has_libraries(path))
		return false;
	if (programs.nif_headers[0] != 0)
		return lacks_crypto(path);
	printf("SKIP %s: there is no erl_nif.h nor erl_driver.h (package erlang-dev)\n", path);
	return true;
}

/* Where the program's .beam is. */
static void get_beam_directory(const char *path, char *directory, size_t room)
{
	int length = (int)(strrchr(path, '/') - path);

	if (committed_release(path) != 0)
		snprintf(directory, room, "%.*s", length, path);
	else
		snprintf(directory, room, "%s", programs.directory);
}

/* ---- compile: all at once, before the first test */
/* The next line of *text as a string of its own; NULL at the end. */
static char *next_line(char **text)
{
	char *line = *text, *end;

	if (*line == 0)
		return NULL;
	end = strchr(line, '\n');
	if (end == NULL) {
		*text = line + strlen(line);
	} else {
		*end = 0;
		*text = end + 1;
		/* erlang:display/1 ends its lines as terminals in raw mode want them. */
		if (end > line && end[-1] == '\r')
			end[-1] = 0;
	}
	return line;
}

/* Is it to be compiled by the machine's compiler? One that is about libraries before that may be beyond it. */
static bool is_compiled_here(const char *path)
{
	return committed_release(path) == 0 && last_release(path) >= programs.stock_release;
}

static bool is_stale(const char *path)
{
	struct stat source, beam;
	char module[256], target[1024];

	get_module(path, module, sizeof(module));
	snprintf(target, sizeof(target), "%s/%s.beam", programs.directory, module);
	return stat(path, &source) != 0 || stat(target, &beam) != 0 || beam.st_mtime < source.st_mtime;
}

static void compile_library(const char *source, const char *name, const char *options)
{
	char command[3000];

	if (is_of_c_nodes(source))
		snprintf(command, sizeof(command), "cc -O1 -g -Wall -Wextra -Werror -D_REENTRANT -I'%s' %s -o '%s/%s' '%s' "
			 "'%s/../lib/libei.a' -lpthread", programs.nif_headers, options, programs.directory, name, source,
			 programs.nif_headers);
	else
		snprintf(command, sizeof(command), "cc -shared -fPIC -O1 -g -Wall -Wextra -Werror -I'%s' %s -o '%s/%s.so' '%s'",
			 programs.nif_headers, options, programs.directory, name, source);
	ck_assert_msg(system(command) == 0, "%s", command);
}

static void compile_libraries_of(const char *source)
{
	static const char mark[] = " * build: ";
	char *text = read_file(source), *at = text, *line, name[256];
	int built = 0;

	while ((line = next_line(&at)) != NULL && strncmp(line, "#include", 8) != 0) {
		if (strncmp(line, mark, sizeof(mark) - 1) != 0 || sscanf(line + sizeof(mark) - 1, "%255s", name) != 1)
			continue;
		line += sizeof(mark) - 1 + strlen(name);
		line[strcspn(line, "*")] = 0;
		compile_library(source, name, line);
		built++;
	}
	if (built == 0) {
		const char *slash = strrchr(source, '/');

		snprintf(name, sizeof(name), "%.*s", (int)(strlen(slash + 1) - 2), slash + 1);
		compile_library(source, name, "");
	}
	free(text);
}

static void compile_libraries(void)
{
	glob_t files;

	if (programs.nif_headers[0] == 0 || glob("tests/erl/nif/*.c", 0, NULL, &files) != 0 ||
	    glob("tests/erl/driver/*.c", GLOB_APPEND, NULL, &files) != 0 ||
	    glob("tests/erl/cnode/*.c", GLOB_APPEND, NULL, &files) != 0)
		return;
	for (size_t i = 0; i < files.gl_pathc; i++)
		compile_libraries_of(files.gl_pathv[i]);
	globfree(&files);
}

static bool has_natives(void)
{
	for (int i = 0; i < programs.count; i++)
		if (has_libraries(programs.paths[i]))
			return true;
	return false;
}

static void compile_programs(void)
{
	char *argv[PROGRAMS_MAX + 4] = { "erlc", "-o", programs.directory };
	char command[600], errors[600];
	int n = 3;

	snprintf(command, sizeof(command), "mkdir -p '%s'", programs.directory);
	ck_assert(system(command) == 0);
	if (erlvm_refusal()[0] != 0)
		return; /* none of them will run */
	if (has_natives())
		compile_libraries();
	for (int i = 0; i < programs.count; i++)
		if (is_compiled_here(programs.paths[i]) && is_stale(programs.paths[i]))
			argv[n++] = programs.paths[i];
	if (n == 3)
		return;
	snprintf(errors, sizeof(errors), "%s/erlc.log", programs.directory);
	ck_assert_msg(wait_child(start_child(argv, NULL, errors)) == 0, "erlc failed: see %s", errors);
}

/* ---- compare */
struct vm {
	const char *path;
	const char *name; /* erl, or erlvm and what it is run with */
	int release;      /* of its library */
};

/* The text of a row behind `%% expect:` that holds for that VM; NULL: it does not. */
static const char *find_row(const char *row, const struct vm *vm)
{
	static const char stock[] = "erl ";
	char *end;

	if (strncmp(row, stock, sizeof(stock) - 1) == 0) {
		if (strcmp(vm->name, "erl") != 0)
			return NULL;
		row += sizeof(stock) - 1;
	}
	return strtol(row, &end, 10) <= vm->release && *end == ':' ? end + 1 : NULL;
}

/* The next line that the program should print on that VM; NULL when it was the last. */
static const char *next_expected(char **source, const struct vm *vm)
{
	static const char mark[] = "%% expect:", later[] = "%% expect ";
	const char *line, *found = NULL, *row;

	while (found == NULL && (line = next_line(source)) != NULL)
		if (strncmp(line, mark, sizeof(mark) - 1) == 0)
			found = line + sizeof(mark) - 1;
	while (found != NULL && strncmp(*source, later, sizeof(later) - 1) == 0) {
		row = find_row(next_line(source) + sizeof(later) - 1, vm);
		if (row != NULL)
			found = row;
	}
	return found != NULL && *found == ' ' ? found + 1 : found;
}

static void compare_output(const char *path, const struct vm *vm, char *output, int status, const char *errors)
{
	char *source = read_file(path);
	char *at = source;

	for (int n = 1;; n++) {
		const char *expected = next_expected(&at, vm), *line = next_line(&output);

		if (expected == NULL && line == NULL)
			break;
		ck_assert_msg(expected != NULL, "%s on %s: line %d is too much: %.300s", path, vm->name, n, line);
		ck_assert_msg(line != NULL, "%s on %s: ended (status %d) before line %d: %.300s\n%.600s", path,
			      vm->name, status, n, expected, read_file(errors));
		ck_assert_msg(is_same_line(expected, line, vm->release > 25),
			      "%s on %s: line %d\n  expected %.600s\n  printed  %.600s", path, vm->name, n, expected, line);
	}
	ck_assert_msg(status == 0, "%s on %s: exit status %d\n%.600s", path, vm->name, status, read_file(errors));
	free(source);
}

/* Whether the program ended by itself; if it did, it printed what it must. One that prints nothing for `seconds` is
 * killed. */
static bool run_program(const char *path, const struct vm *vm, const char *const *flags, int seconds)
{
	char module[256], errors[1024], beams[600];
	char *argv[24];
	char *output;
	int n = 0, out, status;
	bool ended;
	pid_t pid;

	get_module(path, module, sizeof(module));
	get_beam_directory(path, beams, sizeof(beams));
	snprintf(errors, sizeof(errors), "%s/%s.%s.err", programs.directory, module, vm->name);
	argv[n++] = (char *)vm->path;
	for (; *flags != NULL; flags++)
		argv[n++] = (char *)*flags;
	if (committed_release(path) != 0) { /* compilers since 27 mark every file with it, and older code servers mind */
		argv[n++] = "-enable-feature";
		argv[n++] = "maybe_expr";
	}
	for (int i = 0; i < 11; i++)
		argv[n++] = (char *[]){ "-kernel", "logger_level", "none", /* reports are not what is compared */
					"-noshell", "-pa", beams, "-s", module, "main", "-s", "erlang" }[i];
	argv[n++] = "halt";
	argv[n] = NULL;
	pid = start_child(argv, &out, errors);
	output = read_within(out, seconds, &ended);
	if (!ended)
		kill(pid, SIGKILL);
	status = wait_child(pid);
	ended = status < 128;
	if (ended)
		compare_output(path, vm, output, status, errors);
	else
		fprintf(stderr, "%s on %s was ended by signal %d, after it had printed:\n%s", path, vm->name,
			status - 128, output);
	free(output);
	return ended;
}

static const char *const no_flags[] = { NULL };

/* What the environment allows slow builds, as libcheck reads it. */
static int patience(void)
{
	const char *multiplier = getenv("CK_TIMEOUT_MULTIPLIER");

	return multiplier != NULL && atoi(multiplier) > 0 ? atoi(multiplier) : 1;
}

/* The machine's erl is not what is tested here. OTP 25's crashes or stands still about once in a thousand runs of
 * file_signals.erl, which torments processes that run dirty: such a run is made once more. */
static void run_on_stock_erl(const char *path)
{
	struct vm erl = { "erl", "erl", programs.stock_release };
	int seconds = STUCK_SECONDS * patience();

	ck_assert_msg(run_program(path, &erl, no_flags, seconds) || run_program(path, &erl, no_flags, seconds),
		      "%s on erl: crashed or did not end, twice", path);
}

START_TEST(test_program_on_stock_erl)
{
	const char *path = programs.paths[_i];

	if (is_skipped(path) || library_release(path) > programs.stock_release || last_release(path) < programs.stock_release)
		return;
	if (has_own_lines(path))
		printf("SKIP %s on erl: some of its lines are erlvm's own\n", path);
	else if (crashing_release(path) <= programs.stock_release)
		printf("SKIP %s on erl: OTP %d dies of it\n", path, programs.stock_release);
	else if (differing_release(path) <= programs.stock_release)
		printf("SKIP %s on erl: OTP %d prints other lines\n", path, programs.stock_release);
	else if (committed_release(path) == 0 && erlvm_refusal()[0] != 0)
		printf("SKIP %s on erl: its lines are those of the release whose library erlvm runs, erl is OTP %d\n", path, programs.stock_release);
	else if (committed_release(path) > programs.stock_release)
		printf("SKIP %s on erl: made by the compiler of OTP %d, erl is OTP %d\n", path, committed_release(path), programs.stock_release);
	else
		run_on_stock_erl(path);
}
END_TEST

/* Collections take reductions, and a build with GC_STRESS collects whenever it can. */
static bool counts_collections(const char *path)
{
#ifdef ERLVM_GC_STRESS
	return strstr(path, "lang_generated_reductions") != NULL;
#else
	return (void)path, false;
#endif
}

static void run_on_erlvm(const char *path, const char *vm_name, const char *const *flags)
{
	struct vm erlvm = { programs.erlvm, vm_name, programs.erlvm_release };

	if (library_release(path) > programs.erlvm_release || last_release(path) < programs.erlvm_release)
		return;
	if (erlvm_refusal()[0] != 0)
		printf("SKIP %s on %s: %s\n", path, vm_name, erlvm_refusal());
	else if (counts_collections(path))
		printf("SKIP %s on %s: collections that are forced take reductions, too\n", path, vm_name);
	else if (!is_skipped(path))
		ck_assert_msg(run_program(path, &erlvm, flags, (RUN_SECONDS - 10) * patience()),
			      "%s on %s: crashed or did not end", path, vm_name);
}

START_TEST(test_program_on_erlvm)
{
	run_on_erlvm(programs.paths[_i], "erlvm", no_flags);
}
END_TEST

/* This process is forked for the test: what it sets is the program's alone. */
START_TEST(test_program_on_its_library)
{
	const char *path = programs.paths[_i], *root;
	char variable[32], release[16];
	struct vm erlvm;

	if (library_release(path) == 0 || programs.erlvm_release >= library_release(path))
		return;
	snprintf(release, sizeof(release), "%d", library_release(path));
	snprintf(variable, sizeof(variable), "OTP%s_ROOT", release);
	root = getenv(variable);
	if (root == NULL || root[0] == 0) {
		printf("SKIP %s: %s names no installation of OTP %s\n", path, variable, release);
		return;
	}
	setenv("ERLVM_ROOT", root, 1);
	erlvm = (struct vm){ programs.erlvm, variable, library_release(path) };
	ck_assert_msg(run_program(path, &erlvm, no_flags, (RUN_SECONDS - 10) * patience()),
		      "%s on %s: crashed or did not end", path, root);
}
END_TEST

static bool is_in(const char *path, const char *const *folders)
{
	for (; *folders != NULL; folders++)
		if (strstr(path, *folders) != NULL)
			return true;
	return false;
}

/* Whose programs wait for descriptors. */
static bool is_of_descriptors(const char *path)
{
	static const char *const folders[] = { "/sockets/", "/ports/", "/driver/", "/nif/", NULL };

	return is_in(path, folders);
}

/* With several sets, each with more than one thread, and without the schedulers'. */
START_TEST(test_program_with_poll_threads)
{
	static const char *const only_threads[] = { "+IOs", "false", "+IOp", "2", "+IOt", "5", NULL };

	if (is_of_descriptors(programs.paths[_i]))
		run_on_erlvm(programs.paths[_i], "erlvm-threads", only_threads);
}
END_TEST

/* Modules with machine code: programs about what code does, and what is done to it. */
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
static void run_in_machine_code(const char *path, const char *vm_name, const char *mode)
{
	static const char *const folders[] = { "/language/", "/process/", "/trace/", "/hostile/", "/literals/", "/otp", NULL };
	const char *const flags[] = { "+JIT", mode, NULL };

	if (is_in(path, folders))
		run_on_erlvm(path, vm_name, flags);
}

START_TEST(test_program_in_machine_code)
{
	run_in_machine_code(programs.paths[_i], "erlvm-jit", "all");
}
END_TEST

/* The same, left and entered again at any operation, and with slices that are cut. What fails in a later slice than it
 * was called in, as the last call of a function, has no caller in its trace: which slice that is lang_tail_natives
 * cannot know then. */
START_TEST(test_program_that_leaves_machine_code)
{
	if (strstr(programs.paths[_i], "lang_tail_natives") == NULL)
		run_in_machine_code(programs.paths[_i], "erlvm-leaving", "leaving");
}
END_TEST
#endif

Suite *erl_suite(void)
{
	Suite *s = suite_create("erl");
	TCase *ours = tcase_create("erlvm"), *threads = tcase_create("poll_threads"), *stock = tcase_create("erl"), *library = tcase_create("library");
	TCase *native = tcase_create("jit"), *leaving = tcase_create("leaving");

	find_programs();
	programs.stock_release = read_release("erl");
	programs.erlvm_release = read_release(programs.erlvm);
	find_nif_headers();
	tcase_add_unchecked_fixture(ours, compile_programs, NULL);
	tcase_add_unchecked_fixture(threads, compile_programs, NULL);
	tcase_add_unchecked_fixture(native, compile_programs, NULL);
	tcase_add_unchecked_fixture(leaving, compile_programs, NULL);
	tcase_add_unchecked_fixture(library, compile_programs, NULL);
	tcase_add_unchecked_fixture(stock, compile_programs, NULL);
	tcase_set_timeout(ours, RUN_SECONDS);
	tcase_set_timeout(threads, RUN_SECONDS);
	tcase_set_timeout(native, RUN_SECONDS);
	tcase_set_timeout(leaving, RUN_SECONDS);
	tcase_set_timeout(library, RUN_SECONDS);
	tcase_set_timeout(stock, RUN_SECONDS);
	tcase_add_loop_test(ours, test_program_on_erlvm, 0, programs.count);
	tcase_add_loop_test(threads, test_program_with_poll_threads, 0, programs.count);
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__) /* their VM has none */
	tcase_add_loop_test(native, test_program_in_machine_code, 0, programs.count);
	tcase_add_loop_test(leaving, test_program_that_leaves_machine_code, 0, programs.count);
#endif
	tcase_add_loop_test(library, test_program_on_its_library, 0, programs.count);
	tcase_add_loop_test(stock, test_program_on_stock_erl, 0, programs.count);
	suite_add_tcase(s, ours);
	suite_add_tcase(s, threads);
	suite_add_tcase(s, native);
	suite_add_tcase(s, leaving);
	suite_add_tcase(s, library);
	suite_add_tcase(s, stock);
	return s;
}
