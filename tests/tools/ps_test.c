/* SPDX-License-Identifier: Apache-2.0 */
/*
 * erlsnoop ps of nodes whose processes (snapshot_target.erl), links, messages and tables (ps_target.erl) are known: this
 * machine's Erlang, and erlvm.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support.h"

static const char *const erls[] = {"erl", "$ERLVM"};

/* A node that is $p, and says what it is in the file "said". It ends when descriptor 9 is closed. */
#define NODE NODE_OF("snapshot_target")
#define NODE_OF(module)                                                                                                \
    "mkfifo in; ulimit -c unlimited\n"                                                                                 \
    "%s -noshell -eval '{ok, M, B} = compile:file(\"'$SOURCE/tests/tools/" module "'\", [binary]), "                  \
    "code:load_binary(M, \"\", B), M:main().' < in > said & p=$!; exec 9> in\n"                                        \
    "until grep -q '^ready' said; do sleep .05; kill -0 $p || exit 97; done\n"                                         \
    "e() { $ERLSNOOP ps \"$@\"; }\n"

/* What the allocators of OTP 29 count, which exports no functions, is not known, and said so. */
static bool counts_memory(int erl)
{
    return erl > 0 || support_emulator_exports();
}

/* Whether the first line that holds `mark` has, from there on, this too. */
static bool line_has(const char *text, const char *mark, const char *what)
{
    const char *line = strstr(text, mark);
    char copy[512];

    if (!line)
        return false;
    snprintf(copy, sizeof copy, "%.*s", (int)strcspn(line, "\n"), line);
    return strstr(copy, what) != NULL;
}

/* Who has most stands first, whatever most is of; nobody is left out of what programs get. */
START_TEST(test_ps_tells_who_has_most)
{
    const struct support_run *r = support_run(
        NODE "for s in mailbox memory binaries reductions; do echo \"by $s\"; e -p $p --sort $s --top 2; done\n"
             "e -p $p --json > j; grep -c '\"type\":\"process\"' j; grep -c '^process \\|^busy ' said\n"
             "grep '\"owner\":\"\\(box\\|off_box\\|frozen\\|sleeper\\|holder\\)\"' j; cat j | grep vm_now; sed -n 's/^node/said/p' said; kill -9 $p",
        erls[_i]);
    const char *by = strstr(r->out, "by mailbox");
    long listed, said;

    ck_assert_msg(by && line_has(by, "<0.", "box") && line_has(by, "<0.", " 997 "), "%s%s", r->out, r->err);
    by = strstr(r->out, "by binaries");
    ck_assert_msg(by && line_has(by, "<0.", "holder") && line_has(by, "<0.", "2.30 MB"), "%s", r->out);
    by = strstr(r->out, "by reductions");
    ck_assert_msg(by && line_has(by, "<0.", "spinner") &&
                      (line_has(by, "<0.", " running ") || line_has(by, "<0.", " runnable ")), /* between two slices */
                  "%s", r->out);
    ck_assert_int_eq(support_number(r->out, "\"owner\":\"box\"", "messages"), 997);
    ck_assert_int_eq(support_number(r->out, "\"owner\":\"off_box\"", "messages"), 503);
    ck_assert_int_eq(support_number(r->out, "\"owner\":\"frozen\"", "messages"), 89);
    ck_assert(line_has(strstr(r->out, "\"owner\":\"frozen\""), "", "\"status\":\"suspended\""));
    ck_assert(line_has(strstr(r->out, "\"owner\":\"sleeper\""), "", "\"status\":\"hibernated\""));
    ck_assert_int_ge(support_number(r->out, "\"owner\":\"holder\"", "binaries_bytes"), 2300000);
    listed = support_number(r->out, "vm_now", "processes");
    ck_assert_int_eq(sscanf(strstr(r->out, "said "), "said %*d %ld", &said), 1);
    ck_assert_int_eq(listed, said);
    said = support_number(r->out, "vm_now", "process_limit");
    ck_assert(said == 262144 || said == 1048576); /* of OTP up to 28; of later ones, and of an erlvm */
    ck_assert_int_eq(support_number(r->out, "vm_now", "atom_limit"), 1048576);
}
END_TEST

