/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * File operations, keyed by {thread, tag}: from the scheduler's hand-over through the async worker back to the caller.
 * Invariant: an operation stands in `stories` from its entry to its return.
 */
#include "erlpid.bpf.h"
#include "hist.bpf.h"
#include "efile_latency.h"

const volatile bool efile_events = false;
const volatile __u64 efile_slower_ns = 0;

struct {
    __uint(type, BPF_MAP_TYPE_ARRAY);
    __uint(max_entries, EFILE_NTOTALS);
    __type(key, __u32);
    __type(value, __u64);
} totals SEC(".maps");

struct {
    __uint(type, BPF_MAP_TYPE_HASH);
    __uint(max_entries, 65536);
    __uint(map_flags, BPF_F_NO_PREALLOC);
    __type(key, struct efile_key);
    __type(value, struct efile_story);
} stories SEC(".maps");

/* Stays zero: what a story begins with. */
struct {
    __uint(type, BPF_MAP_TYPE_ARRAY);
    __uint(max_entries, 1);
    __type(key, __u32);
    __type(value, struct efile_story);
} empty_story SEC(".maps");

struct {
    __uint(type, BPF_MAP_TYPE_HASH);
    __uint(max_entries, 1024);
    __uint(map_flags, BPF_F_NO_PREALLOC);
    __type(key, struct efile_op_key);
    __type(value, struct efile_op);
} by_op SEC(".maps");

struct {
    __uint(type, BPF_MAP_TYPE_ARRAY);
    __uint(max_entries, 1);
    __type(key, __u32);
    __type(value, struct wire_hist);
} durations SEC(".maps");

static __always_inline void count_total(__u32 which)
{
    __u64 *total = bpf_map_lookup_elem(&totals, &which);

    if (total)
        __sync_fetch_and_add(total, 1);
}

static __always_inline void raise_max(__u64 *max, __u64 value)
{
    for (int i = 0; i < 4; i++) {
        __u64 seen = *max;

        if (value <= seen || __sync_val_compare_and_swap(max, seen, value) == seen)
            break;
    }
}

/* {thread, tag} of a probe whose first two arguments they are. */
static __always_inline int read_key(struct pt_regs *ctx, enum probe_id id, struct efile_key *key)
{
    __u64 thread;

    __builtin_memset(key, 0, sizeof *key);
    key->vm = probe_vm();
    if (probe_arg(ctx, id, efile_drv__entry_thread, &thread) ||
        probe_arg(ctx, id, efile_drv__entry_tag, &key->tag))
        return -1;
    key->thread = thread;
    return 0;
}

static __always_inline __u64 span(__u64 from, __u64 to)
{
    return from && to > from ? to - from : 0;
}

static __always_inline void read_details(struct pt_regs *ctx, struct efile_story *story)
{
    __u64 at;

    if (!probe_arg(ctx, PROBE_ID_efile_drv__entry, efile_drv__entry_s1, &at) && at)
        bpf_probe_read_user_str(story->s1, sizeof story->s1, (void *)at);
    if (!probe_arg(ctx, PROBE_ID_efile_drv__entry, efile_drv__entry_s2, &at) && at)
        bpf_probe_read_user_str(story->s2, sizeof story->s2, (void *)at);
    if (!probe_arg(ctx, PROBE_ID_efile_drv__entry, efile_drv__entry_user_tag, &at) && at)
        bpf_probe_read_user_str(story->user_tag, sizeof story->user_tag, (void *)at);
    if (!probe_arg(ctx, PROBE_ID_efile_drv__entry, efile_drv__entry_port, &at) && at)
        bpf_probe_read_user_str(story->port, sizeof story->port, (void *)at);
}

static __always_inline void read_ints(struct pt_regs *ctx, struct efile_story *story)
{
    __u64 value;

#pragma unroll
    for (__u32 i = 0; i < EFILE_INTS; i++)
        if (!probe_arg(ctx, PROBE_ID_efile_drv__entry, efile_drv__entry_i1 + i, &value))
            story->ints[i] = value;
}

