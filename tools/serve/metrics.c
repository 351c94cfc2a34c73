/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Invariant: what a series tells never gets less for as long as it is told, and each event of a table is counted in
 * exactly one series. A VM has a series for as many names of a table as the table shows rows, and one for all others;
 * which names these are changes rarely.
 */
#include "metrics.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "sink_openmetrics.h"

enum {
    MOST_VMS = 1024,
    MOST_SERIES = 4096,   /* of all VMs; what is beyond is counted in series of others */
    MOST_EXEMPLARS = 256, /* of one result */
    LEAST_AGE_S = 60,
    TIMES_MORE = 10, /* a name of that age gives its series up to one that is counted so much more often */
    NAME_BYTES = 256,
    NAME_S = 10, /* a VM may get its name so late: a node's is whole once it is in a distribution */
};

struct series {
    struct series *next;
    uint64_t begun_ns; /* it was zero then */
    uint64_t *row;
    struct openmetrics_exemplar *exemplars; /* of the table's histogram that has some, by bucket; NULL: none yet */
    char label[];                           /* as of openmetrics_text */
};

struct vm {
    struct vm *next;
    struct metrics_vm is;
    bool seen;                   /* in this result */
    uint64_t first_ns, ended_ns; /* ended_ns 0: it runs */
    struct series *series[VIEW_NTABLES], *other[VIEW_NTABLES];
    size_t nseries[VIEW_NTABLES];
    struct open {
        uint64_t count, oldest_ns;
        char owner[OPENMETRICS_LABEL_BYTES]; /* of the oldest; empty: not known */
    } open[VIEW_NOPENS]; /* in this result */
    char name[NAME_BYTES];
};

struct exemplar {
    const struct view_exemplar *of;
    uint32_t vm;
    struct openmetrics_exemplar is;
    char label[OPENMETRICS_LABEL_BYTES];
};

struct metrics {
    struct metrics_settings settings;
    struct metrics_own own;
    struct vm *vms, *last; /* last: the one that was looked up last, or NULL */
    size_t nvms, nseries;
    uint64_t before_ns, now_ns;   /* what the result covers */
    uint64_t *rest[VIEW_NTABLES]; /* what belongs to no VM */
    struct exemplar exemplars[MOST_EXEMPLARS];
    size_t nexemplars;
};

static const char others[] = "(other)", unnamed[] = "(unnamed)";

int metrics_new(const struct metrics_settings *settings, struct metrics **out)
{
    struct metrics *m = calloc(1, sizeof *m);
    int err = m ? 0 : -ENOMEM;

    *out = m;
    if (!m)
        return err;
    m->settings = *settings;
    m->before_ns = m->now_ns = settings->start_ns;
    for (size_t i = 0; i < VIEW_NTABLES; i++) {
        m->rest[i] = calloc(1, view_table((enum view_table_id)i)->row_bytes);
        err = m->rest[i] ? err : -ENOMEM;
    }
    return err;
}

static void free_series(struct series *s)
{
    if (!s)
        return;
    free(s->row);
    free(s->exemplars);
    free(s);
}

static void free_vm(struct metrics *m, struct vm *vm)
{
    for (size_t i = 0; i < VIEW_NTABLES; i++) {
        for (struct series *s = vm->series[i], *next; s; s = next) {
            next = s->next;
            free_series(s);
            m->nseries -= view_table((enum view_table_id)i)->key != VIEW_TOTAL;
        }
        m->nseries -= vm->other[i] != NULL;
        free_series(vm->other[i]);
    }
    m->last = NULL;
    m->nvms--;
    free(vm);
}

void metrics_free(struct metrics *m)
{
    if (!m)
        return;
    for (struct vm *vm = m->vms, *next; vm; vm = next) {
        next = vm->next;
        free_vm(m, vm);
    }
    for (size_t i = 0; i < VIEW_NTABLES; i++)
        free(m->rest[i]);
    free(m);
}

/* ---- VMs */

static struct vm *find_vm(struct metrics *m, uint32_t pid)
{
    struct vm *vm = m->last && m->last->is.pid == (int)pid ? m->last : m->vms;

    while (vm && vm->is.pid != (int)pid)
        vm = vm->next;
    m->last = vm;
    return vm;
}

