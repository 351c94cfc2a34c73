/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Invariant: a text costs a bounded number of reads (MOST_TERMS, MOST_CELLS) whatever the memory says, so that a term
 * that leads back into itself ends; every size is bounded before it is used.
 * Source: term/term.h for an erlvm; erl_term.h, erl_map.h, erl_binary.h and erl_bits.h of OTP.
 */
#include "snapshot_terms.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "common/term_text.h"
#include "names.h"
#include "snapshot_state.h"

enum {
    MOST_TERMS = 400,    /* of one text */
    MOST_CELLS = 10000,  /* of all its lists */
    MOST_DEPTH = 12,
    SHOWN = 8,           /* elements of a tuple, pairs of a map, of a shape */
    SHOWN_CONTENTS = 32, /* and of contents */
    SHORT_LIST = 4,      /* a shape tells each element of it */
    SHOWN_BYTES = 256,   /* of a binary or a string */
    WORDS = 5,           /* that are read of what a pointer leads to */
    MAP_KINDS = 3,       /* the two bits of a map's header that tell how it is kept; 0: flat */
    ATOM_SHIFT = 6,
    SMALL_SHIFT = 4,
    HEADER_SHIFT = 6,
};

static const uint64_t MOST_SIZE = 1ull << 44;

struct reader {
    struct snapshot *s;
    struct term_text *out;
    enum snapshot_form form;
    unsigned terms, cells; /* that may still be read */
};

/* ---- what a header says */

enum kind { OTHER, TUPLE, BIG, REF, FUN, FLOAT, BITS, MAP, PID, PORT, RECORD };

/* By the four bits of a header that tell its kind. */
static const unsigned char kinds_before_27[16] = {TUPLE, OTHER, BIG,  BIG,  REF, FUN,  FLOAT, FUN,
                                                  BITS,  BITS,  BITS, OTHER, PID, PORT, REF,   MAP};
static const unsigned char kinds_from_27[16] = {TUPLE, OTHER, BIG,   BIG, REF, FUN,  FLOAT, OTHER,
                                                BITS,  BITS,  OTHER, MAP, PID, PORT, REF,   OTHER};
static const unsigned char kinds_from_29[16] = {TUPLE, OTHER, BIG,   BIG, REF, FUN,  FLOAT, RECORD,
                                                BITS,  BITS,  OTHER, MAP, PID, PORT, REF,   OTHER};
static const unsigned char own_kinds[16] = {TUPLE, OTHER, BIG,  BIG, REF, FUN,  FLOAT, FUN,
                                            BITS,  BITS,  BITS, MAP, PID, PORT, REF,   RECORD};

static unsigned subtag_of(uint64_t header)
{
    return header >> 2 & 0xf;
}

static bool is_before_27(const struct snapshot *s)
{
    return s->ours || s->layout->release < 27;
}

static enum kind kind_of(const struct snapshot *s, uint64_t header)
{
    const unsigned char *kinds = s->ours                      ? own_kinds
                                 : s->layout->release < 27    ? kinds_before_27
                                 : s->layout->release < 29    ? kinds_from_27
                                                              : kinds_from_29;

    return header & 3 ? OTHER : (enum kind)kinds[subtag_of(header)];
}

static bool read_words(const struct reader *r, uint64_t term, uint64_t *words, size_t n)
{
    return !memory_read(r->s->memory, term & ~7ull, words, n * sizeof *words);
}

/* ---- sizes */

static uint64_t round_up(uint64_t n)
{
    uint64_t up = 1;

    while (up < n && up < MOST_SIZE)
        up *= 2;
    return n ? up : 0;
}

static void put_size(const struct reader *r, const char *what, uint64_t n, const char *unit)
{
    if (r->form == SNAPSHOT_CONTENTS)
        term_text_add(r->out, "%s(%" PRIu64 "%s)", what, n, unit);
    else
        term_text_add(r->out, n ? "%s(<=%" PRIu64 "%s)" : "%s(%" PRIu64 "%s)", what, round_up(n), unit);
}

