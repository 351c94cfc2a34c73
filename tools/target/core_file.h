/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The memory that a program left in a core file, as the kernel or gcore writes them. What the kernel leaves out of it,
 * as the code of the executable, is taken from the executable, when that is of the same build.
 * Source: gABI (ELF, PT_LOAD, PT_NOTE); core(5); the note NT_FILE of fs/binfmt_elf.c; the x86-64 psABI (AT_ENTRY).
 */
#ifndef TOOLS_CORE_FILE_H
#define TOOLS_CORE_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "memory_map.h"

struct core_file;

/*
 * Owns: core_file_close frees. Fails: -errno of the system; -ENOEXEC: it is no x86-64 core file, or a damaged one.
 * No message.
 */
int core_file_open(const char *path, struct core_file **out);
/* The same by a descriptor, which it takes over, also when it fails. */
int core_file_from_fd(int fd, struct core_file **out);
void core_file_close(struct core_file *core);

/* The process that it was of. */
int core_file_pid(const struct core_file *core);
/* The executable's path, as the process knew it; untrusted; NULL: the core does not tell. */
const char *core_file_executable(const struct core_file *core);
/*
 * From now on what the core leaves out of the executable's mappings is read from this file; *bias: what is added to an
 * address of its link editor. The descriptor is duplicated. Fails: -ESTALE: the core is of another build; -ENOEXEC;
 * -ENOENT: the core does not tell of an executable.
 */
int core_file_use(struct core_file *core, int executable, uint64_t *bias);

/* How many of the first of `size` bytes it has. */
size_t core_file_read(const struct core_file *core, uint64_t address, void *out, size_t size);
/* Tells `take` each mapping, ascending, until it answers true. */
void core_file_each_mapping(const struct core_file *core,
                            bool (*take)(void *context, const struct memory_mapping *mapping), void *context);

#endif
