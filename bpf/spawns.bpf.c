/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Births and deaths of Erlang processes: totals, by MFA and by reason, and lifetimes. They are counted in one of two sides,
 * while user space reads the other and empties it.
 * Invariants: each birth and death whose pid can be read is in `totals`, whatever else fails; a program counts all that it
 * counts in one side.
 */
#include "erlpid.bpf.h"
#include "hist.bpf.h"
#include "otp_call.bpf.h"
#include "reason.bpf.h"
#include "spawns.h"

const volatile bool spawns_events = false;

volatile __u32 spawns_side; /* where programs that begin now count: 0 or 1 */

/* Of side 0, then of side 1. */
struct {
    __uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
    __uint(max_entries, SPAWNS_SIDES * SPAWNS_NTOTALS);
    __type(key, __u32);
    __type(value, __u64);
} totals SEC(".maps");

struct names {
    __uint(type, BPF_MAP_TYPE_HASH);
    __uint(max_entries, 8192);
    __type(key, struct wire_name_key);
    __type(value, struct spawns_count);
} counts_0 SEC(".maps"), counts_1 SEC(".maps");

enum { NBIRTHS = 262144 }; /* a power of two; OTP's default limit of processes */

struct birth {
    __u64 born_ns; /* 0: free */
    struct wire_proc proc;
};

/*
 * By the process's id, so that processes born one after the other stand side by side: half the
 * cost of a hash, whose every access misses the cache. One whose place is taken goes to the hash.
 */
struct {
    __uint(type, BPF_MAP_TYPE_ARRAY);
    __uint(max_entries, NBIRTHS);
    __type(key, __u32);
    __type(value, struct birth);
} births SEC(".maps");

struct {
    __uint(type, BPF_MAP_TYPE_HASH);
    __uint(max_entries, NBIRTHS);
    __uint(map_flags, BPF_F_NO_PREALLOC);
    __type(key, struct wire_proc);
    __type(value, __u64);
} more_births SEC(".maps");

/* By side. */
struct {
    __uint(type, BPF_MAP_TYPE_ARRAY);
    __uint(max_entries, SPAWNS_SIDES);
    __type(key, __u32);
    __type(value, struct wire_hist);
} lifetimes SEC(".maps");

static __always_inline void count_total(__u32 side, __u32 which)
{
    __u32 slot = side * SPAWNS_NTOTALS + which;
    __u64 *total = bpf_map_lookup_elem(&totals, &slot);

    if (total)
        __sync_fetch_and_add(total, 1);
}

static __always_inline __u64 *add_name(void *counts, const struct wire_name_key *key, const struct name_text *name)
{
    struct spawns_count value = {0}, *made;

    name_copy(&value.name, name);
    name_announce(key->vm, name);
    made = probe_upsert(counts, key, &value);
    return made ? &made->count : 0;
}

static __always_inline void count_name_in(void *counts, __u32 vm, __u32 kind, const struct name_text *name)
{
    struct wire_name_key key = {vm, kind, name_hash(name)};
    struct spawns_count *value = bpf_map_lookup_elem(counts, &key);
    __u64 *count = value ? &value->count : add_name(counts, &key, name);

    if (count)
        __sync_fetch_and_add(count, 1);
}

