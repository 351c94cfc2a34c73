/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Reading a stock emulator: processes, and terms as numbers. For programs named at_<probe> (the
 * entry of the function that stands for the probe), ret_<probe> (its return) and out_<probe> (where it is left).
 * Invariant: nothing is followed but by a layout that was verified; what cannot be read is a loss.
 */
#ifndef BPF_OTP_BPF_H
#define BPF_OTP_BPF_H

#include "hits.bpf.h"
#include "name.bpf.h"
#include "otp.h"

enum { OTP_MAX_ARITY = 255 };

SHARED struct {
    __uint(type, BPF_MAP_TYPE_ARRAY);
    __uint(max_entries, OTP_MAX_LAYOUTS);
    __type(key, __u32);
    __type(value, struct otp_layout);
} otp_layouts SEC(".maps");

/* The slot of each VM that has one, by its process id. */
SHARED struct {
    __uint(type, BPF_MAP_TYPE_HASH);
    __uint(max_entries, OTP_MAX_LAYOUTS);
    __uint(map_flags, BPF_F_NO_PREALLOC);
    __type(key, __u32);
    __type(value, __u32);
} otp_slots SEC(".maps");

/* NULL when it has none. */
static __always_inline struct otp_layout *otp_layout_of_vm(__u32 vm)
{
    __u32 *slot = bpf_map_lookup_elem(&otp_slots, &vm);

    hits_count(vm);
    return slot ? bpf_map_lookup_elem(&otp_layouts, slot) : 0;
}

/*
 * The layout of the VM that runs us. NULL: the process is another, or it is still being attached to; the cookie names
 * none (counted).
 */
static __always_inline struct otp_layout *otp_layout_of(struct pt_regs *ctx)
{
    __u32 slot = bpf_get_attach_cookie(ctx);
    struct otp_layout *layout = bpf_map_lookup_elem(&otp_layouts, &slot);

    if (!layout)
        probe_lose(LOSS_BAD_ARG);
    else if (!probe_is(layout->vm))
        return 0;
    else
        hits_count(layout->vm);
    return layout;
}

/* Which of the functions that stand for the probe this is: `which` of its row in providers.def. */
static __always_inline __u32 otp_which(struct pt_regs *ctx)
{
    return bpf_get_attach_cookie(ctx) >> OTP_COOKIE_WHICH & OTP_COOKIE_MAX_WHICH;
}

/* What the function returns, for programs out_<probe>. */
static __always_inline __u64 otp_result(struct pt_regs *ctx)
{
    switch (bpf_get_attach_cookie(ctx) >> OTP_COOKIE_RESULT) {
#define OTP_RESULT_LOAD(NAME, name) \
    case OTP_RESULT_##NAME: return FIXES_CTX_LOAD(ctx, name);
        OTP_RESULTS(OTP_RESULT_LOAD)
    default: return FIXES_CTX_LOAD(ctx, ax);
    }
}

/* A member of the structure at `base`. Fails: counts the loss and returns nonzero. */
static __always_inline int otp_read(const struct otp_layout *layout, __u64 base, enum otp_field field, void *out,
                                    __u32 size)
{
    __u16 offset = layout->off[field];

    if (offset != OTP_NOWHERE && !bpf_probe_read_user(out, size, (void *)(base + offset)))
        return 0;
    probe_lose(LOSS_BAD_ARG);
    return -1;
}

/* What the identifier of a process or a port says. */
static __always_inline __u64 otp_unpack(const struct otp_packing *p, __u64 term)
{
    __u64 x = term >> 4;

    return ((x & ~p->pix_mask) | (x >> (p->cl_shift & 63) & p->cl_mask) |
            (x & p->cli_mask) << (p->cli_shift & 63)) & p->data_mask;
}

static __always_inline int otp_decode_pid(const struct otp_layout *layout, __u64 term, struct wire_pid *pid)
{
    const struct otp_packing *p = &layout->packing;
    __u64 d = otp_unpack(p, term);

    if ((term & 0xf) != OTP_TAG_PID) {
        probe_lose(LOSS_BAD_PID);
        return -1;
    }
    pid->node = 0;
    pid->id = d & ((1ull << (p->number_bits & 63)) - 1);
    pid->serial = d >> (p->number_bits & 63);
    return 0;
}

