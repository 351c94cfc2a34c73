/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Invariant: a table that is told says of itself what can be: a stock one stands where the number that names it leads,
 * and has one type and one protection. Lists are followed for as many tables as the VM says that there are, and a few.
 * Source: erl_db.c, erl_db_util.h and erl_flxctr.h of OTP; ets/table.h.
 */
#include "snapshot_tables.h"

#include <errno.h>

#include "snapshot_state.h"

enum {
    MOST_TABLES = 1 << 20,
    FEW = 64,           /* tables that came while they were read */
    TABLE_BYTES = 1024, /* that are read of one */
    MOST_GROUPS = 256,  /* counters of a table are spread over as many lines, and one, at most */
    LINE = 64,          /* bytes of a line of a processor's cache */
    BLOCK_HEAD = 8,     /* bytes before a block of memory, which tell its size */
    SPARE = 128,        /* bytes that a block may be larger than what was asked for */
    ATOM_SHIFT = 6,
};

static const uint64_t MOST_COUNT = 1ull << 44;

struct walk {
    struct snapshot *s;
    int (*take)(void *ctx, const struct snapshot_table_info *table);
    void *ctx;
    struct snapshot_count count;
    uint64_t left; /* tables that may still be looked at */
};

static bool is_atom(uint64_t term)
{
    return (term & 0x3f) == OTP_TAG_ATOM;
}

static uint64_t part(const unsigned char *bytes, uint64_t offset, size_t size)
{
    return snapshot_part(bytes, TABLE_BYTES, offset, size);
}

static int visit(struct walk *w, const struct snapshot_table_info *table)
{
    w->count.read++;
    return w->take(w->ctx, table);
}

/* ---- a stock emulator */

static uint64_t member(const struct walk *w, const unsigned char *bytes, enum otp_field field, size_t size)
{
    return part(bytes, w->s->layout->off[field], size);
}

/* Which of the bits is set, alone; -1: none, or several. */
static int choose(const struct walk *w, uint64_t status, const enum otp_field *bits, size_t n)
{
    int chosen = -1;

    for (size_t i = 0; i < n; i++)
        if (snapshot_bit(w->s, status, bits[i])) {
            if (chosen >= 0)
                return -1;
            chosen = (int)i;
        }
    return chosen;
}

static bool fill_kind(const struct walk *w, uint64_t status, struct snapshot_table_info *out)
{
    static const enum otp_field types[] = {OTP_TABLE_IS_SET, OTP_TABLE_IS_TREE, OTP_TABLE_IS_BAG,
                                           OTP_TABLE_IS_DUPLICATE_BAG, OTP_TABLE_IS_CATREE};
    static const enum otp_field protections[] = {OTP_TABLE_IS_PUBLIC, OTP_TABLE_IS_PROTECTED, OTP_TABLE_IS_PRIVATE};
    static const enum snapshot_table_type told[] = {SNAPSHOT_SET, SNAPSHOT_ORDERED_SET, SNAPSHOT_BAG,
                                                    SNAPSHOT_DUPLICATE_BAG, SNAPSHOT_ORDERED_SET};
    int type = choose(w, status, types, sizeof types / sizeof *types);
    int protection = choose(w, status, protections, sizeof protections / sizeof *protections);

    if (type < 0 || protection < 0)
        return false;
    out->type = told[type];
    out->protection = (enum snapshot_protection)protection;
    out->named = snapshot_bit(w->s, status, OTP_TABLE_IS_NAMED);
    out->read_concurrency = snapshot_bit(w->s, status, OTP_TABLE_IS_READ);
    out->auto_concurrency = snapshot_bit(w->s, status, OTP_TABLE_IS_AUTO);
    out->write_concurrency = snapshot_bit(w->s, status, OTP_TABLE_IS_FINE) || types[type] == OTP_TABLE_IS_CATREE ||
                             out->auto_concurrency;
    return true;
}

/*
 * Counters that are spread over a line of memory for each group of schedulers, and one. How many groups there are is
 * nowhere to be read: it is believed to be as many as schedulers, as it is by default, where the block of memory that
 * holds the lines is as large as that needs.
 */
