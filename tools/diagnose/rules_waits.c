/* SPDX-License-Identifier: Apache-2.0 */
/* Rules about who waits for whom. */
#include <inttypes.h>
#include <stdio.h>

#include "findings.h"

static double held_seconds(const struct evidence *e, const struct blame_node *node)
{
    return (double)(e->waits_ns - node->since_ns) / 1e9;
}

/* Each of a circle waits for the next; the one that has waited for the shortest time closed it. */
void find_deadlock(const struct evidence *e, struct findings *out)
{
    const struct blame *b = &e->waits;

    for (size_t i = 0; i < b->n && findings_room(out, FINDING_deadlock); i++) {
        const struct blame_node *first = &b->nodes[i], *node = first, *next = &b->nodes[first->next];
        char name[EVIDENCE_TEXT], other[EVIDENCE_TEXT], what[EVIDENCE_TEXT + 64];
        double seconds = held_seconds(e, first);
        uint64_t members = 0;

        if (!first->in_circle || first->root != (int64_t)i)
            continue;
        do {
            members++;
            seconds = findings_least(seconds, held_seconds(e, node));
            node = &b->nodes[node->next];
        } while (node != first);
        if (seconds < 1)
            continue;
        evidence_name_of(e, first->id, name);
        evidence_name_of(e, next->id, other);
        if (members == 1)
            snprintf(what, sizeof what, "it waits for its own answer");
        else
            snprintf(what, sizeof what, "it waits for %s, in a circle of %" PRIu64, other, members);
        findings_add(out, FINDING_deadlock, findings_least(90 + 3 * findings_tens((double)first->waiters), 100),
                     first->id, name, "%s, for %.1f s at least; %" PRIu64 " processes stand still for it", what,
                     seconds, first->waiters);
        findings_also(out, FINDING_deadlock, other);
    }
}

/* Whoever waits for it, and for those. The longest of them is told. */
struct waiters {
    uint64_t n; /* that have waited for so long, and did nothing */
    double longest;
    const struct blame_node *one; /* that has */
};

static struct waiters count_long_waiters(const struct evidence *e, const struct blame_node *root, double seconds)
{
    struct waiters w = {0};

    for (int64_t at = root->child; at >= 0; at = e->waits.nodes[at].sibling) {
        const struct blame_node *node = &e->waits.nodes[at];
        double held = held_seconds(e, node);

        if (node->in_circle || held < seconds)
            continue;
        w.n += 1 + node->waiters;
        if (held > w.longest) {
            w.longest = held;
            w.one = node;
        }
    }
    return w;
}

void find_calls_hang(const struct evidence *e, struct findings *out)
{
    enum { LEAST_WAITERS = 3 };

    for (size_t i = 0; i < e->waits.n && findings_room(out, FINDING_calls_hang); i++) {
        const struct blame_node *root = &e->waits.nodes[i];
        char name[EVIDENCE_TEXT], other[EVIDENCE_TEXT];
        struct waiters w;

        if (root->waits || root->thing || root->waiters < LEAST_WAITERS)
            continue;
        w = count_long_waiters(e, root, EVIDENCE_HANGS_S);
        if (w.n < LEAST_WAITERS)
            continue;
        findings_add(out, FINDING_calls_hang, findings_least(35 + 20 * findings_tens((double)w.n), 92), root->id,
                     evidence_name_of(e, root->id, name),
                     "%" PRIu64 " processes wait for its answer, themselves or through others; %s for %.1f s at least",
                     w.n, evidence_name_of(e, w.one->id, other), w.longest);
        findings_also(out, FINDING_calls_hang, other);
    }
}
