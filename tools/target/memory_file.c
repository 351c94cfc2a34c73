/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Invariant: bytes are of the process that was opened: what has its process id after it ended is not read for it.
 * Source: proc(5) for /proc/PID/mem, process_vm_readv(2).
 */
#include "memory_file.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/pidfd.h>
#include <sys/uio.h>
#include <unistd.h>

#include "core_file.h"

enum { MANY = 512 }; /* pieces a system call; the kernel takes 1,024 */

struct memory_file {
    size_t (*read)(const struct memory_file *file, uint64_t address, void *out, size_t size);
    int fd;  /* /proc/PID/mem, a pidfd, or a file; -1: a core */
    int pid; /* of the process, by the first of these; 0: none */
    struct core_file *core;
};

static int new_file(size_t (*read)(const struct memory_file *, uint64_t, void *, size_t), int fd, int pid,
                    struct memory_file **out)
{
    struct memory_file *file = malloc(sizeof *file);

    if (!file) {
        if (fd >= 0)
            close(fd);
        return -ENOMEM;
    }
    *file = (struct memory_file){.read = read, .fd = fd, .pid = pid};
    *out = file;
    return 0;
}

static size_t read_at(const struct memory_file *file, uint64_t address, void *out, size_t size)
{
    ssize_t n = address <= INT64_MAX ? pread(file->fd, out, size, (off_t)address) : 0;

    return n > 0 ? (size_t)n : 0;
}

/* ---- another user's process: its file of memory is not ours to open but with CAP_DAC_READ_SEARCH; for a system call
 * CAP_SYS_PTRACE is enough */

/* 0: it has ended. Source: proc(5), fdinfo of a pidfd. */
static int pid_of(int process)
{
    char path[64], line[128];
    int pid = 0;
    FILE *file;

    snprintf(path, sizeof path, "/proc/self/fdinfo/%d", process);
    file = fopen(path, "re");
    while (file && fgets(line, sizeof line, file) && sscanf(line, "Pid: %d", &pid) != 1)
        ;
    if (file)
        fclose(file);
    return pid > 0 ? pid : 0;
}

/* The call takes a process id, which is another's soon after the process ended: it had not when we are done. */
static ssize_t call_for(int process, uint64_t address, void *out, size_t size)
{
    struct iovec local = {out, size}, remote = {(void *)(uintptr_t)address, size};
    struct pollfd ended = {process, POLLIN, 0};
    int pid = pid_of(process);
    ssize_t n = pid ? process_vm_readv(pid, &local, 1, &remote, 1, 0) : -1;
    int err = pid ? errno : ESRCH;
    bool lived = !poll(&ended, 1, 0);

    errno = lived ? err : ESRCH;
    return lived ? n : -1;
}

static size_t read_by_call(const struct memory_file *file, uint64_t address, void *out, size_t size)
{
    ssize_t n = address <= INT64_MAX ? call_for(file->fd, address, out, size) : 0;

    return n > 0 ? (size_t)n : 0;
}

static int open_for_calls(int pid, struct memory_file **out)
{
    int process = pidfd_open(pid, 0);
    char byte;

    /* nothing is at 0, but it may be asked for */
    if (process >= 0 && call_for(process, 0, &byte, 1) < 0 && errno == EFAULT)
        return new_file(read_by_call, process, 0, out);
    if (process >= 0)
        close(process);
    return -EACCES;
}

/* ---- */

int memory_file_open(int pid, struct memory_file **out)
{
    char path[64];
    int fd;

    snprintf(path, sizeof path, "/proc/%d/mem", pid);
    fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return errno == EACCES ? open_for_calls(pid, out) : -errno;
    return new_file(read_at, fd, pid, out);
}

int memory_file_from_fd(int fd, struct memory_file **out)
{
    return new_file(read_at, fd, 0, out);
}

static size_t read_core(const struct memory_file *file, uint64_t address, void *out, size_t size)
{
    return core_file_read(file->core, address, out, size);
}

int memory_file_from_core(struct core_file *core, struct memory_file **out)
{
    int err = new_file(read_core, -1, 0, out);

    if (err)
        core_file_close(core);
    else
        (*out)->core = core;
    return err;
}

void memory_file_each_mapping(const struct memory_file *file,
                              bool (*take)(void *context, const struct memory_mapping *mapping), void *context)
{
    if (file->core)
        core_file_each_mapping(file->core, take, context);
}

bool memory_file_is_core(const struct memory_file *file)
{
    return file->core != NULL;
}

void memory_file_close(struct memory_file *file)
{
    if (!file)
        return;
    if (file->fd >= 0)
        close(file->fd);
    core_file_close(file->core);
    free(file);
}

size_t memory_file_read_some(const struct memory_file *file, uint64_t address, void *out, size_t size)
{
    return file->read(file, address, out, size);
}

bool memory_file_read(const struct memory_file *file, uint64_t address, void *out, size_t size)
{
    return memory_file_read_some(file, address, out, size) == size;
}

/* ---- many */

/* As many of the first as one call reads whole. What cannot be read ends it. */
static size_t call_for_many(const struct memory_file *file, struct memory_piece *pieces, size_t n)
{
    struct iovec local[MANY], remote[MANY];
    size_t whole = 0;
    ssize_t got;
    char byte;

    for (size_t i = 0; i < n; i++) {
        local[i] = (struct iovec){pieces[i].out, pieces[i].size};
        remote[i] = (struct iovec){(void *)(uintptr_t)pieces[i].address, pieces[i].size};
    }
    got = process_vm_readv(file->pid, local, n, remote, n, 0);
    for (; whole < n && got >= (ssize_t)pieces[whole].size; whole++)
        got -= (ssize_t)pieces[whole].size;
    /* the file is of the process that was opened, and of that alone: while it can be read, so was what came */
    return whole && read_at(file, pieces[0].address, &byte, 1) ? whole : 0;
}

void memory_file_read_many(const struct memory_file *file, struct memory_piece *pieces, size_t n)
{
    for (size_t done = 0, some; done < n; done += some) {
        some = file->pid ? call_for_many(file, pieces + done, n - done < MANY ? n - done : MANY) : 0;
        for (size_t i = done; i < done + some; i++)
            pieces[i].read = true;
        if (!some) { /* by itself, which also leaves it behind when it cannot be read */
            pieces[done].read = memory_file_read(file, pieces[done].address, pieces[done].out, pieces[done].size);
            some = 1;
        }
    }
}
