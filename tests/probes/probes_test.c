/* SPDX-License-Identifier: Apache-2.0 */
/* Every probe fires as often as its code says, with the right arguments, into a real BPF program.
 * Invariant: a probe of the families that the VM has, without a row in cases.def, fails. */
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <check.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../bpf.h"
#include "../erlvm_needed.h"
#include "target/child.h"
#include "target/target.h"

#include "record.h"
#include "record.skel.h"
#include "support_batch.h"

struct arg_row {
    const char *probe, *name;
    unsigned index;
    bool is_string;
};

#define TYPE_STR true
#define TYPE_INT false
#define TYPE_I64 false
static const struct arg_row args[] = {
#define ARG(probe, index, arg, type, unit) {#probe, #arg, index, TYPE_##type},
#include "../../vm/probes.def"
};

struct case_row {
    const char *function, *probe, *key_arg, *key;
    unsigned count;
};
static const struct case_row cases[] = {
#define CASE(function, probe, key_arg, key, count) {#function, #probe, #key_arg, key, count},
#include "cases.def"
};
enum { NCASES = sizeof cases / sizeof *cases };

/* The rows of HOLDS, in order, with the number of the CASE before them. */
struct holds_row {
    int of_case;
    const char *arg, *value;
    bool note_alone; /* pages of events hold it in short */
    bool at_least;   /* it is a number that may be greater */
};
enum {
    HOLDS_ROWS = 0
#define HOLDS(argument, text) + 1
#include "cases.def"
};
static struct holds_row holds[HOLDS_ROWS];
static int nholds;

static void number_holds(void)
{
    int at = -1;

    nholds = 0;
#define CASE(function, probe, key_arg, key, count) at++;
#define HOLDS(argument, text) holds[nholds++] = (struct holds_row){at, #argument, text, false, false};
#define NOTE_HOLDS(argument, text) holds[nholds++] = (struct holds_row){at, #argument, text, true, false};
#define AT_LEAST(argument, text) holds[nholds++] = (struct holds_row){at, #argument, text, false, true};
#include "cases.def"
}

static const struct arg_row *find_arg(const char *probe, const char *name)
{
    for (size_t i = 0; i < sizeof args / sizeof *args; i++)
        if (!strcmp(args[i].probe, probe) && !strcmp(args[i].name, name))
            return &args[i];
    ck_abort_msg("no argument %s of %s in probes.def", name, probe);
    return NULL;
}

static struct record_site describe_site(const struct case_row *c)
{
    struct record_site site = {.key_arg = find_arg(c->probe, c->key_arg)->index};

    for (size_t i = 0; i < sizeof args / sizeof *args; i++)
        if (!strcmp(args[i].probe, c->probe) && args[i].is_string)
            site.strings |= 1u << args[i].index;
    return site;
}

struct fixture {
    struct record *skel;
    struct target target;
    struct child child;
    struct bpf_link *links[NCASES];
    int output; /* what the VM writes */
    struct support_batch *batch; /* the same events, told a second time */
    char words[4][64]; /* that the program printed */
};

/* Whether an earlier case of the same run has the same probe. */
static bool is_watched_before(unsigned number)
{
    for (unsigned i = 0; i < number; i++)
        if (!strcmp(cases[i].function, cases[number].function) && !strcmp(cases[i].probe, cases[number].probe))
            return true;
    return false;
}

/* Attaches the sites of the case's probe; its number is their slot, so that counts are told apart. */
static void attach_case(struct fixture *f, unsigned number)
{
    const struct case_row *c = &cases[number];
    struct record_site record_site = describe_site(c);
    struct provider_site site;
    size_t cursor = 0;
    LIBBPF_OPTS(bpf_uprobe_opts, opts, .bpf_cookie = number);

    ck_assert_msg(f->target.provider->ops->next_site(f->target.elf, c->probe, &cursor, &site) == 1,
                  "the VM has no note of %s", c->probe);
    ck_assert_int_eq(site.bad_args, 0);
    opts.ref_ctr_offset = site.semaphore;
    ck_assert(site.semaphore != 0);
    ck_assert_int_eq(bpf_map_update_elem(bpf_map__fd(f->skel->maps.sites), &number, &record_site, BPF_ANY), 0);
    ck_assert_int_eq(bpf_map_update_elem(bpf_map__fd(f->skel->maps.specs), &number, &site.spec, BPF_ANY), 0);
    f->links[number] = bpf_program__attach_uprobe_opts(f->skel->progs.record_any, f->child.pid, f->target.path,
                                                       site.offset, &opts);
    ck_assert_msg(f->links[number] != NULL, "cannot attach to %s", c->probe);
    ck_assert_msg(f->target.provider->ops->next_site(f->target.elf, c->probe, &cursor, &site) == 0,
                  "%s has more than one note", c->probe);
    if (!is_watched_before(number))
        support_batch_watch(f->batch, c->probe);
}