static bool add_up(const struct walk *w, uint64_t array, uint64_t *rows, uint64_t *bytes)
{
    const uint16_t *off = w->s->layout->off;
    uint64_t groups = 0, block, head, size, counters[2];

    for (size_t i = 0; i < w->s->nschedulers; i++)
        groups += w->s->schedulers[i].registers != 0; /* a normal one */
    groups = (groups < MOST_GROUPS ? groups : MOST_GROUPS) + 1;
    if (array & 7 || !snapshot_read(w->s, array + off[OTP_SPREAD_BLOCK], &block, sizeof block) || block > array ||
        array - block > LINE || !snapshot_read(w->s, block - BLOCK_HEAD, &head, sizeof head))
        return false;
    size = (head & ((1ull << 40) - 1) & ~7ull) - BLOCK_HEAD;
    if (size < off[OTP_SPREAD_ARRAY] + groups * LINE || size > off[OTP_SPREAD_ARRAY] + (groups + 1) * LINE + SPARE)
        return false;
    *rows = *bytes = 0;
    for (uint64_t i = 0; i < groups; i++) {
        if (!snapshot_read(w->s, array + off[OTP_SPREAD_ARRAY] + i * LINE, counters, sizeof counters))
            return false;
        *rows += counters[0];
        *bytes += counters[1];
    }
    return true;
}

static void fill_size(const struct walk *w, const unsigned char *bytes, struct snapshot_table_info *out)
{
    uint64_t at = member(w, bytes, OTP_TABLE_COUNTERS, 8);
    uint64_t size = part(bytes, w->s->layout->off[OTP_TABLE_COUNTERS] + 8, 8);

    out->rows = at;
    out->counted = true;
    if (member(w, bytes, OTP_TABLE_SPREAD, 1)) /* a bool of OTP 29, whose other bytes are anything; an int before */
        out->counted = add_up(w, at, &out->rows, &size);
    out->counted = out->counted && out->rows < MOST_COUNT && size < MOST_COUNT;
    out->words = out->counted ? (size + 7) / 8 : 0;
    out->rows = out->counted ? out->rows : 0;
}

/* One of those who hold it fixed: the root of the tree of them. */
static ev_id read_fixer(const struct walk *w, const unsigned char *bytes)
{
    const uint16_t *off = w->s->layout->off;
    uint64_t fixer = member(w, bytes, OTP_TABLE_FIXERS, 8), process, id;

    if (!fixer || !snapshot_read(w->s, fixer + off[OTP_FIXER_PROCESS], &process, sizeof process) ||
        !snapshot_read(w->s, process + off[OTP_PROC_ID], &id, sizeof id))
        return 0;
    return snapshot_pid(w->s, id);
}

/* Whether the number that names it leads to it. */
static bool is_named_by_its_number(const struct walk *w, uint64_t at, const unsigned char *bytes, uint32_t numbers[3])
{
    const uint16_t *off = w->s->layout->off;
    uint64_t id = member(w, bytes, OTP_TABLE_ID, 8), back;

    return id && snapshot_read(w->s, id + off[OTP_MAGIC_DATA], &back, sizeof back) && back == at &&
           snapshot_read(w->s, id + off[OTP_MAGIC_NUMBERS], numbers, 3 * sizeof *numbers);
}

static int visit_stock(struct walk *w, uint64_t at, const unsigned char *bytes)
{
    uint64_t status = member(w, bytes, OTP_TABLE_STATUS, 4), name = member(w, bytes, OTP_TABLE_NAME, 8);
    uint64_t heir = member(w, bytes, OTP_TABLE_HEIR, 8);
    struct snapshot_table_info table = {
        .address = at,
        .name = name >> ATOM_SHIFT,
        .key = (uint32_t)member(w, bytes, OTP_TABLE_KEY, 4),
        .owner = snapshot_pid(w->s, member(w, bytes, OTP_TABLE_OWNER, 8)),
        .heir = snapshot_pid(w->s, heir),
        .compressed = member(w, bytes, OTP_TABLE_COMPRESSED, 1),
        .fixed = member(w, bytes, OTP_TABLE_FIXED, 8),
    };

    if (snapshot_bit(w->s, status, OTP_TABLE_ENDS) || !is_named_by_its_number(w, at, bytes, table.numbers)) {
        w->count.gone++;
        return 0;
    }
    if (!is_atom(name) || !fill_kind(w, status, &table) || !table.key || table.fixed > MOST_COUNT) {
        w->count.unclear++;
        return 0;
    }
    fill_size(w, bytes, &table);
    table.fixer = table.fixed ? read_fixer(w, bytes) : 0;
    return visit(w, &table);
}

