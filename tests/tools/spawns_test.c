/* SPDX-License-Identifier: Apache-2.0 */
/* erlsnoop spawns, held against what the emitter really fired. */
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

#include "support.h"

/* As much of an atom as is kept: 71 bytes. */
#define LONG "zzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzz"

START_TEST(test_spawns_counts_births_and_deaths)
{
    SUPPORT_BPF();
    const struct support_run *r =
        support_run("$ERLSNOOP spawns --json -- $EMITTER process__spawn=23 process__exit=17");

    ck_assert_int_eq(r->status, 0);
    ck_assert_int_eq(support_number(r->out, "\"type\":\"spawns\"", "births"), 23);
    ck_assert_int_eq(support_number(r->out, "\"type\":\"spawns\"", "deaths"), 17);
    ck_assert_int_eq(support_number(r->out, "\"type\":\"spawns\"", "unseen"), 0);
    ck_assert_int_eq(support_number(r->out, "spawns_lifetimes", "count"), 17);
    ck_assert_int_eq(support_lines(r->out, "\"lost\""), 0);
}
END_TEST

START_TEST(test_spawns_names_mfas_and_reasons)
{
    SUPPORT_BPF();
    const struct support_run *r = support_run(
        "$ERLSNOOP spawns --json -- $EMITTER 'process__spawn=13||a:f/1' 'process__spawn=7||b:g/2' "
        "'process__exit=5||killed' 'process__exit=3||{bad,\"x|y\"}'");

    ck_assert_int_eq(support_number(r->out, "a:f/1", "count"), 13);
    ck_assert_int_eq(support_number(r->out, "b:g/2", "count"), 7);
    ck_assert_int_eq(support_number(r->out, "killed", "count"), 5);
    ck_assert_int_eq(support_number(r->out, "{bad", "count"), 3);
}
END_TEST

/* What a note says of a reason is cut down to its shape, whatever bytes it holds. */
START_TEST(test_spawns_cuts_reasons_to_their_shape)
{
    static const struct {
        const char *texts, *rows;
    } runs[] = {
        {"'{bye,17}' '{bye,18}' '{bye}' '[bye]' '[bye|17]' '[97,98]' '\"ab\"' '[]' '{}' '{{bye}}' '{{{a}}}' '{{bye,1},2}' '{[bye,1],1}' '-999' '{1000,1}' "
         "'0.5' '{-1.5e-7,1}' '-' 'a b'",
         "-999 1\n0 1\n[...] 2\n[] 1\n[bye] 1\n[bye|...] 1\na 1\nfloat() 1\n{[bye|...],...} 1\n{bye,...} 2\n{bye} 1\n{float(),...} 1\n"
         "{integer(),...} 1\n{{bye,...},...} 1\n{{bye},...} 1\n{{{...},...},...} 1\n{} 1\n"},
        {"'#{a => 1}' '{#Ref<0.1.2.3>,1}' '#Port<0.1>' '#Fun<a.1.2>' 'fun lists:map/2' '<0.1.2>' '<<1,2>>' \"{'{a}',1}\" \"{'a\\\\'b',1}\" "
         "\"'never closed\" '{' '[{' 'Upper' '{{{{{{{{' \"$(printf '%0200d' 0 | tr 0 z)\" \"{$(printf '%0200d' 0 | tr 0 z)}\" $'\\xc3\\xb6,'",
         "#Fun<...> 2\n#{...} 1\n'never closed 1\n<<...>> 1\n? 1\n[{?,...}|...] 1\npid() 1\nport() 1\n" LONG " 1\n{#Ref<...>,...} 1\n{'a\\'b',...} 1\n"
         "{'{a}',...} 1\n{?,...} 1\n{" LONG ",...} 1\n{{{...},...},...} 1\n\xc3\xb6 1\n"}};

    SUPPORT_BPF();
    const struct support_run *r = support_run(
        "for text in %s; do set -- \"$@\" \"process__exit=1||$text\"; done\n"
        "$ERLSNOOP spawns --json -- $EMITTER \"$@\" | grep -a '^{' > told; python3 - <<'END'\n"
        "import json\n"
        "rows = [(row['reason'], row['count']) for row in map(json.loads, open('told')) if row['type'] == 'spawns_by_reason']\n"
        "for row in sorted(rows): print(*row)\n"
        "END", runs[_i].texts);

    ck_assert_str_eq(r->out, runs[_i].rows);
}
END_TEST

