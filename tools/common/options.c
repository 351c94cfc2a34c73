/* SPDX-License-Identifier: Apache-2.0 */
/* Invariant: a struct options that was parsed without failure is consistent: one target at most. */
#include "options.h"

#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "fail.h"
#include "nearest.h"

enum {
    LONG_EVENTS = 256,
    LONG_BUDGET,
    LONG_READY,
    LONG_FORM, /* and the number of the form */
    LONG_EXTRA = LONG_FORM + OPTIONS_FORMS,
    HELP_WIDTH = 80,
    HELP_INDENT = 17
};

const char *const options_forms[OPTIONS_FORMS] = {
#define SINK(stem, option, text) option,
#include "sinks.def"
};


static const char DEFAULT_BUDGET[] = "10%";

static const struct options_extra *find_extra(const struct options_spec *spec, const char *name)
{
    for (const struct options_extra *x = spec->extras; x && x->name; x++)
        if (!strcmp(x->name, name))
            return x;
    return NULL;
}

/* Breaks lines between words; those that follow a break are indented. `column`: where the text begins. */
static void print_words(const char *text, size_t column, int indent)
{
    while (*text) {
        size_t word = strcspn(text, " \n"), blanks = strspn(text + word, " ");
        size_t next = word + blanks + strcspn(text + word + blanks, " \n");
        bool ends = text[word] == '\n', full = column + next > HELP_WIDTH;

        printf("%.*s", (int)word, text);
        text += word;
        if (ends)
            printf("\n");
        else if (*text && full)
            printf("\n%*s", indent, "");
        else
            printf("%*s", (int)blanks, "");
        column = ends ? 0 : full ? (size_t)indent : column + word + blanks;
        text += ends ? 1 : blanks;
    }
}

/* An option's line; its text stands below where the name leaves too little room. */
static void print_extra(const struct options_extra *x)
{
    char name[64];

    snprintf(name, sizeof name, "%s%s %s", x->name[1] ? "--" : "-", x->name, x->metavar ? x->metavar : "");
    printf(strlen(name) > 14 ? "  %s\n                 " : "  %-14s ", name);
    print_words(x->text, HELP_INDENT, HELP_INDENT);
    printf("\n");
}

static void print_forms(void)
{
    static const char *const texts[OPTIONS_FORMS] = {
#define SINK(stem, option, text) text,
#include "sinks.def"
    };

    for (unsigned i = 1; i < OPTIONS_FORMS; i++)
        printf("  --%-12s %s\n", options_forms[i], texts[i]);
}

static void print_help(const struct options_spec *spec)
{
    const struct options_extra *words = find_extra(spec, "");
    unsigned a = spec->accepts;

    printf("Usage: erlsnoop %s%s%s [options]%s%s%s%s\n", spec->command, spec->operands ? " " : "",
           spec->operands ? spec->operands : "",
           a & OPTIONS_PACE ? " [interval [count]]" : "", words ? " " : "", words ? words->metavar : "",
           (a & OPTIONS_TARGET) == OPTIONS_TARGET ? " [-- CMD ARGS]" : "");
    print_words(spec->text, 0, 0);
    printf("\n\n");
    if (a & OPTIONS_PID)
        printf("  -p PID         %s the VM with this process id, or of this name\n",
               (a & OPTIONS_TARGET) == OPTIONS_TARGET ? "watch" : "only");
    if ((a & OPTIONS_TARGET) == OPTIONS_TARGET)
        printf("  -a             watch every VM, those started later too once found\n"
               "  -- CMD ARGS    start this command, and watch it until it ends\n");
    if (a & OPTIONS_PACE)
        printf("  interval       seconds between results; without, one result at the end\n"
               "  count          how many results\n"
               "  -T             print the time with each result\n");
    if (a & OPTIONS_BUDGET)
        printf("  --budget SHARE at most this share of the VM's processor time (10%%), or off\n");
    if ((a & OPTIONS_TARGET) == OPTIONS_TARGET)
        printf("  --ready-fd N   write a byte to descriptor N once every probe is on\n");
    if (a & OPTIONS_EVENTS)
        printf("  --events       print each event as it happens\n");
    if (a & OPTIONS_VERBOSE)
        printf("  -v             each event of each VM, those too that cannot be had\n");
    if (words)
        printf(strlen(words->metavar) > 14 ? "  %s\n                 %s\n" : "  %-14s %s\n", words->metavar,
               words->text);
    for (const struct options_extra *x = spec->extras; x && x->name; x++)
        if (x->name[0] && x->text)
            print_extra(x);
    if (!(a & OPTIONS_NO_RESULTS))
        print_forms();
    printf("  -h, --help     print this\n");
}

