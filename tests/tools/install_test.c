/* SPDX-License-Identifier: Apache-2.0 */
/* What others get of us: a program that needs nothing but libc, and what is installed with it. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../erlvm_needed.h"
#include "support.h"

static const char *const commands[] = {
#define CMD(name, text) #name,
#include "../../tools/cmd/cmds.def"
};
enum { NCOMMANDS = sizeof commands / sizeof *commands };

/* What erlsnoop needs at run time, and says that it was built without, by STATIC of its build (Makefile). */
static const struct {
    const char *statically, *needs, *version;
} builds[] = {
    {"", "libc\n", "Built without: TLS\n"},
    {"0", "libbpf\nlibc\nlibcapstone\nlibdw\nlibelf\nlibmicrohttpd\nlibz\nlibzstd\n", ""},
    {"1", "", "Built without: TLS, debuginfod\n"},
};

static size_t own_build(void)
{
    size_t i = 0;

    while (i + 1 < sizeof builds / sizeof *builds && strcmp(builds[i].statically, STATIC))
        i++;
    ck_assert_str_eq(builds[i].statically, STATIC);
    return i;
}

/* A sanitizer brings libraries of its own. */
START_TEST(test_install_erlsnoop_needs_what_is_not_linked_in)
{
    const struct support_run *r = support_run("readelf -d $ERLSNOOP | sed -n 's/.*(NEEDED).*\\[\\(.*\\)\\.so.*/\\1/p' "
                                              "| LC_ALL=C sort |\n"
                                              "grep -vxE 'libm|libgcc_s|lib[a-z]+san|ld-linux-x86-64'; true");

    ck_assert_str_eq(r->err, "");
    ck_assert_str_eq(r->out, builds[own_build()].needs);
}
END_TEST

START_TEST(test_install_version_says_what_was_left_out)
{
    const struct support_run *r = support_run("$ERLSNOOP --version | sed 1d");

    ck_assert_str_eq(r->out, builds[own_build()].version);
}
END_TEST

#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__) /* builds that no scripts are made of */
/* Below `root`, whose prefix is /opt/with space. */
static const char install[] = "act() { BUILD=${ERLSNOOP%/*} DESTDIR=$PWD/root PREFIX='/opt/with space' bash "
                              "$SOURCE/install.sh $1; }\n"
                              "act install; cd 'root/opt/with space'\n";

START_TEST(test_install_puts_everything_where_it_is_looked_for)
{
    const struct support_run *r = support_run("%sfind . ! -type d | sed 's,^\\./,,' | LC_ALL=C sort | grep -v "
                                              "/bpftrace/\n"
                                              "ls share/erlsnoop/bpftrace | diff - <(cd $SOURCE/bpftrace && ls *.bt *.bt.in | "
                                              "sed s/.in$// | sort) "
                                              "&& echo scripts\n"
                                              "find . -perm /111 -type f ! -name '*.bt' | LC_ALL=C sort; "
                                              "find . ! -type l -perm /022\n",
                                              install);

    ck_assert_str_eq(r->err, "");
    ck_assert_str_eq(r->out, "bin/erlsnoop\nbin/erlvm\nlib/erlvm/bin/erl\nlib/erlvm/bin/erlvm\n"
                             "share/bash-completion/completions/erlsnoop\n"
                             "share/doc/erlsnoop/CHANGELOG.md\n"
                             "share/doc/erlsnoop/LICENSES/Apache-2.0.txt\n"
                             "share/doc/erlsnoop/LICENSES/BSD-2-Clause.txt\n"
                             "share/doc/erlsnoop/LICENSES/GPL-2.0-only.txt\n"
                             "share/doc/erlsnoop/ONELINERS.md\nshare/doc/erlsnoop/README.md\n"
                             "share/doc/erlsnoop/docs/coverage.md\nshare/doc/erlsnoop/docs/dtrace.md\nshare/doc/erlsnoop/docs/erlsnoop.md\nshare/doc/erlsnoop/docs/illnesses.md\n"
                             "share/doc/erlsnoop/docs/probes.md\nshare/doc/erlsnoop/docs/views.md\n"
                             "share/doc/erlsnoop/docs/vm.md\nshare/doc/erlvm/vm.md\n"
                             "share/erlsnoop/grafana/erlsnoop.json\n"
                             "share/man/man1/erlsnoop.1\nshare/man/man1/erlvm.1\n"
                             "share/zsh/site-functions/_erlsnoop\n"
                             "scripts\n./bin/erlsnoop\n./bin/erlvm\n./lib/erlvm/bin/erl\n");
}
END_TEST

