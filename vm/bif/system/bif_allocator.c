/* SPDX-License-Identifier: Apache-2.0 */
/* Built-in functions: what system_info tells of allocators. All memory is the C library's, and every block is counted
 * as a process's, as a binary or as another: eheap_alloc has the first (all that erlang:memory(processes) tells),
 * binary_alloc the second (memory(binary)), std_alloc the others. The rest of OTP's allocators answer as they do where
 * `+Mea min` has disabled them. All take blocks from the same arenas, so what was obtained from the system is told of
 * each by its share of what is held: the sum is true. The C library says neither what the most was (the present value
 * is told) nor which blocks it mapped for themselves (none is told). */
#include <gnu/libc-version.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "bif/system/bif_info.h"
#include "proc/message.h"
#include "proc/sched.h"

/* The allocators of OTP's alloc_util. */
static const Term util[] = {
	am_temp_alloc, am_sl_alloc,  am_std_alloc,     am_ll_alloc,     am_eheap_alloc,
	am_ets_alloc,  am_fix_alloc, am_literal_alloc, am_binary_alloc, am_driver_alloc,
};
enum { UTIL_COUNT = sizeof(util) / sizeof(util[0]) };

static Term enabled(struct heap *h, bool is, Term tail)
{
	return heap_cons(h, heap_tuple(h, am_e, term_from_bool(is)), tail);
}

static Term sys_options(struct heap *h)
{
	return enabled(h, true, heap_cons(h, heap_tuple(h, am_m, am_libc), NIL));
}

static bool kind_of(Term name, enum mem_kind *kind)
{
	static const Term names[MEM_KINDS] = { [MEM_SYSTEM] = am_std_alloc, [MEM_PROCESS] = am_eheap_alloc,
					       [MEM_BINARY] = am_binary_alloc };

	for (int k = 0; k < MEM_KINDS; k++)
		if (names[k] == name) {
			*kind = (enum mem_kind)k;
			return true;
		}
	return false;
}

/* {Library, Version, Features, [{Allocator, Options}]} */
Term info_allocator(Process *p)
{
	struct heap *h = &p->heap;
	unsigned major = 0, minor = 0;
	Term version, settings = NIL;

	sscanf(gnu_get_libc_version(), "%u.%u", &major, &minor);
	version = heap_list_array(h, 2, (Term[]){ SMALL(major), SMALL(minor) }, NIL);
	for (size_t i = UTIL_COUNT; i-- > 0;) {
		bool is = kind_of(util[i], &(enum mem_kind){ 0 });

		settings = heap_cons(h, heap_tuple(h, util[i], is ? sys_options(h) : enabled(h, false, NIL)), settings);
	}
	settings = heap_cons(h, heap_tuple(h, am_sys_alloc, sys_options(h)), settings);
	return heap_tuple(h, am_glibc, version,
			  heap_list_array(h, 4, (Term[]){ am_sys_alloc, am_std_alloc, am_eheap_alloc, am_binary_alloc },
					  NIL),
			  settings);
}

Term info_alloc_util_allocators(Process *p)
{
	return heap_list_array(&p->heap, UTIL_COUNT, util, NIL);
}

/* All but sys_alloc. What alloc_util takes memory from may be asked for too, though no list names it. */
static bool is_other(Term name)
{
	bool found = name == am_mseg_alloc || name == am_erts_mmap;

	for (size_t i = 0; i < UTIL_COUNT; i++)
		found |= util[i] == name;
	return found;
}

/* ---- {instance, 0, [...]} of one that has blocks, as OTP 25 has it; with options also how many there are */

struct told {
	Term name;
	size_t count, bytes, carriers, carriers_bytes;
};

static struct told look(Term name, enum mem_kind kind)
{
	size_t obtained = mem_obtained_bytes(), own = mem_kind_bytes(kind), all = own;
	double share;

	for (int k = 0; k < MEM_KINDS; k++)
		all += k != (int)kind ? mem_kind_bytes((enum mem_kind)k) : 0;
	share = all != 0 ? (double)own / (double)all : 0;
	obtained = obtained > all ? (size_t)(share * (double)obtained) : own; /* they were not looked at at once */
	return (struct told){ name, mem_kind_blocks(kind), own, 1, obtained > own ? obtained : own };
}

/* {Name, Now, Most since it was asked for, Most} */
static Term put_marks(struct heap *h, Term name, size_t n, Term tail)
{
	Term now = heap_uint(h, n);

	return heap_cons(h, heap_tuple(h, name, now, now, now), tail);
}

static Term put_now(struct heap *h, Term name, size_t n, Term tail)
{
	return heap_cons(h, heap_tuple(h, name, heap_uint(h, n)), tail);
}