/* One that ends just now keeps the name that it had. */
static void read_name(const struct metrics *m, struct vm *vm)
{
    char name[NAME_BYTES] = "";

    m->settings.name(vm->is.pid, name, sizeof name);
    if (*name)
        strcpy(vm->name, name);
}

/* Zero, from the begin of this result on; NULL: no room. One of a TOTAL table there is for each VM, and has room. */
static struct series *new_series(struct metrics *m, const struct view_table *t, const char *label)
{
    bool counted = t->key != VIEW_TOTAL;
    struct series *s = !counted || m->nseries < MOST_SERIES ? calloc(1, sizeof *s + strlen(label) + 1) : NULL;

    if (!s)
        return NULL;
    s->row = calloc(1, t->row_bytes);
    if (!s->row) {
        free(s);
        return NULL;
    }
    strcpy(s->label, label);
    s->begun_ns = m->before_ns;
    m->nseries += counted;
    return s;
}

/* The series of TOTAL tables are there from when it is watched. */
static void add_totals(struct metrics *m, struct vm *vm)
{
    for (size_t i = 0; vm->is.watched && i < VIEW_NTABLES; i++) {
        const struct view_table *t = view_table((enum view_table_id)i);

        if (t->key != VIEW_TOTAL || !m->settings.on[t->view] || vm->series[i])
            continue;
        vm->series[i] = new_series(m, t, "");
        vm->nseries[i] = vm->series[i] != NULL;
    }
}

/* NULL: no room. */
static struct vm *add_vm(struct metrics *m, const struct metrics_vm *is)
{
    struct vm *vm = m->nvms < MOST_VMS ? calloc(1, sizeof *vm) : NULL, **end = &m->vms;

    if (!vm)
        return NULL;
    while (*end)
        end = &(*end)->next;
    *end = vm;
    m->nvms++;
    vm->is = *is;
    vm->seen = true;
    vm->first_ns = m->now_ns;
    read_name(m, vm);
    add_totals(m, vm);
    return vm;
}

static void drop_vm(struct metrics *m, struct vm *vm)
{
    struct vm **at = &m->vms;

    while (*at != vm)
        at = &(*at)->next;
    *at = vm->next;
    free_vm(m, vm);
}

void metrics_begin(struct metrics *m, uint64_t now_ns)
{
    m->before_ns = m->now_ns;
    m->now_ns = now_ns;
    for (struct vm *vm = m->vms; vm; vm = vm->next) {
        vm->seen = false;
        memset(vm->open, 0, sizeof vm->open);
    }
}

void metrics_see(struct metrics *m, const struct metrics_vm *is)
{
    struct vm *vm = find_vm(m, (uint32_t)is->pid);

    if (vm && vm->is.started && vm->is.started != is->started) {
        drop_vm(m, vm); /* another program ran under that process id */
        vm = NULL;
    }
    if (!vm)
        vm = add_vm(m, is);
    if (!vm)
        return;
    if (vm->first_ns != m->now_ns && m->now_ns - vm->first_ns <= NAME_S * 1000000000ull)
        read_name(m, vm);
    vm->is = *is;
    vm->seen = true;
    vm->ended_ns = 0;
    add_totals(m, vm);
}

/* ---- series */

static struct series *find_series(const struct vm *vm, size_t table, const char *label)
{
    struct series *s = vm->series[table];

    while (s && strcmp(s->label, label))
        s = s->next;
    return s;
}

static double seconds_since(const struct metrics *m, uint64_t ns)
{
    return (double)(m->now_ns - ns) / 1e9;
}

/*
 * Frees the series of the name that is counted most seldom, where it makes way for one that was counted `weight` times
 * in this result. What comes of it later is counted among the others, and the series that its name may get again begins
 * with zero.
 */
static void make_way(struct metrics *m, struct vm *vm, const struct view_table *t, size_t table, uint64_t weight)
{
    double took = seconds_since(m, m->before_ns), least = took > 0 ? (double)weight / took / TIMES_MORE : 0;
    struct series **seldom = NULL, *gone;

    for (struct series **at = &vm->series[table]; *at; at = &(*at)->next) {
        double age = seconds_since(m, (*at)->begun_ns),
               rate = age >= LEAST_AGE_S ? (double)result_weigh(t, (*at)->row) / age : least;

        if (rate < least) {
            least = rate;
            seldom = at;
        }
    }
    if (!seldom)
        return;
    gone = *seldom;
    *seldom = gone->next;
    free_series(gone);
    vm->nseries[table]--;
    m->nseries--;
}

