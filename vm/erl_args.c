/* SPDX-License-Identifier: Apache-2.0 */
/* erl's command line. Invariant: words keep their order; -extra ends the reading of flags, here as in init. */
#include "erl_args.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <signal.h>
#include <spawn.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/release.h"
#include "code/code_path.h"
#include "code/coverage.h"
#include "code/line_break.h"
#include "proc/sched.h"
#include "proc/spawn_opts.h"

enum { EPMD_PORT = 4369, EPMD_TRIES = 500, EPMD_PAUSE_NS = 2000000 };

void erl_args_fail(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	fprintf(stderr, "erlvm: ");
	vfprintf(stderr, format, args);
	fprintf(stderr, "; try erlvm --help\n");
	va_end(args);
	exit(1);
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
	unsigned n, online, cores = o->schedulers, usable = o->online;

	parse_pair(flag, value, 100, &n, &online);
	if (n > 0)
		o->schedulers = take_percent(n, cores);
	if (online > 0)
		o->online = take_percent(online, usable);
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
	o->min_heap_words = parse_count(flag, value, 1, HEAP_SIZE_MAX_WORDS);
	if (!heap_can_be_had(o->min_heap_words))
		erl_args_fail("%s %s: there is no memory for a heap of so many words", flag, value);
}

static void set_min_binaries(struct options *o, const char *flag, const char *value)
{
	o->min_bin_vheap_words = parse_count(flag, value, 1, HEAP_SIZE_MAX_WORDS);
}

