/* SPDX-License-Identifier: Apache-2.0 */
/* Recordings: written and read again, rotated, kept in memory, cut off, damaged. */
#include <check.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "event/batch_page.h"
#include "recording/recording_owners.h"
#include "recording/recording_read.h"
#include "recording/recording_write.h"
#include "support_page.h"

enum { VM = 17, S_NS = 1000000000, PAGES = 23, MANY = 307, MAX_FILE = 1 << 20 };

static char dir[64], path[128];

static void set_up(void)
{
    strcpy(dir, "/tmp/recording.XXXXXX");
    ck_assert(mkdtemp(dir) != NULL);
    snprintf(path, sizeof path, "%s/rec", dir);
}

static void tear_down(void)
{
    char command[128];

    snprintf(command, sizeof command, "rm -rf %s", dir);
    ck_assert_int_eq(system(command), 0);
}

/* Page `i` of thread 1: one event of time i seconds, and a name of its own. Numbers that do not repeat cannot be compressed. */
static const struct batch_received *make_page(struct support_page *p, uint64_t i)
{
    char name[32];

    snprintf(name, sizeof name, "atom_%llu", (unsigned long long)i);
    support_page_begin(p, VM, 1, i + 1, i, i * S_NS);
    support_page_atom(p, 100 + i, name);
    while (p->n < SUPPORT_PAGE_WORDS - 8)
        support_page_number(p, BATCH_copy__struct, i * S_NS, (i * 131071 + p->n) * 0x9e3779b97f4a7c15);
    return support_page_end(p, i * S_NS + 1);
}

static struct recording_writer *begin(struct recording_plan plan)
{
    struct recording_writer *w;

    plan.path = path;
    plan.writer = "test";
    plan.files = plan.files ? plan.files : 1;
    ck_assert_int_eq(recording_begin(&plan, &w), 0);
    ck_assert_int_eq(recording_vm(w, VM, "shop@here", &(struct wanted){{0}}), 0);
    return w;
}

/* Writes pages number `from` up to `to`, each in a chunk of its own. Returns what was returned last. */
static int write_pages(struct recording_writer *w, uint64_t from, uint64_t to)
{
    struct support_page p;
    int err = 0;

    for (uint64_t i = from; i < to && !err; i++) {
        err = recording_page(w, make_page(&p, i));
        if (!err)
            err = recording_look(w, (i + 2) * S_NS);
    }
    return err;
}

struct content {
    struct batch_names *names;
    uint64_t first, pages, lost;
    char vm[64], damage[256];
};

/* Reads the file, and asserts that it holds pages one behind the other as make_page makes them. */
static struct content read_file(const char *name)
{
    struct content c = {.names = batch_names_new()};
    struct recording_item item;
    struct recording *r;
    FILE *file = fopen(name, "re");

    ck_assert_msg(file != NULL, "no file %s", name);
    ck_assert_int_eq(recording_open(file, name, c.names, &r), 0);
    while (recording_next(r, &item)) {
        struct support_page p;

        if (item.kind == RECORDING_VM)
            strcpy(c.vm, item.vm->name);
        if (item.kind == RECORDING_LOST)
            c.lost = item.lost->pages;
        if (item.kind != RECORDING_PAGES)
            continue;
        if (!c.pages++)
            c.first = item.page->time_ns / S_NS;
        make_page(&p, c.first + c.pages - 1);
        ck_assert_uint_eq(item.page->bytes, p.received.bytes);
        ck_assert(!memcmp(item.page, &p.received, sizeof p.received + p.received.bytes));
    }
    snprintf(c.damage, sizeof c.damage, "%s", recording_damage(r) ? recording_damage(r) : "");
    recording_close(r);
    return c;
}

START_TEST(test_recording_is_read_as_it_was_written)
{
    struct recording_writer *w = begin((struct recording_plan){0});
    struct recording_totals told;
    struct content c;

    ck_assert_int_eq(write_pages(w, 0, PAGES), 0);
    recording_lost(w, 5);
    ck_assert_int_eq(recording_end(w, &told), 0);
    ck_assert_uint_eq(told.pages, PAGES);
    ck_assert_uint_gt(told.events, PAGES);
    ck_assert_uint_eq(told.lost.pages, 5);
    c = read_file(path);
    ck_assert_str_eq(c.damage, "");
    ck_assert_str_eq(c.vm, "shop@here");
    ck_assert_uint_eq(c.pages, PAGES);
    ck_assert_uint_eq(c.lost, 5);
    batch_names_free(c.names);
}
END_TEST

