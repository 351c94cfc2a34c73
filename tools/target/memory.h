/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The memory of a process that runs, read in whole pages. A page that was read answers what is asked of it later, and
 * so does the list of mappings, until the caller asks for newer bytes by memory_since: looking many things up costs few
 * system calls.
 */
#ifndef TOOLS_MEMORY_H
#define TOOLS_MEMORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct memory;

struct memory_mapping {
    uint64_t start, end; /* addresses: [start, end) */
    uint64_t offset, inode; /* where it begins in its file, and which that is; 0 without */
    bool executable;
    bool file;   /* of a file that has a name */
    bool shared; /* a page of it that was never written becomes one when it is read */
};

/* Owns: memory_close frees. Fails: -errno. No message. */
int memory_open(int pid, struct memory **out);
void memory_close(struct memory *memory);

/* From now on no byte is told that was read before this time (CLOCK_MONOTONIC). */
void memory_since(struct memory *memory, uint64_t time_ns);
/* A number that is another after each memory_since that forgot what was read; never 0. */
uint64_t memory_moment(const struct memory *memory);

/* Something to read a process by without keeping pages; the caller's to close. Fails: -errno. */
int memory_open_file(int pid);
void memory_close_file(int file);
/* All `size` bytes, by that, or by the descriptor of a file; false: they cannot be read. */
bool memory_read_file(int file, uint64_t address, void *out, size_t size);
/* Tells `take` each mapping of the process, ascending, until it answers true. Fails: -errno; what could be read was
 * told. */
int memory_each_mapping(int pid, bool (*take)(void *context, const struct memory_mapping *mapping), void *context);

/* The descriptor of the memory's own, for memory_read_file. */
int memory_file(const struct memory *memory);
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
