/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Links and monitors of one process. Invariant: each node that is read costs one of a bounded number, so that a tree or
 * ring whose pointers lie, or that changes meanwhile, ends.
 * Source: erl_monitor_link.h of OTP, and what process_info/2 tells of these trees (erl_bif_info.c); proc/peer.h.
 */
#include <errno.h>

#include "snapshot_one.h"
#include "snapshot_state.h"
#include "snapshot_terms.h"

enum {
    DEPTH = 256,      /* of a tree: one that is balanced is not as deep */
    NODE_BYTES = 56,  /* of a node, up to the end of what is read */
    OWN_BYTES = 128,  /* of an erlvm's entry */
    ATOM_SHIFT = 6,
    ALIAS_BITS = 3,   /* above OTP_PEER_ALIAS: which kind of alias */
    ONLY = 1,         /* of a set of an erlvm: the bit of a pointer to the only entry */
};

struct walk {
    struct snapshot *s;
    int (*take)(void *ctx, const struct snapshot_peer *peer);
    int (*take_reference)(void *ctx, uint64_t ref);
    void *ctx;
    struct snapshot_seen *seen;
    unsigned left; /* nodes that may still be read */
};

static uint64_t atom_of(uint64_t term)
{
    return (term & 0x3f) == OTP_TAG_ATOM ? term >> ATOM_SHIFT : WIRE_NO_ATOM;
}

static int visit(struct walk *w, struct snapshot_peer *peer)
{
    peer->id = snapshot_pid(w->s, peer->term);
    w->seen->read++;
    return w->take(w->ctx, peer);
}

/* ---- a stock emulator */

/* A node of a tree or ring, as it was read. */
struct node {
    uint64_t address, left, right, next, other;
    uint32_t begin, flags, type;
};

static uint64_t part(const unsigned char *bytes, uint16_t offset, size_t size)
{
    return snapshot_part(bytes, NODE_BYTES, offset, size);
}

static bool read_node(struct walk *w, uint64_t address, struct node *out)
{
    const uint16_t *off = w->s->layout->off;
    unsigned char bytes[NODE_BYTES];

    if (address & 7 || !snapshot_read(w->s, address, bytes, sizeof bytes)) {
        w->seen->moved = true;
        return false;
    }
    *out = (struct node){.address = address,
                         .left = part(bytes, off[OTP_PEER_LEFT], 8),
                         .right = part(bytes, off[OTP_PEER_RIGHT], 8),
                         .next = part(bytes, off[OTP_PEER_NEXT], 8),
                         .other = part(bytes, off[OTP_PEER_OTHER], 8),
                         .begin = (uint32_t)part(bytes, off[OTP_PEER_BEGIN], 2),
                         .flags = (uint32_t)part(bytes, off[OTP_PEER_FLAGS], 4)};
    /* To OTP 27 the type stands behind 16 bits of flags, later in their low bits. */
    out->type = off[OTP_PEER_TYPE] != OTP_NOWHERE ? (uint32_t)part(bytes, off[OTP_PEER_TYPE], 2)
                                                  : out->flags & ((1u << (off[OTP_PEER_TYPE_BITS] & 31)) - 1);
    return true;
}

static bool read_of_node(const struct walk *w, const struct node *node, uint32_t begin, enum otp_field field,
                         uint64_t *out)
{
    return snapshot_read(w->s, node->address - begin + w->s->layout->off[field], out, sizeof *out);
}

/* One that is being dropped is none any more. */
static int visit_link(struct walk *w, const struct node *node, enum snapshot_tie tie)
{
    bool foreign = node->type == w->s->layout->off[OTP_PEER_FOREIGN_LINK];
    struct snapshot_peer peer = {.tie = tie, .term = node->other, .name = WIRE_NO_ATOM, .node = WIRE_NO_ATOM};
    uint64_t ends;

    if (!read_of_node(w, node, foreign ? node->begin : 0, foreign ? OTP_FOREIGN_LINK_ENDS : OTP_LINK_ENDS, &ends) ||
        ends)
        return 0;
    peer.what = (node->other & 0xf) == OTP_TAG_PORT ? SNAPSHOT_END_PORT : SNAPSHOT_END_PROCESS;
    return visit(w, &peer);
}

