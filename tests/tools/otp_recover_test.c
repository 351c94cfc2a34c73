/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What is recovered from the machine's own emulator, which has symbols, held against them; and that neither a program
 * that is no emulator nor a damaged emulator yields anything but starts of functions.
 */
#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "otp/otp_recover.h"
#include "otp/otp_symbols.h"
#include "support.h"

static const char *const rows[] = {
#define RULE(name, clauses) #name,
#define OBJECT(name, clauses) #name,
#include "otp/otp_rules.def"
};

enum { NROWS = sizeof rows / sizeof *rows };

/* Another emulator to hold against its symbols: OTP_EMULATOR in the environment. */
static void emulator(char path[256])
{
    const char *other = getenv("OTP_EMULATOR");
    glob_t found;

    *path = 0;
    if (other)
        snprintf(path, 256, "%s", other);
    else if (!glob("/usr/lib/erlang/erts-*/bin/beam.smp", 0, NULL, &found)) {
        snprintf(path, 256, "%s", found.gl_pathv[0]);
        globfree(&found);
    }
    ck_assert_msg(*path, "no /usr/lib/erlang/erts-*/bin/beam.smp");
}

START_TEST(test_otp_recover_agrees_with_symbols)
{
    char path[256];
    struct otp_symbols *symbols;
    struct otp_recover *recover;
    int known = 0, missing = 0;

    SUPPORT_EXPORTS();
    emulator(path);
    ck_assert_int_eq(otp_symbols_new(path, NULL, &symbols), 0);
    ck_assert_int_eq(otp_recover_new(otp_symbols_image(symbols), &recover), 0);
    for (int i = 0; i < NROWS; i++) {
        const struct otp_symbol *symbol = otp_image_export(otp_symbols_image(symbols), rows[i]);
        uint64_t address, size;

        if (otp_recover_find(recover, rows[i], &address, &size)) {
            missing += symbol != NULL;
            ck_assert_msg(symbol || strchr(rows[i], '.'), "%s", rows[i]); /* a part of a function: not of every build */
            continue;
        }
        if (!symbol)
            continue; /* static, even where internals are exported */
        known++;
        ck_assert_msg(address == symbol->address, "%s: 0x%lx, not 0x%lx", rows[i], address, symbol->address);
        ck_assert_uint_eq(size, symbol->code ? symbol->size : 0);
    }
    ck_assert_int_le(missing, 1); /* beam_run_process of OTP 25, which exports it */
    ck_assert_int_ge(known, NROWS - 11);
    otp_recover_free(recover);
    otp_symbols_free(symbols);
}
END_TEST

/* Whatever symbol looks like the C name of a BIF: recovered is the same address, or nothing. */
START_TEST(test_otp_recover_finds_bifs_by_name)
{
    char path[256];
    struct otp_symbols *symbols;
    struct otp_recover *recover;
    struct otp_image *image;
    int found = 0;

    SUPPORT_EXPORTS();
    emulator(path);
    ck_assert_int_eq(otp_symbols_new(path, NULL, &symbols), 0);
    image = otp_symbols_image(symbols);
    ck_assert_int_eq(otp_recover_new(image, &recover), 0);
    for (size_t i = 0; i < image->nsymbols; i++) {
        uint64_t address, size;

        if (image->symbols[i].code && !otp_recover_find(recover, image->symbols[i].name, &address, &size)) {
            ck_assert_msg(address == image->symbols[i].address, "%s: 0x%lx", image->symbols[i].name, address);
            found++;
        }
    }
    ck_assert_int_gt(found, 400);
    otp_recover_free(recover);
    otp_symbols_free(symbols);
}
END_TEST

START_TEST(test_otp_recover_finds_nothing_elsewhere)
{
    struct otp_image *image;
    struct otp_recover *recover;
    uint64_t address, size;

    ck_assert_int_eq(otp_image_new("/proc/self/exe", &image), 0);
    ck_assert_int_eq(otp_recover_new(image, &recover), 0);
    for (int i = 0; i < NROWS; i++)
        ck_assert_int_eq(otp_recover_find(recover, rows[i], &address, &size), -ENOENT);
    for (const char *const *name = (const char *const[]){"", "_", "_1", "a_", "spawn_3", "spawn_99999999999999999999", "x_y_-1", NULL};
         *name; name++)
        ck_assert_int_eq(otp_recover_find(recover, *name, &address, &size), -ENOENT);
    otp_recover_free(recover);
    otp_image_free(image);
}
END_TEST

/* ---- programs made for the purpose */

