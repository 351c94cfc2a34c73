/* SPDX-License-Identifier: Apache-2.0 */
/* Built-in functions: what system_info tells of allocators. All memory is the C library's: of OTP's allocators sys_alloc alone is
 * enabled, the others answer as they do where `+Mea min` has disabled them. */
#include <gnu/libc-version.h>
#include <stdio.h>

#include "bif/bif_info.h"
#include "proc/message.h"
#include "proc/sched.h"

/* The allocators of OTP's alloc_util. */
static const Term util[] = {
	am_temp_alloc, am_sl_alloc, am_std_alloc, am_ll_alloc, am_eheap_alloc, am_ets_alloc, am_fix_alloc, am_literal_alloc,
	am_binary_alloc, am_driver_alloc,
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

/* {Library, Version, Features, [{Allocator, Options}]} */
Term info_allocator(Process *p)
{
	struct heap *h = &p->heap;
	unsigned major = 0, minor = 0;
	Term version, settings = NIL;

	sscanf(gnu_get_libc_version(), "%u.%u", &major, &minor);
	version = heap_list_array(h, 2, (Term[]){ SMALL(major), SMALL(minor) }, NIL);
	for (size_t i = UTIL_COUNT; i-- > 0;)
		settings = heap_cons(h, heap_tuple(h, util[i], enabled(h, false, NIL)), settings);
	settings = heap_cons(h, heap_tuple(h, am_sys_alloc, sys_options(h)), settings);
	return heap_tuple(h, am_glibc, version, heap_cons(h, am_sys_alloc, NIL), settings);
}

Term info_alloc_util_allocators(Process *p)
{
	return heap_list_array(&p->heap, UTIL_COUNT, util, NIL);
}

/* What alloc_util takes memory from may be asked for too, though no list names it. */
static bool is_disabled(Term name)
{
	bool found = name == am_mseg_alloc || name == am_erts_mmap;

	for (size_t i = 0; i < UTIL_COUNT; i++)
		found |= util[i] == name;
	return found;
}

static Term one_allocator(struct heap *h, Term name, bool options)
{
	Term told = NIL;

	if (name == am_sys_alloc) {
		if (options)
			told = heap_cons(h, heap_tuple(h, am_options, sys_options(h)), NIL);
		return heap_cons(h, heap_tuple(h, am_instance, SMALL(0), told), NIL);
	}
	return is_disabled(name) ? am_false : TERM_NONE;
}

/* {Name, false} of each; of sys_alloc, whose one instance the first scheduler tells of: {Name, 0, []}. Fails: TERM_NONE. */
static Term tell_memory(struct heap *h, unsigned scheduler, Term names)
{
	Term list = NIL;

	for (; term_is_cons(names); names = cons_tail(names)) {
		Term told = one_allocator(h, cons_head(names), false);

		if (told == am_false)
			list = heap_cons(h, heap_tuple(h, cons_head(names), am_false), list);
		else if (told == TERM_NONE)
			return TERM_NONE;
		else if (scheduler == 1)
			list = heap_cons(h, heap_tuple(h, cons_head(names), SMALL(0), NIL), list);
	}
	return names == NIL ? list : TERM_NONE;
}

Term info_request_memory(Process *p, Term ref, Term names)
{
	if (!term_is_local_ref(ref) || !term_is_cons(names) || tell_memory(&p->heap, 1, names) == TERM_NONE)
		return TERM_NONE;
	for (unsigned i = 1; i <= sched_count(); i++)
		message_send_to(NULL, p, heap_tuple(&p->heap, ref, SMALL((uint64_t)i), tell_memory(&p->heap, i, names)));
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
