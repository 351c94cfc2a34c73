/* SPDX-License-Identifier: Apache-2.0 */
/* What the machine does to a VM: signals, limits, processors, filters of system calls. Each script runs with $VM being
 * the stock erl, then erlvm: both must print the same. */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "../erlvm_needed.h"
#include "patience.h"

enum { OUTPUT_MAX = 1 << 14, SECONDS = 60 };

#define TELL_SCHEDULERS "erlang:display([erlang:system_info(I) || I <- [schedulers, schedulers_online, " \
	"logical_processors_available, dirty_cpu_schedulers, dirty_cpu_schedulers_online]]), halt()."
#define KILL_SELF "os:cmd(\"kill -USR2 \" ++ os:getpid()), timer:sleep(500), io:format(\"up~n\"), halt(3)."

static const char *const scripts[] = {
	"$VM -noshell -eval 'os:set_signal(sigusr2, ignore), " KILL_SELF "'; echo $?",
	"$VM -noshell -eval 'os:set_signal(sigusr2, handle), " KILL_SELF "'; echo $?",
	"$VM -noshell -eval 'os:set_signal(sigusr2, default), " KILL_SELF "'; echo $?",
	"taskset -c $(taskset -cp $$ | sed 's/.*: //; s/[-,].*//') $VM -noshell -eval '" TELL_SCHEDULERS "'",
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__) /* they take more of all of it */
	"(ulimit -s 384; $VM -noshell -eval 'io:format(\"up~n\"), halt(3).'; echo $?)",
	"(ulimit -s 128; $VM -noshell -eval 'io:format(\"up~n\"), halt(3).'; echo $?)",
	"(ulimit -d 102400; $VM -noshell -eval 'io:format(\"up~n\"), halt(3).'; echo $?)",
	"(ulimit -v 1500000; $VM +S 1 -noshell -eval 'io:format(\"~p~n\", [length(lists:seq(1, 1000000))]), halt(3).'; echo $?)",
#endif
};

static void run(const char *vm, const char *script, char *out)
{
	char command[4096];
	FILE *pipe;
	size_t n;

	snprintf(command, sizeof(command),
		 "export VM='timeout -s KILL %d %s' BARE=%s ERL_CRASH_DUMP_SECONDS=0; { %s; } 2>&1 </dev/null",
		 patience(SECONDS), vm, vm, script);
	pipe = popen(command, "r");
	ck_assert_ptr_nonnull(pipe);
	n = fread(out, 1, OUTPUT_MAX - 1, pipe);
	out[n] = 0;
	pclose(pipe);
}

static const char *erlvm(void)
{
	static char path[512];
	const char *build = getenv("BUILD");

	snprintf(path, sizeof(path), "%s/erlvm", build != NULL ? build : "build");
	return path;
}

START_TEST(test_as_erl)
{
	static char expected[OUTPUT_MAX], printed[OUTPUT_MAX];

	run("erl", scripts[_i], expected);
	run(erlvm(), scripts[_i], printed);
	ck_assert_msg(expected[0] != 0 && strcmp(expected, printed) == 0, "%s\n  erl   %.1000s\n  erlvm %.1000s",
		      scripts[_i], expected, printed);
}
END_TEST

/* ---- what needs a name space of mounts, or of processes */

/* $BARE in place of what the kernel says of control groups: the directory d has their files. +S: what it overrides. */
#define IN_GROUP(group, mount, files) IN_GROUP_AT("m", "m", group, mount, files)
#define IN_GROUP_AT(name, written, group, mount, files) \
	"d=$(mktemp -d); mkdir -p \"$d/" name "/grp\"; printf '" group "\\n' > $d/cgroup; " \
	"printf '30 25 0:26 / %s/" written " rw,nosuid shared:4 - " mount "\\n' $d > $d/mountinfo; cd \"$d/" name "/grp\"; " \
	files "; cd - > /dev/null; " \
	"for f in '' '+S 2' '+S 4:3' '+S :1' '+SP 100:100'; do unshare -m sh -c \"mount --bind $d/cgroup /proc/\\$\\$/cgroup; " \
	"mount --bind $d/mountinfo /proc/\\$\\$/mountinfo; exec $BARE $f -noshell -eval '" TELL_SCHEDULERS "'\"; done; rm -r $d"
#define VERSION_1(quota, period) IN_GROUP("5:cpuacct,cpu:/grp", "cgroup cgroup rw,cpuacct,cpu", \
					  "echo " quota " > cpu.cfs_quota_us; echo " period " > cpu.cfs_period_us")
