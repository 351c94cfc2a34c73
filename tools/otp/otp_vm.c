/* SPDX-License-Identifier: Apache-2.0 */
/* Invariant: a layout that leaves here has passed otp_check. */
#include "otp_vm.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "common/rights.h"
#include "otp_check.h"
#include "target/core_file.h"
#include "target/memory.h"
#include "target/provider_otp.h"

static bool read_memory(int pid, uint64_t address, void *out, size_t size)
{
    struct memory_file *file = NULL;
    bool whole = !memory_file_open(pid, &file) && memory_file_read(file, address, out, size);

    memory_file_close(file);
    return whole;
}

/* The address in memory of an object; 0 when it is not found. */
static uint64_t locate(struct otp_vm *vm, const char *name)
{
    struct otp_place place;

    return otp_symbols_find(vm->symbols, name, &place) ? 0 : place.address + vm->layout.bias;
}

/* What a VM is read by. */
struct source {
    const struct target *target;
    struct memory *memory;
    uint64_t bias;    /* 0: not known */
    const char *root; /* of its file system; NULL: no debug files are looked for */
};

/* It has ended, or has become another program, as a child that was just forked does. */
static int is_gone(char *why, size_t size)
{
    snprintf(why, size, "its memory map does not show the executable");
    return -EAGAIN;
}

static int find_places(struct otp_vm *vm, const struct source *from, char *why, size_t size)
{
    struct otp_layout *l = &vm->layout;
    uint64_t apply;

    l->bias = from->bias;
    if (!l->bias)
        return is_gone(why, size);
    l->procs = locate(vm, "erts_proc");
    l->atoms = locate(vm, "erts_atom_table");
    if (!l->procs || !l->atoms) {
        snprintf(why, size, "%s is not found in it", l->procs ? "erts_atom_table" : "erts_proc");
        return -ENOENT;
    }
    apply = locate(vm, "beam_run_process");
    if (apply && !memory_file_read(memory_file(from->memory), apply, &l->apply, sizeof l->apply))
        l->apply = 0;
    return 0;
}

/* The offsets of its build: by release, flavour, and whether it has notes, which move members. */
static int choose_layout(struct otp_vm *vm, const struct target *t, char *why, size_t size)
{
    char release[16];
    bool jit = provider_otp_jit(t->elf);
    const uint16_t *off;

    t->provider->ops->release(t->elf, release, sizeof release);
    vm->layout.vm = (uint32_t)t->pid;
    vm->layout.jit = jit;
    vm->layout.release = (uint32_t)strtoul(release, NULL, 10);
    off = otp_layout_find(vm->layout.release, jit, t->elf->nnotes > 0);
    if (off) {
        memcpy(vm->layout.off, off, OTP_NFIELDS * sizeof *off);
        return 0;
    }
    snprintf(why, size, "no offsets are known of OTP %.15s (%s%s)", release[0] ? release : "of unknown release",
             jit ? "JIT" : "interpreter", t->elf->nnotes ? ", with notes" : "");
    return -ENOTSUP;
}

/* Ports are read when all that is known of them holds; who is asked of other things does without. */
static int find_ports(struct otp_vm *vm, const struct source *from, char *why, size_t size)
{
    int err = -ENOENT;

    vm->layout.ports = locate(vm, "erts_port");
    if (vm->layout.ports)
        err = otp_check_ports(memory_file(from->memory), &vm->layout, vm->no_ports, sizeof vm->no_ports);
    else
        snprintf(vm->no_ports, sizeof vm->no_ports, "erts_port is not found in it");
    if (err == -EAGAIN)
        snprintf(why, size, "%s", vm->no_ports);
    return err == -EAGAIN ? err : 0;
}

static int fill_stock(struct otp_vm *vm, const struct source *from, char *why, size_t size)
{
    int err = otp_symbols_new(from->target->path, from->root, &vm->symbols);

    if (err)
        snprintf(why, size, "its executable cannot be read: %s", rights_explain(err));
    if (!err)
        err = choose_layout(vm, from->target, why, size);
    if (!err)
        err = find_places(vm, from, why, size);
    if (!err)
        err = otp_check(memory_file(from->memory), otp_symbols_image(vm->symbols), &vm->layout, why, size);
    if (!err)
        err = find_ports(vm, from, why, size);
    vm->nodes[0] = err ? 0 : locate(vm, "erts_visible_dist_entries");
    vm->nodes[1] = err ? 0 : locate(vm, "erts_hidden_dist_entries");
    return err;
}

