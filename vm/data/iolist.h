/* SPDX-License-Identifier: Apache-2.0 */
/* I/O lists: bytes, binaries and lists of them, of any depth and with any tail. Depth costs no C stack. */
#ifndef VM_DATA_IOLIST_H
#define VM_DATA_IOLIST_H

#include "data/binary.h"

enum iolist_result {
	IOLIST_OK,
	IOLIST_BADARG,  /* something in it is no I/O list */
	IOLIST_LIMIT,   /* too large to count or to hold */
	IOLIST_ROOM,    /* the buffer was too small */
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

#endif
