/* SPDX-License-Identifier: Apache-2.0 */
/* The flags of processes: who has which, and who gets them at birth. */
#include "base/alloc.h"
#include "io/port.h"
#include "proc/message.h"
#include "proc/sched.h"
#include "trace/action.h"
#include "trace/events.h"
#include "trace/point.h"
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

/* Written while the world is stopped. */
static struct {
	uint32_t process_flags, port_flags; /* of who is born */
	Term process_tracer, port_tracer;
} born = { 0, 0, NIL, NIL };

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

Term trace_read_tracer(Term t, Term tag)
{
	Term state = TERM_NONE;

	if (term_is_tuple_of(t, 2) && tuple_get(t, 1) == tag)
		state = tuple_get(t, 2);
	else if (term_is_tuple_of(t, 3) && tuple_get(t, 1) == tag && tuple_get(t, 2) == am_erl_tracer)
		state = tuple_get(t, 3);
	else if (term_is_tuple_of(t, 3) && tuple_get(t, 1) == tag)
		return tracer_module_get(tuple_get(t, 2), tuple_get(t, 3));
	return state != TERM_NONE && (term_is_local_pid(state) || term_is_local_port(state)) ? state : TERM_NONE;
}

bool trace_flags_read(Term list, uint32_t *flags, Term *tracer, bool *cpu_time)
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
		*tracer = trace_read_tracer(t, am_tracer);
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

/* ---- changes. The world is stopped. */

enum { CHANGED_AT_ONCE = 1 << 13 };