#define VERSION_2(max) IN_GROUP("0::/grp", "cgroup2 cgroup2 rw", "echo " max " > cpu.max")

static const char *const enclosed[] = {
	VERSION_1("50000", "100000"), VERSION_1("199999", "100000"), VERSION_1("200000", "100000"), VERSION_1("-1", "100000"),
	/* Processes whose parents have ended, and a program of a port. */
	"unshare -pf --mount-proc sh -c \"exec $BARE -noshell -eval '"
	"[os:cmd(\\\"(sleep 0.2; exit 3) > /dev/null 2>&1 &\\\") || _ <- lists:seq(1, 20)], "
	"P = open_port({spawn, \\\"sleep 0.4\\\"}, [exit_status]), receive {P, {exit_status, S}} -> erlang:display(S) end, "
	"Zombies = fun() -> length([F || F <- filelib:wildcard(\\\"/proc/[0-9]*/stat\\\"), {ok, B} <- [file:read_file(F)], "
	"binary:match(B, <<\\\") Z \\\">>) =/= nomatch]) end, Wait = fun W(0) -> Zombies(); W(N) -> case Zombies() of 0 -> 0; "
	"_ -> timer:sleep(100), W(N - 1) end end, timer:sleep(300), erlang:display({zombies, Wait(100)}), halt().'\"",
};

START_TEST(test_enclosed_as_erl)
{
	static char expected[OUTPUT_MAX], printed[OUTPUT_MAX];

	if (system("unshare -m true 2> /dev/null") != 0) {
		printf("SKIP enclosed_as_erl: no name space may be made here\n");
		return;
	}
	run("erl", enclosed[_i], expected);
	run(erlvm(), enclosed[_i], printed);
	ck_assert_msg(expected[0] != 0 && strcmp(expected, printed) == 0, "%s\n  erl   %.1000s\n  erlvm %.1000s",
		      enclosed[_i], expected, printed);
}
END_TEST

static const struct {
	const char *version_1, *version_2;
} quotas[] = {
	{ VERSION_1("20000", "100000"), VERSION_2("20000 100000") },
	{ VERSION_1("190000", "100000"), VERSION_2("190000 100000") },
	{ VERSION_1("-1", "100000"), VERSION_2("max 100000") },
};

/* The same quota, told in either way: that of version 1 is held against erl above. */
START_TEST(test_quotas_of_both_versions)
{
	static char expected[OUTPUT_MAX], printed[OUTPUT_MAX];

	if (system("unshare -m true 2> /dev/null") != 0) {
		printf("SKIP quotas_of_both_versions: no name space may be made here\n");
		return;
	}
	run(erlvm(), quotas[_i].version_1, expected);
	run(erlvm(), quotas[_i].version_2, printed);
	ck_assert_msg(expected[0] == '[' && strcmp(expected, printed) == 0, "version 1: %.500s version 2: %.500s", expected,
		      printed);
}
END_TEST

/* As the first process of a container it waits for orphans, and for nobody whom others wait for. */
START_TEST(test_programs_of_natives_are_left_to_them)
{
	static char printed[OUTPUT_MAX];

	if (system("unshare -pf --mount-proc true 2> /dev/null") != 0) {
		printf("SKIP programs_of_natives_are_left_to_them: no name space may be made here\n");
		return;
	}
	run(erlvm(), "d=$(mktemp -d); cc -shared -fPIC -I $(erl -noshell -eval 'io:put_chars(code:root_dir()), halt().')/usr/include "
	    "-o $d/child_nif.so tests/erl/child_nif.c && erlc -o $d tests/erl/child_nif.erl && "
	    "unshare -pf --mount-proc $BARE -noshell -pa $d -s child_nif main; rm -r $d", printed);
	ck_assert_msg(strstr(printed, "{{23,23},5}") == printed, "%s", printed);
}
END_TEST

/* A group above ours whose quota is less (erl looks at the own one alone), mounted at a place whose name is written with
 * an escape: this machine's two processors stand for more than one. */
#define BELOW(files) IN_GROUP_AT("a b", "a\\\\040b", "0::/grp/own", "cgroup2 cgroup2 rw", "mkdir own; " files)

