/* SPDX-License-Identifier: Apache-2.0 */
/* File names: Erlang's strings and the system's bytes. The encoding is UTF-8 when the locale says so, else Latin-1. */
#ifndef VM_IO_FILENAME_H
#define VM_IO_FILENAME_H

#include "heap/heap.h"

void filename_init(void);
bool filename_is_utf8(void);
/* Whatever the locale says. */
void filename_set_utf8(bool utf8);

/* A name's bytes, NUL-terminated; n without the NUL. Short ones stand in `here`. */
struct filename_text {
	char *bytes;
	size_t n, room;
	char here[128];
};

/* The bytes of a name: a deep list of characters, a binary taken as it is, or (with atoms) an atom.
 * Owns: the caller, filename_text_free. Fails: false: no name, or one with a NUL inside; nothing is to be freed. */
bool filename_read(struct filename_text *t, Term name, bool atoms);
void filename_text_free(struct filename_text *t);
/* The same. Owns: the caller (mem_free), NUL-terminated; *n without the NUL. Fails: NULL. */
char *filename_from_term(Term name, bool atoms, size_t *n);
/* The string of the system's bytes. Fails: TERM_NONE when they are not in the encoding. */
Term filename_put(struct heap *h, const char *bytes, size_t n);

#endif
