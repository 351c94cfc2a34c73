/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Source: struct bpf_attr of linux/bpf.h (link_create.uprobe_multi, kernel 6.6) and
 * perf_event_open(2); libbpf before 1.3 cannot make the first.
 * Invariant: a descriptor that is returned is all that holds the link; closing it detaches.
 */
#include "uprobe.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { REF_CTR_SHIFT = 32, RETURNS = 1 /* config bit 0, format/retprobe */, MANY_RETURNS = 1 /* BPF_F_UPROBE_MULTI_RETURN */ };

struct many_attr {
    uint32_t program, target, attach_type, link_flags;
    uint64_t path, offsets, ref_ctr_offsets, cookies;
    uint32_t count, flags, pid, pad;
};

static int create_many(const struct many_attr *many)
{
    union {
        struct many_attr many;
        char bytes[128]; /* what the kernel does not know must be zero */
    } attr;
    int fd;

    memset(&attr, 0, sizeof attr);
    attr.many = *many;
    fd = (int)syscall(SYS_bpf, BPF_LINK_CREATE, &attr, sizeof attr);
    return fd < 0 ? -errno : fd;
}

/* A link to a folder: refused for being none by a kernel that knows such links, for the type by others. */
bool uprobe_has_many(void)
{
    const struct bpf_insn code[] = {{.code = BPF_ALU64 | BPF_MOV | BPF_K}, {.code = BPF_JMP | BPF_EXIT}};
    LIBBPF_OPTS(bpf_prog_load_opts, opts, .expected_attach_type = (enum bpf_attach_type)UPROBE_ATTACH_MANY);
    unsigned long offset = 0;
    int program = bpf_prog_load(BPF_PROG_TYPE_KPROBE, "many", "GPL", code, 2, &opts), link;

    if (program < 0)
        return false;
    link = create_many(&(struct many_attr){.program = (uint32_t)program,
                                           .attach_type = UPROBE_ATTACH_MANY,
                                           .path = (uintptr_t)"/",
                                           .offsets = (uintptr_t)&offset,
                                           .count = 1});
    close(program);
    if (link >= 0)
        close(link);
    return link == -EBADF;
}

int uprobe_link_many(int program, const char *path, int pid, bool returns, const struct uprobe_place *places, size_t n)
{
    uint64_t *columns = calloc(n, 3 * sizeof *columns), *offsets = columns, *semaphores = columns + n, *cookies = columns + 2 * n;
    int link;

    if (!columns)
        return -ENOMEM;
    for (size_t i = 0; i < n; i++) {
        offsets[i] = places[i].offset;
        semaphores[i] = places[i].semaphore;
        cookies[i] = places[i].cookie;
    }
    link = create_many(&(struct many_attr){.program = (uint32_t)program,
                                           .attach_type = UPROBE_ATTACH_MANY,
                                           .path = (uintptr_t)path,
                                           .offsets = (uintptr_t)offsets,
                                           .ref_ctr_offsets = (uintptr_t)semaphores,
                                           .cookies = (uintptr_t)cookies,
                                           .count = (uint32_t)n,
                                           .flags = returns ? MANY_RETURNS : 0,
                                           .pid = pid > 0 ? (uint32_t)pid : 0});
    free(columns);
    return link;
}

static int read_uprobe_type(void)
{
    FILE *file = fopen("/sys/bus/event_source/devices/uprobe/type", "re");
    int type = -1;

    if (!file)
        return -ENOTSUP;
    if (fscanf(file, "%d", &type) != 1)
        type = -ENOTSUP;
    fclose(file);
    return type;
}

int uprobe_link_one(int program, const char *path, int pid, bool returns, const struct uprobe_place *place)
{
    LIBBPF_OPTS(bpf_link_create_opts, opts, .perf_event.bpf_cookie = place->cookie);
    int type = read_uprobe_type(), event, link;
    struct perf_event_attr attr = {.size = sizeof attr,
                                   .type = (uint32_t)type,
                                   .config = place->semaphore << REF_CTR_SHIFT | (returns ? RETURNS : 0),
                                   .uprobe_path = (uintptr_t)path,
                                   .probe_offset = place->offset};

    if (type < 0)
        return type;
    event = (int)syscall(SYS_perf_event_open, &attr, pid > 0 ? pid : -1, pid > 0 ? -1 : 0, -1,
                         PERF_FLAG_FD_CLOEXEC);
    if (event < 0)
        return -errno;
    link = bpf_link_create(program, event, BPF_PERF_EVENT, &opts);
    close(event); /* the link keeps it */
    return link;
}
