/* SPDX-License-Identifier: Apache-2.0 */
/* The two ways to start. OTP's own: erl_init:start(init, Words), which reads a boot script and starts kernel, stdlib
 * and the rest. The quick one: a native process `init` that answers what libraries ask init, standard input and output
 * served by the stock `user` process, then the calls of the command line, each in a process of its own, one after the
 * other. A call that fails ends the VM with status 1. */
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
/* OTP's start: loads what is preloaded, spawns erl_init and the processes of ERTS. words: as erlexec gives them to the
 * emulator. After every room's init, before sched_start. Fails: false, with a line on standard error. */
bool boot_start_otp(int count, char **words);
/* Spawns the first process. After every room's init, before sched_start. */
void boot_start(void);

#endif
