/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The texts of atoms that batches tell, by VM and index. They come from the memory of other processes: bounded, any
 * bytes.
 */
#ifndef TOOLS_BATCH_NAMES_H
#define TOOLS_BATCH_NAMES_H

#include <stddef.h>
#include <stdint.h>

struct batch_names;

/*
 * Of 1024 VMs: one that tells its first name then takes the place of the one that has told none for the longest time.
 * Owns: batch_names_free frees. NULL: out of memory.
 */
struct batch_names *batch_names_new(void);
void batch_names_free(struct batch_names *names);
/* Has every name handed to `told` from now on, whether there is room for it or not. */
void batch_names_follow(struct batch_names *names,
                        void (*told)(void *ctx, uint32_t vm, uint32_t index, const char *text, size_t bytes),
                        void *ctx);
/*
 * The atom's text, in place of what was told before. Fails: -ENOMEM, -EINVAL no such index, -E2BIG the VM has told more
 * than fits.
 */
int batch_names_tell(struct batch_names *names, uint32_t vm, uint64_t index, const char *text, size_t bytes);
/* NULL: not told. A NUL in it stands as C0 80. Good until it is told anew or forgotten. */
const char *batch_names_find(const struct batch_names *names, uint32_t vm, uint64_t index);
/* All of a VM. */
void batch_names_forget(struct batch_names *names, uint32_t vm);
/* Every atom of every VM, in order; a nonzero return of `visit` ends it and is returned. */
int batch_names_each(const struct batch_names *names,
                     int (*visit)(void *ctx, uint32_t vm, uint64_t index, const char *text), void *ctx);

#endif
