/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The reading of a team's own rules. Invariant: nothing behind the file's end is read, a term is never deeper than
 * MOST_DEPTH and MOST_OPERATORS allow, and every failure but that of memory says where and why.
 */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/array.h"
#include "own_term.h"

enum {
    MOST_DEPTH = 50,
    MOST_OPERATORS = 500,
    MOST_RULES = 1000,
    MOST_TEXT = 2000,
    MOST_EXPLAINED = 20,
    NUMBER_BYTES = 64
};

enum token_kind { TOKEN_END, TOKEN_WORD, TOKEN_NUMBER, TOKEN_STRING, TOKEN_SIGN, TOKEN_WRONG };

struct token {
    enum token_kind kind;
    const char *at;
    size_t n;
    double number;
    enum own_unit unit;
};

struct parser {
    const char *text, *end, *at;
    const struct own_words *words;
    struct own_file *file;
    struct own_error *error;
    struct token token; /* the next */
    int scope;
    unsigned depth, operators; /* of the term that is read */
    int err;
};

/* ---- failures: the first is kept */

static void set_place(const struct parser *p, const char *at)
{
    unsigned line = 1, column = 1;

    for (const char *c = p->text; c < at; c++) {
        line += *c == '\n';
        column = *c == '\n' ? 1 : column + ((*c & 0xc0) != 0x80);
    }
    p->error->line = line;
    p->error->column = column;
}

__attribute__((format(printf, 3, 4))) static void refuse(struct parser *p, const char *at, const char *format, ...)
{
    va_list args;

    if (p->err)
        return;
    p->err = -EINVAL;
    set_place(p, at);
    va_start(args, format);
    vsnprintf(p->error->text, sizeof p->error->text, format, args);
    va_end(args);
}

static void run_out(struct parser *p)
{
    p->err = p->err ? p->err : -ENOMEM;
}

/* ---- tokens */

static bool is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static void skip_blanks(struct parser *p)
{
    for (; p->at < p->end && (strchr(" \t\r\n", *p->at) || *p->at == '#') && *p->at; p->at++)
        if (*p->at == '#')
            while (p->at + 1 < p->end && p->at[1] != '\n')
                p->at++;
}

static const struct {
    const char *text;
    double times;
    enum own_unit unit;
} units[] = {
    {"%", 0.01, OWN_SHARE},    {"B", 1, OWN_BYTES},      {"kB", 1e3, OWN_BYTES},   {"MB", 1e6, OWN_BYTES},
    {"GB", 1e9, OWN_BYTES},    {"TB", 1e12, OWN_BYTES},  {"ns", 1e-9, OWN_SECONDS}, {"us", 1e-6, OWN_SECONDS},
    {"ms", 1e-3, OWN_SECONDS}, {"s", 1, OWN_SECONDS},    {"min", 60, OWN_SECONDS},  {"h", 3600, OWN_SECONDS},
};

static void read_unit(struct parser *p, struct token *t)
{
    const char *begin = p->at;

    if (p->at < p->end && *p->at == '%')
        p->at++;
    else
        while (p->at < p->end && (is_letter(*p->at) || is_digit(*p->at)))
            p->at++;
    if (p->at == begin)
        return;
    for (size_t i = 0; i < sizeof units / sizeof *units; i++)
        if (strlen(units[i].text) == (size_t)(p->at - begin) && !memcmp(units[i].text, begin, strlen(units[i].text))) {
            t->number *= units[i].times;
            t->unit = units[i].unit;
            return;
        }
    refuse(p, begin, "no unit is called '%.*s': B kB MB GB TB, ns us ms s min h, %%",
           p->at - begin > 20 ? 20 : (int)(p->at - begin), begin);
}

