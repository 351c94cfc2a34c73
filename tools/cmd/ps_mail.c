/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Invariant: a message is counted, or told, once the next one was found or the walk has ended: the last one of a queue
 * that moved may have been overwritten.
 */
#include "ps_mail.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/array.h"
#include "otp/letters.h"
#include "otp/snapshot_one.h"
#include "otp/snapshot_terms.h"

enum {
    LOOKED_AT = 1000, /* messages */
    SHOWN = 20,       /* messages with their contents, pairs of a dictionary: for people */
    MOST_SHAPES = 64, /* told each; what is of others is counted together */
    SHAPE_BYTES = 512,
    CONTENTS_BYTES = 4096,
};

#define FOREIGN_TEXT "(of another node, not decoded yet)"
#define OTHERS_TEXT "(others)"

/* ---- groups of messages */

struct group {
    char *shape;
    uint64_t count, first; /* first: the place of its first message */
};

struct mailbox {
    const struct inspected *vm;
    const char *pid;
    struct sink *sink;
    bool contents;
    struct group *groups;
    size_t n, room;
    uint64_t others, place;
    char pending[CONTENTS_BYTES]; /* of the message that was found last */
    bool has_pending;
};

static int add_to_group(struct mailbox *m, const char *shape)
{
    int err;

    for (size_t i = 0; i < m->n; i++)
        if (!strcmp(m->groups[i].shape, shape)) {
            m->groups[i].count++;
            return 0;
        }
    if (m->n == MOST_SHAPES) {
        m->others++;
        return 0;
    }
    err = array_room((void **)&m->groups, m->n, &m->room, sizeof *m->groups);
    if (err)
        return err;
    m->groups[m->n] = (struct group){strdup(shape), 1, m->place};
    return m->groups[m->n].shape ? m->n++, 0 : -ENOMEM;
}

static void print_contents(struct mailbox *m)
{
    static const struct sink_column columns[] = {{"place", "MESSAGE", SINK_COUNT, 7},
                                                 {"contents", "CONTENTS", SINK_TEXT, -1}};
    static const struct sink_column whole_columns[] = {{"vm", NULL, SINK_COUNT, 0},
                                                       {"process", NULL, SINK_TEXT, 0},
                                                       {"place", NULL, SINK_COUNT, 0},
                                                       {"contents", NULL, SINK_TEXT, 0}};
    static const struct sink_table table = {"process_message", NULL, columns, 2},
                                   whole_table = {"process_message", NULL, whole_columns, 4};
    struct sink_value values[] = {SINK_N(m->vm->pid), SINK_S(m->pid), SINK_N(m->place), SINK_S(m->pending)};
    bool whole = m->sink->ops->for_programs;

    sink_row(m->sink, whole ? &whole_table : &table, whole ? values : values + 2);
}

static int take_pending(struct mailbox *m)
{
    if (!m->has_pending)
        return 0;
    m->has_pending = false;
    m->place++;
    if (!m->contents)
        return add_to_group(m, m->pending);
    print_contents(m);
    return 0;
}

static int take_message(void *ctx, uint64_t term)
{
    struct mailbox *m = ctx;
    int err = take_pending(m);

    if (err)
        return err;
    if (term)
        snapshot_term_text(m->vm->snapshot, term, m->contents ? SNAPSHOT_CONTENTS : SNAPSHOT_SHAPE, m->pending,
                           m->contents ? CONTENTS_BYTES : SHAPE_BYTES);
    else
        snprintf(m->pending, sizeof m->pending, FOREIGN_TEXT);
    m->has_pending = true;
    return 0;
}

/* Those of which there are most, first; else in the order of arrival. */
static int compare_groups(const void *a, const void *b)
{
    const struct group *x = a, *y = b;

    if (x->count != y->count)
        return x->count > y->count ? -1 : 1;
    return x->first < y->first ? -1 : x->first > y->first;
}

static void print_group(const struct mailbox *m, uint64_t count, uint64_t first, const char *shape)
{
    static const struct sink_column columns[] = {{"count", "MESSAGES", SINK_COUNT, 8},
                                                 {"first", "FIRST", SINK_COUNT, 7},
                                                 {"shape", "SHAPE", SINK_TEXT, -1}};
    static const struct sink_column whole_columns[] = {{"vm", NULL, SINK_COUNT, 0},
                                                       {"process", NULL, SINK_TEXT, 0},
                                                       {"count", NULL, SINK_COUNT, 0},
                                                       {"first", NULL, SINK_COUNT, 0},
                                                       {"shape", NULL, SINK_TEXT, 0}};
    static const struct sink_table table = {"process_messages", NULL, columns, 3},
                                   whole_table = {"process_messages", NULL, whole_columns, 5};
    struct sink_value values[] = {SINK_N(m->vm->pid), SINK_S(m->pid), SINK_N(count),
                                  first ? SINK_N(first) : SINK_NONE, SINK_S(shape)};
    bool whole = m->sink->ops->for_programs;

    sink_row(m->sink, whole ? &whole_table : &table, whole ? values : values + 2);
}