/* Each file can be read alone: names that were told in an earlier one are in it. */
START_TEST(test_recording_goes_on_in_another_file)
{
    struct recording_writer *w = begin((struct recording_plan){.max_bytes = 65536, .files = 3});
    char names[3][160];
    uint64_t next = MANY;

    ck_assert_int_eq(write_pages(w, 0, MANY), 0);
    ck_assert_int_eq(recording_end(w, NULL), 0);
    for (int i = 0; i < 3; i++) {
        struct content c;
        struct stat st;

        snprintf(names[i], sizeof names[i], i ? "%s.%d" : "%s", path, i);
        c = read_file(names[i]);
        ck_assert_str_eq(c.damage, "");
        ck_assert_uint_eq(c.first + c.pages, next);
        ck_assert_str_eq(batch_names_find(c.names, VM, 100), "atom_0");
        ck_assert_str_eq(c.vm, "shop@here");
        ck_assert(!stat(names[i], &st) && st.st_size <= 65536);
        next = c.first;
        batch_names_free(c.names);
    }
    ck_assert_uint_gt(next, 0); /* the oldest are gone */
    snprintf(names[0], sizeof names[0], "%s.3", path);
    ck_assert_int_eq(access(names[0], F_OK), -1);
}
END_TEST

START_TEST(test_recording_of_one_file_ends_when_it_is_full)
{
    struct recording_writer *w = begin((struct recording_plan){.max_ns = 5ull * S_NS});
    struct content c;

    ck_assert_int_eq(write_pages(w, 0, PAGES), 1);
    ck_assert_int_eq(recording_end(w, NULL), 0);
    c = read_file(path);
    ck_assert_str_eq(c.damage, "");
    ck_assert_uint_eq(c.pages, 6); /* of second 0 up to and with second 5 */
    batch_names_free(c.names);
}
END_TEST

/* Pages of its time that wait when a later one comes belong into it, and to the next file what follows. */
START_TEST(test_recording_covers_its_time)
{
    struct recording_writer *w = begin((struct recording_plan){.max_ns = 5ull * S_NS, .files = 1 + (unsigned)_i});
    struct support_page p;
    struct content c;
    uint64_t i = 0;
    char before[160];
    int err = 0;

    while (i < PAGES && !err)
        err = recording_page(w, make_page(&p, i++)); /* nobody looks: they wait for one another */
    ck_assert_int_eq(err, _i ? 0 : 1);
    ck_assert_int_eq(recording_end(w, NULL), 0);
    snprintf(before, sizeof before, "%s.1", path);
    c = read_file(_i ? before : path);
    ck_assert_str_eq(c.damage, "");
    ck_assert_uint_eq(c.pages, 6); /* of second 0 up to and with second 5, or of 12 to 17 */
    ck_assert_uint_eq(c.first, _i ? 12 : 0);
    batch_names_free(c.names);
}
END_TEST

/* Though no page comes, or none any more. */
START_TEST(test_recording_of_one_file_ends_after_its_time)
{
    struct recording_writer *w = begin((struct recording_plan){.files = 1, .max_ns = 100 * (uint64_t)S_NS});
    struct content c;

    ck_assert_int_eq(recording_look(w, S_NS), 0);
    ck_assert_int_eq(recording_look(w, 100 * (uint64_t)S_NS), 0);
    ck_assert_int_eq(_i ? write_pages(w, 50, 51) : 0, 0);
    ck_assert_int_eq(recording_look(w, (_i ? 150 : 101) * (uint64_t)S_NS), 0);
    ck_assert_int_eq(recording_look(w, (_i ? 152 : 103) * (uint64_t)S_NS), 1);
    ck_assert_int_eq(recording_end(w, NULL), 0);
    c = read_file(path);
    ck_assert_str_eq(c.damage, "");
    ck_assert_uint_eq(c.pages, (unsigned)_i);
    batch_names_free(c.names);
}
END_TEST

START_TEST(test_recording_keeps_what_is_recent)
{
    struct recording_writer *w = begin((struct recording_plan){.ring_ns = 4ull * S_NS, .files = 2});
    char before[160];
    struct content c;

    snprintf(before, sizeof before, "%s.1", path);
    ck_assert_int_eq(write_pages(w, 0, PAGES), 0);
    ck_assert_int_eq(recording_dump(w), 0);
    ck_assert_int_eq(access(before, F_OK), -1);
    c = read_file(path);
    ck_assert_str_eq(c.damage, "");
    ck_assert_uint_eq(c.first, PAGES - 5);
    ck_assert_uint_eq(c.pages, 5);
    ck_assert_str_eq(batch_names_find(c.names, VM, 100), "atom_0");
    batch_names_free(c.names);
    ck_assert_int_eq(write_pages(w, PAGES, PAGES + 2), 0);
    ck_assert_int_eq(recording_dump(w), 0);
    c = read_file(path);
    ck_assert_uint_eq(c.first, PAGES - 3);
    batch_names_free(c.names);
    c = read_file(before);
    ck_assert_uint_eq(c.first, PAGES - 5);
    batch_names_free(c.names);
    ck_assert_int_eq(recording_end(w, NULL), 0);
}
END_TEST

static void begin_limit(struct rlimit *before, uint64_t bytes)
{
    struct rlimit little;

    signal(SIGXFSZ, SIG_IGN);
    getrlimit(RLIMIT_FSIZE, before);
    little = (struct rlimit){bytes, before->rlim_max};
    ck_assert_int_eq(setrlimit(RLIMIT_FSIZE, &little), 0);
}

