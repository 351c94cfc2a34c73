/* SPDX-License-Identifier: Apache-2.0 */
/* Invariant: what the process has is told by its shape; contents of messages only when they were asked for. */
#include "ps_process.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "common/fail.h"
#include "common/term_text.h"
#include "otp/names.h"
#include "ps_mail.h"
#include "ps_ties.h"

/* ---- which */

enum { MOST_SHOWN = 5 };

struct sought {
    const struct inspected *vm;
    ev_id id; /* 0: by name */
    uint64_t atom;
    char owner[PS_NAME_BYTES]; /* as tables print it */
    int n;
    struct snapshot_process is; /* the first */
    char pids[MOST_SHOWN * (SNAPSHOT_PID_BYTES + 2)];
};

static int is_sought(void *ctx, const struct snapshot_process *is)
{
    struct sought *sought = ctx;
    uint64_t atom;

    if (sought->id ? is->id != sought->id
                   : !snapshot_registered(sought->vm->snapshot, is, &atom) || atom != sought->atom)
        return 0;
    sought->is = *is;
    sought->n = 1;
    return 1;
}

/* One of those that are called so: by a label or what it began with, or a name that is not spelled as the VM does. */
static int is_called(void *ctx, const struct snapshot_process *is)
{
    struct sought *sought = ctx;
    size_t used = strlen(sought->pids);
    struct ps_texts t;

    ps_texts_fill(sought->vm, is, &t);
    if (strcmp(t.owner, sought->owner))
        return 0;
    if (!sought->n)
        sought->is = *is;
    if (sought->n++ < MOST_SHOWN)
        snprintf(sought->pids + used, sizeof sought->pids - used, "%s%s", used ? ", " : "", t.pid);
    return 0;
}

/* <0.93.0>, or 0.93.0. */
static bool parse_pid(const char *text, ev_id *out)
{
    static const char *const formats[] = {"<0.%" SCNu32 ".%" SCNu32 ">%n", "0.%" SCNu32 ".%" SCNu32 "%n"};
    uint32_t number, serial;

    for (size_t i = 0; i < sizeof formats / sizeof *formats; i++) {
        int end = 0;

        if (sscanf(text, formats[i], &number, &serial, &end) == 2 && end && !text[end]) {
            *out = ev_id_of_pid(number, serial);
            return true;
        }
    }
    return false;
}

/* ---- its stack */

struct frames {
    const struct inspected *vm;
    struct sink *sink;
    const char *pid;
    uint64_t n;
};

static int print_frame(void *ctx, const struct snapshot_frame *frame)
{
    static const struct sink_column frame_columns[] = {
        {"depth", "FRAME", SINK_COUNT, 5}, {"function", "FUNCTION", SINK_TEXT, 0}, {"line", "LINE", SINK_TEXT, -1}};
    static const struct sink_column whole_frame_columns[] = {{"vm", NULL, SINK_COUNT, 0},
                                                             {"process", NULL, SINK_TEXT, 0},
                                                             {"depth", NULL, SINK_COUNT, 0},
                                                             {"function", NULL, SINK_TEXT, 0},
                                                             {"line", NULL, SINK_TEXT, 0}};
    static const struct sink_table frame_table = {"process_frame", NULL, frame_columns, 3},
                                   whole_frame_table = {"process_frame", NULL, whole_frame_columns, 5};
    struct frames *frames = ctx;
    char line[300] = "";
    bool whole = frames->sink->ops->for_programs;
    struct sink_value values[] = {SINK_N(frames->vm->pid), SINK_S(frames->pid), SINK_N(++frames->n),
                                  SINK_S(frame->function), SINK_S(line)};

    if (frame->file[0])
        snprintf(line, sizeof line, "%s:%u", frame->file, frame->line);
    else
        values[4] = SINK_NONE;
    sink_row(frames->sink, whole ? &whole_frame_table : &frame_table, whole ? values : values + 2);
    return 0;
}

/* ---- what it is */

static void print_member(struct sink *sink, const char *what, const char *value)
{
    static const struct sink_column member_columns[] = {{"what", "WHAT", SINK_TEXT, 10},
                                                        {"value", "VALUE", SINK_TEXT, -1}};
    static const struct sink_table member_table = {"process_member", NULL, member_columns, 2};

    if (*value)
        sink_row(sink, &member_table, (struct sink_value[]){SINK_S(what), SINK_S(value)});
}