/* The series of a name, or of the other names; NULL: no room for either. */
static struct series *choose_series(struct metrics *m, struct vm *vm, const struct view_table *t, size_t table,
                                    const char *label, uint64_t weight)
{
    struct series *s = find_series(vm, table, label), **end = &vm->series[table];

    if (s)
        return s;
    if (vm->nseries[table] >= t->top)
        make_way(m, vm, t, table, weight);
    if (vm->nseries[table] < t->top)
        s = new_series(m, t, label);
    if (s) {
        while (*end)
            end = &(*end)->next;
        *end = s;
        vm->nseries[table]++;
        return s;
    }
    if (!vm->other[table])
        vm->other[table] = new_series(m, t, others);
    return vm->other[table];
}

static size_t table_id(const struct view_table *t)
{
    size_t id = 0;

    while (view_table((enum view_table_id)id) != t)
        id++;
    return id;
}

/*
 * The label of a row. Owners that are known by their pid alone are one, and so are ports of one name: there may be new
 * ones all the time.
 */
static void make_label(char label[OPENMETRICS_LABEL_BYTES], const struct view_table *t, const char *name)
{
    const char *behind = t->key == VIEW_PORT ? strchr(name, ' ') : NULL;

    openmetrics_text(label, behind ? behind + 1 : t->key == VIEW_OWNER && *name == '<' ? unnamed : name);
}

void metrics_row(void *ctx, const struct view_table *t, uint32_t pid, const char *name, uint64_t *row)
{
    struct metrics *m = ctx;
    size_t table = table_id(t);
    uint64_t weight = result_weigh(t, row);
    char label[OPENMETRICS_LABEL_BYTES];
    struct series *s = NULL;
    struct vm *vm = NULL;

    if (name)
        vm = find_vm(m, pid);
    if (name && !vm) /* it came after the look at which VMs run, or lived so short that no look found it */
        vm = add_vm(m, &(struct metrics_vm){.pid = (int)pid, .watched = true});
    if (vm) {
        make_label(label, t, name);
        s = choose_series(m, vm, t, table, label, weight);
    }
    result_merge(t, s ? s->row : m->rest[table], row);
}

void metrics_open(void *ctx, enum view_open_id id, const struct open_vm *open)
{
    struct vm *vm = find_vm(ctx, open->vm);

    if (!vm)
        return;
    vm->open[id] = (struct open){open->count, open->oldest_ns, ""};
    if (*open->owner)
        openmetrics_text(vm->open[id].owner, *open->owner == '<' ? unnamed : open->owner);
}

/* ---- exemplars */

static const struct view_exemplar *find_exemplar(uint32_t kind)
{
    for (size_t i = 0; i < view_nexemplars; i++)
        if (view_exemplars[i].record == kind)
            return &view_exemplars[i];
    return NULL;
}

/* What the row is called that counted the record. */
static const char *name_exemplar(const struct result_source *source, const struct view_exemplar *of,
                                 const struct wire_header *header)
{
    static char buf[32];
    const char *at = (const char *)header + of->name_at;
    const struct view_table *t = view_table(of->table);

    if (t->key != VIEW_NUMBER)
        return source->name(source->ctx, header->vm, (const struct wire_name *)at);
    if (t->number)
        return t->number(*(const uint64_t *)at);
    snprintf(buf, sizeof buf, "%llu", (unsigned long long)*(const uint64_t *)at);
    return buf;
}

void metrics_record(struct metrics *m, const struct result_source *source, const struct wire_header *header,
                    size_t size)
{
    const struct view_record_kind *kind = view_record_kind(header->kind);
    const struct view_exemplar *of = find_exemplar(header->kind);
    const char *at = (const char *)header;
    struct exemplar *e = &m->exemplars[m->nexemplars % MOST_EXEMPLARS];
    struct wire_pid pid;

    if (!kind || !of || size < kind->bytes || *(const uint64_t *)(at + of->value_at) == VIEW_UNKNOWN)
        return;
    pid = ev_id_wire(*(const ev_id *)(at + of->pid_at));
    *e = (struct exemplar){
        .of = of,
        .vm = header->vm,
        .is = {*(const uint64_t *)(at + of->value_at), header->time_ns + m->settings.wall_offset_ns, ""}};
    snprintf(e->is.pid, sizeof e->is.pid, "<%u.%u.%u>", pid.node, pid.id, pid.serial);
    make_label(e->label, view_table(of->table), name_exemplar(source, of, header));
    m->nexemplars++;
}

