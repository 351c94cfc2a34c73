/* SPDX-License-Identifier: Apache-2.0 */
/* erlsnoop sched: what the time of slices was spent on, held against what threads did and what the kernel counted. */
#include "support.h"

/* A VM that does its work once it is watched. */
#define VM_DOES(work, how)                                                                         \
    "cat > busy.erl <<'END'\n"                                                                     \
    "-module(busy).\n-export([main/0]).\n"                                                         \
    "main() -> file:write_file(\"ready\", \"1\"), wait(\"go\"), work(), file:write_file(\"done\", \"1\"), wait(\"end\"), halt().\n" \
    "wait(Name) ->\n"                                                                              \
    "    case filelib:is_file(Name) of\n"                                                          \
    "        true -> ok;\n"                                                                        \
    "        false -> timer:sleep(20), wait(Name)\n"                                               \
    "    end.\n"                                                                                   \
    "run(Name, Fun) ->\n"                                                                          \
    "    {P, R} = spawn_monitor(fun() -> register(Name, self()), Fun() end),\n"                    \
    "    receive {'DOWN', R, process, P, normal} -> ok end.\n"                                     \
    "count(Until) ->\n"                                                                            \
    "    _ = lists:sum(lists:seq(1, 1000)),\n"                                                     \
    "    erlang:monotonic_time(millisecond) < Until andalso count(Until).\n"                       \
    "hungry(Ms) -> run(hungry, fun() -> count(erlang:monotonic_time(millisecond) + Ms) end).\n" work "END\n" \
    "erlc busy.erl; " how " -noshell -pa . -s busy main & p=$!; await ready\n"

#define WATCHED(options)                                                                           \
    "$ERLSNOOP sched " options " --budget off --json -p $p > told & e=$!; attached $e\n"           \
    "touch go; await done; kill -INT $e; wait $e; s=$?\n"

static double part_of(const char *json, const char *row, const char *part)
{
    return (double)support_number(json, row, part) / (double)support_number(json, row, "ran_ns");
}

static void assert_adds_up(const char *json, const char *row)
{
    double all = part_of(json, row, "cpu_ns") + part_of(json, row, "waited_ns") + part_of(json, row, "asleep_ns");

    ck_assert_msg(all > .95 && all < 1.05, "%s: %f of RAN: %s", row, all, json);
}

/*
 * A process that waits a second for somebody to open the other end of a fifo, in a system call, and nine more, so that
 * every dirty I/O scheduler does, those too that slept when we came; one that calculates.
 */
START_TEST(test_sched_tells_sleep_from_work)
{
    const char *blocked = "\"owner\":\"blocked\"", *hungry = "\"owner\":\"hungry\"";
    const char *dirty = "\"kind\":\"dirty I/O schedulers\"";

    SUPPORT_BPF();
    const struct support_run *r = support_run(
        "mkfifo pipe\n" VM_DOES("work() ->\n"
                                "    spawn(fun() -> os:cmd(\"sleep 1; echo x > pipe\") end),\n"
                                "    Open = fun() -> {ok, _} = file:open(\"pipe\", [read, raw]) end,\n"
                                "    [spawn(Open) || _ <- lists:seq(2, erlang:system_info(dirty_io_schedulers))],\n"
                                "    run(blocked, Open),\n"
                                "    hungry(500).\n",
                                "erl")
            WATCHED("") "touch end; wait $p; cat told; exit $s");

    ck_assert_msg(!r->status, "%s", r->err);
    assert_adds_up(r->out, blocked);
    assert_adds_up(r->out, hungry);
    assert_adds_up(r->out, dirty);
    ck_assert_msg(support_number(r->out, blocked, "asleep_ns") > 900000000, "%s", r->out);
    ck_assert_msg(support_number(r->out, dirty, "asleep_ns") > 9000000000, "%s", r->out);
    ck_assert_msg(part_of(r->out, blocked, "cpu_ns") < .05, "%s", r->out);
    ck_assert_msg(support_number(r->out, hungry, "ran_ns") > 300000000, "%s", r->out);
    ck_assert_msg(part_of(r->out, hungry, "asleep_ns") < .05, "%s", r->out);
}
END_TEST

