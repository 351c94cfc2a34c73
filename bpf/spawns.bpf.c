/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Births and deaths of Erlang processes: totals, by MFA and by reason, and lifetimes.
 * Invariant: each birth and death whose pid can be read is in `totals`, whatever else fails.
 */
#include "erlpid.bpf.h"
#include "hist.bpf.h"
#include "name.bpf.h"
#include "spawns.h"

const volatile bool spawns_events = false;

struct {
    __uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
    __uint(max_entries, SPAWNS_NTOTALS);
    __type(key, __u32);
    __type(value, __u64);
} totals SEC(".maps");

struct {
    __uint(type, BPF_MAP_TYPE_HASH);
    __uint(max_entries, 8192);
    __type(key, struct wire_name_key);
    __type(value, struct spawns_count);
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

static __noinline __u64 *add_name(const struct wire_name_key *key, const struct name_text *name)
{
    struct spawns_count value = {0}, *made;

    if (!key || !name)
        return 0;
    name_copy(&value.name, name);
    made = probe_upsert(&counts, key, &value);
    return made ? &made->count : 0;
}

static __always_inline void count_name(__u32 vm, __u32 kind, const struct name_text *name)
{
    struct wire_name_key key = {vm, kind, name_hash(name)};
    struct spawns_count *value = bpf_map_lookup_elem(&counts, &key);
    __u64 *count = value ? &value->count : add_name(&key, name);

    if (count)
        __sync_fetch_and_add(count, 1);
}

/* lifetime_ns 0: not known. */
static __noinline void send_record(const struct wire_proc *proc, const struct name_text *name, __u32 kind,
                                   __u64 now, __u64 lifetime_ns)
{
    struct spawns_record *rec;

    if (!proc || !name)
        return;
    rec = probe_record(kind, proc->vm, now, sizeof *rec);
    if (!rec)
        return;
    rec->pid = proc->pid;
    rec->lived = lifetime_ns != 0;
    rec->lifetime_ns = lifetime_ns;
    name_copy(&rec->name, name);
    bpf_ringbuf_submit(rec, 0);
}

static __always_inline __u64 count_lifetime(const struct wire_proc *proc, __u64 now)
{
    __u64 *born = bpf_map_lookup_elem(&births, proc), lifetime_ns;
    __u32 zero = 0;
    struct wire_hist *hist = bpf_map_lookup_elem(&lifetimes, &zero);

    if (!born) {
        count_total(SPAWNS_TOTAL_STRANGERS);
        return 0;
    }
    lifetime_ns = now > *born ? now - *born : 1;
    bpf_map_delete_elem(&births, proc);
    if (hist)
        hist_add(hist, lifetime_ns);
    return lifetime_ns;
}

SEC("uprobe")
int on_process__spawn(struct pt_regs *ctx)
{
    struct wire_proc proc = {.vm = probe_vm()};
    __u64 now = bpf_ktime_get_ns();
    struct name_text mfa;

    if (erlpid_arg(ctx, PROBE_ID_process__spawn, process__spawn_pid, &proc.pid))
        return 0;
    count_total(SPAWNS_TOTAL_BIRTHS);
    if (bpf_map_update_elem(&births, &proc, &now, BPF_ANY))
        probe_lose(LOSS_MAP_FULL);
    name_arg(ctx, PROBE_ID_process__spawn, process__spawn_mfa, &mfa);
    count_name(proc.vm, SPAWNS_BIRTH, &mfa);
    if (spawns_events)
        send_record(&proc, &mfa, SPAWNS_BIRTH, now, 0);
    return 0;
}

SEC("uprobe")
int on_process__exit(struct pt_regs *ctx)
{
    struct wire_proc proc = {.vm = probe_vm()};
    __u64 now = bpf_ktime_get_ns(), lifetime_ns;
    struct name_text reason;

    if (erlpid_arg(ctx, PROBE_ID_process__exit, process__exit_pid, &proc.pid))
        return 0;
    count_total(SPAWNS_TOTAL_DEATHS);
    lifetime_ns = count_lifetime(&proc, now);
    name_arg(ctx, PROBE_ID_process__exit, process__exit_reason, &reason);
    count_name(proc.vm, SPAWNS_DEATH, &reason);
    if (spawns_events)
        send_record(&proc, &reason, SPAWNS_DEATH, now, lifetime_ns);
    return 0;
}

char LICENSE[] SEC("license") = "Dual BSD/GPL";