static uint64_t number_of(const char *bytes)
{
	uint64_t n;

	memcpy(&n, bytes, sizeof n);
	return n;
}

/* Of two numbers. */
static bool is_held_by(const struct holds_row *row, uint64_t got, uint64_t want)
{
    return row->at_least ? got >= want : got == want;
}

static void expand(const struct fixture *f, const char *text, bool is_string, char out[RECORD_TEXT])
{
    memset(out, 0, RECORD_TEXT);
    if (text[0] == '$')
        text = f->words[text[1] - '1'];
    if (is_string)
        snprintf(out, RECORD_TEXT, "%s", text);
    else
        memcpy(out, &(uint64_t){strtoull(text, NULL, 10)}, sizeof(uint64_t));
}

static void check_holds(const struct fixture *f, unsigned number, const struct record_count *got)
{
    for (int i = 0; i < nholds; i++) {
        const struct arg_row *arg;
        char want[RECORD_TEXT];

        if (holds[i].of_case != (int)number)
            continue;
        arg = find_arg(cases[number].probe, holds[i].arg);
        expand(f, holds[i].value, arg->is_string, want);
        if (arg->is_string)
            ck_assert_msg(!strcmp(got->texts[arg->index], want), "%s: %s is \"%s\", not \"%s\"", cases[number].probe,
                          arg->name, got->texts[arg->index], want);
        else
            ck_assert_msg(is_held_by(&holds[i], got->values[arg->index], number_of(want)), "%s: %s is %llu, not %llu",
                          cases[number].probe, arg->name, (unsigned long long)got->values[arg->index],
                          (unsigned long long)number_of(want));
    }
}

/* The batches hold the same: as often, with the same arguments. */
static void check_batch(const struct fixture *f, unsigned number)
{
    const struct case_row *c = &cases[number];
    unsigned key = find_arg(c->probe, c->key_arg)->index, count;
    char text[RECORD_TEXT], want[RECORD_TEXT];

    expand(f, c->key, true, text);
    count = support_batch_count(f->batch, c->probe, key, text);
    ck_assert_msg(count == c->count, "%s stands %u times in batches with %s %s, not %u", c->probe, count, c->key_arg, text, c->count);
    for (int i = 0; i < nholds; i++) {
        const char *got;

        if (holds[i].of_case != (int)number || holds[i].note_alone)
            continue;
        expand(f, holds[i].value, true, want);
        got = support_batch_last(f->batch, c->probe, key, text, find_arg(c->probe, holds[i].arg)->index);
        if (got && holds[i].at_least && is_held_by(&holds[i], strtoull(got, NULL, 10), strtoull(want, NULL, 10)))
            continue;
        ck_assert_msg(got && !strcmp(got, want), "%s in batches: %s is %s, not %s", c->probe, holds[i].arg, got, want);
    }
}

static void check_case(const struct fixture *f, unsigned number)
{
    const struct case_row *c = &cases[number];
    struct record_key key = {.site = number};
    struct record_count got = {0};

    expand(f, c->key, find_arg(c->probe, c->key_arg)->is_string, key.text);
    bpf_map_lookup_elem(bpf_map__fd(f->skel->maps.counts), &key, &got);
    ck_assert_msg(got.count == c->count, "%s fired %llu times with %s %s, not %u", c->probe,
                  (unsigned long long)got.count, c->key_arg, c->key[0] == '$' ? f->words[c->key[1] - '1'] : c->key,
                  c->count);
    check_holds(f, number, &got);
    check_batch(f, number);
}

/* Runs the function to its end, what it prints into the fixture's words. */
static void run_function(struct fixture *f)
{
    char text[256] = "";
    int status;
    ssize_t n;

    ck_assert_int_eq(child_release(&f->child), 0);
    ck_assert_int_eq(waitpid(f->child.pid, &status, 0), f->child.pid);
    n = pread(f->output, text, sizeof text - 1, 0);
    ck_assert_msg(WIFEXITED(status) && WEXITSTATUS(status) == 0, "the VM ended with status %d: %s", status, text);
    if (n > 0)
        sscanf(text, "%63s %63s %63s %63s", f->words[0], f->words[1], f->words[2], f->words[3]);
}

static int open_output(void)
{
    char path[] = "/tmp/probes.XXXXXX";
    int fd = mkstemp(path);

    ck_assert_int_ge(fd, 0);
    unlink(path);
    return fd;
}

