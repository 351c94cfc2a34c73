/* SPDX-License-Identifier: Apache-2.0 */
/* The memory of an erlvm, small and whole, laid into this process's own, for what reads a VM that lies: its table and
 * all that the table leads to. */
#ifndef TESTS_TOOLS_SUPPORT_ERLVM_H
#define TESTS_TOOLS_SUPPORT_ERLVM_H

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "otp/erlvm_layout.h"

enum {
    FAKE_SIZE = 1 << 16,
    FAKE_ATOMS = 40,
    FAKE_FUNCTIONS = 5,
    FAKE_FUNCTION = 64 /* bytes of one */,
    FAKE_GIVEN = 7,
    FAKE_EXPORTS = 2,
    FAKE_CHAINS = 4,
    FAKE_CHAIN = 3, /* ports of one */
    FAKE_PIECE = 16 /* bytes of machine code */
};
/* Where what stands. */
enum {
    FAKE_TABLE = 0,
    FAKE_PARTS = 0x100,
    FAKE_NUMBERS = 0x4000,
    FAKE_ROOTS = 0x1000,
    FAKE_SLOTS = 0x2000,
    FAKE_PROCESS = 0x2100,
    FAKE_SCHEDS = 0x2300,
    FAKE_SCHED = 0x2380,
    FAKE_INSTANCE = 0x2400,
    FAKE_LIST = 0x2500,
    FAKE_LINES = 0x2600,
    FAKE_FILES = 0x2700,
    FAKE_ENTRIES = 0x2800,
    FAKE_TEXTS = 0x3000,
    FAKE_NATIVE_CODE = 0x4f00,
    FAKE_PIECES = 0x4f40,
    FAKE_FREE = 0x5000, /* up to the segment: for what a test lays itself */
    FAKE_SEGMENT = 0x8000,
    FAKE_NATIVE = 0x9000,
    FAKE_CODE = 0xa000,
    FAKE_PORTS = 0xe000,
};

static const uint64_t fake_base = 0x550000000000;