static Term put_blocks(struct heap *h, const struct told *t, bool options, Term tail)
{
	Term of = NIL;

	if (t->count != 0) {
		of = put_marks(h, am_size, t->bytes, NIL);
		of = options ? put_marks(h, am_count, t->count, of) : of;
		of = heap_cons(h, heap_tuple(h, t->name, of), NIL);
	}
	return heap_cons(h, heap_tuple(h, am_blocks, of), tail);
}

static Term put_carriers(struct heap *h, Term type, const struct told *t, bool options, Term tail)
{
	Term of = NIL;

	if (options) {
		of = put_now(h, am_sys_alloc_carriers_size, t->carriers_bytes, NIL);
		of = put_now(h, am_mseg_alloc_carriers_size, 0, of);
	}
	of = put_marks(h, am_carriers_size, t->carriers_bytes, of);
	if (options) {
		of = put_now(h, am_sys_alloc_carriers, t->carriers, of);
		of = put_now(h, am_mseg_alloc_carriers, 0, of);
		of = put_marks(h, am_carriers, t->carriers, of);
	}
	return heap_cons(h, heap_tuple(h, type, put_blocks(h, t, options, of)), tail);
}

static Term put_versions(struct heap *h, Term tail)
{
	const char *libc = gnu_get_libc_version();
	Term version = heap_list_bytes(h, libc, strlen(libc), NIL);

	return heap_cons(h, heap_tuple(h, am_versions, version, version), tail);
}

static Term tell_instance(struct heap *h, Term name, enum mem_kind kind, bool options)
{
	struct told t = look(name, kind), none = { .name = name };
	Term of = put_carriers(h, am_mbcs, &t, options, put_carriers(h, am_sbcs, &none, options, NIL));

	if (options)
		of = put_versions(h, heap_cons(h, heap_tuple(h, am_options, sys_options(h)), of));
	return heap_cons(h, heap_tuple(h, am_instance, SMALL(0), of), NIL);
}

static Term one_allocator(struct heap *h, Term name, bool options)
{
	enum mem_kind kind;
	Term told = NIL;

	if (kind_of(name, &kind))
		return tell_instance(h, name, kind, options);
	if (name == am_sys_alloc) {
		if (options)
			told = heap_cons(h, heap_tuple(h, am_options, sys_options(h)), NIL);
		return heap_cons(h, heap_tuple(h, am_instance, SMALL(0), told), NIL);
	}
	return is_other(name) ? am_false : TERM_NONE;
}

/* {Name, false} of each, as memory/0 has its own ways; of sys_alloc, whose one instance the first scheduler tells of:
 * {Name, 0, []}. Fails: TERM_NONE. */
static Term tell_memory(struct heap *h, unsigned scheduler, Term names)
{
	Term list = NIL;

	for (; term_is_cons(names); names = cons_tail(names)) {
		Term name = cons_head(names);

		if (is_other(name))
			list = heap_cons(h, heap_tuple(h, name, am_false), list);
		else if (name != am_sys_alloc)
			return TERM_NONE;
		else if (scheduler == 1)
			list = heap_cons(h, heap_tuple(h, name, SMALL(0), NIL), list);
	}
	return names == NIL ? list : TERM_NONE;
}

Term info_request_memory(Process *p, Term ref, Term names)
{
	if (!term_is_local_ref(ref) || !term_is_cons(names) || tell_memory(&p->heap, 1, names) == TERM_NONE)
		return TERM_NONE;
	for (unsigned i = 1; i <= sched_count(); i++)
		message_send_to(NULL, p,
				heap_tuple(&p->heap, ref, SMALL((uint64_t)i), tell_memory(&p->heap, i, names)));
	return am_true;
}

/* Those that answer info_request_memory, and one that does not. */
Term bif_erts_internal_no_aux_work_threads_0(Process *p, Term *args)
{
	(void)p;
	(void)args;
	return SMALL((uint64_t)sched_count() + 1);
}

Term info_allocator_of(Process *p, Term of, bool options)
{
	struct heap *h = &p->heap;
	Term list = NIL, *link = &list, told;

	if (!term_is_cons(of))
		return one_allocator(h, of, options);
	for (; term_is_cons(of); of = cons_tail(of)) {
		told = one_allocator(h, cons_head(of), options);
		if (told == TERM_NONE)
			return TERM_NONE;
		*link = heap_cons(h, heap_tuple(h, cons_head(of), told), NIL);
		link = &cons_ptr(*link)[1];
	}
	return of == NIL ? list : TERM_NONE;
}
