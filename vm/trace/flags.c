/* SPDX-License-Identifier: Apache-2.0 */
/* The flags that sessions give processes and ports: who has which, and who gets them at birth. A process changes its
 * own, or whoever holds it while it waits. Who sets flags waits until every thread has been between two time slices
 * since tracing was switched on (trace_active), so that no event is overlooked from then on. */
#include "base/alloc.h"
#include "base/lock.h"
#include "io/port.h"
#include "proc/await.h"
#include "proc/exc.h"
#include "proc/message.h"
#include "proc/process_walk.h"
#include "proc/sched.h"
#include "trace/action.h"
#include "trace/events.h"
#include "trace/point.h"
#include "trace/session.h"
#include "trace/trace.h"
#include "trace/tracer.h"
#include "trace/tracer_module.h"
#include "trace/watch.h"

enum flag_who { WHO_TIME, WHO_BOTH, WHO_PROCESS, WHO_PORT };

static const struct flag_row {
	Term name;
	uint32_t bit;
	enum flag_who who;
} rows[TRACE_BITS] = {
#define FLAG(atom, name, who) { am_##atom, TRACE_##name, WHO_##who },
#include "proc/trace_flags.def"
};

static struct {
	struct lock lock;            /* of all below */
	unsigned changing;           /* changes that are under way: somebody is about to trace */
	uint64_t changes;            /* so many have begun, and reviews */
} tracing;

/* ---- names */

static uint32_t bits_of(enum flag_who first, enum flag_who second)
{
	uint32_t bits = 0;

	for (unsigned i = 0; i < TRACE_BITS; i++)
		if (rows[i].who == first || rows[i].who == second)
			bits |= rows[i].bit;
	return bits;
}

uint32_t trace_flag_bits(Term name)
{
	if (name == am_all)
		return (1u << TRACE_BITS) - 1;
	for (unsigned i = 0; i < TRACE_BITS; i++)
		if (rows[i].name == name)
			return rows[i].bit;
	return 0;
}

static Term read_local(Term t)
{
	return term_is_local_pid(t) || term_is_local_port(t) ? t : TERM_NONE;
}

static Term read_module(Term module, Term state)
{
	return module == am_erl_tracer ? read_local(state) : tracer_module_get(module, state);
}

Term trace_read_tracer(Term t, Term tag)
{
	if (term_is_tuple_of(t, 2) && tuple_get(t, 1) == tag)
		return read_local(tuple_get(t, 2));
	if (term_is_tuple_of(t, 3) && tuple_get(t, 1) == tag)
		return read_module(tuple_get(t, 2), tuple_get(t, 3));
	return TERM_NONE;
}

Term trace_read_session_tracer(Term t)
{
	return term_is_tuple_of(t, 2) ? read_module(tuple_get(t, 1), tuple_get(t, 2)) : read_local(t);
}

bool trace_flags_read(const struct trace_session *s, Term list, uint32_t *flags, Term *tracer, bool *cpu_time)
{
	*flags = 0;
	*cpu_time = false;
	*tracer = TERM_NONE;
	for (; term_is_cons(list); list = cons_tail(list)) {
		Term t = cons_head(list);
		uint32_t bits = trace_flag_bits(t);

		*flags |= bits;
		*cpu_time |= t == am_cpu_timestamp;
		if (bits != 0 || t == am_cpu_timestamp)
			continue;
		*tracer = s->tracer == NIL ? trace_read_tracer(t, am_tracer) : TERM_NONE;
		if (*tracer == TERM_NONE)
			return false;
	}
	return list == NIL;
}

Term trace_flags_list(struct heap *h, uint32_t flags)
{
	Term list = NIL;

	for (unsigned i = 0; i < TRACE_BITS; i++)
		if (flags & rows[i].bit)
			list = heap_cons(h, rows[i].name, list);
	return list;
}

/* ---- changes */

enum { CHANGED_AT_ONCE = 1 << 13 };