START_TEST(test_spawns_measures_lifetimes)
{
    SUPPORT_BPF();
    const struct support_run *r = support_run("$ERLSNOOP spawns --json -- $EMITTER -r 7 -d 20000 "
                                              "process__spawn=1 process__exit=1");

    ck_assert_int_eq(support_number(r->out, "spawns_lifetimes", "count"), 7);
    ck_assert_int_ge(support_number(r->out, "spawns_lifetimes", "sum_ns"), 7 * 20000000);
    ck_assert_int_ge(support_number(r->out, "spawns_lifetimes", "max_ns"), 20000000);
}
END_TEST

START_TEST(test_spawns_events_one_line_each)
{
    SUPPORT_BPF();
    const struct support_run *r = support_run(
        "$ERLSNOOP spawns --json --events -- $EMITTER process__spawn=23 process__exit=29");

    ck_assert_int_eq(support_lines(r->out, "\"event\":\"birth\""), 23);
    ck_assert_int_eq(support_lines(r->out, "\"event\":\"death\""), 29);
    ck_assert_int_eq(support_lines(r->out, "\"lived_ns\""), 23);
    ck_assert(strstr(r->out, "\"pid\":\"<0.122.0>\"") != NULL);
}
END_TEST

START_TEST(test_spawns_escapes_hostile_text)
{
    SUPPORT_BPF();
    const struct support_run *r = support_hostile("spawns", "\"process__spawn=1||$evil\"");

    ck_assert_int_eq(support_lines(r->out, "x1b"), 2);
}
END_TEST

START_TEST(test_spawns_counts_what_is_no_pid_as_lost)
{
    SUPPORT_BPF();
    const struct support_run *r = support_run(
        "$ERLSNOOP spawns --json -- $EMITTER 'process__spawn=3|<0.4294967295.0>' "
        "'process__exit=1|<0.4294967296.0>' 'process__exit=1|<0..0>' 'process__exit=2|#Port<0.1>' "
        "'process__exit=1|<1.2.3>x' 'process__exit=1|<>' "
        "'process__exit=1|<0.0000000000000000000000000000001.1>'");

    ck_assert_int_eq(support_number(r->out, "\"type\":\"spawns\"", "births"), 3);
    ck_assert_int_eq(support_number(r->out, "\"type\":\"spawns\"", "deaths"), 0);
    ck_assert_int_eq(support_number(r->out, "no pid", "count"), 7);
}
END_TEST

START_TEST(test_spawns_full_map_is_counted_and_totals_stay_exact)
{
    SUPPORT_BPF();
    const struct support_run *r =
        support_run("$ERLSNOOP spawns --json -- $EMITTER 'process__spawn=9001||m%%d:f/0'");

    ck_assert_int_eq(support_number(r->out, "\"type\":\"spawns\"", "births"), 9001);
    support_told_or_lost(r, "\"type\":\"spawns_by_mfa\"", 9001, 8192);
}
END_TEST

/* Ids that are equal modulo 262144, and so modulo the number of places, share a place. */
START_TEST(test_spawns_measures_lifetimes_of_processes_that_share_a_place)
{
    SUPPORT_BPF();
    const struct support_run *r = support_run(
        "$ERLSNOOP spawns --json --events -- $EMITTER -d 20000 'process__spawn=1|<0.7.0>' 'process__spawn=1|<0.262151.0>' "
        "'process__spawn=1|<0.7.1>' 'process__exit=1|<0.7.0>' 'process__exit=1|<0.262151.0>' 'process__exit=1|<0.7.1>' "
        "'process__exit=1|<0.7.0>' 'process__spawn=1|<0.7.0>' 'process__exit=1|<0.7.0>'");

    ck_assert_int_eq(support_number(r->out, "spawns_lifetimes", "count"), 4);
    ck_assert_int_ge(support_number(r->out, "spawns_lifetimes", "sum_ns"), 10 * 20000000);
    ck_assert_int_eq(support_number(r->out, "\"type\":\"spawns\"", "unseen"), 1);
}
END_TEST

START_TEST(test_spawns_target_that_dies_gives_result)
{
    SUPPORT_BPF();
    const struct support_run *r = support_run(
        "$EMITTER -s 60 -w go process__spawn=23 > counts & p=$!; runs $p emitter\n"
        "$ERLSNOOP spawns --json -p $p & e=$!\n"
        "attached $e; touch go; await counts; kill -9 $p; wait $e");

    ck_assert_int_eq(r->status, 0);
    ck_assert_int_eq(support_number(r->out, "\"type\":\"spawns\"", "births"), 23);
    ck_assert(strstr(r->err, "ended") != NULL);
}
END_TEST

