/* SPDX-License-Identifier: Apache-2.0 */
/* Whether the kernel lets this process load programs: asked of the kernel, not of the tools that are tested. */
#ifndef TESTS_BPF_H
#define TESTS_BPF_H

#include <bpf/bpf.h>
#include <errno.h>
#include <linux/bpf.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* False, with a SKIP line, where the machine forbids BPF; any other error is left for the test to meet. */
static inline bool bpf_allowed(const char *test)
{
    const struct bpf_insn code[] = {{.code = BPF_ALU64 | BPF_MOV | BPF_K}, {.code = BPF_JMP | BPF_EXIT}};
    int fd = bpf_prog_load(BPF_PROG_TYPE_KPROBE, "allowed", "GPL", code, 2, NULL);

    if (fd >= 0)
        close(fd);
    if (fd >= 0 || (errno != EPERM && errno != EACCES && errno != ENOSYS))
        return true;
    printf("SKIP %s: BPF is forbidden here (%s), see erlsnoop doctor\n", test, strerror(errno));
    fflush(stdout);
    return false;
}

#endif