/* What somebody waits for. */
struct change {
	struct await await;  /* first */
	struct trace_session *session; /* counted */
	Term spec;
	bool on;
	uint32_t flags;
	Term tracer;         /* TERM_NONE: stays */
	_Atomic int64_t count; /* of those that were changed */
};

struct visit {
	void (*see)(Process *p, void *arg);
	void *arg;
};

static void see_living(Process *p, void *arg)
{
	const struct visit *v = arg;

	if (!(atomic_load(&p->state) & PS_EXITING))
		v->see(p, v->arg);
}

void trace_each_process(void (*see)(Process *p, void *arg), void *arg)
{
	struct visit v = { see, arg };

	process_each(see_living, &v);
}

/* Flags and tracer as the change makes them; a tracer that is gone leaves its flags to the next one. Fails: false when
 * somebody else traces. */
static bool apply_change(const struct change *c, Term tracee, uint32_t *flags, Term *tracer)
{
	if (c->tracer != TERM_NONE && *flags != 0 && *tracer != c->tracer && tracer_is_alive(*tracer, tracee))
		return false;
	*flags = c->on ? *flags | c->flags : *flags & ~c->flags;
	if (c->tracer != TERM_NONE)
		*tracer = c->tracer;
	return true;
}

/* p runs here, is held, or the world is stopped. */
static void change_one(Process *p, struct change *c)
{
	struct traced *t = trace_find(p, c->session);
	uint32_t flags = t != NULL ? t->flags : 0;
	Term tracer = t != NULL ? t->tracer : NIL;

	if (trace_session_is_over(c->session) || !apply_change(c, p->id, &flags, &tracer))
		return;
	if (t != NULL || flags != 0)
		traced_set(p, traced_get(p, c->session), flags, tracer);
	atomic_fetch_add(&c->count, 1);
}

static void change_each(Process *p, void *arg)
{
	if (!(atomic_load(&p->state) & PS_EXITING))
		change_one(p, arg);
}

/* The process itself; NULL: there is none. */
static void change_self(Process *p, void *arg)
{
	struct change *c = arg;

	if (p != NULL) {
		struct traced *t = trace_find(p, c->session);
		bool told = t != NULL && (t->flags & (TRACE_RUNNING | TRACE_RUNNING_PROCS));

		change_one(p, c);
		t = trace_find(p, c->session);
		if (t != NULL)
			t->began_untold |= !told;
	}
	await_done(&c->await);
}

/* Of a process that waits for messages. */
static bool change_held(Process *p, struct change *c)
{
	if (p == NULL || !sched_hold(p, c->spec))
		return false;
	change_one(p, c);
	sched_let_go(p);
	return true;
}

static void send_change(const Process *from, struct change *c)
{
	struct signal *s = signal_new(SIG_CALL);

	s->call = change_self;
	s->arg = c;
	await_more(&c->await);
	if (!signal_send_raised(c->spec, s, from->priority))
		change_self(NULL, c);
}

static void change_pid(Process *from, struct change *c)
{
	if (c->spec == from->id)
		change_one(from, c);
	else if (!change_held(process_peek(c->spec), c))
		send_change(from, c);
}

static void change_one_port(struct port *port, void *arg)
{
	struct change *c = arg;
	uint32_t flags;
	Term tracer;

	port_hold(port);
	trace_port_get(port, c->session, &flags, &tracer);
	if (port->state == PORT_OPEN && !trace_session_is_over(c->session) &&
	    apply_change(c, port->id, &flags, &tracer)) {
		trace_port_set(port, c->session, flags, tracer);
		atomic_fetch_add(&c->count, 1);
	}
	port_let_go(port);
}

static void change_port(struct change *c)
{
	struct port *port = port_find(c->spec);

	if (port == NULL)
		return;
	change_one_port(port, c);
	port_unref(port);
}

