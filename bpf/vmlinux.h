/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The kernel's types that our programs use, kept by hand so that building needs no BTF.
 * Invariant: a structure of the kernel is marked preserve_access_index and lists only the
 * fields we read; pt_regs of x86-64 is interface, and complete.
 */
#ifndef BPF_VMLINUX_H
#define BPF_VMLINUX_H

typedef signed char __s8;
typedef unsigned char __u8;
typedef short __s16;
typedef unsigned short __u16;
typedef int __s32;
typedef unsigned int __u32;
typedef long long __s64;
typedef unsigned long long __u64;
typedef __u32 uint32_t;
typedef __u64 uint64_t;
typedef __u16 __be16;
typedef __u32 __be32;
typedef __u32 __wsum;
typedef _Bool bool;

enum { false = 0, true = 1 };

enum bpf_map_type {
    BPF_MAP_TYPE_HASH = 1,
    BPF_MAP_TYPE_ARRAY = 2,
    BPF_MAP_TYPE_PROG_ARRAY = 3,
    BPF_MAP_TYPE_PERCPU_HASH = 5,
    BPF_MAP_TYPE_PERCPU_ARRAY = 6,
    BPF_MAP_TYPE_LRU_HASH = 9,
    BPF_MAP_TYPE_RINGBUF = 27,
    BPF_MAP_TYPE_TASK_STORAGE = 29,
};

enum { BPF_F_NO_PREALLOC = 1, BPF_F_MMAPABLE = 1 << 10 };

enum { BPF_LOCAL_STORAGE_GET_F_CREATE = 1 };

enum { BPF_RB_NO_WAKEUP = 1, BPF_RB_FORCE_WAKEUP = 2, BPF_RB_AVAIL_DATA = 0 };

enum { BPF_ANY = 0, BPF_NOEXIST = 1, BPF_EXIST = 2 };

struct thread_struct {
    unsigned long fsbase;
} __attribute__((preserve_access_index));

struct sched_entity {
    __u64 sum_exec_runtime;
} __attribute__((preserve_access_index));

struct sched_info {
    unsigned long long run_delay;
} __attribute__((preserve_access_index));

struct task_struct {
    struct thread_struct thread;
    struct sched_entity se;
    struct sched_info sched_info;
    unsigned long nvcsw;
} __attribute__((preserve_access_index));

struct bpf_pidns_info {
    __u32 pid;
    __u32 tgid;
};

struct pt_regs {
    unsigned long r15, r14, r13, r12, bp, bx, r11, r10, r9, r8;
    unsigned long ax, cx, dx, si, di, orig_ax, ip, cs, flags, sp, ss;
};

/* The context of SEC("perf_event"). */
struct bpf_perf_event_data {
    struct pt_regs regs;
    __u64 sample_period, addr;
};

#endif
