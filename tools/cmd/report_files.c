/* SPDX-License-Identifier: Apache-2.0 */
#include "report_files.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <sys/stat.h>

#include "common/fail.h"
#include "report_results.h"

#define OVERLAP_NS 1000000000ull /* two that record receive a page so long apart, not more */

static void add_vm(struct report_state *st, const struct recording_vm *vm)
{
    for (size_t i = 0; i < st->nvms; i++)
        if (st->vms[i].vm == vm->vm)
            return;
    recording_probes_add(&vm->unavailable, &st->unavailable);
    if (st->nvms < REPORT_VMS)
        st->vms[st->nvms++] = *vm;
}

/* Whether it stood in a file before, as of memory that was written twice. What may stand in the next is kept. */
static bool is_repeated(struct report_state *st, const struct batch_received *page, int *err)
{
    if (recording_seen_has(st->seen, page)) {
        st->repeated++;
        return true;
    }
    if (page->time_ns + OVERLAP_NS >= st->next_ns && recording_seen_add(st->seen, page))
        *err = fail(-ENOMEM, "out of memory");
    return false;
}

/* What came long before this page has come from every thread. */
static int take_page(struct report_state *st, const struct batch_received *page)
{
    uint64_t now = page->time_ns;
    int err = 0;

    if (is_repeated(st, page, &err) || err)
        return err;
    st->begin_ns = st->begin_ns ? st->begin_ns : now;
    st->follows = false;
    err = report_results_skip_gap(st, now);
    st->now_ns = now > st->now_ns ? now : st->now_ns;
    feed_take(st->feed, page);
    if (!err && now > BATCH_MERGE_PATIENCE_NS)
        err = report_results_until(st, now - BATCH_MERGE_PATIENCE_NS);
    return err || !st->options->events ? err : sink_flush(&st->sink);
}

/* What a file begins with that follows another was told by pages of that, some of which may wait for their turn. */
static void take_owner(struct report_state *st, const struct recording_owner *owner)
{
    struct wire_name name = {.form = owner->form, .words = {owner->words[0], owner->words[1], owner->words[2]}};

    if (!st->follows && (name.form == WIRE_MFA || name.form == WIRE_REASON || name.form == WIRE_LABEL))
        feed_owner(st->feed, owner->vm, owner->id, &name);
}

/* Each file says what was lost since the beginning. */
static void take_lost(struct report_state *st, const struct recording_lost *lost)
{
    if (lost->pages > st->lost.pages)
        st->lost.pages = lost->pages;
    if (lost->unnamed > st->lost.unnamed)
        st->lost.unnamed = lost->unnamed;
}

static int read_items(struct report_state *st, struct recording *r)
{
    struct recording_item item;
    int err = 0;

    while (!err && recording_next(r, &item)) {
        switch (item.kind) {
        case RECORDING_CLOCK: st->sink.wall_offset_ns = item.clock->wall_ns; break;
        case RECORDING_VM: add_vm(st, item.vm); break;
        case RECORDING_OWNERS: take_owner(st, item.owner); break;
        case RECORDING_ASKED:
            recording_probes_add(item.asked, &st->held);
            st->held_known = true;
            break;
        case RECORDING_LOST: take_lost(st, item.lost); break;
        default: err = take_page(st, item.page);
        }
    }
    return err;
}

static int complain_unreadable(const struct report_state *st, const char *name)
{
    const struct wanted_word word = {.text = name, .length = strlen(name)};
    const char *meant = errno == ENOENT && st->nfiles > 1 ? wanted_guess(&word) : NULL;

    return fail(-errno, "cannot read '%s': %s%s%s%s%s", name, strerror(errno),
                st->nfiles > 1 && errno == ENOENT ? "; nor is a view or probe called so" : "",
                meant ? "; did you mean '" : "", meant ? meant : "", meant ? "'?" : "");
}

static int read_file(struct report_state *st, const char *name)
{
    FILE *file = fopen(name, "re");
    struct recording *r;
    int err = file ? recording_open(file, name, feed_names(st->feed), &r) : complain_unreadable(st, name);

    if (err)
        return err;
    st->held_known = false; /* until the file says what it is of, before its pages */
    err = read_items(st, r);
    if (recording_damage(r)) {
        fail(-EIO, "'%s': %s", name, recording_damage(r));
        st->damaged = true;
    }
    recording_close(r);
    return err;
}

