/* SPDX-License-Identifier: Apache-2.0 */
/* Which VMs have a budget: those that are watched now, while there is room, and of a VM what it used itself. */
#include <bpf/bpf.h>
#include <check.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "probe/attach.h"
#include "probe/budget.h"
#include "support.h"
#include "view/view_select.h"
#include "views.skel.h"

enum { ROOM = 2, FIRST_PID = 1 << 22 }; /* no process has such an id */

struct world {
    struct views *skel;
    struct options options;
    struct watch_process processes[ROOM + 2];
    struct watch watch;
    struct budget budget;
};

/* Programs that are loaded, with room for few VMs. */
static void begin(struct world *w)
{
    bool on[VIEW_COUNT] = {[VIEW_spawns] = true};

    *w = (struct world){.skel = views__open(), .options = {.all = true, .budget = 0.1}};
    ck_assert(w->skel != NULL);
    view_select(w->skel->obj, on, false);
    attach_prepare(&w->watch.attach, w->skel->obj, NULL, NULL);
    bpf_map__set_max_entries(w->skel->maps.vm_hits, ROOM);
    ck_assert_int_eq(views__load(w->skel), 0);
    w->watch.options = &w->options;
    w->watch.processes = w->processes;
    budget_open(&w->budget, w->options.budget);
    budget_begin(&w->budget, &w->watch);
    ck_assert(w->budget.kept);
}

static void end(struct world *w)
{
    budget_close(&w->budget);
    views__destroy(w->skel);
}

static void watch_one(struct world *w, int pid)
{
    w->processes[w->watch.nprocesses++] = (struct watch_process){{.pid = pid, .started = 1}, true};
}

/* What it said on standard error meanwhile. */
static const char *look(struct world *w)
{
    static char said[1000];
    int before = dup(STDERR_FILENO), file = memfd_create("said", 0);
    ssize_t got;

    dup2(file, STDERR_FILENO);
    budget_look(&w->budget);
    dup2(before, STDERR_FILENO);
    got = pread(file, said, sizeof said - 1, 0);
    said[got > 0 ? got : 0] = 0;
    close(before);
    close(file);
    return said;
}

/* Where there are more VMs than there is room for, that is said, once; when one has ended there is room again. */
START_TEST(test_budget_says_which_vm_has_none)
{
    struct world w;
    const char *said;

    SUPPORT_BPF();
    begin(&w);
    for (int i = 0; i < ROOM; i++)
        watch_one(&w, FIRST_PID + i);
    ck_assert_str_eq(look(&w), "");
    ck_assert_uint_eq(w.budget.nvms, ROOM);
    watch_one(&w, FIRST_PID + ROOM);
    watch_one(&w, FIRST_PID + ROOM + 1);
    said = look(&w);
    ck_assert_msg(strstr(said, "the VM with pid 4194306, and others that there is no room for, are watched without"),
                  "%s", said);
    ck_assert_ptr_eq(strchr(said, '\n'), said + strlen(said) - 1);
    ck_assert_uint_eq(w.budget.nvms, ROOM);
    ck_assert_str_eq(look(&w), "");
    w.processes[0] = w.processes[--w.watch.nprocesses];
    look(&w);
    look(&w);
    ck_assert_uint_eq(w.budget.nvms, ROOM);
    ck_assert_int_eq(w.budget.vms[1].pid, FIRST_PID + ROOM + 1);
    end(&w);
}
END_TEST

/* One that has the process id of another that ended earns from its own first moment on, and pays for its own hits. */
START_TEST(test_budget_tells_a_vm_from_one_that_had_its_pid)
{
    uint32_t pid = (uint32_t)getpid();
    uint64_t hits[1024] = {1000}; /* a processor each */
    struct world w;

    SUPPORT_BPF();
    begin(&w);
    watch_one(&w, (int)pid);
    look(&w);
    w.budget.vms[0].now.cpu_ns = w.budget.vms[0].last.cpu_ns = UINT64_MAX / 2;
    w.budget.vms[0].debt_ns = 1e9;
    ck_assert_int_eq(bpf_map_update_elem(bpf_map__fd(w.skel->maps.vm_hits), &pid, hits, BPF_ANY), 0);
    w.processes[0].life.started = 2;
    look(&w);
    ck_assert_uint_eq(w.budget.nvms, 1);
    ck_assert_uint_lt(w.budget.vms[0].now.cpu_ns, UINT64_MAX / 2);
    ck_assert(w.budget.vms[0].debt_ns <= 0);
    ck_assert_int_eq(bpf_map_lookup_elem(bpf_map__fd(w.skel->maps.vm_hits), &pid, hits), 0);
    ck_assert_uint_eq(hits[0], 0);
    end(&w);
}
END_TEST

Suite *budget_suite(void)
{
    Suite *suite = suite_create("budget");
    TCase *tests = tcase_create("tests");

    tcase_set_timeout(tests, 30);
    tcase_add_test(tests, test_budget_says_which_vm_has_none);
    tcase_add_test(tests, test_budget_tells_a_vm_from_one_that_had_its_pid);
    suite_add_tcase(suite, tests);
    return suite;
}
