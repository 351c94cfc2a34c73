/* SPDX-License-Identifier: Apache-2.0 */
/* Invariant: nothing stands here that is not made from bpf/views.def. */
#include "views.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "common/fail.h"
#include "common/options.h"
#include "efile_text.h"
#include "inet_text.h"
#include "message_text.h"
#include "requests_text.h"
#include "sched_text.h"
#include "user_text.h"

const struct view views[VIEW_COUNT] = {
#define VIEW(view, family, text, what) [VIEW_##view] = {#view, text, what},
#define HELPER(view, family) [VIEW_##view] = {#view, NULL, NULL},
#include "../../bpf/views.def"
};

bool view_is_costly(enum view_id view)
{
    static const bool costly[VIEW_COUNT] = {
#define COSTLY(view) [VIEW_##view] = true,
#include "../../bpf/views.def"
    };

    return costly[view];
}

const struct view_use view_uses[] = {
#define USES(view, helper) {VIEW_##view, VIEW_##helper},
#include "../../bpf/views.def"
};
const size_t view_nuses = sizeof view_uses / sizeof *view_uses;

const struct view_on view_ons[] = {
#define ON(view, probe, source, args) {VIEW_##view, #probe, VIEW_##source, args},
#define NEEDS(view, event) {VIEW_##view, #event, VIEW_HOOKS, NULL},
#include "../../bpf/views.def"
};
const size_t view_nons = sizeof view_ons / sizeof *view_ons;