/* The ring of the tables that one scheduler made. */
static int walk_ring(struct walk *w, uint64_t first)
{
    size_t size = w->s->layout->off[OTP_TABLE_SIZE];
    unsigned char bytes[TABLE_BYTES] = {0};
    uint64_t at = first;
    int err = 0;

    if (size > sizeof bytes)
        return -ENOTSUP;
    while (at && !err && w->left) {
        w->left--;
        if (at & 7 || !snapshot_read(w->s, at, bytes, size)) {
            w->count.gone++;
            return 0;
        }
        err = visit_stock(w, at, bytes);
        at = member(w, bytes, OTP_TABLE_NEXT, 8);
        if (at == first)
            break;
    }
    return err;
}

static int walk_stock(struct walk *w)
{
    const uint16_t *off = w->s->layout->off;
    uint64_t first, n;
    uint32_t type;
    int err = snapshot_find_schedulers(w->s);

    if (off[OTP_SCHED_TABLES] == OTP_NOWHERE)
        return -ENOTSUP;
    for (size_t i = 0; !err && i < w->s->nschedulers; i++) {
        uint64_t data = w->s->schedulers[i].data;

        if (!snapshot_read(w->s, data + off[OTP_SCHED_TYPE], &type, sizeof type))
            return -ESRCH;
        if (type != SNAPSHOT_NORMAL)
            continue;
        if (!snapshot_read(w->s, data + off[OTP_SCHED_TABLES], &first, sizeof first) ||
            !snapshot_read(w->s, data + off[OTP_SCHED_TABLE_COUNT], &n, sizeof n))
            return -ESRCH;
        w->left = (n < MOST_TABLES ? n : MOST_TABLES) + FEW;
        w->count.listed += n < MOST_TABLES ? n : MOST_TABLES;
        err = walk_ring(w, first);
    }
    return err == -ENOENT ? -ESRCH : err;
}

/* ---- an erlvm */

static uint64_t own(const struct walk *w, const unsigned char *bytes, enum erlvm_field field, size_t size)
{
    return part(bytes, w->s->ours->numbers[field], size);
}

/* Which of them the number is; -1: none. */
static int own_choice(const struct walk *w, uint64_t number, const enum erlvm_field *values, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (w->s->ours->numbers[values[i]] == number)
            return (int)i;
    return -1;
}

static bool fill_own_kind(const struct walk *w, const unsigned char *bytes, struct snapshot_table_info *out)
{
    static const enum erlvm_field types[] = {ERLVM_TABLE_IS_SET, ERLVM_TABLE_IS_ORDERED, ERLVM_TABLE_IS_BAG,
                                             ERLVM_TABLE_IS_DUPLICATE_BAG};
    static const enum erlvm_field protections[] = {ERLVM_TABLE_IS_PUBLIC, ERLVM_TABLE_IS_PROTECTED,
                                                   ERLVM_TABLE_IS_PRIVATE};
    int type = own_choice(w, own(w, bytes, ERLVM_TABLE_TYPE, 4), types, sizeof types / sizeof *types);
    int protection = own_choice(w, own(w, bytes, ERLVM_TABLE_PROTECTION, 4), protections,
                                sizeof protections / sizeof *protections);

    out->type = (enum snapshot_table_type)type;
    out->protection = (enum snapshot_protection)protection;
    return type >= 0 && protection >= 0;
}

/* Rows, words and locks, as ets:info/2 adds them up. */
static void fill_own_size(const struct walk *w, const unsigned char *bytes, struct snapshot_table_info *out)
{
    const uint32_t *numbers = w->s->ours->numbers;
    uint64_t rows = own(w, bytes, ERLVM_TABLE_ROWS, 8), words = own(w, bytes, ERLVM_TABLE_WORDS, 8);
    uint64_t locks = own(w, bytes, ERLVM_TABLE_STRIPES, 8) ? numbers[ERLVM_STRIPES_BYTES] : 0;

    out->rows = (int64_t)rows > 0 ? rows : 0;
    out->words = (numbers[ERLVM_TABLE_BYTES] + locks) / 8 + ((int64_t)words > 0 ? words : 0);
    out->counted = out->rows < MOST_COUNT && out->words < MOST_COUNT;
}

