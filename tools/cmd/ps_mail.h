/* SPDX-License-Identifier: Apache-2.0 */
/* The mailbox and the dictionary of one process, of erlsnoop ps: by the shapes of what is in them, or the contents. */
#ifndef TOOLS_PS_MAIL_H
#define TOOLS_PS_MAIL_H

#include "ps_texts.h"

/* texts: its own. Fail: as snapshot_messages, letters_read; -ENOMEM. */
int ps_messages_print(const struct inspected *vm, const struct snapshot_process *is, const struct ps_texts *texts,
                      bool contents, struct sink *sink);
/* The calls among its first messages, and of how many nobody waits for the answer; for people only if there are any. */
int ps_calls_print(const struct inspected *vm, const struct snapshot_process *is, const struct ps_texts *texts,
                   struct sink *sink);
int ps_dictionary_print(const struct inspected *vm, const struct snapshot_process *is, const struct ps_texts *texts,
                        bool contents, struct sink *sink);

#endif
