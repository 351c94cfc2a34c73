/* SPDX-License-Identifier: Apache-2.0 */
/* What is planned for a node whose executable tells lies about its functions: no hook where they are told. */
#include <elf.h>
#include <glob.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "probe/plan.h"
#include "support.h"
#include "target/target.h"

/* A node of the machine's own release on a copy of its emulator. */
struct node {
    char dir[64], beam[80], bindir[256];
    struct elf {
        unsigned char *bytes;
        size_t size;
    } elf;
    int pid;
};

static void node_copy(struct node *n)
{
    char command[512];
    struct stat st;
    FILE *file;
    glob_t found;

    *n = (struct node){.dir = "/tmp/erlsnoop-plan-XXXXXX"};
    ck_assert_int_eq(glob("/usr/lib/erlang/erts-*/bin/beam.smp", 0, NULL, &found), 0);
    ck_assert_ptr_ne(mkdtemp(n->dir), NULL);
    snprintf(n->beam, sizeof n->beam, "%s/beam.smp", n->dir);
    snprintf(n->bindir, sizeof n->bindir, "%s", found.gl_pathv[0]);
    *strrchr(n->bindir, '/') = '\0';
    snprintf(command, sizeof command, "cp %s %s", found.gl_pathv[0], n->beam);
    globfree(&found);
    ck_assert_int_eq(system(command), 0);
    ck_assert_int_eq(stat(n->beam, &st), 0);
    file = fopen(n->beam, "r+");
    n->elf.size = (size_t)st.st_size;
    n->elf.bytes = mmap(NULL, n->elf.size, PROT_READ | PROT_WRITE, MAP_SHARED, fileno(file), 0);
    ck_assert_ptr_ne(n->elf.bytes, MAP_FAILED);
    fclose(file);
}

/* The symbol in .dynsym. */
static Elf64_Sym *find_symbol(struct elf *elf, const char *name)
{
    Elf64_Ehdr *eh = (Elf64_Ehdr *)elf->bytes;
    Elf64_Shdr *sh = (Elf64_Shdr *)(elf->bytes + eh->e_shoff);

    for (int i = 0; i < eh->e_shnum; i++) {
        Elf64_Sym *symbols = (Elf64_Sym *)(elf->bytes + sh[i].sh_offset);

        for (size_t k = 0; sh[i].sh_type == SHT_DYNSYM && k < sh[i].sh_size / sizeof *symbols; k++)
            if (!strcmp((char *)elf->bytes + sh[sh[i].sh_link].sh_offset + symbols[k].st_name, name))
                return &symbols[k];
    }
    ck_abort_msg("no symbol %s", name);
    return NULL;
}

static void node_start(struct node *n)
{
    munmap(n->elf.bytes, n->elf.size);
    n->pid = fork();
    if (!n->pid) {
        char root[300];

        snprintf(root, sizeof root, "%s/../..", n->bindir);
        setenv("ROOTDIR", root, 1);
        setenv("BINDIR", n->bindir, 1);
        setenv("EMU", "beam", 1);
        setenv("PROGNAME", "erl", 1);
        execl(n->beam, n->beam, "--", "-root", root, "-bindir", n->bindir, "-progname", "erl", "--", "-home", n->dir, "--", "-noshell",
              "-noinput", (char *)NULL);
        _exit(127);
    }
}

/* Its plan, once it is far enough. */
static struct plan *node_plan(struct node *n)
{
    struct target target;
    struct plan *plan;

    for (int i = 0;; i++) {
        ck_assert_int_lt(i, 1000);
        usleep(10000);
        if (target_open_pid(n->pid, &target))
            continue;
        ck_assert_int_eq(plan_new(&target, true, &plan), 0);
        target_close(&target);
        if (plan->vm || !plan->early)
            return plan;
        plan_free(plan);
    }
}

static void node_stop(struct node *n)
{
    char command[128];

    kill(n->pid, SIGKILL);
    waitpid(n->pid, NULL, 0);
    snprintf(command, sizeof command, "rm -r %s", n->dir);
    ck_assert_int_eq(system(command), 0);
}

static void assert_hooked(const struct plan *plan, enum plan_probe probe, const char *liar)
{
    const struct plan_event *event = &plan->events[probe];

    ck_assert_msg((event->source == PLAN_HOOK) == !liar, "%s: %s", plan_probe_name(probe), event->why);
    if (liar)
        ck_assert_msg(strstr(event->why, liar) && !strchr(event->why, '\n'), "%s", event->why);
    for (size_t i = 0; i < plan->nhooks && liar; i++)
        ck_assert_int_ne(plan->hooks[i].probe, probe);
}

/* Runs n: its plan has `hooked`, and none of `refused`, for `liar`. */
static void assert_refused(struct node *n, enum plan_probe refused, const char *liar, enum plan_probe hooked)
{
    struct plan *plan;

    node_start(n);
    plan = node_plan(n);
    assert_hooked(plan, refused, liar);
    assert_hooked(plan, hooked, NULL);
    plan_free(plan);
    node_stop(n);
}

START_TEST(test_lies_of_a_copy_has_every_hook)
{
    struct node n;

    node_copy(&n);
    node_start(&n);

    struct plan *plan = node_plan(&n);

    ck_assert_msg(plan->vm, "%s", plan->refused);
    for (enum plan_probe probe = 0; probe < PLAN_NEVENTS; probe++)
        if (probe == PLAN_process__spawn || probe == PLAN_message__send || probe == PLAN_efile_drv__entry)
            assert_hooked(plan, probe, NULL);
    plan_free(plan);
    node_stop(&n);
}
END_TEST

/* In the middle of an instruction, of a function, or in none. */
START_TEST(test_lies_takes_no_symbol_that_was_shifted)
{
    static const int shifts[] = {1, -1, 4, 16, -16, 4096};
    struct node n;

    SUPPORT_EXPORTS();
    node_copy(&n);
    find_symbol(&n.elf, "erl_create_process")->st_value += (uint64_t)shifts[_i];
    assert_refused(&n, PLAN_process__spawn, "erl_create_process", PLAN_process__exit);
}
END_TEST

START_TEST(test_lies_takes_no_symbol_of_another_function)
{
    struct node n;
    Elf64_Sym *a, *b;

    SUPPORT_EXPORTS();
    node_copy(&n);
    a = find_symbol(&n.elf, "erts_send_message");
    b = find_symbol(&n.elf, "erts_continue_exit_process");
    a->st_value = b->st_value;
    a->st_size = b->st_size;
    assert_refused(&n, PLAN_message__send, "erts_send_message", PLAN_process__exit);
}
END_TEST

START_TEST(test_lies_takes_no_symbol_of_another_size)
{
    struct node n;

    SUPPORT_EXPORTS();
    node_copy(&n);
    find_symbol(&n.elf, "erts_send_message")->st_size--;
    assert_refused(&n, PLAN_message__send, "erts_send_message", PLAN_process__exit);
}
END_TEST

Suite *lies_suite(void)
{
    Suite *suite = suite_create("lies");
    TCase *symbols = tcase_create("symbols");

    tcase_set_timeout(symbols, 60);
    tcase_add_test(symbols, test_lies_of_a_copy_has_every_hook);
    tcase_add_loop_test(symbols, test_lies_takes_no_symbol_that_was_shifted, 0, 6);
    tcase_add_test(symbols, test_lies_takes_no_symbol_of_another_function);
    tcase_add_test(symbols, test_lies_takes_no_symbol_of_another_size);
    suite_add_tcase(suite, symbols);
    return suite;
}
