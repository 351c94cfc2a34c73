/* SPDX-License-Identifier: Apache-2.0 */
/* The external term format, both ways (format: OTP, erts/doc, erl_ext_dist). Bytes from outside are hostile: every read
 * is bounded, memory grows with the input only, depth costs no C stack. */
#ifndef VM_DATA_ETF_H
#define VM_DATA_ETF_H

#include "base/release.h"
#include "heap/heap.h"
#include "heap/refbin.h"

enum {
	ETF_SAFE = 1,        /* decode: make no new atoms, no funs M:F/A of unknown functions */
	ETF_COMPRESSED = 2,  /* encode: deflate when that is shorter (level in ETF_LEVEL) */
	ETF_DETERMINISTIC = 4, /* encode: map pairs in the order of terms */
	ETF_MINOR_0 = 8,     /* encode: floats as text */
	ETF_ATOMS_LATIN1 = 16, /* encode: atoms as ATOM_EXT where they can (minor_version 0 and 1) */
	ETF_LOCAL = 64,      /* encode: for this VM alone, whatever its node's name is by then. Never deflated */
	ETF_IOVEC = 32,      /* encode onto a heap: a list of binaries, large ones of the term among them as they are */
};
#define ETF_LEVEL(level) ((unsigned)(level) << 8)

/* With the version byte (131) at the start.
 * Owns: the caller gets a binary of exactly size_bytes, one reference. Fails: NULL when too big for memory. */
struct binary *etf_encode(Term t, unsigned flags);
/* Those of term_to_binary/1. */
static inline unsigned etf_default_flags(void) { return release_atoms_as_utf8() ? 0 : ETF_ATOMS_LATIN1; }
/* The same onto h and in steps, for t that does not move. *result: a binary, a list of them with ETF_IOVEC, or with
 * count_only the size. Takes what it does from *left, a unit a term or byte deflated. Fails: -EAGAIN when there is more
 * to do: *rest, the caller's until etf_encoder_free, goes on, each step as the start; -ENOMEM. */
struct etf_encoder;
int etf_encode_start(Term t, unsigned flags, bool count_only, int64_t *left, struct heap *h, Term *result,
		     struct etf_encoder **rest);
int etf_encoder_step(struct etf_encoder *e, int64_t *left, struct heap *h, Term *result);
void etf_encoder_free(struct etf_encoder *e);
/* Units: bytes that etf_encode would give without compression. */
size_t etf_size_bytes(Term t, unsigned flags);

/* Atoms that a message between nodes names in its header (format: OTP, erts/doc, erl_ext_dist, "Distribution Header"):
 * in the terms, which have no version byte, stand references to these. */
enum { ETF_ATOMS_MAX = 255, ETF_ATOM_PLACES = 512 };
struct etf_atoms {
	unsigned count;
	uint8_t places[ETF_ATOM_PLACES]; /* by the low bits of an atom's index: 1 + where it is in atoms; 0: nowhere */
	Term atoms[ETF_ATOMS_MAX];
};
void etf_atoms_init(struct etf_atoms *atoms);
/* Large binaries of a term that are not copied. The whole encoding is the bytes returned, with each piece put in before
 * the byte number `at` of them. */
struct etf_piece {
	size_t at;
	struct binary *binary;   /* counted */
	const uint8_t *bytes;    /* in it */
	size_t size_bytes;
};
struct etf_pieces {
	size_t least_bytes;      /* set by the caller: a smaller binary is copied */
	struct etf_piece *all;   /* by rising `at`; NULL: none */
	size_t count;
};
void etf_pieces_free(struct etf_pieces *pieces);
/* As etf_encode, without the version byte. Adds the atoms that t has; no two of them have the same low bits. pieces:
 * NULL, all is copied; else they are set. Owns: the caller, these too. */
struct binary *etf_encode_atoms(Term t, struct etf_atoms *atoms, struct etf_pieces *pieces);
/* As etf_decode_to_heap, of what etf_encode_atoms gave, pieces in their places. home: the counted binary that
 * the bytes are part of, which nobody writes to any more: a binary of more than half of it is not copied. NULL: the
 * bytes go after the call. */
int etf_decode_atoms(const uint8_t *bytes, size_t n, struct binary *home, const Term *atoms, unsigned count,
		     struct heap *h, Term *term, size_t *used);

/* Reads one term with its version byte; *used (when not NULL): bytes read. GC: none.
 * Fails: -EINVAL, nothing is left on the heap but garbage. */
int etf_decode_to_heap(const uint8_t *bytes, size_t n, unsigned flags, struct heap *h, Term *term, size_t *used);
/* The same in steps. The bytes must stay where they are, h must not be collected. Takes what it does from *left, a unit
 * a term and pass, or 8 bytes inflated. Fails: -EAGAIN when there is more to do: *rest, the caller's until
 * etf_decoder_free, goes on, each step as the start; -EINVAL. */
struct etf_decoder;
int etf_decode_start(const uint8_t *bytes, size_t n, unsigned flags, int64_t *left, struct heap *h, Term *term,
		     size_t *used, struct etf_decoder **rest);
int etf_decoder_step(struct etf_decoder *d, int64_t *left, Term *term, size_t *used);
void etf_decoder_free(struct etf_decoder *d);
/* The same onto a fragment of its own, *out (NULL when the term needs no words). Owns: the caller. All n bytes must be
 * used. */
int etf_decode(const uint8_t *bytes, size_t n, struct fragment **out, Term *term, unsigned flags);

#endif