START_TEST(test_spawns_target_that_becomes_another_program_gives_result)
{
    SUPPORT_BPF();
    const struct support_run *r = support_run(
        "printf '#!/bin/sh\\nsleep 60\\n' > next; chmod +x next; $EMITTER -w go -x ./next process__spawn=23 & p=$!; runs $p emitter\n"
        "$ERLSNOOP spawns --json -p $p & e=$!; attached $e; touch go; wait $e");

    ck_assert_int_eq(r->status, 0);
    ck_assert_int_eq(support_number(r->out, "\"type\":\"spawns\"", "births"), 23);
    ck_assert(strstr(r->err, "runs another program now") != NULL);
}
END_TEST

START_TEST(test_spawns_interrupt_gives_result_and_detaches)
{
    SUPPORT_BPF();
    support_interrupt("spawns", "-d 1000 process__spawn=41", "\"type\":\"spawns\"", "births");
}
END_TEST

/* As in a container whose filter knows no membarrier. */
static void refuse_membarrier(void)
{
    struct sock_filter code[] = {BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
                                 BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_membarrier, 0, 1),
                                 BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
                                 BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)};
    const struct sock_fprog filter = {sizeof code / sizeof *code, code};

    ck_assert_int_eq(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), 0);
    ck_assert_int_eq(prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter), 0);
}

/*
 * Results that come one upon the other lose nothing, and say nothing but what is watched, where the kernel is asked in
 * another way.
 */
START_TEST(test_spawns_intervals_add_up_without_membarrier)
{
    SUPPORT_BPF();
    refuse_membarrier();
    const struct support_run *r = support_run("$ERLSNOOP spawns --json 0.1 -- $EMITTER -d 100 process__spawn=5003");

    ck_assert_int_eq(r->status, 0);
    ck_assert_int_ge(support_lines(r->out, "\"type\":\"spawns\""), 3);
    ck_assert_int_eq(support_sum(r->out, "\"type\":\"spawns\"", "births"), 5003);
    ck_assert_int_eq(support_lines(r->err, "erlsnoop: "), 1);
    ck_assert_ptr_nonnull(strstr(r->err, "Ctrl-C ends\n"));
}
END_TEST

/*
 * As before Linux 6.1, where a hash that allocates its entries as they are made has the kernel warn: there is none
 * (storage of threads is no hash), and those that are there beforehand take no more memory than is said (64 MB, and what
 * is no such hash).
 */
START_TEST(test_spawns_works_with_entries_made_beforehand)
{
    static const char *const commands[] = {"spawns", "watch spawns,msglat,gc,sched,exits,efile,ports,nifs,dist,inet"};

    SUPPORT_BPF();
    const struct support_run *r = support_run(
        "$EMITTER -w go process__spawn=23 process__exit=23 & p=$!; runs $p emitter\n"
        "ERLSNOOP_FILLED_MAPS=1 $ERLSNOOP %s --json -p $p > out & e=$!; attached $e\n"
        "cat /proc/$e/fdinfo/* > maps 2> /dev/null; touch go; wait $e; s=$?; cat out\n"
        "awk '/^map_type:/ { hash = $2 == 1 || $2 == 5 } /^map_flags:.*0x1$/ && hash { late++ } "
        "/^memlock:/ && hash { sum += $2 } END { printf \"{\\\"late\\\":%%d,\\\"bytes\\\":%%d}\\n\", late, sum }' maps; exit $s",
        commands[_i]);

    ck_assert_msg(!r->status, "%s", r->err);
    ck_assert_int_eq(support_number(r->out, "\"type\":\"spawns\"", "births"), 23);
    ck_assert_int_eq(support_number(r->out, "\"type\":\"spawns\"", "deaths"), 23);
    ck_assert_int_eq(support_number(r->out, "\"late\"", "late"), 0);
    ck_assert_int_gt(support_number(r->out, "\"late\"", "bytes"), 1 << 20);
    ck_assert_int_lt(support_number(r->out, "\"late\"", "bytes"), 96 << 20);
}
END_TEST

