/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The rows of bpf/views.def as arrays, for whoever asks, prints or documents views.
 * Invariant: every array is in the order of views.def.
 */
#ifndef TOOLS_VIEWS_H
#define TOOLS_VIEWS_H

#include <stdbool.h>
#include <stddef.h>

#include "otp/pending.h"
#include "sink/sink.h"

#include "../../bpf/views.h"

struct view {
    const char *name, *text, *what; /* as of VIEW */
};
extern const struct view views[VIEW_COUNT]; /* of helpers: text and what NULL */
enum {
    VIEWS_NAMES_BYTES = 1 /* the names of all, ", " behind each, and a NUL */
#define VIEW(view, family, text, what) +sizeof(#view ", ") - 1
#include "../../bpf/views.def"
};
/* Views in the order that they were asked in. */
struct view_order {
    enum view_id views[VIEW_COUNT];
    size_t n;
};
bool view_is_costly(enum view_id view);     /* as of COSTLY */

/* Who tells the text of a name: untrusted, good until the next. */
struct view_namer {
    const char *(*name)(void *ctx, uint32_t vm, const struct wire_name *name);
    void *ctx;
};
/* Makes a text, terminated, out of a record. */
typedef void view_maker(char *out, size_t size, const void *record, const struct view_namer *namer);

/* Which helpers a view uses. */
struct view_use {
    enum view_id view, helper;
};
extern const struct view_use view_uses[];
extern const size_t view_nuses;

enum view_source {
    VIEW_BY_NOTE = 1,
    VIEW_BY_HOOK = 2,
    VIEW_BY_PAGE = 4, /* of erlvm's events */
    /* the words of ON rows */
    VIEW_NOTES = VIEW_BY_NOTE | VIEW_BY_PAGE,
    VIEW_TRAPS = VIEW_BY_NOTE,
    VIEW_HOOKS = VIEW_BY_HOOK,
    VIEW_ANY = VIEW_BY_NOTE | VIEW_BY_HOOK | VIEW_BY_PAGE,
};

/* A probe that a view is told of; with NEEDS, an event of providers.def: args NULL. */
struct view_on {
    enum view_id view;
    const char *probe;
    enum view_source source;
    const char *args; /* names, a space between */
};
extern const struct view_on view_ons[];
extern const size_t view_nons;

enum { VIEW_OF_LIFE, VIEW_OF_SPAN, VIEW_OF_KEY };
enum view_state_id {
#define STATE(view, state, of) VIEW_STATE_##view##_##state,
#include "../../bpf/views.def"
    VIEW_NSTATES
};

/* Of states: the maps <view>_<state>_at, _more. */
struct view_state {
    enum view_id view;
    const char *map;
    size_t bytes;
    bool span; /* it is kept between two events */
    bool keyed; /* by two numbers, in place of a process: it has no map _at */
};
extern const struct view_state view_states[VIEW_NSTATES];

enum view_open_id {
#define OPEN(view, state, json, title, probe, ends, since, whose, of, about, what) VIEW_OPEN_##view##_##state,
#define QUEUED(view, state, json, title, probe, ends, since, whose, of, about, what, begun, pid, kind)                 \
    VIEW_OPEN_##view##_##state##_queued,
#define READ(view, open, json, title, kind) VIEW_OPEN_##view##_##open,
#include "../../bpf/views.def"
    VIEW_NOPENS
};
enum view_whose { VIEW_WHOSE_NONE, VIEW_WHOSE_WHOM, VIEW_WHOSE_NAME };
enum view_about {
    VIEW_ABOUT_NONE, VIEW_ABOUT_PORT, VIEW_ABOUT_KEPT, VIEW_ABOUT_KEY, VIEW_ABOUT_MFA, VIEW_ABOUT_MADE
};

/* Spans under way: as of OPEN, or, where `state` is VIEW_NSTATES, of READ. Offsets in the state. */
struct view_open {
    enum view_id view;
    enum view_state_id state;
    enum batch_event event, ends; /* begins them, ends them */
    size_t since_at;
    enum view_whose whose;
    size_t whose_at;
    enum view_about about;
    size_t about_at;
    view_maker *make; /* of MADE */
    struct sink_table sink;
    /* What of the VM's memory shows those that began before it was watched; PENDING_NONE: nothing does. */
    enum pending_kind before;
    bool queued; /* as of QUEUED; `before` is then looked for in each result */
    size_t begun_at, pid_at;
};
const struct view_open *view_open(enum view_open_id id);

