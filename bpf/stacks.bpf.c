/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Stacks of Erlang processes: where CPUs are when a clock ticks, where processes stand when they
 * are scheduled out and for how long, where they stand at an event.
 * On the stack of a process, the words whose low two bits are 0 are the return addresses.
 * Invariant: nothing outside [stop, hend) is taken for a process's stack.
 */
#include "otp_call.bpf.h"
#include "otp_purge.bpf.h"
#include "stacks.h"

const volatile struct wire_pid stacks_only = {0}; /* the process looked at; all 0: every one */
const volatile bool stacks_by_pid = false;

struct {
    __uint(type, BPF_MAP_TYPE_HASH);
    __uint(max_entries, 65536);
    __uint(map_flags, BPF_F_NO_PREALLOC);
    __type(key, struct stacks_thread_key);
    __type(value, struct stacks_thread);
} threads SEC(".maps");

struct {
    __uint(type, BPF_MAP_TYPE_HASH);
    __uint(max_entries, 16384);
    __uint(map_flags, BPF_F_NO_PREALLOC);
    __type(key, struct stacks_key);
    __type(value, struct stacks_value);
} stacks SEC(".maps");

/* What a new entry of "stacks" begins as: too large for a program's stack. */
struct {
    __uint(type, BPF_MAP_TYPE_ARRAY);
    __uint(max_entries, 1);
    __type(key, __u32);
    __type(value, struct stacks_value);
} empty SEC(".maps");

struct away {
    __u64 since_ns, woken_ns; /* woken: since when it waits for a scheduler; 0: not known */
    struct stacks_key key;
};

/* Processes that are scheduled out. */
struct {
    __uint(type, BPF_MAP_TYPE_HASH);
    __uint(max_entries, 262144);
    __uint(map_flags, BPF_F_NO_PREALLOC);
    __type(key, struct wire_proc);
    __type(value, struct away);
} aways SEC(".maps");

/* ---- processes */

static __always_inline bool is_wanted(const struct wire_pid *pid)
{
    return !stacks_only.id || (pid->id == stacks_only.id && pid->serial == stacks_only.serial);
}

/* Who the process is. Fails: it is not wanted, or cannot be read (counted). */
static __always_inline int read_owner(const struct otp_layout *layout, __u64 process, struct stacks_owner *owner)
{
    struct otp_call call = {0};

    if (otp_read_pid(layout, process, &owner->pid) || !is_wanted(&owner->pid))
        return -1;
    otp_call_of_process(layout, process, &call);
    owner->vm = layout->vm;
    owner->registered = otp_name_or_label(layout, process);
    owner->module = otp_atom(call.module);
    owner->function = otp_atom(call.function);
    owner->arity = call.arity;
    return 0;
}

static __always_inline void forget_pid(struct stacks_owner *owner)
{
    if (!stacks_by_pid)
        owner->pid = (struct wire_pid){0};
}

/* ---- stacks counted in the kernel */

enum { CHUNK_WORDS = 4 }; /* more cost the verifier far more */

struct walk {
    struct stacks_key key;
    __u64 at, end;
    __u32 n, keep; /* keep: the entry of the key is there, and gets the frames */
};

/* `value` NULL: the frame goes into the hash; else to the entry. */
static __always_inline __u32 take_frame(struct walk *w, struct stacks_value *value, __u32 n, __u64 frame)
{
    if (n >= STACKS_FRAMES)
        return n;
    if (value)
        value->frames[n] = frame;
    else
        w->key.hash = (w->key.hash ^ frame) * 0x9e3779b97f4a7c15ull + (w->key.hash >> 29);
    return n + 1;
}

