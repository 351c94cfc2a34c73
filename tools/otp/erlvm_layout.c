/* SPDX-License-Identifier: Apache-2.0 */
/* Invariant: a table that leaves here was borne out by the VM's memory, and its numbers are small enough to be added to
 * an address. */
#include "erlvm_layout.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    MAX_RANGE = 1 << 30,  /* bytes of code */
    MAX_OFFSET = 1 << 17, /* all other numbers */
    MAX_ROWS = 256,       /* of a room */
    MAX_SCHEDULERS = 1024,
    MAX_PROCESSES = 1 << 28,
    MAX_ATOMS = 1 << 25,
    MAX_SEGMENT_BITS = 20,
    LEAST_SEGMENT_BITS = 10,
    SEEN_PROCESSES = 64,
};

static const struct {
    enum layout_room room;
    const char *name;
} rows[ERLVM_NFIELDS] = {
#define LAYOUT(room, name, number, what) {LAYOUT_ROOM_##room, #name},
#include "../../vm/layout.def"
};

static const char *const room_names[] = {
#define LAYOUT_ROOM(room, part, root) root,
    LAYOUT_ROOMS(LAYOUT_ROOM)
#undef LAYOUT_ROOM
};

static int refuse(char *why, size_t size, int err, const char *text)
{
    snprintf(why, size, "%s", text);
    return err;
}

/* ---- the table */

/* Rooms from here on joined later: an older VM does not tell of them, and their roots remain 0. */
enum { FIRST_LATER = LAYOUT_ROOM_PORTS };

_Static_assert((int)ERLVM_NFIELDS <= (int)MAX_ROWS, "read_part has no room for the rows of a room");

/* The dynamic linker fills in the table's pointers. Until it has, they are 0 in a process that has just begun. */
static int read_part(struct memory *memory, uint64_t address, enum layout_room room, struct erlvm_layout *out)
{
    uint32_t numbers[MAX_ROWS];
    uint64_t part[3]; /* struct layout_part */
    size_t known = 0, first = 0;

    while (rows[first].room != room)
        first++;
    while (first + known < ERLVM_NFIELDS && rows[first + known].room == room)
        known++;
    if (!address)
        return -EAGAIN;
    if (memory_read(memory, address, part, sizeof part) || part[2] < known || part[2] > MAX_ROWS)
        return -ENOTSUP;
    if (!part[0] || !part[1])
        return -EAGAIN;
    if (memory_read(memory, part[1], numbers, known * sizeof *numbers))
        return -ENOTSUP;
    out->roots[room] = part[0];
    for (size_t i = 0; i < known; i++) {
        if (numbers[i] > (first + i == ERLVM_CODE_RANGE ? MAX_RANGE : MAX_OFFSET))
            return -ENOTSUP;
        out->numbers[first + i] = numbers[i];
    }
    return 0;
}

static int read_table(struct memory *memory, uint64_t address, struct erlvm_layout *out, char *why, size_t size)
{
    struct {
        uint64_t magic;
        uint32_t version, size;
        uint64_t parts[LAYOUT_NROOMS];
    } table; /* struct layout */

    if (!address || memory_read(memory, address, &table, sizeof table) || table.magic != LAYOUT_MAGIC)
        return refuse(why, size, -ENOTSUP, "it publishes no table of its memory (erlvm_layout)");
    if (table.version != LAYOUT_VERSION || table.size < offsetof(struct layout, parts[FIRST_LATER])) {
        snprintf(why, size, "its table erlvm_layout is of version %u; this erlsnoop knows version %d", table.version,
                 LAYOUT_VERSION);
        return -ENOTSUP;
    }
    memset(out->roots, 0, sizeof out->roots);
    for (size_t room = 0; room < LAYOUT_NROOMS; room++) {
        if (offsetof(struct layout, parts) + (room + 1) * sizeof *table.parts > table.size)
            break;
        int err = read_part(memory, table.parts[room], (enum layout_room)room, out);

        if (!err)
            continue;
        snprintf(why, size, "what its table erlvm_layout says of %s %s", room_names[room],
                 err == -EAGAIN ? "is not filled in yet" : "makes no sense");
        return err;
    }
    return 0;
}

