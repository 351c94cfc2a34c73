/* SPDX-License-Identifier: Apache-2.0 */
/* The budget of watching: decisions on VMs that are made up, then on nodes that do nothing but send. */
#include <stdlib.h>
#include <string.h>

#include "probe/governor.h"
#include "support.h"

/* ---- made up */

enum { MOST_VMS = 2, SECONDS = 120 };

/* A VM that keeps `busy` of a processor, of which watching takes a share while it is attached. */
struct vm {
    double busy, share;
    uint64_t cost_by_second[SECONDS + 1], cpu_by_second[SECONDS + 1];
};

/* Putting probes there and taking them away takes as long as this. */
struct world {
    struct governor governor;
    struct governor_vm governed[MOST_VMS];
    struct vm vms[MOST_VMS];
    size_t n;
    uint64_t slow_ns, now_ns;
    int windows;
    bool given_up;
};

static void pass(struct world *w, uint64_t ns, bool attached)
{
    uint64_t second = w->now_ns / 1000000000u;

    w->now_ns += ns;
    for (size_t i = 0; i < w->n; i++) {
        uint64_t cpu = (uint64_t)((double)ns * w->vms[i].busy);
        uint64_t cost = attached ? (uint64_t)((double)cpu * w->vms[i].share) : 0;

        w->governed[i].now.now_ns = w->now_ns;
        w->governed[i].now.cpu_ns += cpu;
        w->governed[i].now.cost_ns += cost;
        w->vms[i].cpu_by_second[second] += cpu;
        w->vms[i].cost_by_second[second] += cost;
    }
}

static enum governor_says look(struct world *w)
{
    return governor_look(&w->governor, w->now_ns, w->governed, w->n);
}

static void run(struct world *w, double budget, int seconds)
{
    bool attached = true;

    w->n = w->vms[1].busy > 0 ? 2 : 1;
    governor_begin(&w->governor, budget, 0);
    for (size_t i = 0; i < w->n; i++)
        governor_add(&w->governed[i], (int)i + 1, &(struct governor_sample){0});
    pass(w, w->slow_ns, true);
    w->windows = 1;
    while (w->now_ns < (uint64_t)seconds * 1000000000u && !w->given_up) {
        enum governor_says says;

        pass(w, governor_next_ns(&w->governor, w->governed, w->n), attached);
        while ((says = look(w)) != GOVERNOR_GOES_ON && !w->given_up) {
            attached = says == GOVERNOR_RESUMES;
            w->windows += attached;
            w->given_up = says == GOVERNOR_GIVES_UP;
            pass(w, w->slow_ns, true);
        }
    }
}

static double spent(const struct world *w, size_t vm)
{
    return (double)w->governed[vm].now.cost_ns / (double)w->governed[vm].now.cpu_ns;
}

/* The part of the VM's processor time that watching took in the worst second, from the very first on. */
static double worst(const struct world *w, size_t vm)
{
    double most = 0;

    for (uint64_t s = 0; s < w->now_ns / 1000000000u; s++) {
        double share = (double)w->vms[vm].cost_by_second[s] / (double)w->vms[vm].cpu_by_second[s];

        most = share > most ? share : most;
    }
    return most;
}

START_TEST(test_governor_leaves_cheap_watching_alone)
{
    struct world cheap = {.vms = {{.share = 0.08, .busy = 1}}}, idle = {.vms = {{.share = 0.9, .busy = 0.01}}};

    run(&cheap, 0.1, 60);
    ck_assert_int_eq(cheap.windows, 1);
    run(&idle, 0.1, 60); /* less than a hundredth of a processor, whatever part of the little that the VM does */
    ck_assert_int_eq(idle.windows, 1);
    ck_assert(!cheap.given_up && !idle.given_up);
}
END_TEST