static ev_id read_own_fixer(const struct walk *w, const unsigned char *bytes)
{
    uint64_t fixer = own(w, bytes, ERLVM_TABLE_FIXERS, 8), pid;

    return fixer && snapshot_read(w->s, fixer + w->s->ours->numbers[ERLVM_FIXER_PID], &pid, sizeof pid)
               ? snapshot_pid(w->s, pid)
               : 0;
}

static int visit_own(struct walk *w, uint64_t at, const unsigned char *bytes)
{
    enum { LOW_BITS = 18, HIGH_SHIFT = 50 }; /* how a reference's number is printed: data/extern_id.c */
    uint64_t number = own(w, bytes, ERLVM_TABLE_NUMBER, 8), name = own(w, bytes, ERLVM_TABLE_NAME, 8);
    struct snapshot_table_info table = {
        .address = at,
        .name = name >> ATOM_SHIFT,
        .numbers = {(uint32_t)number & ((1u << LOW_BITS) - 1), (uint32_t)(number >> LOW_BITS),
                    (uint32_t)(number >> HIGH_SHIFT)},
        .named = own(w, bytes, ERLVM_TABLE_NAMED, 1),
        .key = (uint32_t)own(w, bytes, ERLVM_TABLE_KEY, 4),
        .owner = snapshot_pid(w->s, own(w, bytes, ERLVM_TABLE_OWNER, 8)),
        .heir = snapshot_pid(w->s, own(w, bytes, ERLVM_TABLE_HEIR, 8)),
        .compressed = own(w, bytes, ERLVM_TABLE_COMPRESSED, 1),
        .read_concurrency = own(w, bytes, ERLVM_TABLE_READ, 1),
        .write_concurrency = own(w, bytes, ERLVM_TABLE_WRITE, 1),
        .auto_concurrency = own(w, bytes, ERLVM_TABLE_AUTO, 1),
        .fixed = own(w, bytes, ERLVM_TABLE_FIXED, 8),
    };

    if (own(w, bytes, ERLVM_TABLE_DEAD, 1)) {
        w->count.gone++;
        return 0;
    }
    if (!is_atom(name) || !table.key || !fill_own_kind(w, bytes, &table) || table.fixed > MOST_COUNT) {
        w->count.unclear++;
        return 0;
    }
    fill_own_size(w, bytes, &table);
    table.write_concurrency |= table.auto_concurrency;
    table.fixer = table.fixed ? read_own_fixer(w, bytes) : 0;
    return visit(w, &table);
}

static int walk_ours(struct walk *w)
{
    const uint32_t *numbers = w->s->ours->numbers;
    uint64_t root = w->s->ours->roots[LAYOUT_ROOM_TABLES], at, n;
    size_t size = numbers[ERLVM_TABLE_BYTES];
    unsigned char bytes[TABLE_BYTES] = {0};
    int err = 0;

    if (!root || size > sizeof bytes)
        return -ENOTSUP;
    if (!snapshot_read(w->s, root + numbers[ERLVM_TABLES_FIRST], &at, sizeof at) ||
        !snapshot_read(w->s, root + numbers[ERLVM_TABLES_COUNT], &n, sizeof n))
        return -ESRCH;
    w->count.listed = n < MOST_TABLES ? n : MOST_TABLES;
    for (w->left = w->count.listed + FEW; at && !err && w->left; w->left--) {
        if (at & 7 || !snapshot_read(w->s, at, bytes, size)) {
            w->count.gone++;
            break;
        }
        err = visit_own(w, at, bytes);
        at = own(w, bytes, ERLVM_TABLE_NEXT, 8);
    }
    return err;
}

/* ---- both */

int snapshot_tables(struct snapshot *s, int (*take)(void *ctx, const struct snapshot_table_info *table), void *ctx,
                    struct snapshot_count *count)
{
    struct walk w = {.s = s, .take = take, .ctx = ctx};
    int err = (s->ours ? walk_ours : walk_stock)(&w);

    if (count)
        *count = w.count;
    if (!err && w.count.gone + w.count.unclear > w.count.read)
        return -EBADMSG;
    return err;
}

uint64_t snapshot_table_bytes(const struct snapshot *s)
{
    return s->ours ? s->ours->numbers[ERLVM_TABLE_BYTES] : s->layout->off[OTP_TABLE_SIZE];
}
