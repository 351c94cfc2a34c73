/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The command line that subcommands have in common, parsed once.
 */
#ifndef TOOLS_OPTIONS_H
#define TOOLS_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>

/* What a subcommand accepts beyond -h and, unless it says otherwise, --json and the other forms of sinks.def. */
enum {
    OPTIONS_PID = 1,    /* -p PID */
    OPTIONS_TARGET = 3, /* -p PID, -a, -- CMD ARGS */
    OPTIONS_PACE = 4,   /* [interval [count]], -T */
    OPTIONS_EVENTS = 8, /* --events */
    OPTIONS_BUDGET = 64, /* --budget */
    OPTIONS_LIVE = 15 | OPTIONS_BUDGET,
    OPTIONS_VERBOSE = 16, /* -v */
    OPTIONS_NO_RESULTS = 32, /* it prints none */
};

/* Rows of sinks.def: how results are printed. */
enum options_form {
#define SINK(stem, option, text) OPTIONS_FORM_##stem,
#include "sinks.def"
    OPTIONS_FORMS
};
/* What chooses it, without "--". */
extern const char *const options_forms[OPTIONS_FORMS];

/* What --source takes. */
#define OPTIONS_SOURCES "batches|notes"

/* An option of one subcommand; `set` gets its value (NULL without `metavar`) and returns 0 or FAIL_USAGE. A name of one
 * letter is -o, others are --name. A metavar with bars is the values that there are, which shells complete
 * (options_choice). The one with the name "" is set for each word that is no option, in place of interval and count. */
struct options_extra {
    const char *name, *metavar, *text;
    int (*set)(void *ctx, const char *value);
    bool of_events; /* means nothing without --events */
};

struct options_spec {
    const char *command, *text; /* text: what it answers, one sentence */
    unsigned accepts;
    const struct options_extra *extras; /* ends with a NULL name; may be NULL */
    void *ctx;                          /* for extras */
    /* what stands between the command and its options, for the help; NULL: nothing */
    const char *operands;
};

struct options {
    int pid;          /* 0: not given */
    const char *name; /* given in its place: a VM as list names it; NULL: not given */
    bool all;
    char **child; /* the command after --, NULL-terminated; NULL: none */
    uint64_t interval_ns; /* 0: one result, at the end */
    uint64_t count;       /* 0: no limit */
    double budget;        /* of the VMs' processor time, that watching may take; 0: any */
    bool budget_said;     /* by --budget */
    int ready_fd;         /* --ready-fd: to be told once every probe is on (ready.h); -1: nobody */
    enum options_form form;
    bool timestamps, events, verbose;
    const char *of_events; /* an option given that needs events; NULL: none */
    bool done; /* help was printed: nothing to do */
};

/* Whether the word is one of those, which have spaces between. */
bool options_has_word(const char *words, const char *word);
/* Whether it is an option of several subcommands that has no value. */
bool options_is_flag(const char *word);
/* Fails: FAIL_USAGE, said on standard error. */
int options_parse(const struct options_spec *spec, int argc, char **argv, struct options *out);
/* Whole number in [least, most]; FAIL_USAGE (said, with `what`) otherwise. */
int options_number(const char *what, const char *text, uint64_t least, uint64_t most, uint64_t *out);
/* Which of the choices, words with bars between, the text is, from 0 on; FAIL_USAGE (said, with `what`) otherwise. */
int options_choice(const char *what, const char *choices, const char *text, unsigned *out);
/* Whether the text is seconds as of an interval (0.01 to 86400), which then are in *ns. */
bool options_is_interval(const char *text, uint64_t *ns);
/* A time with its unit, `5ms` (ns, us, ms, s), up to an hour; FAIL_USAGE (said, with `what`) otherwise. */
int options_ns(const char *what, const char *text, uint64_t *out);
/* A size with its unit, `64M` (K, M, G: powers of 1024), of 64K at least; FAIL_USAGE (said, with `what`) otherwise. */
int options_bytes(const char *what, const char *text, uint64_t *out);

#endif