START_TEST(test_install_what_is_installed_runs)
{
    const struct support_run *r = support_run("%sbin/erlsnoop --version | head -1\n", install);

    ck_assert_str_eq(r->err, "");
    ck_assert_msg(!strncmp(r->out, "erlsnoop ", 9), "%s", r->out);
    erlvm_needed();
    r = support_run("%stell() { \"$1\" -noshell -eval 'io:put_chars(erlang:system_info(otp_release)), halt().'; }\n"
                    "[ \"$(tell lib/erlvm/bin/erl)\" = \"$(tell erl)\" ] && tell lib/erlvm/bin/erl | grep -c '^2'",
                    install);
    ck_assert_str_eq(r->err, "");
    ck_assert_str_eq(r->out, "1\n");
}
END_TEST

START_TEST(test_install_is_taken_away_again)
{
    const struct support_run *r = support_run("%smkdir -p share/erlsnoop/bpftrace; touch "
                                              "share/erlsnoop/bpftrace/another\n"
                                              "cd ../../..; act uninstall; find root ! -type d; "
                                              "find root -name '*erl*'; act nonsense\n",
                                              install);

    ck_assert_str_eq(r->out, "root/opt/with space/share/erlsnoop/bpftrace/another\n"
                             "root/opt/with space/share/erlsnoop\n");
    ck_assert_str_eq(r->err, "install.sh does not know 'nonsense'\n");
    ck_assert_int_eq(r->status, 2);
}
END_TEST
#endif

/* A page that is sound, with a section for each command that has each of its options. */
START_TEST(test_install_man_pages_tell_every_option)
{
    const struct support_run *r;
    char list[512] = "";

    for (size_t i = 0; i < NCOMMANDS; i++)
        snprintf(list + strlen(list), sizeof list - strlen(list), "%s ", commands[i]);
    r = support_run("share=${ERLSNOOP%%/*}/share\n"
                    "for c in %s; do $ERLSNOOP $c -h | awk '/^  [^ ]/ { print $1 }' > said\n"
                    "awk -v c=$c '/^\\.S[SH]/ { on = $0 == \".SS \\\"erlsnoop \" c \"\\\"\"; next }\n"
                    "on && /^\\.TP/ { getline; gsub(/\\\\f[BIR]/, \"\"); gsub(/\\\\-/, \"-\"); "
                    "print $1 }' $share/erlsnoop.1 > told\n"
                    "[ -s said ] || echo nothing of $c; diff said told; done\n"
                    "[ $($ERLVM --help | grep -c '^  [^ ]') = $(grep -c '^\\.TP' $share/erlvm.1) ] && echo all\n"
                    "if ! type mandoc > typed 2>&1; then echo 'SKIP test_install_man_pages: no mandoc' >&2; exit; fi\n"
                    "mandoc -Tlint -Wwarning $share/*.1; mandoc -Tascii $share/erlvm.1 | grep -c 'call M:F, or "
                    "M:start'\n",
                    list);
    if (!strncmp(r->err, "SKIP ", 5))
        fputs(r->err, stdout);
    ck_assert_str_eq(r->out, *r->err ? "all\n" : "all\n1\n");
}
END_TEST

/* Words of a line, of which the last is completed: what a shell then offers. */
static const struct {
    const char *line, *offered;
} completed[] = {
    {"d", "diagnose doctor drivers dist"},
    {"--v", "--version"},
    {"nonsense -", ""},
    {"spawns --e", "--events"},
    {"spawns --b", "--budget"},
    {"list --e", ""},
    {"doctor -", "-p -v --json --terms -h --help --"},
    {"stacks --svg ./so", "./some file.svg"},
    {"trace -o so", "some file.svg"},
    {"report so", "some file.svg"},
    {"watch sp", "spawns"},
    {"watch spawns,g", "spawns,gc"},
    {"watch spawns,sp", ""},
    {"serve --views msglat,sched,d", "msglat,sched,drivers msglat,sched,dist"},
    {"trace process__s", "process__scheduled process__spawn"},
    {"trace -a gc,mem", "gc,memory"},
    {"spawns -p $$", "$$"},
    {"spawns -p sho", "shop@here"},
    {"help ms", "msglat"},
    {"help msglat g", ""},
    {"spawns --budget so", ""},
    {"spawns --source n", "notes"},
    {"trace --source b", "batches"},
    {"stacks --event s", "spawn send"},
    {"stacks --by n", "none"},
    {"gc --by m", "mfa"},
    {"stacks --by so", ""},
    {"spawns -- se", "setpriv"},
    {"spawns -- cat so", "some file.svg"},
};

