/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Invariant: what is read is untrusted; every size that comes from the target is bounded before
 * it is used. Memory that is still zero means "not yet", anything else that does not fit, a doubt.
 */
#include "otp_check.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "otp_atoms.h"

enum {
    MAX_TEXT = 256 << 20,
    MAX_PROCESS = 4096, /* bytes */
    MAX_ATOMS = 1 << 27,
    MAX_ARITY = 255,
    OTP_TAG_NIL = 0x3b,
    PROCESSES = 256,     /* so many of the first numbers are looked at */
    READINGS = 50,       /* of a process, until two agree */
    LONGEST_WAIT_US = 64000, /* between two looks at one that looks wrong */
    PUT_AWAY_MAX = 2, /* as many threads of a stopped VM may be putting a process away */
    MAX_NAME = 64,       /* bytes of a driver's name, its NUL included */
    PORT_NAME_BYTES = 10, /* room for a short name behind each port */
    PORT_STATE_BITS = 16, /* of which there are 14 */
    PORT_FLAG_BITS = 16, /* of which there are 13 */
    FUNCTION = 64 << 10, /* bytes of code between a function's info and where a process stands, at most */
};

/* ---- layouts by build */

static const struct build {
    uint32_t release;
    bool jit, notes;
    uint16_t off[OTP_NFIELDS];
} builds[] = {
#define FLAVOUR_jit true
#define FLAVOUR_emu false
#define LAYOUT_BEGIN(release, flavour, notes) {release, FLAVOUR_##flavour, notes, {
#define OFFSET(field, value) [OTP_##field] = value,
#define LAYOUT_END }},
#include "otp_layouts.def"
};

const uint16_t *otp_layout_find(uint32_t release, bool jit, bool notes)
{
    for (size_t i = 0; i < sizeof builds / sizeof *builds; i++)
        if (builds[i].release == release && builds[i].jit == jit && builds[i].notes == notes)
            return builds[i].off;
    return NULL;
}

/* ---- reading */

struct check {
    const struct memory_file *memory; /* of the target */
    const struct otp_layout *layout;
    uint32_t natoms;
    uint32_t max, lines; /* of the process table: slots, cache lines */
    unsigned put_away; /* processes that a thread of the VM is still putting away */
    char *why;
    size_t size;
};

static int doubt(struct check *c, const char *format, ...) __attribute__((format(printf, 2, 3)));

static int doubt(struct check *c, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    vsnprintf(c->why, c->size, format, args);
    va_end(args);
    return -ENOTSUP;
}

static int too_early(struct check *c, const char *what)
{
    snprintf(c->why, c->size, "%s not there yet", what);
    return -EAGAIN;
}

static bool read_memory(const struct check *c, uint64_t address, void *out, size_t size)
{
    return memory_file_read(c->memory, address, out, size);
}

/* A member of `size` bytes at most 8, zero-extended. */
static bool read_member(const struct check *c, uint64_t base, enum otp_field field, size_t size, uint64_t *out)
{
    uint16_t offset = c->layout->off[field];

    *out = 0;
    return offset != OTP_NOWHERE && read_memory(c, base + offset, out, size);
}

/* ---- the code */

/* A breakpoint, or the call that newer kernels put in place of a nop of five bytes: someone else watches too. */
static size_t probe_bytes(const unsigned char *memory, const unsigned char *file, size_t left)
{
    static const unsigned char nop5[] = {0x0f, 0x1f, 0x44, 0x00, 0x00};

    if (*memory == 0xcc)
        return 1;
    return *memory == 0xe8 && left >= sizeof nop5 && !memcmp(file, nop5, sizeof nop5) ? sizeof nop5 : 0;
}

static int compare_text(struct check *c, const unsigned char *memory, const unsigned char *file, uint64_t address,
                        size_t size)
{
    size_t i = 0, n;

    if (!memcmp(memory, file, size))
        return 0;
    while (i < size) {
        n = memory[i] == file[i] ? 1 : probe_bytes(memory + i, file + i, size - i);
        if (!n)
            return doubt(c, "its code in memory is not that of its file, at 0x%llx", (unsigned long long)(address + i));
        i += n;
    }
    return 0;
}

