/* SPDX-License-Identifier: Apache-2.0 */
/* Symbols of an executable built for the purpose: whole, stripped, with debug files right and wrong, damaged. */
#include <errno.h>
#include <fcntl.h>
#include <gelf.h>
#include <netinet/in.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "otp/otp_symbols.h"
#include "support.h"

/* The folder of a test; `whole` has symbols, `bare` none but the exported ones, `other` is another build with the same code. */
static char dir[64];

static void shell(const char *format, ...) __attribute__((format(printf, 1, 2)));

static void shell(const char *format, ...)
{
    char line[2048], command[2200];
    va_list args;

    va_start(args, format);
    vsnprintf(line, sizeof line, format, args);
    va_end(args);
    snprintf(command, sizeof command, "cd '%s' && %s", dir, line);
    ck_assert_int_eq(system(command), 0);
}

static void set_up(void)
{
    snprintf(dir, sizeof dir, "/tmp/erlsnoop-symbols-XXXXXX");
    ck_assert_ptr_ne(mkdtemp(dir), NULL);
    shell("cat > part.c <<'C'\n"
          "#ifndef VALUE\n#define VALUE 7\n#endif\n"
          "int shared_state = VALUE;\n"
          "__attribute__((noinline)) static int hidden(int a) { return a * shared_state; }\n"
          "__attribute__((noinline)) static int twice(int a) { return a + 1; }\n"
          "int other(int);\n"
          "int exported(int a) { return hidden(a) + twice(a) + other(a); }\n"
          "int main(int argc, char **argv) { (void)argv; return exported(argc); }\n"
          "C\n"
          "printf '__attribute__((noinline)) static int twice(int a) { return a - 1; } int other(int a) { return twice(a); }' > two.c\n"
          "gcc -O1 -g -fPIE -pie -rdynamic -Wl,--build-id -o whole part.c two.c\n"
          "gcc -O1 -DVALUE=8 -g -fPIE -pie -rdynamic -Wl,--build-id -o other part.c two.c\n"
          "objcopy --only-keep-debug whole whole.debug && objcopy --only-keep-debug other other.debug\n"
          "strip -o bare whole && mkdir root");
}

static void tear_down(void)
{
    shell("rm -rf '%s'", dir);
}

/* Puts a file where the debug file of `bare` is looked for. */
static void place_debug_file(const char *file)
{
    shell("id=$(readelf -n bare | sed -n 's/.*Build ID: //p') && to=root/usr/lib/debug/.build-id/$(echo $id | cut -c1-2) &&"
          " mkdir -p $to && cp %s $to/$(echo $id | cut -c3-).debug", file);
}

static int find_in(const char *file, const char *root, const char *name, struct otp_place *out)
{
    char path[128], root_path[128];
    struct otp_symbols *symbols;
    int err;

    snprintf(path, sizeof path, "%s/%s", dir, file);
    snprintf(root_path, sizeof root_path, "%s/%s", dir, root ? root : "");
    err = otp_symbols_new(path, root ? root_path : NULL, &symbols);
    if (err)
        return err;
    err = otp_symbols_find(symbols, name, out);
    otp_symbols_free(symbols);
    return err;
}

/* What nm says. */
static struct otp_place truth(const char *name)
{
    const struct support_run *run = support_run("nm -S %s/whole | awk '$4 == \"%s\" { print \"0x\" $1, \"0x\" $2 }'", dir, name);
    unsigned long address, size;

    ck_assert_int_eq(sscanf(run->out, "%lx %lx", &address, &size), 2);
    return (struct otp_place){.address = address, .size = size};
}

static void assert_found(const char *file, const char *root, const char *name, enum otp_found found)
{
    struct otp_place place, want = truth(name);

    ck_assert_int_eq(find_in(file, root, name, &place), 0);
    ck_assert_uint_eq(place.address, want.address);
    ck_assert_uint_eq(place.size, want.size);
    ck_assert_int_eq(place.found, found);
}

static void assert_not_found(const char *file, const char *root, const char *name)
{
    struct otp_place place;

    ck_assert_int_eq(find_in(file, root, name, &place), -ENOENT);
}

START_TEST(test_otp_symbols_of_a_whole_file)
{
    assert_found("whole", NULL, "hidden", OTP_FOUND_SYMTAB);
    assert_found("whole", NULL, "shared_state", OTP_FOUND_SYMTAB);
    assert_not_found("whole", NULL, "nothing_of_the_sort");
    assert_not_found("whole", NULL, "");
}
END_TEST

