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

Suite *links_suite(void)
{
    Suite *suite = suite_create("links");
    TCase *links = tcase_create("links");

    tcase_set_timeout(links, 60);
    tcase_add_test(links, test_links_of_some_owners_go_in_the_background);
    suite_add_tcase(suite, links);
    return suite;
}
