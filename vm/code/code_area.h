/* SPDX-License-Identifier: Apache-2.0 */
/* The memory of loaded code: runs of pages of one reserved range, each page tied to its instance.
 * Invariant: a page's owner is set before anything can run from it. */
#ifndef VM_CODE_CODE_AREA_H
#define VM_CODE_CODE_AREA_H

#include "proc/process.h"

struct code_instance;

#define CODE_RANGE_BYTES ((uintptr_t)1 << 30)

void code_area_init(void);
/* Zeroed, for code of `owner`. Fails: NULL when the range is full. */
Inst *code_area_take(struct code_instance *owner, size_t words);
void code_area_give(Inst *at, size_t words);
/* How often code was given back: what was found out about an address holds until that changes. */
uint64_t code_area_given(void);
/* Where that is counted. */
const atomic_uint_fast64_t *code_area_given_count(void);
/* Lock-free; NULL when pc is no loaded code. */
struct code_instance *code_area_owner(const Inst *pc);

#endif