/* What tables call it finds it: in either spelling, and by what it was to do where no other was to do that. */
START_TEST(test_ps_finds_a_process_by_what_it_is_called)
{
    const struct support_run *r = support_run(
        "cat > called.erl <<'END'\n-module(called).\n-export([main/0, only/0, many/0]).\n"
        "main() ->\n"
        "    register('Elixir.My.Agent', spawn(fun() -> rest() end)), spawn(called, only, []),\n"
        "    [spawn(called, many, []) || _ <- [1, 2, 3]], io:format(\"up~n\"), rest().\n"
        "only() -> rest().\nmany() -> rest().\nrest() -> receive never -> ok end.\nEND\n"
        "erlc called.erl; %s -noinput -pa . -s called main > up & p=$!; await up\n"
        "for w in My.Agent \"'Elixir.My.Agent'\" Elixir.My.Agent called:only/0 called:many/0 called:none/0; do\n"
        "$ERLSNOOP ps -p $p $w | grep -E '^(name|began with) '; echo ${PIPESTATUS[0]}; done; kill -9 $p", erls[_i]);
    bool ours = strstr(erls[_i], "ERLVM") != NULL; /* a stock Erlang does not keep which fun it is */
    char agent[128], wanted[512];

    snprintf(agent, sizeof agent, "name         My.Agent\nbegan with   %s\n0\n",
             ours ? "called:'-main/0-fun-0-'/0" : "erlang:apply/2");
    snprintf(wanted, sizeof wanted, "%s%s%sbegan with   called:only/0\n0\n1\n1\n", agent, agent, agent);
    ck_assert_msg(!strcmp(r->out, wanted), "%s%s", r->out, r->err);
    ck_assert_msg(strstr(r->err, "several processes are called 'called:many/0': <0.") != NULL, "%s", r->err);
    ck_assert_msg(strstr(r->err, "no process 'called:none/0' is in the VM") != NULL, "%s", r->err);
}
END_TEST

/* All of one, by its pid or its name, with its stack; a node that is stopped answers, too. */
START_TEST(test_ps_tells_all_of_one)
{
    const struct support_run *r = support_run(
        NODE "kill -STOP $p; e -p $p holder; q=$(e -p $p holder | sed -n 's/^process *//p'); e -p $p $q --json\n"
             "e -p $p ${q:1:-1} --terms | head -1; e -p $p nobody_there; echo status $?; e -p $p '<0.12345.9>'; kill -9 $p",
        erls[_i]);

    ck_assert_msg(line_has(r->out, "name ", "holder"), "%s%s", r->out, r->err);
    ck_assert(line_has(r->out, "began with", "snapshot_target:hold/2") && line_has(r->out, "binaries", "2.30 MB"));
    ck_assert(line_has(r->out, "status", "waiting") && line_has(r->out, "messages", " 0"));
    ck_assert_msg(line_has(r->out, "    1 snapshot_target:hold/2", "snapshot_target.erl:"), "%s", r->out);
    ck_assert(strstr(r->out, "\"type\":\"process_frame\"") && strstr(r->out, "\"depth\":1,\"function\":\"snapshot_target:hold/2\""));
    ck_assert_msg(strstr(r->out, "#{time => ") && strstr(r->out, "registered => <<\"holder\"/utf8>>"), "%s%s", r->out, r->err);
    ck_assert(strstr(r->out, "status 1") && strstr(r->err, "no process 'nobody_there' is in the VM"));
    ck_assert(strstr(r->err, "no process '<0.12345.9>' is in the VM") != NULL);
}
END_TEST

