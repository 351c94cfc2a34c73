/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Invariant: a process that is told stood in its slot before and after it was read, both readings say the same pid, and
 * that is the pid of the slot. Every number that is read is bounded before something is done so often.
 */
#include "snapshot_state.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/clock.h"
#include "names.h"
#include "otp_code.h"
#include "otp_registered.h"

enum {
    SLOTS = SNAPSHOT_SLOTS,
    BATCH = SNAPSHOT_BATCH,
    MAX_SLOTS = 1 << 27,
    MOST_WRONG = 1 << 16,
    MAX_SIGNALS = 256,  /* of a queue that are no messages */
    BUFFERS = 64,       /* of messages in front of a queue: ERTS_PROC_SIG_INQ_BUFFERED_NR_OF_BUFFERS */
    MAX_LIST = 256,
    MAX_STACK = 1 << 16, /* words */
    NAME_BYTES = 4096,
    ATOM_SHIFT = 6,
    NUMBER_MASK = 0xfffffff,
};

static const uint64_t MAX_COUNT = 1ull << 44; /* words, messages: no VM has so many */

/* ---- members of a process */

static uint64_t member(const struct snapshot *s, const unsigned char *p, enum otp_field field)
{
    return snapshot_member(s, p, field);
}

static bool has_bit(const struct snapshot *s, uint64_t flags, enum otp_field bit)
{
    return snapshot_bit(s, flags, bit);
}

static uint32_t state_of(const struct snapshot *s, const unsigned char *p)
{
    return (uint32_t)member(s, p, OTP_PROC_STATE);
}

static bool read_at(const struct snapshot *s, uint64_t address, void *out, size_t size)
{
    return snapshot_read(s, address, out, size);
}

/* ---- a stock emulator */

/* Number and serial of a pid: struct otp_packing. */
static ev_id id_of_stock(const struct otp_layout *layout, uint64_t term)
{
    const struct otp_packing *p = &layout->packing;
    uint64_t d = snapshot_unpack(p, term);

    return ev_id_of_pid((uint32_t)(d & ((1ull << (p->number_bits & 63)) - 1)), (uint32_t)(d >> (p->number_bits & 63)));
}

static bool read_id_of_stock(const struct snapshot *s, const unsigned char *p, uint64_t slot, ev_id *out)
{
    uint64_t id = member(s, p, OTP_PROC_ID);

    if ((id & 0xf) != OTP_TAG_PID || otp_slot_of(s->layout, id) != slot || has_bit(s, state_of(s, p), OTP_STATE_FREE))
        return false;
    *out = id_of_stock(s->layout, id);
    return true;
}

static bool is_stock_free(const struct snapshot *s, const unsigned char *p)
{
    return has_bit(s, state_of(s, p), OTP_STATE_FREE);
}

/*
 * From OTP 27 on a signal that is no message says how many messages stand before it, and the queue how many behind the
 * last. `at`: pointer to the pointer to the first. False: not all could be followed.
 */
static bool add_before_signals(const struct snapshot *s, uint64_t at, uint64_t *messages)
{
    const uint16_t *off = s->layout->off;
    uint64_t signal, before;

    for (int i = 0; at && off[OTP_SIGNAL_MESSAGES] != OTP_NOWHERE; i++) {
        if (i == MAX_SIGNALS || !read_at(s, at, &signal, sizeof signal) ||
            !read_at(s, signal + off[OTP_SIGNAL_MESSAGES], &before, sizeof before) ||
            !read_at(s, signal + off[OTP_SIGNAL_NEXT], &at, sizeof at) || before > MAX_COUNT)
            return false;
        *messages += before;
    }
    return true;
}

/* Those of the queues in front of the outer one, which a process has that many send to at the same time. */
static bool add_buffered(const struct snapshot *s, uint64_t buffers, uint64_t *messages)
{
    const uint16_t *off = s->layout->off;
    uint16_t length = off[off[OTP_BUFFER_LEN] != OTP_NOWHERE ? OTP_BUFFER_LEN : OTP_BUFFER_MLEN];
    uint64_t n;

    for (uint64_t i = 0; buffers && length != OTP_NOWHERE && i < BUFFERS; i++) {
        if (!read_at(s, buffers + i * off[OTP_BUFFER_SIZE] + length, &n, sizeof n) || n > MAX_COUNT)
            return false;
        *messages += n;
    }
    return true;
}

