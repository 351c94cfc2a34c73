/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a BPF hash map counted since the last look: key by key, the difference of two readings. The map is not changed,
 * so nothing that is counted meanwhile is lost. Of a map that nobody counts in at that moment: what it holds, and it is
 * emptied.
 */
#ifndef TOOLS_TALLY_H
#define TOOLS_TALLY_H

#include <stddef.h>
#include <stdint.h>

struct tally_row {
    const void *key;
    const uint64_t *values; /* since the last update; those from `additive` on as they stand */
};

/*
 * For a map with keys of key_size bytes and values of `words` 64-bit integers, of which the
 * first `additive` only grow. Owns: free with tally_free. NULL: out of memory, which tally_update
 * tells.
 */
struct tally *tally_new(size_t key_size, size_t words, size_t additive);
void tally_free(struct tally *tally);
/* Reads the map. Fails: -errno. */
int tally_update(struct tally *tally, int map_fd);
/* Reads a map that nobody changes meanwhile, and empties it: rows are what it held. Fails: -errno. */
int tally_take(struct tally *tally, int map_fd);
/* All rows, in no order; good until the next update. */
size_t tally_all(struct tally *tally, const struct tally_row **rows);
/* Rows whose value number `word` is not 0, the greatest first; good until the next update. */
size_t tally_rows(struct tally *tally, size_t word, const struct tally_row **rows);

#endif
