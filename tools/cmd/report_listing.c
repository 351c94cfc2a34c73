/* SPDX-License-Identifier: Apache-2.0 */
#include "report_listing.h"

#include <string.h>

#include "event/event_text.h"

enum { LINE_BYTES = 4096, MAX_ARGS = BATCH_MAX_ARGS };

/* The columns of a probe's events: time, VM, probe, its arguments. */
struct listing {
    struct sink_column columns[3 + MAX_ARGS];
    struct sink_table table;
};

static const struct sink_table *member_table(const struct event_row *row)
{
    static struct listing listings[BATCH_EVENTS];
    struct listing *l = &listings[event_find(row->name)];

    if (l->table.name)
        return &l->table;
    l->columns[0] = (struct sink_column){"time", "TIME", SINK_TIME, 0};
    l->columns[1] = (struct sink_column){"vm", "VM", SINK_COUNT, 7};
    l->columns[2] = (struct sink_column){"probe", "PROBE", SINK_TEXT, 0};
    for (unsigned i = 0; i < row->nargs; i++)
        l->columns[3 + i] = (struct sink_column){row->args[i].name, row->args[i].name, SINK_TEXT, 0};
    l->table = (struct sink_table){"event", NULL, l->columns, (int)(3 + row->nargs)};
    return &l->table;
}

static bool is_number(enum event_unit unit)
{
    return unit >= EVENT_UNIT_words;
}

/* Each argument that is known is a member; numbers that are negative are told as text. */
static void list_members(struct sink *sink, struct batch_names *names, const union ev_any *ev,
                      const struct event_row *row)
{
    struct sink_value values[3 + MAX_ARGS] = {SINK_N(ev->head.time_ns), SINK_N(ev->head.vm), SINK_S(row->name)};
    static char texts[MAX_ARGS][2 * BATCH_TEXT_BYTES];

    for (unsigned i = 0; i < row->nargs; i++) {
        uint64_t number;

        memcpy(&number, (const char *)ev + row->args[i].offset, sizeof number);
        texts[i][0] = '\0';
        event_text_arg(&(struct term_text){texts[i], sizeof texts[i], 0}, names, ev, &row->args[i]);
        values[3 + i] = !event_arg_known(ev, &row->args[i]) ? SINK_NONE
                        : is_number(row->args[i].unit) && (int64_t)number >= 0 ? SINK_N(number) : SINK_S(texts[i]);
    }
    sink_row(sink, member_table(row), values);
}

static void list_text(struct sink *sink, struct batch_names *names, const union ev_any *ev,
                      const struct event_row *row)
{
    static const struct sink_column columns[] = {{"time", "TIME", SINK_TIME, 0},
                                                 {"vm", "VM", SINK_COUNT, 7},
                                                 {"probe", "PROBE", SINK_TEXT, 20},
                                                 {"what", "WHAT", SINK_TEXT, -1}};
    static const struct sink_table table = {"event", NULL, columns, 4};
    static char line[LINE_BYTES];
    struct term_text text = {line, sizeof line, 0};

    for (unsigned i = 0; i < row->nargs; i++) {
        term_text_add(&text, i ? " %s=" : "%s=", row->args[i].name);
        if (event_arg_known(ev, &row->args[i]))
            event_text_arg(&text, names, ev, &row->args[i]);
        else
            term_text_add(&text, "-");
    }
    sink_row(sink, &table,
             (struct sink_value[]){SINK_N(ev->head.time_ns), SINK_N(ev->head.vm), SINK_S(row->name), SINK_S(line)});
}

void report_list(struct sink *sink, struct batch_names *names, const union ev_any *ev)
{
    const struct event_row *row = event_row((enum batch_event)ev->head.event);

    if (sink->ops->for_programs)
        list_members(sink, names, ev, row);
    else
        list_text(sink, names, ev, row);
}
