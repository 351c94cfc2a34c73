/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The schedulers of a stock emulator that runs, and the threads they are. They stand in three
 * arrays (normal, dirty CPU, dirty I/O) that variables of the emulator point to; an array is
 * known by what it holds, so that no symbol is needed: the numbers of its schedulers, and
 * threads that are threads. Source: ErtsSchedulerData of OTP; the psABI for the thread's block,
 * which begins with its own address and has it again in its third word.
 */
#ifndef TOOLS_OTP_SCHEDULERS_H
#define TOOLS_OTP_SCHEDULERS_H

#include <stddef.h>

#include "otp_user.h"
#include "target/memory_file.h"
#include "target/otp_image.h"

struct otp_scheduler {
    uint64_t data;      /* address of its ErtsSchedulerData */
    uint64_t thread;    /* of its thread's block, the base of the register fs */
    uint64_t registers; /* the C stack of a normal scheduler begins below; of others not known: 0 */
};

/*
 * Owns: the caller frees *out.
 * Fails: -ENOENT when there is no normal scheduler, -ENOMEM. No message.
 */
int otp_schedulers_find(const struct memory_file *memory, const struct otp_image *image,
                        const struct otp_layout *layout, struct otp_scheduler **out, size_t *n);

#endif
