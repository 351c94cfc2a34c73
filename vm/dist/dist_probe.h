/* SPDX-License-Identifier: Apache-2.0 */
/* The probes of connections: each function is the one place that tells of its probe, and is only called behind
 * PROBE_ON. */
#ifndef VM_DIST_DIST_PROBE_H
#define VM_DIST_DIST_PROBE_H

#include "dist/channel.h"
#include "usdt.h"

PROBE_COLD void probe_dist__port_busy(const struct channel *c, Term pid);
PROBE_COLD void probe_dist__port_not_busy(const struct channel *c);
/* One message, without its length. */
PROBE_COLD void probe_dist__output(const struct channel *c, size_t bytes);
PROBE_COLD void probe_dist__outputv(const struct channel *c, size_t bytes);
/* The same of one that came. */
PROBE_COLD void probe_dist__input(const struct channel *c, size_t bytes);
/* to: a pid, an alias, or {Name, Node}. */
PROBE_COLD void probe_message__send__remote(const struct channel *c, const Process *from, Term to, Term message);
PROBE_COLD void probe_process__exit_signal__remote(const struct channel *c, Term to, const struct signal *s);

#endif
