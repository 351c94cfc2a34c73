/* SPDX-License-Identifier: Apache-2.0 */
/* erlsnoop serve: its pages, who asks them, and the real Prometheus with the dashboard of share/grafana. */
#include <stdlib.h>
#include <string.h>

#include "support.h"

/* In the shell: `serve OPTIONS` begins and waits until it is attached, $e its pid, $at its address and port; `page`
 * prints the metrics. */
#define SERVE                                                                                      \
    "serve() { $ERLSNOOP serve --listen 127.0.0.1:0 \"$@\" > out 2> said & e=$!; "                 \
    "until at=$(sed -n 's,.*http://\\(.*\\)/metrics.*,\\1,p' said | grep .); do "                  \
    "kill -0 $e || break; sleep .05; done; attached $e; }\n"                                       \
    "page() { curl -s -H \"Accept: ${1:-application/openmetrics-text}\" http://$at/metrics; }\n"    \
    "until_page() { until page | grep -qE \"$1\"; do kill -0 $e || break; sleep .1; done; }\n"

START_TEST(test_serve_counts_since_its_start)
{
    SUPPORT_BPF();
    const struct support_run *r = support_run(
        SERVE "$EMITTER -w go -s 60 'process__spawn=23||a:f/1' 'process__exit=19||normal' & p=$!; runs $p emitter\n"
              "serve --views spawns,exits -p $p; touch go; until_page '^erlsnoop_spawns_deaths_total{.* 19$'\n"
              "watched() { page | sed -n 's/^erlsnoop_watched_seconds_total[^ ]* \\([0-9]*\\).*/\\1/p'; }\n"
              "page > one; end=$(($(watched) + 2)); until [ $(watched) -ge $end ]; do kill -0 $e || break; sleep .1; done; page > two\n"
              "page text/plain > old; grep -hE '^erlsnoop_(spawns|exits)_.*(births|exits|mfa)_total' one two old\n"
              "grep -c . out; kill -TERM $e; wait $e; echo status $?; kill $p");

    ck_assert_int_eq(support_lines(r->out, ",name=\"emitter\"} 23"), 3);
    ck_assert_int_eq(support_lines(r->out, ",name=\"emitter\"} 19"), 3);
    ck_assert_int_eq(support_lines(r->out, ",name=\"emitter\",mfa=\"a:f/1\"} 23"), 3);
    ck_assert_msg(strstr(r->out, "\n0\nstatus 0\n") != NULL, "%s", r->out); /* it prints nothing */
}
END_TEST

/*
 * A table, metrics and a threshold of one watch: each is told all that happened, once, though each reads when it wants
 * to; the VM has no more probes than with the table alone.
 */
static const char *const paces[] = {"", ".3"};
START_TEST(test_watch_has_many_readers)
{
    SUPPORT_BPF();
    const struct support_run *r = support_run(
        SERVE "$EMITTER -w go -s 60 'process__spawn=23||a:f/1' 'process__exit=19||normal' & p=$!; runs $p emitter\n"
              "$ERLSNOOP watch spawns,exits -p $p --ready-fd 3 3> ready > alone & a=$!; await ready; links $a\n"
              "kill $a; wait $a\n"
              "$ERLSNOOP watch spawns,exits --json -p $p --listen 127.0.0.1:0 --when 'spawns.births > 20' %s > out 2> said & "
              "e=$!; until at=$(sed -n 's,.*http://\\(.*\\)/metrics.*,\\1,p' said | grep .); do "
              "kill -0 $e || break; sleep .05; done\n"
              "links $e; touch go; until_page '^erlsnoop_spawns_deaths_total{.* 19$'; page\n"
              "until grep 'spawns.births > 20: 23$' said; do kill -0 $e || break; sleep .05; done\n"
              "kill -TERM $e; wait $e; echo status $?\n"
              "sed 's/.*\"births\":\\([0-9]*\\).*/\\1/; t; d' out | awk '{ s += $1 } END { print s }'\n"
              "grep -c 'spawns.births' said; kill $p",
        paces[_i]);
    char *rest;
    long alone = strtol(r->out, &rest, 10);

    ck_assert_int_gt(alone, 0);
    ck_assert_int_eq(strtol(rest, NULL, 10), alone);
    ck_assert_int_eq(support_lines(r->out, ",name=\"emitter\"} 23"), 1);
    ck_assert_int_eq(support_lines(r->out, ",name=\"emitter\",mfa=\"a:f/1\"} 23"), 1);
    ck_assert_msg(strstr(r->out, "erlsnoop: spawns.births > 20: 23\nstatus 0\n23\n1\n") != NULL, "%s%s", r->out,
                  r->err);
}
END_TEST

