/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Invariant: kept modules do not overlap; a header is believed when its list of functions ascends within its mapping
 * and leads to infos of one module, and as long as its bytes stay what they were.
 */
#include "otp_modules.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "otp_lines.h"
#include "target/memory.h"

enum {
    MAX_FUNCTIONS = 1 << 18,
    MAX_PROLOGUE = 4096,     /* bytes of code between a header and its first function */
    MAX_SHARED = 1 << 15,    /* of the code that all functions share: under 10,000 in OTP 25 to 29 */
    MAX_SEARCH = 64 << 20,
    MAX_EMPTY = 1 << 17,     /* zeroes that end a shared mapping's used part: to read on would give it memory */
    CHUNK = 1 << 16,
    MAX_ARITY = 255,
    WAY_BYTES = 6,           /* rex jmp distance */
    MAX_WAYS = 512,          /* of a module: to each piece of shared code one */
    TAG_ATOM = 0x0b,
};

struct otp_modules {
    struct memory *memory;
    struct otp_code_layout layout;
    struct otp_code_purges purges; /* of NULL: not known */
    struct otp_module **kept;      /* by address */
    size_t n;
    unsigned char chunk[CHUNK + OTP_MODULE_HEADER];
};

int otp_modules_read(const struct otp_modules *ms, uint64_t address, void *out, size_t size)
{
    return memory_read(ms->memory, address, out, size);
}

static uint64_t word_at(const unsigned char *bytes, size_t offset)
{
    uint64_t word;

    memcpy(&word, bytes + offset, sizeof word);
    return word;
}

uint64_t otp_module_word(const struct otp_module *m, size_t offset)
{
    return offset <= sizeof m->header - 8 ? word_at(m->header, offset) : 0;
}

struct otp_modules *otp_modules_new(struct memory *memory, const struct otp_code_layout *layout)
{
    struct otp_modules *ms = calloc(1, sizeof *ms);

    if (ms) {
        ms->memory = memory;
        ms->layout = *layout;
    }
    return ms;
}

static void free_module(struct otp_module *m)
{
    otp_lines_free(m->lines);
    free(m->functions);
    free(m);
}

void otp_modules_free(struct otp_modules *ms)
{
    if (!ms)
        return;
    for (size_t i = 0; i < ms->n; i++)
        free_module(ms->kept[i]);
    free(ms->kept);
    free(ms);
}

const struct otp_code_layout *otp_modules_layout(const struct otp_modules *ms)
{
    return &ms->layout;
}

/* ---- purges */

uint64_t otp_modules_purges(const struct otp_modules *ms)
{
    return ms->purges.count ? ms->purges.count(ms->purges.ctx) : 0;
}

bool otp_modules_purged(const struct otp_modules *ms, uint64_t name, uint64_t seen)
{
    return ms->purges.last && ms->purges.last(ms->purges.ctx, name) > seen;
}

/* ---- mappings */

/*
 * Machine code stands in executable mappings of no file, or of one without a name; other code in memory like any other.
 */
static bool may_hold_code(const struct otp_modules *ms, const struct memory_mapping *mapping)
{
    return !mapping->file && (mapping->executable || !ms->layout.native);
}

/* ---- headers */

static bool is_atom(uint64_t term)
{
    return (term & 0x3f) == TAG_ATOM && term >> 6 <= UINT32_MAX >> 6;
}

int otp_modules_read_mfa(const struct otp_modules *ms, uint64_t info, uint64_t *mfa)
{
    if (otp_modules_read(ms, info + ms->layout.info_mfa, mfa, 24))
        return -ESRCH;
    return is_atom(mfa[0]) && is_atom(mfa[1]) && mfa[2] <= MAX_ARITY ? 0 : -ENOENT;
}

static bool is_ascending(const uint64_t *words, size_t n)
{
    for (size_t i = 1; i < n; i++)
        if (words[i] <= words[i - 1])
            return false;
    return true;
}

/* Whether the words at `bytes` can be a header at `start`. */
static bool looks_like_header(const struct otp_code_layout *l, const unsigned char *bytes, uint64_t start)
{
    uint64_t n = word_at(bytes, l->nfunctions), first = word_at(bytes, l->functions), end;

    if (!n || n > MAX_FUNCTIONS)
        return false;
    end = start + l->functions + 8 * (n + 1);
    return first >= end && first - end <= MAX_PROLOGUE && first % 8 == 0;
}

/* The name of the module that the first and the last function's infos tell; 0 when they disagree or are none. */
static uint64_t read_module_name(const struct otp_modules *ms, const struct otp_module *m)
{
    uint64_t infos[2] = {m->functions[0], m->functions[m->n - 1]}, name = 0;

    for (size_t i = 0; i < 2; i++) {
        uint64_t mfa[3];

        if (otp_modules_read_mfa(ms, infos[i], mfa) || (i && mfa[0] != name))
            return 0;
        name = mfa[0];
    }
    return name;
}

