/* SPDX-License-Identifier: Apache-2.0 */
#include "beside.h"

#include "before.h"
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
    const struct result_source *s = ctx;

    sink_row(s->sink, &table,
             (struct sink_value[]){SINK_N(since->held_ns), SINK_N(since->throttled), SINK_N(since->periods),
                                   SINK_R(100 * since->processors), SINK_N(vm)});
}

static void print_peer(void *ctx, const struct result_peer *peer)
{
    static const struct sink_column columns[] = {
        {"unsent", "UNSENT", SINK_BYTES, 10}, {"unread", "UNREAD", SINK_BYTES, 10},
        {"connections", "CONNS", SINK_COUNT, 6}, {"retrying", "RETRYING", SINK_COUNT, 8},
        {"vm", "VM", SINK_COUNT, 7},          {"peer", "TCP PEERS NOW", SINK_TEXT, -1},
    };
    static const struct sink_table table = {"inet_peers", NULL, columns, 6};
    const struct result_source *s = ctx;

    sink_row(s->sink, &table,
             (struct sink_value[]){SINK_N(peer->unsent), SINK_N(peer->unread), SINK_N(peer->connections),
                                   SINK_N(peer->retrying), SINK_N(peer->vm), SINK_S(peer->text)});
}

void beside_print(const struct result_source *s, enum view_id view)
{
    if (view == VIEW_messages || view == VIEW_mailboxes)
        print_mailboxes(s);
    if (view == VIEW_inet && s->peers)
        s->peers(s->ctx, print_peer, (void *)s);
    if (view == VIEW_sched && s->quotas)
        quotas_tell(s->quotas, print_quota, (void *)s);
}
