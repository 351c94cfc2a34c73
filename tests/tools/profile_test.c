/* SPDX-License-Identifier: Apache-2.0 */
/* What profiles are written as: read back by readers of our own, with names that would break them. */
#include <stdlib.h>
#include <string.h>

#include "support.h"

#include "profile/profile.h"

/* Everything that one of the formats gives a meaning to. */
static const char evil[] = "m:'<b>;&\"\x1b[2J\n]]>\xef\xbf\xbf\x80'/1";

static struct profile *make_profile(void)
{
    static const struct profile_units units = {"cpu", "nanoseconds", 1000};
    struct profile *p = profile_new(&units);
    struct profile_frame frames[3] = {{PROFILE_GROUP, "group", "", 0, 0}, {PROFILE_ERLANG, "m:f/1", "m.erl", 10, 0x123456789}, {PROFILE_NATIVE, "leaf", "", 0, 0}};

    ck_assert(p != NULL);
    for (int i = 0; i < 23; i++) {
        frames[1].line = 10 + (uint32_t)i % 2;
        ck_assert_int_eq(profile_add(p, frames, 2 + (size_t)i % 2, 1, 1000), 0);
    }
    frames[1] = (struct profile_frame){PROFILE_ERLANG, evil, evil, 7, 0};
    ck_assert_int_eq(profile_add(p, frames, 2, 1, 1000), 0);
    return p;
}

/* What `write` gives, up to the next call. */
static const char *written(int (*write)(const struct profile *, FILE *), size_t *size)
{
    static char *text;
    struct profile *p = make_profile();
    FILE *out;

    free(text);
    out = open_memstream(&text, size);
    ck_assert_int_eq(write(p, out), 0);
    fclose(out);
    profile_free(p);
    return text;
}

static int write_folded(const struct profile *p, FILE *out)
{
    return profile_write_folded(p, false, out);
}

static int write_folded_lines(const struct profile *p, FILE *out)
{
    return profile_write_folded(p, true, out);
}

static int write_svg(const struct profile *p, FILE *out)
{
    return profile_write_svg(p, &(struct profile_about){.title = evil, .lines = true}, out);
}

static int write_pprof(const struct profile *p, FILE *out)
{
    return profile_write_pprof(p, &(struct profile_about){.time_ns = 1700000000000000000u, .duration_ns = 5000000000u}, out);
}

START_TEST(test_profile_add_joins_equal_stacks)
{
    struct profile *p = make_profile();

    ck_assert_int_eq((int)profile_stacks(p), 3);
    ck_assert_int_eq((int)profile_stack(p, 0).count, 12);
    ck_assert_int_eq((int)profile_stack(p, 1).value, 11000);
    profile_free(p);
}
END_TEST

/* Code of a function that no line is known of is of no file: its values are that function's. */
START_TEST(test_profile_functions_are_one_whatever_their_file)
{
    static const struct profile_units units = {"cpu", "nanoseconds", 1000};
    struct profile *p = profile_new(&units);
    struct profile_function *functions;
    struct profile_frame frame = {PROFILE_ERLANG, "m:f/1", "", 0, 0};
    uint64_t whole;
    size_t n;

    ck_assert_int_eq(profile_add(p, &frame, 1, 1, 17), 0);
    frame.file = "m.erl";
    frame.line = 7;
    ck_assert_int_eq(profile_add(p, &frame, 1, 1, 23), 0);
    ck_assert_int_eq(profile_functions(p, false, 99, &functions, &n, &whole), 0);
    ck_assert_int_eq((int)n, 1);
    ck_assert_int_eq((int)functions[0].self, 40);
    free(functions);
    ck_assert_int_eq(profile_functions(p, true, 99, &functions, &n, &whole), 0);
    ck_assert_int_eq((int)n, 2);
    free(functions);
    profile_free(p);
}
END_TEST

/* Twenty leaves in a function of their own, and a caller of a fifth of all: it is of the first five. */
START_TEST(test_profile_functions_keep_who_calls)
{
    static const struct profile_units units = {"cpu", "nanoseconds", 1000};
    struct profile *p = profile_new(&units);
    struct profile_function *functions;
    char name[32];
    uint64_t whole;
    size_t n;

    for (unsigned i = 0; i < 20; i++) {
        snprintf(name, sizeof name, "m:leaf%02u/0", i);
        const struct profile_frame stack[] = {{PROFILE_GROUP, "group", "", 0, 0}, {PROFILE_ERLANG, name, "", 0, 0}};

        ck_assert_int_eq(profile_add(p, stack, 2, 1, 2), 0);
    }
    const struct profile_frame called[] = {{PROFILE_ERLANG, "m:caller/0", "", 0, 0}, {PROFILE_ERLANG, "m:work/0", "", 0, 0}};

    ck_assert_int_eq(profile_add(p, called, 2, 10, 10), 0);
    ck_assert_int_eq(profile_functions(p, false, 5, &functions, &n, &whole), 0);
    ck_assert_int_eq((int)n, 5);
    ck_assert_int_eq((int)whole, 50);
    ck_assert_str_eq(functions[0].frame.name, "m:work/0");
    ck_assert_str_eq(functions[1].frame.name, "m:leaf00/0");
    ck_assert_str_eq(functions[3].frame.name, "m:leaf02/0");
    ck_assert_str_eq(functions[4].frame.name, "m:caller/0");
    free(functions);
    profile_free(p);
}
END_TEST