/* By which name it watches, where it does, and at which node. */
static void read_watched_name(const struct walk *w, const struct node *node, struct snapshot_peer *peer)
{
    uint64_t name, there, node_name;

    if (!snapshot_bit(w->s, node->flags, OTP_PEER_HAS_NAME) ||
        !read_of_node(w, node, node->begin, OTP_MONITOR_NAME, &name))
        return;
    peer->name = atom_of(name);
    if (read_of_node(w, node, node->begin, OTP_MONITOR_NODE, &there) && there &&
        snapshot_read(w->s, there + w->s->layout->off[OTP_PEER_NODE_NAME], &node_name, sizeof node_name))
        peer->node = atom_of(node_name);
}

static void read_reference(const struct walk *w, const struct node *node, struct snapshot_peer *peer)
{
    uint64_t term;

    if (read_of_node(w, node, node->begin, OTP_MONITOR_REF, &term) && !snapshot_reference(w->s, term, &peer->ref))
        peer->ref = 0;
}

static int visit_monitor(struct walk *w, const struct node *node, enum snapshot_tie tie)
{
    static const struct {
        enum otp_field type;
        enum snapshot_end what;
        bool by_pid;
    } rows[] = {
        {OTP_PEER_PROCESS, SNAPSHOT_END_PROCESS, true}, {OTP_PEER_FOREIGN_PROCESS, SNAPSHOT_END_PROCESS, true},
        {OTP_PEER_PORT, SNAPSHOT_END_PORT, true},       {OTP_PEER_FOREIGN_PORT, SNAPSHOT_END_PORT, true},
        {OTP_PEER_CLOCK, SNAPSHOT_END_CLOCK, false},    {OTP_PEER_RESOURCE, SNAPSHOT_END_LIBRARY, false},
    };
    bool target = snapshot_bit(w->s, node->flags, OTP_PEER_IS_TARGET);
    struct snapshot_peer peer = {.tie = tie, .name = WIRE_NO_ATOM, .node = WIRE_NO_ATOM};

    if (target != (tie == SNAPSHOT_WATCHED_BY) || snapshot_bit(w->s, node->flags, OTP_PEER_PENDING))
        return 0;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        if (node->type != w->s->layout->off[rows[i].type])
            continue;
        peer.what = rows[i].what;
        peer.term = rows[i].by_pid ? node->other : 0;
        peer.alias = !target && node->flags >> w->s->layout->off[OTP_PEER_ALIAS] & ALIAS_BITS;
        if (!target) {
            read_watched_name(w, node, &peer);
            read_reference(w, node, &peer);
        }
        return visit(w, &peer);
    }
    return 0; /* of nodes, who suspends whom, aliases: nobody's monitor */
}

static int count_monitor(struct walk *w, const struct node *node, enum snapshot_tie tie)
{
    static const enum otp_field types[] = {OTP_PEER_PROCESS, OTP_PEER_FOREIGN_PROCESS, OTP_PEER_PORT,
                                           OTP_PEER_FOREIGN_PORT};

    (void)tie;
    if (snapshot_bit(w->s, node->flags, OTP_PEER_IS_TARGET) || snapshot_bit(w->s, node->flags, OTP_PEER_PENDING))
        return 0;
    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        w->seen->read += node->type == w->s->layout->off[types[i]];
    return 0;
}

/* Whatever it is that has the reference. */
static int visit_reference(struct walk *w, const struct node *node, enum snapshot_tie tie)
{
    struct snapshot_peer peer = {.tie = tie};

    if (snapshot_bit(w->s, node->flags, OTP_PEER_IS_TARGET))
        return 0;
    read_reference(w, node, &peer);
    w->seen->read++;
    return peer.ref ? w->take_reference(w->ctx, peer.ref) : 0;
}

static int walk_tree(struct walk *w, uint64_t root, enum snapshot_tie tie,
                     int (*see)(struct walk *, const struct node *, enum snapshot_tie))
{
    uint64_t stack[DEPTH];
    struct node node;
    size_t n = 0;
    int err = 0;

    if (root)
        stack[n++] = root;
    while (n && !err) {
        if (!w->left || n + 2 > DEPTH) {
            w->seen->more = true;
            return 0;
        }
        w->left--;
        if (!read_node(w, stack[--n], &node))
            continue;
        err = see(w, &node, tie);
        if (node.left)
            stack[n++] = node.left;
        if (node.right)
            stack[n++] = node.right;
    }
    return err;
}

static int walk_ring(struct walk *w, uint64_t first)
{
    struct node node;
    int err = 0;

    for (uint64_t at = first; at && !err; at = node.next) {
        if (!w->left) {
            w->seen->more = true;
            return 0;
        }
        w->left--;
        if (!read_node(w, at, &node))
            return 0;
        err = visit_monitor(w, &node, SNAPSHOT_WATCHED_BY);
        if (node.next == first)
            break;
    }
    return err;
}

