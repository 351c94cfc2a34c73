/* SPDX-License-Identifier: Apache-2.0 */
/* Invariant: of a look only rows that are shown are kept, and the reductions of all when another look comes. */
#include "ps_processes.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/array.h"
#include "common/clock.h"
#include "otp/names.h"

enum { NAME_BYTES = 4096, STATUSES = SNAPSHOT_EXITING + 1 };

struct row {
    struct snapshot_process is;
    uint64_t recent; /* reductions since the look before; all when it was born since */
};

/* How many reductions a process had. */
struct past {
    ev_id id;
    uint64_t reductions;
};

struct ps_processes {
    enum ps_sort sort;
    size_t top; /* 0: all */
    struct row *rows;
    size_t n, room;
    uint64_t statuses[STATUSES];
    struct past *before, *now; /* before: by id; NULL: this is the first look */
    size_t nbefore, nnow, room_now;
    bool repeats;
    uint64_t before_ns, now_ns;
};

struct ps_processes *ps_processes_new(enum ps_sort sort, size_t top)
{
    struct ps_processes *p = calloc(1, sizeof *p);

    if (p)
        *p = (struct ps_processes){.sort = sort, .top = top};
    return p;
}

void ps_processes_free(struct ps_processes *p)
{
    if (!p)
        return;
    free(p->rows);
    free(p->before);
    free(p->now);
    free(p);
}

/* ---- the order */

static uint64_t key_of(const struct row *row, enum ps_sort sort)
{
    switch (sort) {
    case PS_MAILBOX: return row->is.messages;
    case PS_MEMORY: return snapshot_memory_bytes(&row->is);
    case PS_BINARIES: return snapshot_binary_bytes(&row->is);
    default: return row->recent;
    }
}

/* Those that have as much of it: by memory, then by pid. */
static int compare_rows(const void *a, const void *b, void *ctx)
{
    const struct row *x = a, *y = b;
    enum ps_sort sort = *(enum ps_sort *)ctx;
    uint64_t keys[][2] = {{key_of(y, sort), key_of(x, sort)},
                          {snapshot_memory_bytes(&y->is), snapshot_memory_bytes(&x->is)},
                          {x->is.id, y->is.id}};

    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
        if (keys[i][0] != keys[i][1])
            return keys[i][0] < keys[i][1] ? -1 : 1;
    return 0;
}

static void sort_rows(struct ps_processes *p)
{
    if (p->n)
        qsort_r(p->rows, p->n, sizeof *p->rows, compare_rows, &p->sort);
    if (p->top && p->n > p->top)
        p->n = p->top;
}

/* ---- a look */

static int compare_past(const void *a, const void *b)
{
    const struct past *x = a, *y = b;

    return x->id < y->id ? -1 : x->id > y->id;
}

static int keep_past(struct ps_processes *p, const struct snapshot_process *is)
{
    int err = array_room((void **)&p->now, p->nnow, &p->room_now, sizeof *p->now);

    if (!err)
        p->now[p->nnow++] = (struct past){is->id, is->reductions};
    return err;
}

/* Rows that are too many go once they are twice as many as are kept. */
static int keep_row(struct ps_processes *p, const struct row *row)
{
    int err;

    if (p->top && p->n >= 2 * p->top)
        sort_rows(p);
    err = array_room((void **)&p->rows, p->n, &p->room, sizeof *p->rows);
    if (!err)
        p->rows[p->n++] = *row;
    return err;
}

static int take(void *ctx, const struct snapshot_process *is)
{
    struct ps_processes *p = ctx;
    struct row row = {.is = *is, .recent = is->reductions};
    const struct past *past =
        p->before ? bsearch(&(struct past){.id = is->id}, p->before, p->nbefore, sizeof *p->before, compare_past)
                  : NULL;
    int err;

    if (past)
        row.recent = is->reductions > past->reductions ? is->reductions - past->reductions : 0;
    p->statuses[is->status]++;
    err = keep_row(p, &row);
    return err || !p->repeats ? err : keep_past(p, is);
}

int ps_processes_look(struct ps_processes *p, const struct inspected *vm, bool repeats, struct snapshot_count *count)
{
    int err;

    free(p->before);
    p->before = p->now;
    p->nbefore = p->nnow;
    p->now = NULL;
    p->n = p->nnow = p->room_now = 0;
    p->repeats = repeats;
    memset(p->statuses, 0, sizeof p->statuses);
    if (p->before)
        qsort(p->before, p->nbefore, sizeof *p->before, compare_past);
    p->before_ns = p->now_ns;
    p->now_ns = clock_ns(CLOCK_MONOTONIC);
    err = snapshot_processes(vm->snapshot, take, p, count);
    sort_rows(p);
    return err;
}

