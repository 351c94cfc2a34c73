/* SPDX-License-Identifier: Apache-2.0 */
/* The room of the terminal as kernel of OTP 26 and later has it: the native functions of prim_tty, as a library that is
 * linked in. (OTP 25's kernel has a port: io/port_tty.c.) */
#ifndef VM_TTY_TTY_H
#define VM_TTY_TTY_H

#include "nif/nif_abi.h"

extern const struct nif_entry tty_prim_tty;

#endif