static unsigned shown(const struct reader *r)
{
    return r->form == SNAPSHOT_CONTENTS ? SHOWN_CONTENTS : SHOWN;
}

static void put_term(struct reader *r, uint64_t term, unsigned depth);

/* ---- immediates */

void snapshot_reference_text(const uint32_t numbers[3], char *buf, size_t size)
{
    snprintf(buf, size, "#Ref<0.%u.%u.%u>", numbers[2], numbers[1], numbers[0]);
}

void snapshot_port_text(const struct snapshot *s, uint64_t term, char *buf, size_t size)
{
    if (s->ours)
        snprintf(buf, size, "#Port<0.%" PRIu64 ">", term >> SMALL_SHIFT);
    else if (s->layout->port_packing.data_mask)
        snprintf(buf, size, "#Port<0.%" PRIu64 ">", snapshot_unpack(&s->layout->port_packing, term));
    else
        snprintf(buf, size, "port");
}

static void put_immediate(const struct reader *r, uint64_t term)
{
    bool shape = r->form == SNAPSHOT_SHAPE;
    char pid[SNAPSHOT_PID_BYTES], port[48];

    if ((term & 0xf) == OTP_TAG_PID) {
        term_text_add(r->out, "%s", shape ? "pid" : snapshot_pid_text(snapshot_pid(r->s, term), pid));
    } else if ((term & 0xf) == OTP_TAG_PORT) {
        snapshot_port_text(r->s, term, port, sizeof port);
        term_text_add(r->out, "%s", shape ? "port" : port);
    } else if ((term & 0xf) == OTP_TAG_SMALL) {
        if (shape)
            term_text_add(r->out, "integer");
        else
            term_text_add(r->out, "%" PRId64, (int64_t)term >> SMALL_SHIFT);
    } else if ((term & 0x3f) == OTP_TAG_ATOM) {
        term_text_atom(r->out, names_atom(r->s->names, r->s->layout->vm, term >> ATOM_SHIFT), term >> ATOM_SHIFT);
    } else {
        term_text_add(r->out, term == OTP_NIL ? "[]" : "?");
    }
}

/* ---- lists */

struct list {
    uint64_t cells, tail; /* tail: nil, or what an improper one ends with */
    bool cut;             /* it has more cells than were looked at */
    bool printable;       /* a string */
};

static bool is_printable(uint64_t term)
{
    int64_t c = (int64_t)term >> SMALL_SHIFT;

    return (term & 0xf) == OTP_TAG_SMALL && ((c >= ' ' && c < 127) || (c >= '\t' && c <= '\r'));
}

/* False: it cannot be read. */
static bool measure_list(struct reader *r, uint64_t term, struct list *out)
{
    uint64_t cell[2];

    *out = (struct list){.printable = true};
    for (; (term & 3) == OTP_TAG_LIST; term = cell[1]) {
        if (!r->cells) {
            out->cut = true;
            return true;
        }
        r->cells--;
        if (!read_words(r, term, cell, 2))
            return false;
        out->printable = out->printable && is_printable(cell[0]);
        out->cells++;
    }
    out->tail = term;
    return true;
}

static void put_char(const struct reader *r, unsigned char c)
{
    if (c == '"' || c == '\\')
        term_text_add(r->out, "\\%c", c);
    else if (c == '\n' || c == '\t' || c == '\r')
        term_text_add(r->out, "\\%c", c == '\n' ? 'n' : c == '\t' ? 't' : 'r');
    else if (c < ' ')
        term_text_add(r->out, "\\x{%x}", c);
    else
        term_text_add(r->out, "%c", c);
}