static int walk_stock(struct walk *w, const struct snapshot_process *p)
{
    const uint16_t *off = w->s->layout->off;
    uint64_t links, monitors, watchers;
    int err;

    if (off[OTP_PROC_LINKS] == OTP_NOWHERE)
        return -ENOTSUP;
    if (!snapshot_read(w->s, p->address + off[OTP_PROC_LINKS], &links, sizeof links) ||
        !snapshot_read(w->s, p->address + off[OTP_PROC_MONITORS], &monitors, sizeof monitors) ||
        !snapshot_read(w->s, p->address + off[OTP_PROC_WATCHERS], &watchers, sizeof watchers) ||
        !snapshot_lives(w->s, p)) /* then these are of one that lives: they share their place with other things */
        return -ESRCH;
    err = walk_tree(w, links, SNAPSHOT_LINK, visit_link);
    w->left = SNAPSHOT_MOST_PEERS;
    err = err ? err : walk_tree(w, monitors, SNAPSHOT_WATCHES, visit_monitor);
    w->left = SNAPSHOT_MOST_PEERS;
    err = err ? err : walk_ring(w, watchers);
    w->left = SNAPSHOT_MOST_PEERS;
    return err ? err : walk_tree(w, monitors, SNAPSHOT_WATCHED_BY, visit_monitor);
}

/* ---- an erlvm */

static uint64_t own_part(const struct walk *w, const unsigned char *bytes, enum erlvm_field field, size_t size)
{
    return snapshot_part(bytes, OWN_BYTES, w->s->ours->numbers[field], size);
}

static int visit_own(struct walk *w, const unsigned char *bytes, enum snapshot_tie tie)
{
    const uint32_t *numbers = w->s->ours->numbers;
    uint64_t kind = own_part(w, bytes, ERLVM_PEER_KIND, 1), who = own_part(w, bytes, ERLVM_PEER_WHO, 8);
    bool at_node = own_part(w, bytes, ERLVM_PEER_AT_NODE, 1), clock = kind == numbers[ERLVM_PEER_IS_CLOCK];
    struct snapshot_peer peer = {.tie = tie, .name = WIRE_NO_ATOM, .node = WIRE_NO_ATOM};

    if (tie == SNAPSHOT_LINK ? own_part(w, bytes, ERLVM_PEER_UNLINKS, 4) != 0
                             : tie == SNAPSHOT_WATCHES && kind != numbers[ERLVM_PEER_IS_MONITOR] && !clock)
        return 0;
    peer.what = clock                            ? SNAPSHOT_END_CLOCK
                : (who & 0xf) == OTP_TAG_PORT    ? SNAPSHOT_END_PORT
                                                 : SNAPSHOT_END_PROCESS;
    if (!at_node && !clock)
        peer.term = who;
    peer.alias = tie == SNAPSHOT_WATCHES && own_part(w, bytes, ERLVM_PEER_ALIAS, 1);
    peer.ref = tie == SNAPSHOT_WATCHES ? own_part(w, bytes, ERLVM_PEER_REF, 8) : 0;
    if (tie == SNAPSHOT_WATCHES && !clock)
        peer.name = atom_of(own_part(w, bytes, ERLVM_PEER_NAME, 8));
    if (at_node)
        peer.node = atom_of(who);
    return visit(w, &peer);
}

static int visit_own_reference(struct walk *w, const unsigned char *bytes, enum snapshot_tie tie)
{
    (void)tie;
    w->seen->read++;
    return w->take_reference(w->ctx, own_part(w, bytes, ERLVM_PEER_REF, 8));
}

static int count_own_monitor(struct walk *w, const unsigned char *bytes, enum snapshot_tie tie)
{
    (void)tie;
    w->seen->read += own_part(w, bytes, ERLVM_PEER_KIND, 1) == w->s->ours->numbers[ERLVM_PEER_IS_MONITOR];
    return 0;
}