int options_number(const char *what, const char *text, uint64_t least, uint64_t most, uint64_t *out)
{
    char *end;

    errno = 0;
    *out = strtoull(text, &end, 10);
    if (errno || *end || *text < '0' || *text > '9' || *out < least || *out > most)
        return fail(FAIL_USAGE, "%s must be a number from %llu to %llu, not '%s'", what,
                    (unsigned long long)least, (unsigned long long)most, text);
    return 0;
}

/* `a, b or c` of a|b|c. */
static void print_choices(const char *choices, char *out, size_t size)
{
    size_t length = 0;

    for (; *choices && length < size; choices++) {
        const char *between = *choices != '|' ? (char[]){*choices, '\0'} : strchr(choices + 1, '|') ? ", " : " or ";

        length += (size_t)snprintf(out + length, size - length, "%s", between);
    }
}

int options_choice(const char *what, const char *choices, const char *text, unsigned *out)
{
    size_t length = strlen(text);
    char all[128];

    *out = 0;
    for (const char *at = choices; at; (*out)++) {
        if (length && strcspn(at, "|") == length && !memcmp(at, text, length))
            return 0;
        at = strchr(at, '|');
        at += at ? 1 : 0;
    }
    print_choices(choices, all, sizeof all);
    return fail(FAIL_USAGE, "%s must be %s, not '%s'", what, all, text);
}

/* A decimal number without a sign and an exponent; *end is `text` when there is none. */
static double read_decimal(const char *text, char **end)
{
    size_t digits = strspn(text, "0123456789.");
    double number = strtod(text, end);

    if (*end == text + digits)
        return number;
    *end = (char *)text;
    return 0;
}

int options_ns(const char *what, const char *text, uint64_t *out)
{
    static const struct {
        const char *name;
        double ns;
    } units[] = {{"ns", 1}, {"us", 1e3}, {"ms", 1e6}, {"s", 1e9}};
    char *end;
    double number = read_decimal(text, &end);

    for (size_t i = 0; i < sizeof units / sizeof *units; i++) {
        if (end == text || strcmp(end, units[i].name) || !(number * units[i].ns <= 3600e9))
            continue;
        *out = (uint64_t)(number * units[i].ns);
        return 0;
    }
    return fail(FAIL_USAGE, "%s must be a time with its unit, such as 5ms (ns, us, ms, s; an hour at most), not '%s'",
                what, text);
}

int options_bytes(const char *what, const char *text, uint64_t *out)
{
    static const char units[] = "KMG";
    char *end;
    double number = read_decimal(text, &end);
    const char *unit = end > text && *end ? strchr(units, *end) : NULL;

    if (unit && !end[1])
        number *= (double)(1024ull << 10 * (unit - units));
    if (!unit || end[1] || !(number >= 64 << 10 && number <= 1e15))
        return fail(FAIL_USAGE, "%s must be a size with its unit, such as 64M (K, M, G; 64K at least), not '%s'", what,
                    text);
    *out = (uint64_t)number;
    return 0;
}

/* A share such as 10%, or off, which is 0. */
static int parse_budget(const char *what, const char *text, double *out)
{
    char *end;
    double percent = read_decimal(text, &end);

    *out = 0;
    if (!strcmp(text, "off"))
        return 0;
    if (end == text || strcmp(end, *end ? "%" : "") || !(percent >= 0.1 && percent <= 100))
        return fail(FAIL_USAGE, "%s must be a share of processor time from 0.1%% to 100%%, or off, not '%s'", what,
                    text);
    *out = percent / 100;
    return 0;
}

