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

static void add_word(struct words *w, const char *word)
{
	if (w->count + 1 >= w->room) {
		w->room = w->room * 2 + 64;
		w->words = mem_realloc(w->words, (size_t)w->room * sizeof(char *));
	}
	w->words[w->count++] = mem_strdup(word);
	w->words[w->count] = NULL;
}

/* ---- flags of the emulator */

/* A whole number; what stands behind a colon is for the caller. */
static unsigned long parse_count(const char *flag, const char *text, unsigned long min, unsigned long max)
{
	char *end;
	unsigned long n;

	if (text == NULL)
		erl_args_fail("%s needs a number", flag);
	n = strtoul(text, &end, 10);
	if (end == text || *end != 0 || n < min || n > max)
		erl_args_fail("%s takes a number from %lu to %lu, not %s", flag, min, max, text);
	return n;
}

/* Tables of processes and ports have a power of two of places. */
static size_t parse_places(const char *flag, const char *text)
{
	size_t n = parse_count(flag, text, 1024, 1 << 27), places = 1024;

	while (places < n)
		places *= 2;
	return places;
}

static bool parse_choice(const char *flag, const char *text, const char *yes, const char *no)
{
	if (text == NULL || (strcmp(text, yes) != 0 && strcmp(text, no) != 0))
		erl_args_fail("%s takes %s or %s, not %s", flag, yes, no, text != NULL ? text : "nothing");
	return strcmp(text, yes) == 0;
}

/* [N][:M]; one that is not there is 0. */
static void parse_pair(const char *flag, const char *text, unsigned long max, unsigned *n, unsigned *m)
{
	const char *colon = text != NULL ? strchr(text, ':') : NULL;
	char first[16];

	*n = *m = 0;
	if (colon == NULL) {
		*n = (unsigned)parse_count(flag, text, 0, max);
		return;
	}
	snprintf(first, sizeof(first), "%.*s", (int)(colon - text), text);
	if (first[0] != 0)
		*n = (unsigned)parse_count(flag, first, 0, max);
	if (colon[1] != 0)
		*m = (unsigned)parse_count(flag, colon + 1, 0, max);
}

/* [N][:M]: N of them, M in use at first. 0: as many as by default. */
static void set_schedulers(struct options *o, const char *flag, const char *value)
{
	unsigned n, online;

	parse_pair(flag, value, 1024, &n, &online);
	if (n > 0)
		o->schedulers = n;
	if (online > o->schedulers)
		erl_args_fail("%s %s: more schedulers online than there are (%u)", flag, value, o->schedulers);
	if (online > 0)
		o->online = online;
}

/* The same in percent of the cores. */
static unsigned take_percent(unsigned percent, unsigned cores)
{
	unsigned n = cores * percent / 100;

	return n > 0 ? n : 1;
}

static void set_percent(struct options *o, const char *flag, const char *value)
{
	unsigned n, online, cores = o->schedulers;

	parse_pair(flag, value, 100, &n, &online);
	if (n > 0)
		o->schedulers = take_percent(n, cores);
	if (online > 0)
		o->online = take_percent(online, cores);
}

static void set_async(struct options *o, const char *flag, const char *value)
{
	o->async_threads = (unsigned)parse_count(flag, value, 0, 1024);
	o->async_threads += o->async_threads == 0; /* files need one */
}

static void set_processes(struct options *o, const char *flag, const char *value)
{
	if (value == NULL || strcmp(value, "legacy") != 0)
		o->processes = parse_places(flag, value);
}

static void set_ports(struct options *o, const char *flag, const char *value)
{
	if (value == NULL || strcmp(value, "legacy") != 0)
		o->ports = parse_places(flag, value);
}

static void set_atoms(struct options *o, const char *flag, const char *value)
{
	o->atoms = parse_count(flag, value, 8192, INT32_MAX);
}

static void set_tables(struct options *o, const char *flag, const char *value)
{
	size_t n = parse_count(flag, value, 0, INT32_MAX);

	if (n > o->tables)
		o->tables = n;
}

static void set_min_heap(struct options *o, const char *flag, const char *value)
{
	o->min_heap_words = parse_count(flag, value, 1, 1ul << 40);
}

static void set_max_heap(struct options *o, const char *flag, const char *value)
{
	o->max_heap_words = parse_count(flag, value, 0, 1ul << 58);
}