enum view_key { VIEW_TOTAL, VIEW_NAME, VIEW_OWNER, VIEW_REASON, VIEW_PORT, VIEW_NUMBER };

enum view_table_id {
#define TABLE(view, table, json, title, key, size, top) VIEW_TABLE_##view##_##table,
#include "../../bpf/views.def"
    VIEW_NTABLES
};

struct view_table {
    enum view_id view;
    const char *map; /* <view>_<table>; of a keyed table: with _0, _1 and _rest behind it */
    enum view_key key;
    size_t row_bytes, top;
    struct sink_table sink;      /* what is shown of it */
    const struct view_column *columns; /* all, those too that are no cells; cells are in the order of sink's columns */
    size_t ncolumns;
    const char *(*number)(uint64_t number); /* what a number is called; NULL: as it is */
};
/* Filled with the first call. */
const struct view_table *view_table(enum view_table_id table);

enum view_kind {
    VIEW_COUNTER, VIEW_HIST, VIEW_RATE, VIEW_SHARE, VIEW_P50, VIEW_P99, VIEW_P999, VIEW_MAX, VIEW_COUNTED, VIEW_SUM,
        VIEW_PART, VIEW_VM, VIEW_KEYTEXT
};
enum view_unit { VIEW_UNIT_COUNT, VIEW_UNIT_NS, VIEW_UNIT_WORDS, VIEW_UNIT_BYTES };

struct view_column {
    enum view_table_id table;
    const char *key, *head, *text; /* head NULL: no cell */
    enum view_kind kind;
    enum view_unit unit;
    int width;
    size_t at; /* of the member in the row */
};
extern const struct view_column view_columns[];
extern const size_t view_ncolumns;

/* Counters that one probe alone tells: as of TOLD_BY. */
enum {
    VIEW_NTOLD_BY = 0
#define TOLD_BY(view, table, of, probe) +1
#include "../../bpf/views.def"
};
struct view_told_by {
    enum view_table_id table;
    size_t at; /* of the member in the row */
    enum batch_event event;
};
extern const struct view_told_by view_told_bys[VIEW_NTOLD_BY];
/* The event that alone tells the column; BATCH_EVENTS: it is told by several. */
enum batch_event view_column_event(const struct view_column *column);

/* Counters, and histograms, of the time of spans: as of OPEN_TIME, OPEN_PART and OPEN_THREAD. */
enum {
    VIEW_NOPEN_TIMES = 0
#define OPEN_TIME(view, state, table, of) +1
#define OPEN_PART(view, state, table, of, from, until, number) +1
#define OPEN_THREAD(view, state, table, of, thread, what) +1
#include "../../bpf/views.def"
};
struct view_open_time {
    enum view_open_id open;
    enum view_table_id table;
    bool hist; /* the member is one */
    size_t at; /* of the member in the row */
    enum { VIEW_TIME_WHOLE, VIEW_TIME_PART, VIEW_TIME_ALL, VIEW_TIME_ON_CPU, VIEW_TIME_WAITING, VIEW_TIME_ASLEEP } what;
    size_t from_at, until_at, number_at; /* of OPEN_PART; offsets in the state */
    size_t thread_at;                    /* of OPEN_THREAD */
};
extern const struct view_open_time view_open_times[VIEW_NOPEN_TIMES];

/* What a result shows, in its order: a table, or the histogram of one (title). */
struct view_block {
    enum view_id view;
    enum view_table_id table;
    bool hist;
    size_t at; /* of the histogram in the row */
    const char *json, *title;
};
extern const struct view_block view_blocks[];
extern const size_t view_nblocks;

enum view_attr_kind {
    VIEW_ATTR_TIME, VIEW_ATTR_VM, VIEW_ATTR_PID, VIEW_ATTR_NAME, VIEW_ATTR_NS, VIEW_ATTR_COUNT, VIEW_ATTR_WORDS,
    VIEW_ATTR_LABEL,
    VIEW_ATTR_MADE, VIEW_ATTR_STEP_TIME, VIEW_ATTR_STEP, VIEW_ATTR_AFTER, VIEW_ATTR_STEP_TEXT, VIEW_ATTR_MOMENT,
        VIEW_ATTR_OWNER
};