START_TEST(test_spawns_interval_and_count)
{
    SUPPORT_BPF();
    const struct support_run *r = support_run(
        "$ERLSNOOP spawns --json 0.2 -- $EMITTER -d 50000 process__spawn=23 | "
        "grep '\"spawns\"' | tee /dev/stderr | grep -o 'births\":[0-9]*' | cut -d: -f2 | "
        "awk '{ n++; s += $1 } END { print \"{\\\"lines\\\":\" n \",\\\"sum\\\":\" s \"}\" }'");

    ck_assert_int_ge(support_number(r->out, "lines", "lines"), 5);
    ck_assert_int_eq(support_number(r->out, "lines", "sum"), 23);
    r = support_run("$ERLSNOOP spawns --json 0.2 5 -- $EMITTER -s 60 process__spawn=23 | grep -c '\"spawns\"'");
    ck_assert_str_eq(r->out, "5\n");
}
END_TEST

/*
 * A VM that a script starts, which does what it does and ends at once, is held until every probe is on: nothing of it
 * is missed, however busy the machine is. Nor is the script's own status.
 */
START_TEST(test_spawns_misses_nothing_of_a_vm_that_a_script_starts)
{
    SUPPORT_BPF();
    const struct support_run *r = support_run(
        "cat > brief.erl << 'END'\n-module(brief).\n-export([start/0, child/0]).\nchild() -> ok.\n"
        "start() -> [spawn(brief, child, []) || _ <- lists:seq(1, 101)], halt(0).\nEND\nerlc brief.erl\n"
        "printf '#!/bin/sh\\ntrue; (true; exec '$ERLVM' -quick -pa . -s brief); exit 3\\n' > script; chmod +x script\n"
        "for i in 1 2 3; do (while :; do :; done) & done 2> /dev/null\n"
        "for source in batches notes batches; do $ERLSNOOP spawns --source $source --json -- ./script; done; "
        "kill $(jobs -p)");

    ck_assert_msg(support_lines(r->out, "\"mfa\":\"brief:child/0\"") == 3, "%s%s", r->out, r->err);
    ck_assert_int_eq(support_sum(r->out, "\"mfa\":\"brief:child/0\"", "count"), 303);
    ck_assert_int_eq(support_lines(r->err, "ended with status 3"), 3);
}
END_TEST

START_TEST(test_spawns_closed_pipe_is_a_clean_exit)
{
    SUPPORT_BPF();
    const struct support_run *r = support_run(
        "$ERLSNOOP spawns --events -- $EMITTER -d 1000 process__spawn=3000 | head -2; "
        "exit ${PIPESTATUS[0]}");

    ck_assert_int_eq(r->status, 0);
    ck_assert_int_eq(support_lines(r->err, ""), support_lines(r->err, "erlsnoop: watching "));
}
END_TEST

START_TEST(test_spawns_full_disk_is_a_failure)
{
    SUPPORT_BPF();
    const struct support_run *r =
        support_run("$ERLSNOOP spawns --json -- $EMITTER process__spawn=1 > /dev/full");

    ck_assert_int_eq(r->status, 1);
    ck_assert_int_eq(support_lines(r->err, "erlsnoop: cannot write"), 1);
}
END_TEST

START_TEST(test_spawns_all_sees_two_vms_of_one_file)
{
    SUPPORT_BPF();
    const struct support_run *r = support_two_vms("spawns", "'process__spawn=13||two_vms:a/1'", "'process__spawn=11||two_vms:b/1'", ".");

    ck_assert_int_eq(support_number(r->out, "two_vms:a/1", "count"), 13);
    ck_assert_int_eq(support_number(r->out, "two_vms:b/1", "count"), 11);
}
END_TEST

START_TEST(test_spawns_command_behind_a_script)
{
    SUPPORT_BPF();
    const struct support_run *r = support_run(
        "printf '#!/bin/sh\\n$EMITTER -e process__spawn=23\\n' > vm; chmod +x vm; $ERLSNOOP spawns --json -- ./vm");

    ck_assert_int_eq(r->status, 0);
    ck_assert_int_eq(support_number(r->out, "\"type\":\"spawns\"", "births"), 23);
}
END_TEST

START_TEST(test_spawns_table_fits_80_columns)
{
    SUPPORT_BPF();
    const struct support_run *r = support_run(
        "terminal 80 \"$ERLSNOOP spawns --events -T -- $EMITTER 'process__spawn=3||%0100d:f/1' process__exit=3\"", 7);

    ck_assert_int_eq(r->status, 0);
    ck_assert_int_le(support_width(r->out), 80);
    ck_assert(strstr(r->out, "LIVED") && strstr(r->out, "p99.9"));
}
END_TEST

