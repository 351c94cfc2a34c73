/* SPDX-License-Identifier: Apache-2.0 */
/* Names of code of this machine's own Erlang, held against the perf map that it writes itself (+JPperf map), and memory that holds no code. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "target/memory.h"
#include "otp/names.h"
#include "otp/otp_code.h"
#include "otp/otp_vm.h"
#include "probe/plan.h"
#include "support.h"

#define LOAD_MANY                                                                                                       \
    "[code:ensure_loaded(list_to_atom(filename:basename(F, \".beam\"))) || L <- [stdlib, kernel, compiler], F <- "       \
    "filelib:wildcard(code:lib_dir(L) ++ \"/ebin/*.beam\")], io:format(\"up\"), receive after infinity -> ok end."

struct node {
    int pid;
    unsigned release;
    struct names *names;
};

/* An erl with many modules. Its names are known, its code was looked over twice. `option` may be NULL. */
static void node_start(struct node *n, const char *option)
{
    struct names_vm *looked;
    struct target target;
    struct plan *plan;
    int out[2];
    char byte;

    ck_assert_int_eq(pipe(out), 0);
    n->pid = fork();
    if (!n->pid) {
        setpgid(0, 0);
        dup2(open("/dev/null", O_RDWR), 0);
        dup2(out[1], 1);
        dup2(out[1], 2); /* nobody waits for what a node leaves open */
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        if (option)
            execlp("erl", "erl", option, "map", "-noinput", "-eval", LOAD_MANY, (char *)NULL);
        execlp("erl", "erl", "-noinput", "-eval", LOAD_MANY, (char *)NULL);
        _exit(127);
    }
    close(out[1]);
    ck_assert_int_eq(read(out[0], &byte, 1), 1);
    close(out[0]);
    ck_assert_int_eq(target_open_pid(n->pid, &target), 0);
    do
        ck_assert_int_eq(plan_new(&target, true, &plan), 0);
    while (plan->early && (plan_free(plan), true));
    ck_assert_msg(plan->vm != NULL, "%s", plan->refused);
    n->release = plan->vm->layout.release;
    n->names = names_new();
    ck_assert_int_eq(names_read(&plan->vm->layout, NULL, &looked), 0);
    names_take(n->names, looked);
    names_follow(n->names, (uint32_t)n->pid, -1, -1, 0);
    plan_free(plan);
    target_close(&target);
}

static void node_stop(struct node *n)
{
    names_free(n->names);
    kill(-n->pid, SIGKILL);
    waitpid(n->pid, NULL, 0);
}

static int name_at(struct node *n, uint64_t address, char *out, size_t size)
{
    struct otp_code_place place;

    return names_place(n->names, (uint32_t)n->pid, address, OTP_CODE_NOW, &place, out, size);
}

/* The name that a line of the map asks for: "$lists:map/2-CodeInfoPrologue" is of lists:map/2. NULL: of nothing that runs. */
static const char *wanted(char *name)
{
    size_t n = strlen(name), suffix = strlen("-CodeInfoPrologue");

    if (strstr(name, "::codeHeader") || strstr(name, "::codeFooter")) /* of a module, one of which is called global */
        return NULL;
    if (!strncmp(name, "$global::", 9))
        return "(shared code)";
    if (n > suffix && !strcmp(name + n - suffix, "-CodeInfoPrologue"))
        name[n - suffix] = '\0';
    return name + (name[0] == '$');
}

/* A module's jumps to code that all share, which OTP 27 and later put behind its functions. Returns how many. */
static unsigned hold_ways(struct node *n, const char *name, uint64_t start, uint64_t size)
{
    unsigned char bytes[4096] = {0};
    char path[64], have[4096];
    unsigned ways = 0;
    size_t at = 0;
    int memory;

    if (!strstr(name, "::codeFooter"))
        return 0;
    snprintf(path, sizeof path, "/proc/%d/mem", n->pid);
    memory = open(path, O_RDONLY);
    ck_assert_int_gt(pread(memory, bytes, size < sizeof bytes ? size : sizeof bytes, (off_t)start), 0);
    close(memory);
    while (at < 40 && (bytes[at] != 0xff || bytes[at + 1] != 0x15))
        at++;
    for (at += 6; at < size && at + 6 < sizeof bytes && bytes[at] == 0x40 && bytes[at + 1] == 0xe9; at += 6, ways++)
        for (uint64_t i = 0; i < 6; i += 5) {
            ck_assert_int_eq(name_at(n, start + at + i, have, sizeof have), 0);
            ck_assert_msg(!strcmp(have, "(shared code)"), "%#" PRIx64 ": %s", start + at + i, have);
        }
    return ways;
}

/* The map quotes no reserved words. */
static bool same_name(const char *have, const char *want)
{
    while (*have || *want) {
        if (*have == '\'' && *want != '\'')
            have++;
        else if (*have++ != *want++)
            return false;
    }
    return true;
}

