/* SPDX-License-Identifier: Apache-2.0 */
#include "diagnose_print.h"

#include <stdio.h>
#include <string.h>

#include "common/clock.h"
#include "diagnose_unknown.h"

enum {
    LINE = 72,         /* columns of a line of text, behind those of the score */
    LINE_UNKNOWN = 65, /* and behind what is not known */
};

/* `text` with the words PID and WHO as they are here. */
static void fill_words(const struct diagnosis *d, const struct finding *f, const char *text, char *out, size_t size)
{
    size_t used = 0;

    for (; *text && used + 1 < size; text++) {
        bool pid = !strncmp(text, "PID", 3), who = !strncmp(text, "WHO", 3);

        if (pid)
            used += (size_t)snprintf(out + used, size - used, "%u", d->pid);
        else if (who)
            used += (size_t)snprintf(out + used, size - used, "0.%u.%u", ev_id_number(f->process),
                                     ev_id_serial(f->process));
        else
            out[used++] = *text;
        text += pid || who ? 2 : 0;
    }
    out[used < size ? used : size - 1] = '\0';
}

/* Of a recording: the question whose events the finding goes by; "": a team's own rule that says where to look. */
static const char *see_in_file(const struct finding *f)
{
    struct counted_need need = {.next = f->text->needs};

    return counted_next_need(&need) ? views[need.view].name : "";
}

const char *diagnosis_see(const struct diagnosis *d, const struct finding *f, char buf[DIAGNOSIS_SEE_BYTES])
{
    const char *view = d->file ? see_in_file(f) : "";

    if (*view)
        snprintf(buf, DIAGNOSIS_SEE_BYTES, "erlsnoop report %s %s", d->file, view);
    else
        fill_words(d, f, f->text->see, buf, DIAGNOSIS_SEE_BYTES);
    return buf;
}

static const struct sink_column columns[] = {{"score", "SCORE", SINK_TEXT, 5}, {"finding", "FINDING", SINK_TEXT, -1}};
static const struct sink_table table = {"diagnosis", NULL, columns, 2};

/* Broken between words into lines of so many columns, below each other behind the label that the first has. */
static void print_lines(struct sink *sink, const struct sink_table *to, size_t columns, const char *first,
                        const char *label, const char *text)
{
    int indent = (int)strlen(label);
    size_t room = columns - strlen(label);
    char line[1024];

    while (*text) {
        size_t n = strlen(text);

        if (n > room) {
            for (n = room; n && text[n] != ' '; n--)
                ;
            n = n ? n : strcspn(text, " ");
        }
        snprintf(line, sizeof line, "%-*s%.*s", indent, label, (int)n, text);
        sink_row(sink, to, (struct sink_value[]){SINK_S(first), SINK_S(line)});
        text += n + (text[n] == ' ');
        label = first = "";
    }
}

static void print_text(struct sink *sink, const char *score, const char *label, const char *text)
{
    print_lines(sink, &table, LINE, score, label, text);
}

static void print_people(const struct diagnosis *d, struct sink *sink, const struct finding *f)
{
    const struct finding_text *t = f->text;
    char score[8], text[1024], see[DIAGNOSIS_SEE_BYTES];

    snprintf(score, sizeof score, "%5d", f->score);
    snprintf(text, sizeof text, "%s%s%s", t->kind, *f->who ? ": " : "", f->who);
    print_text(sink, score, "", text);
    print_text(sink, "", "  ", f->what);
    print_text(sink, "", "  why:  ", t->why);
    print_text(sink, "", "  do:   ", t->what_to_do);
    if (f->from)
        print_text(sink, "", "  from: ", f->from->kind);
    print_text(sink, "", "  more: ", diagnosis_see(d, f, see));
}

static void print_programs(const struct diagnosis *d, struct sink *sink, const struct finding *f, uint64_t rank)
{
    static const struct sink_column whole_columns[] = {
        {"vm", NULL, SINK_COUNT, 0},     {"rank", NULL, SINK_COUNT, 0}, {"score", NULL, SINK_COUNT, 0},
        {"rule", NULL, SINK_TEXT, 0},    {"kind", NULL, SINK_TEXT, 0},  {"who", NULL, SINK_TEXT, 0},
        {"process", NULL, SINK_TEXT, 0}, {"what", NULL, SINK_TEXT, 0},  {"why", NULL, SINK_TEXT, 0},
        {"todo", NULL, SINK_TEXT, 0},    {"more", NULL, SINK_TEXT, 0},  {"from", NULL, SINK_TEXT, 0}};
    static const struct sink_table whole_table = {"diagnosis", NULL, whole_columns, 12};
    const struct finding_text *t = f->text;
    char pid[SNAPSHOT_PID_BYTES], see[DIAGNOSIS_SEE_BYTES];

    sink_row(sink, &whole_table,
             (struct sink_value[]){SINK_N(d->pid), SINK_N(rank), SINK_N((uint64_t)f->score), SINK_S(t->rule),
                                   SINK_S(t->kind), sink_text(f->who), sink_text(snapshot_pid_text(f->process, pid)),
                                   SINK_S(f->what), SINK_S(t->why), SINK_S(t->what_to_do),
                                   SINK_S(diagnosis_see(d, f, see)),
                                   f->from ? SINK_S(f->from->rule) : SINK_NONE});
}

static void print_unknown(void *ctx, const char *what, const char *why)
{
    static const struct sink_column unknown_columns[] = {{"what", "NOT KNOWN", SINK_TEXT, 14},
                                                         {"why", "WHY", SINK_TEXT, -1}};
    static const struct sink_table unknown_table = {"diagnosis_not_known", NULL, unknown_columns, 2};
    struct sink *sink = ctx;

    if (sink->ops->for_programs)
        sink_row(sink, &unknown_table, (struct sink_value[]){SINK_S(what), SINK_S(why)});
    else
        print_lines(sink, &unknown_table, LINE_UNKNOWN, what, "", why);
}

void diagnosis_print(const struct diagnosis *d, struct sink *sink, size_t shown)
{
    bool for_programs = sink->ops->for_programs;

    sink_moment(sink, clock_ns(CLOCK_MONOTONIC));
    for (size_t i = 0; i < d->found->n && i < shown; i++)
        if (for_programs)
            print_programs(d, sink, &d->found->all[i], i + 1);
        else
            print_people(d, sink, &d->found->all[i]);
    diagnosis_unknown(d, for_programs, print_unknown, sink);
}
