/* SPDX-License-Identifier: Apache-2.0 */
/* Hashes of terms. phash and phash2 have OTP's values for all time; hash_internal's are of this VM's life only.
 * All agree on =:= (0.0 and -0.0 too, which OTP 25 holds equal). Depth of terms costs no C stack. */
#ifndef VM_DATA_PHASH_H
#define VM_DATA_PHASH_H

#include "base/hash.h"
#include "term/term.h"

/* erlang:phash2/1 before it is cut to a range: 32 bits. */
uint32_t phash2(Term t);
/* The same of a term of about *left words at most, which are counted down; false, and nothing in *hash, when it has
 * more. */
bool phash2_within(Term t, int64_t *left, uint32_t *hash);
/* erlang:phash/2 before it is cut to a range. */
uint32_t phash(Term t);
bool phash_within(Term t, int64_t *left, uint32_t *hash);

/* For hash_internal_salted: t is no immediate. */
uint64_t hash_internal_compound(Term t, uint64_t salt);

/* Fast; for the keys of maps and tables. Another salt gives an independent hash (deeper levels of a trie). */
static inline uint64_t hash_internal_salted(Term t, uint64_t salt)
{
	return term_is_immed(t) ? hash_word(t ^ salt) : hash_internal_compound(t, salt);
}
static inline uint64_t hash_internal(Term t) { return hash_internal_salted(t, 0); }

#endif
