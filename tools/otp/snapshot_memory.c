/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Invariant: a sum is told when each of its counters could be read, and makes sense.
 * Source: erts_memory() and alcu_size() of OTP (erl_alloc.c), memory/0 of erlang.erl; base/alloc.h, and bif_memory.c.
 */
#include "snapshot_memory.h"

#include "names.h"
#include "snapshot_state.h"
#include "snapshot_tables.h"

enum {
    MOST_ALLOCATORS = 32,
    MOST_INSTANCES = 4096,
    MOST_MODULES = 1 << 20,
    HASH_BITS = 64,
};

static const uint64_t MOST_BYTES = 1ull << 48;

const char *snapshot_memory_text(enum snapshot_memory_kind kind)
{
    static const char *const texts[] = {
        [SNAPSHOT_MEMORY_TOTAL] = "total", [SNAPSHOT_MEMORY_PROCESSES] = "processes",
        [SNAPSHOT_MEMORY_SYSTEM] = "system", [SNAPSHOT_MEMORY_ATOM] = "atom_used",
        [SNAPSHOT_MEMORY_BINARY] = "binary", [SNAPSHOT_MEMORY_CODE] = "code", [SNAPSHOT_MEMORY_ETS] = "ets"};

    return texts[kind];
}

static void put(struct snapshot_memory *out, enum snapshot_memory_kind kind, uint64_t bytes)
{
    out->has[kind] = bytes < MOST_BYTES;
    out->bytes[kind] = out->has[kind] ? bytes : 0;
}

/* ---- the allocators of a stock emulator */

struct sums {
    struct snapshot *s;
    uint64_t of[MOST_ALLOCATORS]; /* bytes by allocator */
    uint64_t fixed;               /* bytes of what belongs to processes and is of one size each */
};

static bool read32(const struct snapshot *s, uint64_t at, uint32_t *out)
{
    return snapshot_read(s, at, out, sizeof *out);
}

static bool read64(const struct snapshot *s, uint64_t at, uint64_t *out)
{
    return snapshot_read(s, at, out, sizeof *out);
}

/* What one instance has of allocator `number`: in carriers of several blocks, of one, and of those in the pool. */
static bool read_blocks(const struct snapshot *s, uint64_t instance, unsigned number, bool pools, uint64_t *out)
{
    const uint16_t *off = s->layout->off;
    uint64_t place = number - off[OTP_ALLOCATOR_FIRST], step = place * off[OTP_BLOCKS_SIZE] + off[OTP_BLOCKS_BYTES];
    uint64_t single, multi, pooled = 0;

    if (!read64(s, instance + off[OTP_ALLOCATOR_SINGLE] + step, &single) ||
        !read64(s, instance + off[OTP_ALLOCATOR_MULTI] + step, &multi) ||
        (pools && !read64(s, instance + off[OTP_ALLOCATOR_POOLED] + place * sizeof pooled, &pooled)))
        return false;
    *out = single + multi + ((int64_t)pooled > 0 ? pooled : 0);
    return single < MOST_BYTES && multi < MOST_BYTES && *out < MOST_BYTES;
}

/* Processes, links, monitors, timers and references to messages. */
static bool add_fixed(struct sums *sums, uint64_t instance, bool pools)
{
    static const enum otp_field places[] = {OTP_FIX_PROCESS, OTP_FIX_MONITOR,     OTP_FIX_LINK, OTP_FIX_MESSAGE,
                                            OTP_FIX_LIGHT_TIMER, OTP_FIX_HEAVY_TIMER, OTP_FIX_TIMER};
    const uint16_t *off = sums->s->layout->off;
    uint64_t fix, size, n;

    if (!read64(sums->s, instance + off[OTP_ALLOCATOR_FIX], &fix))
        return false;
    for (size_t i = 0; fix && i < sizeof places / sizeof *places; i++) {
        uint64_t at = fix + (uint64_t)off[places[i]] * off[OTP_FIX_SIZE];

        if (!read64(sums->s, at + off[OTP_FIX_BYTES], &size) ||
            !read64(sums->s, at + off[pools ? OTP_FIX_POOLED : OTP_FIX_COUNT], &n) || size > 1 << 20 ||
            n > MOST_BYTES / (size + 1))
            return false;
        sums->fixed += size * n;
    }
    return true;
}

