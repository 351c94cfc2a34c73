/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Findings are the same when their rule and their culprit are; of several the heaviest of both are compared first. What
 * one side did not look for is neither new nor gone: it is not known.
 */
#include "report_diff.h"

#include <errno.h>
#include <jansson.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "common/array.h"
#include "common/clock.h"
#include "common/fail.h"
#include "diagnose_print.h"
#include "recording/recording.h"

enum {
    MOST_LINE = 1 << 16,
    MOST_FINDINGS = 1 << 16,
    NOTHING = 5, /* scores that differ by no more are the same */
};

struct kept_finding {
    char *rule, *kind, *who, *what;
    int score;
    bool taken; /* it has its counterpart */
};

struct side {
    const char *name; /* of the file */
    struct kept_finding *findings;
    size_t n, room;
    char **unknown; /* what was not known: of what was not looked for, the rule */
    size_t nunknown, unknown_room;
};

/* ---- reading */

static bool is_recording(const char *name)
{
    static const char magic[8] = RECORDING_MAGIC;
    char begins[sizeof magic] = "";
    FILE *in = fopen(name, "re");
    size_t n = in ? fread(begins, 1, sizeof begins, in) : 0;

    if (in)
        fclose(in);
    return n == sizeof begins && !memcmp(begins, magic, sizeof magic);
}

/* "": there is none. */
static const char *text_of(const json_t *row, const char *member)
{
    const char *text = json_string_value(json_object_get(row, member));

    return text ? text : "";
}

static json_int_t score_in(const json_t *row)
{
    return json_integer_value(json_object_get(row, "score"));
}

static int add_finding(struct side *side, const json_t *row)
{
    int err = array_room((void **)&side->findings, side->n, &side->room, sizeof *side->findings);
    struct kept_finding *f = err ? NULL : &side->findings[side->n++];

    if (err)
        return err;
    *f = (struct kept_finding){.rule = strdup(text_of(row, "rule")),
                               .kind = strdup(text_of(row, "kind")),
                               .who = strdup(text_of(row, "who")),
                               .what = strdup(text_of(row, "what")),
                               .score = (int)score_in(row)};
    return f->rule && f->kind && f->who && f->what ? 0 : -ENOMEM;
}

static int add_unknown(struct side *side, const json_t *row)
{
    int err = array_room((void **)&side->unknown, side->nunknown, &side->unknown_room, sizeof *side->unknown);
    char *what = err ? NULL : strdup(text_of(row, "what"));

    if (!what)
        return -ENOMEM;
    side->unknown[side->nunknown++] = what;
    return 0;
}

static int take_row(struct side *side, const json_t *row, size_t line)
{
    const char *type = text_of(row, "type");

    if (!strcmp(type, "diagnosis_not_known"))
        return side->nunknown < MOST_FINDINGS ? add_unknown(side, row) : 0;
    if (strcmp(type, "diagnosis"))
        return 0; /* report tells what was lost, too */
    if (!*text_of(row, "rule") || !*text_of(row, "kind") || score_in(row) < 1 || score_in(row) > 100)
        return fail(-EINVAL, "%s:%zu: this is no finding: it lacks its rule, kind or score", side->name, line);
    if (side->n == MOST_FINDINGS)
        return fail(-EINVAL, "%s:%zu: more than %d findings", side->name, line, MOST_FINDINGS);
    return add_finding(side, row);
}

static int read_line(struct side *side, const char *text, size_t size, size_t line)
{
    json_error_t at;
    json_t *row = json_loadb(text, size, 0, &at);
    int err;

    if (!row && json_error_code(&at) == json_error_out_of_memory)
        return -ENOMEM;
    if (json_is_object(row))
        err = take_row(side, row, line);
    else
        err = fail(-EINVAL, "%s:%zu:%d: this is no line of erlsnoop diagnose --json, nor is the file a recording",
                   side->name, line, row || at.position < 1 ? 1 : at.position);
    json_decref(row);
    return err;
}

static int read_rows(struct side *side, FILE *in)
{
    char *text = malloc(MOST_LINE);
    int err = text ? 0 : -ENOMEM;

    for (size_t line = 1; !err; line++) {
        size_t n = 0;
        int c;

        while ((c = getc(in)) != EOF && c != '\n' && n < MOST_LINE)
            text[n++] = (char)c;
        if (c != EOF && c != '\n')
            err = fail(-EINVAL, "%s:%zu: this line is longer than %d bytes", side->name, line, MOST_LINE);
        else if (n)
            err = read_line(side, text, n, line);
        if (c == EOF)
            break;
    }
    if (!err && ferror(in))
        err = fail(-EIO, "cannot read '%s'", side->name);
    free(text);
    return err == -ENOMEM ? fail(err, "out of memory") : err;
}

/* ---- comparing */

static bool looked_for(const struct side *side, const char *rule)
{
    for (size_t i = 0; i < side->nunknown; i++)
        if (!strcmp(side->unknown[i], rule))
            return false;
    return true;
}

/* NULL: there is none that has no counterpart yet. */
static struct kept_finding *take_counterpart(const struct side *side, const struct kept_finding *f)
{
    for (size_t i = 0; i < side->n; i++) {
        struct kept_finding *other = &side->findings[i];

        if (!other->taken && !strcmp(other->rule, f->rule) && !strcmp(other->who, f->who)) {
            other->taken = true;
            return other;
        }
    }
    return NULL;
}

