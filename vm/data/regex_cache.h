/* SPDX-License-Identifier: Apache-2.0 */
/* Compiled patterns as bytes that programs keep, send, and write into .beam files: a mark, the options, the source.
 * What they stand for is compiled when it is first wanted and kept while it is in use; what is compiled from a source
 * is kept in the same way.
 * Invariant: of equal sources and options one pattern at most is kept; a kept pattern lives as long as somebody has got
 * it. */
#ifndef VM_DATA_REGEX_CACHE_H
#define VM_DATA_REGEX_CACHE_H

#include <stdint.h>

#include "data/regex.h"

void regex_cache_init(void);
/* Units: bytes of the image of r. */
size_t regex_image_bytes(const struct regex *r);
/* `to` has room for them. */
void regex_image_put(const struct regex *r, uint8_t *to);
/* The pattern of a source, compiled. Owns: the caller, a share (regex_release). Fails: NULL, as regex_compile. */
const struct regex *regex_obtain(const void *source, size_t n, const struct regex_options *o, int *error,
                                 size_t *offset);
/* The pattern of an image, compiled. Owns: the caller, a share (regex_release). Any bytes will do. Fails: NULL when
 * they are no image. */
const struct regex *regex_acquire(const uint8_t *image, size_t n);
/* r, of one of the two. Owns: the caller, a share more. */
const struct regex *regex_share(const struct regex *r);
/* Takes: a share. */
void regex_release(const struct regex *r);

#endif
