/* SPDX-License-Identifier: Apache-2.0 */
/* Invariant: a need is tried when it is asked for, and never guessed from a version. */
#include "kernel.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <stdint.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "common/fail.h"

const struct kernel_need_row kernel_needs[KERNEL_NNEEDS] = {
#define NEED(need, name, since, who, probe) {name, since, who},
#include "kernel_needs.def"
};

/* Whether maps may be made at all: without that right no answer means anything. */
static bool may_ask(void)
{
    int map = bpf_map_create(BPF_MAP_TYPE_ARRAY, "ask", sizeof(uint32_t), sizeof(uint32_t), 1, NULL);

    if (map >= 0)
        close(map);
    return map >= 0;
}

bool kernel_has(enum kernel_need need)
{
    if (!may_ask())
        return true;
    switch (need) {
#define NEED(need, name, since, who, probe)                                                        \
    case KERNEL_##need: return (probe) != 0;
#include "kernel_needs.def"
    default: return false;
    }
}

bool kernel_has_late_maps(void)
{
    LIBBPF_OPTS(bpf_map_create_opts, opts, .map_flags = BPF_F_NO_PREALLOC);
    int map = bpf_map_create(BPF_MAP_TYPE_HASH, "late", sizeof(uint32_t), sizeof(uint32_t), 1, &opts), program;
    const struct bpf_insn code[] = {
        {.code = BPF_LD | BPF_DW | BPF_IMM, .dst_reg = BPF_REG_1, .src_reg = BPF_PSEUDO_MAP_FD, .imm = map},
        {0}, /* the other half of that instruction */
        {.code = BPF_ALU64 | BPF_MOV | BPF_K},
        {.code = BPF_JMP | BPF_EXIT},
    };

    if (map < 0)
        return true;
    program = bpf_prog_load(BPF_PROG_TYPE_PERF_EVENT, "late", "GPL", code, sizeof code / sizeof *code, NULL);
    close(map);
    if (program >= 0)
        close(program);
    return program != -EINVAL;
}

bool kernel_has_sysfs(void)
{
    return !access("/sys/kernel", F_OK);
}

int kernel_require(unsigned more)
{
    unsigned wanted = 1u << KERNEL_RING_BUFFER | 1u << KERNEL_COOKIE | more;
    struct utsname name;

    if (!kernel_has_sysfs())
        return fail(-ENOENT, "%s", KERNEL_NO_SYSFS);
    uname(&name);
    for (int i = 0; i < KERNEL_NNEEDS; i++)
        if (wanted >> i & 1 && !kernel_has((enum kernel_need)i))
            return fail(-ENOTSUP, "this kernel (%s) has no %s: Linux %s or later is needed for %s", name.release,
                        kernel_needs[i].name, kernel_needs[i].since, kernel_needs[i].who);
    return 0;
}