/* Two that never sleep and share the only scheduler: each runs half of the second, and could have run all of it. */
START_TEST(test_sched_tells_how_long_processes_wait_for_a_scheduler)
{
    static const char *const sources[] = {"", "--source notes"};
    static const char *const names[] = {"first", "second"};
    char row[32];

    SUPPORT_BPF();
    const struct support_run *r = support_run(
        VM_DOES("work() ->\n"
                "    Until = erlang:monotonic_time(millisecond) + 1000,\n"
                "    Counts = fun(Name) -> register(Name, self()), count(Until) end,\n"
                "    All = [spawn_monitor(fun() -> Counts(Name) end) || Name <- [first, second]],\n"
                "    [receive {'DOWN', R, process, P, normal} -> ok end || {P, R} <- All].\n",
                "$ERLVM +S 1")
        WATCHED("%s") "touch end; wait $p; cat told; exit $s", sources[_i]);

    ck_assert_msg(!r->status, "%s", r->err);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        double ran, runnable;
        const char *table = strstr(r->out, "\"type\":\"sched_runnable\"");

        ck_assert_msg(table != NULL, "%s", r->out);
        snprintf(row, sizeof row, "\"owner\":\"%s\"", names[i]);
        ran = (double)support_number(strstr(r->out, "\"type\":\"sched_by_owner\""), row, "ran_ns");
        runnable = (double)support_number(table, row, "waited_ns");
        ck_assert_msg(ran + runnable > .93e9 && ran + runnable < 1.07e9, "%f, %f: %s", ran, runnable, r->out);
        ck_assert_msg(runnable > .35e9 && runnable < .65e9, "%f, %f: %s", ran, runnable, r->out);
    }
    ck_assert_int_ge(support_number(r->out, "\"type\":\"sched\"", "runnable_ns"), 900000000);
}
END_TEST

/* One that shares its processor with another program: as the kernel counts its thread's time. */
START_TEST(test_sched_tells_waiting_from_work)
{
    static const char *const vms[] = {"taskset -c $cpu erl +S 1:1", "taskset -c $cpu $ERLVM +S 1"};
    const char *hungry = "\"owner\":\"hungry\"";
    double cpu, waited, of_kernel;

    SUPPORT_BPF();
    const struct support_run *r = support_run(
        "cpu=$(taskset -cp $$ | sed 's/.*: //; s/[-,].*//')\n" /* one that we may run on */
        VM_DOES("work() -> hungry(1000).\n", "%s")
        "counted() { cat /proc/$p/task/*/schedstat | awk '{ c += $1; w += $2 } END { printf \"{\\\"type\\\":\\\"%%s\\\","
        "\\\"cpu\\\":%%.0f,\\\"waited\\\":%%.0f}\\n\", n, c, w }' n=$1; }\n"
        "taskset -c $cpu sh -c 'while :; do :; done' & o=$!\n"
        "counted before; " WATCHED("%s") "counted after; kill $o; touch end; wait $p; cat told; exit $s",
        vms[_i], _i ? "--source notes" : "");

    ck_assert_msg(!r->status, "%s", r->err);
    assert_adds_up(r->out, hungry);
    cpu = (double)support_number(r->out, hungry, "cpu_ns");
    waited = (double)support_number(r->out, hungry, "waited_ns");
    of_kernel = (double)(support_number(r->out, "\"after\"", "cpu") - support_number(r->out, "\"before\"", "cpu"));
    ck_assert_msg(waited > cpu / 4, "it had to wait: %s", r->out);
    ck_assert_msg(cpu < of_kernel * 1.05, "of %f ns: %s", of_kernel, r->out);
    of_kernel = (double)(support_number(r->out, "\"after\"", "waited") - support_number(r->out, "\"before\"", "waited"));
    ck_assert_msg(waited < of_kernel * 1.05, "of %f ns: %s", of_kernel, r->out);
}
END_TEST

