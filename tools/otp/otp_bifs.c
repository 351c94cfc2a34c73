/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Invariant: the table is the longest row of entries of its form, and long enough to be none by chance; a function is
 * where the tables for unwinding begin one.
 */
#include "otp_bifs.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "otp_user.h"

enum {
    ENTRY_FUNCTION = 24, /* two addresses, the second of what is called while it is traced, or the same */
    ENTRY_BYTES = 48,
    LEAST_ENTRIES = 100,
    MAX_ENTRIES = 4096,
    MAX_ARITY = 255,
    ATOM_SHIFT = 6,
};

/* What stands in an entry before its function. */
struct entry {
    uint64_t module, name; /* terms */
    uint32_t arity, pad;
};

static bool is_atom(uint64_t term)
{
    return (term & ((1 << ATOM_SHIFT) - 1)) == OTP_TAG_ATOM;
}

/* The entry whose function this is. False: it is none's. */
static bool read_entry(struct otp_image *image, const struct otp_reloc *function, struct otp_bif *out)
{
    const void *bytes = function->at >= ENTRY_FUNCTION && !function->import
                            ? otp_image_at(image, function->at - ENTRY_FUNCTION, sizeof(struct entry)) : NULL;
    struct entry entry;

    if (!bytes)
        return false;
    memcpy(&entry, bytes, sizeof entry);
    *out = (struct otp_bif){function->address, entry.module >> ATOM_SHIFT, entry.name >> ATOM_SHIFT, entry.arity};
    return is_atom(entry.module) && is_atom(entry.name) && entry.arity <= MAX_ARITY && !entry.pad;
}

/* The place of the first address that the dynamic linker writes at this one or behind it, from the one numbered `i`
 * on. */
static size_t reloc_from(const struct otp_image *image, size_t i, uint64_t at)
{
    while (i < image->nrelocs && image->relocs[i].at < at)
        i++;
    return i;
}

/* How many entries stand in a row from the one whose function is numbered `i` on; they go to `out`, which may be
 * NULL. */
static size_t read_row(struct otp_image *image, size_t i, struct otp_bif *out)
{
    struct otp_bif bif;
    size_t n = 0;

    for (uint64_t at = image->relocs[i].at; i < image->nrelocs && image->relocs[i].at == at && n < MAX_ENTRIES;
         at += ENTRY_BYTES, i = reloc_from(image, i, at), n++) {
        if (!read_entry(image, &image->relocs[i], &bif))
            break;
        if (out)
            out[n] = bif;
    }
    return n;
}

static int compare_bifs(const void *a, const void *b)
{
    uint64_t x = ((const struct otp_bif *)a)->function, y = ((const struct otp_bif *)b)->function;

    return x < y ? -1 : x > y;
}

/* Leaves each address once, and those alone where a function begins. Returns how many. */
static size_t keep_functions(struct otp_image *image, struct otp_bif *bifs, size_t n)
{
    size_t kept = 0;

    qsort(bifs, n, sizeof *bifs, compare_bifs);
    for (size_t i = 0; i < n; i++)
        if ((!kept || bifs[i].function != bifs[kept - 1].function) && otp_image_function_size(image, bifs[i].function))
            bifs[kept++] = bifs[i];
    return kept;
}

int otp_bifs_find(struct otp_image *image, struct otp_bif **out, size_t *n)
{
    size_t longest = 0, length = 0;

    *out = NULL;
    *n = 0;
    for (size_t i = 0; i < image->nrelocs;) {
        size_t row = read_row(image, i, NULL), next;

        if (row > length) {
            longest = i;
            length = row;
        }
        next = reloc_from(image, i, image->relocs[i].at + (row > 1 ? row * ENTRY_BYTES : 1)); /* each place once */
        i = next > i ? next : i + 1;
    }
    if (length < LEAST_ENTRIES)
        return 0;
    *out = calloc(length, sizeof **out);
    if (!*out)
        return -ENOMEM;
    *n = keep_functions(image, *out, read_row(image, longest, *out));
    return 0;
}

const struct otp_bif *otp_bifs_at(const struct otp_bif *bifs, size_t n, uint64_t function)
{
    return n ? bsearch(&(struct otp_bif){.function = function}, bifs, n, sizeof *bifs, compare_bifs) : NULL;
}
