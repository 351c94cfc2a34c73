/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Whether the offsets of a layout hold for an emulator that runs, tried on its own memory before
 * anything is attached: its code is that of the file, its atoms are the known ones, its process
 * table packs ids as it must, and every process that rests lies on its heap as it must, bears
 * its name, and stands in a function.
 * Source: erl_ptab.c, atom.names, erl_process.h of OTP.
 */
#ifndef TOOLS_OTP_CHECK_H
#define TOOLS_OTP_CHECK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "otp_user.h"
#include "target/memory_file.h"
#include "target/otp_image.h"

/* The offsets by enum otp_field, OTP_NFIELDS of them; NULL when the build is not in otp_layouts.def. */
const uint16_t *otp_layout_find(uint32_t release, bool jit, bool notes);

/*
 * `layout` comes with release, bias, procs, atoms and off; packing is filled here. The process
 * is only read, and is not stopped: what changes meanwhile is read again.
 * Fails, with the reason in `why` (one line, no newline): -EAGAIN when the emulator is not far
 * enough to tell; -ENOTSUP on any doubt.
 */
int otp_check(const struct memory_file *memory, struct otp_image *image, struct otp_layout *layout, char *why,
              size_t size);
/*
 * Whether the offsets of ports hold, too, by the table at layout->ports: it packs numbers as it must, and each port
 * stands at its place, has a name, a driver with a name and an owner, and is open; that of a driver of the emulator is
 * what the driver keeps. Comes after otp_check; port_packing is filled here. Fails as otp_check does.
 */
int otp_check_ports(const struct memory_file *memory, struct otp_layout *layout, char *why, size_t size);

#endif
