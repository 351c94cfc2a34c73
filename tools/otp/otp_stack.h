/* SPDX-License-Identifier: Apache-2.0 */
/*
 * From a sample of a CPU to the frames of the process it ran: native ones, then Erlang ones.
 * Source: the JIT of OTP for x86-64 (beam_asm.hpp): the stack pointer of Erlang code is rsp; calling
 * C it is left in rbp or in the process's `stop`, and the instructions after the call take it back from there.
 */
#ifndef TOOLS_OTP_STACK_H
#define TOOLS_OTP_STACK_H

#include "native.h"
#include "otp_code.h"
#include "otp_user.h"

#include "../../bpf/stacks.h"

enum { OTP_STACK_FRAMES = 128 };

struct otp_stack_frame {
    bool native;
    bool caller; /* the address is a return address */
    uint64_t address;
};

struct otp_stack {
    struct otp_stack_frame frames[OTP_STACK_FRAMES]; /* the leaf first */
    size_t n;
};

struct memory;

/* `is_ours`: an erlvm. `code`, `memory`: of the process; NULL when they are not known. */
void otp_stack_walk(const struct stacks_sample *sample, bool is_ours, struct native *native, struct otp_code *code,
                    struct memory *memory,
                    struct otp_stack *out);

#endif
