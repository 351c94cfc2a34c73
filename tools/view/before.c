/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Invariant: an item was there when its VM was added and at each look since, but for those that no event tells the
 * begin of, which join at any look.
 */
#include "before.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "common/clock.h"
#include "common/fail.h"
#include "common/table.h"
#include "otp/names.h"
#include "otp/snapshot.h"
#include "target/thread_call.h"

enum { NAME_BYTES = 4096, MAX_ITEMS = 65536, MAILBOXES = BEFORE_MAILBOXES + 1 /* and the others */ };

struct mailbox {
    struct snapshot_process process;
    uint64_t messages;
    char *owner;
};

struct entry {
    struct entry_key {
        uint64_t kind, key, mark;
        uint64_t what; /* without a key: a hash of what it is about; two that have the same are one, which is rare */
    } key;
    struct before_item item;
    bool seen; /* in this look */
    UT_hash_handle hh;
};

struct before_vm {
    struct otp_vm vm; /* without symbols */
    struct erlvm_layout ours;
    struct snapshot *snapshot;
    struct names *names;
    struct memory *memory; /* theirs: when they have another, it is another program's */
    bool knows[PENDING_NKINDS];
    struct entry *entries;
    struct mailbox mailboxes[MAILBOXES]; /* the most first; the last one: all others */
};

struct before {
    bool kinds[PENDING_NKINDS]; /* that views ask for */
    bool joins[PENDING_NKINDS]; /* and that no event tells the begin of */
    bool mailboxes;
    struct before_vm **vms;
    size_t nvms;
    uint64_t from_ns, now_ns; /* of the last two looks */
};

struct before *before_new(const bool on[VIEW_COUNT])
{
    struct before *b = calloc(1, sizeof *b);

    for (size_t i = 0; b && i < VIEW_NOPENS; i++) {
        const struct view_open *open = view_open((enum view_open_id)i);

        b->kinds[open->before] |= on[open->view];
        b->joins[open->before] |= open->state == VIEW_NSTATES || open->queued;
    }
    if (b) {
        b->kinds[PENDING_NONE] = b->joins[PENDING_NONE] = false;
        b->mailboxes = on[VIEW_messages] || on[VIEW_mailboxes];
        b->now_ns = clock_ns(CLOCK_MONOTONIC);
    }
    return b;
}

/* ---- items */

struct looking {
    struct before *before;
    struct before_vm *vm;
    uint64_t now_ns;
    bool first;
};

static struct entry_key key_of(const struct pending *p)
{
    return (struct entry_key){p->kind, p->key, p->mark, p->key ? 0 : table_hash(p->what, strlen(p->what))};
}

/* No event tells the begin of such a thing. An erlvm tells that of an operation that waits for a thread. */
static bool joins(const struct before *b, const struct before_vm *vm, enum pending_kind kind)
{
    return b->joins[kind] && !(kind == PENDING_FILE_QUEUE && vm->vm.ours);
}

static int add_entry(struct looking *l, const struct pending *p)
{
    struct entry *entry = calloc(1, sizeof *entry);

    if (!entry)
        return -ENOMEM;
    entry->key = key_of(p);
    entry->seen = true;
    entry->item = (struct before_item){.is = *p,
                                       .since_ns = l->now_ns > p->age_ns ? l->now_ns - p->age_ns : 0,
                                       .seen_ns = l->now_ns,
                                       .exact = p->kind != PENDING_NATIVE && p->age_ns,
                                       .joined = !l->first};
    HASH_ADD(hh, l->vm->entries, key, sizeof entry->key, entry);
    if (table_has(entry))
        return 0;
    free(entry);
    return -ENOMEM;
}

static int see_pending(void *ctx, const struct pending *p)
{
    struct looking *l = ctx;
    const struct entry_key key = key_of(p);
    struct entry *entry;

    HASH_FIND(hh, l->vm->entries, &key, sizeof key, entry);
    if (entry)
        entry->seen = true;
    if (entry || !(l->first || joins(l->before, l->vm, p->kind)) || HASH_COUNT(l->vm->entries) >= MAX_ITEMS)
        return 0;
    return add_entry(l, p);
}

static void drop_entry(struct before_vm *vm, struct entry *entry)
{
    HASH_DEL(vm->entries, entry);
    free(entry);
}

static void drop_over(struct before_vm *vm)
{
    struct entry *entry, *next;

    HASH_ITER(hh, vm->entries, entry, next)
        if (!entry->seen || entry->item.over)
            drop_entry(vm, entry);
}