static void count_messages_of_stock(const struct snapshot *s, const unsigned char *p, struct snapshot_process *out)
{
    static const enum otp_field lengths[] = {OTP_PROC_MQ_LEN, OTP_PROC_MIDDLE_LEN, OTP_PROC_SIG_LEN, OTP_PROC_OUTER_LEN,
                                             OTP_PROC_OUTER_MLEN};
    int64_t sum = 0;

    for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++)
        if (s->layout->off[lengths[i]] != OTP_NOWHERE)
            sum = (int64_t)((uint64_t)sum + member(s, p, lengths[i]));
    out->more = sum < 0; /* OTP 25, while process_info looks at it */
    out->messages = sum < 0 ? 0 : (uint64_t)sum;
    if (!add_before_signals(s, member(s, p, OTP_PROC_MIDDLE_SIGNALS), &out->messages) ||
        !add_before_signals(s, member(s, p, OTP_PROC_OUTER_SIGNALS), &out->messages) ||
        !add_buffered(s, member(s, p, OTP_PROC_BUFFERS), &out->messages))
        out->more = true;
}

static uint64_t count_binaries_of_stock(const struct snapshot *s, const unsigned char *p)
{
    return member(s, p, OTP_PROC_BINARIES) + member(s, p, OTP_PROC_OLD_BINARIES);
}

static bool is_stock_hibernated(const struct snapshot *s, const unsigned char *p)
{
    return has_bit(s, (uint32_t)member(s, p, OTP_PROC_FLAGS), OTP_FLAG_HIBERNATED);
}

/* Where it is told which message it looks at is, at first, where the queue begins. */
static void look_at_queue_of_stock(const struct snapshot *s, const unsigned char *p, struct snapshot_process *out)
{
    uint64_t save = member(s, p, OTP_PROC_SAVE);

    out->first_message = member(s, p, OTP_PROC_QUEUE);
    out->skips = save && save != out->address + s->layout->off[OTP_PROC_QUEUE];
}

static bool has_monitors_of_stock(const struct snapshot *s, const unsigned char *p)
{
    return s->layout->off[OTP_PROC_LINKS] == OTP_NOWHERE || member(s, p, OTP_PROC_MONITORS);
}

static bool read_slots_of_stock(const struct snapshot *s, uint64_t *out)
{
    uint32_t most;

    if (!read_at(s, s->layout->procs + s->layout->off[OTP_PTAB_MAX], &most, sizeof most))
        return false;
    *out = most;
    return true;
}

static uint64_t apply_of_stock(const struct snapshot *s)
{
    return s->layout->apply;
}

/* ---- an erlvm */

/* Where a process is in the table tells its number. */
static bool read_id_of_ours(const struct snapshot *s, const unsigned char *p, uint64_t slot, ev_id *out)
{
    uint64_t id = member(s, p, OTP_PROC_ID);

    *out = ev_id_of_pid((uint32_t)slot, (uint32_t)(id >> 32));
    return (id & 0xf) == OTP_TAG_PID && (id >> 4 & NUMBER_MASK) == slot;
}

static bool is_own_free(const struct snapshot *s, const unsigned char *p)
{
    return !member(s, p, OTP_PROC_ID) || !state_of(s, p);
}

static uint64_t own_member(const struct snapshot *s, const unsigned char *p, enum erlvm_field field, size_t size)
{
    return snapshot_number(p, s->ours->numbers[field], size);
}

static void count_messages_of_ours(const struct snapshot *s, const unsigned char *p, struct snapshot_process *out)
{
    out->messages = own_member(s, p, ERLVM_PROC_MESSAGES, 4) + own_member(s, p, ERLVM_PROC_INCOMING, 4);
    out->more = false;
}

static uint64_t count_binaries_of_ours(const struct snapshot *s, const unsigned char *p)
{
    return own_member(s, p, ERLVM_PROC_BINARIES, 8) + own_member(s, p, ERLVM_PROC_YOUNG_BINARIES, 8) +
           own_member(s, p, ERLVM_PROC_OLD_BINARIES, 8);
}

static bool has_own_monitors(const struct snapshot *s, const unsigned char *p)
{
    bool has_ties = s->ours->roots[LAYOUT_ROOM_PEERS] && s->ours->roots[LAYOUT_ROOM_MAILBOXES];

    return !has_ties || own_member(s, p, ERLVM_PROC_MONITORS, 8);
}