/* 1000, 1_000, 0.5, 64MB */
static void read_number(struct parser *p, struct token *t)
{
    char digits[NUMBER_BYTES];
    size_t n = 0;

    t->kind = TOKEN_NUMBER;
    for (; p->at < p->end && (is_digit(*p->at) || *p->at == '.' || *p->at == '_'); p->at++)
        if (*p->at != '_' && n + 1 < sizeof digits)
            digits[n++] = *p->at;
    digits[n] = '\0';
    if (n + 1 == sizeof digits || (strchr(digits, '.') && strchr(strchr(digits, '.') + 1, '.')) ||
        digits[n - 1] == '.')
        refuse(p, t->at, "this is no number");
    t->number = strtod(digits, NULL);
    read_unit(p, t);
}

static void read_string(struct parser *p, struct token *t)
{
    t->kind = TOKEN_STRING;
    for (p->at++; p->at < p->end && *p->at != '"' && *p->at != '\n'; p->at++)
        p->at += *p->at == '\\' && p->at + 1 < p->end && p->at[1] != '\n';
    if (p->at >= p->end || *p->at != '"') {
        refuse(p, t->at, "this text has no end (\") on its line");
        return;
    }
    p->at++;
}

static void read_sign(struct parser *p, struct token *t)
{
    static const char *const signs[] = {"<=", ">=", "!=", "<", ">", "=", "+", "-", "*", "/", "(", ")", ","};

    for (size_t i = 0; i < sizeof signs / sizeof *signs; i++)
        if ((size_t)(p->end - p->at) >= strlen(signs[i]) && !memcmp(p->at, signs[i], strlen(signs[i]))) {
            t->kind = TOKEN_SIGN;
            p->at += strlen(signs[i]);
            return;
        }
    t->kind = TOKEN_WRONG;
    p->at++;
    refuse(p, t->at, "a rule has no such character outside of texts");
}

static void next(struct parser *p)
{
    struct token *t = &p->token;

    skip_blanks(p);
    *t = (struct token){.at = p->at};
    if (p->at >= p->end)
        return;
    if (is_digit(*p->at)) {
        read_number(p, t);
    } else if (is_letter(*p->at)) {
        t->kind = TOKEN_WORD;
        while (p->at < p->end && (is_letter(*p->at) || is_digit(*p->at)))
            p->at++;
    } else if (*p->at == '"') {
        read_string(p, t);
    } else {
        read_sign(p, t);
    }
    t->n = (size_t)(p->at - t->at);
}

static bool is(const struct parser *p, enum token_kind kind, const char *text)
{
    return p->token.kind == kind && p->token.n == strlen(text) && !memcmp(p->token.at, text, p->token.n);
}

static void expect(struct parser *p, enum token_kind kind, const char *text, const char *what)
{
    if (!is(p, kind, text))
        refuse(p, p->token.at, "%s is expected here", what);
    else
        next(p);
}

/* ---- texts */

/* The characters of a string, without its marks and with its escapes done; NULL: failed. */
static char *text_of(struct parser *p, const struct token *t)
{
    char *out = t->kind == TOKEN_STRING && !p->err ? malloc(t->n) : NULL;
    size_t n = 0;

    if (t->kind != TOKEN_STRING) {
        refuse(p, t->at, "a text (\"...\") is expected here");
        return NULL;
    }
    if (!out) {
        run_out(p);
        return NULL;
    }
    for (const char *at = t->at + 1; at < t->at + t->n - 1; at++) {
        at += *at == '\\';
        if (!*at)
            refuse(p, at, "a text holds no zero byte");
        out[n++] = *at;
    }
    out[n] = '\0';
    if (n > MOST_TEXT)
        refuse(p, t->at, "this text is longer than %d bytes", MOST_TEXT);
    if (!p->err)
        return out;
    free(out);
    return NULL;
}

static char *copy(struct parser *p, const char *at, size_t n)
{
    char *out = strndup(at, n);

    if (!out)
        run_out(p);
    return out;
}

/* ---- terms */

static struct own_term *new_term(struct parser *p, enum own_operation operation, enum own_type type, const char *at)
{
    struct own_term *term = p->err ? NULL : calloc(1, sizeof *term);

