/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The memory of an erlvm that lies: all that its table leads to, with words of the input written over it. The memory is
 * this process's own. Invariant: what is told of an address is whole and makes sense. For libFuzzer.
 */
#include <unistd.h>

#include "../tools/support_erlvm.h"
#include "otp/otp_atoms.h"
#include "otp/otp_code.h"
#include "otp/otp_registered.h"
#include "spoil.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n);

/* Returns how many addresses have a function and a line. */
static int look_at_code(struct memory *memory, const struct erlvm_layout *ours)
{
    struct otp_code_layout layout = {.ours = ours};
    struct otp_code_place place;
    struct otp_code *code;
    int told = 0;

    hold(!otp_code_new(memory, &layout, &code));
    for (uint64_t at = 0; at < FAKE_SIZE; at += 12) {
        memset(&place, 0xff, sizeof place);
        if (otp_code_find(code, fake_base + at, OTP_CODE_NOW, &place) || place.kind != OTP_CODE_FUNCTION)
            continue;
        hold(place.arity <= 255 && place.line < 1 << 24 && memchr(place.file, 0, sizeof place.file));
        hold((place.module & 0x3f) == OTP_TAG_ATOM && (place.function & 0x3f) == OTP_TAG_ATOM);
        told += place.line && !strcmp(place.file, "dddd");
    }
    otp_code_free(code);
    return told;
}

static void look_at_names(struct memory *memory, const struct otp_layout *layout)
{
    uint64_t slot = 0, atom, names = 0;
    char text[OTP_ATOM_TEXT];
    struct otp_atoms *atoms;

    if (!otp_atoms_new(layout, memory_file(memory), &atoms)) {
        for (uint64_t i = 0; i < FAKE_ATOMS + 3; i++) {
            const char *told = otp_atoms_text(atoms, i);

            hold(!told || strlen(told) < OTP_ATOM_TEXT);
        }
        otp_atoms_free(atoms);
    }
    for (uint32_t i = 0; i < FAKE_ATOMS + 3; i++)
        hold(otp_atoms_read(layout, memory_file(memory), i, text) || memchr(text, 0, sizeof text));
    while (names < 100 && !otp_registered_next(memory, layout, &slot, &atom))
        names++;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
    struct otp_layout layout = {.vm = (uint32_t)getpid()};
    struct erlvm_layout ours = {.code = 0};
    struct memory *memory;
    char why[160];
    int err;

    fake_lay();
    spoil(bytes, n, fake_base, FAKE_SIZE, fake_put);
    memory = own_memory();
    err = erlvm_layout_read(memory, fake_base + FAKE_TABLE, &ours, why, sizeof why);
    hold(!err || (why[0] && n >= 10));
    if (!err) {
        erlvm_layout_fill(&ours, &layout);
        hold(look_at_code(memory, &ours) || n >= 10);
        look_at_names(memory, &layout);
    }
    return 0;
}