/* As small as the rows allow, in the order of their structures. */
static const uint32_t fake_numbers[ERLVM_NFIELDS] = {[ERLVM_ATOMS_SEGMENTS] = 8,
                                                     [ERLVM_ATOMS_SEGMENT_BITS] = 10,
                                                     [ERLVM_ATOM_SIZE] = 24,
                                                     [ERLVM_ATOM_TEXT] = 8,
                                                     [ERLVM_PROCS_LIMIT] = 8,
                                                     [ERLVM_PROCS_USED] = 16,
                                                     [ERLVM_PROCS_LIVING] = 24,
                                                     [ERLVM_PROC_SIZE] = 256,
                                                     [ERLVM_PROC_STATE] = 8,
                                                     [ERLVM_PROC_EXITING] = 32,
                                                     [ERLVM_PROC_TOP] = 16,
                                                     [ERLVM_PROC_STOP] = 24,
                                                     [ERLVM_PROC_START] = 32,
                                                     [ERLVM_PROC_END] = 40,
                                                     [ERLVM_PROC_I] = 48,
                                                     [ERLVM_PROC_NATIVE] = 56,
                                                     [ERLVM_PROC_INITIAL_MODULE] = 64,
                                                     [ERLVM_PROC_PARENT] = 88,
                                                     [ERLVM_PROC_NAME] = 96,
                                                     [ERLVM_PROC_DICT] = 104,
                                                     [ERLVM_DICT_ROOM] = 4,
                                                     [ERLVM_DICT_PAIRS] = 8,
                                                     [ERLVM_SCHEDS_ALL] = 8,
                                                     [ERLVM_SCHEDS_SELF] = 16,
                                                     [ERLVM_SCHED_CURRENT] = 8,
                                                     [ERLVM_CODE_GIVEN] = 8,
                                                     [ERLVM_CODE_OWNERS] = 16,
                                                     [ERLVM_CODE_PAGE] = 4096,
                                                     [ERLVM_CODE_RANGE] = 0x4000,
                                                     [ERLVM_INSTANCE_TAKEN] = 8,
                                                     [ERLVM_INSTANCE_WORDS] = 16,
                                                     [ERLVM_INSTANCE_WORD_COUNT] = 24,
                                                     [ERLVM_INSTANCE_FUNCTIONS] = 32,
                                                     [ERLVM_INSTANCE_FUNCTION_COUNT] = 40,
                                                     [ERLVM_INSTANCE_LINES] = 48,
                                                     [ERLVM_INSTANCE_LINE_COUNT] = 56,
                                                     [ERLVM_INSTANCE_FILES] = 64,
                                                     [ERLVM_INSTANCE_FILE_COUNT] = 72,
                                                     [ERLVM_LINE_SIZE] = 12,
                                                     [ERLVM_LINE_LINE] = 4,
                                                     [ERLVM_LINE_FILE] = 8,
                                                     [ERLVM_INFO_SIZE] = 32,
                                                     [ERLVM_INFO_MFA] = 8,
                                                     [ERLVM_EXPORTS_COUNT] = 8,
                                                     [ERLVM_EXPORT_SIZE] = 64,
                                                     [ERLVM_EXPORT_MODULE] = 8,
                                                     [ERLVM_EXPORT_ARITY] = 24,
                                                     [ERLVM_EXPORT_STUB] = 32,
                                                     [ERLVM_STUB_RETURN] = 32,
                                                     [ERLVM_PORTS_BUCKETS] = 8,
                                                     [ERLVM_PORTS_BITS] = 2,
                                                     [ERLVM_PORT_SIZE] = 128,
                                                     [ERLVM_PORT_NEXT] = 8,
                                                     [ERLVM_PORT_STATE] = 16,
                                                     [ERLVM_PORT_IS_FLUSHING] = 1,
                                                     [ERLVM_PORT_IS_CLOSED] = 2,
                                                     [ERLVM_PORT_OWNER] = 24,
                                                     [ERLVM_PORT_NAME] = 32,
                                                     [ERLVM_PORT_QUEUED] = 40,
                                                     [ERLVM_PORT_JOB_BYTES] = 48,
                                                     [ERLVM_PORT_COMMANDS] = 56,
                                                     [ERLVM_PORT_READ] = 64,
                                                     [ERLVM_PORT_WRITTEN] = 72,
                                                     [ERLVM_PORT_BUSY] = 80,
                                                     [ERLVM_PORT_FULL] = 81,
                                                     [ERLVM_PROC_FIRST] = 144,
                                                     [ERLVM_PROC_SAVE] = 152,
                                                     [ERLVM_PEERS_FIRST] = 8,
                                                     [ERLVM_PEER_WHO] = 8,
                                                     [ERLVM_PEER_NAME] = 16,
                                                     [ERLVM_PEER_UNLINKS] = 24,
                                                     [ERLVM_PEER_KIND] = 28,
                                                     [ERLVM_PEER_AT_NODE] = 29,
                                                     [ERLVM_PEER_REF] = 32,
                                                     [ERLVM_PEER_ALIAS] = 27,
                                                     [ERLVM_PEER_IS_MONITOR] = 1,
                                                     [ERLVM_PEER_IS_CLOCK] = 2,
                                                     [ERLVM_PROC_LINKS] = 112,
                                                     [ERLVM_PROC_MONITORS] = 120,
                                                     [ERLVM_PROC_WATCHERS] = 128,
                                                     [ERLVM_PROC_IN_FIRST] = 136,
                                                     [ERLVM_SIGNAL_KIND] = 8,
                                                     [ERLVM_SIGNAL_TERM] = 16,
                                                     [ERLVM_TABLES_COUNT] = 8,
                                                     [ERLVM_TABLE_NUMBER] = 8,
                                                     [ERLVM_TABLE_NAME] = 16,
                                                     [ERLVM_TABLE_OWNER] = 24,
                                                     [ERLVM_TABLE_DEAD] = 32,
                                                     [ERLVM_TABLE_TYPE] = 36,
                                                     [ERLVM_TABLE_PROTECTION] = 40,
                                                     [ERLVM_TABLE_KEY] = 44,
                                                     [ERLVM_TABLE_NAMED] = 48,
                                                     [ERLVM_TABLE_COMPRESSED] = 49,
                                                     [ERLVM_TABLE_READ] = 50,
                                                     [ERLVM_TABLE_WRITE] = 51,
                                                     [ERLVM_TABLE_AUTO] = 52,
                                                     [ERLVM_TABLE_HEIR] = 56,
                                                     [ERLVM_TABLE_ROWS] = 64,
                                                     [ERLVM_TABLE_WORDS] = 72,
                                                     [ERLVM_TABLE_STRIPES] = 80,
                                                     [ERLVM_TABLE_FIXED] = 88,
                                                     [ERLVM_TABLE_FIXERS] = 96,
                                                     [ERLVM_TABLE_BYTES] = 128,
                                                     [ERLVM_FIXER_PID] = 8,
                                                     [ERLVM_FIXER_COUNT] = 16,
                                                     [ERLVM_TABLE_IS_ORDERED] = 1,
                                                     [ERLVM_TABLE_IS_BAG] = 2,
                                                     [ERLVM_TABLE_IS_DUPLICATE_BAG] = 3,
                                                     [ERLVM_TABLE_IS_PROTECTED] = 1,
                                                     [ERLVM_TABLE_IS_PRIVATE] = 2,
                                                     [ERLVM_MODULE_NEXT] = 8,
                                                     [ERLVM_MODULE_CURRENT] = 16,
                                                     [ERLVM_MODULE_OLD] = 24,
                                                     [ERLVM_MEMORY_SHARED] = 8,
                                                     [ERLVM_MEMORY_THREADS] = 64,
                                                     [ERLVM_MEMORY_STEP] = 64,
                                                     [ERLVM_MEMORY_MOST] = 2,
                                                     [ERLVM_MEMORY_PROCESSES] = 1,
                                                     [ERLVM_MEMORY_BINARIES] = 2,
                                                     [ERLVM_DIRTY_QUEUE_SIZE] = 32,
                                                     [ERLVM_DIRTY_LENGTH] = 4,
                                                     [ERLVM_DIRTY_ONLINE] = 8,
                                                     [ERLVM_DIRTY_COUNT] = 12,
                                                     [ERLVM_DIRTY_THREADS] = 16,
                                                     [ERLVM_DIRTY_THREAD_SIZE] = 8,
                                                     [ERLVM_NATIVE_PAGE] = 4096,
                                                     [ERLVM_NATIVE_PAGES] = 1,
                                                     [ERLVM_NATIVE_OWNERS] = 8,
                                                     [ERLVM_NATIVE_WORDS] = 8,
                                                     [ERLVM_NATIVE_TAKEN] = 16,
                                                     [ERLVM_NATIVE_PIECES] = 24,
                                                     [ERLVM_NATIVE_PIECE_COUNT] = 32,
                                                     [ERLVM_NATIVE_STORED] = 160,
                                                     [ERLVM_PIECE_SIZE] = 12,
                                                     [ERLVM_PIECE_WORD] = 4,
                                                     [ERLVM_PIECE_RETURNS] = 8};

