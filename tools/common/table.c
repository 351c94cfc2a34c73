/* SPDX-License-Identifier: Apache-2.0 */
#include "table.h"

#include <stdint.h>
#include <string.h>
#include <sys/auxv.h>

static uint64_t seed;

__attribute__((constructor)) static void choose_seed(void)
{
    memcpy(&seed, (const void *)getauxval(AT_RANDOM), sizeof seed);
}

static uint64_t mix(uint64_t hash, uint64_t word)
{
    hash = (hash ^ word) * 0x9e3779b97f4a7c15u;
    return hash ^ hash >> 32;
}

unsigned table_hash(const void *key, size_t size)
{
    const unsigned char *at = key;
    uint64_t hash = seed ^ size, word;

    for (; size >= sizeof word; at += sizeof word, size -= sizeof word) {
        memcpy(&word, at, sizeof word);
        hash = mix(hash, word);
    }
    word = 0;
    memcpy(&word, at, size);
    return (unsigned)mix(mix(hash, word), seed);
}
