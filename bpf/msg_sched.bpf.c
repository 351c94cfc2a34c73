/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * From a send to the moment when its receiver is scheduled.
 * A process waits from the first message that is sent to it while it does not run until it is scheduled.
 * Invariant: each send whose receiver can be read is in `totals`, each wait in one histogram, whatever else fails.
 */
#include "erlpid.bpf.h"
#include "hist.bpf.h"
#include "msg_sched.h"
#include "otp_call.bpf.h"
#include "otp_purge.bpf.h"

const volatile bool msg_sched_events = false;
const volatile __u64 msg_sched_slower_ns = 0;

enum { RECEIVER_IDLE = 0, RECEIVER_RUNS = 1 };

/* What is known of a receiver. An entry lives until its process exits; on a stock emulator it begins with the first wait. */
struct receiver {
    __u64 state; /* RECEIVER_*, or when the oldest waiting message was sent */
    __u64 waiting; /* messages */
};

struct {
    __uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
    __uint(max_entries, MSG_SCHED_NTOTALS);
    __type(key, __u32);
    __type(value, __u64);
} totals SEC(".maps");

/* As many as OTP's default limit of processes. */
struct {
    __uint(type, BPF_MAP_TYPE_HASH);
    __uint(max_entries, 262144);
    __type(key, struct wire_proc);
    __type(value, struct receiver);
} receivers SEC(".maps");

struct {
    __uint(type, BPF_MAP_TYPE_HASH);
    __uint(max_entries, 4096);
    __uint(map_flags, BPF_F_NO_PREALLOC);
    __type(key, struct wire_name_key);
    __type(value, struct msg_sched_mfa);
} by_mfa SEC(".maps");

/* Waits that by_mfa has no room for. */
struct {
    __uint(type, BPF_MAP_TYPE_ARRAY);
    __uint(max_entries, 1);
    __type(key, __u32);
    __type(value, struct wire_hist);
} others SEC(".maps");

/* Stays zero but for the MFA: what a new value of by_mfa begins with. */
struct {
    __uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
    __uint(max_entries, 1);
    __type(key, __u32);
    __type(value, struct msg_sched_mfa);
} fresh SEC(".maps");

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

static __always_inline void handle_send(struct receiver *r, bool runs)
{
    __u64 state;

    count_total(MSG_SCHED_SENT);
    if (runs)
        count_total(MSG_SCHED_RUNNING);
    if (runs || !r)
        return;
    state = r->state;
    if (state <= RECEIVER_RUNS)
        __sync_val_compare_and_swap(&r->state, state, bpf_ktime_get_ns());
    __sync_fetch_and_add(&r->waiting, 1);
}

static __noinline void send_record(const struct wire_proc *proc, const struct name_text *mfa, __u64 first_ns,
                                   __u64 latency_ns, __u32 messages)
{
    struct msg_sched_record *rec;

    if (!proc || !mfa)
        return;
    rec = probe_record(MSG_SCHED_WAKE, proc->vm, first_ns + latency_ns, sizeof *rec);
    if (!rec)
        return;
    rec->pid = proc->pid;
    rec->messages = messages;
    rec->latency_ns = latency_ns;
    name_copy(&rec->mfa, mfa);
    bpf_ringbuf_submit(rec, 0);
}

/* The histogram of an MFA not seen before. */
static __noinline struct wire_hist *add_mfa(const struct wire_name_key *key, const struct name_text *mfa)
{
    __u32 zero = 0;
    struct msg_sched_mfa *value = bpf_map_lookup_elem(&fresh, &zero);

    if (!value || !key || !mfa)
        return 0;
    name_copy(&value->mfa, mfa);
    name_announce(key->vm, mfa);
    value = probe_upsert(&by_mfa, key, value);
    return value ? &value->latencies : bpf_map_lookup_elem(&others, &zero);
}

static __always_inline void count_latency(__u32 vm, const struct name_text *mfa, __u64 latency_ns)
{
    struct wire_name_key key = {.vm = vm, .hash = name_hash(mfa)};
    struct msg_sched_mfa *value = bpf_map_lookup_elem(&by_mfa, &key);
    struct wire_hist *hist = value ? &value->latencies : add_mfa(&key, mfa);

    if (hist)
        hist_add(hist, latency_ns);
}

/* A process was scheduled: the wait that ends then, if it had any. */
struct wait {
    __u64 first_ns, latency_ns, messages;
};

static __always_inline bool take_wait(struct receiver *r, struct wait *wait)
{
    __u64 now;

    if (!r)
        return false;
    wait->first_ns = __sync_lock_test_and_set(&r->state, RECEIVER_RUNS);
    if (wait->first_ns <= RECEIVER_RUNS)
        return false;
    wait->messages = __sync_lock_test_and_set(&r->waiting, 0);
    now = bpf_ktime_get_ns();
    wait->latency_ns = now > wait->first_ns ? now - wait->first_ns : 0;
    count_total(MSG_SCHED_WOKEN);
    return true;
}