static inline void fake_put(uint64_t offset, uint64_t word, size_t size)
{
    if (offset + size > FAKE_SIZE)
        abort();
    memcpy((char *)(uintptr_t)fake_base + offset, &word, size);
}

static inline uint64_t fake_atom(uint64_t index)
{
    return index << 6 | OTP_TAG_ATOM;
}

static inline uint64_t fake_root(enum layout_room room)
{
    return FAKE_ROOTS + 0x100 * (uint64_t)room;
}

/* A member of what stands at `base`. */
static inline void fake_set(uint64_t base, enum erlvm_field field, uint64_t word, size_t size)
{
    fake_put(base + fake_numbers[field], word, size);
}

static inline void fake_lay_table(void)
{
    static const enum layout_room rooms[ERLVM_NFIELDS] = {
#define LAYOUT(room, name, number, what) LAYOUT_ROOM_##room,
#include "../../vm/layout.def"
    };
    uint32_t counts[LAYOUT_NROOMS] = {0};

    fake_put(FAKE_TABLE, LAYOUT_MAGIC, 8);
    fake_put(FAKE_TABLE + 8, LAYOUT_VERSION, 4);
    fake_put(FAKE_TABLE + 12, sizeof(struct layout), 4);
    for (size_t field = 0; field < ERLVM_NFIELDS; field++)
        fake_put(FAKE_NUMBERS + 0x100 * (uint64_t)rooms[field] + 4 * counts[rooms[field]]++, fake_numbers[field], 4);
    for (size_t room = 0; room < LAYOUT_NROOMS; room++) {
        fake_put(FAKE_TABLE + 16 + 8 * room, fake_base + FAKE_PARTS + 24 * room, 8);
        fake_put(FAKE_PARTS + 24 * room, fake_base + fake_root((enum layout_room)room), 8);
        fake_put(FAKE_PARTS + 24 * room + 8, fake_base + FAKE_NUMBERS + 0x100 * room, 8);
        fake_put(FAKE_PARTS + 24 * room + 16, counts[room], 8);
    }
}