static int check_text(struct check *c, struct otp_image *image)
{
    const unsigned char *file;
    unsigned char *memory;
    int err;

    if (!image->text_size || image->text_size > MAX_TEXT)
        return doubt(c, "its file has no code of a sensible size");
    file = otp_image_at(image, image->text, image->text_size);
    memory = malloc(image->text_size);
    if (!memory || !file)
        err = doubt(c, memory ? "its file does not hold its code" : "out of memory");
    else if (!read_memory(c, image->text + c->layout->bias, memory, image->text_size))
        err = doubt(c, "its code is not where its memory map says");
    else
        err = compare_text(c, memory, file, image->text, image->text_size);
    free(memory);
    return err;
}

/* ---- atoms */

/* Its text; false when the table does not hold it as it must. */
static bool read_atom(const struct check *c, uint32_t index, char text[OTP_ATOM_TEXT])
{
    return index < c->natoms && !otp_atoms_read(c->layout, c->memory, index, text);
}

static bool count_atoms(struct check *c)
{
    uint64_t n;

    if (!read_member(c, c->layout->atoms, OTP_INDEX_ENTRIES, 4, &n))
        return false;
    c->natoms = (uint32_t)n;
    return true;
}

static int check_atoms(struct check *c)
{
    static const char *const first[] = {"false", "true", "_", "nonode@nohost", "$end_of_table", "", "infinity"};
    char name[OTP_ATOM_TEXT];

    if (!count_atoms(c))
        return doubt(c, "its atom table cannot be read");
    if (!c->natoms)
        return too_early(c, "its atoms are");
    if (c->natoms < sizeof first / sizeof *first || c->natoms > MAX_ATOMS)
        return doubt(c, "its atom table says %u atoms", c->natoms);
    for (uint32_t i = 0; i < sizeof first / sizeof *first; i++)
        if (!read_atom(c, i, name) || strcmp(name, first[i]))
            return doubt(c, "atom %u is not '%s'", i, first[i]);
    return read_atom(c, c->natoms - 1, name) ? 0 : doubt(c, "its last atom, %u, cannot be read", c->natoms - 1);
}

static bool is_atom(const struct check *c, uint64_t term)
{
    return (term & 0x3f) == OTP_TAG_ATOM && term >> 6 < c->natoms;
}

/* Module, function, arity. */
static bool is_mfa(const struct check *c, const uint64_t word[3])
{
    return is_atom(c, word[0]) && is_atom(c, word[1]) && word[2] <= MAX_ARITY;
}

/* ---- the process table */

/* How ids are packed follows from the size of the table; the emulator must have come to the same. */
static bool packs_well(uint64_t max, const struct otp_packing *p)
{
    return max >= 1024 && max <= 1 << 27 && !(max & (max - 1)) && p->pix_mask == max - 1 && p->cl_shift < 32 &&
           p->cli_shift < 32 && (p->cl_mask + 1) << p->cl_shift == max && p->cli_mask == (1ull << p->cl_shift) - 1 &&
           1ull << p->cli_shift == p->cl_mask + 1;
}

/* From 27 on the low word of an id is packed too; until then it is number and serial as they are. */
static struct otp_packing packing_of(const struct otp_packing *read, size_t mask)
{
    static const struct otp_packing plain = {.data_mask = (1 << 28) - 1, .number_bits = 15};
    struct otp_packing packing = mask == 4 ? plain : *read;

    if (mask == 8) {
        packing.data_mask = ~0ull;
        packing.number_bits = 28;
    }
    return packing;
}

/* A table of processes or ports. */
struct table {
    uint64_t address, tab, max, element, count;
    size_t mask; /* bytes of a mask of its packing */
    struct otp_packing packing; /* as it was read */
};

