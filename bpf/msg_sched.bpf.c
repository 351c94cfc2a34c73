/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * From a send to the moment when its receiver is scheduled.
 * A process waits from the first message that is sent to it while it does not run until it is scheduled.
 * Invariant: each send whose receiver can be read is in `totals`, whatever else fails.
 */
#include "erlpid.bpf.h"
#include "hist.bpf.h"
#include "msg_sched.h"

const volatile bool msg_sched_events = false;
const volatile __u64 msg_sched_slower_ns = 0;

/* What is known of a receiver. An entry lives until its process exits. */
struct receiver {
    __u64 first_ns; /* when the oldest waiting message was sent; 0: none waits */
    __u32 waiting;  /* messages */
    __u32 running;
};

struct {
    __uint(type, BPF_MAP_TYPE_ARRAY);
    __uint(max_entries, MSG_SCHED_NTOTALS);
    __type(key, __u32);
    __type(value, __u64);
} totals SEC(".maps");

struct {
    __uint(type, BPF_MAP_TYPE_HASH);
    __uint(max_entries, 1048576);
    __uint(map_flags, BPF_F_NO_PREALLOC);
    __type(key, struct wire_proc);
    __type(value, struct receiver);
} receivers SEC(".maps");

struct {
    __uint(type, BPF_MAP_TYPE_ARRAY);
    __uint(max_entries, 1);
    __type(key, __u32);
    __type(value, struct wire_hist);
} latencies SEC(".maps");

struct {
    __uint(type, BPF_MAP_TYPE_HASH);
    __uint(max_entries, 4096);
    __uint(map_flags, BPF_F_NO_PREALLOC);
    __type(key, struct msg_sched_key);
    __type(value, struct wire_hist);
} by_mfa SEC(".maps");

/* Stays zero: what a new key of by_mfa begins with. */
struct {
    __uint(type, BPF_MAP_TYPE_ARRAY);
    __uint(max_entries, 1);
    __type(key, __u32);
    __type(value, struct wire_hist);
} empty_hist SEC(".maps");

static __always_inline void count_total(__u32 which)
{
    __u64 *total = bpf_map_lookup_elem(&totals, &which);

    if (total)
        __sync_fetch_and_add(total, 1);
}

static __always_inline struct receiver *find_receiver(const struct wire_proc *proc)
{
    struct receiver none = {0};

    return probe_upsert(&receivers, proc, &none);
}

static __always_inline void handle_send(const struct wire_proc *proc)
{
    struct receiver *r;

    count_total(MSG_SCHED_SENT);
    r = find_receiver(proc);
    if (!r)
        return;
    if (r->running) {
        count_total(MSG_SCHED_RUNNING);
        return;
    }
    if (__sync_fetch_and_add(&r->waiting, 1) == 0)
        r->first_ns = bpf_ktime_get_ns();
}

static __always_inline void send_record(const struct wire_proc *proc, const struct msg_sched_key *key,
                                        __u64 now, __u32 messages, __u64 latency_ns)
{
    struct msg_sched_record *rec;

    if (!msg_sched_events || latency_ns < msg_sched_slower_ns)
        return;
    rec = probe_record(MSG_SCHED_WAKE, proc->vm, now, sizeof *rec);
    if (!rec)
        return;
    rec->pid = proc->pid;
    rec->messages = messages;
    rec->latency_ns = latency_ns;
    rec->mfa = key->mfa;
    bpf_ringbuf_submit(rec, 0);
}

static __always_inline void count_latency(const struct msg_sched_key *key, __u64 latency_ns)
{
    __u32 zero = 0;
    struct wire_hist *all = bpf_map_lookup_elem(&latencies, &zero);
    struct wire_hist *empty = bpf_map_lookup_elem(&empty_hist, &zero), *one;

    if (!all || !empty)
        return;
    hist_add(all, latency_ns);
    one = probe_upsert(&by_mfa, key, empty);
    if (one)
        hist_add(one, latency_ns);
}

/* Marks it as running. Returns how many messages waited, since *first_ns. */
static __always_inline __u32 handle_scheduled(const struct wire_proc *proc, __u64 *first_ns)
{
    struct receiver *r = find_receiver(proc);
    __u32 waiting;

    if (!r)
        return 0;
    r->running = 1;
    waiting = r->waiting;
    *first_ns = r->first_ns;
    r->first_ns = 0;
    r->waiting = 0;
    return *first_ns ? waiting : 0;
}

SEC("uprobe")
int on_message__send(struct pt_regs *ctx)
{
    struct wire_proc proc = {.vm = probe_vm()};

    if (!erlpid_arg(ctx, probe_spec(ctx), message__send_receiver, &proc.pid))
        handle_send(&proc);
    return 0;
}

SEC("uprobe")
int on_process__scheduled(struct pt_regs *ctx)
{
    const struct wire_spec *spec = probe_spec(ctx);
    struct wire_proc proc = {.vm = probe_vm()};
    struct msg_sched_key key = {.vm = proc.vm};
    __u64 now = bpf_ktime_get_ns(), first_ns;
    __u32 messages;

    if (erlpid_arg(ctx, spec, process__scheduled_pid, &proc.pid))
        return 0;
    messages = handle_scheduled(&proc, &first_ns);
    if (!messages)
        return 0;
    count_total(MSG_SCHED_WOKEN);
    probe_name(ctx, spec, process__scheduled_mfa, &key.mfa);
    now = now > first_ns ? now - first_ns : 0;
    count_latency(&key, now);
    send_record(&proc, &key, first_ns + now, messages, now);
    return 0;
}

SEC("uprobe")
int on_process__unscheduled(struct pt_regs *ctx)
{
    struct wire_proc proc = {.vm = probe_vm()};
    struct receiver *r;

    if (erlpid_arg(ctx, probe_spec(ctx), process__unscheduled_pid, &proc.pid))
        return 0;
    r = bpf_map_lookup_elem(&receivers, &proc);
    if (r)
        r->running = 0;
    return 0;
}

SEC("uprobe")
int on_process__exit(struct pt_regs *ctx)
{
    struct wire_proc proc = {.vm = probe_vm()};

    if (!erlpid_arg(ctx, probe_spec(ctx), process__exit_pid, &proc.pid))
        bpf_map_delete_elem(&receivers, &proc);
    return 0;
}

char LICENSE[] SEC("license") = "Dual BSD/GPL";