static __always_inline void handle_wait(const struct wire_proc *proc, const struct wait *wait,
                                        const struct name_text *mfa)
{
    count_latency(proc->vm, mfa, wait->latency_ns);
    if (msg_sched_events && wait->latency_ns >= msg_sched_slower_ns)
        send_record(proc, mfa, wait->first_ns, wait->latency_ns, wait->messages);
}

SEC("uprobe")
int on_message__send(struct pt_regs *ctx)
{
    struct wire_proc proc = {.vm = probe_vm()};
    struct receiver *r;

    if (probe_stopped)
        return 0;
    if (erlpid_arg(ctx, PROBE_ID_message__send, message__send_receiver, &proc.pid))
        return 0;
    r = find_receiver(&proc);
    handle_send(r, r && r->state == RECEIVER_RUNS);
    return 0;
}

SEC("uprobe")
int on_process__scheduled(struct pt_regs *ctx)
{
    struct wire_proc proc = {.vm = probe_vm()};
    struct name_text mfa;
    struct wait wait;

    if (probe_stopped)
        return 0;
    if (erlpid_arg(ctx, PROBE_ID_process__scheduled, process__scheduled_pid, &proc.pid))
        return 0;
    if (!take_wait(find_receiver(&proc), &wait))
        return 0;
    name_arg(ctx, PROBE_ID_process__scheduled, process__scheduled_mfa, &mfa);
    handle_wait(&proc, &wait, &mfa);
    return 0;
}

SEC("uprobe")
int on_process__unscheduled(struct pt_regs *ctx)
{
    struct wire_proc proc = {.vm = probe_vm()};
    struct receiver *r;

    if (probe_stopped)
        return 0;
    if (erlpid_arg(ctx, PROBE_ID_process__unscheduled, process__unscheduled_pid, &proc.pid))
        return 0;
    r = bpf_map_lookup_elem(&receivers, &proc);
    if (r && r->state == RECEIVER_RUNS) /* which only this process leaves */
        r->state = RECEIVER_IDLE;
    return 0;
}

SEC("uprobe")
int on_process__exit(struct pt_regs *ctx)
{
    struct wire_proc proc = {.vm = probe_vm()};

    if (probe_stopped)
        return 0;
    if (!erlpid_arg(ctx, PROBE_ID_process__exit, process__exit_pid, &proc.pid))
        bpf_map_delete_elem(&receivers, &proc);
    return 0;
}

/* ---- stock emulators: who runs stands in the process itself, so nobody need be watched when it stops */

/* erts_send_message(sender, receiver, locks, message), and which 1: erts_proc_sig_send_to_alias(sender, from, to, message, token) */
SEC("uprobe")
int at_message__send(struct pt_regs *ctx)
{
    const struct otp_layout *layout = otp_layout_of(ctx);
    __u64 process = FIXES_CTX_LOAD(ctx, si);
    struct wire_proc proc;
    __u32 state, runs;

    if (probe_stopped || !layout)
        return 0;
    if (otp_which(ctx))
        process = otp_find_alias(layout, FIXES_CTX_LOAD(ctx, dx));
    if (!process)
        return 0;
    proc.vm = layout->vm;
    if (otp_read(layout, process, OTP_PROC_STATE, &state, sizeof state))
        return 0;
    runs = (state >> (layout->off[OTP_STATE_RUNNING] & 31) | state >> (layout->off[OTP_STATE_DIRTY] & 31)) & 1;
    if (!runs && otp_read_pid(layout, process, &proc.pid))
        return 0;
    handle_send(runs ? 0 : find_receiver(&proc), runs);
    return 0;
}

/* erts_schedule returns the process that is to run. */
SEC("uprobe")
int ret_process__scheduled(struct pt_regs *ctx)
{
    const struct otp_layout *layout = otp_layout_of(ctx);
    __u64 process = FIXES_CTX_LOAD(ctx, ax);
    struct wire_proc proc;
    struct name_text mfa;
    struct wait wait;

    if (probe_stopped || !layout)
        return 0;
    proc.vm = layout->vm;
    if (otp_read_pid(layout, process, &proc.pid) || !take_wait(bpf_map_lookup_elem(&receivers, &proc), &wait))
        return 0;
    otp_name_resume(layout, process, &mfa);
    handle_wait(&proc, &wait, &mfa);
    return 0;
}

/* erts_continue_exit_process(process) */
SEC("uprobe")
int at_process__exit(struct pt_regs *ctx)
{
    const struct otp_layout *layout = otp_layout_of(ctx);
    struct wire_proc proc;

    if (probe_stopped || !layout)
        return 0;
    proc.vm = layout->vm;
    if (!otp_read_pid(layout, FIXES_CTX_LOAD(ctx, di), &proc.pid))
        bpf_map_delete_elem(&receivers, &proc);
    return 0;
}

char LICENSE[] SEC("license") = "Dual BSD/GPL";
