/* SPDX-License-Identifier: Apache-2.0 */
/* Which function an address in the loaded code of an erlvm that runs belongs to, and which line. */
#ifndef TOOLS_ERLVM_CODE_H
#define TOOLS_ERLVM_CODE_H

#include "erlvm_layout.h"
#include "otp_code.h"

/*
 * As it is in memory now; of a return address ask for the byte before it. *seen: it was there when code had gone so
 * often (ERLVM_CODE_GIVEN). Fails: -ENOENT when there is no code, -ESRCH when the memory cannot be read. No message.
 */
int erlvm_code_find(struct memory *memory, const struct erlvm_layout *ours, uint64_t address,
                    struct otp_code_place *out, uint64_t *seen);
/* Whether an operation that returns has its machine code there: once the top word of the process's stack is 0, it is
 * where rbx says. */
bool erlvm_code_returns(struct memory *memory, const struct erlvm_layout *ours, uint64_t address);
/* How often code has gone. Fails: -ESRCH. */
int erlvm_code_given(struct memory *memory, const struct erlvm_layout *ours, uint64_t *given);

#endif