static void set_max_heap_kill(struct options *o, const char *flag, const char *value)
{
	o->max_heap_spares = !parse_choice(flag, value, "true", "false");
}

static void set_max_heap_report(struct options *o, const char *flag, const char *value)
{
	o->max_heap_silent = !parse_choice(flag, value, "true", "false");
}

static void set_messages(struct options *o, const char *flag, const char *value)
{
	o->messages_off_heap = parse_choice(flag, value, "off_heap", "on_heap");
}

static void set_printable(struct options *o, const char *flag, const char *value)
{
	o->printable_unicode = parse_choice(flag, value, "unicode", "latin1");
}

static void set_warnings(struct options *o, const char *flag, const char *value)
{
	if (value == NULL || value[0] == 0 || strchr("wie", value[0]) == NULL || value[1] != 0)
		erl_args_fail("%s takes w, i or e, not %s", flag, value != NULL ? value : "nothing");
	o->warnings = value[0];
}

static void set_break(struct options *o, const char *flag, const char *value)
{
	if (value[0] != 0 && (strchr("dic", value[0]) == NULL || value[1] != 0))
		erl_args_fail("%s takes d, i or c, not %s", flag, value);
	o->on_break = value[0] != 0 ? value[0] : 'd';
}

/* nu, nl or na, then w, i or e: what happens to names in another encoding, which has no effect. */
static void set_file_names(struct options *o, const char *flag, const char *value)
{
	if (value == NULL || value[0] != 'n' || value[1] == 0 || strchr("ula", value[1]) == NULL)
		erl_args_fail("%s takes nu, nl or na, not %s", flag, value != NULL ? value : "nothing");
	o->file_names = value[1] == 'a' ? 0 : value[1];
}

/* Where a flag's value stands. */
enum value { VALUE_NONE, VALUE_ATTACHED, VALUE_EITHER, VALUE_NEXT, VALUE_BOOL };

/* The longest name that fits counts. Without `set`: this machine has no use for it. */
static const struct emulator_flag {
	const char *name;
	enum value value;
	void (*set)(struct options *o, const char *flag, const char *value);
} emulator_flags[] = {
	{ "S", VALUE_EITHER, set_schedulers }, { "SP", VALUE_EITHER, set_percent }, { "A", VALUE_EITHER, set_async },
	{ "P", VALUE_EITHER, set_processes }, { "Q", VALUE_EITHER, set_ports }, { "t", VALUE_EITHER, set_atoms },
	{ "e", VALUE_EITHER, set_tables }, { "hms", VALUE_EITHER, set_min_heap }, { "hmax", VALUE_EITHER, set_max_heap },
	{ "hmaxk", VALUE_EITHER, set_max_heap_kill }, { "hmaxel", VALUE_EITHER, set_max_heap_report }, { "hmqd", VALUE_EITHER, set_messages },
	{ "pc", VALUE_EITHER, set_printable }, { "W", VALUE_EITHER, set_warnings }, { "f", VALUE_ATTACHED, set_file_names },
	{ "SDcpu", VALUE_EITHER, NULL }, { "SDPcpu", VALUE_EITHER, NULL }, { "SDio", VALUE_EITHER, NULL },
	{ "IOPt", VALUE_EITHER, NULL }, { "IOPp", VALUE_EITHER, NULL }, { "IOt", VALUE_EITHER, NULL }, { "IOp", VALUE_EITHER, NULL },
	{ "IOs", VALUE_EITHER, NULL }, { "JP", VALUE_NEXT, NULL }, { "JD", VALUE_NEXT, NULL }, { "JM", VALUE_NEXT, NULL },
	{ "K", VALUE_EITHER, NULL }, { "a", VALUE_EITHER, NULL }, { "T", VALUE_EITHER, NULL }, { "R", VALUE_EITHER, NULL },
	{ "n", VALUE_EITHER, NULL }, { "C", VALUE_EITHER, NULL }, { "c", VALUE_BOOL, NULL }, { "B", VALUE_ATTACHED, set_break },
	{ "L", VALUE_NONE, NULL }, { "d", VALUE_NONE, NULL }, { "l", VALUE_NONE, NULL }, { "v", VALUE_NONE, NULL },
	{ "hmbs", VALUE_EITHER, NULL }, { "hpds", VALUE_EITHER, NULL }, { "M", VALUE_NEXT, NULL }, { "s", VALUE_NEXT, NULL },
	{ "z", VALUE_NEXT, NULL }, { "r", VALUE_NEXT, NULL },
};

