/* SPDX-License-Identifier: Apache-2.0 */
/* I/O lists: bytes, binaries and lists of them, of any depth and with any tail. Depth costs no C stack. */
#ifndef VM_DATA_IOLIST_H
#define VM_DATA_IOLIST_H

#include "data/binary.h"
#include "data/word_stack.h"

enum iolist_result {
	IOLIST_OK,
	IOLIST_BADARG,  /* something in it is no I/O list */
	IOLIST_LIMIT,   /* too large to count or to hold */
	IOLIST_ROOM,    /* the buffer was too small */
	IOLIST_MORE,    /* a walk in steps is not at its end */
};

/* Units: *bytes. A binary alone is an I/O list here. */
enum iolist_result iolist_size(Term t, size_t *bytes);
/* Bits may take part (erlang:list_to_bitstring/1). Units: *bits. */
enum iolist_result iolist_size_bits(Term t, uint64_t *bits);
/* Writes all of it at `to`. */
enum iolist_result iolist_copy(Term t, uint8_t *to, size_t room);
/* A new binary on h; t itself when it is a binary. *out is set when IOLIST_OK. GC: none. */
enum iolist_result iolist_to_binary(struct heap *h, Term t, Term *out);
/* The same into memory. Owns: the caller (mem_free). NUL-terminated, *n without it. Fails: NULL. */
uint8_t *iolist_to_bytes(Term t, size_t *n);

/* Walks in order. Called for each byte (binary TERM_NONE, byte set) and each bitstring; false stops the walk (IOLIST_ROOM). */
typedef bool (*iolist_visit)(void *arg, Term binary, uint8_t byte);
enum iolist_result iolist_walk(Term t, iolist_visit visit, void *arg);

/* A walk in steps; the list must not move meanwhile. */
struct iolist_walker {
	Term rest;
	struct word_stack above;
};
void iolist_walker_init(struct iolist_walker *w, Term t);
void iolist_walker_free(struct iolist_walker *w);
/* Takes what was done from *left, about a unit a byte of a list, 64 bytes of a binary, or a list. IOLIST_MORE when that is used up. */
enum iolist_result iolist_walk_some(struct iolist_walker *w, iolist_visit visit, void *arg, int64_t *left);

/* Sizes: visits for iolist_count, which counts bits. */
struct iolist_count {
	uint64_t bits;
	bool partial;        /* a bitstring of no whole bytes was seen */
};
bool iolist_count(void *count, Term binary, uint8_t byte);

#endif