/* rex opcode distance, or its like by a word in memory. */
static bool is_by_distance_or_word(const unsigned char *bytes, unsigned char opcode, unsigned char mode)
{
    return (bytes[0] == 0x40 && bytes[1] == opcode) || (bytes[0] == 0xff && bytes[1] == mode);
}

/*
 * They stand behind a call of what ends the VM, where a function without an end would run into. Calls and jumps over
 * more than 2 GiB go by a word behind the code.
 */
static uint64_t find_ways(const struct otp_modules *ms, const struct otp_module *m)
{
    enum { CALL_BYTES = 6 };
    unsigned char bytes[CALL_BYTES + MAX_WAYS * WAY_BYTES];
    uint64_t end = m->functions[m->n], last = end - m->functions[m->n - 1];
    size_t size = last < sizeof bytes ? last : sizeof bytes, at = size;

    if (otp_modules_read(ms, end - size, bytes, size))
        return end;
    while (at >= WAY_BYTES && is_by_distance_or_word(bytes + at - WAY_BYTES, 0xe9, 0x25))
        at -= WAY_BYTES;
    return at >= CALL_BYTES && is_by_distance_or_word(bytes + at - CALL_BYTES, 0xe8, 0x15) ? end - size + at : end;
}

/* The module whose header is at `start`; NULL when it is none. */
static struct otp_module *read_module(const struct otp_modules *ms, uint64_t start, uint64_t limit)
{
    const struct otp_code_layout *l = &ms->layout;
    struct otp_module *m = calloc(1, sizeof *m);
    uint64_t n;

    if (!m || l->functions > sizeof m->header || otp_modules_read(ms, start, m->header, l->functions)) {
        free(m);
        return NULL;
    }
    n = word_at(m->header, l->nfunctions);
    m->start = start;
    m->n = n <= MAX_FUNCTIONS ? n : 0;
    m->functions = m->n ? calloc(m->n + 1, 8) : NULL;
    if (m->functions && !otp_modules_read(ms, start + l->functions, m->functions, 8 * (m->n + 1)) &&
        m->functions[0] > start && is_ascending(m->functions, m->n + 1) && m->functions[m->n] <= limit &&
        (m->name = read_module_name(ms, m))) {
        m->ways = ms->layout.native ? find_ways(ms, m) : m->functions[m->n];
        return m;
    }
    free_module(m);
    return NULL;
}

/* ---- those that are kept */

/* How many modules that are kept begin at or before the address. */
static size_t rank_of(const struct otp_modules *ms, uint64_t address)
{
    size_t low = 0, high = ms->n;

    while (low < high) {
        size_t mid = (low + high) / 2;

        if (ms->kept[mid]->start <= address)
            low = mid + 1;
        else
            high = mid;
    }
    return low;
}

static uint64_t end_of(const struct otp_module *m)
{
    return m->functions[m->n];
}

static void forget_module(struct otp_modules *ms, size_t rank)
{
    free_module(ms->kept[rank]);
    memmove(ms->kept + rank, ms->kept + rank + 1, (--ms->n - rank) * sizeof *ms->kept);
}

/* Modules that it overlaps are gone. */
static void keep_module(struct otp_modules *ms, struct otp_module *m)
{
    struct otp_module **kept = realloc(ms->kept, (ms->n + 1) * sizeof *kept);
    size_t rank;

    if (!kept) {
        free_module(m);
        return;
    }
    ms->kept = kept;
    while ((rank = rank_of(ms, end_of(m) - 1)) && end_of(kept[rank - 1]) > m->start)
        forget_module(ms, rank - 1);
    memmove(kept + rank + 1, kept + rank, (ms->n++ - rank) * sizeof *kept);
    kept[rank] = m;
}

static bool is_empty(const unsigned char *bytes, size_t size)
{
    return !size || (!bytes[0] && !memcmp(bytes, bytes + 1, size - 1));
}

/* Keeps the modules that begin in [from, to) of the region. */
static void scan(struct otp_modules *ms, const struct memory_mapping *region, uint64_t from, uint64_t to)
{
    uint64_t seen = otp_modules_purges(ms), at = (from + 7) & ~7ull, empty = 0;
    size_t need = ms->layout.functions + 8u;

    while (at < to && !(region->shared && empty >= MAX_EMPTY)) {
        uint64_t left = region->end - at < to - at + need ? region->end - at : to - at + need;
        size_t size = left < sizeof ms->chunk ? left : sizeof ms->chunk;
        uint64_t next = at + CHUNK;

        if (otp_modules_read(ms, at, ms->chunk, size))
            return;
        empty = is_empty(ms->chunk, size) ? empty + CHUNK : 0;
        for (size_t i = 0; !empty && i < CHUNK && at + i < to && i + need <= size; i += 8) {
            struct otp_module *m =
                looks_like_header(&ms->layout, ms->chunk + i, at + i) ? read_module(ms, at + i, region->end) : NULL;

            if (!m)
                continue;
            next = (end_of(m) + 7) & ~7ull;
            m->seen = seen;
            if (otp_modules_purged(ms, m->name, seen))
                free_module(m);
            else
                keep_module(ms, m);
            break;
        }
        at = next;
    }
}