/* A VM that is about to run the function. */
static void open_fixture(struct fixture *f, const char *function)
{
    const char *build = getenv("BUILD") ? getenv("BUILD") : "build";
    char vm[512], dir[512];
    char *argv[] = {vm, "-quick", "+S", "1", "-pa", dir, "-s", "probe_target", (char *)function, NULL};
    int saved = dup(STDERR_FILENO);

    erlvm_needed();
    *f = (struct fixture){.skel = record__open_and_load(), .output = open_output()};
    ck_assert_msg(f->skel != NULL, "the recording program does not load");
    snprintf(vm, sizeof vm, "%s/erlvm", build);
    snprintf(dir, sizeof dir, "%s/tests/probe_beams", build);
    ck_assert_int_eq(target_open_file(vm, &f->target), 0);
    dup2(f->output, STDERR_FILENO);
    ck_assert_int_eq(child_start(argv, &f->child), 0);
    dup2(saved, STDERR_FILENO);
    close(saved);
}

static void close_fixture(struct fixture *f)
{
    for (unsigned i = 0; i < NCASES; i++)
        bpf_link__destroy(f->links[i]);
    target_close(&f->target);
    record__destroy(f->skel);
    close(f->output);
}

static void hold_function(const char *function)
{
    struct fixture f;

    open_fixture(&f, function);
    f.batch = support_batch_new(&f.target, f.child.pid);
    for (unsigned i = 0; i < NCASES; i++)
        if (!strcmp(cases[i].function, function))
            attach_case(&f, i);
    support_batch_begin(f.batch);
    run_function(&f);
    support_batch_drain(f.batch);
    number_holds();
    for (unsigned i = 0; i < NCASES; i++)
        if (!strcmp(cases[i].function, function))
            check_case(&f, i);
    support_batch_free(f.batch);
    close_fixture(&f);
}

/* The case rows that begin a function's run of rows. */
static int first_rows[NCASES];
static int nfunctions;

START_TEST(test_probes_fire_exactly)
{
    if (!bpf_allowed(__func__))
        return;
    hold_function(cases[first_rows[_i]].function);
}
END_TEST

static bool has_case(const char *probe)
{
    for (size_t i = 0; i < NCASES; i++)
        if (!strcmp(cases[i].probe, probe))
            return true;
    return false;
}

/* Has the operation a case: by its number as the key, or as what a case with another key holds? */
static bool has_operation(const char *number)
{
    for (size_t i = 0; i < NCASES; i++)
        if (!strcmp(cases[i].probe, "efile_drv__entry") && !strcmp(cases[i].key_arg, "command") &&
            !strcmp(cases[i].key, number))
            return true;
    for (int i = 0; i < nholds; i++)
        if (!strcmp(cases[holds[i].of_case].probe, "efile_drv__entry") && !strcmp(holds[i].arg, "command") &&
            !strcmp(holds[i].value, number))
            return true;
    return false;
}

/* No function of Erlang/OTP 25 asks the system for SETOPT. */
START_TEST(test_operations_on_files_have_cases)
{
    static const struct { const char *name, *number; } operations[] = {
#define EFILE_OP(number, op, s1, s2, i1, i2, i3, i4) {#op, #number},
#include "../../vm/probes.def"
    };

    number_holds();
    for (size_t i = 0; i < sizeof operations / sizeof *operations; i++)
        ck_assert_msg(has_operation(operations[i].number) == (strcmp(operations[i].name, "SETOPT") != 0), "%s",
                      operations[i].name);
}
END_TEST

/* A probe that the VM has a site of can fire, and is counted. */
START_TEST(test_probes_with_a_site_have_cases)
{
    static const char *const probes[] = {
#define PROBE(probe, family, nargs, watch, text) #probe,
#include "../../vm/probes.def"
    };
    const char *build = getenv("BUILD") ? getenv("BUILD") : "build";
    struct target target;
    char vm[512];

    snprintf(vm, sizeof vm, "%s/erlvm", build);
    ck_assert_int_eq(target_open_file(vm, &target), 0);
    for (size_t i = 0; i < sizeof probes / sizeof *probes; i++) {
        struct provider_site site;
        size_t cursor = 0;
        bool has_site = target.provider->ops->next_site(target.elf, probes[i], &cursor, &site) == 1;

        ck_assert_msg(has_site == has_case(probes[i]), "%s has %s", probes[i], has_site ? "a site but no case" : "a case but no site");
    }
    target_close(&target);
}
END_TEST

/* ---- the probes with a number */

enum { NUMBERED = 951, HELD = 12 };

static void find_numbered(const struct target *target, unsigned number, struct provider_site *site)
{
    char probe[32];
    size_t cursor = 0;

    snprintf(probe, sizeof probe, "user_trace__n%u", number);
    ck_assert_msg(target->provider->ops->next_site(target->elf, probe, &cursor, site) == 1, "the VM has no note of %s",
                  probe);
    ck_assert(site->semaphore != 0 && site->bad_args == 0);
}

static int order_offsets(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

    return x < y ? -1 : x > y;
}