struct change {
	Term spec;
	bool on;
	uint32_t flags;
	Term tracer;         /* TERM_NONE: stays */
	int64_t count;
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

static bool change_one(Process *p, const struct change *c)
{
	uint32_t flags = p->trace_flags;
	Term tracer = trace_tracer(p);
	bool ok = apply_change(c, p->id, &flags, &tracer);

	if (ok)
		trace_set(p, flags, tracer);
	return ok;
}

static bool change_one_port(struct port *port, const struct change *c)
{
	uint32_t flags;
	Term tracer;
	bool ok;

	port_hold(port);
	flags = port->trace_flags;
	tracer = port->tracer;
	ok = port->state == PORT_OPEN && apply_change(c, port->id, &flags, &tracer);
	if (ok)
		trace_port_set(port, flags, tracer);
	port_let_go(port);
	return ok;
}

static void change_each_port(struct port *port, void *arg)
{
	struct change *c = arg;

	c->count += change_one_port(port, c);
}

static void change_each(Process *p, void *arg)
{
	struct change *c = arg;

	if (!(atomic_load(&p->state) & PS_EXITING))
		c->count += change_one(p, c);
}

static void change_pid(struct change *c)
{
	Process *p = process_find(c->spec);

	if (p == NULL)
		return;
	if (change_one(p, c))
		c->count = 1;
	process_unref(p);
}

static void change_port(struct change *c)
{
	struct port *port = port_find(c->spec);

	if (port == NULL)
		return;
	if (change_one_port(port, c))
		c->count = 1;
	port_unref(port);
}

static void change_born(uint32_t *flags, Term *tracer, const struct change *c, uint32_t mask)
{
	if ((c->flags & mask) == 0)
		return;
	if (!tracer_is_alive(*tracer, am_undefined))
		*flags = 0;
	if (c->on)
		*flags |= c->flags & mask;
	else
		*flags &= ~(c->flags & mask);
	if (c->tracer != TERM_NONE)
		*tracer = c->tracer;
	if (*flags == 0 || *tracer == NIL) {
		*flags = 0;
		*tracer = NIL;
	}
}

/* Whom a word names: those there are, or those to come; processes, or ports. */
static const struct spec_row {
	Term name;
	bool existing, born, processes, ports;
} specs[] = {
	{ am_all, true, true, true, true }, { am_processes, true, true, true, false }, { am_ports, true, true, false, true },
	{ am_existing, true, false, true, true }, { am_existing_processes, true, false, true, false },
	{ am_existing_ports, true, false, false, true }, { am_new, false, true, true, true },
	{ am_new_processes, false, true, true, false }, { am_new_ports, false, true, false, true },
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

/* All but the processes there are. */
static void change_stopped(void *arg)
{
	struct change *c = arg;
	const struct spec_row *spec = find_spec(c->spec);
	uint32_t processes = flags_of(WHO_PROCESS), ports = flags_of(WHO_PORT);

	if (spec == NULL) {
		c->count = -1;
		if (term_is_local_port(c->spec))
			change_port(c);
		else
			change_pid(c);
	} else {
		/* Flags of ports alone concern no process, nor those of processes alone a port. */
		if (spec->existing && spec->ports && (c->flags & ports))
			trace_each_port(change_each_port, c);
		if (spec->born && spec->processes)
			change_born(&born.process_flags, &born.process_tracer, c, processes);
		if (spec->born && spec->ports)
			change_born(&born.port_flags, &born.port_tracer, c, ports);
	}
	trace_review();
}

static void review(void *arg)
{
	(void)arg;
	trace_review();
}

int64_t trace_change(Term spec, bool on, uint32_t flags, Term tracer)
{
	const struct spec_row *all = find_spec(spec);
	struct change c = { spec, on, flags, tracer, 0 };

	if (!term_is_local_pid(spec) && !term_is_local_port(spec) && all == NULL)
		return -1;
	sched_stop_world(change_stopped, &c);
	if (all == NULL || !all->existing || !all->processes || !(flags & flags_of(WHO_PROCESS)))
		return c.count;
	process_each_in_parts(CHANGED_AT_ONCE, change_each, &c);
	sched_stop_world(review, NULL);
	return c.count;
}

static void count_traced_port(struct port *port, void *arg)
{
	port_hold(port);
	*(bool *)arg |= port->trace_flags != 0;
	port_let_go(port);
}

static bool anybody_traces(void)
{
	bool any = born.process_flags != 0 || born.port_flags != 0 || point_count() != 0 || watch_is_on() ||
		   trace_count() != 0;

	if (!any)
		trace_each_port(count_traced_port, &any);
	return any;
}

void trace_review(void)
{
	sched_trace(anybody_traces());
}

bool trace_is_used(void)
{
	return anybody_traces() || trace_seq_tracer() != am_false;
}

/* ---- looks */

struct look {
	Term spec;
	uint32_t flags;
	Term tracer;
	bool found;
};

static void look_port(struct look *l)
{
	struct port *port = port_find(l->spec);

	if (port == NULL)
		return;
	port_hold(port);
	trace_port_tracer(port);
	l->flags = port->trace_flags;
	l->tracer = port->tracer;
	l->found = port->state == PORT_OPEN;
	port_let_go(port);
	port_unref(port);
}

static void look_stopped(void *arg)
{
	struct look *l = arg;
	Process *p;

	if (term_is_local_port(l->spec)) {
		look_port(l);
		return;
	}
	p = process_find(l->spec);
	if (p == NULL)
		return;
	if (p->trace_flags != 0 && !tracer_is_alive(trace_tracer(p), p->id))
		trace_set(p, 0, NIL);
	l->flags = p->trace_flags;
	l->tracer = trace_tracer(p);
	l->found = true;
	process_unref(p);
}

static void look_born(struct look *l, uint32_t flags, Term tracer)
{
	l->found = true;
	if (!tracer_is_alive(tracer, am_undefined))
		return;
	l->flags = flags;
	l->tracer = tracer;
}

bool trace_look(Term spec, uint32_t *flags, Term *tracer)
{
	struct look l = { spec, 0, NIL, false };

	if (spec == am_new || spec == am_new_processes)
		look_born(&l, born.process_flags, born.process_tracer);
	else if (spec == am_new_ports)
		look_born(&l, born.port_flags, born.port_tracer);
	else
		sched_stop_world(look_stopped, &l);
	*flags = l.flags;
	*tracer = l.tracer;
	return l.found;
}

/* ---- births and links */

/* What a process hands on at its first spawn, or link, it hands on once. */
static void inherit(Process *from, Process *to, uint32_t once, uint32_t always)
{
	uint32_t flags = from->trace_flags, given = to->trace_flags | flags;
	Term tracer = trace_tracer(from);

	if (!(flags & (once | always)))
		return;
	if (flags & once) {
		given &= ~(once | always);
		trace_set(from, flags & ~(once | always), tracer);
	}
	trace_set(to, given, tracer);
}

void trace_flags_born_port(struct port *port)
{
	if (born.port_flags != 0 && tracer_is_alive(born.port_tracer, am_undefined))
		trace_port_set(port, born.port_flags, born.port_tracer);
}

void trace_flags_born(Process *parent, Process *child, bool linked)
{
	if (born.process_flags != 0 && tracer_is_alive(born.process_tracer, am_undefined))
		trace_set(child, born.process_flags, born.process_tracer);
	if (parent == NULL || parent->trace_flags == 0)
		return;
	inherit(parent, child, TRACE_SET_ON_FIRST_SPAWN, TRACE_SET_ON_SPAWN);
	if (linked)
		inherit(parent, child, TRACE_SET_ON_FIRST_LINK, TRACE_SET_ON_LINK);
}

struct gift {
	uint32_t on, off;
	Term tracer;
};

static void take_gift(Process *p, void *arg)
{
	struct gift *g = arg;

	if (p != NULL)
		trace_set(p, (p->trace_flags & ~g->off) | g->on, g->tracer);
	mem_free(g);
}

void trace_flags_send(Term to, uint32_t on, uint32_t off, Term tracer)
{
	struct gift *g = mem_alloc(sizeof(*g));
	struct signal *s = signal_new(SIG_CALL);

	*g = (struct gift){ on, off, tracer };
	s->call = take_gift;
	s->arg = g;
	if (!signal_send(to, s))
		take_gift(NULL, g);
}

void trace_flags_linked(Process *p, Term to)
{
	uint32_t on = p->trace_flags, off = 0;
	Term tracer = trace_tracer(p);

	if (!term_is_local_pid(to))
		return;
	if (on & TRACE_SET_ON_FIRST_LINK) {
		off = TRACE_SET_ON_FIRST_LINK | TRACE_SET_ON_LINK;
		on &= ~off;
		trace_set(p, on, tracer);
	}
	trace_flags_send(to, on, off, tracer);
}
