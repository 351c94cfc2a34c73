/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Calls of native functions of a stock emulator with the JIT, as events. Code calls them all through one function, on
 * an ordinary scheduler. What is flagged for a dirty scheduler only asks there to be run by one; when it has returned,
 * the process goes back to an ordinary scheduler and calls a function of the emulator's own, dirty_nif_finalizer or
 * dirty_nif_exception, which hands over the result: with that the call ends. A function that has another run in its
 * place (enif_schedule_nif) returns, and the other is a call of its own.
 * Source: erts/emulator/beam/erl_nif.c and jit/beam_jit_common.cpp of OTP.
 */
#ifndef BPF_HOOK_NIF_BPF_H
#define BPF_HOOK_NIF_BPF_H

#include "hook.bpf.h"

/* A call that a thread of an ordinary scheduler is in. */
struct hook_native {
    ev_id pid;
    ev_mfa mfa;
    __u64 process; /* its address */
};

struct {
    __uint(type, BPF_MAP_TYPE_HASH);
    __uint(max_entries, 4096);
    __uint(map_flags, BPF_F_NO_PREALLOC);
    __type(key, hook_thread);
    __type(value, struct hook_native);
} in_native SEC(".maps");

/* These are neither inlined nor static: so the kernel verifies them once, and not for each way to them. */
FIXES_GLOBAL int hook_tell_native(const struct otp_layout *layout, ev_id pid, ev_mfa mfa)
{
    struct ev_nif__entry ev = {};

    if (!layout)
        return 0;
    view_begin(&ev.head, layout->vm);
    ev.pid = pid;
    ev.mfa = mfa & ~EV_LATER_MFA;
    tell_nif__entry(&ev);
    return 0;
}

FIXES_GLOBAL int hook_tell_native_done(const struct otp_layout *layout, ev_id pid, ev_mfa mfa)
{
    struct ev_nif__return ev = {};

    if (!layout)
        return 0;
    view_begin(&ev.head, layout->vm);
    ev.pid = pid;
    ev.mfa = mfa & ~EV_LATER_MFA; /* so that the compiler drops what reads other names, which needs much stack */
    tell_nif__return(&ev);
    return 0;
}

/* Whether it is one of the two that end a call which ran on a dirty scheduler. */
static __always_inline bool hook_ends_dirty(const struct otp_layout *layout, const struct otp_call *call)
{
    return otp_is(layout, call->function, OTP_KNOWN_DIRTY_FINALIZER) ||
           otp_is(layout, call->function, OTP_KNOWN_DIRTY_EXCEPTION);
}

/*
 * A dirty scheduler begins with a call. The process asked for it under the same name, or is asked by what ran there
 * before, or by a function that was not flagged; then the one before has ended.
 */
static __always_inline void hook_begin_dirty(const struct otp_layout *layout, const struct hook_native *native)
{
    struct hook_away who = {layout->vm, native->pid};
    struct hook_dirty *before = bpf_map_lookup_elem(&in_dirty, &who), now = {native->mfa, true};

    if (before && before->mfa == native->mfa && !before->runs) {
        before->runs = true;
        return;
    }
    if (before)
        hook_tell_native_done(layout, native->pid, before->mfa);
    hook_tell_native(layout, native->pid, native->mfa);
    if (bpf_map_update_elem(&in_dirty, &who, &now, BPF_ANY))
        probe_lose(LOSS_MAP_FULL);
}

/* An ordinary scheduler begins with a call, which may be the end of one that ran on a dirty scheduler. */
static __always_inline void hook_begin_native(const struct otp_layout *layout, struct hook_native *native,
                                              bool ends_dirty)
{
    struct hook_away who = {layout->vm, native->pid};
    struct hook_dirty *dirty = bpf_map_lookup_elem(&in_dirty, &who);
    __u64 thread = bpf_get_current_pid_tgid();
    ev_mfa before = dirty ? dirty->mfa : 0;

    if (dirty)
        bpf_map_delete_elem(&in_dirty, &who);
    if (dirty && ends_dirty)
        native->mfa = before;
    else if (dirty)
        hook_tell_native_done(layout, native->pid, before);
    if (!ends_dirty)
        hook_tell_native(layout, native->pid, native->mfa);
    if (bpf_map_update_elem(&in_native, &thread, native, BPF_ANY))
        probe_lose(LOSS_MAP_FULL);
}

/*
 * Which 0: beam_jit_call_nif(process, code, arguments, function, library). Which 1: erts_call_dirty_nif(scheduler,
 * process, code, arguments). Before the code stands the name.
 */
SEC("uprobe")
int at_nif__entry(struct pt_regs *ctx)
{
    const struct otp_layout *layout = hook_layout(ctx);
    bool dirty = otp_which(ctx);
    __u64 process = dirty ? FIXES_CTX_LOAD(ctx, si) : FIXES_CTX_LOAD(ctx, di);
    __u64 code = dirty ? FIXES_CTX_LOAD(ctx, dx) : FIXES_CTX_LOAD(ctx, si);
    struct hook_native native = {.process = process};
    struct otp_call call = {};

    if (!layout || hook_pid(layout, process, &native.pid) ||
        otp_read(layout, code - layout->off[OTP_CODE_INFO_SIZE], OTP_CODE_INFO_MFA, &call, sizeof call))
        return 0;
    native.mfa = hook_mfa(&call);
    if (dirty)
        hook_begin_dirty(layout, &native);
    else
        hook_begin_native(layout, &native, hook_ends_dirty(layout, &call));
    return 0;
}

/* Whether the process is on its way to a dirty scheduler. */
static __always_inline bool hook_goes_dirty(const struct otp_layout *layout, __u64 process)
{
    __u32 state = 0;

    return !otp_read(layout, process, OTP_PROC_STATE, &state, sizeof state) &&
           (state >> (layout->off[OTP_STATE_DIRTY_CPU] & 31) | state >> (layout->off[OTP_STATE_DIRTY_IO] & 31)) & 1;
}

/* beam_jit_call_nif returns the result; 0 when there is none, as there is an error, or another call to be made
 * first. */
SEC("uprobe")
int ret_nif__return(struct pt_regs *ctx)
{
    const struct otp_layout *layout = otp_layout_of(ctx);
    __u64 thread = bpf_get_current_pid_tgid();
    struct hook_native native, *kept = bpf_map_lookup_elem(&in_native, &thread);
    struct hook_dirty dirty = {};
    struct hook_away who = {};

    if (!kept)
        return 0;
    native = *kept;
    bpf_map_delete_elem(&in_native, &thread);
    if (!probe_runs || !layout)
        return 0;
    if (FIXES_CTX_LOAD(ctx, ax) || !hook_goes_dirty(layout, native.process)) {
        hook_tell_native_done(layout, native.pid, native.mfa);
        return 0;
    }
    who = (struct hook_away){layout->vm, native.pid};
    dirty.mfa = native.mfa;
    if (bpf_map_update_elem(&in_dirty, &who, &dirty, BPF_ANY))
        probe_lose(LOSS_MAP_FULL);
    return 0;
}

#endif