static int count_files(void)
{
    DIR *files = opendir(dir);
    int n = 0;

    while (readdir(files))
        n++;
    closedir(files);
    return n - 2;
}

static void check_file(const char *name, uint64_t first, uint64_t pages)
{
    struct content c = read_file(name);

    ck_assert_str_eq(c.damage, "");
    ck_assert_uint_eq(c.first, first);
    ck_assert_uint_eq(c.pages, pages);
    batch_names_free(c.names);
}

/* What cannot be written leaves the file of before as it was, and is written later. */
START_TEST(test_recording_in_memory_waits_for_room)
{
    struct recording_writer *w = begin((struct recording_plan){.ring_ns = 100ull * S_NS});
    struct recording_totals told;
    struct rlimit before;
    struct stat st;

    ck_assert_int_eq(write_pages(w, 0, PAGES), 0);
    ck_assert_int_eq(recording_dump(w), 0);
    ck_assert_int_eq(write_pages(w, PAGES, 2 * PAGES), 0);
    begin_limit(&before, 16384);
    for (int i = 0; i < 2; i++)
        ck_assert_int_eq(recording_dump(w), -EFBIG);
    setrlimit(RLIMIT_FSIZE, &before);
    ck_assert_int_eq(count_files(), 1);
    check_file(path, 0, PAGES);
    ck_assert_int_eq(recording_dump(w), 0);
    ck_assert_int_eq(count_files(), 1);
    check_file(path, 0, 2 * PAGES);
    ck_assert(!stat(path, &st));
    ck_assert_int_eq(recording_end(w, &told), 0);
    ck_assert_uint_lt(told.stored, 2 * (uint64_t)st.st_size);
}
END_TEST

/* A file keeps the rights that its owner gave it, when it is replaced. */
START_TEST(test_recording_in_memory_keeps_the_rights_of_the_file)
{
    struct recording_writer *w;
    struct stat st;

    close(open(path, O_CREAT | O_WRONLY, 0600));
    ck_assert_int_eq(chmod(path, 0640), 0);
    w = begin((struct recording_plan){.ring_ns = 100ull * S_NS});
    ck_assert_int_eq(write_pages(w, 0, PAGES), 0);
    ck_assert_int_eq(recording_dump(w), 0);
    ck_assert(!stat(path, &st));
    ck_assert_int_eq(st.st_mode & 07777, 0640);
    ck_assert_int_eq(recording_end(w, NULL), 0);
}
END_TEST

static const uint64_t rings[] = {0, 100ull * S_NS};

/* What is recorded is for nobody else, whatever the umask. */
START_TEST(test_recording_is_for_its_user_alone)
{
    struct recording_writer *w;
    struct stat st;

    umask(0);
    w = begin((struct recording_plan){.max_bytes = 65536, .files = 4, .ring_ns = rings[_i]});
    ck_assert_int_eq(write_pages(w, 0, MANY), 0);
    ck_assert_int_eq(recording_end(w, NULL), 0);
    ck_assert(!stat(path, &st));
    ck_assert_int_eq(st.st_mode & 07777, 0600);
    if (!_i) {
        strcat(path, ".1");
        ck_assert(!stat(path, &st));
        ck_assert_int_eq(st.st_mode & 07777, 0600);
    }
}
END_TEST

/* A link to a file, and a file of others: refused, and as they were. */
START_TEST(test_recording_fills_no_file_of_others)
{
    struct recording_plan plan = {.path = path, .writer = "test", .files = 1, .ring_ns = rings[_i]};
    struct recording_writer *w;
    char target[160];
    struct stat st;

    snprintf(target, sizeof target, "%s.target", path);
    ck_assert_int_eq(write(open(target, O_CREAT | O_WRONLY, 0600), "kept", 4), 4);
    ck_assert_int_eq(symlink(target, path), 0);
    ck_assert_int_eq(recording_begin(&plan, &w), -ELOOP);
    ck_assert_int_eq(unlink(path), 0);
    ck_assert_int_eq(link(target, path), 0);
    ck_assert_int_eq(recording_begin(&plan, &w), -EMLINK);
    ck_assert(!stat(target, &st) && st.st_size == 4);
    ck_assert_int_eq(unlink(target), 0);
    if (!geteuid()) {
        ck_assert_int_eq(chown(path, 4711, 4711), 0);
        ck_assert_int_eq(recording_begin(&plan, &w), -EUSERS);
    }
    ck_assert(!stat(path, &st) && st.st_size == 4);
}
END_TEST