static bool is_flag(const char *text)
{
	return text == NULL || ((text[0] == '-' || text[0] == '+') && text[1] != 0);
}

static bool is_bool(const char *text)
{
	return text != NULL && (strcmp(text, "true") == 0 || strcmp(text, "false") == 0);
}

static const struct emulator_flag *find_flag(const char *text)
{
	const struct emulator_flag *best = NULL;

	for (size_t i = 0; i < sizeof(emulator_flags) / sizeof(emulator_flags[0]); i++) {
		const struct emulator_flag *f = &emulator_flags[i];

		if (strncmp(text, f->name, strlen(f->name)) == 0 && (best == NULL || strlen(f->name) > strlen(best->name)))
			best = f;
	}
	return best;
}

int erl_args_emulator_flag(char **argv, struct options *o)
{
	const struct emulator_flag *f = find_flag(argv[0] + 1);
	const char *attached, *value;

	if (f == NULL)
		erl_args_fail("unknown flag %s", argv[0]);
	attached = argv[0] + 1 + strlen(f->name);
	if (f->value == VALUE_NONE)
		return 1;
	if (f->value == VALUE_BOOL)
		return is_bool(argv[1]) ? 2 : 1;
	value = f->value == VALUE_ATTACHED || (f->value == VALUE_EITHER && *attached != 0) ? attached : argv[1];
	if (f->set != NULL)
		f->set(o, argv[0], value);
	else if (value == NULL)
		erl_args_fail("%s needs a value", argv[0]);
	else if (is_flag(value))
		return 1;
	return value == attached ? 1 : 2;
}

/* ---- words from variables and files */

/* The word at s, as a shell would take it: quotes, backslashes. Returns its end. to: where it goes, or NULL. */
static const char *scan_word(const char *s, char *to)
{
	char quote = 0;

	for (; *s != 0 && (quote != 0 || !isspace((unsigned char)*s)); s++) {
		if (quote == 0 && (*s == '"' || *s == '\'')) {
			quote = *s;
			continue;
		}
		if (quote != 0 && *s == quote) {
			quote = 0;
			continue;
		}
		if (*s == '\\' && s[1] != 0 && quote != '\'')
			s++;
		if (to != NULL)
			*to++ = *s;
	}
	if (to != NULL)
		*to = 0;
	return s;
}

/* The next word of *text; in files there are comments. Owns: the caller. NULL at the end. */
static char *next_word(const char **text, bool comments)
{
	const char *s = *text;
	char *word;

	for (;;) {
		while (isspace((unsigned char)*s))
			s++;
		if (!comments || *s != '#')
			break;
		s += strcspn(s, "\n");
	}
	if (*s == 0)
		return NULL;
	*text = scan_word(s, NULL);
	word = mem_alloc((size_t)(*text - s) + 1);
	scan_word(s, word);
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
			add_word(to, word);
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
			add_word(to, *argv);
		}
	}
	expand_variable(&after, "ERL_FLAGS");
	expand_variable(&after, "ERL_ZFLAGS");
	for (int i = 0; i < after.count; i++)
		add_word(to, after.words[i]);
	for (; *argv != NULL; argv++)
		add_word(to, *argv);
	add_word(to, "");
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
	if (strcmp(argv[0], "-env") == 0) {
		if (argv[1] == NULL || argv[2] == NULL)
			erl_args_fail("-env needs a name and a value");
		setenv(argv[1], argv[2], 1);
		return 3;
	}
	if (strcmp(argv[0], "-sname") == 0 || strcmp(argv[0], "-name") == 0)
		erl_args_fail("%s: there is no distribution yet", argv[0]);
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
			add_word(boot, *w);
		return 1;
	}
	add_word(boot, argv[0]);
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
		add_word(boot, words[i]);
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
		if (strcmp(all.words[i], "+V") == 0)
			print_version();
		if (all.words[i][0] == '+' && all.words[i][1] != 0)
			i += erl_args_emulator_flag(all.words + i, o);
		else
			i += take_flag(all.words + i, boot);
	}
	for (; i < all.count; i++)
		add_word(boot, all.words[i]);
	for (i = 0; i < all.count; i++)
		mem_free(all.words[i]);
	mem_free(all.words);
}