/* Builds one with so many functions that refer to the string which singles out erts_do_exit_process. */
static void build(const char *path, int functions)
{
    char command[128];
    FILE *source;

    snprintf(command, sizeof command, "gcc -x c -O1 -fPIE -pie -rdynamic -o %s -", path);
    source = popen(command, "w");
    ck_assert_ptr_ne(source, NULL);
    fputs("const char *volatile kept;\n", source);
    for (int i = 1; i <= functions; i++)
        fprintf(source, "void f%d(void) { kept = \"System process %%T terminated: %%T\\n\"; }\n", i);
    fputs("int main(void) { return 0; }\n", source);
    ck_assert_int_eq(pclose(source), 0);
}

static int find_exit(const char *path, uint64_t *address, uint64_t *size, struct otp_symbol *f1)
{
    struct otp_image *image;
    struct otp_recover *recover;
    int err;

    ck_assert_int_eq(otp_image_new(path, &image), 0);
    ck_assert_int_eq(otp_recover_new(image, &recover), 0);
    err = otp_recover_find(recover, "erts_do_exit_process", address, size);
    if (otp_image_export(image, "f1"))
        *f1 = *otp_image_export(image, "f1");
    otp_recover_free(recover);
    otp_image_free(image);
    return err;
}

START_TEST(test_otp_recover_does_not_guess_between_two)
{
    char path[] = "/tmp/erlsnoop-recover-XXXXXX";
    uint64_t address, size;
    struct otp_symbol f1 = {0};

    close(mkstemp(path));
    build(path, 0);
    ck_assert_int_eq(find_exit(path, &address, &size, &f1), -ENOENT);
    build(path, 1);
    ck_assert_int_eq(find_exit(path, &address, &size, &f1), 0);
    ck_assert_uint_eq(address, f1.address);
    ck_assert_uint_eq(size, f1.size);
    build(path, 2);
    ck_assert_int_eq(find_exit(path, &address, &size, &f1), -ENOENT);
    unlink(path);
}
END_TEST

/* ---- damage */

static void look_at(const char *path)
{
    struct otp_image *image;
    struct otp_recover *recover;
    uint64_t address, size;

    if (otp_image_new(path, &image))
        return;
    if (!otp_recover_new(image, &recover)) {
        for (int i = 0; i < NROWS; i++)
            if (!otp_recover_find(recover, rows[i], &address, &size)) {
                const struct otp_segment *segment = otp_image_segment(image, address);

                ck_assert_ptr_ne(segment, NULL);
                ck_assert(size ? otp_image_is_code(image, address + size - 1) : segment->writable);
            }
        otp_recover_free(recover);
    }
    otp_image_free(image);
}

/* Rounds of damage to a copy of the file: to the headers of its sections, to all of it, to symbols and relocations. */
static void damage(const char *path, int rounds)
{
    char bad[] = "/tmp/erlsnoop-recover-XXXXXX";
    unsigned seed = 23;
    size_t size, from, length, kept;
    FILE *file = fopen(path, "r");
    int fd = mkstemp(bad);
    char *bytes;

    ck_assert(file && fd >= 0);
    fseek(file, 0, SEEK_END);
    size = (size_t)ftell(file);
    bytes = malloc(size);
    ck_assert_ptr_ne(bytes, NULL);
    for (int round = 0; round < rounds; round++) {
        rewind(file);
        ck_assert_uint_eq(fread(bytes, 1, size, file), size);
        from = round % 3 ? 0 : size - size / 64;
        length = round % 3 == 1 ? size : round % 3 ? size / 8 : size / 64;
        for (int i = 0; i < 1 << (round % 12); i++)
            bytes[from + (size_t)rand_r(&seed) % length] = (char)rand_r(&seed);
        kept = round % 5 == 4 ? size * 3 / 4 : size;
        ck_assert_int_eq(ftruncate(fd, 0), 0);
        ck_assert_int_eq(pwrite(fd, bytes, kept, 0), (ssize_t)kept);
        look_at(bad);
    }
    fclose(file);
    close(fd);
    unlink(bad);
    free(bytes);
}

START_TEST(test_otp_recover_survives_damage)
{
    char path[256], small[] = "/tmp/erlsnoop-recover-XXXXXX";

    emulator(path);
    damage(path, 24);
    close(mkstemp(small));
    build(small, 1);
    damage(small, 1000);
    unlink(small);
}
END_TEST

Suite *otp_recover_suite(void)
{
    Suite *suite = suite_create("otp_recover");
    TCase *recover = tcase_create("recover");

    tcase_set_timeout(recover, 120);
    tcase_add_test(recover, test_otp_recover_agrees_with_symbols);
    tcase_add_test(recover, test_otp_recover_finds_bifs_by_name);
    tcase_add_test(recover, test_otp_recover_finds_nothing_elsewhere);
    tcase_add_test(recover, test_otp_recover_does_not_guess_between_two);
    tcase_add_test(recover, test_otp_recover_survives_damage);
    suite_add_tcase(suite, recover);
    return suite;
}
