/* SPDX-License-Identifier: Apache-2.0 */
/* The search for .beam files. Invariant: the list of directories is complete before the first search ends, and
 * stays. */
#include "code/code_path.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/lock.h"
#include "base/log.h"
#include "base/release.h"
#include "code/module.h"
#include "proc/sched.h"

enum { DIRECTORIES_MAX = 1024, FILE_MAX_BYTES = 1 << 28 };

static struct {
	const char *added[DIRECTORIES_MAX]; /* in the order of the command line */
	size_t added_count;
	struct lock lock;    /* for the lines below */
	char *library[DIRECTORIES_MAX];
	size_t library_count;
	bool is_listed;
	bool is_closed;      /* before anything runs */
	const char *root;
} path;

/* ---- what is preloaded */

enum { LAST = INT_MAX };
static const struct {
	int first, last; /* releases */
	Term module;
} preloaded_rows[] = {
#define PRELOADED(first, last, module) { first, last, am_##module },
#include "releases.def"
};
enum { PRELOADED_ROWS = sizeof(preloaded_rows) / sizeof(preloaded_rows[0]) };

static struct {
	Term modules[PRELOADED_ROWS];
	unsigned count;
} preloaded;

static void list_preloaded(void)
{
	preloaded.count = 0; /* tests begin anew */
	for (unsigned i = 0; i < PRELOADED_ROWS; i++)
		if (release_is_from(preloaded_rows[i].first) && release_current->number <= preloaded_rows[i].last)
			preloaded.modules[preloaded.count++] = preloaded_rows[i].module;
}

const Term *code_preloaded(unsigned *count)
{
	*count = preloaded.count;
	return preloaded.modules;
}

bool code_is_preloaded(Term module)
{
	for (unsigned i = 0; i < preloaded.count; i++)
		if (preloaded.modules[i] == module)
			return true;
	return false;
}

void code_path_init(void)
{
	lock_init(&path.lock, LOCK_code_path);
	list_preloaded();
}

void code_path_add(const char *directory)
{
	if (path.added_count < DIRECTORIES_MAX)
		path.added[path.added_count++] = directory;
	else
		log_line("erlvm: more than %d directories: %s is left out", DIRECTORIES_MAX, directory);
}

void code_path_set_root(const char *root)
{
	path.root = root;
}

bool code_path_is_open(void)
{
	return !path.is_closed;
}

const char *code_path_root(void)
{
	const char *root = path.root != NULL ? path.root : getenv("ERLVM_ROOT");

	return root != NULL && root[0] != 0 ? root : "/usr/lib/erlang";
}

/* What everybody needs comes first. */
static int rank_of(const char *name)
{
	static const char *const first[] = { "erts-", "kernel-", "stdlib-", "compiler-" };

	for (unsigned i = 0; i < sizeof(first) / sizeof(first[0]); i++)
		if (strncmp(name, first[i], strlen(first[i])) == 0)
			return (int)i;
	return sizeof(first) / sizeof(first[0]);
}

/* By rank, by name; the newest version of an application before the others. */
static int compare_names(const void *a, const void *b)
{
	const char *x = *(const char *const *)a, *y = *(const char *const *)b;
	int rank = rank_of(x) - rank_of(y);

	return rank != 0 ? rank : strverscmp(y, x);
}

static char *join(const char *a, const char *b, const char *c)
{
	size_t n = strlen(a) + strlen(b) + strlen(c) + 3;
	char *text = mem_alloc(n);

	snprintf(text, n, "%s/%s%s%s", a, b, c[0] != 0 ? "/" : "", c);
	return text;
}

static size_t list_names(const char *directory, char **names)
{
	DIR *d = opendir(directory);
	struct dirent *entry;
	size_t n = 0;

	if (d == NULL)
		return 0;
	while (n < DIRECTORIES_MAX && (entry = readdir(d)) != NULL)
		if (entry->d_name[0] != '.')
			names[n++] = mem_strdup(entry->d_name);
	closedir(d);
	return n;
}

static void list_library(void)
{
	char *lib = join(code_path_root(), "lib", ""), *names[DIRECTORIES_MAX];
	size_t n = list_names(lib, names);

	qsort(names, n, sizeof(names[0]), compare_names);
	for (size_t i = 0; i < n; i++) {
		path.library[path.library_count++] = join(lib, names[i], "ebin");
		mem_free(names[i]);
	}
	mem_free(lib);
	path.is_listed = true;
}

char *code_path_erts(void)
{
	char *names[DIRECTORIES_MAX], *newest = NULL;
	size_t n = list_names(code_path_root(), names);

	for (size_t i = 0; i < n; i++) {
		if (strncmp(names[i], "erts-", 5) == 0 && isdigit((unsigned char)names[i][5]) &&
		    (newest == NULL || strverscmp(names[i], newest) > 0)) {
			mem_free(newest);
			newest = names[i];
		} else {
			mem_free(names[i]);
		}
	}
	return newest;
}

/* The last name that is APPLICATION-VERSION; NULL when one is of the major version, or there is none. */
static const char *find_stray(char **names, size_t n, const char *application, int major)
{
	size_t length = strlen(application);
	const char *stray = NULL;

	for (size_t i = 0; i < n; i++) {
		if (strncmp(names[i], application, length) != 0 || names[i][length] != '-' ||
		    !isdigit((unsigned char)names[i][length + 1]))
			continue;
		if (atoi(names[i] + length + 1) == major)
			return NULL;
		stray = names[i];
	}
	return stray;
}