/* At the end what is newest is written: of chunks, or of a chunk of many pages, the last; where none has room, nothing. */
START_TEST(test_recording_in_memory_ends_with_the_newest)
{
    static const uint64_t room[] = {20000, 6000, 20000, 6000, 1500};
    struct recording_writer *w = begin((struct recording_plan){.ring_ns = 100ull * S_NS, .files = 1});
    struct support_page p;
    struct rlimit before;
    struct content c;
    char older[160];

    ck_assert_int_eq(write_pages(w, 0, PAGES), 0);
    ck_assert_int_eq(recording_dump(w), 0);
    if (_i < 2)
        ck_assert_int_eq(write_pages(w, PAGES, 2 * PAGES), 0);
    for (uint64_t i = PAGES; i < 2 * PAGES && _i >= 2; i++)
        ck_assert_int_eq(recording_page(w, make_page(&p, i)), 0);
    begin_limit(&before, room[_i]);
    ck_assert_int_eq(recording_dump_last(w), -EFBIG);
    setrlimit(RLIMIT_FSIZE, &before);
    ck_assert_int_eq(recording_end(w, NULL), 0);
    ck_assert_int_eq(count_files(), _i < 4 ? 2 : 1);
    snprintf(older, sizeof older, _i < 4 ? "%s.1" : "%s", path);
    check_file(older, 0, PAGES);
    if (_i == 4)
        return;
    c = read_file(path);
    ck_assert_str_eq(c.damage, "");
    ck_assert_uint_eq(c.first + c.pages, 2 * PAGES);
    ck_assert_uint_ge(c.pages * 5000, room[_i]);
    batch_names_free(c.names);
}
END_TEST

/* No room for the file of a recording that begins: the one of before stays. */
START_TEST(test_recording_in_memory_that_cannot_begin_replaces_nothing)
{
    struct recording_plan plan = {.path = path, .writer = "test", .files = 1, .ring_ns = 100ull * S_NS};
    struct recording_writer *w = begin(plan);
    struct rlimit before;

    ck_assert_int_eq(write_pages(w, 0, PAGES), 0);
    ck_assert_int_eq(recording_dump(w), 0);
    ck_assert_int_eq(recording_end(w, NULL), 0);
    begin_limit(&before, 30);
    ck_assert_int_eq(recording_begin(&plan, &w), -EFBIG);
    setrlimit(RLIMIT_FSIZE, &before);
    check_file(path, 0, PAGES);
    ck_assert_int_eq(count_files(), 1);
}
END_TEST

/* ---- files of before */

/* Recordings that an earlier one left go, as they would be taken for the beginning of this one; nothing else does. */
START_TEST(test_recording_removes_files_of_an_earlier_one)
{
    struct recording_writer *w = begin((struct recording_plan){.max_bytes = 65536, .files = 4});
    struct recording_plan plan = {.path = path, .writer = "test", .files = 4, .max_bytes = 65536};
    char foreign[160];

    ck_assert_int_eq(write_pages(w, 0, MANY), 0);
    ck_assert_int_eq(recording_end(w, NULL), 0);
    ck_assert_int_eq(count_files(), 4);
    snprintf(foreign, sizeof foreign, "%s.3", path);
    ck_assert_int_eq(unlink(foreign), 0);
    ck_assert_int_eq(symlink(path, foreign), 0);
    ck_assert_int_eq(recording_begin(&plan, &w), -EEXIST); /* it would be replaced */
    ck_assert_int_eq(count_files(), 4);
    w = begin((struct recording_plan){.files = 1 + (unsigned)_i});
    ck_assert_int_eq(write_pages(w, 0, 3), 0);
    ck_assert_int_eq(recording_end(w, NULL), 0);
    ck_assert_int_eq(count_files(), 2);
    check_file(path, 0, 3);
    check_file(foreign, 0, 3);
}
END_TEST

/* ---- who lives */

/* A page of births of processes `from` up to `to`, then of ends of as many from `ended` on: each MODULE:f/number. */
static void write_lives(struct recording_writer *w, uint32_t from, uint32_t to, uint32_t ended, uint32_t ended_to, uint64_t ns)
{
    struct support_page p;

    support_page_begin(&p, VM, 2, 1, 0, ns);
    support_page_atom(&p, 7, "lives");
    support_page_atom(&p, 8, "f");
    for (uint32_t i = from; i < to; i++) {
        support_page_head(&p, BATCH_process__spawn, 2, ns);
        support_page_word(&p, ev_id_of_pid(i, 0));
        support_page_word(&p, ev_mfa_of_atoms(7, 8, i));
    }
    for (uint32_t i = ended; i < ended_to; i++) {
        support_page_head(&p, BATCH_process__exit, 2, ns);
        support_page_word(&p, ev_id_of_pid(i, 0));
        support_page_word(&p, 0);
    }
    ck_assert_int_eq(recording_page(w, support_page_end(&p, ns + 1)), 0);
}

/* The numbers of the processes that the file begins with: of a set of 64. */
static uint64_t read_lives(const char *name)
{
    struct batch_names *names = batch_names_new();
    struct recording_item item;
    struct recording *r;
    FILE *file = fopen(name, "re");
    uint64_t lives = 0;

    ck_assert(file && !recording_open(file, name, names, &r));
    while (recording_next(r, &item)) {
        if (item.kind != RECORDING_OWNERS)
            continue;
        ck_assert_uint_eq(item.owner->vm, VM);
        ck_assert_uint_eq(item.owner->form, WIRE_MFA);
        ck_assert_str_eq(batch_names_find(names, VM, item.owner->words[0]), "lives");
        ck_assert_str_eq(batch_names_find(names, VM, item.owner->words[1]), "f");
        ck_assert_uint_eq(item.owner->words[2], ev_id_number(item.owner->id));
        lives |= 1ull << ev_id_number(item.owner->id);
    }
    recording_close(r);
    batch_names_free(names);
    return lives;
}