/* In a control group that may have a tenth of a processor once it has started, of version 1 or 2, in a group below it
 * that has no quota. */
START_TEST(test_sched_tells_what_a_quota_held_back)
{
    static const char *const vms[] = {"erl", "$ERLVM"};
    const char *quota = "\"type\":\"sched_quota\"", *hungry = "\"owner\":\"hungry\"";

    SUPPORT_BPF();
    const struct support_run *r = support_run(
        "groups() { for g in /sys/fs/cgroup/cpu /sys/fs/cgroup/cpu,cpuacct /sys/fs/cgroup; do\n"
        "    [ -e $g/cpu.cfs_quota_us ] || grep -qw cpu $g/cgroup.subtree_control || continue; echo $g; return; done; }\n"
        "g=$(groups)/erlsnoop-$$; [ -d ${g%%%%/*} ] && mkdir -p $g/below 2>&1 || exit 77\n"
        "limited() { echo $BASHPID > $g/below/cgroup.procs; exec \"$@\"; }\n"
        VM_DOES("work() -> hungry(1500).\n", "limited %s")
        "if [ -e $g/cpu.max ]; then echo 10000 100000 > $g/cpu.max; else echo 10000 > $g/cpu.cfs_quota_us; fi\n"
        WATCHED("") "touch end; wait $p; rmdir $g/below $g; cat told; exit $s",
        vms[_i]);

    if (r->status == 77) {
        printf("SKIP %s: no control group can be made\n", __func__);
        return;
    }
    ck_assert_msg(!r->status, "%s", r->err);
    ck_assert_msg(strstr(r->out, "\"quota_percent\":10.000") != NULL, "%s", r->out);
    ck_assert_int_ge(support_number(r->out, quota, "throttled"), 5);
    ck_assert_int_ge(support_number(r->out, quota, "periods"), support_number(r->out, quota, "throttled"));
    ck_assert_msg(support_number(r->out, quota, "held_ns") > 500000000, "%s", r->out);
    if (!_i)
        ck_assert_msg(support_number(r->out, hungry, "waited_ns") > support_number(r->out, quota, "held_ns") / 2, "%s", r->out);
}
END_TEST

/* Pages do not tell what the threads did. */
START_TEST(test_sched_leaves_out_what_pages_do_not_tell)
{
    SUPPORT_BPF();
    const struct support_run *r = support_run(
        VM_DOES("work() -> hungry(100).\n", "$ERLVM") WATCHED("") "touch end; wait $p; cat told; exit $s");

    ck_assert_msg(!r->status, "%s", r->err);
    ck_assert_msg(support_lines(r->out, "\"owner\":\"hungry\"") > 0, "%s", r->out);
    ck_assert_int_eq(support_lines(r->out, "\"cpu_ns\""), 0);
    ck_assert_int_eq(support_lines(r->out, "\"asleep_ns\""), 0);
}
END_TEST

Suite *sched_suite(void)
{
    Suite *suite = suite_create("sched");
    TCase *live = tcase_create("live");

    tcase_set_timeout(live, 60);
    tcase_add_test(live, test_sched_tells_sleep_from_work);
    tcase_add_loop_test(live, test_sched_tells_waiting_from_work, 0, 2);
    tcase_add_loop_test(live, test_sched_tells_what_a_quota_held_back, 0, 2);
    tcase_add_loop_test(live, test_sched_tells_how_long_processes_wait_for_a_scheduler, 0, 2);
    tcase_add_test(live, test_sched_leaves_out_what_pages_do_not_tell);
    suite_add_tcase(suite, live);
    return suite;
}
