/* SPDX-License-Identifier: Apache-2.0 */
#include "ps_parts.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/array.h"
#include "ps_known.h"

enum { NAME_BYTES = PS_NAME_BYTES };

/* ---- the whole VM */

static int count_port(void *ctx, const struct snapshot_port *port)
{
    (void)port;
    ++*(uint64_t *)ctx;
    return 0;
}

static int add_queued(void *ctx, const struct snapshot_scheduler *scheduler)
{
    bool shared = scheduler->type != SNAPSHOT_NORMAL && scheduler->number > 1; /* dirty ones of a type have one queue */

    *(uint64_t *)ctx += shared ? 0 : scheduler->queued;
    return 0;
}

void ps_print_summary(const struct inspected *vm, const struct ps_processes *processes,
                      const struct snapshot_count *count, struct sink *sink)
{
    static const struct sink_column columns[] = {{"vm", "VM", SINK_COUNT, 7},
                                                 {"processes", "PROCESSES", SINK_COUNT, 9},
                                                 {"process_limit", "LIMIT", SINK_COUNT, 8},
                                                 {"running", "RUNNING", SINK_COUNT, 7},
                                                 {"runnable", "RUNNABLE", SINK_COUNT, 8},
                                                 {"queued", "QUEUED", SINK_COUNT, 7},
                                                 {"ports", "PORTS", SINK_COUNT, 6},
                                                 {"atoms", "ATOMS", SINK_COUNT, 7},
                                                 {"atom_limit", "LIMIT", SINK_COUNT, 8}};
    static const struct sink_table table = {"vm_now", NULL, columns, 9};
    uint64_t ports = 0, queued = 0, atoms, atom_limit, limit;
    bool has_ports = !snapshot_ports(vm->snapshot, count_port, &ports, NULL);
    bool has_queued = !snapshot_schedulers(vm->snapshot, add_queued, &queued);
    bool has_atoms = !snapshot_atoms(vm->snapshot, &atoms, &atom_limit);
    bool has_limit = !snapshot_process_limit(vm->snapshot, &limit);

    sink_row(sink, &table,
             (struct sink_value[]){SINK_N(vm->pid), SINK_N(count->read), has_limit ? SINK_N(limit) : SINK_NONE,
                                   SINK_N(ps_processes_count(processes, SNAPSHOT_RUNNING)),
                                   SINK_N(ps_processes_count(processes, SNAPSHOT_RUNNABLE)),
                                   has_queued ? SINK_N(queued) : SINK_NONE, has_ports ? SINK_N(ports) : SINK_NONE,
                                   has_atoms ? SINK_N(atoms) : SINK_NONE, has_atoms ? SINK_N(atom_limit) : SINK_NONE});
}

/* ---- ports */

struct ports {
    struct snapshot_port *all;
    size_t n, room;
    struct ps_known owners;
};

static int take_port(void *ctx, const struct snapshot_port *port)
{
    struct ports *ports = ctx;
    int err = array_room((void **)&ports->all, ports->n, &ports->room, sizeof *ports->all);

    if (err)
        return err;
    ports->all[ports->n++] = *port;
    return ps_known_add(&ports->owners, port->owner);
}

static uint64_t waiting_bytes(const struct snapshot_port *port)
{
    return port->queued_bytes + port->command_bytes;
}

/* Those that are busy first, then by what waits in them. */
static int compare_ports(const void *a, const void *b)
{
    const struct snapshot_port *x = a, *y = b;
    uint64_t keys[][2] = {
        {y->busy || y->full, x->busy || x->full}, {waiting_bytes(y), waiting_bytes(x)}, {x->id, y->id}};

    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
        if (keys[i][0] != keys[i][1])
            return keys[i][0] < keys[i][1] ? -1 : 1;
    return 0;
}

static void print_port(const struct inspected *vm, const struct ports *ports, const struct snapshot_port *port,
                       struct sink *sink)
{
    static const struct sink_column columns[] = {
        {"port", "PORT", SINK_TEXT, 0}, {"name", "NAME", SINK_TEXT, 12},     {"process", "OWNER", SINK_TEXT, 0},
        {"owner", "", SINK_TEXT, 8},    {"state", "STATE", SINK_TEXT, 0},    {"waiting", "WAITING", SINK_SIZE, 7},
        {"read", "READ", SINK_SIZE, 7}, {"written", "WRITTEN", SINK_SIZE, 7}};
    static const struct sink_table table = {"port", NULL, columns, 8};
    char id[32], pid[SNAPSHOT_PID_BYTES], name[512] = "", owner[NAME_BYTES];
    const char *state = port->busy ? "busy" : port->full ? "full" : port->closing ? "closing" : "open";