/*
 * The same with a recording, of an erlvm by its pages and by its notes, which become pages: what a report of it tells is
 * what the table and the metrics told.
 */
static const char *const recorded[] = {"", "--source notes"};
START_TEST(test_watch_records_what_it_shows)
{
    SUPPORT_BPF();
    const struct support_run *r = support_run(
        SERVE "cat > some.erl << 'END'\n-module(some).\n-export([start/0, c/0]).\n"
              "start() -> ok = prim_file:write_file(\"ready\", \"1\"), {ok, _} = prim_file:read_file(\"go\"),\n"
              "  [spawn(some, c, []) || _ <- lists:seq(1, 23)], receive stop -> ok end.\nc() -> exit({odd, 1}).\nEND\n"
              "erlc some.erl; mkfifo go; $ERLVM -quick -pa . -s some & p=$!; await ready\n"
              "$ERLSNOOP watch spawns,exits --json -p $p -o r --listen 127.0.0.1:0 --when 'exits.abnormal > 20' %s .3 "
              "> out 2> said & e=$!; until at=$(sed -n 's,.*http://\\(.*\\)/metrics.*,\\1,p' said | grep .); do "
              "kill -0 $e || break; sleep .05; done\n"
              "echo > go; until_page '^erlsnoop_exits_abnormal_total{.* 23$'\n"
              "until grep -o 'exits.abnormal > 20: 23$' said; do kill -0 $e || break; sleep .05; done\n"
              "kill -TERM $e; wait $e; echo status $?; births() { sed 's/.*\"births\":\\([0-9]*\\).*/\\1/; t; d' | "
              "awk '{ s += $1 } END { print s }'; }; births < out; $ERLSNOOP report r spawns --json | births\n"
              "$ERLSNOOP report r exits --json | grep -o '\"abnormal\":[0-9]*' | head -1; kill $p",
        recorded[_i]);

    ck_assert_str_eq(r->out, "exits.abnormal > 20: 23\nstatus 0\n23\n23\n\"abnormal\":23\n");
    ck_assert_msg(strstr(r->err, "cannot") == NULL, "%s", r->err);
}
END_TEST

static const struct {
    const char *options, *why;
} watch_refusals[] = {
    {"spawns --ring 5s", "a file is missing: -o FILE"},
    {"spawns -o r --ring 5s --max-time 5s", "choose one of --ring and --max-time"},
    {"spawns -o r --budget 5%", "no budget is kept"},
    {"spawns --when 'msglat.p99 > 5ms'", "'msglat' is not among the views"},
    {"spawns --listen nowhere", "nowhere"},
};
START_TEST(test_watch_refuses_in_one_line)
{
    const struct support_run *r = support_run("$ERLSNOOP watch %s -p $$", watch_refusals[_i].options);

    ck_assert_int_eq(r->status, 2);
    ck_assert_str_eq(r->out, "");
    ck_assert_msg(strstr(r->err, watch_refusals[_i].why) != NULL, "%s", r->err);
}
END_TEST

/* Two VMs, one by its notes and one by its pages: all that is counted is told of each. */
START_TEST(test_serve_tells_the_totals_of_each_vm)
{
    SUPPORT_BPF();
    const struct support_run *r = support_run(
        SERVE "cat > paged.erl << 'END'\n-module(paged).\n-export([start/0, c/0]).\n"
              "start() -> ok = prim_file:write_file(\"ready\", \"1\"), {ok, _} = prim_file:read_file(\"run\"),\n"
              "  [spawn(paged, c, []) || _ <- lists:seq(1, 23)], receive stop -> ok end.\nc() -> ok.\nEND\n"
              "erlc paged.erl; mkfifo run; $ERLVM -quick -pa . -s paged & p=$!; await ready\n"
              "$EMITTER -w go -s 60 'process__spawn=19||a:f/1' 'process__exit=17||normal' > counts & q=$!; runs $q emitter\n"
              "serve --views spawns -a; until_page \"^erlsnoop_spawns_births_total.vm=.$p.\"; until_page \"^erlsnoop_up.vm=.$q.\"\n"
              "touch go; echo > run; until_page \"^erlsnoop_spawns_deaths_total.vm=.$p.,name=.* 23$\"\n"
              "until_page \"^erlsnoop_spawns_deaths_total.vm=.$q.,name=.* 17$\"; page > told\n"
              "grep -E \"^erlsnoop_spawns_(births|deaths)_total.vm=.($p|$q).\" told | sed \"s/$p/P/; s/$q/Q/\" | sort\n"
              "grep -cE '^erlsnoop_spawns_(births|deaths)_total ' told; kill $e $p $q");

    ck_assert_str_eq(r->out, "erlsnoop_spawns_births_total{vm=\"P\",name=\"paged\"} 23\n"
                             "erlsnoop_spawns_births_total{vm=\"Q\",name=\"emitter\"} 19\n"
                             "erlsnoop_spawns_deaths_total{vm=\"P\",name=\"paged\"} 23\n"
                             "erlsnoop_spawns_deaths_total{vm=\"Q\",name=\"emitter\"} 17\n0\n");
}
END_TEST

