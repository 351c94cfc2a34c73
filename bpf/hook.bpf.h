/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Events from the functions of a stock emulator: what the programs at_<probe> and ret_<probe> (tools/probe/attach.h) of
 * hook_<topic>.bpf.h have in common, each of which makes the event from registers and memory and hands it to
 * tell_<probe>().
 */
#ifndef BPF_HOOK_BPF_H
#define BPF_HOOK_BPF_H

#include "note.bpf.h"
#include "otp_call.bpf.h"
#include "view_event.bpf.h"

/* Whether a view reads the argument. */
#define HOOK_WANTS(probe, arg) (event_wanted[PROBE_ID_##probe] & 1 << probe##_##arg)

/*
 * What the keys of maps of hooks are, or begin with. By these types tools/probe/vm_maps.c finds the maps, and in each
 * key the VM: what a thread is in the middle of, bpf_get_current_pid_tgid(), and what a process waits for, by its VM.
 */
typedef __u64 hook_thread;
typedef __u64 hook_vm;

/* A process whose call of a native function is for a dirty scheduler, until it is back from there, or exits. */
struct hook_away {
    hook_vm vm;
    ev_id pid;
};

struct hook_dirty {
    ev_mfa mfa;
    __u64 runs; /* a dirty scheduler has begun with it */
};

SHARED struct {
    __uint(type, BPF_MAP_TYPE_HASH);
    __uint(max_entries, 65536);
    __uint(map_flags, BPF_F_NO_PREALLOC);
    __type(key, struct hook_away);
    __type(value, struct hook_dirty);
} in_dirty SEC(".maps");

/* That of the VM which runs us, while events are told; NULL: they are not, or it is not watched any more. */
static __always_inline const struct otp_layout *hook_layout(struct pt_regs *ctx)
{
    return probe_runs ? otp_layout_of(ctx) : 0;
}

/* An atom's index; what is none, or beyond what an event has room for, is EV_NO_ATOM. */
static __always_inline __u64 hook_atom(__u64 term)
{
    __u64 index = otp_atom(term);

    return index < EV_NO_ATOM ? index : EV_NO_ATOM;
}

static __always_inline ev_mfa hook_mfa(const struct otp_call *call)
{
    return ev_mfa_of_atoms(hook_atom(call->module), hook_atom(call->function), call->arity) & ~EV_LATER_MFA;
}

/* The process at this address. Fails: counts the loss and returns nonzero. */
static __always_inline int hook_pid(const struct otp_layout *layout, __u64 process, ev_id *out)
{
    struct wire_pid pid = {0};

    if (otp_read_pid(layout, process, &pid))
        return -1;
    *out = ev_id_of_pid(pid.id, pid.serial);
    return 0;
}

/* Neither inlined nor static: so the kernel verifies it once, and not what follows for each way through it. */
FIXES_GLOBAL __u64 hook_term(const struct otp_layout *layout, __u64 term)
{
    struct name_text name = {0};

    if (reason_is_returned(layout, term))
        return ev_term_of(BATCH_SHAPE_REF, BATCH_RETURNED, 0);
    reason_of_term(term, &name);
    return ev_term_of(name.words[0], name.words[2], name.words[1]);
}

/* What an event's `where` says: the emulator's slot and the address of the process. */
static __always_inline __u64 hook_where(struct pt_regs *ctx, __u64 process)
{
    return view_later_resume(process, bpf_get_attach_cookie(ctx));
}

/* The bytes of a vector that a driver is given: they stand behind a word in it, whatever the release (ErlIOVec). */
static __always_inline __u64 hook_vector_size(__u64 vector)
{
    __u64 bytes = 0;

    if (bpf_probe_read_user(&bytes, sizeof bytes, (void *)(vector + 8)))
        probe_lose(LOSS_BAD_ARG);
    return bytes;
}

#endif
