/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * File operations of a stock emulator as events: at the entry and the return of the functions of efile_hooks.def. Who
 * includes it has hook_begin_file(layout, event, process), which tells that one begins.
 */
#ifndef BPF_HOOK_EFILE_BPF_H
#define BPF_HOOK_EFILE_BPF_H

#include "hook.bpf.h"
#include "stacks.h"

enum hook_arg { NONE, DI, SI, DX, CX, DI_INT, SI_INT, DX_INT, CX_INT, FD, IOV_SI, IOV_DX };
enum hook_result { ERRNO, NEGATIVE, ZERO, ZERO_SI };
enum { HOOK_MAX_VECTOR = 64 };

static const struct hook_file {
    __u8 command, other, s1, s2, ints[EFILE_INTS], result;
} hook_files[EFILE_NHOOKS] = {
#define EFILE_HOOK(symbol, command, other, regs, s1, s2, i1, i2, i3, i4, result)                                       \
    {command, other, s1, s2, {i1, i2, i3, i4}, result},
#include "efile_hooks.def"
};

/* Calls that are not back yet, by pid and tgid: where errno will stand, if not in the returned value. */
struct {
    __uint(type, BPF_MAP_TYPE_HASH);
    __uint(max_entries, 65536);
    __uint(map_flags, BPF_F_NO_PREALLOC);
    __type(key, hook_thread);
    __type(value, __u64);
} efile_errnos SEC(".maps");

/* The threads that are schedulers. */
struct {
    __uint(type, BPF_MAP_TYPE_HASH);
    __uint(max_entries, 4096);
    __uint(map_flags, BPF_F_NO_PREALLOC);
    __type(key, struct stacks_thread_key);
    __type(value, struct stacks_thread);
} efile_threads SEC(".maps");

/*
 * The bytes of a vector of n pieces; EV_NO_NUMBER: they cannot be read. Neither inlined nor static: so the kernel
 * verifies the loop once, and not for each argument that may be a vector.
 */
FIXES_GLOBAL __s64 hook_vector_bytes(__u64 at, __u32 n)
{
    __u64 piece[2] = {0};
    __s64 bytes = 0;

    if (n > HOOK_MAX_VECTOR)
        return EV_NO_NUMBER;
    for (__u32 i = 0; i < HOOK_MAX_VECTOR && i < n; i++) {
        if (bpf_probe_read_user(piece, sizeof piece, (void *)(at + i * sizeof piece)))
            return EV_NO_NUMBER;
        bytes += piece[1];
    }
    return bytes;
}

/* EV_NO_NUMBER: there is none, or it cannot be read. */
static __noinline __s64 hook_number(struct pt_regs *ctx, const struct otp_layout *layout, __u32 arg)
{
    __s32 fd = 0;

    if (!layout)
        return EV_NO_NUMBER;
    switch (arg) {
    case DI: return FIXES_CTX_LOAD(ctx, di);
    case SI: return FIXES_CTX_LOAD(ctx, si);
    case DX: return FIXES_CTX_LOAD(ctx, dx);
    case CX: return FIXES_CTX_LOAD(ctx, cx);
    case DI_INT: return (__s32)FIXES_CTX_LOAD(ctx, di);
    case SI_INT: return (__s32)FIXES_CTX_LOAD(ctx, si);
    case DX_INT: return (__s32)FIXES_CTX_LOAD(ctx, dx);
    case CX_INT: return (__s32)FIXES_CTX_LOAD(ctx, cx);
    case FD: return otp_read(layout, FIXES_CTX_LOAD(ctx, di), OTP_FILE_FD, &fd, sizeof fd) ? EV_NO_NUMBER : fd;
    case IOV_SI: return hook_vector_bytes(FIXES_CTX_LOAD(ctx, si), FIXES_CTX_LOAD(ctx, dx));
    case IOV_DX: return hook_vector_bytes(FIXES_CTX_LOAD(ctx, dx), FIXES_CTX_LOAD(ctx, cx));
    }
    return EV_NO_NUMBER;
}

static __always_inline struct ev_text hook_path(const struct otp_layout *layout, __u64 path)
{
    struct ev_text text = {EV_TEXT_UNKNOWN, 0};

    otp_read(layout, path, OTP_PATH_BYTES, &text.at, sizeof text.at);
    return text;
}

