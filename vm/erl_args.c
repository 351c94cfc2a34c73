/* SPDX-License-Identifier: Apache-2.0 */
/* erl's command line. Invariant: words keep their order; -extra ends the reading of flags, here as in init. */
#include "erl_args.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "code/code_path.h"

enum { FILES_DEEP = 16 };

void erl_args_fail(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	fprintf(stderr, "erlvm: ");
	vfprintf(stderr, format, args);
	fprintf(stderr, "; try erlvm --help\n");
	va_end(args);
	exit(2);
}

void words_add(struct words *w, const char *word)
{
	if (w->count + 1 >= w->room) {
		w->room = w->room * 2 + 64;
		w->words = mem_realloc(w->words, (size_t)w->room * sizeof(char *));
	}
	w->words[w->count++] = mem_strdup(word);
	w->words[w->count] = NULL;
}

/* ---- flags of the emulator */

static unsigned long parse_count(const char *flag, const char *text, unsigned long min, unsigned long max)
{
	char *end;
	unsigned long n;

	if (text == NULL)
		erl_args_fail("%s needs a number", flag);
	n = strtoul(text, &end, 10);
	if (end == text || (*end != 0 && *end != ':') || n < min || n > max)
		erl_args_fail("%s takes a number from %lu to %lu, not %s", flag, min, max, text);
	return n;
}

/* How the value of a flag is given that this machine has no use for. */
enum value { VALUE_NONE, VALUE_ATTACHED, VALUE_EITHER, VALUE_NEXT, VALUE_BOOL };

static const struct {
	const char *prefix;
	enum value value;
} unused[] = {
	{ "SP", VALUE_EITHER }, { "SDcpu", VALUE_EITHER }, { "SDPcpu", VALUE_EITHER }, { "SDio", VALUE_EITHER },
	{ "IOPt", VALUE_EITHER }, { "IOPp", VALUE_EITHER }, { "IOt", VALUE_EITHER }, { "IOp", VALUE_EITHER }, { "IOs", VALUE_EITHER },
	{ "JP", VALUE_NEXT }, { "JD", VALUE_NEXT }, { "JM", VALUE_NEXT },
	{ "K", VALUE_EITHER }, { "Q", VALUE_EITHER }, { "t", VALUE_EITHER }, { "e", VALUE_EITHER }, { "a", VALUE_EITHER },
	{ "W", VALUE_EITHER }, { "T", VALUE_EITHER }, { "R", VALUE_EITHER }, { "n", VALUE_EITHER }, { "C", VALUE_EITHER },
	{ "c", VALUE_BOOL }, { "B", VALUE_ATTACHED }, { "f", VALUE_ATTACHED }, { "L", VALUE_NONE }, { "d", VALUE_NONE }, { "l", VALUE_NONE },
	{ "v", VALUE_NONE }, { "h", VALUE_NEXT }, { "M", VALUE_NEXT }, { "s", VALUE_NEXT }, { "z", VALUE_NEXT }, { "r", VALUE_NEXT },
	{ "pc", VALUE_NEXT },
};

static bool is_flag(const char *text)
{
	return text == NULL || ((text[0] == '-' || text[0] == '+') && text[1] != 0);
}

static bool is_bool(const char *text)
{
	return text != NULL && (strcmp(text, "true") == 0 || strcmp(text, "false") == 0);
}

static int skip_unused(char **argv)
{
	for (size_t i = 0; i < sizeof(unused) / sizeof(unused[0]); i++) {
		size_t n = strlen(unused[i].prefix);

		if (strncmp(argv[0] + 1, unused[i].prefix, n) != 0)
			continue;
		switch (unused[i].value) {
		case VALUE_NONE:
		case VALUE_ATTACHED:
			return 1;
		case VALUE_BOOL:
			return is_bool(argv[1]) ? 2 : 1;
		case VALUE_EITHER:
			if (argv[0][1 + n] != 0)
				return 1;
			/* fall through */
		case VALUE_NEXT:
			if (argv[1] == NULL)
				erl_args_fail("%s needs a value", argv[0]);
			return is_flag(argv[1]) ? 1 : 2;
		}
	}
	erl_args_fail("unknown flag %s", argv[0]);
}