static const char *change_of(const struct kept_finding *was, const struct kept_finding *is)
{
    return is->score > was->score + NOTHING   ? "heavier"
           : is->score + NOTHING < was->score ? "lighter"
                                              : "same";
}

static struct sink_value score_of(const struct kept_finding *f)
{
    return f ? SINK_N((uint64_t)f->score) : SINK_NONE;
}

/* was, is: NULL: it is not there. */
static void print_row(struct sink *sink, const char *change, const struct kept_finding *was,
                      const struct kept_finding *is)
{
    static const struct sink_column columns[] = {{"change", "CHANGE", SINK_TEXT, 9},
                                                 {"score", "SCORE", SINK_COUNT, 5},
                                                 {"was", "WAS", SINK_COUNT, 3},
                                                 {"finding", "FINDING", SINK_TEXT, 0}};
    static const struct sink_column whole_columns[] = {
        {"change", NULL, SINK_TEXT, 0}, {"rule", NULL, SINK_TEXT, 0}, {"kind", NULL, SINK_TEXT, 0},
        {"who", NULL, SINK_TEXT, 0},    {"score", NULL, SINK_COUNT, 0}, {"was_score", NULL, SINK_COUNT, 0},
        {"what", NULL, SINK_TEXT, 0},   {"was", NULL, SINK_TEXT, 0}};
    static const struct sink_table table = {"diff", NULL, columns, 4}, whole_table = {"diff", NULL, whole_columns, 8};
    const struct kept_finding *any = is ? is : was;
    char text[1024];

    if (sink->ops->for_programs) {
        sink_row(sink, &whole_table,
                 (struct sink_value[]){SINK_S(change), SINK_S(any->rule), SINK_S(any->kind), sink_text(any->who),
                                       score_of(is), score_of(was), sink_text(is ? is->what : ""),
                                       sink_text(was ? was->what : "")});
        return;
    }
    snprintf(text, sizeof text, "%s%s%s", any->kind, *any->who ? ": " : "", any->who);
    sink_row(sink, &table, (struct sink_value[]){SINK_S(change), score_of(is), score_of(was), SINK_S(text)});
}

/* Returns how many findings are new or heavier. Findings are marked: once. */
static int print_changes(const struct side *before, const struct side *after, struct sink *sink)
{
    int worse = 0;

    for (size_t i = 0; i < after->n; i++) {
        struct kept_finding *is = &after->findings[i], *was = take_counterpart(before, is);
        const char *change = was ? change_of(was, is) : looked_for(before, is->rule) ? "new" : "not known";

        worse += !strcmp(change, "new") || !strcmp(change, "heavier");
        if (strcmp(change, "same") || sink->ops->for_programs)
            print_row(sink, change, was, is);
    }
    for (size_t i = 0; i < before->n; i++)
        if (!before->findings[i].taken)
            print_row(sink, looked_for(after, before->findings[i].rule) ? "gone" : "not known", &before->findings[i],
                      NULL);
    return worse;
}

/* ---- all of it */

static int read_recording(struct side *side, int (*diagnose)(const char *name, FILE *out))
{
    char *text = NULL;
    size_t size = 0;
    FILE *file = open_memstream(&text, &size);
    int err = file ? diagnose(side->name, file) : fail(-ENOMEM, "out of memory");

    if (file && fclose(file) && err >= 0)
        err = fail(-ENOMEM, "out of memory");
    file = err >= 0 && size ? fmemopen(text, size, "r") : NULL;
    if (file) {
        err = read_rows(side, file);
        fclose(file);
    }
    free(text);
    return err < 0 ? err : 0;
}

static int read_side(struct side *side, const char *name, int (*diagnose)(const char *name, FILE *out))
{
    FILE *file;
    int err;

    side->name = name;
    if (is_recording(name))
        return read_recording(side, diagnose);
    file = fopen(name, "re");
    if (!file)
        return fail(-errno, "cannot read '%s': %s", name, strerror(errno));
    err = read_rows(side, file);
    fclose(file);
    return err;
}

static void end_side(struct side *side)
{
    for (size_t i = 0; i < side->n; i++) {
        free(side->findings[i].rule);
        free(side->findings[i].kind);
        free(side->findings[i].who);
        free(side->findings[i].what);
    }
    for (size_t i = 0; i < side->nunknown; i++)
        free(side->unknown[i]);
    free(side->findings);
    free(side->unknown);
}

int report_diff(const char *const files[2], int (*diagnose)(const char *name, FILE *out), const struct options *options)
{
    struct side before = {0}, after = {0};
    struct sink sink;
    int err = read_side(&before, files[0], diagnose), worse, ended;

    err = err ? err : read_side(&after, files[1], diagnose);
    if (!err) {
        sink_init(&sink, stdout, options->form, options->timestamps);
        sink_moment(&sink, clock_ns(CLOCK_MONOTONIC));
        worse = print_changes(&before, &after, &sink);
        ended = sink_end(&sink);
        note("findings: %zu before, %zu after; %d new or heavier", before.n, after.n, worse);
        err = ended ? ended : worse ? DIAGNOSIS_FOUND : 0;
    }
    end_side(&before);
    end_side(&after);
    return err;
}
