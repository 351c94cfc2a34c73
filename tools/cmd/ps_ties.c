/* SPDX-License-Identifier: Apache-2.0 */
/* Invariant: for people few of each kind are named, and the others counted; programs get all that were read. */
#include "ps_ties.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "common/array.h"
#include "common/term_text.h"
#include "otp/names.h"
#include "otp/snapshot_terms.h"

enum { SHOWN = 20 /* of a kind */, TEXT_BYTES = 2200 };

struct ps_tie {
    struct snapshot_peer peer;
};

static int take(void *ctx, const struct snapshot_peer *peer)
{
    struct ps_ties *t = ctx;
    int err = array_room((void **)&t->all, t->n, &t->room, sizeof *t->all);

    if (err)
        return err;
    t->all[t->n++].peer = *peer;
    return ++t->counts[peer->tie] <= SHOWN ? ps_known_add(&t->known, peer->id) : 0;
}

int ps_ties_read(struct ps_ties *t, const struct inspected *vm, const struct snapshot_process *is)
{
    int err = snapshot_peers(vm->snapshot, is, take, t, &t->seen);

    t->has = !err;
    if (!err)
        ps_known_find(&t->known, vm);
    return err == -ENOTSUP ? 0 : err;
}

void ps_ties_end(struct ps_ties *t)
{
    free(t->all);
    ps_known_end(&t->known);
}

/* ---- rows */

static const char *atom_text(const struct inspected *vm, uint64_t atom, char *buf, size_t size)
{
    struct term_text text = {buf, size, 0};

    buf[0] = '\0';
    if (atom != WIRE_NO_ATOM)
        term_text_atom(&text, names_atom(vm->names, vm->pid, atom), atom);
    return buf;
}

static void other_text(const struct inspected *vm, const struct snapshot_peer *peer, char *buf, size_t size)
{
    static const char *const others[] = {[SNAPSHOT_END_PROCESS] = "a process elsewhere",
                                         [SNAPSHOT_END_PORT] = "a port elsewhere",
                                         [SNAPSHOT_END_CLOCK] = "the clock (time_offset)",
                                         [SNAPSHOT_END_LIBRARY] = "a native library"};

    if (peer->id)
        snapshot_pid_text(peer->id, buf);
    else if ((peer->term & 0xf) == OTP_TAG_PORT)
        snapshot_port_text(vm->snapshot, peer->term, buf, size);
    else
        snprintf(buf, size, "%s", others[peer->what]);
}

static const char *const tie_texts[] = {
    [SNAPSHOT_LINK] = "link", [SNAPSHOT_WATCHES] = "monitors", [SNAPSHOT_WATCHED_BY] = "monitored by"};
static const char *const end_texts[] = {[SNAPSHOT_END_PROCESS] = "process",
                                        [SNAPSHOT_END_PORT] = "port",
                                        [SNAPSHOT_END_CLOCK] = "time_offset",
                                        [SNAPSHOT_END_LIBRARY] = "nif"};

static void print_tie(const struct ps_ties *t, const struct inspected *vm, const char *pid,
                      const struct snapshot_peer *peer, struct sink *sink)
{
    static const struct sink_column columns[] = {
        {"tie", "TIE", SINK_TEXT, 12}, {"other", "WITH", SINK_TEXT, 12}, {"owner", "OWNER", SINK_TEXT, -1}};
    static const struct sink_column whole_columns[] = {
        {"vm", NULL, SINK_COUNT, 0},  {"process", NULL, SINK_TEXT, 0}, {"tie", NULL, SINK_TEXT, 0},
        {"what", NULL, SINK_TEXT, 0}, {"other", NULL, SINK_TEXT, 0},   {"owner", NULL, SINK_TEXT, 0},
        {"name", NULL, SINK_TEXT, 0}, {"node", NULL, SINK_TEXT, 0}};
    static const struct sink_table table = {"process_tie", NULL, columns, 3},
                                   whole_table = {"process_tie", NULL, whole_columns, 8};
    char other[64], owner[PS_NAME_BYTES], name[TEXT_BYTES], node[TEXT_BYTES], named[2 * TEXT_BYTES + 16];

    other_text(vm, peer, other, sizeof other);
    ps_known_name(vm, &t->known, peer->id, owner);
    atom_text(vm, peer->name, name, sizeof name);
    atom_text(vm, peer->node, node, sizeof node);
    if (sink->ops->for_programs) {
        sink_row(sink, &whole_table,
                 (struct sink_value[]){SINK_N(vm->pid), SINK_S(pid), SINK_S(tie_texts[peer->tie]),
                                       SINK_S(end_texts[peer->what]), peer->term ? SINK_S(other) : SINK_NONE,
                                       sink_text(owner), sink_text(name), sink_text(node)});
        return;
    }
    snprintf(named, sizeof named, node[0] ? "by its name %s at %s" : "by its name %s", name, node);
    sink_row(sink, &table, (struct sink_value[]){SINK_S(tie_texts[peer->tie]), SINK_S(other),
                                                 name[0] ? SINK_S(named) : sink_text(owner)});
}

void ps_ties_print(const struct ps_ties *t, const struct inspected *vm, const char *pid, struct sink *sink)
{
    uint64_t shown[SNAPSHOT_WATCHED_BY + 1] = {0}, hidden = 0;

    for (size_t i = 0; i < t->n; i++) {
        if (!sink->ops->for_programs && shown[t->all[i].peer.tie]++ >= SHOWN)
            hidden++;
        else
            print_tie(t, vm, pid, &t->all[i].peer, sink);
    }
    sink_lost(sink, hidden, "links and monitors more, which --json prints");
    sink_lost(sink, t->seen.more, "set of links or monitors is too large to be read whole");
    sink_lost(sink, t->seen.moved, "set of links or monitors changed while it was read");
    sink_lost(sink, !t->has, "erlvm is too old to show links and monitors");
}