/* Births of 0 to 22, ends of 3 to 6, and of 23, which is born in a page that comes later. */
START_TEST(test_recording_begins_each_file_with_who_lives)
{
    struct recording_writer *w = begin((struct recording_plan){.max_bytes = 65536, .files = 3});
    const struct wire_name before = {.form = WIRE_MFA, .words = {7, 8, 40}};
    char name[160];

    ck_assert_int_eq(recording_owner(w, VM, ev_id_of_pid(40, 0), &before), 0);
    write_lives(w, 0, 23, 23, 24, 10);
    write_lives(w, 23, 24, 3, 7, 20);
    ck_assert_int_eq(write_pages(w, 0, MANY), 0);
    ck_assert_int_eq(recording_end(w, NULL), 0);
    for (int i = 0; i < 3; i++) {
        snprintf(name, sizeof name, i ? "%s.%d" : "%s", path, i);
        ck_assert_uint_eq(read_lives(name), ((1ull << 23) - 1) - 0x78 + (1ull << 40));
    }
}
END_TEST

/* One that ended within the time that is kept is named; those that ended before are not, nor are those of a VM that
 * did. */
START_TEST(test_recording_in_memory_begins_with_who_lived)
{
    struct recording_writer *w = begin((struct recording_plan){.ring_ns = 20ull * S_NS, .files = 2});

    write_lives(w, 0, 5, 0, 1, 10);
    ck_assert_int_eq(write_pages(w, 1, 60), 0);
    write_lives(w, 0, 0, 1, 3, 60ull * S_NS);
    ck_assert_int_eq(write_pages(w, 61, 70), 0);
    ck_assert_int_eq(recording_dump(w), 0);
    ck_assert_uint_eq(read_lives(path), 0x1e);
    ck_assert_int_eq(recording_vm_ended(w, VM, 70ull * S_NS, true), 0);
    ck_assert_int_eq(write_pages(w, 70, 90), 0);
    ck_assert_int_eq(recording_dump(w), 0);
    ck_assert_uint_eq(read_lives(path), 0x18);
    ck_assert_int_eq(write_pages(w, 90, 110), 0);
    ck_assert_int_eq(recording_dump(w), 0);
    ck_assert_uint_eq(read_lives(path), 0);
    ck_assert_int_eq(recording_end(w, NULL), 0);
}
END_TEST

static int count_owner(void *ctx, const struct recording_owner *owner)
{
    (void)owner;
    ++*(int *)ctx;
    return 0;
}

/* ---- names that change */

/* A page of one thread in which a process is called so from then on, by the record of a name. */
static void write_called(struct recording_writer *w, uint64_t sequence, enum batch_event event, uint64_t word,
                         uint64_t ns)
{
    struct support_page p;

    support_page_begin(&p, VM, 3, sequence, 0, ns);
    support_page_head(&p, event, 2, ns);
    support_page_word(&p, ev_id_of_pid(1, 0));
    support_page_word(&p, word);
    ck_assert_int_eq(recording_page(w, support_page_end(&p, ns + 1)), 0);
}

/* It registers the name of this atom, or gives its name up. */
static void write_name(struct recording_writer *w, uint64_t sequence, uint64_t atom, uint64_t ns)
{
    write_called(w, sequence, BATCH_NAMED, atom, ns);
}

/* The word that says what the one process that the file begins with is called, by that form: the atom of a registered
 * name or a label, the function's of what it is to do; 0: it has none. */
static uint64_t read_called(const char *name, enum wire_form form)
{
    struct batch_names *names = batch_names_new();
    FILE *file = fopen(name, "re");
    struct recording_item item;
    struct recording *r;
    uint64_t atom = 0;

    ck_assert(file && !recording_open(file, name, names, &r));
    while (recording_next(r, &item)) {
        if (item.kind != RECORDING_OWNERS)
            continue;
        ck_assert_uint_eq(item.owner->id, ev_id_of_pid(1, 0));
        if (item.owner->form == (uint32_t)form)
            atom = item.owner->words[1];
    }
    recording_close(r);
    batch_names_free(names);
    return atom;
}

static uint64_t read_name(const char *name)
{
    return read_called(name, WIRE_REASON);
}

