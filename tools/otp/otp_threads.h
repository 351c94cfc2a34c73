/* SPDX-License-Identifier: Apache-2.0 */
/* The threads of a stock emulator that run Erlang processes, for BPF programs to find the process that a thread
 * runs. */
#ifndef TOOLS_OTP_THREADS_H
#define TOOLS_OTP_THREADS_H

#include "otp_symbols.h"
#include "otp_user.h"
#include "target/memory.h"

/*
 * Puts the schedulers' threads of the emulator with this slot of "otp_layouts" into a map of struct stacks_thread_key
 * and struct stacks_thread (bpf/stacks.h). memory NULL: the process has ended. Fails: -errno, without a message.
 */
int otp_threads_put(struct memory *memory, const struct otp_layout *layout, struct otp_symbols *symbols, uint32_t slot,
                    int map);

#endif