/* `what`: processes or ports. */
static int read_table(struct check *c, uint64_t address, const char *what, struct table *t)
{
    uint64_t pix_mask, cl_mask, cli_mask, cl_shift, cli_shift;
    size_t mask = c->layout->off[OTP_PTAB_CL_MASK] - c->layout->off[OTP_PTAB_PIX_MASK];

    if (mask != 4 && mask != 8)
        return doubt(c, "the offsets of its table of %s make no sense", what);
    if (!read_member(c, address, OTP_PTAB_TAB, 8, &t->tab) || !read_member(c, address, OTP_PTAB_MAX, 4, &t->max) ||
        !read_member(c, address, OTP_PTAB_PIX_MASK, mask, &pix_mask) ||
        !read_member(c, address, OTP_PTAB_CL_MASK, mask, &cl_mask) ||
        !read_member(c, address, OTP_PTAB_CLI_MASK, mask, &cli_mask) ||
        !read_member(c, address, OTP_PTAB_CL_SHIFT, 4, &cl_shift) ||
        !read_member(c, address, OTP_PTAB_CLI_SHIFT, 4, &cli_shift) ||
        !read_member(c, address, OTP_PTAB_ELEMENT_SIZE, 8, &t->element) ||
        !read_member(c, address, OTP_PTAB_COUNT, 4, &t->count))
        return doubt(c, "its table of %s cannot be read", what);
    t->address = address;
    t->mask = mask;
    t->packing = (struct otp_packing){.pix_mask = pix_mask, .cl_mask = cl_mask, .cli_mask = cli_mask,
                                      .cl_shift = (uint32_t)cl_shift, .cli_shift = (uint32_t)cli_shift};
    if (!t->count)
        return 0;
    if (!packs_well(t->max, &t->packing))
        return doubt(c, "its table of %s does not pack ids as one for %llu", what, (unsigned long long)t->max);
    if (t->count > t->max)
        return doubt(c, "its table holds %llu of %llu %s", (unsigned long long)t->count, (unsigned long long)t->max,
                     what);
    return 0;
}

static int check_table(struct check *c, struct otp_layout *layout)
{
    struct table t;
    int err = read_table(c, layout->procs, "processes", &t);

    if (err)
        return err;
    if (!t.count)
        return too_early(c, "its process table is");
    if (t.element != layout->off[OTP_PROC_SIZE] || t.element > MAX_PROCESS)
        return doubt(c, "its processes have %llu bytes, not %u", (unsigned long long)t.element,
                     layout->off[OTP_PROC_SIZE]);
    c->max = (uint32_t)t.max;
    c->lines = (uint32_t)t.packing.cl_mask + 1;
    layout->packing = packing_of(&t.packing, t.mask);
    layout->places = t.packing;
    return 0;
}

/* ---- processes */

/* A process as it was read: members by field. */
struct process {
    uint64_t address;
    unsigned char bytes[MAX_PROCESS];
};

static uint64_t member(const struct check *c, const struct process *p, enum otp_field field, size_t size)
{
    uint64_t value = 0;
    uint16_t offset = c->layout->off[field];

    if (offset != OTP_NOWHERE && offset + size <= MAX_PROCESS)
        memcpy(&value, p->bytes + offset, size);
    return value;
}

static bool has_state(const struct check *c, const struct process *p, enum otp_field bit)
{
    return member(c, p, OTP_PROC_STATE, 4) >> (c->layout->off[bit] & 31) & 1;
}

enum reading { RESTS, BUSY, GONE };

/* Reads what stands in a slot until two readings agree, so that nothing of it moves while it is judged. */
static enum reading read_process(const struct check *c, uint64_t slot, struct process *p)
{
    struct process again;
    uint64_t size = c->layout->off[OTP_PROC_SIZE], tab, invalid, next;

    if (!read_member(c, c->layout->procs, OTP_PTAB_TAB, 8, &tab) ||
        !read_member(c, c->layout->procs, OTP_PTAB_INVALID, 8, &invalid) ||
        !read_memory(c, tab + slot * 8, &p->address, 8))
        return GONE;
    for (int i = 0; i < READINGS; i++) {
        if (!p->address || p->address == invalid || !read_memory(c, p->address, p->bytes, size) ||
            !read_memory(c, p->address, again.bytes, size) || !read_memory(c, tab + slot * 8, &next, 8))
            return GONE;
        if (next == p->address && !memcmp(p->bytes, again.bytes, size))
            return has_state(c, p, OTP_STATE_FREE) || has_state(c, p, OTP_STATE_EXITING) ||
                           has_state(c, p, OTP_STATE_RUNNING) || has_state(c, p, OTP_STATE_SYS) ||
                           has_state(c, p, OTP_STATE_DIRTY) || has_state(c, p, OTP_STATE_GC)
                       ? BUSY
                       : RESTS;
        p->address = next;
    }
    return BUSY;
}

/* Each is where the one before it is, or above, and a word's address. */
static bool ascend(const uint64_t *at, int n)
{
    for (int i = 0; i < n; i++)
        if (at[i] & 7 || (i && at[i] < at[i - 1]))
            return false;
    return true;
}

