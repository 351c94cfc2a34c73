/* SPDX-License-Identifier: Apache-2.0 */
#include "stacks_tables.h"

#include <stdio.h>
#include <stdlib.h>

enum { LABEL_BYTES = 512 + 300 /* a name; its file and line */, TOP_FUNCTIONS = 15, TOP_STACKS = 5, SHOWN_FRAMES = 10 };

static const struct sink_column total_columns[] = {{"samples", "SAMPLES", SINK_COUNT, 0},
                                                   {"stacks", "STACKS", SINK_COUNT, 0},
                                                   {"no_process", "NO PROCESS", SINK_COUNT, 11},
                                                   {"frames", "FRAMES", SINK_COUNT, 0},
                                                   {"unnamed", "UNNAMED", SINK_COUNT, 8}};
static const struct sink_table total_table = {"stacks", NULL, total_columns, 5};

static const struct sink_column function_columns[] = {{"self_percent", "SELF %", SINK_COUNT, 7},
                                                      {"total_percent", "TOTAL %", SINK_COUNT, 7},
                                                      {"function", "FUNCTION", SINK_TEXT, 0}};
static const struct sink_table function_table = {"stacks_functions", NULL, function_columns, 3};

static const struct sink_column stack_columns[] = {{"percent", "%", SINK_COUNT, 7},
                                                   {"count", "COUNT", SINK_COUNT, 9},
                                                   {"stack", "STACK, THE LEAF FIRST", SINK_TEXT, 0}};
static const struct sink_column off_columns[] = {{"percent", "%", SINK_COUNT, 7},
                                                 {"count", "COUNT", SINK_COUNT, 9},
                                                 {"off", "OFF CPU", SINK_NS, 0},
                                                 {"stack", "STACK, THE LEAF FIRST", SINK_TEXT, 0}};
static const struct sink_table stack_tables[] = {[MODE_CPU] = {"stacks_stack", NULL, stack_columns, 3},
                                                 [MODE_OFF] = {"stacks_stack", NULL, off_columns, 4},
                                                 [MODE_EVENT] = {"stacks_stack", NULL, stack_columns, 3}};

static double percent(uint64_t part, uint64_t whole)
{
    return whole ? 100.0 * (double)part / (double)whole : 0;
}

static int print_functions(const struct stacks_tables *of, struct sink *sink)
{
    struct profile_function *functions;
    size_t n;
    uint64_t whole;
    int err = profile_functions(of->profile, of->lines, TOP_FUNCTIONS, &functions, &n, &whole);

    for (size_t i = 0; !err && i < n; i++) {
        char label[LABEL_BYTES];

        profile_label(&functions[i].frame, of->lines, label, sizeof label);
        sink_row(sink, &function_table,
                 (struct sink_value[]){SINK_R(percent(functions[i].self, whole)),
                                       SINK_R(percent(functions[i].total, whole)), SINK_S(label)});
    }
    free(functions);
    return err;
}

static void print_row(const struct stacks_tables *of, struct sink *sink, struct sink_value share,
                      struct sink_value count, struct sink_value time, const char *stack)
{
    struct sink_value row[4] = {share, count};
    int n = 2;

    if (of->mode == MODE_OFF)
        row[n++] = time;
    row[n] = SINK_S(stack);
    sink_row(sink, &stack_tables[of->mode], row);
}

/* One row a frame. Of a stack that is long the last is shown too: the process, when stacks are grouped. */
static void print_stack(const struct stacks_tables *of, struct sink *sink, const struct profile_stack *stack,
                        uint64_t whole)
{
    size_t hidden = stack->n > SHOWN_FRAMES + 2 ? stack->n - SHOWN_FRAMES - 1 : 0;

    for (size_t i = 0; i < stack->n; i++) {
        struct profile_frame frame = profile_location(of->profile, stack->locations[stack->n - 1 - i]);
        char label[LABEL_BYTES];

        profile_label(&frame, of->lines, label, sizeof label);
        if (hidden && i == SHOWN_FRAMES) {
            snprintf(label, sizeof label, "(%zu more)", hidden);
            i += hidden - 1;
        }
        if (i)
            print_row(of, sink, SINK_S(""), SINK_S(""), SINK_S(""), label);
        else
            print_row(of, sink, SINK_R(percent(stack->value, whole)), SINK_N(stack->count), SINK_N(stack->value),
                      label);
    }
}

static void print_whole_stack(const struct stacks_tables *of, struct sink *sink, const struct profile_stack *stack,
                              uint64_t whole)
{
    char *text = NULL, label[LABEL_BYTES];
    size_t size;
    FILE *out = open_memstream(&text, &size);

    for (size_t i = 0; out && i < stack->n; i++) {
        struct profile_frame frame = profile_location(of->profile, stack->locations[i]);

        profile_label(&frame, of->lines, label, sizeof label);
        fprintf(out, "%s%s", i ? ";" : "", label);
    }
    if (out && !fclose(out))
        print_row(of, sink, SINK_R(percent(stack->value, whole)), SINK_N(stack->count), SINK_N(stack->value), text);
    free(text);
}

static int print_stacks(const struct stacks_tables *of, struct sink *sink)
{
    bool all = sink->ops->for_programs;
    uint32_t *order;
    uint64_t whole = 0;
    int err = profile_order(of->profile, &order);

    for (size_t i = 0; i < profile_stacks(of->profile); i++)
        whole += profile_stack(of->profile, i).value;
    for (size_t i = 0; !err && i < profile_stacks(of->profile) && (all || i < TOP_STACKS); i++) {
        struct profile_stack stack = profile_stack(of->profile, order[i]);

        (all ? print_whole_stack : print_stack)(of, sink, &stack, whole);
    }
    free(order);
    return err;
}

int stacks_print_tables(const struct stacks_tables *of, struct sink *sink)
{
    uint64_t count = 0;
    int err;

    for (size_t i = 0; i < profile_stacks(of->profile); i++)
        count += profile_stack(of->profile, i).count;
    sink_row(sink, &total_table,
             (struct sink_value[]){SINK_N(count), SINK_N(profile_stacks(of->profile)),
                                   of->mode == MODE_CPU ? SINK_N(of->idle) : SINK_NONE, SINK_N(of->frames),
                                   SINK_N(of->unnamed)});
    err = print_functions(of, sink);
    return err ? err : print_stacks(of, sink);
}