/* With an interval rates are told: of one that runs on a processor of its own, millions a second. */
START_TEST(test_ps_tells_rates)
{
    const struct support_run *r = support_run(
        NODE "e -p $p --sort reductions --top 1 .5 2 > t; grep -c PROCESSES t; grep '<0\\.' t; e -p $p --json .5 2 > j\n"
             "grep spinner j; kill -9 $p", erls[_i]);
    const char *spins = strstr(r->out, "\"owner\":\"spinner\"");

    ck_assert_msg(!strncmp(r->out, "2\n", 2), "%s%s", r->out, r->err);
    ck_assert_int_eq(support_lines(r->out, "snapshot_target:spin/0"), 4);
    ck_assert_msg(spins && !line_has(spins, "", "_per_s") && (spins = strstr(spins + 1, "\"owner\":\"spinner\"")) &&
                      line_has(spins, "", "_per_s"), "%s", r->out);
    ck_assert_int_gt(support_number(spins, "spinner", "reductions_per_s"), 10000);
}
END_TEST

/* Whose port is busy, with what, and on which scheduler the one process is that runs, but between two of its slices. */
START_TEST(test_ps_tells_ports_and_schedulers)
{
    const struct support_run *r = support_run(
        NODE "e -p $p --ports; e -p $p --ports --json; echo; for i in 1 2 3 4 5; do e -p $p --schedulers; done; kill -9 $p", erls[_i]);

    ck_assert_msg(line_has(r->out, "#Port<0.", "sh -c") && line_has(r->out, "#Port<0.", " busy ") &&
                      line_has(r->out, "#Port<0.", " kB "), "%s%s", r->out, r->err);
    ck_assert_int_gt(support_number(r->out, "\"state\":\"busy\"", "waiting_bytes"), 900000);
    ck_assert_int_le(support_number(r->out, "\"state\":\"busy\"", "waiting_bytes"), 1000003);
    ck_assert_msg(strstr(r->out, "normal 1") && strstr(r->out, "spinner") && strstr(r->out, "snapshot_target:spin/0"), "%s",
                  r->out);
}
END_TEST

/* A node that has died answers by its core file, as it would have. */
START_TEST(test_ps_tells_of_a_core_file)
{
    const struct support_run *r = support_run(
        NODE "x=$(readlink /proc/$p/exe); kill -ABRT $p; wait $p; c=$(echo core*)\n"
             "[ -s \"$c\" ] || { echo nowhere; exit; }\n"
             "e --core $c --top 2; e --core $c box; e --core $c --emulator $x --json > j; wc -l < j; e --core $c --emulator /bin/true\n"
             "e --core $c 1; e --core said; e --core none; e --core $c --ets; e --core $c --memory; e --core $c --atoms --top 1\n"
             "e --core $c box --json | grep process_messages; e --core $c frozen --json | grep process_messages", erls[_i]);

    if (!strcmp(r->out, "nowhere\n")) {
        printf("SKIP %s: /proc/sys/kernel/core_pattern leads cores elsewhere\n", __func__);
        return;
    }
    ck_assert_msg(line_has(r->out, "<0.", "box") && line_has(r->out, "<0.", " 997 "), "%s%s", r->out, r->err);
    ck_assert_msg(line_has(r->out, "messages ", "997") && line_has(r->out, "    1 snapshot", "snapshot_target:'-main/1-"), "%s", r->out);
    ck_assert_msg(strstr(r->err, "/bin/true, cannot be read as an Erlang VM") != NULL, "%s", r->err);
    ck_assert(strstr(r->err, "a core file does not change: it has no interval"));
    ck_assert_msg(strstr(r->err, "'said': it is no core file") != NULL, "%s", r->err);
    ck_assert_msg(strstr(r->err, "'none': it cannot be read: No such file") != NULL, "%s", r->err);
    ck_assert_msg(line_has(r->out, "ac_tab", "application_controller") || line_has(r->out, "ac_tab", "public"), "%s", r->out);
    ck_assert_msg(line_has(r->out, "resident", "a core file does not say"), "%s", r->out);
    ck_assert_msg(line_has(r->out, "total ", counts_memory(_i) ? "B " : "not known of this release"), "%s", r->out);
    ck_assert_msg(strstr(r->out, "\"count\":997,\"first\":1,\"shape\":\"{message, integer}\"") != NULL, "%s", r->out);
    ck_assert_msg(strstr(r->out, "\"count\":89,\"first\":1,\"shape\":\"{message, integer}\"") != NULL, "%s", r->out);
}
END_TEST