int erl_args_emulator_flag(char **argv, struct options *o)
{
	const char *flag = argv[0];
	const char *value = flag[1] != 0 && flag[2] != 0 ? flag + 2 : argv[1];
	int used = flag[1] != 0 && flag[2] != 0 ? 1 : 2;

	switch (flag[1]) {
	case 'S':
		if (flag[2] == 'P' || flag[2] == 'D')
			return skip_unused(argv);
		o->schedulers = (unsigned)parse_count("+S", value, 1, 1024);
		return used;
	case 'A':
		o->async_threads = (unsigned)parse_count("+A", value, 0, 1024);
		o->async_threads += o->async_threads == 0; /* files need one */
		return used;
	case 'P':
		o->processes = strcmp(value != NULL ? value : "", "legacy") == 0 ? o->processes : parse_count("+P", value, 1, 1 << 27);
		return used;
	default:
		return skip_unused(argv);
	}
}

/* ---- words from variables and files */

/* The next word of *text, as a shell would take it: quotes, backslashes, in files comments. Owns: the caller. NULL at the end. */
static char *next_word(const char **text, bool comments)
{
	const char *s = *text;
	char *word, *to;
	char quote = 0;

	for (;;) {
		while (isspace((unsigned char)*s))
			s++;
		if (!comments || *s != '#')
			break;
		s += strcspn(s, "\n");
	}
	if (*s == 0)
		return NULL;
	word = to = mem_alloc(strlen(s) + 1);
	for (; *s != 0 && (quote != 0 || !isspace((unsigned char)*s)); s++) {
		if (quote == 0 && (*s == '"' || *s == '\''))
			quote = *s;
		else if (quote != 0 && *s == quote)
			quote = 0;
		else if (*s == '\\' && s[1] != 0 && quote != '\'')
			*to++ = *++s;
		else
			*to++ = *s;
	}
	*to = 0;
	*text = s;
	return word;
}

static void expand_text(struct words *to, const char *text, bool is_file, unsigned deep);

static void expand_file(struct words *to, const char *name, unsigned deep)
{
	size_t n;
	uint8_t *bytes = name != NULL ? code_path_read(name, &n) : NULL;
	char *text;

	if (bytes == NULL)
		erl_args_fail("cannot read the file of arguments %s", name != NULL ? name : "");
	if (deep == FILES_DEEP)
		erl_args_fail("files of arguments name each other too deep: %s", name);
	text = mem_alloc(n + 1);
	memcpy(text, bytes, n);
	text[n] = 0;
	expand_text(to, text, true, deep + 1);
	mem_free(text);
	mem_free(bytes);
}

static void expand_text(struct words *to, const char *text, bool is_file, unsigned deep)
{
	char *word;

	while ((word = next_word(&text, is_file)) != NULL) {
		if (strcmp(word, "-args_file") == 0) {
			char *name = next_word(&text, is_file);

			expand_file(to, name, deep);
			mem_free(name);
		} else {
			words_add(to, word);
		}
		mem_free(word);
	}
}

static void expand_variable(struct words *to, const char *name)
{
	const char *text = getenv(name);

	if (text != NULL)
		expand_text(to, text, false, 0);
}

/* Everything in the order in which it counts. What stands behind -extra or -- is not looked into for files. */
static void expand_all(struct words *to, char **argv)
{
	struct words after = { 0 };

	expand_variable(to, "ERL_AFLAGS");
	for (; *argv != NULL && strcmp(*argv, "-extra") != 0; argv++) {
		if (strcmp(*argv, "-args_file") == 0) {
			expand_file(to, argv[1], 0);
			if (argv[1] != NULL)
				argv++;
		} else {
			words_add(to, *argv);
		}
	}
	expand_variable(&after, "ERL_FLAGS");
	expand_variable(&after, "ERL_ZFLAGS");
	for (int i = 0; i < after.count; i++)
		words_add(to, after.words[i]);
	for (; *argv != NULL; argv++)
		words_add(to, *argv);
	words_add(to, "");
	to->words[--to->count] = NULL;
}

/* ---- flags that stand for others */

static const char *const noinput[] = { "-noshell", "-noinput", NULL };
static const char *const compile[] = { "-noshell", "-noinput", "-s", "c", "lc_batch", NULL };
static const char *const make[] = { "-noshell", "-noinput", "-s", "make", "all_or_nothing", NULL };

