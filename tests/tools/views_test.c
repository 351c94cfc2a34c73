/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What all views have in common: their output, held against tests/tools/golden/<view>.txt and .json, and the rows of bpf/views.def against
 * what they name. In the files what differs from run to run is a letter: R a rate, T a time, V the VM; lines of histograms are left out.
 */
#include <string.h>

#include "plan.h"
#include "support.h"
#include "views.h"

static const struct {
    const char *command, *fires;
} runs[] = {
    {"spawns --events", "'process__spawn=7||a:f/1' 'process__spawn=1|<0.7.0>|b:f/1' 'process__exit=5||killed' process__exit=1"},
    {"msglat --events", "'message__send=7||<0.%d.0>' 'process__scheduled=4|<0.%d.0>|a:f/1' 'process__scheduled=6|<0.%d.0>|b:g/2' message__send=2"},
};

/* UPDATE_GOLDEN=1 writes the files anew. */
START_TEST(test_views_print_what_the_golden_files_have)
{
    SUPPORT_BPF();
    const struct support_run *r = support_run(
        "set -- %s\n"
        "$ERLSNOOP %s -- $EMITTER \"$@\" | grep -vE '^[a-z_]+ [0-9]+ [0-9]+$| [.][.] ' | sed -E 's,[0-9]{2}:[0-9]{2}:[0-9]{2}[.][0-9]+,T,; "
        "s, +[0-9.]+/s,  R/s,g; s, +[0-9.]+ (ns|us|ms|s)\\b,  T,g; s, +[0-9]{4}[0-9]*( +[<a-z{(]), V\\1,' > now.txt\n"
        "$ERLSNOOP %s --json -- $EMITTER \"$@\" | grep '^{' | sed -E 's,\"time\":\"[^\"]*\",\"time\":T,; s,(_per_s\":)[0-9.]+,\\1R,g; "
        "s,((_|\")[a-z0-9_]+_ns\":)[0-9]+,\\1T,g; s,\"vm\":[0-9]+,\"vm\":V,; s,\"slots\":.*,\"slots\":[]},' > now.json\n"
        "cd $SOURCE/tests/tools/golden; v=%.*s; [ -z \"$UPDATE_GOLDEN\" ] || cp $OLDPWD/now.txt $v.txt; [ -z \"$UPDATE_GOLDEN\" ] || cp $OLDPWD/now.json $v.json\n"
        "diff $v.txt $OLDPWD/now.txt && diff $v.json $OLDPWD/now.json",
        runs[_i].fires, runs[_i].command, runs[_i].command, (int)strcspn(runs[_i].command, " "), runs[_i].command);

    ck_assert_str_eq(r->out, "");
    ck_assert_int_eq(r->status, 0);
}
END_TEST

START_TEST(test_views_name_probes_and_arguments_that_there_are)
{
    for (size_t i = 0; i < view_nons; i++) {
        ck_assert_msg(plan_find_probe(view_ons[i].probe) < PLAN_NEVENTS, "%s: no event %s", views[view_ons[i].view].name, view_ons[i].probe);
        view_reads(view_ons[i].view, view_ons[i].probe); /* aborts on an argument that there is not */
    }
}
END_TEST

/* What is kept by process ends with it. */
START_TEST(test_views_with_state_are_told_of_exits)
{
    for (size_t i = 0; i < view_nstates; i++)
        ck_assert_msg(view_wants(view_states[i].view, "process__exit", VIEW_ANY), "%s keeps states of processes that ended", view_states[i].map);
}
END_TEST

START_TEST(test_views_tables_fit_their_sinks)
{
    for (size_t i = 0; i < VIEW_NTABLES; i++) {
        const struct view_table *t = view_table((enum view_table_id)i);

        ck_assert_int_gt(t->sink.ncolumns, 0);
        ck_assert_int_le(t->sink.ncolumns, SINK_MAX_COLUMNS);
        for (size_t c = 0; c < t->ncolumns; c++)
            ck_assert_msg(t->columns[c].table == i, "%s: its columns do not follow it", t->sink.name);
    }
}
END_TEST

Suite *views_suite(void)
{
    Suite *suite = suite_create("views");
    TCase *rows = tcase_create("rows"), *live = tcase_create("live");

    tcase_add_test(rows, test_views_name_probes_and_arguments_that_there_are);
    tcase_add_test(rows, test_views_with_state_are_told_of_exits);
    tcase_add_test(rows, test_views_tables_fit_their_sinks);
    suite_add_tcase(suite, rows);
    tcase_set_timeout(live, 60);
    tcase_add_loop_test(live, test_views_print_what_the_golden_files_have, 0, sizeof runs / sizeof *runs);
    suite_add_tcase(suite, live);
    return suite;
}