static long walk_chunk(__u32 number, struct walk *w)
{
    __u64 words[CHUNK_WORDS] = {0}, left = w->end - w->at;
    struct stacks_value *value = 0;
    __u32 n = 0;

    /* Read so, the verifier does not follow each value that it may have. */
    bpf_probe_read_kernel(&n, sizeof n, &w->n);
    if (w->at >= w->end || n >= STACKS_FRAMES)
        return 1;
    if (left > sizeof words)
        left = sizeof words;
    if (w->keep) {
        value = bpf_map_lookup_elem(&stacks, &w->key);
        if (!value)
            return 1;
    }
    if (bpf_probe_read_user(words, left, (void *)w->at)) {
        probe_lose(LOSS_BAD_ARG);
        return 1;
    }
    for (__u32 i = 0; i < CHUNK_WORDS; i++)
        if (words[i] && !(words[i] & 3))
            n = take_frame(w, value, n, words[i]);
    w->n = n;
    w->at += left;
    return 0;
}

static __always_inline void walk_stack(struct walk *w, struct stacks_value *value, __u64 resume, __u64 stop)
{
    w->at = stop;
    w->n = resume ? take_frame(w, value, 0, resume) : 0;
    bpf_loop(STACKS_WORDS / CHUNK_WORDS, walk_chunk, w, 0);
}

/* When there is no room for it, its frames are named when they are printed, if their code is still there. */
static __always_inline void announce_stack(const struct stacks_key *key, const struct stacks_value *value)
{
    struct stacks_new *rec = bpf_ringbuf_reserve(&records, sizeof *rec, 0);

    if (!rec)
        return;
    rec->header.time_ns = bpf_ktime_get_ns();
    rec->header.vm = key->owner.vm;
    rec->header.kind = STACKS_NEW;
    rec->key = *key;
    rec->nframes = value->nframes;
    __builtin_memcpy(rec->frames, value->frames, sizeof rec->frames);
    bpf_ringbuf_submit(rec, 0);
}

/* The stack's entry, made when it is new; NULL (counted) when the map is full. */
static __always_inline struct stacks_value *find_stack(struct walk *w, __u64 resume, __u64 stop)
{
    struct stacks_value *value = bpf_map_lookup_elem(&stacks, &w->key), *zero;
    __u32 slot = 0;

    if (value)
        return value;
    zero = bpf_map_lookup_elem(&empty, &slot);
    if (zero)
        bpf_map_update_elem(&stacks, &w->key, zero, BPF_NOEXIST);
    value = bpf_map_lookup_elem(&stacks, &w->key);
    if (!value) {
        probe_lose(LOSS_MAP_FULL);
        return 0;
    }
    w->keep = 1;
    walk_stack(w, value, resume, stop);
    value->nframes = w->n;
    announce_stack(&w->key, value);
    return value;
}

/* Where the process goes on; 0: unknown. One of an erlvm that waits in a native is in that native's words of code. */
static __always_inline __u64 read_resume(const struct otp_layout *layout, __u64 process)
{
    __u64 resume = 0;

    otp_read(layout, process, OTP_PROC_I, &resume, 8);
    if (!layout->is_ours || resume != layout->ours.waits)
        return resume;
    if (bpf_probe_read_user(&resume, sizeof resume, (void *)(process + layout->ours.native)) || !resume)
        return 0;
    return resume + layout->ours.stub;
}

/*
 * Counts the stack of a process that stands in C, having saved its stack pointer. `resumes`: where
 * it goes on stands in the process and not on the stack. The key in *w.
 */
static __always_inline struct stacks_value *count_stack(const struct otp_layout *layout, __u64 process, bool resumes,
                                                        struct walk *w)
{
    __u64 stop = 0, heap = 0, hend = 0, resume = 0;
    struct stacks_value *value;

    if (otp_read(layout, process, OTP_PROC_STOP, &stop, 8) || otp_read(layout, process, OTP_PROC_HEAP, &heap, 8) ||
        otp_read(layout, process, OTP_PROC_HEND, &hend, 8))
        return 0;
    if (stop < heap || stop > hend || stop & 7) {
        probe_lose(LOSS_BAD_ARG);
        return 0;
    }
    if (resumes)
        resume = read_resume(layout, process);
    w->end = hend;
    w->key.purges = otp_purges(layout);
    walk_stack(w, 0, resume, stop);
    value = find_stack(w, resume, stop);
    if (value)
        __sync_fetch_and_add(&value->count, 1);
    return value;
}