static const struct {
	const char *flag;
	const char *const *stands_for;
} aliases[] = { { "-noinput", noinput }, { "-detached", noinput }, { "-compile", compile }, { "-make", make } };

/* As erl does, on standard error. */
static __attribute__((noreturn)) void print_version(void)
{
	const char *erts = code_path_erts();

	fprintf(stderr, "Erlang (SMP,ASYNC_THREADS) (erlvm) emulator version %s\r\n", erts != NULL ? erts + strlen("erts-") : "unknown");
	exit(0);
}

/* A word of erl itself, or one for init. Returns the words used. */
static int take_flag(char **argv, struct words *boot)
{
	if (strcmp(argv[0], "-env") == 0 && argv[1] != NULL && argv[2] != NULL) {
		setenv(argv[1], argv[2], 1);
		return 3;
	}
	if (strcmp(argv[0], "-version") == 0)
		print_version();
	if (strcmp(argv[0], "-root") == 0 && argv[1] != NULL)
		return 2; /* taken first of all */
	if (strcmp(argv[0], "-detached") == 0 && daemon(1, 0) != 0)
		erl_args_fail("cannot detach: %s", strerror(errno));
	for (size_t i = 0; i < sizeof(aliases) / sizeof(aliases[0]); i++) {
		if (strcmp(argv[0], aliases[i].flag) != 0)
			continue;
		for (const char *const *w = aliases[i].stands_for; *w != NULL; w++)
			words_add(boot, *w);
		return 1;
	}
	words_add(boot, argv[0]);
	return 1;
}

static const char *find_root(char **argv)
{
	for (; *argv != NULL && strcmp(*argv, "-extra") != 0 && strcmp(*argv, "--") != 0; argv++)
		if (strcmp(*argv, "-root") == 0 && argv[1] != NULL)
			return argv[1];
	return NULL;
}

/* As erlexec leaves it for the programs that the VM starts. Returns the directory of programs. */
static char *set_environment(const char *root)
{
	const char *path = getenv("PATH");
	char *erts = code_path_erts();
	size_t n = strlen(root) * 2 + strlen(erts != NULL ? erts : "") + strlen(path != NULL ? path : "") + 32;
	char *bindir = mem_alloc(n), *paths = mem_alloc(n);

	if (erts == NULL)
		erl_args_fail("no Erlang/OTP installation in %s: name its root with -root or ERLVM_ROOT", root);
	snprintf(bindir, n, "%s/%s/bin", root, erts);
	snprintf(paths, n, "%s:%s/bin%s%s", bindir, root, path != NULL ? ":" : "", path != NULL ? path : "");
	if (path == NULL || strncmp(path, bindir, strlen(bindir)) != 0)
		setenv("PATH", paths, 1);
	setenv("ROOTDIR", root, 1);
	setenv("BINDIR", bindir, 1);
	setenv("EMU", "beam", 1);
	setenv("PROGNAME", "erl", 0);
	mem_free(paths);
	mem_free(erts);
	return bindir;
}

static void add_installation(struct words *boot, const char *root, const char *bindir)
{
	const char *home = getenv("HOME");
	const char *const words[] = { "-root", root, "-bindir", bindir, "-progname", getenv("PROGNAME"), "--",
				      "-home", home != NULL ? home : "/", "--" };

	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		words_add(boot, words[i]);
}

void erl_args_parse(char **argv, struct options *o, struct words *boot)
{
	struct words all = { 0 };
	char *bindir;
	int i = 0;

	expand_all(&all, argv);
	if (find_root(all.words) != NULL)
		code_path_set_root(mem_strdup(find_root(all.words)));
	bindir = set_environment(code_path_root());
	add_installation(boot, code_path_root(), bindir);
	mem_free(bindir);
	while (i < all.count && strcmp(all.words[i], "-extra") != 0) {
		if (all.words[i][0] == '+' && all.words[i][1] != 0)
			i += erl_args_emulator_flag(all.words + i, o);
		else
			i += take_flag(all.words + i, boot);
	}
	for (; i < all.count; i++)
		words_add(boot, all.words[i]);
	for (i = 0; i < all.count; i++)
		mem_free(all.words[i]);
	mem_free(all.words);
}
