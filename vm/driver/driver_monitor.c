/* SPDX-License-Identifier: Apache-2.0 */
/* Processes that drivers monitor. A monitor is its reference's number and the process. */
#include <string.h>

#include "base/alloc.h"
#include "driver/driver_port.h"
#include "io/port_signal.h"

static struct driver_watched **find(struct driver_port *dp, uint64_t number)
{
	struct driver_watched **at = &dp->watched;

	while (*at != NULL && (*at)->number != number)
		at = &(*at)->next;
	return at;
}

static void remove_watched(struct driver_watched **at)
{
	struct driver_watched *w = *at;

	*at = w->next;
	mem_free(w);
}

/* Negative: the driver has no process_exit. 1: there is no such process. */
int driver_monitor_process(struct driver_port *dp, Term pid, struct driver_monitor *monitor)
{
	struct driver_watched *w;
	uint64_t number;

	if (!driver_port_lives(dp) || dp->library->entry.process_exit == NULL)
		return -1;
	number = term_is_local_pid(pid) ? port_monitor(dp->port, pid) : 0;
	if (number == 0)
		return 1;
	w = mem_alloc(sizeof(*w));
	*w = (struct driver_watched){ dp->watched, pid, number };
	dp->watched = w;
	*monitor = (struct driver_monitor){ .number = number, .pid = pid };
	return 0;
}

/* 1: there is no such monitor. */
int driver_demonitor_process(struct driver_port *dp, const struct driver_monitor *monitor)
{
	struct driver_watched **at;

	if (!driver_port_lives(dp))
		return -1;
	at = find(dp, monitor->number);
	if (*at == NULL)
		return 1;
	port_demonitor(dp->port, (*at)->pid, (*at)->number);
	remove_watched(at);
	return 0;
}

Term driver_get_monitored_process(struct driver_port *dp, const struct driver_monitor *monitor)
{
	struct driver_watched **at;

	if (!driver_port_lives(dp))
		return NIL;
	at = find(dp, monitor->number);
	return *at != NULL ? (*at)->pid : NIL;
}

int driver_compare_monitors(const struct driver_monitor *a, const struct driver_monitor *b)
{
	return memcmp(a, b, sizeof(*a));
}

void driver_process_exit(struct port *port, Term pid, uint64_t number)
{
	struct driver_port *dp = port->driver_data;
	struct driver_monitor monitor = { .number = number, .pid = pid };
	struct driver_watched **at = find(dp, number);

	if (*at == NULL) /* taken back meanwhile */
		return;
	driver_enter(dp);
	dp->library->entry.process_exit(dp->data, &monitor);
	driver_leave(dp);
	at = find(dp, number);
	if (*at != NULL)
		remove_watched(at);
}

void driver_drop_monitors(struct driver_port *dp)
{
	while (dp->watched != NULL) {
		port_demonitor(dp->port, dp->watched->pid, dp->watched->number);
		remove_watched(&dp->watched);
	}
}