static const char *const inherited[][2] = {
	{ BELOW("echo max 100000 > own/cpu.max; echo 100000 100000 > cpu.max"), VERSION_2("100000 100000") },
	{ BELOW("echo 100000 100000 > own/cpu.max; echo max 100000 > cpu.max"), VERSION_2("100000 100000") },
	{ BELOW("echo max 100000 > own/cpu.max; echo 900000000 100000 > cpu.max"), VERSION_2("max 100000") },
};

START_TEST(test_quota_of_a_group_above)
{
	static char expected[OUTPUT_MAX], printed[OUTPUT_MAX];

	if (system("unshare -m true 2> /dev/null") != 0) {
		printf("SKIP quota_of_a_group_above: no name space may be made here\n");
		return;
	}
	run(erlvm(), inherited[_i][1], expected);
	run(erlvm(), inherited[_i][0], printed);
	ck_assert_msg(expected[0] == '[' && strcmp(expected, printed) == 0, "expected: %.500s told: %.500s", expected, printed);
}
END_TEST

/* Where erl ends. */
START_TEST(test_a_filter_of_system_calls_has_a_way_round)
{
	static char printed[OUTPUT_MAX];

	run(erlvm(), "f=$(mktemp) && cc -o $f tests/erl/refusing_filter.c && $f $VM -noshell -eval '"
	    "{ok, L} = gen_tcp:listen(0, [{ip, {127, 0, 0, 1}}]), {ok, Port} = inet:port(L), "
	    "{ok, _} = gen_tcp:connect({127, 0, 0, 1}, Port, []), {ok, _} = gen_tcp:accept(L), "
	    "io:format(\"~p ~p ~p~n\", [os:cmd(\"echo hi\"), is_binary(erlang:system_info(procs)), "
	    "file:read_file_info(\"/none\")]), halt().'; rm -f $f", printed);
	ck_assert_str_eq(printed, "\"hi\\n\" true {error,enoent}\n");
}
END_TEST

#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__) /* they take more of all of it */
/* Where few functions can be named, naming more is an error of who does, and what was named goes on. */
START_TEST(test_names_of_functions_end_where_addresses_do)
{
	static char printed[OUTPUT_MAX];

	run(erlvm(), "(ulimit -v 1500000; $VM +S 1 -noshell -eval '"
	    "Name = fun F(N, A) when N < 4000 -> erlang:make_fun(list_to_atom([$n | integer_to_list(N)]), x, A), "
	    "F(N + A div 255, (A + 1) rem 256); F(_, _) -> all end, "
	    "{system_limit, _} = element(2, catch Name(0, 0)), io:format(\"~p~n\", [lists:sum([1, 2])]), halt(3).'; echo $?)", printed);
	ck_assert_str_eq(printed, "3\n3\n");
}
END_TEST
#endif

/* A VM whose every scheduler is busy or waits says what its threads do. */
START_TEST(test_sigusr2_tells_what_threads_wait_for)
{
	static char printed[OUTPUT_MAX];

	run(erlvm(), "$VM +S 2 -noshell -eval '" KILL_SELF "'; echo $?", printed);
	ck_assert_msg(strstr(printed, "erlvm: SIGUSR2: its threads") != NULL &&
		      strstr(printed, "erlvm: sched_1, ") != NULL && strstr(printed, "erlvm: main, outside: runs") != NULL &&
		      strstr(printed, "waits for work") != NULL && strstr(printed, "up\n3\n") != NULL, "%s", printed);
}
END_TEST

#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__) /* they keep what is freed */
#define RESIDENT "Resident = fun() -> {ok, B} = file:read_file(\"/proc/self/statm\"), " \
	"[_, R | _] = string:lexemes(B, \" \"), binary_to_integer(R) div 256 end, "
#define COMES_DOWN "Down = fun F(_, 0) -> Resident(); F(Most, N) -> case Resident() =< Most of true -> ok; " \
	"false -> timer:sleep(100), F(Most, N - 1) end end, "

/* What 200,000 processes took is the system's again soon after: a fourth of the peak at most is left. */
START_TEST(test_a_peak_is_given_back)
{
	static char printed[OUTPUT_MAX];

	run(erlvm(), "$VM +P 300000 -noshell -eval '" RESIDENT COMES_DOWN
	    "{_, Ref} = spawn_monitor(fun() -> All = [spawn_monitor(fun() -> receive go -> ok end end) || "
	    "_ <- lists:seq(1, 200000)], Most = Resident(), "
	    "[P ! go || {P, _} <- All], [receive {_, R, _, _, _} -> ok end || {_, R} <- All], exit(Most) end), Peak = receive {_, Ref, _, _, Most} -> Most end, "
	    "io:format(\"~p ~p~n\", [Peak > 200, Down(Peak div 4, 300)]), halt().'", printed);
	ck_assert_str_eq(printed, "true ok\n");
}
END_TEST
#endif