START_TEST(test_install_bash_completes)
{
    const struct support_run *r = support_run("touch 'some file.svg'; . ${ERLSNOOP%%/*}/share/bash/erlsnoop\n"
                                              "pgrep() { echo $$; }; erlsnoop() { echo '{\"type\":\"vm\",\"name\":\"shop@here\",\"vm\":1}'; }\n"
                                              "line='%s'; COMP_WORDS=(erlsnoop ${line//\\$\\$/$$}) "
                                              "COMP_CWORD=${#COMP_WORDS[@]}-1\n"
                                              "COMP_CWORD=$((COMP_CWORD)); $(complete -p erlsnoop | grep -oE "
                                              "'_erlsnoop')\n"
                                              "printf '%%s\\n' \"${COMPREPLY[@]}\" | sed \"s/^$$\\$/\\$\\$/\"\n",
                                              completed[_i].line);
    char got[512];

    ck_assert_str_eq(r->err, "");
    snprintf(got, sizeof got, "%.*s", (int)sizeof got - 1, r->out);
    for (char *at = got; *at; at++)
        if (*at == '\n')
            *at = at[1] ? ' ' : '\0';
    if (!strstr(completed[_i].line, "-- se"))
        ck_assert_str_eq(got, completed[_i].offered);
    else
        ck_assert_msg(strstr(got, completed[_i].offered) != NULL, "%s", got);
}
END_TEST

/* The same of zsh, whose functions that offer words say which: those that begin as the last word does. */
static const struct {
    const char *line, *offered;
} zsh_completed[] = {
    {"d", "diagnose\ndoctor\ndrivers\ndist\n"},
    {"nonsense -", ""},
    {"spawns --e", "--events\n"},
    {"stacks --svg so", "files\n"},
    {"trace process__s", "process__scheduled\nprocess__spawn\n"},
    {"spawns --budget so", ""},
    {"trace --source n", "notes\n"},
    {"stacks --event s", "spawn\nsend\n"},
    {"stacks --by n", "none\n"},
    {"spawns -- cat so", "cat so\n"},
};

START_TEST(test_install_zsh_completes)
{
    const struct support_run *r = support_run("type zsh > typed 2>&1 || { echo 'SKIP test_install_zsh_completes: no "
                                              "zsh'; exit; }\n"
                                              "cat > offer <<'END'\n"
                                              "offer() { print -rl -- ${(M)@:#$PREFIX*}; }\n"
                                              "compadd() { shift; offer $@; }\n"
                                              "_values() { offer ${@[4,-1]}; }\n"
                                              "_describe() { offer ${${(P)@[-1]}%%%%:*}; }\n"
                                              "_files() { print files; }\n"
                                              "_normal() { print -r -- $words; }\n"
                                              "_message() { }\n"
                                              "words=(erlsnoop ${=2}) CURRENT=$#words PREFIX=$words[-1]\n"
                                              ". $1\n"
                                              "END\n"
                                              "zsh -f offer ${ERLSNOOP%%/*}/share/zsh/_erlsnoop '%s' | sed '/^$/d'; "
                                              "head -1 ${ERLSNOOP%%/*}/share/zsh/_erlsnoop >&2\n",
                                              zsh_completed[_i].line);

    if (!strncmp(r->out, "SKIP ", 5)) {
        fputs(r->out, stdout);
        return;
    }
    ck_assert_str_eq(r->out, zsh_completed[_i].offered);
    ck_assert_str_eq(r->err, "#compdef erlsnoop\n");
}
END_TEST

Suite *install_suite(void)
{
    Suite *suite = suite_create("install");
    TCase *files = tcase_create("files");

    tcase_add_test(files, test_install_erlsnoop_needs_what_is_not_linked_in);
    tcase_add_test(files, test_install_version_says_what_was_left_out);
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
    tcase_add_test(files, test_install_puts_everything_where_it_is_looked_for);
    tcase_add_test(files, test_install_what_is_installed_runs);
    tcase_add_test(files, test_install_is_taken_away_again);
#endif
    tcase_add_test(files, test_install_man_pages_tell_every_option);
    tcase_add_loop_test(files, test_install_bash_completes, 0, sizeof completed / sizeof *completed);
    tcase_add_loop_test(files, test_install_zsh_completes, 0, sizeof zsh_completed / sizeof *zsh_completed);
    suite_add_tcase(suite, files);
    return suite;
}