/* The pid of the struct process at `process`. */
static __always_inline int otp_read_pid(const struct otp_layout *layout, __u64 process, struct wire_pid *pid)
{
    __u64 term;

    return otp_read(layout, process, OTP_PROC_ID, &term, sizeof term) || otp_decode_pid(layout, term, pid);
}

/* How often code had gone by now. */
static __always_inline __u64 otp_purges(const struct otp_layout *layout)
{
    __u64 given = 0;

    if (!layout->is_ours)
        return layout->purges;
    if (bpf_probe_read_user(&given, sizeof given, (void *)layout->ours.given))
        probe_lose(LOSS_BAD_ARG);
    return given;
}

/* The registered name of the process at `process`, a term; 0: it has none. */
static __always_inline __u64 otp_registered(const struct otp_layout *layout, __u64 process)
{
    __u64 reg = 0, name = 0;

    bpf_probe_read_user(&reg, sizeof reg, (void *)(process + layout->off[OTP_PROC_REG]));
    if (layout->is_ours)
        return reg;
    if (reg)
        bpf_probe_read_user(&name, sizeof name, (void *)(reg + layout->off[OTP_REG_NAME]));
    return name;
}

/* The struct process of a local pid; 0 when there is none any more. */
static __always_inline __u64 otp_find_process(const struct otp_layout *layout, __u64 pid)
{
    __u64 mask = layout->packing.pix_mask, place = mask ? pid >> 4 & mask : pid >> 32, table, process = 0, id = 0;

    if (layout->is_ours)
        place = pid >> 4 & 0xfffffff;

    if (otp_read(layout, layout->procs, OTP_PTAB_TAB, &table, sizeof table))
        return 0;
    bpf_probe_read_user(&process, sizeof process, (void *)(table + place * sizeof process));
    if (process)
        bpf_probe_read_user(&id, sizeof id, (void *)(process + layout->off[OTP_PROC_ID]));
    return id == pid ? process : 0;
}

/* The same by what its pid says, as notes tell it: not of an erlvm. */
static __always_inline __u64 otp_find_numbered(const struct otp_layout *layout, __u64 number, __u64 serial)
{
    __u64 d = serial << (layout->packing.number_bits & 63) | number, table, process = 0, id = 0;
    const struct otp_packing *p = &layout->places;

    if (!p->pix_mask || otp_read(layout, layout->procs, OTP_PTAB_TAB, &table, sizeof table))
        return 0;
    table += ((d & p->cl_mask) << (p->cl_shift & 63) | (d >> (p->cli_shift & 63) & p->cli_mask)) * sizeof process;
    bpf_probe_read_user(&process, sizeof process, (void *)table);
    if (process)
        bpf_probe_read_user(&id, sizeof id, (void *)(process + layout->off[OTP_PROC_ID]));
    return (id & 0xf) == OTP_TAG_PID && otp_unpack(&layout->packing, id) == d ? process : 0;
}

/* The process that a reference names, as aliases do: its third word is the pid. 0: none. Source: ErtsPRefThing. */
static __always_inline __u64 otp_find_alias(const struct otp_layout *layout, __u64 ref)
{
    __u64 words[4];

    if ((ref & 3) != OTP_TAG_BOXED || bpf_probe_read_user(words, sizeof words, (void *)(ref & ~7ull)) ||
        (words[0] & 0x3f) != OTP_HEADER_REF || words[0] >> 6 != 3)
        return 0;
    return otp_find_process(layout, words[3]);
}

static __always_inline __u64 otp_atom(__u64 term)
{
    return (term & 0x3f) == OTP_TAG_ATOM ? term >> 6 : WIRE_NO_ATOM;
}

enum { OTP_KNOWN_BYTES = 32 };

static const char otp_known_texts[OTP_NKNOWN][OTP_KNOWN_BYTES] = {
#define OTP_ATOM(name, text) text,
    OTP_ATOMS(OTP_ATOM)
#undef OTP_ATOM
};