/* Who asks: the process that this thread runs; 0: not known. */
static __noinline __u64 hook_caller(const struct otp_layout *layout)
{
    struct stacks_thread_key key = {.fs_base = bpf_get_current_task_btf()->thread.fsbase,
                                    .vm = layout ? layout->vm : 0};
    const struct stacks_thread *thread = bpf_map_lookup_elem(&efile_threads, &key);
    __u64 process = 0;

    if (!layout || !thread || otp_read(layout, thread->scheduler, OTP_SCHED_CURRENT, &process, sizeof process))
        return 0;
    return process;
}

static __always_inline void hook_describe(struct pt_regs *ctx, const struct otp_layout *layout,
                                          const struct hook_file *hook, __u64 process, struct ev_efile_drv__entry *ev)
{
    ev->i1 = hook_number(ctx, layout, hook->ints[0]);
    ev->i2 = hook_number(ctx, layout, hook->ints[1]);
    ev->i3 = hook_number(ctx, layout, hook->ints[2]);
    ev->i4 = hook_number(ctx, layout, hook->ints[3]);
    if (hook->s1 != NONE)
        ev->s1 = hook_path(layout, hook->s1 == SI ? FIXES_CTX_LOAD(ctx, si) : FIXES_CTX_LOAD(ctx, di));
    if (hook->s2 != NONE)
        ev->s2 = hook_path(layout, FIXES_CTX_LOAD(ctx, si));
    if (process && !hook_pid(layout, process, &ev->pid))
        ev->head.where = hook_where(ctx, process);
}

/* The functions of efile_hooks.def: they do the operation at once, one at a time a thread. */
SEC("uprobe")
int at_efile_drv__entry(struct pt_regs *ctx)
{
    const struct otp_layout *layout = otp_layout_of(ctx);
    __u64 thread = bpf_get_current_pid_tgid(), err_at = 0, process;
    __u32 which = otp_which(ctx);
    struct ev_efile_drv__entry ev = {.tag = EFILE_NO_TAG, .thread = (__u32)thread};
    const struct hook_file *hook;

    if (!probe_runs || !layout || which >= EFILE_NHOOKS)
        return 0;
    hook = &hook_files[which];
    view_begin(&ev.head, layout->vm);
    if (hook->result == ZERO_SI)
        err_at = FIXES_CTX_LOAD(ctx, si);
    else if (hook->result != ERRNO)
        err_at = FIXES_CTX_LOAD(ctx, di) + layout->off[OTP_FILE_ERRNO];
    if (bpf_map_update_elem(&efile_errnos, &thread, &err_at, BPF_ANY))
        probe_lose(LOSS_MAP_FULL);
    ev.command = (__s32)FIXES_CTX_LOAD(ctx, si) ? hook->other : hook->command;
    process = hook_caller(layout);
    if (VIEW_DETAILS(efile, op))
        hook_describe(ctx, layout, hook, process, &ev);
    hook_begin_file(layout, &ev, process);
    return 0;
}

/* Whether the operation failed, by what its function returned. */
static __always_inline bool hook_has_failed(__u32 result, __u64 returned)
{
    return result == ERRNO ? (__u32)returned != 0 : result == NEGATIVE ? (__s64)returned < 0 : (__u32)returned == 0;
}

static __always_inline __u32 hook_errno(__u64 thread, __u32 result, __u64 returned)
{
    __u64 *at = bpf_map_lookup_elem(&efile_errnos, &thread);
    __u32 err = 0;

    if (result == ERRNO)
        return returned;
    if (at && bpf_probe_read_user(&err, sizeof err, (void *)*at))
        probe_lose(LOSS_BAD_ARG);
    return err;
}

SEC("uprobe")
int ret_efile_drv__return(struct pt_regs *ctx)
{
    __u64 now = bpf_ktime_get_ns(), thread = bpf_get_current_pid_tgid(), returned = FIXES_CTX_LOAD(ctx, ax);
    const struct otp_layout *layout = otp_layout_of(ctx);
    struct ev_efile_drv__return ev = {.tag = EFILE_NO_TAG, .thread = (__u32)thread};
    __u32 which = otp_which(ctx), result;

    if (!probe_runs || !layout || which >= EFILE_NHOOKS)
        return 0;
    result = hook_files[which].result;
    view_begin(&ev.head, layout->vm);
    ev.head.time_ns = now;
    ev.success = !hook_has_failed(result, returned);
    if (!ev.success)
        ev.error = hook_errno(thread, result, returned);
    bpf_map_delete_elem(&efile_errnos, &thread);
    tell_efile_drv__return(&ev);
    return 0;
}

#endif
