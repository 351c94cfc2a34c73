/* SPDX-License-Identifier: Apache-2.0 */
/* driver_select: descriptors that drivers wait for.
 * Invariant: a selection stays in its port's list until the port's last reference is gone, as tasks and who polls may
 * name it; one that both have done with is taken for another descriptor. */
#include <stdatomic.h>

#include "base/alloc.h"
#include "driver/driver_port.h"
#include "io/io_probe.h"

struct driver_selection {
	struct port_watch watch; /* first: what is handed back */
	struct driver_selection *next;
	int fd;
	bool used;           /* the driver has not given it up */
	/* selected with DRIVER_USE: it stays until that is given up, though nothing is waited for */
	bool kept;
	atomic_bool polled;  /* it was not dropped */
};

static void end_watch(struct poll_watch *poll)
{
	struct driver_selection *s = (struct driver_selection *)poll;
	struct port *port = s->watch.port;

	atomic_store(&s->polled, false);
	port_unref(port);
}

static void drop(struct driver_selection *s)
{
	s->used = s->kept = false;
	port_watch_drop(&s->watch);
}

/* The port's selection of fd. If another port or a library selected fd since, or gave it up, the selection is dropped:
 * NULL. */
static struct driver_selection *find(const struct driver_port *dp, int fd)
{
	struct driver_selection *s = dp->selections;

	while (s != NULL && !(s->used && s->fd == fd))
		s = s->next;
	if (s == NULL || poll_has(&s->watch.poll))
		return s;
	drop(s);
	return NULL;
}

/* A task of its last life may wait still. */
static bool is_free(const struct driver_selection *s)
{
	return !s->used && !atomic_load(&s->polled) && atomic_load(&s->watch.ready) == 0;
}

static struct driver_selection *add(struct driver_port *dp, int fd)
{
	struct driver_selection *s = dp->selections;

	while (s != NULL && !is_free(s))
		s = s->next;
	if (s == NULL) {
		s = mem_zalloc(sizeof(*s));
		s->next = dp->selections;
		dp->selections = s;
	}
	s->fd = fd;
	if (port_watch_add(dp->port, &s->watch, fd, false) != 0)
		return NULL;
	atomic_store(&s->polled, true);
	s->watch.poll.dropped = end_watch;
	s->used = true;
	return s;
}

static void call_stop_select(struct driver_port *dp, int fd)
{
	const struct driver_entry *e = &dp->library->entry;
	struct io_callback running;

	if (PROBE_ON(driver__stop_select))
		probe_driver__stop_select(dp->library->name);
	running = io_callback_begin(NULL, dp->library->name, "stop_select");
	e->stop_select((void *)(intptr_t)fd, NULL);
	io_callback_end(&running);
}

/* DRIVER_USE ends all that is waited for, and calls; DRIVER_USE_NO_CALLBACK ends `bits` alone, as OTP does. */
static int deselect(struct driver_port *dp, int fd, int mode, unsigned bits)
{
	bool calls = (mode & DRIVER_USE_NO_CALLBACK) == DRIVER_USE;
	struct driver_selection *s = find(dp, fd);

	if (s != NULL) {
		port_watch_want(&s->watch, calls ? WATCH_IN | WATCH_OUT : bits, false);
		if (s->watch.wants == 0 && (mode & DRIVER_USE || !s->kept))
			drop(s);
	}
	if (!calls)
		return 0;
	poll_release(fd); /* another port may have been the last to select it */
	if (dp->library->entry.stop_select == NULL)
		return s != NULL ? -1 : 0;
	call_stop_select(dp, fd);
	return 0;
}

int driver_select(struct driver_port *dp, void *event, int mode, int on)
{
	unsigned bits = (mode & DRIVER_READ ? WATCH_IN : 0) | (mode & DRIVER_WRITE ? WATCH_OUT : 0);
	int fd = (int)(intptr_t)event;
	struct driver_selection *s;

	if (!driver_port_lives(dp) || fd < 0)
		return -1;
	if (!on)
		return deselect(dp, fd, mode, bits);
	s = find(dp, fd);
	if (s == NULL)
		s = add(dp, fd);
	if (s == NULL)
		return -1;
	s->kept |= (mode & DRIVER_USE) != 0;
	if (bits != 0)
		port_watch_want(&s->watch, bits, true);
	return 0;
}

void driver_ready(struct port *port, struct port_watch *w, bool input)
{
	struct driver_port *dp = port->driver_data;
	const struct driver_entry *e = &dp->library->entry;
	void (*ready)(void *data, void *event) = input ? e->ready_input : e->ready_output;
	int fd = ((struct driver_selection *)w)->fd;

	if (!poll_has(&w->poll)) /* another port was called for it meanwhile, and closed it */
		return;
	if (ready == NULL) { /* nobody would ever read it */
		port_watch_want(w, input ? WATCH_IN : WATCH_OUT, false);
		return;
	}
	driver_enter(dp);
	ready(dp->data, (void *)(intptr_t)fd);
	driver_leave(dp);
}

void driver_drop_selections(struct driver_port *dp)
{
	for (struct driver_selection *s = dp->selections; s != NULL; s = s->next)
		if (s->used)
			drop(s);
}

void driver_free_selections(struct driver_port *dp)
{
	while (dp->selections != NULL) {
		struct driver_selection *s = dp->selections;

		dp->selections = s->next;
		mem_free(s);
	}
}