/* What an erlvm tells by the page is counted as what others tell; what of it would be lost is told by its reasons
 * too. */
START_TEST(test_serve_counts_an_erlvm_by_its_pages)
{
    SUPPORT_BPF();
    const struct support_run *r = support_run(
        SERVE "cat > paged.erl << 'END'\n-module(paged).\n-export([start/0, c/0]).\n"
              "start() -> ok = prim_file:write_file(\"ready\", \"1\"), {ok, _} = prim_file:read_file(\"go\"),\n"
              "  [spawn(paged, c, []) || _ <- lists:seq(1, 23)], receive stop -> ok end.\nc() -> exit({odd, 1}).\nEND\n"
              "erlc paged.erl; mkfifo go; $ERLVM -quick -pa . -s paged & p=$!; await ready; serve --views spawns,exits -p $p\n"
              "ls -l /proc/$e/fd | grep -c bpf_link; echo > go; until_page '^erlsnoop_exits_abnormal_total{.* 23$'; page\n"
              "kill -TERM $e; wait $e; echo status $?; kill $p");

    ck_assert_msg(!strncmp(r->out, "1\n", 2) && strstr(r->out, "\nstatus 0\n"), "%s%s", r->out, r->err);
    ck_assert_int_eq(support_lines(r->out, ",mfa=\"paged:c/0\"} 23"), 1);
    ck_assert_int_eq(support_lines(r->out, "erlsnoop_lost_total{why=\"pages that nobody received\"} 0"), 1);
    ck_assert_int_eq(support_lines(r->out, "erlsnoop_lost_total{why=\"ring buffer full\"} 0"), 1);
}
END_TEST

/* Control characters, bad UTF-8, quotes and marks that turn text around, in names and in the VM's own name. */
START_TEST(test_serve_tells_hostile_names_as_labels)
{
    SUPPORT_BPF();
    const struct support_run *r = support_run(
        SERVE "evil=$'\\e]0;x\\a\\e[2J\\x80\\xff\\u202e\"\\\\\\t\\n'; cp $EMITTER \"$evil\"\n"
              "./\"$evil\" -w go -s 60 \"process__spawn=3||$evil:f/1\" \"process__exit=3||$evil\" > counts & p=$!\n"
              "runs $p x; serve --views spawns,exits -p $p; touch go; until_page '^erlsnoop_spawns_deaths_total{.* 3$'\n"
              "page > new; page text/plain > old; LC_ALL=C grep -c $'[\\x01-\\x09\\x0b-\\x1f\\x7f\\x80-\\xff]' new old\n"
              "grep -c 'mfa=\".*\\\\\\\\x1b.*\\\\\"' new\n"
              "/usr/bin/python3 -c 'import sys; from prometheus_client.openmetrics import parser\n"
              "print(len([1 for f in parser.text_string_to_metric_families(open(\"new\").read()) for s in f.samples "
              "if \"]0;x\" in str(s.labels.get(\"mfa\")) and \"]0;x\" in s.labels[\"name\"]]))'; kill $e $p");

    ck_assert_str_eq(r->out, "new:0\nold:0\n2\n2\n");
}
END_TEST

/* Of a VM that ends before the first page there are no metrics anywhere, unless they are to be there for a while. */
START_TEST(test_serve_tells_no_address_once_its_vm_ended)
{
    SUPPORT_BPF();
    const struct support_run *r = support_run(
        "$EMITTER -w go process__spawn=2 > counts & p=$!; runs $p emitter\n"
        "$ERLSNOOP serve --linger 0s --listen 127.0.0.1:0 -p $p 2> said & e=$!\n"
        "attached $e; kill -9 $p; wait $e; echo status $?; sed -n '/ended/,$p' said");

    ck_assert_msg(!strncmp(r->out, "status 0\n", 9), "%s%s", r->out, r->err);
    ck_assert_int_eq(support_lines(r->out, "ended"), 1);
    ck_assert_int_eq(support_lines(r->out, "metrics at"), 0);
}
END_TEST