static bool heap_fits(const struct check *c, const struct process *p)
{
    uint64_t young[] = {member(c, p, OTP_PROC_HEAP, 8), member(c, p, OTP_PROC_HTOP, 8), member(c, p, OTP_PROC_STOP, 8),
                        member(c, p, OTP_PROC_HEND, 8)};
    uint64_t old[] = {member(c, p, OTP_PROC_OLD_HEAP, 8), member(c, p, OTP_PROC_OLD_HTOP, 8),
                      member(c, p, OTP_PROC_OLD_HEND, 8)};
    uint64_t high_water = member(c, p, OTP_PROC_HIGH_WATER, 8);

    return young[0] && ascend(young, 4) && young[3] - young[0] == member(c, p, OTP_PROC_HEAP_SZ, 8) * 8 &&
           young[0] <= high_water && high_water <= young[3] && ascend(old, 3) && !old[0] == !old[2];
}

static bool is_pid_like(uint64_t term)
{
    return (term & 0xf) == OTP_TAG_PID || (term & 3) == OTP_TAG_BOXED;
}

/* The atom it is registered as, or 0. Fails: the RegProc at `reg` is not its own. */
static bool read_name(const struct check *c, const struct process *p, uint64_t *name)
{
    uint64_t reg = member(c, p, OTP_PROC_REG, 8), process;

    *name = 0;
    return !reg || (read_member(c, reg, OTP_REG_PROCESS, 8, &process) && process == p->address &&
                    read_member(c, reg, OTP_REG_NAME, 8, name) && is_atom(c, *name));
}

/* Fails: -ENOTSUP; -EBUSY when all it has is a scheduler, as one that a thread is putting away. */
static int check_resting(struct check *c, const struct process *p, uint64_t number)
{
    uint64_t mfa[] = {member(c, p, OTP_PROC_INITIAL, 8), member(c, p, OTP_PROC_INITIAL, 8), 0}, name;
    uint16_t initial = c->layout->off[OTP_PROC_INITIAL];
    const char *wrong = NULL;
    int err = -ENOTSUP;

    if (initial + sizeof mfa <= MAX_PROCESS)
        memcpy(mfa, p->bytes + initial, sizeof mfa);
    if (!heap_fits(c, p))
        wrong = "heap";
    else if (!is_mfa(c, mfa))
        wrong = "initial call";
    else if (!is_pid_like(member(c, p, OTP_PROC_GROUP_LEADER, 8)))
        wrong = "group leader";
    else if (!is_pid_like(member(c, p, OTP_PROC_PARENT, 8)) && !is_atom(c, member(c, p, OTP_PROC_PARENT, 8)) &&
             member(c, p, OTP_PROC_PARENT, 8) != OTP_TAG_NIL)
        wrong = "parent";
    else if (!member(c, p, OTP_PROC_ARGS, 8) || !member(c, p, OTP_PROC_I, 8))
        wrong = "place to resume";
    else if (!member(c, p, OTP_PROC_QUEUE, 8) && member(c, p, OTP_PROC_MQ_LEN, 8))
        wrong = "message queue";
    else if (!read_name(c, p, &name))
        wrong = "registered name";
    else if (member(c, p, OTP_PROC_SCHEDULER, 8))
        wrong = "scheduler", err = -EBUSY;
    if (!wrong)
        return 0;
    doubt(c, "the %s of process %llu does not lie where it should", wrong, (unsigned long long)number);
    return err;
}

/*
 * A thread that is preempted while it puts a process away leaves it in between for as long as it
 * waits for a processor: what looks wrong is looked at again, for an eighth of a second in all.
 */
static int check_slot(struct check *c, uint64_t slot, uint64_t number)
{
    struct process p;
    uint64_t id;
    int err = 0;

    for (unsigned wait_us = 1000; wait_us <= LONGEST_WAIT_US; wait_us *= 2) {
        if (read_process(c, slot, &p) != RESTS)
            return 0;
        id = member(c, &p, OTP_PROC_ID, 8);
        if ((id & 0xf) != OTP_TAG_PID || otp_slot_of(c->layout, id) != slot)
            err = doubt(c, "the id of a process does not decode to its place in the table");
        else
            err = check_resting(c, &p, number);
        if (!err)
            return 0;
        usleep(wait_us);
        count_atoms(c); /* it may have been named meanwhile */
    }
    /* A thread of a VM that is stopped stays in between: so few are no sign that the place is another. */
    return err != -EBUSY ? err : c->put_away++ < PUT_AWAY_MAX ? 0 : -ENOTSUP;
}

