/* SPDX-License-Identifier: Apache-2.0 */
/* Source: the symbols that erts keeps for debuggers (etp_otp_release), OTP 17 and later. */
#include "provider_otp.h"

bool provider_otp_recognise(const struct elf_file *elf)
{
    return elf_file_has_symbol(elf, "etp_otp_release") || elf_file_has_symbol(elf, "erl_start");
}

void provider_otp_release(const struct elf_file *elf, char *out, size_t size)
{
    ssize_t got = elf_file_read_symbol(elf, "etp_otp_release", out, size - 1);

    out[got > 0 ? got : 0] = '\0';
}
