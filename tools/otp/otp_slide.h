/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where in a function a uprobe costs least. A uprobe on push, call, jump or nop is emulated by
 * the kernel (about 0.6 us); any other instruction is run in a page of its own with a trap
 * behind it (10 to 15 us). So the probe slides from the entry to the first instruction of the
 * cheap sort at which the arguments still stand, but never past the first branch, and never to
 * where a jump could come back.
 * Source: arch/x86/kernel/uprobes.c of Linux, for what is emulated.
 */
#ifndef TOOLS_OTP_SLIDE_H
#define TOOLS_OTP_SLIDE_H

#include "otp_symbols.h"
#include "otp_user.h"

struct otp_insn;

enum otp_side {
    OTP_ENTRY,
    OTP_RETURN, /* uretprobe: the stack pointer must be that of the entry */
    OTP_EXIT,   /* where all ways out of it meet (otp_exit.h); where none is found, as OTP_RETURN */
};

enum otp_cost {
    OTP_COST_EMULATED, /* the kernel does itself what the instruction under the probe does */
    OTP_COST_STEPPED,  /* it runs a copy of the instruction, and traps behind it */
};

struct otp_site {
    uint64_t address; /* virtual, of the link editor */
    uint64_t offset;  /* in the file, as uprobes want it */
    unsigned slid;    /* bytes from the function's entry */
    enum otp_cost cost;
    enum otp_result result; /* of an exit: what holds there what the function returns */
    char instruction[80]; /* for people: "push rbp" */
};

/*
 * The site for a hook on the function at `place`. `regs`: the registers that must hold what they
 * held at the entry, by their 16-bit names or r8 to r15, such as "di si r8"; "" for none.
 * Fails, with the reason in `why` (one line, no newline): -ENOEXEC when the code cannot be
 * decoded or the kernel takes no probe there; -EINVAL when `regs` names no register.
 */
int otp_slide(struct otp_image *image, const struct otp_place *place, const char *regs, enum otp_side side,
              struct otp_site *out, char *why, size_t size);
/* The site of the instruction decoded last, in the function at `place`. */
void otp_site_take(const struct otp_insn *insn, const struct otp_place *place, struct otp_site *out);
/* What a hook there costs, in words. */
const char *otp_cost_text(enum otp_cost cost);

#endif
