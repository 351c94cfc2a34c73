/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Lines of source of a module of a stock emulator.
 * Source: BeamCodeLineTab of OTP's beam_code.h.
 */
#ifndef TOOLS_OTP_LINES_H
#define TOOLS_OTP_LINES_H

#include "otp_code.h"
#include "otp_modules.h"

struct otp_lines;

/* Reads the line table that the module's header names. Owns: otp_lines_free frees. NULL: out of memory. No message. */
struct otp_lines *otp_lines_new(const struct otp_modules *modules, const struct otp_module *module);
void otp_lines_free(struct otp_lines *lines);
/*
 * Sets `line` and `file` of *out for an address in the module's function of this number; leaves them when the line is
 * not known.
 */
void otp_lines_find(const struct otp_modules *modules, const struct otp_lines *lines, size_t function, uint64_t address,
                    struct otp_code_place *out);

#endif
