/* SPDX-License-Identifier: Apache-2.0 */
/* The drivers of the machine's own emulator, held against its symbols. */
#include <glob.h>
#include <stdio.h>
#include <string.h>

#include "otp/otp_drivers.h"
#include "support.h"

enum { OUTPUT = 24, CALL = 112, NOWHERE = 48 }; /* offsets of callbacks; the last is that of the name */

/* The function that a driver's table, which is exported, has at the offset. */
static uint64_t entry(const struct otp_image *image, const char *table, unsigned callback)
{
    const struct otp_symbol *symbol = otp_image_export(image, table);

    ck_assert_msg(symbol != NULL, "%s is not exported", table);
    for (size_t i = 0; i < image->nrelocs; i++)
        if (image->relocs[i].at == symbol->address + callback)
            return image->relocs[i].address;
    return 0;
}

static bool has(const uint64_t *functions, size_t n, uint64_t function)
{
    for (size_t i = 0; i < n; i++)
        if (functions[i] == function)
            return true;
    return false;
}

START_TEST(test_otp_drivers_finds_each_callback_once)
{
    uint64_t functions[OTP_MAX_DRIVERS];
    struct otp_image *image;
    glob_t found;
    size_t n;

    SUPPORT_EXPORTS();
    ck_assert_int_eq(glob("/usr/lib/erlang/erts-*/bin/beam.smp", 0, NULL, &found), 0);
    ck_assert_int_eq(otp_image_new(found.gl_pathv[0], &image), 0);
    n = otp_drivers_find(image, OUTPUT, functions);
    ck_assert_int_ge(n, 3); /* of programs and descriptors, of TCP, of UDP */
    ck_assert(has(functions, n, entry(image, "spawn_driver_entry", OUTPUT)));
    ck_assert_uint_eq(entry(image, "spawn_driver_entry", OUTPUT), entry(image, "fd_driver_entry", OUTPUT));
    for (size_t i = 0; i < n; i++) {
        ck_assert(!has(functions, i, functions[i]));
        ck_assert_uint_gt(otp_image_function_size(image, functions[i]), 0);
    }
    ck_assert_int_eq(otp_drivers_find(image, CALL, functions), 0);
    ck_assert_int_eq(otp_drivers_find(image, NOWHERE, functions), 0);
    otp_image_free(image);
    globfree(&found);
}
END_TEST

START_TEST(test_otp_drivers_finds_nothing_elsewhere)
{
    uint64_t functions[OTP_MAX_DRIVERS];
    struct otp_image *image;

    ck_assert_int_eq(otp_image_new("/proc/self/exe", &image), 0);
    ck_assert_int_eq(otp_drivers_find(image, OUTPUT, functions), 0);
    otp_image_free(image);
}
END_TEST

Suite *otp_drivers_suite(void)
{
    Suite *suite = suite_create("otp_drivers");
    TCase *files = tcase_create("files");

    tcase_add_test(files, test_otp_drivers_finds_each_callback_once);
    tcase_add_test(files, test_otp_drivers_finds_nothing_elsewhere);
    suite_add_tcase(suite, files);
    return suite;
}
