/* SPDX-License-Identifier: Apache-2.0 */
/* The table of an erlvm: of one that runs, held against what it says of itself, and of memory that lies. */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../erlvm_needed.h"
#include "otp/names.h"
#include "otp/otp_code.h"
#include "otp/otp_registered.h"
#include "probe/plan.h"
#include "support.h"
#include "support_erlvm.h"

struct fixture {
    struct memory *memory;
    struct erlvm_layout ours;
    char why[160];
};

/* Reads the table in our own memory, as it is now. */
static int read_fake(struct fixture *f)
{
    int err;

    ck_assert_int_eq(memory_open(getpid(), &f->memory), 0);
    err = erlvm_layout_read(f->memory, fake_base + FAKE_TABLE, &f->ours, f->why, sizeof f->why);
    memory_close(f->memory);
    return err;
}

START_TEST(test_erlvm_layout_leads_to_names)
    {
        struct fixture f;
        struct otp_layout layout = {.vm = (uint32_t)getpid()};
        struct otp_code_place place;
        uint64_t slot = 0, atom = 0;
        struct names *names = names_new();
        char text[64];

        fake_lay();
        ck_assert_int_eq(read_fake(&f), 0);
        erlvm_layout_fill(&f.ours, &layout);
        ck_assert_int_eq(names_add(names, &layout, &f.ours), 0);
        ck_assert_str_eq(names_atom(names, layout.vm, 8), "iiiiiiiii");
        ck_assert_int_eq(otp_registered_next(names_memory(names, layout.vm), &layout, &slot, &atom), 0);
        ck_assert_int_eq(atom, 5);
        ck_assert_int_eq(otp_registered_next(names_memory(names, layout.vm), &layout, &slot, &atom), -ENOENT);
        /* the last byte of function 2, by when its pages were its, before, and of the next page */
        ck_assert_int_eq(names_place(names, layout.vm, fake_base + FAKE_CODE + 3 * FAKE_FUNCTION - 1, FAKE_GIVEN,
                                     &place, text, sizeof text),
                         0);
        ck_assert_str_eq(text, "bb:eeeee/2");
        ck_assert_int_eq(place.line, 21);
        ck_assert_str_eq(place.file, "dddd");
        ck_assert_int_eq(
            names_place(names, layout.vm, fake_base + FAKE_CODE + 2 * FAKE_FUNCTION + 32, 3, &place, text, sizeof text),
            0);
        ck_assert_int_eq(place.line, 20);
        ck_assert_int_eq(
            names_place(names, layout.vm, fake_base + FAKE_CODE + 3 * FAKE_FUNCTION - 1, 2, &place, text, sizeof text),
            -ESTALE);
        ck_assert_int_eq(
            names_place(names, layout.vm, fake_base + FAKE_CODE + 0x1000, FAKE_GIVEN, &place, text, sizeof text),
            -ENOENT);
        ck_assert_int_eq(
            names_place(names, layout.vm, fake_base + FAKE_ENTRIES + 64 + 32, FAKE_GIVEN, &place, text, sizeof text),
            0);
        ck_assert_str_eq(text, "uuu:wwwww/1");
        /* machine code: the last byte of a piece, the first of the next, by when its pages were its, and before */
        ck_assert_int_eq(names_place(names, layout.vm, fake_base + FAKE_NATIVE + FAKE_PIECE - 1, 5, &place, text, sizeof text), 0);
        ck_assert_str_eq(text, "bb:dddd/1");
        ck_assert_int_eq(names_place(names, layout.vm, fake_base + FAKE_NATIVE + FAKE_PIECE, FAKE_GIVEN, &place, text, sizeof text), 0);
        ck_assert_str_eq(text, "bb:eeeee/2");
        ck_assert_int_eq(place.line, 20);
        ck_assert_int_eq(names_place(names, layout.vm, fake_base + FAKE_NATIVE + FAKE_PIECE, 4, &place, text, sizeof text), -ESTALE);
        ck_assert_int_eq(names_place(names, layout.vm, fake_base + FAKE_NATIVE - 1, FAKE_GIVEN, &place, text, sizeof text), -ENOENT);
        names_free(names);
    }
END_TEST

