/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Invariant: every index and size read from the process is checked against the bounds of what was read of its tables.
 */
#include "otp_lines.h"

#include <stdlib.h>
#include <string.h>

enum { MAX_LINES = 1 << 22 };
enum { TAG_LIST = 1, TAG_SMALL = 0x0f };

/* Line instructions: item i holds from address items[i] on. */
struct otp_lines {
    uint64_t *items; /* n + 1 addresses */
    unsigned char *locations;
    uint64_t table, fnames; /* addresses: func_tab, fname_ptr */
    size_t n, nfnames, location_size;
};

/* `n` items of `size` bytes, to be freed; NULL when they cannot be read. */
static void *read_array(const struct otp_modules *modules, uint64_t address, size_t n, size_t size)
{
    void *array = calloc(n + 1, size);

    if (array && otp_modules_read(modules, address, array, n * size)) {
        free(array);
        return NULL;
    }
    return array;
}

static void read_tables(const struct otp_modules *modules, const struct otp_module *m, struct otp_lines *lines)
{
    const struct otp_code_layout *l = otp_modules_layout(modules);
    uint64_t at = otp_module_word(m, l->lines), first, last, locations;
    unsigned char table[OTP_MODULE_HEADER];

    lines->table = at + l->lines_functions;
    if (!at || otp_modules_read(modules, at, table, l->lines_functions) ||
        otp_modules_read(modules, lines->table, &first, 8) ||
        otp_modules_read(modules, lines->table + 8 * m->n, &last, 8))
        return;
    memcpy(&lines->fnames, table + l->fnames, 8);
    memcpy(&locations, table + l->loc, 8);
    lines->location_size = 0;
    memcpy(&lines->location_size, table + l->loc_size, 4);
    if (last < first || (last - first) / 8 > MAX_LINES || (lines->location_size != 2 && lines->location_size != 4))
        return;
    lines->nfnames = locations > lines->fnames ? (locations - lines->fnames) / 8 : 0;
    lines->items = read_array(modules, first, (last - first) / 8 + 1, 8);
    lines->locations = read_array(modules, locations, (last - first) / 8 + 1, lines->location_size);
    if (lines->items && lines->locations)
        lines->n = (last - first) / 8;
}

struct otp_lines *otp_lines_new(const struct otp_modules *modules, const struct otp_module *module)
{
    struct otp_lines *lines = calloc(1, sizeof *lines);

    if (lines)
        read_tables(modules, module, lines);
    return lines;
}

void otp_lines_free(struct otp_lines *lines)
{
    if (!lines)
        return;
    free(lines->items);
    free(lines->locations);
    free(lines);
}

/* A string, as the list of its characters; cut. */
static void read_string(const struct otp_modules *modules, uint64_t list, char *out, size_t size)
{
    size_t used = 0;
    uint64_t cell[2];

    while ((list & 3) == TAG_LIST && used + 5 < size && !otp_modules_read(modules, list & ~7ull, cell, sizeof cell)) {
        uint64_t c = cell[0] >> 4;

        if ((cell[0] & 0xf) != TAG_SMALL || c > 0x10ffff)
            break;
        if (c < 0x80) {
            out[used++] = (char)c;
        } else {
            if (c >= 0x10000)
                out[used++] = (char)(0xf0 | c >> 18);
            if (c >= 0x800)
                out[used++] = (char)((c >= 0x10000 ? 0x80 : 0xe0) | (c >> 12 & (c >= 0x10000 ? 0x3f : 0xf)));
            out[used++] = (char)((c >= 0x800 ? 0x80 : 0xc0) | (c >> 6 & (c >= 0x800 ? 0x3f : 0x1f)));
            out[used++] = (char)(0x80 | (c & 0x3f));
        }
        list = cell[1];
    }
    out[used] = '\0';
}

/* The last item at or before the address; n when there is none. */
static size_t find_item(const struct otp_lines *lines, size_t low, size_t high, uint64_t address)
{
    size_t first = low;

    while (low < high) {
        size_t mid = (low + high) / 2;

        if (lines->items[mid] <= address)
            low = mid + 1;
        else
            high = mid;
    }
    return low > first ? low - 1 : lines->n;
}

void otp_lines_find(const struct otp_modules *modules, const struct otp_lines *lines, size_t function, uint64_t address,
                    struct otp_code_place *out)
{
    uint64_t range[2], first, name;
    uint32_t location = 0;
    size_t item;

    if (!lines->n || otp_modules_read(modules, lines->table, &first, 8) ||
        otp_modules_read(modules, lines->table + 8 * function, range, sizeof range) || range[0] < first ||
        range[1] < range[0] || (range[1] - first) / 8 > lines->n)
        return;
    item = find_item(lines, (range[0] - first) / 8, (range[1] - first) / 8, address);
    if (item == lines->n)
        return;
    memcpy(&location, lines->locations + item * lines->location_size, lines->location_size);
    if (!location || location >> 24 >= lines->nfnames ||
        otp_modules_read(modules, lines->fnames + 8 * (location >> 24), &name, 8))
        return;
    out->line = location & 0xffffff;
    read_string(modules, name, out->file, sizeof out->file);
}