/* With +JIT all there is machine code, and no page that can be written and run; code that was changed where it stands,
 * or went, is none any more. Where addresses are limited, or the build has no stencils, the loop does without. */
#define CODE_PAGES "Pages = fun() -> {ok, B} = file:read_file(\"/proc/self/maps\"), " \
	"L = [string:lexemes(M, \" \") || M <- string:lexemes(B, \"\\n\")], {length([P || [_, <<_, $w, $x, _/binary>> = P | _] <- L]), " \
	"length([A || [A, <<\"r-xp\">>, _, _, <<\"0\">>] <- L])} end, "
START_TEST(test_machine_code_cannot_be_written)
{
	static const char script[] = "-noshell -eval '" CODE_PAGES
		"{0, N} = Pages(), M = lists:sort([{X rem 7, X} || X <- lists:seq(1, 5000)]), "
		"erlang:trace_pattern({lists, '\\''_'\\'', '\\''_'\\''}, true, [local]), "
		"T = spawn(fun() -> receive stop -> ok end end), erlang:trace(self(), true, [call, {tracer, T}]), "
		"M = lists:sort(lists:reverse(M)), erlang:trace_pattern({lists, '\\''_'\\'', '\\''_'\\''}, false, [local]), "
		"erlang:trace(self(), false, [all]), timer:sleep(100), {_, Told} = process_info(T, message_queue_len), true = Told > 0, "
		"M = lists:sort(lists:reverse(M)), {0, _} = Pages(), io:format(\"~p~n\", [N > 0]), halt(3).'; echo $?";
	static char printed[OUTPUT_MAX], command[4096];

#if defined(__x86_64__) && !defined(__clang__) && !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
	snprintf(command, sizeof(command), "$VM +JIT all %s; $VM +JIT leaving %s", script, script);
	run(erlvm(), command, printed);
	ck_assert_str_eq(printed, "true\n3\ntrue\n3\n");
#endif
	snprintf(command, sizeof(command), "$VM +JIT off %s", script);
	run(erlvm(), command, printed);
	ck_assert_str_eq(printed, "false\n3\n");
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
	run(erlvm(), "(ulimit -v 1500000; $VM +S 1 +JIT all -noshell -eval '" CODE_PAGES
	    "io:format(\"~p~n\", [Pages()]), halt(3).' 2>/dev/null; echo $?)", printed);
	ck_assert_str_eq(printed, "{0,0}\n3\n");
#endif
}
END_TEST

#if defined(__x86_64__) && !defined(__clang__) && !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
/* A module that is busy for a while gets machine code, one that is not has none; a breakpoint takes it away, and it comes back when
 * that has gone. */
START_TEST(test_hot_modules_get_machine_code)
{
	static const char script[] = "-noshell -eval '"
		"Has = fun() -> {ok, B} = file:read_file(\"/proc/self/maps\"), lists:sum([begin "
		"[From, To] = [binary_to_integer(E, 16) || E <- string:lexemes(A, \"-\")], To - From end || "
		"[A, <<\"r-xp\">>, _, _, <<\"0\">>] <- [string:lexemes(M, \" \") || M <- string:lexemes(B, \"\\n\")]]) end, "
		"Spend = fun F(0) -> ok; F(N) -> lists:foldl(fun(X, S) -> X bxor S end, 0, lists:seq(1, 20000)), F(N - 1) end, "
		"jit = erlang:system_info(emu_flavor), "
		"Until = fun U(0, _) -> never; U(N, Is) -> case Is() of true -> ok; false -> Spend(50), U(N - 1, Is) end end, "
		"Cold = Has(), ok = Until(200, fun() -> Has() > Cold end), Spend(1000), Warm = Has(), "
		"1 = erlang:trace_pattern({lists, foldl, 3}, true, [local]), true = Has() < Warm, Spend(200), "
		"erlang:trace_pattern({lists, foldl, 3}, false, [local]), ok = Until(200, fun() -> Has() >= Warm end), "
		"io:format(\"~p~n\", [Cold < Warm]), halt(3).'; echo $?";
	static const char *const flags[] = { "+JIT hot", "" /* the default */ };
	static char printed[OUTPUT_MAX], command[4096];

	for (size_t i = 0; i < sizeof(flags) / sizeof(*flags); i++) {
		snprintf(command, sizeof(command), "$VM %s %s", flags[i], script);
		run(erlvm(), command, printed);
		ck_assert_str_eq(printed, "true\n3\n");
	}
}
END_TEST