/* Characters of East Asia take two columns each: a line of them fits, too. */
START_TEST(test_spawns_wide_characters_fit_the_terminal)
{
    SUPPORT_BPF();
    const struct support_run *r = support_run(
        "wide=$(printf '\xe5\x90\x8d%%.0s' {1..25}); terminal 60 \"$ERLSNOOP spawns -- $EMITTER 'process__spawn=3||$wide:f/1'\" > t\n"
        "python3 -c \"lines = [l for l in open('t', encoding='utf-8') if '\\u540d' in l]; print(len(lines), *[len(l) - 1 + l.count('\\u540d') for l in lines])\"");
    int lines = 0, columns = 0;

    ck_assert_msg(sscanf(r->out, "%d %d", &lines, &columns) == 2 && lines == 1, "%s%s", r->out, r->err);
    ck_assert_int_ge(columns, 59);
    ck_assert_int_le(columns, 60);
}
END_TEST

/* A name of 69 columns: whole into a pipe, and on a terminal as far as its line goes. COLUMNS is what the user says the line is. */
START_TEST(test_spawns_names_are_cut_to_the_terminal_only)
{
    static const char name[] = "'Erlang.A.Name.That.Is.Longer.Than.A.Line.Of.The.Narrow.Terminal':init/1";
    static const struct {
        const char *run;
        int width; /* 0: nothing is cut */
    } runs[] = {{"run", 0}, {"run > file; cat file", 0}, {"COLUMNS=60 run", 0}, {"terminal 0 \"$run\"", 80}, {"terminal 70 \"$run\"", 70},
                {"terminal 200 \"$run\"", 0}, {"COLUMNS=90 terminal 200 \"$run\"", 90}};

    SUPPORT_BPF();
    const struct support_run *r = support_run(
        "cat > emit <<'END'\n#!/bin/bash\nexec $EMITTER -e \"process__spawn=12345||%s\" process__spawn=2\nEND\n"
        "chmod +x emit; run=\"$ERLSNOOP spawns -- ./emit\"; run() { $run; }; %s", name, runs[_i].run);
    const char *head = strstr(r->out, "%      VM INITIAL CALL"), *line = head ? strchr(head, '\n') : NULL;

    ck_assert_msg(line != NULL, "%s%s", r->out, r->err);
    if (runs[_i].width)
        ck_assert_int_eq(support_width(r->out), runs[_i].width);
    else
        ck_assert_ptr_ne(strstr(line, name), NULL);
    while (head > r->out && head[-1] != '\n')
        head--;
    ck_assert_int_eq(strcspn(line + 1, "'"), strstr(head, "INITIAL") - head);
}
END_TEST

/* A prefix that the kernel does not step over stands where the probe's nop was. */
/* VMs that come and go must not hold up the results: two have counted births before the last of 400 was started. */
START_TEST(test_spawns_all_keeps_pace_with_vms_that_come_and_go)
{
    SUPPORT_BPF();
    const struct support_run *r = support_run(
        "$ERLSNOOP spawns -a --json 1 > told & e=$!\n"
        "storm() { for i in {1..200}; do [ ! -e enough ] || return; erl -noshell -eval 'spawn(fun() -> ok end), halt().'; done\n"
        "  touch late; }\n"
        "storm & storm &\n"
        "until [ $(grep -c '\"births\":[1-9]' told) -ge 2 ] || [ -e late ]; do sleep .1; done\n"
        "ls late; touch enough; kill -INT $e; wait $e; s=$?; wait; exit $s");

    ck_assert_int_eq(r->status, 0);
    ck_assert_str_eq(r->out, "");
}
END_TEST