static bool is_own_hibernated(const struct snapshot *s, const unsigned char *p)
{
    return state_of(s, p) & s->ours->numbers[ERLVM_PROC_HIBERNATED];
}

static void look_at_queue_of_ours(const struct snapshot *s, const unsigned char *p, struct snapshot_process *out)
{
    uint64_t save = own_member(s, p, ERLVM_PROC_SAVE, 8);

    out->first_message = own_member(s, p, ERLVM_PROC_FIRST, 8);
    out->skips = save && save != out->address + s->ours->numbers[ERLVM_PROC_FIRST];
}

static bool read_slots_of_ours(const struct snapshot *s, uint64_t *out)
{
    return read_at(s, s->layout->procs + s->ours->numbers[ERLVM_PROCS_USED], out, sizeof *out);
}

static uint64_t apply_of_ours(const struct snapshot *s)
{
    return s->ours->roots[LAYOUT_ROOM_STUBS] + s->ours->numbers[ERLVM_STUB_START];
}

static const struct snapshot_kind stock = {
    .id = read_id_of_stock,
    .is_free = is_stock_free,
    .messages = count_messages_of_stock,
    .binaries = count_binaries_of_stock,
    .watches = has_monitors_of_stock,
    .hibernated = is_stock_hibernated,
    .queue = look_at_queue_of_stock,
    .slots = read_slots_of_stock,
    .apply = apply_of_stock,
};
static const struct snapshot_kind ours = {
    .id = read_id_of_ours,
    .is_free = is_own_free,
    .messages = count_messages_of_ours,
    .binaries = count_binaries_of_ours,
    .watches = has_own_monitors,
    .hibernated = is_own_hibernated,
    .queue = look_at_queue_of_ours,
    .slots = read_slots_of_ours,
    .apply = apply_of_ours,
};

/* ---- rows */

const char *snapshot_status_text(enum snapshot_status status)
{
    static const char *const texts[] = {
        [SNAPSHOT_WAITING] = "waiting",     [SNAPSHOT_RUNNABLE] = "runnable",
        [SNAPSHOT_RUNNING] = "running",     [SNAPSHOT_SUSPENDED] = "suspended",
        [SNAPSHOT_COLLECTING] = "collecting", [SNAPSHOT_EXITING] = "exiting",
    };

    return (size_t)status < sizeof texts / sizeof *texts ? texts[status] : "?";
}

const char *snapshot_pid_text(ev_id id, char buf[SNAPSHOT_PID_BYTES])
{
    buf[0] = '\0';
    if (id)
        snprintf(buf, SNAPSHOT_PID_BYTES, "<0.%u.%u>", ev_id_number(id), ev_id_serial(id));
    return buf;
}

/* The first that holds says it. Source: erts_process_state2status of OTP. */
static enum snapshot_status status_of(const struct snapshot *s, uint32_t state)
{
    static const struct {
        enum otp_field bit;
        enum snapshot_status status;
    } rows[] = {
        {OTP_STATE_EXITING, SNAPSHOT_EXITING},     {OTP_STATE_GC, SNAPSHOT_COLLECTING},
        {OTP_STATE_SUSPENDED, SNAPSHOT_SUSPENDED}, {OTP_STATE_RUNNING, SNAPSHOT_RUNNING},
        {OTP_STATE_SYS, SNAPSHOT_RUNNING},         {OTP_STATE_DIRTY, SNAPSHOT_RUNNING},
        {OTP_STATE_DIRTY_SYS, SNAPSHOT_RUNNING},   {OTP_STATE_ACTIVE, SNAPSHOT_RUNNABLE},
        {OTP_STATE_ACTIVE_SYS, SNAPSHOT_RUNNABLE}, {OTP_STATE_DIRTY_ACTIVE, SNAPSHOT_RUNNABLE},
    };

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (has_bit(s, state, rows[i].bit))
            return rows[i].status;
    return SNAPSHOT_WAITING;
}

/* From one address to another, in words; MAX_COUNT + 1: that makes no sense. */
static uint64_t words_between(uint64_t start, uint64_t end)
{
    return end < start || start % 8 || end % 8 ? MAX_COUNT + 1 : (end - start) / 8;
}