SEC("uprobe")
int on_efile_drv__entry(struct pt_regs *ctx)
{
    __u64 now = bpf_ktime_get_ns(), command;
    struct efile_story *story;
    struct efile_key key;
    __u32 zero = 0;
    void *empty = bpf_map_lookup_elem(&empty_story, &zero);

    if (probe_stopped)
        return 0;
    if (!empty || read_key(ctx, PROBE_ID_efile_drv__entry, &key) ||
        probe_arg(ctx, PROBE_ID_efile_drv__entry, efile_drv__entry_command, &command))
        return 0;
    count_total(EFILE_STARTED);
    if (bpf_map_update_elem(&stories, &key, empty, BPF_ANY) ||
        !(story = bpf_map_lookup_elem(&stories, &key))) {
        probe_lose(LOSS_MAP_FULL);
        return 0;
    }
    story->entry_ns = now;
    story->command = command;
    read_ints(ctx, story);
    if (efile_events)
        read_details(ctx, story);
    return 0;
}

SEC("uprobe")
int on_efile_drv__int_entry(struct pt_regs *ctx)
{
    struct efile_story *story;
    struct efile_key key;

    if (probe_stopped)
        return 0;
    if (read_key(ctx, PROBE_ID_efile_drv__int_entry, &key))
        return 0;
    story = bpf_map_lookup_elem(&stories, &key);
    if (story)
        story->work_ns = bpf_ktime_get_ns();
    return 0;
}

SEC("uprobe")
int on_efile_drv__int_return(struct pt_regs *ctx)
{
    struct efile_story *story;
    struct efile_key key;

    if (probe_stopped)
        return 0;
    if (read_key(ctx, PROBE_ID_efile_drv__int_return, &key))
        return 0;
    story = bpf_map_lookup_elem(&stories, &key);
    if (story)
        story->worked_ns = bpf_ktime_get_ns();
    return 0;
}

static __always_inline void count_op(const struct efile_key *key, const struct efile_story *story)
{
    struct efile_op_key op_key = {key->vm, story->command};
    struct efile_op none = {0}, *op = probe_upsert(&by_op, &op_key, &none);
    __u64 queued = span(story->entry_ns, story->work_ns), work = span(story->work_ns, story->worked_ns);
    __u64 total = span(story->entry_ns, story->return_ns);
    __u32 zero = 0;
    struct wire_hist *hist = bpf_map_lookup_elem(&durations, &zero);

    if (hist)
        hist_add(hist, total);
    if (!op)
        return;
    __sync_fetch_and_add(&op->count, 1);
    if (!story->success)
        __sync_fetch_and_add(&op->errors, 1);
    __sync_fetch_and_add(&op->queued_ns, queued);
    __sync_fetch_and_add(&op->work_ns, work);
    __sync_fetch_and_add(&op->total_ns, total);
    raise_max(&op->queued_max_ns, queued);
    raise_max(&op->work_max_ns, work);
    raise_max(&op->total_max_ns, total);
}

static __always_inline void send_story(const struct efile_key *key, const struct efile_story *story)
{
    struct efile_record *rec;

    if (!efile_events || span(story->entry_ns, story->return_ns) < efile_slower_ns)
        return;
    rec = probe_record(EFILE_LATENCY_OP, key->vm, story->return_ns, sizeof *rec);
    if (!rec)
        return;
    rec->key = *key;
    bpf_probe_read_kernel(&rec->story, sizeof rec->story, story);
    bpf_ringbuf_submit(rec, 0);
}

SEC("uprobe")
int on_efile_drv__return(struct pt_regs *ctx)
{
    __u64 now = bpf_ktime_get_ns(), success = 0, err = 0;
    struct efile_story *story;
    struct efile_key key;

    if (probe_stopped)
        return 0;
    if (read_key(ctx, PROBE_ID_efile_drv__return, &key))
        return 0;
    count_total(EFILE_ENDED);
    story = bpf_map_lookup_elem(&stories, &key);
    if (!story) {
        count_total(EFILE_STRANGERS);
        return 0;
    }
    probe_arg(ctx, PROBE_ID_efile_drv__return, efile_drv__return_success, &success);
    probe_arg(ctx, PROBE_ID_efile_drv__return, efile_drv__return_errno, &err);
    story->return_ns = now;
    story->success = success;
    story->err = err;
    count_op(&key, story);
    send_story(&key, story);
    bpf_map_delete_elem(&stories, &key);
    return 0;
}

char LICENSE[] SEC("license") = "Dual BSD/GPL";