/* Eight schedulers, more than there are processors, run in a module that is large enough for others to see it run, too,
 * while one makes its machine code. Each time it is loaded anew. */
START_TEST(test_hot_modules_are_made_by_one_scheduler)
{
	static char printed[OUTPUT_MAX];

	run(erlvm(), "D=$(mktemp -d); cat > $D/hot.erl << 'END'\n"
		"-module(hot).\n-export([main/0]).\n"
		"main() ->\n"
		"    {ok, M, Code} = compile:forms(forms(), [no_ssa_opt, no_type_opt, no_copt]),\n"
		"    [{8, []} = {N, load(M, Code, N) -- lists:duplicate(N, 500000500000)} || N <- lists:duplicate(10, 8)],\n"
		"    io:format(\"~s~n\", [done]), halt(3).\n"
		"load(M, Code, N) ->\n"
		"    {module, M} = code:load_binary(M, \"hot_loaded\", Code),\n"
		"    All = [spawn_monitor(fun() -> exit(M:go(1000000, 0)) end) || _ <- lists:seq(1, N)],\n"
		"    Sums = [receive {'DOWN', R, process, P, Sum} -> Sum end || {P, R} <- All],\n"
		"    code:purge(M),\n"
		"    Sums.\n"
		"forms() ->\n"
		"    Other = \"(A, [B | C], {D, E}) -> case A + B of D -> {C, [E, B]}; X when X > 7 -> {X, E}; _ -> [A, B | C] end.\",\n"
		"    [form(\"-module(hot_loaded).\"), form(\"-compile([export_all]).\"),\n"
		"     form(\"go(0, Sum) -> Sum; go(N, Sum) -> go(N - 1, Sum + N).\") |\n"
		"     [form(\"f\" ++ integer_to_list(N) ++ Other) || N <- lists:seq(1, 1500)]].\n"
		"form(Text) -> {ok, Tokens, _} = erl_scan:string(Text), {ok, Form} = erl_parse:parse_form(Tokens), Form.\n"
		"END\n"
		"erlc -o $D $D/hot.erl && (ulimit -d 4000000; $VM +S 8 +JIT hot -noshell -pa $D -s hot main 2>&1; echo $?); rm -r $D", printed);
	ck_assert_str_eq(printed, "done\n3\n");
}
END_TEST

/* +JIT leaving, which other tests run with, is no other name of all: each operation has more machine code. */
START_TEST(test_machine_code_that_is_left_at_random_is_longer)
{
	static char printed[OUTPUT_MAX];
	unsigned long all, leaving;

	run(erlvm(), "for mode in all leaving; do\n"
	    "p=$($VM +S 1 +JIT $mode +JPperf map -noshell -eval 'io:format(\"~s~n\", [os:getpid()]), halt().')\n"
	    "awk '$3 == \"$lists:map/2\" { print $2 }' /tmp/perf-$p.map; rm -f /tmp/perf-$p.map; done", printed);
	ck_assert_msg(sscanf(printed, "%lx %lx", &all, &leaving) == 2, "%s", printed);
	ck_assert_msg(leaving > all + all / 4, "%s", printed);
}
END_TEST

/* What was asked for and cannot be had is said once, and the program runs. The system call makes the kernel refuse memory that is run and was written. */
START_TEST(test_machine_code_that_is_refused_is_said)
{
	static char printed[OUTPUT_MAX];

	run(erlvm(), "$VM +JIT some -noshell -eval 'halt().' 2>&1; echo $?", printed);
	ck_assert_msg(strstr(printed, "+JIT takes all, hot or off, not some") != NULL && strstr(printed, "\n1\n") != NULL, "%s", printed);
	run(erlvm(), "(ulimit -v 1500000; $VM +S 1 +JIT hot -noshell -eval 'io:format(\"~p~n\", [erlang:system_info(emu_flavor)]), halt(3).' 2>&1; echo $?)", printed);
	ck_assert_str_eq(printed, "erlvm: +JIT: no machine code, all is interpreted: there is no room of addresses for it (ulimit -v)\nemu\n3\n");
	run(erlvm(), "(ulimit -v 1500000; $VM +S 1 -noshell -eval 'io:format(\"~p~n\", [erlang:system_info(emu_flavor)]), halt(3).' 2>&1; echo $?)", printed);
	ck_assert_str_eq(printed, "emu\n3\n");
	run(erlvm(), "python3 -c 'import ctypes, os, sys; print(ctypes.CDLL(None).prctl(65, 1, 0, 0, 0), flush=True); os.execvp(sys.argv[1], sys.argv[1:])' "
	    "$VM +JIT all -noshell -eval 'io:format(\"~p~n\", [lists:sum(lists:seq(1, 100))]), halt(3).' 2>&1; echo $?", printed);
	if (strncmp(printed, "0\n", 2) != 0)
		printf("SKIP %s: the kernel is older than 6.3 and cannot be told to refuse it\n", __func__);
	else
		ck_assert_str_eq(printed, "0\nerlvm: +JIT: no machine code, all is interpreted: the system refuses memory that is run\n5050\n3\n");
}
END_TEST

