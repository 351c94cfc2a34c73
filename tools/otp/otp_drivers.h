/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The drivers that an emulator brings (sockets, programs, descriptors), by their tables of callbacks, which stand in
 * its file in the form that drivers of libraries have, too: so they are found in any release, without symbols.
 * Source: struct erl_drv_entry of OTP's erl_driver.h.
 */
#ifndef TOOLS_OTP_DRIVERS_H
#define TOOLS_OTP_DRIVERS_H

#include "target/otp_image.h"

enum { OTP_MAX_DRIVERS = 16 };

/*
 * The functions that are some driver's callback at this offset of its table (bpf/driver_callbacks.def), each once:
 * drivers share some. Returns how many, as many as there is room for at most.
 */
size_t otp_drivers_find(struct otp_image *image, unsigned callback, uint64_t functions[OTP_MAX_DRIVERS]);

#endif