    if (!term) {
        run_out(p);
        return NULL;
    }
    *term = (struct own_term){.operation = operation, .type = type, .at = at, .next = p->file->terms};
    p->file->terms = term;
    return term;
}

/* A name of the scope. */
static bool find_name(struct parser *p, const char *at, size_t n, int *name, struct own_name *is_of)
{
    *name = p->words->name(p->scope, at, n, is_of);
    if (*name < 0)
        refuse(p, at, "this scope has no name '%.*s'", n > 40 ? 40 : (int)n, at);
    return *name >= 0;
}

static struct own_term *read_term(struct parser *p, int least);

static struct own_term *read_name(struct parser *p)
{
    struct own_name is_of;
    struct own_term *term;
    int name;

    if (!find_name(p, p->token.at, p->token.n, &name, &is_of))
        return NULL;
    term = new_term(p, OWN_NAME, is_of.type, p->token.at);
    if (!term || !(term->text = copy(p, p->token.at, p->token.n)))
        return NULL;
    term->unit = is_of.unit;
    term->name = name;
    next(p);
    return term;
}

static struct own_term *read_literal(struct parser *p, enum own_type type)
{
    struct own_term *term = new_term(p, OWN_LITERAL, type, p->token.at);

    if (!term)
        return NULL;
    term->number = p->token.number;
    term->unit = p->token.unit;
    if (type == OWN_TEXT)
        term->text = text_of(p, &p->token);
    next(p);
    return term;
}

static bool has_type(struct parser *p, const struct own_term *term, enum own_type type)
{
    static const char *const texts[] = {[OWN_NUMBER] = "a number", [OWN_TRUTH] = "a comparison",
                                        [OWN_TEXT] = "a text"};

    if (term && term->type != type)
        refuse(p, term->at, "this is %s, and %s is expected", texts[term->type], texts[type]);
    return term && term->type == type;
}

static struct own_term *read_prefix(struct parser *p, enum own_operation operation, enum own_type type, int binds)
{
    const char *at = p->token.at;
    struct own_term *operand, *term;

    next(p);
    operand = read_term(p, binds);
    if (!has_type(p, operand, type) || !(term = new_term(p, operation, type, at)))
        return NULL;
    term->left = operand;
    term->unit = operand->unit;
    return term;
}

enum { BINDS_OR = 1, BINDS_AND, BINDS_NOT, BINDS_COMPARISON, BINDS_SUM, BINDS_PRODUCT, BINDS_MINUS };

static struct own_term *read_operand(struct parser *p)
{
    struct own_term *term = NULL;

    if (is(p, TOKEN_SIGN, "(")) {
        next(p);
        term = read_term(p, BINDS_OR);
        expect(p, TOKEN_SIGN, ")", "')'");
    } else if (is(p, TOKEN_SIGN, "-")) {
        term = read_prefix(p, OWN_NEGATE, OWN_NUMBER, BINDS_MINUS);
    } else if (is(p, TOKEN_WORD, "not")) {
        term = read_prefix(p, OWN_NOT, OWN_TRUTH, BINDS_NOT);
    } else if (p->token.kind == TOKEN_NUMBER) {
        term = read_literal(p, OWN_NUMBER);
    } else if (p->token.kind == TOKEN_STRING) {
        term = read_literal(p, OWN_TEXT);
    } else if (p->token.kind == TOKEN_WORD) {
        term = read_name(p);
    } else {
        refuse(p, p->token.at, "a number, a text or a name is expected here");
    }
    return p->err ? NULL : term;
}