static void put_string(const struct reader *r, uint64_t term, const struct list *list)
{
    uint64_t cell[2];

    if (r->form == SNAPSHOT_SHAPE) {
        put_size(r, "string", list->cells, "");
        return;
    }
    term_text_add(r->out, "\"");
    for (unsigned i = 0; (term & 3) == OTP_TAG_LIST && i < SHOWN_BYTES && read_words(r, term, cell, 2);
         i++, term = cell[1])
        put_char(r, (unsigned char)((int64_t)cell[0] >> SMALL_SHIFT));
    term_text_add(r->out, list->cells > SHOWN_BYTES ? "\"..." : "\"");
}

/* Of a long one a shape tells the first element, and how many there are. */
static void put_list(struct reader *r, uint64_t term, unsigned depth)
{
    bool contents = r->form == SNAPSHOT_CONTENTS;
    struct list list;
    uint64_t cell[2], most;

    if (!measure_list(r, term, &list)) {
        term_text_add(r->out, "?");
        return;
    }
    if (list.printable && !list.cut && list.tail == OTP_NIL) {
        put_string(r, term, &list);
        return;
    }
    most = contents ? SHOWN_CONTENTS : list.cells <= SHORT_LIST ? SHORT_LIST : 1;
    term_text_add(r->out, "[");
    for (uint64_t i = 0; i < most && (term & 3) == OTP_TAG_LIST && read_words(r, term, cell, 2); i++, term = cell[1]) {
        term_text_add(r->out, i ? ", " : "");
        put_term(r, cell[0], depth);
    }
    if ((term & 3) == OTP_TAG_LIST) {
        term_text_add(r->out, ", ...]");
        if (!contents)
            put_size(r, "", list.cells, list.cut ? " and more" : "");
        return;
    }
    if (term != OTP_NIL) {
        term_text_add(r->out, " | ");
        put_term(r, term, depth);
    }
    term_text_add(r->out, "]");
}

/* ---- tuples and maps */

static void put_tuple(struct reader *r, uint64_t at, uint64_t arity, unsigned depth)
{
    uint64_t element;

    term_text_add(r->out, "{");
    for (uint64_t i = 0; i < arity; i++) {
        term_text_add(r->out, i ? ", " : "");
        if (i == shown(r)) {
            term_text_add(r->out, "...}");
            if (r->form == SNAPSHOT_SHAPE)
                put_size(r, "", arity, "");
            return;
        }
        if (!read_words(r, at + (1 + i) * sizeof element, &element, 1)) {
            term_text_add(r->out, "?");
            break;
        }
        put_term(r, element, depth);
    }
    term_text_add(r->out, "}");
}

/* A flat one: its keys, a tuple, and where its values begin. */
static void put_pairs(struct reader *r, uint64_t keys, uint64_t values, uint64_t n, unsigned depth)
{
    uint64_t key, value;

    term_text_add(r->out, "#{");
    for (uint64_t i = 0; i < n; i++) {
        term_text_add(r->out, i ? ", " : "");
        if (i == shown(r)) {
            term_text_add(r->out, "...");
            break;
        }
        if (!read_words(r, (keys & ~7ull) + (1 + i) * sizeof key, &key, 1) ||
            !read_words(r, values + i * sizeof value, &value, 1)) {
            term_text_add(r->out, "?");
            break;
        }
        put_term(r, key, depth);
        term_text_add(r->out, " => ");
        put_term(r, value, depth);
    }
    term_text_add(r->out, "}");
}

static void put_map(struct reader *r, uint64_t at, const uint64_t words[WORDS], unsigned depth)
{
    bool flat = !(words[0] >> HEADER_SHIFT & MAP_KINDS);

    if (!flat) {
        term_text_add(r->out, "#{...}");
        if (words[1] < MOST_SIZE)
            put_size(r, "", words[1], "");
    } else if (r->s->ours) {
        put_pairs(r, words[1], at + 2 * sizeof *words, words[0] >> (HEADER_SHIFT + 2), depth);
    } else {
        put_pairs(r, words[2], at + 3 * sizeof *words, words[1], depth);
    }
}

