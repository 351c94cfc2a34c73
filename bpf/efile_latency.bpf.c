/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * File operations, keyed by {thread, tag}: from the scheduler's hand-over through the async worker back to the caller;
 * on a stock emulator, whose callers run on dirty I/O schedulers, from the call of the operation to its return.
 * Invariant: an operation stands in `stories` from its entry to its return.
 */
#include "erlpid.bpf.h"
#include "hist.bpf.h"
#include "efile_latency.h"
#include "stacks.h"
#include "view_name.bpf.h"

const volatile bool efile_events = false;
const volatile __u64 efile_slower_ns = 0;
const volatile __u32 efile_top = 0; /* of the slowest so many are kept, EFILE_SLOWEST at most */
volatile __u32 efile_side = 0; /* of "slowest" that programs write: 0 or 1 */

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

/* Stays zero: what an operation's row begins with. */
struct {
    __uint(type, BPF_MAP_TYPE_ARRAY);
    __uint(max_entries, 1);
    __type(key, __u32);
    __type(value, struct efile_op);
} empty_op SEC(".maps");

struct {
    __uint(type, BPF_MAP_TYPE_ARRAY);
    __uint(max_entries, 1);
    __type(key, __u32);
    __type(value, struct wire_hist);
} durations SEC(".maps");

struct {
    __uint(type, BPF_MAP_TYPE_ARRAY);
    __uint(max_entries, 2);
    __type(key, __u32);
    __type(value, struct efile_slowest);
} slowest SEC(".maps");

static __always_inline void count_total(__u32 which)
{
    __u64 *total = bpf_map_lookup_elem(&totals, &which);

    if (total)
        __sync_fetch_and_add(total, 1);
}

/*
 * {thread, tag} of a probe whose first two arguments they are. Fails: it is not one of the VM that is watched; an
 * argument cannot be read (counted).
 */
static __always_inline int read_key(struct pt_regs *ctx, enum probe_id id, struct efile_key *key)
{
    __u64 thread;

    __builtin_memset(key, 0, sizeof *key);
    key->vm = probe_vm();
    if (!key->vm)
        return -1;
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
    story->known = (1 << EFILE_INTS) - 1;
}

/* A new story; NULL (counted) when there is no room. */
static __always_inline struct efile_story *begin_story(const struct efile_key *key, __u32 command)
{
    struct efile_story *story = 0;
    __u32 zero = 0;
    void *empty = bpf_map_lookup_elem(&empty_story, &zero);

    count_total(EFILE_STARTED);
    if (empty && !bpf_map_update_elem(&stories, key, empty, BPF_ANY))
        story = bpf_map_lookup_elem(&stories, key);
    if (story)
        story->command = command;
    else
        probe_lose(LOSS_MAP_FULL);
    return story;
}

