/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Pages that come are collected, packed into chunks, and given to the file or to memory; what is learned from them of
 * VMs and processes is what later files begin with.
 */
#include "recording_writer.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "common/fail.h"
#include "event/batch_names.h"
#include "event/batch_page.h"
#include "event/event.h"

enum {
    MOST_OWNERS = 1 << 18, /* of all VMs, 35 MB when there are so many */
    OWNER_SHARE = 512, /* where the size of a file is limited, an owner for so many bytes of it */
};
#define ATOMS_BYTES ((uint64_t)8 << 20) /* of a file to begin with all atoms */
#define WAIT_NS 1000000000ull
#define OWNER_NS (5 * WAIT_NS) /* how long pages that tell more of an ended process may wait */

/* ---- pages */

static bool is_past(const struct recording_writer *w, uint64_t begun_ns, uint64_t time_ns)
{
    return w->plan.max_ns && time_ns > begun_ns + w->plan.max_ns;
}

/* Whether a chunk of that size does not belong into this file any more. */
static bool is_long(const struct recording_writer *w, size_t size)
{
    if (w->plan.max_bytes && w->written + size + END_BYTES > w->plan.max_bytes)
        return true;
    return w->begun_ns && is_past(w, w->begun_ns, w->last_ns);
}

/* Whether a page belongs into another chunk than those that wait: these have no room for it, or are the last of their
 * file. */
static bool ends_chunk(const struct recording_writer *w, uint64_t time_ns, size_t size)
{
    return w->used + size > w->limit || (w->used && is_past(w, w->begun_ns ? w->begun_ns : w->first_ns, time_ns));
}

static void count_waiting(struct recording_writer *w)
{
    w->totals.pages += w->waiting.pages;
    w->totals.events += w->waiting.events;
    w->totals.raw += w->waiting.raw;
    w->waiting = (struct recording_totals){0};
}

int recording_flush(struct recording_writer *w)
{
    struct recording_chunk chunk;
    int err;

    if (!w->used)
        return 0;
    err = recording_file_pack(w, RECORDING_PAGES, w->raw, w->used, &chunk);
    w->used = 0;
    if (err)
        return err;
    if (w->plan.ring_ns) {
        count_waiting(w);
        return recording_memory_keep(w, &chunk);
    }
    if (is_long(w, sizeof chunk + chunk.stored)) {
        w->full = w->plan.files == 1;
        if (w->full)
            return 1;
        err = recording_file_next(w); /* which packs as well */
        if (!err)
            err = recording_file_pack(w, RECORDING_PAGES, w->raw, chunk.raw, &chunk);
    }
    if (!err)
        err = recording_file_write_chunk(w, &chunk, w->stored);
    if (!err)
        count_waiting(w);
    recording_naming_pass(w, &w->namings);
    w->begun_ns = w->begun_ns ? w->begun_ns : w->first_ns;
    return err ? err : recording_file_put_lost(w);
}

/* matters: a file is to begin with it. Fails: said. */
static int add_owner_of(struct recording_writer *w, const struct recording_owner *owner, bool matters)
{
    int left_out = recording_owners_add(w->owners, owner);

    w->lost.unnamed += left_out > 0 && matters;
    return left_out < 0 ? fail(left_out, "out of memory") : 0;
}

/* Who is born, registers a name and ends is known when the next file begins. */
static int learn_life(struct recording_writer *w, uint32_t vm, const struct batch_record *record, uint64_t now_ns)
{
    struct naming naming = {.owner = {.vm = vm, .id = record->words[0]}};
    struct wire_name name;
    ev_mfa mfa = record->words[1];
    struct recording_owner born = {.vm = vm, .form = WIRE_MFA, .id = record->words[0],
                                   .words = {ev_mfa_module(mfa), ev_mfa_function(mfa), ev_mfa_arity(mfa)}};
    bool more_files = w->plan.files > 1 || w->plan.ring_ns;

    if (record->head.event == BATCH_process__exit)
        return recording_owners_exit(w->owners, vm, record->words[0], now_ns) ? fail(-ENOMEM, "out of memory") : 0;
    if (event_name_of_record(record, &name)) {
        naming.owner.form = (uint32_t)name.form;
        memcpy(naming.owner.words, name.words, sizeof naming.owner.words);
        return recording_naming_add(&w->namings, &naming);
    }
    return record->head.event == BATCH_process__spawn && mfa ? add_owner_of(w, &born, more_files) : 0;
}

