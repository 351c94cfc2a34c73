/* SPDX-License-Identifier: Apache-2.0 */
/* What the probes of connections tell. */
#include "dist/dist_probe.h"

#include "heap/copy.h"
#include "proc/probe_tell.h"
#include "proc/seq_token.h"
#include "term/node.h"

PROBE_COLD void probe_dist__port_busy(const struct channel *c, Term pid)
{
	PROBE_TELL(dist__port_busy, node_self().name, c->controller, c->node, pid);
}

PROBE_COLD void probe_dist__port_not_busy(const struct channel *c)
{
	PROBE_TELL(dist__port_not_busy, node_self().name, c->controller, c->node);
}

PROBE_COLD void probe_dist__output(const struct channel *c, size_t bytes)
{
	PROBE_TELL(dist__output, node_self().name, c->controller, c->node, (int64_t)bytes);
}

PROBE_COLD void probe_dist__outputv(const struct channel *c, size_t bytes)
{
	PROBE_TELL(dist__outputv, node_self().name, c->controller, c->node, (int64_t)bytes);
}

PROBE_COLD void probe_dist__input(const struct channel *c, size_t bytes)
{
	PROBE_TELL(dist__input, node_self().name, c->controller, c->node, (int64_t)bytes);
}

PROBE_COLD void probe_message__send__remote(const struct channel *c, const Process *from, Term to, Term message)
{
	struct seq_token_numbers n = seq_token_numbers(from->seq_token);
	Term name = term_is_tuple(to) ? tuple_get(to, 1) : to;

	PROBE_TELL(message__send__remote, from->id, c->node, name, (int64_t)copy_flat_size_words(message), n.label,
		   n.previous, n.current);
}

PROBE_COLD void probe_process__exit_signal__remote(const struct channel *c, Term to, const struct signal *s)
{
	struct seq_token_numbers n = seq_token_numbers(s->token);

	PROBE_TELL(process__exit_signal__remote, s->from, c->node, to, s->term, n.label, n.previous, n.current);
}