/* However dear an event is, and however long the kernel takes to remove probes. */
START_TEST(test_governor_keeps_the_budget)
{
    static const double shares[] = {0.12, 0.3, 0.75, 0.97}, busy[] = {0.3, 1.5};
    static const uint64_t slow[] = {0, 20000000, 60000000, 500000000};

    for (size_t i = 0; i < sizeof shares / sizeof *shares; i++)
        for (size_t k = 0; k < sizeof slow / sizeof *slow; k++)
            for (size_t b = 0; b < sizeof busy / sizeof *busy; b++) {
                struct world w = {.vms = {{.share = shares[i], .busy = busy[b]}}, .slow_ns = slow[k]};

                run(&w, 0.1, SECONDS);
                ck_assert_msg(!w.given_up && w.windows > 10, "%g: %d windows", shares[i], w.windows);
                ck_assert_msg(spent(&w, 0) > 0.08 && spent(&w, 0) < 0.11, "%g, slow %g s: %g", shares[i],
                              (double)slow[k] / 1e9, spent(&w, 0));
                /* In each result of a second, but where a window's begin and end alone cost more. */
                ck_assert_msg(slow[k] > 60000000 || worst(&w, 0) < 0.17, "%g, slow %g s, busy %g: %g in a second",
                              shares[i],
                              (double)slow[k] / 1e9, busy[b], worst(&w, 0));
            }
}
END_TEST

/* What a busy VM earns pays for nobody else: neither when it is the other that is dear, nor when both are. */
START_TEST(test_governor_keeps_a_budget_for_each_vm)
{
    static const double shares[][2] = {{0.02, 0.6}, {0.3, 0.9}, {0.9, 0.3}, {0.6, 0.02}};

    for (size_t i = 0; i < sizeof shares / sizeof *shares; i++) {
        struct world w = {.vms = {{.share = shares[i][0], .busy = 1.8}, {.share = shares[i][1], .busy = 0.15}},
                          .slow_ns = 20000000};

        run(&w, 0.1, SECONDS);
        ck_assert_int_gt(w.windows, 10);
        for (size_t vm = 0; vm < 2; vm++)
            ck_assert_msg(spent(&w, vm) < 0.11 && worst(&w, vm) < 0.17, "%g and %g: VM %zu pays %g, %g in a second",
                          shares[i][0],
                          shares[i][1], vm, spent(&w, vm), worst(&w, vm));
        ck_assert_msg(spent(&w, 0) > 0.08 || spent(&w, 1) > 0.08, "nobody's budget is used: %g and %g", spent(&w, 0),
                      spent(&w, 1));
    }
}
END_TEST

START_TEST(test_governor_gives_up_at_ten_times_the_budget)
{
    struct world dear = {.vms = {{.share = 0.75, .busy = 1}}, .slow_ns = 500000000};
    struct world less = {.vms = {{.share = 0.75, .busy = 1}}};

    run(&dear, 0.05, 60);
    ck_assert(dear.given_up && governor_is_too_dear(&dear.governed[0]));
    ck_assert_int_eq(dear.windows, 2); /* one alone may be chance */
    ck_assert(dear.governed[0].share > 0.7 && dear.governed[0].share < 0.8);
    run(&less, 0.08, 60);
    ck_assert(!less.given_up && !governor_is_too_dear(&less.governed[0]));
}
END_TEST

START_TEST(test_governor_without_budget_does_nothing)
{
    struct world w = {.vms = {{.share = 0.99, .busy = 2}}};

    run(&w, 0, 60);
    ck_assert_int_eq(w.windows, 1);
}
END_TEST

/* A VM in debt that ends leaves nobody waiting; one whose clock is no more to be read owes what it owed. */
START_TEST(test_governor_bears_vms_that_end)
{
    struct world w = {.vms = {{.share = 0.02, .busy = 1}, {.share = 0.9, .busy = 1}}};

    run(&w, 0.1, 5);
    ck_assert(!w.given_up);
    w.governed[1].now.cpu_ns = 0;
    ck_assert_int_ne(look(&w), GOVERNOR_GIVES_UP);
    w.n = 1;
    for (int i = 0; i < 100 && w.governor.paused; i++) {
        pass(&w, governor_next_ns(&w.governor, w.governed, w.n), false);
        look(&w);
    }
    ck_assert(!w.governor.paused);
}
END_TEST

/* ---- live */

/*
 * A node of which two processes pass a message to and fro as fast as they can, counting the rounds; it writes their
 * number into the file `rounds` when it sees `stop`. Then BODY, with its process id in $p. It runs before others, or as
 * HOW says.
 */