/* Atom i is of 1 + i mod 9 letters. */
static inline void fake_lay_atoms(void)
{
    fake_set(fake_root(LAYOUT_ROOM_ATOMS), ERLVM_ATOMS_COUNT, FAKE_ATOMS, 4);
    fake_set(fake_root(LAYOUT_ROOM_ATOMS), ERLVM_ATOMS_SEGMENTS, fake_base + FAKE_SEGMENT, 8);
    for (uint64_t i = 0; i < FAKE_ATOMS; i++) {
        uint64_t atom = FAKE_SEGMENT + i * fake_numbers[ERLVM_ATOM_SIZE], text = FAKE_TEXTS + 16 * i;

        fake_set(atom, ERLVM_ATOM_BYTES, 1 + i % 9, 2);
        fake_set(atom, ERLVM_ATOM_TEXT, fake_base + text, 8);
        memset((char *)(uintptr_t)fake_base + text, 'a' + (int)i % 26, 9);
    }
}

/* One process, whose name is atom 5, and one scheduler, which runs it. */
static inline void fake_lay_processes(void)
{
    uint64_t root = fake_root(LAYOUT_ROOM_PROCESSES), scheds = fake_root(LAYOUT_ROOM_SCHEDULERS);

    fake_set(root, ERLVM_PROCS_SLOTS, fake_base + FAKE_SLOTS, 8);
    fake_set(root, ERLVM_PROCS_LIMIT, 16, 8);
    fake_set(root, ERLVM_PROCS_USED, 1, 8);
    fake_set(root, ERLVM_PROCS_LIVING, 1, 8);
    fake_put(FAKE_SLOTS, fake_base + FAKE_PROCESS, 8);
    fake_set(FAKE_PROCESS, ERLVM_PROC_ID, OTP_TAG_PID, 8);
    fake_set(FAKE_PROCESS, ERLVM_PROC_NAME, fake_atom(5), 8);
    fake_set(scheds, ERLVM_SCHEDS_COUNT, 1, 4);
    fake_set(scheds, ERLVM_SCHEDS_ALL, fake_base + FAKE_SCHEDS, 8);
    fake_set(scheds, ERLVM_SCHEDS_SELF, (uint64_t)-64, 8);
    fake_put(FAKE_SCHEDS, fake_base + FAKE_SCHED, 8);
    fake_set(FAKE_SCHED, ERLVM_SCHED_ID, 1, 4);
    fake_set(FAKE_SCHED, ERLVM_SCHED_CURRENT, fake_base + FAKE_PROCESS, 8);
}