START_TEST(test_otp_code_names_all_code_as_the_perf_map_does)
{
    unsigned long shared = 0, functions = 0, ways = 0;
    char path[64], line[4096], have[4096], name[4096];
    struct node node;
    FILE *map;

    node_start(&node, "+JPperf");
    snprintf(path, sizeof path, "/tmp/perf-%d.map", node.pid);
    map = fopen(path, "r");
    ck_assert_ptr_ne(map, NULL);
    while (fgets(line, sizeof line, map)) {
        uint64_t start, size;
        const char *want;

        ck_assert_int_eq(sscanf(line, "%" SCNx64 " %" SCNx64 " %4095[^\n]", &start, &size, name), 3);
        ways += hold_ways(&node, name, start, size);
        want = wanted(name);
        for (int i = 0; want && size && i < 3; i++) {
            uint64_t address = start + (i == 0 ? 0 : i == 1 ? size / 2 : size - 1);

            ck_assert_int_eq(name_at(&node, address, have, sizeof have), 0);
            ck_assert_msg(same_name(have, want), "%#" PRIx64 ": %s, not %s", address, have, want);
        }
        shared += want && want[0] == '(';
        functions += want && want[0] != '(';
    }
    fclose(map);
    unlink(path);
    ck_assert_int_gt((long)shared, 50);
    ck_assert_int_gt((long)functions, 10000);
    ck_assert(node.release < 27 ? !ways : ways > 1000);
    node_stop(&node);
}
END_TEST

/* With its default flags the emulator has each mapping of code a second time, to write in, often beside it. */
START_TEST(test_otp_code_names_nothing_outside_of_code)
{
    char path[64], line[512], have[4096];
    struct node node;
    int shared = 0, other = 0;
    FILE *maps;

    node_start(&node, NULL);
    snprintf(path, sizeof path, "/proc/%d/maps", node.pid);
    maps = fopen(path, "r");
    ck_assert_ptr_ne(maps, NULL);
    while (fgets(line, sizeof line, maps)) {
        uint64_t start, end;
        char access[5];

        ck_assert_int_eq(sscanf(line, "%" SCNx64 "-%" SCNx64 " %4s", &start, &end, access), 3);
        if (access[2] == 'x' && strstr(line, "vmem")) {
            ck_assert_int_eq(name_at(&node, start + 256, have, sizeof have), 0);
            shared += !strcmp(have, "(shared code)"); /* the block that was made first begins with it */
            ck_assert_int_eq(name_at(&node, end - 1, have, sizeof have), 0);
            ck_assert_str_eq(have, "(unknown code)");
            continue;
        }
        for (uint64_t at = start; start < INT64_MAX && access[0] == 'r' && at < end; at += (end - start) / 16 + 1) {
            ck_assert_msg(name_at(&node, at, have, sizeof have) == -ENOENT, "%#" PRIx64 " is %s in %s", at, have, line);
            other++;
        }
    }
    fclose(maps);
    ck_assert_int_eq(shared, 1);
    ck_assert_int_gt(other, 100);
    node_stop(&node);
}
END_TEST

/* Where a waiting process of each kind resumes is told after the end, when it was told before. */
START_TEST(test_otp_code_tells_names_again_when_the_process_has_ended)
{
    char before[4096], after[4096], path[64], line[4096], name[4096];
    uint64_t start = 0, size = 0;
    struct node node;
    FILE *map;

    node_start(&node, "+JPperf");
    snprintf(path, sizeof path, "/tmp/perf-%d.map", node.pid);
    map = fopen(path, "r");
    ck_assert_ptr_ne(map, NULL);
    while (fgets(line, sizeof line, map) && !strstr(line, "$code_server:loop/1\n"))
        continue;
    ck_assert_int_eq(sscanf(line, "%" SCNx64 " %" SCNx64 " %4095[^\n]", &start, &size, name), 3);
    fclose(map);
    unlink(path);
    ck_assert_int_eq(name_at(&node, start + 8, before, sizeof before), 0);
    kill(-node.pid, SIGKILL);
    waitpid(node.pid, NULL, 0);
    while (!kill(-node.pid, 0)) /* what it started, the emulator perhaps */
        usleep(1000);
    names_since(node.names, UINT64_MAX);
    ck_assert_int_eq(name_at(&node, start + 8, after, sizeof after), 0);
    ck_assert_str_eq(before, "code_server:loop/1");
    ck_assert_str_eq(after, before);
    ck_assert_int_eq(name_at(&node, start + 9, after, sizeof after), -ESRCH);
    names_free(node.names);
}
END_TEST

Suite *otp_code_suite(void)
{
    Suite *suite = suite_create("otp_code");
    TCase *live = tcase_create("live");

    tcase_set_timeout(live, 60);
    tcase_add_test(live, test_otp_code_names_all_code_as_the_perf_map_does);
    tcase_add_test(live, test_otp_code_names_nothing_outside_of_code);
    tcase_add_test(live, test_otp_code_tells_names_again_when_the_process_has_ended);
    suite_add_tcase(suite, live);
    return suite;
}