/* ---- what the VM bears out */

static bool read_field(struct memory *memory, const struct erlvm_layout *l, uint64_t base, enum erlvm_field field,
                       void *out, size_t size)
{
    return !memory_read(memory, base + l->numbers[field], out, size);
}

static int check_atoms(struct memory *memory, struct erlvm_layout *l)
{
    uint64_t root = l->roots[LAYOUT_ROOM_ATOMS], segment, text;
    uint32_t bits = l->numbers[ERLVM_ATOMS_SEGMENT_BITS], step = l->numbers[ERLVM_ATOM_SIZE], count;
    uint16_t bytes;
    char name[8];

    if (bits < LEAST_SEGMENT_BITS || bits > MAX_SEGMENT_BITS || step < 8 || l->numbers[ERLVM_ATOM_TEXT] + 8 > step ||
        l->numbers[ERLVM_ATOM_BYTES] + 2 > step ||
        !read_field(memory, l, root, ERLVM_ATOMS_COUNT, &count, sizeof count))
        return -ENOTSUP;
    if (!count)
        return -EAGAIN;
    if (count > MAX_ATOMS || !read_field(memory, l, root, ERLVM_ATOMS_SEGMENTS, &segment, sizeof segment) ||
        !read_field(memory, l, segment, ERLVM_ATOM_BYTES, &bytes, sizeof bytes) ||
        !read_field(memory, l, segment, ERLVM_ATOM_TEXT, &text, sizeof text) || !bytes || bytes > sizeof name ||
        memory_read(memory, text, name, bytes))
        return -ENOTSUP;
    for (size_t i = 0; i < bytes; i++)
        if (name[i] < ' ' || name[i] > '~')
            return -ENOTSUP;
    return 0;
}

/* A process stands in the slot that its pid names; what is being born or has ended has another pid, or none, for a
 * moment. */
static int check_processes(struct memory *memory, struct erlvm_layout *l)
{
    uint64_t root = l->roots[LAYOUT_ROOM_PROCESSES], slots, limit, used, process, id;
    size_t right = 0, wrong = 0;

    if (!read_field(memory, l, root, ERLVM_PROCS_SLOTS, &slots, sizeof slots) ||
        !read_field(memory, l, root, ERLVM_PROCS_LIMIT, &limit, sizeof limit) ||
        !read_field(memory, l, root, ERLVM_PROCS_USED, &used, sizeof used) || limit > MAX_PROCESSES || used > limit)
        return -ENOTSUP;
    if (!slots || !limit || !used)
        return -EAGAIN;
    for (uint64_t i = 0; i < used && i < SEEN_PROCESSES; i++) {
        if (memory_read(memory, slots + i * sizeof process, &process, sizeof process))
            return -ENOTSUP;
        if (!process)
            continue;
        if (!read_field(memory, l, process, ERLVM_PROC_ID, &id, sizeof id))
            return -ENOTSUP;
        if ((id & 0xf) == OTP_TAG_PID && (uint32_t)id >> 4 == i)
            right++;
        else
            wrong++;
    }
    return wrong > right / 4 ? right ? -ENOTSUP : -EAGAIN : 0;
}

static int check_code(struct memory *memory, struct erlvm_layout *l)
{
    uint32_t page = l->numbers[ERLVM_CODE_PAGE], range = l->numbers[ERLVM_CODE_RANGE];
    uint64_t first;

    if (page < 512 || page & (page - 1) || !range || range % page || l->numbers[ERLVM_EXPORT_SIZE] < 8 ||
        l->numbers[ERLVM_LINE_SIZE] < 4 ||
        !read_field(memory, l, l->roots[LAYOUT_ROOM_CODE], ERLVM_CODE_BASE, &l->code, sizeof l->code) ||
        !read_field(memory, l, l->roots[LAYOUT_ROOM_CODE], ERLVM_CODE_OWNERS, &first, sizeof first) ||
        !read_field(memory, l, l->roots[LAYOUT_ROOM_EXPORTS], ERLVM_EXPORTS_ENTRIES, &l->exports, sizeof l->exports) ||
        l->code % page)
        return -ENOTSUP;
    return l->code && l->exports && first ? 0 : -EAGAIN;
}

