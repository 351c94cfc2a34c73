/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The memory of a stock emulator that lies: modules, lines and atoms as OTP lays them out, with words of the input
 * written over them. The memory is this process's own, at a fixed address. Invariant: what is told of an address is
 * whole and makes sense. For libFuzzer.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "target/memory.h"
#include "otp/otp_atoms.h"
#include "otp/otp_check.h"
#include "otp/otp_code.h"
#include "spoil.h"

enum { SIZE = 1 << 16, FUNCTIONS = 5, LINES = 3, ATOMS = 40 };
/* Where in the memory what stands. */
enum {
    HEADER = 0,
    INFOS = 0x1000,
    CODE_SIZE = 64,
    TABLE = 0x2000,
    FILES = 0x2700,
    LOCATIONS = 0x2800,
    TEXT = 0x2b00,
    INDEX = 0x4000,
    SEGMENTS = 0x4800,
    SEGMENT = 0x5000,
    ATOM = 0x8000
};

static const uint64_t base = 0x200000000000;
static struct otp_layout layout;
static struct otp_code_layout code_layout;

int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n);

static void put(uint64_t offset, uint64_t word, size_t size)
{
    hold(offset + size <= SIZE);
    memcpy((char *)(uintptr_t)base + offset, &word, size);
}

static uint64_t atom_term(uint64_t index)
{
    return index << 6 | OTP_TAG_ATOM;
}

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
    const uint16_t *off = otp_layout_find(25, true, false);

    (void)argc, (void)argv;
    hold(off && mmap((void *)(uintptr_t)base, SIZE, PROT_READ | PROT_WRITE | PROT_EXEC,
                     MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0) == (void *)(uintptr_t)base);
    layout = (struct otp_layout){.vm = (uint32_t)getpid(), .release = 25, .jit = 1, .atoms = base + INDEX};
    memcpy(layout.off, off, OTP_NFIELDS * sizeof *off);
    code_layout = (struct otp_code_layout){.info_mfa = off[OTP_CODE_INFO_MFA],
                                           .info_size = off[OTP_CODE_INFO_SIZE],
                                           .nfunctions = off[OTP_CODE_NFUNCTIONS],
                                           .functions = off[OTP_CODE_FUNCTIONS],
                                           .lines = off[OTP_CODE_LINES],
                                           .fnames = off[OTP_LINES_FNAMES],
                                           .loc_size = off[OTP_LINES_LOC_SIZE],
                                           .loc = off[OTP_LINES_LOC],
                                           .lines_functions = off[OTP_LINES_FUNCTIONS],
                                           .native = true,
                                           .own = atom_term(7)};
    return 0;
}

/* A module of FUNCTIONS functions with LINES lines each. */
static void lay_module(void)
{
    const struct otp_code_layout *l = &code_layout;

    put(HEADER + l->nfunctions, FUNCTIONS, 8);
    put(HEADER + l->lines, base + TABLE, 8);
    put(TABLE + l->fnames, base + FILES, 8);
    put(TABLE + l->loc, base + LOCATIONS, 8);
    put(TABLE + l->loc_size, 4, 4);
    put(FILES, (base + TEXT) | OTP_TAG_LIST, 8);
    put(TEXT, 'a' << 4 | OTP_TAG_SMALL, 8);
    put(TEXT + 8, OTP_NIL, 8);
    for (uint64_t i = 0; i <= FUNCTIONS; i++) {
        uint64_t info = INFOS + i * CODE_SIZE;

        put(HEADER + l->functions + 8 * i, base + info, 8);
        put(TABLE + l->lines_functions + 8 * i, base + TABLE + 0x400 + 8 * LINES * i, 8);
        put(info + l->info_mfa, atom_term(1), 8);
        put(info + l->info_mfa + 8, atom_term(2 + i), 8);
        put(info + l->info_mfa + 16, i, 8);
        for (uint64_t j = 0; j < LINES; j++) {
            put(TABLE + 0x400 + 8 * (LINES * i + j), base + info + l->info_size + 4 * j, 8);
            put(LOCATIONS + 4 * (LINES * i + j), 10 * i + j, 4);
        }
    }
}

static void lay_atoms(void)
{
    const uint16_t *off = layout.off;

    put(INDEX + off[OTP_INDEX_SEGMENTS], base + SEGMENTS, 8);
    put(INDEX + off[OTP_INDEX_ENTRIES], ATOMS, 4);
    put(SEGMENTS, base + SEGMENT, 8);
    for (uint64_t i = 0; i < ATOMS; i++) {
        uint64_t atom = ATOM + 128 * i;

        put(SEGMENT + 8 * i, base + atom, 8);
        put(atom + off[OTP_ATOM_INDEX], i, 4);
        put(atom + off[OTP_ATOM_LEN], 1 + i % 9, 2);
        put(atom + off[OTP_ATOM_NAME], base + atom + 96, 8);
        memset((char *)(uintptr_t)(base + atom + 96), 'a' + (int)i % 26, 9);
    }
}

/* Returns how many addresses have a function and a line. */
static int look_at_code(struct memory *memory)
{
    int told = 0;
    struct otp_code *code;
    struct otp_code_place place;

    hold(!otp_code_new(memory, &code_layout, &code));
    for (uint64_t at = INFOS - 16; at < INFOS + (FUNCTIONS + 1) * CODE_SIZE; at += 12) {
        memset(&place, 0xff, sizeof place);
        if (otp_code_find(code, base + at, OTP_CODE_NOW, &place) || place.kind != OTP_CODE_FUNCTION)
            continue;
        /* an info stands before its code */
        hold(place.arity <= 255 && place.start >= base && place.start <= base + at + code_layout.info_size);
        hold(place.line < 1 << 24 && memchr(place.file, 0, sizeof place.file));
        hold((place.module & 0x3f) == OTP_TAG_ATOM && (place.function & 0x3f) == OTP_TAG_ATOM);
        told += place.line && !strcmp(place.file, "a");
    }
    otp_code_free(code);
    return told;
}

static void look_at_atoms(struct memory *memory)
{
    char text[OTP_ATOM_TEXT];
    struct otp_atoms *atoms;

    if (!otp_atoms_new(&layout, memory_file(memory), &atoms)) {
        for (uint64_t i = 0; i < ATOMS + 3; i++) {
            const char *told = otp_atoms_text(atoms, i);

            hold(!told || strlen(told) < OTP_ATOM_TEXT);
        }
        otp_atoms_free(atoms);
    }
    for (uint32_t i = 0; i < ATOMS + 3; i++)
        hold(otp_atoms_read(&layout, memory_file(memory), i, text) || memchr(text, 0, sizeof text));
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
    struct memory *memory;

    memset((void *)(uintptr_t)base, 0, SIZE);
    lay_module();
    lay_atoms();
    spoil(bytes, n, base, SIZE, put);
    memory = own_memory();
    hold(look_at_code(memory) || n >= 10);
    look_at_atoms(memory);
    return 0;
}
