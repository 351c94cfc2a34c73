/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The memory of a program, read in whole pages. A page that was read answers what is asked of it later, and
 * so does the list of mappings, until the caller asks for newer bytes by memory_since: looking many things up costs few
 * system calls.
 */
#ifndef TOOLS_MEMORY_H
#define TOOLS_MEMORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "memory_file.h"

struct memory;

/* Owns: memory_close frees. Fails: -errno. No message. */
int memory_open(int pid, struct memory **out);
/* By a file that it takes over, also when it fails. Fails: -ENOMEM. */
int memory_new(struct memory_file *file, struct memory **out);
void memory_close(struct memory *memory);

/* From now on no byte is told that was read before this time (CLOCK_MONOTONIC). */
void memory_since(struct memory *memory, uint64_t time_ns);
/* A number that is another after each memory_since that forgot what was read; never 0. */
uint64_t memory_moment(const struct memory *memory);

/* Tells `take` each mapping of the process, ascending, until it answers true. Fails: -errno; what could be read was
 * told. */
int memory_each_mapping(int pid, bool (*take)(void *context, const struct memory_mapping *mapping), void *context);

/* What it reads by; the memory's own. */
const struct memory_file *memory_file(const struct memory *memory);
/* All `size` bytes. Fails: -errno; -EFAULT for addresses that cannot be read. */
int memory_read(struct memory *memory, uint64_t address, void *out, size_t size);
/*
 * The mapping that holds the address. One that came a moment ago may not be found: the list is read anew for an address
 * that it does not hold, but ten times a second at most. Fails: -ENOENT, -errno.
 */
int memory_find_mapping(struct memory *memory, uint64_t address, struct memory_mapping *out);
/* All mappings, ascending, read anew; the memory's own, good until the next call. NULL: they cannot be read. */
const struct memory_mapping *memory_mappings(struct memory *memory, size_t *n);

#endif