/* Each has a place and a semaphore of its own. */
START_TEST(test_probes_with_numbers_are_apart)
{
    static uint64_t at[2 * NUMBERED];
    const char *build = getenv("BUILD") ? getenv("BUILD") : "build";
    struct provider_site site;
    struct target target;
    char vm[512];

    snprintf(vm, sizeof vm, "%s/erlvm", build);
    ck_assert_int_eq(target_open_file(vm, &target), 0);
    for (unsigned i = 0; i < NUMBERED; i++) {
        find_numbered(&target, i, &site);
        at[2 * i] = site.offset;
        at[2 * i + 1] = site.semaphore;
    }
    qsort(at, 2 * NUMBERED, sizeof *at, order_offsets);
    for (unsigned i = 1; i < 2 * NUMBERED; i++)
        ck_assert(at[i] != at[i - 1]);
    target_close(&target);
}
END_TEST

/* All fire once, and those that are watched are told of, with what they were fired with. */
START_TEST(test_probes_with_numbers_fire)
{
    static const unsigned held[HELD] = {0, 1, 9, 10, 99, 100, 101, 499, 500, 899, 949, 950};
    struct record_site record_site = {.key_arg = 2, .strings = 1 << 0 | 1 << 1 | 0xf << 6};
    struct fixture f = {.skel = NULL};

    if (!bpf_allowed(__func__))
        return;
    open_fixture(&f, "numbered");
    for (unsigned i = 0; i < HELD; i++) {
        struct provider_site site;
        LIBBPF_OPTS(bpf_uprobe_opts, opts, .bpf_cookie = i);

        find_numbered(&f.target, held[i], &site);
        opts.ref_ctr_offset = site.semaphore;
        bpf_map_update_elem(bpf_map__fd(f.skel->maps.sites), &i, &record_site, BPF_ANY);
        bpf_map_update_elem(bpf_map__fd(f.skel->maps.specs), &i, &site.spec, BPF_ANY);
        f.links[i] = bpf_program__attach_uprobe_opts(f.skel->progs.record_any, f.child.pid, f.target.path, site.offset,
                                                     &opts);
        ck_assert(f.links[i] != NULL);
    }
    run_function(&f);
    ck_assert_str_eq(f.words[1], "12");
    for (unsigned i = 0; i < HELD; i++) {
        struct record_key key = {.site = i};
        struct record_count got = {0};

        memcpy(key.text, &(uint64_t){held[i]}, sizeof(uint64_t));
        bpf_map_lookup_elem(bpf_map__fd(f.skel->maps.counts), &key, &got);
        ck_assert_msg(got.count == 1, "user_trace__n%u fired %llu times", held[i], (unsigned long long)got.count);
        ck_assert_str_eq(got.texts[0], f.words[0]);
        ck_assert_str_eq(got.texts[1], "tag");
        ck_assert_int_eq((int64_t)got.values[5], -(int64_t)held[i]);
        ck_assert_str_eq(got.texts[6], "text");
        ck_assert_str_eq(got.texts[7], "");
        ck_assert_str_eq(got.texts[9], "last");
    }
    close_fixture(&f);
}
END_TEST

/* Whether some case holds the argument, as its key or by a value. */
static bool is_held(const struct arg_row *arg)
{
    for (unsigned i = 0; i < NCASES; i++) {
        if (strcmp(cases[i].probe, arg->probe))
            continue;
        if (!strcmp(cases[i].key_arg, arg->name))
            return true;
        for (int k = 0; k < nholds; k++)
            if (holds[k].of_case == (int)i && !strcmp(holds[k].arg, arg->name))
                return true;
    }
    return false;
}

START_TEST(test_probes_arguments_are_held)
{
    char missing[4096] = "";

    number_holds();
    for (size_t i = 0; i < sizeof args / sizeof *args; i++)
        if (has_case(args[i].probe) && !is_held(&args[i]))
            snprintf(missing + strlen(missing), sizeof missing - strlen(missing), " %s.%s", args[i].probe, args[i].name);
    ck_assert_msg(!missing[0], "no case holds%s", missing);
}
END_TEST

Suite *probes_suite(void)
{
    Suite *s = suite_create("probes");
    TCase *c = tcase_create("live");

    for (int i = 0; i < NCASES; i++)
        if (i == 0 || strcmp(cases[i].function, cases[i - 1].function))
            first_rows[nfunctions++] = i;
    tcase_set_timeout(c, 60);
    tcase_add_loop_test(c, test_probes_fire_exactly, 0, nfunctions);
    tcase_add_test(c, test_probes_with_a_site_have_cases);
    tcase_add_test(c, test_operations_on_files_have_cases);
    tcase_add_test(c, test_probes_arguments_are_held);
    tcase_add_test(c, test_probes_with_numbers_are_apart);
    tcase_add_test(c, test_probes_with_numbers_fire);
    suite_add_tcase(s, c);
    return s;
}