/* Function i of module atom 1 is atom 2 + i, of arity i: two places in file atom 3, lines 10 i and 10 i + 1, from its
 * code on and two words on. */
static inline void fake_lay_code(void)
{
    uint64_t root = fake_root(LAYOUT_ROOM_CODE), c = FAKE_INSTANCE;

    fake_set(root, ERLVM_CODE_BASE, fake_base + FAKE_CODE, 8);
    fake_set(root, ERLVM_CODE_GIVEN, FAKE_GIVEN, 8);
    fake_set(root, ERLVM_CODE_OWNERS, fake_base + c, 8);
    fake_set(c, ERLVM_INSTANCE_MODULE, fake_atom(1), 8);
    fake_set(c, ERLVM_INSTANCE_TAKEN, 3, 8);
    fake_set(c, ERLVM_INSTANCE_WORDS, fake_base + FAKE_CODE, 8);
    fake_set(c, ERLVM_INSTANCE_WORD_COUNT, FAKE_FUNCTIONS * FAKE_FUNCTION / 8, 8);
    fake_set(c, ERLVM_INSTANCE_FUNCTIONS, fake_base + FAKE_LIST, 8);
    fake_set(c, ERLVM_INSTANCE_FUNCTION_COUNT, FAKE_FUNCTIONS, 4);
    fake_set(c, ERLVM_INSTANCE_LINES, fake_base + FAKE_LINES, 8);
    fake_set(c, ERLVM_INSTANCE_LINE_COUNT, 2 * FAKE_FUNCTIONS, 4);
    fake_set(c, ERLVM_INSTANCE_FILES, fake_base + FAKE_FILES, 8);
    fake_set(c, ERLVM_INSTANCE_FILE_COUNT, 1, 4);
    fake_put(FAKE_FILES, fake_atom(3), 8);
    for (uint64_t i = 0; i < FAKE_FUNCTIONS; i++) {
        uint64_t info = FAKE_CODE + i * FAKE_FUNCTION, mfa[3] = {fake_atom(1), fake_atom(2 + i), i};

        fake_put(FAKE_LIST + 8 * i, fake_base + info, 8);
        for (uint64_t j = 0; j < 3; j++)
            fake_put(info + fake_numbers[ERLVM_INFO_MFA] + 8 * j, mfa[j], 8);
        for (uint64_t j = 0; j < 2; j++) {
            uint64_t line = FAKE_LINES + (2 * i + j) * fake_numbers[ERLVM_LINE_SIZE];

            fake_set(line, ERLVM_LINE_AT, i * FAKE_FUNCTION / 8 + fake_numbers[ERLVM_INFO_SIZE] / 8 + 2 * j, 4);
            fake_set(line, ERLVM_LINE_LINE, 10 * i + j, 4);
        }
    }
    fake_set(fake_root(LAYOUT_ROOM_EXPORTS), ERLVM_EXPORTS_ENTRIES, fake_base + FAKE_ENTRIES, 8);
    fake_set(fake_root(LAYOUT_ROOM_EXPORTS), ERLVM_EXPORTS_COUNT, FAKE_EXPORTS, 8);
    for (uint64_t i = 0; i < FAKE_EXPORTS; i++) {
        uint64_t entry = FAKE_ENTRIES + i * fake_numbers[ERLVM_EXPORT_SIZE];

        fake_set(entry, ERLVM_EXPORT_MODULE, fake_atom(20), 8);
        fake_put(entry + fake_numbers[ERLVM_EXPORT_MODULE] + 8, fake_atom(21 + i), 8);
        fake_set(entry, ERLVM_EXPORT_ARITY, i, 4);
    }
}