/* So are labels, and what a process said later that it is to do. */
START_TEST(test_recording_in_memory_begins_with_what_was_said_then)
{
    const uint64_t label = (uint64_t)BATCH_SHAPE_ATOM << 56 | 21, said = 7ull << 33 | 23ull << 8 | 1;
    struct recording_writer *w = begin((struct recording_plan){.ring_ns = 20ull * S_NS, .files = 2});
    const struct wire_name call = {.form = WIRE_MFA, .words = {7, 8, 40}};

    ck_assert_int_eq(recording_owner(w, VM, ev_id_of_pid(1, 0), &call), 0);
    write_called(w, 1, BATCH_LABELLED, label, 10ull * S_NS);
    write_called(w, 2, BATCH_CALLED, said, 10ull * S_NS);
    ck_assert_int_eq(write_pages(w, 11, 25), 0);
    ck_assert_int_eq(recording_dump(w), 0);
    ck_assert_uint_eq(read_called(path, WIRE_LABEL), 0);
    ck_assert_uint_eq(read_called(path, WIRE_MFA), 8);
    write_called(w, 3, BATCH_LABELLED, 0, 50ull * S_NS);
    ck_assert_int_eq(write_pages(w, 51, 60), 0);
    ck_assert_int_eq(recording_dump(w), 0);
    ck_assert_uint_eq(read_called(path, WIRE_LABEL), 21);
    ck_assert_uint_eq(read_called(path, WIRE_MFA), 23);
    ck_assert_int_eq(write_pages(w, 90, 100), 0);
    ck_assert_int_eq(recording_dump(w), 0);
    ck_assert_uint_eq(read_called(path, WIRE_LABEL), 0);
    ck_assert_int_eq(recording_end(w, NULL), 0);
}
END_TEST

/* What memory holds begins with the name of its oldest page, not of the newest; one that was given up is none. */
START_TEST(test_recording_in_memory_begins_with_the_names_of_then)
{
    struct recording_writer *w = begin((struct recording_plan){.ring_ns = 20ull * S_NS, .files = 2});
    const struct wire_name call = {.form = WIRE_MFA, .words = {7, 8, 40}};

    ck_assert_int_eq(recording_owner(w, VM, ev_id_of_pid(1, 0), &call), 0);
    write_name(w, 1, 17, 10ull * S_NS);
    ck_assert_int_eq(write_pages(w, 11, 25), 0);
    ck_assert_int_eq(recording_dump(w), 0);
    ck_assert_uint_eq(read_name(path), 0);
    write_name(w, 2, 19, 50ull * S_NS);
    ck_assert_int_eq(write_pages(w, 51, 60), 0);
    ck_assert_int_eq(recording_dump(w), 0);
    ck_assert_uint_eq(read_name(path), 17);
    write_name(w, 3, EV_NO_ATOM, 80ull * S_NS);
    ck_assert_int_eq(write_pages(w, 81, 90), 0);
    ck_assert_int_eq(recording_dump(w), 0);
    ck_assert_uint_eq(read_name(path), 19);
    ck_assert_int_eq(write_pages(w, 120, 130), 0);
    ck_assert_int_eq(recording_dump(w), 0);
    ck_assert_uint_eq(read_name(path), 0);
    ck_assert_int_eq(recording_end(w, NULL), 0);
}
END_TEST

/* A file that follows begins with the name that the one before ended with. */
START_TEST(test_recording_begins_each_file_with_the_names_of_then)
{
    struct recording_writer *w = begin((struct recording_plan){.max_bytes = 65536, .files = 3});
    const struct wire_name call = {.form = WIRE_MFA, .words = {7, 8, 40}};
    char name[160];

    ck_assert_int_eq(recording_owner(w, VM, ev_id_of_pid(1, 0), &call), 0);
    write_name(w, 1, 17, 1);
    ck_assert_int_eq(write_pages(w, 0, MANY), 0);
    ck_assert_int_eq(recording_end(w, NULL), 0);
    for (int i = 0; i < 3; i++) {
        snprintf(name, sizeof name, i ? "%s.%d" : "%s", path, i);
        ck_assert_uint_eq(read_name(name), 17);
    }
}
END_TEST

/* More are born than there is room for: those that live are named first, and there are never more. */
START_TEST(test_recording_of_many_lives_is_bounded)
{
    enum { MOST = 65536 / 512 };
    struct recording_owners *owners = recording_owners_new(MOST, S_NS);
    struct recording_owner owner = {.vm = VM, .form = WIRE_MFA};
    int n = 0;

    for (uint64_t i = 0; i < 1009; i++) {
        owner.id = ev_id_of_pid((uint32_t)i, 0);
        ck_assert_int_eq(recording_owners_add(owners, &owner), 0);
        if (i >= 64)
            ck_assert_int_eq(recording_owners_exit(owners, VM, owner.id, i), 0);
    }
    ck_assert_int_eq(recording_owners_each(owners, VM + 1, count_owner, &n), 0);
    ck_assert_int_eq(n, 0);
    ck_assert_int_eq(recording_owners_each(owners, VM, count_owner, &n), 0);
    ck_assert_int_eq(n, MOST);
    recording_owners_pass(owners, 1009 + S_NS + 1);
    ck_assert_int_eq(recording_owners_each(owners, 0, count_owner, &n), 0);
    ck_assert_int_eq(n, MOST + 64);
    recording_owners_free(owners);
}
END_TEST