START_TEST(test_spawns_all_goes_on_past_a_file_that_cannot_be_watched)
{
    SUPPORT_BPF();
    const struct support_run *r = support_run(
        "python3 -c 'import os, struct\n"
        "b = bytearray(open(os.environ[\"EMITTER\"], \"rb\").read())\n"
        "i = b.index(b\"erlang\\0process__spawn\\0\") - 24\n"
        "b[struct.unpack_from(\"<Q\", b, i)[0]] = 0xf0\n"
        "open(\"bad\", \"wb\").write(b)'\n"
        "cp $EMITTER good; chmod +x bad; ./bad -w never process__exit=1 & b=$!; runs $b bad\n"
        "./good -w go process__spawn=23 & g=$!; runs $g good; $ERLSNOOP spawns --json -a --ready-fd 3 3> ready & s=$!\n"
        "await ready; touch go; wait $g; kill -INT $s; wait $s; e=$?; kill $b; exit $e");

    ck_assert_int_eq(r->status, 0);
    ck_assert_int_ge(support_number(r->out, "\"type\":\"spawns\"", "births"), 23);
    ck_assert_ptr_ne(strstr(r->err, "notes of 'bad' are left alone"), NULL);
}
END_TEST

/* More than are looked at side by side: those that ran before erlsnoop, and as many that come later. No other is seen. */
START_TEST(test_spawns_all_attaches_to_many_at_once)
{
    SUPPORT_BPF();
    const struct support_run *r = support_run(
        "export -f links runs; unshare -pf --mount-proc bash -c '\n"
        "vms() { for i in {1..9}; do cp $EMITTER $1$i; ./$1$i -e -w go process__spawn=23 > $1$i.out &\n"
        "v=\"$v $!\"; runs $! $1$i; done; }\n"
        "vms first; $ERLSNOOP spawns --json -a --ready-fd 3 3> ready & s=$!\n"
        "until [ -s ready ]; do kill -0 $s || break; sleep .02; done; n=$(links $s); vms later\n"
        "until [ $(links $s) -ge $((2 * n)) ]; do kill -0 $s || break; sleep .05; done\n"
        "touch go; wait $v; kill -INT $s; wait $s'");

    ck_assert_int_eq(r->status, 0);
    ck_assert_int_eq(support_number(r->out, "\"type\":\"spawns\"", "births"), 2 * 9 * 23);
}
END_TEST

/*
 * While no file can be opened /proc cannot be read, which is said, and the first VM is not taken for one that has ended;
 * while one can, which /proc is, the new VM cannot be looked at. That it is said twice shows that /proc was read in
 * between. Later both VMs are seen. No other VM runs there. What is open between two looks is what is open at the
 * quietest of many moments.
 */
START_TEST(test_spawns_all_looks_again_at_a_file_that_could_not_be_opened)
{
    SUPPORT_BPF();
    const struct support_run *r = support_run(
        "export -f links runs await wait_for attached turns; unshare -pf --mount-proc bash -c '\n"
        "$EMITTER -e -w go \"process__spawn=19||first:vm/0\" & f=$!; $ERLSNOOP spawns --json -a --ready-fd 3 3> ready 2> said & s=$!\n"
        "await ready; old=$(ulimit -n); may_open() { prlimit --pid $s --nofile=$1:; turns $s 4; }\n"
        "free() { n=0; while [ -h /proc/$s/fd/$n ]; do n=$((n + 1)); done; echo $n; }\n"
        "one=$(for i in {1..60}; do free; sleep .03; done | sort -n | head -1); n=$(links $s); may_open $one\n"
        "cp $EMITTER vm; ./vm -e -w go \"process__spawn=23||late:vm/0\" & v=$!; runs $v vm\n"
        "until [ $(grep -c \"cannot read /proc: Too many open files\" said) = 2 ]; do kill -0 $s || break; may_open $((one + 1)); may_open $one; done\n"
        "[ $(links $s) = $n ] && echo refused; prlimit --pid $s --nofile=$old:; attached $s $n; touch go\n"
        "wait $v $f; kill -INT $s; wait $s; r=$?; cat said >&2; exit $r'");

    ck_assert_msg(r->status == 0, "%d: %s", r->status, r->err);
    ck_assert_ptr_ne(strstr(r->out, "refused\n"), NULL);
    ck_assert_int_eq(support_number(r->out, "first:vm/0", "count"), 19);
    ck_assert_int_eq(support_number(r->out, "late:vm/0", "count"), 23);
}
END_TEST

