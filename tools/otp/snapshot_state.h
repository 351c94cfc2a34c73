/* SPDX-License-Identifier: Apache-2.0 */
/* What the files of snapshots share: the reader, and the walk over a table of processes or ports. */
#ifndef TOOLS_SNAPSHOT_STATE_H
#define TOOLS_SNAPSHOT_STATE_H

#include <string.h>

#include "otp_owner.h"
#include "otp_schedulers.h"
#include "snapshot.h"

enum {
    SNAPSHOT_SLOTS = 8192, /* of a table, at once */
    SNAPSHOT_BATCH = 512,  /* processes or ports, at once */
    SNAPSHOT_MOST = 4096,  /* bytes of one */
};

struct snapshot {
    const struct snapshot_kind *kind;
    const struct otp_vm *vm;
    const struct otp_layout *layout;
    const struct erlvm_layout *ours; /* NULL: a stock emulator */
    struct names *names;
    struct memory *memory;
    struct otp_owner owner;
    struct otp_scheduler *schedulers; /* of a stock emulator, once they were asked for */
    size_t nschedulers;
};

/* What differs between VMs. `p`: the bytes of a process. */
struct snapshot_kind {
    /* The pid of the process, which stands in this slot. False: it is another's, or none. */
    bool (*id)(const struct snapshot *s, const unsigned char *p, uint64_t slot, ev_id *out);
    /* Nobody is there, yet or any more. */
    bool (*is_free)(const struct snapshot *s, const unsigned char *p);
    void (*messages)(const struct snapshot *s, const unsigned char *p, struct snapshot_process *out);
    uint64_t (*binaries)(const struct snapshot *s, const unsigned char *p);
    bool (*watches)(const struct snapshot *s, const unsigned char *p);
    bool (*hibernated)(const struct snapshot *s, const unsigned char *p);
    /* The first message, and whether it was passed over. */
    void (*queue)(const struct snapshot *s, const unsigned char *p, struct snapshot_process *out);
    /* How many slots may hold a process. */
    bool (*slots)(const struct snapshot *s, uint64_t *out);
    /* Where the process resumes that applies its argument registers; 0: not known. */
    uint64_t (*apply)(const struct snapshot *s);
};

/* One of a table, read twice. */
struct snapshot_element {
    uint64_t address;
    ev_id id;
    const unsigned char *bytes;
    bool moved; /* both readings differ */
};

struct snapshot_walk;

/* An ErtsPTab, or what an erlvm has instead. */
struct snapshot_table {
    uint64_t address;
    size_t size; /* bytes of an element */
    bool (*slots)(const struct snapshot *s, uint64_t *out);
    bool (*id)(const struct snapshot *s, const unsigned char *p, uint64_t slot, ev_id *out);
    bool (*is_free)(const struct snapshot *s, const unsigned char *p);
    /* Counts it, and hands it to walk->taker, whose answer it returns. */
    int (*visit)(struct snapshot_walk *walk, const struct snapshot_element *element);
};

struct snapshot_walk {
    struct snapshot *s;
    const struct snapshot_table *table;
    const void *taker; /* of the type that table->visit knows */
    struct snapshot_count count;
    uint64_t tab, invalid;
    size_t size; /* bytes of an element that are read */
    uint64_t slots[SNAPSHOT_SLOTS], later[SNAPSHOT_SLOTS];
    struct memory_piece pieces[SNAPSHOT_BATCH];
    uint64_t at[SNAPSHOT_BATCH]; /* the slot of each, from the first of `slots` on */
    size_t n;
    unsigned char first[SNAPSHOT_BATCH][SNAPSHOT_MOST], second[SNAPSHOT_BATCH][SNAPSHOT_MOST];
};

/* As snapshot_processes. taker: as of struct snapshot_walk; stays the caller's. */
int snapshot_walk_table(struct snapshot *s, const struct snapshot_table *table, const void *taker,
                        struct snapshot_count *count);

/* Reads the w->n of a batch, which w->slots and w->at name. */
void snapshot_read_batch(struct snapshot_walk *w, unsigned char (*to)[SNAPSHOT_MOST]);

/* A pid, as it stands in the VM; 0: it is none of this node. */
ev_id snapshot_pid(const struct snapshot *s, uint64_t term);

/* Whether it still is who it was when it was told. */
bool snapshot_lives(const struct snapshot *s, const struct snapshot_process *process);

/* Fills s->schedulers, of a stock emulator. Fails: as otp_schedulers_find. */
int snapshot_find_schedulers(struct snapshot *s);

/* What the term of a pid or port says: struct otp_packing. */
static inline uint64_t snapshot_unpack(const struct otp_packing *p, uint64_t term)
{
    uint64_t x = term >> 4;

    return ((x & ~p->pix_mask) | (x >> (p->cl_shift & 63) & p->cl_mask) |
            (x & p->cli_mask) << (p->cli_shift & 63)) & p->data_mask;
}

/* `size` bytes at most 8 of the `room` bytes that were read, zero-extended; 0 beyond them. */
static inline uint64_t snapshot_part(const unsigned char *p, size_t room, size_t offset, size_t size)
{
    uint64_t number = 0;

    if (offset + size <= room)
        memcpy(&number, p + offset, size);
    return number;
}

static inline uint64_t snapshot_number(const unsigned char *p, size_t offset, size_t size)
{
    return snapshot_part(p, SNAPSHOT_MOST, offset, size);
}

/* 0 when the build has it not. */
static inline uint64_t snapshot_member(const struct snapshot *s, const unsigned char *p, enum otp_field field)
{
    return snapshot_number(p, s->layout->off[field], sizeof(uint64_t));
}

static inline bool snapshot_bit(const struct snapshot *s, uint64_t flags, enum otp_field bit)
{
    return s->layout->off[bit] < 32 && flags >> s->layout->off[bit] & 1;
}

/* Anew, not as it was read before. */
static inline bool snapshot_read(const struct snapshot *s, uint64_t address, void *out, size_t size)
{
    return memory_file_read(memory_file(s->memory), address, out, size);
}

#endif
