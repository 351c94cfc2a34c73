/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The language of a team's own rules (docs/erlsnoop.md has its grammar): what a rule asks of each thing of a scope, as
 * terms over the names of that scope. It calculates and compares, and does nothing else: no loops, no calls, no files.
 */
#ifndef TOOLS_OWN_LANGUAGE_H
#define TOOLS_OWN_LANGUAGE_H

#include <stdbool.h>
#include <stddef.h>

enum own_type { OWN_NUMBER, OWN_TRUTH, OWN_TEXT };
enum own_unit { OWN_PLAIN, OWN_BYTES, OWN_SECONDS, OWN_SHARE };

/* A name of a scope. */
struct own_name {
    enum own_type type; /* OWN_NUMBER, or OWN_TEXT */
    enum own_unit unit;
};

/* What names mean: the caller's. Texts of `n` bytes have no NUL behind them. */
struct own_words {
    int (*scope)(const char *text, size_t n);                                 /* -1: there is none of that name */
    int (*name)(int scope, const char *text, size_t n, struct own_name *out); /* likewise */
    bool (*is_taken)(const char *rule);                                       /* no rule may be called so */
    bool (*finds)(const char *rule);                                          /* a finding that is no file's is */
};

struct own_value {
    bool known;
    double number;    /* of a truth 0 or 1 */
    const char *text; /* untrusted; good until the next value */
};

struct own_term;

/* Literal text, or the place of a name in a sentence. */
struct own_piece {
    char *text; /* of a name, what it is called */
    bool is_name;
    int name;
    struct own_name is;
};

/* The texts of a rule; OWN_MORE may be NULL. */
enum own_text { OWN_TITLE, OWN_WHY, OWN_DO, OWN_MORE, OWN_TEXTS };

struct own_rule {
    char *rule;
    int scope;
    char *texts[OWN_TEXTS];
    char *explains; /* the findings that come of its own: names with blanks between; NULL: none */
    struct own_term *when, *score;
    struct own_piece *says;
    size_t nsays, room;
};

struct own_file {
    struct own_rule *rules;
    size_t n, room;
    struct own_term *terms; /* all of them */
};

struct own_error {
    unsigned line, column; /* from 1; the column counts characters */
    char text[200];
};

/*
 * Reads a file's text, of `size` bytes. Owns: own_file_free frees *out, after a failure too. Fails: -EINVAL, with
 * *error; -ENOMEM.
 */
int own_parse(const char *text, size_t size, const struct own_words *words, struct own_file *out,
              struct own_error *error);
void own_file_free(struct own_file *file);

/* Whoever knows what names of the scope are of one thing; lacks: set to the first name that was not known. */
struct own_thing {
    struct own_value (*value)(void *ctx, int name);
    void *ctx;
    const char *lacks;
};
/* What the term is of the thing. Not known: what it needs is not, or it divides by 0. */
struct own_value own_evaluate(const struct own_term *term, struct own_thing *thing);
/* The rule's sentence. A name that is not known is "?". */
void own_say(const struct own_rule *rule, struct own_thing *thing, char *out, size_t size);

#endif