static int fill_ours(struct otp_vm *vm, const struct source *from, char *why, size_t size)
{
    uint64_t table = elf_file_address(from->target->elf, from->bias, "erlvm_layout");
    int err;

    vm->ours = calloc(1, sizeof *vm->ours);
    err = vm->ours ? erlvm_layout_read(from->memory, table, vm->ours, why, size) : -ENOMEM;
    if (err)
        return err;
    vm->layout.vm = (uint32_t)from->target->pid;
    vm->layout.bias = from->bias;
    erlvm_layout_fill(vm->ours, &vm->layout);
    return 0;
}

static int new_vm(const struct source *from, struct otp_vm **out, char *why, size_t size)
{
    struct otp_vm *vm = calloc(1, sizeof *vm);
    int err = -ENOMEM;

    snprintf(why, size, "out of memory");
    if (vm)
        err = (from->target->provider->hooks ? fill_stock : fill_ours)(vm, from, why, size);
    if (err) {
        otp_vm_free(vm);
        return err;
    }
    *out = vm;
    return 0;
}

int otp_vm_new(const struct target *t, struct otp_vm **out, char *why, size_t size)
{
    struct source from = {.target = t, .bias = elf_file_bias(t->elf, t->pid)};
    int err = memory_open(t->pid, &from.memory);
    char root[64];

    if (err == -ENOENT)
        return is_gone(why, size);
    if (err) {
        snprintf(why, size, "its memory cannot be read: %s", rights_explain(err));
        return err;
    }
    snprintf(root, sizeof root, "/proc/%d/root", t->pid);
    from.root = root;
    err = new_vm(&from, out, why, size);
    memory_close(from.memory);
    if (err && elf_file_bias(t->elf, t->pid) != from.bias) /* meanwhile: what was read was half another's */
        err = is_gone(why, size);
    return err;
}

/* ---- of a core file */

/* Opens what the core was of; *bias is that of its executable. */
static int open_executable(struct core_file *core, const char *path, struct target *t, uint64_t *bias, char *why,
                           size_t size)
{
    int err;

    path = path ? path : core_file_executable(core);
    if (!path) {
        snprintf(why, size, "it does not say which executable it is of");
        return -ENOENT;
    }
    err = target_open_file(path, t);
    if (err) {
        snprintf(why, size, "its executable, %s, cannot be read as an Erlang VM: %s", path, rights_explain(err));
        return err;
    }
    t->pid = core_file_pid(core);
    err = core_file_use(core, elf_file_fd(t->elf), bias);
    if (err) {
        snprintf(why, size, err == -ESTALE ? "%s is not the executable that it is of: it is of another build"
                                           : "%s cannot be held against it", path);
        target_close(t);
    }
    return err;
}

int otp_vm_new_core(const char *path, const char *executable, struct otp_vm **out, struct memory **memory, char *why,
                    size_t size)
{
    struct core_file *core;
    struct memory_file *file;
    struct target t;
    struct source from = {.target = &t};
    int err = core_file_open(path, &core);

    if (err) {
        snprintf(why, size, err == -ENOEXEC ? "it is no core file of an x86-64 program" : "it cannot be read: %s",
                 rights_explain(err));
        return err;
    }
    err = open_executable(core, executable, &t, &from.bias, why, size);
    if (err) {
        core_file_close(core);
        return err;
    }
    snprintf(why, size, "out of memory");
    err = memory_file_from_core(core, &file);
    if (!err)
        err = memory_new(file, &from.memory);
    if (!err) {
        err = new_vm(&from, out, why, size);
        if (err)
            memory_close(from.memory);
        else
            *memory = from.memory;
    }
    target_close(&t);
    return err;
}

void otp_vm_free(struct otp_vm *vm)
{
    if (!vm)
        return;
    if (vm->symbols)
        otp_symbols_free(vm->symbols);
    free(vm->ours);
    free(vm);
}

/* A member of the table of processes, of 32 bits. */
static int read_table(const struct otp_vm *vm, enum otp_field field, uint64_t *out)
{
    uint32_t number;

    if (!read_memory((int)vm->layout.vm, vm->layout.procs + vm->layout.off[field], &number, sizeof number))
        return -ESRCH;
    *out = number;
    return 0;
}

int otp_vm_processes(const struct otp_vm *vm, uint64_t *out)
{
    return read_table(vm, OTP_PTAB_COUNT, out);
}

int otp_vm_limit(const struct otp_vm *vm, uint64_t *out)
{
    return read_table(vm, OTP_PTAB_MAX, out);
}
