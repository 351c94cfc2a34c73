/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Invariant: a table is one that bears the mark of the interface; a function is where the tables for unwinding begin
 * one.
 */
#include "otp_drivers.h"

#include <string.h>

enum {
    ENTRY_NAME = 48,
    ENTRY_MARK = 128, /* 32 bits */
    MARK_BYTES = 4,
};

static const uint32_t entry_mark = 0xfeeeeeed; /* ERL_DRV_EXTENDED_MARKER */

/* The table whose pointer to its driver's name this is; 0: it is no such pointer. */
static uint64_t table_of(struct otp_image *image, const struct otp_reloc *name)
{
    uint64_t table = name->at - ENTRY_NAME;
    const unsigned char *mark;

    if (name->at < ENTRY_NAME || name->import)
        return 0;
    mark = otp_image_at(image, table + ENTRY_MARK, MARK_BYTES);
    return mark && !memcmp(mark, &entry_mark, MARK_BYTES) && otp_image_string(image, name->address) ? table : 0;
}

static size_t add(uint64_t *functions, size_t n, uint64_t function)
{
    for (size_t i = 0; i < n; i++)
        if (functions[i] == function)
            return n;
    if (n < OTP_MAX_DRIVERS)
        functions[n++] = function;
    return n;
}

size_t otp_drivers_find(struct otp_image *image, unsigned callback, uint64_t functions[OTP_MAX_DRIVERS])
{
    size_t n = 0;

    for (size_t i = 0; i < image->nrelocs; i++) {
        uint64_t table = table_of(image, &image->relocs[i]);
        const struct otp_reloc *function = table ? otp_image_reloc_at(image, table + callback) : NULL;

        if (function && !function->import && otp_image_function_size(image, function->address))
            n = add(functions, n, function->address);
    }
    return n;
}