/* After the first look only what is left, and what may join. */
static int look_at(struct before *b, struct before_vm *vm, uint64_t now_ns, bool first)
{
    struct looking l = {b, vm, now_ns, first};
    bool wanted[PENDING_NKINDS] = {false};
    int err = 0;

    for (size_t kind = 0; kind < PENDING_NKINDS; kind++)
        wanted[kind] = b->kinds[kind] && vm->knows[kind] && (first || joins(b, vm, kind));
    for (struct entry *entry = vm->entries; entry; entry = entry->hh.next) {
        entry->seen = false;
        wanted[entry->item.is.kind] = true;
    }
    names_since(vm->names, now_ns);
    if (names_memory(vm->names, vm->vm.layout.vm) == vm->memory)
        err = pending_read(vm->snapshot, wanted, see_pending, &l);
    drop_over(vm);
    return err;
}

/* ---- mailboxes */

/* It stands where it belongs; the last one gets into the others. */
static int see_mailbox(void *ctx, const struct snapshot_process *process)
{
    struct mailbox *all = ((struct before_vm *)ctx)->mailboxes, *others = &all[BEFORE_MAILBOXES];
    size_t at = BEFORE_MAILBOXES;

    if (!process->messages || process->status == SNAPSHOT_EXITING)
        return 0;
    while (at && all[at - 1].messages < process->messages)
        at--;
    if (at == BEFORE_MAILBOXES) {
        others->messages += process->messages;
        return 0;
    }
    others->messages += all[BEFORE_MAILBOXES - 1].messages;
    memmove(&all[at + 1], &all[at], (BEFORE_MAILBOXES - 1 - at) * sizeof *all);
    all[at] = (struct mailbox){.process = *process, .messages = process->messages};
    return 0;
}

static int read_mailboxes(struct before_vm *vm)
{
    char buf[NAME_BYTES];
    int err = snapshot_processes(vm->snapshot, see_mailbox, vm, NULL);

    for (size_t i = 0; i < BEFORE_MAILBOXES && vm->mailboxes[i].messages; i++) {
        struct wire_name name = {.form = WIRE_PROCESS, .words = {vm->mailboxes[i].process.id}};

        snapshot_owner(vm->snapshot, &vm->mailboxes[i].process, &name);
        vm->mailboxes[i].owner = strdup(names_text(vm->names, vm->vm.layout.vm, &name, buf, sizeof buf));
    }
    return err == -ENOMEM ? err : 0;
}

static void drop_mailboxes(struct before_vm *vm)
{
    for (size_t i = 0; i < MAILBOXES; i++) {
        free(vm->mailboxes[i].owner);
        vm->mailboxes[i] = (struct mailbox){.messages = 0};
    }
}

void before_tell_mailboxes(struct before *b, void (*see)(void *ctx, const struct before_mailbox *mailbox), void *ctx)
{
    uint64_t others = 0;

    for (size_t k = 0; k < b->nvms; k++) {
        const struct mailbox *all = b->vms[k]->mailboxes;

        for (size_t i = 0; i < BEFORE_MAILBOXES; i++)
            if (all[i].messages && all[i].owner)
                see(ctx, &(struct before_mailbox){b->vms[k]->vm.layout.vm, all[i].owner, all[i].messages});
        others += all[BEFORE_MAILBOXES].messages;
        drop_mailboxes(b->vms[k]);
    }
    if (others)
        see(ctx, &(struct before_mailbox){0, "(other)", others});
}

/* ---- VMs */

static void free_vm(struct before_vm *vm)
{
    struct entry *entry, *next;

    if (!vm)
        return;
    HASH_ITER(hh, vm->entries, entry, next)
        drop_entry(vm, entry);
    drop_mailboxes(vm);
    snapshot_free(vm->snapshot);
    free(vm);
}

static bool asks_anything(const struct before *b)
{
    bool asks = b->mailboxes;

    for (size_t kind = 0; kind < PENDING_NKINDS; kind++)
        asks |= b->kinds[kind];
    return asks;
}

/* Where schedulers are is found now: it needs the symbols. */
static int no_scheduler(void *ctx, const struct snapshot_scheduler *scheduler)
{
    (void)ctx, (void)scheduler;
    return 0;
}

static void say_unknown(const struct before *b, const struct before_vm *vm)
{
    int err = b->kinds[PENDING_FILE] ? thread_calls_known((int)vm->vm.layout.vm) : 0;

    if (err && err != -ESRCH)
        note("which file operations of process %u were under way before is not known: "
             "/proc/PID/task/TID/syscall: %s", vm->vm.layout.vm, strerror(-err));
    if (b->kinds[PENDING_NODE] && vm->knows[PENDING_NODE] && !vm->vm.ours && !vm->vm.nodes[0])
        note("which connections to nodes were busy before that processes of process %u carry (TLS) is not known: "
             "erts_visible_dist_entries is not found in it", vm->vm.layout.vm);
}

