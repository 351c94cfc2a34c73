/* SPDX-License-Identifier: Apache-2.0 */
/* Invariant: what is read is checked against the bounds of what holds it before it is used as a count, an index or an
 * order. */
#include "erlvm_code.h"

#include <errno.h>
#include <string.h>

enum { MAX_ARITY = 255, ATOM_SHIFT = 6, MAX_EXPORTS = 1 << 24 };

/* One version of a module's code. */
struct instance {
    uint64_t module, taken, words, word_count, functions, lines, files;
    uint32_t function_count, line_count, file_count;
};

static bool read_field(struct memory *memory, const struct erlvm_layout *l, uint64_t base, enum erlvm_field field,
                       void *out, size_t size)
{
    return !memory_read(memory, base + l->numbers[field], out, size);
}

static bool is_atom(uint64_t term)
{
    return (term & 0x3f) == OTP_TAG_ATOM && term >> ATOM_SHIFT < 1 << 25;
}

int erlvm_code_given(struct memory *memory, const struct erlvm_layout *l, uint64_t *given)
{
    return read_field(memory, l, l->roots[LAYOUT_ROOM_CODE], ERLVM_CODE_GIVEN, given, sizeof *given) ? 0 : -ESRCH;
}

/* The number of the last one of `n` elements, `step` bytes apart, whose key (of `width` bytes) is at most `key`; n:
 * none, or unreadable. */
static uint32_t search(struct memory *memory, uint64_t at, uint32_t n, size_t step, size_t width, uint64_t key)
{
    uint32_t low = 0, high = n;

    while (low < high) {
        uint32_t mid = low + (high - low) / 2;
        uint64_t found = 0;

        if (memory_read(memory, at + (uint64_t)mid * step, &found, width))
            return n;
        if (found <= key)
            low = mid + 1;
        else
            high = mid;
    }
    return low ? low - 1 : n;
}

/* ---- modules */

static int read_instance(struct memory *memory, const struct erlvm_layout *l, uint64_t at, struct instance *out)
{
    if (!read_field(memory, l, at, ERLVM_INSTANCE_MODULE, &out->module, 8) ||
        !read_field(memory, l, at, ERLVM_INSTANCE_TAKEN, &out->taken, 8) ||
        !read_field(memory, l, at, ERLVM_INSTANCE_WORDS, &out->words, 8) ||
        !read_field(memory, l, at, ERLVM_INSTANCE_WORD_COUNT, &out->word_count, 8) ||
        !read_field(memory, l, at, ERLVM_INSTANCE_FUNCTIONS, &out->functions, 8) ||
        !read_field(memory, l, at, ERLVM_INSTANCE_LINES, &out->lines, 8) ||
        !read_field(memory, l, at, ERLVM_INSTANCE_FILES, &out->files, 8) ||
        !read_field(memory, l, at, ERLVM_INSTANCE_FUNCTION_COUNT, &out->function_count, 4) ||
        !read_field(memory, l, at, ERLVM_INSTANCE_LINE_COUNT, &out->line_count, 4) ||
        !read_field(memory, l, at, ERLVM_INSTANCE_FILE_COUNT, &out->file_count, 4))
        return -ESRCH;
    return 0;
}

/* The code that holds the address. Fails: -ENOENT there is none, -ESRCH; -ESTALE what the memory says of it makes no
 * sense: it is being loaded. */
static int find_instance(struct memory *memory, const struct erlvm_layout *l, uint64_t address, struct instance *out)
{
    uint64_t root = l->roots[LAYOUT_ROOM_CODE], base = l->code, range = l->numbers[ERLVM_CODE_RANGE], at;
    int err;

    if (address - base >= range)
        return -ENOENT;
    if (memory_read(memory,
                    root + l->numbers[ERLVM_CODE_OWNERS] + (address - base) / l->numbers[ERLVM_CODE_PAGE] * sizeof at,
                    &at, sizeof at))
        return -ESRCH;
    if (!at)
        return -ENOENT;
    err = read_instance(memory, l, at, out);
    if (err)
        return err;
    if (out->words - base >= range || out->word_count > range / 8 || !is_atom(out->module) || address < out->words)
        return -ESTALE;
    return (address - out->words) / 8 < out->word_count ? 0 : -ENOENT; /* the rest of its last page */
}