uint64_t ps_processes_count(const struct ps_processes *p, enum snapshot_status status)
{
    return p->statuses[status];
}

/* ---- tables */

/* What is text of a process; "": it has none. */
struct texts {
    char pid[SNAPSHOT_PID_BYTES], parent[SNAPSHOT_PID_BYTES];
    char owner[NAME_BYTES], names[OTP_OWNER_NAMES][NAME_BYTES], at[NAME_BYTES];
};

static void fill_texts(const struct inspected *vm, const struct snapshot_process *is, struct texts *out)
{
    struct wire_name names[OTP_OWNER_NAMES];
    const struct wire_name *called = snapshot_names(vm->snapshot, is, names);
    char buf[NAME_BYTES];

    snapshot_pid_text(is->id, out->pid);
    snapshot_pid_text(is->parent, out->parent);
    out->owner[0] = '\0';
    if (called)
        snprintf(out->owner, sizeof out->owner, "%s", names_text(vm->names, vm->pid, called, buf, sizeof buf));
    for (size_t i = 0; i < OTP_OWNER_NAMES; i++) {
        bool has = called && !(names[i].form == WIRE_TEXT && !names[i].text[0]);

        snprintf(out->names[i], sizeof out->names[i], "%s",
                 has ? names_text(vm->names, vm->pid, &names[i], buf, sizeof buf) : "");
    }
    if (!snapshot_place(vm->snapshot, is, out->at, sizeof out->at))
        out->at[0] = '\0';
}

/* One table for people; for programs each member. */
static const struct sink_column columns[] = {
    {"process", "PROCESS", SINK_TEXT, 0},   {"owner", "OWNER", SINK_TEXT, 14},
    {"messages", "MAILBOX", SINK_COUNT, 7}, {"memory", "MEMORY", SINK_SIZE, 7},
    {"binaries", "BINARIES", SINK_SIZE, 8}, {"reductions", "REDS", SINK_COUNT, 8},
    {"status", "STATUS", SINK_TEXT, 0},     {"at", "AT", SINK_TEXT, 0}};
static const struct sink_column rate_columns[] = {
    {"process", "PROCESS", SINK_TEXT, 0},   {"owner", "OWNER", SINK_TEXT, 14},
    {"messages", "MAILBOX", SINK_COUNT, 7}, {"memory", "MEMORY", SINK_SIZE, 7},
    {"binaries", "BINARIES", SINK_SIZE, 8}, {"reductions", "REDS/S", SINK_COUNT, 8},
    {"status", "STATUS", SINK_TEXT, 0},     {"at", "AT", SINK_TEXT, 0}};
static const struct sink_column whole_columns[] = {
    {"vm", NULL, SINK_COUNT, 0},        {"process", NULL, SINK_TEXT, 0},  {"owner", NULL, SINK_TEXT, 0},
    {"messages", NULL, SINK_COUNT, 0},  {"memory", NULL, SINK_SIZE, 0},   {"heap", NULL, SINK_SIZE, 0},
    {"old_heap", NULL, SINK_SIZE, 0},   {"binaries", NULL, SINK_SIZE, 0}, {"reductions", NULL, SINK_COUNT, 0},
    {"reductions", NULL, SINK_RATE, 0}, {"status", NULL, SINK_TEXT, 0},   {"at", NULL, SINK_TEXT, 0},
    {"registered", NULL, SINK_TEXT, 0}, {"label", NULL, SINK_TEXT, 0},    {"call", NULL, SINK_TEXT, 0},
    {"parent", NULL, SINK_TEXT, 0}};
static const struct sink_table table = {"process", NULL, columns, 8}, rate_table = {"process", NULL, rate_columns, 8},
                               whole_table = {"process", NULL, whole_columns, 16};

static const char *status_text(const struct snapshot_process *is)
{
    return is->hibernated && is->status == SNAPSHOT_WAITING ? "hibernated" : snapshot_status_text(is->status);
}