static const struct own_operator {
    enum token_kind kind;
    const char *text;
    int binds;
    enum own_operation operation;
} operators[] = {
    {TOKEN_WORD, "or", BINDS_OR, OWN_OR},
    {TOKEN_WORD, "and", BINDS_AND, OWN_AND},
    {TOKEN_SIGN, "<", BINDS_COMPARISON, OWN_LESS},
    {TOKEN_SIGN, ">", BINDS_COMPARISON, OWN_MORE_THAN},
    {TOKEN_SIGN, "<=", BINDS_COMPARISON, OWN_AT_MOST},
    {TOKEN_SIGN, ">=", BINDS_COMPARISON, OWN_AT_LEAST},
    {TOKEN_SIGN, "=", BINDS_COMPARISON, OWN_IS},
    {TOKEN_SIGN, "!=", BINDS_COMPARISON, OWN_IS_NOT},
    {TOKEN_SIGN, "+", BINDS_SUM, OWN_PLUS},
    {TOKEN_SIGN, "-", BINDS_SUM, OWN_MINUS},
    {TOKEN_SIGN, "*", BINDS_PRODUCT, OWN_TIMES},
    {TOKEN_SIGN, "/", BINDS_PRODUCT, OWN_BY},
};

static const struct own_operator *find_operator(const struct parser *p)
{
    for (size_t i = 0; i < sizeof operators / sizeof *operators; i++)
        if (is(p, operators[i].kind, operators[i].text))
            return &operators[i];
    return NULL;
}

/* Numbers without a unit go with all; the result has the unit that is left. */
static void set_unit(struct parser *p, struct own_term *term, const struct own_operator *o)
{
    static const char *const texts[] = {[OWN_PLAIN] = "a plain number", [OWN_BYTES] = "bytes",
                                        [OWN_SECONDS] = "seconds", [OWN_SHARE] = "a share"};
    enum own_unit left = term->left->unit, right = term->right->unit;

    if (o->binds == BINDS_PRODUCT) {
        if (left != OWN_PLAIN && right != OWN_PLAIN)
            left = right = OWN_PLAIN;
    } else if (left != right && left != OWN_PLAIN && right != OWN_PLAIN) {
        refuse(p, term->at, "on the left of this are %s, on the right %s", texts[left], texts[right]);
    }
    term->unit = o->binds == BINDS_COMPARISON ? OWN_PLAIN : left != OWN_PLAIN ? left : right;
}

static struct own_term *join(struct parser *p, const struct own_operator *o, struct own_term *left, const char *at,
                             struct own_term *right)
{
    bool equal = o->operation == OWN_IS || o->operation == OWN_IS_NOT;
    enum own_type takes = o->binds <= BINDS_AND ? OWN_TRUTH : equal && left->type == OWN_TEXT ? OWN_TEXT : OWN_NUMBER;
    struct own_term *term;

    if (!has_type(p, left, takes) || !has_type(p, right, takes))
        return NULL;
    term = new_term(p, o->operation, o->binds <= BINDS_COMPARISON ? OWN_TRUTH : OWN_NUMBER, at);
    if (!term)
        return NULL;
    term->left = left;
    term->right = right;
    set_unit(p, term, o);
    return term;
}

/* A term whose operators bind as much as `least`, at least; one that compares is not compared again. */
static struct own_term *read_term(struct parser *p, int least)
{
    struct own_term *left = NULL;

    if (++p->depth > MOST_DEPTH)
        refuse(p, p->token.at, "this is nested more than %d deep", MOST_DEPTH);
    else
        left = read_operand(p);
    for (const struct own_operator *o; left && !p->err && (o = find_operator(p)) && o->binds >= least;) {
        const char *at = p->token.at;

        if (++p->operators > MOST_OPERATORS)
            refuse(p, at, "this has more than %d operators", MOST_OPERATORS);
        next(p);
        left = join(p, o, left, at, read_term(p, o->binds + 1));
    }
    p->depth--;
    return p->err ? NULL : left;
}

/* ---- sentences */

static void add_piece(struct parser *p, struct own_rule *rule, struct own_piece piece)
{
    if (p->err || array_room((void **)&rule->says, rule->nsays, &rule->room, sizeof *rule->says)) {
        free(piece.text);
        run_out(p);
        return;
    }
    rule->says[rule->nsays++] = piece;
}

