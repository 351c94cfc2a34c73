/* SPDX-License-Identifier: Apache-2.0 */
/* What the fuzz targets of a VM's memory share: a memory of ours, with words of the input written over it. */
#ifndef TESTS_FUZZ_SPOIL_H
#define TESTS_FUZZ_SPOIL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "target/memory.h"

static inline void hold(bool invariant)
{
    if (!invariant)
        abort();
}

/*
 * Of each ten bytes: where (16 bits), what (64). Small words lie within the memory, whose `size` bytes begin at
 * `base`, every other time. put: writes a word of so many bytes at an offset.
 */
static inline void spoil(const uint8_t *bytes, size_t n, uint64_t base, uint64_t size,
                         void (*put)(uint64_t offset, uint64_t word, size_t size))
{
    for (; n >= 10; bytes += 10, n -= 10) {
        uint16_t offset;
        uint64_t word;

        memcpy(&offset, bytes, 2);
        memcpy(&word, bytes + 2, 8);
        put(offset < size - 8 ? offset : size - 8, word < 2 * size && word % 2 ? base + word / 2 : word, 8);
    }
}

/* This process's own, as it is from now on. One for all runs: opening it takes thousands of times longer than reading
 * it. */
static inline struct memory *own_memory(void)
{
    static struct memory *memory;

    hold(memory || !memory_open(getpid(), &memory));
    memory_since(memory, UINT64_MAX);
    return memory;
}

#endif
