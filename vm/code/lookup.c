/* SPDX-License-Identifier: Apache-2.0 */
/* Invariant: only the innermost frame is looked at, and nothing of it is changed. */
#include "code/lookup.h"

#include "code/code_probe.h"
#include "term/term.h"

/* The first slot of the innermost frame, from `slot` on, that holds a pair; NULL: there is none. */
static const Term *find_pair(const Process *p, const Term *slot)
{
	for (; slot < p->heap.end && (*slot == TERM_NONE || !term_is_header(*slot)); slot++)
		if (term_is_tuple_of(*slot, 2))
			return slot;
	return NULL;
}

/* Whether it asks for a module, or for its file. */
static bool is_request(Term pair)
{
	switch (tuple_get(pair, 1)) {
	case am_ensure_loaded:
	case am_load_file:
	case am_get_object_code:
	case am_get_object_code_for_loading:
		return term_is_atom(tuple_get(pair, 2));
	default:
		return false;
	}
}

static bool is_refusal(Term pair)
{
	Term answer = tuple_get(pair, 1) == am_code_server ? tuple_get(pair, 2) : pair;

	return answer == am_error || (term_is_tuple_of(answer, 2) && tuple_get(answer, 1) == am_error);
}

void lookup_begin(Process *p)
{
	const Term *at = NULL;

	p->looks_for = TERM_NONE;
	if (PROBE_ON(code__lookup__start) || PROBE_ON(code__lookup__end))
		at = find_pair(p, p->heap.stop);
	while (at != NULL && !is_request(*at))
		at = find_pair(p, at + 1);
	if (at == NULL)
		return;
	p->looks_for = tuple_get(*at, 2);
	if (PROBE_ON(code__lookup__start))
		probe_code__lookup__start(p, p->looks_for);
}

void lookup_end(Process *p)
{
	const Term *at = find_pair(p, p->heap.stop);

	while (at != NULL && !is_refusal(*at))
		at = find_pair(p, at + 1);
	if (PROBE_ON(code__lookup__end))
		probe_code__lookup__end(p, p->looks_for, at == NULL);
	p->looks_for = TERM_NONE;
}