/* Whom the process is linked to, whom it watches and who watches it, and how many keys it has, as it says itself. */
START_TEST(test_ps_tells_links_monitors_and_keys)
{
    const struct support_run *r = support_run(
        NODE_OF("ps_target")
        "e -p $p hub --json > j; grep -c '\"type\":\"process_key\"' j; sed -n 's/^said keys //p' said; e -p $p hub > t\n"
        "for t in link monitors 'monitored by'; do\n"
        "  grep -v known_one j | grep \"\\\"tie\\\":\\\"$t\\\"\" |\n"
        "    sed 's/.*\"tie\":\"\\([^\"]*\\)\".*\"other\":\"\\([^\"]*\\)\".*/tie \\1 \\2/'\n"
        "done | sort > told; grep '^tie' said | grep -v known_one | sort | diff told - && echo same\n"
        "grep -c '\"name\":\"known_one\"' j; sed -n '/^ *links/p;/^monitors/p;/^monitored by/p' t; grep 'known_one\\|key_a\\|two' t\n"
        "grep -c secret t j; kill -9 $p", erls[_i]);

    ck_assert_msg(strstr(r->out, "14\n14 messages 13\n") == r->out, "%s%s", r->out, r->err);
    ck_assert_msg(strstr(r->out, "\nsame\n") != NULL, "%s%s", r->out, r->err);
    ck_assert_msg(line_has(r->out, "links", " 6") && line_has(r->out, "monitored by", " 7"), "%s", r->out);
    ck_assert_msg(line_has(r->out, "monitors", " 4") && strstr(r->out, "by its name known_one"), "%s", r->out);
    ck_assert_msg(line_has(r->out, "key_a", "{value, integer, binary(<=8)}"), "%s", r->out);
    ck_assert_msg(line_has(r->out, "{two, integer}", "string(<=8)"), "%s", r->out);
    ck_assert_msg(strstr(r->out, "t:0") && strstr(r->out, "j:0"), "contents are told that nobody asked for: %s", r->out);
}
END_TEST

/* Messages by their shape, those of which there are most first; their contents when they are asked for. */
START_TEST(test_ps_tells_messages_by_shape)
{
    const struct support_run *r = support_run(
        NODE_OF("ps_target")
        "e -p $p hub | sed -n '/SHAPE/,/^ *KEY/p'; e -p $p hub --contents; e -p $p hub --contents --json | grep -c process_message\n"
        "e -p $p hub --terms | grep -c 'process_messages'; kill -9 $p", erls[_i]);
    static const char *const shapes[][2] = {
        {"{'$gen_call'", "{'$gen_call', {pid, [alias | ref]}, {put, integer}}"},
        {"{'$gen_cast'", "{'$gen_cast', {stop, binary(<=8)}}"},
        {" 2 ", "binary(<=1024)"},
        {"{string", "{string(<=8), [integer, ...](<=16), #{a => integer, binary(<=1) => []}, integer(<=128 bits), float, fun}"},
        {"bitstring", "bitstring(<=4 bits)"},
        {"{part", "{part, binary(<=512), #{...}(<=128)}"},
    };

    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++)
        ck_assert_msg(line_has(r->out, shapes[i][0], shapes[i][1]), "%s: %s%s", shapes[i][1], r->out, r->err);
    ck_assert_msg(support_in_order(r->out, " 5 ", " 3 "), "%s", r->out);
    ck_assert_msg(strstr(r->out, "{put, 5}}") && strstr(r->out, "<<\"xxxxxxx\">>") && strstr(r->out, "\"secret\""), "%s", r->out);
    ck_assert_msg(strstr(r->out, "\n13\n") != NULL, "%s", r->out);
}
END_TEST