/* The thread that runs us; NULL when it is no scheduler. */
static __always_inline const struct stacks_thread *current_thread(__u32 vm)
{
    struct task_struct *task = bpf_get_current_task_btf();
    struct stacks_thread_key key = {.fs_base = task->thread.fsbase, .vm = vm};

    return bpf_map_lookup_elem(&threads, &key);
}

/* What this thread is as a scheduler: an address in the VM; 0: it is none. */
static __always_inline __u64 current_scheduler(const struct otp_layout *layout, const struct stacks_thread *thread)
{
    __u64 scheduler = 0;

    if (!layout->is_ours)
        return thread ? thread->scheduler : 0;
    bpf_probe_read_user(&scheduler, sizeof scheduler,
                        (void *)(bpf_get_current_task_btf()->thread.fsbase + layout->ours.self));
    return scheduler;
}

/* The process that it runs; 0: none. */
static __always_inline __u64 current_process(const struct otp_layout *layout, const struct stacks_thread *thread)
{
    __u64 scheduler = current_scheduler(layout, thread), process = 0;

    if (scheduler)
        otp_read(layout, scheduler, OTP_SCHED_CURRENT, &process, 8);
    return process;
}

/*
 * The process that a scheduler runs at an event, when it runs one. Of a stock emulator the topmost return address says
 * where it is; in an erlvm the native that tells the event was called by no address on the stack.
 */
static __always_inline int count_event(const struct otp_layout *layout)
{
    struct walk w = {0};
    __u64 process;

    if (!probe_runs || !layout)
        return 0;
    process = current_process(layout, current_thread(layout->vm));
    if (!process || read_owner(layout, process, &w.key.owner))
        return 0;
    forget_pid(&w.key.owner);
    count_stack(layout, process, layout->is_ours, &w);
    return 0;
}

#define COUNT_HOOK(name, probe)                                                                    \
    SEC("uprobe")                                                                                  \
    int at_##probe(struct pt_regs *ctx)                                                            \
    {                                                                                              \
        return count_event(otp_layout_of(ctx));                                                    \
    }
#define COUNT_NOTE(name, probe)                                                                    \
    SEC("uprobe")                                                                                  \
    int on_##probe(struct pt_regs *ctx)                                                            \
    {                                                                                              \
        return count_event(otp_layout_of_vm(probe_tgid()));                                       \
    }
STACKS_EVENTS(COUNT_HOOK)
STACKS_EVENTS(COUNT_NOTE)
STACKS_NOTES(COUNT_NOTE)

/* ---- time off the CPU */

/* It will not come back. */
static __always_inline bool is_exiting(const struct otp_layout *layout, __u64 process)
{
    __u32 state = 0;

    otp_read(layout, process, OTP_PROC_STATE, &state, sizeof state);
    return state >> (layout->off[OTP_STATE_EXITING] & 31) & 1;
}

/*
 * Whether a process that is being scheduled out could run on: its time slice is over, or a scheduler of another kind
 * is to go on with it.
 */
static __always_inline bool is_runnable(const struct otp_layout *layout, __u64 process)
{
    __u32 state = 0;
    __u8 slept = 1;

    otp_read(layout, process, OTP_PROC_STATE, &state, sizeof state);
    if (state >> (layout->off[OTP_STATE_SUSPENDED] & 31) & 1)
        return false;
    if (!layout->is_ours)
        return (state >> (layout->off[OTP_STATE_ACTIVE] & 31) |
                state >> (layout->off[OTP_STATE_DIRTY_ACTIVE] & 31)) & 1;
    bpf_probe_read_user(&slept, sizeof slept, (void *)(process + layout->ours.slept));
    return !slept;
}