static void print_groups(struct mailbox *m)
{
    if (m->n)
        qsort(m->groups, m->n, sizeof *m->groups, compare_groups);
    for (size_t i = 0; i < m->n; i++)
        print_group(m, m->groups[i].count, m->groups[i].first, m->groups[i].shape);
    if (m->others)
        print_group(m, m->others, 0, OTHERS_TEXT);
}

static void print_losses(const struct mailbox *m, const struct snapshot_process *is, const struct snapshot_seen *seen)
{
    if (seen->moved)
        sink_lost(m->sink, 1, "mailbox was read in part: messages were taken from it meanwhile");
    else if (seen->more && is->messages > m->place)
        sink_lost(m->sink, is->messages - m->place, "messages stand behind these");
}

int ps_messages_print(const struct inspected *vm, const struct snapshot_process *is, const struct ps_texts *texts,
                      bool contents, struct sink *sink)
{
    struct mailbox m = {.vm = vm, .pid = texts->pid, .sink = sink, .contents = contents};
    uint64_t most = contents && !sink->ops->for_programs ? SHOWN : LOOKED_AT;
    struct snapshot_seen seen;
    int err = snapshot_messages(vm->snapshot, is, most, take_message, &m, &seen);

    if (!err && !seen.moved)
        err = take_pending(&m);
    if (!err) {
        print_groups(&m);
        print_losses(&m, is, &seen);
    }
    if (err == -ENOTSUP) {
        sink_lost(sink, 1, "erlvm is too old to show messages");
        err = 0;
    }
    for (size_t i = 0; i < m.n; i++)
        free(m.groups[i].shape);
    free(m.groups);
    return err;
}

int ps_calls_print(const struct inspected *vm, const struct snapshot_process *is, const struct ps_texts *texts,
                   struct sink *sink)
{
    static const struct sink_column columns[] = {
        {"vm", NULL, SINK_COUNT, 0},              {"process", NULL, SINK_TEXT, 0},
        {"calls", "CALLS", SINK_COUNT, 8},        {"gave_up", "CALLER GAVE UP", SINK_COUNT, 14},
        {"ended", "CALLER ENDED", SINK_COUNT, 12}, {"elsewhere", "OF OTHER NODES", SINK_COUNT, 14}};
    static const struct sink_table table = {"process_calls", NULL, columns + 2, 4},
                                   whole_table = {"process_calls", NULL, columns, 6};
    struct letters letters;
    int err = letters_read(vm->snapshot, &is, 1, &letters);
    struct sink_value values[] = {SINK_N(vm->pid),          SINK_S(texts->pid),    SINK_N(letters.calls),
                                  SINK_N(letters.gave_up), SINK_N(letters.ended), SINK_N(letters.elsewhere)};
    bool whole = sink->ops->for_programs;

    if (err == -ENOTSUP)
        return 0; /* ps_messages_print says so */
    if (!err && (whole || letters.calls || letters.elsewhere))
        sink_row(sink, whole ? &whole_table : &table, whole ? values : values + 2);
    return err;
}

/* ---- the dictionary */

struct dictionary {
    const struct inspected *vm;
    const char *pid;
    struct sink *sink;
    bool contents;
    uint64_t shown, hidden;
};

static int take_pair(void *ctx, uint64_t key, uint64_t value)
{
    static const struct sink_column columns[] = {{"key", "KEY", SINK_TEXT, 12}, {"value", "VALUE", SINK_TEXT, -1}};
    static const struct sink_column whole_columns[] = {{"vm", NULL, SINK_COUNT, 0},
                                                       {"process", NULL, SINK_TEXT, 0},
                                                       {"key", NULL, SINK_TEXT, 0},
                                                       {"value", NULL, SINK_TEXT, 0}};
    static const struct sink_table table = {"process_key", NULL, columns, 2},
                                   whole_table = {"process_key", NULL, whole_columns, 4};
    struct dictionary *d = ctx;
    enum snapshot_form form = d->contents ? SNAPSHOT_CONTENTS : SNAPSHOT_SHAPE;
    bool whole = d->sink->ops->for_programs;
    char key_text[SHAPE_BYTES], value_text[CONTENTS_BYTES];
    struct sink_value values[] = {SINK_N(d->vm->pid), SINK_S(d->pid), SINK_S(key_text), SINK_S(value_text)};

    if (!whole && d->shown == SHOWN) {
        d->hidden++;
        return 0;
    }
    d->shown++;
    snapshot_term_text(d->vm->snapshot, key, form, key_text, sizeof key_text);
    snapshot_term_text(d->vm->snapshot, value, form, value_text, d->contents ? CONTENTS_BYTES : SHAPE_BYTES);
    sink_row(d->sink, whole ? &whole_table : &table, whole ? values : values + 2);
    return 0;
}

int ps_dictionary_print(const struct inspected *vm, const struct snapshot_process *is, const struct ps_texts *texts,
                        bool contents, struct sink *sink)
{
    struct dictionary d = {.vm = vm, .pid = texts->pid, .sink = sink, .contents = contents};
    struct snapshot_seen seen;
    int err = snapshot_dictionary(vm->snapshot, is, take_pair, &d, &seen);

    if (err)
        return err;
    sink_lost(sink, d.hidden, "keys of its dictionary more, which --json prints");
    sink_lost(sink, seen.moved, "dictionary changed while it was read");
    return 0;
}