/* In `text` (of the token `t`) from `*at` on: a name in braces. */
static void read_place(struct parser *p, struct own_rule *rule, const struct token *t, const char *text,
                       const char **at)
{
    size_t n = strcspn(*at + 1, "}");
    const char *in_file = t->at + 1 + (*at - text);
    struct own_piece piece = {.is_name = true};

    if (!(*at)[1 + n]) {
        refuse(p, in_file, "this { has no }");
        return;
    }
    if (!find_name(p, in_file + 1, n, &piece.name, &piece.is) || !(piece.text = copy(p, *at + 1, n)))
        return;
    add_piece(p, rule, piece);
    *at += n + 2;
}

/* Text, and names in braces: "{messages} wait". A brace as it is has a backslash before it. */
static void read_sentence(struct parser *p, struct own_rule *rule)
{
    const struct token t = p->token;
    char *text;

    if (t.kind != TOKEN_STRING) {
        refuse(p, t.at, "a text (\"...\") is expected here");
        return;
    }
    text = p->err ? NULL : copy(p, t.at + 1, t.n - 2);
    if (text && memchr(t.at, '\0', t.n))
        refuse(p, t.at, "a text holds no zero byte");
    for (const char *at = text; text && *at && !p->err;) {
        size_t n = strcspn(at, "{\\");

        if (n)
            add_piece(p, rule, (struct own_piece){.text = copy(p, at, n)});
        at += n;
        if (*at == '\\' && at[1]) {
            add_piece(p, rule, (struct own_piece){.text = copy(p, at + 1, 1)});
            at += 2;
        } else if (*at == '{') {
            read_place(p, rule, &t, text, &at);
        }
    }
    free(text);
    next(p);
}

/* ---- rules */

enum part { PART_WHEN, PART_SCORE, PART_SAYS, PART_EXPLAINS, PART_TITLE, PART_WHY, PART_DO, PART_MORE, PARTS };

static const struct {
    const char *word;
    bool must;
} parts[PARTS] = {{"when", true}, {"score", true}, {"says", true}, {"explains", false}, {"title", true},
                  {"why", true},  {"do", true},    {"more", false}};

static enum part find_part(const struct parser *p)
{
    int part = 0;

    while (part < PARTS && !is(p, TOKEN_WORD, parts[part].word))
        part++;
    return (enum part)part;
}

/* A finding of erlsnoop, or of a rule that stands before this one: so that no two explain each other. */
static bool may_explain(const struct parser *p, const char *name)
{
    for (size_t i = 0; i + 1 < p->file->n; i++)
        if (!strcmp(p->file->rules[i].rule, name))
            return true;
    return p->words->finds(name);
}

static void add_explained(struct parser *p, struct own_rule *rule)
{
    char *name = copy(p, p->token.at, p->token.n), *all = NULL;

    if (name && !may_explain(p, name))
        refuse(p, p->token.at, "no finding of erlsnoop is called so, and no rule above this one");
    else if (name && asprintf(&all, rule->explains ? "%s %s" : "%s%s", rule->explains ? rule->explains : "", name) < 0)
        run_out(p);
    free(name);
    if (p->err)
        return;
    free(rule->explains);
    rule->explains = all;
}

/* Names of findings, with commas between. */
static void read_explained(struct parser *p, struct own_rule *rule)
{
    for (int n = 1;; n++) {
        if (p->token.kind != TOKEN_WORD)
            refuse(p, p->token.at, "the name of a finding is expected here");
        if (n > MOST_EXPLAINED)
            refuse(p, p->token.at, "a rule explains %d findings at most", MOST_EXPLAINED);
        if (p->err)
            return;
        add_explained(p, rule);
        next(p);
        if (!is(p, TOKEN_SIGN, ","))
            return;
        next(p);
    }
}

