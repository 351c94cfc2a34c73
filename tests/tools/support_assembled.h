/* SPDX-License-Identifier: Apache-2.0 */
/* Functions assembled for a test: a shared object of them, and its symbols. */
#ifndef TESTS_SUPPORT_ASSEMBLED_H
#define TESTS_SUPPORT_ASSEMBLED_H

#include <stdio.h>
#include <stdlib.h>

#include "otp/otp_symbols.h"
#include "support.h"

/* `write` writes their text, which begins in .text. Owns: the caller frees it with otp_symbols_free. */
static inline struct otp_symbols *support_assemble(void (*write)(FILE *file))
{
    char dir[] = "/tmp/erlsnoop-assembled-XXXXXX", path[128], command[256];
    struct otp_symbols *symbols;
    FILE *file;

    ck_assert_ptr_ne(mkdtemp(dir), NULL);
    snprintf(path, sizeof path, "%s/a.s", dir);
    file = fopen(path, "w");
    ck_assert_ptr_ne(file, NULL);
    fprintf(file, ".text\n");
    write(file);
    fprintf(file, ".section .note.GNU-stack,\"\",@progbits\n");
    fclose(file);
    snprintf(command, sizeof command, "cd %s && gcc -nostdlib -shared -o a.so a.s", dir);
    ck_assert_int_eq(system(command), 0);
    snprintf(path, sizeof path, "%s/a.so", dir);
    ck_assert_int_eq(otp_symbols_new(path, NULL, &symbols), 0);
    snprintf(command, sizeof command, "rm -r %s", dir);
    ck_assert_int_eq(system(command), 0);
    return symbols;
}

#endif