static __always_inline int leave_cpu(const struct otp_layout *layout, __u64 process)
{
    struct wire_proc proc = {0};
    struct walk w = {0};
    struct away away = {0};

    if (!process || is_exiting(layout, process) || read_owner(layout, process, &w.key.owner))
        return 0;
    proc.vm = layout->vm;
    proc.pid = w.key.owner.pid;
    forget_pid(&w.key.owner);
    w.key.owner.runnable = is_runnable(layout, process);
    if (!count_stack(layout, process, true, &w))
        return 0;
    away.since_ns = bpf_ktime_get_ns();
    away.key = w.key;
    if (bpf_map_update_elem(&aways, &proc, &away, BPF_ANY))
        probe_lose(LOSS_MAP_FULL);
    return 0;
}

/* The time that the process waited for a scheduler counts where it goes on, as one that could run. */
static __always_inline void count_queued(const struct otp_layout *layout, __u64 process, const struct away *away,
                                         __u64 ns)
{
    struct stacks_value *value;
    struct walk w = {0};

    w.key.owner = away->key.owner;
    w.key.owner.runnable = 1;
    value = count_stack(layout, process, true, &w);
    if (value)
        __sync_fetch_and_add(&value->sum_ns, ns);
}

static __always_inline int come_back(const struct otp_layout *layout, __u64 process)
{
    __u64 now = bpf_ktime_get_ns(), until = now;
    struct wire_proc proc = {0};
    struct stacks_value *value;
    struct away *away;

    if (!process || otp_read_pid(layout, process, &proc.pid))
        return 0;
    proc.vm = layout->vm;
    away = bpf_map_lookup_elem(&aways, &proc);
    if (!away)
        return 0;
    if (away->woken_ns > away->since_ns && away->woken_ns < now)
        until = away->woken_ns;
    value = bpf_map_lookup_elem(&stacks, &away->key);
    if (value && until > away->since_ns)
        __sync_fetch_and_add(&value->sum_ns, until - away->since_ns);
    if (until < now)
        count_queued(layout, process, away, now - until);
    bpf_map_delete_elem(&aways, &proc);
    return 0;
}

/*
 * erts_schedule_process(process, state, locks): a process that rests has got a message, another signal or a time-out.
 * It is called anew when the process has looked at a signal and rests again: the last call counts. One that is
 * suspended gets no scheduler yet, one that is active has been called for.
 */
SEC("uprobe")
int at_process__runnable(struct pt_regs *ctx)
{
    const struct otp_layout *layout = probe_runs ? otp_layout_of(ctx) : 0;
    __u32 state = FIXES_CTX_LOAD(ctx, si);
    struct wire_proc proc = {0};
    struct away *away;

    if (!layout || (state >> (layout->off[OTP_STATE_ACTIVE] & 31) & 1) ||
        (state >> (layout->off[OTP_STATE_SUSPENDED] & 31) & 1) ||
        otp_read_pid(layout, FIXES_CTX_LOAD(ctx, di), &proc.pid))
        return 0;
    proc.vm = layout->vm;
    away = bpf_map_lookup_elem(&aways, &proc);
    if (away && !away->key.owner.runnable)
        away->woken_ns = bpf_ktime_get_ns();
    return 0;
}

SEC("uprobe")
int at_process__unscheduled(struct pt_regs *ctx)
{
    __u64 process = FIXES_CTX_LOAD(ctx, si);
    const struct otp_layout *layout = probe_runs && process ? otp_layout_of(ctx) : 0;

    return layout ? leave_cpu(layout, process) : 0;
}

SEC("uprobe")
int out_process__scheduled(struct pt_regs *ctx)
{
    __u64 process = otp_result(ctx);
    const struct otp_layout *layout = probe_runs && process ? otp_layout_of(ctx) : 0;

    return layout ? come_back(layout, process) : 0;
}