START_TEST(test_serve_ends_with_its_vm)
{
    SUPPORT_BPF();
    const struct support_run *r = support_run(SERVE "$EMITTER -w go process__spawn=2 & p=$!; runs $p emitter\n"
                                                    "serve --linger 0s -p $p; touch go; wait $e; echo status $?; cat said");

    ck_assert(strstr(r->out, "status 0\n") && strstr(r->out, "ended"));
    ck_assert_int_eq(support_lines(r->out, "its last counts"), 0);
}
END_TEST

/* What happened after the last scrape is there for the next one: all that the VM did, and that it is up no more. */
static const char *const lingering[] = {"-p $p", "-- $EMITTER -w go 'process__spawn=23||a:f/1'"};
START_TEST(test_serve_stays_until_its_last_counts_are_scraped)
{
    SUPPORT_BPF();
    const struct support_run *r = support_run(
        SERVE "$EMITTER -w go 'process__spawn=23||a:f/1' > counts & p=$!; runs $p emitter\n"
              "serve --views spawns --linger 4s %s; touch go; wait $p; comes_line() { until grep -q \"$1\" said; do sleep .05; done; }\n"
              "comes_line 'served for 4 s more'; from=$EPOCHREALTIME; page | grep -E '^erlsnoop_(up|spawns_births_total)' | sed 's/{.*}//'\n"
              "wait $e; echo status $?; awk -v from=$from -v to=$EPOCHREALTIME 'BEGIN { took = to - from; print (took > 3 && took < 30) ? \"stayed\" : took }'",
        lingering[_i]);

    ck_assert_msg(!strcmp(r->out, "erlsnoop_up 0\nerlsnoop_spawns_births_total 23\nstatus 0\nstayed\n") ||
                      !strcmp(r->out, "erlsnoop_spawns_births_total 23\nerlsnoop_up 0\nstatus 0\nstayed\n"),
                  "%s%s", r->out, r->err);
}
END_TEST

/* Whoever waits no longer ends it: Ctrl-C while it stays is no failure. */
START_TEST(test_serve_that_stays_ends_when_told)
{
    SUPPORT_BPF();
    const struct support_run *r = support_run(
        SERVE "$EMITTER -w go process__spawn=2 > counts & p=$!; runs $p emitter; serve --views spawns -p $p; touch go\n"
              "until grep -q 'served for 60 s more' said; do sleep .05; done; kill -INT $e; wait $e; echo status $?");

    ck_assert_str_eq(r->out, "status 0\n");
}
END_TEST

/* The kernel numbers the second emitter as the first, whose metrics are still told. */
START_TEST(test_serve_begins_anew_with_a_vm_that_has_a_used_pid)
{
    SUPPORT_BPF();
    const struct support_run *r = support_run(
        SERVE "[ -w /proc/sys/kernel/ns_last_pid ] || exit 77\n"
              "$EMITTER -s 60 process__heap_grow=1 > /dev/null & k=$!; runs $k emitter; serve --views spawns -a\n"
              "$EMITTER -s 2 'process__spawn=7||a:f/1' > first & p=$!\n"
              "until_page \"vm=\\\"$p\\\".*a:f/1\\\"} 7\"; wait $p\n"
              "until_page \"^erlsnoop_up.*vm=\\\"$p\\\".* 0\"\n"
              "for i in $(seq 300); do echo $((p - 1)) > /proc/sys/kernel/ns_last_pid; "
              "$EMITTER -w go$i -s 60 'process__spawn=3||a:f/1' > second & q=$!; [ $q = $p ] && break; kill $q; done\n"
              "[ $q = $p ] || { kill $q $k $e; exit 77; }\n" /* another has the number, for longer than we try */
              "until_page \"^erlsnoop_up.*vm=\\\"$p\\\".* 1\"; touch go$i; until_page \"vm=\\\"$p\\\".*a:f/1\\\"} 3\"\n"
              "page | grep -c \"mfa_total.vm=\\\"$p\\\".*a:f/1\"; kill $q $k; kill $e; wait $e; echo status $?");

    if (r->status == 77)
        return;
    ck_assert_str_eq(r->out, "1\nstatus 0\n");
}
END_TEST

START_TEST(test_serve_answers_scrapers_whoever_else_asks)
{
    SUPPORT_BPF();
    const struct support_run *r =
        support_run(SERVE "$EMITTER -s 90 process__spawn=2 > counts & p=$!; runs $p emitter; serve --host node1 -p $p\n"
                          "/usr/bin/python3 $SOURCE/tests/tools/hostile_http.py $at\n"
                          "kill $e; wait $e; echo status $?; kill $p");

    ck_assert_str_eq(r->out, "status 0\n");
}
END_TEST

