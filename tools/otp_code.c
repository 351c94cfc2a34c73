/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Invariant: what is read from the process is checked against the bounds of what holds it before
 * it is used as a count, an index or an order; a process that lies gets no name, or a wrong one.
 */
#include "otp_code.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "memory.h"

enum {
    MAX_FUNCTIONS = 1 << 18,
    MAX_LINES = 1 << 22,
    MAX_HEADER = 512,
    MAX_PROLOGUE = 4096, /* bytes of shared code between a header and its first function */
    MAX_SEARCH = 64 << 20,
    MAX_INFO_SEARCH = 4096,
    CHUNK = 1 << 16,
    MAX_ARITY = 255,
};
enum { TAG_LIST = 1, TAG_ATOM = 0x0b, TAG_SMALL = 0x0f };

/* Line instructions of one module: item i holds from address items[i] on. */
struct lines {
    uint64_t *items; /* n + 1 addresses */
    unsigned char *locations;
    uint64_t table, fnames; /* addresses: func_tab, fname_ptr */
    size_t n, nfnames, location_size;
};

struct module {
    uint64_t start;       /* of the header */
    uint64_t *functions;  /* n addresses of infos and the end, ascending */
    size_t n;
    unsigned char header[MAX_HEADER]; /* up to layout.functions */
    bool lines_read;
    struct lines lines;
};

enum { FOUND_BITS = 12 };

/* What was found at an address in a moment of the memory. */
struct found {
    uint64_t address, moment;
    int err;
    struct otp_code_place place;
};

struct otp_code {
    struct memory *memory;
    struct otp_code_layout layout;
    struct module **modules; /* by address */
    size_t nmodules;
    struct found found[1 << FOUND_BITS]; /* by address, the last one that fell there */
};

static int read_at(const struct otp_code *code, uint64_t address, void *out, size_t size)
{
    return memory_read(code->memory, address, out, size);
}

/* `n` items of `size` bytes, to be freed; NULL when they cannot be read. */
static void *read_array(const struct otp_code *code, uint64_t address, size_t n, size_t size)
{
    void *array = calloc(n + 1, size);

    if (array && read_at(code, address, array, n * size)) {
        free(array);
        return NULL;
    }
    return array;
}

static uint64_t word_at(const unsigned char *bytes, size_t offset)
{
    uint64_t word;

    memcpy(&word, bytes + offset, sizeof word);
    return word;
}

static bool is_atom(uint64_t term)
{
    return (term & 0x3f) == TAG_ATOM && term >> 6 <= UINT32_MAX >> 6;
}

int otp_code_new(struct memory *memory, const struct otp_code_layout *layout, struct otp_code **out)
{
    struct otp_code *code = calloc(1, sizeof *code);

    if (!code)
        return -ENOMEM;
    code->memory = memory;
    code->layout = *layout;
    *out = code;
    return 0;
}

static void free_module(struct module *m)
{
    free(m->functions);
    free(m->lines.items);
    free(m->lines.locations);
    free(m);
}

void otp_code_free(struct otp_code *code)
{
    if (!code)
        return;
    for (size_t i = 0; i < code->nmodules; i++)
        free_module(code->modules[i]);
    free(code->modules);
    free(code);
}

/* ---- modules */

static bool is_ascending(const uint64_t *words, size_t n)
{
    for (size_t i = 1; i < n; i++)
        if (words[i] <= words[i - 1])
            return false;
    return true;
}

/* Whether the words at `bytes` can be a header at `start`, of a module that begins before the address. */
static bool looks_like_header(const struct otp_code_layout *l, const unsigned char *bytes, uint64_t start, uint64_t address)
{
    uint64_t n = word_at(bytes, l->nfunctions), first = word_at(bytes, l->functions), end;

    if (!n || n > MAX_FUNCTIONS)
        return false;
    end = start + l->functions + 8 * (n + 1);
    return first >= end && first - end <= MAX_PROLOGUE && first <= address && first % 8 == 0;
}

/* The module whose header is at `start`; NULL when it is none. */
static struct module *read_module(const struct otp_code *code, uint64_t start, uint64_t limit)
{
    const struct otp_code_layout *l = &code->layout;
    struct module *m = calloc(1, sizeof *m);
    uint64_t n;

