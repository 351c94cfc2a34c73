/* SPDX-License-Identifier: Apache-2.0 */
/* Erlang/OTP without notes. Its probes have no sites: plan.c finds functions that stand for them. */
#include "provider_otp.h"

static int next_site(const struct elf_file *elf, const char *probe, size_t *cursor,
                     struct provider_site *out)
{
    (void)elf, (void)probe, (void)cursor, (void)out;
    return 0;
}

const struct provider_ops provider_otp_uprobe_ops = {provider_otp_recognise, next_site,
                                                     provider_otp_release};
