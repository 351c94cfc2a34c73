/* SPDX-License-Identifier: Apache-2.0 */
/* Invariant: a process is told to wait only where its status said so, and it watches somebody. */
#include "waits.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "common/term_text.h"
#include "names.h"
#include "snapshot_one.h"
#include "snapshot_state.h"
#include "snapshot_terms.h"

enum {
    PLACE_BYTES = 600,
    STACK_WORDS = 64, /* that a call's reference is looked for in, from the top */
};

struct reading {
    struct snapshot *s;
    int (*take)(void *ctx, const struct wait *wait);
    void *ctx;
};

/* ---- where it stands */

static bool begins_with_one(const char *place, const char *const *words, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (!strncmp(place, words[i], strlen(words[i])))
            return true;
    return false;
}

/* Where servers wait for whatever comes next: what they have asked meanwhile does not keep them from that. */
static bool is_at_rest(const char *place)
{
    static const char *const loops[] = {"gen_server:loop", "gen_statem:loop_", "gen_event:fetch_msg", "gen_fsm:loop"};

    return begins_with_one(place, loops, sizeof loops / sizeof *loops);
}

static bool is_in_erpc(const char *place)
{
    static const char *const call = "erpc:call/";

    return begins_with_one(place, &call, 1);
}

/* Where an answer is waited for, and nothing else. */
static bool is_in_call(const char *place)
{
    static const char *const call = "gen:do_call/";

    return is_in_erpc(place) || begins_with_one(place, &call, 1);
}

/* ---- answers */

struct asked {
    const struct reading *r;
    struct wait *wait;
    bool by_alias;              /* alone */
    uint64_t refs[STACK_WORDS]; /* that stand on the stack, from the top */
    size_t nrefs, best;         /* best: the place among them of the one that was taken; nrefs: of none */
};

static bool is_watched_process(const struct snapshot_peer *peer)
{
    return peer->tie == SNAPSHOT_WATCHES && peer->what == SNAPSHOT_END_PROCESS;
}

static int stop_at_watched(void *ctx, const struct snapshot_peer *peer)
{
    (void)ctx;
    return is_watched_process(peer);
}

static void add_atom(const struct snapshot *s, struct term_text *text, uint64_t atom)
{
    term_text_atom(text, names_atom(s->names, s->layout->vm, atom), atom);
}

static void visit_foreign(const struct asked *a, const struct snapshot_peer *peer)
{
    struct term_text text = {a->wait->what, sizeof a->wait->what, 0};

    if (peer->name == WIRE_NO_ATOM || peer->node == WIRE_NO_ATOM) {
        term_text_add(&text, "a process at another node");
        return;
    }
    add_atom(a->r->s, &text, peer->name);
    term_text_add(&text, " at ");
    add_atom(a->r->s, &text, peer->node);
}

static size_t place_of(const struct asked *a, uint64_t ref)
{
    size_t i = 0;

    while (i < a->nrefs && (!ref || a->refs[i] != ref))
        i++;
    return i;
}

/* The one whose reference is nearest to the top; else the first. */
static int take_peer(void *ctx, const struct snapshot_peer *peer)
{
    struct asked *a = ctx;
    size_t place;

    if (!is_watched_process(peer) || (a->by_alias && !peer->alias))
        return 0;
    place = place_of(a, peer->ref);
    if (a->wait->of++ && place >= a->best)
        return 0;
    a->best = place;
    a->wait->whom = peer->id;
    a->wait->term = peer->term;
    a->wait->ref = peer->ref;
    a->wait->what[0] = '\0';
    if (!peer->id)
        visit_foreign(a, peer);
    return 0;
}

static void read_references(const struct reading *r, const struct snapshot_process *is, struct asked *a)
{
    uint64_t words[STACK_WORDS];
    size_t n = snapshot_stack_words(r->s, is, words, STACK_WORDS);

    for (size_t i = 0; i < n; i++)
        a->nrefs += snapshot_reference(r->s, words[i], &a->refs[a->nrefs]);
    a->best = a->nrefs;
}

static int take_process(void *ctx, const struct snapshot_process *is)
{
    const struct reading *r = ctx;
    struct wait wait = {.kind = WAIT_ANSWER, .id = is->id, .reductions = is->reductions, .address = is->address};
    struct asked asked = {.r = r, .wait = &wait};
    struct snapshot_seen seen;
    char place[PLACE_BYTES];
    int err;

    if (is->status != SNAPSHOT_WAITING || !is->watches)
        return 0;
    err = snapshot_peers(r->s, is, stop_at_watched, NULL, &seen);
    if (err != 1 || !snapshot_place(r->s, is, place, sizeof place) || is_at_rest(place))
        return err == -ENOTSUP || err == -ENOMEM ? err : 0;
    asked.by_alias = !is_in_call(place);
    wait.is_spawned = is_in_erpc(place);
    read_references(r, is, &asked);
    err = snapshot_peers(r->s, is, take_peer, &asked, &seen);
    if (asked.best < asked.nrefs)
        wait.of = 1;
    return err || !wait.of ? 0 : r->take(r->ctx, &wait);
}

/* ---- ports and nodes */

static const bool wanted[PENDING_NKINDS] = {
    [PENDING_PORT] = true, [PENDING_PORT_WAIT] = true, [PENDING_NODE_WAIT] = true};

/* Of a port that is busy the first who waits for it is told, or else its owner, who need not wait. */
static int take_pending(void *ctx, const struct pending *p)
{
    const struct reading *r = ctx;
    struct wait wait = {.kind = p->kind == PENDING_NODE_WAIT ? WAIT_NODE : WAIT_PORT, .id = p->id, .of = 1};

    if (!p->id || (p->kind == PENDING_PORT && !p->waits))
        return 0;
    snprintf(wait.what, sizeof wait.what, "%s", p->what);
    return r->take(r->ctx, &wait);
}

int waits_read(struct snapshot *s, int (*take)(void *ctx, const struct wait *wait), void *ctx,
               struct snapshot_count *count)
{
    struct reading r = {s, take, ctx};
    int err = snapshot_processes(s, take_process, &r, count);

    return err ? err : pending_read(s, wanted, take_pending, &r);
}

int waits_read_answers(struct snapshot *s, int (*take)(void *ctx, const struct wait *wait), void *ctx)
{
    return snapshot_processes(s, take_process, &(struct reading){s, take, ctx}, NULL);
}