static void set_fullsweep(struct options *o, const char *flag, const char *value)
{
	o->fullsweep_after = (unsigned)parse_count(flag, value, 0, 65535);
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

static void set_max_heap_binaries(struct options *o, const char *flag, const char *value)
{
	o->max_heap_binaries = parse_choice(flag, value, "true", "false");
}

static void set_messages(struct options *o, const char *flag, const char *value)
{
	o->messages_off_heap = parse_choice(flag, value, "off_heap", "on_heap");
}

/* Units: KiB. */
static void set_dist_busy(struct options *o, const char *flag, const char *value)
{
	o->dist_busy_bytes = parse_count(flag, value, 1, 2097151) * 1024;
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

/* [N][:M], as set_schedulers. There are no more of them, nor online, than schedulers: see erl_args_settle. */
static void set_dirty_cpu(struct options *o, const char *flag, const char *value)
{
	unsigned n, online;

	parse_pair(flag, value, 1024, &n, &online);
	if (n > 0)
		o->dirty_cpu = n;
	if (online > o->dirty_cpu)
		erl_args_fail("%s %s: more dirty CPU schedulers online than there are (%u)", flag, value, o->dirty_cpu);
	if (online > 0)
		o->dirty_cpu_online = online;
	else if (o->dirty_cpu_online > o->dirty_cpu)
		o->dirty_cpu_online = o->dirty_cpu;
}

/* The same in percent of what there would be. */
static void set_dirty_percent(struct options *o, const char *flag, const char *value)
{
	unsigned n, online;

	parse_pair(flag, value, 100, &n, &online);
	if (n > 0)
		o->dirty_cpu_percent = n;
	if (online > 0)
		o->dirty_online_percent = online;
	else if (n > 0 && o->dirty_online_percent > n)
		o->dirty_online_percent = n;
}

static void set_dirty_io(struct options *o, const char *flag, const char *value)
{
	o->dirty_io = (unsigned)parse_count(flag, value, 1, 1024);
}

static void set_poll_threads(struct options *o, const char *flag, const char *value)
{
	o->poll.threads = (unsigned)parse_count(flag, value, 1, 1024);
}

static void set_poll_sets(struct options *o, const char *flag, const char *value)
{
	o->poll.sets = (unsigned)parse_count(flag, value, 1, 1024);
}

static void set_poll_threads_percent(struct options *o, const char *flag, const char *value)
{
	o->poll_threads_percent = (unsigned)parse_count(flag, value, 0, 100);
}

static void set_poll_sets_percent(struct options *o, const char *flag, const char *value)
{
	o->poll_sets_percent = (unsigned)parse_count(flag, value, 0, 100);
}

static void set_scheduler_polling(struct options *o, const char *flag, const char *value)
{
	o->poll.by_schedulers = parse_choice(flag, value, "true", "false");
}

static void set_flush_limit(struct options *o, const char *flag, const char *value)
{
	(void)o;
	atomic_store(&sched_flush_max_ms, value != NULL && strcmp(value, "infinity") == 0
						  ? -1
						  : (int64_t)parse_count(flag, value, 0, INT32_MAX));
}

static void set_coverage(struct options *o, const char *flag, const char *value)
{
	static const struct {
		const char *word;
		Term mode;
	} modes[] = { { "true", am_line_counters }, { "false", am_none },
		      { "line", am_line },          { "line_counters", am_line_counters },
		      { "function", am_function },  { "function_counters", am_function_counters } };
	size_t i = 0;

	(void)o;
	while (i < sizeof(modes) / sizeof(modes[0]) && (value == NULL || strcmp(modes[i].word, value) != 0))
		i++;
	if (i == sizeof(modes) / sizeof(modes[0]))
		erl_args_fail("%s takes true, false, line, line_counters, function or function_counters, not %s", flag,
			      value != NULL ? value : "nothing");
	coverage_set_mode(modes[i].mode);
}

static unsigned between(unsigned n, unsigned most)
{
	return n < 1 ? 1 : n > most ? most : n;
}

static void settle_poll(struct options *o)
{
	if (o->poll.threads == 0)
		o->poll.threads = take_percent(o->poll_threads_percent, o->schedulers);
	if (o->poll.sets == 0)
		o->poll.sets = take_percent(o->poll_sets_percent, o->poll.threads);
	if (o->poll.sets > o->poll.threads)
		erl_args_fail("+IOp %u: more poll sets than poll threads (+IOt %u)", o->poll.sets, o->poll.threads);
}

void erl_args_settle(struct options *o)
{
	if (o->online > o->schedulers)
		o->online = o->schedulers;
	o->dirty_cpu = between(o->dirty_cpu * o->dirty_cpu_percent / 100, o->schedulers);
	o->dirty_cpu_online = between(o->dirty_cpu_online * o->dirty_online_percent / 100, o->online);
	o->dirty_cpu_online = between(o->dirty_cpu_online, o->dirty_cpu);
	settle_poll(o);
}

static void set_debuggers(struct options *o, const char *flag, const char *value)
{
	(void)o;
	(void)flag;
	(void)value;
	line_break_support(true);
}

static void set_line_breaks(struct options *o, const char *flag, const char *value)
{
	(void)o;
	if (value == NULL || (strcmp(value, "true") != 0 && strcmp(value, "false") != 0))
		erl_args_fail("%s takes true or false, not %s", flag, value != NULL ? value : "nothing");
	line_break_ask(strcmp(value, "true") == 0);
}

static void set_native(struct options *o, const char *flag, const char *value)
{
	static const char *const words[] = { "", "off", "hot", "all", "leaving" }; /* by enum native_mode */

	for (size_t i = NATIVE_OFF; i < sizeof words / sizeof *words; i++)
		if (value != NULL && strcmp(value, words[i]) == 0) {
			o->native = (enum native_mode)i;
			return;
		}
	erl_args_fail("%s takes all, hot or off, not %s", flag, value != NULL ? value : "nothing");
}

/* fp and no_fp are about frame pointers, which there always are. */
static void set_perf(struct options *o, const char *flag, const char *value)
{
	static const struct { const char *word; bool map, dump; } words[] = {
		{ "true", true, true }, { "false", false, false }, { "map", true, false }, { "dump", false, true },
		{ "fp", true, false }, { "no_fp", true, false },
	};

	for (size_t i = 0; i < sizeof words / sizeof *words; i++)
		if (value != NULL && strcmp(value, words[i].word) == 0) {
			o->perf_map = words[i].map;
			o->perf_dump = words[i].dump;
			return;
		}
	erl_args_fail("%s takes true, false, map, dump, fp or no_fp, not %s", flag, value != NULL ? value : "nothing");
}

/* Where a flag's value stands. One that is attached may be the next argument, if it is one of the flag's words. */
enum value { VALUE_NONE, VALUE_ATTACHED, VALUE_EITHER, VALUE_NEXT, VALUE_BOOL };

#define BOOL "true|false"
#define WAIT "none|very_short|short|medium|long|very_long"
#define WAKE "very_low|low|medium|high|very_high"
#define BIND "u|ns|ts|ps|s|nnts|nnps|tnnps|db"

/* The longest name that fits counts. Without `set`: this machine has no use for it; what erl would refuse is refused
 * all the same. */
static const struct emulator_flag {
	const char *name;
	enum value value;
	void (*set)(struct options *o, const char *flag, const char *value);
	const char *words;      /* one of these, or */
	unsigned long min, max; /* a number; max 0: anything */
} emulator_flags[] = {
	{ "S", VALUE_EITHER, set_schedulers, NULL, 0, 0 },
	{ "SP", VALUE_EITHER, set_percent, NULL, 0, 0 },
	{ "A", VALUE_EITHER, set_async, NULL, 0, 0 },
	{ "P", VALUE_EITHER, set_processes, NULL, 0, 0 },
	{ "Q", VALUE_EITHER, set_ports, NULL, 0, 0 },
	{ "t", VALUE_EITHER, set_atoms, NULL, 0, 0 },
	{ "e", VALUE_EITHER, set_tables, NULL, 0, 0 },
	{ "h", VALUE_EITHER, set_min_heap, NULL, 0, 0 },
	{ "hms", VALUE_EITHER, set_min_heap, NULL, 0, 0 },
	{ "hmbs", VALUE_EITHER, set_min_binaries, NULL, 0, 0 },
	{ "hmax", VALUE_EITHER, set_max_heap, NULL, 0, 0 },
	{ "hmaxk", VALUE_EITHER, set_max_heap_kill, NULL, 0, 0 },
	{ "hmaxel", VALUE_EITHER, set_max_heap_report, NULL, 0, 0 },
	{ "hmaxib", VALUE_EITHER, set_max_heap_binaries, NULL, 0, 0 },
	{ "hmqd", VALUE_EITHER, set_messages, NULL, 0, 0 },
	{ "pc", VALUE_EITHER, set_printable, NULL, 0, 0 },
	{ "W", VALUE_EITHER, set_warnings, NULL, 0, 0 },
	{ "f", VALUE_ATTACHED, set_file_names, NULL, 0, 0 },
	{ "B", VALUE_ATTACHED, set_break, "i|c|d", 0, 0 },
	{ "SDcpu", VALUE_EITHER, set_dirty_cpu, NULL, 0, 0 },
	{ "SDPcpu", VALUE_EITHER, set_dirty_percent, NULL, 0, 0 },
	{ "SDio", VALUE_EITHER, set_dirty_io, NULL, 0, 0 },
	{ "IOt", VALUE_EITHER, set_poll_threads, NULL, 0, 0 },
	{ "IOp", VALUE_EITHER, set_poll_sets, NULL, 0, 0 },
	{ "IOPt", VALUE_EITHER, set_poll_threads_percent, NULL, 0, 0 },
	{ "IOPp", VALUE_EITHER, set_poll_sets_percent, NULL, 0, 0 },
	{ "IOs", VALUE_EITHER, set_scheduler_polling, NULL, 0, 0 },
	{ "JIT", VALUE_EITHER, set_native, NULL, 0, 0 },
	{ "JPperf", VALUE_EITHER, set_perf, NULL, 0, 0 },
	{ "JPcover", VALUE_EITHER, set_coverage, NULL, 0, 0 },
	{ "JDdump", VALUE_EITHER, NULL, BOOL, 0, 0 },
	{ "K", VALUE_EITHER, NULL, NULL, 0, 0 },
	{ "a", VALUE_EITHER, NULL, NULL, 16, 8192 },
	{ "T", VALUE_EITHER, NULL, NULL, 0, 9 },
	{ "R", VALUE_EITHER, NULL, NULL, 23, 25 },
	{ "n", VALUE_EITHER, NULL, "s|a|d", 0, 0 },
	{ "C", VALUE_EITHER, NULL, "no_time_warp|single_time_warp|multi_time_warp", 0, 0 },
	{ "c", VALUE_BOOL, NULL, NULL, 0, 0 },
	{ "L", VALUE_NONE, NULL, NULL, 0, 0 },
	{ "d", VALUE_NONE, NULL, NULL, 0, 0 },
	{ "D", VALUE_NONE, set_debuggers, NULL, 0, 0 },
	{ "Dibpl", VALUE_EITHER, set_line_breaks, NULL, 0, 0 },
	{ "v", VALUE_NONE, NULL, NULL, 0, 0 },
	{ "r", VALUE_NONE, NULL, NULL, 0, 0 },
	{ "rg", VALUE_EITHER, NULL, NULL, 0, INT32_MAX },
	{ "hpds", VALUE_EITHER, NULL, NULL, 1, INT32_MAX },
	{ "M", VALUE_NEXT, NULL, NULL, 0, 0 },
	{ "sbt", VALUE_EITHER, NULL, BIND, 0, 0 },
	{ "stbt", VALUE_EITHER, NULL, BIND, 0, 0 },
	{ "sbwt", VALUE_EITHER, NULL, WAIT, 0, 0 },
	{ "sbwtdcpu", VALUE_EITHER, NULL, WAIT, 0, 0 },
	{ "sbwtdio", VALUE_EITHER, NULL, WAIT, 0, 0 },
	{ "swt", VALUE_EITHER, NULL, WAKE, 0, 0 },
	{ "swtdcpu", VALUE_EITHER, NULL, WAKE, 0, 0 },
	{ "swtdio", VALUE_EITHER, NULL, WAKE, 0, 0 },
	{ "swct", VALUE_EITHER, NULL, "very_eager|eager|medium|lazy|very_lazy", 0, 0 },
	{ "sws", VALUE_EITHER, NULL, "default|legacy", 0, 0 },
	{ "scl", VALUE_EITHER, NULL, BOOL, 0, 0 },
	{ "secio", VALUE_EITHER, NULL, NULL, 0, 0 },
	{ "spp", VALUE_EITHER, NULL, BOOL, 0, 0 },
	{ "sub", VALUE_EITHER, NULL, BOOL, 0, 0 },
	{ "sct", VALUE_EITHER, NULL, NULL, 0, 0 },
	{ "ssrct", VALUE_NONE, NULL, NULL, 0, 0 },
	{ "sfwi", VALUE_EITHER, NULL, NULL, 0, INT32_MAX },
	{ "sss", VALUE_EITHER, NULL, NULL, 20, 8192 },
	{ "sssdcpu", VALUE_EITHER, NULL, NULL, 20, 8192 },
	{ "sssdio", VALUE_EITHER, NULL, NULL, 20, 8192 },
	{ "zdbbl", VALUE_EITHER, set_dist_busy, NULL, 0, 0 },
	{ "zdntgc", VALUE_EITHER, NULL, NULL, 0, 100000000 },
	{ "zhft", VALUE_EITHER, set_flush_limit, NULL, 0, 0 },
	{ "zebwt", VALUE_EITHER, NULL, WAIT, 0, 0 },
	{ "zosrl", VALUE_EITHER, NULL, NULL, 1, 134217727 },
};

static bool is_bool(const char *text)
{
	return text != NULL && (strcmp(text, "true") == 0 || strcmp(text, "false") == 0);
}

static const struct emulator_flag *find_flag(const char *text)
{
	const struct emulator_flag *best = NULL;

	for (size_t i = 0; i < sizeof(emulator_flags) / sizeof(emulator_flags[0]); i++) {
		const struct emulator_flag *f = &emulator_flags[i];

		if (strncmp(text, f->name, strlen(f->name)) == 0 &&
		    (best == NULL || strlen(f->name) > strlen(best->name)))
			best = f;
	}
	return best;
}

static bool is_one_of(const char *words, const char *word)
{
	size_t n = strlen(word);

	for (const char *w = words; w != NULL; w = strchr(w, '|') != NULL ? strchr(w, '|') + 1 : NULL)
		if (strncmp(w, word, n) == 0 && (w[n] == '|' || w[n] == 0))
			return true;
	return false;
}

static void check_unused(const struct emulator_flag *f, const char *flag, const char *value)
{
	if (value == NULL)
		erl_args_fail("%s needs a value", flag);
	if (f->words != NULL && !is_one_of(f->words, value))
		erl_args_fail("%s takes one of %s, not %s", flag, f->words, value);
	if (f->max > 0)
		parse_count(flag, value, f->min, f->max);
}

static bool is_attached(const struct emulator_flag *f, const char *attached, const char *next)
{
	if (*attached != 0)
		return f->value == VALUE_ATTACHED || f->value == VALUE_EITHER;
	return f->value == VALUE_ATTACHED && (next == NULL || !is_one_of(f->words, next));
}

int erl_args_emulator_flag(char **argv, struct options *o)
{
	const struct emulator_flag *f = find_flag(argv[0] + 1);
	const char *attached, *value;

	if (f == NULL)
		erl_args_fail("unknown flag %s", argv[0]);
	attached = argv[0] + 1 + strlen(f->name);
	if (f->value == VALUE_NONE && f->set != NULL) {
		if (*attached != 0)
			erl_args_fail("unknown flag %s", argv[0]);
		f->set(o, argv[0], NULL);
	}
	if (f->value == VALUE_NONE)
		return 1;
	if (f->value == VALUE_BOOL)
		return is_bool(argv[1]) ? 2 : 1;
	value = is_attached(f, attached, argv[1]) ? attached : argv[1];
	if (f->set != NULL)
		f->set(o, argv[0], value);
	else
		check_unused(f, argv[0], value);
	return value == attached ? 1 : 2;
}

/* What the variables say that stand for flags: a number too small or too large counts as the next one that may be. */
static void read_variables(struct options *o)
{
	static const struct {
		const char *name;
		unsigned long min, max;
		void (*set)(struct options *o, const char *flag, const char *value);
	} variables[] = { { "ERL_MAX_PORTS", 1024, 1 << 27, set_ports },
			  { "ERL_MAX_ETS_TABLES", 0, INT32_MAX, set_tables },
			  { "ERL_THREAD_POOL_SIZE", 1, 1024, set_async },
			  { "ERL_FULLSWEEP_AFTER", 0, 65535, set_fullsweep } };
	char number[32];

	for (size_t i = 0; i < sizeof(variables) / sizeof(variables[0]); i++) {
		const char *text = getenv(variables[i].name);
		unsigned long n = text != NULL ? strtoul(text, NULL, 10) : 0;

		if (text == NULL)
			continue;
		n = n < variables[i].min ? variables[i].min : n > variables[i].max ? variables[i].max : n;
		snprintf(number, sizeof(number), "%lu", n);
		variables[i].set(o, variables[i].name, number);
	}
}

/* ---- flags that stand for others */

static const char *const noinput[] = { "-noshell", "-noinput", NULL };
static const char *const compile[] = { "-noshell", "-noinput", "-s", "c", "lc_batch", NULL };
static const char *const make[] = {
	"-noshell", "-noinput", "-s", "make", "all_or_nothing", "-s", "erlang", "halt", NULL
};

static const struct alias {
	const char *flag;
	const char *const *stands_for;
	bool batch, last; /* Ctrl-C ends it; nothing counts that stands behind it */
} aliases[] = { { "-noinput", noinput, false, false }, { "-detached", noinput, false, false },
		{ "-compile", compile, true, false }, { "-make", make, true, true } };

/* As erl does, on standard error. */
static __attribute__((noreturn)) void print_version(void)
{
	const char *erts = code_path_erts();

	fprintf(stderr, "Erlang (SMP,ASYNC_THREADS) (erlvm) emulator version %s\r\n",
		erts != NULL ? erts + strlen("erts-") : "unknown");
	exit(0);
}

static __attribute__((noreturn)) void show_manual(char **argv)
{
	argv[0] = "man";
	execvp("man", argv);
	erl_args_fail("cannot run man: %s", strerror(errno));
}

static const struct alias *find_alias(const char *flag)
{
	for (size_t i = 0; i < sizeof(aliases) / sizeof(aliases[0]); i++)
		if (strcmp(flag, aliases[i].flag) == 0)
			return &aliases[i];
	return NULL;
}

static int take_alias(const struct alias *a, char **argv, struct options *o, struct words *boot)
{
	for (const char *const *w = a->stands_for; *w != NULL; w++)
		words_add(boot, *w);
	if (a->batch)
		o->on_break = 'd';
	return a->last ? words_count(argv) : 1;
}

/* A word of erl itself, or one for init. Returns the words used. */
static int take_flag(char **argv, struct options *o, struct words *boot)
{
	const struct alias *alias = find_alias(argv[0]);

	if (strcmp(argv[0], "+V") == 0 || strcmp(argv[0], "-version") == 0)
		print_version();
	if (argv[0][0] == '+' && argv[0][1] != 0)
		return erl_args_emulator_flag(argv, o);
	if (strcmp(argv[0], "-env") == 0) {
		if (argv[1] == NULL || argv[2] == NULL)
			erl_args_fail("-env needs a name and a value");
		setenv(argv[1], argv[2], 1);
		return 3;
	}
	if (strcmp(argv[0], "-man") == 0)
		show_manual(argv);
	if (strcmp(argv[0], "-root") == 0 && argv[1] != NULL)
		return 2; /* taken first of all */
	if (strcmp(argv[0], "-detached") == 0 && daemon(1, 0) != 0)
		erl_args_fail("cannot detach: %s", strerror(errno));
	if (alias != NULL)
		return take_alias(alias, argv, o, boot);
	words_add(boot, argv[0]);
	return 1;
}

static const char *find_root(const struct words *flags)
{
	for (int i = 0; i + 1 < flags->count; i++)
		if (strcmp(flags->words[i], "-root") == 0)
			return flags->words[i + 1];
	return NULL;
}

void erl_args_use_library(void)
{
	char *erts = code_path_erts(), *stray, known[64];
	int number = erts != NULL ? release_of_erts(erts + strlen("erts-")) : release_current->number;
	const struct release *r = release_find(number);

	mem_free(erts);
	release_name_known(known, sizeof(known));
	if (r == NULL)
		erl_args_fail("the library in %s is of Erlang/OTP %d, and erlvm runs that of %s: name its root with "
			      "-root or ERLVM_ROOT", code_path_root(), number, known);
	release_use(r);
	if ((stray = code_path_stray()) != NULL)
		erl_args_fail("the library in %s is of several releases: lib/%s is not of Erlang/OTP %s, of which its "
			      "ERTS is", code_path_root(), stray, r->text);
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
	const char *home = getenv("HOME"), *epmd_port = getenv("ERL_EPMD_PORT");
	const char *const words[] = { "-root", root, "-bindir", bindir, "-progname", getenv("PROGNAME"), "--",
				      home != NULL ? "-home" : NULL, home,
				      epmd_port != NULL ? "-epmd_port" : NULL, epmd_port, "--" };

	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		if (words[i] != NULL)
			words_add(boot, words[i]);
}

/* Has the VM a name, so that other nodes look for it at epmd, and is that to be started? As erl decides. */
static bool wants_epmd(const struct words *flags)
{
	bool named = false;

	for (int i = 0; i < flags->count; i++) {
		const char *flag = flags->words[i], *value = i + 1 < flags->count ? flags->words[i + 1] : "";

		named = named || strcmp(flag, "-sname") == 0 || strcmp(flag, "-name") == 0;
		if (strcmp(flag, "-no_epmd") == 0 || (strcmp(flag, "-start_epmd") == 0 && strcmp(value, "false") == 0))
			return false;
	}
	return named;
}

static bool epmd_answers(void)
{
	const char *port = getenv("ERL_EPMD_PORT");
	struct sockaddr_in to = { .sin_family = AF_INET, .sin_addr = { htonl(INADDR_LOOPBACK) },
				  .sin_port = htons((uint16_t)(port != NULL ? atoi(port) : EPMD_PORT)) };
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	bool ok = fd >= 0 && connect(fd, (struct sockaddr *)&to, sizeof(to)) == 0;

	if (fd >= 0)
		close(fd);
	return ok;
}

/* A daemon's first process ends before the daemon listens. We start so fast that net_kernel would be there earlier, and
 * it asks once. */
static void await_epmd(void)
{
	const struct timespec pause = { .tv_nsec = EPMD_PAUSE_NS };

	for (int i = 0; i < EPMD_TRIES && !epmd_answers(); i++)
		nanosleep(&pause, NULL);
}

/* One that runs already says so, and ends. */
static void start_epmd(const char *bindir)
{
	size_t n = strlen(bindir) + sizeof("/epmd");
	char *program = mem_alloc(n);
	char *argv[] = { program, "-daemon", NULL };
	posix_spawnattr_t attributes;
	sigset_t signals;
	pid_t pid;

	snprintf(program, n, "%s/epmd", bindir);
	sigemptyset(&signals);
	sigaddset(&signals, SIGPIPE);
	posix_spawnattr_init(&attributes);
	posix_spawnattr_setsigdefault(&attributes, &signals);
	posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGDEF);
	if (posix_spawn(&pid, program, NULL, &attributes, argv, environ) == 0)
		waitpid(pid, NULL, 0);
	posix_spawnattr_destroy(&attributes);
	mem_free(program);
	await_epmd();
}

void erl_args_parse(char **argv, struct options *o, struct words *boot)
{
	struct words flags = { 0 }, plain = { 0 };
	char *bindir;

	erl_words_expand(argv, &flags, &plain);
	if (find_root(&flags) != NULL)
		code_path_set_root(mem_strdup(find_root(&flags)));
	erl_args_use_library();
	words_clear(&flags);
	words_clear(&plain);
	erl_words_expand(argv, &flags, &plain);
	erl_words_put_release(&flags, &plain);
	bindir = set_environment(code_path_root());
	add_installation(boot, code_path_root(), bindir);
	if (wants_epmd(&flags))
		start_epmd(bindir);
	mem_free(bindir);
	read_variables(o);
	for (int i = 0; i < flags.count;)
		i += take_flag(flags.words + i, o, boot);
	if (plain.count > 0)
		words_add(boot, "-extra");
	for (int i = 0; i < plain.count; i++)
		words_add(boot, plain.words[i]);
	words_clear(&flags);
	words_clear(&plain);
}