/* The function's info stands before its code. */
static bool stands_in_function(const struct check *c, const struct process *p)
{
    uint64_t words[FUNCTION / 8], at = member(c, p, OTP_PROC_I, 8) & ~7ull;

    for (size_t size = 4096; size <= FUNCTION; size *= 4) {
        if (!read_memory(c, at - size, words, size))
            return false;
        for (size_t i = size / 8 - 2; i-- > 0;)
            if (is_mfa(c, words + i))
                return true;
    }
    return false;
}

enum { INIT_TRIES = 20, INIT_WAIT_US = 5000 };

/* The first process of every node; it is registered, and waits in a loop in Erlang. */
static int check_init(struct check *c)
{
    char name[OTP_ATOM_TEXT];
    struct process p;
    uint64_t atom;
    int err = check_slot(c, 0, 0);

    if (read_process(c, 0, &p) != RESTS)
        return too_early(c, "its init process is");
    if (err)
        return member(c, &p, OTP_PROC_HEAP, 8) ? err : too_early(c, "its init process is");
    if (!member(c, &p, OTP_PROC_STATE, 4))
        return doubt(c, "its init process has no priority");
    if (!read_name(c, &p, &atom) || !atom)
        return too_early(c, "its init process is registered, but");
    if (!read_atom(c, (uint32_t)(atom >> 6), name) || strcmp(name, "init"))
        return doubt(c, "its first process is not registered as init");
    /* While it starts a VM, it may be on its way to a dirty scheduler or back: it stands in no function then. */
    for (int tries = INIT_TRIES; !stands_in_function(c, &p); tries--) {
        if (!tries)
            return doubt(c, "its init process stands in no function");
        usleep(INIT_WAIT_US);
        if (read_process(c, 0, &p) != RESTS)
            return too_early(c, "its init process is");
    }
    return 0;
}

static int check_processes(struct check *c)
{
    int err = 0;

    /* Numbers that follow each other are dealt out over the cache lines. */
    for (uint64_t number = 0; !err && number < PROCESSES; number++)
        err = check_slot(c, number % c->lines * (c->max / c->lines) + number / c->lines, number);
    return err;
}

/* ---- ports */

/* A short text for people. */
static bool is_name(const struct check *c, uint64_t address)
{
    char name[MAX_NAME];

    if (!read_memory(c, address, name, 1) || !name[0])
        return false;
    for (size_t i = 0; i < sizeof name; i++) {
        if (!read_memory(c, address + i, name + i, 1) || (name[i] && (unsigned char)name[i] < ' '))
            return false;
        if (!name[i])
            return true;
    }
    return false; /* a name of any length is that of a command: its driver's is not */
}

static bool is_command(const struct check *c, uint64_t address)
{
    char first;

    return read_memory(c, address, &first, 1) && first;
}

static bool port_bit(const struct check *c, uint64_t state, enum otp_field bit)
{
    return state >> (c->layout->off[bit] & 31) & 1;
}

/* Whether what the port's driver keeps names the port. */
static bool names_port(const struct check *c, uint64_t data, uint64_t port)
{
    uint64_t words[OTP_DRIVER_WORDS];

    if (data == port)
        return true;
    for (size_t i = 0; read_memory(c, data, words, sizeof words) && i < OTP_DRIVER_WORDS; i++)
        if (words[i] == port)
            return true;
    return false;
}

/* Whether the port, which carries a connection, leads to a node that has a name and is carried by the port. */
static bool leads_to_node(const struct check *c, uint64_t port, uint64_t id)
{
    uint64_t specific, node, name, controller, state;

    return read_member(c, port, OTP_PORT_SPECIFIC, 8, &specific) && read_member(c, specific, OTP_PORT_NODE, 8, &node) &&
           read_member(c, node, OTP_NODE_NAME, 8, &name) && is_atom(c, name) &&
           read_member(c, node, OTP_NODE_CONTROLLER, 8, &controller) && controller == id &&
           read_member(c, node, OTP_NODE_STATE, 4, &state) &&
           (state == OTP_NODE_CONNECTED || state == OTP_NODE_EXITING);
}

/*
 * What of the port does not lie where it should; NULL: all does. *linked: its driver names it, as those of the emulator
 * do.
 */