static void print_number(struct sink *sink, const char *what, uint64_t number, bool bytes)
{
    char text[32];

    if (bytes)
        sink_format_size(text, sizeof text, number);
    else
        snprintf(text, sizeof text, "%" PRIu64, number);
    print_member(sink, what, text);
}

static void print_ties_counts(const struct ps_ties *ties, struct sink *sink)
{
    static const struct {
        enum snapshot_tie tie;
        const char *what;
    } rows[] = {{SNAPSHOT_LINK, "links"}, {SNAPSHOT_WATCHES, "monitors"}, {SNAPSHOT_WATCHED_BY, "monitored by"}};

    for (size_t i = 0; ties->has && i < sizeof rows / sizeof *rows; i++)
        print_number(sink, rows[i].what, ties->counts[rows[i].tie], false);
}

static void print_members(const struct snapshot_process *is, const struct ps_texts *t, const struct ps_ties *ties,
                          struct sink *sink)
{
    print_member(sink, "process", t->pid);
    print_member(sink, "name", t->names[OTP_OWNER_REGISTERED]);
    print_member(sink, "label", t->names[OTP_OWNER_LABEL]);
    print_member(sink, "began with", t->names[OTP_OWNER_CALL]);
    print_member(sink, "parent", t->parent);
    print_member(sink, "status", ps_status_text(is));
    print_number(sink, is->more ? "messages, at least" : "messages", is->messages, false);
    print_number(sink, "heap", is->heap_words * SNAPSHOT_WORD, true);
    print_number(sink, "old heap", is->old_heap_words * SNAPSHOT_WORD, true);
    print_number(sink, "fragments", is->fragment_words * SNAPSHOT_WORD, true);
    print_number(sink, "binaries", snapshot_binary_bytes(is), true);
    print_number(sink, "reductions", is->reductions, false);
    print_ties_counts(ties, sink);
}

/* ---- all of it */

/* Fails: as snapshot_processes; -ENOENT; -ENOTUNIQ, said. */
static int find(const struct inspected *vm, const char *which, struct snapshot_process *out)
{
    struct sought sought = {.vm = vm, .atom = WIRE_NO_ATOM};
    int err = 0;

    if (!parse_pid(which, &sought.id))
        sought.atom = names_find_atom(vm->names, vm->pid, which);
    if (sought.id || sought.atom != WIRE_NO_ATOM)
        err = snapshot_processes(vm->snapshot, is_sought, &sought, NULL);
    if (!sought.id && !sought.n) {
        term_text_respell(&(struct term_text){sought.owner, sizeof sought.owner, 0}, which);
        err = snapshot_processes(vm->snapshot, is_called, &sought, NULL);
    }
    if (sought.n > 1)
        return fail(-ENOTUNIQ, "several processes are called '%s': %s%s; choose one by its pid", sought.owner,
                    sought.pids, sought.n > MOST_SHOWN ? ", and others" : "");
    *out = sought.is;
    return sought.n ? 0 : err < 0 ? err : -ENOENT;
}

static int print_all(const struct inspected *vm, const struct snapshot_process *is, const struct ps_ties *ties,
                     bool contents, struct sink *sink)
{
    struct frames frames = {.vm = vm, .sink = sink};
    uint64_t limit = 0;
    struct ps_texts t;
    int err;

    snapshot_process_limit(vm->snapshot, &limit);
    ps_texts_fill(vm, is, &t);
    if (sink->ops->for_programs)
        ps_print_whole(vm, is, &t, SINK_NONE, ps_born(vm, is, limit), sink);
    else
        print_members(is, &t, ties, sink);
    frames.pid = t.pid;
    err = snapshot_stack(vm->snapshot, is, print_frame, &frames);
    if (err)
        return err;
    ps_ties_print(ties, vm, t.pid, sink);
    err = ps_messages_print(vm, is, &t, contents, sink);
    err = err ? err : ps_calls_print(vm, is, &t, sink);
    return err ? err : ps_dictionary_print(vm, is, &t, contents, sink);
}

int ps_process_print(const struct inspected *vm, const char *which, bool contents, struct sink *sink)
{
    struct ps_ties ties = {0};
    struct snapshot_process is;
    int err = find(vm, which, &is);

    err = err ? err : ps_ties_read(&ties, vm, &is);
    err = err ? err : print_all(vm, &is, &ties, contents, sink);
    ps_ties_end(&ties);
    return err == -ESRCH ? -ENOENT : err;
}