/* What a file and the end of the recording tell of owners that there was no room for. */
static uint64_t read_unnamed(const char *name)
{
    struct batch_names *names = batch_names_new();
    struct recording_item item;
    struct recording *r;
    FILE *file = fopen(name, "re");
    uint64_t unnamed = 0;

    ck_assert(file && !recording_open(file, name, names, &r));
    while (recording_next(r, &item))
        if (item.kind == RECORDING_LOST)
            unnamed = item.lost->unnamed;
    ck_assert_ptr_eq(recording_damage(r), NULL);
    recording_close(r);
    batch_names_free(names);
    return unnamed;
}

/*
 * Of a file of 64 KB at most 128 are named: of those that live when it begins, and where others follow of those born.
 */
START_TEST(test_recording_counts_whom_it_does_not_name)
{
    enum { MOST = 65536 / 512, BEFORE = 100, BORN = 41 };
    const struct wire_name name = {.form = WIRE_MFA, .words = {7, 8, 0}};

    for (unsigned files = 1; files <= 2; files++) {
        struct recording_writer *w = begin((struct recording_plan){.max_bytes = 65536, .files = files});
        uint64_t expected = files > 1 ? BEFORE + BORN - MOST : 0;
        struct recording_totals told;

        for (uint32_t i = 0; i < BEFORE; i++)
            ck_assert_int_eq(recording_owner(w, VM, ev_id_of_pid(1000 + i, 0), &name), 0);
        ck_assert_int_eq(recording_owners_known(w, VM), 0);
        write_lives(w, 0, BORN, 0, 0, 10);
        ck_assert_int_eq(recording_end(w, &told), 0);
        ck_assert_uint_eq(told.lost.unnamed, expected);
        ck_assert_uint_eq(read_unnamed(path), expected);
    }
}
END_TEST

/* ---- damage */

static size_t load(char bytes[MAX_FILE])
{
    FILE *file = fopen(path, "re");
    size_t n;

    ck_assert(file != NULL);
    n = fread(bytes, 1, MAX_FILE, file);
    fclose(file);
    return n;
}

static void store(const char *bytes, size_t n)
{
    FILE *file = fopen(path, "we");

    ck_assert(file != NULL);
    ck_assert_uint_eq(fwrite(bytes, 1, n, file), n);
    ck_assert_int_eq(fclose(file), 0);
}

/* Cut off anywhere: all whole chunks before the cut are read, and it is said. */
START_TEST(test_recording_that_is_cut_off_is_read_up_to_there)
{
    static char bytes[MAX_FILE];
    struct recording_writer *w = begin((struct recording_plan){0});
    uint64_t before = 0;
    size_t n;

    ck_assert_int_eq(write_pages(w, 0, 3), 0);
    ck_assert_int_eq(recording_end(w, NULL), 0);
    n = load(bytes);
    for (size_t cut = sizeof(struct recording_head); cut < n; cut += 7) {
        struct content c;

        store(bytes, cut);
        c = read_file(path);
        ck_assert_str_ne(c.damage, "");
        ck_assert_uint_ge(c.pages, before);
        before = c.pages;
        batch_names_free(c.names);
    }
    ck_assert_uint_eq(before, 3);
}
END_TEST

/* One byte of it changed: what stands before is read, nothing that is wrong is told. */
START_TEST(test_recording_that_is_damaged_is_read_up_to_there)
{
    static char bytes[MAX_FILE];
    struct recording_writer *w = begin((struct recording_plan){0});
    struct content c;
    size_t n;

    ck_assert_int_eq(write_pages(w, 0, 3), 0);
    ck_assert_int_eq(recording_end(w, NULL), 0);
    n = load(bytes);
    for (size_t at = sizeof(struct recording_head); at < n; at += 13) {
        bytes[at] ^= 0x40;
        store(bytes, n);
        bytes[at] ^= 0x40;
        c = read_file(path);
        ck_assert_msg(strstr(c.damage, "what follows was not read") != NULL, "byte %zu: '%s'", at, c.damage);
        ck_assert_uint_le(c.pages, 3);
        batch_names_free(c.names);
    }
    store(bytes, n);
    bytes[n] = 'x';
    store(bytes, n + 1);
    c = read_file(path);
    ck_assert_str_ne(c.damage, "");
    batch_names_free(c.names);
}
END_TEST

/* Of a chunk of many pages, what is there of it. */
START_TEST(test_recording_that_is_cut_off_in_a_chunk_is_read_up_to_there)
{
    static char bytes[MAX_FILE];
    struct recording_writer *w = begin((struct recording_plan){0});
    struct support_page p;
    uint64_t before = 0;
    size_t n;

    for (uint64_t i = 0; i < MANY; i++)
        ck_assert_int_eq(recording_page(w, make_page(&p, i)), 0);
    ck_assert_int_eq(recording_end(w, NULL), 0);
    n = load(bytes) - 3 * sizeof(struct recording_chunk);
    for (size_t cut = sizeof(struct recording_head); cut < n; cut += 4001) {
        struct content c;

        store(bytes, cut);
        c = read_file(path);
        ck_assert_str_ne(c.damage, "");
        ck_assert_uint_ge(c.pages, before);
        before = c.pages;
        batch_names_free(c.names);
    }
    ck_assert_uint_ge(before, MANY / 2); /* zstd's blocks are of 128 KB */
    ck_assert_uint_lt(before, MANY);
}
END_TEST

