/* SPDX-License-Identifier: Apache-2.0 */
/* Erlang/OTP built with --with-dynamic-trace=systemtap. */
#include "provider_otp.h"

static bool recognise(const struct elf_file *elf)
{
    return elf->nnotes > 0 && provider_otp_recognise(elf);
}

const struct provider_ops provider_otp_usdt_ops = {recognise, provider_usdt_next_site,
                                                   provider_otp_release};
