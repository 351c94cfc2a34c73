/* SPDX-License-Identifier: Apache-2.0 */
/* Invariant: a rule that needs what is not known of a thing finds nothing of it, and says what it lacked. */
#include "own_rules.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/array.h"
#include "common/fail.h"
#include "common/term_text.h"
#include "otp/names.h"
#include "own_language.h"
#include "view/when.h"

enum { MOST_BYTES = 1 << 20, WHY_BYTES = 160 };

/* Of a row of a view's table the scope is OWN_SCOPES and the table's number. */
enum own_scope {
#define OWN_SCOPE(scope, what, see) OWN_SCOPE_##scope,
#define OWN_NUMBER(scope, name, unit, value, text)
#define OWN_TEXT(scope, name, value, text)
#include "own_names.def"
    OWN_SCOPES
#undef OWN_SCOPE
#undef OWN_NUMBER
#undef OWN_TEXT
};

struct own_rules {
    struct own_file file;
    struct finding_text *texts; /* of each rule */
    char (*lacks)[WHY_BYTES];   /* of each rule, by the last asking; "": nothing */
    bool *asked;                /* each rule: at all */
};

/* What a rule is asked of now. */
struct thing {
    const struct evidence *e;
    int scope;
    const void *is; /* a struct evidence_<scope>, or the row of a view */
    const char *name; /* of a row */
    char buf[EVIDENCE_TEXT];
};

/* ---- numbers */

static double known(uint64_t number)
{
    return number ? (double)number : NAN;
}

static double share(unsigned part, unsigned of)
{
    return of ? (double)part / of : NAN;
}

static double seconds(const struct evidence *e, uint64_t since_ns)
{
    return e->last.ns > since_ns ? (double)(e->last.ns - since_ns) / 1e9 : NAN;
}

static double per_s(const struct evidence *e, uint64_t first, uint64_t last, bool is_known)
{
    return is_known && e->looks > 1 ? ((double)last - (double)first) / evidence_seconds(e) : NAN;
}

static double processors(const struct evidence *e, bool lacking)
{
    double ran, waited;

    return evidence_threads(e, &ran, &waited) ? (lacking ? waited : ran) / evidence_seconds(e) : NAN;
}

static double queued(const struct evidence *e)
{
    return e->has_schedulers && e->looks ? (double)e->schedulers[SNAPSHOT_NORMAL].queued / e->looks : NAN;
}

static double full(const struct evidence *e, enum snapshot_scheduler_type type)
{
    return e->has_schedulers && e->schedulers[type].n ? share(e->schedulers[type].full, e->looks) : NAN;
}

static const char *table_name(const struct evidence *e, const struct evidence_table *t, char *buf)
{
    struct term_text text = {buf, EVIDENCE_TEXT, 0};

    term_text_atom(&text, names_atom(e->names, e->vm, t->last.name), t->last.name);
    return buf;
}

static const char *port_name(const struct evidence *e, const struct evidence_port *t, char *buf)
{
    return snapshot_port_name(e->snapshot, &t->last, buf, EVIDENCE_TEXT) && *buf ? buf : NULL;
}

/* ---- names: a function each, of the evidence and the thing */

#define THING_process struct evidence_process
#define THING_vm struct evidence
#define THING_table struct evidence_table
#define THING_port struct evidence_port

static struct own_value number_value(double number)
{
    return (struct own_value){isfinite(number), number, ""};
}

static struct own_value text_value(const char *text)
{
    return (struct own_value){text != NULL, 0, text ? text : ""};
}

#define OWN_SCOPE(scope, what, see)
#define OWN_NUMBER(scope, name, unit, expression, text)                                                                \
    static struct own_value value_##scope##_##name(const struct evidence *e, const void *thing, char *buf)             \
    {                                                                                                                  \
        const THING_##scope *t = thing;                                                                                \
                                                                                                                       \
        (void)e;                                                                                                       \
        (void)t;                                                                                                       \
        (void)buf;                                                                                                     \
        return number_value(expression);                                                                               \
    }
#define OWN_TEXT(scope, name, expression, text)                                                                        \
    static struct own_value value_##scope##_##name(const struct evidence *e, const void *thing, char *buf)             \
    {                                                                                                                  \
        const THING_##scope *t = thing;                                                                                \
                                                                                                                       \
        return text_value(expression);                                                                                 \
    }
#include "own_names.def"
#undef OWN_SCOPE
#undef OWN_NUMBER
#undef OWN_TEXT