/* ---- binaries */

struct bits {
    uint64_t size_bits, at; /* at: the byte that holds the first bit */
    unsigned skip;          /* bits of that byte before it */
};

enum { COUNTED = 8, ON_HEAP = 9, PART = 10, ON_HEAP_FROM_27 = 8, PART_FROM_27 = 9 }; /* the four bits of a header */

static bool find_whole(uint64_t term, const uint64_t words[WORDS], struct bits *out)
{
    *out = (struct bits){.size_bits = words[1] * 8, .at = (term & ~7ull) + 2 * sizeof *words};
    if (subtag_of(words[0]) == COUNTED)
        out->at = words[4];
    return words[1] < MOST_SIZE && subtag_of(words[0]) != PART;
}

static bool find_bits_before_27(const struct reader *r, uint64_t term, const uint64_t words[WORDS], struct bits *out)
{
    uint64_t original[WORDS];
    unsigned bits = words[3] & 0xff, skip = words[3] >> 8 & 0xff;

    if (subtag_of(words[0]) != PART)
        return find_whole(term, words, out);
    if (words[1] > MOST_SIZE || words[2] > MOST_SIZE || bits > 7 || skip > 7 ||
        !read_words(r, words[4], original, WORDS) || kind_of(r->s, original[0]) != BITS ||
        !find_whole(words[4], original, out))
        return false;
    *out = (struct bits){.size_bits = words[1] * 8 + bits, .at = out->at + words[2], .skip = skip};
    return true;
}

static bool find_bits_from_27(uint64_t term, const uint64_t words[WORDS], struct bits *out)
{
    if (subtag_of(words[0]) == ON_HEAP_FROM_27) {
        *out = (struct bits){.size_bits = words[1], .at = (term & ~7ull) + 2 * sizeof *words};
        return words[1] < MOST_SIZE * 8;
    }
    *out = (struct bits){
        .size_bits = words[3] - words[2], .at = (words[1] & ~3ull) + words[2] / 8, .skip = words[2] % 8};
    return words[3] >= words[2] && words[3] - words[2] < MOST_SIZE * 8;
}

static bool is_text(const unsigned char *bytes, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if ((bytes[i] < ' ' && (bytes[i] < '\t' || bytes[i] > '\r')) || bytes[i] == 127)
            return false;
    return n > 0;
}

static void put_bytes(const struct reader *r, const struct bits *bits)
{
    unsigned char bytes[SHOWN_BYTES];
    uint64_t whole = bits->size_bits / 8;
    size_t n = whole < SHOWN_BYTES ? whole : SHOWN_BYTES;
    bool text;

    if (memory_read(r->s->memory, bits->at, bytes, n)) {
        put_size(r, "binary", whole, "");
        return;
    }
    text = is_text(bytes, n);
    term_text_add(r->out, text ? "<<\"" : "<<");
    for (size_t i = 0; i < n; i++) {
        if (text)
            put_char(r, bytes[i]);
        else
            term_text_add(r->out, "%s%u", i ? "," : "", bytes[i]);
    }
    term_text_add(r->out, text ? "\"%s>>" : "%s>>", n < whole ? "..." : "");
}

static void put_bits(const struct reader *r, uint64_t term, const uint64_t words[WORDS])
{
    struct bits bits;

    if (!(is_before_27(r->s) ? find_bits_before_27(r, term, words, &bits) : find_bits_from_27(term, words, &bits)))
        term_text_add(r->out, "?");
    else if (bits.size_bits % 8)
        put_size(r, "bitstring", bits.size_bits, " bits");
    else if (r->form == SNAPSHOT_SHAPE || bits.skip)
        put_size(r, "binary", bits.size_bits / 8, "");
    else
        put_bytes(r, &bits);
}

/* ---- what a pointer leads to */