/* Calls in a mailbox, and those that nobody waits for: of callers that gave up, or have ended. Of one that is stopped, too. */
START_TEST(test_ps_tells_calls_that_nobody_waits_for)
{
    const struct support_run *r = support_run(
        NODE_OF("ps_target")
        "e -p $p post | grep -A1 'CALLER'; e -p $p known_one | grep -c CALLER; kill -STOP $p\n"
        "for w in post box hub known_one; do echo; echo $w; e -p $p $w --json | grep process_calls; done; kill -9 $p", erls[_i]);
    static const struct {
        const char *who;
        int calls, gave_up, ended;
    } rows[] = {{"\npost\n", 37, 11, 13}, {"\nbox\n", 3, 1, 1}, {"\nhub\n", 5, 5, 0}, {"\nknown_one\n", 0, 0, 0}};

    ck_assert_msg(line_has(r->out, "      37 ", " 11 ") && line_has(r->out, "      37 ", " 13 "), "%s%s", r->out, r->err);
    ck_assert_msg(strstr(r->out, "\n0\n") != NULL, "%s", r->out);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const char *who = strstr(r->out, rows[i].who);

        ck_assert_msg(who != NULL, "%s%s", r->out, r->err);
        ck_assert_int_eq(support_number(who, "process_calls", "calls"), rows[i].calls);
        ck_assert_int_eq(support_number(who, "process_calls", "gave_up"), rows[i].gave_up);
        ck_assert_int_eq(support_number(who, "process_calls", "ended"), rows[i].ended);
        ck_assert_int_eq(support_number(who, "process_calls", "elsewhere"), 0);
    }
}
END_TEST

/* Each table as ets:info/2 has it. */
START_TEST(test_ps_tells_ets_tables)
{
    const struct support_run *r = support_run(
        NODE_OF("ps_target")
        "e -p $p --ets --json > j; grep -c ets_table j; sed -n 's/^said tables //p' said\n"
        "grep '\"name\":\"own_' j | sed 's/.*\"name\":\"\\([^\"]*\\)\",\"reference\":\"\\([^\"]*\\)\",\"named\":\"\\([^\"]*\\)\",\"process\":\"\\([^\"]*\\)\".*\"type\":\"\\([^\"]*\\)\",\"rows\":\\([0-9]*\\),\"memory_words\":\\([0-9]*\\),\"protection\":\"\\([a-z]*\\)\",\"keypos\":\\([0-9]*\\).*/table \\1 \\3 \\2 \\5 \\6 \\7 \\8 \\9 \\4/' |\n"
        "  sed 's/ true #Ref<[0-9.]*>/ true/' | sort > told; grep '^table' said | sort | diff told - && echo same\n"
        "e -p $p --ets --top 100 > t; grep own_ t; grep -c . t; e -p $p --ets --top 1 | grep -c own_set; kill -9 $p", erls[_i]);
    unsigned told = 0, said = 1;

    ck_assert_int_eq(sscanf(r->out, "%u %u", &told, &said), 2);
    ck_assert_msg(told == said, "%s%s", r->out, r->err);
    ck_assert_msg(strstr(r->out, "\nsame\n") != NULL, "%s%s", r->out, r->err);
    ck_assert_msg(line_has(r->out, "own_fixed", "keypos 2, fixed 1 times by <0."), "%s", r->out);
    ck_assert_msg(line_has(r->out, "own_squeezed", "compressed, heir <0."), "%s", r->out);
    ck_assert_msg(line_has(r->out, "own_tree", "ordered_set") && line_has(r->out, "own_tree", "read_concurrency"), "%s", r->out);
    ck_assert_msg(line_has(r->out, "own_auto", "write_concurrency auto"), "%s", r->out);
}
END_TEST

/* Long names give way on a terminal: who it is, its state and where it stands are in each table. Smaller ETS tables that
 * are not shown are one row, and nothing is lost. */
