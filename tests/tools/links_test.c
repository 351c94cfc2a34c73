/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Links of processes that end are closed while those of others stay, and nobody waits for that; nor for links that a
 * thread makes.
 */
#include <bpf/bpf.h>
#include <check.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <signal.h>
#include <stddef.h>
#include <sys/wait.h>
#include <unistd.h>

#include "probe/links.h"
#include "support.h"
#include "target/memory.h"

enum { OWNERS = 5, GROUPS = 7 /* of each owner */ };

/* The kernel says here whether there are links to the owner's place. */
static volatile unsigned short linked[OWNERS] __attribute__((section(".data"))) = {0};

/* A place for each owner: an instruction of one byte. */
extern const char links_test_places[];
__asm__(".text\nlinks_test_places: nop\nnop\nnop\nnop\nnop\nret\n");

struct search {
    uint64_t address, offset;
};

static bool take_own(void *ctx, const struct memory_mapping *m)
{
    struct search *s = ctx;

    if (s->address < m->start || s->address >= m->end)
        return false;
    s->offset = s->address - m->start + m->offset;
    return true;
}

/* Where it stands in this program's file. */
static uint64_t own_offset(uintptr_t address)
{
    struct search s = {.address = address};

    memory_each_mapping(getpid(), take_own, &s);
    return s.offset;
}

static int count_files(void)
{
    DIR *dir = opendir("/proc/self/fd");
    int n = 0;

    while (readdir(dir))
        n++;
    closedir(dir);
    return n;
}

static int load_empty(void)
{
    const struct bpf_insn code[] = {{.code = BPF_ALU64 | BPF_MOV | BPF_K}, {.code = BPF_JMP | BPF_EXIT}};

    return bpf_prog_load(BPF_PROG_TYPE_KPROBE, "empty", "GPL", code, 2, NULL);
}

static int count_linked(void)
{
    int n = 0;

    for (int i = 0; i < OWNERS; i++)
        n += linked[i];
    return n;
}

START_TEST(test_links_of_some_owners_go_in_the_background)
{
    uint64_t places = own_offset((uintptr_t)links_test_places), counts = own_offset((uintptr_t)linked);
    struct links_wish wish = {.file = open("/proc/self/exe", O_RDONLY | O_CLOEXEC), .pid = getpid()};
    struct links_set links = {0};
    int files;

    SUPPORT_BPF();
    wish.program = load_empty();
    ck_assert_int_ge(wish.program, 0);
    files = count_files();
    for (int i = 0; i < OWNERS * GROUPS; i++) {
        uint64_t owner = (uint64_t)i % OWNERS;
        struct uprobe_place at = {places + owner, counts + owner * sizeof linked[0], 0};

        wish.owner = 1 + (int)owner;
        ck_assert_int_eq(links_add(&links, &wish, &at, 1), 0);
    }
    ck_assert_int_eq(count_linked(), OWNERS);
    for (uint32_t owner = 2; owner <= OWNERS; owner++) {
        links_drop(&links, &(struct vm_set){&owner, 1});
        ck_assert_uint_eq(links.n, (OWNERS + 1 - owner) * GROUPS);
    }
    while (count_linked() > 1)
        usleep(1000);
    ck_assert_uint_eq(linked[0], 1);
    links_cut(&links, 0);
    ck_assert_int_eq(count_linked(), 0);
    ck_assert_int_eq(count_files(), files);
    close(wish.program);
    close(wish.file);
}
END_TEST

/* ---- made by a thread */

struct begun {
    struct links_set links;
    struct links_wish wish;
    struct links_opening *opening;
    int files; /* that were open before */
};

static void add_place(struct links_set *links, const struct links_wish *wish, uint64_t at)
{
    uint64_t places = own_offset((uintptr_t)links_test_places), counts = own_offset((uintptr_t)linked);

    ck_assert_int_eq(
        links_add(links, wish, &(struct uprobe_place){places + at, counts + at * sizeof linked[0], 0}, 1), 0);
}