char *code_path_stray(void)
{
	char *lib = join(code_path_root(), "lib", ""), *names[DIRECTORIES_MAX], *copy;
	size_t n = list_names(lib, names);
	const char *stray = find_stray(names, n, "kernel", release_current->kernel_major);

	if (stray == NULL)
		stray = find_stray(names, n, "stdlib", release_current->stdlib_major);
	copy = stray != NULL ? mem_strdup(stray) : NULL;
	for (size_t i = 0; i < n; i++)
		mem_free(names[i]);
	mem_free(lib);
	return copy;
}

static char *find_in(const char *directory, const char *name)
{
	char *file = join(directory, name, "");

	if (access(file, R_OK) == 0)
		return file;
	mem_free(file);
	return NULL;
}

char *code_path_find(Term module)
{
	char name[ATOM_MAX_BYTES + 8];
	size_t n;
	const char *text = atom_text(module, &n);
	char *file = NULL;

	if (memchr(text, '/', n) != NULL || memchr(text, 0, n) != NULL)
		return NULL;
	snprintf(name, sizeof(name), "%.*s.beam", (int)n, text);
	for (size_t i = path.added_count; i-- > 0 && file == NULL && !path.is_closed;)
		file = find_in(path.added[i], name);
	lock_acquire(&path.lock);
	if (!path.is_listed)
		list_library();
	lock_release(&path.lock);
	for (size_t i = 0; i < path.library_count && file == NULL; i++)
		file = find_in(path.library[i], name);
	return file;
}

/* Owns: the caller. Fails: NULL. */
static uint8_t *read_all(int fd, size_t *n)
{
	struct stat st;
	uint8_t *bytes;
	size_t done = 0;

	if (fstat(fd, &st) != 0 || !S_ISREG(st.st_mode) || st.st_size > FILE_MAX_BYTES)
		return NULL;
	bytes = mem_alloc((size_t)st.st_size + 1);
	while (done < (size_t)st.st_size) {
		ssize_t got = read(fd, bytes + done, (size_t)st.st_size - done);

		if (got < 0 && errno == EINTR)
			continue;
		if (got <= 0)
			break;
		done += (size_t)got;
	}
	*n = done;
	return bytes;
}

uint8_t *code_path_read(const char *file, size_t *n)
{
	int fd = open(file, O_RDONLY | O_CLOEXEC);
	uint8_t *bytes;

	if (fd < 0)
		return NULL;
	bytes = read_all(fd, n);
	close(fd);
	return bytes;
}

/* Its process waits for another, while other threads run what there is to run. Elsewhere: nothing. */
static void wait_for_end_of(Term pid)
{
	if (pid == TERM_NONE || process_current() == NULL)
		return;
	sched_lend();
	sched_go_outside(); /* loading natives stops the world */
	while (process_is_alive(pid))
		nanosleep(&(struct timespec){ .tv_nsec = 100000 }, NULL);
	sched_go_inside();
	sched_reclaim();
}

/* What a module's on_load function makes ready, its natives as a rule, is there when it is called next. */
static bool load_file(Term module, const char *file)
{
	struct beam_error error;
	Term on_load;
	size_t n;
	uint8_t *bytes = code_path_read(file, &n);
	int status;

	if (bytes == NULL)
		return false;
	status = module_load_new(bytes, n, &error, &on_load);
	mem_free(bytes);
	wait_for_end_of(on_load);
	if (status != 0)
		log_line("erlvm: %s: %s", file, error.text);
	return status == 0 && module_is_loaded(module);
}

bool code_autoload(Term module)
{
	char *file;
	bool ok;

	if (!term_is_atom(module))
		return false;
	if (module_is_loaded(module))
		return true;
	if (path.is_closed)
		return false;
	file = code_path_find(module);
	if (file == NULL)
		return false;
	ok = load_file(module, file);
	mem_free(file);
	return ok;
}

/* What is preloaded tells no places in its sources, as with OTP. */
static void drop_places(const char *name)
{
	struct module *m = module_find(atom_from_text(name));
	struct code_instance *c = m != NULL ? atomic_load(&m->current) : NULL;

	if (c != NULL)
		c->line_count = 0;
}

int code_preload(const char **missing)
{
	char *erts = code_path_erts(), *lib, *file = NULL;
	char name[64];
	bool ok = erts != NULL;

	*missing = "erts";
	lib = join(code_path_root(), "lib", ok ? erts : "");
	for (unsigned i = 0; i < preloaded.count && ok; i++) {
		*missing = atom_text(preloaded.modules[i], NULL);
		snprintf(name, sizeof(name), "ebin/%s.beam", *missing);
		file = join(lib, name, "");
		ok = load_file(preloaded.modules[i], file);
		mem_free(file);
		drop_places(*missing);
	}
	mem_free(lib);
	mem_free(erts);
	path.is_closed = true;
	return ok ? 0 : -ENOENT;
}

int beam_check_file(const char *name)
{
	struct beam_error error;
	struct code_instance *c;
	size_t n;
	uint8_t *bytes = code_path_read(name, &n);

	if (bytes == NULL) {
		fprintf(stderr, "erlvm: %s: %s\n", name, errno != 0 ? strerror(errno) : "not a file");
		return 1;
	}
	c = module_prepare(bytes, n, &error);
	mem_free(bytes);
	if (c == NULL) {
		fprintf(stderr, "erlvm: %s: %s\n", name, error.text);
		return 1;
	}
	printf("%s: module %s, %u functions, %zu words of code\n", name, atom_text(c->module, NULL), c->function_count,
	       c->word_count);
	module_free_instance(c);
	return 0;
}