/* False: it makes no sense. */
static bool fill_row(const struct snapshot *s, const unsigned char *p, struct snapshot_process *out)
{
    uint32_t state = state_of(s, p);

    out->status = status_of(s, state);
    out->hibernated = s->kind->hibernated(s, p);
    out->watches = s->kind->watches(s, p);
    out->dirty = has_bit(s, state, OTP_STATE_DIRTY) || has_bit(s, state, OTP_STATE_DIRTY_SYS);
    out->waits_io = !s->ours && out->status == SNAPSHOT_RUNNABLE && has_bit(s, state, OTP_STATE_DIRTY_IO);
    s->kind->queue(s, p, out);
    s->kind->messages(s, p, out);
    out->heap_words = words_between(member(s, p, OTP_PROC_HEAP), member(s, p, OTP_PROC_HEND));
    out->old_heap_words = words_between(member(s, p, OTP_PROC_OLD_HEAP), member(s, p, OTP_PROC_OLD_HEND));
    out->fragment_words = member(s, p, OTP_PROC_FRAGMENTS);
    out->binary_words = s->kind->binaries(s, p);
    out->reductions = member(s, p, OTP_PROC_REDS);
    out->parent = snapshot_pid(s, member(s, p, OTP_PROC_PARENT));
    return out->messages <= MAX_COUNT && out->heap_words <= MAX_COUNT && out->old_heap_words <= MAX_COUNT &&
           out->fragment_words <= MAX_COUNT && out->binary_words <= MAX_COUNT;
}

/* ---- all of them */

void snapshot_read_batch(struct snapshot_walk *w, unsigned char (*to)[SNAPSHOT_MOST])
{
    for (size_t i = 0; i < w->n; i++)
        w->pieces[i] = (struct memory_piece){w->slots[w->at[i]], to[i], w->size, false};
    memory_file_read_many(memory_file(w->s->memory), w->pieces, w->n);
}

/* One that is just getting another heap, say, makes no sense for a moment. */
static bool read_again(const struct snapshot_walk *w, struct snapshot_process *row)
{
    enum { TRIES = 5 };
    unsigned char bytes[SNAPSHOT_MOST] = {0};

    for (int i = 0; i < TRIES; i++)
        if (snapshot_read(w->s, row->address, bytes, w->size) &&
            snapshot_pid(w->s, member(w->s, bytes, OTP_PROC_ID)) == row->id && fill_row(w->s, bytes, row))
            return row->moved = true;
    return false;
}

/* Who is told of processes. */
struct process_taker {
    int (*take)(void *ctx, const struct snapshot_process *process);
    void *ctx;
};

static int visit_process(struct snapshot_walk *w, const struct snapshot_element *e)
{
    const struct process_taker *taker = w->taker;
    struct snapshot_process row = {.address = e->address, .id = e->id, .moved = e->moved};

    if (!fill_row(w->s, e->bytes, &row) && !read_again(w, &row)) {
        w->count.unclear++;
        return 0;
    }
    w->count.read++;
    return taker->take(taker->ctx, &row);
}

static int take_element(struct snapshot_walk *w, uint64_t slot, size_t i, bool stayed)
{
    const struct snapshot *s = w->s;
    struct snapshot_element e = {.address = w->slots[w->at[i]], .bytes = w->second[i],
                                 .moved = memcmp(w->first[i], w->second[i], w->size) != 0};
    ev_id before;

    if (!stayed || !w->pieces[i].read || !w->table->id(s, e.bytes, slot, &e.id)) {
        /* what is wrong twice, and stays, is not being made or freed */
        bool lies = stayed && w->pieces[i].read && !e.moved && !w->table->is_free(s, e.bytes);

        *(lies ? &w->count.unclear : &w->count.gone) += 1;
        return 0;
    }
    if (e.moved && (!w->table->id(s, w->first[i], slot, &before) || before != e.id)) {
        w->count.gone++;
        return 0;
    }
    return w->table->visit(w, &e);
}

/* Some come and go while the others are read; a table of which most makes no sense is none. */
static bool is_nonsense(const struct snapshot_count *count)
{
    return count->gone + count->unclear > count->read + MOST_WRONG;
}

