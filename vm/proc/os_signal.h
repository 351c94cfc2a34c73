/* SPDX-License-Identifier: Apache-2.0 */
/* Signals of the operating system that Erlang code wants to hear of: {notify, Name} to the process
 * `erl_signal_server`. */
#ifndef VM_PROC_OS_SIGNAL_H
#define VM_PROC_OS_SIGNAL_H

#include <signal.h>

#include "proc/process.h"

enum os_signal_how { OS_SIGNAL_DEFAULT, OS_SIGNAL_IGNORE, OS_SIGNAL_HANDLE };

void os_signal_init(void);
/* What SIGINT (Ctrl-C on a terminal) does. Wired in main.c; runs on the main thread. */
void os_signal_on_break(void (*run)(void));
/* name: sighup, sigterm... Fails: false when there is no such signal, or it cannot be changed. */
bool os_signal_set(Term name, enum os_signal_how how);
/* Signals that have their default actions in programs that this VM starts, whatever Erlang code does with them here:
 * all but those that were ignored when it started, as SIGPIPE and SIGFPE are (as in OTP). SIGTERM is among them even
 * then. */
const sigset_t *os_signal_defaults(void);
/* OTP starts: SIGTERM, SIGQUIT and SIGUSR1 are handled, and a signal that nobody takes, before OTP's server has started
 * or when everything ends, is lost from here on; else it ends the VM. */
void os_signal_serve(void);
/* The main thread runs this, too, every so many milliseconds. Before os_signal_run. */
void os_signal_every(int ms, void (*run)(void));
/* Forwards signals for ever. The main thread's work; all other threads block signals. */
void os_signal_run(void) __attribute__((noreturn));

#endif