START_TEST(test_otp_symbols_of_a_stripped_file)
{
    assert_found("bare", NULL, "exported", OTP_FOUND_DYNSYM);
    assert_found("bare", NULL, "shared_state", OTP_FOUND_DYNSYM);
    assert_not_found("bare", NULL, "hidden");
}
END_TEST

/* Two static functions bear it. */
START_TEST(test_otp_symbols_do_not_guess_between_two)
{
    assert_not_found("whole", NULL, "twice");
}
END_TEST

/* Functions whose calls all, partly, or by themselves alone go to what a compiler made of them; one that is called through a table. */
static const struct {
    const char *name;
    bool whole, bare; /* what is told with symbols, and without */
} bypassed[] = {{"plain", false, false},      {"all_cloned", true, true}, {"some_cloned", true, false},
                {"splits_itself", false, false}, {"in_table", false, false}, {"nobody_calls", true, true}};

static bool is_bypassed(const char *file, const char *name)
{
    struct otp_symbols *symbols;
    struct otp_place place;
    char path[128];
    bool bypassed;

    snprintf(path, sizeof path, "%s/%s", dir, file);
    ck_assert_int_eq(otp_symbols_new(path, NULL, &symbols), 0);
    ck_assert_int_eq(otp_symbols_find(symbols, name, &place), 0);
    bypassed = otp_symbols_is_bypassed(symbols, name, &place);
    otp_symbols_free(symbols);
    return bypassed;
}

START_TEST(test_otp_symbols_tell_of_clones)
{
    static const char *const kinds[] = {"-fPIE -pie", "-fno-pie -no-pie"};

    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++) {
        shell("cat > cloned.c <<'C'\n"
              "#define F(name) __attribute__((noinline, noipa)) int name(int a)\n"
              "static F(all) __asm__(\"all_cloned.constprop.0\");\nstatic F(all) { return a + 1; }\n"
              "static F(some) __asm__(\"some_cloned.isra.0\");\nstatic F(some) { return a + 2; }\n"
              "static F(seldom) __asm__(\"splits_itself.part.0.cold\");\nstatic F(seldom) { return a * 7; }\n"
              "static F(rest) __asm__(\"splits_itself.part.0\");\nstatic F(rest) { return a > 7 ? seldom(a) + 1 : a + 3; }\n"
              "F(plain) { return a + 4; }\nF(all_cloned) { return a + 5; }\nF(some_cloned) { return a + 6; }\n"
              "F(splits_itself) { return a > 9 ? rest(a) * 2 : 7; }\nF(in_table) { return a + 8; }\nF(nobody_calls) { return a + 9; }\n"
              "int (*table[])(int) = {in_table};\n"
              "int main(int argc, char **argv) { (void)argv; return plain(argc) + all(argc) + some(argc) + some_cloned(argc) +"
              " splits_itself(argc) + table[argc - 1](argc); }\nC\n"
              "gcc -O1 %s -rdynamic -o cloned cloned.c && strip -o cloned_bare cloned", kinds[k]);
        for (size_t i = 0; i < sizeof bypassed / sizeof *bypassed; i++) {
            ck_assert_msg(is_bypassed("cloned", bypassed[i].name) == bypassed[i].whole, "%s: %s", kinds[k], bypassed[i].name);
            ck_assert_msg(is_bypassed("cloned_bare", bypassed[i].name) == bypassed[i].bare, "%s, bare: %s", kinds[k], bypassed[i].name);
        }
    }
}
END_TEST

START_TEST(test_otp_symbols_of_a_debug_file_by_build_id)
{
    place_debug_file("whole.debug");
    assert_found("bare", "root", "hidden", OTP_FOUND_DEBUG_FILE);
    assert_found("bare", "root", "exported", OTP_FOUND_DYNSYM);
    assert_not_found("bare", NULL, "hidden");
}
END_TEST

START_TEST(test_otp_symbols_refuse_the_debug_file_of_another_build)
{
    place_debug_file("other.debug");
    assert_not_found("bare", "root", "hidden");
}
END_TEST

/* The same build-id is not enough when the code lies elsewhere. */
START_TEST(test_otp_symbols_refuse_a_debug_file_of_other_addresses)
{
    shell("objcopy --change-section-address .text+16 whole.debug moved.debug 2>/dev/null");
    place_debug_file("moved.debug");
    assert_not_found("bare", "root", "hidden");
}
END_TEST