/* Reads what was put together, of slots from `base` on, and tells it. */
static int take_batch(struct snapshot_walk *w, uint64_t base)
{
    size_t from = w->n ? w->at[0] : 0, size = w->n ? (w->at[w->n - 1] - from + 1) * sizeof *w->slots : 0;
    bool whole;
    int err = 0;

    snapshot_read_batch(w, w->first);
    snapshot_read_batch(w, w->second);
    whole = read_at(w->s, w->tab + (base + from) * sizeof *w->slots, w->later + from, size);
    for (size_t i = 0; whole && i < w->n && !err; i++)
        err = take_element(w, base + w->at[i], i, w->later[w->at[i]] == w->slots[w->at[i]]);
    w->n = 0;
    if (!err && is_nonsense(&w->count))
        return -EBADMSG;
    return whole ? err : -ESRCH;
}

static int take_slots(struct snapshot_walk *w, uint64_t base, size_t n)
{
    int err = 0;

    if (!read_at(w->s, w->tab + base * sizeof *w->slots, w->slots, n * sizeof *w->slots))
        return -ESRCH;
    for (size_t i = 0; i < n && !err; i++) {
        if (!w->slots[i] || w->slots[i] == w->invalid)
            continue;
        w->at[w->n++] = i;
        if (w->n == BATCH)
            err = take_batch(w, base);
    }
    return err ? err : take_batch(w, base);
}

static bool read_listed(const struct snapshot_walk *w, uint64_t *out)
{
    uint32_t n;

    if (!read_at(w->s, w->table->address + w->s->layout->off[OTP_PTAB_COUNT], &n, sizeof n))
        return false;
    *out = n;
    return true;
}

static int walk_table(struct snapshot_walk *w)
{
    const struct snapshot *s = w->s;
    const uint16_t *off = s->layout->off;
    uint64_t slots;
    int err = 0;

    if (!read_at(s, w->table->address + off[OTP_PTAB_TAB], &w->tab, sizeof w->tab) ||
        (off[OTP_PTAB_INVALID] != OTP_NOWHERE &&
         !read_at(s, w->table->address + off[OTP_PTAB_INVALID], &w->invalid, sizeof w->invalid)) ||
        !w->table->slots(s, &slots) || !read_listed(w, &w->count.listed))
        return -ESRCH;
    for (uint64_t base = 0; base < slots && base < MAX_SLOTS && !err; base += SLOTS)
        err = take_slots(w, base, slots - base < SLOTS ? slots - base : SLOTS);
    return err;
}

int snapshot_walk_table(struct snapshot *s, const struct snapshot_table *table, const void *taker,
                        struct snapshot_count *count)
{
    struct snapshot_walk *w = calloc(1, sizeof *w);
    uint64_t again;
    int err;

    if (count)
        *count = (struct snapshot_count){0};
    if (!w)
        return -ENOMEM;
    w->s = s;
    w->table = table;
    w->size = table->size < SNAPSHOT_MOST ? table->size : SNAPSHOT_MOST;
    w->taker = taker;
    memory_since(s->memory, clock_ns(CLOCK_MONOTONIC));
    err = walk_table(w);
    if (!err && !read_listed(w, &again))
        err = -ESRCH;
    if (count)
        *count = w->count;
    free(w);
    return err;
}

int snapshot_processes(struct snapshot *s, int (*take)(void *ctx, const struct snapshot_process *process), void *ctx,
                       struct snapshot_count *count)
{
    struct snapshot_table processes = {.address = s->layout->procs,
                                       .size = s->layout->off[OTP_PROC_SIZE],
                                       .slots = s->kind->slots,
                                       .id = s->kind->id,
                                       .is_free = s->kind->is_free,
                                       .visit = visit_process};

    s->owner.pairs = 0; /* names will be asked for anew */
    return snapshot_walk_table(s, &processes, &(struct process_taker){take, ctx}, count);
}

int snapshot_process_limit(struct snapshot *s, uint64_t *limit)
{
    uint32_t most;

    if (!read_at(s, s->layout->procs + s->layout->off[OTP_PTAB_MAX], &most, sizeof most))
        return -ESRCH;
    *limit = most;
    return 0;
}

/* Source: erts_ptab_new_element of OTP; process_set_next_place of an erlvm. */
bool snapshot_birth(const struct snapshot *s, ev_id id, uint64_t limit, uint64_t *order)
{
    if (s->ours) {
        *order = ev_id_serial(id) * limit + ev_id_number(id);
        return true;
    }
    *order = (uint64_t)ev_id_serial(id) << (s->layout->packing.number_bits & 31) | ev_id_number(id);
    return *order < limit;
}