/* shared: the instances of each allocator may have blocks of every other, as carriers move between them. */
static bool add_instance(struct sums *sums, uint64_t instance, unsigned number, bool shared)
{
    const uint16_t *off = sums->s->layout->off;
    unsigned first = shared ? off[OTP_ALLOCATOR_FIRST] : number, last = shared ? off[OTP_ALLOCATOR_LAST] : number;
    uint64_t limit, bytes;

    if (!read64(sums->s, instance + off[OTP_ALLOCATOR_POOLS], &limit))
        return false;
    for (unsigned i = first; i <= last; i++) {
        if (!read_blocks(sums->s, instance, i, limit != 0, &bytes))
            return false;
        sums->of[i] += bytes;
    }
    return number != off[OTP_ALLOCATOR_FIXED] || add_fixed(sums, instance, limit != 0);
}

static bool add_instances(struct sums *sums, uint64_t specific, unsigned number)
{
    const uint16_t *off = sums->s->layout->off;
    uint64_t all, instance;
    uint32_t n;

    if (!read32(sums->s, specific + off[OTP_INSTANCES_COUNT], &n) || n > MOST_INSTANCES ||
        !read64(sums->s, specific + off[OTP_INSTANCES], &all))
        return false;
    for (uint32_t i = 0; i < n; i++)
        if (!read64(sums->s, all + i * sizeof instance, &instance) ||
            (instance && !add_instance(sums, instance, number, true)))
            return false;
    return true;
}

static bool add_allocator(struct sums *sums, uint64_t infos, unsigned number)
{
    const uint16_t *off = sums->s->layout->off;
    uint64_t info = infos + (uint64_t)number * off[OTP_ALLOCATOR_INFO], of;
    uint32_t counts, specific;

    if (!read32(sums->s, info + off[OTP_ALLOCATOR_UTIL], &counts) ||
        !read32(sums->s, info + off[OTP_ALLOCATOR_SPECIFIC], &specific) ||
        !read64(sums->s, info + off[OTP_ALLOCATOR_OF], &of))
        return false;
    if (!counts || !of)
        return true;
    return specific ? add_instances(sums, of, number) : add_instance(sums, of, number, false);
}

/* The address in memory; 0: it is not found. */
static uint64_t locate(const struct snapshot *s, const char *name)
{
    struct otp_place place;

    return otp_symbols_find(s->vm->symbols, name, &place) ? 0 : place.address + s->layout->bias;
}

/* NULL: all went well; else why not. */
static const char *add_allocators(struct sums *sums)
{
    const uint16_t *off = sums->s->layout->off;
    uint64_t infos;

    if (off[OTP_ALLOCATOR_INFO] == OTP_NOWHERE)
        return "what its allocators count is not known of this release";
    if (off[OTP_ALLOCATOR_LAST] >= MOST_ALLOCATORS)
        return "its allocators are too many";
    infos = locate(sums->s, "erts_allctrs_info");
    if (!infos)
        return "erts_allctrs_info, which leads to its allocators, is not found in it";
    for (unsigned i = off[OTP_ALLOCATOR_FIRST]; i <= off[OTP_ALLOCATOR_LAST]; i++)
        if (!add_allocator(sums, infos, i))
            return "what its allocators count makes no sense";
    return NULL;
}

/* ---- atoms */

/* Bytes of all names. */
static uint64_t sum_names(struct snapshot *s)
{
    uint64_t sum = 0, n = names_atoms(s->names, s->layout->vm);

    for (uint64_t i = 0; i < n; i++) {
        const char *text = names_atom(s->names, s->layout->vm, i);

        sum += text ? strlen(text) : 0;
    }
    return sum;
}