static int walk_own(struct walk *w, uint64_t set, enum snapshot_tie tie,
                    int (*see)(struct walk *, const unsigned char *, enum snapshot_tie))
{
    const uint32_t *numbers = w->s->ours->numbers;
    unsigned char bytes[OWN_BYTES] = {0};
    size_t size = numbers[ERLVM_PEER_AT_NODE] + 1; /* the last that is looked at: ERLVM_PEER_ALIAS stands before it */
    uint64_t at = set & ~(uint64_t)ONLY;
    int err = 0;

    if (set && !(set & ONLY) && !snapshot_read(w->s, set + numbers[ERLVM_PEERS_FIRST], &at, sizeof at)) {
        w->seen->moved = true;
        return 0;
    }
    for (w->left = SNAPSHOT_MOST_PEERS; at && !err; w->left--) {
        if (!w->left) {
            w->seen->more = true;
            return 0;
        }
        if (size > sizeof bytes || !snapshot_read(w->s, at, bytes, size)) {
            w->seen->moved = true;
            return 0;
        }
        err = see(w, bytes, tie);
        at = set & ONLY ? 0 : own_part(w, bytes, ERLVM_PEER_NEXT, 8);
    }
    return err;
}

static int walk_ours(struct walk *w, const struct snapshot_process *p)
{
    static const enum erlvm_field fields[] = {[SNAPSHOT_LINK] = ERLVM_PROC_LINKS,
                                              [SNAPSHOT_WATCHES] = ERLVM_PROC_MONITORS,
                                              [SNAPSHOT_WATCHED_BY] = ERLVM_PROC_WATCHERS};
    uint64_t sets[sizeof fields / sizeof *fields];
    int err = 0;

    if (!w->s->ours->roots[LAYOUT_ROOM_PEERS] || !w->s->ours->roots[LAYOUT_ROOM_MAILBOXES])
        return -ENOTSUP;
    for (size_t i = 0; i < sizeof fields / sizeof *fields; i++)
        if (!snapshot_read(w->s, p->address + w->s->ours->numbers[fields[i]], &sets[i], sizeof sets[i]))
            return -ESRCH;
    if (!snapshot_lives(w->s, p))
        return -ESRCH;
    for (size_t i = 0; i < sizeof fields / sizeof *fields && !err; i++)
        err = walk_own(w, sets[i], (enum snapshot_tie)i, visit_own);
    return err;
}

/* ---- both */

int snapshot_peers(struct snapshot *s, const struct snapshot_process *p,
                   int (*take)(void *ctx, const struct snapshot_peer *peer), void *ctx, struct snapshot_seen *seen)
{
    struct walk w = {.s = s, .take = take, .ctx = ctx, .seen = seen, .left = SNAPSHOT_MOST_PEERS};
    int err;

    *seen = (struct snapshot_seen){0};
    err = (s->ours ? walk_ours : walk_stock)(&w, p);
    return err ? err : snapshot_lives(s, p) ? 0 : -ESRCH;
}

/* All that the process has under references of its own: its monitors, and aliases. */
static int walk_references(struct walk *w, const struct snapshot_process *p,
                           int (*see)(struct walk *, const struct node *, enum snapshot_tie),
                           int (*see_own)(struct walk *, const unsigned char *, enum snapshot_tie))
{
    struct snapshot *s = w->s;
    bool known = s->ours ? s->ours->roots[LAYOUT_ROOM_PEERS] != 0 : s->layout->off[OTP_PROC_LINKS] != OTP_NOWHERE;
    uint64_t at = s->ours ? s->ours->numbers[ERLVM_PROC_MONITORS] : s->layout->off[OTP_PROC_MONITORS], set;
    int err;

    *w->seen = (struct snapshot_seen){0};
    w->left = SNAPSHOT_MOST_PEERS;
    if (!known)
        return -ENOTSUP;
    if (!snapshot_read(s, p->address + at, &set, sizeof set) || !snapshot_lives(s, p))
        return -ESRCH;
    err = s->ours ? walk_own(w, set, SNAPSHOT_WATCHES, see_own) : walk_tree(w, set, SNAPSHOT_WATCHES, see);
    return err ? err : snapshot_lives(s, p) ? 0 : -ESRCH;
}

int snapshot_references(struct snapshot *s, const struct snapshot_process *p, int (*take)(void *ctx, uint64_t ref),
                        void *ctx, struct snapshot_seen *seen)
{
    struct walk w = {.s = s, .take_reference = take, .ctx = ctx, .seen = seen};

    return walk_references(&w, p, visit_reference, visit_own_reference);
}

int snapshot_monitors(struct snapshot *s, const struct snapshot_process *p, struct snapshot_seen *seen)
{
    struct walk w = {.s = s, .seen = seen};

    return walk_references(&w, p, count_monitor, count_own_monitor);
}