    if (!m || read_at(code, start, m->header, l->functions)) {
        free(m);
        return NULL;
    }
    n = word_at(m->header, l->nfunctions);
    m->start = start;
    m->n = n <= MAX_FUNCTIONS ? n : 0;
    m->functions = m->n ? read_array(code, start + l->functions, m->n + 1, 8) : NULL;
    if (m->functions && is_ascending(m->functions, m->n + 1) && m->functions[m->n] <= limit)
        return m;
    free_module(m);
    return NULL;
}

/* The next header down from the address. The search ends there, whether its module holds the address or not. */
static struct module *search_module(const struct otp_code *code, uint64_t address)
{
    size_t need = code->layout.functions + 8u;
    unsigned char *chunk = malloc(CHUNK + MAX_HEADER);
    struct module *found = NULL;
    struct memory_mapping mapping;
    uint64_t low, end, at = address & ~7ull;

    if (!chunk || memory_find_mapping(code->memory, address, &mapping))
        goto out;
    low = mapping.start;
    end = mapping.end;
    if (at - low > MAX_SEARCH)
        low = at - MAX_SEARCH;
    while (!found && at > low) {
        uint64_t from = at - low > CHUNK ? at - CHUNK : low;
        size_t size = end - from < CHUNK + MAX_HEADER ? end - from : CHUNK + MAX_HEADER;

        if (read_at(code, from, chunk, size))
            break;
        for (uint64_t h = at; !found && h >= from + 8; ) {
            h -= 8;
            if (h - from + need <= size && looks_like_header(&code->layout, chunk + (h - from), h, address))
                found = read_module(code, h, end);
        }
        at = from;
    }
out:
    free(chunk);
    return found;
}

/* How many modules that are kept begin at or before the address. */
static size_t rank_of(const struct otp_code *code, uint64_t address)
{
    size_t low = 0, high = code->nmodules;

    while (low < high) {
        size_t mid = (low + high) / 2;

        if (code->modules[mid]->start <= address)
            low = mid + 1;
        else
            high = mid;
    }
    return low;
}

static bool holds(const struct module *m, uint64_t address)
{
    return address >= m->functions[0] && address < m->functions[m->n];
}

static bool is_unchanged(const struct otp_code *code, const struct module *m)
{
    unsigned char header[MAX_HEADER];

    return !read_at(code, m->start, header, code->layout.functions) && !memcmp(header, m->header, code->layout.functions);
}

static void forget_module(struct otp_code *code, size_t rank)
{
    free_module(code->modules[rank]);
    memmove(code->modules + rank, code->modules + rank + 1, (--code->nmodules - rank) * sizeof *code->modules);
}

/* Modules that it overlaps are gone. */
static int keep_module(struct otp_code *code, struct module *m)
{
    struct module **modules = realloc(code->modules, (code->nmodules + 1) * sizeof *modules);
    size_t rank;

    if (!modules)
        return -ENOMEM;
    code->modules = modules;
    while ((rank = rank_of(code, m->functions[m->n] - 1)) && modules[rank - 1]->functions[modules[rank - 1]->n] > m->start)
        forget_module(code, rank - 1);
    memmove(modules + rank + 1, modules + rank, (code->nmodules++ - rank) * sizeof *modules);
    modules[rank] = m;
    return 0;
}

static struct module *find_module(struct otp_code *code, uint64_t address)
{
    size_t rank = rank_of(code, address);
    struct module *m;

    if (rank && holds(code->modules[rank - 1], address)) {
        if (is_unchanged(code, code->modules[rank - 1]))
            return code->modules[rank - 1];
        forget_module(code, rank - 1);
    }
    m = search_module(code, address);
    if (m && (!holds(m, address) || keep_module(code, m))) {
        free_module(m);
        m = NULL;
    }
    return m;
}

/* ---- lines */