static const struct {
    const char *run, *says;
    int status;
} refusals[] = {
    {"python3 -c 'import socket,time; s=socket.socket(); s.bind((\"127.0.0.1\",0)); s.listen(); "
     "print(s.getsockname()[1], flush=True); time.sleep(60)' > port & p=$!; await port\n"
     "$ERLSNOOP serve -a --listen 127.0.0.1:$(cat port); s=$?; kill $p; exit $s",
     "somebody does already", 1},
    {"$ERLSNOOP serve -a --listen 192.0.2.1:9464", "no interface of this machine", 1},
    {"setpriv --reuid 65534 --clear-groups --inh-caps=-all $ERLSNOOP serve -a --listen 127.0.0.1:1",
     "ports below 1024 are for root", 1},
    {"$ERLSNOOP serve -p 4194303", "no process with pid", 1},
    {"$ERLSNOOP serve -a --listen localhost", "must be ADDRESS:PORT", 2},
    {"$ERLSNOOP serve -a --views gc,cake", "serve cannot ask 'cake'", 2},
    {"$ERLSNOOP serve -a --views gc,gc", "named twice", 2},
    {"$ERLSNOOP serve -a --host 'a b'", "--host must be names", 2},
    {"$ERLSNOOP serve -a --linger 5", "--linger must be a time with its unit", 2},
    {"$ERLSNOOP serve -a --json", "unknown option", 2},
    {"$ERLSNOOP serve -a 5", "unexpected argument", 2},
};

START_TEST(test_serve_refuses_in_one_line)
{
    const struct support_run *r =
        support_run("cp $ERLSNOOP here; chmod 755 here; ERLSNOOP=$PWD/here; %s", refusals[_i].run);

    ck_assert_msg(r->status == refusals[_i].status && strstr(r->err, refusals[_i].says), "%d: %s", r->status, r->err);
    ck_assert_int_eq(support_lines(r->err, "erlsnoop: "), 1);
    ck_assert_str_eq(r->out, "");
}
END_TEST

START_TEST(test_serve_feeds_a_real_prometheus_and_the_dashboard)
{
    SUPPORT_BPF();
    const struct support_run *r =
        support_run("/usr/bin/python3 $SOURCE/tests/tools/scrape.py $SOURCE $ERLSNOOP $ERLVM");

    ck_assert_msg(!r->status && !*r->out, "%s%s", r->out, r->err);
}
END_TEST

Suite *serve_suite(void)
{
    Suite *suite = suite_create("serve");
    TCase *pages = tcase_create("pages"), *prometheus = tcase_create("prometheus");

    tcase_set_timeout(pages, 60);
    tcase_add_test(pages, test_serve_counts_since_its_start);
    tcase_add_test(pages, test_serve_counts_an_erlvm_by_its_pages);
    tcase_add_loop_test(pages, test_watch_has_many_readers, 0, sizeof paces / sizeof *paces);
    tcase_add_loop_test(pages, test_watch_records_what_it_shows, 0, sizeof recorded / sizeof *recorded);
    tcase_add_loop_test(pages, test_watch_refuses_in_one_line, 0, sizeof watch_refusals / sizeof *watch_refusals);
    tcase_add_test(pages, test_serve_tells_the_totals_of_each_vm);
    tcase_add_test(pages, test_serve_tells_hostile_names_as_labels);
    tcase_add_test(pages, test_serve_ends_with_its_vm);
    tcase_add_test(pages, test_serve_tells_no_address_once_its_vm_ended);
    tcase_add_loop_test(pages, test_serve_stays_until_its_last_counts_are_scraped, 0, sizeof lingering / sizeof *lingering);
    tcase_add_test(pages, test_serve_that_stays_ends_when_told);
    tcase_add_test(pages, test_serve_begins_anew_with_a_vm_that_has_a_used_pid);
    tcase_add_test(pages, test_serve_answers_scrapers_whoever_else_asks);
    tcase_add_loop_test(pages, test_serve_refuses_in_one_line, 0, sizeof refusals / sizeof *refusals);
    suite_add_tcase(suite, pages);
    tcase_set_timeout(prometheus, 240);
    tcase_add_test(prometheus, test_serve_feeds_a_real_prometheus_and_the_dashboard);
    suite_add_tcase(suite, prometheus);
    return suite;
}
