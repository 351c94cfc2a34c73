/* SPDX-License-Identifier: Apache-2.0 */
/* File names: Erlang's strings and the system's bytes. The encoding is UTF-8 when the locale says so, else Latin-1. */
#ifndef VM_IO_FILENAME_H
#define VM_IO_FILENAME_H

#include "heap/heap.h"

void filename_init(void);
bool filename_is_utf8(void);
/* Whatever the locale says. */
void filename_set_utf8(bool utf8);

/* The bytes of a name: a deep list of characters, a binary taken as it is, or (with atoms) an atom.
 * Owns: the caller (mem_free), NUL-terminated; *n without the NUL. Fails: NULL: no name, or one with a NUL inside. */
char *filename_from_term(Term name, bool atoms, size_t *n);
/* The string of the system's bytes. Fails: TERM_NONE when they are not in the encoding. */
Term filename_put(struct heap *h, const char *bytes, size_t n);

#endif