static const char *look_at_port(const struct check *c, uint64_t port, uint64_t place, bool *linked)
{
    uint64_t id, state, flags, owner, name, driver, data, mask = c->layout->port_packing.pix_mask;

    if (!read_member(c, port, OTP_PROC_ID, 8, &id) || (id & 0xf) != OTP_TAG_PORT ||
        (mask ? id >> 4 & mask : id >> 32) != place)
        return "number";
    if (!read_member(c, port, OTP_PORT_STATE, 4, &state) || state >> PORT_STATE_BITS ||
        !port_bit(c, state, OTP_PORT_STATE_CONNECTED))
        return "state";
    if (!read_member(c, port, OTP_PORT_FLAGS, 4, &flags) || flags >> PORT_FLAG_BITS)
        return "flags";
    if (!read_member(c, port, OTP_PORT_CONNECTED, 8, &owner) || ((owner & 0xf) != OTP_TAG_PID && !is_atom(c, owner)))
        return "owner";
    if (!read_member(c, port, OTP_PORT_NAME, 8, &name) || !is_command(c, name))
        return "name";
    if (!read_member(c, port, OTP_PORT_DRIVER, 8, &driver) || !read_member(c, driver, OTP_DRIVER_NAME, 8, &name) ||
        !is_name(c, name))
        return "driver";
    if (!read_member(c, port, OTP_PORT_DATA, 8, &data))
        return "driver's data";
    *linked |= names_port(c, data, port);
    return port_bit(c, state, OTP_PORT_STATE_CONNECTION) && !leads_to_node(c, port, id) ? "node" : NULL;
}

/* One that opens or closes just then is looked at again. */
static int check_port(struct check *c, const struct table *t, uint64_t place, bool *linked)
{
    uint64_t port = 0, invalid = 0;
    const char *wrong = NULL;

    for (unsigned wait_us = 1000; wait_us <= LONGEST_WAIT_US; wait_us *= 2) {
        if (!read_member(c, t->address, OTP_PTAB_INVALID, 8, &invalid) || !read_memory(c, t->tab + place * 8, &port, 8))
            return doubt(c, "its table of ports cannot be read");
        if (!port || port == invalid)
            return 0;
        wrong = look_at_port(c, port, place, linked);
        if (!wrong)
            return 0;
        usleep(wait_us);
        count_atoms(c);
    }
    return doubt(c, "the %s of a port does not lie where it should", wrong);
}

static int check_open_ports(struct check *c, const struct table *t)
{
    uint64_t lines = t->packing.cl_mask + 1, place;
    bool linked = false;
    int err = 0;

    for (uint64_t number = 0; !err && number < PROCESSES; number++) {
        place = number % lines * (t->max / lines) + number / lines;
        err = check_port(c, t, place, &linked);
    }
    return err || linked ? err : doubt(c, "no port of it is what its driver keeps");
}

int otp_check_ports(const struct memory_file *memory, struct otp_layout *layout, char *why, size_t size)
{
    struct check c = {.memory = memory, .layout = layout, .why = why, .size = size};
    uint64_t behind = (uint64_t)layout->off[OTP_PORT_QUEUE_SIZE] + layout->off[OTP_PORT_LOCK_SIZE] + PORT_NAME_BYTES;
    uint64_t expected = layout->off[OTP_PORT_SIZE] + behind;
    struct table t;
    int err;

    err = read_table(&c, layout->ports, "ports", &t);
    if (!err && (!t.count || !count_atoms(&c)))
        err = too_early(&c, "its ports are");
    if (!err && t.element != expected)
        err = doubt(&c, "its ports have %llu bytes, not %llu", (unsigned long long)t.element,
                    (unsigned long long)expected);
    if (!err) {
        layout->port_packing = packing_of(&t.packing, t.mask);
        err = check_open_ports(&c, &t);
    }
    return err;
}

int otp_check(const struct memory_file *memory, struct otp_image *image, struct otp_layout *layout, char *why,
              size_t size)
{
    struct check c = {.memory = memory, .layout = layout, .why = why, .size = size};
    int err = check_text(&c, image);

    if (!err)
        err = check_atoms(&c);
    if (!err)
        err = check_table(&c, layout);
    if (!err)
        err = check_init(&c);
    if (!err)
        err = check_processes(&c);
    return err;
}
