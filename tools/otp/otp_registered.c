/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Invariant: a name that is told was that of the process whose entry of the register it is. A process that goes
 * meanwhile has none.
 */
#include "otp_registered.h"

#include <errno.h>

enum { MAX_PROCESSES = 1 << 27, ATOM_SHIFT = 6 };

static int read_member(struct memory *memory, uint64_t base, uint16_t offset, void *out, size_t size)
{
    return memory_read(memory, base + offset, out, size);
}

bool otp_registered_name(struct memory *memory, const struct otp_layout *layout, uint64_t process, uint64_t *name)
{
    const uint16_t *off = layout->off;
    uint64_t entry, owner;

    if (read_member(memory, process, off[OTP_PROC_REG], &entry, sizeof entry) || !entry)
        return false;
    *name = entry;
    return layout->is_ours || (!read_member(memory, entry, off[OTP_REG_PROCESS], &owner, sizeof owner) &&
                               owner == process &&
                               !read_member(memory, entry, off[OTP_REG_NAME], name, sizeof *name));
}

int otp_registered_next(struct memory *memory, const struct otp_layout *layout, uint64_t *slot, uint64_t *atom)
{
    const uint16_t *off = layout->off;
    uint64_t table, invalid = 0, process, name;
    uint32_t max;
    int err = read_member(memory, layout->procs, off[OTP_PTAB_TAB], &table, sizeof table);

    if (!err && !layout->is_ours)
        err = read_member(memory, layout->procs, off[OTP_PTAB_INVALID], &invalid, sizeof invalid);
    if (!err)
        err = read_member(memory, layout->procs, off[OTP_PTAB_MAX], &max, sizeof max);
    while (!err && *slot < max && *slot < MAX_PROCESSES) {
        err = memory_read(memory, table + (*slot)++ * sizeof process, &process, sizeof process);
        if (err || !process || process == invalid || !otp_registered_name(memory, layout, process, &name))
            continue;
        *atom = name >> ATOM_SHIFT;
        return 0;
    }
    return err ? err : -ENOENT;
}
