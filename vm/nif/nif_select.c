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
#include "data/print.h"
#include "heap/copy.h"
#include "io/poll.h"
#include "nif/nif_library.h"
#include "nif/nif_resource.h"
#include "proc/message.h"
#include "proc/report.h"

enum { DIRECTIONS = 3, THEFT_TEXT_BYTES = 1024 };
static const struct { unsigned mode, watch; Term ready; int cancelled; const char *waiter; } directions[DIRECTIONS] = {
	{ NIF_SELECT_READ, WATCH_IN, am_ready_input, NIF_SELECTED_READ_CANCELLED, "in-pid" },
	{ NIF_SELECT_WRITE, WATCH_OUT, am_ready_output, NIF_SELECTED_WRITE_CANCELLED, "out-pid" },
	{ NIF_SELECT_ERROR, WATCH_ERROR, am_ready_error, NIF_SELECTED_ERROR_CANCELLED, "err-pid" },
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

/* A call of enif_select. */
struct request {
	struct nif_env *env;
	int fd;
	unsigned mode;
	struct nif_resource *resource, *robbed; /* robbed: of whom the descriptor was before; counted; NULL: nobody's */
	Term ref;
	char text[THEFT_TEXT_BYTES];            /* for the logger, when there is one robbed */
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

/* ---- a descriptor that another resource has */

static void print_type(struct print_buffer *b, const struct nif_resource *r)
{
	print_term(b, r->type->module);
	print_text(b, ":");
	print_term(b, r->type->name);
}

/* As OTP words it, whatever is asked for. The lock is held. */
static void print_theft(struct request *q, const struct selection *s)
{
	struct print_buffer buffer, *b = &buffer;
	const char *with = "with";

	print_buffer_fixed(b, q->text, sizeof(q->text));
	print_format(b, "enif_select(_, %d, READ WRITE, ", s->watch.fd);
	print_type(b, q->resource);
	print_text(b, ", ");
	print_term(b, q->ref);
	print_format(b, ") stealing control of fd=%d from resource ", s->watch.fd);
	print_type(b, s->resource);
	for (int i = 0; i < DIRECTIONS; i++) {
		if (s->waiting[i].pid == TERM_NONE)
			continue;
		print_format(b, " %s %s ", with, directions[i].waiter);
		print_term(b, s->waiting[i].pid);
		with = "and";
	}
	print_text(b, "\n");
}

/* What another resource waits for there is forgotten, the descriptor is that of who asks, and the logger hears of it: a
 * library that closes a descriptor without having stopped it finds the next file that has the number selected. The lock
 * is held. */
static void take_over(struct request *q, struct selection *s)
{
	if (likely(s == NULL || s->resource == q->resource))
		return;
	print_theft(q, s);
	for (int i = 0; i < DIRECTIONS; i++)
		drop_waiting(take_waiting(s, i));
	q->robbed = s->resource;
	resource_ref(&q->resource->base);
	s->resource = q->resource;
}

/* Afterwards, without the lock. */
static void tell_theft(const struct request *q)
{
	const struct nif_env *env = q->env;

	if (likely(q->robbed == NULL))
		return;
	if (env != NULL && env->process != NULL && env->dirty == NULL)
		process_report_error(env->process, q->text);
	else
		log_line("%s", q->text);
	resource_unref(&q->robbed->base);
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

static int stop(struct request *q)
{
	struct selection **slot, *s;
	int cancelled = 0;

	lock_acquire(&selections.lock);
	slot = find_slot(q->fd);
	s = *slot;
	take_over(q, s);
	if (s != NULL) {
		for (int i = 0; i < DIRECTIONS; i++)
			cancelled |= cancel_direction(s, i);
		*slot = NULL;
		poll_drop(&s->watch);
	}
	lock_release(&selections.lock);
	if (s != NULL)
		return NIF_SELECTED_STOP_SCHEDULED | cancelled;
	call_stop(q->resource, q->fd, 1);
	return NIF_SELECTED_STOP_CALLED;
}

static int cancel(struct request *q)
{
	struct selection *s;
	int result = 0;

	lock_acquire(&selections.lock);
	s = *find_slot(q->fd);
	take_over(q, s);
	if (s != NULL) {
		for (int i = 0; i < DIRECTIONS; i++)
			if (q->mode & directions[i].mode)
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

	if (s == NULL) {
		s = made = mem_zalloc(sizeof(*s));
		s->watch = (struct poll_watch){ .fd = fd, .ready = tell_ready, .dropped = end_selection,
						.of_library = true };
		s->resource = r;
	}
	for (int i = 0; i < DIRECTIONS; i++)
		if (wants[i].pid != TERM_NONE) {
			drop_waiting(s->waiting[i]);
			s->waiting[i] = wants[i];
			wants[i] = (struct waiting){ 0 };
		}
	/* A driver may have taken the descriptor since. */
	error = made == NULL ? poll_want_back(&s->watch, wanted_of(s)) : poll_add(&s->watch, wanted_of(s));
	if (error != 0) {
		for (int i = 0; i < DIRECTIONS; i++)
			wants[i] = take_waiting(s, i);
		mem_free(made);
		return error;
	}
	if (made == NULL)
		return 0;
	resource_ref(&r->base);
	*slot = s;
	return 0;
}

static int start(struct request *q, struct waiting wants[DIRECTIONS])
{
	struct selection **slot;
	int error;

	lock_acquire(&selections.lock);
	slot = find_slot(q->fd);
	take_over(q, *slot);
	error = wait_in(slot, q->fd, q->resource, wants);
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
	w.fragment = copy_to_fragment(
		custom ? ref_or_message : put_message(env.heap, r, ref_or_message, directions[i].ready), &w.message);
	nif_env_clear(&env);
	return w;
}

static int do_request(struct request *q, Term to)
{
	struct waiting wants[DIRECTIONS] = { 0 };

	if (q->mode & NIF_SELECT_STOP)
		return stop(q);
	if (q->mode & NIF_SELECT_CANCEL)
		return cancel(q);
	if (!(q->mode & (NIF_SELECT_READ | NIF_SELECT_WRITE | NIF_SELECT_ERROR)) || !term_is_local_pid(to))
		return INT_MIN | NIF_SELECTED_FAILED;
	for (int i = 0; i < DIRECTIONS; i++)
		if (q->mode & directions[i].mode)
			wants[i] = make_waiting(to, i, q->resource, q->ref, (q->mode & NIF_SELECT_CUSTOM) != 0);
	return start(q, wants);
}

static int select_fd(struct nif_env *env, int fd, unsigned mode, void *object, const struct nif_pid *pid,
		     Term ref_or_message)
{
	struct request q;
	int result;

	if (fd < 0)
		return INT_MIN | NIF_SELECTED_INVALID;
	q.env = env;
	q.fd = fd;
	q.mode = mode;
	q.resource = nif_resource_of(object);
	q.robbed = NULL;
	q.ref = ref_or_message;
	result = do_request(&q, pid != NULL                           ? pid->pid
				: env != NULL && env->process != NULL ? env->process->id
								      : TERM_NONE);
	tell_theft(&q);
	return result;
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