static __noinline void count_name(__u32 side, __u32 vm, __u32 kind, const struct name_text *name)
{
    if (!name)
        return;
    if (side)
        count_name_in(&counts_1, vm, kind, name);
    else
        count_name_in(&counts_0, vm, kind, name);
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

static __always_inline struct birth *find_place(const struct wire_proc *proc)
{
    __u32 place = (proc->pid.id + proc->vm * 0x9e3779b1u) & (NBIRTHS - 1); /* VMs apart */

    return bpf_map_lookup_elem(&births, &place);
}

static __always_inline bool same_process(const struct wire_proc *a, const struct wire_proc *b)
{
    return a->pid.id == b->pid.id && a->pid.serial == b->pid.serial && a->pid.node == b->pid.node && a->vm == b->vm;
}

static __always_inline void keep_birth(const struct wire_proc *proc, __u64 now)
{
    struct birth *place = find_place(proc);

    if (place && !place->born_ns && !__sync_val_compare_and_swap(&place->born_ns, 0, now))
        place->proc = *proc;
    else if (bpf_map_update_elem(&more_births, proc, &now, BPF_ANY))
        probe_lose(LOSS_MAP_FULL);
}

/* When it was born, 0 when that was not seen; forgets it. */
static __always_inline __u64 take_birth(const struct wire_proc *proc)
{
    struct birth *place = find_place(proc);
    __u64 born_ns, *more;

    if (place && place->born_ns && same_process(&place->proc, proc)) {
        born_ns = place->born_ns;
        place->born_ns = 0;
        return born_ns;
    }
    more = bpf_map_lookup_elem(&more_births, proc);
    if (!more)
        return 0;
    born_ns = *more;
    bpf_map_delete_elem(&more_births, proc);
    return born_ns;
}

/* 0: not known. */
static __always_inline __u64 count_lifetime(__u32 side, const struct wire_proc *proc, __u64 now)
{
    __u64 born_ns = take_birth(proc), lifetime_ns;
    struct wire_hist *hist = bpf_map_lookup_elem(&lifetimes, &side);

    if (!born_ns) {
        count_total(side, SPAWNS_TOTAL_STRANGERS);
        return 0;
    }
    lifetime_ns = now > born_ns ? now - born_ns : 1;
    if (hist)
        hist_add(hist, lifetime_ns);
    return lifetime_ns;
}

static __always_inline void handle_birth(const struct wire_proc *proc, __u64 now, const struct name_text *mfa)
{
    __u32 side = spawns_side & 1;

    count_total(side, SPAWNS_TOTAL_BIRTHS);
    keep_birth(proc, now);
    count_name(side, proc->vm, SPAWNS_BIRTH, mfa);
    if (spawns_events)
        send_record(proc, mfa, SPAWNS_BIRTH, now, 0);
}

/* `told`: the reason as it is told of this one death. */
static __always_inline void handle_death(const struct wire_proc *proc, __u64 now, const struct name_text *reason, const struct name_text *told)
{
    __u32 side = spawns_side & 1;
    __u64 lifetime_ns;

    count_total(side, SPAWNS_TOTAL_DEATHS);
    lifetime_ns = count_lifetime(side, proc, now);
    count_name(side, proc->vm, SPAWNS_DEATH, reason);
    if (spawns_events)
        send_record(proc, told, SPAWNS_DEATH, now, lifetime_ns);
}

SEC("uprobe")
int on_process__spawn(struct pt_regs *ctx)
{
    struct wire_proc proc = {.vm = probe_vm()};
    __u64 now = bpf_ktime_get_ns();
    struct name_text mfa;

    if (probe_stopped)
        return 0;
    if (erlpid_arg(ctx, PROBE_ID_process__spawn, process__spawn_pid, &proc.pid))
        return 0;
    name_arg(ctx, PROBE_ID_process__spawn, process__spawn_mfa, &mfa);
    handle_birth(&proc, now, &mfa);
    return 0;
}

SEC("uprobe")
int on_process__exit(struct pt_regs *ctx)
{
    struct wire_proc proc = {.vm = probe_vm()};
    __u64 now = bpf_ktime_get_ns();
    struct name_text text, reason;

    if (probe_stopped)
        return 0;
    if (erlpid_arg(ctx, PROBE_ID_process__exit, process__exit_pid, &proc.pid))
        return 0;
    name_arg(ctx, PROBE_ID_process__exit, process__exit_reason, &text);
    reason_of_text(&text, &reason);
    handle_death(&proc, now, &reason, &text);
    return 0;
}

/* ---- stock emulators */

/* The spawns that threads are in the middle of, by pid and tgid. */
struct {
    __uint(type, BPF_MAP_TYPE_HASH);
    __uint(max_entries, 4096);
    __type(key, __u64);
    __type(value, struct otp_call);
} spawning SEC(".maps");

/* erl_create_process(parent, module, function, arguments, options) */
SEC("uprobe")
int at_process__spawn(struct pt_regs *ctx)
{
    struct otp_call call = {FIXES_CTX_LOAD(ctx, si), FIXES_CTX_LOAD(ctx, dx), 0};
    __u64 thread = bpf_get_current_pid_tgid();
    const struct otp_layout *layout = otp_layout_of(ctx);

    if (probe_stopped || !layout)
        return 0;
    otp_call_translate(layout, &call, FIXES_CTX_LOAD(ctx, cx));
    if (bpf_map_update_elem(&spawning, &thread, &call, BPF_ANY))
        probe_lose(LOSS_MAP_FULL);
    return 0;
}

/* Returns a pid, or 0 when the process could not be made. */
SEC("uprobe")
int ret_process__spawn(struct pt_regs *ctx)
{
    __u64 term = FIXES_CTX_LOAD(ctx, ax), thread = bpf_get_current_pid_tgid(), now = bpf_ktime_get_ns();
    struct otp_call call = {WIRE_NO_ATOM << 6, WIRE_NO_ATOM << 6, OTP_MAX_ARITY}, *kept;
    const struct otp_layout *layout = otp_layout_of(ctx);
    struct wire_proc proc;
    struct name_text mfa;

    kept = bpf_map_lookup_elem(&spawning, &thread);
    if (kept) {
        call = *kept;
        bpf_map_delete_elem(&spawning, &thread);
    }
    if (probe_stopped || !term || !layout)
        return 0;
    proc.vm = layout->vm;
    if (otp_decode_pid(layout, term, &proc.pid))
        return 0;
    otp_name_mfa(&mfa, call.module, call.function, call.arity);
    handle_birth(&proc, now, &mfa);
    return 0;
}

/* erts_continue_exit_process(process), which comes again for a process that has much to clean up. */
SEC("uprobe")
int at_process__exit(struct pt_regs *ctx)
{
    __u64 process = FIXES_CTX_LOAD(ctx, di), now = bpf_ktime_get_ns(), begun, term;
    const struct otp_layout *layout = otp_layout_of(ctx);
    struct name_text reason;
    struct wire_proc proc;

    if (probe_stopped || !layout)
        return 0;
    proc.vm = layout->vm;
    if (otp_read(layout, process, OTP_PROC_TERMINATE, &begun, sizeof begun) || begun ||
        otp_read_pid(layout, process, &proc.pid) ||
        otp_read(layout, process, OTP_PROC_FVALUE, &term, sizeof term))
        return 0;
    reason_of_term(term, &reason);
    handle_death(&proc, now, &reason, &reason);
    return 0;
}

char LICENSE[] SEC("license") = "Dual BSD/GPL";