/* To the series that counted it. */
static void give_exemplar(struct metrics *m, const struct exemplar *e)
{
    struct vm *vm = find_vm(m, e->vm);
    struct series *s = vm ? find_series(vm, e->of->table, e->label) : NULL;

    if (vm && !s)
        s = vm->other[e->of->table];
    if (s && !s->exemplars)
        s->exemplars = calloc(OPENMETRICS_BUCKETS, sizeof *s->exemplars);
    if (s && s->exemplars)
        s->exemplars[openmetrics_bucket(OPENMETRICS_NS, e->is.value)] = e->is;
}

void metrics_finish(struct metrics *m, const struct metrics_own *own)
{
    m->own = *own;
    for (size_t i = 0; i < m->nexemplars && i < MOST_EXEMPLARS; i++)
        give_exemplar(m, &m->exemplars[i]);
    m->nexemplars = 0;
    for (struct vm *vm = m->vms, *next; vm; vm = next) {
        next = vm->next;
        if (!vm->seen && !vm->ended_ns)
            vm->ended_ns = m->now_ns;
        if (vm->ended_ns && m->now_ns - vm->ended_ns >= m->settings.linger_ns)
            drop_vm(m, vm);
    }
}

/* ---- text */

static const struct wire_hist *hist_of(const uint64_t *row, size_t at)
{
    return (const struct wire_hist *)(row + at / sizeof *row);
}

static enum openmetrics_unit unit_of(enum view_unit unit)
{
    static const enum openmetrics_unit all[] = {[VIEW_UNIT_COUNT] = OPENMETRICS_ONE,
                                                [VIEW_UNIT_NS] = OPENMETRICS_NS,
                                                [VIEW_UNIT_WORDS] = OPENMETRICS_WORDS,
                                                [VIEW_UNIT_BYTES] = OPENMETRICS_BYTES};

    return all[unit];
}

static uint64_t wall(const struct metrics *m, uint64_t ns)
{
    return ns + m->settings.wall_offset_ns;
}

/* A column of a row. */
static void print_cell(struct openmetrics *om, const struct view_column *c, const char *labels, const uint64_t *row,
                       const struct openmetrics_exemplar *exemplars, uint64_t created_ns)
{
    if (c->kind == VIEW_HIST)
        openmetrics_hist(om, labels, hist_of(row, c->at), exemplars, created_ns);
    else
        openmetrics_value(om, labels, row[c->at / sizeof *row], created_ns);
}

static void label_vm(char *labels, const struct vm *vm)
{
    char pid[16];

    snprintf(pid, sizeof pid, "%d", vm->is.pid);
    openmetrics_label(labels, "vm", pid);
    openmetrics_label(labels, "name", vm->name);
}

/* What the names of a table are, in its column of names. */
static const char *name_label(const struct view_table *t)
{
    for (const struct view_column *c = t->columns; c < t->columns + t->ncolumns; c++)
        if (c->kind == VIEW_KEYTEXT)
            return c->key;
    return "name";
}

static bool has_exemplars(const struct view_column *c)
{
    for (size_t i = 0; i < view_nexemplars; i++)
        if (view_exemplars[i].table == c->table && view_exemplars[i].hist_at == c->at && c->kind == VIEW_HIST)
            return true;
    return false;
}

/* Nothing was counted that the VM would have told. */
static bool is_unavailable(const struct vm *vm, const struct view_column *c, const uint64_t *row)
{
    enum batch_event event = view_column_event(c);

    return event != BATCH_EVENTS && vm->is.unavailable.events[event] && !row[c->at / sizeof *row];
}

static void print_vm(const struct metrics *m, struct openmetrics *om, const struct vm *vm, const struct view_table *t,
                     const struct view_column *c)
{
    for (int i = 0; i < 2; i++) {
        for (const struct series *s = i ? vm->other[c->table] : vm->series[c->table]; s; s = s->next) {
            char labels[OPENMETRICS_LABELS_BYTES] = "";

            if (is_unavailable(vm, c, s->row))
                continue;
            label_vm(labels, vm);
            if (t->key != VIEW_TOTAL)
                openmetrics_label(labels, name_label(t), s->label);
            print_cell(om, c, labels, s->row, has_exemplars(c) ? s->exemplars : NULL, wall(m, s->begun_ns));
        }
    }
}