struct view_attr {
    enum view_record record;
    const char *key, *head;
    enum view_attr_kind kind;
    int width;
    size_t at; /* in the record */
    const char *texts;
    view_maker *make;
};
extern const struct view_attr view_attrs[];
extern const size_t view_nattrs;

struct view_record_kind {
    enum view_id view;
    size_t bytes;
    struct sink_table sink;
    const struct view_attr *attrs; /* as many as sink's columns */
    const struct view_step *steps; /* each of which is a line; NULL: the record is one */
    size_t nsteps;
};
struct view_step {
    enum view_record record;
    size_t at; /* of its time in the record, 0: it was not seen */
    const char *name;
    view_maker *make; /* NULL: no text */
};

/* NULL: no such record. */
const struct view_record_kind *view_record_kind(uint32_t kind);

/* The slowest records of a kind: the map <view>_<event>_slowest, whose value is a floor and `most` places
 * (bpf/views.h). */
struct view_slowest {
    enum view_id view;
    enum view_record record;
    const char *map;
    size_t most, shown; /* shown: unless asked for otherwise */
    size_t record_bytes, by_at; /* by_at: of the member that says how slow */
    struct sink_table sink;
    const struct view_attr *attrs; /* as many as sink's columns */
};
const struct view_slowest *view_slowest(enum view_slowest_id id);
/* Whether one of the views keeps some; sets how many of each it shows unless --top says otherwise. */
bool view_keeps_slowest(const bool on[VIEW_COUNT]);
/* Whether any of them tells processes apart by who they are (--by). */
bool view_tells_owners(const bool on[VIEW_COUNT]);
/* What --by takes, with a bar before each; and its text in the help. */
extern const char view_bys[];
#define VIEW_BY_TEXT "what has a row of its own (owner)"
void view_slowest_default(const bool on[VIEW_COUNT], __u64 *shown);
/* --top N for the views that are on; its line of help. Fails: FAIL_USAGE, said. */
int view_slowest_parse(const bool on[VIEW_COUNT], const char *text, __u64 *shown);
#define VIEW_SLOWEST_TEXT "of the slowest operations so many (5); 0: none"
/* A place of such a map: this, then the record. */
struct view_slowest_place {
    uint64_t value, taken;
};

/* What names a value of a histogram; offsets in the row and in the record. */
struct view_exemplar {
    enum view_table_id table;
    size_t hist_at;
    enum view_record record;
    size_t name_at, pid_at, value_at; /* a struct wire_name or the number of a NUMBER table, an ev_id, nanoseconds */
};
extern const struct view_exemplar view_exemplars[];
extern const size_t view_nexemplars;

struct view_filter {
    enum view_id view;
    const char *name, *text;
    enum view_unit unit;
};
extern const struct view_filter view_filters[];
extern const size_t view_nfilters;

bool view_has_exemplars(enum view_id view);
/* --NAME VALUE for all views that have a filter of that name. Fails: FAIL_USAGE, said. */
int view_filter_parse(const char *name, const char *value, __u64 *filters);
/* For options.h: options that no view that is asked has. FAIL_USAGE; which have is said. */
int view_refuse_slower(void *ctx, const char *value);
int view_refuse_top(void *ctx, const char *value);
int view_refuse_by(void *ctx, const char *value);
int view_refuse_events(void *ctx, const char *value);
bool view_has_filter(const bool on[VIEW_COUNT], const char *name);
/* Whether one of the views prints lines with --events. */
bool view_has_events(const bool on[VIEW_COUNT]);
/* VIEW_COUNT when there is none of that name. */
enum view_id view_find(const char *name, size_t length);
/* Whether the view has use for a program at notes or hooks of this probe. */
bool view_wants(enum view_id view, const char *probe, enum view_source source);
/* Bit i: the view reads argument i of the probe. A name in views.def that the probe has not aborts. */
uint32_t view_reads(enum view_id view, const char *probe);

#endif