static int default_budget(double *out)
{
    const char *said = getenv("ERLSNOOP_BUDGET");

    return parse_budget("ERLSNOOP_BUDGET", said ? said : DEFAULT_BUDGET, out);
}

bool options_is_interval(const char *text, uint64_t *ns)
{
    char *end;
    double seconds = read_decimal(text, &end);

    if (*end || end == text || !(seconds >= 0.01 && seconds <= 86400))
        return false;
    *ns = (uint64_t)(seconds * 1e9);
    return true;
}

/* A name in place of an interval may be that of a VM. */
static int parse_interval(const struct options_spec *spec, const char *text, uint64_t *ns)
{
    bool names = spec->accepts & OPTIONS_PID && !spec->operands && *text && !strpbrk(text, "-0123456789");

    if (options_is_interval(text, ns))
        return 0;
    return fail(FAIL_USAGE, "interval must be seconds from 0.01 to 86400, not '%s'%s%s", text,
                names ? "; the VM of that name is meant with -p " : "", names ? text : "");
}

static int parse_positional(const struct options_spec *spec, int n, char **words, struct options *out)
{
    const struct options_extra *extra = find_extra(spec, "");
    bool paced = spec->accepts & OPTIONS_PACE;
    int err = 0;

    for (int i = 0; extra && i < n && !err; i++)
        err = extra->set(spec->ctx, words[i]);
    if (extra)
        return err;
    if (n > 0 && paced && parse_interval(spec, words[0], &out->interval_ns)) /* what is wrong first is told */
        return FAIL_USAGE;
    if (n > (paced ? 2 : 0))
        return fail(FAIL_USAGE, "unexpected argument '%s'; see erlsnoop %s -h", words[n - 1],
                    spec->command);
    if (n > 1)
        return options_number("count", words[1], 1, 1000000000, &out->count);
    return 0;
}

/* By its number, or its letter. */
static int apply_extra(const struct options_spec *spec, int opt, struct options *out)
{
    const struct options_extra *x =
        opt < LONG_EXTRA ? find_extra(spec, (char[]){(char)opt, '\0'}) : &spec->extras[opt - LONG_EXTRA];

    if (x->of_events)
        out->of_events = x->name;
    return x->set(spec->ctx, optarg);
}

/* It is ours alone: a command that we start is not to hold it open. */
static int take_ready_fd(const char *text, int *out)
{
    uint64_t number;

    if (options_number("--ready-fd", text, 0, INT_MAX, &number))
        return FAIL_USAGE;
    *out = (int)number;
    if (fcntl(*out, F_GETFL) < 0 || (fcntl(*out, F_GETFL) & O_ACCMODE) == O_RDONLY)
        return fail(FAIL_USAGE, "--ready-fd must be a descriptor that is open for writing, not %d", *out);
    if (*out > STDERR_FILENO)
        fcntl(*out, F_SETFD, FD_CLOEXEC);
    return 0;
}

/* A process id, or what is none of a process, the name of a VM. */
static int take_vm(const char *text, struct options *out)
{
    uint64_t number;

    out->name = strspn(text, "+-.0123456789") < strlen(text) ? text : NULL;
    if (out->name)
        return 0;
    if (options_number("-p", text, 1, 4194304, &number))
        return FAIL_USAGE;
    out->pid = (int)number;
    return 0;
}

static int take_form(enum options_form form, struct options *out)
{
    if (out->form && out->form != form)
        return fail(FAIL_USAGE, "choose one of --%s and --%s", options_forms[out->form], options_forms[form]);
    out->form = form;
    return 0;
}

static int apply(const struct options_spec *spec, int opt, struct options *out)
{
    if (opt >= LONG_FORM && opt < LONG_EXTRA)
        return take_form((enum options_form)(opt - LONG_FORM), out);
    switch (opt) {
    case 'h':
        print_help(spec);
        out->done = true;
        return 0;
    case 'p': return take_vm(optarg, out);
    case 'a': out->all = true; return 0;
    case 'T': out->timestamps = true; return 0;
    case 'v': out->verbose = true; return 0;
    case LONG_EVENTS: out->events = true; return 0;
    case LONG_READY: return take_ready_fd(optarg, &out->ready_fd);
    case LONG_BUDGET:
        out->budget_said = true;
        return parse_budget("--budget", optarg, &out->budget);
    default: return apply_extra(spec, opt, out);
    }
}

