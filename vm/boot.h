/* SPDX-License-Identifier: Apache-2.0 */
/* The start of a program without OTP's own: a native process `init` that answers what libraries ask init, standard input and output
 * served by the stock `user` process, then the calls of the command line, each in a process of its own, one after the other.
 * A call that fails ends the VM with status 1. */
#ifndef VM_BOOT_H
#define VM_BOOT_H

#include <stdbool.h>

/* words: MODULE [FUNCTION [ARG...]]; they must outlive the VM. strings: arguments become strings, else atoms. */
void boot_add_call(int count, char **words, bool strings);
/* -NAME VALUE...: words[0] is the name with its dash. */
void boot_add_flag(int count, char **words);
/* What stands behind -- or -extra. */
void boot_set_plain(int count, char **words);
bool boot_has_calls(void);
/* Spawns the first process. After every room's init, before sched_start. */
void boot_start(void);

#endif