static void change_born(enum trace_born_kind kind, const struct change *c, uint32_t mask)
{
	struct trace_born b = trace_session_born(c->session, kind);

	if ((c->flags & mask) == 0)
		return;
	if (!tracer_is_alive(b.tracer, am_undefined))
		b.flags = 0;
	b.flags = c->on ? b.flags | (c->flags & mask) : b.flags & ~(c->flags & mask);
	if (c->tracer != TERM_NONE)
		b.tracer = c->tracer;
	if (b.flags == 0 || b.tracer == NIL)
		b = (struct trace_born){ 0, NIL };
	trace_session_set_born(c->session, kind, b);
}

/* Whom a word names: those there are, or those to come; processes, or ports. */
static const struct spec_row {
	Term name;
	bool existing, born, processes, ports;
} specs[] = {
	{ am_all, true, true, true, true },
	{ am_processes, true, true, true, false },
	{ am_ports, true, true, false, true },
	{ am_existing, true, false, true, true },
	{ am_existing_processes, true, false, true, false },
	{ am_existing_ports, true, false, false, true },
	{ am_new, false, true, true, true },
	{ am_new_processes, false, true, true, false },
	{ am_new_ports, false, true, false, true },
};

static const struct spec_row *find_spec(Term name)
{
	for (size_t i = 0; i < sizeof(specs) / sizeof(specs[0]); i++)
		if (specs[i].name == name)
			return &specs[i];
	return NULL;
}

/* Of processes, or ports, and of both. */
static uint32_t flags_of(enum flag_who who)
{
	return bits_of(who, who) | bits_of(WHO_TIME, WHO_BOTH);
}

/* Flags of ports alone concern no process, nor those of processes alone a port. */
static void change_many(const struct spec_row *spec, struct change *c)
{
	uint32_t processes = flags_of(WHO_PROCESS), ports = flags_of(WHO_PORT);

	if (spec->existing && spec->ports && (c->flags & ports))
		trace_each_port(change_one_port, c);
	if (spec->born && spec->processes)
		change_born(BORN_PROCESS, c, processes);
	if (spec->born && spec->ports)
		change_born(BORN_PORT, c, ports);
	if (spec->existing && spec->processes && (c->flags & processes))
		process_each_in_parts(CHANGED_AT_ONCE, change_each, c);
}

void trace_begin_change(bool on)
{
	lock_acquire(&tracing.lock);
	tracing.changing++;
	tracing.changes++;
	if (on)
		sched_trace(true);
	lock_release(&tracing.lock);
}

void trace_end_change(void)
{
	lock_acquire(&tracing.lock);
	tracing.changing--;
	lock_release(&tracing.lock);
	trace_review();
}

static void end_change(struct await *a)
{
	trace_session_unref(((struct change *)a)->session);
	trace_end_change();
}

static Term tell_count(Process *p, struct await *a)
{
	struct change *c = (struct change *)a;
	int64_t count = atomic_load(&c->count);

	return count == 0 && find_spec(c->spec) == NULL ? exc_badarg(p) : term_from_small(count);
}

/* Who is born, or whose flags are set, may be in a slice that began before. */
Term trace_change(Process *p, struct trace_session *session, Term spec, bool on, uint32_t flags, Term tracer)
{
	const struct spec_row *many = find_spec(spec);
	struct change *c;

	if (!term_is_local_pid(spec) && !term_is_local_port(spec) && many == NULL)
		return exc_badarg(p);
	c = mem_zalloc(sizeof(*c));
	c->session = session;
	trace_session_ref(session);
	c->spec = spec;
	c->on = on;
	c->flags = flags;
	c->tracer = tracer;
	await_init(&c->await, p, tell_count, end_change);
	trace_begin_change(on);
	if (many != NULL)
		change_many(many, c);
	else if (term_is_local_port(spec))
		change_port(c);
	else
		change_pid(p, c);
	if (on || many != NULL)
		await_round(&c->await);
	return await_parts(p, &c->await);
}

static void count_traced_port(struct port *port, void *arg)
{
	port_hold(port);
	*(bool *)arg |= port->trace_flags != 0;
	port_let_go(port);
}