static int check_native(struct memory *memory, struct erlvm_layout *l)
{
    uint32_t page = l->numbers[ERLVM_NATIVE_PAGE];

    l->native = 0;
    if (!l->roots[LAYOUT_ROOM_NATIVE])
        return 0;
    if (page < 512 || page & (page - 1) || l->numbers[ERLVM_PIECE_SIZE] < 12 ||
        !read_field(memory, l, l->roots[LAYOUT_ROOM_NATIVE], ERLVM_NATIVE_BASE, &l->native, sizeof l->native) ||
        l->native % page)
        return -ENOTSUP;
    return 0;
}

static int check_schedulers(struct memory *memory, struct erlvm_layout *l)
{
    uint64_t root = l->roots[LAYOUT_ROOM_SCHEDULERS], all, scheduler;
    uint32_t count, id;

    if (!read_field(memory, l, root, ERLVM_SCHEDS_COUNT, &count, sizeof count) ||
        !read_field(memory, l, root, ERLVM_SCHEDS_ALL, &all, sizeof all) ||
        !read_field(memory, l, root, ERLVM_SCHEDS_SELF, &l->self, sizeof l->self) || count > MAX_SCHEDULERS)
        return -ENOTSUP;
    if (!count || !all)
        return -EAGAIN;
    for (uint32_t i = 0; i < count; i++) {
        if (memory_read(memory, all + i * sizeof scheduler, &scheduler, sizeof scheduler))
            return -ENOTSUP;
        if (!scheduler || !read_field(memory, l, scheduler, ERLVM_SCHED_ID, &id, sizeof id))
            return -EAGAIN;
        if (id != i + 1)
            return -ENOTSUP;
    }
    return l->self % 8 == 0 && l->self > -MAX_RANGE && l->self < MAX_RANGE ? 0 : -ENOTSUP;
}

int erlvm_layout_read(struct memory *memory, uint64_t address, struct erlvm_layout *out, char *why, size_t size)
{
    static int (*const checks[])(struct memory *, struct erlvm_layout *) = {[LAYOUT_ROOM_ATOMS] = check_atoms,
                                                                            [LAYOUT_ROOM_PROCESSES] = check_processes,
                                                                            [LAYOUT_ROOM_SCHEDULERS] = check_schedulers,
                                                                            [LAYOUT_ROOM_CODE] = check_code,
                                                                            [LAYOUT_ROOM_NATIVE] = check_native};
    int err = read_table(memory, address, out, why, size);

    for (size_t i = 0; i < sizeof checks / sizeof *checks && !err; i++) {
        err = checks[i] ? checks[i](memory, out) : 0;
        if (err)
            snprintf(why, size, err == -EAGAIN ? "%s is not made yet" : "%s is not where its table erlvm_layout says",
                     room_names[i]);
    }
    return err;
}

/* ---- as a stock emulator's */