START_TEST(test_otp_symbols_of_a_debug_file_by_link)
{
    char path[128];
    struct otp_symbols *symbols;
    struct otp_place place;

    shell("objcopy --add-gnu-debuglink=whole.debug bare linked && mkdir .debug && mv whole.debug .debug/");
    snprintf(path, sizeof path, "%s/linked", dir);
    ck_assert_int_eq(otp_symbols_new(path, "", &symbols), 0);
    ck_assert_int_eq(otp_symbols_find(symbols, "hidden", &place), 0);
    ck_assert_int_eq(place.found, OTP_FOUND_DEBUG_FILE);
    ck_assert_uint_eq(place.address, truth("hidden").address);
    otp_symbols_free(symbols);
    shell("cp other.debug .debug/whole.debug");
    ck_assert_int_eq(otp_symbols_new(path, "", &symbols), 0);
    ck_assert_int_eq(otp_symbols_find(symbols, "hidden", &place), -ENOENT);
    otp_symbols_free(symbols);
}
END_TEST

/* A folder serves as well as a host; nobody is asked when the environment names none. */
START_TEST(test_otp_symbols_of_a_debuginfod_server)
{
    char url[128];

    shell("id=$(readelf -n bare | sed -n 's/.*Build ID: //p') && mkdir -p srv/buildid/$id && cp whole.debug srv/buildid/$id/debuginfo &&"
          " mkdir -p wrong/buildid/$id && cp other.debug wrong/buildid/$id/debuginfo");
    snprintf(url, sizeof url, "%s/cache", dir);
    setenv("DEBUGINFOD_CACHE_PATH", url, 1);
    unsetenv("DEBUGINFOD_URLS");
    assert_not_found("bare", "root", "hidden");
    snprintf(url, sizeof url, "file://%s/wrong", dir);
    setenv("DEBUGINFOD_URLS", url, 1);
    assert_not_found("bare", "root", "hidden");
    shell("rm -rf cache");
    snprintf(url, sizeof url, "file://%s/srv", dir);
    setenv("DEBUGINFOD_URLS", url, 1);
    assert_found("bare", "root", "exported", OTP_FOUND_DYNSYM);
    assert_found("bare", "root", "hidden", OTP_FOUND_DEBUGINFOD);
}
END_TEST

/* One that takes the question and never answers: without patience's end, the library asks for minutes, and the test's time is up. */
START_TEST(test_otp_symbols_of_a_silent_debuginfod_server)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t size = sizeof address;
    int listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    char url[128];
    sigset_t set;

    ck_assert_int_eq(bind(listener, (struct sockaddr *)&address, size), 0);
    ck_assert_int_eq(listen(listener, 16), 0);
    ck_assert_int_eq(getsockname(listener, (struct sockaddr *)&address, &size), 0);
    snprintf(url, sizeof url, "%s/cache", dir);
    setenv("DEBUGINFOD_CACHE_PATH", url, 1);
    snprintf(url, sizeof url, "http://127.0.0.1:%d", ntohs(address.sin_port));
    setenv("DEBUGINFOD_URLS", url, 1);
    assert_not_found("bare", "root", "hidden");
    shell("rm -rf cache");
    sigemptyset(&set);
    sigaddset(&set, SIGINT);
    sigprocmask(SIG_BLOCK, &set, NULL);
    raise(SIGINT); /* as of one who has waited long enough */
    assert_not_found("bare", "root", "hidden");
    sigwaitinfo(&set, NULL);
    close(listener);
}
END_TEST

START_TEST(test_otp_symbols_missing_or_foreign_is_an_error)
{
    struct otp_symbols *symbols;
    char path[128];

    ck_assert_int_eq(otp_symbols_new("/nowhere/at/all", NULL, &symbols), -ENOENT);
    ck_assert_int_eq(otp_symbols_new("/tmp", NULL, &symbols), -ENOEXEC);
    shell("mkfifo pipe; printf '#!/bin/sh\\n' > script; : > empty; printf '\\177ELF' > short");
    for (const char *const *name = (const char *const[]){"pipe", "script", "empty", "short", "part.c", NULL}; *name; name++) {
        snprintf(path, sizeof path, "%s/%s", dir, *name);
        ck_assert_int_eq(otp_symbols_new(path, NULL, &symbols), -ENOEXEC);
    }
}
END_TEST

/* ---- damage: what is found all the same must be code in the file, with its size */

static char *whole_bytes(size_t *size)
{
    char path[128], *bytes = malloc(1 << 20);
    FILE *file;

    snprintf(path, sizeof path, "%s/whole", dir);
    file = fopen(path, "r");
    ck_assert(file && bytes);
    *size = fread(bytes, 1, 1 << 20, file);
    fclose(file);
    return bytes;
}