/* When the page's first event was, as far as it can be believed; results begin with the earliest. */
static void learn_begin(struct report_state *st, const struct batch_received *page)
{
    struct batch_record first = {0};
    struct batch_page events;

    if (!batch_page_open(&events, page + 1, page->bytes))
        return;
    while (batch_page_next(&events, &first))
        if (first.head.event > BATCH_LAST_NAME) {
            if (first.head.time_ns <= page->time_ns && (!st->begin_ns || first.head.time_ns < st->begin_ns))
                st->begin_ns = first.head.time_ns;
            return;
        }
}

static int learn_file(struct report_state *st, const char *name)
{
    FILE *file = fopen(name, "re");
    struct recording_item item;
    struct batch_page page;
    struct batch_record atom = {0};
    struct recording *r;
    struct stat is;
    bool asked = false;
    int err;

    if (!file || fstat(fileno(file), &is) || !S_ISREG(is.st_mode)) {
        if (file)
            fclose(file);
        st->asked_unknown = true;
        return 0;
    }
    err = recording_open(file, name, feed_names(st->feed), &r);
    if (err)
        return err;
    while (recording_next(r, &item)) {
        if (item.kind == RECORDING_VM)
            add_vm(st, item.vm);
        if (item.kind == RECORDING_ASKED)
            recording_probes_add(item.asked, &st->asked), asked = true;
        if (item.kind != RECORDING_PAGES || !batch_page_open(&page, item.page + 1, item.page->bytes))
            continue;
        learn_begin(st, item.page);
        while (batch_page_next_atom(&page, &atom))
            batch_names_tell(feed_names(st->feed), item.page->vm, atom.words[0], atom.texts[1], atom.words[1]);
    }
    recording_close(r);
    st->asked_unknown |= !asked;
    return 0;
}

int report_files_check(const struct report_state *st)
{
    struct stat files[REPORT_FILES];

    for (size_t i = 0; i < st->nfiles; i++) {
        if (stat(st->files[i], &files[i]))
            return complain_unreadable(st, st->files[i]);
        for (size_t j = 0; j < i; j++)
            if (files[j].st_dev == files[i].st_dev && files[j].st_ino == files[i].st_ino)
                return fail(FAIL_USAGE, "'%s' is given twice, and would be counted twice", st->files[i]);
    }
    return 0;
}

/*
 * When the first page of the file came; 0: it has none. Damage is said when it is read. Fails: said; 1: it is no file
 * that can be read twice.
 */
static int find_begin(const char *name, struct batch_names *names, uint64_t *out)
{
    FILE *file = fopen(name, "re");
    struct recording_item item;
    struct recording *r;
    struct stat is;
    int err;

    *out = 0;
    if (!file || fstat(fileno(file), &is) || !S_ISREG(is.st_mode)) {
        if (file)
            fclose(file);
        return 1;
    }
    err = recording_open(file, name, names, &r);
    if (err)
        return err;
    while (!*out && recording_next(r, &item))
        if (item.kind == RECORDING_PAGES)
            *out = item.page->time_ns;
    recording_close(r);
    return 0;
}

int report_files_order(struct report_state *st)
{
    uint64_t *begins = st->begins;
    struct batch_names *names = batch_names_new();
    int err = names ? 0 : fail(-ENOMEM, "out of memory");

    for (size_t i = 0; i < st->nfiles && !err; i++)
        err = find_begin(st->files[i], names, &begins[i]);
    if (names)
        batch_names_free(names);
    if (err > 0)
        memset(begins, 0xff, sizeof st->begins);
    if (err)
        return err < 0 ? err : 0;
    for (size_t i = 1; i < st->nfiles; i++) {
        const char *name = st->files[i];
        uint64_t begin = begins[i];
        size_t to = i;

        for (; to && begins[to - 1] > begin; to--) {
            begins[to] = begins[to - 1];
            st->files[to] = st->files[to - 1];
        }
        begins[to] = begin;
        st->files[to] = name;
    }
    return 0;
}

int report_files_learn(struct report_state *st)
{
    int err = 0;

    for (size_t i = 0; i < st->nfiles && !err; i++)
        err = learn_file(st, st->files[i]);
    return err;
}

int report_files_read(struct report_state *st)
{
    int err = 0;

    for (size_t i = 0; i < st->nfiles && !err; i++) {
        st->next_ns = i + 1 < st->nfiles ? st->begins[i + 1] : REPORT_UNKNOWN_NS;
        st->follows = i && (st->begins[i] == REPORT_UNKNOWN_NS || st->begins[i] <= st->now_ns + REPORT_GAP_NS);
        if (!st->follows) /* its names are of a later time than all that came */
            err = report_results_until(st, st->now_ns);
        err = err ? err : read_file(st, st->files[i]);
    }
    if (st->repeated && !err)
        note("%" PRIu64 " pages of events that stand in several of the files are counted once", st->repeated);
    return err;
}