static bool anybody_traces(void)
{
	bool any = point_count() != 0 || watch_is_on() || trace_count() != 0;

	TRACE_EACH_SESSION(s)
		any |= trace_session_born(s, BORN_PROCESS).flags != 0 || trace_session_born(s, BORN_PORT).flags != 0;
	if (!any)
		trace_each_port(count_traced_port, &any);
	return any;
}

/* When a change, or another review, has begun since the looks, that looks again. A process that gets flags meanwhile,
 * of its parent or a match specification, switches tracing on when it finds it off, and is counted before. */
void trace_review(void)
{
	uint64_t before;
	bool any;

	lock_acquire(&tracing.lock);
	before = ++tracing.changes;
	lock_release(&tracing.lock);
	any = anybody_traces();
	lock_acquire(&tracing.lock);
	if (any || (tracing.changing == 0 && tracing.changes == before))
		sched_trace(any);
	if (trace_count() != 0)
		sched_trace(true);
	lock_release(&tracing.lock);
}

bool trace_is_used(void)
{
	bool is_changing;

	lock_acquire(&tracing.lock);
	is_changing = tracing.changing > 0;
	lock_release(&tracing.lock);
	return is_changing || anybody_traces() || trace_session_has_module() || trace_seq_tracer() != am_false;
}

/* ---- looks */

void trace_look_process(Process *p, const struct trace_session *session, uint32_t *flags, Term *tracer)
{
	struct traced *t = trace_find(p, session);

	if (t != NULL && t->flags != 0 && !tracer_is_alive(t->tracer, p->id))
		traced_set(p, t, 0, NIL);
	*flags = t != NULL ? t->flags : 0;
	*tracer = t != NULL ? t->tracer : NIL;
}

static bool look_port(Term id, struct trace_session *session, uint32_t *flags, Term *tracer)
{
	struct port *port = port_find(id);
	bool is_open;

	if (port == NULL)
		return false;
	port_hold(port);
	trace_port_look(port, session, flags, tracer);
	is_open = port->state == PORT_OPEN;
	port_let_go(port);
	port_unref(port);
	return is_open;
}

bool trace_look(Term spec, struct trace_session *session, uint32_t *flags, Term *tracer)
{
	struct trace_born b;

	if (term_is_local_port(spec))
		return look_port(spec, session, flags, tracer);
	b = trace_session_born(session, spec == am_new_ports ? BORN_PORT : BORN_PROCESS);
	if (!tracer_is_alive(b.tracer, am_undefined))
		b = (struct trace_born){ 0, NIL };
	*flags = b.flags;
	*tracer = b.tracer;
	return true;
}

static Term put_sessions(struct heap *h, const struct traced *first)
{
	Term list = NIL;

	TRACED_EACH(t, (struct traced *)first, ~0u)
		list = heap_cons(h, trace_session_put(h, t->session), list);
	return list;
}

Term trace_sessions_of_process(const Process *p, struct heap *h)
{
	return put_sessions(h, traced_first(p));
}

Term trace_sessions_of_port(Term id, struct heap *h)
{
	struct port *port = port_find(id);
	Term list = TERM_NONE;

	if (port == NULL)
		return list;
	port_hold(port);
	if (port->state == PORT_OPEN)
		list = put_sessions(h, port->traced);
	port_let_go(port);
	port_unref(port);
	return list;
}

/* ---- births and links */

/* What a process hands on at its first spawn, or link, it hands on once. */
static void inherit(Process *from, struct traced *t, Process *to, uint32_t once, uint32_t always)
{
	const struct traced *had = trace_find(to, t->session);
	uint32_t flags = t->flags, given = (had != NULL ? had->flags : 0) | flags;

	if (!(flags & (once | always)))
		return;
	if (flags & once) {
		given &= ~(once | always);
		traced_set(from, t, flags & ~(once | always), t->tracer);
	}
	traced_set(to, traced_get(to, t->session), given, t->tracer);
}