static void read_file(struct memory *memory, const struct erlvm_layout *l, const struct instance *c, uint32_t number,
                      char *out, size_t size)
{
    uint64_t term, segment, atom, text, segments = l->roots[LAYOUT_ROOM_ATOMS] + l->numbers[ERLVM_ATOMS_SEGMENTS];
    uint32_t bits = l->numbers[ERLVM_ATOMS_SEGMENT_BITS];
    uint16_t bytes;

    out[0] = '\0';
    if (number >= c->file_count || memory_read(memory, c->files + number * sizeof term, &term, sizeof term) ||
        !is_atom(term))
        return;
    term >>= ATOM_SHIFT;
    if (memory_read(memory, segments + (term >> bits) * sizeof segment, &segment, sizeof segment))
        return;
    atom = segment + (term & ((1ull << bits) - 1)) * l->numbers[ERLVM_ATOM_SIZE];
    if (!read_field(memory, l, atom, ERLVM_ATOM_BYTES, &bytes, sizeof bytes) ||
        !read_field(memory, l, atom, ERLVM_ATOM_TEXT, &text, sizeof text))
        return;
    bytes = bytes < size ? bytes : (uint16_t)(size - 1);
    out[memory_read(memory, text, out, bytes) ? 0 : bytes] = '\0';
}

/* The last place in the source at or before the address, of those of its function, which begins at `info`. */
static void find_line(struct memory *memory, const struct erlvm_layout *l, const struct instance *c, uint64_t info,
                      uint64_t address, struct otp_code_place *out)
{
    uint32_t step = l->numbers[ERLVM_LINE_SIZE], at, line, file,
             i = search(memory, c->lines + l->numbers[ERLVM_LINE_AT], c->line_count, step, sizeof at,
                        (address - c->words) / 8);
    uint64_t place = c->lines + (uint64_t)i * step;

    if (i == c->line_count || !read_field(memory, l, place, ERLVM_LINE_AT, &at, sizeof at) ||
        at < (info - c->words) / 8 || !read_field(memory, l, place, ERLVM_LINE_LINE, &line, sizeof line) || !line ||
        line >= 1 << 24 || !read_field(memory, l, place, ERLVM_LINE_FILE, &file, sizeof file))
        return;
    out->line = line;
    read_file(memory, l, c, file, out->file, sizeof out->file);
}

static int find_function(struct memory *memory, const struct erlvm_layout *l, const struct instance *c,
                         uint64_t address, struct otp_code_place *out)
{
    uint32_t i = search(memory, c->functions, c->function_count, 8, 8, address);
    uint64_t info, mfa[3];

    *out = (struct otp_code_place){.kind = OTP_CODE_UNKNOWN};
    if (c->function_count > c->word_count || i == c->function_count)
        return 0;
    if (memory_read(memory, c->functions + i * sizeof info, &info, sizeof info))
        return -ESRCH;
    if (info < c->words || info > address)
        return -ESTALE;
    if (memory_read(memory, info + l->numbers[ERLVM_INFO_MFA], mfa, sizeof mfa))
        return -ESRCH;
    if (mfa[0] != c->module || !is_atom(mfa[1]) || (uint32_t)mfa[2] > MAX_ARITY)
        return -ESTALE;
    *out = (struct otp_code_place){.kind = OTP_CODE_FUNCTION,
                                   .module = mfa[0],
                                   .function = mfa[1],
                                   .arity = (uint32_t)mfa[2],
                                   .start = info + l->numbers[ERLVM_INFO_SIZE]};
    find_line(memory, l, c, info, address, out);
    return 0;
}

/* ---- machine code */

/* The word of code whose operation the address of machine code is of, whether it returns, and CODE_GIVEN when it got
 * there. Fails: as find_instance. */