/* One word of it is another: where, how many bytes, what; and what is said. */
START_TEST(test_erlvm_layout_refuses_what_lies)
    {
        static const struct {
            uint64_t at, word;
            size_t size;
            int err;
            const char *why;
        } lies[] = {
            {FAKE_TABLE, 1, 8, -ENOTSUP, "it publishes no table of its memory (erlvm_layout)"},
            {FAKE_TABLE + 8, LAYOUT_VERSION + 1, 4, -ENOTSUP,
             "its table erlvm_layout is of version 2; this erlsnoop knows version 1"},
            {FAKE_TABLE + 12, 16, 4, -ENOTSUP, "version"},
            {FAKE_TABLE + 16, 1, 8, -ENOTSUP, "what its table erlvm_layout says of the atom table makes no sense"},
            {FAKE_TABLE + 16, 0, 8, -EAGAIN, "the atom table is not filled in yet"},
            {FAKE_PARTS, 0, 8, -EAGAIN, "the atom table is not filled in yet"},
            {FAKE_PARTS + 24 + 8, 0, 8, -EAGAIN, "the process table is not filled in yet"},
            {FAKE_PARTS + 24 + 8, 1, 8, -ENOTSUP, "the process table makes no sense"},
            {FAKE_PARTS + 48 + 16, 1, 8, -ENOTSUP, "the set of schedulers makes no sense"},
            {FAKE_PARTS + 72 + 16, UINT64_MAX, 8, -ENOTSUP, "the area of pages of code makes no sense"},
            {FAKE_NUMBERS + 0x400, UINT32_MAX, 4, -ENOTSUP, "the export table makes no sense"},
            {FAKE_NUMBERS + 8, 63, 4, -ENOTSUP, "the atom table is not where its table erlvm_layout says"},
            {FAKE_ROOTS + 8, 1, 8, -ENOTSUP, "the atom table is not where"},
            {FAKE_NUMBERS + 0x100 * LAYOUT_ROOM_NATIVE + 4, 100, 4, -ENOTSUP, "the area of pages of machine code is not where"},
            {FAKE_ROOTS + 0x100 * LAYOUT_ROOM_NATIVE, 1, 8, -ENOTSUP, "the area of pages of machine code is not where"},
            {FAKE_ROOTS, 0, 4, -EAGAIN, "the atom table is not made yet"},
            {FAKE_TEXTS, 7, 1, -ENOTSUP, "the atom table is not where"},
            {FAKE_ROOTS + 0x100, 0, 8, -EAGAIN, "the process table is not made yet"},
            {FAKE_ROOTS + 0x110, 17, 8, -ENOTSUP, "the process table is not where"},
            {FAKE_PROCESS, 0x13, 8, -EAGAIN, "the process table is not made yet"},
            {FAKE_SLOTS, 9, 8, -ENOTSUP, "the process table is not where"},
            {FAKE_ROOTS + 0x200, 100000, 4, -ENOTSUP, "the set of schedulers is not where"},
            {FAKE_ROOTS + 0x210, 4, 8, -ENOTSUP, "the set of schedulers is not where"},
            {FAKE_SCHED, 2, 4, -ENOTSUP, "the set of schedulers is not where"},
            {FAKE_ROOTS + 0x300, 8, 8, -ENOTSUP, "the area of pages of code is not where"},
        };
        struct fixture f;

        fake_lay();
        fake_put(lies[_i].at, lies[_i].word, lies[_i].size);
        ck_assert_int_eq(read_fake(&f), lies[_i].err);
        ck_assert_msg(strstr(f.why, lies[_i].why) != NULL, "%s", f.why);
    }
END_TEST
enum { LIES = 23 };

/* An erlvm that says a line of how many processes it has and what they are called, and stays. Returns its pid. */
static int start_erlvm(char *line, size_t size)
{
    static const char say[] =
        "io:format(\"~b ~0p~n\", [length(processes()), lists:sort([N || N <- registered(), is_pid(whereis(N))])]).";
    const char *build = getenv("BUILD");
    char path[4096];
    int out[2], pid;
    FILE *file;

    erlvm_needed();
    snprintf(path, sizeof path, "%s/erlvm", build ? build : "build");
    ck_assert_int_eq(pipe(out), 0);
    pid = fork();
    if (!pid) {
        dup2(out[1], 1);
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        execl(path, "erlvm", "-noshell", "-noinput", "-eval", say, (char *)NULL);
        _exit(127);
    }
    close(out[1]);
    file = fdopen(out[0], "r");
    ck_assert_ptr_ne(fgets(line, (int)size, file), NULL);
    fclose(file);
    return pid;
}

static struct plan *plan_running(int pid)
{
    struct target target;
    struct plan *plan;

    ck_assert_int_eq(target_open_pid(pid, &target), 0);
    do
        ck_assert_int_eq(plan_new(&target, true, &plan), 0);
    while (plan->early && (plan_free(plan), true));
    target_close(&target);
    ck_assert_msg(plan->vm != NULL, "%s", plan->refused);
    return plan;
}

/* The names and the number of its processes are those that it tells itself. */
START_TEST(test_erlvm_layout_of_one_that_runs)
    {
        struct names *names = names_new();
        uint64_t slot = 0, atom, processes;
        char line[4096], quoted[80];
        int pid = start_erlvm(line, sizeof line), n = 0;
        struct plan *plan = plan_running(pid);

        ck_assert_int_eq(names_add(names, &plan->vm->layout, plan->vm->ours), 0);
        for (; !otp_registered_next(names_memory(names, (uint32_t)pid), &plan->vm->layout, &slot, &atom); n++) {
            snprintf(quoted, sizeof quoted, "%s", names_atom(names, (uint32_t)pid, atom));
            ck_assert_msg(strstr(line, quoted) != NULL, "%s in %s", quoted, line);
        }
        for (const char *at = line; (at = strchr(at, ',')); at++)
            n--;
        ck_assert_int_eq(n, 1); /* as many as the list has */
        ck_assert_int_eq(otp_vm_processes(plan->vm, &processes), 0);
        ck_assert_int_ge(processes + 1, strtoul(line, NULL, 10)); /* the one that said so is gone */
        ck_assert_int_le(processes, strtoul(line, NULL, 10) + 1);
        kill(pid, SIGKILL);
        waitpid(pid, NULL, 0);
        plan_free(plan);
        names_free(names);
    }
END_TEST

Suite *erlvm_layout_suite(void)
{
    Suite *suite = suite_create("erlvm_layout");
    TCase *memory = tcase_create("memory"), *live = tcase_create("live");

    tcase_add_test(memory, test_erlvm_layout_leads_to_names);
    tcase_add_loop_test(memory, test_erlvm_layout_refuses_what_lies, 0, LIES);
    suite_add_tcase(suite, memory);
    tcase_set_timeout(live, 60);
    tcase_add_test(live, test_erlvm_layout_of_one_that_runs);
    suite_add_tcase(suite, live);
    return suite;
}
