/* SPDX-License-Identifier: Apache-2.0 */
/* erlsnoop blame: the graph of who waits for whom, and what is told of nodes in which that is known (blame_target.erl). */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "diagnose/blame.h"
#include "support.h"

static void add(struct blame *b, ev_id who, ev_id whom)
{
    struct wait wait = {.id = who, .whom = whom, .of = 1};

    if (!whom)
        snprintf(wait.what, sizeof wait.what, "a port");
    ck_assert_int_eq(blame_add(b, &wait), 0);
}

static const struct blame_node *at(const struct blame *b, ev_id id)
{
    const struct blame_node *node = blame_find(b, id);

    ck_assert_ptr_nonnull(node);
    return node;
}

START_TEST(test_blame_counts_who_waits)
{
    struct blame b = {0};

    add(&b, 30, 20); /* before that who waits itself */
    add(&b, 20, 10);
    for (ev_id id = 100; id < 123; id++)
        add(&b, id, 20);
    add(&b, 31, 30);
    add(&b, 20, 99); /* it waits for one only */
    add(&b, 40, 0);
    add(&b, 41, 0);
    ck_assert_int_eq(blame_link(&b, 1, NULL), 0);
    ck_assert_uint_eq(b.waiting, 28);
    ck_assert_uint_eq(at(&b, 10)->waiters, 26);
    ck_assert_uint_eq(at(&b, 20)->waiters, 25);
    ck_assert_uint_eq(at(&b, 30)->waiters, 1);
    ck_assert_uint_eq(at(&b, 31)->waiters, 0);
    for (ev_id id = 100; id < 123; id++)
        ck_assert_ptr_eq(&b.nodes[at(&b, id)->root], at(&b, 10));
    ck_assert_ptr_eq(&b.nodes[at(&b, 31)->root], at(&b, 10));
    ck_assert_str_eq(b.nodes[at(&b, 41)->root].thing, "a port");
    ck_assert_uint_eq(b.nodes[at(&b, 41)->root].waiters, 2);
    ck_assert_ptr_null(blame_find(&b, 11));
    blame_end(&b);
}
END_TEST

START_TEST(test_blame_finds_circles)
{
    struct blame b = {0};

    add(&b, 7, 7); /* it asked itself */
    add(&b, 1, 2);
    add(&b, 2, 3);
    add(&b, 3, 1);
    add(&b, 50, 2);
    add(&b, 51, 50);
    add(&b, 60, 61);
    ck_assert_int_eq(blame_link(&b, 1, NULL), 0);
    ck_assert(at(&b, 7)->in_circle && at(&b, 7)->waiters == 1);
    for (ev_id id = 1; id <= 3; id++) {
        ck_assert(at(&b, id)->in_circle);
        ck_assert_uint_eq(at(&b, id)->waiters, 5);
        ck_assert_ptr_eq(&b.nodes[at(&b, id)->root], at(&b, 1));
    }
    ck_assert(!at(&b, 50)->in_circle && b.nodes[at(&b, 51)->root].in_circle);
    ck_assert_ptr_eq(&b.nodes[at(&b, 51)->root], at(&b, 1));
    ck_assert(!at(&b, 61)->in_circle && at(&b, 61)->waiters == 1);
    blame_end(&b);
}
END_TEST

/* A tree as deep as there are processes, and one that waits for the same as before. */
START_TEST(test_blame_knows_what_was_before)
{
    enum { DEEP = 100000 };
    struct blame before = {0}, now = {0};

    for (ev_id id = 1; id <= DEEP; id++) {
        add(&before, id, id + 1);
        add(&now, id, id == 5 ? 0 : id + 1);
    }
    ck_assert_int_eq(blame_link(&before, 1, NULL), 0);
    ck_assert_int_eq(blame_link(&now, 2, &before), 0);
    ck_assert_uint_eq(at(&before, DEEP + 1)->waiters, DEEP);
    ck_assert_uint_eq(at(&now, DEEP + 1)->waiters, DEEP - 5);
    ck_assert(at(&now, 4)->since_ns == 1 && at(&now, 5)->since_ns == 2 && at(&now, 6)->since_ns == 1);
    blame_end(&before);
    blame_end(&now);
}
END_TEST

