/* SPDX-License-Identifier: Apache-2.0 */
/* erlvm: whatever fires probes of provider erlang and is not recognised as OTP. */
#include "provider.h"

static bool recognise(const struct elf_file *elf)
{
    return elf->nnotes > 0;
}

static void read_release(const struct elf_file *elf, char *out, size_t size)
{
    ssize_t got = elf_file_read_symbol(elf, "erlvm_release", out, size - 1);

    out[got > 0 ? got : 0] = '\0';
}

const struct provider_ops provider_ours_ops = {recognise, provider_usdt_next_site, read_release};