static int try_open(void)
{
    struct batch_names *names = batch_names_new();
    struct recording *r = NULL;
    FILE *file = fopen(path, "re");
    int err = recording_open(file, path, names, &r);

    recording_close(r);
    batch_names_free(names);
    return err;
}

START_TEST(test_recording_of_another_version_is_refused)
{
    static char bytes[MAX_FILE];
    struct recording_writer *w = begin((struct recording_plan){0});
    struct recording_head head;
    size_t n;

    ck_assert_int_eq(recording_end(w, NULL), 0);
    n = load(bytes);
    ck_assert_int_eq(try_open(), 0);
    memcpy(&head, bytes, sizeof head);
    head.form++;
    store((char *)&head, sizeof head);
    ck_assert_int_eq(try_open(), -EINVAL);
    head.form--;
    head.catalogue++;
    store((char *)&head, sizeof head);
    ck_assert_int_eq(try_open(), -EINVAL);
    store("ERLSNREX and more than a head has of bytes", 40);
    ck_assert_int_eq(try_open(), -EINVAL);
    store(bytes, sizeof head - 1);
    ck_assert_int_eq(try_open(), -EINVAL);
    ck_assert_uint_gt(n, sizeof head);
}
END_TEST

/* No room: it is a failure, and the file holds what was written before, in whole chunks. */
START_TEST(test_recording_without_room_is_readable)
{
    struct recording_writer *w = begin((struct recording_plan){0});
    struct rlimit before;
    struct content c;
    int err;

    begin_limit(&before, 16384);
    err = write_pages(w, 0, PAGES);
    ck_assert_int_eq(err, -EFBIG);
    ck_assert_int_eq(recording_end(w, NULL), 0); /* it was said */
    setrlimit(RLIMIT_FSIZE, &before);
    c = read_file(path);
    ck_assert_uint_ge(c.pages, 3);
    ck_assert_uint_lt(c.pages, PAGES);
    ck_assert_str_ne(c.damage, ""); /* it has no end */
    batch_names_free(c.names);
}
END_TEST

Suite *recording_suite(void)
{
    Suite *suite = suite_create("recording");
    TCase *tests = tcase_create("recording");

    tcase_add_checked_fixture(tests, set_up, tear_down);
    tcase_add_test(tests, test_recording_is_read_as_it_was_written);
    tcase_add_test(tests, test_recording_goes_on_in_another_file);
    tcase_add_test(tests, test_recording_of_one_file_ends_when_it_is_full);
    tcase_add_loop_test(tests, test_recording_covers_its_time, 0, 2);
    tcase_add_loop_test(tests, test_recording_of_one_file_ends_after_its_time, 0, 2);
    tcase_add_test(tests, test_recording_keeps_what_is_recent);
    tcase_add_test(tests, test_recording_in_memory_waits_for_room);
    tcase_add_test(tests, test_recording_in_memory_keeps_the_rights_of_the_file);
    tcase_add_loop_test(tests, test_recording_is_for_its_user_alone, 0, 2);
    tcase_add_loop_test(tests, test_recording_fills_no_file_of_others, 0, 2);
    tcase_add_loop_test(tests, test_recording_in_memory_ends_with_the_newest, 0, 5);
    tcase_add_test(tests, test_recording_in_memory_that_cannot_begin_replaces_nothing);
    tcase_add_loop_test(tests, test_recording_removes_files_of_an_earlier_one, 0, 2);
    tcase_add_test(tests, test_recording_begins_each_file_with_who_lives);
    tcase_add_test(tests, test_recording_in_memory_begins_with_who_lived);
    tcase_add_test(tests, test_recording_in_memory_begins_with_what_was_said_then);
    tcase_add_test(tests, test_recording_in_memory_begins_with_the_names_of_then);
    tcase_add_test(tests, test_recording_begins_each_file_with_the_names_of_then);
    tcase_add_test(tests, test_recording_of_many_lives_is_bounded);
    tcase_add_test(tests, test_recording_counts_whom_it_does_not_name);
    tcase_add_test(tests, test_recording_that_is_cut_off_is_read_up_to_there);
    tcase_add_test(tests, test_recording_that_is_cut_off_in_a_chunk_is_read_up_to_there);
    tcase_add_test(tests, test_recording_that_is_damaged_is_read_up_to_there);
    tcase_add_test(tests, test_recording_of_another_version_is_refused);
    tcase_add_test(tests, test_recording_without_room_is_readable);
    suite_add_tcase(suite, tests);
    return suite;
}