/* Machine code of the first operations of functions 1 and 2, a piece each; that of function 2 returns. */
static inline void fake_lay_native(void)
{
    fake_set(fake_root(LAYOUT_ROOM_NATIVE), ERLVM_NATIVE_BASE, fake_base + FAKE_NATIVE, 8);
    fake_set(fake_root(LAYOUT_ROOM_NATIVE), ERLVM_NATIVE_OWNERS, fake_base + FAKE_NATIVE_CODE, 8);
    fake_set(FAKE_NATIVE_CODE, ERLVM_NATIVE_AT, fake_base + FAKE_NATIVE, 8);
    fake_set(FAKE_NATIVE_CODE, ERLVM_NATIVE_WORDS, fake_base + FAKE_CODE, 8);
    fake_set(FAKE_NATIVE_CODE, ERLVM_NATIVE_TAKEN, 5, 8);
    fake_set(FAKE_NATIVE_CODE, ERLVM_NATIVE_PIECES, fake_base + FAKE_PIECES, 8);
    fake_set(FAKE_NATIVE_CODE, ERLVM_NATIVE_PIECE_COUNT, 2, 4);
    for (uint64_t i = 0; i < 2; i++) {
        uint64_t piece = FAKE_PIECES + i * fake_numbers[ERLVM_PIECE_SIZE];

        fake_set(piece, ERLVM_PIECE_AT, i * FAKE_PIECE, 4);
        fake_set(piece, ERLVM_PIECE_WORD, ((i + 1) * FAKE_FUNCTION + fake_numbers[ERLVM_INFO_SIZE]) / 8, 4);
        fake_set(piece, ERLVM_PIECE_RETURNS, i, 4);
    }
}

static inline uint64_t fake_port(uint64_t number)
{
    return FAKE_PORTS + number * fake_numbers[ERLVM_PORT_SIZE];
}

/* Port i, whose owner is the process, stands in chain i mod FAKE_CHAINS: i bytes of it are queued, and 2 being written.
 * Its name is the text of atom i. */
static inline void fake_lay_ports(void)
{
    uint64_t root = fake_root(LAYOUT_ROOM_PORTS);

    fake_set(root, ERLVM_PORTS_COUNT, FAKE_CHAINS * FAKE_CHAIN, 8);
    for (uint64_t i = 0; i < FAKE_CHAINS * FAKE_CHAIN; i++) {
        uint64_t port = fake_port(i);

        if (i < FAKE_CHAINS)
            fake_put(root + fake_numbers[ERLVM_PORTS_BUCKETS] + 8 * i, fake_base + port, 8);
        else
            fake_set(fake_port(i - FAKE_CHAINS), ERLVM_PORT_NEXT, fake_base + port, 8);
        fake_set(port, ERLVM_PORT_ID, i << 4 | OTP_TAG_PORT, 8);
        fake_set(port, ERLVM_PORT_OWNER, OTP_TAG_PID, 8);
        fake_set(port, ERLVM_PORT_NAME, fake_base + FAKE_TEXTS + 16 * i, 8);
        fake_set(port, ERLVM_PORT_QUEUED, i, 8);
        fake_set(port, ERLVM_PORT_JOB_BYTES, 2, 8);
    }
}

/* Makes the memory, the first time, and lays all of it anew. */
static inline void fake_lay(void)
{
    static void *memory;

    if (!memory)
        memory = mmap((void *)(uintptr_t)fake_base, FAKE_SIZE, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
    if (memory != (void *)(uintptr_t)fake_base)
        abort();
    memset(memory, 0, FAKE_SIZE);
    fake_lay_table();
    fake_lay_atoms();
    fake_lay_processes();
    fake_lay_code();
    fake_lay_native();
    fake_lay_ports();
}

#endif
