/* SPDX-License-Identifier: Apache-2.0 */
/* Any bytes as a file with USDT notes. Invariant: what is told of a note lies in the file. For libFuzzer. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "target/elf_file.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n);

static void hold(bool invariant)
{
    if (!invariant)
        abort();
}

static void look_at_notes(const struct elf_note *notes, size_t count, size_t size)
{
    for (size_t i = 0; i < count; i++)
        hold(notes[i].offset < size && notes[i].semaphore < size && strlen(notes[i].name) < size &&
             strlen(notes[i].args) < size);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
    int fd = memfd_create("file", MFD_CLOEXEC);
    struct elf_file *elf;
    char path[64], text[64];

    hold(fd >= 0 && write(fd, bytes, n) == (ssize_t)n);
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    if (!elf_file_new(path, &elf)) {
        look_at_notes(elf->notes, elf->nnotes, n);
        look_at_notes(elf->batches, elf->nbatches, n);
        hold(strlen(elf->build_id) < sizeof elf->build_id);
        hold(elf_file_read_symbol(elf, "noted", text, sizeof text) <= (ssize_t)sizeof text);
        elf_file_address(elf, elf_file_bias(elf, getpid()), "noted");
        elf_file_free(elf);
    }
    close(fd);
    return 0;
}