static void read_part(struct parser *p, struct own_rule *rule, enum part part)
{
    struct own_term **term = part == PART_WHEN ? &rule->when : &rule->score;

    next(p);
    p->depth = p->operators = 0;
    if (part == PART_SAYS) {
        read_sentence(p, rule);
    } else if (part == PART_EXPLAINS) {
        read_explained(p, rule);
    } else if (part == PART_WHEN || part == PART_SCORE) {
        *term = read_term(p, BINDS_OR);
        has_type(p, *term, part == PART_WHEN ? OWN_TRUTH : OWN_NUMBER);
    } else {
        rule->texts[part - PART_TITLE] = text_of(p, &p->token);
        next(p);
    }
}

static void check_name(struct parser *p, const struct own_rule *rule, const char *at)
{
    for (size_t i = 0; i + 1 < p->file->n && !p->err; i++)
        if (!strcmp(p->file->rules[i].rule, rule->rule))
            refuse(p, at, "another rule of this file is called so");
    if (p->words->is_taken(rule->rule))
        refuse(p, at, "a finding of erlsnoop is called so");
}

/* rule NAME for SCOPE */
static const char *read_head(struct parser *p, struct own_rule *rule)
{
    const char *at = p->token.at;

    if (p->token.kind != TOKEN_WORD) {
        refuse(p, at, "the rule's name is expected here");
        return at;
    }
    rule->rule = copy(p, at, p->token.n);
    if (rule->rule)
        check_name(p, rule, at);
    next(p);
    expect(p, TOKEN_WORD, "for", "'for'");
    rule->scope = p->scope = p->token.kind == TOKEN_WORD ? p->words->scope(p->token.at, p->token.n) : -1;
    if (p->scope < 0)
        refuse(p, p->token.at, "no scope is called so; see the manual for which there are");
    next(p);
    return at;
}

static void read_rule(struct parser *p)
{
    bool has[PARTS] = {false};
    struct own_rule *rule;
    const char *at;
    enum part part;

    if (p->file->n == MOST_RULES)
        refuse(p, p->token.at, "a file has %d rules at most", MOST_RULES);
    expect(p, TOKEN_WORD, "rule", "'rule'");
    if (p->err || array_room((void **)&p->file->rules, p->file->n, &p->file->room, sizeof *p->file->rules)) {
        run_out(p);
        return;
    }
    rule = &p->file->rules[p->file->n++];
    *rule = (struct own_rule){0};
    at = read_head(p, rule);
    while (!p->err && (part = find_part(p)) < PARTS) {
        if (has[part])
            refuse(p, p->token.at, "the rule has '%s' already", parts[part].word);
        else
            read_part(p, rule, part);
        has[part] = true;
    }
    if (p->token.kind != TOKEN_END && !is(p, TOKEN_WORD, "rule"))
        refuse(p, p->token.at, "'rule', or one of when score says explains title why do more, is expected here");
    for (int i = 0; i < PARTS; i++)
        if (parts[i].must && !has[i])
            refuse(p, at, "the rule '%.40s' has no '%s'", rule->rule ? rule->rule : "", parts[i].word);
}

int own_parse(const char *text, size_t size, const struct own_words *words, struct own_file *out,
              struct own_error *error)
{
    struct parser p = {.text = text, .end = text + size, .at = text, .words = words, .file = out, .error = error};

    *out = (struct own_file){0};
    *error = (struct own_error){0};
    next(&p);
    while (!p.err && p.token.kind != TOKEN_END)
        read_rule(&p);
    return p.err;
}

void own_file_free(struct own_file *file)
{
    struct own_term *term = file->terms, *after;

    for (; term; term = after) {
        after = term->next;
        free(term->text);
        free(term);
    }
    for (size_t i = 0; i < file->n; i++) {
        struct own_rule *rule = &file->rules[i];

        free(rule->rule);
        free(rule->explains);
        for (int text = 0; text < OWN_TEXTS; text++)
            free(rule->texts[text]);
        for (size_t k = 0; k < rule->nsays; k++)
            free(rule->says[k].text);
        free(rule->says);
    }
    free(file->rules);
    *file = (struct own_file){0};
}