/* "gc_by_owner" and "reclaimed"; a column that is just the count is the table. */
static void name_family(struct openmetrics_family *f, const struct view_table *t, const struct view_column *c)
{
    bool count = c->kind == VIEW_COUNTER && !strcmp(c->key, "count");

    snprintf(f->name, sizeof f->name, "erlsnoop_%s%s%s", t->sink.name, count ? "" : "_", count ? "" : c->key);
}

static bool has_counted(const struct view_table *t, const uint64_t *row)
{
    for (size_t i = 0; i < t->row_bytes / sizeof *row; i++)
        if (row[i])
            return true;
    return false;
}

static void print_column(const struct metrics *m, struct openmetrics *om, const struct view_table *t,
                         const struct view_column *c)
{
    struct openmetrics_family family = {.type = c->kind == VIEW_HIST ? OPENMETRICS_HISTOGRAM : OPENMETRICS_COUNTER,
                                        .unit = unit_of(c->unit)};
    char help[256], labels[OPENMETRICS_LABELS_BYTES] = "";

    name_family(&family, t, c);
    snprintf(help, sizeof help, "%s: %s", t->sink.name, c->text);
    for (char *at = help; *at != ':'; at++)
        *at = *at == '_' ? ' ' : *at;
    family.help = help;
    openmetrics_family(om, &family);
    for (const struct vm *vm = m->vms; vm; vm = vm->next)
        print_vm(m, om, vm, t, c);
    if (t->key != VIEW_TOTAL)
        openmetrics_label(labels, name_label(t), others);
    if (has_counted(t, m->rest[c->table]))
        print_cell(om, c, labels, m->rest[c->table], NULL, wall(m, m->settings.start_ns));
}

/* Of a VM that lacks the events: whether their begins or ends cannot be seen, so that 0 under way says nothing. */
static bool is_open_unavailable(const struct view_open *open, const struct wanted *lacked)
{
    return open->state == VIEW_NSTATES || open->queued || lacked->events[open->event] || lacked->events[open->ends];
}

/* How many spans are under way in each VM that has their events; or how old the oldest is, and whose. */
static void print_open(const struct metrics *m, struct openmetrics *om, enum view_open_id id, bool oldest)
{
    const struct view_open *open = view_open(id);
    struct openmetrics_family family = {.type = OPENMETRICS_GAUGE,
                                        .unit = oldest ? OPENMETRICS_NS : OPENMETRICS_ONE,
                                        .help = oldest ? "the age of the oldest of them, and whose it is"
                                                       : "how many are under way that began since we watch"};

    snprintf(family.name, sizeof family.name, "erlsnoop_%s%s", open->sink.name, oldest ? "_oldest" : "");
    openmetrics_family(om, &family);
    for (const struct vm *vm = m->vms; vm; vm = vm->next) {
        const struct open *is = &vm->open[id];
        char labels[OPENMETRICS_LABELS_BYTES] = "";

        if (!vm->is.watched || vm->ended_ns ||
            (!is->count && (oldest || is_open_unavailable(open, &vm->is.unavailable))))
            continue;
        label_vm(labels, vm);
        if (oldest && *is->owner)
            openmetrics_label(labels, "owner", is->owner);
        openmetrics_value(om, labels, oldest ? is->oldest_ns : is->count, 0);
    }
}

static void print_vms(const struct metrics *m, struct openmetrics *om)
{
    static const struct openmetrics_family family = {
        "erlsnoop_up", OPENMETRICS_GAUGE, OPENMETRICS_ONE,
        "1: the VM runs and is watched; 0: it has ended, or cannot be watched"};

    openmetrics_family(om, &family);
    for (const struct vm *vm = m->vms; vm; vm = vm->next) {
        char labels[OPENMETRICS_LABELS_BYTES] = "";

        label_vm(labels, vm);
        openmetrics_value(om, labels, vm->is.watched && !vm->ended_ns, 0);
    }
}

