/* SPDX-License-Identifier: Apache-2.0 */
/* Pages that machine code stands in: runs of pages of the room beside the code. They can be written, or run, and never
 * both: filled once, then sealed. */
#ifndef VM_JIT_NATIVE_PAGES_H
#define VM_JIT_NATIVE_PAGES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* base: of a room of CODE_NATIVE_BYTES that nobody may read or write yet. Once, before all else here. */
void native_pages_init(uintptr_t base);
/* For so many bytes, to be written. Owns: native_pages_give, with the same bytes. Fails: NULL, there is no room. */
uint8_t *native_pages_take(size_t bytes);
/* From now on they are run. Fails: false, the system refuses. */
bool native_pages_seal(uint8_t *at, size_t bytes);
/* Nothing leads there any more. */
void native_pages_give(uint8_t *at, size_t bytes);

#endif