#define FLOOD(body) FLOOD_HOW("nice -n -15 ", body)
#define FLOOD_HOW(how, body)                                                                                            \
    "cat > flood.erl <<'END'\n"                                                                                             \
    "-module(flood).\n-export([main/0]).\n"                                                                                \
    "main() -> Pong = spawn(fun pong/0), file:write_file(\"up\", \"1\"), ping(Pong, 0).\n"                               \
    "pong() -> receive {P, N} -> P ! N, pong() end.\n"                                                                     \
    "ping(P, N) when N rem 10000 =:= 9999 ->\n"                                                                            \
    "    case filelib:is_file(\"stop\") of\n"                                                                              \
    "        true -> file:write_file(\"rounds\", integer_to_list(N)), halt();\n"                                          \
    "        false -> pass(P, N)\n    end;\n"                                                                             \
    "ping(P, N) -> pass(P, N).\n"                                                                                          \
    "pass(P, N) -> P ! {self(), N}, receive N -> ping(P, N + 1) end.\n"                                                   \
    "END\nerlc flood.erl; " how "erl -noinput +S 1 -s flood main & p=$!; await up\n" body

/*
 * Watched in windows, of which some results have a part: few of the messages are counted, every line of these results
 * says so, those without any say that, and the node goes on. It ends when there were enough, however long that takes.
 */
START_TEST(test_governor_samples_a_node_that_floods)
{
    SUPPORT_BPF();
    const struct support_run *r = support_run("%s",
        FLOOD("$ERLSNOOP msglat --budget 10% --json -p $p 1 > told & e=$!\n"
              "until [ $(grep -c '\"type\":\"cost\",\"sampled\"' told) -ge 5 ]; do kill -0 $e || break; sleep .1; done; kill -INT $e; wait $e; s=$?\n"
              "touch stop; await rounds; wait $p\n"
              "python3 - <<'END'\n"
              "import json\n"
              "results = {}\n"
              "for row in map(json.loads, open('told')):\n"
              "    results.setdefault(row['time'], {}).setdefault(row['type'], []).append(row)\n"
              "for r in results.values():\n"
              "    assert len({row.get('sampled') for rows in r.values() for row in rows}) == 1, r # all lines of a result, or none\n"
              "    assert ('msglat' in r) != ('unwatched' in r), r\n"
              "sampled = [r for r in results.values() if 'sampled' in r.get('msglat', [{}])[0]]\n"
              "messages, rounds = sum(r['msglat'][0]['messages'] for r in results.values() if 'msglat' in r), int(open('rounds').read())\n"
              "assert len(sampled) >= 5 and all(0 < r['cost'][0]['watched_ns'] for r in sampled), sampled\n"
              "assert 0 < messages < rounds, (messages, rounds) # of two messages a round\n"
              "for r in sampled:\n"
              "    cost = r['cost'][0]\n"
              "    assert not r['msglat'][0]['messages'] or cost['hits_per_s'] > 0 and cost['core_percent'] > 0, r\n"
              "END\n"
              "echo \"python $?\"; exit $s"));

    ck_assert_msg(!r->status && strstr(r->out, "python 0\n"), "%d: %.99s%s", r->status, r->out,
                  strlen(r->err) > 999 ? r->err + strlen(r->err) - 999 : r->err);
}
END_TEST

/*
 * With -a the probes of all go and return together: of the node that floods and of one that is quiet both have their
 * windows, and each line says so. A quiet erlvm tells by pages, which are no traps. It goes on until each was counted.
 */
