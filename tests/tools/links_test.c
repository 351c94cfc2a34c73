/* SPDX-License-Identifier: Apache-2.0 */
/* Links of processes that end are closed while those of others stay, and nobody waits for that. */
#include <bpf/bpf.h>
#include <check.h>
#include <dirent.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <stddef.h>
#include <unistd.h>

#include "probe/links.h"
#include "support.h"
#include "target/memory.h"

enum { OWNERS = 5, GROUPS = 7 /* of each owner */ };

/* The kernel counts here how many links there are to the place. */
static volatile unsigned short linked __attribute__((section(".data"))) = 0;

static __attribute__((noinline, noclone)) void place(void)
{
    __asm__ volatile("nop");
}

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

START_TEST(test_links_of_some_owners_go_in_the_background)
{
    struct uprobe_place at = {.offset = own_offset((uintptr_t)place), .semaphore = own_offset((uintptr_t)&linked)};
    struct links_wish wish = {.file = open("/proc/self/exe", O_RDONLY | O_CLOEXEC), .pid = getpid()};
    struct links_set links = {0};
    int files;

    SUPPORT_BPF();
    wish.program = load_empty();
    ck_assert_int_ge(wish.program, 0);
    files = count_files();
    for (int i = 0; i < OWNERS * GROUPS; i++) {
        wish.owner = 1 + i % OWNERS;
        ck_assert_int_eq(links_add(&links, &wish, &at, 1), 0);
    }
    ck_assert_uint_eq(linked, OWNERS * GROUPS);
    for (uint32_t owner = 2; owner <= OWNERS; owner++) {
        links_drop(&links, &(struct vm_set){&owner, 1});
        ck_assert_uint_eq(links.n, (OWNERS + 1 - owner) * GROUPS);
    }
    while (linked > GROUPS)
        usleep(1000);
    ck_assert_uint_eq(linked, GROUPS);
    links_cut(&links, 0);
    ck_assert_uint_eq(linked, 0);
    ck_assert_int_eq(count_files(), files);
    close(wish.program);
    close(wish.file);
}
END_TEST

Suite *links_suite(void)
{
    Suite *suite = suite_create("links");
    TCase *links = tcase_create("links");

    tcase_set_timeout(links, 60);
    tcase_add_test(links, test_links_of_some_owners_go_in_the_background);
    suite_add_tcase(suite, links);
    return suite;
}
