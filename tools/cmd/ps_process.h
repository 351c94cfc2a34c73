/* SPDX-License-Identifier: Apache-2.0 */
/* All of one process, of erlsnoop ps. */
#ifndef TOOLS_PS_PROCESS_H
#define TOOLS_PS_PROCESS_H

#include "ps_texts.h"

/*
 * By its pid (<0.93.0>, or 0.93.0), its registered name, or what tables call it if no other is called so. contents:
 * what is in its messages and its dictionary, too.
 * Fails: -ENOENT: there is none; as snapshot_processes; -ENOMEM. No message but for -ENOTUNIQ.
 */
int ps_process_print(const struct inspected *vm, const char *which, bool contents, struct sink *sink);

#endif
