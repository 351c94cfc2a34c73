/* SPDX-License-Identifier: Apache-2.0 */
/* What the providers for Erlang/OTP share. */
#ifndef TOOLS_PROVIDER_OTP_H
#define TOOLS_PROVIDER_OTP_H

#include "provider.h"

/* An emulator of OTP: it exports the start of its runtime system or its release. */
bool provider_otp_recognise(const struct elf_file *elf);
/* Whether it has the JIT, or is the interpreter. */
bool provider_otp_jit(const struct elf_file *elf);
void provider_otp_release(const struct elf_file *elf, char *out, size_t size);

#endif
