/* SPDX-License-Identifier: Apache-2.0 */
/* The ETS tables of a VM, from its memory: what each is, whose, and how large. Their rows are not looked at. */
#ifndef TOOLS_SNAPSHOT_TABLES_H
#define TOOLS_SNAPSHOT_TABLES_H

#include "snapshot.h"

enum snapshot_table_type { SNAPSHOT_SET, SNAPSHOT_ORDERED_SET, SNAPSHOT_BAG, SNAPSHOT_DUPLICATE_BAG };
enum snapshot_protection { SNAPSHOT_PUBLIC, SNAPSHOT_PROTECTED, SNAPSHOT_PRIVATE };

struct snapshot_table_info {
    uint64_t address;     /* in the VM */
    uint64_t name;        /* the atom's index */
    uint32_t numbers[3];  /* of its reference: snapshot_reference_text */
    bool named;           /* its name finds it */
    enum snapshot_table_type type;
    enum snapshot_protection protection;
    bool read_concurrency, write_concurrency, auto_concurrency, compressed;
    uint32_t key;         /* the key's place in a row, from 1 */
    ev_id owner;          /* 0: none here */
    ev_id heir;
    bool counted;         /* rows and words are known: counters may be spread in a way that is not known */
    uint64_t rows, words;
    uint64_t fixed;       /* how often */
    ev_id fixer;          /* one of those who fixed it; 0: not known */
};

/*
 * Tells `take` each, until it answers nonzero, which is returned. *count, which may be NULL, is filled in any case.
 * Fails: -ESRCH: they cannot be read; -EBADMSG: most of them are no tables; -ENOTSUP: an erlvm that is older than this;
 * -ENOMEM. No message.
 */
int snapshot_tables(struct snapshot *snapshot, int (*take)(void *ctx, const struct snapshot_table_info *table),
                    void *ctx, struct snapshot_count *count);
/* So many bytes of the VM's memory from a table's address on are the table, its lock among them. */
uint64_t snapshot_table_bytes(const struct snapshot *snapshot);

#endif
