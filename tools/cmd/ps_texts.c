/* SPDX-License-Identifier: Apache-2.0 */
#include "ps_texts.h"

#include <stdio.h>

#include "otp/names.h"

void ps_texts_fill(const struct inspected *vm, const struct snapshot_process *is, struct ps_texts *out)
{
    struct wire_name names[OTP_OWNER_NAMES];
    const struct wire_name *called = snapshot_names(vm->snapshot, is, names);
    char buf[PS_NAME_BYTES];

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

/* For programs: each member. */
static const struct sink_column whole_columns[] = {
    {"vm", NULL, SINK_COUNT, 0},        {"process", NULL, SINK_TEXT, 0},  {"owner", NULL, SINK_TEXT, 0},
    {"messages", NULL, SINK_COUNT, 0},  {"memory", NULL, SINK_SIZE, 0},   {"heap", NULL, SINK_SIZE, 0},
    {"old_heap", NULL, SINK_SIZE, 0},   {"binaries", NULL, SINK_SIZE, 0}, {"reductions", NULL, SINK_COUNT, 0},
    {"reductions", NULL, SINK_RATE, 0}, {"status", NULL, SINK_TEXT, 0},   {"at", NULL, SINK_TEXT, 0},
    {"registered", NULL, SINK_TEXT, 0}, {"label", NULL, SINK_TEXT, 0},    {"call", NULL, SINK_TEXT, 0},
    {"parent", NULL, SINK_TEXT, 0},     {"born", NULL, SINK_COUNT, 0}};
static const struct sink_table whole_table = {"process", NULL, whole_columns, 17};

struct sink_value ps_born(const struct inspected *vm, const struct snapshot_process *is, uint64_t limit)
{
    uint64_t order;

    return limit && snapshot_birth(vm->snapshot, is->id, limit, &order) ? SINK_N(order) : SINK_NONE;
}

const char *ps_status_text(const struct snapshot_process *is)
{
    return is->hibernated && is->status == SNAPSHOT_WAITING ? "hibernated" : snapshot_status_text(is->status);
}

void ps_print_whole(const struct inspected *vm, const struct snapshot_process *is, const struct ps_texts *t,
                    struct sink_value rate, struct sink_value born, struct sink *sink)
{
    sink_row(sink, &whole_table,
             (struct sink_value[]){SINK_N(vm->pid), SINK_S(t->pid), sink_text(t->owner), SINK_N(is->messages),
                                   SINK_N(snapshot_memory_bytes(is)), SINK_N(is->heap_words * SNAPSHOT_WORD),
                                   SINK_N(is->old_heap_words * SNAPSHOT_WORD), SINK_N(snapshot_binary_bytes(is)),
                                   SINK_N(is->reductions), rate, SINK_S(ps_status_text(is)), sink_text(t->at),
                                   sink_text(t->names[OTP_OWNER_REGISTERED]), sink_text(t->names[OTP_OWNER_LABEL]),
                                   sink_text(t->names[OTP_OWNER_CALL]), sink_text(t->parent), born});
}
