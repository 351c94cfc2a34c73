/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where the memory of a program is read: from a process that runs, or from a core file that one left. Bytes are read
 * anew each time; memory.h keeps pages of them. No process is stopped.
 */
#ifndef TOOLS_MEMORY_FILE_H
#define TOOLS_MEMORY_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "memory_map.h"

struct core_file;
struct memory_file;

/* Owns: memory_file_close frees. Fails: -errno; -EACCES. No message. */
int memory_file_open(int pid, struct memory_file **out);
/* A file whose offsets are the addresses; its descriptor is taken over, also when it fails. Fails: -ENOMEM. */
int memory_file_from_fd(int fd, struct memory_file **out);
/* A core file, which it takes over, also when it fails. Fails: -ENOMEM. */
int memory_file_from_core(struct core_file *core, struct memory_file **out);
void memory_file_close(struct memory_file *file);
/* Of a core file: tells `take` each mapping, ascending, until it answers true. Of others it knows none. */
void memory_file_each_mapping(const struct memory_file *file,
                              bool (*take)(void *context, const struct memory_mapping *mapping), void *context);

/* Whether it is of a process that has ended: its pid may be another's by now. */
bool memory_file_is_core(const struct memory_file *file);

/* All `size` bytes; false: they cannot be read. */
bool memory_file_read(const struct memory_file *file, uint64_t address, void *out, size_t size);
/* How many of the first of `size` bytes can be read. */
size_t memory_file_read_some(const struct memory_file *file, uint64_t address, void *out, size_t size);

struct memory_piece {
    uint64_t address;
    void *out;
    size_t size;
    bool read; /* set: all of it came */
};

/* Many pieces with few system calls. */
void memory_file_read_many(const struct memory_file *file, struct memory_piece *pieces, size_t n);

#endif