const struct view_state view_states[VIEW_NSTATES] = {
#define STATE(view, state, of)                                                                                         \
    {VIEW_##view, #view "_" #state, sizeof(struct state_##view##_##state), VIEW_OF_##of != VIEW_OF_LIFE,               \
     VIEW_OF_##of == VIEW_OF_KEY},
#include "../../bpf/views.def"
};

/* Their columns are the same. */
static const struct sink_column open_columns[] = {{"open", "OPEN", SINK_COUNT, 7},
                                                  {"before", "BEFORE", SINK_COUNT, 6},
                                                  {"oldest", "OLDEST", SINK_NS, 8},
                                                  {"age", "AGE IS", SINK_TEXT, 8},
                                                  {"vm", "VM", SINK_COUNT, 7},
                                                  {"owner", "OWNER", SINK_TEXT, 0},
                                                  {"what", "WHAT", SINK_TEXT, -1}};

#define MEMBER_AT(view, state, member) offsetof(struct state_##view##_##state, member)
#define WHOSE_WHOM MEMBER_AT
#define WHOSE_NAME MEMBER_AT
#define WHOSE_NONE(view, state, member) 0
#define ABOUT_PORT(view, state, what) MEMBER_AT(view, state, what), NULL
#define ABOUT_KEPT ABOUT_PORT
#define ABOUT_MFA ABOUT_PORT
#define ABOUT_KEY ABOUT_NONE
#define ABOUT_MADE(view, state, what) MEMBER_AT(view, state, told), what
#define ABOUT_NONE(view, state, what) 0, NULL

/* What OPEN and QUEUED have alike. */
#define OPENED(view, state, json, title, probe, ends, since, whose, of, about, what)                                   \
    VIEW_##view, VIEW_STATE_##view##_##state, BATCH_##probe, BATCH_##ends, MEMBER_AT(view, state, since),              \
        VIEW_WHOSE_##whose, WHOSE_##whose(view, state, of), VIEW_ABOUT_##about, ABOUT_##about(view, state, what),      \
        {json, title, open_columns, sizeof open_columns / sizeof *open_columns}

static const struct view_open opens[VIEW_NOPENS] = {
#define OPEN(view, state, ...) [VIEW_OPEN_##view##_##state] = {OPENED(view, state, __VA_ARGS__)},
#define QUEUED(view, state, json, title, probe, ends, since, whose, of, about, what, begun, pid, kind)                 \
    [VIEW_OPEN_##view##_##state##_queued] = {                                                                          \
        OPENED(view, state, json, title, probe, ends, since, whose, of, about, what), PENDING_##kind, true,            \
        MEMBER_AT(view, state, begun), MEMBER_AT(view, state, pid)},
#define READ(of, read, json, title, kind)                                                                              \
    [VIEW_OPEN_##of##_##read] = {.view = VIEW_##of,                                                                    \
                                 .state = VIEW_NSTATES,                                                                \
                                 .sink = {json, title, open_columns, sizeof open_columns / sizeof *open_columns},      \
                                 .before = PENDING_##kind},
#include "../../bpf/views.def"
#define BEFORE(view, state, kind) [VIEW_OPEN_##view##_##state].before = PENDING_##kind,
#include "../../bpf/views.def"
};

const struct view_open *view_open(enum view_open_id id)
{
    return &opens[id];
}

#define IS_HIST(row, of) __builtin_types_compatible_p(__typeof__(((struct row *)0)->of), struct wire_hist)
#define TIME_OF(view, state, table, of)                                                                                \
    VIEW_OPEN_##view##_##state, VIEW_TABLE_##view##_##table, IS_HIST(row_##view##_##table, of),                        \
        offsetof(struct row_##view##_##table, of)

const struct view_open_time view_open_times[VIEW_NOPEN_TIMES] = {
#define OPEN_TIME(view, state, table, of) {TIME_OF(view, state, table, of), .what = VIEW_TIME_WHOLE},
#define OPEN_PART(view, state, table, of, from, until, number)                                                         \
    {TIME_OF(view, state, table, of), VIEW_TIME_PART, .from_at = MEMBER_AT(view, state, from),                         \
     .until_at = MEMBER_AT(view, state, until), .number_at = MEMBER_AT(view, state, number)},
#define OPEN_THREAD(view, state, table, of, thread, what)                                                              \
    {TIME_OF(view, state, table, of), VIEW_TIME_##what, .thread_at = MEMBER_AT(view, state, thread)},
#include "../../bpf/views.def"
};

#define AT_COUNTER(row, of) offsetof(struct row, of)
#define AT_HIST AT_COUNTER
#define AT_RATE AT_COUNTER
#define AT_SHARE AT_COUNTER
#define AT_P50 AT_COUNTER
#define AT_P99 AT_COUNTER
#define AT_P999 AT_COUNTER
#define AT_MAX AT_COUNTER
#define AT_COUNT AT_COUNTER
#define AT_SUM AT_COUNTER
#define AT_PART AT_COUNTER
#define AT_VM(row, of) 0
#define AT_KEY(row, of) 0
#define KIND_COUNTER VIEW_COUNTER
#define KIND_HIST VIEW_HIST
#define KIND_RATE VIEW_RATE
#define KIND_SHARE VIEW_SHARE
#define KIND_P50 VIEW_P50
#define KIND_P99 VIEW_P99
#define KIND_P999 VIEW_P999
#define KIND_MAX VIEW_MAX
#define KIND_COUNT VIEW_COUNTED
#define KIND_SUM VIEW_SUM
#define KIND_PART VIEW_PART
#define KIND_VM VIEW_VM
#define KIND_KEY VIEW_KEYTEXT

const struct view_column view_columns[] = {
#define COL(view, table, key, kind, of, unit, head, width, text)                                                       \
    {VIEW_TABLE_##view##_##table,        #key, head, text, KIND_##kind, VIEW_UNIT_##unit, width,                       \
     AT_##kind(row_##view##_##table, of)},
#include "../../bpf/views.def"
};
const size_t view_ncolumns = sizeof view_columns / sizeof *view_columns;

const struct view_block view_blocks[] = {
#define TABLE(view, table, json, title, key, size, top) \
    {VIEW_##view, VIEW_TABLE_##view##_##table, false, 0, json, title},
#define HISTOGRAM(view, table, of, json, title) \
    {VIEW_##view, VIEW_TABLE_##view##_##table, true, offsetof(struct row_##view##_##table, of), json, title},
#include "../../bpf/views.def"
};
const size_t view_nblocks = sizeof view_blocks / sizeof *view_blocks;

#define IN_RECORD(record, key) offsetof(struct record, key)
#define IN_HEADER(record, key) 0
#define IN_TIME IN_HEADER
#define IN_VM IN_HEADER
#define IN_PID IN_RECORD
#define IN_NAME IN_RECORD
#define IN_NS IN_RECORD
#define IN_COUNT IN_RECORD
#define IN_WORDS IN_RECORD
#define IN_LABEL IN_RECORD
#define IN_MOMENT IN_RECORD
#define IN_OWNER IN_RECORD
#define IN_MADE IN_HEADER
#define IN_STEP_TIME IN_HEADER
#define IN_STEP IN_HEADER
#define IN_AFTER IN_HEADER
#define IN_STEP_TEXT IN_HEADER
/* What stands in the place of `texts`: words, or the function that makes the text. */
#define WORDS(texts) texts, NULL
#define MADE_TIME WORDS
#define MADE_VM WORDS
#define MADE_PID WORDS
#define MADE_NAME WORDS
#define MADE_NS WORDS
#define MADE_COUNT WORDS
#define MADE_WORDS WORDS
#define MADE_LABEL WORDS
#define MADE_STEP_TIME WORDS
#define MADE_STEP WORDS
#define MADE_AFTER WORDS
#define MADE_STEP_TEXT WORDS
#define MADE_MADE(function) NULL, function

const struct view_attr view_attrs[] = {
#define ATTR(view, event, key, kind, texts, head, width)                                                               \
    {VIEW_RECORD_##view##_##event,                                                                                     \
     #key,                                                                                                             \
     head,                                                                                                             \
     VIEW_ATTR_##kind,                                                                                                 \
     width,                                                                                                            \
     IN_##kind(told_##view##_##event, key),                                                                            \
     MADE_##kind(texts)},
#include "../../bpf/views.def"
};
const size_t view_nattrs = sizeof view_attrs / sizeof *view_attrs;

static const struct view_step steps[] = {
#define STEP(view, event, at, name, text) \
    {VIEW_RECORD_##view##_##event, offsetof(struct told_##view##_##event, at), name, text},
#include "../../bpf/views.def"
};

#define SLOW_NS(of) NULL, NULL
#define SLOW_VM SLOW_NS
#define SLOW_MOMENT SLOW_NS
#define SLOW_OWNER SLOW_NS
#define SLOW_MADE(of) NULL, of
#define SLOW_AT_NS IN_RECORD
#define SLOW_AT_MOMENT IN_RECORD
#define SLOW_AT_OWNER IN_RECORD
#define SLOW_AT_VM IN_HEADER
#define SLOW_AT_MADE IN_HEADER

static const struct view_attr slows[] = {
#define SLOW(view, event, key, kind, of, head, width)                                                                  \
    {VIEW_RECORD_##view##_##event,                                                                                     \
     #key,                                                                                                             \
     head,                                                                                                             \
     VIEW_ATTR_##kind,                                                                                                 \
     width,                                                                                                            \
     SLOW_AT_##kind(told_##view##_##event, of),                                                                        \
     SLOW_##kind(of)},
#include "../../bpf/views.def"
};

const struct view_told_by view_told_bys[VIEW_NTOLD_BY] = {
#define TOLD_BY(view, table, of, probe)                                                            \
    {VIEW_TABLE_##view##_##table, offsetof(struct row_##view##_##table, of), BATCH_##probe},
#include "../../bpf/views.def"
};

enum batch_event view_column_event(const struct view_column *column)
{
    for (size_t i = 0; i < VIEW_NTOLD_BY; i++)
        if (view_told_bys[i].table == column->table && view_told_bys[i].at == column->at)
            return view_told_bys[i].event;
    return BATCH_EVENTS;
}

const struct view_exemplar view_exemplars[] = {
#define EXEMPLAR(view, table, of, event, name, pid, value)                                         \
    {VIEW_TABLE_##view##_##table, offsetof(struct row_##view##_##table, of), VIEW_RECORD_##view##_##event, \
     offsetof(struct told_##view##_##event, name), offsetof(struct told_##view##_##event, pid),    \
     offsetof(struct told_##view##_##event, value)},
#include "../../bpf/views.def"
};
const size_t view_nexemplars = sizeof view_exemplars / sizeof *view_exemplars;

const struct view_filter view_filters[] = {
#define FILTER(view, filter, unit, text) {VIEW_##view, #filter, text, VIEW_UNIT_##unit},
#include "../../bpf/views.def"
    {VIEW_COUNT, NULL, NULL, VIEW_UNIT_COUNT}};
const size_t view_nfilters = VIEW_NFILTERS;

/* ---- what sinks are told */

static enum sink_type type_of_unit(enum view_unit unit)
{
    static const enum sink_type types[] = {[VIEW_UNIT_COUNT] = SINK_COUNT,
                                           [VIEW_UNIT_NS] = SINK_NS,
                                           [VIEW_UNIT_WORDS] = SINK_WORDS,
                                           [VIEW_UNIT_BYTES] = SINK_BYTES};

    return types[unit];
}

static enum sink_type type_of_column(const struct view_column *c)
{
    switch (c->kind) {
    case VIEW_RATE: return SINK_RATE;
    case VIEW_PART:
    case VIEW_SHARE: return SINK_PERCENT;
    case VIEW_KEYTEXT: return SINK_TEXT;
    case VIEW_COUNTER:
    case VIEW_P50:
    case VIEW_P99:
    case VIEW_P999:
    case VIEW_SUM:
    case VIEW_MAX: return type_of_unit(c->unit);
    default: return SINK_COUNT;
    }
}

static struct view_table tables[VIEW_NTABLES] = {
#define TABLE(view, table, json, title, key, size, top)                                                                \
    {VIEW_##view, #view "_" #table,       VIEW_##key, sizeof(struct row_##view##_##table),                             \
     top,         {json, title, NULL, 0}, NULL,       0,                                                               \
     NULL},
#include "../../bpf/views.def"
};

static const struct {
    enum view_table_id table;
    const char *(*text)(uint64_t number);
} numbers[] = {
#define NUMBERS(view, table, text) {VIEW_TABLE_##view##_##table, text},
#include "../../bpf/views.def"
};

/* Of a table, of the lines of an event and of the slowest of it: a byte a column. */
struct columns_of_none {
#define TABLE(view, table, json, title, key, size, top)                                            \
    }                                                                                              \
    ;                                                                                              \
    struct columns_of_##view##_##table {
#define COL(view, table, key, kind, of, unit, head, width, text) unsigned char : 8;
#define EVENT(view, event, json)                                                                   \
    }                                                                                              \
    ;                                                                                              \
    struct columns_of_##view##_##event {
#define ATTR(view, event, key, kind, texts, head, width) unsigned char : 8;
#define SLOWEST(view, event, json, title, by, most, shown)                                         \
    }                                                                                              \
    ;                                                                                              \
    struct columns_of_slowest_##view##_##event {
#define SLOW(view, event, key, kind, of, head, width) unsigned char : 8;
#include "../../bpf/views.def"
};
#define FITS(columns) _Static_assert(sizeof(struct columns) <= SINK_MAX_COLUMNS, #columns ": too many");
#define TABLE(view, table, json, title, key, size, top) FITS(columns_of_##view##_##table)
#define EVENT(view, event, json) FITS(columns_of_##view##_##event)
#define SLOWEST(view, event, json, title, by, most, shown) FITS(columns_of_slowest_##view##_##event)
#include "../../bpf/views.def"

const struct view_table *view_table(enum view_table_id id)
{
    static struct sink_column cells[VIEW_NTABLES][SINK_MAX_COLUMNS];
    struct view_table *t = &tables[id];

    if (t->columns)
        return t;
    for (size_t i = 0; i < view_ncolumns; i++) {
        const struct view_column *c = &view_columns[i];

        if (c->table != id)
            continue;
        t->columns = t->columns ? t->columns : c;
        t->ncolumns++;
        if (c->head)
            cells[id][t->sink.ncolumns++] = (struct sink_column){c->key, c->head, type_of_column(c), c->width};
    }
    t->sink.columns = cells[id];
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        if (numbers[i].table == id)
            t->number = numbers[i].text;
    return t;
}

static enum sink_type type_of_attr(enum view_attr_kind kind)
{
    static const enum sink_type types[] = {
        [VIEW_ATTR_TIME] = SINK_TIME,      [VIEW_ATTR_VM] = SINK_COUNT,    [VIEW_ATTR_PID] = SINK_TEXT,
        [VIEW_ATTR_NAME] = SINK_TEXT,      [VIEW_ATTR_NS] = SINK_NS,       [VIEW_ATTR_COUNT] = SINK_COUNT,
        [VIEW_ATTR_LABEL] = SINK_TEXT,     [VIEW_ATTR_WORDS] = SINK_WORDS, [VIEW_ATTR_MADE] = SINK_TEXT,
        [VIEW_ATTR_STEP_TIME] = SINK_TIME, [VIEW_ATTR_STEP] = SINK_TEXT,   [VIEW_ATTR_AFTER] = SINK_NS,
        [VIEW_ATTR_STEP_TEXT] = SINK_TEXT, [VIEW_ATTR_MOMENT] = SINK_TIME, [VIEW_ATTR_OWNER] = SINK_TEXT};

    return types[kind];
}

static struct view_record_kind records[VIEW_NRECORDS] = {
    [VIEW_RECORD_NONE] = {VIEW_COUNT, 0, {0}, NULL, NULL, 0},
#define EVENT(view, event, json)                                                                                       \
    [VIEW_RECORD_##view##_##                                                                                           \
        event] = {VIEW_##view, sizeof(struct told_##view##_##event), {json, NULL, NULL, 0}, NULL, NULL, 0},
#include "../../bpf/views.def"
};

const struct view_record_kind *view_record_kind(uint32_t kind)
{
    static struct sink_column cells[VIEW_NRECORDS][SINK_MAX_COLUMNS];
    struct view_record_kind *r = kind < VIEW_NRECORDS && kind != VIEW_RECORD_NONE ? &records[kind] : NULL;

    if (!r || r->attrs)
        return r;
    for (size_t i = 0; i < view_nattrs; i++) {
        const struct view_attr *a = &view_attrs[i];

        if (a->record != kind)
            continue;
        r->attrs = r->attrs ? r->attrs : a;
        cells[kind][r->sink.ncolumns++] = (struct sink_column){a->key, a->head, type_of_attr(a->kind), a->width};
    }
    r->sink.columns = cells[kind];
    for (size_t i = 0; i < sizeof steps / sizeof *steps; i++) {
        r->steps = steps[i].record == kind && !r->steps ? &steps[i] : r->steps;
        r->nsteps += steps[i].record == kind;
    }
    return r;
}

static struct view_slowest all_slowest[VIEW_NSLOWEST] = {
#define SLOWEST(view, event, json, title, by, most, shown)                                         \
    {VIEW_##view, VIEW_RECORD_##view##_##event, #view "_" #event "_slowest", most, shown,         \
     sizeof(struct told_##view##_##event), offsetof(struct told_##view##_##event, by), {json, title, NULL, 0}, NULL},
#include "../../bpf/views.def"
};

const struct view_slowest *view_slowest(enum view_slowest_id id)
{
    static struct sink_column cells[VIEW_NSLOWEST][SINK_MAX_COLUMNS];
    struct view_slowest *s = &all_slowest[id];

    if (s->attrs)
        return s;
    for (size_t i = 0; i < sizeof slows / sizeof *slows; i++) {
        const struct view_attr *a = &slows[i];

        if (a->record != s->record)
            continue;
        s->attrs = s->attrs ? s->attrs : a;
        cells[id][s->sink.ncolumns++] = (struct sink_column){a->key, a->head, type_of_attr(a->kind), a->width};
    }
    s->sink.columns = cells[id];
    return s;
}

#define BY(name, upper) "|" #name
const char view_bys[] = VIEW_BYS(BY);
#undef BY

bool view_tells_owners(const bool on[VIEW_COUNT])
{
    for (size_t i = 0; i < view_nuses; i++)
        if (view_uses[i].helper == VIEW_owners && on[view_uses[i].view])
            return true;
    return false;
}

bool view_keeps_slowest(const bool on[VIEW_COUNT])
{
    for (size_t i = 0; i < VIEW_NSLOWEST; i++)
        if (on[all_slowest[i].view])
            return true;
    return false;
}

void view_slowest_default(const bool on[VIEW_COUNT], __u64 *shown)
{
    for (size_t i = 0; i < VIEW_NSLOWEST; i++)
        shown[i] = on[all_slowest[i].view] ? all_slowest[i].shown : 0;
}

int view_slowest_parse(const bool on[VIEW_COUNT], const char *text, __u64 *shown)
{
    uint64_t number = 0;
    int err = 0;

    for (size_t i = 0; i < VIEW_NSLOWEST && !err; i++)
        if (on[all_slowest[i].view])
            err = options_number("--top", text, 0, all_slowest[i].most, &number);
    for (size_t i = 0; i < VIEW_NSLOWEST && !err; i++)
        shown[i] = on[all_slowest[i].view] ? number : 0;
    return err;
}

bool view_has_filter(const bool on[VIEW_COUNT], const char *name)
{
    for (size_t i = 0; i < view_nfilters; i++)
        if (on[view_filters[i].view] && !strcmp(view_filters[i].name, name))
            return true;
    return false;
}

bool view_has_events(const bool on[VIEW_COUNT])
{
    for (size_t i = 1; i < VIEW_NRECORDS; i++)
        if (on[records[i].view])
            return true;
    return false;
}

static bool has_slower(const bool on[VIEW_COUNT])
{
    return view_has_filter(on, "slower");
}

/* Names of the views that have something, with commas between. */
static void list_takers(bool (*has)(const bool on[VIEW_COUNT]), char *text, size_t size)
{
    size_t used = 0;

    for (size_t v = 0; v < VIEW_COUNT; v++) {
        bool only[VIEW_COUNT] = {false};

        only[v] = true;
        if (views[v].text && has(only))
            used += (size_t)snprintf(text + used, size - used, "%s%s", used ? ", " : "", views[v].name);
    }
}

static int refuse_option(const char *option, bool (*has)(const bool on[VIEW_COUNT]))
{
    char takers[VIEWS_NAMES_BYTES] = "";

    list_takers(has, takers, sizeof takers);
    return fail(FAIL_USAGE, "--%s is for %s; none of these is asked: leave it out, or ask one", option, takers);
}

int view_refuse_slower(void *ctx, const char *value)
{
    (void)ctx, (void)value;
    return refuse_option("slower", has_slower);
}

int view_refuse_top(void *ctx, const char *value)
{
    (void)ctx, (void)value;
    return refuse_option("top", view_keeps_slowest);
}

int view_refuse_by(void *ctx, const char *value)
{
    (void)ctx, (void)value;
    return refuse_option("by", view_tells_owners);
}

int view_refuse_events(void *ctx, const char *value)
{
    (void)ctx, (void)value;
    return refuse_option("events", view_has_events);
}

int view_filter_parse(const char *name, const char *value, __u64 *filters)
{
    char what[64];
    uint64_t ns;
    int err;

    snprintf(what, sizeof what, "--%s", name);
    err = options_ns(what, value, &ns);
    for (size_t i = 0; !err && i < view_nfilters; i++)
        if (!strcmp(view_filters[i].name, name))
            filters[i] = ns;
    return err;
}

bool view_has_exemplars(enum view_id view)
{
    for (size_t i = 0; i < view_nexemplars; i++)
        if (tables[view_exemplars[i].table].view == view)
            return true;
    return false;
}

/* ---- look-ups */

enum view_id view_find(const char *name, size_t length)
{
    size_t i = 0;

    while (i < VIEW_COUNT && (strlen(views[i].name) != length || strncmp(views[i].name, name, length)))
        i++;
    return (enum view_id)i;
}

bool view_wants(enum view_id view, const char *probe, enum view_source source)
{
    for (size_t i = 0; i < view_nons; i++)
        if (view_ons[i].view == view && view_ons[i].source & source && !strcmp(view_ons[i].probe, probe))
            return true;
    return false;
}

static const struct {
    const char *probe, *name;
    uint32_t index;
} args[] = {
#define ARG(probe, index, arg, type, unit) {#probe, #arg, index},
#include "../../vm/probes.def"
};

/* The bit of the argument that is named by a word of `length` bytes. */
static uint32_t find_arg(const char *probe, const char *word, size_t length)
{
    for (size_t i = 0; i < sizeof args / sizeof *args; i++)
        if (!strcmp(args[i].probe, probe) && strlen(args[i].name) == length && !strncmp(args[i].name, word, length))
            return 1u << args[i].index;
    fail(-EINVAL, "views.def: %s has no argument %.*s", probe, (int)length, word);
    abort();
}

uint32_t view_reads(enum view_id view, const char *probe)
{
    uint32_t mask = 0;

    for (size_t i = 0; i < view_nons; i++) {
        if (view_ons[i].view != view || !view_ons[i].args || strcmp(view_ons[i].probe, probe))
            continue;
        for (const char *word = view_ons[i].args; *word; word += strspn(word, " ")) {
            size_t length = strcspn(word, " ");

            mask |= find_arg(probe, word, length);
            word += length;
        }
    }
    return mask;
}
