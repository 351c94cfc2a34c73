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

#include "target/memory.h"
#include "otp_check.h"
#include "target/provider_otp.h"
#include "common/rights.h"

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

static int find_places(struct otp_vm *vm, const struct target *t, char *why, size_t size)
{
    struct otp_layout *l = &vm->layout;
    uint64_t apply;

    l->bias = elf_file_bias(t->elf, t->pid);
    if (!l->bias) { /* it has ended, or has become another program, as a child that was just forked does */
        snprintf(why, size, "its memory map does not show the executable");
        return -EAGAIN;
    }
    l->procs = locate(vm, "erts_proc");
    l->atoms = locate(vm, "erts_atom_table");
    if (!l->procs || !l->atoms) {
        snprintf(why, size, "%s is not found in it", l->procs ? "erts_atom_table" : "erts_proc");
        return -ENOENT;
    }
    apply = locate(vm, "beam_run_process");
    if (apply && !read_memory(t->pid, apply, &l->apply, sizeof l->apply))
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
    snprintf(why, size, "no offsets are known of OTP %.15s (%s%s)", release[0] ? release : "of unknown release", jit ? "JIT" : "interpreter",
             t->elf->nnotes ? ", with notes" : "");
    return -ENOTSUP;
}

/* Ports are read when all that is known of them holds; who is asked of other things does without. */
static int find_ports(struct otp_vm *vm, const struct target *t, char *why, size_t size)
{
    int err = -ENOENT;

    vm->layout.ports = locate(vm, "erts_port");
    if (vm->layout.ports)
        err = otp_check_ports(t->pid, &vm->layout, vm->no_ports, sizeof vm->no_ports);
    else
        snprintf(vm->no_ports, sizeof vm->no_ports, "erts_port is not found in it");
    if (err == -EAGAIN)
        snprintf(why, size, "%s", vm->no_ports);
    return err == -EAGAIN ? err : 0;
}

static int fill_stock(struct otp_vm *vm, const struct target *t, char *why, size_t size)
{
    char root[64];
    int err;

    snprintf(root, sizeof root, "/proc/%d/root", t->pid);
    err = otp_symbols_new(t->path, root, &vm->symbols);
    if (err)
        snprintf(why, size, "its executable cannot be read: %s", rights_explain(err));
    if (!err)
        err = choose_layout(vm, t, why, size);
    if (!err)
        err = find_places(vm, t, why, size);
    if (!err)
        err = otp_check(t->pid, otp_symbols_image(vm->symbols), &vm->layout, why, size);
    if (!err)
        err = find_ports(vm, t, why, size);
    return err;
}

static int fill_ours(struct otp_vm *vm, const struct target *t, char *why, size_t size)
{
    struct memory *memory;
    int err = memory_open(t->pid, &memory);

    if (err) {
        snprintf(why, size, "its memory cannot be read: %s", rights_explain(err));
        return err;
    }
    vm->ours = calloc(1, sizeof *vm->ours);
    err = vm->ours ? erlvm_layout_read(memory, elf_file_address(t->elf, t->pid, "erlvm_layout"), vm->ours, why, size) : -ENOMEM;
    memory_close(memory);
    if (err)
        return err;
    vm->layout.vm = (uint32_t)t->pid;
    vm->layout.bias = elf_file_bias(t->elf, t->pid);
    erlvm_layout_fill(vm->ours, &vm->layout);
    return 0;
}

int otp_vm_new(const struct target *t, struct otp_vm **out, char *why, size_t size)
{
    struct otp_vm *vm = calloc(1, sizeof *vm);
    int err = -ENOMEM;

    snprintf(why, size, "out of memory");
    if (vm)
        err = (t->provider->hooks ? fill_stock : fill_ours)(vm, t, why, size);
    if (err) {
        otp_vm_free(vm);
        return err;
    }
    *out = vm;
    return 0;
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
