/* SPDX-License-Identifier: Apache-2.0 */
/* Links of processes that end are closed while those of others stay, and nobody waits for that. */
#include <bpf/bpf.h>
#include <check.h>
#include <dirent.h>
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
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__) /* apart_call makes no processes there */
    tcase_add_test(links, test_links_leave_nothing_when_killed);
#endif
    suite_add_tcase(suite, links);
    return suite;
}