START_TEST(test_ps_fits_a_terminal)
{
    const struct support_run *r = support_run(
        NODE_OF("ps_target")
        "for o in '' '--sort age' --ets '--ets --top 1' --ports --memory; do terminal 80 \"$ERLSNOOP ps -p $p $o\"; done\n"
        "$ERLSNOOP list -p $p > l; terminal 80 \"$ERLSNOOP list -p $p\"; sed -n 's/.* \\(all but .*\\|all\\)$/ \\1/p' l; kill -9 $p",
        erls[_i]);

    ck_assert_msg(support_width(r->out) <= 80, "%s%s", r->out, r->err);
    ck_assert_int_eq(support_lines(r->out, " STATUS "), 2);
    ck_assert_int_ge(support_lines(r->out, " waiting"), 30);
    ck_assert_msg(strstr(r->out, "application_..") != NULL, "%s", r->out);
    ck_assert_msg(strstr(r->out, "compressed, heir <0.") != NULL, "%s", r->out);
    ck_assert_msg(line_has(r->out, "(other)", " tables ") && !strstr(r->out, "LOST"), "%s", r->out);
    ck_assert_int_eq(support_lines(r->out, " OWNER                   STATE"), 1);
    ck_assert_int_eq(support_lines(r->out, _i ? " all\n" : " all but calls, user\n"), 2);
}
END_TEST

/* Whether the JSON line of `kind` tells a number as near to what the node said as so many percent. */
static void assert_near(const struct support_run *r, const char *kind, const char *said_kind, int percent)
{
    char mark[64];
    long long said = 0, told;
    const char *line;

    snprintf(mark, sizeof mark, "said memory %s ", said_kind);
    line = strstr(r->out, mark);
    ck_assert_msg(line && sscanf(line + strlen(mark), "%lld", &said) == 1, "%s: %s", mark, r->out);
    snprintf(mark, sizeof mark, "\"kind\":\"%s\"", kind);
    ck_assert_msg(line_has(r->out, mark, "size_bytes"), "%s: %s%s", mark, r->out, r->err);
    told = support_number(r->out, mark, "size_bytes");
    ck_assert_msg(llabs(told - said) <= said * percent / 100 + 65536, "%s: told %lld, said %lld", kind, told, said);
}

/* What erlang:memory/0 says, and how many atoms there are. */
START_TEST(test_ps_tells_memory_and_atoms)
{
    const struct support_run *r = support_run(
        NODE_OF("ps_target")
        "e -p $p --memory --json; e -p $p --memory; grep '^said memory' said; sed -n 's/^said/node/p' said | grep atoms\n"
        "e -p $p --atoms --top 200 --json; e -p $p --atoms --top 200; e -p $p --atoms --json | grep -c '\"type\":\"atom\"'; kill -9 $p",
        erls[_i]);
    static const struct {
        const char *kind, *said;
        int percent;
    } near[] = {{"total", "total", 10}, {"processes", "processes", 15}, {"system", "system", 10}, {"binary", "binary", 30},
                {"ets", "ets", 40} /* of a stock one without its list of tables */,     {"atom_used", "atom_used", 2},  {"code", "code", 25}};
    long said = -1;

    for (size_t i = 0; i < sizeof near / sizeof *near && counts_memory(_i); i++)
        assert_near(r, near[i].kind, near[i].said, near[i].percent);
    ck_assert_msg(counts_memory(_i) || line_has(r->out, "\"kind\":\"total\"", "not known of this release"), "%s", r->out);
    ck_assert_int_gt(support_number(r->out, "\"kind\":\"resident\"", "size_bytes"), 10 << 20);
    ck_assert_int_eq(sscanf(strstr(r->out, "node atoms "), "node atoms %ld", &said), 1);
    /* waiting for a line may load a module, with its atoms */
    ck_assert_int_ge(support_number(r->out, "\"type\":\"vm_atoms\"", "atoms"), said);
    ck_assert_int_le(support_number(r->out, "\"type\":\"vm_atoms\"", "atoms"), said + 200);
    ck_assert_int_eq(support_number(r->out, "\"type\":\"vm_atoms\"", "atom_limit"), 1048576);
    ck_assert_msg(strstr(r->out, "\"atom\":\"the_newest\"") && strstr(r->out, " the_newest"), "%s", r->out);
    ck_assert_msg(strstr(r->out, "evil") && !strchr(r->out, '\033'), "%s", r->out);
}
END_TEST