/* The table, and the names; not the atoms themselves, which are blocks of an allocator. */
static bool measure_atoms(struct snapshot *s, uint64_t *out)
{
    const uint16_t *off = s->layout->off;
    uint32_t room, shift;

    if (off[OTP_ATOM_NAME] == OTP_NOWHERE || off[OTP_INDEX_SIZE] == OTP_NOWHERE ||
        !read32(s, s->layout->atoms + off[OTP_INDEX_ROOM], &room) ||
        !read32(s, s->layout->atoms + off[OTP_INDEX_BUCKETS], &shift) || shift >= HASH_BITS || shift < 32)
        return false;
    *out = off[OTP_INDEX_SIZE] + room * sizeof(uint64_t) + (sizeof(uint64_t) << (HASH_BITS - shift)) + sum_names(s);
    return true;
}

/* ---- all of it */

/* The table of processes: a pointer a slot, and 32 bits for the number that is to be given next. */
static bool measure_process_table(struct snapshot *s, uint64_t *out)
{
    uint64_t limit;

    if (snapshot_process_limit(s, &limit))
        return false;
    *out = limit * (sizeof(uint64_t) + sizeof(uint32_t));
    return true;
}

static void fill_stock(struct snapshot *s, struct snapshot_memory *out)
{
    struct sums sums = {.s = s};
    const uint16_t *off = s->layout->off;
    uint64_t code_at = locate(s, "erts_total_code_size"), code = 0, total = 0, atoms, table;

    if (code_at && read64(s, code_at, &code))
        put(out, SNAPSHOT_MEMORY_CODE, code);
    out->lacks[SNAPSHOT_MEMORY_CODE] = "but tables of modules and functions";
    if (measure_atoms(s, &atoms))
        put(out, SNAPSHOT_MEMORY_ATOM, atoms);
    out->why = add_allocators(&sums);
    if (out->why)
        return;
    put(out, SNAPSHOT_MEMORY_BINARY, sums.of[off[OTP_ALLOCATOR_BINARIES]]);
    put(out, SNAPSHOT_MEMORY_ETS, sums.of[off[OTP_ALLOCATOR_ETS]]);
    out->lacks[SNAPSHOT_MEMORY_ETS] = "but the list of tables";
    if (!measure_process_table(s, &table)) {
        out->why = "its table of processes cannot be read";
        return;
    }
    put(out, SNAPSHOT_MEMORY_PROCESSES, sums.of[off[OTP_ALLOCATOR_HEAPS]] + sums.fixed + table);
    if (s->layout->jit && !out->has[SNAPSHOT_MEMORY_CODE]) {
        out->why = "erts_total_code_size, which says how much code there is, is not found in it";
        return;
    }
    for (unsigned i = off[OTP_ALLOCATOR_FIRST]; i <= off[OTP_ALLOCATOR_LAST]; i++)
        total += sums.of[i];
    total += s->layout->jit ? code : 0; /* which no allocator counts */
    put(out, SNAPSHOT_MEMORY_TOTAL, total);
    if (total >= out->bytes[SNAPSHOT_MEMORY_PROCESSES])
        put(out, SNAPSHOT_MEMORY_SYSTEM, total - out->bytes[SNAPSHOT_MEMORY_PROCESSES]);
}

/* ---- an erlvm */

enum { WORDS = 3 }; /* of a record of what a thread took */

/* Bytes of what for are in word `which` of each record; a thread that frees what another took has less than none. */
static bool sum_threads(const struct snapshot *s, int64_t sums[WORDS])
{
    const uint32_t *numbers = s->ours->numbers;
    uint64_t root = s->ours->roots[LAYOUT_ROOM_MEMORY], n;
    int64_t record[WORDS];

    if (!read64(s, root + numbers[ERLVM_MEMORY_COUNT], &n) ||
        !snapshot_read(s, root + numbers[ERLVM_MEMORY_SHARED], sums, sizeof record))
        return false;
    for (uint64_t i = 0; i < n && i < numbers[ERLVM_MEMORY_MOST]; i++) {
        if (!snapshot_read(s, root + numbers[ERLVM_MEMORY_THREADS] + i * numbers[ERLVM_MEMORY_STEP], record,
                           sizeof record))
            return false;
        for (int word = 0; word < WORDS; word++)
            sums[word] = (int64_t)((uint64_t)sums[word] + (uint64_t)record[word]);
    }
    return true;
}

