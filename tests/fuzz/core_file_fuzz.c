/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Any bytes as a core file. Invariant: mappings ascend and do not overlap; what is read is as much as is said; nothing
 * is read where nothing is mapped. For libFuzzer.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "target/core_file.h"

enum { READ = 512 };

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n);

struct seen {
    const struct core_file *core;
    uint64_t last;
    unsigned mappings;
};

static void hold(bool invariant)
{
    if (!invariant)
        abort();
}

static void read_at(const struct core_file *core, uint64_t address)
{
    unsigned char out[READ + 1];

    memset(out, 0xa5, sizeof out);
    hold(core_file_read(core, address, out, READ) <= READ);
    hold(out[READ] == 0xa5);
}

static bool look(void *context, const struct memory_mapping *one)
{
    struct seen *seen = context;

    hold(one->start < one->end && one->start >= seen->last);
    seen->last = one->end;
    read_at(seen->core, one->start);
    read_at(seen->core, one->end - 1);
    read_at(seen->core, one->end - READ / 2);
    read_at(seen->core, one->start - READ / 2);
    return ++seen->mappings == 64;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
    int fd = memfd_create("core", MFD_CLOEXEC), executable = memfd_create("executable", MFD_CLOEXEC);
    struct core_file *core;
    const char *path;
    uint64_t bias;

    hold(fd >= 0 && executable >= 0 && write(fd, bytes, n) == (ssize_t)n && write(executable, bytes, n) == (ssize_t)n);
    if (!core_file_from_fd(fd, &core)) {
        struct seen seen = {.core = core};

        path = core_file_executable(core);
        hold(!path || strlen(path) < n);
        core_file_each_mapping(core, look, &seen);
        core_file_use(core, executable, &bias);
        seen = (struct seen){.core = core};
        core_file_each_mapping(core, look, &seen);
        read_at(core, 0);
        read_at(core, UINT64_MAX - 3);
        core_file_close(core);
    }
    close(executable);
    return 0;
}
