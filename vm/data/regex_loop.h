/* SPDX-License-Identifier: Apache-2.0 */
/* Recursion that consumes nothing: (?R), or a(?R)? written as (?R)?a. PCRE 8, and so OTP 25, refuses such a pattern;
 * PCRE2 compiles it, and every match with it fails. */
#ifndef VM_DATA_REGEX_LOOP_H
#define VM_DATA_REGEX_LOOP_H

#include "data/regex.h"

/* Does some call of a group stand inside that group, with nothing before it that must take a character? The pattern
 * compiles with these flags and c. *offset: the end of that call. */
bool regex_has_loop(const char *source, size_t n, uint32_t flags, pcre2_compile_context *c, size_t *offset);

#endif
