/* SPDX-License-Identifier: Apache-2.0 */
#include "findings.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/array.h"
#include "own_rules.h"

const struct finding_text finding_texts[FINDING_RULES] = {
#define FINDING(rule, kind, sign, why, what_to_do, see, needs, explains)                                               \
    {#rule, kind, why, what_to_do, see, needs, explains},
#include "findings.def"
};

enum finding_rule finding_find(const char *rule)
{
    int i = 0;

    while (i < FINDING_RULES && strcmp(finding_texts[i].rule, rule))
        i++;
    return (enum finding_rule)i;
}

bool findings_room(const struct findings *out, enum finding_rule rule)
{
    return out->of_rule[rule] < FINDINGS_OF_RULE;
}

/* NULL: it weighs nothing, or there is no memory. */
static struct finding *add(struct findings *out, enum finding_rule rule, const struct finding_text *text, double score,
                           ev_id process, const char *who)
{
    struct finding *f;
    int err = score >= 1 ? array_room((void **)&out->all, out->n, &out->room, sizeof *out->all) : 0;

    out->err = err ? err : out->err;
    if (!(score >= 1) || err)
        return NULL;
    f = &out->all[out->n++];
    *f = (struct finding){.rule = rule,
                          .text = text,
                          .score = score > 100 ? 100 : (int)score,
                          .process = process};
    snprintf(f->who, sizeof f->who, "%s", who);
    return f;
}

void findings_add(struct findings *out, enum finding_rule rule, double score, ev_id process, const char *who,
                  const char *format, ...)
{
    struct finding *f = findings_room(out, rule) ? add(out, rule, &finding_texts[rule], score, process, who) : NULL;
    va_list args;

    if (!f)
        return;
    out->of_rule[rule]++;
    va_start(args, format);
    vsnprintf(f->what, sizeof f->what, format, args);
    va_end(args);
}

void findings_add_own(struct findings *out, const struct finding_text *text, double score, ev_id process,
                      const char *who, const char *what)
{
    struct finding *f = add(out, FINDING_OWN, text, score, process, who);

    if (f)
        snprintf(f->what, sizeof f->what, "%s", what);
}

void findings_also(struct findings *out, enum finding_rule rule, const char *also)
{
    struct finding *last = out->n ? &out->all[out->n - 1] : NULL;

    if (last && last->rule == rule)
        snprintf(last->also, sizeof last->also, "%s", also);
}

static int compare_findings(const void *a, const void *b)
{
    const struct finding *x = a, *y = b;

    return x->score != y->score ? y->score - x->score : (int)x->rule - (int)y->rule;
}

static void sort_findings(struct findings *out)
{
    if (out->n)
        qsort(out->all, out->n, sizeof *out->all, compare_findings);
}

/* ---- what comes of what */

static bool is_word(const char *words, const char *word)
{
    size_t length = strlen(word);

    for (const char *at = words; (at = strstr(at, word)); at += length)
        if ((at == words || at[-1] == ' ') && (at[length] == ' ' || !at[length]))
            return true;
    return false;
}

static bool is_name_of(const char *name, const struct finding *f)
{
    return *name && (!strcmp(name, f->who) || !strcmp(name, f->also));
}

/* Both are about the same process, or the same name. A cause that is of the VM as a whole must be the heavier. */
static bool is_about_same(const struct finding *cause, const struct finding *f)
{
    if (!*cause->who)
        return cause->score > f->score;
    return (f->process && cause->process == f->process) || is_name_of(cause->who, f) || is_name_of(cause->also, f);
}

/* What a cause does to others is what comes of it, too: it is worth a point more than that, so that it stands above. */
static void put_causes_above(struct findings *out)
{
    for (bool changed = true; changed;) {
        changed = false;
        for (struct finding *cause = out->all; cause < out->all + out->n; cause++)
            for (struct finding *f = out->all; f < out->all + out->n; f++) {
                if (f == cause || !is_word(cause->text->explains, f->text->rule) ||
                    !is_about_same(cause, f))
                    continue;
                f->from = cause->text;
                if (cause->score > f->score || cause->score == 100)
                    continue;
                cause->score = f->score < 100 ? f->score + 1 : 100;
                changed = true;
            }
    }
}

/* ---- rules */

static void (*const rules[FINDING_RULES])(const struct evidence *, struct findings *) = {
#define FINDING(rule, kind, sign, why, what_to_do, see, needs, explains) find_##rule,
#include "findings.def"
};

/* err: of own rules. */
static int end_findings(struct findings *out, int err)
{
    put_causes_above(out);
    sort_findings(out);
    return out->err ? out->err : err;
}

int findings_look(const struct evidence *e, struct findings *out)
{
    *out = (struct findings){0};
    for (int i = 0; i < FINDING_RULES; i++)
        if ((!e->halted || i == FINDING_halted ||
             i == FINDING_near_limit) /* the others would tell of its standing still */
            && counted_serves(e->counted, finding_texts[i].needs, NULL))
            rules[i](e, out);
    return end_findings(out, own_rules_ask(e->own, e, false, out));
}

int findings_count(const struct evidence *e, struct findings *out)
{
    for (int i = 0; i < FINDING_RULES; i++)
        if (finding_needs_events((enum finding_rule)i) && counted_serves(e->counted, finding_texts[i].needs, NULL))
            rules[i](e, out);
    return end_findings(out, own_rules_ask(e->own, e, true, out));
}

bool finding_needs_events(enum finding_rule rule)
{
    return !counted_serves(NULL, finding_texts[rule].needs, NULL);
}

void findings_free(struct findings *findings)
{
    free(findings->all);
    *findings = (struct findings){0};
}

double findings_tens(double number)
{
    double tens = 0;

    if (number < 1)
        return 0;
    for (; number >= 10; tens++)
        number /= 10;
    return tens + (number - 1) / 9;
}