SEC("uprobe")
int on_efile_drv__entry(struct pt_regs *ctx)
{
    __u64 now = bpf_ktime_get_ns(), command;
    struct efile_story *story;
    struct efile_key key;

    if (probe_stopped)
        return 0;
    if (read_key(ctx, PROBE_ID_efile_drv__entry, &key) ||
        probe_arg(ctx, PROBE_ID_efile_drv__entry, efile_drv__entry_command, &command))
        return 0;
    story = begin_story(&key, command);
    if (!story)
        return 0;
    story->entry_ns = now;
    read_ints(ctx, story);
    if (efile_events || efile_top)
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

/* From the first to the last step that was seen. */
static __always_inline __u64 whole_span(const struct efile_story *story)
{
    return span(story->entry_ns ? story->entry_ns : story->work_ns, story->return_ns ? story->return_ns : story->worked_ns);
}

/* Neither inlined nor static: so the kernel verifies it once. */
__noinline int observe(struct wire_hist *hist, __u64 value)
{
    if (hist)
        hist_add(hist, value);
    return 0;
}

static __always_inline void count_op(const struct efile_key *key, const struct efile_story *story)
{
    struct efile_op_key op_key = {key->vm, story->command};
    __u32 zero = 0;
    void *empty = bpf_map_lookup_elem(&empty_op, &zero);
    struct efile_op *op = empty ? probe_upsert(&by_op, &op_key, empty) : 0;
    struct wire_hist *all = bpf_map_lookup_elem(&durations, &zero);

    observe(all, whole_span(story));
    if (!op)
        return;
    if (!story->success)
        __sync_fetch_and_add(&op->errors, 1);
    if (story->entry_ns && story->work_ns)
        __sync_fetch_and_add(&op->queued_count, 1);
    __sync_fetch_and_add(&op->queued_ns, span(story->entry_ns, story->work_ns));
    __sync_fetch_and_add(&op->work_ns, span(story->work_ns, story->worked_ns));
    observe(&op->total, whole_span(story));
}

/* ---- the slowest */

/*
 * The place of the one that took the least, EFILE_SLOWEST when all are being written; how long that took in *least.
 * Without branches, of which the kernel would follow each combination.
 */
static __always_inline __u32 find_least(const struct efile_slowest *all, __u64 *least)
{
    __u64 found = EFILE_SLOWEST;

    *least = ~0ull >> 1;
    for (__u32 i = 0; i < EFILE_SLOWEST && i < efile_top; i++) {
        const struct efile_slow *slow = &all->at[i];
        __u64 total = slow->total_ns, less = (total - *least) >> 63 & (slow->taken ^ 1);

        FIXES_OPAQUE(less);
        *least += (total - *least) * less;
        found += (i - found) * less;
    }
    return found;
}

/* Neither inlined nor static: so the kernel verifies it once. */
__noinline int keep_slow(struct efile_slowest *all, const struct efile_key *key, const struct efile_story *story, __u64 total)
{
    struct efile_slow *slow;
    __u64 least;
    __u32 at;

    if (!all || !key || !story)
        return 0;
    at = find_least(all, &least);
    if (at >= EFILE_SLOWEST || total <= least)
        return 0;
    slow = &all->at[at];
    if (__sync_val_compare_and_swap(&slow->taken, 0, 1))
        return 0;
    if (slow->total_ns < total) { /* nobody was here in between */
        slow->total_ns = total;
        slow->key = *key;
        bpf_probe_read_kernel(&slow->story, sizeof slow->story, story);
    }
    slow->taken = 0;
    find_least(all, &least);
    all->floor_ns = least;
    return 0;
}

static __always_inline void look_at_slowest(const struct efile_key *key, const struct efile_story *story)
{
    __u32 side = efile_side & 1;
    struct efile_slowest *all = efile_top ? bpf_map_lookup_elem(&slowest, &side) : 0;
    __u64 total = whole_span(story);

    if (all && total > all->floor_ns)
        keep_slow(all, key, story, total);
}

static __always_inline void send_story(const struct efile_key *key, const struct efile_story *story, __u64 now)
{
    struct efile_record *rec;

    if (!efile_events || whole_span(story) < efile_slower_ns)
        return;
    rec = probe_record(EFILE_LATENCY_OP, key->vm, now, sizeof *rec);
    if (!rec)
        return;
    rec->key = *key;
    bpf_probe_read_kernel(&rec->story, sizeof rec->story, story);
    bpf_ringbuf_submit(rec, 0);
}

static __always_inline void end_story(const struct efile_key *key, const struct efile_story *story, __u64 now)
{
    count_op(key, story);
    look_at_slowest(key, story);
    send_story(key, story, now);
    bpf_map_delete_elem(&stories, key);
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
    probe_arg(ctx, PROBE_ID_efile_drv__return, efile_drv__return_error, &err);
    story->return_ns = now;
    story->success = success;
    story->err = err;
    end_story(&key, story, now);
    return 0;
}

/* ---- stock emulators */

enum hook_arg { NONE, DI, SI, DX, CX, DI_INT, SI_INT, DX_INT, CX_INT, FD, IOV_SI, IOV_DX };
enum hook_result { ERRNO, NEGATIVE, ZERO, ZERO_SI };
enum { MAX_VECTOR = 64 };

static const struct hook {
    __u8 command, other, s1, s2, ints[EFILE_INTS], result;
} hooks[EFILE_NHOOKS] = {
#define EFILE_HOOK(symbol, command, other, regs, s1, s2, i1, i2, i3, i4, result)                                       \
    {command, other, s1, s2, {i1, i2, i3, i4}, result},
#include "efile_hooks.def"
};

/* Calls that are not back yet, by pid and tgid: where errno will stand, if not in the returned value. */
struct {
    __uint(type, BPF_MAP_TYPE_HASH);
    __uint(max_entries, 65536);
    __uint(map_flags, BPF_F_NO_PREALLOC);
    __type(key, __u64);
    __type(value, __u64);
} errnos SEC(".maps");

static __always_inline int vector_bytes(__u64 at, __u32 n, __s64 *bytes)
{
    __u64 piece[2];

    *bytes = 0;
    if (n > MAX_VECTOR)
        return -1;
    for (__u32 i = 0; i < MAX_VECTOR && i < n; i++) {
        if (bpf_probe_read_user(piece, sizeof piece, (void *)(at + i * sizeof piece)))
            return -1;
        *bytes += piece[1];
    }
    return 0;
}

static __noinline int hook_int(struct pt_regs *ctx, const struct otp_layout *layout, __u32 arg, __s64 *value)
{
    __s32 fd;

    if (!layout || !value)
        return -1;
    switch (arg) {
    case DI: *value = FIXES_CTX_LOAD(ctx, di); return 0;
    case SI: *value = FIXES_CTX_LOAD(ctx, si); return 0;
    case DX: *value = FIXES_CTX_LOAD(ctx, dx); return 0;
    case CX: *value = FIXES_CTX_LOAD(ctx, cx); return 0;
    case DI_INT: *value = (__s32)FIXES_CTX_LOAD(ctx, di); return 0;
    case SI_INT: *value = (__s32)FIXES_CTX_LOAD(ctx, si); return 0;
    case DX_INT: *value = (__s32)FIXES_CTX_LOAD(ctx, dx); return 0;
    case CX_INT: *value = (__s32)FIXES_CTX_LOAD(ctx, cx); return 0;
    case FD:
        if (otp_read(layout, FIXES_CTX_LOAD(ctx, di), OTP_FILE_FD, &fd, sizeof fd))
            return -1;
        *value = fd;
        return 0;
    case IOV_SI: return vector_bytes(FIXES_CTX_LOAD(ctx, si), FIXES_CTX_LOAD(ctx, dx), value);
    case IOV_DX: return vector_bytes(FIXES_CTX_LOAD(ctx, dx), FIXES_CTX_LOAD(ctx, cx), value);
    }
    return -1;
}

static __always_inline void read_path(const struct otp_layout *layout, __u64 path, char *out)
{
    __u64 at;

    if (!otp_read(layout, path, OTP_PATH_BYTES, &at, sizeof at) &&
        bpf_probe_read_user_str(out, EFILE_PATH_BYTES, (void *)at) < 0)
        probe_lose(LOSS_BAD_ARG);
}

/* The threads that are schedulers. */
struct {
    __uint(type, BPF_MAP_TYPE_HASH);
    __uint(max_entries, 4096);
    __uint(map_flags, BPF_F_NO_PREALLOC);
    __type(key, struct stacks_thread_key);
    __type(value, struct stacks_thread);
} threads SEC(".maps");

/* Who asks: the process that this thread runs. */
static __always_inline void read_owner(struct pt_regs *ctx, const struct otp_layout *layout, struct efile_story *story)
{
    struct task_struct *task = bpf_get_current_task_btf();
    struct stacks_thread_key key = {.fs_base = task->thread.fsbase, .vm = layout->vm};
    const struct stacks_thread *thread = bpf_map_lookup_elem(&threads, &key);
    __u64 process = 0, slot = (__u32)bpf_get_attach_cookie(ctx);
    struct name_text name;

    if (!thread || otp_read(layout, thread->scheduler, OTP_SCHED_CURRENT, &process, 8) || !process)
        return;
    if (otp_read_pid(layout, process, &story->pid) || view_owner_at(slot << VIEW_SLOT_SHIFT | process, &name))
        return;
    name_copy(&story->owner, &name);
}

static __always_inline void read_call(struct pt_regs *ctx, const struct otp_layout *layout, const struct hook *hook,
                                      struct efile_story *story)
{
    for (__u32 i = 0; i < EFILE_INTS; i++)
        if (hook->ints[i] != NONE && !hook_int(ctx, layout, hook->ints[i], &story->ints[i]))
            story->known |= 1 << i;
    if (hook->s1 != NONE)
        read_path(layout, hook->s1 == SI ? FIXES_CTX_LOAD(ctx, si) : FIXES_CTX_LOAD(ctx, di), story->s1);
    if (hook->s2 != NONE)
        read_path(layout, FIXES_CTX_LOAD(ctx, si), story->s2);
}

SEC("uprobe")
int at_efile_drv__entry(struct pt_regs *ctx)
{
    const struct otp_layout *layout = otp_layout_of(ctx);
    __u64 thread = bpf_get_current_pid_tgid(), err_at = 0;
    struct efile_key key = {.tag = EFILE_NO_TAG, .thread = thread};
    __u32 which = otp_which(ctx);
    struct efile_story *story;
    const struct hook *hook;

    if (probe_stopped || !layout || which >= EFILE_NHOOKS)
        return 0;
    hook = &hooks[which];
    key.vm = layout->vm;
    if (hook->result == ZERO_SI)
        err_at = FIXES_CTX_LOAD(ctx, si);
    else if (hook->result != ERRNO)
        err_at = FIXES_CTX_LOAD(ctx, di) + layout->off[OTP_FILE_ERRNO];
    story = begin_story(&key, (__s32)FIXES_CTX_LOAD(ctx, si) ? hook->other : hook->command);
    if (!story)
        return 0;
    if (bpf_map_update_elem(&errnos, &thread, &err_at, BPF_ANY))
        probe_lose(LOSS_MAP_FULL);
    if (efile_events || efile_top) {
        read_call(ctx, layout, hook, story);
        read_owner(ctx, layout, story);
    }
    story->work_ns = bpf_ktime_get_ns();
    return 0;
}

/* Whether the operation failed, by what its function returned. */
static __always_inline bool has_failed(__u32 result, __u64 returned)
{
    return result == ERRNO ? (__u32)returned != 0 : result == NEGATIVE ? (__s64)returned < 0 : (__u32)returned == 0;
}

static __always_inline __u32 read_errno(__u64 thread, __u32 result, __u64 returned)
{
    __u64 *at = bpf_map_lookup_elem(&errnos, &thread);
    __u32 err = 0;

    if (result == ERRNO)
        return returned;
    if (!at || bpf_probe_read_user(&err, sizeof err, (void *)*at))
        probe_lose(LOSS_BAD_ARG);
    return err;
}

SEC("uprobe")
int ret_efile_drv__return(struct pt_regs *ctx)
{
    __u64 now = bpf_ktime_get_ns(), thread = bpf_get_current_pid_tgid(), returned = FIXES_CTX_LOAD(ctx, ax);
    const struct otp_layout *layout = otp_layout_of(ctx);
    struct efile_key key = {.tag = EFILE_NO_TAG, .thread = thread};
    __u32 which = otp_which(ctx), result;
    struct efile_story *story;

    if (probe_stopped || !layout || which >= EFILE_NHOOKS)
        return 0;
    key.vm = layout->vm;
    result = hooks[which].result;
    count_total(EFILE_ENDED);
    story = bpf_map_lookup_elem(&stories, &key);
    if (!story) {
        count_total(EFILE_STRANGERS);
        return 0;
    }
    story->worked_ns = now;
    story->success = !has_failed(result, returned);
    if (!story->success)
        story->err = read_errno(thread, result, returned);
    end_story(&key, story, now);
    bpf_map_delete_elem(&errnos, &thread);
    return 0;
}

char LICENSE[] SEC("license") = "Dual BSD/GPL";