static const char *const erls[] = {"erl", "$ERLVM"};

#define NODE                                                                                                           \
    "erlc $SOURCE/tests/tools/blame_target.erl; mkfifo in\n"                                                           \
    "%s -noshell -pa . -s blame_target main < in > said & p=$!; exec 9> in; await said\n"

START_TEST(test_blame_tells_who_waits_for_whom)
{
    const struct support_run *r = support_run(
        NODE "$ERLSNOOP blame -p $p -d 0.3 --json > j; echo status $?; grep -c '\"type\":\"wait\"' j\n"
             "grep -c '\"owner\":\"blame_target:web/0\",\"for\":\"answer\",.*\"whom_owner\":\"cache\",\"at_least_ns\":[0-9]*,.*\"root\":\"database <' j\n"
             "grep -c '\"owner\":\"cache\".*\"whom_owner\":\"database\".*\"root_does\":\"waiting in blame_target:' j\n"
             "grep -c '\"owner\":\"\\(left\\|right\\)\".*\"deadlock\":\"true\",\"waiters\":2' j\n"
             "grep -c '\"owner\":\"writer\",\"for\":\"port\",.*sleep 1' j; grep -c busy_server j; kill -9 $p", erls[_i]);

    ck_assert_msg(!strcmp(r->out, "status 0\n24\n20\n1\n2\n1\n0\n"), "%s%s", r->out, r->err);
}
END_TEST

START_TEST(test_blame_for_people)
{
    const struct support_run *r = support_run(
        NODE "terminal 80 \"$ERLSNOOP blame -p $p -d 0.3\"; $ERLSNOOP blame -p $p -d 0.1 --top 1 > one; grep -c . one; kill -9 $p", erls[_i]);
    const char *root = strstr(r->out, "     21 database <0.");

    ck_assert_msg(!strncmp(r->out, "WAITERS WHO ", 12) && strstr(r->out, "DEADLOCK: waits for "), "%s%s", r->out, r->err);
    ck_assert_msg(root && strstr(root, "\n     20   cache <0.") && strstr(root, "20 x blame_target:web/0"), "%s", r->out);
    ck_assert_msg(strstr(r->err, "24 of ") && strstr(r->err, " wait for another, a port or a node"), "%s", r->err);
    ck_assert_msg(strstr(r->out, "\n3\n") != NULL, "%s", r->out); /* the head, and the two of the deadlock */
    ck_assert_int_le(support_width(r->out), 80);
}
END_TEST

/* The picture has a box for each row, and an arrow for each that waits; it is there as a whole, and yours alone. */
START_TEST(test_blame_draws_a_picture)
{
    const struct support_run *r = support_run(
        NODE "$ERLSNOOP blame -p $p -d 0.3 --svg pic > t; echo status $?; stat -c %%a pic; kill -9 $p\n"
             "for c in dead root waits rest; do echo $c $(grep -c \"<g class=\\\"$c\\\"\" pic); done\n"
             "grep -c '<path.* marker-end' pic; grep -c '<path class=\"dead\"' pic; grep -c '>21 wait for it<' pic\n"
             "python3 -c 'import xml.sax; xml.sax.parse(\"pic\", xml.sax.ContentHandler())' && echo well-formed\n"
             "$ERLSNOOP blame -p $$ --svg no/pic; echo status $?", erls[_i]);

    ck_assert_msg(!strcmp(r->out, "status 0\n600\ndead 2\nroot 2\nwaits 3\nrest 0\n5\n2\n1\nwell-formed\nstatus 1\n"), "%s%s",
                  r->out, r->err);
    ck_assert_msg(strstr(r->err, "cannot write 'no/pic'") != NULL, "%s", r->err);
}
END_TEST

