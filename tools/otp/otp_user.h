/* SPDX-License-Identifier: Apache-2.0 */
/* bpf/otp.h, seen from user space. */
#ifndef TOOLS_OTP_USER_H
#define TOOLS_OTP_USER_H

#include "common/wire_user.h"

#include "../../bpf/otp.h"

/* Where in the process table the process with this pid, a term, must be. */
static inline __u64 otp_slot_of(const struct otp_layout *layout, __u64 pid)
{
    return layout->packing.pix_mask ? pid >> 4 & layout->packing.pix_mask : pid >> 32;
}

#endif