static void print_whole(const struct inspected *vm, const struct snapshot_process *is, const struct texts *t,
                        struct sink_value rate, struct sink *sink)
{
    sink_row(sink, &whole_table,
             (struct sink_value[]){SINK_N(vm->pid), SINK_S(t->pid), sink_text(t->owner), SINK_N(is->messages),
                                   SINK_N(snapshot_memory_bytes(is)), SINK_N(is->heap_words * SNAPSHOT_WORD),
                                   SINK_N(is->old_heap_words * SNAPSHOT_WORD), SINK_N(snapshot_binary_bytes(is)),
                                   SINK_N(is->reductions), rate, SINK_S(status_text(is)), sink_text(t->at),
                                   sink_text(t->names[OTP_OWNER_REGISTERED]), sink_text(t->names[OTP_OWNER_LABEL]),
                                   sink_text(t->names[OTP_OWNER_CALL]), sink_text(t->parent)});
}

static void print_row(const struct ps_processes *p, const struct inspected *vm, const struct row *row,
                      struct sink *sink)
{
    const struct snapshot_process *is = &row->is;
    double seconds = (double)(p->now_ns - p->before_ns) / 1e9;
    bool rates = p->before && seconds > 0;
    double rate = rates ? (double)row->recent / seconds : 0;
    struct texts t;

    fill_texts(vm, is, &t);
    if (sink->ops->for_programs)
        print_whole(vm, is, &t, rates ? SINK_R(rate) : SINK_NONE, sink);
    else
        sink_row(sink, p->before ? &rate_table : &table,
                 (struct sink_value[]){SINK_S(t.pid), sink_text(t.owner), SINK_N(is->messages),
                                       SINK_N(snapshot_memory_bytes(is)), SINK_N(snapshot_binary_bytes(is)),
                                       SINK_N(rates ? (uint64_t)rate : is->reductions), SINK_S(status_text(is)),
                                       sink_text(t.at)});
}

void ps_processes_print(const struct ps_processes *p, const struct inspected *vm, struct sink *sink)
{
    uint64_t cut = 0;

    for (size_t i = 0; i < p->n; i++) {
        print_row(p, vm, &p->rows[i], sink);
        cut += p->rows[i].is.more;
    }
    sink_lost(sink, cut, "of these mailboxes hold more messages than are counted");
}

/* ---- all of one */

struct sought {
    const struct inspected *vm;
    ev_id id; /* 0: by name */
    uint64_t atom;
    bool found;
    struct snapshot_process is;
};

static int is_sought(void *ctx, const struct snapshot_process *is)
{
    struct sought *sought = ctx;
    uint64_t atom;

    if (sought->id ? is->id != sought->id
                   : !snapshot_registered(sought->vm->snapshot, is, &atom) || atom != sought->atom)
        return 0;
    sought->is = *is;
    sought->found = true;
    return 1;
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

static void print_members(const struct snapshot_process *is, const struct texts *t, struct sink *sink)
{
    print_member(sink, "process", t->pid);
    print_member(sink, "name", t->names[OTP_OWNER_REGISTERED]);
    print_member(sink, "label", t->names[OTP_OWNER_LABEL]);
    print_member(sink, "began with", t->names[OTP_OWNER_CALL]);
    print_member(sink, "parent", t->parent);
    print_member(sink, "status", status_text(is));
    print_number(sink, is->more ? "messages, at least" : "messages", is->messages, false);
    print_number(sink, "heap", is->heap_words * SNAPSHOT_WORD, true);
    print_number(sink, "old heap", is->old_heap_words * SNAPSHOT_WORD, true);
    print_number(sink, "fragments", is->fragment_words * SNAPSHOT_WORD, true);
    print_number(sink, "binaries", snapshot_binary_bytes(is), true);
    print_number(sink, "reductions", is->reductions, false);
}

int ps_process_print(const struct inspected *vm, const char *which, struct sink *sink)
{
    struct sought sought = {.vm = vm};
    struct frames frames = {.vm = vm, .sink = sink};
    struct texts t;
    int err;

    if (!parse_pid(which, &sought.id))
        sought.atom = names_find_atom(vm->names, vm->pid, which);
    if (!sought.id && sought.atom == WIRE_NO_ATOM)
        return -ENOENT;
    err = snapshot_processes(vm->snapshot, is_sought, &sought, NULL);
    if (!sought.found)
        return err ? err : -ENOENT;
    fill_texts(vm, &sought.is, &t);
    if (sink->ops->for_programs)
        print_whole(vm, &sought.is, &t, SINK_NONE, sink);
    else
        print_members(&sought.is, &t, sink);
    frames.pid = t.pid;
    err = snapshot_stack(vm->snapshot, &sought.is, print_frame, &frames);
    return err == -ESRCH ? -ENOENT : err;
}
