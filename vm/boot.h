/* SPDX-License-Identifier: Apache-2.0 */
/* The start of a program without OTP's init: standard input and output served by the stock `user` process, then the
 * calls of the command line, each in a process of its own, one after the other. A call that fails ends the VM with status 1. */
#ifndef VM_BOOT_H
#define VM_BOOT_H

#include <stdbool.h>

/* words: MODULE [FUNCTION [ARG...]]; they must outlive the VM. strings: arguments become strings, else atoms. */
void boot_add_call(int count, char **words, bool strings);
bool boot_has_calls(void);
/* Spawns the first process. After every room's init, before sched_start. */
void boot_start(void);

#endif