/* What later pages, also of other files, do not tell again. */
static int learn(struct recording_writer *w, const struct batch_received *received)
{
    static const bool learned[1 << 8] = {[BATCH_ATOM] = true, [BATCH_NAMED] = true, [BATCH_CALLED] = true,
                                         [BATCH_LABELLED] = true, [BATCH_process__spawn] = true,
                                         [BATCH_process__exit] = true};
    struct batch_page page;
    struct batch_record r = {0};
    int err = 0;

    recording_owners_pass(w->owners, received->time_ns);
    if (!batch_page_open(&page, received + 1, received->bytes))
        return 0;
    while (!err && batch_page_next_of(&page, learned, &r))
        if (r.head.event == BATCH_ATOM)
            batch_names_tell(w->names, received->vm, r.words[0], r.texts[1], r.words[1]);
        else
            err = learn_life(w, received->vm, &r, received->time_ns);
    w->waiting.events += page.events;
    return err;
}

int recording_page(struct recording_writer *w, const struct batch_received *received)
{
    size_t bytes = sizeof *received + received->bytes, size = recording_padded(bytes);
    int err = ends_chunk(w, received->time_ns, size) ? recording_flush(w) : 0;

    if (err || w->full || size > w->limit)
        return err ? err : w->full;
    if (!w->used)
        w->first_ns = received->time_ns;
    w->last_ns = received->time_ns;
    memset(w->raw + w->used + size - 8, 0, 8);
    memcpy(w->raw + w->used, received, bytes);
    w->used += size;
    w->waiting.pages++;
    w->waiting.raw += bytes;
    return learn(w, received);
}

/* Whether the one file covers its time, though nothing happens any more; pages of that time were written. */
static bool ends_by_time(const struct recording_writer *w, uint64_t now_ns)
{
    uint64_t begun_ns = w->begun_ns ? w->begun_ns : w->looked_ns;

    return w->plan.files == 1 && w->plan.max_ns && !w->used && now_ns > begun_ns + w->plan.max_ns + WAIT_NS;
}

int recording_look(struct recording_writer *w, uint64_t now_ns)
{
    int err = w->used && now_ns > w->first_ns + WAIT_NS ? recording_flush(w) : w->full;

    w->looked_ns = w->looked_ns ? w->looked_ns : now_ns;
    w->full |= !err && ends_by_time(w, now_ns);
    return err ? err : w->full;
}

void recording_lost(struct recording_writer *w, uint64_t pages)
{
    w->lost.pages = pages;
}

int recording_vm(struct recording_writer *w, uint32_t vm, const char *name, const struct wanted *unavailable)
{
    struct recording_vm *vms = realloc(w->vms, (w->nvms + 1) * sizeof *vms), *added;

    if (!vms)
        return fail(-ENOMEM, "out of memory");
    w->vms = vms;
    added = &vms[w->nvms];
    *added = (struct recording_vm){.vm = vm, .unavailable = recording_probes(unavailable)};
    snprintf(added->name, sizeof added->name, "%s", name);
    if ((w->nvms + 1) * sizeof *vms <= RECORDING_CHUNK_BYTES)
        w->nvms++;
    return w->fd >= 0 ? recording_file_put(w, RECORDING_VM, added, sizeof *added) : 0;
}

/* ---- processes that were there before */

