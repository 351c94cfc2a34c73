/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Counts every firing of the sites it is attached to, by one of their arguments, and keeps the arguments of the last. */
#include "probe.bpf.h"
#include "record.h"

struct {
    __uint(type, BPF_MAP_TYPE_ARRAY);
    __uint(max_entries, WIRE_MAX_SPECS);
    __type(key, __u32);
    __type(value, struct record_site);
} sites SEC(".maps");

struct {
    __uint(type, BPF_MAP_TYPE_HASH);
    __uint(max_entries, 65536);
    __uint(map_flags, BPF_F_NO_PREALLOC);
    __type(key, struct record_key);
    __type(value, struct record_count);
} counts SEC(".maps");

/* Stays zero: what a count begins with. */
struct {
    __uint(type, BPF_MAP_TYPE_ARRAY);
    __uint(max_entries, 1);
    __type(key, __u32);
    __type(value, struct record_count);
} empty SEC(".maps");

static __always_inline void read_text(char *to, __u64 at)
{
    if (at)
        bpf_probe_read_user_str(to, RECORD_TEXT, (void *)at);
}

SEC("uprobe")
int record_any(struct pt_regs *ctx)
{
    const struct wire_spec *spec = probe_spec(ctx);
    struct record_key key = {.site = bpf_get_attach_cookie(ctx)};
    const struct record_site *site = bpf_map_lookup_elem(&sites, &key.site);
    struct record_count *count;
    __u32 zero = 0;
    void *none = bpf_map_lookup_elem(&empty, &zero);
    __u64 value = 0;

    if (!spec || !site || !none || probe_arg_of(ctx, spec, site->key_arg, &value))
        return 0;
    if (site->strings >> (site->key_arg & 31) & 1)
        read_text(key.text, value);
    else
        __builtin_memcpy(key.text, &value, sizeof value);
    count = probe_upsert(&counts, &key, none);
    if (!count)
        return 0;
    __sync_fetch_and_add(&count->count, 1);
    for (__u32 i = 0; i < BATCH_MAX_ARGS; i++) {
        if (spec->args[i].kind == WIRE_ARG_NONE || probe_arg_of(ctx, spec, i, &value))
            break;
        count->values[i] = value;
        if (site->strings >> i & 1)
            read_text(count->texts[i], value);
    }
    return 0;
}

char LICENSE[] SEC("license") = "Dual BSD/GPL";
