/* SPDX-License-Identifier: Apache-2.0 */
#include "owners.h"

#include <errno.h>
#include <string.h>

#include "names.h"
#include "snapshot.h"

enum { MAX_ATOMS = 1 << 16 };

struct reader {
    const struct owners_ops *ops;
    struct names *names;
    struct snapshot *snapshot;
    uint32_t vm;
    bool ours; /* an erlvm */
};

static int give_atom(const struct reader *r, uint64_t index)
{
    const char *text = names_atom(r->names, r->vm, index);

    return text ? r->ops->atom(r->ops->ctx, r->vm, index, text, strlen(text)) : 0;
}

static int give_name(const struct reader *r, ev_id id, const struct wire_name *name)
{
    int err = give_atom(r, name->form == WIRE_MFA ? name->words[0] : name->words[1]);

    if (!err && name->form == WIRE_MFA)
        err = give_atom(r, name->words[1]);
    return err ? err : r->ops->owner(r->ops->ctx, r->vm, id, name);
}

static int give_process(void *ctx, const struct snapshot_process *process)
{
    const struct reader *r = ctx;
    struct wire_name names[OTP_OWNER_NAMES];
    int err = 0;

    if (process->status == SNAPSHOT_EXITING || !snapshot_names(r->snapshot, process, names))
        return 0;
    if (names[OTP_OWNER_LABEL].form == WIRE_REASON)
        names[OTP_OWNER_LABEL].form = r->ours ? WIRE_LABEL : WIRE_TEXT; /* stock: nobody would tell that it changes */
    for (int i = 0; i < OTP_OWNER_NAMES && !err; i++)
        if (names[i].form != WIRE_TEXT)
            err = give_name(r, process->id, &names[i]);
    return err;
}

/* All of them, or those by which views tell orderly ends from others: they are to know these before the first end. */
static int give_atoms(const struct reader *r)
{
    static const char *const orderly[] = {"normal", "shutdown"};
    size_t count = names_atoms(r->names, r->vm);
    int err = 0;

    for (size_t i = 0; i < sizeof orderly / sizeof *orderly && !err; i++)
        err = give_atom(r, names_find_atom(r->names, r->vm, orderly[i]));
    for (size_t i = 0; r->ops->all_atoms && i < count && i < MAX_ATOMS && !err; i++)
        err = give_atom(r, i);
    return err;
}

static int give_vm(struct reader *r, const struct otp_vm *vm)
{
    int err = names_add(r->names, &vm->layout, vm->ours);
    struct snapshot_count count;

    if (!err)
        err = snapshot_new(vm, r->names, &r->snapshot);
    if (err)
        return err == -ENOMEM ? err : 0;
    err = give_atoms(r);
    if (!err && r->ops->owner)
        err = snapshot_processes(r->snapshot, give_process, r, &count);
    snapshot_free(r->snapshot);
    return err == -ESRCH || err == -EBADMSG ? 0 : err;
}

int owners_read(const struct target *t, const struct owners_ops *ops)
{
    struct reader r = {.ops = ops, .vm = (uint32_t)t->pid};
    struct otp_vm *vm = NULL;
    char why[160];
    int err;

    if (!t->pid || otp_vm_new(t, &vm, why, sizeof why))
        return 0;
    r.names = names_new();
    r.ours = vm->ours != NULL;
    err = r.names ? give_vm(&r, vm) : -ENOMEM;
    names_free(r.names);
    otp_vm_free(vm);
    return err;
}
