/* SPDX-License-Identifier: Apache-2.0 */
/* The built-in functions of the machine's own emulator, held against its symbols. */
#include <ctype.h>
#include <glob.h>
#include <stdlib.h>
#include <string.h>

#include "otp/otp_bifs.h"
#include "support.h"

static struct otp_image *open_emulator(void)
{
    struct otp_image *image;
    glob_t found;

    ck_assert_int_eq(glob("/usr/lib/erlang/erts-*/bin/beam.smp", 0, NULL, &found), 0);
    ck_assert_int_eq(otp_image_new(found.gl_pathv[0], &image), 0);
    globfree(&found);
    return image;
}

/* The arity that the name of an exported built-in function ends with; -1: it is none. */
static int arity_of(const struct otp_symbol *symbol)
{
    const char *end = strrchr(symbol->name, '_');

    return symbol->code && end && isdigit((unsigned char)end[1]) && !end[2] ? end[1] - '0' : -1;
}

/* Symbols tell the arity of most; what is exported as a built-in function of some modules is in the table. */
START_TEST(test_otp_bifs_are_those_of_the_symbols)
{
    static const char *const some[] = {"lists_reverse_2", "ets_insert_2", "erlang_send_3", "maps_merge_2", "now_0"};
    struct otp_image *image = open_emulator();
    struct otp_bif *bifs;
    size_t n, told = 0, same = 0;

    SUPPORT_EXPORTS();
    ck_assert_int_eq(otp_bifs_find(image, &bifs, &n), 0);
    ck_assert_uint_gt(n, 400);
    for (size_t i = 1; i < n; i++)
        ck_assert_uint_lt(bifs[i - 1].function, bifs[i].function);
    for (size_t i = 0; i < image->nsymbols; i++) {
        const struct otp_bif *bif = otp_bifs_at(bifs, n, image->symbols[i].address);
        int arity = bif ? arity_of(&image->symbols[i]) : -1;

        told += arity >= 0;
        same += arity >= 0 && (unsigned)arity == bif->arity;
    }
    ck_assert_uint_gt(told, 400);
    ck_assert_uint_ge(same, told - told / 50); /* several names may lead to one function */
    for (size_t i = 0; i < sizeof some / sizeof *some; i++) {
        const struct otp_symbol *symbol = otp_image_export(image, some[i]);

        ck_assert_msg(!symbol || otp_bifs_at(bifs, n, symbol->address), "%s", some[i]);
    }
    ck_assert_ptr_null(otp_bifs_at(bifs, n, bifs[0].function + 1));
    free(bifs);
    otp_image_free(image);
}
END_TEST

START_TEST(test_otp_bifs_are_none_elsewhere)
{
    struct otp_image *image;
    struct otp_bif *bifs;
    size_t n = 1;

    ck_assert_int_eq(otp_image_new("/bin/bash", &image), 0);
    ck_assert_int_eq(otp_bifs_find(image, &bifs, &n), 0);
    ck_assert_uint_eq(n, 0);
    ck_assert_ptr_null(otp_bifs_at(bifs, n, 0));
    free(bifs);
    otp_image_free(image);
}
END_TEST

Suite *otp_bifs_suite(void)
{
    Suite *suite = suite_create("otp_bifs");
    TCase *tests = tcase_create("bifs");

    tcase_add_test(tests, test_otp_bifs_are_those_of_the_symbols);
    tcase_add_test(tests, test_otp_bifs_are_none_elsewhere);
    suite_add_tcase(suite, tests);
    return suite;
}
