/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The instructions of an emulator one by one, as who looks for a place for a probe needs them: what they write, where
 * they lead, and whether a probe may stand there, at which price.
 * Source: arch/x86/kernel/uprobes.c of Linux, for what is emulated and what is refused.
 */
#ifndef TOOLS_OTP_INSN_H
#define TOOLS_OTP_INSN_H

#include <capstone/capstone.h>

#include "target/otp_image.h"

struct otp_insn {
    struct otp_image *image;
    csh capstone;
    cs_insn *at; /* the one decoded last, its details with it */
};

/* A set of registers, a bit for each: al, ax, eax and rax are one. */
typedef uint32_t otp_regs;

/* Owns: the caller closes it, also when it fails. False: the disassembler cannot be started. */
bool otp_insn_open(struct otp_insn *insn, struct otp_image *image);
void otp_insn_close(struct otp_insn *insn);
/* Decodes the one at the address. False: it is no code, or makes no sense. */
bool otp_insn_decode(struct otp_insn *insn, uint64_t address);

/* Of the one decoded last: whether it is of the group, such as CS_GRP_JUMP. */
bool otp_insn_is(const struct otp_insn *insn, uint8_t group);
/* Whether it may go on elsewhere: a jump, `loop` and its kin too. */
bool otp_insn_is_jump(const struct otp_insn *insn);
/* Whether it calls, returns or traps. */
bool otp_insn_leaves(const struct otp_insn *insn);
/* Where a jump or call that says so leads; 0: it is none, or leads to what a register or memory says. */
uint64_t otp_insn_target(const struct otp_insn *insn);
/* Whether one of the registers may differ behind it. */
bool otp_insn_writes(const struct otp_insn *insn, otp_regs regs);
/* Whether the kernel does itself what it does, so that a probe costs one trap (0.6 us), not two (10 to 15 us). */
bool otp_insn_is_emulated(const struct otp_insn *insn);
/* Whether a probe may stand there. */
bool otp_insn_takes_probe(const struct otp_insn *insn);

/* The set with the register of capstone's number; 0: it is none of those that hold numbers. */
otp_regs otp_insn_reg(unsigned reg);
/* Of names such as "di si r8", the 16-bit ones or r8 to r15. False: one is no register's. */
bool otp_insn_regs(const char *names, otp_regs *out);

#endif