    snprintf(id, sizeof id, "#Port<0.%llu>", (unsigned long long)ev_id_rest(port->id));
    snapshot_port_name(vm->snapshot, port, name, sizeof name);
    ps_known_name(vm, &ports->owners, port->owner, owner);
    sink_row(sink, &table,
             (struct sink_value[]){SINK_S(id), sink_text(name), sink_text(snapshot_pid_text(port->owner, pid)),
                                   sink_text(owner), SINK_S(state), SINK_N(waiting_bytes(port)),
                                   SINK_N(port->read_bytes), SINK_N(port->written_bytes)});
}

int ps_ports_print(const struct inspected *vm, struct sink *sink)
{
    struct ports ports = {0};
    struct snapshot_count count;
    int err = snapshot_ports(vm->snapshot, take_port, &ports, &count);

    if (!err) {
        ps_known_find(&ports.owners, vm);
        if (ports.n)
            qsort(ports.all, ports.n, sizeof *ports.all, compare_ports);
        for (size_t i = 0; i < ports.n; i++)
            print_port(vm, &ports, &ports.all[i], sink);
        sink_lost(sink, count.unclear, "ports whose memory makes no sense");
    }
    free(ports.all);
    ps_known_end(&ports.owners);
    return err;
}

const char *ps_ports_missing(const struct otp_vm *vm)
{
    return vm->no_ports[0] ? vm->no_ports : "this erlvm is older than the table of ports";
}

/* ---- schedulers */

struct schedulers {
    struct snapshot_scheduler *all;
    size_t n, room;
    struct ps_known running;
};

static int take_scheduler(void *ctx, const struct snapshot_scheduler *scheduler)
{
    struct schedulers *s = ctx;
    int err = array_room((void **)&s->all, s->n, &s->room, sizeof *s->all);

    if (err)
        return err;
    s->all[s->n++] = *scheduler;
    return ps_known_add(&s->running, scheduler->running);
}

static void print_scheduler(const struct inspected *vm, const struct schedulers *s, const struct snapshot_scheduler *is,
                            struct sink *sink)
{
    static const struct sink_column columns[] = {
        {"scheduler", "SCHEDULER", SINK_TEXT, 0}, {"queued", "QUEUED", SINK_COUNT, 7},
        {"reductions", "REDS", SINK_COUNT, 12},   {"process", "RUNS", SINK_TEXT, 8},
        {"owner", "OWNER", SINK_TEXT, 14},        {"at", "AT", SINK_TEXT, 0}};
    static const struct sink_table table = {"scheduler", NULL, columns, 6};
    static const char *const types[] = {
        [SNAPSHOT_NORMAL] = "normal", [SNAPSHOT_DIRTY_CPU] = "dirty CPU", [SNAPSHOT_DIRTY_IO] = "dirty I/O"};
    const struct snapshot_process *known = ps_known_process(&s->running, is->running);
    char name[32], pid[SNAPSHOT_PID_BYTES], owner[NAME_BYTES], at[NAME_BYTES] = "";

    snprintf(name, sizeof name, "%s %u", types[is->type], is->number);
    ps_known_name(vm, &s->running, is->running, owner);
    if (known && !snapshot_place(vm->snapshot, known, at, sizeof at))
        at[0] = '\0';
    sink_row(sink, &table,
             (struct sink_value[]){SINK_S(name), SINK_N(is->queued), SINK_N(is->reductions),
                                   sink_text(snapshot_pid_text(is->running, pid)), sink_text(owner), sink_text(at)});
}

static int compare_schedulers(const void *a, const void *b)
{
    const struct snapshot_scheduler *x = a, *y = b;

    return x->type != y->type ? (int)x->type - (int)y->type : x->number < y->number ? -1 : x->number > y->number;
}

int ps_schedulers_print(const struct inspected *vm, struct sink *sink)
{
    struct schedulers s = {0};
    int err = snapshot_schedulers(vm->snapshot, take_scheduler, &s);

    if (!err) {
        ps_known_find(&s.running, vm);
        if (s.n)
            qsort(s.all, s.n, sizeof *s.all, compare_schedulers);
        for (size_t i = 0; i < s.n; i++)
            print_scheduler(vm, &s, &s.all[i], sink);
    }
    free(s.all);
    ps_known_end(&s.running);
    return err;
}