/* ---- what was meant by an option that there is not */

/*
 * What who comes from other tools types, with spaces between, and the option that it is here; `of`: a command that has
 * it where this one has not, or NULL.
 */
static const struct {
    const char *words, *option, *of;
} alike[] = {
    {"F f freq frequency", "--hz", "stacks"},
    {"pid process P", "-p", NULL},
    {"all A", "-a", NULL},
    {"t timestamp timestamps time", "-T", NULL},
    {"o output", "-o", "trace"},
    {"g callgraph call-graph flame flamegraph", "--svg", "stacks"},
    {"limit rows", "--top", NULL},
    {"sort-by order", "--sort", "ps"},
    {"quiet q verbose V", "-v", NULL},
};
static const char pace_words[] = "i interval d duration n c count for seconds s";

/* Whether the word is one of those, which have spaces between. */
bool options_has_word(const char *words, const char *word)
{
    for (size_t length; *words; words += length + strspn(words + length, " ")) {
        length = strcspn(words, " ");
        if (strlen(word) == length && !strncmp(word, words, length))
            return true;
    }
    return false;
}

bool options_is_flag(const char *word)
{
    for (size_t i = 1; i < OPTIONS_FORMS; i++)
        if (!strncmp(word, "--", 2) && !strcmp(word + 2, options_forms[i]))
            return true;
    return options_has_word("-a -T -v -h --help --events", word);
}

/* Whether the command has this option, which is written with its dashes. */
static bool takes(const struct option *longs, const char *shorts, const char *option)
{
    if (option[1] != '-')
        return strchr(shorts, option[1]) != NULL;
    for (; longs->name; longs++)
        if (!strcmp(longs->name, option + 2))
            return true;
    return false;
}

/* What is near a long option, though it has one dash. */
static const char *find_near(const struct option *longs, const char *name)
{
    const char *meant = NULL;
    unsigned best = UINT_MAX;

    for (; name[0] && name[1] && longs->name; longs++)
        if (nearest_is(name, longs->name, &best))
            meant = longs->name;
    return meant;
}

static int complain(const struct options_spec *spec, const struct option *longs, const char *shorts, const char *word)
{
    const char *name = word + strspn(word, "-"), *near = find_near(longs, name);

    if (near)
        return fail(FAIL_USAGE, "unknown option '%s'; did you mean '--%s'? See erlsnoop %s -h", word, near,
                    spec->command);
    for (size_t i = 0; i < sizeof alike / sizeof *alike; i++) {
        bool has = takes(longs, shorts, alike[i].option);

        if (options_has_word(alike[i].words, name) && (has || alike[i].of))
            return fail(FAIL_USAGE, "unknown option '%s'; did you mean '%s%s%s%s'? See erlsnoop %s -h", word,
                        has ? "" : "erlsnoop ", has ? "" : alike[i].of, has ? "" : " ", alike[i].option,
                        has ? spec->command : alike[i].of);
    }
    if (spec->accepts & OPTIONS_PACE && options_has_word(pace_words, name))
        return fail(FAIL_USAGE, "unknown option '%s'; seconds of a result, and how many, are words: erlsnoop %s 10 1",
                    word, spec->command);
    return fail(FAIL_USAGE, "unknown option '%s'; see erlsnoop %s -h", word, spec->command);
}

/* The word that getopt_long stopped in: of letters behind one dash it is the next one, but for the last of them. */
static const char *stopped_in(char **argv)
{
    const char *last = argv[optind - 1];
    size_t length = strlen(last);

    return !optopt || optopt >= LONG_EVENTS || (*last == '-' && length > 1 && last[length - 1] == optopt)
               ? last : argv[optind];
}

