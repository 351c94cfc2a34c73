/* SPDX-License-Identifier: Apache-2.0 */
/* enif_select: a process gets a message when a descriptor of a library is ready. One selection a descriptor, which
 * keeps its resource until the library stops it. Events and stop calls come from io/poll.h.
 * Invariant: a selection is in the table until it is stopped; what a direction waits to send is there while it is
 * wanted. */
#include <errno.h>
#include <limits.h>
#include <string.h>

#include "base/alloc.h"
#include "base/lock.h"
#include "heap/copy.h"
#include "io/poll.h"
#include "nif/library.h"
#include "nif/resource.h"
#include "proc/message.h"

enum { DIRECTIONS = 3 };
static const struct { unsigned mode, watch; Term ready; int cancelled; } directions[DIRECTIONS] = {
	{ NIF_SELECT_READ, WATCH_IN, am_ready_input, NIF_SELECTED_READ_CANCELLED },
	{ NIF_SELECT_WRITE, WATCH_OUT, am_ready_output, NIF_SELECTED_WRITE_CANCELLED },
	{ NIF_SELECT_ERROR, WATCH_ERROR, am_ready_error, NIF_SELECTED_ERROR_CANCELLED },
};

struct waiting {
	Term pid;            /* TERM_NONE: nobody waits */
	Term message;
	struct fragment *fragment; /* of the message; owned; may be NULL */
};

struct selection {
	struct poll_watch watch;
	struct nif_resource *resource; /* counted */
	struct waiting waiting[DIRECTIONS];
};

static struct {
	struct lock lock;
	struct selection **by_fd; /* lock */
	size_t room;              /* lock */
} selections;

void nif_select_init(void)
{
	lock_init(&selections.lock, LOCK_nif_select);
}

/* ---- the lock is held */

static struct selection **find_slot(int fd)
{
	size_t room = selections.room;

	if ((size_t)fd >= room) {
		selections.room = (size_t)fd + 64;
		selections.by_fd = mem_realloc(selections.by_fd, selections.room * sizeof(struct selection *));
		memset(selections.by_fd + room, 0, (selections.room - room) * sizeof(struct selection *));
	}
	return &selections.by_fd[fd];
}

static unsigned wanted_of(const struct selection *s)
{
	unsigned wanted = 0;

	for (int i = 0; i < DIRECTIONS; i++)
		if (s->waiting[i].pid != TERM_NONE)
			wanted |= directions[i].watch;
	return wanted;
}

static struct waiting take_waiting(struct selection *s, int i)
{
	struct waiting w = s->waiting[i];

	s->waiting[i] = (struct waiting){ 0 };
	return w;
}

static void drop_waiting(struct waiting w)
{
	if (w.fragment != NULL)
		fragment_free(w.fragment);
}

/* ---- called by io/poll.h */

static void deliver(struct waiting w)
{
	Process *to = w.pid != TERM_NONE ? process_find(w.pid) : NULL;

	if (to == NULL) {
		drop_waiting(w);
		return;
	}
	message_deliver(to, TERM_NONE, w.message, w.fragment);
	process_unref(to);
}

static void tell_ready(struct poll_watch *watch, unsigned events)
{
	struct selection *s = (struct selection *)watch;
	struct waiting ready[DIRECTIONS] = { 0 };
	unsigned wanted;

	lock_acquire(&selections.lock);
	for (int i = 0; i < DIRECTIONS; i++)
		if (events & directions[i].watch)
			ready[i] = take_waiting(s, i);
	wanted = wanted_of(s);
	if (wanted != 0)
		poll_want(watch, wanted);
	lock_release(&selections.lock);
	for (int i = 0; i < DIRECTIONS; i++)
		deliver(ready[i]);
}

static void call_stop(struct nif_resource *r, int fd, int is_direct)
{
	struct nif_type_init calls;
	struct nif_library *l = nif_type_calls(r->type, &calls);
	struct nif_env env;

	if (l != NULL && calls.stop != NULL) {
		nif_env_init_own(&env, l);
		calls.stop(&env, r->object, fd, is_direct);
		nif_env_clear(&env);
	}
	if (l != NULL)
		nif_library_unref(l);
}

static void end_selection(struct poll_watch *watch)
{
	struct selection *s = (struct selection *)watch;

	for (int i = 0; i < DIRECTIONS; i++)
		drop_waiting(s->waiting[i]);
	call_stop(s->resource, watch->fd, 0);
	resource_unref(&s->resource->base);
	mem_free(s);
}

/* ---- for libraries */

/* The message is not sent. Returns the bit that says so; 0: nobody waits for it. */
static int cancel_direction(struct selection *s, int i)
{
	if (s->waiting[i].pid == TERM_NONE)
		return 0;
	drop_waiting(take_waiting(s, i));
	return directions[i].cancelled;
}

