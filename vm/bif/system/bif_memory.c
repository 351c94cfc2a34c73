/* SPDX-License-Identifier: Apache-2.0 */
/* Built-in functions: memory. */
#include "base/alloc.h"
#include "bif/system/bif_info.h"
#include "code/module.h"
#include "ets/table.h"

static Term int_term(int64_t n)
{
	return term_from_small(n);
}

static Term put_pair(struct heap *h, Term key, Term value, Term tail)
{
	return heap_cons(h, heap_tuple(h, key, value), tail);
}

struct memory {
	size_t total, processes, processes_used, atoms, binaries, code, ets;
};

static size_t code_bytes(const struct code_instance *c)
{
	return c != NULL ? c->word_count * sizeof(Inst) : 0;
}

static void sum_code(const struct module *m, void *arg)
{
	size_t *sum = arg;

	*sum += code_bytes(atomic_load(&m->current)) + code_bytes(atomic_load(&m->old));
}

/* Code lies in a range of its own, which mem_total_bytes does not count. */
static struct memory measure_memory(void)
{
	struct memory m = { .processes = mem_kind_bytes(MEM_PROCESS) };
	size_t spare = process_spare_bytes();

	m.processes_used = m.processes > spare ? m.processes - spare : 0;
	m.atoms = atom_memory_bytes();
	m.binaries = mem_kind_bytes(MEM_BINARY);
	m.ets = table_words_total() * sizeof(Term);
	module_each(sum_code, &m.code);
	m.total = m.processes + m.binaries + mem_kind_bytes(MEM_SYSTEM) + m.code;
	return m;
}

static Term memory_of(const struct memory *m, Term kind)
{
	switch (kind) {
	case am_total:
		return int_term((int64_t)m->total);
	case am_processes:
		return int_term((int64_t)m->processes);
	case am_processes_used:
		return int_term((int64_t)m->processes_used);
	case am_system:
		return int_term((int64_t)(m->total - m->processes));
	case am_atom:
	case am_atom_used:
		return int_term((int64_t)m->atoms);
	case am_binary:
		return int_term((int64_t)m->binaries);
	case am_code:
		return int_term((int64_t)m->code);
	case am_ets:
		return int_term((int64_t)m->ets);
	default:
		return TERM_NONE;
	}
}

static Term put_memory(Process *p, const struct memory *m)
{
	static const Term kinds[] = { am_ets,    am_code,           am_binary,    am_atom_used, am_atom,
				      am_system, am_processes_used, am_processes, am_total };
	Term list = NIL;

	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
		list = put_pair(&p->heap, kinds[i], memory_of(m, kinds[i]), list);
	return list;
}

/* wanted: one kind, or a list of them. */
static Term put_wanted_memory(Process *p, const struct memory *m, Term wanted)
{
	bool single = term_is_atom(wanted);
	Term list = single ? heap_cons(&p->heap, wanted, NIL) : wanted, result = NIL;

	for (; term_is_cons(list); list = cons_tail(list)) {
		Term kind = cons_head(list), value = memory_of(m, kind);

		if (value == TERM_NONE)
			return exc_badarg(p);
		if (single)
			return value;
		result = put_pair(&p->heap, kind, value, result);
	}
	if (list != NIL)
		return exc_badarg(p);
	for (list = NIL; result != NIL; result = cons_tail(result))
		list = heap_cons(&p->heap, cons_head(result), list);
	return list;
}

Term info_memory(Process *p)
{
	struct memory m = measure_memory();

	return put_memory(p, &m);
}

Term bif_erlang_memory_0(Process *p, Term *args)
{
	(void)args;
	return info_memory(p);
}

Term bif_erlang_memory_1(Process *p, Term *args)
{
	struct memory m = measure_memory();

	return put_wanted_memory(p, &m, args[0]);
}