/* The same inode, first of a program that is no VM. */
START_TEST(test_spawns_all_looks_again_at_a_file_that_changed)
{
    SUPPORT_BPF();
    const struct support_run *r = support_run(
        "$EMITTER -w never process__exit=1 & $ERLSNOOP spawns --json -a --ready-fd 3 3> ready & s=$!\n"
        "await ready; cp $(command -v sleep) vm; ./vm 60 & v=$!; runs $v vm; turns $s 4; kill $v; wait $v; n=$(links $s); cat $EMITTER > vm\n"
        "./vm -e -w go 'process__spawn=23||changed:vm/0' & v=$!; attached $s $n; touch vm; turns $s 4; touch go\n"
        "wait $v; kill -INT $s; wait $s");

    ck_assert_int_eq(r->status, 0);
    ck_assert_int_eq(support_number(r->out, "changed:vm/0", "count"), 23);
}
END_TEST

/* A site a function, in a program of ours that is compiled here; what it points to must be in memory, so it is written first. */
START_TEST(test_spawns_counts_every_one_of_many_sites)
{
    static const char *const ways[] = {"", "ERLSNOOP_PERF_EVENTS=1 "};

    SUPPORT_BPF();
    const struct support_run *r = support_run(
        "{ echo '#include \"usdt.h\"'; echo 'static char text[] = \"<0.1.0>\";'\n"
        "for i in {1..139}; do echo \"static PROBE_COLD void fire_$i(void) { PROBE_FIRE(process__spawn, text, text); }\"; done\n"
        "echo 'int main(void) { *(volatile char *)text = 60;'; printf 'fire_%%d();' {1..139}; echo '}'; } > many.c\n"
        "gcc -D_GNU_SOURCE -O1 -mno-red-zone -I$SOURCE/vm many.c $SOURCE/vm/usdt.c -o many && %s$ERLSNOOP spawns --json -- ./many",
        ways[_i]);

    ck_assert_int_eq(r->status, 0);
    ck_assert_int_eq(support_number(r->out, "spawns_by_mfa", "count"), 139);
}
END_TEST

Suite *spawns_suite(void)
{
    Suite *suite = suite_create("spawns");
    TCase *live = tcase_create("live");

    tcase_set_timeout(live, 60);
    tcase_add_test(live, test_spawns_counts_births_and_deaths);
    tcase_add_test(live, test_spawns_names_mfas_and_reasons);
    tcase_add_loop_test(live, test_spawns_cuts_reasons_to_their_shape, 0, 2);
    tcase_add_test(live, test_spawns_measures_lifetimes);
    tcase_add_test(live, test_spawns_events_one_line_each);
    tcase_add_test(live, test_spawns_escapes_hostile_text);
    tcase_add_test(live, test_spawns_counts_what_is_no_pid_as_lost);
    tcase_add_test(live, test_spawns_full_map_is_counted_and_totals_stay_exact);
    tcase_add_test(live, test_spawns_measures_lifetimes_of_processes_that_share_a_place);
    tcase_add_test(live, test_spawns_target_that_dies_gives_result);
    tcase_add_test(live, test_spawns_target_that_becomes_another_program_gives_result);
    tcase_add_test(live, test_spawns_interrupt_gives_result_and_detaches);
    tcase_add_loop_test(live, test_spawns_works_with_entries_made_beforehand, 0, 2);
    tcase_add_test(live, test_spawns_interval_and_count);
    tcase_add_test(live, test_spawns_misses_nothing_of_a_vm_that_a_script_starts);
    tcase_add_test(live, test_spawns_intervals_add_up_without_membarrier);
    tcase_add_test(live, test_spawns_closed_pipe_is_a_clean_exit);
    tcase_add_test(live, test_spawns_full_disk_is_a_failure);
    tcase_add_test(live, test_spawns_all_sees_two_vms_of_one_file);
    tcase_add_test(live, test_spawns_command_behind_a_script);
    tcase_add_test(live, test_spawns_table_fits_80_columns);
    tcase_add_test(live, test_spawns_wide_characters_fit_the_terminal);
    tcase_add_loop_test(live, test_spawns_names_are_cut_to_the_terminal_only, 0, 7);
    tcase_add_test(live, test_spawns_all_keeps_pace_with_vms_that_come_and_go);
    tcase_add_test(live, test_spawns_all_goes_on_past_a_file_that_cannot_be_watched);
    tcase_add_test(live, test_spawns_all_looks_again_at_a_file_that_could_not_be_opened);
    tcase_add_test(live, test_spawns_all_looks_again_at_a_file_that_changed);
    tcase_add_test(live, test_spawns_all_attaches_to_many_at_once);
    tcase_add_loop_test(live, test_spawns_counts_every_one_of_many_sites, 0, 2);
    suite_add_tcase(suite, live);
    return suite;
}