START_TEST(test_governor_samples_all_when_one_floods)
{
    SUPPORT_BPF();
    const struct support_run *r = support_run("%s",
        FLOOD_HOW("", "cat > quiet.erl <<'END'\n"
              "-module(quiet).\n-export([main/0, child/0]).\n"
              "main() -> spawn(quiet, child, []), receive after 10 -> main() end.\nchild() -> ok.\nEND\nerlc quiet.erl\n"
              "erl -noinput +S 1 -s quiet main & q=$!; $ERLVM -quick -pa . -s quiet main & o=$!; runs $q beam.smp; runs $o erlvm\n"
              "$ERLSNOOP watch spawns,msglat -a --budget 10% --json 1 > told & e=$!\n"
              "births() { grep -cE \"\\\"type\\\":\\\"spawns_by_mfa\\\",\\\"sampled\\\".*\\\"vm\\\":$1,\\\"mfa\\\":\\\"quiet:child\" told; }\n"
              "waits() { grep -cE \"\\\"type\\\":\\\"msglat_by_mfa\\\",\\\"sampled\\\".*\\\"vm\\\":$p,\\\"mfa\\\":\\\"flood:\" told; }\n"
              "until [ $(births $q) -ge 3 -a $(births $o) -ge 3 -a $(waits) -ge 3 ]; do kill -0 $e || break; sleep .1; done\n"
              "kill -INT $e; wait $e; s=$?; touch stop; await rounds; wait $p; kill $q $o; echo counted; exit $s"));

    ck_assert_msg(!r->status && strstr(r->out, "counted\n"), "%d: %s%s", r->status, r->out, r->err);
}
END_TEST

/*
 * Which VM pays is told apart: the one that floods is left alone, the quiet one, which earns less, goes on to be
 * counted.
 */
START_TEST(test_governor_leaves_only_the_node_that_floods)
{
    SUPPORT_BPF();
    const struct support_run *r = support_run("%s",
        FLOOD_HOW("", "cat > quiet.erl <<'END'\n"
              "-module(quiet).\n-export([main/0, child/0]).\n"
              "main() -> spawn(quiet, child, []), receive after 10 -> main() end.\nchild() -> ok.\nEND\n"
              "erlc quiet.erl\n"
              "erl -noinput +S 1 -s quiet main & q=$!; runs $q beam.smp\n"
              "$ERLSNOOP watch spawns,msglat -a --budget 1% --json .5 > told 2> said & e=$!\n"
              "until grep -q 'left alone' said; do kill -0 $e || break; sleep .1; done\n"
              "births() { grep -cE \"\\\"type\\\":\\\"spawns_by_mfa\\\".*\\\"vm\\\":$q,\\\"mfa\\\":\\\"quiet:child\" "
              "told; }\n"
              "had=$(births); until [ $(births) -ge $((had + 3)) ]; do kill -0 $e || break; sleep .1; done\n"
              "kill -INT $e; wait $e; s=$?; touch stop; await rounds; wait $p; kill $q\n"
              "grep 'left alone' said | grep -c \"the VM with pid $p, more than 10 times the budget of 1 %\"; "
              "exit $s"));

    ck_assert_msg(!r->status && !strcmp(r->out, "1\n"), "%d: %s%s", r->status, r->out, r->err);
}
END_TEST

START_TEST(test_governor_leaves_a_node_that_floods_alone)
{
    SUPPORT_BPF();
    const struct support_run *r = support_run("%s",
        FLOOD("$ERLSNOOP msglat --budget 3 -p $p; s=$?; kill -0 $p && touch stop && await rounds; wait $p; exit $s"));

    ck_assert_int_eq(r->status, 1);
    ck_assert_msg(strstr(r->err, "more than 10 times the budget of 3 %: it is left alone; see --budget\n") != NULL,
                  "%s", r->err);
    ck_assert(strstr(r->out, "SAMPLED") && strstr(r->out, "MESSAGES") && strstr(r->out, "COST % OF A CORE"));
}
END_TEST

/* An exporter too: it says how much of the time it watches, and goes on. */
START_TEST(test_governor_samples_under_an_exporter)
{
    SUPPORT_BPF();
    const struct support_run *r = support_run("%s",
        FLOOD("$ERLSNOOP serve --views msglat --budget 10% --listen 127.0.0.1:0 -p $p 2> said & e=$!\n"
              "until grep -q http said; do kill -0 $e || break; sleep .1; done\n"
              "url=$(grep -o 'http://[^ ]*' said | head -1)\n"
              "scrape() { python3 -c 'import sys, urllib.request; print(urllib.request.urlopen(sys.argv[1]).read().decode())' $url; }\n"
              "until scrape | grep -q '^erlsnoop_sampling_ratio 0'; do kill -0 $e || break; sleep .2; done\n"
              "until scrape | grep '^erlsnoop_msglat_messages_total.* [1-9]'; do kill -0 $e || break; sleep .2; done\n"
              "kill -INT $e; wait $e; s=$?; touch stop; await rounds; wait $p\n"
              "grep -v ': metrics at http' said >&2; exit $s"));

    ck_assert_msg(!r->status && strstr(r->out, "erlsnoop_msglat_messages_total") && !strstr(r->err, "erlsnoop: "), "%d: %s%s",
                  r->status, r->out, r->err);
}
END_TEST

