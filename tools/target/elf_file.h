/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What we need of an ELF file: its USDT notes, its build-id, the bytes of a symbol. (Not
 * elf.h: that name is the system's.)
 * Source: gABI, and the note format of SystemTap's sys/sdt.h (UserSpaceProbeImplementation).
 */
#ifndef TOOLS_ELF_FILE_H
#define TOOLS_ELF_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>
#include <sys/types.h>

/* One probe site. Offsets are in the file, as uprobes want them; semaphore 0: none. */
struct elf_note {
    const char *name, *args;
    uint64_t offset, semaphore;
    bool wide; /* the site is a nop of five bytes, which kernels since 6.18 make a call */
};

struct elf_file {
    struct elf_note *notes; /* those of provider "erlang" */
    size_t nnotes;
    /* those of provider "erlang_batch": whoever raises a semaphore has the probe written into batches */
    struct elf_note *batches;
    size_t nbatches;
    char build_id[41]; /* hexadecimal, "" without */
    int unsafe;        /* notes that were dropped (elf_file_drop_wide) */
    int damaged;       /* notes that were skipped: they make no sense, or lead to no nop or to no semaphore */
    struct stat st; /* of the file that was opened */
    struct elf_reader *reader;
};

/*
 * Opens an x86-64 ELF file. Owns: the caller frees *out with elf_file_free.
 * Fails: -errno of the system; -ENOEXEC when it is no such file. No message.
 */
int elf_file_new(const char *path, struct elf_file **out);
void elf_file_free(struct elf_file *elf);
/* The open file, whatever its path leads to by now. Owns: still the elf's. */
int elf_file_fd(const struct elf_file *elf);

/* The note of provider erlang_batch of that name; NULL: there is none. */
const struct elf_note *elf_file_find_batch(const struct elf_file *elf, const char *name);

/* Drops the wide notes whose site `keeps` says no to. */
void elf_file_drop_wide(struct elf_file *elf, bool (*keeps)(void *ctx, uint64_t offset), void *ctx);

/* Whether a symbol table of the file, the dynamic one or the full, has that name. */
bool elf_file_has_symbol(const struct elf_file *elf, const char *name);
/* What is added to an address of the link editor in the process, 0 when it does not run this file. */
uint64_t elf_file_bias(const struct elf_file *elf, int pid);
/* Where an object of that name is in a process that runs the file with this bias; 0 when the file names none, or the
 * bias is 0. */
uint64_t elf_file_address(const struct elf_file *elf, uint64_t bias, const char *name);
/* Whether the file has the text somewhere; what follows it at `out`, a string of `size` bytes at most with its NUL. */
bool elf_file_find_text(const struct elf_file *elf, const char *text, char *out, size_t size);
/* Bytes of the data symbol, at most `size`. Fails: -ENOENT. Returns how many. */
ssize_t elf_file_read_symbol(const struct elf_file *elf, const char *name, void *buf, size_t size);

#endif
