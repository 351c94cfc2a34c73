/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Source: the symbols that erts keeps for debuggers (etp_otp_release), OTP 17 and later; from OTP
 * 29 on they are hidden, and what the emulator says of itself is looked for.
 */
#include "provider_otp.h"

#include <stdio.h>
#include <stdlib.h>

bool provider_otp_recognise(const struct elf_file *elf)
{
    return elf_file_has_symbol(elf, "etp_otp_release") || elf_file_has_symbol(elf, "erl_start") ||
           elf_file_has_symbol(elf, "erts_alc_test");
}

void provider_otp_release(const struct elf_file *elf, char *out, size_t size)
{
    ssize_t got = elf_file_read_symbol(elf, "etp_otp_release", out, size - 1);
    char text[16];

    out[got > 0 ? got : 0] = '\0';
    if (got <= 0 && elf_file_find_text(elf, "runtime system than the current (Erlang/OTP ", text, sizeof text))
        snprintf(out, size, "%lu", strtoul(text, NULL, 10));
}

bool provider_otp_jit(const struct elf_file *elf)
{
    uint32_t jit = 0;
    char text[8];

    if (elf_file_read_symbol(elf, "etp_beamasm", &jit, sizeof jit) > 0)
        return jit != 0;
    return elf_file_find_text(elf, "beam/jit/beam_jit_main.cpp", text, sizeof text);
}