static int stop(int fd, struct nif_resource *r)
{
	struct selection **slot, *s;
	int cancelled = 0;
	bool is_own;

	lock_acquire(&selections.lock);
	slot = find_slot(fd);
	s = *slot;
	is_own = s != NULL && s->resource == r;
	if (is_own) {
		for (int i = 0; i < DIRECTIONS; i++)
			cancelled |= cancel_direction(s, i);
		*slot = NULL;
		poll_drop(&s->watch);
	}
	lock_release(&selections.lock);
	if (s != NULL)
		return is_own ? NIF_SELECTED_STOP_SCHEDULED | cancelled : INT_MIN | NIF_SELECTED_INVALID;
	call_stop(r, fd, 1);
	return NIF_SELECTED_STOP_CALLED;
}

static int cancel(int fd, struct nif_resource *r, unsigned mode)
{
	struct selection *s;
	int result = 0;

	lock_acquire(&selections.lock);
	s = *find_slot(fd);
	if (s != NULL && s->resource == r) {
		for (int i = 0; i < DIRECTIONS; i++)
			if (mode & directions[i].mode)
				result |= cancel_direction(s, i);
		poll_want(&s->watch, wanted_of(s));
	}
	lock_release(&selections.lock);
	return result;
}

/* Waits in slot for what is in `wants`, and takes that. Fails: -errno. The lock is held. */
static int wait_in(struct selection **slot, int fd, struct nif_resource *r, struct waiting wants[DIRECTIONS])
{
	struct selection *s = *slot, *made = NULL;
	int error = 0;

	if (s != NULL && s->resource != r)
		return -EBUSY;
	if (s == NULL) {
		s = made = mem_zalloc(sizeof(*s));
		s->watch = (struct poll_watch){ .fd = fd, .ready = tell_ready, .dropped = end_selection };
		s->resource = r;
	}
	for (int i = 0; i < DIRECTIONS; i++)
		if (wants[i].pid != TERM_NONE) {
			drop_waiting(s->waiting[i]);
			s->waiting[i] = wants[i];
			wants[i] = (struct waiting){ 0 };
		}
	if (made == NULL) {
		poll_want(&s->watch, wanted_of(s));
		return 0;
	}
	error = poll_add(&s->watch, wanted_of(s));
	if (error != 0) {
		for (int i = 0; i < DIRECTIONS; i++)
			wants[i] = take_waiting(s, i);
		mem_free(s);
		return error;
	}
	resource_ref(&r->base);
	*slot = s;
	return 0;
}

static int start(int fd, struct nif_resource *r, struct waiting wants[DIRECTIONS])
{
	int error;

	lock_acquire(&selections.lock);
	error = wait_in(find_slot(fd), fd, r, wants);
	lock_release(&selections.lock);
	for (int i = 0; i < DIRECTIONS; i++)
		drop_waiting(wants[i]);
	return error == 0 ? 0 : error == -EBADF ? INT_MIN | NIF_SELECTED_INVALID : INT_MIN | NIF_SELECTED_FAILED;
}

/* {select, Resource, Ref, Ready} */
static Term put_message(struct heap *h, struct nif_resource *r, Term ref, Term ready)
{
	return heap_tuple(h, am_select, resource_put(h, &r->base), ref, ready);
}

static struct waiting make_waiting(Term pid, int i, struct nif_resource *r, Term ref_or_message, bool custom)
{
	struct waiting w = { .pid = pid };
	struct nif_env env;

	nif_env_init_own(&env, NULL);
	w.fragment = copy_to_fragment(custom ? ref_or_message : put_message(env.heap, r, ref_or_message, directions[i].ready), &w.message);
	nif_env_clear(&env);
	return w;
}

static int select_fd(struct nif_env *env, int fd, unsigned mode, void *object, const struct nif_pid *pid,
		     Term ref_or_message)
{
	struct nif_resource *r = nif_resource_of(object);
	struct waiting wants[DIRECTIONS] = { 0 };
	Term to = pid != NULL ? pid->pid : env != NULL && env->process != NULL ? env->process->id : TERM_NONE;

	if (fd < 0)
		return INT_MIN | NIF_SELECTED_INVALID;
	if (mode & NIF_SELECT_STOP)
		return stop(fd, r);
	if (mode & NIF_SELECT_CANCEL)
		return cancel(fd, r, mode);
	if (!(mode & (NIF_SELECT_READ | NIF_SELECT_WRITE | NIF_SELECT_ERROR)) || !term_is_local_pid(to))
		return INT_MIN | NIF_SELECTED_FAILED;
	for (int i = 0; i < DIRECTIONS; i++)
		if (mode & directions[i].mode)
			wants[i] = make_waiting(to, i, r, ref_or_message, (mode & NIF_SELECT_CUSTOM) != 0);
	return start(fd, r, wants);
}

int enif_select(struct nif_env *env, int fd, unsigned mode, void *object, const struct nif_pid *pid, Term ref)
{
	return select_fd(env, fd, mode & ~(unsigned)NIF_SELECT_CUSTOM, object, pid, ref);
}

int enif_select_x(struct nif_env *env, int fd, unsigned mode, void *object, const struct nif_pid *pid, Term message,
		  struct nif_env *message_env)
{
	int result = select_fd(env, fd, mode | NIF_SELECT_CUSTOM, object, pid, message);

	if (message_env != NULL && result >= 0)
		nif_env_clear(message_env);
	return result;
}
