/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Births and deaths of Erlang processes: totals, by MFA and by reason, and lifetimes.
 * Invariant: each birth and death whose pid can be read is in `totals`, whatever else fails.
 */
#include "erlpid.bpf.h"
#include "hist.bpf.h"
#include "spawns.h"

const volatile bool spawns_events = false;

struct {
    __uint(type, BPF_MAP_TYPE_ARRAY);
    __uint(max_entries, SPAWNS_NTOTALS);
    __type(key, __u32);
    __type(value, __u64);
} totals SEC(".maps");

struct {
    __uint(type, BPF_MAP_TYPE_HASH);
    __uint(max_entries, 8192);
    __type(key, struct spawns_key);
    __type(value, __u64);
} counts SEC(".maps");

/* As many as OTP's default limit of processes. Allocated before: half the cost of an insertion. */
struct {
    __uint(type, BPF_MAP_TYPE_HASH);
    __uint(max_entries, 262144);
    __type(key, struct wire_proc);
    __type(value, __u64);
} births SEC(".maps");

struct {
    __uint(type, BPF_MAP_TYPE_ARRAY);
    __uint(max_entries, 1);
    __type(key, __u32);
    __type(value, struct wire_hist);
} lifetimes SEC(".maps");

static __always_inline void count_total(__u32 which)
{
    __u64 *total = bpf_map_lookup_elem(&totals, &which);

    if (total)
        __sync_fetch_and_add(total, 1);
}

static __always_inline void count_name(const struct spawns_key *key)
{
    __u64 zero = 0, *count = probe_upsert(&counts, key, &zero);

    if (count)
        __sync_fetch_and_add(count, 1);
}

static __always_inline void send_record(const struct spawns_key *key, const struct wire_pid *pid,
                                        __u64 now, bool lived, __u64 lifetime_ns)
{
    struct spawns_record *rec;

    if (!spawns_events)
        return;
    rec = probe_record(key->kind, key->vm, now, sizeof *rec);
    if (!rec)
        return;
    rec->pid = *pid;
    rec->lived = lived;
    rec->lifetime_ns = lifetime_ns;
    rec->name = key->name;
    bpf_ringbuf_submit(rec, 0);
}

/* `proc` was born with the MFA, or died with the reason, in key->name. */
static __always_inline void handle_birth(const struct wire_proc *proc, const struct spawns_key *key)
{
    __u64 now = bpf_ktime_get_ns();

    count_total(SPAWNS_TOTAL_BIRTHS);
    count_name(key);
    if (bpf_map_update_elem(&births, proc, &now, BPF_ANY))
        probe_lose(LOSS_MAP_FULL);
    send_record(key, &proc->pid, now, false, 0);
}

static __always_inline void handle_death(const struct wire_proc *proc, const struct spawns_key *key)
{
    __u64 now = bpf_ktime_get_ns(), lifetime_ns = 0, *born;
    __u32 zero = 0;
    struct wire_hist *hist = bpf_map_lookup_elem(&lifetimes, &zero);

    count_total(SPAWNS_TOTAL_DEATHS);
    count_name(key);
    born = bpf_map_lookup_elem(&births, proc);
    if (born) {
        lifetime_ns = now - *born;
        bpf_map_delete_elem(&births, proc);
        if (hist)
            hist_add(hist, lifetime_ns);
    } else {
        count_total(SPAWNS_TOTAL_STRANGERS);
    }
    send_record(key, &proc->pid, now, born != 0, lifetime_ns);
}

SEC("uprobe")
int on_process__spawn(struct pt_regs *ctx)
{
    const struct wire_spec *spec = probe_spec(ctx);
    struct wire_proc proc = {.vm = probe_vm()};
    struct spawns_key key = {.vm = proc.vm, .kind = SPAWNS_BIRTH};

    if (erlpid_arg(ctx, spec, process__spawn_pid, &proc.pid))
        return 0;
    probe_name(ctx, spec, process__spawn_mfa, &key.name);
    handle_birth(&proc, &key);
    return 0;
}

SEC("uprobe")
int on_process__exit(struct pt_regs *ctx)
{
    const struct wire_spec *spec = probe_spec(ctx);
    struct wire_proc proc = {.vm = probe_vm()};
    struct spawns_key key = {.vm = proc.vm, .kind = SPAWNS_DEATH};

    if (erlpid_arg(ctx, spec, process__exit_pid, &proc.pid))
        return 0;
    probe_name(ctx, spec, process__exit_reason, &key.name);
    handle_death(&proc, &key);
    return 0;
}

char LICENSE[] SEC("license") = "Dual BSD/GPL";
