/* SPDX-License-Identifier: Apache-2.0 */
/* Programs count the process that they are for, whatever the kernel's own filter lets through. */
#include <bpf/bpf.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "probe/attach.h"
#include "support.h"
#include "view/view_select.h"
#include "views.skel.h"

/* A program may use MOST_MAPS (MAX_USED_MAPS of linux/bpf_verifier.h); ROOM: for the next views. All views have PROGRAMS. */
enum { MOST_MAPS = 64, ROOM = 8, PROGRAMS = 80 };

/* An emitter that waits for the file `go` to exist, then fires `spec`, and then `more`, and `last`. */
static int start_emitter(const char *go, const char *spec, const char *more, const char *last)
{
    char path[4096];
    int pid;

    snprintf(path, sizeof path, "%s/tests/emitter", getenv("BUILD") ? getenv("BUILD") : "build");
    pid = fork();
    if (!pid) {
        dup2(open("/dev/null", O_WRONLY), STDOUT_FILENO);
        execl(path, "emitter", "-w", go, spec, more, last, (char *)NULL);
        _exit(127);
    }
    return pid;
}

/* Waits until the process runs the emitter, and opens it. */
static void open_emitter(int pid, struct target *out)
{
    while (target_open_pid(pid, out))
        ck_assert_msg(!waitpid(pid, NULL, WNOHANG), "no emitter");
}

/* The programs of the views for the VM with process id `vm` (0: any), loaded. t: the only target, or NULL. */
static struct views *load_views(const struct target *t, int vm, const bool on[VIEW_COUNT], bool by_vm, struct attach *a)
{
    struct views *skel = views__open();

    ck_assert(skel != NULL);
    *(struct wire_config *)&skel->rodata_session->probe_config = attach_config((uint32_t)vm);
    *(struct view_places *)&skel->rodata_places->view_places =
        (struct view_places){.secret = 1, .mask = bpf_map__max_entries(skel->maps.spawns_births_at) - 1};
    for (int v = 0; v < VIEW_COUNT; v++) {
        ((struct view_settings *)&skel->rodata_views->view_settings)->on[v] = on[v];
        for (int i = 0; on[v] && i < PLAN_NPROBES; i++)
            ((uint32_t *)skel->rodata_events->event_wanted)[i] |=
                view_reads((enum view_id)v, plan_probe_name((enum plan_probe)i));
    }
    view_select(skel->obj, on, by_vm);
    attach_hush();
    attach_prepare(a, skel->obj, t, NULL);
    ck_assert_int_eq(views__load(skel), 0);
    ck_assert_int_eq(attach_join(skel->obj), 0);
    return skel;
}

/* And on the notes of every process that runs the target's file: at least so many. */
static struct views *watch_all(const struct target *t, int vm, const bool on[VIEW_COUNT], int notes, struct attach *a)
{
    struct views *skel = load_views(t, vm, on, false, a);
    struct plan *plan;

    ck_assert_int_eq(plan_new(t, false, &plan), 0);
    ck_assert_int_ge(attach_notes(a, &a->links, t, plan, -1), notes);
    plan_free(plan);
    skel->data_session->probe_runs = 1;
    return skel;
}

static uint64_t count_births(struct views *skel)
{
    int cpus = libbpf_num_possible_cpus();
    struct row_spawns_totals *rows = calloc((size_t)cpus, sizeof *rows);
    uint32_t side = 0;
    uint64_t births = 0;

    ck_assert_int_eq(bpf_map_lookup_elem(bpf_map__fd(skel->maps.spawns_totals), &side, rows), 0);
    for (int i = 0; i < cpus; i++)
        births += rows[i].births;
    free(rows);
    return births;
}

/* Two processes run the file and fire; the program is for the one, and the kernel lets both through. */
START_TEST(test_attach_counts_its_own_process_only)
{
    char dir[] = "/tmp/erlsnoop-test-XXXXXX", go[64];
    struct attach attach = {0};
    struct target target;
    const bool on[VIEW_COUNT] = {[VIEW_spawns] = true};
    struct views *skel;
    int ours, other;

    SUPPORT_BPF();
    ck_assert(mkdtemp(dir) != NULL);
    snprintf(go, sizeof go, "%s/go", dir);
    ours = start_emitter(go, "process__spawn=23|<0.1%d.0>", NULL, NULL);
    other = start_emitter(go, "process__spawn=19|<0.2%d.0>", NULL, NULL);
    open_emitter(ours, &target);
    skel = watch_all(&target, ours, on, 2, &attach);
    close(open(go, O_CREAT | O_WRONLY, 0600));
    ck_assert_int_eq(waitpid(ours, NULL, 0), ours);
    ck_assert_int_eq(waitpid(other, NULL, 0), other);
    ck_assert_uint_eq(count_births(skel), 23);
    attach_clear(&attach);
    views__destroy(skel);
    target_close(&target);
    unlink(go);
    rmdir(dir);
}
END_TEST

/* Emits three specs, watched by the views at so many notes at least; calls check(skel) when that has ended. */
static void watch_specs(const bool on[VIEW_COUNT], int notes, const char *const specs[3],
                        void (*check)(struct views *skel))
{
    char dir[] = "/tmp/erlsnoop-test-XXXXXX", go[64];
    struct attach attach = {0};
    struct target target;
    struct views *skel;
    int pid;

    ck_assert(mkdtemp(dir) != NULL);
    snprintf(go, sizeof go, "%s/go", dir);
    pid = start_emitter(go, specs[0], specs[1], specs[2]);
    open_emitter(pid, &target);
    skel = watch_all(&target, pid, on, notes, &attach);
    close(open(go, O_CREAT | O_WRONLY, 0600));
    ck_assert_int_eq(waitpid(pid, NULL, 0), pid);
    check(skel);
    attach_clear(&attach);
    views__destroy(skel);
    target_close(&target);
    unlink(go);
    rmdir(dir);
}