bool recording_has_room(const struct recording_writer *w)
{
    return !w->plan.max_bytes || w->plan.max_bytes >= ATOMS_BYTES;
}

int recording_atom(struct recording_writer *w, uint32_t vm, uint64_t index, const char *text, size_t bytes)
{
    int err = batch_names_find(w->names, vm, index) ? 0 : batch_names_tell(w->names, vm, index, text, bytes);

    return err == -ENOMEM ? fail(err, "out of memory") : 0;
}

int recording_owner(struct recording_writer *w, uint32_t vm, uint64_t id, const struct wire_name *name)
{
    const struct recording_owner owner = {vm, (uint32_t)name->form, id,
                                          {name->words[0], name->words[1], name->words[2]}};

    return add_owner_of(w, &owner, true);
}

int recording_owners_known(struct recording_writer *w, uint32_t vm)
{
    int err = w->fd >= 0 ? recording_file_put_names(w, vm) : 0;

    return err || w->fd < 0 ? err : recording_file_put_owners(w, vm);
}

int recording_vm_ended(struct recording_writer *w, uint32_t vm, uint64_t now_ns, bool closed)
{
    struct {
        struct batch_received received;
        struct batch_header header;
    } last = {{.time_ns = now_ns, .vm = vm, .bytes = sizeof last.header},
              {.magic = BATCH_MAGIC, .bytes = sizeof last.header, .thread = BATCH_NO_THREAD}};

    recording_owners_exit_vm(w->owners, vm, now_ns);
    return closed ? 0 : recording_page(w, &last.received);
}

/* ---- the life of a recording */

/* As many as are known by name at once: a file that may be small is not to be filled by them. */
static size_t most_owners(const struct recording_plan *plan)
{
    uint64_t room = plan->max_bytes / OWNER_SHARE;

    return plan->max_bytes && room < MOST_OWNERS ? (size_t)room : MOST_OWNERS;
}

int recording_begin(const struct recording_plan *plan, struct recording_writer **out)
{
    struct recording_writer *w = calloc(1, sizeof *w);
    int err;

    if (!w)
        return fail(-ENOMEM, "out of memory");
    w->plan = *plan;
    w->fd = -1;
    w->limit = plan->max_bytes && plan->max_bytes < 2 * sizeof w->raw ? plan->max_bytes / 2 : sizeof w->raw;
    w->kept_end = &w->kept;
    w->packer = ZSTD_createCCtx();
    w->names = batch_names_new();
    w->owners = recording_owners_new(most_owners(plan), plan->ring_ns + OWNER_NS);
    w->room = ZSTD_compressBound(RECORDING_CHUNK_BYTES);
    w->stored = malloc(w->room);
    err = w->packer && w->names && w->owners && w->stored ? 0 : fail(-ENOMEM, "out of memory");
    if (!err && strlen(plan->path) >= PATH_MAX)
        err = recording_file_say(w, -ENAMETOOLONG, "");
    if (!err)
        err = recording_file_refuse(plan);
    if (!err)
        err = plan->ring_ns ? recording_memory_begin(w) : recording_file_open(w);
    if (!err)
        err = recording_file_remove_earlier(plan);
    *out = w;
    if (err) {
        recording_end(w, NULL);
        *out = NULL;
    }
    return err;
}

int recording_end(struct recording_writer *w, struct recording_totals *totals)
{
    int err = w->fd >= 0 && !w->full ? recording_flush(w) : 0;

    if (w->fd >= 0)
        err = recording_file_close(w) || err < 0 ? -EIO : 0;
    w->totals.lost = w->lost;
    if (totals)
        *totals = w->totals;
    while (w->kept)
        recording_memory_drop_oldest(w);
    recording_naming_pass(w, &w->namings);
    ZSTD_freeCCtx(w->packer);
    batch_names_free(w->names);
    free(w->stored);
    free(w->vms);
    recording_owners_free(w->owners);
    free(w);
    return err;
}