static void print_one(const struct metrics *m, struct openmetrics *om, const struct openmetrics_family *family,
                      const char *labels, uint64_t value)
{
    openmetrics_family(om, family);
    openmetrics_value(om, labels, value, wall(m, m->settings.start_ns));
}

static void print_losses(const struct metrics *m, struct openmetrics *om)
{
    static const struct openmetrics_family family = {"erlsnoop_lost", OPENMETRICS_COUNTER, OPENMETRICS_ONE,
                                                     "what could not be counted, by why"};

    openmetrics_family(om, &family);
    for (size_t i = 0; i < m->own.nlosses; i++) {
        char labels[OPENMETRICS_LABELS_BYTES] = "";

        openmetrics_label(labels, "why", m->own.losses[i].why);
        openmetrics_value(om, labels, m->own.losses[i].count, wall(m, m->settings.start_ns));
    }
}

static void print_own(const struct metrics *m, struct openmetrics *om)
{
    static const struct openmetrics_family
        build = {"erlsnoop_build", OPENMETRICS_INFO, OPENMETRICS_ONE, "the erlsnoop that serves this"},
        cpu = {"erlsnoop_cpu", OPENMETRICS_COUNTER, OPENMETRICS_NS,
               "processor time of erlsnoop itself, without its programs in the kernel"},
        resident = {"erlsnoop_resident_memory", OPENMETRICS_GAUGE, OPENMETRICS_BYTES, "memory of erlsnoop itself"},
        bpf = {"erlsnoop_bpf_run", OPENMETRICS_COUNTER, OPENMETRICS_NS,
               "processor time of its programs in the kernel, which the watched VMs pay"},
        runs = {"erlsnoop_bpf_runs", OPENMETRICS_COUNTER, OPENMETRICS_ONE, "runs of its programs in the kernel"},
        cost = {"erlsnoop_cost", OPENMETRICS_COUNTER, OPENMETRICS_NS,
                "processor time of the watched VMs that watching took, an estimate: the programs and their traps"},
        hits = {"erlsnoop_hits", OPENMETRICS_COUNTER, OPENMETRICS_ONE, "how often probes that trap were hit"},
        watched = {"erlsnoop_watched", OPENMETRICS_COUNTER, OPENMETRICS_NS,
                   "the time that was watched; less than went by where the budget took the probes away"},
        sampling = {"erlsnoop_sampling", OPENMETRICS_GAUGE, OPENMETRICS_BILLIONTHS,
                    "how much of the last second was watched; 1: all of it, what is counted is exact"};
    char labels[OPENMETRICS_LABELS_BYTES] = "";

    openmetrics_label(labels, "version", m->settings.version);
    print_one(m, om, &build, labels, 1);
    print_one(m, om, &cpu, "", m->own.cpu_ns);
    if (m->own.resident_bytes)
        print_one(m, om, &resident, "", m->own.resident_bytes);
    if (m->own.bpf_known) {
        print_one(m, om, &bpf, "", m->own.bpf_ns);
        print_one(m, om, &runs, "", m->own.bpf_runs);
    }
    if (m->own.cost.known) {
        print_one(m, om, &cost, "", m->own.cost.ns);
        print_one(m, om, &hits, "", m->own.cost.hits);
    }
    print_one(m, om, &watched, "", m->own.cost.watched_ns);
    print_one(m, om, &sampling, "", (uint64_t)(m->own.cost.share * 1e9));
}

void metrics_print(const struct metrics *m, FILE *out, bool prometheus)
{
    struct openmetrics om = {out, prometheus, NULL};

    for (size_t i = 0; i < VIEW_NTABLES; i++) {
        const struct view_table *t = view_table((enum view_table_id)i);

        for (const struct view_column *c = t->columns; m->settings.on[t->view] && c < t->columns + t->ncolumns; c++)
            if (c->kind == VIEW_COUNTER || c->kind == VIEW_HIST)
                print_column(m, &om, t, c);
    }
    for (size_t i = 0; i < VIEW_NOPENS; i++)
        for (int oldest = 0; m->settings.on[view_open((enum view_open_id)i)->view] && oldest < 2; oldest++)
            print_open(m, &om, (enum view_open_id)i, oldest);
    print_vms(m, &om);
    print_losses(m, &om);
    print_own(m, &om);
    openmetrics_end(&om);
}