int snapshot_atoms(struct snapshot *s, uint64_t *count, uint64_t *limit)
{
    uint32_t n, most;

    if (!read_at(s, s->layout->atoms + s->layout->off[OTP_INDEX_ENTRIES], &n, sizeof n) ||
        !read_at(s, s->layout->atoms + s->layout->off[OTP_INDEX_LIMIT], &most, sizeof most))
        return -ESRCH;
    *count = n;
    *limit = most;
    return 0;
}

/* ---- one of them */

ev_id snapshot_pid(const struct snapshot *s, uint64_t term)
{
    if ((term & 0xf) != OTP_TAG_PID)
        return 0;
    return s->ours ? ev_id_of_pid((uint32_t)(term >> 4 & NUMBER_MASK), (uint32_t)(term >> 32))
                   : id_of_stock(s->layout, term);
}

bool snapshot_lives(const struct snapshot *s, const struct snapshot_process *p)
{
    uint64_t id;

    return read_at(s, p->address + s->layout->off[OTP_PROC_ID], &id, sizeof id) && snapshot_pid(s, id) == p->id;
}

const struct wire_name *snapshot_names(struct snapshot *s, const struct snapshot_process *p,
                                       struct wire_name out[OTP_OWNER_NAMES])
{
    const struct wire_name *called = otp_owner_read(&s->owner, p->address, out);

    return called && snapshot_lives(s, p) ? called : NULL;
}

bool snapshot_owner(struct snapshot *s, const struct snapshot_process *p, struct wire_name *out)
{
    struct wire_name names[OTP_OWNER_NAMES];
    const struct wire_name *called = snapshot_names(s, p, names);

    if (called)
        *out = *called;
    return called != NULL;
}

bool snapshot_registered(struct snapshot *s, const struct snapshot_process *p, uint64_t *atom)
{
    uint64_t name;

    if (!otp_registered_name(s->memory, s->layout, p->address, &name) || !snapshot_lives(s, p))
        return false;
    *atom = name >> ATOM_SHIFT;
    return true;
}

static bool is_atom(uint64_t term)
{
    return (term & 0x3f) == OTP_TAG_ATOM;
}

/* Of a list, 255 at most. */
static uint64_t count_list(const struct snapshot *s, uint64_t list)
{
    uint64_t cell[2], n = 0;

    for (; n < MAX_LIST - 1 && (list & 3) == OTP_TAG_LIST; n++, list = cell[1])
        if (memory_read(s->memory, list & ~7ull, cell, sizeof cell))
            break;
    return n;
}

/* The function of a process that applies its argument registers. */
static bool read_applied(const struct snapshot *s, uint64_t process, uint64_t mfa[3])
{
    uint64_t registers;

    if (memory_read(s->memory, process + s->layout->off[OTP_PROC_ARGS], &registers, sizeof registers) ||
        memory_read(s->memory, registers, mfa, 3 * sizeof *mfa))
        return false;
    mfa[2] = count_list(s, mfa[2]);
    return is_atom(mfa[0]) && is_atom(mfa[1]);
}

/* Before the place where a native of a stock emulator is called once more stands its name. Source: ErtsNativeFunc. */
static bool read_native(const struct snapshot *s, uint64_t resume, uint64_t mfa[3])
{
    enum { MAX_ARITY = 255 };

    return s->layout->jit && !memory_read(s->memory, resume - 3 * sizeof *mfa, mfa, 3 * sizeof *mfa) &&
           is_atom(mfa[0]) && is_atom(mfa[1]) && mfa[2] <= MAX_ARITY;
}

static void name_place(struct snapshot *s, uint64_t process, uint64_t resume, struct otp_code_place *place, char *buf,
                       size_t size)
{
    struct wire_name name = {.form = WIRE_MFA};
    uint64_t mfa[3], export;

    if (resume == s->kind->apply(s) ? read_applied(s, process, mfa) : read_native(s, resume, mfa)) {
        name.words[0] = mfa[0] >> ATOM_SHIFT;
        name.words[1] = mfa[1] >> ATOM_SHIFT;
        name.words[2] = mfa[2];
        const char *text = names_text(s->names, s->layout->vm, &name, buf, size);

        if (text != buf)
            snprintf(buf, size, "%s", text);
        return;
    }
    if (s->ours && resume == s->layout->ours.waits &&
        !memory_read(s->memory, process + s->layout->ours.native, &export, sizeof export))
        resume = export + s->layout->ours.stub;
    names_place(s->names, s->layout->vm, resume, OTP_CODE_NOW, place, buf, size);
}

