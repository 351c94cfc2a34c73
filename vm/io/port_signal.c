/* SPDX-License-Identifier: Apache-2.0 */
/* Signals to ports: links, exits, monitors; what came while another held the port waits as its task. */
#include "io/port_signal.h"

#include "base/alloc.h"
#include "io/io_probe.h"
#include "proc/probe.h"
#include "proc/process_life.h"
#include "proc/tracee.h"

/* ---- links and monitors; the port is held */

void port_link_add(struct port *port, Term pid)
{
	for (size_t k = 0; k < port->link_count; k++) {
		if (port->links[k] == pid)
			return;
	}
	port_tell(port, am_getting_linked, pid);
	if (port->link_count == port->link_room) {
		port->link_room = port->link_room * 2 + 2;
		port->links = mem_realloc(port->links, port->link_room * sizeof(Term));
	}
	port->links[port->link_count++] = pid;
}

bool port_link_remove(struct port *port, Term pid)
{
	for (size_t k = 0; k < port->link_count; k++) {
		if (port->links[k] == pid) {
			port->links[k] = port->links[--port->link_count];
			return true;
		}
	}
	return false;
}

void port_monitors_drop(struct port *port, Term reason)
{
	while (port->monitors != NULL) {
		struct port_monitor *m = port->monitors;
		Term ref[REF_WORDS];

		port->monitors = m->next;
		signal_send_reason(SIG_DOWN, port->id, m->pid, peer_put_ref(ref, m->number, m->tag), reason);
		mem_free(m);
	}
}

static void add_monitor(struct port *port, const struct signal *s)
{
	struct port_monitor *m = mem_alloc(sizeof(*m));

	*m = (struct port_monitor){ port->monitors, s->from, ref_number(s->ref), ref_tag(s->ref) };
	port->monitors = m;
}

static void remove_monitor(struct port *port, Term ref)
{
	struct port_monitor **at = &port->monitors, *m;

	while (*at != NULL && (*at)->number != ref_number(ref))
		at = &(*at)->next;
	m = *at;
	if (m == NULL)
		return;
	*at = m->next;
	mem_free(m);
}

/* ---- signals */

static void run_process_exit(struct port *port, const struct signal *s)
{
	struct io_callback running = io_callback_begin(port, port->driver->name, "process_exit");

	port->driver->process_exit(port, s->from, ref_number(s->ref));
	io_callback_end(&running);
}

static void handle_signal(struct port *port, struct signal *s)
{
	switch (s->kind) {
	case SIG_LINK:
		port_link_add(port, s->from);
		break;
	case SIG_UNLINK:
		if (port_link_remove(port, s->from))
			port_tell(port, am_getting_unlinked, s->from);
		signal_send_plain(SIG_UNLINK_ACK, port->id, s->from, s->ref);
		break;
	case SIG_LINK_EXIT:
		if (!port_link_remove(port, s->from))
			break;
		if (PROBE_ON(driver__process_exit))
			probe_driver__process_exit(port, s->from);
		port_tell_received(port, s->from, am_close, TERM_NONE);
		if (s->from == port->owner || s->term != am_normal)
			port_exit(port, s->term);
		break;
	case SIG_EXIT:
		port_tell_received(port, s->from, am_close, TERM_NONE);
		if (s->term != am_normal || s->from == port->owner)
			port_exit(port, s->term);
		break;
	case SIG_DOWN:
		if (PROBE_ON(driver__process_exit))
			probe_driver__process_exit(port, s->from);
		if (port->driver->process_exit != NULL)
			run_process_exit(port, s);
		break;
	case SIG_MONITOR:
		add_monitor(port, s);
		break;
	case SIG_DEMONITOR:
		remove_monitor(port, s->ref);
		break;
	default:
		break;
	}
}

static Term name_signal(const struct signal *s)
{
	switch (s->kind) {
	case SIG_LINK: return am_link;
	case SIG_UNLINK: return am_unlink;
	case SIG_EXIT: return am_close;
	case SIG_MONITOR: return am_monitor;
	case SIG_DEMONITOR: return am_demonitor;
	default: return SMALL(0);
	}
}

/* Takes: s. */
static void take_signal(struct port *port, struct signal *s)
{
	Term what = name_signal(s);

	port_enter(port, what);
	if (port->state == PORT_OPEN) {
		handle_signal(port, s);
		signal_free(s);
	} else {
		signal_reject(port->id, s);
	}
	port_leave(port, what);
}

/* A signal whose turn has not come. */
struct waiting_signal {
	struct port_task task;
	struct signal *signal;
};

static void run_signal(struct port *port, struct port_task *task)
{
	struct waiting_signal *w = (struct waiting_signal *)task;

	take_signal(port, w->signal);
	mem_free(w);
}

bool port_signal(Term to, struct signal *s)
{
	struct port *port = port_find(to);

	if (port == NULL) {
		signal_reject(to, s);
		return false;
	}
	if (port_try_hold(port)) {
		take_signal(port, s);
		port_let_go(port);
	} else {
		struct waiting_signal *w = mem_zalloc(sizeof(*w));

		w->task.run = run_signal;
		w->task.sender = s->from;
		w->signal = s;
		port_submit(port, &w->task);
	}
	port_unref(port);
	return true;
}

uint64_t port_monitor(struct port *port, Term pid)
{
	Term words[REF_WORDS];
	uint64_t number = ref_next_number();

	return signal_send_plain(SIG_MONITOR, port->id, pid, peer_put_ref(words, number, 0)) ? number : 0;
}

void port_demonitor(struct port *port, Term pid, uint64_t monitor)
{
	Term words[REF_WORDS];

	signal_send_plain(SIG_DEMONITOR, port->id, pid, peer_put_ref(words, monitor, 0));
}
