/* SPDX-License-Identifier: Apache-2.0 */
/* bpf/otp.h, seen from user space. */
#ifndef TOOLS_OTP_USER_H
#define TOOLS_OTP_USER_H

#include "common/wire_user.h"

#include "../../bpf/otp.h"

#endif
