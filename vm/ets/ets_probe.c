/* SPDX-License-Identifier: Apache-2.0 */
/* The probes of the room. */
#include "ets/ets_probe.h"

#include "ets/tables.h"
#include "proc/probe_tell.h"
#include "proc/sched.h"

/* The operation that this thread is in, while it is told. Invariant: else it has not begun. Units: ticks. */
static _Thread_local struct { uint64_t began; bool goes_on; } under_way;

/* The table that an operation is about, as long as its identifier is there. */
struct subject {
	struct ets_table *table; /* NULL: there is none, or it was not looked up */
	bool is_counted;
	Term name;               /* TERM_NONE: not known */
};

/* by_name: the table of a name is wanted, too. */
static struct subject find_subject(Term id, bool by_name)
{
	struct subject s = { .name = TERM_NONE };

	if (term_is_tuple(id) && tuple_arity(id) > 0) /* what a walk goes on by begins with its table */
		id = tuple_get(id, 1);
	if (term_is_atom(id)) {
		s.name = id;
		s.table = by_name ? tables_find_name(id) : NULL;
		s.is_counted = s.table != NULL;
		return s;
	}
	s.table = table_from_ref(id);
	if (s.table != NULL)
		s.name = s.table->name;
	return s;
}

static void drop_subject(const struct subject *s)
{
	if (s->is_counted)
		resource_unref(&s->table->resource);
}

static int64_t hash_key(const struct subject *s, const Term *args, enum ets_key_place place)
{
	Term key;

	if (place == ETS_KEY_NONE)
		return -1;
	key = args[1];
	if (place == ETS_KEY_OF_OBJECT) {
		if (s->table == NULL || !term_is_tuple(key) || tuple_arity(key) < table_key(s->table))
			return -1;
		key = tuple_get(key, table_key(s->table));
	}
	return object_hash_key(key);
}

static PROBE_COLD void probe_ets__start(Process *p, const struct subject *s, enum ets_operation operation,
					int64_t key_hash)
{
	PROBE_TELL_WITH(ets__start, batch_begin_at(under_way.began), (void)0, p->id, s->name, operation, key_hash,
			s->table != NULL ? (int64_t)table_objects(s->table) : 0);
}

static PROBE_COLD void probe_ets__end(Process *p, Term name, enum ets_operation operation)
{
	uint64_t now = ticks_now();

	PROBE_TELL_WITH(ets__end, batch_begin_at(now), (void)0, p->id, name, operation,
			(int64_t)ticks_between_ns(under_way.began, now));
}

PROBE_COLD void probe_ets__scan(Process *p, const struct ets_table *t, size_t seen, size_t found)
{
	PROBE_TELL(ets__scan, p->id, t->name, (int64_t)seen, (int64_t)found);
}

PROBE_COLD void probe_ets__wait(const struct ets_table *t, uint64_t began)
{
	Process *p = process_current();
	uint64_t now = ticks_now();

	PROBE_TELL_WITH(ets__wait, batch_begin_at(now), (void)0, p != NULL ? p->id : TERM_NONE, t->name,
			(int64_t)ticks_between_ns(began, now));
}

static void end_operation(Process *p, Term name, enum ets_operation operation)
{
	if (!under_way.goes_on && PROBE_ON(ets__end))
		probe_ets__end(p, name, operation);
	under_way.began = 0;
}

Term ets_probe_run(Process *p, Term *args, enum ets_operation operation, enum ets_key_place key,
		   Term (*run)(Process *p, Term *args))
{
	struct subject s = find_subject(args[0], PROBE_ON(ets__start));
	Term result;

	under_way.began = ticks_now();
	under_way.goes_on = false;
	if (PROBE_ON(ets__start))
		probe_ets__start(p, &s, operation, hash_key(&s, args, key));
	drop_subject(&s);
	result = run(p, args);
	end_operation(p, s.name, operation);
	return result;
}

uint64_t ets_probe_leave(void)
{
	under_way.goes_on = true;
	return under_way.began <= (uint64_t)SMALL_MAX ? under_way.began : 0;
}

void ets_probe_resume(uint64_t began)
{
	under_way.began = began;
	under_way.goes_on = false;
}

void ets_probe_resumed(Process *p, Term table)
{
	if (unlikely(under_way.began != 0))
		end_operation(p, find_subject(table, false).name, ETS_OPERATION_SELECT);
}