/* A set that has a link to the first place, and GROUPS groups for each of the others, the last of which stays. */
static void begin(struct begun *b, bool away)
{
    *b = (struct begun){.wish = {.file = open("/proc/self/exe", O_RDONLY | O_CLOEXEC), .pid = getpid(), .owner = 1}};
    b->wish.program = load_empty();
    ck_assert_int_ge(b->wish.program, 0);
    b->files = count_files();
    add_place(&b->links, &b->wish, 0);
    if (away)
        links_leave(&b->links);
    b->opening = links_begin(&b->links);
    ck_assert(b->opening != NULL);
    b->wish.owner = 2;
    for (uint64_t i = 0; i < GROUPS * (OWNERS - 1); i++) {
        b->wish.stays = i % (OWNERS - 1) == OWNERS - 2;
        add_place(&b->opening->links, &b->wish, 1 + i % (OWNERS - 1));
    }
    ck_assert_int_eq(count_linked(), !away);
    b->wish.stays = false;
}

static void end(struct begun *b)
{
    links_cut(&b->links, 0);
    ck_assert_int_eq(count_linked(), 0);
    ck_assert_int_eq(count_files(), b->files);
    close(b->wish.program);
    close(b->wish.file);
}

START_TEST(test_links_of_a_thread_join_the_others)
{
    struct begun b;

    SUPPORT_BPF();
    begin(&b, false);
    links_open(b.opening);
    ck_assert_uint_eq(b.links.n, 1);
    while (!links_is_open(b.opening))
        usleep(1000);
    ck_assert_int_eq(count_linked(), OWNERS);
    ck_assert_int_eq(links_join(&b.links, b.opening), 0);
    ck_assert_uint_eq(b.links.n, 1 + GROUPS * (OWNERS - 1));
    links_drop(&b.links, &(struct vm_set){&(uint32_t){2}, 1});
    ck_assert_uint_eq(b.links.n, 1);
    while (count_linked() > 1)
        usleep(1000);
    end(&b);
}
END_TEST

/* Whoever takes links away, or makes them again, in the midst: those of the thread are as the others are. */
START_TEST(test_links_of_a_thread_go_and_return_with_the_others)
{
    struct begun b;

    SUPPORT_BPF();
    for (int away = 0; away < 2; away++) {
        begin(&b, away);
        links_open(b.opening);
        if (!away)
            links_leave(&b.links);
        else
            ck_assert_int_eq(links_return(&b.links), 0);
        ck_assert_int_eq(count_linked(), away ? OWNERS : 1);
        ck_assert_uint_eq(linked[OWNERS - 1], 1);
        if (!away)
            ck_assert_int_eq(links_return(&b.links), 0);
        else
            links_leave(&b.links);
        ck_assert_int_eq(count_linked(), away ? 1 : OWNERS);
        ck_assert_int_eq(links_join(&b.links, b.opening), 0);
        ck_assert_int_eq(links_return(&b.links), 0);
        ck_assert_int_eq(count_linked(), OWNERS);
        end(&b);
    }
}
END_TEST

/* While the others are away a thread makes the links only that stay. */
START_TEST(test_links_of_a_thread_are_away_with_the_others)
{
    struct begun b;

    SUPPORT_BPF();
    begin(&b, true);
    links_open(b.opening);
    ck_assert_int_eq(links_join(&b.links, b.opening), 0);
    ck_assert_int_eq(count_linked(), 1);
    ck_assert_int_eq(links_return(&b.links), 0);
    ck_assert_int_eq(count_linked(), OWNERS);
    end(&b);
}
END_TEST