/* A reference of this node that is no magic one and names no process: three numbers. */
static void put_reference(const struct reader *r, const uint64_t words[WORDS])
{
    enum { LOW_BITS = 18, HIGH_SHIFT = 50, NUMBERS_WORDS = 2 };
    uint32_t numbers[] = {(uint32_t)words[1], (uint32_t)(words[1] >> 32), (uint32_t)words[2]};
    bool plain = subtag_of(words[0]) == OTP_HEADER_REF >> 2 && words[0] >> HEADER_SHIFT == NUMBERS_WORDS;
    char text[64];

    if (r->s->ours && subtag_of(words[0]) == OTP_HEADER_REF >> 2) {
        numbers[0] = (uint32_t)(words[1] & ((1u << LOW_BITS) - 1));
        numbers[1] = (uint32_t)(words[1] >> LOW_BITS);
        numbers[2] = (uint32_t)(words[1] >> HIGH_SHIFT);
        plain = true;
    }
    snapshot_reference_text(numbers, text, sizeof text);
    term_text_add(r->out, "%s", r->form == SNAPSHOT_CONTENTS && plain ? text : "ref");
}

/* The first word behind its header: of a stock emulator two of its numbers, with the thread that made it. */
bool snapshot_reference(struct snapshot *s, uint64_t term, uint64_t *out)
{
    uint64_t words[2];

    if ((term & 3) != OTP_TAG_BOXED || !snapshot_read(s, term & ~7ull, words, sizeof words) ||
        kind_of(s, words[0]) != REF)
        return false;
    *out = words[1];
    return true;
}

static void put_float(const struct reader *r, uint64_t word)
{
    double value;

    memcpy(&value, &word, sizeof value);
    if (r->form == SNAPSHOT_SHAPE)
        term_text_add(r->out, "float");
    else
        term_text_add(r->out, "%.17g", value);
}

static void put_boxed(struct reader *r, uint64_t term, unsigned depth)
{
    uint64_t words[WORDS] = {0}, at = term & ~7ull;

    /* Nothing says that so many words are there: at the end of a page fewer may be. */
    for (size_t n = WORDS; !read_words(r, term, words, n); n--) {
        words[n - 1] = 0;
        if (n == 1) {
            term_text_add(r->out, "?");
            return;
        }
    }
    switch (kind_of(r->s, words[0])) {
    case TUPLE: put_tuple(r, at, words[0] >> HEADER_SHIFT, depth); return;
    case MAP: put_map(r, at, words, depth); return;
    case BITS: put_bits(r, term, words); return;
    case REF: put_reference(r, words); return;
    case FLOAT: put_float(r, words[1]); return;
    case BIG: put_size(r, "integer", (words[0] >> HEADER_SHIFT) * 64, " bits"); return;
    case FUN: term_text_add(r->out, "fun"); return;
    case PID: term_text_add(r->out, "pid"); return;
    case PORT: term_text_add(r->out, "port"); return;
    case RECORD: term_text_add(r->out, "record"); return;
    default: term_text_add(r->out, "?"); return;
    }
}

static void put_term(struct reader *r, uint64_t term, unsigned depth)
{
    if (!r->terms || depth == MOST_DEPTH) {
        term_text_add(r->out, "...");
        return;
    }
    r->terms--;
    switch (term & 3) {
    case OTP_TAG_IMMEDIATE: put_immediate(r, term); return;
    case OTP_TAG_LIST: put_list(r, term, depth + 1); return;
    case OTP_TAG_BOXED: put_boxed(r, term, depth + 1); return;
    default: term_text_add(r->out, "?"); return;
    }
}

const char *snapshot_term_text(struct snapshot *s, uint64_t term, enum snapshot_form form, char *buf, size_t size)
{
    struct term_text text = {buf, size, 0};
    struct reader r = {.s = s, .out = &text, .form = form, .terms = MOST_TERMS, .cells = MOST_CELLS};

    buf[0] = '\0';
    put_term(&r, term, 0);
    return buf;
}