/* The notes of an erlvm: its scheduler runs the process still, or already. */
SEC("uprobe")
int on_process__unscheduled(struct pt_regs *ctx)
{
    const struct otp_layout *layout = probe_runs ? otp_layout_of_vm(probe_tgid()) : 0;

    return layout ? leave_cpu(layout, current_process(layout, 0)) : 0;
}

SEC("uprobe")
int on_process__scheduled(struct pt_regs *ctx)
{
    const struct otp_layout *layout = probe_runs ? otp_layout_of_vm(probe_tgid()) : 0;

    return layout ? come_back(layout, current_process(layout, 0)) : 0;
}

/* ---- time on the CPU */

/* Words of [from, to), as many as there is room for; 0 when they cannot be read. */
static __always_inline __u32 copy_words(__u64 *out, __u64 from, __u64 to)
{
    __u64 bytes = to > from ? to - from : 0;

    if (bytes > STACKS_WORDS * 8)
        bytes = STACKS_WORDS * 8;
    FIXES_OPAQUE(bytes);
    if (bytes > STACKS_WORDS * 8 || bpf_probe_read_user(out, bytes, (void *)from))
        return 0;
    return bytes / 8;
}

/* The stack's end is not known: as far as it can be read. */
static __always_inline __u32 copy_open_words(__u64 *out, __u64 from)
{
    enum { STEP = 64 };
    __u32 n;

    for (n = 0; n < STACKS_WORDS; n += STEP)
        if (bpf_probe_read_user(out + n, STEP * 8, (void *)(from + n * 8)))
            break;
    return n;
}

static __always_inline void read_regs(struct stacks_sample *sample, struct task_struct *task)
{
    struct pt_regs *user = (struct pt_regs *)bpf_task_pt_regs(task), regs;

    bpf_probe_read_kernel(&regs, sizeof regs, user);
#define STACKS_REG(number, name)                                                                   \
    if (number < STACKS_NREGS)                                                                     \
        sample->regs[number < STACKS_NREGS ? number : 0] = regs.name;
    WIRE_REGS(STACKS_REG)
    sample->ip = regs.ip;
}

/* A word that may be where the process's stack ends in this moment, or 0. */
static __always_inline __u64 as_stack_top(__u64 word, __u64 heap, __u64 hend)
{
    return word >= heap && word < hend && !(word & 7) ? word : 0;
}

/* The topmost word of an erlvm's stack is 0 while a function with a frame runs, and the return address while one
 * without does. */
static __always_inline bool is_our_top(const struct otp_layout *layout, __u64 at)
{
    __u64 word = 1;

    return at && !bpf_probe_read_user(&word, sizeof word, (void *)at) &&
        (!word || word - layout->ours.code < layout->ours.code_bytes);
}

/*
 * Of an erlvm: its loop has the process in r14 and its stack pointer in r12 (vm/exec/loop.c), which the functions that
 * it calls save. While one of them runs that uses r12, the stack begins near where it was when the VM last stored it.
 */
static __always_inline __u64 find_our_stack(struct stacks_sample *sample, const struct otp_layout *layout,
                                            __u64 process, __u64 heap)
{
    __u64 at = sample->regs[14] == process ? as_stack_top(sample->regs[12], heap, sample->hend) : 0;

    if (is_our_top(layout, at))
        return sample->is_stored && sample->stop >= heap && sample->stop < at ? sample->stop : at;
    if (sample->stop >= heap + STACKS_SLACK * 8)
        return sample->stop - STACKS_SLACK * 8;
    return heap;
}

static __always_inline __u32 read_stored(const struct otp_layout *layout, __u64 process)
{
    __u8 stored = 0;

    if (layout->ours.stored)
        bpf_probe_read_user(&stored, sizeof stored, (void *)(process + layout->ours.stored));
    return stored;
}