/* The process of the last one has ended: none of them joins, and none is left. */
START_TEST(test_links_of_a_thread_that_fails_leave_nothing)
{
    struct begun b;

    SUPPORT_BPF();
    for (int asked = 0; asked < 2; asked++) {
        begin(&b, false);
        b.wish.pid = fork();
        if (!b.wish.pid)
            _exit(0);
        ck_assert_int_eq(waitpid(b.wish.pid, NULL, 0), b.wish.pid);
        add_place(&b.opening->links, &b.wish, 1);
        links_open(b.opening);
        if (asked) {
            links_leave(&b.links);
            ck_assert_int_eq(links_return(&b.links), 0);
        }
        ck_assert_int_eq(links_join(&b.links, b.opening), -ESRCH);
        ck_assert_uint_eq(b.links.n, 1);
        ck_assert_int_eq(count_linked(), 1);
        end(&b);
    }
}
END_TEST

START_TEST(test_links_of_a_thread_are_given_up_in_the_midst)
{
    struct begun b;

    SUPPORT_BPF();
    for (int opened = 0; opened < 2; opened++) {
        begin(&b, false);
        if (opened)
            links_open(b.opening);
        links_give_up(&b.links, b.opening);
        ck_assert_ptr_null(b.links.openings);
        ck_assert_int_eq(count_linked(), 1);
        end(&b);
    }
}
END_TEST

/* ---- killed in the midst */

/* What a process does that is killed: links to the places of its parent, made and removed. */
static void link_and_cut(uint64_t places, uint64_t counts, int program)
{
    struct links_wish wish = {.program = program, .file = open("/proc/self/exe", O_RDONLY | O_CLOEXEC), .pid = getppid()};
    struct links_set links = {0};

    for (;;) {
        for (uint64_t i = 0; i < OWNERS * GROUPS; i++) {
            struct uprobe_place at = {places + i % OWNERS, counts + i % OWNERS * sizeof linked[0], 0};

            if (links_add(&links, &wish, &at, 1))
                _exit(1);
        }
        links_cut(&links, 0);
    }
}

/* A breakpoint where an instruction was. */
static int count_traps(void)
{
    const volatile unsigned char *code = (const volatile unsigned char *)links_test_places;
    int n = 0;

    for (int i = 0; i < OWNERS; i++)
        n += code[i] != 0x90;
    return n;
}

START_TEST(test_links_leave_nothing_when_killed)
{
    uint64_t places = own_offset((uintptr_t)links_test_places), counts = own_offset((uintptr_t)linked);
    int program, waited;

    SUPPORT_BPF();
    program = load_empty();
    ck_assert_int_ge(program, 0);
    for (int round = 0; round < 30; round++) {
        pid_t pid = fork();

        ck_assert_int_ge(pid, 0);
        if (!pid)
            link_and_cut(places, counts, program);
        usleep((useconds_t)(round * 1777 % 60000)); /* at any moment */
        ck_assert_int_eq(kill(pid, SIGKILL), 0);
        ck_assert_int_eq(waitpid(pid, NULL, 0), pid);
        for (waited = 0; waited < 20000 && (count_linked() || count_traps()); waited++) /* the kernel takes up to 4 s */
            usleep(1000);
        ck_assert_msg(!count_linked() && !count_traps(), "round %d: %d semaphores are raised, %d traps stand", round,
                      count_linked(), count_traps());
    }
    close(program);
}
END_TEST

Suite *links_suite(void)
{
    Suite *suite = suite_create("links");
    TCase *links = tcase_create("links");

    tcase_set_timeout(links, 180);
    tcase_add_test(links, test_links_of_some_owners_go_in_the_background);
    tcase_add_test(links, test_links_of_a_thread_join_the_others);
    tcase_add_test(links, test_links_of_a_thread_go_and_return_with_the_others);
    tcase_add_test(links, test_links_of_a_thread_are_away_with_the_others);
    tcase_add_test(links, test_links_of_a_thread_that_fails_leave_nothing);
    tcase_add_test(links, test_links_of_a_thread_are_given_up_in_the_midst);
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__) /* apart_call makes no processes there */
    tcase_add_test(links, test_links_leave_nothing_when_killed);
#endif
    suite_add_tcase(suite, links);
    return suite;
}
