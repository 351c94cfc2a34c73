/* SPDX-License-Identifier: Apache-2.0 */
/* Invariant: a task is a SIG_TASK signal, which stands in one of the lists until it is run; its call is called once. */
#include "proc/task.h"

#include "base/alloc.h"
#include "proc/message.h"
#include "proc/sched.h"

enum { LOW_EVERY = 8 }; /* a low task comes after so many normal ones */

struct task_list {
	struct signal *first, **last;
};

struct tasks {
	struct task_list ready[PRIO_COUNT], withheld;
	unsigned normals; /* run since the last low one */
	bool no_collections;
};

void task_send(Term to, enum proc_priority priority, bool collects, void (*call)(Process *p, void *arg), void *arg)
{
	struct signal *s = signal_new(SIG_TASK);

	s->priority = (uint8_t)priority;
	s->collects = collects;
	s->call = call;
	s->arg = arg;
	if (!signal_send_raised(to, s, priority))
		call(NULL, arg);
}

static void list_put(struct task_list *l, struct signal *s)
{
	s->next = NULL;
	*l->last = s;
	l->last = &s->next;
}

static struct signal *list_take(struct task_list *l)
{
	struct signal *s = l->first;

	if (s != NULL && (l->first = s->next) == NULL)
		l->last = &l->first;
	return s;
}

static struct tasks *make_tasks(void)
{
	struct tasks *t = mem_zalloc(sizeof(*t));

	for (int i = 0; i < PRIO_COUNT; i++)
		t->ready[i].last = &t->ready[i].first;
	t->withheld.last = &t->withheld.first;
	return t;
}

static struct tasks *tasks_of(Process *p)
{
	if (p->tasks == NULL)
		p->tasks = make_tasks();
	return p->tasks;
}

void task_queue(Process *p, struct signal *s)
{
	struct tasks *t = tasks_of(p);

	if (s->collects && t->no_collections) {
		list_put(&t->withheld, s);
		return;
	}
	list_put(&t->ready[s->priority], s);
	p->has_tasks = true;
}

static struct signal *take_next(struct tasks *t)
{
	struct task_list *low = &t->ready[PRIO_LOW], *normal = &t->ready[PRIO_NORMAL];

	for (int i = PRIO_MAX; i >= PRIO_HIGH; i--)
		if (t->ready[i].first != NULL)
			return list_take(&t->ready[i]);
	if (normal->first != NULL && (low->first == NULL || t->normals < LOW_EVERY)) {
		t->normals++;
		return list_take(normal);
	}
	t->normals = 0;
	return list_take(low);
}

static struct signal *take_look(struct task_list *l)
{
	struct signal **at = &l->first, *s;

	while ((s = *at) != NULL && s->collects)
		at = &s->next;
	if (s == NULL)
		return NULL;
	*at = s->next;
	if (*at == NULL)
		l->last = at;
	return s;
}

void task_run_looks(Process *p)
{
	struct signal *s;

	for (int i = p->has_tasks ? PRIO_MAX : -1; i >= PRIO_LOW; i--)
		while ((s = take_look(&p->tasks->ready[i])) != NULL) {
			s->call(p, s->arg);
			signal_free(s);
		}
}

bool task_run(Process *p)
{
	struct signal *s;

	while (p->has_tasks && (s = take_next(p->tasks)) != NULL) {
		s->call(p, s->arg);
		signal_free(s);
		if (p->exc_kind == EXC_EXITED)
			return false;
	}
	p->has_tasks = false;
	return true;
}

bool task_allow_collections(Process *p, bool allow)
{
	struct tasks *t = tasks_of(p);
	bool before = !t->no_collections;
	struct signal *s;

	t->no_collections = !allow;
	while (allow && (s = list_take(&t->withheld)) != NULL)
		task_queue(p, s);
	return before;
}

static void refuse_all(struct task_list *l)
{
	struct signal *s;

	while ((s = list_take(l)) != NULL) {
		s->call(NULL, s->arg);
		signal_free(s);
	}
}

void task_close(Process *p)
{
	struct tasks *t = p->tasks;

	if (t == NULL)
		return;
	for (int i = PRIO_MAX; i >= PRIO_LOW; i--)
		refuse_all(&t->ready[i]);
	refuse_all(&t->withheld);
	mem_free(t);
	p->tasks = NULL;
	p->has_tasks = false;
}
