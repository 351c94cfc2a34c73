/* SPDX-License-Identifier: Apache-2.0 */
#include "beside.h"

#include "before.h"
#include "connections.h"
#include "quotas.h"

static void print_mailbox(void *ctx, const struct before_mailbox *m)
{
    static const struct sink_column columns[] = {{"messages", "MESSAGES", SINK_COUNT, 9},
                                                 {"vm", "VM", SINK_COUNT, 7},
                                                 {"owner", "OWNER", SINK_TEXT, -1}};
    static const struct sink_table table = {"messages_before", "In mailboxes when watching began", columns, 3};
    const struct result_source *s = ctx;

    sink_row(s->sink, &table,
             (struct sink_value[]){SINK_N(m->messages), m->vm ? SINK_N(m->vm) : SINK_NONE, SINK_S(m->owner)});
}

static void print_mailboxes(const struct result_source *s)
{
    if (s->before)
        before_tell_mailboxes(s->before, print_mailbox, (void *)s);
}

static void print_quota(void *ctx, uint32_t vm, const struct quota *since)
{
    static const struct sink_column columns[] = {
        {"held", "HELD BACK", SINK_NS, 9},      {"throttled", "IN PERIODS", SINK_COUNT, 10},
        {"periods", "OF", SINK_COUNT, 7},       {"quota", "% OF A CPU", SINK_PERCENT, 10},
        {"vm", "VM", SINK_COUNT, 7},
    };
    static const struct sink_table table = {"sched_quota", "By the quota of its control group", columns, 5};
    struct sink_value cells[] = {SINK_NONE, SINK_NONE, SINK_NONE, SINK_NONE, SINK_N(vm)};
    const struct result_source *s = ctx;

    if (since) {
        cells[0] = SINK_N(since->held_ns);
        cells[1] = SINK_N(since->throttled);
        cells[2] = SINK_N(since->periods);
        cells[3] = SINK_R(100 * since->processors);
    }
    sink_row(s->sink, &table, cells);
}

static void print_peer(void *ctx, uint32_t vm, const struct peer *peer)
{
    static const struct sink_column columns[] = {
        {"unsent", "UNSENT", SINK_BYTES, 10}, {"unread", "UNREAD", SINK_BYTES, 10},
        {"connections", "CONNS", SINK_COUNT, 6}, {"retrying", "RETRYING", SINK_COUNT, 8},
        {"vm", "VM", SINK_COUNT, 7},          {"peer", "TCP PEERS NOW", SINK_TEXT, -1},
    };
    static const struct sink_table table = {"inet_peers", NULL, columns, 6};
    struct sink_value cells[] = {SINK_NONE, SINK_NONE, SINK_NONE, SINK_NONE, SINK_N(vm), SINK_NONE};
    const struct result_source *s = ctx;

    if (peer) {
        cells[0] = SINK_N(peer->unsent);
        cells[1] = SINK_N(peer->unread);
        cells[2] = SINK_N(peer->connections);
        cells[3] = SINK_N(peer->retrying);
        cells[5] = SINK_S(peer->text);
    }
    sink_row(s->sink, &table, cells);
}

void beside_print(const struct result_source *s, enum view_id view)
{
    if (view == VIEW_messages || view == VIEW_mailboxes)
        print_mailboxes(s);
    if (view == VIEW_inet && s->connections)
        connections_tell(s->connections, s->seconds, print_peer, (void *)s);
    if (view == VIEW_sched && s->quotas)
        quotas_tell(s->quotas, print_quota, (void *)s);
}