/* Without a budget each of two messages a round is counted, to the last. */
START_TEST(test_governor_off_counts_every_message)
{
    SUPPORT_BPF();
    const struct support_run *r = support_run("%s",
        FLOOD("$ERLSNOOP msglat --budget off --json -p $p .2 > told & e=$!\n"
              "until [ $(($(sed -n 's/.*\"type\":\"msglat\".*\"messages\":\\([0-9]*\\).*/+\\1/p' told))) -gt 10000 ]; do\n"
              "kill -0 $e || break; sleep .1; done; kill -INT $e; wait $e; s=$?\n"
              "touch stop; await rounds; wait $p; cat told; exit $s"));

    ck_assert_int_eq(r->status, 0);
    ck_assert_int_gt(support_sum(r->out, "\"type\":\"msglat\"", "messages"), 10000);
    ck_assert_int_eq(support_lines(r->out, "sampled") + support_lines(r->out, "\"type\":\"cost\""), 0);
}
END_TEST

/* A node at rest is watched as ever, whatever the budget. */
START_TEST(test_governor_counts_every_birth_of_a_quiet_node)
{
    SUPPORT_BPF();
    const struct support_run *r = support_run(
        "$ERLSNOOP spawns --budget 10%% --json -- $EMITTER -d 10000 process__spawn=101 process__exit=97");

    ck_assert_int_eq(support_number(r->out, "\"type\":\"spawns\"", "births"), 101);
    ck_assert_int_eq(support_number(r->out, "\"type\":\"spawns\"", "deaths"), 97);
    ck_assert_int_eq(support_lines(r->out, "sampled"), 0);
}
END_TEST

START_TEST(test_governor_refuses_other_budgets)
{
    static const char *const words[] = {"0", "-1", "101%", "10%%", "0x10%", "1e1%", "10 %", "ten", "5ms", ""};

    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        const struct support_run *r = support_run("$ERLSNOOP spawns --budget '%s' -p $$", words[i]);

        ck_assert_int_eq(r->status, 2);
        ck_assert_msg(strstr(r->err, "--budget must be a share") != NULL, "%s", r->err);
    }
}
END_TEST

Suite *governor_suite(void)
{
    Suite *suite = suite_create("governor");
    TCase *made_up = tcase_create("made_up"), *live = tcase_create("live");

    tcase_add_test(made_up, test_governor_leaves_cheap_watching_alone);
    tcase_add_test(made_up, test_governor_keeps_the_budget);
    tcase_add_test(made_up, test_governor_keeps_a_budget_for_each_vm);
    tcase_add_test(made_up, test_governor_gives_up_at_ten_times_the_budget);
    tcase_add_test(made_up, test_governor_without_budget_does_nothing);
    tcase_add_test(made_up, test_governor_bears_vms_that_end);
    suite_add_tcase(suite, made_up);
    tcase_set_timeout(live, 90);
    tcase_add_test(live, test_governor_samples_a_node_that_floods);
    tcase_add_test(live, test_governor_samples_under_an_exporter);
    tcase_add_test(live, test_governor_samples_all_when_one_floods);
    tcase_add_test(live, test_governor_leaves_only_the_node_that_floods);
    tcase_add_test(live, test_governor_leaves_a_node_that_floods_alone);
    tcase_add_test(live, test_governor_off_counts_every_message);
    tcase_add_test(live, test_governor_counts_every_birth_of_a_quiet_node);
    tcase_add_test(live, test_governor_refuses_other_budgets);
    suite_add_tcase(suite, live);
    return suite;
}
