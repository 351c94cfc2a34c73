/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What every program shares: the arguments of the probe it runs for, who fired it, losses,
 * and the ring buffer. A program is an entry point named on_<probe> for a USDT probe of
 * probes.def; the session attaches it by that name.
 *
 * Invariant: whatever could not be counted is counted in `losses`. Programs can be preempted
 * on one CPU, so shared counters are changed by atomic additions only, per-CPU ones too.
 */
#ifndef BPF_PROBE_BPF_H
#define BPF_PROBE_BPF_H

#include "vmlinux.h"
#include <bpf/bpf_helpers.h>
#include "family.bpf.h"
#include "fixes.bpf.h"
#include "wire.h"

/* message__send_words and so on: the index of each argument. */
enum probe_arg_index {
#define ARG(probe, index, arg, type, unit) probe##_##arg = index,
#include "../vm/probes.def"
};

/* PROBE_ID_message__send and so on: the rows of probes.def, in order. */
enum probe_id {
#define PROBE(probe, family, nargs, watch, text) PROBE_ID_##probe,
#include "../vm/probes.def"
    PROBE_NIDS
};

SHARED const volatile struct wire_config probe_config SEC(".rodata.session");
/*
 * Set by the session once all probes are attached and cleared before they detach: what some of them count meanwhile
 * would not agree.
 */
SHARED volatile __u32 probe_runs SEC(".data.session");

/*
 * Where the arguments stand when all sites of a probe agree and are known before the load: the
 * verifier then leaves of each fetch the one instruction that it needs. Zero: look at "specs".
 */
SHARED const volatile struct wire_spec probe_fixed[PROBE_NIDS] SEC(".rodata.sites");

SHARED struct {
    __uint(type, BPF_MAP_TYPE_ARRAY);
    __uint(max_entries, WIRE_MAX_SPECS);
    __type(key, __u32);
    __type(value, struct wire_spec);
} specs SEC(".maps");

SHARED struct {
    __uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
    __uint(max_entries, WIRE_NLOSSES);
    __type(key, __u32);
    __type(value, __u64);
} losses SEC(".maps");

SHARED struct {
    __uint(type, BPF_MAP_TYPE_RINGBUF);
    __uint(max_entries, 4 << 20);
} records SEC(".maps");

static __always_inline void probe_lose(__u32 why)
{
    __u64 *count = bpf_map_lookup_elem(&losses, &why);

    if (count)
        __sync_fetch_and_add(count, 1);
}

/*
 * The process that runs us, as a pid of erlsnoop's namespace; 0 when it is in another pid namespace: it has no such pid
 * that we could know.
 */
static __always_inline __u32 probe_tgid(void)
{
    struct bpf_pidns_info ns;

    if (!probe_config.pidns_ino)
        return bpf_get_current_pid_tgid() >> 32;
    if (bpf_get_ns_current_pid_tgid(probe_config.pidns_dev, probe_config.pidns_ino, &ns, sizeof ns))
        return 0;
    return ns.tgid;
}

/*
 * Whether the process that runs us is this VM; none is 0. Every program asks: the kernel's filter by process lets
 * others through at returns (before 6.12), and in links that are for any process. Of a process in another pid namespace
 * the kernel's filter is believed.
 */
static __always_inline bool probe_is(__u32 vm)
{
    __u32 tgid = probe_tgid();

    return tgid ? tgid == vm : vm != 0;
}

/* The VM that runs us, as a pid of erlsnoop's namespace; 0: it is not the one that is watched, or not visible there. */
static __always_inline __u32 probe_vm(void)
{
    if (!probe_config.vm)
        return probe_tgid();
    return probe_is(probe_config.vm) ? probe_config.vm : 0;
}

static __always_inline const struct wire_spec *probe_spec(struct pt_regs *ctx)
{
    __u32 key = bpf_get_attach_cookie(ctx);
    const struct wire_spec *spec = bpf_map_lookup_elem(&specs, &key);

    if (!spec)
        probe_lose(LOSS_BAD_ARG);
    return spec;
}

static __always_inline __u64 probe_read_reg(struct pt_regs *ctx, __u32 reg)
{
    switch (reg) {
#define PROBE_REG(number, name)                                                                    \
    case number:                                                                                   \
        return FIXES_CTX_LOAD(ctx, name);
        WIRE_REGS(PROBE_REG)
    }
    return 0;
}

static __noinline __u64 probe_reg(struct pt_regs *ctx, __u32 reg)
{
    return probe_read_reg(ctx, reg);
}

static __always_inline __u64 probe_extend(__u64 v, __u32 shift, __u32 is_signed)
{
    v <<= shift & 63;
    return is_signed ? (__u64)((__s64)v >> (shift & 63)) : v >> (shift & 63);
}

/* Argument `index`, sign- or zero-extended. Fails: counts the loss and returns nonzero. */
static __noinline int probe_arg_of(struct pt_regs *ctx, const struct wire_spec *spec, __u32 index,
                                   __u64 *value)
{
    const struct wire_arg *arg;
    __u64 v;

    if (!spec || index >= BATCH_MAX_ARGS)
        return -1;
    arg = &spec->args[index];
    v = arg->offset;
    if (arg->kind == WIRE_ARG_REG) {
        v = probe_reg(ctx, arg->reg);
    } else if (arg->kind == WIRE_ARG_MEM) {
        v += probe_reg(ctx, arg->reg);
        if (arg->index != WIRE_NO_REG)
            v += probe_reg(ctx, arg->index) * arg->scale;
        if (bpf_probe_read_user(&v, sizeof v, (void *)v)) {
            probe_lose(LOSS_BAD_ARG);
            return -1;
        }
    } else if (arg->kind != WIRE_ARG_CONST) {
        probe_lose(LOSS_BAD_ARG);
        return -1;
    }
    *value = probe_extend(v, arg->shift, arg->is_signed);
    return 0;
}

/* The same for the probe `id` (a constant, as is `index`) that the program stands on. */
static __always_inline int probe_arg(struct pt_regs *ctx, enum probe_id id, __u32 index, __u64 *value)
{
    const volatile struct wire_arg *fixed = &probe_fixed[id].args[index];

    if (fixed->kind != WIRE_ARG_REG)
        return probe_arg_of(ctx, probe_spec(ctx), index, value);
    *value = probe_extend(probe_read_reg(ctx, fixed->reg), fixed->shift, fixed->is_signed);
    return 0;
}

/* Room for a record of the ring buffer, its header filled; NULL (counted) when full. */
static __always_inline void *probe_record(__u32 kind, __u32 vm, __u64 time_ns, __u64 size)
{
    struct wire_header *header = bpf_ringbuf_reserve(&records, size, 0);

    if (!header) {
        probe_lose(LOSS_RING_FULL);
        return 0;
    }
    header->time_ns = time_ns;
    header->vm = vm;
    header->kind = kind;
    return header;
}

/* The value of a key, made as `zero` when it is new; NULL (counted) when the map is full. */
static __always_inline void *probe_upsert(void *map, const void *key, const void *zero)
{
    void *value = bpf_map_lookup_elem(map, key);

    if (value)
        return value;
    bpf_map_update_elem(map, key, zero, BPF_NOEXIST);
    value = bpf_map_lookup_elem(map, key);
    if (!value)
        probe_lose(LOSS_MAP_FULL);
    return value;
}

#endif