static int find_native(struct memory *memory, const struct erlvm_layout *l, uint64_t address, uint64_t *word,
                       uint64_t *taken, uint32_t *returns)
{
    uint64_t root = l->roots[LAYOUT_ROOM_NATIVE], page = address - l->native, code, at, words, pieces;
    uint32_t step = l->numbers[ERLVM_PIECE_SIZE], count, i, n = 0;

    if (!l->native || page / l->numbers[ERLVM_NATIVE_PAGE] >= l->numbers[ERLVM_NATIVE_PAGES])
        return -ENOENT;
    page /= l->numbers[ERLVM_NATIVE_PAGE];
    if (memory_read(memory, root + l->numbers[ERLVM_NATIVE_OWNERS] + page * sizeof code, &code, sizeof code))
        return -ESRCH;
    if (!code)
        return -ENOENT;
    if (!read_field(memory, l, code, ERLVM_NATIVE_AT, &at, sizeof at) ||
        !read_field(memory, l, code, ERLVM_NATIVE_WORDS, &words, sizeof words) ||
        !read_field(memory, l, code, ERLVM_NATIVE_TAKEN, taken, sizeof *taken) ||
        !read_field(memory, l, code, ERLVM_NATIVE_PIECES, &pieces, sizeof pieces) ||
        !read_field(memory, l, code, ERLVM_NATIVE_PIECE_COUNT, &count, sizeof count))
        return -ESRCH;
    if (address < at)
        return -ESTALE;
    i = search(memory, pieces + l->numbers[ERLVM_PIECE_AT], count, step, sizeof n, address - at);
    pieces += (uint64_t)i * step;
    if (i == count || !read_field(memory, l, pieces, ERLVM_PIECE_WORD, &n, sizeof n) ||
        !read_field(memory, l, pieces, ERLVM_PIECE_RETURNS, returns, sizeof *returns))
        return -ESTALE;
    *word = words + (uint64_t)n * 8;
    return 0;
}

/* ---- natives, and functions that are not there */

static int find_export(struct memory *memory, const struct erlvm_layout *l, uint64_t address,
                       struct otp_code_place *out)
{
    uint64_t entries = l->exports, count, mf[2], at;
    uint32_t arity, step = l->numbers[ERLVM_EXPORT_SIZE];

    if (address < entries || (address - entries) / step >= MAX_EXPORTS)
        return -ENOENT;
    if (!read_field(memory, l, l->roots[LAYOUT_ROOM_EXPORTS], ERLVM_EXPORTS_COUNT, &count, sizeof count))
        return -ESRCH;
    if ((address - entries) / step >= count)
        return -ENOENT;
    at = address - (address - entries) % step;
    if (!read_field(memory, l, at, ERLVM_EXPORT_MODULE, mf, sizeof mf) ||
        !read_field(memory, l, at, ERLVM_EXPORT_ARITY, &arity, sizeof arity))
        return -ESRCH;
    if (!is_atom(mf[0]) || !is_atom(mf[1]) || arity > MAX_ARITY)
        return -ESTALE;
    *out = (struct otp_code_place){.kind = OTP_CODE_FUNCTION,
                                   .module = mf[0],
                                   .function = mf[1],
                                   .arity = arity,
                                   .start = at + l->numbers[ERLVM_EXPORT_STUB]};
    return 0;
}

bool erlvm_code_returns(struct memory *memory, const struct erlvm_layout *l, uint64_t address)
{
    uint64_t word, taken;
    uint32_t returns = 0;

    return !find_native(memory, l, address, &word, &taken, &returns) && returns == 1;
}

int erlvm_code_find(struct memory *memory, const struct erlvm_layout *l, uint64_t address, struct otp_code_place *out,
                    uint64_t *seen)
{
    uint64_t taken = 0;
    struct instance c;
    uint32_t returns;
    int err = find_native(memory, l, address, &address, &taken, &returns);

    *seen = 0;
    if (err && err != -ENOENT)
        return err;
    err = find_instance(memory, l, address, &c);
    if (err == -ENOENT)
        return find_export(memory, l, address, out);
    if (err)
        return err;
    *seen = taken > c.taken ? taken : c.taken;
    return find_function(memory, l, &c, address, out);
}