bool snapshot_place(struct snapshot *s, const struct snapshot_process *p, char *buf, size_t size)
{
    struct otp_code_place place;
    uint64_t resume;

    if (memory_read(s->memory, p->address + s->layout->off[OTP_PROC_I], &resume, sizeof resume))
        return false;
    name_place(s, p->address, resume, &place, buf, size);
    return snapshot_lives(s, p);
}

/* The words of its stack from the top on, `room` at most. False: they cannot be read. */
static bool read_stack(const struct snapshot *s, const struct snapshot_process *p, uint64_t *words, size_t room,
                       size_t *n)
{
    uint64_t stop, end;

    if (!read_at(s, p->address + s->layout->off[OTP_PROC_STOP], &stop, sizeof stop) ||
        !read_at(s, p->address + s->layout->off[OTP_PROC_HEND], &end, sizeof end) ||
        words_between(stop, end) > MAX_COUNT)
        return false;
    *n = words_between(stop, end) < room ? words_between(stop, end) : room;
    return read_at(s, stop, words, *n * sizeof *words);
}

size_t snapshot_stack_words(struct snapshot *s, const struct snapshot_process *p, uint64_t *words, size_t room)
{
    size_t n;

    return read_stack(s, p, words, room, &n) ? n : 0;
}

/* Return addresses are marked as no term is (see otp_stack.c). */
static int take_callers(struct snapshot *s, const uint64_t *words, size_t n,
                        int (*take)(void *ctx, const struct snapshot_frame *frame), void *ctx)
{
    struct otp_code_place place;
    char function[NAME_BYTES];
    int err = 0;

    for (size_t i = 0; i < n && !err; i++)
        if (words[i] && !(words[i] & 3) &&
            !names_place(s->names, s->layout->vm, words[i] - 1, OTP_CODE_NOW, &place, function, sizeof function) &&
            place.kind == OTP_CODE_FUNCTION && strcmp(function, OTP_CODE_BOTTOM))
            err = take(ctx, &(struct snapshot_frame){function, place.file, place.line});
    return err;
}

int snapshot_stack(struct snapshot *s, const struct snapshot_process *p,
                   int (*take)(void *ctx, const struct snapshot_frame *frame), void *ctx)
{
    struct otp_code_place place = {.kind = OTP_CODE_UNKNOWN};
    uint64_t resume, *words = calloc(MAX_STACK, sizeof *words);
    char function[NAME_BYTES];
    size_t n;
    int err = -ESRCH;

    if (words && read_at(s, p->address + s->layout->off[OTP_PROC_I], &resume, sizeof resume) &&
        read_stack(s, p, words, MAX_STACK, &n) && snapshot_lives(s, p)) {
        name_place(s, p->address, resume, &place, function, sizeof function);
        err = take(ctx, &(struct snapshot_frame){function, place.file, place.line});
        err = err ? err : take_callers(s, words, n, take, ctx);
    }
    free(words);
    return err;
}

/* ---- */

int snapshot_new(const struct otp_vm *vm, struct names *names, struct snapshot **out)
{
    struct snapshot *s = calloc(1, sizeof *s);

    if (!s)
        return -ENOMEM;
    *s = (struct snapshot){.kind = vm->ours ? &ours : &stock,
                           .layout = &vm->layout,
                           .ours = vm->ours,
                           .names = names,
                           .memory = names_memory(names, vm->layout.vm),
                           .vm = vm};
    otp_owner_init(&s->owner, &vm->layout, vm->ours, names);
    *out = s;
    return 0;
}

void snapshot_free(struct snapshot *s)
{
    if (s)
        free(s->schedulers);
    free(s);
}

bool snapshot_is_ours(const struct snapshot *s)
{
    return s->ours != NULL;
}

bool snapshot_function(const struct snapshot *s, const char *name, uint64_t *begin, uint64_t *end)
{
    struct otp_place place;

    if (!s->vm->symbols || otp_symbols_find(s->vm->symbols, name, &place) || !place.size)
        return false;
    *begin = place.address + s->layout->bias;
    *end = *begin + place.size;
    return true;
}