/* The process's part: who it is, and its stack from the lowest place where it may end. */
static __always_inline void sample_process(struct stacks_sample *sample, const struct otp_layout *layout, __u64 process)
{
    __u64 heap = 0, sp = sample->regs[4], bp = sample->regs[5], at;

    if (otp_read(layout, process, OTP_PROC_HEAP, &heap, 8) ||
        otp_read(layout, process, OTP_PROC_HEND, &sample->hend, 8) ||
        otp_read(layout, process, OTP_PROC_STOP, &sample->stop, 8))
        return;
    at = layout->is_ours ? 0 : as_stack_top(sp, heap, sample->hend + 1);
    sample->on_erlang = at != 0;
    if (layout->is_ours) {
        sample->process = process;
        sample->resume = read_resume(layout, process);
        sample->is_stored = read_stored(layout, process);
        if (heap > sample->stop) /* a small heap is being collected by way of other memory */
            heap = sample->stop - STACKS_SLACK * 8;
        at = find_our_stack(sample, layout, process, heap);
    } else if (!at) {
        at = as_stack_top(bp, heap, sample->hend);
        if (!at || (sample->stop >= heap && sample->stop < at))
            at = sample->stop;
    }
    at &= ~7ull;
    if (at < heap)
        return;
    sample->erlang_at = at;
    sample->nerlang = copy_words(sample->erlang, at, sample->hend);
}

/*
 * From a few words below the stack pointer: at a function's last instruction the words where it saved registers lie
 * there, and the tables that unwinding goes by (gcc's) still name them.
 */
static __always_inline void sample_native(struct stacks_sample *sample, const struct stacks_thread *thread)
{
    __u64 from = sample->regs[4] - STACKS_BELOW * 8;

    if (sample->on_erlang)
        return;
    sample->native_at = from;
    if (thread && thread->top > from && thread->top - from < 1 << 20)
        sample->nnative = copy_words(sample->native, from, thread->top);
    else
        sample->nnative = copy_open_words(sample->native, from);
}

/* The sample's owner; the address of the process in *process. Fails: not wanted. */
static __always_inline int sample_owner(struct stacks_sample *sample, const struct otp_layout *layout,
                                        const struct stacks_thread *thread, __u64 *process)
{
    *process = current_process(layout, thread);
    if (*process) {
        if (read_owner(layout, *process, &sample->owner))
            return -1;
        forget_pid(&sample->owner);
        return 0;
    }
    sample->owner = (struct stacks_owner){
        .vm = layout->vm, .registered = WIRE_NO_ATOM, .module = WIRE_NO_ATOM, .arity = STACKS_NO_PROCESS};
    return stacks_only.id ? -1 : 0;
}

SEC("perf_event")
int clock_sample(struct bpf_perf_event_data *ctx)
{
    __u32 vm = probe_tgid();
    const struct otp_layout *layout = otp_layout_of_vm(vm);
    const struct stacks_thread *thread;
    struct stacks_sample *sample;
    __u64 process;
    long bytes;

    if (!probe_runs || !layout)
        return 0;
    sample = probe_record(STACKS_SAMPLE, vm, bpf_ktime_get_ns(), sizeof *sample);
    if (!sample)
        return 0;
    __builtin_memset(&sample->owner, 0,
                     __builtin_offsetof(struct stacks_sample, kernel) -
                         __builtin_offsetof(struct stacks_sample, owner));
    thread = current_thread(vm);
    if (sample_owner(sample, layout, thread, &process)) {
        bpf_ringbuf_discard(sample, 0);
        return 0;
    }
    bpf_get_current_comm(sample->comm, sizeof sample->comm);
    read_regs(sample, bpf_get_current_task_btf());
    sample->purges = otp_purges(layout);
    if (process)
        sample_process(sample, layout, process);
    sample_native(sample, thread);
    bytes = bpf_get_stack(ctx, sample->kernel, sizeof sample->kernel, 0);
    sample->nkernel = bytes > 0 ? (__u32)bytes / 8 : 0;
    bpf_ringbuf_submit(sample, 0);
    return 0;
}

char LICENSE[] SEC("license") = "Dual BSD/GPL";
