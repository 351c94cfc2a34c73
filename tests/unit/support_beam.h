/* SPDX-License-Identifier: Apache-2.0 */
/* Small .beam files put together by hand: module m with one function f/1, exported, of the body given. Atoms: 1 m, 2 f,
 * 3 erlang, 4 self, 5 no_fail, 6 error. Imports: 0 erlang:self/0, 1 erlang:error/1. Strings: "abcd". Labels 1 (no
 * clause) and 2 (entry) stand before the body, 3 and 4 are free. Lines: 1 is m.erl:10, 2 is m.erl:20, 3 is
 * other.erl:30; line 1 stands before the function. */
#ifndef TESTS_UNIT_SUPPORT_BEAM_H
#define TESTS_UNIT_SUPPORT_BEAM_H

#include <stddef.h>
#include <stdint.h>

enum { BEAM_OUT_MAX = 1 << 15 };

struct beam_out {
	uint8_t bytes[BEAM_OUT_MAX];
	size_t n;
};

/* Compact terms of numbers below 16. */
enum { U, I, A, X, Y, F };
#define COMPACT(tag, n) (uint8_t)((n) << 4 | (tag))
#define BODY(...) (const uint8_t[]){ __VA_ARGS__ }, sizeof((uint8_t[]){ __VA_ARGS__ })

void beam_build(struct beam_out *file, const uint8_t *body, size_t n);
/* The same with labels up to, and without, that one. */
void beam_build_labels(struct beam_out *file, const uint8_t *body, size_t n, uint32_t labels);

#endif