static uint64_t own_sum(const struct snapshot *s, const int64_t sums[WORDS], enum erlvm_field which)
{
    uint32_t word = s->ours->numbers[which];

    return word < WORDS && sums[word] > 0 ? (uint64_t)sums[word] : 0;
}

/* Words of the instance at the address that stands there; 0: there is none. */
static bool add_code(const struct snapshot *s, uint64_t at, uint64_t *sum)
{
    uint64_t instance, words;

    if (!read64(s, at, &instance))
        return false;
    if (!instance)
        return true;
    if (!read64(s, instance + s->ours->numbers[ERLVM_INSTANCE_WORD_COUNT], &words) || words > MOST_BYTES / 8)
        return false;
    *sum += words * sizeof words;
    return true;
}

static bool measure_own_code(const struct snapshot *s, uint64_t *sum)
{
    const uint32_t *numbers = s->ours->numbers;
    uint64_t at;

    *sum = 0;
    if (!s->ours->roots[LAYOUT_ROOM_MODULES] ||
        !read64(s, s->ours->roots[LAYOUT_ROOM_MODULES] + numbers[ERLVM_MODULES_FIRST], &at))
        return false;
    for (int i = 0; at && i < MOST_MODULES; i++)
        if (!add_code(s, at + numbers[ERLVM_MODULE_CURRENT], sum) ||
            !add_code(s, at + numbers[ERLVM_MODULE_OLD], sum) || !read64(s, at + numbers[ERLVM_MODULE_NEXT], &at))
            return false;
    return true;
}

static int add_table(void *ctx, const struct snapshot_table_info *table)
{
    *(uint64_t *)ctx += table->words * SNAPSHOT_WORD;
    return 0;
}

static void fill_ours(struct snapshot *s, struct snapshot_memory *out)
{
    uint64_t count, limit, code, processes, binaries, tables = 0;
    int64_t sums[WORDS] = {0};

    /* As many bytes as its names, and for each atom the atom and 32 bits of a table. */
    if (!snapshot_atoms(s, &count, &limit))
        put(out, SNAPSHOT_MEMORY_ATOM,
            sum_names(s) + count * (s->ours->numbers[ERLVM_ATOM_SIZE] + sizeof(uint32_t)));
    if (!snapshot_tables(s, add_table, &tables, NULL))
        put(out, SNAPSHOT_MEMORY_ETS, tables);
    if (!s->ours->roots[LAYOUT_ROOM_MEMORY]) {
        out->why = "this erlvm is older than the counters of its memory";
        return;
    }
    if (!sum_threads(s, sums) || !measure_own_code(s, &code)) {
        out->why = "the counters of its memory cannot be read";
        return;
    }
    processes = own_sum(s, sums, ERLVM_MEMORY_PROCESSES);
    binaries = own_sum(s, sums, ERLVM_MEMORY_BINARIES);
    put(out, SNAPSHOT_MEMORY_PROCESSES, processes);
    put(out, SNAPSHOT_MEMORY_BINARY, binaries);
    put(out, SNAPSHOT_MEMORY_CODE, code);
    put(out, SNAPSHOT_MEMORY_SYSTEM, own_sum(s, sums, ERLVM_MEMORY_SYSTEM) + binaries + code);
    put(out, SNAPSHOT_MEMORY_TOTAL, out->bytes[SNAPSHOT_MEMORY_SYSTEM] + processes);
}

void snapshot_memory(struct snapshot *s, struct snapshot_memory *out)
{
    *out = (struct snapshot_memory){0};
    (s->ours ? fill_ours : fill_stock)(s, out);
}