static void look_at(const char *bytes, size_t size)
{
    char path[128];
    struct otp_symbols *symbols;
    struct otp_place place;
    int fd;

    snprintf(path, sizeof path, "%s/bad", dir);
    fd = open(path, O_CREAT | O_TRUNC | O_WRONLY, 0700);
    ck_assert_int_eq(write(fd, bytes, size), (ssize_t)size);
    close(fd);
    if (otp_symbols_new(path, dir, &symbols))
        return;
    for (const char *const *name = (const char *const[]){"exported", "hidden", "main", "efile_open", NULL}; *name; name++)
        if (!otp_symbols_find(symbols, *name, &place)) {
            struct otp_image *image = otp_symbols_image(symbols);
            uint64_t offset = otp_image_offset(image, place.address);
            const struct otp_segment *segment = otp_image_segment(image, place.address);

            ck_assert(otp_image_is_code(image, place.address));
            ck_assert_uint_lt(offset, size);
            ck_assert_uint_le(place.size, segment->size - (place.address - segment->address));
        }
    otp_symbols_free(symbols);
}

START_TEST(test_otp_symbols_survive_truncation)
{
    size_t size;
    char *bytes = whole_bytes(&size);

    for (size_t n = 0; n < size; n += n < 512 ? 7 : size / 97)
        look_at(bytes, n);
    free(bytes);
}
END_TEST

START_TEST(test_otp_symbols_survive_absurd_headers)
{
    static const uint64_t absurd[] = {0, 1, 23, 0x7fffffff, 0xffffffff, 1ul << 40, INT64_MAX, UINT64_MAX - 7, UINT64_MAX};
    size_t size;
    char *bytes = whole_bytes(&size), *bad = malloc(size);
    Elf64_Ehdr *eh = (Elf64_Ehdr *)bytes;

    for (unsigned table = 0; table < 2; table++) {
        size_t start = table ? eh->e_phoff : eh->e_shoff, row = table ? sizeof(Elf64_Phdr) : sizeof(Elf64_Shdr),
               rows = table ? eh->e_phnum : eh->e_shnum;

        ck_assert_uint_le(start + rows * row, size);
        for (size_t field = 0; field < rows * row; field += 8)
            for (size_t i = 0; i < sizeof absurd / sizeof *absurd; i += 1 + field % 3) {
                memcpy(bad, bytes, size);
                memcpy(bad + start + field, &absurd[i], 8);
                look_at(bad, size);
            }
    }
    free(bytes);
    free(bad);
}
END_TEST

START_TEST(test_otp_symbols_survive_random_damage)
{
    size_t size;
    char *bytes = whole_bytes(&size), *bad = malloc(size);
    unsigned seed = 23;

    for (int round = 0; round < 600; round++) {
        size_t from = round % 3 ? 0 : size - 4096, length = round % 3 == 1 ? 4096 : size - from;

        memcpy(bad, bytes, size);
        for (int i = 0; i < 1 + round % 64; i++)
            bad[from + (size_t)rand_r(&seed) % length] = (char)rand_r(&seed);
        look_at(bad, size);
    }
    free(bytes);
    free(bad);
}
END_TEST

Suite *otp_symbols_suite(void)
{
    Suite *suite = suite_create("otp_symbols");
    TCase *files = tcase_create("files");

    tcase_set_timeout(files, 120);
    tcase_add_checked_fixture(files, set_up, tear_down);
    tcase_add_test(files, test_otp_symbols_of_a_whole_file);
    tcase_add_test(files, test_otp_symbols_of_a_stripped_file);
    tcase_add_test(files, test_otp_symbols_do_not_guess_between_two);
    tcase_add_test(files, test_otp_symbols_tell_of_clones);
    tcase_add_test(files, test_otp_symbols_of_a_debug_file_by_build_id);
    tcase_add_test(files, test_otp_symbols_refuse_the_debug_file_of_another_build);
    tcase_add_test(files, test_otp_symbols_refuse_a_debug_file_of_other_addresses);
    tcase_add_test(files, test_otp_symbols_of_a_debug_file_by_link);
    tcase_add_test(files, test_otp_symbols_of_a_debuginfod_server);
    tcase_add_test(files, test_otp_symbols_of_a_silent_debuginfod_server);
    tcase_add_test(files, test_otp_symbols_missing_or_foreign_is_an_error);
    tcase_add_test(files, test_otp_symbols_survive_truncation);
    tcase_add_test(files, test_otp_symbols_survive_absurd_headers);
    tcase_add_test(files, test_otp_symbols_survive_random_damage);
    suite_add_tcase(suite, files);
    return suite;
}