/* Names stay text, whatever they hold. However many wait, it has 500 boxes at most, and says what it leaves out. */
START_TEST(test_blame_draws_what_there_is_room_for)
{
    const struct support_run *r = support_run(
        "erlc $SOURCE/tests/tools/blame_target.erl; mkfifo in\n"
        "%s -noshell -pa . -s blame_target many < in > said & p=$!; exec 9> in; await said\n"
        "$ERLSNOOP blame -p $p -d 0.1 --top 1000 --svg all > t; $ERLSNOOP blame -p $p -d 0.1 --top 1 --svg one >> t\n"
        "$ERLSNOOP blame -p $p -d 0.1 --top 301 > t; kill -9 $p; grep '^ *3000 ' t; tail -1 t\n"
        "grep -c '<rect x' all; grep -o 'left out[^<]*' all; grep -o 'left out[^<]*' one; grep -ci '<script' all one\n"
        "LC_ALL=C grep -c $'[\\x01-\\x08\\x1b]\\|\\xe2\\x80\\xae' all\n"
        "python3 -c 'import xml.sax; xml.sax.parse(\"all\", xml.sax.ContentHandler())' && echo well-formed", erls[_i]);

    ck_assert_msg(strstr(r->out, "   3000 '</text><script>") && strstr(r->out, "(2995 others)"), "%s%s", r->out, r->err);
    ck_assert_msg(strstr(r->out, "\n500\nleft out: 107 boxes, of more than 500\nleft out: 300 more that others wait for; "
                                 "--top N draws them\nall:0\none:0\n0\nwell-formed\n") != NULL, "%s%s", r->out, r->err);
}
END_TEST

/* A node that has died answers by its core file: once, so for how long they wait is not told. */
START_TEST(test_blame_of_a_core_file)
{
    const struct support_run *r = support_run(
        "ulimit -c unlimited\n"
        NODE "kill -ABRT $p; wait $p; c=$(echo core*); [ -s \"$c\" ] || { echo nowhere; exit; }\n"
             "$ERLSNOOP blame --core $c --svg pic; $ERLSNOOP blame --core $c --json > j; grep -c '\"type\":\"wait\"' j\n"
             "grep -c at_least j; grep -c '<g class=' pic; head -c 100000 $c > cut; $ERLSNOOP blame --core cut; echo status $?\n"
             "$ERLSNOOP blame --core $c -d 1", erls[_i]);

    if (!strcmp(r->out, "nowhere\n")) {
        printf("SKIP %s: /proc/sys/kernel/core_pattern leads cores elsewhere\n", __func__);
        return;
    }
    ck_assert_msg(strstr(r->out, "     21 database <0.") && strstr(r->out, "20 x blame_target:web/0") &&
                      strstr(r->out, "  writer <0.") && strstr(r->out, "DEADLOCK: waits for "), "%s%s", r->out, r->err);
    ck_assert_msg(strstr(r->out, "\n24\n0\n7\nstatus 1\n") != NULL, "%s%s", r->out, r->err);
    ck_assert_msg(strstr(r->err, "a core file does not change: it is looked at once") != NULL, "%s", r->err);
}
END_TEST

START_TEST(test_blame_refuses)
{
    const struct support_run *r = support_run("$ERLSNOOP blame -d x; $ERLSNOOP blame -p 1 -d 1; $ERLSNOOP blame --top 0");

    ck_assert_msg(strstr(r->err, "-d must be seconds") && strstr(r->err, "process 1 ") && strstr(r->err, "--top"), "%s", r->err);
    ck_assert_str_eq(r->out, "");
}
END_TEST

Suite *blame_suite(void)
{
    Suite *suite = suite_create("blame");
    TCase *graph = tcase_create("graph"), *live = tcase_create("live");

    tcase_set_timeout(live, 60);
    tcase_add_test(graph, test_blame_counts_who_waits);
    tcase_add_test(graph, test_blame_finds_circles);
    tcase_add_test(graph, test_blame_knows_what_was_before);
    tcase_add_loop_test(live, test_blame_tells_who_waits_for_whom, 0, 2);
    tcase_add_loop_test(live, test_blame_for_people, 0, 2);
    tcase_add_loop_test(live, test_blame_draws_a_picture, 0, 2);
    tcase_add_loop_test(live, test_blame_draws_what_there_is_room_for, 0, 2);
    tcase_add_loop_test(live, test_blame_of_a_core_file, 0, 2);
    tcase_add_test(live, test_blame_refuses);
    suite_add_tcase(suite, graph);
    suite_add_tcase(suite, live);
    return suite;
}