static int fill_vm(struct before *b, struct before_vm *vm, const struct otp_vm *from)
{
    int err;

    vm->vm = *from;
    if (from->ours) {
        vm->ours = *from->ours;
        vm->vm.ours = &vm->ours;
    }
    err = snapshot_new(&vm->vm, vm->names, &vm->snapshot);
    if (err)
        return err;
    pending_known(vm->snapshot, vm->knows);
    say_unknown(b, vm);
    err = snapshot_schedulers(vm->snapshot, no_scheduler, NULL);
    if (err == -ESRCH)
        vm->knows[PENDING_SLICE] = vm->knows[PENDING_COLLECTION] = vm->knows[PENDING_NATIVE] =
            vm->knows[PENDING_CALLBACK] = false;
    if (err == -ESRCH && !from->ours)
        vm->knows[PENDING_FILE] = vm->knows[PENDING_FILE_QUEUE] = false;
    vm->vm.symbols = NULL;
    err = err == -ESRCH ? 0 : err;
    if (!err)
        err = look_at(b, vm, clock_ns(CLOCK_MONOTONIC), true);
    return !err && b->mailboxes ? read_mailboxes(vm) : err;
}

int before_add(struct before *b, const struct otp_vm *from, struct names *names)
{
    struct before_vm **vms, *vm;
    int err;

    before_drop(b, from->layout.vm);
    if (!asks_anything(b) || !names_memory(names, from->layout.vm))
        return 0;
    vms = realloc(b->vms, (b->nvms + 1) * sizeof *vms);
    vm = calloc(1, sizeof *vm);
    b->vms = vms ? vms : b->vms;
    if (!vms || !vm) {
        free(vm);
        return -ENOMEM;
    }
    vm->names = names;
    vm->memory = names_memory(names, from->layout.vm);
    err = fill_vm(b, vm, from);
    if (err)
        free_vm(vm);
    else
        vms[b->nvms++] = vm;
    return err;
}

void before_drop(struct before *b, uint32_t vm)
{
    size_t kept = 0;

    for (size_t i = 0; i < b->nvms; i++) {
        if (b->vms[i]->vm.layout.vm == vm)
            free_vm(b->vms[i]);
        else
            b->vms[kept++] = b->vms[i];
    }
    b->nvms = kept;
}

void before_free(struct before *b)
{
    for (size_t i = 0; b && i < b->nvms; i++)
        free_vm(b->vms[i]);
    if (b)
        free(b->vms);
    free(b);
}

/* ---- results */

int before_look(struct before *b, uint64_t begun_ns, uint64_t now_ns)
{
    int err = 0;

    b->from_ns = b->now_ns > begun_ns ? b->now_ns : begun_ns;
    b->now_ns = now_ns;
    for (size_t i = 0; i < b->nvms && !err; i++)
        err = look_at(b, b->vms[i], now_ns, false);
    return err;
}

bool before_knows(const struct before *b, uint32_t vm, enum pending_kind kind)
{
    size_t n = 0, knows = 0;

    for (size_t i = 0; i < b->nvms; i++)
        if (!vm || b->vms[i]->vm.layout.vm == vm) {
            n++;
            knows += b->vms[i]->knows[kind];
        }
    return n && knows == n;
}

int before_each(struct before *b, enum pending_kind kind,
                int (*see)(void *ctx, uint32_t vm, struct before_item *item), void *ctx)
{
    int err = 0;

    for (size_t i = 0; i < b->nvms; i++)
        for (struct entry *entry = b->vms[i]->entries; entry && !err; entry = entry->hh.next)
            if (entry->item.is.kind == kind && !entry->item.over)
                err = see(ctx, b->vms[i]->vm.layout.vm, &entry->item);
    return err;
}

int before_file_runs(struct before *b, uint32_t vm, ev_id id, uint64_t *began_ns)
{
    for (size_t i = 0; i < b->nvms; i++)
        if (b->vms[i]->vm.layout.vm == vm && names_memory(b->vms[i]->names, vm) == b->vms[i]->memory)
            return pending_file_runs(b->vms[i]->snapshot, id, began_ns);
    return -ENOTSUP;
}

uint64_t before_share(const struct before *b, const struct before_item *item)
{
    uint64_t watched_ns = item->joined ? item->since_ns : item->seen_ns;
    uint64_t from_ns = watched_ns > b->from_ns ? watched_ns : b->from_ns;

    return b->now_ns > from_ns ? b->now_ns - from_ns : 0;
}