static bool is_unchanged(const struct otp_modules *ms, const struct otp_module *m)
{
    unsigned char header[OTP_MODULE_HEADER];

    return !otp_modules_read(ms, m->start, header, ms->layout.functions) &&
           !memcmp(header, m->header, ms->layout.functions) && !otp_modules_purged(ms, m->name, m->seen);
}

/* All of the region, but for kept modules that are still there. */
static void scan_between(struct otp_modules *ms, const struct memory_mapping *region)
{
    for (uint64_t at = region->start, next; at < region->end; at = next) {
        size_t rank = at ? rank_of(ms, at - 1) : 0;
        struct otp_module *m = rank < ms->n && ms->kept[rank]->start < region->end ? ms->kept[rank] : NULL;

        if (m && !is_unchanged(ms, m)) {
            forget_module(ms, rank);
            next = at;
            continue;
        }
        next = m ? end_of(m) : region->end;
        scan(ms, region, at, m ? m->start : region->end);
    }
}

void otp_modules_follow(struct otp_modules *ms, const struct otp_code_purges *purges)
{
    const struct memory_mapping *all;
    size_t n = 0;

    ms->purges = *purges;
    all = ms->layout.native ? memory_mappings(ms->memory, &n) : NULL;
    for (size_t i = 0; i < n; i++)
        if (may_hold_code(ms, &all[i]))
            scan_between(ms, &all[i]);
}

/* The kept module that begins last at or before the address, within the region. */
static struct otp_module *kept_before(const struct otp_modules *ms, const struct memory_mapping *region,
                                      uint64_t address)
{
    size_t rank = rank_of(ms, address);

    return rank && ms->kept[rank - 1]->start >= region->start ? ms->kept[rank - 1] : NULL;
}

/*
 * Whether all functions share the code at the address, which no module holds: it stands before the emulator's own
 * module.
 */
static bool is_shared(const struct otp_modules *ms, const struct memory_mapping *region, uint64_t address)
{
    const struct otp_module *before = kept_before(ms, region, address), *after;
    size_t rank = rank_of(ms, address);

    if (before && address >= before->ways && address < end_of(before))
        return true;
    if (before && address < before->functions[0])
        return address >= before->start + ms->layout.functions + 8 * (before->n + 1); /* a module's own way there */
    after = rank < ms->n ? ms->kept[rank] : NULL;
    return after && after->name == ms->layout.own && after->start < region->end && after->start - address <= MAX_SHARED;
}

/* As otp_modules_find, of what is kept. */
static struct otp_module *find_kept(struct otp_modules *ms, const struct memory_mapping *region, uint64_t address,
                                    enum otp_code_kind *kind)
{
    struct otp_module *m = kept_before(ms, region, address);

    if (m && address < end_of(m) && !is_unchanged(ms, m)) {
        forget_module(ms, rank_of(ms, address) - 1);
        m = NULL;
    }
    *kind = is_shared(ms, region, address) ? OTP_CODE_SHARED : OTP_CODE_UNKNOWN;
    return m && address >= m->functions[0] && address < m->ways ? m : NULL;
}

struct otp_module *otp_modules_find(struct otp_modules *ms, uint64_t address, enum otp_code_kind *kind, int *err)
{
    struct memory_mapping region;
    struct otp_module *m;
    unsigned char byte;
    uint64_t from;

    *err = memory_find_mapping(ms->memory, address, &region);
    if (!*err)
        *err = !may_hold_code(ms, &region) ? -ENOENT : otp_modules_read(ms, address, &byte, 1) ? -ESRCH : 0;
    if (*err)
        return NULL;
    m = find_kept(ms, &region, address, kind);
    if (m || *kind == OTP_CODE_SHARED)
        return m;
    m = kept_before(ms, &region, address);
    from = m ? end_of(m) : region.start;
    scan(ms, &region, address - from > MAX_SEARCH ? address - MAX_SEARCH : from, address);
    m = find_kept(ms, &region, address, kind);
    if (!m && *kind == OTP_CODE_UNKNOWN && !ms->layout.native)
        *err = -ENOENT;
    return m;
}
