/* SPDX-License-Identifier: Apache-2.0 */
#include "inspect.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "common/fail.h"
#include "otp/names.h"
#include "probe/plan.h"
#include "target/memory.h"
#include "target/target_find.h"

/* `core` is taken over, also when it fails. */
static int fill(struct inspected *vm, const struct otp_vm *from, struct memory *core)
{
    int err;

    vm->from = from;
    vm->pid = from->layout.vm;
    vm->names = names_new();
    if (!vm->names) {
        if (core)
            memory_close(core);
        return fail(-ENOMEM, "out of memory");
    }
    err = core ? names_add_memory(vm->names, &from->layout, from->ours, core)
               : names_add(vm->names, &from->layout, from->ours);
    if (!err)
        err = snapshot_new(from, vm->names, &vm->snapshot);
    return err ? fail(err, "the memory of process %u cannot be read: %s", vm->pid, strerror(-err)) : 0;
}

int inspect_open_core(const char *core, const char *emulator, struct inspected *out)
{
    struct memory *memory;
    char why[512];
    int err;

    *out = (struct inspected){0};
    err = otp_vm_new_core(core, emulator, &out->core, &memory, why, sizeof why);
    return err ? fail(err, "core file '%s': %s", core, why) : fill(out, out->core, memory);
}

int inspect_open(const struct options *o, struct inspected *out)
{
    struct target t;
    int pid = o->pid, err = pid ? 0 : target_find(o->name, &pid);

    *out = (struct inspected){0};
    err = err ? err : target_require(pid, &t);
    if (err)
        return err;
    snprintf(out->name, sizeof out->name, "%s", t.name);
    err = plan_new(&t, true, &out->plan);
    if (!err && !out->plan->vm)
        err = fail(-ENOTSUP, "the memory of '%s' (process %d) cannot be read: %s", t.name, pid,
                   out->plan->refused[0] ? out->plan->refused : out->plan->unread);
    target_close(&t);
    return err ? err : fill(out, out->plan->vm, NULL);
}

void inspect_close(struct inspected *vm)
{
    snapshot_free(vm->snapshot);
    names_free(vm->names);
    if (vm->plan)
        plan_free(vm->plan);
    otp_vm_free(vm->core);
}
