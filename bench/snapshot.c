/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What reading a VM's processes from outside costs (tools/otp/snapshot.h): snapshot PID ROUNDS prints a line: how many
 * there are, milliseconds of processor time and of time by the clock for all of them, the least of the rounds, and
 * microseconds for the names of one: who it is and where it stands, of 1,000.
 */
#include <stdio.h>
#include <stdlib.h>

#include "common/clock.h"
#include "otp/names.h"
#include "otp/snapshot.h"

enum { NAMED = 1000 };

struct rows {
    struct snapshot_process first[NAMED];
    size_t n;
};

static int keep(void *ctx, const struct snapshot_process *process)
{
    struct rows *rows = ctx;

    if (rows->n < NAMED)
        rows->first[rows->n++] = *process;
    return 0;
}

static double name_rows(struct snapshot *s, struct names *names, uint32_t vm, const struct rows *rows)
{
    uint64_t begun = clock_ns(CLOCK_PROCESS_CPUTIME_ID);
    struct wire_name name;
    char text[512];

    for (size_t i = 0; i < rows->n; i++) {
        if (snapshot_owner(s, &rows->first[i], &name))
            names_text(names, vm, &name, text, sizeof text);
        snapshot_place(s, &rows->first[i], text, sizeof text);
    }
    return rows->n ? (double)(clock_ns(CLOCK_PROCESS_CPUTIME_ID) - begun) / 1e3 / (double)rows->n : 0;
}

static int measure(struct snapshot *s, struct names *names, uint32_t vm, int rounds)
{
    struct rows *rows = calloc(1, sizeof *rows);
    struct snapshot_count count = {0};
    double cpu = 0, wall = 0;
    int err = rows ? 0 : 1;

    for (int i = 0; i < rounds && !err; i++) {
        uint64_t cpu_ns = clock_ns(CLOCK_PROCESS_CPUTIME_ID), wall_ns = clock_ns(CLOCK_MONOTONIC);

        rows->n = 0;
        err = snapshot_processes(s, keep, rows, &count);
        cpu_ns = clock_ns(CLOCK_PROCESS_CPUTIME_ID) - cpu_ns;
        wall_ns = clock_ns(CLOCK_MONOTONIC) - wall_ns;
        cpu = !i || (double)cpu_ns / 1e6 < cpu ? (double)cpu_ns / 1e6 : cpu;
        wall = !i || (double)wall_ns / 1e6 < wall ? (double)wall_ns / 1e6 : wall;
    }
    if (!err)
        printf("%llu %.1f %.1f %.1f\n", (unsigned long long)count.read, cpu, wall, name_rows(s, names, vm, rows));
    free(rows);
    return err != 0;
}

int main(int argc, char **argv)
{
    struct names *names = names_new();
    struct snapshot *s;
    struct target target;
    struct otp_vm *vm;
    char why[160];

    if (argc != 3 || target_open_pid(atoi(argv[1]), &target) || otp_vm_new(&target, &vm, why, sizeof why))
        return 1;
    target_close(&target);
    if (names_add(names, &vm->layout, vm->ours) || snapshot_new(vm, names, &s))
        return 1;
    return measure(s, names, vm->layout.vm, atoi(argv[2]));
}