/* The text of an atom of fewer than OTP_KNOWN_BYTES bytes, zero-filled; none of a longer one or what cannot be read:
 * nobody has lost it. */
static __noinline int otp_read_atom(const struct otp_layout *layout, __u32 index, char *out)
{
    __u64 at = layout ? layout->atoms + layout->off[OTP_INDEX_SEGMENTS] : 0; /* one word for all: the stack is full */
    bool in_binary = layout && layout->off[OTP_ATOM_NAME] == OTP_NOWHERE;
    __u16 length = 0;

    if (!layout || layout->is_ours /* has all that we know from its start on */ || !out ||
        bpf_probe_read_user(&at, sizeof at, (void *)at) ||                          /* the segments */
        bpf_probe_read_user(&at, sizeof at, (void *)(at + (index >> 10) * 8)) ||    /* the segment */
        bpf_probe_read_user(&at, sizeof at, (void *)(at + (index & 1023) * 8)) ||   /* the atom */
        bpf_probe_read_user(&length, sizeof length, (void *)(at + layout->off[OTP_ATOM_LEN])) ||
        bpf_probe_read_user(&at, sizeof at, (void *)(at + layout->off[in_binary ? OTP_ATOM_BIN : OTP_ATOM_NAME])))
        return -1;
    if (in_binary)
        at = (at & ~7ull) + layout->off[OTP_HEAP_BITS_DATA];
    FIXES_OPAQUE(length);
    return length < OTP_KNOWN_BYTES ? bpf_probe_read_user(out, length, (void *)at) : -1;
}

/* A VM that was hooked at its start makes the atom later, when it loads code that has it: it is known from its first
 * use on. */
FIXES_GLOBAL int otp_learn(struct otp_layout *layout, __u32 index, __u32 known)
{
    char text[OTP_KNOWN_BYTES] = {0};

    if (!layout || known >= OTP_NKNOWN || otp_read_atom(layout, index, text))
        return false;
    for (__u32 i = 0; i < OTP_KNOWN_BYTES; i++)
        if (text[i] != otp_known_texts[known][i])
            return false;
    layout->known[known] = index;
    return true;
}

/* Whether a term is this atom. */
static __always_inline bool otp_is(const struct otp_layout *layout, __u64 term, enum otp_known known)
{
    __u64 index = otp_atom(term);

    if (index == WIRE_NO_ATOM)
        return false;
    if (layout->known[known] == (__u32)WIRE_NO_ATOM)
        return otp_learn((struct otp_layout *)layout /* the map's own */, index, known);
    return index == layout->known[known];
}

static __always_inline __u64 otp_known_atom(const struct otp_layout *layout, enum otp_known known)
{
    return (__u64)layout->known[known] << 6 | OTP_TAG_ATOM;
}

/* The first n elements of a list; false when it has fewer. */
static __always_inline bool otp_read_list(__u64 list, __u64 *elements, __u32 n)
{
    __u64 cell[2];

    for (__u32 i = 0; i < n; i++) {
        if ((list & 3) != OTP_TAG_LIST || bpf_probe_read_user(cell, sizeof cell, (void *)(list & ~7ull)))
            return false;
        elements[i] = cell[0];
        list = cell[1];
    }
    return true;
}

/* Elements of a list of arguments, of which spawns have few. */
static __always_inline __u32 otp_list_length(__u64 list)
{
    __u64 cell[2];
    __u32 n;

    for (n = 0; n < 64 && (list & 3) == OTP_TAG_LIST; n++) {
        if (bpf_probe_read_user(cell, sizeof cell, (void *)(list & ~7ull))) {
            probe_lose(LOSS_BAD_ARG);
            break;
        }
        list = cell[1];
    }
    return (list & 3) == OTP_TAG_LIST ? OTP_MAX_ARITY : n;
}

static __always_inline void otp_name_mfa(struct name_text *name, __u64 module, __u64 function, __u64 arity)
{
    name->form = WIRE_MFA;
    name->words[0] = otp_atom(module);
    name->words[1] = otp_atom(function);
    name->words[2] = arity;
    name->used = 24;
}

#endif