/* So many places of the map are those of a VM; `size` of a place, its last member says of which. */
static int count_taken(struct bpf_map *map, size_t size)
{
    uint32_t n = bpf_map__max_entries(map);
    char *places = mmap(NULL, n * size, PROT_READ, MAP_SHARED, bpf_map__fd(map), 0);
    int taken = 0;

    ck_assert_ptr_ne(places, MAP_FAILED);
    for (uint32_t i = 1; i <= n; i++)
        taken += ((uint64_t *)(places + i * size))[-1] != 0;
    munmap(places, n * size);
    return taken;
}

static void check_births(struct views *skel)
{
    struct place {
        VIEW_PLACE_OF(struct state_spawns_births)
    };

    ck_assert_uint_eq(count_births(skel), 23);
    ck_assert_int_eq(count_taken(skel->maps.spawns_births_at, sizeof(struct place)), 23 - 19);
}

/* Whoever leaves a place leaves nothing in it that the next would be taken for. */
START_TEST(test_attach_leaves_no_place_as_that_of_who_left)
{
    SUPPORT_BPF();
    watch_specs((const bool[VIEW_COUNT]){[VIEW_spawns] = true}, 2,
                (const char *const[]){"process__spawn=23|<0.1%d.0>", "process__exit=19|<0.1%d.0>", NULL}, check_births);
}
END_TEST

static void check_calls(struct views *skel)
{
    struct place {
        VIEW_PLACE_OF(struct state_nifs_calls)
    };

    ck_assert_int_eq(count_taken(skel->maps.nifs_calls_at, sizeof(struct place)), 23 - 19);
}

static const char *const births_calls_ends[] = {"process__spawn=23|<0.1%d.0>", "nif__entry=23|<0.1%d.0>|m:f/1",
                                               "process__exit=19|<0.1%d.0>"};

/* The program of process__exit goes on to that of another family, whose view forgets what the process was in. */
START_TEST(test_attach_tells_views_of_other_families)
{
    SUPPORT_BPF();
    watch_specs((const bool[VIEW_COUNT]){[VIEW_nifs] = true}, 3, births_calls_ends, check_calls);
}
END_TEST

static void set_all(bool on[VIEW_COUNT])
{
    for (int v = 0; v < VIEW_COUNT; v++)
        on[v] = true;
}

static void check_all(struct views *skel)
{
    struct place {
        VIEW_PLACE_OF(struct state_owners_calls)
    };
    int cpus = libbpf_num_possible_cpus();
    uint64_t *lost = calloc((size_t)cpus, sizeof *lost);

    check_births(skel);
    check_calls(skel);
    ck_assert_int_eq(count_taken(skel->maps.owners_calls_at, sizeof(struct place)), 23 - 19);
    for (uint32_t i = 0; i < WIRE_NLOSSES; i++) {
        ck_assert_int_eq(bpf_map_lookup_elem(bpf_map__fd(skel->maps.losses), &i, lost), 0);
        for (int cpu = 0; cpu < cpus; cpu++)
            ck_assert_msg(!lost[cpu], "loss %u", i);
    }
    free(lost);
}

/* From one family's program to the next, and helpers behind them all: nothing is lost on the way. */
START_TEST(test_attach_goes_through_the_programs_of_all_families)
{
    bool on[VIEW_COUNT];

    SUPPORT_BPF();
    set_all(on);
    watch_specs(on, 3, births_calls_ends, check_all);
}
END_TEST

/* With those that libbpf binds it to. */
static uint32_t count_maps(const struct bpf_program *program)
{
    struct bpf_prog_info info = {0};
    uint32_t size = sizeof info;

    ck_assert_int_eq(bpf_obj_get_info_by_fd(bpf_program__fd(program), &info, &size), 0);
    return info.nr_map_ids;
}

/* One with more maps than the kernel has room for would not be loaded: "Argument list too long". */
START_TEST(test_attach_has_room_for_maps_of_more_views)
{
    struct attach attach = {0};
    bool on[VIEW_COUNT];
    struct bpf_program *program;
    struct views *skel;
    int programs = 0;

    SUPPORT_BPF();
    set_all(on);
    skel = load_views(NULL, 0, on, true, &attach);
    bpf_object__for_each_program(program, skel->obj) {
        if (bpf_program__fd(program) < 0)
            continue;
        programs++;
        ck_assert_msg(count_maps(program) <= MOST_MAPS - ROOM,
                      "%s uses %u maps, and the kernel has room for %d: a program a family may tell the probe (APART of "
                      "bpf/views.def), or a view go to another family", bpf_program__name(program), count_maps(program),
                      MOST_MAPS);
    }
    ck_assert_int_ge(programs, PROGRAMS);
    views__destroy(skel);
}
END_TEST

Suite *attach_suite(void)
{
    Suite *suite = suite_create("attach");
    TCase *live = tcase_create("live");

    tcase_set_timeout(live, 30);
    tcase_add_test(live, test_attach_counts_its_own_process_only);
    tcase_add_test(live, test_attach_leaves_no_place_as_that_of_who_left);
    tcase_add_test(live, test_attach_tells_views_of_other_families);
    tcase_add_test(live, test_attach_goes_through_the_programs_of_all_families);
    tcase_add_test(live, test_attach_has_room_for_maps_of_more_views);
    suite_add_tcase(suite, live);
    return suite;
}