void trace_flags_born_port(struct port *port)
{
	TRACE_EACH_SESSION(s) {
		struct trace_born b = trace_session_born(s, BORN_PORT);

		if (b.flags != 0 && tracer_is_alive(b.tracer, am_undefined))
			trace_port_set(port, s, b.flags, b.tracer);
	}
}

void trace_flags_born(Process *parent, Process *child, bool linked)
{
	TRACE_EACH_SESSION(s) {
		struct trace_born b = trace_session_born(s, BORN_PROCESS);

		if (b.flags != 0 && tracer_is_alive(b.tracer, am_undefined))
			traced_set(child, traced_get(child, s), b.flags, b.tracer);
	}
	if (parent == NULL || parent->trace_flags == 0)
		return;
	TRACED_EACH(t, traced_first(parent), ~0u) {
		inherit(parent, t, child, TRACE_SET_ON_FIRST_SPAWN, TRACE_SET_ON_SPAWN);
		if (linked)
			inherit(parent, t, child, TRACE_SET_ON_FIRST_LINK, TRACE_SET_ON_LINK);
	}
}

struct gift {
	struct trace_session *session; /* counted */
	uint32_t on, off;
	Term tracer;
};

static void take_gift(Process *p, void *arg)
{
	struct gift *g = arg;

	if (p != NULL && !trace_session_is_over(g->session) && (g->on != 0 || trace_find(p, g->session) != NULL)) {
		struct traced *t = traced_get(p, g->session);

		traced_set(p, t, (t->flags & ~g->off) | g->on, g->tracer);
	}
	trace_session_unref(g->session);
	mem_free(g);
}

void trace_flags_send(Term to, struct trace_session *session, uint32_t on, uint32_t off, Term tracer)
{
	struct gift *g = mem_alloc(sizeof(*g));
	struct signal *s = signal_new(SIG_CALL);

	*g = (struct gift){ session, on, off, tracer };
	trace_session_ref(session);
	s->call = take_gift;
	s->arg = g;
	if (!signal_send(to, s))
		take_gift(NULL, g);
}

void trace_flags_linked(Process *p, Term to)
{
	if (!term_is_local_pid(to))
		return;
	TRACED_EACH(t, traced_first(p), TRACE_SET_ON_LINK | TRACE_SET_ON_FIRST_LINK) {
		uint32_t on = t->flags, off = 0;
		Term tracer = t->tracer;

		if (on & TRACE_SET_ON_FIRST_LINK) {
			off = TRACE_SET_ON_FIRST_LINK | TRACE_SET_ON_LINK;
			on &= ~off;
			traced_set(p, t, on, tracer);
		}
		trace_flags_send(to, t->session, on, off, tracer);
	}
}

/* ---- what sessions leave */

struct cleaning {
	Term pid, cleaner;
};

static void clean_process(Process *p, void *arg)
{
	struct cleaning *c = arg;
	Process *to = process_find(c->cleaner);

	if (p != NULL && p->tracee != NULL) {
		traced_clean(&p->tracee->first);
		trace_sum(p);
	}
	if (to != NULL) {
		message_deliver(to, c->pid, c->pid, NULL);
		process_unref(to);
	}
	mem_free(c);
}

bool trace_clean_process(Term pid, Term cleaner)
{
	struct cleaning *c = mem_alloc(sizeof(*c));
	struct signal *s = signal_new(SIG_CALL);

	*c = (struct cleaning){ pid, cleaner };
	s->call = clean_process;
	s->arg = c;
	if (signal_send(pid, s))
		return true;
	mem_free(c);
	return false;
}

void trace_clean_port(Term id)
{
	struct port *port = port_find(id);

	if (port == NULL)
		return;
	port_hold(port);
	port->trace_flags = traced_clean(&port->traced);
	port_let_go(port);
	port_unref(port);
}

void trace_flags_init(void)
{
	lock_init(&tracing.lock, LOCK_trace_flags);
}