static void read_lines(const struct otp_code *code, struct module *m)
{
    const struct otp_code_layout *l = &code->layout;
    uint64_t at = word_at(m->header, l->lines), first, last, locations;
    struct lines *lines = &m->lines;
    unsigned char table[MAX_HEADER];

    m->lines_read = true;
    lines->table = at + l->lines_functions;
    if (!at || read_at(code, at, table, l->lines_functions) ||
        read_at(code, lines->table, &first, 8) || read_at(code, lines->table + 8 * m->n, &last, 8))
        return;
    lines->fnames = word_at(table, l->fnames);
    lines->location_size = (uint32_t)word_at(table, l->loc_size);
    locations = word_at(table, l->loc);
    if (last < first || (last - first) / 8 > MAX_LINES || (lines->location_size != 2 && lines->location_size != 4))
        return;
    lines->nfnames = locations > lines->fnames ? (locations - lines->fnames) / 8 : 0;
    lines->items = read_array(code, first, (last - first) / 8 + 1, 8);
    lines->locations = read_array(code, locations, (last - first) / 8 + 1, lines->location_size);
    if (lines->items && lines->locations)
        lines->n = (last - first) / 8;
}

/* A string, as the list of its characters; cut. */
static void read_string(const struct otp_code *code, uint64_t list, char *out, size_t size)
{
    size_t used = 0;
    uint64_t cell[2];

    while ((list & 3) == TAG_LIST && used + 5 < size && !read_at(code, list & ~7ull, cell, sizeof cell)) {
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
static size_t find_item(const struct lines *lines, size_t low, size_t high, uint64_t address)
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

static void find_line(const struct otp_code *code, struct module *m, size_t function, uint64_t address, struct otp_code_place *out)
{
    struct lines *lines = &m->lines;
    uint64_t range[2], first, name;
    size_t item;

    if (!m->lines_read)
        read_lines(code, m);
    if (!lines->n || read_at(code, lines->table, &first, 8) || read_at(code, lines->table + 8 * function, range, sizeof range) ||
        range[0] < first || range[1] < range[0] || (range[1] - first) / 8 > lines->n)
        return;
    item = find_item(lines, (range[0] - first) / 8, (range[1] - first) / 8, address);
    if (item == lines->n)
        return;

    uint32_t location = 0;

    memcpy(&location, lines->locations + item * lines->location_size, lines->location_size);
    if (!location || location >> 24 >= lines->nfnames || read_at(code, lines->fnames + 8 * (location >> 24), &name, 8))
        return;
    out->line = location & 0xffffff;
    read_string(code, name, out->file, sizeof out->file);
}

/* ---- functions */

static int read_mfa(const struct otp_code *code, uint64_t info, struct otp_code_place *out)
{
    uint64_t mfa[3];

    if (read_at(code, info + code->layout.info_mfa, mfa, sizeof mfa))
        return -EFAULT;
    if (!is_atom(mfa[0]) || !is_atom(mfa[1]) || mfa[2] > MAX_ARITY)
        return -ENOENT;
    *out = (struct otp_code_place){.module = mfa[0], .function = mfa[1], .arity = (uint32_t)mfa[2], .start = info + code->layout.info_size};
    return 0;
}

/* The emulator's own code (what processes return to when they end) has infos, but no header. */
static int find_bare_info(const struct otp_code *code, uint64_t address, struct otp_code_place *out)
{
    uint64_t info = (address - code->layout.info_size) & ~7ull, low = info - MAX_INFO_SEARCH;

    for (; info > low; info -= 8) {
        int err = read_mfa(code, info, out);

        if (err != -ENOENT)
            return err;
    }
    return -ENOENT;
}

static int look_up(struct otp_code *code, uint64_t address, struct otp_code_place *out)
{
    struct module *m = find_module(code, address);
    size_t low = 0, high = m ? m->n : 0;
    int err;

    if (!m)
        return find_bare_info(code, address, out);
    while (high - low > 1) {
        size_t mid = (low + high) / 2;

        if (m->functions[mid] <= address)
            low = mid;
        else
            high = mid;
    }
    err = read_mfa(code, m->functions[low], out);
    if (!err)
        find_line(code, m, low, address, out);
    return err;
}

int otp_code_find(struct otp_code *code, uint64_t address, struct otp_code_place *out)
{
    struct found *kept = &code->found[(address * 0x9e3779b97f4a7c15u) >> (64 - FOUND_BITS)]; /* 2^64 by the golden ratio */

    if (kept->address != address || kept->moment != memory_moment(code->memory)) {
        *kept = (struct found){.address = address, .moment = memory_moment(code->memory)};
        kept->err = look_up(code, address, &kept->place);
    }
    if (!kept->err)
        *out = kept->place;
    return kept->err;
}