START_TEST(test_profile_write_folded_joins_lines_and_escapes)
{
    size_t size;

    ck_assert_str_eq(written(write_folded, &size), "group;m:'<b>\\x3b&\"\\x1b[2J\\x0a]]>\xef\xbf\xbf\\x80'/1 1000\n"
                                                   "group;m:f/1 12000\ngroup;m:f/1;leaf 11000\n");
    ck_assert_ptr_ne(strstr(written(write_folded_lines, &size), "group;m:f/1 (m.erl:10) 12000\ngroup;m:f/1 (m.erl:11);leaf 11000\n"), NULL);
}
END_TEST

/* Runs a reader in Python over what `write` gives, as file "in". */
static const struct support_run *read_back(int (*write)(const struct profile *, FILE *), const char *reader)
{
    char path[] = "/tmp/erlsnoop-profile-XXXXXX";
    const struct support_run *r;
    size_t size;
    const char *text = written(write, &size);
    int fd = mkstemp(path);
    FILE *file = fdopen(fd, "w");

    ck_assert_ptr_ne(file, NULL);
    ck_assert_int_eq((int)fwrite(text, 1, size, file), (int)size);
    fclose(file);
    r = support_run("mv %s in; cat > reader.py <<'EOF'\n%s\nEOF\npython3 reader.py", path, reader);
    ck_assert_str_eq(r->err, "");
    return r;
}

START_TEST(test_profile_write_svg_is_well_formed)
{
    const struct support_run *r = read_back(
        write_svg, "import xml.dom.minidom\n"
                   "d = xml.dom.minidom.parse('in')\n"
                   "f = [g for g in d.getElementsByTagName('g')]\n"
                   "w = {g.getAttribute('data-n'): float(g.getAttribute('data-w')) for g in f}\n"
                   "print(len(f), w['all'], round(w['group'] * 24), round(w['m:f/1 (m.erl:10)'] * 24), round(w['leaf'] * 24))\n"
                   "print(len(d.getElementsByTagName('b')), len(d.getElementsByTagName('script')))");

    ck_assert_str_eq(r->out, "6 1.0 24 12 11\n0 1\n");
}
END_TEST

START_TEST(test_profile_write_pprof_reads_back)
{
    const struct support_run *r = read_back(
        write_pprof, "import gzip, os, sys\n"
                     "sys.path.insert(0, os.environ['SOURCE'] + '/tests/stock')\n"
                     "from perf_map import fields, numbers\n"
                     "p = fields(gzip.open('in').read())\n"
                     "text = [s.decode() for s in p[6]]\n"
                     "types = [[text[fields(t)[k][0]] for k in (1, 2)] for t in p[1]]\n"
                     "functions = {f[1][0]: text[f[2][0]] for f in map(fields, p[5])}\n"
                     "lines = {l[1][0]: fields(l[4][0]) for l in map(fields, p[4])}\n"
                     "print([hex(l[3][0]) for l in map(fields, p[4])][:2])\n"
                     "print(text[0] == '', types, p[9][0], p[10][0], p[12][0])\n"
                     "for s in map(fields, p[2]):\n"
                     "    print(list(numbers(s[2])), [(functions[lines[l][1][0]], lines[l][2][0]) for l in numbers(s[1])][:2])");

    ck_assert_ptr_ne(strstr(r->out, "True [['samples', 'count'], ['cpu', 'nanoseconds']] 1700000000000000000 5000000000 1000\n"), NULL);
    ck_assert_ptr_ne(strstr(r->out, "['0x0', '0x123456789']\n"), NULL);
    ck_assert_ptr_ne(strstr(r->out, "[12, 12000] [('m:f/1', 10), ('group', 0)]\n"), NULL);
    ck_assert_ptr_ne(strstr(r->out, "[11, 11000] [('leaf', 0), ('m:f/1', 11)]\n"), NULL);
}
END_TEST

START_TEST(test_profile_of_nothing)
{
    static const struct profile_units units = {"cpu", "nanoseconds", 1000};
    struct profile *p = profile_new(&units);
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);

    ck_assert_int_eq(profile_write_folded(p, false, out), 0);
    fflush(out);
    ck_assert_int_eq((int)size, 0);
    ck_assert_int_eq(profile_write_svg(p, &(struct profile_about){.title = "nothing"}, out), 0);
    ck_assert_int_eq(profile_write_pprof(p, &(struct profile_about){0}, out), 0);
    fclose(out);
    free(text);
    profile_free(p);
}
END_TEST

Suite *profile_suite(void)
{
    Suite *suite = suite_create("profile");
    TCase *formats = tcase_create("formats");

    tcase_add_test(formats, test_profile_add_joins_equal_stacks);
    tcase_add_test(formats, test_profile_functions_are_one_whatever_their_file);
    tcase_add_test(formats, test_profile_functions_keep_who_calls);
    tcase_add_test(formats, test_profile_write_folded_joins_lines_and_escapes);
    tcase_add_test(formats, test_profile_write_svg_is_well_formed);
    tcase_add_test(formats, test_profile_write_pprof_reads_back);
    tcase_add_test(formats, test_profile_of_nothing);
    suite_add_tcase(suite, formats);
    return suite;
}
