/* SPDX-License-Identifier: Apache-2.0 */
/* Errors of the operating system as Erlang code names them. */
#ifndef VM_IO_POSIX_H
#define VM_IO_POSIX_H

#include "heap/heap.h"

/* The atom of an errno: ENOENT is enoent. Unknown numbers are `unknown`. */
Term posix_error_atom(int error);
/* {error, Atom} */
Term posix_error_tuple(struct heap *h, int error);
/* Writes all n bytes, whatever the mode of the descriptor: waits for room when it does not block. Fails: returns
 * -errno. */
int posix_write_all(int fd, const void *bytes, size_t n);

#endif