static size_t count_extras(const struct options_spec *spec)
{
    size_t n = 0;

    while (spec->extras && spec->extras[n].name)
        n++;
    return n;
}

enum { OWN_LONGS = 5 + OPTIONS_FORMS - 1 }; /* of list_longs, and the end */

/* Long options: --help always, the others when accepted. */
static void list_longs(const struct options_spec *spec, struct option *longs)
{
    int n = 0;

    longs[n++] = (struct option){"help", no_argument, NULL, 'h'};
    for (int i = 1; i < OPTIONS_FORMS && !(spec->accepts & OPTIONS_NO_RESULTS); i++)
        longs[n++] = (struct option){options_forms[i], no_argument, NULL, LONG_FORM + i};
    if (spec->accepts & OPTIONS_EVENTS)
        longs[n++] = (struct option){"events", no_argument, NULL, LONG_EVENTS};
    if (spec->accepts & OPTIONS_BUDGET)
        longs[n++] = (struct option){"budget", required_argument, NULL, LONG_BUDGET};
    if ((spec->accepts & OPTIONS_TARGET) == OPTIONS_TARGET)
        longs[n++] = (struct option){"ready-fd", required_argument, NULL, LONG_READY};
    for (int i = 0; spec->extras && spec->extras[i].name; i++)
        if (strlen(spec->extras[i].name) > 1)
            longs[n++] = (struct option){spec->extras[i].name,
                                     spec->extras[i].metavar ? required_argument : no_argument,
                                     NULL, LONG_EXTRA + i};
    longs[n] = (struct option){0};
}

int options_parse(const struct options_spec *spec, int argc, char **argv, struct options *out)
{
    size_t extras = count_extras(spec);
    struct option longs[extras + OWN_LONGS];
    char shorts[sizeof ":hp:aTv" + 2 * extras];
    int own = argc, opt, err;

    *out = (struct options){.ready_fd = -1};
    err = spec->accepts & OPTIONS_BUDGET ? default_budget(&out->budget) : 0;
    if (err)
        return err;
    list_longs(spec, longs);
    strcpy(shorts, ":h");
    strcat(shorts, spec->accepts & OPTIONS_PID ? "p:" : "");
    strcat(shorts, (spec->accepts & OPTIONS_TARGET) == OPTIONS_TARGET ? "a" : "");
    strcat(shorts, spec->accepts & OPTIONS_PACE ? "T" : "");
    strcat(shorts, spec->accepts & OPTIONS_VERBOSE ? "v" : "");
    for (const struct options_extra *x = spec->extras; x && x->name; x++)
        if (strlen(x->name) == 1)
            snprintf(shorts + strlen(shorts), sizeof shorts - strlen(shorts), "%s%s", x->name, x->metavar ? ":" : "");
    for (int i = 1; i < own; i++)
        if (!strcmp(argv[i], "--"))
            own = i;
    if (own < argc) {
        if ((spec->accepts & OPTIONS_TARGET) != OPTIONS_TARGET)
            return fail(FAIL_USAGE, "erlsnoop %s starts no command: nothing may stand after --", spec->command);
        if (own + 1 == argc)
            return fail(FAIL_USAGE, "the command to start is missing after --; see erlsnoop %s -h", spec->command);
        out->child = argv + own + 1;
    }
    opterr = 0;
    optind = 0;
    while ((opt = getopt_long(own, argv, shorts, longs, NULL)) != -1) {
        if (opt == ':')
            return fail(FAIL_USAGE, "a value is missing after '%s'; see erlsnoop %s -h", argv[optind - 1],
                        spec->command);
        if (opt == '?')
            return complain(spec, longs, shorts, stopped_in(argv));
        err = apply(spec, opt, out);
        if (err || out->done)
            return err;
    }
    if ((out->pid || out->name) + out->all + !!out->child > 1)
        return fail(FAIL_USAGE, "choose one of -p PID, -a and -- CMD");
    if (out->of_events && !out->events)
        return fail(FAIL_USAGE, "--%s needs --events; see erlsnoop %s -h", out->of_events, spec->command);
    return parse_positional(spec, own - optind, argv + optind, out);
}