static const struct {
    enum own_scope scope;
    const char *name;
    struct own_name is;
    struct own_value (*value)(const struct evidence *e, const void *thing, char *buf);
} names[] = {
#define OWN_SCOPE(scope, what, see)
#define OWN_NUMBER(scope, name, unit, value, text)                                                                     \
    {OWN_SCOPE_##scope, #name, {OWN_NUMBER, OWN_##unit}, value_##scope##_##name},
#define OWN_TEXT(scope, name, value, text) {OWN_SCOPE_##scope, #name, {OWN_TEXT, OWN_PLAIN}, value_##scope##_##name},
#include "own_names.def"
#undef OWN_SCOPE
#undef OWN_NUMBER
#undef OWN_TEXT
};

static const struct {
    const char *name, *see;
} scopes[OWN_SCOPES] = {
#define OWN_SCOPE(scope, what, see) {#scope, see},
#define OWN_NUMBER(scope, name, unit, value, text)
#define OWN_TEXT(scope, name, value, text)
#include "own_names.def"
#undef OWN_SCOPE
#undef OWN_NUMBER
#undef OWN_TEXT
};

/* ---- words, for the parser */

static bool is_called(const char *name, const char *text, size_t n)
{
    return strlen(name) == n && !memcmp(name, text, n);
}

/* Whether a rule of findings.def has its events watched. */
static bool is_watched(enum view_id view)
{
    for (int rule = 0; rule < FINDING_RULES; rule++)
        for (struct counted_need need = {.next = finding_texts[rule].needs}; counted_next_need(&need);)
            if (need.view == view)
                return true;
    return false;
}

static int find_scope(const char *text, size_t n)
{
    for (int i = 0; i < OWN_SCOPES; i++)
        if (is_called(scopes[i].name, text, n))
            return i;
    for (int i = 0; i < VIEW_NTABLES; i++) {
        const struct view_table *table = view_table((enum view_table_id)i);

        if (is_called(table->sink.name, text, n) && is_watched(table->view))
            return OWN_SCOPES + i;
    }
    return -1;
}

/* Of a row: its name, the seconds that were watched, and the columns from there on. */
enum { ROW_NAME, ROW_SECONDS, ROW_COLUMNS };

static int find_column(const struct view_table *table, const char *text, size_t n, struct own_name *out)
{
    static const enum own_unit units[] = {[VIEW_UNIT_COUNT] = OWN_PLAIN,
                                          [VIEW_UNIT_NS] = OWN_SECONDS,
                                          [VIEW_UNIT_WORDS] = OWN_BYTES,
                                          [VIEW_UNIT_BYTES] = OWN_BYTES};

    *out = (struct own_name){OWN_TEXT, OWN_PLAIN};
    if (is_called("name", text, n))
        return ROW_NAME;
    *out = (struct own_name){OWN_NUMBER, OWN_SECONDS};
    if (is_called("seconds", text, n))
        return ROW_SECONDS;
    for (size_t i = 0; i < table->ncolumns; i++) {
        const struct view_column *c = &table->columns[i];

        out->unit = c->kind == VIEW_COUNTED ? OWN_PLAIN : units[c->unit];
        if (when_is_value(c->kind) && is_called(c->key, text, n))
            return ROW_COLUMNS + (int)i;
    }
    return -1;
}

static int find_name(int scope, const char *text, size_t n, struct own_name *out)
{
    if (scope >= OWN_SCOPES)
        return find_column(view_table((enum view_table_id)(scope - OWN_SCOPES)), text, n, out);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if ((int)names[i].scope == scope && is_called(names[i].name, text, n)) {
            *out = names[i].is;
            return (int)i;
        }
    return -1;
}

static bool is_taken(const char *rule)
{
    return finding_find(rule) != FINDING_RULES || !strcmp(rule, "none");
}

static bool finds(const char *rule)
{
    return finding_find(rule) != FINDING_RULES;
}

/* ---- files */

/* Owns: the caller frees *text. Fails: -errno; -EFBIG. */
static int read_file(const char *path, char **text, size_t *size)
{
    FILE *in = fopen(path, "re");
    int err;

    *text = in ? malloc(MOST_BYTES + 1) : NULL;
    if (!*text) {
        err = in ? -ENOMEM : -errno;
        if (in)
            fclose(in);
        return err;
    }
    *size = fread(*text, 1, MOST_BYTES + 1, in);
    err = ferror(in) ? -EIO : *size > MOST_BYTES ? -EFBIG : 0;
    fclose(in);
    return err;
}

static void fill_texts(struct own_rules *rules)
{
    for (size_t i = 0; i < rules->file.n; i++) {
        const struct own_rule *rule = &rules->file.rules[i];
        bool of_row = rule->scope >= OWN_SCOPES;
        const char *see = of_row ? "erlsnoop doctor -p PID" : scopes[rule->scope].see;
        const char *view = of_row ? views[view_table((enum view_table_id)(rule->scope - OWN_SCOPES))->view].name : "";

        rules->texts[i] = (struct finding_text){.rule = rule->rule,
                                                .kind = rule->texts[OWN_TITLE],
                                                .why = rule->texts[OWN_WHY],
                                                .what_to_do = rule->texts[OWN_DO],
                                                .see = rule->texts[OWN_MORE] ? rule->texts[OWN_MORE] : see,
                                                .needs = rule->texts[OWN_MORE] ? "" : view,
                                                .explains = rule->explains ? rule->explains : ""};
    }
}

static int read_rules(const char *path, struct own_rules *rules)
{
    static const struct own_words words = {find_scope, find_name, is_taken, finds};
    struct own_error error;
    size_t size = 0;
    char *text = NULL;
    int err = read_file(path, &text, &size);

    if (err) {
        free(text);
        return fail(err, "cannot read the rules '%s': %s", path,
                    err == -EFBIG ? "it is larger than 1 MB" : strerror(-err));
    }
    err = own_parse(text, size, &words, &rules->file, &error);
    free(text);
    if (err == -EINVAL)
        return fail(err, "%s:%u:%u: %s", path, error.line, error.column, error.text);
    if (!err && !rules->file.n)
        return fail(-EINVAL, "%s:1:1: no rule is in it", path);
    rules->texts = err ? NULL : calloc(rules->file.n, sizeof *rules->texts);
    rules->lacks = err ? NULL : calloc(rules->file.n, sizeof *rules->lacks);
    rules->asked = err ? NULL : calloc(rules->file.n, sizeof *rules->asked);
    if (!rules->texts || !rules->lacks || !rules->asked)
        return fail(-ENOMEM, "out of memory");
    fill_texts(rules);
    return 0;
}

int own_rules_load(const char *path, struct own_rules **out)
{
    struct own_rules *rules = calloc(1, sizeof *rules);
    int err = rules ? read_rules(path, rules) : fail(-ENOMEM, "out of memory");

    if (err)
        own_rules_free(rules);
    *out = err ? NULL : rules;
    return err;
}

void own_rules_free(struct own_rules *rules)
{
    if (!rules)
        return;
    own_file_free(&rules->file);
    free(rules->texts);
    free(rules->lacks);
    free(rules->asked);
    free(rules);
}

bool own_rules_has(const struct own_rules *rules, const char *name)
{
    for (size_t i = 0; rules && i < rules->file.n; i++)
        if (!strcmp(rules->file.rules[i].rule, name))
            return true;
    return false;
}

void own_rules_lacks(const struct own_rules *rules, void (*take)(void *ctx, const char *rule, const char *why),
                     void *ctx)
{
    for (size_t i = 0; rules && i < rules->file.n; i++)
        if (*rules->lacks[i])
            take(ctx, rules->file.rules[i].rule, rules->lacks[i]);
}

void own_rules_unasked(const struct own_rules *rules, void (*take)(void *ctx, const char *rule), void *ctx)
{
    for (size_t i = 0; rules && i < rules->file.n; i++)
        if (!rules->asked[i])
            take(ctx, rules->file.rules[i].rule);
}

/* ---- asking */

static struct own_value row_value(const struct thing *t, int name)
{
    const struct view_table *table = view_table((enum view_table_id)(t->scope - OWN_SCOPES));
    const struct view_column *column;
    uint64_t number;
    double value;

    if (name == ROW_NAME)
        return text_value(t->name);
    if (name == ROW_SECONDS)
        return number_value(t->e->counted->seconds);
    column = &table->columns[name - ROW_COLUMNS];
    if (!when_value(column, t->is, &number))
        return number_value(NAN);
    value = (double)number;
    if (column->kind != VIEW_COUNTED && column->unit == VIEW_UNIT_NS)
        value /= 1e9;
    if (column->kind != VIEW_COUNTED && column->unit == VIEW_UNIT_WORDS)
        value *= SNAPSHOT_WORD;
    return number_value(value);
}

static struct own_value value_of(void *ctx, int name)
{
    struct thing *t = ctx;

    return t->scope >= OWN_SCOPES ? row_value(t, name) : names[name].value(t->e, t->is, t->buf);
}

/* One that the rule holds for. */
struct hit {
    const void *is;
    const char *name;
    double score;
};

struct asking {
    struct own_rules *rules;
    size_t number;
    const struct evidence *e;
    struct hit *hits;
    size_t n, room;
    int err;
};

static void ask(struct asking *a, const void *is, const char *name)
{
    const struct own_rule *rule = &a->rules->file.rules[a->number];
    struct thing thing = {.e = a->e, .scope = rule->scope, .is = is, .name = name};
    struct own_thing asked = {value_of, &thing, NULL};
    struct own_value when = own_evaluate(rule->when, &asked), score = {0};
    char *lacks = a->rules->lacks[a->number];

    if (when.known && when.number)
        score = own_evaluate(rule->score, &asked);
    if (asked.lacks && !*lacks && (!when.known || (when.number && !score.known)))
        snprintf(lacks, WHY_BYTES, "%s is not known%s%s", asked.lacks, name && *name ? " of " : "", name ? name : "");
    if (!score.known || score.number < 1 || a->err)
        return;
    a->err = array_room((void **)&a->hits, a->n, &a->room, sizeof *a->hits);
    if (!a->err)
        a->hits[a->n++] = (struct hit){is, name, score.number};
}

/* One that comes and goes is looked at a few times only, which says little. */
static void ask_processes(struct asking *a)
{
    for (const struct evidence_process *p = a->e->processes; p; p = p->hh.next)
        if (a->e->looks >= 4 && p->looks * 2 >= a->e->looks)
            ask(a, p, NULL);
}

static void ask_rows(struct asking *a, enum view_table_id table)
{
    const struct counted *c = a->e->counted;
    enum view_id view = view_table(table)->view;
    const char *name;
    const void *row;

    if (!c || !c->told[view])
        snprintf(a->rules->lacks[a->number], WHY_BYTES, "events of %s were not watched", views[view].name);
    else
        for (size_t i = 0; (row = counted_row(c, table, i, &name)); i++)
            ask(a, row, name);
}

static void ask_scope(struct asking *a, int scope)
{
    switch (scope) {
    case OWN_SCOPE_process: ask_processes(a); break;
    case OWN_SCOPE_vm: ask(a, a->e, NULL); break;
    case OWN_SCOPE_table:
        for (const struct evidence_table *t = a->e->tables; t; t = t->hh.next)
            ask(a, t, NULL);
        break;
    case OWN_SCOPE_port:
        for (const struct evidence_port *p = a->e->ports; p; p = p->hh.next)
            ask(a, p, NULL);
        break;
    default: ask_rows(a, (enum view_table_id)(scope - OWN_SCOPES));
    }
}

static int compare_hits(const void *a, const void *b)
{
    double x = ((const struct hit *)a)->score, y = ((const struct hit *)b)->score;

    return x < y ? 1 : x > y ? -1 : 0;
}

/* Whom the finding is about. */
static ev_id whose(struct thing *t, const char **who)
{
    const struct evidence_process *p = t->is;
    const struct evidence_table *table = t->is;
    const struct evidence_port *port = t->is;

    *who = "";
    switch (t->scope) {
    case OWN_SCOPE_process: *who = evidence_name(t->e, &p->last, t->buf); return p->last.id;
    case OWN_SCOPE_vm: return 0;
    case OWN_SCOPE_table: *who = table_name(t->e, table, t->buf); return table->last.owner;
    case OWN_SCOPE_port: *who = evidence_name_of(t->e, port->last.owner, t->buf); return port->last.owner;
    default: *who = t->name; return 0;
    }
}

static void add_hit(struct asking *a, const struct hit *hit, struct findings *out)
{
    const struct own_rule *rule = &a->rules->file.rules[a->number];
    struct thing thing = {.e = a->e, .scope = rule->scope, .is = hit->is, .name = hit->name};
    struct own_thing asked = {value_of, &thing, NULL};
    char what[sizeof out->all->what];
    const char *who;
    ev_id process;

    own_say(rule, &asked, what, sizeof what);
    process = whose(&thing, &who);
    findings_add_own(out, &a->rules->texts[a->number], hit->score, process, who, what);
}

/* The heaviest; as of a rule of findings.def, FINDINGS_OF_RULE at most. */
static int ask_rule(struct own_rules *rules, size_t number, const struct evidence *e, struct findings *out)
{
    struct asking a = {.rules = rules, .number = number, .e = e};

    ask_scope(&a, rules->file.rules[number].scope);
    if (a.n)
        qsort(a.hits, a.n, sizeof *a.hits, compare_hits);
    for (size_t i = 0; i < a.n && i < FINDINGS_OF_RULE; i++)
        add_hit(&a, &a.hits[i], out);
    free(a.hits);
    return a.err;
}

/* What was asked of a VM's memory before that could not be read any more was asked. */
int own_rules_ask(struct own_rules *rules, const struct evidence *e, bool events_alone, struct findings *out)
{
    int err = 0;

    for (size_t i = 0; rules && i < rules->file.n && !err; i++) {
        if (events_alone && rules->file.rules[i].scope < OWN_SCOPES)
            continue;
        rules->lacks[i][0] = '\0';
        rules->asked[i] = events_alone || !e->halted;
        err = rules->asked[i] ? ask_rule(rules, i, e, out) : 0;
    }
    return err;
}
