/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The names of the processes of a stock emulator that runs, one after the other. Source: erl_ptab.h, register.h of OTP.
 */
#ifndef TOOLS_OTP_REGISTERED_H
#define TOOLS_OTP_REGISTERED_H

#include "otp_user.h"
#include "target/memory.h"

/*
 * The first registered process from slot `*slot` of the process table on: its name's index in the atom table; `*slot`
 * is the one behind it. Begin with 0. Fails: -ENOENT when there are no more; -errno when the table cannot be read. No
 * message.
 */
int otp_registered_next(struct memory *memory, const struct otp_layout *layout, uint64_t *slot, uint64_t *atom);

/* The registered name of the process at this address, a term. Fails: false, it has none that can be read. */
bool otp_registered_name(struct memory *memory, const struct otp_layout *layout, uint64_t process, uint64_t *name);

#endif
