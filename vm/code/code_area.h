/* SPDX-License-Identifier: Apache-2.0 */
/* The memory of loaded code: runs of pages of one reserved range, each page tied to its instance.
 * Invariant: a page's owner is set before anything can run from it. The last page has none: code of no module stands
 * there that functions return to. */
#ifndef VM_CODE_CODE_AREA_H
#define VM_CODE_CODE_AREA_H

#include "proc/process.h"

struct code_instance;

/* Where machine code is wanted (code_area_want_native), the range begins at a multiple of its size, as many bytes
 * behind each word stands the address of its operation's machine code (0: none), and before it is room for that
 * code. */
enum { CODE_RANGE_SHIFT = 30 };
#define CODE_RANGE_BYTES ((uintptr_t)1 << CODE_RANGE_SHIFT)
#define CODE_NATIVE_BYTES ((uintptr_t)1 << 28)

/* Before code_area_init. */
void code_area_want_native(void);
void code_area_init(void);
/* The first of CODE_NATIVE_BYTES bytes that nobody may use yet; 0: no machine code is wanted, or addresses are
 * limited. */
uintptr_t code_area_native(void);
/* The place of that address. `at` is loaded code; code_area_native() is not 0. */
static inline uintptr_t *code_native_at(const Inst *at)
{
	return (uintptr_t *)((uintptr_t)at + CODE_RANGE_BYTES);
}
/* The last page of the range, which is no module's. Zeroed. */
Inst *code_area_last(void);
/* Zeroed, for code of `owner`. Fails: NULL when the range is full. */
Inst *code_area_take(struct code_instance *owner, size_t words);
void code_area_give(Inst *at, size_t words);
/* Its machine code was given back. */
void code_area_note_given(void);
/* How often code or machine code was given back: what was found out about an address holds until that changes. */
uint64_t code_area_given(void);
/* Where that is counted. */
const atomic_uint_fast64_t *code_area_given_count(void);
/* Lock-free; NULL when pc is no loaded code. */
struct code_instance *code_area_owner(const Inst *pc);

#endif