/* How many atoms are new since the table before, and which; that there is room for as many for so long. */
START_TEST(test_ps_tells_new_atoms)
{
    const struct support_run *r = support_run(
        NODE_OF("ps_target")
        "$ERLSNOOP ps -p $p --atoms --json --top 1000 1 > j & w=$!; until grep -q '\"type\":\"vm_atoms\".*\"new\"' j; do sleep .05; done\n"
        "echo >&9; until grep -q made_211 j; do sleep .05; done; kill -INT $w; wait $w; grep -c '\"atom\":\"made_' j\n"
        "sed -n '/\"type\":\"vm_atoms\"/s/.*\"new\":\\([0-9]*\\).*/new \\1/p' j; echo; grep vm_atoms j\n"
        "e -p $p --atoms .1 2 | grep -A1 'DAYS LEFT'; e -p $p --atoms | grep -c DAYS; kill -9 $p", erls[_i]);
    long sum = 0, most = 0;

    ck_assert_msg(!strncmp(r->out, "211\n", 4), "each is told once: %s%s", r->out, r->err);
    for (const char *at = strstr(r->out, "new "); at; at = strstr(at + 1, "\nnew ") ? strstr(at + 1, "\nnew ") + 1 : NULL) {
        long more = atol(at + 4);

        sum += more;
        most = more > most ? more : most;
    }
    /* what it does beside that may make some */
    ck_assert_msg(sum >= 211 && sum < 600 && most >= 1, "%s", r->out);
    ck_assert_msg(strstr(r->out, "\"days_left\":") && strstr(r->out, "\"new_per_s\":"), "%s", r->out);
    ck_assert_msg(strstr(r->out, "DAYS LEFT") && strstr(r->out, "\n0\n"), "%s", r->out);
}
END_TEST

/* Who watches how many, and by how many more that grows; what they do is read of a VM that is stopped, too. */
START_TEST(test_ps_tells_monitors)
{
    const struct support_run *r = support_run(
        NODE_OF("ps_target")
        "kill -STOP $p; e -p $p --monitors --json > j; grep '\"owner\":\"hub\"' j; kill -CONT $p; e -p $p --monitors --top 3\n"
        "echo; $ERLSNOOP ps -p $p --monitors --json .2 > j & w=$!; until grep -q '\"owner\":\"hub\".*\"more_per_s\"' j; do sleep .05; done\n"
        "echo >&9; until grep -q '\"owner\":\"watcher\".*\"monitors\":101,' j; do sleep .05; done; kill -INT $w; wait $w\n"
        "grep '\"owner\":\"watcher\".*\"monitors\":101,' j | head -1; kill -9 $p", erls[_i]);

    ck_assert_int_eq(support_number(r->out, "\"owner\":\"hub\"", "monitors"), 4);
    ck_assert_int_eq(support_number(r->out, "\"owner\":\"hub\"", "watched_by"), 7);
    ck_assert_int_eq(support_number(r->out, "\"owner\":\"hub\"", "links"), 6);
    ck_assert_msg(support_in_order(r->out, "MONITORS MORE PER S", "\n\n"), "%s%s", r->out, r->err);
    ck_assert_msg(strstr(r->out, "\"owner\":\"watcher\"") != NULL, "%s%s", r->out, r->err);
    ck_assert_int_gt(support_number(r->out, "\"owner\":\"watcher\"", "more_per_s"), 50);
}
END_TEST