/* +JPperf: the map has a line for each function, in its own part of the machine code; the dump, which perf takes for one, the code too. */
START_TEST(test_machine_code_has_names_for_perf)
{
	static char printed[OUTPUT_MAX];

	run(erlvm(), "p=$($VM +JIT all +JPperf true -noshell -eval 'io:format(\"~s~n\", [os:getpid()]), halt().')\n"
	    "grep -c ' \\$lists:map/2$' /tmp/perf-$p.map; grep -c ' \\$lists::exits$' /tmp/perf-$p.map\n"
	    "python3 -c 'import sys\nat = 0\nfor line in sorted((int(w[0], 16), int(w[1], 16)) for w in map(str.split, open(sys.argv[1]))):\n"
	    "    assert line[1] > 0 and line[0] >= at, line\n    at = line[0] + line[1]\nprint(\"apart\")\n' /tmp/perf-$p.map\n"
	    "head -c 4 /tmp/jit-$p.dump; echo; grep -ac 'lists:map/2' /tmp/jit-$p.dump | sed 's/[1-9][0-9]*/some/'; rm -f /tmp/perf-$p.map /tmp/jit-$p.dump\n"
	    "p=$($VM +JIT all +JPperf map -noshell -eval 'io:format(\"~s~n\", [os:getpid()]), halt().')\n"
	    "ls /tmp/jit-$p.dump 2>&1 | grep -c cannot; rm /tmp/perf-$p.map; $VM +JPperf sometimes 2>&1", printed);
	ck_assert_msg(strstr(printed, "1\n1\napart\nDTiJ\nsome\n1\n") == printed && strstr(printed, "+JPperf takes true, false, map, dump, fp or no_fp, not sometimes"),
		      "%s", printed);
}
END_TEST
#endif

Suite *machine_suite(void)
{
	Suite *s = suite_create("machine");
	TCase *t = tcase_create("machine");

	tcase_add_checked_fixture(t, erlvm_needed, NULL);
	tcase_set_timeout(t, 2 * SECONDS);
	tcase_add_loop_test(t, test_as_erl, 0, sizeof(scripts) / sizeof(scripts[0]));
	tcase_add_loop_test(t, test_enclosed_as_erl, 0, sizeof(enclosed) / sizeof(enclosed[0]));
	tcase_add_loop_test(t, test_quotas_of_both_versions, 0, sizeof(quotas) / sizeof(quotas[0]));
	tcase_add_test(t, test_programs_of_natives_are_left_to_them);
	tcase_add_loop_test(t, test_quota_of_a_group_above, 0, sizeof(inherited) / sizeof(inherited[0]));
	tcase_add_test(t, test_a_filter_of_system_calls_has_a_way_round);
	tcase_add_test(t, test_sigusr2_tells_what_threads_wait_for);
	tcase_add_test(t, test_machine_code_cannot_be_written);
#if defined(__x86_64__) && !defined(__clang__) && !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
	tcase_add_test(t, test_hot_modules_get_machine_code);
	tcase_add_test(t, test_hot_modules_are_made_by_one_scheduler);
	tcase_add_test(t, test_machine_code_that_is_left_at_random_is_longer);
	tcase_add_test(t, test_machine_code_that_is_refused_is_said);
	tcase_add_test(t, test_machine_code_has_names_for_perf);
#endif
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
	tcase_add_test(t, test_names_of_functions_end_where_addresses_do);
	tcase_add_test(t, test_a_peak_is_given_back);
#endif
	suite_add_tcase(s, t);
	return s;
}