void erlvm_layout_fill(const struct erlvm_layout *l, struct otp_layout *out)
{
    static const struct {
        enum otp_field to;
        enum erlvm_field from;
    } same[] = {
        {OTP_PROC_ID, ERLVM_PROC_ID},
        {OTP_PROC_REG, ERLVM_PROC_NAME},
        {OTP_PROC_HTOP, ERLVM_PROC_TOP},
        {OTP_PROC_STOP, ERLVM_PROC_STOP},
        {OTP_PROC_HEAP, ERLVM_PROC_START},
        {OTP_PROC_HEND, ERLVM_PROC_END},
        {OTP_PROC_I, ERLVM_PROC_I},
        {OTP_PROC_DICTIONARY, ERLVM_PROC_DICT},
        {OTP_PROC_INITIAL, ERLVM_PROC_INITIAL_MODULE},
        {OTP_PROC_PARENT, ERLVM_PROC_PARENT},
        {OTP_PROC_STATE, ERLVM_PROC_STATE},
        {OTP_PROC_SIZE, ERLVM_PROC_SIZE},
        {OTP_PROC_ARGS, ERLVM_PROC_X},
        {OTP_PROC_REDS, ERLVM_PROC_REDS},
        {OTP_PROC_OLD_HEAP, ERLVM_PROC_OLD_START},
        {OTP_PROC_OLD_HEND, ERLVM_PROC_OLD_END},
        {OTP_PROC_FRAGMENTS, ERLVM_PROC_FRAGMENTS},
        {OTP_PROC_BINARIES, ERLVM_PROC_BINARIES},
        {OTP_PROC_OLD_BINARIES, ERLVM_PROC_OLD_BINARIES},
        {OTP_PTAB_TAB, ERLVM_PROCS_SLOTS},
        {OTP_PTAB_MAX, ERLVM_PROCS_LIMIT},
        {OTP_PTAB_COUNT, ERLVM_PROCS_LIVING},
        {OTP_INDEX_ENTRIES, ERLVM_ATOMS_COUNT},
        {OTP_INDEX_LIMIT, ERLVM_ATOMS_LIMIT},
        {OTP_ATOM_LEN, ERLVM_ATOM_BYTES},
        {OTP_ATOM_NAME, ERLVM_ATOM_TEXT},
        {OTP_SCHED_CURRENT, ERLVM_SCHED_CURRENT},
        {OTP_SCHED_NO, ERLVM_SCHED_ID},
        {OTP_SCHED_REDS, ERLVM_SCHED_REDS},
        {OTP_SCHED_QUEUE, ERLVM_SCHED_QUEUE},
        {OTP_QUEUE_LEN, ERLVM_QUEUE_LENGTH},
    };
    static const struct {
        enum otp_field to;
        enum erlvm_field from;
    } bits[] = {
        {OTP_STATE_EXITING, ERLVM_PROC_EXITING}, {OTP_STATE_SUSPENDED, ERLVM_PROC_SUSPENDED},
        {OTP_STATE_RUNNING, ERLVM_PROC_RUNNING}, {OTP_STATE_DIRTY, ERLVM_PROC_DIRTY},
        {OTP_STATE_ACTIVE, ERLVM_PROC_RUNNABLE},
    };

    for (size_t i = 0; i < OTP_NFIELDS; i++)
        out->off[i] = OTP_NOWHERE;
    for (size_t i = 0; i < sizeof same / sizeof *same; i++)
        out->off[same[i].to] = (uint16_t)l->numbers[same[i].from];
    out->off[OTP_INDEX_SEGMENTS] = 0; /* atoms_at */
    for (size_t i = 0; i < sizeof bits / sizeof *bits; i++)
        out->off[bits[i].to] = (uint16_t)__builtin_ctz(l->numbers[bits[i].from] | 1u << 31);
    out->packing = (struct otp_packing){.data_mask = ~0ull >> 4, .number_bits = 28};
    out->procs = l->roots[LAYOUT_ROOM_PROCESSES];
    out->atoms = l->roots[LAYOUT_ROOM_ATOMS];
    out->is_ours = 1;
    out->ours = (struct otp_ours){
        .code = l->code,
        .code_bytes = l->numbers[ERLVM_CODE_RANGE],
        .self = l->self,
        .given = l->roots[LAYOUT_ROOM_CODE] + l->numbers[ERLVM_CODE_GIVEN],
        .waits = l->roots[LAYOUT_ROOM_STUBS] + l->numbers[ERLVM_STUB_RETURN],
        .segments = l->roots[LAYOUT_ROOM_ATOMS] + l->numbers[ERLVM_ATOMS_SEGMENTS],
        .native = l->numbers[ERLVM_PROC_NATIVE],
        .stub = l->numbers[ERLVM_EXPORT_STUB],
        .room = l->numbers[ERLVM_DICT_ROOM],
        .pairs = l->numbers[ERLVM_DICT_PAIRS],
        .atom_bits = l->numbers[ERLVM_ATOMS_SEGMENT_BITS],
        .atom_bytes = l->numbers[ERLVM_ATOM_SIZE],
        .slept = l->numbers[ERLVM_PROC_SLEPT],
        .stored = l->native ? l->numbers[ERLVM_NATIVE_STORED] : 0,
    };
}
