/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Functions that call no other may keep data in the 128 bytes below the stack pointer, the red zone. A probe on a nop
 * of five bytes must not stand in one that does: kernels since 6.18 make the nop a call, which writes its return
 * address there. Source: the x86-64 psABI, 3.2.2; arch/x86/kernel/uprobes.c of Linux.
 */
#ifndef TOOLS_RED_ZONE_H
#define TOOLS_RED_ZONE_H

#include "elf_file.h"
#include "otp_image.h"

/* Whether the function around the address keeps nothing there; false too when that cannot be told. */
bool red_zone_is_free(struct otp_image *image, uint64_t address);
/* Drops the notes of the file that are not safe. erlvm's stay: all of it is compiled without a red zone. */
void red_zone_guard(struct elf_file *elf);

#endif
