/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Receives the pages of events that the threads of erlvm hand over (vm/batch_format.h): the note
 * erlang_batch:flush(page, bytes). */
#include "probe.bpf.h"
#include "batch.h"

/* For pages that come while "records" is full. */
struct {
    __uint(type, BPF_MAP_TYPE_RINGBUF);
    __uint(max_entries, BATCH_SPILL_BYTES);
} spill SEC(".maps");

/*
 * The reader looks by itself several times a second: waking it for each page would cost more than the page. It is
 * woken when what waits, this record of `size` bytes among it, has grown over another BATCH_RING_WAKE_BYTES: not by
 * each page while it is slow.
 */
static __always_inline __u64 wakes(__u64 size)
{
    return bpf_ringbuf_query(&records, BPF_RB_AVAIL_DATA) % BATCH_RING_WAKE_BYTES < size ? BPF_RB_FORCE_WAKEUP
           : BPF_RB_NO_WAKEUP;
}

/* Copies `bytes` of the page into `out`, a record with room for so many behind it. */
static __always_inline void receive_into(struct batch_received *out, __u64 time_ns, __u32 vm, const void *page,
                                         __u64 bytes, __u64 room, __u64 wake)
{
    out->time_ns = time_ns;
    out->vm = vm;
    out->bytes = bytes;
    if (bytes > room || bpf_probe_read_user(out + 1, bytes, page)) {
        probe_lose(LOSS_BAD_ARG);
        bpf_ringbuf_discard(out, 0);
        return;
    }
    bpf_ringbuf_submit(out, wake);
}

/*
 * The reader takes first of the two buffers' records that of the earlier time (batch_ring.c), so the time is asked
 * before there is room: one that is reserved later behind it is never earlier than a page that its thread told before.
 */
static __always_inline int receive(__u32 vm, const void *page, __u64 bytes, __u64 room)
{
    __u64 now = bpf_ktime_get_ns(), size = sizeof(struct batch_received) + room;
    struct batch_received *out = bpf_ringbuf_reserve(&records, size, 0);

    if (out) {
        receive_into(out, now, vm, page, bytes, room, wakes(size));
        return 0;
    }
    out = bpf_ringbuf_reserve(&spill, size, 0);
    if (out)
        receive_into(out, now, vm, page, bytes, room, BPF_RB_NO_WAKEUP);
    else
        probe_lose(LOSS_RING_FULL);
    return 0;
}

/* It stands at the notes of wanted probes as well, where no code is ever run: that it is attached says that they are
 * wanted. */
SEC("uprobe")
int on_flush(struct pt_regs *ctx)
{
    __u32 vm = probe_runs ? probe_vm() : 0;
    const struct wire_spec *spec = vm ? probe_spec(ctx) : 0;
    __u64 page = 0, bytes = 0;

    if (probe_arg_of(ctx, spec, 0, &page) || probe_arg_of(ctx, spec, 1, &bytes))
        return 0;
    if (bytes <= BATCH_RING_SMALL_BYTES)
        return receive(vm, (const void *)page, bytes, BATCH_RING_SMALL_BYTES);
    return receive(vm, (const void *)page, bytes, BATCH_PAGE_BYTES);
}

char LICENSE[] SEC("license") = "Dual BSD/GPL";