/* Who was born first; who uses a processor. */
START_TEST(test_ps_sorts_by_age_and_by_what_was_done_lately)
{
    const struct support_run *r = support_run(
        NODE "e -p $p --sort age --top 3; e -p $p --sort age --json > j; sed -n 's/.*\"born\":\\([0-9]*\\).*/\\1/p' j > b\n"
             "sort -n b | diff - b && [ -s b ] && echo ordered; e -p $p --sort cpu --top 1; kill -9 $p", erls[_i]);
    const char *cpu = strstr(r->out, "ordered");

    ck_assert_msg(line_has(r->out, "<0.0.0>", "init") && cpu, "%s%s", r->out, r->err);
    ck_assert_msg(support_in_order(r->out, "BORN", "<0.0.0>"), "%s", r->out);
    ck_assert_msg(line_has(cpu, "<0.", "spinner") && strstr(cpu, "REDS/S"), "%s", r->out);
}
END_TEST

static const struct {
    const char *line, *says;
} wrong[] = {
    {"--sort size", "--sort must be mailbox, memory, binaries, reductions, cpu or age, not 'size'"},
    {"--top 0", "--top must be a number from 1"},
    {"--ports --schedulers", "choose one of a process, --ports, --schedulers, --ets, --memory, --atoms and --monitors"},
    {"init --ports", "choose one of a process, --ports, --schedulers, --ets, --memory, --atoms and --monitors"},
    {"--ets --memory", "choose one of a process, --ports, --schedulers, --ets, --memory, --atoms and --monitors"},
    {"--ports --top 3", "--top is of the tables of processes, of ETS tables, of atoms and of monitors"},
    {"--atoms --sort age", "--sort is of the table of processes"},
    {"--contents", "--contents is of one process: say which"},
    {"--core x --sort cpu", "a core file does not change: nobody in it uses a processor (--sort cpu)"},
    {"--emulator /bin/true", "--emulator needs --core"},
    {"-p 1 --core x", "choose one of -p PID and --core FILE"},
    {"init logger", "unexpected argument 'logger'"},
    {"1 2 3", "unexpected argument '3'"},
    {"1 0", "count must be a number from 1"},
    {"-p 1", "process 1 "},
};

START_TEST(test_ps_refuses)
{
    const struct support_run *r = support_run("$ERLSNOOP ps %s", wrong[_i].line);

    ck_assert_int_ne(r->status, 0);
    ck_assert_msg(strstr(r->err, wrong[_i].says) && support_lines(r->err, "") <= 1 && !*r->out, "%s%s", r->out, r->err);
}
END_TEST

Suite *ps_suite(void)
{
    Suite *suite = suite_create("ps");
    TCase *live = tcase_create("live"), *usage = tcase_create("usage");
    int n = sizeof erls / sizeof *erls;

    tcase_set_timeout(live, 60);
    tcase_add_loop_test(live, test_ps_tells_who_has_most, 0, n);
    tcase_add_loop_test(live, test_ps_finds_a_process_by_what_it_is_called, 0, n);
    tcase_add_loop_test(live, test_ps_tells_all_of_one, 0, n);
    tcase_add_loop_test(live, test_ps_tells_rates, 0, n);
    tcase_add_loop_test(live, test_ps_tells_ports_and_schedulers, 0, n);
    tcase_add_loop_test(live, test_ps_tells_of_a_core_file, 0, n);
    tcase_add_loop_test(live, test_ps_tells_links_monitors_and_keys, 0, n);
    tcase_add_loop_test(live, test_ps_tells_messages_by_shape, 0, n);
    tcase_add_loop_test(live, test_ps_tells_calls_that_nobody_waits_for, 0, n);
    tcase_add_loop_test(live, test_ps_tells_ets_tables, 0, n);
    tcase_add_loop_test(live, test_ps_fits_a_terminal, 0, n);
    tcase_add_loop_test(live, test_ps_tells_memory_and_atoms, 0, n);
    tcase_add_loop_test(live, test_ps_tells_new_atoms, 0, n);
    tcase_add_loop_test(live, test_ps_tells_monitors, 0, n);
    tcase_add_loop_test(live, test_ps_sorts_by_age_and_by_what_was_done_lately, 0, n);
    tcase_add_loop_test(usage, test_ps_refuses, 0, sizeof wrong / sizeof *wrong);
    suite_add_tcase(suite, live);
    suite_add_tcase(suite, usage);
    return suite;
}
